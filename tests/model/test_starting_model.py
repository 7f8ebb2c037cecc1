"""Fits that start from the weights of another model."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning, NotFittedError

from skcrf_sdca import (
    LBFGSCRF,
    OEGCRF,
    SAGNUSCRF,
    SDCACRF,
    DualityGapMonitor,
    PassiveAggressiveCRF,
    SequenceVectorizer,
)
from skcrf_sdca.datasets import make_chains
from skcrf_sdca.estimators.base import training_data
from skcrf_sdca.model.start import starting_weights

X, y = make_chains(30, n_labels=3, n_features=5, length=(1, 6), random_state=0)
SOLVERS = [
    SDCACRF(random_state=0),
    OEGCRF(random_state=0),
    SAGNUSCRF(random_state=0),
    LBFGSCRF(),
]
WORDS = [[["a", "b"], ["c"]], [["b"], ["a", "c"]], [["c"]]]
TAGS = [["N", "V"], ["V", "N"], ["V"]]


def first_weights(crf, X, y, init):
    training = training_data(crf, X, y, None, None)
    problem = crf._new_problem(training)
    w = problem.loss.scale * starting_weights(init, training, problem)
    return training.attributes, problem.new_parameters(w)


@pytest.mark.parametrize("crf", SOLVERS)
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"n_jobs": 2},
        {"l1_ratio": 0.3},
        {"loss": "softmax_margin", "temperature": 0.5},
        {"features": "observed", "transitions": "observed"},
    ],
)
def test_the_optimum_is_the_same_from_another_model(crf, options):
    crf = clone(crf).set_params(tol=1e-7, max_iter=3000, **options)
    init = PassiveAggressiveCRF(max_iter=2, random_state=0).fit(X, y)
    plain = LBFGSCRF(tol=1e-7, max_iter=3000, **options).fit(X, y)
    crf.fit(X, y, init=init)
    optimum = plain.dual_objective_
    gap, primal = crf.history_["gap"], crf.history_["primal"]
    assert np.all(gap >= primal - plain.primal_objective_ - 1e-12)
    assert crf.primal_objective_ - optimum <= 3e-7 * optimum


# SAG takes long first steps, wherever it starts: its constants are not known yet.
@pytest.mark.parametrize("crf", [SDCACRF(random_state=0), OEGCRF(random_state=0)])
def test_a_fit_from_the_optimum_is_near_it_after_one_epoch(crf):
    best = LBFGSCRF(tol=1e-9).fit(X, y)
    crf = clone(crf).set_params(max_iter=1, tol=0.0)
    with pytest.warns(Warning, match="max_iter"):
        from_zero = crf.fit(X, y).duality_gap_
    with pytest.warns(Warning, match="max_iter"):
        from_best = crf.fit(X, y, init=best).duality_gap_
    assert from_best < 0.1 * from_zero


@pytest.mark.parametrize("features", ["all", "observed"])
def test_weights_are_matched_by_names(features):
    init = LBFGSCRF().fit([[["c"], ["d", "b"]], [["b"]]], [["X", "V"], ["N"]])
    crf = LBFGSCRF(features=features)
    attributes, parameters = first_weights(crf, WORDS, TAGS, init)
    found = parameters.label_weights().attributes()
    coef = found["coef_"] if features == "all" else found["coef_"].toarray()
    old = list(init.vectorizer_.get_feature_names_out())
    labels = init.classes_.tolist()
    seen = {
        (word, tag)
        for items, tags in zip(WORDS, TAGS, strict=True)
        for item, tag in zip(items, tags, strict=True)
        for word in item
    }
    for j, name in enumerate(attributes["vectorizer_"].get_feature_names_out()):
        for k, label in enumerate(attributes["classes_"]):
            expected = (
                init.coef_[labels.index(label), old.index(name)]
                if (name in old)
                else 0.0
            )
            if features == "observed" and (name, label) not in seen:
                expected = 0.0
            assert coef[k, j] == expected
    number = [labels.index(label) for label in attributes["classes_"]]
    assert np.array_equal(found["intercept_"], init.intercept_[number])
    assert np.array_equal(found["start_"], init.start_[number])
    expected = init.transition_[np.ix_(number, number)]
    assert np.array_equal(found["transition_"], expected)


def test_sparse_coefficients_and_forbidden_transitions():
    init = LBFGSCRF(transitions="observed").fit(WORDS, TAGS)
    assert (init.transition_ == -np.inf).any()
    dense = first_weights(LBFGSCRF(), WORDS, TAGS, init)[1].w
    assert np.isfinite(dense).all()
    init.sparsify()
    assert np.array_equal(first_weights(LBFGSCRF(), WORDS, TAGS, init)[1].w, dense)
    kept = first_weights(LBFGSCRF(features="observed"), WORDS, TAGS, init)[1]
    assert np.isfinite(kept.w).all()
    assert kept.coef.any()


def test_errors_name_init_and_keep_the_model():
    fitted = LBFGSCRF().fit(X, y)
    crf = SDCACRF(random_state=0, warm_start=True).fit(X, y)
    before = crf.coef_.copy()
    with pytest.raises(TypeError, match="init must be a fitted CRF"):
        crf.fit(X, y, init="model")
    with pytest.raises(NotFittedError, match="init"):
        crf.fit(X, y, init=LBFGSCRF())
    with pytest.raises(ValueError, match="init has 5 features and X has 4"):
        crf.fit([x[:, :4] for x in X], y, init=fitted)
    with pytest.raises(ValueError, match="init: the features of X have names"):
        crf.fit(WORDS, TAGS, init=fitted)
    with pytest.raises(ValueError, match="init and warm_start=True"):
        crf.fit(X, y, init=fitted)
    with pytest.raises(ValueError, match="init is not taken"):
        SDCACRF(loss="hinge").fit(X, y, init=fitted)
    assert np.array_equal(crf.coef_, before)


def test_packed_names_are_those_of_the_vectorizer():
    init = LBFGSCRF().fit(WORDS, TAGS)
    packed = SequenceVectorizer().fit_transform(WORDS)
    from_packed = first_weights(LBFGSCRF(), packed, TAGS, init)[1].w
    assert np.array_equal(
        from_packed, first_weights(LBFGSCRF(), WORDS, TAGS, init)[1].w
    )


def test_oeg_starts_at_the_optimum_if_that_is_given():
    X, y = make_chains(n_sequences=60, random_state=0)
    best = LBFGSCRF(tol=1e-9, max_iter=5000).fit(X, y)
    crf = OEGCRF(random_state=0).fit(X, y, init=best)
    assert crf.n_iter_ == 1


@pytest.mark.parametrize("crf", SOLVERS)
def test_unknown_labels_are_completed_with_the_weights_of_init(crf):
    partial = [[None, *labels[1:]] for labels in y]
    best = LBFGSCRF(tol=1e-7, max_iter=3000).fit(X, partial)
    crf = clone(crf).set_params(max_iter=3, tol=0.0)
    with pytest.warns(ConvergenceWarning):
        crf.fit(X, partial, init=best)
    # P never rises from where the labels were completed.
    assert crf.primal_objective_ <= best.primal_objective_ * (1 + 1e-9)


def sentences(n, seed):
    """Return n sentences, whose words are their own, and labels with errors."""
    rng, X, y = np.random.default_rng(seed), [], []
    for i in range(n):
        is_name, is_wrong = rng.random(12) < 0.3, rng.random(12) < 0.2
        own = (f"word{seed}-{i}-{t}" for t in range(12))
        X.append([["bias", f"name={b}", w] for b, w in zip(is_name, own, strict=True)])
        y.append(["N" if b else "O" for b in is_name != is_wrong])
    return X, y


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("cls", [SDCACRF, OEGCRF])
def test_what_the_model_has_not_seen_does_not_spoil_the_start(cls, packed):
    """Sequences with features that are new begin at their targets."""
    old, new = sentences(300, 0), sentences(20, 1)
    X, y = old[0] + new[0], old[1] + new[1]
    own, both = old[0], X
    if packed:
        own = SequenceVectorizer().fit_transform(own)
        both = SequenceVectorizer().fit_transform(X)
    crf = cls(random_state=0)
    init = clone(crf).fit(own, old[1])
    # Whoever watches a fit has a certificate of its first epoch.
    cold, warm = (clone(crf).set_callbacks(DualityGapMonitor()) for _ in range(2))
    cold.fit(both, y)
    warm.fit(both, y, init=init)
    assert warm.history_["gap"][0] < 0.15 * cold.history_["gap"][0]
    assert warm.n_iter_ < cold.n_iter_
    optimum = cold.dual_objective_
    np.testing.assert_allclose(warm.primal_objective_, optimum, rtol=2e-3)
