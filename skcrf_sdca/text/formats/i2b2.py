"""Concepts of i2b2: a file of spans beside each text, whose lines and words it counts.

A line such as ``c="blood pressure" 1:1 1:2||t="test"`` is a span of line 1, from word 1
to word 2. Lines count from 1 and words, between blanks, from 0.
"""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from skcrf_sdca._utils.typing import SpanScheme
from skcrf_sdca.text.core.files import (
    BLANKS,
    is_path,
    numbered_lines,
    place,
    whole_text,
)
from skcrf_sdca.text.core.paired_texts import paired_texts
from skcrf_sdca.text.core.passages import Passages, Read
from skcrf_sdca.text.core.reading import Reading
from skcrf_sdca.text.spans.offsets import tokenize

from .standoff import Note, document_of

_SUFFIX = ".con"
_CONCEPT = re.compile(
    r'c="(?P<said>.*)" (?P<begin>\d{1,9}:\d{1,9}) (?P<end>\d{1,9}:\d{1,9})'
    r'\|\|t="(?P<type>[^"]+)"\s*'
)
# Words, and the ends of lines, which separate sentences.
_WORDS = r"\S+"


def read_i2b2(
    source: Any, reading: Reading, *, scheme: SpanScheme = "BIO"
) -> Iterator[Read]:
    """Yield the sequences of texts, whose concepts are in files ``.con``.

    `source` is a folder, the path of a text, or some of these. The files of concepts
    are beside the texts or in another folder beside theirs.
    """
    if is_path(source) and Path(source).suffix == _SUFFIX:
        raise ValueError(
            f"{source}: concepts without their text; read the folder with the texts."
        )
    passages = Passages(reading, _WORDS, scheme)
    for path, own in paired_texts(source, reading, _SUFFIX, _concepts_of):
        text, notes = whole_text(path, reading.encoding), None
        if reading.labelled:
            notes = list(_notes(own, text, reading))
        yield from passages.of(document_of(path.stem, text, notes))


def _concepts_of(text):
    """Return the path of the concepts of a text; None if there is none."""
    beside = [text.with_suffix(_SUFFIX), Path(f"{text}{_SUFFIX}")]
    folders = sorted(own for own in text.parent.parent.iterdir() if own.is_dir())
    others = [own / f"{text.stem}{_SUFFIX}" for own in folders]
    return next((own for own in [*beside, *others] if own.is_file()), None)


def _notes(path, text, reading):
    """Yield the Notes of a file of concepts, by characters of the text."""
    begin, lines = 0, []
    for line in text.split("\n"):
        lines.append([(begin + b, begin + e) for b, e in tokenize(line, _WORDS)[1]])
        begin += len(line) + 1
    for number, line in numbered_lines(path, reading.encoding):
        found = _CONCEPT.fullmatch(line)
        if found:
            places = [_place(lines, found[key]) for key in ("begin", "end")]
            if None not in places:
                (first, _), (_, last) = places
                yield Note(first, last, found["type"], found["said"])
                continue
        if line.strip(BLANKS):
            raise ValueError(
                f"{place(path, number)}: {line!r:.80} is no concept of the "
                f'{len(lines)} lines of its text, such as c="Anna Meier" 1:0 '
                '1:1||t="person".'
            )


def _place(lines, numbers):
    """Return the characters of a word, from the numbers of its line and its own."""
    line, word = map(int, numbers.split(":"))
    is_there = 1 <= line <= len(lines) and word < len(lines[line - 1])
    return lines[line - 1][word] if is_there else None
