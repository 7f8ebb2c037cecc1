"""The scorers in scikit-learn's tools, with every form of X and y."""

import inspect
import pickle

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn import config_context
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import get_scorer as sklearn_get_scorer
from sklearn.model_selection import (
    GridSearchCV,
    KFold,
    LearningCurveDisplay,
    ValidationCurveDisplay,
    cross_val_score,
    cross_validate,
)
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import FunctionTransformer

from skcrf_sdca import LBFGSCRF, SequenceVectorizer, metrics
from skcrf_sdca.metrics import SCORERS, get_scorer, get_scorer_names

WORDS = ["the", "Rhine", "a", "Danube", "flows", "Berlin", "city", "to"]
NAMES = {"Rhine": "RIV", "Danube": "RIV", "Berlin": "CITY"}
CV = KFold(3)
# Scorers that need only methods that every estimator has.
COMMON = {name: SCORERS[name] for name in SCORERS if name != "log_likelihood"}


def as_object_array(y):
    return np.fromiter(map(np.array, y), dtype=object, count=len(y))


@pytest.fixture(scope="module")
def data():
    """Sentences of words; the second label of a name is random."""
    rng = np.random.default_rng(0)
    X = [rng.choice(WORDS, size=n).tolist() for n in rng.integers(1, 6, size=24)]
    y = [["B-" + NAMES[w] if w in NAMES else "O" for w in words] for words in X]
    for labels in y:
        if rng.random() < 0.3:
            labels[0] = "O"
    return [[[word] for word in words] for words in X], y


@pytest.fixture(scope="module")
def fitted(data):
    return LBFGSCRF(alpha=0.1).fit(*data)


class WithLikelihood(LBFGSCRF):
    """An estimator whose log-likelihood is -T for each token of a sequence of T."""

    def log_likelihood(self, X, y):
        if len(X):
            self.predict(X)
        return -np.array([len(labels) ** 2 for labels in y], dtype=float)


class WithoutLikelihood(LBFGSCRF):
    """An estimator that has no such method."""

    @property
    def log_likelihood(self):
        raise AttributeError


def expected_scores(y, predicted, proba, classes):
    options = {"zero_division": 0.0}
    tokens = sorted({label for labels in [*y, *predicted] for label in labels})
    names = [label for label in tokens if label != "O"]
    flat = metrics.flat_f1_score
    return {
        "flat_accuracy": metrics.flat_accuracy_score(y, predicted),
        "flat_f1_macro": flat(y, predicted, average="macro"),
        "flat_f1_weighted": flat(y, predicted, average="weighted"),
        "flat_f1_macro_without_O": flat(y, predicted, average="macro", labels=names),
        "flat_f1_weighted_without_O": flat(
            y, predicted, average="weighted", labels=names
        ),
        "sequence_accuracy": metrics.sequence_accuracy_score(y, predicted),
        "span_precision": metrics.span_precision_score(y, predicted, **options),
        "span_recall": metrics.span_recall_score(y, predicted, **options),
        "span_f1": metrics.span_f1_score(y, predicted, **options),
        "neg_log_loss": -metrics.flat_log_loss(y, proba, labels=classes),
    }


def test_scores_are_those_of_the_metrics(data, fitted):
    X, y = data
    expected = expected_scores(
        y, fitted.predict(X), fitted.predict_proba(X), fitted.classes_
    )
    assert expected.keys() == COMMON.keys()
    assert 0 < expected["span_f1"] < 1
    for name, scorer in COMMON.items():
        assert scorer(fitted, X, y) == expected[name]
        assert scorer(fitted, X, as_object_array(y)) == expected[name]


def test_neg_log_loss_is_that_of_scikit_learn_on_one_node_chains():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(40, 3)), rng.integers(3, size=40)
    chains = [row[None] for row in X]
    model = LBFGSCRF().fit(chains, [[k] for k in y])
    logistic = LogisticRegression().fit(X, y)
    logistic.coef_ = model.coef_
    logistic.intercept_ = model.intercept_ + model.start_ + model.end_
    expected = sklearn_get_scorer("neg_log_loss")(logistic, X, y)
    value = SCORERS["neg_log_loss"](model, chains, [[k] for k in y])
    assert_allclose(value, expected, rtol=1e-12)


def test_unseen_labels_are_wrong_and_no_error(data, fitted):
    X, y = data
    others = [["B-LAKE"] * len(labels) for labels in y]
    for name, scorer in COMMON.items():
        if name != "neg_log_loss":
            assert scorer(fitted, X, others) == 0.0
    value = SCORERS["neg_log_loss"](fitted, X, others)
    assert_allclose(value, np.log(np.finfo(float).eps), rtol=1e-12)


def test_weights_reach_every_score(data, fitted):
    X, y = data
    weight = np.r_[np.ones(12), np.zeros(12)]
    for scorer in COMMON.values():
        weighted = scorer(fitted, X, y, sample_weight=weight)
        assert_allclose(weighted, scorer(fitted, X[:12], y[:12]), rtol=1e-12)


@pytest.mark.parametrize("form", ["lists", "packed", "pipeline"])
@pytest.mark.parametrize("as_y", [list, as_object_array])
def test_cross_validation_of_every_form(data, form, as_y):
    X, y = data
    estimator = LBFGSCRF(alpha=0.1)
    if form == "packed":
        X = SequenceVectorizer().fit_transform(X)
    if form == "pipeline":
        estimator = make_pipeline(SequenceVectorizer(), estimator)
    results = cross_validate(
        estimator, X, as_y(y), scoring=COMMON, cv=CV, error_score="raise"
    )
    reference = cross_validate(LBFGSCRF(alpha=0.1), *data, scoring=COMMON, cv=CV)
    for name in COMMON:
        scores = results[f"test_{name}"]
        assert np.isfinite(scores).all()
        assert_allclose(scores, reference[f"test_{name}"], rtol=1e-6)


@pytest.mark.parametrize("name", ["span_f1", "neg_log_loss"])
def test_grid_search_in_worker_processes(data, name):
    search = GridSearchCV(
        make_pipeline(SequenceVectorizer(), LBFGSCRF()),
        {"lbfgscrf__alpha": [100.0, 0.01]},
        scoring=get_scorer(name),
        cv=CV,
        n_jobs=2,
        error_score="raise",
    ).fit(*data)
    assert search.best_params_ == {"lbfgscrf__alpha": 0.01}
    # A search is an estimator too.
    assert SCORERS["neg_log_loss"](search, *data) < 0
    assert np.isfinite(search.score(*data))


@pytest.mark.parametrize("name", SCORERS)
def test_scorers_can_be_pickled_and_say_what_they_are(name):
    copy = pickle.loads(pickle.dumps(SCORERS[name]))
    assert repr(copy) == repr(SCORERS[name]) == repr(get_scorer(name))
    copies = copy, get_scorer(name), clone(SCORERS[name], safe=False)
    assert {scorer.__name__ for scorer in copies} == {name}


@pytest.mark.parametrize(
    ("name", "written"),
    [("span_f1", "Span f1"), ("neg_log_loss", "Negative log loss")],
)
def test_curve_displays_show_the_name_of_the_scorer(data, name, written):
    pytest.importorskip("matplotlib").use("Agg")
    import matplotlib.pyplot as plt

    options = {"scoring": get_scorer(name), "cv": CV}
    grid = {"param_name": "alpha", "param_range": [0.1, 1.0]}
    displays = (
        LearningCurveDisplay.from_estimator(
            LBFGSCRF(), *data, train_sizes=[0.5, 1.0], **options
        ),
        ValidationCurveDisplay.from_estimator(LBFGSCRF(), *data, **grid, **options),
    )
    for display in displays:
        assert display.ax_.get_ylabel() == written
        plt.close(display.figure_)


@pytest.mark.parametrize("name", COMMON)
def test_weights_are_routed(data, name):
    X, y = data
    weight = np.arange(len(X), dtype=float)
    options = {"cv": [(range(12), range(12, 24))], "params": {"sample_weight": weight}}
    model = LBFGSCRF().fit(X[:12], y[:12])
    with config_context(enable_metadata_routing=True):
        scorer = get_scorer(name).set_score_request(sample_weight=True)
        crf = LBFGSCRF().set_fit_request(sample_weight=False)
        score = cross_val_score(crf, X, y, scoring=scorer, **options)
        requests = SCORERS[name].get_metadata_routing().score.requests
    expected = SCORERS[name](model, X[12:], y[12:], sample_weight=weight[12:])
    assert_allclose(score, [expected], rtol=1e-12)
    assert requests.get("sample_weight") is None


def test_log_likelihood_is_a_token(data):
    X, y = data
    model = WithLikelihood().fit(X, y)
    lengths = np.array([len(labels) for labels in y], dtype=float)
    scorer = SCORERS["log_likelihood"]
    assert_allclose(
        scorer(model, X, y), -(lengths**2).sum() / lengths.sum(), rtol=1e-14
    )
    weight = np.arange(len(y))
    expected = -(weight @ lengths**2) / (weight @ lengths)
    value = scorer(model, X, as_object_array(y), sample_weight=weight)
    assert_allclose(value, expected, rtol=1e-14)
    assert scorer(model, [], []) == 0.0


def test_log_likelihood_of_the_impossible(data):
    X, y = data
    model = WithLikelihood().fit(X, y)
    model.log_likelihood = lambda X, y: np.array([-np.inf, -2.0])
    scorer = SCORERS["log_likelihood"]
    assert scorer(model, X[:2], y[:2]) == -np.inf
    assert scorer(model, X[:2], y[:2], sample_weight=[0, 1]) == -2 / len(y[1])


@pytest.mark.parametrize("n_steps", [1, 2, 3])
def test_log_likelihood_finds_its_way_through_a_pipeline(data, n_steps):
    X, y = data
    names = ["same", "vectorizer", "crf"]
    steps = [FunctionTransformer(), SequenceVectorizer(), WithLikelihood()]
    pipeline = Pipeline(list(zip(names, steps, strict=True))[-n_steps:]).fit(X, y)
    scorer = SCORERS["log_likelihood"]
    assert scorer(pipeline, X, y) == scorer(WithLikelihood().fit(X, y), X, y)


def test_log_likelihood_needs_the_method(data):
    model = WithoutLikelihood().fit(*data)
    for estimator in (model, Pipeline([("crf", model)])):
        with pytest.raises(TypeError, match="WithoutLikelihood has no method log_like"):
            SCORERS["log_likelihood"](estimator, *data)


def test_names_are_checked_and_scorers_left_alone():
    with pytest.raises(ValueError, match="no score 'span_f2'; did you mean 'span_f1'"):
        get_scorer("span_f2")
    scorer = SCORERS["span_f1"]
    assert get_scorer(scorer) is scorer
    assert get_scorer("span_f1") is not scorer


def test_documented_names_are_those_there_are():
    documented = inspect.getdoc(get_scorer).split("name  ")[1]
    assert all(f"\n{name} " in documented for name in SCORERS)


def test_the_names_of_scorers_are_those_that_are_known():
    names = get_scorer_names()
    assert names == sorted(names)
    assert {"span_f1", "flat_accuracy", "log_likelihood"} <= set(names)
    for name in names:
        assert callable(get_scorer(name))
