"""Sampling schemes: which sequence a solver visits next [LePriol18, sec. 5 and 6].

Owns the table of schemes. A scheme is a tree over one score for each sequence: score_i
= factor_i * g_i, with g_i the gap of sequence i when last visited, or factor_i alone.
A new scheme is one entry of `SCHEMES`.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array, issparse

from skcrf_sdca._kernels._samplers import MaxTree, Sampler, SumTree

# More than the gap of a usual sequence, so that the first draws visit everything once.
FIRST_GAP = 100.0


def squared_radii(problem):
    """Return R_i = max over y of ||F(x_i, y_i) - F(x_i, y)||^2, an array (n,).

    Bounded as in [LePriol18, App. C] by two paths that disagree everywhere:
    R_i = 2 (||sum_t |x_t|||^2 + T^2 + 2 + (T - 1)^2), the last two terms for models
    with boundaries only.
    """
    data = problem.data
    n, lengths = problem.n_sequences, data.lengths.astype(np.float64)
    sum_rows = csr_array(
        (
            np.ones(data.n_positions),
            np.arange(data.n_positions),
            data.offsets,
        ),
        shape=(n, data.n_positions),
    )
    sums = sum_rows @ abs(data.X)
    squares = sums.power(2) if issparse(sums) else sums**2
    radii = np.asarray(squares.sum(axis=1)).ravel() + lengths**2
    if problem.boundaries:
        radii += np.where(lengths > 0, 2.0 + np.maximum(lengths - 1.0, 0.0) ** 2, 0.0)
    return 2.0 * radii


def _unit(problem):
    return problem.weight * problem.n_sequences


def _importance(problem):
    return problem.alpha + problem.weight * squared_radii(problem)


@dataclass(frozen=True)
class Scheme:
    """A sampling scheme: a tree, the factor of the scores, and whether gaps enter.

    Attributes
    ----------
    tree : type
        Subclass of Sampler.
    factor : callable
        ``factor(problem)`` is an array (n,), not negative.
    follows_gap : bool
        Whether score_i = factor_i * g_i, or factor_i alone.
    """

    tree: type
    factor: Callable
    follows_gap: bool

    def make(self, problem, mix):
        """Return a sampler that draws by score with probability ``mix``."""
        return self.tree(self.factor(problem), mix, self.follows_gap, FIRST_GAP)


SCHEMES = {
    "uniform": Scheme(Sampler, _unit, follows_gap=False),
    "importance": Scheme(SumTree, _importance, follows_gap=False),
    "gap": Scheme(SumTree, _unit, follows_gap=True),
    "gap_importance": Scheme(
        SumTree, lambda problem: _unit(problem) * _importance(problem), follows_gap=True
    ),
    "max": Scheme(MaxTree, _unit, follows_gap=True),
}
