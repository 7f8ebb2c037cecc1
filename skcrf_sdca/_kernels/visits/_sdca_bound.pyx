"""One visit of dual coordinate ascent without the entropy of cliques.

The dual is over distributions alpha_i, not over their expectations: a visit moves
alpha_i to (1 - s) alpha_i + s p(. | x_i; w). Only the expectations mu are stored, and a
lower bound E of H(alpha_i). The entropy of a mixture is at least

    H((1 - s) alpha + s p) >= (1 - s) E + s H(p) + J(s),
    J(s) = h((1 - s) mu_t + s nu_t) - (1 - s) h(mu_t) - s h(nu_t),

with nu the expectations of p, H(p) = log Z - <nu, scores>, and h the entropy of the
label of any one position t: what one label shows of the mixture cannot be more than
what all of them show. So

    f(s) = (1 - s) E + s H(p) + J(s) + s <nu - mu, scores> - R(s),

with R of _line_search.pyx, is concave, and what it gains the dual gains. Position t is
the one of which mu_t and nu_t differ most. A step of 1 makes E exact, and another makes
its distance from H(alpha_i) smaller, but for what J leaves out.

One call of the oracle is made, and expectations alone are asked of the inference.

Where features are made at the visit, they are most of its time, and most arcs are in no
tree that is probable. Any distribution beta will do in the place of p: the visit takes
p given that none of the improbable arcs A is in the tree,

    sum over arcs a of A of p_a <= SHARE gap.

The linear part of f loses -log p(no arc of A) at most, a small part of the gap, however
small that is. The expectations of beta are 0 at these arcs, so that their features are
not needed where the ones of alpha are 0 too. The inference is called twice.
"""

from libc.math cimport INFINITY, fabs, frexp, ldexp
from libc.string cimport memcpy, memset

from ..features._weights cimport addressable
from ..inference._inference cimport Values
from ..math._line_search cimport Segment, newton_step, slope_at
from ..math._vecmath cimport Stored, doubles, vxlogx
from ._visits cimport DualVisitor

import numpy as np

# Of the gap, and at most: the probability of what is left out.
cdef double SHARE = 0.1, MOST = 0.1
# Powers of two that sums of probabilities are told apart by.
cdef enum:
    N_POWERS = 64


cdef class SDCABoundKernel(DualVisitor):
    """The arrays of one run and the visits that change them.

    Parameters
    ----------
    item, offsets, scale, gaps, sampler
        As for `DualVisitor`.
    expected : Potentials of float64
        mu: changed in place.
    entropy : ndarray of shape (n,)
        E: changed in place.
    steps : ndarray of shape (n,)
        The step of the last visit, from which the next line search starts: changed in
        place.
    line_search_tol : float
    prunes : bool
        Whether labels other than 0 that are improbable are left out of p.
    """

    cdef readonly Py_ssize_t n_evaluations
    cdef double line_search_tol
    cdef double[::1] local
    cdef double[:, ::1] tied
    cdef double[::1] entropy
    cdef double[::1] steps
    cdef double[::1] moved                      # (K,) buffer
    cdef bint prunes
    cdef Values pruned                          # buffer of potentials

    def __init__(
        self, item, offsets, scale, gaps, sampler, *, expected, entropy, steps,
        double line_search_tol, bint prunes,
    ):
        super().__init__(item, offsets, scale, gaps, sampler)
        self.local = expected.local.reshape(-1)
        self.tied = addressable(expected.tied.reshape(len(offsets) - 1, -1))
        self.entropy, self.steps = entropy, steps
        self.line_search_tol = line_search_tol
        self.moved = np.empty(self.n_labels)
        self.prunes = prunes
        self.pruned = self.item.new_values()

    def take_targets(self):
        """Take the expectations of the targets; their entropies are not written."""
        cdef Py_ssize_t i
        with nogil:
            for i in range(self.offsets.shape[0] - 1):
                self.tied[i, :] = 0.0
                if not self.is_empty(i):
                    self.item.set_item(i)
                    self.item.copy_target(self.kept(i))
        self.item.check()

    def marginalise(self, theta):
        """Take the expectations and the entropies of natural parameters.

        Parameters
        ----------
        theta : Potentials of float32
        """
        cdef Py_ssize_t i, first
        cdef const float[::1] local = theta.local.reshape(-1)
        cdef const float[:, ::1] tied = addressable(
            theta.tied.reshape(self.offsets.shape[0] - 1, -1)
        )
        cdef Values natural = self.item.new_values()
        with nogil:
            for i in range(self.offsets.shape[0] - 1):
                self.entropy[i] = 0.0
                self.tied[i, :] = 0.0
                if self.is_empty(i):
                    continue
                self.item.set_item(i)
                first = self.item.first_local(i)
                widen(&local[first], self.item.n_local, natural.local)
                widen(&tied[i, 0], self.item.n_tied, natural.tied)
                self.entropy[i] = self.expect_at(natural, self.kept(i))
                self.entropy[i] -= self.item.inner(self.kept(i), natural)
        self.item.check()

    cdef Values kept(self, Py_ssize_t i) noexcept nogil:
        """Return the expectations of item i as they are stored."""
        return Values(&self.local[self.item.first_local(i)], &self.tied[i, 0])

    cdef bint visit(self, Py_ssize_t i) noexcept nogil:
        """Visit item i; return False if a number is not finite."""
        cdef double gap, step, log_partition
        cdef Segment segment
        if self.is_empty(i):
            self.record_gap(i, 0.0)
            return True
        log_partition = self.expect(i, True)
        gap = log_partition - self.entropy[i]
        gap -= self.item.inner(self.kept(i), self.item.potentials)
        if gap != gap:
            return False
        self.record_gap(i, max(gap, 0.0))
        if self.prunes:
            gap += self.prune(min(SHARE * gap, MOST)) - log_partition
        self.item.set_change(self.item.expected, self.kept(i))
        if self.sampler.by_residual:
            self.record_value(i, self.item.residual())
        self.item.sum_features()
        self.sums.measure(self.scale[i])
        self.set_segment(i, max(gap, 0.0), &segment)
        step = self.step_size(i, &segment)
        if step != step:
            return False
        self.steps[i] = step
        self.move(i, step, gap, &segment)
        self.sums.add_to_weights(-self.scale[i] * step)
        return True

    cdef double prune(self, double most) noexcept nogil:
        """Leave out labels that have ``most`` probability in all; return log Z.

        The expectations are those of the labels that are left.
        """
        cdef Py_ssize_t t, k, n = self.n_labels
        cdef double limit = limit_of(
            self.item.expected.local, self.item.length, n, most
        )
        cdef double* local = self.pruned.local
        cdef const double* p = self.item.expected.local
        memcpy(local, self.item.potentials.local, self.item.n_local * sizeof(double))
        self.pruned.tied = self.item.potentials.tied
        for t in range(self.item.length):
            for k in range(t * n + 1, (t + 1) * n):
                if p[k] < limit:
                    local[k] = -INFINITY
        return self.expect_at(self.pruned, self.item.expected)

    # The cliques are the label of one position: with H = h((1 - s) mu_t + s nu_t), the
    # linear term is f(1) - f(0) + R(1) - h(nu_t) + h(mu_t), of which the first part is
    # the gap.
    cdef void set_segment(
        self, Py_ssize_t i, double gap, Segment* segment
    ) noexcept nogil:
        """Describe the segment of the label at the position that differs most."""
        cdef Py_ssize_t n = self.n_labels, first = self.most_changed() * n
        segment.cliques.p = doubles(self.kept(i).local + first)
        segment.cliques.target = doubles(self.item.expected.local + first)
        segment.cliques.ratio, segment.cliques.n = NULL, n
        segment.cliques.moved = doubles(&self.moved[0])
        segment.separators.n = 0
        # No logarithm of the target is known.
        segment.out_of_reach = True
        segment.linear = gap + (
            vxlogx(segment.cliques.target, n) - vxlogx(segment.cliques.p, n)
        )

    cdef Py_ssize_t most_changed(self) noexcept nogil:
        """Return the position of which the change has the largest absolute sum."""
        cdef Py_ssize_t t, k, best = 0
        cdef double size, largest = -1.0
        cdef const double* change = &self.item.change[0]
        for t in range(self.item.length):
            size = 0.0
            for k in range(self.n_labels):
                size += fabs(change[k])
            if size > largest:
                best, largest = t, size
            change += self.n_labels
        return best

    cdef double step_size(self, Py_ssize_t i, Segment* segment) noexcept nogil:
        """Return the step of the line search."""
        cdef double curvature
        # The bound may still rise at the end.
        if slope_at(segment, self.sums, 1.0, False, &curvature) >= 0.0:
            return 1.0
        return newton_step(
            segment, self.sums, self.steps[i], self.line_search_tol,
            &self.n_evaluations,
        )

    cdef void move(
        self, Py_ssize_t i, double step, double gap, Segment* segment
    ) noexcept nogil:
        """Store the mixture, and the bound of its entropy."""
        cdef Values mu = self.kept(i), new = self.item.expected
        cdef double gained, of_target
        cdef Stored p = segment.cliques.p, target = segment.cliques.target
        of_target = gap - self.item.change_inner(self.item.potentials)
        gained = (1.0 - step) * vxlogx(p, self.n_labels)
        gained += step * vxlogx(target, self.n_labels)
        mix(mu.local, new.local, step, self.item.n_local)
        mix(mu.tied, new.tied, step, self.item.n_tied)
        gained -= vxlogx(p, self.n_labels)
        self.entropy[i] += step * of_target + max(gained, 0.0)


cdef double limit_of(
    const double* p, Py_ssize_t length, Py_ssize_t n, double most
) noexcept nogil:
    """Return a limit, below which the probabilities of labels but 0 sum to ``most``."""
    cdef Py_ssize_t t, k
    cdef int power
    cdef double[N_POWERS] sums
    memset(&sums[0], 0, N_POWERS * sizeof(double))
    for t in range(length):
        for k in range(t * n + 1, (t + 1) * n):
            frexp(p[k], &power)
            if p[k] > 0.0:
                sums[min(max(-power, 0), N_POWERS - 1)] += p[k]
    power = N_POWERS - 1
    while power >= 0 and sums[power] <= most:
        most -= sums[power]
        power -= 1
    # Numbers of this power are from 2^-(power + 1) to 2^-power.
    return ldexp(1.0, -power - 1)


cdef void widen(const float* x, Py_ssize_t n, double* out) noexcept nogil:
    """Copy numbers to double precision."""
    cdef Py_ssize_t k
    for k in range(n):
        out[k] = x[k]


cdef void mix(
    double* x, const double* y, double step, Py_ssize_t n
) noexcept nogil:
    """Write (1 - step) x + step y into x."""
    cdef Py_ssize_t k
    for k in range(n):
        x[k] = (1.0 - step) * x[k] + step * y[k]
