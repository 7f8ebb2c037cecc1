"""Scorers for model selection: metrics that are called with an estimator."""

from collections.abc import Callable
from copy import deepcopy
from typing import Any

import numpy as np
from sklearn.pipeline import Pipeline

from skcrf_sdca._utils.given_estimators import check_tagger
from skcrf_sdca._utils.messages import alternatives
from skcrf_sdca._utils.sklearn_private import BaseScorer
from skcrf_sdca.data.label_encoding import label_lists
from skcrf_sdca.data.label_names import named_lists
from skcrf_sdca.data.spans import scheme_of_readable
from skcrf_sdca.metrics._checks import NO_TOKENS, check_sample_weight, ratio
from skcrf_sdca.metrics._flat import (
    flat_accuracy_score,
    flat_f1_score,
    sequence_accuracy_score,
)
from skcrf_sdca.metrics._proba import flat_log_loss
from skcrf_sdca.metrics._spans import (
    span_f1_score,
    span_precision_score,
    span_recall_score,
)


class EstimatorScorer(BaseScorer):
    """A scorer whose score_func gets the estimator instead of its prediction.

    Called as ``score_func(estimator, X, y, sample_weight=None)``.
    """

    def _score(self, method_caller, estimator, X, y_true, **kwargs):
        check_tagger(estimator, self._response_method)
        options = {**self._kwargs, **kwargs}
        return self._sign * self._score_func(estimator, X, y_true, **options)


class LabelScorer(BaseScorer):
    """A scorer of predicted labels."""

    def _score(self, method_caller, estimator, X, y_true, **kwargs):
        check_tagger(estimator, "predict")
        pair = y_true, method_caller(estimator, "predict", X)
        pair = [self._read(estimator, y) for y in pair]
        return self._sign * self._score_func(*pair, **{**self._kwargs, **kwargs})

    def _read(self, estimator, y):
        """Return label lists as the score takes them."""
        return y


class SpanScorer(LabelScorer):
    """A scorer of spans; labels that are ids are read by the names of the estimator."""

    def _read(self, estimator, y):
        return named_lists(estimator, y, "y")


def _log_loss_of(estimator, X, y, sample_weight=None):
    """Return the log loss per token, over the labels that the estimator knows."""
    return flat_log_loss(
        y,
        estimator.predict_proba(X),
        labels=estimator.classes_,
        sample_weight=sample_weight,
        zero_division=0.0,
    )


def _log_likelihood_of(estimator, X, y, sample_weight=None):
    """Return the sum of log p(y | x) over the sequences, divided by their tokens."""
    # A pipeline has only those methods of its last step that scikit-learn knows.
    if isinstance(estimator, Pipeline):
        X = estimator[:-1].transform(X) if len(estimator) > 1 else X
        estimator = estimator[-1]
    if not hasattr(estimator, "log_likelihood"):
        raise TypeError(
            f"{type(estimator).__name__} has no method log_likelihood(X, y), which the "
            "scorer 'log_likelihood' needs; 'neg_log_loss' needs only predict_proba."
        )
    y = label_lists(y)
    lengths = [len(labels) for labels in y]
    weight = check_sample_weight(sample_weight, y)
    value = estimator.log_likelihood(X, y)
    # An impossible sequence, whose value is -inf, is ignored if its weight is 0.
    total = np.multiply(weight, value, where=weight > 0, out=np.zeros(len(y))).sum()
    return ratio(total, weight @ lengths, "Log-likelihood", NO_TOKENS, 0.0).item()


def _named(**scorers):
    """Give each scorer its name, which scikit-learn's displays write on an axis."""
    for name, scorer in scorers.items():
        scorer.__name__ = name
    return scorers


_QUIET = {"zero_division": 0.0}
_NO_O = {"ignore": ("O",), **_QUIET}
#: Scorers by the names that `get_scorer` takes and describes.
SCORERS = _named(
    flat_accuracy=LabelScorer(flat_accuracy_score, 1, _QUIET),
    flat_f1_macro=LabelScorer(flat_f1_score, 1, {"average": "macro", **_QUIET}),
    flat_f1_weighted=LabelScorer(flat_f1_score, 1, {"average": "weighted", **_QUIET}),
    flat_f1_macro_without_O=LabelScorer(
        flat_f1_score, 1, {"average": "macro", **_NO_O}
    ),
    flat_f1_weighted_without_O=LabelScorer(
        flat_f1_score, 1, {"average": "weighted", **_NO_O}
    ),
    sequence_accuracy=LabelScorer(sequence_accuracy_score, 1, _QUIET),
    span_precision=SpanScorer(span_precision_score, 1, _QUIET),
    span_recall=SpanScorer(span_recall_score, 1, _QUIET),
    span_f1=SpanScorer(span_f1_score, 1, _QUIET),
    neg_log_loss=EstimatorScorer(_log_loss_of, -1, {}, "predict_proba"),
    log_likelihood=EstimatorScorer(_log_likelihood_of, 1, {}),
)


def get_scorer_names() -> list[str]:
    """Return the names that `get_scorer` and ``scoring=`` of estimators know.

    Returns
    -------
    names : list of str
        In the order of the alphabet.

    Examples
    --------
    >>> from skcrf_sdca.metrics import get_scorer_names
    >>> "span_f1" in get_scorer_names()
    True
    """
    return sorted(SCORERS)


def get_scorer(scoring: str | Callable[..., Any]) -> Callable[..., Any]:
    """Return the scorer of this name, to be passed as ``scoring=``.

    scikit-learn does not know these names: ``GridSearchCV(crf, grid,
    scoring="span_f1")`` is an error; pass ``scoring=get_scorer("span_f1")``.

    Parameters
    ----------
    scoring : str or callable
        A name from the table below, or a scorer, which is returned unchanged.

    Returns
    -------
    scorer : callable
        Called as ``scorer(estimator, X, y, sample_weight=None)``; greater is better. It
        can be pickled, so that it works with ``n_jobs``. The estimator may be a
        pipeline or a search. Its ``__name__`` is the name: scikit-learn's
        `LearningCurveDisplay` and `ValidationCurveDisplay` write it on their axis.

    Raises
    ------
    ValueError
        If the name is not known.

    Notes
    -----
    Ratios whose denominator is 0 are 0.0, without a warning.

    ==========================  ========================================================
    name                        score
    ==========================  ========================================================
    flat_accuracy               fraction of tokens that are correct
    flat_f1_macro               mean F1 of the labels
    flat_f1_weighted            mean F1, weighted by the number of true tokens
    flat_f1_macro_without_O     mean F1 of the labels except "O"
    flat_f1_weighted_without_O  weighted F1 of the labels except "O", as in the CoNLL
                                tutorials
    sequence_accuracy           fraction of sequences that are completely correct
    span_precision              fraction of predicted spans that are correct; BIO,
                                lenient
    span_recall                 fraction of true spans that are predicted
    span_f1                     F1 of spans
    neg_log_loss                minus `flat_log_loss`; needs ``predict_proba`` and
                                ``classes_``
    log_likelihood              log p(y | x) of the sequences per token; needs
                                ``log_likelihood(X, y)``
    ==========================  ========================================================

    The scorers of spans read labels that are ids by the ``label_names`` of the
    estimator. For other options use :func:`sklearn.metrics.make_scorer`, as in
    ``make_scorer(span_f1_score, scheme="BIOES", strict=True, zero_division=0.0)``. If X
    is a table with one label for each row, use scikit-learn's scorers.

    Examples
    --------
    >>> from sklearn.model_selection import GridSearchCV
    >>> from skcrf_sdca import LBFGSCRF
    >>> from skcrf_sdca.metrics import get_scorer
    >>> X = [[["the"], ["Rhine"]], [["a"], ["Danube"]]] * 3
    >>> y = [["O", "B-LOC"]] * 6
    >>> search = GridSearchCV(
    ...     LBFGSCRF(), {"alpha": [0.01, 10.0]}, scoring=get_scorer("span_f1"), cv=3
    ... )
    >>> float(search.fit(X, y).best_score_)
    1.0
    """
    if not isinstance(scoring, str):
        return scoring
    if scoring not in SCORERS:
        others = alternatives(scoring, sorted(SCORERS))
        raise ValueError(f"scoring: there is no score {scoring!r}{others}.")
    # set_score_request changes a scorer.
    return deepcopy(SCORERS[scoring])


def scorer_of_labels(y: Any) -> tuple[str, Callable[..., float]]:
    """Return the score that fits labels, in words, and its scorer.

    Parameters
    ----------
    y : list of n label lists, or array-like of shape (n_rows,)

    Returns
    -------
    name : str
        "span F1" for label lists that a tagging scheme can read, else "accuracy".
    scorer : callable
        Called as ``scorer(estimator, X, y)``.

    Examples
    --------
    >>> from skcrf_sdca.metrics._scorers import scorer_of_labels
    >>> scorer_of_labels([["B-PER", "O"]])[0], scorer_of_labels([["NOUN", "VERB"]])[0]
    ('span F1', 'accuracy')
    """
    is_rows = len(y) > 0 and np.ndim(y[0]) == 0
    scheme = None if is_rows else scheme_of_readable(y)
    if scheme is None:
        return "accuracy", _accuracy_of
    return "span F1", SpanScorer(span_f1_score, 1, {**_QUIET, "scheme": scheme})


def _accuracy_of(estimator, X, y):
    return estimator.score(X, y)
