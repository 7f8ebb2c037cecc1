"""OWL-QN: L-BFGS for a penalty with an l1 norm [Andrew and Gao, ICML 2007].

A step stays in the orthant of the current weights, where the objective is smooth: a
weight that would change its sign becomes 0, exactly.
"""

from typing import ClassVar

import numpy as np

from skcrf_sdca._kernels.math._vecmath import inner
from skcrf_sdca.objective.objective import LowerBound
from skcrf_sdca.solvers.lbfgs import QuasiNewton

# Curvature pairs that are kept, and the number of vectors of weights in memory.
N_PAIRS = 10
N_VECTORS = 2 * N_PAIRS + 8
# Armijo constant of the backtracking line search.
SUFFICIENT = 1e-4
MAX_HALVINGS = 50


class OWLQN(QuasiNewton):
    """Orthant-wise limited-memory quasi-Newton."""

    needs: ClassVar[frozenset[str]] = frozenset({"expect", "smooth loss", "threshold"})
    n_vectors = N_VECTORS

    def __init__(self, problem, rng, *, max_iter=100, state=None):
        super().__init__(problem, rng, max_iter=max_iter, state=state)
        self._lower_bound = LowerBound()
        self.threshold = (
            problem.loss.scale * problem.strength * problem.penalty.threshold
        )

    def _evaluate(self, w):
        """Return P(w) and the gradient without the l1 norm."""
        gradient, found = self.problem.certify_primal(w)
        self._lower_bound.add(found.dual, found.dual_rounding)
        self._last = w, self.problem.certify_below(found.primal, self._lower_bound)
        return found.primal, gradient

    def run(self, end_epoch):
        """Iterate; every iteration is an epoch."""
        pairs = CurvaturePairs(self.model.w.size)
        primal, gradient = self._count(self.model.w.copy())
        for _ in range(self.max_iter):
            slope = self._slope(self.model.w, gradient)
            if not slope.any():
                return
            direction = pairs.times(-slope)
            direction[direction * slope >= 0.0] = 0.0
            step = 1.0 if pairs.count else 1.0 / np.sqrt(inner(slope, slope))
            found = self._search(primal, slope, direction, step)
            if found is None:
                self.message = "OWL-QN: no step lowers the objective"
                return
            w, primal, new_gradient = found
            pairs.add(w - self.model.w, new_gradient - gradient)
            self.model.w[:], gradient = w, new_gradient
            self.n_updates += 1
            if end_epoch():
                return

    def _slope(self, w, gradient):
        """Return the subgradient of P of least norm."""
        l1 = self.threshold * np.sign(w)
        at_zero = np.clip(-gradient, -self.threshold, self.threshold)
        return gradient + np.where(w == 0.0, at_zero, l1)

    def _search(self, primal, slope, direction, step):
        """Return weights with a lower objective, their P and gradient, or None."""
        old = self.model.w
        orthant = np.where(old == 0.0, -np.sign(slope), np.sign(old))
        for _ in range(MAX_HALVINGS):
            w = old + step * direction
            w[w * orthant <= 0.0] = 0.0
            value, gradient = self._count(w)
            if value <= primal + SUFFICIENT * inner(slope, w - old):
                return w, value, gradient
            step *= 0.5
        return None

    def targets_changed(self):
        """Forget the last evaluation, and the lower bound."""
        super().targets_changed()
        self._lower_bound = LowerBound()


class CurvaturePairs:
    """The last ``count`` changes of weights and gradient: an approximate Hessian."""

    def __init__(self, n_weights):
        self.changes = np.empty((N_PAIRS, 2, n_weights))
        self.products = np.empty(N_PAIRS)
        self.count = 0

    def add(self, step, rise):
        """Take a pair, in the place of the oldest; none of negative curvature."""
        product = inner(step, rise)
        if product > np.finfo(float).eps * inner(rise, rise):
            place = self.count % N_PAIRS
            self.changes[place] = step, rise
            self.products[place] = product
            self.count += 1

    def times(self, vector):
        """Overwrite a vector by its product with the inverse Hessian; return it."""
        newest = range(self.count - 1, max(self.count - N_PAIRS, 0) - 1, -1)
        places = [i % N_PAIRS for i in newest]
        shares = []
        for place in places:
            step, rise = self.changes[place]
            shares.append(inner(step, vector) / self.products[place])
            vector -= shares[-1] * rise
        if places:
            rise = self.changes[places[0], 1]
            vector *= self.products[places[0]] / inner(rise, rise)
        for place, share in zip(reversed(places), reversed(shares), strict=True):
            step, rise = self.changes[place]
            vector += (share - inner(rise, vector) / self.products[place]) * step
        return vector
