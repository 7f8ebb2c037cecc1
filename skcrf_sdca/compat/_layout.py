"""Functions for all chunks of CRFsuite's model files: checked reads and their error.

All numbers are little-endian; names are UTF-8 and end with NUL.
"""

import numpy as np

UINT32 = np.dtype("<u4")


def damaged(what):
    """Return the error for a file that CRFsuite cannot have written.

    Parameters
    ----------
    what : str
        What is wrong with the file.
    """
    return ValueError(
        f"not a whole model file of CRFsuite: {what}; train or copy the model again"
    )


def read_array(data, dtype, count, offset, what):
    """Return records of a buffer as a read-only array that shares its memory.

    Parameters
    ----------
    data : bytes
    dtype : dtype
    count, offset : int
        Numbers from the file; no memory is allocated for them.
    what : str
        What the records are, for the message.

    Raises
    ------
    ValueError
        If the records are not inside the buffer.
    """
    size = int(count) * np.dtype(dtype).itemsize
    if int(offset) + size > len(data):
        raise damaged(f"its {what} end after the file does")
    return np.frombuffer(data, dtype, int(count), int(offset))


def read_chunk(data, header, magic, offset, what):
    """Return the header of a chunk, a void scalar.

    Parameters
    ----------
    data : bytes
    header : dtype
        Structured, with a field ``magic``.
    magic : bytes
    offset : int
    what : str
        What the chunk holds, for messages.

    Raises
    ------
    ValueError
        If there is no such chunk.
    """
    found = read_array(data, header, 1, offset, what)[0]
    if found["magic"] != magic:
        raise damaged(f"there are no {what} at byte {int(offset)}")
    return found
