"""The mixture of labellings of largest score and entropy, for Gini's entropy.

With u(mu) the local expectations of mu, which are 0 or 1 for a labelling, SparseMAP
[Niculae18] maximises

    f(mu) = <mu, scores> + H(mu),    H(mu) = 1/2 <u, 1 - u>,

over all mixtures of labellings, mu = sum_k share_k certain(y_k). Its maximiser mixes
few of them, and f is a quadratic of the shares,

    <share, scores of labellings> - 1/2 share^T A share,

with A[k, l] the number of positions where y_k and y_l agree. The active set grows by
the best labelling under the gradient of f, the scores with 1/2 - u added to the local
ones. After each search the shares maximise f over the set, by the active-set method
of [Wolfe76]: a step goes to the maximum over shares of any sign, or as far as all are
at least 0, where a labelling leaves the set. The slopes along the labellings are then
equal. A labelling of larger slope agrees with the others in another way than a mixture
of them does, so that A stays positive definite, unless scores of cliques decide between
them: then f has no curvature along one direction, and the step ends where a labelling
leaves. The set may begin with labellings that are known, as those of visits before.

With F the maximum, and f concave,

    F <= f(mu) + gap,    gap = max_y <certain(y) - mu, gradient>,

so that the bound on the right needs no exact solution.

A visit subtracts b / 2 ||tied expectations||^2 from f, of those that have a weight, see
_bcfw.pyx. A[k, l] has then b times the inner product of those of y_k and y_l besides.
"""

from libc.math cimport INFINITY, sqrt
from libc.string cimport memcmp, memcpy, memmove, memset

from ..math._vecmath cimport ops, start_of
from ._inference cimport Values, begin_of_local
from ._passes cimport Items

import numpy as np

# Labellings that are mixed at most, and searches for them.
cdef enum:
    MOST = 256
    MAX_SEARCHES = 500

# The gap that ends the search for a bound of F, and for mu, which has an error of its
# root. Both are beside the size of the scores of labellings.
cdef double SMALL_GAP = 1e-12
cdef double NO_GAP = 1e-14
# A labelling depends on others if no more than this part of its positions is its own.
cdef double DEPENDENT = 1e-10


cdef class Mixture:
    """The maximiser mu of one item after the other.

    Parameters
    ----------
    inference : Inference
        Of the items, which are taken before `solve`; tied potentials have been set.
    """

    def __init__(self, Inference inference):
        self.inference = inference
        self.most = min(MOST, inference.most_local + 2)
        self.labels = np.empty((self.most, max(inference.most_local, 1)), dtype=np.intc)
        self.share, self.slope = np.empty(self.most), np.empty(self.most)
        self.score = np.empty(self.most)
        self.agreement = np.empty((self.most, self.most))
        self.factor = np.zeros((self.most, self.most))
        self.change, self.part_of_ones = np.empty(self.most), np.empty(self.most)
        self.gradient = np.empty(max(inference.most_local, 1))
        self.tied_factor = 0.0
        self.max_searches = MAX_SEARCHES
        self.tied, self.tied_gradient = None, None

    def allow_tied_factor(self, has_weight):
        """Make the buffers of a ``tied_factor`` above 0, for tied potentials that have
        a weight, of the array (n_tied,) uint8.
        """
        self.has_weight = has_weight
        self.zeros = np.zeros(max(self.inference.most_local, 1))
        self.tied = np.empty(self.inference.n_tied)
        self.tied_gradient = np.empty(self.inference.n_tied)

    cdef double solve(
        self, Values scores,
        double* local,                  # out, (n_local,): u
        double small_gap,
    ) noexcept nogil:
        """Find the mixture; return f(mu) + gap, -inf if there is no labelling.

        Follows `clear`, and `add_known` for each labelling that the set begins with.
        """
        cdef double best, value
        cdef bint is_known = False, was_known
        self.n_searches, self.gap = 0, 0.0
        if self.size > 0:
            self.balance_known()
        value = self.set_point(scores, local)
        while self.n_searches < self.max_searches:
            self.n_searches += 1
            best = self.inference.argmax(
                Values(&self.gradient[0], self.tied_at(scores)),
                &self.labels[self.size, 0],
            )
            if not best > -INFINITY:
                return best
            if self.size > 0:
                self.gap = max(best - self.mean_slope(), 0.0)
                if (
                    self.gap <= small_gap * (1.0 + abs(best))
                    or self.size == self.most - 1
                ):
                    break
            was_known, is_known = is_known, self.is_member(&self.labels[self.size, 0])
            # Slopes differ by rounding, which a second balance makes less.
            if is_known and was_known:
                break
            if not is_known:
                self.add(scores, 0.0 if self.size > 0 else 1.0)
            if not self.balance():
                break
            value = self.set_point(scores, local)
        return value + self.gap

    cdef void clear(self) noexcept nogil:
        """Begin another item, without labellings."""
        self.size = 0

    cdef void add_known(
        self, Values scores, const int* labels, double share
    ) noexcept nogil:
        """Add a labelling to begin with, if it has a share and there is room."""
        if share > 0.0 and self.size < self.most - 1:
            memcpy(
                &self.labels[self.size, 0], labels,
                self.inference.length * sizeof(int),
            )
            self.add(scores, share)

    cdef void balance_known(self) noexcept nogil:
        """Maximise f over the labellings to begin with."""
        cdef Py_ssize_t k
        cdef double rest = 1.0
        for k in range(self.size):
            rest -= self.share[k]
        self.share[0] += rest
        for k in range(self.size):
            self.set_slope(k)
        self.balance()

    cdef double mean_slope(self) noexcept nogil:
        """Return <mu, gradient>."""
        return ops.dot(&self.share[0], &self.slope[0], self.size)

    cdef double set_point(self, Values scores, double* local) noexcept nogil:
        """Write u, the gradient, and the slopes; return f(mu)."""
        cdef double value
        cdef Py_ssize_t k, n = self.inference.n_local
        memset(local, 0, n * sizeof(double))
        for k in range(self.size):
            self.inference.add_local_labels(&self.labels[k, 0], self.share[k], local)
        for k in range(n):
            self.gradient[k] = scores.local[k] + 0.5 - local[k]
        for k in range(self.size):
            self.set_slope(k)
        value = self.mean_slope() + 0.5 * ops.dot(local, local, n)
        return value + self.set_tied_gradient(scores)

    cdef double* tied_at(self, Values scores) noexcept nogil:
        """Return the tied potentials of the gradient."""
        return scores.tied if self.tied_factor == 0.0 else &self.tied_gradient[0]

    cdef double set_tied_gradient(self, Values scores) noexcept nogil:
        """Write the tied gradient; return what its slope counts twice of f."""
        cdef Py_ssize_t k, n = self.inference.n_tied
        if self.tied_factor == 0.0:
            return 0.0
        self.set_tied(0, self.size)
        for k in range(n):
            self.tied_gradient[k] = scores.tied[k] - self.tied_factor * self.tied[k]
        self.inference.set_tied(&self.tied_gradient[0], False)
        return 0.5 * self.tied_factor * ops.dot(&self.tied[0], &self.tied[0], n)

    cdef void set_tied(self, Py_ssize_t begin, Py_ssize_t end) noexcept nogil:
        """Sum the tied potentials of labellings times their shares, if weighted."""
        cdef Py_ssize_t k
        memset(&self.tied[0], 0, self.inference.n_tied * sizeof(double))
        for k in range(begin, end):
            self.inference.add_tied_labels(
                &self.labels[k, 0], self.share[k], &self.tied[0]
            )
        for k in range(self.inference.n_tied):
            if not self.has_weight[k]:
                self.tied[k] = 0.0

    cdef void set_slope(self, Py_ssize_t k) noexcept nogil:
        """Write the slope of f along a labelling: its score under the gradient."""
        cdef const double* row = &self.agreement[k, 0]
        self.slope[k] = self.score[k] - ops.dot(row, &self.share[0], self.size)

    cdef bint is_member(self, const int* labels) noexcept nogil:
        """Return whether a labelling is in the set."""
        cdef Py_ssize_t k
        for k in range(self.size):
            if memcmp(
                &self.labels[k, 0], labels, self.inference.length * sizeof(int)
            ) == 0:
                return True
        return False

    cdef void add(self, Values scores, double share) noexcept nogil:
        """Add the labelling that stands behind the set, with a share."""
        cdef Py_ssize_t k, n = self.size
        for k in range(n + 1):
            self.agreement[k, n] = self.agreement[n, k] = n_equal(
                &self.labels[k, 0], &self.labels[n, 0], self.inference.length
            )
        self.score[n] = self.inference.labels_score(&self.labels[n, 0], scores)
        self.score[n] += 0.5 * self.inference.length
        if self.tied_factor > 0.0:
            self.share[n] = self.tied_factor
            self.set_tied(n, n + 1)
            for k in range(n + 1):
                self.agreement[k, n] += self.inference.labels_score(
                    &self.labels[k, 0], Values(&self.zeros[0], &self.tied[0])
                )
                self.agreement[n, k] = self.agreement[k, n]
        self.share[n] = share
        self.size = n + 1
        self.set_slope(n)
        # A first labelling without a finite score depends on none: the value says so.
        while not self.set_row(self.size - 1, 0) and self.size > 1:
            self.exchange()

    cdef bint set_row(self, Py_ssize_t n, Py_ssize_t begin) noexcept nogil:
        """Compute row n of the Cholesky factor of A, from a column on.

        Return False if the labelling depends on those before it.
        """
        cdef Py_ssize_t k
        cdef double* row = &self.factor[n, 0]
        cdef double rest
        for k in range(begin, n):
            row[k] = (
                self.agreement[n, k] - ops.dot(row, &self.factor[k, 0], k)
            ) / self.factor[k, k]
        rest = self.agreement[n, n] - ops.dot(row, row, n)
        row[n] = sqrt(max(rest, 0.0))
        return rest > DEPENDENT * self.agreement[n, n]

    # The last labelling is a combination of the others in A: f is linear along its
    # difference from the combination, and rises.
    cdef void exchange(self) noexcept nogil:
        """Move share to the last labelling until another one leaves the set."""
        cdef Py_ssize_t k, leaving = 0, n = self.size - 1
        cdef double step = INFINITY
        memcpy(&self.change[0], &self.factor[n, 0], n * sizeof(double))
        self.solve_transposed(n)
        for k in range(n):
            if self.change[k] > 0.0 and self.share[k] < step * self.change[k]:
                leaving, step = k, self.share[k] / self.change[k]
        for k in range(n):
            self.share[k] = max(self.share[k] - step * self.change[k], 0.0)
        self.share[n] += step
        self.remove(leaving)

    cdef void solve_transposed(self, Py_ssize_t n) noexcept nogil:
        """Divide the first n numbers of the change by the transposed factor."""
        cdef Py_ssize_t j, k
        for k in range(n - 1, -1, -1):
            self.change[k] /= self.factor[k, k]
            for j in range(k):
                self.change[j] -= self.factor[k, j] * self.change[k]

    cdef bint balance(self) noexcept nogil:
        """Maximise f over the set; return False if rounding hides where it rises."""
        cdef Py_ssize_t k, leaving
        cdef double step, level
        while True:
            level = self.set_change()
            k = self.size - 1
            if self.share[k] == 0.0 and not self.change[k] > 0.0:
                self.size = k
                return False
            leaving, step = -1, 1.0
            for k in range(self.size):
                if (
                    self.change[k] < 0.0
                    and self.share[k] + step * self.change[k] <= 0.0
                ):
                    leaving, step = k, -self.share[k] / self.change[k]
            for k in range(self.size):
                self.share[k] = max(self.share[k] + step * self.change[k], 0.0)
                self.slope[k] += step * (level - self.slope[k])
            if leaving < 0:
                return True
            self.remove(leaving)

    # A change = slope - level, and the changes have the sum 0. Slopes are large beside
    # their differences, so that one of them is subtracted from all.
    cdef double set_change(self) noexcept nogil:
        """Write the change of shares to the maximum; return the slope of all there."""
        cdef Py_ssize_t k
        cdef double level, first = self.slope[0]
        cdef double* change = &self.change[0]
        cdef double* ones = &self.part_of_ones[0]
        for k in range(self.size):
            change[k] = (
                self.slope[k] - first - ops.dot(&self.factor[k, 0], change, k)
            ) / self.factor[k, k]
            ones[k] = (
                1.0 - ops.dot(&self.factor[k, 0], ones, k)
            ) / self.factor[k, k]
        level = ops.dot(change, ones, self.size) / ops.dot(ones, ones, self.size)
        for k in range(self.size):
            change[k] -= level * ones[k]
        self.solve_transposed(self.size)
        return first + level

    cdef void remove(self, Py_ssize_t k) noexcept nogil:
        """Remove a labelling; those behind it move up."""
        cdef Py_ssize_t j
        self.size -= 1
        for j in range(k, self.size):
            memcpy(
                &self.labels[j, 0], &self.labels[j + 1, 0],
                self.inference.length * sizeof(int),
            )
            memcpy(
                &self.agreement[j, 0], &self.agreement[j + 1, 0],
                (self.size + 1) * sizeof(double),
            )
            memcpy(&self.factor[j, 0], &self.factor[j + 1, 0], k * sizeof(double))
            self.share[j], self.slope[j] = self.share[j + 1], self.slope[j + 1]
            self.score[j] = self.score[j + 1]
        for j in range(self.size):
            memmove(
                &self.agreement[j, k], &self.agreement[j, k + 1],
                (self.size - k) * sizeof(double),
            )
        for j in range(k, self.size):
            self.set_row(j, k)

    cdef void add_tied(self, double weight, double* tied) noexcept nogil:
        """Add weight times the tied expectations of the mixture."""
        cdef Py_ssize_t k
        for k in range(self.size):
            self.inference.add_tied_labels(
                &self.labels[k, 0], weight * self.share[k], tied
            )


cdef int n_equal(const int* a, const int* b, Py_ssize_t n) noexcept nogil:
    """Return how many of n labels are equal."""
    cdef Py_ssize_t t
    cdef int found = 0
    for t in range(n):
        found += a[t] == b[t]
    return found


def mixed_expectations(
    scores, Py_ssize_t begin, Py_ssize_t end,
    double[:, ::1] local,                   # out, (N, K)
    double[::1] values,                     # out, (n,)
    double[::1] gaps,                       # out, (n,)
    *,
    const double[::1] weight=None,          # in, (n,)
    double[::1] tied_total=None,            # in, out, (n_tied,)
):
    """Write the local expectations of mixtures, f(mu) + gap, and the gaps.

    weight[i] times the tied ones are added to ``tied_total``, where these are given;
    without them the bounds are all that is exact.
    """
    cdef Py_ssize_t i
    cdef Items items = Items(scores, begin, end, False)
    cdef Mixture mixture = Mixture(items.inference)
    cdef double small_gap = SMALL_GAP if weight is None else NO_GAP
    with nogil:
        for i in range(begin, end):
            values[i] = gaps[i] = 0.0
            if not items.take(i):
                continue
            mixture.clear()
            values[i] = mixture.solve(
                items.scores, &local[0, 0] + begin_of_local(items.inference, i),
                small_gap,
            )
            gaps[i] = mixture.gap
            if tied_total is not None:
                mixture.add_tied(weight[i], start_of(tied_total))
    items.inference.check()


def mixed_labels(scores, Py_ssize_t begin, Py_ssize_t end):
    """Return the labellings of each item (n, T) and their shares, the largest first.

    Of equal shares the labelling with lower labels is first. An item without positions
    has one labelling, and one that allows none has none.
    """
    cdef Py_ssize_t i
    cdef Items items = Items(scores, begin, end, False)
    cdef Inference inference = items.inference
    cdef Mixture mixture = Mixture(inference)
    cdef double[::1] local = np.empty(max(inference.most_local, 1))
    found = []
    for i in range(begin, end):
        if not items.take(i):
            found.append((np.empty((1, 0), dtype=np.intc), np.ones(1)))
            continue
        with nogil:
            mixture.clear()
            mixture.solve(items.scores, &local[0], NO_GAP)
        inference.check()
        paths = np.array(mixture.labels[: mixture.size, : inference.length])
        shares = np.array(mixture.share[: mixture.size])
        paths, shares = paths[shares > 0.0], shares[shares > 0.0]
        order = np.lexsort((*paths.T[::-1], -shares))
        found.append((paths[order], shares[order]))
    return found
