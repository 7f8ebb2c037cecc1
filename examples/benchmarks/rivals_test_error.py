"""Draw [Schmidt15] figures 2, 3, 5 and 6: test errors of stochastic methods.

The methods are the rivals of stochastic_rivals.py, SDCA-GAP, SAG-NUS* and L-BFGS. The
figure shows the test error by passes and by seconds of the solver, calibration of the
step included, with the calibrated step; the error is the fraction of wrong tokens, or
1 - F1 of whole phrases. The table has the error after some passes, for three methods
also with ten times the calibrated step and a tenth of it. Seconds are of the processor.

    python examples/benchmarks/rivals_test_error.py [--task ocr] [--quick]
        [--first 3000] [--passes 10]

needs matplotlib, and the corpora in the folder SKCRF_SDCA_DATA or downloaded.
"""

import math

import numpy as np
from stochastic_rivals import RIVALS

import figures
import runs
import tables
import tasks
from skcrf_sdca import SGDCRF

OTHERS = ("SDCA-GAP", "SAG-NUS*", "L-BFGS")
PASSES = {"ocr": 15, "conll2000": 6}
SCALED = ("SG", "averaged SG", "AdaGrad")
# Passes that an epoch takes at least, where it is more than one.
PASSES_OF_EPOCH = {"SMD": 4, "SVRG": 3, "Hybrid": 2, "SAG-NUS*": 1.2}
FACTORS = (0.1, 1.0, 10.0)
HEADER = ["task", "method", "step / 10", "calibrated", "10 step"]
QUICK_PASSES = 3
# Seconds that the panels show, over the median of the methods.
LONGEST = 2.5


def first_step(task, parameters):
    """Return the calibrated step of a stochastic method."""
    crf = SGDCRF(task.alpha, max_iter=1, random_state=0, **parameters)
    solver = crf._new_solver(tasks.problem(task))
    solver.begin()
    return float(solver.eta0)


def variants_of(task, label):
    """Return the solvers of a row of the table, by the factor of their step."""
    if label in OTHERS:
        return {1.0: runs.SOLVERS[label]}
    if label not in SCALED:
        return {1.0: RIVALS[label]}
    estimator, parameters = RIVALS[label]
    eta0 = first_step(task, parameters)
    scaled = {
        factor: (estimator, {**parameters, "eta0": factor * eta0}) for factor in FACTORS
    }
    # The calibration counts in the passes and seconds of the curve.
    return scaled | {1.0: RIVALS[label]}


def histories_of(campaign, name, passes):
    """Return the histories by label and factor; None if the weights are no numbers."""
    task, held_out = campaign.load_split(name)
    histories = {}
    for label in (*OTHERS, *RIVALS):
        epochs = math.ceil(passes / PASSES_OF_EPOCH.get(label, 1))
        for factor, solver in variants_of(task, label).items():
            try:
                run = campaign.fit(task, solver, epochs=epochs, held_out=held_out)
            except ValueError:
                histories[label, factor] = None
                continue
            histories[label, factor] = run.history
    return histories


def error_of(history):
    """Return 1 - F1 of phrases, or the fraction of wrong tokens, in per cent."""
    return 100.0 * history.get("span_error", history["token_error"])


def cell(history, passes):
    """Return the error at the last certificate within some passes."""
    if history is None:
        return "no number"
    within = np.flatnonzero(history["oracle_calls"] <= passes)
    return f"{error_of(history)[within[-1]]:.2f}" if len(within) else tables.NONE


def rows_of(histories, title, passes):
    """Yield the rows of a task."""
    for label in dict.fromkeys(label for label, _ in histories):
        cells = [
            cell(histories[label, factor], passes)
            if (label, factor) in histories
            else tables.NONE
            for factor in FACTORS
        ]
        yield [title, label, *cells]


def draw(row, histories, passes):
    """Draw the curves of the calibrated steps by passes and by seconds."""
    curves = {
        label: history for (label, factor), history in histories.items() if factor == 1
    }
    best = min(error_of(history).min() for history in curves.values())
    for label, history in curves.items():
        figures.curve(row[0], history["oracle_calls"], error_of(history), label)
        figures.curve(row[1], history["seconds"], error_of(history), label)
    row[0].set_xlim(0.0, passes)
    row[0].set_xlabel("passes")
    row[1].set_xlabel("seconds")
    # Some methods take ten times as long, and would compress the other curves.
    ends = [history["seconds"][-1] for history in curves.values()]
    row[1].set_xlim(0.0, LONGEST * np.median(ends))
    for axis in row:
        axis.set_ylim(0.95 * best, 1.8 * best)


def main():
    """Draw two panels for each task, and print the table."""
    output = "images/rivals_test_error.png"
    parser = runs.parser(__doc__, output, names=tuple(PASSES))
    parser.add_argument("--first", type=int, help="the first sequences alone")
    parser.add_argument("--passes", type=int, help=f"default: {PASSES}")
    arguments = parser.parse_args()
    campaign = runs.Campaign(arguments)
    campaign.first = arguments.first or campaign.first
    rows = [HEADER]
    figure, axes = figures.panels(len(campaign.names), 2, height=4.0)
    for row, name in zip(axes, campaign.names, strict=True):
        default = QUICK_PASSES if campaign.quick else PASSES[name]
        passes = arguments.passes or default
        histories = histories_of(campaign, name, passes)
        draw(row, histories, passes)
        rows += rows_of(histories, tasks.TITLES[name], passes)
        error = "1 - span F1" if name in tasks.WITH_SPANS else "wrong tokens"
        row[0].set_ylabel(f"{error}  (per cent)")
        for axis in row:
            axis.set_title(tasks.TITLES[name])
    tables.show(rows)
    figures.save(figure, campaign.output)


if __name__ == "__main__":
    main()
