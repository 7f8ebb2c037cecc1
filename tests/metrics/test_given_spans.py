"""Scores of spans that are given as tuples, which may be nested and overlap."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from pairs import in_one_test
from skcrf_sdca import metrics
from strategies import label_pairs

AVERAGES = ["micro", "macro", "weighted", None]
SCORES = [
    metrics.span_f1_score,
    metrics.span_precision_score,
    metrics.span_recall_score,
    metrics.span_precision_recall_fscore,
    metrics.span_classification_report,
]
spans = st.lists(
    st.tuples(st.sampled_from("XYZ"), st.integers(0, 2), st.integers(3, 5)), max_size=4
)
pairs = st.lists(st.tuples(spans, spans), min_size=1, max_size=4)


@given(label_pairs(["O", "B-X", "I-X", "B-Y"]), st.sampled_from(AVERAGES))
def test_spans_of_labels_score_as_their_labels(pair, average):
    y_true, y_pred = ([list(labels) for labels in y] for y in pair)
    weight = np.arange(len(y_true)) + 0.5
    options = {"average": average, "sample_weight": weight, "zero_division": 0.0}
    found, expected = (
        metrics.span_precision_recall_fscore(*y, **options)
        for y in (tuple(map(metrics.extract_spans, (y_true, y_pred))), (y_true, y_pred))
    )
    for own, other in zip(found, expected, strict=True):
        assert_array_equal(own, other)


@given(pairs)
def test_equal_spans_match_one_by_one(pair):
    y_true, y_pred = map(list, zip(*pair, strict=True))
    options = {"average": None, "types": ["X", "Y"], "zero_division": 0.0}
    precision, recall, _, support = metrics.span_precision_recall_fscore(
        y_true, [[(b, e, name, 0.5) for name, b, e in own] for own in y_pred], **options
    )
    for k, name in enumerate("XY"):
        n_true, n_pred, n_right = 0, 0, 0
        for true, pred in pair:
            own, other = ([s for s in part if s[0] == name] for part in (true, pred))
            n_true, n_pred = n_true + len(own), n_pred + len(other)
            n_right += sum(min(n, other.count(s)) for s, n in Counter(own).items())
        assert precision[k] == n_right / max(n_pred, 1)
        assert recall[k] == n_right / max(n_true, 1)
        assert support[k] == n_true


def test_nested_spans_by_hand():
    y_true = [[("ORG", 0, 4), ("LOC", 3, 4), ("LOC", 3, 4)], []]
    y_pred = [[("LOC", 3, 4), ("ORG", 0, 3)], [("ORG", 0, 4)]]
    scores = metrics.span_precision_recall_fscore(y_true, y_pred)
    assert scores == (1 / 3, 1 / 3, 1 / 3, 3)
    report = metrics.span_classification_report(
        y_true, y_pred, output_dict=True, zero_division=0.0
    )
    assert report["LOC"]["recall"] == 0.5
    assert report["ORG"]["f1-score"] == 0.0


@pytest.mark.parametrize("score", SCORES)
def test_spans_of_one_sequence_need_no_list_of_sequences(score):
    y_true, y_pred = [("PER", 0, 2), ("LOC", 3, 4)], [(0, 2, "PER"), (2, 4, "LOC")]
    options = {"zero_division": 0.0}
    expected = score([y_true], [y_pred], **options)
    assert score(y_true, y_pred, **options) == expected
    assert score(y_true, [], **options) == score([y_true], [[]], **options)
    arrays = np.fromiter([y_true, []], dtype=object), [y_pred, []]
    assert score(*arrays, **options) == expected


@given(pairs, spans)
def test_the_difference_is_the_one_of_the_scores(pair, own):
    y_true, y_pred = map(list, zip(*pair, strict=True))
    y_other = [own] * len(y_true)
    found = metrics.span_f1_difference(
        y_true, y_pred, y_other, n_draws=3, random_state=0
    )
    scores = (
        metrics.span_f1_score(y_true, y, zero_division=0.0) for y in (y_pred, y_other)
    )
    assert found.difference == pytest.approx(np.subtract(*scores))


SPANS = [[("P", 0, 1)]]


@in_one_test(
    ("y_true", "y_pred", "message"),
    [
        ([["B-P"]], SPANS, "y_true: sequence 0, span 0 is 'B-P'.*extract_spans"),
        (SPANS, [["B-P"]], "y_pred: sequence 0, span 0 is 'B-P'.*extract_spans"),
        (SPANS, [[], []], "y_true has 1 sequence, but y_pred has 2"),
        (SPANS, [[("P", 1, 1)]], "y_pred: sequence 0, span 0 goes from 1 to 1"),
        ([[], [(0, 1)]], [[], []], r"y_true: sequence 1, span 0 is \(0, 1\); it must"),
        ([[("P", 0.5, 1)]], [[]], r"y_true: sequence 0, span 0 is \('P', 0.5, 1\); it"),
    ],
)
@in_one_test("score", SCORES)
def test_what_cannot_be_compared_is_named(score, y_true, y_pred, message):
    with pytest.raises((TypeError, ValueError), match=message):
        score(y_true, y_pred)
