"""The text of neighbouring tokens, as it would be written.

Blanks separate words, but not in the scripts of Chinese, Japanese, Thai, Lao, Khmer and
Burmese.
"""

from bisect import bisect_right
from collections.abc import Iterable

# The first and the last characters of scripts without blanks between words.
_RANGES = (
    (0x0E00, 0x0EFF),  # Thai, Lao
    (0x1000, 0x109F),  # Myanmar
    (0x1780, 0x17FF),  # Khmer
    (0x2E80, 0x2FDF),  # radicals of Han
    (0x3000, 0x30FF),  # CJK punctuation, Hiragana, Katakana
    (0x3400, 0x4DBF),  # Han
    (0x4E00, 0x9FFF),
    (0xF900, 0xFAFF),
    (0xFF00, 0xFFEF),  # wide forms
    (0x20000, 0x323AF),  # Han
)
_FIRST = [first for first, _ in _RANGES]


def joined(tokens: Iterable[str]) -> str:
    """Return the text of tokens.

    >>> joined(["New", "York"]), joined(["北", "京"])
    ('New York', '北京')
    """
    text = ""
    for token in tokens:
        blank = text and token and not (_is_dense(text[-1]) and _is_dense(token[0]))
        text += f" {token}" if blank else token
    return text


def _is_dense(character):
    """Return whether a character is of a script without blanks between words."""
    code = ord(character)
    k = bisect_right(_FIRST, code) - 1
    return k >= 0 and code <= _RANGES[k][1]
