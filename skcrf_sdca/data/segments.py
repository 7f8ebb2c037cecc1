"""Features of whole segments, of a function of the user: read, and made rows.

The function is called for every segment of at most M items of a sequence. A
SequenceVectorizer encodes its results like the features of items: it takes the segments
of a sequence for items.
"""

from collections.abc import Mapping, Set

from skcrf_sdca._kernels.features._segment_rows import SegmentRows
from skcrf_sdca._utils.memory import check_fits
from skcrf_sdca._utils.messages import described
from skcrf_sdca._utils.words import in_words, usual_place
from skcrf_sdca.data.packed import PackedSequences

# Of a row of a segment: where it begins, and a feature with its number.
BYTES_OF_ROW = 16


class SegmentedSequences(PackedSequences):
    """Packed sequences beside the features of their segments, the ``segment_rows``.

    Parts of it, and pickles, are PackedSequences without these.
    """

    __slots__ = ("segment_rows",)

    @classmethod
    def of(cls, data, segment_rows):
        """Return packed sequences with these rows beside them."""
        own = cls.__new__(cls)
        for name in PackedSequences.__slots__:
            setattr(own, name, getattr(data, name))
        own.segment_rows = segment_rows
        return own


def with_segments(function, X, data, input_format, most, encode):
    """Return packed data with the features of their segments.

    ``function(sequence, begin, end)`` returns the features of a segment of at most
    ``most`` items, and ``encode``, a method of a SequenceVectorizer, packs the segments
    of each sequence. ``data`` is X, packed, and ``input_format`` the format of its
    answers. TypeError or ValueError if a vectorizer does not take the features;
    MemoryError if there are more segments than fit.
    """
    items = _items_of_all(function, input_format.sequences(X, data), data, most)
    return SegmentedSequences.of(data, _encoded(encode, items, most))


def _encoded(encode, items, most):
    """Return the SegmentRows of items; errors name the sequence and the segment."""

    def place_of_row(argument, i, *, item=None):
        if item is None:
            return usual_place(argument, i)
        end = item // most + 1
        return _place(i, end - most + item % most, end)

    with in_words(X="segment_features", place=place_of_row):
        X = encode(items).X
    return SegmentRows(X.indptr, X.indices, X.data, X.shape[1], most)


def _items_of_all(function, sequences, data, most):
    """Yield for each sequence the features of its segments, as SegmentRows orders them.

    A segment that begins before the sequence has none.
    """
    check_fits(
        BYTES_OF_ROW * data.n_positions * most,
        f"features of the segments of up to {most} items of {data.n_positions} items",
        "set a smaller max_length, or segment_features=None",
    )
    first = None
    lengths = data.lengths.tolist()
    for i, (sequence, length) in enumerate(zip(sequences, lengths, strict=True)):
        items = []
        for end in range(1, length + 1):
            begins = range(max(end - most, 0), end)
            found = [function(sequence, begin, end) for begin in begins]
            first = found[0] if first is None else first
            for begin, features in zip(begins, found, strict=True):
                _check_alike(features, first, _place(i, begin, end))
            none = {} if isinstance(first, Mapping) else []
            items += [none] * (most - len(found)) + found
        yield items


def _check_alike(features, first, place):
    """Raise TypeError if features are neither a dict nor strings, as the first are."""
    is_dict = isinstance(features, Mapping)
    if not is_dict and not isinstance(features, (list, tuple, Set)):
        raise TypeError(
            f"{place}: the function returned {described(features)}; it must return a "
            "dict or a list of str."
        )
    if is_dict != isinstance(first, Mapping):
        raise TypeError(
            f"{place}: the function returned {described(features)}, but "
            f"{described(first)} before; it must always return a dict, or always a "
            "list of str."
        )


def _place(i, begin, end):
    return f"segment_features: sequence {i}, segment of the items {begin} to {end - 1}"
