"""Marginals moved to the labels: the start of the dual solvers."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from skcrf_sdca import oracle


def random_case(seed, n_labels, spread):
    """Return marginals of chains of every small length, labels and weights."""
    rng = np.random.default_rng(seed)
    offsets = np.cumsum([0, 1, 3, 0, 2, 6])
    node_scores = spread * rng.normal(size=(offsets[-1], n_labels))
    transition = spread * rng.normal(size=(n_labels, n_labels))
    marginals, _ = oracle.marginals(node_scores, transition, offsets)
    labels = rng.integers(n_labels, size=offsets[-1])
    return marginals, labels, rng.random(5)


CASES = (st.integers(0, 2**32 - 1), st.integers(1, 4), st.sampled_from([0.1, 1, 100]))


@given(*CASES, st.floats(1e-6, 1.0))
def test_moved_marginals_are_the_mixture(seed, n_labels, spread, rest):
    marginals, labels, _ = random_case(seed, n_labels, spread)
    moved = marginals.copy()
    moved.move_to_labels(labels, rest=rest)
    assert moved.inconsistency() < 1e-12
    expected = rest * marginals.node + (1.0 - rest) * np.eye(n_labels)[labels]
    assert_allclose(moved.node, expected, rtol=0, atol=1e-15)


@given(*CASES, st.floats(1e-6, 1.0))
def test_entropy_by_rest_is_that_of_the_moved_marginals(seed, n_labels, spread, rest):
    marginals, labels, weight = random_case(seed, n_labels, spread)
    entropy = marginals.entropy_by_rest(labels, weight)
    marginals.move_to_labels(labels, rest=rest)
    assert_allclose(entropy(rest), weight @ marginals.entropy(), rtol=0, atol=1e-12)


@pytest.mark.parametrize("rest", [1.0, 1e-3, 1e-30])
def test_no_marginal_is_moved_to_zero(rest):
    marginals, labels, _ = random_case(0, 3, 1.0)
    marginals.move_to_labels(labels, rest=rest)
    assert marginals.node.min() > 0
    assert marginals.edge.min() > 0
