"""The formats of files that the command reads and writes.

Each has the sentences of a file, the text of a sentence with labels, and the passage
of a document that it is. Files of columns and CoNLL-U are written as they were read; of
other formats, a line is written for each token.
"""

import io
import sys
import warnings
from collections.abc import Collection, Mapping, Sequence
from itertools import chain
from typing import Any, NamedTuple

from skcrf_sdca._utils.messages import counted
from skcrf_sdca.text import TextSource, tokenize, write_conllu
from skcrf_sdca.text.core.comments import without_comments
from skcrf_sdca.text.core.files import numbered_lines, place
from skcrf_sdca.text.core.layouts import default_columns, is_header, named_columns
from skcrf_sdca.text.core.reading import Reading
from skcrf_sdca.text.core.rows import is_blank, iter_rows
from skcrf_sdca.text.corpora import iter_corpus, options_of
from skcrf_sdca.text.formats.conllu import (
    check_known,
    checked_label,
    iter_sentences,
    labels_of,
)
from skcrf_sdca.text.formats.label_columns import value_of

from ._streams import file_of

_UTF_8 = "utf-8-sig"


class Lines(NamedTuple):
    """How the lines of files of columns are read, as the parameters of `read_conll`."""

    comment: str | None = None
    encoding: str = _UTF_8
    delimiter: str | None = None
    header: bool = False


_USUAL_LINES = Lines()


class Sentence(NamedTuple):
    """The tokens of a sentence, its labels if asked for, and its source in the file."""

    tokens: list[tuple[str, ...]]
    labels: list[str] | None
    source: Any


class ColumnsFormat:
    """Files of columns: those of the tokens, any others, and the label.

    Parameters
    ----------
    columns : list of str, default=None
        The names of the first columns. One of them may be "label": then this column is
        the label, which files to be tagged may lack; without it the last column is. By
        default there are names for all columns but the last of the first line.
    number : int, default=None
        The column of the label, counted from 1, if `columns` does not name it.
    whole : bool, default=False
        Whether a file with labels has no columns without a name.
    known : set of str, default=None
        The labels of a model. Where a file without labels has columns that the model
        does not read, and the last has none of these, there is a warning.
    """

    label = "label"
    label_columns = (label,)

    def __init__(
        self,
        columns: Sequence[str] | None = None,
        lines: Lines = _USUAL_LINES,
        *,
        number: int | None = None,
        whole: bool = False,
        known: Collection[str] | None = None,
    ) -> None:
        self.columns = None if columns is None else self._layout(columns, number)
        self._number, self._whole, self._known = number, whole, known
        self._lines = lines
        # Which column was the label, and of how many.
        self.labels_at = ""

    def _layout(self, columns, number):
        """Return the names of columns with the label at its place, if it has one."""
        columns = [f"_{k}" if n == "_" else n for k, n in enumerate(columns, start=1)]
        if number is not None:
            columns.insert(number - 1, self.label)
        return columns

    @property
    def read_columns(self):
        """The names of the columns that tokens have, but for those without a name."""
        return [n for n in self.columns if n != self.label and n[:1] != "_"]

    def sentences(self, name, *, labelled):
        """Yield the sentences of a file."""
        is_first = True
        for numbers, lines, rows in self.rows(name):
            line = place(file_of(name), numbers[0])
            read, label = self._places(line, len(rows[0]), labelled)
            # Equal strings are stored once, and not longer than they are used.
            rows = [tuple(map(sys.intern, row)) for row in rows]
            if is_first and not labelled:
                self._warn_of_others(line, rows)
            is_first = False
            tokens = [tuple(row[k] if k >= 0 else "" for k in read) for row in rows]
            labels = [row[label] for row in rows] if labelled else None
            yield Sentence(tokens, labels, lines)

    def _places(self, line, width, labelled):
        """Return where the columns of tokens are, -1 for the label, and the label."""
        if self.columns is None:
            self.columns = self._layout(default_columns(width - 1), self._number)
        n, has_place = len(self.columns), self.label in self.columns
        at = self.columns.index(self.label) if has_place else width - 1
        wanted = [*self.columns, *[self.label] * (labelled and not has_place)]
        if has_place and not labelled and width == n - 1:
            return [k - (k > at) if k != at else -1 for k in range(n)], None
        if width < len(wanted):
            raise ValueError(
                f"{line}: {counted(width, 'column')}, but at least {len(wanted)} are "
                f"needed: {', '.join(wanted)}."
            )
        if labelled and self._whole and width > len(wanted):
            raise ValueError(
                f"{line}: {counted(width, 'column')}, but --columns names "
                f"{len(self.columns)}, {', '.join(self.columns)}: name each column of "
                "the file, the label 'label', and those not to read '_'."
            )
        self.labels_at = f"column {at + 1} of {width}" if has_place else ""
        return [k if not has_place or k != at else -1 for k in range(n)], at

    def _warn_of_others(self, line, rows):
        """Warn of columns that are not read, and have no label at the end."""
        width, n = len(rows[0]), len(self.columns)
        if width > n and self._known is not None and self.label not in self.columns:
            other = rows[0][-1]
            if not any(row[-1] in self._known for row in rows):
                warnings.warn(
                    f"{line}: {counted(width, 'column')}, of which the model reads "
                    f"{n}, {', '.join(self.columns)}; the last, {other!r:.40}, is no "
                    "label. If a line is a sentence, give --format text.",
                    stacklevel=2,
                )

    def rows(self, name):
        """Yield the numbers of the lines, the lines and their columns of sentences."""
        file, width = file_of(name), None
        comment, encoding, delimiter, _ = self._lines
        lines = without_comments(numbered_lines(file, encoding), comment)
        lines = self._without_header(lines)
        for numbers, texts, rows in iter_rows(lines, delimiter):
            width = width or len(rows[0])
            for number, row in zip(numbers, rows, strict=True):
                if len(row) != width:
                    found = counted(len(row), "column")
                    raise ValueError(
                        f"{place(file, number)}: {found}, but the lines before it "
                        f"have {width}. If it is a comment, say with --comment how "
                        "comments begin; if other characters than tabs or blanks "
                        "separate the columns, give --delimiter; if each line is a "
                        "sentence, tag it with --format text."
                    )
            yield numbers, texts, rows

    def _without_header(self, lines):
        """Return the lines after a header, whose names are taken if none are known."""
        first = next(((k, line) for k, line in lines if line.strip()), None)
        if first is None:
            return lines
        (_, _, (names,)) = next(iter_rows([first], self._lines.delimiter))
        if not self._lines.header and not is_header(names):
            return chain([first], lines)
        if self.columns is None and self._number is None:
            self.columns = named_columns(names, self.label)
        return lines

    def text(self, sentence, *columns):
        """Return the lines of a sentence with further columns."""
        rows = zip(sentence.source, *columns, strict=True)
        parts = [_continued(row, self._lines.delimiter) for row in rows]
        return "\n".join([*parts, "", ""])

    def passage(self, sentence, i):
        """Return the number of a sentence, which has tokens alone."""
        return TextSource(i)


def _continued(row, delimiter=None):
    """Return a line and further columns, between which stands what is in the line."""
    line, *fields = row
    if delimiter is not None and not is_blank(delimiter):
        return delimiter.join(row)
    if "\t" in line:
        return "\t".join(row)
    if any(" " in field for field in fields):
        return "\t".join([*line.split(), *fields])
    return " ".join([line.rstrip(" "), *fields])


class TextFormat:
    """Text to be tagged, with a sentence on each line."""

    def __init__(self, pattern: str, encoding: str = _UTF_8) -> None:
        self._pattern = pattern
        self._encoding = encoding

    def sentences(self, name, *, labelled):
        """Yield the sentences of a file; lines without a token are none."""
        for _, line in numbered_lines(file_of(name), self._encoding):
            tokens, offsets = tokenize(line, self._pattern)
            if tokens:
                tokens = [(sys.intern(token),) for token in tokens]
                yield Sentence(tokens, None, (line, offsets))

    def text(self, sentence, *columns):
        """Return lines with the tokens of a sentence and further columns."""
        words = (word for (word,) in sentence.tokens)
        rows = zip(words, *columns, strict=True)
        return "".join(f"{_continued(row)}\n" for row in rows) + "\n"

    def passage(self, sentence, i):
        """Return the number of a sentence, its line, and where its tokens are."""
        return TextSource(i, *sentence.source)


class CorpusFormat:
    """A format of `read_corpus`, whose tokens are dicts, called `name`.

    `columns` are the names of the columns of tokens, by default all of the first.
    """

    label = "label"
    label_columns = (label,)
    labels_at = ""

    def __init__(
        self,
        name: str,
        columns: Sequence[str] | None = None,
        options: Mapping[str, Any] | None = None,
        encoding: str = _UTF_8,
    ) -> None:
        self.columns = columns
        self._name = name
        self._options = dict(options or {})
        self._encoding = encoding
        if columns is not None and "columns" in options_of(name):
            self._options.setdefault("columns", columns)

    @property
    def read_columns(self):
        """The names of the columns that tokens have."""
        return self.columns

    def sentences(self, name, *, labelled):
        """Yield the sentences of a file."""
        reading = Reading(self._encoding, labelled)
        found = iter_corpus(file_of(name), self._name, reading, self._options)
        for k, (tokens, labels, source) in enumerate(found):
            if self.columns is None and tokens:
                self.columns = list(tokens[0])
            if labels is not None and None in labels:
                raise ValueError(
                    f"{name}: sentence {k}: token {labels.index(None)} has no label."
                )
            labels = labels and [sys.intern(str(label)) for label in labels]
            yield Sentence([self._row(name, x) for x in tokens], labels, source)
        reading.warn()

    def _row(self, name, token):
        try:
            return tuple(sys.intern(token[column]) for column in self.columns)
        except KeyError as error:
            raise ValueError(
                f"{name}: the model needs the columns {', '.join(self.columns)}, but "
                f"tokens of the format {self._name} have {', '.join(token)}."
            ) from error

    def text(self, sentence, *columns):
        """Return lines with the tokens of a sentence and further columns."""
        rows = zip(sentence.tokens, *columns, strict=True)
        return "".join("\t".join([*t, *own]) + "\n" for t, *own in rows) + "\n"

    def passage(self, sentence, i):
        """Return the document that a sentence is of, and where its tokens are."""
        return sentence.source


class ConlluFormat:
    """Treebanks in CoNLL-U, one of whose columns is the label, or some joined."""

    labels_at = ""

    def __init__(
        self,
        columns: Sequence[str] | None = None,
        label: str = "upos",
        encoding: str = _UTF_8,
    ) -> None:
        self.columns = columns or ["word"]
        self.label = label
        self._encoding = encoding
        self.label_columns = checked_label(label, "there is no")
        check_known(self.columns, "there is no")

    def sentences(self, name, *, labelled):
        """Yield the sentences of a file."""
        for k, sentence in enumerate(iter_sentences(file_of(name), self._encoding)):
            words = sentence.words
            tokens = [
                tuple(value_of(word, column) for column in self.columns)
                for word in words
            ]
            labels = labels_of(words, self.label_columns, k) if labelled else None
            yield Sentence(tokens, labels, sentence)

    @property
    def read_columns(self):
        """The names of the columns that tokens have."""
        return self.columns

    def passage(self, sentence, i):
        """Return the number of a sentence, which has tokens alone."""
        return TextSource(i)

    def text(self, sentence, labels):
        """Return the lines of a sentence with other labels."""
        file = io.StringIO()
        write_conllu(file, [sentence.source], [labels], label=self.label)
        return file.getvalue()
