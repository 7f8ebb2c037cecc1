"""The rows around each row of sequences, with NumPy alone: what a window returns."""

from collections.abc import Iterator
from typing import Any, Final, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from skcrf_sdca._utils.memory import check_fits
from skcrf_sdca._utils.places import bounds_of

ZERO: Final = "zero"
NEAREST: Final = "nearest"


class FrameWindow(NamedTuple):
    """The checked parameters of a `SequenceWindow`, and the features that they make."""

    places: tuple[int, int]
    differences: bool
    span: tuple[int, int] | None
    padding: str

    @classmethod
    def of(
        cls,
        places: int | tuple[int, int] = 2,
        differences: bool = False,
        span: int | tuple[int, int] | None = None,
        padding: str = NEAREST,
    ) -> Self:
        """Return the window of these parameters; raise an error for wrong places."""
        around = None if span is None else _bounds("span", span)
        return cls(_bounds("places", places), bool(differences), around, padding)

    @property
    def n_blocks(self) -> int:
        """How many features there are of each column."""
        first, last = self.places
        return last - first + 1 + self.differences + 2 * (self.span is not None)

    def patterns(self) -> list[str]:
        """Return how the features of each block are named, with {} for the column."""
        first, last = self.places
        patterns = [f"{{}}[{place}]" for place in range(first, last + 1)]
        if self.differences:
            patterns.append("{0}[0]-{0}[-1]")
        if self.span is not None:
            begin, end = self.span
            patterns += [f"{of}({{}}[{begin}:{end}])" for of in ("mean", "std")]
        return patterns

    def blocks(self, rows: Any, offsets: NDArray[np.int64]) -> Iterator[Any]:
        """Return an iterator of the features of patterns: arrays or sparse matrices.

        ``rows`` are those of all sequences, which ``offsets`` cut. Only one block is in
        memory at a time. Raise MemoryError if all of them would not fit.
        """
        check_fits(
            self.n_blocks * _n_bytes(rows),
            f"the {self.n_blocks} features of each column, of {rows.shape[0]} frames,",
            "take fewer places, or fewer sequences at a time",
        )
        return self._blocks(_Frames(rows, offsets))

    def _blocks(self, frames):
        first, last = self.places
        for place in range(first, last + 1):
            yield frames.padded(place, self.padding)
        if self.differences:
            yield frames.rows - frames.padded(-1, NEAREST)
        if self.span is not None:
            yield from frames.moments(*self.span)

    def rows(
        self, rows: NDArray[Any], offsets: NDArray[np.int64]
    ) -> NDArray[np.floating]:
        """Return the blocks of dense rows side by side, in their precision."""
        blocks = self.blocks(rows, offsets)
        n_rows, width = rows.shape
        found = np.empty((n_rows, self.n_blocks * width), dtype=rows.dtype)
        for i, block in enumerate(blocks):
            found[:, i * width : (i + 1) * width] = block
        return found


def _bounds(name, value):
    first, last = bounds_of(name, value)
    if first > last:
        raise ValueError(
            f"{name}={value!r} has no place: the first is after the last one."
        )
    return first, last


def _n_bytes(rows):
    """Return the bytes of an array, or of the entries of a sparse matrix."""
    return rows.nbytes if isinstance(rows, np.ndarray) else rows.data.nbytes


class _Frames:
    """The rows of packed sequences, and those at places relative to them."""

    def __init__(self, rows, offsets):
        self.rows = rows
        self._numbers = np.arange(offsets[-1])
        lengths = np.diff(offsets)
        self._first = np.repeat(offsets[:-1], lengths)
        self._last = np.repeat(offsets[1:] - 1, lengths)

    def padded(self, place, padding):
        """Return the rows at a place, padded outside of the sequences."""
        n = len(self._numbers)
        numbers = self._numbers + min(max(place, -n), n)
        found = self.rows[np.clip(numbers, self._first, self._last)]
        if padding == NEAREST:
            return found
        inside = self._inside(numbers).astype(self.rows.dtype)
        if isinstance(found, np.ndarray):
            return found * inside[:, np.newaxis]
        # Rows that are sparse came from SciPy; others must not need it.
        from scipy.sparse import diags_array

        return diags_array(inside) @ found

    def moments(self, first, last):
        """Yield the mean and the standard deviation over places in the sequences.

        A place outside of them does not count; where none counts, both are 0.
        """
        # Places beyond all sequences are in none.
        n = len(self._numbers)
        places = range(max(first, -n), min(last, n) + 1)
        inside = (self._inside(self._numbers + place) for place in places)
        counts = sum(inside, np.zeros(n, dtype=np.int64))
        counts = np.maximum(counts, 1)[:, np.newaxis]
        mean = self._sums(places, lambda rows, _: rows) / counts
        yield mean
        yield np.sqrt(self._sums(places, lambda x, at: (x - mean[at]) ** 2) / counts)

    def _inside(self, numbers):
        return (self._first <= numbers) & (numbers <= self._last)

    def _sums(self, places, term):
        """Return the sums of ``term(rows, at)`` over places, ``at`` the frames."""
        sums = np.zeros(self.rows.shape)
        for place in places:
            at = np.flatnonzero(self._inside(self._numbers + place))
            sums[at] += term(self.rows[at + place], at)
        return sums
