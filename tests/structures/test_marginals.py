"""Marginals mixed with the labels, and marginals with rounded edges."""

import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.special import entr

from samples import inconsistency
from skcrf_sdca import PackedSequences
from skcrf_sdca.objective.problem import Problem
from skcrf_sdca.solvers.sdca import SDCA
from skcrf_sdca.structures.chain import oracle
from skcrf_sdca.structures.chain.marginals import Marginals
from skcrf_sdca.structures.chain.structure import Chain
from twins import markov_chain


def random_case(seed, n_labels, spread):
    """Return marginals of chains of all small lengths, labels and weights."""
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
    moved.shrink_to_labels(labels, keep=rest)
    assert inconsistency(moved) < 1e-12
    expected = rest * marginals.node + (1.0 - rest) * np.eye(n_labels)[labels]
    assert_allclose(moved.node, expected, rtol=0, atol=1e-15)


@given(*CASES, st.floats(1e-6, 1.0))
def test_entropy_by_keep_is_that_of_the_moved_marginals(seed, n_labels, spread, rest):
    marginals, labels, weight = random_case(seed, n_labels, spread)
    entropy = marginals.entropy_by_keep(labels, weight, marginals.entropy())
    marginals.shrink_to_labels(labels, keep=rest)
    assert_allclose(entropy(rest), weight @ marginals.entropy(), rtol=0, atol=1e-12)


@pytest.mark.parametrize("rest", [1.0, 1e-3, 1e-30])
def test_no_marginal_is_moved_to_zero(rest):
    marginals, labels, _ = random_case(0, 3, 1.0)
    marginals.shrink_to_labels(labels, keep=rest)
    assert marginals.node.min() > 0
    assert marginals.edge.min() > 0


@given(*CASES)
def test_settled_marginals_agree(seed, n_labels, spread):
    """Nodes, entropy and means belong to a Markov chain near the rounded marginals."""
    exact, _, weight = random_case(seed, n_labels, min(spread, 5.0))
    edge = np.maximum(exact.edge, 1e-20).astype(np.float32)
    rounded = Marginals(exact.node.copy(), edge, exact.offsets)
    edge_total, entropy = rounded.renormalize(weight)
    assert_allclose(rounded.node, exact.node, rtol=0, atol=1e-5)
    total = np.zeros((n_labels, n_labels))
    for i in np.flatnonzero(np.diff(exact.offsets)):
        node, edge = markov_chain(*rounded[i])
        part = slice(*exact.offsets[i : i + 2])
        assert_allclose(rounded.node[part], node, rtol=0, atol=1e-14)
        terms = entr(edge).sum() - entr(node[1:-1]).sum()
        alone = entr(node[0]).sum()
        assert_allclose(entropy[i], terms if len(edge) else alone, rtol=0, atol=1e-12)
        total += weight[i] * edge.sum(axis=0)
    assert_allclose(edge_total, total, rtol=0, atol=1e-13)


def test_settling_does_not_change_marginals_that_agree():
    exact, _, _ = random_case(0, 3, 1.0)
    before = exact.node.copy()
    entropy = exact.entropy()
    assert_allclose(exact.renormalize(np.ones(5))[1], entropy, rtol=0, atol=1e-13)
    assert_allclose(exact.node, before, rtol=0, atol=1e-14)
    assert (exact.entropy() == exact.entropy()).all()


def test_spans_are_rows_of_three_numbers():
    chain = np.zeros((3, 2)), np.zeros((2, 2))
    spans, labels = [[0, 0, 2], [0, 2, 3]], [0, 1, 1]
    assert_allclose(oracle.span_probabilities(spans, labels, *chain), [0.25, 0.5])
    assert len(oracle.span_probabilities([], [], *chain)) == 0
    for wrong in ([[0, 2]], [0, 0, 2], [[[0, 0, 2]]]):
        with pytest.raises(ValueError, match="rows of three numbers, .i, b, e."):
            oracle.span_probabilities(wrong, labels, *chain)
    for wrong in ([1, 0, 1], [0, 1, 1], [0, 0, 4], [0, -1, 1]):
        with pytest.raises(ValueError, match=f"row 1 is {re.escape(str(wrong))}"):
            oracle.span_probabilities([[0, 0, 2], wrong], labels, *chain)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("smoothing", [1e-6, 0.5, 1.0])
@pytest.mark.parametrize("n_labels", [1, 4])
def test_the_totals_of_labels_mixed_with_uniform_paths(n_labels, smoothing, dtype):
    rng = np.random.default_rng(0)
    offsets = np.cumsum([0, 1, 3, 0, 2, 6])
    chains = Chain(PackedSequences(np.ones((offsets[-1], 1)), offsets), n_labels)
    labels = rng.integers(n_labels, size=offsets[-1]).astype(np.int32)
    weight = rng.random(5)
    tied_labels = chains.tied_labels(labels, weight)
    found = chains.uniform_totals(tied_labels, weight, smoothing)
    marginals = chains.uniform_marginals(labels, smoothing, dtype)
    digits = 1e-6 if dtype == "float32" else 1e-13
    for value, expected in zip(found, marginals.renormalize(weight), strict=True):
        assert_allclose(value, expected, rtol=digits, atol=1e-14)


def test_the_first_point_of_sdca_takes_no_pass_over_its_marginals(monkeypatch):
    chains, labels = Chain(PackedSequences(np.ones((6, 1)), [0, 2, 6]), 3), np.arange(6)
    problem = Problem(chains, (labels % 3).astype(np.int32), 1.0)
    expected = SDCA(problem, np.random.default_rng(0), dual_dtype="float64")
    w = expected.pair()[0].copy()
    monkeypatch.setattr(SDCA, "renormalize", None)
    found = SDCA(problem, np.random.default_rng(0), dual_dtype="float64")
    assert_allclose(found.model.w, w, rtol=0, atol=1e-13)
    assert_allclose(found.entropy, expected.entropy, rtol=0, atol=1e-14)
