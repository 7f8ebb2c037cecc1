"""GraphPrediction: how a fitted model of graphs gives the `Answers`."""

from functools import partial

import numpy as np
from numpy.typing import NDArray

from skcrf_sdca._kernels._features import FeatureRows
from skcrf_sdca._utils.messages import required_attribute
from skcrf_sdca.estimators.answers import Answers
from skcrf_sdca.estimators.graph_data import named_as_graphs, packed_graphs
from skcrf_sdca.structures.graph.parameters import WEIGHTS, GraphParameters


class GraphPrediction(Answers):
    """Answers of an estimator of graphs that has ``classes_`` and the weights."""

    _weights = WEIGHTS
    _named = staticmethod(named_as_graphs)

    edge_coef_: NDArray[np.float64]
    n_edge_features_in_: int

    def _axis_lengths(self):
        return super()._axis_lengths() | {
            "e": required_attribute(self, "n_edge_features_in_")
        }

    def _packed(self, X):
        return packed_graphs(self, X)

    def _scores_of(self, packed):
        data = packed.data
        parameters, X = GraphParameters.of_fitted(self, packed.place, data.X)
        return partial(
            parameters.scores,
            FeatureRows(X),
            packed.trees,
            data.offsets,
            temperature=self.temperature_ or 1.0,
        )

    def _pair_marginals(self, scores, packed, begin, end):
        first, last = packed.edges.offsets[[begin, end]]
        found, bounds = scores.pair_marginals()
        pairs = np.empty_like(found)
        pairs[packed.order[first:last] - first] = found
        return pairs, bounds
