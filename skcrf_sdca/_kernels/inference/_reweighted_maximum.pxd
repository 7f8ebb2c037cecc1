"""Labellings of high score, and upper bounds: see _reweighted_maximum.pyx."""

from ._reweighted cimport ReweightedGraphs, Sweeps


cdef class Maximiser:
    cdef Sweeps sweeps
    cdef ReweightedGraphs graphs
    cdef double[::1] inward                 # (V, K) scores with messages from earlier
    cdef double[::1] up                     # (E, K) messages to later nodes
    cdef double[::1] down                   # (E, K) messages to earlier nodes
    cdef double[::1] total                  # (V, K)
    cdef int[::1] labels
    cdef double bound                       # of the scores of all labellings

    cdef double maximise(
        self, Py_ssize_t i, const double* local, int* labels) noexcept nogil
    cdef double pass_up(self, Py_ssize_t i, const double* local) noexcept nogil
    cdef void pass_down(self, Py_ssize_t i) noexcept nogil
    cdef void decode(self, Py_ssize_t i) noexcept nogil
    cdef double improve(self, Py_ssize_t i, const double* local) noexcept nogil
    cdef void score_given(self, Py_ssize_t i, const double* local) noexcept nogil
    cdef void relabel(self, Py_ssize_t step, int label) noexcept nogil
    cdef double score(self, Py_ssize_t i, const double* local) noexcept nogil
