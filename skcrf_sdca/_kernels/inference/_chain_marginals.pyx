"""Marginals of the edges of many chains: full passes, as in _passes.pyx.

Chain i has the positions offsets[i]:offsets[i + 1] and the edges
edge_offsets[i]:edge_offsets[i + 1].
"""

from cython.view cimport array as cython_array

from ._chain cimport forward_backward
from ._chain_inference cimport ChainInference
from ._inference cimport Values
from ._passes cimport Items
from ..math._transitions cimport TransitionLayout
from ..math._vecmath cimport Stored, doubles, ops, start_of, vfollow, vxlogx

ctypedef fused real:
    float
    double


def marginals(
    chains, Py_ssize_t begin, Py_ssize_t end,
    double[:, ::1] node,                    # out, (N, K)
    double[::1] values,                     # out, (n,)
    const long long[::1] edge_offsets,      # in, (n + 1,)
    double[:, ::1] edge,                    # out, (M, pairs)
):
    """Write the node and edge marginals and log Z of the chains begin <= i < end."""
    cdef Py_ssize_t i
    cdef Items items = Items(chains, begin, end)
    cdef ChainInference inference = items.inference
    cdef double* edge_out = NULL
    with nogil:
        for i in range(begin, end):
            values[i] = 0.0
            if not items.take(i):
                continue
            if inference.length > 1 and inference.n_tied > 0:
                edge_out = &edge[edge_offsets[i], 0]
            values[i] = forward_backward(
                inference.workspace, items.scores.local, inference.length,
                &node[inference.first, 0], edge_out, NULL,
            )


def log_node_marginals(
    chains, Py_ssize_t begin, Py_ssize_t end,
    double[:, ::1] node,                    # out, (N, K)
    double[::1] values,                     # out, (n,)
):
    """Write the logarithms of the node marginals, and log Z, for begin <= i < end."""
    cdef Py_ssize_t i
    cdef Items items = Items(chains, begin, end)
    cdef ChainInference inference = items.inference
    inference.workspace.log_node = True
    with nogil:
        for i in range(begin, end):
            values[i] = 0.0
            if items.take(i):
                values[i] = inference.expect(
                    items.scores, Values(&node[inference.first, 0], NULL)
                )


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
    cdef double[::1] q = cython_array((max(layout.size, 1),), sizeof(double), "d")
    cdef double[::1] sums = cython_array((n,), sizeof(double), "d")
    cdef const real* edges = NULL
    cdef const real* edge_in
    cdef double* before
    cdef double* total = start_of(edge_total)
    if edge.shape[0] > 0 and edge.shape[1] > 0:
        edges = &edge[0, 0]
    with nogil:
        for i in range(begin, end):
            length = offsets[i + 1] - offsets[i]
            values[i] = 0.0
            if length == 1:
                values[i] = -vxlogx(doubles(&node[offsets[i], 0]), n)
            for t in range(length - 1):
                edge_in = edges + (edge_offsets[i] + t) * layout.size
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
                ops.axpy(weight[i], &q[0], total, layout.size)


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
