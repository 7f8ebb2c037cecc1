"""Full passes over many chains on threads; the bits do not depend on their number."""

import numpy as np
from joblib import Parallel, delayed, effective_n_jobs

# Chains are always cut into so many ranges, whatever the number of threads, so that
# sums over ranges add up in one order.
N_RANGES = 16


def ranges(offsets):
    """Return (begin, end) of consecutive chains with about equally many positions."""
    n = len(offsets) - 1
    targets = offsets[-1] * np.arange(1, N_RANGES) // N_RANGES
    cuts = np.concatenate([[0], np.searchsorted(offsets[1:], targets), [n]])
    return [(b, e) for b, e in zip(cuts[:-1], cuts[1:], strict=True) if b < e]


def each_range(function, offsets, n_jobs=None):
    """Yield function(begin, end) of every range of chains, in their order.

    With ``n_jobs`` threads some are computed ahead.
    """
    calls = ranges(offsets)
    if effective_n_jobs(n_jobs) == 1:
        yield from (function(*bounds) for bounds in calls)
        return
    parallel = Parallel(n_jobs=n_jobs, require="sharedmem", return_as="generator")
    yield from parallel(delayed(function)(*bounds) for bounds in calls)


def over_ranges(function, offsets, n_jobs=None):
    """Return the list of function(begin, end) of every range of chains."""
    return list(each_range(function, offsets, n_jobs))
