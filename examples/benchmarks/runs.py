"""Run the fits of the solvers on the tasks, each in its own process, and cache them.

This module has the table of the solvers, the limits of each run, and the cache. The
cache has one JSON file for each run, with the history of the fit, its peak memory, and
an identification of the run. A run is taken from the cache unless ``--fresh`` is given
or its identification has changed. Seconds are of the processor, so that other work on
the machine disturbs them little.

The other scripts draw figures and print tables of such runs. This script makes the runs
that most of them share:

    python examples/benchmarks/runs.py [--task ocr] [--quick] [--fresh] [--verbose]
"""

import argparse
import json
import multiprocessing
import platform
import re
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import cache
from importlib.metadata import version
from pathlib import Path
from time import perf_counter, process_time

import numpy as np
from threadpoolctl import threadpool_limits

import tasks
from skcrf_sdca import LBFGSCRF, OEGCRF, SAGNUSCRF, SDCACRF
from skcrf_sdca.estimators.callbacks import EpochPrinter
from skcrf_sdca.solvers.dual import DualSolver
from skcrf_sdca.solvers.monitor import FitMonitor, Observer
from skcrf_sdca.solvers.sdca import SDCA

FOLDER = Path(__file__).resolve().parent
DOCS = FOLDER.parents[1] / "docs"

# The methods of the papers, whose gap estimate and line search the history shows.
PLAIN = {"acceleration": None}
SOLVERS = {
    "SDCA": (SDCACRF, {"sampling": "uniform", **PLAIN}),
    "SDCA-GAP": (SDCACRF, PLAIN),
    "OEG": (OEGCRF, {"sampling": "uniform", **PLAIN}),
    "OEG-GAP": (OEGCRF, PLAIN),
    "SAG": (SAGNUSCRF, {"sampling": "uniform"}),
    "SAG-NUS*": (SAGNUSCRF, {}),
    "L-BFGS": (LBFGSCRF, {}),
}

# A run stops at this gap, or after these epochs or iterations of L-BFGS.
ENOUGH = 1000
TARGET = 1e-7
EPOCHS = {"ocr": 250, "conll2000": 90, "ned": 60, "wsj": 60}
ITERATIONS = {"ocr": 600, "conll2000": 600, "ned": 600, "wsj": ENOUGH}
QUICK_EPOCHS = QUICK_ITERATIONS = 8
QUICK_SEQUENCES = 300

# An unknown optimum is computed by SDCA-GAP to this gap. L-BFGS must agree; its gap is
# far above its distance from the optimum.
TIGHT_GAPS = {"SDCA-GAP": 1e-9, "L-BFGS": TARGET}
AGREEMENT = 1e-8

PACKAGES = ("skcrf-sdca", "numpy", "scipy", "scikit-learn")


@dataclass
class Run:
    """A fit: its history, and the peak of its memory beyond the data.

    Attributes
    ----------
    history : dict of ndarrays of shape (n_epochs,)
        The entries of ``history_``, gap_estimate of the dual solvers, the evaluations
        of the slope by SDCA so far, and the errors on a test set.
    memory : int or None
        Bytes; None where they cannot be measured.
    """

    history: dict
    memory: int | None

    def first(self, values, level):
        """Return the first epoch, from 0, with a value of at most level, or None."""
        reached = np.flatnonzero(values <= level)
        return int(reached[0]) if len(reached) else None


class Campaign:
    """The runs that a script needs.

    Parameters
    ----------
    arguments : argparse.Namespace
        The result of `parser`.

    Attributes
    ----------
    names : sequence of str
        The requested tasks.
    quick : bool
    output : Path
    """

    def __init__(self, arguments):
        self.quick = arguments.quick
        self.names = arguments.task or arguments.names[: 1 if self.quick else None]
        self.fresh = arguments.fresh
        self.verbose = arguments.verbose
        self.cache = arguments.cache
        self.seed = arguments.seed
        self.output = arguments.output or self._default(arguments.written)
        self.made = set()
        self.first = QUICK_SEQUENCES if self.quick else None
        self.load = cache(lambda name: tasks.load(name, self.first))
        self.load_split = cache(lambda name: tasks.load_split(name, self.first))
        # The peak of a process counts from its birth where it cannot be reset, and
        # what one fit leaves behind would help the next: a process for each.
        self.pool = ProcessPoolExecutor(
            max_workers=1,
            mp_context=multiprocessing.get_context("spawn"),
            max_tasks_per_child=None if self.quick else 1,
        )

    def fit(self, task, solver, *, epochs=None, target=TARGET, held_out=None):
        """Return the run of a solver on a task, from the cache if it is there.

        Parameters
        ----------
        task : Task
        solver : tuple (estimator class, parameters)
        epochs : int, default=None
            The largest number of epochs; by default as in the table.
        target : float
            The gap at which the run stops.
        held_out : HeldOut, default=None
            A test set whose errors are recorded at every epoch.
        """
        estimator, parameters = solver
        if self.seed and estimator is not LBFGSCRF:
            parameters = parameters | {"random_state": self.seed}
        identity = {
            "task": task.name,
            "n_sequences": len(task.X),
            "n_features": task.X.n_features,
            "estimator": estimator.__name__,
            "parameters": parameters,
            "epochs": epochs or self._epochs(task, estimator),
            "target": target,
            "test": held_out is not None,
        }
        name = self._file_name(identity)
        file = self.cache / f"{name}.json"
        wanted = not self.fresh or name in self.made
        if wanted and file.is_file():
            record = json.loads(file.read_text())
            if record["run"] == identity:
                return _as_run(record)
        crf = estimator(alpha=task.alpha, max_iter=identity["epochs"], **parameters)
        record = {"run": identity, "versions": _versions()}
        record |= self._make(name, task, crf, target, held_out)
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(json.dumps(record, indent=1) + "\n")
        self.made.add(name)
        return _as_run(record)

    def _make(self, name, *job):
        """Run `fit_alone` in another process, print a line, and return its result."""
        print(f"{name} ...", end="", flush=True)
        begin = perf_counter()
        measured = self.pool.submit(fit_alone, *job, self.verbose).result()
        epochs, gaps = (measured["history"][key] for key in ("epoch", "gap"))
        seconds = perf_counter() - begin
        print(f" {epochs[-1]} epochs, gap {gaps[-1]:.1e}, {seconds:.1f} s", flush=True)
        return measured

    def optimum(self, task):
        """Return P*: the known one, or the one on which two precise fits agree."""
        if task.optimum is None:
            # The fits of a quick trial are few: there the certificate alone must do.
            labels = ["SDCA-GAP"] if self.quick else TIGHT_GAPS
            runs = [
                self.fit(task, SOLVERS[k], epochs=ENOUGH, target=TIGHT_GAPS[k])
                for k in labels
            ]
            values = [run.history["primal"][-1] for run in runs]
            if np.ptp(values) > AGREEMENT:
                raise ValueError(f"{task.name}: two optima, {values}")
            task.optimum = values[0]
        return task.optimum

    def _default(self, output):
        """Return the default output; a quick trial does not write into the docs."""
        if output is None:
            return None
        return (self.cache / "quick" if self.quick else DOCS) / output

    def _epochs(self, task, estimator):
        if estimator is LBFGSCRF:
            return QUICK_ITERATIONS if self.quick else ITERATIONS[task.name]
        return QUICK_EPOCHS if self.quick else EPOCHS[task.name]

    def _file_name(self, identity):
        parts = [identity["task"], identity["estimator"]]
        parts += [f"{name}={value}" for name, value in identity["parameters"].items()]
        if identity["target"] != TARGET:
            parts.append(f"gap={identity['target']:.0e}")
        if identity["test"]:
            parts.append("test")
        if self.quick:
            parts.append("quick")
        return re.sub(r"[^\w=.-]", "", "_".join(parts))


def _versions():
    versions = {package: version(package) for package in PACKAGES}
    return {"python": platform.python_version(), **versions}


def _as_run(record):
    history = {name: np.array(values) for name, values in record["history"].items()}
    return Run(history, record["memory"])


class Recorder(Observer):
    """Records the history, with further measures, down to a target of the gap."""

    def __init__(self, solver, held_out, target):
        self.solver = solver
        self.held_out = held_out
        self.target = target
        self.rows = []

    def end_epoch(self, row):
        """Record the row; stop at the target."""
        row = dict(row)
        if isinstance(self.solver, DualSolver):
            row["gap_estimate"] = self.solver.problem.mean(self.solver.gaps)
        if isinstance(self.solver, SDCA):
            row["evaluations"] = self.solver.kernel.n_evaluations
        if self.held_out is not None:
            row |= self.held_out.errors(self.solver.model)
        self.rows.append(row)
        return row["gap"] <= self.target

    def history(self):
        """Return the rows as lists by name."""
        return {name: [row[name] for row in self.rows] for name in self.rows[0]}


def fit_alone(task, crf, target, held_out, verbose):
    """Fit, and return the history and the peak of the memory beyond the data.

    The solver runs in the loop of `fit`, without the other work of an estimator. The
    seconds of the history are of the processor.
    """
    if crf.get_params().get("random_state", 0) is None:
        crf.set_params(random_state=0)
    with threadpool_limits(1):
        before = forget_peak()
        problem = tasks.problem(task)
        solver = crf._new_solver(problem)
        recorder = Recorder(solver, held_out, target)
        loop = FitMonitor(
            solver,
            max_iter=crf.max_iter,
            tol=0.0,
            observers=[recorder],
            clock=process_time,
        )
        if verbose:
            loop.observers.append(EpochPrinter(type(crf).__name__, loop.tol))
        loop.run()
    memory = None if before is None else status("VmHWM") - before
    return {"memory": memory, "history": recorder.history()}


def forget_peak():
    """Reset the peak memory of this process; return its memory, or None."""
    try:
        Path("/proc/self/clear_refs").write_text("5")
        return status("VmRSS")
    except OSError:
        return None


def status(field):
    """Return a size of this process in bytes."""
    status = Path("/proc/self/status").read_text()
    return 1024 * int(re.search(rf"{field}:\s+(\d+) kB", status)[1])


def parser(description, output=None, *, names=tasks.NAMES):
    """Return the parser of the options that all scripts share.

    Parameters
    ----------
    description : str
        The docstring of the script.
    output : str, default=None
        The file that the script writes, in the folder docs; None if there is none.
    names : sequence of str
        The tasks that the script can run; empty if it makes its own data.
    """
    parser = argparse.ArgumentParser(description=description.splitlines()[0])
    add = parser.add_argument
    if names:
        add("--task", choices=names, action="append", help="only this one; repeatable")
    add("--quick", action="store_true", help="a trial on little data of one task")
    add("--fresh", action="store_true", help="make the runs anew")
    add("--verbose", action="store_true", help="a line an epoch")
    add("--seed", type=int, default=0, help="of the draws")
    add("--cache", type=Path, default=FOLDER / "cache", help="folder of the runs")
    parser.set_defaults(names=names, task=None, written=output, output=None)
    if output is not None:
        add("--output", type=Path, help=f"default: docs/{output}")
    return parser


def start(description, output=None, *, names=tasks.NAMES):
    """Return the campaign of the command line; arguments as for `parser`."""
    return Campaign(parser(description, output, names=names).parse_args())


def main():
    """Make the runs of every solver on every requested task."""
    campaign = start(__doc__)
    for name in campaign.names:
        task = campaign.load(name)
        for solver in SOLVERS.values():
            campaign.fit(task, solver)
        campaign.optimum(task)


if __name__ == "__main__":
    main()
