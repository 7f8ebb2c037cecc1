"""Whether the difference of two F1 scores of spans may be chance.

Owns the counts of spans of each sequence, and the draws of sequences from them.
"""

from typing import NamedTuple

import numpy as np
from sklearn.utils import check_random_state

from skcrf_sdca._utils.shared_docs import shared_docs
from skcrf_sdca._utils.typing import Labels, RandomState, SpanScheme
from skcrf_sdca.metrics._checks import check_pair
from skcrf_sdca.metrics._docs import METRIC_DOCS
from skcrf_sdca.metrics._given_spans import are_spans, given_spans
from skcrf_sdca.metrics._spans import matched_spans

# Draws that are made at once.
CHUNK = 100
# Differences that are equal but for rounding count as equal.
ROUNDING = 1e-12


class F1Difference(NamedTuple):
    """The difference of two F1 scores, and what chance makes of it.

    Parameters
    ----------
    difference : float
        F1 of the first predictions minus F1 of the others.
    low, high : float
        The bounds of 95 % of the differences on sequences that are drawn again.
    p_value : float
        How often predictions that are exchanged at random differ as much.

    Examples
    --------
    >>> from skcrf_sdca.metrics import span_f1_difference
    >>> span_f1_difference([["B-X"]], [["B-X"]], [["B-X"]]).p_value
    1.0
    """

    difference: float
    low: float
    high: float
    p_value: float


@shared_docs(METRIC_DOCS)
def span_f1_difference(
    y_true: Labels,
    y_pred: Labels,
    y_other: Labels,
    *,
    scheme: SpanScheme = "BIO",
    strict: bool = False,
    n_draws: int = 1000,
    random_state: RandomState = None,
) -> F1Difference:
    """Compare the F1 scores of two predictions for the same sequences.

    The interval is by the paired bootstrap: n sequences are drawn with replacement, and
    both scores are computed on them. The p-value is by approximate randomisation
    (Noreen 1989; Yeh, COLING 2000): with probability 1/2 each sequence exchanges its
    two predictions. With k of the draws as far from 0 as the difference,

        p_value = (k + 1) / (n_draws + 1).

    Both say how much the choice of test sequences matters, and nothing about the random
    seeds of the two fits.

    Parameters
    ----------
    y_true, y_pred : array-like of shape (n,), of label lists of shape (T_i,)
        True labels, and predictions; or lists of spans, as for `span_f1_score`.
    y_other : array-like of shape (n,), of label lists of shape (T_i,)
        The other predictions.
    scheme : str, default="BIO"
        The meaning of the prefixes, see `extract_spans`.
    strict : bool, default=False
        Whether to ignore spans that are invalid in the scheme, see `extract_spans`.
    n_draws : int, default=1000
        Draws of each kind.
    random_state : int, RandomState instance or None, default=None
        Seed of the draws.

    Returns
    -------
    F1Difference
        ``(difference, low, high, p_value)``.

    {errors_of_spans}

    See Also
    --------
    span_f1_score : The micro-averaged score that is compared.

    Examples
    --------
    >>> from skcrf_sdca.metrics import span_f1_difference
    >>> y_true = [["B-PER", "O"], ["O", "B-LOC"]] * 50
    >>> y_pred = [["B-PER", "O"], ["O", "O"]] * 50
    >>> y_other = [["O", "O"], ["O", "O"]] * 50
    >>> found = span_f1_difference(y_true, y_pred, y_other, random_state=0)
    >>> round(found.difference, 2), found.low > 0.5, found.p_value < 0.01
    (0.67, True, True)
    """
    if n_draws < 1:
        raise ValueError(f"n_draws must be at least 1, got {n_draws!r}.")
    first = _counts(y_true, y_pred, scheme, strict)
    other = _counts(y_true, y_other, scheme, strict)
    rng, n = check_random_state(random_state), len(first)
    drawn, exchanged = [], []
    for begin in range(0, n_draws if n else 0, CHUNK):
        size = min(CHUNK, n_draws - begin)
        times = rng.multinomial(n, np.full(n, 1.0 / n), size=size)
        drawn.append(_f1(times @ first) - _f1(times @ other))
        change = rng.randint(2, size=(size, n)) @ (other - first)
        sums = first.sum(axis=0) + change, other.sum(axis=0) - change
        exchanged.append(_f1(sums[0]) - _f1(sums[1]))
    difference = float(_f1(first.sum(axis=0)) - _f1(other.sum(axis=0)))
    if not drawn:
        return F1Difference(difference, difference, difference, 1.0)
    low, high = np.quantile(np.concatenate(drawn), [0.025, 0.975]).tolist()
    far = np.abs(np.concatenate(exchanged)) >= abs(difference) - ROUNDING
    return F1Difference(difference, low, high, float((far.sum() + 1) / (n_draws + 1)))


def _counts(y_true, y_pred, scheme, strict):
    """Return (n, 3): the correct, predicted and true spans of each sequence."""
    if are_spans(y_true, y_pred):
        _, *parts, n = given_spans(y_true, y_pred, None)
        counts = (np.bincount(own[:, 0], minlength=n) for own in parts)
        return np.stack([*counts], axis=1)
    y_true, y_pred = check_pair(y_true, y_pred)
    found = matched_spans(y_true, y_pred, scheme, strict, None, None)
    _, true, predicted, _, i, j = found
    ends = np.cumsum([len(labels) for labels in y_true])
    is_same = true.type_code[i] == predicted.type_code[j]
    starts = true.start[i[is_same]], predicted.start, true.start
    counts = [
        np.bincount(np.searchsorted(ends, own, side="right"), minlength=len(ends))
        for own in starts
    ]
    return np.stack(counts, axis=1)


def _f1(counts):
    """Return the scores of counts (..., 3), 0 without any spans."""
    correct, predicted, true = np.moveaxis(counts, -1, 0)
    return 2.0 * correct / np.maximum(predicted + true, 1)
