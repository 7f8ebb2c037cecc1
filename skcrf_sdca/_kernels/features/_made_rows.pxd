"""Rows of arcs that are made at the visit: see _made_rows.pyx."""

from ._arc_rows cimport ArcRows, weight
from ._features cimport DistinctFeatures, FeatureRows
from ._sibling_rows cimport SiblingRows


cdef class MadeRows(FeatureRows):
    cdef object source
    cdef ArcRows arcs
    cdef SiblingRows siblings               # None for arcs alone
    cdef const long long[::1] offsets       # of the arcs of sentences
    cdef Py_ssize_t taken                   # the sentence of ``arcs``, -1 for none
    cdef readonly Py_ssize_t most_columns   # of a row
    cdef int[::1] made                      # columns of one row
    cdef double[::1] ones                   # their values
    # The two words of the sibling made last, and which siblings are theirs.
    cdef Py_ssize_t h, m, first_of_pair, end_of_pair

    cdef void take(self, Py_ssize_t i) noexcept nogil
    cdef Py_ssize_t make(self, Py_ssize_t a) noexcept nogil
    cdef Py_ssize_t make_sibling(self, Py_ssize_t k) noexcept nogil
    cdef void take_pair(self, Py_ssize_t k) noexcept nogil
    cdef void add_single_scores(
        self, Py_ssize_t begin, Py_ssize_t end, const weight* w,
        double* scores) noexcept nogil


cdef class DistinctMadeFeatures(DistinctFeatures):
    cdef MadeRows own
    cdef int[::1] place                     # (d,) of each feature, -1 for none
    cdef Py_ssize_t taken                   # the sentence of the places, -1 for none
    cdef Py_ssize_t n_found
    cdef bint is_shared

    cdef void count_found(self, Py_ssize_t i) noexcept nogil
    cdef void forget(self, Py_ssize_t i) noexcept nogil
    cdef void number(self, Py_ssize_t count) noexcept nogil
