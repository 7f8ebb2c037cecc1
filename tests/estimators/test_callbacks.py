"""The gap of every epoch reaches the monitor, also from inside scikit-learn's tools."""

import pickle

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.callback import ProgressBar, ScoringMonitor
from sklearn.exceptions import ConvergenceWarning
from sklearn.feature_extraction import FeatureHasher
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline

from skcrf_sdca import (
    LBFGSCRF,
    SDCACRF,
    DualityGapMonitor,
    PerToken,
    SequenceUnion,
    SequenceVectorizer,
    make_tagger,
)
from skcrf_sdca.datasets import make_chains
from skcrf_sdca.solvers.monitor import HISTORY_COLUMNS
from skcrf_sdca.text import TokenFeatures

X, y = make_chains(n_sequences=24, random_state=0)
WORDS = [[{"word": str(label)} for label in labels] for labels in y]
TOKENS = [[str(label) for label in labels] for labels in y]


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
    search = GridSearchCV(SDCACRF(tol=1e-2, random_state=0), {"alpha": [0.1]}, cv=2)
    search.set_callbacks(monitor).fit(X, y)
    assert "of 2 runs;" in repr(monitor)
    for log in (monitor.get_logs(), monitor.get_logs(include_lineage=True)):
        ends = log.data_as_pandas.dropna(subset="gap")
        ends = ends.groupby("parent_task_id_path")["gap"].last()
        assert repr(log).startswith("<DualityGapLog of GridSearchCV, 3 fits of a CRF, ")
        assert repr(log).endswith(f" end {ends.min():.3g} to {ends.max():.3g}>")
    assert [type(log) for log in monitor.get_logs("all")] == [type(log)] * 2


@pytest.mark.parametrize("make", [make_pipeline, make_tagger])
@pytest.mark.parametrize(
    "transformer",
    [
        TokenFeatures(["word"]),
        SequenceVectorizer(),
        PerToken(FeatureHasher(8)),
        SequenceUnion([("words", SequenceVectorizer())]),
    ],
    ids=lambda transformer: type(transformer).__name__,
)
def test_monitor_on_a_pipeline(make, transformer):
    # A warning would be an error.
    monitor = DualityGapMonitor()
    X = TOKENS if isinstance(transformer, TokenFeatures) else WORDS
    pipeline = make(transformer, SDCACRF(tol=1e-2, random_state=0))
    pipeline.set_callbacks(monitor).fit(X, y)
    assert len(monitor.get_logs().data) == pipeline[-1].n_iter_
    assert not vars(pipeline[0]).keys() & {"_skl_callbacks", "_parent_callback_ctx"}


@pytest.mark.parametrize("n_jobs", [None, 2])
def test_monitor_on_a_grid_search(n_jobs):
    monitor = DualityGapMonitor()
    grid = {"alpha": [0.1, 0.01]}
    search = GridSearchCV(SDCACRF(tol=1e-2, random_state=0), grid, cv=3, n_jobs=n_jobs)
    search.set_callbacks(monitor).fit(X, y)
    frame = monitor.get_logs().data_as_pandas
    fits = frame.groupby("parent_task_id_path")
    # Two candidates on three folds, then the refit.
    assert fits.ngroups == 7
    for _, fit in fits:
        assert fit["epoch"].tolist() == list(range(1, len(fit) + 1))
        assert np.isfinite(fit["gap"]).all()
    lengths = sorted(len(fit) for _, fit in fits)
    assert search.best_estimator_.n_iter_ in lengths


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


def _score(estimator, X, y):
    return estimator.score(X, y)


def test_scoring_monitor_scores_every_epoch():
    monitor = ScoringMonitor(scoring={"score": _score})
    crf = SDCACRF(tol=1e-3, random_state=0).set_callbacks(monitor)
    crf.fit(X, y)
    rows = [row for row in monitor.get_logs().data if row["task_name"] == "epoch"]
    assert len(rows) == crf.n_iter_
    assert rows[-1]["score"] == crf.score(X, y)


def test_progress_bar_runs(capsys):
    SDCACRF(tol=1e-2, random_state=0).set_callbacks(ProgressBar()).fit(X, y)
    assert "SDCACRF" in capsys.readouterr().out


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


def test_generators_reach_the_callbacks_as_lists():
    monitor = ScoringMonitor(scoring={"score": _score})
    crf = SDCACRF(tol=1e-1, random_state=0).set_callbacks(monitor)
    crf.fit((x for x in X), (labels for labels in y))
    assert monitor.get_logs().data[-1]["score"] == crf.score(X, y)


@pytest.mark.parametrize("scoring", [None, _score])
def test_scores_without_names_are_explained(scoring):
    """scikit-learn 1.9 fails on such scores for every estimator."""
    crf = SDCACRF(random_state=0).set_callbacks(ScoringMonitor(scoring=scoring))
    with pytest.raises(TypeError) as caught:
        crf.fit(X, y)
    assert 'scoring={"score": function' in caught.value.__notes__[0]
    assert not hasattr(crf, "classes_")


class Failing(StopAtGap):
    """A callback that raises an error."""

    def on_fit_task_end(self, estimator, context):
        raise TypeError("mine")


def test_the_errors_of_other_callbacks_are_as_they_are():
    crf = SDCACRF(random_state=0).set_callbacks(Failing(0.0))
    with pytest.raises(TypeError, match="^mine$") as caught:
        crf.fit(X, y)
    assert not hasattr(caught.value, "__notes__")
