"""Averages of the points of a dual solver whose weights oscillate.

The weights of block-coordinate Frank-Wolfe oscillate around the optimum, since the
hinge is not smooth. With w_e = grad r*(v_e) after epoch e, an average with polynomial
decay (Shamir and Zhang, ICML 2013; power 1 in [LacosteJulien13]) is lower in objective:

    v <- v + (power + 1) / (m + power) (v_m - v),    in which v_e counts about e^power.

With w_hat(mu) as v_e the average is w_hat of an average of mu, so that w = grad r*(v)
is as sparse as the weights of the solver. With power 4 the first points, which are far
off, are forgotten quickly.
"""

import numpy as np

from skcrf_sdca.objective.objective import LowerBound
from skcrf_sdca.solvers.base import OuterSolver

POWER = 4


class Averaged(OuterSolver):
    """A dual solver whose model is the best of all its points and their averages.

    ``solver`` is a solver with a point ``v``, called with ``options``. In the formula
    above ``average`` is v and ``n_epochs`` is m. ``best_primal`` is P of ``model``, and
    ``rounding`` a bound on its rounding.
    """

    n_epochs = 0
    best_primal = np.inf
    rounding = 0.0

    def __init__(self, problem, rng, *, solver, state=None, **options):
        self.problem = problem
        self.solver = solver(problem, rng, state=state, **options)
        self.model = problem.new_parameters()
        self.average = np.zeros_like(self.model.w)
        self.lower_bound = LowerBound()
        if "average" in (state or {}) and state["alpha"] == problem.alpha:
            self.average[:], self.n_epochs = state["average"], state["n_epochs"]

    def epoch(self):
        """Make an epoch of visits, and update the average."""
        self.solver.epoch()
        self.n_epochs += 1
        share = (POWER + 1) / (self.n_epochs + POWER)
        self.average += share * (self.solver.v - self.average)

    def certify(self):
        """Certify the best weights with the best dual point."""
        problem, found = self.problem, self.solver.certify()
        # P(w) has as much rounding as the gap has.
        self.lower_bound.add(found.dual - found.rounding, found.rounding)
        self._keep(self.solver.model.w, found.primal, found.rounding)
        w = problem.penalty.primal_point(self.average)
        loss, size = problem.evaluate(w)
        primal = problem.primal(w, loss)
        self._keep(w, primal, problem.primal_rounding(primal, size))
        return problem.certify_below(self.best_primal, self.lower_bound, self.rounding)

    def _keep(self, w, primal, rounding):
        """Keep weights that are the best so far."""
        if not primal >= self.best_primal:
            self.best_primal, self.rounding = primal, rounding
            self.model.w[:] = w

    def state(self):
        """Return the state of the solver, and the average, for the same alpha."""
        return {
            **self.solver.state(),
            "average": self.average,
            "n_epochs": self.n_epochs,
        }
