# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True
"""One epoch of stochastic dual coordinate ascent [LePriol18, Alg. 1].

A visit to sequence i asks the oracle for the marginals under w (the target), moves the
marginals mu_i along direction = target - mu_i by the step that maximises the dual, and
moves w = what(mu) with them. Owns the arithmetic of the visit; the arrays belong to the
solver's state and are changed in place.
"""

from libc.math cimport fabs

from ._chain cimport Workspace, forward_backward
from ._line_search cimport Part, Segment, move, newton_step
from ._vecmath cimport dot, vdirection, vmove
from ._visits cimport DualVisitor

import numpy as np

# A step is taken back, halved, while the dual falls by more than rounding.
cdef double ROUNDING = 1e-12
cdef int MAX_HALVINGS = 40


cdef class SDCAKernel(DualVisitor):
    """The arrays of one SDCA run and the visits that change them.

    Parameters
    ----------
    rows, weights, offsets, scale, gaps, sampler
        As for `DualVisitor`.
    edge_offsets : ndarray of shape (n + 1,), int64
    node, edge : ndarrays of shape (N, K) and (M, K, K)
        Marginals mu: changed in place.
    entropy : ndarray of shape (n,)
        H(mu_i): changed in place.
    fixed_step : float
        Step of every visit; 0 for the exact line search.
    line_search_tol : float
    """

    cdef readonly Py_ssize_t n_evaluations
    cdef double fixed_step
    cdef double line_search_tol
    cdef Workspace work
    cdef const long long[::1] edge_offsets
    cdef double[:, ::1] node
    cdef double[:, :, ::1] edge
    cdef double[::1] entropy
    cdef double[::1] steps              # (n,) the step of the last visit
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
        self, rows, weights, offsets, scale, gaps, sampler, *, edge_offsets, node,
        edge, entropy, double fixed_step, double line_search_tol,
    ):
        super().__init__(rows, weights, offsets, scale, gaps, sampler)
        self.edge_offsets = edge_offsets
        self.node, self.edge, self.entropy = node, edge, entropy
        self.steps = np.full(len(offsets) - 1, 0.5)
        self.fixed_step = fixed_step
        self.line_search_tol = line_search_tol
        self.work = Workspace(self.longest, self.n_labels)
        matrix = self.n_labels * self.n_labels
        n_node = self.longest * self.n_labels
        n_edge = max(self.longest - 1, 1) * matrix
        self.scores = np.empty(n_node)
        self.node_direction = np.empty(n_node)
        self.edge_direction = np.empty(n_edge)
        self.node_single = np.empty(n_node, dtype=np.float32)
        self.node_ratio = np.empty(n_node, dtype=np.float32)
        self.edge_single = np.empty(n_edge, dtype=np.float32)
        self.edge_ratio = np.empty(n_edge, dtype=np.float32)
        self.mu_sum = np.empty(matrix)

    cdef bint visit(self, Py_ssize_t i) noexcept nogil:
        """Visit sequence i; return False if a number is not finite."""
        cdef Py_ssize_t first = self.offsets[i]
        cdef Py_ssize_t length = self.offsets[i + 1] - first
        cdef double* mu_node
        cdef double* mu_edge
        cdef double gap, step
        cdef Segment segment
        if length == 0:
            self.record_gap(i, 0.0)
            return True
        mu_node = &self.node[first, 0]
        mu_edge = NULL if length == 1 else &self.edge[self.edge_offsets[i], 0, 0]
        gap = (
            self.ask_oracle(first, length) - self.entropy[i]
            - self.find_direction(&segment, mu_node, mu_edge, length)
        )
        if gap != gap:
            return False
        gap = max(gap, 0.0)
        self.record_gap(i, gap)
        if gap == 0.0:
            return True
        self.sums.set(i, first, length, &self.node_direction[0])
        segment.quadratic = self.scale[i] * self.sums.squared_norm()
        step = self.search(i, &segment)
        if step != step:
            return False
        step = self.move_marginals(i, &segment, step)
        if length > 1:
            # The segment holds the inner nodes; the two outer ones move here.
            self.move_node(mu_node, 0, step)
            self.move_node(mu_node, length - 1, step)
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

    cdef double find_direction(
        self,
        Segment* segment,                       # out, but for quadratic
        double* mu_node, double* mu_edge,       # in, (T, K) and (T - 1, K, K)
        Py_ssize_t length,
    ) noexcept nogil:
        """Turn the target into the direction; return <mu, scores>."""
        cdef Py_ssize_t n = self.n_labels
        cdef const double* transition = &self.weights.transition[0, 0]
        cdef double expected = dot(mu_node, &self.scores[0], length * n)
        vdirection(
            &self.node_direction[0], mu_node, length, n,
            &self.sums.node[0], &self.mu_sum[0], &self.node_single[0],
            &self.node_ratio[0],
        )
        vdirection(
            &self.edge_direction[0], mu_edge, length - 1, n * n,
            &self.sums.edge[0], &self.mu_sum[0], &self.edge_single[0],
            &self.edge_ratio[0],
        )
        self.set_parts(segment, mu_node, mu_edge, length)
        segment.linear = (
            dot(&self.node_direction[0], &self.scores[0], length * n)
            + dot(&self.sums.edge[0], transition, n * n)
        )
        return expected + dot(&self.mu_sum[0], transition, n * n)

    cdef void move_node(
        self, double* mu_node, Py_ssize_t t, double step
    ) noexcept nogil:
        """Move the node marginals at position t."""
        cdef Py_ssize_t n = self.n_labels
        vmove(mu_node + t * n, &self.node_direction[t * n], step, n)

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
