# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True
"""One visit of stochastic average gradient, uniform or not [Schmidt15, Alg. 1].

Of each sequence the marginals mu_i of its last visit are kept, from which its gradient
can be made; before the first visit they are the labels, whose gradient is zero. Since

    what(mu) = 1/alpha sum_i c_i ( F(x_i, y_i) - E_{mu_i} F(x_i, .) )

is the sum of all these gradients over -alpha, the step of SAG pulls w toward it,

    w <- (1 - step alpha) w + step alpha n/m what(mu),     m sequences visited so far,

and it comes to rest at w = what(mu), mu_i = p(. | x_i; w), as the dual solvers do. The
step follows from the Lipschitz constants L_i of the gradients of the losses n c_i f_i,
f_i = log Z_i - score_i(y_i), for which the visit searches along the gradient.
"""

from libc.math cimport fabs, isfinite
from libc.string cimport memcpy

from ._chain cimport Workspace, forward_backward, log_partition
from ._lazy cimport LazyWeights
from ._lipschitz cimport LipschitzConstants
from ._vecmath cimport axpy, vchange
from ._visits cimport Visitor
from ._weights cimport Weights

import numpy as np

# No search along a gradient whose square is smaller [Schmidt15, sec. 5].
cdef double SMALLEST_GRADIENT = 1e-8
# What the decrease of a loss may lose to rounding.
cdef double ROUNDING = 1e-13
# If the loss has not decreased after so many, it is not finite.
cdef int MAX_DOUBLINGS = 200


cdef class SAGKernel(Visitor):
    """The arrays of one SAG run and the visits that change them.

    Parameters
    ----------
    features, weights, offsets, scale, sampler
        As for `Visitor`. The sampler is told the constants L_i.
    target : Weights
        what(mu): changed in place.
    constants : LipschitzConstants
    alpha : float
    labels : ndarray of shape (N,), int32
    node : ndarray of shape (N, K)
        Node marginals of mu: changed in place.
    edge_sums : ndarray of shape (n, K, K)
        Edge marginals of mu, summed over each sequence: changed in place.
    saga : bool
        Whether the steps are those of SAGA: unbiased, and a third as long.
    allowed : tuple, default=None
        See `Workspace`.

    Attributes
    ----------
    caution : float
        By what every step is divided; 1 at first.
    """

    cdef public double caution
    cdef LazyWeights lazy
    cdef Weights target
    cdef LipschitzConstants constants
    cdef Workspace work
    cdef double alpha
    cdef bint saga
    cdef const int[::1] labels
    cdef double[:, ::1] node
    cdef double[:, :, ::1] edge_sums
    # Buffers of one visit.
    cdef double[::1] scores             # (T, K)
    cdef double[::1] new_node           # (T, K) marginals
    cdef double[::1] new_edge           # (K, K) summed
    cdef double[::1] node_change        # (T, K)
    cdef double[::1] change_sum         # (K,) of node_change
    cdef double[::1] edge_change        # (K, K) summed
    cdef double[::1] gradient_scores    # (T, K)
    cdef double[::1] trial_node         # (T, K) scores
    cdef double[::1] trial_edge         # (K, K)
    cdef double log_partition

    def __init__(
        self, features, weights, offsets, scale, sampler, *, target, constants,
        double alpha, labels, node, edge_sums, bint saga, allowed=None,
    ):
        super().__init__(features, weights, offsets, scale, sampler)
        self.lazy = LazyWeights(
            weights, target, features, len(offsets) - 1
        )
        self.target, self.constants = target, constants
        self.alpha, self.saga, self.caution = alpha, saga, 1.0
        self.labels, self.node, self.edge_sums = labels, node, edge_sums
        self.work = Workspace(self.longest, self.n_labels, allowed)
        n_node, matrix = self.longest * self.n_labels, self.n_labels * self.n_labels
        self.scores = np.empty(n_node)
        self.new_node = np.empty(n_node)
        self.node_change = np.empty(n_node)
        self.gradient_scores = np.empty(n_node)
        self.trial_node = np.empty(n_node)
        self.change_sum = np.empty(self.n_labels)
        self.edge_change = np.empty(matrix)
        self.new_edge = np.empty(matrix)
        self.trial_edge = np.empty(matrix)

    def make_visits(self, uniforms, order, n_visits):
        """Make the visits, and bring all weights up to date."""
        self.constants.recount()
        super().make_visits(uniforms, order, n_visits)
        self.lazy.flush()

    cdef bint visit(self, Py_ssize_t i) noexcept nogil:
        """Visit sequence i; return False if a number is not finite."""
        cdef Py_ssize_t first = self.offsets[i]
        cdef Py_ssize_t length = self.offsets[i + 1] - first
        # Before the search, which changes it.
        cdef double probability = self.sampler.probability(i)
        if length == 0:
            self.constants.know(i)
        else:
            self.lazy.catch_up(i)
            self.ask_oracle(first, length)
            if not isfinite(self.log_partition):
                return False
            if self.constants.due(i) and not self.search(i, first, length):
                return False
            self.remember(i, first, length)
        self.sampler.record(i, self.constants.of(i))
        self.move(i, first, length, probability)
        return True

    cdef void ask_oracle(self, Py_ssize_t first, Py_ssize_t length) noexcept nogil:
        """Write the scores, the marginals and log Z under w."""
        self.weights.score_nodes(self.rows, first, length, &self.scores[0])
        self.work.set_transition(&self.weights.transition[0, 0])
        self.n_oracle_calls += 1.0
        self.log_partition = forward_backward(
            self.work, &self.scores[0], length, &self.new_node[0], NULL,
            &self.new_edge[0],
        )

    cdef void remember(
        self, Py_ssize_t i, Py_ssize_t first, Py_ssize_t length
    ) noexcept nogil:
        """Replace mu_i by the new marginals, and move the target with them."""
        cdef Py_ssize_t k, n = self.n_labels
        cdef double* node = &self.node[first, 0]
        cdef double* edge = &self.edge_sums[i, 0, 0]
        vchange(
            &self.new_node[0], node, length, n, &self.node_change[0],
            &self.change_sum[0],
        )
        for k in range(n * n):
            self.edge_change[k] = self.new_edge[k] - edge[k]
        memcpy(node, &self.new_node[0], length * n * sizeof(double))
        memcpy(edge, &self.new_edge[0], n * n * sizeof(double))
        self.add_change(self.target, first, length, -self.scale[i])

    cdef void add_change(
        self, Weights weights, Py_ssize_t first, Py_ssize_t length, double step
    ) noexcept nogil:
        """Add step times the features of the last change of marginals."""
        weights.add_features(
            self.rows, first, length, step, &self.node_change[0], &self.change_sum[0],
            &self.edge_change[0],
        )

    # SAGA, with p_i the probability of the visit and the target before the change:
    #     w <- (1 - step alpha) w + step alpha ( what(mu_old) - scale_i / p_i change );
    # the target has been changed, which makes up for one scale_i change of the two.
    cdef void move(
        self, Py_ssize_t i, Py_ssize_t first, Py_ssize_t length, double probability
    ) noexcept nogil:
        """Move w toward the target."""
        cdef Py_ssize_t n = self.scale.shape[0]
        cdef double shrink, gain, step = self.step()
        shrink = 1.0 - step * self.alpha
        gain = step * self.alpha
        if not self.saga:
            gain *= <double> n / self.constants.n_known
        elif length > 0:
            step = gain * self.scale[i] * (1.0 - 1.0 / probability)
            self.add_change(self.weights, first, length, step / shrink)
        self.lazy.move(shrink, gain)

    cdef double step(self) noexcept nogil:
        """Return the step that the constants allow.

        SAG takes the mean of a safe one and of one that the mean constant allows; for
        SAGA what counts is the largest L_i / (n p_i). No step is longer than 1 / (2
        alpha), which halves w.
        """
        cdef double largest = max(self.constants.largest(), self.alpha)
        cdef double mean = max(self.constants.mean(), self.alpha)
        cdef double mix = self.sampler.mix
        cdef double of_all, step
        if not self.saga:
            step = 0.5 / (largest + self.alpha) + 0.5 / (mean + self.alpha)
            return step / self.caution
        if self.constants.own:
            of_all = mean * self.constants.n_known / self.scale.shape[0]
            largest /= 1.0 - mix + mix * largest / of_all
        return 1.0 / (3.0 * self.caution * (largest + self.alpha))

    # The gradient of n c_i f_i is n c_i times the features of p - (one-hot labels). A
    # constant L is large enough if the step rate = n c_i / L along these features does
    # what it should for a quadratic:
    #     f_i(w - rate features) <= f_i(w) - rate / 2 ||features||^2.
    cdef bint search(
        self, Py_ssize_t i, Py_ssize_t first, Py_ssize_t length
    ) noexcept nogil:
        """Search for the constant of sequence i; return False if there is none."""
        cdef double weight = self.scale.shape[0] * self.alpha * self.scale[i]
        cdef double value = self.constants.first_trial(i)
        cdef double norm, of_path
        cdef int n_doublings = 0
        self.set_gradient(i, first, length)
        norm = self.sums.squared_norm()
        if weight * weight * norm <= SMALLEST_GRADIENT:
            self.constants.relax(i)
            return True
        self.sums.score_nodes(length, &self.gradient_scores[0])
        of_path = self.score_of_labels(first, length)
        while not self.decreases(length, weight / value, norm, of_path):
            value *= 2.0
            n_doublings += 1
            if n_doublings > MAX_DOUBLINGS:
                return False
        self.constants.found(i, value, n_doublings > 0)
        return True

    cdef void set_gradient(
        self, Py_ssize_t i, Py_ssize_t first, Py_ssize_t length
    ) noexcept nogil:
        """Sum the features of the difference of new marginals and labels."""
        cdef Py_ssize_t t, k, n = self.n_labels
        cdef const int* path = &self.labels[first]
        memcpy(&self.node_change[0], &self.new_node[0], length * n * sizeof(double))
        memcpy(&self.sums.edge[0], &self.new_edge[0], n * n * sizeof(double))
        for k in range(n):
            self.sums.node[k] = 0.0
        for t in range(length):
            self.node_change[t * n + path[t]] -= 1.0
            axpy(1.0, &self.node_change[t * n], &self.sums.node[0], n)
            if t > 0:
                self.sums.edge[path[t - 1] * n + path[t]] -= 1.0
        self.sums.set(i, first, length, &self.node_change[0])

    cdef double score_of_labels(
        self, Py_ssize_t first, Py_ssize_t length
    ) noexcept nogil:
        """Return the score of the labels with the gradient as weights."""
        cdef Py_ssize_t t, n = self.n_labels
        cdef const int* path = &self.labels[first]
        cdef double value = 0.0
        for t in range(length):
            value += self.gradient_scores[t * n + path[t]]
            if t > 0:
                value += self.sums.edge[path[t - 1] * n + path[t]]
        return value

    cdef bint decreases(
        self, Py_ssize_t length, double rate, double norm, double of_path
    ) noexcept nogil:
        """Return whether the loss decreases as it should; a forward pass."""
        cdef Py_ssize_t k, n = self.n_labels
        cdef const double* transition = &self.weights.transition[0, 0]
        cdef double value
        for k in range(length * n):
            self.trial_node[k] = self.scores[k] - rate * self.gradient_scores[k]
        for k in range(n * n):
            self.trial_edge[k] = transition[k] - rate * self.sums.edge[k]
        self.work.set_transition(&self.trial_edge[0])
        value = log_partition(self.work, &self.trial_node[0], length)
        self.n_oracle_calls += 0.5
        return (
            value - self.log_partition + rate * of_path
            <= -0.5 * rate * norm + ROUNDING * (1.0 + fabs(value))
        )
