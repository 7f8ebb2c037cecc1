"""Threads: how many there are, and full passes over all chains, with the same bits."""

from collections import deque
from contextvars import copy_context

import numpy as np

# The cuts between ranges of chains depend on the lengths of the chains, but not on the
# number of threads, so that sums over ranges are always added in the same order. A
# shorter range than MIN_POSITIONS is not worth a call from Python. There are more than
# MAX_RANGES only if each would have more than MAX_POSITIONS, so that the memory of a
# pass does not grow with the data.
MAX_RANGES = 16
MIN_POSITIONS = 2**11
MAX_POSITIONS = 2**16


def n_threads(n_jobs):
    """Return how many threads n_jobs asks for.

    The threads are ours: a number is taken also where joblib itself would start no
    workers, in a daemonic process or with its sequential backend. None means what the
    context of joblib says, 1 by default.
    """
    # Only here: whoever tags one sequence at a time has no use for it.
    from joblib import effective_n_jobs, parallel_config

    if n_jobs is None:
        return effective_n_jobs(None)
    with parallel_config(backend="threading"):
        return effective_n_jobs(n_jobs)


def ranges(offsets):
    """Return (begin, end) of ranges of chains, with about equally many positions."""
    n = len(offsets) - 1
    n_positions = int(offsets[-1])
    n_ranges = min(max(n_positions // MIN_POSITIONS, 1), MAX_RANGES)
    n_ranges = max(n_ranges, n_positions // MAX_POSITIONS)
    if n_ranges == 1:
        return [(0, n)] if n > 0 else []
    targets = offsets[-1] * np.arange(1, n_ranges) // n_ranges
    cuts = np.concatenate([[0], np.searchsorted(offsets[1:], targets), [n]])
    return [(b, e) for b, e in zip(cuts[:-1], cuts[1:], strict=True) if b < e]


def each_range(function, offsets, n_jobs=None):
    """Yield function(begin, end) for every range of chains, in their order.

    With several threads, the next ranges are computed while the caller uses one.
    """
    calls = ranges(offsets)
    # To ask takes as long as a short chain, but it also refuses n_jobs=0.
    count = 1
    if len(calls) > 1 or n_jobs == 0:
        count = min(n_threads(n_jobs), len(calls))
    if count <= 1:
        yield from (function(*bounds) for bounds in calls)
        return
    from concurrent.futures import ThreadPoolExecutor

    # No joblib.Parallel: it takes about 50 ms to start and end a parallel loop.
    with ThreadPoolExecutor(count) as threads:
        ahead = deque()
        for bounds in calls:
            if len(ahead) == 2 * count:
                yield ahead.popleft().result()
            ahead.append(threads.submit(copy_context().run, function, *bounds))
        yield from (future.result() for future in ahead)


def over_ranges(function, offsets, n_jobs=None):
    """Return the list of function(begin, end) for every range of chains."""
    return list(each_range(function, offsets, n_jobs))


def in_parts(function, n_jobs=None):
    """Call function(part, n_parts) for all parts, one for each of n_jobs threads."""
    count = n_threads(n_jobs) if n_jobs is not None else 1
    if count <= 1:
        function(0, 1)
        return
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(count) as threads:
        list(threads.map(function, range(count), [count] * count))
