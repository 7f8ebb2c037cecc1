# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True
"""The linear chain as a Structure.

Local potentials are node scores (T, K), tied ones the transition scores, one for each
pair of labels of the layout; local expectations are node marginals, tied ones edge
marginals summed over the chain. Owns
the buffers of one chain and, for SDCA, the marginals of all: edge marginals and the
direction of an edge are made together, while they are in cache. The methods without a
docstring have that of `Structure`.
"""

from libc.math cimport INFINITY
from libc.string cimport memcpy, memset

from ._chain cimport Workspace, forward_backward, viterbi, write_edge
from ._chain cimport log_partition as chain_log_partition
from ._features cimport DistinctFeatures
from ._line_search cimport Part, Segment
from ._paths cimport KBestLists, best_lists
from ._structure cimport Values
from ._token_structure cimport TokenStructure
from ._vecmath cimport Stored, doubles, ops, skip, vaim, vmove
from ._weights cimport Weights

import numpy as np

# More probability than this where the target is below the smallest number stored, and
# the logarithm of the target is missed.
cdef double LARGEST_LOSS = 1e-13


cdef class ChainStructure(TokenStructure):
    """Chains under given weights.

    Parameters
    ----------
    features : DistinctFeatures
    weights : Weights
        Changed in place.
    offsets : ndarray of shape (n + 1,), int64
    targets : ndarray of shape (N,), int32, or Potentials
        Labels, or the expectations of soft labels, which are read at every visit.
    constraints : tuple, default=None
    layout : TransitionLayout, default=None
        See `Workspace`.
    cost : ndarray of shape (K, K), default=None
        Added to the node scores: cost[y, k] for label k where the target is y. Not
        with soft labels.
    fixed : FixedScores, default=None
        Added to the scores of the weights.
    """

    def __init__(
        self, DistinctFeatures features, Weights weights, offsets, targets, *,
        constraints=None, layout=None, cost=None, fixed=None,
    ):
        longest = int(np.diff(offsets).max(initial=1))
        self.workspace = Workspace(longest, weights.n_labels, constraints, layout)
        self.layout = self.workspace.layout
        super().__init__(
            features, weights, offsets, targets, n_tied=self.layout.size, cost=cost,
            fixed=fixed,
        )

    def keep_marginals(self, marginals):
        """Take the marginals of all chains, for `set_direction` and `apply_step`.

        Parameters
        ----------
        marginals : Marginals
            Changed in place.

        Raises
        ------
        ValueError
            If the edges are not a C-contiguous array of their shape and type.
        """
        edge = marginals.edge
        n_edges = marginals.edge_offsets[len(marginals.edge_offsets) - 1]
        shape = (n_edges, *self.layout.shape)
        if (
            edge.shape != shape or edge.dtype not in (np.float32, np.float64)
            or not edge.flags.c_contiguous or not edge.flags.writeable
        ):
            raise ValueError(
                f"edge is an array of shape {edge.shape} and dtype {edge.dtype}; it "
                f"must be of shape {shape}, float32 or float64, C-contiguous, writeable"
            )
        self.edge_offsets, self.node = marginals.edge_offsets, marginals.node
        self.edge = edge.reshape(-1).view(np.uint8)
        self.itemsize = edge.itemsize
        n_edge = max(self.most_local // self.n_labels - 1, 1) * self.n_tied
        self.node_kept = np.empty(self.most_local)
        self.node_ratio = np.empty(self.most_local, dtype=np.float32)
        self.node_moved = np.empty(self.most_local)
        self.matrix = np.empty(self.n_tied)
        self.edge_target = np.empty(n_edge * edge.itemsize, dtype=np.uint8)
        self.edge_ratio = np.empty(n_edge, dtype=np.float32)
        self.edge_moved = np.empty(n_edge * edge.itemsize, dtype=np.uint8)

    cdef double argmax(self, Values potentials, int* path) noexcept nogil:
        self.workspace.keep_transition(potentials.tied)
        return viterbi(self.workspace, potentials.local, self.length, path)

    def allow_n_best(self, Py_ssize_t n):
        """Make the buffers for n labellings of `n_best`."""
        self.lists = KBestLists(self.n_labels, n, self.most_local * n)
        self.dense = np.empty(self.n_labels * self.n_labels)
        self.masked = np.empty(self.most_local)
        self.paths = np.empty(self.most_local // self.n_labels * n, dtype=np.intc)

    cdef Py_ssize_t n_best(
        self, Values potentials, double* scores, int* paths
    ) noexcept nogil:
        cdef Py_ssize_t j, k, r, place, n = self.n_labels
        cdef Py_ssize_t found = 0
        self.workspace.keep_transition(potentials.tied)
        for j in range(n):
            for k in range(n):
                place = self.layout.place(j, k)
                self.dense[j * n + k] = (
                    self.workspace.transition[place] if place >= 0 else -INFINITY
                )
        memcpy(&self.masked[0], potentials.local, self.n_local * sizeof(double))
        if self.workspace.is_constrained:
            self.workspace.take_ends(potentials.local, self.length)
            memcpy(
                &self.masked[(self.length - 1) * n], self.workspace.last,
                n * sizeof(double),
            )
            memcpy(&self.masked[0], self.workspace.first, n * sizeof(double))
        best_lists(
            self.lists, &self.masked[0], &self.dense[0], self.length, scores,
            &self.paths[0],
        )
        for r in range(self.lists.width):
            if scores[r] == -INFINITY:
                break
            memcpy(
                paths + r * self.most_local, &self.paths[r * self.length],
                self.length * sizeof(int),
            )
            found += 1
        return found

    cdef void set_certain(self, const int* path, Values out) noexcept nogil:
        cdef Py_ssize_t t, n = self.n_labels
        memset(out.local, 0, self.n_local * sizeof(double))
        memset(out.tied, 0, self.n_tied * sizeof(double))
        for t in range(self.length):
            out.local[t * n + path[t]] = 1.0
            if t > 0:
                out.tied[self.layout.place(path[t - 1], path[t])] += 1.0

    cdef double log_partition(self, Values potentials) noexcept nogil:
        self.workspace.set_transition(potentials.tied)
        return chain_log_partition(self.workspace, potentials.local, self.length)

    cdef double expect(self, Values potentials, Values out) noexcept nogil:
        """Write node marginals and the sum of the edge marginals; return log Z."""
        self.workspace.set_transition(potentials.tied)
        return forward_backward(
            self.workspace, potentials.local, self.length, out.local, NULL, out.tied
        )

    cdef void set_gradient(self) noexcept nogil:
        """Take the change expected - target."""
        cdef Py_ssize_t t, k, n = self.n_labels
        cdef const int* path
        if self.labels is None:
            self.set_change(self.expected, self.soft_target())
            return
        path = &self.labels[self.first]
        memcpy(&self.change[0], self.expected.local, self.n_local * sizeof(double))
        memcpy(&self.sums.edge[0], self.expected.tied, self.n_tied * sizeof(double))
        for k in range(n):
            self.sums.node[k] = 0.0
        for t in range(self.length):
            self.change[t * n + path[t]] -= 1.0
            ops.axpy(1.0, &self.change[t * n], &self.sums.node[0], n)
            if t > 0:
                self.sums.edge[self.layout.place(path[t - 1], path[t])] -= 1.0

    cdef double target_score(self, Values potentials) noexcept nogil:
        """Return the score of the labels, expected if these are soft."""
        cdef Py_ssize_t t, n = self.n_labels
        cdef const int* path
        cdef double value = 0.0
        if self.labels is None:
            return self.inner(self.soft_target(), potentials)
        path = &self.labels[self.first]
        for t in range(self.length):
            value += potentials.local[t * n + path[t]]
            if t > 0:
                value += potentials.tied[self.layout.place(path[t - 1], path[t])]
        return value

    cdef double set_direction(self, Segment* segment) noexcept nogil:
        """Write target and direction of nodes and edges; return <marginals, scores>."""
        cdef Py_ssize_t t, n = self.n_labels, matrix = self.n_tied
        cdef Part* edges = &segment.cliques
        cdef double* node = &self.node[self.first, 0]
        cdef double expected, lost = 0.0
        self.set_parts(segment)
        memset(&self.change[0], 0, self.n_local * sizeof(double))
        expected = vaim(
            self.expected.local, doubles(node), self.potentials.local, self.n_local,
            doubles(&self.node_kept[0]), &self.node_ratio[0], &self.change[0], &lost,
        )
        memset(&self.sums.node[0], 0, n * sizeof(double))
        for t in range(self.length):
            ops.axpy(1.0, &self.change[t * n], &self.sums.node[0], n)
        memset(&self.sums.edge[0], 0, matrix * sizeof(double))
        for t in range(1, self.length):
            write_edge(self.workspace, t, &self.matrix[0])
            expected += vaim(
                &self.matrix[0], skip(edges.p, (t - 1) * matrix), self.potentials.tied,
                matrix, skip(edges.target, (t - 1) * matrix),
                <float*> edges.ratio + (t - 1) * matrix, &self.sums.edge[0], &lost,
            )
        segment.out_of_reach = lost > LARGEST_LOSS
        segment.linear = self.change_inner(self.potentials)
        return expected

    cdef void set_parts(self, Segment* segment) noexcept nogil:
        """Name the cliques and separators: a chain of one node is its own clique."""
        cdef Py_ssize_t n = self.n_labels
        cdef Part nodes
        nodes.p = doubles(&self.node[self.first, 0])
        nodes.target = doubles(&self.node_kept[0])
        nodes.ratio = &self.node_ratio[0]
        nodes.moved = doubles(&self.node_moved[0])
        nodes.n = n
        segment.cliques = nodes
        segment.separators = nodes
        segment.separators.n = 0
        if self.length == 1:
            return
        segment.cliques.p = skip(
            self.stored(&self.edge[0]), self.edge_offsets[self.item] * self.n_tied
        )
        segment.cliques.target = self.stored(&self.edge_target[0])
        segment.cliques.ratio = &self.edge_ratio[0]
        segment.cliques.moved = self.stored(&self.edge_moved[0])
        segment.cliques.n = (self.length - 1) * self.n_tied
        segment.separators.p = skip(nodes.p, n)
        segment.separators.target = skip(nodes.target, n)
        segment.separators.ratio += n
        segment.separators.moved = skip(nodes.moved, n)
        segment.separators.n = (self.length - 2) * n

    cdef Stored stored(self, unsigned char* first) noexcept nogil:
        """Return numbers of the type of the edges."""
        return Stored(first, self.itemsize == sizeof(float))

    cdef void apply_step(self, double step) noexcept nogil:
        """Make the moved marginals those of the chain."""
        cdef Py_ssize_t matrix = self.n_tied * self.itemsize
        cdef double* node = &self.node[self.first, 0]
        self.move_end(node, 0, step)
        if self.length > 1:
            self.move_end(node, self.length - 1, step)
            memcpy(
                &self.edge[self.edge_offsets[self.item] * matrix], &self.edge_moved[0],
                (self.length - 1) * matrix,
            )
        memcpy(node, &self.node_moved[0], self.n_local * sizeof(double))

    cdef void move_end(self, double* node, Py_ssize_t t, double step) noexcept nogil:
        """Write the moved node of an end of the chain, which is no separator."""
        cdef Py_ssize_t first = t * self.n_labels
        vmove(
            doubles(node + first),
            doubles(&self.node_kept[first]), &self.node_ratio[first],
            step, self.n_labels,
            doubles(&self.node_moved[first]),
        )
