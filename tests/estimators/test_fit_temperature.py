"""A temperature that was fitted on held-out sequences, and what follows it."""

import io

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.preprocessing import StandardScaler

from skcrf_sdca import (
    CRF,
    LBFGSCRF,
    GraphCRF,
    PerToken,
    SegmentCRF,
    load_model,
    make_tagger,
    save_model,
)
from skcrf_sdca.metrics import flat_log_loss
from skcrf_sdca.selection import fit_temperature
from skcrf_sdca.serving import Predictor

RNG = np.random.default_rng(0)
y = [np.repeat(RNG.integers(3, size=8), 5).tolist() for _ in range(40)]
X = [RNG.normal(size=(40, 12)) + 0.7 * np.eye(3, 12)[labels] for labels in y]
OWN, HELD, NEW = slice(0, 4), slice(4, 20), slice(20, 40)
SURE = LBFGSCRF(alpha=1e-4).fit(X[OWN], y[OWN])


def loss(model, part=HELD):
    return flat_log_loss(y[part], model.predict_proba(X[part]), labels=model.classes_)


def test_no_other_temperature_has_a_lower_loss():
    found = fit_temperature(SURE, X[HELD], y[HELD])
    assert SURE.temperature_ == 1.0
    assert found.temperature_ > 1.2
    assert loss(found) < loss(SURE) - 0.05
    assert loss(found, NEW) < loss(SURE, NEW) - 0.05
    best, least = found.temperature_, loss(found)
    for other in (0.97 * best, 1.03 * best):
        found.temperature_ = other
        assert loss(found) > least


def test_paths_stay_and_marginals_are_those_of_scores_over_it():
    found = fit_temperature(SURE, X[HELD], y[HELD])
    assert found.predict(X).tolist() == SURE.predict(X).tolist()
    ratio = np.exp(found.log_likelihood(X, y) + found.log_partition(X))
    own = SURE.log_likelihood(X, y) + SURE.log_partition(X)
    np.testing.assert_allclose(np.log(ratio), own / found.temperature_)


def test_a_model_that_is_right_keeps_its_temperature():
    once = fit_temperature(SURE, X[HELD], y[HELD])
    again = fit_temperature(once, X[HELD], y[HELD])
    np.testing.assert_allclose(again.temperature_, once.temperature_, rtol=1e-3)
    assert loss(again) <= loss(once)


def test_taggers_files_and_predictors_follow_it():
    tagger = make_tagger(PerToken(StandardScaler()), LBFGSCRF(alpha=1e-4))
    tagger.fit(X[OWN], y[OWN])
    found = fit_temperature(tagger, X[HELD], y[HELD])
    assert found[0] is tagger[0]
    assert found[-1].temperature_ > tagger[-1].temperature_ == 1.0
    assert loss(found) < loss(tagger)
    crf = fit_temperature(SURE, X[HELD], y[HELD])
    save_model(crf, file := io.BytesIO())
    loaded = load_model(file.getvalue())
    expected = crf.predict_proba(X[NEW])
    np.testing.assert_array_equal(loaded.predict_proba(X[NEW])[0], expected[0])
    served = Predictor.load(file.getvalue()).marginals(X[NEW][0])
    np.testing.assert_allclose(served, expected[0], atol=1e-9)
    assert crf.fit(X[OWN], y[OWN]).temperature_ == 1.0


@pytest.mark.parametrize(
    ("model", "items"),
    [
        (SegmentCRF(scheme=None, solver="lbfgs", alpha=1e-3), X),
        (GraphCRF(solver="lbfgs", alpha=1e-3), [(rows, [[0, 1]]) for rows in X]),
    ],
)
def test_other_structures(model, items):
    model.fit(items[OWN], y[OWN])
    found = fit_temperature(model, items[HELD], y[HELD])
    before, after = (
        flat_log_loss(y[HELD], of.predict_proba(items[HELD]), labels=model.classes_)
        for of in (model, found)
    )
    assert after < before


def test_what_has_no_temperature_is_refused():
    search = GridSearchCV(LBFGSCRF(), {"alpha": [1.0]}, cv=2).fit(X[OWN], y[OWN])
    with pytest.raises(TypeError, match="best_estimator_"):
        fit_temperature(search, X[HELD], y[HELD])
    with pytest.raises(NotFittedError):
        fit_temperature(LBFGSCRF(), X[HELD], y[HELD])
    with pytest.raises(TypeError, match="LogisticRegression"):
        fit_temperature(LogisticRegression(), X[HELD], y[HELD])
    hinge = CRF(alpha=1.0, loss="hinge", random_state=0, tol=0.5).fit(X[OWN], y[OWN])
    with pytest.raises(TypeError, match="no probabilities"):
        fit_temperature(hinge, X[HELD], y[HELD])
    with pytest.raises(ValueError, match="sequence"):
        fit_temperature(SURE, X[HELD], y[NEW][:3])
