"""Bounds that a fit keeps over its epochs, and the rounding of wild weights."""

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from samples import make_problem, make_solver
from skcrf_sdca import SGDCRF
from skcrf_sdca.objective.objective import LowerBound
from skcrf_sdca.objective.penalties import elastic_net
from skcrf_sdca.solvers.owlqn import OWLQN
from skcrf_sdca.solvers.planes import CuttingPlanes

# Four positions, of two labels: P(0) = 4 log 2.
PLAIN = [np.zeros((4, 1))], [[0, 0, 1, 0]]
INITIAL = 4.0 * np.log(2.0)


def test_the_largest_bound_is_kept_with_its_own_rounding():
    bound = LowerBound()
    for dual, rounding in ((1.0, 0.5), (3.0, 0.25), (2.0, 0.125), (3.0, 0.0)):
        bound.add(dual, rounding)
    assert (bound.value, bound.rounding) == (3.0, 0.25)
    assert bound.gap(10.0) == 10.0 - 3.0 - 0.25


@pytest.mark.parametrize(
    "options",
    [
        {"alpha": 1e-12, "method": "asgd", "eta0": 1e12, "max_iter": 1000},
        {"alpha": 1e-9, "method": "pegasos", "max_iter": 1000},
    ],
    ids=["asgd", "pegasos"],
)
def test_no_dual_objective_of_a_fit_is_above_the_initial_primal(options):
    with pytest.warns(ConvergenceWarning, match="the duality gap is"):
        crf = SGDCRF(**options, random_state=0).fit(*PLAIN)
    history = crf.history_
    assert history["primal"].max() > 1e6
    assert (history["dual"] <= INITIAL).all()
    assert (history["primal"] - INITIAL <= history["gap"]).all()


def wild_fits():
    """Yield SGDCRFs whose steps are far too long, and data for each."""
    # These twenty have the wildest one of the first sixty.
    for seed in range(30, 50):
        rng = np.random.default_rng(seed)
        X = [np.zeros((rng.integers(1, 6), 2)) for _ in range(rng.integers(1, 4))]
        X = [rng.integers(2, size=x.shape) * rng.integers(2.0) for x in X]
        y = [rng.integers(3, size=len(x)).tolist() for x in X]
        X.append(np.ones((2, 2)))
        y.append([0, 1])
        options = {
            "alpha": 10.0 ** rng.integers(-12, -1),
            "eta0": 10.0 ** rng.integers(6, 13),
            "l1_ratio": float(rng.choice([0.0, 0.5, 1.0])),
            "method": ["sgd", "asgd", "adagrad"][rng.integers(3)],
        }
        yield SGDCRF(**options, max_iter=200, tol=1e-9, random_state=0), X, y


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_certificates_of_wild_fits_are_true():
    largest = 0.0
    for crf, X, y in wild_fits():
        history = crf.fit(X, y).history_
        initial = np.mean([len(x) for x in X]) * np.log(len(crf.classes_))
        lowest = min(initial, history["primal"].min())
        slack = 1e-12 * initial
        assert (history["dual"] <= lowest + slack).all(), crf
        assert (history["primal"] - lowest <= history["gap"] + slack).all(), crf
        largest = max(largest, history["primal"].max())
    assert largest > 1e12


# Points that are certified ------------------------------------------------------------


def problem_of(rng, l1_ratio):
    """Return a problem whose labels are all those that features show."""
    X = [rng.integers(2, size=(4, 2)).astype(float) for _ in range(3)]
    problem = make_problem(X, [x[:, 0].astype(int) for x in X], 2, 1e-10)
    problem.penalty = elastic_net(l1_ratio)
    return problem


def wild_weights(rng, problem):
    """Yield weights of all sizes, by which the labels are right, or any."""
    first = problem.new_parameters()
    first.coef[0] = [-1.0, 1.0]
    for power in range(0, 15, 2):
        noise = rng.standard_normal(first.w.size)
        for share in (0.0, 1e-8, 1e-3, 1.0):
            yield 10.0**power * (first.w + share * noise)


@pytest.mark.parametrize("l1_ratio", [0.0, 0.5, 1.0])
@pytest.mark.parametrize("seed", range(8))
def test_a_dual_objective_is_below_all_primal_ones(seed, l1_ratio):
    rng = np.random.default_rng(seed)
    problem = problem_of(rng, l1_ratio)
    found = [problem.certify_primal(w)[1] for w in wild_weights(rng, problem)]
    lowest = min(problem.initial_primal, *(each.primal for each in found))
    for each in found:
        assert each.dual <= lowest
        assert each.primal - lowest <= each.gap


# Solvers that keep a bound ------------------------------------------------------------


def planes_of(problem, weights):
    """Yield the certificates of LBFGS at some weights in turn."""
    planes = CuttingPlanes(problem)
    for w in weights:
        gradient, certificate = problem.certify_primal(w)
        planes.add(w, gradient, certificate)
        yield planes.certificate(w, certificate)


def owlqn_of(problem, weights):
    solver = make_solver(OWLQN, problem)
    for w in weights:
        solver.start_at(w)
        yield solver.certify()


KEEPING = [(planes_of, 0.0), *((owlqn_of, l1_ratio) for l1_ratio in (0.0, 0.5, 1.0))]


@pytest.mark.parametrize(("certificates", "l1_ratio"), KEEPING)
@pytest.mark.parametrize("seed", range(4))
def test_a_kept_bound_is_below_all_primal_objectives(seed, certificates, l1_ratio):
    rng = np.random.default_rng(seed)
    problem = problem_of(rng, l1_ratio)
    weights = list(wild_weights(rng, problem))
    lowest = min(problem.certify_primal(w)[1].primal for w in weights)
    lowest = min(lowest, problem.initial_primal)
    # The largest weights first, the zeros last.
    weights = [*reversed(weights), np.zeros_like(weights[0])]
    for found in certificates(problem, weights):
        assert found.dual <= lowest
        assert found.primal - lowest <= found.gap
