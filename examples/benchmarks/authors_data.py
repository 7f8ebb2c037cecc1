"""Repeat [LePriol18] table 1 and figures 4 and 6 with the attributes of its authors.

The sizes are those of the test files, which are public without a clone; with --subset
train they are those of table 1. P* is certified by two solvers to a gap of 1e-9. The
table has the oracle calls and the updates, divided by n, to P - P* = 1e-2 and 1e-4. The
figure has P - P* by both.

    python examples/benchmarks/authors_data.py [--task names] [--seed 1] [--quick]

needs the files of authors.py in SKCRF_SDCA_DATA, and matplotlib.
"""

import convergence
import numpy as np

import authors
import figures
import runs
import tables
import tasks

SIZES = ["task", "n", "N", "K", "attributes", "weights W", "P*"]
LEVELS = (1e-2, 1e-4)
COSTS = {"oracle_calls": "calls / n", "updates": "updates / n"}
HEADER = [
    "task",
    "solver",
    *(f"{c} to {lv:g}" for c in COSTS.values() for lv in LEVELS),
]
CERTIFIED = ("SDCA-GAP", "OEG-GAP")
TIGHT = {False: 1e-9, True: 1e2}
# Of the epochs of each run, and of the iterations of L-BFGS.
MOST = {"names": 80, "chunks": 80, "tags": 50}
ENOUGH = {False: 300, True: 3}


def certified(campaign, task):
    """Return runs of two solvers to a gap of 1e-9, and P*, on which they agree."""
    tight = TIGHT[campaign.quick]
    options = {"epochs": ENOUGH[campaign.quick], "target": tight}
    fits = {k: campaign.fit(task, runs.SOLVERS[k], **options) for k in CERTIFIED}
    ends = [fit.history["primal"][-1] for fit in fits.values()]
    gaps = [fit.history["gap"][-1] for fit in fits.values()]
    if max(*gaps, np.ptp(ends)) > tight:
        raise ValueError(f"{task.name}: {CERTIFIED} end at {ends} with gaps {gaps}")
    return fits, min(ends)


def sizes(task, best):
    """Return the row of table 1."""
    problem = tasks.problem(task)
    counts = len(task.X), problem.data.n_positions, problem.structure.n_labels
    counts += task.X.n_features, len(problem.new_parameters().w)
    title = authors.TITLES[task.name]
    return [title, *(f"{count:,}" for count in counts), f"{best:.9f}"]


def costs(title, label, run, best):
    """Return a row of the table of costs."""
    found = [run.first(run.history["primal"] - best, level) for level in LEVELS]
    cells = [
        tables.NONE if epoch is None else f"{run.history[column][epoch]:.0f}"
        for column in COSTS
        for epoch in found
    ]
    return [title, label, *cells]


def rows(campaign, axes):
    """Yield the rows of the table of costs, and draw the curves."""
    yield HEADER
    for column, name in zip(axes.T, campaign.names, strict=True):
        task = campaign.load(name)
        fits, best = certified(campaign, task)
        title = authors.TITLES[name]
        tables.stream([SIZES, sizes(task, best)])
        for label, solver in runs.SOLVERS.items():
            if label not in fits:
                epochs = runs.QUICK_EPOCHS if campaign.quick else MOST[name]
                fits[label] = campaign.fit(task, solver, epochs=epochs)
            yield costs(title, label, fits[label], best)
        histories = {label: fit.history for label, fit in fits.items()}
        for axis, quantity in zip(column, COSTS, strict=True):
            convergence.draw(axis, histories, best, quantity)
        column[0].set_title(title)


def main():
    """Print the tables, and draw the figure."""
    parser = runs.parser(__doc__, "images/authors_data.png", names=authors.NAMES)
    parser.add_argument("--subset", choices=["test", "train"], default="test")
    arguments = parser.parse_args()
    campaign = runs.Campaign(arguments)
    campaign.load = lambda name: authors.load(name, campaign.first, arguments.subset)
    figure, axes = figures.panels(len(COSTS), len(campaign.names), sharey=True)
    tables.stream(rows(campaign, axes))
    for axis in axes[:, 0]:
        axis.set_ylabel("$P - P^*$  (nats a sentence)")
    figures.save(figure, campaign.output)


if __name__ == "__main__":
    main()
