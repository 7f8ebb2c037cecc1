"""Rounds in which workers visit sequences side by side, as in CoCoA+ [Ma15].

A worker visits sequences of its shard with local weights: it sees its own changes at
once, and the changes of other workers when the local weights are aggregated. A round is
a number of visits for each worker, not a time: the bits of the result depend on the
number of workers, and not on which of them is faster.

**Dual solvers.** To be safe against changes that it does not see, a worker counts its
own changes sigma_prime times. The dual of the aggregated weights does not fall if

    sigma_prime >= ||sum_p change_p||^2 / sum_p ||change_p||^2.

The ratio is at most the number of workers, which [Ma15] takes as sigma_prime. Changes
of rare features are nearly orthogonal and have a ratio little above 1, while changes of
frequent features are more alike. So the ratio of each tier is measured whenever the
tier is aggregated, and sigma_prime is a little more than the ratio.

Where weights follow dual weights (`SparseWeights`), the dual weights are aggregated,
and each worker computes its local weights from the aggregated ones.
"""

from ..features._local_weights cimport LocalWeights, SquaredNorms
from ._visits cimport Visitor, plan_of

import numpy as np


cdef extern from "barrier.h":
    bint skcrf_barrier_wait(skcrf_barrier*) noexcept nogil
    void skcrf_barrier_abort(skcrf_barrier*) noexcept nogil


cdef class Rounds:
    """Rounds: all workers visit, then all aggregate, then all measure what follows.

    Parameters
    ----------
    local_weights : LocalWeights
    n_frequent, n_shared : int
        How many features are frequent, and shared: the first rows of local weights.
    work : int
        Work of a worker in a round, see `Visitor.work_of`.
    period : int
        Rounds from one aggregation of the rare rows to the next; the last is after all.

    Attributes
    ----------
    n_rounds : int
        Rounds of the last run.
    """

    def __init__(
        self, LocalWeights local_weights, *, Py_ssize_t n_frequent,
        Py_ssize_t n_shared, Py_ssize_t work, Py_ssize_t period,
    ):
        self.local_weights = local_weights
        self.n_frequent, self.n_shared = n_frequent, n_shared
        self.work, self.period = work, period
        self.stale = True
        self.n_left = np.zeros(local_weights.n_workers, dtype=np.intp)

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
        Visitor visitor,
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
                self.aggregate(&state, worker, visitor)
                if not skcrf_barrier_wait(&self.barrier):
                    # Other workers may not have aggregated their parts.
                    state.done = False
                    break
                self.measure(&state, worker, visitor)
        visitor.check(finite, state.plan.sequence)
        if state.done:
            self.finish(&state, worker, visitor)

    def run_in_turn(self, list visitors, list visits):
        """Make the visits of all workers in this thread, with the bits of `run`.

        It exists for the tests, which prove by it that the bits of threads do not
        depend on timing, and to count epochs for more threads than there are cores.

        Parameters
        ----------
        visitors : list of Visitor
        visits : list of tuples
            Arguments ``uniforms`` and ``order`` of `run` for each worker.
        """
        cdef Py_ssize_t p, n = self.local_weights.n_workers
        cdef unsigned char[::1] memory = np.empty(n * sizeof(Worker), dtype=np.uint8)
        cdef Worker* states = <Worker*> &memory[0]
        cdef Visitor visitor
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
                self.aggregate(&states[p], p, visitors[p])
            for p in range(n):
                self.measure(&states[p], p, visitors[p])
        for p in range(n):
            self.finish(&states[p], p, visitors[p])

    cdef Worker start(
        self, Py_ssize_t worker, Visitor visitor, const double[:, ::1] uniforms,
        const Py_ssize_t[::1] order,
    ):
        """Return the state of a worker before its first round."""
        cdef Worker state
        state.plan = plan_of(
            uniforms, order, uniforms.shape[0] if order is None else order.shape[0]
        )
        state.n_rounds, state.done, state.with_rare = 0, False, False
        if self.stale:
            with nogil:
                self.load(worker, visitor)
                visitor.item.weights.refresh_part(0, 1)
        return state

    cdef void load(self, Py_ssize_t worker, Visitor visitor) noexcept nogil:
        """Copy the weights to the local ones of a worker."""
        self.local_weights.load(worker)

    cdef bint visit(
        self, Worker* state, Py_ssize_t worker, Visitor visitor
    ) noexcept nogil:
        """Make the visits of a round; return False if a number is not finite."""
        cdef bint finite = visitor.visit_some(&state.plan, self.work)
        self.n_left[worker] = state.plan.n_visits - state.plan.next
        return finite

    cdef void aggregate(
        self, Worker* state, Py_ssize_t worker, Visitor visitor
    ) noexcept nogil:
        """Aggregate the part of a worker, when all have made their visits."""

    cdef void measure(
        self, Worker* state, Py_ssize_t worker, Visitor visitor
    ) noexcept nogil:
        """Prepare the next round, when all parts have been aggregated."""

    cdef void refresh(self, Worker* state, Visitor visitor) noexcept nogil:
        """Compute the local weights that follow others, where these were aggregated."""
        visitor.item.weights.refresh_range(0, self.n_frequent)
        visitor.item.weights.refresh_biases()
        if state.with_rare and visitor.is_moved != NULL:
            self.refresh_moved(visitor)
        elif state.with_rare:
            visitor.item.weights.refresh_range(self.n_frequent, self.n_shared)

    cdef void refresh_moved(self, Visitor visitor) noexcept nogil:
        """Compute the rare rows that follow others, where these were aggregated."""
        cdef Py_ssize_t part
        for part in range(self.local_weights.n_workers):
            visitor.item.weights.refresh_rows(
                &self.local_weights.moved[self.local_weights.first_rare(part)],
                self.local_weights.n_moved[part],
            )

    cdef void store(self, Py_ssize_t worker, Visitor visitor) noexcept nogil:
        """Copy to the weights the part of a worker, and its private rows."""
        self.local_weights.store(worker)

    cdef void finish(self, Worker* state, Py_ssize_t worker, Visitor visitor):
        """Store the weights, and what all workers agree on."""
        with nogil:
            self.store(worker, visitor)
        if worker == 0:
            self.n_rounds, self.stale = state.n_rounds, False

    cdef bint all_done(self) noexcept nogil:
        """Return whether all workers have made all their visits."""
        cdef Py_ssize_t p
        for p in range(self.local_weights.n_workers):
            if self.n_left[p] > 0:
                return False
        return True


cdef class DualRounds(Rounds):
    """Rounds of dual solvers, which measure sigma_prime.

    Parameters
    ----------
    local_weights, n_frequent, n_shared, work, period
        As for `Rounds`.
    margin : float
        sigma_prime is this multiple of the ratio measured.
    memory : float in [0, 1)
        Each round the squared norms of the frequent tier are multiplied by it, and the
        norms of the round are added. The rare tier has no memory.
    """

    def __init__(self, local_weights, *, double margin, double memory, **options):
        cdef Py_ssize_t n_workers = local_weights.n_workers
        super().__init__(local_weights, **options)
        self.margin, self.memory = margin, memory
        self.next_sigma_prime.frequent = self.next_sigma_prime.rare = n_workers
        self.norms = np.zeros((3 * n_workers, 2))
        self.frequent = <SquaredNorms*> &self.norms[0, 0]
        self.rare = self.frequent + n_workers
        self.remembered = self.rare + n_workers

    @property
    def sigma_prime(self):
        """The factors of the next run: a dict with the keys "frequent" and "rare"."""
        return self.next_sigma_prime

    cdef Worker start(
        self, Py_ssize_t worker, Visitor visitor, const double[:, ::1] uniforms,
        const Py_ssize_t[::1] order,
    ):
        visitor.sums.sigma_prime = self.next_sigma_prime
        visitor.is_moved = self.local_weights.marks_of(worker)
        self.remembered[worker] = SquaredNorms(0.0, 0.0)
        return Rounds.start(self, worker, visitor, uniforms, order)

    cdef void finish(self, Worker* state, Py_ssize_t worker, Visitor visitor):
        Rounds.finish(self, state, worker, visitor)
        if worker == 0:
            self.next_sigma_prime = visitor.sums.sigma_prime

    cdef void aggregate(
        self, Worker* state, Py_ssize_t worker, Visitor visitor
    ) noexcept nogil:
        state.n_rounds += 1
        state.done = self.all_done()
        state.with_rare = state.done or state.n_rounds % self.period == 0
        self.frequent[worker] = self.local_weights.aggregate(
            worker, False, visitor.sums.sigma_prime.frequent
        )
        if state.with_rare and visitor.is_moved != NULL:
            self.rare[worker] = self.local_weights.aggregate_moved(
                worker, visitor.sums.sigma_prime.rare
            )
        elif state.with_rare:
            self.rare[worker] = self.local_weights.aggregate(
                worker, True, visitor.sums.sigma_prime.rare
            )

    cdef void measure(
        self, Worker* state, Py_ssize_t worker, Visitor visitor
    ) noexcept nogil:
        """Set sigma_prime and local weights, when all parts have been aggregated."""
        cdef SquaredNorms rare = SquaredNorms(0.0, 0.0)
        cdef SquaredNorms* frequent = &self.remembered[worker]
        frequent.of_sum *= self.memory
        frequent.summed *= self.memory
        self.add(frequent, self.frequent)
        visitor.sums.sigma_prime.frequent = self.sigma_prime_for(frequent)
        if state.with_rare:
            self.add(&rare, self.rare)
            visitor.sums.sigma_prime.rare = self.sigma_prime_for(&rare)
        self.refresh(state, visitor)

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
