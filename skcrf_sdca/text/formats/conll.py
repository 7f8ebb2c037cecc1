"""Files of columns: each line has a token, whose columns tabs or blanks separate.

This is the only module that knows the format: comments, marks of documents and blank
lines between sequences.
"""

import re
from collections.abc import Iterable, Iterator
from typing import IO, Any

from skcrf_sdca._utils.messages import counted
from skcrf_sdca._utils.typing import FilePath, Labels
from skcrf_sdca.data.label_encoding import flat_labels
from skcrf_sdca.data.tagging_schemes import labels_come_first
from skcrf_sdca.text.core.column_names import candidates
from skcrf_sdca.text.core.files import (
    BLANKS,
    blocks,
    numbered_lines,
    place,
    write_text,
)
from skcrf_sdca.text.core.passages import Read, TextSource
from skcrf_sdca.text.core.reading import Reading
from skcrf_sdca.text.core.tokens import Token, Tokens, checked_names

_DOCUMENT = "-DOCSTART-"
_TABS_AND_BLANKS = re.compile("[ \t]+")
# A line that people see as blank: other white space, and marks that are not seen.
_ODD_BLANK = re.compile(r"[\s\ufeff\u200b\u2060]*")


def read_conll(
    file: FilePath | IO[str] | IO[bytes],
    columns: Iterable[str | None] | None = ("word", "pos", "label"),
    *,
    label: str | None = "label",
    delimiter: str | None = None,
    comment: str | None = None,
    header: bool = False,
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
        the `header`, or of a first line with usual names such as "token" and "ner_tag".
        Without such names it takes the last column for the label, or the first if only
        this has labels such as "B-PER" and "O" in the first sequence. It calls the
        others "word", "pos", "column3" and so on.
    label : str or None, default="label"
        Name of the column with the labels; None if there is none.
    delimiter : str, default=None
        Text between columns. By default tabs separate the columns of a line with tabs,
        and one or more blanks the columns of other lines. If these are not as many as
        `columns`, any run of tabs and blanks separates. With a delimiter of several
        blanks, such as " \t", any run of them separates. A delimiter after the last
        column is ignored, and so are blanks beside a delimiter.
    comment : str, default=None
        Lines that begin with this are comments. By default there are no comments,
        because "#" may be a word.
    header : bool, default=False
        Whether the first line that is no comment has the names of the columns. They are
        taken if `columns` is None: a name such as "Token" or "FORM" becomes "word", and
        a name such as "ner_tag" becomes `label`, if no column has this name.
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
    label: str | None = "label",
    delimiter: str | None = None,
    comment: str | None = None,
    header: bool = False,
) -> Iterator[Read]:
    """Yield the sequences of a file of columns, whose options are of `read_conll`."""
    label = label if reading.labelled else None
    lines = without_comments(numbered_lines(file, reading.encoding), comment)
    if header:
        first = next((line for _, line in lines if line.strip(BLANKS)), None)
        if columns is None and first is not None:
            columns = named_columns(_fields(first, delimiter, None), label)
    names = None if columns is None else _checked_columns(columns, label)
    if names is None or len(names) > 1:
        lines = without_odd_blanks(lines)
    # Equal strings are stored once: this saves memory and makes lookups faster.
    shared: dict[str, str] = {}
    for k, (found, numbers, rows) in enumerate(_blocks(lines, delimiter, names, label)):
        kept = [(i, n) for i, n in enumerate(found) if n not in (None, label)]
        at = None if label is None else found.index(label)
        tokens, labels = [], []
        for number, row in zip(numbers, rows, strict=True):
            if len(row) != len(found):
                raise ValueError(_wrong_number(place(file, number), row, found))
            fields = [shared.setdefault(field, field) for field in row]
            tokens.append({name: fields[i] for i, name in kept})
            if at is not None:
                labels.append(fields[at])
        yield Read(tokens, None if at is None else labels, TextSource(k))


def _blocks(lines, delimiter, names, label):
    """Yield the names of the columns, the numbers of the lines, and the rows.

    If the names are None, the first rows tell them.
    """
    if names is not None:
        for numbers, _, rows in iter_rows(lines, delimiter, len(names)):
            yield names, numbers, rows
        return
    for numbers, texts, rows in iter_rows(lines, delimiter):
        if names is None:
            names, n_skipped = _found_names(texts, rows, label)
            numbers, texts = numbers[n_skipped:], texts[n_skipped:]
        if texts:
            yield names, numbers, [_fields(x, delimiter, len(names)) for x in texts]


def _found_names(lines, rows, label):
    """Return the names of the columns, and how many of the first rows have no tokens.

    If the first row has names of a header, these are taken. If rows separated by tabs
    do not fit, but rows separated by any blanks do, the latter are taken.
    """
    mixed = [[f for f in _TABS_AND_BLANKS.split(line) if f] for line in lines]
    widths, others = (set(map(len, found)) for found in (rows, mixed))
    has_blank = any(" " in row[-1].strip(BLANKS) for row in rows)
    if (len(widths) > 1 or has_blank) and len(others) == 1:
        rows = mixed
    if is_header(rows[0]):
        return named_columns(rows[0], label), 1
    n = len(rows[0])
    first, last = ([row[k] for row in rows] for k in (0, -1))
    if label is not None and n > 1 and labels_come_first(first, last):
        return [label, *default_columns(n - 1)], 0
    return default_columns(n) if label is None else [*default_columns(n - 1), label], 0


def is_header(fields):
    """Return whether a row has usual names of a column of words and one of labels."""
    words, labels = (candidates(fields, role) for role in ("word", "label"))
    return bool(words and labels) and words != labels


def _wrong_number(where, fields, columns):
    return (
        f"{where}: {counted(len(fields), 'column')}, {fields!r:.80}, but "
        f"{counted(len(columns), 'name')} in columns={columns}. Pass columns= with the "
        "name of each column of the file, None for one not to read, and delimiter= if "
        "tabs or blanks do not separate them; or, if the line is a comment, say with "
        "comment= how comments begin; if each line has as many attributes as it likes, "
        "read_corpus(file, 'attributes') reads it."
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


def _checked_columns(columns, label):
    columns = checked_names(columns)
    if label is not None and label not in columns:
        raise ValueError(
            f"columns has no {label!r}: say with label= which of {columns} holds the "
            "labels, or label=None if none does."
        )
    return columns


def default_columns(n):
    """Return the names of n columns, at least one, before the label."""
    return ["word", "pos", *(f"column{k}" for k in range(3, n + 1))][: max(n, 1)]


def named_columns(names, label):
    """Return names of a header as templates and readers have them.

    The column of words becomes "word", and the one of labels, if it has not the name
    `label` already and none is left out, becomes this.
    """
    renamed = dict.fromkeys(candidates(names, "pos")[:1], "pos")
    renamed |= dict.fromkeys(candidates(names, "word")[:1], "word")
    if label is not None and label not in names:
        others = [name for name in candidates(names, "label") if name not in renamed]
        renamed |= dict.fromkeys(others[:1] or names[-1:], label)
    return [renamed.get(name, name) for name in names]


def without_comments(numbered, comment):
    """Yield the numbered lines but comments; where a document begins, a blank one."""
    if comment == "":
        raise ValueError("comment='' begins every line; comment=None has no comments.")
    for number, line in numbered:
        if comment is None or not line.startswith(comment):
            yield number, "" if line.startswith(_DOCUMENT) else line


def without_odd_blanks(numbered):
    """Yield the numbered lines, with blank ones for those that people see as blank.

    In a file of one column, such a line may be a token.
    """
    for number, line in numbered:
        # To ask whether a line is of ASCII takes no time.
        is_odd = not line.isascii() and _ODD_BLANK.fullmatch(line)
        yield number, "" if is_odd else line


def iter_rows(lines, delimiter, n_columns=None):
    """Yield the numbers of the lines, the lines and their columns of each sequence.

    `lines` is what `without_comments` yields, and is read as the sequences are taken.
    The number of columns is not checked; a delimiter that ends a line is ignored if the
    line has ``n_columns`` without it.
    """
    for block in blocks(lines):
        numbers, texts = zip(*block, strict=True)
        yield numbers, texts, [_fields(line, delimiter, n_columns) for line in texts]


def is_blank(delimiter):
    """Return whether a delimiter is blanks and tabs alone."""
    return not delimiter.strip(BLANKS)


def _fields(line, delimiter, n_columns):
    if delimiter is not None and len(delimiter) > 1 and is_blank(delimiter):
        return [field for field in re.split(f"[{delimiter}]+", line) if field]
    if delimiter is None and "\t" not in line:
        # Only blanks separate: words may contain other white space.
        fields = line.split(" ")
        return [field for field in fields if field] if "" in fields else fields
    fields = line.split("\t" if delimiter is None else delimiter)
    if " " in line and delimiter != " ":
        # A token may be a blank.
        fields = [field.strip(" ") or field for field in fields]
    # Some programs end each line by a delimiter.
    if len(fields[:-1]) == n_columns and not fields[-1]:
        return fields[:-1]
    if delimiter is None and n_columns is not None and len(fields) != n_columns:
        mixed = [field for field in _TABS_AND_BLANKS.split(line) if field]
        return mixed if len(mixed) == n_columns else fields
    return fields


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
                or (k == 0 and field.startswith(_DOCUMENT))
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
