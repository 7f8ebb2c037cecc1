"""The losses of single chains and their gradients as dense vectors, for other rules.

A step costs as much as there are weights: for few sequences, or for few features, such
as the pixels of "ocr". The other scripts import this module; it runs nothing itself.
"""

from typing import NamedTuple

import numpy as np

# An expectation costs a forward and a backward pass, a loss a forward pass.
CALLS = {"loss": 0.5, "gradient": 1.0}


class Visit(NamedTuple):
    """f_i, target_i less the marginals mu_i of positions and of pairs, and H(mu_i)."""

    value: float
    local: np.ndarray
    tied: np.ndarray
    entropy: float


def inner(local, tied, scores):
    """Return the inner product of changes of marginals with scores."""
    return (local * scores.local).sum() + (tied.ravel() @ scores.tied.ravel())


class SingleLosses:
    """The losses f_i of a problem, with their gradients as dense vectors.

    The problem is one of the weights w / T, T its temperature.

    Attributes
    ----------
    problem : Problem
    n : int
        Number of sequences.
    n_calls : float
        Oracle calls so far.
    """

    def __init__(self, problem):
        self.problem, self.n = problem, problem.n_sequences
        self.alpha, self.temperature = problem.alpha, problem.loss.scale
        self.one, self.n_calls = np.ones(self.n), 0.0
        labels, K = problem.targets.labels, problem.structure.n_labels
        self.pairs = np.zeros((self.n, K, K))
        for i, pairs in enumerate(self.pairs):
            y = labels[self.positions(i)]
            np.add.at(pairs, (y[:-1], y[1:]), 1.0)

    def positions(self, i):
        """Return the positions of sequence i."""
        return slice(*self.problem.offsets[[i, i + 1]])

    def scores(self, w, i):
        """Return the scores of sequence i, with its costs."""
        parameters = self.problem.new_parameters(w / self.temperature)
        return self.problem.scores(parameters, i, i + 1)

    def value(self, conjugate, scores, i):
        """Return f_i."""
        first = self.positions(i).start
        above = conjugate[0] - self.problem.targets.score(scores, i, first)[0]
        return self.temperature * above

    def loss(self, w, i):
        """Return f_i."""
        self.n_calls += CALLS["loss"]
        scores = self.scores(w, i)
        return self.value(self.problem.loss.conjugate(scores), scores, i)

    def visit(self, w, i):
        """Return the Visit of sequence i at w."""
        self.n_calls += CALLS["gradient"]
        scores, place = self.scores(w, i), self.positions(i)
        local, tied, found = self.problem.loss.expectations(scores, self.one[i : i + 1])
        value = self.value(found, scores, i)
        self.problem.targets.subtract(local, place.start, place.stop)
        tied = self.pairs[i] - tied.reshape(self.pairs[i].shape)
        return Visit(value, local, tied, value + inner(local, tied, scores))

    def features(self, i, local, tied):
        """Return the features of changes of marginals, as weights."""
        structure, out = self.problem.structure, self.problem.new_parameters()
        structure.add_features(out, i, i + 1, self.one, local)
        structure.add_tied_features(out, tied.reshape(out.tied.shape))
        return out.w

    def gradient(self, i, visit):
        """Return the gradient of f_i."""
        return self.features(i, -visit.local, -visit.tied)

    def loss_and_gradient(self, w, i):
        """Return f_i and its gradient."""
        visit = self.visit(w, i)
        return visit.value, self.gradient(i, visit)

    def mean_gradient(self, w):
        """Return the gradient of P, with a call for each sequence."""
        self.n_calls += CALLS["gradient"] * self.n
        point, *_ = self.problem.expected_point(w / self.temperature)
        return self.alpha * w - self.problem.strength * point
