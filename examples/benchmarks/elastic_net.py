"""Print the epochs and seconds of sparse fits, and of small alphas, to relative gaps.

    python examples/benchmarks/elastic_net.py [--quick] [--task ocr] [--epochs 200]

First the elastic net on the first task, in the terms of CRFsuite, c1 and c2: every
estimator to gaps of 1e-2 and 1e-3 times P(w), and the weights that are not 0. Then L2
on all tasks with alpha = 1/n, 0.1/n and 0.01/n: OEGCRF with and without acceleration.
Seconds are valid only if the machine had no other work.
"""

import numpy as np

import runs
import tables
import tasks
from skcrf_sdca import LBFGSCRF, OEGCRF, SDCACRF
from skcrf_sdca.objective.penalties import elastic_net
from skcrf_sdca.objective.problem import Problem
from skcrf_sdca.solvers.monitor import FitMonitor, Observer
from skcrf_sdca.structures.chain.structure import Chain

NAMES = ("conll2000", "ocr")
STRENGTHS = (0.1, 0.1), (0.5, 0.05), (1.0, 0.0)
ALPHAS = 1.0, 0.1, 0.01
LEVELS = 1e-2, 1e-3


class Levels(Observer):
    """Keeps the rows of the history; stops at the last of the relative gaps."""

    def __init__(self):
        self.rows = []

    def end_epoch(self, row):
        """Take a row."""
        self.rows.append(row)
        return row["gap"] <= LEVELS[-1] * row["primal"]

    def cells(self):
        """Return epochs and seconds to each level, and the last relative gap."""
        cells = []
        for level in LEVELS:
            reached = (r for r in self.rows if r["gap"] <= level * r["primal"])
            row = next(reached, None)
            found = row and (f"{row['epoch']}", f"{row['seconds']:.1f}")
            cells += found or (tables.NONE, tables.NONE)
        last = self.rows[-1]
        return [*cells, f"{last['gap'] / last['primal']:.1e}"]


def fit(task, crf, n_alpha, l1_ratio, epochs):
    """Return the cells of a fit: levels, and the number of weights that are not 0."""
    names, labels = np.unique(np.concatenate(task.y), return_inverse=True)
    problem = Problem(
        Chain(task.X, len(names)),
        labels.astype(np.int32),
        n_alpha / len(task.X),
        penalty=elastic_net(l1_ratio),
    )
    levels, solver = Levels(), crf._new_solver(problem)
    FitMonitor(solver, max_iter=epochs, tol=0.0, observers=[levels]).run()
    return [*levels.cells(), f"{np.count_nonzero(solver.model.w):,}"]


def main():
    """Print a line for each fit, and the two tables."""
    parser = runs.parser(__doc__, names=NAMES)
    parser.add_argument("--epochs", type=int, default=200)
    parser.add_argument("--first", type=int, help="the first sequences alone")
    options = parser.parse_args()
    epochs = 3 if options.quick else options.epochs
    first = runs.QUICK_SEQUENCES if options.quick else options.first
    chosen = [tasks.load(name, first) for name in options.task or NAMES]
    header = ["", "1e-2", "s", "1e-3", "s", "gap / P", "weights"]
    rows = [header]

    def add(name, *arguments):
        rows.append([name, *fit(*arguments, epochs)])
        print(*rows[-1], flush=True)

    for c1, c2 in STRENGTHS:
        total = c1 + 2.0 * c2
        for crf in (OEGCRF(random_state=0), SDCACRF(random_state=0), LBFGSCRF()):
            name = f"c1={c1} c2={c2} {type(crf).__name__}"
            add(name, chosen[0], crf, total, c1 / total)
    for task in chosen:
        for n_alpha in ALPHAS:
            for acceleration in (None, "proximal_point"):
                crf = OEGCRF(acceleration=acceleration, random_state=0)
                add(f"{task.name} {n_alpha}/n {acceleration}", task, crf, n_alpha, 0.0)
    tables.show(rows)


if __name__ == "__main__":
    main()
