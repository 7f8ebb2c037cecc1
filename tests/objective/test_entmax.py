"""Entmax of tables: probabilities, the loss and its fit against general solvers."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.optimize import minimize

from skcrf_sdca import CRF, LBFGSCRF, SDCACRF, SGDCRF, load_model, save_model
from skcrf_sdca.structures.entropy import entmax15

ALPHA, TAU, N_LABELS = 0.05, 0.5, 4


def entropy(p):
    return 4.0 / 3.0 * (1.0 - (np.maximum(p, 0.0) ** 1.5).sum(axis=-1))


def by_slsqp(s):
    """Return the p of the largest <p, s> + H(p), and the value, by a general solver."""
    found = minimize(
        lambda p: -(p @ s + entropy(p)),
        np.full(len(s), 1.0 / len(s)),
        jac=lambda p: 2.0 * np.sqrt(np.maximum(p, 0.0)) - s,
        method="SLSQP",
        bounds=[(0.0, 1.0)] * len(s),
        constraints={"type": "eq", "fun": lambda p: p.sum() - 1.0},
        options={"ftol": 1e-15, "maxiter": 1000},
    )
    return found.x, -found.fun


def by_bisection(s):
    """Return the same p and values of rows, by bisection of the threshold."""
    low, high = s.max(axis=1) / 2.0 - 1.0, s.max(axis=1) / 2.0
    for _ in range(100):
        middle = (low + high) / 2.0
        p = np.maximum(s / 2.0 - middle[:, None], 0.0) ** 2
        is_low = p.sum(axis=1) > 1.0
        low, high = np.where(is_low, middle, low), np.where(is_low, high, middle)
    return p, (p * s).sum(axis=1) + entropy(p)


def drawn_table(n=60, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 5))
    y = np.argmax(X[:, :N_LABELS] + rng.normal(scale=0.7, size=(n, N_LABELS)), axis=1)
    return X, y


def objective(w, X, y):
    """P(w) with the weights (n_labels, n_features + 1), and its gradient."""
    rows = np.column_stack([X, np.ones(len(X))])
    w = w.reshape(N_LABELS, -1)
    scores = rows @ w.T
    p, values = by_bisection(scores / TAU)
    right = np.eye(N_LABELS)[y]
    loss = (TAU * values - (scores * right).sum(axis=1)).mean()
    gradient = (p - right).T @ rows / len(X) + ALPHA * w
    return loss + 0.5 * ALPHA * (w * w).sum(), gradient.ravel()


@pytest.fixture(scope="module")
def fitted():
    X, y = drawn_table()
    crf = LBFGSCRF(ALPHA, loss="entmax15", temperature=TAU, tol=1e-10, max_iter=1000)
    return crf.fit(X, y), X, y


@pytest.mark.parametrize("size", [0.1, 1.0, 10.0])
def test_probabilities_are_the_maximiser(size):
    rng = np.random.default_rng(0)
    scores = size * rng.normal(size=(50, 6))
    p, values = entmax15(scores)
    assert_allclose(p.sum(axis=1), 1.0, rtol=1e-14)
    for s, own, value in zip(scores, p, values, strict=True):
        other, largest = by_slsqp(s)
        assert_allclose(own, other, atol=1e-5)
        assert_allclose(value, largest, rtol=1e-10)
    other, others = by_bisection(scores)
    assert_allclose(p, other, atol=1e-14)
    assert_allclose(values, others, rtol=1e-13)
    assert ((p == 0.0) == (other == 0.0)).all()


def test_rows_with_ties_huge_and_forbidden_labels():
    inf = np.inf
    scores = np.array(
        [
            [3.0, 3.0, 3.0],
            [1e90, -1e90, 0.0],
            [1.0, -inf, 1.0],
            [-inf, -inf, -inf],
            [-1e90, -inf, -1e90],
        ]
    )
    p, values = entmax15(scores)
    third = np.full(3, 1.0 / 3.0)
    half = [0.5, 0.0, 0.5]
    assert_allclose(p, [third, [1.0, 0.0, 0.0], half, np.zeros(3), half], atol=1e-15)
    of_halves = entropy(np.array([0.5, 0.5]))
    best = [3.0 + entropy(third), 1e90, 1.0 + of_halves, -inf, -1e90]
    assert_allclose(values, best, rtol=1e-14)


def test_the_fit_is_the_optimum_of_a_twin(fitted):
    crf, X, y = fitted
    w = np.column_stack([crf.coef_, crf.intercept_])
    value, gradient = objective(w.ravel(), X, y)
    assert_allclose(crf.primal_objective_, value, rtol=1e-12)
    assert_allclose(gradient, 0.0, atol=1e-5)
    twin = minimize(
        objective,
        np.zeros(w.size),
        (X, y),
        jac=True,
        method="BFGS",
        options={"gtol": 1e-9},
    )
    assert_allclose(crf.primal_objective_, twin.fun, rtol=1e-9)
    primal, gap = crf.history_["primal"], crf.history_["gap"]
    assert (primal - twin.fun <= gap + 1e-12).all()
    assert crf.duality_gap_ <= 1e-10 * crf.primal_objective_


def test_answers_are_those_of_the_probabilities(fitted):
    crf, X, _ = fitted
    p, _ = by_bisection((X @ crf.coef_.T + crf.intercept_) / TAU)
    assert_allclose(crf.predict_proba(X), p, atol=1e-13)
    assert (crf.predict_proba(X) == 0.0).any()
    assert (crf.predict(X) == crf.classes_[p.argmax(axis=1)]).all()
    for own, support in zip(p, crf.support(X), strict=True):
        labels, shares = zip(*support, strict=True)
        assert set(labels) == set(np.flatnonzero(own))
        assert_allclose(shares, own[list(labels)], atol=1e-13)
        assert (np.diff(shares) <= 0.0).all()
    drawn = crf.sample(X, 50, random_state=0)
    for own, labels in zip(p, drawn.T, strict=True):
        assert (own[labels] > 0.0).all()
    assert not hasattr(crf, "log_likelihood")


def test_a_file_keeps_the_entropy(fitted, tmp_path):
    crf, X, _ = fitted
    save_model(crf, tmp_path / "model.crf")
    loaded = load_model(tmp_path / "model.crf")
    assert loaded.entropy_index_ == 1.5
    assert_allclose(loaded.predict_proba(X), crf.predict_proba(X), rtol=1e-12)


@pytest.mark.parametrize("l1_ratio", [0.0, 0.5])
def test_the_chosen_solver_reaches_the_gap(l1_ratio):
    X, y = drawn_table()
    crf = CRF(ALPHA, loss="entmax15", l1_ratio=l1_ratio, tol=1e-6, max_iter=1000)
    assert crf.fit(X, y).duality_gap_ <= 1e-6 * crf.primal_objective_


def test_its_zeros_are_between_those_of_the_others():
    X, y = drawn_table()
    zeros = [
        np.mean(LBFGSCRF(ALPHA, loss=loss).fit(X, y).predict_proba(X) == 0.0)
        for loss in ("log_loss", "entmax15", "sparsemap")
    ]
    assert zeros[0] == 0.0
    assert 0.0 < zeros[1] < zeros[2]


def test_sequences_and_solvers_by_visits_are_refused():
    X, y = drawn_table()
    with pytest.raises(ValueError, match='needs the rows of a table.* "lengths|2-D X'):
        LBFGSCRF(loss="entmax15").fit([X[:3], X[3:6]], [y[:3], y[3:6]])
    for estimator in (SDCACRF, SGDCRF):
        with pytest.raises(ValueError, match='take loss="log_loss".* or LBFGSCRF'):
            estimator(loss="entmax15").fit(X, y)


def test_unknown_labels_are_refused():
    X, y = drawn_table()
    labels = y.astype(object)
    labels[3] = None
    with pytest.raises(ValueError, match='needs one label .*set loss="log_loss", or'):
        LBFGSCRF(loss="entmax15").fit(X, labels)
