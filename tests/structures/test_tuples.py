"""Chains of higher order and edge features, beside enumeration of all label paths."""

import pickle
from collections import Counter

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.special import logsumexp
from tuple_twin import ALPHA, MODELS, SOLVERS, D, K, Twin, flat_weights, tiny_data

from reference import all_paths
from skcrf_sdca import (
    LBFGSCRF,
    OEGCRF,
    SDCACRF,
    PackedSequences,
    PassiveAggressiveCRF,
    load_model,
    save_model,
)
from skcrf_sdca.compat import to_crfsuite
from skcrf_sdca.structures.chain.constraints import Constraints
from skcrf_sdca.structures.chain.tuples import LabelTuples
from skcrf_sdca.structures.form import dense_coef

every_model = pytest.mark.parametrize("options", MODELS.values(), ids=MODELS)


@pytest.fixture(scope="module")
def data():
    return tiny_data()


@pytest.fixture(scope="module", params=MODELS.values(), ids=MODELS)
def fitted(request, data):
    """A model, its options, its twin and the weights of the twin."""
    X, y = data
    crf = LBFGSCRF(ALPHA, tol=1e-11, max_iter=300, **request.param).fit(X, y)
    return crf, request.param, Twin(X, **request.param), flat_weights(crf)


@pytest.fixture(scope="module", params=MODELS.values(), ids=MODELS)
def optimum(request, data):
    """The options of a model, the weights of the minimum of its twin, and that."""
    X, y = data
    return request.param, *Twin(X, **request.param).optimum(y, ALPHA)


@pytest.mark.parametrize("name", SOLVERS)
def test_every_solver_reaches_the_optimum_of_the_definition(data, optimum, name):
    (X, y), (options, w, optimum) = data, optimum
    estimator, own = SOLVERS[name]
    crf = estimator(ALPHA, tol=1e-9, max_iter=2000, **own, **options).fit(X, y)
    assert crf.duality_gap_ <= crf.gap_target_
    assert_allclose(crf.primal_objective_, optimum, rtol=0, atol=2e-9)
    assert crf.dual_objective_ <= optimum + 1e-12
    assert_allclose(flat_weights(crf), w, rtol=0, atol=1e-3)


def test_objective_is_that_of_the_weights(data, fitted):
    (_, y), (crf, _, twin, w) = data, fitted
    value, gradient = twin.objective(w, y, ALPHA)
    assert_allclose(crf.primal_objective_, value, rtol=1e-12)
    assert np.abs(gradient).max() < 1e-5


def test_predictions_are_those_of_enumeration(data, fitted):
    (X, y), (crf, _, twin, w) = data, fitted
    for i, x in enumerate(X):
        scores, paths = twin.features[i] @ w, twin.paths[i]
        p = np.exp(scores - logsumexp(scores))
        node = (paths[:, :, np.newaxis] == np.arange(K)).astype(float)
        node = np.einsum("p,ptk->tk", p, node)
        assert_allclose(crf.log_partition([x]), [logsumexp(scores)], rtol=1e-10)
        assert crf.predict([x])[0] == paths[scores.argmax()].tolist()
        assert_allclose(crf.predict_proba([x])[0], node, rtol=0, atol=1e-10)
        assert_allclose(np.exp(crf.predict_log_proba([x])[0]), node, atol=1e-10)
        own = np.log(p[twin.place(i, y[i])])
        assert_allclose(crf.log_likelihood([x], [y[i]]), [own], rtol=1e-9)
        best = np.argsort(-scores)[:5]
        (found,) = crf.predict_n_best([x], 5)
        assert [labels for labels, _ in found] == paths[best].tolist()
        assert_allclose([q for _, q in found], p[best], rtol=1e-9)
        edges = crf.predict_edge_proba([x])[0]
        for t in range(1, len(x)):
            pair = np.zeros((K, K))
            np.add.at(pair, (paths[:, t - 1], paths[:, t]), p)
            assert_allclose(edges[t - 1], pair, rtol=0, atol=1e-10)


def test_known_labels_spans_and_accuracy(data, fitted):
    (X, _), (crf, _, twin, w) = data, fitted
    i, x = 3, X[3]
    scores, paths = twin.features[i] @ w, twin.paths[i]
    p = np.exp(scores - logsumexp(scores))
    known = [None, 2, None, None]
    agree = np.flatnonzero(paths[:, 1] == 2)
    expected = paths[agree[scores[agree].argmax()]].tolist()
    assert crf.predict([x], known=[known])[0] == expected
    node = crf.predict_proba([x])[0]
    assert crf.predict([x], decoding="posterior")[0] == node.argmax(axis=1).tolist()
    inside = (paths[:, 1:3] == [2, 1]).all(axis=1)
    (found,) = crf.span_proba([x], [[([2, 1], 1, 3), ([0], 0, 1)]])
    assert_allclose(found, [p[inside].sum(), node[0, 0]], rtol=1e-9)


def test_draws_are_of_the_distribution(data, fitted):
    (X, _), (crf, _, twin, w) = data, fitted
    scores = twin.features[2] @ w
    p = np.exp(scores - logsumexp(scores))
    draws = crf.sample([X[2]], n_draws=20_000, random_state=0)
    frequency = np.zeros(len(p))
    for labels, n in Counter(map(tuple, draws[:, 0])).items():
        frequency[twin.place(2, labels)] = n / len(draws)
    assert_allclose(frequency, p, rtol=0, atol=0.02)


def test_explanations_add_up_to_the_difference_of_scores(data, fitted):
    (X, _), (crf, _, twin, w) = data, fitted
    scores = twin.features[5] @ w
    found = crf.explain(X[5], 2)
    assert found.paths[found.label] == crf.predict([X[5]])[0]
    reference = scores[twin.place(5, found.paths[found.reference])]
    for label, score in zip(found.labels, found.scores, strict=True):
        rows = twin.paths[5][:, 2] == label
        assert_allclose(score, scores[rows].max() - reference, atol=1e-9)


@every_model
def test_pickles_and_files_keep_the_model(data, options, tmp_path):
    X, y = data
    crf = OEGCRF(random_state=0, **options).fit(X, y)
    save_model(crf, tmp_path / "model")
    for other in (pickle.loads(pickle.dumps(crf)), load_model(tmp_path / "model")):
        assert_array_equal(flat_weights(other), flat_weights(crf))
        assert_array_equal(other.log_partition(X), crf.log_partition(X))


@every_model
@pytest.mark.parametrize("estimator", [SDCACRF, OEGCRF])
@pytest.mark.parametrize(
    "other", [{"loss": "softmax_margin"}, {"l1_ratio": 0.3}, {"temperature": 0.5}]
)
def test_other_losses_and_penalties_have_certificates(data, options, estimator, other):
    X, y = data
    crf = estimator(ALPHA, random_state=0, tol=1e-6, max_iter=500, **options, **other)
    reference = LBFGSCRF(ALPHA, tol=1e-6, max_iter=500, **options, **other).fit(X, y)
    crf.fit(X, y)
    assert crf.duality_gap_ <= crf.gap_target_
    assert_allclose(
        crf.primal_objective_, reference.primal_objective_, rtol=0, atol=1e-5
    )


@every_model
def test_the_hinge_has_a_certificate(data, options):
    X, y = data
    crf = SDCACRF(
        ALPHA, loss="hinge", random_state=0, tol=0.02, max_iter=500, **options
    )
    crf.fit(X, y)
    assert crf.duality_gap_ <= crf.gap_target_
    twin, w = Twin(X, **options), flat_weights(crf)
    losses = []
    for paths, features, labels in zip(twin.paths, twin.features, y, strict=True):
        scores = features @ w + (paths != labels).sum(axis=1)
        losses.append(scores.max() - twin.of_path(X[len(losses)], labels) @ w)
    primal = 0.5 * ALPHA * w @ w + np.mean(losses)
    assert_allclose(crf.primal_objective_, primal, rtol=1e-10)


@every_model
def test_passive_aggressive_steps_are_those_of_the_definition(data, options):
    X, y = data
    crf = PassiveAggressiveCRF(
        0.2, loss="hinge", average=False, shuffle=False, max_iter=2, **options
    ).fit(X, y)
    twin = Twin(X, **options)
    w = np.zeros(twin.features[0].shape[1])
    for i in 2 * list(range(len(X))):
        own = twin.features[i][twin.place(i, y[i])]
        values = (twin.features[i] - own) @ w + (twin.paths[i] != y[i]).sum(axis=1)
        # Of equal scores, that with the lower label comes first, from the last one.
        best = np.lexsort([*twin.paths[i].T, -values.round(9)])[0]
        step = twin.features[i][best] - own
        if values[best] > 0.0:
            w = w - min(0.2, values[best] / (step @ step)) * step
    assert_allclose(flat_weights(crf), w, rtol=0, atol=1e-10)


@every_model
@pytest.mark.parametrize("transitions", ["observed", [(0, 1), (1, 2), (2, 0), (1, 1)]])
def test_forbidden_transitions_have_probability_zero(options, transitions):
    rng = np.random.default_rng(1)
    y = [[0, 1, 2, 0], [1, 1, 2], [2, 0, 1]]
    X = [rng.normal(size=(len(labels), D)) for labels in y]
    crf = OEGCRF(transitions=transitions, random_state=0, **options).fit(X, y)
    allowed = crf.transition_ > -np.inf
    assert not allowed.all()
    for x, edges in zip(X, crf.predict_edge_proba(X), strict=True):
        assert (edges[:, ~allowed] == 0.0).all()
        for labels, _ in crf.predict_n_best([x], 100)[0]:
            assert allowed[labels[:-1], labels[1:]].all()
            assert crf.start_[labels[0]] > -np.inf
    assert_allclose(crf.log_likelihood(X[:1], [[0, 0, 0, 0]]), -np.inf)


@pytest.mark.parametrize("features", ["all", "observed"])
def test_fewer_tuples_than_labels_have_the_model_of_order_1(features):
    """A row of coef may be as wide as there are states."""
    rng = np.random.default_rng(0)
    y = [[0, 1], [0], [0, 1], [1]]
    X = [rng.normal(size=(len(labels), D)) for labels in y]
    options = {"transitions": [(0, 1)], "features": features, "tol": 1e-10}
    first = LBFGSCRF(ALPHA, **options).fit(X, y)
    for own in ({"order": 2}, {"order": 3}):
        crf = LBFGSCRF(ALPHA, **own, **options).fit(X, y)
        coefs = (dense_coef(model.coef_) for model in (crf, first))
        assert_allclose(*coefs, rtol=0, atol=1e-4)
        assert_allclose(crf.log_partition(X), first.log_partition(X), atol=1e-4)


def test_a_model_can_be_constrained_after_the_fit(data):
    X, y = data
    crf = OEGCRF(order=2, random_state=0).fit(X, y)
    allowed = np.ones((K, K), dtype=bool)
    allowed[0, 1] = False
    crf.constrain(allowed)
    assert all((edges[:, 0, 1] == 0.0).all() for edges in crf.predict_edge_proba(X))


@every_model
def test_observed_features_have_weights_of_what_is_seen(options):
    X = [[["a"], ["b"], ["c"]], [["c"], ["a"]]]
    y = [["A", "B", "B"], ["B", "A"]]
    if options.get("edge_features") == [1]:
        options = {**options, "edge_features": ["b"]}
    crf = OEGCRF(features="observed", random_state=0, **options).fit(X, y)
    names = crf.vectorizer_.get_feature_names_out().tolist()
    b = names.index("b")
    assert crf.coef_[[0], [b]] == 0.0
    assert crf.coef_[[1], [b]] > 0.0
    if crf.edge_coef_ is not None:
        seen = np.zeros(4, dtype=bool)
        seen[0 * 2 + 1] = True
        assert_array_equal(crf.edge_coef_[:, [b]].toarray().ravel() != 0.0, seen)


def test_pairs_beside_soft_labels_are_counted():
    """At order 3 a soft label hides tuples, but not the pairs beside it."""
    X = [[["a"], ["a"], ["e"], ["a"]]]
    y = [[{"A": 0.5, "B": 0.5}, "B", "A", "B"]]
    crf = OEGCRF(order=3, edge_features=["e"], features="observed", random_state=0)
    weights = crf.fit(X, y).edge_coef_.toarray()
    column = crf.vectorizer_.get_feature_names_out().tolist().index("e")
    assert np.flatnonzero(weights[:, column]).tolist() == [1 * 2 + 0]


def test_soft_labels_are_expectations_of_labels(data):
    X, y = data
    soft = [[{label: 1.0} for label in labels] for labels in y]
    soft[2][1] = {0: 0.25, 1: 0.75}
    crf = LBFGSCRF(ALPHA, order=2, tol=1e-9, max_iter=300).fit(X, soft)
    twin = Twin(X, order=2)
    w, alike = flat_weights(crf), [labels.copy() for labels in y]
    value = 0.0
    for probability, label in ((0.25, 0), (0.75, 1)):
        alike[2][1] = label
        value += probability * twin.objective(w, alike, ALPHA)[0]
    assert_allclose(crf.primal_objective_, value, rtol=1e-10)


def test_edge_features_by_names():
    X = [[["w=a", "s=x"], ["w=b", "s=y"]]]
    y = [["A", "B"]]
    crf = OEGCRF(edge_features=["w=*"], random_state=0).fit(X, y)
    names = crf.vectorizer_.get_feature_names_out()
    used = np.abs(crf.edge_coef_.toarray()).sum(axis=0) > 0
    assert names[used].tolist() == ["w=b"]
    with pytest.raises(ValueError, match="no feature has a name like 'v=\\*'"):
        OEGCRF(edge_features=["v=*"]).fit(X, y)


@pytest.mark.parametrize(
    ("edge_features", "error", "message"),
    [
        ([2], ValueError, "edge_features has 2"),
        ([-1], ValueError, "edge_features has -1"),
        (["a"], ValueError, "have no names"),
        ([0.5], TypeError, "edge_features must be"),
        ([[0]], TypeError, "edge_features must be"),
        ([], TypeError, "edge_features must be"),
    ],
)
def test_wrong_edge_features_are_named(data, edge_features, error, message):
    with pytest.raises(error, match=message):
        OEGCRF(edge_features=edge_features).fit(*data)


def test_what_tuples_do_not_take_is_refused(tmp_path):
    with pytest.raises(ValueError, match="order=2"):
        OEGCRF(order=2).fit([[0.0], [1.0]], [0, 1])
    words = [[["a"], ["b"]]]
    crf = OEGCRF(order=2, random_state=0).fit(words, [["A", "B"]])
    with pytest.raises(ValueError, match="more than two labels"):
        to_crfsuite(crf, tmp_path / "model")


def test_too_many_tuples_are_a_memory_error():
    X = PackedSequences(np.zeros((300, 1)), [0, 300])
    with pytest.raises(MemoryError, match="tuples of up to 4 labels"):
        OEGCRF(order=4).fit(X, [list(range(300))])


def test_a_second_fit_of_order_1_has_no_tuples(data):
    X, y = data
    crf = OEGCRF(order=2, edge_features="all", random_state=0).fit(X, y)
    crf.set_params(order=1, edge_features=None).fit(X, y)
    expected = OEGCRF(random_state=0).fit(X, y)
    assert crf.higher_transitions_ == ()
    assert crf.edge_coef_ is None
    assert_array_equal(crf.log_partition(X), expected.log_partition(X))


@every_model
@pytest.mark.parametrize("estimator", [SDCACRF, OEGCRF])
def test_threads_reach_the_same_optimum(options, estimator):
    rng = np.random.default_rng(0)
    y = [rng.integers(0, K, 3).tolist() for _ in range(140)]
    X = [rng.normal(size=(3, D)) + 0.3 * np.array([labels]).T for labels in y]
    crf = estimator(ALPHA, n_jobs=2, random_state=0, tol=1e-7, **options).fit(X, y)
    reference = LBFGSCRF(ALPHA, tol=1e-7, **options).fit(X, y)
    assert_allclose(crf.primal_objective_, reference.primal_objective_, atol=1e-6)


@every_model
def test_rows_in_single_precision(data, options):
    X, y = data
    single = [x.astype(np.float32) for x in X]
    double = [x.astype(np.float64) for x in single]
    fits = [LBFGSCRF(ALPHA, **options).fit(rows, y) for rows in (single, double)]
    assert_allclose(*map(flat_weights, fits), rtol=0, atol=1e-12)
    assert_allclose(*(crf.log_partition(single) for crf in fits), rtol=1e-6)


def test_warm_starts_need_the_same_order(data):
    X, y = data
    warm = OEGCRF(ALPHA, order=2, random_state=0, warm_start=True, tol=1e-4).fit(X, y)
    assert warm.set_params(tol=1e-5).fit(X, y).duality_gap_ <= warm.gap_target_
    with pytest.raises(ValueError, match="warm_start=True needs"):
        warm.set_params(order=3).fit(X, y)


@pytest.mark.parametrize("by_last_label", [False, True])
@pytest.mark.parametrize("order", [1, 2, 3])
def test_states_are_the_allowed_tuples(order, by_last_label):
    allowed = np.array([[True, True, False], [False, True, True], [True, False, True]])
    anywhere = np.ones(K, dtype=bool)
    constraints = Constraints(anywhere, anywhere, allowed)
    tuples = LabelTuples(K, order, constraints, by_last_label=by_last_label)
    expected = [
        labels
        for length in range(1, order + 1)
        for labels in all_paths(length, K).tolist()
        if allowed[labels[:-1], labels[1:]].all()
    ]
    if by_last_label:
        expected.sort(key=lambda labels: (len(labels), labels[::-1]))
    found = [[k for k in row if k >= 0] for row in tuples.tuples.tolist()]
    assert found == expected
    for labels, suffix in zip(found, tuples.suffix, strict=True):
        assert suffix == (expected.index(labels[1:]) if len(labels) > 1 else -1)
    path, offsets = np.array([0, 1, 2, 2, 0]), np.array([0, 3, 3, 5])
    states = tuples.states(path, offsets)
    parts = [[0], [0, 1], [0, 1, 2], [2], [2, 0]]
    assert [found[s] for s in states] == [part[-order:] for part in parts]
    if order > 1:
        assert tuples.states(np.array([0, 2]), np.array([0, 2]))[1] == -1
        assert tuples.states(np.array([-1, 0]), np.array([0, 2])).tolist() == [-1, -1]
