"""Templates of CRF++ and patterns of Wapiti, which are lines such as ``U01:%x[-1,0]``.

The first letter says which weights a feature has: U for labels, B for pairs of labels,
``*`` for both. The rest of a line names values of columns: ``%x[place,column]`` is the
text, ``%m[place,column,"pattern"]`` the part of it that a pattern of Wapiti matches,
and ``%t[...]`` whether one does. In capitals, the values are in small letters.
"""

import re

from .data_values import Regex
from .templates import At, Joint, LabelPairs
from .values import Apply

_VALUE = re.compile(
    r'%([xmtXMT])\[\s*(-?\d+)\s*,\s*(\d+)\s*(?:,\s*"((?:[^"\\]|\\.)*)"\s*)?\]'
)
# Classes of characters in patterns of Wapiti; capitals stand for all other characters.
_CLASSES = {
    "a": "A-Za-z",
    "d": "0-9",
    "l": "a-z",
    "p": r"!-/:-@\[-`{-~",
    "s": r"\s",
    "u": "A-Z",
    "w": "A-Za-z0-9",
}
_SPECIAL = "^$.?*"


def is_foreign(line: str) -> bool:
    """Return whether a line is one of CRF++ or Wapiti, and none of this package."""
    return bool(_VALUE.search(line)) or line.strip() in ("U", "u", "B", "b", "*")


def foreign_templates(line: str, columns: list[str]) -> list[At | Joint | LabelPairs]:
    """Return the templates of a line; none for the weights that every model has.

    Raises
    ------
    ValueError
        If the line is none of CRF++ or Wapiti, or names a column that is missing.

    >>> foreign_templates("U05:%x[-1,0]/%x[0,1]", ["word", "pos"])
    [Joint(At(value='word', place=-1), At(value='pos', place=0))]
    """
    line = line.strip()
    kind, rest = line[:1], line[1:]
    values = _VALUE.findall(rest)
    if kind not in "UuBb*" or "%" in _VALUE.sub("", rest):
        raise ValueError(
            "it must be such as U01:%x[-1,0], whose place and column are numbers"
        )
    if not values:
        return []
    parts = [_part(columns, *value) for value in values]
    template = parts[0] if len(parts) == 1 else Joint(*parts)
    return [template if kind in "Uu" else LabelPairs(template)]


def _part(columns, kind, place, column, pattern):
    if int(column) >= len(columns):
        raise ValueError(
            f"it reads column {column}, but the columns are 0 to {len(columns) - 1}: "
            f"{', '.join(columns)}"
        )
    name = columns[int(column)]
    if kind in "xX":
        value = name if kind == "x" else Apply(str.lower, name)
        return At(value, int(place))
    flags = "(?i)" if kind.isupper() else ""
    test = kind in "tT"
    own = f"{name}~{pattern}"
    found = Regex(flags + _translated(pattern), name, name=own, test=test)
    return At(found, int(place))


def _translated(pattern):
    """Return a regular expression of Python for a pattern of Wapiti."""
    found, k = [], 0
    while k < len(pattern):
        if pattern[k] == "\\" and k + 1 < len(pattern):
            found.append(_class(pattern[k + 1]))
            k += 2
        else:
            is_special = pattern[k] in _SPECIAL
            found.append(pattern[k] if is_special else re.escape(pattern[k]))
            k += 1
    return "".join(found)


def _class(letter):
    own = _CLASSES.get(letter.lower())
    if own is None:
        return re.escape(letter)
    return f"[{own}]" if letter.islower() else f"[^{own}]"
