"""Sum-product and max-product on junction trees: inference on graphs, given scores.

The nodes of a graph are eliminated one by one. Step s eliminates node v: its clique
holds v and its separator S, the neighbours that are still there. With psi_s the scores
of v and of its edges into S, and m_c the messages of the cliques below,

    m_s[x_S] = log sum_{x_v} exp( psi_s[x_S, x_v] + sum_c m_c ),
    p(x_v | x_S) = exp( psi_s[x_S, x_v] + sum_c m_c - m_s[x_S] ),

and log Z is the sum of the messages of the roots. Downward, the marginals of a clique
are p(x_v | x_S) times the marginals of S, which the clique above has.

A step is narrow if S is one neighbour u or none, with one edge to it, and the cliques
below are no wider: all steps of a forest. It has no table. Up and down are products of
a vector with the matrix of the edge, as on a chain: with h_v the exponentials of v and
the messages on it,

    m[x_u] = sum_{x_v} E[x_u, x_v] h_v[x_v],   p(x_u, x_v) = p(x_u) / m[x_u] E h_v[x_v].

Everything runs first in the scaled domain, where factors are multiplied. That is right
as long as no product can underflow: the spreads of the scores of v, of its edges and of
the messages on its clique must not exceed LARGEST_SPREAD together. The message of an
edge has at most the spread of its scores. Other graphs are done in logarithms, by
tables alone: no logarithm of a marginal is taken, and the largest exponent of each row
is 0. A node score of -inf forbids, and the label gets a marginal of exactly 0.
"""

from libc.math cimport INFINITY, NAN, isfinite, log
from libc.string cimport memcpy, memset

from ._junction_tree cimport Cliques, JunctionTrees
from ..math._math cimport finite_minimum, forbid, maximum, total
from ..math._vecmath cimport doubles, ops, vxlogx

from ..math._transitions import all_transitions

import numpy as np

# exp(-600) is far above the smallest double, exp(-708).
cdef double LARGEST_SPREAD = 600.0


cdef class Workspace(Cliques):
    """Buffers for the graphs begin <= i < end, one at a time, and their recursions.

    Parameters
    ----------
    trees : JunctionTrees
    begin, end : int
    """

    def __init__(self, JunctionTrees trees, begin, end):
        n = trees.n_labels
        n_nodes = np.diff(trees.offsets[begin : end + 1]).max(initial=1)
        super().__init__(trees, begin, end)
        self.layout = all_transitions(n)
        self.best = np.empty(len(self.messages), dtype=np.intc)
        self.inward = np.empty(n_nodes * n)
        self.spreads = np.empty(n_nodes)
        self.raw = np.empty(trees.most_rows * n)
        self.pair = np.empty(n * n)
        self.row = np.empty(n)
        self.totals = np.empty(max(trees.n_edge_features, 1) * n * n)

    cdef double* inward_of(self, Py_ssize_t i, Py_ssize_t step) noexcept nogil:
        """Return the address of what the node of a step gets from itself and below."""
        return &self.inward[(step - self.trees.offsets[i]) * self.trees.n_labels]

    cdef double sum_up(self, Py_ssize_t i, const double* local) noexcept nogil:
        """Sum graph i from the leaves to the roots; return log Z, NaN if undefined.

        Follows `set_tied`. A local score may be -inf.
        """
        cdef double value
        # `exp` of the vector unit, and comparisons, do not know NaN.
        value = ops.dot(local, local, self.trees.length(i) * self.trees.n_labels)
        if value != value or not self.is_finite:
            return NAN
        self.begin_graph()
        self.is_scaled = True
        value = self.scaled_up(i, local)
        if value == value:
            return value
        self.is_scaled = False
        return self.log_up(i, local)

    cdef double scaled_up(self, Py_ssize_t i, const double* local) noexcept nogil:
        """Return log Z, or NaN where the scaled domain does not hold."""
        cdef Py_ssize_t step, c, child, e, n = self.trees.n_labels
        cdef double spread, scale, shift, value = 0.0
        cdef const double* pair = NULL
        cdef double* inward
        for step in range(self.trees.offsets[i], self.trees.offsets[i + 1]):
            inward = self.inward_of(i, step)
            shift = exps_within(
                local + self.trees.node[step] * n, n, inward, &spread
            )
            if not (shift > -INFINITY):
                return shift
            for c in range(
                self.trees.child_bounds[step], self.trees.child_bounds[step + 1]
            ):
                child = self.trees.offsets[i] + self.trees.child[c]
                spread += self.spreads[child - self.trees.offsets[i]]
                if self.trees.n_axes(child) == 1:
                    multiply(self.message_of(child), n, inward)
            for e in range(
                self.trees.edge_bounds[step], self.trees.edge_bounds[step + 1]
            ):
                pair = self.exps_of(e, not self.trees.edge_leaves[e])
                spread += self.pair_spreads[self.trees.edge_kind[e]]
                shift += self.peaks[self.trees.edge_kind[e]]
            if not (spread <= LARGEST_SPREAD):
                return NAN
            if not self.trees.is_narrow[step]:
                value += shift + self.scaled_clique(i, step)
                continue
            if self.trees.n_axes(step) == 0:
                scale = total(inward, n)
            else:
                scale = self.scaled_message(i, step, inward, pair)
            scale_by(1.0 / scale, n, inward)
            value += shift + log(scale)
        return value

    cdef double scaled_message(
        self, Py_ssize_t i, Py_ssize_t step, const double* inward, const double* pair
    ) noexcept nogil:
        """Write the message of a narrow step over its scale; return the scale."""
        cdef Py_ssize_t n = self.trees.n_labels
        cdef double* message = self.message_of(step)
        cdef double scale
        ops.row_times_matrix(inward, pair, message, n)
        # Any entry would do: none is larger by more than the spread.
        scale = message[0]
        scale_by(1.0 / scale, n, message)
        self.spreads[step - self.trees.offsets[i]] = self.pair_spreads[
            self.trees.edge_kind[self.trees.edge_bounds[step]]
        ]
        return scale

    cdef double scaled_clique(self, Py_ssize_t i, Py_ssize_t step) noexcept nogil:
        """Write p(x_v | x_S) and the message of a step; return the log of its scale."""
        cdef Py_ssize_t r, n = self.trees.n_labels, n_rows = self.rows(step)
        cdef double* message = self.message_of(step)
        cdef double* table = &self.tables[self.trees.table_at[step]]
        cdef double least, most
        self.write_table(i, step, self.inward_of(i, step), True, table)
        for r in range(n_rows):
            message[r] = total(table + r * n, n)
            scale_by(1.0 / message[r], n, table + r * n)
        most = ops.extent(message, n_rows, &least)
        scale_by(1.0 / most, n_rows, message)
        self.spreads[step - self.trees.offsets[i]] = log(most / least)
        return log(most)

    cdef void add_below(
        self, Py_ssize_t i, Py_ssize_t step, const double* local
    ) noexcept nogil:
        """Write the scores of the node of a step with the messages on it alone."""
        cdef Py_ssize_t c, child, k, n = self.trees.n_labels
        cdef double* inward = self.inward_of(i, step)
        cdef const double* message
        memcpy(inward, local + self.trees.node[step] * n, n * sizeof(double))
        for c in range(
            self.trees.child_bounds[step], self.trees.child_bounds[step + 1]
        ):
            child = self.trees.offsets[i] + self.trees.child[c]
            if self.trees.n_axes(child) == 1:
                message = self.message_of(child)
                for k in range(n):
                    inward[k] += message[k]

    cdef double log_up(self, Py_ssize_t i, const double* local) noexcept nogil:
        """Write p(x_v | x_S) of all cliques; return log Z, NaN if undefined."""
        cdef Py_ssize_t step, r, k, n_rows, n = self.trees.n_labels
        cdef double* message
        cdef double* table
        cdef double* raw = &self.raw[0]
        cdef double shift, value = 0.0
        for step in range(self.trees.offsets[i], self.trees.offsets[i + 1]):
            self.add_below(i, step, local)
            self.write_table(i, step, self.inward_of(i, step), False, raw)
            n_rows, message = self.rows(step), self.message_of(step)
            table = &self.tables[self.trees.table_at[step]]
            for r in range(n_rows):
                shift = maximum(raw + r * n, n)
                if not isfinite(shift):
                    return -INFINITY if shift < 0.0 else NAN
                message[r] = shift
                for k in range(n):
                    raw[r * n + k] -= shift
            ops.exp(raw, 0.0, table, n_rows * n)
            forbid(raw, table, n_rows * n)
            for r in range(n_rows):
                shift = total(table + r * n, n)
                message[r] += log(shift)
                scale_by(1.0 / shift, n, table + r * n)
            if self.trees.n_axes(step) == 0:
                value += message[0]
        return value

    cdef void sum_down(
        self, Py_ssize_t i,
        bint with_tables,
        double* local,                          # out, (V, K)
        double* edges,                          # out, (E_i, K, K) [from, to], or NULL
    ) noexcept nogil:
        """Write the node marginals of graph i, and sum its edge marginals in `totals`.

        Follows `sum_up`, or anything that writes p(x_v | x_S) in `tables` and unsets
        ``is_scaled``. Edges are in the order of the steps. ``with_tables`` asks for the
        marginals of cliques and separators, in place of tables and messages. A root has
        no separator; the number in its place is 1.
        """
        cdef Py_ssize_t step, first = self.trees.offsets[i]
        self.turn += 1
        self.n_summed = 0
        if edges != NULL:
            edges -= (
                self.trees.edge_offsets[i] * self.trees.n_labels * self.trees.n_labels
            )
        for step in range(self.trees.offsets[i + 1] - 1, first - 1, -1):
            if self.is_scaled and self.trees.is_narrow[step]:
                self.narrow_down(i, step, with_tables, local, edges)
            else:
                self.clique_down(i, step, local, edges)
        self.sum_pairs()

    cdef void narrow_down(
        self, Py_ssize_t i, Py_ssize_t step, bint with_tables, double* local,
        double* edges,
    ) noexcept nogil:
        """Write the marginals of a node with at most one neighbour above it.

        With its message m, the p of the neighbour u, and q = p / m, the marginals of
        the pair are q[u] exp(pair[u, v]) inward[v].
        """
        cdef Py_ssize_t j, n = self.trees.n_labels, square = n * n, e
        cdef double* inward = self.inward_of(i, step)
        cdef double* message = self.message_of(step)
        cdef double* own = local + self.trees.node[step] * n
        cdef double* table = &self.tables[self.trees.table_at[step]]
        cdef double* q = &self.row[0]
        cdef double* left = q
        cdef double* right = inward
        cdef const double* above
        if self.trees.n_axes(step) == 0:
            memcpy(own, inward, n * sizeof(double))
            if with_tables:
                memcpy(table, inward, n * sizeof(double))
                message[0] = 1.0
            return
        e = self.trees.edge_bounds[step]
        above = local + self.trees.separator[self.trees.separator_bounds[step]] * n
        for j in range(n):
            q[j] = above[j] / message[j]
        ops.row_times_matrix(q, self.exps_of(e, self.trees.edge_leaves[e]), own, n)
        multiply(inward, n, own)
        if self.trees.edge_leaves[e]:
            left, right = inward, q
        ops.add_outer(left, right, self.sums_of(e), n)
        if edges != NULL:
            ops.scale_matrix(left, self.exps_of(e, 0), right, edges + e * square, n)
        if with_tables:
            memcpy(message, above, n * sizeof(double))
            ops.scale_matrix(
                q, self.exps_of(e, self.trees.edge_leaves[e]), inward, table, n
            )

    cdef void clique_down(
        self, Py_ssize_t i, Py_ssize_t step, double* local, double* edges
    ) noexcept nogil:
        """Write the marginals of a clique, its separator and its node."""
        cdef Py_ssize_t above, r, e, k, n = self.trees.n_labels, square = n * n
        cdef Py_ssize_t n_axes = self.trees.n_axes(step)
        cdef double* table = &self.tables[self.trees.table_at[step]]
        cdef double* message = self.message_of(step)
        cdef double* own = local + self.trees.node[step] * n
        cdef double* pair = &self.pair[0]
        cdef double* sums
        message[0] = 1.0
        if n_axes == 1:
            above = self.trees.separator[self.trees.separator_bounds[step]]
            memcpy(message, local + above * n, n * sizeof(double))
        elif n_axes > 1:
            above = self.trees.offsets[i] + self.trees.parent[step]
            memset(message, 0, self.rows(step) * sizeof(double))
            self.set_child_strides(step, self.trees.n_axes(above))
            self.collect(&self.tables[self.trees.table_at[above]], above, message)
        memset(own, 0, n * sizeof(double))
        for r in range(self.rows(step)):
            for k in range(n):
                table[r * n + k] *= message[r]
                own[k] += table[r * n + k]
        for e in range(self.trees.edge_bounds[step], self.trees.edge_bounds[step + 1]):
            memset(pair, 0, square * sizeof(double))
            self.set_edge_strides(e, n_axes)
            self.collect(table, step, pair)
            sums = self.sums_of(e) + square
            if self.trees.edge_leaves[e]:
                transpose(pair, n)
            ops.axpy(1.0, pair, sums, square)
            if edges != NULL:
                memcpy(edges + e * square, pair, square * sizeof(double))

    cdef void sum_pairs(self) noexcept nogil:
        """Write `totals`: of each feature of edges times the marginals of edges."""
        cdef Py_ssize_t s, e, f, k, n = self.trees.n_labels, square = n * n
        cdef double* sums
        cdef const double* exps
        memset(&self.totals[0], 0, self.totals.shape[0] * sizeof(double))
        for s in range(self.n_summed):
            e = self.summed[s]
            sums = self.sums_of(e)
            if self.is_scaled:
                exps = self.exps_of(e, 0)
                for k in range(square):
                    sums[square + k] += sums[k] * exps[k]
            for f in range(self.trees.n_edge_features):
                if self.trees.edge_features[e, f] != 0.0:
                    ops.axpy(
                        self.trees.edge_features[e, f], sums + square,
                        &self.totals[f * square], square,
                    )

    cdef void add_tied(self, double factor, double* tied) noexcept nogil:
        """Add factor times the tied expectations that `sum_down` has summed."""
        cdef Py_ssize_t f, k, n = self.trees.n_labels, square = n * n
        for f in range(self.trees.n_edge_features):
            for k in range(square):
                tied[f * self.trees.n_pairs + self.trees.place[k]] += (
                    factor * self.totals[f * square + k]
                )

    cdef double maximise(
        self, Py_ssize_t i, const double* local, int* path
    ) noexcept nogil:
        """Write the labelling of highest score; return that. A score may be -inf.

        Follows `set_tied`.
        """
        cdef Py_ssize_t step, r, s, e, n = self.trees.n_labels
        cdef Py_ssize_t first = self.trees.offsets[i], last = self.trees.offsets[i + 1]
        cdef double* message
        cdef double* raw = &self.raw[0]
        cdef const double* pair
        cdef double value = 0.0
        self.begin_graph()
        for step in range(first, last):
            self.add_below(i, step, local)
            message = self.message_of(step)
            if self.trees.is_narrow[step] and self.trees.n_axes(step) == 1:
                e = self.trees.edge_bounds[step]
                pair = self.scores_of(e, not self.trees.edge_leaves[e])
                self.layout.best(self.inward_of(i, step), pair, &self.row[0], message)
                continue
            self.write_table(i, step, self.inward_of(i, step), False, raw)
            for r in range(self.rows(step)):
                s = first_best(raw + r * n, n)
                message[r] = raw[r * n + s]
                self.best[self.trees.message_at[step] + r] = <int> s
            if self.trees.n_axes(step) == 0:
                value += message[0]
        for step in range(last - 1, first - 1, -1):
            path[self.trees.node[step]] = self.best_label(i, step, path)
        return value

    cdef int best_label(
        self, Py_ssize_t i, Py_ssize_t step, const int* path
    ) noexcept nogil:
        """Return the best label of a node, given the labels of its separator."""
        cdef Py_ssize_t k, s, e, r = 0, n = self.trees.n_labels
        cdef const double* pair
        cdef const double* inward = self.inward_of(i, step)
        for s in range(
            self.trees.separator_bounds[step], self.trees.separator_bounds[step + 1]
        ):
            r = r * n + path[self.trees.separator[s]]
        if not self.trees.is_narrow[step] or self.trees.n_axes(step) == 0:
            return self.best[self.trees.message_at[step] + r]
        e = self.trees.edge_bounds[step]
        pair = self.scores_of(e, self.trees.edge_leaves[e]) + r * n
        for k in range(n - 1):
            # The sum that `maximise` has found to be the largest.
            if inward[k] + pair[k] >= self.message_of(step)[r]:
                return <int> k
        return <int> n - 1

    cdef double entropy(self, Py_ssize_t i) noexcept nogil:
        """Return the entropy of the marginals that `sum_down` has written in tables."""
        return (
            vxlogx(doubles(&self.messages[0]), self.trees.n_messages[i])
            - vxlogx(doubles(&self.tables[0]), self.trees.n_in_tables[i])
        )

    cdef void draw(
        self, Py_ssize_t i,
        const double* uniform, Py_ssize_t stride,   # in, (V,) in [0, 1), and how far
        int* path,                                  # apart; out, (V,)
    ) noexcept nogil:
        """Draw a labelling of graph i from what `sum_up` has summed."""
        cdef Py_ssize_t step, s, k, r, e, n = self.trees.n_labels
        cdef const double* weights
        cdef const double* pair
        cdef double* row = &self.row[0]
        for step in range(
            self.trees.offsets[i + 1] - 1, self.trees.offsets[i] - 1, -1
        ):
            r = 0
            for s in range(
                self.trees.separator_bounds[step], self.trees.separator_bounds[step + 1]
            ):
                r = r * n + path[self.trees.separator[s]]
            weights = &self.tables[self.trees.table_at[step] + r * n]
            if self.is_scaled and self.trees.is_narrow[step]:
                weights = self.inward_of(i, step)
                if self.trees.n_axes(step) == 1:
                    e = self.trees.edge_bounds[step]
                    pair = self.exps_of(e, self.trees.edge_leaves[e]) + r * n
                    for k in range(n):
                        row[k] = weights[k] * pair[k]
                    weights = row
            s = self.trees.node[step]
            path[s] = <int> drawn(weights, n, uniform[s * stride])


cdef inline double exps_within(
    const double* scores, Py_ssize_t n, double* out, double* spread
) noexcept nogil:
    """Write the exponentials of scores less their maximum, and how far they spread.

    Returns the maximum, NaN where the scores spread too far for the scaled domain.
    """
    cdef double least, most = ops.extent(scores, n, &least)
    if most == -INFINITY:
        return most
    spread[0] = most - (finite_minimum(scores, n) if least == -INFINITY else least)
    if not (spread[0] <= LARGEST_SPREAD):
        return NAN
    ops.exp(scores, most, out, n)
    if least == -INFINITY:
        forbid(scores, out, n)
    return most


cdef void multiply(const double* factor, Py_ssize_t n, double* x) noexcept nogil:
    """Multiply each number by its factor."""
    cdef Py_ssize_t k
    for k in range(n):
        x[k] *= factor[k]


cdef void scale_by(double factor, Py_ssize_t n, double* x) noexcept nogil:
    """Multiply all numbers by one factor."""
    cdef Py_ssize_t k
    for k in range(n):
        x[k] *= factor


cdef void transpose(double* matrix, Py_ssize_t n) noexcept nogil:
    """Transpose a matrix (n, n) in place."""
    cdef Py_ssize_t j, k
    cdef double value
    for j in range(n):
        for k in range(j):
            value = matrix[j * n + k]
            matrix[j * n + k] = matrix[k * n + j]
            matrix[k * n + j] = value


cdef Py_ssize_t first_best(const double* x, Py_ssize_t n) noexcept nogil:
    """Return where the largest number is first, 0 if all are -inf."""
    cdef Py_ssize_t k, best = 0
    cdef double highest = x[0]
    for k in range(1, n):
        if x[k] > highest:
            highest, best = x[k], k
    return best


cdef Py_ssize_t drawn(const double* weights, Py_ssize_t n, double u) noexcept nogil:
    """Return the label that a number u in [0, 1) draws by weights; none of weight 0."""
    cdef Py_ssize_t k, last = 0
    cdef double rest = u * total(weights, n)
    for k in range(n):
        if weights[k] > 0.0:
            last = k
            if rest < weights[k]:
                break
            rest -= weights[k]
    return last
