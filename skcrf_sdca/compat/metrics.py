"""The functions of ``sklearn_crfsuite.metrics``, from skcrf_sdca.metrics.

They compare lists of label lists, token by token or sequence by sequence.

>>> from skcrf_sdca.compat import metrics
>>> metrics.flat_accuracy_score([["B", "O"], ["O"]], [["B", "O"], ["B"]])
0.6666666666666666
"""

from skcrf_sdca.metrics import (
    flat_accuracy_score,
    flat_classification_report,
    flat_f1_score,
    flat_fbeta_score,
    flat_precision_score,
    flat_recall_score,
    sequence_accuracy_score,
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
