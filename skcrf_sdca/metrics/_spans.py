"""Precision, recall and F1 of spans.

Owns which true and predicted spans match, the counts of true, predicted and correct
spans, and the averages over span types.
"""

from collections.abc import Collection
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from skcrf_sdca._utils.arguments import takes_arguments_of
from skcrf_sdca._utils.shared_docs import shared_docs
from skcrf_sdca._utils.typing import Average, Labels, SpanScheme, ZeroDivision
from skcrf_sdca.data.spans import Spans, read_spans
from skcrf_sdca.metrics._checks import (
    check_pair,
    check_sample_weight,
    ratio,
    token_weight,
)
from skcrf_sdca.metrics._docs import METRIC_DOCS
from skcrf_sdca.metrics._given_spans import are_spans, given_spans

AVERAGES = ("micro", "macro", "weighted")


class Counts(NamedTuple):
    """Numbers of spans of each type: int64, or with sample weights float64."""

    types: list
    correct: np.ndarray
    predicted: np.ndarray
    true: np.ndarray

    def fractions(self):
        """Return {score: (numerator, denominator, message if the latter is 0)}."""
        _, correct, predicted, true = self
        neither = "there are neither true nor predicted spans"
        return {
            "Precision": (correct, predicted, "there are no predicted spans"),
            "Recall": (correct, true, "there are no true spans"),
            "F1": (2 * correct, predicted + true, neither),
        }


class Given(NamedTuple):
    """What the arguments of a score of spans say."""

    counts: Counts
    average: Average
    zero_division: ZeroDivision


def _given(
    y_true: Labels,
    y_pred: Labels,
    *,
    scheme: SpanScheme = "BIO",
    strict: bool = False,
    types: Collection[str] | None = None,
    average: Average = "micro",
    sample_weight: ArrayLike | None = None,
    zero_division: ZeroDivision = "warn",
) -> Given:
    counts = span_counts(y_true, y_pred, scheme, strict, types, sample_weight)
    return Given(counts, average, zero_division)


@shared_docs(METRIC_DOCS)
@takes_arguments_of(_given)
def span_precision_recall_fscore(given: Given) -> tuple[Any, Any, Any, Any]:
    """Return precision, recall and F1 of spans, and the number of true spans.

    A predicted span is correct if a true span has the same type, start and stop:

        precision = n_correct / n_predicted,    recall = n_correct / n_true,
        F1 = 2 n_correct / (n_predicted + n_true)

    Parameters
    ----------
    {options_of_spans}

    Returns
    -------
    precision, recall, f1 : float, or ndarray of shape (n_types,)
    support : int, or ndarray of shape (n_types,)
        Number of true spans, or with `sample_weight` the sum of their weights, a float.

    {span_errors}

    Notes
    -----
    The values equal the values of seqeval 1.2.2: ``strict=False`` is ``mode=None``, and
    ``strict=True`` is ``mode="strict"`` with the scheme. They differ where seqeval has
    errors:

    * IOB1, strict: seqeval counts the rest of an invalid span, "I-X" in "B-X I-X" after
      "O", but not the valid span "B-X" in "I-X B-X B-Y".
    * BILOU, lenient: seqeval does not know "U" and "L"; it reads "U-X U-X" as one span.
    * Its scores are lenient if only one of a scheme and ``mode="strict"`` is given.
    * Span types: in seqeval "B", "B-" and "B-_" have type "_"; in strict mode, "B--X"
      and "B-X-" have type "X".
    * Labels outside the scheme: seqeval reads "BX", "Bob-X" and, if lenient, "PER" as
      spans; here they are an error.
    * seqeval ignores `sample_weight`.
    * Without any span, its macro average is nan, and its report fails.

    Examples
    --------
    >>> from skcrf_sdca.metrics import span_precision_recall_fscore
    >>> y_true = [["B-PER", "I-PER", "O", "B-LOC"]]
    >>> y_pred = [["B-PER", "O", "O", "B-LOC"]]
    >>> span_precision_recall_fscore(y_true, y_pred)
    (0.5, 0.5, 0.5, 2)
    >>> precision, _, _, support = span_precision_recall_fscore(
    ...     y_true, y_pred, types=["LOC", "PER"], average=None
    ... )
    >>> precision, support
    (array([1., 0.]), array([1, 1]))

    Of two lists of spans, which may be nested:

    >>> y_true = [[("ORG", 0, 4), ("LOC", 3, 4)]]
    >>> y_pred = [[("LOC", 3, 4)]]
    >>> span_precision_recall_fscore(y_true, y_pred)[:2]
    (1.0, 0.5)
    """
    precision = averaged("Precision", *given)
    recall = averaged("Recall", *given)
    f1 = averaged("F1", *given)
    true = given.counts.true
    return precision, recall, f1, true if given.average is None else true.sum().item()


@shared_docs(METRIC_DOCS)
@takes_arguments_of(_given)
def span_precision_score(given: Given) -> Any:
    """Return the precision of spans, n_correct / n_predicted.

    {span_score}

    Examples
    --------
    >>> from skcrf_sdca.metrics import span_precision_score
    >>> span_precision_score([["B-PER", "O"]], [["B-PER", "B-LOC"]])
    0.5
    """
    return averaged("Precision", *given)


@shared_docs(METRIC_DOCS)
@takes_arguments_of(_given)
def span_recall_score(given: Given) -> Any:
    """Return the recall of spans, n_correct / n_true.

    {span_score}

    Examples
    --------
    >>> from skcrf_sdca.metrics import span_recall_score
    >>> span_recall_score([["B-PER", "O"]], [["B-PER", "B-LOC"]])
    1.0
    """
    return averaged("Recall", *given)


@shared_docs(METRIC_DOCS)
@takes_arguments_of(_given)
def span_f1_score(given: Given) -> Any:
    """Return the F1 score of spans, 2 n_correct / (n_predicted + n_true).

    It is 0.0, and well defined, if there are true spans but no predicted ones.

    {span_score}

    Examples
    --------
    >>> from skcrf_sdca.metrics import span_f1_score
    >>> span_f1_score([["B-PER", "O", "B-LOC"]], [["B-PER", "O", "O"]], types=["PER"])
    1.0
    >>> span_f1_score([["S-PER"]], [["B-PER"]], scheme="BIOES")
    1.0
    >>> span_f1_score([["S-PER"]], [["B-PER"]], scheme="BIOES", strict=True)
    0.0
    """
    return averaged("F1", *given)


def span_counts(y_true, y_pred, scheme, strict, types, sample_weight):
    """Return the `Counts`; see `span_precision_recall_fscore` for the parameters."""
    if are_spans(y_true, y_pred):
        return _counts_of_given(y_true, y_pred, types, sample_weight)
    pair = matched_spans(y_true, y_pred, scheme, strict, types, sample_weight)
    types, true, predicted, weight, i, j = pair
    is_same = true.type_code[i] == predicted.type_code[j]

    def count(spans, chosen=slice(None)):
        weights = None if weight is None else weight[spans.start[chosen]]
        return np.bincount(spans.type_code[chosen], weights, minlength=len(types))

    return Counts(types, count(true, i[is_same]), count(predicted), count(true))


def _counts_of_given(y_true, y_pred, types, sample_weight):
    _check_types(types)
    types, *parts, n = given_spans(y_true, y_pred, types)
    weight = None
    if sample_weight is not None:
        weight = check_sample_weight(sample_weight, range(n))

    def count(part):
        weights = None if weight is None else weight[part[:, 0]]
        return np.bincount(part[:, 1], weights, minlength=len(types))

    return Counts(types, *map(count, parts))


class MatchedSpans(NamedTuple):
    """True and predicted spans of some types, and the pairs with the same boundaries.

    The true span i[k] begins and ends where the predicted span j[k] does. `weight` has
    the weight of each token, or is None.
    """

    types: list
    true: Spans
    predicted: Spans
    weight: np.ndarray | None
    i: np.ndarray
    j: np.ndarray


def matched_spans(y_true, y_pred, scheme, strict, types, sample_weight):
    """Return the `MatchedSpans`; for the parameters see `span_counts`."""
    _check_types(types)
    y_true, y_pred = check_pair(y_true, y_pred)
    weight = token_weight(sample_weight, y_true)
    true = read_spans(y_true, scheme, strict=strict, name="y_true")
    predicted = read_spans(y_pred, scheme, strict=strict, name="y_pred")
    if types is None:
        types = sorted(true.found_types() | predicted.found_types())
    true, predicted = true.of_types(types), predicted.of_types(types)
    # Spans of one label sequence do not overlap: at most one starts at a position.
    _, i, j = np.intersect1d(
        true.start, predicted.start, assume_unique=True, return_indices=True
    )
    is_same = true.stop[i] == predicted.stop[j]
    return MatchedSpans(list(types), true, predicted, weight, i[is_same], j[is_same])


def _check_types(types):
    if isinstance(types, str):
        raise TypeError(f"types must be a list of str, got the str {types!r}.")
    if types is not None and len(set(types)) < len(types):
        raise ValueError(f"types must be distinct, got {types!r}.")


def averaged(name, counts, average, zero_division, *, stacklevel=4):
    """Return "Precision", "Recall" or "F1" of all types together, or of each.

    A warning names the line at `stacklevel`; 1 is a line of this function, and 4 what
    calls a function with the arguments of another one.
    """
    if average is not None and average not in AVERAGES:
        raise ValueError(f"average must be one of {AVERAGES} or None, got {average!r}.")
    above, below, reason = counts.fractions()[name]
    if average == "micro" or (average is not None and not counts.types):
        above, below = above.sum(keepdims=True), below.sum(keepdims=True)
    elif counts.types:
        without = np.array(counts.types, dtype=object)[below == 0]
        reason += f" of type {', '.join(map(repr, without))}"
    values = ratio(above, below, name, reason, zero_division, stacklevel=stacklevel)
    if average is None:
        return values
    weights = counts.true if average == "weighted" and counts.types else None
    return _mean_of_defined(values, weights)


def _mean_of_defined(values, weights):
    """Return the mean of values that are not NaN, unweighted if weights are 0."""
    is_defined = ~np.isnan(values)
    if not is_defined.any():
        return np.nan
    values = values[is_defined]
    if weights is not None and weights[is_defined].any():
        return np.average(values, weights=weights[is_defined]).item()
    return values.mean().item()
