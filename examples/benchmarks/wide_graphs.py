"""Fit grids that are too wide for exact inference, and draw what solvers need.

    python examples/benchmarks/wide_graphs.py [--task widths image oracles] [--quick]

Images of two colours are made of a smooth random field, and seen through noise: the
only feature of a pixel is its noisy value. Edges join neighbours along rows and columns
and have the direction as their feature.

widths   Grids from 6 x 6 to 60 x 60, eight images in each part: nodes alone, exact
         inference as far as it fits, and tree-reweighted inference (trw). The table has
         the accuracy on the test part, the seconds of the processor that the fit took,
         and the gap over P.
image    The same for images of 100 x 100, two in each part, with the largest memory of
         the process.
oracles  30 images of 12 x 12: the gap over P of SDCA, OEG and SAG-NUS* by oracle calls,
         and by seconds of the processor. An oracle call is a run of trw.

The script needs matplotlib.
"""

import argparse
import resource
import warnings
from pathlib import Path
from time import process_time

import numpy as np
from graphs import grid
from scipy.ndimage import gaussian_filter
from sklearn.exceptions import ConvergenceWarning

import figures
import tables
from skcrf_sdca import GraphCRF

OUTPUT = Path(__file__).resolve().parents[2] / "docs" / "images" / "wide_graphs.png"
TASKS = ["widths", "image", "oracles"]
NOISE, SMOOTHNESS = 1.5, 2.0
# The widest grid on which exact inference is tried.
WIDEST = 12
SOLVERS = {"SDCA": "sdca", "OEG": "oeg", "SAG-NUS*": "sag"}
HEADER = ["grid", "model", "accuracy", "seconds", "gap / P", "MiB"]


def images(n, side, rng):
    """Return n grids, and the colours of their pixels."""
    ends, kinds = grid(side, side)
    X, y = [], []
    for _ in range(n):
        field = gaussian_filter(rng.normal(size=(side, side)), SMOOTHNESS)
        ink = (field > 0).ravel().astype(int)
        seen = 2.0 * ink - 1.0 + NOISE * rng.normal(size=ink.size)
        X.append((seen[:, np.newaxis], ends, kinds))
        y.append(ink)
    return X, y


def without_edges(X):
    """Return the same nodes, each alone."""
    return [(nodes, np.empty((0, 2), dtype=int)) for nodes, *_ in X]


def models(side):
    """Yield name, what it sees of graphs, and an estimator."""
    # A handful of weights, and many nodes in each graph.
    options = {"alpha": 1e-3, "solver": "lbfgs", "tol": 1e-3}
    yield "nodes", without_edges, GraphCRF(**options)
    if side <= WIDEST:
        yield "exact", list, GraphCRF(**options)
    yield "trw", list, GraphCRF(inference="trw", **options)


def compare(sides, n, rng):
    """Return the rows of the table of grids."""
    rows = []
    for side in sides:
        train, test = images(n, side, rng), images(n, side, rng)
        for name, view, crf in models(side):
            began = process_time()
            crf.fit(view(train[0]), train[1])
            seconds = process_time() - began
            # Kibibytes on Linux.
            memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
            rows.append(
                [
                    f"{side} x {side}",
                    name,
                    f"{crf.score(view(test[0]), test[1]):.3f}",
                    f"{seconds:.2f}",
                    f"{crf.duality_gap_ / crf.primal_objective_:.1e}",
                    tables.size(memory),
                ]
            )
    return rows


def draw_oracles(n, side, epochs, rng, output):
    """Draw the gaps of solvers, and return the rows of a table."""
    X, y = images(n, side, rng)
    figure, axes = figures.panels(1, 2)
    rows = [["solver", "oracle calls a visit", "calls to 1e-3 P", "seconds to 1e-3 P"]]
    for name, solver in SOLVERS.items():
        crf = GraphCRF(
            inference="trw",
            solver=solver,
            alpha=1.0 / n,
            tol=1e-6,
            max_iter=epochs,
            random_state=0,
        )
        began = process_time()
        crf.fit(X, y)
        seconds = process_time() - began
        history = crf.history_
        calls = history["oracle_calls"]
        gap = history["gap"] / history["primal"]
        # Other programs may take the processor: its own seconds, by the clock's shares.
        spent = history["seconds"] * seconds / history["seconds"][-1]
        figures.curve(axes[0, 0], calls, gap, name)
        figures.curve(axes[0, 1], spent, gap, name)
        reached = np.flatnonzero(gap <= 1e-3)
        first = reached[0] if len(reached) else None
        rows.append(
            [
                name,
                f"{calls[-1] / history['epoch'][-1]:.2f}",
                tables.NONE if first is None else f"{calls[first]:.1f}",
                tables.NONE if first is None else f"{spent[first]:.2f}",
            ]
        )
    for axis, label in zip(
        axes[0], ("oracle calls / n", "seconds of the processor"), strict=True
    ):
        figures.log_scale(axis, 1e-6, 1.0)
        axis.set_xlabel(label)
        axis.set_ylabel("gap / P")
    figures.save(figure, output)
    return rows


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--task", nargs="+", choices=TASKS, default=TASKS)
    parser.add_argument("--quick", action="store_true", help="small grids")
    parser.add_argument("--output", type=Path, default=OUTPUT)
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    warnings.simplefilter("ignore", ConvergenceWarning)
    rng, quick = np.random.default_rng(arguments.seed), arguments.quick
    if "widths" in arguments.task:
        sides = [5, 6] if quick else [6, 8, 10, 12, 20, 40, 60]
        tables.show([HEADER, *compare(sides, 2 if quick else 8, rng)])
    if "image" in arguments.task:
        tables.show([HEADER, *compare([15 if quick else 100], 2, rng)])
    if "oracles" in arguments.task:
        n, side, epochs = (4, 4, 5) if quick else (30, 12, 60)
        tables.show(draw_oracles(n, side, epochs, rng, arguments.output))


if __name__ == "__main__":
    main()
