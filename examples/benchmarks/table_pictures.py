"""Draw tables of docs/results as points, a row of the table to a row of the picture.

    python examples/benchmarks/table_pictures.py [--table visit_orders]

A cell has a number for each seed, and each number is a point. "> 60" is an arrow: the
run ended there, and had not reached the level. Nothing is run here: the scripts that
docs/results.rst and other pages name have measured the tables.
"""

import argparse
import csv
import re
from pathlib import Path
from typing import NamedTuple

from matplotlib.ticker import LogLocator, NullFormatter

import figures
import runs

NUMBER = re.compile(r"(> )?(\d[\d.]*(?:e[+-]?\d+)?)(?: \([^)]*\))?")
MARKERS = {"": "o", "> ": ">"}
COLOURS = ["#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00"]
# The height of a row in inches, the distance between the points of two columns in
# rows, and the width of an entry of the legend in inches.
HEIGHT, APART, LEGEND_ENTRY = 0.25, 0.12, 2.0


class Picture(NamedTuple):
    """Cells that name a row, the columns of each panel, and what the numbers are.

    ``ticks`` are those from 1 to 10, which the other decades repeat.
    """

    n_names: int
    panels: dict
    label: str
    ticks: tuple = (1.0, 2.0, 5.0)


TASKS = ["OCR", "Dutch", "CoNLL-2000", "WSJ"]
PICTURES = {
    "acceleration": Picture(
        2, {"SDCA": range(2, 6), "OEG": range(6, 10)}, "epochs to the tolerance"
    ),
    "rivals_log_loss": Picture(
        1,
        {"OCR": (1, 2), "Dutch": (4, 5)},
        "oracle calls / n to levels of P / P* - 1",
    ),
    "sag_draws": Picture(
        2,
        {task: (2 * k + 2, 2 * k + 3) for k, task in enumerate(TASKS)},
        "P / P* - 1, in per cent",
        (1.0,),
    ),
    "staleness": Picture(1, {"": (1, 2, 3)}, "gain over uniform draws"),
    "visit_orders": Picture(4, {"": range(4, 10)}, "passes to a gap of 1e-3 P"),
}


def draw(header, rows, picture):
    """Return the picture of a table."""
    n_names, panels, label, ticks = picture
    names = [", ".join(row[:n_names]) for row in rows]
    height = HEIGHT * len(rows) + 0.5
    figure, axes = figures.panels(1, len(panels), height=height, sharey=True)
    for axis, (title, columns) in zip(axes[0], panels.items(), strict=True):
        for k, column in enumerate(columns):
            name = header[column].split(", ", 1)[-1]
            style = {"color": COLOURS[k], "linestyle": "", "alpha": 0.8}
            axis.plot([], [], marker="o", label=name, **style)
            for y, row in enumerate(rows):
                place = y + APART * (k - (len(columns) - 1) / 2)
                for more, number in NUMBER.findall(row[column]):
                    axis.plot(float(number), place, marker=MARKERS[more], **style)
        axis.set_title(title)
        axis.set_xlabel(label)
        axis.set_xscale("log")
        axis.xaxis.set_major_locator(LogLocator(subs=ticks))
        axis.xaxis.set_major_formatter("{x:g}")
        axis.xaxis.set_minor_formatter(NullFormatter())
    axis.set_yticks(range(len(rows)), names)
    axis.set_ylim(len(rows) - 0.5, -0.5)
    return figure


def main():
    """Draw the pictures."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--table", nargs="+", choices=PICTURES, default=list(PICTURES))
    parser.add_argument("--output", type=Path, default=runs.DOCS / "images")
    options = parser.parse_args()
    for name in options.table:
        path = (runs.DOCS / "results" / name).with_suffix(".csv")
        with path.open(encoding="utf-8", newline="") as file:
            header, *rows = csv.reader(file)
        output = (options.output / name).with_suffix(".png")
        figures.save(draw(header, rows, PICTURES[name]), output, LEGEND_ENTRY)


if __name__ == "__main__":
    main()
