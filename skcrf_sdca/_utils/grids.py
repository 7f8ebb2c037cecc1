"""Grids of cells: aligned text in a terminal, coloured HTML in a notebook."""

import html
import unicodedata
from collections import namedtuple
from typing import Any

import numpy as np

# Colours that colour-blind people can tell apart. They are transparent, so that text is
# readable on a light and on a dark background.
_POSITIVE, _NEGATIVE = "0, 114, 178", "213, 94, 0"
_MAX_OPACITY = 0.55
_MAX_WIDTH = 48
_CELL = "padding: 1px 8px; white-space: pre; text-align:"


# One place of a grid. Numbers are aligned to the right; the tint is in [-1, 1].
Cell = namedtuple("Cell", ["text", "is_number", "tint"], defaults=(False, 0.0))


def name_cells(values: list[Any]) -> list[Cell]:
    """Return names, or other values that are no weights."""
    return [Cell(clipped(value)) for value in values]


def weight_cells(values: list[float]) -> list[Cell]:
    """Return weights with sign, a tint, and as many decimals as the largest needs."""
    scale = max((abs(v) for v in values if np.isfinite(v)), default=0.0) or 1.0
    # Three digits of the largest.
    decimals = max(3, 2 - int(np.floor(np.log10(scale))))
    return [
        Cell(f"{v:+.{decimals}f}", True, float(np.clip(v / scale, -1, 1)))
        for v in values
    ]


def clipped(value: object) -> str:
    """Return a name on one line, without the middle if it is long."""
    text = "".join(
        c if c.isprintable() else c.encode("unicode_escape").decode()
        for c in str(value)
    )
    if len(text) <= _MAX_WIDTH:
        return text
    half = (_MAX_WIDTH - 1) // 2
    return f"{text[:half]}…{text[-half:]}"


def text_grid(rows: list[tuple[Cell, ...]]) -> str:
    """Return rows of cells, the header first, as aligned text."""
    widths = [
        max(_width(cell.text) for cell in column) for column in zip(*rows, strict=True)
    ]

    def padded(cell, width):
        space = " " * (width - _width(cell.text))
        return space + cell.text if cell.is_number else cell.text + space

    return "\n".join("  ".join(map(padded, row, widths)).rstrip() for row in rows)


def html_grid(rows: list[tuple[Cell, ...]]) -> str:
    """Return rows of cells, the header first, as an HTML table."""
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
    """Return the width of a text in a terminal; East Asian characters take two."""
    if text.isascii():
        return len(text)
    wide = sum(unicodedata.east_asian_width(c) in "WF" for c in text)
    return len(text) + wide - sum(map(bool, map(unicodedata.combining, text)))
