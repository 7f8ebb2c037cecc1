# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True
"""Rounds of visitors side by side, each over a share of the sequences [Ma15].

As in CoCoA+, a member of the team visits sequences of its share with a copy of the
weights: it sees its own changes at once, damping times as large as they are, and those
of the others when the copies are joined. Then the dual has not fallen if

    damping >= ||sum_p change_p||^2 / sum_p ||change_p||^2,

which is at most the number of members; [Ma15] takes that. Changes of sparse features
are nearly orthogonal, so that little more than 1 is enough: the ratio is measured
whenever all rows have been joined, and the damping is a little more than it was.

What a member does depends on numbers alone, not on who is faster: the bits of a run
depend on the number of members and on nothing else.
"""

from ._copies cimport Copies
from ._visits cimport DualVisitor, Plan, not_finite, plan_of

import numpy as np


cdef extern from "barrier.h":
    ctypedef struct skcrf_barrier:
        long n_threads, n_arrived, n_passed, given_up

    bint skcrf_wait(skcrf_barrier*) noexcept nogil
    void skcrf_give_up(skcrf_barrier*) noexcept nogil


cdef class Rounds:
    """The rounds of a team, in each of which every member visits some sequences.

    Parameters
    ----------
    copies : Copies
    work : int
        Edge marginals that a member makes in a round, T K^2 for a sequence of T.
    join_all : int
        Rounds after which all rows are joined, not only the common ones.
    margin, decay : float
        The damping is margin times the ratio last measured, and not less than decay
        times what it was.

    Attributes
    ----------
    damping : float
    """

    cdef readonly double damping
    cdef Copies copies
    cdef skcrf_barrier barrier
    cdef Py_ssize_t work
    cdef Py_ssize_t join_all
    cdef double margin
    cdef double decay
    cdef double[:, ::1] squares         # (n_members, 2) of what a part has joined last
    cdef Py_ssize_t[::1] n_left         # (n_members,) visits to be made

    def __init__(
        self, copies, *, Py_ssize_t work, Py_ssize_t join_all, double margin,
        double decay,
    ):
        self.copies, self.work, self.join_all = copies, work, join_all
        self.margin, self.decay = margin, decay
        self.damping = copies.n_members
        self.squares = np.zeros((copies.n_members, 2))
        self.n_left = np.zeros(copies.n_members, dtype=np.intp)

    def begin(self):
        """Make ready for as many calls of `run` as there are members."""
        self.barrier.n_threads = self.copies.n_members
        self.barrier.n_arrived = self.barrier.given_up = 0

    def give_up(self):
        """Tell the members to stop."""
        skcrf_give_up(&self.barrier)

    def run(
        self,
        Py_ssize_t member,
        DualVisitor visitor,
        const double[:, ::1] uniforms,          # in, (n_visits, 2), or None
        const Py_ssize_t[::1] order,            # in, (n_visits,), or None
        Py_ssize_t n_visits,
    ):
        """Make the visits of one member, while other threads make those of the others.

        Raises
        ------
        ValueError
            If a number is not finite: the others stop too.
        """
        cdef Plan plan = plan_of(uniforms, order, n_visits)
        cdef bint sane
        self.copies.start(member)
        with nogil:
            self.copies.forget(member)
            self.n_left[member] = n_visits
            sane = self.make_rounds(member, visitor, &plan)
        if not sane:
            self.give_up()
            raise not_finite(plan.sequence)

    cdef bint make_rounds(
        self, Py_ssize_t member, DualVisitor visitor, Plan* plan
    ) noexcept nogil:
        """Make rounds until all visits are made; return False if one went wrong."""
        cdef Py_ssize_t p, n_rounds = 0
        cdef double joint = 0.0, apart = 0.0, damping = self.damping
        cdef bint all_rows, last = False
        while not last:
            visitor.damping = damping
            if not visitor.visit_some(plan, self.work):
                return False
            self.n_left[member] = plan.n_visits - plan.next
            if not skcrf_wait(&self.barrier):
                return True
            n_rounds += 1
            last = self.all_done()
            all_rows = last or n_rounds % self.join_all == 0
            self.copies.join(member, damping, all_rows, &self.squares[member, 0])
            if not skcrf_wait(&self.barrier):
                return True
            for p in range(self.copies.n_members):
                joint += self.squares[p, 0]
                apart += self.squares[p, 1]
            if all_rows:
                self.copies.forget(member)
                damping = self.next_damping(damping, joint, apart)
                joint = apart = 0.0
        if member == 0:
            self.damping = damping
        return True

    cdef bint all_done(self) noexcept nogil:
        """Return whether no visit is left to any member."""
        cdef Py_ssize_t p
        for p in range(self.copies.n_members):
            if self.n_left[p] > 0:
                return False
        return True

    cdef double next_damping(
        self, double damping, double joint, double apart
    ) noexcept nogil:
        """Return the damping of the rounds to come, from squares measured."""
        cdef double ratio = joint / apart if apart > 0.0 else 1.0
        damping = max(1.0, self.decay * damping, self.margin * ratio)
        return min(damping, <double> self.copies.n_members)
