"""The elastic net: enumeration, its conjugate, and what users see of it."""

import pickle
from functools import cache
from itertools import product

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose
from sklearn.exceptions import ConvergenceWarning

import reference
from pairs import by_pairs
from samples import COST, LOSSES, as_dicts, flat_weights, make_problem, seeded
from skcrf_sdca import LBFGSCRF, OEGCRF, SAGNUSCRF, SDCACRF
from skcrf_sdca._kernels.math import _vecmath
from skcrf_sdca.compat import CRF
from skcrf_sdca.data.packed import PackedSequences
from skcrf_sdca.objective.losses import LOG_LOSS, new_loss
from skcrf_sdca.objective.penalties import (
    L2,
    ElasticNet,
    best_mix,
    elastic_net,
    in_classes,
    mixed_gap,
)
from skcrf_sdca.objective.problem import Problem
from skcrf_sdca.persistence import load_model, save_model
from skcrf_sdca.solvers.averaged import Averaged
from skcrf_sdca.solvers.bcfw import BCFW
from skcrf_sdca.solvers.proximal import ProximalPoint
from skcrf_sdca.solvers.sdca import SDCA
from skcrf_sdca.structures.chain.constraints import Constraints
from skcrf_sdca.structures.chain.structure import Chain

DUAL = [SDCACRF, OEGCRF]
VISITING = [*DUAL, SAGNUSCRF]
N_LABELS, ALPHA = 3, 0.1


def made_data():
    rng = np.random.default_rng(0)
    X = [rng.normal(size=(length, 2)) for length in (1, 2, 4, 3, 4)]
    return X, [rng.integers(N_LABELS, size=len(x)).tolist() for x in X]


@pytest.fixture
def data():
    return made_data()


def soft(v, threshold):
    return np.sign(v) * np.maximum(np.abs(v) - threshold, 0.0)


@cache
def optimum(l1_ratio, loss="log loss", forbidden=None):
    """Return the minimum of P for `made_data`, by enumeration."""
    X, y = made_data()
    mask = np.ones((N_LABELS, N_LABELS), dtype=bool)
    if forbidden is not None:
        mask[forbidden] = False
    of_paths = reference.mean_loss(X, y, N_LABELS, mask, **LOSSES[loss][1])
    n_weights = N_LABELS * (3 + N_LABELS + X[0].shape[1])
    return reference.optimum(of_paths, n_weights, ALPHA, l1_ratio)


@by_pairs(
    {
        "estimator": [*VISITING, LBFGSCRF],
        "l1_ratio": [0.1, 0.5, 0.9],
        "form": ["dense", "sparse", "dicts"],
    }
)
def test_the_optimum(data, estimator, l1_ratio, form):
    X, y = data
    options = {"alpha": ALPHA, "l1_ratio": l1_ratio, "tol": 1e-10, "max_iter": 5000}
    given = {"dense": X, "sparse": list(map(sp.csr_array, X)), "dicts": as_dicts(X)}
    crf = seeded(estimator, **options).fit(given[form], y)
    weights = flat_weights(crf.densify())
    best = optimum(l1_ratio)
    assert_allclose(crf.primal_objective_, best.fun, rtol=0, atol=1e-9)
    assert_allclose(weights, np.subtract(*np.split(best.x, 2)), rtol=0, atol=1e-4)
    assert (crf.history_["primal"] - best.fun <= crf.history_["gap"] + 1e-9).all()
    assert crf.n_nonzero_ == np.count_nonzero(weights) < len(weights)


@by_pairs(
    {"estimator": [*DUAL, LBFGSCRF], "l1_ratio": [0.5, 0.99, 1.0], "loss": LOSSES}
)
def test_the_optimum_with_little_curvature_or_none(data, estimator, l1_ratio, loss):
    X, y = data
    mask = np.ones((N_LABELS, N_LABELS), dtype=bool)
    seen = {pair for path in y for pair in zip(path[:-1], path[1:], strict=True)}
    forbidden = next(p for p in np.ndindex(mask.shape) if p not in seen)
    mask[forbidden] = False
    tol = 1e-6 if l1_ratio == 1.0 else 2e-9
    options = {"l1_ratio": l1_ratio, "tol": tol, "max_iter": 5000}
    if estimator is not LBFGSCRF:
        options["acceleration"] = "proximal_point"
    crf = seeded(estimator, alpha=ALPHA, transitions=mask, **options, **LOSSES[loss][0])
    crf.fit(X, y)
    assert crf.duality_gap_ <= crf.gap_target_
    best = optimum(l1_ratio, loss, forbidden)
    assert_allclose(crf.primal_objective_, best.fun, rtol=0, atol=1e-8)
    assert (crf.history_["primal"] - best.fun <= crf.history_["gap"] + 1e-9).all()
    assert (crf.history_["gap"] >= 0.0).all()
    weights = flat_weights(crf.densify())
    weights[np.isneginf(weights)] = 0.0
    assert crf.n_nonzero_ == np.count_nonzero(weights) < len(weights) - 1
    again = pickle.loads(pickle.dumps(crf))
    assert again.predict(X).tolist() == crf.predict(X).tolist()
    warm = crf.set_params(warm_start=True, max_iter=5000).fit(X, y)
    n_iter = warm.n_iter_
    assert warm.fit(X, y).n_iter_ <= max(1, n_iter // 5)


@pytest.mark.parametrize("n_jobs", [None, 2])
@pytest.mark.parametrize("estimator", DUAL)
def test_acceleration_of_l2_finds_the_same_optimum(data, estimator, n_jobs):
    X, y = (part * 10 for part in data)
    alpha = 1e-2 / len(X)
    best = LBFGSCRF(alpha, tol=1e-10, max_iter=5000).fit(X, y)
    options = {"tol": 1e-8, "max_iter": 2000, "n_jobs": n_jobs}
    crf = seeded(estimator, alpha=alpha, acceleration="proximal_point", **options).fit(
        X, y
    )
    assert_allclose(crf.primal_objective_, best.primal_objective_, rtol=0, atol=3e-8)
    bound = crf.history_["gap"] + 1e-9
    assert (crf.history_["primal"] - best.primal_objective_ <= bound).all()


def test_the_hinge_with_the_l1_norm_alone(data):
    X, y = data
    options = {"alpha": ALPHA, "loss": "hinge", "l1_ratio": 1.0, "max_iter": 3000}
    crf = SDCACRF(**options, tol=1e-3, random_state=0).fit(X, y)
    weights = flat_weights(crf.densify())
    # With a low temperature, the softmax-margin is above the hinge by tau log K^T.
    cost, tau = 1.0 - np.eye(N_LABELS), 1e-3
    loss = reference.mean_loss(X, y, N_LABELS, None, tau, cost)
    value = loss(weights)[0] + ALPHA * np.abs(weights).sum()
    assert_allclose(crf.primal_objective_, value, rtol=0, atol=4 * tau * np.log(3))
    best = reference.optimum(loss, len(weights), ALPHA, 1.0).fun
    off = crf.primal_objective_ - best
    assert -4 * tau * np.log(3) - 1e-9 <= off <= crf.duality_gap_
    assert crf.n_nonzero_ < len(weights)


def test_when_a_fit_is_accelerated(data):
    def solver(l1_ratio, acceleration, times=1, *, loss=LOG_LOSS, n_alpha=0.5):
        X, y = ([np.array(part) for part in parts] * times for parts in data)
        alpha = n_alpha / len(X)
        crf = SDCACRF(alpha, l1_ratio=l1_ratio, acceleration=acceleration)
        problem = make_problem(X, y, N_LABELS, alpha)
        problem.penalty, problem.loss = elastic_net(l1_ratio), loss
        found = crf._new_solver(problem)
        return type(found.solver if isinstance(found, Averaged) else found)

    hinge, many = new_loss("hinge", cost=COST), 30
    for times, l1_ratio in product((1, many), (0.0, 0.5, 0.999)):
        assert solver(l1_ratio, None, times) is SDCA
        assert solver(l1_ratio, "proximal_point", times) is ProximalPoint
        assert solver(l1_ratio, None, times, loss=hinge) is BCFW
        own = solver(l1_ratio, "proximal_point", times, loss=hinge)
        assert own is ProximalPoint
    for times, l1_ratio in product((2, many), (0.0, 0.5, 0.999, 1.0)):
        assert solver(l1_ratio, "auto", times) is ProximalPoint
    assert solver(0.5, "auto", many, loss=hinge) is ProximalPoint
    # Five sequences, and the hinge of few, only with little curvature.
    assert solver(0.0, "auto") is solver(0.5, "auto") is SDCA
    assert solver(0.5, "auto", 2, loss=hinge) is BCFW
    for own in (LOG_LOSS, hinge):
        assert solver(0.999, "auto", loss=own) is ProximalPoint
        assert solver(0.0, "auto", loss=own, n_alpha=5e-3) is ProximalPoint
    assert solver(1.0, "auto") is ProximalPoint
    for estimator in DUAL:
        with pytest.raises(ValueError, match="needs a strongly convex penalty .l1_rat"):
            estimator(l1_ratio=1.0, acceleration=None).fit(*data)


@pytest.mark.parametrize("first", [None, "proximal_point"])
@pytest.mark.parametrize("second", [None, "proximal_point"])
def test_warm_starts_with_and_without_acceleration(data, first, second):
    options = {"l1_ratio": 0.9, "tol": 1e-7, "max_iter": 2000, "warm_start": True}
    crf = SDCACRF(ALPHA, acceleration=first, random_state=0, **options).fit(*data)
    value = crf.primal_objective_
    crf.set_params(acceleration=second, alpha=0.5 * ALPHA).fit(*data)
    assert crf.primal_objective_ < value
    crf.set_params(alpha=ALPHA).fit(*data)
    assert_allclose(crf.primal_objective_, value, rtol=0, atol=1e-6)


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
    loss = reference.mean_loss(X, y, N_LABELS, mask, 0.5, 1.0 - np.eye(N_LABELS))
    best = reference.optimum(loss, n_weights, ALPHA, 0.4)
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
    of_mixed = penalty.gap(w, 0.3 * v)
    assert_allclose(mixed_gap(penalty, w, v, 0.3), of_mixed, rtol=1e-12)


@pytest.mark.parametrize("size", [1, 7, 64, 1001])
def test_kernels_of_the_soft_threshold(size):
    rng = np.random.default_rng(size)
    v, out = rng.normal(size=size), np.empty(size)
    _vecmath.shrink(v, 0.6, 2.5, out)
    assert_allclose(out, 2.5 * soft(v, 0.6), rtol=1e-15, atol=1e-15)
    assert ((out == 0.0) == (np.abs(v) <= 0.6)).all()
    assert_allclose(_vecmath.shrunk_norm(v, 0.6), (soft(v, 0.6) ** 2).sum(), rtol=1e-12)


@pytest.mark.parametrize(
    "penalty", [L2(), ElasticNet(0.3, 0.7), ElasticNet(1e-4, 0.7), ElasticNet(0.0, 0.7)]
)
@pytest.mark.parametrize("gain", [0.0, 0.5, 80.0, 1e6])
def test_the_best_mix(penalty, gain):
    v = 2.0 * np.random.default_rng(0).normal(size=100)

    def value(mix):
        return mix * gain - penalty.conjugate(mix * v)

    mix, conjugate = best_mix(penalty, v, gain)
    assert_allclose(conjugate, penalty.conjugate(mix * v), rtol=1e-12, atol=1e-15)
    assert 0.0 <= mix <= 1.0
    others = np.linspace(0.0, 1.0, 2001)
    best = max(map(value, others))
    assert value(mix) >= best - 1e-9 * abs(best) - 1e-12


def test_the_best_mix_of_little_is_all():
    for penalty in (L2(), ElasticNet(0.3, 0.7), ElasticNet(0.0, 0.7)):
        assert best_mix(penalty, np.zeros(3), 1.0)[0] == 1.0
        assert best_mix(penalty, np.full(3, 0.1), 1.0)[0] == 1.0


class Tiny:
    """A random problem with its solution, a point w and marginals mu of other weights.

    The loss has an asymmetric cost and a temperature, and a transition is forbidden.
    """

    tau, alpha = 0.5, 0.2

    def __init__(self, seed, l1_ratio, boundaries=True):
        rng = np.random.default_rng(seed)
        X = [rng.normal(size=(length, 2)) for length in (1, 3, 2)]
        y = [rng.integers(N_LABELS, size=len(x)) for x in X]
        cost = rng.random((N_LABELS, N_LABELS)) * (1.0 - np.eye(N_LABELS))
        self.mask = np.ones((N_LABELS, N_LABELS), dtype=bool)
        seen = {pair for path in y for pair in zip(path[:-1], path[1:], strict=True)}
        self.mask[next(p for p in np.ndindex(self.mask.shape) if p not in seen)] = False
        ends = np.ones(N_LABELS, dtype=bool)
        chains = Chain(
            PackedSequences.from_sequences(X),
            N_LABELS,
            constraints=Constraints(ends, ends, self.mask),
        )
        self.l1_ratio = l1_ratio
        self.loss = reference.mean_loss(X, y, N_LABELS, self.mask, self.tau, cost)
        self.problem = Problem(
            chains,
            np.concatenate(y).astype(np.int32),
            self.alpha,
            loss=new_loss("softmax_margin", self.tau, cost),
            penalty=elastic_net(l1_ratio, self.tau),
        )
        self.rng = rng

    def point(self, size):
        """Return random weights, some of them 0."""
        w = size * self.rng.normal(size=self.problem.new_parameters().w.shape)
        return w * self.rng.integers(2, size=w.shape)

    def optimum(self):
        n_weights = N_LABELS * (3 + N_LABELS + 2)
        return reference.optimum(self.loss, n_weights, self.alpha, self.l1_ratio).fun


@pytest.mark.parametrize("l1_ratio", [0.0, 0.5, 0.99, 1.0])
@pytest.mark.parametrize("seed", range(5))
def test_every_pair_of_points_has_a_certificate(seed, l1_ratio):
    """The bound of any w and any mu, by what it must enclose and by enumeration."""
    tiny = Tiny(seed, l1_ratio)
    best, problem = tiny.optimum(), tiny.problem
    for size in (0.1, 1.0, 5.0):
        w, other = tiny.point(size), tiny.point(size)
        v, loss, _ = problem.expected_point(other)
        # The mean of H + <cost, mu>, of KL(mu, p(. | w)).
        entropy = loss + problem.strength * other @ v
        loss, largest = problem.evaluate(w)
        divergence = loss + problem.strength * w @ v - entropy
        assert divergence >= -1e-12
        found = problem.certify_pair(w, v, loss, largest, divergence)
        assert found.gap >= 0.0
        assert found.dual <= best + 1e-9 <= found.primal + 2e-9
        mixes = np.linspace(0.0, 1.0, 101)
        duals = [problem.dual(mix * v, mix * entropy) for mix in mixes]
        assert found.dual >= max(duals) - 1e-9
        itself = problem.certify_primal(w)[1]
        assert itself.dual <= best + 1e-9
        assert itself.gap >= 0.0


@pytest.mark.parametrize("l1_ratio", [0.5, 0.99, 1.0])
def test_the_gradient_of_a_primal_point(l1_ratio):
    tiny = Tiny(0, l1_ratio)
    w = tiny.point(1.0)
    gradient, certificate = tiny.problem.certify_primal(w)
    size = tiny.problem.solution(w)
    model = size.w
    value, expected = tiny.loss(reference_order(size))
    l1 = l1_ratio * np.abs(model).sum()
    expected_primal = value + tiny.alpha * ((1 - l1_ratio) / 2 * model @ model + l1)
    assert_allclose(certificate.primal, expected_primal)
    smooth = expected + tiny.alpha * (1 - l1_ratio) * reference_order(size)
    # By the model's weights, which are those of the solver times tau.
    found = tiny.problem.new_parameters(gradient / tiny.tau)
    assert_allclose(reference_order(found), smooth, atol=1e-12)


def reference_order(parameters):
    """Return parameters as one vector in the order of the reference."""
    names = reference.Params._fields
    return reference.flatten(
        reference.Params(**{name: getattr(parameters, name) for name in names})
    )


def test_a_ratio_of_zero_is_l2():
    assert isinstance(elastic_net(0.0), L2)


def test_sag_says_that_it_needs_curvature(data):
    with pytest.raises(ValueError, match="SAG needs .* the penalty 'elastic_net'"):
        SAGNUSCRF(l1_ratio=1.0).fit(*data)


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


@pytest.mark.parametrize(
    ("c2", "l1_ratio", "tol"), [(0.1, 0.5, 1e-10), (0.0, 1.0, 1e-6)]
)
def test_c1_of_crfsuite(data, c2, l1_ratio, tol):
    X, y = as_dicts(data[0]), [list(map(str, path)) for path in data[1]]
    crf = CRF(c1=0.2, c2=c2, tol=tol).fit(X, y)
    alpha = (0.2 + 2.0 * c2) / len(X)
    assert_allclose(crf.estimator_.alpha_, alpha)
    assert crf.estimator_.l1_ratio == l1_ratio
    weights = flat_weights(crf.estimator_.densify())
    loss = reference.mean_loss(*data, N_LABELS)
    best = reference.optimum(loss, len(weights), alpha, l1_ratio)
    assert_allclose(crf.estimator_.primal_objective_, best.fun, atol=1e-8)


def test_classes_of_many_numbers():
    rng = np.random.default_rng(0)
    shape = np.append(rng.uniform(0.01, 2.0, size=5000) ** 3, [0.0] * 10)
    code, means = in_classes(shape)
    assert means[code[-1]] == 0.0
    assert set(means[np.bincount(code, minlength=256) == 0]) == {1.0}
    assert set(code[-10:]).isdisjoint(code[:-10])
    # A class has a width of 1 / 254 of the range of logarithms.
    half = np.log(shape[:-10].max() / shape[:-10].min()) / 508
    assert_allclose(np.log(means[code[:-10]]), np.log(shape[:-10]), atol=2 * half)
    assert len(set(code)) > 100


@pytest.mark.parametrize("shape", [[], [0.0, 0.0], [7.0, 7.0], [1e-9, 0.3, 0.0, 1e9]])
def test_classes_of_few_numbers_have_these(shape):
    code, means = in_classes(np.array(shape, dtype=float))
    assert_allclose(means[code], shape, rtol=1e-15)
