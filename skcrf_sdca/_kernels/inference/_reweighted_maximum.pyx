"""Labellings of high score, with an upper bound of all scores [Kolmogorov 2006].

Sequential tree-reweighted message passing: the messages of _reweighted.pyx with the
maximum in the place of sums. For any messages to earlier nodes, the sum of maxima at
the last nodes is an upper bound of the largest score. Labels are chosen down the order,
given those of later nodes; single labels are then changed while the score rises. Sweeps
end where the best labelling found has the bound as its score, or when the bound falls
no more.
"""

from libc.math cimport INFINITY, fabs
from libc.string cimport memcpy, memset

from ..math._vecmath cimport ops
from ._reweighted cimport Sweeps

import numpy as np

cdef int MOST_SWEEPS = 200
# Sweeps without a fall of the bound by TOLERANCE, relative, after which it falls no
# more; and the distance of score and bound that is rounding.
cdef int PATIENCE = 10
cdef double TOLERANCE = 1e-7
cdef double ROUNDING = 1e-12
cdef int MOST_PASSES = 20


cdef class Maximiser:
    """Buffers for one graph at a time.

    Parameters
    ----------
    sweeps : Sweeps
        Of the same graphs; it has the scores of edges.
    """

    def __init__(self, Sweeps sweeps):
        n = sweeps.graphs.n_labels
        size, edges = len(sweeps.inward), len(sweeps.before)
        self.sweeps, self.graphs = sweeps, sweeps.graphs
        self.inward, self.total = np.empty(size), np.empty(size)
        self.up, self.down = np.empty(edges), np.empty(edges)
        self.labels = np.zeros(size // n, dtype=np.intc)

    cdef double maximise(
        self, Py_ssize_t i, const double* local, int* labels
    ) noexcept nogil:
        """Write the best labelling found; return its score, -inf if there is none."""
        cdef Py_ssize_t n_nodes = self.graphs.offsets[i + 1] - self.graphs.offsets[i]
        cdef Py_ssize_t first = self.graphs.edge_offsets[i]
        cdef double best = -INFINITY, bound, score
        cdef int sweep, idle = 0
        self.sweeps.begin_graph()
        self.bound = INFINITY
        memset(labels, 0, n_nodes * sizeof(int))
        memset(
            &self.down[0], 0, (self.graphs.edge_offsets[i + 1] - first)
            * self.graphs.n_labels * sizeof(double),
        )
        for sweep in range(MOST_SWEEPS):
            bound = self.pass_up(i, local)
            idle += 1
            if bound < self.bound - TOLERANCE * fabs(self.bound) or sweep == 0:
                idle = 0
            self.bound = min(self.bound, bound)
            if bound == -INFINITY:
                return bound
            self.decode(i)
            score = self.improve(i, local)
            if score > best:
                best = score
                memcpy(labels, &self.labels[0], n_nodes * sizeof(int))
            if best >= self.bound - ROUNDING * fabs(self.bound) or idle > PATIENCE:
                break
            self.pass_down(i)
        if best >= self.bound - ROUNDING * fabs(self.bound):
            self.bound = best
        return best

    cdef double pass_up(self, Py_ssize_t i, const double* local) noexcept nogil:
        """Write the messages to later nodes; return the bound."""
        cdef Py_ssize_t step, e, j, k, n = self.graphs.n_labels
        cdef Py_ssize_t first = self.graphs.edge_offsets[i]
        cdef Py_ssize_t begin = self.graphs.offsets[i]
        cdef double bound = 0.0, rho, least, own
        cdef double* total
        cdef double* out
        cdef const double* scores
        memcpy(
            &self.inward[0], local,
            (self.graphs.offsets[i + 1] - begin) * n * sizeof(double),
        )
        for step in range(begin, self.graphs.offsets[i + 1]):
            total = &self.total[self.graphs.node[step] * n]
            memcpy(total, &self.inward[self.graphs.node[step] * n], n * sizeof(double))
            if self.graphs.edge_bounds[step] == self.graphs.edge_bounds[step + 1]:
                bound += ops.extent(total, n, &least)
            for e in range(
                self.graphs.edge_bounds[step], self.graphs.edge_bounds[step + 1]
            ):
                ops.axpy(1.0, &self.down[(e - first) * n], total, n)
            for e in range(
                self.graphs.edge_bounds[step], self.graphs.edge_bounds[step + 1]
            ):
                rho, scores = self.graphs.appearance[e], self.sweeps.scores_of(e)
                out = &self.up[(e - first) * n]
                for k in range(n):
                    out[k] = -INFINITY
                for j in range(n):
                    own = rho * total[j] - self.down[(e - first) * n + j]
                    for k in range(n):
                        out[k] = max(out[k], own + rho * scores[j * n + k])
                if out[0] == -INFINITY:
                    return -INFINITY
                ops.axpy(1.0, out, &self.inward[self.graphs.last_end[e] * n], n)
        return bound

    cdef void pass_down(self, Py_ssize_t i) noexcept nogil:
        """Write the messages to earlier nodes."""
        cdef Py_ssize_t step, e, j, k, n = self.graphs.n_labels
        cdef Py_ssize_t first = self.graphs.edge_offsets[i]
        cdef double rho, own, largest
        cdef double* total
        cdef double* out
        cdef const double* scores
        cdef const double* last
        cdef Py_ssize_t begin = self.graphs.offsets[i]
        for step in range(self.graphs.offsets[i + 1] - 1, begin - 1, -1):
            total = &self.total[self.graphs.node[step] * n]
            memcpy(total, &self.inward[self.graphs.node[step] * n], n * sizeof(double))
            for e in range(
                self.graphs.edge_bounds[step], self.graphs.edge_bounds[step + 1]
            ):
                rho, scores = self.graphs.appearance[e], self.sweeps.scores_of(e)
                last = &self.total[self.graphs.last_end[e] * n]
                out, largest = &self.down[(e - first) * n], -INFINITY
                for j in range(n):
                    own = -INFINITY
                    for k in range(n):
                        own = max(
                            own, rho * (last[k] + scores[j * n + k])
                            - self.up[(e - first) * n + k],
                        )
                    out[j] = own
                    largest = max(largest, own)
                for j in range(n):
                    out[j] -= largest
                ops.axpy(1.0, out, total, n)

    cdef void decode(self, Py_ssize_t i) noexcept nogil:
        """Choose labels down the order, given the labels of later nodes."""
        cdef Py_ssize_t step, e, j, n = self.graphs.n_labels
        cdef double* row
        cdef const double* scores
        cdef Py_ssize_t begin = self.graphs.offsets[i]
        for step in range(self.graphs.offsets[i + 1] - 1, begin - 1, -1):
            row = &self.sweeps.row[0]
            memcpy(row, &self.inward[self.graphs.node[step] * n], n * sizeof(double))
            for e in range(
                self.graphs.edge_bounds[step], self.graphs.edge_bounds[step + 1]
            ):
                scores = self.sweeps.scores_of(e) + self.labels[self.graphs.last_end[e]]
                for j in range(n):
                    row[j] += self.graphs.appearance[e] * scores[j * n]
            self.labels[self.graphs.node[step]] = <int> largest_of(row, n)

    cdef double improve(self, Py_ssize_t i, const double* local) noexcept nogil:
        """Change single labels while that raises the score; return the score."""
        cdef Py_ssize_t step, j, v, changed, n = self.graphs.n_labels
        cdef double* row
        cdef int _pass
        for _pass in range(MOST_PASSES):
            self.score_given(i, local)
            changed = 0
            for step in range(self.graphs.offsets[i], self.graphs.offsets[i + 1]):
                v = self.graphs.node[step]
                row = &self.total[v * n]
                j = largest_of(row, n)
                if row[j] > row[self.labels[v]]:
                    self.relabel(step, <int> j)
                    changed += 1
            if changed == 0:
                break
        return self.score(i, local)

    cdef void score_given(self, Py_ssize_t i, const double* local) noexcept nogil:
        """Write the score of each label of each node, given those of its neighbours."""
        cdef Py_ssize_t e, k, n = self.graphs.n_labels
        cdef double rho
        cdef double* first
        cdef double* last
        cdef const double* scores
        memcpy(
            &self.total[0], local,
            (self.graphs.offsets[i + 1] - self.graphs.offsets[i]) * n * sizeof(double),
        )
        for e in range(self.graphs.edge_offsets[i], self.graphs.edge_offsets[i + 1]):
            rho, scores = self.graphs.appearance[e], self.sweeps.scores_of(e)
            first = &self.total[self.graphs.first_end[e] * n]
            last = &self.total[self.graphs.last_end[e] * n]
            for k in range(n):
                first[k] += rho * scores[k * n + self.labels[self.graphs.last_end[e]]]
                last[k] += rho * scores[self.labels[self.graphs.first_end[e]] * n + k]

    cdef void relabel(self, Py_ssize_t step, int label) noexcept nogil:
        """Change a label, and the scores of later nodes given it."""
        cdef Py_ssize_t e, k, v = self.graphs.node[step], n = self.graphs.n_labels
        cdef double rho
        cdef double* last
        cdef const double* scores
        for e in range(
            self.graphs.edge_bounds[step], self.graphs.edge_bounds[step + 1]
        ):
            rho, scores = self.graphs.appearance[e], self.sweeps.scores_of(e)
            last = &self.total[self.graphs.last_end[e] * n]
            for k in range(n):
                last[k] += rho * (scores[label * n + k]
                                  - scores[self.labels[v] * n + k])
        self.labels[v] = label

    cdef double score(self, Py_ssize_t i, const double* local) noexcept nogil:
        """Return the score of the labels."""
        cdef Py_ssize_t e, v, n = self.graphs.n_labels, begin = self.graphs.offsets[i]
        cdef double value = 0.0
        for v in range(self.graphs.offsets[i + 1] - begin):
            value += local[v * n + self.labels[v]]
        for e in range(self.graphs.edge_offsets[i], self.graphs.edge_offsets[i + 1]):
            value += self.graphs.edge_score(e, &self.labels[0], self.sweeps.tied)
        return value


cdef Py_ssize_t largest_of(const double* row, Py_ssize_t n) noexcept nogil:
    """Return the first place of the largest number."""
    cdef Py_ssize_t k, best = 0
    for k in range(1, n):
        if row[k] > row[best]:
            best = k
    return best
