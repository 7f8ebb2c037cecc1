"""Sampling schemes: which sequence a solver visits next [LePriol18, sec. 5 and 6].

Owns the table of schemes. A scheme samples sequences by one score each, kept in a tree:
score_i = factor_i * value_i, where visits record the value (the gap of the sequence,
its residual, or the Lipschitz constant of its gradient), or score_i = factor_i alone.
A new scheme is one entry of `SAMPLING_SCHEMES`.
"""

from collections.abc import Callable, Set
from dataclasses import dataclass

import numpy as np

from skcrf_sdca._kernels.visits._samplers import MaxTree, Sampler, SumTree, Window

FIRST_GAP = 100.0

# The part of the sequences that is in a window, and of how many blocks it consists.
WINDOW, BLOCKS_INSIDE = 0.2, 20


def first_gap(problem):
    """Return the gap that sequences have before their first visit.

    It is above any gap found at a visit, so that the first draws visit everything once:
    a gap is at most about twice the entropy of the uniform distribution, T_i log K, the
    costs, and differences of fixed scores.
    """
    by_position = np.log(problem.structure.n_labels)
    if problem.loss.cost is not None:
        by_position += problem.loss.scaled_cost.max()
    fixed = problem.structure.fixed
    if fixed is not None:
        by_position += 2.0 * sum(np.abs(values).max(initial=0.0) for values in fixed)
    largest = problem.data.lengths.max() * by_position
    return max(FIRST_GAP, 10.0 * largest)


def non_uniformity(values):
    """Return the quadratic mean of values over their mean [LePriol18, eq. 25].

    It is between 1, for equal values, and the root of their number, if only one of them
    is not 0. Without values, or if all are 0, it is 1.

    >>> from skcrf_sdca.solvers.samplers import non_uniformity
    >>> non_uniformity([0.2, 0.2]), non_uniformity([0.0, 0.0, 0.0, 4.0])
    (1.0, 2.0)
    """
    # Over the largest, squares neither overflow nor underflow.
    largest = np.max(values, initial=0.0)
    if not largest > 0.0:
        return 1.0
    shares = np.asarray(values) / largest
    return float(np.sqrt(np.mean(shares**2)) / np.mean(shares))


def _ones(problem):
    return np.ones(problem.n_sequences)


def _weight(problem):
    return problem.weight * problem.n_sequences


def _importance(problem):
    return problem.alpha + problem.weight * problem.structure.squared_radii()


def _weighted_importance(problem):
    return _weight(problem) * _importance(problem)


# [LePriol18, eq. 49] with weights: these probabilities maximise the bound of its proof.
def _root_importance(problem):
    return np.sqrt(_weighted_importance(problem))


class Blocks:
    """Blocks of sequences that are neighbours, and how many are in a window.

    Parameters
    ----------
    offsets : ndarray of shape (n + 1,), int64
    window : float in (0, 1]
        The part of the positions that is in the window.

    Attributes
    ----------
    bounds : ndarray of shape (n_blocks + 1,), intp
        Block b has the sequences bounds[b] <= i < bounds[b + 1]; all blocks have about
        equally many positions.
    n_inside : int
    """

    def __init__(self, offsets, window=WINDOW):
        n = len(offsets) - 1
        n_blocks = int(min(np.ceil(BLOCKS_INSIDE / window), n))
        ends = offsets[-1] * np.arange(1, n_blocks) // n_blocks
        cuts = np.searchsorted(offsets[:-1], ends)
        self.bounds = np.unique(np.concatenate([[0], cuts, [n]])).astype(np.intp)
        self.n_inside = max(int(window * len(self)), 1)

    def __len__(self):
        """Return the number of blocks."""
        return len(self.bounds) - 1

    def order(self, rng):
        """Return an order in which a window over the blocks meets every sequence once.

        A sequence is drawn while its block is inside.
        """
        entered = rng.permutation(len(self))
        times = np.repeat(entered, np.diff(self.bounds))
        return np.argsort(times + self.n_inside * rng.random(len(times)))

    def in_shard(self, shard):
        """Return the bounds of the blocks in a shard, rising numbers of sequences."""
        return np.searchsorted(shard, self.bounds).astype(np.intp)


@dataclass(frozen=True)
class SamplingScheme:
    """A sampling scheme: a tree, the factor of the scores, and the recorded value.

    Attributes
    ----------
    tree : type
        Subclass of Sampler.
    factor : callable
        ``factor(problem)`` is an array (n,), not negative.
    solvers : set of str
        Names of the solvers whose visits record the value, and that may use the scheme:
        "sdca", "oeg", "bcfw" and "sag".
    first_value : callable, default=None
        ``first_value(problem)`` is the value of every sequence before its first visit;
        None if score_i = factor_i alone.
    by_residual : bool, default=False
        Whether the value is the residual ||p(. | x_i; w) - mu_i||_1, for chains of one
        node: score_i is its product with sqrt(c_i (1 + c_i R_i / alpha)).
    """

    tree: type
    factor: Callable
    solvers: frozenset
    first_value: Callable | None = None
    by_residual: bool = False

    def make(self, problem, mix, shard=None, blocks=None):
        """Return a sampler that draws by score with probability ``mix``.

        It draws from a shard of the sequences, by their indices in the shard; by
        default from all. ``blocks`` are those of a window. Raise ValueError if the
        scheme is not one for the problem.
        """
        if self.by_residual and not problem.structure.is_table:
            raise ValueError(
                'sampling="residual" is for tables, whose rows are chains of one node; '
                'set sampling="gap" for sequences'
            )
        adaptive = self.first_value is not None
        first = self.first_value(problem) if adaptive else 1.0
        shard = np.arange(problem.n_sequences) if shard is None else shard
        sampler = self.tree(self.factor(problem)[shard], mix, adaptive, first)
        sampler.by_residual = self.by_residual
        if self.has_window:
            blocks = blocks or Blocks(problem.offsets)
            sampler.set_blocks(blocks.in_shard(shard), blocks.n_inside)
        return sampler

    @property
    def has_window(self):
        """Whether sequences are drawn inside a window of `Blocks`."""
        return issubclass(self.tree, Window)


SDCA, SAG = frozenset({"sdca"}), frozenset({"sag"})
DUAL = SDCA | {"oeg", "bcfw"}

SAMPLING_SCHEMES = {
    "uniform": SamplingScheme(Sampler, _ones, DUAL | SAG),
    "importance": SamplingScheme(SumTree, _importance, DUAL),
    "gap": SamplingScheme(SumTree, _weight, DUAL, first_gap),
    "gap_importance": SamplingScheme(SumTree, _weighted_importance, DUAL, first_gap),
    "window": SamplingScheme(Window, _weight, DUAL, first_gap),
    "max": SamplingScheme(MaxTree, _weight, DUAL, first_gap),
    # A residual is at most 2.
    "residual": SamplingScheme(
        SumTree, _root_importance, SDCA, lambda problem: 2.0, True
    ),
    # Before its first visit a sequence is sampled only uniformly.
    "lipschitz": SamplingScheme(SumTree, _ones, SAG, lambda problem: 0.0),
}


class SchemeNames(Set):
    """Names of the schemes that a solver can use, read from the table at each use."""

    def __init__(self, solver):
        self.solver = solver

    @classmethod
    def _from_iterable(cls, names):
        """Return the result of an operation on sets."""
        return frozenset(names)

    def __contains__(self, name):
        """Return whether there is a scheme of this name for the solver."""
        scheme = SAMPLING_SCHEMES.get(name)
        return scheme is not None and self.solver in scheme.solvers

    def __iter__(self):
        """Return an iterator over the names."""
        return (name for name in SAMPLING_SCHEMES if name in self)

    def __len__(self):
        """Return the number of names."""
        return sum(1 for _ in self)
