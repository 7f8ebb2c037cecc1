"""Converts an OnlineDependencyCRF to entries of the document, and back.

It has the weights of arcs, its features, the classifier of relations, which is a CRF
with entries of its own, and the state of a stream. The weights of relations, most of
which are 0, are sparse in the file where that is smaller, and dense again after it.
"""

import copy

import numpy as np
import scipy.sparse as sp
from sklearn.utils.validation import check_is_fitted

from skcrf_sdca._utils.memory import check_fits
from skcrf_sdca.data.trees import UNSPECIFIED
from skcrf_sdca.estimators.arc_relations import check_relations
from skcrf_sdca.estimators.online_dependencies import OnlineDependencyCRF
from skcrf_sdca.estimators.streams import StreamFormat, stream_state
from skcrf_sdca.model.fitted import check_form, set_fitted
from skcrf_sdca.persistence._crfs import (
    arrays_of_matrix,
    check_width,
    describe_crf,
    describe_stream,
    matrix_from,
    n_stored_of,
    rebuild_crf,
    rebuild_stream,
)
from skcrf_sdca.persistence._entries import RELATIONS, check_parser
from skcrf_sdca.persistence._values import (
    describe_fit,
    describe_parameters,
    plain_parameters,
    rebuild_fit,
    rebuild_parameters,
    with_parameters,
)
from skcrf_sdca.structures.scores import check_weights
from skcrf_sdca.text import ArcFeatures

STREAM = StreamFormat({"n_visits": int, "power": float})
# The room of a sparse weight, with its column, in that of dense ones.
SPARSE_SIZE = 2


def describe_parser(parser):
    """Return the entries of an OnlineDependencyCRF, and its arrays."""
    check_is_fitted(parser)
    _check(parser)
    parameters = parser.get_params(deep=False)
    features = parameters.pop("features")
    arrays = arrays_of_matrix("coef", parser.coef_)
    model = {
        "type": "OnlineDependencyCRF",
        "parameters": plain_parameters(parameters),
        "features": None if features is None else describe_parameters(features)[0],
        "n_features": int(parser.n_features_in_),
        "n_stored": n_stored_of(parser.coef_),
        **describe_fit(parser),
        "relations": None,
        "stream": None,
    }
    if parser.labelled:
        model["relations"], own = describe_crf(_compact(parser.relations_))
        arrays |= {f"{RELATIONS}{name}": array for name, array in own.items()}
    if (state := vars(parser).get("_warm_state")) is not None:
        values, vectors, own = describe_stream(STREAM, state)
        model["stream"] = {**values, "vectors": vectors}
        arrays |= own
    return model, arrays


def rebuild_parser(model, array):
    """Return the OnlineDependencyCRF that entries and arrays describe."""
    check_parser(model)
    parser = with_parameters(OnlineDependencyCRF, model["parameters"])
    if model["features"] is not None:
        parser.set_params(features=rebuild_parameters(ArcFeatures, model["features"]))
    n_features = model["n_features"]
    check_width(parser.features or ArcFeatures(), n_features)
    attributes = {
        "classes_": np.array([UNSPECIFIED], dtype=object),
        "n_features_in_": n_features,
        "coef_": matrix_from(array, "coef", model["n_stored"], (1, n_features)),
        "intercept_": np.zeros(1),
        **rebuild_fit(model),
    }
    if model["relations"] is not None:
        attributes["relations_"] = _relations_from(model["relations"], array)
    if model["stream"] is not None:
        attributes["_warm_state"] = _stream_from(model["stream"], array, n_features)
    _check(set_fitted(parser, attributes))
    return parser


def _relations_from(model, array):
    """Return the classifier of relations."""

    def own_array(name, dtype, shape):
        return array(f"{RELATIONS}{name}", dtype, shape)

    classifier = rebuild_crf(model, own_array)
    check_relations(classifier)
    check_fits(
        8.0 * np.prod(classifier.coef_.shape),
        "the weights of relations",
        "this file has too many relations",
    )
    return classifier.densify()


def _compact(classifier):
    """Return the classifier, with sparse weights if these take less room."""
    coef = classifier.coef_
    # A stream goes on from dense weights.
    if sp.issparse(coef) or stream_state(classifier) is not None:
        return classifier
    if SPARSE_SIZE * np.count_nonzero(coef) < coef.size:
        return copy.copy(classifier).sparsify()
    return classifier


def _stream_from(stream, array, n_features):
    """Return the state that the next `partial_fit` goes on from."""
    state = rebuild_stream(STREAM.values, STREAM, stream, array, n_features)
    for name in stream["vectors"]:
        check_weights(f"stream_{name}", state[name], forbids=False)
    state["w"] = state["w"].astype(np.float32)
    return state


def _check(parser):
    """Raise ValueError if the fitted attributes contradict each other."""
    weights = check_form(parser)
    coef = weights["coef"]
    check_weights("coef_", coef.data if sp.issparse(coef) else coef, forbids=False)
    check_width(parser.features or ArcFeatures(), parser.n_features_in_)
