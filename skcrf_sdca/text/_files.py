"""Text files: paths and file objects, compression, encodings, lines and their numbers.

The readers and writers of all formats use this module, which knows none of them.
"""

import gzip
import os
import re
from importlib import import_module
from pathlib import Path

from skcrf_sdca._utils.files import atomic_write, refused_as
from skcrf_sdca._utils.messages import described

BLANKS = " \t\r\n"

# How compressed data begin, by the module of the standard library that reads them.
_BEGINNINGS = {
    "gzip": rb"\x1f\x8b",
    "bz2": rb"BZh[1-9](1AY&SY|\x17rE8P\x90)",
    "lzma": rb"\xfd7zXZ\x00",
}


def read_text(file, encoding):
    """Return the content of a path or an open file; ValueError for another encoding."""
    if not _is_path(file) and not hasattr(file, "read"):
        raise TypeError(f"file must be a path or an open file, got {described(file)}.")
    content = Path(file).read_bytes() if _is_path(file) else file.read()
    if isinstance(content, str):
        return content
    content = decompressed(content)
    try:
        return content.decode(encoding)
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise ValueError(
            f"{place(file, line)}: not {encoding} ({error.reason}); give the "
            "encoding of the file, such as encoding='latin-1'."
        ) from error


def write_text(file, text, encoding):
    """Write to a path, compressed if it ends in ``.gz``, or to an open text file."""
    if not _is_path(file):
        file.write(text)
        return
    content = text.encode(encoding)
    if os.fspath(file).endswith(".gz"):
        content = gzip.compress(content, mtime=0)
    with atomic_write(file) as stream:
        stream.write(content)


def decompressed(content):
    """Return bytes, decompressed if gzip, bzip2 or xz made them.

    Raise OSError if they are damaged, or if Python was built without the module.
    """
    for module, beginning in _BEGINNINGS.items():
        if re.match(beginning, content):
            with refused_as(OSError, f"data compressed by {module}"):
                return import_module(module).decompress(content)
    return content


def place(file, number):
    """Return the name of a file and the number of a line in it, for messages."""
    name = os.fspath(file) if _is_path(file) else getattr(file, "name", "file")
    return f"{name}, line {number}"


def numbered_lines(text):
    """Yield the number of each line, from 1, and the line."""
    # Other characters at which str.splitlines breaks may be words.
    for number, line in enumerate(text.split("\n"), start=1):
        yield number, line.rstrip("\r")


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


def _is_path(file):
    return isinstance(file, (str, os.PathLike))
