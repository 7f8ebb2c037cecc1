"""Scores of arcs and siblings against all projective trees of up to 5 words."""

import numpy as np
import pytest
import tree_twin
from numpy.testing import assert_allclose

from skcrf_sdca.data.dependencies import TreeKind, heads_of
from skcrf_sdca.structures.dependency.scores import SiblingScores

SIZES = [3, 1, 5, 0, 2, 4]


def made(seed, *, single_root=True):
    """Return SiblingScores of sentences, and the two arrays of each."""
    rng = np.random.default_rng(seed)
    arcs = [rng.normal(size=(n + 1, n)) for n in SIZES]
    siblings = [rng.normal(size=(n, n, n)) * 2 for n in SIZES]
    flat = np.concatenate([own.ravel() for own in arcs])
    scores = SiblingScores(
        np.stack([np.zeros_like(flat), flat], axis=1),
        np.append(0, np.cumsum([n * (n + 1) for n in SIZES])),
        TreeKind(single_root, projective=True),
        np.concatenate([own.ravel() for own in siblings]),
        np.append(0, np.cumsum(np.power(SIZES, 3))),
    )
    return scores, list(zip(arcs, siblings, strict=True))


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


def test_there_are_no_sums_over_trees():
    scores, _ = made(0)
    for call in (scores.log_partition, scores.node_marginals):
        with pytest.raises(NotImplementedError, match="SiblingTreeInference has no"):
            call()
