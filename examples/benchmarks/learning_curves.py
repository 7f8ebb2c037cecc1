"""Draw [Martins10] figure 3: span F1 on test data by passes and by seconds.

Online learning by DCA (the log loss), MIRA (the hinge) and the perceptron, beside
stochastic gradient descent (SG), SDCA and L-BFGS. SG has the calibrated step size, or
one that is ten times as long (10 SG) or as short (SG / 10). Passes are
marginalisations, or best labellings, over the number of sequences. The seconds
cover the solver, without the predictions for the test data.

    python examples/benchmarks/learning_curves.py [--task ned] [--quick]

needs matplotlib, and the corpora in the folder SKCRF_SDCA_DATA or downloaded.
"""

import warnings
from functools import partial

from sklearn.exceptions import ConvergenceWarning

import figures
import runs
import tasks
from skcrf_sdca import LBFGSCRF, SDCACRF, SGDCRF, PassiveAggressiveCRF

EPOCHS = 15
# L-BFGS makes about one call per iteration.
ITERATIONS = 60
SEED = 0
# Points of F1 that the panels show below the best.
RANGE = 9.0
PASSIVE_AGGRESSIVE = {
    "DCA": {},
    "MIRA": {"loss": "hinge"},
    "perceptron": {"loss": "perceptron"},
}
LONGER = {"10 SG": 10.0, "SG": 1.0, "SG / 10": 0.1}


def estimators(calibrated, epochs, iterations):
    """Return the estimators by the titles of their curves."""
    score = {"tol": 0.0, "scoring": "span_f1"}
    options = {**score, "max_iter": epochs, "random_state": SEED}
    online = {
        title: PassiveAggressiveCRF(**given, **options)
        for title, given in PASSIVE_AGGRESSIVE.items()
    }
    descent = {
        title: SGDCRF(method="sgd", eta0=factor * calibrated, **options)
        for title, factor in LONGER.items()
    }
    return {
        **online,
        **descent,
        "SDCA-GAP": SDCACRF(**options),
        "L-BFGS": LBFGSCRF(**score, max_iter=iterations),
    }


def main():
    """Draw two panels for each task."""
    start = partial(runs.start, __doc__, "images/learning_curves.png")
    campaign = start(names=tasks.WITH_SPANS)
    epochs, iterations = EPOCHS, ITERATIONS
    if campaign.quick:
        epochs = iterations = runs.QUICK_EPOCHS
    warnings.simplefilter("ignore", ConvergenceWarning)
    figure, axes = figures.panels(len(campaign.names), 2, height=4.0)
    for row, name in zip(axes, campaign.names, strict=True):
        task, test = campaign.load_split(name)
        first = SGDCRF(method="sgd", max_iter=1, random_state=SEED).fit(task.X, task.y)
        best = 0.0
        for title, crf in estimators(first.eta0_, epochs, iterations).items():
            crf.fit(task.X, task.y, X_val=test.X, y_val=test.y)
            history, f1 = crf.history_, 100.0 * crf.history_["val_score"]
            best = max(best, f1.max())
            print(f"{name:11}{title:12}", *f1[:epochs].round(1), flush=True)
            figures.curve(row[0], history["oracle_calls"], f1, title)
            figures.curve(row[1], history["seconds"], f1, title)
        row[0].set_xlabel("passes")
        row[1].set_xlabel("seconds")
        row[1].set_xscale("log")
        row[0].set_xlim(0.0, epochs)
        for axis in row:
            axis.set_ylim(best - RANGE, best + 0.5)
            axis.set_title(tasks.TITLES[name])
        row[0].set_ylabel("span F1  (per cent)")
    figures.save(figure, campaign.output)


if __name__ == "__main__":
    main()
