"""Annotations beside the text: brat, with a file for each, and PubTator.

Both are read here and written.
"""

import os
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from skcrf_sdca._utils.typing import SpanScheme
from skcrf_sdca.text.core.files import (
    blocks,
    is_path,
    numbered_lines,
    place,
    whole_text,
    write_text,
)
from skcrf_sdca.text.core.passages import Document, Passages, Read
from skcrf_sdca.text.core.reading import Reading
from skcrf_sdca.text.spans.units import by_characters

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
    passages = Passages(reading, tokens, scheme)
    for path in _texts(source):
        text = whole_text(path, reading.encoding)
        notes = path.with_suffix(".ann")
        spans = _entities(notes, reading, text) if reading.labelled else None
        yield from passages.of(Document(path.stem, text, spans))


def read_pubtator(
    file: object,
    reading: Reading,
    *,
    tokens: str | None = None,
    scheme: SpanScheme = "BIO",
) -> Iterator[Read]:
    """Yield the sequences of titles and abstracts, with annotations after them."""
    passages = Passages(reading, tokens, scheme)
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


def write_brat(
    folder: os.PathLike[str] | str, documents: Iterable[Document], encoding: str
) -> None:
    """Write a text and its annotations for each document into a folder."""
    if not is_path(folder):
        raise TypeError(f"brat needs the path of a folder, not {folder!r:.80}.")
    documents = list(documents)
    _check_names(documents)
    files: dict[str, str] = {}
    for name, text, spans, _ in documents:
        notes = [_note(k, text, *span) for k, span in enumerate(spans or (), start=1)]
        files |= {f"{name}.txt": text, f"{name}.ann": "".join(notes)}
    os.makedirs(folder, exist_ok=True)
    for name, content in files.items():
        write_text(Path(folder, name), content, encoding)


def _check_names(documents):
    """Raise ValueError if documents would be written to one file, or to no file."""
    taken = set()
    for name in (str(document.name) for document in documents):
        if name in taken or not name or set(name) & set("/\\\0"):
            raise ValueError(
                f"document {name!r}: brat needs another name for the file of each "
                "document, without a slash; sources= has the names."
            )
        taken.add(name)


def _note(k, text, begin, end, kind):
    """Return the line of a span, whose parts end where a line does."""
    _check_type(kind, "brat")
    parts = [m.span() for m in re.finditer(r"[^\n]*\S", text[begin:end])]
    bounds = ";".join(f"{begin + b} {begin + e}" for b, e in parts)
    said = " ".join(text[begin + b : begin + e] for b, e in parts)
    return f"T{k}\t{kind} {bounds}\t{said}\n"


def _check_type(kind, format):
    if not kind or kind.split() != [kind]:
        raise ValueError(
            f"{kind!r:.80} is a type of spans that {format} cannot hold: it must be a "
            "word without blanks."
        )


def write_pubtator(file: Any, documents: Iterable[Document], encoding: str) -> None:
    """Write documents as title and abstract, with blanks for further line breaks."""
    write_text(file, "".join(map(_pubtator, documents)), encoding)


def _pubtator(document):
    """Return the lines of a document; each line of a text is as long as it was."""
    name, text, spans, _ = document
    title, _, abstract = text.partition("\n")
    lines = [f"{name}|t|{title}", f"{name}|a|{abstract.replace(chr(10), ' ')}"]
    for begin, end, kind in spans or ():
        said = text[begin:end].replace("\n", " ").replace("\t", " ")
        lines.append(f"{name}\t{begin}\t{end}\t{said}\t{kind}")
    return "\n".join([*lines, "", ""])
