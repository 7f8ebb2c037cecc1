"""The loop over epochs, the only one: clock, certificate, history, stopping.

A solver knows how to make one epoch better and how to certify where it is. `Loop` asks
it to, keeps the clock (certifying and observing are not charged), records the history,
tells the observers, and decides when to stop.
"""

from abc import ABC, abstractmethod
from time import perf_counter

import numpy as np

from skcrf_sdca.objective.problem import NOT_FINITE
from skcrf_sdca.structures.chain.marginals import edge_offsets

HISTORY_COLUMNS = (
    "epoch",
    "updates",
    "oracle_calls",
    "seconds",
    "primal",
    "dual",
    "gap",
)

# What rounding may leave of a mean of features, relative to the mean length.
ROUNDING = 8.0 * np.finfo(float).eps


class Solver(ABC):
    """One run of an optimiser on one problem.

    Attributes
    ----------
    problem : Problem
    model : ChainModel
        The current weights.
    n_updates, n_oracle_calls : int
        Changes of the weights and marginalisations of one sequence so far; full
        passes that only certify are not counted.
    """

    n_updates = 0
    n_oracle_calls = 0
    # Why the solver ended of itself, where it did.
    message = ""

    @abstractmethod
    def run(self, end_epoch):
        """Make epochs until ``end_epoch()``, called after each, returns True."""

    @abstractmethod
    def certify(self):
        """Return the Certificate of the current state, from a full pass."""

    def certify_epoch(self, target):
        """Return a Certificate at the end of an epoch.

        It may be cheaper than that of `certify`, and have the rounding of the visits,
        while the gap is far from the target that ends the run.
        """
        return self.certify()

    @abstractmethod
    def state(self):
        """Return what a warm start takes up: a dict of arrays."""


class EpochSolver(Solver):
    """A solver that makes its epochs one by one."""

    def run(self, end_epoch):
        """Make epochs until ``end_epoch()``, called after each, returns True."""
        while True:
            self.epoch()
            if end_epoch():
                return

    @abstractmethod
    def epoch(self):
        """Improve the model by one epoch: n visits."""


class Observer:
    """What `Loop` tells: nothing happens here, subclasses pick what they need."""

    def begin_epoch(self):
        """Take note that an epoch begins."""

    def end_epoch(self, row):
        """Take the row of the history just made; return True to stop."""

    def close(self):
        """Take note that the last epoch has been ended, or was never run."""


class Loop:
    """Epochs of a solver until the gap is small enough.

    Parameters
    ----------
    solver : Solver
    max_iter : int
        Epochs at most.
    tol : float
        Stop at gap <= tol * P(0), with P(0) the objective of the empty model.
    observers : iterable of Observer, default=()
        More can be appended to the attribute before the run.

    Attributes
    ----------
    target : float
        tol * P(0), or the gap that rounding of the gradient makes: with a single label
        P(0) is 0.
    rows : list of dict
        One for each epoch, with the keys HISTORY_COLUMNS.
    converged, stopped : bool
        Whether the gap was reached; whether an observer asked to stop.
    """

    def __init__(self, solver, *, max_iter, tol, observers=()):
        self.solver = solver
        self.max_iter = max_iter
        problem = solver.problem
        zero = (ROUNDING * problem.mean_length) ** 2 / problem.alpha
        self.target = max(tol * problem.initial_primal, zero)
        self.observers = list(observers)
        self.rows = []
        self.converged = False
        self.stopped = False
        self._seconds = 0.0

    def run(self):
        """Run the solver to the end.

        Raises
        ------
        ValueError
            If the objective is not finite.
        """
        try:
            self._begin_epoch()
            # What overflows is found by the check of every certificate.
            with np.errstate(over="ignore", invalid="ignore"):
                self.solver.run(self._end_epoch)
                if not self.rows:
                    self._end_epoch()
        finally:
            for observer in self.observers:
                observer.close()
        return self

    def _begin_epoch(self):
        for observer in self.observers:
            observer.begin_epoch()
        self._resumed = perf_counter()

    def _end_epoch(self):
        self._seconds += perf_counter() - self._resumed
        solver, n = self.solver, self.solver.problem.n_sequences
        certificate = solver.certify_epoch(self.target)
        _check_finite(certificate)
        row = {
            "epoch": len(self.rows) + 1,
            "updates": solver.n_updates / n,
            "oracle_calls": solver.n_oracle_calls / n,
            "seconds": self._seconds,
            "primal": certificate.primal,
            "dual": certificate.dual,
            "gap": certificate.gap,
        }
        self.rows.append(row)
        self.converged = row["gap"] <= self.target
        # Every observer is told, also after one has asked to stop.
        answers = [observer.end_epoch(row) for observer in self.observers]
        self.stopped = any(answers)
        done = self.converged or self.stopped or row["epoch"] == self.max_iter
        if not done:
            self._begin_epoch()
        return done

    def history(self):
        """Return the history as a dict of arrays of shape (n_epochs,)."""
        return {
            column: np.array([row[column] for row in self.rows])
            for column in HISTORY_COLUMNS
        }

    def complaint(self):
        """Return what to warn of: the gap, if the run ended above the target."""
        if self.converged or self.stopped:
            return None
        last = self.rows[-1]
        reason = f" ({self.solver.message})" if self.solver.message else ""
        advice = "increase max_iter, tol or alpha, or scale the features"
        if last["primal"] > self.solver.problem.initial_primal:
            advice += "; few and long sequences are a case for LBFGSCRF"
        return (
            f"the duality gap is {last['gap']:.3g} after {last['epoch']} epochs"
            f"{reason}, above tol * P(0) = {self.target:.3g} at alpha = "
            f"{self.solver.problem.alpha:.3g}: {advice}"
        )


def _check_finite(certificate):
    values = certificate.primal, certificate.dual, certificate.gap
    if not np.isfinite(values).all():
        raise ValueError(NOT_FINITE)


def check_same_sequences(state, axes, problem):
    """Raise ValueError if a state is not one of the problem's sequences.

    Parameters
    ----------
    state : dict of ndarrays
        With ``offsets`` of shape (n + 1,). It may come from a file.
    axes : dict of str
        The shape that each array must have: a letter an axis, n sequences, T positions,
        E edges, K labels.
    problem : Problem
    """
    sizes = {
        "n": problem.n_sequences,
        "T": problem.offsets[-1],
        "E": edge_offsets(problem.offsets)[-1],
        "K": problem.n_labels,
    }
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


def first_model(problem, state):
    """Return a model with the weights of a state, made by a solver of primal points.

    Parameters
    ----------
    problem : Problem
    state : dict
        With the weights ``w``: copied.

    Raises
    ------
    ValueError
        If they are not as many as the problem has.
    """
    model = problem.new_model()
    if state["w"].shape != model.w.shape:
        raise ValueError(
            "warm_start=True needs as many features and labels as in the last fit; set "
            "warm_start=False to fit other data"
        )
    model.w[:] = state["w"]
    if not problem.boundaries:
        for block in (model.start, model.end, model.transition):
            block[:] = 0.0
    return model
