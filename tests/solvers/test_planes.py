"""The certificate by a mix of dual points: a valid bound, tighter than one point's."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.optimize import minimize

from skcrf_sdca import LBFGSCRF, PackedSequences
from skcrf_sdca._kernels.visits._planes import best_mix
from skcrf_sdca.datasets import make_chains
from skcrf_sdca.objective.losses import LOG_LOSS, new_loss
from skcrf_sdca.objective.problem import Problem
from skcrf_sdca.solvers import planes
from skcrf_sdca.solvers.lbfgs import LBFGS
from skcrf_sdca.solvers.planes import CuttingPlanes
from skcrf_sdca.structures.chain.structure import Chain

X, Y = make_chains(n_sequences=15, n_features=4, random_state=0)


def new_problem(**options):
    chain = Chain(PackedSequences.from_sequences(X), 3)
    return Problem(chain, np.concatenate(Y).astype(np.int32), 0.05, **options)


def minimum(problem):
    """Return min P, by another method."""

    def primal_and_gradient(w):
        gradient, certificate = problem.certify_primal(w)
        return certificate.primal, gradient

    first = problem.new_parameters().w
    return minimize(primal_and_gradient, first, jac=True, method="BFGS", tol=1e-9).fun


@pytest.mark.parametrize("loss", [LOG_LOSS, new_loss("softmax_margin", 0.5)])
def test_the_bound_is_below_the_minimum_and_above_that_of_one_point(loss):
    problem = new_problem(loss=loss)
    best, rng = minimum(problem), np.random.default_rng(0)
    found = CuttingPlanes(problem)
    tighter = 0
    for n_planes in range(1, 2 * planes.N_PLANES):
        w = 0.3 * rng.standard_normal(problem.new_parameters().w.size)
        gradient, alone = problem.certify_primal(w)
        found.add(w, gradient, alone)
        certificate = found.certificate(w, alone)
        assert certificate.primal == alone.primal
        assert certificate.dual <= best + 1e-12
        assert certificate.gap <= alone.gap
        assert_allclose(certificate.primal - certificate.dual, certificate.gap)
        tighter += certificate.gap < 0.9 * alone.gap
        if n_planes == 1:
            assert certificate == alone
    assert tighter > planes.N_PLANES


def test_the_mix_of_two_points_is_theirs():
    """Its dual objective is at least the bound, computed from the mixed marginals."""
    problem = new_problem()
    rng, found = np.random.default_rng(1), CuttingPlanes(problem)
    size = problem.new_parameters().w.size
    points = [0.5 * rng.standard_normal(size) for _ in range(2)]
    for w in points:
        gradient, alone = problem.certify_primal(w)
        found.add(w, gradient, alone)
    v, heights = found.points[:2], found.heights[:2]
    shares = np.linspace(0.0, 1.0, 2001)
    mixed = np.outer(1.0 - shares, v[0]) + np.outer(shares, v[1])
    bounds = (1.0 - shares) * heights[0] + shares * heights[1]
    bounds -= 0.5 * problem.strength * (mixed**2).sum(axis=1)
    certificate = found.certificate(points[1], alone)
    assert_allclose(certificate.dual, bounds.max(), rtol=1e-4)


def test_other_targets_forget_the_planes():
    solver = LBFGS(new_problem(), None)
    solver.certify()
    assert solver.planes.n_seen == 1
    solver.targets_changed()
    assert solver.planes.n_seen == 0


def test_the_best_mix_is_that_of_a_grid():
    rows = np.array([[1.0, 0.0], [0.0, 2.0], [3.0, 3.0]])
    linear = np.array([0.1, 0.0, 0.3])
    mix = np.array([0.0, 0.0, 1.0])
    value = best_mix(rows @ rows.T, linear, 0.7, mix)
    grid = (
        np.array([(i, j, 200 - i - j) for i in range(201) for j in range(201 - i)])
        / 200
    )
    values = grid @ linear + 0.35 * ((grid @ rows) ** 2).sum(axis=1)
    assert value == pytest.approx(values.min(), rel=1e-3)
    assert_allclose(mix.sum(), 1.0)
    assert (mix >= 0.0).all()


def test_equal_points_keep_their_value():
    mix = np.array([0.0, 1.0])
    assert best_mix(np.ones((2, 2)), np.zeros(2), 2.0, mix) == 1.0
    with pytest.raises(ValueError, match="differ in length"):
        best_mix(np.ones((2, 2)), np.zeros(3), 2.0, mix)


def test_a_fit_ends_at_the_tolerance_of_its_certificate():
    crf = LBFGSCRF(0.05, tol=1e-3).fit(X, Y)
    exact = LBFGSCRF(0.05, tol=1e-10).fit(X, Y)
    excess = crf.primal_objective_ - exact.primal_objective_
    assert 0.0 <= excess <= crf.duality_gap_ <= 1e-3 * crf.primal_objective_
    assert crf.dual_objective_ <= exact.primal_objective_
