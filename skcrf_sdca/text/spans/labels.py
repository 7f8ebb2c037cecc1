"""Labels of spans, written in a tagging scheme: converted, repaired, or from spans.

What a scheme allows stands in data/tagging_schemes.py, and data/spans.py reads labels.
Here only the prefixes are written, which the spans determine: the rest of a label, its
span type, is kept as it is.
"""

from collections.abc import Iterable, Sequence
from itertools import chain, pairwise
from numbers import Integral
from typing import Any, overload

import numpy as np
from numpy.typing import ArrayLike

from skcrf_sdca._utils.messages import described
from skcrf_sdca._utils.typing import LabelLists, SpanScheme
from skcrf_sdca.data.spans import (
    TYPED,
    Spans,
    label_sequences,
    offsets_of,
    place_of,
    read_spans,
    span_rows,
)
from skcrf_sdca.data.tagging_schemes import OUTSIDE, get_scheme


@overload
def convert_labels(
    labels: Iterable[str], source: SpanScheme, target: SpanScheme
) -> list[str]: ...


@overload
def convert_labels(
    labels: LabelLists, source: SpanScheme, target: SpanScheme
) -> list[list[str]]: ...


def convert_labels(
    labels: Iterable[str] | LabelLists, source: SpanScheme, target: SpanScheme
) -> list[str] | list[list[str]]:
    """Convert labels from one tagging scheme to another; the spans stay the same.

    Parameters
    ----------
    labels : array-like of shape (T,), of str, or list of n such sequences
        Labels such as "B-PER" and "O", valid in `source`.
    source, target : str
        "BIO" (also called "IOB2"), "BIOES" or another name of
        :func:`~skcrf_sdca.data.tagging_schemes.get_scheme`.

    Returns
    -------
    converted : list of str, or list of n such lists
        In the form of `labels`.

    Raises
    ------
    ValueError
        If a scheme is unknown, a label does not belong to `source` or is not valid
        where it is, or the target is "IO" and two spans of one type touch: "IO" would
        make them one. The message names the sequence and the item.
    TypeError
        If `labels` is not a sequence of str, or a list of such sequences.

    See Also
    --------
    repair_labels : Makes labels valid.

    Examples
    --------
    >>> from skcrf_sdca.text import convert_labels
    >>> convert_labels(["I-PER", "I-PER", "O", "I-LOC", "B-LOC"], "IOB1", "BIOES")
    ['B-PER', 'E-PER', 'O', 'S-LOC', 'S-LOC']
    >>> convert_labels([["B-PER", "I-PER"], ["O", "B-LOC"]], "BIO", "IO")
    [['I-PER', 'I-PER'], ['O', 'I-LOC']]
    """
    for argument, scheme in {"source": source, "target": target}.items():
        get_scheme(scheme, argument=argument)
    sequences, is_one = label_sequences(labels)
    flat, offsets, rests, spans, valid = _read(sequences, source)
    if found := _fault(flat, valid, offsets, source):
        raise ValueError(
            f"{found} Repair the labels first: labels, n_changed = "
            f"repair_labels(labels, {source!r})."
        )
    return _cut(_with_prefixes(rests, spans, offsets, target), offsets, is_one)


def fault_of(sequences: Sequence[Sequence[str]], scheme: str) -> str | None:
    """Return the first label that is not valid in a scheme, in words; None if all are.

    Raise ValueError if a label is none of the scheme.

    >>> from skcrf_sdca.text.spans.labels import fault_of
    >>> fault_of([["O", "I-PER"]], "BIO")[:40]
    "labels: sequence 0, item 1 is 'I-PER', b"
    """
    flat, offsets, _, _, valid = _read(sequences, scheme)
    return _fault(flat, valid, offsets, scheme)


@overload
def repair_labels(
    labels: Iterable[str], scheme: SpanScheme = ...
) -> tuple[list[str], int]: ...


@overload
def repair_labels(
    labels: LabelLists, scheme: SpanScheme = ...
) -> tuple[list[list[str]], int]: ...


def repair_labels(
    labels: Iterable[str] | LabelLists, scheme: SpanScheme = "BIO"
) -> tuple[list[str] | list[list[str]], int]:
    """Make labels valid in a tagging scheme, and count those that change.

    The labels are read as conlleval reads them, and the spans that it finds are written
    in valid labels. So the spans that the metrics count, if not strict, stay the same,
    and valid sequences too. Only prefixes change.

    Parameters
    ----------
    labels : array-like of shape (T,), of str, or list of n such sequences
        Labels with prefixes of the scheme, such as "B-PER", "I-PER" and "O".
    scheme : str, default="BIO"
        As for :func:`convert_labels`.

    Returns
    -------
    repaired : list of str, or list of n such lists
        In the form of `labels`.
    n_changed : int
        The number of labels that are not as they were.

    Raises
    ------
    ValueError
        If the scheme is unknown, or a label does not belong to it, whose sequence and
        item the message names.
    TypeError
        If `labels` is not a sequence of str, or a list of such sequences.

    See Also
    --------
    skcrf_sdca.metrics.extract_spans : Says how invalid sequences are read.

    Examples
    --------
    >>> from skcrf_sdca.text import repair_labels
    >>> repair_labels([["I-LOC", "I-LOC", "O"], ["B-PER", "I-LOC"]])
    ([['B-LOC', 'I-LOC', 'O'], ['B-PER', 'B-LOC']], 2)
    >>> repair_labels(["B-PER", "I-PER", "O"], "BIOES")
    (['B-PER', 'E-PER', 'O'], 1)
    """
    sequences, is_one = label_sequences(labels)
    flat, offsets, _, _, repaired = _read(sequences, scheme)
    n_changed = sum(map(str.__ne__, flat, repaired))
    return _cut(repaired, offsets, is_one), n_changed


@overload
def spans_to_labels(
    spans: Iterable[tuple[Any, ...]], lengths: int, scheme: SpanScheme = ...
) -> list[str]: ...


@overload
def spans_to_labels(
    spans: Iterable[Iterable[tuple[Any, ...]]],
    lengths: ArrayLike,
    scheme: SpanScheme = ...,
) -> list[list[str]]: ...


def spans_to_labels(
    spans: Iterable[Any], lengths: ArrayLike, scheme: SpanScheme = "BIO"
) -> list[str] | list[list[str]]:
    """Return the labels that describe spans, of one sequence or of several.

    Parameters
    ----------
    spans : list of (type, begin, end), or list of n such lists
        The positions of a span are begin <= t < end; the order of the spans does not
        matter. Begin and end may stand first. What follows these three, as the
        probability that ``predict_spans`` of an estimator adds, is ignored.
    lengths : int, or array-like of shape (n,), of int
        The number of items of the sequence, or of each sequence.
    scheme : str, default="BIO"
        As for :func:`convert_labels`.

    Returns
    -------
    labels : list of str, or list of n such lists
        "O" outside spans. The labels of a span of the type "" are prefixes alone.

    Raises
    ------
    ValueError, TypeError
        If the scheme is unknown, a span does not have this form, is not within its
        sequence or overlaps another one, or the scheme is "IO" and two spans of one
        type touch. The message names the sequence and the span.

    See Also
    --------
    skcrf_sdca.metrics.extract_spans : The other way round.

    Examples
    --------
    >>> from skcrf_sdca.text import spans_to_labels
    >>> spans_to_labels([("PER", 0, 2), ("LOC", 3, 4)], 5)
    ['B-PER', 'I-PER', 'O', 'B-LOC', 'O']
    >>> spans_to_labels([[("LOC", 0, 1)], []], [1, 2], "BIOES")
    [['S-LOC'], ['O', 'O']]
    """
    is_one = isinstance(lengths, Integral)
    lengths = _checked_lengths([lengths] if is_one else lengths)
    rows, _, types = span_rows([spans] if is_one else spans, lengths, TYPED)
    offsets = np.concatenate([[0], np.cumsum(lengths)])
    placed = _placed(rows, types, offsets)
    rests = [""] * int(offsets[-1])
    for start, stop, code in zip(*placed[:3], strict=True):
        span_type = placed.types[code]
        rests[start:stop] = [f"-{span_type}" if span_type else ""] * (stop - start)
    flat = _with_prefixes(rests, placed, offsets, scheme, "spans")
    return _cut(flat, offsets, is_one)


def _read(sequences, scheme):
    """Return labels end to end, offsets, types, spans, and the labels of the spans.

    Raise ValueError if a label is none of the scheme.
    """
    spans = read_spans(sequences, scheme, strict=False, name="labels")
    flat, offsets = list(chain.from_iterable(sequences)), offsets_of(sequences)
    rests = list(map(get_scheme(scheme).rest, flat))
    return flat, offsets, rests, spans, _with_prefixes(rests, spans, offsets, scheme)


def _fault(flat, valid, offsets, scheme):
    """Return the first label that is not the valid one, in words; None if all are."""
    if valid == flat:
        return None
    t = next(t for t, label in enumerate(flat) if label != valid[t])
    return (
        f"{place_of(t, offsets, 'labels')} is {flat[t]!r}, but a valid sequence of the "
        f"scheme {scheme!r} has {valid[t]!r} there."
    )


def _checked_lengths(lengths):
    lengths = np.asarray(lengths)
    if lengths.size == 0:
        return np.zeros(0, dtype=np.int64)
    if lengths.ndim != 1 or lengths.dtype.kind not in "iu" or lengths.min() < 0:
        raise ValueError(
            "lengths must be the number of items, or the list of the numbers of items "
            f"of all sequences, got {described(lengths.tolist())}."
        )
    return lengths.astype(np.int64)


def _placed(rows, types, offsets):
    """Return the `Spans` of rows (sequence, begin, end), in order; none overlap."""
    order = np.lexsort((rows[:, 1], rows[:, 0]))
    rows, types = rows[order], [types[k] for k in order]
    start, stop = (rows[:, k] + offsets[rows[:, 0]] for k in (1, 2))
    for k in np.flatnonzero(start[1:] < stop[:-1]):
        i, begin, end = rows[k].tolist()
        raise ValueError(
            f"spans: sequence {i}: the span from {begin} to {end} overlaps that from "
            f"{rows[k + 1, 1]} to {rows[k + 1, 2]}; a label is of one span."
        )
    code = {span_type: k for k, span_type in enumerate(dict.fromkeys(types))}
    type_code = np.array([code[span_type] for span_type in types], dtype=np.int64)
    return Spans(start, stop, type_code, list(code))


def _with_prefixes(rests, spans, offsets, scheme, name="labels"):
    """Return the labels of all positions with the prefixes that the spans have.

    ``rests`` has what follows the prefix in each label.
    """
    rule = get_scheme(scheme)
    prefixes = [OUTSIDE] * len(rests)
    follow = spans.follows_same_type(offsets)
    precede = np.append(follow, False)[1:]
    touching = follow.tolist(), precede.tolist()
    bounds = spans.start.tolist(), spans.stop.tolist()
    for start, stop, *touches in zip(*bounds, *touching, strict=True):
        own = rule.prefixes_of_span(stop - start, *touches)
        if len(own) < stop - start:
            raise ValueError(
                f"{place_of(start, offsets, name)} begins a span right after one of "
                f"its type: the scheme {scheme!r} cannot tell the two from one span; "
                "use another scheme, or make one span of the two."
            )
        prefixes[start:stop] = own
    texts = map(rule.label, prefixes, rests)
    # Equal labels are stored once.
    shared = {}
    return [shared.setdefault(text, text) for text in texts]


def _cut(flat, offsets, is_one):
    return flat if is_one else [flat[begin:end] for begin, end in pairwise(offsets)]
