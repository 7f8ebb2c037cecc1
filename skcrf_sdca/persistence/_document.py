"""Converts a fitted estimator to a JSON document and arrays, and back.

Owns the entries of the format. `describe` and `rebuild` are inverse to each other.
Names of classes are looked up in a table of this module and never imported. Each entry
is checked before it is used.
"""

from types import NoneType

import numpy as np
import scipy.sparse as sp
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from skcrf_sdca import compat
from skcrf_sdca._kernels._encoder import Lookup
from skcrf_sdca._version import __version__
from skcrf_sdca.data.feature_names import FeatureNames
from skcrf_sdca.data.input_formats import CUT_TABLE, PACKED
from skcrf_sdca.estimators.crfs import CRF as AnyCRF
from skcrf_sdca.estimators.crfs import ESTIMATORS, SOLVERS
from skcrf_sdca.estimators.fitted import check_fitted, names_of_fit
from skcrf_sdca.estimators.online import PassiveAggressiveCRF
from skcrf_sdca.estimators.streams import OnlineMixin
from skcrf_sdca.estimators.tagger import Tagger
from skcrf_sdca.features.hasher import SequenceHasher
from skcrf_sdca.features.vectorizer import SequenceVectorizer
from skcrf_sdca.features.vocabulary import check_vocabulary, vocabulary_numbers
from skcrf_sdca.persistence._archive import FLOAT, INT
from skcrf_sdca.persistence._fields import ModelFormatError, fields
from skcrf_sdca.persistence._labels import labels_from, labels_of
from skcrf_sdca.persistence._templates import features_from, features_of
from skcrf_sdca.persistence._values import (
    figures_from,
    figures_of,
    history_from,
    history_of,
    names_from,
    plain_parameters,
    with_parameters,
)
from skcrf_sdca.structures.chain.constraints import Constraints
from skcrf_sdca.structures.chain.parameters import MAY_FORBID, WEIGHTS
from skcrf_sdca.text import TokenFeatures

FORMAT, FORMAT_VERSION = "skcrf_sdca", 2
# Types of models, and input formats, that files of version 1 do not have.
SINCE = {
    "TokenFeatures": 2,
    "SequenceHasher": 2,
    "CRF": 2,
    "skcrf_sdca.CRF": 2,
    "Tagger": 2,
    CUT_TABLE.name: 2,
    "SGDCRF": 2,
    "PassiveAggressiveCRF": 2,
    "tuples": 2,
}
# The types of CRFs.
TYPES = (*ESTIMATORS, PassiveAggressiveCRF)


def _type_name(cls):
    """Return how files name a type; "CRF" is that of skcrf_sdca.compat."""
    return "skcrf_sdca.CRF" if cls is AnyCRF else cls.__name__


CRFS = {_type_name(cls): cls for cls in TYPES}
PIPELINES = {cls.__name__: cls for cls in (Pipeline, Tagger)}
# The steps of a pipeline, in their order, and the types that each may have.
ROLES = {
    "features": (TokenFeatures,),
    "vectorizer": (SequenceVectorizer, SequenceHasher),
    "crf": (*TYPES, compat.CRF),
}
_ROLE_OF = {cls: role for role, types in ROLES.items() for cls in types}
BIASES = {name: axes for name, axes in WEIGHTS.items() if name != "coef_"}
VECTORIZER_DTYPES = {"float64": np.float64, "float32": np.float32}
# The entries, with their types, of the objects of a document.
HEAD = {"format": str, "format_version": int, "written_by": str, "model": dict}
# And those of the steps that the pipeline has, by their roles.
PIPELINE = {"type": str, "names": list, "verbose": bool}
VECTORIZER = {
    "type": str,
    "parameters": dict,
    "input_format": str,
    "n_features": int,
    "vocabulary": dict,
}
HASHER = {"type": str, "parameters": dict}
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
# The types of the estimator in a compat.CRF.
WITHIN = {_type_name(cls): cls for cls in (AnyCRF, PassiveAggressiveCRF)}
COMPAT = {
    "type": str,
    "parameters": dict,
    "estimator": dict,
    "dev_score": (float, NoneType),
}
# NumPy has arrays of 64 axes at most.
MAX_HIGHER = 32
MAX_FEATURES = int(np.iinfo(np.int32).max)


def describe(estimator):
    """Return the document of a fitted estimator, and its arrays in a dict.

    The document is made of the types of JSON. The function raises TypeError, ValueError
    or NotFittedError if the format cannot represent the estimator, see `save_model`.
    """
    describer = _DESCRIBERS.get(type(estimator))
    if hasattr(estimator, "best_estimator_"):
        raise TypeError(
            f"{type(estimator).__name__} cannot be saved so: save its best_estimator_, "
            "which predicts as it does. Use joblib for the search itself."
        )
    if describer is None:
        raise TypeError(
            f"{type(estimator).__name__} cannot be saved so: save_model takes "
            f"{', '.join(cls.__name__ for cls in _DESCRIBERS)}. Use pickle or skops "
            "for other types."
        )
    model, arrays = describer(estimator)
    document = {
        "format": FORMAT,
        "format_version": _lowest_version(model),
        "written_by": f"skcrf_sdca {__version__}",
        "model": model,
    }
    return document, arrays


def _lowest_version(model):
    """Return the version of the format that has a model and its parts."""
    parts = [model, *(part for part in model.values() if isinstance(part, dict))]
    used = (part.get(name) for part in parts for name in ("type", "input_format"))
    since = (SINCE.get(name, 1) for name in [*used, *model])
    return max(since)


def rebuild(document, array):
    """Return the estimator that a document describes.

    ``array(name, dtype, shape)`` returns the array of this name, type and shape.
    It raises ModelFormatError, TypeError or ValueError if the document describes none.
    """
    if not isinstance(document, dict) or document.get("format") != FORMAT:
        raise ModelFormatError("it is not a model of skcrf_sdca")
    version = document.get("format_version")
    if type(version) is not int or not 1 <= version <= FORMAT_VERSION:
        raise ModelFormatError(
            f"it has version {version!r:.40} of the format, but this version of "
            f"skcrf_sdca reads 1 to {FORMAT_VERSION} only"
        )
    fields(document, "the document", HEAD)
    return _rebuild_any(document["model"], array, _REBUILDERS)


def _rebuild_any(model, array, types):
    name = model.get("type")
    if not isinstance(name, str) or name not in types:
        raise ModelFormatError(f"a model of type {name!r:.40} has no place in it")
    return _REBUILDERS[name](model, array)


def _describe_pipeline(pipeline):
    names, steps = zip(*pipeline.steps, strict=True)
    found = [_ROLE_OF.get(type(step)) for step in steps]
    if len(steps) < 2 or found != [role for role in ROLES if role in found + ["crf"]]:
        types = {name: type(step).__name__ for name, step in pipeline.steps}
        raise TypeError(
            "a pipeline can be saved so if its steps are a TokenFeatures, a "
            "SequenceVectorizer or SequenceHasher, or both in this order, and then a "
            f"CRF; these are {types}. Use pickle or joblib."
        )
    if pipeline.memory is not None or pipeline.transform_input is not None:
        raise TypeError(
            "the parameters memory and transform_input of a pipeline cannot be saved "
            "so: set them to None."
        )
    parts = dict(zip(found, steps, strict=True))
    models, arrays = {}, {}
    for name, role in zip(names, found, strict=True):
        models[role], arrays = _describe_step(name, role, parts)
    _check_steps(parts)
    head = {
        "type": type(pipeline).__name__,
        "names": list(names),
        "verbose": bool(pipeline.verbose),
    }
    return head | models, arrays


def _describe_step(name, role, parts):
    step, known = parts[role], {}
    if type(step) in TYPES:
        known["vectorizer"] = parts.get("vectorizer")
    try:
        return _DESCRIBERS[type(step)](step, **known)
    except (TypeError, ValueError) as error:
        error.args = (f"step {name!r}: {error}",)
        raise


def _rebuild_pipeline(model, array):
    roles = [role for role in ROLES if role in model]
    fields(model, "pipeline", PIPELINE | dict.fromkeys([*roles, "crf"], dict))
    names = model["names"]
    is_str = set(map(type, names)) == {str}
    if not is_str or not 2 <= len(set(names)) == len(names) == len(roles):
        raise ModelFormatError("pipeline: names must be a different name of each step")
    parts = {
        role: _rebuild_any(model[role], array, [_type_name(cls) for cls in ROLES[role]])
        for role in roles
    }
    _check_steps(parts)
    vectorizer, crf = parts.get("vectorizer"), parts["crf"]
    takes_packed = getattr(crf, "_input_format", None) == PACKED.name
    has_names = isinstance(vectorizer, SequenceVectorizer)
    if has_names and takes_packed and names_of_fit(crf) is None:
        crf._feature_names = vectorizer.transform([]).feature_names
    steps = zip(names, parts.values(), strict=True)
    return PIPELINES[model["type"]](list(steps), verbose=model["verbose"])


def _check_steps(parts):
    """Raise ValueError if a step does not take what the step before it returns."""
    vectorizer, crf = parts.get("vectorizer"), parts["crf"]
    crf = getattr(crf, "estimator_", crf)
    taken = crf._input_format
    if vectorizer is not None:
        # A SequenceHasher takes strings, and dicts.
        taken = getattr(vectorizer, "input_format_", "strings")
        n_features = vectorizer.transform([]).n_features
        if n_features != crf.n_features_in_:
            raise ValueError(
                f"the pipeline's {type(vectorizer).__name__} has {n_features} "
                f"features, but the CRF {crf.n_features_in_}"
            )
    if "features" in parts and taken != "strings":
        raise ValueError(
            "the pipeline's TokenFeatures returns strings, but the step after it was "
            f"fitted on {taken}"
        )


def _describe_features(features):
    return features_of(features), {}


def _rebuild_features(model, array):
    return features_from(model)


def _describe_vectorizer(vectorizer):
    check_is_fitted(vectorizer)
    check_vocabulary(vectorizer)
    _check_complete(vectorizer)
    vectorizer._validate_params()
    parameters = vectorizer.get_params()
    parameters["dtype"] = np.dtype(parameters["dtype"]).name
    model = {
        "type": "SequenceVectorizer",
        "parameters": plain_parameters(parameters),
        "input_format": vectorizer.input_format_,
        "n_features": int(vectorizer.n_features_out_),
        "vocabulary": vectorizer.vocabulary_,
    }
    return model, {}


def _rebuild_vectorizer(model, array):
    fields(model, "vectorizer", VECTORIZER)
    parameters = model["parameters"]
    if "dtype" in parameters:
        dtype = VECTORIZER_DTYPES.get(parameters["dtype"])
        parameters = {**parameters, "dtype": dtype}
    vectorizer = with_parameters(SequenceVectorizer, parameters)
    lookup = Lookup(model["vocabulary"])
    vectorizer._set_fitted(lookup, model["n_features"], model["input_format"])
    check_vocabulary(vectorizer)
    _check_complete(vectorizer)
    return vectorizer


def _check_complete(vectorizer):
    """Raise ValueError if a feature has no name.

    Therefore a small file cannot declare a large number of features.
    """
    # Mostly sorted already: np.unique, which hashes, takes 20 times as long.
    numbers = np.sort(vocabulary_numbers(vectorizer.vocabulary_))
    n_known = np.count_nonzero(np.diff(numbers, prepend=-1))
    if n_known != vectorizer.n_features_out_:
        raise ValueError(
            f"vocabulary_ has {n_known} features, but n_features_out_ is "
            f"{vectorizer.n_features_out_}"
        )


def _describe_hasher(hasher):
    hasher._validate_params()
    parameters = plain_parameters(hasher.get_params())
    return {"type": "SequenceHasher", "parameters": parameters}, {}


def _rebuild_hasher(model, array):
    fields(model, "hasher", HASHER)
    return with_parameters(SequenceHasher, model["parameters"])


def _describe_crf(crf, vectorizer=None):
    check_is_fitted(crf)
    check_fitted(crf)
    crf._validate_params()
    model = {
        "type": _type_name(type(crf)),
        "parameters": plain_parameters(crf.get_params()),
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
        model["vectorizer"], _ = _describe_vectorizer(crf.vectorizer_)
    if isinstance(crf, AnyCRF):
        model["solver"] = crf.solver_
    biases = {name.removesuffix("_"): getattr(crf, name) for name in BIASES}
    arrays = _coef_arrays(crf.coef_) | biases
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


def _rebuild_crf(model, array):
    has_stream = "stream" in model and issubclass(CRFS[model["type"]], OnlineMixin)
    has_choice = CRFS[model["type"]] is AnyCRF
    parts = {
        "stream": (dict, has_stream),
        "tuples": (dict, "tuples" in model),
        "solver": (str, has_choice),
    }
    more = {name: kind for name, (kind, there) in parts.items() if there}
    fields(model, "crf", CRF | more)
    crf = with_parameters(CRFS[model["type"]], model["parameters"])
    attributes = {
        "_input_format": model["input_format"],
        "classes_": labels_from(model["labels"]),
        "n_features_in_": model["n_features"],
        **figures_from(model["fit"]),
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
        attributes["vectorizer_"] = _rebuild_any(
            model["vectorizer"], array, ["SequenceVectorizer"]
        )
    n_labels = len(attributes["classes_"])
    attributes |= _weights_from(array, n_labels, model["n_features"], model["n_stored"])
    if "tuples" in model:
        sizes = n_labels, model["n_features"]
        attributes |= _tuples_from(array, model["tuples"], *sizes)
    if has_stream:
        attributes["_warm_state"] = _stream_from(
            crf, model["stream"], array, attributes
        )
    crf._set_fitted(attributes)
    check_fitted(crf)
    return crf


def _stream_from(crf, stream, array, attributes):
    """Return the state of a stream; its arrays have a number for each weight."""
    fields(stream, "stream", STREAM | crf._stream_values)
    numbers = [value for value in stream.values() if isinstance(value, (int, float))]
    if not all(value >= 0 for value in numbers) or not stream["scale"] > 0.0:
        raise ModelFormatError("stream: its numbers must not be negative")
    names, known = stream["vectors"], (*crf._weight_vectors, *crf._other_vectors)
    if "w" not in names or any(name not in known for name in names):
        raise ModelFormatError(f"stream: its vectors must be w and others of {known}")
    sizes = [attributes[name].size for name in WEIGHTS]
    state = {name: array(f"stream_{name}", FLOAT, (sum(sizes),)) for name in names}
    constraints = Constraints.of_scores(*(attributes[name] for name in MAY_FORBID))
    return {
        "total": None,
        **state,
        **{name: stream[name] for name in ("scale", *crf._stream_values)},
        "constraints": None if constraints.is_trivial() else constraints,
        "pairs": None,
    }


def _describe_compat(crf):
    check_is_fitted(crf)
    crf._validate_params()
    if type(crf.estimator_) not in WITHIN.values():
        raise TypeError(
            f"estimator_ of CRF is a {type(crf.estimator_).__name__}, and must be the "
            f"{' or '.join(WITHIN)} of its fit."
        )
    estimator, arrays = _describe_crf(crf.estimator_)
    score = getattr(crf, "dev_score_", None)
    model = {
        "type": "CRF",
        "parameters": plain_parameters(crf.get_params()),
        "estimator": estimator,
        "dev_score": None if score is None else float(score),
    }
    return model, arrays


def _rebuild_compat(model, array):
    fields(model, "CRF", COMPAT)
    crf = with_parameters(compat.CRF, model["parameters"])
    crf.estimator_ = _rebuild_any(model["estimator"], array, WITHIN)
    if model["dev_score"] is not None:
        crf.dev_score_ = model["dev_score"]
    return crf


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


def _weights_from(array, n_labels, n_features, n_stored):
    if not 0 <= n_features <= MAX_FEATURES:
        raise ModelFormatError(f"n_features must be from 0 to {MAX_FEATURES}")
    sizes = {"K": n_labels, "d": n_features}
    weights = {
        name: array(name.removesuffix("_"), FLOAT, tuple(sizes[axis] for axis in axes))
        for name, axes in BIASES.items()
    }
    if n_stored is None:
        return {"coef_": array("coef", FLOAT, (n_features, n_labels)).T, **weights}
    coef = _sparse_from("coef", array, n_stored, (n_labels, n_features))
    return {"coef_": coef, **weights}


_DESCRIBERS = {
    **dict.fromkeys(TYPES, _describe_crf),
    compat.CRF: _describe_compat,
    SequenceVectorizer: _describe_vectorizer,
    SequenceHasher: _describe_hasher,
    TokenFeatures: _describe_features,
    Pipeline: _describe_pipeline,
    Tagger: _describe_pipeline,
}
_REBUILDERS = {
    **dict.fromkeys(CRFS, _rebuild_crf),
    "CRF": _rebuild_compat,
    "SequenceVectorizer": _rebuild_vectorizer,
    "SequenceHasher": _rebuild_hasher,
    **dict.fromkeys(PIPELINES, _rebuild_pipeline),
    "TokenFeatures": _rebuild_features,
}
