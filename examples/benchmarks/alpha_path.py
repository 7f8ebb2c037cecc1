"""Compare warm-started fits for several alphas with cold fits.

For each task and estimator, the table has the oracle calls of all fits, divided by n,
and the seconds of all fits, with certificates and start. It has both for `alpha_path`
and for cold fits, and their ratios. The alphas are multiples of 1/n.

    python examples/benchmarks/alpha_path.py [--task ocr] [--estimator OEGCRF] [--quick]

needs the folder of corpora in SKCRF_SDCA_DATA. L-BFGS on sentences takes hours.
"""

import argparse
import warnings
from time import perf_counter

from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

import tables
import tasks
from skcrf_sdca.estimators import crfs
from skcrf_sdca.selection import alpha_path

ESTIMATORS = {e.__name__: e for e in crfs.ESTIMATORS}
STOCHASTIC = ("SDCACRF", "OEGCRF", "SAGNUSCRF")
MULTIPLES = (10.0, 5.0, 2.0, 1.0)
MAX_ITER = 2000
QUICK_SEQUENCES = 300
HEADER = ["task", "estimator", "tol", "path calls", "cold calls", "ratio"]
HEADER += ["path s", "cold s", "ratio", "calls of each fit, path and cold"]


def cold_fits(crf, X, y, alphas):
    """Return a cold fit for every alpha."""
    return [clone(crf).set_params(alpha=alpha).fit(X, y) for alpha in alphas]


def measured(make_fits, *arguments):
    """Return the oracle calls of each fit, and the seconds of all fits."""
    begin = perf_counter()
    fits = make_fits(*arguments)
    seconds = perf_counter() - begin
    return [crf.history_["oracle_calls"][-1] for crf in fits], seconds


def row_of(task, name, tol, alphas):
    """Return the row of one task and estimator."""
    crf = ESTIMATORS[name](max_iter=MAX_ITER, tol=tol)
    if name in STOCHASTIC:
        crf.set_params(random_state=0)
    path, path_seconds = measured(alpha_path, crf, task.X, task.y, alphas)
    cold, cold_seconds = measured(cold_fits, crf, task.X, task.y, alphas)
    row = [task.name, name, f"{tol:.0e}", f"{sum(path):.1f}", f"{sum(cold):.1f}"]
    row += [f"{sum(path) / sum(cold):.2f}"]
    row += [f"{path_seconds:.1f}", f"{cold_seconds:.1f}"]
    row += [f"{path_seconds / cold_seconds:.2f}"]
    each = (" ".join(f"{calls:.0f}" for calls in fits) for fits in (path, cold))
    return [*row, " | ".join(each)]


def main():
    """Measure, and print a table for each task."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--task", choices=tasks.NAMES, action="append")
    parser.add_argument("--estimator", choices=ESTIMATORS, action="append")
    parser.add_argument("--tol", type=float, action="append")
    parser.add_argument("--multiples", type=float, nargs="+", default=MULTIPLES)
    parser.add_argument(
        "--quick", action="store_true", help=f"the first {QUICK_SEQUENCES} sequences"
    )
    arguments = parser.parse_args()
    warnings.simplefilter("ignore", ConvergenceWarning)
    for name in arguments.task or tasks.NAMES:
        task = tasks.load(name, QUICK_SEQUENCES if arguments.quick else None)
        alphas = sorted((m * task.alpha for m in arguments.multiples), reverse=True)
        rows = [
            row_of(task, estimator, tol, alphas)
            for estimator in arguments.estimator or STOCHASTIC
            for tol in arguments.tol or [1e-3]
        ]
        tables.show([HEADER, *rows])


if __name__ == "__main__":
    main()
