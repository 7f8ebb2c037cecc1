"""Rows of arcs and siblings made at the visit, behind the interface of stored rows.

The rows of all arcs of a treebank take gigabytes. Here the codes of its tokens are kept
alone, and the columns of an arc are made when its scores are summed, or its change is
added, see _arc_rows.pyx. An arc without a change is left out, so that a visit makes the
columns of the arcs that it moves.

Sequences are sentences, and positions arcs; where there are features of siblings, the
siblings of a sentence follow its arcs, see _sibling_rows.pxd. Ranges of positions begin
and end with sentences. The buffers are those of one thread.
"""

from libc.stdlib cimport labs
from libc.string cimport memset

from ..math._vecmath cimport ops
from ._changed_sums cimport has_change
from ._features cimport DistinctFeatures, FeatureRows
from ._prefetch cimport prefetch
from ._sibling_rows cimport least_sibling

import numpy as np


cdef class MadeRows(FeatureRows):
    """The rows of the arcs of sentences.

    Parameters
    ----------
    X : ArcMatrix
        It makes the ArcRows and the SiblingRows, and has the offsets of sentences.
    """

    # The base class takes X too.
    def __init__(self, X):
        self.source, self.offsets = X, X.offsets
        self.arcs, self.taken = X.arc_rows(), -1
        self.siblings = X.sibling_rows(self.arcs)
        self.most_columns = self.arcs.most_columns
        if self.siblings is not None:
            self.most_columns = max(self.most_columns, self.siblings.most_columns)
        self.made = np.empty(max(self.most_columns, 1), dtype=np.intc)
        self.ones = np.ones(len(self.made))

    cdef FeatureRows of_thread(self):
        """Return the same rows with buffers of their own."""
        return MadeRows(self.source)

    cdef void take(self, Py_ssize_t i) noexcept nogil:
        """Take sentence i."""
        if i != self.taken:
            self.taken = i
            self.arcs.take(i)
            # The pairs of the sentence before are other ones.
            self.h = self.m = 1
            self.first_of_pair = self.end_of_pair = 0

    cdef Py_ssize_t make(self, Py_ssize_t a) noexcept nogil:
        """Make the columns of a row of the sentence; return their number.

        A word as its own head has none.
        """
        cdef Py_ssize_t n = self.arcs.n, h = a // n, m = a % n + 1
        if h > n:
            return self.make_sibling(a - n * (n + 1))
        return 0 if h == m else self.arcs.row(h, m, &self.made[0])

    cdef Py_ssize_t make_sibling(self, Py_ssize_t k) noexcept nogil:
        """Make the columns of a sibling; return their number."""
        self.take_pair(k)
        return self.siblings.row(
            self.h, self.m, k - self.first_of_pair + least_sibling(self.h, self.m),
            &self.made[0],
        )

    cdef void take_pair(self, Py_ssize_t k) noexcept nogil:
        """Find the two words of a sibling; rows are mostly made in their order."""
        if k < self.first_of_pair:
            self.h = self.m = 1
            self.first_of_pair = self.end_of_pair = 0
        while k >= self.end_of_pair:
            self.m += 1
            if self.m > self.arcs.n:
                self.h, self.m = self.h + 1, 1
            self.first_of_pair = self.end_of_pair
            self.end_of_pair += labs(self.h - self.m)

    cdef void add_scores(
        self,
        Py_ssize_t begin, Py_ssize_t end,
        const double* coef,                     # in, (d, K)
        Py_ssize_t n_labels,
        double* scores,                         # in, out, (end - begin, K)
    ) noexcept nogil:
        """Add scores[a] += sum_j x[a, j] coef[j]."""
        cdef Py_ssize_t a, n, i = sentence_at(self.offsets, begin)
        if n_labels == 1:
            self.add_single_scores(begin, end, coef, scores)
            return
        while begin < end:
            self.take(i)
            n = self.offsets[i + 1] - begin
            if n > 0:
                for a in range(n):
                    ops.gather(
                        &self.ones[0], &self.made[0], self.make(a), coef,
                        scores + a * n_labels, n_labels,
                    )
            scores += n * n_labels
            begin += n
            i += 1

    cdef void add_single_scores(
        self,
        Py_ssize_t begin, Py_ssize_t end,
        const weight* w,                        # in, (d,)
        double* scores,                         # in, out, (end - begin,)
    ) noexcept nogil:
        """Add the scores of weights of one label."""
        cdef Py_ssize_t i = sentence_at(self.offsets, begin)
        while begin < end:
            if self.offsets[i + 1] > begin:
                self.take(i)
                self.arcs.add_scores(w, scores)
                if self.siblings is not None:
                    self.siblings.add_scores(
                        w, scores + self.arcs.n * (self.arcs.n + 1)
                    )
            scores += self.offsets[i + 1] - begin
            begin = self.offsets[i + 1]
            i += 1

    cdef void add_features(
        self,
        Py_ssize_t begin, Py_ssize_t end,
        double step,
        const double* node,                     # in, (end - begin, K)
        Py_ssize_t n_labels,
        double* coef,                           # in, out, (d, K)
    ) noexcept nogil:
        """Add coef += step sum_a x_a^T node_a."""
        cdef Py_ssize_t a, n, i = sentence_at(self.offsets, begin)
        while begin < end:
            self.take(i)
            n = self.offsets[i + 1] - begin
            for a in range(n):
                if has_change(node + a * n_labels, n_labels):
                    ops.scatter(
                        step, &self.ones[0], &self.made[0], self.make(a),
                        node + a * n_labels, coef, n_labels,
                    )
            node += n * n_labels
            begin += n
            i += 1

    def columns(self, Py_ssize_t i, Py_ssize_t a):
        """Return the columns of row a of sentence i."""
        self.take(i)
        return np.asarray(self.made)[: self.make(a)].copy()

    def sizes(self, const double[::1] weight, double[::1] norms=None):
        """Return sums over rows of squares, of occurrences and of norms.

        Parameters
        ----------
        weight : ndarray of shape (n,)
            Of the sentences.
        norms : ndarray of shape (n_rows,), default=None
            The norms of the rows are written there.

        Returns
        -------
        squares, counts : ndarrays of shape (n_features,)
            The weighted sums of the squares of values, and of the values that are not
            0.
        norm_sums : ndarray of shape (n,)
            Of the rows of each sentence.
        """
        cdef Py_ssize_t i, a, r, count
        cdef double c, square
        found = np.zeros((2, self.n_features)), np.zeros(len(weight))
        cdef double[:, ::1] sums = found[0]
        cdef double[::1] norm_sums = found[1]
        cdef int[::1] times = np.zeros(self.n_features, dtype=np.intc)
        cdef int column
        with nogil:
            for i in range(self.offsets.shape[0] - 1):
                self.take(i)
                c = weight[i]
                for a in range(self.offsets[i + 1] - self.offsets[i]):
                    count, square = self.make(a), 0.0
                    for r in range(count):
                        times[self.made[r]] += 1
                    # A feature that occurs twice is taken once.
                    for r in range(count):
                        column = self.made[r]
                        if times[column] > 0:
                            square += <double> times[column] * times[column]
                            sums[0, column] += c * times[column] * times[column]
                            sums[1, column] += c
                            times[column] = 0
                    norm_sums[i] += square ** 0.5
                    if norms is not None:
                        norms[self.offsets[i] + a] = square ** 0.5
        return (*found[0], found[1])


cdef class DistinctMadeFeatures(DistinctFeatures):
    """The distinct features of one sentence, found when they are needed.

    They are all features of the sentence after `take`, and else those of the changes
    that `sum_rows` had. ``bounds`` are 0, but for the end of this sentence. They count
    as private, or, after `share`, as frequent.

    Parameters
    ----------
    rows : MadeRows
    offsets : ndarray of shape (n + 1,), int64
    """

    def __cinit__(self, FeatureRows rows, const long long[::1] offsets, *_):
        # Buffers of its own: passes over all data use the rows of the structure.
        self.rows = self.own = rows.of_thread()
        self.bounds = np.zeros(len(offsets), dtype=np.int64)
        self.place = np.full(rows.n_features, -1, dtype=np.int32)
        n_rows = int(np.diff(offsets).max(initial=0))
        self.max_count = min(rows.n_features, n_rows * self.own.most_columns)
        self.distinct = np.empty(max(self.max_count, 1), dtype=np.int32)
        self.first, self.taken = &self.distinct[0], -1

    def share(self):
        """Count all features as frequent: workers aggregate all of them."""
        self.is_shared = True

    def of_thread(self):
        """Return the same features with buffers of their own."""
        cdef DistinctMadeFeatures other = DistinctMadeFeatures(self.own, self.offsets)
        other.is_shared = self.is_shared
        return other

    def n_sequences_with(self, sequences):
        """Return that all sequences may have each feature: it is not known."""
        return np.full(self.rows.n_features, len(sequences))

    cdef void take(self, Py_ssize_t i) noexcept nogil:
        """Find all features of sentence i."""
        cdef Py_ssize_t a
        self.forget(i)
        for a in range(self.offsets[i + 1] - self.offsets[i]):
            self.number(self.own.make(a))
        self.count_found(i)

    cdef void count_found(self, Py_ssize_t i) noexcept nogil:
        """Make those found the features of sentence i."""
        self.bounds[i + 1] = self.n_found
        if self.is_shared:
            self.n_frequent[i] = <int> self.n_found

    cdef void forget(self, Py_ssize_t i) noexcept nogil:
        """Begin with sentence i, without any features."""
        cdef Py_ssize_t r
        for r in range(self.n_found):
            self.place[self.distinct[r]] = -1
        if self.taken >= 0:
            self.bounds[self.taken + 1] = 0
        self.taken, self.n_found = i, 0
        self.own.take(i)

    cdef void number(self, Py_ssize_t count) noexcept nogil:
        """Replace the columns made last by their numbers in the sentence."""
        cdef Py_ssize_t r
        cdef int column
        cdef int* made = &self.own.made[0]
        # Places are anywhere in megabytes, as weights are.
        for r in range(count):
            prefetch(&self.place[made[r]])
        for r in range(count):
            column = made[r]
            if self.place[column] < 0:
                self.place[column] = <int> self.n_found
                self.distinct[self.n_found] = column
                self.n_found += 1
            made[r] = self.place[column]

    cdef void sum_rows(
        self,
        Py_ssize_t i, Py_ssize_t begin, Py_ssize_t end,
        const double* node,                     # in, (end - begin, K)
        Py_ssize_t n_labels,
        double* out,                            # out, (count(i), K)
    ) noexcept nogil:
        """Write out[r] = sum_a x[a, distinct_r] node[a]."""
        cdef Py_ssize_t a, count, known = 0
        if i == self.taken:
            known = self.n_found
        else:
            self.forget(i)
        memset(out, 0, known * n_labels * sizeof(double))
        for a in range(end - begin):
            if has_change(node + a * n_labels, n_labels):
                count = self.own.make(a)
                self.number(count)
                memset(
                    out + known * n_labels, 0,
                    (self.n_found - known) * n_labels * sizeof(double),
                )
                known = self.n_found
                ops.scatter(
                    1.0, &self.own.ones[0], &self.own.made[0], count,
                    node + a * n_labels, out, n_labels,
                )
        self.count_found(i)

    cdef void add_scores(
        self,
        Py_ssize_t i, Py_ssize_t begin, Py_ssize_t end,
        const double* feature_sums,             # in, (count(i), K)
        Py_ssize_t n_labels,
        double* scores,                         # in, out, (end - begin, K)
    ) noexcept nogil:
        """Add scores[a] += sum_r x[a, distinct_r] feature_sums[r]."""
        cdef Py_ssize_t a, r, k, count
        cdef int place
        for a in range(end - begin):
            count = self.own.make(a)
            for r in range(count):
                place = self.place[self.own.made[r]]
                if place >= 0:
                    for k in range(n_labels):
                        scores[k] += feature_sums[place * n_labels + k]
            scores += n_labels


cdef Py_ssize_t sentence_at(
    const long long[::1] offsets, Py_ssize_t position
) noexcept nogil:
    """Return the first sentence that begins at a position."""
    cdef Py_ssize_t low = 0, high = offsets.shape[0] - 1, middle
    while low < high:
        middle = (low + high) // 2
        if offsets[middle] < position:
            low = middle + 1
        else:
            high = middle
    return low
