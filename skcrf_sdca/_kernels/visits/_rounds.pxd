"""Rounds in which workers visit side by side: see _rounds.pyx."""

from ..features._local_weights cimport LocalWeights, SquaredNorms
from ..features._weights cimport SigmaPrime
from ._visits cimport Plan, Visitor


cdef extern from "barrier.h":
    ctypedef struct skcrf_barrier:
        long n_threads, n_arrived, n_passed, aborted


# A worker within `run`. All workers compute the same numbers below the plan.
cdef struct Worker:
    Plan plan
    Py_ssize_t n_rounds
    bint with_rare          # whether this round aggregates the rare rows
    bint done


cdef class Rounds:
    cdef LocalWeights local_weights
    cdef Py_ssize_t n_frequent
    cdef Py_ssize_t n_shared
    cdef Py_ssize_t work
    cdef Py_ssize_t period
    cdef readonly Py_ssize_t n_rounds
    cdef skcrf_barrier barrier
    cdef bint stale                     # whether w must be loaded
    # Each worker writes its own element, and reads all after a barrier.
    cdef Py_ssize_t[::1] n_left         # (n_workers,) visits left to it

    cdef Worker start(
        self, Py_ssize_t worker, Visitor visitor, const double[:, ::1] uniforms,
        const Py_ssize_t[::1] order)
    cdef void load(self, Py_ssize_t worker, Visitor visitor) noexcept nogil
    cdef bint visit(
        self, Worker* state, Py_ssize_t worker, Visitor visitor) noexcept nogil
    cdef void aggregate(
        self, Worker* state, Py_ssize_t worker, Visitor visitor) noexcept nogil
    cdef void measure(
        self, Worker* state, Py_ssize_t worker, Visitor visitor) noexcept nogil
    cdef void refresh(self, Worker* state, Visitor visitor) noexcept nogil
    cdef void refresh_moved(self, Visitor visitor) noexcept nogil
    cdef void store(self, Py_ssize_t worker, Visitor visitor) noexcept nogil
    cdef void finish(self, Worker* state, Py_ssize_t worker, Visitor visitor)
    cdef bint all_done(self) noexcept nogil


cdef class DualRounds(Rounds):
    cdef double margin
    cdef double memory
    cdef SigmaPrime next_sigma_prime    # of the next run
    cdef double[:, ::1] norms           # (3 n_workers, 2): memory of the next three
    # As `n_left`, of the part that a worker aggregated.
    cdef SquaredNorms* frequent
    cdef SquaredNorms* rare
    cdef SquaredNorms* remembered       # of the last rounds, each worker its own

    cdef void add(self, SquaredNorms* total, const SquaredNorms* parts) noexcept nogil
    cdef double sigma_prime_for(self, const SquaredNorms* norms) noexcept nogil
