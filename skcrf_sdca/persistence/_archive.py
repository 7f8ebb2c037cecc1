"""A zip archive of one JSON document and arrays, which is checked when it is read.

The archive lies at a path, in a file object or in bytes: only this module knows where.
Its members are as _utils/archives.py reads them, see docs/model_format.rst.
"""

import contextlib
import gc
import io
import json
import os
import zipfile

import numpy as np

from skcrf_sdca._utils.archives import FLOAT, INT, opened_members
from skcrf_sdca._utils.files import atomic_write, checked_read, refused_as, strict_json
from skcrf_sdca.persistence._fields import ModelFormatError

DOCUMENT = "model.json"
# Weights of label tuples are an array for each length, of which NumPy indexes 63.
MAX_MEMBERS = 78
# Types of paths, also if they have methods of files; and of the bytes of a file.
PATHS = (str, os.PathLike)
BUFFERS = (bytes, bytearray, memoryview)


@contextlib.contextmanager
def opened_to_write(path):
    """Open a path, or a binary file object, which gets all bytes at the end or none."""
    if isinstance(path, PATHS):
        with atomic_write(path) as file:
            yield file
        return
    _check_binary(path, "write")
    whole = io.BytesIO()
    yield whole
    n_written = path.write(whole.getvalue())
    if n_written not in (None, whole.tell()):
        raise OSError(f"{path!r:.60} took {n_written} of {whole.tell()} bytes")


@contextlib.contextmanager
def opened_to_read(path):
    """Open a path, the rest of a binary file object, or the bytes of a file.

    Every exception while it is read, except MemoryError, becomes a ModelFormatError.
    """
    if isinstance(path, PATHS):
        with checked_read(path, ModelFormatError) as file:
            yield file
        return
    data, name = path, "the file in bytes"
    if not isinstance(path, BUFFERS):
        _check_binary(path, "read")
        data, name = path.read(), f"{path!r:.60}"
        if not data:
            raise ModelFormatError(
                f"{name} cannot be read: nothing follows its position; if it was "
                "written before, call seek(0)"
            )
    with refused_as(ModelFormatError, name):
        yield io.BytesIO(data)


def _check_binary(file, method):
    # open() takes a number as a descriptor, and closes it: for example, of stdout.
    if not hasattr(file, method) or isinstance(file, io.TextIOBase):
        raise TypeError(
            "path must be a str, a path-like object or a file object that is open in "
            f"binary mode; got {file!r:.60}."
        )


def write_archive(file, document, arrays):
    """Write a document and arrays to an open file.

    The document is made of the types of JSON; the arrays, by the names of their
    members, are of float64 or int64. The function raises ValueError if the document
    would not be equal after it is read again.
    """
    with _without_collector():
        text = json.dumps(document, allow_nan=False)
    # Surrogates, also the pairs of one character, are the only doubt.
    if r"\ud" in text and json.loads(text) != document:
        raise ValueError(
            "a label, feature or parameter does not survive JSON: a str in it has two "
            "surrogates in a row, which are read back as one character."
        )
    _write_members(file, text, arrays)


@contextlib.contextmanager
def _without_collector():
    """Pause the garbage collector, which would look through all of the user's objects.

    A tuple is made for each entry of a dict, so that a vocabulary wakes it.
    """
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


def _write_members(file, text, arrays):
    with zipfile.ZipFile(file, "w", zipfile.ZIP_STORED) as archive:
        # Without dates, equal models are equal files.
        archive.writestr(zipfile.ZipInfo(DOCUMENT), text)
        for name, array in arrays.items():
            info = zipfile.ZipInfo(f"{name}.npy")
            info.file_size = array.nbytes
            array = np.ascontiguousarray(array, dtype=_stored_type(array))
            with archive.open(info, "w") as member:
                np.lib.format.write_array(
                    member, array, version=(1, 0), allow_pickle=False
                )


def _stored_type(array):
    return INT if array.dtype.kind == "i" else FLOAT


def read_archive(file, build, *, leave=()):
    """Return what `build` makes of the document and the arrays of an open file.

    It is called as ``build(document, array)``, where ``array(name, dtype, shape)``
    returns the array of this name as a writeable array, if it has this type and shape
    in the file. Members whose names begin with one in `leave` are not read. The
    function raises ValueError if the archive does not have this form, or has further
    members; other exceptions come from zipfile, json or `build`.
    """
    with opened_members(file, MAX_MEMBERS) as members:
        for beginning in leave:
            members.leave(beginning)
        document = strict_json(members.read(DOCUMENT), DOCUMENT)
        return build(document, members.array)


def read_document(file, build):
    """Return what `build` makes of the document of an open file, and of its sizes.

    It is called as ``build(document, sizes)``, with the bytes of each member by its
    name. Arrays are not read. Errors are as of `read_archive`.
    """
    with opened_members(file, MAX_MEMBERS) as members:
        sizes = members.sizes()
        document = strict_json(members.read(DOCUMENT), DOCUMENT)
        members.leave("")
        return build(document, sizes)
