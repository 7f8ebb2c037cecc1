"""The loop over visits: see _visits.pyx."""

from ._samplers cimport Sampler
from ..inference._inference cimport Values
from ._item cimport Item
from ..features._weights cimport FeatureSums


# The visits to make, and how many of them have been made.
cdef struct Plan:
    const double* uniforms      # (n_visits, 2), NULL if there is an order
    const Py_ssize_t* order     # (n_visits,), NULL if the sampler picks
    Py_ssize_t n_visits
    Py_ssize_t next             # visits made so far
    Py_ssize_t sequence         # visited last


cdef Plan plan_of(
    const double[:, ::1] uniforms, const Py_ssize_t[::1] order, Py_ssize_t n_visits)


cdef class Visitor:
    cdef readonly double n_oracle_calls
    cdef Item item
    cdef FeatureSums sums
    cdef readonly Sampler sampler
    cdef const long long[::1] offsets
    cdef const double[::1] scale
    cdef Py_ssize_t n_labels
    cdef const Py_ssize_t[::1] sequences    # those of the sampler, None for all
    cdef const Py_ssize_t[::1] index_in_shard   # (n,), None without a shard
    cdef unsigned char* is_moved        # of rare rows, see LocalWeights; or NULL

    cdef int check(self, bint sane, Py_ssize_t i) except -1
    cdef bint visit_some(self, Plan* plan, Py_ssize_t work) noexcept nogil
    cdef Py_ssize_t pick(self, const Plan* plan) noexcept nogil
    cdef Py_ssize_t n_own(self) noexcept nogil
    cdef Py_ssize_t own(self, Py_ssize_t place) noexcept nogil
    cdef Py_ssize_t place_of(self, Py_ssize_t i) noexcept nogil
    cdef void record_value(self, Py_ssize_t i, double value) noexcept nogil
    cdef Py_ssize_t work_of(self, Py_ssize_t i) noexcept nogil
    cdef bint visit(self, Py_ssize_t i) noexcept nogil
    cdef bint is_empty(self, Py_ssize_t i) noexcept nogil
    cdef double expect(self, Py_ssize_t i, bint tied) noexcept nogil
    cdef double gradient(self) noexcept nogil
    cdef double expect_at(self, Values potentials, Values out) noexcept nogil
    cdef double log_partition_at(self, Values potentials) noexcept nogil
    cdef double argmax_at(self, Values potentials, int* path) noexcept nogil


cdef class DualVisitor(Visitor):
    cdef double[::1] gaps

    cdef void record_gap(self, Py_ssize_t i, double gap) noexcept nogil
