"""Arrays that lie in a file in place of memory: unnamed files, mapped.

The system reads and writes parts of the file when they are used, and frees their memory
when it is needed. An unnamed file ends with the array, also if the process is killed.
"""

import math
import mmap
import os
import shutil
import tempfile

import numpy as np

from skcrf_sdca._utils.memory import BLOCK
from skcrf_sdca._utils.temporary_files import errors_named


def folder():
    """Return the folder of the files, that of temporary files: see `tempfile`."""
    return tempfile.gettempdir()


def free_space():
    """Return how many bytes the files can take."""
    return shutil.disk_usage(folder()).free


def zeros(shape, dtype=np.float64):
    """Return an array of zeros in a file; OSError, which names the folder, if it fails.

    Copies and pickles of the array are in memory.

    Examples
    --------
    >>> from skcrf_sdca._utils.mapped_arrays import zeros
    >>> zeros((2, 3)).sum(axis=1)
    array([0., 0.])
    """
    n_bytes = math.prod(shape) * np.dtype(dtype).itemsize
    if not n_bytes:
        return np.zeros(shape, dtype)
    with errors_named(folder()), tempfile.TemporaryFile(buffering=0) as file:
        _reserve(file, n_bytes)
        mapped = mmap.mmap(file.fileno(), n_bytes)
    return np.frombuffer(mapped, dtype).reshape(shape)


# A write to a mapped page for which a full disk has no place would end the process.
def _reserve(file, n_bytes):
    """Give an empty file its size, and the place on the disk."""
    if hasattr(os, "posix_fallocate"):
        os.posix_fallocate(file.fileno(), 0, n_bytes)
        return
    part = bytes(BLOCK)
    for begin in range(0, n_bytes, BLOCK):
        _write(file, part[: n_bytes - begin])


def _write(file, part):
    while part:
        part = part[file.write(part) :]
