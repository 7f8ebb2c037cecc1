"""Files written whole or not at all, and read with distrust."""

import contextlib
import json
import math
import os
import secrets


@contextlib.contextmanager
def written_whole(path):
    """Open a file for writing that takes its name only when it is complete.

    It is written under another name in the same folder. After an error that one is
    gone, and what was at `path` before is there still.

    Parameters
    ----------
    path : str or path-like

    Yields
    ------
    file : binary file object
    """
    path = os.path.realpath(os.fsdecode(path))
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


def is_special(path):
    """Return whether a path is that of neither a file nor a folder.

    Such as a pipe, which may never end.

    Parameters
    ----------
    path : str, bytes or path-like
    """
    path = os.fspath(path)
    exists = os.path.exists(path)
    return exists and not (os.path.isfile(path) or os.path.isdir(path))


def strict_json(data, name):
    """Return a JSON document in ASCII, without what JSON leaves undefined.

    Parameters
    ----------
    data : bytes
    name : str
        Of the document, for messages.

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
