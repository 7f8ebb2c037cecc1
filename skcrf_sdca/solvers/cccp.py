"""Labels that are only partly known: a sequence of convex problems with soft labels.

The objective P(w) = alpha r(w) + sum_i c_i (log Z_i(w) - log Z_i(w; Y_i)) is a convex
function less a convex one. The concave-convex procedure, here the same as expectation
maximisation, repeats two steps. The E-step completes the labels with the current
weights w', to soft labels q_i = p(. | Y_i; w'). The M-step minimises

    Q(w; w') = alpha r(w) + sum_i c_i ( log Z_i(w) - <q_i, scores_i> - H(q_i) ),

by any solver, from its current point. As P <= Q and P(w') = Q(w'; w'), P falls with Q,
and never rises. The solver's lower bound D of min Q bounds the decrease that an M-step
could reach:

    gap = P(w') - D >= P(w') - min_w Q(w; w').

The first weights w' come from a short fit to the parts of the sequences in which every
label is known; P is lower there than after a hundred epochs from w' = 0. The run ends
when the gap is small. That certifies a stationary point of P, not a minimum: another
start may end at a lower P.
"""

import numpy as np

from skcrf_sdca.objective.objective import EPS, Certificate
from skcrf_sdca.objective.problem import Problem
from skcrf_sdca.solvers.base import Solver, first_model
from skcrf_sdca.solvers.monitor import FitMonitor

# The next E-step runs when Q has decreased by SHARE times its gap, or when it has
# decreased at all within MAX_EPOCHS.
SHARE = 0.1
MAX_EPOCHS = 10

# The fit to known labels ends at this gap, relative to P(w), or after FIRST_EPOCHS.
FIRST_TOL = 1e-2
FIRST_EPOCHS = 20


class CCCP(Solver):
    """The concave-convex procedure around a solver of the convex problems.

    The targets of the problem are PartialLabels. ``inner`` is a subclass of Solver,
    called with ``options``. ``n_completions`` counts the E-steps after the first one.
    """

    def __init__(self, problem, rng, *, inner, state=None, **options):
        self.problem = problem
        if state is None:
            self.model = problem.new_parameters(
                _fitted_to_parts(problem, inner, rng, options)
            )
        else:
            self.model = first_model(problem, state)
        self.n_completions = -1
        self._complete()
        self.inner = inner(problem, rng, state=state, **options)
        # The weights have completed the targets.
        if state is None and not self.inner.starts_at_targets:
            self.inner.start_at(self.model.w)

    def start_at(self, w, unseen=None):
        """Complete the labels with weights, and start there."""
        self.model.w[:] = w
        self._complete()
        self.n_completions = 0
        self.inner.targets_changed()
        self.inner.start_at(w, unseen)

    @property
    def certify_every(self):
        """Epochs from one certificate to the next."""
        return self.inner.certify_every

    @property
    def dual(self):
        """The inner solver, if it keeps dual variables."""
        return self.inner.dual

    @property
    def columns(self):
        """The number of the convex problem, and the columns of its solver."""
        return {"outer": self.n_completions, **self.inner.columns}

    @property
    def n_updates(self):
        """Changes of the weights so far."""
        return self.inner.n_updates

    @property
    def n_oracle_calls(self):
        """Oracle calls so far, E-steps included."""
        n = self.problem.n_sequences
        return self.inner.n_oracle_calls + n * self.n_completions

    def _complete(self):
        """Make an E-step with the model: P is Q there."""
        problem, targets = self.problem, self.problem.targets
        targets.complete(self.model)
        problem.targets_changed()
        self._constant = problem.loss.scale * problem.mean(targets.entropy)
        w = self.model.w
        loss, size = problem.evaluate(w)
        primal = problem.primal(w, loss)
        self._rounding = problem.primal_rounding(primal, size)
        self._start = primal - self._constant
        self._best = self._value = self._start
        self._inner_gap, self._n_epochs = np.inf, 0
        self.n_completions += 1

    def run(self, end_epoch):
        """Make epochs until ``end_epoch()`` returns True."""
        done = False

        def end_inner_epoch():
            nonlocal done
            self._n_epochs += 1
            done = end_epoch()
            return done or self._is_due()

        while not done:
            self.inner.run(end_inner_epoch)
            if not done and not self._is_due():
                self.message = self.inner.message
                return
            if not done:
                self._complete()
                self.inner.targets_changed()

    def _is_due(self):
        """Return whether an E-step with the best weights is due."""
        fall = self._start - self._value
        return fall > 0.0 and (
            fall >= SHARE * self._inner_gap or self._n_epochs >= MAX_EPOCHS
        )

    def certify(self):
        """Certify the decrease that the next M-step could reach."""
        return self._certified(self.inner.certify())

    def certify_epoch(self, tol):
        """Certify at the end of an epoch, as the inner solver does."""
        return self._certified(self.inner.certify_epoch(tol))

    def _certified(self, certificate):
        """Keep the best weights; return their Certificate."""
        self._value = certificate.primal - self._constant
        self._inner_gap = certificate.gap
        if self._value < self._best:
            self._best = self._value
            self.model.w[:] = self.inner.model.w
        # P may be 0 where nothing is known, and is the sum of four numbers of the size
        # of P(0): two objectives, the constant of the targets, and log Z. The start and
        # the bound on min Q have the rounding of their own weights.
        rounding = max(certificate.rounding, 4.0 * EPS * self.problem.initial_primal)
        rounding += self._rounding + certificate.dual_rounding
        # A dual solver may be above the start, where the fall is negative.
        gap = max(self._start - self._value + certificate.gap, 0.0) + rounding
        return Certificate(self._best, self._best - gap, gap, rounding)

    def state(self):
        """Return the state of the inner solver, and the weights."""
        return {**self.inner.state(), "w": self.model.w}


def _fitted_to_parts(problem, solver, rng, options):
    """Return weights fitted to the parts of sequences in which every label is known."""
    structure, labels, sequence = problem.targets.known_parts()
    weight = problem.weight[sequence]
    if not weight.sum() > 0.0:
        return problem.new_parameters().w
    parts = Problem(
        structure,
        labels,
        # The penalty counts as much beside the sum of the losses.
        problem.alpha / weight.sum(),
        sample_weight=weight,
        loss=problem.loss,
        penalty=problem.penalty,
    )
    fit = FitMonitor(
        solver(parts, rng, **options), max_iter=FIRST_EPOCHS, tol=FIRST_TOL
    )
    return fit.run().solver.model.w
