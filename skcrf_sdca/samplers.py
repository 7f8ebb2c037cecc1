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

FIRST_GAP = 100.0


def first_gap(problem):
    """Return the gap that sequences have before their first visit.

    More than any gap found at a visit, so that the first draws visit everything once:
    a gap is at most about twice the entropy of the uniform distribution, T_i log K.
    """
    largest = problem.data.lengths.max() * np.log(problem.n_labels)
    return max(FIRST_GAP, 10.0 * largest)


def squared_radii(problem):
    """Return R_i >= max over y of ||F(x_i, y_i) - F(x_i, y)||^2, an array (n,).

    The bound is that of two paths of one label each, which disagree everywhere
    [LePriol18, App. C]: R_i = 2 (||sum_t |x_t|||^2 + T^2 + 2 + (T - 1)^2), the last two
    terms for models with boundaries only. It is attained where no feature is negative.
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
    # Cut where a square would overflow: the order of magnitude is all that counts.
    values = sums.data if issparse(sums) else sums
    np.minimum(values, 1e100, out=values)
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
        factor, gap = self.factor(problem), first_gap(problem)
        return self.tree(factor, mix, self.follows_gap, gap)


SCHEMES = {
    "uniform": Scheme(Sampler, _unit, follows_gap=False),
    "importance": Scheme(SumTree, _importance, follows_gap=False),
    "gap": Scheme(SumTree, _unit, follows_gap=True),
    "gap_importance": Scheme(
        SumTree, lambda problem: _unit(problem) * _importance(problem), follows_gap=True
    ),
    "max": Scheme(MaxTree, _unit, follows_gap=True),
}
