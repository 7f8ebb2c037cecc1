"""Compare the seconds of an SDCA epoch and of an L-BFGS iteration of CRFsuite.

Both use the same packed features, the same objective and the same weights
(crfsuite.py), with one thread, in turns in the same run. The table has medians over the
epochs and iterations of each round.

    python examples/benchmarks/epoch_vs_crfsuite.py [--task conll2000] [--rounds 3]

needs python-crfsuite and the folder of corpora in SKCRF_SDCA_DATA.
"""

import argparse
import warnings

import numpy as np
from sklearn.exceptions import ConvergenceWarning

import crfsuite
import packed
import tasks
from skcrf_sdca import SDCACRF


def crfsuite_seconds(task, n_iterations):
    """Return the seconds of all iterations but the first, which includes the set-up."""
    training = crfsuite.train(tasks.problem(task), "lbfgs", n_iterations)
    return training.seconds[1:]


def sdca_seconds(task, n_epochs):
    """Return the seconds of every epoch."""
    crf = SDCACRF(alpha=task.alpha, max_iter=n_epochs, tol=0.0, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        crf.fit(task.X, task.y)
    return np.diff(crf.history_["seconds"], prepend=0.0)


def main():
    """Measure in turns and print a table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--task", choices=packed.NAMES, default="conll2000")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--epochs", type=int, default=8)
    arguments = parser.parse_args()
    task = packed.load(arguments.task)
    print(f"{'round':>5s}{'SDCA s':>10s}{'CRFsuite s':>12s}{'ratio':>8s}")
    ratios = []
    for number in range(arguments.rounds):
        theirs = np.median(crfsuite_seconds(task, arguments.epochs))
        ours = np.median(sdca_seconds(task, arguments.epochs))
        ratios.append(ours / theirs)
        print(f"{number + 1:5d}{ours:10.3f}{theirs:12.3f}{ratios[-1]:8.2f}", flush=True)
    print(f"median ratio: {np.median(ratios):.2f}")


if __name__ == "__main__":
    main()
