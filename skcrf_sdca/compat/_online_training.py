"""The online algorithms of CRFsuite, for weights of attributes and transitions alone.

A visit to a sequence whose best labels z are wrong moves the weights along the
difference of features d = F(y) - F(z). With m the number of wrong labels, and the loss
l = <w, F(z)> - <w, F(y)> + cost:

    ap      w += d,   with the share of wrong labels as loss
    pa      w += tau d,   l with cost sqrt(m), or 1 if not error_sensitive
            tau = l / ||d||^2, min(c, l / ||d||^2), l / (||d||^2 + 1 / (2 c))   (type)
    arow    w += b l S d,   S <- 1 / (1 / S + d^2 / gamma),   l with cost m
            b = 1 / (<d, S d> + gamma),   S the diagonal matrix of variances
"""

from collections.abc import Callable
from time import perf_counter
from typing import Any

import numpy as np


class OnlineLearner:
    """The weights of an online algorithm, and their average over all visits.

    Parameters
    ----------
    problem : CrfsuiteProblem
    algorithm : {"ap", "pa", "arow"}
    params : dict
        The parameters of CRFsuite.
    """

    def __init__(self, problem: Any, algorithm: str, params: dict[str, Any]) -> None:
        self.problem, self.params = problem, params
        self.model, self.change = problem.new_parameters(), problem.new_parameters()
        self.kernel, self.n_visits = self.change.weights(), 1
        self.step: Callable[..., Any] = getattr(self, f"_{algorithm}")
        self.total = None
        if algorithm == "ap" or params.get("averaging", False):
            self.total = np.zeros_like(self.model.w)
        self.variance = np.full(self.model.w.shape, params.get("variance", 1.0))
        self.ones = np.ones(problem.n_sequences)

    def run(self, on_pass: Callable[..., None]) -> Any:
        """Make the passes, and return the parameters.

        ``on_pass`` is called after each with its number, its loss, the parameters and
        the seconds.
        """
        n, rng = self.problem.n_sequences, np.random.default_rng(0)
        for number in range(1, self.params["max_iterations"] + 1):
            begin = perf_counter()
            loss = sum(self._visit(i) for i in rng.permutation(n).tolist())
            found = self._average()
            on_pass(number, loss, found, perf_counter() - begin)
            # Without a loss nothing moves but the average.
            is_over = not loss and self.total is None
            if is_over or loss < n * self.params["epsilon"]:
                break
        return self._average()

    def _average(self):
        """Return the parameters of the model."""
        if self.total is None:
            return self.model
        average = self.model.w - self.total / self.n_visits
        return self.problem.new_parameters(average)

    def _visit(self, i):
        """Visit a sequence; return its loss."""
        first, last = self.problem.offsets[i : i + 2].tolist()
        right = self.problem.targets.labels[first:last]
        found, _ = self.problem.structure.scores(self.model, i, i + 1).viterbi()
        n_wrong, loss = np.count_nonzero(found != right), 0.0
        if n_wrong:
            places = self._sum_change(i, right, found)
            d = self.change.w[places] * self.problem.free[places]
            self.change.w[places] = 0.0
            loss, moved = self.step(d, places, n_wrong, last - first)
            self.model.w[places] += moved
            if self.total is not None:
                self.total[places] += self.n_visits * moved
        self.n_visits += 1
        return loss

    def _sum_change(self, i, right, found):
        """Add d to `change`; return the places of its weights."""
        structure, change = self.problem.structure, self.change
        first, last = self.problem.offsets[i : i + 2].tolist()
        n, t = structure.n_labels, np.arange(len(right))
        node = np.zeros((len(right), n))
        node[t, right] = 1.0
        node[t, found] -= 1.0
        self.kernel.add_changes(
            structure.rows, structure.offsets, i, i + 1, self.ones, node
        )
        for block in (change.intercept, change.start, change.end):
            block[:] = 0.0
        edges = [n * y[:-1].astype(np.int64) + y[1:] for y in (right, found)]
        for sign, numbers in zip((1.0, -1.0), edges, strict=True):
            np.add.at(change.tied.reshape(-1), numbers, sign)
        X, pairs = structure.data.X, structure.pairs
        features = np.unique(X.indices[X.indptr[first] : X.indptr[last]])
        if pairs is None:
            of_coef = (n * features[:, None].astype(np.int64) + np.arange(n)).ravel()
        else:
            of_coef = pairs.places_of(features)
        begin = change.biases.size
        of_tied = np.unique(np.concatenate(edges)) + begin - change.tied.size
        return np.concatenate([of_tied, begin + of_coef])

    def _ap(self, d, places, n_wrong, length):
        return n_wrong / length, d

    def _pa(self, d, places, n_wrong, length):
        cost = np.sqrt(n_wrong) if self.params["error_sensitive"] else 1.0
        loss, c = cost - self.model.w[places] @ d, self.params["c"]
        norm = max(d @ d, np.finfo(float).tiny)
        steps = loss / norm, min(c, loss / norm), loss / (norm + 0.5 / c)
        return loss, steps[self.params["type"]] * d

    def _arow(self, d, places, n_wrong, length):
        variance, gamma = self.variance[places], self.params["gamma"]
        loss = n_wrong - self.model.w[places] @ d
        moved = loss / (d @ (variance * d) + gamma) * variance * d
        self.variance[places] = 1.0 / (1.0 / variance + d**2 / gamma)
        return loss, moved
