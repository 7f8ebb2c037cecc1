# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True
"""One epoch of stochastic dual coordinate ascent [LePriol18, Alg. 1].

A visit to sequence i asks the oracle for the marginals under w (the target), moves the
marginals mu_i along direction = target - mu_i by the step that maximises the dual, and
moves w = what(mu) with them. Owns the arithmetic of the visit; the arrays belong to the
solver's state and are changed in place.
"""

from libc.math cimport fabs
from libc.string cimport memcpy, memset

from ._chain cimport Workspace, forward_backward, write_edge
from ._line_search cimport Part, Segment, divergence, move, newton_step
from ._vecmath cimport Stored, axpy, dot, doubles, skip, vaim, vmove
from ._visits cimport DualVisitor

import numpy as np

# A step is taken back, halved, while the dual falls by more than rounding: that of its
# own arithmetic, or of edges stored in single precision.
cdef double ROUNDING = 1e-12
cdef double ROUNDING_SINGLE = 1e-6
cdef int MAX_HALVINGS = 40
# More probability than this where the target is below the smallest number stored, and
# the logarithm of the target is missed.
cdef double LARGEST_LOSS = 1e-13


cdef class SDCAKernel(DualVisitor):
    """The arrays of one SDCA run and the visits that change them.

    Parameters
    ----------
    features, weights, offsets, scale, gaps, sampler
        As for `DualVisitor`.
    edge_offsets : ndarray of shape (n + 1,), int64
    node : ndarray of shape (N, K)
        Node marginals of mu: changed in place.
    edge : ndarray of shape (M, K, K), float32 or float64
        Edge marginals of mu: changed in place.
    entropy : ndarray of shape (n,)
        H(mu_i): changed in place.
    steps : ndarray of shape (n,)
        The step of the last visit, from which the next line search starts: changed in
        place.
    fixed_step : float
        Step of every visit; 0 for the exact line search.
    line_search_tol : float
    allowed : tuple, default=None
        See `Workspace`.

    Raises
    ------
    ValueError
        If the edges are not a C-contiguous array of that shape and type.
    """

    cdef readonly Py_ssize_t n_evaluations
    cdef double fixed_step
    cdef double line_search_tol
    cdef double rounding
    cdef Workspace work
    cdef const long long[::1] edge_offsets
    cdef double[:, ::1] node
    cdef unsigned char[::1] edge        # (M, K, K) of numbers
    cdef Py_ssize_t itemsize            # of the numbers of edge
    cdef double[::1] entropy
    cdef double[::1] steps
    # Buffers of one visit.
    cdef double[::1] scores             # (T, K)
    cdef double[::1] node_target        # (T, K)
    cdef double[::1] node_kept          # (T, K) no smaller than the least marginal
    cdef double[::1] node_direction     # (T, K)
    cdef float[::1] node_ratio          # (T, K) node_direction / node_target
    cdef double[::1] node_moved         # (T, K)
    cdef double[::1] matrix             # (K, K) the target of one edge
    cdef unsigned char[::1] edge_target     # (T - 1, K, K) of numbers
    cdef float[::1] edge_ratio              # (T - 1, K, K)
    cdef unsigned char[::1] edge_moved      # (T - 1, K, K) of numbers

    def __init__(
        self, features, weights, offsets, scale, gaps, sampler, *, edge_offsets, node,
        edge, entropy, steps, double fixed_step, double line_search_tol, allowed=None,
    ):
        super().__init__(features, weights, offsets, scale, gaps, sampler)
        shape = (edge_offsets[len(edge_offsets) - 1], self.n_labels, self.n_labels)
        if (
            edge.shape != shape or edge.dtype not in (np.float32, np.float64)
            or not edge.flags.c_contiguous or not edge.flags.writeable
        ):
            raise ValueError(
                f"edge is an array of shape {edge.shape} and dtype {edge.dtype}; it "
                f"must be of shape {shape}, float32 or float64, C-contiguous, writeable"
            )
        self.edge_offsets = edge_offsets
        self.node, self.entropy, self.steps = node, entropy, steps
        self.edge = edge.reshape(-1).view(np.uint8)
        self.itemsize = edge.itemsize
        self.rounding = ROUNDING_SINGLE if edge.dtype == np.float32 else ROUNDING
        self.fixed_step = fixed_step
        self.line_search_tol = line_search_tol
        self.work = Workspace(self.longest, self.n_labels, allowed)
        n_node = self.longest * self.n_labels
        n_edge = max(self.longest - 1, 1) * self.n_labels * self.n_labels
        self.scores = np.empty(n_node)
        self.node_target = np.empty(n_node)
        self.node_kept = np.empty(n_node)
        self.node_direction = np.empty(n_node)
        self.node_ratio = np.empty(n_node, dtype=np.float32)
        self.node_moved = np.empty(n_node)
        self.matrix = np.empty(self.n_labels * self.n_labels)
        self.edge_target = np.empty(n_edge * edge.itemsize, dtype=np.uint8)
        self.edge_ratio = np.empty(n_edge, dtype=np.float32)
        self.edge_moved = np.empty(n_edge * edge.itemsize, dtype=np.uint8)

    cdef bint visit(self, Py_ssize_t i) noexcept nogil:
        """Visit sequence i; return False if a number is not finite."""
        cdef Py_ssize_t first = self.offsets[i]
        cdef Py_ssize_t length = self.offsets[i + 1] - first
        cdef double log_partition, gap, step
        cdef Segment segment
        if length == 0:
            self.record_gap(i, 0.0)
            return True
        log_partition = self.ask_oracle(first, length)
        self.set_parts(&segment, i, length)
        segment.rest = log_partition - self.aim(&segment, i, length)
        gap = segment.rest - self.entropy[i]
        if gap != gap:
            return False
        if (
            gap <= self.rounding * (1.0 + fabs(log_partition))
            and not segment.out_of_reach
        ):
            # Where the difference has lost its digits, as a sum of positive terms.
            gap = divergence(&segment, 0.0)
        self.record_gap(i, max(gap, 0.0))
        self.sums.set(i, first, length, &self.node_direction[0])
        segment.quadratic = self.scale[i] * self.sums.squared_norm()
        step = self.search(i, &segment)
        if step != step:
            return False
        self.steps[i] = step
        step = self.find_move(i, &segment, step)
        self.take_move(i, length, step)
        self.move_weights(i, -self.scale[i] * step)
        return True

    cdef double ask_oracle(self, Py_ssize_t first, Py_ssize_t length) noexcept nogil:
        """Write the scores and the node marginals of the target; return log Z."""
        self.weights.score_nodes(self.rows, first, length, &self.scores[0])
        self.work.set_transition(&self.weights.transition[0, 0])
        self.n_oracle_calls += 1
        return forward_backward(
            self.work, &self.scores[0], length, &self.node_target[0], NULL, NULL
        )

    cdef Stored stored(self, unsigned char* first) noexcept nogil:
        """Return numbers of the type of the edges."""
        return Stored(<char*> first, self.itemsize == sizeof(float))

    cdef void set_parts(
        self, Segment* segment, Py_ssize_t i, Py_ssize_t length
    ) noexcept nogil:
        """Name the cliques and separators: a chain of one node is its own clique."""
        cdef Py_ssize_t n = self.n_labels
        cdef Part nodes
        nodes.p = doubles(&self.node[self.offsets[i], 0])
        nodes.target = doubles(&self.node_kept[0])
        nodes.ratio = &self.node_ratio[0]
        nodes.moved = doubles(&self.node_moved[0])
        nodes.n = n
        segment.cliques = nodes
        segment.separators = nodes
        segment.separators.n = 0
        if length == 1:
            return
        segment.cliques.p = skip(
            self.stored(&self.edge[0]), self.edge_offsets[i] * n * n
        )
        segment.cliques.target = self.stored(&self.edge_target[0])
        segment.cliques.ratio = &self.edge_ratio[0]
        segment.cliques.moved = self.stored(&self.edge_moved[0])
        segment.cliques.n = (length - 1) * n * n
        segment.separators.p = skip(nodes.p, n)
        segment.separators.target = skip(nodes.target, n)
        segment.separators.ratio += n
        segment.separators.moved = skip(nodes.moved, n)
        segment.separators.n = (length - 2) * n

    cdef double aim(
        self, Segment* segment, Py_ssize_t i, Py_ssize_t length
    ) noexcept nogil:
        """Write target and direction of nodes and edges; return <mu, scores>."""
        cdef Py_ssize_t t, n = self.n_labels
        cdef Part* edges = &segment.cliques
        cdef const double* transition = &self.weights.transition[0, 0]
        cdef double* node = &self.node[self.offsets[i], 0]
        cdef double expected, lost = 0.0
        memset(&self.node_direction[0], 0, length * n * sizeof(double))
        expected = vaim(
            &self.node_target[0], doubles(node), &self.scores[0],
            length * n, doubles(&self.node_kept[0]),
            &self.node_ratio[0], &self.node_direction[0], &lost,
        )
        memset(&self.sums.node[0], 0, n * sizeof(double))
        for t in range(length):
            axpy(1.0, &self.node_direction[t * n], &self.sums.node[0], n)
        memset(&self.sums.edge[0], 0, n * n * sizeof(double))
        for t in range(1, length):
            write_edge(self.work, t, &self.matrix[0])
            expected += vaim(
                &self.matrix[0], skip(edges.p, (t - 1) * n * n), transition, n * n,
                skip(edges.target, (t - 1) * n * n),
                <float*> edges.ratio + (t - 1) * n * n, &self.sums.edge[0], &lost,
            )
        segment.out_of_reach = lost > LARGEST_LOSS
        segment.linear = (
            dot(&self.node_direction[0], &self.scores[0], length * n)
            + dot(&self.sums.edge[0], transition, n * n)
        )
        return expected

    cdef double search(self, Py_ssize_t i, Segment* segment) noexcept nogil:
        """Return the step: the fixed one, or that of the line search."""
        if self.fixed_step > 0.0:
            return self.fixed_step
        return newton_step(
            segment, self.steps[i], self.line_search_tol, &self.n_evaluations
        )

    cdef double find_move(
        self, Py_ssize_t i, Segment* segment, double step
    ) noexcept nogil:
        """Write the moved marginals and their entropy; return the step taken."""
        cdef double change, old = self.entropy[i]
        cdef double least = -self.rounding * (1.0 + fabs(old) + fabs(segment.rest))
        cdef int halving
        for halving in range(MAX_HALVINGS + 1):
            self.entropy[i] = move(segment, step)
            change = (
                self.entropy[i] - old
                + step * (segment.linear - 0.5 * step * segment.quadratic)
            )
            if self.fixed_step > 0.0 or change >= least:
                break
            if halving < MAX_HALVINGS:
                step *= 0.5
        return step

    cdef void take_move(
        self, Py_ssize_t i, Py_ssize_t length, double step
    ) noexcept nogil:
        """Make the moved marginals those of sequence i."""
        cdef Py_ssize_t n = self.n_labels
        cdef Py_ssize_t matrix = n * n * self.itemsize
        cdef double* node = &self.node[self.offsets[i], 0]
        self.move_end(node, 0, step)
        if length > 1:
            self.move_end(node, length - 1, step)
            memcpy(
                &self.edge[self.edge_offsets[i] * matrix], &self.edge_moved[0],
                (length - 1) * matrix,
            )
        memcpy(node, &self.node_moved[0], length * n * sizeof(double))

    cdef void move_end(self, double* node, Py_ssize_t t, double step) noexcept nogil:
        """Write the moved node of an end of the chain, which is no separator."""
        cdef Py_ssize_t first = t * self.n_labels
        vmove(
            doubles(node + first),
            doubles(&self.node_kept[first]), &self.node_ratio[first],
            step, self.n_labels,
            doubles(&self.node_moved[first]),
        )
