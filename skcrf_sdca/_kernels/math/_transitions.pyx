"""Which transitions exist, where their numbers are, and the sums over them.

A chain has one number for each pair (from, to) of labels that may follow each other: a
score, a marginal, an expectation. All pairs may, and the numbers are a matrix (K, K);
or few of K^2 may, and what is not allowed is neither stored nor visited.

Labels that are reached from the same labels form a block, whose numbers are a matrix
(number of labels before, number of labels) by rows, so that loops over a block run on
vectors: in BIOES all of O, B and S are one block, after O, E and S. A label that shares
its predecessors with few others is a block of its own, a list of predecessors. With all
pairs there is one block. The blocks lie end to end.
"""

from functools import cache, lru_cache

from libc.math cimport INFINITY, exp, log

from skcrf_sdca._kernels.math._vecmath import LEVEL

from ._vecmath cimport addressable, ops

import numpy as np

ctypedef void (*product_function)(
    const double*, const double*, double*, Py_ssize_t, Py_ssize_t) noexcept nogil

cdef extern from "maxplus.h":
    product_function skcrf_row_plus_matrix_of(int level)

cdef product_function row_plus_matrix = skcrf_row_plus_matrix_of(LEVEL)

# Least number of labels with the same predecessors that are a block: for fewer labels,
# lists of predecessors take less time.
SMALLEST_BLOCK = 4
# With more than this part of all pairs, loops over all of them take less time.
SPARSE = 0.34


cdef class TransitionLayout:
    """The pairs of labels that may follow each other, in blocks.

    Parameters
    ----------
    n_labels : int
    allowed : ndarray of shape (n_labels, n_labels), bool, default=None
        Which label may follow which, [from, to]; by default every one.
    without_scores : bool, default=False
        Whether the scores of all pairs are 0. Then the labels that a block leads to
        share one sum over the labels before them, and edge marginals are not summed:
        no weight needs them. Only with `allowed`.

    Attributes
    ----------
    size : int
        How many pairs there are.
    is_dense : bool
        Whether the pairs are all pairs, in the order of a matrix.
    has_free : bool
        Whether other pairs are allowed too, with the score 0: see `SparseTransitions`.
    is_free : bool, or ndarray of shape (n_labels, n_labels)
        Whether pairs without a number here are allowed.
    """

    def __init__(self, Py_ssize_t n_labels, allowed=None, bint without_scores=False):
        self.n_labels, self.without_scores = n_labels, without_scores
        self.has_free, self.buffer_size = False, 4 * n_labels
        self.is_dense = allowed is None
        labels = np.arange(n_labels, dtype=np.int32)
        if self.is_dense:
            blocks = [(labels, labels)]
        else:
            blocks = self.blocks_of(np.asarray(allowed, dtype=bool))
        self.size = sum(len(before) * len(reached) for before, reached in blocks)
        self.set_blocks(blocks)
        if not self.is_dense:
            self.set_pairs(blocks)

    def blocks_of(self, allowed):
        """Return (labels before, labels reached) of each block, as ascending int32."""
        _, number = np.unique(allowed, axis=1, return_inverse=True)
        number = number.reshape(-1)
        sizes = np.bincount(number)
        blocks = []
        for k in range(len(allowed)):
            reached = np.array([k])
            if sizes[number[k]] >= SMALLEST_BLOCK:
                reached = np.flatnonzero(number == number[k])
            if k == reached[0]:
                before = np.flatnonzero(allowed[:, k])
                blocks.append((before.astype(np.int32), reached.astype(np.int32)))
        return blocks

    def set_pairs(self, blocks):
        """List the pairs: of all pairs a list would take as much as a matrix."""
        sources = [np.repeat(before, len(reached)) for before, reached in blocks]
        targets = [np.tile(reached, len(before)) for before, reached in blocks]
        self.from_labels = addressable(np.concatenate(sources))
        self.to_labels = addressable(np.concatenate(targets))
        places = np.full((self.n_labels, self.n_labels), -1, dtype=np.int32)
        places[self.sources, self.targets] = np.arange(self.size)
        self.places = places

    def set_blocks(self, blocks):
        """Lay the labels of the blocks end to end."""
        cdef const int[::1] before = addressable(np.concatenate([b for b, _ in blocks]))
        cdef const int[::1] reached = np.concatenate([r for _, r in blocks])
        cdef const long long[::1] n_before = np.array([len(b) for b, _ in blocks])
        cdef const long long[::1] n_reached = np.array([len(r) for _, r in blocks])
        self.blocks.count, self.blocks.n_labels = len(blocks), self.n_labels
        self.blocks.before, self.blocks.reached = &before[0], &reached[0]
        self.blocks.n_before, self.blocks.n_reached = &n_before[0], &n_reached[0]
        self.arrays = before, reached, n_before, n_reached
        # Where the predecessors of each label, and its pairs with them, are.
        first_before = np.cumsum(n_before) - n_before
        first_pair = np.cumsum(np.multiply(n_before, n_reached))
        first_pair -= np.multiply(n_before, n_reached)
        origins = np.empty((self.n_labels, 4), dtype=np.int64)
        for b, (_, labels) in enumerate(blocks):
            for column, k in enumerate(labels):
                origins[k] = (
                    first_before[b], n_before[b], first_pair[b] + column, n_reached[b]
                )
        self.origins = origins

    def __reduce__(self):
        """Let pickles leave out what follows from the pairs."""
        allowed = None if self.is_dense else np.asarray(self.places) >= 0
        return TransitionLayout, (self.n_labels, allowed, self.without_scores)

    @property
    def is_free(self):
        """Whether pairs without a number are allowed: none is."""
        return False

    @property
    def sources(self):
        """The first label of each pair, an array of int32."""
        if self.is_dense:
            return np.repeat(np.arange(self.n_labels, dtype=np.int32), self.n_labels)
        return np.asarray(self.from_labels)[: self.size]

    @property
    def targets(self):
        """The second label of each pair, an array of int32."""
        if self.is_dense:
            return np.tile(np.arange(self.n_labels, dtype=np.int32), self.n_labels)
        return np.asarray(self.to_labels)[: self.size]

    @property
    def shape(self):
        """The axes of an array of one number for each pair."""
        if self.is_dense:
            return self.n_labels, self.n_labels
        return (self.size,)

    def place_of(self, sources, targets):
        """Return where the pairs of two arrays of labels are, flat."""
        if self.is_dense:
            return sources.astype(np.intp) * self.n_labels + targets
        return np.asarray(self.places)[sources, targets]

    def compact(self, matrix):
        """Return the numbers of the pairs in a matrix (n_labels, n_labels)."""
        return matrix if self.is_dense else matrix[self.sources, self.targets]

    def expand(self, values, fill):
        """Return a matrix (..., n_labels, n_labels) with ``fill`` where no pair is.

        ``fill`` is a number, or such a matrix.
        """
        if self.is_dense:
            return values
        shape = values.shape[: values.ndim - 1] + (self.n_labels, self.n_labels)
        out = np.full(shape, fill, dtype=values.dtype)
        out[..., self.sources, self.targets] = values
        return out

    cdef Py_ssize_t place(self, Py_ssize_t j, Py_ssize_t k) noexcept nogil:
        """Return where the pair (j, k) is, FORBIDDEN if it does not exist."""
        if self.is_dense:
            return j * self.n_labels + k
        return self.places[j, k]

    cdef void forward(
        self,
        const double* row,              # in, (K,)
        const double* matrix,           # in, (size,), and the number of free pairs
        const double* excess,           # in, matrix - that number, beside free pairs
        double* buffer,                 # (K,)
        double* out,                    # out, (K,)
    ) noexcept nogil:
        """Write out[k] = sum_j row[j] matrix[j, k]."""
        if self.is_dense:
            ops.row_times_matrix(row, matrix, out, self.n_labels)
        elif self.without_scores:
            share_forward(&self.blocks, row, out)
        else:
            ops.row_times_blocks(&self.blocks, row, matrix, buffer, out)

    cdef void backward(
        self,
        const double* column,           # in, (K,)
        const double* matrix,           # in, (size,), and the number of free pairs
        const double* derived,          # in, the transpose if dense, or excess, twice
        double* buffer,                 # (K,)
        double* out,                    # out, (K,)
    ) noexcept nogil:
        """Write out[j] = sum_k matrix[j, k] column[k]."""
        if self.is_dense:
            ops.row_times_matrix(column, derived, out, self.n_labels)
        elif self.without_scores:
            share_backward(&self.blocks, column, out)
        else:
            ops.blocks_times_column(&self.blocks, matrix, column, buffer, out)

    cdef void set_excess(
        self,
        const double* matrix,           # in, (size,), and the number of free pairs
        double* excess,                 # out, (size,)
    ) noexcept nogil:
        """Write what the numbers of pairs exceed the number of free pairs by."""

    cdef void set_transpose(
        self,
        const double* matrix,           # in, (size,)
        double* derived,                # out, as `backward` takes it
    ) noexcept nogil:
        """Write the numbers in the order in which `backward` needs them."""
        if self.is_dense:
            ops.transpose(matrix, self.n_labels, derived)

    cdef void scale(
        self,
        const double* left,             # in, (K,)
        const double* matrix,           # in, (size,)
        const double* right,            # in, (K,)
        double* buffer,                 # (K,)
        double* out,                    # out, (size,)
    ) noexcept nogil:
        """Write out[j, k] = left[j] matrix[j, k] right[k]."""
        if self.is_dense:
            ops.scale_matrix(left, matrix, right, out, self.n_labels)
        else:
            ops.scale_blocks(&self.blocks, left, matrix, right, buffer, out)

    cdef void add_outer(
        self,
        const double* left,             # in, (count, K)
        const double* right,            # in, (count, K)
        Py_ssize_t count,
        double* buffer,                 # (buffer_size,)
        double* out,                    # in, out, (size,)
    ) noexcept nogil:
        """Add sum_t left[t, j] right[t, k] to out[j, k]."""
        cdef Py_ssize_t t, first, n = self.n_labels
        for t in range(count):
            first = t * n
            if self.is_dense:
                ops.add_outer(left + first, right + first, out, n)
            elif not self.without_scores:
                ops.add_outer_blocks(
                    &self.blocks, left + first, right + first, buffer, out
                )

    cdef void log_scale(
        self,
        const double* left,             # in, (K,)
        const double* matrix,           # in, (size,)
        const double* right,            # in, (K,)
        double* out,                    # out, (size,)
    ) noexcept nogil:
        """Write out[j, k] = left[j] + matrix[j, k] + right[k]."""
        cdef Py_ssize_t b, i, k, p = 0
        cdef const int* before = self.blocks.before
        cdef const int* reached = self.blocks.reached
        for b in range(self.blocks.count):
            for i in range(self.blocks.n_before[b]):
                for k in range(self.blocks.n_reached[b]):
                    out[p] = left[before[i]] + matrix[p] + right[reached[k]]
                    p += 1
            before += self.blocks.n_before[b]
            reached += self.blocks.n_reached[b]

    # Of all x[j, k] = added[j] + matrix[j, k] the log-sums over j, or with added[k] the
    # log-sums over k: out = shift + log sum exp(x - shift), with shift the largest x.
    cdef void log_sums(
        self,
        const double* added,            # in, (K,)
        const double* matrix,           # in, (size,)
        bint to,
        double* buffer,                 # (4 K,), beside free pairs (5 K,)
        double* out,                    # out, (K,) -inf for a sum of nothing
    ) noexcept nogil:
        """Write the log-sums over what leads to each label, or else from each label."""
        cdef Py_ssize_t b, i, k, p, label, other
        cdef int only_shift
        cdef double x
        cdef double* shift = buffer
        cdef const int* before
        cdef const int* reached
        for k in range(self.n_labels):
            shift[k] = -INFINITY
            out[k] = 0.0
        for only_shift in range(1, -1, -1):
            before, reached, p = self.blocks.before, self.blocks.reached, 0
            for b in range(self.blocks.count):
                for i in range(self.blocks.n_before[b]):
                    for k in range(self.blocks.n_reached[b]):
                        label, other = reached[k], before[i]
                        if not to:
                            label, other = other, label
                        x = added[other] + matrix[p]
                        p += 1
                        if only_shift:
                            shift[label] = max(shift[label], x)
                        elif shift[label] > -INFINITY:
                            out[label] += exp(x - shift[label])
                before += self.blocks.n_before[b]
                reached += self.blocks.n_reached[b]
        for k in range(self.n_labels):
            out[k] = shift[k] + log(out[k]) if shift[k] > -INFINITY else -INFINITY

    cdef void best(
        self,
        const double* row,              # in, (K,)
        const double* matrix,           # in, (size,)
        double* buffer,                 # (2 K,), beside free pairs (4 K,)
        double* out,                    # out, (K,) -inf for a maximum of nothing
    ) noexcept nogil:
        """Write out[k] = max_j(row[j] + matrix[j, k])."""
        cdef Py_ssize_t b, i, n_before, n_reached
        cdef const int* before = self.blocks.before
        cdef const int* reached = self.blocks.reached
        cdef double* found = buffer + self.n_labels
        if self.is_dense:
            row_plus_matrix(row, matrix, out, self.n_labels, self.n_labels)
            return
        if self.without_scores:
            share_best(&self.blocks, row, out)
            return
        for b in range(self.blocks.count):
            n_before, n_reached = self.blocks.n_before[b], self.blocks.n_reached[b]
            for i in range(n_before):
                buffer[i] = row[before[i]]
            if n_before > 0:
                row_plus_matrix(buffer, matrix, found, n_before, n_reached)
            for i in range(n_reached):
                out[reached[i]] = found[i] if n_before > 0 else -INFINITY
            before += n_before
            reached += n_reached
            matrix += n_before * n_reached

    cdef int origin(
        self,
        const double* row,              # in, (K,)
        const double* matrix,           # in, (size,)
        Py_ssize_t k,
        double reached,
    ) noexcept nogil:
        """Return the first j with row[j] + matrix[j, k] == reached.

        If that is NaN, or no pair leads to k, return 0.
        """
        cdef const long long* place = &self.origins[k, 0]
        cdef const int* before = self.blocks.before + place[0]
        cdef Py_ssize_t j
        cdef int first = 0
        for j in range(place[1] - 1, -1, -1):
            if row[before[j]] + matrix[place[2] + j * place[3]] == reached:
                first = before[j]
        return first


cdef void share_forward(
    const skcrf_blocks* blocks,
    const double* row,                  # in, (K,)
    double* out,                        # out, (K,)
) noexcept nogil:
    """Write out[k], the sum of row[j] over the labels j before k."""
    cdef Py_ssize_t b, i
    cdef const int* before = blocks.before
    cdef const int* reached = blocks.reached
    cdef double total
    for b in range(blocks.count):
        total = 0.0
        for i in range(blocks.n_before[b]):
            total += row[before[i]]
        for i in range(blocks.n_reached[b]):
            out[reached[i]] = total
        before += blocks.n_before[b]
        reached += blocks.n_reached[b]


cdef void share_backward(
    const skcrf_blocks* blocks,
    const double* column,               # in, (K,)
    double* out,                        # out, (K,)
) noexcept nogil:
    """Write out[j], the sum of column[k] over the labels k after j."""
    cdef Py_ssize_t b, i
    cdef const int* before = blocks.before
    cdef const int* reached = blocks.reached
    cdef double total
    for i in range(blocks.n_labels):
        out[i] = 0.0
    for b in range(blocks.count):
        total = 0.0
        for i in range(blocks.n_reached[b]):
            total += column[reached[i]]
        for i in range(blocks.n_before[b]):
            out[before[i]] += total
        before += blocks.n_before[b]
        reached += blocks.n_reached[b]


cdef void share_best(
    const skcrf_blocks* blocks,
    const double* row,                  # in, (K,)
    double* out,                        # out, (K,)
) noexcept nogil:
    """Write out[k], the largest row[j] of the labels j before k."""
    cdef Py_ssize_t b, i
    cdef const int* before = blocks.before
    cdef const int* reached = blocks.reached
    cdef double largest
    for b in range(blocks.count):
        largest = -INFINITY
        for i in range(blocks.n_before[b]):
            largest = max(largest, row[before[i]])
        for i in range(blocks.n_reached[b]):
            out[reached[i]] = largest
        before += blocks.n_before[b]
        reached += blocks.n_reached[b]


def layout_of(allowed):
    """Return the layout of the allowed pairs: of all pairs, unless few are allowed."""
    if 0 < np.count_nonzero(allowed) <= SPARSE * allowed.size:
        return _lists_of(len(allowed), np.asarray(allowed, dtype=bool).tobytes())
    return all_transitions(len(allowed))


# Each prediction asks for the layout of its model, and blocks take longer to make than
# one sentence to decode.
@lru_cache(maxsize=8)
def _lists_of(n_labels, allowed):
    """Return the layout of the pairs in the bytes of a matrix of bool."""
    pairs = np.frombuffer(allowed, dtype=bool).reshape(n_labels, n_labels)
    return TransitionLayout(n_labels, pairs)


@cache
def all_transitions(n_labels):
    """Return the layout of all pairs of labels."""
    return TransitionLayout(n_labels)
