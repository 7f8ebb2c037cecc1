# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True
"""Inference on the segmentations of many sequences end to end: full passes.

Sequence i has the positions offsets[i]:offsets[i + 1]. Every method treats all
sequences, without the GIL.
"""

from ._segment_chain cimport (
    SegmentWorkspace,
    segment_expectations,
    segment_forward,
    segment_probability,
)
from ._segment_labels cimport path_score, segment_viterbi
from ._segment_paths cimport SegmentLists, segment_n_best, segment_sample
from ._segment_rows cimport SegmentRows

import numpy as np


cdef class SegmentScoreArrays:
    """Scores of sequences laid end to end.

    Parameters
    ----------
    local : ndarray of shape (N, L)
        Scores of the labels of tokens; -inf forbids.
    tied : ndarray of shape (n_tied,)
        Those of transitions (K, K), of lengths (K, M), and of features of segments
        (F, K).
    offsets : ndarray of shape (n + 1,), int64
    grammar : Grammar
    segment_rows : SegmentRows, default=None
        The features of segments.

    Raises
    ------
    ValueError
        If the shapes do not agree.
    """

    cdef readonly object local
    cdef readonly object tied
    cdef readonly object offsets
    cdef readonly object grammar
    cdef readonly SegmentRows segment_rows
    cdef SegmentWorkspace work
    cdef const double[:, ::1] rows
    cdef const double[::1] tied_row
    cdef const long long[::1] begins

    def __init__(self, local, tied, offsets, grammar, SegmentRows segment_rows=None):
        n_tokens = offsets[len(offsets) - 1]
        longest = int(np.diff(offsets).max(initial=1))
        self.work = SegmentWorkspace(longest, grammar, segment_rows)
        shapes = (n_tokens, grammar.n_labels), (self.work.n_tied,)
        if (local.shape, tied.shape) != shapes:
            raise ValueError(
                f"local and tied scores have shapes {local.shape} and {tied.shape}; "
                f"{(int(n_tokens), grammar.n_labels)} and {(self.work.n_tied,)} are "
                "needed"
            )
        if segment_rows is not None:
            check_rows(segment_rows, n_tokens, grammar.max_length)
        self.local, self.tied = local, tied
        self.offsets, self.grammar = offsets, grammar
        self.segment_rows = segment_rows
        self.rows, self.tied_row, self.begins = local, tied, offsets

    def __len__(self):
        """Return the number of sequences n."""
        return len(self.offsets) - 1

    cdef const double* row(self, Py_ssize_t i) noexcept nogil:
        """Return the address of the local scores of sequence i, which may be empty."""
        if self.begins[i] == self.begins[i + 1]:
            return NULL
        return &self.rows[self.begins[i], 0]

    cdef Py_ssize_t take(self, Py_ssize_t i) noexcept nogil:
        """Take sequence i; return its length."""
        cdef Py_ssize_t length = self.begins[i + 1] - self.begins[i]
        self.work.set_sequence(self.begins[i], length, &self.tied_row[0])
        return length

    def log_partitions(self, double[::1] values):
        """Write log Z of every sequence."""
        cdef Py_ssize_t i
        with nogil:
            self.work.set_tied(&self.tied_row[0])
            for i in range(values.shape[0]):
                values[i] = segment_forward(self.work, self.row(i), self.take(i))

    def write_expectations(self, double[:, ::1] local, double[:, ::1] tied):
        """Write probabilities of labels and expected counts; return log Z.

        ``tied`` has a row for each sequence.
        """
        cdef Py_ssize_t i, length, n = tied.shape[0]
        cdef double[::1] values = np.zeros(n)
        with nogil:
            self.work.set_tied(&self.tied_row[0])
            for i in range(n):
                if self.begins[i] == self.begins[i + 1]:
                    tied[i, :] = 0.0
                    continue
                length = self.take(i)
                values[i] = segment_expectations(
                    self.work, self.row(i), length, &local[self.begins[i], 0],
                    &tied[i, 0],
                )
                tied[i, self.work.n_counts:] = 0.0
                self.work.add_features(length, 1.0, &tied[i, 0])
        return np.asarray(values)

    def sum_expectations(
        self, double[:, ::1] local, const double[::1] weight, double[::1] total
    ):
        """Write probabilities of labels; add the weighted counts to total.

        Returns log Z.
        """
        cdef Py_ssize_t i, p, length, n = self.begins.shape[0] - 1
        cdef double[::1] values = np.zeros(n)
        cdef double[::1] counts = np.empty(self.work.n_counts)
        with nogil:
            self.work.set_tied(&self.tied_row[0])
            for i in range(n):
                if self.begins[i] == self.begins[i + 1]:
                    continue
                length = self.take(i)
                values[i] = segment_expectations(
                    self.work, self.row(i), length, &local[self.begins[i], 0],
                    &counts[0],
                )
                for p in range(self.work.n_counts):
                    total[p] += weight[i] * counts[p]
                self.work.add_features(length, weight[i], &total[0])
        return np.asarray(values)

    def best_paths(self, int[::1] paths, double[::1] values):
        """Write the labels of the best segmentations, and their scores."""
        cdef Py_ssize_t i
        with nogil:
            self.work.set_tied(&self.tied_row[0])
            for i in range(values.shape[0]):
                values[i] = 0.0
                if self.begins[i] < self.begins[i + 1]:
                    values[i] = segment_viterbi(
                        self.work, self.row(i), self.take(i), &paths[self.begins[i]]
                    )

    def n_best_paths(
        self,
        const long long[::1] widths,            # in, (n,) segmentations, at least 1
        const long long[::1] path_offsets,      # in, (n + 1,) sums of the widths
        const long long[::1] label_offsets,     # in, (n + 1,) of widths * lengths
        double[::1] scores,                     # out, (sum of widths,)
        int[::1] paths,                         # out, (sum of widths * lengths,)
    ):
        """Write the labels of the widths[i] best segmentations, and their scores.

        A sequence that has fewer gets -inf for those it lacks.
        """
        cdef Py_ssize_t i, length
        sizes = np.multiply(widths, np.diff(self.offsets) + 1)
        cdef SegmentLists lists = SegmentLists(self.work, int(sizes.max(initial=1)))
        with nogil:
            self.work.set_tied(&self.tied_row[0])
            for i in range(widths.shape[0]):
                length = self.take(i)
                if length == 0:
                    scores[path_offsets[i]] = 0.0
                    continue
                lists.width = widths[i]
                segment_n_best(
                    self.work, lists, self.row(i), length, &scores[path_offsets[i]],
                    &paths[label_offsets[i]],
                )

    def random_paths(self, const double[:, ::1] uniform, int[:, ::1] paths):
        """Write the labels of draws, (N, n_draws), of as many uniform numbers."""
        cdef Py_ssize_t i, length
        cdef int[::1] path = np.empty(self.work.stride, dtype=np.intc)
        with nogil:
            self.work.set_tied(&self.tied_row[0])
            for i in range(self.begins.shape[0] - 1):
                length = self.take(i)
                if length > 0:
                    segment_sample(
                        self.work, self.row(i), length, &uniform[self.begins[i], 0],
                        uniform.shape[1], &path[0], &paths[self.begins[i], 0],
                    )

    def write_path_scores(self, const int[::1] labels, double[::1] values):
        """Write the scores of labels, -inf if they are not those of a segmentation."""
        cdef Py_ssize_t i
        with nogil:
            for i in range(values.shape[0]):
                values[i] = 0.0
                if self.begins[i] < self.begins[i + 1]:
                    self.work.token = self.begins[i]
                    values[i] = path_score(
                        self.work, self.row(i), &self.tied_row[0],
                        &labels[self.begins[i]], self.begins[i + 1] - self.begins[i],
                    )

    def write_probabilities(
        self, const long long[:, ::1] spans, const long long[::1] types,
        double[::1] values,
    ):
        """Write the probability of segments (i, b, e) of types; 0 for no type < 0."""
        cdef Py_ssize_t s, i, known = -1, n = self.work.n_labels
        cdef double[:, ::1] buffer = np.empty((self.work.stride, n))
        with nogil:
            self.work.set_tied(&self.tied_row[0])
            for s in range(spans.shape[0]):
                i = spans[s, 0]
                if i != known:
                    segment_expectations(
                        self.work, self.row(i), self.take(i), &buffer[0, 0], NULL
                    )
                    known = i
                values[s] = 0.0
                if types[s] >= 0:
                    values[s] = segment_probability(
                        self.work, self.row(i), spans[s, 1], spans[s, 2], types[s]
                    )


def check_rows(SegmentRows rows, Py_ssize_t n_tokens, Py_ssize_t max_length):
    """Raise ValueError if rows are not those of the segments of so many tokens."""
    if rows.most != max_length or rows.indptr.shape[0] != n_tokens * max_length + 1:
        raise ValueError(
            f"{rows.indptr.shape[0] - 1} rows of segments of up to {rows.most} tokens, "
            f"for {n_tokens} tokens and segments of up to {max_length}"
        )
