"""The semi-Markov chain as a Structure: passes over data, and the compiled kernel."""

import numpy as np

from skcrf_sdca._kernels._segment_structure import SegmentStructure
from skcrf_sdca._utils.parallel import ranges
from skcrf_sdca.structures.chain.structure import Chain
from skcrf_sdca.structures.segment.parameters import (
    FlatLayout,
    SegmentParameters,
    number_of_tied,
)
from skcrf_sdca.structures.segment.scores import SegmentScores
from skcrf_sdca.structures.structure import Potentials


class SegmentChain(Chain):
    """Segments of tokens that follow each other without gaps.

    Features, and local potentials of the labels of tokens, are those of a chain. Tied
    potentials are those of transitions between the types of segments, of lengths, and
    of features of segments.

    Parameters
    ----------
    data, n_labels, boundaries, n_jobs, pairs, fixed
        As for `Structure`.
    constraints : Grammar
        Which labels segments have, and what is allowed.
    segment_rows : SegmentRows, default=None
        The features of segments.
    """

    name = "segments"
    levels = frozenset({"argmax", "log_partition", "expect", "visit"})

    def __init__(self, data, n_labels, *, segment_rows=None, **options):
        self.segment_rows = segment_rows
        super().__init__(data, n_labels, **options)

    def _layout(self):
        return FlatLayout(number_of_tied(self.constraints, self.segment_rows))

    @property
    def sizes(self):
        """Axes: n sequences, T positions, K labels, P tied potentials."""
        return {
            "n": len(self.data),
            "T": self.data.n_positions,
            "K": self.n_labels,
            "P": self.n_tied,
        }

    @property
    def potential_axes(self):
        """The axes of Potentials, letters of `sizes`."""
        return "TK", "nP"

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

    def log_counts(self):
        """Return the logarithm of the number of segmentations of each sequence."""
        lengths, index = np.unique(self.data.lengths, return_inverse=True)
        offsets = np.concatenate([[0], np.cumsum(lengths, dtype=np.int64)])
        local = np.zeros((offsets[-1], self.n_labels))
        tied = np.zeros(self.constraints.n_tied)
        scores = SegmentScores(local, tied, offsets, self.constraints)
        return scores.log_partition()[index]

    def scores(self, parameters, begin, end):
        """Return the SegmentScores of the sequences begin <= i < end."""
        scores = parameters.scores(self.rows, self.offsets, begin, end)
        if self.fixed is None:
            return scores
        first, last = self.offsets[[begin, end]]
        local = scores.local + self.fixed.local[first:last]
        tied = scores.tied + self.fixed.tied
        return SegmentScores(
            local, tied, scores.offsets, self.constraints, scores.segment_rows
        )

    def zero_potentials(self, dtype):
        """Return Potentials of zeros."""
        return Potentials(
            np.zeros((self.data.n_positions, self.n_labels), dtype=dtype),
            np.zeros((len(self.data), self.n_tied), dtype=dtype),
        )

    def _counted(self, labels, offsets):
        """Return the tied potentials of segments, their sequences, and their values."""
        grammar, first = self.constraints, offsets[0]
        segments = grammar.segments(labels, offsets - first)
        begin, end, own, follows = segments
        (to,) = np.nonzero(follows)
        pairs = own[to - 1] * grammar.n_types + own[to]
        lengths = end - begin - 1 + own * grammar.max_length + grammar.n_types**2
        places, begins = np.append(pairs, lengths), np.append(begin[to], begin)
        values = np.ones(len(places))
        if self.segment_rows is not None:
            found = self.segment_rows.entries_of(begin + first, end + first)
            segment, column, entries = found
            of_features = column * grammar.n_types + own[segment] + grammar.n_tied
            places = np.append(places, of_features)
            begins = np.append(begins, begin[segment])
            values = np.append(values, entries)
        sequence = np.searchsorted(offsets - first, begins, side="right") - 1
        return places, sequence, values

    def label_potentials(self, labels):
        """Return the expectations of the distribution that is certain of labels."""
        certain = self.zero_potentials(np.float64)
        certain.local[np.arange(len(labels)), labels] = 1.0
        places, sequence, values = self._counted(labels, self.offsets)
        np.add.at(certain.tied, (sequence, places), values)
        return certain

    def tied_labels(self, labels, weight):
        """Return sum_i weight[i] times the tied expectations of the labels."""
        counts = np.zeros(self.n_tied)
        for begin, end in ranges(self.offsets):
            bounds = self.offsets[begin : end + 1]
            path = labels[bounds[0] : bounds[-1]]
            places, sequence, values = self._counted(path, bounds)
            values *= weight[begin + sequence]
            counts += np.bincount(places, weights=values, minlength=self.n_tied)
        return counts

    def kernel(self, weights, features, targets, cost=None):
        """Return the compiled structure of one thread, which changes weights."""
        return SegmentStructure(
            features,
            weights,
            self.offsets,
            targets,
            grammar=self.constraints,
            rows=self.segment_rows,
            cost=cost,
            fixed=self.fixed,
        )
