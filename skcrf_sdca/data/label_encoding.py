"""Labels to numbers and back: labels come back equal, and of the type they were.

The module is long because labels come in many forms: lists of any hashable objects,
arrays, one array for all positions, and lists in which some labels are not known.
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
    """Encode the labels of `y` as indices into the sorted classes.

    Parameters
    ----------
    y : iterable of n_sequences list, tuple or ndarray of labels
        Labels of one type: str, int, bool, float, bytes, or any other type whose
        values can be hashed and sorted.
    lengths : array-like of int of shape (n_sequences,)
        Number of positions of each sequence of X.

    Returns
    -------
    classes : ndarray of shape (n_labels,)
        Distinct labels, sorted. Of dtype object where a NumPy type would not give the
        labels back equal (a str that ends in NUL, an int beyond 64 bits).
    labels : ndarray of int32 of shape (n_positions,)
        Index in `classes` of each label.

    Raises
    ------
    ValueError
        If y is None, has no labels, or its lengths are not those of X.
    TypeError
        If a sequence is not a list of labels, or the labels are not of one type.

    Examples
    --------
    >>> from skcrf_sdca.data.label_encoding import encode_labels
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
    return _class_array(classes), _codes(flat, classes)


def encode_flat_labels(y: NDArray[Any]) -> tuple[NDArray[Any], NDArray[np.int32]]:
    """Encode the labels of all positions, given in one array, block by block.

    Parameters
    ----------
    y : ndarray of shape (n_positions,)
        Of str, bytes, bool or int, not masked; it may be mapped from a file.

    Returns
    -------
    classes, labels
        As of `encode_labels`.
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
    """Encode the labels of `y` as indices into the classes of a fitted model.

    Parameters
    ----------
    y : iterable of n_sequences list, tuple or ndarray of labels
        Labels of the type of `classes`.
    lengths : array-like of int of shape (n_sequences,)
        Number of positions of each sequence of X.
    classes : ndarray of shape (n_labels,)
        As `encode_labels` returns it.
    name : str, default="y"
        Name of the argument, for the message.

    Returns
    -------
    ndarray of int32 of shape (n_positions,)
        Index in `classes` of each label, -1 where it is none of them.

    Raises
    ------
    ValueError, TypeError
        As `encode_labels`; and TypeError if the labels are of another type than
        `classes`.

    Examples
    --------
    >>> from skcrf_sdca.data.label_encoding import encode_known_labels, encode_labels
    >>> classes, _ = encode_labels([["O", "B"]], [2])
    >>> encode_known_labels([["B", "I"]], [2], classes)
    array([ 0, -1], dtype=int32)
    """
    flat = flat_labels(y, lengths, name)
    known = classes.tolist()
    if flat and type(flat[0]) is not type(known[0]):
        raise TypeError(
            f"{name} has labels of type {type(flat[0]).__name__}, but the model was "
            f"fitted on labels of type {type(known[0]).__name__}."
        )
    return _codes(flat, known)


def encode_partial_labels(
    known: KnownLabels, lengths: ArrayLike, classes: NDArray[Any]
) -> NDArray[np.int32]:
    """Encode labels of which only some are known.

    Parameters
    ----------
    known : iterable of n_sequences list, tuple or ndarray of labels
        Labels of `classes`, and None where the label is not known.
    lengths : array-like of int of shape (n_sequences,)
        Number of positions of each sequence of X.
    classes : ndarray of shape (n_labels,)
        As `encode_labels` returns it.

    Returns
    -------
    ndarray of int32 of shape (n_positions,)
        Index in `classes` of each label, -1 where it is None.

    Raises
    ------
    ValueError
        If the lengths are not those of X, or a label is none of `classes`; the message
        names the sequence and the position.
    TypeError
        If a sequence is not a list of labels.

    Examples
    --------
    >>> import numpy as np
    >>> from skcrf_sdca.data.label_encoding import encode_partial_labels
    >>> encode_partial_labels([["O", None], [None]], [2, 1], np.array(["B", "O"]))
    array([ 1, -1, -1], dtype=int32)
    """
    sequences = _lists_as_long(known, lengths, "known")
    flat = list(chain.from_iterable(sequences))
    codes = label_codes(flat, classes)
    for t in np.flatnonzero(codes < 0):
        if flat[t] is not None:
            raise ValueError(
                f"{_place(t, sequences, 'known')} is {described(flat[t])}; it must be "
                "a label that was in fit, or None where the label is free."
            )
    return codes


def label_codes(labels: list[Any], classes: NDArray[Any]) -> NDArray[np.int32]:
    """Look up labels among the classes of a fitted model.

    Parameters
    ----------
    labels : list
        Anything; only a label of the same type is looked up.
    classes : ndarray of shape (n_labels,)
        As `encode_labels` returns it.

    Returns
    -------
    ndarray of int32 of shape (len(labels),)
        Index in `classes` of each label, -1 where it is none of them.

    Examples
    --------
    >>> import numpy as np
    >>> from skcrf_sdca.data.label_encoding import label_codes
    >>> label_codes(["O", "X", None], np.array(["B", "O"]))
    array([ 1, -1, -1], dtype=int32)
    """
    names = classes.tolist()
    label_type = type(names[0])
    plain = map(_plain_label, labels)
    # A bool is equal to an int, but not the same label.
    return _codes([v if type(v) is label_type else None for v in plain], names)


def decode_labels(
    paths: NDArray[np.integer[Any]],
    classes: NDArray[Any],
    offsets: NDArray[np.integer[Any]],
) -> NDArray[np.object_]:
    """Turn label numbers back into one list of labels per sequence.

    Parameters
    ----------
    paths : ndarray of int of shape (n_positions,)
        Index in `classes` of the label of each position.
    classes : ndarray of shape (n_labels,)
        As `encode_labels` returns it.
    offsets : ndarray of int of shape (n_sequences + 1,)
        Where each sequence starts, see `PackedSequences`.

    Returns
    -------
    ndarray of object of shape (n_sequences,)
        A list of labels for each sequence, also if all have the same length.

    Examples
    --------
    >>> import numpy as np
    >>> from skcrf_sdca.data.label_encoding import decode_labels
    >>> decode_labels(np.array([1, 0]), np.array(["B", "O"]), np.array([0, 1, 2]))
    array([list(['O']), list(['B'])], dtype=object)
    """
    return split_rows(classes.astype(object)[paths].tolist(), offsets)


def label_lists(y: Any, name: str = "y") -> list[list[Any] | tuple[Any, ...]]:
    """Return the labels of every sequence in a list or tuple of its own.

    Parameters
    ----------
    y : iterable of n_sequences list, tuple or 1-D array of labels
    name : str, default="y"
        Name of the argument, for the message.

    Returns
    -------
    list of n_sequences list or tuple

    Raises
    ------
    TypeError
        If y, or one of its sequences, is not a list.

    Examples
    --------
    >>> import numpy as np
    >>> from skcrf_sdca.data.label_encoding import label_lists
    >>> label_lists([["O", "B"], np.array(["O"])])
    [['O', 'B'], ['O']]
    """
    check_container(y, name)
    return [_label_list(labels, i, name) for i, labels in enumerate(y)]


def flat_labels(y: Any, lengths: ArrayLike, name: str = "y") -> list[Any]:
    """Return all labels in one list, as plain Python values of one type.

    Parameters
    ----------
    y, lengths
        As for `encode_labels`.
    name : str, default="y"
        Name of the argument, for the message.

    Returns
    -------
    list

    Raises
    ------
    ValueError, TypeError
        As `encode_labels`, but y may have no labels.

    Examples
    --------
    >>> from skcrf_sdca.data.label_encoding import flat_labels
    >>> flat_labels([["O", "B"], ["O"]], [2, 1])
    ['O', 'B', 'O']
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
        _check_one_type(flat, sequences, name)
    return flat


def _lists_as_long(y, lengths, name):
    """Return the label lists, as many and as long as the sequences of X."""
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
        # tolist() would turn dates into numbers.
        return labels.tolist() if labels.dtype.kind in "OUSbiuf" else list(labels)
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


def _check_one_type(flat, sequences, name):
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
    where = f"{_place(t, sequences, name)} is {described(flat[t])}"
    if _is_missing(flat[t]):
        raise ValueError(f"{where}; a label is needed.")
    raise TypeError(
        f"{where}, but the first label is {described(flat[0])}; "
        "labels must be of one type."
    )


def _is_missing(label):
    """Return whether this is None, or not equal to itself as NaN, NaT and NA are."""
    if getattr(label, "shape", ()) != ():
        # No label, but not missing either. Some arrays warn when they are compared.
        return False
    try:
        return label is None or not label == label
    except (TypeError, ValueError, ArithmeticError):
        return True


def _place(t, sequences, name):
    """Return the sequence and the position of label t of all, for a message."""
    offsets = np.cumsum([0] + [len(labels) for labels in sequences])
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
