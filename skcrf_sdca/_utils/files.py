"""Files that are written as a whole or not at all, and checked when read."""

import contextlib
import errno
import json
import math
import os

from skcrf_sdca._utils.memory import check_fits
from skcrf_sdca._utils.temporary_files import opened, remove_abandoned, replacement

# Bytes in memory of what begins or ends with each of these signs in a JSON document.
# Names may have them too: of brackets, which some have, half is counted.
SIZES = {b"{": 64, b"[": 28, b'"': 25, b":": 80, b",": 16}
# Of writes: the disk is full, or the quota of the user, or a file has its largest size.
OF_FULL_DISKS = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}


@contextlib.contextmanager
def atomic_write(path):
    """Open a file for writing bytes that replaces the file at `path` when complete.

    The bytes go to a temporary file in the same folder, which is renamed at the end.
    After an error it is removed, and the file at `path` is unchanged; an OSError of a
    write, as to a full disk, names `path`. The temporary files of killed writers to
    this path are removed first. Pipes and devices cannot be replaced: they are written
    to directly.
    """
    path = os.path.realpath(os.fsdecode(path))
    if not is_regular_file(path):
        with opened(path, "wb", path) as file:
            yield file
        return
    remove_abandoned(path)
    with replacement(path) as file:
        yield file


def is_regular_file(path):
    """Return whether a path leads to no pipe or device, which may never end.

    It is also True for a folder and a missing file, which the system refuses to open.
    """
    path = os.fspath(path)
    return os.path.isfile(path) or os.path.isdir(path) or not os.path.exists(path)


@contextlib.contextmanager
def checked_read(path, error):
    """Open a file for reading bytes that may be damaged or hostile.

    Exceptions while the file is read become an `error`, see `refused_as`.
    """
    if not is_regular_file(path):
        raise error(f"{path} cannot be read: it is not a regular file")
    with open(path, "rb") as file, refused_as(error, path):
        yield file


@contextlib.contextmanager
def refused_as(error, name):
    """Make every exception an `error` that names the source.

    MemoryError and the errors of a full disk, to which what is read is written, stay.
    """
    try:
        yield
    except MemoryError:
        # The sizes that a file declares are checked against its own size.
        raise
    except Exception as cause:
        if isinstance(cause, OSError) and cause.errno in OF_FULL_DISKS:
            raise
        raise error(f"{name} cannot be read: {cause}") from cause


def strict_json(data, name):
    """Parse a JSON document in ASCII, called `name` in messages.

    Raise ValueError if it has a key twice in an object, or a number that is not finite,
    and MemoryError if its objects clearly do not fit into memory: they take some 10 to
    35 times its bytes.
    """
    check_fits(
        2 * len(data) + sum(size * data.count(sign) for sign, size in SIZES.items()),
        f"the objects of {name}, of {len(data)} bytes,",
        "read it where more memory is free",
    )

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
