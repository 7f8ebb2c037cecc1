# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True
"""Inference on many chains laid end to end: full passes, for Python to call.

Chain i has the positions offsets[i]:offsets[i + 1] and the edges
edge_offsets[i]:edge_offsets[i + 1]. Every function treats the chains begin <= i < end
without the GIL, so that threads can share the arrays.
"""

from cython.view cimport array as cython_array

from libc.math cimport INFINITY

from ._chain cimport Workspace, forward_backward, log_partition, viterbi
from ._transitions cimport TransitionLayout
from ._vecmath cimport Stored, doubles, ops, vfollow, vxlogx

from ._transitions import all_transitions

import numpy as np

ctypedef fused real:
    float
    double


cdef const double* row_pointer(const double[:, ::1] rows) noexcept nogil:
    """Return the address of the rows, NULL if there are none."""
    return &rows[0, 0] if rows.shape[0] > 0 else NULL


cdef class ChainScores:
    """The scores of chains laid end to end, and the paths that are allowed.

    Parameters
    ----------
    node_scores : ndarray of shape (N, K)
    transition : ndarray of shape layout.shape
        By default (K, K).
    offsets : ndarray of shape (n + 1,), int64
    constraints : tuple, default=None
        See `Workspace`; by default a transition score of -inf forbids.
    layout : TransitionLayout, default=None
        The pairs of labels that transition scores are of; by default all.

    Raises
    ------
    ValueError
        If the layout is of other numbers of labels or pairs.
    """

    def __init__(
        self, node_scores, transition, offsets, constraints=None, layout=None
    ):
        self.node_scores, self.transition = node_scores, transition
        self.offsets = offsets
        self.n_labels = node_scores.shape[1]
        self.layout = all_transitions(self.n_labels) if layout is None else layout
        shape = self.layout.shape
        if self.layout.n_labels != self.n_labels or transition.shape != shape:
            raise ValueError(
                f"transition is of shape {transition.shape}; {self.n_labels} labels "
                f"need {shape}"
            )
        self.between, self.bounds = transition.reshape(-1), offsets
        self.scores = row_pointer(node_scores)
        if constraints is None:
            allowed = self.layout.expand(np.asarray(transition) != -np.inf, False)
            if not allowed.all():
                anywhere = np.ones(self.n_labels, dtype=bool)
                constraints = anywhere, anywhere, allowed
        self.constraints = constraints

    def __len__(self):
        """Return the number of chains."""
        return len(self.offsets) - 1

    cdef double score_between(self, Py_ssize_t j, Py_ssize_t k) noexcept nogil:
        """Return the score of a transition, -inf if there is no such pair."""
        cdef Py_ssize_t place = self.layout.place(j, k)
        return self.between[place] if place >= 0 else -INFINITY

    cdef const double* row(self, Py_ssize_t i) noexcept nogil:
        """Return the node scores of chain i."""
        return self.scores + self.bounds[i] * self.n_labels

    cdef Py_ssize_t length(self, Py_ssize_t i) noexcept nogil:
        """Return the number of positions of chain i."""
        return self.bounds[i + 1] - self.bounds[i]

    cdef Workspace workspace(self, Py_ssize_t begin, Py_ssize_t end):
        """Return a workspace for the chains begin <= i < end, with the transitions."""
        cdef Py_ssize_t i, longest = 0
        cdef Workspace work
        for i in range(begin, end):
            longest = max(longest, self.length(i))
        work = Workspace(longest, self.n_labels, self.constraints, self.layout)
        work.set_transition(&self.between[0])
        return work


def log_partitions(
    ChainScores chains, Py_ssize_t begin, Py_ssize_t end,
    double[::1] values,                     # out, (n,)
):
    """Write log Z of the chains begin <= i < end."""
    cdef Py_ssize_t i
    cdef Workspace work = chains.workspace(begin, end)
    with nogil:
        for i in range(begin, end):
            values[i] = log_partition(work, chains.row(i), chains.length(i))


def marginals(
    ChainScores chains, Py_ssize_t begin, Py_ssize_t end,
    double[:, ::1] node,                    # out, (N, K)
    double[::1] values,                     # out, (n,)
    *,
    const long long[::1] edge_offsets=None,     # in, (n + 1,)
    double[:, ::1] edge=None,                   # out, (M, pairs)
    const double[::1] weight=None,              # in, (n,)
    double[::1] edge_total=None,                # in, out, (pairs,)
    double[:, ::1] edge_sums=None,              # out, (n, pairs)
    bint log_node=False,
):
    """Write the node marginals and log Z of the chains begin <= i < end.

    The edge marginals are written to ``edge``, their sum over each chain to
    ``edge_sums``, or weight[i] times it added to ``edge_total``, where these are given.
    With ``log_node`` the node marginals are written as logarithms.
    """
    cdef Py_ssize_t i, n = chains.n_labels, n_pairs = chains.layout.size
    cdef Workspace work = chains.workspace(begin, end)
    cdef double[::1] edge_sum = cython_array((n_pairs,), sizeof(double), "d")
    cdef double* node_out = <double*> row_pointer(node)
    cdef double* edge_out = NULL
    cdef double* sum_out = NULL if edge_total is None else &edge_sum[0]
    work.log_node = log_node
    with nogil:
        for i in range(begin, end):
            if edge is not None and chains.length(i) > 1:
                edge_out = &edge[edge_offsets[i], 0]
            if edge_sums is not None:
                sum_out = &edge_sums[i, 0]
            values[i] = forward_backward(
                work, chains.row(i), chains.length(i),
                node_out + chains.bounds[i] * n, edge_out, sum_out,
            )
            if edge_total is not None:
                ops.axpy(weight[i], sum_out, &edge_total[0], n_pairs)


def renormalize(
    double[:, ::1] node,                    # in, out, (N, K)
    const real[:, ::1] edge,                # in, (M, pairs)
    TransitionLayout layout,
    const long long[::1] offsets,           # in, (n + 1,)
    const long long[::1] edge_offsets,      # in, (n + 1,)
    const double[::1] weight,               # in, (n,)
    Py_ssize_t begin, Py_ssize_t end,
    double[::1] edge_total,                 # in, out, (pairs,)
    double[::1] values,                     # out, (n,)
):
    """Write the nodes, but the first, of the Markov chains that the edges define.

    For the chains begin <= i < end; weight[i] times the edges of each are added to
    ``edge_total``, and the entropies are written. With

        q_t[j, k] = node_{t-1}[j] edge_t[j, k] / sum_k edge_t[j, k],
        node_t[k] = sum_j q_t[j, k]

    nodes and edges agree to the last digits, although the edges were rounded when they
    were stored.
    """
    cdef Py_ssize_t i, t, length, n = node.shape[1]
    cdef double[::1] q = cython_array((layout.size,), sizeof(double), "d")
    cdef double[::1] sums = cython_array((n,), sizeof(double), "d")
    cdef const real* edge_in
    cdef double* before
    with nogil:
        for i in range(begin, end):
            length = offsets[i + 1] - offsets[i]
            values[i] = 0.0
            if length == 1:
                values[i] = -vxlogx(doubles(&node[offsets[i], 0]), n)
            for t in range(length - 1):
                edge_in = &edge[edge_offsets[i] + t, 0]
                before = &node[offsets[i] + t, 0]
                if t > 0:
                    values[i] += vxlogx(doubles(before), n)
                if layout.is_dense:
                    vfollow(
                        Stored(<void*> edge_in, real is float), before, n, &q[0],
                        before + n,
                    )
                else:
                    follow(layout, edge_in, before, &sums[0], &q[0], before + n)
                values[i] -= vxlogx(doubles(&q[0]), layout.size)
                ops.axpy(weight[i], &q[0], &edge_total[0], layout.size)


# The twin of the kernel of all pairs, see vecmath.h.
cdef void follow(
    TransitionLayout layout,
    const real* edge,                       # in, (pairs,)
    const double* before,                   # in, (K,)
    double* factor,                         # (K,)
    double* out,                            # out, (pairs,)
    double* to,                             # out, (K,)
) noexcept nogil:
    """Write the edge and the node after it."""
    cdef Py_ssize_t p, k
    for k in range(layout.n_labels):
        factor[k] = to[k] = 0.0
    for p in range(layout.size):
        factor[layout.from_labels[p]] += edge[p]
    for k in range(layout.n_labels):
        factor[k] = before[k] / factor[k] if factor[k] > 0.0 else 0.0
    for p in range(layout.size):
        out[p] = factor[layout.from_labels[p]] * edge[p]
        to[layout.to_labels[p]] += out[p]


def path_scores(
    ChainScores chains,
    const int[::1] paths,                   # in, (N,) labels
    double[::1] values,                     # out, (n,)
):
    """Write the score of one path of every chain."""
    cdef Py_ssize_t i, t, n = chains.n_labels
    cdef double value
    with nogil:
        for i in range(values.shape[0]):
            value = 0.0
            for t in range(chains.bounds[i], chains.bounds[i + 1]):
                value += chains.scores[t * n + paths[t]]
                if t > chains.bounds[i]:
                    value += chains.score_between(paths[t - 1], paths[t])
            values[i] = value


def best_paths(
    ChainScores chains, Py_ssize_t begin, Py_ssize_t end,
    int[::1] paths,                         # out, (N,)
    double[::1] values,                     # out, (n,)
):
    """Write the best paths and their scores, for the chains begin <= i < end."""
    cdef Py_ssize_t i
    cdef Workspace work = chains.workspace(begin, end)
    cdef int* first = &paths[0] if paths.shape[0] > 0 else NULL
    with nogil:
        for i in range(begin, end):
            values[i] = viterbi(
                work, chains.row(i), chains.length(i), first + chains.bounds[i]
            )
