"""Memory and open files over many small cycles of fit, predict and pickle.

Each cycle fits the four estimators in turn on a few short sequences of dicts, arrays or
strings, predicts labels and probabilities, pickles the model and loads it again, and
lets a fit fail. The table shows resident memory and open descriptors as the cycles go;
the first tenth warms up and is not counted. Growth by more than 5 MiB is an error.

    python examples/benchmarks/soak.py [--cycles 10000]

Reads /proc: Linux only.
"""

import argparse
import contextlib
import gc
import os
import pickle
import warnings
from itertools import cycle
from pathlib import Path

from sklearn.exceptions import ConvergenceWarning

import tables
from skcrf_sdca import LBFGSCRF, OEGCRF, SAGNUSCRF, SDCACRF
from skcrf_sdca.datasets import make_chains

ARRAYS, LABELS = make_chains(8, n_labels=3, n_features=4, length=(1, 6), random_state=0)
DICTS = [[{f"f{j}": v for j, v in enumerate(row)} for row in x] for x in ARRAYS]
STRINGS = [[[f"f{j}" for j, v in enumerate(row) if v > 0] for row in x] for x in ARRAYS]
ESTIMATORS = [SDCACRF, OEGCRF, SAGNUSCRF, LBFGSCRF]
PAGE = os.sysconf("SC_PAGE_SIZE")
LIMIT = 5.0  # MiB


def one_cycle(estimator, X, n_jobs):
    """Fit, predict, pickle, load and predict; then fail to fit."""
    crf = estimator(max_iter=3, n_jobs=n_jobs).fit(X, LABELS)
    labels = crf.predict(X).tolist()
    again = pickle.loads(pickle.dumps(crf))
    if again.predict(X).tolist() != labels:
        raise AssertionError("the loaded model predicts something else")
    crf.predict_proba(X)
    with contextlib.suppress(ValueError):
        crf.fit(X, LABELS[:-1])


def used():
    """Return resident MiB and the number of open descriptors."""
    gc.collect()
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * PAGE / 2**20, len(os.listdir("/proc/self/fd"))


def soak(n_cycles):
    """Return (cycle, MiB, descriptors) at eleven times from the end of the warm-up."""
    kinds = cycle((DICTS, ARRAYS, STRINGS))
    estimators = cycle(ESTIMATORS)
    jobs = cycle((None, None, None, None, None, 2, None))
    step = max(n_cycles // 10, 1)
    rows = []
    for i in range(1, n_cycles + step + 1):
        one_cycle(next(estimators), next(kinds), next(jobs))
        if i % step == 0:
            rows.append((i - step, *used()))
    return rows


def main():
    """Run the cycles and print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cycles", type=int, default=10_000)
    arguments = parser.parse_args()
    warnings.simplefilter("ignore", ConvergenceWarning)
    rows = soak(arguments.cycles)
    table = [[f"{i:,}", f"{mib:.2f}", str(fds)] for i, mib, fds in rows]
    tables.show([["cycles", "resident MiB", "descriptors"], *table])
    growth = rows[-1][1] - rows[0][1]
    print(f"growth {growth:.2f} MiB")
    if growth > LIMIT or rows[-1][2] > rows[0][2]:
        raise SystemExit(f"more than {LIMIT} MiB, or more descriptors")


if __name__ == "__main__":
    main()
