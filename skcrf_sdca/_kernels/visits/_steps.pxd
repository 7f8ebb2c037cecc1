"""The steps of stochastic gradient methods: see _steps.pyx."""

from ..features._features cimport DistinctFeatures
from ..features._weights cimport FeatureSums, Weights


cdef class Steps:
    cdef double[::1] w
    cdef readonly Weights weights
    cdef DistinctFeatures features
    cdef double decay                   # s c
    cdef double threshold               # s threshold
    cdef public double eta0
    cdef public long long count
    cdef Py_ssize_t n_biases
    cdef int now                        # steps since the last `restart`
    cdef int[::1] settled               # (d + 1,) up to date at; the last: all biases

    cdef void settle_all(self) noexcept nogil
    cdef void catch_up(self, Py_ssize_t i) noexcept nogil
    cdef void settle_rows(self, const int* rows, Py_ssize_t count) noexcept nogil
    cdef bint in_loops(self) noexcept nogil
    cdef void settle_row(self, Py_ssize_t j) noexcept nogil
    cdef void settle(
        self, Py_ssize_t begin, Py_ssize_t width, int last) noexcept nogil
    cdef void step(self, FeatureSums sums, double weight) noexcept nogil


cdef class DiagonalSteps(Steps):
    cdef void move(
        self, FeatureSums sums, FeatureSums curvature, double weight) noexcept nogil
    cdef void move_block(
        self, const double* block, Py_ssize_t n, const double* gradient,
        const double* curvature, double weight) noexcept nogil
    cdef void move_weights(
        self, Py_ssize_t begin, Py_ssize_t n, const double* gradient,
        const double* curvature, double weight) noexcept nogil


cdef class SMDSteps(DiagonalSteps):
    cdef double[::1] trace
    cdef double[::1] gains
    cdef FeatureSums curvature
    cdef double curvature_scale         # what the sums of the curvature are divided by
    cdef double meta_rate
    cdef double memory
