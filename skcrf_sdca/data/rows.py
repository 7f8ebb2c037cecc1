"""Feature rows in the one form that the kernels take, and conversions to it.

The form is a C-contiguous array of float64, or of float32 if the rows were so, or a CSR
array of float64 with int32 indices, sorted and without duplicates; both are read-only.
Rows that have this form already are not copied.
"""

from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray

from skcrf_sdca._utils.memory import BLOCK
from skcrf_sdca._utils.messages import described
from skcrf_sdca._utils.words import name_of, numbered, place, words
from skcrf_sdca.data.containers import is_missing, unmasked

_INT32_MAX = np.iinfo(np.int32).max


def decreases(numbers: NDArray[Any]) -> bool:
    """Return whether an integer is less than the one before it, without overflow."""
    return bool((numbers[1:] < numbers[:-1]).any())


_WITH_POINTERS = {"csr": sp.csr_array, "csc": sp.csc_array, "bsr": sp.bsr_array}


def checked_sparse(X: Any, where: str = "X") -> Any:
    """Return a new object around the arrays of a sparse matrix, with checked indices.

    scipy assumes that the indices are within the shape: if they were not, a conversion
    would write beyond the arrays. The formats CSR, CSC and BSR are checked here, and
    COO by scipy; other formats have no indices.
    """
    try:
        if X.format in _WITH_POINTERS:
            parts = X.data, X.indices, X.indptr
            X = _WITH_POINTERS[X.format](parts, shape=X.shape)
            X.check_format(full_check=True)
            # If the last pointer is 0, check_format does not read the others.
            if decreases(X.indptr):
                raise ValueError("indptr must be a non-decreasing sequence")
        elif X.format == "coo":
            X = sp.coo_array((X.data, X.coords), shape=X.shape)
    except ValueError as error:
        raise ValueError(
            f"{name_of(where)} is not a valid sparse matrix: {error}"
        ) from error
    return X


class EncodedRows(NamedTuple):
    """The arrays of CSR rows that an encoder made, in the form of the kernels.

    Scipy takes longer to check the rows of a short sequence than a kernel to use them:
    the csr_array is made lazily. ``is_right`` says whether the encoder has checked
    them: their values are finite, their indices within the shape. Offsets beside such
    rows are right.
    """

    data: NDArray[np.float64]
    indices: NDArray[np.int32]
    indptr: NDArray[np.int64]
    shape: tuple[int, int]
    is_right: bool

    def csr(self) -> Any:
        """Return the rows as a csr_array of the same data and indices."""
        indptr = self.indptr
        # Of two types, scipy would convert the indices to the wider one.
        if len(self.data) <= _INT32_MAX:
            indptr = indptr.astype(np.int32)
        return sp.csr_array((self.data, self.indices, indptr), shape=self.shape)


def frozen(array):
    """Return a read-only view of a base-class ndarray."""
    view = np.asarray(array).view()
    view.flags.writeable = False
    return view


def as_dense(X):
    """Return X as a read-only C-contiguous array, in the precision of kernels."""
    X = _rows_of_numbers(unmasked(X, "X"), "X")
    _check_two_axes(X, "X")
    return frozen(np.ascontiguousarray(X))


def as_csr(X):
    """Return X as a read-only CSR array in the form that the kernels take."""
    _check_two_axes(X, "X")
    _check_dtype(X.dtype, "X")
    if max(X.shape[1], X.nnz) > _INT32_MAX:
        raise ValueError(
            f"{words().X} has {X.shape[1]} features and {X.nnz} stored values; at most "
            f"{_INT32_MAX} of each are supported."
        )
    matrix = checked_sparse(_converted(X, "X"))
    if not matrix.has_canonical_format:
        matrix = matrix.copy()
        matrix.sum_duplicates()
    with np.errstate(over="ignore"):
        matrix.data = frozen(matrix.data.astype(np.float64, copy=False))
    matrix.indices = frozen(matrix.indices.astype(np.int32, copy=False))
    matrix.indptr = frozen(matrix.indptr.astype(np.int32, copy=False))
    return matrix


def as_offsets(offsets, n_rows):
    """Return offsets that go from 0 to the number of rows, read-only."""
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
    return frozen(offsets)


def offsets_of_lengths(lengths, n_rows):
    """Return the offsets of sequences of these lengths, whose sum is `n_rows`."""
    lengths = np.asarray(lengths, dtype=None if np.size(lengths) else int)
    if lengths.ndim != 1 or lengths.dtype.kind not in "iu":
        raise ValueError(
            "lengths must be a one-dimensional array of integers, the number of rows "
            "of each sequence."
        )
    lengths = lengths.tolist()
    for i, length in enumerate(lengths):
        if length < 0:
            raise ValueError(f"lengths: sequence {i} has the length {length}.")
    if sum(lengths) != n_rows:
        raise ValueError(f"lengths sum to {sum(lengths)}, but X has {n_rows} rows.")
    return np.cumsum([0, *lengths])


def _check_two_axes(rows, where):
    if rows.ndim != 2:
        raise ValueError(
            f"{name_of(where)} must be two-dimensional, (length, n_features), "
            f"got {rows.ndim} dimension(s)."
        )


def _check_dtype(dtype, where, codes="biuf"):
    if dtype.kind == "c":
        raise ValueError(
            f"Complex data not supported: {name_of(where)} has dtype {dtype}."
        )
    if dtype.kind not in codes:
        raise TypeError(f"{name_of(where)} must hold numbers, got dtype {dtype}.")


def as_numbers(values: ArrayLike, name: str) -> NDArray[Any]:
    """Return real numbers of any shape, called `name`, as an array of float64.

    Raise TypeError or ValueError if it holds anything else, or masked entries.
    """
    return _numeric(unmasked(values, name), name)


def _numeric(array, where, advice=""):
    """Return an array in float64; no copy is made of one that is in float64.

    The advice ends the error for an entry that is no number.
    """
    _check_dtype(array.dtype, where, codes="biufO")
    try:
        with np.errstate(over="ignore"):
            return array.astype(np.float64, copy=False)
    except (TypeError, ValueError, OverflowError) as error:
        wrong, value = _no_number(array)
        advice = f"; {on_missing()}" if is_missing(value) else advice
        message = f"{name_of(where)} must hold numbers{wrong}: {error}"
        raise ValueError(f"{message}{advice}") from error


def _rows_of_numbers(array, where, advice=""):
    """Return an array in float64, but single precision, which stays: half the memory.

    Kernels convert its numbers one by one: the results are the same.
    """
    return array if array.dtype == np.float32 else _numeric(array, where, advice)


def _no_number(rows):
    """Return for a message where an array has no number, and what it has there."""
    for index, value in np.ndenumerate(rows if rows.ndim == 2 else ()):
        try:
            float(value)
        except (TypeError, ValueError, OverflowError):
            t, feature = index
            where = f"{words().position} {t}, feature {feature}"
            return f", but {where} is {described(value)}", value
    return "", 0


def on_missing(is_sparse: bool = False) -> str:
    """Return what to do about missing values of X."""
    scaler = f"StandardScaler({'with_mean=False' * is_sparse})"
    return f"fill missing values first, by {words().imputer.format(scaler)}."


_MIXED_FRAME = (
    '. For columns of text pass rows as dicts, X = [frame.to_dict("records") for frame '
    "in X] (Polars: frame.to_dicts()), or turn the columns into numbers by "
    "PerToken(ColumnTransformer(...))."
)


def sequence_rows(rows, index):
    """Return the rows of one sequence as CSR or floats, None for an empty list."""
    where = "X", index
    advice = _MIXED_FRAME if hasattr(rows, "columns") else ""
    if not sp.issparse(rows):
        try:
            array = np.asarray(rows)
        except ValueError as error:
            raise ValueError(
                f"{place(*where)} has rows of different lengths."
            ) from error
        rows = unmasked(rows if np.ma.isMaskedArray(rows) else array, where)
        if rows.shape in ((0,), (0, 0)):
            return None
        rows = _rows_of_numbers(rows, where, advice)
    _check_dtype(rows.dtype, where)
    _check_two_axes(rows, where)
    return _converted(rows, where) if sp.issparse(rows) else rows


def _converted(X, where):
    """Return a sparse matrix in CSR; its indices are checked if it is converted."""
    return X if X.format == "csr" else checked_sparse(X, where).tocsr()


def common_form(blocks, n_features):
    """Return the first block that is not None, and the width that all blocks have."""
    known = [(i, block) for i, block in enumerate(blocks) if block is not None]
    if not known:
        if n_features is None:
            raise ValueError(
                f"{words().X} has 0 {words().item}s; at least one {words().sequence} "
                f"needs an {words().item}."
            )
        return None, n_features
    first_index, first = known[0]
    for i, block in known:
        if block.shape[1] != first.shape[1]:
            raise ValueError(
                f"{place('X', i)} has {block.shape[1]} features, but "
                f"{numbered(first_index)} has {first.shape[1]}."
            )
        if sp.issparse(block) != sp.issparse(first):
            raise TypeError(
                f"{place('X', i)} is {'sparse' if sp.issparse(block) else 'dense'}, "
                f"but {numbered(first_index)} is not; all must be sparse, or "
                "all dense."
            )
    return first, first.shape[1]


def on_own_columns(X):
    """Return a CSR array without its empty columns, and the numbers of the others.

    The new array shares its values with `X`, which are not read: they may be mapped
    from a file.
    """
    has = np.zeros(X.shape[1], dtype=bool)
    blocks = [slice(b, b + BLOCK) for b in range(0, X.nnz, BLOCK)]
    for block in blocks:
        has[X.indices[block]] = True
    columns = np.flatnonzero(has)
    if len(columns) == X.shape[1]:
        return X, columns
    numbers = np.cumsum(has, dtype=np.int32) - np.int32(1)
    indices = np.empty_like(X.indices)
    for block in blocks:
        indices[block] = numbers[X.indices[block]]
    shape = X.shape[0], len(columns)
    return sp.csr_array((X.data, indices, X.indptr), shape=shape), columns
