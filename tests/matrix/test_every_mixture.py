"""SparseMAP on all structures: mixtures and fits against enumerated labellings."""

import numpy as np
import pytest
from matrix_models import ALPHA, MODELS, OF_HINGE, check_same_optimum
from numpy.testing import assert_allclose
from scipy.optimize import minimize

TAU = 0.5


def nodes_of(model, codes):
    """Return the local expectations of labellings, flat: of tuples in chains of pairs.
    """
    if model.options.get("order") == 2 or "edge_features" in model.options:
        codes = np.column_stack([codes[:, 0], 3 + 3 * codes[:, :-1] + codes[:, 1:]])
        return np.eye(12)[codes].reshape(len(codes), -1)
    return np.eye(3)[codes].reshape(len(codes), -1)


def mixture(scores, nodes):
    """Return max_p <p, scores> + 1/2 <u, 1 - u> with u = p nodes, and u, by a QP."""

    def negative(p):
        u = p @ nodes
        value = p @ scores + 0.5 * u @ (1.0 - u)
        return -value, -(scores + nodes @ (0.5 - u))

    found = minimize(
        negative,
        np.full(len(scores), 1.0 / len(scores)),
        jac=True,
        method="SLSQP",
        bounds=[(0.0, 1.0)] * len(scores),
        constraints={
            "type": "eq",
            "fun": lambda p: p.sum() - 1.0,
            "jac": lambda p: np.ones_like(p),
        },
        options={"ftol": 1e-14, "maxiter": 1000},
    )
    return -found.fun, found.x @ nodes


def solver_of(model):
    """Return the name of a solver that is block-coordinate Frank-Wolfe."""
    return next(s for s in ("sdca", "crf", "oeg") if s in model.solvers)


def fitted(name, solver=None, **parameters):
    model = MODELS[name]
    options = {"loss": "sparsemap", "temperature": TAU, "tol": 1e-4, **parameters}
    crf = model.new(solver or solver_of(model), **options)
    return model, crf.fit(model.X, model.y)


@pytest.mark.parametrize("name", OF_HINGE)
@pytest.mark.parametrize("loss", ["sparsemap", "smooth_hinge"])
def test_the_objective_is_that_of_all_labellings(name, loss):
    model, crf = fitted(name, loss=loss)
    value, classes = 0.0, crf.classes_.tolist()
    for labels, found in zip(model.labels(), model.labellings(crf), strict=True):
        right = np.array([classes.index(label) for label in labels])
        cost = (found.codes != right).sum(axis=1) if loss == "smooth_hinge" else 0.0
        possible = found.scores > -np.inf
        scores = ((found.scores + cost) / TAU)[possible]
        largest, _ = mixture(scores, nodes_of(model, found.codes[possible]))
        own = (found.codes == right).all(axis=1)
        value += (TAU * largest - found.scores[own].item()) / len(model.labels())
    weights = model.weights(crf)
    value += ALPHA / 2 * weights @ weights
    assert_allclose(crf.primal_objective_, value, rtol=1e-7)


@pytest.mark.parametrize("name", OF_HINGE)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_the_gap_of_every_epoch_bounds_the_distance(name):
    model, crf = fitted(name, tol=1e-6)
    assert crf.duality_gap_ <= 1e-6 * crf.primal_objective_
    primal, dual, gap = (crf.history_[key] for key in ("primal", "dual", "gap"))
    assert (primal - crf.primal_objective_ <= gap + 1e-12).all()
    assert (dual <= crf.primal_objective_ + 1e-12).all()


# F is smooth where nothing is tied; elsewhere steps along gradients may end at a kink.
@pytest.mark.parametrize("l1_ratio", [0.0, 0.4])
def test_full_passes_find_the_same_optimum_in_tables(l1_ratio):
    _, crf = fitted("table", tol=1e-8, l1_ratio=l1_ratio)
    _, other = fitted("table", "lbfgs", tol=1e-8, l1_ratio=l1_ratio)
    check_same_optimum(crf, other)
    assert other.duality_gap_ <= 1e-8 * other.primal_objective_
    assert_allclose(other.primal_objective_, crf.primal_objective_, rtol=1e-8)
