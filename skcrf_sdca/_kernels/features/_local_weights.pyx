"""Local copies of the weights, which workers move side by side, and their aggregation.

Worker p moves a local copy w_p of the weights w by sigma_prime times the change that
its marginals make. While no worker moves anything, the copies are aggregated:

    w  <-  w + sum_p (w_p - w) / sigma_prime,      w_p  <-  w.

The rows of coef are in three tiers, see `FeaturePartition`. The rows of frequent
features are aggregated after every round, together with the biases, which are all
weights but coef. The rows of rare features are aggregated once in many rounds. The rows
of private features, most of all, belong to one worker: it moves them with sigma_prime =
1, they are never aggregated, and no other worker stores them.

Each worker aggregates a part of the weights, so that no two write to the same address.
"""

from libc.string cimport memcpy, memset

from ..math._vecmath cimport ops

import numpy as np


cdef class LocalWeights:
    """The local weights of every worker, and the aggregated ones.

    In all of them the biases come first, then the rows of the shared features, frequent
    ones before rare ones; the private features of its worker follow in local weights.

    Parameters
    ----------
    w : ndarray of shape (n_biases + n_features K,)
        `load` reads it, `store` changes it in place.
    n_biases : int
    n_labels : int
        K. If the rows of coef have different lengths, it is 1, and what is said of
        features holds of single weights.
    shared : ndarray of int32
        Frequent features, then rare features.
    n_frequent : int
    private : list of ndarrays of int32
        Private features of each worker.
    apart : bool, default=False
        See `FeaturePartition`.
    marked : bool, default=False
        Whether each worker marks the rare rows that its visits may have moved, and only
        these are aggregated. It pays where other weights have to follow them.

    Attributes
    ----------
    arrays : ndarray of shape (n_workers, n_biases + n_rows K)
        The local weights.
    """

    def __cinit__(
        self, w, n_biases, n_labels, shared, n_frequent, private, apart=False,
        marked=False,
    ):
        counts = np.array([len(rows) for rows in private])
        bounds = np.concatenate([[0], np.cumsum(counts)])
        first = len(shared) + (np.cumsum(counts) - counts if apart else 0 * counts)
        n_rows = (first + counts).max()
        self.w, self.n_biases, self.n_labels = w, n_biases, n_labels
        self.n_workers = len(private)
        self.n_shared, self.n_frequent = len(shared), n_frequent
        # The system hands out their pages when the threads of workers load them.
        self.arrays = np.zeros((self.n_workers, n_biases + n_rows * n_labels))
        self.local = self.arrays
        self.aggregated = np.zeros(n_biases + self.n_shared * n_labels)
        # One element more than needed: the address of an empty array is not defined.
        self.shared = np.append(shared, 0).astype(np.int32)
        self.private = np.concatenate([*private, [0]]).astype(np.int32)
        self.private_bounds, self.first_private = bounds, first
        self.marks = None
        if marked:
            self.marks = np.zeros((self.n_workers, self.n_shared + 1), dtype=np.uint8)
        self.moved = np.zeros(self.n_shared + 1, dtype=np.int32)
        self.n_moved = np.zeros(self.n_workers, dtype=np.intp)

    cdef void load(self, Py_ssize_t worker) noexcept nogil:
        """Copy w to the local weights of a worker, and a part to those aggregated."""
        cdef Py_ssize_t r, n = self.n_labels, row = n * sizeof(double)
        cdef Py_ssize_t biases = self.n_biases * sizeof(double)
        cdef const double* coef = &self.w[0] + self.n_biases
        cdef double* rows = &self.local[worker, 0] + self.n_biases
        cdef double* aggregated = &self.aggregated[0] + self.n_biases
        memcpy(&self.local[worker, 0], &self.w[0], biases)
        if worker == 0:
            memcpy(&self.aggregated[0], &self.w[0], biases)
        for r in range(self.n_shared):
            memcpy(rows + r * n, coef + self.shared[r] * n, row)
        for r in range(self.part(worker), self.part(worker + 1)):
            memcpy(aggregated + r * n, rows + r * n, row)
        if self.marks is not None:
            memset(&self.marks[worker, 0], 0, self.n_shared)
        rows += self.first_private[worker] * n
        for r in range(self.private_bounds[worker], self.private_bounds[worker + 1]):
            memcpy(rows, coef + self.private[r] * n, row)
            rows += n

    cdef void store(self, Py_ssize_t worker) noexcept nogil:
        """Copy to w the private rows of a worker, and a part of the aggregated rows."""
        cdef Py_ssize_t r, n = self.n_labels, row = n * sizeof(double)
        cdef double* coef = &self.w[0] + self.n_biases
        cdef const double* aggregated = &self.aggregated[0] + self.n_biases
        cdef const double* rows = &self.local[worker, 0] + self.n_biases
        if worker == 0:
            memcpy(&self.w[0], &self.aggregated[0], self.n_biases * sizeof(double))
        for r in range(self.part(worker), self.part(worker + 1)):
            memcpy(coef + self.shared[r] * n, aggregated + r * n, row)
        rows += self.first_private[worker] * n
        for r in range(self.private_bounds[worker], self.private_bounds[worker + 1]):
            memcpy(coef + self.private[r] * n, rows, row)
            rows += n

    cdef Py_ssize_t part(self, Py_ssize_t worker) noexcept nogil:
        """Return the first of the shared rows that a worker loads and stores."""
        return worker * self.n_shared // self.n_workers

    cdef SquaredNorms aggregate(
        self, Py_ssize_t part, bint rare, double sigma_prime
    ) noexcept nogil:
        """Aggregate one of n_workers parts of the biases and the frequent rows, or of
        the rare rows.
        """
        cdef Py_ssize_t first = self.bound(part, rare)
        cdef Py_ssize_t last = self.bound(part + 1, rare)
        cdef SquaredNorms norms = SquaredNorms(0.0, 0.0)
        cdef int row = 0
        # Neighbouring weights are for `join_rows` a single long row.
        if first < last:
            ops.join_rows(
                1.0 / sigma_prime, &row, 1, &self.aggregated[first],
                &self.local[0, first], self.local.shape[1], self.n_workers,
                last - first, &norms.of_sum, &norms.summed,
            )
        return norms

    cdef unsigned char* marks_of(self, Py_ssize_t worker) noexcept nogil:
        """Return the address of the marks of a worker, or NULL."""
        return NULL if self.marks is None else &self.marks[worker, 0]

    cdef SquaredNorms aggregate_moved(
        self, Py_ssize_t part, double sigma_prime
    ) noexcept nogil:
        """Aggregate the marked rows of one of n_workers parts of the rare rows.

        All workers may read the rows in ``moved``; the marks are erased.
        """
        cdef SquaredNorms norms = SquaredNorms(0.0, 0.0)
        cdef Py_ssize_t first = self.first_rare(part)
        cdef Py_ssize_t count = self.find_moved(first, self.first_rare(part + 1))
        self.n_moved[part] = count
        if count > 0:
            ops.join_rows(
                1.0 / sigma_prime, &self.moved[first], count,
                &self.aggregated[0] + self.n_biases, &self.local[0, self.n_biases],
                self.local.shape[1], self.n_workers, self.n_labels,
                &norms.of_sum, &norms.summed,
            )
        return norms

    cdef Py_ssize_t first_rare(self, Py_ssize_t part) noexcept nogil:
        """Return the first of the rare rows of a part."""
        cdef Py_ssize_t n_rare = self.n_shared - self.n_frequent
        return self.n_frequent + part * n_rare // self.n_workers

    cdef Py_ssize_t find_moved(self, Py_ssize_t begin, Py_ssize_t end) noexcept nogil:
        """Write the marked rows begin <= r < end from moved[begin] on; return how many.
        """
        cdef Py_ssize_t r, p, found = begin
        cdef unsigned char is_moved
        for r in range(begin, end):
            is_moved = 0
            for p in range(self.n_workers):
                is_moved |= self.marks[p, r]
            self.moved[found] = <int> r
            found += is_moved
        for p in range(self.n_workers):
            memset(&self.marks[p, begin], 0, end - begin)
        return found - begin

    cdef Py_ssize_t bound(self, Py_ssize_t part, bint rare) noexcept nogil:
        """Return the first of the aggregated weights of a part, see `aggregate`."""
        cdef Py_ssize_t end_frequent = self.n_biases + self.n_frequent * self.n_labels
        cdef Py_ssize_t begin = end_frequent if rare else 0
        cdef Py_ssize_t end = self.aggregated.shape[0] if rare else end_frequent
        return begin + part * (end - begin) // self.n_workers

    cdef void pull(
        self, Py_ssize_t part, bint rare, double shrink, double gain,
        LocalWeights target,
    ) noexcept nogil:
        """Move a part of the aggregated weights toward those of a target."""
        cdef Py_ssize_t k
        for k in range(self.bound(part, rare), self.bound(part + 1, rare)):
            self.aggregated[k] = (
                shrink * self.aggregated[k] + gain * target.aggregated[k]
            )
