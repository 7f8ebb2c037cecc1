"""Projective dependency trees as an Inference: see _spanning_trees.pyx and _eisner.pyx.

What differs is which trees there are, how they are summed up, and how they are drawn.
"""

from libc.math cimport INFINITY
from libc.stdlib cimport labs
from libc.string cimport memcpy

import numpy as np

from ..math._vecmath cimport addressable
from ._eisner cimport Eisner, SiblingEisner, first_sibling
from ._inference cimport Values
from ._passes cimport Items, check_end
from ._spanning_trees cimport SpanningTreeInference


cdef class ProjectiveTreeInference(SpanningTreeInference):
    """The arcs of sentences, laid end to end; parameters of `SpanningTreeInference`."""

    def _make_passes(self, n_words):
        self.spans = Eisner(n_words)

    def allow_sample(self):
        self.uniform = np.empty(3 * self.spans.before.shape[0])

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
        for k in range(3 * self.n_words):
            self.uniform[k] = self.random()
        self.spans.draw(&self.uniform[0], &self.heads[0])


cdef class SiblingTreeInference(ProjectiveTreeInference):
    """The arcs of sentences, laid end to end, with scores of siblings: see _eisner.pyx.

    Parameters
    ----------
    offsets, n_labels, allowed, single_root, begin, end
        As for `SpanningTreeInference`.
    siblings : ndarray of float64
        The scores (n, n, n) of the siblings of each sentence, end to end.
    bounds : ndarray of shape (n + 1,), int64
        Where those of each sentence begin.

    Raises
    ------
    ValueError
        If there are fewer scores of siblings than the bounds say.
    """

    def __init__(
        self, offsets, n_labels, allowed, single_root, siblings, bounds, begin=None,
        end=None,
    ):
        super().__init__(offsets, n_labels, allowed, single_root, begin, end)
        self.siblings, self.bounds = addressable(siblings), bounds
        check_end(self.bounds, self.siblings.shape[0])

    def _make_passes(self, n_words):
        self.spans = self.sibling_spans = SiblingEisner(n_words)

    cdef void take(self, Py_ssize_t i) noexcept nogil:
        ProjectiveTreeInference.take(self, i)
        self.sibling_spans.siblings = &self.siblings[0] + self.bounds[i]

    cdef double labels_score(
        self, const int* labels, Values scores
    ) noexcept nogil:
        cdef double value = ProjectiveTreeInference.labels_score(self, labels, scores)
        if value == -INFINITY:
            return value
        return value + self.sibling_spans.score_of_siblings(
            self.n_words, &self.heads[0]
        )


def sibling_marginals(
    scores, Py_ssize_t begin, Py_ssize_t end,
    double[::1] marginals,                  # in, out, end to end as the scores
):
    """Write the marginals of siblings (h, m, s) where s is between both words, or h."""
    cdef Py_ssize_t i, h, m, first, n
    cdef Items items = Items(scores, begin, end)
    cdef SiblingTreeInference inference = items.inference
    with nogil:
        for i in range(begin, end):
            if not items.take(i):
                continue
            inference.set_arcs(items.scores, False)
            if inference.set_marginals() == -INFINITY:
                continue
            n = inference.n_words
            for h in range(1, n + 1):
                for m in range(1, n + 1):
                    first = first_sibling(n, h, m)
                    memcpy(
                        &marginals[0] + inference.bounds[i] + first,
                        &inference.sibling_spans.of_siblings[0] + first,
                        labs(h - m) * sizeof(double),
                    )
