"""Inference on chains given their scores: the oracle of every solver.

The recursions are compiled. All functions take ``node_scores`` (n_positions, n_labels)
and ``transition`` (n_labels, n_labels), indexed [from, to], with chain i at the
positions ``offsets[i]:offsets[i + 1]``; without ``offsets`` the rows are one chain.
Results do not depend on ``n_jobs``, to the last bit.
"""

import numpy as np

from skcrf_sdca._kernels import _chains
from skcrf_sdca._parallel import over_ranges
from skcrf_sdca.marginals import Marginals


def _as_chains(node_scores, transition, offsets):
    """Return the three arrays as the kernels take them."""
    node_scores = np.ascontiguousarray(node_scores, dtype=np.float64)
    transition = np.ascontiguousarray(transition, dtype=np.float64)
    n_labels = node_scores.shape[1]
    if transition.shape != (n_labels, n_labels):
        raise ValueError(
            f"transition has shape {transition.shape}; node_scores with {n_labels} "
            f"labels need {(n_labels, n_labels)}"
        )
    if n_labels == 0:
        raise ValueError("node_scores must have at least one label (column)")
    offsets = [0, len(node_scores)] if offsets is None else offsets
    offsets = np.ascontiguousarray(offsets, dtype=np.int64)
    ends = offsets[:1].tolist() + offsets[-1:].tolist()
    if ends != [0, len(node_scores)] or (np.diff(offsets) < 0).any():
        raise ValueError(
            f"offsets must not decrease, from 0 to the {len(node_scores)} rows of "
            "node_scores"
        )
    return node_scores, transition, offsets


def log_partition(node_scores, transition, offsets=None, *, n_jobs=None):
    """Return log Z, the log of the sum of exp(score) over all label paths.

    Parameters
    ----------
    node_scores : array-like of shape (n_positions, n_labels)
        Finite scores, in nats.
    transition : array-like of shape (n_labels, n_labels)
    offsets : array-like of shape (n + 1,), default=None
    n_jobs : int, default=None
        Threads.

    Returns
    -------
    log_partition : ndarray of shape (n,)
        0 for a chain without positions.

    Examples
    --------
    >>> from skcrf_sdca.oracle import log_partition
    >>> log_partition([[0.0, 0.0], [0.0, 0.0]], [[0.0, 0.0], [0.0, 0.0]]) / np.log(2)
    array([2.])
    """
    node_scores, transition, offsets = _as_chains(node_scores, transition, offsets)
    values = np.empty(len(offsets) - 1)

    def run(begin, end):
        _chains.log_partitions(node_scores, transition, offsets, begin, end, values)

    over_ranges(run, offsets, n_jobs)
    return values


def marginals(node_scores, transition, offsets=None, *, n_jobs=None):
    """Return the marginals of all chains and their log Z.

    Parameters
    ----------
    node_scores, transition, offsets, n_jobs
        As for `log_partition`.

    Returns
    -------
    marginals : Marginals
    log_partition : ndarray of shape (n,)

    Examples
    --------
    >>> from skcrf_sdca.oracle import marginals
    >>> m, log_z = marginals([[0.0, 0.0], [0.0, 0.0]], [[0.0, 0.0], [0.0, 0.0]])
    >>> m.edge
    array([[[0.25, 0.25],
            [0.25, 0.25]]])
    """
    node_scores, transition, offsets = _as_chains(node_scores, transition, offsets)
    out = Marginals.empty(offsets, node_scores.shape[1])
    values = np.empty(len(offsets) - 1)

    def run(begin, end):
        _chains.marginals(
            node_scores,
            transition,
            offsets,
            out.edge_offsets,
            begin,
            end,
            out.node,
            out.edge,
            values,
        )

    over_ranges(run, offsets, n_jobs)
    return out, values


def node_marginals(node_scores, transition, offsets=None, *, n_jobs=None):
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
    >>> from skcrf_sdca.oracle import node_marginals
    >>> node, _ = node_marginals([[0.0, 0.0], [0.0, 0.0]], [[0.0, 0.0], [0.0, 0.0]])
    >>> node
    array([[0.5, 0.5],
           [0.5, 0.5]])
    """
    node_scores, transition, offsets = _as_chains(node_scores, transition, offsets)
    node = np.empty_like(node_scores)
    values = np.empty(len(offsets) - 1)

    def run(begin, end):
        _chains.node_marginals(
            node_scores, transition, offsets, begin, end, node, values
        )

    over_ranges(run, offsets, n_jobs)
    return node, values


def expectations(node_scores, transition, offsets, weight, *, n_jobs=None):
    """Return node marginals, the weighted total of the edge marginals, and log Z.

    What a gradient needs, in memory that does not grow with n_labels^2 a position.

    Parameters
    ----------
    node_scores, transition, offsets, n_jobs
        As for `log_partition`.
    weight : ndarray of shape (n,)

    Returns
    -------
    node : ndarray of shape (n_positions, n_labels)
    edge_total : ndarray of shape (n_labels, n_labels)
        sum_i weight[i] sum_t edge marginals of chain i.
    log_partition : ndarray of shape (n,)
    """
    node_scores, transition, offsets = _as_chains(node_scores, transition, offsets)
    weight = np.ascontiguousarray(weight, dtype=np.float64)
    if weight.shape != (len(offsets) - 1,):
        raise ValueError(f"{weight.shape} weights for {len(offsets) - 1} chains")
    node = np.empty_like(node_scores)
    values = np.empty(len(offsets) - 1)

    def run(begin, end):
        edge_total = np.zeros_like(transition)
        _chains.expectations(
            node_scores,
            transition,
            offsets,
            weight,
            begin,
            end,
            node,
            edge_total,
            values,
        )
        return edge_total

    totals = over_ranges(run, offsets, n_jobs)
    return node, np.sum(totals, axis=0, initial=0.0), values


def viterbi(node_scores, transition, offsets=None, *, n_jobs=None):
    """Return the label paths of highest score; ties go to the lowest label.

    Parameters
    ----------
    node_scores, transition, offsets, n_jobs
        As for `log_partition`.

    Returns
    -------
    paths : ndarray of shape (n_positions,), int32
        The paths of all chains, end to end.
    scores : ndarray of shape (n,)

    Examples
    --------
    >>> from skcrf_sdca.oracle import viterbi
    >>> viterbi([[0.0, 1.0], [0.0, 0.0]], [[0.0, 0.0], [3.0, 0.0]])
    (array([1, 0], dtype=int32), array([4.]))
    """
    node_scores, transition, offsets = _as_chains(node_scores, transition, offsets)
    paths = np.empty(len(node_scores), dtype=np.int32)
    values = np.empty(len(offsets) - 1)

    def run(begin, end):
        _chains.best_paths(node_scores, transition, offsets, begin, end, paths, values)

    over_ranges(run, offsets, n_jobs)
    return paths, values
