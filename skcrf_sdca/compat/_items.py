"""Items as python-crfsuite takes them, whose attributes are computed once."""

from typing import Any

from skcrf_sdca._kernels.features._attributes import entries_of


class ItemSequence:
    """A sequence of items whose attributes are computed once.

    Parameters
    ----------
    pyseq : iterable of items, or ItemSequence
        An item is a dict {name: value}, or a list, tuple or set of names; a str is the
        list of its characters, as in CRFsuite. A value is a number or bool, the value
        of the attribute ``name``; a str (or UTF-8 in bytes), which is the attribute
        ``name:value`` with value 1; or a dict, list or set, whose attributes have
        ``name:`` before their names.

    Raises
    ------
    ValueError
        If `pyseq` is a str, or an item is bytes or a list of anything but names.
    TypeError
        If a value is of another type.

    Examples
    --------
    >>> from skcrf_sdca.compat.pycrfsuite import ItemSequence
    >>> ItemSequence([{"word": "the", "length": 3}, ["bias"]]).items()
    [{'word:the': 1.0, 'length': 3.0}, {'bias': 1.0}]
    """

    # As `AttributeWeights` takes items: names alone have the value 1.
    entries: list[list[Any]]

    def __init__(self, pyseq: Any) -> None:
        is_read = isinstance(pyseq, ItemSequence)
        self.entries = pyseq.entries if is_read else entries_of(pyseq)

    @property
    def attributes(self) -> list[list[tuple[str, float]]]:
        """The attributes of each item, names and values, in their order."""
        return [list(map(_pair, entries)) for entries in self.entries]

    def items(self) -> list[dict[str, float]]:
        """Return the attributes of each item, as dicts {name: value}."""
        return [dict(item) for item in self.attributes]

    def __len__(self) -> int:
        """Return the number of items."""
        return len(self.entries)

    def __repr__(self) -> str:
        """Return the number of items, in words."""
        return f"<ItemSequence of size {len(self)}>"


def _pair(entry):
    return entry if type(entry) is tuple else (entry, 1.0)
