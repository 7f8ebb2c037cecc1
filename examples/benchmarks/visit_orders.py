"""Count the passes of dual solvers by the order of their visits.

The orders are draws by gap among all sequences, draws with replacement, a fresh
permutation in each epoch, the same permutation in every epoch, and draws by gap inside
a window that slides over blocks of neighbours (sampling="window"), of a fifth or a
tenth of the sequences. A pass is n visits; a run ends at a gap of 1e-3 P(w), or after
MOST passes. The table has a row for each task, solver and strength, with and without
the metric of proximal points, and is written as visit_orders.csv.

    python examples/benchmarks/visit_orders.py [--task ned] [--seed 1] [--quick]

needs the folder of corpora in SKCRF_SDCA_DATA.
"""

from functools import partial

import numpy as np

import runs
import tables
import tasks
from skcrf_sdca.solvers.oeg import OEG
from skcrf_sdca.solvers.proximal import ProximalPoint
from skcrf_sdca.solvers.sdca import SDCA

TOL, MOST = 1e-3, 60
SOLVERS = {"SDCA": SDCA, "OEG": OEG}
# alpha n of the rows with the metric; plain visits are made at 1 alone.
STRENGTHS = (1.0, 0.2)


def in_order(solver, is_fresh):
    """Return the solver with epochs in an order, a fresh one for each epoch or not."""

    class InOrder(solver):
        order = None

        def epoch(self):
            n = self.problem.n_sequences
            if is_fresh or self.order is None:
                self.order = self.rng.permutation(n)
            self.kernel.epoch_in_order(self.order)
            self._count(n)

    return InOrder


def in_window(solver, window):
    """Return the solver with draws inside a window of this part of the sequences."""

    class InWindow(solver):
        def _place(self, n_bytes):
            super()._place(n_bytes)
            self.storage = self.storage._replace(window=window)

    return partial(InWindow, sampling="window")


ORDERS = {
    "by gap": lambda solver: solver,
    "with replacement": lambda solver: partial(solver, sampling="uniform"),
    "fresh permutation": lambda solver: in_order(solver, True),
    "same permutation": lambda solver: in_order(solver, False),
    "window of a fifth": lambda solver: in_window(solver, 0.2),
    "window of a tenth": lambda solver: in_window(solver, 0.1),
}


def passes(solver):
    """Return the passes to the gap, and the gap over P if it is not reached."""
    for epoch in range(1, MOST + 1):
        solver.epoch()
        found = solver.certify_epoch(TOL)
        if found.gap <= TOL * found.primal:
            return str(epoch)
    return f"> {MOST} ({found.gap / found.primal:.1g})"


def row_of(task, name, strength, has_metric, seed):
    """Return the cells of a row."""
    problem = tasks.problem(task)
    problem = type(problem)(
        problem.structure, problem.targets.labels, strength / problem.n_sequences
    )
    row = [tasks.TITLES[task.name], name, f"{strength:g}"]
    row.append("metric" if has_metric else "plain")
    for order in ORDERS.values():
        make = order(SOLVERS[name])
        if has_metric:
            make = partial(ProximalPoint, solver=make)
        row.append(passes(make(problem, np.random.default_rng(seed))))
    return row


def main():
    """Count, and print and write the table."""
    campaign = runs.start(
        __doc__, "results/visit_orders.csv", names=("ned", "conll2000")
    )
    rows = [["Task", "Solver", "alpha n", "Steps", *ORDERS]]
    forms = [(strength, True) for strength in STRENGTHS] + [(1.0, False)]
    for task in map(campaign.load, campaign.names):
        for name in SOLVERS:
            for form in forms:
                rows.append(row_of(task, name, *form, campaign.seed))
                print(*rows[-1], flush=True)
    tables.show(rows)
    tables.write(rows, campaign.output)


if __name__ == "__main__":
    main()
