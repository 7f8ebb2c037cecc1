"""Measure the fit of a tagger to more sentences, cold and from the last model.

The table has epochs and processor seconds, medians of three fits, and the shares of the
features, of what comes before the first epoch, and of the epochs with their
certificates, by the clock. The last column is the objective of the last model on all
sentences above the optimum.

    python examples/benchmarks/retrain.py [--task ned] [--known 7000]

needs the corpora in the folder SKCRF_SDCA_DATA or downloaded.
"""

import argparse
from statistics import median
from time import perf_counter, process_time

import numpy as np

from skcrf_sdca import CRF
from skcrf_sdca.datasets import fetch_conll2000, fetch_conll2002
from skcrf_sdca.text import TokenFeatures

CORPORA = {"ned": fetch_conll2002, "conll2000": fetch_conll2000}
NEW = 500, 50, 0
ROUNDS = 3
ROW = "{:12}{:>6}{:>7}{:>7}{:>8}{:>9}{:>11}{:>8}{:>9}{:>9}"
TITLES = "corpus new solver start epochs seconds features before epochs above"


def fitted(sentences, y, **arguments):
    """Return an estimator, its X, its processor seconds and the shares of its parts."""
    begin, marks = process_time(), [perf_counter()]
    X = TokenFeatures().fit_transform(sentences)
    marks.append(perf_counter())
    crf = CRF(random_state=0).fit(X, y, **arguments)
    marks.append(perf_counter())
    features, fit = np.diff(marks)
    epochs = crf.history_["seconds"][-1]
    shares = np.array([features, fit - epochs, epochs]) / (features + fit)
    return crf, X, process_time() - begin, shares


def above(last, crf, X, y):
    """Return how far the objective of the last model is above that of an estimator."""
    blocks = "coef_", "intercept_", "start_", "end_", "transition_"
    squares = sum(np.sum(getattr(last, name) ** 2) for name in blocks)
    loss = -np.mean(last.log_likelihood(X, y))
    return (0.5 * crf.alpha_ * squares + loss) / crf.primal_objective_ - 1.0


def measure(name, n_known):
    """Print the rows of a corpus."""
    X, y = CORPORA[name](subset="train", return_X_y=True)
    X = [[token["word"] for token in sentence] for sentence in X]
    last = fitted(X[:n_known], y[:n_known])[0]
    for n_new in NEW:
        n = n_known + n_new
        for title, arguments in {"cold": {}, "init": {"init": last}}.items():
            fits = [fitted(X[:n], y[:n], **arguments) for _ in range(ROUNDS)]
            crf, X_features = fits[0][:2]
            seconds = median(fit[2] for fit in fits)
            shares = np.median([fit[3] for fit in fits], axis=0)
            figures = crf.n_iter_, f"{seconds:.2f}", *(f"{s:.0%}" for s in shares)
            far = f"{above(last, crf, X_features, y[:n]):.1%}"
            print(
                ROW.format(name, n_new, crf.solver_, title, *figures, far), flush=True
            )


def main():
    """Measure the requested corpora."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--task", choices=CORPORA, action="append")
    parser.add_argument("--known", type=int, default=7000, metavar="N")
    arguments = parser.parse_args()
    print(ROW.format(*TITLES.split()))
    for name in arguments.task or CORPORA:
        measure(name, arguments.known)


if __name__ == "__main__":
    main()
