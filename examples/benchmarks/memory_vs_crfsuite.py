"""Compare the peak memory of fits here and by CRFsuite's trainers.

All have the same data, objective and weights (crfsuite.py) and one thread. The peak
counts beyond the data: `PackedSequences` here, and the appended items there, whose
sizes the table has too. Each runs in a process of its own, for a few epochs or
iterations: then all memory of a fit is in use.

    python examples/benchmarks/memory_vs_crfsuite.py [--task ned] [--quick]

needs python-crfsuite and the folder of corpora in SKCRF_SDCA_DATA.
"""

import multiprocessing
import tempfile
import warnings
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

from sklearn.exceptions import ConvergenceWarning

import crfsuite
import runs
import tables
import tasks
from skcrf_sdca import OEGCRF, SDCACRF

NAMES = ("conll2000", "ned")
TRAINERS = ("lbfgs", "l2sgd")
ESTIMATORS = (SDCACRF, OEGCRF)
EPOCHS = 10
HEADER = ["task", "method", "data MiB", "peak beyond it MiB"]


def theirs(name, first, algorithm):
    """Return the bytes of the appended data, and the peak of training beyond them."""
    problem = tasks.problem(tasks.load(name, first))
    empty = runs.forget_peak()
    trainer = crfsuite.new_trainer(problem, algorithm, EPOCHS)
    before = runs.forget_peak()
    with tempfile.TemporaryDirectory() as folder:
        trainer.train(str(Path(folder) / "model.crfsuite"))
    return before - empty, runs.status("VmHWM") - before


def ours(name, first, estimator):
    """Return the bytes of the data, and the peak of a fit beyond them."""
    warnings.simplefilter("ignore", ConvergenceWarning)
    task = tasks.load(name, first)
    X = task.X.X
    size = sum(a.nbytes for a in (X.data, X.indices, X.indptr, task.X.offsets))
    before = runs.forget_peak()
    estimator(task.alpha, max_iter=EPOCHS, random_state=0).fit(task.X, task.y)
    return size, runs.status("VmHWM") - before


def main():
    """Measure each method in a new process, and print the table."""
    parser = runs.parser(__doc__, names=NAMES)
    arguments = parser.parse_args()
    first = runs.QUICK_SEQUENCES if arguments.quick else None
    methods = [(f"CRFsuite {name}", theirs, name) for name in TRAINERS]
    methods += [(estimator.__name__, ours, estimator) for estimator in ESTIMATORS]
    rows = [HEADER]
    with ProcessPoolExecutor(
        1, multiprocessing.get_context("spawn"), max_tasks_per_child=1
    ) as pool:
        for name in arguments.task or NAMES:
            for title, measure, which in methods:
                sizes = pool.submit(measure, name, first, which).result()
                rows.append([name, title, *map(tables.size, sizes)])
    tables.show(rows)


if __name__ == "__main__":
    main()
