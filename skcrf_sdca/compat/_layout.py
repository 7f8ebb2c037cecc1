"""Functions for all chunks of CRFsuite's model files: checked reads and their error.

All numbers are little-endian; names are UTF-8 and end with NUL.
"""

import numpy as np

UINT32 = np.dtype("<u4")


def damaged(what):
    """Return the error for a file that CRFsuite cannot have written, and why."""
    return ValueError(
        f"not a whole model file of CRFsuite: {what}; train or copy the model again"
    )


def read_array(data, dtype, count, offset, what):
    """Return `count` records of a buffer as a read-only array that shares its memory.

    `count` and `offset` come from the file: no memory is allocated for them. If the
    records are not inside the buffer, a ValueError names `what` they are.
    """
    size = int(count) * np.dtype(dtype).itemsize
    if int(offset) + size > len(data):
        raise damaged(f"its {what} end after the file does")
    return np.frombuffer(data, dtype, int(count), int(offset))


def read_chunk(data, header, magic, offset, what):
    """Return the header of a chunk, a void scalar of the structured dtype `header`.

    If its field ``magic`` has another value, a ValueError names `what` the chunk holds.
    """
    found = read_array(data, header, 1, offset, what)[0]
    if found["magic"] != magic:
        raise damaged(f"there are no {what} at byte {int(offset)}")
    return found
