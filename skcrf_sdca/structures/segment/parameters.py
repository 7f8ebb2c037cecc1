"""The parameters of a semi-Markov chain: one flat vector and its named blocks.

    intercept (L) | start (L) | end (L)
    | transition (K, K), length (K, M), segment (F, K) | coef (d, L)

Local scores of the labels of tokens are those of a chain; with K types of segments,
transition[k, k'] is the score of a segment of type k' after one of type k,
length[k, m - 1] that of a segment of m tokens, and segment[f, k] that of feature f of
a segment, if there are such features.
"""

from typing import NamedTuple

import numpy as np

from skcrf_sdca._utils.memory import check_fits
from skcrf_sdca.structures.chain.parameters import ChainParameters, used_features
from skcrf_sdca.structures.segment.scores import SegmentScores

# The weights of a fitted estimator, with their axes: K labels, d features, S types of
# segments, M the largest length.
WEIGHTS = {
    "coef_": "Kd",
    "intercept_": "K",
    "start_": "K",
    "end_": "K",
    "transition_": "SS",
    "length_": "SM",
}
MAY_FORBID = ("transition_", "length_")


def number_of_tied(grammar, segment_rows):
    """Return the number of tied weights of a grammar and of features of segments."""
    n_features = 0 if segment_rows is None else segment_rows.n_features
    return grammar.n_tied + n_features * grammar.n_types


def check_segments_fit(lengths, grammar, segment_rows):
    """Raise MemoryError if the scores of all segments of one sequence do not fit.

    There are such scores, and posteriors, if segments have features.
    """
    if segment_rows is None:
        return
    longest = int(lengths.max(initial=0))
    check_fits(
        16 * longest * grammar.max_length * grammar.n_types,
        f"the scores of segments of up to {grammar.max_length} of {longest} positions, "
        f"with {grammar.n_types} types,",
        "cut long sequences into shorter ones, or set a smaller max_length",
    )


class FlatLayout(NamedTuple):
    """The layout of the tied weights in one row."""

    size: int

    @property
    def shape(self):
        """The shape of the row."""
        return (self.size,)


class SegmentParameters(ChainParameters):
    """Weights of a semi-Markov CRF as one vector ``w`` and named views of it.

    Parameters
    ----------
    n_features : int
    grammar : Grammar
    segment_rows : SegmentRows, default=None
        The features of segments, of the sequences that `scores` takes.
    boundaries, w, pairs
        As for `ChainParameters`.

    Attributes
    ----------
    transition : ndarray of shape (K * K + K * M + F * K,)
        The tied weights: those of transitions, of lengths, and of features of segments,
        in one row.
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
        super().__init__(
            n_features,
            grammar.n_labels,
            boundaries=boundaries,
            w=w,
            pairs=pairs,
            layout=FlatLayout(number_of_tied(grammar, segment_rows)),
        )

    def with_features(self, n_features, w, pairs=None):
        """Return parameters of other features, with the flat vector `w`."""
        return SegmentParameters(
            n_features,
            self.grammar,
            self.segment_rows,
            boundaries=self.boundaries,
            w=w,
            pairs=pairs,
        )

    @classmethod
    def of_segments(cls, estimator, grammar, X, segment_rows):
        """Return the parameters of a fitted estimator for the features in X, and X.

        X is returned on these features alone; `w` is None.
        """
        coef, X = used_features(estimator.coef_, X)
        parameters = cls(0, grammar, segment_rows)
        parameters.w, parameters.n_features = None, len(coef)
        parameters.coef, parameters.intercept = coef, estimator.intercept_
        parameters.start, parameters.end = estimator.start_, estimator.end_
        tied = [estimator.transition_.ravel(), estimator.length_.ravel()]
        if segment_rows is not None:
            tied.append(estimator.segment_coef_.T.ravel())
        parameters.transition = np.concatenate(tied)
        return parameters, X

    def _tied_row(self, weights):
        blocks = weights.transition_, weights.length_, weights.segment_coef_.T
        return np.concatenate([np.ravel(block) for block in blocks])

    def attributes(self, constraints=None):
        """Return the weights as attributes of an estimator, -inf where forbidden."""
        grammar, coef = self.grammar, self.coef.T
        if self.pairs is not None:
            coef = self.pairs.coef(self.coef)
        n_types, n_counts = grammar.n_types, grammar.n_tied
        tied, of_features = np.split(self.transition, [n_counts])
        tied = np.where(grammar.allowed, tied, -np.inf)
        of_features = of_features.reshape(-1, n_types).T
        return {
            "coef_": coef,
            "intercept_": self.intercept,
            "start_": self.start,
            "end_": self.end,
            "transition_": tied[: n_types**2].reshape(n_types, n_types),
            "length_": tied[n_types**2 :].reshape(n_types, -1),
            "types_": np.fromiter(grammar.types, dtype=object, count=n_types),
            "max_length_": grammar.max_length,
            "scheme_": grammar.scheme,
            "segment_coef_": None if self.segment_rows is None else of_features,
        }

    def scores(self, rows, offsets, begin, end, constraints=None, temperature=1.0):
        """Return the SegmentScores of begin <= i < end, over a temperature.

        Raise MemoryError if these do not fit.
        """
        bounds = offsets[begin : end + 1] - offsets[begin]
        check_fits(
            8 * int(bounds[-1]) * self.n_labels,
            f"the scores of {bounds[-1]} positions and {self.n_labels} labels",
            "cut long sequences into shorter ones",
        )
        check_segments_fit(np.diff(bounds), self.grammar, self.segment_rows)
        local = np.empty((bounds[-1], self.n_labels))
        self.weights().node_scores(rows, offsets, begin, end, local)
        tied = self.transition
        if temperature != 1.0:
            local /= temperature
            tied = tied / temperature
        segment_rows = self.segment_rows
        if segment_rows is not None:
            segment_rows = segment_rows.of_tokens(*offsets[[begin, end]])
        return SegmentScores(local, tied, bounds, self.grammar, segment_rows)
