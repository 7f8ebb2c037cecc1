"""SGDCRF: every method against plain NumPy, and where the methods lead."""

import pickle
import sys
from itertools import product
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_array
from sklearn.exceptions import ConvergenceWarning

import reference
from pairs import by_pairs
from samples import flat_weights
from sgd_twin import ALPHA, COST, ETA0, D, K, Twin
from skcrf_sdca import LBFGSCRF, SDCACRF, SGDCRF, PackedSequences
from skcrf_sdca.datasets import make_chains
from skcrf_sdca.objective.losses import LOG_LOSS, new_loss
from skcrf_sdca.objective.penalties import elastic_net
from skcrf_sdca.objective.problem import Problem
from skcrf_sdca.solvers import svrg
from skcrf_sdca.solvers.sgd import LEARNING_RATES, least
from skcrf_sdca.solvers.sgd_methods import METHODS
from skcrf_sdca.structures.chain.structure import Chain

HINGE = new_loss("hinge", cost=COST)
ALL = sorted(METHODS)
# Those whose steps are along gradients of single sequences.
SINGLE = [m for m in ALL if m != "hybrid"]
WITH_L1 = [m for m in SINGLE if "identity" not in METHODS[m].needs]
NOT_SMOOTH = [m for m in ALL if "log sum" not in METHODS[m].needs]
WEIGHTS = np.array([1.0, 2.0, 0.5, 0.0, 1.0, 3.0, 1.0, 1.0])


@pytest.fixture(scope="module")
def tiny():
    """Eight chains of at most four positions, most of whose features are 0."""
    rng = np.random.default_rng(1)
    lengths = [3, 1, 4, 2, 0, 2, 4, 3]
    X = [rng.normal(size=(t, D)) * (rng.random((t, D)) < 0.3) for t in lengths]
    return X, [rng.integers(K, size=t) for t in lengths]


@pytest.fixture(scope="module")
def chains():
    return make_chains(n_sequences=60, random_state=0)


def problem_of(X, y, *, l1_ratio=0.0, loss=LOG_LOSS, sample_weight=None):
    packed = PackedSequences.from_sequences([csr_array(x) for x in X])
    return Problem(
        Chain(packed, K),
        np.concatenate(y).astype(np.int32),
        ALPHA,
        sample_weight=sample_weight,
        loss=loss,
        penalty=elastic_net(l1_ratio),
    )


def solver_of(problem, method, seed=0, **options):
    rng = np.random.default_rng(seed)
    return METHODS[method](problem, rng, method=method, **options)


def power_of(method):
    return LEARNING_RATES[METHODS[method].learning_rates[0]].power


def after(solver, n_epochs):
    """The weights after some epochs; without certificates no step is halved."""
    for _ in range(n_epochs):
        solver.epoch()
    return solver.current.w


# Differences of expectations have fewer digits than these.
@pytest.mark.parametrize("sample_weight", [None, WEIGHTS], ids=["equal", "weights"])
def test_gains_and_traces_are_those_of_plain_numpy(tiny, sample_weight):
    solver = solver_of(problem_of(*tiny, sample_weight=sample_weight), "smd", eta0=ETA0)
    twin = Twin(*tiny, 0.0, sample_weight=sample_weight)
    expected = twin.fit("smd", 2, 0.0)
    assert_allclose(after(solver, 2), expected, rtol=1e-10, atol=1e-10)
    assert_allclose(solver.trace, twin.trace, rtol=1e-10, atol=1e-10)
    assert_allclose(solver.gains, twin.gains, rtol=1e-10)
    assert twin.gains.min() < ETA0 < twin.gains.max()


@by_pairs(
    {"method": WITH_L1, "l1_ratio": [0.0, 0.3, 1.0], "sample_weight": [None, WEIGHTS]}
)
def test_weights_are_those_of_plain_numpy(tiny, method, l1_ratio, sample_weight):
    problem = problem_of(*tiny, l1_ratio=l1_ratio, sample_weight=sample_weight)
    eta0 = "auto" if method == "pegasos" else ETA0
    solver = solver_of(problem, method, eta0=eta0)
    twin = Twin(*tiny, l1_ratio, sample_weight=sample_weight)
    expected = twin.fit(method, 2, power_of(method))
    assert_allclose(after(solver, 2), expected, rtol=1e-10, atol=1e-10)
    assert l1_ratio < 1.0 or (expected == 0.0).any()


@pytest.mark.parametrize("l1_ratio", [0.0, 0.3])
@pytest.mark.parametrize("method", NOT_SMOOTH)
def test_hinge_steps_along_subgradients(tiny, method, l1_ratio):
    problem = problem_of(*tiny, l1_ratio=l1_ratio, loss=HINGE)
    eta0 = "auto" if method == "pegasos" else ETA0
    solver = solver_of(problem, method, eta0=eta0)
    twin = Twin(*tiny, l1_ratio, hinge=True)
    expected = twin.fit(method, 2, power_of(method))
    assert_allclose(after(solver, 2), expected, rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("l1_ratio", [0.0, 0.3])
@pytest.mark.parametrize("rate", ["optimal", "invscaling", "constant"])
def test_average_counts_the_weights_after_t_visits_t_times(tiny, rate, l1_ratio):
    problem = problem_of(*tiny, l1_ratio=l1_ratio)
    solver = solver_of(problem, "asgd", eta0=ETA0, learning_rate=rate)
    twin = Twin(*tiny, l1_ratio)
    twin.fit("asgd", 2, LEARNING_RATES[rate].power)
    after(solver, 2)
    solver.certify()
    mean = twin.total / sum(range(1, twin.t + 1))
    assert_allclose(solver.model.w, mean, rtol=1e-10, atol=1e-10)


# [Schmidt15, sec. 6] and [Martins10, sec. 6] have these; of Pegasos eta0 is a factor.
@pytest.mark.parametrize(
    ("method", "rate", "power", "fall"),
    [
        ("sgd", "inverse_sqrt", 0.5, 1.0),
        ("asgd", "inverse_sqrt", 0.5, 1.0),
        ("sgd", "inverse_epochs", 1.0, 1.0 / 8),
        ("pegasos", "inverse", 1.0, 1.0),
    ],
)
def test_steps_fall_with_the_visits_and_with_the_epochs(
    tiny, method, rate, power, fall
):
    options = {"eta0": ETA0, "learning_rate": rate}
    solver = solver_of(problem_of(*tiny), method, **options)
    twin, rng = Twin(*tiny, 0.0), np.random.default_rng(0)
    for _ in range(2):
        twin.scaled(rng.permutation(8), ETA0, power, fall)
    assert_allclose(after(solver, 2), twin.w, rtol=1e-10, atol=1e-10)


def test_the_mean_of_pegasos_begins_anew_when_the_visits_have_doubled(tiny):
    solver, twin = solver_of(problem_of(*tiny), "pegasos"), Twin(*tiny, 0.0)
    rng, n = np.random.default_rng(0), len(twin.X)
    for epoch in range(4):
        if epoch in (1, 2):
            twin.total[:] = 0.0
        twin.scaled(rng.permutation(n), 1.0 / ALPHA, 1.0)
    after(solver, 4)
    solver.certify()
    mean = twin.total / sum(range(2 * n + 1, 4 * n + 1))
    assert_allclose(solver.model.w, mean, rtol=1e-10, atol=1e-10)


def test_the_ends_of_quarters_of_late_epochs_have_a_mean(tiny):
    solver = solver_of(problem_of(*tiny), "adagrad", eta0=ETA0, average=True)
    twin, n = Twin(*tiny, 0.0), len(tiny[0])
    rng, total, visits = np.random.default_rng(0), 0.0, 0
    for epoch in range(4):
        # Of eight chains, two are a quarter.
        for part in rng.permutation(n).reshape(4, 2):
            twin.adagrad(part)
            if epoch >= 2:
                share = 2 * twin.t - 1
                total, visits = total + share * twin.w, visits + share
    after(solver, 4)
    solver.certify()
    assert_allclose(solver.model.w, total / visits, rtol=1e-10, atol=1e-10)


def test_many_small_products_do_not_lose_digits(tiny):
    # With these steps the weights shrink by a third at every visit.
    problem = problem_of(*tiny, l1_ratio=0.3)
    solver = solver_of(problem, "asgd", eta0=15.0, learning_rate="constant")
    twin = Twin(*tiny, 0.3)
    rng = np.random.default_rng(0)
    for _ in range(2):
        twin.scaled(rng.permutation(len(twin.X)), 15.0, 0.0)
    assert_allclose(after(solver, 2), twin.w, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("drift", [-0.4, 0.4])
def test_svrg_crosses_zero_where_the_full_gradient_pulls(tiny, drift):
    problem = problem_of(*tiny, l1_ratio=0.9)
    solver = solver_of(problem, "svrg", eta0=ETA0)
    # The weights start on both sides of 0, some far from it.
    first = np.linspace(-2.0, 2.0, len(solver.current.w)) + drift
    solver.start_at(first)
    solver.first_step = 1
    twin = Twin(*tiny, 0.9)
    twin.w = first.copy()
    twin.svrg(np.random.default_rng(0).permutation(len(twin.X)))
    assert_allclose(after(solver, 1), twin.w, rtol=1e-10, atol=1e-10)


def inverse_hessian(pairs):
    """That of BFGS with pairs of differences, the oldest first, as a matrix."""
    (step, rise) = pairs[-1]
    identity = np.eye(len(step))
    inverse = identity * (step @ rise) / (rise @ rise)
    for step, rise in pairs:
        left = identity - np.outer(step, rise) / (step @ rise)
        inverse = left @ inverse @ left.T + np.outer(step, step) / (step @ rise)
    return inverse


def test_hybrid_takes_the_first_step_after_which_the_objective_has_fallen():
    values = iter([1.0, 1.0, 0.75])
    w = np.zeros(1)
    solver = SimpleNamespace(
        current=SimpleNamespace(w=w),
        found=None,
        of_batch=lambda batch: (next(values), np.ones(1)),
        curvature_pairs=svrg.CurvaturePairs(1),
        problem=SimpleNamespace(n_sequences=2),
    )
    svrg.Hybrid.step(solver, np.arange(1))
    # At -1 it was as before, so that the step was halved.
    assert w == -0.5
    assert next(values, None) is None


def test_hybrid_is_bfgs_on_batches_that_grow(tiny, monkeypatch):
    monkeypatch.setattr(svrg, "FIRST_BATCH", 2)
    problem = problem_of(*tiny, sample_weight=WEIGHTS)
    twin = Twin(*tiny, 0.0, sample_weight=WEIGHTS)
    rng, n, w, pairs = np.random.default_rng(0), len(twin.X), twin.w, []

    def objective(w, batch):
        X, y = ([part[i] for i in batch if len(twin.X[i])] for part in tiny)
        weight = [WEIGHTS[i] for i in batch if len(twin.X[i])]
        # primal() divides by the sum of the weights.
        factor = n * sum(weight) / (WEIGHTS.sum() * len(batch))
        alpha = ALPHA / factor
        value = reference.primal(w, X, y, alpha, K, weight)
        return factor * value, factor * reference.gradient(w, X, y, alpha, K, weight)

    for size in (2, 3, 4, 5, 6):
        batch = rng.permutation(n)[:size]
        value, gradient = objective(w, batch)
        direction, length = -gradient, 1.0 / np.linalg.norm(gradient)
        if pairs:
            direction, length = -inverse_hessian(pairs) @ gradient, 1.0
        while True:
            new, new_gradient = objective(w + length * direction, batch)
            if new <= value + 1e-4 * length * gradient @ direction:
                break
            length *= 0.5
        pairs.append((length * direction, new_gradient - gradient))
        w = w + length * direction
    solver = solver_of(problem, "hybrid")
    assert_allclose(after(solver, 2), w, rtol=1e-10, atol=1e-10)
    assert solver.n_updates == 5


def test_hybrid_does_not_evaluate_all_sequences_twice_at_the_same_weights(chains):
    problem = problem_of(*chains)
    state = solver_of(problem, "hybrid").state()
    solver, evaluated = solver_of(problem, "hybrid", state=state), []
    of_batch = solver.of_batch

    def recorded(batch):
        evaluated.append(solver.current.w.copy())
        return of_batch(batch)

    solver.of_batch = recorded
    after(solver, 5)
    assert len(np.unique(evaluated, axis=0)) == len(evaluated) >= 6
    # A change from outside is evaluated anew.
    solver.start_at(evaluated[0])
    after(solver, 1)
    assert_array_equal(evaluated[0], evaluated[-2])


def test_svrg_converges_linearly(chains):
    crf = SGDCRF(method="svrg", max_iter=60, tol=1e-9, random_state=0).fit(*chains)
    gaps = crf.history_["gap"]
    assert crf.duality_gap_ <= crf.gap_target_
    # The gap falls by half an epoch, and more.
    assert gaps[-1] <= gaps[0] * 0.5 ** (len(gaps) - 1)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize(
    ("method", "l1_ratio"), [*product(ALL, [0.0]), *product(WITH_L1, [0.3])]
)
def test_all_methods_come_near_to_the_optimum(chains, method, l1_ratio):
    exact = LBFGSCRF(l1_ratio=l1_ratio, tol=1e-7).fit(*chains)
    crf = SGDCRF(method=method, l1_ratio=l1_ratio, max_iter=50, tol=0.0, random_state=0)
    crf.fit(*chains)
    distance = crf.primal_objective_ - exact.primal_objective_
    assert -exact.duality_gap_ <= distance <= crf.duality_gap_ + 1e-12
    assert distance <= 1e-2 * exact.primal_objective_


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("method", WITH_L1)
def test_a_fit_moves_away_from_a_prior_that_is_near_the_optimum(chains, method):
    options = {"alpha": 0.5, "l1_ratio": 0.5}
    prior = LBFGSCRF(alpha=0.1).fit(*chains)
    exact = LBFGSCRF(**options, tol=1e-7).fit(*chains, prior=prior)
    crf = SGDCRF(**options, method=method, max_iter=100, tol=0.0, random_state=0)
    crf.fit(*chains, prior=prior)
    assert crf.eta0_ > 1e-6
    distance = crf.primal_objective_ - exact.primal_objective_
    assert distance <= 1e-2 * exact.primal_objective_


@pytest.mark.parametrize("method", NOT_SMOOTH)
def test_certificate_of_the_hinge_bounds_the_distance(chains, method):
    exact = SDCACRF(loss="hinge", tol=1e-3, max_iter=300, random_state=0).fit(*chains)
    crf = SGDCRF(method=method, loss="hinge", max_iter=40, tol=0.0, random_state=0)
    with pytest.warns(ConvergenceWarning):
        crf.fit(*chains)
    distance = crf.primal_objective_ - exact.primal_objective_
    assert distance <= crf.duality_gap_ <= 0.2 * crf.primal_objective_
    assert distance >= -exact.duality_gap_


@pytest.mark.parametrize("method", ALL)
def test_same_seed_gives_the_same_bits(chains, method):
    crf = SGDCRF(method=method, max_iter=2, tol=1e3, random_state=3)
    assert_array_equal(*(flat_weights(crf.fit(*chains)) for _ in range(2)))


def test_step_size_of_least_objective_is_found_from_both_sides():
    for first, best in product((1e-6, 1e6), (1.0, 64.0)):
        found = least(lambda eta: abs(np.log(eta / best)), first)  # noqa: B023
        assert 0.5 < found / best < 2.0
    # An objective that is not finite asks for smaller steps.
    assert least(lambda eta: np.inf if eta > 1e-3 else -eta, 1.0) <= 1e-3


@pytest.mark.parametrize("loss", [LOG_LOSS, HINGE], ids=["log_loss", "hinge"])
def test_trials_have_the_median_objective_of_three(tiny, loss):
    X, y = tiny
    problem = problem_of(X, y, loss=loss, sample_weight=WEIGHTS)
    solver = solver_of(problem, "asgd", learning_rate="constant")
    twin = Twin(X, y, 0.0, hinge=loss is HINGE, sample_weight=WEIGHTS)
    order, found = np.random.default_rng(1).permutation(len(X))[:6], []
    eta0 = 10.0
    share = twin.weight[order] / twin.weight[order].sum()
    for part in order.reshape(3, 2):
        twin.scaled(part, eta0, 0.0)
        losses = [twin.loss(twin.w, i) for i in order]
        found.append(0.5 * ALPHA * twin.w @ twin.w + share @ losses)
    # The last visits have led the weights away.
    assert np.argsort(found)[1] != 2
    value = solver.after(order, eta0, np.ones_like(twin.w))
    assert value == pytest.approx(np.median(found), rel=1e-10)


def test_reach_of_adagrad_is_that_of_plain_numpy(tiny):
    solver, twin = solver_of(problem_of(*tiny), "adagrad"), Twin(*tiny, 0.0)
    order, w = np.random.default_rng(1).permutation(len(twin.X)), np.ones_like(twin.w)
    twin.adagrad(order)
    roots = np.sqrt(twin.squares)
    expected = np.sqrt((roots * twin.w**2).sum() / (2.0 * roots.sum())) / ETA0
    assert solver.reach(order, ETA0, w) == pytest.approx(expected, rel=1e-10)
    assert solver.calls == np.count_nonzero([len(x) for x in twin.X])


def test_calibration_of_adagrad_ends_where_weights_reach_as_far_as_the_step_asks():
    chains = make_chains(n_sequences=60, random_state=1)
    solver = solver_of(problem_of(*chains), "adagrad")
    order, w = np.arange(len(chains[0])), np.empty_like(solver.current.w)
    of_one_pass = least(lambda eta0: solver.after(order, eta0, w), 0.1)
    assert solver.reach(order, of_one_pass, w) > 1.1
    eta0 = solver.calibrated(order, w)
    assert eta0 > of_one_pass
    assert solver.reach(order, eta0, w) == pytest.approx(1.0, abs=0.1)
    # Where all labels are equal no weight has to move.
    X, y = chains
    alike = solver_of(
        problem_of(X, [0 * np.asarray(labels) for labels in y]), "adagrad"
    )
    assert alike.calibrated(order, np.empty_like(alike.current.w)) > 0.0


def test_adaptive_steps_are_halved_where_the_objective_has_not_fallen(chains):
    solver = solver_of(problem_of(*chains), "sgd", eta0=ETA0)
    primals, sizes = [], []
    for _ in range(20):
        solver.epoch()
        primals.append(solver.certify().primal)
        sizes.append(solver.kernel.eta0)
    halved = np.diff(sizes) < 0.0
    assert_array_equal(halved, np.diff(primals) >= 0.0)
    assert halved.any()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"learning_rate": "optimal"}, '="optimal" is not for method="svrg": choose'),
        ({"average": True}, 'average=True is not for .*: choose one of "auto", False'),
        ({"method": "hybrid", "eta0": 0.1}, 'eta0=0.1 is not for method="hybrid"'),
        ({"method": "sgd", "learning_rate": "inverse"}, '="inverse" is not for'),
        ({"method": "pegasos", "l1_ratio": 1.0}, "Pegasos needs a strongly convex"),
        ({"method": "adagrad", "learning_rate": "optimal"}, '"adaptive"'),
        ({"method": "hybrid", "l1_ratio": 0.5}, "Hybrid needs the penalty L2"),
        ({"method": "smd", "l1_ratio": 0.5}, "SMD needs the penalty L2"),
        ({"loss": "hinge"}, "SVRG needs a loss with temperature > 0"),
        ({"method": "sgd", "eta0": 1e306, "l1_ratio": 1.0}, "1e\\+306: take a smaller"),
    ],
)
def test_errors_name_the_argument(chains, options, message):
    crf = SGDCRF(random_state=0, **options)
    with pytest.raises(ValueError, match=message):
        crf.fit(*chains)
    assert not hasattr(crf, "coef_")


def test_a_calibrated_step_that_is_too_long_is_not_said_to_be_for_calibration(chains):
    solver = solver_of(problem_of(*chains, l1_ratio=1.0), "sgd")
    solver.epoch()
    solver.kernel.eta0 = 1e306
    with pytest.raises(ValueError, match=r"eta0=1e\+306: take a smaller one; scale"):
        solver.epoch()


def test_certificates_are_as_far_apart_as_asked(chains):
    crf = SGDCRF(certify_every=5, max_iter=10, tol=0.0, random_state=0)
    with pytest.warns(ConvergenceWarning):
        crf.fit(*chains)
    assert_array_equal(crf.history_["epoch"], [5, 10])


@pytest.mark.parametrize("method", ALL)
def test_warm_start_goes_on(chains, method):
    crf = SGDCRF(method=method, warm_start=True, max_iter=8, tol=1e3, random_state=0)
    # A fit ends after an epoch, within such a tolerance.
    cold, *_ = [crf.fit(*chains).primal_objective_ for _ in range(8)]
    first = crf.primal_objective_
    again = pickle.loads(pickle.dumps(crf)).fit(*chains).primal_objective_
    assert again - first < 0.1 * (cold - first)


@pytest.mark.parametrize("method", SINGLE)
def test_steps_of_all_epochs_are_counted(tiny, method):
    solver = solver_of(problem_of(*tiny), method)
    after(solver, 2)
    assert solver.state()["n_visits"] == 2 * len(tiny[0])


def test_svrg_goes_back_where_the_objective_rises_after_a_change_of_targets(chains):
    solver = solver_of(problem_of(*chains), "svrg", eta0=ETA0)
    after(solver, 3)
    start = solver.certify().primal
    solver.targets_changed()
    # Steps that are far too long.
    solver.kernel.eta0 = 1e3
    after(solver, 1)
    assert solver.certify().primal <= start + 1e-12


# Epochs to P <= 1.01 P*; where no number is given, 50.
EPOCHS_OF_OCR = {"sgd": 20, "smd": 25, "svrg": 10}


@pytest.mark.slow
@pytest.mark.parametrize("method", ALL)
def test_methods_are_near_the_optimum_of_ocr(data_folder, method):
    sys.path.insert(0, str(Path(__file__).parents[2] / "examples" / "benchmarks"))
    import tasks

    task = tasks.load("ocr")
    solver = solver_of(tasks.problem(task), method)
    for _ in range(EPOCHS_OF_OCR.get(method, 50)):
        solver.epoch()
        if solver.rate.adaptive:
            # With it, the rate falls.
            solver.certify()
    primal = solver.certify().primal
    assert primal - task.optimum <= 1e-2 * task.optimum


@pytest.mark.parametrize("method", ALL)
def test_the_step_size_is_told(chains, method):
    # The first certificate ends the fit.
    options = {"method": method, "tol": 1e9, "random_state": 0}
    crf = SGDCRF(**options).fit(*chains)
    if method in ("pegasos", "hybrid"):
        assert crf.eta0_ == pytest.approx(1.0 / crf.alpha_)
    assert crf.eta0_ > 0.0
    if not METHODS[method].fixed_eta0:
        assert SGDCRF(**options, eta0=0.25).fit(*chains).eta0_ == 0.25
    if METHODS[method].streams:
        assert crf.partial_fit(*chains).eta0_ == crf.eta0_ > 0.0
