"""The functions of ``sklearn_crfsuite.metrics``, from skcrf_sdca.metrics.

They compare lists of label lists, token by token or sequence by sequence.

>>> from skcrf_sdca.compat import metrics
>>> metrics.flat_accuracy_score([["B", "O"], ["O"]], [["B", "O"], ["B"]])
0.6666666666666666
"""

from typing import Any

from skcrf_sdca.metrics import (
    flat_accuracy_score,
    flat_classification_report,
    flat_f1_score,
    flat_fbeta_score,
    flat_precision_score,
    flat_recall_score,
)

__all__ = [
    "flat_accuracy_score",
    "flat_classification_report",
    "flat_f1_score",
    "flat_fbeta_score",
    "flat_precision_score",
    "flat_recall_score",
    "sequence_accuracy_score",
]


def sequence_accuracy_score(y_true: Any, y_pred: Any) -> float:
    """Return the fraction of sequences whose labels are all equal.

    Unlike `skcrf_sdca.metrics.sequence_accuracy_score`, it is 0 without sequences, and
    takes sequences of different lengths, which are not equal.

    Parameters
    ----------
    y_true, y_pred : lists of n label lists

    Returns
    -------
    accuracy : float

    Examples
    --------
    >>> from skcrf_sdca.compat import metrics
    >>> metrics.sequence_accuracy_score([["B", "O"], ["O"]], [["B", "O"], []])
    0.5
    """
    pairs = zip(y_true, y_pred, strict=True)
    equal = [list(labels) == list(predicted) for labels, predicted in pairs]
    return sum(equal) / len(equal) if equal else 0.0
