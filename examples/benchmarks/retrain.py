"""Measure the fit of a tagger to more sentences, cold and from the last model.

Processor seconds, medians of three, templates included, and epochs; see `init` of fit.

    python examples/benchmarks/retrain.py [--task ned] [--known 7000]

needs the corpora in the folder SKCRF_SDCA_DATA or downloaded.
"""

import argparse
from statistics import median
from time import process_time

from skcrf_sdca import CRF, make_tagger
from skcrf_sdca.datasets import fetch_conll2000, fetch_conll2002
from skcrf_sdca.text import TokenFeatures

CORPORA = {"ned": fetch_conll2002, "conll2000": fetch_conll2000}
NEW = 500, 50, 0
ROW = "{:12}{:>8}{:>8}{:>8}{:>10}{:>10}"


def fitted(X, y, **arguments):
    """Return a fitted tagger and the processor seconds of its fit."""
    tagger = make_tagger(TokenFeatures(), CRF(random_state=0))
    begin = process_time()
    tagger.fit(X, y, **arguments)
    return tagger, process_time() - begin


def measure(name, n_known):
    """Print the rows of a corpus."""
    X, y = CORPORA[name](subset="train", return_X_y=True)
    X = [[token["word"] for token in sentence] for sentence in X]
    last, _ = fitted(X[:n_known], y[:n_known])
    for n_new in NEW:
        data = X[: n_known + n_new], y[: n_known + n_new]
        for title, arguments in {"cold": {}, "init": {"init": last}}.items():
            fits = [fitted(*data, **arguments) for _ in range(3)]
            tagger, seconds = fits[0][0], median(seconds for _, seconds in fits)
            row = name, n_new, tagger.solver_, title, tagger.n_iter_, f"{seconds:.2f}"
            print(ROW.format(*row), flush=True)


def main():
    """Measure the requested corpora."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--task", choices=CORPORA, action="append")
    parser.add_argument("--known", type=int, default=7000, metavar="N")
    arguments = parser.parse_args()
    print(ROW.format("corpus", "new", "solver", "start", "epochs", "seconds"))
    for name in arguments.task or CORPORA:
        measure(name, arguments.known)


if __name__ == "__main__":
    main()
