"""The compiled oracle against enumeration of all label paths."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose

import reference
from skcrf_sdca import oracle
from skcrf_sdca._parallel import ranges

chains = reference.chains(max_abs=1e4)


def scale_of(*scores):
    """Return the size that rounding errors of a log partition are relative to."""
    return 1.0 + sum(abs(s).max(initial=0.0) for s in scores) * len(scores[0])


@given(chains)
def test_log_partition(chain):
    expected = reference.log_partition(*chain)
    (value,) = oracle.log_partition(*chain)
    assert_allclose(value, expected, rtol=1e-13, atol=1e-13 * scale_of(*chain))


@given(chains)
def test_marginals(chain):
    marginals, (log_z,) = oracle.marginals(*chain)
    tolerance = 1e-13 * scale_of(*chain)
    assert_allclose(log_z, reference.log_partition(*chain), rtol=0, atol=tolerance)
    node, edge = marginals[0]
    assert_allclose(node, reference.node_marginals(*chain), rtol=0, atol=tolerance)
    assert_allclose(edge, reference.edge_marginals(*chain), rtol=0, atol=tolerance)
    assert marginals.inconsistency() <= max(tolerance, 1e-12)


@given(chains)
def test_entropy_is_that_of_the_paths(chain):
    marginals, _ = oracle.marginals(*chain)
    expected = reference.path_entropy(reference.path_probabilities(*chain))
    assert_allclose(
        marginals.entropy()[0], expected, rtol=0, atol=1e-12 * scale_of(*chain)
    )


@given(chains)
def test_viterbi(chain):
    path, (score,) = oracle.viterbi(*chain)
    scores = reference.path_scores(*chain)
    tolerance = 1e-13 * scale_of(*chain)
    assert_allclose(score, scores.max(), rtol=0, atol=tolerance)
    paths = reference.all_paths(*np.shape(chain[0]))
    (row,) = np.flatnonzero((paths == path).all(axis=1))
    assert scores[row] >= scores.max() - tolerance


@given(st.integers(1, 6), st.integers(1, 5))
def test_ties_go_to_the_lowest_label(length, n_labels):
    path, _ = oracle.viterbi(np.zeros((length, n_labels)), np.zeros((n_labels,) * 2))
    assert path.tolist() == [0] * length


@pytest.mark.usefixtures("many_ranges")
@given(st.lists(chains, min_size=1, max_size=4), st.integers(1, 3))
def test_many_chains_are_the_single_chains(several, n_jobs):
    n_labels = min(len(transition) for _, transition in several)
    transition = several[0][1][:n_labels, :n_labels]
    parts = [node[:, :n_labels] for node, _ in several]
    parts.insert(1, np.empty((0, n_labels)))
    offsets = np.concatenate([[0], np.cumsum([len(p) for p in parts])])
    scores = np.concatenate(parts)
    marginals, log_z = oracle.marginals(scores, transition, offsets, n_jobs=n_jobs)
    weight = np.arange(1.0, len(parts) + 1)
    node, edge_total, _ = oracle.expectations(
        scores, transition, offsets, weight, n_jobs=n_jobs
    )
    assert_allclose(node, marginals.node, rtol=0, atol=0)
    assert_allclose(
        edge_total,
        marginals.edge_total(weight, n_jobs=n_jobs),
        rtol=1e-12,
        atol=1e-12,
    )
    assert_allclose(
        log_z, oracle.log_partition(scores, transition, offsets), rtol=0, atol=0
    )
    expected_scores = marginals.expected_scores(scores, transition, n_jobs=n_jobs)
    for i, part in enumerate(parts):
        single, (value,) = oracle.marginals(part, transition)
        assert log_z[i] == value
        assert_allclose(marginals[i][0], single.node, rtol=0, atol=0)
        assert_allclose(marginals[i][1], single.edge, rtol=0, atol=0)
        mean_score = (single.node * part).sum() + (single.edge * transition).sum()
        assert_allclose(expected_scores[i], mean_score, rtol=1e-12, atol=1e-9)


@given(chains, st.floats(-1e4, 1e4))
def test_shift_of_all_node_scores(chain, shift):
    node_scores, transition = chain
    before, (log_z,) = oracle.marginals(node_scores, transition)
    after, (shifted,) = oracle.marginals(node_scores + shift, transition)
    tolerance = 1e-12 * (scale_of(*chain) + abs(shift) * len(node_scores))
    assert_allclose(shifted - log_z, len(node_scores) * shift, rtol=0, atol=tolerance)
    assert_allclose(after.node, before.node, rtol=0, atol=tolerance)


UNDERFLOWING = {
    "large transitions": ([[0, -2000], [-2000, 0], [0, -1500]], -2000.0),
    # What underflows at the second position is what counts at the third.
    "lost and wanted again": ([[0, 0], [-1000, 0], [0, 0]], -500.0),
    # Label 0 underflows against label 1, which then pays at every transition.
    "lost little by little": ([[-800, 0], [0, 0], [0, 0], [0, 0]], -500.0),
}


@pytest.mark.parametrize("case", sorted(UNDERFLOWING))
def test_scores_that_underflow_in_the_probability_domain(case):
    node_scores, penalty = UNDERFLOWING[case]
    node_scores = np.array(node_scores, dtype=float)
    transition = np.array([[0.0, penalty], [penalty, penalty]])
    marginals, (log_z,) = oracle.marginals(node_scores, transition)
    assert_allclose(log_z, reference.log_partition(node_scores, transition), rtol=1e-13)
    assert_allclose(
        marginals.node,
        reference.node_marginals(node_scores, transition),
        rtol=0,
        atol=1e-12,
    )
    assert marginals.inconsistency() < 1e-12


def test_very_long_chain():
    """All marginals 1/2 and a log Z in closed form, at 10^5 positions."""
    length = 100_000
    transition = np.array([[0.7, -0.3], [-0.3, 0.7]])
    marginals, (log_z,) = oracle.marginals(np.zeros((length, 2)), transition)
    exact = np.log(2) + (length - 1) * np.log(np.exp(0.7) + np.exp(-0.3))
    assert_allclose(log_z, exact, rtol=1e-11)
    assert_allclose(marginals.node, 0.5, rtol=1e-10)


@pytest.mark.parametrize("score", [1.0, 40.0, 800.0])
def test_entropy_near_certainty(score):
    odds = np.exp(-score)
    expected = 50 * (np.log1p(odds) + score * odds / (1 + odds))
    node_scores = np.tile([score, 0.0], (50, 1))
    marginals, _ = oracle.marginals(node_scores, np.zeros((2, 2)))
    assert_allclose(marginals.entropy()[0], expected, rtol=1e-12, atol=1e-12)


def test_marginals_are_the_gradient_of_log_partition():
    rng = np.random.default_rng(0)
    node_scores, transition = rng.normal(size=(4, 3)), rng.normal(size=(3, 3))
    marginals, _ = oracle.marginals(node_scores, transition)
    h = 1e-6
    for t, k in np.ndindex(4, 3):
        bump = np.zeros((4, 3))
        bump[t, k] = h
        (up,) = oracle.log_partition(node_scores + bump, transition)
        (down,) = oracle.log_partition(node_scores - bump, transition)
        assert_allclose((up - down) / (2 * h), marginals.node[t, k], rtol=0, atol=1e-8)
    for j, k in np.ndindex(3, 3):
        bump = np.zeros((3, 3))
        bump[j, k] = h
        (up,) = oracle.log_partition(node_scores, transition + bump)
        (down,) = oracle.log_partition(node_scores, transition - bump)
        assert_allclose(
            (up - down) / (2 * h), marginals.edge[:, j, k].sum(), rtol=0, atol=1e-8
        )


def test_shapes_are_checked():
    with pytest.raises(ValueError, match=r"transition has shape \(2, 2\)"):
        oracle.log_partition(np.zeros((3, 4)), np.zeros((2, 2)))


@pytest.mark.usefixtures("many_ranges")
@settings(max_examples=20)
@given(st.integers(1, 40), st.integers(0, 2**32 - 1))
def test_ranges_cover_all_chains_once(n, seed):
    lengths = np.random.default_rng(seed).integers(0, 30, size=n)
    offsets = np.concatenate([[0], np.cumsum(lengths)])
    covered = [i for b, e in ranges(offsets) for i in range(b, e)]
    assert covered == list(range(n))
