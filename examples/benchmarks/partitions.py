"""How far one model over partitions goes: epochs, rounds and bytes by their number.

Each task is cut into 1 to 256 partitions, in one process, and fitted by both methods of
`DistributedCRF` to a gap of 1e-4 P(0). Printed are the epochs, the rounds (calls that
all partitions answer), the rows that travel in a round, to all partitions and back, and
in all rounds together; drawn are rounds and bytes. What L-BFGS does depends on the cut
by rounding alone, so that it is fitted once, on one partition.

    python examples/benchmarks/partitions.py [--task ocr] [--quick] [--first 2000]

needs the folder of corpora in SKCRF_SDCA_DATA, and matplotlib.
"""

import warnings
from functools import partial

import numpy as np
from sklearn.exceptions import ConvergenceWarning

import figures
import packed
import runs
import tables
import tasks
from skcrf_sdca.distributed import DistributedCRF

PARTITIONS = (1, 2, 4, 16, 64, 256)
QUICK_PARTITIONS = (1, 2, 4)
# The dual method ends after so many epochs, and is not tried with more partitions.
EPOCHS, MOST_FOR_DUAL = 60, 16
N_ROUNDS = 4
HEADER = ["task", "partitions", "method", "epochs", "rounds"]
HEADER += ["MiB a round", "MiB in all"]


def cut(task, n_partitions):
    """Return partitions of sequences drawn at random, of equal numbers."""
    order = np.random.default_rng(0).permutation(len(task.X))
    parts = map(np.sort, np.array_split(order, n_partitions))
    return [(task.X[part], [task.y[i] for i in part]) for part in parts]


def fit(partitions, **parameters):
    """Return a fit to a gap of 1e-4 P(0), or as far as it gets."""
    crf = DistributedCRF(random_state=0, **parameters)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return crf.fit(partitions)


def bytes_of_round(partitions, n_labels):
    """Return the bytes of the weights that go to all partitions, and back."""
    rows = sum(len(np.unique(X.X.indices)) for X, _ in partitions)
    biases = len(partitions) * (3 + n_labels)
    return 2 * 8 * n_labels * (rows + biases)


def measured(task, numbers, max_iter):
    """Return {method: [(partitions, epochs, rounds, bytes a round)]}."""
    n_labels = len(np.unique(np.concatenate(task.y)))
    serial = fit(cut(task, 1), method="lbfgs", max_iter=max_iter or 1000)
    results = {"L-BFGS": [], "CoCoA+": []}
    for number in numbers:
        partitions = cut(task, number)
        each = bytes_of_round(partitions, n_labels)
        rounds = serial.traffic_["rounds"]
        results["L-BFGS"].append((number, serial.n_iter_, rounds, each))
        if number <= MOST_FOR_DUAL:
            crf = fit(
                partitions,
                method="dual",
                n_rounds=N_ROUNDS,
                max_iter=max_iter or EPOCHS,
            )
            reached = crf.duality_gap_ <= crf.gap_target_
            epochs = crf.n_iter_ if reached else np.inf
            rounds = crf.traffic_["rounds"] if reached else np.inf
            results["CoCoA+"].append((number, epochs, rounds, each))
        for method, rows in results.items():
            if rows and rows[-1][0] == number:
                print(task.name, method, *rows[-1], flush=True)
    return results


def table(name, results):
    """Return rows of text of a task."""
    rows = []
    for method, found in results.items():
        for number, epochs, rounds, each in found:
            done = np.isfinite(rounds)
            counts = [f"{epochs:.0f}", f"{rounds:.0f}"] if done else ["-", "-"]
            total = tables.size(rounds * each) if done else "-"
            mib = f"{each / 2**20:.1f}"
            rows.append([name, f"{number}", method, *counts, mib, total])
    return rows


def draw(axes, name, results):
    """Draw the rounds and the bytes of a task."""
    for method, found in results.items():
        number, _, rounds, each = np.array(found).T
        for axis, values in zip(axes, (rounds, rounds * each / 2**20), strict=True):
            axis.plot(number, values, marker="o", markersize=4, label=method)
            axis.set_xscale("log", base=4)
            axis.set_yscale("log")
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
    figures.save(figure, campaign.output)


if __name__ == "__main__":
    main()
