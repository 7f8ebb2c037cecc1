"""Measure fits that start from weights learned online, see `init` of fit.

Epochs and processor seconds to a gap of 0.1 % of P, from packed data. The seconds of
the online epochs are in the column "first", and are to be added.

    python examples/benchmarks/online_init.py [--task ned] [--lbfgs]

needs the corpora in the folder SKCRF_SDCA_DATA or downloaded.
"""

import argparse
import warnings
from time import process_time

from sklearn.exceptions import ConvergenceWarning

from skcrf_sdca import (
    LBFGSCRF,
    OEGCRF,
    SDCACRF,
    SGDCRF,
    PassiveAggressiveCRF,
    SequenceVectorizer,
)
from tasks import TEXTS

TASKS = "ned", "conll2000"
FIRST = {
    "": None,
    "log_loss, 1 epoch": PassiveAggressiveCRF(max_iter=1, random_state=0),
    "log_loss, 3 epochs": PassiveAggressiveCRF(max_iter=3, random_state=0),
    "perceptron, 1 epoch": PassiveAggressiveCRF(
        loss="perceptron", max_iter=1, random_state=0
    ),
    "perceptron, 3 epochs": PassiveAggressiveCRF(
        loss="perceptron", max_iter=3, random_state=0
    ),
    "SGDCRF, 2 epochs": SGDCRF(method="sgd", max_iter=2, tol=0.0, random_state=0),
}
ROW = "{:11}{:10}{:22}{:>7}{:>8}{:>8}"


def seconds_of(crf, *data, **arguments):
    """Return the processor seconds of a fit."""
    begin = process_time()
    crf.fit(*data, **arguments)
    return process_time() - begin


def measure(name, solvers):
    """Print the rows of a task."""
    read, _, features = TEXTS[name]
    X, y = read(subset="train")
    packed = SequenceVectorizer().fit_transform(features.transform(X))
    for title, init in FIRST.items():
        first = 0.0 if init is None else seconds_of(init, packed, y)
        for crf in solvers:
            seconds = seconds_of(crf, packed, y, init=init)
            row = crf.n_iter_, f"{first:.2f}", f"{seconds:.2f}"
            print(ROW.format(name, type(crf).__name__, title, *row), flush=True)


def main():
    """Measure the requested tasks."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--task", choices=TASKS, action="append")
    parser.add_argument("--lbfgs", action="store_true", help="LBFGSCRF instead")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore", ConvergenceWarning)
    solvers = SDCACRF(random_state=0), OEGCRF(random_state=0)
    if arguments.lbfgs:
        solvers = (LBFGSCRF(max_iter=1000),)
    print(ROW.format("task", "solver", "init", "epochs", "first", "fit"))
    for name in arguments.task or TASKS:
        measure(name, solvers)


if __name__ == "__main__":
    main()
