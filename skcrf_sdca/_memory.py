"""Where large arrays lie, and whether they fit: asked before they are allocated.

Systems hand out more memory than they have, and end the process that uses it. So the
large arrays, those that grow with the square of n_labels, are first held against what
is there, and only what clearly cannot fit is refused.
"""

import math
import mmap
import os
import shutil
import tempfile
from pathlib import Path

import numpy as np

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


class Store:
    """Where the arrays of a fit lie that grow with the positions.

    Parameters
    ----------
    folder : str or path-like, default=None
        Each array is in an unnamed file in this folder, mapped into memory; the file is
        gone when the array is. None for memory itself.

    Raises
    ------
    OSError
        If there is no such folder, or no file can be made in it.
    """

    def __init__(self, folder=None):
        self.folder = folder
        if folder is not None:
            tempfile.TemporaryFile(dir=folder).close()

    def zeros(self, shape, dtype=np.float64):
        """Return an array of zeros; OSError if the disk has no room for it."""
        return self._make(np.zeros, shape, dtype)

    def empty(self, shape, dtype=np.float64):
        """Return an array whose values are not set; OSError as `zeros`."""
        return self._make(np.empty, shape, dtype)

    def _make(self, in_memory, shape, dtype):
        n_bytes = math.prod(shape) * np.dtype(dtype).itemsize
        if self.folder is None or n_bytes == 0:
            return in_memory(shape, dtype)
        with tempfile.TemporaryFile(dir=self.folder) as file:
            _reserve(file, n_bytes)
            mapped = mmap.mmap(file.fileno(), n_bytes)
        _expect_random_access(mapped)
        return np.frombuffer(mapped, dtype).reshape(shape)

    def copy_of(self, array):
        """Return a copy of an array."""
        out = self.empty(array.shape, array.dtype)
        out[...] = array
        return out

    def check_fits(self, n_bytes, need, advice):
        """Raise MemoryError if so many bytes clearly cannot be had, see `check_fits`.

        Of a folder it is asked whether the disk has room.
        """
        if self.folder is None:
            check_fits(n_bytes, need, advice)
            return
        free = shutil.disk_usage(self.folder).free
        if n_bytes > free:
            raise MemoryError(
                f"{need} would take {n_bytes} bytes ({n_bytes / 2**30:.1f} GiB), of "
                f"which the disk of {self.folder} has {free / 2**30:.1f} GiB: {advice}"
            )


MEMORY = Store()


def _reserve(file, n_bytes):
    """Give a file its size on the disk; a mapped page without one ends the process."""
    if hasattr(os, "posix_fallocate"):
        os.posix_fallocate(file.fileno(), 0, n_bytes)
    else:
        file.truncate(n_bytes)


def _expect_random_access(mapped):
    """Let a mapped file be kept in small pages.

    Else the system joins pages of a file, to some MiB, and writes all of that back for
    every sequence that is visited: many times the size of the file in an epoch.
    """
    if hasattr(mmap, "MADV_RANDOM"):
        mapped.madvise(mmap.MADV_RANDOM)


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
