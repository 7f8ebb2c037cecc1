"""Chains of higher order and edge features in plain NumPy: all label paths of each.

Owns tiny data, the models that tests fit to them, and the objective written out path
by path.
"""

import numpy as np
from scipy.optimize import minimize
from scipy.special import logsumexp, softmax

from reference import all_paths
from skcrf_sdca import LBFGSCRF, OEGCRF, SAGNUSCRF, SDCACRF, SGDCRF

K, D, ALPHA = 3, 2, 0.1
MODELS = {
    "order 2": {"order": 2},
    "order 3": {"order": 3},
    "edges": {"edge_features": "all"},
    "an edge feature, order 2": {"order": 2, "edge_features": [1]},
}
SOLVERS = {
    "lbfgs": (LBFGSCRF, {}),
    "oeg": (OEGCRF, {"random_state": 0}),
    "sag": (SAGNUSCRF, {"random_state": 0}),
    "sdca": (SDCACRF, {"random_state": 0}),
    "sgd": (SGDCRF, {"random_state": 0}),
}


def tiny_data():
    """Six sequences of up to five positions, and their labels."""
    rng = np.random.default_rng(0)
    lengths = [1, 2, 3, 4, 3, 5]
    X = [rng.normal(size=(length, D)) for length in lengths]
    y = [rng.integers(0, K, length).tolist() for length in lengths]
    y[0], y[3] = [2], [0, 1, 2, 0]
    return X, y


class Twin:
    """The features of every path of some sequences, from the model's definition."""

    def __init__(self, X, *, order=1, edge_features=None):
        self.n_higher = order - 1
        self.edges = [] if edge_features is None else list(range(D))
        if isinstance(edge_features, list):
            self.edges = edge_features
        self.paths = [all_paths(len(x), K) for x in X]
        self.features = [
            np.array([self.of_path(x, path) for path in paths])
            for x, paths in zip(X, self.paths, strict=True)
        ]

    def of_path(self, x, path):
        """The features of a path, flat: coef, intercept, start, end, tuples, edges."""
        coef, intercept = np.zeros((K, D)), np.zeros(K)
        start, end = np.zeros(K), np.zeros(K)
        tuples = [np.zeros(m * (K,)) for m in range(2, 3 + self.n_higher)]
        edge = np.zeros((K, K, D))
        start[path[0]] = end[path[-1]] = 1.0
        for t, label in enumerate(path):
            coef[label] += x[t]
            intercept[label] += 1.0
            for m, counts in enumerate(tuples, start=2):
                if t >= m - 1:
                    counts[tuple(path[t - m + 1 : t + 1])] += 1.0
            if t > 0:
                edge[path[t - 1], label, self.edges] += x[t, self.edges]
        blocks = coef, intercept, start, end, *tuples, edge
        return np.concatenate([block.ravel() for block in blocks])

    def place(self, i, labels):
        """The number of a path of sequence i."""
        return int((self.paths[i] == labels).all(axis=1).argmax())

    @property
    def n_weights(self):
        return self.features[0].shape[1]

    def agreeing(self, i, labels):
        """Whether each path of sequence i agrees with labels, None or sets of them."""
        agree = np.ones(len(self.paths[i]), dtype=bool)
        for t, label in enumerate(labels):
            if label is not None:
                possible = label if isinstance(label, set) else {label}
                agree &= np.isin(self.paths[i][:, t], list(possible))
        return agree

    def objective(self, w, y, alpha, w_0=0.0):
        """P(w) and its gradient, of labels that are known or partly known."""
        agree = [self.agreeing(i, labels) for i, labels in enumerate(y)]
        return self._objective(w, agree, alpha, w_0)

    def _objective(self, w, agree, alpha, w_0):
        value = 0.5 * alpha * (w - w_0) @ (w - w_0)
        gradient = alpha * (w - w_0)
        # Sequences of which nothing is known do not count; empty ones, of one path, do.
        n = sum(len(own) == 1 or not own.all() for own in agree)
        for features, own in zip(self.features, agree, strict=True):
            scores = features @ w
            value += (logsumexp(scores) - logsumexp(scores[own])) / n
            target = softmax(scores[own]) @ features[own]
            gradient = gradient + (softmax(scores) @ features - target) / n
        return value, gradient

    def optimum(self, y, alpha, w_0=0.0):
        """The weights of least P, and that P."""
        agree = [self.agreeing(i, labels) for i, labels in enumerate(y)]
        found = minimize(
            self._objective,
            np.zeros(self.n_weights) + w_0,
            args=(agree, alpha, w_0),
            jac=True,
            method="BFGS",
            options={"gtol": 1e-10},
        )
        return found.x, found.fun


def flat_weights(crf):
    """The weights of an estimator in the order of the twin."""
    edge = crf.edge_coef_
    edge = np.zeros(K * K * D) if edge is None else edge.toarray()
    blocks = crf.coef_, crf.intercept_, crf.start_, crf.end_, crf.transition_
    blocks = *blocks, *crf.higher_transitions_, edge
    return np.concatenate([np.ravel(block) for block in blocks])
