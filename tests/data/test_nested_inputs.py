"""Random nested input: valid input is fitted, and errors name the place of the rest."""

import pickle
import re

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from sklearn.base import clone

from samples import all_estimators, name_of
from skcrf_sdca import SDCACRF, SequenceVectorizer, metrics
from strategies import (
    damaged_sets,
    label_pairs,
    places,
    training_sets,
    wrong_labels,
)

# With this tolerance a fit ends after one epoch: any model serves here.
every_estimator = pytest.mark.parametrize("crf", all_estimators(tol=1e100), ids=name_of)
BIO = ["O", "B-X", "I-X", "B-Y", "I-Y"]


def assert_refused(method, *arguments, place):
    """Only these two errors are raised, and the message names the place."""
    with pytest.raises((ValueError, TypeError), match=re.escape(place)) as caught:
        method(*arguments)
    assert caught.type in (ValueError, TypeError)


# All estimators read X and y by the same code.
@every_estimator
@settings(max_examples=6)
@given(training_sets(), st.data())
def test_right_input_gives_right_answers(crf, training, data):
    X, y = training
    crf = clone(crf).fit(X, y)
    kind = crf.vectorizer_.input_format_
    other, _ = data.draw(training_sets())
    for sequences in (X, other):
        if SequenceVectorizer().fit(sequences).input_format_ != kind:
            assert_refused(crf.predict, sequences, place="X")
            continue
        predicted, proba = crf.predict(sequences), crf.predict_proba(sequences)
        assert list(map(len, predicted)) == list(map(len, sequences))
        assert set(sum(predicted, [])) <= set(sum(y, []))
        for p, sequence in zip(proba, sequences, strict=True):
            assert p.shape == (len(sequence), len(crf.classes_))
            assert_allclose(p.sum(axis=1), 1, rtol=1e-9)
    share = metrics.flat_accuracy_score(y, crf.predict(X))
    assert_allclose(crf.score(X, y), share, rtol=1e-12)


@every_estimator
@settings(max_examples=6)
@given(damaged_sets())
def test_what_is_no_feature_is_refused_by_its_place(crf, damaged):
    X, y, i, t = damaged
    crf, place = clone(crf), f"sequence {i}, item {t}"
    assert_refused(SequenceVectorizer().fit, X, place=place)
    assert_refused(crf.fit, X, y, place=place)
    assert not hasattr(crf, "classes_")
    crf.fit([[{"a": 1.0} if isinstance(X[i][t], dict) else ["a"]]], [["O"]])
    before = pickle.dumps(crf)
    assert_refused(crf.predict, X, place=place)
    assert pickle.dumps(crf) == before


@given(training_sets(), wrong_labels, st.data())
def test_what_is_no_label_is_refused_by_its_place(training, wrong, data):
    X, y = training
    i, t = data.draw(places(X))
    y[i][t] = wrong
    place = f"sequence {i}, position {t}"
    assert_refused(SDCACRF().fit, X, y, place=place)


@given(label_pairs(BIO), st.data())
def test_metrics_are_shares_or_name_the_sequence(pair, data):
    y_true, y_pred = pair
    assume(any(y_true))
    span_f1 = metrics.span_f1_score
    for score in (metrics.flat_accuracy_score, metrics.sequence_accuracy_score):
        assert 0.0 <= score(y_true, y_pred) <= score(y_true, y_true) == 1.0
    assert 0.0 <= span_f1(y_true, y_pred, zero_division=1.0) <= 1.0
    assert span_f1(y_true, y_true, zero_division=1.0) == 1.0
    i, t = data.draw(places(y_pred))
    del y_pred[i][t]
    for score in (
        metrics.flat_accuracy_score,
        span_f1,
        metrics.sequence_accuracy_score,
    ):
        assert_refused(score, y_true, y_pred, place=f"Sequence {i} has")
