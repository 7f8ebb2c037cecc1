"""Draw [Schmidt15] figures 1 to 3: distance from the optimum of stochastic methods.

The curves show (P - P*) / P(0) by passes: marginalisations over the number of
sequences, the calibration of step sizes and the full gradients of SVRG included.
The methods belong to SGDCRF, with their own step sizes, beside SDCA, OEG, SAG-NUS*
and L-BFGS.

    python examples/benchmarks/stochastic_rivals.py [--task ocr] [--quick]

needs the folder of corpora in SKCRF_SDCA_DATA, and matplotlib.
"""

import math

import numpy as np

import figures
import runs
import tasks
from skcrf_sdca import SGDCRF
from skcrf_sdca.solvers.sgd_methods import METHODS

NAMES = {
    "sgd": "SG",
    "asgd": "averaged SG",
    "adagrad": "AdaGrad",
    "smd": "SMD",
    "pegasos": "Pegasos",
    "svrg": "SVRG",
    "hybrid": "Hybrid",
}
RIVALS = {NAMES[method]: (SGDCRF, {"method": method}) for method in METHODS}
OTHERS = ("SDCA-GAP", "OEG-GAP", "SAG-NUS*", "L-BFGS")
PASSES = {"ocr": 50, "conll2000": 15, "ned": 20, "wsj": 20}
QUICK_EPOCHS = 3
LOWEST = 1e-7


def main():
    """Draw a panel for each task."""
    campaign = runs.start(__doc__, "images/stochastic_rivals.png", names=tuple(PASSES))
    solvers = {name: runs.SOLVERS[name] for name in OTHERS} | RIVALS
    figure, axes = figures.panels(
        math.ceil(len(campaign.names) / 2),
        min(len(campaign.names), 2),
        height=4.0,
        sharey=True,
    )
    for axis, name in zip(axes.flat, campaign.names, strict=False):
        task = campaign.load(name)
        optimum, initial = campaign.optimum(task), tasks.problem(task).initial_primal
        epochs = QUICK_EPOCHS if campaign.quick else PASSES[name]
        for label, solver in solvers.items():
            history = campaign.fit(task, solver, epochs=epochs).history
            distance = np.maximum(history["primal"] - optimum, 0.0) / initial
            figures.curve(axis, history["oracle_calls"], distance, label)
        axis.set_xlim(0.0, epochs)
        figures.log_scale(axis, LOWEST, 1.0)
        axis.set_xlabel("passes")
        axis.set_title(tasks.TITLES[name])
    for axis in axes[:, 0]:
        axis.set_ylabel("$(P - P^*) \\, / \\, P(0)$")
    figures.save(figure, campaign.output)


if __name__ == "__main__":
    main()
