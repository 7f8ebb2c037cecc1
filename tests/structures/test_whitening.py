"""Features whitened for SAG, and the certificate of the marginals that it keeps."""

import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.exceptions import ConvergenceWarning

from reference import edge_marginals, node_marginals
from samples import make_problem, make_solver
from skcrf_sdca import CRF, SAGNUSCRF
from skcrf_sdca.datasets import make_chains
from skcrf_sdca.solvers.base import LARGE
from skcrf_sdca.solvers.lbfgs import LBFGS
from skcrf_sdca.solvers.monitor import FitMonitor
from skcrf_sdca.solvers.sag import SAG
from skcrf_sdca.structures.chain import curvature
from twins import SAGTwin, chain_entropy

N_LABELS, N_SEQUENCES = 3, 30
# Units of the four features.
UNITS = np.array([3.0, 12.0, 0.75, 6.0])


def draw(dtype=np.float64):
    X, y = make_chains(
        N_SEQUENCES,
        n_labels=N_LABELS,
        n_features=4,
        length=(1, 6),
        random_state=0,
    )
    return [(rows * UNITS).astype(dtype) for rows in X], y


X, Y = draw()


@pytest.fixture
def problem():
    found = make_problem(X, Y, N_LABELS, 1.0 / N_SEQUENCES)
    assert found.relative_size > LARGE
    return found


@pytest.fixture(scope="module")
def optimum():
    solver = LBFGS(make_problem(X, Y, N_LABELS, 1.0 / N_SEQUENCES), None, max_iter=999)
    FitMonitor(solver, max_iter=999, tol=1e-13).run()
    return solver


def parameters_at_random(problem, seed):
    found = problem.new_parameters()
    found.w[:] = np.random.default_rng(seed).standard_normal(found.w.size)
    return found


def mapped(problem, method, given):
    out = problem.new_parameters()
    method(given, out)
    return out


def test_the_maps_are_inverse_and_adjoint(problem):
    whitening = problem.whitening()
    u, v = parameters_at_random(problem, 0), parameters_at_random(problem, 1)
    w = mapped(problem, whitening.weights_of, u)
    target = mapped(problem, whitening.target_of, v)
    assert_allclose(mapped(problem, whitening.point_of, w).w, u.w, atol=1e-12)
    back = mapped(problem, whitening.dual_point_of, target)
    assert_allclose(back.w, v.w, atol=1e-12)
    assert_allclose(v.w @ w.w, target.w @ u.w)


def test_scores_and_penalty_are_those_of_the_weights(problem):
    whitening = problem.whitening()
    u = parameters_at_random(problem, 0)
    w = mapped(problem, whitening.weights_of, u)
    here = whitening.structure.scores(u, 0, N_SEQUENCES)
    there = problem.structure.scores(w, 0, N_SEQUENCES)
    assert_allclose(here.local, there.local, atol=1e-12)
    assert_array_equal(here.tied, there.tied)
    squares = whitening.rates @ np.square(u.coef).sum(axis=1)
    assert_allclose(squares, np.square(w.coef).sum())


def test_the_second_moments_are_even(problem, monkeypatch):
    """But for those that are small, which are stretched as others are."""
    size = problem.mean_length / N_LABELS**1.5

    def moments(whitening):
        rows = whitening.structure.data.X
        weight = np.repeat(problem.weight, problem.data.lengths) / N_LABELS
        of_rows = (weight[:, None] * rows).T @ rows
        return of_rows + problem.strength * np.diag(whitening.rates)

    found = moments(problem.whitening())
    assert_allclose(found, np.diag(found.diagonal()), atol=1e-10)
    assert (found.diagonal() < size * (1.0 + 1e-10)).all()
    assert_allclose(found.max(), size)
    monkeypatch.setattr(curvature, "LEAST_MOMENT", 0.0)
    assert_allclose(moments(problem.whitening()), size * np.eye(4), atol=1e-10)


def test_single_precision_is_whitened_in_double_precision():
    singles, y = draw(np.float32)
    doubles = [rows.astype(np.float64) for rows in singles]
    of_singles, of_doubles = (
        make_problem(rows, y, N_LABELS, 1.0).whitening().structure.data.X
        for rows in (singles, doubles)
    )
    assert of_singles.dtype == np.float64
    assert_array_equal(of_singles, of_doubles)


def test_what_is_not_whitened(problem, monkeypatch):
    sparse = [sp.csr_array(rows) for rows in X]
    small = make_problem(X, Y, N_LABELS, 1.0)
    assert small.relative_size < LARGE
    for other in (make_problem(sparse, Y, N_LABELS), small):
        assert make_solver(SAG, other).whitening is None
    assert make_solver(SAG, problem).whitening is not None
    assert make_solver(SAG, problem, saga=True).whitening is None
    monkeypatch.setattr(curvature, "MAX_LOCAL_FEATURES", 3)
    assert make_solver(SAG, problem).whitening is None


@pytest.mark.parametrize("sampling", ["lipschitz", "uniform"])
def test_epoch_equals_its_twin_on_the_whitened_features(problem, sampling):
    solver = make_solver(SAG, problem, sampling=sampling)
    rates = np.ones(problem.new_parameters().w.size)
    rates[-4 * N_LABELS :] = np.repeat(solver.whitening.rates, N_LABELS)
    twin = SAGTwin(
        [rows @ solver.whitening.map for rows in X],
        Y,
        N_LABELS,
        problem.alpha,
        mix=0.5,
        own=sampling == "lipschitz",
        skipping=True,
        saga=False,
    )
    twin.rates = rates
    rng = np.random.default_rng(7)
    for _ in range(3):
        uniforms = rng.random((N_SEQUENCES, 2))
        solver.kernel.epoch(uniforms)
        twin.epoch(uniforms)
        assert_allclose(solver.dual_point.w, twin.w, rtol=0, atol=1e-10)


def test_whitened_steps_end_at_the_optimum(problem, optimum):
    solver = make_solver(SAG, problem)
    loop = FitMonitor(solver, max_iter=3000, tol=1e-12).run()
    assert loop.converged
    assert_allclose(solver.model.w, optimum.model.w, rtol=0, atol=1e-4)


def test_whitened_steps_are_longer(problem, monkeypatch):
    whitened = make_solver(SAG, problem)
    monkeypatch.setattr(curvature, "MAX_LOCAL_FEATURES", 3)
    plain = make_solver(SAG, problem)
    for _ in range(20):
        whitened.epoch()
        plain.epoch()
    assert whitened.certify().primal < plain.certify().primal


def test_the_entropies_are_those_of_the_marginals(problem):
    """Each by a plain forward-backward pass, at the weights that the visit found."""
    solver, w = make_solver(SAG, problem), problem.new_parameters()
    assert_array_equal(solver.entropy, 0.0)
    for i in range(5):
        solver.kernel.epoch_in_order(np.array([i], dtype=np.intp))
        first, last = problem.offsets[[i, i + 1]]
        node = solver.marginals.local[first:last]
        scores = problem.structure.scores(w, i, i + 1).local
        assert_allclose(node_marginals(scores, w.transition), node, atol=1e-10)
        edge = edge_marginals(scores, w.transition)
        assert_allclose(solver.entropy[i], chain_entropy(node, edge), atol=1e-10)
        solver.whitening.weights_of(solver.dual_point, w)


@pytest.mark.parametrize("is_whitened", [False, True])
def test_kept_marginals_bound_the_optimum_from_below(
    problem, optimum, monkeypatch, is_whitened
):
    if not is_whitened:
        monkeypatch.setattr(curvature, "MAX_LOCAL_FEATURES", 3)
    solver, least = make_solver(SAG, problem), optimum.certify().primal
    assert (solver.whitening is not None) == is_whitened
    tighter = certified_by_kept = 0
    for _ in range(30):
        solver.epoch()
        kept = solver.certify_epoch(1e-3)
        _, alone = problem.certify_primal(solver.model.w)
        assert_allclose(kept.primal, alone.primal, rtol=1e-12)
        assert kept.dual <= least + 1e-9
        tighter += kept.gap < alone.gap
        best = solver.certify()
        assert best.dual <= least + 1e-9
        certified_by_kept += best.gap < alone.gap
    assert min(tighter, certified_by_kept) > 10


def test_a_small_gap_is_that_of_the_gradient(problem):
    solver = make_solver(SAG, problem)
    FitMonitor(solver, max_iter=3000, tol=1e-9).run()
    assert solver.is_near
    _, alone = problem.certify_primal(solver.model.w)
    assert solver.certify() == alone


def test_a_fit_goes_on_from_the_weights_of_another():
    crf = SAGNUSCRF(1.0 / N_SEQUENCES, tol=1e-6, warm_start=True, random_state=0)
    n_iter = crf.fit(X, Y).n_iter_
    assert crf.fit(X, Y).n_iter_ < n_iter / 3
    # Another alpha has other coordinates.
    crf.set_params(alpha=1.5 / N_SEQUENCES).fit(X, Y)
    cold = SAGNUSCRF(1.5 / N_SEQUENCES, tol=1e-6, random_state=0).fit(X, Y)
    assert_allclose(crf.primal_objective_, cold.primal_objective_, rtol=1e-5)


def test_a_fit_starts_from_weights():
    crf = SAGNUSCRF(1.0 / N_SEQUENCES, tol=1e-6, random_state=0).fit(X, Y)
    other = SAGNUSCRF(1.0 / N_SEQUENCES, max_iter=1, tol=0.0, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        cold = other.fit(X, Y).primal_objective_
        warm = other.set_params().fit(X, Y, init=crf).primal_objective_
    assert warm < cold


@pytest.mark.parametrize(
    "options", [{"order": 2}, {"class_weight": {0: 2.0}, "loss": "softmax_margin"}]
)
def test_other_models_have_the_optimum_of_sparse_features(options):
    options = {
        "tol": 1e-7,
        "max_iter": 5000,
        "solver": "sag",
        "random_state": 0,
    } | options
    dense = CRF(1.0 / N_SEQUENCES, **options).fit(X, Y)
    sparse = CRF(1.0 / N_SEQUENCES, **options)
    sparse.fit([sp.csr_array(rows) for rows in X], Y)
    assert_allclose(dense.primal_objective_, sparse.primal_objective_, rtol=1e-6)
