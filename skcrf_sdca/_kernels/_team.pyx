# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True
"""Rounds of visitors side by side, each over a share of the sequences [Ma15].

As in CoCoA+, a member of the team visits sequences of its share with a copy of the
weights: it sees its own changes at once, damping times as large as they are, and those
of the others when the copies are joined. Then the dual has not fallen if

    damping >= ||sum_p change_p||^2 / sum_p ||change_p||^2,

which is at most the number of members; [Ma15] takes that. Changes of rare features are
nearly orthogonal, so that little more than 1 is enough, and those of what all sequences
have in common are more alike. So the two are damped each by a little more than the
ratio measured when they were joined, the common ones after every round.

What a member does depends on numbers alone, not on who is faster: the bits of a run
depend on the number of members and on nothing else.
"""

from ._copies cimport Copies, Squares
from ._visits cimport DualVisitor, Plan, not_finite, plan_of
from ._weights cimport Damping

import numpy as np


cdef extern from "barrier.h":
    ctypedef struct skcrf_barrier:
        long n_threads, n_arrived, n_passed, given_up

    bint skcrf_wait(skcrf_barrier*) noexcept nogil
    void skcrf_give_up(skcrf_barrier*) noexcept nogil


# How far a member is with its visits.
cdef struct Member:
    Plan plan
    Py_ssize_t n_rounds
    Py_ssize_t work     # of each member in the next round
    Damping damping
    Squares common      # remembered
    Squares shared      # since their damping was set
    bint all_rows       # whether all joint rows are joined in this round
    bint done


cdef class Rounds:
    """The rounds of a team, in each of which every member visits some sequences.

    Parameters
    ----------
    copies : Copies
    work : int
        Of a member in a round, see `Visitor.work_of`.
    much : int
        A visit of more work than this is the first of its round, in which then all do
        as much: else the others would wait for it.
    most : int
        But no more than this.
    join_all : int
        Rounds after which all joint rows are joined, and the damping of shared ones is
        set.
    margin : float
        By what a damping is more than the ratio measured.
    memory : float in [0, 1)
        Of the ratio of what is common: the share of the squares that is kept from one
        round to the next.

    Attributes
    ----------
    n_rounds : int
        Of the last run.
    """

    cdef Damping dampings
    cdef Copies copies
    cdef skcrf_barrier barrier
    cdef bint stale             # whether the copies must be made anew from w
    cdef readonly Py_ssize_t n_rounds
    cdef Py_ssize_t work
    cdef Py_ssize_t much
    cdef Py_ssize_t most
    cdef Py_ssize_t join_all
    cdef double margin
    cdef double memory
    cdef double[:, ::1] squares         # (2 n_members, 2), as the next two see it
    cdef Squares* common                # (n_members,) of what a part has joined last
    cdef Squares* shared
    cdef Py_ssize_t[::1] n_left         # (n_members,) visits to be made
    cdef Py_ssize_t[::1] held           # (n_members,) work of a visit held, or 0

    def __init__(
        self, Copies copies, *, Py_ssize_t work, Py_ssize_t much, Py_ssize_t most,
        Py_ssize_t join_all, double margin, double memory,
    ):
        self.copies = copies
        self.work, self.much, self.most = work, much, most
        self.join_all, self.margin, self.memory = join_all, margin, memory
        self.stale = True
        self.dampings.common = self.dampings.shared = copies.n_members
        self.squares = np.zeros((2 * copies.n_members, 2))
        self.common = <Squares*> &self.squares[0, 0]
        self.shared = self.common + copies.n_members
        self.n_left, self.held = np.zeros((2, copies.n_members), dtype=np.intp)

    @property
    def damping(self):
        """Those of the next run: a dict with keys "common" and "shared"."""
        return self.dampings

    def begin(self):
        """Make ready for as many calls of `run` as there are members."""
        # Where members gave up, some may have left nothing of theirs.
        self.stale |= self.barrier.given_up
        self.barrier.n_threads = self.copies.n_members
        self.barrier.n_arrived = self.barrier.given_up = 0

    def weights_changed(self):
        """Take note that w is not what the last run made of it."""
        self.stale = True

    def give_up(self):
        """Tell the members to stop."""
        skcrf_give_up(&self.barrier)

    def run(
        self,
        Py_ssize_t member,
        DualVisitor visitor,
        const double[:, ::1] uniforms,          # in, (n_visits, 2), or None
        const Py_ssize_t[::1] order,            # in, (n_visits,), or None
    ):
        """Make the visits of one member, while other threads make those of the others.

        They wait for it: if it ends with an error, they must be told to give up.

        Raises
        ------
        ValueError
            If a number is not finite.
        """
        cdef Member own = self.enter(member, uniforms, order)
        cdef bint sane = True
        with nogil:
            while not own.done:
                sane = self.visit(&own, member, visitor)
                if not sane or not skcrf_wait(&self.barrier):
                    break
                self.join(&own, member)
                if not skcrf_wait(&self.barrier):
                    # Some rows may not have been joined.
                    own.done = False
                    break
                self.settle(&own, member)
        if not sane:
            raise not_finite(own.plan.sequence)
        if own.done:
            self.leave(&own, member)

    def run_in_turn(self, list visitors, list visits):
        """Make the visits of all members in one thread: the bits are the same.

        Parameters
        ----------
        visitors : list of DualVisitor
        visits : list of tuples
            The uniform numbers and the order of each member, of which one is None.
        """
        cdef Py_ssize_t p, n = self.copies.n_members
        cdef unsigned char[::1] memory = np.empty(n * sizeof(Member), dtype=np.uint8)
        cdef Member* members = <Member*> &memory[0]
        self.begin()
        for p in range(n):
            members[p] = self.enter(p, visits[p][0], visits[p][1])
        while not members[0].done:
            for p in range(n):
                if not self.visit(&members[p], p, visitors[p]):
                    self.stale = True
                    raise not_finite(members[p].plan.sequence)
            for p in range(n):
                self.join(&members[p], p)
            for p in range(n):
                self.settle(&members[p], p)
        for p in range(n):
            self.leave(&members[p], p)

    cdef Member enter(
        self, Py_ssize_t member, const double[:, ::1] uniforms,
        const Py_ssize_t[::1] order,
    ):
        """Return a member before its visits, with a copy that agrees with w."""
        cdef Member own
        own.plan = plan_of(
            uniforms, order, uniforms.shape[0] if order is None else order.shape[0]
        )
        own.work, own.plan.much = self.work, self.much
        own.n_rounds, own.done = 0, False
        own.damping, own.common = self.dampings, Squares(0.0, 0.0)
        own.shared = Squares(0.0, 0.0)
        with nogil:
            if self.stale:
                self.copies.start(member)
            self.copies.forget(member)
        return own

    cdef void leave(self, Member* own, Py_ssize_t member):
        """Keep the weights, and the dampings, which all members agree on."""
        with nogil:
            self.copies.finish(member)
        if member == 0:
            self.dampings, self.n_rounds = own.damping, own.n_rounds
            self.stale = False

    cdef bint visit(
        self, Member* own, Py_ssize_t member, DualVisitor visitor
    ) noexcept nogil:
        """Make the visits of a round; return False if a number is not finite."""
        cdef bint sane
        visitor.sums.damping = own.damping
        sane = visitor.visit_some(&own.plan, own.work)
        self.n_left[member] = own.plan.n_visits - own.plan.next
        self.held[member] = 0
        if own.plan.held:
            self.held[member] = visitor.work_of(own.plan.sequence)
        return sane

    cdef void join(self, Member* own, Py_ssize_t member) noexcept nogil:
        """Join a part, when all have made their visits."""
        own.n_rounds += 1
        own.done = self.all_done()
        own.work = self.work_of_round()
        own.all_rows = own.done or own.n_rounds % self.join_all == 0
        self.common[member] = self.copies.join_common(member, own.damping.common)
        if own.all_rows:
            self.shared[member] = self.copies.join_shared(member, own.damping.shared)
        else:
            self.shared[member] = self.copies.join_bands(
                member, self.copies.band_due(own.n_rounds), own.damping.shared
            )

    cdef void settle(self, Member* own, Py_ssize_t member) noexcept nogil:
        """Take the dampings that squares ask for, when all parts have been joined."""
        own.common.joint *= self.memory
        own.common.apart *= self.memory
        self.add(&own.common, self.common)
        own.damping.common = self.damping_for(&own.common)
        self.add(&own.shared, self.shared)
        if own.all_rows:
            self.copies.forget(member)
            own.damping.shared = self.damping_for(&own.shared)
            own.shared = Squares(0.0, 0.0)

    cdef void add(self, Squares* total, const Squares* parts) noexcept nogil:
        """Add the squares of all parts, in their order."""
        cdef Py_ssize_t p
        for p in range(self.copies.n_members):
            total.joint += parts[p].joint
            total.apart += parts[p].apart

    cdef bint all_done(self) noexcept nogil:
        """Return whether no visit is left to any member."""
        cdef Py_ssize_t p
        for p in range(self.copies.n_members):
            if self.n_left[p] > 0:
                return False
        return True

    cdef Py_ssize_t work_of_round(self) noexcept nogil:
        """Return the work of the next round: the usual, or that of a visit held."""
        cdef Py_ssize_t p, work = self.work
        for p in range(self.copies.n_members):
            work = max(work, self.held[p])
        return min(work, self.most)

    cdef double damping_for(self, const Squares* squares) noexcept nogil:
        """Return the damping that squares as measured ask for."""
        cdef double ratio = 1.0
        if squares.apart > 0.0:
            ratio = squares.joint / squares.apart
        return min(max(1.0, self.margin * ratio), <double> self.copies.n_members)
