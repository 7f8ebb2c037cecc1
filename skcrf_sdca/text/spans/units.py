"""Offsets in other units: programs in JavaScript and Java count UTF-16, others bytes.

In Python an emoji is one character; it has two units of UTF-16 and four bytes of UTF-8.
"""

from bisect import bisect_left
from collections.abc import Sequence
from itertools import accumulate
from typing import Any

# The bytes of a unit, by the encodings whose units are counted.
_UNITS = {"utf-16-le": 2, "utf-8": 1}
UTF_16 = "utf-16-le"


def unit_offsets(text: str, encoding: str) -> list[int]:
    """Return how many units of an encoding stand before each character, and all.

    >>> from skcrf_sdca.text.spans.units import UTF_16, unit_offsets
    >>> unit_offsets("a\U0001f642b", UTF_16)
    [0, 1, 3, 4]
    """
    size = _UNITS[encoding]
    lengths = (len(char.encode(encoding, "surrogatepass")) // size for char in text)
    return [0, *accumulate(lengths)]


def by_characters(
    text: str, spans: Sequence[tuple[int, int, str]], found: Sequence[Any]
) -> Sequence[tuple[int, int, str]]:
    """Return spans (begin, end, type) by characters, whatever units a program counted.

    ``found`` has what the program says that the text of each span is. The units are
    those by which most spans have this text; characters, if other units are no better.

    >>> from skcrf_sdca.text.spans.units import by_characters
    >>> by_characters("\U0001f642 Anna", [(3, 7, "PER")], ["Anna"])
    [(2, 6, 'PER')]
    """
    if text.isascii():
        return spans
    readings = [spans]
    for encoding in _UNITS:
        units = unit_offsets(text, encoding)
        readings.append(
            [(bisect_left(units, b), bisect_left(units, e), t) for b, e, t in spans]
        )
    return max(readings, key=lambda own: _n_right(text, own, found))


def _n_right(text, spans, found):
    pairs = zip(spans, found, strict=True)
    return sum(_is_same(text[b:e], said) for (b, e, _), said in pairs)


def _is_same(text, said):
    # Programs write a blank for a line break, or leave blanks at the ends out.
    return isinstance(said, str) and text.split() == said.split()
