"""Text files: paths and file objects, compression, encodings, lines and their numbers.

The readers and writers of all formats use this module, which knows none of them.
"""

import codecs
import gzip
import os
import re
from importlib import import_module
from itertools import chain

from skcrf_sdca._utils.files import atomic_write, refused_as
from skcrf_sdca._utils.messages import described

BLANKS = " \t\r\n"

# How compressed data begin, by the module of the standard library that reads them.
_COMPRESSIONS = {
    "gzip": rb"\x1f\x8b",
    "bz2": rb"BZh[1-9](1AY&SY|\x17rE8P\x90)",
    "lzma": rb"\xfd7zXZ\x00",
}
_LONGEST_BEGINNING = 10
_UTF_8 = {"utf-8", "utf-8-sig"}
# Programs of Windows begin files by this mark, and `cat` joins such files.
_MARK = "\ufeff"
# Bytes or characters that are read at once.
_PIECE = 2**20


def write_text(file, text, encoding):
    """Write to a path, compressed if it ends in ``.gz``, or to an open text file."""
    if not is_path(file):
        file.write(text)
        return
    content = text.encode(text_encoding(encoding))
    if os.fspath(file).endswith(".gz"):
        content = gzip.compress(content, mtime=0)
    with atomic_write(file) as stream:
        stream.write(content)


def decompressed(content):
    """Return bytes, decompressed if gzip, bzip2 or xz made them.

    Raise OSError if they are damaged, or if Python was built without the module.
    """
    for module, beginning in _COMPRESSIONS.items():
        if re.match(beginning, content):
            with _refused(module):
                return import_module(module).decompress(content)
    return content


def _refused(module, place=""):
    return refused_as(OSError, f"{place}data compressed by {module}")


def text_encoding(name):
    """Return the name of the codec of an encoding of text files.

    Raise LookupError if there is none of this name. base64 is a codec of bytes, and
    idna one of single names: what it writes line by line it does not read again.
    """
    lines = ["a b\n", "a b\n"]
    try:
        codec = codecs.lookup(name)
        "".encode(name)
        encode, decode = codec.incrementalencoder().encode, codec.incrementaldecoder()
        if decode.decode(b"".join(map(encode, lines))) == "".join(lines):
            return codec.name
    except (LookupError, ValueError):
        pass
    raise LookupError(
        f"encoding={name!r:.80} is no encoding of text files; one is 'utf-8' or "
        "'latin-1'."
    )


def whole_text(file, encoding):
    """Return the text of a path or an open file, with the ends of its lines."""
    return "".join(_texts(file, encoding)).removeprefix(_MARK)


def place(file, number):
    """Return the name of a file and the number of a line in it, for messages."""
    return f"{name_of(file)}, line {number}"


def name_of(file):
    """Return the name of a path or an open file, for messages."""
    return os.fspath(file) if is_path(file) else getattr(file, "name", "file")


def numbered_lines(file, encoding):
    """Return an iterator over the lines of a path or an open file, and their numbers.

    These count from 1. The file is read as the lines are taken. A line that is not in
    the encoding raises ValueError.
    """
    return enumerate(_lines(_texts(file, encoding)), start=1)


def _lines(texts):
    """Yield the lines of a text that comes piece by piece."""
    # The pieces of a long line are joined once, not one by one.
    unended, has_end = [], False
    for text in texts:
        # Other characters at which str.splitlines breaks may be words.
        first, *lines = text.split("\n")
        unended.append(first)
        if lines:
            yield _clean("".join(unended))
            unended, has_end = [lines.pop()], True
            # To ask for all lines at once takes no time.
            yield from map(_clean, lines) if "\r" in text or _MARK in text else lines
    rest = "".join(unended)
    # Tables that Excel writes "for Macintosh" have no other ends of lines.
    yield from map(_clean, [rest] if has_end else rest.split("\r"))


def _clean(line):
    """Return a line without the end that it has on Windows, and a mark before it."""
    return line.rstrip("\r").removeprefix(_MARK)


def _texts(file, encoding):
    """Yield the decompressed and decoded content piece by piece."""
    if is_path(file):
        with open(file, "rb") as opened:
            yield from _texts(opened, encoding)
        return
    if not hasattr(file, "read"):
        raise TypeError(f"file must be a path or an open file, got {described(file)}.")
    # read1 returns the bytes in a pipe, and does not wait until the piece is full.
    pieces = _pieces(getattr(file, "read1", file.read), name_of(file))
    first = next(pieces, b"")
    if isinstance(first, str):
        yield first
        yield from pieces
        return
    first = _beginning(first, pieces)
    for module, beginning in _COMPRESSIONS.items():
        if re.match(beginning, first):
            pieces = _decompressed_pieces(_Resumed(first, file), module, name_of(file))
            break
    else:
        pieces = chain([first], pieces)
    first = next(pieces, b"")
    is_utf_8 = text_encoding(encoding) in _UTF_8
    if is_utf_8 and first.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        # No text in UTF-8 begins by these bytes, and programs of Windows write them.
        encoding = "utf-16"
    elif first.startswith(codecs.BOM_UTF8):
        # Nor does a text in an encoding of single bytes begin by these.
        encoding = "utf-8-sig"
    yield from _decoded(chain([first], pieces), file, encoding)


def _pieces(read, name):
    try:
        while piece := read(_PIECE):
            yield piece
    except OSError as error:
        # The system does not say in which file it could not read.
        if error.errno is not None and error.filename is None:
            error.filename = name
        raise


def _beginning(first, pieces):
    """Return the first piece, and with it the next ones if it is short.

    It is then long enough to recognise a compression, or has a whole line of text: a
    program that waits for the answer to this line sends no more.
    """
    while len(first) < _LONGEST_BEGINNING and b"\n" not in first:
        piece = next(pieces, b"")
        if not piece:
            break
        first += piece
    return first


def _decompressed_pieces(file, module, name):
    with _refused(module, f"{name}: "):
        yield from _pieces(import_module(module).open(file).read1, name)


class _Resumed:
    """A file of bytes whose first bytes were read before."""

    def __init__(self, first, file):
        self._first = first
        self._file = file

    def read(self, size):
        """Return at most `size` bytes."""
        if not self._first:
            return self._file.read(size)
        piece, self._first = self._first[:size], self._first[size:]
        return piece


def _decoded(pieces, file, encoding):
    decoder, n_lines = codecs.getincrementaldecoder(text_encoding(encoding))(), 0
    try:
        for piece in pieces:
            text = decoder.decode(piece)
            if n_lines == 0 and text.count("\0") > len(text) // 4:
                # So the letters of Latin scripts are in UTF-16 and UTF-32.
                raise ValueError(
                    f"{place(file, 1)}: not {encoding}, half of it are zeros; give the "
                    "encoding of the file, such as encoding='utf-16-le'."
                )
            n_lines += text.count("\n")
            yield text
        yield decoder.decode(b"", final=True)
    except UnicodeError as error:
        line, reason = n_lines + 1, error
        if isinstance(error, UnicodeDecodeError):
            line += error.object.count(b"\n", 0, error.start)
            reason = error.reason
        raise ValueError(
            f"{place(file, line)}: not {encoding} ({reason}); give the encoding of the "
            "file, such as encoding='latin-1'."
        ) from error


def blocks(lines):
    """Yield the numbered lines between blank ones, as lists."""
    block = []
    for number, line in lines:
        if line.strip(BLANKS):
            block.append((number, line))
        elif block:
            yield block
            block = []
    if block:
        yield block


def is_path(file):
    """Return whether a file is named by a path."""
    return isinstance(file, (str, os.PathLike))


def is_source(source):
    """Return whether something is a path or an open file, not data in memory."""
    return is_path(source) or hasattr(source, "read")
