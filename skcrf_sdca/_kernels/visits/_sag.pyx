"""One visit of stochastic average gradient, uniform or not [Schmidt15, Alg. 1].

The expectations mu_i of the last visit to each item are kept, which give its gradient;
before the first visit they are at the target, whose gradient is zero. Since

    w_hat(mu) = 1/alpha sum_i c_i ( F(x_i, y_i) - E_{mu_i} F(x_i, .) )

is the sum of all these gradients over -alpha, the step of SAG pulls w toward it,

    w <- (1 - step alpha) w + step alpha n/m w_hat(mu),     m items visited so far,

and it comes to rest at w = w_hat(mu), mu_i = p(. | x_i; w), as the dual solvers do.

With the elastic net the step moves v = grad r(w) in place of w, and w = grad r*(v)
follows: mirror descent on P with the mirror map r. As r is strongly convex with the
constant ``curvature``, a constant L of a gradient counts as L / curvature. The
step follows from the Lipschitz constants L_i of the gradients of the losses n c_i f_i,
f_i = log Z_i - score_i(y_i), for which the visit searches along the gradient.
"""

from libc.math cimport fabs, isfinite

from ..features._lazy cimport LazyWeights
from ..inference._inference cimport Values
from ._visits cimport Visitor
from ..features._weights cimport Weights
from ..math._vecmath cimport addressable

# No search along a gradient whose square is smaller [Schmidt15, sec. 5].
cdef double SMALLEST_GRADIENT = 1e-8
# A decrease of a loss may lose this to rounding, relative to the loss.
cdef double ROUNDING = 1e-13
# If the loss has not decreased after this number of doublings, it is not finite.
cdef int MAX_DOUBLINGS = 200


cdef void step_back(
    const double* scores, const double* gradient, double rate, Py_ssize_t n, double* out
) noexcept nogil:
    """Write scores - rate * gradient."""
    cdef Py_ssize_t k
    for k in range(n):
        out[k] = scores[k] - rate * gradient[k]


cdef class SAGKernel(Visitor):
    """The arrays of one SAG run and the visits that change them.

    Parameters
    ----------
    item, offsets, scale, sampler
        As for `Visitor`. The sampler is told the constants L_i.
    target : Weights
        w_hat(mu): changed in place.
    constants : LipschitzConstants
    alpha, curvature : float
    expected : Potentials
        Expectations of mu: changed in place.
    entropy : ndarray of shape (n,)
        H(mu_i): changed in place.
    saga : bool
        Whether to make the updates of SAGA, which are unbiased.
    rates : ndarray of shape (d,), default=None
        Of the rows of coef, see `LazyWeights`: the penalty alpha / 2 rate_j w_j^2.

    Attributes
    ----------
    caution : float
        Divisor of every step; 1 at first.
    """

    def __init__(
        self, item, offsets, scale, sampler, *, target, constants, double alpha,
        double curvature, expected, entropy, bint saga, rates=None,
    ):
        super().__init__(item, offsets, scale, sampler)
        n = len(offsets) - 1
        self.lazy = LazyWeights(
            self.item.weights, target, self.sums.features, sampler.n_sequences, rates
        )
        self.target, self.constants = target, constants
        self.alpha, self.saga, self.caution = alpha, saga, 1.0
        self.curvature = curvature
        self.local = expected.local.reshape(-1)
        self.tied = addressable(expected.tied.reshape(n, -1))
        self.entropy = entropy
        self.gradient_scores = self.item.new_values()
        self.trial = self.item.new_values()

    def make_visits(self, uniforms, order, n_visits):
        """Make the visits, and bring all weights up to date."""
        self.constants.recount()
        # The moves before a visit that failed are those of other weights.
        self.lazy.forget()
        super().make_visits(uniforms, order, n_visits)
        self.lazy.restart()

    cdef bint visit(self, Py_ssize_t i) noexcept nogil:
        """Visit item i; return False if a number is not finite."""
        cdef Py_ssize_t place = self.place_of(i)
        # Before the search, which changes it.
        cdef double entropy, probability = self.sampler.probability(place)
        if self.is_empty(i):
            self.constants.mark_known(place)
        else:
            self.lazy.catch_up(i)
            self.log_z = self.expect(i, True)
            entropy = self.log_z - self.item.inner(
                self.item.expected, self.item.potentials
            )
            # A product keeps a score that is no number, and -ffast-math may lose it.
            if not isfinite(entropy):
                return False
            if self.constants.due(place) and not self.search(i, place):
                return False
            self.entropy[i] = entropy
            self.remember(i)
        self.sampler.record(place, self.constants.of(place))
        self.move(i, probability)
        return True

    cdef void remember(self, Py_ssize_t i) noexcept nogil:
        """Replace mu_i by the new expectations, and move the target with them."""
        cdef Values kept, new = self.item.expected
        kept.local = &self.local[self.item.first_local(i)]
        kept.tied = &self.tied[i, 0]
        self.item.set_change(new, kept)
        self.item.copy_values(new, kept)
        self.add_change(self.target, -self.scale[i])

    cdef void add_change(self, Weights out, double step) noexcept nogil:
        """Add step times the features of the change of mu_i to weights."""
        self.item.add_change(out, step)

    # SAGA, with p_i the probability of the visit and the target before the change:
    #     w <- (1 - step alpha) w + step alpha ( w_hat(mu_old) - scale_i / p_i change );
    # the target has been changed, which makes up for one scale_i change of the two.
    cdef void move(self, Py_ssize_t i, double probability) noexcept nogil:
        """Move w toward the target."""
        cdef Py_ssize_t n = self.scale.shape[0]
        cdef double shrink, gain
        cdef double step = self.step(self.constants.largest(), self.constants.mean())
        shrink = 1.0 - step * self.alpha
        gain = step * self.alpha
        if not self.saga:
            gain *= <double> n / self.constants.n_known
        elif not self.is_empty(i):
            step = gain * self.scale[i] * (1.0 - 1.0 / probability)
            self.item.add_change(self.lazy.moved, step / shrink)
        self.lazy.move(shrink, gain)

    cdef double step(self, double largest, double mean) noexcept nogil:
        """Return the step that the largest and the mean constant allow.

        The mean of a safe one and of one that the mean constant allows. No step is
        longer than 1 / (2 alpha), which halves w.
        """
        largest = max(largest / self.curvature, self.alpha)
        mean = max(mean / self.curvature, self.alpha)
        return (0.5 / (largest + self.alpha) + 0.5 / (mean + self.alpha)) / self.caution

    # The gradient of n c_i f_i is n c_i times the features of p - (one-hot labels). A
    # constant L is large enough if the step rate = n c_i / L along these features does
    # what it should for a quadratic:
    #     f_i(w - rate features) <= f_i(w) - rate / 2 ||features||^2.
    cdef bint search(self, Py_ssize_t i, Py_ssize_t place) noexcept nogil:
        """Search for the constant of item i; return False if there is none.

        ``place`` is its index among the constants.
        """
        cdef double weight = self.scale.shape[0] * self.alpha * self.scale[i]
        cdef double value = self.constants.first_trial(place)
        cdef double norm = self.gradient()
        cdef double of_target
        cdef int n_doublings = 0
        if weight * weight * norm <= SMALLEST_GRADIENT:
            self.constants.decay_without_search(place)
            return True
        self.item.change_scores(self.gradient_scores)
        of_target = self.item.target_score(self.gradient_scores)
        while not self.decreases(weight / value, norm, of_target):
            value *= 2.0
            n_doublings += 1
            if n_doublings > MAX_DOUBLINGS:
                return False
        self.constants.set_from_search(place, value, n_doublings > 0)
        return True

    cdef bint decreases(
        self, double rate, double norm, double of_target
    ) noexcept nogil:
        """Return whether the loss decreases as it should; a forward pass."""
        cdef Values scores = self.item.potentials, gradient = self.gradient_scores
        cdef double value
        step_back(
            scores.local, gradient.local, rate, self.item.n_local, self.trial.local
        )
        step_back(
            scores.tied, gradient.tied, rate, self.item.n_tied, self.trial.tied
        )
        value = self.log_partition_at(self.trial)
        return (
            value - self.log_z + rate * of_target
            <= -0.5 * rate * norm + ROUNDING * (1.0 + fabs(value))
        )
