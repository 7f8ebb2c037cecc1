"""Measure fits on a Dask cluster of two processes: epochs, gap, memory, lost workers.

A packed task is written to two files with half of its sequences each. Each method of
`DistributedCRF` fits it three times to a gap of 1e-6 P*: in one process; on a
`LocalCluster` of two processes that read one file each; and on such a cluster where a
worker is killed after a few epochs, which the log must report. The table has the
epochs, the distance from the known optimum P*, the gap, and the peak memory of the
process that calls `fit` and of the workers. Memory counts beyond the memory of a
process before it reads data.

    python examples/benchmarks/cluster.py [--task ned] [--method dual] [--quick]

needs the folder of corpora in SKCRF_SDCA_DATA, dask[distributed], and /proc.
"""

import argparse
import logging
import multiprocessing
import os
import signal
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from dask.distributed import Client, LocalCluster
from scipy.sparse import csr_array

import packed
import tables
import tasks
from runs import QUICK_SEQUENCES, forget_peak, status
from skcrf_sdca import LBFGSCRF, OEGCRF, DualityGapMonitor, PackedSequences
from skcrf_sdca.distributed import DistributedCRF

N_WORKERS = 2
# The gap that ends a fit, divided by P*, and the gap that ends a quick trial.
ENOUGH, QUICK_ENOUGH = 1e-6, 1e-2
SERIAL = {"lbfgs": LBFGSCRF, "dual": OEGCRF}
# Epochs after which the worker is killed.
KILLED_AFTER = {"lbfgs": 20, "dual": 4}
HEADER = ["method", "fit", "epochs", "P / P* - 1", "gap / P*", "caller MiB"]
HEADER += ["workers MiB"]


def write(task, part, path):
    """Write a part of the sequences of a task."""
    X = task.X[part]
    matrix = X.X
    np.savez(
        path,
        data=matrix.data,
        indices=matrix.indices,
        indptr=matrix.indptr,
        shape=matrix.shape,
        offsets=X.offsets,
        labels=np.concatenate([task.y[i] for i in part]),
    )
    return path


def read(path):
    """Return X and y of a file."""
    with np.load(path) as file:
        matrix = csr_array(
            (file["data"], file["indices"], file["indptr"]), shape=file["shape"]
        )
        offsets = file["offsets"]
        y = np.split(file["labels"], offsets[1:-1])
    return PackedSequences(matrix, offsets), y


class KillAfter(DualityGapMonitor):
    """Kill a process after some epochs."""

    def __init__(self, epochs, pid):
        super().__init__()
        self.epochs = epochs
        self.pid = pid

    def on_fit_task_end(self, estimator, context, **options):
        """Kill the process after the given epoch."""
        if context.task_name == "epoch" and context.task_id == self.epochs - 1:
            os.kill(self.pid, signal.SIGKILL)


def result(crf, peak):
    """Return the printed numbers of a fit."""
    return crf.n_iter_, crf.primal_objective_, crf.duality_gap_, peak


def fit_alone(path, crf):
    """Return the result of a serial fit, with the peak of this process."""
    before = forget_peak()
    crf.fit(*read(path))
    return result(crf, status("VmHWM") - before)


def fit_on_cluster(paths, crf, killed_after=None):
    """Return the result of a fit on a cluster, and the peaks of its workers."""
    options = {"threads_per_worker": 1, "dashboard_address": ":0"}
    with (
        LocalCluster(n_workers=N_WORKERS, **options) as cluster,
        Client(cluster) as client,
    ):
        before = client.run(forget_peak)
        if killed_after is not None:
            pid = next(iter(client.run(os.getpid).values()))
            crf.set_callbacks(KillAfter(killed_after, pid))
        own = forget_peak()
        crf.fit([partial(read, path) for path in paths], client=client)
        caller = status("VmHWM") - own
        after = client.run(status, "VmHWM")
    # A restarted worker has no earlier peak.
    peaks = [after[a] - before[a] for a in after if a in before]
    return result(crf, caller), peaks


def alone(function, *arguments):
    """Run a function in its own process, and return its result."""
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(max_workers=1, mp_context=context) as pool:
        return pool.submit(function, *arguments).result()


def row(method, name, found, optimum, peaks=()):
    """Return a row of text."""
    epochs, primal, gap, peak = found
    return [
        method,
        name,
        f"{epochs}",
        f"{primal / optimum - 1.0:.1e}",
        f"{gap / optimum:.1e}",
        tables.size(peak),
        ", ".join(map(tables.size, peaks)),
    ]


def rows_of(method, folder, task, parameters):
    """Return the rows of text of a method."""
    n = len(task.X)
    whole = write(task, np.arange(n), folder / "whole.npz")
    halves = [
        write(task, np.arange(part, n, N_WORKERS), folder / f"part-{part}.npz")
        for part in range(N_WORKERS)
    ]
    found = alone(fit_alone, whole, SERIAL[method](**parameters))
    rows = [row(method, "one process", found, task.optimum)]
    for name, killed in (("two", None), ("one killed", KILLED_AFTER[method])):
        crf = DistributedCRF(method=method, **parameters)
        found, peaks = alone(fit_on_cluster, halves, crf, killed)
        rows.append(row(method, name, found, task.optimum, peaks))
    return rows


def main():
    """Fit, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    add = parser.add_argument
    add("--task", choices=packed.NAMES, default="ned")
    add("--method", choices=SERIAL, action="append", help="repeatable; default: both")
    add("--first", type=int, help="cut the task to so many sequences")
    add("--gap", type=float, default=ENOUGH, help="that ends a fit, by P*")
    add("--quick", action="store_true", help="a trial on little data")
    add("--verbose", action="store_true", help="a line an epoch")
    arguments = parser.parse_args()
    logging.basicConfig(format="%(message)s")
    first = QUICK_SEQUENCES if arguments.quick else arguments.first
    task = tasks.load(arguments.task, first)
    if task.optimum is None:
        task.optimum = LBFGSCRF(tol=1e-8).fit(task.X, task.y).primal_objective_
    enough = QUICK_ENOUGH if arguments.quick else arguments.gap
    parameters = {"max_iter": 2000, "tol": enough, "verbose": int(arguments.verbose)}
    with TemporaryDirectory() as folder:
        rows = [HEADER]
        for method in arguments.method or SERIAL:
            rows += rows_of(method, Path(folder), task, parameters)
        tables.show(rows)


if __name__ == "__main__":
    main()
