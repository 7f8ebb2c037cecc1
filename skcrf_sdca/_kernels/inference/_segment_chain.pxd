"""Inference on the segmentations of one sequence: see _segment_chain.pyx."""

from libc.math cimport INFINITY

from ..features._segment_rows cimport SegmentRows


cdef class SegmentWorkspace:
    cdef readonly Py_ssize_t n_labels       # L
    cdef readonly Py_ssize_t n_types        # K
    cdef readonly Py_ssize_t most           # M, the largest length of a segment
    cdef readonly Py_ssize_t n_tied         # K * K + K * M + F * K
    cdef Py_ssize_t n_counts                # K * K + K * M
    cdef SegmentRows rows                   # None without features of segments
    # The labels of the tokens of a segment, (K,); -1 where there is none.
    cdef const int[::1] single
    cdef const int[::1] first
    cdef const int[::1] inside
    cdef const int[::1] last
    cdef const int[::1] label_types         # (L,)
    cdef const unsigned char[:, ::1] joins  # (L, L)
    cdef const int[::1] longest             # (K,) the largest length of each type
    cdef const double[::1] log_mask         # (n_tied,) 0, or -inf where forbidden
    # Of the scores that were set last.
    cdef double[::1] transition             # (K * K,) -inf where forbidden
    cdef double[::1] exp_transition         # (K * K,)
    cdef double transition_max
    cdef double transition_spread
    cdef double[::1] lengths                # (K * M,) of each type the longest first
    # Of the sequence that was set last, if there are features of segments.
    cdef Py_ssize_t token                   # its first one, of all
    cdef double[::1] scores                 # (T * M, K) what features give to segments
    cdef double[::1] segments               # (T * M, K) posteriors of segments
    # Of the sequence that was read last.
    cdef double[::1] reached                # (T, K) of segments that begin at t
    cdef double[::1] ended                  # (T + 1, K) of segments that end before t
    cdef double[::1] opened                 # (K, T)
    cdef double[::1] passed                 # (K, T + 1) sums of the inner scores
    cdef double[::1] drops                  # (T,) taken from the scores of a token
    cdef int[::1] barrier                   # (K, T + 1)
    cdef double[::1] scaled                 # (T, K) exponentials of `ended`
    cdef double[::1] sums                   # (T, K) the sums that `reached` is a log of
    cdef unsigned char[::1] in_logs         # (T,) there are no such sums
    # Posteriors.
    cdef double[::1] ending                 # (T + 1, K) of a segment that ends before t
    cdef double[::1] beginning              # (T, K) of a segment that begins at t
    cdef double[::1] within                 # (K, T + 1) its changes at inner tokens
    cdef double[::1] outer                  # (K * K,)
    # Buffers.
    cdef double[::1] terms                  # (K * (M + 1),)
    cdef double[::1] exps
    cdef double[::1] shifts                 # (K,)
    cdef Py_ssize_t[::1] counts             # (K,)
    cdef Py_ssize_t[::1] begins             # (K,)
    cdef Py_ssize_t stride                  # T + 1 of the longest sequence

    cdef void set_tied(self, const double* tied) noexcept nogil
    cdef void set_sequence(
        self, Py_ssize_t first, Py_ssize_t length, const double* tied) noexcept nogil
    cdef void add_row(
        self, Py_ssize_t begin, Py_ssize_t end, Py_ssize_t k, double step,
        double* tied) noexcept nogil
    cdef double row_score(
        self, Py_ssize_t begin, Py_ssize_t end, Py_ssize_t k,
        const double* tied) noexcept nogil
    cdef void add_features(
        self, Py_ssize_t length, double step, double* tied) noexcept nogil


cdef inline double at(const double* row, int label) noexcept nogil:
    """Return the score of a label, -inf if there is no such label."""
    return row[label] if label >= 0 else -INFINITY


cdef inline Py_ssize_t first_maximum(const double* x, Py_ssize_t n) noexcept nogil:
    """Return where x is largest, the first of equals."""
    cdef Py_ssize_t i, best = 0
    for i in range(1, n):
        if x[i] > x[best]:
            best = i
    return best


cdef void fill(
    SegmentWorkspace work, const double* local, Py_ssize_t length,
    bint best) noexcept nogil
cdef Py_ssize_t write_terms(
    SegmentWorkspace work, const double* local, Py_ssize_t end, Py_ssize_t k,
    double* terms, Py_ssize_t* begin) noexcept nogil
cdef double segment_forward(
    SegmentWorkspace work, const double* local, Py_ssize_t length) noexcept nogil
cdef double segment_expectations(
    SegmentWorkspace work, const double* local, Py_ssize_t length, double* out,
    double* tied) noexcept nogil
cdef double segment_probability(
    SegmentWorkspace work, const double* local, Py_ssize_t begin, Py_ssize_t end,
    Py_ssize_t k) noexcept nogil
