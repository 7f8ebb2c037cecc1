"""alpha_path reaches the optima of cold fits with fewer calls of the oracle."""

import pickle

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.pipeline import make_pipeline
from sklearn.svm import LinearSVC
from sklearn.utils._param_validation import InvalidParameterError

from samples import all_estimators, as_dicts, as_strings, name_of, seeded
from skcrf_sdca import (
    LBFGSCRF,
    OEGCRF,
    SAGNUSCRF,
    SDCACRF,
    DualityGapMonitor,
    SequenceVectorizer,
)
from skcrf_sdca.datasets import make_chains
from skcrf_sdca.selection import alpha_path

X, Y = make_chains(60, n_labels=3, n_features=4, length=(1, 7), random_state=0)
ALPHAS = [0.3, 0.01, 1.0, 0.03, 0.1]
DECREASING = sorted(ALPHAS, reverse=True)


@pytest.fixture(params=all_estimators(max_iter=2000), ids=name_of)
def crf(request):
    return clone(request.param)


@pytest.mark.slow
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


@pytest.mark.parametrize("options", [{"order": 2}, {"edge_features": [0, 2]}])
def test_a_path_keeps_the_weights_of_label_tuples(options):
    crf = seeded(LBFGSCRF, tol=1e-10, max_iter=2000, **options)
    for fitted in alpha_path(crf, X, Y, [0.1, 0.03]):
        cold = clone(crf).set_params(alpha=fitted.alpha).fit(X, Y)
        assert_allclose(fitted.predict_proba(X)[0], cold.predict_proba(X)[0], atol=1e-4)
        assert fitted.score(X, Y) == cold.score(X, Y)


# Not of SGDCRF, which calibrates its steps anew for every alpha.
@pytest.mark.parametrize("estimator", [SDCACRF, OEGCRF, SAGNUSCRF, LBFGSCRF])
def test_a_path_takes_fewer_calls_than_cold_fits(estimator):
    crf = seeded(estimator, tol=1e-6)
    path = alpha_path(crf, X, Y, ALPHAS)
    cold = [clone(crf).set_params(alpha=alpha).fit(X, Y) for alpha in ALPHAS]
    calls = [sum(c.history_["oracle_calls"][-1] for c in fits) for fits in (path, cold)]
    assert calls[0] < calls[1]


def test_the_estimators_of_a_path_are_independent(crf):
    path = alpha_path(crf, X, Y, ALPHAS[:3])
    kept = path[1].coef_.copy()
    assert not np.shares_memory(path[0].coef_, path[1].coef_)
    path[2].fit(X[:5], Y[:5])
    assert (path[1].coef_ == kept).all()


def test_generators_are_read_once(crf):
    path = alpha_path(crf, iter(X), iter(Y), ALPHAS[:2])
    expected = alpha_path(crf, X, Y, ALPHAS[:2])
    for fitted, other in zip(path, expected, strict=True):
        assert fitted.coef_.tobytes() == other.coef_.tobytes()


@pytest.mark.slow
def test_sample_weights_reach_every_fit(crf):
    crf.set_params(tol=1e-10)
    weight = np.arange(1.0, 61.0)
    for fitted in alpha_path(crf, X, Y, ALPHAS[:2], sample_weight=weight):
        cold = clone(crf).set_params(alpha=fitted.alpha)
        cold.fit(X, Y, sample_weight=weight)
        assert_allclose(
            fitted.primal_objective_, cold.primal_objective_, rtol=0, atol=1e-8
        )


DICTS = as_dicts(X)
STRINGS = as_strings(X)
TABLE = np.concatenate([x[:1] for x in X])
# Formats of X, and how many times each is vectorized.
KINDS = {"dicts": (DICTS, 1), "strings": (STRINGS, 1), "arrays": (X, 0)}


@pytest.mark.parametrize("kind", KINDS)
def test_any_kind_of_input_is_converted_once_and_predicted(crf, kind, monkeypatch):
    sequences, expected_calls = KINDS[kind]
    cold = clone(crf).set_params(alpha=ALPHAS[0]).fit(sequences, Y)
    calls, convert = [], SequenceVectorizer.fit_transform

    def counted(self, X, y=None):
        calls.append(self)
        return convert(self, X, y)

    monkeypatch.setattr(SequenceVectorizer, "fit_transform", counted)
    path = alpha_path(crf, sequences, Y, ALPHAS[:3])
    assert len(calls) == expected_calls
    names = set(vars(cold))
    for fitted in path:
        assert set(vars(fitted)) == names
        assert fitted.score(sequences, Y) > 0.4
        assert pickle.loads(pickle.dumps(fitted)).score(sequences[:3], Y[:3]) > 0.2


def test_a_table_stays_one(crf):
    crf.set_params(tol=1e-10)
    labels = np.array([labels[0] for labels in Y])
    for fitted in alpha_path(crf, TABLE, labels, ALPHAS[:3]):
        cold = clone(crf).set_params(alpha=fitted.alpha).fit(TABLE, labels)
        assert_allclose(fitted.coef_, cold.coef_, rtol=0, atol=2e-3)
        assert not fitted.start_.any()
        assert fitted.predict(TABLE).shape == labels.shape


def test_a_generator_of_random_numbers_is_not_shared():
    rng = np.random.RandomState(0)
    before = rng.get_state(legacy=False)["state"]["pos"]
    path = alpha_path(SDCACRF(random_state=rng), X, Y, ALPHAS[:2])
    assert rng.get_state(legacy=False)["state"]["pos"] == before
    assert path[0].random_state is not path[1].random_state


def test_callbacks_see_every_fit(crf):
    monitor = DualityGapMonitor()
    path = alpha_path(crf.set_callbacks(monitor), X, Y, ALPHAS[:3])
    rows = monitor.get_logs(select="all")
    assert sum(len(log.data) for log in rows) == sum(c.n_iter_ for c in path)


@pytest.mark.parametrize(
    "alphas",
    [
        [],
        [0.1, 0.0],
        [-1.0],
        [np.nan],
        [np.inf],
        ["auto"],
        "auto",
        0.1,
        np.array(0.1),
        [[0.1]],
        [True],
        [None],
        [0.1, 1.0, 0.1],
        None,
    ],
    ids=repr,
)
def test_bad_alphas_are_named(alphas):
    with pytest.raises(ValueError, match="alphas must be distinct, positive"):
        alpha_path(SDCACRF(), X, Y, alphas)


@pytest.mark.parametrize("alphas", [np.array([1, 2]), (a for a in [1, 2.0]), {1.0, 2}])
def test_alphas_may_be_any_iterable_of_numbers(alphas):
    path = alpha_path(SDCACRF(random_state=0), X, Y, alphas)
    assert [fitted.alpha for fitted in path] == [2.0, 1.0]


@pytest.mark.parametrize("wrong", [make_pipeline(SDCACRF()), LinearSVC()])
def test_only_an_estimator_of_the_package(wrong):
    with pytest.raises(TypeError, match="an estimator of skcrf_sdca itself"):
        alpha_path(wrong, X, Y, [0.1])


def test_an_error_changes_nothing(crf):
    crf.fit(X, Y)
    before = pickle.dumps(crf)
    with pytest.raises(ValueError, match="labels"):
        alpha_path(crf, X, [*Y[:-1], Y[-1][1:]], ALPHAS)
    with pytest.raises(InvalidParameterError, match="max_iter"):
        alpha_path(clone(crf).set_params(max_iter=0), X, Y, ALPHAS)
    assert pickle.dumps(crf) == before


def test_every_fit_above_its_tolerance_warns_where_the_path_is_called():
    with pytest.warns(ConvergenceWarning) as caught:
        path = alpha_path(SDCACRF(max_iter=1, tol=1e-9), X, Y, ALPHAS)
    assert {w.filename for w in caught} == {__file__}
    texts = [str(w.message) for w in caught]
    for fitted, text in zip(path, texts, strict=True):
        assert f"at alpha = {fitted.alpha:.3g}:" in text


def test_a_warm_start_of_the_estimator_itself_takes_fewer_calls_too(crf):
    crf.set_params(tol=1e-6, alpha=0.1)
    cold = clone(crf).set_params(alpha=0.05).fit(X, Y)
    crf.set_params(warm_start=True).fit(X, Y)
    crf.set_params(alpha=0.05).fit(X, Y)
    assert crf.history_["oracle_calls"][-1] < cold.history_["oracle_calls"][-1]
