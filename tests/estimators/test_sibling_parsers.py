"""OnlineDependencyCRF with templates of siblings against a twin in NumPy."""

import numpy as np
import pytest
import tree_twin
from numpy.testing import assert_allclose, assert_array_equal
from scipy.special import logsumexp
from sibling_twin import FEATURES, N_FEATURES, made, rows_of, scored

from skcrf_sdca import OnlineDependencyCRF
from skcrf_sdca._utils import memory


def new_parser(**options):
    options = {"features": FEATURES, "projective": True, "random_state": 0, **options}
    return OnlineDependencyCRF(**options)


def with_weights(crf, X, y, start):
    """Yield the sentences that have words; the parser has the same weights at each."""
    for words, heads in zip(X, y, strict=True):
        if words:
            crf.fit([words], [heads])
            crf.coef_ = start[np.newaxis].copy()
            yield words, heads


@pytest.mark.parametrize("single_root", [True, False])
@pytest.mark.parametrize("loss", ["hinge", "perceptron"])
def test_steps_are_those_of_the_twin(loss, single_root):
    X, y = made(1, single_root=single_root)
    # Weights that leave no ties between trees.
    start = np.random.default_rng(5).normal(size=N_FEATURES)
    crf = new_parser(C=0.05, loss=loss, average=False, single_root=single_root)
    for words, heads in with_weights(crf, X, y, start):
        trees, rows, values = scored(words, start, single_root=single_root)
        assert crf.predict([words]).tolist() == [trees[values.argmax()]]
        cost = (np.array(trees) != heads).sum(axis=1) if loss == "hinge" else 0.0
        best, right = (values + cost).argmax(), trees.index(heads)
        value = (values + cost)[best] - values[right]
        g = rows[best] - rows[right]
        step = min(0.05, value / (g @ g)) if g.any() and loss == "hinge" else 0.05
        crf.partial_fit([words], [heads])
        assert_allclose(crf.coef_[0], start - step * g, atol=2e-6)
        assert crf.loss_ == pytest.approx(value, abs=1e-5)


@pytest.mark.parametrize("single_root", [True, False])
@pytest.mark.parametrize(
    ("loss", "temperature"), [("log_loss", 1.0), ("softmax_margin", 0.6)]
)
def test_steps_of_smooth_losses_are_those_of_the_twin(loss, temperature, single_root):
    X, y = made(1, single_root=single_root)
    start = np.random.default_rng(5).normal(size=N_FEATURES)
    crf = new_parser(loss=loss, temperature=temperature, margin=1.7)
    crf.set_params(C=0.05, average=False, single_root=single_root)
    for words, heads in with_weights(crf, X, y, start):
        trees, rows, values = scored(words, start, single_root=single_root)
        cost = 1.7 * (np.array(trees) != heads).sum(axis=1)
        scaled = (values + cost * (loss == "softmax_margin")) / temperature
        right = trees.index(heads)
        value = temperature * logsumexp(scaled) - values[right]
        g = np.exp(scaled - logsumexp(scaled)) @ rows - rows[right]
        step = min(0.05, value / (g @ g)) if g.any() else 0.0
        crf.partial_fit([words], [heads])
        assert_allclose(crf.coef_[0], start - step * g, atol=5e-6)
        assert crf.loss_ == pytest.approx(value, abs=1e-5)


def test_probabilities_are_those_of_enumeration():
    X, y = made(4)
    w = np.random.default_rng(8).normal(size=N_FEATURES)
    crf = new_parser(loss="softmax_margin", temperature=0.7).fit(X, y)
    crf.coef_ = w[np.newaxis]
    proba, likelihood = crf.predict_proba(X), crf.log_likelihood(X, y)
    best, log_z = crf.predict_n_best(X, 2), crf.log_partition(X)
    posterior = crf.predict(X, decoding="posterior")
    for i, (words, heads) in enumerate(zip(X, y, strict=True)):
        if not words:
            continue
        trees, _, values = scored(words, w)
        expected_log_z = logsumexp(values / 0.7)
        log_p = values / 0.7 - expected_log_z
        assert log_z[i] == pytest.approx(expected_log_z, abs=1e-5)
        assert likelihood[i] == pytest.approx(log_p[trees.index(heads)], abs=1e-5)
        order = np.argsort(-log_p)[:2]
        assert [tree for tree, _ in best[i]] == [trees[k] for k in order]
        assert_allclose([p for _, p in best[i]], np.exp(log_p[order]), atol=1e-5)
        words_of = np.arange(len(words))
        expected = np.zeros(proba[i].shape)
        np.add.at(expected, (np.array(trees), words_of), np.exp(log_p)[:, np.newaxis])
        assert_allclose(proba[i], expected, atol=1e-5)
        right = [expected[tree, words_of].sum() for tree in trees]
        assert posterior[i] == trees[int(np.argmax(right))]
    assert crf.predict(X).tolist() == [own[0][0] if own else [] for own in best]


@pytest.mark.usefixtures("many_ranges")
def test_answers_with_probabilities_do_not_depend_on_threads():
    X, y = made(6)
    crf = new_parser(loss="log_loss", C=0.5).fit(X, y)
    X, y = X * 3, y * 3
    calls = {
        "predict_log_proba": {},
        "sample": {"n_draws": 2, "random_state": 0},
        "uncertainty": {"measure": "token_entropy"},
        "log_partition": {},
        "predict": {"decoding": "posterior"},
    }
    one = [getattr(crf, name)(X, **options) for name, options in calls.items()]
    crf.set_params(n_jobs=2)
    for (name, options), own in zip(calls.items(), one, strict=True):
        for found, expected in zip(getattr(crf, name)(X, **options), own, strict=True):
            assert_array_equal(found, expected)
    entropies = crf.uncertainty(X[:7], measure="entropy")
    draws = [tree for (tree,) in crf.sample(X[3:4], 4000, random_state=0)]
    _, counts = np.unique(draws, axis=0, return_counts=True)
    p = counts / 4000
    assert -(p @ np.log(p)) == pytest.approx(entropies[3], abs=0.06)


def test_best_trees_are_those_of_enumeration():
    X, _ = made(2)
    w = np.random.default_rng(7).normal(size=N_FEATURES)
    crf = new_parser().fit(*made(2))
    crf.coef_ = w[np.newaxis]
    found = crf.predict_n_best(X, 3)
    for words, own in zip(X, found, strict=True):
        if not words:
            continue
        trees, _, values = scored(words, w)
        order = np.argsort(-values)[:3]
        assert [tree for tree, _ in own] == [trees[k] for k in order]
        assert_allclose([value for _, value in own], values[order], atol=1e-5)
    for words, heads in zip(X, crf.predict(X), strict=True):
        known = [*heads[:-1], None]
        if words:
            assert crf.predict([words], known=[known]).tolist() == [heads]


def test_chunks_are_an_epoch_and_threads_change_nothing():
    X, y = made()
    whole = new_parser(max_iter=1, shuffle=False).fit(X, y)
    crf = new_parser()
    for i in range(0, len(X), 3):
        crf.partial_fit(X[i : i + 3], y[i : i + 3])
    assert_array_equal(crf.coef_, whole.coef_)
    one = crf.predict(X * 300).tolist()
    assert crf.set_params(n_jobs=2).predict(X * 300).tolist() == one


def test_trees_with_crossing_arcs_have_no_siblings():
    X, y = made()
    crf = new_parser().fit(X, y)
    before = crf.coef_.copy()
    crf.set_params(projective=False)
    for call in (
        lambda: crf.fit(X, y),
        lambda: crf.partial_fit(X, y),
        lambda: crf.predict(X),
    ):
        with pytest.raises(ValueError, match="with s, of siblings, need projective"):
            call()
    assert_array_equal(crf.coef_, before)


def test_scores_of_siblings_that_do_not_fit_are_an_error(monkeypatch):
    X, y = [[("a", "N")] * 30], [list(range(30))]
    parser = new_parser().fit(X, y)
    monkeypatch.setattr(memory, "SMALL", 0)
    monkeypatch.setattr(memory, "available_memory", lambda: 16 * 30**3 // 3 - 1)
    for run in (lambda: parser.predict(X), lambda: new_parser().fit(X, y)):
        with pytest.raises(
            MemoryError, match="has 30 words, and the scores of its sib"
        ):
            run()


def test_best_trees_are_those_of_the_scores():
    X, y = made(7)
    crf = new_parser().fit(X, y)
    free = [[None] * len(words) for words in X]
    assert crf.predict(X).tolist() == crf.predict(X, known=free).tolist()


def test_a_step_of_the_n_best_trees_is_that_of_numpy():
    X, y = made(8)
    crf = new_parser(C=0.5, n_best=3, average=False).fit(X, y)
    w = 0.1 * np.random.default_rng(9).normal(size=N_FEATURES)
    crf.coef_ = w[np.newaxis].astype(np.float32).astype(float)
    w, words, heads = crf.coef_[0], X[3], np.array(y[3])
    crf.partial_fit([words], [y[3]])
    of_tree = rows_of(words)
    trees = tree_twin.trees(len(words), projective=True)
    features = np.array([of_tree(own.tolist()) for own in trees])
    features -= of_tree(heads.tolist())
    losses = features @ w + (trees != heads).sum(axis=1)
    best = np.argsort(-losses)[:3]
    change = tree_twin.best_step(losses[best], features[best], 0.5)
    assert np.abs(change).max() > 0.01
    assert_allclose(crf.coef_[0], w - change, atol=1e-5)
