"""The formats of files that the command reads and writes, but for files of columns.

Each has the sentences of a file, which a Reading counts, the text of a sentence with
labels, and the passage of a document that it is. CoNLL-U is written as it was read; of
other formats, a line is written for each token.
"""

import io
import sys
from collections.abc import Iterable, Mapping
from itertools import chain
from typing import Any

from skcrf_sdca._utils.messages import counted
from skcrf_sdca.text import TextSource, tokenize, write_conllu
from skcrf_sdca.text.core.files import name_of, numbered_lines
from skcrf_sdca.text.corpora import iter_corpus, options_of
from skcrf_sdca.text.features.values import WORD
from skcrf_sdca.text.formats.attributes import scaled_fields
from skcrf_sdca.text.formats.conllu import (
    check_known,
    checked_label,
    iter_sentences,
    labels_of,
)
from skcrf_sdca.text.formats.label_columns import value_of, without_missing
from skcrf_sdca.text.spans.offsets import TOKEN
from skcrf_sdca.text.spans.words import unspaced_scripts

from ._columns import LABEL, Sentence, TokensOfColumns, continued, may_be_read
from ._streams import file_of

# Lines that may end with a label by chance.
FEW_LINES = 5


class TextFormat(TokensOfColumns):
    """Text to be tagged, with a sentence on each line; the tokens are by default words.

    `pattern` is as in `tokenize`. There is a warning where lines end with the labels of
    a model, `known`.
    """

    def __init__(
        self, pattern: str | None = None, known: Iterable[str] = frozenset()
    ) -> None:
        self._pattern = pattern
        # Sentences end with signs that are labels too.
        self._known = {label for label in known if label.isalnum() or "-" in label}

    def sentences(self, name, reading):
        """Yield the sentences of a file; lines without a token are none."""
        is_guess = self._pattern is None
        pattern = TOKEN if is_guess else self._pattern
        reading.take("tokens", pattern, option="tokens" if is_guess else None)
        return reading.counted(self._sentences(name, reading, pattern, is_guess))

    def _sentences(self, name, reading, pattern, is_guess):
        n_lines, n_labels, last = 0, 0, ""
        for _, line in numbered_lines(file_of(name), reading.encoding):
            if is_guess:
                reading.count_scripts(unspaced_scripts(line))
            tokens, offsets = tokenize(line, pattern)
            if tokens:
                last = line.split()[-1]
                n_lines, n_labels = n_lines + 1, n_labels + (last in self._known)
                tokens = [(sys.intern(token),) for token in tokens]
                yield Sentence(tokens, None, (line, offsets))
        if n_labels > FEW_LINES and n_labels > 0.5 * n_lines:
            reading.odd(
                f"{name}: {counted(n_labels, 'line')} of {n_lines} end with a label of "
                f"the model, as the last with {last!r:.40}: files with a token on each "
                "line are of the format columns, not text."
            )

    def text(self, sentence, *columns):
        """Return lines with the tokens of a sentence and further columns."""
        words = (word for (word,) in sentence.tokens)
        rows = zip(words, *columns, strict=True)
        return "".join(f"{continued(row)}\n" for row in rows) + "\n"

    def passage(self, sentence, i):
        """Return the source of sentence i: a number, the text, where its tokens are."""
        return TextSource(i, *sentence.source)


class CorpusFormat(TokensOfColumns):
    """A format of `read_corpus`, whose tokens are dicts, called `name`.

    `columns` are the names of the columns of tokens, by default all of the first. Those
    that are called "_" or "label", as in files of columns, are none.
    """

    def __init__(
        self,
        name: str,
        columns: Iterable[str] | None = None,
        options: Mapping[str, Any] | None = None,
    ) -> None:
        self._name, self._options = name, dict(options or {})
        label = self._options.get(LABEL)
        if columns is not None:
            columns = [n for n in columns if may_be_read(n) and n != label]
            if "columns" in options_of(name):
                self._options.setdefault("columns", columns)
        self.columns = columns

    @property
    def read_columns(self):
        """The names of the columns that tokens have."""
        return self.columns

    def sentences(self, name, reading):
        """Yield the sentences of a file."""
        file = file_of(name)
        for tokens, labels, source in _sequences(
            file, reading, self._name, self._options
        ):
            if self.columns is None and tokens:
                self.columns = list(tokens[0])
            yield Sentence([self._row(file, x) for x in tokens], labels, source)

    def _row(self, file, token):
        try:
            return tuple(sys.intern(token[column]) for column in self.columns)
        except KeyError as error:
            raise ValueError(
                f"{name_of(file)}: the model needs the columns "
                f"{', '.join(self.columns)}, but tokens of the format {self._name} "
                f"have {', '.join(token)}."
            ) from error

    def text(self, sentence, *columns):
        """Return lines with the tokens of a sentence and further columns."""
        rows = zip(sentence.tokens, *columns, strict=True)
        return "".join("\t".join([*t, *own]) + "\n" for t, *own in rows) + "\n"

    def passage(self, sentence, i):
        """Return the document that a sentence is of, and where its tokens are."""
        return sentence.source


class AttributesFormat:
    """A format of `read_corpus` whose tokens are features, and have no columns.

    In lines that are written the label is last, or first as in data of CRFsuite. There
    is a warning where the labels of a model, `known`, are among the features.
    """

    label = LABEL
    label_columns = (LABEL,)
    columns = read_columns = ()

    def __init__(
        self, name: str, options: Mapping[str, Any], known: frozenset[str] = frozenset()
    ) -> None:
        self.name, self._options, self._known = name, options, known

    def sentences(self, name, reading):
        """Yield the sentences of a file."""
        file = file_of(name)
        for found in _sequences(file, reading, self.name, self._options):
            if not reading.labelled:
                self._look_for_labels(found[0], reading)
            yield Sentence(*found)

    def _look_for_labels(self, tokens, reading):
        """Tell of a label that each token has among its features."""
        at = 0 if self._options.get(LABEL) == "first" else -1
        found = [token[at] for token in tokens if isinstance(token, list) and token]
        if found and self._known and self._known.issuperset(found):
            reading.odd(
                f"{found[0]!r:.40} is read as a feature, but is a label of the model: "
                "files to be tagged have no labels."
            )

    def text(self, sentence, *columns):
        """Return lines with the features of tokens and further columns."""
        lines = []
        for token, *own in zip(sentence.tokens, *columns, strict=True):
            is_scaled = isinstance(token, Mapping)
            features = scaled_fields(token) if is_scaled else token
            comes_first = is_scaled or self._options.get(LABEL) == "first"
            parts = [own, features] if comes_first else [features, own]
            lines.append("\t".join(chain(*parts)))
        return "\n".join([*lines, "", ""])

    def words(self, tokens):
        """Return the first features of tokens, which may tell their words."""
        return [next(iter(token), "") for token in tokens]

    def passage(self, sentence, i):
        """Return the source that the reader noted: a file of features has no text."""
        return sentence.source


def _sequences(file, reading, name, options):
    """Yield the tokens, labels and source of sequences, all of which have labels."""
    found = iter_corpus(file, name, reading, options)
    for k, (tokens, labels, source) in enumerate(found):
        _check_labels(file, k, labels)
        yield tokens, labels and [sys.intern(str(label)) for label in labels], source


def _check_labels(file, k, labels):
    """Raise ValueError if a token of sentence k has no label."""
    if labels is not None and None in labels:
        raise ValueError(
            f"{name_of(file)}: sentence {k}: token {labels.index(None)} has no label."
        )


class ConlluFormat(TokensOfColumns):
    """Treebanks in CoNLL-U, one of whose columns is the label, or some joined."""

    def __init__(
        self, columns: Iterable[str] | None = None, label: str | None = None
    ) -> None:
        self.columns = [name for name in columns or [WORD] if may_be_read(name)]
        self._is_guess = label is None
        self.label = "upos" if label is None else label
        self.label_columns = checked_label(self.label, "there is no")
        check_known(self.columns, "there is no")

    @property
    def read_columns(self):
        """The names of the columns that tokens have."""
        return self.columns

    def sentences(self, name, reading):
        """Yield the sentences of a file."""
        reading.take("word", "FORM")
        if reading.labelled:
            option = "label" if self._is_guess else None
            reading.take("label", self.label, option=option)
        return reading.counted(self._sentences(name, reading))

    def _sentences(self, name, reading):
        for k, sentence in enumerate(iter_sentences(file_of(name), reading.encoding)):
            words = sentence.words
            tokens = [
                tuple(value_of(word, column) for column in self.columns)
                for word in words
            ]
            labels = None
            if reading.labelled:
                labels = labels_of(words, self.label_columns, k)
                labels = without_missing(labels, self.label_columns)
                _check_labels(name, k, labels)
            yield Sentence(tokens, labels, sentence)

    def text(self, sentence, labels):
        """Return the lines of a sentence with other labels."""
        file = io.StringIO()
        write_conllu(file, [sentence.source], [labels], label=self.label)
        return file.getvalue()
