"""Proximal point iterations: dual solvers for penalties of little curvature, or none.

Visits are slow where the strongly convex part of the penalty is small. So the solver
works on a sequence of problems

    P(w) + kappa/2 ||w - z||^2,    z the solution of the last,

each with a warm start: mu stays, and w_hat(mu) moves with z (see `Problem.proximal`).
One epoch of visits is enough for each; the extrapolation of Catalyst [Lin15] needs so
exact solutions that it is slower.

The certificate is one of P itself, with the best dual point of all epochs.
"""

import numpy as np

from skcrf_sdca.objective.objective import LowerBound
from skcrf_sdca.solvers.base import OuterSolver

# Needs of solvers that the parameter `acceleration` provides.
PROVIDED = {
    None: frozenset(),
    "auto": frozenset({"curvature"}),
    "proximal_point": frozenset({"curvature"}),
}

# In the unit 1/n: kappa, and the curvature of P below which "auto" accelerates.
KAPPA = 0.3
LITTLE = 0.15


def accelerates(acceleration, problem):
    """Return whether proximal point iterations are to solve a problem."""
    if acceleration != "auto":
        return acceleration is not None
    curvature = problem.strength * problem.penalty.curvature
    return curvature < LITTLE / problem.n_sequences


class ProximalPoint(OuterSolver):
    """Proximal point iterations around a dual solver, of one epoch each.

    ``solver`` is a subclass of DualSolver, called with ``options``. It solves
    ``proximal``, the problem with a center, which is z times ``share``.
    """

    def __init__(self, problem, rng, *, solver, state=None, **options):
        kappa = KAPPA / problem.n_sequences
        self.problem = problem
        self.proximal = problem.proximal(kappa)
        self.lower_bound = LowerBound()
        self.share = kappa / self.proximal.strength
        self.solver = solver(self.proximal, rng, state=state, **options)
        self.model = self.solver.model
        if state is not None and np.shape(state.get("z")) == self.model.w.shape:
            self.solver.move_center(self.share * state["z"])

    def start_at(self, w):
        """Start from weights, which also are the first z."""
        self.solver.start_at(w)

    def epoch(self):
        """Move z to w, and make an epoch of visits."""
        self.solver.move_center(self.share * self.model.w)
        self.solver.epoch()

    def certify(self):
        """Certify w and mu as points of the problem itself."""
        w, *mu = self.solver.pair()
        v = self.solver.dual_point.w - self.proximal.center
        v *= self.proximal.strength / self.problem.strength
        found = self.problem.certify_pair(w, v, *self.proximal.compare(w, *mu))
        self.lower_bound.add(found.dual, found.dual_rounding)
        return self.problem.certify_below(found.primal, self.lower_bound)

    def targets_changed(self):
        """Pass on a change of the targets: mu, and so D, is another."""
        self.proximal.targets_changed()
        self.solver.targets_changed()
        self.lower_bound = LowerBound()

    def state(self):
        """Return the state of the solver, and z."""
        return {**self.solver.state(), "z": self.proximal.center / self.share}
