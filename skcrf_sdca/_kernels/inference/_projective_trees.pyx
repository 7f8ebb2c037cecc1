"""Projective dependency trees as an Inference: see _spanning_trees.pyx and _eisner.pyx.

What differs is which trees there are, how they are summed up, and how they are drawn.
"""

from libc.math cimport INFINITY

import numpy as np

from ._eisner cimport Eisner, SiblingEisner
from ._inference cimport Values
from ._spanning_trees cimport SpanningTreeInference


cdef class ProjectiveTreeInference(SpanningTreeInference):
    """The arcs of sentences, laid end to end; parameters of `SpanningTreeInference`."""

    def _make_passes(self, n_words):
        self.spans = Eisner(n_words)

    def allow_sample(self):
        self.uniform = np.empty(2 * self.spans.before.shape[0])

    cdef double set_best(self) noexcept nogil:
        return self.spans.solve(
            &self.arcs[0], self.n_words, self.single, &self.heads[0]
        )

    cdef double set_next(self, const int* found) noexcept nogil:
        """Write the heads of the best tree but one that is found; return its score."""
        cdef Py_ssize_t a = self.spans.best_other(
            &self.arcs[0], self.n_words, self.single, found, &self.marginals[0]
        )
        if a < 0:
            return -INFINITY
        self.force(a)
        return self.set_best()

    cdef double log_sum(self) noexcept nogil:
        return self.spans.log_partition(&self.arcs[0], self.n_words, self.single)

    cdef double set_marginals(self) noexcept nogil:
        return self.spans.expect(
            &self.arcs[0], self.n_words, self.single, &self.marginals[0]
        )

    cdef bint is_tree(self) noexcept nogil:
        """Return whether the heads are a tree, no arc of which crosses another."""
        cdef Py_ssize_t i, m, a, b, c, d
        if not SpanningTreeInference.is_tree(self):
            return False
        for i in range(self.n_words):
            a, b = min(i + 1, self.heads[i]), max(i + 1, self.heads[i])
            for m in range(i):
                c, d = min(m + 1, self.heads[m]), max(m + 1, self.heads[m])
                if a < c < b < d or c < a < d < b:
                    return False
        return True

    cdef void start_draws(self) noexcept nogil:
        """Do nothing: trees are drawn by the sums of `set_marginals`."""

    cdef void draw_tree(self) noexcept nogil:
        cdef Py_ssize_t k
        for k in range(2 * self.n_words):
            self.uniform[k] = self.random()
        self.spans.draw(&self.uniform[0], &self.heads[0])


cdef class SiblingTreeInference(ProjectiveTreeInference):
    """The arcs of sentences, laid end to end, with scores of siblings: see _eisner.pyx.

    There is the best tree and the score of a tree, and there are no sums over trees.

    Parameters
    ----------
    offsets, n_labels, allowed, single_root, begin, end
        As for `SpanningTreeInference`.
    siblings : ndarray of float64
        The scores (n, n, n) of the siblings of each sentence, end to end.
    bounds : ndarray of shape (n + 1,), int64
        Where those of each sentence begin.
    """

    def __init__(
        self, offsets, n_labels, allowed, single_root, siblings, bounds, begin=None,
        end=None,
    ):
        super().__init__(offsets, n_labels, allowed, single_root, begin, end)
        self.siblings, self.bounds = siblings, bounds

    def _make_passes(self, n_words):
        self.spans = self.best_spans = SiblingEisner(n_words)

    cdef void take(self, Py_ssize_t i) noexcept nogil:
        ProjectiveTreeInference.take(self, i)
        self.best_spans.siblings = &self.siblings[0] + self.bounds[i]

    cdef double set_next(self, const int* found) noexcept nogil:
        return SpanningTreeInference.set_next(self, found)

    cdef double log_sum(self) noexcept nogil:
        return self.lacks(b"log_partition")

    cdef double set_marginals(self) noexcept nogil:
        return self.lacks(b"expect")

    cdef double labels_score(
        self, const int* labels, Values scores
    ) noexcept nogil:
        cdef double value = ProjectiveTreeInference.labels_score(self, labels, scores)
        if value == -INFINITY:
            return value
        return value + self.best_spans.score_of_siblings(
            self.n_words, &self.heads[0]
        )
