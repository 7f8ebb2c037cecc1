"""What loops over many chains share: see _chains.pyx."""

from ._chain cimport Workspace


cdef class ChainScores:
    cdef readonly object node_scores
    cdef readonly object transition
    cdef readonly object offsets
    cdef readonly object constraints
    cdef const double* scores
    cdef const double[:, ::1] between
    cdef const long long[::1] bounds
    cdef Py_ssize_t n_labels

    cdef const double* row(self, Py_ssize_t i) noexcept nogil
    cdef Py_ssize_t length(self, Py_ssize_t i) noexcept nogil
    cdef Workspace workspace(self, Py_ssize_t begin, Py_ssize_t end)
