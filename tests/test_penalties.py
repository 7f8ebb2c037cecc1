"""The elastic net: enumeration, its conjugate, and what users see of it."""

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose
from scipy.optimize import minimize
from scipy.special import logsumexp, softmax
from sklearn.exceptions import ConvergenceWarning

import reference
from samples import as_dicts, flat_weights, seeded
from skcrf_sdca import LBFGSCRF, OEGCRF, SAGNUSCRF, SDCACRF
from skcrf_sdca._kernels import _vecmath
from skcrf_sdca.compat import CRF
from skcrf_sdca.objective.penalties import L2, ElasticNet, elastic_net
from skcrf_sdca.persistence import load_model, save_model

DUAL = [SDCACRF, OEGCRF]
VISITING = [*DUAL, SAGNUSCRF]
N_LABELS, ALPHA = 3, 0.1


@pytest.fixture
def data():
    rng = np.random.default_rng(0)
    X = [rng.normal(size=(length, 2)) for length in (1, 2, 4, 3, 4)]
    return X, [rng.integers(N_LABELS, size=len(x)).tolist() for x in X]


def soft(v, threshold):
    return np.sign(v) * np.maximum(np.abs(v) - threshold, 0.0)


def optimum(loss, n_weights, alpha, l1_ratio):
    """Return the minimum of P with w = p - q, p and q not negative, by L-BFGS-B."""

    def primal(pair):
        p, q = np.split(pair, 2)
        w = p - q
        value, gradient = loss(w)
        value += alpha * ((1 - l1_ratio) / 2 * w @ w + l1_ratio * pair.sum())
        gradient = gradient + alpha * (1 - l1_ratio) * w
        ones = alpha * l1_ratio
        return value, np.concatenate([gradient + ones, ones - gradient])

    options = {"maxiter": 10**4, "maxfun": 10**6, "ftol": 1e-15, "gtol": 1e-9}
    start, bounds = np.full(2 * n_weights, 0.01), [(0, None)] * 2 * n_weights
    return minimize(primal, start, bounds=bounds, jac=True, options=options)


def mean_loss(X, y, allowed=None, tau=1.0, cost=0.0):
    """Return the mean loss and its gradient as a function of w, by enumeration."""
    cost = np.broadcast_to(cost, (N_LABELS, N_LABELS))
    cases = []
    for x, path in zip(X, y, strict=True):
        paths = reference.all_paths(len(x), N_LABELS)
        keep = np.ones(len(paths), dtype=bool)
        if allowed is not None:
            keep = allowed[paths[:, :-1], paths[:, 1:]].all(axis=1)
        features = reference.all_features(x, N_LABELS)[keep]
        costs = cost[np.array(path), paths[keep]].sum(axis=1)
        cases.append((features, costs, reference.features(x, path, N_LABELS)))

    def value_and_gradient(w):
        value, gradient = 0.0, np.zeros_like(w)
        for features, costs, of_labels in cases:
            scores = (features @ w + costs) / tau
            value += tau * logsumexp(scores) - of_labels @ w
            gradient += softmax(scores) @ features - of_labels
        return value / len(cases), gradient / len(cases)

    return value_and_gradient


@pytest.mark.parametrize("form", ["dense", "sparse", "dicts"])
@pytest.mark.parametrize("l1_ratio", [0.1, 0.5, 0.9])
@pytest.mark.parametrize("estimator", VISITING)
def test_the_optimum(data, estimator, l1_ratio, form):
    X, y = data
    options = {"alpha": ALPHA, "l1_ratio": l1_ratio, "tol": 1e-10, "max_iter": 5000}
    given = {"dense": X, "sparse": list(map(sp.csr_array, X)), "dicts": as_dicts(X)}
    crf = seeded(estimator, **options).fit(given[form], y)
    weights = flat_weights(crf.densify())
    best = optimum(mean_loss(X, y), len(weights), ALPHA, l1_ratio)
    assert_allclose(crf.primal_objective_, best.fun, rtol=0, atol=1e-9)
    assert_allclose(weights, np.subtract(*np.split(best.x, 2)), rtol=0, atol=1e-4)
    assert (crf.history_["primal"] - best.fun <= crf.history_["gap"] + 1e-9).all()
    assert crf.n_nonzero_ == np.count_nonzero(weights) < len(weights)


def test_a_long_fit_keeps_its_digits(data):
    """The visits move v and w: both are recomputed from the dual point in between."""
    crf = SDCACRF(ALPHA, l1_ratio=0.7, tol=1e-13, max_iter=5000, random_state=0)
    assert crf.fit(*data).duality_gap_ <= crf.gap_target_


@pytest.mark.parametrize("line_search", ["newton", "fixed"])
def test_the_dual_never_falls(data, line_search):
    """The line search knows the rise of the penalty exactly."""
    X, y = data
    options = {"line_search": line_search, "step": 0.1, "tol": 0, "max_iter": 60}
    crf = SDCACRF(ALPHA, l1_ratio=0.8, random_state=0, dual_dtype="float64", **options)
    with pytest.warns(ConvergenceWarning):
        crf.fit(X * 4, y * 4)
    rises = np.diff(crf.history_["dual"])
    if line_search == "newton":
        assert (rises >= -1e-12).all()
    assert crf.history_["gap"][-1] < 1e-2 * crf.history_["gap"][0]


@pytest.mark.parametrize("estimator", VISITING)
def test_with_a_cost_a_temperature_and_constraints(data, estimator):
    """The l1 part keeps its weight whatever the temperature."""
    X, y = data
    mask = np.ones((N_LABELS, N_LABELS), dtype=bool)
    seen = {pair for path in y for pair in zip(path[:-1], path[1:], strict=True)}
    mask[next(p for p in np.ndindex(mask.shape) if p not in seen)] = False
    options = {"alpha": ALPHA, "l1_ratio": 0.4, "tol": 1e-10, "max_iter": 5000}
    options |= {"loss": "softmax_margin", "temperature": 0.5, "transitions": mask}
    crf = seeded(estimator, **options).fit(X, y)
    n_weights = N_LABELS * (3 + N_LABELS + X[0].shape[1])
    loss = mean_loss(X, y, mask, 0.5, 1.0 - np.eye(N_LABELS))
    best = optimum(loss, n_weights, ALPHA, 0.4)
    assert_allclose(crf.primal_objective_, best.fun, rtol=0, atol=1e-8)


@pytest.mark.parametrize("penalty", [L2(), ElasticNet(0.3, 0.7), ElasticNet(1.0, 2.0)])
def test_the_gap_is_that_of_fenchel_and_young(penalty):
    rng = np.random.default_rng(0)
    w, v = 2.0 * rng.normal(size=(2, 100_000))
    gap = penalty.value(w) + penalty.conjugate(v) - w @ v
    assert_allclose(penalty.gap(w, v), gap, rtol=1e-10)
    point = penalty.primal_point(v)
    assert_allclose(penalty.gap(point, v), 0.0, atol=1e-9)
    assert_allclose(penalty.value(point) + penalty.conjugate(v), point @ v, rtol=1e-12)


@pytest.mark.parametrize("size", [1, 7, 64, 1001])
def test_kernels_of_the_soft_threshold(size):
    rng = np.random.default_rng(size)
    v, out = rng.normal(size=size), np.empty(size)
    _vecmath.shrink(v, 0.6, 2.5, out)
    assert_allclose(out, 2.5 * soft(v, 0.6), rtol=1e-15, atol=1e-15)
    assert ((out == 0.0) == (np.abs(v) <= 0.6)).all()
    assert_allclose(_vecmath.shrunk_norm(v, 0.6), (soft(v, 0.6) ** 2).sum(), rtol=1e-12)


def test_a_ratio_of_zero_is_l2():
    assert isinstance(elastic_net(0.0), L2)


def test_lbfgs_says_that_it_needs_l2(data):
    with pytest.raises(ValueError, match="needs .*; got .* the penalty 'elastic_net'"):
        LBFGSCRF(l1_ratio=0.5).fit(*data)


@pytest.mark.parametrize(
    "options", [{"saga": True}, {"sampling": "uniform"}, {"warm_start": True}]
)
def test_the_other_steps_of_sag(data, options):
    X, y = (part * 5 for part in data)
    expected = SDCACRF(ALPHA, l1_ratio=0.5, tol=1e-10, max_iter=5000, random_state=0)
    expected.fit(X, y)
    crf = SAGNUSCRF(ALPHA, l1_ratio=0.5, tol=1e-9, max_iter=5000, random_state=0)
    crf.set_params(**options).fit(X, y)
    if crf.warm_start:
        assert crf.set_params(l1_ratio=0.2).fit(X, y).n_iter_ > 1
        n_iter = crf.set_params(l1_ratio=0.5).fit(X, y).n_iter_
        assert crf.fit(X, y).n_iter_ == 1 < n_iter
    for name in ("coef_", "transition_", "start_"):
        want = getattr(expected.densify(), name)
        assert_allclose(getattr(crf.densify(), name), want, rtol=0, atol=1e-3)
        assert (getattr(crf, name) == 0.0)[want == 0.0].all()


def test_a_small_model_is_stored_small(tmp_path):
    rng = np.random.default_rng(0)
    X = [[[f"w{i}" for i in rng.integers(200, size=3)] for _ in range(5)]] * 3
    X = [
        [[f"w{i}" for i in rng.integers(200, size=3)] for _ in range(5)] for _ in X * 9
    ]
    y = [["A" if "w7" in item or "w9" in item else "B" for item in x] for x in X]
    crf = SDCACRF(0.05, l1_ratio=0.9, random_state=0).fit(X, y)
    assert sp.issparse(crf.coef_)
    biases = crf.intercept_, crf.start_, crf.end_, crf.transition_
    n_biases = sum(map(np.count_nonzero, biases))
    assert crf.n_nonzero_ == crf.coef_.count_nonzero() + n_biases
    save_model(crf, tmp_path / "model")
    loaded = load_model(tmp_path / "model")
    assert loaded.n_nonzero_ == crf.n_nonzero_
    dense = crf.predict(X).tolist()
    assert loaded.predict(X).tolist() == dense
    assert crf.prune().predict(X).tolist() == dense
    assert crf.n_features_in_ < 200


def test_threads_are_for_full_passes_only(data):
    """Visits of several workers need sigma_prime, which L2 alone knows."""
    X, y = (part * 40 for part in data)
    one, two = (
        SDCACRF(ALPHA, l1_ratio=0.5, random_state=0, n_jobs=n_jobs).fit(X, y)
        for n_jobs in (None, 2)
    )
    assert (one.densify().coef_ == two.densify().coef_).all()


def test_c1_of_crfsuite(data):
    X, y = as_dicts(data[0]), [list(map(str, path)) for path in data[1]]
    crf = CRF(c1=0.2, c2=0.1, tol=1e-10).fit(X, y)
    assert_allclose(crf.estimator_.alpha_, 0.4 / len(X))
    assert crf.estimator_.l1_ratio == 0.5
    weights = flat_weights(crf.estimator_.densify())
    best = optimum(mean_loss(*data), len(weights), 0.4 / len(X), 0.5)
    assert_allclose(crf.estimator_.primal_objective_, best.fun, atol=1e-9)
