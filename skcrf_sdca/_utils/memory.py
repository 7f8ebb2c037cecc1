"""Whether arrays fit into memory: asked before they are allocated.

Systems hand out more memory than they have, and end the process that uses it. So the
large arrays, those that grow with the square of n_labels, are first held against what
is there, and only what clearly cannot fit is refused.
"""

import os
from pathlib import Path

# Less than this is not worth a look at the system.
SMALL = 2**26

_MEMINFO = Path("/proc/meminfo")
# The limits of a container, of the two versions of control groups.
_LIMITS = (
    Path("/sys/fs/cgroup/memory.max"),
    Path("/sys/fs/cgroup/memory/memory.limit_in_bytes"),
)


def available_memory():
    """Return how many bytes a process can have at most.

    Returns
    -------
    n_bytes : int or None
        On Linux what is free, swap included, or can be made so, up to the limit of the
        container; elsewhere all memory of the machine, or None if it does not tell.
    """
    try:
        lines = dict(line.split(":") for line in _MEMINFO.read_text().splitlines())
        free = [
            1024 * int(lines[name].split()[0]) for name in ("MemAvailable", "SwapFree")
        ]
    except (OSError, ValueError, KeyError):
        return _machine_memory()
    return min([sum(free), *filter(None, map(_number_in, _LIMITS))])


def check_fits(n_bytes, need, advice):
    """Raise MemoryError if so many bytes clearly cannot be had.

    Parameters
    ----------
    n_bytes : int
    need : str
        What they are for, with its sizes: the subject of the message.
    advice : str
        What to do about it.

    Raises
    ------
    MemoryError
        It names the bytes needed, those available, and the advice.
    """
    if n_bytes < SMALL:
        return
    available = available_memory()
    if available is not None and n_bytes > available:
        raise MemoryError(
            f"{need} would take {n_bytes} bytes ({n_bytes / 2**30:.1f} GiB), of which "
            f"{available / 2**30:.1f} GiB can be had: {advice}"
        )


def _machine_memory():
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, OSError, ValueError):
        return None


def _number_in(path):
    """Return the number that a file consists of, None if it does not."""
    try:
        return int(path.read_text())
    except (OSError, ValueError):
        return None
