"""The parameters of a semi-Markov chain: one flat vector and its named blocks.

    intercept (L) | start (L) | end (L)
    | transition (K, K), length (K, M), segment (F, K) | coef (d, L)

The labels of tokens have local scores as in a chain; with K types of segments,
transition[k, k'] is the score of a segment of type k' after one of type k,
length[k, m - 1] of a segment of m tokens, and segment[f, k] of feature f of a segment,
if there are such features.
"""

from functools import cache
from typing import NamedTuple

import numpy as np

from skcrf_sdca.structures.chain.parameters import ChainParameters
from skcrf_sdca.structures.form import Block
from skcrf_sdca.structures.segment.scores import SegmentScores, check_segments_fit


@cache
def segment_blocks(*, segment_features):
    """Return the blocks of the weights of segments, with or without features."""
    blocks = (
        Block("coef", ("label", "feature")),
        Block("intercept", ("label",)),
        Block("start", ("label",)),
        Block("end", ("label",)),
        Block("transition", ("type", "type"), forbids=True),
        Block("length", ("type", "length"), forbids=True),
    )
    more = (Block("segment_coef", ("type", "segment_feature")),)
    return blocks + more if segment_features else blocks


def number_of_tied(grammar, segment_rows):
    """Return the number of tied weights of a grammar and of features of segments."""
    n_features = 0 if segment_rows is None else segment_rows.n_features
    return grammar.n_tied + n_features * grammar.n_types


class FlatLayout(NamedTuple):
    """The layout of the tied weights in one row."""

    size: int

    @property
    def shape(self):
        """The shape of the row."""
        return (self.size,)


class SegmentParameters(ChainParameters):
    """Weights of a semi-Markov CRF as one vector ``w`` and named views of it.

    ``segment_rows`` are the features of segments, of the sequences that `scores` takes.
    ``transition``, of shape (K * K + K * M + F * K,), has the tied weights of
    transitions, of lengths, and of features of segments, in one row.
    """

    def __init__(
        self,
        n_features,
        grammar,
        segment_rows=None,
        *,
        boundaries=True,
        w=None,
        pairs=None,
    ):
        self.grammar = grammar
        self.segment_rows = segment_rows
        self.blocks = segment_blocks(segment_features=segment_rows is not None)
        super().__init__(
            n_features,
            grammar.n_labels,
            boundaries=boundaries,
            w=w,
            pairs=pairs,
            layout=FlatLayout(number_of_tied(grammar, segment_rows)),
        )

    def _tied_of(self, weights):
        blocks = [weights["transition"], weights["length"]]
        if self.segment_rows is not None:
            n_features, n_types = self.segment_rows.n_features, self.grammar.n_types
            none = np.zeros((n_types, n_features))
            blocks.append(weights.get("segment_coef", none).T)
        return np.concatenate([np.ravel(block) for block in blocks])

    def _by_name(self):
        grammar, n = self.grammar, self.grammar.n_types
        transition, length, coef = np.split(self.tied, [n**2, grammar.n_tied])
        found = {
            "transition": transition.reshape(n, n),
            "length": length.reshape(n, -1),
        }
        if self.segment_rows is not None:
            found["segment_coef"] = coef.reshape(-1, n).T
        return found

    def _sizes(self):
        grammar, rows = self.grammar, self.segment_rows
        n_features = 0 if rows is None else rows.n_features
        own = {"type": grammar.n_types, "length": grammar.max_length}
        return super()._sizes() | own | {"segment_feature": n_features}

    def scores(self, rows, offsets, begin, end, constraints=None, temperature=1.0):
        """Return the SegmentScores of `potentials`.

        Raise ValueError or MemoryError if the segments of a sequence are too many.
        """
        lengths, segment_rows = np.diff(offsets[begin : end + 1]), self.segment_rows
        check_segments_fit(lengths, self.grammar, segment_rows)
        found = self.potentials(rows, offsets, begin, end, temperature)
        if segment_rows is not None:
            segment_rows = segment_rows.of_tokens(*offsets[[begin, end]])
        return SegmentScores(*found, self.grammar, segment_rows)
