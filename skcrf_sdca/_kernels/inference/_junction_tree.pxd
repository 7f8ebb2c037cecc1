"""Junction trees, and the factors of their cliques: see _junction_tree.pyx."""

from ._joined_nodes cimport JoinedNodes


cdef class JunctionTrees(JoinedNodes):
    # Of steps, one for each node, laid end to end.
    cdef const int[::1] node                # the node that is eliminated
    cdef const int[::1] parent              # the step of the clique above, -1 for none
    cdef const long long[::1] separator_bounds
    cdef const int[::1] separator           # nodes
    cdef const long long[::1] child_bounds
    cdef const int[::1] child               # steps
    cdef const long long[::1] exponent_bounds
    cdef const int[::1] exponent
    cdef const long long[::1] table_at
    cdef const long long[::1] message_at
    cdef readonly object clique_sizes       # (N,) numbers in the table of each step
    cdef const long long[::1] n_in_tables   # table_sizes
    cdef const long long[::1] n_messages    # message_sizes
    cdef Py_ssize_t most_rows               # of the table of one clique
    # Of edges, in the order of the steps that have them.
    cdef const long long[::1] edge_bounds
    cdef const int[::1] edge_axis
    cdef const unsigned char[::1] edge_leaves
    cdef const unsigned char[::1] is_narrow     # whether a step needs no table

    cdef Py_ssize_t length(self, Py_ssize_t i) noexcept nogil
    cdef Py_ssize_t n_axes(self, Py_ssize_t step) noexcept nogil


cdef class Cliques:
    cdef JunctionTrees trees
    cdef const double* tied                 # scores of pairs
    cdef bint is_finite                     # whether these are
    cdef double[::1] tables
    cdef double[::1] messages
    # Of kinds of edges, [from, to] and [to, from]; of an age, or of a turn.
    cdef double[::1] pair_scores
    cdef double[::1] pair_exps
    cdef double[::1] pair_sums
    cdef double[::1] peaks
    cdef double[::1] pair_spreads
    cdef long long[::1] has_scores
    cdef long long[::1] has_exps
    cdef long long[::1] has_sums
    cdef long long age
    cdef long long turn
    cdef Py_ssize_t[::1] summed             # an edge of each kind with sums
    cdef Py_ssize_t n_summed
    cdef Py_ssize_t[::1] strides
    cdef int[::1] digits
    cdef Py_ssize_t[::1] powers

    cdef void set_tied(self, const double* tied) noexcept nogil
    cdef void begin_graph(self) noexcept nogil
    cdef const double* scores_of(self, Py_ssize_t e, bint side) noexcept nogil
    cdef const double* exps_of(self, Py_ssize_t e, bint side) noexcept nogil
    cdef double* sums_of(self, Py_ssize_t e) noexcept nogil
    cdef Py_ssize_t rows(self, Py_ssize_t step) noexcept nogil
    cdef void set_child_strides(self, Py_ssize_t child, Py_ssize_t n) noexcept nogil
    cdef void set_edge_strides(self, Py_ssize_t e, Py_ssize_t n) noexcept nogil
    cdef Py_ssize_t next_row(self, Py_ssize_t row, Py_ssize_t n) noexcept nogil
    cdef void spread(
        self, const double* factor, Py_ssize_t step, bint multiplies,
        double* table) noexcept nogil
    cdef void collect(
        self, const double* table, Py_ssize_t step, double* factor) noexcept nogil
    cdef void write_table(
        self, Py_ssize_t i, Py_ssize_t step, const double* own, bint multiplies,
        double* table) noexcept nogil
    cdef double* message_of(self, Py_ssize_t step) noexcept nogil
