"""Feature rows times weights of the labels that were observed with each feature.

Owns the products of _features.pyx where the rows of coef have different lengths, see
`RowLayout`. Most features were observed with one label or two, and have steps from
label to label; those that are in most tokens have wide rows, and vectors. Where the row
of an entry is, is stored beside the entry: looking it up by feature would take as long
as reading the row.
"""

from libc.string cimport memset

from ._features cimport DistinctFeatures, FeatureRows, RowLayout
from ..math._vecmath cimport ops, skcrf_factors

import numpy as np
from scipy.sparse import csr_array

# Rows of no more entries are sorted by insertion: the fastest for these, and quadratic.
cdef Py_ssize_t FEW = 64


def sorted_by_width(X, RowLayout layout):
    """Return X with the entries of each row sorted by the widths of their features.

    Loops over labels that are as long as the last one are predicted by the processor.

    Parameters
    ----------
    X : csr_array
        Not changed. Values that are all the same, as in text, are not copied.
    layout : RowLayout
    """
    cdef Py_ssize_t t, i, j, width
    cdef int column
    cdef double value = 0.0
    cdef bint differ = (X.data != X.data[:1]).any()
    data, indices = X.data.copy() if differ else X.data, X.indices.copy()
    cdef const long long[::1] bounds = X.indptr.astype(np.int64, copy=False)
    cdef int[::1] columns = indices
    cdef double[::1] values = data if differ else None
    if layout.first != NULL:
        widths = np.diff(layout.bounds)
        for t in np.flatnonzero(np.diff(bounds) > FEW):
            row = slice(bounds[t], bounds[t + 1])
            order = np.argsort(-widths[indices[row]], kind="stable")
            indices[row] = indices[row][order]
            if differ:
                data[row] = data[row][order]
    with nogil:
        for t in range(bounds.shape[0] - 1):
            if bounds[t + 1] - bounds[t] > FEW:
                continue
            for i in range(bounds[t] + 1, bounds[t + 1]):
                column = columns[i]
                width = layout.width(column)
                if differ:
                    value = values[i]
                j = i
                while j > bounds[t] and layout.width(columns[j - 1]) < width:
                    columns[j] = columns[j - 1]
                    if differ:
                        values[j] = values[j - 1]
                    j -= 1
                columns[j] = column
                if differ:
                    values[j] = value
    return csr_array((data, indices, X.indptr), shape=X.shape)


cdef class ObservedRows(FeatureRows):
    """The rows of a CSR array, whose features have weights for some labels.

    Parameters
    ----------
    X : csr_array of shape (n_rows, n_features), float64
    layout : RowLayout
    """

    def __init__(self, X, layout):
        cdef Py_ssize_t j, n = self.indices.shape[0]
        # One element more than needed: the address of an empty array is not defined.
        cdef int[::1] place = np.zeros(n + 1, dtype=np.int32)
        cdef int[::1] width = np.zeros(n + 1, dtype=np.int32)
        with nogil:
            for j in range(n):
                place[j] = <int> self.layout.begin(self.indices[j])
                width[j] = <int> self.layout.width(self.indices[j])
        self.place, self.width = place, width

    cdef void add_scores(
        self,
        Py_ssize_t begin, Py_ssize_t end,
        const double* coef,                     # in, (size,)
        Py_ssize_t n_labels,
        double* scores,                         # in, out, (end - begin, K)
    ) noexcept nogil:
        """Add scores[t, k] += sum_j x[t, j] coef[j, k], of the labels k of j."""
        ops.gather_ragged(
            self.entries, &self.place[0], &self.width[0], &self.indptr[begin],
            end - begin, self.layout.label, coef, scores, n_labels,
        )

    cdef void add_features(
        self,
        Py_ssize_t begin, Py_ssize_t end,
        double step,
        const double* node,                     # in, (end - begin, K)
        Py_ssize_t n_labels,
        double* coef,                           # in, out, (size,)
    ) noexcept nogil:
        """Add coef[j, k] += step sum_t x[t, j] node[t, k], of the labels k of j."""
        cdef Py_ssize_t j
        ops.scatter_ragged(
            step, self.entries, &self.place[0], &self.place[0], &self.width[0],
            &self.indptr[begin], end - begin, self.layout.label, node, coef, n_labels,
        )
        for j in range(self.indptr[begin], self.indptr[end]):
            if self.width[j] == n_labels:
                clear_unobserved(
                    &self.layout.observed[self.place[j]], n_labels, coef + self.place[j]
                )


cdef class ObservedFeatures(DistinctFeatures):
    """The distinct features of each sequence, and where their sums begin.

    The sums of sequence i, of the labels of each of its distinct features, lie one
    behind the other: the sums of the r-th begin at ``starts[bounds[i] + i + r]``. For
    entry j, ``local[j]`` is this place of its feature.

    Parameters
    ----------
    rows : ObservedRows
    offsets : ndarray of shape (n + 1,), int64
    n_frequent, n_shared : int, default=0
        The numbers of the features have these tiers, see `renumber`.
    new : callable, default=numpy.zeros
        As for `DistinctFeatures`.
    """

    def __init__(
        self, ObservedRows rows, const long long[::1] offsets, n_frequent=0, n_shared=0,
        *, new=np.zeros,
    ):
        cdef Py_ssize_t i, j, r, n_found = 0, n = offsets.shape[0] - 1
        cdef Py_ssize_t n_distinct = self.distinct.shape[0]
        cdef int[::1] starts = new((n_distinct + n + 1,), np.int32)
        cdef int[::1] places = new((n_distinct + 1,), np.int32)
        cdef const unsigned char[::1] has_gaps = features_with_gaps(rows.layout)
        cdef int[::1] with_gaps = new((n_distinct + 1,), np.int32)
        cdef long long[::1] gap_bounds = np.zeros(n + 1, dtype=np.int64)
        cdef int* start
        self.observed = rows
        if n_shared > 0:
            same = np.arange(rows.n_features, dtype=np.int32)
            self.renumber(rows, same, n_frequent, n_shared)
        for i in range(n):
            start = &starts[self.bounds[i] + i]
            for r in range(self.count(i)):
                j = self.features(i)[r]
                places[self.bounds[i] + r] = <int> rows.layout.begin(j)
                start[r + 1] = start[r] + <int> rows.layout.width(j)
                with_gaps[n_found] = <int> r
                n_found += has_gaps[j]
            gap_bounds[i + 1] = n_found
            self.largest = max(self.largest, start[self.count(i)])
            for j in range(rows.indptr[offsets[i]], rows.indptr[offsets[i + 1]]):
                self.local[j] = start[self.local[j]]
        self.starts, self.places = starts, places
        self.with_gaps = np.asarray(with_gaps)[:n_found].copy()
        self.gap_bounds = gap_bounds

    cdef const int* starts_of(self, Py_ssize_t i) noexcept nogil:
        """Return the address of where the sums of sequence i begin; ends with size."""
        return &self.starts[self.bounds[i] + i]

    cdef Py_ssize_t size_of_first(
        self, Py_ssize_t i, Py_ssize_t count, Py_ssize_t n_labels
    ) noexcept nogil:
        """Return how many weights the first features of sequence i have."""
        return self.starts_of(i)[count]

    cdef Py_ssize_t max_size(self, Py_ssize_t n_labels) noexcept nogil:
        """Return the largest `size` of all sequences."""
        return self.largest

    cdef void sum_rows(
        self,
        Py_ssize_t i, Py_ssize_t begin, Py_ssize_t end,
        const double* node,                     # in, (end - begin, K)
        Py_ssize_t n_labels,
        double* out,                            # out, (size(i),)
    ) noexcept nogil:
        """Write out[r, k] = sum_t x[t, distinct_r] node[t, k], of the labels k of r."""
        cdef Py_ssize_t g, r
        memset(out, 0, self.size(i, n_labels) * sizeof(double))
        ops.scatter_ragged(
            1.0, self.rows.entries, self.numbers, &self.observed.place[0],
            &self.observed.width[0], &self.rows.indptr[begin], end - begin,
            self.rows.layout.label, node, out, n_labels,
        )
        for g in range(self.gap_bounds[i], self.gap_bounds[i + 1]):
            r = self.with_gaps[g]
            clear_unobserved(
                &self.rows.layout.observed[self.places[self.bounds[i] + r]], n_labels,
                out + self.starts_of(i)[r],
            )

    cdef void add_scores(
        self,
        Py_ssize_t i, Py_ssize_t begin, Py_ssize_t end,
        const double* feature_sums,             # in, (size(i),)
        Py_ssize_t n_labels,
        double* scores,                         # in, out, (end - begin, K)
    ) noexcept nogil:
        """Add scores[t, k] += sum_r x[t, distinct_r] feature_sums[r, k]."""
        cdef Py_ssize_t t, j, p
        cdef const int* label
        cdef const double* sums
        for t in range(begin, end):
            for j in range(self.rows.indptr[t], self.rows.indptr[t + 1]):
                label = self.rows.layout.label + self.observed.place[j]
                sums = feature_sums + self.numbers[j]
                for p in range(self.observed.width[j]):
                    scores[label[p]] += self.rows.entries[j] * sums[p]
            scores += n_labels

    cdef void move_coef(
        self,
        Py_ssize_t i, double step_frequent, double step_rare, double step_private,
        const double* feature_sums,             # in, (size(i),)
        Py_ssize_t n_labels,
        double* coef,                           # in, out, (size,)
    ) noexcept nogil:
        """Add coef[distinct_r] += step feature_sums[r]."""
        cdef const int* places = &self.places[self.bounds[i]]
        cdef const int* starts = self.starts_of(i)
        cdef Py_ssize_t n_frequent = self.count_frequent(i)
        cdef Py_ssize_t n_shared = n_frequent + self.count_rare(i)
        ops.move_ragged(step_frequent, feature_sums, places, starts, n_frequent, coef)
        ops.move_ragged(
            step_rare, feature_sums, places + n_frequent, starts + n_frequent,
            n_shared - n_frequent, coef,
        )
        ops.move_ragged(
            step_private, feature_sums, places + n_shared, starts + n_shared,
            self.count(i) - n_shared, coef,
        )

    cdef void copy_coef(
        self,
        Py_ssize_t i,
        const double* coef,                     # in, (size,)
        Py_ssize_t n_labels,
        double* out,                            # out, (size(i),)
    ) noexcept nogil:
        """Write the rows of coef of the distinct features, one behind the other."""
        ops.copy_ragged(
            &self.places[self.bounds[i]], self.starts_of(i), self.count(i), coef, out
        )

    cdef void spread(
        self,
        Py_ssize_t i,
        const skcrf_factors* factors,
        double unit,
        Py_ssize_t n_labels,
        double* out,                            # out, (size(i),)
    ) noexcept nogil:
        """Write out[r, k] = factor_r / unit, of the labels k of r."""
        cdef Py_ssize_t r, p
        cdef const int* starts = self.starts_of(i)
        cdef const int* features = self.features(i)
        cdef double value
        for r in range(self.count(i)):
            value = factors.value[factors.code[features[r]]] / unit
            for p in range(starts[r], starts[r + 1]):
                out[p] = value

    cdef double precondition(
        self,
        Py_ssize_t i, Py_ssize_t first, Py_ssize_t last,
        const skcrf_factors* factors,
        Py_ssize_t n_labels,
        double* feature_sums,                   # in, out, (size(i),)
    ) noexcept nogil:
        """Multiply sums of first <= r < last with the factors of their features."""
        return ops.precondition_ragged(
            feature_sums, self.starts_of(i) + first, self.features(i) + first,
            last - first, factors,
        )

    cdef void shrink_coef(
        self,
        Py_ssize_t i,
        const double* coef,                     # in, (size,)
        double threshold,
        const skcrf_factors* factors,
        Py_ssize_t n_labels,
        unsigned char* active,                  # not used
        double* out,                            # in, out, (size,)
    ) noexcept nogil:
        """Write factor_j soft(row) for the rows of coef of the distinct features j."""
        ops.shrink_ragged(
            &self.places[self.bounds[i]], self.starts_of(i), self.count(i),
            self.features(i), coef, threshold, factors, out,
        )


cdef object features_with_gaps(RowLayout layout):
    """Return which features have wide rows that lack a label, (d + 1,) of 0 or 1."""
    cdef Py_ssize_t j, p
    cdef unsigned char[::1] found = np.zeros(layout.n_features + 1, dtype=np.uint8)
    for j in range(layout.n_features):
        if layout.first == NULL or layout.width(j) < layout.n_labels:
            continue
        for p in range(layout.begin(j), layout.begin(j) + layout.n_labels):
            if not layout.observed[p]:
                found[j] = 1
                break
    return found


cdef void clear_unobserved(
    const unsigned char* observed, Py_ssize_t n, double* row
) noexcept nogil:
    """Set the weights of a wide row to 0 that do not exist."""
    cdef Py_ssize_t p
    for p in range(n):
        row[p] *= observed[p]
