"""Probabilities of what stands at some consecutive positions of a chain.

A span is a row (i, b, e): the positions b <= t < e of chain i, counted from its first.
Given its marginals a chain is a Markov chain, that goes from label j to k at position t
with the probability edge_t[j, k] / node_{t-1}[j]. The functions run without the GIL;
spans of one chain should follow each other, for its marginals are computed anew when
the chain changes.
"""

from cython.view cimport array as cython_array
from libc.string cimport memcpy, memset

from ._chain cimport Workspace, forward_backward, write_edge_matrix
from ._chain_inference cimport ChainInference
from ._passes cimport Items


cdef class MarkovChain:
    """The marginals of the chain that was set last, as a Markov chain."""

    cdef Items chains
    cdef Workspace work
    cdef Py_ssize_t n, i, length
    cdef double[:, ::1] node                # (T, K)
    cdef double[:, ::1] edge                # (K, K) the edge written last

    def __init__(self, chains):
        cdef ChainInference inference
        self.chains, self.i = Items(chains, 0, len(chains)), -1
        inference = self.chains.inference
        self.work, self.n = inference.workspace, inference.n_labels
        inference.allow_sample()
        self.node, self.edge = inference.node, inference.edge

    cdef void set_chain(self, Py_ssize_t i) noexcept nogil:
        """Write the marginals of chain i."""
        if i == self.i:
            return
        self.i = i
        self.chains.take(i)
        self.length = self.chains.inference.length
        forward_backward(
            self.work, self.chains.scores.local, self.length, &self.node[0, 0], NULL,
            NULL,
        )

    # mass_t[k] = sum_j mass_{t-1}[j] edge_t[j, k] / node_{t-1}[j], over the pairs
    # (j, k) that are joined, or over those that are not.
    cdef void propagate(
        self,
        Py_ssize_t t,
        const double* mass,                 # in, (K,) at position t - 1
        const unsigned char[:, ::1] joins,  # in, (K, K)
        bint joined,
        double* to,                         # out, (K,) at position t
    ) noexcept nogil:
        """Propagate the mass of paths from one position to the next."""
        cdef Py_ssize_t j, k
        cdef double share
        memset(to, 0, self.n * sizeof(double))
        write_edge_matrix(self.work, t, &self.edge[0, 0])
        for j in range(self.n):
            if self.node[t - 1, j] > 0.0:
                share = mass[j] / self.node[t - 1, j]
                for k in range(self.n):
                    if (joins[j, k] != 0) == joined:
                        to[k] += share * self.edge[j, k]


def label_probabilities(
    chains,
    const long long[:, ::1] spans,          # in, (S, 3)
    const int[::1] labels,                  # in, the labels of all spans, end to end
    double[::1] values,                     # out, (S,)
):
    """Write the probability that the positions of each span have its labels:

        node_b[y_b] prod_t edge_t[y_{t-1}, y_t] / node_{t-1}[y_{t-1}]
    """
    cdef Py_ssize_t s, t, first = 0
    cdef int label, before
    cdef double value
    cdef MarkovChain chain = MarkovChain(chains)
    with nogil:
        for s in range(spans.shape[0]):
            chain.set_chain(spans[s, 0])
            before = labels[first]
            value = chain.node[spans[s, 1], before]
            for t in range(spans[s, 1] + 1, spans[s, 2]):
                if not chain.node[t - 1, before] > 0.0:
                    value = 0.0
                    break
                label = labels[first + t - spans[s, 1]]
                write_edge_matrix(chain.work, t, &chain.edge[0, 0])
                value *= chain.edge[before, label] / chain.node[t - 1, before]
                before = label
            values[s] = value
            first += spans[s, 2] - spans[s, 1]


def type_probabilities(
    chains,
    const long long[:, ::1] spans,          # in, (S, 3)
    const long long[::1] types,             # in, (S,) of the spans
    const long long[::1] label_types,       # in, (K,)
    const unsigned char[:, ::1] joins,      # in, (K, K)
    double[::1] values,                     # out, (S,)
):
    """Write the probability that each span begins at b, with a label of its type, is
    joined from label to label, and ends at e:

        sum of p(y) over the y with label_types[y_b] = type,
        joins[y_{t-1}, y_t] for b < t < e, but not for t = b nor t = e
    """
    cdef Py_ssize_t s, t, k, n = chains.n_labels
    cdef double[:, ::1] rows = cython_array((2, n), sizeof(double), "d")
    cdef double* mass = &rows[0, 0]
    cdef double* to = &rows[1, 0]
    cdef MarkovChain chain = MarkovChain(chains)
    with nogil:
        for s in range(spans.shape[0]):
            chain.set_chain(spans[s, 0])
            t = spans[s, 1]
            if t == 0:
                memcpy(mass, &chain.node[0, 0], n * sizeof(double))
            else:
                chain.propagate(t, &chain.node[t - 1, 0], joins, False, mass)
            for k in range(n):
                if label_types[k] != types[s]:
                    mass[k] = 0.0
            for t in range(spans[s, 1] + 1, min(spans[s, 2] + 1, chain.length)):
                chain.propagate(t, mass, joins, t < spans[s, 2], to)
                mass, to = to, mass
            values[s] = 0.0
            for k in range(n):
                values[s] += mass[k]
