"""Files that are written as a whole or not at all, and checked when read."""

import contextlib
import json
import math
import os
import secrets


@contextlib.contextmanager
def atomic_write(path):
    """Open a file for writing bytes that replaces the file at `path` when complete.

    The bytes go to a temporary file in the same folder, which is renamed at the end.
    After an error it is removed, and what was at `path` before is unchanged. Pipes and
    devices cannot be replaced, and are written to directly.

    Parameters
    ----------
    path : str, bytes or path-like

    Yields
    ------
    file : binary file object
    """
    path = os.path.realpath(os.fsdecode(path))
    if not is_regular_file(path):
        with open(path, "wb") as file:
            yield file
        return
    temporary = os.path.join(os.path.dirname(path), f".{secrets.token_hex(8)}.tmp")
    try:
        with open(temporary, "xb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(temporary)
        raise


def is_regular_file(path):
    """Return whether a path is not that of a pipe or a device, which may never end.

    True also for a folder and where nothing exists: the system refuses to open these.

    Parameters
    ----------
    path : str, bytes or path-like
    """
    path = os.fspath(path)
    return os.path.isfile(path) or os.path.isdir(path) or not os.path.exists(path)


@contextlib.contextmanager
def checked_read(path, error):
    """Open a file for reading bytes that may be damaged or hostile.

    Parameters
    ----------
    path : str, bytes or path-like
    error : type
        Whatever is raised while the file is read becomes this error, except that memory
        is exhausted.

    Yields
    ------
    file : binary file object
    """
    if not is_regular_file(path):
        raise error(f"{path} cannot be read: it is not a regular file")
    with open(path, "rb") as file:
        try:
            yield file
        except MemoryError:
            # The sizes that a file declares are checked against its own size.
            raise
        except Exception as cause:
            raise error(f"{path} cannot be read: {cause}") from cause


def strict_json(data, name):
    """Return a JSON document in ASCII; no duplicate keys, no NaN, no infinity.

    Parameters
    ----------
    data : bytes
    name : str
        Name of the document, for messages.

    Raises
    ------
    ValueError
        If it is not such a document.
    """

    def without_duplicates(pairs):
        entries = dict(pairs)
        if len(entries) != len(pairs):
            raise ValueError(f"{name} has an object with a key twice")
        return entries

    def finite(text):
        value = float(text)
        if not math.isfinite(value):
            raise ValueError(f"{name} has the number {text:.40}")
        return value

    return json.loads(
        data.decode("ascii"),
        object_pairs_hook=without_duplicates,
        parse_float=finite,
        parse_constant=finite,
    )
