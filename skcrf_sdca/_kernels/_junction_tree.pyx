# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True
"""Sum-product and max-product on junction trees: inference on graphs, given scores.

The nodes of a graph are eliminated one by one. Step s eliminates node v: its clique
holds v and its separator S, the neighbours that are still there. With psi_s the scores
of v and of its edges into S, and m_c the messages of the cliques below,

    m_s[x_S] = log sum_{x_v} exp( psi_s[x_S, x_v] + sum_c m_c ),
    p(x_v | x_S) = exp( psi_s[x_S, x_v] + sum_c m_c - m_s[x_S] ),

and log Z is the sum of the messages of the roots. Downward, the marginals of a clique
are p(x_v | x_S) times those of S, which the clique above has. No marginal is divided,
and no logarithm of one is taken: the largest exponent of each row is 0.

A table has one row for each labelling of S, and v is its last axis. The axes of S are
sorted by the step of their elimination, the last one first: so the clique above has the
last axis of a message as its own last axis, and both are added and summed in rows of K.
"""

from libc.math cimport INFINITY, NAN, isfinite, log
from libc.string cimport memcpy, memset

from ._math cimport maximum, total
from ._vecmath cimport doubles, ops, vxlogx

import numpy as np

ctypedef fused real:
    float
    double

# A table of two labels and so many axes would take more than all memory.
MOST_AXES = 62


cdef class JunctionTrees:
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
    edge_bounds : ndarray of shape (N + 1,), int64
        The edges of each step: those of the node that it eliminates into its separator.
    edge_from, edge_to : ndarrays of shape (E,), int32
        Nodes, in the order of the steps.
    edge_axis : ndarray of shape (E,), int32
        The axis of the separator at the other end of the edge.
    edge_leaves : ndarray of shape (E,), uint8
        Whether the edge goes from the node that is eliminated.
    edge_features : ndarray of shape (E, d_e)
    place : ndarray of shape (K, K), int32
        The number of the weight of each pair of labels [from, to].

    Attributes
    ----------
    table_sizes, message_sizes : ndarrays of shape (n,), int64
        How many numbers the tables, and the messages, of each graph have.
    clique_sizes : ndarray of shape (N,), int64
        How many numbers the table of each step has.
    largest_row : float
        The largest sum of absolute features of an edge.
    """

    def __init__(
        self, n_labels, offsets, edge_offsets, *, node, parent, separator, child,
        exponent, edge_bounds, edge_from, edge_to, edge_axis, edge_leaves,
        edge_features, place,
    ):
        self.n_labels = n_labels
        self.offsets, self.edge_offsets = offsets, edge_offsets
        self.node, self.parent = node, parent
        self.separator, self.separator_bounds = separator
        self.child, self.child_bounds = child
        self.exponent, self.exponent_bounds = exponent
        self.edge_bounds = edge_bounds
        self.edge_from, self.edge_to = edge_from, edge_to
        self.edge_axis, self.edge_leaves = edge_axis, edge_leaves
        self.edge_features = edge_features
        self.n_edge_features = edge_features.shape[1]
        self.largest_row = np.abs(edge_features).sum(axis=1).max(initial=0.0)
        self.place = place.reshape(-1)
        self.n_pairs = int(place.max()) + 1
        self.n_tied = self.n_edge_features * self.n_pairs
        messages = n_labels ** np.diff(separator[1])
        self.message_at, self.message_sizes = begins(messages, offsets)
        self.clique_sizes = messages * n_labels
        self.table_at, self.table_sizes = begins(self.clique_sizes, offsets)
        self.n_in_tables, self.n_messages = self.table_sizes, self.message_sizes
        self.most_rows = messages.max(initial=1)

    cdef Py_ssize_t length(self, Py_ssize_t i) noexcept nogil:
        """Return the number of nodes of graph i."""
        return self.offsets[i + 1] - self.offsets[i]

    cdef Py_ssize_t n_axes(self, Py_ssize_t step) noexcept nogil:
        """Return the number of nodes of the separator of a step."""
        return self.separator_bounds[step + 1] - self.separator_bounds[step]

    cdef double edge_score(
        self, Py_ssize_t e, const int* path, const double* tied
    ) noexcept nogil:
        """Return the score of the labels at both ends of an edge."""
        cdef Py_ssize_t f
        cdef double value = 0.0
        cdef const double* weight = tied + self.place[
            path[self.edge_from[e]] * self.n_labels + path[self.edge_to[e]]
        ]
        for f in range(self.n_edge_features):
            value += self.edge_features[e, f] * weight[f * self.n_pairs]
        return value

    cdef void add_edge(
        self, Py_ssize_t e, const int* path, double step, double* tied
    ) noexcept nogil:
        """Add step times the features of the labels at both ends of an edge."""
        cdef Py_ssize_t f
        cdef double* out = tied + self.place[
            path[self.edge_from[e]] * self.n_labels + path[self.edge_to[e]]
        ]
        for f in range(self.n_edge_features):
            out[f * self.n_pairs] += step * self.edge_features[e, f]


def begins(sizes, offsets):
    """Return where the numbers of each step begin in its graph, and how many it has."""
    ends = np.concatenate([[0], np.cumsum(sizes, dtype=np.int64)])
    of_graph = np.diff(ends[offsets])
    first = np.repeat(np.cumsum(of_graph) - of_graph, np.diff(offsets))
    return ends[: len(sizes)] - first, of_graph


cdef class Workspace:
    """Buffers for the graphs begin <= i < end, one at a time, and their recursions.

    Parameters
    ----------
    trees : JunctionTrees
    begin, end : int
    """

    def __init__(self, JunctionTrees trees, begin, end):
        n = trees.n_labels
        self.trees = trees
        n_messages = trees.message_sizes[begin:end].max(initial=1)
        self.tables = np.empty(trees.table_sizes[begin:end].max(initial=1))
        self.messages = np.empty(n_messages)
        self.best = np.empty(n_messages, dtype=np.intc)
        self.raw = np.empty(trees.most_rows * n)
        self.pair = np.empty(n * n)
        self.scores = np.empty(2 * trees.n_edge_features * n * n)
        self.totals = np.empty(2 * trees.n_edge_features * n * n)
        self.strides = np.empty(MOST_AXES, dtype=np.intp)
        self.digits = np.empty(MOST_AXES, dtype=np.intc)
        # Those that do not fit are of no table.
        with np.errstate(over="ignore"):
            self.powers = np.intp(n) ** np.arange(MOST_AXES + 1, dtype=np.intp)

    cdef void set_tied(self, const double* tied) noexcept nogil:
        """Take the scores of pairs: both ways, [from, to] and [to, from]."""
        cdef Py_ssize_t f, j, k, n = self.trees.n_labels
        cdef Py_ssize_t half = self.trees.n_edge_features * n * n
        cdef double value
        for f in range(self.trees.n_edge_features):
            for j in range(n):
                for k in range(n):
                    value = tied[f * self.trees.n_pairs + self.trees.place[j * n + k]]
                    self.scores[(f * n + j) * n + k] = value
                    self.scores[half + (f * n + k) * n + j] = value

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
            # The power 0 is that of the node above, which is no axis of its separator.
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
        """Go to the next labelling of n axes; return its place, after that of one."""
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
        self, const double* factor, Py_ssize_t step, double* table
    ) noexcept nogil:
        """Add the rows of a factor to those of the table of a step, by the strides."""
        cdef Py_ssize_t r, k, row = 0, n = self.trees.n_labels
        cdef Py_ssize_t n_axes = self.trees.n_axes(step)
        for k in range(n_axes):
            self.digits[k] = 0
        for r in range(self.rows(step)):
            for k in range(n):
                table[r * n + k] += factor[row + k]
            row = self.next_row(row, n_axes)

    cdef void collect(
        self, const double* table, Py_ssize_t step, double* factor
    ) noexcept nogil:
        """Add the rows of the table of a step to those of a factor, by the strides."""
        cdef Py_ssize_t r, k, row = 0, n = self.trees.n_labels
        cdef Py_ssize_t n_axes = self.trees.n_axes(step)
        for k in range(n_axes):
            self.digits[k] = 0
        for r in range(self.rows(step)):
            for k in range(n):
                factor[row + k] += table[r * n + k]
            row = self.next_row(row, n_axes)

    cdef void write_raw(
        self, Py_ssize_t i, Py_ssize_t step, const double* local
    ) noexcept nogil:
        """Write the scores of the clique of a step, with the messages from below."""
        cdef Py_ssize_t r, e, f, c, child, n = self.trees.n_labels, square = n * n
        cdef Py_ssize_t n_axes = self.trees.n_axes(step)
        cdef Py_ssize_t d = self.trees.n_edge_features
        cdef const double* own = local + self.trees.node[step] * n
        cdef double* pair = &self.pair[0]
        for r in range(self.rows(step)):
            memcpy(&self.raw[r * n], own, n * sizeof(double))
        for c in range(
            self.trees.child_bounds[step], self.trees.child_bounds[step + 1]
        ):
            child = self.trees.offsets[i] + self.trees.child[c]
            self.set_child_strides(child, n_axes)
            self.spread(
                &self.messages[self.trees.message_at[child]], step, &self.raw[0]
            )
        for e in range(self.trees.edge_bounds[step], self.trees.edge_bounds[step + 1]):
            memset(pair, 0, square * sizeof(double))
            for f in range(d):
                if self.trees.edge_features[e, f] == 0.0:
                    continue
                # The table has the node that is eliminated as its columns.
                ops.axpy(
                    self.trees.edge_features[e, f],
                    &self.scores[(self.trees.edge_leaves[e] * d + f) * square],
                    pair, square,
                )
            self.set_edge_strides(e, n_axes)
            self.spread(pair, step, &self.raw[0])

    cdef double sum_up(self, Py_ssize_t i, const double* local) noexcept nogil:
        """Write p(x_v | x_S) of all cliques of graph i; return log Z, NaN if undefined.

        Follows `set_tied`.
        """
        cdef Py_ssize_t step, r, k, n_rows, n = self.trees.n_labels
        cdef Py_ssize_t n_nodes = self.trees.length(i)
        cdef double* message
        cdef double* table
        cdef double shift, inverse, value
        # `exp` of the vector unit does not know NaN.
        value = total(&self.scores[0], self.scores.shape[0])
        if not isfinite(value + total(local, n_nodes * n)):
            return NAN
        value = 0.0
        for step in range(self.trees.offsets[i], self.trees.offsets[i + 1]):
            self.write_raw(i, step, local)
            n_rows = self.rows(step)
            message = &self.messages[self.trees.message_at[step]]
            table = &self.tables[self.trees.table_at[step]]
            for r in range(n_rows):
                shift = maximum(&self.raw[r * n], n)
                message[r] = shift
                for k in range(n):
                    self.raw[r * n + k] -= shift
            ops.exp(&self.raw[0], 0.0, table, n_rows * n)
            for r in range(n_rows):
                shift = total(table + r * n, n)
                message[r] += log(shift)
                inverse = 1.0 / shift
                for k in range(n):
                    table[r * n + k] *= inverse
            if self.trees.n_axes(step) == 0:
                value += message[0]
        return value

    cdef void sum_down(
        self, Py_ssize_t i,
        double* local,                          # out, (V, K)
        double* edges,                          # out, (E_i, K, K) [from, to], or NULL
    ) noexcept nogil:
        """Write the node marginals of graph i, and sum those of its edges in `totals`.

        Follows `sum_up`, or anything that writes p(x_v | x_S). Edges are in the order
        of the steps. Tables and messages become the marginals of cliques and
        separators; that of a root, which has no separator, is 1.
        """
        cdef Py_ssize_t step, above, r, k, e, f, j, n = self.trees.n_labels
        cdef Py_ssize_t square = n * n, d = self.trees.n_edge_features
        cdef Py_ssize_t first = self.trees.offsets[i]
        cdef double* table
        cdef double* message
        cdef double* own
        cdef double* pair = &self.pair[0]
        memset(&self.totals[0], 0, self.totals.shape[0] * sizeof(double))
        for step in range(self.trees.offsets[i + 1] - 1, first - 1, -1):
            table = &self.tables[self.trees.table_at[step]]
            message = &self.messages[self.trees.message_at[step]]
            message[0] = 1.0
            if self.trees.parent[step] >= 0:
                above = first + self.trees.parent[step]
                memset(message, 0, self.rows(step) * sizeof(double))
                self.set_child_strides(step, self.trees.n_axes(above))
                self.collect(&self.tables[self.trees.table_at[above]], above, message)
                for r in range(self.rows(step)):
                    for k in range(n):
                        table[r * n + k] *= message[r]
            own = local + self.trees.node[step] * n
            memset(own, 0, n * sizeof(double))
            for r in range(self.rows(step)):
                for k in range(n):
                    own[k] += table[r * n + k]
            for e in range(
                self.trees.edge_bounds[step], self.trees.edge_bounds[step + 1]
            ):
                memset(pair, 0, square * sizeof(double))
                self.set_edge_strides(e, self.trees.n_axes(step))
                self.collect(table, step, pair)
                for f in range(d):
                    if self.trees.edge_features[e, f] == 0.0:
                        continue
                    ops.axpy(
                        self.trees.edge_features[e, f], pair,
                        &self.totals[(self.trees.edge_leaves[e] * d + f) * square],
                        square,
                    )
                if edges != NULL:
                    own = edges + (e - self.trees.edge_offsets[i]) * square
                    for j in range(n):
                        for k in range(n):
                            own[j * n + k] = (
                                pair[k * n + j] if self.trees.edge_leaves[e]
                                else pair[j * n + k]
                            )

    cdef void add_tied(self, double factor, double* tied) noexcept nogil:
        """Add factor times the tied expectations that `sum_down` has summed."""
        cdef Py_ssize_t f, j, k, n = self.trees.n_labels
        cdef Py_ssize_t half = self.trees.n_edge_features * n * n
        for f in range(self.trees.n_edge_features):
            for j in range(n):
                for k in range(n):
                    tied[f * self.trees.n_pairs + self.trees.place[j * n + k]] += (
                        factor * (
                            self.totals[(f * n + j) * n + k]
                            + self.totals[half + (f * n + k) * n + j]
                        )
                    )

    cdef double maximise(
        self, Py_ssize_t i, const double* local, int* path
    ) noexcept nogil:
        """Write the labelling of highest score; return that. A score may be -inf.

        Follows `set_tied`.
        """
        cdef Py_ssize_t step, r, k, s, n = self.trees.n_labels
        cdef Py_ssize_t first = self.trees.offsets[i], last = self.trees.offsets[i + 1]
        cdef double* message
        cdef double highest, value = 0.0
        cdef int* best
        for step in range(first, last):
            self.write_raw(i, step, local)
            message = &self.messages[self.trees.message_at[step]]
            best = &self.best[self.trees.message_at[step]]
            for r in range(self.rows(step)):
                highest, best[r] = -INFINITY, 0
                for k in range(n):
                    if self.raw[r * n + k] > highest:
                        highest, best[r] = self.raw[r * n + k], k
                message[r] = highest
            if self.trees.n_axes(step) == 0:
                value += message[0]
        for step in range(last - 1, first - 1, -1):
            r = 0
            for s in range(
                self.trees.separator_bounds[step], self.trees.separator_bounds[step + 1]
            ):
                r = r * n + path[self.trees.separator[s]]
            path[self.trees.node[step]] = self.best[self.trees.message_at[step] + r]
        return value

    cdef double entropy(self, Py_ssize_t i) noexcept nogil:
        """Return the entropy of the marginals that `sum_down` has written."""
        return (
            vxlogx(doubles(&self.messages[0]), self.trees.n_messages[i])
            - vxlogx(doubles(&self.tables[0]), self.trees.n_in_tables[i])
        )


def label_places(
    JunctionTrees trees,
    const int[::1] paths,                   # in, (N,)
    long long[::1] places,                  # out, (N,)
):
    """Write where the tables of all graphs, end to end, have the given labels."""
    cdef Py_ssize_t i, step, s, r, n = trees.n_labels
    cdef long long before = 0
    with nogil:
        for i in range(trees.offsets.shape[0] - 1):
            for step in range(trees.offsets[i], trees.offsets[i + 1]):
                r = 0
                for s in range(
                    trees.separator_bounds[step], trees.separator_bounds[step + 1]
                ):
                    r = r * n + paths[trees.offsets[i] + trees.separator[s]]
                places[step] = (
                    before + trees.table_at[step] + r * n
                    + paths[trees.offsets[i] + trees.node[step]]
                )
            before += trees.n_in_tables[i]


def renormalize(
    JunctionTrees trees,
    Py_ssize_t begin, Py_ssize_t end,
    const double[::1] weight,               # in, (n,)
    real[::1] tables,                       # in, out: those of all graphs
    double[::1] messages,                   # out: those of all graphs
    double[:, ::1] node,                    # out, (N, K)
    double[:, ::1] tied,                    # out, (n, n_tied)
    double[::1] tied_total,                 # in, out, (n_tied,)
    double[::1] entropy,                    # out, (n,)
):
    """Make marginals consistent that rounding has moved, for begin <= i < end.

    p(x_v | x_S) of each table is kept. Writes what follows from these, the marginals of
    cliques among them, and adds weight[i] times the tied expectations to their total.
    """
    cdef Py_ssize_t i, r, k, n = trees.n_labels
    cdef long long first_table = 0, first_message = 0
    cdef Workspace work = Workspace(trees, begin, end)
    cdef double* row
    cdef double sum_of_row
    with nogil:
        for i in range(begin):
            first_table += trees.n_in_tables[i]
            first_message += trees.n_messages[i]
        for i in range(begin, end):
            for r in range(trees.n_messages[i]):
                row = &work.tables[r * n]
                for k in range(n):
                    row[k] = tables[first_table + r * n + k]
                sum_of_row = total(row, n)
                for k in range(n):
                    row[k] = row[k] / sum_of_row if sum_of_row > 0.0 else 1.0 / n
            if trees.length(i) > 0:
                work.sum_down(i, &node[trees.offsets[i], 0], NULL)
            else:
                memset(&work.totals[0], 0, work.totals.shape[0] * sizeof(double))
            for r in range(trees.n_in_tables[i]):
                tables[first_table + r] = <real> work.tables[r]
            for r in range(trees.n_messages[i]):
                messages[first_message + r] = work.messages[r]
            entropy[i] = work.entropy(i)
            tied[i, :] = 0.0
            work.add_tied(1.0, &tied[i, 0])
            work.add_tied(weight[i], &tied_total[0])
            first_table += trees.n_in_tables[i]
            first_message += trees.n_messages[i]


def log_partitions(
    JunctionTrees trees,
    const double[:, ::1] local,             # in, (their nodes, K)
    const double[::1] tied,                 # in, (n_tied,)
    Py_ssize_t begin, Py_ssize_t end,
    double[::1] values,                     # out, (end - begin,)
):
    """Write log Z of the graphs begin <= i < end."""
    cdef Py_ssize_t i
    cdef Workspace work = Workspace(trees, begin, end)
    cdef const double* first = rows_pointer(local)
    with nogil:
        work.set_tied(&tied[0])
        for i in range(begin, end):
            values[i - begin] = work.sum_up(i, first + at(trees, begin, i))


def marginals(
    JunctionTrees trees,
    const double[:, ::1] local,             # in, (their nodes, K)
    const double[::1] tied,                 # in, (n_tied,)
    Py_ssize_t begin, Py_ssize_t end,
    double[:, ::1] node,                    # out, (their nodes, K)
    double[::1] values,                     # out, (end - begin,)
    *,
    const double[::1] weight=None,          # in, (end - begin,)
    double[::1] tied_total=None,            # in, out, (n_tied,)
    double[:, ::1] tied_sums=None,          # out, (end - begin, n_tied)
    double[:, :, ::1] edges=None,           # out, (their edges, K, K)
):
    """Write the node marginals and log Z of the graphs begin <= i < end.

    Expectations of the tied potentials of each graph are written to ``tied_sums``, or
    weight[i - begin] times them added to ``tied_total``, and the marginals of edges, in
    the order of the steps, written to ``edges``, where these are given.
    """
    cdef Py_ssize_t i, place
    cdef Workspace work = Workspace(trees, begin, end)
    cdef const double* first = rows_pointer(local)
    cdef double* out = <double*> rows_pointer(node)
    cdef double* edge_out = NULL
    cdef Py_ssize_t square = trees.n_labels * trees.n_labels
    cdef bint with_edges = edges is not None and edges.shape[0] > 0
    with nogil:
        work.set_tied(&tied[0])
        for i in range(begin, end):
            place = at(trees, begin, i)
            values[i - begin] = work.sum_up(i, first + place)
            if with_edges:
                edge_out = &edges[0, 0, 0] + square * (
                    trees.edge_offsets[i] - trees.edge_offsets[begin]
                )
            work.sum_down(i, out + place, edge_out)
            if tied_total is not None:
                work.add_tied(weight[i - begin], &tied_total[0])
            if tied_sums is not None:
                tied_sums[i - begin, :] = 0.0
                work.add_tied(1.0, &tied_sums[i - begin, 0])


def best_labellings(
    JunctionTrees trees,
    const double[:, ::1] local,             # in, (their nodes, K)
    const double[::1] tied,                 # in, (n_tied,)
    Py_ssize_t begin, Py_ssize_t end,
    int[::1] paths,                         # out, (their nodes,)
    double[::1] values,                     # out, (end - begin,)
):
    """Write the labellings of highest score of begin <= i < end, and these scores."""
    cdef Py_ssize_t i, place
    cdef Workspace work = Workspace(trees, begin, end)
    cdef const double* first = rows_pointer(local)
    cdef int* out = &paths[0] if paths.shape[0] > 0 else NULL
    with nogil:
        work.set_tied(&tied[0])
        for i in range(begin, end):
            place = at(trees, begin, i)
            values[i - begin] = work.maximise(
                i, first + place, out + place // trees.n_labels
            )


def labelling_scores(
    JunctionTrees trees,
    const double[:, ::1] local,             # in, (their nodes, K)
    const double[::1] tied,                 # in, (n_tied,)
    Py_ssize_t begin, Py_ssize_t end,
    const int[::1] paths,                   # in, (their nodes,)
    double[::1] values,                     # out, (end - begin,)
):
    """Write the score of one labelling of each graph begin <= i < end."""
    cdef Py_ssize_t i, t, e, first, n = trees.n_labels
    cdef const double* scores = rows_pointer(local)
    cdef const int* path = &paths[0] if paths.shape[0] > 0 else NULL
    cdef double value
    with nogil:
        for i in range(begin, end):
            value = 0.0
            first = trees.offsets[i] - trees.offsets[begin]
            for t in range(first, first + trees.length(i)):
                value += scores[t * n + path[t]]
            for e in range(trees.edge_offsets[i], trees.edge_offsets[i + 1]):
                value += trees.edge_score(e, path + first, &tied[0])
            values[i - begin] = value


def add_labellings(
    JunctionTrees trees,
    Py_ssize_t begin, Py_ssize_t end,
    const int[::1] paths,                   # in, (N,)
    const double[::1] weight,               # in, (n,)
    double[:, ::1] out,                     # in, out, (n or 1, n_tied)
):
    """Add weight[i] times the tied potentials of labellings to row i, or to the one."""
    cdef Py_ssize_t i, e
    cdef bint each = out.shape[0] > 1
    cdef const int* path = &paths[0] if paths.shape[0] > 0 else NULL
    with nogil:
        for i in range(begin, end):
            for e in range(trees.edge_offsets[i], trees.edge_offsets[i + 1]):
                trees.add_edge(
                    e, path + trees.offsets[i], weight[i], &out[i if each else 0, 0]
                )


cdef const double* rows_pointer(const double[:, ::1] rows) noexcept nogil:
    """Return the address of the rows, NULL if there are none."""
    return &rows[0, 0] if rows.shape[0] > 0 else NULL


cdef Py_ssize_t at(JunctionTrees trees, Py_ssize_t begin, Py_ssize_t i) noexcept nogil:
    """Return where the scores of graph i begin, those of ``begin`` first."""
    return (trees.offsets[i] - trees.offsets[begin]) * trees.n_labels
