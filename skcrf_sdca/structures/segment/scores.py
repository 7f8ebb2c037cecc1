"""Inference on sequences of segments given their scores, behind one object."""

import numpy as np

from skcrf_sdca._kernels._segments import SegmentScoreArrays
from skcrf_sdca.structures.scores import (
    Scores,
    checked_numbers_of_paths,
    listed_paths,
)

# Bytes that lists of segmentations have for each type: two scores and two origins.
BYTES_OF_TYPE = 32


class SegmentScores(Scores, SegmentScoreArrays):
    """Scores of n sequences; what -inf or the grammar forbids has probability 0.

    Parameters
    ----------
    local : ndarray of shape (n_positions, n_labels)
    tied : ndarray of shape (n_tied,)
    offsets : ndarray of shape (n + 1,), int64
    grammar : Grammar
    segment_rows : SegmentRows, default=None
        The features of segments, which the last tied scores are of.
    """

    def _new(self, local, tied, begin, end):
        offsets, rows = self.offsets[begin : end + 1], self.segment_rows
        if rows is not None:
            rows = rows.of_tokens(offsets[0], offsets[-1])
        return SegmentScores(local, tied, offsets - offsets[0], self.grammar, rows)

    def log_partition(self):
        """Return log Z, an array (n,)."""
        values = np.empty(len(self))
        self.log_partitions(values)
        return values

    def expectations(self, weight):
        """Return probabilities of labels, the weighted sum of counts, and log Z."""
        local, tied = np.empty_like(self.local), np.zeros_like(self.tied)
        return local, tied, self.sum_expectations(local, weight, tied)

    def potential_expectations(self, local, tied):
        """Write probabilities of labels, and counts of each sequence; return log Z."""
        return self.write_expectations(local, tied)

    def viterbi(self):
        """Return the labels of the best segmentations, end to end, and their scores."""
        paths, values = np.empty(len(self.local), dtype=np.int32), np.empty(len(self))
        self.best_paths(paths, values)
        return paths, values

    def n_best(self, n):
        """Return the labels (n_paths, T) of the n best of each sequence, and scores."""
        lengths = np.diff(self.offsets)
        n_bytes = BYTES_OF_TYPE * self.grammar.n_types * (lengths + 1.0)
        widths = checked_numbers_of_paths(n, self.grammar.n_labels, lengths, n_bytes)
        return listed_paths(self.n_best_paths, widths, lengths)

    def sample(self, uniform):
        """Return draws from p(y | x), (n_positions, n_draws), of as many numbers."""
        paths = np.empty(uniform.shape, dtype=np.int32)
        self.random_paths(uniform, paths)
        return paths

    def path_scores(self, labels):
        """Return the score of labels, -inf if they are not those of a segmentation."""
        values = np.empty(len(self))
        self.write_path_scores(labels, values)
        return values

    def segment_probabilities(self, spans, types):
        """Return the probability that each (i, b, e) is a segment of the type."""
        values = np.empty(len(spans))
        self.write_probabilities(spans, types, values)
        return np.minimum(values, 1.0)


def check_possible(grammar, label_rows, offsets):
    """Raise ValueError for the first sequence of which no segmentation agrees with y.

    Parameters
    ----------
    grammar : Grammar
    label_rows : ndarray of shape (n_positions, n_labels)
        Not 0 for the labels that may be right.
    offsets : ndarray of shape (n + 1,), int64
    """
    local = np.where(label_rows > 0, 0.0, -np.inf)
    scores = SegmentScores(local, np.zeros(grammar.n_tied), offsets, grammar)
    possible = scores.log_partition() > -np.inf
    if not possible.all():
        raise ValueError(
            f"y: sequence {possible.argmin()} has no segmentation, of segments of up "
            f"to {grammar.max_length} items, that agrees with y in the scheme "
            f"{grammar.scheme!r}; correct the labels, or set a larger max_length"
        )
