"""Texts with the labels among the words: slash tags, and spans in brackets."""

import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from itertools import chain
from typing import NamedTuple

from skcrf_sdca._utils.typing import SpanScheme
from skcrf_sdca.text.core.files import BLANKS, blocks, numbered_lines, place
from skcrf_sdca.text.core.passages import Document, Passages, Read, TextSource
from skcrf_sdca.text.core.reading import Reading

# In words of treebanks a backslash stands before a slash.
_ESCAPED_SLASH = "\\/"
# So many words may have a slash of their own, and be the most of a text.
_FEW_WORDS = 20
# Between the sentences of the Penn Treebank.
_RULE = re.compile(r"\s*=+\s*")
# What lists of Rasa hold, in markdown and in YAML, and where these begin in YAML.
_HEADING = re.compile(r"##\s*+(?P<kind>\w++)")
_KEY = re.compile(r"\s*+-\s++(?P<kind>\w++)\s*+:")
_EXAMPLES = re.compile(r"\s*+examples:\s*+[|>][-+]?+\s*+")
_NO_SENTENCES = {"synonym", "lookup", "regex"}
_ITEM = re.compile(r"\s*+[-*+]\s++")
_NO_SPAN = "read as text: it encloses no span"


def read_slash(
    file: object, reading: Reading, *, separator: str = "/"
) -> Iterator[Read]:
    """Yield a sequence for each line of tokens such as "dog/NN"."""
    lines = numbered_lines(file, reading.encoding)
    sentences = ([line] for line in lines if line[1].strip(BLANKS))
    has_labels = reading.labelled
    if not has_labels:
        has_labels, sentences = _have_labels(sentences, separator)
        if has_labels:
            reading.take("label", f"what follows {separator!r}, not read")
    words: Counter[bool] = Counter()
    for sequence in _of_slashes(file, sentences, has_labels, separator):
        words.update(separator in token["word"] for token in sequence.tokens)
        yield sequence if reading.labelled else sequence._replace(labels=None)
    if reading.labelled and words[True] > max(words[False], _FEW_WORDS):
        reading.odd(
            f"{words[True]:,} words have {separator!r} themselves, for only what "
            "follows the last one is a label: where all words have several columns, "
            f"write each on a line, for columns and {reading.option('delimiter')}."
        )


def _have_labels(sentences, separator):
    """Return whether words have labels, as the first ones tell, and all sentences."""
    first, n = [], 0
    for sentence in sentences:
        first.append(sentence)
        words = [text for _, line in sentence for text in line.split()]
        parts = (text.rpartition(separator) for text in words)
        if not all(word and label for word, _, label in parts):
            return False, chain(first, sentences)
        n += len(words)
        if n > _FEW_WORDS:
            break
    return True, chain(first, sentences)


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


def _without_comments(lines, comment, file, reading):
    """Yield the numbered lines that are no comments, and note these."""
    cure = f"{reading.option('comment', '')} reads them."
    for number, line in lines:
        if comment and line.startswith(comment):
            what = f"left out: they begin with {comment!r:.20}"
            reading.note("line", what, place(file, number), cure)
        else:
            yield number, line


def _items(lines):
    """Yield the numbered lines of sentences in markdown, or in the YAML of Rasa."""
    lines = list(lines)
    is_yaml = any(_EXAMPLES.fullmatch(line) for _, line in lines)
    for number, line in (_of_yaml if is_yaml else _of_markdown)(lines):
        yield number, _ITEM.sub("", line, count=1)


def _of_markdown(lines):
    kind = None
    for number, line in lines:
        if found := _HEADING.match(line):
            kind = found["kind"]
        elif line[:1] != "#" and kind not in _NO_SENTENCES:
            yield number, line


def _of_yaml(lines):
    kind, depth = None, None
    for number, line in lines:
        indent = len(line) - len(line.lstrip(" "))
        if depth is not None and indent > depth:
            if kind == "intent":
                yield number, line
        elif _EXAMPLES.fullmatch(line):
            depth = indent
        elif found := _KEY.match(line):
            kind, depth = found["kind"], None


class _Form(NamedTuple):
    """How spans in brackets are written, and which lines of a file are sentences.

    The pattern has the text of a span and its type, or else fields in JSON; another one
    finds brackets that seem to be of a span. Of sentences, None is all lines.
    """

    span: re.Pattern[str]
    seems: re.Pattern[str]
    sentences: Callable[[Iterable[tuple[int, str]]], Iterable[tuple[int, str]]] | None


_FORMS = {
    "[PER Anna Meier]": _Form(
        re.compile(
            r"\[(?P<type>[^\s\[\]]++)\s++(?>(?::\s++)?)"
            r"(?P<text>(?>(?:[^\s\[\]]++|\s++(?!\]))*))\s*+\]"
        ),
        re.compile(r"[\[\]]"),
        None,
    ),
    "<START:PER> Anna Meier <END>": _Form(
        re.compile(
            r"<START:(?P<type>[^\s<>]++)>\s++"
            r"(?P<text>(?>(?:[^\s<]++|\s++(?!<))*))\s++<END>"
        ),
        re.compile("<(?:START|END)"),
        None,
    ),
    "[Anna Meier](PER)": _Form(
        re.compile(
            r"\[(?P<text>[^\[\]]++)\]"
            r"(?:\((?P<type>[^():]++)(?::[^()]*+)?\)|(?P<fields>\{[^{}]*+\}))"
        ),
        re.compile(r"\][({]"),
        _items,
    ),
}


def read_brackets(
    file: object,
    reading: Reading,
    *,
    brackets: str = "[PER Anna Meier]",
    comment: str | None = "#",
    tokens: str | None = r"\S+",
    scheme: SpanScheme = "BIO",
) -> Iterator[Read]:
    """Yield a sequence for each line, in which brackets enclose spans.

    Lines that begin with `comment` are left out, where the form has no headings.
    """
    if brackets not in _FORMS:
        raise ValueError(f"brackets must be among {[*_FORMS]}, got {brackets!r}.")
    passages, form = Passages(reading, tokens, scheme), _FORMS[brackets]
    lines = numbered_lines(file, reading.encoding)
    if form.sentences is None:
        lines = _without_comments(lines, comment, file, reading)
    else:
        lines = form.sentences(lines)
    texts = ((number, line) for number, line in lines if line.strip(BLANKS))
    for k, (number, line) in enumerate(texts):
        try:
            text, spans = _without_brackets(line.strip(BLANKS), form.span)
        except ValueError as error:
            raise ValueError(f"{place(file, number)}: {error}") from error
        if reading.labelled and form.seems.search(text):
            reading.note("bracket", _NO_SPAN, f"in {place(file, number)}")
        yield from passages.of(Document(k, text, spans if reading.labelled else None))


def _without_brackets(line, pattern):
    """Return the text of a line, and its spans (begin, end, type)."""
    parts, spans, size, end = [], [], 0, 0
    for match in pattern.finditer(line):
        before, inner = line[end : match.start()], match["text"]
        size += len(before)
        spans.append((size, size + len(inner), match["type"] or _entity(match)))
        size, end = size + len(inner), match.end()
        parts += [before, inner]
    return "".join([*parts, line[end:]]), spans


def _entity(match):
    """Return the type of a span whose fields are in JSON."""
    try:
        return str(json.loads(match["fields"])["entity"])
    except (ValueError, KeyError) as error:
        raise ValueError(
            f'{match[0]!r:.80} has not the form [Anna]{{"entity": "PER"}}.'
        ) from error
