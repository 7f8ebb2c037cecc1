"""Scores of arcs and siblings against all projective trees of up to 5 words."""

from itertools import combinations, product

import numpy as np
import pytest
import tree_twin
from numpy.testing import assert_allclose, assert_array_equal
from scipy.special import entr, logsumexp
from scipy.stats import chisquare

from skcrf_sdca.data.trees import TreeRules, heads_of
from skcrf_sdca.structures.dependency.scores import ArcScores

SIZES = [3, 1, 5, 0, 2, 4]


def scores_of(arrays, *, single_root=True):
    """Return ArcScores of pairs of arrays, of arcs and of siblings."""
    parts = [positions_of(*own) for own in arrays]
    flat = np.concatenate(parts)
    return ArcScores(
        np.stack([np.zeros_like(flat), flat], axis=1),
        np.zeros(0),
        np.append(0, np.cumsum([len(part) for part in parts])),
        rules=TreeRules(single_root, projective=True, siblings=True),
    )


def positions_of(arcs, siblings):
    """Return the numbers of arcs and of siblings in the order of positions."""
    return np.append(arcs.ravel(), siblings[tree_twin.are_siblings(arcs.shape[1])])


def heads(labels):
    """Return the heads of a labelling, as a list."""
    return heads_of(labels, siblings=True).tolist()


def of_arcs(values, n):
    """Return what belongs to the arcs of n words."""
    return values[: n * (n + 1)]


def made(seed, *, single_root=True):
    """Return ArcScores of sentences, and the two arrays of each."""
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
        trees, expected = tree_twin.sibling_scores(
            arcs, siblings, single_root=single_root
        )
        own = labels[scores.offsets[i] : scores.offsets[i + 1]]
        assert heads(own) == trees[expected.argmax()].tolist()
        tree = tree_twin.labels_with_siblings(heads(own))
        assert own.tolist() == tree.tolist()
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
        found, expected = tree_twin.sibling_scores(
            arcs, siblings, single_root=single_root
        )
        order = np.argsort(-expected)[:9]
        assert_allclose(values[i], expected[order], atol=1e-12)
        right = [tree_twin.labels_with_siblings(own) for own in found[order].tolist()]
        assert_array_equal(trees[i], right)


def test_forbidden_arcs_are_in_no_tree():
    scores, arrays = made(9)
    arcs, siblings = arrays[2]
    arcs[[0, 3, 5], [1, 1, 2]] = -np.inf
    local = scores.local.copy()
    first, last = scores.offsets[[2, 3]]
    local[first : first + arcs.size, 1] = arcs.ravel()
    labels, values = scores.with_scores(local).viterbi()
    trees, expected = tree_twin.sibling_scores(arcs, siblings)
    assert heads(labels[first:last]) == trees[expected.argmax()].tolist()
    arcs[:, 0] = -np.inf
    local[first : first + arcs.size, 1] = arcs.ravel()
    assert scores.with_scores(local).viterbi()[1][2] == -np.inf


@pytest.mark.parametrize("single_root", [True, False])
@pytest.mark.parametrize("forbidden", [0.0, 0.3])
@pytest.mark.parametrize("spread", [1.0, 30.0, 300.0, 600.0])
def test_sums_are_those_of_all_trees(spread, forbidden, single_root):
    arrays = spread_arrays(spread, forbidden=forbidden)
    scores = scores_of(arrays, single_root=single_root)
    node, log_z = scores.node_marginals()
    assert_allclose(scores.log_partition(), log_z, rtol=1e-12)
    for i, own in enumerate(arrays):
        expected, *marginals = tree_twin.marginals_with_siblings(
            *own, single_root=single_root
        )
        assert_allclose(log_z[i], expected, rtol=1e-12)
        found = split(node[:, 1], scores.offsets)[i]
        right = positions_of(*marginals)
        assert_allclose(found, right, rtol=1e-9, atol=1e-100)
    assert_allclose(node.sum(axis=1), 1.0, rtol=1e-12)


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
        slope = node[:, 1] @ positions_of(*change)
        assert_allclose((high - low) / (2.0 * step), slope, rtol=1e-7)


def test_siblings_without_scores_change_no_sums():
    rng = np.random.default_rng(2)
    for n in (7, 30):
        scores = scores_of([(rng.normal(size=(n + 1, n)), np.zeros((n, n, n)))])
        own, offsets = of_arcs(scores.local, n), np.array([0, n * (n + 1)])
        rules = TreeRules(projective=True)
        arcs = ArcScores(own, np.zeros(0), offsets, rules=rules)
        assert_allclose(scores.log_partition(), arcs.log_partition(), rtol=1e-12)
        node, _ = scores.node_marginals()
        right, _ = arcs.node_marginals()
        assert_allclose(of_arcs(node, n), right, rtol=1e-12)
        # A word whose head is a word has one sibling, or none.
        siblings = np.zeros((n, n, n))
        siblings[tree_twin.are_siblings(n)] = node[n * (n + 1) :, 1]
        heads = right[n:, 1].reshape(n, n)
        assert_allclose(siblings.sum(axis=2), heads, rtol=1e-12)


@pytest.mark.parametrize("nats", [1.0, 600.0])
@pytest.mark.parametrize("single_root", [True, False])
def test_draws_have_the_probabilities_of_trees(single_root, nats):
    # Two words that prefer each other by 600 nats: sums are of logarithms.
    rng, n_draws = np.random.default_rng(4), 4000
    arcs, siblings = rng.normal(size=(5, 4)), rng.normal(size=(4, 4, 4))
    arcs[2, 0] += nats
    arcs[1, 1] += nats
    trees, values = tree_twin.sibling_scores(arcs, siblings, single_root=single_root)
    p = np.exp(values - logsumexp(values))
    scores = scores_of([(arcs, siblings)], single_root=single_root)
    drawn = scores.sample(rng.random((40, n_draws)))
    right = np.array([tree_twin.labels_with_siblings(own) for own in trees.tolist()])
    counts = (drawn.T[:, np.newaxis] == right).all(axis=2).sum(axis=0)
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
            trees, values = tree_twin.tree_scores(marginals, projective=True)
            assert heads(own) == trees[values.argmax()].tolist()


def test_entropies_and_likelihoods_are_those_of_enumeration():
    scores, arrays = made(3)
    labels, _ = scores.with_scores(-scores.local).viterbi()
    found, entropies = scores.log_likelihood(labels), scores.entropies()
    for i, own in enumerate(split(labels, scores.offsets)):
        if not len(own):
            assert entropies[i] == found[i] == 0.0
            continue
        trees, values = tree_twin.sibling_scores(*arrays[i])
        log_p = values - logsumexp(values)
        assert_allclose(entropies[i], -np.exp(log_p) @ log_p, atol=1e-12)
        at = (trees == heads(own)).all(axis=1)
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
    found = of_arcs(node[first:, 1], 5)
    assert_allclose(found, marginals.ravel(), rtol=1e-9, atol=1e-100)


def test_without_a_tree_nothing_is_possible():
    _, ((arcs, siblings), *_) = made(0)
    arcs[:, 0] = -np.inf
    scores = scores_of([(arcs, siblings)])
    node, (log_z,) = scores.node_marginals()
    assert log_z == scores.log_partition()[0] == -np.inf
    assert not node.any()


def test_a_sentence_alone_has_what_it_has_among_others():
    scores, _ = made(7)
    alone = [scores.only(i).log_partition() for i in range(len(scores))]
    assert_array_equal(np.concatenate(alone), scores.log_partition())


def test_known_siblings_are_conditions_on_trees():
    scores, arrays = made(6)
    trees = tree_twin.trees(5, projective=True).tolist()
    _, values = tree_twin.sibling_scores(*arrays[2])
    labels = np.array([tree_twin.labels_with_siblings(own) for own in trees])
    first, n_impossible = scores.offsets[2], 0
    # Among two siblings that must be in the tree are some of one word.
    for places, label in product(combinations(range(30, 70, 3), 2), (0, 1)):
        known = np.full(len(scores.local), -1)
        known[first + np.array(places)] = label
        of_label = values[(labels[:, places] == label).all(axis=1)]
        expected = logsumexp(of_label) if len(of_label) else -np.inf
        found = scores.clamped(known).log_partition()[2]
        assert_allclose(found, expected, rtol=1e-12)
        n_impossible += expected == -np.inf
    assert 0 < n_impossible < 91
    node, _ = scores.node_marginals()
    assert_allclose(np.exp(scores.log_node_marginals()), node, atol=1e-12)


def test_labels_of_siblings_that_are_not_those_of_the_tree_have_no_score():
    scores, _ = made(3)
    labels, values = scores.viterbi()
    first, last = scores.offsets[[2, 3]]
    for place in range(first + 30, last):
        others = labels.copy()
        others[place] = 1 - others[place]
        found = scores.path_scores(others)
        assert found[2] == -np.inf
        assert_array_equal(
            np.delete(found, 2), np.delete(scores.path_scores(labels), 2)
        )


def test_entropies_of_heads_are_those_of_arcs():
    scores, arrays = made(4)
    found = np.split(scores.label_entropies(), scores.label_bounds[1:-1])
    for own, arcs in zip(found, arrays, strict=True):
        if not len(own):
            assert arcs[0].size == 0
            continue
        _, marginals, _ = tree_twin.marginals_with_siblings(*arcs)
        assert_allclose(own, entr(marginals).sum(axis=0), atol=1e-12)
