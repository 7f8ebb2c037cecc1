"""Inference on one chain: see _chain.pyx."""

from ..math._transitions cimport TransitionLayout


cdef class Workspace:
    cdef readonly Py_ssize_t n_labels
    cdef readonly Py_ssize_t max_length
    cdef double* arena
    cdef double* emission            # (T, K) exp(node_scores - row maximum)
    cdef double* forward             # (T, K) normalised
    cdef double* message             # (T, K) emission * backward / scale
    cdef double* scale               # (T,)
    cdef double* row                 # (K,)
    cdef double* buffer              # of the layout's sums
    cdef double* first               # (K,) first row of node scores + log mask
    cdef double* last                # (K,) last row of node scores + log mask
    # One number for each pair of labels: (K, K) if these are all.
    cdef readonly TransitionLayout layout
    cdef Py_ssize_t n_pairs
    # exp(transition - transition_max); beside free pairs there is one number more, of
    # these. Derived from it: its transpose, if these are all pairs, or what it is above
    # that number.
    cdef double* exp_transition
    cdef double* derived
    cdef bint is_transposed          # whether the transpose has been made
    cdef double* edge
    cdef double* masked_transition   # transition + log mask
    cdef const double* transition    # borrowed, or masked_transition
    cdef double transition_max
    cdef double transition_spread    # of the allowed ones
    cdef double least_product        # of other numbers that the scaled domain bears
    cdef bint is_constrained         # whether anything is forbidden
    cdef const double[::1] log_mask  # 0 or -inf: starts, ends (K,), pairs
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

cdef void write_edge_matrix(
    Workspace work, Py_ssize_t t, double* edge) noexcept nogil

cdef void write_origins(
    Workspace work, Py_ssize_t t, Py_ssize_t k, double* out) noexcept nogil

cdef double viterbi(
    Workspace work, const double* node_scores, Py_ssize_t length,
    int* path) noexcept nogil
