"""Fields of records by their roles, which have other names in each program."""

from collections.abc import Callable, Iterable, Mapping
from numbers import Integral
from typing import Any, NamedTuple

from skcrf_sdca._utils.messages import described
from skcrf_sdca.data.spans import TYPED
from skcrf_sdca.text.core.column_names import candidates
from skcrf_sdca.text.spans.offsets import Offsets, token_offsets

Test = Callable[[Any], bool]


def is_text(value: Any) -> bool:
    """Return whether a value is a str."""
    return isinstance(value, str)


def is_number(value: Any) -> bool:
    """Return whether a value is a whole number."""
    return isinstance(value, Integral)


def is_mapping(value: Any) -> bool:
    """Return whether a value has fields."""
    return isinstance(value, Mapping)


def is_list(value: Any) -> bool:
    """Return whether a value is a list, a tuple or an array."""
    if isinstance(value, str):
        # That of NumPy is an array, too.
        return False
    is_array = hasattr(value, "tolist") and hasattr(value, "__len__")
    return isinstance(value, (list, tuple)) or is_array


def is_row(value: Any) -> bool:
    """Return whether an item of a list is a list itself."""
    return is_list(value)


def list_of(is_wanted: Test) -> Test:
    """Return a test for lists of some items, at least one."""
    return lambda value: (
        is_list(value) and len(value) > 0 and all(map(is_wanted, value))
    )


def are_labels(value: Any) -> bool:
    """Return whether a value is a list of labels, which may be numbers or None."""
    return is_list(value) and all(
        x is None or isinstance(x, (str, Integral)) for x in value
    )


def field_of(record: Any, role: str, is_wanted: Test) -> Any:
    """Return the name of the first field that has a role and is wanted, or None."""
    if not isinstance(record, Mapping):
        return None
    return next((n for n in candidates(record, role) if is_wanted(record[n])), None)


def value_of(record: Any, role: str, is_wanted: Test) -> Any:
    """Return the first value that has a role and is wanted, or None."""
    name = field_of(record, role, is_wanted)
    return None if name is None else record[name]


def described_record(record: Any) -> str:
    """Return what a record is, for messages."""
    if isinstance(record, Mapping):
        names = ", ".join(map(str, record))
        return f"a record with {names:.200}" if names else "a record without fields"
    return f"a record that is {described(record)}"


class Span(NamedTuple):
    """A span of a record, and the text that it gives for it, or None."""

    begin: int
    end: int
    type: str
    said: str | None = None


def span_of(item: Any) -> Span:
    """Return a span that is in one of the forms that programs write."""
    found = _of_fields(item) if isinstance(item, Mapping) else _of_tuple(item)
    if found is None:
        raise ValueError(
            "a span needs its begin, end and type, the first two as whole numbers; it "
            f"is {item!r:.120}"
        )
    return found


def _of_tuple(item):
    try:
        return Span(*TYPED.read(item))
    except (TypeError, ValueError):
        return None


def _of_fields(item):
    begin, end, length = (
        value_of(item, role, is_number) for role in ("begin", "end", "length")
    )
    if end is None and None not in (begin, length):
        end = begin + length
    name = value_of(item, "type", lambda value: value not in (None, [], ""))
    name = name[0] if isinstance(name, list) else name
    if isinstance(name, Mapping):
        name = value_of(name, "type", is_text)
    if None in (begin, end) or not isinstance(name, (str, Integral)):
        return None
    return Span(int(begin), int(end), str(name), value_of(item, "surface", is_text))


class Words(NamedTuple):
    """The tokens of a record, where they are in its text, and labels that they have."""

    words: list[str]
    offsets: Offsets | None = None
    labels: list[Any] | None = None


def words_of(items: Iterable[Any], text: str | None, label: str | int | None) -> Words:
    """Return the tokens that are texts, or mappings with a text or with offsets.

    `label` is the name of the field of labels in mappings, by default a usual one.
    """
    items = list(items)
    if not items or not all(isinstance(item, Mapping) for item in items):
        return Words([_checked(item) for item in items])
    words, begins, labels = zip(
        *(_token(item, text or "", label) for item in items), strict=True
    )
    offsets = None
    if None not in begins:
        offsets = [(b, b + len(w)) for b, w in zip(begins, words, strict=True)]
    return Words(list(words), offsets, None if None in labels else list(labels))


def _token(item, text, label):
    """Return the text of a token, where it begins and its label; None if unknown."""
    begin, end = (value_of(item, role, is_number) for role in ("begin", "end"))
    word = value_of(item, "word", is_text)
    if word is None and None not in (begin, end):
        word = text[begin:end]
    own = value_of(item, "label", is_text) if label is None else item.get(label)
    return _checked(word), begin, own


def _checked(item):
    if not isinstance(item, str):
        raise ValueError(f"a token must be a str or a mapping; it is {described(item)}")
    return item


def offsets_in(text: str, words: Words) -> Offsets:
    """Return where tokens are in a text, also if their own offsets are of another."""
    own = words.offsets
    if own is not None and [text[b:e] for b, e in own] == words.words:
        return own
    return token_offsets(text, words.words)
