"""Online exponentiated gradient [Collins08]: its state, and its first point."""

import numpy as np

from skcrf_sdca._kernels.visits._oeg import OEGKernel
from skcrf_sdca.objective.problem import largest
from skcrf_sdca.solvers.base import check_memory, potentials_of
from skcrf_sdca.solvers.natural import FromNaturalParameters

# Halvings of the step that one visit may make, in the first epoch and later.
FIRST_HALVINGS, LATER_HALVINGS = 2, 5

# The natural parameters in the state of a warm start.
KEYS = ("theta_local", "theta_tied")


class OEG(FromNaturalParameters):
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
        self.take(self.theta)

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

    def _first_parameters(self, state):
        problem = self.problem
        if state is not None:
            return potentials_of(state, KEYS, problem)
        return problem.targets.natural_parameters(problem.structure, self.init_score)

    def natural_parameters(self):
        """Return theta, to write natural parameters to."""
        return self.theta

    def take(self, theta):
        """Take the expectations and entropies of theta, which is kept, and move w."""
        self.visitors[0].marginalise()
        self._set_point(self.renormalize())

    def take_targets(self):
        """Take natural parameters that exceed the others at the targets."""
        for values, new in zip(self.theta, self._first_parameters(None), strict=True):
            values[:] = new
        self.take(self.theta)

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
