"""Junction trees, and the factors of their cliques: scores of pairs, and tables.

What is computed with them is said in _elimination.pyx. A table has one row for each
labelling of a separator, and the node that is eliminated is its last axis. The axes of
the separator are sorted by the step of their elimination, the last one first: so the
clique above has the last axis of a message as its own last axis, and both are added and
summed in rows of K.

Edges with equal features are of one kind, whose scores, and their exponentials, are
made once.
"""

from libc.math cimport isfinite
from libc.string cimport memcpy, memset

from ..math._vecmath cimport ops
from ._joined_nodes cimport JoinedNodes

import numpy as np

# A table of two labels and this number of axes would take more than all memory.
MOST_AXES = 62


cdef class JunctionTrees(JoinedNodes):
    """The junction trees of graphs laid end to end, and their edges; not changed.

    Parameters
    ----------
    n_labels : int
    offsets, edge_offsets : ndarrays of shape (n + 1,), int64
        Graph i has the nodes offsets[i]:offsets[i + 1], and as many steps.
    node, parent : ndarrays of shape (N,), int32
        The node that each step eliminates, and the step of the clique above, -1 for
        none; counted in their graph.
    separator, child, exponent : tuples of an ndarray of int32, and of bounds, int64
        For each step: the nodes of its separator, the steps of the cliques below, and
        the power of K that is the stride, in its message, of each axis of the separator
        above; -1 if the message does not have the axis.
    is_narrow : ndarray of shape (N,), uint8
        Whether a step needs no table.
    edge_bounds : ndarray of shape (N + 1,), int64
        The edges of each step: from the node that it eliminates into its separator.
    edge_from, edge_to, edge_features, edge_kind, place
        As for `JoinedNodes`; edges are in the order of the steps.
    edge_axis : ndarray of shape (E,), int32
        The axis of the separator at the other end of the edge.
    edge_leaves : ndarray of shape (E,), uint8
        Whether the edge goes from the node that is eliminated.

    Attributes
    ----------
    clique_sizes : ndarray of shape (N,), int64
        How many numbers the table of each step has.
    """

    def __init__(
        self, n_labels, offsets, edge_offsets, *, node, parent, separator, child,
        exponent, is_narrow, edge_bounds, edge_from, edge_to, edge_axis, edge_leaves,
        edge_features, edge_kind, place,
    ):
        super().__init__(
            n_labels, offsets, edge_offsets, edge_from, edge_to, edge_features,
            edge_kind, place,
        )
        self.node, self.parent = node, parent
        self.separator, self.separator_bounds = separator
        self.child, self.child_bounds = child
        self.exponent, self.exponent_bounds = exponent
        self.edge_bounds = edge_bounds
        self.edge_axis, self.edge_leaves = edge_axis, edge_leaves
        messages = n_labels ** np.diff(separator[1])
        self.message_at, self.message_sizes = begins(messages, offsets)
        self.clique_sizes = messages * n_labels
        self.table_at, self.table_sizes = begins(self.clique_sizes, offsets)
        self.n_in_tables, self.n_messages = self.table_sizes, self.message_sizes
        self.most_rows = messages.max(initial=1)
        self.is_narrow = is_narrow

    def eliminated(self, i):
        """Return the nodes of graph i, of its own numbers, as they are eliminated."""
        return np.asarray(self.node)[self.offsets[i]:self.offsets[i + 1]]

    cdef Py_ssize_t length(self, Py_ssize_t i) noexcept nogil:
        """Return the number of nodes of graph i."""
        return self.offsets[i + 1] - self.offsets[i]

    cdef Py_ssize_t n_axes(self, Py_ssize_t step) noexcept nogil:
        """Return the number of nodes of the separator of a step."""
        return self.separator_bounds[step + 1] - self.separator_bounds[step]


def begins(sizes, offsets):
    """Return where the numbers of each step begin in its graph, and how many it has."""
    ends = np.concatenate([[0], np.cumsum(sizes, dtype=np.int64)])
    of_graph = np.diff(ends[offsets])
    first = np.repeat(np.cumsum(of_graph) - of_graph, np.diff(offsets))
    return ends[: len(sizes)] - first, of_graph


cdef class Cliques:
    """Buffers for the cliques of one graph of begin <= i < end at a time.

    Parameters
    ----------
    trees : JunctionTrees
    begin, end : int
    """

    def __init__(self, JunctionTrees trees, begin, end):
        n, kinds = trees.n_labels, trees.most_kinds
        self.trees = trees
        self.tables = np.empty(trees.table_sizes[begin:end].max(initial=1))
        self.messages = np.empty(trees.message_sizes[begin:end].max(initial=1))
        self.pair_scores = np.empty(2 * kinds * n * n)
        self.pair_exps = np.empty(2 * kinds * n * n)
        self.pair_sums = np.empty(2 * kinds * n * n)
        self.peaks, self.pair_spreads = np.empty(kinds), np.empty(kinds)
        self.has_scores = np.zeros(kinds, dtype=np.int64)
        self.has_exps = np.zeros(kinds, dtype=np.int64)
        self.has_sums = np.zeros(kinds, dtype=np.int64)
        self.summed = np.empty(kinds, dtype=np.intp)
        self.strides = np.empty(MOST_AXES, dtype=np.intp)
        self.digits = np.empty(MOST_AXES, dtype=np.intc)
        # Those that do not fit are of no table.
        with np.errstate(over="ignore"):
            self.powers = np.intp(n) ** np.arange(MOST_AXES + 1, dtype=np.intp)

    cdef void set_tied(self, const double* tied) noexcept nogil:
        """Take the scores of pairs; the pointer is kept."""
        self.tied = tied
        self.is_finite = isfinite(ops.dot(tied, tied, self.trees.n_tied))
        self.age += 1

    cdef void begin_graph(self) noexcept nogil:
        """Forget the pairs of the graph before, if kinds are numbered in a graph."""
        if not self.trees.shares_kinds:
            self.age += 1

    cdef const double* scores_of(self, Py_ssize_t e, bint side) noexcept nogil:
        """Return the scores of the pairs of an edge, [from, to], or [to, from]."""
        cdef Py_ssize_t f, j, k, n = self.trees.n_labels, square = n * n
        cdef Py_ssize_t kind = self.trees.edge_kind[e]
        cdef double* out = &self.pair_scores[2 * kind * square]
        cdef const double* weight
        if self.has_scores[kind] == self.age:
            return out + side * square
        self.has_scores[kind] = self.age
        memset(out, 0, square * sizeof(double))
        for f in range(self.trees.n_edge_features):
            if self.trees.edge_features[e, f] == 0.0:
                continue
            weight = self.tied + f * self.trees.n_pairs
            if self.trees.n_pairs == square:
                ops.axpy(self.trees.edge_features[e, f], weight, out, square)
                continue
            for k in range(square):
                out[k] += self.trees.edge_features[e, f] * weight[self.trees.place[k]]
        for j in range(n):
            for k in range(n):
                out[square + k * n + j] = out[j * n + k]
        return out + side * square

    cdef const double* exps_of(self, Py_ssize_t e, bint side) noexcept nogil:
        """Return the exponentials of the same, over the largest; write their spread."""
        cdef Py_ssize_t square = self.trees.n_labels * self.trees.n_labels
        cdef Py_ssize_t kind = self.trees.edge_kind[e]
        cdef double* out = &self.pair_exps[2 * kind * square]
        cdef const double* scores
        cdef double least, most
        if self.has_exps[kind] != self.age:
            self.has_exps[kind] = self.age
            scores = self.scores_of(e, 0)
            most = ops.extent(scores, square, &least)
            self.peaks[kind], self.pair_spreads[kind] = most, most - least
            ops.exp(scores, most, out, 2 * square)
        return out + side * square

    cdef double* sums_of(self, Py_ssize_t e) noexcept nogil:
        """Return two sums over the edges like one, [from, to], 0 when asked first.

        The first is of marginals over the exponentials, the second of marginals.
        """
        cdef Py_ssize_t square = self.trees.n_labels * self.trees.n_labels
        cdef Py_ssize_t kind = self.trees.edge_kind[e]
        cdef double* out = &self.pair_sums[2 * kind * square]
        if self.has_sums[kind] != self.turn:
            self.has_sums[kind] = self.turn
            self.summed[self.n_summed] = e
            self.n_summed += 1
            memset(out, 0, 2 * square * sizeof(double))
        return out

    cdef Py_ssize_t rows(self, Py_ssize_t step) noexcept nogil:
        """Return how many labellings the separator of a step has."""
        return self.powers[self.trees.n_axes(step)]

    cdef void set_child_strides(self, Py_ssize_t child, Py_ssize_t n) noexcept nogil:
        """Set the strides of the n axes of the separator above in a message."""
        cdef Py_ssize_t axis
        cdef const int* exponent
        if n == 0:
            return
        exponent = &self.trees.exponent[self.trees.exponent_bounds[child]]
        for axis in range(n):
            # The node above has the power 0: it is no axis of its separator.
            self.strides[axis] = 0
            if exponent[axis] > 0:
                self.strides[axis] = self.powers[exponent[axis]]

    cdef void set_edge_strides(self, Py_ssize_t e, Py_ssize_t n) noexcept nogil:
        """Set the strides of the n axes of a separator in the pairs of an edge."""
        cdef Py_ssize_t axis
        for axis in range(n):
            self.strides[axis] = 0
        self.strides[self.trees.edge_axis[e]] = self.trees.n_labels

    cdef Py_ssize_t next_row(self, Py_ssize_t row, Py_ssize_t n) noexcept nogil:
        """Go from one labelling of n axes to the next; return its place."""
        cdef Py_ssize_t axis, n_labels = self.trees.n_labels
        for axis in range(n - 1, -1, -1):
            self.digits[axis] += 1
            row += self.strides[axis]
            if self.digits[axis] < n_labels:
                return row
            self.digits[axis] = 0
            row -= n_labels * self.strides[axis]
        return row

    cdef void spread(
        self, const double* factor, Py_ssize_t step, bint multiplies, double* table
    ) noexcept nogil:
        """Add a factor to the table of a step, by the strides, or multiply both.
        """
        cdef Py_ssize_t r, k, row = 0, n = self.trees.n_labels
        cdef Py_ssize_t n_axes = self.trees.n_axes(step)
        for k in range(n_axes):
            self.digits[k] = 0
        for r in range(self.rows(step)):
            if multiplies:
                for k in range(n):
                    table[r * n + k] *= factor[row + k]
            else:
                for k in range(n):
                    table[r * n + k] += factor[row + k]
            row = self.next_row(row, n_axes)

    cdef void collect(
        self, const double* table, Py_ssize_t step, double* factor
    ) noexcept nogil:
        """Add the table of a step to a factor, by the strides."""
        cdef Py_ssize_t r, k, row = 0, n = self.trees.n_labels
        cdef Py_ssize_t n_axes = self.trees.n_axes(step)
        for k in range(n_axes):
            self.digits[k] = 0
        for r in range(self.rows(step)):
            for k in range(n):
                factor[row + k] += table[r * n + k]
            row = self.next_row(row, n_axes)

    cdef void write_table(
        self, Py_ssize_t i, Py_ssize_t step, const double* own, bint multiplies,
        double* table,
    ) noexcept nogil:
        """Write the factors of the clique of a step, or their logarithms, as a table.

        ``own`` are the factors of its node, with the messages on the node alone.
        """
        cdef Py_ssize_t r, e, c, child, n = self.trees.n_labels
        cdef Py_ssize_t n_axes = self.trees.n_axes(step)
        cdef const double* pair
        cdef bint side
        for r in range(self.rows(step)):
            memcpy(table + r * n, own, n * sizeof(double))
        for c in range(
            self.trees.child_bounds[step], self.trees.child_bounds[step + 1]
        ):
            child = self.trees.offsets[i] + self.trees.child[c]
            if self.trees.n_axes(child) > 1:
                self.set_child_strides(child, n_axes)
                self.spread(self.message_of(child), step, multiplies, table)
        for e in range(self.trees.edge_bounds[step], self.trees.edge_bounds[step + 1]):
            # The table has the node that is eliminated as its columns.
            side = self.trees.edge_leaves[e]
            pair = self.exps_of(e, side) if multiplies else self.scores_of(e, side)
            self.set_edge_strides(e, n_axes)
            self.spread(pair, step, multiplies, table)

    cdef double* message_of(self, Py_ssize_t step) noexcept nogil:
        """Return the address of the message of a step."""
        return &self.messages[self.trees.message_at[step]]
