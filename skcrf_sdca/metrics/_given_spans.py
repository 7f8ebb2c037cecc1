"""True and predicted spans that are given as tuples, which may be nested and overlap.

Owns which of them match: equal spans of one sequence, each with one other.
"""

from collections import Counter
from typing import NamedTuple

import numpy as np

from skcrf_sdca._utils.messages import counted
from skcrf_sdca.data.spans import TYPED, SpanForm, span_rows


class GivenSpans(NamedTuple):
    """The sequence and the code of the type of spans: arrays of shape (n_spans, 2).

    `types` are those of all spans, sorted, or the ones that were asked for.
    """

    types: list[str]
    correct: np.ndarray
    predicted: np.ndarray
    true: np.ndarray
    n_sequences: int


def are_spans(*arguments):
    """Return whether one of the arguments holds spans, and not labels.

    >>> from skcrf_sdca.metrics._given_spans import are_spans
    >>> are_spans([[]], [[], [("PER", 0, 1)]]), are_spans([["B-PER"]], [["O"]])
    (True, False)
    """
    return any(_is_of_one(y) or _is_of_many(y) for y in arguments)


def given_spans(y_true, y_pred, types):
    """Return the `GivenSpans` of two lists of spans, of one sequence or of several.

    >>> from skcrf_sdca.metrics._given_spans import given_spans
    >>> nested = [[("ORG", 0, 3), ("LOC", 2, 3)]]
    >>> given_spans(nested, [[("LOC", 2, 3)]], None).correct
    array([[0, 0]])
    """
    if _is_of_one(y_true) or _is_of_one(y_pred):
        y_true, y_pred = [y_true], [y_pred]
    (true, n), (predicted, n_other) = _read(y_true, "y_true"), _read(y_pred, "y_pred")
    if n != n_other:
        raise ValueError(
            f"y_true has {counted(n, 'sequence')}, but y_pred has {n_other}."
        )
    if types is None:
        types = sorted({name for *_, name in true + predicted})
    code = {name: k for k, name in enumerate(types)}

    def coded(spans):
        found = [(i, code[name]) for i, _, _, name in spans if name in code]
        return np.array(found, dtype=np.int64).reshape(-1, 2)

    correct = Counter(true) & Counter(predicted)
    parts = map(coded, ([*correct.elements()], predicted, true))
    return GivenSpans(list(types), *parts, n)


def _is_of_one(y):
    """Return whether y is a list of spans, of which each has a type and two numbers."""
    first = next(iter(_entries(y)), None)
    values = first[:3] if isinstance(first, (list, tuple)) else ()
    n_numbers = sum(isinstance(value, (int, np.integer)) for value in values)
    return n_numbers == 2 and any(isinstance(value, str) for value in values)


def _is_of_many(y):
    """Return whether y is a list of lists of spans: labels are no tuples."""
    first = next((own[0] for own in map(_entries, _entries(y)) if len(own)), None)
    return isinstance(first, (list, tuple))


def _entries(y):
    is_array = isinstance(y, np.ndarray) and y.ndim > 0
    return y if is_array or isinstance(y, (list, tuple)) else ()


def _read(y, name):
    """Return (sequence, begin, end, type) of all spans, and the number of sequences."""
    rows, bounds, names = span_rows(y, None, _FORM, name=name)
    spans = [(*row, own) for row, own in zip(rows.tolist(), names, strict=True)]
    return spans, len(bounds) - 1


def _read_span(span):
    if isinstance(span, str):
        raise TypeError(
            "the other argument has spans, and this is a label; extract_spans returns "
            "the spans of labels"
        )
    return TYPED.read(span)


_FORM = SpanForm("(type, begin, end) or (begin, end, type)", _read_span)
