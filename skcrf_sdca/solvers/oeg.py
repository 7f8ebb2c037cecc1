"""Online exponentiated gradient [Collins08]: its state, and its first point.

The dual variables are natural parameters theta. Their expectations mu are stored beside
them, or derived from them anew wherever they are used.
"""

from threading import Lock

import numpy as np

from skcrf_sdca._kernels.visits._oeg import OEGKernel
from skcrf_sdca._utils.parallel import over_ranges
from skcrf_sdca.objective.problem import largest
from skcrf_sdca.solvers.base import check_memory, potentials_of
from skcrf_sdca.solvers.natural import FromNaturalParameters
from skcrf_sdca.structures.structure import Potentials

# Halvings of the step that one visit may make, in the first epoch and later.
FIRST_HALVINGS, LATER_HALVINGS = 2, 5

# The natural parameters in the state of a warm start.
KEYS = ("theta_local", "theta_tied")

BYTES_OF_EXPECTATION = 8

# More bytes of expectations than this are not stored, except in files whose pages would
# stay in memory. A visit that derives them makes one oracle call more, a certificate
# takes twice as long, and two thirds of the memory are saved. The bits are equal where
# inference is exact.
MOST_STORED = 2**31


class OEG(FromNaturalParameters):
    """OEG with the step sizes of [Schmidt15, footnote 9], and adaptive sampling.

    The first epoch visits every sequence once, in random order. The options are
    parameters of `OEGCRF`. The Potentials ``theta`` are the natural parameters of mu.
    """

    # Natural parameters in single precision, and marginals in double if stored.
    bytes_of_potential = 12

    def __init__(
        self, problem, rng, *, step_init=0.7, init_score=14.0, state=None, **draws
    ):
        super().__init__(problem, rng, **draws)
        self._place(self.n_bytes(problem, 0))
        check_memory(self, "the dual variables of OEG")
        self.init_score = init_score
        self.theta = self._first_parameters(state)
        self.marginals = None
        n_bytes = BYTES_OF_EXPECTATION * problem.structure.n_potentials
        if stores_expectations(problem) or self.storage.has_room(n_bytes):
            self.marginals = problem.structure.zero_potentials(np.float64)
        self.steps = np.full(problem.n_sequences, step_init)
        self._make_visitors()
        self._unvisited = (
            self.blocks.order(rng) if self.blocks else rng.permutation(len(self.steps))
        )
        if self.marginals is None:
            self.marginals = DerivedExpectations(
                self.theta, problem.offsets, self.visitors[0]
            )
        self.take(self.theta)

    @classmethod
    def n_bytes(cls, problem, n_weights):
        """Return about how many bytes the solver keeps, see `Solver.n_bytes`."""
        most = super().n_bytes(problem, n_weights)
        if stores_expectations(problem):
            return most
        return most - BYTES_OF_EXPECTATION * problem.structure.n_potentials

    def new_visitor(self, features, weights, sampler):
        """Return a visitor that moves weights, for one thread."""
        return OEGKernel(
            *self.arguments_of_visitor(self.problem.kernel(weights, features), sampler),
            theta=self.theta,
            expected=self.marginals,
            entropy=self.entropy,
            step=self.steps,
        )

    def largest_parameter(self):
        """Return the largest absolute value in theta."""
        return largest(*self.theta)

    def _first_parameters(self, state):
        problem = self.problem
        if state is not None:
            return potentials_of(state, KEYS, problem)
        return problem.targets.natural_parameters(problem.structure, self.init_score)

    def natural_parameters(self):
        """Return theta, to write natural parameters to."""
        return self.theta

    def take(self, theta):
        """Take the expectations and entropies of theta, which is kept, and move w."""
        self._on_threads("marginalise")
        self._set_point(self.renormalize())

    def take_targets(self):
        """Take natural parameters that exceed the others at the targets."""
        for values, new in zip(self.theta, self._first_parameters(None), strict=True):
            values[:] = new
        self.take(self.theta)

    def epoch(self):
        """Visit each sequence once in the first epoch, then as the sampler draws."""
        self.visit(self.problem.n_sequences)

    def visit(self, n_visits):
        """Visit the sequences that had no visit yet, then as the sampler draws."""
        first, later = np.split(self._unvisited, [n_visits])
        # A copy, since a part would keep the whole order in memory.
        self._unvisited = later.copy()
        n_later = n_visits - len(first)
        if len(first):
            self._allow_halvings(FIRST_HALVINGS)
            self.kernel.epoch_in_order(first)
        if n_later:
            self._allow_halvings(LATER_HALVINGS)
            self._visit_drawn(n_later)
        self._count(n_visits)

    def _allow_halvings(self, number):
        for visitor in self.visitors:
            visitor.max_halvings = number

    def state(self):
        """Return the natural parameters."""
        return {
            **dict(zip(KEYS, self.theta, strict=True)),
            "offsets": self.problem.offsets,
        }


def stores_expectations(problem):
    """Return whether OEG stores the expectations of its natural parameters."""
    return BYTES_OF_EXPECTATION * problem.structure.n_potentials <= MOST_STORED


class DerivedExpectations:
    """The expectations mu of natural parameters, computed when they are asked for.

    It has what certificates use of Potentials: `part` and `tied_total`, and
    ``local[first:last]``, the local expectations of the sequences at these positions.
    """

    def __init__(self, theta, offsets, visitor):
        self.theta, self.offsets, self.visitor = theta, offsets, visitor
        # The threads of a pass over all data share the buffers of the visitor.
        self.lock = Lock()

    @property
    def local(self):
        """The object itself: its slices are local expectations."""
        return self

    def __len__(self):
        """Return the number of positions."""
        return len(self.theta.local)

    def __getitem__(self, positions):
        """Return the local expectations of whole sequences, a slice of positions."""
        first, last, _ = positions.indices(len(self))
        return self.part(*np.searchsorted(self.offsets, [first, last])).local

    def tied_total(self, weight):
        """Return sum_i weight[i] tied[i]."""

        def of_range(begin, end):
            return self.part(begin, end).tied_total(weight[begin:end])

        return np.sum(over_ranges(of_range, self.offsets), axis=0)

    def part(self, begin, end, offsets=None):
        """Return the Potentials of begin <= i < end."""
        first, last = self.offsets[[begin, end]]
        parts = self.theta.local[first:last], self.theta.tied[begin:end]
        out = Potentials(*(np.zeros_like(part, dtype=np.float64) for part in parts))
        with self.lock:
            self.visitor.expect_range(begin, end, out)
        return out
