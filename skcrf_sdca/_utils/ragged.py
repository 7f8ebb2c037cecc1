"""Lists and arrays of sequences of different lengths, end to end."""

from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray


def split_rows(
    rows: list[Any] | NDArray[Any], offsets: NDArray[np.integer[Any]]
) -> NDArray[np.object_]:
    """Cut a list or an array with one entry a position into one part a sequence.

    `offsets` are as in `PackedSequences`; the parts are in an object array.
    """
    bounds = pairwise(np.asarray(offsets).tolist())
    pieces = (rows[first:last] for first, last in bounds)
    return np.fromiter(pieces, dtype=object, count=len(offsets) - 1)


def sums_of_items(
    values: NDArray[np.float64], offsets: NDArray[np.integer[Any]]
) -> NDArray[Any]:
    """Return the sums of numbers (n_positions,) over the positions of each item."""
    lengths = np.diff(offsets)
    items = np.repeat(np.arange(len(lengths)), lengths)
    return np.bincount(items, values, minlength=len(lengths))
