"""The reference itself, tested against counting, derivatives and fixed numbers."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import check_grad
from sklearn.metrics import log_loss

import reference as ref

N_FEATURES, N_LABELS, ALPHA = 2, 3, 0.3
SIZE = N_FEATURES * N_LABELS + 3 * N_LABELS + N_LABELS**2
LENGTHS = (1, 2, 4)
SAMPLE_WEIGHTS = (None, [1.0, 3.0, 0.5])


@pytest.fixture
def rng():
    return np.random.default_rng(0)


@pytest.fixture
def problem(rng):
    X = [rng.normal(size=(length, N_FEATURES)) for length in LENGTHS]
    y = [rng.integers(N_LABELS, size=length) for length in LENGTHS]
    return X, y


def random_distributions(rng):
    return [rng.dirichlet(np.ones(N_LABELS**length)) for length in LENGTHS]


def test_all_paths_of_a_small_chain():
    assert_array_equal(ref.all_paths(2, 2), [[0, 0], [0, 1], [1, 0], [1, 1]])
    assert ref.all_paths(3, 1).tolist() == [[0, 0, 0]]


def test_path_scores_by_hand():
    node = np.array([[1.0, 2.0], [10.0, 20.0]])
    transition = np.array([[100.0, 200.0], [300.0, 400.0]])
    assert_array_equal(ref.path_scores(node, transition), [111, 221, 312, 422])


@pytest.mark.parametrize("length", [1, 2, 3, 5])
@pytest.mark.parametrize("n_labels", [1, 2, 4])
def test_zero_scores_count_the_paths(length, n_labels):
    chain = np.zeros((length, n_labels)), np.zeros((n_labels, n_labels))
    count = length * np.log(n_labels)
    assert_allclose(ref.log_partition(*chain), count, rtol=1e-14)
    node, edge = ref.node_marginals(*chain), ref.edge_marginals(*chain)
    assert_allclose(node, 1 / n_labels, rtol=1e-12)
    assert_allclose(edge, 1 / n_labels**2, rtol=1e-12)
    assert_allclose(ref.bethe_entropy(node, edge), count, rtol=1e-12, atol=1e-12)
    assert_array_equal(ref.best_path(*chain), np.zeros(length))


@given(ref.chains())
def test_marginals_are_consistent_at_any_magnitude(chain):
    node, edge = ref.node_marginals(*chain), ref.edge_marginals(*chain)
    # At scores of 1e4 the rounding of a path's score is 1e-11.
    assert_allclose(node.sum(axis=1), 1, rtol=1e-10)
    assert_allclose(edge.sum(axis=2), node[:-1], rtol=0, atol=1e-10)
    assert_allclose(edge.sum(axis=1), node[1:], rtol=0, atol=1e-10)


@given(ref.chains(max_length=4, max_labels=3, max_abs=30.0))
def test_gradient_of_log_partition_is_the_marginals(chain):
    node_scores, transition = chain

    def slope(array, index):
        h = 1e-5
        array[index] += h
        above = ref.log_partition(node_scores, transition)
        array[index] -= 2 * h
        below = ref.log_partition(node_scores, transition)
        array[index] += h
        return (above - below) / (2 * h)

    node = [slope(node_scores, index) for index in np.ndindex(node_scores.shape)]
    assert_allclose(node, ref.node_marginals(*chain).ravel(), rtol=0, atol=1e-7)
    edge = [slope(transition, index) for index in np.ndindex(transition.shape)]
    total = ref.edge_marginals(*chain).sum(axis=0)
    assert_allclose(edge, total.ravel(), rtol=0, atol=1e-7)


@given(ref.chains())
def test_no_path_is_better_than_the_best(chain):
    node_scores, transition = chain
    path = ref.best_path(*chain)
    score = node_scores[np.arange(len(path)), path].sum()
    score += transition[path[:-1], path[1:]].sum()
    best = ref.path_scores(*chain).max()
    assert_allclose(score, best, rtol=0, atol=1e-10)
    mode = ref.log_path_probabilities(*chain).max()
    assert_allclose(mode, best - ref.log_partition(*chain), rtol=0, atol=1e-10)


def test_log_partition_keeps_rows_of_different_scale_apart():
    rows = np.array([[[0.0, 0.0]], [[-1000.0, -1000.0]]])
    values = [ref.log_partition(row, np.zeros((2, 2))) for row in rows]
    assert_allclose(values, [0.693147, -999.306853], rtol=0, atol=1e-6)


@given(ref.chains())
def test_the_three_entropies_of_a_chain_agree(chain):
    probabilities = ref.path_probabilities(*chain)
    node, edge = ref.node_marginals(*chain), ref.edge_marginals(*chain)
    by_path = ref.path_entropy(probabilities)
    assert_allclose(ref.bethe_entropy(node, edge), by_path, rtol=0, atol=1e-9)
    assert_allclose(ref.entropy(node, edge), by_path, rtol=0, atol=1e-9)


@given(ref.chains(max_abs=30.0), st.floats(0.05, 0.95))
def test_the_chain_of_mixed_marginals_has_these_marginals(chain, share):
    uniform = np.zeros_like(chain[0]), np.zeros_like(chain[1])
    mixed = [
        share * marginal(*chain) + (1 - share) * marginal(*uniform)
        for marginal in (ref.node_marginals, ref.edge_marginals)
    ]
    distribution = ref.path_distribution(*mixed)
    node, edge = ref.marginals_of(distribution, *chain[0].shape)
    assert_allclose(node, mixed[0], rtol=0, atol=1e-12)
    assert_allclose(edge, mixed[1], rtol=0, atol=1e-12)
    by_cliques = ref.bethe_entropy(*mixed)
    assert_allclose(ref.path_entropy(distribution), by_cliques, rtol=0, atol=1e-10)


def test_chain_of_one_hot_marginals_is_one_path():
    node = np.eye(2)[[1, 0, 0]]
    edge = node[:-1, :, None] * node[1:, None, :]
    distribution = ref.path_distribution(node, edge)
    assert_array_equal(distribution, np.eye(8)[0b100])
    assert ref.bethe_entropy(node, edge) == 0


def test_one_hot_distribution_has_no_nan():
    one_hot, q = np.array([1.0, 0.0]), np.array([0.25, 0.75])
    assert ref.path_entropy(one_hot) == 0
    assert_allclose(ref.kl(one_hot, q), 1.386294, rtol=1e-6)
    assert ref.kl(q, one_hot) == np.inf
    assert ref.kl(one_hot, one_hot) == 0


@pytest.mark.parametrize(
    ("score", "expected"), [(1.0, 29.1101554444109), (40.0, 8.7e-15), (800.0, 0.0)]
)
def test_entropy_of_independent_nearly_certain_nodes(score, expected):
    p = np.exp(-np.logaddexp(0, [-score, score]))
    node = np.tile(p, (50, 1))
    edge = np.tile(np.outer(p, p), (49, 1, 1))
    assert_allclose(ref.bethe_entropy(node, edge), expected, rtol=1e-12, atol=1e-12)


@given(ref.chains(max_length=3, max_labels=3), st.integers(0, 2**32 - 1))
def test_kl_to_scores_is_kl_and_not_negative(chain, seed):
    q = ref.path_probabilities(*chain)
    p = np.random.default_rng(seed).dirichlet(np.ones(len(q)))
    divergence = ref.kl_to_scores(p, *chain)
    assert np.isfinite(divergence)
    assert divergence >= -1e-10
    if q.min() > 1e-300:
        assert_allclose(divergence, ref.kl(p, q), rtol=1e-9, atol=1e-9)
    assert_allclose(ref.kl_to_scores(q, *chain), 0, rtol=0, atol=1e-9)


def test_features_by_hand():
    x = np.array([[1.0, 10.0], [2.0, 20.0], [4.0, 40.0]])
    counts = ref.unflatten(ref.features(x, [1, 0, 1], 2), n_features=2, n_labels=2)
    assert_array_equal(counts.coef, [[2, 5], [20, 50]])
    assert_array_equal(counts.intercept, [1, 2])
    assert_array_equal(counts.start, [0, 1])
    assert_array_equal(counts.end, [0, 1])
    assert_array_equal(counts.transition, [[0, 1], [1, 0]])
    flat = ref.features(x, [1, 0, 1], 2, boundaries=False)
    assert_array_equal(flat, [1, 2] + [0] * 8 + [2, 5, 20, 50])


def test_flatten_is_the_inverse_of_unflatten(rng):
    weights = rng.normal(size=SIZE)
    params = ref.unflatten(weights, N_FEATURES, N_LABELS)
    assert params.coef.shape == (N_FEATURES, N_LABELS)
    assert_array_equal(params.start, weights[N_LABELS : 2 * N_LABELS])
    assert_array_equal(params.coef[-1], weights[-N_LABELS:])
    assert_array_equal(ref.flatten(params), weights)


def test_scores_are_linear_in_the_features(rng, problem):
    weights = rng.normal(size=SIZE)
    params = ref.unflatten(weights, N_FEATURES, N_LABELS)
    for x in problem[0]:
        by_chain = ref.path_scores(ref.node_scores(x, params), params.transition)
        by_features = ref.all_features(x, N_LABELS) @ weights
        assert_allclose(by_features, by_chain, rtol=1e-12, atol=1e-12)


def test_primal_of_zero_weights_counts_the_paths(problem):
    value = ref.primal(np.zeros(SIZE), *problem, ALPHA, N_LABELS)
    assert_allclose(value, np.mean(LENGTHS) * np.log(N_LABELS), rtol=1e-12)


@pytest.mark.parametrize("boundaries", [True, False])
@pytest.mark.parametrize("sample_weight", SAMPLE_WEIGHTS)
def test_gradient_is_the_derivative_of_the_primal(
    rng, problem, sample_weight, boundaries
):
    weights = rng.normal(size=SIZE)
    arguments = (*problem, ALPHA, N_LABELS, sample_weight, boundaries)
    error = check_grad(ref.primal, ref.gradient, weights, *arguments)
    assert error < 1e-6


def test_primal_gradient_by_central_differences(rng, problem):
    weights, h = rng.normal(size=SIZE), 1e-5
    arguments = (*problem, ALPHA, N_LABELS)
    slopes = [
        ref.primal(weights + step, *arguments) - ref.primal(weights - step, *arguments)
        for step in h * np.eye(SIZE)
    ]
    gradient = ref.gradient(weights, *arguments)
    assert_allclose(np.array(slopes) / (2 * h), gradient, rtol=0, atol=1e-9)


@pytest.mark.parametrize("boundaries", [True, False])
@pytest.mark.parametrize("sample_weight", SAMPLE_WEIGHTS)
def test_gap_of_a_dual_pair_is_the_mean_divergence(
    rng, problem, sample_weight, boundaries
):
    arguments = (*problem, ALPHA, N_LABELS, sample_weight, boundaries)
    mu = random_distributions(rng)
    weights = ref.w_hat(mu, *arguments)
    model = ref.model_distributions(weights, problem[0], N_LABELS, boundaries)
    divergences = [ref.kl(p, q) for p, q in zip(mu, model, strict=True)]
    gap = ref.primal(weights, *arguments) - ref.dual(mu, *arguments)
    mean = np.average(divergences, weights=sample_weight)
    assert_allclose(gap, mean, rtol=1e-12)


@pytest.mark.parametrize("sample_weight", SAMPLE_WEIGHTS)
def test_gap_of_a_primal_pair_is_the_squared_gradient(rng, problem, sample_weight):
    arguments = (*problem, ALPHA, N_LABELS, sample_weight)
    weights = rng.normal(size=SIZE)
    model = ref.model_distributions(weights, problem[0], N_LABELS)
    gradient = ref.gradient(weights, *arguments)
    toward = ref.w_hat(model, *arguments)
    assert_allclose(gradient, ALPHA * (weights - toward), rtol=1e-12, atol=1e-12)
    gap = ref.primal(weights, *arguments) - ref.dual(model, *arguments)
    assert_allclose(gap, gradient @ gradient / (2 * ALPHA), rtol=1e-12)


def test_what_of_the_truth_is_zero(problem):
    X, y = problem
    one_hot = [
        (ref.all_paths(len(path), N_LABELS) == path).all(axis=1).astype(float)
        for path in y
    ]
    weights = ref.w_hat(one_hot, X, y, ALPHA, N_LABELS)
    assert_allclose(weights, 0, rtol=0, atol=1e-14)
    assert ref.dual(one_hot, X, y, ALPHA, N_LABELS) == 0


def test_equal_sample_weights_change_nothing(rng, problem):
    weights = rng.normal(size=SIZE)
    plain = ref.primal(weights, *problem, ALPHA, N_LABELS)
    equal = ref.primal(weights, *problem, ALPHA, N_LABELS, [7.0, 7.0, 7.0])
    assert_allclose(equal, plain, rtol=1e-14)


def test_single_nodes_without_boundaries_are_multinomial_logistic_regression(rng):
    X, y = rng.normal(size=(6, N_FEATURES)), np.array([0, 1, 2, 2, 1, 0])
    weights = rng.normal(size=SIZE)
    params = ref.unflatten(weights, N_FEATURES, N_LABELS)
    scores = X @ params.coef + params.intercept
    proba = np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True)
    value = ref.primal(
        weights, X[:, None], y[:, None], ALPHA, N_LABELS, boundaries=False
    )
    expected = log_loss(y, proba) + ALPHA / 2 * weights @ weights
    assert_allclose(value, expected, rtol=1e-12)


@given(ref.chains(max_length=3, max_labels=2, max_abs=50.0))
def test_chains_keep_their_bounds(chain):
    node_scores, transition = chain
    assert 1 <= len(node_scores) <= 3
    assert 1 <= len(transition) <= 2
    assert node_scores.shape[1:] == transition.shape[1:] == transition.shape[:1]
    assert max(abs(node_scores).max(), abs(transition).max()) <= 50.0
