"""Spans read from labels such as "B-PER", for all sequences at once."""

from collections.abc import Iterable
from itertools import chain
from typing import NamedTuple

import numpy as np

from skcrf_sdca._utils.messages import described
from skcrf_sdca._utils.typing import SpanScheme
from skcrf_sdca.data.label_encoding import label_lists
from skcrf_sdca.data.tagging_schemes import get_scheme, parse_label


class Spans(NamedTuple):
    """The spans of concatenated sequences, in order.

    The labels of span k are start[k]:stop[k], and its type is types[type_code[k]].
    `types` are the span types of all labels, even if no span has them.
    """

    start: np.ndarray
    stop: np.ndarray
    type_code: np.ndarray
    types: list

    def found_types(self):
        """Return the set of the types of all spans."""
        return {self.types[k] for k in np.unique(self.type_code)}

    def of_types(self, types):
        """Return the spans of these types only, with these types as `types`."""
        index = {name: k for k, name in enumerate(types)}
        number = np.array([index.get(name, -1) for name in self.types], np.int64)
        code = number[self.type_code]
        chosen = code >= 0
        return Spans(self.start[chosen], self.stop[chosen], code[chosen], types)


def extract_spans(
    labels: Iterable[str], scheme: SpanScheme = "BIO", *, strict: bool = False
) -> list[tuple[str, int, int]]:
    """Return the spans that a sequence of labels describes.

    Parameters
    ----------
    labels : array-like of shape (T,), of str
        "O", or a prefix of the scheme with a span type as in "B-PER". The span type is
        everything after the first "-"; that of "B" alone is "".
    scheme : {"BIO", "IOB2", "IOB1", "BIOES", "BILOU"}, default="BIO"
        Meaning of the prefixes. In "BIO" (also called "IOB2"), "B" begins every span;
        in "IOB1", it begins only spans that directly follow a span of the same type.
        "BIOES" and "BILOU" also mark the last label of a span, and spans of one label.
    strict : bool, default=False
        With False, invalid sequences are read as conlleval does: neighbouring labels of
        one type belong to one span, unless a prefix begins or ends a span between them;
        thus "I-X" after "O" begins a span. With True, spans are left out whose first
        label may not begin a span in the scheme, or whose last label may not end one.

    Returns
    -------
    spans : list of (type, start, stop)
        In order; the labels of a span are ``labels[start:stop]``.

    Raises
    ------
    ValueError
        If the scheme is unknown, or a label does not belong to it.
    TypeError
        If `labels` is not a sequence of str.

    Examples
    --------
    >>> from skcrf_sdca.metrics import extract_spans
    >>> labels = ["B-PER", "I-PER", "O", "I-LOC", "B-LOC"]
    >>> extract_spans(labels)
    [('PER', 0, 2), ('LOC', 3, 4), ('LOC', 4, 5)]
    >>> extract_spans(labels, strict=True)
    [('PER', 0, 2), ('LOC', 4, 5)]
    >>> extract_spans(labels, "IOB1", strict=True)
    [('LOC', 3, 4), ('LOC', 4, 5)]
    """
    try:
        sequences = label_lists([labels], "labels")
    except TypeError:
        raise TypeError(
            f"labels must be a list of str such as 'B-PER', got {described(labels)}."
        ) from None
    spans = read_spans(sequences, scheme, strict=strict, name="labels")
    types = [spans.types[k] for k in spans.type_code]
    return list(zip(types, spans.start.tolist(), spans.stop.tolist(), strict=True))


def read_spans(sequences, scheme, *, strict, name):
    """Return the `Spans` of all sequences; errors name the sequence and the item."""
    rule = get_scheme(scheme)
    flat = list(chain.from_iterable(sequences))
    parsed = _parsed_labels(sequences, flat, scheme, name)
    prefixes = [prefix for prefix, _ in parsed.values()]
    types = list(dict.fromkeys(name for _, name in parsed.values() if name is not None))
    index = {None: -1} | {name: k for k, name in enumerate(types)}
    code = {label: c for c, label in enumerate(parsed)}
    codes = np.fromiter(map(code.__getitem__, flat), np.int64, len(flat))
    type_codes = np.array([index[t] for _, t in parsed.values()], np.int64)[codes]

    def has_prefix_of(letters):
        return np.array([prefix in letters for prefix in prefixes], bool)[codes]

    follows_same = np.zeros(len(flat) + 1, bool)
    follows_same[1:-1] = type_codes[1:] == type_codes[:-1]
    follows_same[np.cumsum([0] + [len(labels) for labels in sequences])] = False
    joined = follows_same.copy()
    joined[:-1] &= has_prefix_of(rule.continues)
    joined[1:] &= has_prefix_of(rule.goes_on)
    is_inside = type_codes >= 0
    first = np.flatnonzero(is_inside & ~joined[:-1])
    last = np.flatnonzero(is_inside & ~joined[1:])
    if strict:
        starts, again = has_prefix_of(rule.starts), has_prefix_of(rule.starts_again)
        is_valid = np.where(follows_same[:-1], again, starts)[first]
        is_valid &= has_prefix_of(rule.ends)[last]
        first, last = first[is_valid], last[is_valid]
    return Spans(first, last + 1, type_codes[first], types)


def _parsed_labels(sequences, flat, scheme, name):
    """Return {label: (prefix, span type)} of the distinct labels."""
    try:
        return {label: parse_label(label, scheme) for label in dict.fromkeys(flat)}
    except (TypeError, ValueError):
        for i, labels in enumerate(sequences):
            for t, label in enumerate(labels):
                try:
                    parse_label(label, scheme)
                except (TypeError, ValueError) as error:
                    place = f"{name}: sequence {i}, item {t}"
                    raise type(error)(f"{place}: {error}") from None
        raise
