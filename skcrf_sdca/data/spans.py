"""Spans: read from labels such as "B-PER", or given by users as tuples and checked.

Both are done for all sequences at once.
"""

from collections.abc import Callable, Iterable
from itertools import chain
from operator import index
from typing import Any, NamedTuple, overload

import numpy as np

from skcrf_sdca._utils.messages import described
from skcrf_sdca._utils.ragged import split_rows
from skcrf_sdca._utils.typing import LabelLists, Span, SpanScheme
from skcrf_sdca._utils.words import place
from skcrf_sdca.data.containers import as_list, check_container, plain_column
from skcrf_sdca.data.label_encoding import label_lists
from skcrf_sdca.data.tagging_schemes import get_scheme, parse_label

__all__ = ["extract_spans"]

#: Tagging schemes in the order in which they are tried; IOB1 reads labels of IO too.
TRIED_SCHEMES = ("BIO", "IOB1", "BIOES", "BILOU", "BMES", "BMEWO", "IOE2", "IOE1")


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

    def follows_same_type(self, offsets):
        """Return whether each span directly follows one of its type and sequence."""
        follow = np.zeros(len(self.start), bool)
        follow[1:] = self.start[1:] == self.stop[:-1]
        follow[1:] &= self.type_code[1:] == self.type_code[:-1]
        return follow & ~np.isin(self.start, offsets)

    def of_types(self, types):
        """Return the spans of these types only, with these types as `types`."""
        index = {name: k for k, name in enumerate(types)}
        number = np.array([index.get(name, -1) for name in self.types], np.int64)
        code = number[self.type_code]
        chosen = code >= 0
        return Spans(self.start[chosen], self.stop[chosen], code[chosen], types)


@overload
def extract_spans(
    labels: Iterable[str], scheme: SpanScheme = ..., *, strict: bool = ...
) -> list[Span]: ...


@overload
def extract_spans(
    labels: LabelLists, scheme: SpanScheme = ..., *, strict: bool = ...
) -> list[list[Span]]: ...


def extract_spans(
    labels: Iterable[str] | LabelLists,
    scheme: SpanScheme = "BIO",
    *,
    strict: bool = False,
) -> list[Span] | list[list[Span]]:
    """Return the spans that labels describe, of one sequence or of several.

    Parameters
    ----------
    labels : array-like of shape (T,), of str, or list of n such sequences
        "O", or a prefix of the scheme with a span type as in "B-PER". The span type is
        everything after the first "-"; for "B" alone it is "".
    scheme : str, default="BIO"
        The meaning of the prefixes: "BIO" (also called "IOB2"), "BIOES" or another
        name of :func:`~skcrf_sdca.data.tagging_schemes.get_scheme`.
    strict : bool, default=False
        With False, invalid sequences are read as conlleval does: neighbouring labels of
        one type belong to one span, unless a prefix begins or ends a span between them;
        thus "I-X" after "O" begins a span. With True, spans are left out whose first
        label may not begin a span in the scheme, or whose last label may not end one.

    Returns
    -------
    spans : list of (type, start, stop), or list of n such lists
        In order; the labels of a span are ``labels[start:stop]`` of its sequence.

    Raises
    ------
    ValueError
        If the scheme is unknown, or a label does not belong to it.
    TypeError
        If `labels` is not a sequence of str, or a list of such sequences.

    See Also
    --------
    skcrf_sdca.text.spans_to_labels : The other way round.

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
    >>> extract_spans([["O", "S-LOC"], [], ["B-PER", "E-PER"]], "IOBES")
    [[('LOC', 1, 2)], [], [('PER', 0, 2)]]
    """
    sequences, is_one = label_sequences(labels)
    spans = read_spans(sequences, scheme, strict=strict, name="labels")
    begins = offsets_of(sequences)
    bounds = np.searchsorted(spans.start, begins)
    shift = np.repeat(begins[:-1], np.diff(bounds))
    types = [spans.types[k] for k in spans.type_code]
    ends = (spans.start - shift).tolist(), (spans.stop - shift).tolist()
    found = split_rows(list(zip(types, *ends, strict=True)), bounds).tolist()
    return found[0] if is_one else found


def scheme_of_readable(y, *first):
    """Return the first scheme that can read all label lists, or None.

    The schemes `first` are tried before all others. "BIO" also reads the spans of IOB1
    and IO.
    """
    for scheme in (*first, *TRIED_SCHEMES):
        try:
            extract_spans(y, scheme)
        except (TypeError, ValueError):
            continue
        return scheme
    return None


def label_sequences(labels):
    """Return label lists, and whether `labels` was one sequence, not a list of some."""
    try:
        labels = as_list(labels, name="labels")
        # If the first entry is no list, it may also be a wrong label: see read_spans.
        first = plain_column(next(iter(labels), None))
        if not isinstance(first, (list, tuple, np.ndarray)):
            return label_lists([labels], "labels"), True
    except TypeError:
        raise TypeError(
            "labels must be a list of str such as 'B-PER', or a list of such lists, "
            f"got {described(labels)}."
        ) from None
    return label_lists(labels, "labels"), False


def offsets_of(sequences):
    """Return the positions at which the sequences begin, end to end, and the end."""
    return np.cumsum([0] + [len(sequence) for sequence in sequences])


def place_of(t, offsets, name):
    """Return the sequence and the item of position t of all, for a message."""
    i = int(np.searchsorted(offsets, t, side="right")) - 1
    return place(name, i, item=t - offsets[i])


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
    follows_same[offsets_of(sequences)] = False
    joined = follows_same.copy()
    joined[:-1] &= has_prefix_of(rule.continues)
    joined[1:] &= has_prefix_of(rule.goes_on)
    is_inside = type_codes >= 0
    first = np.flatnonzero(is_inside & ~joined[:-1])
    last = np.flatnonzero(is_inside & ~joined[1:])
    if strict:
        starts, again = has_prefix_of(rule.starts), has_prefix_of(rule.starts_again)
        is_valid = np.where(follows_same[:-1], again, starts)[first]
        ends, again = has_prefix_of(rule.ends), has_prefix_of(rule.ends_again)
        is_valid &= np.where(follows_same[1:], again, ends)[last]
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
                    where = place(name, i, item=t)
                    raise type(error)(f"{where}: {error}") from None
        raise


class SpanForm(NamedTuple):
    """A form of the tuples that stand for spans: in words, and its reader.

    `read` returns begin, end and whatever names the span; it raises ValueError or
    TypeError for a tuple of another form.
    """

    words: str
    read: Callable[[Any], tuple[int, int, Any]]


def bounds_and_name(span):
    """Return begin, end and the name of a span, which is (name, begin, end, ...).

    The name, a type or labels, has a length, and numbers have none: it may stand third.
    """
    first, second, third, *_ = span
    if hasattr(third, "__len__"):
        first, second, third = third, first, second
    return index(second), index(third), first


def _read_typed(span):
    begin, end, span_type = bounds_and_name(span)
    if not isinstance(span_type, str):
        raise TypeError(f"the type is {described(span_type)}, and not a str")
    return begin, end, span_type


TYPED = SpanForm("(type, begin, end)", _read_typed)


def span_rows(spans, lengths, form, *, name="spans"):
    """Return the spans of all sequences, of one list for each.

    These are rows (sequence, begin, end), the bounds of the rows of each sequence, and
    what names the spans. Errors name the sequence and the span. With None for the
    `lengths` of the sequences, a span may end anywhere.
    """
    check_container(spans, name)
    spans = list(spans)
    if lengths is None:
        limits = len(spans) * [None]
    elif len(spans) == len(lengths):
        limits = lengths.tolist()
    else:
        raise ValueError(
            f"there are {len(lengths)} sequences, but {name} has {len(spans)}."
        )
    rows, names, bounds = [], [], [0]
    for i, (own, limit) in enumerate(zip(spans, limits, strict=True)):
        check_container(own, f"{name}: sequence {i}")
        for s, span in enumerate(own):
            try:
                begin, end, called = form.read(span)
            except (TypeError, ValueError) as error:
                raise type(error)(
                    f"{name}: sequence {i}, span {s} is {span!r}; it must be "
                    f"{form.words}: {error}."
                ) from error
            if not 0 <= begin < end or (limit is not None and end > limit):
                most = "" if limit is None else f" <= {limit}, the number of items,"
                raise ValueError(
                    f"{name}: sequence {i}, span {s} goes from {begin} to {end}, but "
                    f"0 <= begin < end{most} is needed."
                )
            rows.append((i, begin, end))
            names.append(called)
        bounds.append(len(rows))
    return np.array(rows, dtype=np.int64).reshape(-1, 3), np.array(bounds), names
