"""The semi-Markov chain as an Inference.

Local potentials are the scores of the tokens' labels (T, L), tied ones the scores of
transitions between types, of lengths, and of features of segments, (K, K), (K, M) and
(F, K) end to end; expectations are the probabilities of labels, the expected numbers of
transitions and of segments of each length, and the expected sums of these features.
Labellings are made of segmentations. `Inference` has the docstrings of methods that
have none here.
"""

from libc.math cimport INFINITY
from libc.string cimport memset

from ._inference cimport Inference, Values
from ._passes cimport Items
from ._segment_chain cimport (
    SegmentWorkspace,
    segment_expectations,
    segment_forward,
    segment_probability,
)
from ._segment_labels cimport add_path, path_score, segment_viterbi
from ._segment_paths cimport SegmentLists, segment_n_best, segment_sample
from ..features._segment_rows cimport SegmentRows

import numpy as np


cdef class SegmentInference(Inference):
    """Segmented sequences laid end to end.

    Parameters
    ----------
    offsets : ndarray of shape (n + 1,), int64
    grammar : Grammar
    rows : SegmentRows, default=None
        The features of segments.
    begin, end : int, default=None
        As for `Inference`.

    Raises
    ------
    ValueError
        If there is not one row for each segment of the tokens.
    """

    def __init__(
        self, offsets, grammar, SegmentRows rows=None, begin=None, end=None
    ):
        n_tied = grammar.n_tied
        if rows is not None:
            check_rows(rows, offsets[len(offsets) - 1], grammar.max_length)
            n_tied += rows.n_features * grammar.n_types
        super().__init__(offsets, grammar.n_labels, n_tied, begin, end)
        self.workspace = SegmentWorkspace(self.longest, grammar, rows)

    cdef void take(self, Py_ssize_t i) noexcept nogil:
        Inference.take(self, i)
        self.workspace.token = self.first

    cdef void set_tied(self, const double* tied, bint sums) noexcept nogil:
        self.workspace.set_tied(tied)

    cdef void take_features(self, Values scores) noexcept nogil:
        """Write what the features of its segments give to the sequence."""
        self.workspace.set_sequence(self.first, self.length, scores.tied)

    cdef double argmax(self, Values scores, int* labels) noexcept nogil:
        self.take_features(scores)
        return segment_viterbi(self.workspace, scores.local, self.length, labels)

    def allow_n_best(self, Py_ssize_t n):
        """Make the buffers for n labellings of `n_best`."""
        self.lists = SegmentLists(self.workspace, n * (self.longest + 1))

    cdef Py_ssize_t n_best(
        self, Values scores, Py_ssize_t n, double* values, int* labels
    ) noexcept nogil:
        cdef Py_ssize_t found = 0
        self.take_features(scores)
        self.lists.width = n
        segment_n_best(
            self.workspace, self.lists, scores.local, self.length, values, labels
        )
        while found < n and values[found] > -INFINITY:
            found += 1
        return found

    cdef double labels_score(
        self, const int* labels, Values scores
    ) noexcept nogil:
        return path_score(
            self.workspace, scores.local, scores.tied, labels, self.length
        )

    cdef void add_tied_labels(
        self, const int* labels, double step, double* tied
    ) noexcept nogil:
        add_path(self.workspace, labels, self.length, step, tied)

    cdef double log_partition(self, Values scores) noexcept nogil:
        self.take_features(scores)
        return segment_forward(self.workspace, scores.local, self.length)

    def allow_sample(self):
        """Make the buffers of `sample`."""
        self.path = np.empty(self.longest, dtype=np.intc)

    cdef void sample(
        self, Values scores, const double* uniform, Py_ssize_t n_draws, int* labels
    ) noexcept nogil:
        self.take_features(scores)
        segment_sample(
            self.workspace, scores.local, self.length, uniform, n_draws, &self.path[0],
            labels,
        )

    cdef double expect(self, Values scores, Values out) noexcept nogil:
        cdef Py_ssize_t n = self.workspace.n_counts
        cdef double value
        self.take_features(scores)
        value = segment_expectations(
            self.workspace, scores.local, self.length, out.local, out.tied
        )
        if out.tied != NULL:
            memset(out.tied + n, 0, (self.n_tied - n) * sizeof(double))
            self.workspace.add_features(self.length, 1.0, out.tied)
        return value

    cdef double add_expected(
        self, Values scores, double weight, Values out, double* buffer
    ) noexcept nogil:
        """Add counts, and features of segments: of these a sequence has few."""
        cdef Py_ssize_t p
        cdef double value
        self.take_features(scores)
        value = segment_expectations(
            self.workspace, scores.local, self.length, out.local, buffer
        )
        for p in range(self.workspace.n_counts):
            out.tied[p] += weight * buffer[p]
        self.workspace.add_features(self.length, weight, out.tied)
        return value


cdef object check_rows(SegmentRows rows, Py_ssize_t n_tokens, Py_ssize_t max_length):
    """Raise ValueError if there is not one row for each segment of n_tokens tokens."""
    if rows.most != max_length or rows.indptr.shape[0] != n_tokens * max_length + 1:
        raise ValueError(
            f"{rows.indptr.shape[0] - 1} rows of segments of up to {rows.most} tokens, "
            f"for {n_tokens} tokens and segments of up to {max_length}"
        )


def segment_probabilities(
    scores,
    const long long[:, ::1] spans,          # in, (S, 3)
    const long long[::1] types,             # in, (S,)
    double[::1] values,                     # out, (S,)
):
    """Write the probability of segments (i, b, e) of types; 0 for no type < 0."""
    cdef Py_ssize_t s, i, known = -1
    cdef Items items = Items(scores, 0, len(scores))
    cdef SegmentInference inference = items.inference
    cdef double[::1] buffer = np.empty(inference.most_local)
    with nogil:
        for s in range(spans.shape[0]):
            i = spans[s, 0]
            if i != known:
                items.take(i)
                inference.expect(items.scores, Values(&buffer[0], NULL))
                known = i
            values[s] = 0.0
            if types[s] >= 0:
                values[s] = segment_probability(
                    inference.workspace, items.scores.local, spans[s, 1], spans[s, 2],
                    types[s],
                )
