"""Fits of graphs: unknown labels, observed features, first weights, priors, draws."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.special import logsumexp
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning, NotFittedError

from graph_cases import labelling_scores, mean_loss, sample, squared_norm
from skcrf_sdca import OEGCRF, GraphCRF, TreeCRF

SOLVERS = "oeg", "sdca", "sag", "sgd", "lbfgs"


def with_gaps(y, seed=0):
    """Return labels of which some are not known, or one of a set."""
    rng = np.random.default_rng(seed)
    known = []
    for labels in y:
        own = list(labels)
        for t in range(len(own)):
            chance = rng.random()
            if chance < 0.3:
                own[t] = None
            elif chance < 0.45:
                own[t] = {own[t], (own[t] + 1) % 3}
        known.append(own)
    return known


def agrees(path, known):
    """Return whether labels agree with what is known."""
    return all(
        label is None or k == label or (isinstance(label, set) and k in label)
        for k, label in zip(path, known, strict=True)
    )


@pytest.mark.parametrize("solver", SOLVERS)
def test_the_objective_of_unknown_labels_is_that_of_enumeration(solver):
    X, y = sample(11)
    known = with_gaps(y)
    known[3] = [None] * len(y[3])
    crf = GraphCRF(
        0.1, directed=True, solver=solver, tol=1e-5, max_iter=2000, random_state=0
    )
    crf.fit(X, known)

    # A graph of which nothing is known does not count.
    some = [i for i, own in enumerate(known) if any(k is not None for k in own)]
    graphs = [X[i] for i in some]

    def log_targets(i, paths, scores):
        right = [agrees(path, known[some[i]]) for path in paths.tolist()]
        return logsumexp(scores[right])

    objective = 0.05 * squared_norm(crf) + mean_loss(crf, graphs, log_targets)
    # What is minimised bounds it from above, and touches it where labels are completed.
    assert -1e-9 <= crf.primal_objective_ - objective <= crf.duality_gap_
    assert 0.0 <= crf.duality_gap_ <= crf.gap_target_
    primal = crf.history_["primal"]
    assert (np.diff(primal) <= 1e-9).all()
    # A stationary point: no small change of a weight lowers P.
    for block in (crf.intercept_, crf.edge_coef_[0], crf.coef_[0]):
        place = (0,) * block.ndim
        kept, slopes = block[place], []
        for step in (1e-4, -1e-4):
            block[place] = kept + step
            value = 0.05 * squared_norm(crf) + mean_loss(crf, graphs, log_targets)
            slopes.append(value)
        block[place] = kept
        assert abs(slopes[0] - slopes[1]) / 2e-4 < 0.01


def test_no_label_known_at_all_leaves_the_weights_at_0():
    X, y = sample(5)
    known = [[None] * len(labels) for labels in y]
    known[0] = [{0, 1, 2}] * len(y[0])
    crf = GraphCRF(0.1, random_state=0).fit(X, known)
    assert_allclose(crf.coef_, 0.0, atol=1e-6)
    assert_allclose(crf.primal_objective_, 0.0, atol=1e-9)


def test_an_unknown_label_has_a_name_and_is_not_scored():
    X, y = sample(11)
    known = [[-100 if t == 0 else k for t, k in enumerate(own)] for own in y]
    with_none = [[None if k == -100 else k for k in own] for own in known]
    crf = GraphCRF(0.1, unknown_label=-100, random_state=0).fit(X, known)
    rival = GraphCRF(0.1, random_state=0).fit(X, with_none)
    assert_array_equal(crf.coef_, rival.coef_)
    right = [
        k == label
        for path, own in zip(crf.predict(X), known, strict=True)
        for k, label in zip(path, own, strict=True)
        if label != -100
    ]
    assert_allclose(crf.score(X, known), np.mean(right))


@pytest.mark.parametrize("solver", SOLVERS)
def test_the_objective_of_soft_labels_is_that_of_enumeration(solver):
    X, y = sample(11)
    rng = np.random.default_rng(1)
    soft, rows = [], []
    for labels in y:
        q = rng.dirichlet(np.ones(3), size=len(labels))
        rows.append(q)
        soft.append([dict(enumerate(row)) for row in q.tolist()])
    crf = GraphCRF(
        0.1, directed=True, solver=solver, tol=1e-6, max_iter=2000, random_state=0
    )
    crf.fit(X, soft)

    def log_targets(i, paths, scores):
        return np.prod(rows[i][np.arange(len(rows[i])), paths], axis=1) @ scores

    objective = 0.05 * squared_norm(crf) + mean_loss(crf, X, log_targets)
    assert_allclose(crf.primal_objective_, objective, rtol=1e-9)
    assert 0.0 <= crf.duality_gap_ <= crf.gap_target_


@pytest.mark.parametrize("solver", SOLVERS)
def test_observed_features_have_weights_of_their_labels_alone(solver):
    rng = np.random.default_rng(0)
    words = np.array(["a", "b", "c", "d"])
    X, y = [], []
    for _ in range(12):
        labels = rng.integers(3, size=4)
        # Words c and d each go with one label alone.
        own = np.where(labels == 2, "c", words[rng.integers(2, size=4)])
        X.append(([[word] for word in own], [[0, 1], [1, 2], [2, 3], [3, 0]]))
        y.append(labels.tolist())
    options = {"solver": solver, "tol": 1e-6, "max_iter": 2000, "random_state": 0}
    crf = GraphCRF(0.05, features="observed", **options).fit(X, y)
    names = crf.vectorizer_.get_feature_names_out().tolist()
    coef = crf.coef_.toarray()
    assert coef[2, names.index("c")] > 0.0
    assert_array_equal(coef[:2, names.index("c")], 0.0)
    assert_array_equal(coef[2, [names.index("a"), names.index("b")]], 0.0)
    assert 0.0 <= crf.duality_gap_ <= crf.gap_target_
    nodes = [np.eye(len(names))[[names.index(w) for [w] in own]] for own, _ in X]
    graphs = [(own, ends) for own, (_, ends) in zip(nodes, X, strict=True)]

    def log_targets(i, paths, scores):
        return scores[(paths == y[i]).all(axis=1)][0]

    # Of two labels without an order there is one weight.
    norm = squared_norm(crf) - float((np.tril(crf.edge_coef_[0], -1) ** 2).sum())
    objective = 0.025 * norm + mean_loss(crf, graphs, log_targets)
    assert_allclose(crf.primal_objective_, objective, rtol=1e-9)
    full = GraphCRF(0.05, **options).fit(X, y)
    assert full.primal_objective_ < crf.primal_objective_
    rare = GraphCRF(0.05, features="observed", min_count=1e3, **options).fit(X, y)
    assert rare.coef_.nnz == 0


def test_threads_keep_observed_features():
    X, y = sample(140)
    X = [(np.round(np.maximum(nodes, 0.0)), *rest) for nodes, *rest in X]
    options = {"features": "observed", "tol": 1e-6, "max_iter": 500, "random_state": 0}
    one, two = (GraphCRF(0.01, n_jobs=n, **options).fit(X, y) for n in (1, 2))
    assert_allclose(one.primal_objective_, two.primal_objective_, rtol=2e-6)


@pytest.mark.parametrize("solver", SOLVERS)
def test_init_starts_where_a_model_is(solver):
    X, y = sample(22)
    options = {"solver": solver, "random_state": 0, "max_iter": 2000}
    best = GraphCRF(0.05, tol=1e-6, **options).fit(X, y)
    crf = GraphCRF(0.05, tol=1e-6, **options).fit(X, y, init=best)
    if solver != "sag":
        assert crf.n_iter_ < best.n_iter_
    # The gradients of SAG are not known at first.
    assert crf.history_["primal"][0] < best.history_["primal"][0]
    assert_allclose(crf.primal_objective_, best.primal_objective_, rtol=1e-5)


def test_init_matches_names_of_features_and_labels():
    edges = [[0, 1], [1, 2]]
    first = [([["a"], ["b"], ["c"]], edges)] * 4
    model = GraphCRF(0.01, tol=1e-6, random_state=0).fit(first, [["X", "Y", "Z"]] * 4)
    second = [([["c"], ["new"], ["b"]], edges)] * 4
    # Almost no data against a large penalty: one iteration moves little.
    crf = GraphCRF(1e-6, solver="lbfgs", max_iter=1)
    with pytest.warns(ConvergenceWarning):
        crf.fit(second, [["W", "Z", "Y"]] * 4, init=model)
    assert crf.classes_.tolist() == ["W", "Y", "Z"]
    assert crf.predict([([["b"], ["c"]], [[0, 1]])])[0] == ["Y", "Z"]


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("loss", ["log_loss", "softmax_margin"])
def test_prior_is_the_middle_of_the_penalty(solver, loss):
    X, y = sample(22)
    first = GraphCRF(0.05, directed=True, random_state=0).fit(X[:11], y[:11])
    options = {"directed": True, "solver": solver, "max_iter": 3000, "random_state": 0}
    crf = GraphCRF(0.3, loss=loss, tol=1e-6, **options).fit(X[11:], y[11:], prior=first)
    distance = sum(
        float(((getattr(crf, name) - getattr(first, name)) ** 2).sum())
        for name in crf._form().weights_of(crf).attributes()
    )
    assert 0.0 <= crf.duality_gap_ <= crf.gap_target_
    near = clone(crf).set_params(alpha=1e6).fit(X[11:], y[11:], prior=first)
    assert_allclose(near.coef_, first.coef_, atol=1e-4)
    assert_allclose(near.edge_coef_, first.edge_coef_, atol=1e-4)
    if loss == "log_loss":

        def log_targets(i, paths, scores):
            return scores[(paths == y[11 + i]).all(axis=1)][0]

        objective = 0.15 * distance + mean_loss(crf, X[11:], log_targets)
        assert_allclose(crf.primal_objective_, objective, rtol=1e-9)


def test_prior_keeps_what_the_data_do_not_have():
    edges = [[0, 1], [1, 2]]
    first = TreeCRF(0.01, random_state=0).fit(
        [([["a"], ["b"], ["c"]], [-1, 0, 1])] * 4, [["X", "Y", "Z"]] * 4
    )
    graphs = [([["c"], ["new"], ["c"]], edges)] * 4
    crf = GraphCRF(0.1, directed=True, random_state=0)
    crf.fit(graphs, [["Z", "W", "Z"]] * 4, prior=first)
    assert crf.classes_.tolist() == ["W", "X", "Y", "Z"]
    names = crf.vectorizer_.get_feature_names_out().tolist()
    assert names == ["a", "b", "c", "new"]
    assert_array_equal(crf.coef_[1:, :2], first.coef_[:, :2])
    assert crf.predict([([["a"], ["b"]], [[0, 1]]), *graphs[:1]]).tolist() == [
        ["X", "Y"],
        ["Z", "W", "Z"],
    ]
    both = clone(crf).fit(graphs, [["Z", "W", "Z"]] * 4, prior=first, init=crf)
    assert_allclose(both.coef_, crf.coef_, atol=0.05)


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("alpha", [0.05, 0.02])
def test_a_warm_start_goes_on(solver, alpha):
    X, y = sample(22)
    options = {"solver": solver, "tol": 1e-5, "max_iter": 3000, "random_state": 0}
    cold = GraphCRF(alpha, **options).fit(X, y)
    crf = GraphCRF(0.05, warm_start=True, **options).fit(X, y)
    crf.set_params(alpha=alpha).fit(X, y)
    assert_allclose(crf.primal_objective_, cold.primal_objective_, rtol=2e-5)
    assert crf.n_iter_ <= cold.n_iter_
    if alpha == 0.05:
        assert crf.n_iter_ <= 3
    ends = [[0, 1], [1, 2]]
    one = [(np.ones((3, 3)), ends, np.ones((2, 2)))], [[0, 1, 2]]
    same = [(g[0], np.flip(g[1], axis=1) if len(g[1]) else [], g[2]) for g in X]
    if solver in ("sgd", "lbfgs"):
        # Their states have weights alone.
        other = clone(crf).set_params(warm_start=False).fit(*one)
        crf.fit(*one)
        assert_allclose(crf.primal_objective_, other.primal_objective_, rtol=2e-5)
        crf.fit(X, y)
    else:
        with pytest.raises(ValueError, match="warm_start=True"):
            crf.fit(*one)
        with pytest.raises(ValueError, match="the same edges"):
            crf.fit(same, y)
    crf.set_params(features="observed")
    with pytest.raises(ValueError, match="`features`"):
        crf.fit(X, y)


def test_errors_of_init_and_prior_name_the_argument():
    X, y = sample(6)
    crf = GraphCRF(0.1, random_state=0).fit(X, y)
    chain = OEGCRF(random_state=0).fit([g[0] for g in X], y)
    plain = [graph[:2] for graph in X]
    words = [([["a"], ["b"]], [[0, 1]], [[1.0, 0.0]])]
    for name in ("init", "prior"):
        with pytest.raises(TypeError, match=f"{name} must be a fitted GraphCRF"):
            GraphCRF().fit(X, y, **{name: chain})
        with pytest.raises(NotFittedError, match=f"{name}: this TreeCRF"):
            GraphCRF().fit(X, y, **{name: TreeCRF()})
        with pytest.raises(ValueError, match=f"{name} has 2 features of each edge"):
            GraphCRF().fit(plain, y, **{name: crf})
        with pytest.raises((TypeError, ValueError), match=name):
            GraphCRF().fit(words, [[0, 1]], **{name: crf})
        directed = clone(crf).set_params(directed=True).fit(X, y)
        with pytest.raises(ValueError, match=f"{name} has weights of edges with a dir"):
            GraphCRF().fit(X, y, **{name: directed})
    with pytest.raises(ValueError, match="prior is not taken with warm_start=True"):
        GraphCRF(warm_start=True).fit(X, y, prior=crf)
    warm = GraphCRF(0.1, warm_start=True, random_state=0).fit(X, y)
    with pytest.raises(ValueError, match="init and warm_start=True"):
        warm.fit(X, y, init=crf)
    with pytest.raises(ValueError, match="init is not taken"):
        GraphCRF(loss="hinge").fit(X, y, init=crf)
    with pytest.raises(ValueError, match="min_count"):
        GraphCRF(min_count=2).fit(X, y)


def test_the_likelihood_of_known_labels_is_summed_over_the_others():
    X, y = sample(11)
    crf = GraphCRF(0.1, unknown_label=9, random_state=0).fit(X, y)
    known = [[k if t % 2 else 9 for t, k in enumerate(own)] for own in y]
    for i, found in enumerate(crf.log_likelihood(X, known)):
        paths, scores = labelling_scores(crf, X[i])
        right = (paths[:, 1::2] == y[i][1::2]).all(axis=1)
        expected = logsumexp(scores[right]) - logsumexp(scores)
        assert_allclose(found, expected, atol=1e-10)
    known[1][0] = 7
    known[2][1] = 7
    assert np.isneginf(crf.log_likelihood(X, known)[[1, 2]]).all()


# With huge weights the draws come from logarithms.
@pytest.mark.parametrize("scale", [1.0, 400.0])
def test_draws_are_those_of_enumeration(scale):
    X, y = sample(11)
    crf = GraphCRF(0.1, random_state=0).fit(X, y)
    for name in crf._form().weights_of(crf).attributes():
        setattr(crf, name, scale * getattr(crf, name))
    n = 4000
    draws = crf.sample(X, n, random_state=0)
    assert draws.shape == (n, len(X))
    assert_array_equal(draws[:5], crf.sample(X, n, random_state=0)[:5])
    for i, graph in enumerate(X):
        paths, scores = labelling_scores(crf, graph)
        drawn = np.array(draws[:, i].tolist())
        places = drawn @ 3 ** np.arange(drawn.shape[1])[::-1]
        found = np.bincount(places, minlength=len(paths)) / n
        expected = np.exp(scores - logsumexp(scores))
        bound = 5.0 * np.sqrt(expected * (1.0 - expected) / n) + 1e-3
        assert (np.abs(found - expected) <= bound).all()
    empty = crf.sample([(np.zeros((0, 3)), [])], 2)
    assert [list(row) for row in empty] == [[[]], [[]]]
    with pytest.raises(ValueError, match="n_draws must be an integer"):
        crf.sample(X, 0)


@pytest.mark.parametrize("loss", ["log_loss", "hinge"])
def test_the_terms_of_an_explanation_add_up_to_differences_of_scores(loss):
    X, y = sample(11)
    crf = GraphCRF(0.1, directed=True, loss=loss, tol=0.1, random_state=0).fit(X, y)
    for graph in X:
        paths, scores = labelling_scores(crf, graph)
        for v in range(-1, len(graph[0]) - 1):
            found = crf.explain(graph, v, labels=[0, 1, 2], reference=1)
            best = [scores[paths[:, v] == k].max() for k in range(3)]
            assert_allclose(found.scores, np.subtract(best, best[1]), atol=1e-10)
            assert found.label == paths[scores.argmax()][v]
            if loss == "log_loss":
                p = np.exp(scores - logsumexp(scores))
                expected = [p[paths[:, v] == k].sum() for k in range(3)]
                assert_allclose(found.probabilities, expected, atol=1e-10)
            for k, path in found.paths.items():
                assert_array_equal(
                    path, paths[np.where(paths[:, v] == k, scores, -np.inf).argmax()]
                )
    own = crf.explain(X[2], 0)
    assert own.reference != own.label
    assert "Position 0" in repr(own)
    with pytest.raises(IndexError, match="node: 9 is not in the graph of"):
        crf.explain(X[2], 9)
    with pytest.raises(TypeError, match="node must be an integer"):
        crf.explain(X[2], "a")
    with pytest.raises(ValueError, match="labels: 7 is not among"):
        crf.explain(X[2], 0, labels=[7])


def test_the_tables_of_weights_have_those_of_nodes():
    X, y = [([["a"], ["b"]], [[0, 1]])], [["A", "B"]]
    crf = GraphCRF(solver="lbfgs", tol=1e-10).fit(X, y)
    features = crf.state_features().to_dict()
    assert_allclose(features[("a", "A")], crf.coef_[0, 0])
    names = {name for name, _ in features}
    assert names <= {"a", "b", "<intercept>"}
    assert crf.top_features(1, ["B"]).to_dict()


def test_known_labels_are_kept_and_decodings_are_those_of_enumeration():
    X, y = sample(11)
    crf = GraphCRF(0.1, random_state=0).fit(X, y)
    rng = np.random.default_rng(0)
    known = [
        [int(rng.integers(3)) if rng.random() < 0.5 else None for _ in own] for own in y
    ]
    found = crf.predict(X, known=known)
    posterior = crf.predict(X, decoding="posterior", known=known)
    for i, graph in enumerate(X):
        paths, scores = labelling_scores(crf, graph)
        allowed = np.array([agrees(path, known[i]) for path in paths.tolist()])
        scores = np.where(allowed, scores, -np.inf)
        assert found[i] == paths[scores.argmax()].tolist()
        p = np.exp(scores - logsumexp(scores))
        marginals = np.array([p @ (paths == k) for k in range(3)])
        assert posterior[i] == marginals.argmax(axis=0).tolist()
    with pytest.raises(ValueError, match="decoding must be one of"):
        crf.predict(X, decoding="best")
    with pytest.raises(ValueError, match="known"):
        crf.predict(X, known=known[:2])
    with pytest.raises(ValueError, match="known"):
        crf.predict(X[:1], known=[[7] * len(y[0])])


def test_a_given_labelling_is_explained():
    X, y = sample(11)
    crf = GraphCRF(0.1, random_state=0).fit(X, y)
    X = [max(X, key=lambda graph: len(graph[0]))]
    (best,) = crf.predict(X)
    path = [(label + 1) % 3 for label in best]
    found = crf.explain(X[0], 1, path=path)
    assert found.label == path[1]
    assert found.paths[path[1]] == path
    scores = crf.log_likelihood(X * 2, [path, found.paths[found.reference]])
    np.testing.assert_allclose(found.scores[0], scores[0] - scores[1], rtol=1e-9)
    with pytest.raises(ValueError, match="path: the label 7 was not seen in fit"):
        crf.explain(X[0], 1, path=[7, *path[1:]])


def test_small_probabilities_of_nodes_have_logarithms():
    X = [([[1.0], [0.0]], [[0, 1]])]
    crf = GraphCRF(solver="lbfgs").fit(X, [["a", "b"]])
    X = [([[1e5], [0.0]], [[0, 1]])]
    (proba,), (log_proba,) = crf.predict_proba(X), crf.predict_log_proba(X)
    assert proba[0].min() < 1e-300
    coef = crf.coef_[:, 0]
    assert -np.inf < log_proba[0].min() < -0.99e5 * abs(coef[0] - coef[1])
    possible = proba > 1e-300
    np.testing.assert_allclose(log_proba[possible], np.log(proba[possible]))
