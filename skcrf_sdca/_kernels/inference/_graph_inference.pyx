"""Graphs of small treewidth as an Inference.

Local potentials are node scores (V, K). Tied ones are the scores of pairs of labels,
for each feature of edges; their expectations are the marginals of edges times the
features of these, summed over the graph. Owns the buffers of one graph and, for SDCA,
the marginals of all: of cliques, the tables of the junction trees, and of separators,
their messages. `Inference` has the docstrings of methods that have none
here.
"""

from libc.math cimport INFINITY
from libc.string cimport memset

from ._elimination cimport Workspace
from ._inference cimport Values
from ._joined_nodes cimport EdgeInference
from ._junction_tree cimport JunctionTrees
from ..math._line_search cimport Segment

import numpy as np


cdef class GraphInference(EdgeInference):
    """Graphs laid end to end.

    Parameters
    ----------
    trees : JunctionTrees
    offsets : ndarray of shape (n + 1,), int64
    first_graph : int, default=0
        The graph of the trees that is item 0.
    begin, end : int, default=None
        As for `Inference`.
    """

    def __init__(
        self, JunctionTrees trees, offsets, first_graph=0, begin=None, end=None
    ):
        begin = 0 if begin is None else begin
        end = len(offsets) - 1 if end is None else end
        super().__init__(trees, offsets, first_graph, begin, end)
        self.workspace = Workspace(trees, first_graph + begin, first_graph + end)

    cdef void set_tied(self, const double* tied, bint sums) noexcept nogil:
        self.workspace.set_tied(tied)

    cdef double argmax(self, Values scores, int* labels) noexcept nogil:
        return self.workspace.maximise(self.graph, scores.local, labels)

    cdef double log_partition(self, Values scores) noexcept nogil:
        return self.workspace.sum_up(self.graph, scores.local)

    def allow_sample(self):
        """Make the buffers of `sample`."""
        self.path = np.empty(self.longest, dtype=np.intc)

    cdef void sample(
        self, Values scores, const double* uniform, Py_ssize_t n_draws, int* labels
    ) noexcept nogil:
        cdef Py_ssize_t d, t
        self.log_partition(scores)
        for d in range(n_draws):
            self.workspace.draw(self.graph, uniform + d, n_draws, &self.path[0])
            for t in range(self.length):
                labels[t * n_draws + d] = self.path[t]

    cdef double add_expected(
        self, Values scores, double weight, Values out, double* buffer
    ) noexcept nogil:
        cdef double log_z = self.log_partition(scores)
        if log_z == -INFINITY:
            # Nothing is possible: there is no distribution.
            memset(out.local, 0, self.n_local * sizeof(double))
            return log_z
        self.workspace.sum_down(self.graph, self.keeps, out.local, NULL)
        if out.tied != NULL:
            self.workspace.add_tied(weight, out.tied)
        return log_z

    cdef double set_direction(
        self, Values scores, Values expected, Segment* segment, Values change
    ) noexcept nogil:
        memset(change.tied, 0, self.n_tied * sizeof(double))
        self.workspace.add_tied(1.0, change.tied)
        return self.aim(
            &self.workspace.tables[0], &self.workspace.messages[0], scores, expected,
            segment, change,
        )
