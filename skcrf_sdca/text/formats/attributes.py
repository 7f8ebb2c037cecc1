"""Lines of a label and any number of attributes: data of CRFsuite, MALLET and others.

In data of CRFsuite an attribute is a name, or a name and a value after a colon. In
names a backslash stands before each colon and each backslash.
"""

import re
from collections.abc import Iterator
from math import isfinite, nan
from typing import Any

from skcrf_sdca.text.core.comments import Comments
from skcrf_sdca.text.core.files import BLANKS, numbered_lines, place
from skcrf_sdca.text.core.passages import Read, TextSource
from skcrf_sdca.text.core.reading import Reading
from skcrf_sdca.text.core.rows import iter_rows

_ESCAPED = re.compile(r"\\(.)")
# Before and after the last colon, if it is no escaped one.
_SCALED = re.compile(r"((?:[^\\]|\\.)*):([^:]*)", flags=re.DOTALL)
_ALONE = "with a label with blanks and no attributes: tabs separate these"
_PLACES = {"first": 0, "last": -1}


def read_attributes(
    file: object,
    reading: Reading,
    *,
    label: str = "last",
    delimiter: str | None = None,
    comment: str | None = None,
) -> Iterator[Read]:
    """Yield sequences whose tokens are lists of attributes, features as they are.

    `label` is "first" or "last"; `delimiter` and `comment` are as in `read_conll`.
    """
    if label not in _PLACES:
        raise ValueError(f"label must be 'first' or 'last', got {label!r}.")
    at = _PLACES[label]
    if reading.labelled:
        reading.take("label", f"the {label} field of a line", option="label")
    comments = Comments(file, reading, comment)
    lines = comments.without(numbered_lines(file, reading.encoding))
    for k, block in enumerate(iter_rows(lines, delimiter)):
        numbers, texts, found = block
        # A delimiter may end a line.
        rows: list[Any] = [
            row[:-1] if len(row) > 1 and not row[-1] else row for row in found
        ]
        comments.keep(block)
        comments.ask(texts, rows, at if reading.labelled else None)
        labels = [row.pop(at) for row in rows] if reading.labelled else None
        for number, row, name in zip(numbers, rows, labels or (), strict=False):
            _check_alone(row, name, place(file, number), reading)
        yield Read([[x for x in row if x] for row in rows], labels, TextSource(k))
    comments.tell()


def read_scaled(file: object, reading: Reading) -> Iterator[Read]:
    """Yield sequences of a data file of CRFsuite, whose tokens are dicts of numbers."""
    lines = numbered_lines(file, reading.encoding)
    for k, (numbers, texts, _) in enumerate(iter_rows(lines, "\t")):
        rows = [(n, *text.split("\t")) for n, text in zip(numbers, texts, strict=True)]
        for number, name, *fields in rows:
            _check_alone(fields, name, place(file, number), reading)
        labels = [label for _, label, *_ in rows] if reading.labelled else None
        tokens = [_item(file, number, fields) for number, _, *fields in rows]
        yield Read(tokens, labels, TextSource(k))


def scaled_fields(item):
    """Return the fields of a token in a data file of CRFsuite, given the dict of it."""
    names = (re.sub(r"[\\:]", r"\\\g<0>", name) for name in item)
    return [
        name if value == 1.0 else f"{name}:{value}"
        for name, value in zip(names, item.values(), strict=True)
    ]


def _check_alone(attributes, label, where, reading):
    """Note a label with blanks that stands alone: it may be the whole line."""
    if not attributes and " " in label.strip(BLANKS):
        reading.note("item", _ALONE, f"in {where}")


def _item(file, number, fields):
    item: dict[str, float] = {}
    for field in filter(None, fields):
        scaled = _SCALED.fullmatch(field)
        name, scale = scaled.groups() if scaled else (field, "1")
        try:
            value = float(scale)
        except ValueError:
            value = nan
        if not isfinite(value):
            raise ValueError(
                f"{place(file, number)}: {scale!r:.40} after the colon of "
                rf"{field!r:.80} is no finite number; in a name it is written as '\:'."
            )
        name = _ESCAPED.sub(r"\1", name)
        item[name] = item.get(name, 0.0) + value
    return item
