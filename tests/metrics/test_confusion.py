"""Confusion matrices of tokens and spans against counts by hand."""

from collections import Counter
from itertools import chain

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from skcrf_sdca import metrics
from skcrf_sdca.metrics import (
    extract_spans,
    flat_confusion_matrix,
    span_confusion_matrix,
)
from strategies import label_pairs

BIO = ["O", "B-X", "I-X", "B-Y", "I-Y", "B-Z"]
TYPES = ["X", "Y", "Z"]

Y_TRUE = [["A", "B", "B"], [], ["A"], ["C", "A"]]
Y_PRED = [["A", "B", "A"], [], ["A"], ["C", "B"]]


def counted(pairs, names):
    """Return the numbers of (true, predicted) pairs as a matrix."""
    counts = Counter(pairs)
    return [[counts[true, predicted] for predicted in names] for true in names]


def span_pairs(y_true, y_pred, strict):
    """Yield (true type, predicted type) of the spans, None for one that lacks."""
    for pair in zip(y_true, y_pred, strict=True):
        true, predicted = (
            {(b, e): name for name, b, e in extract_spans(labels, strict=strict)}
            for labels in pair
        )
        for place in true.keys() | predicted.keys():
            yield true.get(place), predicted.get(place)


@given(label_pairs(BIO), st.permutations(BIO))
def test_tokens_are_counted_by_hand(pair, labels):
    flat = zip(*map(chain.from_iterable, pair), strict=True)
    found = flat_confusion_matrix(*pair, labels=labels)
    assert_array_equal(found, counted(flat, labels))


def test_labels_are_all_that_occur_and_sorted():
    expected = [[2, 1, 0], [1, 1, 0], [0, 0, 1]]
    assert_array_equal(flat_confusion_matrix(Y_TRUE, Y_PRED), expected)
    arrays = [np.array([*map(np.array, y)], dtype=object) for y in (Y_TRUE, Y_PRED)]
    assert_array_equal(flat_confusion_matrix(*arrays), expected)
    some = flat_confusion_matrix(Y_TRUE, Y_PRED, labels=np.array(["C", "A"]))
    assert_array_equal(some, [[1, 0], [0, 2]])
    some = flat_confusion_matrix(Y_TRUE, Y_PRED, iter(["C", "A"]))
    assert_array_equal(some, [[1, 0], [0, 2]])


def test_weight_of_a_sequence_is_that_of_its_tokens():
    weight = [0.5, 9.0, 2.0, 1.0]
    found = flat_confusion_matrix(Y_TRUE, Y_PRED, sample_weight=weight)
    assert_array_equal(found, [[2.5, 1.0, 0.0], [0.5, 0.5, 0.0], [0.0, 0.0, 1.0]])


@pytest.mark.parametrize("normalize", ["true", "pred", "all"])
def test_shares(normalize):
    counts = flat_confusion_matrix(Y_TRUE, Y_PRED).astype(float)
    axis = {"true": 1, "pred": 0, "all": None}[normalize]
    found = flat_confusion_matrix(Y_TRUE, Y_PRED, normalize=normalize)
    assert_allclose(found, counts / counts.sum(axis=axis, keepdims=True), rtol=1e-15)


@pytest.mark.parametrize("y", [[], [[]]])
def test_no_token(y):
    assert flat_confusion_matrix(y, y).shape == (0, 0)
    assert_array_equal(flat_confusion_matrix(y, y, labels=["a", "b"]), np.zeros((2, 2)))
    assert_array_equal(span_confusion_matrix(y, y), [[0]])
    assert_array_equal(span_confusion_matrix(y, y, types=["X"]), np.zeros((2, 2)))


@given(label_pairs(BIO), st.booleans(), st.permutations(TYPES))
def test_spans_are_counted_by_hand(pair, strict, types):
    found = span_confusion_matrix(*pair, strict=strict, types=types)
    assert_array_equal(found, counted(span_pairs(*pair, strict), [*types, None]))


@given(label_pairs(BIO), st.sampled_from([TYPES, ["Y"], ["Z", "X"], []]))
def test_sums_are_those_of_precision_and_recall(pair, types):
    """A span of another type counts as none, as it does in the scores."""
    matrix = span_confusion_matrix(*pair, types=types)
    options = {"types": types, "average": None, "zero_division": 0.0}
    precision, recall, _, support = metrics.span_precision_recall_fscore(
        *pair, **options
    )
    right = np.diag(matrix)[:-1]
    assert_array_equal(matrix[:-1].sum(axis=1), support)
    assert_allclose(recall * support, right, rtol=1e-14)
    assert_allclose(precision * matrix[:, :-1].sum(axis=0), right, rtol=1e-14)
    assert matrix[-1, -1] == 0


@given(label_pairs(BIO), st.lists(st.integers(0, 3), min_size=5, max_size=5))
def test_weight_of_a_sequence_is_the_number_of_its_copies(pair, weight):
    weight = weight[: len(pair[0])]
    copies = [
        [labels for labels, n in zip(y, weight, strict=True) for _ in range(n)]
        for y in pair
    ]
    found = span_confusion_matrix(*pair, types=TYPES, sample_weight=weight)
    assert_array_equal(found, span_confusion_matrix(*copies, types=TYPES))


def test_shares_of_spans_are_recall_and_precision():
    y_true = [["B-X", "B-X", "B-Y", "O"]]
    y_pred = [["B-X", "B-Y", "O", "B-Z"]]
    by_true = span_confusion_matrix(y_true, y_pred, normalize="true")
    assert_array_equal(np.diag(by_true), [0.5, 0.0, 0.0, 0.0])
    assert_array_equal(by_true[1], [0.0, 0.0, 0.0, 1.0])
    by_pred = span_confusion_matrix(y_true, y_pred, normalize="pred")
    assert_array_equal(by_pred[:, 0], [1.0, 0.0, 0.0, 0.0])
    with pytest.raises(ValueError, match="'normalize' parameter of confusion_matrix"):
        span_confusion_matrix(y_true, y_pred, normalize="rows")


def test_scheme():
    y_true, y_pred = [["S-X", "O"]], [["B-X", "E-X"]]
    found = span_confusion_matrix(y_true, y_pred, scheme="BIOES")
    assert_array_equal(found, [[0, 1], [1, 0]])
