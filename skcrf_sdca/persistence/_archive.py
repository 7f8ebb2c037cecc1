"""A zip archive of one JSON document and arrays, which is checked when it is read.

The archive lies at a path, in a file object or in bytes: only this module knows where.
Members are stored without compression, so that none can be larger than the archive, and
the checksums of zip detect damage. Arrays are .npy files of little-endian float64 or
int64 in C order; their type and shape are known before they are read. See
docs/model_format.rst.
"""

import contextlib
import io
import json
import math
import os
import zipfile

import numpy as np

from skcrf_sdca._utils.files import (
    atomic_write,
    checked_read,
    refused_as,
    strict_json,
)
from skcrf_sdca.persistence._fields import ModelFormatError

DOCUMENT = "model.json"
MAX_MEMBERS = 16
FLOAT, INT = "<f8", "<i8"
_NPY_MAGIC = b"\x93NUMPY\x01\x00"
_ENCRYPTED = 0x1
# What is a path, also if it has methods of files; and what is the bytes of a file.
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
    text = json.dumps(document, allow_nan=False)
    # Surrogates, also the pairs of one character, are the only doubt.
    if r"\ud" in text and json.loads(text) != document:
        raise ValueError(
            "a label, feature or parameter does not survive JSON: a str in it has two "
            "surrogates in a row, which are read back as one character."
        )
    _write_members(file, text, arrays)


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


def read_archive(file, build):
    """Return what `build` makes of the document and the arrays of an open file.

    It is called as ``build(document, array)``, where ``array(name, dtype, shape)``
    returns the array of this name as a writeable array, if it has this type and shape
    in the file. The function raises ModelFormatError if the archive does not have this
    form, or has further members; other exceptions come from zipfile, json or `build`.
    """
    size = file.seek(0, os.SEEK_END)
    with zipfile.ZipFile(file) as archive:
        members = _checked_members(archive, size)

        def read(name):
            if name not in members:
                raise ModelFormatError(f"it has no member {name}")
            return archive.read(members.pop(name))

        def array(name, dtype, shape):
            return _array(f"{name}.npy", read(f"{name}.npy"), dtype, shape)

        built = build(strict_json(read(DOCUMENT), DOCUMENT), array)
    if members:
        raise ModelFormatError(f"it has unknown members: {sorted(members)}")
    return built


def _checked_members(archive, size):
    """Return {name: entry}, without reading or allocating anything for members."""
    entries = archive.infolist()
    members = {entry.filename: entry for entry in entries}
    if len(entries) > MAX_MEMBERS or len(members) != len(entries):
        raise ModelFormatError(f"it has {len(entries)} members, or two of one name")
    for name, entry in members.items():
        is_plain = entry.compress_type == zipfile.ZIP_STORED
        if not is_plain or entry.flag_bits & _ENCRYPTED:
            raise ModelFormatError(f"{name} is compressed or encrypted")
        if entry.file_size != entry.compress_size:
            raise ModelFormatError(f"{name} declares two different sizes")
    if sum(entry.file_size for entry in entries) > size:
        raise ModelFormatError("its members declare more bytes than it has")
    return members


def _array(name, data, dtype, shape):
    """Return the array of a .npy member, which must have this type and shape."""
    begin = 10 + int.from_bytes(data[8:10], "little")
    header = data[10:begin].decode("latin-1").translate(_BLANKS)
    header = header.replace(",)", ")").replace(",}", "}")
    lengths = ",".join(map(str, shape))
    form = f"{{'descr':'{dtype}','fortran_order':False,'shape':({lengths})}}"
    n_bytes = 8 * math.prod(shape)
    if data[:8] != _NPY_MAGIC or header != form or len(data) - begin != n_bytes:
        raise ModelFormatError(
            f"{name} must be a .npy file, version 1.0, in C order, of type {dtype} and "
            f"shape {shape}, and nothing more"
        )
    values = np.frombuffer(data, dtype, offset=begin).reshape(shape)
    return values.astype(values.dtype.newbyteorder("="))


_BLANKS = dict.fromkeys(map(ord, " \n"))
