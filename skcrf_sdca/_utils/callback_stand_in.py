"""What the package uses of `sklearn.callback`, for scikit-learn before 1.9.

A callback that was written for scikit-learn 1.9 follows the fit of an estimator of this
package here too. Meta-estimators do not hand callbacks down before 1.9: a callback is
set on the estimator that it follows, and clones keep it.
"""

import inspect
import uuid
from copy import copy
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import wraps
from typing import TYPE_CHECKING, Any, Self

if TYPE_CHECKING:
    import pandas

HOOKS = ("setup", "teardown", "on_fit_task_begin", "on_fit_task_end")


class CallbackSupportMixin:
    """An estimator that takes callbacks, and hands them to its clones."""

    def set_callbacks(self, *callbacks: Any) -> Self:
        """Set the callbacks; none removes all. Return self."""
        for callback in callbacks:
            if isinstance(callback, type) or not all(
                hasattr(callback, hook) for hook in HOOKS
            ):
                raise TypeError(
                    "callbacks must be instances with the methods "
                    f"{', '.join(HOOKS)}; got {callback!r:.60}"
                )
        self._skl_callbacks = list(callbacks)
        if not callbacks:
            del self._skl_callbacks
        return self

    def _init_callback_context(self, max_subtasks=0):
        self._callback_fit_ctx = context = CallbackContext(type(self).__name__)
        for callback in getattr(self, "_skl_callbacks", ()):
            context.callbacks.append(callback)
            callback.setup(estimator=self, context=context)
        return context

    def __sklearn_clone__(self):
        clone = super().__sklearn_clone__()
        if hasattr(self, "_skl_callbacks"):
            clone._skl_callbacks = self._skl_callbacks
        return clone


def with_callbacks(method):
    """Decorate `fit`: at its end, and after an error, callbacks are torn down."""

    @wraps(method)
    def followed(estimator, *args, **kwargs):
        try:
            return method(estimator, *args, **kwargs)
        finally:
            context = vars(estimator).pop("_callback_fit_ctx", None)
            for callback in context.callbacks if context else ():
                callback.teardown(estimator=estimator, context=context)

    return followed


class CallbackContext:
    """A task of a fit, which callbacks are told of: the fit itself, or an epoch."""

    sequential_subtasks = True

    def __init__(self, estimator_name, task_name="fit", task_id=0, parent=None):
        self.estimator_name = estimator_name
        self.task_name = task_name
        self.task_id = task_id
        self.parent = parent
        self.root_uuid = parent.root_uuid if parent else uuid.uuid4()
        self.init_time = datetime.now(UTC)
        self.callbacks = parent.callbacks if parent else []
        self._n_subtasks = 0

    def subcontext(self, task_name):
        """Return the context of the next task of this one."""
        task_id, self._n_subtasks = self._n_subtasks, self._n_subtasks + 1
        return CallbackContext(self.estimator_name, task_name, task_id, self)

    def call_on_fit_task_begin(self, **arguments):
        """Tell the callbacks that the task begins."""
        self._call("on_fit_task_begin", arguments)

    def call_on_fit_task_end(self, **arguments):
        """Tell the callbacks that the task ends; return whether one wants to stop."""
        return self._call("on_fit_task_end", arguments)

    def _call(self, hook, arguments):
        wishes = [self._ask(getattr(one, hook), arguments) for one in self.callbacks]
        return any(wishes)

    def _ask(self, hook, arguments):
        """Call a hook with the arguments that its signature names."""
        found = inspect.signature(hook).parameters.values()
        names = {p.name for p in found if p.kind == p.KEYWORD_ONLY}
        given = {name: arguments.get(name) for name in names}
        if "fitted_estimator" in names:
            given["fitted_estimator"] = _fitted(**arguments)
        return hook(arguments["estimator"], self, **given)


def _fitted(estimator, reconstruction_attributes=None, **others):
    """Return a copy of the estimator with the attributes of a fit that ended now."""
    if reconstruction_attributes is None:
        return None
    fitted = copy(estimator)
    for name, value in reconstruction_attributes().items():
        setattr(fitted, name, value)
    return fitted


@dataclass(repr=False)
class ScoringMonitorLog:
    """The records of one fit."""

    run_id: uuid.UUID
    estimator_name: str
    timestamp: datetime
    data: list[dict[str, Any]]

    @property
    def data_as_pandas(self) -> "pandas.DataFrame":
        """The records as a data frame."""
        import pandas

        return pandas.DataFrame(self.data)


class ScoringMonitor:
    """Record the scores of every epoch of a fit.

    ``scoring(fitted_estimator, X, y)`` returns a dict of scores.
    """

    def __init__(self, *, scoring):
        self._scoring = scoring
        self._logs: dict[uuid.UUID, ScoringMonitorLog] = {}

    def setup(self, estimator: Any, context: Any) -> None:
        """Do nothing."""

    teardown = on_fit_task_begin = setup

    def on_fit_task_end(self, estimator, context, *, X, y, fitted_estimator):
        """Record the scores after an epoch; the first row is the place of the fit."""
        run = context.parent
        if run is None:
            return
        scores = self._scoring(fitted_estimator, X, y)
        log = ScoringMonitorLog(
            run.root_uuid, run.estimator_name, run.init_time, [_task(run)]
        )
        log = self._logs.setdefault(run.root_uuid, log)
        log.data.append(_task(context) | scores)

    def get_logs(self, select="most_recent", include_lineage=False):
        """Return the log of the last fit, or a list of the logs of all fits."""
        if select not in ("all", "most_recent"):
            raise ValueError(f"select must be 'all' or 'most_recent', got {select!r}")
        if not self._logs:
            raise ValueError("there is nothing to retrieve: no fit was followed yet")
        first = 0 if include_lineage else 1
        logs = [replace(log, data=log.data[first:]) for log in self._logs.values()]
        return logs if select == "all" else logs[-1]


def _task(context):
    """Return the place of a task in its fit, as the columns of a record."""
    parent = context.parent
    above = _task(parent)["task_id_path"] if parent else ()
    return {
        "task_id_path": (*above, context.task_id),
        "parent_task_id_path": above,
        "estimator_name": context.estimator_name,
        "task_name": context.task_name,
        "task_id": context.task_id,
        "sequential_subtasks": context.sequential_subtasks,
    }
