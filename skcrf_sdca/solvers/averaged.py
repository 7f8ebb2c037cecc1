"""Averages of the points of a dual solver, where its weights are slow to settle.

The weights of block-coordinate Frank-Wolfe go to and fro around the optimum, since the
hinge is not smooth. With v_e = w_hat(mu) after epoch e, an average with polynomial
decay (Shamir and Zhang, ICML 2013; power 1 in [LacosteJulien13]) is lower in objective:

    v <- v + (power + 1) / (m + power) (v_m - v),    in which v_e counts about e^power.

It is itself w_hat of such an average of mu, so that w = grad r*(v) is as sparse as the
weights of the solver. With power 4 the first points, which are far off, are forgotten
quickly.
"""

import numpy as np

from skcrf_sdca.solvers.base import OuterSolver

POWER = 4


class Averaged(OuterSolver):
    """A dual solver whose model is the best of all its points and their averages.

    Parameters
    ----------
    problem : Problem
    rng : numpy.random.Generator
    solver : type
        A subclass of DualSolver.
    state : dict, default=None
        `state()` of an earlier run on the same sequences, to start from.
    **options
        Those of the solver.

    Attributes
    ----------
    average : ndarray of shape (n_weights,)
        v.
    n_epochs : int
        m.
    best_primal, best_dual : float
        P of ``model``, and D of the best dual point so far.
    """

    n_epochs = 0
    best_primal = np.inf
    best_dual = -np.inf

    def __init__(self, problem, rng, *, solver, state=None, **options):
        self.problem = problem
        self.solver = solver(problem, rng, state=state, **options)
        self.model = problem.new_parameters()
        self.average = np.zeros_like(self.model.w)

    def epoch(self):
        """Make an epoch of visits, and follow it with the average."""
        self.solver.epoch()
        self.n_epochs += 1
        share = (POWER + 1) / (self.n_epochs + POWER)
        self.average += share * (self.solver.dual_point.w - self.average)

    def certify(self):
        """Certify the best weights with the best dual point."""
        found = self.solver.certify()
        self.best_dual = max(self.best_dual, found.dual)
        self._keep(self.solver.model.w, found.primal)
        w = self.problem.penalty.primal_point(self.average)
        self._keep(w, self.problem.primal(w, self.problem.mean_loss(w)))
        return self.problem.certificate(
            self.best_primal, self.best_dual, rounding=found.rounding
        )

    def _keep(self, w, primal):
        """Keep weights that are the best so far."""
        if not primal >= self.best_primal:
            self.best_primal = primal
            self.model.w[:] = w

    def state(self):
        """Return that of the solver."""
        return self.solver.state()
