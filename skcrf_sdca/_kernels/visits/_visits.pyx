"""The loop over visits, and the base of all kernels that visit one sequence at a time.

A solver's kernel is a Visitor with a `visit` of its own; the kernel of a dual solver is
a DualVisitor, which records the gap found at each visit.

Several visitors can work side by side, each with a shard of the sequences and
local weights, which are aggregated in rounds: see _rounds.pyx.
"""

from cpython.exc cimport PyErr_CheckSignals

from skcrf_sdca._utils.words import words

from ._samplers cimport Sampler
from ..inference._inference cimport Values
from ._item cimport Item

# Work between two looks for Ctrl-C: some hundredths of a second.
cdef Py_ssize_t WORK_BETWEEN_SIGNALS = 4_000_000

# The work of a visit beside its positions, in positions.
cdef enum:
    VISIT = 4


cpdef double work_of_visit(double length, Py_ssize_t n_tied) noexcept nogil:
    """Return the work of a visit to a sequence of a length, in tied potentials.

    A sequence without tied potentials counts as if it had one.
    """
    return (length + VISIT) * max(n_tied, 1)


cdef class Visitor:
    """Visits sequences one by one, in the order of a sampler or in a given one.

    Parameters
    ----------
    item : Item
        Its weights are changed in place.
    offsets : ndarray of shape (n + 1,), int64
    scale : ndarray of shape (n,)
        weight_i / alpha with the weights summing to 1; 1 / (alpha n) if all are equal.
    sampler : Sampler

    Attributes
    ----------
    n_oracle_calls : float
        Marginalisations, or searches of the best labelling, so far; a forward pass
        alone counts one half.
    """

    def __init__(self, Item item, offsets, scale, Sampler sampler):
        self.item, self.sums = item, item.sums
        self.offsets, self.scale = offsets, scale
        self.sampler, self.sequences, self.index_in_shard = sampler, None, None
        self.n_labels, self.is_moved = item.n_labels, NULL

    def assign_shard(self, shard, index_in_shard):
        """Visit sequences of a shard only.

        Parameters
        ----------
        shard : ndarray of intp
            The sequences that the sampler draws from, in its order.
        index_in_shard : ndarray of shape (n,), intp
            The index in the shard of each sequence of the shard.
        """
        self.sequences, self.index_in_shard = shard, index_in_shard

    def weights_changed(self):
        """Refresh derived weights after w was changed outside of visits."""
        self.item.weights.refresh()

    def set_factors(self, code, value, bias_factor):
        """Have visits move weights by factors, see `Weights.set_factors`."""
        self.item.weights.set_factors(code, value, bias_factor)

    cdef bint visit(self, Py_ssize_t i) noexcept nogil:
        """Visit sequence i; return False if a number is not finite."""
        return True

    cdef bint is_empty(self, Py_ssize_t i) noexcept nogil:
        """Return whether sequence i has no positions."""
        return self.offsets[i] == self.offsets[i + 1]

    cdef double expect(self, Py_ssize_t i, bint tied) noexcept nogil:
        """Write the expectations of sequence i under the weights; return log Z.

        The tied ones are written only if they are asked for.
        """
        cdef Values out = self.item.expected
        if not tied:
            out.tied = NULL
        self.item.set_item(i)
        return self.expect_at(self.item.potentials, out)

    cdef double gradient(self) noexcept nogil:
        """Sum the features of the gradient of the loss; return their squared norm.

        The expectations are those that `expect` wrote last.
        """
        self.item.set_gradient()
        self.item.sum_features()
        return self.sums.squared_norm()

    cdef double expect_at(self, Values potentials, Values out) noexcept nogil:
        """Write the expectations under any potentials; return log Z."""
        self.n_oracle_calls += 1.0
        return self.item.expect(potentials, out)

    cdef double log_partition_at(self, Values potentials) noexcept nogil:
        """Return log Z of any potentials, from a forward pass."""
        self.n_oracle_calls += 0.5
        return self.item.log_partition(potentials)

    cdef double argmax_at(self, Values potentials, int* path) noexcept nogil:
        """Write the labelling of highest score, and return that score."""
        self.n_oracle_calls += 1.0
        return self.item.argmax(potentials, path)

    def epoch(self, const double[:, ::1] uniforms):
        """Make one visit for each row (coin, position) of uniform numbers."""
        self.make_visits(uniforms, None, uniforms.shape[0])

    def epoch_in_order(self, const Py_ssize_t[::1] order):
        """Visit the sequences in the given order."""
        self.make_visits(None, order, order.shape[0])

    def make_visits(
        self,
        const double[:, ::1] uniforms,          # in, (n_visits, 2), or None
        const Py_ssize_t[::1] order,            # in, (n_visits,), or None
        Py_ssize_t n_visits,
    ):
        """Visit the sequences of ``order``, or those that the sampler picks."""
        cdef Plan plan = plan_of(uniforms, order, n_visits)
        cdef bint sane = True
        while sane and plan.next < plan.n_visits:
            with nogil:
                sane = self.visit_some(&plan, WORK_BETWEEN_SIGNALS)
            PyErr_CheckSignals()
        self.check(sane, plan.sequence)

    cdef int check(self, bint sane, Py_ssize_t i) except -1:
        """Raise an error if the inference lacks what visits need, or a number is not
        finite at the visit of sequence i.
        """
        self.item.check()
        if not sane:
            raise not_finite(i)
        return 0

    cdef bint visit_some(self, Plan* plan, Py_ssize_t work) noexcept nogil:
        """Make the next visits of a plan, as many as are so much work.

        Return False if a number is not finite.
        """
        while plan.next < plan.n_visits and work > 0:
            plan.sequence = self.pick(plan)
            plan.next += 1
            if not self.visit(plan.sequence):
                return False
            if self.is_moved != NULL:
                self.sums.features.mark_rare(plan.sequence, self.is_moved)
            work -= self.work_of(plan.sequence)
        return True

    cdef Py_ssize_t pick(self, const Plan* plan) noexcept nogil:
        """Return the sequence of the next visit."""
        cdef Py_ssize_t place
        if plan.order != NULL:
            return plan.order[plan.next]
        place = self.sampler.pick(
            plan.uniforms[2 * plan.next], plan.uniforms[2 * plan.next + 1]
        )
        return self.own(place)

    cdef Py_ssize_t n_own(self) noexcept nogil:
        """Return how many sequences this visits: all, or those of its shard."""
        if self.sequences is None:
            return self.offsets.shape[0] - 1
        return self.sequences.shape[0]

    cdef Py_ssize_t own(self, Py_ssize_t place) noexcept nogil:
        """Return one of the sequences that this visits."""
        return place if self.sequences is None else self.sequences[place]

    cdef Py_ssize_t place_of(self, Py_ssize_t i) noexcept nogil:
        """Return the index of sequence i among those that this visits."""
        return i if self.index_in_shard is None else self.index_in_shard[i]

    cdef void record_value(self, Py_ssize_t i, double value) noexcept nogil:
        """Tell the sampler the value by which it draws sequence i."""
        self.sampler.record(self.place_of(i), value)

    cdef Py_ssize_t work_of(self, Py_ssize_t i) noexcept nogil:
        """Return the work of a visit to sequence i."""
        return <Py_ssize_t> (
            self.item.work_of_position
            * work_of_visit(self.offsets[i + 1] - self.offsets[i], self.item.n_tied)
        )


cdef Plan plan_of(
    const double[:, ::1] uniforms, const Py_ssize_t[::1] order, Py_ssize_t n_visits
):
    """Return the plan of n_visits in the given order, or as numbers make them."""
    cdef Plan plan
    plan.uniforms, plan.order = NULL, NULL
    plan.n_visits, plan.next, plan.sequence = n_visits, 0, 0
    if n_visits > 0 and order is not None:
        plan.order = &order[0]
    elif n_visits > 0:
        plan.uniforms = &uniforms[0, 0]
    return plan


cdef object not_finite(Py_ssize_t i):
    """Return what to raise where a number is not finite at the visit of sequence i."""
    return ValueError(
        f"the scores of {words().sequence} {i} or its line search are not finite: "
        f"scale the features in X, or take a larger {words().alpha}"
    )


cdef class DualVisitor(Visitor):
    """Visits that record the gap of the sequence, for the sampler to follow.

    Parameters
    ----------
    item, offsets, scale, sampler
        As for `Visitor`; the sampler may draw from a shard.
    gaps : ndarray of shape (n,)
        The gap of each sequence when last visited: changed in place.
    """

    def __init__(self, item, offsets, scale, gaps, sampler):
        super().__init__(item, offsets, scale, sampler)
        self.gaps = gaps

    def record_gaps(self):
        """Tell the sampler the gaps after they were changed outside of visits."""
        cdef Py_ssize_t place
        if self.sampler.by_residual:
            return
        for place in range(self.n_own()):
            self.sampler.record(place, self.gaps[self.own(place)])

    cdef void record_gap(self, Py_ssize_t i, double gap) noexcept nogil:
        """Store a new gap of sequence i, and tell the sampler."""
        self.gaps[i] = gap
        self.record_value(i, gap)
