"""Watching a fit: the duality gap of every epoch, through `sklearn.callback`.

Owns `DualityGapMonitor` with its log, and the observers that tie the loop over epochs
to what the user sees: scikit-learn's callback contexts, and the lines of ``verbose=1``.
`sklearn.callback.ScoringMonitor` makes scores of every epoch on X and y, given by name:
``scoring={"accuracy": lambda crf, X, y: crf.score(X, y)}``. Scores on held-out data are
in held_out.py.
"""

from collections.abc import Mapping
from typing import Any, Literal

from skcrf_sdca._utils.messages import counted
from skcrf_sdca._utils.sklearn_versions import ScoringMonitor, ScoringMonitorLog
from skcrf_sdca.solvers.monitor import HISTORY_COLUMNS, Observer

EPOCH_TASK = "epoch"

# It fails on scoring=None, and on functions that return a number, for every estimator.
NAMED_SCORES = (
    "ScoringMonitor of scikit-learn 1.9 needs scores with names: pass "
    'ScoringMonitor(scoring={"score": function of (estimator, X, y)}).'
)


def _certificate(estimator, X, y, **metadata):
    """Return the last row of the history, in the form of a scorer's result."""
    return {column: values[-1].item() for column, values in estimator.history_.items()}


class DualityGapLog(ScoringMonitorLog):
    """The records of one run, whose representation says how its fits ended."""

    def __repr__(self):
        """Return the name of the outermost estimator, and the gaps of its fits."""
        # The last row of each fit stands after the others.
        last = {row["parent_task_id_path"]: row for row in self.data if "gap" in row}
        gaps = [row["gap"] for row in last.values()]
        shown = f"{min(gaps):.3g}" if gaps else "unknown"
        if len(gaps) > 1:
            shown += f" to {max(gaps):.3g}"
        n_epochs = sum("gap" in row for row in self.data)
        return (
            f"<{type(self).__name__} of {self.estimator_name}, "
            f"{counted(len(gaps), 'fit')} of a CRF, {counted(n_epochs, 'epoch')}: "
            f"gap at the end {shown}>"
        )


def _certificate_first(log):
    """Return the log of a ScoringMonitor with the certificate first in each row."""
    rows = [
        dict(sorted(row.items(), key=lambda item: item[0] not in HISTORY_COLUMNS))
        for row in log.data
    ]
    return DualityGapLog(**{**vars(log), "data": rows})


class DualityGapMonitor(ScoringMonitor):
    """Record primal, dual and duality gap of every epoch of every CRF fitted.

    Set on a CRF it follows its fits; set on a Pipeline, GridSearchCV or another
    meta-estimator it follows the CRF below in every fit, in worker processes too. Set
    it on the outermost estimator: scikit-learn hands it down from there. It has a
    certificate made after every epoch, and changes no bit of the model.

    Read the records with ``get_logs(select="most_recent" | "all")``. A log has
    ``data``, a list of dicts, and ``data_as_pandas``, a DataFrame; each row has first
    the columns of ``history_`` (epoch, updates, oracle_calls, seconds, primal, dual,
    gap, and with held-out data val_score), and then the place of the epoch in the fit:
    ``task_id_path``, ``parent_task_id_path`` (equal for the epochs of one fit),
    ``estimator_name``, ``task_name``, ``task_id``, ``sequential_subtasks``.

    See Also
    --------
    sklearn.callback.ScoringMonitor : Records a score of every epoch.
    sklearn.callback.ProgressBar : Shows the progress over epochs.

    Examples
    --------
    >>> from skcrf_sdca import SDCACRF
    >>> from skcrf_sdca.estimators.callbacks import DualityGapMonitor
    >>> from skcrf_sdca.datasets import make_chains
    >>> X, y = make_chains(n_sequences=20, random_state=0)
    >>> monitor = DualityGapMonitor()
    >>> crf = SDCACRF(tol=1e-2, random_state=0).set_callbacks(monitor).fit(X, y)
    >>> rows = monitor.get_logs().data
    >>> rows[-1]["gap"] == crf.duality_gap_
    True
    >>> len(rows) == crf.n_iter_
    True
    >>> monitor
    <DualityGapMonitor of 1 run; get_logs() returns the last>
    """

    # Follow sub-estimators at any depth.
    max_propagation_depth = None

    def __init__(self) -> None:
        super().__init__(scoring=_certificate)

    def __repr__(self) -> str:
        """Return how many runs are recorded."""
        try:
            n_runs = len(self.get_logs(select="all"))
        except ValueError:
            return f"<{type(self).__name__} of no run yet>"
        text = f"<{type(self).__name__} of {counted(n_runs, 'run')}"
        return f"{text}; get_logs() returns the last>"

    def get_logs(
        self,
        select: Literal["all", "most_recent"] = "most_recent",
        include_lineage: bool = False,
    ) -> Any:
        """Return the records.

        Parameters
        ----------
        select : {"most_recent", "all"}, default="most_recent"
            Whether to return the last run only. A run is a fit of the outermost
            estimator, with all fits of CRFs below it.
        include_lineage : bool, default=False
            Whether to add a row, without a gap, for each task above an epoch.

        Returns
        -------
        logs : ScoringMonitorLog, or list of them with ``select="all"``
            With ``data``, ``data_as_pandas``, ``run_id``, ``estimator_name`` and
            ``timestamp``; the representation says how the fits ended.

        Raises
        ------
        ValueError
            If there was no epoch yet, or ``select`` is unknown.
        """
        logs = super().get_logs(select=select, include_lineage=include_lineage)
        if select == "all":
            return list(map(_certificate_first, logs))
        return _certificate_first(logs)

    def setup(self, estimator: Any, context: Any) -> None:
        """Do nothing: the scorer is the same for every estimator.

        Parameters
        ----------
        estimator, context
            As scikit-learn passes them.
        """

    teardown = setup

    def on_fit_task_end(
        self,
        estimator: Any,
        context: Any,
        *,
        X: Any = None,
        y: Any = None,
        fitted_estimator: Any = None,
        metadata: Mapping[str, Any] | None = None,
    ) -> None:
        """Record the certificate if the task was an epoch of a CRF.

        Parameters
        ----------
        estimator, context, X, y, fitted_estimator, metadata
            As scikit-learn passes them.
        """
        is_epoch = context.task_name == EPOCH_TASK
        if not (is_epoch and hasattr(fitted_estimator, "history_")):
            return
        super().setup(estimator, context)
        # The certificate needs no data, and a fit on partitions has none to show.
        super().on_fit_task_end(
            estimator, context, X=(), y=(), fitted_estimator=fitted_estimator
        )
        super().teardown(estimator, context)


class CallbackBridge(Observer):
    """Run one sub-context of scikit-learn's callbacks for each epoch.

    `arguments` has the ``X``, ``y`` and ``metadata`` that the hooks take.
    `fitted_attributes` is a function that returns the attributes which the estimator
    would have if fit stopped now.
    """

    def __init__(self, estimator, context, arguments, fitted_attributes):
        self.context = context
        self.arguments = {"estimator": estimator, **arguments}
        self.fitted_attributes = fitted_attributes
        self._epoch = None

    @property
    def _callbacks(self):
        return getattr(self.arguments["estimator"], "_skl_callbacks", ())

    @property
    def reads_rows(self):
        """Whether there are callbacks."""
        return bool(self._callbacks)

    def begin_epoch(self):
        """Open the sub-context of the epoch."""
        self._epoch = self.context.subcontext(task_name=EPOCH_TASK)
        self._epoch.call_on_fit_task_begin(**self.arguments)

    def end_epoch(self, row):
        """Close the sub-context; return whether a callback wants to stop."""
        epoch, self._epoch = self._epoch, None
        try:
            return epoch.call_on_fit_task_end(
                **self.arguments, reconstruction_attributes=self.fitted_attributes
            )
        except TypeError as error:
            if any(type(callback) is ScoringMonitor for callback in self._callbacks):
                error.add_note(NAMED_SCORES)
            raise

    def close(self):
        """End an epoch that was opened but not made."""
        if self._epoch is not None:
            self._epoch.call_on_fit_task_end(estimator=self.arguments["estimator"])
            self._epoch = None


class EpochPrinter(Observer):
    """Print one line for each epoch.

    ``described(row)`` is what a row says of the model, see `FitMonitor.described`.
    """

    def __init__(self, name, described):
        self.name, self.described = name, described

    def end_epoch(self, row):
        """Print the row; never stop."""
        score = f"  val_score {row['val_score']:.4f}" if "val_score" in row else ""
        print(
            f"{self.name} epoch {row['epoch']:4d}  {self.described(row)}{score}  "
            f"{row['seconds']:.2f} s",
            flush=True,
        )
        return False
