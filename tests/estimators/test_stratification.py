"""Folds of sequences: a partition, with the share of each label that was asked for."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from sklearn.base import clone
from sklearn.model_selection import (
    GridSearchCV,
    KFold,
    cross_val_predict,
    cross_val_score,
)
from sklearn.pipeline import make_pipeline

from skcrf_sdca import LBFGSCRF, PackedSequences, SequenceVectorizer
from skcrf_sdca.datasets import make_chains
from skcrf_sdca.metrics import get_scorer
from skcrf_sdca.selection import StratifiedSequenceKFold, cross_val_predict_proba

LABELS = ["O", "B-X", "B-Y", "B-Z"]
label_lists = st.lists(
    st.lists(st.sampled_from(LABELS), max_size=8), min_size=2, max_size=30
).filter(any)


def shares_of(y, parts, labels):
    """Return the share that each part of the sequences has of each label, and of n."""
    counts = np.array(
        [[sum(y[i].count(k) for i in part) for k in labels] for part in parts], float
    )
    counts = np.column_stack([counts, [len(part) for part in parts]])
    return counts / counts.sum(axis=0)


def distance(y, folds):
    """Return the squared distances of the shares of folds from 1 / k, summed."""
    labels = sorted(set().union(*y))
    return ((shares_of(y, folds, labels) - 1.0 / len(folds)) ** 2).sum()


def folds_of(cv, y):
    return [test for _, test in cv.split(y, y)]


def names(n_sequences=300, seed=0):
    """Sentences with a frequent, a rare and a very rare type of name."""
    rng = np.random.default_rng(seed)
    probability = [0.9, 0.08, 0.015, 0.005]
    lengths = rng.integers(1, 20, size=n_sequences)
    return [rng.choice(LABELS, size=n, p=probability).tolist() for n in lengths]


@given(label_lists, st.integers(2, 6), st.sampled_from([None, 0, 1]))
def test_folds_are_a_partition(y, n_splits, seed):
    n_splits = min(n_splits, len(y))
    options = {} if seed is None else {"shuffle": True, "random_state": seed}
    cv = StratifiedSequenceKFold(n_splits, **options)
    splits = list(cv.split(np.zeros(len(y)), y))
    assert len(splits) == cv.get_n_splits() == n_splits
    tests = np.concatenate([test for _, test in splits])
    assert sorted(tests.tolist()) == list(range(len(y)))
    for train, test in splits:
        assert sorted([*train, *test]) == list(range(len(y)))


@given(label_lists, st.integers(2, 6), st.booleans())
def test_shares_are_at_least_as_near_as_those_of_random_folds(y, n_splits, shuffle):
    """The expectation of independent draws: (1 - 1/k) times the sum of squares."""
    n_splits = min(n_splits, len(y))
    cv = StratifiedSequenceKFold(
        n_splits, shuffle=shuffle, random_state=0 if shuffle else None
    )
    labels = sorted(set().union(*y))
    alone = shares_of(y, [[i] for i in range(len(y))], labels)
    bound = (1.0 - 1.0 / n_splits) * (alone**2).sum()
    assert distance(y, folds_of(cv, y)) <= bound + 1e-12


@pytest.mark.parametrize("shuffle", [False, True])
def test_shares_are_nearer_than_those_of_plain_folds(shuffle):
    y = names(1000)
    options = {"shuffle": shuffle, "random_state": 0 if shuffle else None}
    ours = folds_of(StratifiedSequenceKFold(5, **options), y)
    shares = shares_of(y, ours, LABELS)
    assert_allclose(shares[:, :3], 0.2, atol=0.01)
    assert {len(fold) for fold in ours} <= {199, 200, 201}
    plain = [KFold(5, shuffle=True, random_state=seed) for seed in range(10)]
    theirs = np.mean([distance(y, folds_of(cv, y)) for cv in plain])
    assert distance(y, ours) < 0.2 * theirs


@pytest.mark.parametrize("seed", range(5))
def test_rare_labels_are_spread(seed):
    y = [["O"] * (1 + i % 7) for i in range(50)]
    for i in np.random.default_rng(seed).choice(50, size=5, replace=False):
        y[i][0] = "rare"
    for fold in folds_of(StratifiedSequenceKFold(5), y):
        assert sum(y[i].count("rare") for i in fold) == 1


def as_lists(folds):
    return [fold.tolist() for fold in folds]


def test_seeds():
    y = names()
    plain = as_lists(folds_of(StratifiedSequenceKFold(3), y))
    assert plain == as_lists(folds_of(StratifiedSequenceKFold(3), y))
    cv = StratifiedSequenceKFold(3, shuffle=True, random_state=0)
    first = as_lists(folds_of(cv, y))
    assert first == as_lists(folds_of(cv, y)) != plain
    other = StratifiedSequenceKFold(3, shuffle=True, random_state=1)
    assert as_lists(folds_of(other, y)) != first
    assert repr(cv) == (
        "StratifiedSequenceKFold(n_splits=3, random_state=0, shuffle=True)"
    )


@pytest.mark.parametrize(
    "form", [tuple, lambda y: np.array([*map(np.array, y), None], object)[:-1], iter]
)
def test_forms_of_labels(form):
    y = names(20)
    expected = as_lists(folds_of(StratifiedSequenceKFold(3), y))
    y = form(y)
    X = np.zeros(20)
    if form is iter:
        with pytest.raises(TypeError):
            next(StratifiedSequenceKFold(3).split(X, y))
    else:
        folds = [test for _, test in StratifiedSequenceKFold(3).split(X, y)]
        assert as_lists(folds) == expected


def test_unknown_labels_are_one_more_label():
    y = [["a", None], ["a", "a"], ["a", {"a", "b"}], ["a", "b"]] * 3
    folds = folds_of(StratifiedSequenceKFold(3), y)
    for fold in folds:
        assert sum(type(label) is not str for i in fold for label in y[i]) == 2


def test_empty_sequences_are_spread():
    y = [[], [], [], ["a"], ["a"], ["a"]]
    for fold in folds_of(StratifiedSequenceKFold(3), y):
        assert [len(y[i]) for i in fold] == [0, 1]


def test_what_is_refused():
    y = names(10)
    with pytest.raises(ValueError, match="n_splits=11 greater than the number of sam"):
        folds_of(StratifiedSequenceKFold(11), y)
    with pytest.raises(ValueError, match="n_splits=1"):
        StratifiedSequenceKFold(1)
    with pytest.raises(ValueError, match="random_state"):
        StratifiedSequenceKFold(random_state=0)
    with pytest.raises(
        TypeError, match="y: sequence 0 is of type str 'a'; y must be a"
    ):
        folds_of(StratifiedSequenceKFold(2), ["a", "b", "a"])
    with pytest.raises(TypeError, match="y must be a list of sequences, got NoneType"):
        next(StratifiedSequenceKFold(2).split(y))


def test_in_the_tools_of_scikit_learn():
    X, y = make_chains(n_sequences=15, random_state=0)
    cv = StratifiedSequenceKFold(3, shuffle=True, random_state=0)
    crf = LBFGSCRF(alpha=0.1)
    expected = [
        clone(crf)
        .fit([X[i] for i in train], [y[i] for i in train])
        .score([X[i] for i in test], [y[i] for i in test])
        for train, test in cv.split(X, y)
    ]
    assert cross_val_score(crf, X, y, cv=cv).tolist() == expected
    packed = PackedSequences.from_sequences(X)
    assert_allclose(cross_val_score(crf, packed, y, cv=cv), expected, rtol=1e-12)
    assert cross_val_predict(crf, X, y, cv=cv).shape == (15,)
    proba = cross_val_predict_proba(crf, X, y, cv=cv)
    assert [table.shape for table in proba] == [(len(labels), 3) for labels in y]
    dicts = [[{"a": row[0]} for row in x] for x in X]
    search = GridSearchCV(
        make_pipeline(SequenceVectorizer(), crf),
        {"lbfgscrf__alpha": [0.1, 1.0]},
        cv=cv,
        scoring=get_scorer("flat_accuracy"),
        n_jobs=2,
    )
    assert np.isfinite(search.fit(dicts, y).cv_results_["mean_test_score"]).all()
