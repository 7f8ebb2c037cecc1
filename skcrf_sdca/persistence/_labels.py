"""The labels of a model as JSON, and back: equal, of their type, in an array of theirs.

An array of Python objects and one of a NumPy type are told apart, since predictions for
one-node chains are of the same type.
"""

import numpy as np

from skcrf_sdca.persistence._fields import ModelFormatError, fields

_WIDTHS = (8, 16, 32, 64)
# Types of labels, and the types of arrays that may hold them.
DTYPES = {
    str: ("object", "str"),
    bytes: ("object", "bytes"),
    bool: ("object", "bool"),
    int: ("object", *(f"{sign}int{w}" for sign in ("", "u") for w in _WIDTHS)),
    float: ("object", "float16", "float32", "float64"),
}
# NumPy counts the characters in the names of these.
CHARACTERS = {"U": "str", "S": "bytes"}
NAMES = {kind.__name__: kind for kind in DTYPES}
# An array of str takes 4 bytes for each, padded to the longest: n_labels times the
# longest may be far more than the file.
MAX_CHARACTERS = 2**24


def labels_of(classes):
    """Return the labels as a dict of what JSON can hold.

    Parameters
    ----------
    classes : ndarray of shape (n_labels,)

    Returns
    -------
    labels : dict
        With "type", "dtype" and "values".

    Raises
    ------
    TypeError
        If the labels are not str, int, bool, bytes or float.
    ValueError
        If one is NaN or infinite, or they are too long.
    """
    values = classes.tolist()
    kind = type(values[0])
    dtype = CHARACTERS.get(classes.dtype.kind, classes.dtype.name)
    if dtype not in DTYPES.get(kind, ()) or set(map(type, values)) != {kind}:
        raise TypeError(
            f"labels of type {kind.__name__} in an array of {classes.dtype} cannot be "
            "saved: a model file holds str, int, bool, bytes and float labels, of one "
            "type. Use pickle for others."
        )
    labels = {"type": kind.__name__, "dtype": dtype}
    labels["values"] = [v.hex() for v in values] if kind is bytes else values
    labels_from(labels)
    return labels


def labels_from(labels):
    """Return the array of labels of which `labels_of` made a dict.

    Parameters
    ----------
    labels : object
        As JSON gave it.

    Returns
    -------
    classes : ndarray of shape (n_labels,)

    Raises
    ------
    ModelFormatError
        If it is not such a dict, or a label is there twice.
    """
    fields(labels, "labels", {"type": str, "dtype": str, "values": list})
    name, dtype, values = labels["type"], labels["dtype"], labels["values"]
    kind = NAMES.get(name)
    if kind is None or dtype not in DTYPES[kind]:
        raise ModelFormatError(f"labels: {name:.40} in an array of {dtype:.40}")
    stored = str if kind is bytes else kind
    if not values or set(map(type, values)) != {stored}:
        raise ModelFormatError(f"labels: not all values are of type {name}")
    if kind is bytes:
        values = list(map(bytes.fromhex, values))
    if len(set(values)) != len(values):
        raise ModelFormatError("labels: one is there twice")
    if dtype == "object":
        return np.fromiter(values, dtype=object, count=len(values))
    if kind in (str, bytes) and len(values) * max(map(len, values)) > MAX_CHARACTERS:
        raise ModelFormatError(
            f"labels: {len(values)} times the longest is more than {MAX_CHARACTERS} "
            "characters"
        )
    classes = np.array(values, dtype=dtype)
    if classes.tolist() != values:
        raise ModelFormatError(f"labels: an array of {dtype} does not hold them")
    return classes
