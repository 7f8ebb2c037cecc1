"""Records of annotations that are written in XML: BioC, and UIMA CAS in XMI."""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from itertools import chain
from typing import Any
from xml.etree import ElementTree

from skcrf_sdca._utils.typing import SpanScheme
from skcrf_sdca.text.core.files import name_of, place, whole_text
from skcrf_sdca.text.core.passages import Document, Passages, Read
from skcrf_sdca.text.core.reading import Reading
from skcrf_sdca.text.spans.located import OUTSIDE
from skcrf_sdca.text.spans.units import UTF_16, in_characters, unit_offsets

from .elements import Element, tell_attributes, typed

# Attributes of a UIMA annotation that name its type, the likeliest first.
_VALUES = ("value", "label", "entityType", "category", "type", "PosValue")

_NO_PART = "left out: they are of a passage without a text, beside its sentences"
_ID = "{http://www.omg.org/XMI}id"
_TEXT, _USUAL, _TOKEN = "sofaString", "NamedEntity", "Token"
# Annotations that are no spans, unless `types` names them.
_GRAMMAR = re.compile(
    r".*(Token|Sentence|Paragraph|Segment|Annotation|MetaData|Lemma|Stem|Dependency)"
    r"|POS(_.*)?|MorphologicalFeatures|SurfaceForm|ROOT|Heading|Div"
)


def read_bioc(
    file: Any,
    reading: Reading,
    *,
    attribute: str = "type",
    tokens: str | None = None,
    scheme: SpanScheme = "BIO",
) -> Iterator[Read]:
    """Yield the sequences of BioC in XML; BioC in JSON are records.

    ``attribute`` is the key of the infon that has the type of an annotation.
    """
    passages = Passages(reading, tokens, scheme)
    # A passage that stands in another is read once.
    found = _root(file, reading).iter("passage")
    parts = (part for own in found for part in _parts(own, reading))
    for k, (part, annotations) in enumerate(parts):
        text, spans, said = part.findtext("text", ""), None, None
        if reading.labelled:
            offset = _number("offset", part.findtext("offset", "0"), file)
            notes = list(_notes(annotations, offset, attribute, file, reading))
            spans, said = [note[:3] for note in notes], [note[3] for note in notes]
        yield from passages.of(Document(k, text, spans, said=said))


def _parts(passage, reading):
    """Yield the parts of a passage that have a text, and their annotations.

    They are sentences, or the passage itself if it has what no sentence has.
    """
    own, sentences = passage.findall("annotation"), passage.findall("sentence")
    if own and passage.findtext("text") or not sentences:
        yield passage, [*own, *(x for s in sentences for x in s.findall("annotation"))]
        return
    for note in own:
        reading.note("annotation", _NO_PART, repr(note.get("id")))
    for sentence in sentences:
        yield sentence, sentence.findall("annotation")


def _notes(annotations, offset, attribute, file, reading):
    """Yield begin, end, type and text of the annotations of a part of a document."""
    for note in annotations:
        infons = {own.get("key"): own.text or "" for own in note.findall("infon")}
        if attribute not in infons:
            raise ValueError(
                f"{name_of(file)}: annotation {note.get('id')!r:.40} has no infon "
                f"{attribute!r:.40} among {', '.join(map(str, infons)) or 'none'}; "
                f"{reading.option('attribute')} names the one with the type."
            )
        places = [
            [_number(key, own.get(key), file) for key in ("offset", "length")]
            for own in note.findall("location")
        ]
        said = note.findtext("text") if len(places) == 1 else None
        for begin, length in places:
            yield begin - offset, begin - offset + length, infons[attribute], said


def read_xmi(
    file: Any,
    reading: Reading,
    *,
    types: Iterable[str] | None = None,
    attribute: str | None = None,
    tokens: str | None = None,
    scheme: SpanScheme = "BIO",
) -> Iterator[Read]:
    """Yield the sequences of the texts of UIMA, with the tokens that they have.

    The spans are NamedEntity, or what is no part of the grammar. ``attribute`` has the
    type of a span, "" if its name is the type.
    """
    passages = Passages(reading, tokens, scheme)
    elements = list(_root(file, reading))
    texts = {own.get(_ID): own.get(_TEXT) for own in elements if _TEXT in own.keys()}
    notes, only = defaultdict(list), next(iter(texts), None)
    for own in elements:
        if "begin" in own.keys():
            # A file with one text may not say that annotations are of this one.
            sofa = own.get("sofa") if len(texts) > 1 else only
            notes[sofa].append(own)
    names = dict.fromkeys(_name(own) for own in chain.from_iterable(notes.values()))
    wanted = _wanted(names, types, reading) if reading.labelled else set()
    for k, (sofa, text) in enumerate(texts.items()):
        units, spans = unit_offsets(text, UTF_16), None
        found = [
            Element(begin, end, _name(own), dict(own.items()))
            for own in notes[sofa]
            if _name(own) in {_TOKEN, *wanted}
            for begin, end in [_bounds(own, units, file)]
        ]
        offsets = _tokens(found, text, k, reading)
        if reading.labelled:
            own = [element for element in found if element.name in wanted]
            spans = list(_typed(own, attribute, reading))
        yield from passages.of(Document(k, text, spans, offsets))


def _tokens(elements, text, k, reading):
    """Return the offsets of the tokens among elements; None if there are none."""
    places = sorted((own.begin, own.end) for own in elements if own.name == _TOKEN)
    offsets = [(begin, end) for begin, end in places if 0 <= begin < end <= len(text)]
    if outside := set(places).difference(offsets):
        begin, end = min(outside)
        first = f"characters {begin} to {end} of document {k}"
        reading.note("token", OUTSIDE, first, n=len(outside))
    return offsets or None


def _wanted(names, types, reading):
    """Return the names of the annotations that are spans, and tell them."""
    if types is None:
        found = [name for name in names if not _GRAMMAR.fullmatch(name)]
        found = [_USUAL] if _USUAL in names else found
    else:
        found = [name for name in types if name in names]
    option = "types" if types is None else None
    reading.take("elements", " ".join(found) or "none", option=option)
    if not found:
        reading.odd(
            f"no annotation is a span; {reading.option('types')} names some of: "
            f"{', '.join(names) or 'none'}."
        )
    return set(found)


def _bounds(note, units, file):
    """Return the characters of an annotation, whose offsets count units."""
    begin, end = (_number(key, note.get(key), file) for key in ("begin", "end"))
    return in_characters(units, begin), in_characters(units, end)


def _typed(elements, attribute, reading):
    """Yield the spans of elements; tell the attributes with types that are guessed."""
    values: dict[str, set[str]] = {own.name: set() for own in elements}
    for own in elements:
        values[own.name] |= {name for name, value in own.attributes.items() if value}
    if attribute is not None:
        attributes = dict.fromkeys(values, attribute)
    else:
        attributes = {
            name: next((x for x in _VALUES if x in own), "")
            for name, own in values.items()
        }
        tell_attributes(attributes, reading)
    return typed(elements, attributes, reading)


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
