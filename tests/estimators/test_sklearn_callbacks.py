"""scikit-learn's own callbacks, and ours in its pipelines and searches: from 1.9 on."""

import numpy as np
import pytest
from sklearn.feature_extraction import FeatureHasher
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline

from skcrf_sdca import (
    SDCACRF,
    DualityGapMonitor,
    PerToken,
    SequenceUnion,
    SequenceVectorizer,
    make_tagger,
)
from skcrf_sdca.datasets import make_chains
from skcrf_sdca.text import TokenFeatures

callback = pytest.importorskip("sklearn.callback", reason="new in scikit-learn 1.9")
ProgressBar, ScoringMonitor = callback.ProgressBar, callback.ScoringMonitor

X, y = make_chains(n_sequences=24, random_state=0)
WORDS = [[{"word": str(label)} for label in labels] for labels in y]
TOKENS = [[str(label) for label in labels] for labels in y]


def _score(estimator, X, y):
    return estimator.score(X, y)


def test_the_log_of_a_search_says_what_it_holds():
    monitor = DualityGapMonitor()
    SDCACRF(tol=1e-2, random_state=0).set_callbacks(monitor).fit(X, y)
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
