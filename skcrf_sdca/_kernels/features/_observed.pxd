"""Features that have weights for the labels observed with them: see _observed.pyx."""

from ._features cimport DistinctFeatures, FeatureRows


cdef class ObservedRows(FeatureRows):
    # Of each entry: where the row of its feature is in coef, and its length.
    cdef const int[::1] place
    cdef const int[::1] width


cdef class ObservedFeatures(DistinctFeatures):
    cdef ObservedRows observed
    cdef const int[::1] starts          # (distinct features + n + 1,)
    cdef const int[::1] places          # (distinct features + 1,) in coef
    cdef const int[::1] with_gaps       # distinct features whose wide row lacks a label
    cdef const long long[::1] gap_bounds    # (n + 1,) of with_gaps
    cdef Py_ssize_t largest

    cdef const int* starts_of(self, Py_ssize_t i) noexcept nogil
