"""Temporary files beside the files that they will replace, also of killed writers.

A writer keeps its temporary file locked, and the system ends the lock with the process,
even if it is killed. So a file without a lock has no living writer. It has a
name of this module only while it is locked, or after its writer was killed. Locks may
not reach the other machines that share a folder: the name depends on the machine too.
"""

import contextlib
import hashlib
import io
import os
import platform
import re
import secrets
import tempfile

try:
    import fcntl
except ImportError:
    # Windows has no such locks.
    fcntl = None  # type: ignore[assignment]


@contextlib.contextmanager
def errors_named(path):
    """Let an OSError of a write, as to a full disk, name the file that is to be."""
    try:
        yield
    except OSError as error:
        if error.errno is None:
            error.args = (f"{path}: {error}",)
        else:
            error.filename = path
            # None would be written as the name of a second file.
            del error.filename2
        raise


class _Raw(io.FileIO):
    """A raw file for writing that has another name in errors."""

    def __init__(self, name, mode, path):
        self.path = path
        with errors_named(path):
            super().__init__(name, mode)

    def write(self, data):
        with errors_named(self.path):
            return super().write(data)


def opened(name, mode, path):
    """Open a file for writing bytes; errors name `path` in its place."""
    return io.BufferedWriter(_Raw(name, mode, path))


@contextlib.contextmanager
def unnamed(path):
    """Open a file without a name in the folder of `path`, which errors name."""
    folder = os.path.dirname(path)
    with errors_named(path), tempfile.TemporaryFile(dir=folder, buffering=0) as file:
        raw = _Raw(os.dup(file.fileno()), "r+b", path)
    opened = io.BufferedRandom(raw)
    try:
        yield opened
    finally:
        # What has not been written is not needed any more.
        with contextlib.suppress(OSError):
            opened.close()


@contextlib.contextmanager
def replacement(path):
    """Open a temporary file for writing bytes, which replaces `path` when complete.

    It is in the same folder, and is removed after an error, which names `path`. Where
    files cannot be locked, it has a name that `remove_abandoned` leaves alone.
    """
    name = os.path.join(os.path.dirname(path), f".{secrets.token_hex(8)}.tmp")
    is_locked = False
    try:
        with opened(name, "xb", path) as file:
            with contextlib.suppress(OSError):
                _lock(file)
                locked = f"{_beginning(path)}{secrets.token_hex(8)}.tmp"
                os.rename(name, locked)
                name, is_locked = locked, True
            yield file
            with errors_named(path):
                file.flush()
                os.fsync(file.fileno())
                if is_locked:
                    # Closed, it would be taken for abandoned.
                    os.replace(name, path)
        if not is_locked:
            with errors_named(path):
                # Windows does not rename open files.
                os.replace(name, path)
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
        _lock(file)
        os.unlink(name)


def _lock(file):
    """Lock an open file; OSError if it is locked, or cannot be."""
    if fcntl is None:
        raise OSError("this system has no locks of files")
    fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
