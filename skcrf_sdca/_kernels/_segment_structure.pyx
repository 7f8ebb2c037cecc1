# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True
"""The semi-Markov chain as a Structure.

Local potentials are the scores of the tokens' labels (T, L), tied ones those of
transitions between types, of lengths, and of features of segments, (K, K), (K, M) and
(F, K) end to end; expectations are the probabilities of labels, the expected numbers of
transitions and of segments of each length, and the expected sums of these features. The
targets are labels. The methods without a docstring have that of
`Structure`.
"""

from libc.string cimport memcpy, memset

from ._features cimport DistinctFeatures
from ._segment_chain cimport (
    SegmentWorkspace,
    segment_expectations,
    segment_forward,
)
from ._segment_labels cimport add_path, path_score, segment_viterbi
from ._structure cimport Values
from ._token_structure cimport TokenStructure
from ._vecmath cimport ops
from ._weights cimport Weights

import numpy as np


cdef class SegmentStructure(TokenStructure):
    """Segmented sequences under given weights.

    Parameters
    ----------
    features : DistinctFeatures
    weights : Weights
        Changed in place.
    offsets : ndarray of shape (n + 1,), int64
    targets : ndarray of shape (N,), int32, or Potentials
        Labels of segmentations that the grammar allows, or soft labels.
    grammar : Grammar
    rows : SegmentRows or None
        The features of segments.
    cost, fixed
        As for `TokenStructure`.
    """

    cdef SegmentWorkspace workspace

    def __init__(
        self, DistinctFeatures features, Weights weights, offsets, targets, *, grammar,
        rows=None, cost=None, fixed=None,
    ):
        longest = int(np.diff(offsets).max(initial=1))
        self.workspace = SegmentWorkspace(longest, grammar, rows)
        super().__init__(
            features, weights, offsets, targets, n_tied=self.workspace.n_tied,
            cost=cost, fixed=fixed,
        )

    cdef void set_item(self, Py_ssize_t i) noexcept nogil:
        TokenStructure.set_item(self, i)
        self.workspace.token = self.first

    cdef void set_scores(self, Values potentials) noexcept nogil:
        """Take tied potentials for the sequence that was set last."""
        self.workspace.set_tied(potentials.tied)
        self.workspace.set_sequence(self.first, self.length, potentials.tied)

    cdef double argmax(self, Values potentials, int* path) noexcept nogil:
        self.set_scores(potentials)
        return segment_viterbi(self.workspace, potentials.local, self.length, path)

    cdef void set_certain(self, const int* path, Values out) noexcept nogil:
        cdef Py_ssize_t t
        memset(out.local, 0, self.n_local * sizeof(double))
        memset(out.tied, 0, self.n_tied * sizeof(double))
        for t in range(self.length):
            out.local[t * self.n_labels + path[t]] = 1.0
        add_path(self.workspace, path, self.length, 1.0, out.tied)

    cdef double log_partition(self, Values potentials) noexcept nogil:
        self.set_scores(potentials)
        return segment_forward(self.workspace, potentials.local, self.length)

    cdef double expect(self, Values potentials, Values out) noexcept nogil:
        cdef Py_ssize_t n_counts
        cdef double value
        self.set_scores(potentials)
        value = segment_expectations(
            self.workspace, potentials.local, self.length, out.local, out.tied
        )
        if out.tied != NULL:
            n_counts = self.workspace.n_counts
            memset(
                out.tied + n_counts, 0, (self.n_tied - n_counts) * sizeof(double)
            )
            self.workspace.add_features(self.length, 1.0, out.tied)
        return value

    cdef void set_gradient(self) noexcept nogil:
        cdef Py_ssize_t t, n = self.n_labels
        cdef const int* path
        if self.labels is None:
            self.set_change(self.expected, self.soft_target())
            return
        path = &self.labels[self.first]
        memcpy(&self.change[0], self.expected.local, self.n_local * sizeof(double))
        memcpy(&self.sums.edge[0], self.expected.tied, self.n_tied * sizeof(double))
        memset(&self.sums.node[0], 0, n * sizeof(double))
        for t in range(self.length):
            self.change[t * n + path[t]] -= 1.0
            ops.axpy(1.0, &self.change[t * n], &self.sums.node[0], n)
        add_path(self.workspace, path, self.length, -1.0, &self.sums.edge[0])

    cdef double target_score(self, Values potentials) noexcept nogil:
        if self.labels is None:
            return self.inner(self.soft_target(), potentials)
        return path_score(
            self.workspace, potentials.local, potentials.tied,
            &self.labels[self.first], self.length,
        )
