"""The sentences of files of columns and of CoNLL-U, and the models that read them.

Owns the options on input, the two formats, and how a model says which one it reads: its
`TokenFeatures` has the names of the columns, and its last step, the CRF, the name of
the column that it predicts.
"""

import argparse
import io
import re
import sys
from collections.abc import Sequence
from itertools import islice
from typing import Any, NamedTuple

from sklearn.pipeline import Pipeline

from skcrf_sdca._utils.messages import counted
from skcrf_sdca.data.label_names import named_lists
from skcrf_sdca.estimators.tagger import Tagger
from skcrf_sdca.persistence import load_model
from skcrf_sdca.text import TokenFeatures, write_conllu
from skcrf_sdca.text._conll import iter_rows
from skcrf_sdca.text._conllu import (
    COLUMNS,
    check_known,
    checked_label,
    iter_sentences,
    labels_of,
)
from skcrf_sdca.text._files import place, text_encoding
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
    """Files of columns: first the tokens' columns, then any others, last the label.

    Without names, `columns` are all but the label of the first line that is read.
    """

    label = "label"
    label_columns = (label,)

    def __init__(
        self,
        columns: Sequence[str] | None = None,
        comment: str | None = None,
        encoding: str = _UTF_8,
    ) -> None:
        self.columns = columns
        self._comment = comment
        self._encoding = encoding

    def sentences(self, name, *, labelled):
        """Yield the sentences of a file."""
        for numbers, lines, rows in self.rows(name):
            width = len(rows[0])
            if self.columns is None:
                self.columns = default_columns(width - 1)
            wanted = [*self.columns, *[self.label] * labelled]
            if width < len(wanted):
                found = counted(width, "column")
                raise ValueError(
                    f"{place(file_of(name), numbers[0])}: {found}, but at least "
                    f"{len(wanted)} are needed: {', '.join(wanted)}."
                )
            # Equal strings are stored once, and not longer than they are used.
            rows = [tuple(map(sys.intern, row)) for row in rows]
            tokens = [row[: len(self.columns)] for row in rows]
            labels = [row[-1] for row in rows] if labelled else None
            yield Sentence(tokens, labels, lines)

    def rows(self, name):
        """Yield the numbers of the lines, the lines and their columns of sentences."""
        file, width = file_of(name), None
        blocks = iter_rows(file, None, self._comment, self._encoding)
        for numbers, lines, rows in blocks:
            width = width or len(rows[0])
            for number, row in zip(numbers, rows, strict=True):
                if len(row) != width:
                    found = counted(len(row), "column")
                    raise ValueError(
                        f"{place(file, number)}: {found}, but the lines before it "
                        f"have {width}. If it is a comment, say with --comment how "
                        "comments begin."
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


class ConlluFormat:
    """Treebanks in CoNLL-U, one of whose columns is the label, or some joined."""

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

    def text(self, sentence, labels):
        """Return the lines of a sentence with other labels."""
        file = io.StringIO()
        write_conllu(file, [sentence.source], [labels], label=self.label)
        return file.getvalue()


def default_columns(n):
    """Return the names of n columns, at least one."""
    return ["word", "pos", *(f"column{k}" for k in range(3, n + 1))][: max(n, 1)]


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
    return ColumnsFormat(columns, options.comment, options.encoding)
