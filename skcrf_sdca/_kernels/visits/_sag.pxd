"""Visits of stochastic average gradient: see _sag.pyx."""

from ..features._lazy cimport LazyWeights
from ._lipschitz cimport LipschitzConstants
from ..inference._inference cimport Values
from ._visits cimport Visitor
from ..features._weights cimport Weights


cdef class SAGKernel(Visitor):
    cdef public double caution
    cdef LazyWeights lazy
    cdef Weights target
    cdef readonly LipschitzConstants constants
    cdef double alpha
    cdef double curvature
    cdef bint saga
    cdef double[::1] local
    cdef double[:, ::1] tied
    cdef double[::1] entropy
    # Buffers of one visit.
    cdef Values gradient_scores
    cdef Values trial               # scores after a step against the gradient
    cdef double log_z

    cdef void remember(self, Py_ssize_t i) noexcept nogil
    cdef void add_change(self, Weights out, double step) noexcept nogil
    cdef void move(self, Py_ssize_t i, double probability) noexcept nogil
    cdef double step(self, double largest, double mean) noexcept nogil
    cdef bint search(self, Py_ssize_t i, Py_ssize_t place) noexcept nogil
    cdef bint decreases(
        self, double rate, double norm, double of_target) noexcept nogil
