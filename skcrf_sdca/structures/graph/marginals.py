"""Marginals of graphs: the dual variables of SDCA.

Owns their layout, their first point, and the correction of their rounding.
"""

import numpy as np

from skcrf_sdca._kernels.inference import _graph_marginals
from skcrf_sdca._utils.parallel import over_ranges
from skcrf_sdca.structures.entropy import mixture_entropy
from skcrf_sdca.structures.structure import Potentials


class GraphMarginals:
    """Marginals of the nodes, cliques and separators of n graphs.

    The cliques have this dtype, float32 or float64; ``new`` makes the arrays, as
    `numpy.zeros` does.

    Attributes
    ----------
    node : ndarray of shape (n_nodes, n_labels)
    tied : ndarray of shape (n, n_tied)
        The tied expectations, derived from the cliques.
    table, message : ndarrays
        Marginals of all cliques and separators, in the order of the trees.
    bounds : tuple of ndarrays of shape (n + 1,), int64
        Where the table and the message of each graph begin.
    """

    def __init__(self, trees, offsets, dtype, new=np.zeros):
        self.trees, self.offsets = trees, offsets
        self.bounds = tuple(
            np.cumsum(np.append(0, sizes), dtype=np.int64)
            for sizes in (trees.table_sizes, trees.message_sizes)
        )
        # At least one number, which has an address.
        table, message = (max(int(bounds[-1]), 1) for bounds in self.bounds)
        self.table, self.message = new((table,), dtype), new((message,))
        self.node = new((int(offsets[-1]), trees.n_labels))
        self.tied = new((len(offsets) - 1, trees.n_tied))

    @property
    def local(self):
        """Marginals of single positions: the nodes."""
        return self.node

    @classmethod
    def smoothed(cls, trees, offsets, labels, *, smoothing, dtype, new=np.zeros):
        """Return smoothing * uniform + (1 - smoothing) * one-hot at the labels.

        Nodes and separators are not set before `renormalize`.
        """
        marginals = cls(trees, offsets, dtype, new)
        sizes = trees.clique_sizes
        marginals._used[:] = np.repeat(1.0 / sizes, sizes)
        marginals.shrink_to_labels(labels, keep=smoothing)
        return marginals

    @property
    def _used(self):
        """The numbers of all cliques."""
        return self.table[: self.bounds[0][-1]]

    def part(self, begin, end, offsets):
        """Return the expectations of begin <= i < end, as Potentials."""
        return Potentials(self.node, self.tied).part(begin, end, offsets)

    def state(self):
        """Return the array that a warm start needs: all others derive from it."""
        return {"table": self.table}

    def shrink_to_labels(self, labels, *, keep):
        """Mix cliques: keep times these, and 1 - keep times one-hot ones at labels."""
        self._used[:] *= keep
        self._used[self._places(labels)] += 1.0 - keep

    def _places(self, labels):
        """Return the places of the given labels in the tables, one for each node."""
        places = np.empty(len(labels), dtype=np.int64)
        _graph_marginals.label_places(self.trees, labels, places)
        return places

    def entropy_by_keep(self, labels, weight, entropy):
        """Return sum_i weight[i] H(mu_i) as a function of keep (`shrink_to_labels`).

        It is called after `renormalize`; ``entropy`` has H(mu_i) now. H is the sum over
        cliques less the sum over separators, and the terms depend on keep as in
        `Marginals.entropy_by_keep`.
        """
        places = self._places(labels)
        q = np.concatenate(
            [self.table[places], self.message[places // self.trees.n_labels]]
        )
        of_node = np.repeat(weight, np.diff(self.offsets))
        factor = np.concatenate([of_node, -of_node])
        return mixture_entropy(q, factor, weight @ entropy)

    def renormalize(self, weight, *, n_jobs=None):
        """Derive all marginals from the ones that `state` has.

        Return sum_i weight[i] times the tied expectations, and the entropies.
        """
        entropy = np.empty(len(self.offsets) - 1)

        def run(begin, end):
            total = np.zeros(self.trees.n_tied)
            self._renormalize(begin, end, weight, total, entropy)
            return total

        totals = over_ranges(run, self.offsets, n_jobs)
        return np.sum(totals, axis=0), entropy

    def _renormalize(self, begin, end, weight, total, entropy):
        """Derive the marginals of graphs, add to the total and write the entropies.

        They derive from the marginals of each node given its separator.
        """
        _graph_marginals.renormalize(
            self.trees,
            begin,
            end,
            weight,
            self.table,
            self.message,
            self.node,
            self.tied,
            total,
            entropy,
        )
