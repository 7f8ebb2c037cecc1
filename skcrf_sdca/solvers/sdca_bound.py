"""SDCA with a lower bound of the entropy: its state, and its first point."""

from typing import ClassVar

import numpy as np

from skcrf_sdca._kernels.visits._sdca_bound import SDCABoundKernel
from skcrf_sdca._utils.memory import check_fits
from skcrf_sdca.solvers.base import check_same_sequences
from skcrf_sdca.solvers.natural import FromNaturalParameters
from skcrf_sdca.solvers.sdca import FIRST_STEP

# Of this tolerance the rounding of expectations in single precision is a small part,
# and what takes more bytes than so many in double precision is worth it.
LEAST_TOL, SMALL = 1e-3, 2**27

# The expectations in the state of a warm start.
KEYS = ("expected_local", "expected_tied")


class StoredExpectations(FromNaturalParameters):
    """A dual solver whose expectations may be stored in single precision.

    They are where they are large and the gap need not be small. What a visit adds to
    the bound of an entropy belongs to the expectations that it computes; they are
    stored with an error of 6e-8 of each, which changes D by as much of the scores that
    are added up in it.
    """

    bytes_of_potential: ClassVar[int] = 4

    def __init__(self, problem, rng, *, dual_dtype="auto", tol=1e-3, **draws):
        super().__init__(problem, rng, **draws)
        structure = problem.structure
        if dual_dtype == "auto":
            single = tol >= LEAST_TOL and 8 * structure.n_potentials > SMALL
            dual_dtype = "float32" if single else "float64"
        size = np.dtype(dual_dtype).itemsize * structure.n_potentials
        self._place(size)
        if not self.storage.in_files:
            check_fits(
                size,
                f"the dual variables of SDCA with a bound of the entropy, "
                f"{problem.n_sequences} sequences with {structure.n_labels} labels,",
                "join labels that are rare",
            )
        self.marginals = structure.zero_potentials(dual_dtype)


class SDCABound(StoredExpectations):
    """SDCA of expectations, where the entropies of cliques are not there.

    It needs less of a structure than `SDCA`, and stores one number for each potential.
    ``entropy`` are lower bounds of entropies, see _sdca_bound.pyx: so D is one of the
    dual objective, and the certificate holds. The options are parameters of `SDCACRF`.
    """

    def __init__(self, problem, rng, *, line_search_tol=1e-3, state=None, **others):
        super().__init__(problem, rng, **others)
        self.line_search_tol = line_search_tol
        self.steps = np.full(problem.n_sequences, FIRST_STEP)
        self.of_targets = np.full(problem.n_sequences, -1.0)
        self._make_visitors()
        if state is None:
            self.take_targets()
        else:
            self._take_state(state)

    def _take_state(self, state):
        axes = dict(zip(KEYS, self.problem.structure.potential_axes, strict=True))
        check_same_sequences(state, {**axes, "entropy": "n"}, self.problem)
        for values, key in zip(self.marginals, KEYS, strict=True):
            values[:] = state[key]
        self.entropy[:] = state["entropy"]
        self._set_point(self.renormalize())

    def new_visitor(self, features, weights, sampler):
        """Return a visitor that moves weights, for one thread."""
        return SDCABoundKernel(
            *self.arguments_of_visitor(self.problem.kernel(weights, features), sampler),
            expected=self.marginals,
            entropy=self.entropy,
            of_targets=self.of_targets,
            steps=self.steps,
            line_search_tol=self.line_search_tol,
            prunes=self.problem.structure.prunes_visits,
        )

    def natural_parameters(self):
        """Return Potentials of float32 to write natural parameters to."""
        return self.problem.structure.zero_potentials(np.float32)

    def take(self, theta):
        """Take the expectations and entropies of natural parameters, and move w."""
        self._on_threads("marginalise", theta)
        self._set_point(self.renormalize())

    def take_targets(self):
        """Take the targets, whose entropies are known, and move w."""
        self._on_threads("take_targets")
        self.entropy[:] = self.problem.targets.entropy
        self._set_point(self.renormalize())

    def state(self):
        """Return the expectations, and the bounds of the entropies."""
        return {
            **dict(zip(KEYS, self.marginals, strict=True)),
            "entropy": self.entropy,
            "offsets": self.problem.offsets,
        }
