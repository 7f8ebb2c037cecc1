"""Block-coordinate Frank-Wolfe [LacosteJulien13]: its state, and its first point."""

from typing import ClassVar

from scipy.optimize import minimize_scalar

from skcrf_sdca._kernels.visits._bcfw import BCFWKernel
from skcrf_sdca.solvers.base import check_memory, potentials_of
from skcrf_sdca.solvers.dual import DualSolver
from skcrf_sdca.solvers.samplers import SchemeNames

# The expectations in the state of a warm start.
KEYS = ("local", "tied")


class BCFW(DualSolver):
    """BCFW with exact line search, and adaptive sampling [Osokin16].

    It solves problems with a loss of temperature 0, the structural SVM. The first dual
    point is the one-hot labels, so that w = 0. Its options are parameters of `SDCACRF`.
    """

    bytes_of_potential = 8
    needs: ClassVar[frozenset[str]] = frozenset(
        {"argmax", "visit", "maximum", "curvature", "threshold"}
    )

    def __init__(self, problem, rng, *, sampling="gap", sampling_mix=0.8, state=None):
        if sampling not in SchemeNames("bcfw"):
            raise ValueError(
                f'sampling="{sampling}" is not for loss="hinge": choose one of '
                f"{sorted(SchemeNames('bcfw'))}"
            )
        super().__init__(problem, rng)
        check_memory(self, "the dual variables of the hinge")
        # D has no entropy.
        self.entropy[:] = 0.0
        self.marginals = self._first_marginals(state)
        self._make_visitors(sampling, sampling_mix)
        self._set_point(self.renormalize())
        if state is not None and problem.alpha < state["alpha"]:
            self._shrink_to_labels(problem.alpha / state["alpha"])

    def _first_marginals(self, state):
        if state is not None:
            return potentials_of(state, KEYS, self.problem)
        return self.problem.structure.label_potentials(self.problem.targets.labels)

    # If alpha falls to ratio * alpha, the same mu makes v longer by 1 / ratio. The
    # labels have v = 0, and costs and fixed scores add 0 to them. Mixed with the
    # labels, mu gives keep * v, and keep times the added scores: the dual is largest
    # for a keep between ratio and 1.
    def _shrink_to_labels(self, ratio):
        """Mix mu with the labels, in the proportion of largest dual."""
        problem, v = self.problem, self.v
        added = problem.mean_added(self.marginals.local, v)

        def negative_dual(keep):
            return -problem.dual(keep * v, keep * added)

        keep = minimize_scalar(negative_dual, bounds=(ratio, 1.0)).x
        labels = problem.structure.label_potentials(problem.targets.labels)
        for values, certain in zip(self.marginals, labels, strict=True):
            values *= keep
            certain *= 1.0 - keep
            values += certain
        self._set_point(self.renormalize())

    def new_visitor(self, features, weights, sampler):
        """Return a visitor that moves weights, for one thread."""
        structure = self.problem.kernel(weights, features)
        common = self.arguments_of_visitor(structure, sampler)
        return BCFWKernel(*common, expected=self.marginals)

    def state(self):
        """Return the expectations."""
        return {
            **dict(zip(KEYS, self.marginals, strict=True)),
            "alpha": self.problem.alpha,
            "offsets": self.problem.offsets,
        }
