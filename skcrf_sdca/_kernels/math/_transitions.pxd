"""Which transitions exist, and where their numbers are: see _transitions.pyx."""

from ._vecmath cimport skcrf_blocks

# Where a pair is that has no number: see `TransitionLayout.place`.
cdef enum:
    FORBIDDEN = -1
    FREE = -2


cdef class TransitionLayout:
    cdef readonly Py_ssize_t n_labels
    cdef readonly Py_ssize_t size               # pairs of labels
    cdef readonly Py_ssize_t buffer_size        # of the buffers of sums
    cdef readonly bint is_dense
    cdef readonly bint without_scores           # all scores of the pairs are 0
    cdef readonly bint has_free                 # other pairs are allowed, of score 0
    # The labels of each pair; None of all pairs.
    cdef const int[::1] from_labels             # (size,)
    cdef const int[::1] to_labels               # (size,)
    cdef skcrf_blocks blocks
    cdef object arrays                          # owners of what blocks points to
    # (K, 4): the first predecessor in blocks.before, how many there are, the first
    # pair, and how far apart the pairs are.
    cdef const long long[:, ::1] origins
    cdef const int[:, ::1] places               # (K, K), -1 for no pair; None if dense

    cdef Py_ssize_t place(self, Py_ssize_t j, Py_ssize_t k) noexcept nogil
    cdef void forward(
        self, const double* row, const double* matrix, const double* excess,
        double* buffer, double* out) noexcept nogil
    cdef void backward(
        self, const double* column, const double* matrix, const double* derived,
        double* buffer, double* out) noexcept nogil
    cdef void set_excess(self, const double* matrix, double* excess) noexcept nogil
    cdef void set_transpose(self, const double* matrix, double* derived) noexcept nogil
    cdef void scale(
        self, const double* left, const double* matrix, const double* right,
        double* buffer, double* out) noexcept nogil
    cdef void add_outer(
        self, const double* left, const double* right, Py_ssize_t count, double* buffer,
        double* out) noexcept nogil
    cdef void log_scale(
        self, const double* left, const double* matrix, const double* right,
        double* out) noexcept nogil
    cdef void log_sums(
        self, const double* added, const double* matrix, bint to, double* buffer,
        double* out) noexcept nogil
    cdef void best(
        self, const double* row, const double* matrix, double* buffer,
        double* out) noexcept nogil
    cdef int origin(
        self, const double* row, const double* matrix, Py_ssize_t k,
        double reached) noexcept nogil


cdef void share_forward(
    const skcrf_blocks* blocks, const double* row, double* out) noexcept nogil
cdef void share_backward(
    const skcrf_blocks* blocks, const double* column, double* out) noexcept nogil
cdef void share_best(
    const skcrf_blocks* blocks, const double* row, double* out) noexcept nogil
