"""Out-of-fold probabilities of each sequence."""

from datetime import date

import numpy as np
import pandas as pd
import pytest
import sklearn
from sklearn.model_selection import GridSearchCV, GroupKFold, KFold, ShuffleSplit
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from skcrf_sdca import (
    LBFGSCRF,
    SDCACRF,
    PackedSequences,
    PerToken,
    SequenceUnion,
    SequenceVectorizer,
)
from skcrf_sdca.datasets import make_chains
from skcrf_sdca.selection import cross_val_predict_proba

X, y = make_chains(n_sequences=15, random_state=0)
CRF = SDCACRF(tol=1e-2, random_state=0)
FOLDS = KFold(3, shuffle=True, random_state=1)


def by_hand(estimator, X, y, cv=FOLDS):
    out = np.empty(len(X), dtype=object)
    for train, test in cv.split(X):
        fold = sklearn.clone(estimator)
        fold.fit([X[i] for i in train], [y[i] for i in train])
        out[test] = fold.predict_proba([X[i] for i in test])
    return out


@pytest.mark.parametrize("n_jobs", [None, 2])
@pytest.mark.parametrize("form", ["arrays", "packed", "generator", "pipeline"])
def test_equals_fits_by_hand_in_the_order_of_X(form, n_jobs):
    estimator, sequences = CRF, X
    if form == "pipeline":
        estimator = make_pipeline(SequenceVectorizer(), CRF)
        sequences = [[{"a": row[0], "b": row[1]} for row in rows] for rows in X]
    expected = by_hand(estimator, sequences, y)
    if form == "packed":
        sequences = PackedSequences.from_sequences(X)
    if form == "generator":
        sequences = iter(X)
    proba = cross_val_predict_proba(estimator, sequences, y, cv=FOLDS, n_jobs=n_jobs)
    assert (proba.shape, proba.dtype) == ((15,), object)
    for found, wanted in zip(proba, expected, strict=True):
        assert found.tolist() == wanted.tolist()


def test_equal_lengths_make_no_block():
    rows, labels = [x[:3] for x in X], [list(chain[:3]) for chain in y]
    proba = cross_val_predict_proba(CRF, rows, labels)
    assert proba.shape == (15,)
    assert {table.shape for table in proba} == {(3, 3)}


def test_a_fold_that_misses_a_label_gives_it_no_probability():
    labels = [["b"] * len(chain) for chain in y]
    labels[0][0], labels[1][0], labels[14][-1] = "a", "c", "d"
    proba = cross_val_predict_proba(CRF, X, labels, cv=KFold(3))
    for i, table in enumerate(proba):
        assert table.shape == (len(y[i]), 4)
        np.testing.assert_allclose(table.sum(axis=1), 1)
        # Folds are 0-4, 5-9 and 10-14; "a" and "c" are in the first, "d" in the last.
        missing = {0: [0, 2], 1: [], 2: [3]}[i // 5]
        assert (table[:, missing] == 0).all()
        present = sorted(set(range(4)) - set(missing))
        assert (table[:, present] > 0).all()


def test_one_node_chains_give_one_table():
    rows, labels = np.concatenate(X), np.concatenate(y)
    crf = LBFGSCRF(alpha=0.1)
    proba = cross_val_predict_proba(crf, rows, labels, cv=FOLDS)
    assert proba.shape == (len(rows), 3)
    for train, test in FOLDS.split(rows):
        expected = crf.fit(rows[train], labels[train]).predict_proba(rows[test])
        np.testing.assert_allclose(proba[test], expected, atol=1e-12)


def test_labels_of_rows_that_numpy_would_change():
    rows = np.eye(4)
    proba = cross_val_predict_proba(LBFGSCRF(), rows, ["x", "x\0"] * 2, cv=2)
    assert proba.shape == (4, 2)
    with pytest.raises(TypeError, match="y: sequence 1, position 0 is of type str 'A'"):
        cross_val_predict_proba(LBFGSCRF(), rows, [1, "A"] * 2, cv=2)


@pytest.mark.filterwarnings("ignore:A column-vector y")
@pytest.mark.parametrize(
    "labels",
    [
        [("x", 1), ("x", 2)] * 2,
        [date(2026, 1, 1), date(2026, 1, 2)] * 2,
        pd.Series(pd.to_datetime(["2026-01-01", "2026-01-02"] * 2)),
        pd.DataFrame({"y": ["a", "b"] * 2}),
        [["a"], ["b"]] * 2,
    ],
    ids=["tuple", "date", "datetime64", "frame", "column"],
)
def test_labels_of_rows_in_every_form(labels):
    proba = cross_val_predict_proba(LBFGSCRF(), np.eye(4), labels, cv=2)
    assert proba.shape == (4, 2)


def test_parts_of_sequences_in_a_frame():
    parts = pd.DataFrame({"v": [rows.tolist() for rows in X]})
    union = SequenceUnion([("scaled", PerToken(StandardScaler()), "v")])
    proba = cross_val_predict_proba(make_pipeline(union, CRF), parts, y, cv=FOLDS)
    assert [table.shape for table in proba] == [(len(labels), 3) for labels in y]


def test_labels_of_any_kind_and_empty_sequences():
    sequences, labels = [*X, np.empty((0, 5))], [*y, []]
    labels = [[label == 1 for label in chain] for chain in labels]
    proba = cross_val_predict_proba(CRF, sequences, iter(labels), cv=3)
    assert proba[-1].shape == (0, 2)
    assert proba[0].shape == (len(y[0]), 2)


def test_weights_groups_and_searches():
    weight = np.linspace(0.1, 3, 15)
    plain = cross_val_predict_proba(CRF, X, y, cv=FOLDS)
    weighted = cross_val_predict_proba(
        CRF, X, y, cv=FOLDS, params={"sample_weight": weight}
    )
    train, test = next(FOLDS.split(X))
    fold = sklearn.clone(CRF).fit(
        [X[i] for i in train], [y[i] for i in train], sample_weight=weight[train]
    )
    expected = fold.predict_proba([X[i] for i in test])
    assert weighted[test[0]].tolist() == expected[0].tolist()
    assert weighted[test[0]].tolist() != plain[test[0]].tolist()
    groups = np.arange(15) % 4
    grouped = cross_val_predict_proba(CRF, X, y, cv=GroupKFold(4), groups=groups)
    assert grouped.shape == (15,)
    search = GridSearchCV(CRF, {"alpha": [1.0, 0.1]}, cv=2)
    assert cross_val_predict_proba(search, X, y, cv=2).shape == (15,)


@sklearn.config_context(enable_metadata_routing=True)
def test_metadata_is_routed():
    params = {"sample_weight": np.linspace(0.1, 3, 15), "groups": np.arange(15) % 4}
    crf = sklearn.clone(CRF).set_fit_request(sample_weight=True)
    direct = cross_val_predict_proba(crf, X, y, cv=GroupKFold(4), params=params)
    # Without a step before the CRF the pipeline is the same.
    pipeline = make_pipeline("passthrough", crf)
    routed = cross_val_predict_proba(pipeline, X, y, cv=GroupKFold(4), params=params)
    assert routed[3].tolist() == direct[3].tolist()
    with pytest.raises(sklearn.exceptions.UnsetMetadataPassedError):
        cross_val_predict_proba(CRF, X, y, params={"sample_weight": np.ones(15)})


def test_errors():
    with pytest.raises(ValueError, match="only works for partitions"):
        cross_val_predict_proba(CRF, X, y, cv=ShuffleSplit(3, random_state=0))
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        cross_val_predict_proba(CRF, X, y[:-1])
    with pytest.raises(ValueError, match="y has 0 labels"):
        cross_val_predict_proba(CRF, [], [])
    with pytest.raises(ValueError, match="y to be passed, but y is None"):
        cross_val_predict_proba(CRF, X, None)
    with pytest.raises(TypeError, match="labels must be of one type"):
        cross_val_predict_proba(CRF, X, [["a"] * len(y[0]), *y[1:]])


def test_a_number_of_folds_keeps_groups_together():
    groups = np.arange(15) % 5
    own = cross_val_predict_proba(CRF, X, y, groups=groups, cv=3)
    splits = list(GroupKFold(3).split(X, groups=groups))
    by_hand = cross_val_predict_proba(CRF, X, y, cv=splits)
    for found, expected in zip(own, by_hand, strict=True):
        np.testing.assert_array_equal(found, expected)
    default = cross_val_predict_proba(CRF, X, y, groups=groups)
    alone = list(GroupKFold(5).split(X, groups=groups))
    expected = cross_val_predict_proba(CRF, X, y, cv=alone)
    np.testing.assert_array_equal(default[0], expected[0])
