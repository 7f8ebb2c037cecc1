"""Compare with sklearn-crfsuite as its tutorial runs it: 100 iterations, c1 = c2 = 0.1.

For the Dutch names of CoNLL-2002 with the features of the tutorial, dicts in and a
saved model out, the table has the seconds of the processor and F1 of the spans of the
test data "testa": of sklearn-crfsuite, of `compat.CRF` with the same parameters to its
certificate, and of its first epoch whose F1 is not below the one of sklearn-crfsuite.
Both tools run with weights for observed pairs of feature and label, and for all.

    python examples/benchmarks/as_people_run.py [--iterations 100] [--first 1000]

needs sklearn-crfsuite; the corpus is read from the folder SKCRF_SDCA_DATA or
downloaded. The features are made before the clock starts.
"""

import argparse
import sys
import tempfile
import warnings
from pathlib import Path
from time import process_time

import sklearn_crfsuite
from sklearn.exceptions import ConvergenceWarning

import tables
from skcrf_sdca import save_model
from skcrf_sdca.compat import CRF
from skcrf_sdca.datasets import fetch_conll2002
from skcrf_sdca.metrics import span_f1_score

sys.path.append(str(Path(__file__).resolve().parents[1] / "text"))

MOST_EPOCHS = 20


def load(subset, first):
    """Return the features of the tutorial, and the labels."""
    from crfsuite_tutorial import token_features

    X, y = fetch_conll2002(language="nl", subset=subset, return_X_y=True)
    X = [[token_features(s, i) for i in range(len(s))] for s in X[:first]]
    return X, [list(map(str, labels)) for labels in y[:first]]


def of_crfsuite(train, test, options):
    """Return the seconds and the F1 of sklearn-crfsuite."""
    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder) / "model")
        start = process_time()
        crf = sklearn_crfsuite.CRF(model_filename=path, **options).fit(*train)
        seconds = process_time() - start
        return seconds, span_f1_score(test[1], list(crf.predict(test[0])))


def of_this_package(train, test, options):
    """Return the seconds, the F1 and the epochs of `compat.CRF`."""
    with tempfile.TemporaryDirectory() as folder:
        start = process_time()
        crf = CRF(random_state=0, **options).fit(*train)
        save_model(crf, Path(folder) / "model")
        seconds = process_time() - start
    f1 = span_f1_score(test[1], crf.predict(test[0]))
    return seconds, f1, crf.estimator_.n_iter_


def main():
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--iterations", type=int, default=100)
    parser.add_argument("--first", type=int, help="sentences of both sets (all)")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore", ConvergenceWarning)
    train, test = (load(subset, arguments.first) for subset in ("train", "testa"))
    rows = [["pairs", "way", "epochs", "seconds", "ratio", "F1"]]
    for states in (False, True):
        options = {"c1": 0.1, "c2": 0.1, "all_possible_states": states}
        n = arguments.iterations
        anchor, goal = of_crfsuite(train, test, {**options, "max_iterations": n})
        found = [("sklearn-crfsuite", n, anchor, goal)]
        for epochs in range(1, MOST_EPOCHS + 1):
            seconds, f1, _ = of_this_package(
                train, test, {**options, "max_iterations": epochs}
            )
            if f1 >= goal:
                found.append(("first as good", epochs, seconds, f1))
                break
        seconds, f1, epochs = of_this_package(train, test, options)
        found.append(("certificate", epochs, seconds, f1))
        for way, epochs, seconds, f1 in found:
            name = "all" if states else "observed"
            figures = f"{seconds:.2f}", f"{anchor / seconds:.1f}", f"{f1:.4f}"
            rows.append([name, way, str(epochs), *figures])
            print(*rows[-1], flush=True)
    tables.show(rows)


if __name__ == "__main__":
    main()
