"""Items as python-crfsuite takes them: which attributes of CRFsuite they have.

Owns `ItemSequence`, the attributes of an item (names and values, in their order), and
how names in bytes are read.
"""

from typing import Any

_STR = frozenset([str])


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
        if isinstance(pyseq, ItemSequence):
            self.entries = pyseq.entries
        elif isinstance(pyseq, (str, bytes)):
            raise ValueError("a sequence is a list of items, got a string.")
        else:
            self.entries = [_entries(item) for item in pyseq]

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


def _entries(item):
    """Return the names or the pairs (name, value) of an item."""
    if isinstance(item, bytes):
        raise ValueError(f"an item is a dict or a list of names, got {item!r:.40}.")
    if not isinstance(item, dict):
        names = list(item)
        return names if _STR.issuperset(map(type, names)) else list(map(_name, names))
    found: list[Any] = []
    _add(found.append, "", item)
    return found


def _add(add, prefix, item):
    """Add the attributes of a dict, whose names have a prefix.

    Values of the plain types take no other call: there are hundreds in a sequence.
    """
    for key, value in item.items():
        name = prefix + (key if type(key) is str else _name(key))
        kind = type(value)
        if kind is str:
            add(f"{name}:{value}")
        elif kind is float:
            add((name, value))
        elif kind is bool:
            add(name if value else (name, 0.0))
        elif isinstance(value, dict):
            _add(add, f"{name}:", value)
        elif isinstance(value, (str, bytes)):
            add(f"{name}:{_name(value)}")
        elif isinstance(value, (list, set)):
            for within in map(_name, value):
                add(f"{name}:{within}")
        else:
            add((name, _number(name, value)))


def decoded(name: Any) -> Any:
    """Return a name in bytes, which are UTF-8, as a str; anything else as it is.

    Raises
    ------
    ValueError
        If the bytes are not UTF-8.
    """
    if not isinstance(name, bytes):
        return name
    try:
        return name.decode()
    except UnicodeDecodeError:
        raise ValueError(
            f"{name!r:.40} is not UTF-8, as the names of attributes and labels in "
            "bytes must be."
        ) from None


def _name(name):
    """Return a name, of str or bytes, as a str."""
    name = decoded(name)
    if not isinstance(name, str):
        raise ValueError(f"the name of an attribute must be a str, got {name!r:.40}.")
    return name


def _number(name, value):
    try:
        return float(value)
    except (TypeError, ValueError):
        raise TypeError(
            f"attribute {name!r} has a value of type {type(value).__name__}; it must "
            "be a number, bool, str, dict, list or set."
        ) from None
