"""The rates of the papers hold, as means over seeds, on tiny problems."""

import numpy as np
import pytest

from samples import make_problem
from skcrf_sdca.solvers.lbfgs import LBFGS
from skcrf_sdca.solvers.monitor import FitMonitor
from skcrf_sdca.solvers.sag import SAG
from skcrf_sdca.solvers.sdca import SDCA

N, N_EPOCHS, N_SEEDS = 12, 40, 20


@pytest.fixture(params=[0.2, 1.0])
def problem(request):
    rng = np.random.default_rng(3)
    X = [rng.normal(size=(rng.integers(1, 4), 2)) for _ in range(N)]
    y = [rng.integers(3, size=len(x)) for x in X]
    return make_problem(X, y, 3, request.param)


def optimum(problem):
    """Return D* = P*, and the weights."""
    solver = LBFGS(problem, None)
    FitMonitor(solver, max_iter=1000, tol=1e-12).run()
    return solver.certify().primal, solver.model.w.copy()


def mean_over_seeds(new_solver, measure):
    """Return the mean of a measure of a solver before and after each epoch."""
    runs = []
    for seed in range(N_SEEDS):
        solver = new_solver(np.random.default_rng(seed))
        values = [measure(solver)]
        for _ in range(N_EPOCHS):
            solver.epoch()
            values.append(measure(solver))
        runs.append(values)
    return np.mean(runs, axis=0)


def test_the_dual_rises_at_the_rate_of_theorem_1(problem):
    # [LePriol18, theorem 1]: h_t <= (1 - s / n)^t h_0, with
    # s = 1 / (1 + max R_i / (n alpha)); an exact search is better.
    best, _ = optimum(problem)
    step = 1.0 / (1.0 + problem.structure.squared_radii().max() / (N * problem.alpha))
    options = {"sampling": "uniform", "line_search": "fixed", "step": step}
    fixed = mean_over_seeds(
        lambda rng: SDCA(problem, rng, dual_dtype="float64", **options),
        lambda solver: best - solver.certify().dual,
    )
    bound = (1.0 - step / N) ** (N * np.arange(N_EPOCHS + 1)) * fixed[0]
    assert (fixed[1:] < bound[1:]).all()
    assert bound[-1] < 0.5 * bound[0]
    searched = mean_over_seeds(
        lambda rng: SDCA(problem, rng, sampling="uniform", dual_dtype="float64"),
        lambda solver: best - solver.certify().dual,
    )
    assert (searched[1:] < fixed[1:]).all()


class FixedSAGA(SAG):
    """SAGA with uniform draws and one step for all visits."""

    def __init__(self, problem, rng, step):
        super().__init__(problem, rng, sampling="uniform", saga=True)
        self.step = step

    def epoch(self):
        n, alpha = self.problem.n_sequences, self.problem.alpha
        for uniforms in self.rng.random((n, 1, 2)):
            # The visit divides by 2^(1 / n); no search then goes up from above max R_i.
            self.lipschitz[:] = 2.0 ** (1.0 / n) * (1.0 / self.step - alpha)
            self.kernel.epoch(uniforms)


def test_saga_converges_at_the_rate_of_proposition_1(problem):
    # [Schmidt15, proposition 1 (a)] with p_i = 1 / n: a step of 1 / (4 L + n alpha) has
    # E ||w_t - w*||^2 <= (1 - alpha step)^t (||w_0 - w*||^2 + C), where
    # C = 2 step^2 sum_i ||grad f_i(w_0) - grad f_i(w*)||^2 and L_i <= alpha + R_i, so
    # that C <= 2 n (step L)^2 ||w_0 - w*||^2. The steps by searches are longer; on so
    # few sequences they are too long at first, which certificates notice.
    _, best = optimum(problem)

    def distance(solver):
        solver.certify()
        return ((solver.model.w - best) ** 2).sum()

    largest = problem.alpha + problem.structure.squared_radii().max()
    step = 1.0 / (4.0 * largest + N * problem.alpha)
    fixed, searched = (
        mean_over_seeds(new, distance)
        for new in (
            lambda rng: FixedSAGA(problem, rng, step),
            lambda rng: SAG(problem, rng, sampling="uniform", saga=True),
        )
    )
    bound = (1.0 - problem.alpha * step) ** (N * np.arange(N_EPOCHS + 1))
    bound *= 1.0 + 2.0 * N * (step * largest) ** 2
    assert (fixed <= bound * fixed[0]).all()
    assert fixed[-1] < 0.5 * fixed[0]
    assert searched[-1] < 1e-3 * fixed[-1]


def test_the_gap_is_bounded_by_the_distance_from_the_optimum(problem):
    # [LePriol18, appendix D]: P(w) - P* >= alpha / L g(w) for the gap of w alone, with
    # L <= alpha + mean R_i, and D* - D >= s / n g for the gap of a dual point.
    best, _ = optimum(problem)
    radii = problem.structure.squared_radii()
    smooth = problem.alpha + radii.mean()
    rng = np.random.default_rng(0)
    for size in (1e-2, 1e-1, 1.0, 10.0):
        w = size * rng.normal(size=problem.new_parameters().w.shape)
        found = problem.certify_primal(w)[1]
        assert 0.0 < problem.alpha * found.gap <= smooth * (found.primal - best)
    solver = SDCA(problem, rng, dual_dtype="float64", sampling="uniform")
    step = 1.0 / (1.0 + radii.max() / (N * problem.alpha))
    for _ in range(10):
        found = solver.certify()
        assert 0.0 < step * found.gap <= N * (best - found.dual)
        solver.epoch()
