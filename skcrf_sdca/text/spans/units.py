"""Offsets in other units: programs in JavaScript and Java count UTF-16, others bytes.

In Python an emoji is one character; it has two units of UTF-16 and four bytes of UTF-8.
Programs of Windows count two characters for each end of a line, others one.
"""

from bisect import bisect_left
from collections.abc import Callable, Mapping, Sequence
from itertools import accumulate
from typing import Any

UTF_16 = "UTF-16"
# Characters that the text of a span may have, and the text that a file gives not.
_SLACK = 64
# How many units a character has, by the name of the unit.
_UNITS: Mapping[str, Callable[[str], int]] = {
    UTF_16: lambda char: 1 + (char > "\uffff"),
    "bytes": lambda char: len(char.encode("utf-8", "surrogatepass")),
    "ends of lines as two": lambda char: 1 + (char == "\n"),
    "ends of lines as one": lambda char: int(char != "\r"),
}


def unit_offsets(text: str, unit: str) -> list[int]:
    """Return how many units stand before each character of a text, and in all.

    >>> from skcrf_sdca.text.spans.units import UTF_16, unit_offsets
    >>> unit_offsets("a\U0001f642b", UTF_16)
    [0, 1, 3, 4]
    """
    return [0, *accumulate(map(_UNITS[unit], text))]


def in_characters(units: Sequence[int], place: int) -> int:
    """Return the number of characters before a place, by the units before each one.

    Places before and after the text stay there.

    >>> from skcrf_sdca.text.spans.units import in_characters
    >>> [in_characters([0, 1, 3, 4], place) for place in (-2, 3, 4, 6)]
    [-2, 2, 3, 5]
    """
    if 0 <= place <= units[-1]:
        return bisect_left(units, place)
    return place if place < 0 else len(units) - 1 + place - units[-1]


def by_characters(
    text: str, spans: Sequence[tuple[int, int, str]], found: Sequence[Any]
) -> Sequence[tuple[int, int, str]]:
    """Return spans (begin, end, type) by characters, whatever units a program counted.

    ``found`` has what the program says that the text of each span is, or None. The
    units are those by which most spans have this text; characters, if other units are
    no better.

    >>> from skcrf_sdca.text.spans.units import by_characters
    >>> by_characters("\U0001f642 Anna", [(3, 7, "PER")], ["Anna"])
    [(2, 6, 'PER')]
    """
    n_said = sum(said is not None for said in found)
    best, n_best = spans, _n_right(text, spans, found)
    for unit in _UNITS:
        if n_best == n_said:
            break
        units = unit_offsets(text, unit)
        if units[-1] == len(text):
            continue
        own = [
            (in_characters(units, b), in_characters(units, e), t) for b, e, t in spans
        ]
        n = _n_right(text, own, found)
        best, n_best = (own, n) if n > n_best else (best, n_best)
    return best


def _n_right(text, spans, found):
    pairs = zip(spans, found, strict=True)
    return sum(has_text(text, b, e, said) for (b, e, _), said in pairs)


def has_text(text: str, begin: int, end: int, said: str | None) -> bool:
    """Return whether the text of a span is this one, but for blanks.

    Programs write a blank for a line break, or leave blanks at the ends out.

    >>> from skcrf_sdca.text.spans.units import has_text
    >>> has_text("in New  York", 3, 12, "New York")
    True
    """
    return (
        said is not None
        and is_near_in_length(begin, end, said)
        and text[begin:end].split() == said.split()
    )


def is_near_in_length(begin: int, end: int, said: str) -> bool:
    """Return whether a span may have a text: a long one of a short text is not read.

    There may be many such spans of one long text.
    """
    return 0 <= begin < end <= begin + 2 * len(said) + _SLACK
