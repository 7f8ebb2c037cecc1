"""Where the spans of a file are in its text: the home of all that offsets get wrong.

Offsets may count other units, be outside of the text, or meet another text than the one
that the file gives for a span. The readers of all formats hand over what their file
says, and learn what was moved, cut or left out.
"""

import unicodedata
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from functools import cached_property
from operator import index
from re import finditer
from typing import Any, NamedTuple, TypeAlias

from .units import by_characters, has_text, is_near_in_length

CharSpan: TypeAlias = tuple[int, int, str]

# What is wrong with spans, as a message goes on after their number.
NO_TYPE = "left out: they have no type"
NO_TEXT = "left out: they have no text, or blanks alone"
OUTSIDE = "left out: they are outside of the text"
CUT = "cut: they end after the text"
MOVED = "moved: the text that the file gives for them stands beside their offsets"
DIFFERS = "kept: the text that the file gives for them is not the one at their offsets"
# How far from its offsets a text is looked for, at first and at last.
_REACHES = (8, 32, 128)


class Fault(NamedTuple):
    """What is wrong with a span, which is as the file has it, and with its text."""

    what: str
    span: CharSpan
    said: str | None


def located(
    text: str, spans: Iterable[CharSpan], said: Sequence[Any] | None = None
) -> tuple[list[CharSpan], list[Fault]]:
    """Return the spans (begin, end, type) by the characters of a text, and the faults.

    ``said`` has what the file says that the text of each span is; None where it says
    nothing. A span whose offsets meet another text is moved to this text, if this is
    near and there once. Spans that are kept are inside of the text, and neither begin
    nor end with blanks.

    >>> from skcrf_sdca.text.spans.located import located
    >>> located("Ann ran off.", [(4, 7, "PER")], ["Ann"])[0]
    [(0, 3, 'PER')]
    >>> spans, faults = located("Ann ran off.", [(8, 15, "X"), (20, 24, "X")])
    >>> spans
    [(8, 12, 'X')]
    >>> [fault.what for fault in faults]
    ['cut: they end after the text', 'left out: they are outside of the text']
    """
    given = [_checked(k, span) for k, span in enumerate(spans)]
    texts = [None] * len(given) if said is None else list(map(_as_text, said))
    counted = by_characters(text, given, texts)
    rows = sorted(zip(counted, given, texts, strict=True), key=lambda row: row[0][:2])
    found, faults, bounds, shift = [], [], Bounds(text), 0
    for span, original, own in rows:
        what = None
        if own is not None:
            span, what = _at_its_text(text, span, own, shift)
            shift = span[0] - original[0] if what is MOVED else shift
        inner, other = bounds.inside(span)
        if what or other:
            faults.append(Fault(str(other or what), original, own))
        if inner is not None:
            found.append(inner)
    return found, faults


def _checked(k, span):
    begin, end, name = span
    try:
        return index(begin), index(end), name
    except TypeError:
        raise ValueError(
            f"span {k} goes from {begin!r:.40} to {end!r:.40}; the characters of a "
            "text are counted by whole numbers."
        ) from None


def _as_text(said):
    return said if isinstance(said, str) and said.strip() else None


def _at_its_text(text, span, said, shift):
    """Return the span of a text that the file gives, and what is wrong, or None."""
    begin, end, name = span
    if is_same(text, begin, end, said):
        return span, None
    said = said.strip()
    for reach in _REACHES:
        place = begin + shift
        places = _places(text, said, max(place - reach, 0), max(place + reach, 0))
        if len(places) == 1:
            return (places[0], places[0] + len(said), name), MOVED
        if places:
            break
    return span, DIFFERS


def _places(text, said, first, last):
    """Return where a text begins, from the first to the last character.

    Places that are inside of words do not count, unless all are.
    """
    places, place = [], text.find(said, first, last + len(said))
    while place >= 0:
        places.append(place)
        place = text.find(said, place + 1, last + len(said))
    return [p for p in places if _is_whole(text, p, p + len(said))] or places


def _is_whole(text, begin, end):
    ends = (text[max(begin - 1, 0) : begin + 1], text[end - 1 : end + 1])
    return not any(len(pair) == 2 and pair.isalnum() for pair in ends)


def is_same(text: str, begin: int, end: int, said: str) -> bool:
    """Return whether the text of a span is the one that a file gives for it.

    Blanks, case, accents and signs inside of it may differ: programs normalise them.

    >>> from skcrf_sdca.text.spans.located import is_same
    >>> is_same("has SARS-CoV-2.", 4, 14, "sars CoV 2")
    True
    >>> is_same("(Ann)", 0, 4, "Ann")
    False
    """
    if has_text(text, begin, end, said):
        return True
    if not is_near_in_length(begin, end, said):
        return False
    own, said = text[begin:end].strip(), said.strip()
    ends = [(x[:1].isalnum(), x[-1:].isalnum()) for x in (own, said)]
    return ends[0] == ends[1] and "" != _plain(own) == _plain(said)


def _plain(text):
    """Return the letters and numbers of a text, without case and accents."""
    text = unicodedata.normalize("NFKD", text).casefold()
    return "".join(filter(str.isalnum, text))


class Bounds:
    """A text, as far as bounds of spans ask it: where it ends, and where blanks are."""

    def __init__(self, text: str) -> None:
        self._text = text

    @cached_property
    def _blanks(self):
        """Where the runs of blanks begin, and where they end.

        They are found once: many spans may begin in one long run.
        """
        runs = [match.span() for match in finditer(r"\s+", self._text)]
        return [begin for begin, _ in runs], [end for _, end in runs]

    def skipped(self, place: int) -> int:
        """Return the first place from here on, or the end, that is no blank."""
        if not self._text[place : place + 1].isspace():
            return place
        begins, ends = self._blanks
        return ends[bisect_right(begins, place) - 1]

    def inside(self, span: CharSpan) -> tuple[CharSpan | None, str | None]:
        """Return a span without blanks at its ends or outside of the text, or None.

        And what is wrong with it, or None.
        """
        begin, end, name = span
        size = len(self._text)
        if name in (None, ""):
            return None, NO_TYPE
        if not 0 <= begin <= size or end < 0 or begin == size < end:
            return None, OUTSIDE
        fault, end = (CUT, size) if end > size else (None, end)
        begin = self.skipped(begin)
        if begin >= end:
            return None, NO_TEXT
        if self._text[end - 1].isspace():
            begins, _ = self._blanks
            end = begins[bisect_right(begins, end - 1) - 1]
        return (begin, end, name), fault
