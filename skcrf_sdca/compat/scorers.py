"""The scorers of ``sklearn_crfsuite.scorers``, for scikit-learn's model selection."""

from typing import Any

from skcrf_sdca._utils.given_estimators import check_tagger
from skcrf_sdca._utils.typing import Labels, Sequences
from skcrf_sdca.compat import metrics

__all__ = ["flat_accuracy", "sequence_accuracy"]


def flat_accuracy(estimator: Any, X: Sequences, y: Labels) -> float:
    """Return the fraction of positions whose label is predicted correctly.

    Parameters
    ----------
    estimator : fitted estimator
    X, y : as in the fit

    Returns
    -------
    accuracy : float

    Examples
    --------
    >>> from skcrf_sdca.compat import CRF, scorers
    >>> X, y = [[["a"], ["b"]]] * 9, [["B", "I"]] * 9
    >>> scorers.flat_accuracy(CRF().fit(X, y), X[:1], [["B", "B"]])
    0.5
    """
    check_tagger(estimator, "predict")
    return metrics.flat_accuracy_score(y, estimator.predict(X))


def sequence_accuracy(estimator: Any, X: Sequences, y: Labels) -> float:
    """Return the fraction of sequences whose labels are all predicted correctly.

    Parameters
    ----------
    estimator : fitted estimator
    X, y : as in the fit

    Returns
    -------
    accuracy : float

    Examples
    --------
    >>> from skcrf_sdca.compat import CRF, scorers
    >>> X, y = [[["a"], ["b"]]] * 9, [["B", "I"]] * 9
    >>> scorers.sequence_accuracy(CRF().fit(X, y), X, y)
    1.0
    """
    check_tagger(estimator, "predict")
    return metrics.sequence_accuracy_score(y, estimator.predict(X))
