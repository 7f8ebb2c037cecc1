"""Zip archives of arrays that may be damaged or hostile, checked while they are read.

Members are stored without compression, so that none can be larger than the archive, and
the checksums of zip detect damage. Arrays are .npy files of little-endian float64 or
int64 in C order; their type and shape are known before they are read.
"""

import contextlib
import math
import os
import zipfile

import numpy as np

from skcrf_sdca._utils.memory import BLOCK

FLOAT, INT = "<f8", "<i8"
# The types of arrays that are read in blocks.
NUMBERS = {FLOAT, INT, "<f4", "<i4", "|u1", "|b1"}
_NPY_MAGIC = b"\x93NUMPY\x01\x00"
_BLANKS = dict.fromkeys(map(ord, " \n"))
_ENCRYPTED = 0x1


class Members:
    """The members of an open archive, each read once; ``entries`` has them by name."""

    def __init__(self, archive, entries):
        self._archive = archive
        self._unread = entries

    def sizes(self):
        """Return the number of bytes of each member that is not read yet."""
        return {name: entry.file_size for name, entry in self._unread.items()}

    def read(self, name):
        """Return the bytes of a member; ValueError if there is none of this name."""
        if name not in self._unread:
            raise ValueError(f"it has no member {name}")
        return self._archive.read(self._unread.pop(name))

    def leave(self, beginning):
        """Leave the members whose names begin so unread."""
        for name in [name for name in self._unread if name.startswith(beginning)]:
            del self._unread[name]

    def array(self, name, dtype, shape):
        """Return the writeable array of the member `name`.npy.

        Raise ValueError if it does not have this type and shape.
        """
        return _array(f"{name}.npy", self.read(f"{name}.npy"), dtype, shape)

    def streamed(self, name, new):
        """Return the array of the member `name`.npy, read in blocks.

        ``new`` makes it from a shape and a dtype, one of `NUMBERS`. ValueError if the
        member is no such array, or is missing.
        """
        entry = self._unread.pop(f"{name}.npy", None)
        if entry is None:
            raise ValueError(f"it has no member {name}.npy")
        with self._archive.open(entry) as member:
            if member.read(len(_NPY_MAGIC)) != _NPY_MAGIC:
                raise ValueError(f"{name}.npy is no .npy file, version 1.0")
            header = np.lib.format.read_array_header_1_0
            shape, is_fortran, dtype = header(member)
            n_bytes = math.prod(shape) * dtype.itemsize
            if dtype.str not in NUMBERS or is_fortran or n_bytes > entry.file_size:
                raise ValueError(f"{name}.npy is no array of numbers in C order")
            array = new(shape, dtype)
            left = memoryview(array.reshape(-1).view(np.uint8))
            while left and (n_read := member.readinto(left[:BLOCK])):
                left = left[n_read:]
            # At its end the checksum is compared.
            if left or member.read(1):
                raise ValueError(f"{name}.npy does not have the size that it declares")
        return array


@contextlib.contextmanager
def opened_members(file, most):
    """Read an open file as an archive of at most `most` members; yield its `Members`.

    Raise ValueError if it does not have this form, or if a member is left unread; other
    exceptions come from zipfile.
    """
    size = file.seek(0, os.SEEK_END)
    with zipfile.ZipFile(file) as archive:
        entries = _checked_entries(archive, size, most)
        yield Members(archive, entries)
    if entries:
        raise ValueError(f"it has unknown members: {sorted(entries)}")


def _checked_entries(archive, size, most):
    """Return {name: entry}, without reading or allocating anything for members."""
    entries = archive.infolist()
    members = {entry.filename: entry for entry in entries}
    if len(entries) > most or len(members) != len(entries):
        raise ValueError(f"it has {len(entries)} members, or two of one name")
    for name, entry in members.items():
        is_plain = entry.compress_type == zipfile.ZIP_STORED
        if not is_plain or entry.flag_bits & _ENCRYPTED:
            raise ValueError(f"{name} is compressed or encrypted")
        if entry.file_size != entry.compress_size:
            raise ValueError(f"{name} declares two different sizes")
    if sum(entry.file_size for entry in entries) > size:
        raise ValueError("its members declare more bytes than it has")
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
        raise ValueError(
            f"{name} must be a .npy file, version 1.0, in C order, of type {dtype} and "
            f"shape {shape}, and nothing more"
        )
    values = np.frombuffer(data, dtype, offset=begin).reshape(shape)
    return values.astype(values.dtype.newbyteorder("="))
