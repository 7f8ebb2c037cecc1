"""Block-coordinate Frank-Wolfe [LacosteJulien13]: its state, and its first point."""

from typing import ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize_scalar

from skcrf_sdca._kernels.visits._bcfw import BCFWKernel, MixtureKernel
from skcrf_sdca.solvers.base import check_memory, check_same_sequences, potentials_of
from skcrf_sdca.solvers.dual import DualSolver
from skcrf_sdca.solvers.samplers import SchemeNames

# The expectations in the state of a warm start.
KEYS = ("local", "tied")
# Labellings in the active set of a sequence: as many as its mean length, between these.
# Most sequences have one or two, and some need many: with 16, names end at a gap of a
# fiftieth of the objective. Mixtures of trees, whose positions are arcs, need over 100.
FEWEST_LABELLINGS, MOST_LABELLINGS = 64, 255
# The curvature that a `MixtureKernel` knows at first: that of one move which changes no
# feature. That of H is not 0, and divides that of R.
FIRST_CURVATURE = np.array([0.0, 1.0])


class ActiveSets(NamedTuple):
    """The labellings that the expectations of each sequence mix.

    The first one of a sequence is that of its labels, which stays without a share too.

    Attributes
    ----------
    paths : ndarray of shape (most, n_positions), int32
        Labelling k of all sequences. The memory of rows that few sequences need is
        hardly touched.
    share : ndarray of shape (most, n)
    size : ndarray of shape (n,), int32
        How many labellings a sequence has.
    """

    paths: NDArray
    share: NDArray
    size: NDArray

    @classmethod
    def of_labels(cls, problem):
        """Return the sets of a problem's sequences that have their labels alone."""
        labels, n = problem.targets.labels, problem.n_sequences
        most = most_labellings(problem)
        new_array = problem.structure.new_array
        sets = cls(
            new_array((most, len(labels)), np.int32),
            new_array((most, n)),
            np.ones(n, dtype=np.int32),
        )
        sets.paths[0], sets.share[0] = labels, 1.0
        return sets

    def take(self, state, n_labels):
        """Copy the sets of a state; ValueError if it has no such sets of labels."""
        paths, share, size = (state[name] for name in self._fields)
        n_used = len(paths)
        if (
            paths.shape != self.paths[:n_used].shape
            or share.shape != self.share[:n_used].shape
            or not _are_within(size, 1, n_used)
            or not _are_within(paths, 0, n_labels - 1)
        ):
            raise _of_no_fit("labellings")
        self.paths[:n_used], self.share[:n_used], self.size[:] = paths, share, size

    def used(self):
        """Return the arrays by name, without the rows that no sequence needs."""
        most = self.size.max(initial=1)
        return {
            "paths": self.paths[:most],
            "share": self.share[:most],
            "size": self.size,
        }


def most_labellings(problem):
    """Return how many labellings an active set has room for."""
    return int(np.clip(problem.mean_length, FEWEST_LABELLINGS, MOST_LABELLINGS))


def _of_no_fit(part):
    """Return the error for a part of a state, in the words of its message."""
    return ValueError(
        "warm_start=True needs the state of a fit by the same estimator, and this one "
        f"has {part} that no fit has; set warm_start=False"
    )


def _are_within(numbers, least, most):
    return numbers.min(initial=least) >= least and numbers.max(initial=most) <= most


def _curvature_of(state):
    """Return the curvature of a state, the first one if it has none; or ValueError."""
    found = np.asarray(state.get("curvature", FIRST_CURVATURE))
    is_known = found.shape == FIRST_CURVATURE.shape and np.isfinite(found).all()
    if not is_known or (found < FIRST_CURVATURE).any():
        raise _of_no_fit("a curvature")
    return found


class BCFW(DualSolver):
    """BCFW with exact line search and adaptive sampling [Osokin16].

    It solves problems whose dual has no entropy, those of the structural SVM, by
    pairwise steps, or Gini's entropy, which is a quadratic, by steps to mixtures. The
    first dual point is the one-hot labels, so that w = 0. Its options are parameters of
    `SDCACRF`.
    """

    bytes_of_potential = 8
    needs: ClassVar[frozenset[str]] = frozenset(
        {"argmax", "visit", "few labellings", "curvature", "threshold"}
    )

    def __init__(self, problem, rng, *, state=None, **draws):
        super().__init__(problem, rng, **draws)
        if self.sampling not in SchemeNames("bcfw"):
            raise ValueError(
                f'sampling="{self.sampling}" is not for loss="{problem.loss.name}": '
                f"choose one of {sorted(SchemeNames('bcfw'))}"
            )
        self._place(self.n_bytes(problem, 0))
        check_memory(self, f"the dual variables of {problem.loss.name}")
        self.active = ActiveSets.of_labels(problem)
        self.marginals = self._first_marginals(state)
        self._first_curvature = _curvature_of(state or {})
        self._make_visitors()
        self._set_point(self.renormalize())
        if state is not None and problem.alpha < state["alpha"]:
            self._shrink_to_labels(problem.alpha / state["alpha"])

    @classmethod
    def n_bytes(cls, problem, n_weights):
        """Return about how many bytes the solver keeps, with all active sets full."""
        of_sequence = 4 * problem.offsets[-1] + 8 * problem.n_sequences
        others = super().n_bytes(problem, n_weights)
        return others + most_labellings(problem) * int(of_sequence)

    def _first_marginals(self, state):
        """Return those of a state with the same labels, or the labels themselves.

        The active sets of a smooth loss are near mu, and those of the hinge are mu.
        """
        labels, is_smooth = self.problem.targets.labels, self.problem.loss.is_smooth
        if state is not None:
            marginals = potentials_of(state, KEYS, self.problem)
            has_sets = is_smooth or "curvature" not in state
            if has_sets and np.array_equal(state.get("paths", [None])[0], labels):
                check_same_sequences(state, {"size": "n"}, self.problem)
                self.active.take(state, marginals.local.shape[1])
                return marginals
            if is_smooth:
                return marginals
        return self.problem.structure.label_potentials(labels)

    # If alpha falls to ratio * alpha, the same mu makes v longer by 1 / ratio. The
    # labels have v = 0, and costs and fixed scores add 0 to them. Mixed with the
    # labels, mu gives keep * v, and keep times the added scores: the dual is largest
    # for a keep between ratio and 1.
    def _shrink_to_labels(self, ratio):
        """Mix mu with the labels, in the proportion of largest dual."""
        problem, v = self.problem, self.v
        added = problem.mean_added(self.marginals.local, v)
        labels = problem.structure.label_potentials(problem.targets.labels)
        local = self.marginals.local
        mixtures = local, 0.5 * (local + labels.local)
        whole, half = (problem.mean(self._entropies(own)) for own in mixtures)

        def negative_dual(keep):
            # The mean of H is a quadratic, which is 0 at the labels.
            entropy = keep * (4.0 * half - whole) + keep**2 * (2.0 * whole - 4.0 * half)
            return -problem.dual(keep * v, entropy + keep * added)

        keep = minimize_scalar(negative_dual, bounds=(ratio, 1.0)).x
        for values, certain in zip(self.marginals, labels, strict=True):
            values *= keep
            certain *= 1.0 - keep
            values += certain
        self.active.share[:] *= keep
        self.active.share[0] += 1.0 - keep
        self._set_point(self.renormalize())

    def _entropies(self, local):
        """Return H of each sequence, given local expectations."""
        return self.problem.loss.entropies(local, self.problem.offsets)

    def renormalize(self, needs_total=True):
        """Set the entropies of mu; return the weighted sum of its tied expectations."""
        self._set_entropies()
        return super().renormalize(needs_total)

    def recorded_dual(self):
        """Return D(mu), with the entropies of mu: visits record none."""
        self._set_entropies()
        return super().recorded_dual()

    def _set_entropies(self):
        self.entropy[:] = self._entropies(self.marginals.local)

    def new_visitor(self, features, weights, sampler):
        """Return a visitor that moves weights, for one thread."""
        item = self.problem.kernel(weights, features)
        common = self.arguments_of_visitor(item, sampler)
        mu = {"expected": self.marginals, "active": self.active}
        if self.problem.loss.is_smooth:
            return MixtureKernel(*common, **mu, curvature=self._first_curvature)
        return BCFWKernel(*common, **mu)

    def state(self):
        """Return the expectations, the labellings that they mix, and the curvature.

        A smooth loss has a curvature, the mean of those that the visitors know.
        """
        own = {}
        if self.problem.loss.is_smooth:
            known = [visitor.curvature for visitor in self.visitors]
            own["curvature"] = np.mean(known, axis=0)
        return {
            **dict(zip(KEYS, self.marginals, strict=True)),
            **self.active.used(),
            **own,
            "alpha": self.problem.alpha,
            "offsets": self.problem.offsets,
        }
