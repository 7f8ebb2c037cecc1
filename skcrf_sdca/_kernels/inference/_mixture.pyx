"""The mixture of labellings of largest score and entropy, for Gini's entropy.

With u(mu) the local expectations of mu, which are 0 or 1 for a labelling, SparseMAP
[Niculae18] maximises

    f(mu) = <mu, scores> + H(mu),    H(mu) = 1/2 <u, 1 - u>,

over all mixtures of labellings, mu = sum_k share_k certain(y_k). Its maximiser mixes
few of them. The active set grows by the best labelling under the gradient of f, the
scores with 1/2 - u added to the local ones, and the shares of its members are balanced
after each search, two at a time. With F the maximum, and f concave,

    F <= f(mu) + gap,    gap = max_y <certain(y) - mu, gradient>,

so that the bound on the right needs no exact solution.
"""

from libc.math cimport INFINITY
from libc.string cimport memcmp, memcpy, memset

from ..math._vecmath cimport ops
from ._inference cimport Values, begin_of_local
from ._passes cimport Items

import numpy as np

# Labellings that are mixed at most, searches for them, and moves of shares after one.
cdef enum:
    MOST = 256
    MAX_SEARCHES = 500
    MAX_MOVES = 500

# The gap that ends the search for a bound of F, and for mu, which has an error of its
# root; and a difference of slopes that moves no share. All are beside the size of the
# scores of labellings. Shares are balanced to a part of the gap.
cdef double SMALL_GAP = 1e-12
cdef double NO_GAP = 1e-14
cdef double NO_GAIN = 1e-14
cdef double PART_OF_GAP = 0.1


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
        self.agreement = np.empty((self.most, self.most))
        self.gradient = np.empty(max(inference.most_local, 1))

    cdef double solve(
        self, Values scores,
        double* local,                  # out, (n_local,): u
        double small_gap,
    ) noexcept nogil:
        """Find the mixture; return f(mu) + gap, -inf if there is no labelling."""
        cdef double best, value
        cdef Py_ssize_t _
        self.size, self.gap = 0, 0.0
        value = self.set_point(scores, local)
        for _ in range(MAX_SEARCHES):
            best = self.inference.argmax(
                Values(&self.gradient[0], scores.tied), &self.labels[self.size, 0]
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
            if self.place_of(&self.labels[self.size, 0]) == self.size:
                self.add(scores)
            self.balance(max(PART_OF_GAP * self.gap, NO_GAIN * (1.0 + abs(best))))
            self.drop()
            value = self.set_point(scores, local)
        return value + self.gap

    cdef double mean_slope(self) noexcept nogil:
        """Return <mu, gradient>."""
        return ops.dot(&self.share[0], &self.slope[0], self.size)

    cdef double set_point(self, Values scores, double* local) noexcept nogil:
        """Write u, the gradient, and the slopes; return f(mu)."""
        cdef Py_ssize_t k, n = self.inference.n_local
        memset(local, 0, n * sizeof(double))
        for k in range(self.size):
            self.inference.add_local_labels(&self.labels[k, 0], self.share[k], local)
        for k in range(n):
            self.gradient[k] = scores.local[k] + 0.5 - local[k]
        for k in range(self.size):
            self.slope[k] = self.inference.labels_score(
                &self.labels[k, 0], Values(&self.gradient[0], scores.tied)
            )
        return self.mean_slope() + 0.5 * ops.dot(local, local, n)

    cdef Py_ssize_t place_of(self, const int* labels) noexcept nogil:
        """Return which labelling of the set this one is, ``size`` if it is none."""
        cdef Py_ssize_t k
        for k in range(self.size):
            if memcmp(
                &self.labels[k, 0], labels, self.inference.length * sizeof(int)
            ) == 0:
                return k
        return self.size

    cdef void add(self, Values scores) noexcept nogil:
        """Add the labelling that stands behind the set; the first has all share."""
        cdef Py_ssize_t k, t, n = self.size
        cdef double equal
        for k in range(n + 1):
            equal = 0.0
            for t in range(self.inference.length):
                equal += self.labels[k, t] == self.labels[n, t]
            self.agreement[k, n] = self.agreement[n, k] = equal
        self.share[n] = 0.0 if n > 0 else 1.0
        self.slope[n] = self.inference.labels_score(
            &self.labels[n, 0], Values(&self.gradient[0], scores.tied)
        )
        self.size = n + 1

    cdef void balance(self, double no_gain) noexcept nogil:
        """Move shares in the set until slopes differ by ``no_gain`` at most."""
        cdef Py_ssize_t _
        for _ in range(MAX_MOVES):
            if not self.move_share(no_gain):
                break

    # Along certain(to) - certain(away) the curvature of H is the squared distance of
    # the two labellings.
    cdef bint move_share(self, double no_gain) noexcept nogil:
        """Move share from the worst labelling to the best; return False for no gain."""
        cdef Py_ssize_t k, to = 0, away = -1
        cdef double gain, step, curvature
        for k in range(self.size):
            if self.slope[k] > self.slope[to]:
                to = k
            if self.share[k] > 0.0 and (
                away < 0 or self.slope[k] < self.slope[away]
            ):
                away = k
        gain = self.slope[to] - self.slope[away]
        if not gain > no_gain:
            return False
        step = self.share[away]
        curvature = 2.0 * (self.agreement[to, to] - self.agreement[to, away])
        if step * curvature > gain:
            step = gain / curvature
            self.share[away] -= step
        else:
            self.share[away] = 0.0
        self.share[to] += step
        for k in range(self.size):
            self.slope[k] -= step * (self.agreement[k, to] - self.agreement[k, away])
        return True

    cdef void drop(self) noexcept nogil:
        """Remove the labellings without a share: the last one takes the place."""
        cdef Py_ssize_t j, k = 0
        while k < self.size:
            if self.share[k] > 0.0:
                k += 1
                continue
            self.size -= 1
            if k == self.size:
                break
            memcpy(
                &self.labels[k, 0], &self.labels[self.size, 0],
                self.inference.length * sizeof(int),
            )
            self.share[k] = self.share[self.size]
            for j in range(self.size):
                self.agreement[k, j] = self.agreement[self.size, j]
                self.agreement[j, k] = self.agreement[j, self.size]
            self.agreement[k, k] = self.agreement[self.size, self.size]

    cdef void add_tied(self, double weight, double* tied) noexcept nogil:
        """Add weight times the tied expectations of the mixture."""
        cdef Py_ssize_t k
        for k in range(self.size):
            self.inference.add_tied_labels(
                &self.labels[k, 0], weight * self.share[k], tied
            )


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
            values[i] = mixture.solve(
                items.scores, &local[0, 0] + begin_of_local(items.inference, i),
                small_gap,
            )
            gaps[i] = mixture.gap
            if tied_total is not None:
                mixture.add_tied(weight[i], &tied_total[0])
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
            mixture.solve(items.scores, &local[0], NO_GAP)
        inference.check()
        paths = np.array(mixture.labels[: mixture.size, : inference.length])
        shares = np.array(mixture.share[: mixture.size])
        order = np.lexsort((*paths.T[::-1], -shares))
        found.append((paths[order], shares[order]))
    return found
