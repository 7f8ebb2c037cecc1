# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True
"""Loops over many graphs laid end to end: the recursions of _elimination.pyx."""

from libc.math cimport INFINITY
from libc.string cimport memset

from ._elimination cimport Workspace
from ._junction_tree cimport JunctionTrees
from ._math cimport total
from ._vecmath cimport start_of

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
    cdef double* out = <double*> rows_pointer(node)
    cdef double* row
    cdef double sum_of_row
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
                sum_of_row = total(row, n)
                for k in range(n):
                    row[k] = row[k] / sum_of_row if sum_of_row > 0.0 else 1.0 / n
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
        work.set_tied(start_of(tied))
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
        work.set_tied(start_of(tied))
        for i in range(begin, end):
            place = at(trees, begin, i)
            values[i - begin] = work.sum_up(i, first + place)
            if with_edges:
                edge_out = &edges[0, 0, 0] + square * (
                    trees.edge_offsets[i] - trees.edge_offsets[begin]
                )
            if values[i - begin] == -INFINITY:
                # Nothing is possible: there is no distribution.
                memset(
                    out + place, 0, trees.length(i) * trees.n_labels * sizeof(double)
                )
                continue
            work.sum_down(i, False, out + place, edge_out)
            if tied_total is not None:
                work.add_tied(weight[i - begin], start_of(tied_total))
            if tied_sums is not None:
                tied_sums[i - begin, :] = 0.0
                work.add_tied(1.0, <double*> rows_pointer(tied_sums[i - begin :]))


def mix_cliques(
    JunctionTrees trees,
    const double[:, ::1] local,             # in, (their nodes, K)
    const double[::1] tied,                 # in, (n_tied,)
    Py_ssize_t begin, Py_ssize_t end,
    double keep,
    real[::1] tables,                       # in, out: those of all graphs
):
    """Write keep times the marginals of cliques and 1 - keep times those of scores."""
    cdef Py_ssize_t i, r
    cdef long long first = 0
    cdef Workspace work = Workspace(trees, begin, end)
    cdef const double* scores = rows_pointer(local)
    cdef double[:, ::1] node = np.empty((local.shape[0] + 1, trees.n_labels))
    with nogil:
        work.set_tied(start_of(tied))
        for i in range(begin):
            first += trees.n_in_tables[i]
        for i in range(begin, end):
            work.sum_up(i, scores + at(trees, begin, i))
            work.sum_down(i, True, &node[0, 0] + at(trees, begin, i), NULL)
            for r in range(trees.n_in_tables[i]):
                tables[first + r] = <real> (
                    keep * tables[first + r] + (1.0 - keep) * work.tables[r]
                )
            first += trees.n_in_tables[i]


def draws(
    JunctionTrees trees,
    const double[:, ::1] local,             # in, (their nodes, K)
    const double[::1] tied,                 # in, (n_tied,)
    Py_ssize_t begin, Py_ssize_t end,
    const double[:, ::1] uniform,           # in, (their nodes, n_draws), in [0, 1)
    int[:, ::1] paths,                      # out, (n_draws, their nodes)
):
    """Draw labellings of the graphs begin <= i < end, from as many random numbers."""
    cdef Py_ssize_t i, first, draw
    cdef Workspace work = Workspace(trees, begin, end)
    cdef const double* scores = rows_pointer(local)
    with nogil:
        work.set_tied(start_of(tied))
        for i in range(begin, end):
            if trees.length(i) == 0:
                continue
            first = trees.offsets[i] - trees.offsets[begin]
            work.sum_up(i, scores + first * trees.n_labels)
            for draw in range(uniform.shape[1]):
                work.draw(
                    i, &uniform[first, draw], uniform.shape[1], &paths[draw, first]
                )


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
        work.set_tied(start_of(tied))
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
                value += trees.edge_score(e, path + first, start_of(tied))
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
                    e, path + trees.offsets[i], weight[i],
                    <double*> rows_pointer(out[i if each else 0 :]),
                )


cdef const double* rows_pointer(const double[:, ::1] rows) noexcept nogil:
    """Return the address of the rows, NULL if there are no numbers."""
    return &rows[0, 0] if rows.shape[0] > 0 and rows.shape[1] > 0 else NULL


cdef Py_ssize_t at(JunctionTrees trees, Py_ssize_t begin, Py_ssize_t i) noexcept nogil:
    """Return where the scores of graph i begin, those of ``begin`` first."""
    return (trees.offsets[i] - trees.offsets[begin]) * trees.n_labels
