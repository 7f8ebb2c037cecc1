"""Features of a change that is 0 at most positions: from one labelling to another.

Where the best labelling differs from the target at a few tokens, only the features of
these tokens have a sum other than 0. `ChangedSums` keeps and adds these alone: a visit
then reads the features of all tokens once, for their scores.
"""

from libc.string cimport memset

from ._features cimport DistinctFeatures, FeatureRows
from ..math._vecmath cimport ops
from ._weights cimport FeatureSums, Weights

import numpy as np


cdef class ChangedSums(FeatureSums):
    """Sums over the positions where a change is not 0.

    The rows of ``distinct`` belong to the features ``found``, in order of their first
    occurrence at such a position. All changes count once, see `sigma_prime`.

    Parameters
    ----------
    features : DistinctFeatures
        Of sparse rows.
    weights : Weights
        Those that `add_to_weights` moves; every feature has all labels.
    """

    def __init__(self, DistinctFeatures features, Weights weights):
        widest = int(np.diff(features.rows.indptr).max(initial=1))
        self.place = np.full(max(weights.n_features, 1), -1, dtype=np.int32)
        self.found = np.empty(max(features.max_count, 1), dtype=np.int32)
        self.places = np.empty(widest, dtype=np.int32)

    cdef void set(
        self,
        Py_ssize_t i, Py_ssize_t first, Py_ssize_t length,
        const double* node_values,              # in, (T, K): kept, not copied
    ) noexcept nogil:
        """Take the change of sequence i; its sums node and edge have been written."""
        cdef Py_ssize_t r, t, n = self.weights.n_labels
        self.i, self.first = i, first
        self.first_node = node_values
        self.last_node = node_values + (length - 1) * n
        for r in range(self.n_found):
            self.place[self.found[r]] = -1
        self.n_found = 0
        for t in range(length):
            if has_change(node_values + t * n, n):
                self.add_row(first + t, node_values + t * n)

    cdef void add_row(
        self, Py_ssize_t t,
        const double* change,                   # in, (K,)
    ) noexcept nogil:
        """Add the change of one position to the sums of its features."""
        cdef Py_ssize_t j, n = self.weights.n_labels
        cdef Py_ssize_t first = self.features.rows.indptr[t]
        cdef Py_ssize_t count = self.features.rows.indptr[t + 1] - first
        cdef int feature
        for j in range(count):
            feature = self.features.rows.columns[first + j]
            if self.place[feature] < 0:
                self.place[feature] = <int> self.n_found
                self.found[self.n_found] = feature
                memset(&self.distinct[self.n_found * n], 0, n * sizeof(double))
                self.n_found += 1
            self.places[j] = self.place[feature]
        ops.scatter(
            1.0, self.features.rows.entries + first, &self.places[0], count, change,
            &self.distinct[0], n,
        )

    cdef const int* rows(self) noexcept nogil:
        """Return the address of the features whose sums ``distinct`` has."""
        return &self.found[0]

    cdef Py_ssize_t n_rows(self) noexcept nogil:
        """Return how many features these are."""
        return self.n_found

    cdef double squared_norm(self) noexcept nogil:
        """Return the squared norm over all blocks."""
        cdef const double* sums = &self.distinct[0]
        cdef Py_ssize_t n = self.n_found * self.weights.n_labels
        return self.squared_norm_of_blocks() + ops.dot(sums, sums, n)

    cdef void score_nodes(
        self, Py_ssize_t length,
        double* scores,                         # out, (T, K)
    ) noexcept nogil:
        """Write the node scores of sequence i with the features as weights."""
        cdef Py_ssize_t t, j, n = self.weights.n_labels
        cdef int place
        self.score_blocks(length, scores)
        for t in range(length):
            for j in range(
                self.features.rows.indptr[self.first + t],
                self.features.rows.indptr[self.first + t + 1],
            ):
                place = self.place[self.features.rows.columns[j]]
                if place >= 0:
                    ops.axpy(
                        self.features.rows.entries[j], &self.distinct[place * n],
                        scores + t * n, n,
                    )

    cdef void add_to_weights(self, double step) noexcept nogil:
        """Add step times the features to all blocks."""
        self.add_to(self.weights, step)

    cdef void add_to(self, Weights out, double step) noexcept nogil:
        """Add step times the features to all blocks of other weights."""
        ops.move_rows(
            step, &self.distinct[0], &self.found[0], self.n_found,
            <double*> out.coef_pointer(), out.n_labels,
        )
        out.add_to_blocks(
            step, self.first_node, self.last_node, &self.node[0], &self.edge[0]
        )


cdef FeatureSums changed_sums(FeatureSums sums):
    """Return sums for changes that are 0 at most positions, for any features.

    Rows that are not stored are made for such positions alone, whatever the sums.
    """
    cdef FeatureRows rows = sums.features.rows
    if rows.is_sparse and rows.is_stored and sums.weights.layout.first == NULL:
        return ChangedSums(sums.features, sums.weights)
    return sums
