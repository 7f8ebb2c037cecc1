"""Projective dependency trees as an Inference: see _spanning_trees.pyx and _eisner.pyx.

What differs is which trees there are, how they are summed up, and how they are drawn.
"""

from libc.math cimport INFINITY, cbrt
from libc.stdlib cimport labs

from ..features._sibling_rows cimport (
    first_sibling,
    number_of_siblings,
    place_in_tree,
)
from ._eisner cimport Eisner, SiblingEisner
from ._inference cimport Inference, Values
from ._spanning_trees cimport SpanningTreeInference

import numpy as np


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
    """The arcs and the siblings of sentences, laid end to end: see _eisner.pyx.

    The positions of a sentence are its arcs, then its siblings as `first_sibling` says.
    The label 0 of a sibling (h, m, s) says that it is not in the tree, and 1 that it
    is: the head of m is h, and its sibling s. Labels of siblings follow from those of
    arcs; a labelling with others is no tree. Parameters of `SpanningTreeInference`, of
    2 labels.
    """

    def _make_passes(self, n_words):
        self.spans = self.sibling_spans = SiblingEisner(n_words)
        self.siblings = np.empty(max(number_of_siblings(n_words), 1))
        self.sibling_spans.siblings = &self.siblings[0]

    def _words_of(self, n_positions):
        return words_with_siblings(n_positions)

    cdef void take(self, Py_ssize_t i) noexcept nogil:
        Inference.take(self, i)
        self.n_words = words_with_siblings(self.length)
        self.n_arcs = self.n_words * (self.n_words + 1)
        self.n_costed = self.n_arcs
        self.sibling_spans.take(self.n_words)

    cdef double set_arcs(self, Values scores, bint best) noexcept nogil:
        cdef Py_ssize_t k, n = self.length - self.n_arcs
        cdef double others = ProjectiveTreeInference.set_arcs(self, scores, best)
        cdef const double* local = scores.local + 2 * self.n_arcs
        cdef bint has_forced = False
        for k in range(n):
            self.siblings[k] = local[2 * k + 1]
            if local[2 * k] > -INFINITY:
                self.siblings[k] -= local[2 * k]
                others += local[2 * k]
            else:
                has_forced = True
        if has_forced:
            self.keep_forced_siblings(local)
        return others

    cdef void keep_forced_siblings(self, const double* local) noexcept nogil:
        """Forbid the other heads, and the other siblings, of words that must have one.
        """
        cdef Py_ssize_t h, m, k, j, first, last, n = self.n_words
        for h in range(1, n + 1):
            for m in range(1, n + 1):
                first = first_sibling(n, h, m)
                last = first + labs(h - m)
                for k in range(first, last):
                    if local[2 * k] > -INFINITY:
                        continue
                    self.force(h * n + m - 1)
                    for j in range(first, last):
                        if j != k:
                            self.siblings[j] = -INFINITY

    cdef double expect(self, Values scores, Values out) noexcept nogil:
        cdef Py_ssize_t k, n = self.length - self.n_arcs
        cdef double value = ProjectiveTreeInference.expect(self, scores, out), p
        cdef double* mu = out.local + 2 * self.n_arcs
        if value == -INFINITY:
            return value
        for k in range(n):
            p = self.sibling_spans.of_siblings[k]
            mu[2 * k], mu[2 * k + 1] = max(1.0 - p, 0.0), p
        return value

    cdef double labels_score(
        self, const int* labels, Values scores
    ) noexcept nogil:
        cdef Py_ssize_t m, k, n = self.length - self.n_arcs, n_lacking = 0
        cdef double value = ProjectiveTreeInference.labels_score(self, labels, scores)
        cdef const double* local = scores.local + 2 * self.n_arcs
        if value == -INFINITY:
            return value
        for m in range(1, self.n_words + 1):
            if self.heads[m - 1] > 0:
                k = place_in_tree(self.n_words, &self.heads[0], m)
                n_lacking += 1 if labels[self.n_arcs + k] == 1 else n + 1
        for k in range(n):
            value += local[2 * k + labels[self.n_arcs + k]]
            n_lacking -= labels[self.n_arcs + k]
        return value if n_lacking == 0 else -INFINITY

    cdef void label_others(
        self, const int* heads, int* labels, Py_ssize_t stride
    ) noexcept nogil:
        """Write the labels 1 of the siblings of a tree."""
        cdef Py_ssize_t m, k
        for m in range(1, self.n_words + 1):
            if heads[m - 1] > 0:
                k = place_in_tree(self.n_words, heads, m)
                labels[(self.n_arcs + k) * stride] = 1


cdef Py_ssize_t words_with_siblings(Py_ssize_t n_positions) noexcept nogil:
    """Return the number n of words of n (n + 1) arcs and (n^3 - n) / 3 siblings."""
    # n^3 < n (n + 1) (n + 2) < (n + 1)^3
    return <Py_ssize_t> cbrt(3.0 * n_positions)
