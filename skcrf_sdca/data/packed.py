"""Sequences of feature rows laid end to end in one array.

``PackedSequences`` is the only form of X that the rest of the package computes with.
"""

from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager
from itertools import pairwise
from typing import Any, Literal, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.extmath import row_norms

from skcrf_sdca._kernels.features._features import FeatureRows
from skcrf_sdca._utils import mapped_arrays
from skcrf_sdca._utils.memory import BLOCK
from skcrf_sdca._utils.typing import FilePath, HasShape
from skcrf_sdca._utils.words import numbered, place, words
from skcrf_sdca.data import packed_file
from skcrf_sdca.data.feature_names import FeatureNames, names_of_frame, same_names
from skcrf_sdca.data.rows import (
    EncodedRows,
    as_csr,
    as_dense,
    as_offsets,
    checked_sparse,
    common_form,
    frozen,
    offsets_of_lengths,
    on_missing,
    sequence_rows,
)

# Values of X that are copied at a time: X may be a mapped file.
VALUES_OF_BLOCK = 2**16
# Values of X count as at most so much where their squares are taken.
LARGEST_VALUE = 1e100


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
    feature_names : iterable of str of length n_features, default=None
        Names that an estimator shows for the features. Two may be the same.

    Attributes
    ----------
    X : ndarray or csr_array of shape (n_positions, n_features)
        Read-only: a C-contiguous array of float64, or of float32 if it was given so,
        or a CSR array of float64 with int32 indices, sorted and without duplicates.
    offsets : ndarray of int64 of shape (n_sequences + 1,)
        Read-only.
    feature_names : FeatureNames of length n_features, or None
        ``list(packed.feature_names)`` are the names, which are computed lazily.
        `SequenceVectorizer`, `PerToken` and `SequenceUnion` set them, and parts of
        packed sequences, copies and pickles keep them; files do not, see `open`.
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
        If `X` or `offsets` do not have this form, `X` holds NaN or infinity, or
        `feature_names` has another length.
    TypeError
        If `X` does not hold numbers, or `feature_names` not str.

    Examples
    --------
    >>> from skcrf_sdca.data.packed import PackedSequences
    >>> packed = PackedSequences([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]], [0, 2, 3])
    >>> packed
    PackedSequences(n_sequences=2, n_positions=3, n_features=2, dense)
    >>> packed[1]
    array([[1., 1.]])
    >>> packed[[1, 0]].lengths
    array([1, 2])
    """

    # The MappedFile that holds the rows, or None.
    __slots__ = ("_X", "_feature_names", "_offsets", "_source")

    def __init__(
        self,
        X: ArrayLike | HasShape,
        offsets: ArrayLike,
        *,
        feature_names: Iterable[str] | None = None,
    ) -> None:
        if isinstance(X, EncodedRows) and not X.is_right:
            X = X.csr()
        self._feature_names = None
        self._source: packed_file.MappedFile | None = None
        self._X: Any = X
        if isinstance(X, EncodedRows):
            self._offsets = frozen(offsets)
        else:
            self._X = as_csr(X) if sp.issparse(X) else as_dense(X)
            self._offsets = as_offsets(offsets, self._X.shape[0])
            self._check_finite()
        if feature_names is not None:
            self._set_names(FeatureNames.of(feature_names))

    @classmethod
    def from_sequences(
        cls, sequences: Iterable[ArrayLike | HasShape], *, n_features: int | None = None
    ) -> Self:
        """Pack a list of 2-D arrays, of data frames or of sparse matrices.

        Parameters
        ----------
        sequences : iterable of array-like or sparse matrix, each (length, n_features)
            All dense or all sparse; data frames have the same columns in the same
            order, which become `feature_names`. An empty list stands for an empty
            sequence.
        n_features : int, default=None
            Number of features, for the case that all sequences are empty lists.

        Returns
        -------
        PackedSequences
            Dense if the sequences are.

        Raises
        ------
        TypeError
            If dense and sparse sequences are mixed, or one is not numeric.
        ValueError
            If a sequence is not two-dimensional, or the numbers of features or the
            names of columns differ.

        Examples
        --------
        >>> import numpy as np
        >>> from skcrf_sdca.data.packed import PackedSequences
        >>> PackedSequences.from_sequences([np.ones((2, 3)), np.ones((1, 3))]).lengths
        array([2, 1])
        """
        blocks, names = [], None
        for i, rows in enumerate(same_names(sequences)):
            if names is None and hasattr(rows, "columns"):
                names = names_of_frame(rows)
            blocks.append(sequence_rows(rows, i))
        offsets = np.cumsum([0] + [0 if b is None else b.shape[0] for b in blocks])
        first, n_features = common_form(blocks, n_features)
        filled = [block for block in blocks if block is not None and block.shape[0]]
        if not filled:
            empty = sp.csr_array if sp.issparse(first) else np.zeros
            return cls(empty((0, n_features)), offsets)
        if not sp.issparse(first):
            return cls(np.concatenate(filled), offsets, feature_names=names)
        try:
            return cls(sp.vstack(filled, format="csr"), offsets)
        except ValueError:
            # Checking them one by one takes far longer, but names the wrong one.
            for i, block in enumerate(blocks):
                if block is not None:
                    checked_sparse(block, place("X", i))
            raise

    @classmethod
    def from_lengths(cls, X: ArrayLike | HasShape, lengths: ArrayLike) -> Self:
        """Cut one table with the rows of all sequences, such as a long recording.

        ``fit(X, y, lengths)`` does the same; the answers then have a row for each row.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_positions, n_features)
            The rows of all sequences, one sequence after the other. Not copied if it
            has the form of the attribute `X`. The columns of a data frame become
            `feature_names`.
        lengths : array-like of int of shape (n_sequences,)
            Number of rows of each sequence, as in hmmlearn.

        Returns
        -------
        PackedSequences
            The y of a fit may be one array with the labels of all rows.

        Raises
        ------
        TypeError
            If X does not hold numbers.
        ValueError
            If X is not two-dimensional, holds NaN or infinity, or has not as many rows
            as `lengths` sums to; or if `lengths` holds anything but integers of at
            least 0.

        Examples
        --------
        >>> import numpy as np
        >>> from skcrf_sdca import SDCACRF, PackedSequences
        >>> recording = np.array([[0.1], [0.3], [2.1], [0.2], [1.9]])
        >>> packed = PackedSequences.from_lengths(recording, [3, 2])
        >>> crf = SDCACRF(random_state=0).fit(packed, np.array([0, 0, 1, 0, 1]))
        >>> crf.predict(packed)
        array([list([0, 0, 1]), list([0, 1])], dtype=object)
        """
        names = names_of_frame(X) if hasattr(X, "columns") else None
        X = as_csr(X) if sp.issparse(X) else as_dense(X)
        offsets = offsets_of_lengths(lengths, X.shape[0])
        return cls(X, offsets, feature_names=names)

    @classmethod
    def open(
        cls,
        path: FilePath,
        *,
        mmap_mode: Literal["r"] | None = "r",
        feature_names: Iterable[str] | None = None,
    ) -> Self:
        """Open a file that `save` or `writer` has written.

        With ``mmap_mode="r"`` a fit reads the parts of X when it needs them, and the
        system can free their memory at any time. When the file is opened, all of it is
        read once to be checked.

        Parameters
        ----------
        path : str or path-like
            The file must not be changed in place while it is open. `save` and `writer`
            are safe: they replace it. If a mapped file becomes shorter, the system ends
            the process that reads beyond its end (SIGBUS), which no program can turn
            into an error. A fit therefore checks first that the size and the time of
            the file are as they were when it was opened.
        mmap_mode : {"r", None}, default="r"
            Whether X stays in the file, mapped into memory, or is read into memory.
        feature_names : iterable of str of length n_features, default=None
            Names of the features, which the file does not have.

        Returns
        -------
        PackedSequences

        Raises
        ------
        PackedFormatError
            If the file is damaged, not of packed sequences, or of a newer format, or
            does not have as many features as `feature_names`. It is a ValueError.
        OSError
            If there is no such file, or it cannot be opened.

        See Also
        --------
        save : Writes the file, and has an example.
        """
        if mmap_mode not in ("r", None):
            raise ValueError(f'mmap_mode must be "r" or None, got {mmap_mode!r}.')
        arrays, n_features, source = packed_file.read(path, mmap_mode)
        X = arrays["values"]
        try:
            if "indices" in arrays:
                shape = len(arrays["indptr"]) - 1, n_features
                X = X, arrays["indices"], arrays["indptr"]
                X = sp.csr_array(X, shape=shape)
            packed = cls(X, arrays["offsets"], feature_names=feature_names)
        except ValueError as error:
            raise packed_file.PackedFormatError(
                f"{path} cannot be read: {error}"
            ) from error
        packed._source = source
        return packed

    @property
    def n_bytes_mapped(self) -> int:
        """Size of the file that `X` is mapped from, 0 if `X` is in memory."""
        return 0 if self._source is None else self._source.state["size"]

    def check_source(self) -> None:
        """Check that the file that X is mapped from is as it was when it was opened.

        Every fit does it first. Nothing is checked if X is in memory.

        Raises
        ------
        ValueError
            If the size or the time of the file has changed.
        """
        if self._source is not None:
            self._source.check()

    def save(self, path: FilePath) -> None:
        """Save to a file that `open` maps into memory.

        The file is first written under another name in the same folder. It replaces an
        older file when it is complete. If the process is killed, that file stays until
        the next save to `path`.

        Parameters
        ----------
        path : str or path-like

        Raises
        ------
        OSError
            If the file cannot be written.

        See Also
        --------
        writer : Writes a file that is larger than memory, part by part.

        Examples
        --------
        >>> import os
        >>> import tempfile
        >>> from skcrf_sdca import PackedSequences
        >>> packed = PackedSequences([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]], [0, 2, 3])
        >>> folder = tempfile.TemporaryDirectory()
        >>> path = os.path.join(folder.name, "train.packed")
        >>> packed.save(path)
        >>> PackedSequences.open(path)
        PackedSequences(n_sequences=2, n_positions=3, n_features=2, dense)
        >>> folder.cleanup()
        """
        with self.writer(path) as file:
            file.append(self)

    @staticmethod
    def writer(
        path: FilePath, *, grows: bool = False
    ) -> AbstractContextManager[packed_file.PackedWriter]:
        """Return a context that writes a file part by part, in the memory of a part.

        Parameters
        ----------
        path : str or path-like
            The file takes this name when the ``with`` block ends without an error, and
            no part was cut off by one. While it is written, unnamed files in its folder
            take up to half of its size.
        grows : bool, default=False
            Whether a sparse part may have more features than those before, as the parts
            of a vectorizer have that learns by ``partial_fit``. Names of features are
            not compared then.

        Returns
        -------
        context : context manager of a PackedWriter
            ``append(packed)`` adds sequences at the end of the file. All parts are
            sparse or all are dense, and all have the same number of features, or no
            fewer than those before if the file grows.

        Raises
        ------
        ValueError
            From ``append``, if a part does not have the form and the width of the first
            one, or has other names of features than the parts before; at the end of the
            block, if there is no part. Both, if a part could not be written before.
        OSError
            If the file cannot be written.

        Examples
        --------
        >>> import os
        >>> import tempfile
        >>> from skcrf_sdca import PackedSequences
        >>> part = PackedSequences([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]], [0, 2, 3])
        >>> folder = tempfile.TemporaryDirectory()
        >>> path = os.path.join(folder.name, "train.packed")
        >>> with PackedSequences.writer(path) as file:
        ...     file.append(part)
        ...     file.append(part)
        >>> PackedSequences.open(path)
        PackedSequences(n_sequences=4, n_positions=6, n_features=2, dense)
        >>> folder.cleanup()
        """
        return packed_file.writing(path, grows=grows)

    @property
    def X(self) -> Any:
        """Rows of all sequences, read-only."""
        if isinstance(self._X, EncodedRows):
            self._X = as_csr(self._X.csr())
        return self._X

    @property
    def offsets(self) -> NDArray[np.int64]:
        """First row of each sequence, and the number of rows; read-only."""
        return self._offsets

    @property
    def feature_names(self) -> FeatureNames | None:
        """Names of the features, None if they have none."""
        return self._feature_names

    # Whether `X` is stored; rows of arcs may be made when needed.
    stores_rows = True

    def feature_rows(self) -> FeatureRows:
        """Return the rows as the kernels take them."""
        new = None if self._source is None else self.new_array
        return FeatureRows(self.X, new=new)

    @property
    def new_array(self) -> Callable[..., NDArray[Any]]:
        """What makes arrays with a number for each position: in files if X lies in one.

        It takes a shape and a dtype.
        """
        return np.empty if self._source is None else mapped_arrays.zeros

    def row_norms(self) -> NDArray[np.float64]:
        """Return the norms of all rows."""
        norms = np.empty(self.n_positions)
        for begin, rows in self._blocks():
            norms[begin : begin + rows.shape[0]] = row_norms(rows)
        return norms

    def _sequences(self, begin, n_rows):
        """Return the sequence of a row, and those of rows from it on, less the first.

        No number for each row of the data is stored.
        """
        last = begin + n_rows
        first = np.searchsorted(self._offsets, begin, side="right") - 1
        after = np.searchsorted(self._offsets, last, side="left")
        ends = np.clip(self._offsets[first : after + 1], begin, last)
        return first, np.repeat(np.arange(after - first), np.diff(ends))

    def sizes(
        self, weight: NDArray[np.float64], rows: FeatureRows | None = None
    ) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
        """Return the sizes of features and of sequences, from one pass over the rows.

        In squares, values count as at most 1e100, since larger ones would overflow.

        Parameters
        ----------
        weight : ndarray of shape (n_sequences,)
            The weight of the positions of each sequence.
        rows : FeatureRows, default=None
            What `feature_rows` returned, which is made and checked anew by default.

        Returns
        -------
        squares, counts : ndarrays of shape (n_features,)
            The weighted sums of the squares of features, and of where they are not 0.
        norm_sums : ndarray of shape (n_sequences,)
            The sum of the norms of the rows of each sequence.
        """
        if self.is_sparse:
            rows = self.feature_rows() if rows is None else rows
            return rows.sizes(self._offsets, weight, LARGEST_VALUE)
        squares, counts = np.zeros((2, self.n_features))
        norm_sums = np.zeros(len(self))
        for begin, block in self._blocks():
            first, sequence = self._sequences(begin, block.shape[0])
            norms = np.bincount(sequence, weights=row_norms(block))
            norm_sums[first : first + len(norms)] += norms
            values, own = abs(block), weight[first + sequence]
            np.minimum(values, LARGEST_VALUE, out=values)
            values *= values
            squares += own @ values
            np.sign(values, out=values)
            counts += own @ values
        return squares, counts, norm_sums

    def _blocks(self) -> Iterator[tuple[int, Any]]:
        """Yield the first row, and the rows in float64, of parts: X may be mapped."""
        X, n = self.X, self.n_positions
        n_rows = max(VALUES_OF_BLOCK * n // max(X.size, 1), 1)
        for begin in range(0, n, n_rows):
            yield begin, X[begin : begin + n_rows].astype(np.float64, copy=False)

    @property
    def shape(self) -> tuple[int]:
        """``(n_sequences,)``."""
        return (len(self),)

    @property
    def n_sequences(self) -> int:
        """Number of sequences."""
        return len(self)

    @property
    def n_positions(self) -> int:
        """Number of positions of all sequences together."""
        return self._X.shape[0]

    @property
    def n_features(self) -> int:
        """Number of features of a position."""
        return self._X.shape[1]

    @property
    def lengths(self) -> NDArray[np.int64]:
        """Number of positions of each sequence."""
        return np.diff(self._offsets)

    @property
    def is_sparse(self) -> bool:
        """Whether the rows are a CSR array."""
        return not isinstance(self._X, np.ndarray)

    def __len__(self) -> int:
        """Return the number of sequences."""
        return len(self._offsets) - 1

    def __iter__(self) -> Iterator[Any]:
        """Yield the rows of each sequence, of shape (length, n_features)."""
        for start, stop in pairwise(self._offsets.tolist()):
            yield self.X[start:stop]

    def __getitem__(self, key: Any) -> Any:
        """Return the rows of one sequence, or several sequences packed."""
        # NumPy understands every key, also the (key, ...) of scikit-learn.
        chosen = np.arange(len(self))[key]
        if chosen.ndim > 1:
            raise IndexError("PackedSequences has one axis, the key has more.")
        starts, stops = self._offsets[chosen], self._offsets[chosen + 1]
        if chosen.ndim == 0:
            return self.X[starts:stops]
        offsets = np.concatenate([[0], np.cumsum(stops - starts)])
        is_slice = len(chosen) > 0 and np.all(np.diff(chosen) == 1)
        if is_slice:
            rows = slice(starts[0], stops[-1])
        else:
            first = np.repeat(starts - offsets[:-1], stops - starts)
            rows = first + np.arange(offsets[-1])
        names = self._feature_names
        part = PackedSequences(self.X[rows], offsets, feature_names=names)
        part._source = self._source if is_slice else None
        return part

    def __reduce__(self):
        """Pickle the two arrays, which loading validates again, and the names.

        The names are in arrays too, since joblib maps these into its workers.
        """
        names = self._feature_names
        state = () if names is None else (names.compact(),)
        return PackedSequences, (self.X, self._offsets), *state

    def __setstate__(self, names):
        """Set the names; raise ValueError if their number is wrong."""
        self._set_names(names)

    def _set_names(self, names):
        if len(names) != self.n_features:
            raise ValueError(
                f"feature_names has {len(names)} names, but X has {self.n_features} "
                "features."
            )
        self._feature_names = names

    def __repr__(self):
        """Return the sizes in one line."""
        form = "sparse" if self.is_sparse else "dense"
        return (
            f"PackedSequences(n_sequences={len(self)}, n_positions={self.n_positions}, "
            f"n_features={self.n_features}, {form})"
        )

    def _check_finite(self):
        values = self._X.data if self.is_sparse else self._X
        values = values.reshape(-1)
        for begin in range(0, len(values), BLOCK):
            finite = np.isfinite(values[begin : begin + BLOCK])
            if not finite.all():
                self._raise_not_finite(begin + int(np.argmin(finite)), values)

    def _raise_not_finite(self, entry, values):
        if self.is_sparse:
            row = int(np.searchsorted(self._X.indptr, entry, side="right")) - 1
            feature = self._X.indices[entry]
        else:
            row, feature = divmod(entry, self.n_features)
        i = int(np.searchsorted(self._offsets, row, side="right")) - 1
        is_missing = np.isnan(values[entry])
        cure = "replace or remove such values."
        if is_missing:
            cure = on_missing(self.is_sparse)
        raise ValueError(
            f"{words().X} contains {'NaN' if is_missing else 'infinity'}: "
            f"{numbered(i)}, {words().position} {row - self._offsets[i]}, "
            f"feature {feature}; {cure}"
        )


def rows_of(packed: PackedSequences) -> Any:
    """Return the rows of PackedSequences as `FeatureRows` takes them.

    They are ``packed.X``, or the EncodedRows that it is made of lazily.
    """
    return packed._X
