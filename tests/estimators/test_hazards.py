"""The numerical hazards on which CRF tools are known to fail, each checked by value.

Values that depend on the weights of a model come from enumeration of the label paths.
The second part looks for fits that fail silently: at extreme scales, with long chains,
and with arrays of more than 2^31 numbers.
"""

import re
import warnings
from functools import cache

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils._param_validation import InvalidParameterError

import reference
from samples import (
    all_estimators,
    flat_weights,
    inconsistency,
    make_problem,
    make_solver,
    name_of,
    node_scores,
)
from skcrf_sdca import LBFGSCRF, OEGCRF, SAGNUSCRF, SDCACRF, SGDCRF
from skcrf_sdca._kernels.inference import _passes
from skcrf_sdca._kernels.visits._samplers import MaxTree, SumTree
from skcrf_sdca._utils import mapped_arrays
from skcrf_sdca._utils import memory as _memory
from skcrf_sdca.datasets import make_chains
from skcrf_sdca.solvers.oeg import OEG
from skcrf_sdca.solvers.sdca import SDCA
from skcrf_sdca.structures.chain import oracle
from skcrf_sdca.structures.chain.chains import Chains
from skcrf_sdca.structures.chain.marginals import Marginals

pytestmark = pytest.mark.survives

ESTIMATORS = all_estimators()
DUAL = [SDCACRF(dual_dtype="float64", random_state=0), OEGCRF(random_state=0)]
X, Y = make_chains(12, n_labels=3, n_features=4, length=(1, 4), random_state=0)


@pytest.fixture(params=ESTIMATORS, ids=name_of)
def crf(request):
    return clone(request.param)


@pytest.fixture(params=DUAL, ids=name_of)
def dual_crf(request):
    return clone(request.param)


# Tools --------------------------------------------------------------------------------


def least_primal(X, y, alpha, n_labels, start=None):
    """Return min P by enumeration."""
    if start is None:
        start = np.zeros(len(reference.features(X[0], y[0], n_labels)))
    loss = reference.mean_loss(X, y, n_labels)
    return reference.smooth_optimum(loss, start, alpha, gtol=1e-11).fun


def fit_quietly(crf, X, y):
    """Fit, and return whether a ConvergenceWarning was raised."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        crf.fit(X, y)
    assert {w.category for w in caught} <= {ConvergenceWarning}
    return bool(caught)


def assert_honest(crf, complained, least=None):
    """The reported objective and gap agree with the weights and with the optimum."""
    assert np.isfinite(flat_weights(crf)).all()
    assert crf.duality_gap_ >= 0
    assert complained == (crf.duality_gap_ > crf.tol * crf.primal_objective_)
    if least is not None:
        rounding = 1e-9 * (1 + abs(least))
        assert crf.primal_objective_ >= least - rounding
        assert crf.primal_objective_ - crf.duality_gap_ <= least + rounding


# Known hazards ------------------------------------------------------------------------


@pytest.mark.parametrize("value", [700.0, 1000.0])
def test_scores_beyond_the_range_of_exp(crf, value):
    a, b = np.array([[value, 0.0], [0.0, 1.0]]), np.array([[0.0, 1.0], [value, 0.0]])
    y = [[0, 1], [1, 0]]
    complained = fit_quietly(crf.set_params(alpha=0.01, max_iter=300), [a, b], y)
    assert crf.score([a, b], y) == 1.0
    assert_honest(crf, complained, least_primal([a, b], y, 0.01, 2))


def test_the_maximum_of_each_row():
    rows = np.array([[0.0, 0.0], [-1000.0, -1000.0]])
    values = oracle.log_partition(rows, np.zeros((2, 2)), [0, 1, 2])
    assert_allclose(values, [np.log(2), np.log(2) - 1000], rtol=1e-15)
    rng = np.random.default_rng(0)
    node, transition = 1e4 * rng.normal(size=(4, 3)), 1e4 * rng.normal(size=(3, 3))
    (value,) = oracle.log_partition(node, transition)
    assert_allclose(value, reference.log_partition(node, transition), rtol=1e-14)


def test_nothing_but_minus_infinity():
    (value,) = oracle.log_partition([[-np.inf, -np.inf]], np.zeros((2, 2)))
    assert value == -np.inf


@pytest.mark.parametrize("length", [100_000, 1_000_000])
def test_long_chains(length):
    transition = np.array([[0.7, -0.3], [-0.3, 0.7]])
    node, (value,) = oracle.node_marginals(np.zeros((length, 2)), transition)
    exact = np.log(2) + (length - 1) * np.log(np.exp(0.7) + np.exp(-0.3))
    assert_allclose(value, exact, rtol=1e-16 * length)
    assert_allclose(node, 0.5, rtol=1e-10)


def test_a_shift_of_all_scores():
    rng = np.random.default_rng(0)
    node, transition = rng.normal(size=(7, 3)), rng.normal(size=(3, 3))
    before, (value,) = oracle.marginals(node, transition)
    after, (shifted,) = oracle.marginals(node + 1e4, transition)
    assert_allclose(shifted, value + 7e4, rtol=1e-14)
    assert_allclose(after.node, before.node, rtol=0, atol=1e-10)
    assert_allclose(after.edge, before.edge, rtol=0, atol=1e-10)


def test_entropy_and_divergence_of_certainty():
    ends = np.array([0, 2])
    one_hot = Marginals(np.eye(2), np.array([[[0.0, 1.0], [0.0, 0.0]]]), ends)
    assert one_hot.entropy().tolist() == [0.0]
    # KL((1, 0) || (1/4, 3/4)): the intercepts are the logarithms.
    problem = make_problem([np.zeros((1, 1))], [[0]], 2, 1.0)
    model = problem.new_parameters()
    model.intercept[:] = np.log([0.25, 0.75])
    no_edges = np.zeros((2, 2))
    certificate = problem.certify_dual(
        model.w, model.w, np.eye(2)[:1], no_edges, np.zeros(1)
    )
    assert_allclose(certificate.gap, np.log(4), rtol=1e-15)


def test_marginals_that_are_the_target_already(dual_crf):
    """Without features and with equally frequent labels, w = 0 is optimal."""
    problem = make_problem([np.zeros((1, 2))] * 4, [[0], [1], [0], [1]], 2, 0.25)
    uniform = {"SDCACRF": {"init_smoothing": 1.0}, "OEGCRF": {"init_score": 0.0}}
    dual_crf.set_params(acceleration=None, **uniform[name_of(dual_crf)])
    solver = dual_crf._new_solver(problem)
    for _ in range(3):
        solver.epoch()
    assert not solver.model.w.any()
    assert_array_equal(solver.marginals.local, np.full((4, 2), 0.5))
    assert_allclose(solver.gaps, 0.0, rtol=0, atol=1e-15)
    assert solver.certify().gap < 1e-15


def test_no_gap_below_its_rounding():
    """KL(p || p) is a rounding error of either sign: no gap of 0 is claimed."""
    problem = make_problem(X, Y, 3, 0.1)
    rng, gaps = np.random.default_rng(0), []
    for _ in range(50):
        model = problem.new_parameters(rng.normal(size=problem.new_parameters().w.size))
        scores = node_scores(problem, model)
        own, _ = oracle.marginals(scores, model.transition, problem.offsets)
        edge_total, entropy = own.renormalize(problem.weight)
        dual_point = own.node, edge_total, entropy
        gaps.append(problem.certify_dual(model.w, model.w, *dual_point).gap)
    assert 0.0 < min(gaps) <= max(gaps) < 1e-13


def test_no_recorded_gap_below_zero(dual_crf):
    dual_crf.set_params(acceleration=None)
    solver = dual_crf._new_solver(make_problem(X, Y, 3, 0.1))
    for _ in range(300):
        solver.epoch()
        assert (solver.gaps >= 0).all()
    assert 0.0 <= solver.certify().gap < 1e-10


@pytest.mark.parametrize("score", [1.0, 40.0, 800.0])
def test_entropy_near_certainty(score):
    odds = np.exp(-score)
    exact = 50 * (np.log1p(odds) + score * odds / (1 + odds))
    marginals, _ = oracle.marginals(np.tile([score, 0.0], (50, 1)), np.zeros((2, 2)))
    assert_allclose(marginals.entropy()[0], exact, rtol=1e-12, atol=1e-12)
    assert marginals.entropy()[0] >= 0


def certain_state(problem):
    """Return a warm start of SDCA whose marginals are exactly 0 and 1."""
    one_hot = Marginals.smoothed(
        problem.targets.labels,
        problem.offsets,
        n_labels=problem.structure.n_labels,
        smoothing=1e-300,
    )
    one_hot.node[one_hot.node < 0.5] = 0.0
    one_hot.edge[one_hot.edge < 0.5] = 0.0
    return {
        "node": one_hot.node,
        "edge": one_hot.edge,
        "alpha": problem.alpha,
        "offsets": problem.offsets,
        "allowed": None,
    }


def test_line_search_from_certainty():
    """At step 0 the slope is infinite."""
    problem = make_problem(X, Y, 3, 0.1)
    crf = SDCACRF(
        dual_dtype="float64", acceleration=None, warm_start=True, random_state=0
    )
    crf._warm_state = certain_state(problem)
    solver = crf._new_solver(problem)
    duals = [problem.dual(solver.model.w, problem.mean(solver.entropy))]
    for _ in range(100):
        solver.epoch()
        duals.append(solver.certify().dual)
    assert duals[0] == 0.0
    assert duals[1] > 0.0
    assert (np.diff(duals) >= -1e-12).all()
    assert solver.certify().gap < 1e-9


def test_line_search_to_the_end():
    """A step of 1 gives the target to the last bit, and no step is larger."""
    problem = make_problem(X[:1], Y[:1], 3, 0.1)
    options = {"line_search": "fixed", "step": 1.0, "acceleration": None}
    crf = SDCACRF(dual_dtype="float64", random_state=0, **options)
    solver = crf._new_solver(problem)
    model = problem.new_parameters(solver.model.w.copy())
    scores = node_scores(problem, model)
    target, _ = oracle.marginals(scores, model.transition)
    solver.epoch()
    assert_array_equal(solver.marginals.local, target.node)
    assert_array_equal(solver.marginals.edge, target.edge)

    problem = make_problem(X, Y, 3, 1e12)
    crf = SDCACRF(dual_dtype="float64", acceleration=None, random_state=0)
    solver = crf._new_solver(problem)
    for _ in range(5):
        solver.epoch()
    assert_allclose(solver.marginals.local, 1 / 3, rtol=1e-9)
    assert inconsistency(solver.marginals) < 1e-12


@pytest.mark.parametrize("crf", ESTIMATORS[:3], ids=name_of)
def test_nan_is_never_a_step(crf):
    solver = crf._new_solver(make_problem(X, Y, 3, 0.1))
    solver.model.w[:] = np.nan
    with pytest.raises(ValueError, match="not finite: scale the features in X, or"):
        solver.epoch()


def test_nan_is_never_an_evaluation():
    solver = LBFGSCRF()._new_solver(make_problem(X, Y, 3, 0.1))
    solver.model.w[:] = np.nan
    with pytest.raises(ValueError, match="not finite: scale the features in X, or"):
        solver.run(lambda: False)


def test_one_node_with_two_more_terms():
    scores = np.log([[0.2, 0.3, 0.5, 1.0, 1.0]])
    (value,) = oracle.log_partition(scores, np.ones((5, 5)))
    assert_allclose(value, np.log(3), rtol=1e-15)


# With the second, no estimator gets to the tolerance, in however many epochs.
@pytest.mark.parametrize(("alpha", "max_iter"), [(1e-2, 3000), (1e-8, 300)])
def test_separable_with_a_tiny_alpha(crf, alpha, max_iter):
    x, y = [np.array([[1.0], [-1.0]])], [[0, 1]]
    crf.set_params(alpha=alpha, tol=1e-12, max_iter=max_iter)
    complained = fit_quietly(crf, x, y)
    least = least_primal(x, y, alpha, 2, flat_weights(crf))
    assert_honest(crf, complained, least)
    primal = reference.primal(flat_weights(crf), x, y, alpha, 2)
    assert_allclose(crf.primal_objective_, primal, rtol=1e-9, atol=1e-13)
    if not complained:
        assert_allclose(primal, least, rtol=1e-5, atol=1e-12)
    assert crf.score(x, y) == 1.0


@pytest.mark.parametrize("exponent", [43, 46, 49, 52, 55])
def test_a_fit_ends_only_with_scores_that_a_prediction_takes(crf, exponent):
    X = [10.0**exponent * np.array(x) for x in ([[1.0, -2.0]], [[3.0, 0.5], [-1, 2]])]
    for alpha in (1.0, 1e-4, 1e-8):
        crf.set_params(alpha=alpha, max_iter=3)
        try:
            fit_quietly(crf, X, [[0], [1, 0]])
        except ValueError as error:
            assert "scale the features" in str(error)  # noqa: PT017
        else:
            assert len(crf.predict(X)) == 2


def test_a_huge_alpha(crf):
    complained = fit_quietly(crf.set_params(alpha=1e6, tol=1e-14), X, Y)
    gradient = reference.gradient(np.zeros_like(flat_weights(crf)), X, Y, 1e6, 3)
    expected = -gradient / 1e6
    off = np.linalg.norm(flat_weights(crf) - expected)
    certified = np.sqrt(2 * crf.duality_gap_ / 1e6)
    assert off <= certified + 2e-6 * np.linalg.norm(expected)
    assert certified < 1e-2 * np.linalg.norm(expected)
    empty = np.mean([len(x) for x in X]) * np.log(3)
    assert_allclose(crf.primal_objective_, empty, rtol=1e-6)
    assert_honest(crf, complained)


def test_the_empty_model():
    problem = make_problem(X, Y, 3, 0.1)
    w = np.zeros(problem.new_parameters().w.size)
    gradient, certificate = problem.certify_primal(w)
    empty = np.mean([len(x) for x in X]) * np.log(3)
    assert_allclose(certificate.primal, empty, rtol=1e-14)
    expected = sum(
        reference.all_features(x, 3).mean(axis=0) - reference.features(x, y, 3)
        for x, y in zip(X, Y, strict=True)
    ) / len(X)
    assert_allclose(gradient, expected, rtol=0, atol=1e-14)


def test_features_that_are_all_zero(crf):
    x = [np.zeros((t, 2)) for t in (3, 1, 4)]
    y = [[0, 1, 0], [1], [1, 0, 1, 0]]
    complained = fit_quietly(crf.set_params(max_iter=3000), x, y)
    assert not complained
    assert (abs(crf.coef_) < 1e-11).all()
    assert crf.transition_[0, 1] > crf.transition_[0, 0]
    assert_honest(crf, complained, least_primal(x, y, 1 / 3, 2))


def test_one_label(crf):
    y = [[0] * len(x) for x in X]
    assert not fit_quietly(crf, X, y)
    assert crf.n_iter_ == 1
    for value in (crf.primal_objective_, crf.duality_gap_, *flat_weights(crf)):
        assert abs(value) < 1e-12
    assert all((p == 1.0).all() for p in crf.predict_proba(X))
    node = np.array([[1.5], [-2.0], [3.0]])
    marginals, (value,) = oracle.marginals(node, [[0.25]])
    assert value == 3.0
    assert (marginals.node == 1.0).all()
    assert marginals.entropy().tolist() == [0.0]


def test_one_item(crf):
    x, y = [np.array([[1.0, -2.0]])], [[1]]
    # A second class needs a sequence; its weight is zero.
    x, y = [*x, np.array([[0.0, 0.0]])], [*y, [0]]
    crf.set_params(alpha=0.5, tol=1e-12, max_iter=3000)
    crf.fit(x, y, sample_weight=[1.0, 0.0])
    gradient = reference.gradient(flat_weights(crf), x[:1], y[:1], 0.5, 2)
    assert_allclose(gradient, 0.0, rtol=0, atol=1e-5)
    # Softmax regression on the features, an intercept, and a constant for each end.
    row = np.array([1.0, -2.0, 1.0, 1.0, 1.0])
    scores = crf.coef_ @ x[0][0] + crf.intercept_ + crf.start_ + crf.end_
    probability = np.exp(scores) / np.exp(scores).sum()
    expected = np.outer(np.eye(2)[1] - probability, row) / 0.5
    found = np.column_stack([crf.coef_, crf.intercept_, crf.start_, crf.end_])
    assert_allclose(found, expected, rtol=0, atol=1e-5)
    assert not crf.transition_.any()


@pytest.mark.parametrize("odd", [0.0, -1e-300, np.nan, np.inf])
@pytest.mark.parametrize("tree", [SumTree, MaxTree])
def test_samplers_without_usable_scores(tree, odd):
    sampler = tree(np.ones(5), 1.0, True, 0.0)
    sampler.set_value(4, odd)
    positions = np.linspace(0.0, 1.0 - 2.0**-53, 50)
    picks = sampler.picks(np.column_stack([np.zeros(50), positions]))
    assert ((picks >= 0) & (picks < 5)).all()
    if tree is SumTree:
        assert_array_equal(np.bincount(picks, minlength=5), 10)


def test_no_drift(dual_crf):
    problem = make_problem(X, Y, 3, 0.05)
    solver = dual_crf.set_params(acceleration=None)._new_solver(problem)
    for _ in range(100):
        solver.epoch()
    kept = solver.model.w.copy()
    assert_allclose(solver.marginals.local.sum(axis=1), 1.0, rtol=0, atol=1e-10)
    anew = problem.dual_to_primal(solver.marginals.local, solver.renormalize())
    assert np.linalg.norm(kept - anew) < 1e-9 * np.linalg.norm(anew)


@pytest.mark.parametrize("n_epochs", [3, 300])
def test_the_gap_is_that_of_the_two_objectives(n_epochs):
    problem = make_problem(X, Y, 3, 0.05)
    crf = SDCACRF(dual_dtype="float64", acceleration=None, random_state=0)
    solver = crf._new_solver(problem)
    for _ in range(n_epochs):
        solver.epoch()
    certificate = solver.certify()
    mu = [
        reference.path_distribution(*solver.marginals[i])
        for i in range(len(solver.marginals))
    ]
    primal = reference.primal(solver.model.w, X, Y, 0.05, 3)
    dual = reference.dual(mu, X, Y, 0.05, 3)
    assert primal - dual >= -1e-10
    assert_allclose(certificate.gap, primal - dual, rtol=1e-8, atol=1e-13)


def test_what_a_fit_reports_is_what_enumeration_finds(crf):
    """After any epoch the objective is exact and the optimum is within the gap."""
    least = least_primal(X, Y, 0.05, 3)
    for max_iter in (1, 5, 2000):
        crf.set_params(alpha=0.05, tol=1e-9, max_iter=max_iter)
        complained = fit_quietly(crf, X, Y)
        assert not complained or max_iter < 2000
        assert_honest(crf, complained, least)
        w, gap = flat_weights(crf), crf.primal_objective_ - crf.dual_objective_
        primal = reference.primal(w, X, Y, 0.05, 3)
        assert_allclose(crf.primal_objective_, primal, rtol=1e-9)
        assert_allclose(gap, crf.duality_gap_, rtol=1e-8, atol=1e-13)
        if name_of(crf) in ("SAGNUSCRF", "LBFGSCRF"):
            gradient = reference.gradient(w, X, Y, 0.05, 3)
            gap = gradient @ gradient / (2 * 0.05)
            # That of one dual point, or of a mix of some, which is tighter, or far from
            # the optimum that of the marginals that SAG keeps.
            assert crf.duality_gap_ <= 1.000001 * gap + 1e-13
            if name_of(crf) == "SAGNUSCRF" and max_iter == 2000:
                assert_allclose(crf.duality_gap_, gap, rtol=1e-6, atol=1e-13)


@pytest.mark.parametrize("value", [1e100, 1e160, 1e200, 1e300])
def test_features_beyond_squares(crf, value):
    x = [np.array([[value], [-value]]), np.array([[-value], [value]])]
    y = [[0, 1], [1, 1]]
    crf.set_params(max_iter=30)
    try:
        complained = fit_quietly(crf, x, y)
    except ValueError as error:
        assert "scale the features" in str(error)  # noqa: PT017
        assert not hasattr(crf, "coef_")
        return
    assert_honest(crf, complained)
    assert complained or crf.coef_.any()


def test_steps_of_oeg_that_are_too_long():
    problem = make_problem(X, Y, 3, 0.05)
    with pytest.raises(InvalidParameterError, match="step_init"):
        OEGCRF(step_init=1e6).fit(X, Y)
    solver = make_solver(OEG, problem, step_init=1e6)
    duals = []
    for _ in range(100):
        solver.epoch()
        duals.append(solver.certify().dual)
    assert (np.diff(duals) >= -1e-12).all()
    assert (solver.marginals.local > 0.0).all()
    assert solver.certify().gap < 1e-6


def bytes_in(message):
    return int(re.search(r"(\d+) bytes", message)[1])


@pytest.mark.parametrize("table", [False, True], ids=["sequences", "table"])
def test_as_many_labels_as_items(crf, table, monkeypatch):
    """n_labels^2 exceeds 2^31: the error names the bytes before any allocation."""
    monkeypatch.setattr(_memory, "available_memory", lambda: 2**34)
    n_labels = 50_000
    x, y = np.ones((2 * n_labels, 1)), np.arange(2 * n_labels) % n_labels
    if not table:
        x, y = np.split(x, 4), np.split(y, 4)
    with pytest.raises(MemoryError, match="a model of 50000 labels.*join labels") as e:
        crf.fit(x, y)
    assert bytes_in(str(e.value)) >= 5 * 8 * n_labels**2
    assert not hasattr(crf, "classes_")


def test_masks_of_all_pairs_are_refused_before_they_are_made(monkeypatch):
    monkeypatch.setattr(_memory, "available_memory", lambda: 2**34)
    n_labels = 50_000
    x, y = np.split(np.ones((n_labels, 1)), 4), np.split(np.arange(n_labels), 4)
    with pytest.raises(MemoryError, match="all pairs of 50000 labels.*join labels"):
        OEGCRF(label_pairs="observed").fit(x, y)


def test_what_a_solver_keeps(crf, monkeypatch):
    """The fit is refused before any allocation, with the bytes and with advice."""
    monkeypatch.setattr(mapped_arrays, "free_space", lambda: 0)
    monkeypatch.setattr(_memory, "SMALL", 0)
    monkeypatch.setattr(_memory, "available_memory", lambda: 200_000)
    rng = np.random.default_rng(0)
    n_labels = 30
    if isinstance(crf, SDCACRF):
        crf.set_params(dual_dtype="float64")
    if isinstance(crf, SGDCRF):
        crf.set_params(method="hybrid")
    x = [np.ones((40, 1))] * 20
    y = [rng.integers(n_labels, size=40) for _ in x]
    advice = "of the solvers, these fit: SGDCRF "
    if isinstance(crf, SGDCRF):
        advice = 'method="svrg" keeps none'
    with pytest.raises(MemoryError, match=advice) as e:
        crf.fit(x, y)
    squares = {"SDCACRF": 20 * 39 * 8, "SAGNUSCRF": 20 * 16, "OEGCRF": 20 * 12}
    squares |= {"LBFGSCRF": 25 * 8, "SGDCRF": 28 * 8, "CRF": 20 * 12}
    assert bytes_in(str(e.value)) >= squares[name_of(crf)] * n_labels**2


def test_what_fits_is_not_refused(crf, monkeypatch):
    monkeypatch.setattr(_memory, "SMALL", 0)
    crf.fit(X, Y)
    monkeypatch.setattr(_memory, "available_memory", lambda: None)
    crf.fit(X, Y)


def test_marginals_and_scores_for_prediction(monkeypatch):
    monkeypatch.setattr(_memory, "SMALL", 0)
    monkeypatch.setattr(_memory, "available_memory", lambda: 100_000)
    with pytest.raises(MemoryError, match="marginals of 999 edges between 4 labels"):
        oracle.marginals(np.zeros((1000, 4)), np.zeros((4, 4)))
    crf = SDCACRF(random_state=0).fit(X, Y)
    with pytest.raises(MemoryError, match="scores of 9999 positions and 3 labels"):
        crf.predict([np.ones((9999, 4))])


def test_draws_and_best_paths(monkeypatch):
    """The call is refused before memory of that size is touched."""
    monkeypatch.setattr(_memory, "available_memory", lambda: 2**34)
    crf = SDCACRF(random_state=0).fit(X, Y)
    with pytest.raises(MemoryError, match="draws of .* labels.*n_draws") as e:
        crf.sample(X, n_draws=10**9)
    assert bytes_in(str(e.value)) >= 8 * 10**9
    with pytest.raises(MemoryError, match="best labellings of each of 1 seq.*lower n"):
        crf.predict_n_best([np.ones((30, 4))], 10**9)
    assert len(crf.predict_n_best([np.ones((2, 4))], 10**9)[0]) == 9


def test_available_memory(monkeypatch, tmp_path):
    info, limit = tmp_path / "meminfo", tmp_path / "memory.max"
    info.write_text("MemTotal: 9 kB\nMemAvailable: 5 kB\nSwapFree:  2 kB\n")
    monkeypatch.setattr(_memory, "_MEMINFO", info)
    monkeypatch.setattr(_memory, "_LIMITS", (limit, tmp_path / "none"))
    assert _memory.available_memory() == 7 * 1024
    limit.write_text("max\n")
    assert _memory.available_memory() == 7 * 1024
    limit.write_text("6000\n")
    assert _memory.available_memory() == 6000
    for text in ("", "nonsense", "MemAvailable: x kB\nSwapFree: 2 kB"):
        info.write_text(text)
        machine = _memory.available_memory()
        assert machine is None or machine > 2**20
    # Windows.
    monkeypatch.delattr(_memory.os, "sysconf", raising=False)
    assert _memory.available_memory() is None


@pytest.mark.parametrize(("name", "used"), [("RLIMIT_AS", 7), ("RLIMIT_DATA", 4)])
def test_limits_of_the_process_limit_the_memory(name, used, monkeypatch, tmp_path):
    resource = pytest.importorskip("resource")
    info, sizes = tmp_path / "meminfo", tmp_path / "statm"
    info.write_text("MemAvailable: 9000000 kB\nSwapFree: 0 kB\n")
    sizes.write_text("7 2 1 1 0 4 0\n")
    limits = {getattr(resource, name): 2**24}
    monkeypatch.setattr(_memory, "_MEMINFO", info)
    monkeypatch.setattr(_memory, "_SIZES", sizes)
    monkeypatch.setattr(_memory, "_LIMITS", ())
    monkeypatch.setattr(
        resource, "getrlimit", lambda n: (limits.get(n, resource.RLIM_INFINITY),) * 2
    )
    left = 2**24 - used * resource.getpagesize()
    assert _memory.available_memory() == left


def test_ties_go_to_the_lowest_label(crf):
    paths, _ = oracle.viterbi(np.zeros((100, 5)), np.zeros((5, 5)))
    assert not paths.any()
    x, y = [np.zeros((1, 1))] * 2, [["b"], ["a"]]
    crf.fit(x, y)
    for weights in (crf.coef_, crf.intercept_, crf.start_, crf.end_, crf.transition_):
        weights[:] = 0.0
    assert crf.predict(x).tolist() == [["a"], ["a"]]


def test_the_probability_of_a_long_path():
    """The probability underflows; its logarithm does not."""
    scores, transition = np.zeros((4000, 3)), np.zeros((3, 3))
    (best,) = oracle.viterbi(scores, transition)[1]
    (value,) = oracle.log_partition(scores, transition)
    assert_allclose(best - value, -4000 * np.log(3), rtol=1e-13)


def test_single_precision_is_computed_in_double(crf):
    single = [x.astype(np.float32) for x in X]
    fit_quietly(crf.set_params(alpha=0.1), single, Y)
    double = clone(crf)
    fit_quietly(double, [x.astype(np.float64) for x in single], Y)
    assert crf.coef_.dtype == np.float64
    assert_array_equal(crf.coef_, double.coef_)
    assert crf.primal_objective_ == double.primal_objective_
    fit_quietly(double, X, Y)
    assert_allclose(crf.primal_objective_, double.primal_objective_, rtol=1e-4)


def test_a_probability_of_zero(crf):
    """It is exactly 0 or above, and no logarithm of 0 is taken, which would warn."""
    crf.fit(X, Y)
    # A score of 1e4 has a rounding error of 1e-12.
    for p in crf.predict_proba([1e4 * x for x in X]):
        assert (p >= 0).all()
        assert_allclose(p.sum(axis=1), 1.0, rtol=0, atol=1e-10)
    node, _ = oracle.node_marginals([[0.0, -2000.0]], np.zeros((2, 2)))
    assert node.tolist() == [[1.0, 0.0]]


# No fit fails silently ----------------------------------------------------------------


@pytest.mark.parametrize("alpha", [5e-324, 1e-300, 1e-100, 1e-12, 1e12, 1e100, 1e300])
def test_any_alpha(crf, alpha):
    crf.set_params(alpha=alpha, max_iter=20)
    try:
        complained = fit_quietly(crf, X, Y)
    except ValueError as error:
        assert "larger alpha" in str(error)  # noqa: PT017
        assert alpha < 1
        return
    assert_honest(crf, complained)
    empty = np.mean([len(x) for x in X]) * np.log(3)
    if alpha > 1:
        assert_allclose(crf.primal_objective_, empty, rtol=1e-9)


@cache
def least_without_features(alpha):
    return least_primal([np.zeros_like(rows) for rows in X], Y, alpha, 3)


@pytest.mark.parametrize("scale", [1e-300, 1e-100, 1e-5, 1e2, 1e5, 1e50, 1e140])
def test_any_scale_of_features(crf, scale):
    x = [scale * rows for rows in X]
    crf.set_params(alpha=0.1, max_iter=50)
    try:
        complained = fit_quietly(crf, x, Y)
    except ValueError as error:
        assert "scale the features" in str(error)  # noqa: PT017
        assert scale > 1
        return
    assert_honest(crf, complained)
    if scale < 1e-4:
        assert_honest(crf, complained, least_without_features(0.1))


@pytest.mark.parametrize(
    "length", [20_000, pytest.param(200_000, marks=pytest.mark.slow)]
)
def test_a_long_chain(crf, length):
    x, y = make_chains(1, n_labels=2, n_features=2, length=length, random_state=0)
    crf.set_params(alpha=1.0, max_iter=2)
    assert_honest(crf, fit_quietly(crf, x, y))
    (proba,) = crf.predict_proba(x)
    assert_allclose(proba.sum(axis=1), 1.0, rtol=0, atol=1e-9)


def test_many_labels(crf):
    """120 labels, each with its own feature."""
    x = [np.eye(120)[k : k + 3] for k in range(0, 120, 3)]
    y = [list(range(k, k + 3)) for k in range(0, 120, 3)]
    complained = fit_quietly(crf.set_params(max_iter=10, alpha=1e-4), x, y)
    assert_honest(crf, complained)
    if not isinstance(crf, SAGNUSCRF):
        assert crf.score(x, y) == 1.0


# Arrays beyond 2^31 numbers -----------------------------------------------------------


@pytest.fixture
def huge(tmp_path):
    """Make arrays of zeros in sparse files: only touched pages use disk space."""

    def make(shape, dtype=np.float64):
        make.count += 1
        return np.memmap(tmp_path / f"{make.count}", dtype, "w+", shape=shape)

    make.count = 0
    return make


def test_scores_beyond_2_31(huge):
    """With T K > 2^31 the last chain has the same results as alone."""
    n_labels, length = 2048, 3
    n = 2**31 // n_labels + 8
    scores, node = huge((n, n_labels)), huge((n, n_labels))
    rng = np.random.default_rng(0)
    last = rng.normal(size=(length, n_labels))
    scores[-length:] = last
    transition = rng.normal(size=(n_labels, n_labels))
    offsets = np.array([0, n - length, n], dtype=np.int64)
    values, paths = np.empty(2), np.zeros(n, dtype=np.int32)
    chains = Chains(scores, transition, offsets)
    _passes.expectations(chains, 1, 2, node, values)
    alone, (value,) = oracle.node_marginals(last, transition)
    assert values[1] == value
    assert_array_equal(node[-length:], alone)
    _passes.log_partitions(chains, 1, 2, values)
    assert values[1] == value
    _passes.best_labels(chains, 1, 2, paths, values)
    path, (score,) = oracle.viterbi(last, transition)
    assert_array_equal(paths[-length:], path)
    assert values[1] == score


@pytest.mark.slow
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_edges_of_sdca_beyond_2_31(huge, dtype, monkeypatch):
    """A visit of the last sequence does the same after few and after many edges."""
    monkeypatch.setattr(_memory, "available_memory", lambda: None)
    n_labels, n_pairs, visits = 1024, 2**31 // 1024**2 + 8, []
    last = np.random.default_rng(0).normal(size=(4, 3))
    for n_before in (n_pairs, 1):
        lengths = [2] * n_before + [4]
        x = [np.zeros((2, 3))] * n_before + [last]
        problem = make_problem(x, [range(t) for t in lengths], n_labels, 0.5)
        problem.feature_scale[:] = 1.0
        edges = huge((n_before + 3, n_labels, n_labels), dtype)
        node = np.zeros((2 * n_before + 4, n_labels))
        node[-4:], edges[-3:] = 1.0 / n_labels, 1.0 / n_labels**2
        solver = solver_at(
            Marginals(node, edges, problem.offsets), problem, monkeypatch
        )
        solver.kernel.epoch_in_order(np.array([n_before]))
        visits.append((solver.model.w, edges[-3:], node[-4:], solver.gaps[n_before]))
        assert not edges[:-3][:: max(n_before // 4, 1)].any()
    for found, alone in zip(*visits, strict=True):
        assert_array_equal(found, alone)
    assert visits[0][1].std() > 0


def solver_at(marginals, problem, monkeypatch):
    """Return SDCA with given marginals, which it does not read before a visit."""
    n_labels = problem.structure.n_labels
    monkeypatch.setattr(SDCA, "_first_marginals", lambda *arguments: marginals)
    monkeypatch.setattr(
        SDCA, "renormalize", lambda self: np.zeros((n_labels, n_labels))
    )
    crf = SDCACRF(
        dual_dtype=str(marginals.edge.dtype), acceleration=None, random_state=0
    )
    solver = crf._new_solver(problem)
    solver.entropy[:] = 4 * np.log(n_labels)
    solver.model.w[:] = 0.0
    solver.model.coef[:] = np.arange(n_labels) / n_labels
    return solver
