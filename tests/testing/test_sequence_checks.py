"""The checks of sequences: all estimators pass, and each check finds its fault."""

import numpy as np
import pytest
from sklearn.base import BaseEstimator
from sklearn.exceptions import NotFittedError
from sklearn.naive_bayes import GaussianNB
from sklearn.preprocessing import StandardScaler

from skcrf_sdca import (
    CRF,
    LBFGSCRF,
    OEGCRF,
    SAGNUSCRF,
    SDCACRF,
    SGDCRF,
    GraphCRF,
    PassiveAggressiveCRF,
    PerToken,
    SegmentCRF,
    SequenceHasher,
    SequenceUnion,
    SequenceVectorizer,
    TreeCRF,
    compat,
    make_tagger,
)
from skcrf_sdca.datasets import make_chains
from skcrf_sdca.features import ClassifierFeatures, ImageWindow, SequenceWindow
from skcrf_sdca.testing import CHECKS, sequence_checks
from skcrf_sdca.text import TokenFeatures

ARRAYS, LABELS = make_chains(n_sequences=8, length=(2, 5), random_state=0)
ARRAYS = list(ARRAYS)
DICTS = [[{f"w{label}": 1.0, "b": 0.5} for label in labels] for labels in LABELS]
WORDS = [[f"w{label}" for label in labels] for labels in LABELS]
SPANS = [["B-P" if k == 0 else "O" for k in labels] for labels in LABELS]
PAIRS = list(zip(DICTS, ARRAYS, strict=True))
GRAPHS = [(x, [[j, j + 1] for j in range(len(x) - 1)]) for x in ARRAYS]
TREES = [(x, [-1, *range(len(x) - 1)]) for x in ARRAYS]

CASES = {
    "CRF": (CRF(), ARRAYS, LABELS),
    "SDCACRF": (SDCACRF(), ARRAYS, LABELS),
    "SDCACRF of dicts": (SDCACRF(), DICTS, LABELS),
    "SDCACRF order 2": (SDCACRF(order=2), ARRAYS, LABELS),
    "SDCACRF hinge": (SDCACRF(loss="hinge"), ARRAYS, LABELS),
    "SDCACRF threads": (SDCACRF(n_jobs=2), ARRAYS, LABELS),
    "SDCACRF edge features": (SDCACRF(edge_features=["b"]), DICTS, LABELS),
    "OEGCRF": (OEGCRF(), ARRAYS, LABELS),
    "SAGNUSCRF": (SAGNUSCRF(), ARRAYS, LABELS),
    "LBFGSCRF": (LBFGSCRF(), ARRAYS, LABELS),
    "SGDCRF": (SGDCRF(), ARRAYS, LABELS),
    "SGDCRF adagrad": (SGDCRF(method="adagrad"), ARRAYS, LABELS),
    "PassiveAggressiveCRF": (PassiveAggressiveCRF(), ARRAYS, LABELS),
    "SegmentCRF": (SegmentCRF(), ARRAYS, SPANS),
    "SegmentCRF without a scheme": (SegmentCRF(scheme=None), ARRAYS, LABELS),
    "GraphCRF": (GraphCRF(), GRAPHS, LABELS),
    "TreeCRF": (TreeCRF(), TREES, LABELS),
    "compat.CRF": (compat.CRF(), DICTS, SPANS),
    "compat.CRF ap": (compat.CRF("ap"), DICTS, SPANS),
    "Tagger": (make_tagger(SequenceVectorizer(), SDCACRF()), DICTS, LABELS),
    "SequenceVectorizer": (SequenceVectorizer(), DICTS, None),
    "SequenceHasher": (SequenceHasher(n_features=16), DICTS, None),
    "PerToken": (PerToken(StandardScaler()), ARRAYS, None),
    "SequenceWindow": (SequenceWindow(1, differences=True, span=2), ARRAYS, None),
    "ImageWindow": (ImageWindow(1, span=2), ARRAYS, None),
    "ClassifierFeatures": (ClassifierFeatures(GaussianNB(), cv=2), ARRAYS, LABELS),
    "SequenceUnion": (
        SequenceUnion(
            [("d", SequenceVectorizer(), 0), ("a", PerToken(StandardScaler()), 1)]
        ),
        PAIRS,
        None,
    ),
    "TokenFeatures": (TokenFeatures(["word"]), WORDS, None),
}


def named(name, estimator, X, y=None, **options):
    checks = {
        check.name: check for check in sequence_checks(estimator, X, y, **options)
    }
    return checks[name]


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_every_estimator_passes(case):
    checks = list(sequence_checks(*case))
    assert {check.name for check in checks} == {*CHECKS}
    for check in checks:
        check()


class Scaled(BaseEstimator):
    def __init__(self, scale=1.0):
        self.scale = scale


class Counting(Scaled):
    """A transformer without a fault: the share of a sequence in all items seen."""

    def fit(self, X, y=None, sample_weight=None):
        self.total_ = sum(len(sequence) for sequence in X)
        return self

    def transform(self, X):
        if not hasattr(self, "total_"):
            raise NotFittedError
        return [self.of(sequence) for sequence in X]

    def of(self, sequence):
        return np.full((len(sequence), 2), self.scale * len(sequence) / self.total_)

    def get_feature_names_out(self, input_features=None):
        return ["length", "part"]

    def set_output(self, *, transform=None):
        return self


class Labelling(Scaled):
    """An estimator without a fault: the most frequent label."""

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        return tags

    def fit(self, X, y=None, sample_weight=None):
        if y is None or [len(x) for x in X] != [len(labels) for labels in y]:
            raise ValueError("wrong y")
        weight = np.ones(len(X)) if sample_weight is None else sample_weight
        counts = {}
        for w, labels in zip(weight, y, strict=True):
            for label in labels:
                counts[label] = counts.get(label, 0) + w
        self.label_ = max(counts, key=counts.get)
        return self

    def predict(self, X):
        if not hasattr(self, "label_"):
            raise NotFittedError
        return [[self.label_] * len(sequence) for sequence in X]

    def score(self, X, y):
        return 1.0


def broken(base, **methods):
    """Return an estimator with a fault."""
    return type("Broken", (base,), methods)()


def set_in_init(self, scale=1.0):
    self.scale, self.more = scale, 1


def fit_returns_none(self, X, y=None):
    Counting.fit(self, X, y)


def fit_adds(self, X, y=None):
    self.total_ = getattr(self, "total_", 0) + 1
    return self


def fit_keeps_first(self, X, y=None):
    return self if hasattr(self, "total_") else Counting.fit(self, X, y)


def fit_changes_data(self, X, y=None):
    X[0][0] = X[0][0] * 2
    return Counting.fit(self, X, y)


def transform_sets(self, X):
    self.seen_ = len(X)
    return Counting.transform(self, X)


def transform_one_less(self, X):
    return Counting.transform(self, X)[:-1]


def transform_sees_others(self, X):
    return [self.of(X[0])] + [self.of(x) for x in X[1:]][::-1]


def transform_normalises(self, X):
    total = sum(map(len, X))
    return [self.of(sequence) / total for sequence in X]


def transform_needs_a_list(self, X):
    return [self.of(X[i]) for i in range(len(X))]


def transform_needs_one(self, X):
    return Counting.transform(self, X) or [self.of([1])]


def loses_the_fit(self):
    return {"scale": self.scale}


def one_name(self, input_features=None):
    return ["length", "length"]


def weighs_all_twice(self, X, y, sample_weight=None):
    Labelling.fit(self, X, y)
    if sample_weight is not None:
        self.label_ = "another"
    return self


def fits_anything(self, X, y=None):
    self.label_ = 0
    return self


FAULTS = {
    "clone": broken(Counting, __init__=set_in_init),
    "fit": broken(Counting, fit=fit_returns_none),
    "not_fitted": broken(Counting, transform=lambda self, X: list(X)),
    "idempotent_fit": broken(Counting, fit=fit_adds),
    "refit": broken(Counting, fit=fit_keeps_first),
    "pickle": broken(Counting, __reduce__=lambda self: (Counting, ())),
    "data_unchanged": broken(Counting, fit=fit_changes_data),
    "answers_change_nothing": broken(Counting, transform=transform_sets),
    "lengths": broken(Counting, transform=transform_one_less),
    "permutation": broken(Counting, transform=transform_sees_others),
    "subset": broken(Counting, transform=transform_normalises),
    "containers": broken(Counting, transform=transform_needs_a_list),
    "empty": broken(Counting, transform=transform_needs_one),
    "wrong_y": broken(Labelling, fit=fits_anything),
    "feature_names": broken(Counting, get_feature_names_out=one_name),
    "transform_output": broken(Counting, set_output=None),
    "sample_weight": broken(Labelling, fit=weighs_all_twice),
    "score": broken(Labelling, score=lambda self, X, y: np.ones(len(X))),
}


@pytest.mark.parametrize("check", CHECKS)
def test_a_check_finds_its_fault(check):
    faulty = FAULTS[check]
    y = LABELS if isinstance(faulty, Labelling) else None
    right = Labelling() if y else Counting()
    named(check, right, ARRAYS, y)()
    with pytest.raises((AssertionError, TypeError, ValueError)):
        named(check, faulty, ARRAYS, y)()
    # What is expected to fail may fail, and must.
    expected = {"expected_failures": {check: "of a test"}}
    named(check, faulty, ARRAYS, y, **expected)()
    with pytest.raises(AssertionError, match="passes, though it is expected to fail"):
        named(check, right, ARRAYS, y, **expected)()


def test_the_arguments_are_checked():
    with pytest.raises(ValueError, match="X has 3 sequences"):
        sequence_checks(Counting(), ARRAYS[:3])
    with pytest.raises(ValueError, match="expected_failures has \\['nothing'\\]"):
        sequence_checks(Counting(), ARRAYS, expected_failures={"nothing": "why"})
    with pytest.raises(AssertionError, match="has none of the methods predict"):
        named("lengths", broken(Scaled, fit=Counting.fit), ARRAYS)()


def test_checks_change_neither_the_estimator_nor_the_data():
    estimator, X = Counting(), [np.array(x) for x in ARRAYS]
    for check in sequence_checks(estimator, X):
        check()
    assert vars(estimator) == {"scale": 1.0}
    assert all(map(np.array_equal, X, ARRAYS))
