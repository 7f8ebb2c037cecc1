"""Rows of arcs that are made at the visit: see _made_rows.pyx."""

from ._arc_rows cimport ArcRows
from ._features cimport DistinctFeatures, FeatureRows


cdef class MadeRows(FeatureRows):
    cdef object source
    cdef ArcRows arcs
    cdef const long long[::1] offsets       # of the arcs of sentences
    cdef Py_ssize_t taken                   # the sentence of ``arcs``, -1 for none
    cdef int[::1] made                      # columns of one arc
    cdef double[::1] ones                   # their values

    cdef void take(self, Py_ssize_t i) noexcept nogil
    cdef Py_ssize_t make(self, Py_ssize_t a) noexcept nogil


cdef class DistinctMadeFeatures(DistinctFeatures):
    cdef MadeRows own
    cdef int[::1] place                     # (d,) of each feature, -1 for none
    cdef Py_ssize_t taken                   # the sentence of the places, -1 for none
    cdef Py_ssize_t n_found

    cdef void forget(self, Py_ssize_t i) noexcept nogil
    cdef void number(self, Py_ssize_t count) noexcept nogil
