"""Measure epochs, rounds and traffic of `DistributedCRF` by the number of partitions.

Each task is split into 1 to 256 partitions, in one process, and fitted by both methods
of `DistributedCRF` to a gap of 1e-4 P(0). A table is printed and written as a CSV file.
It has the epochs and the rounds (calls that all partitions answer) to 1e-2 and to 1e-4
P(0), and the MiB of weights that all partitions receive and send in a round, and in all
rounds to 1e-4 P(0). A figure shows rounds and MiB. The split changes the result of
L-BFGS by rounding only, so L-BFGS is fitted once, with one partition.

    python examples/benchmarks/partitions.py [--task ocr] [--quick] [--first 2000]

needs the folder of corpora in SKCRF_SDCA_DATA, and matplotlib.
"""

from functools import partial

import numpy as np
from quiet_fits import fitted

import figures
import packed
import runs
import tables
import tasks
from skcrf_sdca.distributed import DistributedCRF

PARTITIONS = (1, 2, 4, 16, 64, 256)
QUICK_PARTITIONS = (1, 2, 4)
# The limits of the dual method: epochs, and partitions.
EPOCHS, MOST_FOR_DUAL = 60, 16
N_ROUNDS = 4
LEVELS = (1e-2, 1e-4)
METHODS = {"lbfgs": "L-BFGS", "dual": "CoCoA+"}
HEADER = ["task", "partitions", "method"]
HEADER += [
    f"{unit} to {level:.0e}" for level in LEVELS for unit in ("epochs", "rounds")
]
HEADER += ["MiB per round", "MiB in all"]


def cut(task, n_partitions):
    """Return partitions of sequences drawn at random, of equal numbers."""
    order = np.random.default_rng(0).permutation(len(task.X))
    parts = map(np.sort, np.array_split(order, n_partitions))
    return [(task.X[part], [task.y[i] for i in part]) for part in parts]


def fit(partitions, **parameters):
    """Return a fit to a gap of 1e-4 P(0), or as far as it gets."""
    return fitted(DistributedCRF(random_state=0, **parameters), partitions)


def bytes_of_round(partitions, n_labels):
    """Return the bytes of the weights that go to all partitions, and back."""
    rows = sum(len(np.unique(X.X.indices)) for X, _ in partitions)
    biases = len(partitions) * (3 + n_labels)
    return 2 * 8 * n_labels * (rows + biases)


def reached(crf, initial_primal):
    """Return (epochs, rounds) to each level, infinite where it was not reached."""
    history = crf.history_
    rounds = history["oracle_calls"]
    if crf.method == "dual":
        # The round of the start, and in each epoch also the one of P(w).
        rounds = 1 + (N_ROUNDS + 1) * history["epoch"]
    found = []
    for level in LEVELS:
        below = np.flatnonzero(history["gap"] <= level * initial_primal)
        first = below[:1].tolist()
        at = [(epoch + 1, int(rounds[epoch])) for epoch in first]
        found += at or [(np.inf, np.inf)]
    return found


def measured(task, numbers, max_iter):
    """Return {number of partitions: ({method: as of `reached`}, bytes of a round)}."""
    n_labels = len(np.unique(np.concatenate(task.y)))
    limits = {"lbfgs": max_iter or 1000, "dual": max_iter or EPOCHS}
    results, found = {}, {}
    initial = tasks.problem(task).initial_primal
    for number in numbers:
        partitions = cut(task, number)
        for method in METHODS:
            if number > (1 if method == "lbfgs" else MOST_FOR_DUAL):
                continue
            crf = fit(
                partitions,
                method=method,
                n_rounds=N_ROUNDS,
                max_iter=limits[method],
                tol=LEVELS[-1] * initial / (task.optimum or initial),
            )
            found[method] = reached(crf, initial)
            print(task.name, number, method, found[method], flush=True)
        results[number] = dict(found), bytes_of_round(partitions, n_labels)
        found.pop("dual", None)
    return results


def table(name, results):
    """Return rows of text of a task."""
    rows = []
    for number, (found, each) in results.items():
        for method, reached_at in found.items():
            row = [tasks.TITLES[name], f"{number}", METHODS[method]]
            for epochs, rounds in reached_at:
                done = np.isfinite(rounds)
                row += [f"{n:.0f}" if done else tables.NONE for n in (epochs, rounds)]
            rounds = reached_at[-1][1]
            total = tables.size(rounds * each if np.isfinite(rounds) else None)
            rows.append([*row, f"{each / 2**20:.1f}", total])
    return rows


def draw(axes, name, results):
    """Draw the rounds and the bytes of a task, to the last level."""
    for method, label in METHODS.items():
        number, rounds, each = np.array(
            [
                (number, found[method][-1][1], each)
                for number, (found, each) in results.items()
                if method in found
            ]
        ).T
        for axis, values in zip(axes, (rounds, rounds * each / 2**20), strict=True):
            axis.plot(number, values, marker="o", markersize=4, label=label)
            axis.set_xscale("log", base=4)
            axis.set_xticks(list(results), map(str, results))
    for axis, base in zip(axes, (2, 10), strict=True):
        axis.set_yscale("log", base=base)
        axis.yaxis.set_major_formatter("{x:,.0f}")
    axes[0].set_title(tasks.TITLES[name])
    axes[1].set_xlabel("partitions")


def main():
    """Measure the tasks; print the table and draw two rows of panels."""
    parser = runs.parser(__doc__, "images/partitions.png", names=packed.NAMES)
    parser.add_argument("--first", type=int, help="cut the tasks to so many sequences")
    arguments = parser.parse_args()
    campaign = runs.Campaign(arguments)
    first = arguments.first or campaign.first
    numbers = QUICK_PARTITIONS if campaign.quick else PARTITIONS
    load = partial(tasks.load, first=first)
    max_iter = runs.QUICK_EPOCHS if campaign.quick else None
    names = campaign.names
    figure, axes = figures.panels(2, len(names), sharey="row", sharex=True, height=2.4)
    rows = [HEADER]
    for column, name in enumerate(names):
        results = measured(load(name), numbers, max_iter)
        rows += table(name, results)
        draw(axes[:, column], name, results)
    axes[0, 0].set_ylabel("rounds")
    axes[1, 0].set_ylabel("MiB in all")
    tables.show(rows)
    tables.write(rows, campaign.output.with_suffix(".csv"))
    figures.save(figure, campaign.output)


if __name__ == "__main__":
    main()
