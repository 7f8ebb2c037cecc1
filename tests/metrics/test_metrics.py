"""Metrics against scikit-learn and cases worked out by hand."""

from decimal import Decimal
from functools import partial

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import BaseEstimator
from sklearn.exceptions import UndefinedMetricWarning
from sklearn.metrics import (
    accuracy_score,
    classification_report,
    f1_score,
    fbeta_score,
    log_loss,
    make_scorer,
    precision_score,
    recall_score,
)

from skcrf_sdca import metrics
from strategies import label_pairs

BIO = ["O", "B-X", "I-X", "B-Y", "I-Y", "B", "I", "B-X-Z", "I-X-Z"]

Y_TRUE = [["A", "B", "B"], [], ["A"], ["C", "A"]]
Y_PRED = [["A", "B", "A"], [], ["A"], ["C", "B"]]
FLAT_TRUE = ["A", "B", "B", "A", "C", "A"]
FLAT_PRED = ["A", "B", "A", "A", "C", "B"]

SHARES = [
    metrics.flat_accuracy_score,
    metrics.flat_hamming_loss,
    metrics.sequence_accuracy_score,
]
FLAT_SCORES = [
    metrics.flat_f1_score,
    partial(metrics.flat_fbeta_score, beta=2.0),
    metrics.flat_precision_score,
    metrics.flat_recall_score,
]
SPAN_SCORES = [
    metrics.span_f1_score,
    metrics.span_precision_score,
    metrics.span_recall_score,
]
TWO_ARGUMENT_METRICS = [
    *SHARES,
    *FLAT_SCORES,
    *SPAN_SCORES,
    metrics.flat_classification_report,
    metrics.flat_confusion_matrix,
    metrics.span_classification_report,
    metrics.span_confusion_matrix,
    metrics.span_precision_recall_fscore,
]
SPAN_METRICS = [
    *SPAN_SCORES,
    metrics.span_classification_report,
    metrics.span_confusion_matrix,
    metrics.span_precision_recall_fscore,
]


def as_object_array(y):
    array = np.empty(len(y), dtype=object)
    array[:] = [np.array(labels, dtype=object) for labels in y]
    return array


def test_flat_accuracy_counts_tokens():
    assert_allclose(metrics.flat_accuracy_score(Y_TRUE, Y_PRED), 4 / 6, rtol=1e-15)


def test_sequence_accuracy_counts_sequences_and_empty_ones_are_right():
    assert metrics.sequence_accuracy_score(Y_TRUE, Y_PRED) == 0.5


def test_weight_of_a_sequence_is_the_weight_of_its_tokens():
    weight = [1.0, 5.0, 2.0, 0.5]
    by_token = np.repeat(weight, [3, 0, 1, 2])
    expected = accuracy_score(FLAT_TRUE, FLAT_PRED, sample_weight=by_token)
    value = metrics.flat_accuracy_score(Y_TRUE, Y_PRED, sample_weight=weight)
    assert_allclose(value, expected, rtol=1e-14)
    value = metrics.sequence_accuracy_score(Y_TRUE, Y_PRED, sample_weight=weight)
    assert_allclose(value, 7 / 8.5, rtol=1e-14)
    expected = f1_score(FLAT_TRUE, FLAT_PRED, sample_weight=by_token, average="macro")
    value = metrics.flat_f1_score(Y_TRUE, Y_PRED, sample_weight=weight, average="macro")
    assert_allclose(value, expected, rtol=1e-14)


@pytest.mark.parametrize(
    ("flat", "metric"),
    [
        (metrics.flat_f1_score, f1_score),
        (partial(metrics.flat_fbeta_score, beta=0.5), partial(fbeta_score, beta=0.5)),
        (metrics.flat_precision_score, precision_score),
        (metrics.flat_recall_score, recall_score),
    ],
)
@pytest.mark.parametrize(
    "options",
    [
        {"average": "weighted", "labels": ["A", "B"]},
        {"average": "micro", "labels": ["C"]},
        {"average": None},
    ],
)
def test_flat_scores_are_those_of_the_joined_sequences(flat, metric, options):
    expected = metric(FLAT_TRUE, FLAT_PRED, **options)
    assert_array_equal(flat(Y_TRUE, Y_PRED, **options), expected)


def test_flat_report_takes_labels_by_place_and_by_name():
    expected = classification_report(FLAT_TRUE, FLAT_PRED, labels=["B", "A"], digits=4)
    by_place = metrics.flat_classification_report(Y_TRUE, Y_PRED, ["B", "A"], digits=4)
    by_name = metrics.flat_classification_report(
        Y_TRUE, Y_PRED, labels=["B", "A"], digits=4
    )
    assert by_place == by_name == expected


def test_labels_need_not_be_str():
    y_true, y_pred = [[0, 1], [1]], [np.array([0, 1]), [0]]
    assert_allclose(metrics.flat_accuracy_score(y_true, y_pred), 2 / 3, rtol=1e-15)
    assert metrics.sequence_accuracy_score(y_true, y_pred) == 0.5
    assert metrics.flat_f1_score(y_true, y_pred, average="micro") == pytest.approx(
        2 / 3
    )


def test_flat_f1_makes_a_scorer():
    class Echo(BaseEstimator):
        def fit(self, X, y=None):
            return self

        def predict(self, X):
            return as_object_array(X)

    scorer = make_scorer(metrics.flat_f1_score, average="weighted", labels=["A", "B"])
    expected = f1_score(FLAT_TRUE, FLAT_PRED, average="weighted", labels=["A", "B"])
    assert scorer(Echo(), Y_PRED, Y_TRUE) == expected


@given(label_pairs(BIO))
def test_lists_and_object_arrays_score_alike(pair):
    arrays = [as_object_array(y) for y in pair]
    scores = metrics.span_precision_recall_fscore(*pair, zero_division=0.0)
    assert metrics.span_precision_recall_fscore(*arrays, zero_division=0.0) == scores
    if any(pair[0]):
        accuracy = metrics.flat_accuracy_score(*pair)
        assert metrics.flat_accuracy_score(*arrays) == accuracy
    accuracy = metrics.sequence_accuracy_score(*pair)
    assert metrics.sequence_accuracy_score(*arrays) == accuracy


def test_span_scores_by_hand():
    y_true = [["B-X", "I-X", "O", "B-Y"], ["B-X"], []]
    y_pred = [["B-X", "O", "B-Y", "B-Y"], ["I-X"], []]
    scores = metrics.span_precision_recall_fscore(y_true, y_pred)
    assert_allclose(scores, [2 / 4, 2 / 3, 4 / 7, 3], rtol=1e-15)
    by_type = metrics.span_precision_recall_fscore(y_true, y_pred, average=None)
    expected = [[1 / 2, 1 / 2], [1 / 2, 1], [1 / 2, 2 / 3], [2, 1]]
    assert_allclose(by_type, expected, rtol=1e-15)
    only_y = metrics.span_precision_recall_fscore(y_true, y_pred, types=["Y"])
    assert only_y == (1 / 2, 1.0, pytest.approx(2 / 3), 1)


def test_spans_match_in_type_and_place_and_sequence():
    assert metrics.span_f1_score([["B-X", "B-Y"]], [["B-Y", "B-Y"]]) == 0.5
    assert metrics.span_f1_score([["B-X", "I-X"]], [["B-X", "O"]]) == 0.0
    assert metrics.span_f1_score([["B-X"], ["O"]], [["O"], ["B-X"]]) == 0.0


def test_averages_over_types_by_hand():
    y_true = [["B-X", "I-X", "O", "B-Y"], ["B-X"], ["O"]]
    y_pred = [["B-X", "O", "B-Y", "B-Y"], ["I-X"], ["B-Z"]]
    # Counts of X, Y, Z: correct 1, 1, 0; predicted 2, 2, 1; true 2, 1, 0.
    options = {"zero_division": np.nan}
    scores = metrics.span_precision_recall_fscore
    macro = scores(y_true, y_pred, average="macro", **options)
    expected = [1 / 3, 3 / 4, (1 / 2 + 2 / 3) / 3, 3]
    assert_allclose(macro, expected, rtol=1e-15)
    weighted = scores(y_true, y_pred, average="weighted", **options)
    expected = [1 / 2, 2 / 3, (2 * 1 / 2 + 2 / 3) / 3, 3]
    assert_allclose(weighted, expected, rtol=1e-15)


@given(label_pairs(BIO), st.lists(st.integers(0, 3), min_size=5, max_size=5))
@pytest.mark.parametrize("average", ["micro", "macro", "weighted", None])
def test_weight_of_a_sequence_is_the_number_of_its_copies(average, pair, weight):
    weight = weight[: len(pair[0])]
    types = sorted({label[2:] for label in BIO if label != "O"})
    options = {"average": average, "zero_division": 1.0, "types": types}
    scores = metrics.span_precision_recall_fscore
    copies = [
        [labels for labels, n in zip(y, weight, strict=True) for _ in range(n)]
        for y in pair
    ]
    weighted = scores(*pair, sample_weight=weight, **options)
    for value, expected in zip(weighted, scores(*copies, **options), strict=True):
        assert_allclose(value, expected, rtol=1e-14)


def test_small_weights_count_too():
    y_true, y_pred = [["B-X"], ["B-X"]], [["B-X"], ["O"]]
    for scale in (1.0, 1e-3):
        weight = np.array([3.0, 1.0]) * scale
        options = {"sample_weight": weight}
        assert_allclose(
            metrics.span_recall_score(y_true, y_pred, **options), 0.75, rtol=1e-14
        )
        accuracy = metrics.flat_accuracy_score(y_true, y_pred, **options)
        assert_allclose(accuracy, 0.75, rtol=1e-14)


def test_report_of_spans_by_hand():
    y_true = [["B-X", "I-X", "O", "B-long_type"], ["B-X"]]
    y_pred = [["B-X", "O", "O", "B-long_type"], ["I-X"]]
    text = metrics.span_classification_report(y_true, y_pred, digits=3)
    assert text.splitlines() == [
        "              precision    recall  f1-score   support",
        "",
        "           X      0.500     0.500     0.500         2",
        "   long_type      1.000     1.000     1.000         1",
        "",
        "   micro avg      0.667     0.667     0.667         3",
        "   macro avg      0.750     0.750     0.750         3",
        "weighted avg      0.667     0.667     0.667         3",
    ]
    rows = metrics.span_classification_report(
        y_true, y_pred, types=["X"], sample_weight=[1.0, 0.5], output_dict=True
    )
    assert list(rows) == ["X", "micro avg", "macro avg", "weighted avg"]
    # By weight, 0.5 of the 1.5 predicted spans and of the 1.5 true spans is correct.
    expected = {"precision": 1 / 3, "recall": 1 / 3, "f1-score": 1 / 3, "support": 1.5}
    assert all(rows[row] == pytest.approx(expected) for row in rows)
    assert {type(value) for value in rows["X"].values()} == {float}


def test_report_is_laid_out_as_that_of_tokens():
    y = [["B-X", "O"], ["B-Y"]]
    ours = metrics.span_classification_report(y, y).splitlines()
    theirs = metrics.flat_classification_report(y, y).splitlines()
    assert ours[0] == theirs[0]
    assert len(ours[-1]) == len(theirs[-1])


def test_strict_scores_leave_out_invalid_spans():
    y_true, y_pred = [["B-X", "I-X", "O", "B-Y"]], [["I-X", "I-X", "O", "B-Y"]]
    scores = metrics.span_precision_recall_fscore
    assert scores(y_true, y_pred) == (1.0, 1.0, 1.0, 2)
    strict = scores(y_true, y_pred, strict=True)
    assert strict == (1.0, 0.5, pytest.approx(2 / 3), 2)


@pytest.mark.parametrize("flat", FLAT_SCORES)
def test_ignored_labels_are_left_out(flat):
    expected = flat(Y_TRUE, Y_PRED, labels=["A", "B"], average="weighted")
    assert flat(Y_TRUE, Y_PRED, ignore=["C"], average="weighted") == expected
    options = {"labels": ["C", "B", "A"], "average": None}
    by_label = flat(Y_TRUE, Y_PRED, **options)
    assert_array_equal(flat(Y_TRUE, Y_PRED, ignore={"B"}, **options), by_label[[0, 2]])
    with pytest.raises(TypeError, match="ignore must be a list of labels, got the str"):
        flat(Y_TRUE, Y_PRED, ignore="C")


def test_report_of_tokens_leaves_out_ignored_labels():
    expected = metrics.flat_classification_report(Y_TRUE, Y_PRED, labels=["A", "B"])
    report = metrics.flat_classification_report(Y_TRUE, Y_PRED, ignore=["C"])
    assert report == expected


@pytest.mark.parametrize("y", [[], [[]], [[], []]])
@pytest.mark.parametrize(
    "metric",
    [
        *SHARES[:2],
        *(partial(flat, average="macro") for flat in FLAT_SCORES),
        *SPAN_SCORES,
        *(partial(score, average="macro") for score in SPAN_SCORES),
        metrics.flat_log_loss,
    ],
)
def test_no_token_gives_the_value_of_zero_division(metric, y):
    with pytest.warns(UndefinedMetricWarning, match="is undefined and set to 0.0: the"):
        assert metric(y, y) == 0.0
    for value in (0.0, 1.0, np.nan):
        assert_array_equal(metric(y, y, zero_division=value), value)
    with pytest.raises(ValueError, match="zero_division must be"):
        metric(y, y, zero_division=0.5)


@pytest.mark.parametrize("metric", [*SHARES, *FLAT_SCORES, *SPAN_SCORES])
def test_the_line_of_the_caller_is_warned_about(metric):
    with pytest.warns(UndefinedMetricWarning) as caught:
        metric([], [])
    assert [w.filename for w in caught] == [__file__]


@pytest.mark.parametrize("flat", FLAT_SCORES)
def test_flat_scores_without_labels_are_empty(flat):
    for options in ({"labels": []}, {"ignore": ["O"]}):
        options |= {"average": None, "zero_division": 0.0}
        assert flat([["O"]], [["O"]], **options).shape == (0,)
    options = {"labels": ["A", "B"], "average": None, "zero_division": 1.0}
    assert_array_equal(flat([], [], **options), [1.0, 1.0])
    assert flat([["O"]], [["O"]], ignore=["O"], zero_division=1.0) == 1.0


def test_reports_without_a_row():
    with pytest.raises(ValueError, match="nothing to report: y_true has no token"):
        metrics.flat_classification_report([], [])
    with pytest.raises(ValueError, match="nothing to report"):
        metrics.flat_classification_report([["O"]], [["O"]], ignore=["O"])
    report = metrics.span_classification_report
    rows = report([["O"]], [["O"]], output_dict=True, zero_division=1.0)
    assert set(rows) == {"micro avg", "macro avg", "weighted avg"}
    row = {"precision": 1.0, "recall": 1.0, "f1-score": 1.0, "support": 0}
    assert all(rows[name] == row for name in rows)
    assert len(report([], [], zero_division=0.0).splitlines()) == 6


def test_shares_of_no_weight_are_undefined():
    y = [["A"]]
    for share in SHARES:
        assert share(y, y, sample_weight=[0], zero_division=1.0) == 1.0
    assert metrics.sequence_accuracy_score([], [], zero_division=1.0) == 1.0


def test_hamming_loss_is_what_accuracy_leaves():
    weight = [1.0, 5.0, 2.0, 0.5]
    for options in ({}, {"sample_weight": weight}):
        loss = metrics.flat_hamming_loss(Y_TRUE, Y_PRED, **options)
        accuracy = metrics.flat_accuracy_score(Y_TRUE, Y_PRED, **options)
        assert_allclose(loss, 1 - accuracy, rtol=1e-14)


def test_scores_without_any_span_warn_and_are_zero():
    y = [["O", "O"], []]
    with pytest.warns(UndefinedMetricWarning, match="F1 is undefined and set to 0.0"):
        assert metrics.span_f1_score(y, y) == 0.0
    assert metrics.span_f1_score(y, y, zero_division=1.0) == 1.0
    assert np.isnan(metrics.span_f1_score(y, y, zero_division=np.nan))
    assert metrics.span_f1_score(y, y, average=None).shape == (0,)


def test_only_the_undefined_ratio_is_warned_about():
    some, none = [["B-X"]], [["O"]]
    with pytest.warns(UndefinedMetricWarning) as caught:
        scores = metrics.span_precision_recall_fscore(some, none)
    assert scores == (0.0, 0.0, 0.0, 1)
    assert [str(w.message).split()[0] for w in caught] == ["Precision"]
    assert caught[0].filename == __file__
    with pytest.warns(UndefinedMetricWarning) as caught:
        assert metrics.span_precision_recall_fscore(none, some)[3] == 0
    assert [str(w.message).split()[0] for w in caught] == ["Recall"]
    assert metrics.span_f1_score(some, none) == 0.0


def test_zero_division_holds_for_each_type():
    scores = metrics.span_precision_recall_fscore(
        [["B-X", "O"]],
        [["B-X", "B-Y"]],
        types=["X", "Y", "Z"],
        average=None,
        zero_division=np.nan,
    )
    expected = [[1, 0, np.nan], [1, np.nan, np.nan], [1, 0, np.nan], [1, 0, 0]]
    assert_array_equal(scores, expected)


@pytest.mark.parametrize("metric", TWO_ARGUMENT_METRICS)
def test_mismatches_are_named(metric):
    with pytest.raises(ValueError, match=r"y_true has 2 sequences, but y_pred has 1\."):
        metric([["O"], ["O"]], [["O"]])
    message = r"Sequence 1 has 3 labels in y_true, but 2 in y_pred\."
    with pytest.raises(ValueError, match=message):
        metric([["O"], ["O"] * 3], [["O"], ["O"] * 2])


@pytest.mark.parametrize("metric", TWO_ARGUMENT_METRICS)
def test_what_is_no_list_of_label_lists_is_named(metric):
    good = [["O"]]
    with pytest.raises(TypeError, match="y_pred must be a list of sequences, got str"):
        metric(good, "O")
    with pytest.raises(TypeError, match="y_true must be a list .* got NoneType"):
        metric(None, good)
    with pytest.raises(TypeError, match="y_true: sequence 0 is of type str"):
        metric(["O"], good)
    with pytest.raises(TypeError, match="y_pred: sequence 1 is of type int"):
        metric([["O"], ["O"]], [["O"], 1])


@pytest.mark.parametrize("metric", TWO_ARGUMENT_METRICS)
def test_sample_weight_is_checked(metric):
    y = [["B-A"], ["B-B"]]
    with pytest.raises(ValueError, match="3 entries, but there are 2 sequences"):
        metric(y, y, sample_weight=[1, 1, 1])
    for bad in (-1.0, np.nan, np.inf):
        with pytest.raises(ValueError, match="finite and not negative"):
            metric(y, y, sample_weight=[1, bad])
    for bad in ([[1, 0.5], [1]], np.ones((2, 2)), [np.ones(2), 1]):
        with pytest.raises(ValueError, match="sequence 0 has .* one weight: each of"):
            metric(y, y, sample_weight=bad)


@pytest.mark.parametrize(
    ("option", "message"),
    [
        ({"scheme": "XML"}, "scheme must be one of .*'BIO'"),
        ({"average": "binary"}, "average must be one of .* or None, got 'binary'"),
        ({"zero_division": 2}, "zero_division must be"),
        ({"zero_division": "ignore"}, "zero_division must be"),
    ],
)
def test_options_are_checked(option, message):
    y = [["B-X"]]
    for metric in (*SPAN_SCORES, metrics.span_precision_recall_fscore):
        with pytest.raises(ValueError, match=message):
            metric(y, y, **option)


@pytest.mark.parametrize("metric", SPAN_METRICS)
def test_labels_of_no_scheme_are_named_with_their_place(metric):
    good, bad = [["O"], ["O", "B-X"]], [["O"], ["O", "E-X"]]
    with pytest.raises(ValueError, match="y_pred: sequence 1, item 1: Label 'E-X' is"):
        metric(good, bad)
    with pytest.raises(ValueError, match="y_true: sequence 1, item 1: Label 'E-X' is"):
        metric(bad, good)
    with pytest.raises(TypeError, match="y_true: sequence 0, item 0: Labels of spans"):
        metric([[2], [0, 1]], [[2], [0, 1]])


@pytest.mark.parametrize("metric", SPAN_METRICS)
def test_types_are_checked(metric):
    y = [["B-X"]]
    with pytest.raises(TypeError, match="types must be a list of str, got the str 'X'"):
        metric(y, y, types="X")
    with pytest.raises(ValueError, match="types must be distinct"):
        metric(y, y, types=["X", "X"])


def distributions(rng, lengths, n_labels):
    return [rng.dirichlet(np.ones(n_labels), size=length) for length in lengths]


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_log_loss_is_that_of_the_joined_sequences(dtype):
    y_proba = distributions(np.random.default_rng(0), [3, 0, 1, 2], 3)
    y_proba = [table.astype(dtype) for table in y_proba]
    joined = np.concatenate(y_proba)
    weight = [1.0, 5.0, 2.0, 0.5]
    by_token = np.repeat(weight, [3, 0, 1, 2])
    for options in ({}, {"labels": ["A", "B", "C"]}):
        loss = metrics.flat_log_loss(Y_TRUE, y_proba, **options)
        assert_allclose(loss, log_loss(FLAT_TRUE, joined), rtol=1e-6)
        loss = metrics.flat_log_loss(Y_TRUE, y_proba, sample_weight=weight, **options)
        expected = log_loss(FLAT_TRUE, joined, sample_weight=by_token)
        assert_allclose(loss, expected, rtol=1e-6)


def test_log_loss_takes_the_columns_in_the_order_of_the_labels():
    y_true, y_proba = [["A", "B"]], np.array([[[0.25, 0.75], [0.5, 0.5]]])
    loss = metrics.flat_log_loss(y_true, y_proba, labels=np.array(["B", "A"]))
    assert_allclose(loss, -(np.log(0.75) + np.log(0.5)) / 2, rtol=1e-14)


def test_log_loss_of_impossible_and_unknown_labels_is_large_but_finite():
    eps = np.finfo(float).eps
    y_proba = [[[1.0, 0.0]]]
    for label in ("B", "never seen"):
        loss = metrics.flat_log_loss([[label]], y_proba, labels=["A", "B"])
        assert_allclose(loss, -np.log(eps), rtol=1e-14)
    assert metrics.flat_log_loss([["A"]], y_proba, labels=["A", "B"]) == 0.0


@pytest.mark.parametrize(
    ("y_proba", "error", "message"),
    [
        ([[[1.0, 0.0]]], ValueError, "y_true has 2 sequences, but y_proba has 1"),
        ([[[1.0, 0.0]], []], ValueError, "Sequence 1 has 1 labels in y_true, but 0"),
        ([[[1.0, 0.0]], [[1.0]]], ValueError, "sequence 1 has 1 columns, but .* 2 la"),
        ([[[1.0, 0.0]], [[0.5, 0.4]]], ValueError, "sequence 1 holds a row that is no"),
        ([[[1.0, 0.0]], [[1.5, -0.5]]], ValueError, "sequence 1 holds a row that is "),
        ([[[1.0, 0.0]], [[np.nan, 1]]], ValueError, "sequence 1 holds a row that is "),
        ([[[1.0, 0.0]], [1.0, 0.0]], TypeError, "sequence 1 is a list of float"),
        ([[[1.0, 0.0]], [{"A": 1.0}]], TypeError, "sequence 1 is a list of dict"),
        ([[[1.0, 0.0]], [[1.0], [0, 1]]], TypeError, "sequence 1 is a list of list"),
        ("AB", TypeError, "y_proba must be a list of sequences, got str"),
    ],
)
def test_probabilities_are_checked(y_proba, error, message):
    with pytest.raises(error, match=message):
        metrics.flat_log_loss([["A"], ["B"]], y_proba, labels=["A", "B"])


def test_labels_of_the_columns_are_checked():
    for labels in (["A", "A"], [["A", "B"]], "AB"):
        with pytest.raises(ValueError, match="labels must be the distinct labels"):
            metrics.flat_log_loss([["A"]], [[[0.5, 0.5]]], labels=labels)
    with pytest.raises(ValueError, match="2 columns, but there are 1 labels: pass lab"):
        metrics.flat_log_loss([["A"]], [[[0.5, 0.5]]])
    with pytest.raises(TypeError, match="labels of type int, but"):
        metrics.flat_log_loss([[0]], [[[0.5, 0.5]]], labels=["A", "B"])


def test_infinite_probabilities_are_refused_without_a_warning():
    for row in ([np.inf, -np.inf], [np.inf, 0.0], [np.nan, 1.0]):
        with pytest.raises(ValueError, match="sequence 0 holds a row that is no"):
            metrics.flat_log_loss([["A"]], [[row]], labels=["A", "B"])


@pytest.mark.parametrize("weight", ["ab", ["x", "y"], [1j, 1.0]], ids=repr)
def test_weights_that_are_no_numbers_are_named(weight):
    with pytest.raises((TypeError, ValueError), match="sample_weight"):
        metrics.flat_accuracy_score(
            [["A"], ["B"]], [["A"], ["B"]], sample_weight=weight
        )


ONE_TYPE = "labels must be of one type"


@pytest.mark.parametrize(
    ("y_true", "y_pred", "error", "match"),
    [
        (
            [[1, 0]],
            [[True, False]],
            TypeError,
            f"of type bool, but .*{ONE_TYPE}",
        ),
        ([["a"]], [[b"a"]], TypeError, f"of type bytes, but y_true .*{ONE_TYPE}"),
        (
            [["a"], ["a", 1]],
            [["a"], ["a", "a"]],
            TypeError,
            "y_true: sequence 1, posit",
        ),
        ([["a", "a"]], [["a", None]], ValueError, "y_pred: .* position 1 is None; a l"),
        (
            [[0.5, np.nan]],
            [[0.5, 0.5]],
            ValueError,
            "y_true: .* nan; a label is n",
        ),
        ([[Decimal("sNaN")]], [[Decimal(1)]], ValueError, "y_true: .*sNaN.* is needed"),
        ([[pd.NA]], [["a"]], ValueError, "y_true: .* NAType; a label is needed"),
    ],
)
def test_labels_that_cannot_be_compared(y_true, y_pred, error, match):
    for metric in (
        metrics.flat_accuracy_score,
        metrics.sequence_accuracy_score,
        metrics.flat_f1_score,
        metrics.span_f1_score,
    ):
        with pytest.raises(error, match=match):
            metric(y_true, y_pred)


def test_labels_that_numpy_would_change():
    y_true, y_pred = [["x", "x\0"]], [["x\0", "x"]]
    assert metrics.flat_accuracy_score(y_true, y_pred) == 0.0
    for y, labels in ((y_true, None), ([["x"]], ["x\0"])):
        with pytest.raises(ValueError, match="a label ends in NUL, which scikit-learn"):
            metrics.flat_f1_score(y, y, labels=labels, average="macro")
    proba = [[[1.0, 0.0], [0.0, 1.0]]]
    loss = metrics.flat_log_loss(y_true, proba, labels=["x", "x\0"])
    assert loss == pytest.approx(0.0, abs=1e-12)
    with pytest.raises(ValueError, match="labels must be the distinct labels"):
        metrics.flat_log_loss([["1"]], [[[0.5, 0.5]]], labels=[1, "A"])


def test_labels_in_columns_of_polars():
    pl = pytest.importorskip("polars")
    y_true, y_pred = [["a", "b"], ["b"]], [["a", "a"], ["b"]]
    for metric in (metrics.flat_accuracy_score, metrics.sequence_accuracy_score):
        expected = metric(y_true, y_pred)
        assert metric(pl.Series(y_true), list(map(pl.Series, y_pred))) == expected


def test_the_warning_names_the_types_without_spans():
    y_true, y_pred = [["B-A", "O", "B-B"]], [["B-A", "O", "O"]]
    for average in (None, "macro"):
        with pytest.warns(
            UndefinedMetricWarning, match="no predicted spans of type 'B'"
        ):
            metrics.span_precision_score(y_true, y_pred, average=average)
