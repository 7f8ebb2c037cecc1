"""Weights that move at every visit, brought up to date when read: see _lazy.pyx."""

from ._features cimport DistinctFeatures
from ._weights cimport Weights


cdef class LazyWeights:
    cdef Weights weights
    cdef Weights moved
    cdef Weights target
    cdef DistinctFeatures features
    cdef double[::1] shrunk             # (capacity + 1,)
    cdef double[::1] gained             # (capacity + 1,)
    cdef int[::1] all_rows              # (d,)
    cdef int[::1] last_move             # (d,)
    cdef int n_moves
    cdef const double[::1] rates        # (d,), or None

    cdef void catch_up(self, Py_ssize_t i) noexcept nogil
    cdef void update(self, const int* rows, Py_ssize_t count) noexcept nogil
    cdef void update_first(self, Py_ssize_t count) noexcept nogil
    cdef void pull_observed(self, const int* rows, Py_ssize_t count) noexcept nogil
    cdef void move(self, double shrink, double gain) noexcept nogil
    cdef void move_rows(self, double shrink, double gain) noexcept nogil
    cdef void restart(self) noexcept nogil
    cdef void forget(self) noexcept nogil
