"""What a user may pass as X: the only place that looks at containers and kinds."""

import numbers
from collections.abc import Iterable, Mapping, Set

import numpy as np
import scipy.sparse as sp

from skcrf_sdca._utils.messages import described
from skcrf_sdca.data.packed import PackedSequences
from skcrf_sdca.data.rows import checked_sparse, unmasked

PACKED, DICTS, STRINGS, ARRAYS, TABLE = "packed", "dicts", "strings", "arrays", "table"

_WRAP = "if X is a single sequence, wrap it in a list: [X]"


def check_container(X, name="X"):
    """Raise TypeError if `X` cannot hold sequences in a defined order.

    Parameters
    ----------
    X : object
        Argument of a user.
    name : str, default="X"
        Its name, for the message.

    Raises
    ------
    TypeError
        If `X` is None, a str, bytes, dict or set, a scalar of NumPy, or cannot be
        iterated over.

    Examples
    --------
    >>> from skcrf_sdca.data.input_formats import check_container
    >>> check_container([[{"word": "a"}]])
    """
    readable = isinstance(X, Iterable) or hasattr(X, "__array__")
    is_scalar = getattr(X, "shape", None) == ()
    if not readable or is_scalar or isinstance(X, (str, bytes, Mapping, Set)):
        raise TypeError(
            f"{name} must be a list of sequences, got {type(X).__name__} instead."
        )


def as_sequence_list(X, *, name="X"):
    """Return `X` in a form that can be read more than once.

    Parameters
    ----------
    X : PackedSequences, table, or iterable of sequences
        Generators, iterators and one-dimensional data-frame columns become lists.
    name : str, default="X"
        Name of the argument, for the message.

    Returns
    -------
    PackedSequences, list, tuple, ndarray, sparse matrix or data frame
        `X` itself if it is one of these.

    Raises
    ------
    TypeError
        If `X` is not a container of sequences, see `check_container`.
    ValueError
        If it is a sparse matrix that is not a valid one, or has masked entries.

    Examples
    --------
    >>> from skcrf_sdca.data.input_formats import as_sequence_list
    >>> as_sequence_list(sequence for sequence in [[["a"]], [["b"]]])
    [[['a']], [['b']]]
    """
    if sp.issparse(X):
        checked_sparse(X, name)
        return X
    if isinstance(X, (PackedSequences, list, tuple)):
        return X
    if isinstance(X, np.ndarray):
        return unmasked(X, name)
    check_container(X, name)
    if len(getattr(X, "shape", ())) == 2:
        return X
    return list(X) if isinstance(X, Iterable) else np.asarray(X)


def input_kind(X, *, default=None):
    """Tell what the sequences of `X` are made of.

    Parameters
    ----------
    X : PackedSequences, list, tuple, ndarray, sparse matrix or data frame
        As `as_sequence_list` returns it.
    default : str, default=None
        Kind to return if `X` has no items (prediction: the kind seen in fit).
        By default that is an error.

    Returns
    -------
    str
        ``"packed"``, ``"dicts"``, ``"strings"`` (items are lists of str), ``"arrays"``
        (sequences are 2-D) or ``"table"``: `X` is one table of numbers, that is a chain
        of one node per row.

    Raises
    ------
    TypeError
        If `X` is neither of these, or mixes them; the message names the sequence and
        the item.
    ValueError
        If `X` has no items and no `default` is given.

    Examples
    --------
    >>> from skcrf_sdca.data.input_formats import input_kind
    >>> input_kind([[{"word": "a"}, {"word": "b"}], []])
    'dicts'
    >>> input_kind([[1.0, 2.0], [3.0, 4.0]])
    'table'
    """
    if not _is_packed(X) and _is_table(X):
        return TABLE
    kind, n_items = _packed_or_common_kind(X)
    if n_items or kind == TABLE:
        return kind
    if default is None:
        raise ValueError(
            f"X has {len(X)} sequences and 0 items; "
            "at least one sequence with one item is required."
        )
    return default


def sequence_kind(sequence, index):
    """Tell what one sequence is made of, see `input_kind`.

    Parameters
    ----------
    sequence : list, tuple, ndarray, sparse matrix or data frame
        One sequence of X.
    index : int
        Its number in X, for messages.

    Returns
    -------
    str or None
        ``"dicts"``, ``"strings"``, ``"arrays"``, ``"table"`` (a row of numbers), or
        None if the sequence is an empty list. Only the first entry of each list of
        strings is looked at.

    Raises
    ------
    TypeError
        If the sequence is none of these.

    Examples
    --------
    >>> from skcrf_sdca.data.input_formats import sequence_kind
    >>> sequence_kind([["w=a", "cap"], ["w=b"]], 0)
    'strings'
    """
    # A data frame has a shape, but no dtype of its own.
    code = getattr(getattr(sequence, "dtype", None), "kind", "f")
    n_axes = len(getattr(sequence, "shape", ()))
    if isinstance(sequence, (list, tuple)) or (n_axes == 1 and code == "O"):
        return _kind_of_plain_items(sequence) or _kind_of_items(sequence, index)
    is_row = n_axes == 1 and not (sp.issparse(sequence) or _is_packed(sequence))
    if (n_axes == 2 or is_row) and code not in "USV":
        return ARRAYS if n_axes == 2 else TABLE
    raise TypeError(
        f"X: sequence {index} is {described(sequence)}; a sequence must be a list of "
        f"dicts, a list of lists of str, a 2-D array or a sparse matrix ({_WRAP})."
    )


def _is_packed(X):
    return isinstance(X, PackedSequences)


def _is_table(X):
    if isinstance(X, (list, tuple)):
        return len(X) > 0 and all(map(_is_number, X))
    items = (Mapping, list, tuple, Set)
    if not isinstance(X, np.ndarray):
        if hasattr(X, "columns"):
            first_row = np.asarray(X[:1], dtype=object)
            if any(isinstance(cell, items) for cell in first_row.flat):
                raise TypeError(
                    "X is a data frame with lists or dicts in it: pass the column that "
                    f"holds the sequences, of {list(X.columns)}."
                )
        return True
    if X.dtype.kind == "O":
        return X.ndim == 2 and not all(isinstance(cell, items) for cell in X.flat)
    return X.ndim <= 2 and X.dtype.kind not in "US"


def _packed_or_common_kind(X):
    if _is_packed(X):
        return PACKED, X.n_positions
    if isinstance(X, np.ndarray) and X.dtype.kind in "USO":
        X = X.tolist()
    kind, first, n_items = None, None, 0
    for i, sequence in enumerate(X):
        found = sequence_kind(sequence, i)
        if found is None:
            continue
        n_items += sequence.shape[0] if hasattr(sequence, "shape") else len(sequence)
        if kind is None:
            kind, first = found, i
        elif found != kind:
            raise TypeError(
                f"X mixes kinds of input: sequence {i} is of kind {found!r}, but "
                f"sequence {first} is of kind {kind!r}."
            )
    return kind, n_items


def _kind_of_plain_items(sequence):
    """Kind of a sequence of dicts or lists alone, the common case; else None."""
    types = set(map(type, sequence))
    if types == {dict}:
        return DICTS
    if types in ({list}, {tuple}):
        firsts = {type(item[0]) for item in sequence if item}
        return STRINGS if firsts <= {str} else None
    return None


def _kind_of_items(sequence, index):
    kind = None
    for position, item in enumerate(sequence):
        found = _item_kind(item)
        if found is None:
            raise TypeError(
                f"X: sequence {index}, item {position} is {described(item)}; an item "
                f"must be a dict or a list of str ({_WRAP})."
            )
        if kind is None:
            kind = found
        elif found != kind:
            raise TypeError(
                f"X mixes kinds of input: sequence {index}, item {position} is "
                f"{described(item)}, but item 0 is {described(sequence[0])}."
            )
    return kind


def _item_kind(item):
    """Kind of the sequence that holds `item`, None if an item cannot be so."""
    if isinstance(item, Mapping):
        return DICTS
    if _is_number(item):
        return TABLE
    if isinstance(item, np.ndarray):
        return ARRAYS if item.ndim == 1 and item.dtype.kind in "biuf" else None
    if isinstance(item, (list, tuple, Set)):
        first = next(iter(item), "")
        if isinstance(first, str):
            return STRINGS
        return ARRAYS if _is_number(first) else None
    return None


def _is_number(value):
    return isinstance(value, (numbers.Number, np.bool_))
