"""Label paths of chains given their scores: how predictions are chosen.

The best path, the path of the most probable labels, the n best, random ones. All
functions take ``node_scores``, ``transition`` and ``offsets`` as in oracle.py; a score
of -inf forbids.
"""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from skcrf_sdca._utils.arguments import takes_arguments_of
from skcrf_sdca.structures.chain.chains import Chains
from skcrf_sdca.structures.chain.oracle import as_chains
from skcrf_sdca.structures.scores import forbid_others

__all__ = ["clamped", "n_best", "posterior", "sample"]


@takes_arguments_of(as_chains)
def posterior(chains: Chains) -> tuple[NDArray[np.int32], NDArray[np.float64]]:
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
        Among equally good paths the one with the lower label at the last position where
        they differ.
    log_partition : ndarray of shape (n,)

    Examples
    --------
    Label 0 has the best path, of score 2.5, but label 1 has two of score 2:

    >>> from skcrf_sdca.structures.chain.decoding import posterior
    >>> posterior([[2.5, 2.0], [0.0, 0.0]], [[0.0, -9.0], [0.0, 0.0]])[0]
    array([1, 0], dtype=int32)
    """
    return chains.posterior()


def n_best(
    node_scores: ArrayLike,
    transition: ArrayLike,
    offsets: ArrayLike | None = None,
    *,
    n: int = 1,
    n_jobs: int | None = None,
) -> tuple[list[NDArray[np.int32]], list[NDArray[np.float64]]]:
    """Return the n paths of highest score of every chain, by Viterbi with lists.

    It is exact, in a time of the order of length * n_labels**2 * n. Ties are ordered as
    Viterbi decides them: of two paths with equal scores the one with the lower label at
    the last position where they differ comes first, so that the first path is always
    the path of `skcrf_sdca.structures.chain.oracle.viterbi`.

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
        not have n possible paths.
    scores : list of ndarrays of shape (n_paths_i,)

    Raises
    ------
    ValueError
        If n is less than 1.
    MemoryError
        If n paths clearly do not fit into memory.

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
    chains = as_chains(node_scores, transition, offsets, n_jobs=n_jobs)
    if n < 1:
        raise ValueError(f"n must be at least 1, got {n}")
    return chains.n_best(n)


def sample(
    node_scores: ArrayLike,
    transition: ArrayLike,
    offsets: ArrayLike | None = None,
    *,
    uniform: ArrayLike,
    n_jobs: int | None = None,
) -> NDArray[np.int32]:
    """Return independent draws from p(y | x), exact.

    The method is forward filtering and backward sampling: the last label is drawn from
    its marginal, and each other one given that after it.

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
    chains = as_chains(node_scores, transition, offsets, n_jobs=n_jobs)
    n_positions = len(chains.node_scores)
    uniform = np.ascontiguousarray(uniform, dtype=np.float64)
    if uniform.ndim != 2 or len(uniform) != n_positions:
        raise ValueError(
            f"uniform has shape {uniform.shape}; {n_positions} positions need as many "
            "rows"
        )
    return chains.sample(uniform)


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
    return forbid_others(node_scores, labels, np.arange(node_scores.shape[1]))
