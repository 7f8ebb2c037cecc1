"""The losses of chains and their gradients in dense NumPy, for variants of solvers.

The gradients have all weights: for few features only, such as the pixels of "ocr". The
other scripts import this module; it runs nothing itself.
"""

import numpy as np
from scipy.sparse import csr_array

# An expectation costs a forward and a backward pass, a loss a forward pass.
CALLS = {"loss": 0.5, "gradient": 1.0}


class Chains:
    """The losses f_i of the chains of a problem as functions of one vector of weights.

    Attributes
    ----------
    problem : Problem
    n_calls : float
        Oracle calls so far.
    """

    def __init__(self, problem):
        self.problem = problem
        bounds = list(zip(problem.offsets[:-1], problem.offsets[1:], strict=True))
        rows, labels = csr_array(problem.data.X), problem.targets.labels
        self.X = [rows[begin:end].toarray() for begin, end in bounds]
        self.y = [labels[begin:end] for begin, end in bounds]
        self.n_calls = 0.0

    def forward(self, w, i):
        """Return the forward distributions, the factors behind them, and f_i."""
        p, x, y = self.problem.new_parameters(w), self.X[i], self.y[i]
        node = x @ p.coef + p.intercept
        node[0] += p.start
        node[-1] += p.end
        tied = p.tied.reshape(node.shape[1], -1)
        score = node[np.arange(len(y)), y].sum() + tied[y[:-1], y[1:]].sum()
        top = node.max(axis=1)
        local, pairs = np.exp(node - top[:, None]), np.exp(tied)
        alpha, log_z = np.empty_like(local), top.sum()
        for t in range(len(x)):
            alpha[t] = local[t] if t == 0 else local[t] * (alpha[t - 1] @ pairs)
            total = alpha[t].sum()
            alpha[t] /= total
            log_z += np.log(total)
        return alpha, local, pairs, log_z - score

    def loss(self, w, i):
        """Return f_i."""
        self.n_calls += CALLS["loss"]
        return self.forward(w, i)[-1]

    def loss_and_gradient(self, w, i):
        """Return f_i and its gradient."""
        self.n_calls += CALLS["gradient"]
        alpha, local, pairs, loss = self.forward(w, i)
        x, y = self.X[i], self.y[i]
        of_pairs, beta = np.zeros_like(pairs), np.ones(len(pairs))
        node = alpha.copy()
        for t in range(len(x) - 1, 0, -1):
            back = local[t] * beta
            edge = np.outer(alpha[t - 1], back) * pairs
            edge /= edge.sum()
            of_pairs += edge
            node[t - 1] = edge.sum(axis=1)
            beta = pairs @ back
            beta /= beta.sum()
        np.subtract.at(of_pairs, (y[:-1], y[1:]), 1.0)
        node[np.arange(len(y)), y] -= 1.0
        gradient = self.problem.new_parameters()
        gradient.coef[:] = x.T @ node
        gradient.intercept[:] = node.sum(axis=0)
        gradient.start[:], gradient.end[:] = node[0], node[-1]
        gradient.tied[:] = of_pairs.reshape(gradient.tied.shape)
        return loss, gradient.w
