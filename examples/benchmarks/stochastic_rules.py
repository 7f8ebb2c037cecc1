"""Stochastic methods since 2018 in NumPy, each by the rule of its paper.

phi_i = f_i + alpha/2 ||w||^2, and each step draws i uniformly. rivals.py runs them;
this module runs nothing itself.
"""

import numpy as np
from single_losses import inner


class Rival:
    """Weights that steps move; a subclass has its rule in `step`.

    Attributes
    ----------
    losses : SingleLosses
    length : float
        The step, or its limit; it is chosen from a grid.
    """

    def __init__(self, losses, rng, length):
        self.losses, self.rng, self.n = losses, rng, losses.n
        self.alpha, self.length = losses.alpha, length
        self.w = losses.problem.new_parameters().w

    @property
    def point(self):
        """The weights to measure."""
        return self.w

    def epoch(self):
        """Make n steps."""
        for i in self.rng.integers(self.n, size=self.n):
            self.step(i)

    def phi(self, w, i):
        """Return phi_i and its gradient."""
        value, gradient = self.losses.loss_and_gradient(w, i)
        gradient += self.alpha * w
        return value + 0.5 * self.alpha * (w @ w), gradient

    def step(self, i):
        """Make a step with sequence i."""
        raise NotImplementedError


class Polyak(Rival):
    """SPS_max with the lower bound 0 of phi_i: ALI-G where ``share`` is 1."""

    def __init__(self, *arguments, share=1.0):
        super().__init__(*arguments)
        self.share = share

    def step(self, i):
        """Make a step with sequence i."""
        value, gradient = self.phi(self.w, i)
        self.move(value - self.floor(i), gradient)

    def floor(self, i):
        """Return what phi_i is to fall to."""
        return 0.0

    def move(self, above, gradient):
        """Step against a gradient."""
        square = self.share * (gradient @ gradient)
        if square > 0.0:
            self.w -= self.limited(max(above, 0.0) / square) * gradient

    def limited(self, step):
        """Return a step that is not too long."""
        return min(step, self.length)


class DecSPS(Polyak):
    """Polyak's step, divided by sqrt(t + 1)."""

    t = 0

    def limited(self, step):
        """Return the step, never longer than the last one was before its division."""
        self.length = super().limited(step)
        self.t += 1
        return self.length / np.sqrt(self.t)


class KnownPolyak(Polyak):
    """SPS+: Polyak's step to the value of phi_i at the optimum, which nobody knows."""

    def __init__(self, *arguments, optimum):
        super().__init__(*arguments)
        self.at = [self.phi(optimum, i)[0] for i in range(self.n)]
        self.losses.n_calls = 0.0

    def floor(self, i):
        """Return phi_i at the optimum."""
        return self.at[i]


class DualPolyak(Polyak):
    """Polyak's step to the dual objective of the marginals of the last visits.

    With v = w_hat(mu), the part of sequence i is H(mu_i) + <mu_i - target_i, scores of
    v> + alpha/2 ||v||^2. Before its first visit mu_i is the target.
    """

    def __init__(self, *arguments):
        super().__init__(*arguments)
        self.v, self.kept = np.zeros_like(self.w), {}

    def floor(self, i):
        """Return the part of sequence i in the dual objective, or 0 if it is less."""
        found = 0.5 * self.alpha * (self.v @ self.v)
        if i in self.kept:
            _, local, tied, entropy = self.kept[i]
            found += entropy - inner(local, tied, self.losses.scores(self.v, i))
        return max(found, 0.0)

    def step(self, i):
        """Make a step, and keep the marginals."""
        losses, w = self.losses, self.w
        visit = losses.visit(w, i)
        above = visit.value + 0.5 * self.alpha * (w @ w) - self.floor(i)
        self.move(above, losses.gradient(i, visit) + self.alpha * w)
        local, tied = visit.local, visit.tied
        if i in self.kept:
            local, tied = local - self.kept[i].local, tied - self.kept[i].tied
        share = 1.0 / (self.alpha * self.n)
        self.v += losses.features(i, share * local, share * tied)
        self.kept[i] = visit


class LooplessSVRG(Rival):
    """SVRG whose snapshot is renewed by a coin."""

    def __init__(self, *arguments):
        super().__init__(*arguments)
        self.renew(self.w)

    def renew(self, w):
        """Take a snapshot."""
        self.snapshot = w.copy()
        self.mean = self.losses.mean_gradient(self.snapshot)

    def corrected(self, i):
        """Return the gradient of phi_i, corrected by the snapshot."""
        found = self.mean + self.alpha * (self.w - self.snapshot)
        found -= self.losses.loss_and_gradient(self.snapshot, i)[1]
        found += self.losses.loss_and_gradient(self.w, i)[1]
        return found

    def step(self, i):
        """Make a step, and toss the coin for a snapshot of the weights before it."""
        before = self.w.copy()
        self.w -= self.length * self.corrected(i)
        if self.rng.random() < 1.0 / self.n:
            self.renew(before)


class CasimirSVRG(LooplessSVRG):
    """An epoch of SVRG for each proximal point, from extrapolated centres.

    A proximal point is the mean of the weights of its epoch. kappa is ``strength``
    times alpha; for a constant kappa the momentum is constant.
    """

    def __init__(self, *arguments, strength):
        Rival.__init__(self, *arguments)
        self.strength, self.solved = strength, self.w.copy()

    @property
    def point(self):
        """The last proximal point."""
        return self.solved

    def epoch(self):
        """Solve a proximal point by n steps, and extrapolate."""
        self.renew(self.w)
        kappa, root = self.strength * self.alpha, (1.0 + self.strength) ** -0.5
        mean = np.zeros_like(self.w)
        for i in self.rng.integers(self.n, size=self.n):
            away = self.w - self.snapshot
            self.w -= self.length * (self.corrected(i) + kappa * away)
            mean += self.w / self.n
        self.w = mean + (1.0 - root) / (1.0 + root) * (mean - self.solved)
        self.solved = mean


class Adam(Rival):
    """Adam on batches of a permutation.

    Parameters
    ----------
    decay : float
        1 where the decay of AdamW takes the penalty's place.
    epochs : int, default=None
        Steps fall linearly to 0 at the end of so many epochs.
    """

    batch, betas, epsilon = 10, (0.9, 0.999), 1e-8

    def __init__(self, *arguments, decay=0.0, epochs=None):
        super().__init__(*arguments)
        self.decay, self.epochs = decay, epochs
        self.moments, self.t = np.zeros((2, len(self.w))), 0

    def epoch(self):
        """Make a step for each batch of a permutation."""
        batches = np.array_split(self.rng.permutation(self.n), self.n // self.batch)
        for batch in batches:
            done = self.t / (self.epochs * len(batches)) if self.epochs else 0.0
            self.step(batch, self.length * (1.0 - done))

    def step(self, batch, length):
        """Make a step with a batch."""
        gradient = (1.0 - self.decay) * self.alpha * self.w
        for i in batch:
            gradient += self.losses.loss_and_gradient(self.w, i)[1] / len(batch)
        self.t += 1
        means = []
        for moment, beta, power in zip(self.moments, self.betas, (1, 2), strict=True):
            moment *= beta
            moment += (1.0 - beta) * gradient**power
            means.append(moment / (1.0 - beta**self.t))
        self.w *= 1.0 - length * self.decay * self.alpha
        self.w -= length * means[0] / (np.sqrt(means[1]) + self.epsilon)
