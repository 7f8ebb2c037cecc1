"""Lipschitz constants of the gradients of the losses: see _lipschitz.pyx."""

from ._samplers cimport MaxTree


cdef class LipschitzConstants:
    cdef double[::1] values             # (n,) or (1,)
    cdef unsigned char[::1] known       # (n,)
    cdef int[::1] successes             # (n,) searches in a row without a doubling
    cdef readonly int[::1] to_skip      # (n,) visits without a search to come
    cdef MaxTree tree
    cdef Py_ssize_t n_known
    cdef double total                   # over the known ones
    cdef double decay
    cdef bint own
    cdef bint skipping

    cdef double of(self, Py_ssize_t i) noexcept nogil
    cdef bint due(self, Py_ssize_t i) noexcept nogil
    cdef double first_trial(self, Py_ssize_t i) noexcept nogil
    cdef void mark_known(self, Py_ssize_t i) noexcept nogil
    cdef void pass_over(self, Py_ssize_t i) noexcept nogil
    cdef void decay_without_search(self, Py_ssize_t i) noexcept nogil
    cdef void set_from_search(
        self, Py_ssize_t i, double value, bint doubled) noexcept nogil
    cdef void set(self, Py_ssize_t i, double value) noexcept nogil
    cdef double largest(self) noexcept nogil
    cdef double mean(self) noexcept nogil
