"""Inference on graphs given their scores: every recursion behind one object."""

import numpy as np

from skcrf_sdca._kernels import _graphs
from skcrf_sdca.structures.scores import Scores, empty_pairs
from skcrf_sdca.structures.structure import LARGEST_SCORE


class GraphScores(Scores):
    """Scores of the graphs begin <= i < end of junction trees.

    Parameters
    ----------
    trees : JunctionTrees
    local : ndarray of shape (n_nodes, n_labels)
        Those of their nodes.
    tied : ndarray of shape (trees.n_tied,)
        Those of pairs of labels, for each feature of edges.
    offsets : ndarray of shape (end - begin + 1,), int64
        Where the nodes of each graph begin.
    begin : int
    """

    def __init__(self, trees, local, tied, offsets, begin):
        self.trees = trees
        self.local, self.tied = local, tied
        self.offsets, self.begin = offsets, begin
        self._arguments = trees, local, tied, begin, begin + len(offsets) - 1

    def _new(self, local, tied, begin, end):
        offsets = self.offsets[begin : end + 1] - self.offsets[begin]
        return GraphScores(self.trees, local, tied, offsets, self.begin + begin)

    def check(self, first):
        """Raise ValueError if scores of nodes or of edges overflow."""
        super().check(first)
        largest = self.trees.largest_row * np.abs(self.tied).max(initial=0.0)
        if not largest <= LARGEST_SCORE:
            raise ValueError(
                "X has edges with features so large that their scores are not finite "
                f"or beyond {LARGEST_SCORE:g}; scale the features."
            )

    def log_partition(self):
        """Return log Z, an array (n,)."""
        values = np.empty(len(self))
        _graphs.log_partitions(*self._arguments, values)
        return values

    def expectations(self, weight):
        """Return node marginals, the weighted sum of tied expectations, and log Z."""
        node, values = np.empty_like(self.local), np.empty(len(self))
        total = np.zeros(len(self.tied))
        _graphs.marginals(
            *self._arguments, node, values, weight=weight, tied_total=total
        )
        return node, total, values

    def potential_expectations(self, local, tied):
        """Write node marginals, and the tied expectations of each; return log Z."""
        values = np.empty(len(self))
        _graphs.marginals(*self._arguments, local, values, tied_sums=tied)
        return values

    def node_marginals(self):
        """Return the node marginals, at most 1 in spite of rounding, and log Z."""
        node, values = np.empty_like(self.local), np.empty(len(self))
        _graphs.marginals(*self._arguments, node, values)
        return np.minimum(node, 1.0, out=node), values

    def pair_marginals(self):
        """Return the marginals of edges in the order of the trees, and their bounds."""
        bounds = self.trees.edge_bounds_of(self.begin, self.begin + len(self))
        node, values = np.empty_like(self.local), np.empty(len(self))
        pairs = empty_pairs(bounds[-1], self.local.shape[1])
        _graphs.marginals(*self._arguments, node, values, edges=pairs)
        return np.minimum(pairs, 1.0, out=pairs), bounds

    def mix_into(self, table, keep):
        """Write keep times the marginals of cliques, 1 - keep times those of scores.

        ``table`` has those of all graphs.
        """
        _graphs.mix_cliques(*self._arguments, keep, table)

    def sample(self, uniform):
        """Return labellings drawn from p(y | x), (n_nodes, n_draws), of numbers."""
        paths = np.empty(uniform.shape[::-1], dtype=np.int32)
        if paths.size:
            _graphs.draws(*self._arguments, np.ascontiguousarray(uniform), paths)
        return paths.T

    def viterbi(self):
        """Return the labellings of highest score, end to end, and their scores.

        Of equal ones that with the lower label at the node where they differ that is
        eliminated last.
        """
        paths = np.empty(len(self.local), dtype=np.int32)
        values = np.empty(len(self))
        _graphs.best_labellings(*self._arguments, paths, values)
        return paths, values

    def _order_of_ties(self, i):
        return self.trees.eliminated(self.begin + i)[::-1]

    def _allows_every_labelling(self):
        return True

    def path_scores(self, labels):
        """Return the score of one labelling of each graph."""
        values = np.empty(len(self))
        _graphs.labelling_scores(*self._arguments, labels, values)
        return values
