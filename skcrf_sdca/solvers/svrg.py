"""Methods of stochastic gradient that come back to all data: SVRG and Hybrid."""

from typing import ClassVar

import numpy as np

from skcrf_sdca._kernels.math._vecmath import inner
from skcrf_sdca._kernels.visits._sgd import BatchKernel, SVRGKernel
from skcrf_sdca._kernels.visits._steps import SVRGSteps
from skcrf_sdca._utils.memory import check_fits
from skcrf_sdca.solvers.owlqn import MAX_HALVINGS, N_VECTORS, SUFFICIENT, CurvaturePairs
from skcrf_sdca.solvers.samplers import SAMPLING_SCHEMES
from skcrf_sdca.solvers.sgd import SGD

# The size of the first batch, and the growth of batches in [Friedlander12].
FIRST_BATCH = 10
BATCH_GROWTH = 1.1
TINY = np.finfo(float).tiny
# Largest relative rise of the objective that counts as rounding.
ROUNDING = 1e-12


class SVRG(SGD):
    """SVRG: the weights at the end of an epoch are the anchor of the next one.

    The first epoch is one of stochastic gradient, which finds the first anchor. Where
    the objective has risen in an epoch, the weights go back to the anchor, and the step
    is halved.
    """

    learning_rates = ("constant",)
    averages = (False,)
    streams = False
    needs: ClassVar[frozenset[str]] = SGD.needs | {"log sum"}
    anchor = None

    def visit(self, order):
        """Visit the sequences, and move the anchor if the objective has not risen."""
        if self.first_step == 0 and self.anchor is None:
            super().visit(order)
            self.move_anchor(*self.evaluated())
            return
        if self.found is None:
            self.move_anchor(*self.evaluated())
        super().visit(order)
        gradient, found = self.evaluated()
        if found.primal <= self.found.primal + ROUNDING * abs(self.found.primal):
            self.move_anchor(gradient, found)
        else:
            self.current.w[:] = self.anchor.w
            self.kernel.eta0 *= 0.5

    def anchored_kernel(self):
        """Return the kernel of visits around the anchor."""
        problem, w = self.problem, self.current.w
        self.anchor = problem.new_parameters(w.copy())
        self.drift = np.zeros_like(w)
        steps = self.steps_of(w, self.eta0, SVRGSteps, drift=self.drift)
        steps.count = self.kernel.count
        anchor = problem.kernel(self.anchor.weights(), self.features)
        return self.kernel_of(steps, SVRGKernel, anchor=anchor)

    def evaluated(self):
        """Return the gradient and the certificate of the weights."""
        self.calls += self.problem.n_sequences
        return self.problem.certify_primal(self.current.w)

    def move_anchor(self, gradient, found):
        """Make the weights the anchor; keep their gradient and certificate."""
        problem, w = self.problem, self.current.w
        if self.anchor is None:
            self.calls += self.kernel.n_oracle_calls
            self.kernel = self.anchored_kernel()
        self.anchor.w[:], self.found = w, found
        np.divide(gradient, problem.loss.scale, out=self.drift)
        self.drift -= problem.strength * problem.penalty.curvature * w

    def certificate_of(self, w):
        """Return the certificate of the anchor, which equals the weights."""
        if self.found is None:
            return super().certificate_of(w)
        return self.found


class Hybrid(SGD):
    """L-BFGS on random batches that grow, from a few sequences to all.

    A step is searched by halving on the objective of its batch.
    """

    learning_rates = ("constant",)
    averages = (False,)
    fixed_eta0 = True
    streams = False
    needs: ClassVar[frozenset[str]] = frozenset(
        {"expect", "visit", "log sum", "identity"}
    )

    def __init__(self, problem, rng, *, state=None, **options):
        super().__init__(problem, rng, state=state, **options)
        check_fits(
            8 * N_VECTORS * self.current.w.size,
            f"the last steps of SGDCRF, of {self.current.w.size} weights each,",
            'method="svrg" keeps none; or take fewer features',
        )
        self.curvature_pairs = CurvaturePairs(self.current.w.size)
        # Weights of an earlier run are too good for steps on small batches.
        self.size = FIRST_BATCH if state is None else problem.n_sequences
        self.n_to_visit = 0

    def begin(self):
        """Make the kernel."""
        problem = self.problem
        self.batch_gradient = problem.new_parameters()
        self.kernel = BatchKernel(
            problem.kernel(self.current.weights(), self.features),
            problem.offsets,
            problem.feature_scale,
            SAMPLING_SCHEMES["uniform"].make(problem, 0.0),
            strength=problem.strength,
            gradient_sum=self.batch_gradient.weights(),
        )

    def epoch(self):
        """Make steps on batches of n sequences together."""
        if self.kernel is None:
            self.begin()
        n = self.problem.n_sequences
        self.n_to_visit += n
        while self.n_to_visit > 0:
            batch = self.rng.permutation(n)[: self.size]
            self.step(batch)
            self.n_updates += 1
            self.n_to_visit -= len(batch)
            self.size = min(int(BATCH_GROWTH * self.size) + 1, n)

    def step(self, batch):
        """Make a step of L-BFGS on a batch, if one lowers its objective."""
        w = self.current.w
        start = w.copy()
        value, gradient = self.found or self.of_batch(batch)
        direction = self.curvature_pairs.times(-gradient)
        slope = inner(gradient, direction)
        length = 1.0 if self.curvature_pairs.count else 1.0 / max(np.sqrt(-slope), TINY)
        for _ in range(MAX_HALVINGS):
            w[:] = start + length * direction
            new_value, new_gradient = self.of_batch(batch)
            if new_value <= value + SUFFICIENT * length * slope:
                self.curvature_pairs.add(w - start, new_gradient - gradient)
                # All sequences are the next batch too.
                if len(batch) == self.problem.n_sequences:
                    self.found = new_value, new_gradient
                return
            length *= 0.5
        w[:] = start

    def of_batch(self, batch):
        """Return the mean objective of a batch, and its gradient."""
        strength, w = self.problem.strength, self.current.w
        self.batch_gradient.w[:] = self.kernel.loss_sum = 0.0
        self.kernel.epoch_in_order(batch)
        value = self.problem.regularised(w, self.kernel.loss_sum / len(batch))
        return value, strength * w + self.batch_gradient.w / len(batch)

    def state(self):
        """Return the state of `SGD`: the weights, and no visits."""
        return {
            "w": self.current.w,
            "total": None,
            "n_visits": 0,
            "first_counted": 0,
            "method": self.method,
            "eta0": self.eta0,
        }
