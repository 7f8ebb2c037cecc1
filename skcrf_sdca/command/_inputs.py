"""The sentences of files of columns and of CoNLL-U, and the models that read them.

Owns the options on input, the two formats, and how a model says which one it reads: its
`TokenFeatures` has the names of the columns, and its last step, the CRF, the name of
the column that it predicts.
"""

import argparse
import io
import re
import sys
import warnings
from collections.abc import Collection, Sequence
from itertools import islice
from typing import Any, NamedTuple

from sklearn.pipeline import Pipeline

from skcrf_sdca._utils.messages import counted
from skcrf_sdca.data.label_names import named_lists
from skcrf_sdca.estimators.tagger import Tagger
from skcrf_sdca.persistence import load_model
from skcrf_sdca.text import TokenFeatures, char_spans, tokenize, write_conllu
from skcrf_sdca.text._conll import default_columns, iter_rows, without_comments
from skcrf_sdca.text._conllu import (
    COLUMNS,
    check_known,
    checked_label,
    iter_sentences,
    labels_of,
)
from skcrf_sdca.text._files import numbered_lines, place, text_encoding
from skcrf_sdca.text._label_columns import columns_of

from ._streams import standard_input

_STANDARD_INPUT = "-"
FILE_HELP = "text, also compressed by gzip, bzip2 or xz; - is the standard input"
_UTF_8 = "utf-8-sig"
_COMPRESSED = re.compile(r"\.(gz|bz2|xz)$")


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
        comment: str | None = None,
        encoding: str = _UTF_8,
        *,
        number: int | None = None,
        whole: bool = False,
        known: Collection[str] | None = None,
    ) -> None:
        self.columns = None if columns is None else self._layout(columns, number)
        self._number, self._whole, self._known = number, whole, known
        self._comment = comment
        self._encoding = encoding
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
        text = without_comments(numbered_lines(file, self._encoding), self._comment)
        for numbers, lines, rows in iter_rows(text, None):
            width = width or len(rows[0])
            for number, row in zip(numbers, rows, strict=True):
                if len(row) != width:
                    found = counted(len(row), "column")
                    raise ValueError(
                        f"{place(file, number)}: {found}, but the lines before it "
                        f"have {width}. If it is a comment, say with --comment how "
                        "comments begin; if each line is a sentence, tag it with "
                        "--format text."
                    )
            yield numbers, lines, rows

    def text(self, sentence, *columns):
        """Return the lines of a sentence with further columns."""
        parts = []
        for line, *fields in zip(sentence.source, *columns, strict=True):
            if "\t" in line:
                parts.append("\t".join([line, *fields]))
            else:
                parts.append(" ".join([line.rstrip(" "), *fields]))
        return "\n".join([*parts, "", ""])

    def located(self, sentence, spans):
        """Return spans as they are: their bounds are tokens."""
        return spans


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
        return "".join(f"{' '.join(row)}\n" for row in rows) + "\n"

    def located(self, sentence, spans):
        """Return spans by the characters of their line, with their text there."""
        line, offsets = sentence.source
        found = char_spans(spans, offsets)
        return [(kind, b, e, p, line[b:e]) for kind, b, e, p, _ in found]


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
            tokens = [tuple(word[column] for column in self.columns) for word in words]
            labels = labels_of(words, self.label_columns, k) if labelled else None
            yield Sentence(tokens, labels, sentence)

    @property
    def read_columns(self):
        """The names of the columns that tokens have."""
        return self.columns

    def located(self, sentence, spans):
        """Return spans as they are: their bounds are tokens."""
        return spans

    def text(self, sentence, labels):
        """Return the lines of a sentence with other labels."""
        file = io.StringIO()
        write_conllu(file, [sentence.source], [labels], label=self.label)
        return file.getvalue()


def add_files(parser):
    """Add the files to read, by default the standard input."""
    parser.add_argument(
        "files",
        nargs="*",
        default=[_STANDARD_INPUT],
        metavar="FILE",
        help=f"{FILE_HELP}, the default",
    )


def add_reading_options(parser):
    """Add the options on how files are read."""
    parser.add_argument(
        "--comment",
        metavar="TEXT",
        help="how comments begin in files of columns (default: there are none)",
    )
    parser.add_argument(
        "--encoding",
        type=_encoding,
        default=_UTF_8,
        metavar="NAME",
        help="encoding of the text (default: utf-8)",
    )


def add_model_option(parser, *, required):
    """Add the option that names a model file."""
    parser.add_argument(
        "-m",
        "--model",
        required=required,
        metavar="MODEL",
        help="a file of train or save_model",
    )


def _encoding(name):
    try:
        return text_encoding(name)
    except LookupError as error:
        raise argparse.ArgumentTypeError(error.args[0]) from error


def file_of(name):
    """Return what the readers take: a path, or the standard input."""
    return standard_input() if name == _STANDARD_INPUT else name


def labelled_sentences(source, names):
    """Return the tokens and the labels of all sentences of files in a format."""
    X, y = [], []
    for name in names:
        for sentence in source.sentences(name, labelled=True):
            X.append(sentence.tokens)
            y.append(sentence.labels)
    check_any(y, names)
    return X, y


def check_any(y, names):
    """Raise ValueError if there are no sentences in files."""
    if not y:
        raise ValueError(f"{', '.join(names)}: no sentence.")


def batches(iterable, size):
    """Yield lists of at most `size` items."""
    iterator = iter(iterable)
    while batch := list(islice(iterator, min(size, sys.maxsize))):
        yield batch


def format_of_name(name):
    """Return the name of the format that the name of a file tells."""
    is_conllu = _COMPRESSED.sub("", name).endswith(".conllu")
    return "conllu" if is_conllu else "columns"


def load_tagger(path):
    """Return the Tagger of a model file."""
    model = load_model(path)
    if not isinstance(model, Pipeline) or not isinstance(model[0], TokenFeatures):
        raise ValueError(
            f"{path}: the model cannot read text: it must be a Tagger or a Pipeline "
            "whose first step is a TokenFeatures."
        )
    *steps, (name, crf) = model.steps
    # The estimator within a compat.CRF has the methods of the others.
    return Tagger([*steps, (name, getattr(crf, "estimator_", crf))])


def label_texts(tagger, y):
    """Return label lists of a model as files have them: names, if it has some."""
    return [list(map(str, labels)) for labels in named_lists(tagger, y)]


def format_of(tagger, options):
    """Return the format that a tagger reads."""
    columns, label = list(tagger[0].columns), tagger.steps[-1][0]
    if set(columns_of(label)) <= set(COLUMNS):
        return ConlluFormat(columns, label, options.encoding)
    classes = tagger[-1].classes_.tolist()
    known = set(label_texts(tagger, [classes])[0])
    return ColumnsFormat(columns, options.comment, options.encoding, known=known)
