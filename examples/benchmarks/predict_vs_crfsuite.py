"""Compare the tokens per second of prediction with python-crfsuite, on CoNLL-2000.

Both models are trained for a short time on the same lists of feature strings, from
handwritten.py. They predict the same test sentences, in turns in the same run. The
table has medians over the rounds, of the seconds of the processor, or of the wall where
there are two threads. Both predict from the lists. Ours also predicts from
PackedSequences, that is, without the time of `SequenceVectorizer.transform`, with one
and two threads. The last column is the ratio to `Tagger.tag`; for probabilities, it is
the ratio to `Tagger.marginal` of every label.

    python examples/benchmarks/predict_vs_crfsuite.py [--rounds 5]

needs python-crfsuite and the data of CoNLL-2000, in the folder SKCRF_SDCA_DATA or
downloaded.
"""

import argparse
import tempfile
from pathlib import Path
from time import perf_counter, process_time

import numpy as np
import pycrfsuite
from quiet_fits import fitted

from handwritten import chunk_features
from skcrf_sdca import SDCACRF
from skcrf_sdca.datasets import fetch_conll2000
from skcrf_sdca.metrics import flat_accuracy_score


def crfsuite_tagger(X, y, n_iterations, path=None):
    """Return a tagger trained with the defaults of CRFsuite; keep its file if asked."""
    trainer = pycrfsuite.Trainer(verbose=False)
    trainer.select("lbfgs")
    trainer.set_params({"max_iterations": n_iterations})
    for items, labels in zip(X, y, strict=True):
        trainer.append(items, labels)
    tagger = pycrfsuite.Tagger()
    with tempfile.TemporaryDirectory() as folder:
        path = path or str(Path(folder) / "model.crfsuite")
        trainer.train(path)
        tagger.open(path)
    return tagger


def trained_sdca(X, y, n_epochs):
    """Return an estimator after some epochs."""
    return fitted(SDCACRF(max_iter=n_epochs, random_state=0), X, y)


def tag_probabilities(tagger, X):
    """Return the probabilities of all labels at all positions, by CRFsuite."""
    labels = tagger.labels()
    proba = []
    for items in X:
        tagger.set(items)
        proba.append(
            [[tagger.marginal(k, t) for k in labels] for t in range(len(items))]
        )
    return proba


def predictions(tagger, crf, X, repeats):
    """Return {name: (function, passes over X)} of the functions to measure."""
    packed = crf.vectorizer_.transform(X)
    repeated = packed[np.tile(np.arange(len(X)), repeats)]

    def on_threads(method, n_jobs):
        def run():
            crf.n_jobs = n_jobs
            return method(repeated)

        return run, repeats

    return {
        "Tagger.tag, lists": (lambda: [tagger.tag(items) for items in X], 1),
        "predict, lists": (lambda: crf.predict(X), 1),
        "  of that transform": (lambda: crf.vectorizer_.transform(X), 1),
        "predict, packed, 1 thread": on_threads(crf.predict, 1),
        "predict, packed, 2 threads": on_threads(crf.predict, 2),
        "Tagger.marginal, lists": (lambda: tag_probabilities(tagger, X), 1),
        "predict_proba, lists": (lambda: crf.predict_proba(X), 1),
        "predict_proba, packed, 1 thread": on_threads(crf.predict_proba, 1),
        "predict_proba, packed, 2 threads": on_threads(crf.predict_proba, 2),
    }


def measure(functions, n_rounds):
    """Return the seconds of one pass over X of each function, (rounds, functions)."""
    seconds = np.empty((n_rounds, len(functions)))
    for row in seconds:
        for column, (name, (function, repeats)) in enumerate(functions.items()):
            clock = perf_counter if name.endswith("threads") else process_time
            start = clock()
            function()
            row[column] = (clock() - start) / repeats
    return seconds


def print_table(names, seconds, n_tokens):
    """Print medians, and the median over the rounds of the ratio to CRFsuite."""
    print(f"{'':34s}{'tokens/s':>12s}{'ms':>9s}{'ratio':>8s}")
    peer = None
    for column, name in enumerate(names):
        peer = column if name.startswith("Tagger") else peer
        median = np.median(seconds[:, column])
        ratio = np.median(seconds[:, peer] / seconds[:, column])
        print(f"{name:34s}{n_tokens / median:12,.0f}{1e3 * median:9.1f}{ratio:8.1f}")


def main():
    """Train both, measure in turns and print a table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--sentences", type=int, default=4000, help="to train on")
    parser.add_argument("--iterations", type=int, default=30, help="of CRFsuite")
    parser.add_argument("--epochs", type=int, default=5, help="of SDCACRF")
    parser.add_argument("--repeats", type=int, default=20, help="of X, if packed")
    arguments = parser.parse_args()
    sentences, y = fetch_conll2000(return_X_y=True)
    sentences, y = sentences[: arguments.sentences], y[: arguments.sentences]
    test, y_test = fetch_conll2000(subset="test", return_X_y=True)
    X, X_test = ([chunk_features(s) for s in part] for part in (sentences, test))
    tagger = crfsuite_tagger(X, y, arguments.iterations)
    crf = trained_sdca(X, y, arguments.epochs)
    functions = predictions(tagger, crf, X_test, arguments.repeats)
    for name in ("Tagger.tag, lists", "predict, lists"):
        accuracy = flat_accuracy_score(y_test, functions[name][0]())
        print(f"{name}: accuracy {accuracy:.4f}")
    seconds = measure(functions, arguments.rounds)
    print_table(functions, seconds, sum(map(len, X_test)))


if __name__ == "__main__":
    main()
