"""The items of one sequence, in the types that the compiled reader takes."""

from collections.abc import Iterable, Iterator, Mapping, Set

from skcrf_sdca._kernels.features._encoder import Encoder, type_of_items
from skcrf_sdca._utils.messages import described

# The items that stand for those of a plain type, and what messages call these.
ACCEPTED = {dict: (Mapping,), list: (list, tuple, Set)}
NAMES = {dict: "dicts", list: "lists of str"}


def plain_items(item_type, sequence):
    """Return the items of a sequence that is no list of plain ones, or raise."""
    name = NAMES[item_type]
    has_order = not isinstance(sequence, (str, bytes, Mapping, Set))
    if not (has_order and isinstance(sequence, Iterable)):
        raise TypeError(f"sequence must be a list of {name}, got {described(sequence)}")
    items = list(sequence)
    for t, item in enumerate(items):
        if not isinstance(item, ACCEPTED[item_type]):
            raise TypeError(
                f"item {t} is {described(item)}; sequence must be a list of {name}"
            )
    return items


def held(sequence):
    """Return a sequence that can be read twice."""
    return list(sequence) if isinstance(sequence, Iterator) else sequence


def encoded(items, sequence, lookup=None):
    """Return data, indices and indptr of the rows of a sequence of `Items`.

    With an empty ``lookup`` all its features have numbers, and not only those that are
    known.
    """
    if type_of_items(sequence) is not items.item_type:
        sequence = plain_items(items.item_type, sequence)
    grows, lookup = lookup is not None, lookup or items.lookup
    encoder = Encoder(lookup, grows=grows, dtype=items.dtype)
    try:
        if items.item_type is dict:
            encoder.add_dicts(sequence)
        else:
            encoder.add_strings(sequence)
    except (TypeError, ValueError, OverflowError, RecursionError) as error:
        wrapper = TypeError if isinstance(error, TypeError) else ValueError
        raise wrapper(f"item {encoder.n_rows}: {error}") from error
    return encoder.take_rows()
