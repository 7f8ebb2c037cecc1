"""The spans that a user asks about, validated: by their labels, or by their type.

Both readings have one use: ``probabilities`` of the spans of some sequences, given the
scores of these.
"""

from itertools import chain
from operator import index

import numpy as np

from skcrf_sdca.data.containers import check_container
from skcrf_sdca.data.label_encoding import label_codes, plain_labels
from skcrf_sdca.data.rows import split_rows
from skcrf_sdca.metrics import extract_spans


class LabelSpans:
    """Spans (begin, end, labels), one list for each sequence; errors name the span."""

    form = "(begin, end, labels)"

    def __init__(self, spans, lengths, classes):
        self.rows, self.offsets, names = _read(spans, lengths, self)
        self.labels = label_codes(list(chain.from_iterable(names)), classes)
        sizes = self.rows[:, 2] - self.rows[:, 1]
        self.label_offsets = np.concatenate([[0], np.cumsum(sizes)])

    @staticmethod
    def read_span(span):
        """Return begin, end and labels; ValueError or TypeError if it has others."""
        begin, end, labels = span
        if isinstance(labels, str) or len(labels) != end - begin:
            raise ValueError("not one label for each position")
        return index(begin), index(end), labels

    def probabilities(self, chains, begin, end):
        """Return the probabilities of the spans of the sequences begin <= i < end.

        `chains` has the scores of these sequences alone. The result is an object array
        with an array for each sequence.
        """
        first, last = self.offsets[[begin, end]]
        labels = self.labels[self.label_offsets[first] : self.label_offsets[last]]
        rows = self.rows[first:last] - [begin, 0, 0]
        values = chains.span_probabilities(rows, labels)
        return split_rows(values, self.offsets[begin : end + 1] - first)


class TypedSpans:
    """Spans (type, begin, end) of a scheme, as `extract_spans` returns them."""

    form = "(type, begin, end)"

    def __init__(self, spans, lengths, classes, scheme):
        self.label_types, self.joins, types = _reading(plain_labels(classes), scheme)
        self.rows, self.offsets, names = _read(spans, lengths, self)
        # A type that no label has is one more.
        self.types = np.array([types.get(v, len(types)) for v in names], dtype=np.int64)

    @staticmethod
    def read_span(span):
        """Return begin, end and type; ValueError or TypeError if it has others."""
        span_type, begin, end = span
        hash(span_type)
        return index(begin), index(end), span_type

    def probabilities(self, chains, begin, end):
        """Return the probabilities of the spans of some sequences, see `LabelSpans`."""
        first, last = self.offsets[[begin, end]]
        values = chains.typed_span_probabilities(
            self.rows[first:last] - [begin, 0, 0],
            self.types[first:last],
            self.label_types,
            self.joins,
        )
        return split_rows(values, self.offsets[begin : end + 1] - first)


def _read(spans, lengths, kind):
    """Return rows (sequence, begin, end), offsets of the sequences, and the names."""
    check_container(spans, "spans")
    spans = list(spans)
    if len(spans) != len(lengths):
        raise ValueError(f"X has {len(lengths)} sequences, but spans has {len(spans)}.")
    rows, names, offsets = [], [], [0]
    for i, (own, length) in enumerate(zip(spans, lengths.tolist(), strict=True)):
        check_container(own, f"spans: sequence {i}")
        for s, span in enumerate(own):
            try:
                begin, end, name = kind.read_span(span)
            except (TypeError, ValueError) as error:
                raise type(error)(
                    f"spans: sequence {i}, span {s} is {span!r}; it must be "
                    f"{kind.form}: {error}."
                ) from error
            if not 0 <= begin < end <= length:
                raise ValueError(
                    f"spans: sequence {i}, span {s} goes from {begin} to {end}, but "
                    f"0 <= begin < end <= {length}, the number of items, is needed."
                )
            rows.append((i, begin, end))
            names.append(name)
        offsets.append(len(rows))
    return np.array(rows, dtype=np.int64).reshape(-1, 3), np.array(offsets), names


def _reading(classes, scheme):
    """Return what the labels mean: their types, which pairs join, and all types.

    Two labels join if together they make one span.
    """
    types, label_types = {}, np.full(len(classes), -1)
    for k, label in enumerate(classes):
        for span_type, *_ in extract_spans([label], scheme):
            label_types[k] = types.setdefault(span_type, len(types))
    joins = np.zeros((len(classes), len(classes)), dtype=bool)
    for j, k in np.argwhere(np.equal.outer(label_types, label_types)):
        joins[j, k] = len(extract_spans([classes[j], classes[k]], scheme)) == 1
    return label_types, joins, types
