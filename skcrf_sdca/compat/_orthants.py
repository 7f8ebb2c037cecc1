"""L-BFGS for a penalty with an l1 norm, one orthant of the weights after the other.

In an orthant, where no weight changes its sign, the objective is smooth. OWL-QN leaves
an orthant in each of its steps, and takes few steps to weights most of which are right;
then the bounded L-BFGS of scipy needs far fewer passes over the data to be exact.
"""

import numpy as np
from scipy.optimize import minimize

from skcrf_sdca.solvers.lbfgs import CALLBACK_STOPPED
from skcrf_sdca.solvers.owlqn import OWLQN

# Iterations of OWL-QN at first, and the most in one orthant.
FIRST_ITERATIONS, IN_ORTHANT = 40, 100
# So many iterations in a new orthant are not ended: their progress may be slow.
LEAST_ITERATIONS = 10
# Curvature pairs that scipy keeps.
N_PAIRS = 20


class Orthants(OWLQN):
    """OWL-QN at first, then bounded L-BFGS in the orthant of the weights."""

    n_vectors = OWLQN.n_vectors + 2 * N_PAIRS + 10

    def run(self, end_epoch):
        """Iterate; every iteration is an epoch.

        In an orthant that ``end_epoch`` ends after its first iterations, the run goes
        on in the next one.
        """
        limit, is_last = self.max_iter, False

        def end_first():
            nonlocal is_last
            is_last = end_epoch()
            return is_last

        self.max_iter = min(FIRST_ITERATIONS, limit)
        super().run(end_first)
        self.max_iter = limit
        while not (is_last or self.message) and self.n_updates < limit:
            is_last = self._minimise_in_orthant(end_epoch, limit - self.n_updates)

    def _minimise_in_orthant(self, end_epoch, limit):
        """Iterate in the orthant of the weights; return whether that was the last."""
        w = self.model.w.copy()
        _, gradient = self._count(w)
        slope = self._slope(w, gradient)
        (places,) = np.nonzero((w != 0.0) | (slope != 0.0))
        signs = np.where(w == 0.0, -np.sign(slope), np.sign(w))[places]
        n_before, scale = self.n_updates, float(self.problem.n_sequences)
        is_last = False

        def weights_of(sizes):
            found = np.zeros_like(w)
            found[places] = signs * sizes
            return found

        def of_point(sizes):
            primal, gradient = self._count(weights_of(sizes))
            return scale * primal, scale * (signs * gradient[places] + self.threshold)

        def on_iteration(intermediate_result):
            nonlocal is_last
            self.model.w[:] = weights_of(intermediate_result.x)
            self.n_updates += 1
            n_here = self.n_updates - n_before
            if end_epoch() and n_here >= LEAST_ITERATIONS:
                is_last = n_here == LEAST_ITERATIONS
                raise StopIteration

        n_iterations = min(IN_ORTHANT, limit)
        options = {"maxiter": n_iterations, "maxcor": N_PAIRS, "maxls": 50}
        result = minimize(
            of_point,
            np.abs(w[places]),
            jac=True,
            method="L-BFGS-B",
            bounds=[(0.0, None)] * len(places),
            callback=on_iteration,
            options={**options, "maxfun": 20 * n_iterations, "ftol": 0.0, "gtol": 0.0},
        )
        if result.status != CALLBACK_STOPPED and self.n_updates == n_before:
            self.message = f"L-BFGS: {result.message}"
        return is_last
