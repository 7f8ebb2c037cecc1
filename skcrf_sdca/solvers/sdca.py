"""Stochastic dual coordinate ascent [LePriol18]: state, and call of the epoch."""

import numpy as np
from scipy.optimize import minimize_scalar

from skcrf_sdca._kernels._sdca import SDCAKernel
from skcrf_sdca._kernels._vecmath import inner
from skcrf_sdca._utils.memory import check_fits
from skcrf_sdca.solvers.base import check_same_sequences
from skcrf_sdca.solvers.dual import DualSolver
from skcrf_sdca.solvers.samplers import SCHEMES, first_gap
from skcrf_sdca.structures.chain.marginals import Marginals, edge_offsets

# Rounding of an edge enters w times the scale: beyond this, edges are kept in double.
LARGEST_SINGLE_SCALE = 1e3

# Where the first line search of a sequence starts.
FIRST_STEP = 0.5

# While the gap is above this share of P(0), rounding of the marginals (1e-7 of P(0) in
# single precision) is mended at every tenth certificate only.
FAR = 1e-4
SETTLE_EVERY = 10


class SDCA(DualSolver):
    """SDCA with exact line search and adaptive sampling.

    Parameters
    ----------
    problem : Problem
    rng : numpy.random.Generator
    sampling : str
        A key of `samplers.SCHEMES`.
    sampling_mix : float in [0, 1]
        Share of draws by score, the others being uniform.
    line_search : str
        "newton" or "fixed".
    line_search_tol : float
        The line search ends when its step moves by less.
    step : float in (0, 1] or None
        The step of ``line_search="fixed"``.
    init_smoothing : float in (0, 1]
        Share of the uniform distribution, over the allowed paths, in the first
        marginals.
    dual_dtype : str
        "float32" or "float64", of the edge marginals, or "auto".
    state : dict, default=None
        `state()` of an earlier run on the same sequences, to start from.

    Attributes
    ----------
    n_kept : int
        Certificates since the marginals were settled.
    """

    n_kept = 0

    def __init__(
        self,
        problem,
        rng,
        *,
        sampling,
        sampling_mix,
        line_search,
        line_search_tol,
        step,
        init_smoothing,
        dual_dtype,
        state=None,
    ):
        if line_search == "fixed" and step is None:
            raise ValueError('line_search="fixed" needs a step in (0, 1]; got None')
        self.problem = problem
        self.rng = rng
        if dual_dtype == "auto":
            single = problem.scale.max() <= LARGEST_SINGLE_SCALE
            dual_dtype = "float32" if single else "float64"
        self._check_memory(dual_dtype)
        self.marginals = self._first_marginals(init_smoothing, dual_dtype, state)
        self.entropy = np.empty(problem.n_sequences)
        edge_total = self.settle()
        if dual_dtype == "float32":
            self.anew_every = 1
        self.gaps = np.full(problem.n_sequences, first_gap(problem))
        self.model = problem.new_model(
            problem.dual_to_primal(self.marginals.node, edge_total)
        )
        self._make_kernel(
            SDCAKernel,
            SCHEMES[sampling],
            sampling_mix,
            edge_offsets=self.marginals.edge_offsets,
            node=self.marginals.node,
            edge=self.marginals.edge,
            entropy=self.entropy,
            steps=np.full(problem.n_sequences, FIRST_STEP),
            fixed_step=step if line_search == "fixed" else 0.0,
            line_search_tol=line_search_tol,
        )

    def _check_memory(self, dtype):
        problem, size = self.problem, np.dtype(dtype).itemsize
        n_labels, longest = problem.n_labels, int(problem.data.lengths.max())
        n_edges = int(edge_offsets(problem.offsets)[-1])
        halved = 'dual_dtype="float32" takes half; ' if size == 8 else ""
        # The dual, and the buffers of a visit: target, ratio and moved edges.
        check_fits(
            8 * problem.data.n_positions * n_labels
            + (n_edges * size + max(longest - 1, 0) * (2 * size + 4)) * n_labels**2,
            f"the dual variables of SDCACRF, {n_edges} edges of {n_labels} x "
            f"{n_labels} labels in {dtype},",
            f"{halved}OEGCRF needs one such matrix for each sequence, not for each "
            "edge, and LBFGSCRF none; or join labels that are rare",
        )

    def _first_marginals(self, init_smoothing, dtype, state):
        problem = self.problem
        if state is None and problem.allowed is not None:
            marginals = problem.allowed.uniform_marginals(problem.offsets, dtype=dtype)
            marginals.move_to_labels(problem.labels, rest=init_smoothing)
            return marginals
        if state is None:
            return Marginals.smoothed(
                problem.labels,
                problem.offsets,
                n_labels=problem.n_labels,
                smoothing=init_smoothing,
                dtype=dtype,
                n_jobs=problem.n_jobs,
            )
        check_same_sequences(state, {"node": "TK", "edge": "EKK"}, problem)
        edge = state["edge"].astype(dtype, order="C")
        marginals = Marginals(state["node"].copy(), edge, problem.offsets)
        if problem.alpha < state["alpha"]:
            rest = self._best_rest(marginals, problem.alpha / state["alpha"])
            marginals.move_to_labels(problem.labels, rest=rest)
        return marginals

    # Where alpha falls to ratio * alpha, the same mu makes w longer by 1 / ratio, far
    # too long on sparse data. Moved to the labels it makes rest * what(mu), since what
    # is linear in the difference of the two: rest = ratio keeps w, and the dual is
    # largest somewhere between.
    def _best_rest(self, marginals, ratio):
        """Return the rest in [ratio, 1] with the largest dual, see `move_to_labels`."""
        problem = self.problem
        edge_total, entropy = marginals.settle(problem.weight, n_jobs=problem.n_jobs)
        w = problem.dual_to_primal(marginals.node, edge_total)
        penalty = 0.5 * problem.alpha * inner(w, w)
        by_rest = marginals.entropy_by_rest(problem.labels, problem.weight, entropy)

        def negative_dual(log_rest):
            rest = np.exp(log_rest)
            return penalty * rest**2 - by_rest(rest)

        return np.exp(minimize_scalar(negative_dual, bounds=(np.log(ratio), 0.0)).x)

    def certify_epoch(self, target):
        """Certify the pair as the visits keep it, where rounding does not matter."""
        self.n_kept += 1
        if self.n_kept < SETTLE_EVERY:
            kept = self.problem.certify_kept(self.model.w, self.entropy)
            if kept.gap > max(target, FAR * self.problem.initial_primal):
                return kept
        self.n_kept = 0
        return self.certify()

    def settle(self):
        """Make nodes and H(mu_i) agree with the edges; return the edges' total."""
        edge_total, self.entropy[:] = self.marginals.settle(
            self.problem.weight, n_jobs=self.problem.n_jobs
        )
        return edge_total

    def state(self):
        """Return the marginals."""
        return {
            "node": self.marginals.node,
            "edge": self.marginals.edge,
            "alpha": self.problem.alpha,
            "offsets": self.problem.offsets,
        }
