"""Metrics of tokens, of whole sequences, of spans and of probabilities.

Owns the comparison of true labels with predictions. It does not depend on models:
predictions may come from anywhere, and only the scorers call an estimator.

"flat" metrics concatenate all sequences and call scikit-learn; "sequence" metrics count
sequences that are completely correct; "span" metrics compare spans, as conlleval does;
"attachment" metrics compare dependency trees. In all others, y has one list (or array)
of labels for each sequence, as `fit` takes and `predict` returns it. `SCORERS` has
scorers for `GridSearchCV` and similar classes.
"""

from skcrf_sdca.data.spans import extract_spans
from skcrf_sdca.metrics._attachment import (
    AttachmentScores,
    attachment_report,
    attachment_scores,
)
from skcrf_sdca.metrics._confusion import flat_confusion_matrix, span_confusion_matrix
from skcrf_sdca.metrics._flat import (
    flat_accuracy_score,
    flat_classification_report,
    flat_f1_score,
    flat_fbeta_score,
    flat_hamming_loss,
    flat_precision_score,
    flat_recall_score,
    sequence_accuracy_score,
)
from skcrf_sdca.metrics._proba import flat_log_loss
from skcrf_sdca.metrics._report import span_classification_report
from skcrf_sdca.metrics._scorers import SCORERS, get_scorer, get_scorer_names
from skcrf_sdca.metrics._significance import F1Difference, span_f1_difference
from skcrf_sdca.metrics._spans import (
    span_f1_score,
    span_precision_recall_fscore,
    span_precision_score,
    span_recall_score,
)

__all__ = [
    "SCORERS",
    "AttachmentScores",
    "F1Difference",
    "attachment_report",
    "attachment_scores",
    "extract_spans",
    "flat_accuracy_score",
    "flat_classification_report",
    "flat_confusion_matrix",
    "flat_f1_score",
    "flat_fbeta_score",
    "flat_hamming_loss",
    "flat_log_loss",
    "flat_precision_score",
    "flat_recall_score",
    "get_scorer",
    "get_scorer_names",
    "sequence_accuracy_score",
    "span_classification_report",
    "span_confusion_matrix",
    "span_f1_difference",
    "span_f1_score",
    "span_precision_recall_fscore",
    "span_precision_score",
    "span_recall_score",
]
