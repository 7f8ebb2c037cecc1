"""The base of dual solvers: visits by one or more threads, and the certificate.

A dual solver holds expectations mu and w = w_hat(mu); each visit moves both. To limit
accumulated rounding error, w is recomputed from mu every ``recompute_every`` epochs.
"""

from abc import abstractmethod
from functools import partial
from typing import ClassVar

import numpy as np

from skcrf_sdca._kernels.math._vecmath import inner
from skcrf_sdca._utils.parallel import in_parts, over_ranges
from skcrf_sdca._utils.ragged import sums_of_items
from skcrf_sdca.solvers.base import EpochSolver, moving_weights
from skcrf_sdca.solvers.parallel import make_parallel_visitor, n_workers
from skcrf_sdca.solvers.samplers import (
    SAMPLING_SCHEMES,
    Blocks,
    first_gap,
    non_uniformity,
)
from skcrf_sdca.solvers.storage import storage_for
from skcrf_sdca.structures.weight_choice import AUTO

# In a start from weights the targets of unseen sequences exceed other labels by this.
START_SCORE = 14.0


class DualSolver(EpochSolver):
    """A solver whose visits move expectations and weights together.

    Attributes
    ----------
    model, moved : Parameters
        w = grad r*(v), v = w_hat(mu), and what visits move: w itself, or with a
        threshold an object of its own, see `Penalty.moved_point`.
    kernel : DualVisitor or ParallelVisitor
        The only one of the ``visitors``, or the visitor of all workers.
    marginals : Marginals or Potentials
        mu, with ``local``.
    entropy, gaps : ndarrays of shape (n,)
        H(mu_i), and the gap of each sequence when last visited, `unvisited` before.
    storage : Storage
        Where the dual variables lie.
    sampling : str
        The scheme of draws: in files, a window takes the place of all sequences.
    blocks : Blocks or None
        Those of the window that sequences are drawn from.
    sees_tied : bool
        Whether a full pass reads the tied expectations of mu.
    recompute_every : int
        Epochs from one recomputation of w to the next.
    n_recomputed : int
        Epochs that ended since w was recomputed.
    """

    needs: ClassVar[frozenset[str]] = frozenset(
        {"expect", "visit", "log sum", "curvature", "threshold"}
    )
    starts_at_targets = True
    sees_tied = True
    recompute_every = 10
    n_recomputed = 0

    def __init__(self, problem, rng, *, sampling="gap", sampling_mix=0.8, memory=AUTO):
        self.sampling, self.sampling_mix, self.memory = sampling, sampling_mix, memory
        self.problem = problem
        self.rng = rng
        self.model = self.moved = problem.new_parameters()
        if problem.penalty.threshold:
            self.moved = problem.new_parameters()
        self.entropy = np.empty(problem.n_sequences)
        self.unvisited = first_gap(problem)
        self.gaps = np.full(problem.n_sequences, self.unvisited)

    @property
    def dual(self):
        """The solver itself."""
        return self

    @property
    def v(self):
        """The dual point w_hat(mu)."""
        return self.problem.penalty.dual_point(self.moved.w)

    @property
    def columns(self):
        """The non-uniformity of c_i g_i, with the gaps that visits recorded.

        And the part of the data in the window, if there is one.
        """
        shares = self.problem.weight * self.gaps
        found = non_uniformity(shares[self.gaps < self.unvisited])
        window = {"window": self.storage.window} if self.blocks else {}
        return {"non_uniformity": found, **window}

    @abstractmethod
    def new_visitor(self, features, weights, sampler):
        """Return a visitor that moves weights, for one thread."""

    def arguments_of_visitor(self, item, sampler):
        """Return the positional arguments of every visitor of a compiled Item."""
        problem = self.problem
        return item, problem.offsets, problem.feature_scale, self.gaps, sampler

    def _place(self, n_bytes):
        """Set where dual variables of so many bytes lie, and the scheme of draws."""
        self.storage = storage_for(self.problem, n_bytes, self.memory)
        self.problem.structure.new_array = self.storage.new_array
        if self.storage.in_files and self.sampling == "gap":
            self.sampling = "window"

    def n_bytes_in_memory(self, n_weights):
        """Return the bytes of what is not in files."""
        in_files = self.n_bytes(self.problem, 0) if self.storage.in_files else 0
        return super().n_bytes_in_memory(n_weights) - in_files

    def _make_visitors(self):
        """Set visitors and kernel: one visitor, or workers on ``n_jobs`` threads."""
        problem, scheme = self.problem, SAMPLING_SCHEMES[self.sampling]
        self.blocks = None
        if scheme.has_window:
            self.blocks = Blocks(problem.offsets, self.storage.window)
        new_sampler = partial(
            scheme.make, problem, self.sampling_mix, blocks=self.blocks
        )
        count = n_workers(problem.n_jobs, problem.n_sequences)
        weights = moving_weights(self.model, self.moved, problem.penalty)
        if count > 1:
            moving = self.moved, weights
            self.kernel = make_parallel_visitor(
                problem, moving, count, new_sampler, self.new_visitor
            )
            self.visitors = self.kernel.visitors
        else:
            features = problem.structure.distinct_features()
            self.kernel = self.new_visitor(features, weights, new_sampler())
            self.visitors = [self.kernel]

    def _on_threads(self, method, *arguments):
        """Call a method of each visitor, for its sequences, in a thread of its own."""

        def call(worker, _):
            getattr(self.visitors[worker], method)(*arguments)

        in_parts(call, len(self.visitors))

    def _set_point(self, tied_total):
        """Compute w from mu."""
        v = self.problem.dual_to_primal(
            self.marginals.local, tied_total, out=self.moved.w
        )
        self.problem.penalty.moved_point(v)
        self.kernel.weights_changed()

    def scores_of_start(self, w, unseen):
        """Return a function of (begin, end) of the scores to start at.

        They are those of weights, but of unseen sequences near the targets: w_hat(mu)
        has no part of these yet, as the weights have none.
        """
        problem = self.problem
        parameters = problem.new_parameters(w)
        if unseen is None:
            return partial(problem.scores, parameters)
        near = problem.targets.natural_parameters(problem.structure, START_SCORE).local
        is_unseen = np.repeat(unseen, np.diff(problem.offsets))

        def scores_of(begin, end):
            scores = problem.scores(parameters, begin, end)
            own = slice(*problem.offsets[[begin, end]])
            scores.local[is_unseen[own]] = near[own][is_unseen[own]]
            return scores

        return scores_of

    def targets_changed(self):
        """Compute the weights from mu, which does not change."""
        self._set_point(self.renormalize())

    def epoch(self):
        """Make n visits to sequences that the sampler draws."""
        n = self.problem.n_sequences
        self._visit_drawn(n)
        self._count(n)

    def _visit_drawn(self, n_visits):
        """Make visits to sequences that the sampler draws."""
        samplers = [visitor.sampler for visitor in self.visitors]
        if self.blocks and not samplers[0].n_blocks_waiting:
            order = self.rng.permutation(len(self.blocks))
            for sampler in samplers:
                sampler.begin_epoch(order)
        self.kernel.epoch(self.rng.random((n_visits, 2)))

    def _count(self, n_visits):
        self.n_updates += n_visits
        self.n_oracle_calls = self.kernel.n_oracle_calls

    def renormalize(self, needs_total=True):
        """Make mu consistent; return the weighted sum of its tied expectations.

        Potentials are consistent as they are, and have no sum if none is needed.
        """
        return self.marginals.tied_total(self.problem.weight) if needs_total else None

    def certify(self):
        """Certify mu and w, which is recomputed when that is due."""
        w, *mu = self.pair()
        return self.problem.certify_dual(w, self.moved.w, *mu)

    @property
    def is_due(self):
        """Whether the next certificate is to correct rounding, and cannot wait."""
        return self.n_recomputed + 1 >= self.recompute_every

    def recorded_gap(self):
        """Return the mean of the gaps of the sequences visited, or NaN.

        It is NaN without any, and where the next certificate cannot wait.
        """
        if self.is_due:
            return np.float64(np.nan)
        weight = np.where(self.gaps < self.unvisited, self.problem.weight, 0.0)
        scale = self.problem.loss.scale
        return scale * inner(weight, self.gaps) / weight.sum()

    def recorded_dual(self):
        """Return D(mu), with the entropies that visits recorded."""
        mu = self.marginals.local, self.entropy
        return self.problem.dual_kept(self.moved.w, *mu)

    def wait(self, gap, dual):
        """Go on without a certificate of the last epoch; ``gap`` is an estimate."""
        self.n_recomputed += 1

    def certify_aside(self):
        """Return a Certificate, after `wait`, that leaves the state as it is."""
        with self.problem.structure.without_trace():
            return self.certify_kept()

    def certify_kept(self):
        """Return a Certificate of the pair as the visits keep it."""
        total = self.renormalize(self.problem.needs_total)
        mu = self.marginals.local, total, self.entropy
        return self.problem.certify_dual(
            self.model.w, self.moved.w, *mu, self.largest_parameter()
        )

    def pair(self):
        """Return w, recomputed when due, and a consistent mu, for `Problem.compare`."""
        self.n_recomputed += 1
        is_due = self.n_recomputed >= self.recompute_every
        tied_total = self.renormalize(is_due or self.problem.needs_total)
        if is_due:
            self._set_point(tied_total)
            self.n_recomputed = 0
        return (
            self.model.w,
            self.marginals.local,
            tied_total,
            self.entropy,
            self.largest_parameter(),
        )

    @property
    def _tied_scores(self):
        """The tied scores of w."""
        fixed = self.problem.structure.fixed
        return self.model.tied + (0.0 if fixed is None else fixed.tied)

    def look(self, conjugate, scores, begin, end):
        """Return the gaps of begin <= i < end at the weights of a full pass.

        Unless ``sees_tied``, they lack <mu_i, tied scores>.
        """
        offsets = self.problem.offsets
        mu = self.marginals.part(begin, end, offsets)
        expected = np.einsum("tk,tk->t", mu.local, scores.local)
        expected = sums_of_items(expected, offsets[begin : end + 1])
        if self.sees_tied:
            expected += mu.tied_scores(self._tied_scores)
        return conjugate - self.entropy[begin:end] - expected

    def seen_gaps(self):
        """Return the gaps that the last full pass has seen."""
        problem, tied = self.problem, self._tied_scores
        if self.sees_tied:
            return problem.seen

        def of_range(begin, end):
            return self.marginals.part(begin, end, problem.offsets).tied_scores(tied)

        parts = over_ranges(of_range, problem.offsets, problem.n_jobs)
        return problem.seen - np.concatenate(parts)

    def record_seen(self):
        """Record the gaps that the last full pass has seen; return their mean."""
        visited, seen = self.gaps < self.unvisited, self.seen_gaps()
        self.gaps[visited] = np.maximum(seen[visited], 0.0)
        self._on_threads("record_gaps")
        return self.problem.loss.scale * self.problem.mean(seen)

    def move_center(self, kappa, z):
        """Change the penalty of the problem, see `Proximal.move`; mu stays."""
        penalty = self.problem.penalty
        penalty.move(kappa, z, self.moved.w)
        self.kernel.set_factors(*penalty.factors)
        self.kernel.weights_changed()

    def largest_parameter(self):
        """Return the size of the natural parameters that the entropies come from."""
        return 0.0
