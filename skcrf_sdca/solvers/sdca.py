"""Stochastic dual coordinate ascent [LePriol18]: its state, and its first point."""

from typing import ClassVar

import numpy as np
from scipy.optimize import minimize_scalar

from skcrf_sdca._kernels.visits._sdca import SDCAKernel
from skcrf_sdca._utils.memory import check_fits, may_fit
from skcrf_sdca.solvers.base import FAR, check_same_sequences
from skcrf_sdca.solvers.dual import DualSolver

# Rounding of a marginal enters w times the scale: beyond this, marginals of cliques are
# kept in double precision.
LARGEST_SINGLE_SCALE = 1e3

# Where the first line search of a sequence starts.
FIRST_STEP = 0.5

# Least share of mu that stays where the targets have changed.
LEAST_KEEP = 1e-3
# Where this share of mu has a smaller dual than mu, mu stays as it is.
NEAR_ALL = 0.95

# While the gap is `FAR`, the rounding of marginals in single precision is corrected at
# every tenth epoch only.
RENORMALIZE_EVERY = 10


class SDCA(DualSolver):
    """SDCA with exact line search and adaptive sampling.

    The options are parameters of `SDCACRF`. ``n_kept`` counts the epochs that ended
    since the marginals were renormalised.
    """

    needs: ClassVar[frozenset[str]] = DualSolver.needs | {"direct"}
    # Most dual variables are tied expectations, and certificates need their sum alone.
    sees_tied = False
    n_kept = 0

    def __init__(
        self,
        problem,
        rng,
        *,
        line_search="newton",
        line_search_tol=1e-3,
        step=None,
        init_smoothing=1e-6,
        dual_dtype="auto",
        state=None,
        **draws,
    ):
        super().__init__(problem, rng, **draws)
        self.line_search_tol = line_search_tol
        self.init_smoothing = init_smoothing
        self.fixed_step = _fixed_step(line_search, step)
        if dual_dtype == "auto":
            single = problem.feature_scale.max() <= LARGEST_SINGLE_SCALE
            dual_dtype = "float32" if single else "float64"
        self.single = dual_dtype == "float32"
        if self.single:
            self.recompute_every = 1
        size = problem.structure.size_of_marginals(dual_dtype)
        self._place(size)
        if not self.storage.in_files:
            self._check_memory(dual_dtype)
        self.marginals = self._first_marginals(init_smoothing, dual_dtype, state)
        self.steps = np.full(problem.n_sequences, FIRST_STEP)
        tied_total = self._first_totals(state)
        self._make_visitors()
        self._set_point(tied_total)

    @classmethod
    def n_bytes(cls, problem, n_weights):
        """Return about how many bytes the solver keeps, in single precision."""
        of_weights = super().n_bytes(problem, n_weights)
        return of_weights + problem.structure.size_of_marginals("float32")

    def _check_memory(self, dtype):
        structure, advice = self.problem.structure, "join labels that are rare"
        if dtype == "float64" and may_fit(structure.size_of_marginals("float32")):
            advice = f'dual_dtype="float32" takes half, and fits; or {advice}'
        check_fits(
            structure.size_of_marginals(dtype),
            f"the dual variables of SDCA, {structure.describe_marginals(dtype)},",
            advice,
        )

    def new_visitor(self, features, weights, sampler):
        """Return a visitor that moves weights, for one thread."""
        item = self.problem.kernel(weights, features)
        item.keep_marginals(self.marginals)
        return SDCAKernel(
            *self.arguments_of_visitor(item, sampler),
            entropy=self.entropy,
            steps=self.steps,
            single=self.single,
            fixed_step=self.fixed_step,
            line_search_tol=self.line_search_tol,
        )

    def _first_marginals(self, init_smoothing, dtype, state):
        problem, structure = self.problem, self.problem.structure
        if state is None:
            return problem.targets.smoothed_marginals(structure, init_smoothing, dtype)
        check_same_sequences(state, structure.marginal_axes, problem)
        marginals = structure.marginals_of(state, dtype)
        if problem.alpha < state["alpha"]:
            keep = self._best_keep(marginals, problem.alpha / state["alpha"])
            problem.targets.shrink(marginals, keep=keep)
        return marginals

    def _first_totals(self, state):
        """Set the entropies; return the weighted sum of the tied expectations."""
        problem, found = self.problem, None
        if state is None:
            found = problem.targets.smoothed_totals(
                problem.structure,
                problem.tied_targets,
                problem.weight,
                self.init_smoothing,
            )
        if found is None:
            return self.renormalize()
        tied_total, self.entropy[:] = found
        return tied_total

    # If alpha falls to ratio * alpha, the same mu makes w longer by 1 / ratio, far too
    # long on sparse data. Shrunk to the targets, mu gives keep * w_hat(mu), since w_hat
    # is linear in target - mu: keep = ratio keeps w, and the dual is largest between
    # ratio and 1.
    def _best_keep(self, marginals, ratio, tries=()):
        """Return the `keep` of `Targets.shrink` in [ratio, 1] of largest dual.

        If of two values to try the first has the larger one, it is returned.
        """
        problem = self.problem
        tied_total, entropy = marginals.renormalize(
            problem.weight, n_jobs=problem.n_jobs
        )
        w = problem.dual_to_primal(marginals.local, tied_total)
        by_keep = problem.targets.entropy_by_keep(marginals, problem.weight, entropy)
        added = problem.mean_added(marginals.local, w)

        def negative_dual(log_keep):
            keep = np.exp(log_keep)
            return -problem.dual(keep * w, by_keep(keep) + keep * added)

        if tries:
            first, second = map(negative_dual, np.log(tries))
            if first <= second:
                return tries[0]
        return np.exp(minimize_scalar(negative_dual, bounds=(np.log(ratio), 0.0)).x)

    def start_at(self, w, unseen=None):
        """Start from p(. | x; w), mixed with the targets in the share of largest dual.

        w_hat(p(. | x; w)) = w holds at the optimum only. A share ``init_smoothing`` of
        the first marginals stays, so that none is 0.
        """
        scores_of = self.scores_of_start(w, unseen)
        self.problem.structure.mix_marginals(
            self.marginals, scores_of, self.init_smoothing
        )
        self._shrink(tries=(1.0, NEAR_ALL))

    def targets_changed(self):
        """Mix mu with the new targets, as for a smaller alpha: mu alone is far off."""
        self._shrink()

    def _shrink(self, tries=()):
        """Mix mu with the targets in the share of largest dual, and move w."""
        keep = self._best_keep(self.marginals, LEAST_KEEP, tries)
        self.problem.targets.shrink(self.marginals, keep=keep)
        super().targets_changed()

    def certify_epoch(self, tol):
        """Certify the pair as the visits keep it, where rounding does not matter.

        If this would end the run, the rounding of mu is corrected, and w stays.
        """
        if np.isnan(self.recorded_gap()):
            return self.certify()
        self.n_kept += 1
        kept, far = self.certify_kept(), FAR * self.problem.initial_primal
        if kept.gap <= far:
            return self.certify()
        if kept.gap > tol * kept.primal:
            return kept
        v = self.problem.dual_to_primal(self.marginals.local, self.renormalize())
        return self._certified(self.problem.penalty.moved_point(v), kept.primal)

    def certify(self):
        """Certify mu and w, corrected for the rounding of the visits."""
        self.n_kept = 0
        return super().certify()

    @property
    def is_due(self):
        """Whether the next certificate is to correct rounding, and cannot wait."""
        return self.n_kept + 1 >= RENORMALIZE_EVERY

    def certify_kept(self):
        """Return a Certificate of the pair as the visits keep it."""
        return self._certified(self.moved.w)

    def _certified(self, moved, primal=None):
        return self.problem.certify_kept(
            self.model.w, moved, self.marginals.local, self.entropy, primal
        )

    def recorded_gap(self):
        """Return the mean of the gaps of the sequences visited, or NaN.

        It is NaN unless the gap is `FAR` too: all certificates correct rounding then.
        """
        gap = super().recorded_gap()
        return gap if gap > FAR * self.problem.initial_primal else np.nan * gap

    def wait(self, gap, dual):
        """Go on without a certificate of the last epoch; ``gap`` is an estimate."""
        super().wait(gap, dual)
        self.n_kept += 1

    def renormalize(self, needs_total=True):
        """Correct the rounding of the marginals; return the sum of the tied ones.

        Cliques stay in single precision: of the corrected ones this sum alone is known,
        and is returned in any case.
        """
        tied_total, self.entropy[:] = self.marginals.renormalize(
            self.problem.weight, n_jobs=self.problem.n_jobs
        )
        return tied_total

    def state(self):
        """Return the marginals."""
        return {
            **self.marginals.state(),
            "alpha": self.problem.alpha,
            "offsets": self.problem.offsets,
        }


def _fixed_step(line_search, step):
    """Return the step of every visit; 0 for the exact line search."""
    if line_search != "fixed":
        return 0.0
    if step is None:
        raise ValueError('line_search="fixed" needs a step in (0, 1]; got None')
    return step
