"""What all scores inherit agrees with what a structure does faster."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from skcrf_sdca.structures.chain.chains import Chains
from skcrf_sdca.structures.scores import Scores

OFFSETS = np.array([0, 4, 4, 5, 8])


def chains(*, scale=1.0, forbids=False, ties=False):
    rng = np.random.default_rng(0)
    local, transition = rng.normal(size=(8, 3)), rng.normal(size=(3, 3))
    if ties:
        local, transition = local.round(), transition.round()
    if forbids:
        local[1, 2] = transition[0, 1] = transition[2, 2] = -np.inf
    return Chains(scale * local, scale * transition, OFFSETS)


@pytest.mark.parametrize("ties", [False, True])
@pytest.mark.parametrize("forbids", [False, True])
def test_the_n_best_of_a_partition_are_those_of_lists(forbids, ties, monkeypatch):
    scores = chains(forbids=forbids, ties=ties)
    expected, values = scores.n_best(30)
    monkeypatch.setattr(Chains, "_bytes_of_place", None)
    paths, found = scores.n_best(30)
    for i in range(len(scores)):
        assert_array_equal(paths[i], expected[i])
        assert_allclose(found[i], values[i], rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("forbids", [False, True])
def test_pairs_of_neighbours_follow_from_restricted_scores(forbids):
    scores = chains(forbids=forbids)
    pairs, bounds = Scores.pair_marginals(scores)
    expected, expected_bounds = scores.pair_marginals()
    assert_array_equal(bounds, expected_bounds)
    assert_allclose(pairs, expected, rtol=1e-12, atol=1e-15)


@pytest.mark.parametrize("scale", [1.0, 1e3])
@pytest.mark.parametrize("forbids", [False, True])
def test_logarithms_of_marginals_do_not_underflow(forbids, scale):
    scores = chains(forbids=forbids, scale=scale)
    expected = scores.log_node_marginals()
    assert (np.isfinite(expected) & (expected < -800.0)).any() == (scale > 1.0)
    found = Scores.log_node_marginals(scores)
    assert_array_equal(found == -np.inf, expected == -np.inf)
    possible = expected > -np.inf
    assert_allclose(found[possible], expected[possible], rtol=1e-11, atol=1e-11)


def test_probabilities_of_spans_follow_from_clamped_scores():
    scores = chains(forbids=True)
    spans = np.array([[0, 0, 2], [0, 1, 4], [2, 0, 1], [3, 1, 3]])
    labels = np.array([0, 0, 1, 2, 0, -1, 1, 0], dtype=np.int32)
    expected = scores.span_probabilities(spans, labels)
    assert_array_equal(expected == 0.0, [False, False, True, False])
    assert_allclose(Scores.span_probabilities(scores, spans, labels), expected)


def test_the_scores_of_one_item_are_those_among_all():
    scores = chains(forbids=True)
    for i in range(len(scores)):
        assert_array_equal(scores.only(i).log_partition(), scores.log_partition()[[i]])
