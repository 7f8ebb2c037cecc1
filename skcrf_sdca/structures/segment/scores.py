"""Inference on sequences of segments given their scores, behind one object.

The twin of `skcrf_sdca.structures.chain.chains.Chains`: its methods have the names and
the results of those.
"""

import numpy as np

from skcrf_sdca._kernels._segments import SegmentScoreArrays
from skcrf_sdca.structures.chain.chains import (
    checked_numbers_of_paths,
    clamped,
    known_log_likelihood,
    split_paths,
)

# Bytes that lists of segmentations have for each type: two scores and two origins.
BYTES_OF_TYPE = 32


class SegmentScores(SegmentScoreArrays):
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

    def _with_local(self, local):
        """Return the same with other local scores."""
        return self._with_scores(local, self.tied)

    def _with_scores(self, local, tied):
        """Return the same with other scores."""
        return SegmentScores(local, tied, self.offsets, self.grammar, self.segment_rows)

    @property
    def node_scores(self):
        """The local scores, as a chain calls them."""
        return self.local

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

    def node_marginals(self):
        """Return the probability of every label at every position, and log Z."""
        local, _, log_z = self.expectations(np.zeros(len(self)))
        return np.minimum(local, 1.0, out=local), log_z

    def log_node_marginals(self):
        """Return the logarithms of the probabilities, -inf where these underflow."""
        with np.errstate(divide="ignore"):
            return np.log(self.node_marginals()[0])

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
        path_offsets = np.concatenate([[0], np.cumsum(widths)])
        label_offsets = np.concatenate([[0], np.cumsum(widths * lengths)])
        scores = np.empty(path_offsets[-1])
        paths = np.empty(label_offsets[-1], dtype=np.int32)
        self.n_best_paths(widths, path_offsets, label_offsets, scores, paths)
        return split_paths(widths, lengths, scores, paths)

    def sample(self, uniform):
        """Return draws from p(y | x), (n_positions, n_draws), of as many numbers."""
        paths = np.empty(uniform.shape, dtype=np.int32)
        self.random_paths(uniform, paths)
        return paths

    def posterior(self):
        """Return the segmentations of most tokens right in expectation, and log Z."""
        node, log_z = self.node_marginals()
        node[self.local == -np.inf] = -np.inf
        values = self._with_scores(node, np.zeros_like(self.tied))
        return values.viterbi()[0], log_z

    def clamped(self, labels):
        """Return scores that forbid all labels but the known ones (not negative)."""
        return self._with_local(clamped(self.local, labels))

    def path_scores(self, labels):
        """Return the score of labels, -inf if they are not those of a segmentation."""
        values = np.empty(len(self))
        self.write_path_scores(labels, values)
        return values

    def log_likelihood(self, labels, known=None):
        """Return log p(y | x) of one label list of each; a label < 0 is impossible.

        If some are not ``known``, the probability is summed over these.
        """
        if known is not None:
            return known_log_likelihood(self, labels, known)
        values = self.path_scores(np.maximum(labels, 0))
        unknown = np.flatnonzero(labels < 0)
        values[np.searchsorted(self.offsets, unknown, side="right") - 1] = -np.inf
        possible = values > -np.inf
        values[possible] -= self.log_partition()[possible]
        return np.minimum(values, 0.0)

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
