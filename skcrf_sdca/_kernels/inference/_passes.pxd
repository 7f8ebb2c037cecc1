"""The items of scores, one at a time: see _passes.pyx."""

cimport cython

from ._inference cimport Inference, Values


@cython.final
cdef class Items:
    cdef Inference inference
    cdef const double[:, ::1] local
    cdef const double[::1] tied
    cdef double* first
    cdef Values scores              # of the item that was taken last

    cdef bint take(self, Py_ssize_t i) noexcept nogil


cdef int check_end(const long long[::1] bounds, Py_ssize_t size) except -1
