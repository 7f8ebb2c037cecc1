"""The interface of solvers, their needs, and the checks of their states.

The loop over epochs is `Solver.run`; clock, history and stopping are in monitor.py.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, ClassVar

import numpy as np

from skcrf_sdca._utils.memory import check_fits
from skcrf_sdca._utils.words import words
from skcrf_sdca.objective.losses import LOSSES
from skcrf_sdca.objective.penalties import check_read
from skcrf_sdca.structures.structure import Potentials

# What a structure, a loss or a penalty may offer, in the words of messages.
NEEDS = {
    "argmax": "a structure with a proven best labelling",
    "log_partition": "a structure with a log partition function",
    "expect": "a structure with expectations",
    "visit": "a structure with a compiled kernel for single sequences",
    "rows": "the rows of a table, a 2-D X and a 1-D y",
    "direct": "a structure with marginals of cliques, for an exact line search",
    "smooth loss": "a loss with temperature > 0",
    "log sum": "a loss with temperature > 0 and log Z",
    "few labellings": "a loss whose expectations mix few labellings",
    "compiled loss": "a loss of log Z or of the maximum, whose visits are compiled",
    "gradient": "a differentiable penalty",
    "curvature": "a strongly convex penalty (l1_ratio < 1, or an acceleration)",
    "identity": "the penalty L2 (l1_ratio=0)",
    "threshold": "the penalty L2 or elastic net",
}


# Above this share of P(0), a gap is more than a hundred times the rounding of marginals
# in single precision, and far more than the rounding of P and D.
FAR = 1e-5
# R^2 / (alpha n) of dense features above which visits of single sequences make slow
# progress without a preconditioner.
LARGE = 2e2
# Least number of vectors of all weights that a solver keeps beside the model.
N_VECTORS = 3


class Solver(ABC):
    """One run of an optimiser on one problem.

    A subclass is called as ``Solver(problem, rng, *, state=None, **options)``: all
    options have defaults, and ``state`` is what `state` of an earlier run returned.

    Attributes
    ----------
    needs : frozenset of str
        Keys of `NEEDS` that the structure, the loss and the penalty must offer.
    bytes_of_potential : int
        Bytes that the solver keeps for each number in the Potentials of all sequences.
    certify_every : int
        Epochs from one certificate to the next.
    problem : Objective
    model : Parameters
        The current weights.
    n_updates, n_oracle_calls : int
        Changes of the weights, and marginalisations or best labellings of one sequence
        so far; full passes that only certify are not counted.
    message : str
        The reason, if the solver stopped on its own.
    columns : dict
        More columns of the history, by name: their values now.
    dual : DualSolver or None
        The solver itself, or the one that it works by, if it keeps dual variables.
    starts_at_targets : bool
        Whether a new run starts at the targets of the problem, as dual solvers do.
    """

    needs: ClassVar[frozenset[str]] = frozenset({"expect", "smooth loss", "gradient"})
    bytes_of_potential: ClassVar[int] = 0
    certify_every = 1
    n_updates = 0
    n_oracle_calls = 0
    message = ""
    columns: Mapping[str, float] = MappingProxyType({})
    dual: Any = None
    starts_at_targets = False

    @classmethod
    def n_bytes(cls, problem, n_weights):
        """Return about how many bytes a solver keeps, beside the data and the model."""
        of_potentials = cls.bytes_of_potential * problem.structure.n_potentials
        return 8 * N_VECTORS * n_weights + of_potentials

    def n_bytes_in_memory(self, n_weights):
        """Return how many of `n_bytes` are in memory."""
        return self.n_bytes(self.problem, n_weights)

    @abstractmethod
    def run(self, end_epoch):
        """Make epochs until ``end_epoch()``, called after each, returns True."""

    @abstractmethod
    def certify(self):
        """Return the Certificate of the current state, from a full pass."""

    def certify_epoch(self, tol):
        """Return a Certificate at the end of an epoch.

        While the gap is above the tol * primal that ends the run, it may be cheaper
        than `certify`, and have the rounding of the visits.
        """
        return self.certify()

    def recorded_gap(self):
        """Return the mean of the gaps that visits recorded, or NaN if none did.

        It is a NumPy number. Its ratio with the certified gap changes slowly.
        """
        return np.float64(np.nan)

    def recorded_dual(self):
        """Return D by what visits recorded, if `recorded_gap` is not NaN."""
        return np.float64(np.nan)

    def wait(self, gap, dual):  # noqa: B027
        """Go on without a certificate of the last epoch.

        ``gap`` is an estimate, and ``dual`` is `recorded_dual`.
        """

    def certify_aside(self):
        """Return a Certificate, after `wait`, that leaves the state as it is."""
        return self.certify()

    @abstractmethod
    def state(self):
        """Return the state for a warm start: a dict of arrays."""

    def start_at(self, w, unseen=None):
        """Start from weights; ValueError if the solver cannot.

        ``unseen`` says which sequences the weights were not fitted on, None if that is
        not known: solvers with a point for each sequence begin there as without them.
        """
        raise ValueError(
            f"init is not taken: the solver {type(self).__name__} cannot start from "
            "the weights of a model; set init=None"
        )

    def targets_changed(self):  # noqa: B027
        """Go on with other targets of the problem, where the state depends on them."""


class EpochSolver(Solver):
    """A solver that makes its epochs one by one."""

    def run(self, end_epoch):
        """Make epochs until ``end_epoch()`` returns True."""
        while True:
            for _ in range(self.certify_every):
                self.epoch()
            if end_epoch():
                return

    @abstractmethod
    def epoch(self):
        """Improve the model by one epoch: n visits."""


class OuterSolver(EpochSolver):
    """A solver that works by the epochs of another, its ``solver``."""

    @property
    def starts_at_targets(self):
        """Whether the other solver starts at the targets."""
        return self.solver.starts_at_targets

    @property
    def dual(self):
        """The other solver, if it keeps dual variables."""
        return self.solver.dual

    @property
    def columns(self):
        """The columns of the other solver."""
        return self.solver.columns

    @property
    def n_updates(self):
        """Changes of the weights by visits."""
        return self.solver.n_updates

    @property
    def n_oracle_calls(self):
        """Marginalisations, or best labellings, of one sequence by visits."""
        return self.solver.n_oracle_calls


def missing_needs(solver, structure, loss, penalty, provided=frozenset()):
    """Return the needs that neither a part of a problem nor ``provided`` offers."""
    offers = structure.levels | loss.offers | penalty.offers | provided
    return (solver.needs | loss.needs) - offers


def check_needs(solver, structure, loss, penalty, provided=frozenset()):
    """Raise ValueError if a solver cannot work on a problem of these parts.

    ``provided`` are needs that are met otherwise. The message names all needs, and the
    losses and solvers that would do. Raise NotImplementedError if the penalty lacks
    what its offers promise.

    >>> from skcrf_sdca.objective.losses import LOG_LOSS, new_loss
    >>> from skcrf_sdca.objective.penalties import L2
    >>> from skcrf_sdca.solvers.base import check_needs
    >>> from skcrf_sdca.solvers.sdca import SDCA
    >>> from skcrf_sdca.structures.chain.structure import Chain
    >>> check_needs(SDCA, Chain, LOG_LOSS, L2())
    >>> hinge = new_loss("hinge")
    >>> check_needs(SDCA, Chain, hinge, L2())  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ...
    ValueError: SDCA needs a loss with temperature > 0 ...
    """
    check_read(penalty)
    missing = missing_needs(solver, structure, loss, penalty, provided)
    if missing:
        needs = ", ".join(NEEDS[need] for need in sorted(missing))
        fitting = " or ".join(_that_fit(solver, structure, loss, penalty, provided))
        raise ValueError(
            f"{solver.__name__} needs {needs}; got the structure {structure.name!r}, "
            f"the loss {loss.name!r} and the penalty {penalty.name!r}"
            f"{fitting and ': take '}{fitting}"
        )


def _that_fit(solver, structure, loss, penalty, provided):
    """Return the losses that a solver takes here, and the solvers that take this one.

    If there are none, the solvers that take another loss.
    """

    def takes(solvers, loss):
        parts = structure, loss, penalty, provided
        return not all(missing_needs(own, *parts) for own in solvers)

    choices, _ = words().choices()
    losses = {f'loss="{name}"': option.new for name, option in LOSSES.items()}
    found = [name for name, own in losses.items() if takes([solver], own)]
    found += [name for name, solvers in choices.items() if takes(solvers, loss)]
    return found or [
        f"{name} with {other}"
        for name, solvers in choices.items()
        for other, own in losses.items()
        if takes(solvers, own)
    ]


def _check_has(state, *names):
    """Raise ValueError if a state has not all arrays of a solver."""
    if not state.keys() >= set(names):
        raise ValueError(
            "warm_start=True needs the state of a fit by the same estimator, solver "
            "and kind of loss; set warm_start=False"
        )


def check_same_sequences(state, axes, problem):
    """Raise ValueError if a state is not one of the problem's sequences.

    The state may come from a file. ``axes`` gives the shape of each array: a letter
    for each axis, see `Structure.sizes`.
    """
    _check_has(state, "offsets", *axes)
    sizes = problem.structure.sizes
    same_shapes = all(
        state[name].shape == tuple(sizes[axis] for axis in letters)
        for name, letters in axes.items()
    )
    if not same_shapes or not np.array_equal(state["offsets"], problem.offsets):
        raise ValueError(
            "warm_start=True needs X and y with the same sequence lengths and the same "
            "number of labels as in the last fit; set warm_start=False to fit other "
            "data"
        )


def check_memory(solver, kept):
    """Raise MemoryError if what a solver keeps, called ``kept``, does not fit."""
    problem = solver.problem
    n, n_labels = problem.n_sequences, problem.structure.n_labels
    check_fits(
        solver.n_bytes_in_memory(problem.new_parameters().w.size),
        f"{kept}, {n} sequences with {n_labels} labels,",
        "join labels that are rare",
    )


def potentials_of(state, keys, problem):
    """Return copies of Potentials in a state of the same sequences."""
    axes = dict(zip(keys, problem.structure.potential_axes, strict=True))
    check_same_sequences(state, axes, problem)
    return Potentials(*(problem.structure.copied(state[key]) for key in keys))


def moving_weights(model, moved, penalty):
    """Return compiled weights w = grad r*(v), which visits move.

    The Parameters ``model`` hold w, and ``moved`` the `Penalty.moved_point`.
    """
    if moved is model:
        return model.weights()
    weights = model.sparse_weights(moved, penalty.threshold)
    weights.set_factors(*penalty.factors)
    return weights


def first_model(problem, state):
    """Return parameters with a copy of the weights ``w`` of a state, or ValueError."""
    _check_has(state, "w")
    model = problem.new_parameters()
    if state["w"].shape != model.w.shape:
        raise ValueError(
            "warm_start=True needs as many features and labels as in the last fit; set "
            "warm_start=False to fit other data"
        )
    model.w[:] = state["w"]
    model.clear_boundaries()
    return model
