"""Converts fitted CRFs to entries of the document and arrays, and back.

Owns what a file says of a CRF beside its vectorizer: labels, weights, the figures of
the fit, and what only some types have.
"""

from types import NoneType

import numpy as np
import scipy.sparse as sp
from sklearn.utils.validation import check_is_fitted

from skcrf_sdca._utils.archives import FLOAT, INT
from skcrf_sdca.data.feature_names import FeatureNames
from skcrf_sdca.data.label_encoding import plain_labels
from skcrf_sdca.estimators.crfs import CRF as AnyCRF
from skcrf_sdca.estimators.crfs import ESTIMATORS, SOLVERS
from skcrf_sdca.estimators.fitted import check_fitted, names_of_fit
from skcrf_sdca.estimators.graphs import GraphCRF, TreeCRF
from skcrf_sdca.estimators.online import PassiveAggressiveCRF
from skcrf_sdca.estimators.segments import SegmentCRF
from skcrf_sdca.estimators.streams import OnlineMixin
from skcrf_sdca.persistence._fields import ModelFormatError, fields
from skcrf_sdca.persistence._labels import labels_from, labels_of
from skcrf_sdca.persistence._values import (
    figures_from,
    figures_of,
    history_from,
    history_of,
    names_from,
    plain_parameters,
    with_parameters,
)
from skcrf_sdca.persistence._vectorizers import describe_vectorizer, rebuild_vectorizer
from skcrf_sdca.structures.chain.label_weights import LabelWeights
from skcrf_sdca.structures.chain.parameters import MORE_WEIGHTS, WEIGHTS
from skcrf_sdca.structures.chain.tuple_parameters import TupleForm, form_of_weights
from skcrf_sdca.structures.chain.tuples import MOST_ORDER
from skcrf_sdca.structures.segment.grammar import Grammar

TYPES = (*ESTIMATORS, PassiveAggressiveCRF, SegmentCRF, GraphCRF, TreeCRF)


def type_name(cls):
    """Return how files name a type; "CRF" is that of skcrf_sdca.compat."""
    return "skcrf_sdca.CRF" if cls is AnyCRF else cls.__name__


CRFS = {type_name(cls): cls for cls in TYPES}
# The entries, with their types.
CRF = {
    "type": str,
    "parameters": dict,
    "input_format": str,
    "labels": dict,
    "n_features": int,
    "n_stored": (int, NoneType),
    "feature_names": (list, NoneType),
    "vectorizer": (dict, NoneType),
    "fit": dict,
    "history": dict,
}
# What a stream goes on from, of a CRF that has it, beside what its type adds.
STREAM = {"scale": float, "vectors": list}
# Weights of label tuples, of a CRF that has them: how many arrays there are of more
# than two labels, and how many weights edge features have, None without these.
TUPLES = {"n_higher": int, "n_edge_stored": (int, NoneType)}
# What the labels of a SegmentCRF are read by; with features of segments also the
# vectorizer of these.
SEGMENTS = {"scheme": (str, NoneType), "max_length": int}
# What a GraphCRF knows of edges beside their weights.
GRAPHS = {"n_edge_features": int}
MAX_HIGHER = MOST_ORDER - 1
MAX_FEATURES = int(np.iinfo(np.int32).max)


def describe_crf(crf, vectorizer=None):
    """Return the entries of a CRF, and its arrays; `vectorizer` is that before it."""
    check_is_fitted(crf)
    check_fitted(crf)
    crf._validate_params()
    model = {
        "type": type_name(type(crf)),
        "parameters": plain_parameters(_parameters_of(crf)),
        "input_format": crf._input_format,
        "labels": labels_of(crf.classes_),
        "n_features": int(crf.n_features_in_),
        "n_stored": int(crf.coef_.nnz) if sp.issparse(crf.coef_) else None,
        "feature_names": _own_names(crf, vectorizer),
        "vectorizer": None,
        "fit": figures_of(crf),
        "history": history_of(crf),
    }
    if hasattr(crf, "vectorizer_"):
        model["vectorizer"], _ = describe_vectorizer(crf.vectorizer_)
    if isinstance(crf, AnyCRF):
        model["solver"] = crf.solver_
    biases = {n.removesuffix("_"): getattr(crf, n) for n in _biases(type(crf))}
    arrays = _coef_arrays(crf.coef_) | biases
    if isinstance(crf, SegmentCRF):
        model["segments"] = {"scheme": crf.scheme_, "max_length": int(crf.max_length_)}
        if crf.segment_coef_ is not None:
            vectorizer, _ = describe_vectorizer(crf.segment_vectorizer_)
            model["segments"]["vectorizer"] = vectorizer
            arrays["segment_coef"] = crf.segment_coef_.T
    if isinstance(crf, GraphCRF):
        model["graphs"] = {"n_edge_features": int(crf.n_edge_features_in_)}
    if isinstance(crf, OnlineMixin) and (state := crf._stream_state()) is not None:
        names = (*crf._weight_vectors, *crf._other_vectors)
        vectors = [name for name in names if state.get(name) is not None]
        values = {n: kind(state[n]) for n, kind in crf._stream_values.items()}
        scale = float(state["scale"])
        model["stream"] = {"scale": scale, "vectors": vectors, **values}
        arrays |= {f"stream_{name}": state[name] for name in vectors}
    if crf._has_tuples:
        higher, coef = crf.higher_transitions_, crf.edge_coef_
        n_stored = None if coef is None else int(coef.nnz)
        model["tuples"] = {"n_higher": len(higher), "n_edge_stored": n_stored}
        arrays |= {f"transition_{m}": w for m, w in enumerate(higher, start=3)}
        if coef is not None:
            arrays |= _sparse_arrays("edge_coef", coef)
    return model, arrays


def _parameters_of(crf):
    """Return the parameters that a file has: no function of the user."""
    parameters = crf.get_params()
    if isinstance(crf, SegmentCRF):
        parameters["segment_features"] = None
    return parameters


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
    has_stream = "stream" in model and issubclass(cls, OnlineMixin)
    has_choice, has_segments = cls is AnyCRF, issubclass(cls, SegmentCRF)
    has_graphs = issubclass(cls, GraphCRF)
    may_have_tuples = not has_segments and not has_graphs
    parts = {
        "stream": (dict, has_stream),
        "tuples": (dict, "tuples" in model and may_have_tuples),
        "segments": (dict, has_segments),
        "graphs": (dict, has_graphs),
        "solver": (str, has_choice),
    }
    more = {name: kind for name, (kind, there) in parts.items() if there}
    fields(model, "crf", CRF | more)
    crf = with_parameters(cls, model["parameters"])
    attributes = {
        "_input_format": model["input_format"],
        "classes_": labels_from(model["labels"]),
        "n_features_in_": model["n_features"],
        **_figures_from(crf, model["fit"]),
    }
    if has_choice:
        if model["solver"] not in SOLVERS:
            raise ModelFormatError(f"solver must be one of {', '.join(SOLVERS)}")
        attributes["solver_"] = model["solver"]
    if model["history"]:
        attributes["history_"] = history_from(model["history"])
    if model["feature_names"] is not None:
        attributes["_feature_names"] = names_from(model["feature_names"])
    if model["vectorizer"] is not None:
        attributes["vectorizer_"] = rebuild_vectorizer(model["vectorizer"], array)
    sizes = {"K": len(attributes["classes_"]), "d": model["n_features"]}
    if has_segments:
        own = model["segments"], attributes["classes_"]
        attributes |= _segments_from(array, *own)
        sizes |= {"S": len(attributes["types_"]), "M": attributes["max_length_"]}
    if has_graphs:
        attributes |= _graphs_from(model["graphs"])
        sizes["e"] = attributes["n_edge_features_in_"]
    attributes |= _weights_from(array, cls, sizes, model["n_stored"])
    if "tuples" in model:
        own = sizes["K"], sizes["d"]
        attributes |= _tuples_from(array, model["tuples"], *own)
    if has_stream:
        attributes["_warm_state"] = _stream_from(
            crf, model["stream"], array, attributes
        )
    crf._set_fitted(attributes)
    check_fitted(crf)
    return crf


def _figures_from(crf, fit):
    """Return the figures of a fit, and of which method its step size is."""
    figures = figures_from(fit)
    return figures | ({"_method_of_steps": crf.method} if "eta0_" in figures else {})


def _stream_from(crf, stream, array, attributes):
    """Return the state of a stream; its arrays have a number for each weight."""
    fields(stream, "stream", STREAM | crf._stream_values)
    numbers = [value for value in stream.values() if isinstance(value, (int, float))]
    if not all(value >= 0 for value in numbers) or not stream["scale"] > 0.0:
        raise ModelFormatError("stream: its numbers must not be negative")
    names, known = stream["vectors"], (*crf._weight_vectors, *crf._other_vectors)
    if "w" not in names or any(name not in known for name in names):
        raise ModelFormatError(f"stream: its vectors must be w and others of {known}")
    known = (name for name in (*WEIGHTS, *MORE_WEIGHTS) if name in attributes)
    weights = LabelWeights(**{name: attributes[name] for name in known})
    if sp.issparse(weights.coef_):
        raise ModelFormatError("stream: its model must not have sparse coefficients")
    form = form_of_weights(weights)
    if "order" in form:
        options = {name: value for name, value in form.items() if name != "pairs"}
        size = TupleForm(*weights.coef_.shape[::-1], **options).n_weights
    else:
        size = sum(attributes[name].size for name in WEIGHTS)
    state = {name: array(f"stream_{name}", FLOAT, (size,)) for name in names}
    return {
        "total": None,
        **state,
        **{name: stream[name] for name in ("scale", *crf._stream_values)},
        **form,
    }


# In the file, dense coefficients have a row for each feature, as the kernels take them;
# sparse ones are the three arrays of a CSR matrix with a row for each label.
def _coef_arrays(coef):
    if not sp.issparse(coef):
        return {"coef": coef.T}
    return _sparse_arrays("coef", coef)


def _sparse_arrays(name, coef):
    rows = {"data": coef.data, "indices": coef.indices, "indptr": coef.indptr}
    return {f"{name}_{part}": values for part, values in rows.items()}


def _sparse_from(name, array, n_stored, shape):
    rows = (
        array(f"{name}_data", FLOAT, (n_stored,)),
        array(f"{name}_indices", INT, (n_stored,)),
        array(f"{name}_indptr", INT, (shape[0] + 1,)),
    )
    return sp.csr_array(rows, shape=shape)


def _tuples_from(array, model, n_labels, n_features):
    """Return the weights of label tuples, and of edge features."""
    fields(model, "tuples", TUPLES)
    n_higher, n_stored = model["n_higher"], model["n_edge_stored"]
    if not 0 <= n_higher <= MAX_HIGHER or (n_stored is not None and n_stored < 0):
        raise ModelFormatError(
            f"tuples: n_higher must be from 0 to {MAX_HIGHER}, and n_edge_stored null "
            "or not negative"
        )
    attributes = {
        "higher_transitions_": tuple(
            array(f"transition_{m}", FLOAT, m * (n_labels,))
            for m in range(3, n_higher + 3)
        )
    }
    if n_stored is not None:
        shape = n_labels**2, n_features
        attributes["edge_coef_"] = _sparse_from("edge_coef", array, n_stored, shape)
    return attributes


def _segments_from(array, model, classes):
    """Return what a SegmentCRF knows of segments, and the weights of their features."""
    more = {"vectorizer": dict} if "vectorizer" in model else {}
    fields(model, "segments", SEGMENTS | more)
    if not 1 <= model["max_length"] <= MAX_FEATURES:
        raise ModelFormatError(f"segments: max_length must be from 1 to {MAX_FEATURES}")
    # The array of lengths is as long as max_length: it is read before a table is made.
    types = Grammar(plain_labels(classes), model["scheme"], 1).types
    attributes = {
        "types_": np.fromiter(types, dtype=object, count=len(types)),
        "max_length_": model["max_length"],
        "scheme_": model["scheme"],
        "segment_coef_": None,
    }
    if more:
        vectorizer = rebuild_vectorizer(model["vectorizer"], array)
        shape = vectorizer.n_features_out_, len(types)
        attributes["segment_vectorizer_"] = vectorizer
        attributes["segment_coef_"] = array("segment_coef", FLOAT, shape).T
    return attributes


def _graphs_from(model):
    """Return what a GraphCRF knows of edges beside their weights."""
    fields(model, "graphs", GRAPHS)
    if not 0 <= model["n_edge_features"] <= MAX_FEATURES:
        raise ModelFormatError(
            f"graphs: n_edge_features must be from 0 to {MAX_FEATURES}"
        )
    return {"n_edge_features_in_": model["n_edge_features"]}


def _biases(cls):
    """Return the weights of a type but the coefficients, with their axes."""
    return {name: axes for name, axes in cls._weights.items() if name != "coef_"}


def _weights_from(array, cls, sizes, n_stored):
    """Return the weights of a type, of which `sizes` are the lengths of the axes."""
    if not 0 <= sizes["d"] <= MAX_FEATURES:
        raise ModelFormatError(f"n_features must be from 0 to {MAX_FEATURES}")
    weights = {
        name: array(name.removesuffix("_"), FLOAT, tuple(sizes[axis] for axis in axes))
        for name, axes in _biases(cls).items()
    }
    n_labels, n_features = sizes["K"], sizes["d"]
    if n_stored is None:
        return {"coef_": array("coef", FLOAT, (n_features, n_labels)).T, **weights}
    coef = _sparse_from("coef", array, n_stored, (n_labels, n_features))
    return {"coef_": coef, **weights}
