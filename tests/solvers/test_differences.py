"""Ramp loss and risk by the concave-convex procedure, against enumeration.

The procedure is the script examples/benchmarks/ramp_and_risk.py.
"""

from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.optimize import approx_fprime

import reference
from skcrf_sdca import PackedSequences
from skcrf_sdca.datasets import make_chains

FOLDER = Path(__file__).parents[2] / "examples" / "benchmarks"
K, D, ALPHA = 3, 4, 0.2
X, y = make_chains(8, n_labels=K, n_features=D, length=(1, 4), random_state=0)
LABELS = np.concatenate(y).astype(np.int32)
# The maximum is as good as a small temperature, but for this times log(K^4).
SMALL = 1e-6
LOSSES = [(1.0, 1.0), (0.5, 2.0), (0.0, 1.0)]


@pytest.fixture
def script(monkeypatch):
    monkeypatch.syspath_prepend(FOLDER)
    import ramp_and_risk

    return ramp_and_risk


def difference_of(script, temperature, margin):
    """Return the difference, and the enumerated P of weights of a solver."""
    found = script.Difference(
        PackedSequences.from_sequences(X), LABELS, K, ALPHA, temperature, margin
    )
    tau, cost = temperature or SMALL, margin * (1.0 - np.eye(K))
    convex = reference.mean_loss(X, y, K, tau=tau, cost=cost)
    subtracted = reference.mean_loss(X, y, K, tau=tau)

    def primal(w):
        w = temperature * w if temperature else w
        return ALPHA / 2 * w @ w + convex(w)[0] - subtracted(w)[0]

    return found, primal


@pytest.mark.parametrize("loss", LOSSES)
def test_the_objective_is_that_of_enumeration(script, loss):
    difference, primal = difference_of(script, *loss)
    for w in np.random.default_rng(0).normal(size=(5, len(flat(difference)))):
        assert_allclose(difference.primal(w), primal(w), rtol=1e-9, atol=1e-4 * SMALL)


@pytest.mark.parametrize("loss", LOSSES)
def test_each_step_lowers_the_objective_until_no_step_can(script, loss):
    difference, primal = difference_of(script, *loss)
    w, steps = script.fit(difference, np.random.default_rng(0), tol=1e-3)
    values = [step.primal for step in steps[1:]]
    assert len(values) > 2
    assert np.all(np.diff(values) < 0.0)
    # The last step ends where little is left, and need not move.
    assert primal(w) <= values[-1] + 100.0 * SMALL
    assert 0.0 <= steps[-1].fall <= 1e-3 * values[-1]


@pytest.mark.parametrize("loss", LOSSES)
def test_the_tangent_is_above_the_objective_and_touches_it(script, loss):
    difference, primal = difference_of(script, *loss)
    rng = np.random.default_rng(0)
    w = rng.normal(size=len(flat(difference)))
    prior = difference.prior(w)
    problem = difference.near(prior)

    def majorant(u):
        return problem.primal(u - prior, problem.mean_loss(u - prior))

    constant = majorant(w) - primal(w)
    for size in 10.0 ** rng.uniform(-3, 1, 50):
        other = w + size * rng.normal(size=len(w))
        assert majorant(other) - constant >= primal(other) - 1e-6


@pytest.mark.parametrize("loss", LOSSES[:2])
def test_the_gradient_of_the_last_weights_is_zero(script, loss):
    difference, primal = difference_of(script, *loss)
    rng = np.random.default_rng(0)
    w, steps = script.fit(difference, rng, tol=1e-13, max_steps=300)
    gradient = approx_fprime(w, primal, 1e-6)
    at_zero = approx_fprime(np.zeros_like(w), primal, 1e-6)
    assert np.abs(gradient).max() < 1e-5 * np.abs(at_zero).max() + 1e-6
    assert steps[-1].length < 1e-5 * np.linalg.norm(w)


def flat(difference):
    return difference.convex.new_parameters().w
