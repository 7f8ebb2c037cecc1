"""The spans that a user asks about, validated: by their labels, or by their type.

Both readings have one use: ``probabilities`` of the spans of some sequences, given the
scores of these. Predicted spans are of the second kind.
"""

from collections.abc import Iterable, Iterator
from itertools import chain
from typing import NamedTuple

import numpy as np

from skcrf_sdca._utils.messages import described
from skcrf_sdca.data.containers import check_container
from skcrf_sdca.data.label_encoding import label_codes
from skcrf_sdca.data.label_names import NAME_THEM, names_of_classes
from skcrf_sdca.data.rows import split_rows
from skcrf_sdca.data.spans import TYPED, SpanForm, bounds_and_name, span_rows
from skcrf_sdca.data.tagging_schemes import TAGGING_SCHEMES, get_scheme, parse_label


def _read_labelled(span):
    begin, end, labels = bounds_and_name(span)
    if isinstance(labels, str) or len(labels) != end - begin:
        raise ValueError("not one label for each position")
    return begin, end, labels


LABELLED = SpanForm(
    "(labels, begin, end), or (type, begin, end) with scheme=", _read_labelled
)


class LabelSpans:
    """Spans (labels, begin, end), one list for each sequence; errors name the span."""

    def __init__(self, spans, lengths, classes):
        self.rows, self.bounds, names = span_rows(spans, lengths, LABELLED)
        self.labels = label_codes(list(chain.from_iterable(names)), classes)
        sizes = self.rows[:, 2] - self.rows[:, 1]
        self.label_offsets = np.concatenate([[0], np.cumsum(sizes)])

    def probabilities(self, chains, begin, end):
        """Return the probabilities of the spans of the sequences begin <= i < end.

        `chains` has the scores of these sequences alone. The result is an object array
        with an array for each sequence.
        """
        first, last = self.bounds[[begin, end]]
        labels = self.labels[self.label_offsets[first] : self.label_offsets[last]]
        rows = self.rows[first:last] - [begin, 0, 0]
        values = chains.span_probabilities(rows, labels)
        return split_rows(values, self.bounds[begin : end + 1] - first)


class Reading(NamedTuple):
    """What the labels of a model mean in a scheme.

    Attributes
    ----------
    label_types : ndarray of shape (n_labels,)
        The number of the span type of each label; -1 for "O".
    joins : ndarray of shape (n_labels, n_labels), bool
        Which two labels, one after the other, are of one span.
    types : dict
        The number of each span type.
    """

    label_types: np.ndarray
    joins: np.ndarray
    types: dict

    @classmethod
    def of(cls, names, scheme):
        """Read the names of labels; ValueError or TypeError if one is of no scheme."""
        rule = get_scheme(scheme)
        try:
            parsed = [parse_label(name, scheme) for name in names]
        except TypeError as error:
            raise TypeError(f"{error} {NAME_THEM}") from None
        except ValueError as error:
            raise ValueError(
                f"{error} The labels of the model need the scheme that they are in; "
                "give it with scheme=."
            ) from None
        found = dict.fromkeys(kind for _, kind in parsed if kind is not None)
        types = {kind: k for k, kind in enumerate(found)}
        label_types = np.array([types.get(kind, -1) for _, kind in parsed])
        goes_on, continues = (
            np.array([prefix in letters for prefix, _ in parsed])
            for letters in (rule.goes_on, rule.continues)
        )
        joins = np.equal.outer(label_types, label_types)
        joins &= np.logical_and.outer(goes_on, continues)
        return cls(label_types, joins, types)


class TypedSpans:
    """Spans (type, begin, end), as `extract_spans` returns them, under a `Reading`."""

    def __init__(self, spans, lengths, reading):
        self.reading = reading
        self.rows, self.bounds, names = span_rows(spans, lengths, TYPED)
        # A type that no label has is one more.
        known = reading.types
        self.types = np.array([known.get(v, len(known)) for v in names], dtype=np.int64)

    def probabilities(self, chains, begin, end):
        """Return the probabilities of the spans of some sequences, see `LabelSpans`."""
        first, last = self.bounds[[begin, end]]
        values = chains.typed_span_probabilities(
            self.rows[first:last] - [begin, 0, 0],
            self.types[first:last],
            self.reading.label_types,
            self.reading.joins,
        )
        return split_rows(values, self.bounds[begin : end + 1] - first)


def asked_spans(spans, lengths, model, scheme=None):
    """Return the spans that a user asks a model about, by what names the first of them.

    Without a scheme the name may be labels. A type is one of the scheme of `scheme_of`.
    """
    spans, first = _with_first(spans)
    if scheme is None and not _is_typed(first):
        return LabelSpans(spans, lengths, model.classes_)
    if scheme is None:
        scheme = scheme_of(getattr(model, "transitions", None))
    reading = Reading.of(names_of_classes(model, model.classes_), scheme)
    return TypedSpans(spans, lengths, reading)


def _with_first(spans):
    """Return lists of spans for others to check, and the first span, None if none."""
    check_container(spans, "spans")
    spans = [list(own) if isinstance(own, Iterator) else own for own in spans]
    flat = chain.from_iterable(own for own in spans if isinstance(own, Iterable))
    return spans, next(flat, None)


def _is_typed(span):
    try:
        _, _, name = bounds_and_name(span)
    except (TypeError, ValueError):
        return False
    return isinstance(name, str)


def scheme_of(transitions):
    """Return the scheme that the parameter `transitions` names, else "BIO".

    "BIO" also reads labels in IOB1 and IO, and refuses those of the other schemes.
    """
    is_name = isinstance(transitions, str) and transitions in TAGGING_SCHEMES
    return transitions if is_name else "BIO"


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
