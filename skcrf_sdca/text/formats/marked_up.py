"""Texts with the labels among the words: slash tags, brackets, and markup like XML."""

import html
import re
from collections.abc import Iterable, Iterator

from skcrf_sdca._utils.typing import SpanScheme
from skcrf_sdca.text.core.files import (
    BLANKS,
    blocks,
    numbered_lines,
    place,
    whole_text,
)
from skcrf_sdca.text.core.passages import Document, Passages, Read, TextSource
from skcrf_sdca.text.core.reading import Reading

# In words of treebanks a backslash stands before a slash.
_ESCAPED_SLASH = "\\/"
# Between the sentences of the Penn Treebank.
_RULE = re.compile(r"\s*=+\s*")
# Spans in brackets, by the names of their forms.
_BRACKETS = {
    "[PER Anna Meier]": r"\[(?P<type>[^\s\[\]]+)\s+(?P<text>[^\[\]]*?)\s*\]",
    "[Anna Meier](PER)": r"\[(?P<text>[^\[\]]+)\]\((?P<type>[^():]+)[^()]*\)",
}
_TAG = re.compile(
    r"<(?P<close>/?)(?P<name>[A-Za-z_][\w:.-]*)(?P<rest>[^<>]*)>|<[!?][^>]*>"
)
_TYPE = re.compile(r"""\btype\s*=\s*["']?(?P<type>[^"'\s>]+)""", re.IGNORECASE)
# Elements that hold sentences, also if they hold no other elements.
_BLOCKS = set(
    "s sent sentence p par paragraph doc document text txt body head headline hl div "
    "section title root corpus docno docid date_time storyid slug nwords".split()
)


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


def read_markup(
    file: object,
    reading: Reading,
    *,
    types: Iterable[str] | None = None,
    tokens: str | None = None,
    scheme: SpanScheme = "BIO",
) -> Iterator[Read]:
    """Yield a sequence for each line or element of a text with tags like XML."""
    passages = Passages(reading, tokens, scheme)
    source = whole_text(file, reading.encoding)
    elements = list(_elements(source, file))
    wanted = _span_names(elements) if types is None else set(types)
    text, spans = _without_tags(source, elements, wanted)
    yield from passages.of(Document(0, text, spans if reading.labelled else None))


def _elements(source, file):
    """Yield the tags that open and close each element, and whether it holds others.

    They come in the order in which elements are closed. An empty element, or one that
    is never closed, is no element.
    """
    opened = []
    for tag in _TAG.finditer(source):
        if tag["name"] is None or tag["rest"].endswith("/"):
            continue
        if not tag["close"]:
            opened = [(own, True) for own, _ in opened] + [(tag, False)]
        elif any(own["name"] == tag["name"] for own, _ in opened):
            while opened[-1][0]["name"] != tag["name"]:
                opened.pop()
            own, holds = opened.pop()
            yield own, tag, holds
        else:
            line = source.count("\n", 0, tag.start()) + 1
            raise ValueError(
                f"{place(file, line)}: {tag.group()!r:.40} closes nothing."
            )


def _span_names(elements):
    """Return the names of the elements that are spans: they hold no other elements."""
    names = {tag["name"] for tag, _, _ in elements}
    holders = {tag["name"] for tag, _, holds in elements if holds}
    return {n for n in names - holders if n.lower() not in _BLOCKS}


def _without_tags(source, elements, wanted):
    """Return the text, with line breaks after elements that are no spans, and spans."""
    partner = {last.start(): first.start() for first, last, _ in elements}
    parts, begins, spans, size, end = [], {}, [], 0, 0
    for tag in [*_TAG.finditer(source), None]:
        stop = len(source) if tag is None else tag.start()
        parts.append(html.unescape(source[end:stop]))
        size += len(parts[-1])
        if tag is None:
            break
        end = tag.end()
        first = partner.get(tag.start())
        if first is None:
            begins[tag.start()] = size, tag
        elif tag["name"] in wanted:
            begin, opening = begins[first]
            found = _TYPE.search(opening["rest"])
            spans.append((begin, size, found["type"] if found else tag["name"]))
        else:
            parts.append("\n")
            size += 1
    return "".join(parts), [span for span in spans if span[0] < span[1]]
