"""Probabilities of a classifier, of folds that did not see a sequence, as features."""

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.ensemble import RandomForestClassifier
from sklearn.feature_extraction import DictVectorizer
from sklearn.feature_selection import SelectKBest, f_classif
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.mixture import GaussianMixture
from sklearn.model_selection import GroupKFold, cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier

from skcrf_sdca import CRF, PackedSequences, PerToken, make_tagger
from skcrf_sdca.features import ClassifierFeatures, SequenceWindow

RNG = np.random.default_rng(0)
y = [np.repeat(RNG.integers(3, size=6), 5) for _ in range(12)]
X = [RNG.normal(size=(30, 4)) + np.eye(3, 4)[labels] for labels in y]
NAMED = [[f"s{k}" for k in labels] for labels in y]
ROWS, FLAT = np.vstack(X), np.concatenate(y)
OF_ITEM = np.repeat(np.arange(12), 30)
GROUPS = np.arange(12) // 3
TREE = DecisionTreeClassifier(max_depth=4, random_state=0)


def of_rows(proba):
    return np.log(np.maximum(proba, 1e-6))


def test_a_fit_gives_what_folds_that_did_not_see_the_sequence_say():
    below = ClassifierFeatures(TREE, cv=4)
    packed = below.fit_transform(X, NAMED)
    folds = [(OF_ITEM // 3 != k, OF_ITEM // 3 == k) for k in range(4)]
    folds = [tuple(map(np.flatnonzero, fold)) for fold in folds]
    expected = cross_val_predict(TREE, ROWS, FLAT, cv=folds, method="predict_proba")
    np.testing.assert_array_equal(packed.X, of_rows(expected))
    assert packed.lengths.tolist() == [30] * 12
    names = ["log p(s0)", "log p(s1)", "log p(s2)"]
    assert list(packed.feature_names) == names
    assert below.get_feature_names_out().tolist() == names
    assert below.classes_.tolist() == ["s0", "s1", "s2"]


def test_new_sequences_get_what_a_classifier_of_all_says():
    below = ClassifierFeatures(TREE).fit(X, NAMED)
    expected = of_rows(TREE.fit(ROWS, FLAT).predict_proba(ROWS))
    np.testing.assert_array_equal(below.transform(X).X, expected)
    assert below.transform([]).X.shape == (0, 3)
    assert below.transform(PackedSequences(ROWS, [0, 360])).X.shape == (360, 3)


def test_groups_are_labelled_by_classifiers_of_other_groups():
    below = ClassifierFeatures(TREE, cv=4)
    found = below.fit_transform(X, y, groups=GROUPS).X
    expected = cross_val_predict(
        *(TREE, ROWS, FLAT),
        groups=GROUPS[OF_ITEM],
        cv=GroupKFold(4),
        method="predict_proba",
    )
    np.testing.assert_array_equal(found, of_rows(expected))
    tagger = make_tagger(below, CRF(random_state=0))
    tagger.fit(X, y, classifierfeatures__groups=GROUPS)
    crf = CRF(random_state=0).fit(PackedSequences.from_lengths(found, [30] * 12), y)
    np.testing.assert_array_equal(tagger[-1].coef_, crf.coef_)
    own = ClassifierFeatures(TREE, cv=GroupKFold(4)).fit_transform(X, y, groups=GROUPS)
    np.testing.assert_array_equal(own.X, found)


def test_labels_of_all_rows_beside_packed_sequences():
    packed = PackedSequences.from_lengths(ROWS, [30] * 12)
    steps = PerToken(SelectKBest(f_classif, k=2)), ClassifierFeatures(TREE, cv=4)
    tagger = make_tagger(*steps, CRF(random_state=0))
    found = tagger.fit(packed, FLAT)[-1].coef_
    np.testing.assert_array_equal(found, tagger.fit(packed, y)[-1].coef_)
    with pytest.raises(ValueError, match="360 positions, but y has 359 labels"):
        tagger.fit(packed, FLAT[1:])


class Counting(ClassifierMixin, BaseEstimator):
    """Remembers the labels that it was fitted to."""

    def fit(self, X, y):
        self.classes_, self.counts_ = np.unique(y, return_counts=True)
        return self

    def predict(self, X):
        return np.full(len(X), self.classes_[self.counts_.argmax()])

    def predict_proba(self, X):
        return np.tile(self.counts_ / self.counts_.sum(), (len(X), 1))


def test_labels_that_are_not_known_are_not_seen():
    lost = [labels.tolist() for labels in y]
    lost[0] = [None] * 30
    lost[1][:7] = [None] * 7
    below = ClassifierFeatures(Counting(), cv=4)
    packed = below.fit_transform(X, lost)
    assert below.classifier_.counts_.sum() == 360 - 37
    known = np.concatenate(y[1:])[7:]
    np.testing.assert_array_equal(below.classifier_.counts_, np.bincount(known))
    # Sequences 0 to 2 are labelled by a classifier of all others.
    counts = np.bincount(np.concatenate(y[3:]))
    np.testing.assert_allclose(packed.X[:90], np.log([counts / counts.sum()] * 90))


def test_dicts_below_a_pipeline():
    dicts = [[{"a": row[0], "b": row[1]} for row in rows] for rows in X]
    model = make_pipeline(DictVectorizer(), LogisticRegression())
    below = ClassifierFeatures(model, cv=3)
    assert below.fit_transform(dicts, y).X.shape == (360, 3)
    lost = [[None, *labels[1:].tolist()] for labels in y]
    assert below.fit(dicts, lost).transform(dicts[:1]).X.shape == (30, 3)


def test_a_chain_above_is_better_than_the_classifier():
    forest = RandomForestClassifier(20, random_state=0)
    below = make_tagger(SequenceWindow(1), ClassifierFeatures(forest), CRF(1.0))
    below.fit(X[:8], y[:8])
    alone = forest.fit(np.vstack(X[:8]), np.concatenate(y[:8]))
    accuracy = alone.score(np.vstack(X[8:]), np.concatenate(y[8:]))
    assert below.score(X[8:], y[8:]) > accuracy + 0.05


@pytest.mark.parametrize(
    ("below", "own", "error", "message"),
    [
        (ClassifierFeatures(TREE, cv=20), X, ValueError, "cv=20 of the 12 sequences"),
        (ClassifierFeatures(TREE), ROWS, ValueError, "one table.*from_lengths"),
        (ClassifierFeatures(TREE), [], ValueError, "0 sequences|no sequence"),
        (ClassifierFeatures(LinearSVC()), X, TypeError, "'predict_proba'.* LinearSVC"),
        (ClassifierFeatures(Ridge()), X, TypeError, "classifier must have"),
        (ClassifierFeatures(StandardScaler()), X, TypeError, "classifier must have"),
        (ClassifierFeatures("tree"), X, TypeError, "classifier must have .* 'tree'"),
        (ClassifierFeatures(None), X, TypeError, "classifier must have .* None"),
        (ClassifierFeatures(GaussianMixture()), X, TypeError, "must be a classifier"),
        (ClassifierFeatures(LogisticRegression), X, TypeError, "is the class Logistic"),
    ],
)
def test_what_it_does_not_take_is_named(below, own, error, message):
    with pytest.raises(error, match=message):
        below.fit_transform(own, y if len(own) == len(y) else y[: len(own)])


@pytest.mark.parametrize("classifier", [TREE, make_pipeline(StandardScaler(), TREE)])
def test_per_token_of_a_classifier_names_it(classifier):
    with pytest.raises(TypeError, match=r"features\.ClassifierFeatures"):
        PerToken(classifier).fit(X, y)
    with pytest.raises(TypeError, match="'transform', got of type Ridge"):
        PerToken(Ridge()).fit(X, y)
