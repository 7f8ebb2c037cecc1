"""Accelerated fits of every model: the optimum of enumeration, by every loss."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from test_every_fit import PARAMETERS, Case, objective

from matrix_models import EXACT, MODELS, dense
from pairs import by_pairs
from skcrf_sdca.estimators import solver_choice

DUAL = [(name, solver) for name, solver in EXACT if solver in ("sdca", "oeg")]
OF_HINGE = [n for n, s in EXACT if s == "sdca" and MODELS[n].takes_hinge]


def fit(name, solver, case, acceleration=None, **parameters):
    """Return a fit; solvers of the primal take no acceleration."""
    model = MODELS[name]
    crf = model.new(
        solver,
        **{**PARAMETERS[case.loss], "max_iter": 3000, **parameters},
        l1_ratio=case.l1_ratio,
    )
    if "acceleration" in crf.get_params():
        crf.set_params(acceleration=acceleration)
    return crf.fit(model.X, model.y)


def is_there(model, loss, _):
    """Return whether there is such a loss: segments have no softmax-margin."""
    return loss == "log_loss" or MODELS[model[0]].family != "segments"


@by_pairs(
    {
        "name,solver": DUAL,
        "loss": ["log_loss", "softmax_margin"],
        "l1_ratio": [0.0, 0.5],
    },
    allowed=is_there,
)
def test_the_optimum(name, solver, loss, l1_ratio):
    case = Case(loss, l1_ratio)
    best = fit(name, "lbfgs", case, tol=1e-8)
    crf = fit(name, solver, case, tol=3e-7, acceleration="proximal_point")
    assert crf.duality_gap_ <= crf.gap_target_
    assert_allclose(crf.primal_objective_, best.primal_objective_, rtol=0, atol=2e-6)
    found = objective(MODELS[name], crf, case)
    assert_allclose(crf.primal_objective_, found, rtol=0, atol=1e-9)
    assert (crf.history_["dual"] <= best.primal_objective_ + 1e-9).all()


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize(("name", "solver"), DUAL)
def test_none_has_the_bits_of_the_plain_solver(name, solver, monkeypatch):
    options = {"case": Case(), "max_iter": 3, "tol": 0.0}
    plain = fit(name, solver, **options)
    accelerated = fit(name, solver, acceleration="proximal_point", **options)
    assert not np.array_equal(accelerated.history_["dual"], plain.history_["dual"])
    monkeypatch.setattr(solver_choice, "accelerates", lambda *_: False)
    bare = fit(name, solver, acceleration="proximal_point", **options)
    for column in ("primal", "dual", "gap"):
        assert_array_equal(bare.history_[column], plain.history_[column])
    assert_array_equal(dense(bare.coef_), dense(plain.coef_))


@pytest.mark.parametrize("name", OF_HINGE)
def test_the_optimum_of_the_hinge(name):
    case = Case("hinge")
    crf = fit(name, "sdca", case, tol=1e-2, acceleration="proximal_point")
    plain = fit(name, "sdca", case, tol=1e-2)
    assert crf.duality_gap_ <= crf.gap_target_
    found = objective(MODELS[name], crf, case)
    assert_allclose(crf.primal_objective_, found, rtol=0, atol=1e-9)
    assert crf.dual_objective_ <= plain.primal_objective_ + 1e-12
    assert plain.dual_objective_ <= crf.primal_objective_ + 1e-12
