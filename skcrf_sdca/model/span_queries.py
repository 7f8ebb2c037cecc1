"""The spans that a user asks about, validated: by their labels, or by their type.

Both readings have one use: ``probabilities`` of the spans of some sequences, given the
scores of these. Predicted spans are given by their type.
"""

from collections.abc import Iterable, Iterator
from itertools import chain, pairwise
from operator import index
from typing import NamedTuple

import numpy as np

from skcrf_sdca._utils.messages import described
from skcrf_sdca._utils.ragged import split_rows
from skcrf_sdca.data.containers import check_container
from skcrf_sdca.data.joined_tokens import joined
from skcrf_sdca.data.label_encoding import decode_labels, label_codes
from skcrf_sdca.data.label_reading import LabelReading
from skcrf_sdca.data.spans import (
    TYPED,
    SpanForm,
    bounds_and_name,
    extract_spans,
    span_rows,
)
from skcrf_sdca.data.tagging_schemes import get_scheme
from skcrf_sdca.structures.segment.grammar import Grammar


def _read_labelled(span):
    begin, end, labels = bounds_and_name(span)
    if isinstance(labels, str) or len(labels) != end - begin:
        raise ValueError("not one label for each position")
    return begin, end, labels


LABELLED = SpanForm(
    "(labels, begin, end), or (type, begin, end) with scheme=", _read_labelled
)


def _read_segment(span):
    span_type, begin, end, *_ = span
    return index(begin), index(end), span_type


SEGMENT = SpanForm("(type, begin, end)", _read_segment)


class AskedSpans:
    """The spans of all sequences, a list for each, validated; errors name the span."""

    def __init__(self, spans, lengths, form):
        self.rows, self.bounds, self.names = span_rows(spans, lengths, form)

    def probabilities(self, scores, begin, end):
        """Return the probabilities of the spans of the sequences begin <= i < end.

        ``scores`` are the scores of these sequences alone. The result is an object
        array with an array for each sequence.
        """
        first, last = self.bounds[[begin, end]]
        rows = self.rows[first:last] - [begin, 0, 0]
        values = self._values(scores, rows, slice(first, last))
        return split_rows(values, self.bounds[begin : end + 1] - first)


class LabelSpans(AskedSpans):
    """Spans (labels, begin, end)."""

    def __init__(self, spans, lengths, classes):
        super().__init__(spans, lengths, LABELLED)
        self.labels = label_codes(list(chain.from_iterable(self.names)), classes)
        sizes = self.rows[:, 2] - self.rows[:, 1]
        self.label_offsets = np.concatenate([[0], np.cumsum(sizes)])

    def _values(self, scores, rows, own):
        labels = slice(*self.label_offsets[[own.start, own.stop]])
        return scores.span_probabilities(rows, self.labels[labels])


class Reading(LabelReading):
    """A reading of labels, with what it says of the spans of sequences."""

    def found(self, paths, offsets):
        """Return the spans that `extract_spans` finds in label numbers."""
        names = np.array(self.names, dtype=object)
        return extract_spans(decode_labels(paths, names, offsets).tolist(), self.scheme)

    def asked(self, spans, lengths):
        """Return spans (type, begin, end), validated."""
        return TypedSpans(spans, lengths, self)


class TypedSpans(AskedSpans):
    """Spans (type, begin, end), as `extract_spans` returns them, under a `Reading`."""

    def __init__(self, spans, lengths, reading):
        super().__init__(spans, lengths, TYPED)
        self.reading = reading
        # A type that no label has is one more.
        known = reading.types
        numbers = [known.get(name, len(known)) for name in self.names]
        self.types = np.array(numbers, dtype=np.int64)

    def _values(self, scores, rows, own):
        label_types, joins = self.reading.label_types, self.reading.joins
        types = self.types[own]
        return scores.typed_span_probabilities(rows, types, label_types, joins)


class SegmentReading(NamedTuple):
    """The segments of a Grammar outside of "O", as spans."""

    grammar: Grammar

    @classmethod
    def of(cls, grammar, scheme):
        """Return the same; ValueError if a scheme, or None, is not the own one."""
        own = grammar.scheme
        # A scheme may have two names.
        if scheme is not None and (
            own is None or get_scheme(scheme) != get_scheme(own)
        ):
            raise ValueError(
                f"scheme={scheme!r}, but the model was fitted with scheme={own!r}; set "
                "scheme=None"
            )
        return cls(grammar)

    def found(self, paths, offsets):
        """Return the spans (type, begin, end) of label numbers, a list of lists."""
        begin, end, types, _ = self.grammar.segments(paths, offsets)
        chosen = types != self.grammar.outside
        begin, end, types = begin[chosen], end[chosen], types[chosen]
        first = offsets[np.searchsorted(offsets, begin, side="right") - 1]
        names = [self.grammar.types[k] for k in types]
        places = (begin - first).tolist(), (end - first).tolist()
        spans = list(zip(names, *places, strict=True))
        bounds = np.searchsorted(begin, offsets)
        return [spans[b:e] for b, e in pairwise(bounds.tolist())]

    def asked(self, spans, lengths):
        """Return spans (type, begin, end), validated."""
        return SegmentSpans(spans, lengths, self.grammar)


class SegmentSpans(AskedSpans):
    """Spans (type, begin, end) that are segments of a Grammar."""

    def __init__(self, spans, lengths, grammar):
        super().__init__(spans, lengths, SEGMENT)
        self.types = grammar.type_numbers(self.names)

    def _values(self, scores, rows, own):
        return scores.segment_probabilities(rows, self.types[own])


def with_first(spans):
    """Return lists of spans for others to check, and the first span, None if none."""
    check_container(spans, "spans")
    spans = [list(own) if isinstance(own, Iterator) else own for own in spans]
    flat = chain.from_iterable(own for own in spans if isinstance(own, Iterable))
    return spans, next(flat, None)


def is_typed(span):
    """Return whether a span is named by a type, and not by labels."""
    try:
        _, _, name = bounds_and_name(span)
    except (TypeError, ValueError):
        return False
    return isinstance(name, str)


def checked_tokens(tokens, lengths):
    """Return the tokens of each sequence, lists of str with the lengths of X."""
    check_container(tokens, "tokens")
    tokens = list(tokens)
    if len(tokens) != len(lengths):
        raise ValueError(f"X has {len(lengths)} sequences, but tokens {len(tokens)}.")
    for i, length in enumerate(lengths.tolist()):
        check_container(tokens[i], f"tokens: sequence {i}")
        tokens[i] = list(tokens[i])
        if len(tokens[i]) != length:
            raise ValueError(
                f"tokens: sequence {i} has {len(tokens[i])} tokens, but X has {length} "
                "items there."
            )
        for t, token in enumerate(tokens[i]):
            if not isinstance(token, str):
                raise TypeError(
                    f"tokens: sequence {i}, item {t} is {described(token)}; a token "
                    "must be a str, the word itself."
                )
    return tokens


def with_texts(spans, tokens):
    """Return the spans (type, begin, end, probability) of each sequence with a text.

    ``tokens`` are `checked_tokens`.
    """
    return [
        [(*span, joined(words[span[1] : span[2]])) for span in own]
        for own, words in zip(spans, tokens, strict=True)
    ]
