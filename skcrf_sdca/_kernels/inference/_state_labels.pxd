"""The labels of states, which order paths of equal scores: see _state_labels.pyx."""

from ._chain cimport Workspace


cdef class StateLabels:
    cdef const int[::1] label           # (K,)
    # States that the best paths may have at a position, and at the one before.
    cdef int[::1] kept                  # (K,)
    cdef int[::1] before                # (K,)

    cdef void order_path(
        self, Workspace work, Py_ssize_t length, int* path) noexcept nogil
    cdef int only_kept(self, Py_ssize_t n_kept) noexcept nogil
    cdef Py_ssize_t begin(
        self, const double* last, double best, Py_ssize_t n) noexcept nogil
    cdef Py_ssize_t step_back(
        self, Workspace work, Py_ssize_t t, Py_ssize_t n_kept) noexcept nogil
    cdef Py_ssize_t keep_if_lowest(
        self, Py_ssize_t state, Py_ssize_t n_found) noexcept nogil
    cdef int successor(
        self, Workspace work, Py_ssize_t state, int label) noexcept nogil
