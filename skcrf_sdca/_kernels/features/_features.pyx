"""Feature rows times weights, and marginals back to weights; CSR and dense rows.

Owns the two products of a linear model on packed rows, scores += x_t w and
w += s x_t^T m_t, and the list of distinct features of each sequence that the dual
solvers need: a feature that occurs at several positions must be summed once before
the norm of the direction is taken.
"""

from libc.math cimport fabs, sqrt
from libc.string cimport memset

from ..math._vecmath cimport ops, skcrf_factors

import numpy as np


cdef class RowLayout:
    """Which labels the row of each feature in coef has a weight for, and where.

    All of them, one after another, or those that were observed with the feature: rows
    of different lengths, stored one behind the other. A row with most of the labels is
    wide: it has a place for every label, and those not observed are kept at 0.

    Parameters
    ----------
    n_features, n_labels : int
    bounds : ndarray of shape (n_features + 1,), int64, default=None
        Row j is ``coef[bounds[j]:bounds[j + 1]]``; None if every row has all labels.
    labels : ndarray of shape (bounds[-1],), int32, default=None
        The label of each weight, ascending in each row.
    observed : ndarray of shape (bounds[-1],), bool, default=None
        Whether the weight exists: False is possible in wide rows.

    Attributes
    ----------
    size : int
        The number of weights.

    Raises
    ------
    ValueError
        If the arrays are not consistent.
    """

    def __cinit__(self, n_features, n_labels, bounds=None, labels=None, observed=None):
        self.n_features, self.n_labels = n_features, n_labels
        self.size = n_features * n_labels
        if bounds is None:
            return
        widths = np.diff(bounds)
        if (
            len(widths) != n_features or bounds[0] != 0
            or not bounds[n_features] == len(labels) == len(observed)
            or widths.min(initial=0) < 0 or widths.max(initial=0) > n_labels
            or labels.min(initial=0) < 0 or labels.max(initial=0) >= n_labels
            or len(labels) >= 2**31
        ):
            raise ValueError("the arrays of a layout do not agree")
        self.size = len(labels)
        self.bounds = bounds
        # One element more than needed: the address of an empty array is not defined.
        end = np.zeros(1, dtype=bool)
        self.labels = np.append(labels, end).astype(np.int32, copy=False)
        self.observed = np.append(observed, end).astype(np.uint8, copy=False)
        self.first, self.label = &self.bounds[0], &self.labels[0]

    cdef Py_ssize_t begin(self, Py_ssize_t j) noexcept nogil:
        """Return where the row of feature j begins in coef."""
        return self.first[j] if self.first != NULL else j * self.n_labels

    cdef Py_ssize_t width(self, Py_ssize_t j) noexcept nogil:
        """Return how many weights feature j has."""
        if self.first != NULL:
            return self.first[j + 1] - self.first[j]
        return self.n_labels


def rows_of_features(
    const double[::1] values,
    const long long[::1] features,
    const long long[::1] indptr,
    Py_ssize_t n_features,
):
    """Return weights that have a row for each label with a row for each feature.

    Parameters
    ----------
    values, features, indptr : ndarrays
        CSR rows of labels. The features are from 0 to n_features - 1, and indptr ends
        with their number: the caller has checked it.
    n_features : int

    Returns
    -------
    bounds, labels, values : ndarrays
        As `RowLayout` takes them, and the weights in this order.
    """
    ends = np.zeros(n_features + 2, dtype=np.int64)
    labels = np.empty(len(values), dtype=np.int32)
    weights = np.empty(len(values))
    cdef long long[::1] end = ends
    cdef int[::1] label = labels
    cdef double[::1] weight = weights
    cdef Py_ssize_t e, k, place
    for e in range(features.shape[0]):
        end[features[e] + 2] += 1
    np.cumsum(ends, out=ends)
    # Where the next weight of feature j goes, end[j + 1], is at last its end.
    for k in range(indptr.shape[0] - 1):
        for e in range(indptr[k], indptr[k + 1]):
            place = end[features[e] + 1]
            label[place], weight[place] = <int> k, values[e]
            end[features[e] + 1] = place + 1
    return ends[: n_features + 1], labels, weights


cdef Py_ssize_t n_sequences_in(const long long[::1] offsets, Py_ssize_t n_rows):
    """Return the number of sequences; ValueError if they are not of so many rows."""
    cdef Py_ssize_t i
    for i in range(offsets.shape[0]):
        if not 0 <= offsets[i] <= n_rows:
            raise ValueError(f"offsets[{i}] = {offsets[i]} is none of {n_rows} rows")
    return max(offsets.shape[0] - 1, 0)


cdef class FeatureRows:
    """The rows of a CSR array or of a C-contiguous matrix, for use without the GIL.

    Parameters
    ----------
    X : csr_array, EncodedRows or ndarray of shape (n_rows, n_features)
        CSR values are float64 and indices int32; repeated indices in a row add up.
        Dense values are float32 or float64; sums are made in double precision.
    layout : RowLayout, default=None
        For subclasses; here every row of coef has all labels.
    new : callable, default=None
        Makes the copy of indptr in 64 bits, as `numpy.zeros` does.

    Raises
    ------
    ValueError
        If the arrays of a CSR array are not consistent.
    """

    def __cinit__(self, X, RowLayout layout=None, *, new=None):
        cdef const float[:, ::1] singles
        cdef const double[:, ::1] doubles
        self.layout = layout
        self.n_rows, self.n_features = X.shape
        self.is_sparse = not isinstance(X, np.ndarray)
        self.is_stored = hasattr(X, "data")
        if not self.is_sparse:
            self.matrix, self.single = X, X.dtype == np.float32
            if X.size > 0 and self.single:
                singles = X
                self.dense = <const char*> &singles[0, 0]
            elif X.size > 0:
                doubles = X
                self.dense = <const char*> &doubles[0, 0]
            return
        if not self.is_stored:
            return
        self.data, self.indices = X.data, X.indices
        if new is None:
            self.indptr = X.indptr.astype(np.int64, copy=False)
        else:
            indptr = new(X.indptr.shape, np.int64)
            indptr[:] = X.indptr
            self.indptr = indptr
        # The arrays may be the caller's, changed since they were packed.
        if not self.is_consistent():
            raise ValueError(
                "the CSR arrays of X are not consistent: they were changed after X was "
                "packed"
            )
        if len(self.data) > 0 and len(self.indices) > 0:
            self.entries, self.columns = &self.data[0], &self.indices[0]

    cdef bint is_consistent(self) noexcept:
        """Return whether the CSR arrays fit to each other and to the shape."""
        cdef Py_ssize_t t, j, n = self.n_rows
        cdef Py_ssize_t length = min(len(self.indices), len(self.data))
        cdef bint right = True
        if len(self.indptr) != n + 1 or self.indptr[0] != 0:
            return False
        for t in range(n):
            right &= self.indptr[t] <= self.indptr[t + 1]
        for j in range(len(self.indices)):
            right &= 0 <= self.indices[j] < self.n_features
        return right and self.indptr[n] <= length

    def sizes(
        self, const long long[::1] offsets, const double[::1] weight, double largest
    ):
        """Return sums over sparse rows of squares, of occurrences and of norms.

        Parameters
        ----------
        offsets : ndarray of shape (n + 1,), int64
            Of the sequences, from 0 to the number of rows.
        weight : ndarray of shape (n,)
            Of the sequences.
        largest : float
            Values count as at most so much in the squares.

        Returns
        -------
        squares, counts : ndarrays of shape (n_features,)
            The weighted sums of the squares of values, and of the values that are not
            0.
        norm_sums : ndarray of shape (n,)
            Of the rows of each sequence.
        """
        cdef Py_ssize_t n = n_sequences_in(offsets, self.n_rows), i, t, j
        found = np.zeros((2, self.n_features)), np.zeros(n)
        cdef double[::1] squares = found[0][0], counts = found[0][1]
        cdef double[::1] norm_sums = found[1]
        cdef double value, square
        if weight.shape[0] < n:
            raise ValueError(f"{weight.shape[0]} weights of {n} sequences")
        with nogil:
            for i in range(n):
                for t in range(offsets[i], offsets[i + 1]):
                    square = 0.0
                    for j in range(self.indptr[t], self.indptr[t + 1]):
                        square += self.entries[j] * self.entries[j]
                        value = min(fabs(self.entries[j]), largest)
                        if value > 0.0:
                            squares[self.columns[j]] += weight[i] * value * value
                            counts[self.columns[j]] += weight[i]
                    norm_sums[i] += sqrt(square)
        return (*found[0], found[1])

    cdef FeatureRows of_thread(self):
        """Return the rows for one thread: these, as reading does not change them."""
        return self

    cdef const void* dense_row(self, Py_ssize_t t) noexcept nogil:
        """Return the address of a dense row."""
        cdef size_t itemsize = sizeof(float) if self.single else sizeof(double)
        return self.dense + t * self.n_features * itemsize

    cdef void add_scores(
        self,
        Py_ssize_t begin, Py_ssize_t end,
        const double* coef,                     # in, (d, K)
        Py_ssize_t n_labels,
        double* scores,                         # in, out, (end - begin, K)
    ) noexcept nogil:
        """Add scores[t] += sum_j x[t, j] coef[j]."""
        if self.is_sparse:
            ops.gather_each(
                self.entries, self.columns, &self.indptr[begin], end - begin, coef,
                scores, n_labels,
            )
            return
        ops.dense_scores(
            self.dense_row(begin), self.single, self.n_features, end - begin, coef,
            scores, n_labels,
        )

    cdef void add_features(
        self,
        Py_ssize_t begin, Py_ssize_t end,
        double step,
        const double* node,                     # in, (end - begin, K)
        Py_ssize_t n_labels,
        double* coef,                           # in, out, (d, K)
    ) noexcept nogil:
        """Add coef += step sum_t x_t^T node_t."""
        if self.is_sparse:
            ops.scatter_each(
                step, self.entries, self.columns, &self.indptr[begin], end - begin,
                node, coef, n_labels,
            )
            return
        ops.dense_features(
            step, self.dense_row(begin), self.single, self.n_features, end - begin,
            node, coef, n_labels,
        )


cdef class DistinctFeatures:
    """The distinct features of each sequence, found once.

    Entry j of the CSR arrays belongs to the ``local[j]``-th distinct feature of its
    sequence; the distinct features of sequence i are
    ``distinct[bounds[i]:bounds[i + 1]]``, in order of first occurrence, and all count
    as private, until `renumber` is called. Dense rows have all features, listed once.

    Parameters
    ----------
    rows : FeatureRows
    offsets : ndarray of shape (n + 1,), int64
        Sequence i has the rows ``offsets[i]:offsets[i + 1]``.
    new : callable, default=numpy.zeros
        Makes the arrays with a number for each entry.
    """

    # Subclasses take more arguments.
    def __cinit__(
        self, FeatureRows rows, const long long[::1] offsets, *_, new=np.zeros
    ):
        self.rows, self.offsets = rows, offsets
        self.n_frequent = np.zeros(len(offsets) - 1, dtype=np.int32)
        self.n_rare = np.zeros(len(offsets) - 1, dtype=np.int32)
        if not rows.is_stored:
            return
        if rows.is_sparse:
            self.find(offsets, new)
        else:
            self.max_count = rows.n_features
            self.distinct = np.arange(rows.n_features, dtype=np.int32)
        if self.distinct.shape[0] > 0:
            self.first = &self.distinct[0]

    cdef int find(self, const long long[::1] offsets, object new) except -1:
        """Number the distinct features of each sequence."""
        cdef Py_ssize_t i, j, n_found = 0, n = offsets.shape[0] - 1
        cdef Py_ssize_t n_entries = self.rows.indices.shape[0]
        cdef int feature
        cdef long long[::1] seen_at = np.full(self.rows.n_features, -1, dtype=np.int64)
        cdef int[::1] distinct = new((n_entries,), np.int32)
        self.local = new((n_entries,), np.int32)
        self.bounds = np.zeros(n + 1, dtype=np.int64)
        for i in range(n):
            for j in range(
                self.rows.indptr[offsets[i]], self.rows.indptr[offsets[i + 1]]
            ):
                feature = self.rows.indices[j]
                # An entry made for an earlier sequence lies before bounds[i].
                if seen_at[feature] < self.bounds[i]:
                    seen_at[feature] = n_found
                    distinct[n_found] = feature
                    n_found += 1
                self.local[j] = <int> (seen_at[feature] - self.bounds[i])
            self.bounds[i + 1] = n_found
            self.max_count = max(self.max_count, n_found - self.bounds[i])
        self.distinct = new((n_found,), np.int32)
        self.distinct[:] = distinct[:n_found]
        if n_entries > 0:
            self.numbers = &self.local[0]
        return 0

    def of_thread(self):
        """Return the features for one thread: these, as visits do not change them."""
        return self

    cdef void take(self, Py_ssize_t i) noexcept nogil:
        """Find the distinct features of sequence i, unless they are known."""

    def renumber(
        self,
        FeatureRows rows,
        const int[::1] number,                  # in, (n_features,)
        int n_frequent, int n_shared,
    ):
        """Number the features anew, and split the features of each sequence into tiers.

        The numbers below n_frequent are frequent features, then come rare ones below
        n_shared, then private ones. Two private features may have the same number if no
        sequence has both: see `FeaturePartition`. The distinct features of each
        sequence are sorted by tier. This can be called once.

        Parameters
        ----------
        rows : FeatureRows
            With the new numbers. Features of dense rows keep theirs, and are frequent.
        number : ndarray of shape (n_features,), int32
            The new number of each feature.
        n_frequent, n_shared : int
        """
        cdef Py_ssize_t i, j, r, begin, end, tier, n = self.n_frequent.shape[0]
        cdef int[::1] place = np.empty(max(self.max_count, 1), dtype=np.int32)
        cdef int[::1] found = np.empty(max(self.max_count, 1), dtype=np.int32)
        cdef int[3] next_of
        cdef int feature
        if not self.rows.is_sparse:
            return
        self.rows = rows
        for i in range(n):
            begin, end = self.bounds[i], self.bounds[i + 1]
            self.n_frequent[i] = self.n_rare[i] = 0
            for r in range(end - begin):
                found[r] = number[self.distinct[begin + r]]
                self.n_frequent[i] += found[r] < n_frequent
                self.n_rare[i] += n_frequent <= found[r] < n_shared
            next_of[0], next_of[1] = 0, self.n_frequent[i]
            next_of[2] = self.n_frequent[i] + self.n_rare[i]
            for r in range(end - begin):
                feature = found[r]
                tier = (feature >= n_frequent) + (feature >= n_shared)
                place[r] = next_of[tier]
                self.distinct[begin + place[r]] = feature
                next_of[tier] += 1
            for j in range(
                self.rows.indptr[self.offsets[i]], self.rows.indptr[self.offsets[i + 1]]
            ):
                self.local[j] = place[self.local[j]]

    cdef void mark_rare(self, Py_ssize_t i, unsigned char* is_marked) noexcept nogil:
        """Mark the rows of the rare features of sequence i."""
        cdef Py_ssize_t r, first = self.count_frequent(i)
        cdef const int* features = self.features(i)
        for r in range(first, first + self.count_rare(i)):
            is_marked[features[r]] = True

    def in_order(self, const Py_ssize_t[::1] sequences, wanted):
        """Return the wanted features of some sequences, by their first occurrence.

        Parameters
        ----------
        sequences : ndarray of intp
        wanted : ndarray of shape (n_features,), bool

        Returns
        -------
        features : ndarray of int32
        """
        cdef Py_ssize_t s, r, n_found = 0
        cdef unsigned char[::1] is_missing = wanted.astype(np.uint8)
        cdef int[::1] found = np.empty(np.count_nonzero(wanted), dtype=np.int32)
        cdef const int* features
        for s in range(sequences.shape[0]):
            features = self.features(sequences[s])
            for r in range(self.count(sequences[s])):
                if is_missing[features[r]]:
                    is_missing[features[r]] = False
                    found[n_found] = features[r]
                    n_found += 1
        return np.asarray(found)[:n_found].copy()

    def n_sequences_with(self, const Py_ssize_t[::1] sequences):
        """Return how many of some sequences have each feature.

        Returns
        -------
        numbers : ndarray of shape (n_features,), int
        """
        cdef Py_ssize_t s, r
        cdef const int* features
        numbers = np.zeros(self.rows.n_features, dtype=np.int64)
        cdef long long[::1] number = numbers
        for s in range(sequences.shape[0]):
            features = self.features(sequences[s])
            for r in range(self.count(sequences[s])):
                number[features[r]] += 1
        return numbers

    cdef Py_ssize_t size(self, Py_ssize_t i, Py_ssize_t n_labels) noexcept nogil:
        """Return how many weights they have."""
        return self.size_of_first(i, self.count(i), n_labels)

    cdef Py_ssize_t size_of_first(
        self, Py_ssize_t i, Py_ssize_t count, Py_ssize_t n_labels
    ) noexcept nogil:
        """Return how many weights the first of them have."""
        return count * n_labels

    cdef Py_ssize_t max_size(self, Py_ssize_t n_labels) noexcept nogil:
        """Return the largest `size` of all sequences."""
        return self.max_count * n_labels

    cdef void sum_rows(
        self,
        Py_ssize_t i, Py_ssize_t begin, Py_ssize_t end,
        const double* node,                     # in, (end - begin, K)
        Py_ssize_t n_labels,
        double* out,                            # out, (count(i), K)
    ) noexcept nogil:
        """Write out[r] = sum_t x[t, distinct_r] node[t]."""
        cdef Py_ssize_t t, j
        memset(out, 0, self.count(i) * n_labels * sizeof(double))
        if not self.rows.is_sparse:
            self.rows.add_features(begin, end, 1.0, node, n_labels, out)
            return
        for t in range(begin, end):
            j = self.rows.indptr[t]
            ops.scatter(
                1.0, self.rows.entries + j, self.numbers + j,
                self.rows.indptr[t + 1] - j, node, out, n_labels,
            )
            node += n_labels

    cdef void add_scores(
        self,
        Py_ssize_t i, Py_ssize_t begin, Py_ssize_t end,
        const double* feature_sums,             # in, (count(i), K)
        Py_ssize_t n_labels,
        double* scores,                         # in, out, (end - begin, K)
    ) noexcept nogil:
        """Add scores[t] += sum_r x[t, distinct_r] feature_sums[r]."""
        cdef Py_ssize_t t, j
        if not self.rows.is_sparse:
            self.rows.add_scores(begin, end, feature_sums, n_labels, scores)
            return
        for t in range(begin, end):
            j = self.rows.indptr[t]
            ops.gather(
                self.rows.entries + j, self.numbers + j, self.rows.indptr[t + 1] - j,
                feature_sums, scores, n_labels,
            )
            scores += n_labels

    cdef void move_coef(
        self,
        Py_ssize_t i, double step_frequent, double step_rare, double step_private,
        const double* feature_sums,             # in, (count(i), K)
        Py_ssize_t n_labels,
        double* coef,                           # in, out, (d, K)
    ) noexcept nogil:
        """Add coef[distinct_r] += step feature_sums[r]."""
        cdef const int* features = self.features(i)
        cdef Py_ssize_t n_frequent = self.count_frequent(i)
        cdef Py_ssize_t n_shared = n_frequent + self.count_rare(i)
        if not self.rows.is_sparse:
            ops.axpy(step_frequent, feature_sums, coef, n_frequent * n_labels)
            return
        ops.move_rows(step_frequent, feature_sums, features, n_frequent, coef, n_labels)
        ops.move_rows(
            step_rare, feature_sums + n_frequent * n_labels, features + n_frequent,
            n_shared - n_frequent, coef, n_labels,
        )
        ops.move_rows(
            step_private, feature_sums + n_shared * n_labels, features + n_shared,
            self.count(i) - n_shared, coef, n_labels,
        )

    cdef void copy_coef(
        self,
        Py_ssize_t i,
        const double* coef,                     # in, (d, K)
        Py_ssize_t n_labels,
        double* out,                            # out, (count(i), K)
    ) noexcept nogil:
        """Write out[r] = coef[distinct_r]."""
        ops.copy_rows(self.features(i), self.count(i), coef, out, n_labels)

    cdef double precondition(
        self,
        Py_ssize_t i, Py_ssize_t first, Py_ssize_t last,
        const skcrf_factors* factors,
        Py_ssize_t n_labels,
        double* feature_sums,                   # in, out, (count(i), K)
    ) noexcept nogil:
        """Multiply sums of first <= r < last with the factors of their features.

        Return the sum of factor_r ||feature_sums[r]||^2 before.
        """
        return ops.precondition_rows(
            feature_sums + first * n_labels, self.features(i) + first, last - first,
            factors, n_labels,
        )

    cdef void spread(
        self,
        Py_ssize_t i,
        const skcrf_factors* factors,
        double unit,
        Py_ssize_t n_labels,
        double* out,                            # out, (count(i), K)
    ) noexcept nogil:
        """Write out[r, k] = factor_r / unit."""
        cdef Py_ssize_t r, k
        cdef const int* features = self.features(i)
        cdef double value
        for r in range(self.count(i)):
            value = factors.value[factors.code[features[r]]] / unit
            for k in range(n_labels):
                out[r * n_labels + k] = value

    cdef void shrink_coef(
        self,
        Py_ssize_t i,
        const double* coef,                     # in, (d, K)
        double threshold,
        const skcrf_factors* factors,
        Py_ssize_t n_labels,
        unsigned char* active,                  # in, out, (d,)
        double* out,                            # in, out, (d, K)
    ) noexcept nogil:
        """Write out[j] = factor_j soft(coef[j]) for the distinct features j."""
        ops.shrink_rows(
            self.features(i), self.count(i), coef, threshold, factors, active, out,
            n_labels,
        )
