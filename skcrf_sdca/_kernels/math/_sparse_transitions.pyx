"""Scores of few pairs of labels, beside free pairs, which all have the score 0.

The matrix of exp(transition) is then a matrix of ones, 0 where a pair is forbidden,
plus a sparse one with the entries exp(transition[j, k]) - 1 of the pairs with a score:
sums over all pairs take time in proportion to K and the pairs with a score, not to K^2
[Lavergne, Cappe, Yvon, "Practical very large scale CRFs", ACL 2010, section 4].

Where the scores of the likely labels before a label are far below 0, little is left of
the sum over the free pairs, and digits are lost. Such sums are made anew, term by term:
no sum is kept that is less than LEAST_SHARE of the sum from which it was taken.
"""

from functools import lru_cache

from libc.math cimport INFINITY, exp, log
from libc.string cimport memcpy, memset

from ._math cimport forbid, maximum
from ._transitions cimport (
    FORBIDDEN,
    FREE,
    TransitionLayout,
    share_backward,
    share_best,
    share_forward,
)
from ._vecmath cimport SKCRF_ROWS, addressable, ops, skcrf_blocks

import numpy as np

from ._transitions import all_transitions, layout_of

# What is left of a sum after pairs were taken out of it has as many digits as this
# share of it has, at least.
cdef double LEAST_SHARE = 1.0 / 32.0
# Exponentials of numbers far below the maximum are not exact.
cdef double LEAST_EXPONENTIAL = 1e-280
# With fewer labels, or more than this part of all pairs, loops over a matrix take less
# time.
LEAST_LABELS = 64
FEW = 0.1
# Where fewer than this part of the labels lead to a label, they are tried one by one.
NARROW = 0.25


cdef struct Lists:
    Py_ssize_t count
    const int* label                    # (count,) of each list
    const int* start                    # (count + 1,) where it begins
    const int* pair                     # of each entry, its number
    const int* other                    # of each entry, the other label of the pair


cdef class FreeSums:
    """Sums and maxima over all allowed pairs, as if each had the score 0.

    Labels before which lead to the same labels are a class: they are summed once. The
    labels after, which the same classes lead to, share a sum.

    Parameters
    ----------
    allowed : ndarray of shape (n_labels, n_labels), bool
        Which label may follow which, [from, to].
    """

    cdef Py_ssize_t n_labels, n_classes
    cdef const int[::1] class_of        # (K,)
    cdef skcrf_blocks blocks            # of classes before, and labels reached
    cdef object arrays                  # owners of what blocks points to

    def __init__(self, allowed):
        classes, class_of = np.unique(allowed, axis=0, return_inverse=True)
        columns, column_of = np.unique(classes, axis=1, return_inverse=True)
        before = [np.flatnonzero(column) for column in columns.T]
        reached = np.argsort(column_of.reshape(-1), kind="stable")
        self.n_labels, self.n_classes = len(allowed), len(classes)
        self.class_of = class_of.reshape(-1).astype(np.int32)
        cdef const int[::1] labels_before = addressable(
            np.concatenate(before).astype(np.int32)
        )
        cdef const int[::1] labels_reached = reached.astype(np.int32)
        cdef const long long[::1] n_before = np.array([len(own) for own in before])
        cdef const long long[::1] n_reached = np.bincount(column_of.reshape(-1))
        self.blocks.count, self.blocks.n_labels = len(before), self.n_classes
        self.blocks.before, self.blocks.reached = &labels_before[0], &labels_reached[0]
        self.blocks.n_before, self.blocks.n_reached = &n_before[0], &n_reached[0]
        self.arrays = labels_before, labels_reached, n_before, n_reached

    cdef void forward(
        self,
        const double* row,              # in, (K,)
        double* buffer,                 # (K,)
        double* out,                    # out, (K,)
    ) noexcept nogil:
        """Write out[k], the sum of row[j] over the labels j before k."""
        cdef Py_ssize_t j
        memset(buffer, 0, self.n_classes * sizeof(double))
        for j in range(self.n_labels):
            buffer[self.class_of[j]] += row[j]
        share_forward(&self.blocks, buffer, out)

    cdef void backward(
        self,
        const double* column,           # in, (K,)
        double* buffer,                 # (K,)
        double* out,                    # out, (K,)
    ) noexcept nogil:
        """Write out[j], the sum of column[k] over the labels k after j."""
        cdef Py_ssize_t j
        share_backward(&self.blocks, column, buffer)
        for j in range(self.n_labels):
            out[j] = buffer[self.class_of[j]]

    cdef void best(
        self,
        const double* row,              # in, (K,)
        double* buffer,                 # (K,)
        double* out,                    # out, (K,)
    ) noexcept nogil:
        """Write out[k], the largest row[j] of the labels j before k."""
        cdef Py_ssize_t j
        cdef int own
        for j in range(self.n_classes):
            buffer[j] = -INFINITY
        for j in range(self.n_labels):
            own = self.class_of[j]
            buffer[own] = max(buffer[own], row[j])
        share_best(&self.blocks, buffer, out)


cdef class SparseTransitions(TransitionLayout):
    """Pairs of labels with a score, beside free ones of score 0.

    Parameters
    ----------
    pairs : ndarray of shape (n_labels, n_labels), bool
        Which pairs [from, to] have a score.
    allowed : ndarray of shape (n_labels, n_labels), bool, default=None
        Which label may follow which; by default every one. All ``pairs`` are allowed.

    Attributes
    ----------
    free : TransitionLayout
        Of all allowed pairs.
    """

    cdef readonly TransitionLayout free
    cdef FreeSums sums                          # None if all pairs are allowed
    cdef Lists to_target, from_source
    cdef bint is_large                          # at least LEAST_LABELS labels
    cdef double narrow                          # NARROW of the labels

    def __init__(self, pairs, allowed=None):
        n_labels = len(pairs)
        super().__init__(n_labels, pairs)
        self.has_free, self.is_large = True, n_labels >= LEAST_LABELS
        self.buffer_size, self.narrow = 2 * SKCRF_ROWS * n_labels, NARROW * n_labels
        if allowed is None or np.all(allowed):
            self.free = all_transitions(n_labels)
        else:
            self.free = TransitionLayout(n_labels, allowed, without_scores=True)
            self.sums = FreeSums(allowed)
        targets, sources = self.targets, self.sources
        self.to_target = self.lists_by(targets, sources)
        self.from_source = self.lists_by(sources, targets)

    def blocks_of(self, allowed):
        """Return a block for each label, by rising number of the labels before it."""
        labels = np.argsort(allowed.sum(axis=0), kind="stable").astype(np.int32)
        return [
            (np.flatnonzero(allowed[:, k]).astype(np.int32), labels[i : i + 1])
            for i, k in enumerate(labels)
        ]

    cdef Lists lists_by(self, labels, others):
        """Return the pairs in lists, one for each of the labels."""
        count = np.bincount(labels, minlength=self.n_labels)
        # By rising length, so that the processor predicts where a list ends.
        order = np.argsort(count, kind="stable")
        rank = np.empty_like(order)
        rank[order] = np.arange(self.n_labels)
        pair = np.argsort(rank[labels], kind="stable")
        start = np.concatenate([[0], np.cumsum(count[order])])
        cdef const int[::1] own = order.astype(np.int32)
        cdef const int[::1] starts = start.astype(np.int32)
        cdef const int[::1] pairs = addressable(pair.astype(np.int32))
        cdef const int[::1] other = addressable(others[pair])
        cdef Lists lists
        self.arrays = self.arrays, own, starts, pairs, other
        lists.count, lists.label, lists.start = self.n_labels, &own[0], &starts[0]
        lists.pair, lists.other = &pairs[0], &other[0]
        return lists

    def __reduce__(self):
        """Let pickles leave out what follows from the pairs."""
        allowed = None if self.free.is_dense else self.is_free
        return SparseTransitions, (np.asarray(self.places) >= 0, allowed)

    @property
    def is_free(self):
        """Whether pairs without a score are allowed: True, or a matrix of bool."""
        if self.free.is_dense:
            return True
        return np.asarray(self.free.places) >= 0

    cdef Py_ssize_t place(self, Py_ssize_t j, Py_ssize_t k) noexcept nogil:
        """Return where the pair (j, k) is, -1 if it is forbidden, -2 if it is free."""
        if self.places[j, k] < 0 and self.free.place(j, k) >= 0:
            return FREE
        return self.places[j, k]

    # The excess of the pairs, matrix - free, is there twice: in the order of the pairs,
    # and behind these by the label that each comes from.
    cdef void set_excess(
        self, const double* matrix, double* excess
    ) noexcept nogil:
        cdef Py_ssize_t p
        for p in range(self.size):
            excess[p] = matrix[p] - matrix[self.size]

    cdef void set_transpose(
        self, const double* matrix, double* excess
    ) noexcept nogil:
        cdef Py_ssize_t p
        for p in range(self.size):
            excess[self.size + p] = excess[self.from_source.pair[p]]

    cdef void forward(
        self, const double* row, const double* matrix, const double* excess,
        double* buffer, double* out,
    ) noexcept nogil:
        sum_lists(&self.to_target, row, excess, out)
        if not self.free.is_dense:
            self.sum_allowed(True, row, buffer + self.n_labels, buffer)
        self.add_shared(True, row, matrix, buffer, out)

    cdef void backward(
        self, const double* column, const double* matrix, const double* excess,
        double* buffer, double* out,
    ) noexcept nogil:
        sum_lists(&self.from_source, column, excess + self.size, out)
        if not self.free.is_dense:
            self.sum_allowed(False, column, buffer + self.n_labels, buffer)
        self.add_shared(False, column, matrix, buffer, out)

    cdef void add_outer(
        self, const double* left, const double* right, Py_ssize_t count, double* buffer,
        double* out,
    ) noexcept nogil:
        cdef Py_ssize_t i, p, t, first, n = self.n_labels
        cdef double factor
        if self.is_large:
            ops.sum_outer_blocks(&self.blocks, left, right, count, buffer, out)
            return
        for t in range(count):
            first = t * n
            for i in range(n):
                factor = right[first + self.to_target.label[i]]
                for p in range(self.to_target.start[i], self.to_target.start[i + 1]):
                    out[p] += left[first + self.to_target.other[p]] * factor

    cdef void add_shared(
        self,
        bint to,                        # the sums over what leads to k, or else from k
        const double* row,              # in, (K,)
        const double* matrix,           # in, (size + 1,)
        const double* shared,           # in, (K,) sums of row over allowed pairs
        double* out,                    # in, out, (K,) sums over pairs with a score
    ) noexcept nogil:
        """Add what all allowed pairs share to the excess of those with a score.

        If all pairs are allowed, ``shared`` is not read.
        """
        cdef Py_ssize_t k
        cdef bint is_all = self.free.is_dense
        cdef double base, total = sum_of_all(row, self.n_labels) if is_all else 0.0
        for k in range(self.n_labels):
            base = matrix[self.size] * (total if is_all else shared[k])
            out[k] += base
            if out[k] < LEAST_SHARE * base:
                out[k] = self.sum_of(k, to, row, matrix)

    cdef double sum_of(
        self,
        Py_ssize_t k,
        bint to,                        # the sum over what leads to k, or else from k
        const double* row,              # in, (K,)
        const double* matrix,           # in, (size + 1,)
    ) noexcept nogil:
        """Return sum_j row[j] matrix[j, k], or sum_j matrix[k, j] row[j]."""
        cdef Py_ssize_t j, place
        cdef double value = 0.0
        for j in range(self.n_labels):
            place = self.place(j, k) if to else self.place(k, j)
            if place == FREE:
                place = self.size
            if place >= 0:
                value += row[j] * matrix[place]
        return value

    cdef void log_sums(
        self,
        const double* added,            # in, (K,)
        const double* matrix,           # in, (size,)
        bint to,
        double* buffer,                 # (5 K,)
        double* out,                    # out, (K,) -inf for a sum of nothing
    ) noexcept nogil:
        cdef Py_ssize_t k, p, label, other, n = self.n_labels
        cdef const int* ends = &self.to_labels[0] if to else &self.from_labels[0]
        cdef const int* others = &self.from_labels[0] if to else &self.to_labels[0]
        cdef double largest = maximum(added, n)
        cdef double* shift = buffer
        cdef double* exponential = shift + n
        cdef double* base = exponential + n
        cdef double* factor = base + n
        for k in range(n):
            shift[k], out[k] = largest, -INFINITY
        if largest == -INFINITY:
            return
        ops.exp(added, largest, exponential, n)
        forbid(added, exponential, n)
        self.sum_allowed(to, exponential, factor + n, base)
        for p in range(self.size):
            shift[ends[p]] = max(shift[ends[p]], added[others[p]] + matrix[p])
        for k in range(n):
            factor[k] = exp(largest - shift[k])
            out[k] = factor[k] * base[k]
        for p in range(self.size):
            label, other = ends[p], others[p]
            out[label] += exp(added[other] + matrix[p] - shift[label])
            out[label] -= factor[label] * exponential[other]
        for k in range(n):
            if (
                out[k] < LEAST_SHARE * factor[k] * base[k]
                or base[k] < LEAST_EXPONENTIAL
            ):
                out[k] = self.log_sum_of(k, to, added, matrix)
            else:
                out[k] = shift[k] + log(out[k])

    cdef void sum_allowed(
        self,
        bint to,                        # the sums over what leads to k, or else from k
        const double* row,              # in, (K,)
        double* buffer,                 # (K,)
        double* out,                    # out, (K,)
    ) noexcept nogil:
        """Write the sums of a row over all allowed pairs."""
        if self.free.is_dense:
            share_forward(&self.free.blocks, row, out)
        elif to:
            self.sums.forward(row, buffer, out)
        else:
            self.sums.backward(row, buffer, out)

    cdef double log_sum_of(
        self,
        Py_ssize_t k,
        bint to,                        # the sum over what leads to k, or else from k
        const double* added,            # in, (K,)
        const double* matrix,           # in, (size,)
    ) noexcept nogil:
        """Return the log-sum of all added[j] + matrix[j, k], or matrix[k, j]."""
        cdef Py_ssize_t j, place
        cdef double x, value = 0.0, shift = -INFINITY
        cdef int only_shift
        for only_shift in range(1, -1, -1):
            for j in range(self.n_labels):
                place = self.place(j, k) if to else self.place(k, j)
                if place == FORBIDDEN:
                    continue
                x = added[j] if place == FREE else added[j] + matrix[place]
                if only_shift:
                    shift = max(shift, x)
                elif shift > -INFINITY:
                    value += exp(x - shift)
        return shift + log(value) if shift > -INFINITY else -INFINITY

    # Of the free pairs the labels are tried in falling order of the row, until one is
    # no better than the best pair with a score: next to all pairs are free, so that
    # there are few to try. Where few labels lead to a label, all of these are tried.
    cdef void best(
        self,
        const double* row,              # in, (K,)
        const double* matrix,           # in, (size,)
        double* buffer,                 # (4 K,)
        double* out,                    # out, (K,) -inf for a maximum of nothing
    ) noexcept nogil:
        cdef Py_ssize_t k, p, n_sorted = 0, n = self.n_labels
        cdef double* left = buffer
        cdef int* falling = <int*> (buffer + n)
        cdef double* shared = buffer + 2 * n
        memcpy(left, row, n * sizeof(double))
        for k in range(n):
            out[k] = -INFINITY
        for p in range(self.size):
            k = self.to_labels[p]
            out[k] = max(out[k], row[self.from_labels[p]] + matrix[p])
        if not self.free.is_dense:
            self.sums.best(row, shared + n, shared)
        for k in range(n):
            if not self.free.is_dense:
                if not shared[k] > out[k]:
                    continue
                if self.origins[k, 1] == 0:
                    out[k] = shared[k]
                    continue
                if self.free.origins[k, 1] < self.narrow:
                    self.try_all(row, k, out)
                    continue
            self.try_in_order(row, k, left, falling, &n_sorted, out)

    cdef void try_all(
        self, const double* row, Py_ssize_t k, double* out
    ) noexcept nogil:
        """Raise out[k] to the largest of the row whose label is free before label k."""
        cdef Py_ssize_t i
        cdef const long long* place = &self.free.origins[k, 0]
        cdef const int* before = self.free.blocks.before + place[0]
        for i in range(place[1]):
            if row[before[i]] > out[k] and self.places[before[i], k] < 0:
                out[k] = row[before[i]]

    cdef void try_in_order(
        self,
        const double* row,              # in, (K,)
        Py_ssize_t k,
        double* left,                   # in, out, (K,) what is not sorted yet
        int* falling,                   # in, out, (K,) labels in falling order
        Py_ssize_t* n_sorted,           # in, out
        double* out,                    # in, out, (K,)
    ) noexcept nogil:
        """Do the same, by the labels in falling order of the row."""
        cdef Py_ssize_t r
        for r in range(self.n_labels):
            if r == n_sorted[0]:
                falling[r] = largest_of(left, self.n_labels)
                left[falling[r]] = -INFINITY
                n_sorted[0] += 1
            if not row[falling[r]] > out[k]:
                break
            if self.place(falling[r], k) == FREE:
                out[k] = row[falling[r]]
                break

    cdef int origin(
        self,
        const double* row,              # in, (K,)
        const double* matrix,           # in, (size,)
        Py_ssize_t k,
        double reached,
    ) noexcept nogil:
        cdef const long long* place = &self.origins[k, 0]
        cdef const int* before = self.blocks.before + place[0]
        cdef Py_ssize_t j, first = self.n_labels
        for j in range(place[1] - 1, -1, -1):
            if row[before[j]] + matrix[place[2] + j * place[3]] == reached:
                first = before[j]
        for j in range(first):
            if row[j] == reached and self.place(j, k) == FREE:
                return <int> j
        return <int> first if first < self.n_labels else 0


def layout_of_scores(scores):
    """Return the layout for which inference takes the least time, of fitted scores.

    Parameters
    ----------
    scores : ndarray of shape (n_labels, n_labels)
        -inf forbids. What is 0 need not be stored.

    Returns
    -------
    layout : TransitionLayout
    """
    allowed = scores != -np.inf
    layout = layout_of(allowed)
    if not layout.is_dense or len(scores) < LEAST_LABELS:
        return layout
    pairs = allowed & (scores != 0.0)
    if np.count_nonzero(pairs) > FEW * pairs.size:
        return layout
    return _lists_beside_free(len(pairs), pairs.tobytes(), allowed.tobytes())


@lru_cache(maxsize=8)
def _lists_beside_free(n_labels, *masks):
    """Return the layout of two masks in bytes: pairs with a score, and allowed ones."""
    shape = n_labels, n_labels
    masks = (np.frombuffer(m, dtype=bool).reshape(shape) for m in masks)
    return SparseTransitions(*masks)


# Four sums at a time, since an addition takes as long as four can be begun in.
cdef void sum_lists(
    const Lists* lists,
    const double* row,                  # in, (K,)
    const double* numbers,              # in, (size,) in the order of the lists
    double* out,                        # out, (K,)
) noexcept nogil:
    """Write the sum over each list of row[other] times the number of the pair."""
    cdef Py_ssize_t i, p, end
    cdef double a, b, c, d
    cdef const int* other = lists.other
    for i in range(lists.count):
        p, end = lists.start[i], lists.start[i + 1]
        a = b = c = d = 0.0
        while p + 3 < end:
            a += row[other[p]] * numbers[p]
            b += row[other[p + 1]] * numbers[p + 1]
            c += row[other[p + 2]] * numbers[p + 2]
            d += row[other[p + 3]] * numbers[p + 3]
            p += 4
        while p < end:
            a += row[other[p]] * numbers[p]
            p += 1
        out[lists.label[i]] = (a + b) + (c + d)


cdef double sum_of_all(const double* x, Py_ssize_t n) noexcept nogil:
    """Return the sum of n numbers, made in four parts."""
    cdef Py_ssize_t i, whole = n - n % 4
    cdef double a = 0.0, b = 0.0, c = 0.0, d = 0.0
    for i in range(0, whole, 4):
        a += x[i]
        b += x[i + 1]
        c += x[i + 2]
        d += x[i + 3]
    for i in range(whole, n):
        a += x[i]
    return (a + b) + (c + d)


cdef int largest_of(const double* x, Py_ssize_t n) noexcept nogil:
    """Return the number of the largest, the first of equal ones."""
    cdef Py_ssize_t i
    cdef int best = 0
    for i in range(1, n):
        if x[i] > x[best]:
            best = <int> i
    return best
