"""The semi-Markov chain as a Structure: passes over data, and the compiled kernel."""

import numpy as np

from skcrf_sdca._kernels.inference._segment_inference import SegmentInference
from skcrf_sdca.structures.chain.structure import Chain
from skcrf_sdca.structures.segment.parameters import (
    FlatLayout,
    SegmentParameters,
    check_segments_fit,
    number_of_tied,
)
from skcrf_sdca.structures.segment.scores import SegmentScores


class SegmentChain(Chain):
    """Segments of tokens that follow each other without gaps.

    Features, and local potentials of the labels of tokens, are as in a chain. Tied
    potentials belong to transitions between the types of segments, to lengths, and to
    the features of segments in ``segment_rows``. ``constraints`` is a Grammar.
    """

    name = "segments"
    levels = frozenset({"argmax", "log_partition", "expect", "visit"})

    def __init__(self, data, n_labels, *, segment_rows=None, **options):
        self.segment_rows = segment_rows
        super().__init__(data, n_labels, **options)

    def _layout(self):
        return FlatLayout(number_of_tied(self.constraints, self.segment_rows))

    def _check_memory(self):
        super()._check_memory()
        check_segments_fit(self.data.lengths, self.constraints, self.segment_rows)

    def new_parameters(self, w=None):
        """Return SegmentParameters with the flat vector `w`, by default of zeros."""
        return SegmentParameters(
            self.rows.n_features,
            self.constraints,
            self.segment_rows,
            boundaries=self.boundaries,
            w=w,
            pairs=self.pairs,
        )

    def vector_form(self):
        """Return the VectorForm; dual variables are of the features of segments."""
        rows = self.segment_rows
        digest = None if rows is None else rows.digest()
        return super().vector_form()._replace(data=digest)

    def log_counts(self):
        """Return the logarithm of the number of segmentations of each sequence."""
        lengths, index = np.unique(self.data.lengths, return_inverse=True)
        offsets = np.concatenate([[0], np.cumsum(lengths, dtype=np.int64)])
        local = np.zeros((offsets[-1], self.n_labels))
        tied = np.zeros(self.constraints.n_tied)
        scores = SegmentScores(local, tied, offsets, self.constraints)
        return scores.log_partition()[index]

    def kept_in_parts(self, kept):
        """Return which of the positions to keep are in `parts`: whole sequences."""
        lengths = self.data.lengths
        sequence = np.repeat(np.arange(len(lengths)), lengths)
        n_kept = np.bincount(sequence[kept], minlength=len(lengths))
        return np.repeat(n_kept == lengths, lengths)

    def parts(self, kept):
        """Return the sequences to keep, which are whole ones, and their numbers."""
        (positions,) = np.nonzero(kept)
        first = self.offsets[:-1]
        (sequence,) = np.nonzero(np.diff(self.offsets) > 0)
        sequence = sequence[kept[first[sequence]]]
        bounds = np.concatenate([[0], np.cumsum(self.data.lengths[sequence])])
        sequences = self.at(positions, bounds)
        if self.segment_rows is not None:
            sequences.segment_rows = self.segment_rows.at_tokens(positions)
        return sequences, sequence

    def _new_scores(self, local, tied, offsets, begin, end):
        rows = self.segment_rows
        if rows is not None:
            rows = rows.of_tokens(*self.offsets[[begin, end]])
        return SegmentScores(local, tied, offsets, self.constraints, rows)

    def inference(self):
        """Return the compiled inference on all sequences."""
        return SegmentInference(self.offsets, self.constraints, self.segment_rows)
