# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True
"""Inference on the segmentations of many sequences end to end: full passes.

Sequence i has the positions offsets[i]:offsets[i + 1]. Every method treats all
sequences, without the GIL.
"""

from ._segment_chain cimport (
    SegmentWorkspace,
    path_score,
    segment_expectations,
    segment_forward,
    segment_probability,
    segment_viterbi,
)

import numpy as np


cdef class SegmentScoreArrays:
    """Scores of sequences laid end to end.

    Parameters
    ----------
    local : ndarray of shape (N, L)
        Scores of the labels of tokens; -inf forbids.
    tied : ndarray of shape (n_tied,)
        Those of transitions (K, K) and of lengths (K, M).
    offsets : ndarray of shape (n + 1,), int64
    grammar : Grammar

    Raises
    ------
    ValueError
        If the shapes do not agree.
    """

    cdef readonly object local
    cdef readonly object tied
    cdef readonly object offsets
    cdef readonly object grammar
    cdef SegmentWorkspace work
    cdef const double[:, ::1] rows
    cdef const double[::1] tied_row
    cdef const long long[::1] begins

    def __init__(self, local, tied, offsets, grammar):
        n_tokens = offsets[len(offsets) - 1]
        if local.shape != (n_tokens, grammar.n_labels) or (
            tied.shape != (grammar.n_tied,)
        ):
            raise ValueError(
                f"local and tied scores have shapes {local.shape} and {tied.shape}; "
                f"{(int(n_tokens), grammar.n_labels)} and {(grammar.n_tied,)} are "
                "needed"
            )
        self.local, self.tied = local, tied
        self.offsets, self.grammar = offsets, grammar
        self.rows, self.tied_row, self.begins = local, tied, offsets
        self.work = SegmentWorkspace(int(np.diff(offsets).max(initial=1)), grammar)

    def __len__(self):
        """Return the number of sequences n."""
        return len(self.offsets) - 1

    cdef const double* row(self, Py_ssize_t i) noexcept nogil:
        """Return the address of the local scores of sequence i, which may be empty."""
        if self.begins[i] == self.begins[i + 1]:
            return NULL
        return &self.rows[self.begins[i], 0]

    def log_partitions(self, double[::1] values):
        """Write log Z of every sequence."""
        cdef Py_ssize_t i
        with nogil:
            self.work.set_tied(&self.tied_row[0])
            for i in range(values.shape[0]):
                values[i] = segment_forward(
                    self.work, self.row(i), self.begins[i + 1] - self.begins[i]
                )

    def write_expectations(self, double[:, ::1] local, double[:, ::1] tied):
        """Write probabilities of labels and expected counts; return log Z.

        ``tied`` has a row for each sequence.
        """
        cdef Py_ssize_t i, n = tied.shape[0]
        cdef double[::1] values = np.zeros(n)
        with nogil:
            self.work.set_tied(&self.tied_row[0])
            for i in range(n):
                if self.begins[i] == self.begins[i + 1]:
                    tied[i, :] = 0.0
                    continue
                values[i] = segment_expectations(
                    self.work, self.row(i), self.begins[i + 1] - self.begins[i],
                    &local[self.begins[i], 0], &tied[i, 0],
                )
        return np.asarray(values)

    def sum_expectations(
        self, double[:, ::1] local, const double[::1] weight, double[::1] total
    ):
        """Write probabilities of labels; add the weighted counts to total.

        Returns log Z.
        """
        cdef Py_ssize_t i, p, n = self.begins.shape[0] - 1
        cdef double[::1] values = np.zeros(n)
        cdef double[::1] tied = np.empty(total.shape[0])
        with nogil:
            self.work.set_tied(&self.tied_row[0])
            for i in range(n):
                if self.begins[i] == self.begins[i + 1]:
                    continue
                values[i] = segment_expectations(
                    self.work, self.row(i), self.begins[i + 1] - self.begins[i],
                    &local[self.begins[i], 0], &tied[0],
                )
                for p in range(total.shape[0]):
                    total[p] += weight[i] * tied[p]
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
                        self.work, self.row(i), self.begins[i + 1] - self.begins[i],
                        &paths[self.begins[i]],
                    )

    def write_path_scores(self, const int[::1] labels, double[::1] values):
        """Write the scores of labels, -inf if they are not those of a segmentation."""
        cdef Py_ssize_t i
        with nogil:
            for i in range(values.shape[0]):
                values[i] = 0.0
                if self.begins[i] < self.begins[i + 1]:
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
                        self.work, self.row(i), self.begins[i + 1] - self.begins[i],
                        &buffer[0, 0], NULL,
                    )
                    known = i
                values[s] = 0.0
                if types[s] >= 0:
                    values[s] = segment_probability(
                        self.work, self.row(i), spans[s, 1], spans[s, 2], types[s]
                    )
