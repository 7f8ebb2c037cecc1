"""The scores of chains of higher order for the rows of features of X."""

import scipy.sparse as sp

from skcrf_sdca.structures.chain.parameters import (
    ChainParameters,
    pairs_with_features,
    transitions_of,
)
from skcrf_sdca.structures.chain.tuple_scores import TupleWeights


class FittedTuples:
    """The weights of a fitted estimator of higher order, for predictions.

    ``labels`` are the same weights, without tuples, for the features of X. ``tuples``
    are as for `TupleWeights`.
    """

    def __init__(self, weights, labels, tuples=None):
        self.labels, self.edge_coef = labels, weights.get("edge_coef")
        has_edge = pairs_with_features(weights)
        self.weights = TupleWeights(transitions_of(weights), has_edge, tuples)
        if self.edge_coef is not None:
            self.edge_coef = self.edge_coef[self.weights.pairs()]

    @classmethod
    def of_fitted(cls, weights, X):
        """Return the Weights of a model for the features in X, and X."""
        labels, used = ChainParameters.of_fitted(weights, X)
        fitted = cls(weights, labels)
        fitted.X = X
        return fitted, used

    def scores(self, rows, offsets, begin, end, *, temperature=1.0):
        """Return the TupleScores of begin <= i < end, of scores over a temperature."""
        labels = self.labels.scores(rows, offsets, begin, end, temperature=temperature)
        edges = None
        if self.edge_coef is not None:
            edges = self._edge_scores(offsets, begin, end) / temperature
        return self.weights.scores(
            labels.node_scores, edges, labels.offsets, temperature
        )

    def _edge_scores(self, offsets, begin, end):
        """Return the scores of the edge features, (n_positions, tuples of two)."""
        scores = self.X[offsets[begin] : offsets[end]] @ self.edge_coef.T
        return scores.toarray() if sp.issparse(scores) else scores
