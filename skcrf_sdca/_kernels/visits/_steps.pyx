"""The steps of stochastic gradient methods, and the weights that they move lazily.

The t-th step is a proximal one on the problem s r(w) + sum_i c_i f_i(w), with the
strength s and r of penalties.py:

    w <- prox( w - eta_t g ),    prox(z) = soft(z, eta_t s threshold) / (1 + eta_t s c),

with c the curvature of r. The proximal steps of a row of coef are made up for, in
closed form, when it is next read. The classes of `Steps` differ in eta_t and in that
form.
"""

from libc.math cimport ceil, copysign, exp, expm1, fabs, log1p, pow, sqrt

from skcrf_sdca._kernels.math._vecmath import LEVEL

from ..features._features cimport DistinctFeatures
from ._item cimport Item
from ..features._weights cimport FeatureSums, Weights

import numpy as np

cdef extern from "steps.h":
    struct skcrf_steps:
        void (*settle)(
            double*, double*, double, double, Py_ssize_t) noexcept nogil
        void (*settle_rows)(
            const int*, Py_ssize_t, int, int*, const double*, const double*, double*,
            double*, Py_ssize_t) noexcept nogil
        void (*shrink)(
            double*, const double*, double, int, Py_ssize_t) noexcept nogil
        void (*shrink_rows)(
            const int*, Py_ssize_t, int, int*, const double*, double, double*,
            Py_ssize_t) noexcept nogil
        void (*move)(
            const double*, double, double, double*, double*, Py_ssize_t) noexcept nogil

    const skcrf_steps* skcrf_steps_of(int level)

cdef const skcrf_steps* loops
loops = skcrf_steps_of(LEVEL)

# Below, a new count of steps begins: sums over the steps must not lose digits.
cdef double SMALLEST_PRODUCT = 1e-2


cdef class Steps:
    """Weights that are moved by every visit, and when each row was up to date.

    Parameters
    ----------
    w : ndarray of shape (n_weights,)
        Changed in place: the weights but coef, then coef.
    weights : Weights
        The same memory.
    features : DistinctFeatures
    strength : float
        s.
    penalty : ElasticNet or L2
    eta0 : float
        The first step size.

    Attributes
    ----------
    count : int
        t, the number of steps made.
    weights : Weights
    """

    def __init__(
        self, double[::1] w, Weights weights, DistinctFeatures features, *,
        double strength, penalty, double eta0,
    ):
        self.w, self.weights, self.features = w, weights, features
        self.eta0 = eta0
        self.decay = strength * penalty.curvature
        self.threshold = strength * penalty.threshold
        self.n_biases = w.shape[0] - weights.layout.size
        self.settled = np.zeros(weights.n_features + 1, dtype=np.int32)

    def restart(self):
        """Bring all weights up to date, and begin a new count of steps."""
        with nogil:
            self.settle_all()

    cdef void settle_all(self) noexcept nogil:
        """Bring all weights up to date, and begin a new count of steps."""
        cdef Py_ssize_t j
        for j in range(self.weights.n_features + 1):
            self.settle_row(j)
            self.settled[j] = 0
        self.now = 0

    cdef void catch_up(self, Py_ssize_t i) noexcept nogil:
        """Bring the weights that sequence i reads up to date."""
        self.features.take(i)
        if self.features.count(i) > 0:
            self.settle_rows(self.features.features(i), self.features.count(i))
        self.settle_row(self.weights.n_features)

    cdef void settle_rows(self, const int* rows, Py_ssize_t count) noexcept nogil:
        """Make the proximal steps of rows of coef up to now."""
        cdef Py_ssize_t r
        for r in range(count):
            self.settle_row(rows[r])

    cdef bint in_loops(self) noexcept nogil:
        """Return whether the loops of steps.h hold: for L2, and rows of one length."""
        return self.threshold == 0.0 and self.weights.layout.first == NULL

    cdef void settle_row(self, Py_ssize_t j) noexcept nogil:
        """Make the proximal steps of a row of coef, or of the biases, up to now."""
        cdef Py_ssize_t begin = 0, width = self.n_biases
        if self.settled[j] == self.now:
            return
        if j < self.weights.n_features:
            begin = self.n_biases + self.weights.layout.begin(j)
            width = self.weights.layout.width(j)
        self.settle(begin, width, self.settled[j])
        self.settled[j] = self.now

    cdef void settle(
        self, Py_ssize_t begin, Py_ssize_t width, int last
    ) noexcept nogil:
        """Make the proximal steps of some weights, which were up to date at ``last``.
        """

    cdef void step(self, FeatureSums sums, double weight) noexcept nogil:
        """Move against ``weight`` times the features, and count a step.

        ``sums`` is None for a gradient of 0.
        """


cdef class ScaledSteps(Steps):
    """Steps of one size for all weights: eta_t = eta0 (1 + fall t)^-power.

    With S_v the product of the 1 / (1 + eta s c) of the first v steps since the last
    restart, and B_v = sum_u eta_u s threshold / S_(u-1), a weight that was up to date
    after step u is at step v

        w_v = S_v / S_u soft(w_u, S_u (B_v - B_u)).

    The mean of the iterates, in which w_t counts t times, follows from sums of S and
    S B over the steps up to the one at which soft() gives 0.

    Parameters
    ----------
    w, weights, features, strength, penalty, eta0
        As for `Steps`.
    power, fall : float
    capacity : int
        Steps between two updates of all weights.
    total : ndarray of shape (n_weights,) or None
        The sum of t w_t: changed in place; None without averages.
    """

    cdef double power
    cdef double fall
    cdef double[::1] total
    cdef double[::1] shrunk             # (capacity + 1,) S
    cdef double[::1] cut                # (capacity + 1,) B
    cdef double[::1] counted            # (capacity + 1,) sum of t S
    cdef double[::1] counted_cut        # (capacity + 1,) sum of t S B

    def __init__(
        self, w, weights, features, *, strength, penalty, eta0, double power,
        double fall, int capacity, total=None,
    ):
        super().__init__(
            w, weights, features, strength=strength, penalty=penalty, eta0=eta0
        )
        self.power, self.fall, self.total = power, fall, total
        self.shrunk = np.ones(capacity + 1)
        self.cut = np.zeros(capacity + 1)
        self.counted = np.zeros(capacity + 1)
        self.counted_cut = np.zeros(capacity + 1)

    cdef void settle(
        self, Py_ssize_t begin, Py_ssize_t width, int last
    ) noexcept nogil:
        cdef Py_ssize_t k
        cdef double* w = &self.w[0] + begin
        cdef double factor = self.shrunk[self.now] / self.shrunk[last]
        cdef double cut = self.shrunk[last] * (self.cut[self.now] - self.cut[last])
        cdef double counted = self.counted[self.now] - self.counted[last]
        if self.threshold == 0.0:
            loops.settle(
                w, self.total_at(begin), counted / self.shrunk[last], factor, width
            )
            return
        if self.total is not None:
            for k in range(width):
                self.total[begin + k] += self.sum_of(w[k], last)
        for k in range(width):
            w[k] = copysign(max(fabs(w[k]) - cut, 0.0) * factor, w[k])

    cdef void settle_rows(self, const int* rows, Py_ssize_t count) noexcept nogil:
        if not self.in_loops():
            Steps.settle_rows(self, rows, count)
            return
        loops.settle_rows(
            rows, count, self.now, &self.settled[0], &self.shrunk[0], &self.counted[0],
            &self.w[self.n_biases], self.total_at(self.n_biases), self.weights.n_labels,
        )

    cdef double* total_at(self, Py_ssize_t begin) noexcept nogil:
        """Return the address of a number of ``total``, NULL without averages."""
        return NULL if self.total is None else &self.total[0] + begin

    cdef double sum_of(self, double w, int last) noexcept nogil:
        """Return the sum of t w_t over the steps after ``last``."""
        cdef double size = fabs(w) / self.shrunk[last] + self.cut[last]
        cdef int end = self.now, begin = last, middle
        if w == 0.0:
            return 0.0
        # The last step at which the weight is not 0.
        if self.cut[end] >= size:
            while end - begin > 1:
                middle = (begin + end) // 2
                if self.cut[middle] < size:
                    begin = middle
                else:
                    end = middle
            end = begin
        return copysign(
            size * (self.counted[end] - self.counted[last])
            - (self.counted_cut[end] - self.counted_cut[last]),
            w,
        )

    cdef void step(self, FeatureSums sums, double weight) noexcept nogil:
        cdef double eta = self.eta0
        cdef int v = self.now + 1
        if self.power != 0.0:
            eta *= pow(1.0 + self.fall * self.count, -self.power)
        if sums is not None:
            sums.add_to_weights(-eta * weight)
        self.count += 1
        self.shrunk[v] = self.shrunk[v - 1] / (1.0 + eta * self.decay)
        self.cut[v] = self.cut[v - 1] + eta * self.threshold / self.shrunk[v - 1]
        self.counted[v] = self.counted[v - 1] + self.count * self.shrunk[v]
        self.counted_cut[v] = (
            self.counted_cut[v - 1] + self.count * self.shrunk[v] * self.cut[v]
        )
        self.now = v
        if v + 1 == self.shrunk.shape[0] or self.shrunk[v] < SMALLEST_PRODUCT:
            self.settle_all()


cdef class DiagonalSteps(Steps):
    """Steps of a size for each weight, which depends on the gradients that it had."""

    cdef void move(
        self, FeatureSums sums, FeatureSums curvature, double weight
    ) noexcept nogil:
        """Move against ``weight`` times the features; others go with them."""
        cdef Py_ssize_t r, begin, width, n = self.weights.n_labels
        cdef const int* rows = self.features.features(sums.i)
        cdef const double* gradient = &sums.distinct[0]
        cdef const double* other = &curvature.distinct[0]
        for r in range(self.features.count(sums.i)):
            begin = self.n_biases + self.weights.layout.begin(rows[r])
            width = self.weights.layout.width(rows[r])
            self.move_weights(begin, width, gradient, other, weight)
            gradient += width
            other += width
        self.move_block(
            &self.weights.intercept[0], n, &sums.node[0], &curvature.node[0], weight
        )
        if self.weights.boundaries:
            self.move_block(
                &self.weights.start[0], n, sums.first_node, curvature.first_node, weight
            )
            self.move_block(
                &self.weights.end[0], n, sums.last_node, curvature.last_node, weight
            )
            self.move_block(
                &self.weights.transition[0], self.weights.n_tied, &sums.edge[0],
                &curvature.edge[0], weight,
            )

    cdef void move_block(
        self, const double* block, Py_ssize_t n, const double* gradient,
        const double* curvature, double weight,
    ) noexcept nogil:
        """Move a block of weights but coef."""
        self.move_weights(block - &self.w[0], n, gradient, curvature, weight)

    cdef void move_weights(
        self, Py_ssize_t begin, Py_ssize_t n, const double* gradient,
        const double* curvature, double weight,
    ) noexcept nogil:
        """Move some weights."""


cdef class AdaGradSteps(DiagonalSteps):
    """Steps of AdaGrad: eta0 / sqrt(G) for a weight, G its sum of squared gradients.

    Between two visits that read a weight its step is constant, and 0 while G is 0.

    Parameters
    ----------
    w, weights, features, strength, penalty, eta0
        As for `Steps`.
    squares : ndarray of shape (n_weights,)
        G: changed in place.
    """

    cdef double[::1] squares

    def __init__(
        self, w, weights, features, *, strength, penalty, eta0, double[::1] squares
    ):
        super().__init__(
            w, weights, features, strength=strength, penalty=penalty, eta0=eta0
        )
        self.squares = squares

    cdef void settle(
        self, Py_ssize_t begin, Py_ssize_t width, int last
    ) noexcept nogil:
        cdef Py_ssize_t k
        cdef double eta
        if self.threshold == 0.0:
            loops.shrink(
                &self.w[0] + begin, &self.squares[0] + begin, self.eta0 * self.decay,
                self.now - last, width,
            )
            return
        for k in range(begin, begin + width):
            if self.w[k] != 0.0 and self.squares[k] > 0.0:
                eta = self.eta0 / sqrt(self.squares[k])
                self.w[k] = repeated(
                    self.w[k], 0.0, eta * self.threshold, eta * self.decay,
                    self.now - last,
                )

    cdef void settle_rows(self, const int* rows, Py_ssize_t count) noexcept nogil:
        if not self.in_loops():
            Steps.settle_rows(self, rows, count)
            return
        loops.shrink_rows(
            rows, count, self.now, &self.settled[0], &self.squares[self.n_biases],
            self.eta0 * self.decay, &self.w[self.n_biases], self.weights.n_labels,
        )

    cdef void step(self, FeatureSums sums, double weight) noexcept nogil:
        self.count += 1
        if sums is not None:
            self.move(sums, sums, weight)
        self.now += 1

    cdef void move_weights(
        self, Py_ssize_t begin, Py_ssize_t n, const double* gradient,
        const double* curvature, double weight,
    ) noexcept nogil:
        loops.move(
            gradient, weight, self.eta0, &self.squares[0] + begin, &self.w[0] + begin, n
        )


cdef class SMDSteps(DiagonalSteps):
    """Steps of stochastic meta-descent: a gain eta for each weight, which adapts.

    With g the gradient of a visit, H v its derivative along v, the trace of how w
    follows log eta, the weights of the features in the sequence move by

        eta <- eta min(2, max(1/2, 1 - mu g v))
        v   <- lambda v - eta (g + lambda H v)
        w   <- w - eta g,

    and all of them by w <- w / (1 + eta s c); v is its exact derivative too.
    So a weight and its trace that were up to date n visits ago are now

        w_n = w / (1 + eta s c)^n,    v_n = (v - n eta s c / (1 + eta s c) w) w_n / w.

    Parameters
    ----------
    w, weights, features, strength, penalty, eta0
        As for `Steps`; the penalty is L2.
    trace, gains : ndarrays of shape (n_weights,)
        v and eta: changed in place.
    along_trace : Item
        Its ``sums`` are the features of H v.
    meta_rate, memory : float
        mu and lambda.
    """

    def __init__(
        self, w, weights, features, *, strength, penalty, eta0, double[::1] trace,
        double[::1] gains, Item along_trace, double meta_rate, double memory,
    ):
        super().__init__(
            w, weights, features, strength=strength, penalty=penalty, eta0=eta0
        )
        self.trace, self.gains = trace, gains
        self.curvature, self.curvature_scale = along_trace.sums, 1.0
        self.meta_rate, self.memory = meta_rate, memory

    cdef void settle(
        self, Py_ssize_t begin, Py_ssize_t width, int last
    ) noexcept nogil:
        cdef Py_ssize_t k
        cdef int lag = self.now - last
        cdef double growth, factor
        for k in range(begin, begin + width):
            if self.w[k] != 0.0 or self.trace[k] != 0.0:
                growth = self.gains[k] * self.decay
                factor = kept(growth, lag)
                self.trace[k] -= lag * growth / (1.0 + growth) * self.w[k]
                self.trace[k] *= factor
                self.w[k] *= factor

    cdef void step(self, FeatureSums sums, double weight) noexcept nogil:
        self.count += 1
        if sums is not None:
            self.move(sums, self.curvature, weight)
        self.now += 1

    cdef void move_weights(
        self, Py_ssize_t begin, Py_ssize_t n, const double* gradient,
        const double* curvature, double weight,
    ) noexcept nogil:
        cdef Py_ssize_t k
        cdef double g, h
        cdef double* v = &self.trace[0] + begin
        cdef double* eta = &self.gains[0] + begin
        for k in range(n):
            g = weight * gradient[k]
            h = weight * curvature[k] / self.curvature_scale
            # The feature is not in the sequence.
            if g == 0.0 and h == 0.0:
                continue
            eta[k] *= min(2.0, max(0.5, 1.0 - self.meta_rate * g * v[k]))
            v[k] = self.memory * v[k] - eta[k] * (g + self.memory * h)
            self.w[begin + k] -= eta[k] * g


cdef class SVRGSteps(Steps):
    """Steps of one constant size, with a part of the gradient that is constant too.

    Parameters
    ----------
    w, weights, features, strength, penalty, eta0
        As for `Steps`.
    drift : ndarray of shape (n_weights,)
        That part, which is read; it changes only after a `restart`.
    """

    cdef const double[::1] drift

    def __init__(
        self, w, weights, features, *, strength, penalty, eta0, const double[::1] drift
    ):
        super().__init__(
            w, weights, features, strength=strength, penalty=penalty, eta0=eta0
        )
        self.drift = drift

    cdef void settle(
        self, Py_ssize_t begin, Py_ssize_t width, int last
    ) noexcept nogil:
        cdef Py_ssize_t k
        cdef int lag = self.now - last
        cdef double growth = self.eta0 * self.decay, cut = self.eta0 * self.threshold
        cdef double factor = kept(growth, lag)
        cdef double total = self.eta0 * sum_kept(growth, lag)
        if cut == 0.0:
            for k in range(begin, begin + width):
                self.w[k] = factor * self.w[k] - total * self.drift[k]
            return
        for k in range(begin, begin + width):
            self.w[k] = repeated(
                self.w[k], self.eta0 * self.drift[k], cut, growth, lag
            )

    cdef void step(self, FeatureSums sums, double weight) noexcept nogil:
        self.count += 1
        if sums is not None:
            sums.add_to_weights(-self.eta0 * weight)
        self.now += 1


cdef double kept(double growth, int n) noexcept nogil:
    """Return (1 + growth)^-n."""
    return 1.0 / (1.0 + growth) if n == 1 else exp(-n * log1p(growth))


cdef double sum_kept(double growth, int n) noexcept nogil:
    """Return the sum of (1 + growth)^-u over 1 <= u <= n."""
    if n == 1:
        return 1.0 / (1.0 + growth)
    return -expm1(-n * log1p(growth)) / growth if growth > 0.0 else n


# While the sign of w stays, a step is w <- (w - pull) / (1 + growth) with
# pull = drift + sign(w) cut. A weight crosses 0 once at most: it stays at 0 where
# |drift| <= cut, and is pulled away from 0 on the other side else.
cdef double repeated(
    double w, double drift, double cut, double growth, int n
) noexcept nogil:
    """Return w after n proximal steps w <- soft(w - drift, cut) / (1 + growth)."""
    cdef int before
    cdef double pull
    if n > 0 and w != 0.0:
        pull = drift + copysign(cut, w)
        before = steps_to_zero(fabs(w), copysign(1.0, w) * pull, growth, n)
        w = kept(growth, before) * w - sum_kept(growth, before) * pull
        n -= before
        if n > 0:
            w = soft(w - drift, cut) / (1.0 + growth)
            n -= 1
    if n > 0:
        pull = soft(drift, cut) if w == 0.0 else drift + copysign(cut, w)
        w = kept(growth, n) * w - sum_kept(growth, n) * pull
    return w


cdef int steps_to_zero(
    double size, double pull, double growth, int most
) noexcept nogil:
    """Return after how many steps, most at most, size > 0 is last above 0."""
    cdef double steps
    if pull <= 0.0:
        return most
    if growth > 0.0:
        steps = log1p(growth * size / pull) / log1p(growth)
    else:
        steps = size / pull
    return most if steps > most else max(<int> ceil(steps) - 1, 0)


cdef double soft(double x, double cut) noexcept nogil:
    """Return x moved towards 0 by cut."""
    return copysign(max(fabs(x) - cut, 0.0), x)
