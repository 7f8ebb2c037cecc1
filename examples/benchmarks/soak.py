"""Watch memory, descriptors and files over many cycles of fit, predict and pickle.

Each cycle fits the four estimators in turn on a few short sequences of dicts, arrays or
strings, some with threads. It predicts labels and probabilities, pickles and loads the
model, saves it to a file and loads the file, and makes a fit and a load fail. The table
has the resident memory, the open descriptors and the files in the temporary folder over
the cycles. The first tenth of the cycles warms up and is not counted. Growth by more
than 5 MiB is an error, and so is a descriptor or a file that is left behind.

    python examples/benchmarks/soak.py [--cycles 10000]

Reads /proc: Linux only.
"""

import argparse
import contextlib
import gc
import os
import pickle
import tempfile
import warnings
from itertools import cycle
from pathlib import Path

from sklearn.exceptions import ConvergenceWarning

import tables
from skcrf_sdca._utils import parallel as _parallel
from skcrf_sdca.datasets import make_chains
from skcrf_sdca.estimators.crfs import ESTIMATORS
from skcrf_sdca.persistence import load_model, save_model

ARRAYS, LABELS = make_chains(8, n_labels=3, n_features=4, length=(1, 6), random_state=0)
DICTS = [[{f"f{j}": v for j, v in enumerate(row)} for row in x] for x in ARRAYS]
STRINGS = [[[f"f{j}" for j, v in enumerate(row) if v > 0] for row in x] for x in ARRAYS]
PAGE = os.sysconf("SC_PAGE_SIZE")
LIMIT = 5.0  # MiB


def one_cycle(estimator, X, n_jobs, folder):
    """Fit, predict, pickle, save and load; then fail to fit and to load."""
    crf = estimator(max_iter=3, n_jobs=n_jobs).fit(X, LABELS)
    labels = crf.predict(X).tolist()
    crf.predict_proba(X)
    path = folder / "model.zip"
    save_model(crf, path)
    for again in (pickle.loads(pickle.dumps(crf)), load_model(path)):
        if again.predict(X).tolist() != labels:
            raise AssertionError("the loaded model predicts something else")
    path.write_bytes(path.read_bytes()[:-40])
    with contextlib.suppress(ValueError):
        load_model(path)
    path.unlink()
    with contextlib.suppress(ValueError):
        crf.fit(X, LABELS[:-1])


def used(folder):
    """Return resident MiB and the numbers of open descriptors and of files."""
    gc.collect()
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    descriptors = len(os.listdir("/proc/self/fd"))
    return pages * PAGE / 2**20, descriptors, len(os.listdir(folder))


def soak(n_cycles, folder):
    """Return eleven rows (cycle, MiB, descriptors, files), after the warm-up."""
    kinds = cycle((DICTS, ARRAYS, STRINGS))
    estimators = cycle(ESTIMATORS)
    jobs = cycle((None, None, None, None, None, 2, None))
    step = max(n_cycles // 10, 1)
    rows = []
    for i in range(1, n_cycles + step + 1):
        one_cycle(next(estimators), next(kinds), next(jobs), folder)
        if i % step == 0:
            rows.append((i - step, *used(folder)))
    return rows


def main():
    """Run the cycles and print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cycles", type=int, default=10_000)
    arguments = parser.parse_args()
    warnings.simplefilter("ignore", ConvergenceWarning)
    # Otherwise such small data would start no threads.
    _parallel.MIN_POSITIONS = 1
    with tempfile.TemporaryDirectory() as folder:
        tempfile.tempdir = folder
        rows = soak(arguments.cycles, Path(folder))
    table = [[f"{i:,}", f"{mib:.2f}", str(fds), str(n)] for i, mib, fds, n in rows]
    tables.show([["cycles", "resident MiB", "descriptors", "files"], *table])
    growth = rows[-1][1] - rows[0][1]
    print(f"growth {growth:.2f} MiB")
    if growth > LIMIT or rows[-1][2] > rows[0][2] or rows[-1][3] > 0:
        raise SystemExit(f"more than {LIMIT} MiB, more descriptors, or files left")


if __name__ == "__main__":
    main()
