"""Show that a change of the code keeps the bits of every fit.

    python same_bits.py write before.npz
    python same_bits.py write after.npz           # in the other checkout
    python same_bits.py compare before.npz after.npz

The estimators with a certificate make 15 epochs on the packed tasks, with one and two
threads, on sparse rows and, where these fit into memory, on dense ones. All estimators,
structures, losses and penalties make 5 epochs on words of handwritten letters. Of each
fit the weights and predictions are kept as a hash, the objectives as numbers; of L-BFGS
the weights too.
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
from scipy.sparse import csr_array, issparse
from sklearn.exceptions import ConvergenceWarning

from skcrf_sdca import (
    LBFGSCRF,
    OEGCRF,
    SAGNUSCRF,
    SDCACRF,
    SGDCRF,
    GraphCRF,
    PackedSequences,
    PassiveAggressiveCRF,
    SegmentCRF,
    TreeCRF,
)

ESTIMATORS = {
    "SDCACRF": SDCACRF(random_state=0),
    "OEGCRF": OEGCRF(random_state=0),
    "SAGNUSCRF": SAGNUSCRF(random_state=0),
    "LBFGSCRF": LBFGSCRF(),
}
CERTIFIED = {cls.__name__: cls for cls in (SDCACRF, OEGCRF, SAGNUSCRF, LBFGSCRF)}
# What changes the problem or the visits, by name.
VARIANTS = {
    "order 2": {"order": 2},
    "edge features": {"edge_features": "all"},
    "observed": {"features": "observed"},
    "elastic net": {"l1_ratio": 0.5},
    "softmax margin": {"loss": "softmax_margin"},
}
METHODS = ("sgd", "asgd", "adagrad", "smd", "pegasos", "svrg", "hybrid")
LETTERS = {
    f"{name} {variant}": cls(**options)
    for variant, options in VARIANTS.items()
    for name, cls in CERTIFIED.items()
} | {
    "SDCACRF hinge": SDCACRF(loss="hinge"),
    **{f"SGDCRF {name}": SGDCRF(method=name) for name in METHODS},
    "PassiveAggressiveCRF": PassiveAggressiveCRF(),
    "PassiveAggressiveCRF order 2": PassiveAggressiveCRF(order=2),
}
SOLVERS = ("oeg", "sag", "lbfgs")
# The lengths of segments are bounded, so that all words have few of them.
SEGMENTS = {
    f"SegmentCRF {s}": SegmentCRF(solver=s, scheme=None, max_length=3)
    for s in (*SOLVERS, "sgd")
}
GRAPHS = {f"GraphCRF {s}": GraphCRF(solver=s) for s in ("sdca", *SOLVERS)}
TREES = {f"TreeCRF {s}": TreeCRF(solver=s) for s in ("sdca", *SOLVERS)}
N_LETTERS = 4000
WEIGHTS = (
    "coef_ intercept_ start_ end_ transition_ higher_transitions_ edge_coef_ length_"
).split()
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


def results(case, crf, X, y):
    """Yield names and numbers of all that a fit must keep."""
    crf.fit(X, y)
    weights = list(weights_of(crf))
    yield "weights", bits(weights)
    yield "predictions", bits(map(np.array, crf.predict(X)))
    for name in ("updates", "oracle_calls", *OBJECTIVES):
        if name in crf.history_:
            yield name, crf.history_[name]
    if is_lbfgs(case):
        yield "all weights", np.concatenate([block.ravel() for block in weights])


def weights_of(crf):
    """Yield the arrays of weights of a fitted estimator."""
    for name in WEIGHTS:
        block = getattr(crf, name, None)
        for own in block if isinstance(block, tuple) else (block,):
            if own is not None:
                yield own.toarray() if issparse(own) else np.asarray(own)


def letters(folder):
    """Yield kinds of items with their labels and the estimators for them."""
    packed, y = load(folder, "ocr", "dense")
    ends = packed.offsets[packed.offsets <= N_LETTERS]
    rows = np.asarray(packed.X[: ends[-1]])
    words = np.split(rows, ends[1:-1])
    labels = [own.tolist() for own in np.split(y[: ends[-1]], ends[1:-1])]
    yield "letters", words, labels, LETTERS
    yield "letters", words, labels, SEGMENTS
    neighbours = [np.arange(len(x) - 1)[:, None] + [0, 1] for x in words]
    yield "letters", list(zip(words, neighbours, strict=True)), labels, GRAPHS
    heads = [np.arange(-1, len(x) - 1) for x in words]
    yield "letters", list(zip(words, heads, strict=True)), labels, TREES


def cases(folder):
    """Yield the name, the estimator, the data and the epochs of every fit."""
    for task, form in product(("ocr", "conll2000", "ned"), ("sparse", "dense")):
        if form == "sparse" or task in DENSE_TASKS:
            X, y = load(folder, task, form)
            for name, crf in ESTIMATORS.items():
                yield f"{task} {form} {name}", crf, X, y, N_EPOCHS
    for task, X, y, estimators in letters(folder):
        for name, crf in estimators.items():
            yield f"{task} {name}", crf, X, y, 5


def write(path, folder):
    """Make all fits, and write what they must keep."""
    warnings.simplefilter("ignore", ConvergenceWarning)
    kept = {}
    for (name, crf, X, y, n_epochs), n_jobs in product(cases(folder), (1, 2)):
        options = {
            "max_iter": n_epochs,
            "tol": 0.0,
            "n_jobs": n_jobs,
            "random_state": 0,
            "acceleration": None,
        }
        crf.set_params(**{k: v for k, v in options.items() if k in crf.get_params()})
        case = f"{name} n_jobs={n_jobs}"
        print(case, flush=True)
        kept |= {f"{case} | {key}": value for key, value in results(case, crf, X, y)}
    np.savez(path, **kept)


def is_lbfgs(case):
    """Return whether a result is one of L-BFGS."""
    return "lbfgs" in case.lower()


def compare(before, after):
    """Print what differs; return whether nothing does."""
    before, after = np.load(before), np.load(after)
    wrong = sorted(set(before.files) ^ set(after.files))
    for case in sorted(set(before.files) & set(after.files)):
        a, b = before[case], after[case]
        what = case.split(" | ")[1]
        if is_lbfgs(case) and what in (*OBJECTIVES, "all weights"):
            same = np.allclose(a, b, rtol=1e-9, atol=1e-9)
        elif is_lbfgs(case) and what == "weights":
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
