"""The graph as a Structure: passes over data, and the compiled kernel."""

import numpy as np

from skcrf_sdca._kernels.visits._tying import NoEnds
from skcrf_sdca._utils.memory import check_fits
from skcrf_sdca._utils.parallel import over_ranges
from skcrf_sdca._utils.ragged import split_rows
from skcrf_sdca.data.graphs import Edges
from skcrf_sdca.data.packed import PackedSequences
from skcrf_sdca.structures.graph.junction_tree import junction_trees
from skcrf_sdca.structures.graph.marginals import GraphMarginals
from skcrf_sdca.structures.graph.pairs import pair_places
from skcrf_sdca.structures.graph.parameters import GraphParameters
from skcrf_sdca.structures.graph.scores import GraphScores
from skcrf_sdca.structures.structure import Structure
from skcrf_sdca.structures.token_rows import CompiledRows


class Graph(CompiledRows, Structure):
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
    n_jobs, pairs, fixed
        As for `Structure`.

    Raises
    ------
    MemoryError
        If the weights, or the tables of a graph, do not fit into memory.
    """

    name = "graph"
    levels = frozenset({"argmax", "log_partition", "expect", "visit", "direct"})

    # What inference needs to know of the edges, and what it answers.
    arrange = staticmethod(junction_trees)
    scores_type: type[GraphScores] = GraphScores
    marginals_type: type[GraphMarginals] = GraphMarginals
    name_of_cliques = "cliques"
    # Why the scores have no n best labellings and draws, if they have none.
    no_distribution: str | None = None

    def __init__(self, data, n_labels, *, edges, directed=False, **options):
        super().__init__(data, n_labels, **options)
        self.edges, self.directed = edges, directed
        self.rows = self._feature_rows()
        n_edge_features = edges.features.shape[1]
        n_coef = n_labels * data.n_features
        if self.pairs is not None:
            n_coef = self.pairs.layout.size
        check_fits(
            8 * (n_coef + (5 * n_edge_features + 1) * n_labels**2),
            f"a model of {n_labels} labels, {data.n_features} features of nodes and "
            f"{n_edge_features} of edges",
            "join labels that are rare (are all values in y labels?) or take fewer "
            "features",
        )
        self.place = pair_places(n_labels, directed)
        self.trees, _ = self.arrange(data.offsets, edges, n_labels, self.place)

    @property
    def n_tied(self):
        """The number of weights of edges: pairs of labels times features of edges."""
        return self.trees.n_tied

    @property
    def sizes(self):
        """Axes: those of all structures, and C of all cliques."""
        return super().sizes | {"C": max(int(self.trees.table_sizes.sum()), 1)}

    @property
    def marginal_axes(self):
        """The axes of the arrays of `GraphMarginals.state`, letters of `sizes`."""
        return {"table": "C"}

    def new_parameters(self, w=None):
        """Return GraphParameters with the flat vector `w`, by default of zeros."""
        n_edge_features = self.trees.n_edge_features
        return GraphParameters(
            self.rows.n_features, n_edge_features, self.place, w, self.pairs
        )

    def log_counts(self):
        """Return the logarithm of the number of labellings of each graph."""
        return self.data.lengths * np.log(self.n_labels)

    def squared_radii_of_ties(self):
        """Return bounds as `Structure` does, from the sums of the edges' features."""
        features = np.minimum(abs(self.edges.features), 1e100)
        parts = split_rows(features, self.edges.offsets)
        return np.array([np.square(own.sum(axis=0)).sum() for own in parts])

    def _new_scores(self, local, tied, offsets, begin, end):
        return self.scores_type(self.trees, local, tied, offsets, begin)

    def vector_form(self):
        """Return the VectorForm; dual variables are those of the edges."""
        return super().vector_form()._replace(data=self.edges.ends)

    def check_weights(self, weights, argument):
        """Raise ValueError for weights of directed edges where pairs have no order."""
        pairs = weights["edge_coef"]
        if not self.directed and not np.array_equal(pairs, pairs.swapaxes(1, 2)):
            raise ValueError(
                f"{argument} has weights of edges with a direction; set directed=True, "
                "or take a model whose edges have none."
            )

    def parts(self, kept):
        """Return what is left of the graphs at the nodes to keep.

        Returns
        -------
        graphs : Graph
            Of each graph the nodes to keep, with the edges among these; graphs of which
            no node is left are left out.
        graph : ndarray of intp
            The graph that each is a part of.
        """
        n, all_edges = len(self.data), self.edges
        n_kept = np.diff(np.append(0, np.cumsum(kept))[self.offsets])
        # Where each node is among those of its graph that are kept.
        place = (
            np.cumsum(kept)
            - 1
            - np.repeat(np.cumsum(n_kept) - n_kept, self.data.lengths)
        )
        graph = np.repeat(np.arange(n), np.diff(all_edges.offsets))
        ends = all_edges.ends + self.offsets[graph, np.newaxis]
        left = kept[ends].all(axis=1)
        n_left = np.bincount(graph[left], minlength=n)
        (used,) = np.nonzero(n_kept)
        edges = Edges(
            np.append(0, np.cumsum(n_left[used])),
            place[ends[left]].astype(np.int32),
            all_edges.features[left],
        )
        graphs = type(self)(
            PackedSequences(self.data.X[kept], np.append(0, np.cumsum(n_kept[used]))),
            self.n_labels,
            edges=edges,
            directed=self.directed,
            n_jobs=self.n_jobs,
            pairs=self.pairs,
        )
        if self.fixed is not None:
            graphs.fixed = self.fixed.at(kept)
        return graphs, used

    def uniform_marginals(self, labels, smoothing, dtype):
        """Return uniform marginals, mixed with labels; their nodes are not set.

        ``smoothing`` in (0, 1] is the weight of the uniform ones; ``dtype`` is that of
        the marginals of cliques.
        """
        return self.marginals_type.smoothed(
            self.trees,
            self.offsets,
            labels,
            smoothing=smoothing,
            dtype=dtype,
            new=self.new_array,
        )

    def mix_marginals(self, marginals, scores_of, keep):
        """Replace marginals by keep times these, and 1 - keep times those of scores.

        Of cliques: the others follow from `GraphMarginals.renormalize`.
        ``scores_of(begin, end)`` returns the GraphScores of begin <= i < end.
        """

        def mix(begin, end):
            scores_of(begin, end).mix_into(marginals, keep)

        over_ranges(mix, self.offsets, self.n_jobs)

    def marginals_of(self, state, dtype):
        """Return a copy of the marginals that `GraphMarginals.state` returned."""
        marginals = self.marginals_type(self.trees, self.offsets, dtype, self.new_array)
        marginals.table[:] = state["table"]
        return marginals

    def size_of_marginals(self, dtype):
        """Return the bytes of marginals of this type, and of the buffers of a visit."""
        size, n_messages = np.dtype(dtype).itemsize, int(self.trees.message_sizes.sum())
        n_in_tables = int(self.trees.table_sizes.sum())
        largest = int(self.trees.table_sizes.max(initial=0))
        return size * n_in_tables + 8 * n_messages + (2 * size + 12) * largest

    def describe_marginals(self, dtype):
        """Return what `size_of_marginals` is the size of, for a message."""
        n_in_tables = int(self.trees.table_sizes.sum())
        cliques = self.name_of_cliques
        return f"{n_in_tables} marginals of the {cliques} of all graphs in {dtype}"

    def inference(self):
        """Return the compiled inference on all graphs."""
        return self.scores_type.inference_type(self.trees, self.offsets)

    def _tying(self):
        return NoEnds(self.n_labels)
