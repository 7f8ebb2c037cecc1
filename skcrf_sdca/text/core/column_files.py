"""Files of columns: the layout of the columns, and the rows of each sequence.

Those who read them say what the layout is, given the first rows.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from skcrf_sdca._utils.messages import counted
from skcrf_sdca.text.core.comments import Comments
from skcrf_sdca.text.core.files import BLANKS, numbered_lines, place
from skcrf_sdca.text.core.layouts import Layout
from skcrf_sdca.text.core.reading import Reading
from skcrf_sdca.text.core.rows import (
    Block,
    fields,
    iter_rows,
    mixed_fields,
    without_ends,
)

# What is said of a line where files with titles were joined.
REPEATED = "left out: it repeats the titles"


class WidthError(ValueError):
    """A line has another number of columns than the layout."""


class ColumnFile:
    """A path or an open file; the other parameters are as in `read_conll`.

    Attributes
    ----------
    first_place : str
        The name of the file and the number of its first line of tokens.
    has_tabs : bool
        Whether the first lines have tabs.
    """

    def __init__(
        self,
        file: Any,
        reading: Reading,
        delimiter: str | None = None,
        comment: str | None = None,
        header: bool | None = None,
    ) -> None:
        self._file, self._reading = file, reading
        self._delimiter, self._header = delimiter, header
        self._comments = Comments(file, reading, comment)
        self.first_place, self.has_tabs, self._is_mixed = "", False, False

    def blocks(
        self,
        layout_of: Callable[[list[list[str]], list[str] | None], Layout],
        *,
        one_column: bool = False,
    ) -> Iterator[tuple[Layout, Block]]:
        """Yield the layout and the rows of each sequence, which have its columns.

        ``layout_of(rows, titles)`` returns the layout, given the first rows and the
        titles of the header that the user says there is, or None; if its layout has
        titles, they are the first of the rows. `one_column` is as in `iter_rows`.
        """
        lines = self._comments.without(
            numbered_lines(self._file, self._reading.encoding)
        )
        titles = self._titles(lines) if self._header else None
        rows = iter_rows(lines, self._delimiter, one_column=one_column)
        first, blocks = self._comments.after_first(rows)
        if not first:
            return
        self.first_place = place(self._file, first[0][0])
        texts = [text for _, text in first]
        self.has_tabs = any("\t" in text for text in texts)
        layout = layout_of(self._first_rows(texts), titles)
        self._is_mixed = self._are_mixed(texts, len(layout.names))
        if layout.titles and titles is None:
            self._reading.take("titles", "the first line", option="header")
            blocks = _without_line(blocks, texts[0])
        if not layout.tokens:
            raise ValueError(f"{self.first_place}: no column but the label is read.")
        for block in self._fitted_blocks(layout, blocks):
            yield layout, block

    def _titles(self, lines):
        first = next((line for _, line in lines if line.strip(BLANKS)), None)
        return None if first is None else fields(first, self._delimiter)

    def _first_rows(self, lines):
        """Return the columns of the first lines.

        If rows separated by tabs do not fit, but rows separated by any blanks do, the
        latter are taken.
        """
        rows = [fields(line, self._delimiter) for line in lines]
        mixed = list(map(mixed_fields, lines))
        widths, others = (set(map(len, found)) for found in (rows, mixed))
        # A delimiter may end a line.
        last = (next(filter(str.strip, reversed(row)), "") for row in rows)
        has_blank = any(" " in field.strip(BLANKS) for field in last)
        is_mixed = (len(widths) > 1 or has_blank) and len(others) == 1
        return mixed if is_mixed else rows

    def _are_mixed(self, lines, n):
        """Return whether the lines have n columns only between tabs and blanks."""
        if self._delimiter is not None:
            return False
        rows = (without_ends(fields(line, None), n) for line in lines)
        is_mixed = all(len(mixed_fields(line)) == n for line in lines)
        return is_mixed and any(len(row) != n for row in rows)

    def _fitted_blocks(self, layout, blocks):
        """Yield blocks without comments, all of whose rows have the columns."""
        n = len(layout.names)
        at = None if layout.label is None else layout.names.index(layout.label)
        for block in blocks:
            numbers, texts, rows = self._comments.left_out(block, n)
            if self._is_mixed:
                rows = list(map(mixed_fields, texts))
            if set(map(len, rows)) != {n}:
                rows = [
                    self._fitted(layout, *line)
                    for line in zip(numbers, texts, rows, strict=True)
                ]
            if layout.titles and layout.titles in rows:
                numbers, texts, rows = self._without_titles(
                    layout.titles, numbers, texts, rows
                )
            if rows:
                self._comments.ask(texts, rows, at)
                yield numbers, texts, rows
        self._comments.tell()

    def _without_titles(self, titles, *block):
        """Return a block without the rows that repeat the titles."""
        lines = list(zip(*block, strict=True))
        for number, _, row in lines:
            where = place(self._file, number)
            self._reading.note("line", REPEATED, where, n=row == titles)
        others = [line for line in lines if line[-1] != titles]
        return zip(*others, strict=True) if others else ((), (), [])

    def _fitted(self, layout, number, text, row):
        """Return the columns of a line, which are as many as the names.

        Raise WidthError if they are not, whatever separates them.
        """
        n = len(layout.names)
        row = without_ends(row, n)
        if len(row) != n and self._delimiter is None:
            mixed = mixed_fields(text)
            row = mixed if len(mixed) == n else row
        if len(row) != n:
            raise WidthError(self._wrong_number(layout, number, row))
        return row

    def note_empty(self, numbers: Sequence[int], words: Iterable[str]) -> None:
        """Note the tokens whose word is empty."""
        for number, word in zip(numbers, words, strict=True):
            if not word:
                self._reading.note(
                    "token",
                    "without a word: its first column is empty",
                    place(self._file, number),
                    f"{self._reading.option('columns')} names the columns.",
                )

    def _wrong_number(self, layout, number, row):
        option, names = self._reading.option, [name or "_" for name in layout.names]
        is_guess = "format" in self._reading.guesses
        others = f"; {option('format')} names other formats" * is_guess
        is_quoted = any(field.startswith('"') for field in row)
        quoted = "the format 'table' reads quotation marks around columns; " * is_quoted
        return (
            f"{place(self._file, number)}: {counted(len(row), 'column')}, {row!r:.80}, "
            f"but {len(names)} have names: {', '.join(names)}. {option('columns')} "
            f"names each column of the file, and {option('delimiter')} says what "
            "separates columns, if not tabs or blanks; if the line is a comment, say "
            f"with {option('comment')} how comments begin; {quoted}if each line has as "
            f"many attributes as it likes, the format 'attributes' reads it{others}."
        )


def _without_line(blocks, line):
    """Yield the blocks without the first line of this text."""
    for numbers, texts, rows in blocks:
        if line in texts:
            k = texts.index(line)
            yield tuple((*own[:k], *own[k + 1 :]) for own in (numbers, texts, rows))
            break
        yield numbers, texts, rows
    yield from blocks
