"""Graphs as a fitted model takes them: what validation.py is for sequences."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from skcrf_sdca._utils.words import words
from skcrf_sdca.data.graphs import Edges, named_as_graphs
from skcrf_sdca.estimators.fitted import check_form
from skcrf_sdca.estimators.validation import held_out_labels, packed_for
from skcrf_sdca.structures.graph.junction_tree import junction_trees
from skcrf_sdca.structures.graph.parameters import pair_places


class PackedGraphs(NamedTuple):
    """Graphs that a fitted model predicts, validated and packed."""

    data: Any  # PackedSequences of the nodes
    input_format: Any
    edges: Edges
    place: NDArray[np.int32]
    trees: Any  # JunctionTrees
    order: NDArray[Any]  # of the edges of the trees


@named_as_graphs
def packed_graphs(estimator, X):
    """Return the PackedGraphs of X for a fitted estimator.

    Those of held-out data are packed already. Raise what `prediction_data` raises, and
    ValueError for bad edges.
    """
    check_is_fitted(estimator)
    check_form(estimator)
    if isinstance(X, PackedGraphs):
        return X
    return packed_for_features(estimator, X)


def packed_for_features(estimator, X):
    """Return the PackedGraphs of X for what a fit knows of features and labels."""
    nodes, ends, features = estimator._split(X)
    data, input_format = packed_for(estimator, nodes, None)
    edges = Edges.of_lists(ends, features, data.lengths)
    found, expected = edges.features.shape[1], estimator.n_edge_features_in_
    if len(edges.ends) and found != expected:
        raise ValueError(
            f"{words().X} has {found} features of each edge, but "
            f"{type(estimator).__name__} is expecting {expected}, as in fit; edges "
            "without features have one."
        )
    if not len(edges.ends):
        edges = edges._replace(features=np.empty((0, expected)))
    place = pair_places(len(estimator.classes_), estimator.directed)
    trees, order = junction_trees(data.offsets, edges, len(place), place)
    return PackedGraphs(data, input_format, edges, place, trees, order)


@named_as_graphs
def held_out_graphs(estimator, X, y):
    """Return held-out data as the methods of a model take them at every epoch.

    ``estimator`` has the fitted attributes of GraphCRF.fit. Raise what `packed_graphs`
    and `held_out_labels` raise.
    """
    packed = packed_for_features(estimator, X)
    return packed, held_out_labels(estimator, y, packed.data, packed.input_format)
