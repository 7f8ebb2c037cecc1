"""Sum-product and max-product on junction trees: see _junction_tree.pyx."""


cdef class JunctionTrees:
    cdef readonly Py_ssize_t n_labels
    cdef readonly Py_ssize_t n_edge_features
    cdef readonly Py_ssize_t n_pairs        # pairs of labels with weights of their own
    cdef readonly Py_ssize_t n_tied         # n_edge_features * n_pairs
    cdef const long long[::1] offsets
    cdef const long long[::1] edge_offsets
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
    cdef readonly object table_sizes        # (n,) numbers in the tables of each graph
    cdef readonly object message_sizes
    cdef readonly object clique_sizes       # (N,) numbers in the table of each step
    cdef const long long[::1] n_in_tables   # table_sizes
    cdef const long long[::1] n_messages    # message_sizes
    cdef Py_ssize_t most_rows               # of the table of one clique
    # Of edges, in the order of the steps that have them.
    cdef const long long[::1] edge_bounds
    cdef const int[::1] edge_from
    cdef const int[::1] edge_to
    cdef const int[::1] edge_axis
    cdef const unsigned char[::1] edge_leaves
    cdef const double[:, ::1] edge_features
    cdef readonly double largest_row
    cdef const int[::1] place               # (K * K,) of a pair of labels

    cdef Py_ssize_t length(self, Py_ssize_t i) noexcept nogil
    cdef Py_ssize_t n_axes(self, Py_ssize_t step) noexcept nogil
    cdef double edge_score(
        self, Py_ssize_t e, const int* path, const double* tied) noexcept nogil
    cdef void add_edge(
        self, Py_ssize_t e, const int* path, double step, double* tied) noexcept nogil


cdef class Workspace:
    cdef JunctionTrees trees
    cdef double[::1] tables
    cdef double[::1] messages
    cdef double[::1] raw
    cdef int[::1] best
    cdef double[::1] pair
    cdef double[::1] scores
    cdef double[::1] totals
    cdef Py_ssize_t[::1] strides
    cdef int[::1] digits
    cdef Py_ssize_t[::1] powers

    cdef void set_tied(self, const double* tied) noexcept nogil
    cdef Py_ssize_t rows(self, Py_ssize_t step) noexcept nogil
    cdef void set_child_strides(self, Py_ssize_t child, Py_ssize_t n) noexcept nogil
    cdef void set_edge_strides(self, Py_ssize_t e, Py_ssize_t n) noexcept nogil
    cdef Py_ssize_t next_row(self, Py_ssize_t row, Py_ssize_t n) noexcept nogil
    cdef void spread(
        self, const double* factor, Py_ssize_t step, double* table) noexcept nogil
    cdef void collect(
        self, const double* table, Py_ssize_t step, double* factor) noexcept nogil
    cdef void write_raw(
        self, Py_ssize_t i, Py_ssize_t step, const double* local) noexcept nogil
    cdef double sum_up(self, Py_ssize_t i, const double* local) noexcept nogil
    cdef void sum_down(
        self, Py_ssize_t i, double* local, double* edges) noexcept nogil
    cdef void add_tied(self, double factor, double* tied) noexcept nogil
    cdef double entropy(self, Py_ssize_t i) noexcept nogil
    cdef double maximise(
        self, Py_ssize_t i, const double* local, int* path) noexcept nogil
