"""SDCA with a bound of the entropy: distributions over paths, by enumeration."""

from functools import partial

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.special import xlogy
from test_solvers import N_LABELS, draw_problem

import reference
from samples import make_solver
from skcrf_sdca import SDCACRF
from skcrf_sdca.datasets import make_chains
from skcrf_sdca.objective.problem import Problem
from skcrf_sdca.objective.targets import SoftLabels
from skcrf_sdca.solvers import sdca_bound
from skcrf_sdca.solvers.lbfgs import LBFGS
from skcrf_sdca.solvers.monitor import FitMonitor
from skcrf_sdca.solvers.sdca_bound import SDCABound


def entropy_of(p):
    return -xlogy(p, p).sum(axis=-1)


def split(p, label, part):
    """Return probabilities with those of one label in two parts."""
    rest = p.copy()
    rest[label] -= part
    return np.append(rest, part)


class Visits:
    """Visits of a solver beside the distributions over paths that they mix."""

    def __init__(self, problem):
        self.problem = problem
        self.solver = self.new_solver()
        self.targets = np.split(problem.targets.labels, problem.offsets[1:-1])
        self.alphas = [
            np.all(reference.all_paths(len(path), N_LABELS) == path, axis=1) * 1.0
            for path in self.targets
        ]
        self.places = [np.argmax(alpha) for alpha in self.alphas]
        self.is_known = np.full(len(self.targets), True)

    def new_solver(self, **options):
        options |= {"sampling": "uniform", "line_search_tol": 1e-9}
        return make_solver(SDCABound, self.problem, **options)

    def restart(self):
        """Make a warm start, whose targets may have been others before."""
        self.solver = self.new_solver(state=self.solver.state())
        self.is_known[:] = False

    def expectations(self, i, p):
        """Return the node marginals, and the sum of the edge marginals."""
        length = self.problem.data.lengths[i]
        node, edge = reference.marginals_of(p, length, N_LABELS)
        return node, edge.sum(axis=0)

    def stored(self, i):
        """Return what the solver stores of a sequence."""
        first, last = self.problem.offsets[i : i + 2]
        marginals = self.solver.marginals
        return marginals.local[first:last], marginals.tied[i]

    def dual_of(self, i, step, now, target, gap, p):
        """Return f(step) - f(0), see _sdca_bound.pyx; p is the model's."""
        problem = self.problem
        change = [new - old for new, old in zip(target, now, strict=True)]
        position = np.abs(change[0]).sum(axis=1).argmax()
        mu, nu = now[0][position], target[0][position]
        if self.is_known[i]:
            label, place = self.targets[i][position], self.places[i]
            mu = split(mu, label, self.alphas[i][place])
            nu = split(nu, label, p[place])
        shown = entropy_of((1 - step) * mu + step * nu)
        shown -= (1 - step) * entropy_of(mu) + step * entropy_of(nu)
        direction = problem.new_parameters()
        first, last = problem.offsets[i : i + 2]
        local = np.zeros((problem.data.n_positions, N_LABELS))
        local[first:last] = change[0]
        scale = np.ones(problem.n_sequences)
        problem.structure.add_features(direction, 0, problem.n_sequences, scale, local)
        problem.structure.add_tied_features(direction, change[1])
        quadratic = problem.feature_scale[i] * direction.w @ direction.w
        return step * gap + shown - 0.5 * step**2 * quadratic

    def visit(self, i):
        """Visit sequence i, move its distribution too, and check the step."""
        problem, solver = self.problem, self.solver
        scores = problem.scores(problem.new_parameters(solver.model.w), i, i + 1)
        p = reference.path_probabilities(scores.local, scores.tied)
        now, target = (self.expectations(i, q) for q in (self.alphas[i], p))
        for own, expected in zip(self.stored(i), now, strict=True):
            assert_allclose(own, expected, rtol=0, atol=1e-12)
        bound, dual = solver.entropy[i], solver._dual_value()
        inner = np.sum(now[0] * scores.local) + np.sum(now[1] * scores.tied)
        gap = reference.log_partition(scores.local, scores.tied) - inner - bound
        solver.kernel.epoch_in_order(np.array([i], dtype=np.intp))
        step = solver.steps[i]
        gain = self.dual_of(i, step, now, target, gap, p)
        grid = np.linspace(0.0, 1.0, 21)
        on_grid = [self.dual_of(i, s, now, target, gap, p) for s in grid]
        assert gain >= max(on_grid) - 1e-7
        own = problem.weight[i] * gain
        assert_allclose(solver._dual_value() - dual, own, rtol=0, atol=1e-12)
        self.alphas[i] = (1.0 - step) * self.alphas[i] + step * p
        self.is_known[i] |= step == 1.0
        probability = self.alphas[i][self.places[i]] if self.is_known[i] else -1.0
        assert_allclose(solver.of_targets[i], probability, rtol=0, atol=1e-12)
        exact = entropy_of(self.alphas[i])
        assert solver.entropy[i] <= exact + 1e-12
        assert solver.entropy[i] >= (1.0 - step) * bound + step * entropy_of(p) - 1e-12
        return step, exact - solver.entropy[i]


@pytest.mark.parametrize("length", [1, (1, 5)])
def test_visits_mix_distributions_over_paths(length):
    problem = draw_problem(seed=2, n_sequences=6, length=length)
    visits = Visits(problem)
    rng = np.random.default_rng(0)
    slacks = {}
    for i in rng.integers(0, 6, size=60):
        step, slack = visits.visit(i)
        if step == 1.0 or length == 1:
            # The label of the only position shows all of the mixture.
            assert_allclose(slack, 0.0, rtol=0, atol=1e-12)
        slacks.setdefault(i, []).append(slack)
    assert max(slack[-1] for slack in slacks.values()) < 1e-2
    assert_allclose(
        visits.solver.v,
        visits.problem.dual_to_primal(
            visits.solver.marginals.local, visits.solver.renormalize()
        ),
        rtol=0,
        atol=1e-10,
    )


def test_a_first_visit_is_bounded_exactly():
    """What is at the targets mixes with p: whether the target is drawn shows all."""
    visits = Visits(draw_problem(seed=2, n_sequences=6, length=5))
    steps, slacks = zip(*map(visits.visit, range(6)), strict=True)
    assert min(steps) < 1.0
    assert_allclose(slacks, 0.0, rtol=0, atol=1e-12)


def test_probabilities_of_targets_that_are_not_known_show_nothing():
    """They are known again after a step of 1."""
    visits = Visits(draw_problem(seed=2, n_sequences=6, alpha=0.5))
    for i in range(6):
        visits.visit(i)
    visits.restart()
    assert_allclose(visits.solver.of_targets, -1.0)
    for i in np.repeat(np.arange(6), 3):
        visits.visit(i)
    assert set(visits.is_known) == {False, True}


def test_soft_targets_have_no_probability():
    structure = draw_problem(seed=2, n_sequences=6).structure
    model = structure.new_parameters()
    model.w[:] = np.random.default_rng(0).normal(size=model.w.size)
    soft = SoftLabels(structure, partial(structure.scores, model))
    problem = Problem(structure, soft, 0.1)
    solver = make_solver(SDCABound, problem)
    FitMonitor(solver, max_iter=200, tol=1e-6).run()
    assert_allclose(solver.of_targets[solver.steps < 1.0], -1.0)
    found = solver.certify()
    assert found.gap <= 1e-6 * found.primal


def test_the_bound_may_rise_up_to_the_end():
    """With a large alpha the first step is 1, and the entropy is exact then."""
    visits = Visits(draw_problem(seed=2, n_sequences=6, alpha=100.0))
    visits.restart()
    steps, slacks = zip(*map(visits.visit, range(6)), strict=True)
    assert 1.0 in steps
    assert_allclose(slacks, 0.0, rtol=0, atol=1e-3)


def test_a_start_from_weights_is_near_their_optimum():
    problem = draw_problem(seed=2, n_sequences=6)
    best = make_solver(LBFGS, problem)
    FitMonitor(best, max_iter=200, tol=1e-6).run()
    solver = make_solver(SDCABound, problem)
    solver.start_at(best.model.w)
    found = solver.certify()
    assert found.gap < 1e-2 * found.primal
    assert found.dual <= best.certify().primal + 1e-12


def test_sequences_without_positions_keep_nothing():
    X = [np.zeros((0, 2)), np.eye(2), np.eye(2)[:1]]
    y = [[], [0, 1], [1]]
    crf = SDCACRF(label_pairs="observed", random_state=0).fit(X, y)
    assert crf.duality_gap_ <= crf.gap_target_


def test_single_precision_makes_the_same_visits():
    problem = draw_problem(seed=2, n_sequences=6)
    solvers = [
        make_solver(SDCABound, problem, dual_dtype=dtype)
        for dtype in ("float64", "float32")
    ]
    for solver in solvers:
        for _ in range(8):
            solver.epoch()
    double, single = solvers
    assert single.marginals.local.dtype == single.marginals.tied.dtype == np.float32
    for one, other in zip(double.marginals, single.marginals, strict=True):
        assert_allclose(one, other, rtol=1e-4, atol=1e-5)
    assert_allclose(double.entropy, single.entropy, rtol=1e-4)
    assert_allclose(double._dual_value(), single._dual_value(), rtol=1e-6)
    found = single.certify()
    assert_allclose(found.primal - found.dual, found.gap, rtol=0, atol=1e-6)


def test_single_precision_starts_from_weights_and_from_a_state():
    problem = draw_problem(seed=2, n_sequences=6)
    best = make_solver(LBFGS, problem)
    FitMonitor(best, max_iter=200, tol=1e-6).run()
    double, single = (
        make_solver(SDCABound, problem, dual_dtype=dtype)
        for dtype in ("float64", "float32")
    )
    for solver in (double, single):
        solver.start_at(best.model.w)
    state = single.state()
    again = make_solver(SDCABound, problem, dual_dtype="float32", state=state)
    for other in (single, again):
        assert_allclose(other.model.w, double.model.w, rtol=0, atol=1e-5)
        assert_allclose(other.certify().dual, double.certify().dual, rtol=1e-6)


@pytest.mark.parametrize(
    ("small", "tol", "dtype"),
    [(2**27, 1e-3, np.float64), (0, 1e-3, np.float32), (0, 1e-4, np.float64)],
)
def test_large_marginals_are_in_single_precision(small, tol, dtype, monkeypatch):
    monkeypatch.setattr(sdca_bound, "SMALL", small)
    X, y = make_chains(10, n_labels=9, n_features=4, random_state=0)
    crf = SDCACRF(label_pairs="observed", tol=tol, random_state=0, warm_start=True)
    crf.fit(X, y)
    assert crf._warm_state["expected_local"].dtype == dtype
    assert crf.duality_gap_ <= crf.gap_target_
