"""Tables with a row for each token, or for each sentence: csv files and data frames."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import chain
from typing import Any, NamedTuple

from skcrf_sdca._utils.messages import counted
from skcrf_sdca.data.containers import is_frame
from skcrf_sdca.data.tagging_schemes import OUTSIDE
from skcrf_sdca.text.core.cells import csv_rows, is_list, listed
from skcrf_sdca.text.core.column_files import REPEATED
from skcrf_sdca.text.core.column_names import ROLES, candidates, plain_name
from skcrf_sdca.text.core.comments import DOCUMENT
from skcrf_sdca.text.core.files import is_source, numbered_lines, place
from skcrf_sdca.text.core.layouts import LABEL, guessed_layout, number_of
from skcrf_sdca.text.core.passages import Read, TextSource
from skcrf_sdca.text.core.reading import Reading
from skcrf_sdca.text.core.rows import without_ends

from .records import Placed, read_records

# What is between the labels of a sentence in one cell.
_BETWEEN = re.compile(r"[\s,]+")
_DELIMITERS = "\t,;|"
# Templates have small letters for this column.
_KNOWN = dict.fromkeys(ROLES["pos"], "pos")
# Rows that tell what the columns are, if they have no titles.
_N_FIRST = 100


class Table(NamedTuple):
    """The names of the columns, the rows, and the place of each row for messages.

    `label` is the name of the column of labels, if the rows tell it. An empty word in a
    file is nothing; in a frame it may be a word such as "null".
    """

    names: list[Any]
    rows: list[tuple[Any, ...]]
    places: list[str]
    label: str | None = None
    is_file: bool = False


def read_table(
    source: Any,
    reading: Reading,
    *,
    sentence: str | Iterable[str] | None = None,
    word: str | int | None = None,
    label: str | int | None = None,
    columns: Iterable[str] | None = None,
    delimiter: str | None = None,
    header: bool | None = None,
) -> Iterator[Read]:
    """Yield the sequences of a table; `read_corpus` describes the options."""
    if is_source(source):
        own = (LABEL if label is None else label) if reading.labelled else None
        table = _of_file(source, reading, delimiter, header, own, [word, label])
    else:
        table = _of_frame(source)
    roles = _Roles(table, reading)
    own_word = roles.column("word", word)
    if sentence is None and _is_wide(table, own_word, label):
        rows = Placed(_records(table, own_word))
        yield from read_records(rows, reading, label=label, columns=columns or ())
        return
    own_label = None
    if reading.labelled:
        given = label if label is None else table.label or label
        own_label = roles.column("label", given, own_word)
    keys = roles.sentence(sentence, own_word, own_label)
    others = roles.others(columns, own_word, own_label, keys)
    for k, rows in enumerate(_sentences(table, keys, own_word, own_label)):
        yield _sequence(rows, own_word, own_label, others, k)


def _of_frame(frame):
    """Return the Table of a data frame, or of a mapping of columns."""
    if hasattr(frame, "to_pydict"):
        # A table of Arrow, whose columns and cells are objects of its own.
        frame = frame.to_pydict()
    names = list(frame.columns if is_frame(frame) else frame)
    _check_distinct(names, "the data")
    columns = [
        column.to_list() if hasattr(column, "to_list") else list(column)
        for column in (frame[name] for name in names)
    ]
    sizes = [len(column) for column in columns]
    if len(set(sizes)) > 1:
        found = ", ".join(f"{n} ({k})" for n, k in zip(names, sizes, strict=True))
        raise ValueError(f"the columns have other numbers of rows: {found}.")
    rows = list(zip(*columns, strict=True))
    return Table(names, rows, [f"row {k}" for k in range(len(rows))])


def _of_file(source, reading, delimiter, header, label, given):
    """Return the Table of a csv file, whose first row may have titles.

    It has some if one of them is usual for words, or is given. It has none if its last
    cell, the label, is in other rows too.
    """
    numbered = _rows_of(source, reading, delimiter)
    filled = [row for _, row in numbered if any(row)]
    if not filled:
        return Table(["word", "label"], [], [], is_file=True)
    titles, *others = filled
    is_row = titles[0] == DOCUMENT or titles[-1] in {row[-1] for row in others}
    if header is None and (candidates(titles, "word") or {*given} & {*titles}):
        header = True
    layout = None
    if header or (header is None and not is_row):
        names = titles
        _check_distinct([name for name in titles if name], place(source, 1))
        numbered = numbered[[row for _, row in numbered].index(titles) + 1 :]
    else:
        reading.take("titles", "none", option=None if header is False else "header")
        layout = guessed_layout(filled[:_N_FIRST], label, header=False)
        names = [name or "" for name in layout.names]
    rows, places = [], []
    for number, row in numbered:
        where, own = place(source, number), without_ends(row, len(names))
        if any(row) and len(own) != len(names):
            raise ValueError(
                f"{where}: {counted(len(row), 'column')}, but the first line has "
                f"{len(names)}: {', '.join(titles)}."
            )
        is_title = layout is None and row == titles
        reading.note("line", REPEATED, where, n=is_title)
        is_end = is_title or not any(row)
        rows.append(("",) * len(names) if is_end else tuple(own))
        places.append(where)
    while rows and not any(rows[-1]):
        # What follows the end of the last line.
        rows.pop(), places.pop()
    return Table(names, rows, places, layout and layout.label, is_file=True)


def _rows_of(source, reading, delimiter):
    """Return the number of the line, and the cells, of each row of a file."""
    lines = numbered_lines(source, reading.encoding)
    number, first = next(lines, (1, ""))
    if delimiter is None:
        delimiter = max(_DELIMITERS, key=first.count)
        reading.take("delimiter", repr(delimiter), option="delimiter")
    lines = chain([(number, first)], lines)
    if delimiter != "\t":
        return list(csv_rows(source, lines, delimiter))
    # In files with tabs, a single quotation mark is a word.
    rows = ((k, line.split("\t")) for k, line in lines)
    return [(k, [_unquoted(cell.strip(" ")) for cell in row]) for k, row in rows]


def has_names(path):
    """Return whether the first line of a file with tabs has names of a table."""
    try:
        _, first = next(numbered_lines(path, "latin-1"))
    except (OSError, StopIteration):
        return False
    names = first.split("\t")
    return all(candidates(names, role) for role in ("sentence", "word", "label"))


def _unquoted(cell):
    """Return a cell without the quotation marks that enclose all of it."""
    if len(cell) > 2 and cell[0] == cell[-1] == '"':
        return cell[1:-1].replace('""', '"')
    return cell


def _check_distinct(names, where):
    twice = [name for name, n in Counter(names).items() if n > 1]
    if twice:
        raise ValueError(f"{where}: two columns have the name {twice[0]!r:.80}.")


class _Roles:
    """Finds the columns of a table by their roles, and says which they are."""

    def __init__(self, table, reading):
        self._table, self._reading = table, reading

    def column(self, role, given, *others):
        """Return the name of the column with a role; ValueError if there is none."""
        names = self._table.names
        if given is not None:
            found = self._given(given)
        else:
            found = [name for name in candidates(names, role) if name not in others]
        if not found:
            option = self._reading.option
            untitled = f", or say with {option('header')} whether there are titles"
            raise ValueError(
                f"no column for {option(role)} among {', '.join(map(str, names))}: "
                f"name it{untitled * self._table.is_file}."
            )
        self._take(role, found[:1], None if given is not None else role)
        return found[0]

    def _given(self, name):
        """Return the names of the columns that a name, or a number from 1, is."""
        names = self._table.names
        number = number_of(name) if isinstance(name, (str, int)) else None
        if name not in names and number is not None and 0 < number <= len(names):
            return [names[number - 1]]
        return [name] if name in names else []

    def _take(self, role, names, option):
        found = ", ".join(map(str, names))
        if found:
            self._reading.take(role, found, option=option)

    def sentence(self, given, *others):
        """Return the names of the columns that tell sentences apart."""
        if given is None:
            found = candidates(self._table.names, "sentence")
            names = [name for name in found if name not in others][:1]
        else:
            # Frames without titles have numbers.
            is_one = isinstance(given, (str, int))
            names = [given] if is_one else list(given)
            names = [own for name in names for own in self._known("sentence", name)]
        self._take("sentence", names, None if given is not None else "sentence")
        return names

    def _known(self, role, name):
        found = self._given(name)
        if not found:
            names = ", ".join(map(str, self._table.names))
            option = self._reading.option(role)
            raise ValueError(f"no column for {option} among {names}: name it.")
        return found

    def others(self, given, word, label, keys):
        """Return the names of further columns of tokens."""
        taken = {word, label}
        names = self._table.names
        if given is None:
            # An index that pandas wrote has no name.
            found = [n for n in names if n not in {*taken, *keys, "", "Unnamed: 0"}]
        else:
            named = [self._other(name) for name in given if name != "word"]
            found = [name for name in named if name not in taken]
        self._take("features", found, None if given is not None else "columns")
        dropped = [name for name in names if name not in {*taken, *keys, *found}]
        self._take("not read", map(repr, dropped), "columns" if given is None else None)
        return found

    def _other(self, name):
        """Return the name of a column of the table, also in small letters."""
        names = self._table.names
        same = [own for own in names if plain_name(own) == plain_name(name)]
        return self._known("columns", name if name in names else (same or [name])[0])[0]


def _is_wide(table, word, label):
    """Return whether rows are sentences: most cells hold several words, or a list.

    Words with blanks in a long table have one label.
    """
    found = candidates(table.names, "label") if label is None else [label]
    others = [name for name in found if name != word and name in table.names]
    spans = [name for name in candidates(table.names, "spans") if name != word]
    n_rows = n_lists = n_several = n_fitting = 0
    for row in table.rows:
        cells = dict(zip(table.names, row, strict=True))
        if _is_missing(cells[word]):
            continue
        n_rows += 1
        n_lists += any(is_list(cells[name]) for name in (word, *spans))
        n_words = _n_parts(cells[word])
        if n_words > 1:
            n_several += 1
            n_fitting += n_words in [_n_labels(cells[name]) for name in others]
    return 2 * n_lists > n_rows or 2 * n_fitting > n_several


def _n_parts(cell):
    """Return the number of parts between blanks, of text that is no list."""
    return len(cell.split()) if isinstance(cell, str) and not is_list(cell) else 1


def _n_labels(cell):
    """Return the number of labels between blanks or commas."""
    return _n_parts(_BETWEEN.sub(" ", cell) if isinstance(cell, str) else cell)


def _records(table, word):
    """Yield the place and the record of each row."""
    for row, where in zip(table.rows, table.places, strict=True):
        try:
            found = [listed(cell) for cell in row]
        except ValueError as error:
            raise ValueError(f"{where}: {error}.") from error
        if not _is_blank(row):
            yield where, _record(dict(zip(table.names, found, strict=True)), word)


def _record(cells, word):
    """Return the record of cells, with lists where these have labels as text."""
    text = cells.pop(word)
    for name in candidates(cells, "label"):
        cell = cells[name]
        if not isinstance(text, str):
            break
        if isinstance(cell, str):
            return {**cells, "tokens": text.split(), name: _BETWEEN.split(cell.strip())}
        if isinstance(cell, (list, tuple)) and _n_parts(text) == len(cell):
            return {**cells, "tokens": text.split()}
    return {**cells, "text" if isinstance(text, str) else "tokens": text}


def _is_missing(cell):
    is_none = cell is None or (isinstance(cell, str) and cell == "")
    return is_none or (isinstance(cell, float) and cell != cell)


def _sentences(table, keys, word, label):
    """Yield the rows of each sentence, as dicts, with their places.

    A sentence ends where a cell of its columns changes, but for empty ones, at an empty
    row, or where a document begins. If nothing else tells, it ends in a file where a
    word is empty.
    """
    may_lack_words = table.is_file and not keys and not any(map(_is_blank, table.rows))
    current, found = {}, []
    for row, where in zip(table.rows, table.places, strict=True):
        cells = dict(zip(table.names, row, strict=True))
        given = {key: cells[key] for key in keys if not _is_missing(cells[key])}
        is_end = _is_blank(row) or str(cells[word]).startswith(DOCUMENT)
        if may_lack_words and _is_missing(cells[word]):
            is_end = label is None or cells[label] in ("", OUTSIDE)
        if found and (is_end or current | given != current):
            yield found
            found = []
        current |= given
        if not is_end:
            found.append((where, cells))
    if found:
        yield found


def _is_blank(row):
    return all(map(_is_missing, row))


def _sequence(rows, word, label, columns, k):
    """Return the sequence of the rows of a sentence."""
    names = {_KNOWN.get(plain_name(name), name): name for name in columns}
    tokens, labels = [], []
    for where, cells in rows:
        text = str(cells[word])
        if _is_missing(cells[word]):
            raise ValueError(
                f"{where}: no word in column {word!r}. Words such as 'null' need "
                "keep_default_na=False when pandas reads a file."
            )
        if "\n" in text:
            raise ValueError(
                f"{where}: the word {text!r:.80} has a line break; a quotation mark "
                'that is a word is written as """".'
            )
        own = {name: cells[column] for name, column in names.items()}
        texts = {n: "" if _is_missing(x) else str(x) for n, x in own.items()}
        tokens.append({"word": text, **texts})
        labels.append(
            None if label is None or _is_missing(cells[label]) else cells[label]
        )
    return Read(tokens, None if label is None else labels, TextSource(k))
