"""Tables that show well: as aligned text in a terminal, in colours in a notebook.

Owns how names and numbers of a fitted model are written. `Table` is what the methods
that look into a model return; the two writers at the end draw every table.
"""

import html
import unicodedata
from collections import namedtuple
from collections.abc import Iterator, Mapping
from itertools import groupby
from operator import index
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    import pandas

# Colours that the colour-blind can tell apart, let through so that text stays readable
# on the light and the dark background of a notebook.
_POSITIVE, _NEGATIVE = "0, 114, 178", "213, 94, 0"
_MAX_OPACITY = 0.55
_MAX_WIDTH = 48
_CELL = "padding: 1px 8px; white-space: pre; text-align:"


class Coded:
    """A column of few distinct values, held as their numbers.

    Parameters
    ----------
    codes : ndarray of int of shape (n_rows,)
    values : ndarray of object of shape (n_values,)
    """

    def __init__(self, codes: NDArray[Any], values: NDArray[Any]) -> None:
        self.codes = codes
        self.values = values

    def __len__(self) -> int:
        """Return the number of rows."""
        return len(self.codes)

    def __getitem__(self, rows: Any) -> "Coded":
        """Return the column of some rows, the value of a single one."""
        codes = self.codes[rows]
        return Coded(codes, self.values) if np.ndim(codes) else self.values[codes]

    def __array__(self, dtype=None, copy=None):
        """Return the values of all rows."""
        return self.values[self.codes].astype(dtype or object, copy=False)

    def tolist(self) -> list[Any]:
        """Return the values of all rows as a list."""
        return self.values[self.codes].tolist()


class Table:
    """Rows with named columns; shows as text in a terminal, as HTML in a notebook.

    Nothing is made of the rows before it is asked for: a table of millions of weights
    is a few arrays.

    Parameters
    ----------
    columns : dict of str to ndarray or Coded, each of length n_rows
        Names, which are also the fields of a row, and values.
    group : str, default=None
        A column by whose value the rows are shown apart, in one block each. The rows
        of a value follow each other.
    max_rows : int, default=20
        Rows that are shown; of a longer table the first and the last. None is all.

    Attributes
    ----------
    columns : tuple of str

    Examples
    --------
    >>> import numpy as np
    >>> from skcrf_sdca.estimators.tables import Table
    >>> table = Table({"label": np.array(["B", "O"]), "weight": np.array([1.5, -0.25])})
    >>> table
    label  weight
    B      +1.500
    O      -0.250
    >>> table[0]
    Row(label='B', weight=1.5)
    >>> [row.label for row in table]
    ['B', 'O']
    >>> table["weight"].sum()
    np.float64(1.25)
    >>> table.to_dict()
    {'B': 1.5, 'O': -0.25}
    """

    def __init__(
        self,
        columns: Mapping[str, NDArray[Any] | Coded],
        *,
        group: str | None = None,
        max_rows: int | None = 20,
    ) -> None:
        self._columns = dict(columns)
        self._group = group
        self._max_rows = max_rows
        # Type checkers know the fields of literal lists alone.
        new_type: Any = namedtuple
        self._new_row = new_type("Row", self._columns)._make
        lengths = {len(column) for column in self._columns.values()}
        if len(lengths) != 1:
            raise ValueError(f"columns have different lengths: {sorted(lengths)}.")
        (self._n_rows,) = lengths

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of the columns."""
        return tuple(self._columns)

    def __len__(self) -> int:
        """Return the number of rows."""
        return self._n_rows

    def __getitem__(self, key: Any) -> Any:
        """Return a column by name, a row by number, or a table of a slice of rows."""
        if isinstance(key, str):
            return np.asarray(self._columns[key])
        if not isinstance(key, slice):
            position = range(self._n_rows)[index(key)]
            return next(iter(self[position : position + 1]))
        columns = {name: column[key] for name, column in self._columns.items()}
        return Table(columns, group=self._group, max_rows=self._max_rows)

    def __iter__(self) -> Iterator[Any]:
        """Yield the rows as named tuples."""
        # A block at a time: the lists of all rows would take more than the table.
        for first in range(0, self._n_rows, 1024):
            block = [c[first : first + 1024].tolist() for c in self._columns.values()]
            yield from map(self._new_row, zip(*block, strict=True))

    def to_dict(self) -> dict[Any, Any]:
        """Return {all columns but the last: the last}, as sklearn-crfsuite has it.

        Returns
        -------
        dict
            A key of more than one column is a tuple.

        Raises
        ------
        ValueError
            If two rows have the same key: features can have the same name.
        """
        items = {}
        for *key, value in self:
            key = tuple(key) if len(key) > 1 else key[0]
            if key in items:
                raise ValueError(f"two rows of the table are of {key!r}.")
            items[key] = value
        return items

    def to_frame(self) -> "pandas.DataFrame":
        """Return the table as a pandas DataFrame.

        Returns
        -------
        frame : pandas.DataFrame of shape (n_rows, n_columns)

        Raises
        ------
        ImportError
            If pandas is not installed.
        """
        import pandas as pd

        return pd.DataFrame({name: self[name] for name in self._columns})

    def __repr__(self):
        """Return the rows as aligned text."""
        blocks = [
            f"{title}{text_grid(self._shown(columns))}"
            for title, columns in self._blocks("{}\n")
        ]
        return "\n\n".join(blocks) + self._footer("\n[{}]")

    def _repr_html_(self):
        blocks = [
            f'<div style="margin: 0 24px 12px 0">{title}'
            f"{html_grid(self._shown(columns))}</div>"
            for title, columns in self._blocks("<b>{}</b>", html.escape)
        ]
        grid = '<div style="display: flex; flex-wrap: wrap">{}</div>{}'
        return grid.format("".join(blocks), self._footer("<p>{}</p>"))

    def _footer(self, form):
        cut = self._max_rows is not None and self._n_rows > self._max_rows
        return form.format(f"{self._n_rows} rows") if cut or not self._n_rows else ""

    def _blocks(self, title, escape=str):
        """Yield (title, columns) of every block that is shown apart."""
        if self._group is None:
            yield "", self._columns
            return
        first = 0
        for value, rows in groupby(self._columns[self._group].tolist()):
            last = first + sum(1 for _ in rows)
            columns = {
                name: column[first:last]
                for name, column in self._columns.items()
                if name != self._group
            }
            yield title.format(escape(clipped(value))), columns
            first = last

    def _shown(self, columns):
        """Return the rows of cells of a block, the header first."""
        n = len(next(iter(columns.values())))
        cut = self._max_rows is not None and n > self._max_rows
        half = self._max_rows // 2 if cut else n
        cells = []
        for name, column in columns.items():
            values = column[:half].tolist()
            values += column[n - half :].tolist() if cut else []
            is_number = isinstance(column, np.ndarray) and column.dtype.kind == "f"
            written = weight_cells(values) if is_number else name_cells(values)
            gap = [Cell("...", is_number)] if cut else []
            cells.append(
                [Cell(name, is_number), *written[:half], *gap, *written[half:]]
            )
        return list(map(list, zip(*cells, strict=True)))


# What is written in one place of a table: its text, which numbers have at the right,
# and its tint, in [-1, 1].
Cell = namedtuple("Cell", ["text", "is_number", "tint"], defaults=(False, 0.0))


def name_cells(values: list[Any]) -> list[Cell]:
    """Return the cells of names, or of other values that are no weights.

    Parameters
    ----------
    values : list

    Returns
    -------
    cells : list of Cell
    """
    return [Cell(clipped(value)) for value in values]


def weight_cells(values: list[float]) -> list[Cell]:
    """Return the cells of weights: with sign, tint and as many decimals as all need.

    Parameters
    ----------
    values : list of float

    Returns
    -------
    cells : list of Cell
    """
    scale = max((abs(v) for v in values if np.isfinite(v)), default=0.0) or 1.0
    # Three digits of the largest.
    decimals = max(3, 2 - int(np.floor(np.log10(scale))))
    return [
        Cell(f"{v:+.{decimals}f}", True, float(np.clip(v / scale, -1, 1)))
        for v in values
    ]


def clipped(value: object) -> str:
    """Return a name on one line, the middle of a long one left out."""
    text = "".join(
        c if c.isprintable() else c.encode("unicode_escape").decode()
        for c in str(value)
    )
    if len(text) <= _MAX_WIDTH:
        return text
    half = (_MAX_WIDTH - 1) // 2
    return f"{text[:half]}…{text[-half:]}"


def text_grid(rows: list[list[Cell]]) -> str:
    """Return rows of cells as aligned text; the first is the header.

    Parameters
    ----------
    rows : list of lists of Cell

    Returns
    -------
    text : str
    """
    widths = [
        max(_width(cell.text) for cell in column) for column in zip(*rows, strict=True)
    ]

    def padded(cell, width):
        space = " " * (width - _width(cell.text))
        return space + cell.text if cell.is_number else cell.text + space

    return "\n".join("  ".join(map(padded, row, widths)).rstrip() for row in rows)


def html_grid(rows: list[list[Cell]]) -> str:
    """Return rows of cells as an HTML table; the first is the header.

    Parameters
    ----------
    rows : list of lists of Cell

    Returns
    -------
    markup : str
    """
    head, *body = (
        "".join(_html_cell(cell, "td" if i else "th") for cell in row)
        for i, row in enumerate(rows)
    )
    return (
        '<table style="border-collapse: collapse; margin: 0">'
        f"<thead><tr>{head}</tr></thead>"
        f"<tbody>{''.join(f'<tr>{row}</tr>' for row in body)}</tbody></table>"
    )


def _html_cell(cell, tag):
    style = f"{_CELL} {'right' if cell.is_number else 'left'}"
    if cell.tint:
        colour = _POSITIVE if cell.tint > 0 else _NEGATIVE
        style += f"; background: rgba({colour}, {abs(cell.tint) * _MAX_OPACITY:.2f})"
    return f'<{tag} style="{style}">{html.escape(cell.text)}</{tag}>'


def _width(text):
    """Return the columns of a terminal that a text takes: some characters take two."""
    if text.isascii():
        return len(text)
    wide = sum(unicodedata.east_asian_width(c) in "WF" for c in text)
    return len(text) + wide - sum(map(bool, map(unicodedata.combining, text)))
