"""Draw [LePriol18] figures 4 and 6: distance from the optimum, all solvers and tasks.

The curves show P - P* by oracle calls, by updates of the parameters (both divided by
the number of sequences), and by seconds on one core without certificates. The second
row has no curve of L-BFGS, which makes one update per pass.

    python examples/benchmarks/convergence.py [--task ocr] [--quick]

needs the folder of corpora in SKCRF_SDCA_DATA, and matplotlib.
"""

import numpy as np

import figures
import runs
import tasks

AXES = {
    "oracle_calls": "oracle calls / n",
    "updates": "parameter updates / n",
    "seconds": "seconds",
}
# L-BFGS starts far above the panel.
HIGHEST = 30.0


def draw(axis, histories, optimum, column):
    """Draw the curves of one task against one column of the histories."""
    for label, history in histories.items():
        if (label, column) != ("L-BFGS", "updates"):
            distance = np.maximum(history["primal"] - optimum, 0.0)
            figures.curve(axis, history[column], distance, label)
    # L-BFGS leaves the panel, which would otherwise compress the other curves.
    ends = [h[column][-1] for label, h in histories.items() if label != "L-BFGS"]
    axis.set_xlim(0.0, 1.02 * max(ends))
    figures.log_scale(axis, figures.FLOOR, HIGHEST)
    axis.set_xlabel(AXES[column])


def main():
    """Draw a column of panels for each task."""
    campaign = runs.start(__doc__, "images/convergence.png")
    figure, axes = figures.panels(len(AXES), len(campaign.names), sharey=True)
    for column, name in zip(axes.T, campaign.names, strict=True):
        task = campaign.load(name)
        optimum = campaign.optimum(task)
        histories = {
            label: campaign.fit(task, solver).history
            for label, solver in runs.SOLVERS.items()
        }
        for axis, quantity in zip(column, AXES, strict=True):
            draw(axis, histories, optimum, quantity)
        column[0].set_title(tasks.TITLES[name])
    for axis in axes[:, 0]:
        axis.set_ylabel("$P - P^*$  (nats a sequence)")
    figures.save(figure, campaign.output)


if __name__ == "__main__":
    main()
