"""Cells of tables: rows of csv files, and lists that programs wrote into one cell."""

import ast
import json
import re
from collections.abc import Iterable, Iterator
from typing import Any

from skcrf_sdca.text.core.files import place
from skcrf_sdca.text.core.rows import Numbered

# What is inside of quotation marks, up to the last of them or the end of the line.
_QUOTED = re.compile(r'((?>(?:[^"]++|"")*))("?)')
_BLANKS = re.compile(" *")
# What a program has written as a list: of Python, of JSON, or an array of NumPy.
_LIST = re.compile(r"\s*\[.*\]\s*", flags=re.DOTALL)
_ITEM = re.compile(
    r"""('(?>(?:[^'\\]++|\\.)*)'|"(?>(?:[^"\\]++|\\.)*)")|[^\s,\[\]'"]++""",
    flags=re.DOTALL,
)
# What literal_eval raises where a text is no literal.
_NO_LITERAL = (ValueError, SyntaxError, TypeError, RecursionError, MemoryError)


def csv_rows(
    file: object, lines: Iterable[Numbered], delimiter: str
) -> Iterator[tuple[int, list[str]]]:
    """Yield the number of the first line, and the cells, of each row of a csv file.

    Quotation marks may enclose cells. These may have the delimiter and line breaks in
    them, and two marks for each of their own.
    """
    if not delimiter:
        raise ValueError("delimiter='' is none; one is ',' or a tab.")
    row, blanks = _Row(0, delimiter), " \t".replace(delimiter, "")
    for number, line in lines:
        if row.is_open or '"' in line:
            row = row if row.is_open else _Row(number, delimiter)
            if not row.takes(line):
                raise ValueError(
                    f"{place(file, number)}: after a quotation mark that ends a cell "
                    "stands no delimiter."
                )
            if not row.is_open:
                yield row.number, row.cells
        else:
            yield number, [cell.strip(blanks) for cell in line.split(delimiter)]
    if row.is_open:
        raise ValueError(
            f"{place(file, row.number)}: a quotation mark begins a cell that has no "
            'end; a quotation mark that is a word is written as """".'
        )


class _Row:
    """The cells of a row with quotation marks, which may go on in further lines."""

    def __init__(self, number, delimiter):
        self.number, self.cells = number, []
        self._delimiter = delimiter
        # The parts of a cell that goes on in the next line, or None.
        self._parts = None

    @property
    def is_open(self):
        return self._parts is not None

    def takes(self, line):
        """Take the cells of a line; return whether it has delimiters between them."""
        end = self._quoted(line, 0) if self.is_open else self._cell(line, 0)
        while end < len(line):
            if not line.startswith(self._delimiter, end):
                return False
            end = self._cell(line, end + len(self._delimiter))
        return True

    def _cell(self, line, begin):
        """Take the cell that begins at a place; return where it ends."""
        begin = _BLANKS.match(line, begin).end()
        if line.startswith('"', begin):
            self._parts = []
            return self._quoted(line, begin + 1)
        end = line.find(self._delimiter, begin)
        end = len(line) if end < 0 else end
        self.cells.append(line[begin:end].rstrip(" \t".replace(self._delimiter, "")))
        return end

    def _quoted(self, line, begin):
        """Take the rest of a cell between quotation marks; return where it ends."""
        inner, mark = _QUOTED.match(line, begin).groups()
        self._parts.append(inner)
        if not mark:
            self._parts.append("\n")
            return len(line)
        self.cells.append("".join(self._parts).replace('""', '"'))
        self._parts = None
        return _BLANKS.match(line, begin + len(inner) + 1).end()


def is_list(cell: object) -> bool:
    """Return whether a cell is a list, or a text that is written as one."""
    if isinstance(cell, str):
        return _LIST.fullmatch(cell) is not None
    return isinstance(cell, (list, tuple)) or hasattr(cell, "tolist")


def listed(cell: Any) -> Any:
    """Return the list that a cell is, or that its text is written as.

    Any other cell is returned as it is. Raise ValueError if a text only looks like a
    list.

    >>> from skcrf_sdca.text.core.cells import listed
    >>> listed("['Ada', 'met']"), listed("[0 1]"), listed("met")
    (['Ada', 'met'], [0, 1], 'met')
    """
    if hasattr(cell, "tolist"):
        return cell.tolist()
    if not isinstance(cell, str) or not is_list(cell):
        return cell
    found = _of_json(cell) or _of_python(cell) or _of_numpy(cell)
    if found is None:
        raise ValueError(f"{cell!r:.80} is no list of Python, JSON or NumPy")
    return found


def _of_json(text):
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _of_python(text):
    """Return a list of literals; None if it is none, or misses a comma.

    Python joins texts that have no comma between them.
    """
    try:
        tree = ast.parse(text.strip(), mode="eval")
        found = ast.literal_eval(tree)
    except _NO_LITERAL:
        return None
    own = (node.value for node in ast.walk(tree) if isinstance(node, ast.Constant))
    n_texts = sum(isinstance(value, str) for value in own)
    is_whole = n_texts == sum(item[1] is not None for item in _ITEM.finditer(text))
    return found if is_whole and Ellipsis not in found else None


def _of_numpy(text):
    """Return the items of an array, which has no commas; None if it was shortened."""
    try:
        items = [ast.literal_eval(item[0]) for item in _ITEM.finditer(text)]
    except _NO_LITERAL:
        return None
    is_flat = _ITEM.sub("", text).count("[") == 1
    return items if is_flat and Ellipsis not in items else None
