# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True
"""Graphs of small treewidth as a Structure.

Local potentials are node scores (V, K). Tied ones are the scores of pairs of labels,
for each feature of edges; their expectations are the marginals of edges times the
features of these, summed over the graph. Owns the buffers of one graph and, for SDCA,
the marginals of all: of cliques, the tables of the junction trees, and of separators,
their messages. The methods without a docstring have that of `Structure`.
"""

from libc.string cimport memcpy, memset

from ._elimination cimport Workspace
from ._features cimport DistinctFeatures
from ._junction_tree cimport JunctionTrees
from ._line_search cimport Part, Segment
from ._structure cimport Values
from ._token_structure cimport TokenStructure
from ._vecmath cimport Stored, doubles, ops, skip, vaim
from ._weights cimport Weights, addressable

import numpy as np

# As in _chain_structure.pyx.
cdef double LARGEST_LOSS = 1e-13


cdef class GraphStructure(TokenStructure):
    """Graphs under given weights.

    Parameters
    ----------
    features : DistinctFeatures
    weights : Weights
        Changed in place, but for those of start and end, which stay 0.
    trees : JunctionTrees
    offsets : ndarray of shape (n + 1,), int64
    targets, cost, fixed
        As for `TokenStructure`.
    """

    cdef Workspace workspace
    cdef JunctionTrees trees
    cdef double[::1] nothing            # (K,) zeros: the change of start and of end
    # Marginals of all graphs, for SDCA.
    cdef bint keeps                     # whether there are any
    cdef double[:, ::1] node
    cdef double[:, ::1] tied_kept
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
        targets, *, cost=None, fixed=None,
    ):
        super().__init__(
            features, weights, offsets, targets, n_tied=trees.n_tied, cost=cost,
            fixed=fixed,
        )
        self.trees = trees
        self.workspace = Workspace(trees, 0, len(offsets) - 1)
        self.nothing = np.zeros(self.n_labels)

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
        self.node, self.tied_kept = marginals.node, addressable(marginals.tied)
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

    cdef void set_gradient(self) noexcept nogil:
        """Take the change expected - target."""
        cdef Py_ssize_t t, e, n = self.n_labels
        cdef const int* path
        if self.labels is None:
            self.set_change(self.expected, self.soft_target())
            return
        path = &self.labels[self.first]
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
        cdef const int* path
        cdef double value = 0.0
        if self.labels is None:
            return self.inner(self.soft_target(), potentials)
        path = &self.labels[self.first]
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
        return Values(
            &self.node[self.first, 0], &self.tied_kept[self.item, 0]
        )

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
