"""Stochastic average gradient [Schmidt15]: its state, and its first point.

The expectations mu that are kept, with their entropies, are a dual point. Its lower
bound costs no pass, and is tighter than the bound by p(. | x; w) until the end is near.

Where dense features are large beside the penalty, the steps are preconditioned, with
w = S u: the directions of largest curvature set the Lipschitz constants, and directions
of less curvature would need more steps in proportion. Visits see the features S^T x;
certificates are of w. One thread makes these visits: a direction has a rate of its own,
so that a worker could not catch up with the moves of the others by a single factor.
"""

from functools import partial
from typing import ClassVar

import numpy as np

from skcrf_sdca._kernels.visits._lipschitz import LipschitzConstants
from skcrf_sdca._kernels.visits._sag import SAGKernel
from skcrf_sdca._kernels.visits._sag_rounds import SAGWorker
from skcrf_sdca.solvers.base import (
    FAR,
    LARGE,
    EpochSolver,
    check_memory,
    check_same_sequences,
    first_model,
    moving_weights,
)
from skcrf_sdca.solvers.parallel import make_parallel_sag, n_workers
from skcrf_sdca.solvers.samplers import SAMPLING_SCHEMES
from skcrf_sdca.structures.structure import Potentials

# A visit of SAG-NUS multiplies the constant of its sequence by this before it searches.
OWN_DECAY = 0.9
# After an epoch in which the objective has risen, the steps are divided by the first
# factor; after any other by the second, until they have their full length again.
SHORTER, LONGER = 2.0, 0.7
# Largest relative rise of the objective that counts as rounding.
ROUNDING = 1e-12


class SAG(EpochSolver):
    """SAG with one Lipschitz constant, SAG-NUS with one for each sequence, or SAGA.

    The options are parameters of `SAGNUSCRF`.

    Attributes
    ----------
    whitening : Whitening or None
        The preconditioner of the steps.
    target : Parameters
        w_hat(mu) in preconditioned coordinates.
    entropy : ndarray of shape (n,)
        H(mu_i).
    is_near : bool
        Whether a gap was so small that its rounding matters.
    """

    # The marginals of the last visits, and the first marginals.
    bytes_of_potential = 16
    needs: ClassVar[frozenset[str]] = frozenset(
        {"expect", "visit", "log sum", "curvature", "threshold"}
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
        self.is_near = False
        check_memory(self, "the gradients of SAG")
        # The steps of SAGA have no rate for each row.
        self.whitening = None if saga else self._whitening()
        self.own = sampling == "lipschitz"
        self._set_state(state, problem.n_sequences if self.own else 1)
        self.skipping, self.saga = line_search_skipping, saga
        self.new_sampler = partial(
            SAMPLING_SCHEMES[sampling].make, problem, sampling_mix
        )
        self.shards = []
        self._make_kernel()

    def _make_kernel(self):
        """Set the target, and the visitor, or the visitors of all threads."""
        problem = self.problem
        self.target = problem.new_parameters()
        self._set_target()
        if self.whitening is None:
            structure = problem.structure
            weights = moving_weights(self.model, self.dual_point, problem.penalty)
        else:
            structure = self.whitening.structure
            weights = self.dual_point.weights()
        weights.refresh()
        count = n_workers(problem.n_jobs, problem.n_sequences)
        if count > 1 and self.whitening is None:
            moving = self.dual_point, weights
            self.kernel = make_parallel_sag(
                problem, moving, self.target, count, self.new_worker
            )
        else:
            self.kernel = self._new_visitor(
                SAGKernel, structure.distinct_features(), weights, self.target.weights()
            )

    def new_worker(self, features, weights, target, shard):
        """Return the visitor of a shard, for one of several threads."""
        return self._new_visitor(SAGWorker, features, weights, target, shard)

    def _new_visitor(self, kernel_class, features, weights, target, shard=None):
        problem, whitening = self.problem, self.whitening
        structure = problem.structure if whitening is None else whitening.structure
        sampler, constants = self._sampler_and_constants(shard)
        return kernel_class(
            problem.kernel(weights, features, structure=structure),
            problem.offsets,
            problem.feature_scale,
            sampler,
            target=target,
            constants=constants,
            alpha=problem.strength,
            curvature=problem.penalty.curvature,
            expected=self.marginals,
            entropy=self.entropy,
            saga=self.saga,
            rates=None if whitening is None else whitening.rates,
        )

    def _sampler_and_constants(self, shard):
        """Return the Sampler and the LipschitzConstants of a shard; None for all."""
        values, visited = self.lipschitz, self.visited
        if shard is not None:
            values = values[shard] if self.own else values.copy()
            visited = visited[shard]
            self.shards.append((shard, values, visited))
        constants = LipschitzConstants(
            values,
            visited,
            own=self.own,
            decay=OWN_DECAY if self.own else 2.0 ** (-1.0 / len(visited)),
            skipping=self.skipping,
        )
        sampler = self.new_sampler(shard)
        for i in np.flatnonzero(visited) if self.own else ():
            sampler.set_value(i, values[i])
        return sampler, constants

    def _collect(self):
        """Take the constants of the shards."""
        for shard, values, visited in self.shards:
            self.visited[shard] = visited
            if self.own:
                self.lipschitz[shard] = values
            else:
                # The same one in all shards, since the last round.
                self.lipschitz[:] = values

    def _whitening(self):
        """Return the preconditioner of the steps, or None."""
        problem = self.problem
        plain = problem.data.is_sparse or "identity" not in problem.penalty.offers
        if plain or problem.relative_size < LARGE:
            return None
        return problem.whitening()

    def _set_state(self, state, n_constants):
        """Set weights, expectations and constants, from a state or the first ones."""
        if state is None:
            state = self._first_state(n_constants)
        local, tied = self.problem.structure.potential_axes
        axes = {"local": local, "tied": tied, "visited": "n", "entropy": "n"}
        check_same_sequences(state, axes, self.problem)
        self.marginals = Potentials(state["local"].copy(), state["tied"].copy())
        self.visited = state["visited"].copy()
        self.entropy = state["entropy"].copy()
        self.lipschitz = state["lipschitz"].copy()
        _check_constants(self.lipschitz, self.problem.n_sequences)
        if len(self.lipschitz) != n_constants:
            self.lipschitz = np.full(n_constants, self.lipschitz.mean())
        self.model = self.dual_point = first_model(self.problem, state)
        if self.whitening is not None:
            self.dual_point = self.problem.new_parameters()
            self.whitening.point_of(self.model, self.dual_point)
        elif "identity" not in self.problem.penalty.offers:
            self.model = self.problem.new_parameters()

    def _first_state(self, n_constants):
        problem = self.problem
        return {
            "w": problem.new_parameters().w,
            **problem.targets.potentials(problem.structure)._asdict(),
            "lipschitz": np.ones(n_constants),
            "visited": np.zeros(problem.n_sequences, dtype=np.uint8),
            "entropy": np.broadcast_to(problem.targets.entropy, problem.n_sequences),
            "offsets": problem.offsets,
        }

    def start_at(self, w, unseen=None):
        """Start from weights: v = curvature w + threshold sign(w) gives these."""
        penalty = self.problem.penalty
        if self.whitening is None:
            first = penalty.curvature * w + penalty.threshold * np.sign(w)
            self.dual_point.w[:] = first
        else:
            self.model.w[:] = w
            self.whitening.point_of(self.model, self.dual_point)
        self.kernel.weights_changed()

    def targets_changed(self):
        """Compute the point that the steps pull the weights to."""
        self._set_target()
        self.kernel.weights_changed()

    def _set_target(self):
        if self.whitening is None:
            self._w_hat(out=self.target.w)
        else:
            v = self.problem.new_parameters(self._w_hat())
            self.whitening.target_of(v, self.target)
        self.last_primal = np.inf

    def _w_hat(self, out=None):
        """Return w_hat(mu), from mu."""
        tied_total = self.marginals.tied_total(self.problem.weight)
        return self.problem.dual_to_primal(self.marginals.local, tied_total, out=out)

    def epoch(self):
        """Make n visits, to sequences that the sampler picks."""
        n = self.problem.n_sequences
        self.kernel.epoch(self.rng.random((n, 2)))
        self._collect()
        self.n_updates += n
        self.n_oracle_calls = self.kernel.n_oracle_calls
        if self.whitening is not None:
            self.whitening.weights_of(self.dual_point, self.model)

    def certify_epoch(self, tol):
        """Certify the weights by mu as it is kept, where rounding does not matter."""
        if not self.is_near:
            v, far = self.target, FAR * self.problem.initial_primal
            if self.whitening is not None:
                v = self.problem.new_parameters()
                self.whitening.dual_point_of(self.target, v)
            kept = self._certify_kept(v.w)
            self.is_near = kept.gap <= far
            if kept.gap > max(tol * kept.primal, far):
                self._follow(kept.primal)
                return kept
        return self.certify()

    def certify(self):
        """Certify the weights by the better of p(. | x; w) and mu."""
        _, alone = self.problem.certify_primal(self.model.w)
        self._follow(alone.primal)
        kept = self._certify_kept(self._w_hat(), alone.primal)
        far = FAR * self.problem.initial_primal
        return kept if far < kept.gap < alone.gap else alone

    def _certify_kept(self, v, primal=None):
        return self.problem.certify_kept(
            self.model.w, v, self.marginals.local, self.entropy, primal
        )

    def _follow(self, primal):
        """Be more careful if the objective has risen.

        A search knows the curvature along the gradient of one loss. With few sequences
        the steps end up along other directions, where the curvature can be larger. Then
        the steps are too long, and the objective rises from one epoch to the next. It
        can also rise, however short the steps are, while the gradient of a sequence is
        an old one. So caution must end: or the steps would stay short for ever.
        """
        bound = self.last_primal + ROUNDING * abs(self.last_primal)
        factor = SHORTER if primal > bound else LONGER
        self.kernel.caution = max(1.0, factor * self.kernel.caution)
        self.last_primal = primal

    def state(self):
        """Return v, the marginals of the last visits and the constants."""
        w = self.dual_point.w if self.whitening is None else self.model.w
        return {
            "w": w,
            **self.marginals._asdict(),
            "entropy": self.entropy,
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
