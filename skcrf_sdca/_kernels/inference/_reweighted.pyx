"""Tree-reweighted sums over graphs [Wainwright et al. 2005], in one order of the nodes.

The nodes of a graph have an order in which all but one of each component have an edge
to a later node. A spanning tree is drawn when every node takes one of its edges to
later nodes, e with probability rho_e: these are the edge appearance probabilities, and
those of the edges of a node to later ones sum to 1. With them

    log Z_TRW = max <mu, scores> + H_TRW(mu),   H_TRW = sum_v H_v - sum_e rho_e I_e,

over mu that are locally consistent. It is convex in the scores and at least log Z.
Its dual is a sum by steps in the order, for turns t_e(y_v) of each edge from v:

    m_e(y_u) = rho_e log sum_v exp( inward_v + sum_e' rho_e' t_e' - t_e
                                    + score_e / rho_e )

is added to inward_u, which begins with the scores of u; the sum at the last node, one
for each component, is an upper bound of log Z_TRW **for any turns**, by Hoelder's
inequality, and it is convex in these. Its gradient is a distribution over trees: the
sums down the order are marginals of edges p_e that agree with those of their last
node, and at the first end on the average sum_e rho_e p_e alone. A sweep has turns take
log p_e: that is the update of reweighted belief propagation, and a step of descent,
which is halved while the bound rises. Where a node has one edge to later ones, turns do
not matter: on trees one sweep is the exact sum.

Marginals are made consistent at the end: H_TRW and <mu, scores> bound log Z_TRW from
below. Nothing overflows: exponentials are over their maxima, and where scores of an
edge differ by more than a double can hold, their sums are made in logarithms.
"""

from libc.math cimport INFINITY, exp, fabs, log
from libc.string cimport memcpy, memset

from ..math._vecmath cimport doubles, ops, vxlogx
from ._joined_nodes cimport JoinedNodes

import numpy as np

# Sweeps end where p_e and the average of a node differ by less than this, in nats for
# each node; the bound is above its minimum by some ten times that.
cdef double TOLERANCE = 1e-12
cdef int MOST_SWEEPS = 100
cdef int MOST_HALVINGS = 30
# Rounding of a bound, relative.
cdef double ROUNDING = 1e-14
# Differences of scores whose exponentials are in the range of doubles, with room for
# products.
cdef double LARGEST_SPREAD = 500.0
# In the place of marginals that underflow.
cdef double SMALLEST = 1e-300
# Scalings of rows and columns of the marginals of an edge; the rest is added.
cdef int MOST_SCALINGS = 8
cdef double CONSISTENT = 1e-16


cdef class ReweightedGraphs(JoinedNodes):
    """Graphs laid end to end with an order of their nodes, and turns of their edges.

    Parameters
    ----------
    n_labels, offsets, edge_offsets, edge_from, edge_to, edge_features, edge_kind, place
        As for `JoinedNodes`, with edges in the order of the steps. Edges of a kind have
        the same appearance and direction too.
    node : ndarray of shape (N,), int32
        The node of each step.
    edge_bounds : ndarray of shape (N + 1,), int64
        The edges of each step, to nodes of later steps.
    leaves : ndarray of shape (E,), uint8
        Whether the edge goes from the node of the earlier step.
    appearance : ndarray of shape (E,)
        rho_e.
    counting : ndarray of shape (N,)
        1 - sum of rho_e of all edges of a node.

    Attributes
    ----------
    most_sweeps : int
        At most so many sweeps, at least 1; all bounds hold after any number.
    constants : ndarray of shape (n,)
        Of marginals that are multiplied by how often they count, as `write_parts`
        writes them: H_TRW less the entropy of these.

    Notes
    -----
    The turns are those that inference ended with, where the next begins: that is
    faster, and changes results within the tolerance. Threads have different graphs.
    """

    def __init__(
        self, n_labels, offsets, edge_offsets, *, node, edge_bounds, edge_from, edge_to,
        leaves, appearance, counting, edge_features, edge_kind, place,
    ):
        super().__init__(
            n_labels, offsets, edge_offsets, edge_from, edge_to, edge_features,
            edge_kind, place,
        )
        self.node, self.edge_bounds = node, edge_bounds
        self.leaves, self.appearance, self.counting = leaves, appearance, counting
        self.first_end = np.where(leaves, edge_from, edge_to).astype(np.int32)
        self.last_end = np.where(leaves, edge_to, edge_from).astype(np.int32)
        self.most_sweeps = MOST_SWEEPS
        self.turns = np.zeros((len(appearance), n_labels))
        self.most_edges = np.diff(edge_bounds).max(initial=0)
        self._lay_out(offsets, edge_offsets, appearance, counting)

    def _lay_out(self, offsets, edge_offsets, appearance, counting):
        """Set where the marginals of nodes are, the sizes and the constants."""
        n, is_clique, is_separator = self.n_labels, counting > 0.0, counting < 0.0
        before = [np.append(0, np.cumsum(own)) for own in (is_clique, is_separator)]
        cliques, separators = (np.diff(own[offsets]) for own in before)
        n_edges = np.diff(edge_offsets)
        self.table_sizes = n_edges * n**2 + cliques * n
        self.message_sizes = separators * n
        graph = np.repeat(np.arange(len(n_edges)), np.diff(offsets))
        places = [own[: len(graph)] - own[offsets[graph]] for own in before]
        self.marginal_at = np.where(
            is_clique, n_edges[graph] * n**2 + places[0] * n, places[1] * n
        ).astype(np.int64)
        sizes = np.abs(counting)
        of_nodes = counting * np.log(sizes, out=np.zeros_like(sizes), where=sizes > 0.0)
        sums = [np.append(0.0, np.cumsum(own))
                for own in (of_nodes, appearance * np.log(appearance))]
        self.constants = self.constant = (
            np.diff(sums[0][offsets]) + np.diff(sums[1][edge_offsets])
        )

    def counts(self):
        """Return how often edges and nodes count in H_TRW."""
        return np.asarray(self.appearance), np.asarray(self.counting)

    def pairs_of(self, labels):
        """Return the number of the pair of labels of each edge, first end first."""
        edges, nodes = np.diff(self.edge_offsets), np.asarray(self.offsets)
        begin = np.repeat(nodes[: len(edges)], edges)
        first = labels[begin + np.asarray(self.first_end)]
        return first * self.n_labels + labels[begin + np.asarray(self.last_end)]


cdef class Sweeps:
    """Buffers for one graph of begin <= i < end at a time, and sums over it.

    Parameters
    ----------
    graphs : ReweightedGraphs
    begin, end : int
    """

    def __init__(self, ReweightedGraphs graphs, begin, end):
        n, kinds = graphs.n_labels, graphs.most_kinds
        bounds = np.asarray(graphs.edge_offsets)[begin : end + 1]
        edges = np.diff(bounds).max(initial=1)
        nodes = np.diff(np.asarray(graphs.offsets)[begin : end + 1]).max(initial=1)
        self.graphs = graphs
        self.inward, self.pairs = np.empty(nodes * n), np.empty(edges * n * n)
        self.before = np.empty(edges * n)
        self.tables = np.empty(graphs.table_sizes[begin:end].max(initial=1))
        self.messages = np.empty(max(graphs.message_sizes[begin:end].max(initial=1), 1))
        self.total, self.row, self.sums = np.empty(n), np.empty(n), np.empty(n)
        self.shares = np.empty(max(graphs.most_edges, 1) * n)
        self.pair_scores, self.pair_exps = (np.empty(kinds * n * n) for _ in range(2))
        self.pair_sums = np.empty(kinds * n * n)
        self.peaks, self.spreads = np.empty(kinds), np.empty(kinds)
        self.has_scores = np.zeros(kinds, dtype=np.int64)
        self.has_sums = np.zeros(kinds, dtype=np.int64)
        self.summed = np.empty(kinds, dtype=np.intp)

    cdef void set_tied(self, const double* tied) noexcept nogil:
        """Take the scores of pairs; the pointer is kept."""
        self.tied = tied
        self.age += 1

    cdef void begin_graph(self) noexcept nogil:
        """Forget the pairs of the graph before, if kinds are numbered in a graph."""
        if not self.graphs.shares_kinds:
            self.age += 1

    cdef const double* scores_of(self, Py_ssize_t e) noexcept nogil:
        """Return the scores of an edge over its appearance, [first end, last end].

        Write their exponentials over the largest, the largest and the spread.
        """
        cdef Py_ssize_t f, j, k, n = self.graphs.n_labels, square = n * n
        cdef Py_ssize_t kind = self.graphs.edge_kind[e]
        cdef double* out = &self.pair_scores[kind * square]
        cdef double value, least
        cdef const int* place = &self.graphs.place[0]
        if self.has_scores[kind] == self.age:
            return out
        self.has_scores[kind] = self.age
        memset(out, 0, square * sizeof(double))
        for f in range(self.graphs.n_edge_features):
            value = self.graphs.edge_features[e, f] / self.graphs.appearance[e]
            if value == 0.0:
                continue
            for j in range(n):
                for k in range(n):
                    out[j * n + k] += value * self.tied[
                        f * self.graphs.n_pairs
                        + place[j * n + k if self.graphs.leaves[e] else k * n + j]
                    ]
        self.peaks[kind] = ops.extent(out, square, &least)
        self.spreads[kind] = self.peaks[kind] - least
        ops.exp(out, self.peaks[kind], &self.pair_exps[kind * square], square)
        return out

    cdef double settle(
        self, Py_ssize_t i, const double* local, double* node
    ) noexcept nogil:
        """Sweep over graph i until the marginals agree; write these of nodes.

        Return an upper bound of log Z_TRW, -inf if there is no labelling.
        """
        cdef Py_ssize_t n = self.graphs.n_labels
        cdef Py_ssize_t first = self.graphs.edge_offsets[i]
        cdef Py_ssize_t n_turns = (self.graphs.edge_offsets[i + 1] - first) * n
        cdef Py_ssize_t n_nodes = self.graphs.offsets[i + 1] - self.graphs.offsets[i]
        cdef double bound, new, apart
        cdef int sweep
        self.begin_graph()
        bound = self.sum_up(i, local)
        for sweep in range(self.graphs.most_sweeps):
            if bound == -INFINITY:
                break
            if n_turns > 0:
                memcpy(
                    &self.before[0], &self.graphs.turns[first, 0],
                    n_turns * sizeof(double),
                )
            apart = self.sum_down(i, node)
            if not apart > TOLERANCE * n_nodes or sweep == self.graphs.most_sweeps - 1:
                break
            new = self.sum_up(i, local)
            if new > bound + ROUNDING * fabs(bound):
                new = self.halve_turns(i, local, bound)
            bound = new
        return bound

    cdef double halve_turns(
        self, Py_ssize_t i, const double* local, double bound
    ) noexcept nogil:
        """Halve the way of the turns until the bound does not rise; return it."""
        cdef Py_ssize_t p, n = self.graphs.n_labels
        cdef Py_ssize_t first = self.graphs.edge_offsets[i]
        cdef double* turns = &self.graphs.turns[first, 0]
        cdef double new = INFINITY
        cdef int _halving
        for _halving in range(MOST_HALVINGS):
            for p in range((self.graphs.edge_offsets[i + 1] - first) * n):
                turns[p] = 0.5 * (turns[p] + self.before[p])
            new = self.sum_up(i, local)
            if new <= bound + ROUNDING * fabs(bound):
                break
        return new

    cdef double sum_up(self, Py_ssize_t i, const double* local) noexcept nogil:
        """Return the upper bound at the turns; write p(first end | last end)."""
        cdef Py_ssize_t step, e, k, n = self.graphs.n_labels
        cdef Py_ssize_t begin = self.graphs.offsets[i], end = self.graphs.offsets[i + 1]
        cdef double bound = 0.0, shift, rho
        cdef double* out
        memcpy(&self.inward[0], local, (end - begin) * n * sizeof(double))
        for step in range(begin, end):
            out = &self.inward[self.graphs.node[step] * n]
            if self.graphs.edge_bounds[step] == self.graphs.edge_bounds[step + 1]:
                bound += self.log_sum(out)
                continue
            memcpy(&self.total[0], out, n * sizeof(double))
            self.add_turns(step, &self.total[0])
            for e in range(
                self.graphs.edge_bounds[step], self.graphs.edge_bounds[step + 1]
            ):
                shift = self.sum_edge(
                    e, &self.pairs[(e - self.graphs.edge_offsets[i]) * n * n]
                )
                if shift == -INFINITY:
                    return shift
                rho = self.graphs.appearance[e]
                out = &self.inward[self.graphs.last_end[e] * n]
                for k in range(n):
                    out[k] += rho * (self.sums[k] + shift)
        return bound

    cdef double log_sum(self, const double* values) noexcept nogil:
        """Return log sum exp of a row."""
        cdef Py_ssize_t k, n = self.graphs.n_labels
        cdef double least, most = ops.extent(values, n, &least), value = 0.0
        if most == -INFINITY:
            return most
        for k in range(n):
            value += exp(values[k] - most)
        return most + log(value)

    cdef double sum_edge(self, Py_ssize_t e, double* pair) noexcept nogil:
        """Write p(first end | last end), and logarithms of sums over the first end.

        Return what is to be added to these, or -inf.
        """
        cdef Py_ssize_t j, k, n = self.graphs.n_labels
        cdef Py_ssize_t kind = self.graphs.edge_kind[e]
        cdef const double* scores = self.scores_of(e)
        cdef const double* exps = &self.pair_exps[kind * n * n]
        cdef double* row = &self.row[0]
        cdef double* sums = &self.sums[0]
        cdef double least, most
        for j in range(n):
            row[j] = self.total[j] - self.graphs.turns[e, j]
        most = ops.extent(row, n, &least)
        if most == -INFINITY:
            return most
        memset(sums, 0, n * sizeof(double))
        if self.spreads[kind] > LARGEST_SPREAD:
            return self.sum_wide_edge(scores, pair)
        for j in range(n):
            row[j] = exp(row[j] - most)
            for k in range(n):
                pair[j * n + k] = row[j] * exps[j * n + k]
                sums[k] += pair[j * n + k]
        for k in range(n):
            row[k] = 1.0 / sums[k]
            sums[k] = log(sums[k])
        for j in range(n):
            for k in range(n):
                pair[j * n + k] *= row[k]
        return most + self.peaks[kind]

    cdef double sum_wide_edge(
        self, const double* scores, double* pair
    ) noexcept nogil:
        """Do the same where exponentials have a maximum for each label."""
        cdef Py_ssize_t j, k, n = self.graphs.n_labels
        cdef double* row = &self.row[0]
        cdef double* sums = &self.sums[0]
        cdef double most
        for k in range(n):
            most = -INFINITY
            for j in range(n):
                most = max(most, row[j] + scores[j * n + k])
            for j in range(n):
                pair[j * n + k] = exp(row[j] + scores[j * n + k] - most)
                sums[k] += pair[j * n + k]
            for j in range(n):
                pair[j * n + k] /= sums[k]
            sums[k] = log(sums[k]) + most
        return 0.0

    cdef void add_turns(self, Py_ssize_t step, double* out) noexcept nogil:
        """Add the average of the turns of the edges of a step."""
        cdef Py_ssize_t e
        for e in range(
            self.graphs.edge_bounds[step], self.graphs.edge_bounds[step + 1]
        ):
            ops.axpy(
                self.graphs.appearance[e], &self.graphs.turns[e, 0], out,
                self.graphs.n_labels,
            )

    cdef double sum_down(self, Py_ssize_t i, double* node) noexcept nogil:
        """Write marginals of nodes, averages over trees, and turn edges to agree.

        Return sum_e rho_e KL(p_e || average) of the first ends, 0 where all agree.
        """
        cdef Py_ssize_t step, e, j, k, n = self.graphs.n_labels
        cdef Py_ssize_t begin = self.graphs.offsets[i]
        cdef Py_ssize_t first = self.graphs.edge_offsets[i]
        cdef double* own
        cdef double* share
        cdef const double* last
        cdef double apart = 0.0, largest
        for step in range(self.graphs.offsets[i + 1] - 1, begin - 1, -1):
            own = node + self.graphs.node[step] * n
            if self.graphs.edge_bounds[step] == self.graphs.edge_bounds[step + 1]:
                last = &self.inward[self.graphs.node[step] * n]
                largest = self.log_sum(last)
                for k in range(n):
                    own[k] = exp(last[k] - largest)
                continue
            memset(own, 0, n * sizeof(double))
            share = &self.shares[0]
            for e in range(
                self.graphs.edge_bounds[step], self.graphs.edge_bounds[step + 1]
            ):
                last = node + self.graphs.last_end[e] * n
                for j in range(n):
                    share[j] = ops.dot(
                        &self.pairs[((e - first) * n + j) * n], last, n
                    )
                ops.axpy(self.graphs.appearance[e], share, own, n)
                share += n
            apart += self.turn_edges(step, own)
        return apart

    cdef double turn_edges(
        self, Py_ssize_t step, const double* node
    ) noexcept nogil:
        """Turn the edges of a step by log p_e; return what `sum_down` sums."""
        cdef Py_ssize_t e, j, n = self.graphs.n_labels
        cdef Py_ssize_t begin = self.graphs.edge_bounds[step]
        cdef Py_ssize_t end = self.graphs.edge_bounds[step + 1]
        cdef const double* share = &self.shares[0]
        cdef double* turn
        cdef double apart = 0.0, own, largest
        if end - begin < 2:
            return 0.0
        memcpy(
            &self.total[0], &self.inward[self.graphs.node[step] * n], n * sizeof(double)
        )
        self.add_turns(step, &self.total[0])
        for e in range(begin, end):
            turn = &self.graphs.turns[e, 0]
            own, largest = 0.0, -INFINITY
            for j in range(n):
                # A label that is not possible is turned nowhere.
                if self.total[j] > -INFINITY:
                    turn[j] += log(max(share[j], SMALLEST)) - self.total[j]
                    largest = max(largest, turn[j])
                if share[j] > 0.0:
                    own += share[j] * log(share[j] / node[j])
            for j in range(n):
                turn[j] -= largest
            apart += self.graphs.appearance[e] * own
            share += n
        return apart

    cdef void join(self, Py_ssize_t i, const double* node) noexcept nogil:
        """Make of p(first end | last end) marginals that agree with those of nodes."""
        cdef Py_ssize_t e, j, k, n = self.graphs.n_labels
        cdef Py_ssize_t first = self.graphs.edge_offsets[i]
        cdef double* pair = &self.pairs[0]
        cdef const double* last
        for e in range(first, self.graphs.edge_offsets[i + 1]):
            last = node + self.graphs.last_end[e] * n
            for j in range(n):
                for k in range(n):
                    pair[j * n + k] *= last[k]
            make_consistent(
                pair, node + self.graphs.first_end[e] * n, last, n, &self.sums[0]
            )
            pair += n * n

    cdef double entropy(self, Py_ssize_t i, const double* node) noexcept nogil:
        """Return H_TRW of consistent marginals, after `join`."""
        cdef Py_ssize_t e, v, n = self.graphs.n_labels
        cdef Py_ssize_t first = self.graphs.edge_offsets[i]
        cdef Py_ssize_t begin = self.graphs.offsets[i]
        cdef double value = 0.0
        for e in range(first, self.graphs.edge_offsets[i + 1]):
            value -= self.graphs.appearance[e] * vxlogx(
                doubles(&self.pairs[(e - first) * n * n]), n * n
            )
        for v in range(self.graphs.offsets[i + 1] - begin):
            value -= self.graphs.counting[begin + v] * vxlogx(
                doubles(node + v * n), n
            )
        return value

    cdef double inner(
        self, Py_ssize_t i, const double* node, const double* local
    ) noexcept nogil:
        """Return <mu, scores>, after `join`; what has probability 0 does not count."""
        cdef Py_ssize_t e, p, square = self.graphs.n_labels * self.graphs.n_labels
        cdef Py_ssize_t first = self.graphs.edge_offsets[i]
        cdef Py_ssize_t n_nodes = self.graphs.offsets[i + 1] - self.graphs.offsets[i]
        cdef double value = 0.0
        for p in range(n_nodes * self.graphs.n_labels):
            if node[p] > 0.0:
                value += node[p] * local[p]
        for e in range(first, self.graphs.edge_offsets[i + 1]):
            value += self.graphs.appearance[e] * ops.dot(
                &self.pairs[(e - first) * square], self.scores_of(e), square
            )
        return value

    cdef void add_tied(self, Py_ssize_t i, double weight, double* out) noexcept nogil:
        """Add weight times marginals of edges times their features, after `join`."""
        cdef Py_ssize_t e, f, j, k, s, kind, n = self.graphs.n_labels, square = n * n
        cdef Py_ssize_t first = self.graphs.edge_offsets[i], n_summed = 0
        cdef double value
        cdef const double* own
        cdef const int* place = &self.graphs.place[0]
        self.turn += 1
        for e in range(first, self.graphs.edge_offsets[i + 1]):
            kind = self.graphs.edge_kind[e]
            if self.has_sums[kind] != self.turn:
                self.has_sums[kind] = self.turn
                self.summed[n_summed] = e
                n_summed += 1
                memset(&self.pair_sums[kind * square], 0, square * sizeof(double))
            ops.axpy(
                1.0, &self.pairs[(e - first) * square], &self.pair_sums[kind * square],
                square,
            )
        for s in range(n_summed):
            e = self.summed[s]
            own = &self.pair_sums[self.graphs.edge_kind[e] * square]
            for f in range(self.graphs.n_edge_features):
                value = weight * self.graphs.edge_features[e, f]
                if value == 0.0:
                    continue
                for j in range(n):
                    for k in range(n):
                        out[
                            f * self.graphs.n_pairs
                            + place[j * n + k if self.graphs.leaves[e] else k * n + j]
                        ] += value * own[j * n + k]

    cdef void write_parts(self, Py_ssize_t i, const double* node) noexcept nogil:
        """Write marginals times how often they count: tables, and those counted off.

        So H_TRW is the entropy of tables less that of messages, and a constant.
        """
        cdef Py_ssize_t e, p, v, n = self.graphs.n_labels, square = n * n
        cdef Py_ssize_t first = self.graphs.edge_offsets[i]
        cdef Py_ssize_t begin = self.graphs.offsets[i]
        cdef double count
        cdef double* out
        for e in range(first, self.graphs.edge_offsets[i + 1]):
            out = &self.tables[(e - first) * square]
            for p in range(square):
                out[p] = self.graphs.appearance[e] * self.pairs[
                    (e - first) * square + p
                ]
        for v in range(self.graphs.offsets[i + 1] - begin):
            count = self.graphs.counting[begin + v]
            if count == 0.0:
                continue
            out = &self.tables[0] if count > 0.0 else &self.messages[0]
            out += self.graphs.marginal_at[begin + v]
            for p in range(n):
                out[p] = fabs(count) * node[v * n + p]


cdef void make_consistent(
    double* pair, const double* first, const double* last, Py_ssize_t n, double* sums
) noexcept nogil:
    """Give the marginals of an edge, positive, those of its ends, which sum to 1.

    Rows and columns are scaled; what is left is added, and the sum is mixed with the
    product of the ends until nothing is negative. ``sums`` is a buffer of n numbers.
    """
    cdef Py_ssize_t j, k
    cdef double own, base, mix = INFINITY
    if scale_ends(pair, first, last, n, sums):
        return
    # What columns lack is added to rows in equal shares, and then what rows lack.
    memset(sums, 0, n * sizeof(double))
    for j in range(n):
        ops.axpy(1.0, pair + j * n, sums, n)
    for j in range(n):
        own = 0.0
        for k in range(n):
            pair[j * n + k] += first[j] * (last[k] - sums[k])
            own += pair[j * n + k]
        for k in range(n):
            pair[j * n + k] += last[k] * (first[j] - own)
            if pair[j * n + k] < 0.0:
                base = first[j] * last[k]
                mix = min(mix, base / (base - pair[j * n + k]))
    # It is 1 where what is negative is less than the rounding of the product.
    if mix <= 1.0:
        for j in range(n):
            for k in range(n):
                base = first[j] * last[k]
                pair[j * n + k] = max(base + mix * (pair[j * n + k] - base), 0.0)


cdef bint scale_ends(
    double* pair, const double* first, const double* last, Py_ssize_t n, double* sums
) noexcept nogil:
    """Scale rows and columns to sums; return whether that was enough."""
    cdef Py_ssize_t j, k
    cdef int _scaling
    cdef double own, apart
    for _scaling in range(MOST_SCALINGS):
        apart = 0.0
        memset(sums, 0, n * sizeof(double))
        for j in range(n):
            own = 0.0
            for k in range(n):
                own += pair[j * n + k]
            apart = max(apart, fabs(own - first[j]))
            own = first[j] / own if own > 0.0 else 0.0
            for k in range(n):
                pair[j * n + k] *= own
                sums[k] += pair[j * n + k]
        for k in range(n):
            apart = max(apart, fabs(sums[k] - last[k]))
            sums[k] = last[k] / sums[k] if sums[k] > 0.0 else 0.0
        for j in range(n):
            for k in range(n):
                pair[j * n + k] *= sums[k]
        if apart <= CONSISTENT:
            return True
    return False
