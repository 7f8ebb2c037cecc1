"""Checks that large arrays fit into memory, before they are allocated.

Linux lets a process allocate more memory than there is, and kills it when it uses the
memory. Therefore sizes that grow with the square of n_labels are first compared with
the available memory. Only sizes that clearly cannot fit are refused.
"""

import os
import re
from math import log10
from pathlib import Path

try:
    import resource
except ImportError:
    # Windows has no such limits.
    resource = None  # type: ignore[assignment]

# Number of values read at once, where a copy of all might not fit into memory.
BLOCK = 2**20
# Smaller requests are not compared.
SMALL = 2**26
# Larger ones are refused on every machine: sizes must not wrap around.
MOST_BYTES = 2**60

# The powers of 1000 or 1024 in texts.
PREFIXES = {"": 0, "k": 1, "M": 2, "G": 3, "T": 4}

_MEMINFO = Path("/proc/meminfo")
_SIZES = Path("/proc/self/statm")
# The memory limits of a container, in versions 2 and 1 of control groups.
_LIMITS = (
    Path("/sys/fs/cgroup/memory.max"),
    Path("/sys/fs/cgroup/memory/memory.limit_in_bytes"),
)


def available_memory():
    """Return the largest number of bytes that a process can get, None if it is unknown.

    On Linux it is `memory_for_files` up to the limits of the process. Elsewhere it is
    all memory of the machine.
    """
    found = memory_for_files()
    return found and min([found, *_limits_of_process()])


def memory_for_files():
    """Return how many bytes of mapped files memory can hold, None if it is unknown.

    On Linux these are the memory that is free or can be freed, and the swap space, up
    to the limits of the container. The limits of the process do not count files.
    """
    try:
        lines = dict(line.split(":") for line in _MEMINFO.read_text().splitlines())
        free = [
            1024 * int(lines[name].split()[0]) for name in ("MemAvailable", "SwapFree")
        ]
    except (OSError, ValueError, KeyError):
        return _machine_memory()
    limits = map(_number_in, _LIMITS)
    return min([sum(free), *(limit for limit in limits if limit is not None)])


def may_fit(n_bytes):
    """Return whether this many bytes are available, or this is unknown."""
    if n_bytes < SMALL:
        return True
    available = available_memory()
    return n_bytes <= MOST_BYTES and (available is None or n_bytes <= available)


def n_bytes_of(memory):
    """Return the bytes that the parameter `memory`, a number or a text, stands for.

    >>> from skcrf_sdca._utils.memory import n_bytes_of
    >>> n_bytes_of("1.5 GB"), n_bytes_of("64MiB"), n_bytes_of(2e9)
    (1500000000, 67108864, 2000000000)
    """
    if not isinstance(memory, str):
        return int(memory)
    found = re.fullmatch(r"([0-9.]+) *([kMGT]?)(i?)B", memory.strip())
    try:
        number, prefix, is_binary = found.groups()
        return int(float(number) * (1024 if is_binary else 1000) ** PREFIXES[prefix])
    except (AttributeError, ValueError):
        raise ValueError(
            f"memory={memory!r} is no size; give a number of bytes, a text such as "
            '"2GB" or "500 MiB", or "auto"'
        ) from None


def check_fits(n_bytes, need, advice):
    """Raise MemoryError if this many bytes are clearly not available.

    The message begins with `need`, the name and sizes of the arrays, and ends with
    `advice`, a remedy for the user.
    """
    if may_fit(n_bytes):
        return
    if n_bytes > MOST_BYTES:
        power = log10(n_bytes)
        raise MemoryError(f"{need} would take about 10^{power:.0f} bytes: {advice}")
    raise MemoryError(
        f"{need} would take {int(n_bytes)} bytes ({n_bytes / 2**30:.1f} GiB), of which "
        f"{available_memory() / 2**30:.1f} GiB are available: {advice}"
    )


def size_text(n_bytes):
    """Return a number of bytes as text, in GiB or MiB."""
    if n_bytes >= 2**30:
        return f"{n_bytes / 2**30:.1f} GiB"
    return f"{n_bytes / 2**20:.3g} MiB"


def _limits_of_process():
    """Yield how many bytes `ulimit -v` and `ulimit -d` leave this process, if any."""
    if not _SIZES.exists():
        return
    for name, place in (("RLIMIT_AS", 0), ("RLIMIT_DATA", 5)):
        limit = resource.getrlimit(getattr(resource, name))[0]
        if limit != resource.RLIM_INFINITY:
            n_pages = int(_SIZES.read_text().split()[place])
            yield max(limit - n_pages * resource.getpagesize(), 0)


def _machine_memory():
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, OSError, ValueError):
        return None


def _number_in(path):
    """Return the number in a file, None if it holds anything else."""
    try:
        return int(path.read_text())
    except (OSError, ValueError):
        return None
