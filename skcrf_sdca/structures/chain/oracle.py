"""Inference on chains given their scores as arrays: the public functions.

They validate their arguments; chains.py does the work. All functions take
``node_scores`` (n_positions, n_labels) and ``transition`` (n_labels, n_labels), indexed
[from, to], with chain i at the positions ``offsets[i]:offsets[i + 1]``; without
``offsets`` the rows are one chain.
A score of -inf forbids: forbidden paths have probability 0, and log Z is -inf for a
chain without any allowed path. Results do not depend on ``n_jobs``, to the last bit.
"""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from skcrf_sdca._utils.arguments import takes_arguments_of
from skcrf_sdca.data.rows import decreases
from skcrf_sdca.structures.chain.chains import Chains
from skcrf_sdca.structures.chain.marginals import Marginals

__all__ = [
    "log_likelihood",
    "log_partition",
    "marginals",
    "node_marginals",
    "span_probabilities",
    "typed_span_probabilities",
    "viterbi",
]


def as_chains(
    node_scores: ArrayLike,
    transition: ArrayLike,
    offsets: ArrayLike | None = None,
    *,
    n_jobs: int | None = None,
) -> Chains:
    """Return the scores as Chains, validated.

    Parameters
    ----------
    node_scores, transition, offsets, n_jobs
        As for `log_partition`.

    Raises
    ------
    ValueError
        If their shapes do not agree, there is no label, a score is NaN or +inf, which
        the message names with its place, or the offsets are not such.
    """
    node_scores = as_scores(node_scores, "node_scores")
    transition = as_scores(transition, "transition")
    n_labels = node_scores.shape[1]
    if transition.shape != (n_labels, n_labels):
        raise ValueError(
            f"transition has shape {transition.shape}; node_scores with {n_labels} "
            f"labels need {(n_labels, n_labels)}"
        )
    if n_labels == 0:
        raise ValueError("node_scores must have at least one label (column)")
    offsets = [0, len(node_scores)] if offsets is None else offsets
    offsets = _as_integers(offsets, "offsets")
    ends = offsets[:1].tolist() + offsets[-1:].tolist()
    if ends != [0, len(node_scores)] or decreases(offsets):
        raise ValueError(
            f"offsets must not decrease, from 0 to the {len(node_scores)} rows of "
            "node_scores"
        )
    return Chains(node_scores, transition, offsets).with_threads(n_jobs)


@takes_arguments_of(as_chains)
def log_partition(chains: Chains) -> NDArray[np.float64]:
    """Return log Z, the log of the sum of exp(score) over all label paths.

    Parameters
    ----------
    node_scores : array-like of shape (n_positions, n_labels)
        Scores in nats, finite or -inf. A -inf between the ends of a chain has it done
        in the log domain, which takes some ten times as long.
    transition : array-like of shape (n_labels, n_labels)
    offsets : array-like of shape (n + 1,), default=None
    n_jobs : int, default=None
        Threads.

    Returns
    -------
    log_partition : ndarray of shape (n,)
        0 for a chain without positions, -inf for one without an allowed path.

    Raises
    ------
    ValueError
        If a score is NaN or +inf, or shapes do not agree, as in all functions of this
        module.

    Examples
    --------
    >>> from skcrf_sdca.structures.chain.oracle import log_partition
    >>> log_partition([[0.0, 0.0], [0.0, 0.0]], [[0.0, 0.0], [0.0, 0.0]]) / np.log(2)
    array([2.])
    """
    return chains.log_partition()


@takes_arguments_of(as_chains)
def marginals(chains: Chains) -> tuple[Marginals, NDArray[np.float64]]:
    """Return the marginals of all chains and their log Z.

    Parameters
    ----------
    node_scores, transition, offsets, n_jobs
        As for `log_partition`.

    Returns
    -------
    marginals : Marginals
        All 0 for a chain without an allowed path.
    log_partition : ndarray of shape (n,)

    Examples
    --------
    >>> from skcrf_sdca.structures.chain.oracle import marginals
    >>> m, log_z = marginals([[0.0, 0.0], [0.0, 0.0]], [[0.0, 0.0], [0.0, 0.0]])
    >>> m.edge
    array([[[0.25, 0.25],
            [0.25, 0.25]]])
    """
    return chains.marginals()


@takes_arguments_of(as_chains)
def node_marginals(chains: Chains) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the node marginals of all chains and their log Z.

    Parameters
    ----------
    node_scores, transition, offsets, n_jobs
        As for `log_partition`.

    Returns
    -------
    node : ndarray of shape (n_positions, n_labels)
    log_partition : ndarray of shape (n,)

    Examples
    --------
    >>> from skcrf_sdca.structures.chain.oracle import node_marginals
    >>> node, _ = node_marginals([[0.0, 0.0], [0.0, 0.0]], [[0.0, 0.0], [0.0, 0.0]])
    >>> node
    array([[0.5, 0.5],
           [0.5, 0.5]])
    """
    return chains.node_marginals()


@takes_arguments_of(as_chains)
def viterbi(chains: Chains) -> tuple[NDArray[np.int32], NDArray[np.float64]]:
    """Return the label paths of highest score.

    Parameters
    ----------
    node_scores, transition, offsets, n_jobs
        As for `log_partition`.

    Returns
    -------
    paths : ndarray of shape (n_positions,), int32
        The paths of all chains, end to end. Of paths with equal scores the one with
        the lower label at the last position where they differ.
    scores : ndarray of shape (n,)
        -inf for a chain without an allowed path, whose labels then mean nothing.

    Examples
    --------
    >>> from skcrf_sdca.structures.chain.oracle import viterbi
    >>> viterbi([[0.0, 1.0], [0.0, 0.0]], [[0.0, 0.0], [3.0, 0.0]])
    (array([1, 0], dtype=int32), array([4.]))
    """
    return chains.viterbi()


def log_likelihood(
    labels: ArrayLike,
    node_scores: ArrayLike,
    transition: ArrayLike,
    offsets: ArrayLike | None = None,
    *,
    n_jobs: int | None = None,
) -> NDArray[np.float64]:
    """Return log p(y | x) of one label path for each chain.

    It is score(x, y) - log Z.

    Parameters
    ----------
    labels : array-like of int of shape (n_positions,)
        The paths of all chains, end to end. A negative label stands for one that the
        chain does not have.
    node_scores, transition, offsets, n_jobs
        As for `log_partition`.

    Returns
    -------
    log_likelihood : ndarray of shape (n,)
        Not above 0; -inf for a path with a label that the chain does not have.

    Raises
    ------
    ValueError
        If there is not one label for each position, or a label is too large.

    Examples
    --------
    >>> from skcrf_sdca.structures.chain.oracle import log_likelihood
    >>> np.exp(log_likelihood([0, 1], np.zeros((2, 2)), np.zeros((2, 2))))
    array([0.25])
    """
    chains = as_chains(node_scores, transition, offsets, n_jobs=n_jobs)
    labels = as_labels(labels, len(chains.node_scores), len(chains.transition))
    return chains.log_likelihood(labels)


def span_probabilities(
    spans: ArrayLike,
    labels: ArrayLike,
    node_scores: ArrayLike,
    transition: ArrayLike,
    offsets: ArrayLike | None = None,
) -> NDArray[np.float64]:
    """Return the probability that consecutive positions have given labels.

    The probability is exact, and not a product of node marginals:

        p(y_b, ..., y_{e-1}) = node_b[y_b] prod_t p(y_t | y_{t-1})

    Parameters
    ----------
    spans : array-like of int of shape (n_spans, 3)
        A row (i, b, e) is the positions b <= t < e of chain i, counted from its first.
    labels : array-like of int of shape (sum of e - b,)
        The labels of all spans, end to end. A negative label stands for one that the
        chain does not have.
    node_scores, transition, offsets
        As for `log_partition`.

    Returns
    -------
    probabilities : ndarray of shape (n_spans,)

    Raises
    ------
    ValueError
        If a span is empty or not within its chain, or as `log_likelihood` for labels.

    Examples
    --------
    >>> from skcrf_sdca.structures.chain.oracle import span_probabilities
    >>> spans, labels = [[0, 0, 2], [0, 1, 2]], [0, 1, 1]
    >>> span_probabilities(spans, labels, np.zeros((3, 2)), np.zeros((2, 2)))
    array([0.25, 0.5 ])
    """
    chains = as_chains(node_scores, transition, offsets)
    spans = _as_spans(spans, chains.offsets)
    n_labels = (spans[:, 2] - spans[:, 1]).sum()
    labels = as_labels(labels, n_labels, len(chains.transition))
    return chains.span_probabilities(spans, labels)


def typed_span_probabilities(
    spans: ArrayLike,
    types: ArrayLike,
    label_types: ArrayLike,
    joins: ArrayLike,
    node_scores: ArrayLike,
    transition: ArrayLike,
    offsets: ArrayLike | None = None,
) -> NDArray[np.float64]:
    """Return the probability that exactly these spans of a type stand there.

    A span goes from label to label as long as they join: the span of the positions
    b <= t < e is there if the label at b has its type, each joins the one before for
    b < t < e, and it does not for t = b nor, unless the chain ends, for t = e. The sum
    of p(y) over all such paths is exact, and takes a time that does not depend on
    their number.

    Parameters
    ----------
    spans : array-like of int of shape (n_spans, 3)
        As for `span_probabilities`.
    types : array-like of int of shape (n_spans,)
    label_types : array-like of int of shape (n_labels,)
        Type of the span that a label belongs to; one that no span has for a label
        outside all spans.
    joins : array-like of bool of shape (n_labels, n_labels)
        ``joins[j, k]``: label k goes on with the span of the label j before it.
    node_scores, transition, offsets
        As for `log_partition`.

    Returns
    -------
    probabilities : ndarray of shape (n_spans,)

    Raises
    ------
    ValueError
        If shapes do not agree, or a span is empty or not within its chain.

    Examples
    --------
    The first two of three positions: B I O and B I B are 2 of the 27 paths of the
    labels O, B, I, and I I O and I I B as many.

    >>> from skcrf_sdca.structures.chain.oracle import typed_span_probabilities
    >>> joins = np.array([[0, 0, 0], [0, 0, 1], [0, 0, 1]], dtype=bool)
    >>> (p,) = typed_span_probabilities(
    ...     [[0, 0, 2]], [0], [-1, 0, 0], joins, np.zeros((3, 3)), np.zeros((3, 3))
    ... )
    >>> round(27 * float(p), 6)
    4.0
    """
    chains = as_chains(node_scores, transition, offsets)
    spans = _as_spans(spans, chains.offsets)
    types = np.ascontiguousarray(types, dtype=np.int64)
    label_types = np.ascontiguousarray(label_types, dtype=np.int64)
    joins = np.ascontiguousarray(joins, dtype=np.uint8)
    shapes = (len(spans),), (len(chains.transition),), chains.transition.shape
    if (types.shape, label_types.shape, joins.shape) != shapes:
        raise ValueError(
            f"types, label_types and joins have the shapes {types.shape}, "
            f"{label_types.shape} and {joins.shape}; they need {shapes}"
        )
    return chains.typed_span_probabilities(spans, types, label_types, joins)


def as_scores(scores, name, n_axes=2):
    """Return scores as the kernels take them: real numbers, or -inf, on some axes."""
    scores = np.asarray(scores)
    if scores.ndim != n_axes or scores.dtype.kind not in "biuf":
        size = {2: "two", 3: "three"}[n_axes]
        raise ValueError(
            f"{name} must be a {size}-dimensional array of real numbers, got shape "
            f"{scores.shape} and dtype {scores.dtype}"
        )
    scores = np.ascontiguousarray(scores, dtype=np.float64)
    # One pass, without an array of bool: the maximum of NaN is NaN.
    if not scores.max(initial=-np.inf) < np.inf:
        place = np.argwhere(~(scores < np.inf))[0].tolist()
        raise ValueError(
            f"{name}{place} is {scores[tuple(place)]}; scores must be finite, or -inf "
            "for what is forbidden"
        )
    return scores


def _as_integers(values, name):
    """Return integers as the kernels take them; nothing is rounded."""
    values = np.asarray(values)
    if values.size and values.dtype.kind not in "iu":
        raise ValueError(f"{name} must be integers, got dtype {values.dtype}")
    return np.ascontiguousarray(values, dtype=np.int64)


def as_labels(labels, n, n_labels):
    """Return n labels below n_labels as the kernels take them."""
    labels = _as_integers(labels, "labels")
    if labels.shape != (n,) or (labels >= n_labels).any():
        raise ValueError(f"labels must be {n} numbers below {n_labels}")
    return np.maximum(labels, -1).astype(np.int32)


def _as_spans(spans, offsets):
    """Return the spans as the kernels take them: none empty, all within the chains."""
    spans = _as_integers(spans, "spans")
    if spans.size and spans.shape[1:] != (3,):
        raise ValueError(
            f"spans must have rows of three numbers, (i, b, e); got shape {spans.shape}"
        )
    spans = spans.reshape(-1, 3)
    chain, begin, end = spans.T
    within = (chain >= 0) & (chain < len(offsets) - 1) & (begin >= 0) & (begin < end)
    within[within] = end[within] <= np.diff(offsets)[chain[within]]
    if not within.all():
        row = within.argmin()
        raise ValueError(
            f"spans: row {row} is {spans[row].tolist()}; a span (i, b, e) needs "
            "0 <= b < e <= the number of positions of chain i"
        )
    return spans
