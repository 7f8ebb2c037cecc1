# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True
"""A Structure over the tokens of a sequence: local potentials (T, K) of their labels.

Owns what does not depend on how the labels of neighbours depend on each other: the
scores of an item under the weights, with costs and fixed scores, and the features of a
change of its expectations. The methods without a docstring have that of `Structure`.
"""

from libc.math cimport fabs
from libc.string cimport memcpy

from ._features cimport DistinctFeatures
from ._structure cimport Structure, Values
from ._vecmath cimport ops
from ._weights cimport Weights, addressable, new_sums

import numpy as np


cdef class TokenStructure(Structure):
    """Sequences of tokens under given weights.

    Parameters
    ----------
    features : DistinctFeatures
    weights : Weights
        Changed in place.
    offsets : ndarray of shape (n + 1,), int64
    targets : ndarray of shape (N,), int32, or Potentials
        Labels, or the expectations of soft labels, which are read at every visit.
    n_tied : int
        How many tied potentials there are.
    cost : ndarray of shape (K, K), default=None
        Added to the local scores: cost[y, k] for label k where the target is y. Not
        with soft labels.
    fixed : FixedScores, default=None
        Added to the scores of the weights.
    """

    def __init__(
        self, DistinctFeatures features, Weights weights, offsets, targets, *, n_tied,
        cost=None, fixed=None,
    ):
        self.rows, self.weights = features.rows, weights
        self.sums = new_sums(features, weights)
        self.offsets, self.cost = offsets, cost
        if isinstance(targets, tuple):
            self.labels, (self.soft_local, soft_tied) = None, targets
            self.soft_tied = addressable(soft_tied.reshape(len(soft_tied), -1))
        else:
            self.labels = targets
        self.n_labels = weights.n_labels
        self.most_local = int(np.diff(offsets).max(initial=1)) * self.n_labels
        self.n_tied = n_tied
        if weights.n_tied != self.n_tied:
            raise ValueError(
                f"{weights.n_tied} tied weights for {self.n_tied} tied potentials"
            )
        self.fixed_local = self.fixed_tied = None
        if fixed is not None:
            self.fixed_local = fixed.local
            self.fixed_tied = addressable(fixed.tied.reshape(-1))
            self.tied = np.empty(max(self.n_tied, 1))
        self.change = np.empty(self.most_local)
        self.potentials, self.expected = self.new_values(), self.new_values()

    cdef Py_ssize_t first_local(self, Py_ssize_t i) noexcept nogil:
        """Return where the tokens of sequence i begin."""
        return self.offsets[i] * self.n_labels

    cdef void set_item(self, Py_ssize_t i) noexcept nogil:
        """Take sequence i, and write its scores, with the cost of each label."""
        cdef Py_ssize_t t, n = self.n_labels
        self.item, self.first = i, self.offsets[i]
        self.length = self.offsets[i + 1] - self.first
        self.n_local = self.length * n
        if self.length == 0:
            return
        self.weights.score_nodes(
            self.rows, self.first, self.length, self.potentials.local
        )
        self.complete_scores(self.potentials.local)
        self.potentials.tied = <double*> &self.weights.transition[0]
        if self.cost is not None:
            for t in range(self.length):
                ops.axpy(
                    1.0, &self.cost[self.labels[self.first + t], 0],
                    self.potentials.local + t * n, n,
                )
        if self.fixed_local is not None:
            ops.axpy(
                1.0, &self.fixed_local[self.first, 0], self.potentials.local,
                self.n_local,
            )
            memcpy(
                &self.tied[0], &self.weights.transition[0],
                self.n_tied * sizeof(double),
            )
            ops.axpy(1.0, &self.fixed_tied[0], &self.tied[0], self.n_tied)
            self.potentials.tied = &self.tied[0]

    cdef void complete_scores(self, double* scores) noexcept nogil:
        """Make of what the weights give to each label its node scores, in place."""

    cdef void set_change(self, Values to, Values start) noexcept nogil:
        cdef Py_ssize_t k
        ops.change(
            to.local, start.local, self.length, self.n_labels, &self.change[0],
            &self.sums.node[0],
        )
        for k in range(self.n_tied):
            self.sums.edge[k] = to.tied[k] - start.tied[k]

    cdef Values soft_target(self) noexcept nogil:
        """Return the expectations of the soft labels."""
        return Values(&self.soft_local[self.first, 0], &self.soft_tied[self.item, 0])

    cdef void sum_features(self) noexcept nogil:
        self.sums.set(self.item, self.first, self.length, &self.change[0])

    cdef void change_scores(self, Values out) noexcept nogil:
        self.sums.score_nodes(self.length, out.local)
        memcpy(out.tied, &self.sums.edge[0], self.n_tied * sizeof(double))

    cdef double change_inner(self, Values potentials) noexcept nogil:
        return (
            ops.dot(&self.change[0], potentials.local, self.n_local)
            + ops.dot(&self.sums.edge[0], potentials.tied, self.n_tied)
        )

    cdef double residual(self) noexcept nogil:
        cdef Py_ssize_t k
        cdef double total = 0.0
        for k in range(self.n_local):
            total += fabs(self.change[k])
        return total

    cdef void add_change(self, Weights out, double step) noexcept nogil:
        out.add_features(
            self.rows, self.first, self.length, step, &self.change[0],
            &self.sums.node[0], &self.sums.edge[0],
        )
