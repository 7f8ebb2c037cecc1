"""Averages of the points of a dual solver: their formula, and what they are for."""

from functools import partial

import numpy as np
import pytest
from numpy.testing import assert_allclose

from samples import make_solver
from skcrf_sdca.data.packed import PackedSequences
from skcrf_sdca.datasets import make_chains
from skcrf_sdca.objective.losses import new_loss
from skcrf_sdca.objective.penalties import elastic_net
from skcrf_sdca.objective.problem import Problem
from skcrf_sdca.solvers.averaged import Averaged
from skcrf_sdca.solvers.bcfw import BCFW
from skcrf_sdca.solvers.proximal import ProximalPoint
from skcrf_sdca.structures.chain.structure import Chain


@pytest.fixture(params=[0.0, 0.4], ids=["l2", "elastic net"])
def problem(request):
    X, y = make_chains(n_sequences=60, random_state=0)
    chains = Chain(PackedSequences.from_sequences(X), 3)
    labels = np.concatenate(y).astype(np.int32)
    loss = new_loss("hinge", cost=1.0 - np.eye(3))
    penalty = elastic_net(request.param)
    return Problem(chains, labels, 0.002, loss=loss, penalty=penalty)


def new_averaged(problem, **options):
    return Averaged(problem, np.random.default_rng(0), solver=BCFW, **options)


def test_late_points_count_more(problem):
    solver, points = new_averaged(problem), []
    for _ in range(6):
        solver.epoch()
        points.append(solver.solver.v.copy())
    e = np.arange(1.0, 7.0)
    weights = e * (e + 1) * (e + 2) * (e + 3)
    expected = weights @ np.array(points) / weights.sum()
    assert_allclose(solver.average, expected, rtol=1e-12, atol=1e-15)


def test_the_best_point_is_kept(problem):
    solver, plain = new_averaged(problem), make_solver(BCFW, problem)
    certificates, primals = [], []
    for _ in range(120):
        solver.epoch()
        plain.epoch()
        certificates.append(solver.certify())
        primals.append(plain.certify().primal)
        w = solver.model.w
        value = problem.primal(w, problem.mean_loss(w))
        assert_allclose(certificates[-1].primal, value, rtol=1e-12)
    primal, dual, gap = np.array([(c.primal, c.dual, c.gap) for c in certificates]).T
    assert (np.diff(primal) <= 0.0).all()
    assert (np.diff(dual) >= -1e-12).all()
    assert (primal <= np.minimum.accumulate(primals)).all()
    assert_allclose(primal - dual, gap, atol=1e-12)
    # What the average is for.
    assert primal[-1] - dual[-1] < 0.9 * (min(primals) - dual[-1])
    assert solver.n_oracle_calls == plain.n_oracle_calls
    assert solver.n_updates == plain.n_updates


@pytest.mark.parametrize("ratio", [1.0, 0.5])
def test_a_warm_start_continues_the_average_of_the_same_alpha(problem, ratio):
    solver = new_averaged(problem)
    for _ in range(20):
        solver.epoch()
    best, state = solver.certify(), solver.state()
    average = solver.average.copy()
    problem.alpha *= ratio
    problem.strength *= ratio
    problem.feature_scale = problem.weight / problem.strength
    warm = new_averaged(problem, state=state)
    assert_allclose(warm.average, average if ratio == 1.0 else 0.0)
    if ratio == 1.0:
        assert warm.certify().gap <= 1.01 * best.gap
    warm.epoch()
    assert warm.n_epochs == (21 if ratio == 1.0 else 1)


def test_an_average_of_proximal_points_is_as_sparse_as_the_points(problem):
    solver = Averaged(
        problem, np.random.default_rng(0), solver=partial(ProximalPoint, solver=BCFW)
    )
    for _ in range(5):
        solver.epoch()
    w = problem.penalty.primal_point(solver.solver.v)
    assert_allclose(w, solver.solver.model.w, rtol=1e-12, atol=1e-15)
    assert np.any(w)
