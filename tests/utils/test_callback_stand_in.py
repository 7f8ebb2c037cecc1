"""The callbacks of scikit-learn 1.9, as they are with a version before it."""

import os
import subprocess
import sys

import pytest
from sklearn.base import BaseEstimator, clone

from skcrf_sdca._utils.callback_stand_in import (
    CallbackSupportMixin,
    ScoringMonitor,
    with_callbacks,
)


class Counter(CallbackSupportMixin, BaseEstimator):
    """An estimator of three epochs, unless a callback stops it."""

    @with_callbacks
    def fit(self, X, fails=False):
        context = self._init_callback_context(max_subtasks=3)
        context.call_on_fit_task_begin(estimator=self, X=X)
        for n in range(1, 4):
            epoch = context.subcontext("epoch")
            epoch.call_on_fit_task_begin(estimator=self, X=X)
            if fails:
                raise RuntimeError("no epoch")
            if epoch.call_on_fit_task_end(
                estimator=self, X=X, reconstruction_attributes=lambda n=n: {"n_": n}
            ):
                break
        self.n_ = n
        context.call_on_fit_task_end(
            estimator=self, X=X, reconstruction_attributes=dict
        )
        return self


class Recorder:
    """A callback that keeps what it is told, and stops after some epochs."""

    def __init__(self, stops_at=None):
        self.told = []
        self.stops_at = stops_at

    def setup(self, estimator, context):
        self.told.append("setup")

    def teardown(self, estimator, context):
        self.told.append("teardown")

    def on_fit_task_begin(self, estimator, context):
        self.told.append(("begin", context.task_name, context.task_id))

    def on_fit_task_end(self, estimator, context, *, X=None, fitted_estimator=None):
        assert fitted_estimator is not estimator
        assert not hasattr(estimator, "n_") or context.task_name == "fit"
        self.told.append(("end", context.task_name, X, fitted_estimator.n_))
        return self.stops_at is not None and fitted_estimator.n_ >= self.stops_at


def test_a_callback_follows_every_task():
    recorder = Recorder()
    counter = Counter().set_callbacks(recorder).fit("data")
    epochs = [
        told
        for n in range(3)
        for told in (("begin", "epoch", n), ("end", "epoch", "data", n + 1))
    ]
    first, last = ("begin", "fit", 0), ("end", "fit", "data", 3)
    assert recorder.told == ["setup", first, *epochs, last, "teardown"]
    assert not hasattr(counter, "_callback_fit_ctx")


def test_every_callback_is_asked_and_one_can_stop_the_fit():
    recorders = [Recorder(stops_at=2), Recorder()]
    assert Counter().set_callbacks(*recorders).fit(0).n_ == 2
    assert recorders[0].told == recorders[1].told


def test_callbacks_are_torn_down_after_an_error():
    recorder = Recorder()
    counter = Counter().set_callbacks(recorder)
    with pytest.raises(RuntimeError, match="no epoch"):
        counter.fit(0, fails=True)
    assert recorder.told[-1] == "teardown"
    assert not hasattr(counter, "_callback_fit_ctx")


def test_clones_keep_the_callbacks_and_none_removes_them():
    recorder = Recorder()
    counter = Counter().set_callbacks(recorder)
    clone(counter).fit(0)
    assert recorder.told
    assert vars(clone(counter.set_callbacks())) == {}


@pytest.mark.parametrize("wrong", [Recorder, 5, object()])
def test_what_is_no_callback_is_refused(wrong):
    with pytest.raises(TypeError, match="callbacks must be instances with"):
        Counter().set_callbacks(wrong)


def test_the_monitor_has_a_log_of_each_fit():
    monitor = ScoringMonitor(scoring=lambda fitted, X, y: {"n": fitted.n_})
    counter = Counter().set_callbacks(monitor)
    with pytest.raises(ValueError, match="no fit was followed"):
        monitor.get_logs()
    counter.fit(0)
    del counter.n_
    counter.fit(0)
    with pytest.raises(ValueError, match="'all' or 'most_recent', got 'last'"):
        monitor.get_logs("last")
    logs = monitor.get_logs("all", include_lineage=True)
    assert [[row.get("n") for row in log.data] for log in logs] == [[None, 1, 2, 3]] * 2
    assert logs[0].run_id != logs[1].run_id
    log = monitor.get_logs()
    assert log.run_id == logs[1].run_id
    assert log.data_as_pandas["task_id_path"].tolist() == [(0, 0), (0, 1), (0, 2)]
    assert {row["parent_task_id_path"] for row in log.data} == {(0,)}


@pytest.mark.slow
def test_the_package_works_where_sklearn_callback_is_missing():
    """In a process that cannot import it."""
    code = """
import sys
import sklearn.model_selection, sklearn.pipeline
sys.modules["sklearn.callback"] = None
from sklearn.base import clone
from skcrf_sdca import SDCACRF, DualityGapMonitor
from skcrf_sdca._utils.sklearn_versions import BEFORE_1_9
assert BEFORE_1_9
X, y = [[["a"], ["b"]], [["b"]]] * 4, [["A", "B"], ["B"]] * 4
monitor = DualityGapMonitor()
crf = SDCACRF(random_state=0).set_callbacks(monitor).fit(X, y)
log = monitor.get_logs()
assert [row["gap"] for row in log.data] == crf.history_["gap"].tolist()
assert repr(log).startswith("<DualityGapLog of SDCACRF, 1 fit of a CRF")
assert "1 fit of a CRF" in repr(monitor.get_logs(include_lineage=True))
clone(crf).fit(X, y)
assert len(monitor.get_logs("all")) == 2
"""
    command = [sys.executable, "-P", "-W", "error", "-c", code]
    done = subprocess.run(command, capture_output=True, text=True, env=os.environ)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
