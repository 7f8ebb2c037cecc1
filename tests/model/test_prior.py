"""Fits near the weights of another model, compared with an enumerated objective."""

import pickle

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal
from scipy.special import logsumexp, softmax
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

import reference
from pairs import by_pairs
from samples import flat_weights
from skcrf_sdca import (
    LBFGSCRF,
    OEGCRF,
    SAGNUSCRF,
    SDCACRF,
    SGDCRF,
    PackedSequences,
    PassiveAggressiveCRF,
    SequenceVectorizer,
    load_model,
    save_model,
)
from skcrf_sdca.datasets import make_chains
from skcrf_sdca.estimators.base import training_data
from skcrf_sdca.model.start import Prior, starting_weights
from skcrf_sdca.objective.objective import ROUNDING

K, D, ALPHA = 3, 4, 0.1
X, y = make_chains(8, n_labels=K, n_features=D, length=(1, 4), random_state=0)
X_PRIOR, Y_PRIOR = make_chains(
    20, n_labels=K, n_features=D, length=(1, 4), random_state=5
)
PRIOR = LBFGSCRF(alpha=0.05).fit(X_PRIOR, Y_PRIOR)
W_0 = flat_weights(PRIOR)
SMOOTH = [
    SDCACRF(random_state=0),
    OEGCRF(random_state=0),
    SAGNUSCRF(random_state=0),
    LBFGSCRF(),
]
WORDS = [[["a", "b"], ["c"]], [["b"], ["a", "c"]], [["c"]]]
TAGS = [["N", "V"], ["V", "N"], ["V"]]
NEW_WORDS = [[["d", "b"], ["c"]], [["e"]]]
NEW_TAGS = [["A", "V"], ["V"]]


def accurate(crf, **options):
    return clone(crf).set_params(alpha=ALPHA, tol=1e-8, max_iter=5000, **options)


def enumerated(loss="log_loss", temperature=1.0, X=X, y=y):
    """Return the mean loss and its gradient as a function of w."""
    cost = 0.0 if loss == "log_loss" else 1.0 - np.eye(K)
    return reference.mean_loss(X, y, K, tau=temperature, cost=cost)


def penalty(u, l1_ratio=0.0):
    return ALPHA * ((1 - l1_ratio) / 2 * u @ u + l1_ratio * abs(u).sum())


def check_optimum(crf, loss, l1_ratio=0.0, mask=1.0, rtol=1e-6):
    """Compare a fit with the enumerated P at its weights, and with the least P."""

    def of_change(u):
        value, gradient = loss(W_0 + mask * u)
        return value, mask * gradient

    best = reference.optimum(of_change, len(W_0), ALPHA, l1_ratio).fun
    change = flat_weights(crf) - W_0
    primal = penalty(change, l1_ratio) + loss(W_0 + change)[0]
    assert_allclose(crf.primal_objective_, primal, rtol=1e-9)
    assert abs(primal - best) <= rtol * best
    assert crf.dual_objective_ <= best * (1 + 1e-9)
    gap = crf.history_["primal"] - best
    assert np.all(crf.history_["gap"] >= gap - 1e-9 * best)


@by_pairs(
    {
        "crf": SMOOTH,
        "options": [{}, {"loss": "softmax_margin", "temperature": 0.5}],
        "l1_ratio": [0.0, 0.3],
    }
)
def test_optimum_is_that_of_the_enumerated_objective(crf, options, l1_ratio):
    crf = accurate(crf, l1_ratio=l1_ratio, **options).fit(X, y, prior=PRIOR)
    check_optimum(crf, enumerated(**options), l1_ratio)


@pytest.mark.parametrize("crf", SMOOTH)
def test_with_observed_pairs_the_other_weights_stay(crf):
    crf = accurate(crf, features="observed").fit(X, y, prior=PRIOR)
    seen = np.zeros((D, K))
    for x, labels in zip(X, y, strict=True):
        for row, label in zip(x, labels, strict=True):
            seen[row != 0.0, label] = 1.0
    mask = np.concatenate([np.ones(len(W_0) - D * K), seen.ravel()])
    check_optimum(crf, enumerated(), mask=mask)
    assert_array_equal(flat_weights(crf)[mask == 0.0], W_0[mask == 0.0])


@pytest.mark.parametrize(
    "options", [{"n_jobs": 2}, {"acceleration": "proximal_point"}, {"sampling": "max"}]
)
def test_ways_of_sdca_to_the_same_optimum(options):
    crf = accurate(SMOOTH[0], **options).fit(X, y, prior=PRIOR)
    check_optimum(crf, enumerated())


@pytest.mark.parametrize("crf", SMOOTH[:2])
def test_without_curvature_the_proximal_point_iterations_end_there_too(crf):
    crf = accurate(crf, l1_ratio=1.0).set_params(tol=1e-6).fit(X, y, prior=PRIOR)
    check_optimum(crf, enumerated(), l1_ratio=1.0, rtol=1e-5)


METHODS = "sgd", "asgd", "adagrad", "pegasos", "svrg", "hybrid"


@pytest.mark.parametrize("method", METHODS)
def test_stochastic_methods_go_to_the_same_optimum(method):
    crf = accurate(SGDCRF(method=method, random_state=0)).set_params(tol=1e-2)
    crf.fit(X, y, prior=PRIOR)
    check_optimum(crf, enumerated(), rtol=1e-2)


@pytest.mark.parametrize("l1_ratio", [0.0, 0.3])
@pytest.mark.parametrize(
    ("crf", "tol"),
    [(SMOOTH[0], 2e-3), (SGDCRF(method="pegasos", random_state=0), 0.3)],
)
def test_hinge(crf, tol, l1_ratio):
    crf = accurate(crf, loss="hinge", l1_ratio=l1_ratio).set_params(tol=tol)
    crf.fit(X, y, prior=PRIOR)
    # Of a small temperature the loss is that of the hinge, but for less than this.
    temperature = 1e-4
    loss = enumerated("hinge", temperature)
    u = flat_weights(crf) - W_0
    primal = penalty(u, l1_ratio) + loss(W_0 + u)[0]
    most = temperature * 4 * np.log(K)
    assert abs(crf.primal_objective_ - primal) <= most
    rng = np.random.default_rng(0)
    for size in 10.0 ** rng.uniform(-6, 0, 60):
        other = u + size * rng.normal(size=len(u))
        other_primal = penalty(other, l1_ratio) + loss(W_0 + other)[0]
        assert crf.dual_objective_ <= other_primal + 1e-12
    assert crf.duality_gap_ <= tol * crf.primal_objective_


def test_gradient_is_that_of_the_enumerated_objective():
    crf = accurate(LBFGSCRF())
    near = Prior(PRIOR)
    training = training_data(crf, X, y, None, prior=near)
    problem = crf._new_problem(training, near.weights(training))
    u = np.random.default_rng(0).normal(size=len(W_0))
    gradient, certificate = problem.certify_primal(u)
    value, expected = enumerated()(W_0 + u)
    assert_allclose(certificate.primal, value + penalty(u), rtol=1e-12)
    assert_allclose(gradient, expected + ALPHA * u, rtol=1e-9, atol=1e-12)
    assert_allclose(problem.initial_primal, enumerated()(W_0)[0], rtol=1e-12)


def mean_of_soft_labels(q, X=X):
    """Return the mean loss and its gradient for label probabilities q of positions."""
    cases = []
    for x, rows in zip(X, q, strict=True):
        paths, of_paths = reference.all_paths(len(x), K), reference.all_features(x, K)
        share = rows[np.arange(len(x)), paths].prod(axis=1)
        cases.append((of_paths, share @ of_paths))

    def value_and_gradient(w):
        value, gradient = 0.0, np.zeros_like(w)
        for of_paths, of_target in cases:
            scores = of_paths @ w
            value += logsumexp(scores) - of_target @ w
            gradient += softmax(scores) @ of_paths - of_target
        return value / len(cases), gradient / len(cases)

    return value_and_gradient


@pytest.mark.parametrize("crf", SMOOTH)
def test_soft_labels(crf):
    q = [np.full((len(labels), K), 0.1) for labels in y]
    for rows, labels in zip(q, y, strict=True):
        rows[np.arange(len(rows)), labels] = 1.0 - 0.1 * (K - 1)
    soft = [[dict(enumerate(row)) for row in rows.tolist()] for rows in q]
    crf = accurate(crf).fit(X, soft, prior=PRIOR)
    check_optimum(crf, mean_of_soft_labels(q))


@pytest.mark.parametrize("crf", SMOOTH)
def test_unknown_labels(crf):
    partial = [[None, *labels[1:]] for labels in y]
    crf = accurate(crf).set_params(tol=1e-4).fit(X, partial, prior=PRIOR)
    u = flat_weights(crf) - W_0
    primal = penalty(u)
    # A sequence of which nothing is known does not count.
    n = sum(len(labels) > 1 for labels in partial)
    for x, labels in zip(X, partial, strict=True):
        paths = reference.all_paths(len(x), K)
        scores = reference.all_features(x, K) @ (W_0 + u)
        agree = (paths[:, 1:] == np.array(labels[1:], dtype=int)).all(axis=1)
        primal += (logsumexp(scores) - logsumexp(scores[agree])) / n
    # What is certified is a bound of P with the labels completed last, to rounding.
    assert -ROUNDING * primal <= crf.primal_objective_ - primal <= 1e-4 * primal
    assert crf.duality_gap_ <= crf.gap_target_


def matched(coef, model, names):
    """Return the coefficients of a model by label and the name of the feature."""
    coef = coef.toarray() if sp.issparse(coef) else coef
    return {
        (label, name): coef[k, j]
        for k, label in enumerate(model.classes_.tolist())
        for j, name in enumerate(names)
    }


@pytest.mark.parametrize("l1_ratio", [0.0, 0.9])
@pytest.mark.parametrize("features", ["all", "observed"])
@pytest.mark.parametrize("features_of_prior", ["all", "observed"])
def test_new_features_and_labels(features, features_of_prior, l1_ratio):
    prior = LBFGSCRF(features=features_of_prior).fit(WORDS, TAGS)
    crf = LBFGSCRF(features=features, l1_ratio=l1_ratio, alpha=0.1)
    crf.fit(NEW_WORDS, NEW_TAGS, prior=prior)
    names = crf.vectorizer_.get_feature_names_out().tolist()
    assert names == ["a", "b", "c", "d", "e"]
    assert crf.classes_.tolist() == ["A", "N", "V"]
    assert prior.vectorizer_.get_feature_names_out().tolist() == ["a", "b", "c"]
    if features == features_of_prior:
        assert sp.issparse(crf.coef_) == (features == "observed")
    before = matched(prior.coef_, prior, "abc")
    after = matched(crf.coef_, crf, names)
    for label in "NV":
        # The new data have no "a".
        assert after[label, "a"] == before[label, "a"]
    assert after["A", "a"] == 0.0
    assert after["A", "d"] > 0.0
    if features == "observed":
        assert after["N", "b"] == before["N", "b"]
    n_nonzero = sum(
        np.count_nonzero(v.toarray() if sp.issparse(v) else v)
        for v in (crf.coef_, crf.intercept_, crf.start_, crf.end_, crf.transition_)
    )
    assert crf.n_nonzero_ == n_nonzero


def test_the_solver_knows_the_features_of_the_data_alone():
    prior = LBFGSCRF().fit(WORDS, TAGS)
    training = training_data(LBFGSCRF(), NEW_WORDS, NEW_TAGS, None, prior=Prior(prior))
    assert training.data.n_features == 4
    assert training.attributes["n_features_in_"] == 5
    assert_array_equal(training.columns, [1, 2, 3, 4])


def test_the_optimum_with_new_features_and_labels():
    prior = LBFGSCRF().fit(WORDS, TAGS)
    crf = accurate(SDCACRF(random_state=0)).fit(NEW_WORDS, NEW_TAGS, prior=prior)
    words = [np.array([[w in t for w in "abcde"] for t in x], float) for x in NEW_WORDS]
    paths = [["ANV".index(label) for label in labels] for labels in NEW_TAGS]
    w_0 = reference.Params(
        np.append(0.0, prior.intercept_),
        np.append(0.0, prior.start_),
        np.append(0.0, prior.end_),
        np.pad(prior.transition_, ((1, 0), (1, 0))),
        np.pad(prior.coef_.T, ((0, 2), (1, 0))),
    )
    loss, w_0 = enumerated(X=words, y=paths), reference.flatten(w_0)
    best = reference.optimum(lambda u: loss(w_0 + u), len(w_0), ALPHA, 0.0)
    p, q = np.split(best.x, 2)
    assert_allclose(crf.primal_objective_, best.fun, rtol=1e-6)
    assert_allclose(flat_weights(crf), w_0 + p - q, atol=2e-3)


@pytest.mark.parametrize("crf", SMOOTH)
def test_a_prior_of_zeros_is_none(crf):
    zero = LBFGSCRF().fit(X, y)
    for name in ("coef_", "intercept_", "start_", "end_", "transition_"):
        setattr(zero, name, np.zeros_like(getattr(zero, name)))
    crf = accurate(crf)
    plain = clone(crf).fit(X, y)
    crf.fit(X, y, prior=zero)
    assert_allclose(flat_weights(crf), flat_weights(plain), rtol=1e-6, atol=1e-7)
    assert_allclose(crf.primal_objective_, plain.primal_objective_, rtol=1e-9)
    assert crf.n_iter_ == plain.n_iter_


@pytest.mark.parametrize("crf", SMOOTH)
def test_between_the_prior_and_the_plain_fit(crf):
    crf = accurate(crf)
    strong = clone(crf).set_params(alpha=1e6).fit(X, y, prior=PRIOR)
    assert_allclose(flat_weights(strong), W_0, atol=1e-5)
    distance = []
    for alpha in (1.0, 0.1):
        crf.set_params(alpha=alpha).fit(X, y, prior=PRIOR)
        distance.append(np.linalg.norm(flat_weights(crf) - W_0))
    assert 0.0 < distance[0] < distance[1]


def test_the_optimum_of_the_prior_pulled_to_itself_stays():
    # grad P(w_0) = grad (P_plain - alpha r)(w_0): 0 at the minimum of the losses alone.
    plain = LBFGSCRF(alpha=1e-3, tol=1e-9, max_iter=1000).fit(X_PRIOR, Y_PRIOR)
    again = LBFGSCRF(alpha=10.0, tol=1e-9).fit(X_PRIOR, Y_PRIOR, prior=plain)
    loss = enumerated(X=X_PRIOR, y=Y_PRIOR)
    w_0 = flat_weights(plain)
    # The gradient of the losses is -alpha w_0 there.
    assert_allclose(loss(w_0)[1], -1e-3 * w_0, atol=1e-5)
    assert_allclose(flat_weights(again), w_0 * (1 + 1e-4), atol=1e-4)


def test_init_and_prior_together():
    best = accurate(LBFGSCRF()).fit(X, y, prior=PRIOR)
    crf = LBFGSCRF(alpha=ALPHA, tol=1e-3)
    near = Prior(PRIOR)
    training = training_data(crf, X, y, None, prior=near)
    problem = crf._new_problem(training, near.weights(training))
    u = starting_weights(best, training, problem) - starting_weights(
        PRIOR, training, problem
    )
    assert_allclose(problem.certify_primal(u)[1].primal, best.primal_objective_)
    crf.fit(X, y, prior=PRIOR, init=best)
    assert crf.n_iter_ == 1
    assert_allclose(crf.primal_objective_, best.primal_objective_, rtol=1e-7)


def test_packed_data_are_matched_by_name():
    prior = LBFGSCRF().fit(WORDS, TAGS)
    packed = SequenceVectorizer().fit_transform(NEW_WORDS)
    crf = accurate(LBFGSCRF()).fit(packed, NEW_TAGS, prior=prior)
    words = accurate(LBFGSCRF()).fit(NEW_WORDS, NEW_TAGS, prior=prior)
    names = words.vectorizer_.get_feature_names_out().tolist()
    found = matched(crf.coef_, crf, packed.feature_names)
    expected = matched(words.coef_, words, names)
    assert found.keys() == {key for key in expected if key[1] != "a"}
    for key, value in found.items():
        assert_allclose(value, expected[key], atol=1e-6)


def test_tables_have_no_boundaries():
    rows, labels = np.concatenate(X), np.concatenate(y)
    crf = LBFGSCRF(alpha=ALPHA, tol=1e-7).fit(rows, labels, prior=PRIOR)
    assert not crf.start_.any()
    assert not crf.transition_.any()
    table = LBFGSCRF().fit(np.concatenate(X_PRIOR), np.concatenate(Y_PRIOR))
    sequences = LBFGSCRF(alpha=ALPHA, tol=1e-7).fit(X, y, prior=table)
    assert sequences.transition_.any()


def forbidden_of(transitions, prior_transitions):
    prior = LBFGSCRF(transitions=prior_transitions).fit(WORDS, TAGS)
    crf = LBFGSCRF(transitions=transitions).fit(
        [[["a"], ["b"], ["c"]]], [["N", "N", "P"]], prior=prior
    )
    assert crf.classes_.tolist() == ["N", "P", "V"]
    return crf.transition_ == -np.inf, prior.transition_ == -np.inf


def test_transitions_of_the_prior():
    # The sequences of the prior have N V and V N; the new ones N N and N P.
    found, of_prior = forbidden_of(None, "observed")
    assert_array_equal(of_prior, [[True, False], [False, True]])
    assert_array_equal(found, [[False] * 3, [False] * 3, [False, False, True]])
    found, _ = forbidden_of("observed", "observed")
    assert_array_equal(found, [[False] * 3, [True] * 3, [False, True, True]])
    assert not forbidden_of(None, None)[0].any()
    pairs = [("N", "N"), ("N", "P"), ("V", "V")]
    found, _ = forbidden_of(pairs, "observed")
    assert_array_equal(~found, [[True, True, False], [False] * 3, [False, False, True]])


@pytest.mark.parametrize("crf", SMOOTH)
def test_forbidden_transitions_of_the_prior_have_the_right_optimum(crf):
    prior = LBFGSCRF(transitions="observed").fit(WORDS, TAGS)
    crf = accurate(crf).fit(NEW_WORDS, NEW_TAGS, prior=prior)
    other = accurate(LBFGSCRF()).fit(NEW_WORDS, NEW_TAGS, prior=prior)
    assert (crf.transition_ == -np.inf).any()
    assert_allclose(crf.primal_objective_, other.primal_objective_, rtol=1e-7)
    assert_array_equal(crf.transition_ == -np.inf, other.transition_ == -np.inf)


@pytest.mark.parametrize("features", ["all", "observed"])
def test_the_model_is_saved_and_goes_on(tmp_path, features):
    prior = SDCACRF(features=features, random_state=0).fit(WORDS, TAGS)
    crf = SDCACRF(features=features, random_state=0).fit(
        NEW_WORDS, NEW_TAGS, prior=prior, X_val=WORDS, y_val=TAGS
    )
    save_model(crf, tmp_path / "model")
    expected = crf.predict_proba(WORDS + NEW_WORDS)
    for other in (pickle.loads(pickle.dumps(crf)), load_model(tmp_path / "model")):
        for found, own in zip(
            other.predict_proba(WORDS + NEW_WORDS), expected, strict=True
        ):
            assert_array_equal(found, own)
    again = SDCACRF(random_state=0).fit(WORDS, TAGS, prior=crf)
    assert again.classes_.tolist() == ["A", "N", "V"]
    assert crf.best_val_score_ >= 0.0


def test_balanced_class_weights_pass_over_labels_that_only_the_prior_has():
    prior = LBFGSCRF().fit(WORDS, TAGS)
    crf = SDCACRF(loss="softmax_margin", class_weight="balanced", random_state=0)
    crf.fit(NEW_WORDS, NEW_TAGS, prior=prior)
    assert np.isfinite(crf.coef_).all()


def test_errors_name_prior_and_keep_the_models():
    crf = SDCACRF(random_state=0).fit(X, y)
    before, of_prior = crf.coef_.copy(), PRIOR.coef_.copy()
    words = LBFGSCRF().fit(WORDS, TAGS)
    with pytest.raises(TypeError, match="prior must be a fitted CRF"):
        crf.fit(X, y, prior="model")
    with pytest.raises(NotFittedError, match="prior"):
        crf.fit(X, y, prior=LBFGSCRF())
    with pytest.raises(ValueError, match="prior has 4 features and X has 3"):
        crf.fit([x[:, :3] for x in X], y, prior=PRIOR)
    with pytest.raises(ValueError, match="prior: the features of prior have names"):
        crf.fit(X, [["N"] * len(x) for x in X], prior=words)
    with pytest.raises(TypeError, match="prior was fitted on arrays"):
        crf.fit(WORDS, TAGS, prior=PRIOR)
    with pytest.raises(TypeError, match="prior was fitted on strings"):
        crf.fit([[{"a": 1}]], [["N"]], prior=words)
    with pytest.raises(TypeError, match="prior: class 0"):
        crf.fit(X, [["N"] * len(x) for x in X], prior=PRIOR)
    with pytest.raises(ValueError, match="prior is not taken with warm_start"):
        SDCACRF(warm_start=True).fit(X, y, prior=PRIOR)
    with pytest.raises(ValueError, match="prior is not taken by PassiveAggressiveCRF"):
        PassiveAggressiveCRF().fit(X, y, prior=PRIOR)
    assert_array_equal(crf.coef_, before)
    assert_array_equal(PRIOR.coef_, of_prior)


def test_a_failed_fit_leaves_the_vocabulary_of_the_prior():
    prior = LBFGSCRF().fit(WORDS, TAGS)
    with pytest.raises(ValueError, match="Sequence 0"):
        LBFGSCRF().fit([[["x"], ["y"]]], [["N"]], prior=prior)
    assert prior.vectorizer_.get_feature_names_out().tolist() == ["a", "b", "c"]


def test_empty_sequences_and_sample_weights():
    packed = PackedSequences.from_sequences([*X, np.empty((0, D)), X[0]])
    labels = [*y, [], [0] * len(X[0])]
    weight = np.append(np.ones(len(y)), [0.0, 0.0])
    crf = accurate(SDCACRF(random_state=0))
    crf.fit(packed, labels, prior=PRIOR, sample_weight=weight)
    check_optimum(crf, enumerated())


def test_the_best_epoch_is_that_of_the_whole_model():
    crf = SDCACRF(alpha=1e6, patience=2, random_state=0)
    crf.fit(X, y, prior=PRIOR, X_val=X_PRIOR, y_val=Y_PRIOR)
    assert_allclose(flat_weights(crf), W_0, atol=1e-5)
    assert crf.best_val_score_ == PRIOR.score(X_PRIOR, Y_PRIOR)
