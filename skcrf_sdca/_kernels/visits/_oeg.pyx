"""One visit of online exponentiated gradient [Collins08; Schmidt15, footnote 9].

The dual variables of item i are natural parameters theta_i, one for each potential. The
step eta moves them to (1 - eta) theta_i + eta scores_i(w), and is taken if the dual
does not fall; with mu the expectations of theta and H = log Z(theta) - <mu, theta>,

    (D_new - D_old) / weight_i = H_new - H_old + <mu_new - mu_old, scores_i>
                                 - R(1),

with R the rise of the penalty of _line_search.pyx, along mu_new - mu_old.

No logarithm of a marginal is taken, and of tied potentials only the sum of the
marginals is stored. The natural parameters are stored in single precision: expectations
and entropies belong to the parameters as stored, so that nothing is lost but the choice
between parameters that round to the same numbers. So the expectations need no place of
their own: where they would take much memory, each visit computes those that it moves
from, the same numbers, by one marginalisation more.
"""

from libc.math cimport fabs

from ..inference._inference cimport Values
from ..math._vecmath cimport addressable, ops
from ._visits cimport DualVisitor

# A change of the dual below ROUNDING (1 + H + |log Z|) is rounding: the trial is taken,
# else an item that is momentarily optimal would halve its step for ever, and the step
# is kept, else it would grow for ever. For the first reason steps stay above
# SMALLEST_STEP.
# No expectation depends on some potentials: the potentials of forbidden labels, or a
# constant that is added at all labels of a position. Their distance to the scores is
# multiplied by 1 - eta at every visit, whatever the dual does, and stays bounded only
# for eta <= 2.
cdef double ROUNDING = 1e-14
cdef double SMALLEST_STEP = 0.05
cdef double LARGEST_STEP = 1.9
cdef double GROWTH = 1.05


cdef class OEGKernel(DualVisitor):
    """The arrays of one OEG run and the visits that change them.

    Parameters
    ----------
    item, offsets, scale, gaps, sampler
        As for `DualVisitor`.
    theta : Potentials of float32
        Natural parameters: changed in place.
    expected : Potentials of float64, or None
        Their expectations: changed in place. None computes them anew at every visit.
    entropy : ndarray of shape (n,)
        H(mu_i): changed in place.
    step : ndarray of shape (n,)
        eta_i of the next visit: changed in place.

    Attributes
    ----------
    max_halvings : int
        How often a visit may halve its step.
    """

    cdef public int max_halvings
    cdef float[::1] theta_local
    cdef float[:, ::1] theta_tied
    cdef bint stores                # whether local and tied have the expectations
    cdef double[::1] local
    cdef double[:, ::1] tied
    cdef double[::1] entropy
    cdef double[::1] step
    # Buffers of one visit.
    cdef Values trial               # natural parameters
    cdef Values before              # expectations that are not stored
    cdef double new_entropy
    cdef double log_z               # under w

    def __init__(
        self, item, offsets, scale, gaps, sampler, *, theta, expected, entropy,
        step,
    ):
        super().__init__(item, offsets, scale, gaps, sampler)
        n = len(offsets) - 1
        self.theta_local = theta.local.reshape(-1)
        self.theta_tied = addressable(theta.tied.reshape(n, -1))
        self.stores = expected is not None
        if self.stores:
            self.local = expected.local.reshape(-1)
            self.tied = addressable(expected.tied.reshape(n, -1))
        else:
            self.before = self.item.new_values()
        self.entropy, self.step = entropy, step
        self.max_halvings = 2
        self.trial = self.item.new_values()

    def marginalise(self):
        """Fill expectations and entropy of its sequences from the natural parameters.
        """
        cdef Py_ssize_t k, i
        with nogil:
            for k in range(self.n_own()):
                i = self.own(k)
                self.entropy[i] = 0.0
                if self.stores:
                    self.tied[i, :] = 0.0
                if not self.is_empty(i):
                    # A trial that keeps the parameters, taken without a change of w.
                    self.item.take_item(i)
                    self.keep(i)
                    self.expect_trial()
                    self.accept(i)
        self.item.check()

    def expect_range(self, Py_ssize_t begin, Py_ssize_t end, out):
        """Write the expectations of items begin <= i < end to their Potentials."""
        cdef Py_ssize_t i, first = self.item.first_local(begin)
        cdef double[::1] local = out.local.reshape(-1)
        cdef double[:, ::1] tied = addressable(out.tied.reshape(end - begin, -1))
        with nogil:
            for i in range(begin, end):
                if not self.is_empty(i):
                    self.item.take_item(i)
                    self.expect_kept(i, Values(
                        &local[self.item.first_local(i) - first], &tied[i - begin, 0]
                    ))
        self.item.check()

    cdef bint visit(self, Py_ssize_t i) noexcept nogil:
        """Visit item i; return False if a number is not finite."""
        cdef double gap, change, rounding, step = self.step[i]
        cdef int halving
        if self.is_empty(i):
            self.record_gap(i, 0.0)
            return True
        self.item.set_item(i)
        if not self.stores:
            self.n_oracle_calls += 1.0
            self.expect_kept(i, self.before)
        gap = self.gap_of(i)
        if gap != gap:
            return False
        self.record_gap(i, max(gap, 0.0))
        rounding = ROUNDING * (1.0 + self.entropy[i] + fabs(self.log_z))
        for halving in range(self.max_halvings + 1):
            change = self.try_step(i, step)
            if change != change:
                return False
            if change >= -rounding:
                self.accept(i)
                self.sums.add_to_weights(-self.scale[i])
                break
            if halving < self.max_halvings:
                step *= 0.5
        if fabs(change) > rounding:
            step *= GROWTH
        self.step[i] = min(max(step, SMALLEST_STEP), LARGEST_STEP)
        return True

    cdef Values kept(self, Py_ssize_t i) noexcept nogil:
        """Return the expectations of item i that the visit moves from."""
        if not self.stores:
            return self.before
        return Values(&self.local[self.item.first_local(i)], &self.tied[i, 0])

    cdef void expect_kept(self, Py_ssize_t i, Values out) noexcept nogil:
        """Write the expectations under the natural parameters of item i, set before."""
        self.keep(i)
        self.item.expect(self.trial, out)

    # g_i = KL(mu_i || p(. | w)) = log Z(scores_i) - <mu_i, scores_i> - H(mu_i)
    cdef double gap_of(self, Py_ssize_t i) noexcept nogil:
        """Return g_i, from one forward pass under w."""
        self.log_z = self.log_partition_at(self.item.potentials)
        return (
            self.log_z - self.entropy[i]
            - self.item.inner(self.kept(i), self.item.potentials)
        )

    cdef void expect_trial(self) noexcept nogil:
        """Fill the buffers with the expectations and the entropy of the trial."""
        cdef Values new = self.item.expected
        cdef double log_z = self.expect_at(self.trial, new)
        self.new_entropy = log_z - self.item.inner(new, self.trial)
        self.new_entropy -= self.item.inference.excess(self.trial, new)

    cdef double try_step(self, Py_ssize_t i, double step) noexcept nogil:
        """Fill the buffers with the trial; return its change of the dual."""
        cdef Values scores = self.item.potentials
        self.blend(i, scores, step)
        self.expect_trial()
        self.item.set_change(self.item.expected, self.kept(i))
        self.item.sum_features()
        self.sums.measure(self.scale[i])
        return (
            self.new_entropy - self.entropy[i] + self.item.change_inner(scores)
            - self.sums.value(1.0)
        )

    cdef void keep(self, Py_ssize_t i) noexcept nogil:
        """Fill the trial with theta_i."""
        cdef Py_ssize_t k, first = self.item.first_local(i)
        for k in range(self.item.n_local):
            self.trial.local[k] = self.theta_local[first + k]
        for k in range(self.item.n_tied):
            self.trial.tied[k] = self.theta_tied[i, k]

    cdef void blend(self, Py_ssize_t i, Values scores, double step) noexcept nogil:
        """Fill the trial with (1 - step) theta_i + step scores."""
        ops.blend(
            &self.theta_local[self.item.first_local(i)], scores.local, step,
            self.item.n_local, self.trial.local,
        )
        ops.blend(
            &self.theta_tied[i, 0], scores.tied, step, self.item.n_tied,
            self.trial.tied,
        )

    cdef void accept(self, Py_ssize_t i) noexcept nogil:
        """Store the trial in the buffers."""
        ops.narrow(
            self.trial.local, self.item.n_local,
            &self.theta_local[self.item.first_local(i)],
        )
        ops.narrow(self.trial.tied, self.item.n_tied, &self.theta_tied[i, 0])
        if self.stores:
            self.item.copy_values(self.item.expected, self.kept(i))
        self.entropy[i] = self.new_entropy
