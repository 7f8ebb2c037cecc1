"""The parameters of a graph model: one flat vector, its three named blocks, its scores.

Owns the feature map:

    intercept (K) | pair (d_e, P) | coef (d, K)

with P = K^2 pairs of labels [from, to], or P = K (K + 1) / 2 where edges have no
direction, so that [j, k] and [k, j] are one weight. coef may have weights for some
labels of each feature only, see structures/chain/observed.py.

    node_scores[v, k] = x_v . coef[:, k] + intercept[k]
    score(x, y) = sum_v node_scores[v, y_v] + sum_e x_e . pair[:, (y_from, y_to)]
"""

from skcrf_sdca.structures.form import Block
from skcrf_sdca.structures.graph.pairs import tied_of_pairs
from skcrf_sdca.structures.parameters import Parameters

GRAPH_BLOCKS = (
    Block("coef", ("label", "feature")),
    Block("intercept", ("label",)),
    Block("edge_coef", ("edge_feature", "label", "label")),
)


class GraphParameters(Parameters):
    """Weights of a graph model.

    ``place`` is as `pair_places` returns it. ``tied``, of shape (n_edge_features *
    n_pairs,), has the weights of pairs of labels, which all edges share.
    """

    blocks = GRAPH_BLOCKS

    def __init__(self, n_features, n_edge_features, place, w=None, pairs=None):
        self.n_edge_features, self.place = n_edge_features, place
        n_tied = n_edge_features * (int(place.max(initial=0)) + 1)
        super().__init__(n_features, len(place), (n_tied,), w=w, pairs=pairs)

    @classmethod
    def of_fitted(cls, weights, place, X):
        """Return what `for_rows` does, of the Weights of a model."""
        return cls(0, len(weights["edge_coef"]), place).for_rows(weights, X)

    def _tied_of(self, weights):
        return tied_of_pairs(weights["edge_coef"], self.place)

    def _by_name(self):
        tied = self.tied.reshape(self.n_edge_features, -1)
        return {"edge_coef": tied[:, self.place]}

    def _sizes(self):
        return super()._sizes() | {"edge_feature": self.n_edge_features}
