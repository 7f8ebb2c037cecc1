"""Metrics against seqeval, scikit-learn and cases worked out by hand."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from seqeval.metrics.sequence_labeling import (
    get_entities,
    precision_recall_fscore_support,
)
from sklearn.base import BaseEstimator
from sklearn.exceptions import UndefinedMetricWarning
from sklearn.metrics import (
    accuracy_score,
    classification_report,
    f1_score,
    make_scorer,
    precision_score,
    recall_score,
)

from skcrf_sdca import metrics

BIO = ["O", "B-X", "I-X", "B-Y", "I-Y", "B", "I", "B-X-Z", "I-X-Z"]
BIOES = ["O", "B-X", "I-X", "E-X", "S-X", "B-Y", "I-Y", "E-Y", "S-Y"]

Y_TRUE = [["A", "B", "B"], [], ["A"], ["C", "A"]]
Y_PRED = [["A", "B", "A"], [], ["A"], ["C", "B"]]
FLAT_TRUE = ["A", "B", "B", "A", "C", "A"]
FLAT_PRED = ["A", "B", "A", "A", "C", "B"]

TWO_ARGUMENT_METRICS = [
    metrics.flat_accuracy_score,
    metrics.flat_classification_report,
    metrics.flat_f1_score,
    metrics.flat_precision_score,
    metrics.flat_recall_score,
    metrics.sequence_accuracy_score,
    metrics.span_f1_score,
    metrics.span_precision_recall_fscore,
]
WEIGHTED_METRICS = TWO_ARGUMENT_METRICS[:6]


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


@pytest.mark.parametrize(
    ("labels", "spans"),
    [
        ([], []),
        (["O", "O"], []),
        (["B-X", "I-X", "O", "B-X"], [("X", 0, 2), ("X", 3, 4)]),
        (["B-X", "B-X", "I-X"], [("X", 0, 1), ("X", 1, 3)]),
        (["I-X", "I-X"], [("X", 0, 2)]),
        (["O", "I-X", "O"], [("X", 1, 2)]),
        (["B-X", "I-Y", "I-Y"], [("X", 0, 1), ("Y", 1, 3)]),
        (["I-X", "B-X"], [("X", 0, 1), ("X", 1, 2)]),
        (["B", "I", "I-X"], [("", 0, 2), ("X", 2, 3)]),
        (["B-a-b", "I-a-b", "I-a-c"], [("a-b", 0, 2), ("a-c", 2, 3)]),
    ],
)
@pytest.mark.parametrize("scheme", ["BIO", "IOB1"])
def test_spans_by_hand(labels, spans, scheme):
    assert metrics.extract_spans(labels, scheme) == spans
    assert metrics.extract_spans(np.array(labels, dtype=object), scheme) == spans


@pytest.mark.parametrize(
    ("labels", "spans"),
    [
        (["B-X", "I-X", "E-X", "S-X", "S-Y"], [("X", 0, 3), ("X", 3, 4), ("Y", 4, 5)]),
        (["B-X", "B-X", "E-X"], [("X", 0, 1), ("X", 1, 3)]),
        (["E-X", "I-X", "O", "E-X", "E-X"], [("X", t, t + 1) for t in (0, 1, 3, 4)]),
        (["B-X", "E-Y"], [("X", 0, 1), ("Y", 1, 2)]),
        (["B-X", "S-X"], [("X", 0, 1), ("X", 1, 2)]),
        (["S-X", "E-X"], [("X", 0, 1), ("X", 1, 2)]),
    ],
)
def test_spans_with_marked_ends_by_hand(labels, spans):
    assert metrics.extract_spans(labels, "BIOES") == spans
    renamed = [
        {"E": "L", "S": "U"}.get(label[0], label[0]) + label[1:] for label in labels
    ]
    assert metrics.extract_spans(renamed, scheme="BILOU") == spans


@pytest.mark.parametrize(("scheme", "alphabet"), [("BIO", BIO), ("BIOES", BIOES)])
def test_spans_are_those_of_seqeval(scheme, alphabet):
    @settings(max_examples=300, deadline=None)
    @given(st.lists(st.sampled_from(alphabet), max_size=8))
    def check(labels):
        # seqeval names the type of a bare prefix "_" and includes the last position.
        expected = [
            (kind.replace("_", ""), start, last + 1)
            for kind, start, last in get_entities(labels)
        ]
        assert metrics.extract_spans(labels, scheme) == expected

    check()


def label_pairs(alphabet):
    """Draw (y_true, y_pred) of equal lengths, with empty sequences among them."""
    token = st.tuples(st.sampled_from(alphabet), st.sampled_from(alphabet))
    sequences = st.lists(st.lists(token, max_size=6), min_size=1, max_size=5)
    return sequences.map(
        lambda pairs: tuple([[token[i] for token in s] for s in pairs] for i in (0, 1))
    )


@settings(max_examples=200, deadline=None)
@given(label_pairs(BIO))
@pytest.mark.parametrize("average", ["micro", None])
def test_span_scores_are_those_of_seqeval(average, pair):
    expected = precision_recall_fscore_support(*pair, average=average, zero_division=0)
    options = {"average": average, "zero_division": 0.0}
    if average is None:
        # Sorted, "" comes before the other types, and "_" after them.
        types = sorted({kind for y in pair for kind, _, _ in get_entities(y)})
        options["types"] = [kind.replace("_", "") for kind in types]
    scores = metrics.span_precision_recall_fscore(*pair, **options)
    for value, reference in zip(scores, expected, strict=True):
        assert_allclose(value, reference, rtol=1e-14)
    assert_array_equal(metrics.span_f1_score(*pair, **options), scores[2])


@settings(max_examples=50, deadline=None)
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


def test_spans_at_the_same_place_of_other_sequences_do_not_match():
    assert metrics.span_f1_score([["B-X"], ["O"]], [["O"], ["B-X"]]) == 0.0


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
    with pytest.raises(TypeError, match="y_pred is of type str"):
        metric(good, "O")
    with pytest.raises(TypeError, match="y_true is of type NoneType"):
        metric(None, good)
    with pytest.raises(TypeError, match="y_true: sequence 0 is of type str"):
        metric(["O"], good)
    with pytest.raises(TypeError, match="y_pred: sequence 1 is of type int"):
        metric([["O"], ["O"]], [["O"], 1])


@pytest.mark.parametrize("metric", WEIGHTED_METRICS)
def test_sample_weight_is_checked(metric):
    y = [["A"], ["B"]]
    with pytest.raises(ValueError, match="3 entries, but there are 2 sequences"):
        metric(y, y, sample_weight=[1, 1, 1])
    for bad in (-1.0, np.nan, np.inf):
        with pytest.raises(ValueError, match="finite and not negative"):
            metric(y, y, sample_weight=[1, bad])


@pytest.mark.parametrize("y", [[], [[]]])
def test_accuracy_of_no_token_is_an_error(y):
    with pytest.raises(ValueError, match="no token to score"):
        metrics.flat_accuracy_score(y, y)


def test_accuracy_of_no_weight_is_an_error():
    y = [["A"]]
    with pytest.raises(ValueError, match="no sequence to score"):
        metrics.sequence_accuracy_score([], [])
    with pytest.raises(ValueError, match="no sequence to score"):
        metrics.sequence_accuracy_score(y, y, sample_weight=[0])
    with pytest.raises(ValueError, match="no token to score"):
        metrics.flat_accuracy_score(y, y, sample_weight=[0])


@pytest.mark.parametrize("label", ["PER", "E-PER", "", "-X", "BI-X", "o", "B_X", "O-X"])
def test_a_label_of_no_scheme_is_named(label):
    with pytest.raises(ValueError, match=f"Label '{label}' is not of the scheme 'BIO'"):
        metrics.extract_spans(["O", label])


@pytest.mark.parametrize("labels", ["BIO", None, [1], [None], [["B-X"]], {"B-X": 1}])
def test_spans_need_a_list_of_str(labels):
    with pytest.raises(TypeError):
        metrics.extract_spans(labels)


@pytest.mark.parametrize(
    ("option", "message"),
    [
        ({"scheme": "XML"}, "scheme must be one of .*'BIO'"),
        ({"average": "macro"}, "average must be 'micro' or None, got 'macro'"),
        ({"zero_division": 2}, "zero_division must be"),
        ({"zero_division": "ignore"}, "zero_division must be"),
    ],
)
def test_options_are_checked(option, message):
    y = [["B-X"]]
    with pytest.raises(ValueError, match=message):
        metrics.span_f1_score(y, y, **option)
    with pytest.raises(ValueError, match=message):
        metrics.span_precision_recall_fscore(y, y, **option)
