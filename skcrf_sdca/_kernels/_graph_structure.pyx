# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True
"""Graphs of small treewidth as a Structure.

Local potentials are node scores (V, K). Tied ones are the scores of pairs of labels,
for each feature of edges; their expectations are the marginals of edges times the
features of these, summed over the graph. Owns the buffers of one graph and, for SDCA,
the marginals of all: of cliques, the tables of the junction trees, and of separators,
their messages. The methods without a docstring have that of `Structure`.
"""

from libc.math cimport fabs
from libc.string cimport memcpy, memset

from ._features cimport DistinctFeatures
from ._junction_tree cimport JunctionTrees, Workspace
from ._line_search cimport Part, Segment
from ._structure cimport Structure, Values
from ._vecmath cimport Stored, doubles, ops, skip, vaim
from ._weights cimport Weights, new_sums

import numpy as np

# As in _chain_structure.pyx.
cdef double LARGEST_LOSS = 1e-13


cdef class GraphStructure(Structure):
    """Graphs under given weights.

    Parameters
    ----------
    features : DistinctFeatures
    weights : Weights
        Changed in place, but for those of start and end, which stay 0.
    trees : JunctionTrees
    offsets : ndarray of shape (n + 1,), int64
    targets : ndarray of shape (N,), int32
        Labels.
    cost : ndarray of shape (K, K), default=None
        Added to the node scores: cost[y, k] for label k where the target is y.

    Raises
    ------
    ValueError
        If there is another number of weights of pairs than the graphs have.
    """

    cdef Workspace workspace
    cdef JunctionTrees trees
    cdef const long long[::1] offsets
    cdef const int[::1] labels
    cdef const double[:, ::1] cost
    cdef Py_ssize_t n_labels
    cdef Py_ssize_t first               # position of the current graph
    cdef Py_ssize_t length
    cdef double[::1] change             # (V, K) of nodes; the tied change is in sums
    cdef double[::1] nothing            # (K,) zeros: the change of start and of end
    # Marginals of all graphs, for SDCA.
    cdef bint keeps                     # whether there are any
    cdef double[:, ::1] node
    cdef double[:, ::1] tied
    cdef unsigned char[::1] table       # of numbers
    cdef double[::1] message
    cdef Py_ssize_t itemsize            # of the numbers of table
    cdef const long long[::1] first_table
    cdef const long long[::1] first_message
    # Buffers of `set_direction`, for one graph.
    cdef unsigned char[::1] table_target    # of numbers
    cdef unsigned char[::1] table_moved     # of numbers
    cdef float[::1] table_ratio
    cdef double[::1] message_target
    cdef double[::1] message_moved
    cdef float[::1] message_ratio
    cdef double[::1] unused             # directions, which the nodes and pairs sum

    def __init__(
        self, DistinctFeatures features, Weights weights, JunctionTrees trees, offsets,
        targets, *, cost=None,
    ):
        if weights.n_tied != trees.n_tied:
            raise ValueError(
                f"{weights.n_tied} weights for {trees.n_tied} pairs of labels"
            )
        self.rows, self.weights = features.rows, weights
        self.sums = new_sums(features, weights)
        self.trees, self.offsets, self.cost = trees, offsets, cost
        self.labels = targets
        self.n_labels, self.n_tied = weights.n_labels, trees.n_tied
        self.most_local = int(np.diff(offsets).max(initial=1)) * self.n_labels
        self.workspace = Workspace(trees, 0, len(offsets) - 1)
        self.change = np.empty(self.most_local)
        self.nothing = np.zeros(self.n_labels)
        self.potentials, self.expected = self.new_values(), self.new_values()

    def keep_marginals(self, marginals):
        """Take the marginals of all graphs, for `set_direction` and `apply_step`.

        Parameters
        ----------
        marginals : GraphMarginals
            Changed in place.
        """
        most_in_tables = self.trees.table_sizes.max(initial=1)
        most_messages = self.trees.message_sizes.max(initial=1)
        self.keeps = True
        self.node, self.tied = marginals.node, marginals.tied
        self.table, self.message = marginals.table.view(np.uint8), marginals.message
        self.itemsize = marginals.table.itemsize
        self.first_table, self.first_message = marginals.bounds
        self.table_target = np.empty(most_in_tables * self.itemsize, dtype=np.uint8)
        self.table_moved = np.empty(most_in_tables * self.itemsize, dtype=np.uint8)
        self.table_ratio = np.empty(most_in_tables, dtype=np.float32)
        self.message_target = np.empty(most_messages)
        self.message_moved = np.empty(most_messages)
        self.message_ratio = np.empty(most_messages, dtype=np.float32)
        self.unused = np.zeros(most_in_tables)

    cdef Py_ssize_t first_local(self, Py_ssize_t i) noexcept nogil:
        """Return where the nodes of graph i begin."""
        return self.offsets[i] * self.n_labels

    cdef void set_item(self, Py_ssize_t i) noexcept nogil:
        """Take graph i, and write its scores, with the cost of each label."""
        cdef Py_ssize_t t
        self.item, self.first = i, self.offsets[i]
        self.length = self.offsets[i + 1] - self.first
        self.n_local = self.length * self.n_labels
        if self.length == 0:
            return
        self.weights.score_nodes(
            self.rows, self.first, self.length, self.potentials.local
        )
        self.potentials.tied = <double*> &self.weights.transition[0]
        if self.cost is not None:
            for t in range(self.length):
                ops.axpy(
                    1.0, &self.cost[self.labels[self.first + t], 0],
                    self.potentials.local + t * self.n_labels, self.n_labels,
                )

    cdef double argmax(self, Values potentials, int* path) noexcept nogil:
        self.workspace.set_tied(potentials.tied)
        return self.workspace.maximise(self.item, potentials.local, path)

    cdef void set_certain(self, const int* path, Values out) noexcept nogil:
        cdef Py_ssize_t t, e
        memset(out.local, 0, self.n_local * sizeof(double))
        memset(out.tied, 0, self.n_tied * sizeof(double))
        for t in range(self.length):
            out.local[t * self.n_labels + path[t]] = 1.0
        for e in range(
            self.trees.edge_offsets[self.item], self.trees.edge_offsets[self.item + 1]
        ):
            self.trees.add_edge(e, path, 1.0, out.tied)

    cdef double log_partition(self, Values potentials) noexcept nogil:
        self.workspace.set_tied(potentials.tied)
        return self.workspace.sum_up(self.item, potentials.local)

    cdef double expect(self, Values potentials, Values out) noexcept nogil:
        cdef double log_z = self.log_partition(potentials)
        self.workspace.sum_down(self.item, self.keeps, out.local, NULL)
        if out.tied != NULL:
            memset(out.tied, 0, self.n_tied * sizeof(double))
            self.workspace.add_tied(1.0, out.tied)
        return log_z

    cdef void set_change(self, Values to, Values start) noexcept nogil:
        cdef Py_ssize_t k
        ops.change(
            to.local, start.local, self.length, self.n_labels, &self.change[0],
            &self.sums.node[0],
        )
        for k in range(self.n_tied):
            self.sums.edge[k] = to.tied[k] - start.tied[k]

    cdef void set_gradient(self) noexcept nogil:
        """Take the change expected - target."""
        cdef Py_ssize_t t, e, n = self.n_labels
        cdef const int* path = &self.labels[self.first]
        memcpy(&self.change[0], self.expected.local, self.n_local * sizeof(double))
        memcpy(&self.sums.edge[0], self.expected.tied, self.n_tied * sizeof(double))
        memset(&self.sums.node[0], 0, n * sizeof(double))
        for t in range(self.length):
            self.change[t * n + path[t]] -= 1.0
            ops.axpy(1.0, &self.change[t * n], &self.sums.node[0], n)
        for e in range(
            self.trees.edge_offsets[self.item], self.trees.edge_offsets[self.item + 1]
        ):
            self.trees.add_edge(e, path, -1.0, &self.sums.edge[0])

    cdef double target_score(self, Values potentials) noexcept nogil:
        cdef Py_ssize_t t, e
        cdef const int* path = &self.labels[self.first]
        cdef double value = 0.0
        for t in range(self.length):
            value += potentials.local[t * self.n_labels + path[t]]
        for e in range(
            self.trees.edge_offsets[self.item], self.trees.edge_offsets[self.item + 1]
        ):
            value += self.trees.edge_score(e, path, potentials.tied)
        return value

    cdef void sum_features(self) noexcept nogil:
        self.sums.set(self.item, self.first, self.length, &self.change[0])
        self.sums.first_node = self.sums.last_node = &self.nothing[0]

    cdef void change_scores(self, Values out) noexcept nogil:
        self.sums.score_nodes(self.length, out.local)
        memcpy(out.tied, &self.sums.edge[0], self.n_tied * sizeof(double))

    cdef double change_inner(self, Values potentials) noexcept nogil:
        return (
            ops.dot(&self.change[0], potentials.local, self.n_local)
            + ops.dot(&self.sums.edge[0], potentials.tied, self.n_tied)
        )

    cdef double residual(self) noexcept nogil:
        cdef Py_ssize_t k
        cdef double total = 0.0
        for k in range(self.n_local):
            total += fabs(self.change[k])
        return total

    cdef void add_change(self, Weights out, double step) noexcept nogil:
        self.rows.add_features(
            self.first, self.first + self.length, step, &self.change[0], self.n_labels,
            <double*> out.coef_pointer(),
        )
        out.add_to_blocks(
            step, &self.nothing[0], &self.nothing[0], &self.sums.node[0],
            &self.sums.edge[0],
        )

    cdef Values kept(self) noexcept nogil:
        """Return the expectations of the graph as they are stored."""
        return Values(&self.node[self.first, 0], &self.tied[self.item, 0])

    cdef double set_direction(self, Segment* segment) noexcept nogil:
        """Write target and direction of cliques and separators.

        Return <marginals, scores>.
        """
        cdef Part* cliques = &segment.cliques
        cdef Part* separators = &segment.separators
        cdef double lost = 0.0
        self.set_parts(segment)
        memset(self.expected.tied, 0, self.n_tied * sizeof(double))
        self.workspace.add_tied(1.0, self.expected.tied)
        self.set_change(self.expected, self.kept())
        vaim(
            &self.workspace.messages[0], separators.p, &self.workspace.messages[0],
            separators.n, separators.target, &self.message_ratio[0], &self.unused[0],
            &lost,
        )
        lost = 0.0
        vaim(
            &self.workspace.tables[0], cliques.p, &self.workspace.tables[0], cliques.n,
            cliques.target, &self.table_ratio[0], &self.unused[0], &lost,
        )
        segment.out_of_reach = lost > LARGEST_LOSS
        segment.linear = self.change_inner(self.potentials)
        return self.inner(self.kept(), self.potentials)

    cdef void set_parts(self, Segment* segment) noexcept nogil:
        """Name the cliques and separators of the graph."""
        cdef Py_ssize_t first = self.first_table[self.item]
        cdef Part* cliques = &segment.cliques
        cdef Part* separators = &segment.separators
        cliques.n = self.first_table[self.item + 1] - first
        cliques.p = skip(self.stored(&self.table[0]), first)
        cliques.target = self.stored(&self.table_target[0])
        cliques.moved = self.stored(&self.table_moved[0])
        cliques.ratio = &self.table_ratio[0]
        first = self.first_message[self.item]
        separators.n = self.first_message[self.item + 1] - first
        separators.p = doubles(&self.message[first])
        separators.target = doubles(&self.message_target[0])
        separators.moved = doubles(&self.message_moved[0])
        separators.ratio = &self.message_ratio[0]

    cdef Stored stored(self, unsigned char* first) noexcept nogil:
        """Return numbers of the type of the tables."""
        return Stored(first, self.itemsize == sizeof(float))

    cdef void apply_step(self, double step) noexcept nogil:
        """Make the moved marginals those of the graph."""
        cdef Values kept = self.kept()
        cdef Py_ssize_t first = self.first_table[self.item]
        memcpy(
            &self.table[first * self.itemsize], &self.table_moved[0],
            (self.first_table[self.item + 1] - first) * self.itemsize,
        )
        first = self.first_message[self.item]
        memcpy(
            &self.message[first], &self.message_moved[0],
            (self.first_message[self.item + 1] - first) * sizeof(double),
        )
        ops.axpy(step, &self.change[0], kept.local, self.n_local)
        ops.axpy(step, &self.sums.edge[0], kept.tied, self.n_tied)
