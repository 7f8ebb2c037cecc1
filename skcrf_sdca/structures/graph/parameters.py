"""The parameters of a graph model: one flat vector, its three named blocks, its scores.

Owns the feature map:

    intercept (K) | pair (d_e, P) | coef (d, K)

with P = K^2 pairs of labels [from, to], or P = K (K + 1) / 2 where edges have no
direction, so that [j, k] and [k, j] are one weight. coef may have weights for some
labels of each feature only, see structures/chain/observed.py.

    node_scores[v, k] = x_v . coef[:, k] + intercept[k]
    score(x, y) = sum_v node_scores[v, y_v] + sum_e x_e . pair[:, (y_from, y_to)]
"""

import numpy as np

from skcrf_sdca._kernels._weights import SparseWeights, Weights
from skcrf_sdca._utils.memory import check_fits
from skcrf_sdca.structures.chain.parameters import (
    dense_coef,
    used_features,
    values_at,
)
from skcrf_sdca.structures.graph.scores import GraphScores

# The weights of a fitted estimator, with their axes: labels K, features d, of edges e.
WEIGHTS = {"coef_": "Kd", "intercept_": "K", "edge_coef_": "eKK"}


def pair_places(n_labels, directed):
    """Return the number of the weight of each pair of labels, (K, K) int32.

    Examples
    --------
    >>> from skcrf_sdca.structures.graph.parameters import pair_places
    >>> pair_places(2, directed=True), pair_places(2, directed=False)
    (array([[0, 1],
           [2, 3]], dtype=int32), array([[0, 1],
           [1, 2]], dtype=int32))
    """
    if directed:
        return np.arange(n_labels**2, dtype=np.int32).reshape(n_labels, n_labels)
    place = np.zeros((n_labels, n_labels), dtype=np.int32)
    rows, columns = np.triu_indices(n_labels)
    place[rows, columns] = place[columns, rows] = np.arange(len(rows))
    return place


class GraphParameters:
    """Weights of a graph model as one vector ``w`` and named views of it.

    Parameters
    ----------
    n_features, n_edge_features : int
    place : ndarray of shape (K, K), int32
        The number of the weight of each pair of labels, see `pair_places`.
    w : ndarray of shape (n_weights,), default=None
        Taken as it is, not copied; zeros by default.
    pairs : ObservedPairs, default=None
        The labels that each feature has weights for; None if all.

    Attributes
    ----------
    w : ndarray of shape (n_weights,)
    biases : ndarray of shape (n_weights - coef.size,)
        All weights but `coef`.
    intercept : ndarray of shape (n_labels,)
    tied : ndarray of shape (n_edge_features * n_pairs,)
        The weights of pairs of labels, which all edges share.
    coef : ndarray of shape (n_features, n_labels)
        Or, with `pairs`, one number for each of them.
    """

    def __init__(self, n_features, n_edge_features, place, w=None, pairs=None):
        self.n_features, self.n_edge_features = n_features, n_edge_features
        self.place, self.pairs = place, pairs
        self.n_labels = n_labels = len(place)
        n_tied = n_edge_features * (int(place.max(initial=0)) + 1)
        n_coef = n_features * n_labels if pairs is None else pairs.layout.size
        sizes = [n_labels, n_tied, n_coef]
        self.w = np.zeros(sum(sizes)) if w is None else w
        self.intercept, self.tied, coef = np.split(self.w, np.cumsum(sizes)[:-1])
        self.biases = self.w[: n_labels + n_tied]
        self.coef = coef if pairs is not None else coef.reshape(n_features, n_labels)

    @classmethod
    def of_fitted(cls, estimator, place, X):
        """Return the parameters of a fitted estimator for the features in X, and X.

        X is returned on these features alone. The blocks are not views of one vector:
        `w` is None.
        """
        coef, X = used_features(estimator.coef_, X)
        pairs = estimator.edge_coef_
        parameters = cls(0, len(pairs), place)
        parameters.w, parameters.n_features = None, len(coef)
        parameters.coef, parameters.intercept = coef, estimator.intercept_
        tied = np.empty((len(pairs), place.max() + 1))
        tied[:, place.ravel()] = pairs.reshape(len(pairs), -1)
        parameters.tied = tied.ravel()
        return parameters, X

    def with_features(self, n_features, w, pairs=None):
        """Return parameters of other features, with the flat vector `w`."""
        return GraphParameters(n_features, self.n_edge_features, self.place, w, pairs)

    def assign(self, weights):
        """Take the weights of `GraphWeights`; what has no place here is left out."""
        self.intercept[:] = weights.intercept_
        pairs = weights.edge_coef_.reshape(self.n_edge_features, -1)
        self.tied.reshape(self.n_edge_features, -1)[:, self.place.ravel()] = pairs
        if self.pairs is None:
            self.coef[:] = dense_coef(weights.coef_).T
        else:
            features, labels = self.pairs.indices()
            self.coef[self.pairs.exists] = values_at(weights.coef_, labels, features)

    def attributes(self, constraints=None):
        """Return the weights as attributes of an estimator."""
        tied = self.tied.reshape(self.n_edge_features, -1)
        return {
            "coef_": self.coef.T if self.pairs is None else self.pairs.coef(self.coef),
            "intercept_": self.intercept,
            "edge_coef_": tied[:, self.place],
        }

    def clear_boundaries(self):
        """Do nothing: all weights exist."""

    def weights(self):
        """Return the blocks as the kernels take them; they share memory with ``w``."""
        return Weights(self._blocks(), layout=self._layout())

    def sparse_weights(self, dual, penalty):
        """Return the blocks as weights that follow dual weights, see `SparseWeights`.

        Parameters
        ----------
        dual : GraphParameters
        penalty : ElasticNet
        """
        return SparseWeights(
            self._blocks(),
            layout=self._layout(),
            dual=dual.weights(),
            threshold=penalty.threshold,
            curvature=penalty.curvature,
        )

    def _layout(self):
        return None if self.pairs is None else self.pairs.layout

    def _blocks(self):
        # A graph has no first and no last node: weights that nobody keeps.
        ends = np.zeros((2, self.n_labels))
        return self.coef, self.intercept, *ends, self.tied

    def scores(self, rows, trees, offsets, begin, end, *, temperature=1.0):
        """Return the GraphScores of begin <= i < end, of the scores over a temperature.

        Raise MemoryError if these do not fit.
        """
        bounds = offsets[begin : end + 1] - offsets[begin]
        check_fits(
            8 * int(bounds[-1]) * self.n_labels,
            f"the scores of {bounds[-1]} nodes and {self.n_labels} labels",
            "cut large graphs into smaller ones",
        )
        node_scores = np.empty((bounds[-1], self.n_labels))
        self.weights().node_scores(rows, offsets, begin, end, node_scores)
        tied = self.tied
        if temperature != 1.0:
            node_scores /= temperature
            tied = tied / temperature
        return GraphScores(trees, node_scores, tied, bounds, begin)
