"""Seconds of one SDCA epoch beside one L-BFGS iteration of CRFsuite.

Both on the same packed features, the same objective (but for the bias, start and end
weights, which CRFsuite does not have here), one thread, in the same run and in turns:
medians over the epochs and iterations of each round.

    python examples/benchmarks/epoch_vs_crfsuite.py [--task conll2000] [--rounds 3]

needs python-crfsuite and the folder of corpora in SKCRF_SDCA_DATA.
"""

import argparse
import tempfile
import warnings
from pathlib import Path

import numpy as np
import pycrfsuite
from sklearn.exceptions import ConvergenceWarning

import packed
from skcrf_sdca import SDCACRF


def crfsuite_trainer(task, n_iterations):
    """Return a trainer that holds the data of a task."""
    X = task.X.X
    names = [str(j) for j in range(X.shape[1])]
    trainer = pycrfsuite.Trainer(verbose=False)
    trainer.select("lbfgs")
    trainer.set_params(
        {
            "c1": 0.0,
            "c2": len(task.X) * task.alpha / 2,
            "max_iterations": n_iterations,
            "feature.possible_states": 1,
            "feature.possible_transitions": 1,
        }
    )
    for i, labels in enumerate(task.y):
        rows = range(task.X.offsets[i], task.X.offsets[i + 1])
        items = [
            [names[j] for j in X.indices[X.indptr[t] : X.indptr[t + 1]]] for t in rows
        ]
        trainer.append(items, [str(label) for label in labels])
    return trainer


def crfsuite_seconds(trainer):
    """Return the seconds of every iteration but the first, which sets things up."""
    with tempfile.TemporaryDirectory() as folder:
        trainer.train(str(Path(folder) / "model.crfsuite"))
    return [iteration["time"] for iteration in trainer.logparser.iterations[1:]]


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
        trainer = crfsuite_trainer(task, arguments.epochs)
        theirs = np.median(crfsuite_seconds(trainer))
        del trainer
        ours = np.median(sdca_seconds(task, arguments.epochs))
        ratios.append(ours / theirs)
        print(f"{number + 1:5d}{ours:10.3f}{theirs:12.3f}{ratios[-1]:8.2f}", flush=True)
    print(f"median ratio: {np.median(ratios):.2f}")


if __name__ == "__main__":
    main()
