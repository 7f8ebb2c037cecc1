"""The gap of every epoch reaches the monitor, with every version of scikit-learn."""

import pickle

import pytest
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from skcrf_sdca import (
    LBFGSCRF,
    SDCACRF,
    DualityGapMonitor,
    SequenceVectorizer,
    make_tagger,
)
from skcrf_sdca.datasets import make_chains
from skcrf_sdca.solvers.monitor import HISTORY_COLUMNS

X, y = make_chains(n_sequences=24, random_state=0)
WORDS = [[{"word": str(label)} for label in labels] for labels in y]


@pytest.mark.parametrize("crf", [SDCACRF(random_state=0), LBFGSCRF()])
def test_monitor_alone(crf):
    monitor = DualityGapMonitor()
    crf = clone(crf).set_params(tol=1e-3).set_callbacks(monitor).fit(X, y)
    log = monitor.get_logs()
    assert len(log.data) == crf.n_iter_
    for column in HISTORY_COLUMNS:
        recorded = [row[column] for row in log.data]
        assert recorded == crf.history_[column].tolist()
    frame = log.data_as_pandas
    assert frame.columns[: len(HISTORY_COLUMNS)].tolist() == list(HISTORY_COLUMNS)
    assert frame["gap"].tolist() == crf.history_["gap"].tolist()
    assert (frame["task_name"] == "epoch").all()


def test_monitor_keeps_every_run():
    monitor = DualityGapMonitor()
    crf = SDCACRF(tol=1e-2, random_state=0).set_callbacks(monitor)
    n_epochs = [crf.set_params(tol=tol).fit(X, y).n_iter_ for tol in (1e-1, 1e-3)]
    logs = monitor.get_logs(select="all")
    assert [len(log.data) for log in logs] == n_epochs
    assert n_epochs[0] < n_epochs[1]


def test_monitor_and_log_say_what_they_hold():
    monitor = DualityGapMonitor()
    assert repr(monitor) == "<DualityGapMonitor of no run yet>"
    crf = SDCACRF(tol=1e-2, random_state=0).set_callbacks(monitor).fit(X, y)
    assert repr(monitor) == "<DualityGapMonitor of 1 run; get_logs() returns the last>"
    assert repr(monitor.get_logs()) == (
        f"<DualityGapLog of SDCACRF, 1 fit of a CRF, {crf.n_iter_} epochs: "
        f"gap at the end {crf.duality_gap_:.3g}>"
    )


def test_monitor_on_the_crf_in_a_tagger():
    monitor = DualityGapMonitor()
    tagger = make_tagger(SequenceVectorizer(), SDCACRF(tol=1e-2, random_state=0))
    assert tagger.set_callbacks(monitor) is tagger
    tagger.fit(WORDS, y)
    assert len(monitor.get_logs().data) == tagger[-1].n_iter_


class StopAtGap:
    """A user's callback that stops the fit at a gap, read from the fitted estimator."""

    def __init__(self, gap):
        self.gap = gap
        self.begun = self.ended = 0

    def setup(self, estimator, context):
        pass

    def teardown(self, estimator, context):
        pass

    def on_fit_task_begin(self, estimator, context):
        self.begun += 1

    def on_fit_task_end(self, estimator, context, *, fitted_estimator=None):
        self.ended += 1
        return fitted_estimator.duality_gap_ <= self.gap


@pytest.mark.parametrize("crf", [SDCACRF(random_state=0), LBFGSCRF()])
def test_a_callback_stops_the_fit_without_a_warning(crf):
    full = clone(crf).set_params(tol=1e-10, max_iter=500).fit(X, y)
    callback = StopAtGap(1e-2)
    stopped = clone(full).set_callbacks(callback).fit(X, y)
    assert stopped.n_iter_ < full.n_iter_
    assert stopped.duality_gap_ <= 1e-2 < stopped.history_["gap"][-2]
    # The epochs and the fit itself, each begun once and ended once.
    assert callback.begun == callback.ended == stopped.n_iter_ + 1


@pytest.mark.parametrize("crf", [SDCACRF(max_iter=2), LBFGSCRF(max_iter=2)])
def test_every_task_begun_is_ended_when_epochs_run_out(crf):
    callback = StopAtGap(-1.0)
    with pytest.warns(ConvergenceWarning):
        clone(crf).set_params(tol=0.0).set_callbacks(callback).fit(X, y)
    assert callback.begun == callback.ended == 3


def test_callbacks_change_no_bit():
    plain = SDCACRF(tol=1e-4, random_state=0).fit(X, y)
    watched = SDCACRF(tol=1e-4, random_state=0).set_callbacks(DualityGapMonitor())
    assert watched.fit(X, y).coef_.tobytes() == plain.coef_.tobytes()


def test_monitor_survives_pickling_of_the_model():
    crf = SDCACRF(tol=1e-2, random_state=0).set_callbacks(DualityGapMonitor())
    copy = pickle.loads(pickle.dumps(crf.fit(X, y)))
    assert copy.predict(X).tolist() == crf.predict(X).tolist()


def test_verbose_prints_one_line_an_epoch(capsys):
    crf = SDCACRF(tol=1e-2, random_state=0, verbose=1).fit(X, y)
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == crf.n_iter_
    assert lines[-1].startswith("SDCACRF epoch")
    assert f"gap {crf.duality_gap_:.3e}" in lines[-1]


def test_quiet_by_default(capsys):
    SDCACRF(tol=1e-2, random_state=0).fit(X, y)
    captured = capsys.readouterr()
    assert captured.out == captured.err == ""


class Failing(StopAtGap):
    """A callback that raises an error."""

    def on_fit_task_end(self, estimator, context):
        raise TypeError("mine")


def test_the_errors_of_other_callbacks_are_as_they_are():
    crf = SDCACRF(random_state=0).set_callbacks(Failing(0.0))
    with pytest.raises(TypeError, match="^mine$") as caught:
        crf.fit(X, y)
    assert not hasattr(caught.value, "__notes__")
