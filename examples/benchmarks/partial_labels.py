"""Compare ways to train on CoNLL-2000 where most labels are not known, by span F1.

    python examples/benchmarks/partial_labels.py [--first 2000] [--epochs 200] [--quick]

Labels of the training sentences are hidden at random, 50 % and 80 % of them. Then
SDCACRF is trained on the labels that are left, with None elsewhere ("partial"); with
"O" in the place of hidden labels ("as O"); and on as many labels in whole sentences,
the first ones ("sentences"). All labels give the upper end ("all"). For "partial", the
objective is printed at the end of each of the convex problems. The corpus is read from
the folder SKCRF_SDCA_DATA or downloaded; tasks.py makes the features.
"""

import argparse

import numpy as np
from quiet_fits import fitted

from skcrf_sdca import SDCACRF
from skcrf_sdca.features.vectorizer import SequenceVectorizer
from skcrf_sdca.metrics import span_f1_score
from tasks import TEXTS

SHARES = (0.5, 0.8)
QUICK = {"first": 100, "epochs": 20}
COLUMNS = "{:>7} {:<10}{:>9}{:>8}{:>10}{:>8}"


def hide(y, share, filler, rng):
    """Return labels with a share of them replaced by a filler, at random."""
    return [
        [filler if rng.random() < share else label for label in labels] for labels in y
    ]


def whole_sentences(y, share):
    """Return how many of the first sentences have the share of labels not hidden."""
    n_labels = np.cumsum([len(labels) for labels in y])
    return max(int(np.searchsorted(n_labels, (1.0 - share) * n_labels[-1])), 1)


def ways(y, share):
    """Return labels of the first sentences for each way to train."""
    return {
        "partial": hide(y, share, None, np.random.default_rng(0)),
        "as O": hide(y, share, "O", np.random.default_rng(0)),
        "sentences": y[: whole_sentences(y, share)],
    }


def fit(X, y, epochs):
    """Return the estimator fitted to the sentences that have labels in y."""
    crf = SDCACRF(max_iter=epochs, random_state=0)
    return fitted(crf, X[: len(y)], y)


def print_objectives(history):
    """Print the objective at the end of each convex problem."""
    ends = np.append(np.flatnonzero(np.diff(history["outer"])), -1)
    values = [f"{value:.4f}" for value in history["primal"][ends]]
    print(f"{'':8}P by convex problem: {' '.join(values)}", flush=True)


def main():
    """Train in all ways."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--first", type=int, help="training sentences (all)")
    parser.add_argument("--epochs", type=int, default=200)
    parser.add_argument("--quick", action="store_true", help="a trial on few sentences")
    options = parser.parse_args()
    if options.quick:
        vars(options).update(QUICK)
    read, test, features = TEXTS["conll2000"]
    sentences, y = (part[: options.first] for part in read(subset="train"))
    X_test, y_test = read(subset=test)
    vectorizer = SequenceVectorizer()
    X = vectorizer.fit_transform(features.transform(sentences))
    X_test = vectorizer.transform(features.transform(X_test))
    print(COLUMNS.format("hidden", "training", "epochs", "outer", "P", "F1"))
    trials = [(share, *way) for share in SHARES for way in ways(y, share).items()]
    for share, name, labels in [(0.0, "all", y), *trials]:
        crf = fit(X, labels, options.epochs)
        outer = crf.history_.get("outer")
        print(
            COLUMNS.format(
                f"{share:.0%}",
                name,
                crf.n_iter_,
                "" if outer is None else int(outer[-1]),
                f"{crf.primal_objective_:.4f}",
                f"{span_f1_score(y_test, crf.predict(X_test)):.4f}",
            ),
            flush=True,
        )
        if outer is not None:
            print_objectives(crf.history_)


if __name__ == "__main__":
    main()
