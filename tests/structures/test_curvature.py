"""The coordinates of L-BFGS on dense features: their map, and the same optimum."""

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose
from sklearn.exceptions import ConvergenceWarning

from skcrf_sdca import LBFGSCRF, PackedSequences
from skcrf_sdca.datasets import make_chains
from skcrf_sdca.objective.problem import Problem
from skcrf_sdca.solvers import lbfgs
from skcrf_sdca.structures.chain import curvature
from skcrf_sdca.structures.chain.structure import Chain

N_LABELS = 3


@pytest.fixture(scope="module")
def problem():
    """Return a problem with dense features in different units."""
    X, y = make_chains(
        n_sequences=12, n_labels=N_LABELS, n_features=4, length=(1, 6), random_state=0
    )
    rows = [(sequence + 2.0) * [1.0, 30.0, 0.1, 5.0] for sequence in X]
    labels = np.concatenate(y).astype(np.int32)
    weight = np.linspace(1.0, 2.0, 12)
    chain = Chain(PackedSequences.from_sequences(rows), N_LABELS)
    return Problem(chain, labels, 0.05, sample_weight=weight)


def hessian(problem):
    """Return the Hessian of P at 0 by differences of the gradient."""
    size, step = problem.new_parameters().w.size, 1e-5
    rows = []
    for unit in np.eye(size):
        up, _ = problem.certify_primal(step * unit)
        down, _ = problem.certify_primal(-step * unit)
        rows.append((up - down) / (2 * step))
    return np.array(rows)


def matrix_of(function, size):
    return np.array([function(unit) for unit in np.eye(size)])


def test_the_map_and_its_transpose_agree(problem):
    found = problem.curvature()
    size = problem.new_parameters().w.size
    of_points = matrix_of(found.times, size)
    of_gradients = matrix_of(found.transposed_times, size)
    assert_allclose(of_points, of_gradients.T, atol=1e-14)


def test_the_curvature_of_node_weights_is_one(problem):
    """But along what all labels of a feature have in common."""
    found = problem.curvature()
    rng = np.random.default_rng(0)
    u = problem.new_parameters(np.zeros(problem.new_parameters().w.size))
    u.coef[:] = rng.standard_normal(u.coef.shape)
    u.intercept[:] = rng.standard_normal(N_LABELS)
    u.coef -= u.coef.mean(axis=1, keepdims=True)
    u.intercept -= u.intercept.mean()
    w = found.times(u.w)
    image = problem.new_parameters(found.transposed_times(hessian(problem) @ w))
    assert_allclose(image.coef, u.coef, atol=1e-6)
    assert_allclose(image.intercept, u.intercept, atol=1e-6)


def test_a_sample_of_the_positions_is_near(problem, monkeypatch):
    data, weight = problem.data, np.repeat(problem.weight, problem.data.lengths)
    rows = np.column_stack([data.X, np.ones(data.n_positions)])
    exact = (weight[:, None] * rows).T @ rows
    assert_allclose(curvature._moments(data, weight), exact, rtol=1e-12)
    monkeypatch.setattr(curvature, "MIN_POSITIONS", 30)
    monkeypatch.setattr(curvature, "POSITIONS_PER_FEATURE", 1)
    assert data.n_positions > 30
    sampled = curvature._moments(data, weight)
    assert_allclose(sampled.diagonal(), exact.diagonal(), rtol=0.3)
    assert_allclose(sampled[-1, -1], exact[-1, -1], rtol=1e-12)


def test_the_factor_of_a_matrix():
    rng = np.random.default_rng(0)
    rows = rng.standard_normal((30, 7))
    matrix = rows.T @ rows
    inverse = curvature._inverse_factor(matrix)
    assert_allclose(inverse, np.tril(inverse))
    assert_allclose(inverse @ matrix @ inverse.T, np.eye(7), atol=1e-12)


def test_a_singular_matrix_has_a_finite_factor():
    assert np.isfinite(curvature._inverse_factor(np.ones((3, 3)))).all()


def test_dense_rows_give_the_optimum_of_sparse_ones():
    X, y = make_chains(n_sequences=12, n_features=4, random_state=0)
    dense = LBFGSCRF(0.05, tol=1e-9).fit(X, y)
    sparse = LBFGSCRF(0.05, tol=1e-9).fit([sp.csr_array(rows) for rows in X], y)
    assert_allclose(dense.primal_objective_, sparse.primal_objective_, rtol=1e-8)
    assert_allclose(dense.coef_, sparse.coef_, atol=1e-4)


def test_features_in_different_units_take_fewer_iterations(problem):
    X = list(problem.data)
    y = np.split(problem.targets.labels, problem.offsets[1:-1])
    dense = LBFGSCRF(0.05).fit(X, y)
    sparse = LBFGSCRF(0.05, max_iter=2 * dense.n_iter_)
    with pytest.warns(ConvergenceWarning):
        sparse.fit([sp.csr_array(rows) for rows in X], y)
    assert sparse.duality_gap_ > 10.0 * dense.duality_gap_


def test_other_features_have_no_such_coordinates(problem, monkeypatch):
    data = problem.data
    weights = problem.weight, problem.strength
    sparse = PackedSequences(sp.csr_array(data.X), data.offsets)
    assert Chain(sparse, N_LABELS).curvature(*weights) is None
    few = Chain(PackedSequences(data.X[:31], [0, 31]), N_LABELS)
    assert few.curvature(np.ones(1), 1.0) is None
    assert Chain(PackedSequences(data.X[:32], [0, 32]), N_LABELS).curvature(
        np.ones(1), 1.0
    )
    monkeypatch.setattr(curvature, "MAX_FEATURES", 3)
    assert problem.curvature() is None


def test_a_fit_goes_on_from_the_weights_of_another(problem):
    X = list(problem.data)
    y = np.split(problem.targets.labels, problem.offsets[1:-1])
    crf = LBFGSCRF(0.05, tol=1e-9, warm_start=True).fit(X, y)
    n_iter = crf.n_iter_
    assert crf.fit(X, y).n_iter_ < n_iter


def test_the_curvature_of_a_label_is_one_at_other_weights():
    """But for the blocks between labels; without edges, they are all there is."""
    X, y = make_chains(
        n_sequences=60, n_labels=N_LABELS, n_features=4, length=1, random_state=0
    )
    chain = Chain(PackedSequences.from_sequences(X), N_LABELS)
    problem = Problem(chain, np.concatenate(y).astype(np.int32), 0.05)
    size, step = problem.new_parameters().w.size, 1e-5
    w = np.random.default_rng(0).standard_normal(size)
    found = problem.curvature(w)
    assert type(found) is curvature.LocalCurvature
    for k in range(N_LABELS):
        u = problem.new_parameters(np.zeros(size))
        u.coef[:, k], u.intercept[k] = [1.0, -2.0, 0.5, 3.0], 1.0
        direction = step * found.times(u.w)
        up, _ = problem.certify_primal(w + direction)
        down, _ = problem.certify_primal(w - direction)
        image = found.transposed_times((up - down) / (2 * step))
        image = problem.new_parameters(image)
        assert_allclose(image.coef[:, k], u.coef[:, k], atol=1e-6)
        assert_allclose(image.intercept[k], u.intercept[k], atol=1e-6)


def test_the_map_at_other_weights_and_its_transpose_agree(problem):
    size = problem.new_parameters().w.size
    found = problem.curvature(np.random.default_rng(0).standard_normal(size))
    of_points = matrix_of(found.times, size)
    of_gradients = matrix_of(found.transposed_times, size)
    assert_allclose(of_points, of_gradients.T, atol=1e-14)
    assert np.linalg.cond(of_points) < 1e6


def test_many_features_keep_the_curvature_of_the_start(problem, monkeypatch):
    w = np.ones(problem.new_parameters().w.size)
    monkeypatch.setattr(curvature, "MAX_LOCAL_FEATURES", 3)
    assert problem.curvature(w) is None
    assert problem.curvature() is not None


def test_certain_labels_have_the_curvature_of_the_penalty(problem):
    w = problem.new_parameters(np.zeros(problem.new_parameters().w.size))
    w.intercept[0] = 1e3
    found = problem.curvature(w.w)
    assert np.isfinite(found.times(np.ones_like(w.w))).all()


def test_iterations_are_counted_through_both_coordinates(problem, monkeypatch):
    X = list(problem.data)
    y = np.split(problem.targets.labels, problem.offsets[1:-1])
    monkeypatch.setattr(lbfgs, "FIRST_ITERATIONS", 3)
    with pytest.warns(ConvergenceWarning, match=r"after 8 epochs, above"):
        crf = LBFGSCRF(0.05, tol=1e-12, max_iter=8).fit(X, y)
    assert crf.n_iter_ == 8
    assert (np.diff(crf.history_["primal"]) < 0.0).all()
    with pytest.warns(ConvergenceWarning):
        assert LBFGSCRF(0.05, tol=1e-12, max_iter=2).fit(X, y).n_iter_ == 2
