"""Graphs of any shape as an Inference, by tree-reweighted sums.

What is log Z elsewhere is an upper bound of it here, and expectations are those of
marginals of nodes and edges that agree with each other: see _reweighted.pyx. For SDCA,
marginals of edges, and of nodes whose entropy counts, are kept as cliques, times how
often they count; nodes that are counted off are separators. `Inference` has the
docstrings of methods that have none here.
"""

from libc.math cimport INFINITY
from libc.string cimport memset

from ..math._line_search cimport Segment
from ._inference cimport Values
from ._joined_nodes cimport EdgeInference
from ._reweighted cimport ReweightedGraphs, Sweeps
from ._reweighted_maximum cimport Maximiser

import numpy as np


cdef class ReweightedInference(EdgeInference):
    """Graphs laid end to end.

    Parameters
    ----------
    graphs : ReweightedGraphs
        Whose turns change.
    offsets : ndarray of shape (n + 1,), int64
    first_graph : int, default=0
        The graph of ``graphs`` that is item 0.
    begin, end : int, default=None
        As for `Inference`.
    """

    def __init__(
        self, ReweightedGraphs graphs, offsets, first_graph=0, begin=None, end=None
    ):
        begin = 0 if begin is None else begin
        end = len(offsets) - 1 if end is None else end
        super().__init__(graphs, offsets, first_graph, begin, end)
        self.sweeps = Sweeps(graphs, first_graph + begin, first_graph + end)
        self.maximiser = Maximiser(self.sweeps)
        self.node_buffer = np.empty(self.most_local)

    cdef void set_tied(self, const double* tied, bint sums) noexcept nogil:
        self.sweeps.set_tied(tied)

    cdef double argmax(self, Values scores, int* labels) noexcept nogil:
        return self.maximiser.maximise(self.graph, scores.local, labels)

    cdef double log_partition(self, Values scores) noexcept nogil:
        return self.sweeps.settle(self.graph, scores.local, &self.node_buffer[0])

    cdef double add_expected(
        self, Values scores, double weight, Values out, double* buffer
    ) noexcept nogil:
        self.log_z = self.sweeps.settle(self.graph, scores.local, out.local)
        if self.log_z == -INFINITY:
            # Nothing is possible: there is no distribution.
            memset(out.local, 0, self.n_local * sizeof(double))
            return self.log_z
        self.sweeps.join(self.graph, out.local)
        if out.tied != NULL:
            self.sweeps.add_tied(self.graph, weight, out.tied)
        return self.log_z

    cdef double excess(self, Values scores, Values expected) noexcept nogil:
        if self.log_z == -INFINITY:
            return 0.0
        return (
            self.log_z - self.sweeps.entropy(self.graph, expected.local)
            - self.sweeps.inner(self.graph, expected.local, scores.local)
        )

    cdef double set_direction(
        self, Values scores, Values expected, Segment* segment, Values change
    ) noexcept nogil:
        cdef double product
        memset(change.tied, 0, self.n_tied * sizeof(double))
        self.sweeps.add_tied(self.graph, 1.0, change.tied)
        self.sweeps.write_parts(self.graph, expected.local)
        product = self.aim(
            &self.sweeps.tables[0], &self.sweeps.messages[0], scores, expected, segment,
            change,
        )
        # The target is where sweeps ended: its entropy is not that of the scores.
        segment.out_of_reach = True
        segment.constant = self.sweeps.graphs.constant[self.graph]
        return product
