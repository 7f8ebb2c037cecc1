"""Label paths of chains given their scores: how predictions are chosen.

The best path, that of the most probable labels, the n best, random ones. All functions
take ``node_scores``, ``transition`` and ``offsets`` as those of oracle.py; scores of
-inf are forbidden.
"""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from skcrf_sdca._kernels import _paths
from skcrf_sdca._utils.memory import check_fits
from skcrf_sdca._utils.parallel import over_ranges
from skcrf_sdca.data.rows import split_rows
from skcrf_sdca.structures.chain import oracle

__all__ = ["clamped", "n_best", "posterior", "sample"]

# Far below what integers can count: sizes must not wrap around.
MOST_BYTES = 2**60


def posterior(
    node_scores: ArrayLike,
    transition: ArrayLike,
    offsets: ArrayLike | None = None,
    *,
    n_jobs: int | None = None,
) -> tuple[NDArray[np.int32], NDArray[np.float64]]:
    """Return the most probable label of each position, by the node marginals.

    Of all paths without a forbidden transition this one has the largest expected number
    of right labels, but it need not be a probable path.

    Parameters
    ----------
    node_scores, transition, offsets, n_jobs
        As for `skcrf_sdca.structures.chain.oracle.log_partition`.

    Returns
    -------
    paths : ndarray of shape (n_positions,), int32
        Ties go to the lowest label.
    log_partition : ndarray of shape (n,)

    Examples
    --------
    Label 0 has the best path, of score 2.5, but label 1 has two of score 2:

    >>> from skcrf_sdca.structures.chain.decoding import posterior
    >>> posterior([[2.5, 2.0], [0.0, 0.0]], [[0.0, -9.0], [0.0, 0.0]])[0]
    array([1, 0], dtype=int32)
    """
    chains = oracle.as_chains(node_scores, transition, offsets)
    node, log_z = oracle.node_marginals(*chains, n_jobs=n_jobs)
    forbidden = [scores == -np.inf for scores in chains[:2]]
    if not forbidden[1].any():
        return node.argmax(axis=1).astype(np.int32), log_z
    node[forbidden[0]] = -np.inf
    walls = np.where(forbidden[1], -np.inf, 0.0)
    paths, _ = oracle.viterbi(node, walls, chains[2], n_jobs=n_jobs)
    return paths, log_z


# Name -> function of (node_scores, transition, offsets) that returns the paths, end to
# end, and a number for each chain that is finite if it has a possible path.
DECODERS = {"viterbi": oracle.viterbi, "posterior": posterior}


def clamped(node_scores: NDArray[np.float64], labels: ArrayLike) -> NDArray[np.float64]:
    """Return node scores that forbid all labels but the known ones.

    Parameters
    ----------
    node_scores : ndarray of shape (n_positions, n_labels)
    labels : array-like of int of shape (n_positions,)
        Negative where the label is free.

    Returns
    -------
    node_scores : ndarray of shape (n_positions, n_labels)
        A copy, -inf for the other labels of positions whose label is known.

    Examples
    --------
    >>> import numpy as np
    >>> from skcrf_sdca.structures.chain.decoding import clamped
    >>> clamped(np.zeros((2, 2)), [-1, 1])
    array([[  0.,   0.],
           [-inf,   0.]])
    """
    labels = np.asarray(labels)
    other = (labels[:, np.newaxis] >= 0) & (
        labels[:, np.newaxis] != np.arange(node_scores.shape[1])
    )
    return np.where(other, -np.inf, node_scores)


def n_best(
    node_scores: ArrayLike,
    transition: ArrayLike,
    offsets: ArrayLike | None = None,
    *,
    n: int = 1,
    n_jobs: int | None = None,
) -> tuple[list[NDArray[np.int32]], list[NDArray[np.float64]]]:
    """Return the n paths of highest score of every chain, by Viterbi with lists.

    Exact, in a time of the order of length * n_labels**2 * n. Ties are ordered as
    Viterbi decides them: of two paths with equal scores the one with the lower label at
    the last position where they differ comes first, so that the first path is always
    that of `skcrf_sdca.structures.chain.oracle.viterbi`.

    Parameters
    ----------
    node_scores, transition, offsets, n_jobs
        As for `skcrf_sdca.structures.chain.oracle.log_partition`.
    n : int, default=1
        At least 1.

    Returns
    -------
    paths : list of ndarrays of shape (n_paths_i, length_i), int32
        One array for each chain, best path first; fewer than n where the chain does
        not have so many possible paths.
    scores : list of ndarrays of shape (n_paths_i,)

    Raises
    ------
    ValueError
        If n is less than 1.
    MemoryError
        If so many paths clearly do not fit into memory.

    Examples
    --------
    >>> from skcrf_sdca.structures.chain.decoding import n_best
    >>> (paths,), (scores,) = n_best([[0.0, 2.0], [1.0, 0.0]], [[0, 0], [0, 0]], n=3)
    >>> paths
    array([[1, 0],
           [1, 1],
           [0, 0]], dtype=int32)
    >>> scores
    array([3., 2., 1.])
    """
    node_scores, transition, offsets = oracle.as_chains(
        node_scores, transition, offsets
    )
    if n < 1:
        raise ValueError(f"n must be at least 1, got {n}")
    lengths = np.diff(offsets)
    widths = _numbers_of_paths(n, len(transition), lengths)
    path_offsets = np.concatenate([[0], np.cumsum(widths)])
    label_offsets = np.concatenate([[0], np.cumsum(widths * lengths)])
    scores = np.empty(path_offsets[-1])
    paths = np.empty(label_offsets[-1], dtype=np.int32)

    def run(begin, end):
        _paths.best_paths(
            node_scores,
            transition,
            offsets,
            widths,
            path_offsets,
            label_offsets,
            begin,
            end,
            scores,
            paths,
        )

    over_ranges(run, offsets, n_jobs)
    # What is missing has the score -inf, and stands at the end.
    scores = [own[own > -np.inf] for own in split_rows(scores, path_offsets)]
    paths = split_rows(paths, label_offsets).tolist()
    return [
        own.reshape(width, length)[: len(found)]
        for own, width, length, found in zip(
            paths, widths, lengths, scores, strict=True
        )
    ], scores


def _numbers_of_paths(n, n_labels, lengths):
    """Return n for each chain, or how many paths it has; MemoryError if too many."""
    with np.errstate(over="ignore"):
        n_paths = float(n_labels) ** lengths
    widths = np.minimum(float(min(n, MOST_BYTES)), n_paths)
    # Scores and labels of all paths, and the lists of the chain with the longest ones.
    n_bytes = (widths * (4.0 * lengths + 8.0)).sum()
    n_bytes += 8.0 * n_labels * (widths * (lengths + 1.0)).max(initial=0.0)
    if n_bytes > MOST_BYTES:
        raise MemoryError(f"so many paths need about {n_bytes:.1e} bytes: lower n")
    check_fits(int(n_bytes), f"{n} paths of each chain", "lower n, or cut long chains")
    return widths.astype(np.int64)


def sample(
    node_scores: ArrayLike,
    transition: ArrayLike,
    offsets: ArrayLike | None = None,
    *,
    uniform: ArrayLike,
    n_jobs: int | None = None,
) -> NDArray[np.int32]:
    """Return independent draws from p(y | x), exact.

    Forward filtering, backward sampling: the last label is drawn from its marginal,
    and each other one given that after it.

    Parameters
    ----------
    node_scores, transition, offsets, n_jobs
        As for `skcrf_sdca.structures.chain.oracle.log_partition`.
    uniform : array-like of shape (n_positions, n_draws)
        Random numbers from [0, 1), one for each label to draw.

    Returns
    -------
    paths : ndarray of shape (n_positions, n_draws), int32

    Raises
    ------
    ValueError
        If there is not one row of random numbers for each position.

    Examples
    --------
    >>> import numpy as np
    >>> from skcrf_sdca.structures.chain.decoding import sample
    >>> sample([[0.0, 0.0]], np.zeros((2, 2)), uniform=[[0.2, 0.4, 0.6]])
    array([[0, 0, 1]], dtype=int32)
    """
    node_scores, transition, offsets = oracle.as_chains(
        node_scores, transition, offsets
    )
    uniform = np.ascontiguousarray(uniform, dtype=np.float64)
    if uniform.ndim != 2 or len(uniform) != len(node_scores):
        raise ValueError(
            f"uniform has shape {uniform.shape}; {len(node_scores)} positions need as "
            "many rows"
        )
    paths = np.empty(uniform.shape, dtype=np.int32)

    def run(begin, end):
        _paths.random_paths(
            node_scores, transition, offsets, uniform, begin, end, paths
        )

    over_ranges(run, offsets, n_jobs)
    return paths
