"""The graph as a Structure: passes over data, and the compiled kernel."""

import numpy as np

from skcrf_sdca._kernels._features import DistinctFeatures, FeatureRows
from skcrf_sdca._kernels._graph_structure import GraphStructure
from skcrf_sdca._kernels._graphs import add_labellings
from skcrf_sdca._utils.memory import check_fits
from skcrf_sdca.structures.graph.junction_tree import junction_trees
from skcrf_sdca.structures.graph.marginals import GraphMarginals
from skcrf_sdca.structures.graph.parameters import GraphParameters, pair_places
from skcrf_sdca.structures.structure import Potentials, Structure


class Graph(Structure):
    """Graphs: node scores, and scores of the pairs of labels that edges join.

    Inference is exact, by a junction tree of each graph.

    Parameters
    ----------
    data : PackedSequences
        The nodes.
    n_labels : int
    edges : Edges
    directed : bool, default=False
        Whether pairs of labels [from, to] have weights, or pairs without an order.
    n_jobs : int, default=None
        Threads of passes over all data.

    Raises
    ------
    MemoryError
        If the weights, or the tables of a graph, do not fit into memory.
    """

    name = "graph"
    levels = frozenset({"argmax", "log_partition", "expect", "visit", "direct"})

    def __init__(self, data, n_labels, *, edges, directed=False, n_jobs=None):
        super().__init__(data, n_labels, n_jobs=n_jobs)
        self.rows = FeatureRows(data.X)
        n_edge_features = edges.features.shape[1]
        check_fits(
            8 * n_labels * (data.n_features + (5 * n_edge_features + 1) * n_labels),
            f"a model of {n_labels} labels, {data.n_features} features of nodes and "
            f"{n_edge_features} of edges",
            "join labels that are rare (are all values in y labels?) or take fewer "
            "features",
        )
        self.place = pair_places(n_labels, directed)
        self.trees, _ = junction_trees(data.offsets, edges, n_labels, self.place)

    @property
    def n_tied(self):
        """Pairs of labels with a weight, times the features of edges."""
        return self.trees.n_tied

    @property
    def sizes(self):
        """Axes: n graphs, T nodes, K labels, P tied potentials."""
        return {
            "n": len(self.data),
            "T": self.data.n_positions,
            "K": self.n_labels,
            "P": self.n_tied,
        }

    @property
    def potential_axes(self):
        """The axes of Potentials, letters of `sizes`."""
        return "TK", "nP"

    def distinct_features(self):
        """Return the distinct features of each graph, as visits need them."""
        return DistinctFeatures(self.rows, self.offsets)

    def in_partition(self, features, partition):
        """Return the features with the rows of local weights, and None, for no pairs.

        Parameters
        ----------
        features : DistinctFeatures
            Changed.
        partition : FeaturePartition
        """
        rows = FeatureRows(partition.renumber(self.data.X))
        tiers = partition.n_frequent, len(partition.shared)
        features.renumber(rows, partition.row, *tiers)
        return features, None

    def new_parameters(self, w=None):
        """Return GraphParameters with the flat vector `w`, by default of zeros."""
        n_edge_features = self.trees.n_edge_features
        return GraphParameters(self.rows.n_features, n_edge_features, self.place, w)

    def log_counts(self):
        """Return the logarithm of the number of labellings of each graph."""
        return self.data.lengths * np.log(self.n_labels)

    def scores(self, parameters, begin, end):
        """Return the GraphScores of the graphs begin <= i < end."""
        return parameters.scores(self.rows, self.trees, self.offsets, begin, end)

    def zero_potentials(self, dtype):
        """Return Potentials of zeros."""
        return Potentials(
            np.zeros((self.data.n_positions, self.n_labels), dtype=dtype),
            np.zeros((len(self.data), self.n_tied), dtype=dtype),
        )

    def label_potentials(self, labels):
        """Return the expectations of the distribution that is certain of labels."""
        certain = self.zero_potentials(np.float64)
        certain.local[np.arange(len(labels)), labels] = 1.0
        n = len(self.data)
        add_labellings(self.trees, 0, n, labels, np.ones(n), certain.tied)
        return certain

    def tied_labels(self, labels, weight):
        """Return sum_i weight[i] times the tied potentials of labels."""
        total = np.zeros((1, self.n_tied))
        add_labellings(self.trees, 0, len(self.data), labels, weight, total)
        return total[0]

    def add_features(self, parameters, begin, end, factor, local):
        """Add factor[i] times the features of node changes of begin <= i < end."""
        parameters.weights().add_changes(
            self.rows, self.offsets, begin, end, factor, local
        )

    def add_tied_features(self, parameters, tied):
        """Add the features of a sum of edge changes."""
        parameters.tied += tied

    def uniform_marginals(self, labels, smoothing, dtype):
        """Return uniform marginals, mixed with labels; their nodes are not set.

        ``smoothing`` in (0, 1] is the weight of the uniform ones; ``dtype`` is that of
        the marginals of cliques.
        """
        return GraphMarginals.smoothed(
            self.trees, self.offsets, labels, smoothing=smoothing, dtype=dtype
        )

    def check_marginals_fit(self, dtype):
        """Raise MemoryError if marginals of this type clearly do not fit."""
        size, n_messages = np.dtype(dtype).itemsize, int(self.trees.message_sizes.sum())
        n_in_tables = int(self.trees.table_sizes.sum())
        largest = int(self.trees.table_sizes.max(initial=0))
        check_fits(
            size * n_in_tables + 8 * n_messages + (2 * size + 12) * largest,
            f"the dual variables of SDCA, {n_in_tables} marginals of the cliques of "
            "all graphs,",
            'solver="oeg" needs a few numbers for each graph, not those of all cliques',
        )

    def kernel(self, weights, features, targets, cost=None):
        """Return the compiled structure of one thread, which changes weights."""
        return GraphStructure(
            features, weights, self.trees, self.offsets, targets, cost=cost
        )
