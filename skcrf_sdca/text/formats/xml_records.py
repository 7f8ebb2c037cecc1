"""Records of annotations that are written in XML: BioC, and UIMA CAS in XMI."""

from collections.abc import Iterable, Iterator
from typing import Any
from xml.etree import ElementTree

from skcrf_sdca._utils.typing import SpanScheme
from skcrf_sdca.text.core.files import place, whole_text
from skcrf_sdca.text.core.passages import Document, Passages, Read
from skcrf_sdca.text.core.reading import Reading
from skcrf_sdca.text.spans.units import UTF_16, unit_offsets

from .records import read_records

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
    documents = [
        {"passages": [_passage(own) for own in document.iter("passage")]}
        for document in _root(file, reading).iter("document")
    ]
    yield from read_records(documents, reading, tokens=tokens, scheme=scheme)


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
    character = {unit: k for k, unit in enumerate(unit_offsets(text, UTF_16))}
    notes = [
        (character[int(own.get("begin", 0))], character[int(own.get("end", 0))], own)
        for own in elements
        if "begin" in own.keys() and int(own.get("end", 0)) in character
    ]
    offsets = sorted((b, e) for b, e, own in notes if _name(own) == "Token")
    spans = [(b, e, _type(own)) for b, e, own in notes if _name(own) in wanted]
    document = Document(0, text, spans if reading.labelled else None, offsets or None)
    yield from passages.of(document)


def _root(file, reading):
    """Return the root of a document in XML."""
    try:
        return ElementTree.fromstring(whole_text(file, reading.encoding))
    except ElementTree.ParseError as error:
        line, _ = error.position
        raise ValueError(f"{place(file, line)}: no XML, {error}.") from error


def _passage(element):
    """Return a passage, or a sentence, as BioC in JSON has it."""
    return {
        "offset": int(element.findtext("offset", "0")),
        "text": element.findtext("text"),
        "annotations": [_annotation(own) for own in element.findall("annotation")],
        "sentences": [_passage(own) for own in element.findall("sentence")],
    }


def _annotation(element):
    places = [dict(own.items()) for own in element.findall("location")]
    return {
        "infons": {own.get("key"): own.text or "" for own in element.findall("infon")},
        "text": element.findtext("text"),
        "locations": [{key: int(n) for key, n in own.items()} for own in places],
    }


def _name(element):
    """Return the name of an element without its name space."""
    return element.tag.rpartition("}")[2]


def _type(element):
    found = (element.get(name) for name in _VALUES)
    return next((value for value in found if value), _name(element))
