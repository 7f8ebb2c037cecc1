"""Labels that are ids: tagging schemes read their names, label_names=."""

import copy

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn import clone
from sklearn.model_selection import GridSearchCV

from skcrf_sdca import (
    LBFGSCRF,
    OEGCRF,
    SAGNUSCRF,
    SDCACRF,
    SequenceVectorizer,
    load_model,
    make_tagger,
    save_model,
)
from skcrf_sdca.distributed import DistributedCRF
from skcrf_sdca.metrics import get_scorer
from skcrf_sdca.plotting import ConfusionDisplay

NAMES = ["O", "B-PER", "I-PER", "B-LOC"]
IDS = {name: i for i, name in enumerate(NAMES)}
WORDS = [["Ada", "Lovelace", "in", "Bern"], ["Bern", "waits"], ["Ada", "waits"]] * 4
X = [[[word] for word in words] for words in WORDS]
NAMED = [["B-PER", "I-PER", "O", "B-LOC"], ["B-LOC", "O"], ["B-PER", "O"]] * 4
Y = [[IDS[name] for name in labels] for labels in NAMED]
FORMS = {"list": NAMES, "tuple": tuple(NAMES), "dict": dict(enumerate(NAMES))}


def small(**options):
    return LBFGSCRF(alpha=0.05, tol=1e-8, **options)


@pytest.fixture(scope="module")
def model():
    return small(transitions="BIO", label_names=NAMES).fit(X, Y)


@pytest.fixture(scope="module")
def twin():
    """Return the same model of the names themselves."""
    return small(transitions="BIO").fit(X, NAMED)


@pytest.mark.parametrize("form", FORMS)
def test_ids_with_names_are_constrained_as_the_names(form, twin):
    crf = small(transitions="BIO", label_names=FORMS[form]).fit(X, Y)
    assert crf.classes_.tolist() == [0, 1, 2, 3]
    order = [crf.classes_.tolist().index(IDS[name]) for name in twin.classes_]
    assert_array_equal(
        np.isinf(crf.transition_[np.ix_(order, order)]), np.isinf(twin.transition_)
    )
    assert [[NAMES[i] for i in path] for path in crf.predict(X)] == [*twin.predict(X)]


@pytest.mark.parametrize("solver", [SDCACRF, SAGNUSCRF, OEGCRF, LBFGSCRF])
def test_every_estimator_takes_names_of_labels(solver):
    crf = solver(transitions="BIO", label_names=NAMES, max_iter=300).fit(X, Y)
    assert np.isinf(crf.start_).tolist() == [False, False, True, False]


def test_partitions_take_names_of_labels():
    parts = [(X[:6], Y[:6]), (X[6:], Y[6:])]
    crf = DistributedCRF(transitions="BIO", label_names=NAMES).fit(parts)
    assert np.isinf(crf.start_).tolist() == [False, False, True, False]
    alone = crf.to_estimator()
    assert alone.label_names == NAMES
    assert alone.predict_spans(X).tolist() == crf.predict_spans(X).tolist()


@pytest.mark.parametrize(
    ("scheme", "names"),
    [
        ("BIOES", ["O", "S-X", "B-X", "E-X"]),
        ("bilou", ["O", "U-X", "B-X", "L-X"]),
        ("IO", ["O", "I-X", "I-Y", "I-Z"]),
    ],
)
def test_other_schemes_read_names_too(scheme, names):
    y = [[0, 1, 2, 3]]
    crf = small(transitions=scheme, label_names=names).fit(X[:1], y)
    named = small(transitions=scheme).fit(X[:1], [[names[i] for i in y[0]]])
    assert np.isinf(crf.transition_).sum() == np.isinf(named.transition_).sum()
    assert crf.predict_spans(X[:1])[0][0][0] == "X"


def test_an_unknown_label_needs_no_name():
    y = [[-100, *labels[1:]] for labels in Y[:6]] + Y[6:]
    crf = small(transitions="BIO", label_names=NAMES, unknown_label=-100).fit(X, y)
    assert crf.classes_.tolist() == [0, 1, 2, 3]


def test_spans_have_the_types_of_the_names(model, twin):
    spans, expected = model.predict_spans(X[:2]), twin.predict_spans(X[:2])
    for own, other in zip(spans, expected, strict=True):
        assert [span[:3] for span in own] == [span[:3] for span in other]
        np.testing.assert_allclose([s[3] for s in own], [s[3] for s in other], 1e-4)
    assert [span[:3] for span in spans[0]] == [("PER", 0, 2), ("LOC", 3, 4)]
    typed = model.span_proba(X[:2], spans, scheme="BIO")
    np.testing.assert_allclose(typed[0], [span[3] for span in spans[0]])
    (labelled,) = model.span_proba(X[:1], [[(0, 2, [1, 2])]])
    assert 0.5 < labelled[0] < 1.0


def test_names_may_come_after_the_fit():
    crf = small().fit(X, Y)
    with pytest.raises(TypeError, match="got 0; .* label_names="):
        crf.predict_spans(X)
    with pytest.raises(ValueError, match=r"transitions='BIO': .* label_names="):
        crf.constrain("BIO")
    crf.set_params(label_names=NAMES).constrain("BIO")
    assert np.isinf(crf.start_).tolist() == [False, False, True, False]
    assert crf.predict_spans(X)[1][0][0] == "LOC"


def test_scores_of_spans_read_the_names(model, twin):
    wrong = [[0, 0, 0, 0], [3, 3], *Y[2:]]
    named = [[NAMES[i] for i in labels] for labels in wrong]
    tagger = make_tagger(SequenceVectorizer(), clone(model)).fit(X, Y)
    search = GridSearchCV(
        clone(model), {"alpha": [0.05]}, scoring=get_scorer("span_f1"), cv=2
    )
    assert search.fit(X, Y).best_score_ > 0.5
    for name in ("span_f1", "span_precision", "span_recall"):
        expected = get_scorer(name)(twin, X, named)
        assert expected < 1.0
        for estimator in (model, tagger, search):
            assert get_scorer(name)(estimator, X, wrong) == expected


def test_a_confusion_matrix_of_spans_reads_the_names(model):
    pyplot = pytest.importorskip("matplotlib.pyplot")
    display = ConfusionDisplay.from_estimator(model, X, Y, scheme="BIO")
    assert display.display_labels == ["LOC", "PER", "no span"]
    pyplot.close(display.figure_)


@pytest.mark.parametrize("form", FORMS)
def test_copies_and_files_keep_the_names(form, tmp_path):
    crf = small(transitions="BIO", label_names=FORMS[form]).fit(X, Y)
    assert clone(crf).label_names == FORMS[form]
    save_model(crf, tmp_path / "model")
    expected = crf.predict_spans(X).tolist()
    for again in (copy.deepcopy(crf), load_model(tmp_path / "model")):
        assert again.predict_spans(X).tolist() == expected
    loaded = load_model(tmp_path / "model").label_names
    assert loaded == (NAMES if form == "tuple" else FORMS[form])


@pytest.mark.parametrize(
    ("names", "y", "error", "message"),
    [
        (None, Y, ValueError, "transitions='BIO': .* got 0; .* label_names="),
        (NAMES[:3], Y, ValueError, "label_names has no name for the label 3; it must"),
        ({"0": "O"}, Y, ValueError, "label_names has no name for the label 0; it must"),
        (["O", 1, 2, 3], Y, TypeError, "name of label 1 is of type int 1; .* be a str"),
        (["O", "x", "y", "z"], Y, ValueError, "Label 'x' is not of the scheme 'BIO'"),
        (NAMES, NAMED, ValueError, "label_names has no name for the label 'B-LOC'"),
        (
            NAMES,
            [*Y[:11], [0, 2]],
            ValueError,
            r"y: sequence 11, item 1: 2 \('I-PER'\) follows 0 \('O'\), which",
        ),
        ("BIO", Y, ValueError, "'label_names' parameter of LBFGSCRF must be"),
    ],
)
def test_names_that_do_not_fit_are_refused(names, y, error, message):
    crf = small(transitions="BIO", label_names=names)
    with pytest.raises(error, match=message):
        crf.fit(X, y)
    assert not hasattr(crf, "classes_")
