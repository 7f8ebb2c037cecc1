"""Show that a change of the code keeps the bits of every fit.

    python same_bits.py write before.npz
    python same_bits.py write after.npz           # in the other checkout
    python same_bits.py compare before.npz after.npz

The four estimators make 15 epochs on the packed tasks, with one and two threads, on
sparse rows and, where these fit into memory, on dense ones. Of each fit the weights and
predictions are kept as a hash, the objectives as numbers; of L-BFGS the weights too.
Weights and predictions must have the same bits. Objectives must agree to 1e-13, and all
of L-BFGS to 1e-9, since a sum over all weights depends on their order; a small gap is
the difference of two objectives, and is compared to these.
"""

import argparse
import hashlib
import os
import sys
import warnings
from itertools import product
from pathlib import Path

import numpy as np
from scipy.sparse import csr_array
from sklearn.exceptions import ConvergenceWarning

from skcrf_sdca import LBFGSCRF, OEGCRF, SAGNUSCRF, SDCACRF, PackedSequences

ESTIMATORS = {
    "SDCACRF": SDCACRF(random_state=0),
    "OEGCRF": OEGCRF(random_state=0),
    "SAGNUSCRF": SAGNUSCRF(random_state=0),
    "LBFGSCRF": LBFGSCRF(),
}
WEIGHTS = ("coef_", "intercept_", "start_", "end_", "transition_")
OBJECTIVES = ("primal", "dual", "gap")
DENSE_TASKS = ("ocr",)
N_EPOCHS = 15


def load(folder, task, form):
    """Return the sequences and the labels of a packed task."""
    with np.load(folder / f"{task}.npz") as arrays:
        indices, indptr = arrays["indices"], arrays["indptr"]
        shape = len(indptr) - 1, int(arrays["n_features"])
        rows = csr_array((np.ones(len(indices)), indices, indptr), shape=shape)
        rows = rows.toarray() if form == "dense" else rows
        return PackedSequences(rows, arrays["offsets"]), arrays["labels"]


def bits(arrays):
    """Return a hash of arrays, as a number."""
    digest = hashlib.sha256()
    for array in arrays:
        digest.update(np.ascontiguousarray(array).tobytes())
    return int(digest.hexdigest()[:15], 16)


def results(crf, X, y):
    """Yield names and numbers of all that a fit must keep."""
    crf.fit(X, y)
    weights = [np.asarray(getattr(crf, name)) for name in WEIGHTS]
    yield "weights", bits(weights)
    yield "predictions", bits(map(np.array, crf.predict(X)))
    for name in ("updates", "oracle_calls"):
        yield name, crf.history_[name]
    for name in OBJECTIVES:
        yield name, crf.history_[name]
    if isinstance(crf, LBFGSCRF):
        yield "all weights", np.concatenate([block.ravel() for block in weights])


def write(path, folder):
    """Make all fits, and write what they must keep."""
    warnings.simplefilter("ignore", ConvergenceWarning)
    kept = {}
    for task, form in product(("ocr", "conll2000", "ned"), ("sparse", "dense")):
        if form == "dense" and task not in DENSE_TASKS:
            continue
        X, y = load(folder, task, form)
        for (name, crf), n_jobs in product(ESTIMATORS.items(), (1, 2)):
            crf.set_params(max_iter=N_EPOCHS, tol=0.0, n_jobs=n_jobs)
            case = f"{task} {form} {name} n_jobs={n_jobs}"
            print(case, flush=True)
            kept |= {f"{case} | {key}": value for key, value in results(crf, X, y)}
    np.savez(path, **kept)


def compare(before, after):
    """Print what differs; return whether nothing does."""
    before, after = np.load(before), np.load(after)
    wrong = sorted(set(before.files) ^ set(after.files))
    for case in sorted(set(before.files) & set(after.files)):
        a, b = before[case], after[case]
        what = case.split(" | ")[1]
        if "LBFGSCRF" in case and what in (*OBJECTIVES, "all weights"):
            same = np.allclose(a, b, rtol=1e-9, atol=1e-9)
        elif "LBFGSCRF" in case and what == "weights":
            continue
        elif what in OBJECTIVES:
            primal = before[f"{case.split(' | ')[0]} | primal"]
            scale = np.maximum(np.abs(primal), np.abs(a))
            same = a.shape == b.shape and (np.abs(a - b) <= 1e-13 * scale).all()
        else:
            same = np.array_equal(a, b)
        if not same:
            wrong.append(case)
    for case in wrong:
        print("differs:", case)
    print(f"{len(before.files) - len(wrong)} of {len(before.files)} results agree")
    return not wrong


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("action", choices=["write", "compare"])
    parser.add_argument("paths", nargs="+", type=Path)
    arguments = parser.parse_args()
    if arguments.action == "compare":
        sys.exit(not compare(*arguments.paths))
    write(arguments.paths[0], Path(os.environ["SKCRF_SDCA_DATA"]) / "packed")


if __name__ == "__main__":
    main()
