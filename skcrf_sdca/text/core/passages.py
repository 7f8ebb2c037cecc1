"""Sequences of tokens that are read from files, and how texts with spans become some.

A text is split into tokens, its spans are aligned to these, and it is cut into
sequences at its line breaks.
"""

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

from skcrf_sdca._utils.typing import SpanScheme
from skcrf_sdca.text.core.reading import Reading
from skcrf_sdca.text.spans.labels import spans_to_labels
from skcrf_sdca.text.spans.located import CharSpan, located
from skcrf_sdca.text.spans.offsets import TOKEN, Offsets, align_spans, tokenize
from skcrf_sdca.text.spans.words import unspaced_scripts

OVERLAPS = "left out: they overlap a longer one"
UNALIGNED = "left out: they begin or end inside of a token"
_WITH_BLANKS = "with blanks at the ends: do the offsets count other characters?"
# Old programs of Macs wrote a carriage return alone.
_LINE_END = re.compile("[\r\n]")
# Characters of a span that messages show.
_MANY = 60
_CURES = {UNALIGNED: "{tokens}, or a regular expression there, finds finer tokens."}


class TextSource(NamedTuple):
    """The text of a sequence, and where its tokens are in it.

    Parameters
    ----------
    document : int or str
        The number of the document in its file, from 0, or its name.
    text : str or None
        The text of the whole document; None if the file has tokens alone.
    offsets : list of (begin, end), or None
        The characters of each token, ``text[begin:end]``.

    See Also
    --------
    read_corpus : Returns them with ``return_sources=True``.

    Examples
    --------
    >>> from skcrf_sdca.text import TextSource, char_spans
    >>> source = TextSource(0, "In Basel.", [(0, 2), (3, 8), (8, 9)])
    >>> char_spans([("LOC", 1, 2)], source.offsets)
    [('LOC', 3, 8)]
    """

    document: int | str
    text: str | None = None
    offsets: Offsets | None = None


class Read(NamedTuple):
    """A sequence of a file: its tokens, its labels if there are some, its source."""

    tokens: list[Any]
    labels: list[Any] | None
    source: TextSource


class Document(NamedTuple):
    """A text with spans (begin, end, type), and the tokens if the file has them.

    ``said`` has what the file says that the text of each span is, or None.
    """

    name: int | str
    text: str
    spans: Sequence[CharSpan] | None
    offsets: Offsets | None = None
    said: Sequence[str | None] | None = None


class Passages:
    """Makes sequences of documents, and notes the spans that no labels describe."""

    def __init__(
        self, reading: Reading, pattern: str | None = None, scheme: SpanScheme = "BIO"
    ) -> None:
        self._reading = reading
        self._pattern = pattern or TOKEN
        self._is_guessed = pattern is None
        self._scheme = scheme

    def of(self, document: Document) -> Iterator[Read]:
        """Yield the sequences of a document, one for each line that has tokens."""
        name, text, spans, offsets, said = document
        if offsets is None:
            offsets = self._tokens_of(text)
        else:
            # spaCy has tokens of white space.
            offsets = [(b, e) for b, e in offsets if text[b:e].strip()]
            self._check_tokens(document, offsets)
        found, faults = located(text, spans or (), said)
        for fault in faults:
            self._note(document, *fault)
        apart, overlapping = _apart(found)
        aligned, unaligned = align_spans(apart, offsets)
        for span in overlapping:
            self._note(document, OVERLAPS, span)
        for span in unaligned:
            self._note(document, UNALIGNED, span)
        labels = spans_to_labels(aligned, len(offsets), self._scheme)
        bounds = _line_bounds(
            text, offsets, {t for _, b, e in aligned for t in range(b + 1, e)}
        )
        for begin, end in pairwise(bounds):
            own = offsets[begin:end]
            yield Read(
                [{"word": text[a:b]} for a, b in own],
                None if spans is None else labels[begin:end],
                TextSource(name, text, own),
            )

    def _check_tokens(self, document, offsets):
        """Note tokens of a file that have blanks at their ends."""
        for begin, end in offsets:
            word = document.text[begin:end]
            if word != word.strip():
                where = f"characters {begin} to {end} of document {document.name}"
                self._reading.note("token", _WITH_BLANKS, f"{word!r:.60}, {where}")

    def _tokens_of(self, text):
        option = "tokens" if self._is_guessed else None
        self._reading.take("tokens", self._pattern, option=option)
        if self._is_guessed:
            self._reading.count_scripts(unspaced_scripts(text))
        return tokenize(text, self._pattern)[1]

    def _note(self, document, what, span, said=None):
        """Note what is wrong with a span (begin, end, type) of a document."""
        begin, end, _ = span
        # A long one is not copied: there may be many.
        own = repr(document.text[max(begin, 0) : max(min(end, begin + _MANY), 0)])
        if said is not None:
            own = f"{said[:_MANY]!r} with {own} at its offsets"
        where = f"characters {begin} to {end} of document {document.name}"
        finer = self._reading.option("tokens", "characters")
        cure = _CURES.get(what, "").format(tokens=finer)
        self._reading.note("span", what, f"{own}, {where}", cure)


def cut_text(text: str, pattern: str) -> list[Offsets]:
    """Return the offsets of the tokens of each line that has some, as `Passages` do."""
    _, offsets = tokenize(text, pattern)
    bounds = _line_bounds(text, offsets, ())
    return [offsets[begin:end] for begin, end in pairwise(bounds)]


def _apart(spans):
    """Return spans without the ones that overlap a longer one, and the latter."""
    kept, lost, end = [], [], 0
    for span in sorted(dict.fromkeys(spans), key=lambda span: (span[0], -span[1])):
        if span[0] < end:
            lost.append(span)
        else:
            kept.append(span)
            end = span[1]
    return kept, lost


def _line_bounds(text, offsets, inner):
    """Return the numbers of the tokens at which lines begin, and the number of tokens.

    `inner` are the tokens that go on with a span: these begin no line.
    """
    breaks = [
        t
        for t, ((_, end), (begin, _)) in enumerate(pairwise(offsets), start=1)
        if t not in inner and _LINE_END.search(text, end, begin)
    ]
    return [0, *breaks, len(offsets)] if offsets else []
