"""The table of stochastic gradient methods, and those that visit each sequence once.

A new method is a subclass of `SGD`, and one entry of `METHODS`.
"""

from typing import ClassVar

import numpy as np

from skcrf_sdca._kernels.math._vecmath import inner
from skcrf_sdca._kernels.visits._sgd import SMDKernel
from skcrf_sdca._kernels.visits._steps import AdaGradSteps, SMDSteps
from skcrf_sdca.solvers.sgd import MAX_TRIALS, SGD
from skcrf_sdca.solvers.svrg import SVRG, Hybrid

# The step size that AdaGrad tries first: how far a weight moves at its first visit.
FIRST_ADAGRAD = 0.1
# mu and lambda of stochastic meta-descent: mu as in [Vishwanathan06].
META_RATE = 0.1
MEMORY = 0.99
# Parts of an epoch whose last weights enter a mean, with a pass over all weights each.
PARTS = 4


class AveragedSGD(SGD):
    """Stochastic gradient whose model is the mean of its weights."""

    learning_rates = (
        "optimal",
        "invscaling",
        "constant",
        "adaptive",
        "inverse_sqrt",
        "inverse_epochs",
    )
    averages = (True, False)


class Pegasos(SGD):
    """Steps eta0 / t, by default 1 / (alpha t), for strongly convex problems.

    The first steps are far too long, so that the mean is a late one.
    """

    learning_rates = ("inverse", "optimal")
    averages = (True, False)
    needs: ClassVar[frozenset[str]] = SGD.needs | {"curvature"}
    late_mean = True

    def __init__(self, problem, rng, *, eta0="auto", **options):
        eta0 = 1.0 / problem.strength if eta0 == "auto" else eta0
        super().__init__(problem, rng, eta0=eta0, **options)


class AdaGrad(SGD):
    """AdaGrad with a diagonal matrix.

    With D_k the distance that weight k has to go, the regret of the steps is at most

        sum_k (D_k^2 / (2 eta0) + eta0) sqrt(G_k)

    [McMahan and Streeter, COLT 2010, theorem 4], least for

        eta0 = sqrt( sum_k D_k^2 sqrt(G_k) / (2 sum_k sqrt(G_k)) ).

    The step size of least objective on a sample is for one pass. It is too short for
    more of them, while the weights get further in that pass than is right for it: with
    the weights after the pass as D, the step size is raised to where both sides agree.
    """

    learning_rates = ("constant", "adaptive")
    averages = (True, False)
    late_mean = True
    n_ends = PARTS

    def _set_state(self, state):
        super()._set_state(state)
        self.squares = np.zeros_like(self.current.w)
        if "squares" in state:
            self.squares[:] = state["squares"]

    def new_steps(self, w, eta0, *, trial):
        """Return the steps of the method."""
        squares = np.zeros_like(w) if trial else self.squares
        if trial:
            self.tried = squares
        return self.steps_of(w, eta0, AdaGradSteps, squares=squares)

    def calibrated(self, order, w):
        """Return the step size of the formula above, or of `SGD` if that is larger.

        Overwrites ``w``.
        """
        eta0 = super().calibrated(order, w)
        reach = self.reach(order, eta0, w)
        for _ in range(MAX_TRIALS):
            if not reach > 1.0:
                break
            further = self.reach(order, 2.0 * eta0, w)
            if not further > 1.0:
                # Between the two, both logarithms are nearly a line.
                part = np.log(reach) / np.log(reach / further) if further else 0.0
                eta0 *= 2.0**part
                break
            eta0, reach = 2.0 * eta0, further
        self.tried = None
        return float(eta0)

    def reach(self, order, eta0, w):
        """Return the right side of the formula above after a pass, over eta0.

        It is 0 where the weights are not finite. Overwrites ``w``.
        """
        try:
            list(self.trial([order], eta0, w))
        except ValueError:
            return 0.0
        roots = np.sqrt(self.tried)
        total = 2.0 * roots.sum()
        return np.sqrt(inner(roots, w * w) / total) / eta0 if total > 0.0 else 0.0

    def state(self):
        """Return the state of `SGD`, and the sums of squares."""
        return {**super().state(), "squares": self.squares}

    def first_eta0(self):
        """Return the step size that is tried first, of the size of a weight."""
        return FIRST_ADAGRAD


class SMD(SGD):
    """Stochastic meta-descent: a gain for each weight, which adapts.

    ``trace`` is the derivative of w by the logarithm of the ``gains``, where 0 is eta0.
    """

    learning_rates = ("constant",)
    averages = (True, False)
    needs: ClassVar[frozenset[str]] = SGD.needs | {"log sum", "identity"}
    late_mean = True
    n_ends = PARTS

    def _set_state(self, state):
        super()._set_state(state)
        self.trace, self.gains = (np.zeros_like(self.current.w) for _ in range(2))
        for name, vector in (("trace", self.trace), ("gains", self.gains)):
            if name in state:
                vector[:] = state[name]

    def new_kernel(self, w, eta0, *, trial=False):
        """Return a kernel that moves w, by gains of a first size; a trial is new."""
        trace, gains = self.trace, self.gains
        if trial:
            trace, gains = np.zeros_like(w), np.zeros_like(w)
        gains[gains == 0.0] = eta0
        problem = self.problem
        along_trace = problem.kernel(
            problem.new_parameters(trace).weights(), self.features, with_cost=False
        )
        steps = self.steps_of(
            w,
            eta0,
            SMDSteps,
            trace=trace,
            gains=gains,
            along_trace=along_trace,
            meta_rate=META_RATE,
            memory=MEMORY,
        )
        steps.count = 0 if trial else self.first_step
        return self.kernel_of(steps, SMDKernel, along_trace=along_trace)

    def state(self):
        """Return the state of `SGD`, the trace and the gains."""
        return {**super().state(), "trace": self.trace, "gains": self.gains}


METHODS = {
    "sgd": SGD,
    "asgd": AveragedSGD,
    "adagrad": AdaGrad,
    "smd": SMD,
    "pegasos": Pegasos,
    "svrg": SVRG,
    "hybrid": Hybrid,
}
