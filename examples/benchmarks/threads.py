"""Measure the speed-up by threads: epochs for any number, seconds on the cores here.

SDCA and OEG with sampling by gap, or SAG-NUS* with ``--sag``, to a gap of 1e-4 P(0).
One thread can make the rounds of any number of workers, with the same bits. So epochs
are counted for 1 to 32 threads on any machine (to 0.1, by interpolation of the
logarithm of the gap). With 1, 2 and 4 threads, as far as there are cores, the fit is
timed too, without certificates. The expected speed-up is

    threads * epochs(1) / epochs(threads),

what a fit would reach if n threads made an epoch n times as fast. The limit of the
machine is measured too: n independent fits, side by side in n threads, are "ceiling"
times as fast as one after the other. A table is printed and written as a CSV file, and
the epochs are drawn.

    python examples/benchmarks/threads.py [--task ned] [--repeats 5] [--quick]
    python examples/benchmarks/threads.py --accelerated --repeats 0 --threads 1 2 4 8 16

The second command counts the epochs of fits with proximal points, as users run them,
and measures no seconds; without ``--accelerated`` visits are plain. The script needs
the folder of corpora in SKCRF_SDCA_DATA, and matplotlib. Nothing else should run where
seconds are measured: the threads of a fit wait for each other.
"""

from concurrent.futures import ThreadPoolExecutor
from statistics import median

import numpy as np
from joblib import cpu_count
from threadpoolctl import threadpool_limits

import figures
import packed
import runs
import tables
import tasks
from skcrf_sdca import OEGCRF, SAGNUSCRF, SDCACRF
from skcrf_sdca.solvers.monitor import FitMonitor, Observer

DUAL_SOLVERS = {"SDCA-GAP": SDCACRF, "OEG-GAP": OEGCRF}
SAG_SOLVERS = {"SAG-NUS*": SAGNUSCRF}
THREADS = (1, 2, 4, 8, 16, 32)
QUICK_THREADS = (1, 2, 4)
TIMED = (1, 2, 4)
TARGET = 1e-4
MAX_EPOCHS = 100
HEADER = ["task", "solver", "threads", "epochs", "expected", "seconds", "measured"]
HEADER += ["ceiling"]
# The columns that need no seconds.
N_COUNTED = 5


class StopAtGap(Observer):
    """Ends a fit at a gap."""

    def __init__(self, gap):
        self.gap = gap

    def end_epoch(self, row):
        """Return whether the gap is reached."""
        return row["gap"] <= self.gap


def run(problem, new, n_threads, *, in_turn):
    """Return the loop of a fit with n_threads threads, or in turn in one thread."""
    problem.structure.n_jobs = n_threads
    solver = new._new_solver(problem)
    problem.structure.n_jobs = None
    if n_threads > 1:
        (solver.dual or solver).kernel.in_turn = in_turn
    end = StopAtGap(TARGET * problem.initial_primal)
    return FitMonitor(solver, max_iter=MAX_EPOCHS, tol=0.0, observers=[end]).run()


def epochs_to_target(loop):
    """Return the interpolated epochs to the target gap, nan if it was not reached."""
    target = TARGET * loop.solver.problem.initial_primal
    if not loop.stopped:
        return np.nan
    history = loop.history()
    x = np.log(history["gap"])
    return np.interp(-np.log(target), -x, history["epoch"])


def fit_seconds(problem, new, n_threads):
    """Return the seconds of a fit with n_threads threads."""
    return run(problem, new, n_threads, in_turn=False).rows[-1]["seconds"]


def side_by_side(problem, new, n_fits):
    """Return the seconds of the longest of several parallel fits of one thread each."""
    with ThreadPoolExecutor(n_fits) as threads:
        calls = [threads.submit(fit_seconds, problem, new, 1) for _ in range(n_fits)]
        return max(call.result() for call in calls)


def seconds(problem, new, counts, repeats):
    """Return median seconds by number of threads: of one fit, and of as many
    independent fits side by side. All are measured in alternation.
    """
    one, many = {n: [] for n in counts}, {n: [] for n in counts}
    for _ in range(repeats):
        for n in counts:
            one[n].append(fit_seconds(problem, new, n))
            many[n].append(side_by_side(problem, new, n) if n > 1 else one[n][-1])
    return [{n: median(taken[n]) for n in counts} for taken in (one, many)]


def rows_of(name, label, problem, new, threads, repeats):
    """Return the rows of the table of one solver, and the epochs by threads."""
    epochs = {n: epochs_to_target(run(problem, new, n, in_turn=True)) for n in threads}
    timed = [n for n in TIMED if repeats and n in threads and n <= cpu_count()]
    taken, many = seconds(problem, new, timed, repeats)
    rows = []
    for n in threads:
        row = [name, label, str(n)]
        reached = np.isfinite(epochs[n])
        row.append(f"{epochs[n]:.1f}" if reached else f"> {MAX_EPOCHS}")
        row.append(f"{n * epochs[1] / epochs[n]:.1f}" if reached else tables.NONE)
        row.append(f"{taken[n]:.2f}" if n in taken else tables.NONE)
        row.append(f"{taken[1] / taken[n]:.2f}" if n in taken else tables.NONE)
        row.append(f"{n * taken[1] / many[n]:.2f}" if n in taken else tables.NONE)
        rows.append(row)
    return rows, epochs


def main():
    """Run every task and solver; print the table, write it and draw the epochs."""
    parser = runs.parser(__doc__, "images/threads.png", names=packed.NAMES)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--threads", type=int, nargs="+", default=THREADS)
    parser.add_argument("--accelerated", action="store_true")
    parser.add_argument("--sag", action="store_true")
    arguments = parser.parse_args()
    campaign = runs.Campaign(arguments)
    threads = QUICK_THREADS if campaign.quick else tuple(arguments.threads)
    solvers, options = DUAL_SOLVERS, {}
    if arguments.sag:
        solvers = SAG_SOLVERS
    elif not arguments.accelerated:
        options = {"acceleration": None}
    repeats = 1 if campaign.quick else arguments.repeats
    table = [HEADER]
    figure, axes = figures.panels(1, len(campaign.names), sharey=True)
    for axis, name in zip(axes[0], campaign.names, strict=True):
        task = campaign.load(name)
        problem = tasks.problem(task)
        for label in solvers:
            new = solvers[label](task.alpha, random_state=0, **options)
            with threadpool_limits(1):
                rows, epochs = rows_of(name, label, problem, new, threads, repeats)
            tables.show([HEADER, *rows])
            table += rows
            figures.curve(axis, threads, list(epochs.values()), label, marker="o")
        axis.set_title(tasks.TITLES[name])
        axis.set_xscale("log", base=2)
        axis.set_xticks(threads, map(str, threads))
        axis.set_yscale("log", base=2)
        axis.yaxis.set_major_formatter("{x:.0f}")
        axis.set_xlabel("threads")
    axes[0, 0].set_ylabel("epochs to a gap of 1e-4 P(0)")
    figures.save(figure, campaign.output)
    table = table if repeats else [row[:N_COUNTED] for row in table]
    tables.write(table, campaign.output.with_suffix(".csv"))


if __name__ == "__main__":
    main()
