"""Projective trees with scores of siblings as an Inference: see _sibling_eisner.pyx.

There is the best tree and the score of a tree, and there are no sums over trees.
"""

from libc.math cimport INFINITY

from ._inference cimport Values
from ._projective_trees cimport ProjectiveTreeInference
from ._sibling_eisner cimport SiblingEisner


cdef class SiblingTreeInference(ProjectiveTreeInference):
    """The arcs of sentences, laid end to end.

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
