"""Files of columns: each line has a token, whose columns tabs or blanks separate.

This is the only module that knows the format: comments, marks of documents and blank
lines between sequences.
"""

from collections.abc import Iterable, Iterator
from typing import IO, Any

from skcrf_sdca._utils.typing import FilePath, Labels
from skcrf_sdca.data.label_encoding import flat_labels
from skcrf_sdca.text.core.column_files import ColumnFile
from skcrf_sdca.text.core.comments import DOCUMENT
from skcrf_sdca.text.core.files import BLANKS, write_text
from skcrf_sdca.text.core.layouts import (
    LABEL,
    given_layout,
    guessed_layout,
    titled_layout,
)
from skcrf_sdca.text.core.passages import Read, TextSource
from skcrf_sdca.text.core.reading import Reading
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
    given = None if columns is None else given_layout(columns, label)

    def layout_of(rows, titles):
        layout = given
        if layout is None and titles is not None:
            layout = titled_layout(titles, label)
        elif layout is None:
            layout = guessed_layout(rows, label, header)
        layout.say(
            reading,
            columns=columns is None or columns is COLUMNS,
            label=label == LABEL and columns is None,
        )
        return layout

    found = ColumnFile(file, reading, delimiter, comment, header)
    has_one = given is not None and len(given.names) == 1
    # Equal strings are stored once: this saves memory and makes lookups faster.
    shared: dict[str, str] = {}
    stored = shared.setdefault
    blocks = found.blocks(layout_of, one_column=has_one)
    for k, (layout, (numbers, _, rows)) in enumerate(blocks):
        places, names = zip(*layout.tokens, strict=True)
        at = None if layout.label is None else layout.names.index(layout.label)
        own = [list(map(stored, x, x)) for x in zip(*rows, strict=True)]
        values = zip(*(own[i] for i in places), strict=True)
        tokens = [dict(zip(names, row, strict=True)) for row in values]
        if "" in shared:
            found.note_empty(numbers, own[places[0]])
        yield Read(tokens, None if at is None else own[at], TextSource(k))


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
