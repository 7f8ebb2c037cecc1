"""Graphs of any shape as a Structure: tree-reweighted sums in place of exact ones.

What is said of p(y | x), log Z and entropies of a Graph holds here of the surrogate: an
upper bound of log Z, marginals of nodes and edges that agree with each other, and the
concave function H_TRW of these, see _reweighted.pyx.
"""

from contextlib import contextmanager

import numpy as np

from skcrf_sdca._kernels.inference import _reweighted_marginals
from skcrf_sdca._kernels.inference._reweighted_inference import ReweightedInference
from skcrf_sdca.structures.entropy import mixture_entropy
from skcrf_sdca.structures.graph.marginals import GraphMarginals
from skcrf_sdca.structures.graph.reweighting import reweighted_graphs
from skcrf_sdca.structures.graph.scores import GraphScores
from skcrf_sdca.structures.graph.structure import Graph

NO_DISTRIBUTION = (
    'inference="trw" has probabilities of nodes and edges, and no distribution of '
    'labellings; set inference="exact" if the graphs are narrow enough'
)


class ReweightedScores(GraphScores):
    """Scores of the graphs of ReweightedGraphs from graph ``begin`` on."""

    inference_type = ReweightedInference
    edge_marginals = staticmethod(_reweighted_marginals.edge_marginals)

    def mix_into(self, marginals, keep):
        """Mix the marginals of all graphs: keep times these, 1 - keep by the scores."""
        _reweighted_marginals.mix_cliques(
            self, keep, marginals.bounds[0], marginals.table, marginals.node
        )

    def maxima(self):
        """Return the scores of `viterbi`, and upper bounds of the largest ones."""
        values, bounds = np.empty(len(self)), np.empty(len(self))
        self._over_ranges(_reweighted_marginals.maxima, values, bounds)
        return values, bounds

    def n_best(self, n):
        """Raise ValueError: there is no order of labellings without a proof."""
        raise ValueError(_lacking("the n best labellings"))

    def sample(self, uniform):
        """Raise ValueError: marginals that agree are not of a distribution."""
        raise ValueError(_lacking("draws"))


def _lacking(what):
    return f"{what} cannot be computed: {NO_DISTRIBUTION}"


class ReweightedMarginals(GraphMarginals):
    """Marginals of nodes and edges that agree, times how often they count.

    The cliques are those of edges, and of nodes that are counted; separators are nodes
    that are counted off.
    """

    @classmethod
    def smoothed(cls, trees, offsets, labels, *, smoothing, dtype, new=np.zeros):
        """Return smoothing * uniform + (1 - smoothing) * one-hot at the labels."""
        marginals = cls(trees, offsets, dtype, new)
        n, (appearance, _) = trees.n_labels, trees.counts()
        places = marginals._places_of_edges()[:, np.newaxis] + np.arange(n**2)
        marginals.table[places] = (appearance / n**2)[:, np.newaxis]
        marginals.node[:] = 1.0 / n
        marginals.shrink_to_labels(labels, keep=smoothing)
        return marginals

    def state(self):
        """Return the arrays that a warm start needs: all others derive from these."""
        return {"table": self.table, "node": self.node}

    def _places_of_edges(self):
        """Return where the table of each edge begins."""
        bounds = np.asarray(self.trees.edge_bounds_of(0, len(self.offsets) - 1))
        n_edges = np.diff(bounds)
        first = np.repeat(self.bounds[0][:-1], n_edges)
        own = np.arange(bounds[-1]) - np.repeat(bounds[:-1], n_edges)
        return first + own * self.trees.n_labels**2

    def shrink_to_labels(self, labels, *, keep):
        """Mix with one-hot marginals: keep times these, and 1 - keep at labels."""
        appearance, _ = self.trees.counts()
        self.table *= keep
        self.table[self._places(labels)] += (1.0 - keep) * appearance
        self.node *= keep
        self.node[np.arange(len(labels)), labels] += 1.0 - keep

    def _places(self, labels):
        """Return the places of the given labels in the tables, one for each edge."""
        return self._places_of_edges() + self.trees.pairs_of(labels)

    def entropy_by_keep(self, labels, weight, entropy):
        """Return what `GraphMarginals.entropy_by_keep` does."""
        appearance, counting = self.trees.counts()
        n_edges = np.diff(self.trees.edge_bounds_of(0, len(weight)))
        of_edges = self.table[self._places(labels)] / appearance
        of_nodes = self.node[np.arange(len(labels)), labels]
        factor = np.concatenate(
            [
                np.repeat(weight, n_edges) * appearance,
                np.repeat(weight, np.diff(self.offsets)) * counting,
            ]
        )
        q = np.concatenate([of_edges, of_nodes])
        return mixture_entropy(q, factor, weight @ entropy)

    def _renormalize(self, begin, end, weight, total, entropy):
        """Make the marginals of edges agree with the ones of nodes, which are kept."""
        _reweighted_marginals.renormalize(
            self.trees,
            begin,
            end,
            weight,
            self.bounds,
            self.table,
            self.message,
            self.node,
            self.tied,
            total,
            entropy,
        )


class ReweightedGraph(Graph):
    """A Graph of any treewidth, with tree-reweighted inference.

    There is no level "argmax": a labelling of largest score is not proven to be one.
    """

    name = "reweighted graph"
    levels = frozenset({"log_partition", "expect", "visit", "direct"})

    arrange = staticmethod(reweighted_graphs)
    scores_type = ReweightedScores
    marginals_type = ReweightedMarginals
    name_of_cliques = "edges"
    no_distribution = NO_DISTRIBUTION

    @property
    def marginal_axes(self):
        """The axes of the arrays of `ReweightedMarginals.state`."""
        return super().marginal_axes | {"node": "TK"}

    @contextmanager
    def without_trace(self):
        """Let the next inference begin at the turns that the last one ended with."""
        turns = np.asarray(self.trees.turns)
        before = turns.copy()
        try:
            yield
        finally:
            turns[:] = before

    def marginals_of(self, state, dtype):
        """Return a copy of the marginals of `ReweightedMarginals.state`."""
        marginals = super().marginals_of(state, dtype)
        marginals.node[:] = state["node"]
        return marginals
