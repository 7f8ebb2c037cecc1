"""Draw the rates of [LePriol18, theorem 1] and of [Schmidt15, proposition 1].

With R_i the squared radius of sequence i and s = 1 / (1 + max R_i / (n alpha)), SDCA
with uniform draws and the step s has E (D* - D_t) <= (1 - s / n)^t (D* - D_0). With a
step of 1 / (4 L + n alpha), L = alpha + max R_i, SAGA has E ||w_t - w*||^2 <= (1 -
alpha step)^t times a constant. The figure has means over seeds on made chains, beside
these bounds. SDCA's exact search and its draws by gap are faster; SAGA has the steps of
SAG here, which are longer.

    python examples/benchmarks/rates.py [--quick]

needs matplotlib.
"""

import numpy as np

import figures
import runs
from skcrf_sdca import PackedSequences
from skcrf_sdca.datasets import make_chains
from skcrf_sdca.objective.problem import Problem
from skcrf_sdca.solvers.lbfgs import LBFGS
from skcrf_sdca.solvers.monitor import FitMonitor
from skcrf_sdca.solvers.sag import SAG
from skcrf_sdca.solvers.sdca import SDCA
from skcrf_sdca.structures.chain.structure import Chain

N, N_LABELS, N_FEATURES, ALPHA = 50, 3, 4, 0.1
N_EPOCHS, N_SEEDS, QUICK_EPOCHS = 60, 20, 3
LOWEST = 1e-8


def new_problem():
    """Return the problem of some made chains."""
    X, y = make_chains(
        N, n_labels=N_LABELS, n_features=N_FEATURES, length=(1, 4), random_state=0
    )
    data = PackedSequences.from_sequences(X)
    labels = np.concatenate(y).astype(np.int32)
    return Problem(Chain(data, N_LABELS), labels, ALPHA)


def optimum(problem):
    """Return P* = D*, and the weights."""
    solver = LBFGS(problem, None)
    FitMonitor(solver, max_iter=1000, tol=1e-13).run()
    return solver.certify().primal, solver.model.w.copy()


def mean_over_seeds(new_solver, measure, n_epochs):
    """Return the mean of a measure of a solver before and after each epoch, over it.

    The mean is divided by its first value.
    """
    total = np.zeros(n_epochs + 1)
    for seed in range(N_SEEDS):
        solver = new_solver(np.random.default_rng(seed))
        total[0] += measure(solver)
        for epoch in range(1, n_epochs + 1):
            solver.epoch()
            total[epoch] += measure(solver)
    return total / total[0]


def draw_dual(axis, problem, best, n_epochs):
    """Draw D* - D, and the bound of theorem 1."""
    radius = problem.structure.squared_radii().max()
    step = 1.0 / (1.0 + radius / (N * ALPHA))
    ways = {
        "SDCA, fixed step": {
            "sampling": "uniform",
            "line_search": "fixed",
            "step": step,
        },
        "SDCA": {"sampling": "uniform"},
        "SDCA-GAP": {},
    }
    epochs = np.arange(n_epochs + 1)
    axis.plot(epochs, (1.0 - step / N) ** (N * epochs), "k:", label="bound")
    for label, options in ways.items():

        def new_solver(rng, options=options):
            return SDCA(problem, rng, dual_dtype="float64", **options)

        found = mean_over_seeds(new_solver, lambda s: best - s.certify().dual, n_epochs)
        figures.curve(axis, epochs, found, label)
    axis.set_title("SDCA: $D^* - D$")


def draw_weights(axis, problem, w, n_epochs):
    """Draw ||w - w*||^2 of SAGA, and the bound of proposition 1 (a).

    Its constant is at most 2 n (step L)^2 times the first distance.
    """
    largest = ALPHA + problem.structure.squared_radii().max()
    step = 1.0 / (4.0 * largest + N * ALPHA)
    epochs = np.arange(n_epochs + 1)
    first = 1.0 + 2.0 * N * (step * largest) ** 2
    bound = first * (1.0 - ALPHA * step) ** (N * epochs)
    axis.plot(epochs, bound, "k:", label="bound")

    def new_solver(rng):
        return SAG(problem, rng, sampling="uniform", saga=True)

    def distance(solver):
        return ((solver.model.w - w) ** 2).sum()

    found = mean_over_seeds(new_solver, distance, n_epochs)
    figures.curve(axis, epochs, found, "SAGA")
    axis.set_title("SAGA: $\\|w - w^*\\|^2$")


def main():
    """Draw both."""
    campaign = runs.start(__doc__, "images/rates.png", names=())
    n_epochs = QUICK_EPOCHS if campaign.quick else N_EPOCHS
    problem = new_problem()
    best, w = optimum(problem)
    figure, axes = figures.panels(1, 2)
    draw_dual(axes[0, 0], problem, best, n_epochs)
    draw_weights(axes[0, 1], problem, w, n_epochs)
    for axis in axes[0]:
        figures.log_scale(axis, LOWEST, 10.0)
        axis.set_xlabel("epochs")
        axis.set_xlim(0, n_epochs)
    axes[0, 0].set_ylabel("mean over 20 seeds, over the first value")
    figures.save(figure, campaign.output)


if __name__ == "__main__":
    main()
