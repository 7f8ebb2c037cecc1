# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True
"""The semi-Markov chain as a Structure.

Local potentials are the scores of the tokens' labels (T, L), tied ones those of
transitions between types and of lengths, (K, K) and (K, M) end to end; expectations are
the probabilities of labels, and the expected numbers of transitions and of segments of
each length. The targets are labels. The methods without a docstring have that of
`Structure`.
"""

from libc.string cimport memcpy, memset

from ._features cimport DistinctFeatures
from ._segment_chain cimport (
    SegmentWorkspace,
    add_path,
    path_score,
    segment_expectations,
    segment_forward,
    segment_viterbi,
)
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
    targets : ndarray of shape (N,), int32
        Labels of segmentations that the grammar allows.
    grammar : Grammar
    cost, fixed
        As for `TokenStructure`.
    """

    cdef SegmentWorkspace workspace

    def __init__(
        self, DistinctFeatures features, Weights weights, offsets, targets, *, grammar,
        cost=None, fixed=None,
    ):
        longest = int(np.diff(offsets).max(initial=1))
        self.workspace = SegmentWorkspace(longest, grammar)
        super().__init__(
            features, weights, offsets, targets, n_tied=grammar.n_tied, cost=cost,
            fixed=fixed,
        )

    cdef double argmax(self, Values potentials, int* path) noexcept nogil:
        self.workspace.set_tied(potentials.tied)
        return segment_viterbi(self.workspace, potentials.local, self.length, path)

    cdef void set_certain(self, const int* path, Values out) noexcept nogil:
        cdef Py_ssize_t t
        memset(out.local, 0, self.n_local * sizeof(double))
        memset(out.tied, 0, self.n_tied * sizeof(double))
        for t in range(self.length):
            out.local[t * self.n_labels + path[t]] = 1.0
        add_path(self.workspace, path, self.length, 1.0, out.tied)

    cdef double log_partition(self, Values potentials) noexcept nogil:
        self.workspace.set_tied(potentials.tied)
        return segment_forward(self.workspace, potentials.local, self.length)

    cdef double expect(self, Values potentials, Values out) noexcept nogil:
        self.workspace.set_tied(potentials.tied)
        return segment_expectations(
            self.workspace, potentials.local, self.length, out.local, out.tied
        )

    cdef void set_gradient(self) noexcept nogil:
        cdef Py_ssize_t t, n = self.n_labels
        cdef const int* path = &self.labels[self.first]
        memcpy(&self.change[0], self.expected.local, self.n_local * sizeof(double))
        memcpy(&self.sums.edge[0], self.expected.tied, self.n_tied * sizeof(double))
        memset(&self.sums.node[0], 0, n * sizeof(double))
        for t in range(self.length):
            self.change[t * n + path[t]] -= 1.0
            ops.axpy(1.0, &self.change[t * n], &self.sums.node[0], n)
        add_path(self.workspace, path, self.length, -1.0, &self.sums.edge[0])

    cdef double target_score(self, Values potentials) noexcept nogil:
        return path_score(
            self.workspace, potentials.local, potentials.tied,
            &self.labels[self.first], self.length,
        )
