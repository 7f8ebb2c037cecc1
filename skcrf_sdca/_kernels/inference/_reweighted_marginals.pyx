"""Marginals of nodes and edges of many graphs by tree-reweighted sums: full passes.

The tables and messages of `write_parts` are of all graphs, end to end.
"""

from libc.math cimport INFINITY

from ..math._math cimport total
from ..math._vecmath cimport start_of
from ._passes cimport Items
from ._reweighted cimport ReweightedGraphs, Sweeps, make_consistent
from ._reweighted_inference cimport ReweightedInference

import numpy as np

ctypedef fused real:
    float
    double


def renormalize(
    ReweightedGraphs graphs,
    Py_ssize_t begin, Py_ssize_t end,
    const double[::1] weight,               # in, (n,)
    tuple bounds,                           # of tables and messages, (n + 1,) each
    real[::1] tables,                       # in, out: of all graphs
    double[::1] messages,                   # out: of all graphs
    double[:, ::1] node,                    # in, out, (N, K)
    double[:, ::1] tied,                    # out, (n, n_tied)
    double[::1] tied_total,                 # in, out, (n_tied,)
    double[::1] entropy,                    # out, (n,)
):
    """Make marginals consistent that rounding has moved, for begin <= i < end.

    The marginals of nodes are kept. Writes what follows from these and the edges, and
    adds weight[i] times the tied expectations to their total.
    """
    cdef Py_ssize_t i, p, v, k, n = graphs.n_labels
    cdef const long long[::1] table_bounds, message_bounds
    cdef Sweeps sweeps = Sweeps(graphs, begin, end)
    cdef double sum_of_row
    cdef double* own
    table_bounds, message_bounds = bounds
    with nogil:
        for i in range(begin, end):
            tied[i, :] = 0.0
            entropy[i] = 0.0
            if graphs.offsets[i] == graphs.offsets[i + 1]:
                continue
            own = &node[graphs.offsets[i], 0]
            for v in range(graphs.offsets[i + 1] - graphs.offsets[i]):
                sum_of_row = total(own + v * n, n)
                for k in range(n):
                    own[v * n + k] /= sum_of_row
            if table_bounds[i] < table_bounds[i + 1]:
                take_edges(sweeps, i, own, &tables[table_bounds[i]])
            sweeps.write_parts(i, own)
            for p in range(table_bounds[i + 1] - table_bounds[i]):
                tables[table_bounds[i] + p] = <real> sweeps.tables[p]
            for p in range(message_bounds[i + 1] - message_bounds[i]):
                messages[message_bounds[i] + p] = sweeps.messages[p]
            entropy[i] = sweeps.entropy(i, own)
            if graphs.n_tied > 0:
                sweeps.add_tied(i, 1.0, &tied[i, 0])
                sweeps.add_tied(i, weight[i], start_of(tied_total))


cdef void take_edges(
    Sweeps sweeps, Py_ssize_t i, const double* node, const real* table
) noexcept nogil:
    """Take the marginals of edges from a table, in agreement with those of nodes."""
    cdef Py_ssize_t e, p, n = sweeps.graphs.n_labels
    cdef double* pair = &sweeps.pairs[0]
    for e in range(
        sweeps.graphs.edge_offsets[i], sweeps.graphs.edge_offsets[i + 1]
    ):
        for p in range(n * n):
            pair[p] = table[p] / sweeps.graphs.appearance[e]
        make_consistent(
            pair, node + sweeps.graphs.first_end[e] * n,
            node + sweeps.graphs.last_end[e] * n, n, &sweeps.sums[0],
        )
        pair += n * n
        table += n * n


def edge_marginals(
    scores,
    double[:, :, ::1] edges,                # out, (their edges, K, K): [from, to]
):
    """Write the marginals of edges of all graphs, in the order of the steps.

    A graph without a possible labelling has none, and its edges are not written.
    """
    cdef Py_ssize_t i, e, j, k, at, first
    cdef Items items = Items(scores, 0, len(scores))
    cdef ReweightedInference inference = items.inference
    cdef Sweeps sweeps = inference.sweeps
    cdef ReweightedGraphs graphs = sweeps.graphs
    cdef Py_ssize_t n = graphs.n_labels
    cdef double* node = &inference.node_buffer[0]
    cdef const double* pair
    if edges.shape[0] == 0:
        return
    first = graphs.edge_offsets[inference.first_graph]
    with nogil:
        for i in range(inference.offsets.shape[0] - 1):
            if not items.take(i):
                continue
            if inference.log_partition(items.scores) == -INFINITY:
                continue
            sweeps.join(inference.graph, node)
            at = graphs.edge_offsets[inference.graph]
            for e in range(at, graphs.edge_offsets[inference.graph + 1]):
                pair = &sweeps.pairs[(e - at) * n * n]
                for j in range(n):
                    for k in range(n):
                        edges[e - first, j, k] = pair[
                            j * n + k if graphs.leaves[e] else k * n + j
                        ]


def mix_cliques(
    scores,
    double keep,
    const long long[::1] bounds,            # in, of the tables of each graph
    real[::1] tables,                       # in, out: of all graphs
    double[:, ::1] nodes,                   # in, out: of all graphs
):
    """Write keep times the marginals plus 1 - keep times the marginals of scores."""
    cdef Py_ssize_t i, p
    cdef Items items = Items(scores, 0, len(scores))
    cdef ReweightedInference inference = items.inference
    cdef Sweeps sweeps = inference.sweeps
    cdef double* node = &inference.node_buffer[0]
    cdef double* own
    cdef real* table
    with nogil:
        for i in range(inference.offsets.shape[0] - 1):
            if not items.take(i):
                continue
            inference.log_partition(items.scores)
            sweeps.join(inference.graph, node)
            sweeps.write_parts(inference.graph, node)
            table = &tables[bounds[inference.graph]]
            for p in range(bounds[inference.graph + 1] - bounds[inference.graph]):
                table[p] = <real> (keep * table[p] + (1.0 - keep) * sweeps.tables[p])
            own = &nodes[sweeps.graphs.offsets[inference.graph], 0]
            for p in range(inference.n_local):
                own[p] = keep * own[p] + (1.0 - keep) * node[p]


def maxima(
    scores, Py_ssize_t begin, Py_ssize_t end,
    double[::1] values,                     # out, (n,)
    double[::1] bounds,                     # out, (n,)
):
    """Write the scores of the labellings of `argmax`, and bounds of all scores."""
    cdef Py_ssize_t i
    cdef Items items = Items(scores, begin, end, False)
    cdef ReweightedInference inference = items.inference
    cdef int[::1] labels = np.empty(inference.longest, dtype=np.intc)
    with nogil:
        for i in range(begin, end):
            values[i] = bounds[i] = 0.0
            if items.take(i):
                values[i] = inference.argmax(items.scores, &labels[0])
                bounds[i] = inference.maximiser.bound
