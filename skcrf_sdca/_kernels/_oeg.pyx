# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True
"""One visit of online exponentiated gradient [Collins08; Schmidt15, footnote 9].

The dual variables of sequence i are a chain with natural parameters theta_i: node
parameters (T, K) and one (K, K) block for all its edges, since scores have one too. The
step eta moves them to (1 - eta) theta_i + eta scores_i(w), and is taken if the dual
does not fall; with mu the marginals of theta and H = log Z(theta) - <mu, theta>,

    (D_new - D_old) / weight_i = H_new - H_old + <mu_new - mu_old, scores_i>
                                 - scale_i / 2 ||features of mu_new - mu_old||^2.

No logarithm of a marginal is taken, and no edge marginal is stored but their sum. The
natural parameters are stored in single precision: marginals and entropies are those of
the parameters as stored, so that nothing is lost but the choice between parameters
closer to each other than that.
"""

from libc.math cimport fabs
from libc.string cimport memcpy

from ._chain cimport Workspace, forward_backward, log_partition
from ._vecmath cimport dot, vchange
from ._visits cimport DualVisitor

import numpy as np

# A trial may lower the dual by rounding, else a sequence that is momentarily optimal
# would halve its step for ever; for the same reason steps stay above SMALLEST_STEP.
cdef double ROUNDING = 1e-12
cdef double SMALLEST_STEP = 0.05
cdef double GROWTH = 1.05


cdef void mix(
    const float* theta, const double* scores, double step, Py_ssize_t n, double* out
) noexcept nogil:
    """Write (1 - step) theta + step scores, rounded as it will be stored."""
    cdef Py_ssize_t k
    for k in range(n):
        out[k] = <float> ((1.0 - step) * theta[k] + step * scores[k])


cdef class OEGKernel(DualVisitor):
    """The arrays of one OEG run and the visits that change them.

    Parameters
    ----------
    features, weights, offsets, scale, gaps, sampler
        As for `DualVisitor`.
    theta_node, theta_edge : ndarrays of shape (N, K) and (n, K, K), float32
        Natural parameters: changed in place.
    node, edge_sums : ndarrays of shape (N, K) and (n, K, K)
        Node marginals, and edge marginals summed over each sequence: changed in place.
    entropy : ndarray of shape (n,)
        H(mu_i): changed in place.
    step : ndarray of shape (n,)
        eta_i of the next visit: changed in place.
    allowed : tuple, default=None
        See `Workspace`.

    Attributes
    ----------
    max_halvings : int
        How often a visit may halve its step.
    """

    cdef public int max_halvings
    cdef Workspace work
    cdef float[:, ::1] theta_node
    cdef float[:, :, ::1] theta_edge
    cdef double[:, ::1] node
    cdef double[:, :, ::1] edge_sums
    cdef double[::1] entropy
    cdef double[::1] step
    # Buffers of one visit.
    cdef double[::1] scores             # (T, K)
    cdef double[::1] trial_node         # (T, K) natural parameters
    cdef double[::1] trial_edge         # (K, K)
    cdef double[::1] new_node           # (T, K) marginals
    cdef double[::1] new_edge           # (K, K) summed
    cdef double[::1] node_change        # (T, K)
    cdef double new_entropy

    def __init__(
        self, features, weights, offsets, scale, gaps, sampler, *, theta_node,
        theta_edge, node, edge_sums, entropy, step, allowed=None,
    ):
        super().__init__(features, weights, offsets, scale, gaps, sampler)
        self.theta_node, self.theta_edge = theta_node, theta_edge
        self.node, self.edge_sums = node, edge_sums
        self.entropy, self.step = entropy, step
        self.max_halvings = 2
        self.work = Workspace(self.longest, self.n_labels, allowed)
        n_node, matrix = self.longest * self.n_labels, self.n_labels * self.n_labels
        # Not empty: `marginalise` multiplies by 0 what stands here.
        self.scores = np.zeros(n_node)
        self.trial_node = np.empty(n_node)
        self.new_node = np.empty(n_node)
        self.node_change = np.empty(n_node)
        self.trial_edge = np.empty(matrix)
        self.new_edge = np.empty(matrix)

    def marginalise(self):
        """Fill marginals and entropy from the natural parameters."""
        cdef Py_ssize_t i, first, length
        with nogil:
            for i in range(self.offsets.shape[0] - 1):
                first, length = self.offsets[i], self.offsets[i + 1] - self.offsets[i]
                self.entropy[i] = 0.0
                self.edge_sums[i, :, :] = 0.0
                if length > 0:
                    # A trial that keeps the parameters, taken without a change of w.
                    self.try_step(i, first, length, 0.0)
                    self.keep(i, first, length)

    cdef bint visit(self, Py_ssize_t i) noexcept nogil:
        """Visit sequence i; return False if a number is not finite."""
        cdef Py_ssize_t first = self.offsets[i]
        cdef Py_ssize_t length = self.offsets[i + 1] - first
        cdef double gap, change, step = self.step[i]
        cdef int halving
        if length == 0:
            self.record_gap(i, 0.0)
            return True
        self.weights.score_nodes(self.rows, first, length, &self.scores[0])
        gap = self.gap_of(i, first, length)
        if gap != gap:
            return False
        self.record_gap(i, max(gap, 0.0))
        for halving in range(self.max_halvings + 1):
            change = self.try_step(i, first, length, step)
            if change != change:
                return False
            if change >= -ROUNDING * (1.0 + fabs(self.entropy[i])):
                self.keep(i, first, length)
                self.move_weights(i, -self.scale[i])
                break
            if halving < self.max_halvings:
                step *= 0.5
        self.step[i] = max(GROWTH * step, SMALLEST_STEP)
        return True

    # g_i = KL(mu_i || p(. | w)) = log Z(scores_i) - <mu_i, scores_i> - H(mu_i)
    cdef double gap_of(
        self, Py_ssize_t i, Py_ssize_t first, Py_ssize_t length
    ) noexcept nogil:
        """Return g_i, from one forward pass under w."""
        cdef Py_ssize_t n = self.n_labels
        cdef const double* transition = &self.weights.transition[0, 0]
        cdef double value
        self.work.set_transition(transition)
        value = log_partition(self.work, &self.scores[0], length)
        self.n_oracle_calls += 0.5
        return (
            value - self.entropy[i]
            - dot(&self.node[first, 0], &self.scores[0], length * n)
            - dot(&self.edge_sums[i, 0, 0], transition, n * n)
        )

    cdef double try_step(
        self, Py_ssize_t i, Py_ssize_t first, Py_ssize_t length, double step
    ) noexcept nogil:
        """Fill the buffers with the trial; return its change of the dual."""
        cdef Py_ssize_t k, n = self.n_labels
        cdef const double* transition = &self.weights.transition[0, 0]
        cdef double* node = &self.node[first, 0]
        cdef double* edge = &self.edge_sums[i, 0, 0]
        cdef double linear, log_z
        mix(
            &self.theta_node[first, 0], &self.scores[0], step, length * n,
            &self.trial_node[0],
        )
        mix(&self.theta_edge[i, 0, 0], transition, step, n * n, &self.trial_edge[0])
        self.work.set_transition(&self.trial_edge[0])
        log_z = forward_backward(
            self.work, &self.trial_node[0], length, &self.new_node[0], NULL,
            &self.new_edge[0],
        )
        self.n_oracle_calls += 1.0
        self.new_entropy = (
            log_z
            - dot(&self.new_node[0], &self.trial_node[0], length * n)
            - dot(&self.new_edge[0], &self.trial_edge[0], n * n)
        )
        vchange(
            &self.new_node[0], node, length, n, &self.node_change[0],
            &self.sums.node[0],
        )
        for k in range(n * n):
            self.sums.edge[k] = self.new_edge[k] - edge[k]
        linear = (
            dot(&self.node_change[0], &self.scores[0], length * n)
            + dot(&self.sums.edge[0], transition, n * n)
        )
        self.sums.set(i, first, length, &self.node_change[0])
        return (
            self.new_entropy - self.entropy[i] + linear
            - 0.5 * self.scale[i] * self.sums.squared_norm()
        )

    cdef void keep(
        self, Py_ssize_t i, Py_ssize_t first, Py_ssize_t length
    ) noexcept nogil:
        """Take the trial in the buffers."""
        cdef size_t node_bytes = length * self.n_labels * sizeof(double)
        cdef size_t edge_bytes = self.n_labels * self.n_labels * sizeof(double)
        cdef Py_ssize_t k, n = self.n_labels
        cdef float* theta_node = &self.theta_node[first, 0]
        cdef float* theta_edge = &self.theta_edge[i, 0, 0]
        for k in range(length * n):
            theta_node[k] = <float> self.trial_node[k]
        for k in range(n * n):
            theta_edge[k] = <float> self.trial_edge[k]
        memcpy(&self.node[first, 0], &self.new_node[0], node_bytes)
        memcpy(&self.edge_sums[i, 0, 0], &self.new_edge[0], edge_bytes)
        self.entropy[i] = self.new_entropy
