"""The loop over visits: see _visits.pyx."""

from ._copies cimport Copies
from ._samplers cimport Sampler
from ._structure cimport Structure, Values
from ._weights cimport FeatureSums


# Visits to be made, and how far they are.
cdef struct Plan:
    const double* uniforms      # (n_visits, 2), NULL if there is an order
    const Py_ssize_t* order     # (n_visits,), NULL if the sampler picks
    Py_ssize_t n_visits
    Py_ssize_t next             # visit to be made
    Py_ssize_t sequence         # visited last, or held
    bint held                   # whether the next visit is that of `sequence`
    Py_ssize_t much             # work of a visit that may be held


cdef Plan plan_of(
    const double[:, ::1] uniforms, const Py_ssize_t[::1] order, Py_ssize_t n_visits)
cdef object not_finite(Py_ssize_t i)


cdef class Visitor:
    cdef readonly double n_oracle_calls
    cdef Structure structure
    cdef FeatureSums sums
    cdef readonly Sampler sampler
    cdef const long long[::1] offsets
    cdef const double[::1] scale
    cdef Py_ssize_t n_labels
    cdef const Py_ssize_t[::1] sequences    # those of the sampler, None for all

    cdef bint visit_some(self, Plan* plan, Py_ssize_t work) noexcept nogil
    cdef Py_ssize_t pick(self, const Plan* plan) noexcept nogil
    cdef Py_ssize_t work_of(self, Py_ssize_t i) noexcept nogil
    cdef bint visit(self, Py_ssize_t i) noexcept nogil
    cdef bint is_empty(self, Py_ssize_t i) noexcept nogil
    cdef double expect(self, Py_ssize_t i, bint tied) noexcept nogil
    cdef double expect_at(self, Values potentials, Values out) noexcept nogil
    cdef double log_partition_at(self, Values potentials) noexcept nogil
    cdef void gradient(self) noexcept nogil


cdef class DualVisitor(Visitor):
    cdef double[::1] gaps
    cdef const Py_ssize_t[::1] places   # of each sequence among those of its share
    cdef Copies copies
    cdef Py_ssize_t member

    cdef void move_weights(self, Py_ssize_t i, double step) noexcept nogil
    cdef void record_gap(self, Py_ssize_t i, double gap) noexcept nogil
