"""Sequences end to end in one array, what kind of input X is, and label coding.

``PackedSequences`` is the only form of X that the rest of the package computes with;
the functions here are the only place that looks at the containers a user may pass.
"""

import numbers
from collections.abc import Iterable, Mapping, Set
from itertools import chain, pairwise

import numpy as np
import scipy.sparse as sp

PACKED, DICTS, STRINGS, ARRAYS, TABLE = "packed", "dicts", "strings", "arrays", "table"

_INT32_MAX = np.iinfo(np.int32).max
_WRAP = "if X is a single sequence, wrap it in a list: [X]"


class PackedSequences:
    """Sequences of feature rows laid end to end; immutable.

    Sequence i is the rows ``offsets[i]:offsets[i + 1]`` of `X`. The object has the
    length, the shape and the indexing of a 1-D array of sequences, so that
    scikit-learn splits it in cross-validation.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n_positions, n_features)
        The rows of all sequences. Finite numbers. Kept without a copy, behind
        read-only views, if it already has the form of the attribute `X`.
    offsets : array-like of int of shape (n_sequences + 1,)
        From 0 to n_positions, non-decreasing.

    Attributes
    ----------
    X : ndarray or csr_array of shape (n_positions, n_features)
        float64, read-only: a C-contiguous array, or a CSR array with int32 indices,
        sorted and without duplicates.
    offsets : ndarray of int64 of shape (n_sequences + 1,)
        Read-only.
    shape : tuple of int
        ``(n_sequences,)``.
    n_sequences, n_positions, n_features : int
        Sizes.
    lengths : ndarray of int64 of shape (n_sequences,)
        Number of positions of each sequence.
    is_sparse : bool
        Whether `X` is a CSR array.

    Raises
    ------
    ValueError
        If `X` or `offsets` do not have this form, or `X` holds NaN or infinity.

    Examples
    --------
    >>> from skcrf_sdca.data import PackedSequences
    >>> packed = PackedSequences([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]], [0, 2, 3])
    >>> packed
    PackedSequences(n_sequences=2, n_positions=3, n_features=2, dense)
    >>> packed[1]
    array([[1., 1.]])
    >>> packed[[1, 0]].lengths
    array([1, 2])
    """

    __slots__ = ("_X", "_offsets")

    def __init__(self, X, offsets):
        X = _as_csr(X) if sp.issparse(X) else _as_dense(X)
        self._X = X
        self._offsets = _as_offsets(offsets, X.shape[0])
        self._check_finite()

    @classmethod
    def from_sequences(cls, sequences, *, n_features=None):
        """Pack a list of 2-D arrays or a list of sparse matrices.

        Parameters
        ----------
        sequences : iterable of array-like or sparse matrix, each (length, n_features)
            All dense or all sparse. An empty list stands for an empty sequence.
        n_features : int, default=None
            Number of features if no sequence tells it (all are empty lists).

        Returns
        -------
        PackedSequences
            Dense if the sequences are.

        Raises
        ------
        TypeError
            If dense and sparse sequences are mixed, or one is not numeric.
        ValueError
            If a sequence is not two-dimensional or the numbers of features differ.

        Examples
        --------
        >>> import numpy as np
        >>> from skcrf_sdca.data import PackedSequences
        >>> PackedSequences.from_sequences([np.ones((2, 3)), np.ones((1, 3))]).lengths
        array([2, 1])
        """
        blocks = [_sequence_rows(rows, i) for i, rows in enumerate(sequences)]
        offsets = np.cumsum([0] + [0 if b is None else b.shape[0] for b in blocks])
        first, n_features = _common_form(blocks, n_features)
        blocks = [block for block in blocks if block is not None and block.shape[0]]
        if not blocks:
            empty = sp.csr_array if sp.issparse(first) else np.zeros
            return cls(empty((0, n_features)), offsets)
        if sp.issparse(first):
            return cls(sp.vstack(blocks, format="csr"), offsets)
        return cls(np.concatenate(blocks), offsets)

    @property
    def X(self):
        """Rows of all sequences, read-only."""
        return self._X

    @property
    def offsets(self):
        """First row of each sequence, and the number of rows; read-only."""
        return self._offsets

    @property
    def shape(self):
        """``(n_sequences,)``."""
        return (len(self),)

    @property
    def n_sequences(self):
        """Number of sequences."""
        return len(self)

    @property
    def n_positions(self):
        """Number of positions of all sequences together."""
        return self._X.shape[0]

    @property
    def n_features(self):
        """Number of features of a position."""
        return self._X.shape[1]

    @property
    def lengths(self):
        """Number of positions of each sequence."""
        return np.diff(self._offsets)

    @property
    def is_sparse(self):
        """Whether the rows are a CSR array."""
        return sp.issparse(self._X)

    def __len__(self):
        """Return the number of sequences."""
        return len(self._offsets) - 1

    def __iter__(self):
        """Yield the rows of each sequence, of shape (length, n_features)."""
        for start, stop in pairwise(self._offsets.tolist()):
            yield self._X[start:stop]

    def __getitem__(self, key):
        """Return the rows of one sequence, or several sequences packed."""
        # NumPy knows every kind of key, also the (key, ...) of scikit-learn.
        chosen = np.arange(len(self))[key]
        if chosen.ndim > 1:
            raise IndexError("PackedSequences has one axis, the key has more.")
        starts, stops = self._offsets[chosen], self._offsets[chosen + 1]
        if chosen.ndim == 0:
            return self._X[starts:stops]
        offsets = np.concatenate([[0], np.cumsum(stops - starts)])
        if len(chosen) and np.all(np.diff(chosen) == 1):
            return PackedSequences(self._X[starts[0] : stops[-1]], offsets)
        rows = np.repeat(starts - offsets[:-1], stops - starts) + np.arange(offsets[-1])
        return PackedSequences(self._X[rows], offsets)

    def __reduce__(self):
        """Pickle the two arrays; loading validates them again."""
        return PackedSequences, (self._X, self._offsets)

    def __repr__(self):
        """Return the sizes in one line."""
        form = "sparse" if self.is_sparse else "dense"
        return (
            f"PackedSequences(n_sequences={len(self)}, n_positions={self.n_positions}, "
            f"n_features={self.n_features}, {form})"
        )

    def _check_finite(self):
        values = self._X.data if self.is_sparse else self._X
        finite = np.isfinite(values)
        if finite.all():
            return
        entry = int(np.argmin(finite))
        if self.is_sparse:
            row = int(np.searchsorted(self._X.indptr, entry, side="right")) - 1
            feature = self._X.indices[entry]
        else:
            row, feature = divmod(entry, self.n_features)
        i = int(np.searchsorted(self._offsets, row, side="right")) - 1
        raise ValueError(
            f"X contains {'NaN' if np.isnan(values.flat[entry]) else 'infinity'}: "
            f"sequence {i}, position {row - self._offsets[i]}, feature {feature}; "
            "replace or remove such values."
        )


def _frozen(array):
    """Return a read-only view of a base-class ndarray."""
    view = np.asarray(array).view()
    view.flags.writeable = False
    return view


def _as_dense(X):
    X = _numeric(np.asarray(X), "X")
    _check_two_axes(X, "X")
    return _frozen(np.ascontiguousarray(X))


def _as_csr(X):
    _check_two_axes(X, "X")
    _check_dtype(X.dtype, "X")
    X = X.tocsr()
    if max(X.shape[1], X.nnz) > _INT32_MAX:
        raise ValueError(
            f"X has {X.shape[1]} features and {X.nnz} stored values; at most "
            f"{_INT32_MAX} of each are supported."
        )
    try:
        # An object of our own: checking and sorting must not touch the caller's.
        matrix = sp.csr_array((X.data, X.indices, X.indptr), shape=X.shape)
        matrix.check_format(full_check=True)
    except ValueError as error:
        raise ValueError(f"X is not a valid sparse matrix: {error}") from error
    if not matrix.has_canonical_format:
        matrix = matrix.copy()
        matrix.sum_duplicates()
    with np.errstate(over="ignore"):
        matrix.data = _frozen(matrix.data.astype(np.float64, copy=False))
    matrix.indices = _frozen(matrix.indices.astype(np.int32, copy=False))
    matrix.indptr = _frozen(matrix.indptr.astype(np.int32, copy=False))
    return matrix


def _as_offsets(offsets, n_rows):
    offsets = np.asarray(offsets)
    if offsets.ndim != 1 or offsets.dtype.kind not in "iu" or len(offsets) == 0:
        raise ValueError(
            "offsets must be a one-dimensional array of integers that starts with 0."
        )
    offsets = offsets.astype(np.int64)
    if offsets[0] != 0 or offsets[-1] != n_rows or np.any(np.diff(offsets) < 0):
        raise ValueError(
            f"offsets must go from 0 to the number of rows of X, {n_rows}, without "
            f"decreasing; got {offsets[0]} to {offsets[-1]}."
        )
    return _frozen(offsets)


def _check_two_axes(rows, where):
    if rows.ndim != 2:
        raise ValueError(
            f"{where} must be two-dimensional, (length, n_features), "
            f"got {rows.ndim} dimension(s)."
        )


def _check_dtype(dtype, where, kinds="biuf"):
    if dtype.kind == "c":
        raise ValueError(f"Complex data not supported: {where} has dtype {dtype}.")
    if dtype.kind not in kinds:
        raise TypeError(f"{where} must hold numbers, got dtype {dtype}.")


def _numeric(array, where):
    """Return `array` in float64, itself if it is so already."""
    _check_dtype(array.dtype, where, kinds="biufO")
    try:
        with np.errstate(over="ignore"):
            return array.astype(np.float64, copy=False)
    except (TypeError, ValueError, OverflowError) as error:
        raise ValueError(f"{where} must hold numbers: {error}") from error


def _sequence_rows(rows, index):
    """Return the rows of one sequence as CSR or float64, None for an empty list."""
    where = f"X: sequence {index}"
    if not sp.issparse(rows):
        try:
            rows = np.asarray(rows)
        except ValueError as error:
            raise ValueError(f"{where} has rows of different lengths.") from error
        if rows.shape in ((0,), (0, 0)):
            return None
        rows = _numeric(rows, where)
    _check_dtype(rows.dtype, where)
    _check_two_axes(rows, where)
    return rows.tocsr() if sp.issparse(rows) else rows


def _common_form(blocks, n_features):
    """Return a block all others agree with (None if none tells) and the width."""
    known = [(i, block) for i, block in enumerate(blocks) if block is not None]
    if not known:
        if n_features is None:
            raise ValueError("X has 0 items; at least one sequence needs an item.")
        return None, n_features
    first_index, first = known[0]
    for i, block in known:
        if block.shape[1] != first.shape[1]:
            raise ValueError(
                f"X: sequence {i} has {block.shape[1]} features, but sequence "
                f"{first_index} has {first.shape[1]}."
            )
        if sp.issparse(block) != sp.issparse(first):
            raise TypeError(
                f"X: sequence {i} is {'sparse' if sp.issparse(block) else 'dense'}, "
                f"but sequence {first_index} is not; use one kind for all."
            )
    return first, first.shape[1]


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
        If `X` is None, a str, bytes, dict or set, or cannot be iterated over.

    Examples
    --------
    >>> from skcrf_sdca.data import check_container
    >>> check_container([[{"word": "a"}]])
    """
    readable = isinstance(X, Iterable) or hasattr(X, "__array__")
    if not readable or isinstance(X, (str, bytes, Mapping, Set)):
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

    Examples
    --------
    >>> from skcrf_sdca.data import as_sequence_list
    >>> as_sequence_list(sequence for sequence in [[["a"]], [["b"]]])
    [[['a']], [['b']]]
    """
    if isinstance(X, (PackedSequences, list, tuple, np.ndarray)) or sp.issparse(X):
        return X
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
    >>> from skcrf_sdca.data import input_kind
    >>> input_kind([[{"word": "a"}, {"word": "b"}], []])
    'dicts'
    >>> input_kind([[1.0, 2.0], [3.0, 4.0]])
    'table'
    """
    if not isinstance(X, PackedSequences) and _is_table(X):
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
    >>> from skcrf_sdca.data import sequence_kind
    >>> sequence_kind([["w=a", "cap"], ["w=b"]], 0)
    'strings'
    """
    # A data frame has a shape, but no dtype of its own.
    code = getattr(getattr(sequence, "dtype", None), "kind", "f")
    n_axes = len(getattr(sequence, "shape", ()))
    if isinstance(sequence, (list, tuple)) or (n_axes == 1 and code == "O"):
        # One type for all items is the common case, and the fast one.
        if set(map(type, sequence)) == {dict}:
            return DICTS
        return _kind_of_items(sequence, index)
    if n_axes in (1, 2) and code not in "USV":
        return ARRAYS if n_axes == 2 else TABLE
    raise TypeError(
        f"X: sequence {index} is {_described(sequence)}; a sequence must be a list of "
        f"dicts, a list of lists of str, a 2-D array or a sparse matrix ({_WRAP})."
    )


def _is_table(X):
    if isinstance(X, (list, tuple)):
        return len(X) > 0 and all(map(_is_number, X))
    if not isinstance(X, np.ndarray):
        return True
    if X.dtype.kind == "O":
        items = (Mapping, list, tuple, Set)
        return X.ndim == 2 and not all(isinstance(cell, items) for cell in X.flat)
    return X.ndim <= 2 and X.dtype.kind not in "US"


def _packed_or_common_kind(X):
    if isinstance(X, PackedSequences):
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


def _kind_of_items(sequence, index):
    kind = None
    for position, item in enumerate(sequence):
        found = _item_kind(item)
        if found is None:
            raise TypeError(
                f"X: sequence {index}, item {position} is {_described(item)}; an item "
                f"must be a dict or a list of str ({_WRAP})."
            )
        if kind is None:
            kind = found
        elif found != kind:
            raise TypeError(
                f"X mixes kinds of input: sequence {index}, item {position} is "
                f"{_described(item)}, but item 0 is {_described(sequence[0])}."
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


def _described(value):
    """Name a value in a message: short, with the type where it does not show."""
    if value is None:
        return "None"
    if isinstance(value, (list, tuple)) and value:
        return f"a {type(value).__name__} of {type(value[0]).__name__}"
    text = repr(value) if isinstance(value, (str, bytes, numbers.Number)) else ""
    text = f" {text[:37]}..." if len(text) > 40 else f" {text}"
    return f"of type {type(value).__name__}{text}".rstrip()


def encode_labels(y, lengths):
    """Encode the labels of `y` as indices into the sorted classes.

    Parameters
    ----------
    y : iterable of n_sequences list, tuple or ndarray of labels
        Labels of one kind: str, int, bool, float, bytes, or any other type whose
        values can be hashed and sorted.
    lengths : array-like of int of shape (n_sequences,)
        Number of items of each sequence of X.

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
        If a sequence is not a list of labels, or the labels are not of one kind.

    Examples
    --------
    >>> from skcrf_sdca.data import encode_labels
    >>> encode_labels([["O", "B"], ["O"]], [2, 1])
    (array(['B', 'O'], dtype='<U1'), array([1, 0, 1], dtype=int32))
    """
    flat = _flat_labels(y, lengths)
    if not flat:
        raise ValueError("y has 0 labels; at least one is required.")
    try:
        classes = sorted(set(flat))
    except TypeError as error:
        raise TypeError(
            f"y: labels must be hashable and sortable, got {_described(flat[0])}: "
            f"{error}"
        ) from error
    return _class_array(classes), _codes(flat, classes)


def encode_known_labels(y, lengths, classes):
    """Encode the labels of `y` as indices into the classes of a fitted model.

    Parameters
    ----------
    y : iterable of n_sequences list, tuple or ndarray of labels
        Labels of the kind of `classes`.
    lengths : array-like of int of shape (n_sequences,)
        Number of items of each sequence of X.
    classes : ndarray of shape (n_labels,)
        As `encode_labels` returns it.

    Returns
    -------
    ndarray of int32 of shape (n_positions,)
        Index in `classes` of each label, -1 where it is none of them.

    Raises
    ------
    ValueError, TypeError
        As `encode_labels`; and TypeError if the labels are of another kind than
        `classes`.

    Examples
    --------
    >>> from skcrf_sdca.data import encode_known_labels, encode_labels
    >>> classes, _ = encode_labels([["O", "B"]], [2])
    >>> encode_known_labels([["B", "I"]], [2], classes)
    array([ 0, -1], dtype=int32)
    """
    flat = _flat_labels(y, lengths)
    known = classes.tolist()
    if flat and type(flat[0]) is not type(known[0]):
        raise TypeError(
            f"y has labels of type {type(flat[0]).__name__}, but the model was fitted "
            f"on labels of type {type(known[0]).__name__}."
        )
    return _codes(flat, known)


def decode_labels(paths, classes, offsets):
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
    >>> from skcrf_sdca.data import decode_labels
    >>> decode_labels(np.array([1, 0]), np.array(["B", "O"]), np.array([0, 1, 2]))
    array([list(['O']), list(['B'])], dtype=object)
    """
    names = classes.tolist()
    flat = [names[code] for code in np.asarray(paths).tolist()]
    decoded = np.empty(len(offsets) - 1, dtype=object)
    for i, (start, stop) in enumerate(pairwise(np.asarray(offsets).tolist())):
        decoded[i] = flat[start:stop]
    return decoded


def _flat_labels(y, lengths):
    """Return all labels in one list, as plain Python values of one type."""
    if y is None:
        raise ValueError("fit requires y to be passed, but the target y is None.")
    check_container(y, "y")
    sequences = [_label_list(labels, i) for i, labels in enumerate(y)]
    if len(sequences) != len(lengths):
        raise ValueError(f"X has {len(lengths)} sequences, but y has {len(sequences)}.")
    for i, (labels, length) in enumerate(zip(sequences, lengths, strict=True)):
        if len(labels) != length:
            raise ValueError(
                f"Sequence {i} has {length} items in X, but {len(labels)} labels in y."
            )
    flat = list(chain.from_iterable(sequences))
    types = set(map(type, flat))
    if not types <= {str} and not types <= {int}:
        flat = [_plain_label(label) for label in flat]
        _check_one_kind(flat, sequences)
    return flat


def _label_list(labels, index):
    if isinstance(labels, (list, tuple)):
        return labels
    if len(getattr(labels, "shape", ())) == 1 and not sp.issparse(labels):
        labels = np.asarray(labels)
        # tolist() would turn dates into numbers.
        return labels.tolist() if labels.dtype.kind in "OUSbiuf" else list(labels)
    raise TypeError(
        f"y: sequence {index} is {_described(labels)}; y must be a list of label "
        "lists, with one label for each item of the sequence."
    )


def _plain_label(label):
    if isinstance(label, str):
        return str.__str__(label)
    if isinstance(label, np.generic) and label.dtype.kind in "biufS":
        return label.item()
    return label


def _check_one_kind(flat, sequences):
    kind = type(flat[0])
    # Only NaN is a float that differs from itself.
    wrong = (
        t
        for t, label in enumerate(flat)
        if label is None
        or type(label) is not kind
        or (kind is float and label != label)
    )
    t = next(wrong, None)
    if t is None:
        return
    offsets = np.cumsum([0] + [len(labels) for labels in sequences])
    i = int(np.searchsorted(offsets, t, side="right")) - 1
    where = f"y: sequence {i}, position {t - offsets[i]} is {_described(flat[t])}"
    if flat[t] is None or type(flat[t]) is kind:
        raise ValueError(f"{where}; a label is needed.")
    raise TypeError(
        f"{where}, but the first label is {_described(flat[0])}; "
        "labels must be of one kind."
    )


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
