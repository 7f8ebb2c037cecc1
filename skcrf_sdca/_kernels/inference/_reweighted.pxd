"""Sums over graphs by reweighted trees: see _reweighted.pyx."""

from ._joined_nodes cimport JoinedNodes


cdef class ReweightedGraphs(JoinedNodes):
    # Of steps, one for each node, laid end to end.
    cdef const int[::1] node                # that the step sums over
    cdef const long long[::1] edge_bounds   # the edges to nodes of later steps
    # Of nodes.
    cdef const double[::1] counting         # how often H_v counts, beside the edges
    cdef const long long[::1] marginal_at   # in the tables, or messages, of the graph
    # Of edges, in the order of the steps.
    cdef const int[::1] first_end           # node of the earlier step
    cdef const int[::1] last_end
    cdef const unsigned char[::1] leaves    # whether it goes from the earlier step
    cdef const double[::1] appearance
    cdef readonly double[:, ::1] turns      # (E, K), see below
    cdef readonly object constants          # (n,) of the entropies
    cdef const double[::1] constant
    cdef Py_ssize_t most_edges              # out of a node
    cdef public int most_sweeps


cdef class Sweeps:
    cdef ReweightedGraphs graphs
    cdef const double* tied
    cdef double[::1] inward                 # (V, K) with all messages from earlier
    cdef double[::1] pairs                  # (E, K, K)
    cdef double[::1] before                 # (E, K) turns before the last sweep
    cdef double[::1] tables
    cdef double[::1] messages
    # Of one step, or one edge.
    cdef double[::1] total
    cdef double[::1] row
    cdef double[::1] sums
    cdef double[::1] shares
    # Of kinds of edges, of an age.
    cdef double[::1] pair_scores            # over the appearance of the edge
    cdef double[::1] pair_exps
    cdef double[::1] pair_sums
    cdef double[::1] peaks
    cdef double[::1] spreads
    cdef long long[::1] has_scores
    cdef long long[::1] has_sums
    cdef Py_ssize_t[::1] summed
    cdef long long age
    cdef long long turn

    cdef void set_tied(self, const double* tied) noexcept nogil
    cdef void begin_graph(self) noexcept nogil
    cdef const double* scores_of(self, Py_ssize_t e) noexcept nogil
    cdef double settle(
        self, Py_ssize_t i, const double* local, double* node) noexcept nogil
    cdef double sum_up(self, Py_ssize_t i, const double* local) noexcept nogil
    cdef double log_sum(self, const double* values) noexcept nogil
    cdef double sum_edge(self, Py_ssize_t e, double* pair) noexcept nogil
    cdef double sum_wide_edge(
        self, const double* scores, double* pair) noexcept nogil
    cdef double sum_down(self, Py_ssize_t i, double* node) noexcept nogil
    cdef double turn_edges(
        self, Py_ssize_t step, const double* node) noexcept nogil
    cdef void add_turns(self, Py_ssize_t step, double* out) noexcept nogil
    cdef double halve_turns(
        self, Py_ssize_t i, const double* local, double bound) noexcept nogil
    cdef void join(self, Py_ssize_t i, const double* node) noexcept nogil
    cdef double entropy(self, Py_ssize_t i, const double* node) noexcept nogil
    cdef double inner(
        self, Py_ssize_t i, const double* node, const double* local) noexcept nogil
    cdef void add_tied(
        self, Py_ssize_t i, double weight, double* out) noexcept nogil
    cdef void write_parts(self, Py_ssize_t i, const double* node) noexcept nogil


cdef void make_consistent(
    double* pair, const double* first, const double* last, Py_ssize_t n,
    double* sums) noexcept nogil
