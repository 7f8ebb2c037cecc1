"""A zip archive of one JSON document and arrays, which is checked when it is read.

Members are stored without compression, so that none can be larger than the file, and
the checksums of zip detect damage. Arrays are .npy files of little-endian float64 or
int64 in C order; their type and shape are known before they are read. See
docs/model_format.rst.
"""

import json
import math
import os
import zipfile

import numpy as np

from skcrf_sdca._utils.files import atomic_write, strict_json
from skcrf_sdca.persistence._fields import ModelFormatError

DOCUMENT = "model.json"
MAX_MEMBERS = 16
FLOAT, INT = "<f8", "<i8"
_NPY_MAGIC = b"\x93NUMPY\x01\x00"
_ENCRYPTED = 0x1


def write_archive(path, document, arrays):
    """Write a document and arrays to a file, or nothing.

    The document is made of the types of JSON; the arrays, by the names of their
    members, are of float64 or int64. The function raises ValueError if the document
    would not be equal after it is read again.
    """
    text = json.dumps(document, allow_nan=False)
    if json.loads(text) != document:
        raise ValueError(
            "a label, feature or parameter does not survive JSON: a str in it has two "
            "surrogates in a row, which are read back as one character."
        )
    with atomic_write(path) as file:
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
