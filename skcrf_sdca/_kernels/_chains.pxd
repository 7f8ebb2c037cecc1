"""What loops over many chains share: see _chains.pyx."""

from ._chain cimport Workspace
from ._transitions cimport TransitionLayout


cdef class ChainScores:
    cdef readonly object node_scores
    cdef readonly object transition
    cdef readonly object offsets
    cdef readonly object constraints
    cdef readonly TransitionLayout layout
    cdef const double* scores
    cdef const double[::1] between      # one number for each pair of labels
    cdef const long long[::1] bounds
    cdef readonly Py_ssize_t n_labels

    cdef double score_between(self, Py_ssize_t j, Py_ssize_t k) noexcept nogil
    cdef const double* row(self, Py_ssize_t i) noexcept nogil
    cdef Py_ssize_t length(self, Py_ssize_t i) noexcept nogil
    cdef Workspace workspace(self, Py_ssize_t begin, Py_ssize_t end)
