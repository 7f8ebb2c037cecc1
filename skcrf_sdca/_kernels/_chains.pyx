# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True
"""Inference on many chains laid end to end: full passes, for Python to call.

Chain i has the positions offsets[i]:offsets[i + 1] and the edges
edge_offsets[i]:edge_offsets[i + 1]. Every function treats the chains begin <= i < end
without the GIL, so that threads can share the arrays.
"""

from cython.view cimport array as cython_array
from libc.string cimport memcpy

from ._chain cimport Workspace, forward_backward, log_partition, viterbi
from ._vecmath cimport Stored, axpy, doubles, skip, vfollow, vxlogx

import numpy as np

ctypedef fused real:
    float
    double


cdef const double* row_pointer(const double[:, ::1] rows) noexcept nogil:
    """Return the address of the rows, NULL if there are none."""
    return &rows[0, 0] if rows.shape[0] > 0 else NULL


def log_partitions(
    const double[:, ::1] node_scores,       # in, (N, K)
    const double[:, ::1] transition,        # in, (K, K)
    const long long[::1] offsets,           # in, (n + 1,)
    Py_ssize_t begin, Py_ssize_t end,
    double[::1] values,                     # out, (n,)
):
    """Write log Z of the chains begin <= i < end."""
    cdef Py_ssize_t i, n = transition.shape[0]
    cdef Workspace work = workspace_for(offsets, begin, end, transition)
    cdef const double* scores = row_pointer(node_scores)
    with nogil:
        work.set_transition(&transition[0, 0])
        for i in range(begin, end):
            values[i] = log_partition(
                work, scores + offsets[i] * n, offsets[i + 1] - offsets[i]
            )


def marginals(
    const double[:, ::1] node_scores,       # in, (N, K)
    const double[:, ::1] transition,        # in, (K, K)
    const long long[::1] offsets,           # in, (n + 1,)
    const long long[::1] edge_offsets,      # in, (n + 1,)
    Py_ssize_t begin, Py_ssize_t end,
    double[:, ::1] node,                    # out, (N, K)
    double[:, :, ::1] edge,                 # out, (M, K, K)
    double[::1] values,                     # out, (n,)
):
    """Write the marginals and log Z of the chains begin <= i < end."""
    cdef Py_ssize_t i, n = transition.shape[0]
    cdef Workspace work = workspace_for(offsets, begin, end, transition)
    cdef const double* scores = row_pointer(node_scores)
    cdef double* node_out = <double*> row_pointer(node)
    cdef double* edge_out = &edge[0, 0, 0] if edge.shape[0] > 0 else NULL
    with nogil:
        work.set_transition(&transition[0, 0])
        for i in range(begin, end):
            values[i] = forward_backward(
                work, scores + offsets[i] * n, offsets[i + 1] - offsets[i],
                node_out + offsets[i] * n, edge_out + edge_offsets[i] * n * n, NULL,
            )


def node_marginals(
    const double[:, ::1] node_scores,       # in, (N, K)
    const double[:, ::1] transition,        # in, (K, K)
    const long long[::1] offsets,           # in, (n + 1,)
    Py_ssize_t begin, Py_ssize_t end,
    double[:, ::1] node,                    # out, (N, K)
    double[::1] values,                     # out, (n,)
):
    """Write the node marginals and log Z of the chains begin <= i < end."""
    cdef Py_ssize_t i, n = transition.shape[0]
    cdef Workspace work = workspace_for(offsets, begin, end, transition)
    cdef const double* scores = row_pointer(node_scores)
    cdef double* node_out = <double*> row_pointer(node)
    with nogil:
        work.set_transition(&transition[0, 0])
        for i in range(begin, end):
            values[i] = forward_backward(
                work, scores + offsets[i] * n, offsets[i + 1] - offsets[i],
                node_out + offsets[i] * n, NULL, NULL,
            )


def expectations(
    const double[:, ::1] node_scores,       # in, (N, K)
    const double[:, ::1] transition,        # in, (K, K)
    const long long[::1] offsets,           # in, (n + 1,)
    const double[::1] weight,               # in, (n,)
    Py_ssize_t begin, Py_ssize_t end,
    double[:, ::1] node,                    # out, (N, K)
    double[:, ::1] edge_total,              # in, out, (K, K)
    double[::1] values,                     # out, (n,)
):
    """Write node marginals and log Z of the chains begin <= i < end, and add weight[i]
    times the sum of the edge marginals of each to ``edge_total``.
    """
    cdef Py_ssize_t i, n = transition.shape[0]
    cdef Workspace work = workspace_for(offsets, begin, end, transition)
    cdef double[:, ::1] edge_sum = cython_array(
        shape=(n, n), itemsize=sizeof(double), format="d"
    )
    cdef const double* scores = row_pointer(node_scores)
    cdef double* node_out = <double*> row_pointer(node)
    with nogil:
        work.set_transition(&transition[0, 0])
        for i in range(begin, end):
            values[i] = forward_backward(
                work, scores + offsets[i] * n, offsets[i + 1] - offsets[i],
                node_out + offsets[i] * n, NULL, &edge_sum[0, 0],
            )
            axpy(weight[i], &edge_sum[0, 0], &edge_total[0, 0], n * n)


# The edges of a chain mean the Markov chain that begins with the first node and goes
# from label to label in the proportions of each row: with edges that were rounded when
# they were stored, these are marginals that agree to the last digits all the same,
#     q_t[j, k] = node_{t-1}[j] edge_t[j, k] / sum_k edge_t[j, k],
#     node_t[k] = sum_j q_t[j, k].
cdef class Follower:
    """Goes along the edges of chains, one by one."""

    cdef Py_ssize_t n
    cdef double[:, ::1] node            # (N, K)
    cdef Stored edges                   # (M, K, K)
    cdef double[:, ::1] q               # (K, K) the edge last followed
    cdef double[::1] to                 # (K,) the node that it leads to

    cdef double* follow(self, Py_ssize_t t, Py_ssize_t edge) noexcept nogil:
        """Return q of an edge from the position t."""
        cdef Stored stored = skip(self.edges, edge * self.n * self.n)
        vfollow(stored, &self.node[t, 0], self.n, &self.q[0, 0], &self.to[0])
        return &self.q[0, 0]


cdef Follower along(double[:, ::1] node, const real[:, :, ::1] edge):
    """Return a follower of the edges between the nodes."""
    cdef Follower follower = Follower()
    follower.n = node.shape[1]
    follower.node = node
    follower.edges.single = real is float
    follower.edges.first = <char*> &edge[0, 0, 0] if edge.shape[0] > 0 else NULL
    follower.q = cython_array((follower.n, follower.n), sizeof(double), "d")
    follower.to = cython_array((follower.n,), sizeof(double), "d")
    return follower


def settle(
    double[:, ::1] node,                    # in, out, (N, K)
    const real[:, :, ::1] edge,             # in, (M, K, K)
    const long long[::1] offsets,           # in, (n + 1,)
    const long long[::1] edge_offsets,      # in, (n + 1,)
    const double[::1] weight,               # in, (n,)
    Py_ssize_t begin, Py_ssize_t end,
    double[:, ::1] edge_total,              # in, out, (K, K)
    double[::1] values,                     # out, (n,)
):
    """Make the nodes but the first those that the edges lead to, for the chains begin
    <= i < end, add weight[i] times the edges of each to ``edge_total``, and write their
    entropy.
    """
    cdef Py_ssize_t i, t, length, n = node.shape[1]
    cdef Follower follower = along(node, edge)
    cdef double* q
    with nogil:
        for i in range(begin, end):
            length = offsets[i + 1] - offsets[i]
            values[i] = 0.0
            if length == 1:
                values[i] = -vxlogx(doubles(&node[offsets[i], 0]), n)
            for t in range(length - 1):
                if t > 0:
                    values[i] += vxlogx(doubles(&node[offsets[i] + t, 0]), n)
                q = follower.follow(offsets[i] + t, edge_offsets[i] + t)
                values[i] -= vxlogx(doubles(q), n * n)
                axpy(weight[i], q, &edge_total[0, 0], n * n)
                memcpy(
                    &node[offsets[i] + t + 1, 0], &follower.to[0], n * sizeof(double)
                )


def path_scores(
    const int[::1] paths,                   # in, (N,) labels
    const long long[::1] offsets,           # in, (n + 1,)
    const double[:, ::1] node_scores,       # in, (N, K)
    const double[:, ::1] transition,        # in, (K, K)
    double[::1] values,                     # out, (n,)
):
    """Write the score of one path of every chain."""
    cdef Py_ssize_t i, t
    cdef double value
    with nogil:
        for i in range(offsets.shape[0] - 1):
            value = 0.0
            for t in range(offsets[i], offsets[i + 1]):
                value += node_scores[t, paths[t]]
                if t > offsets[i]:
                    value += transition[paths[t - 1], paths[t]]
            values[i] = value


def best_paths(
    const double[:, ::1] node_scores,       # in, (N, K)
    const double[:, ::1] transition,        # in, (K, K)
    const long long[::1] offsets,           # in, (n + 1,)
    Py_ssize_t begin, Py_ssize_t end,
    int[::1] paths,                         # out, (N,)
    double[::1] values,                     # out, (n,)
):
    """Write the best paths and their scores, for the chains begin <= i < end."""
    cdef Py_ssize_t i, n = transition.shape[0]
    cdef Workspace work = workspace_for(offsets, begin, end, transition)
    cdef const double* scores = row_pointer(node_scores)
    cdef int* first = &paths[0] if paths.shape[0] > 0 else NULL
    with nogil:
        work.set_transition(&transition[0, 0])
        for i in range(begin, end):
            values[i] = viterbi(
                work, scores + offsets[i] * n, offsets[i + 1] - offsets[i],
                first + offsets[i],
            )


cdef Workspace workspace_for(
    const long long[::1] offsets, Py_ssize_t begin, Py_ssize_t end,
    const double[:, ::1] transition,        # in, (K, K), -inf where forbidden
):
    """Return a workspace for the longest of the chains begin <= i < end."""
    cdef Py_ssize_t i, longest = 0
    for i in range(begin, end):
        longest = max(longest, offsets[i + 1] - offsets[i])
    allowed = np.asarray(transition) != -np.inf
    if allowed.all():
        return Workspace(longest, len(allowed))
    anywhere = np.ones(len(allowed), dtype=bool)
    return Workspace(longest, len(allowed), (anywhere, anywhere, allowed))
