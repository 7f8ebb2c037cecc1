"""Every answer of a fitted model after every change of it, for every type of labels.

The models are tiny. A change that keeps the weights must keep every answer, to the last
bit; after the others, answers are compared with what they must be.
"""

import copy
import datetime
import pickle
from decimal import Decimal
from functools import cache
from itertools import pairwise, product

import joblib
import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_array

from pairs import in_one_test, pairwise_table
from samples import as_dicts, as_strings
from skcrf_sdca import SDCACRF, PackedSequences, compat
from skcrf_sdca.data.label_encoding import plain_labels
from skcrf_sdca.estimators.crfs import ESTIMATORS
from skcrf_sdca.model.explanation import Explanation
from skcrf_sdca.model.tables import Table
from skcrf_sdca.persistence import load_model, save_model
from skcrf_sdca.plotting import TransitionDisplay
from skcrf_sdca.selection import cross_val_predict_proba

LABELS = {
    "str": ["B-X", "I-X", "O"],
    "str with NUL": ["A\0", "A\0x", "B"],
    "int": [-1, 5, 7],
    "long int": [1, 2, 2**70],
    "bool": [False, True],
    "float": [-1.0, 0.0, 2.0],
    "bytes": [b"", b"a", b"b"],
    "bytes with NUL": [b"a", b"a\0", b"a\0x"],
    "tuple": [("a", 1), ("a", 2), ("b", 0)],
    "datetime64": [np.datetime64(f"2026-01-0{day}") for day in (1, 2, 3)],
    "datetime64 in ns": [np.datetime64(day, "ns") for day in (1, 2, 3)],
    "timedelta64": [np.timedelta64(day, "h") for day in (1, 2, 3)],
    "date": [datetime.date(2026, 1, day) for day in (1, 2, 3)],
    "Decimal": [Decimal("-0.5"), Decimal(0), Decimal(1)],
}
# What a file of save_model can hold.
PORTABLE = {*"str int bool float bytes".split(), "long int"}
PORTABLE |= {"str with NUL", "bytes with NUL"}
# Numbers of the labels of four sequences; the last is empty.
CODES = [[0, 1, 0, 2], [2], [1, 2, 0], []]
ARRAYS = [
    np.random.default_rng(i).normal(size=(len(codes), 4)).round(1)
    for i, codes in enumerate(CODES)
]
ROWS = np.concatenate(ARRAYS)
NAMES = [f"f{j}" for j in range(4)]
FORMS = {
    "dicts": as_dicts(ARRAYS),
    "strings": as_strings(ARRAYS),
    "arrays": ARRAYS,
    "sparse": [csr_array(x) for x in ARRAYS],
    "packed": PackedSequences.from_sequences(ARRAYS),
    "table": ROWS,
}


def is_tried(label_type, form, *others):
    """Every type of labels in sequences and in a table, and two types in all forms."""
    return form in ("dicts", "table") or label_type in ("str", "datetime64")


PAIRS = pytest.mark.parametrize(
    ("label_type", "form"), pairwise_table(list(LABELS), list(FORMS), allowed=is_tried)
)


def labels_of(label_type, form):
    """Return the labels of the sequences, or of the rows of a table in an array."""
    labels = LABELS[label_type]
    y = [[labels[k % len(labels)] for k in codes] for codes in CODES]
    if form != "table":
        return y
    flat = [label for sequence in y for label in sequence]
    if label_type in (
        "tuple",
        "long int",
        "str with NUL",
        "bytes with NUL",
        "date",
        "Decimal",
    ):
        return np.fromiter(flat, dtype=object, count=len(flat))
    return np.array(flat)


@cache
def fitted(label_type, form):
    # With this tolerance a fit ends after one epoch.
    crf = SDCACRF(alpha=0.1, tol=1e100, random_state=0)
    return crf.fit(FORMS[form], labels_of(label_type, form))


@cache
def answers_before(label_type, form):
    return answers(fitted(label_type, form), label_type, form)


# Answers ------------------------------------------------------------------------------


def answers(crf, label_type, form):
    """Return what every public method answers, as plain values that compare by bits."""
    X, y = FORMS[form], labels_of(label_type, form)
    sequence = X[:1] if form in ("packed", "table") else X[0]
    path = y[:1] if form == "table" else y[0]
    label = LABELS[label_type][0]
    if form == "table":
        known = [label, *[None] * (len(y) - 1)]
        spans = [[(0, 1, [label])]] + [[]] * (len(y) - 1)
    else:
        known = [[label, *[None] * (len(v) - 1)] if v else [] for v in y]
        spans = [[(0, 2, path[:2])], [], [(1, 2, [label])], []]
    found = {
        "predict": crf.predict(X),
        "posterior": crf.predict(X, decoding="posterior"),
        "known": crf.predict(X, known=known),
        "n_best": crf.predict_n_best(X, 2),
        "sample": crf.sample(X, 3, random_state=0),
        "proba": crf.predict_proba(X),
        "log_proba": crf.predict_log_proba(X),
        "edge_proba": crf.predict_edge_proba(X),
        "span_proba": crf.span_proba(X, spans),
        "log_partition": crf.log_partition(X),
        "log_likelihood": crf.log_likelihood(X, y),
        "score": crf.score(X, y),
        "state_features": crf.state_features(),
        "transition_features": crf.transition_features(),
        "top_features": crf.top_features(2),
        "top_features of one": crf.top_features(2, [label]),
        "explain": crf.explain(sequence, 0),
        "explain a path": crf.explain(
            sequence, 0, labels=[label], reference=label, path=path
        ),
    }
    if label_type == "str" and form != "table":
        typed = [[("X", 0, 1)] if v else [] for v in y]
        found["predict_spans"] = crf.predict_spans(X, scheme="IOB1")
        found["typed spans"] = crf.span_proba(X, typed, scheme="IOB1")
    return {name: plain(value) for name, value in found.items()}


def plain(value):
    """Return an answer as nested lists of numbers as bits, and of labels with types."""
    if isinstance(value, Table):
        return [plain(row) for row in value] + [repr(value), value._repr_html_()]
    if isinstance(value, Explanation):
        return [plain(c) for c in value] + [plain(value.label), repr(value)]
    if isinstance(value, dict):
        return [[plain(key), plain(v)] for key, v in value.items()]
    if isinstance(value, np.ndarray) and value.dtype.kind == "f":
        return value.tobytes()
    if isinstance(value, (list, np.ndarray)):
        return [plain(v) for v in value]
    if isinstance(value, tuple):
        return [plain(v) for v in value] + [tuple]
    if isinstance(value, float):
        return np.float64(value).tobytes()
    return type(value), value


def label_types_of(value):
    """Return the types of the labels in lists, arrays and pairs of an answer."""
    if isinstance(value, (list, np.ndarray)):
        return {found for v in value for found in label_types_of(v)}
    return {type(value)}


# Changes that keep every answer -------------------------------------------------------


def loaded(crf, folder):
    save_model(crf, folder / "model")
    return load_model(folder / "model")


def mapped(crf, folder):
    joblib.dump(crf, folder / "model")
    return joblib.load(folder / "model", mmap_mode="r")


def everything(crf):
    """Return all pairs of labels: with them nothing is forbidden."""
    labels = [*plain_labels(crf.classes_), None]
    return [pair for pair in product(labels, labels) if pair != (None, None)]


def first_sequence(crf):
    (form,) = (f for f in FORMS if f == crf._input_format)
    return FORMS[form][:1] if form in ("packed", "table") else FORMS[form][0]


KEEPING = {
    "pickle": lambda crf, _: pickle.loads(pickle.dumps(crf)),
    "deepcopy": lambda crf, _: copy.deepcopy(crf),
    "sparsify": lambda crf, _: crf.sparsify(),
    "sparsify, densify": lambda crf, _: crf.sparsify().densify(),
    "prune": lambda crf, _: crf.prune(),
    "sparsify, prune": lambda crf, _: crf.sparsify().prune(),
    "constrain to all": lambda crf, _: crf.constrain(everything(crf)),
    "sparsify, pickle": lambda crf, _: pickle.loads(pickle.dumps(crf.sparsify())),
    "mmap": mapped,
    "mmap, sparsify, prune": lambda crf, folder: mapped(crf, folder).sparsify().prune(),
    "mmap, prune, densify": lambda crf, folder: mapped(crf, folder).prune().densify(),
    "mmap, constrain to all": lambda crf, folder: mapped(crf, folder).constrain(
        everything(crf)
    ),
    "load": loaded,
    "sparsify, load": lambda crf, folder: loaded(crf.sparsify(), folder),
    "prune, load": lambda crf, folder: loaded(crf.prune(), folder),
}


@in_one_test(
    ("label_type", "form", "change"),
    pairwise_table(list(LABELS), list(FORMS), list(KEEPING), allowed=is_tried),
)
def test_answers_are_those_of_the_model_before(change, label_type, form, tmp_path):
    crf = copy.deepcopy(fitted(label_type, form))
    if "load" in change and label_type not in PORTABLE:
        with pytest.raises(TypeError, match="labels of type .* cannot be saved"):
            save_model(crf, tmp_path / "model")
        return
    changed = KEEPING[change](crf, tmp_path)
    assert answers(changed, label_type, form) == answers_before(label_type, form)


@PAIRS
def test_labels_come_back_as_they_were(label_type, form):
    crf, X, y = fitted(label_type, form), FORMS[form], labels_of(label_type, form)
    expected = label_types_of(y)
    assert label_types_of(crf.predict(X)) == expected
    assert label_types_of(crf.sample(X, 2, random_state=0)) == expected
    one = {type(LABELS[label_type][0])}
    for row in crf.predict_n_best(X, 2):
        for labels, _ in row:
            assert label_types_of(labels) <= one
    assert label_types_of(crf.top_features()["label"]) == one
    explanation = crf.explain(first_sequence(crf), 0)
    assert label_types_of(explanation.labels) == one
    assert set(explanation.labels) <= set(LABELS[label_type])
    assert crf.score(X, crf.predict(X)) == 1.0


@pytest.mark.parametrize("form", ["arrays", "table"])
@pytest.mark.parametrize("label_type", LABELS)
def test_cross_validated_probabilities_of_every_type_of_labels(label_type, form):
    X, y = FORMS[form], labels_of(label_type, form)
    X, y = (X, y) if form == "table" else (X[:3], y[:3])
    proba = cross_val_predict_proba(SDCACRF(tol=1e100, random_state=0), X, y, cv=2)
    assert len(proba) == len(X)
    for row in proba:
        assert_allclose(np.sum(row, axis=-1), 1.0, rtol=1e-12)


@pytest.mark.parametrize("label_type", LABELS)
def test_the_transitions_of_every_type_of_labels_are_drawn(label_type):
    pytest.importorskip("matplotlib").use("agg")
    plt = pytest.importorskip("matplotlib.pyplot")
    crf = fitted(label_type, "arrays")
    display = TransitionDisplay.from_estimator(crf, labels=LABELS[label_type][:2])
    assert display.labels == LABELS[label_type][:2]
    plt.close("all")


@in_one_test(
    ("form", "estimator", "dtype"),
    pairwise_table(list(FORMS), ESTIMATORS, [np.float64, np.float32, object]),
)
def test_labels_that_are_fractions_are_refused_in_every_form(estimator, form, dtype):
    flat = np.array([0.0, 1.0, 1.5, 0.5, 0.0, 1.0, 0.5, 2.0][: len(ROWS)], dtype=dtype)
    lengths = np.cumsum([len(codes) for codes in CODES])[:-1]
    y = flat if form == "table" else np.split(flat, lengths)
    place = "sequence 3, position 0" if form == "table" else "sequence 0, position 3"
    with pytest.raises(
        ValueError, match=rf"y: {place} is of type float 0\.5, .* whole"
    ):
        estimator().fit(FORMS[form], y)


# Changes that do not ------------------------------------------------------------------


@in_one_test(
    ("label_type", "form", "before"),
    pairwise_table(
        list(LABELS),
        list(FORMS),
        ["nothing", "sparsify", "prune", "pickle"],
        allowed=is_tried,
    ),
)
def test_what_is_forbidden_is_in_no_answer(before, label_type, form, tmp_path):
    if form == "table":
        # Its rows have no neighbours.
        form = "arrays"
    crf = copy.deepcopy(fitted(label_type, form))
    crf = KEEPING.get(before, lambda crf, _: crf)(crf, tmp_path)
    first, second = LABELS[label_type][:2]
    pairs = [pair for pair in everything(crf) if pair != (first, second)]
    crf.constrain(pairs)
    X, y = FORMS[form], labels_of(label_type, form)
    paths = [*crf.predict(X), *crf.predict(X, decoding="posterior")]
    paths += [path for draw in crf.sample(X, 5, random_state=0) for path in draw]
    paths += [labels for row in crf.predict_n_best(X, 99) for labels, _ in row]
    assert (first, second) not in {pair for path in paths for pair in pairwise(path)}
    for edge in crf.predict_edge_proba(X):
        assert_array_equal(edge[:, 0, 1], 0.0)
        assert_allclose(edge.sum(axis=(1, 2)), 1.0, rtol=1e-12)
    for row in crf.predict_n_best(X, 99):
        assert_allclose(sum(p for _, p in row), 1.0, rtol=1e-12)
    # The first sequence goes from the first label to the second.
    likelihood = crf.log_likelihood(X, y)
    assert likelihood[0] == -np.inf
    assert np.isfinite(likelihood[[1, 3]]).all()
    values = crf.span_proba(X[:1], [[(0, 2, [first, second]), (0, 1, [second])]])[0]
    assert values[0] == 0.0
    assert 0.0 < values[1] < 1.0


@pytest.mark.parametrize("label_type", LABELS)
def test_a_large_threshold_leaves_a_model_without_features(label_type):
    for form, X in FORMS.items():
        crf = copy.deepcopy(fitted(label_type, form)).prune(1e3)
        for proba in crf.predict_proba(X):
            assert_allclose(np.sum(proba, axis=-1), 1.0, rtol=1e-12)
        assert set(crf.state_features()["feature"]) <= {
            "<intercept>",
            "<start>",
            "<end>",
        }


# Models of CRFsuite -------------------------------------------------------------------


def written(crf, path, form):
    """Write a model of CRFsuite; return the bytes of the file."""
    names = None if form in ("dicts", "strings") else NAMES
    boundaries = {"intercept": "bias", "start": "BOS", "end": "EOS"}
    compat.to_crfsuite(crf, path, feature_names=names, **boundaries)
    return path.read_bytes()


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("change", KEEPING)
def test_the_file_for_crfsuite_is_that_of_the_model_before(change, form, tmp_path):
    crf = fitted("str", form)
    expected = written(crf, tmp_path / "a", form)
    changed = KEEPING[change](copy.deepcopy(crf), tmp_path)
    assert written(changed, tmp_path / "b", form) == expected


@pytest.mark.parametrize("label_type", [name for name in LABELS if "str" not in name])
def test_crfsuite_has_labels_of_str_only(label_type, tmp_path):
    for form in FORMS:
        with pytest.raises(TypeError, match="labels must be str"):
            written(fitted(label_type, form), tmp_path / "x", form)
    assert not (tmp_path / "x").exists()


@pytest.mark.parametrize("form", ["dicts", "strings"])
@pytest.mark.parametrize("change", KEEPING)
def test_a_model_from_crfsuite_answers_as_its_origin(change, form, tmp_path):
    crf, X = fitted("str", form), FORMS[form]
    written(crf, tmp_path / "x", form)
    again = compat.from_crfsuite(tmp_path / "x", input_format=form)
    again = KEEPING[change](again, tmp_path)
    given = compat.crfsuite_features(X, intercept="bias", start="BOS", end="EOS")
    y = labels_of("str", form)
    assert again.predict(given).tolist() == crf.predict(X).tolist()
    assert again.score(given, y) == crf.score(X, y)
    for name in ("predict_proba", "predict_edge_proba"):
        pairs = zip(getattr(again, name)(given), getattr(crf, name)(X), strict=True)
        for p, q in pairs:
            assert_allclose(p, q, rtol=1e-9)
    assert_allclose(again.log_likelihood(given, y), crf.log_likelihood(X, y), rtol=1e-9)
    assert len(again.top_features(1)) <= 6
    assert len(again.explain(given[0], 0)) > 0
    assert again.sample(given, 2, random_state=0).shape == (2, len(X))


@pytest.mark.parametrize("label_type", LABELS)
def test_the_weights_of_the_compatible_estimator_after_sparsify(label_type):
    crf = compat.CRF(tol=1e100).fit(FORMS["dicts"], labels_of(label_type, "dicts"))
    before = crf.state_features_, crf.transition_features_, crf.classes_
    crf.estimator_.sparsify()
    assert (crf.state_features_, crf.transition_features_, crf.classes_) == before
    # As in CRFsuite, labels in bytes are those texts.
    kept = type(LABELS[label_type][0])
    assert label_types_of(crf.classes_) == {str if kept is bytes else kept}
