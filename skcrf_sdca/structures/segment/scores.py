"""Inference on sequences of segments given their scores, behind one object."""

import numpy as np

from skcrf_sdca._kernels.inference._segment_inference import (
    SegmentInference,
    segment_probabilities,
)
from skcrf_sdca._utils.memory import check_fits
from skcrf_sdca._utils.work import check_ends
from skcrf_sdca.structures.compiled_scores import CompiledScores


class SegmentScores(CompiledScores):
    """Scores of n sequences; labels that -inf or grammar forbid have probability 0.

    The features in ``segment_rows``, if any, have the last tied scores. ValueError if
    the shapes do not agree.
    """

    def __init__(self, local, tied, offsets, grammar, segment_rows=None):
        self.local, self.tied = local, tied
        self.offsets, self.grammar = offsets, grammar
        self.segment_rows = segment_rows
        n_tied = grammar.n_tied
        if segment_rows is not None:
            n_tied += segment_rows.n_features * grammar.n_types
        shapes = (int(offsets[-1]), grammar.n_labels), (n_tied,)
        if (local.shape, tied.shape) != shapes:
            raise ValueError(
                f"local and tied scores have shapes {local.shape} and {tied.shape}; "
                f"{shapes[0]} and {shapes[1]} are needed"
            )

    def inference(self, begin, end):
        """Return the compiled inference on the sequences begin <= i < end."""
        return SegmentInference(
            self.offsets, self.grammar, self.segment_rows, begin, end
        )

    def _new(self, local, tied, begin, end):
        offsets, rows = self.offsets[begin : end + 1], self.segment_rows
        if rows is not None:
            rows = rows.of_tokens(offsets[0], offsets[-1])
        return SegmentScores(local, tied, offsets - offsets[0], self.grammar, rows)

    @property
    def _bytes_of_place(self):
        # Two scores and two origins of each type.
        return 32.0 * self.grammar.n_types

    def segment_probabilities(self, spans, types):
        """Return the probability that each (i, b, e) is a segment of the type."""
        values = np.empty(len(spans))
        segment_probabilities(self, spans, types, values)
        return np.minimum(values, 1.0)


def check_segments_fit(lengths, grammar, segment_rows):
    """Raise ValueError or MemoryError if the segments of one sequence are too many.

    If segments have features, there are scores and posteriors of all of them.
    """
    longest = int(lengths.max(initial=0))
    most = min(longest, grammar.max_length)
    check_ends(
        float(longest) * most * grammar.n_types,
        f"the segments of up to {most} of {longest} positions, with "
        f"{grammar.n_types} types,",
        "cut long sequences into shorter ones, or set a smaller max_length",
    )
    if segment_rows is None:
        return
    check_fits(
        16 * longest * grammar.max_length * grammar.n_types,
        f"the scores of segments of up to {grammar.max_length} of {longest} positions, "
        f"with {grammar.n_types} types,",
        "cut long sequences into shorter ones, or set a smaller max_length",
    )


def check_possible(grammar, label_rows, offsets):
    """Raise ValueError for the first sequence without a segmentation that fits y.

    ``label_rows`` are not 0 for the possible labels.
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
