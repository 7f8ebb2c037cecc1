"""Annotations beside the text: brat, with a file for each, and PubTator."""

import os
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from skcrf_sdca._utils.typing import SpanScheme

from ._files import Reading, blocks, is_path, numbered_lines, place, whole_text
from ._passages import Document, Passages, Read
from ._units import by_characters

_ENTITY = re.compile(
    r"T\S*\t(?P<type>\S+) (?P<parts>\d+ \d+(?:;\d+ \d+)*)(?:\t(?P<said>.*)|$)"
)
_PASSAGE = re.compile(r"(?P<name>[^|\t]+)\|(?P<part>[a-z])\|(?P<text>.*)")


def read_brat(
    source: os.PathLike[str] | str | Iterable[os.PathLike[str] | str],
    reading: Reading,
    *,
    tokens: str | None = None,
    scheme: SpanScheme = "BIO",
) -> Iterator[Read]:
    """Yield the sequences of texts, whose annotations are in files of the same name.

    `source` is a folder, the path of a text or of its annotations, or some of these.
    """
    passages = Passages(tokens, scheme)
    for path in _texts(source):
        text = whole_text(path, reading.encoding)
        notes = path.with_suffix(".ann")
        spans = _entities(notes, reading, text) if reading.labelled else None
        yield from passages.of(Document(path.stem, text, spans))
    passages.warn()


def read_pubtator(
    file: object,
    reading: Reading,
    *,
    tokens: str | None = None,
    scheme: SpanScheme = "BIO",
) -> Iterator[Read]:
    """Yield the sequences of titles and abstracts, with annotations after them."""
    passages = Passages(tokens, scheme)
    for block in blocks(numbered_lines(file, reading.encoding)):
        texts = [(number, _PASSAGE.fullmatch(line)) for number, line in block]
        found = [match for _, match in texts if match]
        if not found:
            raise ValueError(
                f"{place(file, block[0][0])}: no title such as 'number|t|text'."
            )
        text = "\n".join(match["text"] for match in found)
        rows = [line.split("\t") for _, line in block if not _PASSAGE.fullmatch(line)]
        # Relations have names in place of the numbers.
        notes = [
            (int(row[1]), int(row[2]), row[4], row[3])
            for row in rows
            if len(row) > 4 and row[1].isdecimal() and row[2].isdecimal()
        ]
        own = _by_characters(text, notes) if reading.labelled else None
        yield from passages.of(Document(found[0]["name"], text, own))
    passages.warn()


def _texts(source):
    """Return the paths of texts."""
    if not is_path(source):
        return [path for one in source for path in _texts(one)]
    path = Path(source)
    if path.is_dir():
        return sorted(path.rglob("*.txt"))
    return [path.with_suffix(".txt")]


def _entities(path, reading, text):
    """Return the spans of a file of annotations; parts of one are spans themselves.

    Parts with nothing but white space between them, such as a line break, are one.
    """
    notes = []
    for _, line in numbered_lines(path, reading.encoding):
        found = _ENTITY.match(line)
        if found:
            bounds = [tuple(map(int, p.split(" "))) for p in found["parts"].split(";")]
            notes += [
                (b, e, found["type"], found["said"]) for b, e in _joined(bounds, text)
            ]
    return _by_characters(text, notes)


def _joined(bounds, text):
    """Return bounds of parts, one in place of two between which is white space."""
    joined = bounds[:1]
    for begin, end in bounds[1:]:
        last_begin, last_end = joined[-1]
        if last_end <= begin and not text[last_end:begin].strip():
            joined[-1] = last_begin, end
        else:
            joined.append((begin, end))
    return joined


def _by_characters(text, notes):
    """Return the spans of notes (begin, end, type, their text)."""
    return by_characters(
        text, [note[:3] for note in notes], [note[3] for note in notes]
    )
