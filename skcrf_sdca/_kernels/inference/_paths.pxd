"""The best paths of one chain: see _paths.pyx."""


cdef class KBestLists:
    cdef Py_ssize_t n, width
    cdef double[:, ::1] rows
    cdef double* reached                # (K * width,) the lists of a position
    cdef double* extended               # (K * width,) of the next position
    cdef long long[::1] origins         # (T * K * width,) of all positions
    cdef double[::1] front              # (K,)
    cdef long long[::1] head            # (K,)
    cdef double[::1] zeros              # (K,)

    cdef void merge(
        self, const double* added, Py_ssize_t stride, double* scores,
        long long* origins) noexcept nogil


cdef void best_lists(
    KBestLists lists, const double* node_scores, const double* transition,
    Py_ssize_t length, double* scores, int* paths) noexcept nogil
cdef int drawn(
    const double* weight, Py_ssize_t stride, Py_ssize_t n,
    double uniform) noexcept nogil
