"""Files of columns: which column is the word, which the label, which a model reads.

The files are written as they were read, with further columns.
"""

import sys
import warnings
from collections.abc import Callable, Collection, Sequence
from functools import partial
from typing import Any, NamedTuple

from skcrf_sdca._utils.messages import counted
from skcrf_sdca.text import TextSource
from skcrf_sdca.text.core.column_files import ColumnFile, WidthError
from skcrf_sdca.text.core.layouts import (
    LABEL,
    Layout,
    filled_part,
    guessed_layout,
    has_titles,
    named_columns,
    number_of,
    titled_layout,
)
from skcrf_sdca.text.core.reading import ReadingWarning
from skcrf_sdca.text.core.rows import is_blank
from skcrf_sdca.text.features.values import WORD

from ._streams import file_of

# What --columns calls a column that is not read.
UNREAD = "_"


class Lines(NamedTuple):
    """How the lines of files of columns are read, as the parameters of `read_conll`."""

    comment: str | None = None
    delimiter: str | None = None
    header: bool | None = None


class Sentence(NamedTuple):
    """The tokens of a sentence, its labels if asked for, and its source in the file."""

    tokens: list[Any]
    labels: list[str] | None
    source: Any


class Asked(NamedTuple):
    """What a model asks for: the columns that it reads, and the labels that it knows.

    `may_be_text` is False where the user said that lines have columns.
    """

    columns: list[str]
    labels: Collection[str]
    may_be_text: bool


_USUAL_LINES = Lines()


def may_be_read(name: str) -> bool:
    """Return whether templates may read a column that --columns or a model names so."""
    return name != LABEL and not name.startswith(UNREAD)


class TokensOfColumns:
    """A format whose tokens are tuples of the columns `read_columns`."""

    label = LABEL
    label_columns: Sequence[str] = (LABEL,)
    read_columns: Sequence[str] = (WORD,)

    def words(self, tokens):
        """Return the words of a sentence, or the first columns that a model reads."""
        at = self.read_columns.index(WORD) if WORD in self.read_columns else 0
        return [token[at] for token in tokens]

    def passage(self, sentence, i):
        """Return the source of sentence i: a number, for columns have no text."""
        return TextSource(i)


class ColumnsFormat(TokensOfColumns):
    """Files of columns: those of the tokens, any others, and the label.

    Parameters
    ----------
    columns : list of str, default=None
        The names of the columns. One of them may be "label": then this column is the
        label, which files to be tagged may lack; without it the last column is. By
        default the first rows tell the names, as in `read_corpus`.
    lines : Lines
        How lines are read.
    label : str, default=None
        The number of the column of the label, counted from 1, or its name.
    asked : Asked, default=None
        What a model asks for: tokens have the columns that it reads, in the order of
        `columns`, and so may files. By default tokens have all columns.
    refuse : callable, default=None
        Is called with what is wrong about the options where a file shows it, and ends
        the command.
    """

    def __init__(
        self,
        columns: Sequence[str] | None = None,
        lines: Lines = _USUAL_LINES,
        *,
        label: str | None = None,
        asked: Asked | None = None,
        refuse: Callable[[str], Any] | None = None,
    ) -> None:
        self._lines, self._label = lines, label
        self._asked, self._refuse = asked, refuse
        self._given = columns if asked is None else None
        self.columns = None if columns is None else self._with_label(columns)

    @property
    def read_columns(self):
        """The names of the columns that tokens have, but for those without a name."""
        if self._asked is None:
            return list(filter(may_be_read, self.columns))
        return [name for name in self.columns if name in self._asked.columns]

    def sentences(self, name, reading):
        """Yield the sentences of a file, which the Reading counts."""
        return reading.counted(self._sentences(name, reading))

    def _sentences(self, name, reading):
        file = column_file(name, reading, self._lines)
        try:
            for layout, (numbers, lines, rows) in file.blocks(
                partial(self._layout, file, reading)
            ):
                places, at = self._places(layout)
                # Equal strings are stored once, and not longer than they are used.
                rows = [tuple(map(sys.intern, row)) for row in rows]
                tokens = [tuple(x[k] if k >= 0 else "" for k in places) for x in rows]
                labels = None if at is None else [row[at] for row in rows]
                first = layout.tokens[0][0]
                if any(not row[first] for row in rows):
                    file.note_empty(numbers, [row[first] for row in rows])
                yield Sentence(tokens, labels, lines)
        except WidthError as error:
            if not reading.labelled and self._may_be_text and not file.has_tabs:
                self._refuse(f"{error} If each line is a sentence, give --format text.")
            raise

    def _places(self, layout):
        """Return where the columns of tokens are, -1 for others, and the label."""
        names = self.columns if self._asked is None else self.read_columns
        where = {name: k for k, name in layout.tokens}
        at = None if layout.label is None else layout.names.index(layout.label)
        return [where.get(name, -1) for name in names], at

    def _layout(self, file, reading, rows, titles):
        """Return the layout of a file, given its first rows and the titles, if any."""
        own = self._titles(rows) if titles is None else titles
        if self.columns is None:
            layout = self._learned(file, rows, titles)
        elif self._given is not None:
            if self._number is not None and len(self._given) == len(rows[0]):
                # The names are those of all columns, the label included.
                self.columns = self._with_label(self._given, number_is_among=True)
            names = [*self.columns, *[LABEL] * (LABEL not in self.columns)]
            layout = Layout(self._names(names), LABEL, own)
        else:
            layout = self._fitted(file, reading, rows, own)
        is_guess = self._asked is None and self._given is None
        is_known = self._asked is not None and LABEL in self.columns
        layout.say(
            reading,
            columns=is_guess,
            label=self._label is None and self._given is None and not is_known,
        )
        if self._asked is None:
            reading.names = self._names(self.columns)
        return layout

    def _titles(self, rows):
        """Return the titles of a header that the user does not speak of, or None."""
        has_label = self._label is not None and self._label in rows[0]
        is_header = has_titles(rows) or (has_label and self._number is None)
        return rows[0] if self._lines.header is None and is_header else None

    def _names(self, names):
        """Return names for a Layout, in which columns that are not read have none."""
        return [n if n == LABEL or may_be_read(n) else None for n in names]

    @property
    def _number(self):
        """The number of the column of the label, from 0, if the user gives one."""
        number = number_of(self._label)
        return None if number is None else max(number, 1) - 1

    def _with_label(self, names, *, number_is_among=False):
        """Return names of columns with the label at its place, if it has one."""
        names = [f"_{k}" if n == UNREAD else n for k, n in enumerate(names, start=1)]
        if self._number is None:
            return [LABEL if name == self._label else name for name in names]
        if self._asked is not None:
            # A model may have had its label in another column.
            names = [name for name in names if name != LABEL]
        k = self._number
        is_among = number_is_among or names[k : k + 1] == [LABEL]
        return [*names[:k], LABEL, *names[k + is_among :]]

    def _learned(self, file, rows, titles):
        """Return the layout that the first rows tell, and take its names."""
        if titles is not None:
            layout = self._titled(file, titles, labelled=True)
        else:
            label = LABEL if self._label is None else self._label
            try:
                layout = guessed_layout(rows, label, self._lines.header)
            except ValueError:
                self._refuse_label(file)
                raise
        names = _renamed(layout)
        # Files with more columns have the label at their end too.
        self.columns = names[:-1] if names[-1] == LABEL else names
        return Layout(self._names(names), LABEL, layout.titles)

    def _fitted(self, file, reading, rows, titles):
        """Return the layout of a file whose columns have known names."""
        first, last = filled_part(rows)
        width, labelled = last - first, reading.labelled
        names = titles and self._by_titles(file, titles[first:last], labelled)
        names = names or self._by_width(width, labelled)
        if names is None:
            raise ValueError(f"{file.first_place}: {self._misfit(width, labelled)}")
        if not labelled:
            self._check_no_text(file, [row[first:last] for row in rows], names)
        kept = {*(self.read_columns or self.columns), LABEL}
        kept -= set() if labelled else {LABEL}
        names = [name if name in kept else None for name in names]
        names = [*[None] * first, *names, *[None] * (width - len(names))]
        return Layout(names, LABEL if labelled else None, titles)

    def _by_titles(self, file, titles, labelled):
        """Return the names by a header; None if the known ones stand there."""
        known = zip(self.columns, named_columns(titles, None), strict=False)
        has_name = self._label is not None and self._number is None
        if all(a == b or not may_be_read(a) for a, b in known) and not has_name:
            return None
        names = _renamed(self._titled(file, titles, labelled))
        return names if set(self.read_columns) <= set(names) else None

    def _titled(self, file, titles, labelled):
        """Return the layout of titles; end the command if none is that of the label."""
        label = LABEL if self._label is None else self._label
        try:
            return titled_layout(titles, label if labelled else None)
        except ValueError:
            self._refuse_label(file)
            raise

    def _refuse_label(self, file):
        if self._label is not None:
            self._refuse(
                f"--label {self._label}: {file.first_place}: give the number of a "
                "column, or a name that is among --columns or in a --header."
            )

    def _by_width(self, width, labelled):
        """Return the names of the columns of a line that has so many, None if none fit.

        Columns without a name are None.
        """
        own, read = self.columns, self.read_columns
        fits = [(own, True)]
        if self._asked is not None:
            # Without the label, or what the model reads alone.
            fits.append(([name for name in own if name != LABEL], False))
            fits.append((read, own[: len(read)] == read))
        for names, may_go_on in fits:
            n_more = width - len(names)
            if labelled and LABEL not in names:
                n_more -= 1
                names = [*names, *[None] * n_more, LABEL]
            if n_more == 0 or (n_more > 0 and may_go_on):
                return names
        return None

    def _misfit(self, width, labelled):
        """Return what is wrong with a number of columns."""
        own, read = self.columns, self.read_columns
        wanted = [*read, *[LABEL] * labelled]
        found = counted(width, "column")
        if width < len(wanted):
            return (
                f"{found}, but at least {len(wanted)} are needed: {', '.join(wanted)}."
            )
        return (
            f"{found}, but a line has the {counted(len(own), 'column')} of training, "
            f"{', '.join(own)}, or those that the model reads, {', '.join(wanted)}: "
            "name the columns of the file by --columns."
        )

    @property
    def _may_be_text(self):
        """Whether lines of blanks and words may be text, and the model can read it."""
        may_be_text = self._asked is not None and self._asked.may_be_text
        return may_be_text and self.read_columns == [WORD]

    def _check_no_text(self, file, rows, names):
        """Refuse lines of text; warn of columns that are not read, and are no label."""
        widths = sorted(set(map(len, rows)))
        if widths == [len(names)] and LABEL not in names:
            return
        at = names.index(LABEL) if LABEL in names else -1
        if widths[1:] == [] and any(row[at] in self._asked.labels for row in rows):
            return
        # Lines of text have as many columns as words.
        found = counted(len(rows[0]), "column")
        other = rows[0][at if at < len(rows[0]) else -1]
        what = f"{file.first_place}: {found}, of which {other!r:.40} is no label"
        has_blanks = self._lines.delimiter is None and not file.has_tabs
        if self._may_be_text and has_blanks:
            self._refuse(
                f"{what} of the model. If each line is a sentence, give --format text; "
                "if it has the columns of a token, --format columns."
            )
        if LABEL not in names:
            read = self.read_columns
            what += f"; the model reads {len(read)}, {', '.join(read)}."
            warnings.warn(what, ReadingWarning, stacklevel=2)

    def text(self, sentence, *columns):
        """Return the lines of a sentence with further columns."""
        rows = zip(sentence.source, *columns, strict=True)
        parts = [continued(row, self._lines.delimiter) for row in rows]
        return "\n".join([*parts, "", ""])


def _renamed(layout):
    """Return the names of a layout, in which the label is called so, and no other."""
    names = [f"column{k}" if n == LABEL else n for k, n in enumerate(layout.names, 1)]
    if layout.label is not None:
        names[layout.names.index(layout.label)] = LABEL
    return [name or f"{UNREAD}{k}" for k, name in enumerate(names, start=1)]


def column_file(name, reading, lines):
    """Return the file of columns that a name of the command stands for."""
    return ColumnFile(
        file_of(name), reading, lines.delimiter, lines.comment, lines.header
    )


def last_columns(name, reading, lines):
    """Yield the last column but one as tokens, and the last as labels, of a file."""
    file = column_file(name, reading, lines)

    def layout_of(rows, titles):
        first, last = filled_part(rows)
        if last - first < 2:
            raise ValueError(
                f"{file.first_place}: 1 column, but true and predicted labels are "
                "needed in the last two; or give a --model."
            )
        return Layout([f"column{k}" for k in range(1, last + 1)], None, titles)

    for _, (_, _, rows) in file.blocks(layout_of):
        yield Sentence([row[-2] for row in rows], [row[-1] for row in rows], None)


def continued(row, delimiter=None):
    """Return a line and further columns, between which stands what is in the line."""
    line, *fields = row
    if delimiter is not None and not is_blank(delimiter):
        return delimiter.join(row)
    if "\t" in line:
        return "\t".join(row)
    if any(" " in field for field in fields):
        return "\t".join([*line.split(), *fields])
    return " ".join([line.rstrip(" "), *fields])
