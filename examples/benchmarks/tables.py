"""Print tables, and write them as CSV files.

A table is a list of rows of text, the header first. The other scripts make tables with
this module; it runs nothing itself.
"""

import csv

# Printed if there is no number: not reached, or not measured.
NONE = "-"
# Width of the columns of a table whose later rows are not known yet.
STREAMED = 14


def show(rows):
    """Print a table; the first column is left-aligned."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for first, *others in rows:
        padded = [text.rjust(w) for text, w in zip(others, widths[1:], strict=True)]
        print("  ".join([first.ljust(widths[0]), *padded]), flush=True)


def stream(rows):
    """Print each row of a table when it is made; the first column is left-aligned."""
    for first, *others in rows:
        padded = [text.rjust(STREAMED) for text in others]
        print("  ".join([first.ljust(2 * STREAMED), *padded]), flush=True)


def write(rows, output):
    """Write a table as a CSV file; cells without a number are empty."""
    rows = [["" if text == NONE else text for text in row] for row in rows]
    output.parent.mkdir(parents=True, exist_ok=True)
    with output.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file, lineterminator="\n").writerows(rows)
    print(f"wrote {output}")


def size(n_bytes):
    """Return a number of bytes as text in MiB, or NONE."""
    return NONE if n_bytes is None else f"{n_bytes / 2**20:,.0f}"
