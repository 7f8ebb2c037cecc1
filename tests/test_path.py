"""Paths of alpha: what cold fits give, for fewer calls of the oracle."""

import pickle

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from skcrf_sdca import LBFGSCRF, OEGCRF, SAGNUSCRF, SDCACRF, alpha_path
from skcrf_sdca.datasets import make_chains

X, Y = make_chains(60, n_labels=3, n_features=4, length=(1, 7), random_state=0)
ALPHAS = [0.3, 0.01, 1.0, 0.03, 0.1]
DECREASING = sorted(ALPHAS, reverse=True)
ESTIMATORS = [
    SDCACRF(random_state=0, max_iter=2000),
    SAGNUSCRF(random_state=0, max_iter=2000),
    OEGCRF(random_state=0, max_iter=2000),
    LBFGSCRF(),
]


@pytest.fixture(params=ESTIMATORS, ids=lambda e: type(e).__name__)
def crf(request):
    return clone(request.param)


def test_a_path_ends_where_cold_fits_end(crf):
    crf.set_params(tol=1e-10)
    before = pickle.dumps(crf)
    path = alpha_path(crf, X, Y, ALPHAS)
    assert pickle.dumps(crf) == before
    assert [fitted.alpha for fitted in path] == DECREASING
    for fitted in path:
        cold = clone(crf).set_params(alpha=fitted.alpha).fit(X, Y)
        assert_allclose(fitted.coef_, cold.coef_, rtol=0, atol=2e-3)
        assert_allclose(
            fitted.primal_objective_, cold.primal_objective_, rtol=0, atol=1e-8
        )
        assert fitted.alpha_ == fitted.alpha
        assert not hasattr(fitted, "_warm_state")
        assert not fitted.warm_start


def test_a_path_takes_fewer_calls_than_cold_fits(crf):
    crf.set_params(tol=1e-6)
    path = alpha_path(crf, X, Y, ALPHAS)
    cold = [clone(crf).set_params(alpha=alpha).fit(X, Y) for alpha in ALPHAS]
    calls = [sum(c.history_["oracle_calls"][-1] for c in fits) for fits in (path, cold)]
    assert calls[0] < calls[1]


def test_the_estimators_of_a_path_are_independent(crf):
    path = alpha_path(crf, X, Y, ALPHAS[:3])
    kept = path[1].coef_.copy()
    path[0].coef_ *= 0.0
    path[2].fit(X[:5], Y[:5])
    assert (path[1].coef_ == kept).all()


def test_generators_are_read_once(crf):
    path = alpha_path(crf, iter(X), iter(Y), ALPHAS[:2])
    expected = alpha_path(crf, X, Y, ALPHAS[:2])
    for fitted, other in zip(path, expected, strict=True):
        assert fitted.coef_.tobytes() == other.coef_.tobytes()


def test_sample_weights_reach_every_fit(crf):
    crf.set_params(tol=1e-10)
    weight = np.arange(1.0, 61.0)
    for fitted in alpha_path(crf, X, Y, ALPHAS[:2], sample_weight=weight):
        cold = clone(crf).set_params(alpha=fitted.alpha)
        cold.fit(X, Y, sample_weight=weight)
        assert_allclose(
            fitted.primal_objective_, cold.primal_objective_, rtol=0, atol=1e-8
        )


@pytest.mark.parametrize(
    "alphas", [[], [0.1, 0.0], [-1.0], [np.nan], [np.inf], ["auto"], 0.1, [[0.1]]]
)
def test_bad_alphas_are_named(alphas):
    with pytest.raises(ValueError, match="alphas must be"):
        alpha_path(SDCACRF(), X, Y, alphas)


def test_every_fit_above_its_tolerance_warns():
    with pytest.warns(ConvergenceWarning) as caught:
        alpha_path(SDCACRF(max_iter=1, tol=1e-9), X, Y, ALPHAS)
    assert len(caught) == len(ALPHAS)
