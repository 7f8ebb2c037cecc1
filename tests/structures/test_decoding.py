"""Decoding and sampling of paths against enumeration of all label paths."""

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.testing import assert_allclose
from scipy.stats import chisquare

import reference
from skcrf_sdca.structures.chain import decoding, oracle

chains = reference.chains(max_length=4, max_abs=1e4)


@st.composite
def tied_chains(draw, max_length=4, max_labels=3):
    """Draw chains with small integer scores: sums are exact and often equal."""
    length = draw(st.integers(1, max_length))
    n_labels = draw(st.integers(1, max_labels))
    whole = st.integers(-1, 1).map(float)
    node_scores = draw(arrays(np.float64, (length, n_labels), elements=whole))
    return node_scores, draw(arrays(np.float64, (n_labels,) * 2, elements=whole))


@st.composite
def forbidding_chains(draw, drawn=chains):
    """Draw chains with some scores of -inf and at least one possible path."""
    node_scores, transition = (scores.copy() for scores in draw(drawn))
    for scores in (node_scores, transition):
        scores[draw(arrays(bool, scores.shape))] = -np.inf
    assume(reference.path_scores(node_scores, transition).max() > -np.inf)
    return node_scores, transition


def tolerance_of(node_scores, transition):
    sizes = [abs(s[np.isfinite(s)]).max(initial=0.0) for s in (node_scores, transition)]
    return 1e-12 * (1.0 + len(node_scores) * sum(sizes))


def all_in_order(node_scores, transition):
    """Return all possible paths and their scores in the documented order."""
    paths = reference.all_paths(*node_scores.shape)
    scores = reference.path_scores(node_scores, transition)
    # The last key is the first to sort by: the score, then the last label.
    order = np.lexsort([*paths.T, -scores])
    order = order[scores[order] > -np.inf]
    return paths[order], scores[order]


# The n best ---------------------------------------------------------------------------


@given(st.one_of(tied_chains(), forbidding_chains(tied_chains())), st.integers(1, 90))
def test_n_best_of_tied_scores_are_those_of_enumeration(chain, n):
    expected_paths, expected_scores = all_in_order(*chain)
    (paths,), (scores,) = decoding.n_best(*chain, n=n)
    assert paths.tolist() == expected_paths[:n].tolist()
    assert scores.tolist() == expected_scores[:n].tolist()


@given(st.one_of(chains, forbidding_chains()), st.integers(1, 300))
def test_n_best_of_any_scores(chain, n):
    _, expected = all_in_order(*chain)
    (paths,), (scores,) = decoding.n_best(*chain, n=n)
    tolerance = tolerance_of(*chain)
    assert_allclose(scores, expected[:n], rtol=0, atol=tolerance)
    assert len({tuple(path) for path in paths}) == len(scores)
    own = dict(
        zip(
            map(tuple, reference.all_paths(*chain[0].shape)),
            reference.path_scores(*chain),
            strict=True,
        )
    )
    found = [own[tuple(path)] for path in paths]
    assert_allclose(found, scores, rtol=0, atol=tolerance)


@pytest.mark.parametrize("rounded", [False, True])
@pytest.mark.parametrize("n_labels", [1, 2, 9, 45])
def test_the_first_of_n_best_is_viterbi_to_the_last_bit(n_labels, rounded):
    rng = np.random.default_rng(n_labels)
    node_scores = rng.normal(size=(40, n_labels))
    transition = rng.normal(size=(n_labels, n_labels))
    if rounded:
        node_scores, transition = np.rint(node_scores), np.rint(transition)
    path, score = oracle.viterbi(node_scores, transition)
    (paths,), (scores,) = decoding.n_best(node_scores, transition, n=5)
    assert paths[0].tolist() == path.tolist()
    assert scores[0] == score[0]
    assert (np.diff(scores) <= 0).all()


@given(chains)
def test_probabilities_of_all_paths_sum_to_one(chain):
    (_,), (scores,) = decoding.n_best(*chain, n=4**4)
    (log_z,) = oracle.log_partition(*chain)
    assert len(scores) == chain[0].shape[1] ** len(chain[0])
    assert_allclose(np.exp(scores - log_z).sum(), 1, rtol=100 * tolerance_of(*chain))


@pytest.mark.usefixtures("many_ranges")
@pytest.mark.parametrize("n_jobs", [1, 2])
def test_n_best_of_many_chains_are_those_of_each(n_jobs):
    rng = np.random.default_rng(0)
    offsets = np.cumsum([0, 3, 0, 1, 5, 2, 0])
    node_scores, transition = rng.normal(size=(11, 3)), rng.normal(size=(3, 3))
    paths, scores = decoding.n_best(
        node_scores, transition, offsets, n=7, n_jobs=n_jobs
    )
    assert [p.shape for p in paths] == [(7, 3), (1, 0), (3, 1), (7, 5), (7, 2), (1, 0)]
    assert scores[1].tolist() == [0.0]
    for i, (own_paths, own_scores) in enumerate(zip(paths, scores, strict=True)):
        own = node_scores[offsets[i] : offsets[i + 1]]
        (expected_paths,), (expected_scores,) = decoding.n_best(own, transition, n=7)
        assert own_paths.tolist() == expected_paths.tolist()
        assert own_scores.tolist() == expected_scores.tolist()


def test_n_best_of_no_chains():
    paths, scores = decoding.n_best(np.empty((0, 2)), np.zeros((2, 2)), [0], n=3)
    assert len(paths) == len(scores) == 0


def test_n_best_of_long_chains_has_no_overflow_of_their_number_of_paths():
    (paths,), (scores,) = decoding.n_best(np.zeros((5000, 9)), np.zeros((9, 9)), n=3)
    assert paths[:, 1:].sum() == 0
    assert paths[:, 0].tolist() == [0, 1, 2]
    assert scores.tolist() == [0.0] * 3


@pytest.fixture
def unchecked(monkeypatch):
    """Pass NaN to the kernels, which then must stay within their arrays."""
    monkeypatch.setattr(oracle, "as_scores", lambda scores, name: scores)


def test_n_best_of_nan_scores_is_safe(unchecked):
    nan = np.full((4, 3), np.nan)
    (paths,), _ = decoding.n_best(nan, np.zeros((3, 3)), n=20)
    assert ((paths >= 0) & (paths < 3)).all()


def test_n_best_without_a_possible_path():
    (paths,), (scores,) = decoding.n_best(np.zeros((2, 2)), np.full((2, 2), -np.inf))
    assert paths.shape == (0, 2)
    assert scores.shape == (0,)


@pytest.mark.parametrize("n", [0, -3])
def test_n_best_of_none(n):
    with pytest.raises(ValueError, match="at least 1"):
        decoding.n_best(np.zeros((2, 2)), np.zeros((2, 2)), n=n)


# Posterior decoding, known labels -----------------------------------------------------


@given(st.one_of(chains, forbidding_chains()))
def test_posterior_has_the_largest_expected_number_of_right_labels(chain):
    paths = reference.all_paths(*chain[0].shape)
    probabilities = reference.path_probabilities(*chain)

    def expected_right(path):
        return probabilities @ (paths == path).sum(axis=1)

    path, _ = decoding.posterior(*chain)
    possible = paths[reference.path_scores(*chain) > -np.inf]
    assert path.tolist() in possible.tolist()
    best = max(map(expected_right, possible))
    assert_allclose(expected_right(path), best, rtol=100 * tolerance_of(*chain))


def test_posterior_and_viterbi_differ():
    chain = np.array([[2.5, 2.0], [0.0, 0.0]]), np.array([[0.0, -9.0], [0.0, 0.0]])
    assert decoding.posterior(*chain)[0].tolist() == [1, 0]
    assert oracle.viterbi(*chain)[0].tolist() == [0, 0]


@given(st.one_of(chains, forbidding_chains()), st.integers(0, 2**32 - 1))
def test_known_labels_are_kept_and_condition_the_others(chain, seed):
    node_scores, transition = chain
    rng = np.random.default_rng(seed)
    paths = reference.all_paths(*node_scores.shape)
    scores = reference.path_scores(*chain)
    (chosen,) = rng.choice(np.flatnonzero(scores > -np.inf), size=1)
    known = np.where(rng.random(len(node_scores)) < 0.5, paths[chosen], -1)
    agrees = ((paths == known) | (known < 0)).all(axis=1)
    conditioned = np.where(agrees, scores, -np.inf)

    clamped = decoding.clamped(node_scores, known)
    path, (score,) = oracle.viterbi(clamped, transition)
    tolerance = tolerance_of(*chain)
    assert_allclose(score, conditioned.max(), rtol=0, atol=tolerance)
    assert (path == known)[known >= 0].all()

    path, (log_z,) = decoding.posterior(clamped, transition)
    probabilities = np.exp(conditioned - np.logaddexp.reduce(conditioned))
    node, _ = reference.marginals_of(probabilities, *node_scores.shape)
    own = node[np.arange(len(path)), path]
    assert_allclose(own, node.max(axis=1), rtol=0, atol=100 * tolerance)
    assert_allclose(log_z, np.logaddexp.reduce(conditioned), rtol=0, atol=tolerance)
    assert (path == known)[known >= 0].all()


# Draws --------------------------------------------------------------------------------


@pytest.mark.parametrize("scale", [1.0, 2.0])
@pytest.mark.parametrize("forbidding", [False, True])
@pytest.mark.parametrize(("length", "n_labels"), [(1, 4), (2, 3), (4, 3), (5, 2)])
def test_frequencies_of_draws(length, n_labels, forbidding, scale):
    rng = np.random.default_rng(length)
    node_scores = rng.normal(size=(length, n_labels), scale=scale)
    transition = rng.normal(size=(n_labels, n_labels), scale=scale)
    if forbidding:
        transition[0, -1] = -np.inf
        node_scores[0, 0] = -np.inf
    n_draws = 40_000
    draws = decoding.sample(
        node_scores, transition, uniform=rng.random((length, n_draws))
    )
    codes = n_labels ** np.arange(length)[::-1] @ draws
    counts = np.bincount(codes, minlength=n_labels**length)
    expected = n_draws * reference.path_probabilities(node_scores, transition)
    assert counts[expected == 0].sum() == 0
    # Cells with few expected draws are merged.
    few = expected < 5
    counts, expected = (np.append(v[~few], v[few].sum()) for v in (counts, expected))
    assert chisquare(counts[expected > 0], expected[expected > 0]).pvalue > 1e-3


@given(st.one_of(chains, forbidding_chains()), st.integers(0, 2**32 - 1))
def test_draws_are_probable_paths(chain, seed):
    """No drawn path has a probability below 1e-15, for scores of any size."""
    uniform = np.random.default_rng(seed).random((len(chain[0]), 5))
    uniform[:, 0] = 0.0
    uniform[:, 1] = np.nextafter(1.0, 0.0)
    draws = decoding.sample(*chain, uniform=uniform)
    log_p = oracle_log_likelihood(draws, chain)
    assert (log_p[2:] > -35 * len(chain[0])).all()
    assert (log_p > -np.inf).all()


def test_rounding_draws_no_label_of_probability_zero():
    """The cumulative sum may stay below a random number next to 1."""
    rng = np.random.default_rng(0)
    node_scores = rng.normal(size=(300, 30))
    node_scores[:, -1] = -np.inf
    almost_one = np.full((300, 1), np.nextafter(1.0, 0.0))
    draws = decoding.sample(
        node_scores, np.zeros((30, 30)), np.arange(301), uniform=almost_one
    )
    assert draws.max() == 28


def oracle_log_likelihood(draws, chain):
    return np.array([oracle.log_likelihood(path, *chain)[0] for path in draws.T])


@pytest.mark.usefixtures("many_ranges")
@pytest.mark.parametrize("n_jobs", [1, 2])
def test_draws_of_many_chains_are_those_of_each(n_jobs):
    rng = np.random.default_rng(0)
    offsets = np.cumsum([0, 3, 0, 1, 5, 2, 0])
    node_scores, transition = rng.normal(size=(11, 3)), rng.normal(size=(3, 3))
    uniform = rng.random((11, 50))
    draws = decoding.sample(
        node_scores, transition, offsets, uniform=uniform, n_jobs=n_jobs
    )
    assert draws.shape == (11, 50)
    for begin, end in zip(offsets[:-1], offsets[1:], strict=True):
        own = decoding.sample(
            node_scores[begin:end], transition, uniform=uniform[begin:end]
        )
        assert (draws[begin:end] == own).all()


def test_draws_of_nan_scores_are_labels(unchecked):
    nan = np.full((3, 4), np.nan)
    draws = decoding.sample(nan, np.zeros((4, 4)), uniform=np.full((3, 2), 0.5))
    assert ((draws >= 0) & (draws < 4)).all()


@pytest.mark.parametrize("shape", [(2, 1), (3,), (4, 4)])
def test_random_numbers_are_one_row_for_each_position(shape):
    with pytest.raises(ValueError, match="uniform has shape"):
        decoding.sample(np.zeros((3, 2)), np.zeros((2, 2)), uniform=np.zeros(shape))


# Log-likelihood -----------------------------------------------------------------------


@given(st.one_of(chains, forbidding_chains()))
def test_log_likelihood_of_every_path(chain):
    paths = reference.all_paths(*chain[0].shape)
    expected = reference.log_path_probabilities(*chain)
    found = [oracle.log_likelihood(path, *chain)[0] for path in paths]
    assert_allclose(found, expected, rtol=0, atol=tolerance_of(*chain))
    assert max(found) <= 0.0


def test_log_likelihood_of_certain_paths_is_not_above_zero():
    rng = np.random.default_rng(0)
    node_scores = rng.normal(size=(400, 20, 3), scale=1e4)
    transition = rng.normal(size=(3, 3), scale=1e4)
    offsets = np.arange(401) * 20
    node_scores = node_scores.reshape(-1, 3)
    paths, _ = oracle.viterbi(node_scores, transition, offsets)
    values = oracle.log_likelihood(paths, node_scores, transition, offsets)
    assert values.max() <= 0.0


def test_log_likelihood_of_labels_that_a_chain_does_not_have():
    scores = np.zeros((5, 2)), np.zeros((2, 2))
    values = oracle.log_likelihood([0, -1, 1, 0, -1], *scores, [0, 2, 2, 4, 5])
    assert_allclose(values, [-np.inf, 0.0, -np.log(4), -np.inf], rtol=1e-15)


@pytest.mark.parametrize("labels", [[0, 1], [0, 1, 2], [[0, 1, 0]]])
def test_labels_are_checked(labels):
    with pytest.raises(ValueError, match="3 numbers below 2"):
        oracle.log_likelihood(labels, np.zeros((3, 2)), np.zeros((2, 2)))


@pytest.mark.parametrize("n", [2**62, 2**63 - 1, 2**63, 10**30, 10**400])
@pytest.mark.parametrize("n_chains", [1, 2, 4])
def test_more_paths_than_can_be_counted(n, n_chains):
    """A size that overflowed would let the kernel write outside its arrays."""
    offsets = np.arange(0, 40 * n_chains + 1, 40)
    scores = np.zeros((40 * n_chains, 3)), np.zeros((3, 3)), offsets
    with pytest.raises(MemoryError, match="lower n"):
        decoding.n_best(*scores, n=n)
    (paths,), _ = decoding.n_best(np.zeros((2, 2)), np.zeros((2, 2)), n=n)
    assert len(paths) == 4
