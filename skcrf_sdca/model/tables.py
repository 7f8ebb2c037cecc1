"""Tables of weights: aligned text in a terminal, coloured HTML in a notebook.

The methods that inspect a model return a `Table`. It is shown as rows of `Cell`, which
_utils/grids.py draws.
"""

import html
from collections import namedtuple
from collections.abc import Iterator, Mapping
from itertools import groupby
from operator import index
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike

from skcrf_sdca._utils.grids import (
    Cell,
    clipped,
    html_grid,
    name_cells,
    text_grid,
    weight_cells,
)

if TYPE_CHECKING:
    import pandas


class Table:
    """Rows with named columns; shows as text in a terminal, as HTML in a notebook.

    It stores an array for each column, and makes rows when they are asked for: a table
    of millions of weights takes little memory.

    Parameters
    ----------
    columns : dict of str to array-like of shape (n_rows,)
        Names, which are also the fields of a row, and values.
    group : str, default=None
        Column by whose values the table is shown in blocks. Rows of the same value must
        follow each other.
    max_rows : int, default=20
        Number of rows that are shown. Of a longer table, these are the first and the
        last rows. None shows all.

    Attributes
    ----------
    columns : tuple of str

    Examples
    --------
    >>> from skcrf_sdca.model.tables import Table
    >>> table = Table({"label": ["B", "O"], "weight": [1.5, -0.25]})
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
    >>> table[table["weight"] > 0]
    label  weight
    B      +1.500
    >>> table.to_dict()
    {'B': 1.5, 'O': -0.25}
    """

    def __init__(
        self,
        columns: Mapping[str, ArrayLike],
        *,
        group: str | None = None,
        max_rows: int | None = 20,
    ) -> None:
        self._columns = {name: np.asarray(column) for name, column in columns.items()}
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
        """Return a column by name, a row by number, or a table of some of the rows.

        These are given by a slice, or by a mask or the numbers of the rows in an array.
        """
        if isinstance(key, str):
            return self._columns[key]
        if isinstance(key, (list, np.ndarray)):
            key = np.asarray(key, dtype=None if len(key) else int)
        elif not isinstance(key, slice):
            position = range(self._n_rows)[index(key)]
            return next(iter(self[position : position + 1]))
        columns = {name: column[key] for name, column in self._columns.items()}
        return Table(columns, group=self._group, max_rows=self._max_rows)

    def __iter__(self) -> Iterator[Any]:
        """Yield the rows as named tuples."""
        # In blocks: lists of all rows would take more memory than the table.
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

        return pd.DataFrame(self._columns)

    def __repr__(self):
        """Return the rows as aligned text."""
        blocks = [
            (f"{clipped(title)}\n" if self._group else "") + text_grid(rows)
            for title, rows in self._blocks()
        ]
        return "\n\n".join(blocks) + self._footer("\n[{}]")

    def _repr_html_(self):
        blocks = [
            '<div style="margin: 0 24px 12px 0">'
            f"<b>{html.escape(clipped(title))}</b>{html_grid(rows)}</div>"
            for title, rows in self._blocks()
        ]
        grid = '<div style="display: flex; flex-wrap: wrap">{}</div>{}'
        return grid.format("".join(blocks), self._footer("<p>{}</p>"))

    def _footer(self, form):
        cut = self._max_rows is not None and self._n_rows > self._max_rows
        return form.format(f"{self._n_rows} rows") if cut or not self._n_rows else ""

    def _blocks(self):
        """Yield the title and the rows of cells, header first, of every block."""
        columns, n_rows, first = dict(self._columns), self._n_rows, 0
        titles = columns.pop(self._group).tolist() if self._group else [""]
        for title, rows in groupby(titles):
            last = first + len(list(rows)) if self._group else n_rows
            cells = [self._cells(n, c[first:last]) for n, c in columns.items()]
            yield title, list(zip(*cells, strict=True))
            first = last

    def _cells(self, name, column):
        """Return the cells of a column of a block, header first."""
        n, is_number = len(column), column.dtype.kind == "f"
        cut = self._max_rows is not None and n > self._max_rows
        half = self._max_rows // 2 if cut else n
        values = column[np.r_[:half, n - half : n] if cut else slice(n)].tolist()
        written = weight_cells if is_number else name_cells
        cells = [Cell(name, is_number), *written(values)]
        if cut:
            cells.insert(1 + half, Cell("...", is_number))
        return cells


def weight_table(weights: Any, **names: Any) -> Table:
    """Return the finite weights of an array that are not zero, the largest first.

    `names` are the names of the columns of the table, one for each axis of the array,
    and their values.
    """
    if sp.issparse(weights):
        weights = weights.tocoo()
        flat = np.ravel_multi_index(weights.coords, weights.shape)
        values = weights.data
    else:
        flat = np.flatnonzero(weights)
        values = weights.ravel()[flat]
    order = np.argsort(-values, kind="stable")[: np.isfinite(values).sum()]
    places = np.unravel_index(flat[order], weights.shape)
    columns = {
        name: own[place]
        for (name, own), place in zip(names.items(), places, strict=True)
    }
    return Table({**columns, "weight": values[order]})
