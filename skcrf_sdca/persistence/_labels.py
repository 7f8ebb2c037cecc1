"""Converts labels to JSON, and back to equal labels in an array of the same dtype.

The dtype is stored because predictions for one-node chains are arrays of this dtype.
"""

import numpy as np

from skcrf_sdca.persistence._fields import ModelFormatError, fields

_WIDTHS = (8, 16, 32, 64)
# Types of labels, and the dtypes of arrays of them.
DTYPES = {
    str: ("object", "str"),
    bytes: ("object", "bytes"),
    bool: ("object", "bool"),
    int: ("object", *(f"{sign}int{w}" for sign in ("", "u") for w in _WIDTHS)),
    float: ("object", "float16", "float32", "float64"),
}
# The names of these dtypes in NumPy contain the number of characters.
CHARACTERS = {"U": "str", "S": "bytes"}
NAMES = {label_type.__name__: label_type for label_type in DTYPES}
# In an array of str, each label takes 4 bytes per character of the longest label: the
# array may be far larger than the file.
MAX_CHARACTERS = 2**24


def labels_of(classes):
    """Return an array of labels as a dict of the types of JSON: type, dtype and values.

    It raises TypeError if the labels are not str, int, bool, bytes or float; ValueError
    if a label is NaN or infinite, or they are too long.
    """
    values = classes.tolist()
    label_type = type(values[0])
    dtype = CHARACTERS.get(classes.dtype.kind, classes.dtype.name)
    if dtype not in DTYPES.get(label_type, ()) or set(map(type, values)) != {
        label_type
    }:
        raise TypeError(
            f"labels of type {label_type.__name__} in an array of {classes.dtype} "
            "cannot be saved: a model file holds str, int, bool, bytes and float "
            "labels, of one type. Use pickle for others."
        )
    labels = {"type": label_type.__name__, "dtype": dtype}
    labels["values"] = [v.hex() for v in values] if label_type is bytes else values
    labels_from(labels)
    return labels


def labels_from(labels):
    """Return the array of labels from the dict that `labels_of` made.

    It raises ModelFormatError if it is not such a dict, or a label occurs twice.
    """
    fields(labels, "labels", {"type": str, "dtype": str, "values": list})
    name, dtype, values = labels["type"], labels["dtype"], labels["values"]
    label_type = NAMES.get(name)
    if label_type is None or dtype not in DTYPES[label_type]:
        raise ModelFormatError(f"labels: {name:.40} in an array of {dtype:.40}")
    stored = str if label_type is bytes else label_type
    if not values or set(map(type, values)) != {stored}:
        raise ModelFormatError(f"labels: not all values are of type {name}")
    if label_type is bytes:
        values = list(map(bytes.fromhex, values))
    if len(set(values)) != len(values):
        raise ModelFormatError("labels: one occurs twice")
    if dtype == "object":
        return np.fromiter(values, dtype=object, count=len(values))
    if (
        label_type in (str, bytes)
        and len(values) * max(map(len, values)) > MAX_CHARACTERS
    ):
        raise ModelFormatError(
            f"labels: {len(values)} times the longest is more than {MAX_CHARACTERS} "
            "characters"
        )
    classes = np.array(values, dtype=dtype)
    if classes.tolist() != values:
        raise ModelFormatError(f"labels: an array of {dtype} does not hold them")
    return classes
