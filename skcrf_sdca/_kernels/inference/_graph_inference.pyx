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
from ._inference cimport (
    DirectInference,
    KeptPart,
    Values,
    is_out_of_reach,
    part_of,
)
from ._junction_tree cimport JunctionTrees
from ..math._line_search cimport Part, Segment
from ..math._vecmath cimport ops, vaim
from ..features._weights cimport addressable

import numpy as np


cdef class GraphInference(DirectInference):
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
        super().__init__(offsets, trees.n_labels, trees.n_tied, begin, end)
        self.trees, self.first_graph = trees, first_graph
        self.workspace = Workspace(trees, first_graph + begin, first_graph + end)

    def keep_marginals(self, marginals):
        """Take the marginals of all graphs, for `set_direction` and `apply_step`.

        Parameters
        ----------
        marginals : GraphMarginals
            Changed in place.
        """
        most = self.trees.table_sizes.max(initial=1)
        self.keeps = True
        self.node, self.tied_kept = marginals.node, addressable(marginals.tied)
        self.cliques = KeptPart(marginals.table, most)
        self.separators = KeptPart(
            marginals.message, self.trees.message_sizes.max(initial=1)
        )
        self.clique_bounds, self.separator_bounds = marginals.bounds
        self.unused = np.zeros(most)

    cdef void take(self, Py_ssize_t i) noexcept nogil:
        DirectInference.take(self, i)
        self.graph = self.first_graph + i

    cdef void set_tied(self, const double* tied, bint sums) noexcept nogil:
        self.workspace.set_tied(tied)

    cdef double argmax(self, Values scores, int* labels) noexcept nogil:
        return self.workspace.maximise(self.graph, scores.local, labels)

    cdef double labels_score(
        self, const int* labels, Values scores
    ) noexcept nogil:
        cdef Py_ssize_t t, e
        cdef double value = 0.0
        for t in range(self.length):
            value += scores.local[t * self.n_labels + labels[t]]
        for e in range(
            self.trees.edge_offsets[self.graph], self.trees.edge_offsets[self.graph + 1]
        ):
            value += self.trees.edge_score(e, labels, scores.tied)
        return value

    cdef void add_tied_labels(
        self, const int* labels, double step, double* tied
    ) noexcept nogil:
        cdef Py_ssize_t e
        for e in range(
            self.trees.edge_offsets[self.graph], self.trees.edge_offsets[self.graph + 1]
        ):
            self.trees.add_edge(e, labels, step, tied)

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

    cdef double expect(self, Values scores, Values out) noexcept nogil:
        if out.tied != NULL:
            memset(out.tied, 0, self.n_tied * sizeof(double))
        return self.add_expected(scores, 1.0, out, NULL)

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

    cdef Values kept(self) noexcept nogil:
        """Return the expectations of the graph as they are stored."""
        return Values(
            &self.node[self.first, 0], &self.tied_kept[self.item, 0]
        )

    cdef double set_direction(
        self, Values scores, Values expected, Segment* segment, Values change
    ) noexcept nogil:
        """Write target and direction of cliques and separators.

        Return <marginals, scores>.
        """
        cdef Py_ssize_t p, first = self.clique_bounds[self.item]
        cdef Values kept = self.kept()
        cdef Part* cliques = &segment.cliques
        cdef Part* separators = &segment.separators
        cdef double lost = 0.0
        cliques[0] = part_of(
            self.cliques, first, self.clique_bounds[self.item + 1] - first
        )
        first = self.separator_bounds[self.item]
        separators[0] = part_of(
            self.separators, first, self.separator_bounds[self.item + 1] - first
        )
        memset(change.tied, 0, self.n_tied * sizeof(double))
        self.workspace.add_tied(1.0, change.tied)
        for p in range(self.n_tied):
            change.tied[p] -= kept.tied[p]
        for p in range(self.n_local):
            change.local[p] = expected.local[p] - kept.local[p]
        vaim(
            &self.workspace.messages[0], separators.p, &self.workspace.messages[0],
            separators.n, separators.target, <float*> separators.ratio,
            &self.unused[0], &lost,
        )
        lost = 0.0
        vaim(
            &self.workspace.tables[0], cliques.p, &self.workspace.tables[0], cliques.n,
            cliques.target, <float*> cliques.ratio, &self.unused[0], &lost,
        )
        segment.out_of_reach = is_out_of_reach(lost)
        return (
            ops.dot(kept.local, scores.local, self.n_local)
            + ops.dot(kept.tied, scores.tied, self.n_tied)
        )

    cdef void apply_step(self, double step, Values change) noexcept nogil:
        """Store the moved marginals of the graph."""
        cdef Values kept = self.kept()
        cdef Py_ssize_t first = self.clique_bounds[self.item]
        self.cliques.keep_moved(first, self.clique_bounds[self.item + 1] - first)
        first = self.separator_bounds[self.item]
        self.separators.keep_moved(
            first, self.separator_bounds[self.item + 1] - first
        )
        ops.axpy(step, change.local, kept.local, self.n_local)
        ops.axpy(step, change.tied, kept.tied, self.n_tied)
