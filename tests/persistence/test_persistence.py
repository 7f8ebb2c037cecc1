"""Models that are saved and loaded are the same, or are refused."""

import copy
import errno
import gzip
import io
import json
import os
import pickle
import struct
import sys
import textwrap
import warnings
import zipfile
from functools import cache
from pathlib import Path

import joblib
import numpy as np
import pytest
from numpy.testing import assert_array_equal
from scipy.sparse import csr_array, issparse
from sklearn.base import ClassifierMixin, clone
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import make_scorer
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler

import skcrf_sdca
from model_fuzz import as_version_2, changed_members, members, outcomes, write
from pairs import in_one_test, pairwise_table
from samples import all_estimators, name_of
from skcrf_sdca import (
    SDCACRF,
    DependencyCRF,
    GraphCRF,
    OnlineDependencyCRF,
    PackedSequences,
    PassiveAggressiveCRF,
    PerToken,
    SegmentCRF,
    SequenceHasher,
    SequenceUnion,
    SequenceVectorizer,
    TreeCRF,
    make_tagger,
)
from skcrf_sdca._utils import version_stamps
from skcrf_sdca.compat import CRF
from skcrf_sdca.datasets import make_chains
from skcrf_sdca.features import ClassifierFeatures, ImageWindow, SequenceWindow
from skcrf_sdca.metrics import flat_accuracy_score, get_scorer
from skcrf_sdca.metrics._scorers import SCORERS
from skcrf_sdca.persistence import (
    TRUSTED_TYPES,
    InconsistentVersionWarning,
    ModelFormatError,
    _values,
    load_model,
    save_model,
)
from skcrf_sdca.persistence._archive import MAX_MEMBERS
from skcrf_sdca.selection import TunedSpans
from skcrf_sdca.text import (
    DEFAULT_TEMPLATES,
    Apply,
    ArcFeatures,
    At,
    Joint,
    LabelPairs,
    TokenFeatures,
    Window,
    has_hyphen,
)
from skcrf_sdca.text.features.values import FUNCTIONS

ESTIMATORS = all_estimators(tol=1e-2)
ARRAYS, NUMBERS = make_chains(
    12, n_labels=3, n_features=4, length=(1, 5), random_state=0
)
LABELS = [np.array(["A", "B", "C"])[labels].tolist() for labels in NUMBERS]
DICTS = [
    [
        {
            "word": f"w{row[0] > 0}",
            "n": row[1],
            "v": row[2:],
            "tab\t\0\ud800": "e\u0301",
            "é": "line\nend",
        }
        for row in x
    ]
    for x in ARRAYS
]
STRINGS = [[[f"f{j}" for j in np.flatnonzero(row > 0)] for row in x] for x in ARRAYS]
KINDS = {
    "arrays": (ARRAYS, LABELS),
    "csr": ([csr_array(x) for x in ARRAYS], LABELS),
    "packed": (PackedSequences.from_sequences(ARRAYS), LABELS),
    "dicts": (DICTS, LABELS),
    "strings": (STRINGS, LABELS),
    "table": (np.concatenate(ARRAYS), np.concatenate(LABELS)),
}
LABEL_SETS = {
    "str": ["a", "b", "c"],
    "odd str": ["A\0x", "A\0", "tab\t\n:"],
    "surrogates": ["\ud800", "\udfff", "😀"],
    "NFC and NFD": ["\u00e9", "e\u0301", ""],
    "int": [-1, 2**40, 7],
    "long int": [2**70, -(2**70), 0],
    "bool": [False, True, True],
    "bytes": [b"a", b"\xff\0", b""],
    "float": [3.0, -1e300, 2.0**60],
}


@pytest.fixture(params=ESTIMATORS, ids=name_of)
def crf(request):
    return clone(request.param)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "model.zip"


def fitted(X=DICTS, y=LABELS, **parameters):
    return SDCACRF(tol=1e-2, random_state=0).set_params(**parameters).fit(X, y)


def through_pickle(estimator, folder):
    return pickle.loads(pickle.dumps(estimator))


def through_joblib(estimator, folder):
    joblib.dump(estimator, folder / "model.joblib")
    return joblib.load(folder / "model.joblib")


def through_memory_map(estimator, folder):
    joblib.dump(estimator, folder / "model.joblib")
    return joblib.load(folder / "model.joblib", mmap_mode="r")


def through_copy(estimator, folder):
    return copy.deepcopy(estimator)


def through_skops(estimator, folder):
    sio = pytest.importorskip("skops.io")
    sio.dump(estimator, folder / "model.skops")
    return sio.load(folder / "model.skops", trusted=TRUSTED_TYPES)


def through_model_file(estimator, folder):
    save_model(estimator, folder / "model.zip")
    return load_model(folder / "model.zip")


WAYS = [
    through_pickle,
    through_joblib,
    through_memory_map,
    through_copy,
    through_skops,
    through_model_file,
]
every_way = pytest.mark.parametrize("way", WAYS, ids=lambda way: way.__name__)


def as_bytes(proba):
    return proba.tobytes() if proba.dtype != object else [p.tobytes() for p in proba]


def assert_same_answers(other, model, X):
    assert as_bytes(other.predict_proba(X)) == as_bytes(model.predict_proba(X))
    predicted, expected = other.predict(X), model.predict(X)
    assert predicted.dtype == expected.dtype
    assert predicted.tolist() == expected.tolist()


def equal(a, b):
    """Return whether two attributes have equal values and, for arrays, equal types."""
    if issparse(a):
        return issparse(b) and a.shape == b.shape and (a != b).nnz == 0
    if isinstance(a, np.ndarray):
        same_type = a.dtype == b.dtype and a.shape == b.shape
        return same_type and a.tolist() == b.tolist()
    if isinstance(a, dict):
        return a.keys() == b.keys() and all(equal(a[key], b[key]) for key in a)
    if hasattr(a, "get_params"):
        return type(a) is type(b) and equal(vars(a), vars(b))
    return a == b


def resealed(path, *, document=None, **arrays):
    """Change the content of a model file, and correct its checksums."""
    contents = members(path)
    if document is not None:
        model = json.loads(contents["model.json"])
        document(model)
        contents["model.json"] = json.dumps(model).encode()
    for name, content in arrays.items():
        contents[f"{name}.npy"] = content
    write(path, {name: c for name, c in contents.items() if c is not None})


def npy(array):
    np.save(buffer := io.BytesIO(), array)
    return buffer.getvalue()


# Round trips --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("way", "kind", "crf"), pairwise_table(WAYS, list(KINDS), ESTIMATORS)
)
def test_every_way_keeps_every_bit(way, kind, crf, tmp_path):
    X, y = KINDS[kind]
    crf = clone(crf).fit(X, y)
    before = pickle.dumps(crf)
    other = way(crf, tmp_path)
    assert_same_answers(other, crf, X)
    assert equal(vars(other), vars(crf))
    assert pickle.dumps(crf) == before


@every_way
@pytest.mark.parametrize("name", LABEL_SETS)
def test_labels_of_every_type_come_back_equal(way, name, tmp_path):
    labels = LABEL_SETS[name]
    y = [[labels[k] for k in sequence] for sequence in NUMBERS]
    crf = fitted(ARRAYS, y)
    other = way(crf, tmp_path)
    assert_same_answers(other, crf, ARRAYS)
    assert other.classes_.dtype == crf.classes_.dtype
    assert {type(label) for label in other.classes_.tolist()} == {type(labels[0])}


@pytest.mark.parametrize(
    "dtype", ["int8", "uint64", ">i4", "float32", "bool", "U9", object]
)
def test_labels_of_rows_keep_their_array(dtype, path):
    y = np.array([1, 0] * 6).astype(str if dtype is object else dtype).astype(dtype)
    crf = fitted(np.eye(2)[[1, 0] * 6], y)
    save_model(crf, path)
    loaded = load_model(path).classes_
    assert loaded.tolist() == crf.classes_.tolist()
    assert (loaded.dtype.kind, loaded.dtype.isnative) == (np.dtype(dtype).kind, True)


@every_way
def test_a_vectorizer_alone(way, tmp_path):
    vectorizer = SequenceVectorizer(min_freq=2, dtype="float32").fit(DICTS)
    other = way(vectorizer, tmp_path)
    assert equal(vars(other), vars(vectorizer))
    assert list(other.vocabulary_["numeric"]) == list(vectorizer.vocabulary_["numeric"])
    assert (other.transform(DICTS).X != vectorizer.transform(DICTS).X).nnz == 0


@every_way
def test_a_pipeline(way, crf, tmp_path):
    model = Pipeline([("features", SequenceVectorizer()), ("crf", crf)], verbose=False)
    model.fit(DICTS, LABELS)
    other = way(model, tmp_path)
    assert_same_answers(other, model, DICTS)
    assert list(other.named_steps) == ["features", "crf"]
    assert equal(vars(other["crf"]), vars(model["crf"]))


@every_way
def test_forbidden_transitions_and_sparse_coefficients(way, tmp_path):
    crf = fitted()
    crf.transition_[0, 1] = crf.start_[2] = crf.end_[0] = -np.inf
    crf.prune(0.01).sparsify()
    other = way(crf, tmp_path)
    assert equal(vars(other), vars(crf))
    assert_same_answers(other, crf, DICTS)


MASK = np.ones((3, 3), dtype=bool)
MASK[0, 2] = False


@pytest.mark.parametrize(
    ("way", "transitions", "crf"),
    pairwise_table(
        WAYS, ["observed", MASK, [("A", "A"), ["B", "A"], ("A", None)]], ESTIMATORS
    ),
)
def test_allowed_transitions(way, transitions, crf, tmp_path):
    crf = clone(crf)
    y = [["A"] * len(labels) for labels in LABELS[:-1]] + [["B", "C", "A", "A", "A"]]
    X = [*ARRAYS[:-1], np.ones((5, 4))]
    if isinstance(transitions, list):
        y[-1][1] = "B"
        transitions = [*transitions, ("B", "B")]
    crf.set_params(transitions=transitions).fit(X, y)
    assert (crf.transition_ == -np.inf).any() or isinstance(transitions, list)
    other = way(crf, tmp_path)
    assert_same_answers(other, crf, X)
    assert_array_equal(other.fit(X, y).transition_, crf.transition_)


@every_way
def test_without_features_and_with_one_label(way, tmp_path):
    X = [[[], []], [["a"]]]
    vectorizer = SequenceVectorizer(min_freq=2)
    model = make_pipeline(vectorizer, fitted()).fit(X, [["A", "A"], ["A"]])
    assert_same_answers(way(model, tmp_path), model, X)


@every_way
def test_names_of_features(way, tmp_path):
    pd = pytest.importorskip("pandas")
    names = ["a", "b", "\ud800", "d\0"]
    # Strings of pyarrow, which pandas takes by itself, have no lone surrogates.
    columns = pd.Index(names, dtype=object)
    X = pd.DataFrame(np.concatenate(ARRAYS), columns=columns)
    crf = fitted(X, np.concatenate(LABELS))
    other = way(crf, tmp_path)
    assert other.feature_names_in_.tolist() == names
    assert_same_answers(other, crf, X)


def test_what_is_loaded_can_be_fitted_again(crf, path):
    save_model(crf.fit(DICTS, LABELS), path)
    loaded = load_model(path)
    assert loaded.coef_.T.flags.c_contiguous
    assert loaded.coef_.flags.writeable
    expected = clone(crf).fit(ARRAYS, NUMBERS)
    assert_array_equal(loaded.fit(ARRAYS, NUMBERS).coef_, expected.coef_)


def test_equal_models_are_equal_files(tmp_path):
    crf = fitted()
    save_model(crf, tmp_path / "a")
    save_model(copy.deepcopy(crf), tmp_path / "b")
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


def test_dual_variables_and_callbacks_stay_out_of_the_file(path):
    crf = fitted(warm_start=True).set_callbacks(skcrf_sdca.DualityGapMonitor())
    save_model(crf, path)
    assert set(vars(crf)) - set(vars(load_model(path))) == {
        "_warm_state",
        "_skl_callbacks",
    }


def test_figures_that_json_has_no_number_for(path):
    crf = fitted()
    crf.duality_gap_, crf.history_["dual"][0] = np.inf, -np.inf
    save_model(crf, path)
    assert load_model(path).duality_gap_ == np.inf
    assert load_model(path).history_["dual"][0] == -np.inf


@every_way
def test_a_model_that_was_not_made_by_fit(way, tmp_path):
    """Its names may share a feature, and it has no history."""
    crf = fitted()
    numbers = crf.vectorizer_.vocabulary_["numeric"]
    crf.vectorizer_.vocabulary_["categorical"]["n"] = {"1": numbers["n"]}
    for name in ("alpha_", "n_iter_", "history_", "duality_gap_"):
        delattr(crf, name)
    assert equal(vars(way(crf, tmp_path)), vars(crf))


def test_parameters_that_are_lists_or_arrays_of_bool():
    mask = np.array([[True, False], [True, True]])
    given = {"a": [("x", None), ["y", 1]], "b": mask, "c": np.float32(0.5), "d": None}
    costs = {("x", "y"): 2, ("y", None): 0.5}
    given |= {"e": costs, "f": np.eye(2), "g": {"x": np.int64(3)}}
    plain = json.loads(json.dumps(_values.plain_parameters(given)))
    back = _values.parameters_from(plain)
    assert back.pop("b").tolist() == mask.tolist()
    assert (back.pop("e"), back.pop("g")) == (costs, {"x": 3})
    assert back.pop("f").tolist() == [[1.0, 0.0], [0.0, 1.0]]
    assert back == {"a": [["x", None], ["y", 1]], "c": 0.5, "d": None}
    for wrong in ([1], [[True], [True, False]], ["a"], [None]):
        with pytest.raises(ValueError, match="mask|inhomogeneous"):
            _values.parameters_from({"b": {"mask": wrong}})
    for wrong in (1, [1], [["x"]], [["x", {"y": 1}]]):
        with pytest.raises((ValueError, TypeError)):
            _values.parameters_from({"b": {"items": wrong}})
    for wrong in (b"x", {b"x": 1}, [b"x"], np.array(["x"]), len):
        with pytest.raises(TypeError, match="the parameter p is or holds a"):
            _values.plain_parameters({"p": wrong})


def test_a_link_is_followed(tmp_path):
    (tmp_path / "link").symlink_to(tmp_path / "model")
    save_model(fitted(), tmp_path / "link")
    assert (tmp_path / "link").is_symlink()
    load_model(tmp_path / "model")


def test_the_reader_in_the_docs_predicts(path):
    page = Path(__file__).parents[2] / "docs" / "model_format.rst"
    *_, block = page.read_text().split(".. code-block:: python\n")
    code = [line for line in block.splitlines() if line[:1] in ("", " ")]
    names = {}
    exec(textwrap.dedent("\n".join(code)), names)
    crf = fitted(STRINGS)
    save_model(crf, path)
    model = names["read_model"](path)
    paths = [names["best_path"](sequence, *model) for sequence in STRINGS]
    assert paths == crf.predict(STRINGS).tolist()


# Versions -----------------------------------------------------------------------------


def pickled_by(version, monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr(version_stamps, "__version__", version)
        return pickle.dumps(fitted())


def test_the_stamp_is_in_the_pickle_alone():
    crf = fitted()
    assert crf.__getstate__()["_skcrf_sdca_version"] == skcrf_sdca.__version__
    loaded = pickle.loads(pickle.dumps(crf))
    assert "_skcrf_sdca_version" not in vars(crf) | vars(loaded)


@pytest.mark.parametrize("version", ["1.2.0", "1.2.9", "1.2.5rc1"])
def test_another_patch_version_is_silent(version, monkeypatch):
    pickled = pickled_by(version, monkeypatch)
    monkeypatch.setattr(version_stamps, "__version__", "1.2.3")
    assert_same_answers(pickle.loads(pickled), fitted(), DICTS)


@pytest.mark.parametrize("version", ["1.1.3", "1.3.0", "1.10.0", "0.2.3"])
def test_another_minor_version_warns(version, monkeypatch):
    pickled = pickled_by(version, monkeypatch)
    monkeypatch.setattr(version_stamps, "__version__", "1.2.3")
    with pytest.warns(InconsistentVersionWarning) as warned:
        loaded = pickle.loads(pickled)
    assert_same_answers(loaded, fitted(), DICTS)
    # The vectorizer has its own version.
    assert len(warned) == 2
    expected = f"pickled by skcrf_sdca {version} and is loaded by 1.2.3"
    assert expected in str(warned[1].message)


def test_a_newer_major_version_is_refused(monkeypatch):
    pickled = pickled_by("2.0.0", monkeypatch)
    monkeypatch.setattr(version_stamps, "__version__", "1.2.3")
    with pytest.raises(ValueError, match=r"by skcrf_sdca 2\.0\.0, which is newer"):
        pickle.loads(pickled)


def test_a_pickle_without_a_stamp_warns():
    crf = fitted(ARRAYS)
    state = crf.__getstate__()
    del state["_skcrf_sdca_version"]
    with pytest.warns(InconsistentVersionWarning, match="skcrf_sdca unknown"):
        SDCACRF().__setstate__(state)


@pytest.mark.parametrize("stamp", ["new", "", 1, "999999999999.0"])
def test_a_stamp_that_is_no_version_is_refused(stamp):
    state = {**fitted(ARRAYS).__getstate__(), "_skcrf_sdca_version": stamp}
    with pytest.raises(ValueError, match="is not a version"):
        SDCACRF().__setstate__(state)


OTHERS = [
    (CRF(), DICTS, LABELS),
    (PerToken(StandardScaler()), ARRAYS, None),
    (TokenFeatures([Window(Apply(has_hyphen), 1), Joint("n", At("n", 1))]), None, None),
    (SequenceUnion([("all", PerToken(StandardScaler()))]), ARRAYS, None),
    (SequenceWindow(1), PackedSequences.from_sequences(ARRAYS), None),
    (ImageWindow(1), ARRAYS, None),
    (ClassifierFeatures(LogisticRegression()), ARRAYS, LABELS),
    (make_tagger(SequenceVectorizer(), SDCACRF()), DICTS, LABELS),
    (make_tagger(SequenceHasher(8), SDCACRF()), [[["a"], ["b"]]], [["A", "B"]]),
]


@pytest.mark.parametrize(("estimator", "X", "y"), OTHERS, ids=name_of)
def test_every_estimator_of_the_package_is_stamped(estimator, X, y, monkeypatch):
    pickled = pickle.dumps(estimator.fit(X, y))
    assert repr(pickle.loads(pickled)) == repr(estimator)
    monkeypatch.setattr(version_stamps, "__version__", "0.99.0")
    with pytest.warns(InconsistentVersionWarning) as warned:
        pickle.loads(pickled)
    names = {warning.message.estimator_name for warning in warned}
    assert type(estimator).__name__ in names


def test_unfitted_estimators_pickle(crf):
    assert repr(pickle.loads(pickle.dumps(crf))) == repr(crf)
    assert repr(copy.deepcopy(SequenceVectorizer())) == "SequenceVectorizer()"


# skops --------------------------------------------------------------------------------


@cache
def search(name):
    """Return a search with a scorer over the features of a tagger, fitted."""
    tagger = make_pipeline(TokenFeatures([Apply(str.lower)]), SDCACRF(tol=0.1))
    grid = {"sdcacrf__alpha": [0.1, 1.0]}
    X, y = [["Dogs", "bark"], ["A", "dog"]] * 2, [["B-X", "O"], ["O", "B-X"]] * 2
    scorer = get_scorer(name) if isinstance(name, str) else make_scorer(name)
    return GridSearchCV(tagger, grid, scoring=scorer, cv=2).fit(X, y)


@in_one_test("way", WAYS[:-1])
@in_one_test("name", SCORERS)
def test_a_search_keeps_its_scorer(way, name, tmp_path):
    """A model file holds its best_estimator_ only."""
    model = search(name)
    other = way(model, tmp_path)
    X, y = [["Dogs", "dog"]], [["B-X", "O"]]
    assert other.score(X, y) == model.score(X, y)
    assert other.best_params_ == model.best_params_
    assert other.predict(X).tolist() == model.predict(X).tolist()


@every_way
def test_functions_of_templates(way, tmp_path):
    functions = [*FUNCTIONS.values()]
    applied = [Apply(function, name=name) for name, function in FUNCTIONS.items()]
    features = TokenFeatures([*applied, *(Window(Apply(f), 1) for f in functions)])
    other = way(features, tmp_path)
    assert other.get_params() == features.get_params()
    for template, function in zip(other.templates, functions, strict=False):
        assert template.function is function
    words = [["Ab", "a-b", "3", " c ", ""]]
    assert other.transform(words) == features.transform(words)


def test_the_state_of_a_function_with_an_unknown_name():
    state = Apply(str.lower).__getstate__()
    assert state == {"function": "str.lower", "column": "word", "name": None}
    assert Apply(len, name="n").__getstate__()["function"] is len
    for name in ("str.split", "os.system", ""):
        with pytest.raises(ValueError, match="of Apply is not known"):
            Apply.__new__(Apply).__setstate__({**state, "function": name})
    with pytest.raises(TypeError, match="must be callable"):
        Apply.__new__(Apply).__setstate__({**state, "function": 1})


def test_the_trusted_types_are_those_that_skops_does_not_know():
    sio = pytest.importorskip("skops.io")
    unknown = set()
    for estimator in (*ESTIMATORS, PassiveAggressiveCRF(random_state=0)):
        crf = clone(estimator).set_params(warm_start=True, transitions="observed")
        crf.fit(DICTS, LABELS)
        unknown.update(sio.get_untrusted_types(data=sio.dumps(crf.sparsify())))
    templates = [*DEFAULT_TEMPLATES, Apply(has_hyphen), Joint("word", At("word", 1))]
    templates.append(LabelPairs("word"))
    others = [estimator.fit(X, y) for estimator, X, y in OTHERS]
    others.append(SegmentCRF(scheme=None, warm_start=True).fit(DICTS, LABELS))
    graphs = [(nodes, []) for nodes in DICTS]
    trees = [(nodes, [-1] * len(nodes)) for nodes in DICTS]
    others += GraphCRF().fit(graphs, LABELS), TreeCRF().fit(trees, LABELS)
    others.append(DependencyCRF().fit([np.zeros((3, 2, 1))], [[2, 0]]))
    parser = OnlineDependencyCRF(features=ArcFeatures(["m.word"]), labelled=True)
    others.append(parser.partial_fit([["a"]], [([0], ["root"])]))
    names = [["B-X"] * len(x) for x in STRINGS]
    spans = fitted(STRINGS, [["O", *own[1:]] for own in names])
    others.append(TunedSpans(spans).fit(STRINGS[:1], [["B-X"] * len(STRINGS[0])]))
    union = SequenceUnion(
        [("words", SequenceVectorizer(), 0), ("rows", PerToken(StandardScaler()), 1)]
    )
    pairs = list(zip(DICTS, ARRAYS, strict=True))
    others.append(make_pipeline(union, fitted()).fit(pairs, LABELS))
    searches = map(search, [*SCORERS, flat_accuracy_score])
    for estimator in (*others, TokenFeatures(templates).fit([["a"]]), *searches):
        unknown.update(sio.get_untrusted_types(data=sio.dumps(estimator)))
    # Of scikit-learn 1.6 skops knows them.
    folds = {"sklearn.model_selection._split.KFold"}
    assert sorted(unknown | folds) == TRUSTED_TYPES


# Golden files -------------------------------------------------------------------------


GOLDEN = sorted((Path(__file__).parents[1] / "golden").glob("*/*.json"))


def load_pickle(path):
    return pickle.loads(path.with_suffix(".pickle").read_bytes())


# One warning of this package, and one of scikit-learn for its pipeline.
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.InconsistentVersionWarning")
@pytest.mark.parametrize("load", [load_model, load_pickle], ids=["zip", "pickle"])
@pytest.mark.parametrize("path", GOLDEN, ids=lambda p: f"{p.parent.name}-{p.stem}")
def test_files_of_every_release_still_load(path, load):
    golden = json.loads(path.read_text())
    model = load(path.with_suffix(".zip"))
    found = model.predict(golden["X"]).tolist()
    assert json.loads(json.dumps(found)) == golden["labels"]
    for p, q in zip(model.predict_proba(golden["X"]), golden["proba"], strict=True):
        np.testing.assert_allclose(p, q, rtol=1e-12)


def test_this_release_has_golden_files():
    assert {p.stem for p in GOLDEN if p.parent.name == skcrf_sdca.__version__} == {
        "arcs",
        "arrays",
        "dicts",
        "parser",
        "pipeline",
        "tagger",
    }


# Estimators that cannot be saved ------------------------------------------------------


class Mine(ClassifierMixin, SDCACRF):
    """A user's subclass."""


@pytest.mark.parametrize(
    ("model", "error", "message"),
    [
        (SDCACRF(), NotFittedError, "not fitted"),
        (SequenceVectorizer(), NotFittedError, "not fitted"),
        (make_pipeline(SequenceVectorizer(), SDCACRF()), NotFittedError, "not fitted"),
        (
            Mine().fit(ARRAYS, LABELS),
            TypeError,
            r"^Mine cannot be saved so: call .*register\(structure, Mine\) first",
        ),
        (
            make_pipeline(SequenceVectorizer(), Mine()),
            TypeError,
            r"a pipeline can be saved so .*register\(structure, Mine\) first",
        ),
        ("crf", TypeError, "str cannot be saved so"),
        (
            make_pipeline(FunctionTransformer(), fitted(ARRAYS)),
            TypeError,
            "FunctionTransformer",
        ),
        (
            make_pipeline(SequenceVectorizer(), SDCACRF(), memory="x"),
            TypeError,
            "memory",
        ),
        (
            fitted(random_state=np.random.RandomState(0)),
            TypeError,
            "random_state is or holds a RandomState",
        ),
        (fitted().set_params(alpha=-1), ValueError, "'alpha' parameter"),
        (fitted().set_params(tol=np.inf), ValueError, "'tol' parameter"),
        (fitted(ARRAYS, [[(k,) for k in y] for y in NUMBERS]), TypeError, "tuple"),
        (
            fitted(ARRAYS, [["\ud83d\ude00"[: k + 1] for k in y] for y in NUMBERS]),
            ValueError,
            "two surrogates",
        ),
        (
            fitted(ARRAYS, [[np.datetime64(k, "D") for k in y] for y in NUMBERS]),
            TypeError,
            "datetime64",
        ),
        (
            fitted(ARRAYS, [["x" * (k + 1) * 6_000_000 for k in y] for y in NUMBERS]),
            ValueError,
            "longest",
        ),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_what_the_format_does_not_hold_is_refused(model, error, message, tmp_path):
    with pytest.raises(error, match=message):
        save_model(model, tmp_path / "model.zip")
    assert not list(tmp_path.iterdir())


def test_a_model_that_does_not_hold_together_is_not_saved(tmp_path):
    crf = fitted()
    crf.end_ = crf.end_[:1]
    with pytest.raises(ValueError, match="end_ has shape"):
        save_model(crf, tmp_path / "model.zip")
    crf = fitted()
    del crf.vectorizer_.vocabulary_["numeric"]["n"]
    with pytest.raises(ValueError, match="vocabulary_ has"):
        save_model(crf, tmp_path / "model.zip")
    assert not list(tmp_path.iterdir())


# No partly written files --------------------------------------------------------------


@pytest.mark.parametrize(
    ("owner", "function"),
    [
        (os, "replace"),
        (os, "fsync"),
        (np.lib.format, "write_array"),
        (zipfile.ZipFile, "writestr"),
    ],
    ids=["replace", "fsync", "write_array", "writestr"],
)
@pytest.mark.parametrize("error", [OSError(errno.ENOSPC, "full"), KeyboardInterrupt()])
def test_a_failed_save_leaves_the_old_file(owner, function, error, path, monkeypatch):
    save_model(fitted(ARRAYS), path)
    before = path.read_bytes()

    def fail(*args, **kwargs):
        raise error

    crf = fitted()
    monkeypatch.setattr(owner, function, fail)
    with pytest.raises(type(error)):
        save_model(crf, path)
    assert [p.name for p in path.parent.iterdir()] == [path.name]
    assert path.read_bytes() == before


def test_where_nothing_can_be_written(tmp_path):
    with pytest.raises(FileNotFoundError):
        save_model(fitted(), tmp_path / "no folder" / "model.zip")
    with pytest.raises(OSError, match="directory"):
        save_model(fitted(), tmp_path)
    assert not list(tmp_path.iterdir())


def test_an_unwritable_folder(tmp_path):
    if os.geteuid() == 0:
        pytest.skip("root may write everywhere")
    tmp_path.chmod(0o500)
    with pytest.raises(PermissionError):
        save_model(fitted(), tmp_path / "model.zip")
    assert not list(tmp_path.iterdir())


# Files that are not models ------------------------------------------------------------


def assert_refused(path, message=None):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(ModelFormatError, match=message) as caught:
            load_model(path)
    assert isinstance(caught.value, ValueError)
    assert str(path) in str(caught.value)


def test_no_file_is_an_error_of_the_system(tmp_path):
    with pytest.raises(FileNotFoundError):
        load_model(tmp_path / "model.zip")
    with pytest.raises(OSError, match="directory"):
        load_model(tmp_path)


@pytest.mark.parametrize("path", ["/dev/zero", "/dev/null"])
def test_what_never_ends_is_not_read(path):
    if not Path(path).exists():
        pytest.skip(f"there is no {path}")
    assert_refused(path, "not a regular file")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
def test_a_pipe_is_not_waited_for(path):
    os.mkfifo(path)
    assert_refused(path, "not a regular file")


@pytest.mark.parametrize(
    "path", [1, True, None, io.StringIO(), object()], ids=lambda path: type(path)
)
def test_a_path_is_no_number_and_no_text(path):
    """open() takes a number as a descriptor and closes it: for example, of stdout."""
    with pytest.raises(TypeError, match="path must be a str, a path-like object or"):
        load_model(path)
    with pytest.raises(TypeError, match="path must be a str, a path-like object or"):
        save_model(fitted(), path)


# File objects and bytes ---------------------------------------------------------------


def test_every_kind_of_file_gets_and_gives_the_same_bytes(crf, path):
    save_model(crf.fit(DICTS, LABELS), path)
    whole = path.read_bytes()
    save_model(crf, buffer := io.BytesIO())
    assert buffer.getvalue() == whole
    with gzip.open(path.with_suffix(".gz"), "wb") as file:
        save_model(crf, file)
    with open(path.with_suffix(".raw"), "wb", buffering=0) as file:
        save_model(crf, file)
    assert path.with_suffix(".raw").read_bytes() == whole
    buffer.seek(0)
    with gzip.open(path.with_suffix(".gz")) as packed, open(path, "rb") as file:
        sources = [packed, file, buffer, whole, bytearray(whole), memoryview(whole)]
        for source in (path, str(path), *sources):
            assert_same_answers(load_model(source), crf, DICTS)


def test_a_file_object_is_used_from_its_position():
    file = io.BytesIO()
    file.write(b"head")
    save_model(fitted(), file)
    assert not file.closed
    file.seek(4)
    assert_same_answers(load_model(file), fitted(), DICTS)
    assert not file.closed
    with pytest.raises(ModelFormatError, match=r"call seek\(0\)"):
        load_model(file)


def test_a_file_object_gets_nothing_of_a_model_that_cannot_be_saved():
    file = io.BytesIO()
    for model in (SDCACRF(), fitted(alpha=0.1).set_params(alpha=-1), "crf"):
        with pytest.raises((TypeError, ValueError)):
            save_model(model, file)
    labels = [["\ud83d\ude00"[: k + 1] for k in y] for y in NUMBERS]
    with pytest.raises(ValueError, match="two surrogates"):
        save_model(fitted(ARRAYS, labels), file)
    assert file.getvalue() == b""


def test_a_file_object_that_takes_a_part():
    class Full(io.RawIOBase):
        def write(self, data):
            return 10

    with pytest.raises(OSError, match="took 10 of"):
        save_model(fitted(), Full())


def test_a_path_with_methods_of_files_is_a_path(tmp_path):
    class Path(type(tmp_path)):
        def write(self, data):
            raise AssertionError

        read = write

    path = Path(tmp_path / "model.zip")
    save_model(fitted(), path)
    assert_same_answers(load_model(path), fitted(), DICTS)


@pytest.mark.survives
def test_damaged_bytes_and_file_objects_are_refused():
    save_model(fitted(), file := io.BytesIO())
    whole = file.getvalue()
    for n_bytes in np.linspace(0, len(whole) - 1, 20, dtype=int):
        for source in (whole[:n_bytes], io.BytesIO(whole[:n_bytes])):
            with pytest.raises(ModelFormatError, match="cannot be read"):
                load_model(source)


@pytest.mark.survives
@pytest.mark.parametrize(
    "garbage",
    [b"", b"PK", b"garbage" * 100, b"PK\x05\x06" + b"\0" * 18, pickle.dumps({})],
    ids=["empty", "PK", "garbage", "empty zip", "pickle"],
)
def test_empty_and_garbage(garbage, path):
    path.write_bytes(garbage)
    assert_refused(path)


@pytest.mark.survives
def test_cut_short(path):
    save_model(fitted(), path)
    whole = path.read_bytes()
    for n_bytes in np.linspace(0, len(whole) - 1, 20, dtype=int):
        path.write_bytes(whole[:n_bytes])
        assert_refused(path)


@pytest.mark.survives
@pytest.mark.parametrize("n", [20, pytest.param(1000, marks=pytest.mark.slow)])
@pytest.mark.parametrize("way", ["raw", "sealed"])
def test_damaged_files(way, n, path):
    X = [[{"word": "the", "n": 1.5}, {"word": "dog", "v": np.array([1.0, 2.0])}]]
    save_model(fitted(X, [["A", "B"]]), path)
    counts = outcomes(path, way, n, np.random.default_rng(0))
    assert sum(counts.values()) == n
    assert counts["refused"] > 0.8 * n
    if way == "raw":
        assert set(counts) <= {"refused", "same"}


def test_more_members(path):
    save_model(fitted(), path)
    resealed(path, extra=npy(np.zeros(2)))
    assert_refused(path, "unknown members")
    resealed(path, **{f"extra{i}": b"" for i in range(MAX_MEMBERS)})
    assert_refused(path, "members, or two of one name")


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_two_members_of_one_name(path):
    save_model(fitted(), path)
    start = members(path)["start.npy"]
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr("start.npy", start)
    assert_refused(path, "two of one name")


def test_a_missing_member(path):
    for name in members_of_a_model(path):
        save_model(fitted(), path)
        contents = members(path)
        del contents[name]
        write(path, contents)
        assert_refused(path, "it has no member")


def members_of_a_model(path):
    save_model(fitted(), path)
    return members(path)


def test_a_bomb_is_refused_before_it_is_unpacked(path, monkeypatch):
    """Compression is refused, so that no member is larger than the file."""
    contents = members_of_a_model(path)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in contents.items():
            archive.writestr(name, content)
    monkeypatch.setattr(zipfile.ZipFile, "read", None)
    assert_refused(path, "compressed")


def patched_sizes(data, name, sizes):
    """Return a zip whose directory declares other (stored, whole) sizes of a member."""
    place = data.rindex(name.encode()) - 46
    assert data[place : place + 4] == b"PK\x01\x02"
    patch = b"".join(size.to_bytes(4, "little") for size in sizes)
    return data[: place + 20] + patch + data[place + 28 :]


@pytest.mark.parametrize("sizes", [(2**31, 2**31), (10, 2**31), (2**31, 10), (0, 0)])
def test_declared_sizes(sizes, path):
    members_of_a_model(path)
    path.write_bytes(patched_sizes(path.read_bytes(), "coef.npy", sizes))
    assert_refused(path, "two different sizes" if sizes[0] != sizes[1] else None)


def test_members_that_share_their_bytes(path):
    """A thousand names of one member would give a thousand times its bytes."""
    save_model(fitted(), path)
    data = path.read_bytes()
    size = len(data) - 200
    path.write_bytes(patched_sizes(data, "coef.npy", (size, size)))
    assert_refused(path, "more bytes than it has")


@pytest.mark.parametrize(
    "wrong",
    [
        lambda a: a.astype(np.float32),
        lambda a: a.astype(">f8"),
        lambda a: a.astype(np.int64),
        lambda a: a.astype(object),
        lambda a: a[:-1],
        lambda a: a[None],
        lambda a: a * np.nan,
        lambda a: a + np.inf,
    ],
    ids=["f4", "big-endian", "int", "object", "short", "3-D", "NaN", "infinite"],
)
@pytest.mark.parametrize("name", ["coef", "intercept", "start", "transition"])
def test_wrong_arrays(name, wrong, path):
    crf = fitted()
    save_model(crf, path)
    array = getattr(crf, f"{name}_")
    resealed(path, **{name: npy(wrong(array.T if name == "coef" else array))})
    assert_refused(path, name)


def test_minus_infinity_only_where_it_forbids(path):
    crf = fitted()
    for name in ("coef", "intercept"):
        save_model(crf, path)
        array = np.full_like(getattr(crf, f"{name}_"), -np.inf)
        resealed(path, **{name: npy(array.T)})
        assert_refused(path, f"{name}_ contains")


@pytest.mark.parametrize(
    "change",
    [
        lambda data: data + b"\0",
        lambda data: data[:-1],
        lambda data: data.replace(b"NUMPY\x01", b"NUMPY\x02"),
        lambda data: data.replace(b"False", b"True "),
        lambda data: data[:8] + b"\xff\xff" + data[10:],
        lambda data: data.replace(b"'descr'", b"'order'"),
        lambda data: data[:5],
        lambda data: b"",
    ],
)
def test_wrong_headers(change, path):
    contents = members_of_a_model(path)
    resealed(path, coef=change(contents["coef.npy"]))
    assert_refused(path, "coef.npy")


def test_headers_as_others_write_them(path):
    """Spaces and commas are free: other libraries write them differently."""
    contents = members_of_a_model(path)
    data = contents["start.npy"]
    text = "{'descr':'<f8','fortran_order':False,'shape':(3,)}\n"
    header = b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text.encode()
    resealed(path, start=header + data[-24:])
    assert_same_answers(load_model(path), fitted(), DICTS)


def set_in(*keys, to):
    def change(document):
        *outer, last = keys
        for key in outer:
            document = document[key]
        document[last] = to

    return change


def remove(*keys):
    def change(document):
        *outer, last = keys
        for key in outer:
            document = document[key]
        del document[last]

    return change


VOCABULARY = ("model", "vectorizer", "vocabulary")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (set_in("format", to="other"), "not a model of skcrf_sdca"),
        (set_in("format_version", to=4), "reads 1 to 3 only"),
        (set_in("format_version", to=True), "version True"),
        (set_in("format_version", to=0), "version 0"),
        (set_in("written_by", to=None), "written_by"),
        (set_in("more", to=1), "must have the entries"),
        (remove("model", "fit"), "must have the entries"),
        (set_in("model", "type", to="os.system"), "os.system"),
        (set_in("model", "type", to=["SDCACRF"]), "no place"),
        (set_in("model", "type", to="Pipeline"), "must have the entries"),
        (set_in("model", "parameters", "zzz", to=1), "other parameters"),
        (set_in("model", "parameters", "alpha", to=-1), "alpha"),
        (set_in("model", "parameters", "max_iter", to=True), "max_iter"),
        (set_in("model", "parameters", "tol", to="1"), "tol"),
        (set_in("model", "input_format", to="rows"), "_input_format"),
        (set_in("model", "input_format", to="arrays"), "vectorizer_"),
        (set_in("model", "input_format", to="strings"), "vectorizer_ was not fitted"),
        (set_in("model", "n_features", to=3), "coef"),
        (set_in("model", "n_features", to=-1), "n_features"),
        (set_in("model", "n_features", to=2**40), "n_features"),
        (set_in("model", "n_features", to=True), "n_features"),
        (set_in("model", "n_stored", to=3), "coef_data"),
        (set_in("model", "n_stored", to=-1), "coef_data"),
        (set_in("model", "feature_names", to=["a"]), "feature_names must"),
        (set_in("model", "feature_names", to=[1]), "feature_names"),
        (set_in("model", "labels", "values", to=["A", "B"]), "intercept"),
        (set_in("model", "labels", "values", to=["A", "B", "B"]), "twice"),
        (set_in("model", "labels", "values", to=["A", "B", 1]), "type str"),
        (set_in("model", "labels", "values", to=[]), "type str"),
        (set_in("model", "labels", "type", to="int"), "labels"),
        (set_in("model", "labels", "type", to="eval"), "labels"),
        (set_in("model", "labels", "dtype", to="int8"), "labels"),
        (set_in("model", "labels", "dtype", to="U2000000000"), "labels"),
        (set_in("model", "labels", "values", to=["A", "B", "C\0"]), "not hold them"),
        (set_in("model", "vectorizer", to=None), "vectorizer_"),
        (set_in("model", "vectorizer", "type", to="SDCACRF"), "no place"),
        (set_in("model", "vectorizer", "n_features", to=99), "vocabulary_ has"),
        (
            set_in("model", "vectorizer", "input_format", to="table"),
            "input_format must",
        ),
        (set_in("model", "vectorizer", "parameters", "dtype", to="f2"), "dtype"),
        (set_in("model", "vectorizer", "parameters", "min_freq", to=0), "min_freq"),
        (set_in(*VOCABULARY, "numeric", to=1), "names.npy"),
        (set_in(*VOCABULARY, "numeric", to=0), "at least 1"),
        (set_in(*VOCABULARY, "numeric", to=-1), "at least 1"),
        (set_in(*VOCABULARY, "numeric", to=2**70), "names.npy"),
        (set_in(*VOCABULARY, "numeric", to=True), "plain int"),
        (set_in(*VOCABULARY, "categorical", "word", to={}), "plain int"),
        (set_in(*VOCABULARY, "categorical", to=[]), "plain dict"),
        (set_in(*VOCABULARY, "vectors", "v", to=[0, 0]), "vocabulary_ has"),
        (set_in(*VOCABULARY, "vectors", "v", to=[-2]), "from 0 to"),
        (set_in(*VOCABULARY, "vectors", "v", to=[7]), "from 0 to"),
        (set_in(*VOCABULARY, "vectors", to=[]), "plain dict"),
        (remove(*VOCABULARY, "vectors"), "vocabulary must have"),
        (set_in("model", "fit", "alpha", to="1"), "no number"),
        (set_in("model", "fit", "alpha", to=None), "no number"),
        (set_in("model", "fit", "predict", to=1), "fit may have"),
        (set_in("model", "history", "gap", to=1), "history"),
        (set_in("model", "history", "gap", to=[1.0]), "history"),
        (set_in("model", "history", "epoch", 0, to=10**30), "int"),
    ],
)
def test_wrong_documents(change, message, path):
    save_model(fitted(), path)
    resealed(path, document=change)
    assert_refused(path, message)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (set_in(*VOCABULARY, "numeric", "n", to=0), "vocabulary_ has"),
        (set_in(*VOCABULARY, "numeric", "n", to=-1), "from 0 to"),
        (set_in(*VOCABULARY, "numeric", "n", to=2**31), "from 0 to"),
        (set_in(*VOCABULARY, "numeric", "n", to=2**70), "int"),
        (set_in(*VOCABULARY, "numeric", "n", to=1.0), "plain int"),
        (set_in(*VOCABULARY, "numeric", "n", to=True), "plain int"),
        (set_in(*VOCABULARY, "numeric", "m", to=7), "from 0 to"),
        (set_in(*VOCABULARY, "categorical", "word", to=[]), "plain dict"),
        (set_in(*VOCABULARY, "vectors", "v", to=[0, 0]), "vocabulary_ has"),
        (set_in(*VOCABULARY, "vectors", "v", to=[-2]), "from 0 to"),
        (set_in(*VOCABULARY, "vectors", to=[]), "plain dict"),
        (remove(*VOCABULARY, "vectors"), "vocabulary must have"),
        (remove(*VOCABULARY, "numeric", "n"), "vocabulary_ has"),
    ],
)
def test_wrong_names_in_a_document(change, message, path):
    save_model(fitted(), path)
    as_version_2(path)
    assert load_model(path).predict(DICTS).tolist() == fitted().predict(DICTS).tolist()
    resealed(path, document=change)
    assert_refused(path, message)


# Names of the features 0 to 4: of one, two and four bytes a character.
NAMED = ["caf\u00e9", "", "\u4e2d\ud800", "\U0001f600", "long" * 9]


def record(form, number, *characters):
    """Return the units of a record of a name in a file."""
    data = struct.pack("<Ii", form, number) + b"".join(characters)
    return np.frombuffer(data + bytes(-len(data) % 8), dtype="<i8").tolist()


@pytest.mark.parametrize(
    ("units", "message"),
    [
        ([0, *record(4, 0, b"a")], "more names than it says"),
        ([2, *record(4, 0, b"a")], "fewer names than it says"),
        ([3, *record(4, 0, b"a")], "size of a table"),
        ([-1, *record(4, 0, b"a")], "size of a table"),
        ([2**62, *record(4, 0, b"a")], "size of a table"),
        ([1, *record(4, 1, b"a")], "from 0 to 0"),
        ([1, *record(4, -1, b"a")], "from 0 to 0"),
        ([1, *record(9 * 4, 0, b"a")], "damaged"),
        ([1, *record(2**32 - 4, 0, b"a")], "damaged"),
        ([1, *record(4 | 3, 0, b"a")], "damaged"),
        # Characters whose size is not the least, and one that there is not.
        ([1, *record(2 * 4 | 1, 0, b"a\0")], "damaged"),
        ([1, *record(3 * 4 | 1, 0, b"\0\1a")], "damaged"),
        ([1, *record(4 * 4 | 2, 0, b"\0\1\0\0")], "damaged"),
        ([1, *record(4 * 4 | 2, 0, b"\0\0\x11\0")], "damaged"),
        ([2, *record(4, 0, b"a"), *record(4, 0, b"a")], "twice"),
    ],
)
def test_wrong_names_in_an_array(units, message, path):
    save_model(SequenceVectorizer().fit([[["a"]]]), path)
    n = len(units)
    change = set_in(*VOCABULARY[::2], "numeric", to=n)
    resealed(path, names=npy(np.array([1, *record(4, 0, b"a")])))
    assert load_model(path).vocabulary_["numeric"] == {"a": 0}
    resealed(path, document=change, names=npy(np.array(units)))
    assert_refused(path, message)


def test_names_of_every_size_of_characters(path):
    fit = SequenceVectorizer().fit([[NAMED]])
    save_model(fit, path)
    again = load_model(path)
    assert again.vocabulary_["numeric"] == dict(zip(NAMED, range(5), strict=True))
    # A table that lies in the bytes of the file is copied before it grows.
    again.partial_fit([[["new", *NAMED]]])
    found = again.transform([[["new"], *([name] for name in NAMED)]]).X.toarray()
    assert found.argmax(axis=1).tolist() == [5, 0, 1, 2, 3, 4]
    save_model(again, path)
    assert list(load_model(path).vocabulary_["numeric"]) == [*NAMED, "new"]


@pytest.mark.parametrize(
    "change",
    [
        set_in("model", "names", to=["crf", "crf"]),
        set_in("model", "names", to=["a", "b", "c"]),
        set_in("model", "names", to=[1, 2]),
        set_in("model", "verbose", to=1),
        set_in("model", "crf", "type", to="Pipeline"),
        set_in("model", "crf", "type", to="SequenceVectorizer"),
        set_in("model", "vectorizer", "type", to="SDCACRF"),
        set_in("model", "vectorizer", to=None),
        remove("model", "crf"),
    ],
)
def test_wrong_pipelines(change, path):
    save_model(make_pipeline(SequenceVectorizer(), fitted()).fit(DICTS, LABELS), path)
    resealed(path, document=change)
    assert_refused(path)


def test_a_pipeline_of_a_vectorizer_and_a_crf_that_do_not_fit(path):
    model = make_pipeline(SequenceVectorizer(), fitted()).fit(DICTS, LABELS)
    save_model(model, path)
    numbers = {"numeric": {"n": 0}, "categorical": {}, "vectors": {}}

    def change(document):
        document["model"]["vectorizer"] |= {"n_features": 1, "vocabulary": numbers}

    resealed(path, document=change)
    assert_refused(path, "has 1 features, but the CRF 7")
    model.steps[0] = ("sequencevectorizer", SequenceVectorizer().fit([[{"n": 1}]]))
    with pytest.raises(ValueError, match="has 1 features, but the CRF 7"):
        save_model(model, path)


@pytest.mark.parametrize(
    "text",
    [
        b"",
        b"[]",
        b"[" * 100_000,
        b'{"a":' * 100_000,
        b'{"format": "skcrf_sdca", "format_version": 1, "format_version": 1}',
        b'{"format": "skcrf_sdca", "format_version": NaN}',
        b'{"format": "skcrf_sdca", "format_version": 1e999}',
        b'{"format": "skcrf_sdca", "format_version": 1' + b"0" * 5000 + b"}",
        '{"format": "\u00e9"}'.encode(),
        b"\xff\xfe",
    ],
)
def test_wrong_json(text, path):
    contents = members_of_a_model(path)
    write(path, {**contents, "model.json": text})
    assert_refused(path)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (b'"n_iter":', b'"alpha": 1.0, "n_iter":', "a key twice"),
        (b'"alpha": "auto"', b'"alpha": 1e999', "the number 1e999"),
        (b'"alpha": "auto"', b'"alpha": -Infinity', "the number -Infinity"),
        (b'"alpha": "auto"', b'"alpha": NaN', "the number NaN"),
    ],
)
def test_what_json_leaves_undefined(old, new, message, path):
    contents = members_of_a_model(path)
    text = contents["model.json"]
    assert text.count(old) == 1
    write(path, {**contents, "model.json": text.replace(old, new)})
    assert_refused(path, message)


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("coef_indices", [0, 99]),
        ("coef_indices", [-1, 0]),
        ("coef_indptr", [0, 3, 1, 2]),
        ("coef_indptr", [0, 1, 2, 99]),
        ("coef_indptr", [-1, 1, 2, 2]),
        ("coef_indptr", [0, 2**40, 2**40, 0]),
        ("coef_indptr", [0, 2**63 - 1, -5, 2]),
        ("coef_data", [np.nan, 1.0]),
    ],
)
def test_wrong_sparse_coefficients(name, values, path):
    crf = fitted()
    crf.coef_ = csr_array(([1.0, 2.0], [0, 1], [0, 1, 2, 2]), shape=crf.coef_.shape)
    save_model(crf, path)
    load_model(path)
    resealed(path, **{name: npy(np.array(values))})
    assert_refused(path)


def test_nothing_of_a_file_is_run_or_imported(path):
    """Loading imports no further module."""
    save_model(fitted(), path)
    load_model(path)
    before = set(sys.modules)
    rng = np.random.default_rng(0)
    contents = members(path)
    for _ in range(100):
        write(path, changed_members(contents, rng))
        try:
            load_model(path)
        except ModelFormatError:
            pass
    assert set(sys.modules) == before
