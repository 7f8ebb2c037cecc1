"""Tables with a row for each token, or for each sentence: csv files and data frames."""

import ast
import csv
import re
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from skcrf_sdca._utils.messages import counted
from skcrf_sdca.data.containers import is_frame
from skcrf_sdca.text.core.column_names import ROLES, candidates, plain_name
from skcrf_sdca.text.core.files import is_source, numbered_lines, place
from skcrf_sdca.text.core.passages import Read, TextSource
from skcrf_sdca.text.core.reading import Reading

from .records import read_records

# What is between the labels of a sentence in one cell.
_BETWEEN = re.compile(r"[\s,]+")
# A list that a program has written as text.
_LIST = re.compile(r"\[.*\]", flags=re.DOTALL)
_DELIMITERS = "\t,;|"
# Templates have small letters for this column.
_KNOWN = dict.fromkeys(ROLES["pos"], "pos")


class Table(NamedTuple):
    """The names of the columns, the rows, and the place of each row for messages."""

    names: list[str]
    rows: list[tuple[Any, ...]]
    places: list[str]


def read_table(
    source: Any,
    reading: Reading,
    *,
    sentence: str | Iterable[str] | None = None,
    word: str | None = None,
    label: str | None = None,
    columns: Iterable[str] | None = None,
    delimiter: str | None = None,
) -> Iterator[Read]:
    """Yield the sequences of a table; `read_corpus` describes the options."""
    table = (
        _of_file(source, reading, delimiter) if is_source(source) else _of_frame(source)
    )
    word = _name(table, word, "word")
    if sentence is None and _is_wide(table, word, label):
        rows = [_record(table, row, word) for row in table.rows]
        yield from read_records(rows, reading, label=label, columns=columns or ())
        return
    own_label = _name(table, label, "label", word) if reading.labelled else None
    keys = _sentence_names(table, sentence, word, own_label)
    if columns is None:
        # An index that pandas wrote has no name.
        others = {word, own_label, *keys, "", "Unnamed: 0"}
        columns = [name for name in table.names if name not in others]
    else:
        columns = [_other(table, name) for name in columns if name != "word"]
    for k, rows in enumerate(_sentences(table, keys)):
        yield _sequence(rows, word, own_label, columns, k)


def _of_frame(frame):
    """Return the Table of a data frame, or of a mapping of columns."""
    names = list(frame.columns if is_frame(frame) else frame)
    columns = [
        column.to_list() if hasattr(column, "to_list") else list(column)
        for column in (frame[name] for name in names)
    ]
    rows = list(zip(*columns, strict=True))
    return Table(names, rows, [f"row {k}" for k in range(len(rows))])


def _of_file(source, reading, delimiter):
    """Return the Table of a csv file, whose first line has the names."""
    lines = (line for _, line in numbered_lines(source, reading.encoding))
    first = next(lines, "")
    if delimiter is None:
        delimiter = max(_DELIMITERS, key=first.count)
    # In files with tabs, a single quotation mark is a word.
    has_tabs = delimiter == "\t"
    quoting = csv.QUOTE_NONE if has_tabs else csv.QUOTE_MINIMAL
    unquoted = _unquoted if has_tabs else str
    form = {"delimiter": delimiter, "quoting": quoting, "skipinitialspace": True}
    names = next(csv.reader([first], **form), [])
    reader = csv.reader((f"{line}\n" for line in lines), **form)
    rows, places = [], []
    for row in reader:
        where = place(source, reader.line_num + 1)
        if row and len(row) != len(names):
            raise ValueError(
                f"{where}: {counted(len(row), 'column')}, but the first line has "
                f"{len(names)}: {', '.join(names)}."
            )
        rows.append(tuple(map(unquoted, row)) if row else ("",) * len(names))
        places.append(where)
    if rows and not any(rows[-1]):
        # What follows the end of the last line.
        rows.pop(), places.pop()
    return Table(names, rows, places)


def has_names(path):
    """Return whether the first line of a file with tabs has names of a table."""
    try:
        _, first = next(numbered_lines(path, "latin-1"))
    except OSError:
        return False
    names = first.split("\t")
    return all(candidates(names, role) for role in ("sentence", "word", "label"))


def _unquoted(field):
    """Return a field without the quotation marks that enclose all of it."""
    if len(field) > 2 and field[0] == field[-1] == '"':
        return field[1:-1].replace('""', '"')
    return field


def _name(table, given, role, *others):
    """Return the name of the column with a role; ValueError if there is none."""
    if given is not None:
        found = [given] if given in table.names else []
    else:
        found = [n for n in candidates(table.names, role) if n not in others]
    if not found:
        names = ", ".join(map(str, table.names))
        raise ValueError(f"no column for {role}= among {names}: name it.")
    return found[0]


def _other(table, name):
    """Return the name of a column of the table, also in small letters."""
    same = [own for own in table.names if plain_name(own) == plain_name(name)]
    return _name(table, name if name in table.names else (same or [name])[0], "columns")


def _sentence_names(table, given, *others):
    """Return the names of the columns that tell sentences apart."""
    if given is None:
        found = candidates(table.names, "sentence")
        return [name for name in found if name not in others][:1]
    names = [given] if isinstance(given, str) else list(given)
    return [_name(table, name, "sentence") for name in names]


def _is_wide(table, word, label):
    """Return whether rows are sentences: cells hold several words, or a list.

    Words with blanks in a long table have one label.
    """
    found = candidates(table.names, "label") if label is None else [label]
    others = [name for name in found if name != word]
    spans = [name for name in candidates(table.names, "spans") if name != word]
    for row in table.rows:
        cells = dict(zip(table.names, row, strict=True))
        n_words = _n_parts(cells[word])
        if n_words is None or any(_is_list(cells[name]) for name in spans):
            return True
        if n_words > 1 and n_words in [_n_labels(cells[name]) for name in others]:
            return True
    return False


def _n_parts(cell):
    """Return the number of parts between blanks; None for a list."""
    if _is_list(cell) or (isinstance(cell, str) and _LIST.fullmatch(cell)):
        return None
    return len(cell.split()) if isinstance(cell, str) else 1


def _n_labels(cell):
    """Return the number of labels between blanks or commas; None for a list."""
    return _n_parts(_BETWEEN.sub(" ", cell) if isinstance(cell, str) else cell)


def _is_list(cell):
    return isinstance(cell, (list, tuple)) or hasattr(cell, "tolist")


def _record(table, row, word):
    """Return the record of a row, with lists where cells have these as text."""
    cells = dict(zip(table.names, row, strict=True))
    cells = {
        name: ast.literal_eval(cell)
        if isinstance(cell, str) and _LIST.fullmatch(cell)
        else cell.tolist()
        if hasattr(cell, "tolist")
        else cell
        for name, cell in cells.items()
    }
    for name in candidates(table.names, "label"):
        cell = cells[name]
        if isinstance(cell, str) and isinstance(cells[word], str):
            return {
                **cells,
                word: cells[word].split(),
                name: _BETWEEN.split(cell.strip()),
            }
        if isinstance(cells[word], str) and _n_parts(cells[word]) == len(cell or ()):
            return {**cells, word: cells[word].split()}
    return cells


def _is_missing(cell):
    return cell is None or cell == "" or (isinstance(cell, float) and cell != cell)


def _sentences(table, keys):
    """Yield the rows of each sentence, as dicts, with their places.

    A sentence ends where a cell of its columns changes, but for empty ones, or at an
    empty row.
    """
    current, found = {}, []
    for row, where in zip(table.rows, table.places, strict=True):
        cells = dict(zip(table.names, row, strict=True))
        given = {key: cells[key] for key in keys if not _is_missing(cells[key])}
        is_blank = all(map(_is_missing, row))
        if found and (is_blank or current | given != current):
            yield found
            found = []
        current |= given
        if not is_blank:
            found.append((where, cells))
    if found:
        yield found


def _sequence(rows, word, label, columns, k):
    """Return the sequence of the rows of a sentence."""
    names = {_KNOWN.get(plain_name(name), name): name for name in columns}
    tokens, labels = [], []
    for where, cells in rows:
        if _is_missing(cells[word]):
            raise ValueError(
                f"{where}: no word in column {word!r}. Words such as 'null' need "
                "keep_default_na=False when pandas reads a file."
            )
        own = {name: cells[column] for name, column in names.items()}
        texts = {n: "" if _is_missing(x) else str(x) for n, x in own.items()}
        tokens.append({"word": str(cells[word]), **texts})
        labels.append(
            None if label is None or _is_missing(cells[label]) else cells[label]
        )
    return Read(tokens, None if label is None else labels, TextSource(k))
