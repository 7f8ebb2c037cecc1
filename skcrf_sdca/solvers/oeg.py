"""Online exponentiated gradient [Collins08]: state, and call of the epoch."""

import numpy as np

from skcrf_sdca._kernels._oeg import OEGKernel
from skcrf_sdca._utils.memory import check_fits
from skcrf_sdca.solvers.base import check_same_sequences
from skcrf_sdca.solvers.dual import DualSolver
from skcrf_sdca.solvers.samplers import SCHEMES, first_gap
from skcrf_sdca.structures.chain.marginals import SummedMarginals

# Halvings of the step that one visit may make, in the first epoch and later.
FIRST_HALVINGS, LATER_HALVINGS = 2, 5


class OEG(DualSolver):
    """OEG with the step sizes of [Schmidt15, footnote 9], and adaptive sampling.

    The first epoch visits every sequence once, in random order.

    Parameters
    ----------
    problem : Problem
    rng : numpy.random.Generator
    sampling : str
        A key of `samplers.SCHEMES`.
    sampling_mix : float in [0, 1]
        Share of draws by score, the others being uniform.
    step_init : float in (0, 1]
        First step of every sequence.
    init_score : float
        Natural parameter of the correct label of each node at the start.
    state : dict, default=None
        `state()` of an earlier run on the same sequences, to start from.
    """

    def __init__(
        self,
        problem,
        rng,
        *,
        sampling,
        sampling_mix,
        step_init,
        init_score,
        state=None,
    ):
        self.problem = problem
        self.rng = rng
        n, n_labels = problem.n_sequences, problem.n_labels
        # Natural parameters in single precision, marginals in double.
        check_fits(
            12 * n_labels * (problem.data.n_positions + n * n_labels),
            f"the dual variables of OEGCRF, {n} sequences with {n_labels} labels,",
            "LBFGSCRF keeps none; or join labels that are rare",
        )
        self.theta_node, self.theta_edge = self._first_parameters(init_score, state)
        self.marginals = SummedMarginals(
            np.zeros(self.theta_node.shape), np.empty((n, n_labels, n_labels))
        )
        self.entropy = np.empty(n)
        self.gaps = np.full(n, first_gap(problem))
        self.model = problem.new_model()
        self._make_kernel(
            OEGKernel,
            SCHEMES[sampling],
            sampling_mix,
            theta_node=self.theta_node,
            theta_edge=self.theta_edge,
            node=self.marginals.node,
            edge_sums=self.marginals.edge_sums,
            entropy=self.entropy,
            step=np.full(n, step_init),
        )
        self.visitors[0].marginalise()
        problem.dual_to_primal(self.marginals.node, self.settle(), out=self.model.w)

    def settle(self):
        """Return the total of the edges, of marginals that agree as they are."""
        return self.marginals.edge_total(self.problem.weight)

    def _first_parameters(self, init_score, state):
        problem = self.problem
        if state is not None:
            axes = {"theta_node": "TK", "theta_edge": "nKK"}
            check_same_sequences(state, axes, problem)
            return state["theta_node"].copy(), state["theta_edge"].copy()
        n_labels = problem.n_labels
        theta_node = np.zeros((len(problem.labels), n_labels), dtype=np.float32)
        theta_node[np.arange(len(theta_node)), problem.labels] = init_score
        return theta_node, np.zeros(
            (problem.n_sequences, n_labels, n_labels), dtype=np.float32
        )

    def epoch(self):
        """Visit each sequence once in the first epoch, then those of the sampler."""
        if self.n_updates > 0:
            self._allow_halvings(LATER_HALVINGS)
            super().epoch()
            return
        n = self.problem.n_sequences
        self._allow_halvings(FIRST_HALVINGS)
        self.kernel.epoch_in_order(self.rng.permutation(n))
        self._count(n)

    def _allow_halvings(self, number):
        for visitor in self.visitors:
            visitor.max_halvings = number

    def state(self):
        """Return the natural parameters."""
        return {
            "theta_node": self.theta_node,
            "theta_edge": self.theta_edge,
            "offsets": self.problem.offsets,
        }
