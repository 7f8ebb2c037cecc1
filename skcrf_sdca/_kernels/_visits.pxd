"""The loop over visits: see _visits.pyx."""

from ._features cimport FeatureRows
from ._samplers cimport Sampler
from ._weights cimport FeatureSums, Weights


cdef class Visitor:
    cdef readonly double n_oracle_calls
    cdef FeatureRows rows
    cdef Weights weights
    cdef FeatureSums sums
    cdef readonly Sampler sampler
    cdef const long long[::1] offsets
    cdef const double[::1] scale
    cdef Py_ssize_t n_labels
    cdef Py_ssize_t longest

    cdef bint visit(self, Py_ssize_t i) noexcept nogil


cdef class DualVisitor(Visitor):
    cdef double[::1] gaps

    cdef void record_gap(self, Py_ssize_t i, double gap) noexcept nogil
