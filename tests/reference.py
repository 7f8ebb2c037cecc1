"""The reference for tests of compiled code: enumeration in plain NumPy.

Owns brute force over all K^T label paths of tiny chains, the CRF objective written out
path by path, and the hypothesis strategy that draws the chains. It imports nothing from
the package and uses no recursion. A chain is (node_scores (T, K), transition (K, K)), a
distribution over its paths an array (K^T,) in the order of `all_paths`, and a problem
is a list X of dense arrays (T_i, d) and a list y of integer paths (T_i,).
"""

from functools import lru_cache
from itertools import product
from typing import NamedTuple

import numpy as np
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.optimize import minimize, nnls
from scipy.special import logsumexp, rel_entr, softmax, xlogy


@lru_cache(maxsize=64)
def all_paths(length, n_labels):
    """All label paths, (K^T, T), in lexicographic order, read-only."""
    paths = np.array(list(product(range(n_labels), repeat=length)), dtype=np.intp)
    paths.flags.writeable = False
    return paths


def path_scores(node_scores, transition):
    """Score of every path, (K^T,)."""
    length, n_labels = node_scores.shape
    paths = all_paths(length, n_labels)
    nodes = node_scores[np.arange(length), paths]
    edges = transition[paths[:, :-1], paths[:, 1:]]
    return nodes.sum(axis=1) + edges.sum(axis=1)


def labelling_scores(node_scores, pair_scores, ends):
    """All labellings of a graph, and their scores.

    ``pair_scores[e, j, k]`` is that of the labels j and k of the ends of edge e.
    """
    paths = all_paths(*node_scores.shape)
    scores = node_scores[np.arange(len(node_scores)), paths].sum(axis=1)
    for pair, (a, b) in zip(pair_scores, ends, strict=True):
        scores = scores + pair[paths[:, a], paths[:, b]]
    return paths, scores


def log_partition(node_scores, transition):
    return logsumexp(path_scores(node_scores, transition))


def log_path_probabilities(node_scores, transition):
    """Logarithm of the probability of every path, (K^T,): finite for finite scores."""
    scores = path_scores(node_scores, transition)
    return scores - logsumexp(scores)


def path_probabilities(node_scores, transition):
    """Probability of every path, (K^T,)."""
    return np.exp(log_path_probabilities(node_scores, transition))


def marginals_of(probabilities, length, n_labels):
    """Node (T, K) and edge (T-1, K, K) marginals of any distribution over paths."""
    node = np.zeros((length, n_labels))
    edge = np.zeros((length - 1, n_labels, n_labels))
    probabilities, paths = np.asarray(probabilities), all_paths(length, n_labels)
    for t in range(length):
        for k in range(n_labels):
            node[t, k] = probabilities[paths[:, t] == k].sum()
    for t, j, k in np.ndindex(edge.shape):
        here = (paths[:, t] == j) & (paths[:, t + 1] == k)
        edge[t, j, k] = probabilities[here].sum()
    return node, edge


def node_marginals(node_scores, transition):
    """P(y_t = k), (T, K)."""
    probabilities = path_probabilities(node_scores, transition)
    return marginals_of(probabilities, *node_scores.shape)[0]


def log_node_marginals(node_scores, transition):
    """Logarithm of P(y_t = k), (T, K): finite for finite scores."""
    length, n_labels = node_scores.shape
    paths = all_paths(length, n_labels)
    log_p = log_path_probabilities(node_scores, transition)
    with np.errstate(divide="ignore"):
        return np.array(
            [
                [logsumexp(log_p, b=paths[:, t] == k) for k in range(n_labels)]
                for t in range(length)
            ]
        )


def edge_marginals(node_scores, transition):
    """P(y_t = j, y_{t+1} = k), (T-1, K, K)."""
    probabilities = path_probabilities(node_scores, transition)
    return marginals_of(probabilities, *node_scores.shape)[1]


def best_path(node_scores, transition):
    """The first, in lexicographic order, of the paths of maximal score.

    If scores tie, another argmax is correct too: compare scores, not paths, unless the
    maximum is unique or all scores are equal (then the path is all zeros).
    """
    scores = path_scores(node_scores, transition)
    return all_paths(*node_scores.shape)[np.argmax(scores)]


def path_entropy(probabilities):
    """Entropy of any discrete distribution, here mostly one over paths."""
    return -xlogy(probabilities, probabilities).sum()


def path_distribution(node, edge):
    """The Markov chain with these marginals, as probabilities of paths (K^T,).

    p(y) = p(y_0) prod_t p(y_{t+1} | y_t): the distribution of largest entropy among
    those with these marginals, which the dual objective takes mu_i for.
    """
    length, n_labels = node.shape
    probabilities = []
    for path in all_paths(length, n_labels):
        probability = node[0, path[0]]
        for t in range(length - 1):
            if probability > 0:
                probability *= edge[t, path[t], path[t + 1]] / node[t, path[t]]
        probabilities.append(probability)
    return np.array(probabilities)


def entropy(node, edge):
    """Entropy of the Markov chain with these marginals, by its paths."""
    return path_entropy(path_distribution(node, edge))


def bethe_entropy(node, edge):
    """The same entropy by cliques: edges minus inner nodes, or the node if T = 1."""
    if len(node) == 1:
        return path_entropy(node[0])
    return path_entropy(edge) - path_entropy(node[1:-1])


def kl(p, q):
    """KL(p || q) of two distributions over the same paths; inf if q lacks a path."""
    return rel_entr(p, q).sum()


def kl_to_scores(p, node_scores, transition):
    """KL(p || path_probabilities(...)), correct also where probabilities underflow."""
    log_q = log_path_probabilities(node_scores, transition)
    return xlogy(p, p).sum() - p @ log_q


class Params(NamedTuple):
    """The five blocks of weights, in the flat order."""

    intercept: np.ndarray  # (K,)
    start: np.ndarray  # (K,)
    end: np.ndarray  # (K,)
    transition: np.ndarray  # (K, K), [from, to]
    coef: np.ndarray  # (d, K)


def flatten(params):
    """intercept | start | end | transition.ravel() | coef.ravel()."""
    return np.concatenate([block.ravel() for block in params])


def unflatten(weights, n_features, n_labels):
    """The Params of a flat vector."""
    d, k = n_features, n_labels
    intercept, start, end, transition, coef = np.split(
        weights, np.cumsum([k, k, k, k * k])
    )
    return Params(intercept, start, end, transition.reshape(k, k), coef.reshape(d, k))


def node_scores(x, params):
    """Scores (T, K) of the labels at each position of one sequence x (T, d)."""
    scores = x @ params.coef + params.intercept
    scores[0] += params.start
    scores[-1] += params.end
    return scores


def features(x, path, n_labels, boundaries=True):
    """F(x, path), flat; without boundaries start, end and transition stay zero."""
    d, k = x.shape[1], n_labels
    counts = unflatten(np.zeros(d * k + 3 * k + k * k), d, k)
    for row, label in zip(x, path, strict=True):
        counts.coef[:, label] += row
        counts.intercept[label] += 1
    if boundaries:
        counts.start[path[0]] += 1
        counts.end[path[-1]] += 1
        for source, target in zip(path[:-1], path[1:], strict=True):
            counts.transition[source, target] += 1
    return flatten(counts)


def all_features(x, n_labels, boundaries=True):
    """F(x, path) for every path, (K^T, size of the flat vector), read-only."""
    x = np.asarray(x)
    return _all_features(x.tobytes(), x.dtype.str, x.shape, n_labels, boundaries)


# An objective asks for the same features at every w.
@lru_cache(maxsize=256)
def _all_features(data, dtype, shape, n_labels, boundaries):
    x = np.frombuffer(data, dtype).reshape(shape)
    paths = all_paths(len(x), n_labels)
    found = np.array([features(x, path, n_labels, boundaries) for path in paths])
    found.flags.writeable = False
    return found


def expected_features(x, probabilities, n_labels, boundaries=True):
    """E F(x, .) under a distribution over paths, flat."""
    return probabilities @ all_features(x, n_labels, boundaries)


def model_distributions(weights, X, n_labels, boundaries=True):
    """p(. | x_i; w) of every sequence: a list of distributions over paths."""
    scores = [all_features(x, n_labels, boundaries) @ weights for x in X]
    return [np.exp(s - logsumexp(s)) for s in scores]


def loss_weights(n, sample_weight=None):
    """The weight c_i of each loss: s_i / sum(s), 1/n by default."""
    s = np.ones(n) if sample_weight is None else np.asarray(sample_weight, dtype=float)
    return s / s.sum()


def primal(weights, X, y, alpha, n_labels, sample_weight=None, boundaries=True):
    """alpha/2 ||w||^2 + sum_i c_i (log Z_i - score_i(y_i))."""
    value = alpha / 2 * weights @ weights
    for c, x, path in zip(loss_weights(len(X), sample_weight), X, y, strict=True):
        scores = all_features(x, n_labels, boundaries) @ weights
        truth = features(x, path, n_labels, boundaries) @ weights
        value += c * (logsumexp(scores) - truth)
    return value


def gradient(weights, X, y, alpha, n_labels, sample_weight=None, boundaries=True):
    """alpha w + sum_i c_i (E F(x_i, .) - F(x_i, y_i)), under the model."""
    model = model_distributions(weights, X, n_labels, boundaries)
    c = loss_weights(len(X), sample_weight)
    value = alpha * weights
    for i, (x, path) in enumerate(zip(X, y, strict=True)):
        expected = expected_features(x, model[i], n_labels, boundaries)
        value = value + c[i] * (expected - features(x, path, n_labels, boundaries))
    return value


def w_hat(mu, X, y, alpha, n_labels, sample_weight=None, boundaries=True):
    """1/alpha sum_i c_i (F(x_i, y_i) - E_{mu_i} F(x_i, .)).

    `mu` is a list of distributions over paths; `path_distribution` makes one of
    marginals.
    """
    c = loss_weights(len(X), sample_weight)
    total = 0.0
    for i, (x, path) in enumerate(zip(X, y, strict=True)):
        truth = features(x, path, n_labels, boundaries)
        total = total + c[i] * (
            truth - expected_features(x, mu[i], n_labels, boundaries)
        )
    return total / alpha


def dual(mu, X, y, alpha, n_labels, sample_weight=None, boundaries=True):
    """sum_i c_i H(mu_i) - alpha/2 ||w_hat(mu)||^2."""
    weights = w_hat(mu, X, y, alpha, n_labels, sample_weight, boundaries)
    entropies = np.array([path_entropy(p) for p in mu])
    c = loss_weights(len(X), sample_weight)
    return c @ entropies - alpha / 2 * weights @ weights


def mean_loss(X, y, n_labels, allowed=None, tau=1.0, cost=0.0, sample_weight=None):
    """Return the mean loss and its gradient as a function of w, by enumeration."""
    cost = np.broadcast_to(cost, (n_labels, n_labels))
    cases = []
    for c, x, path in zip(loss_weights(len(X), sample_weight), X, y, strict=True):
        paths = all_paths(len(x), n_labels)
        keep = np.ones(len(paths), dtype=bool)
        if allowed is not None:
            keep = allowed[paths[:, :-1], paths[:, 1:]].all(axis=1)
        of_paths = all_features(x, n_labels)[keep]
        costs = cost[np.array(path), paths[keep]].sum(axis=1)
        cases.append((c, of_paths, costs, features(x, path, n_labels)))

    def value_and_gradient(w):
        value, gradient = 0.0, np.zeros_like(w)
        for c, of_paths, costs, of_labels in cases:
            scores = (of_paths @ w + costs) / tau
            value += c * (tau * logsumexp(scores) - of_labels @ w)
            gradient += c * (softmax(scores) @ of_paths - of_labels)
        return value, gradient

    return value_and_gradient


def smooth_optimum(loss, start, alpha, gtol=1e-7):
    """Return the minimum of alpha/2 ||w||^2 + loss(w), by BFGS."""

    def primal(w):
        value, gradient = loss(w)
        return value + alpha / 2 * w @ w, gradient + alpha * w

    options = {"gtol": gtol, "maxiter": 3000}
    return minimize(primal, start, jac=True, method="BFGS", options=options)


def optimum(loss, n_weights, alpha, l1_ratio):
    """Return the minimum of P with w = p - q, p and q not negative, by L-BFGS-B."""

    def primal(pair):
        p, q = np.split(pair, 2)
        w = p - q
        value, gradient = loss(w)
        value += alpha * ((1 - l1_ratio) / 2 * w @ w + l1_ratio * pair.sum())
        gradient = gradient + alpha * (1 - l1_ratio) * w
        ones = alpha * l1_ratio
        return value, np.concatenate([gradient + ones, ones - gradient])

    options = {"maxiter": 10**4, "maxfun": 10**6, "ftol": 1e-15, "gtol": 1e-9}
    start, bounds = np.full(2 * n_weights, 0.01), [(0, None)] * 2 * n_weights
    return minimize(primal, start, bounds=bounds, jac=True, options=options)


def mixture(scores, nodes):
    """Largest <p, scores> + 1/2 <u, 1 - u> with u = p nodes, and p, by a QP."""

    def negative(p):
        u = p @ nodes
        value = p @ scores + 0.5 * u @ (1.0 - u)
        return -value, -(scores + nodes @ (0.5 - u))

    found = minimize(
        negative,
        np.full(len(scores), 1.0 / len(scores)),
        jac=True,
        method="SLSQP",
        bounds=[(0.0, 1.0)] * len(scores),
        constraints={
            "type": "eq",
            "fun": lambda p: p.sum() - 1.0,
            "jac": lambda p: np.ones_like(p),
        },
        # Near the optimum, steps round to nothing: more of them change no digit.
        options={"ftol": 1e-14, "maxiter": 100},
    )
    return -found.fun, found.x


MAGNITUDES = (1e-3, 1.0, 30.0, 1e3, 1e4)


@st.composite
def score_matrices(draw, n_rows, n_columns, max_abs):
    """Draw a matrix with a scale for each row, and with many equal entries."""
    unit = st.one_of(
        st.sampled_from([0.0, 1.0, -1.0]), st.floats(-1, 1, allow_subnormal=False)
    )
    scale = st.sampled_from([m for m in MAGNITUDES if m < max_abs] + [max_abs])
    matrix = draw(arrays(np.float64, (n_rows, n_columns), elements=unit))
    return matrix * draw(arrays(np.float64, (n_rows, 1), elements=scale))


@st.composite
def chains(draw, max_length=5, max_labels=4, max_abs=1e4):
    """Draw (node_scores (T, K), transition (K, K)), from T = 1 and K = 1 upwards."""
    length = draw(st.integers(1, max_length))
    n_labels = draw(st.integers(1, max_labels))
    node = draw(score_matrices(length, n_labels, max_abs))
    return node, draw(score_matrices(n_labels, n_labels, max_abs))


def least_mixture_loss(items, alpha, tau, before=0.0):
    """Minimum of the mean SparseMAP loss and alpha / 2 ||w - before||^2, by NNLS.

    An item has the features (S, d) and nodes (S, K) of all its labellings, the number
    of the right one, and the costs (K,) of nodes. The dual, with u the expected nodes,

        mean_i <u_i, cost_i> + tau H(u_i) - alpha / 2 ||v||^2 - <before, alpha v>,
        alpha v = mean_i features_i(right) - E features_i,

    is a constant less half of a sum of squares of what is linear in the shares. It is
    returned for shares that are divided by their sums: a bound from below.
    """
    n, blocks, targets = len(items), [], []
    of_weights = np.sqrt(1.0 / alpha) / n
    large = 1e4
    right = sum(phi[own] for phi, _, own, _ in items)
    for i, (phi, nodes, _, cost) in enumerate(items):
        ones = np.zeros((n, len(phi)))
        ones[i] = large
        others = [np.zeros((own[1].shape[1], len(phi))) for own in items]
        others[i] = np.sqrt(tau / n) * nodes.T
        blocks.append(np.vstack([of_weights * phi.T, *others, ones]))
        targets.append(np.sqrt(tau / n) * (cost / tau))
    first = of_weights * (right + n * alpha * before)
    target = np.concatenate([first, *targets, np.full(n, large)])
    shares, _ = nnls(np.hstack(blocks), target, maxiter=10000)
    parts = np.split(shares, np.cumsum([len(own[0]) for own in items])[:-1])
    value, v = 0.0, right / n
    for p, (phi, nodes, _, cost) in zip(parts, items, strict=True):
        p = p / p.sum()
        u = p @ nodes
        value += (u @ cost + 0.5 * tau * u @ (1.0 - u)) / n
        v = v - p @ phi / n
    return value - v @ v / (2.0 * alpha) - np.dot(before * np.ones_like(v), v)
