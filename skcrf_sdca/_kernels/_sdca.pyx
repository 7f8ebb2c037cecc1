# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True
"""One epoch of stochastic dual coordinate ascent [LePriol18, Alg. 1].

A visit to sequence i asks the oracle for the marginals under w (the target), moves the
marginals mu_i along direction = target - mu_i by the step that maximises the dual, and
moves w = what(mu) with them. Owns the arithmetic of the visit; the arrays belong to the
solver's state and are changed in place.
"""

from cpython.exc cimport PyErr_CheckSignals
from libc.math cimport fabs

from ._chain cimport Workspace, forward_backward
from ._features cimport DistinctFeatures, FeatureRows
from ._line_search cimport Part, Segment, move, newton_step
from ._samplers cimport Sampler
from ._vecmath cimport dot, vdirection, vmove
from ._weights cimport FeatureSums, Weights

import numpy as np

# A step is taken back, halved, while the dual falls by more than rounding.
cdef double ROUNDING = 1e-12
cdef int MAX_HALVINGS = 40
# Edge marginals between two looks for Ctrl-C: some hundredths of a second.
cdef Py_ssize_t WORK_BETWEEN_SIGNALS = 4_000_000


cdef class SDCAKernel:
    """The arrays of one SDCA run and the visits that change them.

    Parameters
    ----------
    rows : FeatureRows
    weights : Weights
        Changed in place.
    offsets, edge_offsets : ndarray of shape (n + 1,), int64
    scale : ndarray of shape (n,)
        weight_i / alpha with the weights summing to 1; 1 / (alpha n) if all are equal.
    node, edge : ndarrays of shape (N, K) and (M, K, K)
        Marginals mu: changed in place.
    entropy, gaps, steps : ndarrays of shape (n,)
        H(mu_i), the gap of i and the step when last visited: changed in place.
    sampler : Sampler
    fixed_step : float
        Step of every visit; 0 for the exact line search.
    line_search_tol : float
    """

    cdef readonly Py_ssize_t n_evaluations
    cdef readonly Py_ssize_t n_oracle_calls
    cdef Py_ssize_t n_labels
    cdef double fixed_step
    cdef double line_search_tol
    cdef FeatureRows rows
    cdef Weights weights
    cdef FeatureSums sums
    cdef Workspace work
    cdef Sampler sampler
    cdef const long long[::1] offsets
    cdef const long long[::1] edge_offsets
    cdef const double[::1] scale
    cdef double[:, ::1] node
    cdef double[:, :, ::1] edge
    cdef double[::1] entropy
    cdef double[::1] gaps
    cdef double[::1] steps
    # Buffers of one visit.
    cdef double[::1] scores             # (T, K)
    cdef double[::1] node_direction     # (T, K)
    cdef double[::1] edge_direction     # (T - 1, K, K)
    cdef float[::1] node_single         # node_direction
    cdef float[::1] node_ratio          # node_direction / target
    cdef float[::1] edge_single
    cdef float[::1] edge_ratio
    cdef double[::1] mu_sum             # (K, K) sum over t of the marginals

    def __init__(
        self, FeatureRows rows, Weights weights, offsets, edge_offsets, scale, node,
        edge, entropy, gaps, steps, Sampler sampler, *, double fixed_step,
        double line_search_tol,
    ):
        cdef Py_ssize_t longest = int(np.diff(offsets).max(initial=1))
        self.rows = rows
        self.weights = weights
        self.sums = FeatureSums(DistinctFeatures(rows, offsets), weights)
        self.offsets, self.edge_offsets, self.scale = offsets, edge_offsets, scale
        self.node, self.edge = node, edge
        self.entropy, self.gaps, self.steps = entropy, gaps, steps
        self.sampler = sampler
        self.fixed_step = fixed_step
        self.line_search_tol = line_search_tol
        self.n_labels = node.shape[1]
        self.work = Workspace(longest, self.n_labels)
        matrix = self.n_labels * self.n_labels
        self.scores = np.empty(longest * self.n_labels)
        self.node_direction = np.empty(longest * self.n_labels)
        self.node_single = np.empty(longest * self.n_labels, dtype=np.float32)
        self.node_ratio = np.empty(longest * self.n_labels, dtype=np.float32)
        n_edge_numbers = max(longest - 1, 1) * matrix
        self.edge_direction = np.empty(n_edge_numbers)
        self.edge_single = np.empty(n_edge_numbers, dtype=np.float32)
        self.edge_ratio = np.empty(n_edge_numbers, dtype=np.float32)
        self.mu_sum = np.empty(matrix)

    def epoch(self, const double[:, ::1] uniforms):
        """Make one visit for each row (coin, position) of uniform numbers."""
        cdef Py_ssize_t v, i = 0, work = 0
        cdef bint sane = True
        with nogil:
            for v in range(uniforms.shape[0]):
                i = self.sampler.pick(uniforms[v, 0], uniforms[v, 1])
                sane = self.visit(i)
                if not sane:
                    break
                work += (
                    (self.offsets[i + 1] - self.offsets[i])
                    * self.n_labels * self.n_labels
                )
                if work > WORK_BETWEEN_SIGNALS:
                    work = 0
                    with gil:
                        PyErr_CheckSignals()
        if not sane:
            raise ValueError(
                f"the scores of sequence {i} or its line search are not finite: scale "
                "the features in X, or take a larger alpha"
            )

    cdef bint visit(self, Py_ssize_t i) noexcept nogil:
        """Visit sequence i; return False if a number is not finite."""
        cdef Py_ssize_t first = self.offsets[i]
        cdef Py_ssize_t length = self.offsets[i + 1] - first
        cdef Py_ssize_t n = self.n_labels
        cdef double* mu_node
        cdef double* mu_edge
        cdef double log_partition, gap, step, linear
        cdef Segment segment
        if length == 0:
            self.gaps[i] = 0.0
            self.sampler.record(i, 0.0)
            return True
        mu_node = &self.node[first, 0]
        mu_edge = NULL if length == 1 else &self.edge[self.edge_offsets[i], 0, 0]
        log_partition = self.ask_oracle(first, length)
        gap = log_partition - dot(mu_node, &self.scores[0], length * n)
        gap -= self.entropy[i]
        vdirection(
            &self.node_direction[0], mu_node, length, n,
            &self.sums.node[0], &self.mu_sum[0], &self.node_single[0],
            &self.node_ratio[0],
        )
        linear = dot(&self.node_direction[0], &self.scores[0], length * n)
        vdirection(
            &self.edge_direction[0], mu_edge, length - 1, n * n,
            &self.sums.edge[0], &self.mu_sum[0], &self.edge_single[0],
            &self.edge_ratio[0],
        )
        linear += dot(&self.sums.edge[0], &self.weights.transition[0, 0], n * n)
        gap -= dot(&self.mu_sum[0], &self.weights.transition[0, 0], n * n)
        if gap != gap:
            return False
        gap = max(gap, 0.0)
        self.gaps[i] = gap
        self.sampler.record(i, gap)
        if gap == 0.0:
            return True

        self.sums.set(i, first, length, &self.node_direction[0])
        self.set_parts(&segment, mu_node, mu_edge, length)
        segment.linear = linear
        segment.quadratic = self.scale[i] * self.sums.squared_norm()
        step = self.search(i, &segment)
        if step != step:
            return False
        step = self.move_marginals(i, &segment, step)
        if length > 1:
            # The segment holds the inner nodes; the two outer ones move here.
            vmove(mu_node, &self.node_direction[0], step, n)
            vmove(
                mu_node + (length - 1) * n,
                &self.node_direction[(length - 1) * n], step, n,
            )
        self.sums.add_to_weights(-self.scale[i] * step)
        self.steps[i] = step
        return True

    cdef double ask_oracle(self, Py_ssize_t first, Py_ssize_t length) noexcept nogil:
        """Write the scores and the target marginals; return log Z."""
        self.weights.score_nodes(self.rows, first, length, &self.scores[0])
        self.work.set_transition(&self.weights.transition[0, 0])
        self.n_oracle_calls += 1
        return forward_backward(
            self.work, &self.scores[0], length, &self.node_direction[0],
            &self.edge_direction[0], NULL,
        )

    cdef void set_parts(
        self, Segment* segment, double* mu_node, double* mu_edge, Py_ssize_t length
    ) noexcept nogil:
        """Name the cliques and separators: a chain of one node is its own clique."""
        cdef Py_ssize_t n = self.n_labels
        cdef Part nodes = Part(
            mu_node, &self.node_direction[0], &self.node_single[0],
            &self.node_ratio[0], n,
        )
        if length == 1:
            segment.cliques = nodes
            segment.separators = nodes
            segment.separators.n = 0
            return
        segment.cliques = Part(
            mu_edge, &self.edge_direction[0], &self.edge_single[0],
            &self.edge_ratio[0], (length - 1) * n * n,
        )
        segment.separators = Part(
            nodes.p + n, nodes.direction + n, nodes.single + n, nodes.ratio + n,
            (length - 2) * n,
        )

    cdef double search(self, Py_ssize_t i, Segment* segment) noexcept nogil:
        """Return the step: the fixed one, or that of the line search."""
        if self.fixed_step > 0.0:
            return self.fixed_step
        return newton_step(
            segment, self.steps[i], self.line_search_tol, &self.n_evaluations
        )

    cdef double move_marginals(
        self, Py_ssize_t i, Segment* segment, double step
    ) noexcept nogil:
        """Move mu_i and its entropy; return the step after any halving."""
        cdef double old = self.entropy[i]
        cdef double new = move(segment, step)
        cdef double change
        cdef int _halving
        if self.fixed_step == 0.0:
            for _halving in range(MAX_HALVINGS):
                change = (
                    new - old
                    + step * (segment.linear - 0.5 * step * segment.quadratic)
                )
                if change >= -ROUNDING * (1.0 + fabs(old)):
                    break
                step *= 0.5
                new = move(segment, -step)
        self.entropy[i] = new
        return step
