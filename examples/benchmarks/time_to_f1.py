"""Compare the time until span F1 is near its value at the optimum, also of CRFsuite.

The level is the F1 on the test data of SDCACRF at a gap of 1e-4, less 0.3 points. Each
method is fitted anew with 1, 2, 3 ... epochs, or iterations of "lbfgs", until it
reaches the level. The seconds are processor seconds of all of that fit from packed
data, and in CRFsuite of its training after all sequences were appended. A
last row has one pass of `partial_fit` over chunks of 100 sentences, and its F1.

    python examples/benchmarks/time_to_f1.py [--task conll2000] [--method pa] [--quick]

needs python-crfsuite, and the corpora in the folder SKCRF_SDCA_DATA or downloaded.
"""

import argparse
import tempfile
import warnings
from functools import partial
from pathlib import Path
from time import process_time

import pycrfsuite
from sklearn.exceptions import ConvergenceWarning

from skcrf_sdca import OEGCRF, SDCACRF, SGDCRF, PassiveAggressiveCRF, SequenceVectorizer
from skcrf_sdca.metrics import span_f1_score
from tasks import TEXTS, WITH_SPANS

MARGIN = 0.003
EPOCHS = 1, 2, 3, 4, 5, 6, 8, 10, 15, 20, 30, 40, 60, 80, 100
# Processor seconds after which no more epochs are made.
PATIENCE = 60.0
CHUNK = 100
QUICK = 150
OURS = {
    "SDCACRF": (SDCACRF, {}),
    "OEGCRF": (OEGCRF, {}),
    **{
        f"PassiveAggressiveCRF, {loss}": (PassiveAggressiveCRF, {"loss": loss})
        for loss in ("hinge", "log_loss", "perceptron")
    },
    **{f"SGDCRF, {m}": (SGDCRF, {"method": m}) for m in ("sgd", "asgd", "adagrad")},
}
STREAM = PassiveAggressiveCRF, {"shuffle": False}
THEIRS = "ap", "pa", "arow", "l2sgd", "lbfgs"
ROW = "{:10}{:34}{:>7}{:>10}{:>10}"


class Data:
    """Sentences of a task, as lists of strings and packed."""

    def __init__(self, name, first):
        read, test, features = TEXTS[name]
        X, y = read(subset="train")
        X_test, self.y_test = read(subset=test)
        self.name, self.y = name, y[:first]
        self.X, self.X_test = map(features.transform, (X[:first], X_test))
        vectorizer = SequenceVectorizer()
        self.packed = vectorizer.fit_transform(self.X)
        self.packed_test = vectorizer.transform(self.X_test)

    def f1(self, predicted):
        """Return the span F1 of predictions for the test data."""
        return span_f1_score(self.y_test, predicted, zero_division=0.0)


def fitted(data, estimator, parameters, n_epochs):
    """Return processor seconds and F1 of a fit of some epochs."""
    crf = estimator(**parameters, max_iter=n_epochs, random_state=0)
    begin = process_time()
    crf.fit(data.packed, data.y)
    return process_time() - begin, data.f1(crf.predict(data.packed_test))


def streamed(data):
    """Return processor seconds and F1 of one pass over chunks."""
    crf = PassiveAggressiveCRF()
    classes = sorted({label for labels in data.y for label in labels})
    begin = process_time()
    for first in range(0, len(data.y), CHUNK):
        chunk = slice(first, first + CHUNK)
        crf.partial_fit(data.packed[chunk], data.y[chunk], classes)
    return process_time() - begin, data.f1(crf.predict(data.packed_test))


def trained(data, trainer, algorithm, n_epochs):
    """Return processor seconds and F1 of CRFsuite."""
    trainer.select(algorithm)
    trainer.set_params({"max_iterations": n_epochs})
    tagger = pycrfsuite.Tagger()
    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder) / "model.crfsuite")
        begin = process_time()
        trainer.train(path)
        seconds = process_time() - begin
        tagger.open(path)
    return seconds, data.f1(list(map(tagger.tag, data.X_test)))


def until(level, run):
    """Return the epochs, seconds and F1 of the first run at a level, or of the last."""
    for n_epochs in EPOCHS:
        seconds, f1 = run(n_epochs)
        if f1 >= level or seconds >= PATIENCE:
            break
    return n_epochs, seconds, f1


def measure(name, first, only):
    """Print the rows of a task, of all methods or of those whose title ends so."""
    data = Data(name, first)
    exact = SDCACRF(tol=1e-4, max_iter=1000, random_state=0)
    level = data.f1(exact.fit(data.packed, data.y).predict(data.packed_test)) - MARGIN
    print(ROW.format(name, "level", "", "", f"{100 * level:.2f}"), flush=True)
    runs = {name: partial(fitted, data, *method) for name, method in OURS.items()}
    trainer = pycrfsuite.Trainer(verbose=False)
    for items, labels in zip(data.X, data.y, strict=True):
        trainer.append(items, labels)
    runs |= {
        f"CRFsuite {name}": partial(trained, data, trainer, name) for name in THEIRS
    }
    for title, run in runs.items():
        if only and not title.endswith(tuple(only)):
            continue
        n_epochs, seconds, f1 = until(level, run)
        reached = "" if f1 >= level else ">"
        row = n_epochs, f"{reached}{seconds:.2f}", f"{100 * f1:.2f}"
        print(ROW.format(name, title, *row), flush=True)
    for title, run in {
        f"partial_fit, chunks of {CHUNK}": partial(streamed, data),
        "the same in one epoch of fit": partial(fitted, data, *STREAM, 1),
    }.items():
        seconds, f1 = run()
        row = 1, f"{seconds:.2f}", f"{100 * f1:.2f}"
        print(ROW.format(name, title, *row), flush=True)


def main():
    """Measure the requested tasks."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--task", choices=WITH_SPANS, action="append")
    parser.add_argument("--method", action="append", help="the end of a title")
    parser.add_argument("--quick", action="store_true", help="a trial on little data")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore", ConvergenceWarning)
    print(ROW.format("task", "method", "epochs", "seconds", "F1"))
    for name in arguments.task or WITH_SPANS:
        measure(name, QUICK if arguments.quick else None, arguments.method)


if __name__ == "__main__":
    main()
