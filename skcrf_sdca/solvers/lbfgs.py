"""L-BFGS by scipy on the same problem: the reference of the other solvers.

Where the structure knows the curvature at w = 0, for dense features, the steps are
preconditioned: they move u, with w = w_0 + S u. After some iterations the
preconditioner S is computed again at the current weights, if the structure can. The
problem in w stays as it is; only the metric of the steps changes. The certificates are
tighter there: see planes.py.
"""

from abc import abstractmethod
from typing import ClassVar

import numpy as np
from scipy.optimize import minimize

from skcrf_sdca._kernels.math._vecmath import inner
from skcrf_sdca._utils.memory import check_fits
from skcrf_sdca.solvers.base import Solver, first_model
from skcrf_sdca.solvers.planes import N_PLANES, CuttingPlanes

# Curvature pairs that scipy keeps: for many weights, and for few with a preconditioner;
# and the number of vectors of weights in memory.
N_PAIRS, MANY_PAIRS = 10, 50
N_VECTORS, MANY_VECTORS = 25, 105 + 3 * N_PLANES
# Smallest norm of the preconditioned gradient whose square does not underflow in scipy.
LEAST_SIZE = 1e-70
# Iterations after which the preconditioner is computed again.
FIRST_ITERATIONS = 30
# The status of a run that made all iterations, and the status in scipy of a run whose
# callback raised StopIteration.
LIMIT_REACHED, CALLBACK_STOPPED = 1, 99


class QuasiNewton(Solver):
    """The base of L-BFGS and OWL-QN: one iteration is one epoch and one update.

    A subclass remembers in ``_last`` the weights evaluated last and their certificate.
    Nothing is drawn from ``rng``.
    """

    n_vectors: ClassVar[int]

    @classmethod
    def n_bytes(cls, problem, n_weights):
        """Return about how many bytes the solver keeps."""
        return 8 * cls.n_vectors * n_weights

    def __init__(self, problem, rng, *, max_iter=100, state=None):
        self.problem = problem
        self.max_iter = max_iter
        self.model = problem.new_parameters()
        check_fits(
            8 * self.n_vectors * self.model.w.size,
            f"the last steps of L-BFGS, of {self.model.w.size} weights each,",
            "take fewer features",
        )
        if state is not None:
            self.model = first_model(problem, state)
        self._last = None

    @abstractmethod
    def _evaluate(self, w):
        """Return P(w) and its gradient; remember the certificate of w."""

    def _count(self, w):
        self.n_oracle_calls += self.problem.n_sequences
        return self._evaluate(w)

    def certify(self):
        """Certify the current weights; free if they were evaluated last."""
        if self._last is None or not np.array_equal(self._last[0], self.model.w):
            self._evaluate(self.model.w.copy())
        return self._last[1]

    def start_at(self, w, unseen=None):
        """Start from weights."""
        self.model.w[:] = w

    def targets_changed(self):
        """Forget the last evaluation."""
        self._last = None

    def state(self):
        """Return the weights."""
        return {"w": self.model.w}


class LBFGS(QuasiNewton):
    """Limited-memory BFGS, with a preconditioner in ``curvature``, or None."""

    n_vectors = N_VECTORS

    @classmethod
    def n_bytes(cls, problem, n_weights):
        """Return about how many bytes the solver keeps."""
        has_curvature = problem.curvature() is not None
        return 8 * (MANY_VECTORS if has_curvature else N_VECTORS) * n_weights

    def __init__(self, problem, rng, *, max_iter=100, state=None):
        self.curvature = problem.curvature()
        if self.curvature is not None:
            self.n_vectors = MANY_VECTORS
        super().__init__(problem, rng, max_iter=max_iter, state=state)
        # Few weights: the cutting planes take little memory.
        has_planes = self.curvature is not None and "identity" in problem.penalty.offers
        self.planes = CuttingPlanes(problem) if has_planes else None

    def _evaluate(self, w):
        """Return P(w) and its gradient; remember the certificate of w."""
        gradient, certificate = self.problem.certify_primal(w)
        self._last = w.copy(), certificate
        if self.planes is not None:
            self.planes.add(w, gradient, certificate)
        return certificate.primal, gradient

    def certify(self):
        """Certify the current weights by the best mix of the last dual points."""
        alone = super().certify()
        if self.planes is None:
            return alone
        return self.planes.certificate(self.model.w, alone)

    def targets_changed(self):
        """Forget the last evaluation, and the cutting planes."""
        super().targets_changed()
        if self.planes is not None:
            self.planes.forget()

    def run(self, end_epoch):
        """Let scipy iterate; every iteration is an epoch."""
        first = self.max_iter if self.curvature is None else FIRST_ITERATIONS
        while self._iterate(end_epoch, min(first, self.max_iter)) and (
            self.n_updates < self.max_iter
        ):
            # The run goes on with another preconditioner: it has not given up.
            self.message = ""
            here = self.problem.curvature(self.model.w)
            self.curvature = here or self.curvature
            first = self.max_iter - self.n_updates

    def _iterate(self, end_epoch, n_iterations):
        """Make iterations with one preconditioner; return if all were made."""
        to_weights, of_point, first = self._coordinates()

        def on_iteration(intermediate_result):
            self.model.w[:] = to_weights(intermediate_result.x)
            self.n_updates += 1
            if end_epoch():
                raise StopIteration

        result = minimize(
            of_point,
            first,
            jac=True,
            method="L-BFGS-B",
            callback=on_iteration,
            # The certificate alone decides when to stop.
            options={
                "maxiter": n_iterations,
                "maxfun": 20 * n_iterations + 100,
                "maxcor": N_PAIRS if self.curvature is None else MANY_PAIRS,
                "ftol": 0.0,
                "gtol": 0.0,
                "maxls": 50,
            },
        )
        # If the callback stopped the run, the monitor reports why.
        if result.status != CALLBACK_STOPPED:
            self.message = f"L-BFGS: {result.message}"
        return result.nit == n_iterations and result.status == LIMIT_REACHED

    def _coordinates(self):
        """Return functions of u, its weights, and P with gradient; and the first u."""
        first, curvature = self.model.w.copy(), self.curvature
        if curvature is None:
            return np.asarray, self._count, first
        at_first = self._count(first)
        # The first step of scipy has the length 1; it should have the gradient's.
        slope = curvature.transposed_times(at_first[1])
        size = np.sqrt(inner(slope, slope))
        if size < LEAST_SIZE:
            return np.asarray, self._count, first

        def to_weights(u):
            return first + size * curvature.times(u)

        def of_point(u):
            primal, gradient = self._count(to_weights(u)) if u.any() else at_first
            return primal, size * curvature.transposed_times(gradient)

        return to_weights, of_point, np.zeros_like(first)
