"""Texts with the labels among the words: slash tags, and spans in brackets."""

import re
from collections.abc import Iterator

from skcrf_sdca._utils.typing import SpanScheme
from skcrf_sdca.text.core.files import (
    BLANKS,
    blocks,
    numbered_lines,
    place,
)
from skcrf_sdca.text.core.passages import Document, Passages, Read, TextSource
from skcrf_sdca.text.core.reading import Reading

# In words of treebanks a backslash stands before a slash.
_ESCAPED_SLASH = "\\/"
# Between the sentences of the Penn Treebank.
_RULE = re.compile(r"\s*=+\s*")
# Spans in brackets, by the names of their forms.
_BRACKETS = {
    "[PER Anna Meier]": (
        r"\[(?P<type>[^\s\[\]]++)\s++"
        r"(?P<text>(?:[^\s\[\]]++|\s++(?!\]))*+)\s*+\]"
    ),
    "[Anna Meier](PER)": (
        r"\[(?P<text>[^\[\]]++)\]\((?P<type>[^():]++)(?::[^()]*+)?\)"
    ),
}


def read_slash(
    file: object, reading: Reading, *, separator: str = "/"
) -> Iterator[Read]:
    """Yield a sequence for each line of tokens such as "dog/NN"."""
    lines = numbered_lines(file, reading.encoding)
    sentences = ([line] for line in lines if line[1].strip(BLANKS))
    yield from _of_slashes(file, sentences, reading.labelled, separator)


def read_penn(file: object, reading: Reading) -> Iterator[Read]:
    """Yield the sentences of the Penn Treebank's files of tags, "[ The/DT dog/NN ]".

    Blank lines, lines of "=" and a tag "." at the end of a line end a sentence.
    """
    lines = list(_without_rules(numbered_lines(file, reading.encoding)))
    # Words have their tags in such files, also where these are not wanted.
    sentences = _penn_sentences(lines)
    for tokens, labels, source in _of_slashes(file, sentences, True, "/"):
        yield Read(tokens, labels if reading.labelled else None, source)


def _without_rules(lines):
    for number, line in lines:
        words = (word for word in line.split() if word not in {"[", "]"})
        yield number, "" if _RULE.fullmatch(line) else " ".join(words)


def _penn_sentences(lines):
    """Yield the lines of each sentence."""
    for block in blocks(lines):
        sentence = []
        for number, line in block:
            sentence.append((number, line))
            if line.endswith("/."):
                yield sentence
                sentence = []
        if sentence:
            yield sentence


def _of_slashes(file, sentences, labelled, separator):
    """Yield the sequences of sentences, whose numbered lines have slash tags."""
    for k, lines in enumerate(sentences):
        tokens, labels = [], []
        for number, text in ((n, text) for n, line in lines for text in line.split()):
            word, found, label = text.rpartition(separator)
            if labelled and not (found and word and label):
                raise ValueError(
                    f"{place(file, number)}: {text!r:.40} is no word with its label "
                    f"after separator={separator!r}."
                )
            word = word if labelled else text
            tokens.append({"word": word.replace(_ESCAPED_SLASH, "/")})
            labels.append(label)
        yield Read(tokens, labels if labelled else None, TextSource(k))


def read_brackets(
    file: object,
    reading: Reading,
    *,
    brackets: str = "[PER Anna Meier]",
    tokens: str | None = r"\S+",
    scheme: SpanScheme = "BIO",
) -> Iterator[Read]:
    """Yield a sequence for each line, in which brackets enclose spans."""
    if brackets not in _BRACKETS:
        raise ValueError(f"brackets must be among {[*_BRACKETS]}, got {brackets!r}.")
    passages, pattern = (
        Passages(reading, tokens, scheme),
        re.compile(_BRACKETS[brackets]),
    )
    lines = numbered_lines(file, reading.encoding)
    texts = (line for _, line in lines if line.strip(BLANKS) and line[0] != "#")
    for k, line in enumerate(texts):
        line = line.strip(BLANKS).removeprefix("- ")
        parts, spans, size, end = [], [], 0, 0
        for match in pattern.finditer(line):
            before, inner = line[end : match.start()], match["text"]
            size += len(before)
            spans.append((size, size + len(inner), match["type"]))
            size, end = size + len(inner), match.end()
            parts += [before, inner]
        text = "".join([*parts, line[end:]])
        yield from passages.of(Document(k, text, spans if reading.labelled else None))
