"""Stochastic average gradient by workers that visit side by side, see _rounds.pyx.

A worker moves local weights toward a local target, w_hat(mu) with the changes of mu by
the worker alone. All workers make the same moves in a round, at the same work done: as
many as all of them made visits in the last round, with the step that the constants of
all allow. So the moves multiply the weights by the same S in every worker, and add the
same multiple G of the target that the round began with,

    w_p = S w + G target + what follows from the changes of worker p.

All of this is linear: aggregated, with changes that a worker counts sigma_prime times,

    w  <-  (S w + G target) + sum_p (w_p - (S w + G target)) / sigma_prime,

the weights are exactly those of a single worker that made all changes at those times.
Only the visits have not seen what others changed in the round.

The weights go far in a round, a step of full length at each visit, and a change answers
the last ones. Unless a worker sees enough of these answers, the weights begin to swing.
The other workers change frequent features much as it does itself: so it counts its own
changes of these as often as there are workers, and changes of other features once.

SAGA also moves the weights by each change at once, with a weight near n. Its worker
sees this move once: counted more often it would be a step that is too long. So the
aggregated weights of frequent features have the mean of these moves of the workers, and
the weights of other features their sum.
"""

from libc.math cimport exp, log1p

from ..features._local_weights cimport LocalWeights
from ._rounds cimport Rounds, Worker
from ._sag cimport SAGKernel
from ._visits cimport Visitor
from ..features._weights cimport SigmaPrime, Weights

import numpy as np


# The moves of a round. One is w <- shrink w + gain (1 - shrink) target.
cdef struct Pace:
    double n_moves
    double log_shrink
    double gain


# What several moves do: w <- shrink w + gain target.
cdef struct Pull:
    double shrink
    double gain


# What a worker tells the others after its visits.
cdef struct Found:
    double largest          # of its constants
    double mean
    double n_known
    double n_visits


cdef Pull pull_of(const Pace* pace, double n_moves) noexcept nogil:
    """Return what a number of moves do, which need not be whole."""
    cdef double shrink = exp(n_moves * pace.log_shrink)
    return Pull(shrink, pace.gain * (1.0 - shrink))


cdef class SAGWorker(SAGKernel):
    """The visits of one worker, which moves its weights at the pace of all.

    The parameters are those of `SAGKernel`, with the constants of its shard.
    """

    cdef Pace pace
    cdef Py_ssize_t n_workers
    cdef double work            # of a round
    cdef double work_done       # in this round
    cdef double n_made          # moves in this round
    cdef Pull of_rare           # the moves since the rare rows were aggregated
    cdef SigmaPrime times       # how often changes are counted
    cdef bint is_last           # whether this round is after all visits

    cdef void begin_run(self, Py_ssize_t n_workers):
        """Begin an epoch: all rows have been aggregated, and visits are to follow."""
        self.constants.recount()
        # A visit that failed left moves.
        self.lazy.forget()
        self.pace.n_moves = 0.0
        self.n_workers, self.is_last = n_workers, False
        self.of_rare = Pull(1.0, 0.0)
        self.times = SigmaPrime(n_workers, 1.0)

    cdef void begin_round(self, Py_ssize_t work) noexcept nogil:
        """Begin a round of so much work."""
        self.work = work
        self.work_done = self.n_made = 0.0

    cdef void end_round(self, Py_ssize_t n_rows, Found* found) noexcept nogil:
        """Make the moves that are left, bring the first rows up to date, and write the
        constants.
        """
        cdef Pull pull = self.of_round()
        self.advance(self.pace.n_moves)
        self.lazy.update_first(n_rows)
        self.of_rare.shrink *= pull.shrink
        self.of_rare.gain = pull.shrink * self.of_rare.gain + pull.gain
        found.n_known = self.constants.n_known
        if found.n_known > 0.0:
            found.largest = self.constants.largest()
            found.mean = self.constants.mean()

    cdef Pull of_round(self) noexcept nogil:
        """Return what all moves of the round do."""
        return pull_of(&self.pace, self.pace.n_moves)

    cdef void add_change(self, Weights out, double step) noexcept nogil:
        self.item.sum_features()
        self.sums.add_counted(out, step, self.times, 1.0)

    cdef void move(self, Py_ssize_t i, double probability) noexcept nogil:
        cdef double n_moves
        if self.saga and not self.is_empty(i):
            self.add_unbiased(i, probability)
        self.work_done += self.work_of(i)
        n_moves = self.pace.n_moves * min(self.work_done / self.work, 1.0)
        self.advance(n_moves)

    cdef void add_unbiased(self, Py_ssize_t i, double probability) noexcept nogil:
        """Add what the update of SAGA has beside the pull, see `SAGKernel.move`."""
        cdef double gain = pull_of(&self.pace, 1.0).gain
        self.sums.add_to(
            self.lazy.moved,
            gain * self.scale[i] * (1.0 - self.n_workers / probability),
        )

    cdef void advance(self, double n_moves) noexcept nogil:
        """Move the weights until so many moves have been made in this round."""
        cdef Pull pull = pull_of(&self.pace, n_moves - self.n_made)
        self.n_made = n_moves
        self.lazy.move(pull.shrink, pull.gain)

    cdef void set_pace(self, const Found* found) noexcept nogil:
        """Set the moves of the next round by what all workers have found."""
        cdef Py_ssize_t p
        cdef double largest = 0.0, total = 0.0, n_known = 0.0
        self.pace = Pace(0.0, 0.0, 0.0)
        for p in range(self.n_workers):
            largest = max(largest, found[p].largest)
            total += found[p].mean * found[p].n_known
            n_known += found[p].n_known
            self.pace.n_moves += found[p].n_visits
        if n_known > 0.0:
            if not self.constants.own:
                self.constants.values[0] = largest
                total = largest * n_known
            self.pace.log_shrink = log1p(
                -self.alpha * self.step(largest, total / n_known)
            )
            self.pace.gain = 1.0 if self.saga else self.scale.shape[0] / n_known


cdef class SAGRounds(Rounds):
    """Rounds of SAG, which aggregate the weights and the target.

    Parameters
    ----------
    local_weights, n_frequent, n_shared, work, period
        As for `Rounds`; the weights are those that moves move.
    local_targets : LocalWeights
    """

    cdef LocalWeights local_targets
    cdef double[:, ::1] memory          # of the next
    cdef Found* found                   # (n_workers,)

    def __init__(self, local_weights, *, LocalWeights local_targets, **options):
        super().__init__(local_weights, **options)
        self.local_targets = local_targets
        self.memory = np.zeros((local_weights.n_workers, sizeof(Found) // 8))
        self.found = <Found*> &self.memory[0, 0]

    cdef Worker start(
        self, Py_ssize_t worker, Visitor visitor, const double[:, ::1] uniforms,
        const Py_ssize_t[::1] order,
    ):
        cdef Worker state = Rounds.start(self, worker, visitor, uniforms, order)
        (<SAGWorker> visitor).begin_run(self.local_weights.n_workers)
        state.with_rare = self.period == 1
        return state

    cdef void load(self, Py_ssize_t worker, Visitor visitor) noexcept nogil:
        self.local_weights.load(worker)
        self.local_targets.load(worker)

    cdef bint visit(
        self, Worker* state, Py_ssize_t worker, Visitor visitor
    ) noexcept nogil:
        cdef Py_ssize_t n_before = state.plan.next
        cdef Found* found = &self.found[worker]
        (<SAGWorker> visitor).begin_round(self.work)
        if not Rounds.visit(self, state, worker, visitor):
            return False
        (<SAGWorker> visitor).end_round(
            self.n_shared if state.with_rare else self.n_frequent, found
        )
        found.n_visits = state.plan.next - n_before
        return True

    # All visits have been made before the last round, which makes their moves.
    cdef void aggregate(
        self, Worker* state, Py_ssize_t worker, Visitor visitor
    ) noexcept nogil:
        state.n_rounds += 1
        state.done = (<SAGWorker> visitor).is_last
        self.aggregate_tier(
            worker, False, (<SAGWorker> visitor).of_round(),
            (<SAGWorker> visitor).times.frequent,
        )
        if state.with_rare:
            self.aggregate_tier(
                worker, True, (<SAGWorker> visitor).of_rare,
                (<SAGWorker> visitor).times.rare,
            )
            (<SAGWorker> visitor).of_rare = Pull(1.0, 0.0)
        (<SAGWorker> visitor).is_last = self.all_done()
        (<SAGWorker> visitor).set_pace(self.found)

    cdef void aggregate_tier(
        self, Py_ssize_t part, bint rare, Pull pull, double times
    ) noexcept nogil:
        """Aggregate a part of the weights after some moves, and of the target."""
        self.local_weights.pull(
            part, rare, pull.shrink, pull.gain, self.local_targets
        )
        self.local_weights.aggregate(part, rare, times)
        self.local_targets.aggregate(part, rare, times)

    cdef void measure(
        self, Worker* state, Py_ssize_t worker, Visitor visitor
    ) noexcept nogil:
        self.refresh(state, visitor)
        state.with_rare = (
            (<SAGWorker> visitor).is_last or (state.n_rounds + 1) % self.period == 0
        )

    cdef void store(self, Py_ssize_t worker, Visitor visitor) noexcept nogil:
        (<SAGWorker> visitor).lazy.restart()
        self.local_weights.store(worker)
        self.local_targets.store(worker)
