"""A Structure over the tokens of a sequence: see _token_structure.pyx."""

from ._structure cimport Structure, Values


cdef class TokenStructure(Structure):
    cdef const long long[::1] offsets
    cdef const int[::1] labels              # None if the targets are soft
    cdef double[:, ::1] soft_local
    cdef double[:, ::1] soft_tied
    cdef const double[:, ::1] cost
    cdef const double[:, ::1] fixed_local   # None without fixed scores
    cdef const double[::1] fixed_tied
    cdef double[::1] tied                   # (n_tied,) buffer of their sum
    cdef Py_ssize_t n_labels
    cdef Py_ssize_t first           # position of the current sequence
    cdef Py_ssize_t length
    cdef double[::1] change         # (T, K) of local ones; the tied change is in sums

    cdef void complete_scores(self, double* scores) noexcept nogil
    cdef Values soft_target(self) noexcept nogil
