"""Metrics of tokens and of whole sequences.

Metrics of tokens call scikit-learn with the concatenated sequences.
"""

from collections.abc import Collection, Hashable, Iterable
from itertools import chain
from operator import eq
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.metrics import (
    classification_report,
    f1_score,
    fbeta_score,
    precision_score,
    recall_score,
)

from skcrf_sdca._utils.arguments import takes_arguments_of
from skcrf_sdca._utils.shared_docs import shared_docs
from skcrf_sdca._utils.typing import Labels, ZeroDivision
from skcrf_sdca.metrics._checks import (
    NO_TOKENS,
    check_pair,
    check_sample_weight,
    check_zero_division,
    ratio,
    token_weight,
    undefined_value,
)
from skcrf_sdca.metrics._docs import METRIC_DOCS

# Concatenated label lists, and the options for scikit-learn.
Joined = tuple[list[list[Any]], dict[str, Any]]


@shared_docs(METRIC_DOCS)
def flat_accuracy_score(
    y_true: Labels,
    y_pred: Labels,
    *,
    sample_weight: ArrayLike | None = None,
    zero_division: ZeroDivision = "warn",
) -> float:
    """Return the fraction of tokens whose label is predicted correctly.

    {share_of_tokens}

    Examples
    --------
    >>> from skcrf_sdca.metrics import flat_accuracy_score
    >>> flat_accuracy_score([["A", "B", "B"], ["A"]], [["A", "B", "A"], ["A"]])
    0.75
    """
    n_right, total = _right_tokens(y_true, y_pred, sample_weight)
    return ratio(n_right, total, "Accuracy", NO_TOKENS, zero_division).item()


@shared_docs(METRIC_DOCS)
def flat_hamming_loss(
    y_true: Labels,
    y_pred: Labels,
    *,
    sample_weight: ArrayLike | None = None,
    zero_division: ZeroDivision = "warn",
) -> float:
    """Return the fraction of tokens whose label is predicted wrongly, 1 - accuracy.

    {share_of_tokens}

    Examples
    --------
    >>> from skcrf_sdca.metrics import flat_hamming_loss
    >>> flat_hamming_loss([["A", "B", "B"], ["A"]], [["A", "B", "A"], ["A"]])
    0.25
    """
    n_right, total = _right_tokens(y_true, y_pred, sample_weight)
    n_wrong = total - n_right
    return ratio(n_wrong, total, "Hamming loss", NO_TOKENS, zero_division).item()


@shared_docs(METRIC_DOCS)
def sequence_accuracy_score(
    y_true: Labels,
    y_pred: Labels,
    *,
    sample_weight: ArrayLike | None = None,
    zero_division: ZeroDivision = "warn",
) -> float:
    """Return the fraction of sequences whose labels are all predicted correctly.

    Parameters
    ----------
    y_true, y_pred : array-like of shape (n,), of label lists of shape (T_i,)
        True and predicted labels. Empty sequences count as correct.
    sample_weight : array-like of shape (n,), default=None
        Weight of each sequence.
    zero_division : {"warn", 0.0, 1.0, np.nan}, default="warn"
        Value if there is no sequence of positive weight. "warn" is 0.0 with a warning.

    Returns
    -------
    accuracy : float
        In [0, 1].

    {errors_and_warnings}

    Examples
    --------
    >>> from skcrf_sdca.metrics import sequence_accuracy_score
    >>> sequence_accuracy_score([["A", "B", "B"], ["A"]], [["A", "B", "A"], ["A"]])
    0.5
    """
    y_true, y_pred = check_pair(y_true, y_pred)
    is_right = [all(map(eq, *pair)) for pair in zip(y_true, y_pred, strict=True)]
    weight = check_sample_weight(sample_weight, y_true)
    right, total, reason = weight @ is_right, weight.sum(), "there are no sequences"
    return ratio(right, total, "Accuracy", reason, zero_division).item()


def _joined(
    y_true: Labels,
    y_pred: Labels,
    *,
    ignore: Collection[Hashable] = (),
    sample_weight: ArrayLike | None = None,
    **kwargs: Any,
) -> Joined:
    return joined_labels(y_true, y_pred, ignore, sample_weight, kwargs)


@shared_docs(METRIC_DOCS)
@takes_arguments_of(_joined)
def flat_precision_score(joined: Joined) -> Any:
    """Return scikit-learn's ``precision_score`` over all tokens.

    {score}

    Examples
    --------
    >>> from skcrf_sdca.metrics import flat_precision_score
    >>> y_true, y_pred = [["A", "B"], ["B"]], [["B", "B"], ["B"]]
    >>> round(flat_precision_score(y_true, y_pred, labels=["B"], average="micro"), 3)
    0.667
    """
    return _score(precision_score, "Precision", *joined)


@shared_docs(METRIC_DOCS)
@takes_arguments_of(_joined)
def flat_recall_score(joined: Joined) -> Any:
    """Return scikit-learn's ``recall_score`` over all tokens.

    {score}

    Examples
    --------
    >>> from skcrf_sdca.metrics import flat_recall_score
    >>> y_true, y_pred = [["A", "B"], ["B"]], [["B", "B"], ["B"]]
    >>> flat_recall_score(y_true, y_pred, average="macro")
    0.5
    """
    return _score(recall_score, "Recall", *joined)


@shared_docs(METRIC_DOCS)
@takes_arguments_of(_joined)
def flat_f1_score(joined: Joined) -> Any:
    """Return scikit-learn's ``f1_score`` over all tokens.

    {score}

    Examples
    --------
    >>> from skcrf_sdca.metrics import flat_f1_score
    >>> y_true, y_pred = [["A", "B"], ["B"]], [["B", "B"], ["B"]]
    >>> flat_f1_score(y_true, y_pred, average="weighted", labels=["B"])
    0.8
    >>> flat_f1_score(y_true, y_pred, average="weighted", ignore=["A"])
    0.8
    """
    return _score(f1_score, "F1", *joined)


@shared_docs(METRIC_DOCS)
def flat_fbeta_score(
    y_true: Labels,
    y_pred: Labels,
    beta: float,
    *,
    ignore: Collection[Hashable] = (),
    sample_weight: ArrayLike | None = None,
    **kwargs: Any,
) -> Any:
    """Return scikit-learn's ``fbeta_score`` over all tokens.

    Parameters
    ----------
    {pair}
    beta : float
        Weight of recall relative to precision: above 1, recall counts more.
    {options_of_score}

    Examples
    --------
    >>> from skcrf_sdca.metrics import flat_fbeta_score
    >>> y_true, y_pred = [["A", "B"], ["B"]], [["B", "B"], ["B"]]
    >>> round(flat_fbeta_score(y_true, y_pred, 2, labels=["B"], average="micro"), 3)
    0.909
    """
    joined = joined_labels(
        y_true, y_pred, ignore, sample_weight, kwargs | {"beta": beta}
    )
    return _score(fbeta_score, "F-beta", *joined, stacklevel=3)


@shared_docs(METRIC_DOCS)
def flat_classification_report(
    y_true: Labels,
    y_pred: Labels,
    labels: Iterable[Hashable] | None = None,
    *,
    ignore: Collection[Hashable] = (),
    sample_weight: ArrayLike | None = None,
    **kwargs: Any,
) -> Any:
    """Return scikit-learn's ``classification_report`` over all tokens.

    Parameters
    ----------
    {pair}
    labels : array-like of shape (n_labels,), default=None
        Labels to report, in this order; by default all labels, sorted.
    ignore : collection of labels, default=()
        Labels to leave out.
    {token_weight}
    **kwargs
        For :func:`sklearn.metrics.classification_report`: `digits`, `output_dict`,
        `zero_division`, `target_names`.

    Returns
    -------
    report : str or dict

    Raises
    ------
    ValueError, TypeError
        As for `flat_f1_score`; also ValueError if there is no token or no label, so
        that the report would have no row.

    Examples
    --------
    >>> from skcrf_sdca.metrics import flat_classification_report
    >>> y_true, y_pred = [["A", "B"], ["B"]], [["B", "B"], ["B"]]
    >>> report = flat_classification_report(y_true, y_pred, ["B"], output_dict=True)
    >>> report["B"]["recall"]
    1.0
    """
    kwargs["labels"] = labels
    flat, options = joined_labels(y_true, y_pred, ignore, sample_weight, kwargs)
    if is_empty(flat, options):
        raise ValueError(
            "There is nothing to report: y_true has no token, or no label."
        )
    return classification_report(*flat, **options)


def _right_tokens(y_true, y_pred, sample_weight):
    """Return the total weights of the correct tokens and of all tokens."""
    y_true, y_pred = check_pair(y_true, y_pred)
    n_right = [sum(map(eq, *pair)) for pair in zip(y_true, y_pred, strict=True)]
    weight = check_sample_weight(sample_weight, y_true)
    return weight @ n_right, weight @ list(map(len, y_true))


def joined_labels(y_true, y_pred, ignore, sample_weight, options):
    """Return the concatenated label lists, and the options for scikit-learn."""
    y_true, y_pred = check_pair(y_true, y_pred)
    flat = [list(chain.from_iterable(y)) for y in (y_true, y_pred)]
    if isinstance(ignore, str):
        raise TypeError(f"ignore must be a list of labels, got the str {ignore!r}.")
    if ignore:
        labels = options.get("labels")
        labels = sorted(set().union(*flat)) if labels is None else labels
        options = options | {"labels": [k for k in labels if k not in set(ignore)]}
    labels = options.get("labels")
    _check_ends(chain(*flat, () if labels is None else labels))
    return flat, options | {"sample_weight": token_weight(sample_weight, y_true)}


def _check_ends(labels):
    """Refuse a str that the arrays of scikit-learn would change."""
    is_cut = (isinstance(label, str) and label.endswith("\0") for label in labels)
    if any(is_cut):
        raise ValueError(
            "a label ends in NUL, which scikit-learn's metrics leave out: rename it."
        )


def is_empty(flat, options):
    labels = options.get("labels")
    return not flat[0] or (labels is not None and not len(labels))


def _score(metric, name, flat, options, *, stacklevel=4):
    if not is_empty(flat, options):
        return metric(*flat, **options)
    zero_division = options.get("zero_division", "warn")
    check_zero_division(zero_division)
    reason = "there are no tokens, or no labels to score"
    value = undefined_value(name, reason, zero_division, stacklevel=stacklevel)
    if options.get("average", "binary") is not None:
        return value
    labels = options.get("labels")
    return np.full(0 if labels is None else len(labels), value)
