"""Seconds of whole fits on dense features, for every estimator.

    python examples/benchmarks/dense_tasks.py [--task signals ...] [--alpha 1 ...]
        [--estimator SDCACRF ...] [--limit 120] [--quick]

The tasks are "ocr", letters of 128 pixels; "digits", images of scikit-learn; "text100"
and "text768", the words of CoNLL-2000 and their neighbours as standardised random
projections of 100 and 768 dimensions, for embeddings, the latter in single precision;
"signals", made recordings of six channels in different units with five states; "mixed",
the sparse features of the chunking example beside the 100 dense ones. alpha is given in
units of 1/n.

Printed are, for each estimator, processor seconds of all of ``fit`` until the certified
gap is at most 1e-3 of the objective, its epochs and the last gap over the objective. A
fit that takes longer than the limit is ended, and its seconds are marked by ">".
"softmax" is scikit-learn's LogisticRegression without transitions, of the positions one
by one. Processor seconds hardly depend on other work of the machine.
"""

import argparse
from time import process_time

import numpy as np
import scipy.sparse as sp
from quiet_fits import seconds_of_fit
from sklearn.linear_model import LogisticRegression
from threadpoolctl import threadpool_limits

import skcrf_sdca
import tables
from skcrf_sdca import PackedSequences, SequenceVectorizer
from skcrf_sdca.datasets import (
    fetch_conll2000,
    fetch_ocr_letters,
    load_digit_sequences,
)
from skcrf_sdca.solvers.monitor import FitMonitor
from tasks import CHUNK_FEATURES

ENOUGH = 1e-3
ESTIMATORS = ("SDCACRF", "OEGCRF", "SAGNUSCRF", "LBFGSCRF", "CRF")
HEADER = ["task", "n alpha", "estimator", "seconds", "epochs", "gap / P"]
# Units of the six channels of a recording.
UNITS = np.array([1.0, 0.1, 5.0, 20.0, 0.5, 2.0])


def ocr(first):
    """Return pixels and letters of handwritten words."""
    X, y = fetch_ocr_letters(return_X_y=True)
    return PackedSequences.from_sequences(X[:first]), list(y[:first])


def digits(first):
    """Return pixels and digits of keypad strings."""
    data = load_digit_sequences()
    X, y = data.X_train[:first], data.y_train[:first]
    return PackedSequences.from_sequences(X), list(y)


def sentences(first):
    """Return sentences of CoNLL-2000 as lists of dicts, and their chunks."""
    X, y = fetch_conll2000(return_X_y=True)
    return X[:first], y[:first]


def projected(X, n_features, seed=0):
    """Return a dense vector for every position, of its word and its neighbours."""
    rng = np.random.default_rng(seed)
    lengths = [len(sentence) for sentence in X]
    words = [token["word"].lower() for sentence in X for token in sentence]
    names, numbers = np.unique(words, return_inverse=True)
    size = n_features // 3
    vectors = rng.standard_normal((len(names) + 1, size))
    bounds = np.cumsum([0, *lengths])
    before, after = np.roll(numbers, 1), np.roll(numbers, -1)
    before[bounds[:-1]] = after[bounds[1:] - 1] = len(names)
    rows = np.hstack([vectors[before], vectors[numbers], vectors[after]])
    more = rng.standard_normal((rows.shape[1], n_features)) / np.sqrt(rows.shape[1])
    rows = rows @ more
    rows -= rows.mean(axis=0)
    return rows / rows.std(axis=0), bounds


def text(n_features, first, dtype):
    """Return dense vectors and chunks of sentences."""
    X, y = sentences(first)
    rows, bounds = projected(X, n_features)
    return PackedSequences(rows.astype(dtype, copy=False), bounds), y


def mixed(first):
    """Return words and dense vectors beside each other, and chunks."""
    X, y = sentences(first)
    words = SequenceVectorizer().fit_transform(CHUNK_FEATURES.transform(X))
    rows, bounds = projected(X, 100)
    return PackedSequences(sp.hstack([words.X, sp.csr_array(rows)]), bounds), y


def signals(first, seed=0):
    """Return recordings of six channels and their states, which change slowly."""
    rng = np.random.default_rng(seed)
    n = 60 if first is None else first
    means = rng.standard_normal((5, 6))
    mixing = np.eye(6) + 0.5 * rng.standard_normal((6, 6))
    X, y = [], []
    for length in rng.integers(400, 1200, size=n):
        stays = rng.random(length) < 0.97
        states = rng.integers(5, size=length)
        run = np.maximum.accumulate(np.where(stays, 0, np.arange(length)))
        states = states[run]
        noise = 1.5 * rng.standard_normal((length, 6))
        X.append(((means[states] + noise) @ mixing + 3.0) * UNITS)
        y.append(states)
    return PackedSequences.from_sequences(X), y


TASKS = {
    "ocr": ocr,
    "digits": digits,
    "text100": lambda first: text(100, first, np.float64),
    "text768": lambda first: text(768, first, np.float32),
    "signals": signals,
    "mixed": mixed,
}
# Sequences of --quick, where they are not 40.
QUICK = {"signals": 4}


def fit_within(crf, X, y, limit):
    """Fit for so many processor seconds at most; return how many it took."""
    begin = process_time()

    class LimitedMonitor(FitMonitor):
        def _end_epoch(self):
            return super()._end_epoch() or process_time() > begin + limit

    crf._monitor = LimitedMonitor
    return seconds_of_fit(crf, X, y)


def fitted(crf, X, y, limit):
    """Return processor seconds of a fit, its epochs and the last gap over P."""
    seconds = fit_within(crf, X, y, limit)
    gap = crf.duality_gap_ / crf.primal_objective_
    over = ">" if gap > ENOUGH else ""
    return f"{over}{seconds:.2f}", f"{crf.n_iter_}", f"{gap:.1e}"


def softmax(X, y, alpha):
    """Return processor seconds and iterations of scikit-learn without transitions."""
    other = LogisticRegression(C=1.0 / (alpha * len(X)), max_iter=1000)
    seconds = seconds_of_fit(other, X.X, np.concatenate(y))
    return f"{seconds:.2f}", f"{other.n_iter_.max()}", tables.NONE


def rows_of(name, options):
    """Yield the rows of the table for one task."""
    first = QUICK.get(name, 40) if options.quick else options.first
    X, y = TASKS[name](first)
    for multiple in options.alpha:
        alpha = multiple / len(X)
        for estimator in options.estimator:
            own = {} if estimator == "LBFGSCRF" else {"random_state": 0}
            crf = getattr(skcrf_sdca, estimator)(
                alpha, tol=ENOUGH, max_iter=5000, **own
            )
            found = fitted(crf, X, y, options.limit)
            chosen = getattr(crf, "solver_", "")
            label = f"{estimator}: {chosen}" if chosen else estimator
            yield [name, f"{multiple:g}", label, *found]
        if options.softmax:
            yield [name, f"{multiple:g}", "softmax", *softmax(X, y, alpha)]


def main():
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--task", nargs="+", choices=TASKS, default=list(TASKS))
    parser.add_argument("--estimator", nargs="+", default=list(ESTIMATORS))
    parser.add_argument("--alpha", nargs="+", type=float, default=[1.0])
    parser.add_argument("--first", type=int, help="cut the tasks to so many sequences")
    parser.add_argument("--limit", type=float, default=120.0, help="seconds of a fit")
    parser.add_argument("--softmax", action="store_true")
    parser.add_argument("--quick", action="store_true", help="a trial on few sequences")
    options = parser.parse_args()
    tables.show([HEADER])
    with threadpool_limits(1):
        for name in options.task:
            for row in rows_of(name, options):
                tables.show([row])


if __name__ == "__main__":
    main()
