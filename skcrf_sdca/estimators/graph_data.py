"""The one place where graphs and their labels are validated and packed for estimators.

What validation.py is for sequences: nodes are the items of sequences, and edges join
them. Messages say graph and node.
"""

from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from skcrf_sdca._utils.words import in_words, words
from skcrf_sdca.data.input_formats import check_has_items, training_format
from skcrf_sdca.data.label_encoding import encode_labels_beside
from skcrf_sdca.estimators.fitted import check_form
from skcrf_sdca.estimators.validation import (
    TrainingData,
    held_out_labels,
    on_own_features,
    packed_for,
    training_weight,
)
from skcrf_sdca.features.vectorizer import SequenceVectorizer
from skcrf_sdca.structures.graph.edges import Edges
from skcrf_sdca.structures.graph.junction_tree import junction_trees
from skcrf_sdca.structures.graph.parameters import pair_places

# The errors of functions that know sequences alone.
named_as_graphs = in_words(sequence="graph", item="node", position="node")


@dataclass(frozen=True)
class GraphTraining(TrainingData):
    """Validated input of a fit: that of the nodes, and the edges."""

    edges: Edges = field(kw_only=True)


class PackedGraphs(NamedTuple):
    """Graphs that a fitted model predicts, validated and packed."""

    data: Any  # PackedSequences of the nodes
    input_format: Any
    edges: Edges
    place: NDArray[np.int32]
    trees: Any  # JunctionTrees
    order: NDArray[Any]  # of the edges of the trees


@named_as_graphs
def graph_training(estimator, X, y, sample_weight, prior=None):
    """Validate and pack the arguments of fit; return GraphTraining.

    With a Prior the features of X follow those of its vectorizer, the labels of
    both are sorted, and the data are packed on the features that they have.

    The estimator is named in messages and not changed. The errors are those of
    `GraphCRF.fit`.
    """
    if y is None:
        raise ValueError(
            f"{type(estimator).__name__} requires y to be passed, but the target y is "
            "None."
        )
    nodes, ends, features = estimator._split(X)
    input_format = training_format(nodes, y)
    if not input_format.boundaries:
        raise ValueError(
            f"{words().X}: the nodes of graph 0 are a row of numbers; they must be an "
            "array of shape (n_nodes, n_features), or a list of dicts or of lists of "
            "str"
        )
    vectorizer = SequenceVectorizer() if input_format.needs_vectorizer else None
    if vectorizer is not None and prior is not None:
        vectorizer = prior.new_vectorizer(input_format)
        data = vectorizer._grow(nodes)
    else:
        data = input_format.pack_training(nodes, estimator, vectorizer)
    check_has_items(len(data), data.n_positions)
    edges = Edges.of_lists(ends, features, data.lengths)
    unknown_label = estimator.unknown_label
    if prior is None:
        encoded = input_format.encode_labels(y, data, unknown_label)
    else:
        lists = input_format.label_lists(y, data)
        encoded = encode_labels_beside(
            prior.classes, lists, data.lengths, unknown_label
        )
    classes, labels, rows = encoded
    attributes = {
        "_input_format": input_format.name,
        "vectorizer_": vectorizer,
        "_feature_names": input_format.feature_names(nodes, data),
        "classes_": classes,
        "n_features_in_": data.n_features,
        "n_edge_features_in_": edges.features.shape[1],
    }
    known = {name: value for name, value in attributes.items() if value is not None}
    weight = training_weight(sample_weight, data, rows)
    training = GraphTraining(
        data, labels, rows, weight, None, input_format, known, edges=edges
    )
    return training if prior is None else on_own_features(training)


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

    ``estimator`` has the fitted attributes of GraphTraining. Raise what `packed_graphs`
    and `held_out_labels` raise.
    """
    packed = packed_for_features(estimator, X)
    return packed, held_out_labels(estimator, y, packed.data, packed.input_format)
