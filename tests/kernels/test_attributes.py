"""Sums of the weights of attributes, against a loop over them."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from skcrf_sdca._kernels.features._attributes import AttributeWeights

NUMBERS = {"a": 0, "b": 1, "c": 2}
# "b" has no weight, and "c" one for each label.
BEGINS, LABELS = np.array([0, 1, 1, 4]), np.array([2, 0, 1, 2])
WEIGHTS = np.array([0.1, 1.0, -2.0, 0.3])


def added(items, n_labels=3, **given):
    parts = {"begins": BEGINS, "labels": LABELS, "weights": WEIGHTS, **given}
    scores = np.zeros((len(items), n_labels))
    AttributeWeights(NUMBERS, *parts.values()).add(items, scores)
    return scores


def test_scores_are_sums_in_the_order_of_attributes():
    items = [["c", "a", "unknown"], [], ["b", ("c", 0.5), ("a", -3.0), "c"]]
    expected = np.zeros((3, 3))
    for row, item in zip(expected, items, strict=True):
        for entry in item:
            name, value = entry if isinstance(entry, tuple) else (entry, 1.0)
            k = NUMBERS.get(name)
            for j in range(*BEGINS[k : k + 2]) if k is not None else ():
                row[LABELS[j]] += value * WEIGHTS[j]
    assert_array_equal(added(items), expected)
    assert expected[2, 2] == 0.15 - 0.1 * 3.0 + 0.3


@pytest.mark.parametrize(
    ("items", "options", "error"),
    [
        ([["a"]], {"begins": BEGINS[:-1]}, ValueError),
        ([["a"]], {"labels": LABELS[:-1]}, ValueError),
        ([["a"]], {"begins": np.array([0, 1, 1, 9])}, ValueError),
        ([["a"]], {"begins": np.array([0, 9, 1, 4])}, ValueError),
        ([["a"]], {"n_labels": 2}, IndexError),
        ([["c"]], {"labels": np.array([2, 0, -1, 2])}, IndexError),
        ([[("a", "1")]], {}, TypeError),
        ([("a",)], {}, TypeError),
        ([[("a", 1.0, 2)]], {}, ValueError),
    ],
)
def test_what_has_no_place_is_refused(items, options, error):
    with pytest.raises(error):
        added(items, **options)


def test_there_is_a_row_for_each_item():
    weights = AttributeWeights(NUMBERS, BEGINS, LABELS, WEIGHTS)
    with pytest.raises(ValueError, match="a row of scores for each item"):
        weights.add([["a"], ["b"]], np.zeros((1, 3)))
