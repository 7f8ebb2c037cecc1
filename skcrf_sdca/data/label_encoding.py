"""Conversion of labels to numbers and back, which keeps their values and types.

Labels come in many forms: lists of any hashable objects, arrays, one array for all
positions, and lists in which some labels are unknown.
"""

from itertools import chain
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray

from skcrf_sdca._utils.messages import described
from skcrf_sdca._utils.typing import KnownLabels, Labels
from skcrf_sdca.data.containers import check_container
from skcrf_sdca.data.rows import BLOCK, split_rows, unmasked


def encode_labels(
    y: Labels, lengths: ArrayLike
) -> tuple[NDArray[Any], NDArray[np.int32]]:
    """Return the sorted distinct labels of `y`, and the index of each label in them.

    `lengths` are the lengths of the sequences of X. The labels are all of one type,
    whose values can be hashed and sorted; floats are whole numbers. The classes have
    dtype object where an array of a NumPy type would change the labels (a str that ends
    in NUL, an int beyond 64 bits). Raise ValueError or TypeError if `y` does not have
    this form.

    >>> encode_labels([["O", "B"], ["O"]], [2, 1])
    (array(['B', 'O'], dtype='<U1'), array([1, 0, 1], dtype=int32))
    """
    flat = flat_labels(y, lengths)
    if not flat:
        raise ValueError("y has 0 labels; at least one is required.")
    try:
        classes = sorted(set(flat))
    except TypeError as error:
        raise TypeError(
            f"y: labels must be hashable and sortable, got {described(flat[0])}: "
            f"{error}"
        ) from error
    codes = _codes(flat, classes)
    check_discrete(classes, codes, lengths)
    return _class_array(classes), codes


def encode_flat_labels(y: NDArray[Any]) -> tuple[NDArray[Any], NDArray[np.int32]]:
    """Encode the labels of all positions, given in one array, as `encode_labels` does.

    The array may be mapped from a file: it is read block by block.
    """
    y = unmasked(y, "y")
    blocks = [y[begin : begin + BLOCK] for begin in range(0, len(y), BLOCK)]
    classes = np.unique(np.concatenate([np.unique(block) for block in blocks]))
    labels = np.empty(len(y), dtype=np.int32)
    for i, block in enumerate(blocks):
        labels[i * BLOCK : (i + 1) * BLOCK] = np.searchsorted(classes, block)
    return _class_array(classes.tolist()), labels


def encode_known_labels(
    y: Labels, lengths: ArrayLike, classes: NDArray[Any], *, name: str = "y"
) -> NDArray[np.int32]:
    """Return the index in `classes` of each label of `y`, -1 for other labels.

    `name` stands for `y` in messages. The errors are those of `encode_labels`, and
    TypeError if the labels are of another type than `classes`.
    """
    flat = flat_labels(y, lengths, name)
    known = plain_labels(classes)
    if flat and type(flat[0]) is not type(known[0]):
        raise TypeError(
            f"{name} has labels of type {type(flat[0]).__name__}, but the model was "
            f"fitted on labels of type {type(known[0]).__name__}."
        )
    return _codes(flat, known)


def encode_partial_labels(
    known: KnownLabels, lengths: ArrayLike, classes: NDArray[Any]
) -> NDArray[np.int32]:
    """Return the index in `classes` of each label of `known`, -1 where it is None.

    Raise ValueError with the sequence and the position of any other label.

    >>> encode_partial_labels([["O", None], [None]], [2, 1], np.array(["B", "O"]))
    array([ 1, -1, -1], dtype=int32)
    """
    sequences = _lists_as_long(known, lengths, "known")
    flat = list(chain.from_iterable(sequences))
    codes = label_codes(flat, classes)
    for t in np.flatnonzero(codes < 0):
        if flat[t] is not None:
            raise ValueError(
                f"{_place(t, lengths, 'known')} is {described(flat[t])}; it must be "
                "a label that was in fit, or None where the label is free."
            )
    return codes


def label_codes(labels: list[Any], classes: NDArray[Any]) -> NDArray[np.int32]:
    """Return the index in `classes` of each of a list of values, -1 for other values.

    A value of another type than `classes` is never found.
    """
    names = plain_labels(classes)
    label_type = type(names[0])
    plain = map(_plain_label, labels)
    # A bool is equal to an int, but not the same label.
    return _codes([v if type(v) is label_type else None for v in plain], names)


def decode_labels(
    paths: NDArray[np.integer[Any]],
    classes: NDArray[Any],
    offsets: NDArray[np.integer[Any]],
) -> NDArray[np.object_]:
    """Turn label numbers, end to end, into an object array of label lists."""
    return split_rows(label_objects(classes)[paths].tolist(), offsets)


def plain_labels(labels: NDArray[Any]) -> list[Any]:
    """Return the labels of an array in a list, as `flat_labels` has them."""
    # tolist() would turn dates into numbers.
    return labels.tolist() if labels.dtype.kind in "OUSbiuf" else list(labels)


def label_objects(labels: NDArray[Any]) -> NDArray[np.object_]:
    """Return the labels of an array in one of dtype object, as plain values."""
    return np.fromiter(plain_labels(labels), dtype=object, count=len(labels))


def check_discrete(classes: Any, codes: NDArray[Any], lengths: ArrayLike) -> None:
    """Raise ValueError with the place of a label that is a fraction, as 0.5.

    Such numbers are targets of a regression: scikit-learn refuses them too. `codes` are
    the indices in `classes` of all labels of y.
    """
    for k, label in enumerate(map(_plain_label, classes)):
        is_float = isinstance(label, (float, np.floating))
        if is_float and not float(label).is_integer():
            where = _place(int(np.argmax(codes == k)), lengths, "y")
            raise ValueError(
                f"{where} is {described(label)}, as if y was continuous; labels that "
                "are floats must be whole numbers: use str or int for others."
            )


def label_lists(y: Any, name: str = "y") -> list[list[Any] | tuple[Any, ...]]:
    """Return the labels of each sequence as a list or a tuple.

    Raise TypeError if `y`, called `name`, or one of its sequences is not a list.
    """
    check_container(y, name)
    return [_label_list(labels, i, name) for i, labels in enumerate(y)]


def flat_labels(y: Any, lengths: ArrayLike, name: str = "y") -> list[Any]:
    """Return all labels of `y` in one list, as plain Python values of one type.

    The errors are those of `encode_labels`, but `y` may have no labels.
    """
    if y is None:
        raise ValueError(
            f"this method requires {name} to be passed, but {name} is None."
        )
    sequences = _lists_as_long(y, lengths, name)
    flat = list(chain.from_iterable(sequences))
    types = set(map(type, flat))
    if not types <= {str} and not types <= {int}:
        flat = [_plain_label(label) for label in flat]
        _check_one_type(flat, lengths, name)
    return flat


def _lists_as_long(y, lengths, name):
    """Return the label lists, whose number and lengths must be those of X."""
    sequences = label_lists(y, name)
    if len(sequences) != len(lengths):
        raise ValueError(
            f"X has {len(lengths)} sequences, but {name} has {len(sequences)}."
        )
    for i, (labels, length) in enumerate(zip(sequences, lengths, strict=True)):
        if len(labels) != length:
            raise ValueError(
                f"Sequence {i} has {length} items in X, but {len(labels)} labels in "
                f"{name}."
            )
    return sequences


def _label_list(labels, index, name):
    if isinstance(labels, (list, tuple)):
        return labels
    if len(getattr(labels, "shape", ())) == 1 and not sp.issparse(labels):
        labels = unmasked(labels, f"{name}: sequence {index}")
        return plain_labels(labels)
    raise TypeError(
        f"{name}: sequence {index} is {described(labels)}; {name} must be a list of "
        "label lists, with one label for each item of the sequence."
    )


def _plain_label(label):
    if isinstance(label, str):
        return str.__str__(label)
    if isinstance(label, np.generic) and label.dtype.kind in "biufS":
        return label.item()
    return label


def _check_one_type(flat, lengths, name):
    label_type = type(flat[0])
    # No label of these types is missing, and there may be millions.
    is_plain = label_type in (str, bytes, bool, int)
    wrong = (
        t
        for t, label in enumerate(flat)
        if type(label) is not label_type or (not is_plain and _is_missing(label))
    )
    t = next(wrong, None)
    if t is None:
        return
    where = f"{_place(t, lengths, name)} is {described(flat[t])}"
    if _is_missing(flat[t]):
        raise ValueError(f"{where}; a label is needed.")
    raise TypeError(
        f"{where}, but the first label is {described(flat[0])}; "
        "labels must be of one type."
    )


def _is_missing(label):
    """Return whether a label is None, NaN, NaT or NA."""
    if getattr(label, "shape", ()) != ():
        # No label, but not missing either. Some arrays warn when they are compared.
        return False
    try:
        return label is None or not label == label
    except (TypeError, ValueError, ArithmeticError):
        return True


def _place(t, lengths, name):
    """Return the sequence and the position of label t of all, for a message."""
    offsets = np.cumsum([0, *lengths])
    i = int(np.searchsorted(offsets, t, side="right")) - 1
    return f"{name}: sequence {i}, position {t - offsets[i]}"


def _class_array(classes):
    if isinstance(classes[0], (str, bytes, bool, int, float)):
        array = np.array(classes)
        given_back = array.tolist()
        if given_back == classes and type(given_back[0]) is type(classes[0]):
            return array
    return np.fromiter(classes, dtype=object, count=len(classes))


def _codes(flat, classes):
    index = {label: code for code, label in enumerate(classes)}
    return np.fromiter((index.get(label, -1) for label in flat), np.int32, len(flat))
