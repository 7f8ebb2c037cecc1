"""Cutting planes: a tighter certificate for full passes, by a mix of dual points.

Each full pass at w_j gives the dual point p(. | w_j), with v_j = w_hat(p(. | w_j)), and
a cutting plane below the mean loss L, with the slope -alpha v_j. The entropy is
concave, so that for all shares s_j >= 0 with the sum 1

    P(w) - D(sum_j s_j p(. | w_j)) <= sum_j s_j e_j + alpha/2 ||w - sum_j s_j v_j||^2,
    e_j = L(w) - L(w_j) + alpha <v_j, w - w_j> >= 0,

with e_j the distance of L(w) to the plane of w_j. One dual point alone has the gap
||grad P||^2 / (2 alpha), alpha (w - v_j) = grad P(w_j): the gradients of a quasi-Newton
method oscillate along directions of large curvature, and cancel in a mix. This is the
lower bound of bundle methods [Teo10, sec. 2.2].

[Teo10] Teo, Vishwanathan, Smola, Le, "Bundle methods for regularized risk
minimization", JMLR 2010.
"""

import numpy as np

from skcrf_sdca._kernels.math._vecmath import dense_scores, inner
from skcrf_sdca._kernels.visits._planes import best_mix

# Cutting planes that are kept; and the rounding of a sum, relative to its terms.
N_PLANES = 20
ROUNDING = 8.0 * np.finfo(float).eps


class CuttingPlanes:
    """The last dual points of a primal method on an Objective with the penalty L2."""

    def __init__(self, problem):
        self.problem = problem
        self.forget()

    def forget(self):
        """Forget all planes: the problem is another one."""
        size = self.problem.new_parameters().w.size
        self.points = np.zeros((N_PLANES, size))
        # L(w_j) + alpha <v_j, w_j>, the height of the plane at w = 0.
        self.heights = np.zeros(N_PLANES)
        self.roundings = np.zeros(N_PLANES)
        self.n_seen = 0

    def add(self, w, gradient, certificate):
        """Add the plane of a full pass at w, with its gradient and certificate."""
        problem, place = self.problem, self.n_seen % N_PLANES
        strength, scale = problem.strength, problem.loss.scale
        v = w - gradient / (scale * strength)
        loss = problem.mean_loss_at(w, certificate.primal)
        self.points[place] = v
        self.roundings[place] = certificate.dual_rounding / scale
        self.heights[place] = loss + strength * inner(v, w)
        self.n_seen += 1

    def certificate(self, w, alone):
        """Return the Certificate of w by the best mix, or by its own dual point.

        The last plane is the plane of w, and ``alone`` its certificate by p(. | x; w).
        """
        problem, m = self.problem, min(self.n_seen, N_PLANES)
        if m < 2:
            return alone
        strength, scale = problem.strength, problem.loss.scale
        loss = problem.mean_loss_at(w, alone.primal)
        slopes = np.array([inner(v, w) for v in self.points[:m]]) * strength
        heights = self.heights[:m]
        distances = np.maximum(loss + slopes - heights, 0.0)
        distances += ROUNDING * (abs(loss) + abs(slopes) + abs(heights))
        distances += self.roundings[:m]
        last = (self.n_seen - 1) % N_PLANES
        distances[last] = 0.0
        residuals = w - self.points[:m]
        gram = np.zeros((m, m))
        dense_scores(residuals, np.ascontiguousarray(residuals.T), gram)
        mix = np.zeros(m)
        mix[last] = 1.0
        gap = scale * best_mix(gram, distances, strength, mix)
        if not gap < alone.gap:
            return alone
        return problem.certificate(alone.primal, alone.primal - gap, gap)
