"""Graphs whose labels have scores of nodes and of edges, however these are summed.

Owns the edges of all graphs, their features, and the scores of labellings. An
`EdgeInference` also keeps the marginals of all graphs for SDCA: those of cliques and of
separators, whatever these are.
"""

from libc.string cimport memset

from ..math._line_search cimport Part, Segment
from ..math._vecmath cimport addressable, ops, vaim
from ._inference cimport (
    DirectInference,
    KeptPart,
    Values,
    is_out_of_reach,
    part_of,
)

import numpy as np


cdef class JoinedNodes:
    """The edges of graphs laid end to end; not changed.

    Parameters
    ----------
    n_labels : int
    offsets, edge_offsets : ndarrays of shape (n + 1,), int64
        Where the nodes, and the edges, of each graph begin.
    edge_from, edge_to : ndarrays of shape (E,), int32
        Nodes, counted in their graph.
    edge_features : ndarray of shape (E, d_e)
    edge_kind : tuple
        Numbers of edges (E,) int32, equal for equal features; how many a graph has at
        most; and whether all graphs share the numbers, or each graph has its own.
    place : ndarray of shape (K, K), int32
        The number of the weight of each pair of labels [from, to].

    Attributes
    ----------
    table_sizes, message_sizes : ndarrays of shape (n,), int64
        How many marginals of cliques, and of separators, each graph has.
    largest_row : float
        The largest sum of absolute features of an edge.
    """

    def __init__(
        self, n_labels, offsets, edge_offsets, edge_from, edge_to, edge_features,
        edge_kind, place,
    ):
        self.n_labels = n_labels
        self.offsets, self.edge_offsets = offsets, edge_offsets
        self.edge_from, self.edge_to = edge_from, edge_to
        self.edge_features = edge_features
        self.n_edge_features = edge_features.shape[1]
        self.largest_row = np.abs(edge_features).sum(axis=1).max(initial=0.0)
        self.edge_kind, self.most_kinds, self.shares_kinds = edge_kind
        self.place = place.reshape(-1)
        self.n_pairs = int(place.max()) + 1
        self.n_tied = self.n_edge_features * self.n_pairs

    def edge_bounds_of(self, begin, end):
        """Return where the edges of each of the graphs begin <= i < end begin."""
        bounds = np.asarray(self.edge_offsets)[begin:end + 1]
        return bounds - bounds[0]

    cdef double edge_score(
        self, Py_ssize_t e, const int* path, const double* tied
    ) noexcept nogil:
        """Return the score of the labels at both ends of an edge."""
        cdef Py_ssize_t f
        cdef double value = 0.0
        cdef const double* weight = tied + self.place[
            path[self.edge_from[e]] * self.n_labels + path[self.edge_to[e]]
        ]
        for f in range(self.n_edge_features):
            value += self.edge_features[e, f] * weight[f * self.n_pairs]
        return value

    cdef void add_edge(
        self, Py_ssize_t e, const int* path, double step, double* tied
    ) noexcept nogil:
        """Add step times the features of the labels at both ends of an edge."""
        cdef Py_ssize_t f
        cdef double* out = tied + self.place[
            path[self.edge_from[e]] * self.n_labels + path[self.edge_to[e]]
        ]
        for f in range(self.n_edge_features):
            out[f * self.n_pairs] += step * self.edge_features[e, f]


cdef class EdgeInference(DirectInference):
    """Inference on graphs that has its marginals of nodes and edges from a subclass.

    Parameters
    ----------
    joined : JoinedNodes
    offsets : ndarray of shape (n + 1,), int64
    first_graph : int
        The graph of ``joined`` that is item 0.
    begin, end : int
        As for `Inference`.
    """

    def __init__(self, JoinedNodes joined, offsets, first_graph, begin, end):
        super().__init__(offsets, joined.n_labels, joined.n_tied, begin, end)
        self.joined, self.first_graph = joined, first_graph

    def keep_marginals(self, marginals):
        """Take the marginals of all graphs, for `set_direction` and `apply_step`.

        Parameters
        ----------
        marginals : GraphMarginals
            Changed in place.
        """
        most = self.joined.table_sizes.max(initial=1)
        self.keeps = True
        self.node, self.tied_kept = marginals.node, addressable(marginals.tied)
        self.cliques = KeptPart(marginals.table, most)
        self.separators = KeptPart(
            marginals.message, self.joined.message_sizes.max(initial=1)
        )
        self.clique_bounds, self.separator_bounds = marginals.bounds
        self.unused = np.zeros(most)

    cdef void take(self, Py_ssize_t i) noexcept nogil:
        DirectInference.take(self, i)
        self.graph = self.first_graph + i

    cdef double labels_score(
        self, const int* labels, Values scores
    ) noexcept nogil:
        cdef Py_ssize_t t, e
        cdef double value = 0.0
        for t in range(self.length):
            value += scores.local[t * self.n_labels + labels[t]]
        for e in range(
            self.joined.edge_offsets[self.graph],
            self.joined.edge_offsets[self.graph + 1],
        ):
            value += self.joined.edge_score(e, labels, scores.tied)
        return value

    cdef void add_tied_labels(
        self, const int* labels, double step, double* tied
    ) noexcept nogil:
        cdef Py_ssize_t e
        for e in range(
            self.joined.edge_offsets[self.graph],
            self.joined.edge_offsets[self.graph + 1],
        ):
            self.joined.add_edge(e, labels, step, tied)

    cdef double expect(self, Values scores, Values out) noexcept nogil:
        if out.tied != NULL:
            memset(out.tied, 0, self.n_tied * sizeof(double))
        return self.add_expected(scores, 1.0, out, NULL)

    cdef Values kept(self) noexcept nogil:
        """Return the expectations of the graph as they are stored."""
        return Values(
            &self.node[self.first, 0], &self.tied_kept[self.item, 0]
        )

    cdef double aim(
        self, const double* tables, const double* messages, Values scores,
        Values expected, Segment* segment, Values change
    ) noexcept nogil:
        """Write target and direction of cliques and separators; return their product.

        ``tables`` and ``messages`` are the marginals to move to, and ``change.tied`` is
        their tied expectations before. Return <marginals, scores>.
        """
        cdef Py_ssize_t p, first = self.clique_bounds[self.item]
        cdef Values kept = self.kept()
        cdef Part* cliques = &segment.cliques
        cdef Part* separators = &segment.separators
        cdef double lost = 0.0
        cliques[0] = part_of(
            self.cliques, first, self.clique_bounds[self.item + 1] - first
        )
        first = self.separator_bounds[self.item]
        separators[0] = part_of(
            self.separators, first, self.separator_bounds[self.item + 1] - first
        )
        for p in range(self.n_tied):
            change.tied[p] -= kept.tied[p]
        for p in range(self.n_local):
            change.local[p] = expected.local[p] - kept.local[p]
        vaim(
            messages, separators.p, messages, separators.n, separators.target,
            <float*> separators.ratio, &self.unused[0], &lost,
        )
        lost = 0.0
        vaim(
            tables, cliques.p, tables, cliques.n, cliques.target,
            <float*> cliques.ratio, &self.unused[0], &lost,
        )
        segment.out_of_reach, segment.constant = is_out_of_reach(lost), 0.0
        return (
            ops.dot(kept.local, scores.local, self.n_local)
            + ops.dot(kept.tied, scores.tied, self.n_tied)
        )

    cdef void apply_step(self, double step, Values change) noexcept nogil:
        """Store the moved marginals of the graph."""
        cdef Values kept = self.kept()
        cdef Py_ssize_t first = self.clique_bounds[self.item]
        self.cliques.keep_moved(first, self.clique_bounds[self.item + 1] - first)
        first = self.separator_bounds[self.item]
        self.separators.keep_moved(
            first, self.separator_bounds[self.item + 1] - first
        )
        ops.axpy(step, change.local, kept.local, self.n_local)
        ops.axpy(step, change.tied, kept.tied, self.n_tied)
