"""Compare losses of few labellings with the log loss: epochs, test score, support.

    python examples/benchmarks/sparse_losses.py [--task ned] [--first 2000]

Each loss is fitted by SDCACRF with alpha = N_ALPHA / n to a gap of 1e-3 P(w), or until
the epochs end. The table has the epochs to gaps of 1e-2 and 1e-3 P(w), seconds, the F1
of spans on the test data (of letters and tags the accuracy), and, of the probabilities
of labels there, the share of zeros, the Brier score, and the expected calibration error
of the most probable label in ten bins of equal width, in percent; and the mean number
of labellings of a sentence that have a probability. Seconds are valid only if the
machine had no other work.

The corpora are read from the folder SKCRF_SDCA_DATA or downloaded; tasks.py
makes the features.
"""

import argparse
import warnings
from time import process_time

import numpy as np
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from skcrf_sdca import SDCACRF, DualityGapMonitor
from skcrf_sdca.metrics import span_f1_score
from tasks import WITH_SPANS, load_split

LOSSES = ("log_loss", "softmax_margin", "hinge", "sparsemap", "smooth_hinge")
LEVELS = (1e-2, 1e-3)
TASKS = (*WITH_SPANS, "ocr", "wsj")
N_BINS = 10


def epochs_to(crf, level):
    """Return the first epoch with a gap of level * P(w), "-" if there is none."""
    reached = crf.history_["gap"] <= level * crf.history_["primal"]
    return str(crf.history_["epoch"][reached.argmax()]) if reached.any() else "-"


def calibration(proba, is_right):
    """Return the Brier score, and the expected calibration error, in percent.

    ``is_right`` is of the shape of ``proba``; no label is right where it is unknown.
    """
    brier = np.square(proba - is_right).sum(axis=1).mean()
    largest = proba.max(axis=1)
    excess = largest - is_right[np.arange(len(proba)), proba.argmax(axis=1)]
    bins = np.minimum(largest * N_BINS, N_BINS - 1).astype(int)
    return 100.0 * brier, 100.0 * np.abs(np.bincount(bins, excess)).sum() / len(proba)


def of_probabilities(crf, test):
    """Return the share of zeros, Brier score and calibration error, as texts."""
    proba = np.concatenate(crf.predict_proba(test.X))
    is_right = np.concatenate(test.y)[:, np.newaxis] == crf.classes_
    brier, error = calibration(proba, is_right)
    return f"{100.0 * np.mean(proba == 0.0):.1f}", f"{brier:.2f}", f"{error:.2f}"


def measured(crf, test):
    """Return the test score, what `of_probabilities` does, and the mean support."""
    score = crf.score(test.X, test.y)
    if test.spans:
        score = span_f1_score(test.y, crf.predict(test.X))
    own, support = ("-", "-", "-"), "-"
    if hasattr(crf, "predict_proba"):
        own = of_probabilities(crf, test)
    if hasattr(crf, "support"):
        support = f"{np.mean([len(own) for own in crf.support(test.X)]):.1f}"
    return f"{100.0 * score:.2f}", *own, support


def main():
    """Print the table of the requested tasks."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--task", choices=TASKS, action="append")
    parser.add_argument("--first", type=int, help="training and test sentences (all)")
    parser.add_argument("--epochs", type=int, default=100)
    parser.add_argument("--n-alpha", type=float, default=1.0)
    options = parser.parse_args()
    # The table says where a gap was not reached.
    warnings.simplefilter("ignore", ConvergenceWarning)
    row = "{:10} {:15} {:>6} {:>6} {:>8} {:>7} {:>7} {:>7} {:>7} {:>8}"
    of_test = "test", "zeros", "brier", "ece", "support"
    print(row.format("task", "loss", "1e-2", "1e-3", "s", *of_test))
    for name in options.task or TASKS:
        task, test = load_split(name, options.first)
        for loss in LOSSES:
            alpha, begin = options.n_alpha / len(task.y), process_time()
            crf = SDCACRF(alpha, loss=loss, max_iter=options.epochs, random_state=0)
            crf.fit(task.X, task.y)
            seconds = f"{process_time() - begin:.1f}"
            watched = clone(crf).set_callbacks(DualityGapMonitor())
            watched.fit(task.X, task.y)
            epochs = [epochs_to(watched, level) for level in LEVELS]
            found = measured(crf, test)
            print(row.format(name, loss, *epochs, seconds, *found), flush=True)


if __name__ == "__main__":
    main()
