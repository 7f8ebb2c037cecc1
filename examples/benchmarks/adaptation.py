"""Measure how models of one domain are adapted to another, see `prior` of fit.

    "lowercase"   names in Dutch news; the target is the same without capitals, as
                  speech recognition and chats write
    "tags"        part-of-speech tags that a tagger of 1995 has given to the text of
                  CoNLL-2000; the target has the tags of the Penn Treebank

The target has 50 to 500 sentences. The models are of the source alone, of the target
alone, of both joined, of both with the same weight, and of the target with the model of
the source as prior; all have the default alpha, 1 over the sum of the weights. The
seconds of fit are processor seconds, from strings.

    python examples/benchmarks/adaptation.py [--task lowercase]

needs the corpora in the folder SKCRF_SDCA_DATA; it downloads the Dutch ones.
"""

import argparse
import warnings
from time import process_time

from sklearn.exceptions import ConvergenceWarning

from skcrf_sdca import SDCACRF
from skcrf_sdca.datasets import fetch_conll2000, fetch_conll2002
from skcrf_sdca.metrics import flat_accuracy_score, span_f1_score
from tasks import ENTITY_FEATURES, TAG_FEATURES, read_wsj

SIZES = 50, 100, 200, 500
ROW = "{:11}{:>5}  {:18}{:>8}{:>9}"


def lowercase():
    """Return source, target, test set, features and score of the names."""
    X, y = fetch_conll2002(subset="train", return_X_y=True)
    test, y_test = fetch_conll2002(subset="testb", return_X_y=True)
    # Neighbours are of one article: the target is the end of the file.
    last = len(X) - max(SIZES)
    target = _without_capitals(X[last:]), y[last:]
    held_out = _without_capitals(test), y_test
    return (X[:last], y[:last]), target, held_out, ENTITY_FEATURES, span_f1_score


def _without_capitals(X):
    return [[{**token, "word": token["word"].lower()} for token in x] for x in X]


def tags():
    """Return source, target, test set, features and score of part-of-speech tags."""
    X, _ = fetch_conll2000(subset="train", return_X_y=True)
    y = [[token["pos"] for token in x] for x in X]
    X = [[{"word": token["word"]} for token in x] for x in X]
    target = [part[: max(SIZES)] for part in read_wsj("train")]
    return (X, y), target, read_wsj("test"), TAG_FEATURES, flat_accuracy_score


TASKS = {"lowercase": lowercase, "tags": tags}


def measure(name):
    """Print the rows of a task."""
    (X, y), (X_target, y_target), (X_test, y_test), features, score = TASKS[name]()
    X, X_target, X_test = map(features.transform, (X, X_target, X_test))

    def report(size, title, *data, **options):
        crf, begin = SDCACRF(random_state=0), process_time()
        crf.fit(*data, **options)
        seconds = process_time() - begin
        percent = 100.0 * score(y_test, crf.predict(X_test))
        print(
            ROW.format(name, size, title, f"{percent:.2f}", f"{seconds:.2f}"),
            flush=True,
        )
        return crf

    source = report(0, "source", X, y)
    for size in SIZES:
        new, labels = X_target[:size], y_target[:size]
        report(size, "target", new, labels)
        report(size, "joined", X + new, y + labels)
        # As if the target had as many sentences as the source.
        weight = [1.0] * len(X) + [len(X) / size] * size
        report(size, "joined, weighted", X + new, y + labels, sample_weight=weight)
        report(size, "prior", new, labels, prior=source)


def main():
    """Measure the requested tasks."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--task", choices=TASKS, action="append")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore", ConvergenceWarning)
    print(ROW.format("task", "n", "model", "score", "seconds"))
    for name in arguments.task or TASKS:
        measure(name)


if __name__ == "__main__":
    main()
