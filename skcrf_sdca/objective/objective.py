"""The training objective: THE formulas, with their scaling, once.

n sequences with weights c_i that sum to 1 (1/n each unless sample weights are given),
a loss L_i (losses.py), a penalty r (penalties.py), and a model with weights w:

    P(w)      = alpha r(w) + sum_i c_i L_i(w)                                minimised
    D(mu)     = sum_i c_i ( tau H(mu_i) + <cost_i, mu_i> ) - alpha r*(v)     maximised
    v         = w_hat(mu) = 1/alpha sum_i c_i ( F_i(target_i) - E_{mu_i} F_i )
    w         = grad r*(v)

with H the entropy and F the features of a structure. For the log loss and L2 (tau = 1,
no cost, w = v) that is P = alpha/2 ||w||^2 + sum_i c_i (log Z_i - score_i(y_i)). Then

    P(w) - D(mu) = tau sum_i c_i KL(mu_i || p(. | x_i; w))   at w = grad r*(w_hat(mu)),
    P(w) - D     = alpha ( r(w) + r*(v) - <w, v> )           with v = w_hat(p(. | w)),

and both certificates bound P(w) - min P from above [LePriol18, sec. 3]. The data may
be in one place (problem.py) or in many: a subclass only sums over it.

A structure may have fixed scores (`FixedScores`), which are part of score_i for every
w. Then D has sum_i c_i <fixed_i, mu_i - target_i> besides, which is linear in mu and 0
for the targets, as v is: everything here holds with it.

Where r has little curvature or none, r*(v) is huge or infinite. Then mu is mixed with
the targets, mu_t = t mu + (1 - t) target, 0 <= t <= 1: v is linear and the entropy is
concave in mu, so that D(mu_t) >= t E - alpha r*(t v), E the mean of H + <cost, mu>. For
every w and every mu, with L the mean loss at w and tau = 1,

    P(w) - D(mu_t) <= alpha ( r(w) + r*(t v) - t <w, v> )
                      + t sum_i c_i KL(mu_i || p(. | x_i; w)) + (1 - t) L,

three terms that are not negative. At t = 1 the first is 0 for w = grad r*(v) and the
second for mu = p(. | w): these are the two certificates above. For tau = 0 the gaps
below take the place of KL.

Solvers work on the problem of temperature 1 that losses.py derives: their weights are
w / tau, and ``alpha tau`` is their strength of regularisation. At tau = 0, the maximum
in the place of log Z, they work on the problem itself [LacosteJulien13]: D has no
entropy, and at w = grad r*(w_hat(mu))

    P(w) - D(mu) = sum_i c_i ( max_y s_i(y) - <mu_i, s_i> ),    s_i = scores_i + cost_i.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np

from skcrf_sdca._utils.words import words
from skcrf_sdca.objective.losses import LOG_LOSS
from skcrf_sdca.objective.penalties import L2, best_mix, mixed_gap
from skcrf_sdca.objective.weight_parts import inner_of_parts


def not_finite():
    """Return what to raise where the objective overflows."""
    return ValueError(
        "the objective is not finite: scale the features in X, or take a larger "
        f"{words().alpha}"
    )


EPS = np.finfo(float).eps
# Rounding of a mean of features, relative to the mean of their size.
ROUNDING = 8.0 * EPS


@dataclass(frozen=True)
class Certificate:
    """How far from the optimum: primal - optimum <= gap = primal - dual.

    Attributes
    ----------
    primal, dual, gap : float
        In nats, averaged over sequences.
    rounding : float, default=0.0
        Part of the gap that bounds its rounding error; no smaller gap can be certified.
    dual_rounding : float, default=0.0
        Where the dual is certified by expectations under w: a bound on its rounding
        error, by which it has been lowered. Large weights make it large.
    """

    primal: float
    dual: float
    gap: float
    rounding: float = 0.0
    dual_rounding: float = 0.0


class LowerBound:
    """The largest lower bound of min P that a fit has found.

    D(mu) <= min P holds for every mu, so that a dual objective certifies the weights of
    all later epochs. Its rounding error depends on its own weights: ``value``, the
    largest dual objective, is lowered by a bound on that error, ``rounding``.
    """

    def __init__(self):
        self.value = -np.inf
        self.rounding = 0.0

    def add(self, dual, rounding):
        """Take a dual objective that has been lowered by a bound on its rounding."""
        if dual > self.value:
            self.value, self.rounding = float(dual), float(rounding)

    def gap(self, primal):
        """Return the gap to a primal objective, without the rounding of the dual."""
        return primal - self.value - self.rounding


class Objective(ABC):
    """P, D and both certificates, given sums over the data.

    Parameters
    ----------
    alpha : float
        Strength of the regularisation, > 0.
    loss : Loss, default=LOG_LOSS
    penalty : Penalty, default=L2()

    Attributes
    ----------
    strength : float
        alpha tau, or alpha if tau = 0: the strength in the problem that solvers see.
    n_sequences : int
    mean_length, mean_squared_length : float
        sum_i c_i T_i and sum_i c_i T_i^2.
    mean_size, mean_squared_size : float
        sum_i c_i N_i and sum_i c_i N_i^2, N_i = sum_t (||x_t|| + 2) a bound on the norm
        of the features of a labelling of sequence i.
    initial_primal : float
        P(0).
    excess : float
        Of the last `expected_point`: the mean of log Z - <mu, scores> - H(mu). It is 0
        where inference is exact, and belongs to the gap where log Z is an upper bound.
    """

    n_sequences: int
    mean_length: float
    mean_squared_length: float
    mean_size: float
    mean_squared_size: float
    initial_primal: float
    excess = 0.0

    def __init__(self, alpha, *, loss=LOG_LOSS, penalty=None):
        self.alpha = alpha
        self.loss = loss
        self.penalty = L2() if penalty is None else penalty
        self.strength = alpha * loss.scale

    @abstractmethod
    def new_parameters(self, w=None):
        """Return parameters with the flat vector `w`, by default of zeros."""

    @abstractmethod
    def expected_point(self, w):
        """Return w_hat(p(. | x; w)), the mean loss at w, and the largest potential."""

    def curvature(self, w=None):
        """Return the curvature of P at w or 0, or None; see `Structure.curvature`."""
        return None

    def regularised(self, w, loss):
        """Return strength r(w) + loss: P(w) over the scale of the loss."""
        return self.strength * self.penalty.value(w) + loss

    def primal(self, w, loss):
        """Return P(w), given the mean of log Z_i - score_i(target_i)."""
        return self.loss.scale * self.regularised(w, loss)

    def mean_loss_at(self, w, primal):
        """Return the mean loss at w, given P(w)."""
        return primal / self.loss.scale - self.strength * self.penalty.value(w)

    def dual(self, v, entropy):
        """Return D(mu), given w_hat(mu) and what `Problem.mean_entropy` returns."""
        return self.dual_of(self.penalty.conjugate(v), entropy)

    def dual_of(self, conjugate, entropy):
        """Return D(mu), given r* of w_hat(mu), and the entropy as `dual` takes it."""
        return self.loss.scale * (entropy - self.strength * conjugate)

    # The potentials of a position are at most 2 S, S the largest: scores of sequence i,
    # and logarithms of its marginals, have an error of at most EPS 2 S T_i.
    def primal_rounding(self, primal, largest):
        """Return a bound on the rounding of P(w); ``largest`` is S at w."""
        of_scores = 2.0 * EPS * largest * self.mean_length
        return self.loss.scale * of_scores + ROUNDING * abs(primal)

    # By such marginals strength v has an error of at most
    #     e = sum_i c_i N_i (ROUNDING + EPS 2 S T_i),    2 T_i <= N_i,
    # and P - D, of slope strength ||w - grad r*(v)|| in v, one of e ||w - grad r*(v)||.
    # Without curvature the slope is strength w: expected scores have the error.
    def gap_rounding(self, gap, distance, largest):
        """Return a bound on the rounding of P(w) - D(mu).

        ``distance`` is ||w - grad r*(v)||, None if unknown, and ``largest`` is S at w.
        """
        if distance is not None:
            of_point = ROUNDING * self.mean_size
            of_point += EPS * largest * self.mean_squared_size
            of_point *= distance
        else:
            of_point = 2.0 * ROUNDING * largest * self.mean_length
            of_point += 4.0 * EPS * largest**2 * self.mean_squared_length
        return self.loss.scale * of_point + ROUNDING * abs(gap)

    def _distance(self, penalty_gap):
        """Return sqrt(2 / c (r(w) + r*(v) - <w, v>)), or None without curvature c.

        It is at least ||w - grad r*(v)||.
        """
        curvature = self.penalty.curvature
        return np.sqrt(2.0 * penalty_gap / curvature) if curvature else None

    def certificate(self, primal, dual, gap=None, rounding=0.0, dual_rounding=0.0):
        """Return the Certificate of two objectives.

        ``gap`` is their difference where it was computed with more digits, and
        ``rounding`` a bound on its error, which is added. A negative gap, which exact
        arithmetic does not know, is all rounding: its size is claimed. The dual has
        been lowered by ``dual_rounding``.
        """
        primal = float(primal)
        if self.initial_primal == 0.0:
            # Every sequence has a single labelling, or nothing is a hinge's cost: 0 is
            # the optimum, but for the rounding of scores that cancel.
            gap = primal if primal > ROUNDING * self.mean_length else 0.0
            return Certificate(primal=primal, dual=primal - gap, gap=gap)
        gap = primal - dual if gap is None else gap
        claimed = float(abs(gap) + rounding)
        dual = float(min(dual, primal - claimed))
        return Certificate(primal, dual, claimed, float(rounding), float(dual_rounding))

    def certify_below(self, primal, lower_bound, rounding=0.0):
        """Return the Certificate of P(w) and of a `LowerBound` of min P.

        ``rounding`` bounds the rounding of P(w).
        """
        gap, rounding = lower_bound.gap(primal), rounding + lower_bound.rounding
        return self.certificate(primal, lower_bound.value, gap, rounding)

    def certify_primal(self, w):
        """Return grad P(w), without the l1 norm, and a Certificate by p(. | x; w)."""
        v, loss, largest = self.expected_point(w)
        scale = self.loss.scale * self.strength
        if "gradient" not in self.penalty.offers:
            certificate = self.certify_pair(w, v, loss, largest, self.excess)
            gradient = np.subtract(self.penalty.curvature * w, v, out=v)
            gradient *= scale
            return gradient, certificate
        primal = self.primal(w, loss)
        if "curvature" not in self.penalty.offers:
            distance = np.linalg.norm(w - self.penalty.primal_point(v))
        # In place: these vectors are long.
        gradient = v
        penalty_gap = self.penalty.gap(w, v, out=gradient)
        if "curvature" in self.penalty.offers:
            distance = self._distance(penalty_gap)
        gap = scale * penalty_gap + self.loss.scale * self.excess
        gradient *= scale
        return gradient, self._certificate_by_gap(primal, gap, distance, largest)

    def certify_pair(self, w, v, loss, largest, divergence=0.0, rounding=0.0):
        """Return the Certificate of any w and any mu, mixed with the targets.

        v is w_hat(mu), an array or its DualParts; ``loss``, ``largest``, ``divergence``
        and ``rounding`` are as `Problem.compare` returns them.
        """
        strength, penalty = self.strength, self.penalty
        entropy = loss + strength * inner_of_parts(w, v) - divergence
        mix, _ = best_mix(penalty, v, entropy / strength)
        penalty_gap = mixed_gap(penalty, w, v, mix)
        gap = strength * penalty_gap + mix * divergence + (1.0 - mix) * loss
        gap *= self.loss.scale
        primal = self.primal(w, loss)
        distance = self._distance(penalty_gap)
        return self._certificate_by_gap(primal, gap, distance, largest, rounding)

    def _certificate_by_gap(self, primal, gap, distance, largest, rounding=0.0):
        """Return the Certificate of P(w) and of a gap to the dual.

        ``distance`` and ``largest`` are as for `gap_rounding`; ``rounding`` is added to
        its result. The dual is lowered by the rounding of the gap, and of P(w).
        """
        of_gap = self.gap_rounding(gap, distance, largest)
        of_dual = of_gap + self.primal_rounding(primal, largest)
        dual = primal - gap - of_dual
        return self.certificate(primal, dual, gap, rounding + of_gap, of_dual)

    def solution(self, w):
        """Return the parameters of the model, given the weights of a solver."""
        scale = self.loss.scale
        return self.new_parameters(w if scale == 1.0 else scale * w)
