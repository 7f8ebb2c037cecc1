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
    """The spans of sequences laid end to end, in order.

    Attributes
    ----------
    start, stop : ndarray of int of shape (n_spans,)
        Positions of the joined sequences; the labels of a span are start:stop.
    kind : ndarray of int of shape (n_spans,)
        Index in `types`.
    types : list of str
        Types that the labels name, whether or not a span has them.
    """

    start: np.ndarray
    stop: np.ndarray
    kind: np.ndarray
    types: list

    def found_types(self):
        """Return the set of the types that spans have."""
        return {self.types[k] for k in np.unique(self.kind)}

    def of_types(self, types):
        """Return the spans of these types only, with them as `types`."""
        index = {name: k for k, name in enumerate(types)}
        number = np.array([index.get(name, -1) for name in self.types], np.int64)
        kind = number[self.kind]
        chosen = kind >= 0
        return Spans(self.start[chosen], self.stop[chosen], kind[chosen], types)


def extract_spans(
    labels: Iterable[str], scheme: SpanScheme = "BIO", *, strict: bool = False
) -> list[tuple[str, int, int]]:
    """Return the spans that a sequence of labels describes.

    Parameters
    ----------
    labels : array-like of shape (T,), of str
        "O", or a prefix of the scheme with a type as in "B-PER"; "B" alone has type "",
        and all after the first "-" is the type.
    scheme : {"BIO", "IOB2", "IOB1", "BIOES", "BILOU"}, default="BIO"
        What the prefixes mean. "BIO" (also called "IOB2") begins every span with "B",
        "IOB1" only one that touches another of its type. "BIOES" and "BILOU" mark the
        last label of a span and spans of one label too.
    strict : bool, default=False
        False reads invalid sequences as conlleval does: labels of one type belong to
        one span, unless a prefix between them begins or ends one, so that "I-X" after
        "O" begins a span. True leaves out the spans whose first label may not begin
        one, or whose last label may not end one, in the scheme.

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
    types = [spans.types[k] for k in spans.kind]
    return list(zip(types, spans.start.tolist(), spans.stop.tolist(), strict=True))


def read_spans(sequences, scheme, *, strict, name):
    """Return the spans of all sequences, see `extract_spans`.

    Parameters
    ----------
    sequences : list of n list or tuple of str
    scheme : str
    strict : bool
    name : str
        Name of the argument, for messages.

    Returns
    -------
    spans : Spans

    Raises
    ------
    ValueError, TypeError
        As `extract_spans`; the message names the sequence and the item.
    """
    rule = get_scheme(scheme)
    flat = list(chain.from_iterable(sequences))
    parsed = _parsed_labels(sequences, flat, scheme, name)
    prefixes = [prefix for prefix, _ in parsed.values()]
    types = list(dict.fromkeys(kind for _, kind in parsed.values() if kind is not None))
    index = {None: -1} | {kind: k for k, kind in enumerate(types)}
    code = {label: c for c, label in enumerate(parsed)}
    codes = np.fromiter(map(code.__getitem__, flat), np.int64, len(flat))
    kinds = np.array([index[kind] for _, kind in parsed.values()], np.int64)[codes]

    def has_prefix_of(letters):
        return np.array([prefix in letters for prefix in prefixes], bool)[codes]

    follows_same = np.zeros(len(flat) + 1, bool)
    follows_same[1:-1] = kinds[1:] == kinds[:-1]
    follows_same[np.cumsum([0] + [len(labels) for labels in sequences])] = False
    joined = follows_same.copy()
    joined[:-1] &= has_prefix_of(rule.continues)
    joined[1:] &= has_prefix_of(rule.goes_on)
    is_inside = kinds >= 0
    first = np.flatnonzero(is_inside & ~joined[:-1])
    last = np.flatnonzero(is_inside & ~joined[1:])
    if strict:
        starts, again = has_prefix_of(rule.starts), has_prefix_of(rule.starts_again)
        is_valid = np.where(follows_same[:-1], again, starts)[first]
        is_valid &= has_prefix_of(rule.ends)[last]
        first, last = first[is_valid], last[is_valid]
    return Spans(first, last + 1, kinds[first], types)


def _parsed_labels(sequences, flat, scheme, name):
    """Return {label: (prefix, type)} of the distinct labels."""
    try:
        return {label: parse_label(label, scheme) for label in dict.fromkeys(flat)}
    except (TypeError, ValueError):
        for i, labels in enumerate(sequences):
            for t, label in enumerate(labels):
                _check_label(label, scheme, f"{name}: sequence {i}, item {t}")
        raise


def _check_label(label, scheme, place):
    try:
        parse_label(label, scheme)
    except (TypeError, ValueError) as error:
        raise type(error)(f"{place}: {error}") from None
