"""Converts parameters and the figures of a fit to JSON and back."""

import math
from numbers import Integral
from types import NoneType

import numpy as np

from skcrf_sdca.persistence._fields import ModelFormatError, fields
from skcrf_sdca.structures.entropy import INDICES, SHANNON

# Fitted attributes that are numbers; in a file their names have no underscore.
FIGURES = (
    "alpha",
    "temperature",
    "entropy_index",
    "n_nonzero",
    "n_iter",
    "primal_objective",
    "dual_objective",
    "duality_gap",
    "gap_target",
    "loss",
    "n_visits",
    "eta0",
)
# The parameter dtype of vectorizers, by its name in a file.
DTYPES = {"float64": np.float64, "float32": np.float32}
# Numbers that JSON does not have.
NOT_FINITE = ("nan", "inf", "-inf")
PLAIN = (NoneType, bool, int, float, str)
# Values that JSON lacks are objects with one entry: arrays of bool or of numbers, and
# dicts, whose keys may be pairs, as a list of (key, value).
MASK, NUMBERS, ITEMS = "mask", "numbers", "items"
ARRAYS = {"b": MASK, "i": NUMBERS, "u": NUMBERS, "f": NUMBERS}


def plain_parameters(parameters):
    """Return parameters as types of JSON; TypeError names one that cannot be stored.

    Numbers, str and None are unchanged, tuples become lists; arrays of bool and of
    numbers, and dicts, become objects.
    """
    return {name: _plain(name, value) for name, value in parameters.items()}


def _plain(name, value):
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, (list, tuple)):
        return [_plain(name, entry) for entry in value]
    if isinstance(value, dict):
        return {ITEMS: [_plain(name, item) for item in value.items()]}
    if isinstance(value, np.ndarray) and value.dtype.kind in ARRAYS:
        return {ARRAYS[value.dtype.kind]: value.tolist()}
    if type(value) not in PLAIN:
        raise TypeError(
            f"the parameter {name} is or holds a {type(value).__name__}, which a model "
            "file cannot: set it to a number, a str or None before saving."
        )
    return value


def parameters_from(plain):
    """Return the parameters that `plain_parameters` converted."""
    return {name: _from_plain(value) for name, value in plain.items()}


def _from_plain(value):
    if not isinstance(value, dict):
        return value
    if ITEMS in value:
        items = fields(value, "a parameter", {ITEMS: list})[ITEMS]
        return {_hashable(key): _from_plain(entry) for key, entry in items}
    name = NUMBERS if NUMBERS in value else MASK
    array = np.array(fields(value, "a parameter", {name: list})[name])
    if ARRAYS.get(array.dtype.kind) != name:
        raise ModelFormatError(f"a parameter: {name} must be an array of {name}")
    return array


def _hashable(key):
    return tuple(map(_hashable, key)) if isinstance(key, list) else key


def with_parameters(cls, plain, **objects):
    """Return an estimator with these parameters; others have their defaults.

    ``objects`` are parameters that are objects, which `plain` must not have.
    """
    known = cls(**objects).get_params(deep=False).keys() - objects.keys()
    if not set(plain) <= set(known):
        raise ModelFormatError(f"{cls.__name__} has other parameters: {list(known)}")
    estimator = cls(**objects, **parameters_from(plain))
    estimator._validate_params()
    return estimator


def describe_parameters(estimator):
    """Return the entries of an estimator that is its parameters, and no arrays."""
    estimator.fit()
    parameters = plain_parameters(estimator.get_params())
    return {"type": type(estimator).__name__, "parameters": parameters}, {}


def rebuild_parameters(cls, model, array=None):
    """Return the estimator that is the parameters that entries describe."""
    fields(model, cls.__name__, {"type": str, "parameters": dict})
    return with_parameters(cls, model["parameters"]).fit()


def describe_fit(crf):
    """Return the entries "fit", the figures, and "history", with lists for arrays."""
    fitted = {name: getattr(crf, f"{name}_", None) for name in FIGURES}
    if fitted["entropy_index"] == SHANNON:
        # Earlier versions, which know no other, read the file.
        del fitted["entropy_index"]
    figures = {name: _to_json(x) for name, x in fitted.items() if x is not None}
    return {"fit": figures, "history": lists_of(getattr(crf, "history_", {}))}


def figures_from(fit):
    """Return the attributes from the entry "fit" that `describe_fit` made."""
    if not set(fit) <= set(FIGURES):
        raise ModelFormatError(f"fit may have the entries {FIGURES} only")
    if fit.get("entropy_index", SHANNON) not in INDICES:
        raise ModelFormatError(f"fit: entropy_index must be one of {INDICES}")
    return {f"{name}_": _from_json(number) for name, number in fit.items()}


def rebuild_fit(model):
    """Return the attributes from the entries that `describe_fit` made."""
    attributes, history = figures_from(model["fit"]), history_from(model["history"])
    return attributes | ({"history_": history} if history else {})


def lists_of(columns):
    """Return a dict of arrays of numbers as lists, which `history_from` reads."""
    return {name: list(map(_to_json, x.tolist())) for name, x in columns.items()}


def history_from(history, where="history"):
    """Return ``history_`` from the dict that `lists_of` made; ``where`` names it."""
    fields(history, where, dict.fromkeys(history, list))
    if len(set(map(len, history.values()))) > 1:
        raise ModelFormatError(f"{where}: its columns differ in length")
    return {name: _column(values) for name, values in history.items()}


def _column(values):
    numbers = list(map(_from_json, values))
    is_int = set(map(type, numbers)) == {int}
    return np.array(numbers, dtype=np.int64 if is_int else np.float64)


def _to_json(number):
    number = int(number) if isinstance(number, Integral) else float(number)
    return number if math.isfinite(number) else str(number)


def _from_json(number):
    if type(number) in (int, float):
        return number
    if number not in NOT_FINITE:
        raise ModelFormatError(f"{number!r:.40} is no number")
    return float(number)
