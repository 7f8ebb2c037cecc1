"""The layout of columns: which has the word, which the label, and what the others are.

The first rows of a file tell it where no names are given.
"""

import re
from collections.abc import Iterable, Sequence
from itertools import pairwise, zip_longest
from typing import NamedTuple

from skcrf_sdca._utils.messages import alternatives
from skcrf_sdca.data.tagging_schemes import labels_come_first
from skcrf_sdca.text.core.column_names import candidates, plain_name
from skcrf_sdca.text.core.reading import Reading
from skcrf_sdca.text.core.tokens import checked_names

# The name of the column of labels where none is given.
LABEL = "label"
_WORD = "word"
# Numbers of tokens, and of what treebanks have beside them.
_NUMBER, _RANGE = re.compile(r"\d{1,9}"), re.compile(r"\d+[-.]\d+")
# What no one takes for a word of a text where it stands above others.
_TITLES_OF_WORDS = {"token", "tokens", "word", "words", "form"}


class Layout(NamedTuple):
    """The names of columns, None for those that are not read, and that of the label.

    `titles` are the names that a header has. `label` is None if no labels are read.
    """

    names: list[str | None]
    label: str | None
    titles: list[str] | None = None

    @property
    def tokens(self) -> list[tuple[int, str]]:
        """The places and the names of the columns of tokens."""
        named = enumerate(self.names)
        return [(k, name) for k, name in named if name not in (None, self.label)]

    def say(self, reading: Reading, *, columns: bool, label: bool) -> None:
        """Tell a reading what the columns are, and whether the names were guessed."""
        own = "columns" if columns else None
        others = [name for _, name in self.tokens if name != _WORD]
        dropped = [k for k, name in enumerate(self.names) if name is None]
        if _WORD in self.names:
            reading.take(_WORD, self._column(self.names.index(_WORD)), option=own)
        if others:
            reading.take("features", ", ".join(others), option=own)
        if dropped:
            reading.take("not read", ", ".join(map(self._column, dropped)), option=own)
        if self.label is not None:
            at = self.names.index(self.label)
            found = f"{self._column(at)} of {len(self.names)}"
            reading.take("label", found, option="label" if label else None)
        for name in candidates(self.titles or (), "sentence"):
            reading.odd(
                f"the column {name!r} tells sentences apart, but blank lines do so "
                "here; the format 'table' asks the column."
            )

    def _column(self, k):
        title = f" ({self.titles[k]})" if self.titles else ""
        return f"column {k + 1}{title}"


def given_layout(columns: Iterable[str | None], label: str | int | None) -> Layout:
    """Return the layout of columns whose names are given."""
    columns, name = checked_names(columns), label
    if isinstance(label, int) and 0 < label <= len(columns):
        name = columns[label - 1] or LABEL
    if isinstance(name, int) or (name is not None and name not in columns):
        raise ValueError(
            f"columns has no {label!r}: say with label= which of {columns} holds the "
            "labels, or label=None if none does."
        )
    return Layout(columns, name)


def titled_layout(titles: Sequence[str], label: str | int | None) -> Layout:
    """Return the layout of columns that have titles, such as those of a header."""
    number = number_of(label)
    if number is not None and label not in titles and 0 < number <= len(titles):
        label = titles[number - 1]
    elif label not in (None, LABEL, *titles):
        raise ValueError(
            f"there is no column label={label!r}{alternatives(label, titles)}."
        )
    names = [name or None for name in named_columns(titles, label)]
    return Layout(checked_names(names), label, list(titles))


def guessed_layout(
    rows: Sequence[Sequence[str]], label: str | int | None, header: bool | None = None
) -> Layout:
    """Return the layout that the first rows tell; it has titles if they have a header.

    `header` is False if they have none. Columns at the ends that are empty in all of
    these rows are not read, nor is a first column with the numbers of the tokens.
    """
    first, last = filled_part(rows)
    if last - first > 2 and _are_numbers([row[first] for row in rows]):
        first += 1
    rows = [row[first:last] for row in rows]
    number = number_of(label)
    label = label if number is None else number - first
    is_title = number is None and label not in (None, LABEL) and label in rows[0]
    is_titled = header is None and (is_title or has_titles(rows))
    found = titled_layout(rows[0], label) if is_titled else _usual(rows, label)
    titles = found.titles and [""] * first + found.titles
    return Layout([*first * [None], *found.names], found.label, titles)


def filled_part(rows: Sequence[Sequence[str]]) -> tuple[int, int]:
    """Return the begin and the end of the columns that are not empty in all rows.

    If all are empty, these are all columns.
    """
    filled = [any(column) for column in zip_longest(*rows)]
    if not any(filled):
        return 0, len(filled)
    return filled.index(True), len(filled) - filled[::-1].index(True)


def _usual(rows, label):
    """Return the layout of columns without titles, whose names are the usual ones."""
    n = len(rows[0])
    if label is None:
        return Layout(default_columns(n), None)
    number = number_of(label)
    if label == LABEL:
        first, last = ([row[k] for row in rows] for k in (0, -1))
        number = 1 if n > 1 and labels_come_first(first, last) else max(n, 2)
    elif label in default_columns(n):
        return Layout(default_columns(n), label)
    elif number is None or not 0 < number <= n:
        raise ValueError(
            f"there is no column label={label!r}: the columns have no titles, but the "
            f"numbers 1 to {n}, and the last is the label by default. header=True "
            "takes the titles of the first line."
        )
    names = default_columns(n - 1)
    return Layout([*names[: number - 1], LABEL, *names[number - 1 :]], LABEL)


def _are_numbers(column):
    """Return whether a column numbers the tokens of one sentence, or of several."""
    numbers = [int(field) for field in column if _NUMBER.fullmatch(field)]
    others = (field for field in column if not _NUMBER.fullmatch(field))
    # Each is the next one, or begins a sentence.
    return (
        len(set(numbers)) > 1
        and numbers[0] in (0, 1)
        and all(b in (a + 1, numbers[0]) for a, b in pairwise(numbers))
        and all(map(_RANGE.fullmatch, others))
    )


def number_of(label: str | int | None) -> int | None:
    """Return the number of a column, which may be written as text, or None."""
    if isinstance(label, str):
        return int(label) if label.isdecimal() else None
    return None if isinstance(label, bool) else label


def has_titles(rows: Sequence[Sequence[str]]) -> bool:
    """Return whether the first of some rows has titles of columns.

    They are usual names of a column of words and one of labels; or there are at least
    three, the first is such as "TOKEN", and no other row has one of them.
    """
    first, *others = rows
    has_word = len(first) > 2 and plain_name(first[0]) in _TITLES_OF_WORDS
    is_alone = others and set(first).isdisjoint(set().union(*others))
    return is_header(first) or bool(has_word and is_alone)


def is_header(fields: Sequence[str]) -> bool:
    """Return whether a row has usual names of a column of words and one of labels."""
    words, labels = (candidates(fields, role) for role in ("word", "label"))
    return bool(words and labels) and words != labels


def default_columns(n: int) -> list[str]:
    """Return the names of n columns, at least one, before the label."""
    return ["word", "pos", *(f"column{k}" for k in range(3, n + 1))][: max(n, 1)]


def named_columns(names: Sequence[str], label: str | None) -> list[str]:
    """Return names of a header as templates and readers have them.

    The column of words becomes "word", and the one of labels, if it has not the name
    `label` already and none is left out, becomes this.
    """
    renamed = dict.fromkeys(candidates(names, "pos")[:1], "pos")
    renamed |= dict.fromkeys(candidates(names, "word")[:1], "word")
    if label is not None and label not in names:
        others = [name for name in candidates(names, "label") if name not in renamed]
        renamed |= dict.fromkeys(others[:1] or names[-1:], label)
    renamed.pop(label, None)
    return [renamed.get(name, name) for name in names]
