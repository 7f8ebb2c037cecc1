"""Rows of columns: the lines of a file between blank ones, and the fields of lines.

This is the only module that knows what separates columns and sequences.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import TypeAlias

from skcrf_sdca.text.core.files import BLANKS

Numbered: TypeAlias = tuple[int, str]
#: The numbers of some lines, the lines, and their columns.
Block: TypeAlias = tuple[Sequence[int], Sequence[str], Sequence[Sequence[str]]]

_TABS_AND_BLANKS = re.compile("[ \t]+")
# White space, and marks that are not seen.
_NOT_SEEN = re.compile(r"[\s\ufeff\u200b\u2060]*")


def iter_rows(
    lines: Iterable[Numbered], delimiter: str | None, *, one_column: bool = False
) -> Iterator[Block]:
    """Yield the numbers of the lines, the lines and their columns of each sequence.

    `lines` are read as the sequences are taken. The number of columns is not checked.
    Lines that people see as blank end sequences; in a file of one column they may be
    tokens.
    """
    ends_sequence = _has_blanks_alone if one_column else _seems_blank
    numbers: list[int] = []
    texts: list[str] = []
    for number, line in lines:
        if not ends_sequence(line):
            numbers.append(number)
            texts.append(line)
        elif texts:
            yield numbers, texts, [fields(text, delimiter) for text in texts]
            numbers, texts = [], []
    if texts:
        yield numbers, texts, [fields(text, delimiter) for text in texts]


def _has_blanks_alone(line):
    return not line.strip(BLANKS)


def _seems_blank(line):
    # To ask whether a line is of ASCII, or of white space, takes no time.
    is_blank = not line or line.isspace()
    return is_blank or (not line.isascii() and _NOT_SEEN.fullmatch(line) is not None)


def is_blank(delimiter: str) -> bool:
    """Return whether a delimiter is blanks and tabs alone."""
    return not delimiter.strip(BLANKS)


def fields(line: str, delimiter: str | None) -> list[str]:
    """Return the columns of a line, between tabs, blanks or another delimiter."""
    if delimiter is not None and len(delimiter) > 1 and is_blank(delimiter):
        return [field for field in re.split(f"[{delimiter}]+", line) if field]
    if delimiter is None and "\t" not in line:
        # Only blanks separate: words may contain other white space.
        found = line.split(" ")
        return [field for field in found if field] if "" in found else found
    delimiter = "\t" if delimiter is None else delimiter
    found = line.split(delimiter)
    # What is a delimiter is no blank beside one.
    blanks = " \t".replace(delimiter, "")
    if any(blank in line for blank in blanks):
        # A token may be a blank.
        found = [field.strip(blanks) or field for field in found]
    return found


def mixed_fields(line: str) -> list[str]:
    """Return the columns of a line between any runs of tabs and blanks."""
    return [field for field in _TABS_AND_BLANKS.split(line) if field]


def without_ends(row: Sequence[str], n: int) -> Sequence[str]:
    """Return a row without the empty columns after the n-th.

    Some programs end each line by a delimiter, and tables by several.
    """
    if len(row) <= n:
        return row
    kept = row[:n]
    is_ended = len(row) == n + 1 or (n and len(row) > n and kept[-1])
    return kept if is_ended and not any(row[n:]) else row
