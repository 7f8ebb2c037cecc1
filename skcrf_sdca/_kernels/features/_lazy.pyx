"""Weights that move at every visit, each row brought up to date when it is next read.

A visit moves all weights by w <- shrink w + gain target, but a row of coef is read by
the sequences that have its feature only, and its target changes only with them. With
S_v the product of the shrinks of the first v moves and G_v = sum_u gain_u / S_u, a row
that was last up to date after move u is at move v

    w_v = S_v / S_u w_u + S_v (G_v - G_u) target.

So a visit costs in proportion to the features of its sequence, whatever their number.
Where weights follow others, see `SparseWeights`, these are the ones that move.

With a rate for each row, w_j <- (1 - rate_j (1 - shrink)) w_j + gain target_j. This is
for dense rows, where a visit reads all of coef, and so all of it is moved at once.
"""

from ._features cimport DistinctFeatures
from ..math._vecmath cimport ops
from ._weights cimport Weights

import numpy as np

# Below, a new count of moves begins, long before the product underflows.
cdef double SMALLEST_PRODUCT = 1e-100


cdef class LazyWeights:
    """Weights pulled toward a target.

    Parameters
    ----------
    weights : Weights
        Changed in place, or those that they follow.
    target : Weights
        Of the same shape. Its rows change only while the same rows of ``weights`` are
        up to date.
    features : DistinctFeatures
    capacity : int
        Moves between two updates of all rows.
    rates : ndarray of shape (d,), default=None
        Only for weights that follow no others.
    """

    def __init__(
        self, Weights weights, Weights target, DistinctFeatures features, int capacity,
        rates=None,
    ):
        self.weights, self.moved = weights, weights.moved()
        self.target, self.features, self.rates = target, features, rates
        self.shrunk = np.ones(capacity + 1)
        self.gained = np.zeros(capacity + 1)
        self.all_rows = np.arange(weights.n_features, dtype=np.int32)
        self.last_move = np.zeros(weights.n_features, dtype=np.int32)

    cdef void catch_up(self, Py_ssize_t i) noexcept nogil:
        """Bring the rows of the features of sequence i up to date."""
        self.features.take(i)
        self.update(self.features.features(i), self.features.count(i))

    cdef void update(self, const int* rows, Py_ssize_t count) noexcept nogil:
        """Bring the rows named up to date."""
        if count == 0 or self.rates is not None:
            return
        if self.moved.layout.first == NULL:
            ops.pull(
                rows, count, self.n_moves, &self.last_move[0], &self.shrunk[0],
                &self.gained[0], self.target.coef_pointer(),
                <double*> self.moved.coef_pointer(), self.moved.n_labels,
            )
        else:
            self.pull_observed(rows, count)
        self.weights.refresh_rows(rows, count)

    cdef void update_first(self, Py_ssize_t count) noexcept nogil:
        """Bring the first rows up to date."""
        if count > 0:
            self.update(&self.all_rows[0], count)

    cdef void pull_observed(self, const int* rows, Py_ssize_t count) noexcept nogil:
        """Move the rows named as `pull` does, where their lengths differ."""
        cdef Py_ssize_t r, p, last
        cdef const long long* first = self.moved.layout.first
        cdef const double* target = self.target.coef_pointer()
        cdef double* coef = <double*> self.moved.coef_pointer()
        cdef double shrink, gain, product = self.shrunk[self.n_moves]
        for r in range(count):
            last = self.last_move[rows[r]]
            shrink = product / self.shrunk[last]
            gain = product * (self.gained[self.n_moves] - self.gained[last])
            for p in range(first[rows[r]], first[rows[r] + 1]):
                coef[p] = shrink * coef[p] + gain * target[p]
            self.last_move[rows[r]] = self.n_moves

    cdef void move(self, double shrink, double gain) noexcept nogil:
        """Move all weights: rows of coef when next read, the other blocks now."""
        cdef int v = self.n_moves + 1
        self.moved.blend_blocks(shrink, self.target, gain)
        self.weights.refresh_biases()
        if self.rates is not None:
            self.move_rows(shrink, gain)
        self.shrunk[v] = self.shrunk[v - 1] * shrink
        self.gained[v] = self.gained[v - 1] + gain / self.shrunk[v]
        self.n_moves = v
        if v + 1 == self.shrunk.shape[0] or self.shrunk[v] < SMALLEST_PRODUCT:
            self.restart()

    cdef void move_rows(self, double shrink, double gain) noexcept nogil:
        """Move the rows of coef, each by its rate."""
        cdef Py_ssize_t j, k, n = self.moved.n_labels
        cdef const double* target = self.target.coef_pointer()
        cdef double* row = <double*> self.moved.coef_pointer()
        cdef double factor
        for j in range(self.rates.shape[0]):
            factor = 1.0 - self.rates[j] * (1.0 - shrink)
            for k in range(n):
                row[k] = factor * row[k] + gain * target[k]
            row += n
            target += n

    cdef void restart(self) noexcept nogil:
        """Bring all rows up to date, and begin a new count of moves."""
        self.update_first(self.all_rows.shape[0])
        self.forget()

    cdef void forget(self) noexcept nogil:
        """Begin a new count of moves: all rows are up to date."""
        cdef Py_ssize_t j
        for j in range(self.all_rows.shape[0]):
            self.last_move[j] = 0
        self.n_moves = 0
