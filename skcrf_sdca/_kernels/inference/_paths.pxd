"""The best paths of one chain: see _paths.pyx."""

from ..math._transitions cimport TransitionLayout


cdef class KBestLists:
    cdef Py_ssize_t n, width
    cdef double[:, ::1] rows
    cdef double* reached                # (K * width,) the lists of a position
    cdef double* extended               # (K * width,) of the next position
    cdef long long[::1] origins         # (T * K * width,) of all positions
    cdef double[::1] front              # (K,)
    cdef long long[::1] head            # (K,)
    cdef double[::1] zeros              # (K,)
    # The label of each state, None if their numbers decide; the position of the lists.
    cdef const int[::1] label           # (K,)
    cdef Py_ssize_t position

    cdef Py_ssize_t first_of(
        self, const double* values, const long long* entries,
        Py_ssize_t n) noexcept nogil
    cdef bint precedes(self, long long one, long long other) noexcept nogil
    cdef void merge(
        self, const double* added, Py_ssize_t stride, double* scores,
        long long* origins) noexcept nogil
    cdef void begin(self) noexcept nogil
    cdef void extend(
        self, const double* transition, Py_ssize_t k, double* scores,
        long long* origins) noexcept nogil


cdef class ListsBesideFree(KBestLists):
    cdef TransitionLayout layout
    # The entries of all lists in falling order, as many as were asked for.
    cdef double[::1] value              # (K * width,)
    cdef long long[::1] entry           # (K * width,)
    cdef Py_ssize_t n_sorted
    cdef double[::1] left               # (K,) the largest that is not among them
    cdef long long[::1] next            # (K,) its entry
    # The labels before each label that few lead to, and none before others.
    cdef const long long[::1] bounds    # (K + 1,)
    cdef const int[::1] few             # (bounds[K],)
    # What may come before the label at hand, and the scores of the pairs.
    cdef int[::1] before                # (K,)
    cdef double[::1] added              # (K,)

    cdef Py_ssize_t gather(self, const double* transition, Py_ssize_t k) noexcept nogil
    cdef bint sort_up_to(self, Py_ssize_t r) noexcept nogil
    cdef Py_ssize_t free_from(self, Py_ssize_t r, Py_ssize_t k) noexcept nogil
    cdef bint is_before(
        self, Py_ssize_t r, double score, long long other) noexcept nogil


cdef void best_lists(
    KBestLists lists, const double* node_scores, const double* transition,
    Py_ssize_t length, double* scores, int* paths) noexcept nogil
cdef int drawn(
    const double* weight, Py_ssize_t stride, Py_ssize_t n,
    double uniform) noexcept nogil
