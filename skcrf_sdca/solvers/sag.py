"""Stochastic average gradient [Schmidt15]: its state, and its first point."""

from typing import ClassVar

import numpy as np

from skcrf_sdca._kernels._lipschitz import LipschitzConstants
from skcrf_sdca._kernels._sag import SAGKernel
from skcrf_sdca._utils.memory import check_fits
from skcrf_sdca.solvers.base import (
    EpochSolver,
    check_same_sequences,
    first_model,
    moving_weights,
)
from skcrf_sdca.solvers.samplers import SAMPLING_SCHEMES
from skcrf_sdca.structures.structure import Potentials

# A visit of SAG-NUS multiplies the constant of its sequence by this before it searches.
OWN_DECAY = 0.9
# After an epoch in which the objective has risen, the steps are divided by the first
# factor; after any other by the second, until they have their full length again.
SHORTER, LONGER = 2.0, 0.7
# What the objective may rise by for its rounding.
ROUNDING = 1e-12


class SAG(EpochSolver):
    """SAG with one Lipschitz constant, SAG-NUS with one for each sequence, or SAGA.

    Parameters
    ----------
    problem : Problem
    rng : numpy.random.Generator
    sampling, sampling_mix, line_search_skipping, saga
        The parameters of `SAGNUSCRF`.
    state : dict, default=None
        `state()` of an earlier run on the same sequences, to start from.
    """

    needs: ClassVar[frozenset[str]] = frozenset(
        {"expect", "visit", "smooth loss", "curvature", "threshold"}
    )

    def __init__(
        self,
        problem,
        rng,
        *,
        sampling="lipschitz",
        sampling_mix=0.5,
        line_search_skipping=True,
        saga=False,
        state=None,
    ):
        self.problem = problem
        self.rng = rng
        self.last_primal = np.inf
        self._check_memory()
        own = sampling == "lipschitz"
        self._set_state(state, problem.n_sequences if own else 1)
        self.constants = LipschitzConstants(
            self.lipschitz,
            self.visited,
            own=own,
            decay=OWN_DECAY if own else 2.0 ** (-1.0 / problem.n_sequences),
            skipping=line_search_skipping,
        )
        sampler = SAMPLING_SCHEMES[sampling].make(problem, sampling_mix)
        for i in np.flatnonzero(self.visited) if own else ():
            sampler.set_value(i, self.lipschitz[i])
        self.kernel = self._new_kernel(sampler, saga)

    def _new_kernel(self, sampler, saga):
        problem = self.problem
        self.target = problem.new_parameters()
        self.targets_changed()
        features = problem.structure.distinct_features()
        self.weights = moving_weights(self.model, self.dual_point, problem.penalty)
        self.weights.refresh()
        return SAGKernel(
            problem.kernel(self.weights, features),
            problem.offsets,
            problem.scale,
            sampler,
            target=self.target.weights(),
            constants=self.constants,
            alpha=problem.strength,
            curvature=problem.penalty.curvature,
            expected=self.marginals,
            saga=saga,
        )

    def _check_memory(self):
        n, n_labels = self.problem.n_sequences, self.problem.structure.n_labels
        # The marginals of the last visits, and those they begin with.
        check_fits(
            16 * self.problem.structure.n_potentials,
            f"the gradients of SAGNUSCRF, {n} sequences with {n_labels} labels,",
            "LBFGSCRF keeps none; or join labels that are rare",
        )

    def _set_state(self, state, n_constants):
        """Set weights, expectations and constants: of a state, or the first ones."""
        if state is None:
            state = self._first_state(n_constants)
        local, tied = self.problem.structure.potential_axes
        axes = {"local": local, "tied": tied, "visited": "n"}
        check_same_sequences(state, axes, self.problem)
        self.marginals = Potentials(state["local"].copy(), state["tied"].copy())
        self.visited = state["visited"].copy()
        self.lipschitz = state["lipschitz"].copy()
        _check_constants(self.lipschitz, self.problem.n_sequences)
        if len(self.lipschitz) != n_constants:
            self.lipschitz = np.full(n_constants, self.lipschitz.mean())
        self.model = self.dual_point = first_model(self.problem, state)
        if "identity" not in self.problem.penalty.offers:
            self.model = self.problem.new_parameters()

    def _first_state(self, n_constants):
        problem = self.problem
        return {
            "w": problem.new_parameters().w,
            **problem.targets.potentials(problem.structure)._asdict(),
            "lipschitz": np.ones(n_constants),
            "visited": np.zeros(problem.n_sequences, dtype=np.uint8),
            "offsets": problem.offsets,
        }

    def start_at(self, w):
        """Start from weights: v = curvature w + threshold sign(w) gives these."""
        penalty = self.problem.penalty
        self.dual_point.w[:] = penalty.curvature * w + penalty.threshold * np.sign(w)
        self.weights.refresh()

    def targets_changed(self):
        """Compute the point that the steps pull the weights to."""
        tied_total = self.marginals.tied_total(self.problem.weight)
        self.problem.dual_to_primal(self.marginals.local, tied_total, out=self.target.w)
        self.last_primal = np.inf

    def epoch(self):
        """Make n visits, to sequences that the sampler picks."""
        n = self.problem.n_sequences
        self.kernel.epoch(self.rng.random((n, 2)))
        self.n_updates += n
        self.n_oracle_calls = self.kernel.n_oracle_calls

    def certify(self):
        """Certify the weights, and be more careful if the objective has risen.

        A search knows the curvature along the gradient of one loss. With few sequences
        the steps end up along others, where it can be larger: then they are too long,
        and the objective rises from one epoch to the next. It can also rise, however
        short the steps are, while the gradient of a sequence is an old one. So caution
        must end: or the steps would stay short for ever.
        """
        _, certificate = self.problem.certify_primal(self.model.w)
        bound = self.last_primal + ROUNDING * abs(self.last_primal)
        has_risen = certificate.primal > bound
        factor = SHORTER if has_risen else LONGER
        self.kernel.caution = max(1.0, factor * self.kernel.caution)
        self.last_primal = certificate.primal
        return certificate

    def state(self):
        """Return v, the marginals of the last visits and the constants."""
        return {
            "w": self.dual_point.w,
            **self.marginals._asdict(),
            "lipschitz": self.lipschitz,
            "visited": self.visited,
            "offsets": self.problem.offsets,
        }


def _check_constants(lipschitz, n):
    """Raise ValueError for a state without one constant, or one of each sequence."""
    if lipschitz.shape not in ((1,), (n,)) or not (lipschitz > 0).all():
        raise ValueError(
            "warm_start=True needs the Lipschitz constants of the last fit, which have "
            "been changed; set warm_start=False"
        )
