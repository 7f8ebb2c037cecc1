"""One visit of dual coordinate ascent without the entropy of cliques.

The dual is over distributions alpha_i, not over their expectations: a visit moves
alpha_i to (1 - s) alpha_i + s p(. | x_i; w). Only the expectations mu are stored, and a
lower bound E of H(alpha_i). The entropy of a mixture is at least

    H((1 - s) alpha + s p) >= (1 - s) E + s H(p) + J(s),
    J(s) = h((1 - s) mu_t + s nu_t) - (1 - s) h(mu_t) - s h(nu_t),

with nu the expectations of p, H(p) = log Z - <nu, scores>, and h the entropy of the
label of any one position t: what one label shows of the mixture cannot be more than
what all of them show. The probability of the target is known too, alpha_i(y_i), so that
h is of one outcome more: the label of the target at t is told from the whole target.
Near the targets, where every fit begins, that shows much more of the mixture. So

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

from libc.math cimport INFINITY, exp, fabs, frexp, ldexp
from libc.string cimport memcpy, memset

from ..inference._inference cimport Values
from ..math._line_search cimport Segment, newton_step, slope_at
from ..math._vecmath cimport Stored, doubles, skip, vxlogx
from ._visits cimport DualVisitor

import numpy as np

# Of the gap, and at most: the probability of what is left out.
cdef double SHARE = 0.1, MOST = 0.1
# Changes of positions that differ by this share are equal on paper: the first counts,
# and rounding chooses none. Arcs into a word with two heads change by the same.
cdef double EQUAL = 1e-9
# Powers of two that sums of probabilities are told apart by.
cdef enum:
    N_POWERS = 64


cdef class SDCABoundKernel(DualVisitor):
    """The arrays of one run and the visits that change them.

    Parameters
    ----------
    item, offsets, scale, gaps, sampler
        As for `DualVisitor`.
    expected : Potentials of float32 or float64
        mu: changed in place.
    entropy : ndarray of shape (n,)
        E: changed in place.
    of_targets : ndarray of shape (n,)
        alpha_i(y_i), the probabilities of the targets, -1 where these are not known:
        changed in place.
    steps : ndarray of shape (n,)
        The step of the last visit, from which the next line search starts: changed in
        place.
    line_search_tol : float
    prunes : bool
        Whether labels other than 0 that are improbable are left out of p.
    """

    cdef readonly Py_ssize_t n_evaluations
    cdef double line_search_tol
    cdef object expected                        # the owner of local and tied
    cdef Stored local
    cdef Stored tied
    cdef Values mu                              # of one item, in double precision
    cdef Values buffer                          # where mu is, of single precision
    cdef double[::1] entropy
    cdef double[::1] of_targets
    cdef double[::1] steps
    # (K + 1,) buffers, of one position: what moves, where to, and what it becomes.
    cdef double[::1] now
    cdef double[::1] aim
    cdef double[::1] moved
    cdef bint prunes
    cdef Values pruned                          # buffer of potentials

    def __init__(
        self, item, offsets, scale, gaps, sampler, *, expected, entropy,
        of_targets, steps, double line_search_tol, bint prunes,
    ):
        super().__init__(item, offsets, scale, gaps, sampler)
        self.expected = expected
        self.local, self.tied = stored(expected.local), stored(expected.tied)
        self.mu = self.buffer = self.item.new_values()
        self.entropy, self.steps = entropy, steps
        self.of_targets = of_targets
        self.line_search_tol = line_search_tol
        self.now, self.aim, self.moved = np.empty((3, self.n_labels + 1))
        self.prunes = prunes
        self.pruned = self.item.new_values()

    def take_targets(self):
        """Take the expectations of the targets; their entropies are not written.

        It is done for the sequences of this visitor, as by `marginalise`.
        """
        cdef Py_ssize_t k, i
        with nogil:
            for k in range(self.n_own()):
                i = self.own(k)
                if not self.is_empty(i):
                    self.item.take_item(i)
                    self.read(i)
                    self.item.copy_target(self.mu)
                    self.write(i)
                    self.of_targets[i] = 1.0 if self.knows_targets() else -1.0
        self.item.check()

    def marginalise(self, theta):
        """Take the expectations and the entropies of natural parameters.

        Parameters
        ----------
        theta : Potentials of float32
        """
        cdef Py_ssize_t k, i
        cdef Stored local = stored(theta.local), tied = stored(theta.tied)
        cdef Values natural = self.item.new_values()
        with nogil:
            for k in range(self.n_own()):
                i = self.own(k)
                self.entropy[i] = 0.0
                if self.is_empty(i):
                    continue
                self.item.take_item(i)
                self.read(i)
                widen(self.local_of(local, i), self.item.n_local, natural.local)
                widen(self.tied_of(tied, i), self.item.n_tied, natural.tied)
                self.entropy[i] = self.expect_at(natural, self.mu)
                self.of_targets[i] = self.of_target(natural, self.entropy[i])
                self.entropy[i] -= self.item.inner(self.mu, natural)
                self.write(i)
        self.item.check()

    cdef Stored local_of(self, Stored values, Py_ssize_t i) noexcept nogil:
        """Return where the local values of item i are."""
        return skip(values, self.item.first_local(i))

    cdef Stored tied_of(self, Stored values, Py_ssize_t i) noexcept nogil:
        """Return where the tied values of item i are."""
        return skip(values, i * self.item.n_tied)

    cdef void read(self, Py_ssize_t i) noexcept nogil:
        """Have mu of item i at hand: in a copy, if it is stored in single precision."""
        cdef Stored local = self.local_of(self.local, i)
        cdef Stored tied = self.tied_of(self.tied, i)
        if local.single:
            widen(local, self.item.n_local, self.buffer.local)
            widen(tied, self.item.n_tied, self.buffer.tied)
        else:
            self.mu = Values(<double*> local.first, <double*> tied.first)

    cdef void write(self, Py_ssize_t i) noexcept nogil:
        """Store what mu of item i has become."""
        if self.local.single:
            narrow(self.mu.local, self.item.n_local, self.local_of(self.local, i))
            narrow(self.mu.tied, self.item.n_tied, self.tied_of(self.tied, i))

    cdef bint knows_targets(self) noexcept nogil:
        """Return whether the targets are labels, of which the probability is kept.

        Where visits leave out arcs, it is not: then no step is 1, after which the arcs
        that were left out are 0, and need no features.
        """
        return self.item.labels is not None and not self.prunes

    cdef double of_target(
        self, Values potentials, double log_partition
    ) noexcept nogil:
        """Return the probability of the target under potentials, -1 if not known."""
        if not self.knows_targets():
            return -1.0
        return min(exp(self.item.target_score(potentials) - log_partition), 1.0)

    cdef bint visit(self, Py_ssize_t i) noexcept nogil:
        """Visit item i; return False if a number is not finite."""
        cdef double gap, step, log_partition, of_target
        cdef Segment segment
        if self.is_empty(i):
            self.record_gap(i, 0.0)
            return True
        log_partition = self.expect(i, True)
        self.read(i)
        gap = log_partition - self.entropy[i]
        gap -= self.item.inner(self.mu, self.item.potentials)
        if gap != gap:
            return False
        self.record_gap(i, max(gap, 0.0))
        if self.prunes:
            gap += self.prune(min(SHARE * gap, MOST)) - log_partition
        of_target = self.of_target(self.item.potentials, log_partition)
        self.item.set_change(self.item.expected, self.mu)
        if self.sampler.by_residual:
            self.record_value(i, self.item.residual())
        self.item.sum_features()
        self.sums.measure(self.scale[i])
        self.set_segment(i, max(gap, 0.0), of_target, &segment)
        step = self.step_size(i, &segment)
        if step != step:
            return False
        self.steps[i] = step
        self.move(i, step, gap, &segment)
        if step == 1.0:
            self.of_targets[i] = of_target
        elif self.of_targets[i] >= 0.0:
            self.of_targets[i] += step * (of_target - self.of_targets[i])
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
        self, Py_ssize_t i, double gap, double of_target, Segment* segment
    ) noexcept nogil:
        """Describe the segment of the label at the position that differs most."""
        cdef Py_ssize_t n = self.n_labels + 1, t = self.most_changed()
        cdef Py_ssize_t first = t * self.n_labels, label = 0
        cdef bint is_known = self.of_targets[i] >= 0.0
        if is_known:
            label = self.item.labels[self.item.first + t]
        split(
            self.mu.local + first, self.n_labels, label,
            self.of_targets[i] if is_known else 0.0, &self.now[0],
        )
        split(
            self.item.expected.local + first, self.n_labels, label,
            of_target if is_known else 0.0, &self.aim[0],
        )
        segment.cliques.p = doubles(&self.now[0])
        segment.cliques.target = doubles(&self.aim[0])
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
            if size > (1.0 + EQUAL) * largest:
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
        cdef Values mu = self.mu, new = self.item.expected
        cdef double gained, rise
        cdef Py_ssize_t n = segment.cliques.n
        cdef Stored p = segment.cliques.p
        rise = gap - self.item.change_inner(self.item.potentials)
        gained = (1.0 - step) * vxlogx(p, n)
        gained += step * vxlogx(segment.cliques.target, n)
        mix(mu.local, new.local, step, self.item.n_local)
        mix(mu.tied, new.tied, step, self.item.n_tied)
        mix(&self.now[0], &self.aim[0], step, n)
        gained -= vxlogx(p, n)
        self.entropy[i] += step * rise + max(gained, 0.0)
        self.write(i)


cdef void split(
    const double* x, Py_ssize_t n, Py_ssize_t label, double part, double* out
) noexcept nogil:
    """Copy probabilities of labels, and tell a part of one label from its rest."""
    memcpy(out, x, n * sizeof(double))
    out[n] = min(part, x[label])
    out[label] -= out[n]


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


cdef Stored stored(values):
    """Return where the numbers of an array are stored, which is kept elsewhere."""
    return Stored(<void*> <size_t> values.ctypes.data, values.dtype == np.float32)


cdef void widen(Stored x, Py_ssize_t n, double* out) noexcept nogil:
    """Copy numbers in single precision to double precision."""
    cdef Py_ssize_t k
    cdef const float* first = <const float*> x.first
    for k in range(n):
        out[k] = first[k]


cdef void narrow(const double* x, Py_ssize_t n, Stored out) noexcept nogil:
    """Copy numbers to single precision."""
    cdef Py_ssize_t k
    cdef float* first = <float*> out.first
    for k in range(n):
        first[k] = <float> x[k]


cdef void mix(
    double* x, const double* y, double step, Py_ssize_t n
) noexcept nogil:
    """Write (1 - step) x + step y into x."""
    cdef Py_ssize_t k
    for k in range(n):
        x[k] = (1.0 - step) * x[k] + step * y[k]
