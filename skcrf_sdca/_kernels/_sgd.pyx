# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True
"""Visits of stochastic gradient methods, and the steps that they make.

A visit to sequence i, at the t-th step, is a proximal step on the problem
s r(w) + sum_i c_i f_i(w), with the strength s and r of penalties.py:

    w <- prox( w - eta_t g ),    prox(z) = soft(z, eta_t s threshold) / (1 + eta_t s c),

with c the curvature of r and g a gradient of n c_i f_i: a subgradient for the maximum
in the place of log sum exp, and for SVRG a vector of the same mean. A visit costs in
proportion to the features of its sequence: the proximal steps of a row of coef are made
up for, in closed form, when it is next read. The classes of `Steps` differ in eta_t and
in that form.
"""

from libc.math cimport (
    ceil, copysign, exp, expm1, fabs, isfinite, log1p, pow, sqrt
)

from ._features cimport DistinctFeatures
from ._structure cimport Structure
from ._visits cimport Visitor
from ._weights cimport FeatureSums, Weights

import numpy as np

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
    """

    cdef double[::1] w
    cdef Weights weights
    cdef DistinctFeatures features
    cdef double strength
    cdef double decay                   # s c
    cdef double threshold               # s threshold
    cdef public double eta0
    cdef public long long count
    cdef Py_ssize_t n_biases
    cdef int now                        # steps since the last `restart`
    cdef int[::1] settled               # (d + 1,) up to date at; the last: all biases

    def __init__(
        self, double[::1] w, Weights weights, DistinctFeatures features, *,
        double strength, penalty, double eta0,
    ):
        self.w, self.weights, self.features = w, weights, features
        self.strength, self.eta0 = strength, eta0
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
        cdef Py_ssize_t r
        cdef const int* rows = self.features.features(i)
        for r in range(self.features.count(i)):
            self.settle_row(rows[r])
        self.settle_row(self.weights.n_features)

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
    """Steps of one size for all weights: eta_t = eta0 (1 + eta0 s t)^-power.

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
    power : float
    capacity : int
        Steps between two updates of all weights.
    total : ndarray of shape (n_weights,) or None
        The sum of t w_t: changed in place; None without averages.
    """

    cdef double power
    cdef double[::1] total
    cdef double[::1] shrunk             # (capacity + 1,) S
    cdef double[::1] cut                # (capacity + 1,) B
    cdef double[::1] counted            # (capacity + 1,) sum of t S
    cdef double[::1] counted_cut        # (capacity + 1,) sum of t S B

    def __init__(
        self, w, weights, features, *, strength, penalty, eta0, double power,
        int capacity, total=None,
    ):
        super().__init__(
            w, weights, features, strength=strength, penalty=penalty, eta0=eta0
        )
        self.power, self.total = power, total
        self.shrunk = np.ones(capacity + 1)
        self.cut = np.zeros(capacity + 1)
        self.counted = np.zeros(capacity + 1)
        self.counted_cut = np.zeros(capacity + 1)

    cdef void settle(
        self, Py_ssize_t begin, Py_ssize_t width, int last
    ) noexcept nogil:
        cdef Py_ssize_t k
        cdef double* w = &self.w[begin]
        cdef double factor = self.shrunk[self.now] / self.shrunk[last]
        cdef double cut = self.shrunk[last] * (self.cut[self.now] - self.cut[last])
        if self.total is not None:
            for k in range(width):
                self.total[begin + k] += self.sum_of(w[k], last)
        if self.threshold == 0.0:
            for k in range(width):
                w[k] *= factor
        else:
            for k in range(width):
                w[k] = copysign(max(fabs(w[k]) - cut, 0.0) * factor, w[k])

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
            eta *= pow(1.0 + self.eta0 * self.strength * self.count, -self.power)
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


cdef class AdaGradSteps(Steps):
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
    cdef double[::1] factor             # a buffer: a row, or the biases

    def __init__(
        self, w, weights, features, *, strength, penalty, eta0, double[::1] squares
    ):
        super().__init__(
            w, weights, features, strength=strength, penalty=penalty, eta0=eta0
        )
        self.squares = squares
        self.factor = np.empty(self.n_biases)

    cdef void settle(
        self, Py_ssize_t begin, Py_ssize_t width, int last
    ) noexcept nogil:
        cdef Py_ssize_t k
        cdef double eta
        if self.threshold == 0.0:
            self.shrink(&self.w[begin], &self.squares[begin], width, self.now - last)
            return
        for k in range(begin, begin + width):
            if self.w[k] != 0.0 and self.squares[k] > 0.0:
                eta = self.eta0 / sqrt(self.squares[k])
                self.w[k] = repeated(
                    self.w[k], 0.0, eta * self.threshold, eta * self.decay,
                    self.now - last,
                )

    # A power for each weight, by squares: the loops are short, and without branches.
    cdef void shrink(
        self, double* w, const double* squares, Py_ssize_t width, int n
    ) noexcept nogil:
        """Make n proximal steps of L2: w <- (1 + eta s c)^-n w."""
        cdef Py_ssize_t k
        cdef double scale = self.eta0 * self.decay
        cdef double* factor = &self.factor[0]
        for k in range(width):
            factor[k] = 1.0 / (1.0 + scale / sqrt(squares[k])) if squares[k] else 1.0
        while n > 0:
            if n % 2 == 1:
                for k in range(width):
                    w[k] *= factor[k]
            n //= 2
            for k in range(width):
                factor[k] *= factor[k]

    cdef void step(self, FeatureSums sums, double weight) noexcept nogil:
        self.count += 1
        if sums is not None:
            self.move(sums, weight)
        self.now += 1

    cdef void move(self, FeatureSums sums, double weight) noexcept nogil:
        """Move against ``weight`` times the features."""
        cdef Py_ssize_t r, begin, width, n = self.weights.n_labels
        cdef const int* rows = self.features.features(sums.i)
        cdef const double* gradient = &sums.distinct[0]
        for r in range(self.features.count(sums.i)):
            begin = self.n_biases + self.weights.layout.begin(rows[r])
            width = self.weights.layout.width(rows[r])
            self.move_weights(begin, width, gradient, weight)
            gradient += width
        self.move_block(&self.weights.intercept[0], n, &sums.node[0], weight)
        if self.weights.boundaries:
            self.move_block(&self.weights.start[0], n, sums.first_node, weight)
            self.move_block(&self.weights.end[0], n, sums.last_node, weight)
            self.move_block(
                &self.weights.transition[0], self.weights.n_tied, &sums.edge[0],
                weight,
            )

    cdef void move_block(
        self, const double* block, Py_ssize_t n, const double* gradient, double weight
    ) noexcept nogil:
        """Move a block of weights but coef."""
        self.move_weights(block - &self.w[0], n, gradient, weight)

    cdef void move_weights(
        self, Py_ssize_t begin, Py_ssize_t n, const double* gradient, double weight
    ) noexcept nogil:
        """Move some weights."""
        cdef Py_ssize_t k
        cdef double value
        for k in range(n):
            value = weight * gradient[k]
            # The square of a tiny number is 0.
            if value * value != 0.0:
                self.squares[begin + k] += value * value
                self.w[begin + k] -= self.eta0 * value / sqrt(self.squares[begin + k])


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


cdef class SGDKernel(Visitor):
    """Visits that step against the gradient of one sequence.

    Parameters
    ----------
    structure, offsets, scale, sampler
        As for `Visitor`.
    steps : Steps
    strength : float
        s, by which ``scale`` was divided.
    paths : ndarray of shape (n_positions,), intc, or None
        Where the best labelling of each visit is written, for the maximum in the place
        of log sum exp; None for the latter.

    Attributes
    ----------
    sum_of_losses : float
        Of the visits made here, each at the weights that it found.
    """

    cdef readonly double sum_of_losses
    cdef Steps steps
    cdef double strength
    cdef int[::1] paths
    cdef int[::1] path                  # a buffer

    def __init__(
        self, structure, offsets, scale, sampler, *, steps, double strength, paths=None
    ):
        super().__init__(structure, offsets, scale, sampler)
        self.steps, self.strength, self.paths = steps, strength, paths
        self.path = np.empty(self.structure.most_local, dtype=np.intc)

    @property
    def count(self):
        """The number of steps made, also before this kernel."""
        return self.steps.count

    @property
    def eta0(self):
        """The first step size."""
        return self.steps.eta0

    @eta0.setter
    def eta0(self, value):
        self.steps.eta0 = value

    def make_visits(self, uniforms, order, n_visits):
        """Make the visits, and bring all weights up to date."""
        super().make_visits(uniforms, order, n_visits)
        self.steps.restart()

    cdef bint visit(self, Py_ssize_t i) noexcept nogil:
        """Visit sequence i; return False if a number is not finite."""
        cdef double value, weight = self.strength * self.scale[i] * self.scale.shape[0]
        self.steps.catch_up(i)
        if self.is_empty(i) or weight == 0.0:
            self.steps.step(None, 0.0)
            return True
        value = self.differentiate(i)
        if not isfinite(value):
            return False
        self.sum_of_losses += value - self.target_score()
        self.steps.step(self.sums, weight)
        return True

    cdef double differentiate(self, Py_ssize_t i) noexcept nogil:
        """Sum the features of a gradient of f_i; return log Z_i, or the maximum."""
        cdef double value
        if self.paths is None:
            value = self.expect(i, True)
        else:
            self.structure.set_item(i)
            value = self.argmax_at(
                self.structure.potentials, &self.paths[self.offsets[i]]
            )
            self.structure.set_certain(
                &self.paths[self.offsets[i]], self.structure.expected
            )
        self.gradient()
        return value

    def mean_loss(self, const Py_ssize_t[::1] order):
        """Return sum_i c_i f_i / sum_i c_i over the sequences named."""
        cdef Py_ssize_t p, i
        cdef double total = 0.0, weight = 0.0
        with nogil:
            for p in range(order.shape[0]):
                i = order[p]
                weight += self.scale[i]
                if not self.is_empty(i):
                    total += self.scale[i] * self.loss(i)
        return total / weight if weight > 0.0 else 0.0

    cdef double loss(self, Py_ssize_t i) noexcept nogil:
        """Return f_i."""
        cdef double value
        self.structure.set_item(i)
        if self.paths is None:
            value = self.log_partition_at(self.structure.potentials)
        else:
            value = self.argmax_at(self.structure.potentials, &self.path[0])
        return value - self.target_score()

    cdef double target_score(self) noexcept nogil:
        """Return the score of the target of the current item."""
        return self.structure.target_score(self.structure.potentials)


cdef class SVRGKernel(SGDKernel):
    """Visits of SVRG: the gradient less that at an anchor, whose mean is the drift.

    Parameters
    ----------
    structure, offsets, scale, sampler, steps, strength
        As for `SGDKernel`; the steps are `SVRGSteps`.
    anchor : Structure
        The same sequences under the weights of the anchor.
    """

    cdef Structure anchor

    def __init__(
        self, structure, offsets, scale, sampler, *, steps, strength, Structure anchor
    ):
        super().__init__(
            structure, offsets, scale, sampler, steps=steps, strength=strength
        )
        self.anchor = anchor

    cdef double differentiate(self, Py_ssize_t i) noexcept nogil:
        """Sum the features of the difference of two gradients; return log Z_i."""
        cdef double value = self.expect(i, True)
        self.anchor.set_item(i)
        self.expect_at(self.anchor.potentials, self.anchor.expected)
        self.structure.set_change(self.structure.expected, self.anchor.expected)
        self.structure.sum_features()
        return value


cdef class BatchKernel(Visitor):
    """Visits that sum the losses of a batch and their gradients, and move nothing.

    Parameters
    ----------
    structure, offsets, scale, sampler
        As for `Visitor`.
    strength : float
        s, by which ``scale`` was divided.
    gradient_sum : Weights
        The sum of n c_i times the gradients of f_i: changed in place.

    Attributes
    ----------
    loss_sum : float
        The sum of n c_i f_i.
    """

    cdef public double loss_sum
    cdef double strength
    cdef Weights gradient_sum

    def __init__(
        self, structure, offsets, scale, sampler, *, double strength,
        Weights gradient_sum,
    ):
        super().__init__(structure, offsets, scale, sampler)
        self.strength, self.gradient_sum = strength, gradient_sum

    cdef bint visit(self, Py_ssize_t i) noexcept nogil:
        """Add what sequence i has; return False if a number is not finite."""
        cdef double weight = self.strength * self.scale[i] * self.scale.shape[0]
        cdef double value
        if self.is_empty(i) or weight == 0.0:
            return True
        value = self.expect(i, True)
        value -= self.structure.target_score(self.structure.potentials)
        self.gradient()
        self.structure.add_change(self.gradient_sum, weight)
        self.loss_sum += weight * value
        return isfinite(value)
