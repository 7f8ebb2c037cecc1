"""Clock, certificates, history and stopping of a fit, for all solvers.

A solver knows how to make an epoch and how to certify where it is. A `FitMonitor` keeps
the clock (certifying and observing are not charged), records the history, tells the
observers, and decides when to stop.

A certificate takes a full pass, which ends the fit only where the gap is at most tol *
primal. Visits record the gap of each sequence. Their mean is not the gap, since the
weights have moved on, but their ratio changes little from one epoch to the next. So a
certificate waits while this ratio, as the last one found it, says that the gap is far
above its target: tol times the sum of this gap and of D, which the entropies that
visits recorded give without a pass over the data. It waits for `MOST_EPOCHS` at most,
and a fit ends by a certificate alone. Where observers read every row, a certificate
that waits is made aside for them: they change no bit of the fit. With tol=0 no
certificate waits, since such a fit is made for its history.
"""

from time import perf_counter
from typing import NamedTuple

import numpy as np

from skcrf_sdca._utils.messages import counted
from skcrf_sdca._utils.words import words
from skcrf_sdca.objective.objective import ROUNDING, not_finite

HISTORY_COLUMNS = (
    "epoch",
    "updates",
    "oracle_calls",
    "seconds",
    "primal",
    "dual",
    "gap",
)


# For `np.errstate`: the check of every certificate finds an overflow.
CHECKED_LATER = {"over": "ignore", "divide": "ignore", "invalid": "ignore"}

# A certificate waits while the estimate of the gap is above so many targets. From one
# epoch to the next the ratio fell by at most a third on text and handwriting, and an
# epoch takes longer than a certificate.
MARGIN = 2.0
# The ratio before the first certificate: on text it was 0.5 to 1.3 near the end.
FIRST_RATIO = 0.5
# Epochs from one certificate to the next, at most. Rounding is corrected as often.
MOST_EPOCHS = 10

# A gap below this multiple of the bound on its rounding is taken for rounding.
AT_ROUNDING = 1.1


class Observer:
    """Listener of a `FitMonitor`; subclasses override the methods that they need.

    ``reads_rows`` says whether it reads a row of the history for every epoch.
    """

    reads_rows = True

    def begin_epoch(self):
        """Handle the beginning of an epoch."""

    def end_visits(self):
        """Handle the end of the visits of an epoch, also where no row is made."""

    def end_epoch(self, row):
        """Take the row of the history just made; return True to stop.

        It may add columns to the row, which the observers after it see too.
        """

    def close(self):
        """Handle the end of the run, also after an error."""


class _Last(NamedTuple):
    """What the certificates that wait need of the last one that did not.

    ``ratio`` is its gap over the mean of the recorded gaps, and ``floor`` the smallest
    gap that could be certified.
    """

    epoch: int = 0
    ratio: float = FIRST_RATIO
    floor: float = 0.0


class FitMonitor:
    """Clock, history and stopping of one fit.

    Order of calls: `run` calls ``solver.run(end_epoch)``, in which the solver makes its
    epochs. After every epoch, or every ``certify_every``, it calls ``end_epoch``: the
    clock is stopped, ``solver.certify_epoch`` asked, a row added to the history, and
    the observers are told. If the certificate waits, there is a row only if an observer
    reads it. The answer True ends the run.

    Parameters
    ----------
    solver : Solver
    max_iter : int
        Epochs at most.
    tol : float
        Stop at gap <= tol * primal.
    observers : iterable of Observer, default=()
        More can be appended to the attribute before the run.
    clock : callable, default=None
        Returns a time in seconds; by default `time.perf_counter`.

    Attributes
    ----------
    target : float
        The gap that would have ended the run at the last certificate: tol * primal, or
        `floor` if that is larger.
    floor : float
        Smallest gap that can be certified: 1.1 times the rounding bound, or the gap
        that gradient rounding causes where all labels are equal and the optimum is 0.
    rows : list of dict
        One for each certificate, with the keys HISTORY_COLUMNS and the keys of
        ``solver.columns``.
    converged, stopped : bool
        Whether the gap was reached; whether an observer asked to stop.
    """

    def __init__(self, solver, *, max_iter, tol, observers=(), clock=None):
        self.solver, self.clock = solver, clock or perf_counter
        self.max_iter = max_iter
        self.tol = tol
        self.target = self.floor = np.nan
        self.observers = list(observers)
        self.rows = []
        self.converged = False
        self.stopped = False
        self._seconds = 0.0
        self._n_epochs = 0
        self._last = _Last()

    def run(self):
        """Run the solver to the end; ValueError if the objective is not finite."""
        try:
            self._begin_epoch()
            with np.errstate(**CHECKED_LATER):
                self.solver.run(self._end_epoch)
                if not self.rows:
                    self._end_epoch()
        finally:
            for observer in self.observers:
                observer.close()
            # Some observers hold this monitor. Such a cycle would keep the state of the
            # solver in memory until the garbage collector runs.
            self.observers.clear()
        return self

    def _begin_epoch(self):
        for observer in self.observers:
            observer.begin_epoch()
        self._resumed = self.clock()

    def _end_epoch(self):
        self._seconds += self.clock() - self._resumed
        solver, n = self.solver, self.solver.problem.n_sequences
        self._n_epochs += solver.certify_every
        for observer in self.observers:
            observer.end_visits()
        waits = self._waits()
        if waits and not any(observer.reads_rows for observer in self.observers):
            self._resumed = self.clock()
            return False
        measures = self._measure(waits)
        _check_finite(measures)
        row = {
            "epoch": self._n_epochs,
            "updates": solver.n_updates / n,
            "oracle_calls": solver.n_oracle_calls / n,
            "seconds": self._seconds,
            **measures,
            **solver.columns,
        }
        self.rows.append(row)
        self.converged = not waits and self._is_reached(row)
        # Every observer is told, also after one has asked to stop.
        answers = [observer.end_epoch(row) for observer in self.observers]
        self.stopped = any(answers)
        done = self.converged or self.stopped or row["epoch"] >= self.max_iter
        if not done:
            self._begin_epoch()
        return done

    def _waits(self):
        """Return whether the certificate of this epoch waits; the solver is told."""
        latest = min(self.max_iter, self._last.epoch + MOST_EPOCHS)
        if not self.tol or self._n_epochs >= latest:
            return False
        gap = self._last.ratio * self.solver.recorded_gap()
        if np.isnan(gap):
            return False
        dual = self.solver.recorded_dual()
        target = max(self.tol * (dual + gap), self._last.floor)
        if gap > MARGIN * target:
            self.solver.wait(gap, dual)
            return True
        return False

    def _measure(self, waits):
        """Return the columns of a row of the history that measure the model."""
        if waits:
            certificate = self.solver.certify_aside()
        else:
            certificate = self.solver.certify_epoch(self.tol)
        self._set_target(certificate)
        if not waits:
            ratio = certificate.gap / self.solver.recorded_gap()
            self._last = _Last(self._n_epochs, ratio, self.floor)
        return {
            "primal": certificate.primal,
            "dual": certificate.dual,
            "gap": certificate.gap,
        }

    def described(self, row):
        """Return what a row says of the model; the fit ends at gap <= tol * primal."""
        return (
            f"primal {row['primal']:.6e}  dual {row['dual']:.6e}  gap {row['gap']:.3e} "
            f"(ends at {self.tol * row['primal']:.1e})"
        )

    def _is_reached(self, row):
        return row["gap"] <= self.target

    def figures(self):
        """Return the measures of the last row, as attributes of an estimator."""
        last = self.rows[-1]
        return {
            "gap_target_": self.target,
            "primal_objective_": last["primal"],
            "dual_objective_": last["dual"],
            "duality_gap_": last["gap"],
        }

    def _set_target(self, certificate):
        problem = self.solver.problem
        zero = (ROUNDING * problem.mean_length) ** 2 / problem.alpha
        self.floor = max(AT_ROUNDING * certificate.rounding, zero)
        self.target = max(self.tol * certificate.primal, self.floor)

    def history(self):
        """Return the history as a dict of arrays of shape (n_certificates,)."""
        return {
            column: np.array([row[column] for row in self.rows])
            for column in self.rows[0]
        }

    def convergence_message(self):
        """Return a warning if the run ended with the gap above tol * primal, or None.

        With tol = 0 a run that ends at the floor is complete.
        """
        last = self.rows[-1]
        wanted = self.tol * last["primal"]
        if self.stopped or last["gap"] <= wanted:
            return None
        problem, epochs = self.solver.problem, counted(last["epoch"], "epoch")
        if self.converged:
            # Where the optimum is 0, no gap is small beside it.
            is_zero = last["primal"] <= ROUNDING * problem.initial_primal
            if is_zero or not self.tol:
                return None
            return (
                f"the duality gap is {last['gap']:.3g} after {epochs}, as small as "
                f"rounding lets it be, above tol * primal = {wanted:.3g}: increase tol "
                f"or {words().alpha}, or scale the features"
            )
        reason = f" ({self.solver.message})" if self.solver.message else ""
        own = words()
        advice = f"increase {own.max_iter}, tol or {own.alpha}, or scale the features"
        if problem.loss.is_smooth and last["primal"] > problem.initial_primal:
            advice += f"; few and long {own.sequence}s are a case for {own.lbfgs}"
        return (
            f"the duality gap is {last['gap']:.3g} after {epochs}{reason}, above tol * "
            f"primal = {wanted:.3g} at {own.strength.format(problem.alpha)}: {advice}"
        )


class LossMonitor(FitMonitor):
    """Clock and history of a fit whose solver minimises no objective.

    A row has the mean loss of the visits of the epoch, each at the weights that it
    found. The fit ends where this loss is at most ``tol``, and `max_iter` is no
    failure. A loss of 0 ends it only if no weight changed: the perceptron's loss of a
    mistake among labellings with equal scores is 0.
    """

    def _measure(self, waits):
        return {"loss": self.solver.mean_loss}

    def described(self, row):
        """Return what a row says of the model."""
        return f"mean loss of the visits {row['loss']:.6e}"

    def _is_reached(self, row):
        before = self.rows[-2]["updates"] if len(self.rows) > 1 else 0.0
        has_loss, changed = row["loss"] > 0.0, row["updates"] > before
        return row["loss"] <= self.tol and (has_loss or not changed)

    def figures(self):
        """Return the loss and the number of visits, as attributes of an estimator."""
        return {"loss_": self.rows[-1]["loss"], "n_visits_": self.solver.n_visits}

    def convergence_message(self):
        """Return None: nothing is promised."""
        return None


def _check_finite(measures):
    if not np.isfinite(list(measures.values())).all():
        raise not_finite()
