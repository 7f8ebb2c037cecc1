"""Rounds in which workers visit sequences side by side, as in CoCoA+ [Ma15].

A worker visits sequences of its shard with local weights: it sees its own changes at
once, and the changes of other workers when the local weights are aggregated. To be safe
against changes that it does not see, it counts its own changes sigma_prime times. The
dual of the aggregated weights does not fall if

    sigma_prime >= ||sum_p change_p||^2 / sum_p ||change_p||^2.

The ratio is at most the number of workers, which [Ma15] takes as sigma_prime. Changes
of rare features are nearly orthogonal and have a ratio little above 1, while changes of
frequent features are more alike. So the ratio of each tier is measured whenever the
tier is aggregated, and sigma_prime is a little more than the ratio.

Where weights follow dual weights (`SparseWeights`), the dual weights are aggregated,
and each worker computes its local weights from the aggregated ones.

A round is a number of visits for each worker, not a time: the bits of the result depend
on the number of workers, and not on which of them is faster.
"""

from ..features._local_weights cimport LocalWeights, SquaredNorms
from ._visits cimport DualVisitor, Plan, plan_of
from ..features._weights cimport SigmaPrime

import numpy as np


cdef extern from "barrier.h":
    ctypedef struct skcrf_barrier:
        long n_threads, n_arrived, n_passed, aborted

    bint skcrf_barrier_wait(skcrf_barrier*) noexcept nogil
    void skcrf_barrier_abort(skcrf_barrier*) noexcept nogil


# A worker within `run`. All workers compute the same numbers below the plan.
cdef struct Worker:
    Plan plan
    Py_ssize_t n_rounds
    SigmaPrime sigma_prime
    SquaredNorms frequent   # of the last rounds, see `memory`
    bint with_rare          # whether this round aggregates the rare rows
    bint done


cdef class Rounds:
    """Rounds: all workers visit, then all aggregate, then all measure sigma_prime.

    Parameters
    ----------
    local_weights : LocalWeights
    n_frequent, n_shared : int
        How many features are frequent, and shared: the first rows of local weights.
    work : int
        Work of a worker in a round, see `Visitor.work_of`.
    period : int
        Rounds from one aggregation of the rare rows to the next; the last is after all.
    margin : float
        sigma_prime is this multiple of the ratio measured.
    memory : float in [0, 1)
        Each round the squared norms of the frequent tier are multiplied by it, and the
        norms of the round are added. The rare tier has no memory.

    Attributes
    ----------
    n_rounds : int
        Rounds of the last run.
    """

    cdef LocalWeights local_weights
    cdef Py_ssize_t n_frequent
    cdef Py_ssize_t n_shared
    cdef Py_ssize_t work
    cdef Py_ssize_t period
    cdef double margin
    cdef double memory
    cdef readonly Py_ssize_t n_rounds
    cdef SigmaPrime next_sigma_prime    # of the next run
    cdef skcrf_barrier barrier
    cdef bint stale                     # whether w must be loaded
    # Each worker writes its own element of these, and reads all after a barrier.
    cdef Py_ssize_t[::1] n_left         # (n_workers,) visits left to it
    cdef double[:, ::1] norms           # (2 n_workers, 2): memory of the next two
    cdef SquaredNorms* frequent         # (n_workers,) of the part that it aggregated
    cdef SquaredNorms* rare

    def __init__(
        self, LocalWeights local_weights, *, Py_ssize_t n_frequent,
        Py_ssize_t n_shared, Py_ssize_t work, Py_ssize_t period, double margin,
        double memory,
    ):
        cdef Py_ssize_t n_workers = local_weights.n_workers
        self.local_weights = local_weights
        self.n_frequent, self.n_shared = n_frequent, n_shared
        self.work, self.period = work, period
        self.margin, self.memory = margin, memory
        self.next_sigma_prime.frequent = self.next_sigma_prime.rare = n_workers
        self.stale = True
        self.n_left = np.zeros(n_workers, dtype=np.intp)
        self.norms = np.zeros((2 * n_workers, 2))
        self.frequent = <SquaredNorms*> &self.norms[0, 0]
        self.rare = self.frequent + n_workers

    @property
    def sigma_prime(self):
        """The factors of the next run: a dict with the keys "frequent" and "rare"."""
        return self.next_sigma_prime

    def begin(self):
        """Prepare for one call of `run` from the thread of each worker."""
        # Workers that were stopped have not stored their weights.
        self.stale |= self.barrier.aborted
        self.barrier.n_threads = self.local_weights.n_workers
        self.barrier.n_arrived = self.barrier.aborted = 0

    def weights_changed(self):
        """Have the next run load w, which others have changed."""
        self.stale = True

    def abort(self):
        """Stop all workers at their next barrier."""
        skcrf_barrier_abort(&self.barrier)

    def run(
        self,
        Py_ssize_t worker,
        DualVisitor visitor,
        const double[:, ::1] uniforms,          # in, (n_visits, 2), or None
        const Py_ssize_t[::1] order,            # in, (n_visits,), or None
    ):
        """Make the visits of one worker; the others run in other threads.

        They wait for this one at every barrier: if it raises an error, the caller must
        call `abort`.

        Raises
        ------
        ValueError
            If a number is not finite.
        """
        cdef Worker state = self.start(worker, visitor, uniforms, order)
        cdef bint finite = True
        with nogil:
            while not state.done:
                finite = self.visit(&state, worker, visitor)
                if not finite or not skcrf_barrier_wait(&self.barrier):
                    break
                self.aggregate(&state, worker)
                if not skcrf_barrier_wait(&self.barrier):
                    # Other workers may not have aggregated their parts.
                    state.done = False
                    break
                self.measure(&state, visitor)
        visitor.check(finite, state.plan.sequence)
        if state.done:
            self.finish(&state, worker)

    def run_in_turn(self, list visitors, list visits):
        """Make the visits of all workers in this thread, with the bits of `run`.

        It exists for the tests, which prove by it that the bits of threads do not
        depend on timing, and to count epochs for more threads than there are cores.

        Parameters
        ----------
        visitors : list of DualVisitor
        visits : list of tuples
            Arguments ``uniforms`` and ``order`` of `run` for each worker.
        """
        cdef Py_ssize_t p, n = self.local_weights.n_workers
        cdef unsigned char[::1] memory = np.empty(n * sizeof(Worker), dtype=np.uint8)
        cdef Worker* states = <Worker*> &memory[0]
        cdef DualVisitor visitor
        cdef bint finite
        self.begin()
        for p in range(n):
            states[p] = self.start(p, visitors[p], visits[p][0], visits[p][1])
        while not states[0].done:
            for p in range(n):
                visitor = visitors[p]
                finite = self.visit(&states[p], p, visitor)
                self.stale |= not finite
                visitor.check(finite, states[p].plan.sequence)
            for p in range(n):
                self.aggregate(&states[p], p)
            for p in range(n):
                visitor = visitors[p]
                self.measure(&states[p], visitor)
        for p in range(n):
            self.finish(&states[p], p)

    cdef Worker start(
        self, Py_ssize_t worker, DualVisitor visitor, const double[:, ::1] uniforms,
        const Py_ssize_t[::1] order,
    ):
        """Return the state of a worker before its first round."""
        cdef Worker state
        state.plan = plan_of(
            uniforms, order, uniforms.shape[0] if order is None else order.shape[0]
        )
        state.n_rounds, state.done, state.with_rare = 0, False, False
        state.sigma_prime = self.next_sigma_prime
        state.frequent = SquaredNorms(0.0, 0.0)
        if self.stale:
            with nogil:
                self.local_weights.load(worker)
                visitor.item.weights.refresh_part(0, 1)
        return state

    cdef void finish(self, Worker* state, Py_ssize_t worker):
        """Store the weights, and what all workers agree on."""
        with nogil:
            self.local_weights.store(worker)
        if worker == 0:
            self.next_sigma_prime, self.n_rounds = state.sigma_prime, state.n_rounds
            self.stale = False

    cdef bint visit(
        self, Worker* state, Py_ssize_t worker, DualVisitor visitor
    ) noexcept nogil:
        """Make the visits of a round; return False if a number is not finite."""
        cdef bint finite
        visitor.sums.sigma_prime = state.sigma_prime
        finite = visitor.visit_some(&state.plan, self.work)
        self.n_left[worker] = state.plan.n_visits - state.plan.next
        return finite

    cdef void aggregate(self, Worker* state, Py_ssize_t worker) noexcept nogil:
        """Aggregate the part of a worker, when all have made their visits."""
        state.n_rounds += 1
        state.done = self.all_done()
        state.with_rare = state.done or state.n_rounds % self.period == 0
        self.frequent[worker] = self.local_weights.aggregate(
            worker, False, state.sigma_prime.frequent
        )
        if state.with_rare:
            self.rare[worker] = self.local_weights.aggregate(
                worker, True, state.sigma_prime.rare
            )

    cdef void measure(self, Worker* state, DualVisitor visitor) noexcept nogil:
        """Set sigma_prime and local weights, when all parts have been aggregated."""
        cdef SquaredNorms rare = SquaredNorms(0.0, 0.0)
        state.frequent.of_sum *= self.memory
        state.frequent.summed *= self.memory
        self.add(&state.frequent, self.frequent)
        state.sigma_prime.frequent = self.sigma_prime_for(&state.frequent)
        visitor.item.weights.refresh_range(0, self.n_frequent)
        visitor.item.weights.refresh_biases()
        if state.with_rare:
            visitor.item.weights.refresh_range(self.n_frequent, self.n_shared)
            self.add(&rare, self.rare)
            state.sigma_prime.rare = self.sigma_prime_for(&rare)

    cdef bint all_done(self) noexcept nogil:
        """Return whether all workers have made all their visits."""
        cdef Py_ssize_t p
        for p in range(self.local_weights.n_workers):
            if self.n_left[p] > 0:
                return False
        return True

    cdef void add(self, SquaredNorms* total, const SquaredNorms* parts) noexcept nogil:
        """Add the squared norms of all parts, in order: rounding depends on it."""
        cdef Py_ssize_t p
        for p in range(self.local_weights.n_workers):
            total.of_sum += parts[p].of_sum
            total.summed += parts[p].summed

    cdef double sigma_prime_for(self, const SquaredNorms* norms) noexcept nogil:
        """Return sigma_prime for the squared norms measured."""
        cdef double ratio = 1.0
        if norms.summed > 0.0:
            ratio = norms.of_sum / norms.summed
        return min(max(1.0, self.margin * ratio), <double> self.local_weights.n_workers)
