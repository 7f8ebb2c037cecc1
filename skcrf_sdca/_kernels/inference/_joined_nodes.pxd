"""Edges of graphs and the scores of their labels: see _joined_nodes.pyx."""

from ..math._line_search cimport Segment
from ._inference cimport DirectInference, KeptPart, Values


cdef class JoinedNodes:
    cdef readonly Py_ssize_t n_labels
    cdef readonly Py_ssize_t n_edge_features
    cdef readonly Py_ssize_t n_pairs        # pairs of labels with weights of their own
    cdef readonly Py_ssize_t n_tied         # n_edge_features * n_pairs
    cdef const long long[::1] offsets
    cdef const long long[::1] edge_offsets
    cdef const int[::1] edge_from
    cdef const int[::1] edge_to
    cdef const double[:, ::1] edge_features
    cdef const int[::1] edge_kind           # equal for equal features
    cdef readonly Py_ssize_t most_kinds
    cdef bint shares_kinds                  # whether all graphs share the kinds
    cdef readonly double largest_row
    cdef const int[::1] place               # (K * K,) of a pair of labels
    cdef readonly object table_sizes        # (n,) numbers in the tables of each graph
    cdef readonly object message_sizes

    cdef double edge_score(
        self, Py_ssize_t e, const int* path, const double* tied) noexcept nogil
    cdef void add_edge(
        self, Py_ssize_t e, const int* path, double step, double* tied) noexcept nogil


cdef class EdgeInference(DirectInference):
    cdef JoinedNodes joined
    cdef Py_ssize_t first_graph     # the graph of `joined` that is item 0
    cdef Py_ssize_t graph           # that was taken last, of `joined`
    # Marginals of all graphs, for SDCA.
    cdef bint keeps                 # whether there are any
    cdef double[:, ::1] node
    cdef double[:, ::1] tied_kept
    cdef KeptPart cliques
    cdef KeptPart separators
    cdef const long long[::1] clique_bounds
    cdef const long long[::1] separator_bounds
    cdef double[::1] unused         # directions, which the nodes and pairs sum

    cdef Values kept(self) noexcept nogil
    cdef double aim(
        self, const double* tables, const double* messages, Values scores,
        Values expected, Segment* segment, Values change) noexcept nogil
