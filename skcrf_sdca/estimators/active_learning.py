"""Which sequences of a pool shall be annotated next."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from skcrf_sdca._utils.given_estimators import check_tagger
from skcrf_sdca._utils.messages import check_count
from skcrf_sdca._utils.typing import RandomState, Sequences, Uncertainty
from skcrf_sdca.data.sequence_lists import as_sequence_list

__all__ = ["select_uncertain"]


def select_uncertain(
    estimator: Any,
    X: Sequences,
    n: int,
    *,
    measure: Uncertainty = "mnlp",
    part: float = 1.0,
    random_state: RandomState = None,
) -> NDArray[np.intp]:
    """Return the numbers of the n sequences of a pool that a model is least sure of.

    Of sequences with the same uncertainty and length, which the model cannot tell
    apart, one is chosen before all others: a model learns nothing new from a batch of
    copies.

    Parameters
    ----------
    estimator : CRF or Tagger
        Fitted, with `uncertainty`.
    X : list, tuple, object array or PackedSequences
        The pool, as in the ``fit`` of the estimator.
    n : int
        Size of the batch; all of a smaller pool.
    measure : str, default="mnlp"
        See ``estimator.uncertainty``.
    part : float, default=1.0
        The part of the pool, in (0, 1], that the batch is chosen from, at random. With
        less than 1, the sequences of a large batch are less alike.
    random_state : int, RandomState instance or None, default=None
        Determines that part.

    Returns
    -------
    numbers : ndarray of shape (min(n, n_sequences),), int
        The least sure one first.

    Raises
    ------
    ValueError
        If n is not an integer of at least 1, `part` is not in (0, 1], or the measure is
        unknown.
    TypeError, NotFittedError
        If the estimator has no `uncertainty`, or is not fitted.

    Examples
    --------
    >>> from skcrf_sdca import SDCACRF
    >>> from skcrf_sdca.selection import select_uncertain
    >>> X, y = [[["a"], ["b"]]] * 9, [["B", "I"]] * 9
    >>> crf = SDCACRF(random_state=0).fit(X, y)
    >>> pool = [[["a"], ["b"]], [["new"], ["b"]], [["new"], ["b"]], [["new"], ["new"]]]
    >>> select_uncertain(crf, pool, 2)
    array([3, 1])
    """
    check_count("n", n)
    if not 0.0 < part <= 1.0:
        raise ValueError(f"part must be in (0, 1], got {part!r}.")
    check_tagger(estimator, "uncertainty")
    X = as_sequence_list(X)
    values = estimator.uncertainty(X, measure=measure)
    lengths = np.fromiter((np.shape(x)[0] for x in X), dtype=np.intp, count=len(X))
    chosen = np.arange(len(X))
    if part < 1.0:
        size = max(round(part * len(X)), min(n, len(X)))
        chosen = check_random_state(random_state).choice(len(X), size, replace=False)
        chosen.sort()
    # Single precision: those of copies may differ by their rounding.
    rounded = values[chosen].astype(np.float32)
    keys = np.stack([rounded, lengths[chosen]], axis=1)
    is_copy = np.ones(len(chosen), dtype=bool)
    is_copy[np.unique(keys, axis=0, return_index=True)[1]] = False
    return chosen[np.lexsort((-values[chosen], is_copy))[:n]]
