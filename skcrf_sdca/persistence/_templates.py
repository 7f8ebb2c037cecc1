"""Converts the parameters of a TokenFeatures, its templates, to JSON and back.

Owns the entries of templates. The templates themselves limit the work that a file can
ask for. Names of functions are looked up in a table and never imported.
"""

from types import NoneType

import numpy as np

from skcrf_sdca.persistence._fields import ModelFormatError, fields
from skcrf_sdca.text import (
    DEFAULT_TEMPLATES,
    Apply,
    At,
    Joint,
    LabelPairs,
    Lookup,
    Prefix,
    Regex,
    Shape,
    Suffix,
    Window,
)
from skcrf_sdca.text.features.values import (
    FUNCTIONS,
    Column,
    as_data,
    from_data,
    function_name,
)

# A list is a list of JSON; a tuple is an object with one entry.
TUPLE = "tuple"
SEQUENCE = (list, dict)
VALUE = (str, dict)
# The entries, with their types: the parameters of each class.
ENTRIES = {
    At: {"value": VALUE, "place": int},
    Window: {"value": VALUE, "places": (int, *SEQUENCE), "n": int},
    Joint: {"templates": SEQUENCE},
    LabelPairs: {"template": VALUE},
    Apply: {"function": (str, *SEQUENCE), "column": str, "name": (str, NoneType)},
    Column: {"column": str},
    Shape: {"column": str, "compact": bool},
    Prefix: {"length": int, "column": str},
    Suffix: {"length": int, "column": str},
    Lookup: {"table": SEQUENCE, "column": str, "name": str, "lower": bool},
    Regex: {"pattern": str, "column": str, "name": str, "test": bool},
}
FEATURES = {"templates": SEQUENCE, "columns": SEQUENCE, "pad": (NoneType, *SEQUENCE)}
CLASSES = {cls.__name__: cls for cls in ENTRIES}
PLAIN = (NoneType, bool, int, str)


def templates_of(parameters):
    """Return the parameters of a TokenFeatures as a dict of the types of JSON.

    It raises TypeError if a template is of a type, or applies a function, that a model
    file cannot name.
    """
    if parameters["templates"] is None:
        parameters = {**parameters, "templates": DEFAULT_TEMPLATES}
    entries = {name: _plain(parameters[name]) for name in FEATURES}
    return {"type": "TokenFeatures", **entries}


def templates_from(entry):
    """Return the parameters from the dict that `templates_of` made.

    It raises ModelFormatError, TypeError or ValueError if it is not such a dict.
    """
    fields(entry, "TokenFeatures", {"type": str, **FEATURES})
    return {name: _from_plain(entry[name]) for name in FEATURES}


def _plain(value):
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, list):
        return list(map(_plain, value))
    if isinstance(value, tuple):
        return {TUPLE: list(map(_plain, value))}
    if type(value) in PLAIN:
        return value
    if type(value) not in ENTRIES:
        raise TypeError(
            f"{value!r:.200} is a {type(value).__name__}, which a model file cannot "
            f"hold: of templates it holds {', '.join(CLASSES)}. Use one of these, or "
            "save with pickle or joblib."
        )
    parameters = {name: getattr(value, name) for name in ENTRIES[type(value)]}
    if type(value) is Apply:
        parameters["function"] = _named_function(value)
    entries = {name: _plain(parameter) for name, parameter in parameters.items()}
    return {"type": type(value).__name__, **entries}


def _named_function(template):
    if (name := function_name(template.function)) is not None:
        return name
    if (data := as_data(template.function)) is not None:
        return list(data)
    raise TypeError(
        f"the template {template!r:.200} applies a function that a model file cannot "
        f"hold: it holds no code, and names only {', '.join(FUNCTIONS)}. Use one of "
        "these, Lookup for a table of words, Regex for a regular expression, put what "
        "the function returns into a column of the tokens, or save with pickle or "
        "joblib."
    )


def _from_plain(entry):
    if isinstance(entry, list):
        return list(map(_from_plain, entry))
    if not isinstance(entry, dict):
        return entry
    if TUPLE in entry:
        return tuple(map(_from_plain, fields(entry, TUPLE, {TUPLE: list})[TUPLE]))
    name = entry.get("type")
    if not isinstance(name, str) or name not in CLASSES:
        raise ModelFormatError(f"a template of type {name!r:.40} is not known")
    cls = CLASSES[name]
    fields(entry, name, {"type": str, **ENTRIES[cls]})
    parameters = {key: _from_plain(entry[key]) for key in ENTRIES[cls]}
    return _BUILDERS.get(cls, cls)(**parameters)


def _joint(templates):
    return Joint(*templates)


def _apply(function, column, name):
    if isinstance(function, list):
        if len(function) != 2 or not isinstance(function[0], str):
            raise ModelFormatError(
                "Apply: the function must be of type str, or a pair of a str and data"
            )
        return Apply(from_data(*function), column, name=name)
    if function not in FUNCTIONS:
        raise ModelFormatError(
            f"Apply: the function {function!r:.40} is not known; a model file can name "
            f"{', '.join(FUNCTIONS)}"
        )
    return Apply(FUNCTIONS[function], column, name=name)


_BUILDERS = {Joint: _joint, Apply: _apply}
