"""Scores of arcs and siblings against all projective trees of up to 5 words."""

import numpy as np
import pytest
import tree_twin
from numpy.testing import assert_allclose, assert_array_equal
from scipy.special import logsumexp
from scipy.stats import chisquare

from skcrf_sdca.data.dependencies import TreeKind, heads_of
from skcrf_sdca.structures.dependency.scores import ArcScores, SiblingScores

SIZES = [3, 1, 5, 0, 2, 4]


def scores_of(arrays, *, single_root=True):
    """Return SiblingScores of pairs of arrays, of arcs and of siblings."""
    flat = np.concatenate([arcs.ravel() for arcs, _ in arrays])
    sizes = np.array([arcs.shape[1] for arcs, _ in arrays])
    return SiblingScores(
        np.stack([np.zeros_like(flat), flat], axis=1),
        np.append(0, np.cumsum(sizes * (sizes + 1))),
        TreeKind(single_root, projective=True),
        np.concatenate([siblings.ravel() for _, siblings in arrays]),
        np.append(0, np.cumsum(sizes**3)),
    )


def made(seed, *, single_root=True):
    """Return SiblingScores of sentences, and the two arrays of each."""
    rng = np.random.default_rng(seed)
    arcs = [rng.normal(size=(n + 1, n)) for n in SIZES]
    siblings = [rng.normal(size=(n, n, n)) * 2 for n in SIZES]
    arrays = list(zip(arcs, siblings, strict=True))
    return scores_of(arrays, single_root=single_root), arrays


def spread_arrays(spread, *, forbidden=0.0):
    """Return pairs of arrays of one to five words, of scores that differ much."""
    rng = np.random.default_rng(0)
    arrays = []
    for n in [1, 2, 3, 3, 4, 4, 4, 5, 5, 5]:
        arcs = rng.uniform(-spread, spread, size=(n + 1, n))
        arcs[1:][rng.random((n, n)) < forbidden] = -np.inf
        siblings = rng.choice([-spread, 0.0, spread], size=(n, n, n))
        arrays.append((arcs, siblings + rng.normal(size=siblings.shape)))
    return arrays


def split(values, bounds):
    return np.split(values, bounds[1:-1])


@pytest.mark.parametrize("single_root", [True, False])
@pytest.mark.parametrize("seed", range(4))
def test_the_best_trees_are_those_of_enumeration(seed, single_root):
    scores, arrays = made(seed, single_root=single_root)
    labels, values = scores.viterbi()
    assert_allclose(scores.path_scores(labels), values, atol=1e-12)
    for i, (arcs, siblings) in enumerate(arrays):
        if arcs.shape[1] == 0:
            assert values[i] == 0.0
            continue
        heads, expected = tree_twin.sibling_scores(
            arcs, siblings, single_root=single_root
        )
        own = labels[scores.offsets[i] : scores.offsets[i + 1]]
        assert heads_of(own).tolist() == heads[expected.argmax()].tolist()
        assert values[i] == pytest.approx(expected.max(), abs=1e-12)


def test_the_best_trees_of_some_sentences_are_their_own():
    scores, _ = made(5)
    labels, values = scores.viterbi()
    for i in range(len(scores)):
        own, (value,) = scores.only(i).viterbi()
        assert own.tolist() == labels[scores.offsets[i] :][: len(own)].tolist()
        assert value == values[i]
    found, _ = scores.with_threads(2).viterbi()
    assert found.tolist() == labels.tolist()


@pytest.mark.parametrize("single_root", [True, False])
def test_n_best_trees_are_in_their_order(single_root):
    scores, arrays = made(7, single_root=single_root)
    trees, values = scores.n_best(9)
    for i, (arcs, siblings) in enumerate(arrays):
        if arcs.shape[1] == 0:
            continue
        heads, expected = tree_twin.sibling_scores(
            arcs, siblings, single_root=single_root
        )
        order = np.argsort(-expected)[:9]
        assert_allclose(values[i], expected[order], atol=1e-12)
        found = [heads_of(tree).tolist() for tree in trees[i]]
        assert found == heads[order].tolist()


def test_forbidden_arcs_are_in_no_tree():
    scores, arrays = made(9)
    arcs, siblings = arrays[2]
    arcs[[0, 3, 5], [1, 1, 2]] = -np.inf
    local = scores.local.copy()
    first, last = scores.offsets[[2, 3]]
    local[first:last, 1] = arcs.ravel()
    labels, values = scores.with_scores(local).viterbi()
    heads, expected = tree_twin.sibling_scores(arcs, siblings)
    assert heads_of(labels[first:last]).tolist() == heads[expected.argmax()].tolist()
    arcs[:, 0] = -np.inf
    local[first:last, 1] = arcs.ravel()
    assert scores.with_scores(local).viterbi()[1][2] == -np.inf


@pytest.mark.parametrize("single_root", [True, False])
@pytest.mark.parametrize("forbidden", [0.0, 0.3])
@pytest.mark.parametrize("spread", [1.0, 30.0, 300.0, 600.0])
def test_sums_are_those_of_all_trees(spread, forbidden, single_root):
    arrays = spread_arrays(spread, forbidden=forbidden)
    scores = scores_of(arrays, single_root=single_root)
    node, log_z = scores.node_marginals()
    assert_allclose(scores.log_partition(), log_z, rtol=1e-12)
    arcs_of = split(node[:, 1], scores.offsets)
    siblings_of = split(scores.sibling_marginals(), scores.bounds)
    for i, own in enumerate(arrays):
        expected = tree_twin.marginals_with_siblings(*own, single_root=single_root)
        assert_allclose(log_z[i], expected[0], rtol=1e-12)
        assert_allclose(arcs_of[i], expected[1].ravel(), rtol=1e-9, atol=1e-100)
        assert_allclose(siblings_of[i], expected[2].ravel(), rtol=1e-9, atol=1e-100)


def test_long_sentences_have_marginals_of_their_derivatives():
    rng, step = np.random.default_rng(1), 1e-5
    for n in (9, 16, 23):
        own = rng.normal(size=(n + 1, n)), rng.normal(size=(n, n, n))
        change = rng.normal(size=(n + 1, n)), rng.normal(size=(n, n, n))
        ends = [
            [a + sign * step * b for a, b in zip(own, change, strict=True)]
            for sign in (1.0, -1.0)
        ]
        high, low = scores_of(ends).log_partition()
        scores = scores_of([own])
        node, _ = scores.node_marginals()
        slope = node[:, 1] @ change[0].ravel()
        slope += scores.sibling_marginals() @ change[1].ravel()
        assert_allclose((high - low) / (2.0 * step), slope, rtol=1e-7)


def test_siblings_without_scores_change_no_sums():
    rng = np.random.default_rng(2)
    arrays = [(rng.normal(size=(n + 1, n)), np.zeros((n, n, n))) for n in (7, 30)]
    scores = scores_of(arrays)
    arcs = ArcScores(scores.local, np.zeros(0), scores.offsets, kind=scores.kind)
    for found, expected in zip(
        scores.node_marginals(), arcs.node_marginals(), strict=True
    ):
        assert_allclose(found, expected, rtol=1e-12)
    siblings = split(scores.sibling_marginals(), scores.bounds)
    for n, own, of_arcs in zip(
        (7, 30),
        siblings,
        split(scores.node_marginals()[0], scores.offsets),
        strict=True,
    ):
        heads = of_arcs[n:, 1].reshape(n, n)
        assert_allclose(own.reshape(n, n, n).sum(axis=2), heads, rtol=1e-12)


@pytest.mark.parametrize("nats", [1.0, 600.0])
@pytest.mark.parametrize("single_root", [True, False])
def test_draws_have_the_probabilities_of_trees(single_root, nats):
    # Two words that prefer each other by 600 nats: sums are of logarithms.
    rng, n_draws = np.random.default_rng(4), 4000
    arcs, siblings = rng.normal(size=(5, 4)), rng.normal(size=(4, 4, 4))
    arcs[2, 0] += nats
    arcs[1, 1] += nats
    heads, values = tree_twin.sibling_scores(arcs, siblings, single_root=single_root)
    p = np.exp(values - logsumexp(values))
    scores = scores_of([(arcs, siblings)], single_root=single_root)
    drawn = scores.sample(rng.random((20, n_draws)))
    found = np.array([heads_of(labels) for labels in drawn.T])
    counts = (found[:, np.newaxis] == heads).all(axis=2).sum(axis=0)
    assert counts.sum() == n_draws
    often = n_draws * p > 5.0
    assert often.sum() > 2
    expected = np.append(n_draws * p[often], n_draws * p[~often].sum())
    observed = np.append(counts[often], counts[~often].sum())
    used = expected > 1e-9
    assert not observed[~used].any()
    assert chisquare(observed[used], expected[used]).pvalue > 1e-3


@pytest.mark.parametrize("seed", range(6))
def test_the_posterior_has_most_right_heads(seed):
    scores, arrays = made(seed)
    labels, log_z = scores.posterior()
    assert_allclose(log_z, scores.log_partition())
    for own, arcs in zip(split(labels, scores.offsets), arrays, strict=True):
        if len(own):
            _, marginals, _ = tree_twin.marginals_with_siblings(*arcs)
            heads, values = tree_twin.tree_scores(marginals, projective=True)
            assert heads_of(own).tolist() == heads[values.argmax()].tolist()


def test_entropies_and_likelihoods_are_those_of_enumeration():
    scores, arrays = made(3)
    labels, _ = scores.with_scores(-scores.local).viterbi()
    found, entropies = scores.log_likelihood(labels), scores.entropies()
    for i, own in enumerate(split(labels, scores.offsets)):
        if not len(own):
            assert entropies[i] == found[i] == 0.0
            continue
        heads, values = tree_twin.sibling_scores(*arrays[i])
        log_p = values - logsumexp(values)
        assert_allclose(entropies[i], -np.exp(log_p) @ log_p, atol=1e-12)
        at = (heads == heads_of(own)).all(axis=1)
        assert_allclose(found[i], log_p[at].item(), rtol=1e-12)


def test_known_arcs_change_the_other_marginals():
    scores, arrays = made(6)
    known, first = np.full(len(scores.local), -1), scores.offsets[2]
    # Word 2 is below word 4, and word 1 not below the root.
    known[first + 4 * 5 + 1], known[first] = 1, 0
    own = scores.clamped(known)
    arcs, siblings = arrays[2]
    arcs[[0, 1, 2, 3, 5], 1] = arcs[0, 0] = -np.inf
    log_z, marginals, _ = tree_twin.marginals_with_siblings(arcs, siblings)
    assert_allclose(own.log_partition()[2], log_z, rtol=1e-12)
    node, _ = own.node_marginals()
    found = node[first : scores.offsets[3], 1]
    assert_allclose(found, marginals.ravel(), rtol=1e-9, atol=1e-100)


def test_without_a_tree_nothing_is_possible():
    _, ((arcs, siblings), *_) = made(0)
    arcs[:, 0] = -np.inf
    scores = scores_of([(arcs, siblings)])
    node, (log_z,) = scores.node_marginals()
    assert log_z == scores.log_partition()[0] == -np.inf
    assert not node.any()
    assert not scores.sibling_marginals().any()


def test_a_sentence_alone_has_what_it_has_among_others():
    scores, _ = made(7)
    alone = [scores.only(i).log_partition() for i in range(len(scores))]
    assert_array_equal(np.concatenate(alone), scores.log_partition())


def test_fewer_scores_of_siblings_than_the_sentences_need_are_refused():
    scores, _ = made(7)
    scores.bounds = scores.bounds + 1
    with pytest.raises(ValueError, match="have 226 scores, but there are 225"):
        scores.log_partition()
