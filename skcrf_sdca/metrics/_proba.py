"""The log loss of probabilities that `predict_proba` returns."""

from collections.abc import Hashable, Iterable

import numpy as np
from numpy.typing import ArrayLike

from skcrf_sdca._utils.messages import described
from skcrf_sdca._utils.shared_docs import shared_docs
from skcrf_sdca._utils.typing import Labels, ZeroDivision
from skcrf_sdca.data.containers import check_container
from skcrf_sdca.data.label_encoding import (
    encode_known_labels,
    encode_labels,
    flat_labels,
    label_array,
    label_lists,
)
from skcrf_sdca.metrics._checks import NO_TOKENS, check_lengths, ratio, token_weight
from skcrf_sdca.metrics._docs import METRIC_DOCS


@shared_docs(METRIC_DOCS)
def flat_log_loss(
    y_true: Labels,
    y_proba: Iterable[ArrayLike],
    *,
    labels: Iterable[Hashable] | None = None,
    sample_weight: ArrayLike | None = None,
    zero_division: ZeroDivision = "warn",
) -> float:
    """Return the mean over tokens of -log p(true label).

    Parameters
    ----------
    y_true : array-like of shape (n,), of label lists of shape (T_i,)
        True labels; sequences may be empty.
    y_proba : iterable of n array-like of shape (T_i, n_labels)
        Probabilities, as `predict_proba` returns them: each row sums to 1.
    labels : array-like of shape (n_labels,), default=None
        Label of each column: ``classes_`` of the estimator. By default the labels of
        `y_true`, sorted.
    {token_weight}
    {no_tokens}

    Returns
    -------
    loss : float
        Not negative. Probabilities below eps of their dtype are replaced by eps, as in
        :func:`sklearn.metrics.log_loss`; a label that is not in `labels` has
        probability 0.

    Raises
    ------
    ValueError
        If the numbers of sequences or the lengths of a sequence differ, if there are
        more or fewer columns than labels, or if a row is not a distribution; the
        message names the sequence.
    TypeError
        If y_true is not a list of label lists, or y_proba is not a list of 2-D arrays.

    {warns}

    Examples
    --------
    >>> from skcrf_sdca.metrics import flat_log_loss
    >>> y_true, y_proba = [["A", "B"]], [[[0.5, 0.5], [0.75, 0.25]]]
    >>> round(flat_log_loss(y_true, y_proba, labels=["A", "B"]), 3)
    1.04
    """
    y_true = label_lists(y_true, "y_true")
    check_container(y_proba, "y_proba")
    tables = [_table(table, i) for i, table in enumerate(y_proba)]
    check_lengths(y_true, tables, "y_proba")
    lengths = [len(table) for table in tables]
    if not sum(lengths):
        return ratio(0.0, 0.0, "Log loss", NO_TOKENS, zero_division).item()
    if labels is None:
        labels, codes = encode_labels(y_true, lengths)
    else:
        labels = _checked_labels(labels)
        codes = encode_known_labels(y_true, lengths, labels)
    proba = _joined(tables, len(labels))
    at_label = np.where(codes < 0, 0.0, proba[np.arange(len(codes)), codes])
    loss = -np.log(np.maximum(at_label, np.finfo(proba.dtype).eps))
    weight = token_weight(sample_weight, y_true)
    weight = np.ones(len(loss)) if weight is None else weight
    total = weight.sum()
    return ratio(weight @ loss, total, "Log loss", NO_TOKENS, zero_division).item()


def _table(table, index):
    """Return one entry of y_proba as a 2-D array of float."""
    try:
        array = np.asarray(table)
        is_number = array.dtype.kind in "fiub"
    except ValueError:
        is_number = False
    # The array of an empty sequence may lack the second axis.
    if is_number and (array.ndim == 2 or array.shape == (0,)):
        return array if array.dtype.kind == "f" else array.astype(np.float64)
    raise TypeError(
        f"y_proba: sequence {index} is {described(table)}; y_proba must be a list of "
        "arrays of shape (T, n_labels), as from predict_proba."
    )


def _checked_labels(labels):
    reason = ""
    try:
        (labels,) = label_lists([labels], "labels")
        labels = flat_labels([labels], [len(labels)], "labels")
        if len(set(labels)) == len(labels):
            return label_array(labels)
    except TypeError as error:
        reason = f" ({error})"
    raise ValueError(
        "labels must be the distinct labels of the columns of y_proba, as "
        f"classes_{reason}."
    )


def _joined(tables, n_labels):
    """Concatenate the rows of all sequences; check that they are distributions."""
    for i, table in enumerate(tables):
        if len(table) and table.shape[1] != n_labels:
            raise ValueError(
                f"y_proba: sequence {i} has {table.shape[1]} columns, but there are "
                f"{n_labels} labels: pass labels=classes_ of the estimator."
            )
    proba = np.concatenate([table for table in tables if len(table)])
    # scikit-learn has the same tolerance. Bounds are checked first: infinities cannot
    # be summed.
    is_good = ((proba >= 0) & (proba <= 2)).all(1)
    totals = proba.sum(1, where=is_good[:, np.newaxis])
    is_good &= np.isclose(totals, 1, rtol=np.finfo(proba.dtype).eps ** 0.5)
    if not is_good.all():
        stops = np.cumsum([len(table) for table in tables])
        i = np.searchsorted(stops, np.argmin(is_good), side="right")
        raise ValueError(
            f"y_proba: sequence {i} holds a row that is no distribution: "
            "probabilities must not be negative, and sum to 1."
        )
    return proba
