"""The start of dual solvers whose mu are expectations of natural parameters."""

from abc import abstractmethod

import numpy as np
from scipy.optimize import minimize_scalar

from skcrf_sdca._utils.parallel import over_ranges
from skcrf_sdca.solvers.dual import DualSolver

# Tolerance of the 1-D search for how much of the targets' natural parameters a start
# from weights adds.
SHARE_TOL = 0.3


class FromNaturalParameters(DualSolver):
    """A dual solver of Potentials, which starts at natural parameters.

    ``marginals`` are their expectations. A start from weights exceeds the scores of the
    targets by ``init_score`` at most.
    """

    init_score = 14.0

    @abstractmethod
    def natural_parameters(self):
        """Return Potentials of float32 to write natural parameters to."""

    @abstractmethod
    def take(self, theta):
        """Take the expectations and entropies of what was written, and move w."""

    @abstractmethod
    def take_targets(self):
        """Take distributions at the targets, or near them, and move w."""

    def start_at(self, w, unseen=None):
        """Start from the scores of w, and the share of the targets of largest dual.

        w_hat(p(. | x; w)) = w holds at the optimum only.
        """
        problem, own = self.problem, self._potentials_of_start(w, unseen)
        more = problem.targets.natural_parameters(problem.structure, 1.0)
        theta = self.natural_parameters()

        def negative_dual(share):
            for values, score, target in zip(theta, own, more, strict=True):
                np.multiply(target, np.float32(share), out=values)
                values += score
            self.take(theta)
            return -self._dual_value()

        of_scores = negative_dual(0.0)
        # Where that is above the dual of the targets, further passes cost more than a
        # better share saves.
        if -of_scores > self._dual_of_targets():
            return
        options = {"xatol": SHARE_TOL}
        bounds = 0.0, self.init_score
        found = minimize_scalar(negative_dual, bounds=bounds, options=options)
        # Near the optimum any share is too large.
        negative_dual(found.x if found.fun < of_scores else 0.0)

    def _potentials_of_start(self, w, unseen):
        """Return the scores to start at as natural parameters."""
        problem = self.problem
        scores_of = self.scores_of_start(w, unseen)
        theta = problem.structure.zero_potentials(np.float32)

        def fill(begin, end):
            first, last = problem.offsets[[begin, end]]
            scores = scores_of(begin, end)
            theta.local[first:last], theta.tied[begin:end] = scores.local, scores.tied

        over_ranges(fill, problem.offsets, problem.n_jobs)
        return theta

    def targets_changed(self):
        """Start again near the new targets, unless the dual is larger at mu."""
        super().targets_changed()
        if self._dual_value() < self._dual_of_targets():
            self.take_targets()

    def _dual_of_targets(self):
        problem, entropy = self.problem, self.problem.targets.entropy
        return problem.loss.scale * problem.mean(np.full(problem.n_sequences, entropy))

    def _dual_value(self):
        problem, v = self.problem, self.v
        entropy = problem.mean_entropy(self.entropy, self.marginals.local, v)
        return problem.dual(v, entropy)
