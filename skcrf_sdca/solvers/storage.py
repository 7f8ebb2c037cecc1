"""Where the dual variables of a solver lie: in memory, or in files.

In files lies what a dual solver keeps of every position: the dual variables, and the
distinct features of the sequences. Its sequences are then drawn inside a window that
slides over the data, so that parts of the files that are used lie in memory.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from skcrf_sdca._utils import mapped_arrays
from skcrf_sdca._utils.memory import (
    available_memory,
    may_fit,
    memory_for_files,
    n_bytes_of,
    size_text,
)
from skcrf_sdca.solvers.samplers import WINDOW
from skcrf_sdca.structures.weight_choice import AUTO

# The part of the available memory that "auto" takes.
SHARE = 0.8


class FilesWarning(UserWarning):
    """The dual variables of a fit lie in files, as they do not fit into memory.

    The fit takes more time, and ends at the same optimum.

    Examples
    --------
    >>> import warnings
    >>> from skcrf_sdca.solvers.storage import FilesWarning
    >>> warnings.simplefilter("ignore", FilesWarning)   # the data are that large
    """


class Storage(NamedTuple):
    """Where the dual variables lie.

    Attributes
    ----------
    new_array : callable
        Makes arrays of zeros, as `numpy.zeros` does.
    window : float
        The part of the data that a window of visits has.
    needed, limit : int
        Bytes of the dual variables and of data in files; what may be in memory.
    """

    new_array: Callable = np.zeros
    window: float = WINDOW
    needed: int = 0
    limit: int = 0

    @property
    def in_files(self):
        """Whether they lie in files."""
        return self.new_array is not np.zeros

    def has_room(self, n_bytes):
        """Return whether so many more bytes in files would stay in memory.

        This is no matter of ``memory``: the system frees the pages when it needs them.
        """
        if not self.in_files or n_bytes > mapped_arrays.free_space():
            return False
        most = memory_for_files()
        return most is not None and self.needed + n_bytes <= SHARE * most

    def described(self):
        """Return where they lie, and why, as a part of a message."""
        return (
            f"the data and the dual variables take {size_text(self.needed)}, more than "
            f"the {size_text(self.limit)} that memory may have: the dual variables lie "
            f"in files in {mapped_arrays.folder()}, and visits read them by a window "
            f"of {self.window:.2g} of the data"
        )


IN_MEMORY = Storage()


def storage_for(problem, n_bytes, memory):
    """Return the Storage of a problem.

    Parameters
    ----------
    problem : Problem
    n_bytes : int
        Size of the dual variables.
    memory : "auto", int, str or None
        As for `SDCACRF`.

    Raises
    ------
    MemoryError
        If files are needed where ``memory`` says so, and the disk has no place.
    ValueError
        If ``memory`` is a text that is no size.
    """
    of_features, mapped = _bytes_of_data(problem.data)
    needed = n_bytes + of_features + mapped
    if memory is None or (memory == AUTO and may_fit(needed / SHARE)):
        return IN_MEMORY
    limit = SHARE * available_memory() if memory == AUTO else n_bytes_of(memory)
    if needed <= limit:
        return IN_MEMORY
    free = mapped_arrays.free_space()
    if n_bytes + 2 * of_features <= free:
        window = min(max(limit, 1) / needed, WINDOW)
        return Storage(mapped_arrays.zeros, window, needed, int(limit))
    if memory == AUTO:
        return IN_MEMORY
    raise MemoryError(
        f"the dual variables take {size_text(n_bytes)}, more than memory={memory!r}, "
        f"and {mapped_arrays.folder()} has only {size_text(free)} free: take a larger "
        "memory, or set the environment variable TMPDIR to a folder with more space"
    )


def _bytes_of_data(data):
    """Return the bytes of the distinct features, and of the file of the data."""
    if not data.stores_rows:
        return 0, 0
    # A number for each entry, and at most one for each distinct feature.
    of_features = 8 * int(data.X.nnz) if sp.issparse(data.X) else 0
    return of_features, data.n_bytes_mapped
