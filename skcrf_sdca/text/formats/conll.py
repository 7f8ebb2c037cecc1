"""Files of columns: each line has a token, whose columns tabs or blanks separate.

This is the only module that knows the format: comments, marks of documents and blank
lines between sequences.
"""

from collections.abc import Iterable, Iterator
from typing import IO, Any

from skcrf_sdca._utils.messages import counted
from skcrf_sdca._utils.typing import FilePath, Labels
from skcrf_sdca.data.label_encoding import flat_labels
from skcrf_sdca.text.core.comments import DOCUMENT, Comments
from skcrf_sdca.text.core.files import BLANKS, numbered_lines, place, write_text
from skcrf_sdca.text.core.layouts import (
    LABEL,
    given_layout,
    guessed_layout,
    titled_layout,
)
from skcrf_sdca.text.core.passages import Read, TextSource
from skcrf_sdca.text.core.reading import Reading
from skcrf_sdca.text.core.rows import (
    fields,
    iter_rows,
    mixed_fields,
    without_ends,
    without_odd_blanks,
)
from skcrf_sdca.text.core.tokens import Token, Tokens

# What `read_conll` takes the columns for, if they are not given.
COLUMNS = ("word", "pos", "label")


def read_conll(
    file: FilePath | IO[str] | IO[bytes],
    columns: Iterable[str | None] | None = COLUMNS,
    *,
    label: str | int | None = LABEL,
    delimiter: str | None = None,
    comment: str | None = None,
    header: bool | None = None,
    encoding: str = "utf-8-sig",
) -> Any:
    r"""Read sequences of tokens, and their labels, from a file of columns.

    A line has the columns of one token. Blank lines separate sequences, and so do the
    lines ``-DOCSTART-`` that begin a document.

    Parameters
    ----------
    file : str, path-like, or file object of text or bytes
        The file. If its content is compressed by gzip, bzip2 or xz, it is decompressed,
        whatever the name of the file is.
    columns : sequence of (str or None), or None, default=("word", "pos", "label")
        Name of each column; columns named None are not read. None takes the names of
        the `header`. Without a header it takes the last column for the label, or the
        first if only this has labels such as "B-PER" and "O" in the first sequence. It
        calls the others "word", "pos", "column3" and so on. Columns at the ends that
        are empty in the first sequence are not read.
    label : str, int or None, default="label"
        Name of the column with the labels, or its number, from 1; None if there is
        none.
    delimiter : str, default=None
        Text between columns. By default tabs separate the columns of a line with tabs,
        and one or more blanks the columns of other lines. If these are not as many as
        `columns`, any run of tabs and blanks separates. With a delimiter of several
        blanks, such as " \t", any run of them separates. A delimiter after the last
        column is ignored, and so are blanks beside a delimiter.
    comment : str, default=None
        Lines that begin with this are comments. By default, lines such as "# text = a"
        are comments if they have not the columns of a token; else "#" is a word.
    header : bool, default=None
        Whether the first line that is no comment has the names of the columns. They are
        taken if `columns` is None: a name such as "Token" or "FORM" becomes "word", and
        a name such as "ner_tag" becomes `label`, if no column has this name. By default
        this is asked only if `columns` is None: the line is a header if it has usual
        names of words and labels, or "TOKEN" and names that are in no line after it.
    encoding : str, default="utf-8-sig"
        Encoding of bytes; the default is UTF-8, with or without a byte order mark.

    Returns
    -------
    X : list of lists of dict
        ``{column: str}`` for each sequence and token, without the labels.
    y : list of lists of str
        The labels. Not returned if `label` is None.

    Raises
    ------
    ValueError
        If a line has another number of columns, or the file has another encoding; the
        message names the line. If names of columns are repeated, `label` is not
        among them, or `comment` is empty.
    OSError
        If the file cannot be read or decompressed.
    LookupError
        If `encoding` is no encoding of text files.

    Warns
    -----
    ReadingWarning
        If what was read is odd, such as a label ''.

    See Also
    --------
    write_conll : Writes such files.
    read_corpus : Reads files in other formats.
    read_conllu : Reads treebanks in CoNLL-U, not all of whose lines are words.

    Examples
    --------
    >>> import io
    >>> from skcrf_sdca.text import read_conll
    >>> file = io.StringIO("the DT B-NP\ndog NN I-NP\n\nit PRP B-NP\n")
    >>> X, y = read_conll(file)
    >>> X[0]
    [{'word': 'the', 'pos': 'DT'}, {'word': 'dog', 'pos': 'NN'}]
    >>> y
    [['B-NP', 'I-NP'], ['B-NP']]
    """
    reading = Reading(encoding, labelled=label is not None)
    sequences = read_columns(
        file,
        reading,
        columns=columns,
        label=label,
        delimiter=delimiter,
        comment=comment,
        header=header,
    )
    found = list(reading.counted(sequences))
    reading.warn()
    X = [sequence.tokens for sequence in found]
    return X if label is None else (X, [sequence.labels for sequence in found])


def read_columns(
    file: Any,
    reading: Reading,
    *,
    columns: Iterable[str | None] | None = None,
    label: str | int | None = LABEL,
    delimiter: str | None = None,
    comment: str | None = None,
    header: bool | None = None,
) -> Iterator[Read]:
    """Yield the sequences of a file of columns, whose options are of `read_conll`."""
    label = label if reading.labelled else None
    comments = Comments(file, reading, comment)
    lines = comments.without(numbered_lines(file, reading.encoding))
    layout = None if columns is None else given_layout(columns, label)
    if header:
        first = next((line for _, line in lines if line.strip(BLANKS)), None)
        if layout is None and first is not None:
            layout = titled_layout(fields(first, delimiter), label)
    if layout is None or len(layout.names) > 1:
        lines = without_odd_blanks(lines)
    first, blocks = comments.after_first(iter_rows(lines, delimiter))
    if layout is None and first:
        layout = guessed_layout(_fields_of(first, delimiter), label, header)
        if layout.titles:
            reading.take("titles", "the first line", option="header")
            blocks = _without_line(blocks, first[0])
    if layout is not None:
        if not layout.tokens:
            raise ValueError(f"{place(file, 1)}: no column but the label is read.")
        layout.say(
            reading,
            columns=columns is None or columns is COLUMNS,
            label=label == LABEL and columns is None,
        )
        rows = _Rows(file, reading, layout, delimiter)
        yield from rows.sequences(blocks, comments)


def _fields_of(lines, delimiter):
    """Return the columns of the first lines.

    If rows separated by tabs do not fit, but rows separated by any blanks do, the
    latter are taken.
    """
    rows = [fields(line, delimiter) for line in lines]
    mixed = list(map(mixed_fields, lines))
    widths, others = (set(map(len, found)) for found in (rows, mixed))
    has_blank = any(" " in row[-1].strip(BLANKS) for row in rows)
    is_mixed = (len(widths) > 1 or has_blank) and len(others) == 1
    return mixed if is_mixed else rows


def _without_line(blocks, line):
    """Yield the blocks without the first line of this text."""
    for numbers, texts, rows in blocks:
        if line in texts:
            k = texts.index(line)
            yield tuple((*own[:k], *own[k + 1 :]) for own in (numbers, texts, rows))
            break
        yield numbers, texts, rows
    yield from blocks


class _Rows:
    """Makes sequences of the rows of a file, which have one layout."""

    def __init__(self, file, reading, layout, delimiter):
        self._file, self._reading, self._layout = file, reading, layout
        self._delimiter = delimiter

    def sequences(self, blocks, comments):
        """Yield the sequences of the numbered lines and rows of each block."""
        layout, n = self._layout, len(self._layout.names)
        places, names = zip(*layout.tokens, strict=True)
        at = None if layout.label is None else layout.names.index(layout.label)
        # Equal strings are stored once: this saves memory and makes lookups faster.
        shared: dict[str, str] = {}
        stored, width, k = shared.setdefault, {n}, 0
        for block in blocks:
            numbers, texts, rows = comments.left_out(block, n)
            if set(map(len, rows)) != width:
                rows = list(map(self._fitted, numbers, texts, rows))
            if not rows:
                continue
            columns = [list(map(stored, own, own)) for own in zip(*rows, strict=True)]
            values = zip(*(columns[i] for i in places), strict=True)
            tokens = [dict(zip(names, own, strict=True)) for own in values]
            labels = None if at is None else columns[at]
            comments.ask(texts, labels)
            if "" in shared:
                self._note_empty(numbers, columns[places[0]])
            yield Read(tokens, labels, TextSource(k))
            k += 1
        comments.tell()

    def _fitted(self, number, text, row):
        """Return the columns of a line, which are as many as the names.

        Raise ValueError if they are not, whatever separates them.
        """
        n = len(self._layout.names)
        row = without_ends(row, n)
        if len(row) != n and self._delimiter is None:
            mixed = mixed_fields(text)
            row = mixed if len(mixed) == n else row
        if len(row) != n:
            raise ValueError(self._wrong_number(number, row))
        return row

    def _note_empty(self, numbers, words):
        """Note the tokens whose word is empty."""
        for number, word in zip(numbers, words, strict=True):
            if not word:
                self._reading.note(
                    "token",
                    "without a word: its first column is empty",
                    place(self._file, number),
                    f"{self._reading.option('columns')} names the columns.",
                )

    def _wrong_number(self, number, row):
        option, names = self._reading.option, self._layout.names
        is_guess = "format" in self._reading.guesses
        others = f"; {option('format')} names other formats" * is_guess
        is_quoted = any(field.startswith('"') for field in row)
        quoted = "the format 'table' reads quotation marks around columns; " * is_quoted
        return (
            f"{place(self._file, number)}: {counted(len(row), 'column')}, {row!r:.80}, "
            f"but {counted(len(names), 'name')} in columns={names}. Pass "
            f"{option('columns')} with the name of each column of the file, None for "
            f"one not to read, and {option('delimiter')} if tabs or blanks do not "
            "separate them; or, if the line is a comment, say with "
            f"{option('comment')} how comments begin; "
            f"{quoted}if each line has as many "
            f"attributes as it likes, the format 'attributes' reads it{others}."
        )


def write_conll(
    file: FilePath | IO[str],
    X: Iterable[Iterable[Token]],
    *labels: Labels,
    columns: Iterable[str] | None = None,
    delimiter: str = " ",
    encoding: str = "utf-8",
) -> None:
    r"""Write sequences of tokens and their labels as columns.

    With true and predicted labels, ``conlleval`` can read the file.

    Parameters
    ----------
    file : str, path-like or text file object
        The file; if a path ends in ``.gz``, the file is compressed.
    X : iterable of sequences
        Tokens are str, tuples of str or dicts of str. Nothing is written for a sequence
        without tokens.
    *labels : list of label lists
        Further columns, such as ``y`` and the predictions of an estimator.
    columns : sequence of str, default=None
        Columns of dicts to write, in this order; by default all, in the order of the
        first token. Of tuples, all columns are written.
    delimiter : str, default=" "
        Text between columns.
    encoding : str, default="utf-8"
        Encoding of a file that is opened here.

    Raises
    ------
    ValueError
        If the lengths of `X` and `labels` differ, or a column is empty, contains the
        delimiter or a line break, or begins or ends with a blank, so that it could not
        be read again. Nothing is written.
    TypeError
        If `X` is not of this form.

    See Also
    --------
    read_conll : Reads such files.

    Examples
    --------
    >>> import sys
    >>> from skcrf_sdca.text import write_conll
    >>> X, y = [[("the", "DT"), ("dog", "NN")]], [["B-NP", "I-NP"]]
    >>> write_conll(sys.stdout, X, y, [["B-NP", "B-NP"]])
    the DT B-NP B-NP
    dog NN I-NP B-NP
    <BLANKLINE>
    """
    tokens = Tokens(X)
    names = tokens.names if columns is None else columns
    parts = [tokens.column(name) for name in names]
    parts += [list(map(str, flat_labels(y, tokens.lengths))) for y in labels]
    _check_fields(tokens, parts, delimiter)
    lines = [delimiter.join(fields) for fields in zip(*parts, strict=True)]
    write_text(file, _joined(lines, tokens.lengths), encoding)


def _check_fields(tokens, parts, delimiter):
    """Raise ValueError if a field could not be read again."""
    separators = {delimiter, "\r", "\n"}
    separators |= {" ", "\t"} if delimiter == " " else set()
    for k, part in enumerate(parts):
        for i, field in enumerate(part):
            if (
                not field.strip(BLANKS)
                or field != field.strip(" ")
                or any(separator in field for separator in separators)
                or (k == 0 and field.startswith(DOCUMENT))
            ):
                raise ValueError(
                    f"{tokens.place(i)}: {field!r} in column {k} could not be read "
                    f"again with delimiter={delimiter!r}."
                )


def _joined(lines, lengths):
    """Return the text of all lines, with a blank line after each sequence."""
    ends = lengths.cumsum().tolist()
    texts = [
        "".join(f"{line}\n" for line in lines[end - length : end]) + "\n"
        for end, length in zip(ends, lengths.tolist(), strict=True)
        if length
    ]
    return "".join(texts)
