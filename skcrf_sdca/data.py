"""Sequences of feature rows laid end to end in one array.

``PackedSequences`` is the only form of X that the rest of the package computes with.
"""

from itertools import pairwise

import numpy as np
import scipy.sparse as sp

_INT32_MAX = np.iinfo(np.int32).max


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
        filled = [block for block in blocks if block is not None and block.shape[0]]
        if not filled:
            empty = sp.csr_array if sp.issparse(first) else np.zeros
            return cls(empty((0, n_features)), offsets)
        if not sp.issparse(first):
            return cls(np.concatenate(filled), offsets)
        try:
            return cls(sp.vstack(filled, format="csr"), offsets)
        except ValueError:
            # One by one they take far longer to check, but then the wrong one is known.
            for i, block in enumerate(blocks):
                if block is not None:
                    checked_sparse(block, f"X: sequence {i}")
            raise

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


def decreases(numbers):
    """Return whether a number is less than the one before it.

    Their differences could overflow.

    Parameters
    ----------
    numbers : ndarray of shape (n,), int
    """
    return bool((numbers[1:] < numbers[:-1]).any())


_WITH_POINTERS = {"csr": sp.csr_array, "csc": sp.csc_array, "bsr": sp.bsr_array}


def checked_sparse(X, where="X"):
    """Return a sparse matrix whose indices are within it, as scipy takes for granted.

    To convert one that is not so would write beyond its arrays.

    Parameters
    ----------
    X : sparse matrix
    where : str, default="X"
        What it is, for the message.

    Returns
    -------
    X : sparse array or matrix
        An object of our own around the same arrays, in CSR, CSC, BSR or COO; other
        formats have no indices to check, and are returned as they are.

    Raises
    ------
    ValueError
        If its indices, pointers and values do not agree.

    Examples
    --------
    >>> import numpy as np
    >>> from scipy.sparse import csc_array
    >>> from skcrf_sdca.data import checked_sparse
    >>> broken = csc_array(([1.0], np.array([9]), [0, 1, 1]), shape=(2, 2))
    >>> checked_sparse(broken)
    Traceback (most recent call last):
    ...
    ValueError: X is not a valid sparse matrix: indices must be < 2
    """
    try:
        if X.format in _WITH_POINTERS:
            parts = X.data, X.indices, X.indptr
            X = _WITH_POINTERS[X.format](parts, shape=X.shape)
            X.check_format(full_check=True)
            # If the last is 0, that has not looked at the others.
            if decreases(X.indptr):
                raise ValueError("indptr must be a non-decreasing sequence")
        elif X.format == "coo":
            X = sp.coo_array((X.data, X.coords), shape=X.shape)
    except ValueError as error:
        raise ValueError(f"{where} is not a valid sparse matrix: {error}") from error
    return X


def _frozen(array):
    """Return a read-only view of a base-class ndarray."""
    view = np.asarray(array).view()
    view.flags.writeable = False
    return view


def unmasked(values, where):
    """Return values as an array; ValueError if some are masked.

    Parameters
    ----------
    values : array-like
    where : str
        What they are, for the message.
    """
    if np.ma.is_masked(values):
        raise ValueError(
            f"{where} is an array with masked entries; fill them, or leave them out."
        )
    return np.asarray(values)


def _as_dense(X):
    X = as_numbers(X, "X")
    _check_two_axes(X, "X")
    return _frozen(np.ascontiguousarray(X))


def _as_csr(X):
    _check_two_axes(X, "X")
    _check_dtype(X.dtype, "X")
    if max(X.shape[1], X.nnz) > _INT32_MAX:
        raise ValueError(
            f"X has {X.shape[1]} features and {X.nnz} stored values; at most "
            f"{_INT32_MAX} of each are supported."
        )
    matrix = checked_sparse(_converted(X, "X"))
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
    if offsets[0] != 0 or offsets[-1] != n_rows or decreases(offsets):
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


def as_numbers(values, name):
    """Return an argument that holds numbers as an array of float64.

    Parameters
    ----------
    values : array-like
        Of any shape.
    name : str
        Its name, for the message.

    Raises
    ------
    TypeError, ValueError
        If it holds anything but real numbers, or masked entries.

    Examples
    --------
    >>> from skcrf_sdca.data import as_numbers
    >>> as_numbers([1, 2], "sample_weight")
    array([1., 2.])
    """
    return _numeric(unmasked(values, name), name)


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
            array = np.asarray(rows)
        except ValueError as error:
            raise ValueError(f"{where} has rows of different lengths.") from error
        rows = unmasked(rows if np.ma.isMaskedArray(rows) else array, where)
        if rows.shape in ((0,), (0, 0)):
            return None
        rows = _numeric(rows, where)
    _check_dtype(rows.dtype, where)
    _check_two_axes(rows, where)
    return _converted(rows, where) if sp.issparse(rows) else rows


def _converted(X, where):
    """Return a sparse matrix in CSR, which is still to be checked."""
    return X if X.format == "csr" else checked_sparse(X, where).tocsr()


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
