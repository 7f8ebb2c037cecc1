"""What takes an estimator refuses wrong ones by a message that names the argument."""

import inspect
import io

import numpy as np
import pytest
from sklearn.base import BaseEstimator
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

import skcrf_sdca
from pairs import in_one_test
from skcrf_sdca import (
    CRFCV,
    SDCACRF,
    GraphCRF,
    PerToken,
    SegmentCRF,
    SequenceUnion,
    SequenceVectorizer,
    compat,
    inspection,
    make_tagger,
    metrics,
    persistence,
    plotting,
    save_model,
    selection,
    serving,
    testing,
)
from skcrf_sdca.estimators import tagger
from skcrf_sdca.inspection import group_importance, span_errors
from skcrf_sdca.selection import (
    CalibratedSpans,
    SequenceBagging,
    SequenceVoting,
    TunedSpans,
    alpha_path,
    cross_val_predict_proba,
    fit_temperature,
    select_uncertain,
)

X = [[["a"], ["b"]], [["b"]]] * 6
Y = [["B-P", "O"], ["O"]] * 6


def scores(name):
    return lambda given: metrics.get_scorer(name)(given, X, Y)


# Functions of an estimator that must be fitted.
OF_FITTED = {
    "TunedSpans": lambda given: TunedSpans(given).fit(X, Y),
    "TunedSpans.predict": lambda given: TunedSpans(given, threshold=0.5).predict(X),
    "TunedSpans.predict_spans": lambda given: TunedSpans(
        given, threshold=0.5
    ).predict_spans(X),
    "CalibratedSpans": lambda given: CalibratedSpans(given).fit(X, Y),
    "fit_temperature": lambda given: fit_temperature(given, X, Y),
    "select_uncertain": lambda given: select_uncertain(given, X, 2),
    "span_errors": lambda given: span_errors(given, X, Y),
    "group_importance": lambda given: group_importance(given, X, Y),
    "drift_report": lambda given: inspection.drift_report(given, X, X),
    **{f"scorer {name}": scores(name) for name in metrics.get_scorer_names()},
    "flat_accuracy": lambda given: compat.scorers.flat_accuracy(given, X, Y),
    "sequence_accuracy": lambda given: compat.scorers.sequence_accuracy(given, X, Y),
    "ConfusionDisplay": lambda given: plotting.ConfusionDisplay.from_estimator(
        given, X, Y
    ),
    "ConvergenceDisplay": plotting.ConvergenceDisplay.from_estimator,
    "ConvergenceDisplay, many": lambda given: (
        plotting.ConvergenceDisplay.from_estimators([given])
    ),
    "TransitionDisplay": plotting.TransitionDisplay.from_estimator,
    "save_model": lambda given: save_model(given, io.BytesIO()),
    "Predictor": serving.Predictor.from_estimator,
    "to_crfsuite": lambda given: compat.to_crfsuite(given, "unused"),
    "init": lambda given: SDCACRF().fit(X, Y, init=given),
    "prior": lambda given: SDCACRF().fit(X, Y, prior=given),
}
# Functions that fit clones of it, or the estimator itself.
OF_UNFITTED = {
    "SequenceBagging": lambda given: SequenceBagging(given, 2).fit(X, Y),
    "SequenceVoting": lambda given: SequenceVoting([("a", given)]).fit(X, Y),
    "CRFCV": lambda given: CRFCV(given).fit(X, Y),
    "alpha_path": lambda given: alpha_path(given, X, Y, [1.0]),
    "cross_val_predict_proba": lambda given: cross_val_predict_proba(given, X, Y, cv=2),
    "Tagger": lambda given: make_tagger(SequenceVectorizer(), given).fit(X, Y),
    "PerToken": lambda given: PerToken(given).fit(X, Y),
    "SequenceUnion": lambda given: SequenceUnion([("a", given)]).fit(X, Y),
}
ALL = OF_FITTED | OF_UNFITTED
WRONG = {
    "str": "crf",
    "None": None,
    "class": SDCACRF,
    "number": 3,
    "foreign": LogisticRegression(),
    "fitted foreign": LogisticRegression().fit(np.eye(2), [0, 1]),
}
# None is a value of these arguments.
OPTIONAL = {"Tagger", "init", "prior"}


def takes_estimators(public):
    """Return whether something public has a parameter or a method for estimators."""
    if hasattr(public, "from_estimator"):
        return True
    # `register` takes a class of estimators.
    others = {
        persistence.ModelFormatError,
        persistence.register,
        selection.SearchBoundWarning,
    }
    if not callable(public) or public in others:
        return False
    taken = {"estimator", "estimators", "transformer", "transformers"}
    return bool(taken & set(inspect.signature(public).parameters))


def test_nothing_that_takes_an_estimator_is_left_out():
    homes = [
        skcrf_sdca,
        compat,
        compat.scorers,
        inspection,
        metrics,
        persistence,
        plotting,
        selection,
        serving,
        tagger,
    ]
    public = {name: getattr(home, name) for home in homes for name in home.__all__}
    takes = {name for name, own in public.items() if takes_estimators(own)}
    assert len(takes) > 10
    assert takes <= set(ALL)


@in_one_test("name", ALL)
def test_wrong_estimators_are_named(name):
    types = {
        "class": "the class SDCACRF",
        "str": "str",
        "None": "None",
        "number": "int",
    }
    for wrong in WRONG.keys() - ({"None"} if name in OPTIONAL else set()):
        with pytest.raises(TypeError) as caught:
            ALL[name](WRONG[wrong])
        message = str(caught.value)
        assert types.get(wrong, "LogisticRegression") in message
        assert "Cannot clone" not in message


@in_one_test("name", OF_FITTED)
def test_estimators_that_are_not_fitted_are_named(name):
    with pytest.raises(NotFittedError, match="SDCACRF.* not fitted"):
        OF_FITTED[name](SDCACRF())


@in_one_test("name", sorted({*OF_FITTED} - {"to_crfsuite", "init", "prior"}))
@in_one_test("make", [make_tagger, make_pipeline])
def test_pipelines_that_are_not_fitted_are_named(name, make):
    needs_tagger = {"CalibratedSpans", "select_uncertain", "span_errors"}
    expected = NotFittedError
    if make is make_pipeline and name in needs_tagger:
        # A Pipeline of scikit-learn has no such methods, fitted or not.
        expected = TypeError
    with pytest.raises(expected):
        OF_FITTED[name](make(SequenceVectorizer(), SDCACRF()))


@pytest.mark.parametrize("name", ["TunedSpans", "CalibratedSpans", "span_errors"])
def test_a_model_without_such_answers_says_why(name):
    with pytest.raises(TypeError, match="estimator must have .*GraphCRF"):
        ALL[name](GraphCRF())


@pytest.mark.parametrize("name", ["SequenceBagging", "cross_val_predict_proba"])
def test_a_model_without_probabilities_is_refused_before_its_fits(name):
    with pytest.raises(TypeError, match="'predict_proba'.*hinge"):
        ALL[name](SDCACRF(loss="hinge"))


@pytest.mark.parametrize("estimators", [None, [], "crf", SDCACRF(), [SDCACRF()], [()]])
def test_votes_are_of_named_estimators(estimators):
    with pytest.raises(ValueError, match="list of tuples .name, estimator"):
        SequenceVoting(estimators).fit(X, Y)


def test_other_estimators_of_sequences_are_taken():
    """Nothing asks for the types of the package: what has the methods is enough."""

    class Constant(BaseEstimator):
        classes_ = np.array(["O"])

        def predict(self, X):
            return [["O"] * len(x) for x in X]

        def predict_proba(self, X):
            return [np.ones((len(x), 1)) for x in X]

    assert scores("flat_accuracy")(Constant()) == 2 / 3
    assert scores("neg_log_loss")(Constant()) < 0
    assert ALL["flat_accuracy"](Constant()) == 2 / 3
    assert ALL["TransitionDisplay"](SegmentCRF(scheme="BIO").fit(X, Y)).labels


def test_checks_of_estimators_name_a_class():
    with pytest.raises(TypeError, match="estimator is the class SDCACRF"):
        testing.sequence_checks(SDCACRF, X, Y)
