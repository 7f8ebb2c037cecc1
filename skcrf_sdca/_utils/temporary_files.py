"""Temporary files beside the files that they will replace, also of killed writers.

A writer keeps its temporary file locked, and the system ends the lock with the process,
even if it is killed. So a file that nobody has locked has no living writer. It has a
name of this module only while it is locked, or after its writer was killed. Locks may
not reach the other machines that share a folder: the name depends on the machine too.
"""

import contextlib
import fcntl
import hashlib
import os
import platform
import re
import secrets

_AT_ONCE = fcntl.LOCK_EX | fcntl.LOCK_NB


@contextlib.contextmanager
def temporary_file(path):
    """Open a new file for writing bytes in the folder of `path`; yield it and its name.

    It is removed after an error. Where files cannot be locked, it has a name that
    `remove_abandoned` leaves alone.
    """
    name = os.path.join(os.path.dirname(path), f".{secrets.token_hex(8)}.tmp")
    with open(name, "xb") as file:
        try:
            with contextlib.suppress(OSError):
                fcntl.flock(file, _AT_ONCE)
                locked = f"{_beginning(path)}{secrets.token_hex(8)}.tmp"
                os.rename(name, locked)
                name = locked
            yield file, name
        except BaseException:
            with contextlib.suppress(OSError):
                os.unlink(name)
            raise


def remove_abandoned(path):
    """Remove the temporary files of `path` that killed writers on this machine left."""
    folder, beginning = os.path.split(_beginning(path))
    ours = re.compile(rf"{re.escape(beginning)}[0-9a-f]{{16}}\.tmp")
    with contextlib.suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            if ours.fullmatch(entry.name) and entry.is_file(follow_symlinks=False):
                _remove_unlocked(entry.path)


def _beginning(path):
    """Return how the temporary files of a path begin, on this machine."""
    folder, name = os.path.split(path)
    owner = hashlib.sha256(os.fsencode(f"{platform.node()}/{name}")).hexdigest()
    return os.path.join(folder, f".skcrf_sdca-{owner[:16]}-")


def _remove_unlocked(name):
    with contextlib.suppress(OSError), open(name, "r+b") as file:
        fcntl.flock(file, _AT_ONCE)
        os.unlink(name)
