"""Annotations beside the text: brat, with a file for each, and PubTator.

Both are read here and written.
"""

import os
import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate
from pathlib import Path
from typing import Any, NamedTuple

from skcrf_sdca._utils.typing import SpanScheme
from skcrf_sdca.text.core.files import (
    BLANKS,
    blocks,
    is_path,
    numbered_lines,
    place,
    whole_text,
    write_text,
)
from skcrf_sdca.text.core.paired_texts import paired_texts
from skcrf_sdca.text.core.passages import Document, Passages, Read
from skcrf_sdca.text.core.reading import Reading
from skcrf_sdca.text.spans.located import Bounds

_ENTITY = re.compile(
    r"T\S*+\t(?P<type>\S++) (?P<parts>\d{1,9} \d{1,9}(?>(?:;\d{1,9} \d{1,9})*))"
    r"(?:\t(?P<said>.*)|$)"
)
# Relations, events, attributes, normalisations, notes and equal ones.
_OTHER = re.compile(r"[REAMN*#]")
_PASSAGE = re.compile(r"(?P<name>[^|\t]+)\|(?P<part>[a-z])\|(?P<text>.*)")
_SPAN = re.compile(
    r"(?P<name>[^\t]+)\t(?P<begin>\d{1,9})\t(?P<end>\d{1,9})\t(?P<said>[^\t]*)\t"
    r"(?P<type>[^\t]+)(?:\t.*)?"
)
# Relations have names in place of the numbers.
_RELATION = re.compile(r"[^\t]+\t[^\W\d][^\t]*\t.*")
_ANNOTATIONS = ".ann"


class Note(NamedTuple):
    """A span of characters, its type, and the text that the file gives for it."""

    begin: int
    end: int
    type: str
    said: str | None


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
    for path, own in paired_texts(source, reading, _ANNOTATIONS, _annotations_of):
        text, notes = whole_text(path, reading.encoding), None
        if reading.labelled:
            notes = list(_entities(own, reading, text))
        yield from passages.of(document_of(path.stem, text, notes))


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
        for name, texts, notes in _articles(file, block):
            wanted = notes if reading.labelled else None
            yield from passages.of(document_of(name, "\n".join(texts), wanted))


def _articles(file, lines):
    """Yield the name of each article, its texts and its notes."""
    name, texts, notes = None, [], []
    for number, line in lines:
        if found := _PASSAGE.fullmatch(line):
            if found["name"] != name and texts:
                yield name, texts, notes
                texts, notes = [], []
            name = found["name"]
            texts.append(found["text"])
        elif not texts:
            raise ValueError(
                f"{place(file, number)}: no title such as 'number|t|text'."
            )
        elif (found := _SPAN.fullmatch(line)) and found["name"] == name:
            bounds = int(found["begin"]), int(found["end"])
            notes.append(Note(*bounds, found["type"], found["said"]))
        elif found or not _RELATION.fullmatch(line):
            raise ValueError(
                f"{place(file, number)}: {line!r:.80} is no annotation of {name}, such "
                f"as '{name}<tab>0<tab>4<tab>Anna<tab>Person'."
            )
    yield name, texts, notes


def document_of(name: str, text: str, notes: Sequence[Note] | None) -> Document:
    """Return a document, without spans if the notes are None."""
    if notes is None:
        return Document(name, text, None)
    spans = [note[:3] for note in notes]
    return Document(name, text, spans, said=[note.said for note in notes])


def _annotations_of(text):
    """Return the path of the annotations of a text; None if there are none."""
    path = text.with_suffix(_ANNOTATIONS)
    return path if path.exists() else None


def _entities(path, reading, text):
    """Yield the Notes of a file of annotations; parts of one are Notes themselves.

    Parts with nothing but white space between them, such as a line break, are one.
    """
    blanks = Bounds(text)
    for number, line in numbered_lines(path, reading.encoding):
        found = _ENTITY.match(line)
        if found:
            parts = [part.split(" ") for part in found["parts"].split(";")]
            bounds = sorted((int(begin), int(end)) for begin, end in parts)
            said = _said_of_parts(found["said"], bounds)
            yield from _joined(
                [
                    Note(*own, found["type"], x)
                    for own, x in zip(bounds, said, strict=True)
                ],
                blanks,
            )
        elif line.strip(BLANKS) and not _OTHER.match(line):
            raise ValueError(
                f"{place(path, number)}: {line!r:.80} is no annotation such as "
                "'T1<tab>Person 0 4<tab>Anna'."
            )


def _said_of_parts(said, bounds):
    """Return the text that a file gives for each part, which blanks separate in it."""
    lengths = [max(end - begin, 0) for begin, end in bounds]
    if said is None or len(said) != sum(lengths) + len(bounds) - 1:
        return [said] if len(bounds) == 1 else [None] * len(bounds)
    begins = [begin + k for k, begin in enumerate(accumulate(lengths, initial=0))]
    return [said[b : b + n] for b, n in zip(begins, lengths, strict=False)]


def _joined(notes, blanks):
    """Return the parts of a span, one in place of two between which is white space."""
    joined = notes[:1]
    for note in notes[1:]:
        last = joined[-1]
        if last.end <= note.begin <= blanks.skipped(last.end):
            said = f"{last.said} {note.said}" if last.said and note.said else None
            joined[-1] = last._replace(end=note.end, said=said)
        else:
            joined.append(note)
    return joined


def write_brat(
    folder: os.PathLike[str] | str, documents: Iterable[Document], encoding: str
) -> None:
    """Write a text and its annotations for each document into a folder."""
    if not is_path(folder):
        raise TypeError(f"brat needs the path of a folder, not {folder!r:.80}.")
    documents = list(documents)
    _check_names(documents)
    files: dict[str, str] = {}
    for name, text, spans, *_ in documents:
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
    name, text, spans, _, _ = document
    title, _, abstract = text.partition("\n")
    lines = [f"{name}|t|{title}", f"{name}|a|{abstract.replace(chr(10), ' ')}"]
    for begin, end, kind in spans or ():
        said = text[begin:end].replace("\n", " ").replace("\t", " ")
        lines.append(f"{name}\t{begin}\t{end}\t{said}\t{kind}")
    return "\n".join([*lines, "", ""])
