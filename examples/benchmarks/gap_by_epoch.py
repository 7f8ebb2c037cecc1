"""Compare the duality gap by epoch of gap sampling and uniform sampling.

For each packed task, the script prints the gap at some epochs with the default sampling
and with uniform sampling, and the epochs of each to a common gap. It also prints the
distance from the known optimum after a fit to a small tolerance, the seconds of the
epochs, and the peak memory of the process. For OCR it prints the accuracy on the
letters of the test words.

    python examples/benchmarks/gap_by_epoch.py [--task ocr] [--quick]

needs the folder of corpora in SKCRF_SDCA_DATA.
"""

import argparse
import multiprocessing
import resource
import warnings

import numpy as np
from sklearn.exceptions import ConvergenceWarning

import packed
from skcrf_sdca import SDCACRF, DualityGapMonitor
from skcrf_sdca.datasets import fetch_ocr_letters

# The epochs of the promised gap, this gap, and the epochs to the optimum.
PROMISES = {"ocr": (30, 5e-3, 120), "conll2000": (10, 2e-3, 25), "ned": (5, 1e-3, 15)}
MARKS = (1, 3, 5, 10, 15, 20, 30)


def fit(task, **parameters):
    """Return SDCACRF fitted to a packed task."""
    crf = SDCACRF(alpha=task.alpha, random_state=0, **parameters)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return crf.set_callbacks(DualityGapMonitor()).fit(task.X, task.y)


def epochs_to(crf, gap):
    """Return the first epoch whose gap is at most ``gap``, or None."""
    reached = np.flatnonzero(crf.history_["gap"] <= gap)
    return int(crf.history_["epoch"][reached[0]]) if len(reached) else None


def print_curve(name, crf):
    """Print the gaps at the marks."""
    gaps = crf.history_["gap"]
    cells = [f"{gaps[m - 1]:9.2e}" if m <= len(gaps) else " " * 9 for m in MARKS]
    print(f"  {name:10s}" + "".join(cells), flush=True)


def measure(name, quick):
    """Print all figures of one task."""
    task = packed.load(name)
    epochs, promise, enough = PROMISES[name]
    print(f"\n{name}: n = {len(task.X)}, P* = {task.optimum:.10f}", flush=True)
    print("  epochs    " + "".join(f"{m:9d}" for m in MARKS))
    by_gap = fit(task, max_iter=epochs, tol=0.0)
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    print_curve("gap", by_gap)
    uniform = fit(task, max_iter=2 * epochs, tol=0.0, sampling="uniform")
    print_curve("uniform", uniform)
    reached = by_gap.duality_gap_
    print(f"  gap after {epochs} epochs: {reached:.2e} (promised {promise:.0e})")
    print(f"  uniform needs {epochs_to(uniform, reached) or f'> {2 * epochs}'} epochs")
    seconds = np.diff(by_gap.history_["seconds"], prepend=0.0)
    print(f"  seconds an epoch: median {np.median(seconds):.3f}")
    print(f"  peak memory of the process after this fit: {memory:.2f} GiB")
    if quick:
        return
    converged = fit(task, max_iter=enough, tol=1e-9)
    distance = converged.primal_objective_ - task.optimum
    print(f"  after {converged.n_iter_} epochs: P - P* = {distance:.1e}", flush=True)
    if name == "ocr":
        X, y = fetch_ocr_letters(return_X_y=True)
        X_test, y_test = fetch_ocr_letters(subset="test", return_X_y=True)
        accuracy = SDCACRF(random_state=0).fit(X, y).score(X_test, y_test)
        print(f"  token accuracy on the test words: {accuracy:.4f} (promised 0.88)")


def main():
    """Measure every task in its own process, for its peak memory."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--task", choices=packed.NAMES, action="append")
    parser.add_argument("--quick", action="store_true", help="no fit to the optimum")
    arguments = parser.parse_args()
    spawn = multiprocessing.get_context("spawn")
    for name in arguments.task or packed.NAMES:
        process = spawn.Process(target=measure, args=(name, arguments.quick))
        process.start()
        process.join()
        if process.exitcode:
            raise SystemExit(f"{name} failed")


if __name__ == "__main__":
    main()
