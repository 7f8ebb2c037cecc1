"""Records of annotations that are written in XML: BioC, and UIMA CAS in XMI."""

from collections.abc import Iterable, Iterator
from typing import Any
from xml.etree import ElementTree

from skcrf_sdca._utils.typing import SpanScheme
from skcrf_sdca.text.core.files import name_of, place, whole_text
from skcrf_sdca.text.core.passages import Document, Passages, Read
from skcrf_sdca.text.core.reading import Reading
from skcrf_sdca.text.spans.units import (
    UTF_16,
    in_characters,
    unit_offsets,
)

# Attributes of a UIMA annotation that name its type, the likeliest first.
_VALUES = ("value", "label", "entityType", "category", "type", "PosValue")


def read_bioc(
    file: Any,
    reading: Reading,
    *,
    tokens: str | None = None,
    scheme: SpanScheme = "BIO",
) -> Iterator[Read]:
    """Yield the sequences of BioC in XML; BioC in JSON are records."""
    passages = Passages(reading, tokens, scheme)
    # A passage that stands in another is read once.
    found = _root(file, reading).iter("passage")
    parts = (part for own in found for part in own.findall("sentence") or [own])
    for k, part in enumerate(parts):
        text, spans, said = part.findtext("text", ""), None, None
        if reading.labelled:
            notes = list(_notes(part, file))
            spans, said = [note[:3] for note in notes], [note[3] for note in notes]
        yield from passages.of(Document(k, text, spans, said=said))


def _notes(part, file):
    """Yield begin, end, type and text of the annotations of a part of a document."""
    offset = _number("offset", part.findtext("offset", "0"), file)
    for note in part.findall("annotation"):
        infons = {own.get("key"): own.text or "" for own in note.findall("infon")}
        if "type" not in infons:
            raise ValueError(
                f"{name_of(file)}: annotation {note.get('id')!r:.40} has no infon "
                f"'type' among {', '.join(map(str, infons))}."
            )
        places = [
            [_number(key, own.get(key), file) for key in ("offset", "length")]
            for own in note.findall("location")
        ]
        said = note.findtext("text") if len(places) == 1 else None
        for begin, length in places:
            yield begin - offset, begin - offset + length, infons["type"], said


def read_xmi(
    file: Any,
    reading: Reading,
    *,
    types: Iterable[str] = ("NamedEntity",),
    tokens: str | None = None,
    scheme: SpanScheme = "BIO",
) -> Iterator[Read]:
    """Yield the sequences of a text of UIMA, with the tokens that it has itself."""
    passages, wanted = Passages(reading, tokens, scheme), set(types)
    elements = list(_root(file, reading))
    text = next(
        (e.get("sofaString", "") for e in elements if "sofaString" in e.keys()), ""
    )
    units = unit_offsets(text, UTF_16)
    notes = []
    for own in elements:
        if "begin" in own.keys() and _name(own) in {"Token", *wanted}:
            begin, end = (_number(key, own.get(key), file) for key in ("begin", "end"))
            notes.append((in_characters(units, begin), in_characters(units, end), own))
    offsets = sorted((b, e) for b, e, own in notes if _name(own) == "Token")
    spans = [(b, e, _type(own)) for b, e, own in notes if _name(own) in wanted]
    document = Document(0, text, spans if reading.labelled else None, offsets or None)
    yield from passages.of(document)


def _number(name, text, file):
    try:
        return int(text)
    except (TypeError, ValueError):
        raise ValueError(
            f"{name_of(file)}: {name} is {text!r:.40}, no whole number."
        ) from None


def _root(file, reading):
    """Return the root of a document in XML."""
    try:
        return ElementTree.fromstring(whole_text(file, reading.encoding))
    except ElementTree.ParseError as error:
        line, _ = error.position
        raise ValueError(f"{place(file, line)}: no XML, {error}.") from error


def _name(element):
    """Return the name of an element without its name space."""
    return element.tag.rpartition("}")[2]


def _type(element):
    found = (element.get(name) for name in _VALUES)
    return next((value for value in found if value), _name(element))
