"""Weights in single precision, of rows that are made: see _single_weights.pyx."""

from ._made_rows cimport DistinctMadeFeatures
from ._weights cimport FeatureSums, Weights


cdef class SingleWeights(Weights):
    cdef float[::1] w                       # (d,)


cdef class SingleSums(FeatureSums):
    cdef SingleWeights single
    cdef DistinctMadeFeatures made

    cdef void start(self, Py_ssize_t i) noexcept nogil
    cdef void add_columns(self, Py_ssize_t count, double factor) noexcept nogil
    cdef double columns_inner(self, Py_ssize_t count) noexcept nogil
