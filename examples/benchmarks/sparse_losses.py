"""Compare losses of few labellings with the log loss: epochs, test score, support.

    python examples/benchmarks/sparse_losses.py [--task ned trees] [--first 2000]

Each loss is fitted by SDCACRF with alpha = N_ALPHA / n to a gap of 1e-3 P(w), or until
the epochs end. The table has the epochs to gaps of 1e-2 and 1e-3 P(w), seconds, the F1
of spans on the test data (of letters and tags the accuracy), and, of the probabilities
of labels there, the share of zeros, the Brier score, and the expected calibration error
of the most probable label in ten bins of equal width, in percent; and the mean number
of labellings of a sentence that have a probability. Seconds are valid only if the
machine had no other work. "trees" are those of UD English EWT: `DependencyCRF` fits
them, the score is the UAS of the development data without punctuation, and a word has a
probability for each head.

The corpora are read from the folder SKCRF_SDCA_DATA or downloaded; tasks.py
makes the features.
"""

import argparse
import warnings
from time import process_time
from typing import NamedTuple

import numpy as np
import parsing_losses
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from skcrf_sdca import SDCACRF, DependencyCRF, DualityGapMonitor
from skcrf_sdca.metrics import span_f1_score
from tasks import WITH_SPANS, load_split

LOSSES = ("log_loss", "softmax_margin", "hinge", "sparsemap", "smooth_hinge")
LEVELS = (1e-2, 1e-3)
TREES, TREEBANK = "trees", "en_ewt"
TASKS = (*WITH_SPANS, "ocr", "wsj", TREES)
N_BINS = 10


def epochs_to(crf, level):
    """Return the first epoch with a gap of level * P(w), "-" if there is none."""
    reached = crf.history_["gap"] <= level * crf.history_["primal"]
    return str(crf.history_["epoch"][reached.argmax()]) if reached.any() else "-"


class Trees(NamedTuple):
    """Tokens of sentences, the heads of their words, and which are no punctuation."""

    X: list
    y: list
    mask: list


def load(name, first):
    """Return the training and the test data of a task."""
    if name != TREES:
        return load_split(name, first)
    parts = ("train", first), ("dev", None)
    return (Trees(*parsing_losses.read(TREEBANK, *part)) for part in parts)


def new_crf(name, alpha, loss, max_iter):
    """Return the estimator of a task."""
    options = {"loss": loss, "max_iter": max_iter, "random_state": 0}
    if name == TREES:
        return DependencyCRF(alpha, features=parsing_losses.FEATURES, **options)
    return SDCACRF(alpha, **options)


def calibration(proba, is_right):
    """Return the Brier score, and the expected calibration error, in percent.

    ``proba`` and ``is_right`` have an array for each sentence, with a row for each
    word; no label is right where it is unknown.
    """
    pairs = list(zip(proba, is_right, strict=True))
    squares = np.concatenate([np.square(p - right).sum(axis=1) for p, right in pairs])
    largest = np.concatenate([p.max(axis=1) for p in proba])
    excess = largest - np.concatenate(
        [right[np.arange(len(p)), p.argmax(axis=1)] for p, right in pairs]
    )
    bins = np.minimum(largest * N_BINS, N_BINS - 1).astype(int)
    error = np.abs(np.bincount(bins, excess)).sum() / len(largest)
    return 100.0 * squares.mean(), 100.0 * error


def of_probabilities(crf, test):
    """Return the share of zeros, Brier score and calibration error, as texts."""
    proba = crf.predict_proba(test.X)
    if isinstance(test, Trees):
        proba = [own.T for own in proba]
        is_right = [np.eye(len(heads) + 1)[heads] for heads in test.y]
    else:
        is_right = [np.asarray(own)[:, np.newaxis] == crf.classes_ for own in test.y]
    n_zero = sum(np.count_nonzero(own == 0.0) for own in proba)
    zeros = 100.0 * n_zero / sum(own.size for own in proba)
    brier, error = calibration(proba, is_right)
    return f"{zeros:.1f}", f"{brier:.2f}", f"{error:.2f}"


def measured(crf, test):
    """Return the test score, what `of_probabilities` does, and the mean support."""
    if isinstance(test, Trees):
        score = parsing_losses.uas(crf, *test) / 100.0
    elif test.spans:
        score = span_f1_score(test.y, crf.predict(test.X))
    else:
        score = crf.score(test.X, test.y)
    own, support = ("-", "-", "-"), "-"
    if hasattr(crf, "predict_proba"):
        own = of_probabilities(crf, test)
    if hasattr(crf, "support"):
        support = f"{np.mean([len(own) for own in crf.support(test.X)]):.1f}"
    return f"{100.0 * score:.2f}", *own, support


def main():
    """Print the table of the requested tasks."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--task", choices=TASKS, nargs="+", default=TASKS)
    parser.add_argument("--first", type=int, help="training and test sentences (all)")
    parser.add_argument("--epochs", type=int, default=100)
    parser.add_argument("--n-alpha", type=float, default=1.0)
    options = parser.parse_args()
    # The table says where a gap was not reached.
    warnings.simplefilter("ignore", ConvergenceWarning)
    row = "{:10} {:15} {:>6} {:>6} {:>8} {:>7} {:>7} {:>7} {:>7} {:>8}"
    of_test = "test", "zeros", "brier", "ece", "support"
    print(row.format("task", "loss", "1e-2", "1e-3", "s", *of_test))
    for name in options.task:
        task, test = load(name, options.first)
        for loss in LOSSES:
            alpha, begin = options.n_alpha / len(task.y), process_time()
            crf = new_crf(name, alpha, loss, options.epochs)
            crf.fit(task.X, task.y)
            seconds = f"{process_time() - begin:.1f}"
            watched = clone(crf).set_callbacks(DualityGapMonitor())
            watched.fit(task.X, task.y)
            epochs = [epochs_to(watched, level) for level in LEVELS]
            found = measured(crf, test)
            print(row.format(name, loss, *epochs, seconds, *found), flush=True)


if __name__ == "__main__":
    main()
