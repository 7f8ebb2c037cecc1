"""Inference on one chain: see _chain.pyx."""


cdef class Workspace:
    cdef readonly Py_ssize_t n_labels
    cdef readonly Py_ssize_t max_length
    cdef double* arena
    cdef double* emission            # (T, K) exp(node_scores - row maximum)
    cdef double* forward             # (T, K) normalised
    cdef double* message             # (T, K) emission * backward / scale
    cdef double* scale               # (T,)
    cdef double* row                 # (K,)
    cdef double* exp_transition      # (K, K) exp(transition - transition_max)
    cdef double* exp_transition_t    # (K, K) its transpose
    cdef double* edge                # (K, K)
    cdef double* masked_transition   # (K, K) transition + log mask
    cdef double* first               # (K,) first row of node scores + log mask
    cdef double* last                # (K,) last row of node scores + log mask
    cdef const double* transition    # (K, K) borrowed, or masked_transition
    cdef double transition_max
    cdef double transition_spread    # of the allowed ones
    cdef double largest_spread       # that the scaled domain bears
    cdef bint is_constrained         # whether anything is forbidden
    cdef const double[::1] log_mask  # 0 or -inf: transitions (K, K), starts, ends (K,)
    cdef bint in_logs                # whether forward and message are logarithms
    cdef bint log_node               # whether node marginals are wanted as logarithms

    cdef void set_transition(self, const double* transition) noexcept nogil
    cdef void keep_transition(self, const double* transition) noexcept nogil
    cdef void take_ends(
        self, const double* node_scores, Py_ssize_t length) noexcept nogil


cdef double log_partition(
    Workspace work, const double* node_scores, Py_ssize_t length) noexcept nogil

cdef double forward_backward(
    Workspace work, const double* node_scores, Py_ssize_t length,
    double* node, double* edge, double* edge_sum) noexcept nogil

cdef void write_edge(Workspace work, Py_ssize_t t, double* edge) noexcept nogil

cdef double viterbi(
    Workspace work, const double* node_scores, Py_ssize_t length,
    int* path) noexcept nogil
