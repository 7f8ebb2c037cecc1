"""Conversion of labels to numbers and back, which keeps their values and types.

Labels come in many forms: lists of any hashable objects, arrays, one array for all
positions, labels of the rows of a table, and lists in which some labels are unknown.
The same rule holds for all forms: labels are of one type, none is missing but where it
may be unknown, and floats are whole numbers. Labels are not converted to a NumPy type
before they are checked, since that would change them.
"""

import warnings
from collections.abc import Callable
from itertools import chain, repeat
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from skcrf_sdca._utils.memory import BLOCK, check_fits
from skcrf_sdca._utils.messages import described
from skcrf_sdca._utils.ragged import split_rows
from skcrf_sdca._utils.typing import KnownLabels, Labels
from skcrf_sdca._utils.words import in_words, name_of, numbered, place, words
from skcrf_sdca.data.containers import (
    check_container,
    is_frame,
    is_missing,
    is_sparse,
    plain_column,
    unmasked,
)


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
    return _encode_known(flat_labels(y, lengths), lengths)


def _encode_known(flat, lengths):
    """Return the classes of the labels of all positions, and their indices."""
    if not flat:
        raise ValueError(f"{words().y} has 0 labels; at least one is required.")
    classes, codes = _encode(flat)
    _check_discrete(classes, codes, lengths)
    return label_array(classes), codes


# The types of what may stand for a label that is not known exactly.
_INEXACT = {type(None), set, frozenset, dict}
# Probabilities of a position sum to 1 but for this, the rounding of single precision.
_SUM_TOLERANCE = 1e-6


def encode_training_labels(
    y: Labels, lengths: ArrayLike, unknown_label: Any = None
) -> tuple[NDArray[Any], NDArray[np.int32], NDArray[Any] | None]:
    """Encode labels that may be unknown, or have probabilities, at some positions.

    At a position y has a label; or None or `unknown_label`; or a set with the right
    label; or a dict of probabilities of labels. Or y has for each sequence an array of
    shape (T, K) of probabilities of the labels 0 to K - 1, as `predict_proba` returns
    them. Return the classes, the index of each label in them, -1 where there is not one
    label, and a row for each position: of bools, which classes are possible, or of
    floats, their probabilities. It is None if all labels are known.

    It raises the errors of `encode_labels`, and ValueError for an empty set, for
    probabilities that are none, for a y with probabilities and unknown labels, and if
    no label is known at all.

    >>> encode_training_labels([["B", None], [{"B", "O"}]], [2, 1])[1:]
    (array([ 0, -1, -1], dtype=int32), array([[ True, False],
           [ True,  True],
           [ True,  True]]))
    >>> encode_training_labels([["B", {"B": 0.25, "O": 0.75}]], [2])[2]
    array([[1.  , 0.  ],
           [0.25, 0.75]])
    """
    _check_passed(y, "y")
    if (rows := _arrays_of_probabilities(y, lengths)) is not None:
        return _with_rows(np.arange(rows.shape[1]), rows)
    flat = list(chain.from_iterable(lists_as_long(y, lengths, "y")))
    types = set(map(type, flat))
    if unknown_label is None and _INEXACT.isdisjoint(types):
        flat = _labels_of_one_type(flat, lengths, "y", or_none=True)
        return *_encode_known(flat, lengths), None
    read = _label_probabilities if dict in types else _some_labels
    labels, values, positions = _possible_labels(flat, lengths, unknown_label, read)
    labels = _labels_of_one_type(labels, lengths, "y", positions, or_none=True)
    classes, codes = _encode(labels)
    _check_discrete(classes, codes, lengths, positions)
    check_fits(
        8 * len(flat) * len(classes),
        f"what {words().y} says of {len(classes)} labels at {len(flat)} "
        f"{words().position}s",
        f"join labels that are rare, or leave out {words().sequence}s without known "
        "labels",
    )
    rows = np.zeros((len(flat), len(classes)))
    rows[positions, codes] = values
    if dict not in types:
        rows = rows.astype(bool)
        rows[~rows.any(axis=1)] = True
    return _with_rows(label_array(classes), rows)


def _with_rows(classes, rows):
    """Return the classes, the index of each label, -1 if inexact, and the rows."""
    codes = rows.argmax(axis=1).astype(np.int32)
    exact = np.count_nonzero(rows, axis=1) == 1
    if exact.all():
        return classes, codes, None
    codes[~exact] = -1
    return classes, codes, rows


def _arrays_of_probabilities(y, lengths):
    """Return the rows of a y that is an array of floats for each sequence, or None."""
    is_list = isinstance(y, (list, tuple, np.ndarray)) and len(y)
    if not is_list or not all(map(_is_float_table, y)):
        return None
    arrays, n_labels = list(y), y[0].shape[1]
    if len(arrays) != len(lengths):
        raise ValueError(
            f"{words().X} has {len(lengths)} {words().sequence}s, but {words().y} has "
            f"{len(arrays)}."
        )
    for i, (array, length) in enumerate(zip(arrays, lengths, strict=True)):
        if array.shape != (length, n_labels):
            raise ValueError(
                f"{place('y', i)} is an array of probabilities of shape {array.shape}, "
                f"but must have shape {(int(length), n_labels)}: a row for each "
                f"{words().item}, and as many labels as the first."
            )
    rows = np.ascontiguousarray(np.concatenate(arrays), dtype=float)
    wrong = ~((rows >= 0).all(axis=1) & (abs(rows.sum(axis=1) - 1.0) <= _SUM_TOLERANCE))
    for t in np.flatnonzero(wrong)[:1]:
        raise ValueError(
            f"{_place(t, lengths, 'y')} has the row {rows[t].tolist()!r:.60}; it must "
            "have probabilities of labels, not negative, with the sum 1"
        )
    return rows


def _is_float_table(array):
    return isinstance(array, np.ndarray) and array.ndim == 2 and array.dtype.kind == "f"


def _possible_labels(flat, lengths, unknown_label, read):
    """Return the labels that ``read`` finds, a value of each, and where y has them."""
    labels, values, positions = [], [], []
    for t, label in enumerate(flat):
        try:
            found = read(None if is_unknown(label, unknown_label) else label)
        except ValueError as error:
            raise ValueError(f"{_place(t, lengths, 'y')} is {error}") from None
        labels += found[0]
        values += found[1]
        positions += [t] * len(found[0])
    if not labels:
        raise ValueError(
            f"{words().y} has {len(flat)} {words().position}s, and no label is known; "
            "at least one is required."
        )
    return labels, values, positions


def _some_labels(label):
    """Return the labels that are possible where y has `label`, none if all are.

    And a 1 for each.
    """
    if not isinstance(label, (set, frozenset)):
        return ([], []) if label is None else ([label], [1.0])
    if not label:
        raise ValueError(
            "an empty set; give the labels of which one is right, or None if any may be"
        )
    return list(label), [1.0] * len(label)


def _label_probabilities(label):
    """Return the labels where y has `label`, and their probabilities."""
    if label is None or isinstance(label, (set, frozenset)):
        raise ValueError(
            f"{described(label)}, while other {words().position}s have probabilities; "
            f"give a label, or a dict of probabilities, at every {words().position}"
        )
    if not isinstance(label, dict):
        return [label], [1.0]
    numbers = all(isinstance(p, Real) and 0.0 <= p for p in label.values())
    if not numbers or not abs(sum(label.values()) - 1.0) <= _SUM_TOLERANCE:
        raise ValueError(
            f"{described(label)} {label!r:.60}; its values must be probabilities of "
            "labels, not negative, with the sum 1"
        )
    return list(label), list(map(float, label.values()))


def is_unknown(label: Any, unknown_label: Any) -> bool:
    """Return whether a label is None, or the one that stands for unknown labels."""
    if label is None or unknown_label is None:
        return label is None
    label, unknown_label = _plain_label(label), _plain_label(unknown_label)
    return type(label) is type(unknown_label) and bool(label == unknown_label)


def _encode(flat):
    """Return the sorted distinct labels, a list, and the index of each label."""
    try:
        classes = sorted(set(flat))
    except TypeError as error:
        raise TypeError(
            f"{words().y}: labels must be hashable and sortable, got "
            f"{described(flat[0])}: {error}"
        ) from error
    return classes, _codes(flat, classes)


def encode_flat_labels(
    y: NDArray[Any], new: Callable[..., NDArray[Any]] = np.empty
) -> tuple[NDArray[Any], NDArray[np.int32]]:
    """Encode the labels of all positions, given in one array, as `encode_labels` does.

    The array may be mapped from a file: it is read block by block. ``new`` makes the
    array of the codes.
    """
    y = unmasked(y, "y")
    blocks = [y[begin : begin + BLOCK] for begin in range(0, len(y), BLOCK)]
    classes = np.unique(np.concatenate([np.unique(block) for block in blocks]))
    labels = new((len(y),), np.int32)
    for i, block in enumerate(blocks):
        labels[i * BLOCK : (i + 1) * BLOCK] = np.searchsorted(classes, block)
    return label_array(classes.tolist()), labels


def encode_row_labels(
    y: Labels, lengths: ArrayLike, unknown_label: Any = None
) -> tuple[NDArray[Any], NDArray[np.int32], NDArray[Any] | None]:
    """Encode the labels of the rows of a table, as `encode_training_labels` does.

    The rows are cut into sequences of these `lengths`. If `y` is an array, the classes
    have its dtype, as in scikit-learn.
    """
    labels: Any = row_labels(y)
    rows = None
    if len(labels) == np.sum(lengths) and is_typed(labels) and unknown_label is None:
        classes, codes = encode_flat_labels(labels)
    else:
        classes, codes, rows = encode_training_labels(
            cut_labels(labels, lengths), lengths, unknown_label
        )
    if isinstance(labels, np.ndarray) and labels.ndim == 1:
        classes = classes.astype(labels.dtype)
    return classes, codes, rows


def encode_known_labels(
    y: Labels,
    lengths: ArrayLike,
    classes: NDArray[Any],
    *,
    name: str = "y",
    or_none: bool = False,
) -> NDArray[np.int32]:
    """Return the index in `classes` of each label of `y`, -1 for other labels.

    `name` stands for `y` in messages, which say that None stands for an unknown label
    if `or_none`. It raises the errors of `encode_labels`, and TypeError if the labels
    are of another type than `classes`.
    """
    flat = flat_labels(y, lengths, name, or_none=or_none)
    known = plain_labels(classes)
    if flat and type(flat[0]) is not type(known[0]):
        raise TypeError(
            f"{name_of(name)} has labels of type {type(flat[0]).__name__}, but the "
            f"model was fitted on labels of type {type(known[0]).__name__}."
        )
    return _codes(flat, known)


def encode_announced_labels(
    y: Labels, lengths: ArrayLike, classes: NDArray[Any]
) -> NDArray[np.int32]:
    """Return the index in `classes` of each label of `y`.

    It raises the errors of `encode_known_labels`, and ValueError with the sequence and
    the position of a label that is not in `classes`.
    """
    codes = encode_known_labels(y, lengths, classes)
    for t in np.flatnonzero(codes < 0)[:1]:
        raise ValueError(
            f"{_place(t, lengths, 'y')} is {described(flat_labels(y, lengths)[t])}, "
            "which no chunk before had: announce new labels by classes=."
        )
    return codes


def merged_classes(known: NDArray[Any] | None, new: Any) -> NDArray[Any]:
    """Return the sorted distinct labels of `known` and of `new`, called classes.

    Raise ValueError or TypeError if `new` is no list of labels, or all are not of one
    type.
    """
    labels = [] if known is None else plain_labels(known)
    if not isinstance(new, (list, tuple, range)) and np.ndim(new) != 1:
        raise TypeError(f"classes must be a list of labels, got {described(new)}.")
    lists = [labels, list(label_lists([list(new)], "classes")[0])]

    def place_of_class(argument, i, *, position):
        return f"classes: item {position}"

    with in_words(y="classes", place=place_of_class):
        return encode_labels(lists, list(map(len, lists)))[0]


def encode_labels_beside(
    known: NDArray[Any],
    y: Labels,
    lengths: ArrayLike,
    unknown_label: Any = None,
    argument: str = "prior",
) -> tuple[NDArray[Any], NDArray[np.int32], NDArray[Any] | None]:
    """Encode label lists as `encode_training_labels`, as labels of a known model too.

    The classes are the sorted distinct labels of `y` and of `known`, which messages say
    is from an argument.

    >>> encode_labels_beside(np.array(["A", "C"]), [["B", "C"]], [2])[:2]
    (array(['A', 'B', 'C'], dtype='<U1'), array([1, 2], dtype=int32))
    """
    _check_passed(y, "y")
    lists = [*lists_as_long(y, lengths, "y"), plain_labels(known)]
    all_lengths = np.append(lengths, len(known)).astype(np.int64)

    usual_place, n_own = words().place, len(lists) - 1

    def place_of_label(name, i, *, position):
        if i == n_own:
            return f"{argument}: class {position}"
        return usual_place(name, i, position=position)

    with in_words(place=place_of_label):
        classes, labels, rows = encode_training_labels(
            lists, all_lengths, unknown_label
        )
    n = len(labels) - len(known)
    return classes, labels[:n], None if rows is None else rows[:n]


def without_unknown_labels(
    y: Labels, lengths: ArrayLike, classes: NDArray[Any], unknown_label: Any = None
) -> tuple[Any, NDArray[np.float64] | None]:
    """Return label lists with any class in place of unknown labels, and 0 for these.

    The second array has one number for each position, 1 for a known label; None if all
    are known.
    """
    _check_passed(y, "y")
    sequences = lists_as_long(y, lengths, "y")
    flat = list(chain.from_iterable(sequences))
    if unknown_label is None and type(None) not in set(map(type, flat)):
        return sequences, None
    unknown = [is_unknown(label, unknown_label) for label in flat]
    if not any(unknown):
        return sequences, None
    if all(unknown):
        raise ValueError(f"{words().y} has no known label: there is nothing to score.")
    label = plain_labels(classes)[0]
    filled = [label if u else v for u, v in zip(unknown, flat, strict=True)]
    offsets = np.concatenate([[0], np.cumsum(lengths, dtype=np.int64)])
    return split_rows(filled, offsets), 1.0 - np.array(unknown)


def encode_partial_labels(
    known: KnownLabels, lengths: ArrayLike, classes: NDArray[Any]
) -> NDArray[np.int32]:
    """Return the index in `classes` of each label of `known`, -1 where it is None.

    Raise ValueError with the sequence and the position of any other label.

    >>> encode_partial_labels([["O", None], [None]], [2, 1], np.array(["B", "O"]))
    array([ 1, -1, -1], dtype=int32)
    """
    sequences = lists_as_long(known, lengths, "known")
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
    return labels.tolist() if labels.dtype.kind in "OUSbiufc" else list(labels)


def label_objects(labels: NDArray[Any]) -> NDArray[np.object_]:
    """Return the labels of an array in one of dtype object, as plain values."""
    return np.fromiter(plain_labels(labels), dtype=object, count=len(labels))


def label_lists(y: Any, name: str = "y") -> list[list[Any] | tuple[Any, ...]]:
    """Return the labels of each sequence as a list or a tuple.

    Raise TypeError if `y`, called `name`, or one of its sequences is not a list.
    """
    y = plain_column(y)
    check_container(y, name)
    return [_label_list(labels, i, name) for i, labels in enumerate(y)]


def row_labels(y: Any, name: str = "y") -> list[Any] | NDArray[Any]:
    """Return the labels of the rows of a table, as an array if `y` is one, or a list.

    A column of shape (n, 1) is accepted with a warning, as in scikit-learn. An array of
    float with more columns has the probabilities of the labels.
    """
    _check_passed(y, name)
    y = plain_column(y)
    if is_sparse(y) or not is_frame(y):
        check_container(y, name)
    if is_sparse(y):
        name = name_of(name)
        raise TypeError(f"{name} is a sparse matrix; pass {name}.toarray().ravel().")
    if hasattr(y, "__array__"):
        y = unmasked(y, name)
    else:
        y = list(y)
        if not (y and isinstance(y[0], list)):
            return y
        # With another dtype NumPy would change the labels.
        y = np.array(y, dtype=object)
    is_soft = _is_float_table(y) and y.shape[1] > 1
    return y if y.ndim == 1 or is_soft else _raveled(y, name_of(name))


def _raveled(y, name):
    """Return the labels in an array of one column, as scikit-learn takes them."""
    if y.ndim != 2 or y.shape[1] != 1:
        raise ValueError(
            f"{name} should be a 1d array, got an array of shape {y.shape} instead."
        )
    # Only here: what reads text imports this module, and no scikit-learn.
    from sklearn.exceptions import DataConversionWarning

    warnings.warn(
        f"A column-vector {name} was passed when a 1d array was expected; pass "
        f"{name}.ravel()",
        DataConversionWarning,
        stacklevel=2,
    )
    return y.ravel()


def cut_labels(
    labels: list[Any] | NDArray[Any], lengths: ArrayLike, name: str = "y"
) -> NDArray[np.object_]:
    """Return the labels of the rows of a table as label lists of these lengths."""
    is_soft = _is_float_table(labels)
    flat: Any = labels if is_soft else flat_list(labels, name)
    n_rows, offsets = np.sum(lengths), np.append(0, np.cumsum(lengths)).astype(np.int64)
    if len(flat) != n_rows:
        raise ValueError(
            f"{words().X} has {n_rows} rows, but {name_of(name)} has {len(flat)} "
            "labels."
        )
    return split_rows(flat, offsets)


def is_typed(y: Any) -> bool:
    """Return whether y is an array whose dtype allows one type and no missing label."""
    return isinstance(y, np.ndarray) and y.ndim == 1 and y.dtype.kind in "USbiu"


def is_flat(y: Any) -> bool:
    """Return whether y is one array or column of labels, not one of label lists."""
    if is_typed(y) or len(getattr(y, "shape", ())) != 1 or is_sparse(y):
        return is_typed(y)
    first: Any = next(iter(flat_list(y, "y")), None)
    return not isinstance(first, (list, tuple)) and np.ndim(first) == 0


def flat_list(labels: Any, where: str) -> list[Any]:
    """Return an array or a column of labels, called `where`, as a list."""
    labels = plain_column(labels)
    if isinstance(labels, list):
        return labels
    return plain_labels(unmasked(labels, where))


def comparable_lists(y_true: Any, y_pred: Any, lengths: ArrayLike) -> tuple[Any, Any]:
    """Return true and predicted label lists with labels as plain Python values.

    Raise ValueError or TypeError if a label is missing, or not all are of one type.
    """
    offsets = np.concatenate([[0], np.cumsum(lengths, dtype=np.int64)])
    pairs = (y_true, "y_true"), (y_pred, "y_pred")
    true, predicted = (flat_labels(y, lengths, name) for y, name in pairs)
    if true and type(true[0]) is not type(predicted[0]):
        raise TypeError(
            f"y_pred has labels of type {type(predicted[0]).__name__}, but "
            f"{words().y_true} of type {type(true[0]).__name__}; labels must be of one "
            "type."
        )
    return split_rows(true, offsets), split_rows(predicted, offsets)


def flat_labels(
    y: Any, lengths: ArrayLike, name: str = "y", *, or_none: bool = False
) -> list[Any]:
    """Return all labels of `y` in one list, as plain Python values of one type.

    It raises the errors of `encode_labels`, but `y` may have no labels. Messages are as
    those of `encode_known_labels`.
    """
    _check_passed(y, name)
    sequences = lists_as_long(y, lengths, name)
    flat = list(chain.from_iterable(sequences))
    return _labels_of_one_type(flat, lengths, name, or_none=or_none)


def _labels_of_one_type(flat, lengths, name, positions=None, *, or_none=False):
    """Return labels as plain Python values; an error names the position of a label."""
    types = set(map(type, flat))
    if not types <= {str} and not types <= {int}:
        flat = [_plain_label(label) for label in flat]
        _check_one_type(flat, lengths, name, positions, or_none)
    return flat


def label_array(labels: list[Any]) -> NDArray[Any]:
    """Return labels of one type as an array that gives them back unchanged.

    Its dtype is object where an array of a NumPy type would change the labels.
    """
    if labels and isinstance(labels[0], (str, bytes, bool, int, float)):
        array = np.array(labels)
        given_back = array.tolist()
        if given_back == labels and type(given_back[0]) is type(labels[0]):
            return array
    return np.fromiter(labels, dtype=object, count=len(labels))


def _check_passed(y, name):
    if y is None:
        raise ValueError(
            f"this method requires {name_of(name)} to be passed, but {name_of(name)} "
            "is None."
        )


def lists_as_long(y: Any, lengths: Any, name: str) -> list[list[Any] | tuple[Any, ...]]:
    """Return the label lists, which must have the number and lengths of X's."""
    sequences = label_lists(y, name)
    if len(sequences) != len(lengths):
        raise ValueError(
            f"{words().X} has {len(lengths)} {words().sequence}s, but {name_of(name)} "
            f"has {len(sequences)}."
        )
    for i, (labels, length) in enumerate(zip(sequences, lengths, strict=True)):
        if len(labels) != length:
            raise ValueError(
                f"{numbered(i).capitalize()} has {length} {words().item}s in "
                f"{words().X}, but {len(labels)} labels in {name_of(name)}."
            )
    return sequences


def _label_list(labels, index, name):
    if isinstance(labels, (list, tuple)):
        return labels
    # No mask, no column: there may be many short arrays.
    if type(labels) is np.ndarray and labels.ndim == 1:
        return plain_labels(labels)
    if len(getattr(labels, "shape", ())) == 1 and not is_sparse(labels):
        return flat_list(labels, (name, index))
    raise TypeError(
        f"{place(name, index)} is {described(labels)}; {name_of(name)} must be a list "
        f"of label lists, with one label for each {words().item} of the "
        f"{words().sequence}."
    )


def _plain_label(label):
    if isinstance(label, np.ndarray) and label.ndim == 0:
        label = label[()]
    if isinstance(label, str):
        return str.__str__(label)
    if isinstance(label, np.generic) and label.dtype.kind in "biufcS":
        return label.item()
    return label


def _check_one_type(flat, lengths, name, positions, or_none):
    label_type = type(flat[0])
    # No label of these types is missing, and there may be millions.
    is_plain = label_type in (str, bytes, bool, int)
    wrong = (
        t
        for t, label in enumerate(flat)
        if type(label) is not label_type or (not is_plain and _is_inexact(label))
    )
    t = next(wrong, None)
    if t is None:
        return
    at = t if positions is None else positions[t]
    where = f"{_place(at, lengths, name)} is {described(flat[t])}"
    if _is_inexact(flat[t]):
        advice = ", or None where it is not known" if or_none else ""
        raise ValueError(f"{where}; a label is needed{advice}.")
    raise TypeError(
        f"{where}, but the first label is {described(flat[0])}; "
        "labels must be of one type."
    )


def _check_discrete(classes, codes, lengths, positions=None):
    """Raise ValueError with the place of a label that is a fraction, as 0.5.

    Such numbers are targets of a regression: scikit-learn refuses them too. `codes` are
    the indices in `classes`, a list, of all labels of y, or of those at `positions`.
    """
    for k, label in enumerate(classes):
        is_float = isinstance(label, (float, np.floating))
        if is_float and not float(label).is_integer():
            first = int(np.argmax(codes == k))
            at = first if positions is None else positions[first]
            where = _place(at, lengths, "y")
            raise ValueError(
                f"{where} is {described(label)}, as if {words().y} was continuous; "
                "labels that are floats must be whole numbers: use str or int for "
                "others."
            )


def _is_inexact(label):
    """Return whether labels are possible or probable in the place of one, or none."""
    return type(label) in _INEXACT or is_missing(label)


def _place(t, lengths, name):
    """Return the sequence and the position of label t of all, for a message."""
    offsets = np.cumsum([0, *lengths])
    i = int(np.searchsorted(offsets, t, side="right")) - 1
    return place(name, i, position=t - offsets[i])


def _codes(flat, classes):
    index = {label: code for code, label in enumerate(classes)}
    return np.fromiter(map(index.get, flat, repeat(-1)), np.int32, len(flat))


def widened(table: NDArray[Any], columns: list[int], n_columns: int) -> NDArray[Any]:
    """Return probabilities in these columns of a wider table, which is 0 elsewhere."""
    wide = np.zeros((len(table), n_columns))
    wide[:, columns] = table
    return wide
