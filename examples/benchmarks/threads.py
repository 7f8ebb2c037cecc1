"""Measure the speed-up by threads: epochs for any number, seconds on the cores here.

SDCA and OEG with sampling by gap are fitted to a gap of 1e-4 P(0). One thread can make
the rounds of any number of workers, with the same bits. So the epochs of 1 to 32
threads can be counted on any machine (to 0.1, by interpolation of the logarithm of the
gap). With 1, 2 and 4 threads, as far as there are cores, the fit is also timed, without
certificates. The expected speed-up is

    threads * epochs(1) / epochs(threads),

which assumes that an epoch is as many times faster as there are threads. The "ceiling"
is what the machine allows: the speed-up of as many independent fits that run in
parallel, each in one thread, over the same fits one after the other. A table is printed
and written as a CSV file, and a figure shows the epochs.

    python examples/benchmarks/threads.py [--task ned] [--repeats 5] [--quick]

needs the folder of corpora in SKCRF_SDCA_DATA, and matplotlib. The machine should have
no other work, since the threads of a fit wait for each other.
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
from skcrf_sdca import OEGCRF, SDCACRF
from skcrf_sdca.solvers.base import Loop

SOLVERS = {"SDCA-GAP": SDCACRF, "OEG-GAP": OEGCRF}
THREADS = (1, 2, 4, 8, 16, 32)
QUICK_THREADS = (1, 2, 4)
TIMED = (1, 2, 4)
TARGET = 1e-4
MAX_EPOCHS = 100
HEADER = ["task", "solver", "threads", "epochs", "expected", "seconds", "measured"]
HEADER += ["ceiling"]


def run(problem, new, n_threads, *, in_turn):
    """Return the loop of a fit with n_threads threads, or in turn in one thread."""
    problem.n_jobs = n_threads
    solver = new._new_solver(problem)
    problem.n_jobs = None
    if in_turn and n_threads > 1:
        solver.kernel.epoch = solver.kernel.epoch_in_turn
        solver.kernel.epoch_in_order = solver.kernel.epoch_in_order_in_turn
    return Loop(solver, max_iter=MAX_EPOCHS, tol=TARGET).run()


def epochs_to_target(loop):
    """Return the interpolated epochs to the target gap, nan if it was not reached."""
    if not loop.converged:
        return np.nan
    history = loop.history()
    x = np.log(history["gap"])
    return np.interp(-np.log(loop.target), -x, history["epoch"])


def fit_seconds(problem, new, n_threads):
    """Return the seconds of a fit with n_threads threads."""
    return run(problem, new, n_threads, in_turn=False).rows[-1]["seconds"]


def side_by_side(problem, new, n_fits):
    """Return the seconds of the longest of several parallel fits of one thread each."""
    with ThreadPoolExecutor(n_fits) as threads:
        calls = [threads.submit(fit_seconds, problem, new, 1) for _ in range(n_fits)]
        return max(call.result() for call in calls)


def seconds(problem, new, counts, repeats):
    """Return median seconds by number of threads, measured in turns.

    The first dict is of one fit, the second of as many independent fits in parallel.
    """
    team, apart = {n: [] for n in counts}, {n: [] for n in counts}
    for _ in range(repeats):
        for n in counts:
            team[n].append(fit_seconds(problem, new, n))
            apart[n].append(side_by_side(problem, new, n) if n > 1 else team[n][-1])
    return [{n: median(taken[n]) for n in counts} for taken in (team, apart)]


def rows_of(name, label, problem, alpha, threads, repeats):
    """Return the rows of the table of one solver, and the epochs by threads."""
    new = SOLVERS[label](alpha=alpha, random_state=0)
    epochs = {n: epochs_to_target(run(problem, new, n, in_turn=True)) for n in threads}
    timed = [n for n in TIMED if n in threads and n <= cpu_count()]
    taken, apart = seconds(problem, new, timed, repeats)
    rows = []
    for n in threads:
        row = [name, label, str(n)]
        reached = np.isfinite(epochs[n])
        row.append(f"{epochs[n]:.1f}" if reached else f"> {MAX_EPOCHS}")
        row.append(f"{n * epochs[1] / epochs[n]:.1f}" if reached else tables.NONE)
        row.append(f"{taken[n]:.2f}" if n in taken else tables.NONE)
        row.append(f"{taken[1] / taken[n]:.2f}" if n in taken else tables.NONE)
        row.append(f"{n * taken[1] / apart[n]:.2f}" if n in taken else tables.NONE)
        rows.append(row)
    return rows, epochs


def main():
    """Run every task and solver; print the table, write it and draw the epochs."""
    parser = runs.parser(__doc__, "images/threads.png", names=packed.NAMES)
    parser.add_argument("--repeats", type=int, default=5)
    arguments = parser.parse_args()
    campaign = runs.Campaign(arguments)
    threads = QUICK_THREADS if campaign.quick else THREADS
    repeats = 1 if campaign.quick else arguments.repeats
    table = [HEADER]
    figure, axes = figures.panels(1, len(campaign.names), sharey=True)
    for axis, name in zip(axes[0], campaign.names, strict=True):
        task = campaign.load(name)
        problem = tasks.problem(task)
        for label in SOLVERS:
            with threadpool_limits(1):
                rows, epochs = rows_of(
                    name, label, problem, task.alpha, threads, repeats
                )
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
    tables.write(table, campaign.output.with_suffix(".csv"))


if __name__ == "__main__":
    main()
