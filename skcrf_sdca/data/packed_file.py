"""Packed sequences in a file: written in parts, read by mapping it into memory.

A file has 64 bytes with the place of the header, the arrays of a PackedSequences as
they are in memory, and the header: see docs/packed_format.rst. This module checks the
sizes and the header; PackedSequences checks the content of the arrays.
"""

import contextlib
import json
import math
import os
import shutil
import struct

import numpy as np

from skcrf_sdca._utils.files import atomic_write, checked_read, strict_json
from skcrf_sdca._utils.temporary_files import unnamed
from skcrf_sdca._version import __version__

__all__ = ["PackedFormatError"]

FORMAT, FORMAT_VERSION = "skcrf_sdca.packed", 1
MAGIC = b"\x93PACKED\n"
# The magic bytes, the offset of the header, and its length.
_PREAMBLE = struct.Struct("<8sQQ")
ALIGNMENT = 64
MAX_HEADER = 2**16
SIZES = ("n_sequences", "n_positions", "n_features", "n_values")
# Indices have 32 bits.
_MAX_VALUES = np.iinfo(np.int32).max
# Larger sizes in a header are refused.
_LIMIT = 2**48


class PackedFormatError(ValueError):
    """A file does not hold packed sequences that this version can read.

    Examples
    --------
    >>> import os, tempfile
    >>> from skcrf_sdca import PackedSequences
    >>> from skcrf_sdca.data.packed_file import PackedFormatError
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "text.packed")
    ...     with open(path, "w") as file:
    ...         _ = file.write("no sequences")
    ...     try:
    ...         PackedSequences.open(path)
    ...     except PackedFormatError as error:
    ...         print(str(error).removeprefix(path))
     cannot be read: it does not begin as a file of packed sequences
    """


def layout(n_sequences, n_positions, n_features, n_values):
    """Return {name: (dtype, shape, begin)} of the arrays of a file, in their order.

    `n_values` is None if the rows are dense; `begin` is the offset of the first byte.
    """
    if n_values is None:
        forms = {"values": ("<f8", [n_positions, n_features])}
    else:
        forms = {
            "values": ("<f8", [n_values]),
            "indices": ("<i4", [n_values]),
            "indptr": ("<i4", [n_positions + 1]),
        }
    forms["offsets"] = ("<i8", [n_sequences + 1])
    arrays, end = {}, _PREAMBLE.size
    for name, (dtype, shape) in forms.items():
        # The next multiple of ALIGNMENT.
        begin = -(-end // ALIGNMENT) * ALIGNMENT
        arrays[name] = (dtype, shape, begin)
        end = begin + math.prod(shape) * np.dtype(dtype).itemsize
    return arrays


def _header(sizes):
    arrays = {
        name: {"dtype": dtype, "shape": shape, "begin": begin}
        for name, (dtype, shape, begin) in layout(**sizes).items()
    }
    return {
        "format": FORMAT,
        "format_version": FORMAT_VERSION,
        **sizes,
        "arrays": arrays,
    }


@contextlib.contextmanager
def writing(path, *, grows=False):
    """Open a file for packed sequences that takes its name when it is complete.

    It yields a PackedWriter.
    """
    with contextlib.ExitStack() as files:
        file = files.enter_context(atomic_write(path))
        writer = PackedWriter(file, files, grows=grows)
        yield writer
        writer.end()


class PackedWriter:
    """Writes packed sequences part by part, in the memory of one part.

    `PackedSequences.writer` makes it. All arrays but the first are collected in unnamed
    files, which the ExitStack `files` closes, and copied to their places at the end.
    """

    def __init__(self, file, files, *, grows=False):
        self._grows = grows
        self._file = file
        self._files = files
        self._streams = {"values": file}
        self._sizes = None
        # Names of the first part that has some; the file has none.
        self._names = None
        # While a part is written, and for good if that fails.
        self._is_cut = False
        file.seek(ALIGNMENT)

    def append(self, packed):
        """Write sequences after those that are in the file.

        Parameters
        ----------
        packed : PackedSequences
            Sparse if the first part is, with the same number of features. If the file
            grows, sparse parts may have more features than those before.

        Raises
        ------
        ValueError
            If the part does not have this form, or other names of features than the
            parts before, if both have names; if the file would hold more than
            2,147,483,647 values of sparse rows, or is closed. The part is left out, and
            others may follow.
        OSError
            If the part cannot be written, as to a full disk. After that the writer
            takes no other part, and writes no file.
        """
        self._check_whole()
        sizes = self._sizes or _sizes_without_rows(packed)
        _check_part(packed, sizes, grows=self._grows)
        if not self._grows:
            self._check_names(packed.feature_names)
        self._is_cut = True
        if self._sizes is None:
            self._begin(sizes)
        self._add(packed)
        self._is_cut = False

    def _add(self, packed):
        X, sizes = packed.X, self._sizes
        arrays = {"values": X, "offsets": packed.offsets[1:] + sizes["n_positions"]}
        if packed.is_sparse:
            indptr = X.indptr[1:] + np.int32(sizes["n_values"])
            arrays |= {"values": X.data, "indices": X.indices, "indptr": indptr}
            sizes["n_values"] += X.nnz
        sizes["n_features"] = packed.n_features
        sizes["n_positions"] += packed.n_positions
        sizes["n_sequences"] += len(packed)
        for name, array in arrays.items():
            self._write(name, array)

    def _begin(self, sizes):
        self._sizes = sizes
        self._dtypes = {n: dtype for n, (dtype, *_) in layout(**sizes).items()}
        for name in self._dtypes:
            if name not in self._streams:
                stream = unnamed(self._file.raw.path)
                self._streams[name] = self._files.enter_context(stream)
        for name in {"indptr", "offsets"} & set(self._dtypes):
            self._write(name, np.zeros(1))

    def _check_names(self, names):
        if self._names is None:
            self._names = names
        elif names is not None and names != self._names:
            raise ValueError(
                "the names of the features of the part are not those of the parts "
                "before; make all parts with one vectorizer."
            )

    def _check_whole(self):
        if self._is_cut:
            raise ValueError(
                "a part could not be written before: the file would lack some of its "
                "rows; begin again with a new writer."
            )

    def _write(self, name, array):
        array = np.ascontiguousarray(array, dtype=self._dtypes[name])
        self._streams[name].write(array.reshape(-1).data)

    def end(self):
        """Put the arrays after each other, and the header after them."""
        self._check_whole()
        if self._sizes is None:
            raise ValueError("no part was appended: the file has no width.")
        file = self._file
        for name, (_, _, begin) in layout(**self._sizes).items():
            stream = self._streams[name]
            if stream is not file:
                file.seek(begin)
                stream.seek(0)
                shutil.copyfileobj(stream, file)
        header = {**_header(self._sizes), "written_by": f"skcrf_sdca {__version__}"}
        text = json.dumps(header).encode()
        begin = file.tell()
        file.write(text)
        file.seek(0)
        file.write(_PREAMBLE.pack(MAGIC, begin, len(text)))


def _sizes_without_rows(packed):
    """Return the sizes of a file without rows, of the form of a part."""
    n_values = 0 if packed.is_sparse else None
    return dict(zip(SIZES, (0, 0, packed.n_features, n_values), strict=True))


def _check_part(packed, sizes, *, grows):
    """Raise ValueError if a part cannot follow the rows of a file of these sizes."""
    n_features, n_values = sizes["n_features"], sizes["n_values"]
    is_sparse = n_values is not None
    has_grown = grows and is_sparse and packed.n_features > n_features
    has_width = packed.n_features == n_features or has_grown
    if packed.is_sparse != is_sparse or not has_width:
        form = {True: "sparse", False: "dense"}
        raise ValueError(
            f"the part is {form[packed.is_sparse]}, with {packed.n_features} "
            f"features, but the part before is {form[is_sparse]}, with "
            f"{n_features} features; make all parts with one vectorizer."
        )
    if is_sparse and n_values + packed.X.nnz > _MAX_VALUES:
        raise ValueError(
            f"with this part X has {n_values + packed.X.nnz} stored values; at "
            f"most {_MAX_VALUES} are supported. Write the rest to another file."
        )


class MappedFile:
    """A file as it was when it was mapped.

    Parameters
    ----------
    file : file object
        Open; it may be closed later.
    """

    def __init__(self, file):
        self.path = os.path.abspath(os.fsdecode(file.name))
        self.state = _state(os.fstat(file.fileno()))

    def check(self):
        """Raise ValueError if the file has been changed since.

        It may have been replaced or removed: the mapped bytes stay as they were.
        """
        try:
            state = _state(os.stat(self.path))
        except OSError:
            return
        if state["file"] == self.state["file"] and state != self.state:
            raise ValueError(
                f"X is mapped from {self.path}, which has been changed since it was "
                "opened: open it again, and write other files by `save` or `writer`, "
                "which replace them."
            )


def _state(status):
    return {
        "file": (status.st_dev, status.st_ino),
        "size": status.st_size,
        "time": status.st_mtime_ns,
    }


def read(path, mmap_mode):
    """Return the arrays of a file, its number of features, and its MappedFile.

    The arrays, {name: array}, are not checked. They are mapped into memory if
    `mmap_mode` is "r"; if it is None, there is no MappedFile. Raise PackedFormatError
    if the file does not have the sizes and the form that it declares.
    """
    with checked_read(path, PackedFormatError) as file:
        is_mapped = mmap_mode == "r"
        source = MappedFile(file) if is_mapped else None
        sizes = _checked_sizes(file)
        take = _mapped if is_mapped else _read
        arrays = {name: take(file, *form) for name, form in layout(**sizes).items()}
    return arrays, sizes["n_features"], source


def _checked_sizes(file):
    size = file.seek(0, os.SEEK_END)
    file.seek(0)
    start = file.read(_PREAMBLE.size)
    if len(start) < _PREAMBLE.size or start[: len(MAGIC)] != MAGIC:
        raise PackedFormatError("it does not begin as a file of packed sequences")
    _, begin, length = _PREAMBLE.unpack(start)
    if length > MAX_HEADER or begin + length != size:
        raise PackedFormatError(f"it has {size} bytes, not as many as it declares")
    file.seek(begin)
    header = strict_json(file.read(length), "the header")
    written_by = header.pop("written_by", None)
    if header.get("format_version") != FORMAT_VERSION:
        raise PackedFormatError(
            f"its format is of version {header.get('format_version')!r:.40}, and this "
            f"is skcrf_sdca {__version__}, which reads version {FORMAT_VERSION}"
        )
    sizes = {name: header[name] for name in SIZES}
    counts = [n for name, n in sizes.items() if (name, n) != ("n_values", None)]
    if not all(type(n) is int and 0 <= n < _LIMIT for n in counts):
        raise PackedFormatError("its sizes are not numbers that a file can have")
    # All else follows from the sizes.
    if header != _header(sizes) or not isinstance(written_by, str):
        raise PackedFormatError("its header is not that of arrays of these sizes")
    dtype, shape, first = layout(**sizes)["offsets"]
    if first + 8 * shape[0] != begin:
        raise PackedFormatError("its arrays do not end where the header begins")
    return sizes


def _mapped(file, dtype, shape, begin):
    if math.prod(shape) == 0:
        return np.empty(shape, dtype)
    return np.memmap(file, dtype, mode="r", offset=begin, shape=tuple(shape))


def _read(file, dtype, shape, begin):
    file.seek(begin)
    array = np.fromfile(file, dtype, math.prod(shape))
    return array.reshape(shape)
