"""Rows of numbers of one sequence to its labels: what `SequenceTagger` is for items.

Rows are an array, a list of rows, or a sparse matrix: SciPy is not imported for it.
"""

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from skcrf_sdca._kernels.features._encoder import Lookup, type_of_items
from skcrf_sdca._kernels.features._features import FeatureRows
from skcrf_sdca._kernels.features._weights import Weights
from skcrf_sdca._kernels.inference._sequence_tagger import impossible
from skcrf_sdca._utils.messages import described
from skcrf_sdca.features.hashing import hashed_columns
from skcrf_sdca.features.vocabulary import vocabulary_names
from skcrf_sdca.serving._items import encoded, held
from skcrf_sdca.structures.chain.chains import Chains


class CsrRows(NamedTuple):
    """The arrays of CSR rows, in the form of the kernels."""

    data: NDArray[np.float64]
    indices: NDArray[np.int32]
    indptr: NDArray[np.int64]
    shape: tuple[int, int]

    def dense(self) -> NDArray[np.float64]:
        """Return the rows as an array."""
        found = np.zeros(self.shape)
        rows = np.repeat(np.arange(self.shape[0]), np.diff(self.indptr))
        found[rows, self.indices] = self.data
        return found


class RowTagger:
    """The weights of a chain, for the rows of one sequence at a time.

    The methods are those of `SequenceTagger`. They raise TypeError or ValueError if the
    rows are no numbers, or of another number of features. The weights are of the
    features in ``columns`` alone, or of all for None. With ``one_column`` a sequence is
    a signal, of one feature.
    """

    def __init__(
        self,
        weights: Weights,
        chains: Chains,
        temperature: float,
        columns: tuple[int, NDArray[np.int64] | None],
        one_column: bool = False,
    ) -> None:
        self._weights, self._chains, self._temperature = weights, chains, temperature
        self._n_features, self._columns = columns
        self._one_column = one_column

    def predict(self, sequence: Any, labels: list[Any]) -> list[Any]:
        """Return the labels of the most probable path, a list; they are in `labels`."""
        path, (value,) = self._chains.of_one(self.scores(sequence)).viterbi()
        if len(path) and value == -np.inf:
            raise impossible(len(path))
        return [labels[k] for k in path.tolist()]

    def scores(self, sequence: Any) -> NDArray[np.float64]:
        """Return the scores (T, K) of all labels, over the temperature."""
        rows = self.rows(sequence)
        if self._columns is not None:
            rows = _at(rows, self._columns)
        rows = FeatureRows(rows)
        local = np.empty((rows.n_rows, self._weights.n_labels))
        offsets = np.array([0, rows.n_rows], dtype=np.int64)
        self._weights.node_scores(rows, offsets, 0, 1, local)
        if self._temperature != 1.0:
            local /= self._temperature
        self._chains.of_one(local).check(0)
        return local

    def rows(self, sequence: Any) -> Any:
        """Return the rows as the kernels take them: an array, or `CsrRows`."""
        if hasattr(sequence, "tocsr"):
            rows = _csr(sequence.tocsr())
            values, n_features = rows.data, rows.shape[1]
        else:
            rows = values = self._dense(sequence)
            n_features = rows.shape[1]
        if n_features != self._n_features:
            raise ValueError(
                f"sequence has {n_features} features, but the model {self._n_features}"
            )
        if not np.isfinite(values).all():
            raise ValueError("sequence has NaN or infinity")
        return rows

    def _dense(self, sequence):
        if not isinstance(sequence, (np.ndarray, list, tuple)):
            raise TypeError(
                "sequence must be an array, a list of rows or a sparse matrix, got "
                f"{described(sequence)}"
            )
        if np.ma.is_masked(sequence):
            raise ValueError("sequence is an array with masked entries")
        rows = np.asarray(sequence)
        if not rows.size and rows.ndim < 2:
            return np.empty((0, self._n_features))
        if rows.dtype.kind not in "biuf":
            raise TypeError(f"sequence must hold numbers, got an array of {rows.dtype}")
        if self._one_column and rows.ndim == 1:
            rows = rows[:, np.newaxis]
        if rows.ndim != 2:
            raise ValueError(f"sequence must have two axes, got shape {rows.shape}")
        dtype = np.float32 if rows.dtype == np.float32 else np.float64
        return np.ascontiguousarray(rows, dtype=dtype)


class HashTagger(RowTagger):
    """Rows of dicts, or of lists of str, whose names are hashed to columns.

    ``items`` are the `Items` of a hasher.
    """

    def __init__(self, items: Any, *of_rows: Any) -> None:
        super().__init__(*of_rows)
        self._items = items

    def rows(self, sequence: Any) -> CsrRows:
        """Return the rows of a sequence."""
        items, lookup = self._items, Lookup.empty()
        found = items.item_type or type_of_items(sequence)
        if found is None:
            sequence = held(sequence)
            is_dict = isinstance(next(iter(sequence or ()), None), Mapping)
            found = dict if is_dict else list
        own = encoded(items._replace(item_type=found), sequence, lookup)
        data, indices, indptr = own
        names = vocabulary_names(lookup, indices.max(initial=-1) + 1)
        columns, signs = hashed_columns(names.tolist(), *items.hashing)
        shape = len(indptr) - 1, self._n_features
        found = CsrRows(data * signs[indices], columns[indices], indptr, shape)
        return _summed(found)


def _summed(rows):
    """Return rows whose columns ascend: equal ones are added, and zeros left out."""
    row = np.repeat(np.arange(rows.shape[0]), np.diff(rows.indptr))
    order = np.lexsort((rows.indices, row))
    row, columns = row[order], rows.indices[order]
    is_first = np.diff(row, prepend=-1) != 0
    is_first |= np.diff(columns, prepend=-1) != 0
    begin = np.flatnonzero(is_first)
    sums = np.add.reduceat(rows.data[order], begin) if len(begin) else np.zeros(0)
    kept = begin[sums != 0.0]
    counts = np.bincount(row[kept], minlength=rows.shape[0])
    bounds = np.append(0, np.cumsum(counts))
    return CsrRows(sums[sums != 0.0], columns[kept], bounds, rows.shape)


def rows_of_ones(columns: NDArray[np.int32], n_features: int) -> CsrRows:
    """Return the rows whose values are 1 in these columns (n, any), which ascend."""
    bounds = np.arange(0, columns.size + 1, columns.shape[1], dtype=np.int64)
    shape = len(columns), n_features
    return CsrRows(np.ones(columns.size), columns.ravel(), bounds, shape)


def _at(rows, columns):
    """Return rows of some of the columns, which ascend."""
    if isinstance(rows, np.ndarray):
        return np.ascontiguousarray(rows[:, columns])
    place = np.searchsorted(columns, rows.indices)
    is_known = np.append(columns, -1)[place] == rows.indices
    return CsrRows(
        rows.data[is_known],
        place[is_known].astype(np.int32),
        np.append(0, np.cumsum(is_known))[rows.indptr],
        (rows.shape[0], len(columns)),
    )


def _csr(X):
    """Return a CSR array of SciPy in the form of the kernels."""
    if not X.has_canonical_format:
        X = X.copy()
        X.sum_duplicates()
    return CsrRows(
        X.data.astype(np.float64, copy=False),
        X.indices.astype(np.int32, copy=False),
        X.indptr.astype(np.int64, copy=False),
        X.shape,
    )
