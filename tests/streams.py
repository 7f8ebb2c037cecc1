"""What the tests of streams share: chunks, bad chunks, and comparisons of models."""

import copy

import numpy as np
from numpy.testing import assert_array_equal

from samples import as_dicts, as_strings
from skcrf_sdca import PackedSequences

WEIGHTS = ("coef_", "intercept_", "start_", "end_", "transition_")
FORMS = {
    "dicts": as_dicts,
    "strings": as_strings,
    "arrays": list,
    "packed": PackedSequences.from_sequences,
}


def chunks(X, y, size):
    for begin in range(0, len(X), size):
        yield X[begin : begin + size], y[begin : begin + size]


def learnt(crf, X, y, size=7, classes=None):
    for X_chunk, y_chunk in chunks(X, y, size):
        crf.partial_fit(X_chunk, y_chunk, classes)
    return crf


def assert_same_weights(one, other):
    assert_array_equal(one.classes_, other.classes_)
    for name in WEIGHTS:
        assert_array_equal(getattr(one, name), getattr(other, name))


def snapshot(crf):
    """Return copies of all attributes, weights included."""
    weights = {name: getattr(crf, name, None) for name in WEIGHTS}
    return copy.deepcopy({**vars(crf), **weights})


def bad_chunks(X, y):
    """Yield names, arguments of partial_fit, their errors, parts of the messages."""
    nan = [x.copy() for x in X]
    nan[1][0, 0] = np.nan
    yield "nan", (nan, y), ValueError, "NaN"
    yield "label", (X, [*y[:-1], [7] * len(y[-1])]), ValueError, "announce new labels"
    yield "type", (X, [list(map(str, labels)) for labels in y]), TypeError, "labels of"
    yield "empty", ([], []), ValueError, "0 sequences"
    yield "no items", ([[]], [[]]), ValueError, "0 items"
    yield "short", (X, y[:-1]), ValueError, "sequences"
    yield "columns", ([x[:, :5] for x in X], y), ValueError, "expecting 6 features"
    yield "format", (as_strings(X), y), TypeError, "input format"
    yield "huge", ([1e200 * x for x in X], y), ValueError, "not finite"
    yield "weights", (X, y, None, [-1.0] * len(X)), ValueError, "egative"
    yield "classes", (X, y, [3, "a"]), TypeError, "classes: item 1"
    yield "string", (X, y, "ab"), TypeError, "classes must be a list of labels"


BAD = ("nan label type empty columns format huge weights classes string short").split()
