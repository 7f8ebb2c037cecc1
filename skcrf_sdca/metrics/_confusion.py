"""Confusion matrices of tokens and of spans.

Owns which pairs of a true and a predicted class are counted. scikit-learn counts them.
"""

from collections.abc import Collection, Hashable, Iterable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.metrics import confusion_matrix

from skcrf_sdca._utils.memory import check_fits
from skcrf_sdca._utils.shared_docs import shared_docs
from skcrf_sdca._utils.typing import Labels, Normalize, SpanScheme
from skcrf_sdca.metrics._docs import METRIC_DOCS
from skcrf_sdca.metrics._flat import is_empty, joined_labels
from skcrf_sdca.metrics._spans import matched_spans


@shared_docs(METRIC_DOCS)
def flat_confusion_matrix(
    y_true: Labels,
    y_pred: Labels,
    labels: Iterable[Hashable] | None = None,
    *,
    sample_weight: ArrayLike | None = None,
    normalize: Normalize = None,
) -> NDArray[Any]:
    """Return scikit-learn's ``confusion_matrix`` over all tokens.

    Parameters
    ----------
    {pair}
    labels : array-like of shape (n_labels,), default=None
        Labels of the rows and columns, in this order; by default all that occur,
        sorted. Tokens with another true or predicted label are not counted.
    {token_weight}
    {normalize}

    Returns
    -------
    matrix : ndarray of shape (n_labels, n_labels)
        Entry [j, k] is the number of tokens with the true label j that are predicted as
        k: int, or float with `sample_weight` or `normalize`. Zeros if there is no
        token.

    {score_errors}

    See Also
    --------
    skcrf_sdca.plotting.ConfusionDisplay : Draws the matrix.

    Examples
    --------
    >>> from skcrf_sdca.metrics import flat_confusion_matrix
    >>> flat_confusion_matrix([["A", "B", "B"], ["A"]], [["A", "B", "A"], ["A"]])
    array([[2, 0],
           [1, 1]])
    """
    return token_confusion(y_true, y_pred, labels, sample_weight, normalize)[0]


@shared_docs(METRIC_DOCS)
def span_confusion_matrix(
    y_true: Labels,
    y_pred: Labels,
    *,
    scheme: SpanScheme = "BIO",
    strict: bool = False,
    types: Collection[str] | None = None,
    sample_weight: ArrayLike | None = None,
    normalize: Normalize = None,
) -> NDArray[Any]:
    """Return how many spans of each type are predicted as each type, or not at all.

    A true span and a predicted one are a pair if both their boundaries are equal; their
    types may differ. A true span without a predicted one is missed, a predicted span
    without a true one is spurious. A span with a wrong boundary is therefore counted
    twice, as missed and as spurious, as it is in precision and recall.

    Parameters
    ----------
    {labels_of_spans}
    {weight_of_spans}
    {normalize}

    Returns
    -------
    matrix : ndarray of shape (n_types + 1, n_types + 1)
        Entry [j, k] is the number of pairs with the true type j and the predicted type
        k. The last column counts the missed spans of each type, the last row the
        spurious ones; [-1, -1] is 0. Without `normalize`, a row of a type sums to its
        true spans, and a column to its predicted spans: the diagonal over these sums is
        recall and precision. Int, or float with `sample_weight` or `normalize`.

    {errors_of_spans}

    See Also
    --------
    skcrf_sdca.plotting.ConfusionDisplay : Draws the matrix.

    Examples
    --------
    One person is found, one is taken for a place, and one is missed. Of the two places
    one is found; the other is predicted with a wrong end, so it is missed, and the
    prediction is spurious:

    >>> from skcrf_sdca.metrics import span_confusion_matrix
    >>> y_true = [["B-PER", "B-PER", "B-PER", "O"], ["B-LOC", "O", "B-LOC", "I-LOC"]]
    >>> y_pred = [["B-PER", "B-LOC", "O", "O"], ["B-LOC", "O", "B-LOC", "O"]]
    >>> span_confusion_matrix(y_true, y_pred, types=["LOC", "PER"])
    array([[1, 0, 1],
           [1, 1, 1],
           [1, 0, 0]])
    """
    given = scheme, strict, types, sample_weight, normalize
    return span_confusion(y_true, y_pred, *given)[0]


def token_confusion(y_true, y_pred, labels, sample_weight, normalize):
    """Return the matrix of tokens, and the labels of its rows and columns."""
    given = {} if labels is None else {"labels": list(labels)}
    flat, options = joined_labels(y_true, y_pred, (), sample_weight, given)
    labels = options.setdefault("labels", sorted(set().union(*flat)))
    check_fits(
        8 * len(labels) ** 2,
        f"the confusion matrix of {len(labels)} labels",
        "name fewer labels by `labels` (are all values in y_true labels?)",
    )
    if is_empty(flat, options):
        return np.zeros((len(labels), len(labels)), dtype=np.int64), labels
    return confusion_matrix(*flat, normalize=normalize, **options), labels


def span_confusion(y_true, y_pred, scheme, strict, types, sample_weight, normalize):
    """Return the matrix of spans, and the types of all rows but the last."""
    found = matched_spans(y_true, y_pred, scheme, strict, types, sample_weight)
    types, true, predicted, weight, i, j = found
    # Stands for a missing span.
    none = len(types)
    paired = np.full(len(true.start), none)
    paired[i] = predicted.type_code[j]
    spurious = np.delete(predicted.type_code, j)
    rows = np.concatenate([true.type_code, np.full(len(spurious), none)])
    columns = np.concatenate([paired, spurious])
    if weight is not None:
        weight = weight[np.concatenate([true.start, np.delete(predicted.start, j)])]
    if not len(rows) or (weight is not None and not weight.any()):
        # scikit-learn raises an error if there is nothing to count.
        return np.zeros((none + 1, none + 1), dtype=np.int64), types
    options = {"labels": range(none + 1), "sample_weight": weight}
    return confusion_matrix(rows, columns, normalize=normalize, **options), types
