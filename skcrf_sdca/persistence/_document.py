"""Converts a fitted estimator to a JSON document and arrays, and back.

Owns the entries of the document and of pipelines; _crfs.py has the entries of a CRF,
_vectorizers.py of a vectorizer. `describe` and `rebuild` are inverse to each other.
Names of classes are looked up in a table of this module and never imported. Each entry
is checked before it is used.
"""

from functools import partial
from itertools import pairwise
from types import NoneType

from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from skcrf_sdca import compat
from skcrf_sdca._utils.given_estimators import check_given
from skcrf_sdca.data.input_formats import ARRAYS, CUT_TABLE, STRINGS
from skcrf_sdca.estimators.base import BaseFit
from skcrf_sdca.estimators.dependencies import DependencyCRF
from skcrf_sdca.estimators.online_dependencies import OnlineDependencyCRF
from skcrf_sdca.estimators.tagger import Tagger
from skcrf_sdca.estimators.thresholds import ThresholdCurve, TunedSpans
from skcrf_sdca.features.hasher import SequenceHasher
from skcrf_sdca.features.per_token import PerToken
from skcrf_sdca.features.vectorizer import SequenceVectorizer
from skcrf_sdca.model.fitted import fitted_format, names_of_fit
from skcrf_sdca.persistence._crfs import describe_crf, rebuild_crf
from skcrf_sdca.persistence._entries import (
    NAMES,
    SEGMENT_NAMES,
    WITHIN_COMPAT,
    check_compat,
    check_pipeline,
)
from skcrf_sdca.persistence._fields import ModelFormatError, fields
from skcrf_sdca.persistence._head import model_of, with_head
from skcrf_sdca.persistence._parsers import describe_parser, rebuild_parser
from skcrf_sdca.persistence._registry import CRFS, how_to_register, type_name
from skcrf_sdca.persistence._scalers import describe_per_token, rebuild_per_token
from skcrf_sdca.persistence._templates import templates_from, templates_of
from skcrf_sdca.persistence._values import (
    describe_parameters,
    history_from,
    lists_of,
    plain_parameters,
    rebuild_parameters,
    with_parameters,
)
from skcrf_sdca.persistence._vectorizers import describe_vectorizer, rebuild_vectorizer
from skcrf_sdca.persistence._windows import WINDOWS, describe_window, rebuild_window
from skcrf_sdca.text import ArcFeatures, TokenFeatures
from skcrf_sdca.text.spans.offsets import check_pattern

# The types of CRFs that files of version 1 have.
OF_VERSION_1 = {"SDCACRF", "SAGNUSCRF", "OEGCRF", "LBFGSCRF"}
# Other types of models, and input formats, that they do not have.
SINCE = {
    "TokenFeatures": 2,
    "SequenceHasher": 2,
    "CRF": 2,
    "Tagger": 2,
    CUT_TABLE.name: 2,
    "tuples": 2,
    "ArcFeatures": 2,
    "OnlineDependencyCRF": 2,
    "TunedSpans": 2,
    "PerToken": 3,
    "SequenceWindow": 3,
    "ImageWindow": 3,
}
# The version whose names of features are arrays.
NAMES_VERSION = 3
PIPELINES = {cls.__name__: cls for cls in (Pipeline, Tagger)}
# The steps of a pipeline before its CRF, in their order, and the types of each.
_BEFORE = {
    "features": (TokenFeatures, ArcFeatures),
    "vectorizer": (SequenceVectorizer, SequenceHasher),
    "scaler": (PerToken,),
    "window": tuple(WINDOWS),
}
# The types of the estimator in a compat.CRF.
WITHIN = {name: CRFS[name] for name in WITHIN_COMPAT}
TUNED_SPANS = {
    "type": str,
    "parameters": dict,
    "estimator": dict,
    "fit_threshold": (float, dict, NoneType),
    "curve": dict,
}


def describe(estimator, metadata=None):
    """Return the document of a fitted estimator, and its arrays in a dict.

    ``metadata`` are those of `save_model`. The document is made of the types of JSON.
    The function raises TypeError, ValueError or NotFittedError if the format cannot
    represent the estimator, see `save_model`.
    """
    check_given(estimator)
    describer = _describers().get(type(estimator))
    if describer is None:
        raise TypeError(
            f"{type(estimator).__name__} cannot be saved so: {_in_place_of(estimator)}."
        )
    model, arrays = describer(estimator)
    return with_head(model, _lowest_version(model, arrays), metadata), arrays


def _in_place_of(estimator):
    """Return what to do with an estimator that has no place in files, for a message."""
    if hasattr(estimator, "best_estimator_"):
        return (
            "save its best_estimator_, which predicts as it does. Use joblib for the "
            "search itself"
        )
    if hasattr(estimator, "to_estimator"):
        return "save what its to_estimator() returns, which predicts as it does"
    if _is_new(estimator):
        return how_to_register(type(estimator).__name__)
    types = ", ".join(cls.__name__ for cls in _describers())
    return f"save_model takes {types}. Use pickle or skops for other types"


def _is_new(estimator):
    """Return whether an estimator is a CRF of a user that is not registered."""
    cls = type(estimator)
    is_own = cls.__module__.partition(".")[0] != "skcrf_sdca"
    return is_own and isinstance(estimator, BaseFit) and cls not in _describers()


def _lowest_version(model, arrays):
    """Return the version of the format that has a model, its parts and its arrays."""
    if arrays.keys() & {NAMES, SEGMENT_NAMES}:
        return NAMES_VERSION
    parts = [model, *(part for part in model.values() if isinstance(part, dict))]
    used = (part.get(name) for part in parts for name in ("type", "input_format"))
    since = SINCE | dict.fromkeys(CRFS.keys() - OF_VERSION_1, 2)
    return max(since.get(name, 1) for name in [*used, *model])


def rebuild(document, array):
    """Return the estimator that a document describes.

    ``array(name, dtype, shape)`` returns the array of this name, type and shape.
    It raises ModelFormatError, TypeError or ValueError if the document describes none.
    """
    return _rebuild_any(model_of(document), array, _types())


def _rebuild_any(model, array, types):
    name = model.get("type")
    if not isinstance(name, str) or name not in types:
        is_known = not isinstance(name, str) or name in _types()
        advice = "" if is_known else f"; if it is yours, {how_to_register(name)}"
        raise ModelFormatError(
            f"a model of type {name!r:.40} has no place in it{advice}"
        )
    _, _, rebuilder = _types()[name]
    return rebuilder(model, array)


def _roles():
    """Return the steps of a pipeline, in their order, and the types of each."""
    return {**_BEFORE, "crf": (*CRFS.values(), compat.CRF)}


def _describe_pipeline(pipeline):
    names, steps = zip(*pipeline.steps, strict=True)
    roles = _roles()
    role_of = {cls: role for role, types in roles.items() for cls in types}
    found = [role_of.get(type(step)) for step in steps]
    if len(steps) < 2 or found != [role for role in roles if role in found + ["crf"]]:
        types = {name: type(step).__name__ for name, step in pipeline.steps}
        own = next((t for n, t in types.items() if _is_new(pipeline[n])), None)
        advice = how_to_register(own) if own else "Use pickle or joblib"
        raise TypeError(
            "a pipeline can be saved so if its steps are a TokenFeatures, a "
            "SequenceVectorizer or SequenceHasher, or both in this order, or an "
            "ArcFeatures, or a PerToken, a SequenceWindow or ImageWindow, or both in "
            f"this order, and then a CRF; these are {types}. {advice}."
        )
    if pipeline.memory is not None or pipeline.transform_input is not None:
        raise TypeError(
            "the parameters memory and transform_input of a pipeline cannot be saved "
            "so: set them to None."
        )
    parts = dict(zip(found, steps, strict=True))
    models, arrays = {}, {}
    for name, role in zip(names, found, strict=True):
        models[role], own = _describe_step(name, role, parts)
        arrays |= own
    _check_steps(parts)
    head = {
        "type": type(pipeline).__name__,
        "names": list(names),
        "verbose": bool(pipeline.verbose),
    }
    if getattr(pipeline, "tokens", None) is not None:
        check_pattern(pipeline.tokens)
        head["tokens"] = pipeline.tokens
    return head | models, arrays


def _describe_step(name, role, parts):
    step, known = parts[role], {}
    if type(step) in CRFS.values():
        known["vectorizer"] = parts.get("vectorizer")
    try:
        return _describers()[type(step)](step, **known)
    except (TypeError, ValueError) as error:
        error.args = (f"step {name!r}: {error}",)
        raise


def _rebuild_pipeline(model, array):
    types = {role: types for role, types in _roles().items() if role in model}
    check_pipeline(model, list(types))
    parts = {
        role: _rebuild_any(model[role], array, [type_name(cls) for cls in own])
        for role, own in types.items()
    }
    _check_steps(parts)
    vectorizer, crf = parts.get("vectorizer"), parts["crf"]
    takes_packed = hasattr(crf, "_input_format") and fitted_format(crf).is_packed
    has_names = isinstance(vectorizer, SequenceVectorizer)
    if has_names and takes_packed and names_of_fit(crf) is None:
        crf._feature_names = vectorizer.transform([]).feature_names
    steps = zip(model["names"], parts.values(), strict=True)
    tokens = {"tokens": model["tokens"]} if "tokens" in model else {}
    return PIPELINES[model["type"]](list(steps), verbose=model["verbose"], **tokens)


def _check_steps(parts):
    """Raise ValueError if a step does not take what the step before it returns."""
    vectorizer, crf = parts.get("vectorizer"), parts["crf"]
    crf = getattr(crf, "estimator_", crf)
    taken = fitted_format(crf).name
    if vectorizer is not None:
        # A SequenceHasher takes strings, and dicts.
        taken = getattr(vectorizer, "input_format_", "strings")
    steps = [*(parts[role] for role in _BEFORE if role in parts), crf]
    for step, after in pairwise(steps):
        if step is not parts.get("features"):
            _check_width(step, after, "CRF" if after is crf else type(after).__name__)
    if "features" in parts:
        _check_takes(taken, *steps[:2])


def _check_width(step, after, name):
    """Raise ValueError if a step returns another number of columns than is taken."""
    # A hasher, which has nothing to learn, has it as a parameter.
    n_features = getattr(step, "n_features_out_", getattr(step, "n_features", None))
    if n_features != after.n_features_in_:
        raise ValueError(
            f"the pipeline's {type(step).__name__} has {n_features} features, but the "
            f"{name} {after.n_features_in_}"
        )


def _check_takes(taken, features, after):
    """Raise ValueError if the step after the features does not take what they are."""
    name, is_of_arcs = type(features).__name__, isinstance(features, ArcFeatures)
    returned = ARRAYS.name if is_of_arcs else STRINGS.name
    if taken != returned or is_of_arcs != isinstance(after, DependencyCRF):
        raise ValueError(
            f"the pipeline's {name} returns {returned}, but the step after it is a "
            f"{type(after).__name__} that was fitted on {taken}"
        )
    if is_of_arcs and features.n_features != after.n_features_in_:
        raise ValueError(
            f"the pipeline's {name} has {features.n_features} features, but the CRF "
            f"{after.n_features_in_}"
        )


def _describe_features(features):
    features.fit()
    model = templates_of(features.get_params())
    _rebuild_features(model)
    return model, {}


def _rebuild_features(model, array=None):
    return TokenFeatures(**templates_from(model)).fit()


def _describe_compat(crf):
    check_is_fitted(crf)
    crf._validate_params()
    if type(crf.estimator_) not in WITHIN.values():
        raise TypeError(
            f"estimator_ of CRF is a {type(crf.estimator_).__name__}, and must be the "
            f"{' or '.join(WITHIN)} of its fit."
        )
    estimator, arrays = describe_crf(crf.estimator_)
    score = getattr(crf, "dev_score_", None)
    model = {
        "type": "CRF",
        "parameters": plain_parameters(crf.get_params()),
        "estimator": estimator,
        "dev_score": None if score is None else float(score),
    }
    return model, arrays


def _rebuild_compat(model, array):
    check_compat(model)
    crf = with_parameters(compat.CRF, model["parameters"])
    crf.estimator_ = _rebuild_any(model["estimator"], array, WITHIN)
    if model["dev_score"] is not None:
        crf.dev_score_ = model["dev_score"]
    return crf


def _describe_tuned(tuned):
    tuned._validate_params()
    if type(tuned.estimator) not in _within_spans():
        raise TypeError(
            f"estimator of TunedSpans is a {type(tuned.estimator).__name__}, and must "
            "be a CRF or a pipeline with one"
        )
    estimator, arrays = _describers()[type(tuned.estimator)](tuned.estimator)
    parameters = tuned.get_params(deep=False)
    del parameters["estimator"]
    curve = getattr(tuned, "curve_", None)
    model = {
        "type": "TunedSpans",
        "parameters": plain_parameters(parameters),
        "estimator": estimator,
        "fit_threshold": getattr(tuned, "threshold_", None),
        "curve": {} if curve is None else lists_of(curve._asdict()),
    }
    return model, arrays


def _rebuild_tuned(model, array):
    fields(model, "TunedSpans", TUNED_SPANS)
    types = [type_name(cls) for cls in _within_spans()]
    estimator = _rebuild_any(model["estimator"], array, types)
    tuned = with_parameters(TunedSpans, model["parameters"], estimator=estimator)
    threshold = model["fit_threshold"]
    if threshold is not None:
        if isinstance(threshold, dict):
            fields(threshold, "fit_threshold", dict.fromkeys(threshold, float))
        fields(model["curve"], "curve", dict.fromkeys(ThresholdCurve._fields, list))
        tuned.threshold_ = threshold
        tuned.curve_ = ThresholdCurve(**history_from(model["curve"]))
    return tuned


def _within_spans():
    return (*CRFS.values(), *PIPELINES.values())


def _types():
    """Return every type by its name in files, with what describes and rebuilds it."""
    crfs = {name: (cls, describe_crf, rebuild_crf) for name, cls in CRFS.items()}
    return crfs | _OTHERS


def _describers():
    return {cls: describer for cls, describer, _ in _types().values()}


def _of_parameters(cls):
    return cls, describe_parameters, partial(rebuild_parameters, cls)


_OTHERS = {
    "CRF": (compat.CRF, _describe_compat, _rebuild_compat),
    "SequenceVectorizer": (SequenceVectorizer, describe_vectorizer, rebuild_vectorizer),
    "SequenceHasher": _of_parameters(SequenceHasher),
    "TokenFeatures": (TokenFeatures, _describe_features, _rebuild_features),
    "ArcFeatures": _of_parameters(ArcFeatures),
    "OnlineDependencyCRF": (OnlineDependencyCRF, describe_parser, rebuild_parser),
    "TunedSpans": (TunedSpans, _describe_tuned, _rebuild_tuned),
    "PerToken": (PerToken, describe_per_token, rebuild_per_token),
    **{
        cls.__name__: (cls, describe_window, partial(rebuild_window, cls))
        for cls in WINDOWS
    },
    **{
        name: (cls, _describe_pipeline, _rebuild_pipeline)
        for name, cls in PIPELINES.items()
    },
}
