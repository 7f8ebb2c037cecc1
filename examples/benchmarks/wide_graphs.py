"""Fit grids that are too wide for exact inference, and draw what solvers need.

    python examples/benchmarks/wide_graphs.py [--task snakes] [--sides 5 60] [--quick]

Images of two colours are made of a smooth random field, and seen through noise: the
only feature of a pixel is its noisy value. Edges join neighbours along rows and columns
and have the direction as their feature. Snakes are of 10 cells as in graphs.py, one for
every 40 cells of a grid; edges have the direction with the colours of both ends.

widths   Grids from 6 x 6 to 60 x 60, eight images in each part: nodes alone, exact
         inference as far as it fits, and tree-reweighted inference (trw). The table has
         the accuracy on the test part, the seconds of the processor that the fit took,
         and the gap over P.
snakes   Grids from 5 x 5 to 60 x 60, in each part 32 or as many as have 3600 cells, in
         the same table.
digits   100 handwritten digits of 8 x 8 pixels in two colours, a fifth of which are
         turned to the other one, in the same table. Exact inference fits.
hinge    Eight images of 10 x 10: exact inference with the hinge, and trw with the
         softmax margin at low temperatures.
image    The same as widths for images of 100 x 100, two in each part, with the largest
         memory of the process, and a picture of one, wide_image.png.
oracles  30 images of 12 x 12: the gap over P of SDCA, OEG and SAG-NUS* by oracle calls,
         and by seconds of the processor. An oracle call is a run of trw.

The script needs matplotlib.
"""

import argparse
import resource
import warnings
from collections.abc import Callable
from pathlib import Path
from time import process_time
from typing import NamedTuple

import numpy as np
from graphs import grid, snakes, with_colours
from scipy.ndimage import gaussian_filter
from sklearn.datasets import load_digits
from sklearn.exceptions import ConvergenceWarning

import figures
import tables
from skcrf_sdca import DualityGapMonitor, GraphCRF

OUTPUT = Path(__file__).resolve().parents[2] / "docs" / "images" / "wide_graphs.png"
TASKS = ["widths", "snakes", "image", "digits", "hinge", "oracles"]
NOISE, SMOOTHNESS, TURNED = 1.5, 2.0, 0.2
# Of the grids of snakes: grids and cells in a part, and cells for each snake.
MOST_GRIDS, MOST_CELLS, CELLS_OF_SNAKE = 32, 3600, 40
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


def digits(n, side, rng):
    """Return n grids of handwritten digits, and the colours of their pixels."""
    ends, kinds = grid(side, side)
    found = load_digits().images
    y = [(found[i] > 8.0).ravel().astype(int) for i in rng.choice(len(found), n)]
    turned = [ink ^ (rng.random(ink.size) < TURNED) for ink in y]
    return [(2.0 * seen[:, np.newaxis] - 1.0, ends, kinds) for seen in turned], y


def without_edges(X):
    """Return the same nodes, each alone."""
    return [(nodes, np.empty((0, 2), dtype=int)) for nodes, *_ in X]


def grids_of_snakes(n, side, rng):
    """Return n grids of snakes, and the numbers of their cells."""
    n_snakes = max(side**2 // CELLS_OF_SNAKE, 1)
    nodes, colours, y = snakes(n, rng, (side, side), n_snakes)
    ends, kinds = grid(side, side)
    features = [with_colours(own, ends, kinds) for own in colours]
    return [(x, ends, of) for x, of in zip(nodes, features, strict=True)], y


class Task(NamedTuple):
    """Grids, the options of the models, and the widest that exact inference takes."""

    make: Callable
    n_alpha: float
    options: dict
    widest: int


# Snakes have eleven labels. Few weights and many nodes: L-BFGS is fast.
IMAGES = Task(images, 8e-3, {"tol": 1e-3}, 12)
DIGITS = IMAGES._replace(make=digits)
SNAKES = Task(grids_of_snakes, 1e-2, {"tol": 1e-2, "directed": True}, 5)


def models(task, side, n):
    """Yield name, what it sees of n graphs, and an estimator."""
    options = {"solver": "lbfgs", "max_iter": 1000, **task.options}
    options["alpha"] = task.n_alpha / n
    yield "nodes", without_edges, GraphCRF(**options)
    if side <= task.widest:
        yield "exact", list, GraphCRF(**options)
    yield "trw", list, GraphCRF(inference="trw", **options)


def compare(task, sizes, seed):
    """Return the table of grids; sizes are (side, grids in each part)."""
    rows = [HEADER]
    for side, n in sizes:
        # A side has the same grids beside any others.
        rng = np.random.default_rng([seed, side])
        train, test = task.make(n, side, rng), task.make(n, side, rng)
        for name, view, crf in models(task, side, n):
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


def draw_image(side, seed, output):
    """Draw an image, what is seen of it, and what models make of that."""
    rng = np.random.default_rng([seed, side])
    train, (X, y) = images(2, side, rng), images(2, side, rng)
    drawn = {"image": y[0], "seen": X[0][0].clip(-2.0, 2.0)}
    for name, view, crf in models(IMAGES, side, 2):
        (labels, *_) = crf.fit(view(train[0]), train[1]).predict(view(X))
        wrong = np.mean(np.asarray(labels) != y[0])
        drawn[f"{name}: {100 * wrong:.1f} % wrong"] = labels
    figure, axes = figures.panels(1, len(drawn), height=2.0)
    for axis, (title, pixels) in zip(axes[0], drawn.items(), strict=True):
        axis.imshow(
            np.reshape(pixels, (side, side)), cmap="Greys", interpolation="nearest"
        )
        axis.set_title(title)
        axis.set_xticks([])
        axis.set_yticks([])
        axis.grid(visible=False)
        axis.spines[:].set_visible(True)
    figure.savefig(output)
    print(f"wrote {output}")


def compare_hinge(n, side, rng):
    """Return the rows of the table of the hinge and its substitutes."""
    rows = [["model", "accuracy", "seconds", "P", "D", "T V log K"]]
    train, test = images(n, side, rng), images(n, side, rng)
    runs = {"exact, hinge": (0.0, GraphCRF(loss="hinge", solver="sdca"))}
    for t in (1.0, 0.1, 0.03):
        crf = GraphCRF(inference="trw", loss="softmax_margin", solver="lbfgs")
        runs[f"trw, T = {t}"] = t, crf.set_params(temperature=t)
    for name, (t, crf) in runs.items():
        crf.set_params(alpha=1e-2, tol=1e-2, max_iter=200, random_state=0)
        began = process_time()
        crf.fit(*train)
        rows.append(
            [
                name,
                f"{crf.score(*test):.3f}",
                f"{process_time() - began:.2f}",
                f"{crf.primal_objective_:.2f}",
                f"{crf.dual_objective_:.2f}",
                f"{t * side**2 * np.log(2.0):.2f}",
            ]
        )
    return rows


def oracle_fits(n, side, epochs, rng):
    """Yield each solver's name and history, with seconds of the processor."""
    X, y = images(n, side, rng)
    for name, solver in SOLVERS.items():
        crf = GraphCRF(
            inference="trw",
            solver=solver,
            alpha=1.0 / n,
            tol=1e-6,
            max_iter=epochs,
            random_state=0,
        )
        crf.set_callbacks(DualityGapMonitor())
        began = process_time()
        crf.fit(X, y)
        seconds = process_time() - began
        history = crf.history_
        # Other programs may take the processor: its own seconds, by the clock's shares.
        history["seconds"] = history["seconds"] * seconds / history["seconds"][-1]
        yield name, history


def to_level(history, level=1e-3):
    """Return the calls of a visit, and the calls and seconds to a gap of level P."""
    columns = [history[name] for name in ("oracle_calls", "seconds")]
    reached = np.flatnonzero(history["gap"] <= level * history["primal"])
    per_visit = history["oracle_calls"][-1] / history["epoch"][-1]
    ends = [column[reached[0]] if len(reached) else np.inf for column in columns]
    return per_visit, *ends


def draw_oracles(n, side, epochs, seeds, output):
    """Draw the gaps of solvers with the first seed; return the table of medians."""
    figure, axes = figures.panels(1, 2)
    found = {name: [] for name in SOLVERS}
    tables.stream([["solver", "seed", "calls to 1e-3 P", "seconds"]])
    for seed in seeds:
        for name, history in oracle_fits(n, side, epochs, np.random.default_rng(seed)):
            found[name].append(to_level(history))
            _, calls, seconds = found[name][-1]
            tables.stream([[name, f"{seed}", f"{calls:.0f}", f"{seconds:.1f}"]])
            if seed == seeds[0]:
                gap = history["gap"] / history["primal"]
                figures.curve(axes[0, 0], history["oracle_calls"], gap, name)
                figures.curve(axes[0, 1], history["seconds"], gap, name)
    for axis, label in zip(
        axes[0], ("oracle calls / n", "seconds of the processor"), strict=True
    ):
        figures.log_scale(axis, 1e-6, 1.0)
        axis.set_xlabel(label)
        axis.set_ylabel("gap / P")
    figures.save(figure, output)
    rows = [
        ["solver", "oracle calls a visit", "calls to 1e-3 P", "of seeds", "seconds"]
    ]
    for name, measured in found.items():
        per_visit, calls, seconds = np.median(measured, axis=0)
        own = [calls for _, calls, _ in measured]
        extremes = f"{min(own):.0f} to {max(own):.0f}"
        rows.append(
            [name, f"{per_visit:.2f}", f"{calls:.0f}", extremes, f"{seconds:.1f}"]
        )
    return rows


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--task", nargs="+", choices=TASKS, default=TASKS)
    parser.add_argument("--quick", action="store_true", help="small grids")
    parser.add_argument("--sides", nargs="+", type=int, help="of widths and snakes")
    parser.add_argument("--output", type=Path, default=OUTPUT)
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    warnings.simplefilter("ignore", ConvergenceWarning)
    seed, quick = arguments.seed, arguments.quick
    rng = np.random.default_rng(seed)
    if "widths" in arguments.task:
        sides = arguments.sides or ([5, 6] if quick else [6, 8, 10, 12, 20, 40, 60])
        sizes = [(side, 2 if quick else 8) for side in sides]
        tables.show(compare(IMAGES, sizes, seed))
    if "snakes" in arguments.task:
        sides = arguments.sides or ([4] if quick else [5, 10, 20, 40, 60])
        most = 4 if quick else MOST_GRIDS
        sizes = [(side, min(MOST_CELLS // side**2, most)) for side in sides]
        tables.show(compare(SNAKES, sizes, seed))
    if "image" in arguments.task:
        side = 15 if quick else 100
        tables.show(compare(IMAGES, [(side, 2)], seed))
        draw_image(side, seed, arguments.output.with_name("wide_image.png"))
    if "digits" in arguments.task:
        tables.show(compare(DIGITS, [(8, 4 if quick else 100)], seed))
    if "hinge" in arguments.task:
        tables.show(compare_hinge(*((2, 4) if quick else (8, 10)), rng))
    if "oracles" in arguments.task:
        n, side, epochs = (4, 4, 5) if quick else (30, 12, 100)
        seeds = range(seed, seed + (1 if quick else 5))
        tables.show(draw_oracles(n, side, epochs, seeds, arguments.output))


if __name__ == "__main__":
    main()
