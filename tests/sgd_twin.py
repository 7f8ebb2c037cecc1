"""The stochastic gradient methods in dense NumPy, by enumeration of all paths."""

import numpy as np
from scipy.special import logsumexp, softmax

import reference

ALPHA, ETA0, K, D = 0.05, 0.3, 3, 6
COST = np.ones((K, K)) - np.eye(K)


class Twin:
    """The methods in dense NumPy, by enumeration of all paths."""

    def __init__(self, X, y, l1_ratio, hinge=False, sample_weight=None):
        self.X, self.y, self.hinge = X, y, hinge
        self.l1, self.l2 = ALPHA * l1_ratio, ALPHA * (1.0 - l1_ratio)
        self.weight = reference.loss_weights(len(X), sample_weight)
        self.w = np.zeros(D * K + 3 * K + K * K)
        self.t, self.total, self.squares = 0, np.zeros_like(self.w), 0.0 * self.w
        self.trace, self.gains = 0.0 * self.w, np.full(len(self.w), ETA0)

    def gradient(self, w, i):
        """That of n c_i f_i."""
        x, path = self.X[i], self.y[i]
        if not len(x):
            return np.zeros_like(w)
        if self.hinge:
            params = reference.unflatten(w, D, K)
            scores = reference.node_scores(x, params) + COST[path]
            best = reference.best_path(scores, params.transition)
            change = reference.features(x, best, K) - reference.features(x, path, K)
        else:
            change = reference.gradient(w, [x], [path], 0.0, K)
        return len(self.X) * self.weight[i] * change

    def loss(self, w, i):
        """That of sequence i, f_i."""
        x, path = self.X[i], self.y[i]
        if not len(x):
            return 0.0
        scores = reference.all_features(x, K) @ w
        if self.hinge:
            paths = reference.all_paths(len(x), K)
            scores = scores + COST[path, paths].sum(axis=1)
            largest = scores.max()
        else:
            largest = logsumexp(scores)
        return largest - reference.features(x, path, K) @ w

    def step(self, gradient, eta):
        """A proximal step; eta is a number, or one for each weight."""
        z = self.w - eta * gradient
        z = np.sign(z) * np.maximum(np.abs(z) - eta * self.l1, 0.0)
        self.w = z / (1.0 + eta * self.l2)
        self.t += 1
        self.total += self.t * self.w

    def scaled(self, order, eta0, power, fall=None):
        fall = eta0 * ALPHA if fall is None else fall
        for i in order:
            eta = eta0 / (1.0 + fall * self.t) ** power
            self.step(self.gradient(self.w, i), eta)

    def adagrad(self, order):
        for i in order:
            gradient = self.gradient(self.w, i)
            self.squares += gradient**2
            eta = np.zeros_like(self.w)
            seen = self.squares > 0.0
            eta[seen] = ETA0 / np.sqrt(self.squares[seen])
            self.step(gradient, eta)

    def curvature(self, w, i, v):
        """The Hessian of n c_i f_i times v: a covariance of features."""
        features = reference.all_features(self.X[i], K)
        p = softmax(features @ w)
        change = features @ v
        return len(self.X) * self.weight[i] * (p * (change - p @ change)) @ features

    def smd(self, order):
        for i in order:
            if len(self.X[i]) and self.weight[i]:
                g = self.gradient(self.w, i)
                h = self.curvature(self.w, i, self.trace)
                # The features of the sequence: others keep their gains and traces.
                read = (g != 0.0) | (h != 0.0)
                growth = np.clip(1.0 - 0.1 * g * self.trace, 0.5, 2.0)
                self.gains[read] *= growth[read]
                step = self.gains * (g + 0.99 * h)
                self.trace[read] = (0.99 * self.trace - step)[read]
                self.w = self.w - self.gains * g
            growth = self.gains * self.l2
            self.trace -= growth / (1.0 + growth) * self.w
            self.trace /= 1.0 + growth
            self.w = self.w / (1.0 + growth)
            self.t += 1

    def svrg(self, order):
        anchor, n = self.w, len(self.X)
        full = sum(self.gradient(anchor, i) for i in range(n)) / n
        for i in order:
            change = self.gradient(self.w, i) - self.gradient(anchor, i)
            self.step(change + full, ETA0)

    def fit(self, method, n_epochs, power):
        rng = np.random.default_rng(0)
        for epoch in range(n_epochs):
            order = rng.permutation(len(self.X))
            if method == "adagrad":
                self.adagrad(order)
            elif method == "smd":
                self.smd(order)
            elif method == "svrg" and epoch > 0:
                self.svrg(order)
            else:
                self.scaled(order, 1.0 / ALPHA if method == "pegasos" else ETA0, power)
        return self.w
