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

from skcrf_sdca._kernels._encoder import Lookup
from skcrf_sdca._version import __version__
from skcrf_sdca.data.feature_names import FeatureNames
from skcrf_sdca.data.input_formats import PACKED
from skcrf_sdca.estimators.crfs import ESTIMATORS
from skcrf_sdca.estimators.fitted import check_fitted
from skcrf_sdca.estimators.tagger import Tagger
from skcrf_sdca.features.vectorizer import SequenceVectorizer
from skcrf_sdca.features.vocabulary import check_vocabulary, vocabulary_numbers
from skcrf_sdca.persistence._archive import FLOAT, INT
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
from skcrf_sdca.structures.chain.parameters import WEIGHTS

FORMAT, FORMAT_VERSION = "skcrf_sdca", 1
CRFS = {cls.__name__: cls for cls in ESTIMATORS}
PIPELINES = {cls.__name__: cls for cls in (Pipeline, Tagger)}
BIASES = {name: axes for name, axes in WEIGHTS.items() if name != "coef_"}
VECTORIZER_DTYPES = {"float64": np.float64, "float32": np.float32}
# The entries, with their types, of the objects of a document.
HEAD = {"format": str, "format_version": int, "written_by": str, "model": dict}
PIPELINE = {
    "type": str,
    "names": list,
    "verbose": bool,
    "vectorizer": dict,
    "crf": dict,
}
VECTORIZER = {
    "type": str,
    "parameters": dict,
    "input_format": str,
    "n_features": int,
    "vocabulary": dict,
}
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
MAX_FEATURES = int(np.iinfo(np.int32).max)


def describe(estimator):
    """Return the document of a fitted estimator, and its arrays in a dict.

    The document is made of the types of JSON. The function raises TypeError, ValueError
    or NotFittedError if the format cannot represent the estimator, see `save_model`.
    """
    describer = _DESCRIBERS.get(type(estimator))
    if describer is None:
        raise TypeError(
            f"{type(estimator).__name__} cannot be saved so: save_model takes "
            f"{', '.join(cls.__name__ for cls in _DESCRIBERS)}. Use pickle or skops "
            "for other types."
        )
    model, arrays = describer(estimator)
    document = {
        "format": FORMAT,
        "format_version": FORMAT_VERSION,
        "written_by": f"skcrf_sdca {__version__}",
        "model": model,
    }
    return document, arrays


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
    types = [type(step) for step in steps]
    if types not in [[SequenceVectorizer, crf] for crf in ESTIMATORS]:
        raise TypeError(
            "of pipelines only those of a SequenceVectorizer and a CRF can be saved "
            f"so, not of {[cls.__name__ for cls in types]}. Use pickle or skops."
        )
    if pipeline.memory is not None or pipeline.transform_input is not None:
        raise TypeError(
            "the parameters memory and transform_input of a pipeline cannot be saved "
            "so: set them to None."
        )
    vectorizer, _ = _describe_vectorizer(steps[0])
    crf, arrays = _describe_crf(steps[1], vectorizer=steps[0])
    _check_pair(*steps)
    model = {
        "type": type(pipeline).__name__,
        "names": list(names),
        "verbose": bool(pipeline.verbose),
        "vectorizer": vectorizer,
        "crf": crf,
    }
    return model, arrays


def _rebuild_pipeline(model, array):
    names = fields(model, "pipeline", PIPELINE)["names"]
    if set(map(type, names)) != {str} or len(names) != 2 or names[0] == names[1]:
        raise ModelFormatError("pipeline: names must be two different names")
    steps = (
        _rebuild_any(model["vectorizer"], array, ["SequenceVectorizer"]),
        _rebuild_any(model["crf"], array, CRFS),
    )
    _check_pair(*steps)
    vectorizer, crf = steps
    if crf._input_format == PACKED.name and not hasattr(crf, "feature_names_in_"):
        crf._feature_names = vectorizer.transform([]).feature_names
    pipeline = PIPELINES[model["type"]]
    return pipeline(list(zip(names, steps, strict=True)), verbose=model["verbose"])


def _check_pair(vectorizer, crf):
    if vectorizer.n_features_out_ != crf.n_features_in_:
        raise ValueError(
            f"the pipeline's vectorizer has {vectorizer.n_features_out_} features, but "
            f"the CRF {crf.n_features_in_}"
        )


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
    n_known = len(np.unique(vocabulary_numbers(vectorizer.vocabulary_)))
    if n_known != vectorizer.n_features_out_:
        raise ValueError(
            f"vocabulary_ has {n_known} features, but n_features_out_ is "
            f"{vectorizer.n_features_out_}"
        )


def _describe_crf(crf, vectorizer=None):
    check_is_fitted(crf)
    check_fitted(crf)
    crf._validate_params()
    model = {
        "type": type(crf).__name__,
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
    biases = {name.removesuffix("_"): getattr(crf, name) for name in BIASES}
    return model, _coef_arrays(crf.coef_) | biases


def _own_names(crf, vectorizer):
    """Return the names of the features that no vectorizer knows, a list or None."""
    if not hasattr(crf, "feature_names_in_"):
        return None
    names = FeatureNames.of(crf.feature_names_in_)
    if vectorizer is not None and names == vectorizer.transform([]).feature_names:
        return None
    return list(names)


def _rebuild_crf(model, array):
    fields(model, "crf", CRF)
    crf = with_parameters(CRFS[model["type"]], model["parameters"])
    attributes = {
        "_input_format": model["input_format"],
        "classes_": labels_from(model["labels"]),
        "n_features_in_": model["n_features"],
        **figures_from(model["fit"]),
    }
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
    crf._set_fitted(attributes)
    check_fitted(crf)
    return crf


# In the file, dense coefficients have a row for each feature, as the kernels take them;
# sparse ones are the three arrays of a CSR matrix with a row for each label.
def _coef_arrays(coef):
    if not sp.issparse(coef):
        return {"coef": coef.T}
    rows = {"data": coef.data, "indices": coef.indices, "indptr": coef.indptr}
    return {f"coef_{name}": rows[name] for name in rows}


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
    rows = (
        array("coef_data", FLOAT, (n_stored,)),
        array("coef_indices", INT, (n_stored,)),
        array("coef_indptr", INT, (n_labels + 1,)),
    )
    return {"coef_": sp.csr_array(rows, shape=(n_labels, n_features)), **weights}


_DESCRIBERS = {
    **dict.fromkeys(ESTIMATORS, _describe_crf),
    SequenceVectorizer: _describe_vectorizer,
    Pipeline: _describe_pipeline,
    Tagger: _describe_pipeline,
}
_REBUILDERS = {
    **dict.fromkeys(CRFS, _rebuild_crf),
    "SequenceVectorizer": _rebuild_vectorizer,
    **dict.fromkeys(PIPELINES, _rebuild_pipeline),
}
