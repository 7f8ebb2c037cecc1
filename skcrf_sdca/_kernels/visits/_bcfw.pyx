"""One visit of block-coordinate Frank-Wolfe with pairwise steps [Osokin16].

For the maximum in the place of log sum exp, the dual has no entropy. The expectations
of item i are a mixture of labellings, its active set:

    mu_i = sum_k share_k certain(y_k),    share_k >= 0 with the sum 1.

A visit asks the oracle for the labelling y of highest score, costs included. It moves
share from the labelling a of lowest score in the active set to y, as much as maximises
the dual, and moves w = grad r*(w_hat(mu)) with it. Divided by the weight of the item,
the dual rises along direction = certain(y) - certain(a) by

    s (score(y) - score(a)) - R(s),    0 <= s <= share of a,

with R as in _line_search.pyx.

The step of Frank-Wolfe itself [LacosteJulien13, Alg. 4] goes from mu_i to y: it takes
from labellings that are right as well, and converges far more slowly. The gap of the
item, max_y score(y) - <mu_i, scores_i>, is the same.

With Gini's entropy H(mu) = 1/2 <u, 1 - u> of the local expectations u [Niculae18], a
visit goes to a whole mixture, by a `MixtureKernel`. With g the gradient of the dual at
mu_i, the scores with 1/2 - u added to the local ones, the mixture maximises

    <mu - mu_i, g> - (1 + c) / 2 ||u(mu) - u||^2 - d / 2 ||tied(mu) - tied(mu_i)||^2.

With c = d = 0 it is the maximiser of the scores and H, and the line search makes a
small step to it, since the penalty R has a far larger curvature than H. The step is the
longer, the more of the curvature of R is in c, that of moves before, and in d, which L2
has. Without d, labellings that differ in tied potentials alone are mixed one by one.

The search for the mixture begins with the active set, so that it starts at mu_i and few
searches are enough. A step mixes the active sets. Labellings without room, and those of
next to no share, are left out: then the search begins near mu_i, which visits keep.
"""

from libc.math cimport INFINITY, isfinite
from libc.string cimport memcmp, memcpy, memset

from ..math._line_search cimport linear_step
from ..inference._inference cimport Values
from ..inference._mixture cimport Mixture
from ._visits cimport DualVisitor
from ..math._vecmath cimport addressable, ops

import numpy as np

# The part of the curvature of the penalty that the choice of a mixture knows. With
# 0.1 to 1 names need 10 to 14 epochs, and handwriting 23 to 28.
cdef double PART_OF_CURVATURE = 0.3
# The gap of a mixture, beside the size of its scores.
cdef double SMALL_GAP = 1e-9
# The searches of a visit: with 5 trees need 1.3 times the epochs of 10, and with 500 as
# many epochs but four times the searches.
cdef Py_ssize_t SEARCHES = 10
# A labelling of a smaller share does not stay in an active set: with 1e-3 trees stay at
# a gap of 0.02 P, and with 1e-6 visits to words take 1.4 times as long.
cdef double SMALL_SHARE = 1e-4


cdef class ExpectationVisitor(DualVisitor):
    """Visits that keep the expectations mu_i of each item and move them with w.

    Parameters
    ----------
    item, offsets, scale, gaps, sampler
        As for `DualVisitor`.
    expected : Potentials of float64
        The expectations mu_i: changed in place.
    active : ActiveSets
        The labellings that mu_i mixes: changed in place.
    """

    cdef double[::1] local
    cdef double[:, ::1] tied
    cdef Values kept                # mu_i of the item that is visited
    cdef int[:, ::1] paths          # (most, N): labelling k of item i, its positions
    cdef double[:, ::1] share       # (most, n)
    cdef int[::1] size              # (n,) labellings of each item
    cdef Py_ssize_t most

    def __init__(self, item, offsets, scale, gaps, sampler, *, expected, active):
        super().__init__(item, offsets, scale, gaps, sampler)
        self.local = expected.local.reshape(-1)
        self.tied = addressable(expected.tied.reshape(len(offsets) - 1, -1))
        self.paths = addressable(active.paths)
        self.share, self.size = active.share, active.size
        self.most = len(active.share)

    cdef bint visit(self, Py_ssize_t i) noexcept nogil:
        """Visit item i; return False if a number is not finite."""
        if self.is_empty(i):
            self.record_gap(i, 0.0)
            return True
        self.item.set_item(i)
        self.kept = Values(
            &self.local[self.item.first_local(i)], &self.tied[i, 0]
        )
        return self.improve(i)

    cdef bint improve(self, Py_ssize_t i) noexcept nogil:
        """Visit item i, whose potentials and expectations have been taken."""
        return True

    cdef void measure(self, Py_ssize_t i, Values away) noexcept nogil:
        """Measure the change from ``away`` to the expectations of the item."""
        self.item.set_change(self.item.expected, away)
        self.item.sum_features()
        self.sums.measure(self.scale[i])

    cdef void move(self, Py_ssize_t i, Values away, double step) noexcept nogil:
        """Move mu_i and the weights by a step along the measured change."""
        cdef Values to = self.item.expected
        shift(self.kept.local, to.local, away.local, step, self.item.n_local)
        shift(self.kept.tied, to.tied, away.tied, step, self.item.n_tied)
        self.sums.add_to_weights(-self.scale[i] * step)

    cdef int* member(self, Py_ssize_t i, Py_ssize_t k) noexcept nogil:
        """Return labelling k of item i."""
        return &self.paths[k, self.offsets[i]]

    cdef Py_ssize_t member_of(self, Py_ssize_t i, const int* labels) noexcept nogil:
        """Return which labelling of item i has these labels, added if there is room.

        Without room it is ``most``.
        """
        cdef Py_ssize_t k, n = self.size[i]
        for k in range(n):
            if memcmp(
                self.member(i, k), labels, self.item.length * sizeof(int)
            ) == 0:
                return k
        if n < self.most:
            self.set_member(i, n, labels)
            self.share[n, i] = 0.0
            self.size[i] = <int> n + 1
        return n

    cdef void set_member(
        self, Py_ssize_t i, Py_ssize_t k, const int* labels
    ) noexcept nogil:
        """Make labels the labelling k of item i."""
        memcpy(self.member(i, k), labels, self.item.length * sizeof(int))

    cdef void remove(self, Py_ssize_t i, Py_ssize_t k) noexcept nogil:
        """Remove labelling k of item i: the last one takes its place."""
        cdef Py_ssize_t last = self.size[i] - 1
        if k != last:
            memcpy(
                self.member(i, k), self.member(i, last),
                self.item.length * sizeof(int),
            )
        self.share[k, i] = self.share[last, i]
        self.size[i] = <int> last


cdef class BCFWKernel(ExpectationVisitor):
    """The arrays of one BCFW run and the visits that change them.

    Parameters
    ----------
    item, offsets, scale, gaps, sampler, expected, active
        As for `ExpectationVisitor`.
    """

    cdef int[::1] path              # a buffer: the best labelling
    cdef Values away                # a buffer: the labelling that loses share

    def __init__(self, item, offsets, scale, gaps, sampler, **mu):
        super().__init__(item, offsets, scale, gaps, sampler, **mu)
        self.path = np.empty(self.item.most_local, dtype=np.intc)
        self.away = self.item.new_values()

    cdef bint improve(self, Py_ssize_t i) noexcept nogil:
        """Record the gap of item i, and move its share to the best labelling."""
        cdef double best = self.argmax_at(self.item.potentials, &self.path[0])
        cdef double gap = best - self.item.inner(self.kept, self.item.potentials)
        if not isfinite(gap):
            return False
        self.record_gap(i, max(gap, 0.0))
        return gap <= 0.0 or self.move_share(i, best)

    cdef bint move_share(self, Py_ssize_t i, double best) noexcept nogil:
        """Move share of item i to its best labelling; return whether all is finite."""
        cdef double low, step
        cdef Py_ssize_t lowest, place = self.member_of(i, &self.path[0])
        if place == self.most:
            if self.replace_least(i, best):
                return True
            place = self.extreme(i, 1.0, &best)
        lowest = self.extreme(i, -1.0, &low)
        if not best > low:
            return True
        step = self.exact_step(i, self.member(i, place), lowest, best - low)
        if step != step:
            return False
        step = min(step, self.share[lowest, i])
        self.move(i, self.away, step)
        self.share[place, i] += step
        self.share[lowest, i] -= step
        if lowest > 0 and self.share[lowest, i] == 0.0:
            self.remove(i, lowest)
        return True

    cdef bint replace_least(self, Py_ssize_t i, double best) noexcept nogil:
        """Have the best labelling take the place of the one of smallest share.

        Return False if the dual would fall.
        """
        cdef Py_ssize_t k, least = 1
        cdef double low
        for k in range(2, self.most):
            if self.share[k, i] < self.share[least, i]:
                least = k
        low = self.score(i, least)
        if not best > low or (
            2.0 * self.exact_step(i, &self.path[0], least, best - low)
            < self.share[least, i]
        ):
            return False
        self.move(i, self.away, self.share[least, i])
        self.set_member(i, least, &self.path[0])
        return True

    cdef double score(self, Py_ssize_t i, Py_ssize_t k) noexcept nogil:
        """Return the score of labelling k of item i."""
        return self.item.inference.labels_score(
            self.member(i, k), self.item.potentials
        )

    cdef Py_ssize_t extreme(
        self, Py_ssize_t i, double sign, double* value
    ) noexcept nogil:
        """Return the labelling of highest sign * score, and write that score.

        For a sign of -1 only labellings with a share count.
        """
        cdef Py_ssize_t k, found = 0
        cdef double score, highest = -INFINITY
        for k in range(self.size[i]):
            if sign > 0.0 or self.share[k, i] > 0.0:
                score = self.score(i, k)
                if sign * score > highest:
                    found, value[0], highest = k, score, sign * score
        return found

    cdef double exact_step(
        self, Py_ssize_t i, const int* to, Py_ssize_t away, double linear
    ) noexcept nogil:
        """Take the change from labelling ``away`` to another; return the best step.

        ``linear`` is the difference of their scores.
        """
        self.item.set_certain(to, self.item.expected)
        self.item.set_certain(self.member(i, away), self.away)
        self.measure(i, self.away)
        return linear_step(linear, self.sums, 0.0)


cdef class MixtureKernel(ExpectationVisitor):
    """The arrays of one run with Gini's entropy, and the visits that change them.

    Parameters
    ----------
    item, offsets, scale, gaps, sampler, expected, active
        As for `ExpectationVisitor`.
    curvature : ndarray of shape (2,)
        What an earlier run has measured, see the attribute.

    Attributes
    ----------
    curvature : ndarray of shape (2,)
        The curvatures of R and of H along the local changes of all moves, summed, over
        that of a move along which H has the curvature 1.
    """

    cdef Mixture mixture
    cdef Values scores              # a buffer: those of the mixture
    cdef double of_penalty          # the sum of the curvatures of R, of local changes
    cdef double of_entropy          # the same of H, times the scale of each item
    cdef double of_move             # the same of one move with the curvature 1

    def __init__(self, item, offsets, scale, gaps, sampler, *, curvature, **mu):
        super().__init__(item, offsets, scale, gaps, sampler, **mu)
        self.mixture = Mixture(self.item.inference)
        self.mixture.allow_tied_factor(self.item.tying.with_weight(self.item.n_tied))
        self.mixture.max_searches = SEARCHES
        self.scores = self.item.new_values()
        self.of_move = np.mean(scale)
        self.of_penalty, self.of_entropy = self.of_move * curvature

    @property
    def curvature(self):
        return np.array([self.of_penalty, self.of_entropy]) / self.of_move

    def set_factors(self, code, value, bias_factor):
        """Have visits move weights by factors, which change the curvature of R.

        The curvatures of the moves before count as those of one move.
        """
        super().set_factors(code, value, bias_factor)
        self.of_penalty *= self.of_move / self.of_entropy
        self.of_entropy = self.of_move

    cdef bint improve(self, Py_ssize_t i) noexcept nogil:
        """Record the gap of item i, and move its expectations to the mixture."""
        cdef Values slope = self.item.potentials
        cdef double linear, curvature, step
        if not isfinite(self.solve(i)):
            return False
        self.measure(i, self.kept)
        curvature = ops.dot(
            &self.item.change[0], &self.item.change[0], self.item.n_local
        )
        linear = (
            self.item.inner(self.item.expected, slope)
            - self.item.inner(self.kept, slope)
        )
        self.record_gap(i, max(linear - 0.5 * curvature, 0.0))
        if not linear > 0.0:
            return linear <= 0.0
        self.of_penalty += max(
            self.sums.quadratic - self.of_tied(i) * ops.dot(
                &self.sums.edge[0], &self.sums.edge[0], self.item.n_tied
            ),
            0.0,
        )
        self.of_entropy += self.scale[i] * curvature
        step = linear_step(linear, self.sums, curvature)
        if step != step:
            return False
        self.move(i, self.kept, step)
        self.mix(i, step)
        return True

    cdef void mix(self, Py_ssize_t i, double step) noexcept nogil:
        """Move the shares of item i by a step to those of the mixture."""
        cdef Py_ssize_t k, place
        for k in range(self.size[i]):
            self.share[k, i] *= 1.0 - step
        for k in range(self.mixture.size):
            place = self.member_of(i, &self.mixture.labels[k, 0])
            if place < self.most:
                self.share[place, i] += step * self.mixture.share[k]
        for k in range(self.size[i] - 1, 0, -1):
            if self.share[k, i] < SMALL_SHARE:
                self.remove(i, k)

    # The mixture maximises <mu, scores> + H(mu) - b / 2 ||tied(mu)||^2, so that its
    # scores are those of the gradient divided by 1 + c, with u - 1/2 added to the local
    # ones, and b = d / (1 + c) times the tied expectations to the tied ones.
    cdef double solve(self, Py_ssize_t i) noexcept nogil:
        """Make the potentials of item i the gradient; write the mixture as expected.

        The value is not finite if a score is not.
        """
        cdef Py_ssize_t k
        cdef Values kept = self.kept, slope = self.item.potentials
        cdef Values target = self.item.expected
        cdef double value, factor = 1.0 / (
            1.0
            + PART_OF_CURVATURE * self.scale[i] * self.of_penalty / self.of_entropy
        )
        if self.item.n_tied > 0:
            self.mixture.tied_factor = PART_OF_CURVATURE * self.of_tied(i) * factor
        for k in range(self.item.n_local):
            slope.local[k] += 0.5 - kept.local[k]
            self.scores.local[k] = factor * slope.local[k] + kept.local[k] - 0.5
        for k in range(self.item.n_tied):
            self.scores.tied[k] = factor * slope.tied[k]
            if self.mixture.has_weight[k]:
                self.scores.tied[k] += self.mixture.tied_factor * kept.tied[k]
        self.item.inference.set_tied(self.scores.tied, False)
        memset(target.tied, 0, self.item.n_tied * sizeof(double))
        self.mixture.clear()
        for k in range(self.size[i]):
            self.mixture.add_known(self.scores, self.member(i, k), self.share[k, i])
        value = self.mixture.solve(self.scores, target.local, SMALL_GAP)
        self.mixture.add_tied(1.0, target.tied)
        self.n_oracle_calls += self.mixture.n_searches
        return value

    cdef double of_tied(self, Py_ssize_t i) noexcept nogil:
        """Return the curvature of R along tied expectations of item i."""
        return self.scale[i] * self.item.weights.bias_factor


cdef void shift(
    double* kept, const double* to, const double* away, double step, Py_ssize_t n
) noexcept nogil:
    """Add step (to - away) to kept."""
    cdef Py_ssize_t k
    for k in range(n):
        kept[k] += step * (to[k] - away[k])
