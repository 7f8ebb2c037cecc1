"""Draw [LePriol18] figure 7: errors on test data by oracle calls.

The figure shows the fraction of wrong tokens, and 1 - F1 of whole phrases or entities,
after each of the first epochs (or iterations of L-BFGS). The features are made from raw
data: see tasks.py.

    python examples/benchmarks/held_out_error.py [--task ocr] [--quick]

needs matplotlib and the folder of corpora in SKCRF_SDCA_DATA, or downloads the corpora
(except for wsj).
"""

import math

import figures
import runs
import tasks

EPOCHS = {"ocr": 30, "conll2000": 12, "ned": 10, "wsj": 12}
# L-BFGS iterations per epoch of the others, which make up to two calls per visit.
ITERATIONS = 2
ERRORS = {"token_error": "wrong tokens", "span_error": "1 - span F1"}


def histories_of(campaign, name):
    """Return the histories, with test errors, of every solver on a task."""
    task, held_out = campaign.load_split(name)
    histories = {}
    for label, solver in runs.SOLVERS.items():
        epochs = EPOCHS[name] * (ITERATIONS if label == "L-BFGS" else 1)
        if campaign.quick:
            epochs = runs.QUICK_EPOCHS
        run = campaign.fit(task, solver, epochs=epochs, held_out=held_out)
        histories[label] = run.history
    return histories


def draw(axis, histories, error):
    """Draw one type of error of one task, in per cent."""
    best = min(history[error].min() for history in histories.values())
    for label, history in histories.items():
        figures.curve(axis, history["oracle_calls"], 100.0 * history[error], label)
    axis.set_ylim(90.0 * best, 250.0 * best)


def main():
    """Draw a panel for each task and type of error."""
    campaign = runs.start(__doc__, "images/held_out_error.png")
    curves = []
    for name in campaign.names:
        histories = histories_of(campaign, name)
        present = [error for error in ERRORS if error in histories["SDCA"]]
        curves += [(name, error, histories) for error in present]
    n_columns = min(len(curves), 3)
    n_rows = math.ceil(len(curves) / n_columns)
    figure, axes = figures.panels(n_rows, n_columns)
    for axis, (name, error, histories) in zip(axes.flat, curves, strict=False):
        draw(axis, histories, error)
        axis.set_title(tasks.TITLES[name])
        axis.set_xlabel("oracle calls / n")
        axis.set_ylabel(f"{ERRORS[error]}  (per cent)")
        axis.set_xlim(0, 1.5 * EPOCHS[name])
    for axis in axes.flat[len(curves) :]:
        axis.remove()
    figures.save(figure, campaign.output)


if __name__ == "__main__":
    main()
