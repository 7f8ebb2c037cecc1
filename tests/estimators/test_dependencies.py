"""DependencyCRF against a list of all trees of short sentences."""

from functools import cache

import numpy as np
import pytest
import tree_twin
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import minimize
from scipy.sparse import csr_array, issparse
from scipy.special import logsumexp
from scipy.stats import entropy

from pairs import pairwise_table
from skcrf_sdca import DependencyCRF, load_model, save_model
from skcrf_sdca.solvers import parallel
from skcrf_sdca.structures.uncertainty import MEASURES

ALPHA, D = 0.05, 3
SOLVERS = ["sdca", "oeg", "sag", "sgd", "lbfgs"]
RELATIONS = ["mod", "obj", "root"]
KINDS = {
    "one root": {},
    "roots": {"single_root": False},
    "projective": {"projective": True},
}
kinds = pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)


def samples(seed=0, **kind):
    """Return arcs (n + 1, n, D) of sentences, and trees that a model has drawn."""
    rng = np.random.default_rng(seed)
    X = [rng.normal(size=(n + 1, n, D)) for n in (1, 2, 3, 4, 3, 2, 5)]
    w, y = rng.normal(size=D), []
    for x in X:
        noise = rng.gumbel(size=x.shape[:2])
        heads, scores = tree_twin.tree_scores(x @ w + noise, **kind)
        y.append(heads[scores.argmax()].tolist())
    return X, y


def with_relations(y, seed=1):
    rng = np.random.default_rng(seed)
    return [(heads, rng.choice(RELATIONS, size=len(heads)).tolist()) for heads in y]


def kind_of(crf):
    return {"single_root": crf.single_root, "projective": crf.projective}


def arc_scores(crf, x):
    """Return the scores of arcs (n + 1, n, n_relations)."""
    coef = crf.coef_.toarray() if issparse(crf.coef_) else crf.coef_
    return x @ coef.T + crf.intercept_


def labelled_trees(crf, x):
    """Return the log of Z and of the sum over the relations of each arc."""
    of_arcs = logsumexp(arc_scores(crf, x), axis=2)
    return tree_twin.log_partition(of_arcs, **kind_of(crf)), of_arcs


def codes_of(crf, labels):
    """Return heads, and the numbers of relations, of one y."""
    heads, relations = labels if crf.labelled else (labels, ["dep"] * len(labels))
    classes = crf.classes_.tolist()
    return np.array(heads), np.array([classes.index(r) for r in relations])


def objective(crf, X, y):
    """Return P(w) of the log loss by enumeration, and its gradient by coef."""
    coef = crf.coef_
    value = ALPHA / 2.0 * ((coef**2).sum() + (crf.intercept_**2).sum())
    gradient = ALPHA * coef
    for x, labels in zip(X, y, strict=True):
        heads, codes = codes_of(crf, labels)
        scores, words = arc_scores(crf, x), np.arange(len(heads))
        log_z, of_arcs = labelled_trees(crf, x)
        marginals, _ = tree_twin.arc_marginals(of_arcs, **kind_of(crf))
        expected = marginals[..., np.newaxis] * np.exp(
            scores - of_arcs[..., np.newaxis]
        )
        expected[heads, words, codes] -= 1.0
        value += (log_z - scores[heads, words, codes].sum()) / len(X)
        gradient = gradient + np.einsum("hmk,hmd->kd", expected, x) / len(X)
    return value, gradient


def fitted(X, y, solver="lbfgs", **parameters):
    crf = DependencyCRF(alpha=ALPHA, solver=solver, max_iter=5000, random_state=0)
    return crf.set_params(**{"tol": 1e-9, **parameters}).fit(X, y)


@cache
def best_of(name):
    """Return the optimum of a kind of trees."""
    return fitted(*samples(**KINDS[name]), **KINDS[name], tol=1e-12)


@pytest.mark.parametrize(
    ("solver", "name", "n_jobs"), pairwise_table(SOLVERS, list(KINDS), [None, 2])
)
@pytest.mark.usefixtures("many_ranges")
def test_every_solver_finds_the_optimum(solver, name, n_jobs, monkeypatch):
    monkeypatch.setattr(parallel, "MIN_SHARD", 1)
    kind = KINDS[name]
    X, y = samples(**kind)
    crf = fitted(X, y, solver, **kind, n_jobs=n_jobs)
    best = best_of(name)
    value, gradient = objective(crf, X, y)
    assert_allclose(crf.primal_objective_, value, rtol=1e-12)
    assert_allclose(value, objective(best, X, y)[0], rtol=1e-8)
    assert crf.dual_objective_ <= best.primal_objective_ * (1.0 + 1e-14)
    assert np.abs(gradient).max() < 1e-3
    assert_allclose(crf.intercept_, 0.0, atol=1e-12)


@pytest.mark.parametrize("solver", SOLVERS)
def test_relations_are_trained_too(solver):
    X, y = samples()
    y = with_relations(y)
    crf = fitted(X, y, solver, labelled=True)
    value, gradient = objective(crf, X, y)
    assert_array_equal(crf.classes_, RELATIONS)
    assert crf.coef_.shape == (3, D)
    assert_allclose(crf.primal_objective_, value, rtol=1e-12)
    assert crf.duality_gap_ <= 1e-8
    assert np.abs(gradient).max() < 1e-3


def test_the_bound_of_the_entropy_holds_at_every_epoch():
    X, y = samples()
    best = fitted(X, y).primal_objective_
    crf = fitted(X, y, "sdca")
    dual, primal = (crf.history_[name] for name in ("dual", "primal"))
    assert (dual <= best + 1e-12).all()
    assert (primal >= best - 1e-12).all()


@kinds
def test_the_hinge_is_near_its_optimum(kind):
    X, y = samples(**kind)

    def value_of(w):
        value = ALPHA / 2.0 * w @ w
        for x, heads in zip(X, y, strict=True):
            words = np.arange(len(heads))
            cost = np.ones(x.shape[:2])
            cost[heads, words] = 0.0
            scores = x @ w
            _, all_scores = tree_twin.tree_scores(scores + 2.0 * cost, **kind)
            value += (all_scores.max() - scores[heads, words].sum()) / len(X)
        return value

    crf = fitted(X, y, "sdca", **kind, loss="hinge", margin=2.0, tol=1e-2)
    w = crf.coef_[0]
    assert_allclose(crf.primal_objective_, value_of(w), rtol=1e-12)
    best = minimize(value_of, w, method="Nelder-Mead", options={"xatol": 1e-9}).fun
    assert crf.dual_objective_ <= best + 1e-12
    assert crf.primal_objective_ - best <= 1e-2 * best
    assert not hasattr(crf, "predict_proba")


@pytest.mark.parametrize("solver", ["sdca", "oeg", "lbfgs"])
def test_softmax_margin_counts_wrong_words(solver):
    X, y = samples()
    crf = fitted(X, y, solver, loss="softmax_margin", margin=0.7, temperature=2.0)
    w, value = crf.coef_[0], 0.0
    for x, heads in zip(X, y, strict=True):
        words = np.arange(len(heads))
        cost = np.full(x.shape[:2], 0.7)
        cost[heads, words] = 0.0
        log_z = tree_twin.log_partition((x @ w + cost) / 2.0, single_root=True)
        value += (2.0 * log_z - (x @ w)[heads, words].sum()) / len(X)
    value += ALPHA / 2.0 * w @ w
    assert_allclose(crf.primal_objective_, value, rtol=1e-12)
    assert crf.duality_gap_ <= 1e-8


@pytest.mark.parametrize("solver", ["sdca", "oeg", "lbfgs"])
def test_the_elastic_net_makes_zeros(solver):
    X, y = samples()
    X = [np.concatenate([x, 1e-3 * x], axis=2) for x in X]
    crf = fitted(X, y, solver, l1_ratio=0.4, tol=1e-6)
    best = fitted(X, y, "lbfgs", l1_ratio=0.4, tol=1e-10)
    assert_allclose(crf.primal_objective_, best.primal_objective_, rtol=1e-5)
    assert crf.n_nonzero_ <= D


@pytest.mark.parametrize("temperature", [1.0, 2.5])
@kinds
def test_answers_are_those_of_all_trees(kind, temperature):
    X, y = samples(**kind)
    options = {"loss": "softmax_margin", "temperature": temperature, "margin": 0.0}
    crf = fitted(X, y, **kind, **options)
    proba, best = crf.predict_proba(X), crf.predict_n_best(X, 3)
    log_p, log_z = crf.log_likelihood(X, y), crf.log_partition(X)
    logs, drawn = crf.predict_log_proba(X), crf.sample(X, 4, random_state=0)
    n_right = 0
    for i, x in enumerate(X):
        scores = arc_scores(crf, x)[..., 0] / temperature
        heads, values = tree_twin.tree_scores(scores, **kind)
        marginals, _ = tree_twin.arc_marginals(scores, **kind)
        order, total = np.argsort(-values)[:3], logsumexp(values)
        assert_allclose(proba[i], marginals, rtol=1e-9)
        with np.errstate(divide="ignore"):
            assert_allclose(logs[i], np.log(marginals), rtol=1e-9, atol=1e-12)
        assert [tree for tree, _ in best[i]] == heads[order].tolist()
        assert_allclose([p for _, p in best[i]], np.exp(values[order] - total))
        at = (heads == y[i]).all(axis=1)
        assert_allclose(log_p[i], values[at] - total, rtol=1e-9)
        assert_allclose(log_z[i], total)
        assert crf.predict([x]).tolist() == [heads[order[0]].tolist()]
        assert all(tree in heads.tolist() for tree in drawn[:, i])
        n_right += (heads[order[0]] == y[i]).sum()
    assert_allclose(crf.score(X, y), n_right / sum(map(len, y)))


@pytest.mark.parametrize("temperature", [1.0, 2.5])
@kinds
def test_uncertainty_is_of_words_and_trees(kind, temperature):
    X, y = samples(**kind)
    options = {"loss": "softmax_margin", "temperature": temperature}
    crf = fitted(X, y, **kind, **options)
    found = {name: crf.uncertainty(X, measure=name) for name in MEASURES}
    for i, x in enumerate(X):
        scores, n = arc_scores(crf, x)[..., 0] / temperature, x.shape[1]
        _, values = tree_twin.tree_scores(scores, **kind)
        p = np.sort(np.exp(values - logsumexp(values)))[::-1]
        marginals, of_trees = tree_twin.arc_marginals(scores, **kind)
        second = p[1] if len(p) > 1 else 0.0
        expected = {
            "entropy": of_trees,
            "token_entropy": entropy(marginals, axis=0).mean(),
            "least_confidence": 1.0 - p[0],
            "mnlp": -np.log(p[0]) / n,
            "margin": 1.0 - (p[0] - second),
        }
        assert expected.keys() == found.keys()
        for name, value in expected.items():
            assert_allclose(found[name][i], value, rtol=1e-6, atol=1e-9, err_msg=name)


def test_uncertainty_is_of_relations_too():
    X, y = samples()
    crf = fitted(X, with_relations(y), labelled=True)
    for proba, value in zip(
        crf.predict_proba(X), crf.uncertainty(X, measure="token_entropy"), strict=True
    ):
        rows = proba.swapaxes(0, 1).reshape(proba.shape[1], -1)
        assert_allclose(value, entropy(rows, axis=1).mean())


def test_weights_of_sentences_count():
    X, y = samples()
    weight = np.array([2.0, 0.0, 1.0, 1.0, 1.0, 1.0, 1.0])
    crf = DependencyCRF(alpha=ALPHA, solver="lbfgs", tol=1e-10)
    crf.fit(X, y, sample_weight=weight)
    again = [0, *np.flatnonzero(weight)]
    twice = fitted([X[i] for i in again], [y[i] for i in again], tol=1e-10)
    assert_allclose(crf.coef_, twice.coef_, atol=1e-5)
    found = crf.predict(X)
    right = [np.mean(np.equal(a, b)) for a, b in zip(found, y, strict=True)]
    sizes = weight * np.array([len(heads) for heads in y])
    assert_allclose(crf.score(X, y, weight), np.average(right, weights=sizes))


def test_relations_are_answered():
    X, y = samples()
    y = with_relations(y)
    crf = fitted(X, y, labelled=True)
    (proba, *_), (best, *_) = crf.predict_proba(X[2:]), crf.predict_n_best(X[2:], 9)
    log_z, of_arcs = labelled_trees(crf, X[2])
    scores = arc_scores(crf, X[2])
    marginals, _ = tree_twin.arc_marginals(of_arcs, single_root=True)
    shares = np.exp(scores - of_arcs[..., np.newaxis])
    assert_allclose(proba, marginals[..., np.newaxis] * shares, rtol=1e-9)
    for (heads, relations), p in best:
        _, codes = codes_of(crf, (heads, relations))
        score = scores[heads, np.arange(3), codes].sum()
        assert_allclose(p, np.exp(score - log_z), rtol=1e-9)
    assert crf.predict(X)[2] == best[0][0]
    found = crf.predict(X)
    right = [
        head == other and name == its
        for tree, own in zip(found, y, strict=True)
        for head, name, other, its in zip(*tree, *own, strict=True)
    ]
    assert_allclose(crf.score(X, y), np.mean(right))
    y[0] = y[0][0], ["never seen"]
    assert crf.log_likelihood(X, y)[0] == -np.inf


def test_arcs_in_any_form_are_the_same_model():
    X, y = samples()
    crf = fitted(X, y)
    rows = [x.reshape(-1, D) for x in X]
    names = [
        [{f"f{j}": v for j, v in enumerate(row)} for row in own.tolist()]
        for own in rows
    ]
    for same in (rows, [csr_array(own) for own in rows], names, iter(X)):
        other = fitted(same, y)
        assert_allclose(other.coef_, crf.coef_, atol=1e-6)
    assert fitted(names, y).vectorizer_.get_feature_names_out().tolist() == [
        "f0",
        "f1",
        "f2",
    ]


@pytest.mark.parametrize("solver", SOLVERS)
def test_arcs_that_are_not_allowed_are_never_in_a_tree(solver):
    X, y = samples()
    allowed = [np.ones(x.shape[:2], dtype=bool) for x in X]
    own = y[3]
    other = next(h for h in range(5) if h not in (own[0], 1))
    allowed[3][other, 0] = False
    pairs = list(zip(X, allowed, strict=True))
    crf = fitted(pairs, y, solver)
    scores = [np.where(a, arc_scores(crf, x)[..., 0], -np.inf) for x, a in pairs]
    log_z = [tree_twin.log_partition(s, single_root=True) for s in scores]
    assert_allclose(crf.log_partition(pairs), log_z, rtol=1e-9)
    assert crf.predict_proba(pairs)[3][other, 0] == 0.0
    assert crf.duality_gap_ <= 1e-8
    losses = [
        z - s[heads, np.arange(len(heads))].sum()
        for z, s, heads in zip(log_z, scores, y, strict=True)
    ]
    value = np.mean(losses) + ALPHA / 2.0 * (crf.coef_**2).sum()
    assert_allclose(crf.primal_objective_, value, rtol=1e-9)


def test_a_model_of_large_weights_is_exact():
    # Two words that prefer each other by hundreds of nats.
    X, y = samples()
    crf = fitted(X, y)
    crf.coef_ = 200.0 * crf.coef_
    for x, found in zip(X, crf.predict_proba(X), strict=True):
        scores = arc_scores(crf, x)[..., 0]
        marginals, _ = tree_twin.arc_marginals(scores, single_root=True)
        assert_allclose(found, marginals, rtol=1e-9, atol=1e-100)


def test_a_start_and_a_prior():
    X, y = samples()
    crf = fitted(X, y)
    again = DependencyCRF(alpha=ALPHA, solver="oeg", max_iter=1, random_state=0)
    assert again.fit(X, y, init=crf).duality_gap_ < 1e-3
    near = DependencyCRF(alpha=1e4, solver="lbfgs").fit(X[:1], y[:1], prior=crf)
    assert_allclose(near.coef_, crf.coef_, atol=1e-3)
    warm = DependencyCRF(alpha=ALPHA, solver="sdca", warm_start=True, random_state=0)
    n_first = warm.fit(X, y).n_iter_
    assert warm.fit(X, y).n_iter_ < n_first
    with pytest.raises(ValueError, match="same single_root"):
        warm.set_params(single_root=False).fit(X, y)


def test_held_out_trees_score_every_epoch():
    X, y = samples()
    crf = DependencyCRF(alpha=ALPHA, random_state=0).fit(X, y, X_val=X, y_val=y)
    assert_allclose(crf.history_["val_score"][-1], crf.score(X, y))


@pytest.mark.parametrize("labelled", [False, True])
def test_a_model_is_saved_and_loaded(labelled, tmp_path):
    X, y = samples()
    y = with_relations(y) if labelled else y
    crf = fitted(X, y, labelled=labelled)
    save_model(crf, tmp_path / "model.zip")
    loaded = load_model(tmp_path / "model.zip")
    assert type(loaded) is DependencyCRF
    assert loaded.get_params() == crf.get_params()
    assert loaded.predict(X).tolist() == crf.predict(X).tolist()
    assert_array_equal(loaded.coef_, crf.coef_)


@pytest.mark.parametrize("labelled", [False, True])
@pytest.mark.parametrize("solver", SOLVERS)
def test_arcs_in_single_precision_give_the_bits_of_the_same_in_double(solver, labelled):
    rng, (_, y) = np.random.default_rng(0), samples()
    y = with_relations(y) if labelled else y
    sizes = [(n + 1, n, 13) for n in (1, 2, 3, 4, 3, 2, 5)]
    X = [rng.normal(size=own).astype(np.float32) for own in sizes]
    exact = [x.astype(np.float64) for x in X]
    one, other = (
        fitted(arcs, y, solver, labelled=labelled, tol=0.1) for arcs in (X, exact)
    )
    assert_array_equal(one.coef_, other.coef_)
    assert one.primal_objective_ == other.primal_objective_
    for own, expected in zip(
        one.predict_proba(X), other.predict_proba(exact), strict=True
    ):
        assert_array_equal(own, expected)
    own, expected = one.explain(X[3], 2), other.explain(exact[3], 2)
    assert own.values.dtype == expected.values.dtype
    assert_array_equal(own.contributions, expected.contributions)


@pytest.mark.parametrize("labelled", [False, True])
def test_the_terms_of_an_explanation_sum_to_the_difference(labelled):
    X, y = samples()
    y = with_relations(y) if labelled else y
    crf = fitted(X, y, labelled=labelled)
    x, word = X[3], 2
    best = arc_scores(crf, x).max(axis=2)
    heads, values = tree_twin.tree_scores(best, single_root=True)
    explanation = crf.explain(x, word, labels=[0, 1, 3, 4], reference=0)
    with_head = [values[heads[:, word - 1] == h].max() for h in (0, 1, 3, 4)]
    expected = np.array(with_head) - with_head[0]
    assert_allclose(explanation.scores, expected, atol=1e-9)
    assert_allclose(explanation.contributions.sum(axis=0), expected, atol=1e-9)
    proba = crf.predict_proba([x])[0]
    proba = proba.sum(axis=2) if labelled else proba
    assert_allclose(explanation.probabilities, proba[[0, 1, 3, 4], word - 1])
    assert explanation.label == heads[values.argmax(), word - 1]
    assert "Position 2" in str(crf.explain(x, word))
    with pytest.raises(IndexError, match="word: 5 is not in the sentence of 4 words"):
        crf.explain(x, 5)


def test_pruned_and_sparse_models_answer_the_same():
    X, y = samples()
    crf = fitted(X, y)
    found = crf.predict_proba(X)
    for other in (crf.prune(0.0), crf.sparsify(), crf.densify()):
        for own, its in zip(other.predict_proba(X), found, strict=True):
            assert_array_equal(own, its)


@pytest.mark.parametrize("labelled", [False, True])
@pytest.mark.parametrize("decoding", ["viterbi", "posterior"])
def test_known_heads_are_kept(decoding, labelled):
    X, y = samples()
    crf = fitted(X, with_relations(y) if labelled else y, labelled=labelled)
    scores = arc_scores(crf, X[3])
    of_arcs = scores.max(axis=2) if decoding == "viterbi" else logsumexp(scores, axis=2)
    scores = scores.max(axis=2) if decoding == "viterbi" else scores
    heads, values = tree_twin.tree_scores(of_arcs, single_root=True)
    for head in (0, 2, 4):
        keeps = heads[:, 0] == head
        if decoding == "posterior":
            given = np.where(np.arange(5)[:, np.newaxis] == head, of_arcs, -np.inf)
            given = np.hstack([given[:, :1], of_arcs[:, 1:]])
            marginals, _ = tree_twin.arc_marginals(given, single_root=True)
            if labelled:
                shares = np.exp(scores - of_arcs[..., np.newaxis])
                marginals = marginals * shares.max(axis=2)
            values = marginals[heads, np.arange(4)].sum(axis=1)
        best = heads[keeps][values[keeps].argmax()].tolist()
        known = [[head, None, None, None]]
        (found,) = crf.predict([X[3]], decoding=decoding, known=known)
        assert (found[0] if labelled else found) == best
    with pytest.raises(ValueError, match="known: sentence 0, word 1 has the head 7"):
        crf.predict([X[3]], known=[[7, None, None, None]])
    with pytest.raises(ValueError, match="known: sentence 0"):
        crf.predict([X[3]], known=[[0, 0, None, None]])


def test_methods_without_a_meaning_are_not_there():
    X, y = samples()
    assert not hasattr(fitted(X, y), "predict_edge_proba")


@pytest.mark.parametrize("relation", [None, {"x", "z"}, {"x": 1.0}, float("nan")])
@pytest.mark.parametrize("known", [False, True])
def test_each_word_has_one_relation(relation, known):
    X, y = [ARCS, ARCS], [([2, 0], ["x", "z"]), ([2, 0], ["x", relation])]
    crf, prior = DependencyCRF(labelled=True), None
    if known:
        prior = DependencyCRF(labelled=True).fit(X[:1], y[:1])
    with pytest.raises(ValueError, match="y: sentence 1, word 1 .*; a label is needed"):
        crf.fit(X, y, prior=prior)


@pytest.mark.parametrize("word", [1.5, "1", None, np.nan])
def test_a_word_is_explained_by_its_number(word):
    X, y = samples()
    with pytest.raises(TypeError, match="word must be an integer, got"):
        fitted(X, y).explain(X[0], word)


ARCS = np.zeros((3, 2, D))


@pytest.mark.parametrize(
    ("y", "message"),
    [
        ([[1, 0]], "y: sentence 0, word 1 is its own head"),
        ([[2, 1]], "y: sentence 0, word 1: its heads form a cycle"),
        ([[0, 0]], "y: sentence 0 has 2 words below the root, the words 1 and 2"),
        ([[3, 0]], "y: sentence 0, word 1 has the head 3; heads are 0, the root, to 2"),
        ([[0, -1]], "y: sentence 0, word 2 has the head -1"),
        ([[0]], "y: sentence 0 has 1 heads, and X has the arcs of 2 words"),
        ([[0, 1], [0]], "X has 1 sentences, and y has 2"),
        ([["a", "b"]], "y: the heads of sentence 0 are an array of shape"),
    ],
)
def test_errors_of_y_name_sentence_and_word(y, message):
    with pytest.raises(ValueError, match=message):
        DependencyCRF().fit([ARCS], y)
    crf = DependencyCRF().fit([ARCS], [[2, 0]])
    with pytest.raises(ValueError, match=message):
        crf.score([ARCS], y)


def test_arcs_that_cross_are_named_and_counted():
    X = [np.zeros((4, 3, D))] * 3
    y = [[2, 0, 2], [2, 0, 1], [3, 0, 2]]
    message = (
        "y: sentence 1 is not projective: the arcs from 0 to 2 and from 1 to 3 cross, "
        "and 1 sentences after it have such arcs; "
        r'clean_trees\(X, y, crossing_arcs="projectivize"\) moves words'
    )
    with pytest.raises(ValueError, match=message):
        DependencyCRF(projective=True).fit(X, y)
    crf = DependencyCRF(projective=True).fit(X, y[:1] * 3)
    # Heads are compared with trees that cross too; these have the probability 0.
    right = np.equal(crf.predict(X).tolist(), y)
    assert crf.score(X, y) == pytest.approx(right.mean()) != 0.0
    assert np.isneginf(crf.log_likelihood(X, y)).tolist() == [False, True, True]
    with pytest.raises(ValueError, match="known: sentence 0"):
        crf.predict(X[:1], known=y[1:2])
    DependencyCRF().fit(X, y)


ALLOWED = np.array([[False, True], [False, False], [False, False]])


@pytest.mark.parametrize(
    ("x", "error", "message"),
    [
        (ARCS[:2], ValueError, "X: the arcs of sentence 0 are of shape"),
        (np.zeros((5, 2)), ValueError, "X: sentence 0 has 5 rows"),
        (3, TypeError, "X: sentence 0 is of type int"),
        ((ARCS, ALLOWED), ValueError, "X: sentence 0, word 1 has no head"),
        ((ARCS, ALLOWED[:2]), ValueError, "X: what is allowed in sentence 0"),
        ((ARCS, ALLOWED, 1), TypeError, "X: sentence 0 is a tuple of 3"),
        (np.full((3, 2, 1), np.nan), ValueError, "NaN"),
    ],
)
def test_errors_of_X_name_sentence_and_word(x, error, message):
    with pytest.raises(error, match=message):
        DependencyCRF().fit([x], [[0, 1]])


def test_errors_of_what_is_allowed():
    cycle = np.array([[True, False], [False, True], [True, False]])
    with pytest.raises(ValueError, match="word 2 has the head 0, an arc that X does"):
        DependencyCRF().fit([(ARCS, cycle)], [[2, 0]])
    two = np.array([[True, True], [False, False], [False, False]])
    crf = DependencyCRF().fit([ARCS], [[2, 0]])
    with pytest.raises(ValueError, match="X: sentence 1 has no tree of the arcs"):
        crf.predict([ARCS, (ARCS, two)])


def test_relations_need_pairs():
    with pytest.raises(TypeError, match="must be a pair"):
        DependencyCRF(labelled=True).fit([ARCS], [[2, 0, 1]])
    with pytest.raises(ValueError, match="Sentence 0 has 2 words in X, but 1 labels"):
        DependencyCRF(labelled=True).fit([ARCS], [([2, 0], ["a"])])


def test_a_failed_fit_leaves_the_model():
    crf = DependencyCRF().fit([ARCS], [[2, 0]])
    before = crf.coef_
    with pytest.raises(ValueError, match="cycle"):
        crf.fit([ARCS], [[2, 1]])
    assert crf.coef_ is before


def test_sentences_without_words_are_nothing():
    X, y = samples()
    crf = fitted([*X, np.zeros((1, 0, D))], [*y, []])
    assert crf.predict([np.zeros((1, 0, D)), X[0]]).tolist() == [[], [0]]
