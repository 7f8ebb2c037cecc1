"""The items of one sequence, in the types that the compiled reader takes."""

from collections.abc import Iterable, Mapping, Set

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
