"""The weights in a file, and what each structure has beside those of labels."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from skcrf_sdca._kernels.features._features import RowLayout, rows_of_features
from skcrf_sdca._kernels.features._weights import Weights
from skcrf_sdca._utils.archives import FLOAT, INT
from skcrf_sdca._utils.memory import check_fits
from skcrf_sdca.data.trees import TreeRules
from skcrf_sdca.persistence._entries import (
    arc_templates_from,
    checked_graphs,
    checked_label_parts,
    checked_segments,
    checked_tuples,
)
from skcrf_sdca.persistence._fields import ModelFormatError
from skcrf_sdca.persistence._values import parameters_from
from skcrf_sdca.serving._rows import CsrRows
from skcrf_sdca.structures.scores import check_weights
from skcrf_sdca.structures.segment.grammar import Grammar
from skcrf_sdca.text.features.arc_templates import ArcTemplates

# Parameters of trees, with their defaults.
OF_TREES = {"single_root": True, "projective": False, "labelled": False}


class Coef(NamedTuple):
    """Weights of features: (d, K), or of each feature the labels that have some.

    The row of feature j is then ``values[bounds[j]:bounds[j + 1]]``, of ``labels``.
    With ``columns``, which ascend, rows are of these features alone, and others have no
    weights: a file may say that there are many.
    """

    values: NDArray[np.float64]
    n_features: int
    n_labels: int
    bounds: NDArray[np.int64] | None = None
    labels: NDArray[np.int32] | None = None
    columns: NDArray[np.int64] | None = None

    def compiled(self, intercept, start, end, tied):
        """Return all weights as the kernels take them."""
        layout = None
        if self.bounds is not None:
            layout = RowLayout(
                self.n_features,
                len(intercept),
                self.bounds,
                self.labels,
                np.ones(len(self.values), dtype=bool),
            )
        blocks = self.values, intercept, start, end, tied
        return Weights(blocks, layout=layout)

    def rows(self, features):
        """Return the weights (n, K) of some features."""
        if self.labels is not None:
            bounds = self.bounds
            found = np.zeros((len(features), self.n_labels))
            for row, j in zip(found, features.tolist(), strict=True):
                own = slice(bounds[j], bounds[j + 1])
                row[self.labels[own]] = self.values[own]
            return found
        if self.columns is None:
            return self.values[features]
        place = np.searchsorted(self.columns, features)
        is_known = np.append(self.columns, -1)[place] == features
        found = np.zeros((len(features), self.n_labels))
        found[is_known] = self.values[place[is_known]]
        return found

    def has_labels(self, n_labels):
        """Return which labels have a weight of some feature, (n_labels,)."""
        if self.labels is not None:
            return np.bincount(self.labels, minlength=n_labels) > 0
        return (self.values != 0.0).any(axis=0)

    def dense(self):
        """Return the weights (d, K) of all features; MemoryError if they do not fit."""
        if self.columns is None:
            return self.values
        shape = self.n_features, self.values.shape[1]
        check_fits(8.0 * np.prod(shape), "the weights", "this file has too many")
        weights = np.zeros(shape)
        weights[self.columns] = self.values
        return weights


class Trees(NamedTuple):
    """Which dependency trees there are, and what the features of their arcs are of."""

    rules: TreeRules
    labelled: bool
    templates: ArcTemplates | None  # of tokens; None if a sentence is its arcs
    relations: Any = None  # the Model of relations, given the heads


class Graphs(NamedTuple):
    """Which graphs there are, and the weights of pairs of labels that edges join."""

    weights: NDArray[np.float64]  # (n_edge_features, K, K)
    are_trees: bool
    directed: bool


def coef_of_rows(array, name, n_stored, n_features, n_labels):
    """Return the Coef of rows of numbers: of all labels."""
    if n_stored is None:
        return _dense_coef(array, name, n_features, n_labels)
    values, features, indptr = _stored(array, name, n_stored, (n_labels, n_features))
    columns, rows = np.unique(features, return_inverse=True)
    dense = np.zeros((len(columns), n_labels))
    dense[rows, _rows_of(indptr)] = values
    return Coef(dense, n_features, n_labels, columns=columns)


def coef_of_items(array, name, n_stored, n_features, n_labels):
    """Return the Coef of items, of which each feature has a name in the file."""
    if n_stored is None:
        return _dense_coef(array, name, n_features, n_labels)
    values, features, indptr = _stored(array, name, n_stored, (n_labels, n_features))
    bounds, labels, own = rows_of_features(values, features, indptr, n_features)
    return Coef(own, n_features, n_labels, bounds, labels)


def _dense_coef(array, name, n_features, n_labels):
    values = array(name, FLOAT, (n_features, n_labels))
    check_weights(name, values, forbids=False)
    return Coef(values, n_features, n_labels)


def _stored(array, name, n_stored, shape):
    """Return the stored weights of a CSR matrix, their columns, and its bounds."""
    values = array(f"{name}_data", FLOAT, (n_stored,))
    columns = array(f"{name}_indices", INT, (n_stored,))
    indptr = array(f"{name}_indptr", INT, (shape[0] + 1,))
    check_weights(name, values, forbids=False)
    if indptr[0] != 0 or indptr[-1] != n_stored or (np.diff(indptr) < 0).any():
        raise ModelFormatError(f"{name}_indptr must go from 0 to the number of weights")
    if columns.min(initial=0) < 0 or columns.max(initial=-1) >= shape[1]:
        raise ModelFormatError(f"{name}_indices must be from 0 to {shape[1] - 1}")
    return values, columns, indptr


def _rows_of(indptr):
    """Return the row of each stored weight, int32."""
    return np.repeat(np.arange(len(indptr) - 1, dtype=np.int32), np.diff(indptr))


def label_weights(array, name, shape, *, forbids):
    """Return weights without an axis of features; whether -inf ``forbids``."""
    weights = array(name, FLOAT, shape)
    check_weights(name, weights, forbids=forbids)
    return weights


# What each structure has beside the weights of single labels, given the entries of its
# CRF, the labels, and what reads the weights of features.


def _weights_of_pairs(array, n_labels):
    return label_weights(array, "transition", 2 * (n_labels,), forbids=True)


def _of_chain(crf, array, labels, coef_from):
    """Return the weights of pairs of labels."""
    return _weights_of_pairs(array, len(labels))


def _of_parts(crf, array, labels, coef_from):
    """Return the same, and which label has which part, CSR rows."""
    n_stored, n_parts = checked_label_parts(crf, len(labels))
    shape = len(labels), n_parts
    values, parts, indptr = _stored(array, "label_features", n_stored, shape)
    if (np.diff(indptr) == 0).any():
        raise ModelFormatError("label_parts: a label has no part")
    matrix = CsrRows(values, parts.astype(np.int32), indptr.astype(np.int32), shape)
    return _weights_of_pairs(array, len(labels)), matrix


def _of_tuples(crf, array, labels, coef_from):
    """Return the weights of 2, 3, ... labels, and the Coef of pairs or None."""
    n_labels = len(labels)
    n_higher, n_stored = checked_tuples(crf["tuples"])
    by_length = [_weights_of_pairs(array, n_labels)]
    for m in range(3, n_higher + 3):
        name, shape = f"transition_{m}", m * (n_labels,)
        by_length.append(label_weights(array, name, shape, forbids=False))
    if n_stored is None:
        return by_length, None
    of_pairs = crf["n_features"], n_labels**2
    return by_length, coef_from(array, "edge_coef", n_stored, *of_pairs)


def _of_segments(crf, array, labels, coef_from):
    """Return the Grammar, and the weights of its transitions and lengths."""
    scheme, max_length = checked_segments(crf["segments"])
    # The array of lengths is as long as max_length: it is read before a table is made.
    n_types = Grammar(labels, scheme, 1).n_types
    transition = _weights_of_pairs(array, n_types)
    shape = n_types, max_length
    length = label_weights(array, "length", shape, forbids=True)
    grammar = Grammar(labels, scheme, max_length)
    grammar.transition &= transition != -np.inf
    return grammar, transition, length


def _of_trees(crf, array, labels, coef_from):
    """Return the Trees."""
    parameters = parameters_from(crf["parameters"])
    return trees_of(parameters, crf.get("arc_features"), crf["n_features"])


def trees_of(parameters, features, n_features):
    """Return the Trees of a parser, whose entry ``features`` may be None."""
    own = {name: parameters.get(name, n) for name, n in OF_TREES.items()}
    if set(map(type, own.values())) != {bool}:
        raise ModelFormatError(f"the parameters {list(OF_TREES)} must be bool")
    templates = None if features is None else arc_templates_from(features)
    siblings = templates is not None and bool(templates.siblings)
    if templates is not None and templates.n_features != n_features:
        raise ModelFormatError(
            f"features has n_features={templates.n_features}, but the CRF {n_features}"
        )
    if siblings and not own["projective"]:
        raise ModelFormatError("features: siblings need projective=True")
    labelled = own.pop("labelled")
    return Trees(TreeRules(**own, siblings=siblings), labelled, templates)


def _of_graphs(crf, array, labels, coef_from):
    """Return the Graphs."""
    shape = checked_graphs(crf["graphs"]), *2 * (len(labels),)
    weights = label_weights(array, "edge_coef", shape, forbids=False)
    are_trees = crf["type"] == "TreeCRF"
    directed = crf["parameters"].get("directed", are_trees)
    if type(directed) is not bool:
        raise ModelFormatError("the parameter directed must be bool")
    return Graphs(weights, are_trees, directed)


OF_STRUCTURES = {
    "chain": _of_chain,
    "label_parts": _of_parts,
    "tuples": _of_tuples,
    "segments": _of_segments,
    "trees": _of_trees,
    "graphs": _of_graphs,
}
