"""Inference on dependency trees against a list of all trees."""

from itertools import product
from math import comb

import numpy as np
import pytest
import tree_twin
from numpy.testing import assert_allclose, assert_array_equal
from scipy.special import logsumexp
from scipy.stats import chisquare

from skcrf_sdca.data.packed import PackedSequences
from skcrf_sdca.data.trees import TreeRules
from skcrf_sdca.structures.dependency.scores import ArcScores
from skcrf_sdca.structures.dependency.structure import DependencyTrees

KINDS = {
    "one root": {"single_root": True, "projective": False},
    "roots": {"single_root": False, "projective": False},
    "one root, projective": {"single_root": True, "projective": True},
    "roots, projective": {"single_root": False, "projective": True},
}
kinds = pytest.mark.parametrize("rules", KINDS.values(), ids=KINDS)
# Nats between scores: the largest are beyond what weights of floats can hold.
spreads = pytest.mark.parametrize("spread", [1.0, 30.0, 300.0, 600.0])


def scores_of(*sentences, allowed=None, relations=1, **rules):
    """Return ArcScores of arrays (n + 1, n), or (n + 1, n, relations)."""
    rows = [s.reshape(-1, relations) for s in sentences]
    local = np.concatenate(rows)
    local = np.hstack([np.zeros((len(local), 1)), local])
    offsets = np.cumsum([0, *map(len, rows)])
    return ArcScores(local, np.zeros(0), offsets, allowed, TreeRules(**rules))


def random_scores(rng, n, spread, forbidden=0.0):
    """Return scores, some of them equal or forbidden."""
    if rng.random() < 0.5:
        scores = rng.uniform(-spread, spread, size=(n + 1, n))
    else:
        scores = rng.choice([-spread, 0.0, spread], size=(n + 1, n))
    scores[rng.random(scores.shape) < forbidden] = -np.inf
    return scores


def samples_of(spread, rules, n_samples=12):
    """Yield scores of sentences with a tree at least."""
    rng = np.random.default_rng(0)
    for n in range(1, 6):
        for k in range(n_samples):
            scores = random_scores(rng, n, spread, forbidden=0.2 * (k % 2))
            if tree_twin.log_partition(scores, **rules) > -np.inf:
                yield scores


@kinds
def test_squared_radii_bound_the_distances_of_trees_and_are_nearly_reached(rules):
    """Of two words: the arcs of root -> 1 -> 2 have opposite features to the others."""
    rng = np.random.default_rng(0)
    drawn = [rng.normal(size=((n + 1) * n, 3)) for n in (1, 2, 3, 4)]
    chain, others = [0, 3], [1, 4]
    opposite = np.zeros((6, 3))
    opposite[chain, 0], opposite[others, 0] = 20.0, -20.0
    sentences = [*drawn, opposite]
    data = PackedSequences.from_sequences(sentences)
    for n_relations in (1, 2):
        trees = DependencyTrees(data, n_relations, rules=TreeRules(**rules))
        largest = [largest_distance(x, n_relations, rules) for x in sentences]
        radii = trees.squared_radii()
        assert (radii >= largest).all()
        assert radii[-1] < 1.01 * largest[-1]


@kinds
def test_a_feature_has_a_weight_for_each_relation(rules):
    data = PackedSequences.from_sequences([np.ones((6, 3))])
    trees = DependencyTrees(data, 2, rules=TreeRules(**rules))
    assert trees.n_classes == trees.n_columns == 2
    assert trees.new_parameters().coef.shape == (3, 2)


def largest_distance(x, n_relations, rules):
    """Return the largest squared distance of two trees, with intercepts of arcs."""
    n = int(np.sqrt(len(x)))
    rows = np.column_stack([x, np.ones(len(x))])
    sums = []
    for heads in tree_twin.trees(n, **rules):
        arcs = rows[heads * n + np.arange(n)]
        for relations in product(range(n_relations), repeat=n):
            own = np.zeros((n_relations, rows.shape[1]))
            np.add.at(own, list(relations), arcs)
            sums.append(own.ravel())
    products = np.array(sums) @ np.transpose(sums)
    squares = np.diag(products)
    return (squares[:, np.newaxis] + squares - 2.0 * products).max()


def heads_of(labels):
    """Return the heads of words, given the labels of all arcs."""
    n = int(np.sqrt(len(labels)))
    table = labels.reshape(n + 1, n) > 0
    assert_array_equal(table.sum(axis=0), 1)
    return table.argmax(axis=0)


@kinds
@spreads
def test_sums_are_those_of_all_trees(rules, spread):
    for scores in samples_of(spread, rules):
        own = scores_of(scores, **rules)
        log_z = tree_twin.log_partition(scores, **rules)
        marginals, entropy = tree_twin.arc_marginals(scores, **rules)
        node, (found,) = own.node_marginals()
        assert_allclose(own.log_partition(), log_z, rtol=1e-12, atol=1e-12)
        assert_allclose(found, log_z, rtol=1e-12, atol=1e-12)
        arcs = node[:, 1].reshape(marginals.shape)
        assert_allclose(arcs, marginals, rtol=1e-9, atol=1e-100)
        assert_allclose(arcs.sum(axis=0), 1.0, rtol=1e-12)
        assert_allclose(node.sum(axis=1), 1.0, rtol=1e-12)
        used = marginals > 0.0
        mean = marginals[used] @ scores[used]
        assert_allclose(found - mean, entropy, rtol=1e-9, atol=1e-11 * (1.0 + spread))


@kinds
@pytest.mark.parametrize("nats", [10.0, 35.0, 300.0])
def test_two_words_that_prefer_each_other_take_no_digit(rules, nats):
    scores = np.zeros((6, 5))
    scores[[2, 1, 4, 3], [0, 1, 2, 3]] = nats
    own = scores_of(scores, **rules)
    marginals, _ = tree_twin.arc_marginals(scores, **rules)
    node, _ = own.node_marginals()
    assert_allclose(node[:, 1].reshape(6, 5), marginals, rtol=1e-12)


@kinds
def test_long_sentences_have_marginals_of_their_derivatives(rules):
    rng = np.random.default_rng(1)
    for n in (9, 16, 23):
        scores, step = rng.normal(scale=3.0, size=(n + 1, n)), 1e-5
        node, _ = scores_of(scores, **rules).node_marginals()
        direction = rng.normal(size=scores.shape)
        ends = [scores + step * direction, scores - step * direction]
        high, low = scores_of(*ends, **rules).log_partition()
        slope = (node[:, 1] * direction.ravel())[~own_arcs(n)].sum()
        assert_allclose((high - low) / (2.0 * step), slope, rtol=1e-7)
        assert_array_equal(node[own_arcs(n), 1], 0.0)


def own_arcs(n):
    """Return which arcs go from a word to itself."""
    return np.vstack([np.zeros((1, n), dtype=bool), np.eye(n, dtype=bool)]).ravel()


@kinds
def test_the_number_of_trees_is_known(rules):
    for n in (1, 2, 7, 40):
        own = scores_of(np.zeros((n + 1, n)), **rules)
        n_trees = n ** (n - 1) if rules["single_root"] else (n + 1) ** (n - 1)
        if rules["projective"]:
            n_trees = comb(3 * n, n) // (2 * n + 1)
        if rules["projective"] and rules["single_root"]:
            n_trees = comb(3 * n - 2, n - 1) // n
        assert_allclose(own.log_partition(), np.log(float(n_trees)), rtol=1e-13)


@kinds
@spreads
def test_the_best_tree_is_the_best_of_all(rules, spread):
    for scores in samples_of(spread, rules):
        heads, values = tree_twin.tree_scores(scores, **rules)
        labels, (value,) = scores_of(scores, **rules).viterbi()
        found = heads_of(labels)
        assert_allclose(value, values.max(), rtol=1e-12, atol=1e-12)
        at = (heads == found).all(axis=1)
        assert_allclose(values[at], [values.max()], rtol=1e-12, atol=1e-12)


@kinds
def test_the_best_tree_of_long_sentences_cannot_be_mended(rules):
    # No other head of one word alone gives a better tree.
    rng = np.random.default_rng(2)
    for n in (12, 30):
        own = scores_of(rng.normal(size=(n + 1, n)), **rules)
        labels, (value,) = own.viterbi()
        assert_allclose(own.path_scores(labels), [value])
        table = labels.reshape(n + 1, n)
        for m in range(n):
            for h in range(n + 1):
                other = table.copy()
                other[:, m] = 0
                other[h, m] = 1
                assert own.path_scores(other.ravel())[0] <= value + 1e-12


@kinds
def test_the_n_best_trees_are_in_order(rules):
    rng = np.random.default_rng(3)
    for n in range(1, 5):
        scores = random_scores(rng, n, 2.0) + 1e-3 * rng.normal(size=(n + 1, n))
        heads, values = tree_twin.tree_scores(scores, **rules)
        order = np.argsort(-values)
        (paths,), (found,) = scores_of(scores, **rules).n_best(500)
        assert_allclose(found, values[order], rtol=1e-12)
        assert_array_equal([heads_of(path) for path in paths], heads[order])


@kinds
def test_the_n_best_trees_are_all_of_the_allowed_ones(rules):
    # Some arcs are forbidden, and all trees are equally good.
    scores = np.zeros((5, 4))
    scores[[0, 2, 3], [1, 0, 3]] = -np.inf
    heads, values = tree_twin.tree_scores(scores, **rules)
    (paths,), (found,) = scores_of(scores, **rules).n_best(500)
    assert not found.any()
    right = {tuple(own) for own in heads[np.isfinite(values)].tolist()}
    assert sorted(tuple(heads_of(path).tolist()) for path in paths) == sorted(right)


@kinds
@pytest.mark.parametrize("nats", [1.0, 12.0])
def test_draws_have_the_probabilities_of_trees(rules, nats):
    # With 12 nats walks between two words are too long, and heads are drawn in turn.
    rng, n_draws = np.random.default_rng(4), 4000
    scores = rng.normal(size=(4, 3))
    scores[2, 0] += nats
    scores[1, 1] += nats
    heads, values = tree_twin.tree_scores(scores, **rules)
    p = np.exp(values - logsumexp(values))
    own = scores_of(scores, **rules)
    drawn = own.sample(rng.random((12, n_draws)))
    found = np.array([heads_of(labels) for labels in drawn.T])
    counts = (found[:, np.newaxis] == heads).all(axis=2).sum(axis=0)
    assert counts.sum() == n_draws
    often = n_draws * p > 5.0
    expected = np.append(n_draws * p[often], n_draws * p[~often].sum())
    observed = np.append(counts[often], counts[~often].sum())
    used = expected > 0.0
    assert chisquare(observed[used], expected[used]).pvalue > 1e-3


@kinds
def test_arcs_that_are_not_allowed_are_in_no_tree(rules):
    rng = np.random.default_rng(5)
    scores, allowed = rng.normal(size=(5, 4)), np.ones((5, 4), dtype=np.uint8)
    allowed[[0, 2, 3], [1, 0, 3]] = 0
    own = scores_of(scores, **rules, allowed=allowed.ravel())
    forbidden = np.where(allowed, scores, -np.inf)
    marginals, _ = tree_twin.arc_marginals(forbidden, **rules)
    node, _ = own.node_marginals()
    assert_allclose(node[:, 1].reshape(5, 4), marginals, rtol=1e-12)
    one = own.only(0)
    assert_allclose(one.log_partition(), own.log_partition())


@kinds
def test_without_a_tree_nothing_is_possible(rules):
    # Words 1 and 2 have each other as heads alone.
    scores = np.zeros((4, 3))
    scores[:, :2] = -np.inf
    scores[[2, 1], [0, 1]] = 0.0
    own = scores_of(scores, **rules)
    node, (log_z,) = own.node_marginals()
    assert log_z == own.log_partition()[0] == own.viterbi()[1][0] == -np.inf
    assert not node.any()


@pytest.mark.parametrize("rules", [KINDS["one root"], KINDS["one root, projective"]])
def test_one_root_alone_may_be_impossible(rules):
    scores = np.full((3, 2), -np.inf)
    scores[0] = 0.0
    assert scores_of(scores, **rules).log_partition()[0] == -np.inf
    assert scores_of(scores, **rules).viterbi()[1][0] == -np.inf
    assert_allclose(
        scores_of(scores, **rules | {"single_root": False}).log_partition(), 0.0
    )


@kinds
def test_labels_that_are_no_tree_have_no_score(rules):
    own = scores_of(np.zeros((3, 2)), **rules)
    two_roots = -np.inf if rules["single_root"] else 0.0
    for places, score in [
        ([0, 3], 0.0),  # root -> 1 -> 2
        ([2, 5], -np.inf),  # 1 from itself: no arc
        ([4, 3], -np.inf),  # a cycle
        ([0, 1], two_roots),
        ([0], -np.inf),  # a word without a head
        ([0, 4, 3], -np.inf),  # a word with two
    ]:
        labels = np.zeros(6, dtype=np.int32)
        labels[places] = 1
        assert own.path_scores(labels)[0] == score


@kinds
def test_relations_share_the_arc(rules):
    rng = np.random.default_rng(6)
    scores = rng.normal(scale=2.0, size=(5, 4, 3))
    own = scores_of(scores, **rules, relations=3)
    of_arcs = logsumexp(scores, axis=2)
    marginals, _ = tree_twin.arc_marginals(of_arcs, **rules)
    node, (log_z,) = own.node_marginals()
    expected = marginals[..., np.newaxis] * np.exp(scores - of_arcs[..., np.newaxis])
    assert_allclose(node[:, 1:].reshape(5, 4, 3), expected, rtol=1e-12)
    labels, (value,) = own.viterbi()
    heads, values = tree_twin.tree_scores(scores.max(axis=2), **rules)
    assert_allclose(value, values.max())
    best = labels.reshape(5, 4).max(axis=0)
    found = heads_of(labels)
    assert_array_equal(best, scores[found, np.arange(4)].argmax(axis=1) + 1)
    drawn = own.sample(rng.random((20, 4000)))
    assert_allclose((drawn == 2).mean(axis=1), node[:, 2], atol=0.04)
    (paths,), (found,) = own.n_best(40)
    assert (np.diff(found) <= 1e-12).all()
    assert len({path.tobytes() for path in paths}) == 40
    assert_allclose(own.with_scores(own.local).path_scores(paths[7]), found[7])


@kinds
def test_arcs_may_be_known(rules):
    # Label 0 says that an arc is not in the tree, and label 1 that it is.
    rng = np.random.default_rng(7)
    scores, known = rng.normal(size=(5, 4)), np.full((5, 4), -1)
    known[2, 0], known[0, 3] = 1, 0
    own = scores_of(scores, **rules).clamped(known.ravel())
    allowed = scores.copy()
    allowed[[0, 1, 3, 4], 0] = allowed[0, 3] = -np.inf
    marginals, _ = tree_twin.arc_marginals(allowed, **rules)
    node, (log_z,) = own.node_marginals()
    assert_allclose(node[:, 1].reshape(5, 4), marginals, rtol=1e-12)
    assert_allclose(log_z, tree_twin.log_partition(allowed, **rules), rtol=1e-12)


@kinds
def test_the_posterior_has_most_right_heads(rules):
    rng = np.random.default_rng(8)
    for _ in range(20):
        scores = rng.normal(scale=2.0, size=(5, 4))
        marginals, _ = tree_twin.arc_marginals(scores, **rules)
        labels, _ = scores_of(scores, **rules).posterior()
        heads, values = tree_twin.tree_scores(marginals, **rules)
        found = heads_of(labels)
        assert_allclose(marginals[found, np.arange(4)].sum(), values.max())


@kinds
def test_a_sentence_alone_has_what_it_has_among_others(rules):
    rng = np.random.default_rng(9)
    sentences = [random_scores(rng, n, 1.0) for n in (3, 0, 2, 4)]
    allowed = np.concatenate([np.isfinite(own).ravel() for own in sentences])
    scores = scores_of(*sentences, allowed=allowed.astype(np.uint8), **rules)
    alone = [scores.only(i).log_partition() for i in range(len(scores))]
    assert_array_equal(np.concatenate(alone), scores.log_partition())


def test_fewer_scores_than_the_sentences_need_are_refused():
    scores = scores_of(np.zeros((3, 2)), single_root=True, projective=False)
    scores.offsets = scores.offsets + 6
    with pytest.raises(ValueError, match="the items have 12 scores, but there are 6"):
        scores.log_partition()
