"""The linear chain as an Inference.

Local potentials are node scores (T, K), tied ones the transition scores, one for each
pair of labels of the layout; local expectations are node marginals, tied ones edge
marginals summed over the chain. Owns the buffers of one chain and, for SDCA, the
marginals of all: edge marginals and the direction of an edge are made together, while
they are in cache. `Inference` has the docstrings of methods that have none here.
"""

cimport cython

from libc.math cimport INFINITY
from libc.string cimport memcpy, memset

from ._chain cimport (
    Workspace,
    forward_backward,
    viterbi,
    write_edge,
    write_edge_matrix,
    write_origins,
)
from ._chain cimport log_partition as chain_log_partition
from ._inference cimport (
    DirectInference,
    KeptPart,
    Values,
    is_out_of_reach,
    part_of,
)
from ..math._line_search cimport Part, Segment
from ._paths cimport KBestLists, ListsBesideFree, best_lists, drawn
from ._state_labels cimport StateLabels
from ..math._transitions cimport FREE
from ..math._vecmath cimport ops, skip, vaim, vmove

import numpy as np


@cython.final
cdef class ChainInference(DirectInference):
    """Chains laid end to end.

    Parameters
    ----------
    offsets : ndarray of shape (n + 1,), int64
    n_labels : int
    constraints : tuple, default=None
    layout : TransitionLayout, default=None
        See `Workspace`.
    begin, end : int, default=None
        As for `Inference`.
    label_of : ndarray of shape (n_labels,), int32, default=None
        The label of each state, where these are tuples of labels: it decides between
        paths of equal scores, see `StateLabels`.
    """

    def __init__(
        self, offsets, n_labels, constraints=None, layout=None, begin=None, end=None,
        label_of=None,
    ):
        n_tied = n_labels * n_labels if layout is None else layout.size
        super().__init__(offsets, n_labels, n_tied, begin, end)
        self.workspace = Workspace(self.longest, n_labels, constraints, layout)
        self.layout = self.workspace.layout
        self.states = None if label_of is None else StateLabels(label_of)

    def keep_marginals(self, marginals):
        """Take the marginals of all chains, for `set_direction` and `apply_step`.

        Parameters
        ----------
        marginals : Marginals
            Changed in place.

        Raises
        ------
        ValueError
            If the edges are not a C-contiguous array of their shape and type.
        """
        edge = marginals.edge
        n_edges = marginals.edge_offsets[len(marginals.edge_offsets) - 1]
        shape = (n_edges, *self.layout.shape)
        if (
            edge.shape != shape or edge.dtype not in (np.float32, np.float64)
            or not edge.flags.c_contiguous or not edge.flags.writeable
        ):
            raise ValueError(
                f"edge is an array of shape {edge.shape} and dtype {edge.dtype}; it "
                f"must be of shape {shape}, float32 or float64, C-contiguous, writeable"
            )
        self.edge_offsets = marginals.edge_offsets
        self.nodes = KeptPart(marginals.node, self.most_local)
        self.edges = KeptPart(edge, max(self.longest - 1, 1) * self.n_tied)
        self.matrix = np.empty(max(self.n_tied, 1))

    cdef void set_tied(self, const double* tied, bint sums) noexcept nogil:
        if sums:
            self.workspace.set_transition(tied)
        else:
            self.workspace.keep_transition(tied)

    cdef double argmax(self, Values scores, int* labels) noexcept nogil:
        cdef double value = viterbi(
            self.workspace, scores.local, self.length, labels
        )
        if self.states is not None and value > -INFINITY and self.length > 0:
            self.states.order_path(self.workspace, self.length, labels)
        return value

    def allow_n_best(self, Py_ssize_t n):
        """Make the buffers for n labellings of `n_best`."""
        sizes = self.n_labels, n, self.most_local * n
        if self.layout.has_free:
            self.lists = ListsBesideFree(*sizes, self.layout)
        else:
            self.lists = KBestLists(*sizes)
            self.dense = np.empty(self.n_labels * self.n_labels)
        self.masked = np.empty(self.most_local)

    cdef Py_ssize_t n_best(
        self, Values scores, Py_ssize_t n, double* values, int* labels
    ) noexcept nogil:
        cdef Py_ssize_t found, n_labels = self.n_labels
        cdef const double* transition = self.workspace.transition
        if not self.layout.has_free:
            self.expand_transition()
            transition = &self.dense[0]
        memcpy(&self.masked[0], scores.local, self.n_local * sizeof(double))
        if self.workspace.is_constrained:
            self.workspace.take_ends(scores.local, self.length)
            memcpy(
                &self.masked[self.n_local - n_labels], self.workspace.last,
                n_labels * sizeof(double),
            )
            memcpy(
                &self.masked[0], self.workspace.first, n_labels * sizeof(double)
            )
        self.lists.width = n
        if self.states is not None:
            self.lists.label = self.states.label
        best_lists(
            self.lists, &self.masked[0], transition, self.length, values, labels
        )
        found = 0
        while found < n and values[found] > -INFINITY:
            found += 1
        return found

    cdef void expand_transition(self) noexcept nogil:
        """Write the scores of all pairs of labels."""
        cdef Py_ssize_t j, k, place, n = self.n_labels
        for j in range(n):
            for k in range(n):
                place = self.layout.place(j, k)
                self.dense[j * n + k] = self.score_at(self.workspace.transition, place)

    cdef double labels_score(
        self, const int* labels, Values scores
    ) noexcept nogil:
        cdef Py_ssize_t t, place
        cdef double value = 0.0
        for t in range(self.length):
            value += scores.local[t * self.n_labels + labels[t]]
            if t > 0:
                place = self.layout.place(labels[t - 1], labels[t])
                value += self.score_at(scores.tied, place)
        return value

    cdef double score_at(self, const double* tied, Py_ssize_t place) noexcept nogil:
        """Return the score of a pair of labels, by its place in the layout."""
        if place >= 0:
            return tied[place]
        return 0.0 if place == FREE else -INFINITY

    cdef void add_tied_labels(
        self, const int* labels, double step, double* tied
    ) noexcept nogil:
        cdef Py_ssize_t t, place
        for t in range(1, self.length):
            place = self.layout.place(labels[t - 1], labels[t])
            if place >= 0:
                tied[place] += step

    cdef double log_partition(self, Values scores) noexcept nogil:
        return chain_log_partition(self.workspace, scores.local, self.length)

    def allow_sample(self):
        """Make the buffers of `sample`."""
        self.node = np.empty((self.longest, self.n_labels))
        self.edge = np.empty((self.n_labels, self.n_labels))

    cdef void sample(
        self, Values scores, const double* uniform, Py_ssize_t n_draws, int* labels
    ) noexcept nogil:
        """From the last position backwards, y_{t-1} in proportion to edge_t[., y_t]."""
        cdef Py_ssize_t t, d, stride, n = self.n_labels, last = self.length - 1
        cdef const double* weight
        forward_backward(
            self.workspace, scores.local, self.length, &self.node[0, 0], NULL, NULL
        )
        for t in range(last, -1, -1):
            weight, stride = &self.node[t, 0], 1
            if t < last and not self.layout.has_free:
                write_edge_matrix(self.workspace, t + 1, &self.edge[0, 0])
                stride = n
            for d in range(n_draws):
                if t < last:
                    weight = self.origins(t + 1, labels[(t + 1) * n_draws + d])
                labels[t * n_draws + d] = drawn(
                    weight, stride, n, uniform[t * n_draws + d]
                )

    cdef const double* origins(self, Py_ssize_t t, Py_ssize_t k) noexcept nogil:
        """Return how likely each label is before label k at t, but for a factor.

        They are a column of the edge, or beside free pairs its first row.
        """
        if not self.layout.has_free:
            return &self.edge[0, k]
        write_origins(self.workspace, t, k, &self.edge[0, 0])
        return &self.edge[0, 0]

    cdef double expect(self, Values scores, Values out) noexcept nogil:
        """Write node marginals and the sum of the edge marginals; return log Z."""
        return forward_backward(
            self.workspace, scores.local, self.length, out.local, NULL, out.tied
        )

    cdef double add_expected(
        self, Values scores, double weight, Values out, double* buffer
    ) noexcept nogil:
        cdef double value = self.expect(scores, Values(out.local, buffer))
        ops.axpy(weight, buffer, out.tied, self.n_tied)
        return value

    cdef double set_direction(
        self, Values scores, Values expected, Segment* segment, Values change
    ) noexcept nogil:
        """Write target and direction of nodes and edges; return <marginals, scores>."""
        cdef Py_ssize_t t, n = self.n_tied
        cdef Part nodes = part_of(
            self.nodes, self.first * self.n_labels, self.n_local
        )
        cdef Part* edges = &segment.cliques
        cdef double value, lost = 0.0
        self.set_parts(segment, nodes)
        memset(change.local, 0, self.n_local * sizeof(double))
        value = vaim(
            expected.local, nodes.p, scores.local, self.n_local, nodes.target,
            <float*> nodes.ratio, change.local, &lost,
        )
        memset(change.tied, 0, n * sizeof(double))
        for t in range(1, self.length):
            write_edge(self.workspace, t, &self.matrix[0])
            value += vaim(
                &self.matrix[0], skip(edges.p, (t - 1) * n), scores.tied, n,
                skip(edges.target, (t - 1) * n), <float*> edges.ratio + (t - 1) * n,
                change.tied, &lost,
            )
        segment.out_of_reach, segment.constant = is_out_of_reach(lost), 0.0
        return value

    cdef void set_parts(self, Segment* segment, Part nodes) noexcept nogil:
        """Name the cliques and separators: a chain of one node is its own clique."""
        cdef Py_ssize_t n = self.n_labels
        if self.length == 1:
            segment.cliques = segment.separators = nodes
            segment.separators.n = 0
            return
        segment.cliques = part_of(
            self.edges, self.edge_offsets[self.item] * self.n_tied,
            (self.length - 1) * self.n_tied,
        )
        nodes.p = skip(nodes.p, n)
        nodes.target = skip(nodes.target, n)
        nodes.moved = skip(nodes.moved, n)
        nodes.ratio += n
        nodes.n = (self.length - 2) * n
        segment.separators = nodes

    cdef void apply_step(self, double step, Values change) noexcept nogil:
        """Store the moved marginals of the chain."""
        cdef Part nodes = part_of(
            self.nodes, self.first * self.n_labels, self.n_local
        )
        # The node of a chain of one is its clique, which the line search has moved.
        if self.length > 1:
            self.move_end(&nodes, 0, step)
            self.move_end(&nodes, self.length - 1, step)
            self.edges.keep_moved(
                self.edge_offsets[self.item] * self.n_tied,
                (self.length - 1) * self.n_tied,
            )
        self.nodes.keep_moved(self.first * self.n_labels, self.n_local)

    cdef void move_end(self, Part* nodes, Py_ssize_t t, double step) noexcept nogil:
        """Write the moved node of an end of the chain, which is no separator."""
        cdef Py_ssize_t n = self.n_labels
        vmove(
            skip(nodes.p, t * n), skip(nodes.target, t * n), nodes.ratio + t * n, step,
            n, skip(nodes.moved, t * n),
        )
