"""Online exponentiated gradient [Collins08]: its state, and its first point."""

import numpy as np
from scipy.optimize import minimize_scalar

from skcrf_sdca._kernels.visits._oeg import OEGKernel
from skcrf_sdca._utils.parallel import over_ranges
from skcrf_sdca.objective.problem import largest
from skcrf_sdca.solvers.base import check_memory, potentials_of
from skcrf_sdca.solvers.dual import DualSolver

# Halvings of the step that one visit may make, in the first epoch and later.
FIRST_HALVINGS, LATER_HALVINGS = 2, 5

# Tolerance of the 1-D search for how much of the targets' natural parameters a start
# from weights adds.
SHARE_TOL = 0.3

# The natural parameters in the state of a warm start.
KEYS = ("theta_local", "theta_tied")


class OEG(DualSolver):
    """OEG with the step sizes of [Schmidt15, footnote 9], and adaptive sampling.

    The first epoch visits every sequence once, in random order. The options are
    parameters of `OEGCRF`. The Potentials ``theta`` are the natural parameters of mu.
    """

    # Natural parameters in single precision, and marginals in double.
    bytes_of_potential = 12

    def __init__(
        self,
        problem,
        rng,
        *,
        sampling="gap",
        sampling_mix=0.8,
        step_init=0.7,
        init_score=14.0,
        state=None,
    ):
        super().__init__(problem, rng)
        check_memory(self, "the dual variables of OEGCRF")
        self.init_score = init_score
        self.theta = self._first_parameters(state)
        self._unvisited = rng.permutation(problem.n_sequences)
        self.marginals = problem.structure.zero_potentials(np.float64)
        self.steps = np.full(problem.n_sequences, step_init)
        self._make_visitors(sampling, sampling_mix)
        self.visitors[0].marginalise()
        self._set_point(self.renormalize())

    def new_visitor(self, features, weights, sampler):
        """Return a visitor that moves weights, for one thread."""
        return OEGKernel(
            *self.arguments_of_visitor(self.problem.kernel(weights, features), sampler),
            theta=self.theta,
            expected=self.marginals,
            entropy=self.entropy,
            step=self.steps,
        )

    def largest_parameter(self):
        """Return the largest absolute value in theta."""
        return largest(*self.theta)

    def start_at(self, w):
        """Start from the scores of w, and the share of the targets of largest dual.

        w_hat(p(. | x; w)) = w holds at the optimum only.
        """
        problem, own = self.problem, self._scores_of(w)
        more = problem.targets.natural_parameters(problem.structure, 1.0)

        def set_point(share):
            for values, score, target in zip(self.theta, own, more, strict=True):
                np.multiply(target, np.float32(share), out=values)
                values += score
            self.visitors[0].marginalise()
            self._set_point(self.renormalize())

        def negative_dual(share):
            set_point(share)
            return -self._dual_now()

        options = {"xatol": SHARE_TOL}
        bounds = 0.0, self.init_score
        found = minimize_scalar(negative_dual, bounds=bounds, options=options)
        # Near the optimum any share is too large.
        set_point(found.x if found.fun < negative_dual(0.0) else 0.0)

    def _scores_of(self, w):
        """Return the scores of weights as natural parameters."""
        problem = self.problem
        parameters = problem.new_parameters(w)
        theta = problem.structure.zero_potentials(np.float32)

        def fill(begin, end):
            first, last = problem.offsets[[begin, end]]
            scores = problem.scores(parameters, begin, end)
            theta.local[first:last], theta.tied[begin:end] = scores.local, scores.tied

        over_ranges(fill, problem.offsets, problem.n_jobs)
        return theta

    def targets_changed(self):
        """Start again near the new targets, unless the dual is larger at mu."""
        super().targets_changed()
        problem = self.problem
        of_targets = problem.loss.scale * problem.mean(problem.targets.entropy)
        if self._dual_now() < of_targets:
            first = self._first_parameters(None)
            for values, new in zip(self.theta, first, strict=True):
                values[:] = new
            self.visitors[0].marginalise()
            self._set_point(self.renormalize())

    def _dual_now(self):
        problem, v = self.problem, self.v
        entropy = problem.mean_entropy(self.entropy, self.marginals.local, v)
        return problem.dual(v, entropy)

    def _first_parameters(self, state):
        structure, targets = self.problem.structure, self.problem.targets
        if state is not None:
            return potentials_of(state, KEYS, self.problem)
        return targets.natural_parameters(structure, self.init_score)

    def epoch(self):
        """Visit each sequence once in the first epoch, then as the sampler draws."""
        self.visit(self.problem.n_sequences)

    def visit(self, n_visits):
        """Visit the sequences that had no visit yet, then as the sampler draws."""
        first, self._unvisited = np.split(self._unvisited, [n_visits])
        n_later = n_visits - len(first)
        if len(first):
            self._allow_halvings(FIRST_HALVINGS)
            self.kernel.epoch_in_order(first)
        if n_later:
            self._allow_halvings(LATER_HALVINGS)
            self.kernel.epoch(self.rng.random((n_later, 2)))
        self._count(n_visits)

    def _allow_halvings(self, number):
        for visitor in self.visitors:
            visitor.max_halvings = number

    def state(self):
        """Return the natural parameters."""
        return {
            **dict(zip(KEYS, self.theta, strict=True)),
            "offsets": self.problem.offsets,
        }
