"""Label tuples and edge features with models and labels that are partly known.

Unknown labels, `init` and `prior`, beside enumeration of all label paths. Streams are
in test_tuple_streams.py.
"""

from functools import lru_cache

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from tuple_twin import ALPHA, MODELS, SOLVERS, D, K, Twin, flat_weights, tiny_data

from skcrf_sdca import LBFGSCRF, OEGCRF, SAGNUSCRF, SDCACRF, PackedSequences
from skcrf_sdca.estimators.base import training_data
from skcrf_sdca.model.start import Prior, starting_weights
from skcrf_sdca.structures.chain.observed import neighbours
from skcrf_sdca.structures.chain.parameters import chain_blocks
from skcrf_sdca.structures.form import Form, Weights, dense_coef

X, Y = tiny_data()
# Sets, single unknown labels, a sequence without any label, and known neighbours.
KNOWN = [
    [2],
    [None, 2],
    [{0, 1}, 0, 2],
    [0, 1, 2, None],
    [None] * 3,
    [1, {1, 2}, 1, 2, 1],
]
every_model = pytest.mark.parametrize("options", MODELS.values(), ids=MODELS)
every_solver = pytest.mark.parametrize("name", SOLVERS)


def accurate(name, **options):
    estimator, own = SOLVERS[name]
    return estimator(ALPHA, tol=1e-8, max_iter=3000, **own, **options)


def problem_of(crf, y, prior=None, X=X):
    near = None if prior is None else Prior(prior)
    training = training_data(crf, X, y, None, prior=near)
    weights = None if near is None else near.weights(training)
    return crf._new_problem(training, weights), training


def split(flat, order, **_):
    """Return the Weights of a twin."""
    shapes = [(K, D), (K,), (K,), (K,), *(m * (K,) for m in range(2, order + 2))]
    sizes = np.cumsum([np.prod(shape) for shape in shapes])
    parts = np.split(flat, sizes)
    coef, intercept, start, end, transition, *higher = (
        part.reshape(shape) for part, shape in zip(parts, shapes, strict=False)
    )
    edge = parts[-1].reshape(K * K, D)
    form = Form.of_sizes(chain_blocks(order, edge_features=True), label=K, feature=D)
    arrays = coef, intercept, start, end, transition, *higher, edge
    names = (block.name for block in form.blocks)
    return Weights(form, dict(zip(names, arrays, strict=True)))


def flat_of(parameters):
    weights = parameters.label_weights().attributes()

    class Model:
        higher_transitions_, edge_coef_ = (), None

    vars_of = Model()
    vars(vars_of).update(weights)
    return flat_weights(vars_of)


def random_point(problem, options, seed=0):
    """Return weights of the problem, and of the twin."""
    twin = Twin(X, **options)
    flat = np.random.default_rng(seed).normal(size=twin.n_weights)
    parameters = problem.new_parameters()
    parameters.assign(split(flat, options.get("order", 1)))
    # The twin has weights of all edge features.
    return parameters, flat_of(parameters), twin


@every_model
def test_weights_by_labels_and_by_states_are_the_same(options):
    problem, _ = problem_of(OEGCRF(**options), Y)
    parameters, flat, twin = random_point(problem, options)
    again = problem.new_parameters()
    again.assign(parameters.label_weights())
    assert_array_equal(again.w, parameters.w)
    assert np.count_nonzero(flat) == np.count_nonzero(parameters.w)
    for i, labels in enumerate(Y):
        scores = problem.structure.scores(parameters, i, i + 1)
        states = problem.structure.target_states(np.concatenate(Y))
        first, last = problem.offsets[[i, i + 1]]
        own = twin.of_path(X[i], labels) @ flat
        assert_allclose(scores.path_scores(states[first:last]), [own], rtol=1e-12)


# Labels that are partly known.


@every_model
def test_objective_and_gradient_of_partly_known_labels(options):
    problem, _ = problem_of(LBFGSCRF(ALPHA, **options), KNOWN)
    parameters, flat, twin = random_point(problem, options)
    problem.targets.complete(parameters)
    problem.targets_changed()
    gradient, certificate = problem.certify_primal(parameters.w)
    value, expected = twin.objective(flat, KNOWN, ALPHA)
    primal = certificate.primal - problem.mean(problem.targets.entropy)
    assert_allclose(primal, value, rtol=1e-12)
    found = flat_of(problem.new_parameters(gradient))
    used = flat != 0.0
    assert_allclose(found[used], expected[used], rtol=1e-9, atol=1e-12)


@every_model
@every_solver
def test_every_solver_ends_at_a_stationary_point(options, name):
    crf = accurate(name, **options).set_params(tol=1e-6).fit(X, KNOWN)
    twin, w = Twin(X, **options), flat_weights(crf)
    value, gradient = twin.objective(w, KNOWN, ALPHA)
    # The objective is that of the labels completed last, which P is below.
    assert value - 1e-12 <= crf.primal_objective_ <= value + crf.duality_gap_
    assert np.abs(gradient).max() < 0.01
    assert crf.duality_gap_ <= crf.gap_target_
    primal = crf.history_["primal"]
    assert np.all(np.diff(primal) <= 1e-9 * primal[:-1])


def test_the_stationary_point_is_that_of_a_descent():
    options = MODELS["an edge feature, order 2"]
    crf = accurate("lbfgs", **options).fit(X, KNOWN)
    twin = Twin(X, **options)
    gradient = twin.objective(flat_weights(crf), KNOWN, ALPHA)[1]
    assert np.abs(gradient).max() < 1e-4


@every_model
def test_the_first_weights_are_those_of_the_known_parts(options):
    problem, _ = problem_of(LBFGSCRF(ALPHA, **options), KNOWN)
    parts, states, sequence = problem.targets.known_parts()
    assert sequence.tolist() == [0, 1, 2, 3, 5, 5]
    labels = parts.tuples.label[states]
    assert labels.tolist() == [2, 2, 0, 2, 0, 1, 2, 1, 1, 2, 1]
    assert_array_equal(parts.target_states(labels), states)
    assert (states[parts.offsets[:-1]] < K).all()
    assert parts.new_parameters().w.shape == problem.new_parameters().w.shape


@every_model
def test_unknown_labels_beside_forbidden_transitions(options):
    allowed = np.ones((K, K), dtype=bool)
    allowed[0, 2] = allowed[1, 1] = False
    known = [
        [2],
        [None, 1],
        [0, None, 2],
        [0, 1, {0, 2}, None],
        [None] * 3,
        [1, 0, 1, 2, 1],
    ]
    crf = LBFGSCRF(ALPHA, transitions=allowed, tol=1e-6, **options).fit(X, known)
    twin, w = Twin(X, **options), flat_weights(crf)
    n = 2 * K + K + K * D
    w[n : n + K * K][~allowed.ravel()] = 0.0
    kept = [allowed[p[:, :-1], p[:, 1:]].all(axis=1) for p in twin.paths]
    twin.paths = [p[k] for p, k in zip(twin.paths, kept, strict=True)]
    twin.features = [f[k] for f, k in zip(twin.features, kept, strict=True)]
    value, gradient = twin.objective(w, known, ALPHA)
    assert value - 1e-12 <= crf.primal_objective_ <= value + crf.duality_gap_
    assert np.abs(gradient[np.r_[:n, n + K * K : len(w)]]).max() < 0.01


@every_model
def test_a_known_part_may_begin_where_no_sequence_does(options):
    y = [["B-A", "I-A", "O"], ["B-A", None, "I-A", "O"], [None, "I-A", "I-A"]]
    rows = [np.random.default_rng(0).normal(size=(len(labels), D)) for labels in y]
    crf = LBFGSCRF(ALPHA, transitions="BIO", **options).fit(rows, y)
    assert crf.duality_gap_ <= crf.gap_target_
    problem = problem_of(crf, y, X=rows)[0]
    parts, states, _ = problem.targets.known_parts()
    assert parts.data.lengths.tolist() == [3, 1, 2, 2]
    # Of two positions all pairs but that of "O" and "I-A".
    assert_allclose(parts.log_counts(), np.log([21, 3, 8, 8]))
    scores = parts.scores(parts.new_parameters(), 0, len(parts.data))
    assert_allclose(scores.log_likelihood(states), -parts.log_counts())


def test_edge_features_are_observed_with_pairs_of_what_is_known():
    """A position that may have every label says nothing of its two transitions."""
    words = [[["a"], ["b"], ["c"], ["d"]], [["b"], ["a"]]]
    labels = [["A", {"A", "B"}, "C", None], ["B", "C"]]
    crf = OEGCRF(
        ALPHA, edge_features="all", features="observed", random_state=0, order=2
    ).fit(words, labels)
    names = crf.vectorizer_.get_feature_names_out().tolist()
    found = crf.edge_coef_.tocoo()
    pairs = {
        (names[j], "ABC"[row // 3] + "ABC"[row % 3])
        for row, j in zip(*found.coords, strict=True)
    }
    assert pairs == {("b", "AA"), ("b", "AB"), ("c", "AC"), ("c", "BC"), ("a", "BC")}
    assert crf.duality_gap_ <= crf.gap_target_


def test_neighbours_are_products_of_rows():
    rng = np.random.default_rng(0)
    rows = rng.dirichlet(np.ones(K), size=6)
    rows[1, 0] = rows[2, 2] = rows[3, 1] = 0.0
    rows[4] = [0.0, 1.0, 0.0]
    offsets = np.array([0, 3, 3, 6])
    expected = np.zeros((6, K * K))
    for t in (1, 2, 4, 5):
        if 0.0 in rows[t] and 0.0 in rows[t - 1]:
            expected[t] = np.outer(rows[t - 1], rows[t]).ravel()
    rows[0], expected[1] = [0.5, 0.5, 0.0], np.outer([0.5, 0.5, 0.0], rows[1]).ravel()
    assert_allclose(neighbours(rows, offsets, K).toarray(), expected, atol=1e-15)


@pytest.mark.parametrize("order", [2, 3])
def test_soft_labels_count_for_edge_features_by_their_probabilities(order):
    words = [[["a"], ["a"], ["e"]], [["a"], ["e"]]]
    labels = [[{"A": 0.5, "B": 0.5}, {"A": 0.4, "C": 0.6}, "B"], ["C", "B"]]
    options = {"edge_features": ["e"], "order": order, "features": "observed"}
    for min_count, expected in ((0.3, {"AB", "CB"}), (0.5, {"CB"}), (2.0, set())):
        crf = OEGCRF(min_count=min_count, random_state=0, **options).fit(words, labels)
        rows = crf.edge_coef_.tocoo().coords[0]
        assert {"ABC"[row // 3] + "ABC"[row % 3] for row in rows} == expected


# A model to start from.


def first_weights(crf, y, init):
    problem, training = problem_of(crf, y)
    w = problem.loss.scale * starting_weights(init, training, problem)
    return flat_of(problem.new_parameters(w))


@pytest.fixture(scope="module")
def models():
    options = {"tol": 1e-8, "max_iter": 500}
    return {
        name: LBFGSCRF(ALPHA, **own, **options).fit(X, Y)
        for name, own in MODELS.items()
    }


@every_model
def test_a_model_starts_at_its_own_weights(models, options):
    name = next(n for n, own in MODELS.items() if own is options)
    for temperature in (1.0, 0.5):
        crf = LBFGSCRF(temperature=temperature, **options)
        assert_allclose(
            first_weights(crf, Y, models[name]), flat_weights(models[name]), rtol=1e-15
        )


@every_model
def test_what_one_of_two_models_lacks_is_0_or_left_out(options):
    first = LBFGSCRF(ALPHA).fit(X, Y)
    crf = LBFGSCRF(**options)
    found = first_weights(crf, Y, first)
    own = flat_weights(first)
    n = len(own) - K * K * D
    assert_array_equal(found[:n], own[:n])
    assert not found[n:].any()
    longer = LBFGSCRF(ALPHA, order=4, edge_features="all").fit(X, Y)
    found, own = first_weights(LBFGSCRF(), Y, longer), flat_weights(longer)
    assert_array_equal(found[:n], own[:n])


@every_solver
@pytest.mark.parametrize("of_init", MODELS)
def test_the_optimum_is_the_same_from_another_model(models, of_init, name):
    best = models["an edge feature, order 2"]
    crf = accurate(name, **MODELS["an edge feature, order 2"])
    crf.fit(X, Y, init=models[of_init])
    optimum = best.dual_objective_
    assert optimum - 1e-10 <= crf.primal_objective_ <= best.primal_objective_ + 3e-8


def test_a_fit_from_the_optimum_begins_there(models):
    for name, options in MODELS.items():
        crf = LBFGSCRF(ALPHA, **options).fit(X, Y, init=models[name])
        assert crf.n_iter_ <= 1


@pytest.mark.parametrize("features", ["all", "observed"])
@pytest.mark.parametrize("sparse", [False, True])
def test_tuples_and_edge_features_are_matched_by_names(features, sparse):
    old_words, old = [[["b", "q"], ["a"], ["b"]]], [["Z", "B", "A"]]
    new_words, new = [[["a"], ["b", "n"], ["a"]], [["a"]]], [["B", "A", "C"], ["D"]]
    options = {"order": 2, "edge_features": "all"}
    init = LBFGSCRF(0.01, **options).fit(old_words, old)
    if sparse:
        init.sparsify()
    crf = LBFGSCRF(features=features, **options)
    training = training_data(crf, new_words, new, None)
    problem = crf._new_problem(training)
    w = starting_weights(init, training, problem)
    found = problem.new_parameters(w).label_weights()
    words = training.attributes["vectorizer_"].get_feature_names_out().tolist()
    known = init.vectorizer_.get_feature_names_out().tolist()
    labels, before = "ABCD", init.classes_.tolist()
    seen = {("a", "CA"[::-1]), ("b", "BA"), ("n", "BA")}
    edges, of_init = found["edge_coef"].toarray(), init.edge_coef_.toarray()
    for j, word in enumerate(words):
        for pair in (a + b for a in labels for b in labels):
            value = edges[labels.index(pair[0]) * 4 + labels.index(pair[1]), j]
            expected = 0.0
            has = features == "all" or (word, pair) in seen
            if has and word in known and set(pair) <= set(before):
                row = before.index(pair[0]) * 3 + before.index(pair[1])
                expected = of_init[row, known.index(word)]
            assert value == expected
    assert np.abs(edges).max() > 0.0
    number = [before.index(label) for label in "AB"]
    block = np.ix_(number, number, number)
    assert_array_equal(
        found["transition_3"][:2, :2, :2], init.higher_transitions_[0][block]
    )
    assert not found["transition_3"][2:].any()
    assert_array_equal(
        found["transition"][:2, :2],
        init.transition_[block[0][..., 0], block[1][..., 0]],
    )


def test_forbidden_weights_of_a_model_start_at_0():
    init = LBFGSCRF(ALPHA, order=2, transitions="observed").fit(X[2:4], Y[2:4])
    found = first_weights(LBFGSCRF(order=2), Y, init)
    assert np.isfinite(found).all()
    assert found.any()
    free = LBFGSCRF(ALPHA, order=2).fit(X, Y)
    crf = LBFGSCRF(order=2, transitions=np.tril(np.ones((K, K), dtype=bool)))
    falling = [sorted(labels, reverse=True) for labels in Y]
    problem, training = problem_of(crf, falling)
    w = starting_weights(free, training, problem)
    weights = problem.new_parameters(w).label_weights()
    assert_array_equal(weights["transition"], np.tril(free.transition_))


# A model to stay near.

PRIORS = {
    "order 1": {},
    "order 2": {"order": 2},
    "edges": {"edge_features": "all"},
    "an edge feature, order 2": {"order": 2, "edge_features": [1]},
}


def prior_of(options):
    rng = np.random.default_rng(3)
    X_prior = [rng.normal(size=(length, D)) for length in (2, 3, 4, 4)]
    y_prior = [rng.integers(0, K, len(x)).tolist() for x in X_prior]
    y_prior[3] = [0, 1, 2, 0]
    return LBFGSCRF(0.05, tol=1e-8, max_iter=500, **options).fit(X_prior, y_prior)


# Pairs of a prior and a model that has a place for its weights.
NEAR = [
    ("order 1", "order 2"),
    ("order 2", "order 2"),
    ("edges", "edges"),
    ("order 1", "edges"),
    ("edges", "an edge feature, order 2"),
    ("edges", "order 2"),
    ("an edge feature, order 2", "an edge feature, order 2"),
]


def as_longer(model, options):
    """Return the weights of a model in the order of a twin of a higher order."""
    twin = Twin(X[:1], **options)
    blocks = [getattr(model, f"{n}_") for n in ("coef", "intercept", "start", "end")]
    blocks += [model.transition_, *model.higher_transitions_]
    own = np.concatenate([np.ravel(block) for block in blocks])
    edge = model.edge_coef_
    edge = np.zeros(K * K * D) if edge is None else edge.toarray().ravel()
    return np.concatenate([own, np.zeros(twin.n_weights - len(own) - len(edge)), edge])


class NearTwin(Twin):
    """A twin in which all edge features have scores, and some have weights to learn."""

    def __init__(self, X, *, order=1, edge_features=None):
        super().__init__(X, order=order, edge_features=edge_features or [0, 1])
        edge = np.zeros((K, K, D), dtype=bool)
        columns = [0, 1] if edge_features == "all" else edge_features or []
        edge[:, :, columns] = True
        n_free = self.n_weights - edge.size
        self.free = np.concatenate([np.ones(n_free, dtype=bool), edge.ravel()])
        if edge_features == [1]:
            full = Twin(X, order=order, edge_features="all")
            self.features = full.features

    def _objective(self, w, agree, alpha, w_0):
        value, gradient = super()._objective(w, agree, alpha, w_0)
        return value, gradient * self.free


@lru_cache
def near_optimum(of_prior, of_model):
    """Return a twin, the weights of a prior, and bounds of the least P near it."""
    prior, options = prior_of(PRIORS[of_prior]), MODELS[of_model]
    twin, w_0 = NearTwin(X, **options), as_longer(prior, options)
    crf = LBFGSCRF(ALPHA, tol=1e-11, max_iter=500, **options).fit(X, Y, prior=prior)
    value, gradient = twin.objective(flat_weights(crf), Y, ALPHA, w_0)
    # P is strongly convex: that bounds how far it is above its minimum.
    return twin, w_0, value - gradient @ gradient / (2.0 * ALPHA), value


@every_solver
@pytest.mark.parametrize(("of_prior", "of_model"), NEAR)
def test_the_optimum_near_a_prior_is_that_of_enumeration(name, of_prior, of_model):
    twin, w_0, least, most = near_optimum(of_prior, of_model)
    assert most - least < 1e-9
    crf = accurate(name, **MODELS[of_model])
    crf.fit(X, Y, prior=prior_of(PRIORS[of_prior]))
    found = flat_weights(crf)
    primal = twin.objective(found, Y, ALPHA, w_0)[0]
    assert_allclose(crf.primal_objective_, primal, rtol=1e-12)
    assert least - 1e-12 <= primal <= most + crf.gap_target_
    assert crf.dual_objective_ <= most + 1e-12
    assert_array_equal(found[~twin.free], w_0[~twin.free])
    assert crf.n_nonzero_ == np.count_nonzero(found)


@pytest.mark.parametrize(("of_prior", "of_model"), [*NEAR, ("order 2", "order 3")])
def test_gradient_near_a_prior_is_that_of_enumeration(of_prior, of_model):
    prior, options = prior_of(PRIORS[of_prior]), MODELS[of_model]
    problem, _ = problem_of(LBFGSCRF(ALPHA, **options), KNOWN, prior)
    parameters, flat, _ = random_point(problem, options)
    twin, w_0 = NearTwin(X, **options), as_longer(prior, options)
    problem.targets.complete(parameters)
    problem.targets_changed()
    gradient, certificate = problem.certify_primal(parameters.w)
    value, expected = twin.objective(flat + w_0, KNOWN, ALPHA, w_0)
    primal = certificate.primal - problem.mean(problem.targets.entropy)
    assert_allclose(primal, value, rtol=1e-12)
    found = flat_of(problem.new_parameters(gradient))
    used = flat != 0.0
    assert_allclose(found[used], expected[used], rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("name", ["lbfgs", "sdca"])
def test_pairs_that_are_not_observed_keep_the_weights_of_a_prior(name):
    options = {"order": 2, "edge_features": "all"}
    prior = prior_of(options)
    crf = accurate(name, features="observed", **options).fit(
        X[1:4], Y[1:4], prior=prior
    )
    twin, w, w_0 = Twin(X[1:4], **options), flat_weights(crf), flat_weights(prior)
    seen = np.zeros((K, K), dtype=bool)
    for labels in Y[1:4]:
        seen[labels[:-1], labels[1:]] = True
    assert not seen.all()
    free = np.ones(twin.n_weights, dtype=bool)
    free[-K * K * D :] = np.repeat(seen.ravel(), D)
    value, gradient = twin.objective(w, Y[1:4], ALPHA, w_0)
    assert_allclose(crf.primal_objective_, value, rtol=1e-12)
    assert np.abs(gradient[free]).max() < 1e-3
    assert_array_equal(w[~free], w_0[~free])


@pytest.mark.parametrize(
    "other", [{"loss": "softmax_margin"}, {"l1_ratio": 0.3}, {"temperature": 0.5}]
)
def test_other_losses_and_penalties_near_a_prior(other):
    options = MODELS["an edge feature, order 2"]
    prior = prior_of(options)
    fits = [
        accurate(name, **options, **other).set_params(tol=1e-6).fit(X, Y, prior=prior)
        for name in ("lbfgs", "sdca", "oeg")
    ]
    for crf in fits:
        assert crf.duality_gap_ <= crf.gap_target_
        assert_allclose(crf.primal_objective_, fits[0].primal_objective_, atol=2e-6)


def test_the_hinge_near_a_prior():
    options = {"order": 2, "edge_features": "all"}
    prior = prior_of(options)
    crf = SDCACRF(
        ALPHA, loss="hinge", random_state=0, tol=0.02, max_iter=500, **options
    ).fit(X, Y, prior=prior)
    assert crf.duality_gap_ <= crf.gap_target_
    twin, w, w_0 = Twin(X, **options), flat_weights(crf), flat_weights(prior)
    losses = []
    for paths, features, labels in zip(twin.paths, twin.features, Y, strict=True):
        scores = features @ w + (paths != labels).sum(axis=1)
        losses.append(scores.max() - twin.of_path(X[len(losses)], labels) @ w)
    primal = 0.5 * ALPHA * (w - w_0) @ (w - w_0) + np.mean(losses)
    assert_allclose(crf.primal_objective_, primal, rtol=1e-10)


@pytest.mark.parametrize("estimator", [SDCACRF, OEGCRF, SAGNUSCRF])
@pytest.mark.parametrize("features", ["all", "observed"])
def test_words_and_labels_of_both_models(estimator, features):
    words, tags = [[["a"], ["b", "c"], ["a"]], [["c"]]], [["N", "V", "N"], ["V"]]
    options = {"order": 2, "edge_features": ["*"], "features": features}
    prior = LBFGSCRF(0.1, **options).fit(words, tags)
    new_words, new_tags = [[["d"], ["b"], ["d"]], [["b"]]], [["N", "A", "V"], ["A"]]
    crf = estimator(0.1, **options, random_state=0, tol=1e-6, max_iter=2000)
    crf.fit(new_words, new_tags, prior=prior)
    reference = LBFGSCRF(0.1, **options, tol=1e-9).fit(new_words, new_tags, prior=prior)
    assert_allclose(crf.primal_objective_, reference.primal_objective_, rtol=1e-5)
    assert crf.classes_.tolist() == ["A", "N", "V"]
    names = crf.vectorizer_.get_feature_names_out().tolist()
    assert names == ["a", "b", "c", "d"]
    # What the data lack keeps the weights of the prior.
    known = [1, 2]
    pairs = [j * 3 + k for j in known for k in known]
    for word in "ac":
        j = names.index(word)
        own = prior.vectorizer_.get_feature_names_out().tolist().index(word)
        assert_array_equal(
            crf.edge_coef_[pairs][:, [j]].toarray(),
            prior.edge_coef_[:, [own]].toarray(),
        )
        assert_array_equal(
            dense_coef(crf.coef_)[known, j], dense_coef(prior.coef_)[:, own]
        )
    assert crf.predict(new_words).shape == (2,)


def test_the_larger_alpha_the_nearer_are_the_weights():
    options = MODELS["an edge feature, order 2"]
    prior = prior_of(options)
    far = [
        np.abs(
            flat_weights(LBFGSCRF(alpha, **options).fit(X, Y, prior=prior))
            - flat_weights(prior)
        ).max()
        for alpha in (0.01, 1.0, 1e6)
    ]
    assert far[0] > far[1] > far[2]
    assert far[2] < 1e-5


def test_init_and_prior_together():
    options = MODELS["an edge feature, order 2"]
    prior = prior_of(options)
    crf = LBFGSCRF(ALPHA, tol=1e-8, max_iter=500, **options)
    best = clone(crf).fit(X, Y, prior=prior)
    again = clone(crf).set_params(tol=1e-6).fit(X, Y, prior=prior, init=best)
    assert again.n_iter_ <= 1
    assert_allclose(flat_weights(again), flat_weights(best), atol=1e-3)


def test_a_prior_without_a_place_is_an_error_that_says_what_to_do():
    second, edges = prior_of({"order": 2}), prior_of({"edge_features": [1]})
    for own in ({}, {"edge_features": "all"}):
        with pytest.raises(ValueError, match="set order=2 or more"):
            LBFGSCRF(**own).fit(X, Y, prior=second)
    with pytest.raises(ValueError, match="set edge_features, or order=2"):
        LBFGSCRF().fit(X, Y, prior=edges)


def test_a_prior_of_packed_sequences_and_a_column_less():
    """Features that X lacks have no rows, and edge features are numbers of all."""
    options = {"edge_features": [1], "order": 2}
    prior = prior_of({"edge_features": "all", "order": 2})
    rows = np.concatenate(X)
    rows[:, 0] = 0.0
    offsets = np.concatenate([[0], np.cumsum([len(x) for x in X])])
    dense = LBFGSCRF(ALPHA, **options).fit(
        PackedSequences(rows, offsets), Y, prior=prior
    )
    sparse = LBFGSCRF(ALPHA, **options).fit(
        PackedSequences(sp.csr_array(rows), offsets), Y, prior=prior
    )
    assert_allclose(flat_weights(sparse), flat_weights(dense), atol=1e-4)
    for options in (
        {"edge_features": [0]},
        {"edge_features": [0], "features": "observed"},
    ):
        crf = LBFGSCRF(ALPHA, **options).fit(
            PackedSequences(sp.csr_array(rows), offsets), Y, prior=prior_of({})
        )
        assert crf.edge_coef_.nnz == 0
