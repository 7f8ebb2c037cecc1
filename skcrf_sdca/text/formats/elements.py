"""Elements of markup and of XMI that are spans, and which attribute has their type."""

from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from skcrf_sdca.text.core.reading import Reading

_UNNAMED = "called by their names: they have no attribute {}"


class Element(NamedTuple):
    """An element that is a span: its characters, its name and its attributes."""

    begin: int
    end: int
    name: str
    attributes: Mapping[str, str]


def typed(
    elements: Iterable[Element], attributes: Mapping[str, str], reading: Reading
) -> Iterator[tuple[int, int, str]]:
    """Yield the spans (begin, end, type) of elements.

    ``attributes`` has the attribute with the type for each name of elements, in any
    case; "" if the name is the type itself.
    """
    for own in elements:
        wanted = attributes[own.name]
        values = (
            value.strip()
            for name, value in own.attributes.items()
            if name.lower() == wanted.lower()
        )
        kind = next(values, "")
        if wanted and not kind:
            reading.note("element", _UNNAMED.format(wanted), f"<{own.name}>")
        yield own.begin, own.end, kind or own.name


def tell_attributes(attributes: Mapping[str, str], reading: Reading) -> None:
    """Tell which attributes were guessed to have the types."""
    found = {
        f"{attribute} of {name}": None
        for name, attribute in attributes.items()
        if attribute
    }
    if found:
        reading.take("attribute", ", ".join(found), option="attribute")
