"""Proximal point iterations in a diagonal metric: fewer epochs of dual solvers.

Visits are slow where the curvature of the penalty is small beside the curvature that
frequent features give to the loss. So the solver works on a sequence of problems

    P(w) + 1/2 sum_j kappa_j (w_j - z_j)^2,    z the weights after the last epoch,

each with a warm start: mu stays, and w moves with z and kappa, see `Proximal`. One
epoch of visits is enough for each; the extrapolation of Catalyst [Lin15] needs so exact
solutions that it is slower.

At a label of probability p the log loss has a curvature of at most p (1 - p), and p
(1 - p) is at most the loss. So kappa follows the loss that is left. With L an estimate
of min P, n sequences of T positions in the mean, and F features of a position,

    kappa_j = 4 s L / n size_j max(min(1, f_j / n)^(1/4), F / (8 T)),
    s = min(1, 30 / K)^(2/3),

for a feature that f_j positions have, and 4 s L / n max(1, F / (8 T)) for all other
weights; `in_classes` in penalties.py rounds kappa_j to 256 values. L is the geometric
mean of P(w) and of the best D. K labels share the curvature: the sum over them of p (1
- p) is at most twice the loss. With s, 656 labels take 11 epochs in place of 31
(docs/many_labels.rst).

A visit to a position is short enough if sum_j x_j^2 / kappa_j is small over its
features. For the same sum, kappa_j in proportion to |x_j| has the least sum, so that
size_j is the root mean square of the values of feature j that are not 0, times the mean
of these roots over all such values. And F rare features of one position need as much
as F / 2 times the loss of a position, L / T: this is the second term of the maximum.

Where little of the penalty is L2, a large kappa keeps D low: these values are taken
times 1 - l1_ratio.

The fit corrects a kappa that is too large. The gap of w and mu is the mean of the gaps
of sequences, which visits make smaller, and the gap of the penalty, with v = w_hat(mu)
and for L2

    alpha (r(w) + r*(v) - <w, v>) = sum_j (kappa_j (z_j - w_j))^2 / (2 alpha),

which is 0 where w has come to rest. With twice kappa the second part over the first was
at least 3.8 times as large. Where kappa was best, it was 0.2 to 2.7, on short names and
handwritten words, with and without L1. So each certificate multiplies kappa by the
sixth root of the first part over the second, but by 0.7 to 1, unless the loss is the
hinge or the penalty has no L2. It never makes kappa larger: where draws are uniform,
most of a gap is of sequences, whatever kappa is.

Fewer than 128 sequences share few features, so that plain visits can be fast and P(w)
is far above min P for long. There

    1 / (4 n) max(D, 0.001 nats)

stands in the place of 4 s L / n. D is below min P and grows from 0, so that kappa is
small until the visits have shown a loss that stays. Where plain visits need few epochs,
so do these. With fewer than 10 sequences SDCA still gains, but OEG loses: they are
visited plainly unless the penalty has next to no curvature.

The curvature of the hinge is not bounded by its loss. With c the largest cost,

    15 / (n c) sqrt(L / c)

in the place of 4 s L / n was near to the best constant on names and on handwritten
words, L from 0.004 to 2; half and twice of it cost few epochs.

A move of z moves the scores of all sequences, and by the same features: their gaps grow
by little each, but together these errors can be most of the gap. The gaps that visits
recorded before do not show it: with them, D of short names fell again and again at
alpha n = 0.1. So draws follow the gaps of all sequences at once, which the full pass of
each certificate finds, and then those of visits again.

The certificate is one of P itself, with the best dual point of all epochs. Where the
certificate of an epoch waits, D is that of the entropies that visits recorded, and P(w)
is D and the estimate of the gap, see monitor.py, or at most the last certified P(w).
"""

from copy import copy

import numpy as np

from skcrf_sdca._kernels.math._vecmath import inner
from skcrf_sdca.objective.objective import LowerBound
from skcrf_sdca.objective.penalties import Proximal
from skcrf_sdca.objective.problem import ProximalProblem
from skcrf_sdca.solvers.base import OuterSolver

# Needs of solvers that the parameter `acceleration` provides.
PROVIDED = {
    None: frozenset(),
    "auto": frozenset({"curvature"}),
    "proximal_point": frozenset({"curvature"}),
}

# kappa over L / n, or for the hinge over sqrt(L) / n, and the exponent of frequencies.
FACTOR, FACTOR_OF_HINGE = 4.0, 15.0
EXPONENT = 0.25
# The loss of a position times its features, over this, is what rare features need.
FEATURES = 2.0
# More labels than so many share the curvature of a feature, but not evenly.
FEW_LABELS, EXPONENT_OF_LABELS = 30, 2.0 / 3.0
# L before the first certificate, as a share of P(0), and at least, in nats.
FIRST, LEAST = 0.003, 1e-3
# D counts as at least this share of P(w): in the first epochs it is far below min P.
LEAST_DUAL = 0.01
# The share that sequences have in a gap counts as between these, the power of its ratio
# to the rest, and the least that it can make of kappa in all. With 0.001 and the power
# 1/4, OEG took 40 epochs in place of 29 for 200 chains by three threads. With 0.8 in
# the place of 1/2, OEG took 26 in place of 17 for chunks by uniform draws and a
# certificate in each epoch, and SDCA 31 in place of 22 for sentences with dense
# features, but 47 in place of 79 for noisy messages at alpha n = 0.001.
SHARES, EXPONENT_OF_SHARES, LEAST_TIMES = (0.1, 0.5), 1.0 / 6.0, 1.0 / 32.0
# A problem is small below so many sequences, and a curvature of the penalty is little.
FEWEST, LEAST_L2 = 128, 0.5
# There kappa n over D. A penalty without curvature, and the hinge, have a constant.
FACTOR_OF_SMALL, CONSTANT = 0.25, 0.3
# The hinge of a small problem, and fewer sequences than VERY_FEW, are accelerated by
# "auto" if the curvature of n P is below LITTLE.
VERY_FEW, LITTLE = 10, 0.15


def accelerates(acceleration, problem):
    """Return whether proximal point iterations are to solve a problem."""
    if acceleration != "auto":
        return acceleration is not None
    if not _is_small(problem):
        return True
    curvature = problem.strength * problem.penalty.curvature
    if curvature < LITTLE / problem.n_sequences:
        return True
    return problem.loss.is_smooth and problem.n_weighted >= VERY_FEW


def _is_small(problem):
    """Return whether kappa is to be small, and for a smooth loss to follow D."""
    has_little_l2 = problem.penalty.curvature < LEAST_L2
    is_unbounded = has_little_l2 and not problem.loss.is_smooth
    return is_unbounded or problem.n_weighted < FEWEST


def _is_constant(problem):
    """Return whether kappa is the same in all epochs and for all weights."""
    if not problem.loss.is_smooth:
        return _is_small(problem)
    return not problem.penalty.curvature


def _factor(problem):
    """Return kappa n over the loss that kappa follows, for a smooth loss."""
    if _is_small(problem):
        return FACTOR_OF_SMALL
    share = min(1.0, FEW_LABELS / problem.structure.n_classes)
    return FACTOR * problem.penalty.curvature * share**EXPONENT_OF_LABELS


def _shape(problem):
    """Return kappa_j of features, and kappa of other weights, over `_factor` L / n."""
    square, frequency = problem.feature_sizes
    if _is_constant(problem):
        return np.ones_like(square), 1.0
    n_values, length = frequency.sum(), problem.mean_length
    size = np.sqrt(square)
    size *= (frequency @ size) / (n_values or 1.0)
    least = n_values / (FACTOR * FEATURES * length**2)
    share = np.minimum(frequency, 1.0) ** EXPONENT
    return size * np.maximum(share, least), max(1.0, least)


class ProximalPoint(OuterSolver):
    """Proximal point iterations around a dual solver, of one epoch each.

    ``solver`` is a subclass of DualSolver, called with ``options``. It solves
    ``proximal``, the problem with a `Proximal` penalty.
    """

    def __init__(self, problem, rng, *, solver, state=None, **options):
        self.problem = problem
        self.lower_bound = LowerBound()
        first = 0.0 if _is_small(problem) else FIRST
        self._loss = first * problem.initial_primal
        self._times = 1.0
        self._primal = problem.initial_primal
        shape, self._of_others = _shape(problem)
        rows = problem.structure.by_rows_of_coef(shape / self._of_others)
        penalty = Proximal(
            problem.penalty, problem.new_parameters, rows, problem.n_jobs
        )
        z, kappa = penalty.center, self._kappa()
        if state is not None and np.shape(state.get("z")) == z.shape:
            z, kappa, self._times = state["z"], state["kappa"], state.get("times", 1.0)
            if _is_small(problem):
                self._loss = state["loss"]
        penalty.move(kappa, z, np.zeros_like(z))
        self.proximal = ProximalProblem(problem, penalty)
        self.solver = solver(self.proximal, rng, state=state, **options)
        self.model = self.solver.model
        self.proximal.look = self.solver.look
        self._gap = None

    def _kappa(self):
        """Return kappa of the weights that are not of features, over the strength."""
        problem = self.problem
        if _is_constant(problem):
            kappa = CONSTANT
        elif problem.loss.is_smooth:
            kappa = _factor(problem) * max(self._loss, LEAST) / problem.loss.scale
            kappa *= self._of_others * self._times
        else:
            cost = problem.loss.cost.max() or 1.0
            kappa = FACTOR_OF_HINGE * np.sqrt(max(self._loss, LEAST) / cost) / cost
        return kappa * inner(problem.weight, problem.weight) / problem.strength

    @property
    def v(self):
        """A point of w = grad r*(v), with the penalty r of the problem."""
        w, penalty = self.model.w, self.problem.penalty
        return penalty.curvature * w + penalty.threshold * np.sign(w)

    def start_at(self, w, unseen=None):
        """Start from weights, as the other solver does."""
        self.solver.start_at(w, unseen)

    def epoch(self):
        """Move z to w, and make an epoch of visits, with the gaps before the move."""
        self._record_seen()
        self.solver.move_center(self._kappa(), self._center())
        self.solver.epoch()

    def _record_seen(self):
        """Record the gaps of the last certificate once, where w and mu are its own.

        kappa follows their share of its gap.
        """
        if self._gap is not None:
            gap = max(self._gap, np.finfo(float).tiny)
            share = np.clip(self.solver.record_seen() / gap, *SHARES)
            times = self._times * (share / (1.0 - share)) ** EXPONENT_OF_SHARES
            self._times = max(times, LEAST_TIMES)
            self._gap = None

    def _center(self):
        """Return the next z."""
        return self.model.w

    def certify(self):
        """Certify w and mu as points of the problem itself."""
        return self._certified(self.solver.certify())

    def certify_epoch(self, tol):
        """Certify at the end of an epoch, as the solver does."""
        return self._certified(self.solver.certify_epoch(tol))

    def _certified(self, found):
        """Keep the best dual point, and what kappa depends on."""
        certificate = self._certified_below(found, self.lower_bound)
        self._gap = found.primal - found.dual
        self._primal = found.primal
        self._follow(self.lower_bound.value, found.primal)
        return certificate

    def _certified_below(self, found, bound):
        """Add the dual point of a Certificate to a LowerBound; certify P(w) by it."""
        bound.add(found.dual - found.rounding, found.rounding)
        return self.problem.certify_below(found.primal, bound)

    def certify_aside(self):
        """Return a Certificate, after `wait`, that leaves the state as it is."""
        return self._certified_below(
            self.solver.certify_aside(), copy(self.lower_bound)
        )

    def recorded_gap(self):
        """Return the mean of the gaps that visits recorded, or NaN if none did."""
        return self.solver.recorded_gap()

    def recorded_dual(self):
        """Return D of the problem itself, with the entropies that visits recorded."""
        return self.solver.recorded_dual()

    def wait(self, gap, dual):
        """Follow D of the visits without a certificate; ``gap`` is an estimate."""
        self.solver.wait(gap, dual)
        dual = max(dual, self.lower_bound.value)
        # A wrong estimate lets L be no larger than a P(w) that was certified.
        self._follow(dual, min(dual + gap, self._primal))

    def _follow(self, dual, primal):
        """Set the loss that kappa follows."""
        self._loss = dual
        if not _is_small(self.problem):
            self._loss = np.sqrt(max(dual, LEAST_DUAL * primal) * primal)

    def targets_changed(self):
        """Pass on a change of the targets: mu, and so D, is another."""
        self._record_seen()
        self.proximal.targets_changed()
        self.solver.targets_changed()
        self.lower_bound = LowerBound()

    def state(self):
        """Return the state of the solver, z, kappa, and what kappa follows."""
        penalty = self.proximal.penalty
        own = {"z": penalty.center, "kappa": penalty.kappa}
        return {**self.solver.state(), **own, "loss": self._loss, "times": self._times}
