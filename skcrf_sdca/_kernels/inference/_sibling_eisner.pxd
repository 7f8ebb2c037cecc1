"""The best projective tree with scores of siblings: see _sibling_eisner.pyx."""

from ._eisner cimport Eisner


cdef class SiblingEisner(Eisner):
    cdef const double* siblings     # (n, n, n) [h, m, s] of the sentence
    cdef double[::1] split          # (n + 1, n + 1), the words from i to j in two parts
    cdef int[::1] sibling           # (n + 1, n + 1), of the arc from i to j

    cdef double score_of_siblings(
        self, Py_ssize_t n, const int* heads) noexcept nogil
    cdef double join_siblings(
        self, Py_ssize_t h, Py_ssize_t m, double first) noexcept nogil


cdef Py_ssize_t sibling_of(const int* heads, Py_ssize_t m) noexcept nogil
