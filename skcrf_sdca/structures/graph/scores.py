"""Inference on graphs given their scores: every recursion behind one object."""

from typing import Any

import numpy as np

from skcrf_sdca._kernels.inference import _graph_marginals
from skcrf_sdca._kernels.inference._graph_inference import GraphInference
from skcrf_sdca._utils.words import words
from skcrf_sdca.structures.compiled_scores import CompiledScores
from skcrf_sdca.structures.scores import LARGEST_SCORE, empty_pairs


class GraphScores(CompiledScores):
    """Scores of the graphs of junction trees from graph ``begin`` on.

    Nodes have the local scores; the tied ones are scores of pairs of labels, for each
    feature of edges.
    """

    inference_type: type[Any] = GraphInference
    edge_marginals = staticmethod(_graph_marginals.edge_marginals)

    def __init__(self, trees, local, tied, offsets, begin):
        self.trees = trees
        self.local, self.tied = local, tied
        self.offsets, self.begin = offsets, begin

    def _new(self, local, tied, begin, end):
        offsets = self.offsets[begin : end + 1] - self.offsets[begin]
        return type(self)(self.trees, local, tied, offsets, self.begin + begin)

    def inference(self, begin, end):
        """Return the compiled inference on some of the graphs."""
        return self.inference_type(self.trees, self.offsets, self.begin, begin, end)

    def check(self, first):
        """Raise ValueError if scores of nodes or of edges overflow."""
        super().check(first)
        largest = self.trees.largest_row * np.abs(self.tied).max(initial=0.0)
        if not largest <= LARGEST_SCORE:
            raise ValueError(
                f"{words().X} has edges with features so large that their scores are "
                f"not finite or beyond {LARGEST_SCORE:g}; scale the features."
            )

    def pair_marginals(self):
        """Return the marginals of edges in the order of the steps, and their bounds."""
        bounds = self.trees.edge_bounds_of(self.begin, self.begin + len(self))
        pairs = empty_pairs(bounds[-1], self.local.shape[1])
        self.edge_marginals(self, pairs)
        return np.minimum(pairs, 1.0, out=pairs), bounds

    def maxima(self):
        """Return the scores of `viterbi`, and upper bounds of the largest ones."""
        _, values = self.viterbi()
        return values, values

    def mix_into(self, marginals, keep):
        """Mix the cliques of all graphs: keep times these, 1 - keep by the scores."""
        _graph_marginals.mix_cliques(self, keep, marginals.bounds[0], marginals.table)

    def _order_of_ties(self, i):
        return self.trees.eliminated(self.begin + i)[::-1]

    def _allows_every_labelling(self):
        return True
