"""Converts fitted CRFs to entries of the document and arrays, and back.

Owns what a file says of a CRF beside its vectorizer: labels, weights, the figures of
the fit, and what only some types have.
"""

from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.utils.validation import check_is_fitted

from skcrf_sdca._utils.archives import FLOAT, INT
from skcrf_sdca.data.feature_names import FeatureNames
from skcrf_sdca.data.label_encoding import plain_labels
from skcrf_sdca.estimators.dependencies import DependencyCRF
from skcrf_sdca.estimators.streams import publish, stream_format, stream_state
from skcrf_sdca.model.fitted import (
    check_fitted,
    fitted_format,
    fitted_weights,
    form_with,
    names_of_fit,
    set_fitted,
)
from skcrf_sdca.persistence._entries import (
    SEGMENT_NAMES,
    attributes_of,
    checked_graphs,
    checked_label_parts,
    checked_segments,
    checked_tuples,
)
from skcrf_sdca.persistence._fields import ModelFormatError, fields
from skcrf_sdca.persistence._labels import labels_from, labels_of
from skcrf_sdca.persistence._registry import CRFS, type_name
from skcrf_sdca.persistence._values import (
    describe_fit,
    describe_parameters,
    plain_parameters,
    rebuild_parameters,
    with_parameters,
)
from skcrf_sdca.persistence._vectorizers import describe_vectorizer, rebuild_vectorizer
from skcrf_sdca.structures.chain.label_parts import LabelParts
from skcrf_sdca.structures.chain.tuple_parameters import form_of_weights, parameters_of
from skcrf_sdca.structures.form import Weights
from skcrf_sdca.structures.segment.grammar import Grammar
from skcrf_sdca.text import ArcFeatures

# Visits are counted in doubles.
MOST_VISITS = 2**53


def describe_crf(crf, vectorizer=None):
    """Return the entries of a CRF, and its arrays; `vectorizer` is that before it."""
    check_is_fitted(crf)
    check_fitted(crf)
    crf._validate_params()
    weights = fitted_weights(crf)
    model = {
        "type": type_name(type(crf)),
        "parameters": plain_parameters(_parameters_of(crf)),
        "input_format": fitted_format(crf).name,
        "labels": labels_of(crf.classes_),
        "n_features": int(crf.n_features_in_),
        "n_stored": n_stored_of(weights["coef"]),
        "feature_names": _own_names(crf, vectorizer),
        "vectorizer": None,
        **describe_fit(crf),
    }
    arrays = _arrays_of(weights)
    if hasattr(crf, "vectorizer_"):
        model["vectorizer"], names = describe_vectorizer(crf.vectorizer_)
        arrays |= names
    if "solver_" in vars(crf):
        model["solver"] = crf.solver_
    if _has_arc_features(crf):
        check_width(crf.features, crf.n_features_in_)
        model["arc_features"], _ = describe_parameters(crf.features)
    name, describe, _ = OF_STRUCTURES.get(crf._structure, NOTHING)
    if (entry := describe(crf, weights, arrays)) is not None:
        model[name] = entry
    if crf.label_features_ is not None:
        matrix, names = crf.label_features_, crf.parts_.tolist()
        model["label_parts"] = {"names": names, "n_stored": n_stored_of(matrix)}
        arrays |= _sparse_arrays("label_features", matrix)
    if (state := stream_state(crf)) is not None:
        values, vectors, own = describe_stream(stream_format(type(crf)), state)
        scale = float(state["scale"])
        model["stream"] = {"scale": scale, "vectors": vectors, **values}
        arrays |= own
    return model, arrays


def _parameters_of(crf):
    """Return the parameters that a file has: no function and no path of the user."""
    parameters = crf.get_params(deep=False)
    none = dict.fromkeys(parameters.keys() & {"segment_features", "checkpoint"})
    if _has_arc_features(crf):
        none["features"] = None
    if not isinstance(parameters.get("label_features"), str):
        none |= dict.fromkeys(parameters.keys() & {"label_features"})
    return parameters | none


def _has_arc_features(crf):
    """Return whether arcs are made of tokens at the visit."""
    return isinstance(crf.features, ArcFeatures)


def check_width(features, n_features):
    """Raise ValueError if a CRF has another number of features than its arcs."""
    if features.n_features != n_features:
        raise ValueError(
            f"features has n_features={features.n_features}, but the CRF {n_features}"
        )


def _own_names(crf, vectorizer):
    """Return the names of the features that no vectorizer knows, a list or None."""
    names = names_of_fit(crf)
    if names is None:
        return None
    # Names of the same vocabulary are found equal without making them.
    names = FeatureNames.of(names)
    if vectorizer is not None and names == vectorizer.transform([]).feature_names:
        return None
    return list(names)


def rebuild_crf(model, array):
    """Return the CRF that entries and arrays describe."""
    cls = CRFS[model["type"]]
    name, _, rebuild = OF_STRUCTURES.get(cls._structure, NOTHING)
    more = {
        "stream": (dict, "stream" in model and stream_format(cls) is not None),
        "label_parts": (dict, "label_parts" in model and name == "tuples"),
        "arc_features": (dict, "arc_features" in model and cls is DependencyCRF),
        name: (dict, name in model or name not in {"tuples", None}),
    }
    own = attributes_of(model, {n: kind for n, (kind, there) in more.items() if there})
    crf = with_parameters(cls, model["parameters"])
    if "arc_features" in model:
        crf.set_params(features=rebuild_parameters(ArcFeatures, model["arc_features"]))
        check_width(crf.features, model["n_features"])
    attributes = own | _objects_from(crf, model, array)
    attributes |= rebuild(model.get(name), array, attributes["classes_"])
    if "label_parts" in model:
        attributes |= _parts_from(model, array, len(attributes["classes_"]))
    weights = _weights_from(array, form_with(crf, attributes), model)
    attributes |= weights.attributes()
    if "stream" in model:
        state = _stream_from(stream_format(cls), model["stream"], array, weights)
        publish(state, attributes)
        attributes["_warm_state"] = state
    set_fitted(crf, attributes)
    check_fitted(crf)
    return crf


def _objects_from(crf, model, array):
    """Return the fitted attributes that CRFs of all structures have, but weights.

    Those that are numbers are left out.
    """
    attributes = {"classes_": labels_from(model["labels"])}
    if "eta0" in model["fit"]:
        attributes["_method_of_steps"] = crf.method
    if model["feature_names"] is not None:
        attributes["_feature_names"] = FeatureNames.of(model["feature_names"])
    if model["vectorizer"] is not None:
        attributes["vectorizer_"] = rebuild_vectorizer(model["vectorizer"], array)
    return attributes


def describe_stream(known, state):
    """Return the values, the names of the vectors and the arrays of a stream's state.

    ``known`` is its StreamFormat.
    """
    values = {name: of(state[name]) for name, of in known.values.items()}
    vectors = [name for name in known.vectors if state.get(name) is not None]
    return values, vectors, {f"stream_{name}": state[name] for name in vectors}


def rebuild_stream(values, known, stream, array, size):
    """Return the state of a stream, of numbers and of vectors of a size.

    ``values`` are its numbers and names, with their types; ``known`` is a StreamFormat.
    """
    fields(stream, "stream", {"vectors": list, **values})
    numbers = [value for value in stream.values() if isinstance(value, (int, float))]
    if not all(0 <= value <= MOST_VISITS for value in numbers):
        raise ModelFormatError("stream: its numbers must be from 0 to 2^53")
    names = stream["vectors"]
    if "w" not in names or not set(names) <= set(known.vectors):
        raise ModelFormatError(
            f"stream: it must have the vector w, and perhaps others of {known.vectors}"
        )
    state = {name: array(f"stream_{name}", FLOAT, (size,)) for name in names}
    return {"total": None, **state, **{name: stream[name] for name in values}}


def _stream_from(known, stream, array, weights):
    """Return the state of a stream; its arrays have a number for each weight."""
    coef, form = weights["coef"], form_of_weights(weights)
    if sp.issparse(coef):
        raise ModelFormatError("stream: its model must not have sparse coefficients")
    size = len(parameters_of(form, *coef.shape[::-1]).w)
    values = {"scale": float, **known.values}
    state = rebuild_stream(values, known, stream, array, size)
    if not state["scale"] > 0.0:
        raise ModelFormatError("stream: scale must be above 0")
    return state | {"form": form}


def _parts_from(model, array, n_labels):
    """Return the attributes of the parts of labels."""
    n_stored, _ = checked_label_parts(model, n_labels)
    names = model["label_parts"]["names"]
    shape = n_labels, len(names)
    found = np.fromiter(names, dtype=object, count=len(names))
    matrix = _sparse_from(array, "label_features", n_stored, shape)
    return {"parts_": found, "label_features_": LabelParts(names, matrix).matrix}


# What only CRFs of one structure have. The functions that describe it may add arrays;
# those that rebuild it return attributes by which the model knows its blocks: in the
# place of weights, how many there are.


def _tuples_of(crf, weights, arrays):
    if not crf.higher_transitions_ and crf.edge_coef_ is None:
        return None
    n_stored = n_stored_of(weights.get("edge_coef"))
    return {"n_higher": len(crf.higher_transitions_), "n_edge_stored": n_stored}


def _tuples_from(entry, array, classes):
    if entry is None:
        return {}
    n_higher, n_stored = checked_tuples(entry)
    found = {"higher_transitions_": n_higher * (None,), "edge_coef_": n_stored}
    return {name: value for name, value in found.items() if value not in ((), None)}


def _segments_of(crf, weights, arrays):
    entry = {"scheme": crf.scheme_, "max_length": int(crf.max_length_)}
    if "segment_coef" in weights:
        own = describe_vectorizer(crf.segment_vectorizer_, SEGMENT_NAMES)
        entry["vectorizer"], names = own
        arrays |= names
    return entry


def _segments_from(entry, array, classes):
    scheme, max_length = checked_segments(entry)
    # The array of lengths is as long as max_length: it is read before a table is made.
    types = Grammar(plain_labels(classes), scheme, 1).types
    attributes = {
        "types_": np.fromiter(types, dtype=object, count=len(types)),
        "max_length_": max_length,
        "scheme_": scheme,
    }
    if "vectorizer" in entry:
        vectorizer = rebuild_vectorizer(entry["vectorizer"], array, SEGMENT_NAMES)
        attributes["segment_vectorizer_"] = vectorizer
        attributes["segment_coef_"] = vectorizer.n_features_out_
    return attributes


def _graphs_of(crf, weights, arrays):
    return {"n_edge_features": int(crf.n_edge_features_in_)}


def _graphs_from(entry, array, classes):
    return {"n_edge_features_in_": checked_graphs(entry)}


# Of a structure whose CRFs have nothing of their own, and always the same blocks.
NOTHING: tuple[Any, Any, Any] = (None, lambda *_: None, lambda *_: {})
# Structure -> name of the entry, and functions that make and read it. Only "tuples"
# may be missing.
OF_STRUCTURES = {
    "chain": ("tuples", _tuples_of, _tuples_from),
    "segments": ("segments", _segments_of, _segments_from),
    "graph": ("graphs", _graphs_of, _graphs_from),
}


# In the file, dense coefficients have a row for each feature, as the kernels take them;
# sparse ones are the three arrays of a CSR matrix with a row for each label.
def _has_rows_of_features(block):
    return block.axes[-1] in ("feature", "segment_feature")


def n_stored_of(matrix):
    return int(matrix.nnz) if sp.issparse(matrix) else None


def _arrays_of(weights):
    arrays = {}
    for block in weights.form.blocks:
        own = weights[block.name]
        if sp.issparse(own) or _has_rows_of_features(block):
            arrays |= arrays_of_matrix(block.name, own)
        else:
            arrays[block.name] = own
    return arrays


def arrays_of_matrix(name, matrix):
    """Return the arrays of weights of features."""
    return _sparse_arrays(name, matrix) if sp.issparse(matrix) else {name: matrix.T}


def matrix_from(array, name, n_stored, shape):
    """Return weights of features; `n_stored` is None if they are dense."""
    if n_stored is None:
        return array(name, FLOAT, shape[::-1]).T
    return _sparse_from(array, name, n_stored, shape)


def _sparse_arrays(name, matrix):
    """Return the arrays of a sparse matrix."""
    parts = ("data", "indices", "indptr")
    return {f"{name}_{part}": getattr(matrix, part) for part in parts}


def _sparse_from(array, name, n_stored, shape):
    """Return the csr_array of its arrays, which are not checked."""
    rows = (
        array(f"{name}_data", FLOAT, (n_stored,)),
        array(f"{name}_indices", INT, (n_stored,)),
        array(f"{name}_indptr", INT, (shape[0] + 1,)),
    )
    return sp.csr_array(rows, shape=shape)


def _weights_from(array, form, model):
    """Return the Weights of a form."""
    n_stored = {"coef": model["n_stored"], **model.get("tuples", {})}
    n_stored["edge_coef"] = n_stored.get("n_edge_stored")
    arrays = {}
    # The matrices, which are large, come last.
    for block in sorted(form.blocks, key=lambda block: block.is_matrix):
        name, shape, n = block.name, form.shape(block), n_stored.get(block.name)
        if n is not None or _has_rows_of_features(block):
            arrays[name] = matrix_from(array, name, n, shape)
        else:
            arrays[name] = array(name, FLOAT, shape)
    return Weights(form, arrays)
