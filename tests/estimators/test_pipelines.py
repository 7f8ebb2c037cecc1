"""scikit-learn's tools with pipelines of a vectorizer and a CRF, on sequences."""

import pickle
import time
from itertools import groupby

import numpy as np
import pytest
import sklearn
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.experimental import enable_halving_search_cv  # noqa: F401
from sklearn.frozen import FrozenEstimator
from sklearn.metrics import make_scorer
from sklearn.model_selection import (
    GridSearchCV,
    GroupKFold,
    HalvingGridSearchCV,
    KFold,
    LeaveOneGroupOut,
    RandomizedSearchCV,
    RepeatedKFold,
    TimeSeriesSplit,
    cross_val_predict,
    cross_val_score,
    cross_validate,
    learning_curve,
    train_test_split,
    validation_curve,
)
from sklearn.pipeline import make_pipeline

from samples import all_estimators, name_of
from skcrf_sdca import (
    SDCACRF,
    DualityGapMonitor,
    PackedSequences,
    SequenceVectorizer,
)
from skcrf_sdca.datasets import make_chains
from skcrf_sdca.metrics import flat_f1_score

ROWS, y = make_chains(n_sequences=24, random_state=0)
X = [[{"s": [f"{j}{x > 0}" for j, x in enumerate(t)]} for t in rows] for rows in ROWS]
STRINGS = [[token["s"] for token in tokens] for tokens in X]
PACKED = SequenceVectorizer().fit_transform(X)
CRF = SDCACRF(tol=1e-2, random_state=0)
PIPELINE = make_pipeline(SequenceVectorizer(), CRF)
F1 = make_scorer(flat_f1_score, average="macro")


@pytest.mark.parametrize("crf", all_estimators(tol=1e-2), ids=name_of)
@pytest.mark.parametrize("sequences", [X, STRINGS], ids=["dicts", "strings"])
def test_pipeline_is_the_estimator_on_the_sequences(crf, sequences):
    alone = clone(crf).fit(sequences, y)
    pipeline = make_pipeline(SequenceVectorizer(), clone(alone)).fit(sequences, y)
    assert pipeline.predict(sequences).tolist() == alone.predict(sequences).tolist()
    assert pipeline.classes_.tolist() == alone.classes_.tolist()
    assert pipeline.score(sequences, y) == alone.score(sequences, y)
    new = [[{"s": ["unseen", "0True"]}], []] if sequences is X else [[["new"]], []]
    for found, expected in zip(
        pipeline.predict_proba(new), alone.predict_proba(new), strict=True
    ):
        assert found.tolist() == expected.tolist()


def test_clone_parameters_names_and_pickle():
    pipeline = clone(PIPELINE).set_params(sdcacrf__alpha=0.5)
    assert pipeline[-1].alpha == 0.5
    pipeline.fit(X, y)
    names = pipeline[:-1].get_feature_names_out()
    assert len(names) == pipeline[-1].coef_.shape[1]
    assert set(names) <= {f"s:{j}{b}" for j in range(5) for b in (True, False)}
    restored = pickle.loads(pickle.dumps(pipeline))
    assert restored.predict(X).tolist() == pipeline.predict(X).tolist()
    assert FrozenEstimator(pipeline).predict(X).tolist() == restored.predict(X).tolist()


GRID = {"sdcacrf__alpha": [0.3, 0.1], "sequencevectorizer__min_freq": [1, 3]}


@pytest.mark.parametrize(("scoring", "n_jobs"), [(None, None), (F1, 2)])
def test_grid_search(scoring, n_jobs):
    search = GridSearchCV(PIPELINE, GRID, cv=3, scoring=scoring, n_jobs=n_jobs)
    search.fit(X, y)
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()
    best = clone(PIPELINE).set_params(**search.best_params_).fit(X, y)
    assert search.predict(X).tolist() == best.predict(X).tolist()
    assert search.classes_.tolist() == [0, 1, 2]


def test_randomized_search():
    search = RandomizedSearchCV(PIPELINE, GRID, n_iter=3, cv=3, random_state=0)
    assert search.fit(X, y).best_score_ > 0.4


def test_halving_search_over_epochs():
    """Candidates that survive get more epochs; fits that end early warn."""
    search = HalvingGridSearchCV(
        PIPELINE,
        {"sdcacrf__alpha": [0.3, 0.1, 0.03]},
        resource="sdcacrf__max_iter",
        min_resources=1,
        max_resources=9,
        cv=3,
        random_state=0,
    )
    with pytest.warns(ConvergenceWarning, match="gap is .* after . epochs?"):
        search.fit(X, y)
    assert search.n_resources_ == [1, 3]
    assert search.n_candidates_ == [3, 1]
    assert search.best_params_["sdcacrf__max_iter"] == 3


def test_halving_search_over_sequences():
    search = HalvingGridSearchCV(
        PIPELINE, {"sdcacrf__alpha": [0.3, 0.1]}, cv=3, random_state=0
    )
    assert search.fit(X, y).n_resources_[-1] <= 24


def test_cross_validate():
    scores = cross_validate(
        PIPELINE,
        X,
        y,
        cv=3,
        scoring={"accuracy": _accuracy, "f1": F1},
        return_train_score=True,
        return_estimator=True,
        return_indices=True,
    )
    for i, test in enumerate(scores["indices"]["test"]):
        fold, labels = [X[j] for j in test], [y[j] for j in test]
        fitted = scores["estimator"][i]
        assert scores["test_accuracy"][i] == fitted.score(fold, labels)
    assert (scores["train_accuracy"] >= 0.4).all()
    assert scores["test_f1"].shape == (3,)


def _accuracy(estimator, X, y):
    return estimator.score(X, y)


@pytest.mark.parametrize(
    "cv",
    [
        GroupKFold(4),
        LeaveOneGroupOut(),
        RepeatedKFold(n_splits=2, n_repeats=2, random_state=0),
        TimeSeriesSplit(3),
    ],
    ids=lambda cv: type(cv).__name__,
)
def test_splitters(cv):
    groups = np.arange(24) % 4 if "Group" in type(cv).__name__ else None
    scores = cross_val_score(PIPELINE, X, y, cv=cv, groups=groups)
    packed = cross_val_score(CRF, PACKED, y, cv=cv, groups=groups)
    assert scores.tolist() == packed.tolist()
    assert len(scores) == 4 - isinstance(cv, TimeSeriesSplit)


def test_cross_val_predict():
    predicted = cross_val_predict(PIPELINE, X, y, cv=KFold(4, shuffle=True))
    assert predicted.shape == (24,)
    assert [len(labels) for labels in predicted] == [len(labels) for labels in y]


def test_curves_and_splits():
    sizes, train, test = learning_curve(
        PIPELINE, X, y, cv=3, train_sizes=[0.3, 1.0], shuffle=True, random_state=0
    )
    assert (sizes.tolist(), train.shape, test.shape) == ([4, 16], (2, 3), (2, 3))
    train, _ = validation_curve(
        PIPELINE, X, y, param_name="sdcacrf__alpha", param_range=[0.1, 10.0], cv=3
    )
    assert train[0].mean() > train[1].mean()
    for sequences in (X, PACKED):
        parts = train_test_split(sequences, y, test_size=6, random_state=0)
        assert [len(part) for part in parts] == [18, 6, 18, 6]
    assert isinstance(parts[0], PackedSequences)


@sklearn.config_context(enable_metadata_routing=True)
def test_sample_weight_is_routed_to_fit_and_score():
    weight = np.linspace(0.1, 3, 24)
    crf = clone(CRF).set_fit_request(sample_weight=True)
    crf.set_score_request(sample_weight=True)
    pipeline = make_pipeline(SequenceVectorizer(), crf)
    # Before scikit-learn 1.8 a Pipeline must request what its last step requests.
    pipeline.set_score_request(sample_weight=True)
    cv = KFold(3)
    scores = cross_validate(
        pipeline, X, y, cv=cv, params={"sample_weight": weight}, return_estimator=True
    )
    search = GridSearchCV(pipeline, {"sdcacrf__alpha": ["auto"]}, cv=cv)
    search.fit(X, y, sample_weight=weight)
    assert search.best_score_ == scores["test_score"].mean()
    for i, (train, test) in enumerate(cv.split(X)):
        by_hand = clone(CRF).fit(
            PACKED[train], [y[j] for j in train], sample_weight=weight[train]
        )
        expected = by_hand.score(
            PACKED[test], [y[j] for j in test], sample_weight=weight[test]
        )
        assert scores["test_score"][i] == pytest.approx(expected)
        np.testing.assert_allclose(
            scores["estimator"][i][-1].transition_, by_hand.transition_, rtol=1e-4
        )


def test_features_made_once_give_the_same_scores():
    """A feature that occurs only in the test fold keeps the weight zero."""
    grid = {"alpha": [0.3, 0.1], "sampling_mix": [0.0, 0.8]}
    names = {f"sdcacrf__{name}": values for name, values in grid.items()}
    rare = [
        [{**token, "id": f"{i}.{t}"} for t, token in enumerate(X[i])] for i in range(24)
    ]
    packed = SequenceVectorizer().fit_transform(rare)
    each = GridSearchCV(PIPELINE, names, cv=3).fit(rare, y).cv_results_
    once = GridSearchCV(CRF, grid, cv=3).fit(packed, y).cv_results_
    for i in range(3):
        name = f"split{i}_test_score"
        assert each[name].tolist() == once[name].tolist()


calls = []


class CountingVectorizer(SequenceVectorizer):
    def fit_transform(self, X, y=None):
        calls.append(len(X))
        return super().fit_transform(X, y)


def test_a_pipeline_with_memory_makes_the_features_of_a_fold_once(tmp_path):
    calls.clear()
    pipeline = make_pipeline(CountingVectorizer(), CRF, memory=str(tmp_path))
    grid = {"sdcacrf__alpha": [0.3, 0.1], "sdcacrf__sampling_mix": [0.0, 0.8]}
    search = GridSearchCV(pipeline, grid, cv=3).fit(X, y)
    assert calls == [16, 16, 16, 24]
    without = GridSearchCV(clone(pipeline).set_params(memory=None), grid, cv=3).fit(
        X, y
    )
    assert search.best_score_ == without.best_score_


def test_search_in_processes_shows_progress_and_returns_every_gap_curve(capfd):
    callback = pytest.importorskip("sklearn.callback", reason="new in scikit-learn 1.9")
    pytest.importorskip("rich")
    grid = {"alpha": [0.3, 0.1], "sampling_mix": [0.0, 0.8]}
    cv, monitor = KFold(3), DualityGapMonitor()
    search = GridSearchCV(CRF, grid, cv=cv, n_jobs=2)
    search.set_callbacks(monitor, callback.ProgressBar()).fit(PACKED, y)
    assert "SDCACRF" in capfd.readouterr().out

    rows = monitor.get_logs().data
    evaluations = [row for row in rows if len(row["task_id_path"]) == 4]
    curves = {
        divmod(path[-1], 3): [row["gap"] for row in epochs]
        for path, epochs in groupby(evaluations, lambda r: r["parent_task_id_path"])
    }
    assert sorted(curves) == [(c, fold) for c in range(4) for fold in range(3)]
    folds = list(cv.split(PACKED))
    for (candidate, fold), gaps in curves.items():
        train = folds[fold][0]
        crf = clone(CRF).set_params(**search.cv_results_["params"][candidate])
        # It has a certificate made after every epoch.
        crf.set_callbacks(DualityGapMonitor())
        crf.fit(PACKED[train], [y[i] for i in train])
        assert gaps == crf.history_["gap"].tolist()
    refit = [row["gap"] for row in rows if len(row["task_id_path"]) == 3]
    assert refit == search.best_estimator_.history_["gap"].tolist()


def test_representations_of_large_models_are_short_and_quick():
    """The HTML of an estimator asks for every property and public attribute."""
    pipeline = clone(PIPELINE).fit(X, y)
    pipeline[1].coef_ = np.zeros((10, 10**6))
    numbers = {f"feature {i}": i for i in range(10**6)}
    pipeline[0].vocabulary_ = {"numeric": numbers, "categorical": {}, "vectors": {}}
    pipeline[0].n_features_out_ = 10**6
    pipeline[1].vectorizer_ = pipeline[0]
    begin = time.process_time()
    for estimator in (*pipeline, pipeline, GridSearchCV(pipeline, {})):
        assert len(repr(estimator)) < 300
        assert len(estimator._repr_html_()) < 100_000
    # It takes hundredths of a second of processor time, on a busy machine too; a pass
    # over the weights in Python takes seconds.
    assert time.process_time() - begin < 2
