"""Passes over all weights, in parts that stay in cache.

The vectors of weights are long, and a pass over them waits for memory: what makes
several steps of each part reads them once.
"""

import numpy as np

from skcrf_sdca._kernels.math._vecmath import inner

# Weights of a part.
SIZE_OF_PART = 2**14


class DualParts:
    """The dual point v of what visits move, in parts that stay in cache.

    Each pass makes them anew, and writes the next part over one. An array of all of v
    would take longer, in fresh memory, than what certificates do with it.
    """

    def __init__(self, metric, moved):
        self.metric, self.moved = metric, moved

    def __iter__(self):
        """Yield the parts."""
        metric, moved = self.metric, self.moved
        n_parts = len(moved) // SIZE_OF_PART + 1
        firsts = [metric.first(part, n_parts) for part in range(n_parts + 1)]
        out = np.empty(np.diff(firsts).max())
        for part in range(n_parts):
            yield out[: metric.take_center(moved, out, part, n_parts)]


def parts_of(v):
    """Return the parts of an array, as views, or of DualParts."""
    if isinstance(v, DualParts):
        return v
    firsts = range(0, len(v) or 1, SIZE_OF_PART)
    return [v[first : first + SIZE_OF_PART] for first in firsts]


def beside(w, v):
    """Yield parts of an array, and those of v beside them."""
    first = 0
    for part in parts_of(v):
        last = first + len(part)
        yield w[first:last], part
        first = last


def inner_of_parts(w, v):
    """Return <w, v>, v an array or DualParts."""
    return sum(inner(*parts) for parts in beside(w, v))
