"""Marginals of the cliques and edges of many graphs: full passes, as in _passes.pyx."""

from libc.math cimport INFINITY

from ._elimination cimport Workspace
from ._graph_inference cimport GraphInference
from ._junction_tree cimport JunctionTrees
from ..math._math cimport total
from ._passes cimport Items
from ..math._vecmath cimport start_of

import numpy as np

ctypedef fused real:
    float
    double


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
    real[::1] tables,                       # in, out: of all graphs
    double[::1] messages,                   # out: of all graphs
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
    cdef double* out = <double*> rows_pointer(node)
    cdef double* row
    with nogil:
        for i in range(begin):
            first_table += trees.n_in_tables[i]
            first_message += trees.n_messages[i]
        for i in range(begin, end):
            work.is_scaled = False
            for r in range(trees.n_messages[i]):
                row = &work.tables[r * n]
                for k in range(n):
                    row[k] = tables[first_table + r * n + k]
                divide_by_sum(row, n)
            work.sum_down(i, True, out + trees.offsets[i] * n, NULL)
            for r in range(trees.n_in_tables[i]):
                tables[first_table + r] = <real> work.tables[r]
            for r in range(trees.n_messages[i]):
                messages[first_message + r] = work.messages[r]
            entropy[i] = work.entropy(i)
            tied[i, :] = 0.0
            work.add_tied(1.0, <double*> rows_pointer(tied[i:]))
            work.add_tied(weight[i], start_of(tied_total))
            first_table += trees.n_in_tables[i]
            first_message += trees.n_messages[i]


cdef inline void divide_by_sum(double* row, Py_ssize_t n) noexcept nogil:
    """Divide numbers by their sum; zeros become a uniform distribution."""
    cdef Py_ssize_t k
    cdef double sum_of_row = total(row, n)
    for k in range(n):
        row[k] = row[k] / sum_of_row if sum_of_row > 0.0 else 1.0 / n


def edge_marginals(
    scores,
    double[:, :, ::1] edges,                # out, (their edges, K, K)
):
    """Write the marginals of edges of all graphs, in the order of the steps.

    A graph without a possible labelling has none, and its edges are not written.
    """
    cdef Py_ssize_t i, first, square
    cdef Items items = Items(scores, 0, len(scores))
    cdef GraphInference inference = items.inference
    cdef double[::1] node = np.empty(inference.most_local)
    square = inference.n_labels * inference.n_labels
    if edges.shape[0] == 0:
        return
    first = inference.joined.edge_offsets[inference.first_graph]
    with nogil:
        for i in range(inference.offsets.shape[0] - 1):
            if items.take(i) and inference.log_partition(items.scores) != -INFINITY:
                inference.workspace.sum_down(
                    inference.graph, False, &node[0], &edges[0, 0, 0] + square * (
                        inference.joined.edge_offsets[inference.graph] - first
                    ),
                )


def mix_cliques(
    scores,
    double keep,
    const long long[::1] bounds,            # in, of the tables of each graph
    real[::1] tables,                       # in, out: of all graphs
):
    """Write keep times the marginals plus 1 - keep times the marginals of scores."""
    cdef Py_ssize_t i, r
    cdef Items items = Items(scores, 0, len(scores))
    cdef GraphInference inference = items.inference
    cdef Workspace work = inference.workspace
    cdef double[::1] node = np.empty(inference.most_local)
    cdef real* table
    with nogil:
        for i in range(inference.offsets.shape[0] - 1):
            if not items.take(i):
                continue
            inference.log_partition(items.scores)
            work.sum_down(inference.graph, True, &node[0], NULL)
            table = &tables[bounds[inference.graph]]
            for r in range(inference.workspace.trees.n_in_tables[inference.graph]):
                table[r] = <real> (
                    keep * table[r] + (1.0 - keep) * work.tables[r]
                )


cdef const double* rows_pointer(const double[:, ::1] rows) noexcept nogil:
    """Return the address of the rows, NULL if there are no numbers."""
    return &rows[0, 0] if rows.shape[0] > 0 and rows.shape[1] > 0 else NULL
