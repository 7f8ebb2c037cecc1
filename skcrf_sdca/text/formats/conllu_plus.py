"""Treebanks in CoNLL-U Plus, whose first line has the names of the columns.

The format: https://universaldependencies.org/ext-format.html. Files of CoNLL-U with
more columns than ten, whose names no line has, are read, too.
"""

import re
from collections.abc import Iterable, Iterator
from itertools import chain
from typing import Any

from skcrf_sdca.text.core.files import blocks, numbered_lines, place
from skcrf_sdca.text.core.passages import Read, TextSource
from skcrf_sdca.text.core.reading import Reading

from .conllu import COLUMNS
from .label_columns import column_of, value_of, without_missing

_HEADER = "# global.columns ="
_ID = re.compile(r"[0-9]+([-.][0-9]+)?")


def read_plus(
    file: Any,
    reading: Reading,
    *,
    columns: Iterable[str] = ("word",),
    label: str | None = None,
) -> Iterator[Read]:
    """Yield the sequences of words; names are small letters, and FORM is "word".

    The label is in the last column, unless `label` names another, or an attribute in
    one, such as "misc:NER". It is None where the column is empty.
    """
    lines = numbered_lines(file, reading.encoding)
    first, lines = _first_lines(lines)
    names = _names(file, first)
    if reading.labelled:
        option = "label" if label is None else None
        label = names[-1] if label is None else label
        reading.take("label", f"the column {label!r}", option=option)
    wanted = [*columns, *[label] * reading.labelled]
    for name in wanted:
        if name not in names and column_of(name) not in names:
            raise ValueError(f"there is no column {name!r} among {', '.join(names)}.")
    columns = [name for name in wanted if name != label]
    words = ((n, line) for n, line in lines if line[:1] != "#")
    for k, block in enumerate(blocks(words)):
        rows = [_row(file, number, line, names) for number, line in block]
        # Multiword tokens have ids such as 1-2, and empty nodes such as 8.1.
        rows = [row for row in rows if row.get("id", "1").isdecimal()]
        tokens = [{name: value_of(row, name) for name in columns} for row in rows]
        labels = None
        if reading.labelled:
            found = [value_of(row, label) for row in rows]
            labels = without_missing(found, [label])
        yield Read(tokens, labels, TextSource(k))


def _first_lines(lines):
    """Return the comments that begin a file and the line after them, and all lines."""
    lines = iter(lines)
    first = []
    for own in lines:
        first.append(own)
        if own[1].strip() and not own[1].startswith("#"):
            break
    return first, chain(first, lines)


def _names(file, first):
    """Return the names of the columns, which a comment or the columns tell."""
    for _, line in first:
        if line.startswith(_HEADER):
            titles = [title.lower() for title in line.removeprefix(_HEADER).split()]
            return ["word" if title == "form" else title for title in titles]
    number, line = first[-1] if first else (1, "")
    n = len(line.split("\t"))
    if n <= len(COLUMNS):
        raise ValueError(
            f"{place(file, number)}: CoNLL-U Plus begins with {_HEADER!r} and the "
            f"names of the columns; the line is {line!r:.80}."
        )
    return [*COLUMNS, *(f"column{k}" for k in range(len(COLUMNS) + 1, n + 1))]


def _row(file, number, line, names):
    fields = line.rstrip(" ").split("\t")
    if len(fields) != len(names):
        raise ValueError(
            f"{place(file, number)}: {len(fields)} columns, but the columns are "
            f"{len(names)}: {', '.join(names)}."
        )
    row = dict(zip(names, fields, strict=True))
    if not _ID.fullmatch(row.get("id", "1")):
        raise ValueError(f"{place(file, number)}: ID {row['id']!r:.40} is no number.")
    return row
