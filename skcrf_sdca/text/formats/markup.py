"""Texts with markup like XML or SGML, whose elements are spans."""

import html
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from itertools import chain

from skcrf_sdca._utils.typing import SpanScheme
from skcrf_sdca.text.core.column_names import candidates
from skcrf_sdca.text.core.files import place, whole_text
from skcrf_sdca.text.core.passages import Document, Passages, Read
from skcrf_sdca.text.core.reading import Reading

from .elements import Element, tell_attributes, typed

# What is not closed goes to the end, so that no part of it is searched twice.
_TAG = re.compile(
    r"<!--.*?(?:-->|(?P<open_comment>\Z))"
    r"|<!\[CDATA\[(?P<data>.*?)(?:\]\]>|(?P<open_data>\Z))"
    r"|<!DOCTYPE[^<>\[]*+\[.*?(?:\]\s*+>|(?P<open_type>\Z))"
    r"|<(?P<close>/?)(?P<name>[^\W\d][\w:.-]*+)"
    r"""(?P<rest>(?>(?:=\s*+(?:"[^"<]*+"|'[^'<]*+')|[^<>=]++|=)*))>"""
    r"|<[!?][^<>]*+>",
    flags=re.DOTALL,
)
_ATTRIBUTE = re.compile(
    r"""(?<![\w:.-])(?P<name>[\w:.-]++)\s*+=\s*+"""
    r"""(?:"(?P<double>[^"]*+)"|'(?P<single>[^']*+)'|(?P<bare>[^"'\s>]++))"""
)
# Word processors write these for straight ones.
_CURLY_QUOTES = "\u201c\u201d\u201e\u2018\u2019"
# Elements that hold sentences, also if they hold no other elements.
_BLOCKS = set(
    "s sent sentence p par paragraph doc document text txt body head headline hl div "
    "section title root corpus docno docid date_time storyid slug nwords".split()
)
_NO_END = "left out: they have no end"


def read_markup(
    file: object,
    reading: Reading,
    *,
    types: Iterable[str] | None = None,
    attribute: str | None = None,
    tokens: str | None = None,
    scheme: SpanScheme = "BIO",
) -> Iterator[Read]:
    """Yield a sequence for each line or element of a text with tags like XML.

    ``attribute`` is what has the type of an element, "" if its name is the type.
    """
    passages = Passages(reading, tokens, scheme)
    source = whole_text(file, reading.encoding)
    tags = list(_tags(source, file))
    elements = list(_elements(tags, source, file))
    wanted = _span_names(tags, source, elements) if types is None else set(types)
    text, found = _without_tags(tags, source, elements, wanted)
    spans = None
    if reading.labelled:
        _tell_names(elements, wanted, types, reading)
        for tag in _unended(tags, elements, wanted):
            where = f"{tag.group()!r:.40} in {_place(file, source, tag)}"
            reading.note("element", _NO_END, where)
        if attribute is None:
            attribute = _guessed_attribute(found)
            tell_attributes({own.name: attribute for own in found}, reading)
            _tell_values(found, attribute, reading)
        spans = list(typed(found, {own.name: attribute for own in found}, reading))
    yield from passages.of(Document(0, text, spans))


def _tags(source, file):
    """Yield the matches of tags, comments and so on, all of which are closed."""
    for tag in _TAG.finditer(source):
        if (tag.lastgroup or "").startswith("open"):
            begin = source[tag.start() :].split(maxsplit=1)[0]
            raise ValueError(f"{_place(file, source, tag)}: {begin!r:.20} has no end.")
        yield tag


def _place(file, source, tag):
    return place(file, source.count("\n", 0, tag.start()) + 1)


def _elements(tags, source, file):
    """Yield the tags that open and close each element, and whether it holds others.

    They come in the order in which elements are closed. An empty element, or one that
    is never closed, is no element.
    """
    opened, n_open = [], Counter()
    for tag in tags:
        name = tag["name"]
        if name is None or tag["rest"].endswith("/"):
            continue
        if not tag["close"]:
            if opened:
                opened[-1] = opened[-1][0], True
            opened.append((tag, False))
            n_open[name] += 1
            continue
        if not n_open[name]:
            where = _place(file, source, tag)
            raise ValueError(f"{where}: {tag.group()!r:.40} closes nothing.")
        while True:
            own, holds = opened.pop()
            n_open[own["name"]] -= 1
            if own["name"] == name:
                break
        yield own, tag, holds


def _span_names(tags, source, elements):
    """Return the names of the elements that are spans.

    They hold no other elements, or some do, but there is text outside of them. Of names
    that hold sentences none is a span.
    """
    holding = {tag["name"] for tag, _, holds in elements if holds}
    leaves = {tag["name"] for tag, _, holds in elements if not holds}
    around = _with_text_around(tags, source, elements, leaves & holding)
    return {n for n in leaves - holding | around if n.lower() not in _BLOCKS}


def _with_text_around(tags, source, elements, names):
    """Return those of some names outside of whose elements there is text."""
    opening = {first.start() for first, _, _ in elements}
    closing = {last.start() for _, last, _ in elements}
    closed, around, depth, end = set(names), set(), Counter(), 0
    for tag in tags:
        if closed and source[end : tag.start()].strip():
            around |= closed
            closed.clear()
        name, end = tag["name"], tag.end()
        if name in names and name not in around:
            depth[name] += (tag.start() in opening) - (tag.start() in closing)
            (closed.discard if depth[name] else closed.add)(name)
    return around | closed if source[end:].strip() else around


def _without_tags(tags, source, elements, wanted):
    """Return the text, with line breaks after elements that are no spans, and spans."""
    partner = {last.start(): first.start() for first, last, _ in elements}
    parts, begins, spans, size, end = [], {}, [], 0, 0
    for tag in [*tags, None]:
        stop = len(source) if tag is None else tag.start()
        parts.append(html.unescape(source[end:stop]))
        size += len(parts[-1])
        if tag is None:
            break
        end = tag.end()
        first = partner.get(tag.start())
        if first is None:
            begins[tag.start()] = size, tag
            parts.append(tag["data"] or "")
            size += len(parts[-1])
        elif tag["name"] in wanted:
            begin, opening = begins[first]
            own = _attributes(opening["rest"])
            spans.append(Element(begin, size, tag["name"], own))
        else:
            parts.append("\n")
            size += 1
    return "".join(parts), [own for own in spans if own.begin < own.end]


def _attributes(text):
    """Return the attributes of a tag, by their names."""
    return {
        found["name"]: html.unescape(
            found["double"]
            or found["single"]
            or (found["bare"] or "").strip(_CURLY_QUOTES)
        )
        for found in _ATTRIBUTE.finditer(text)
    }


def _unended(tags, elements, wanted):
    """Return the tags that open wanted elements which have no end."""
    ended = {first.start() for first, _, _ in elements}
    opening = (tag for tag in tags if tag["name"] in wanted and not tag["close"])
    return [t for t in opening if t.start() not in ended and t["rest"][-1:] != "/"]


def _tell_names(elements, wanted, types, reading):
    """Tell the names of the elements that are spans."""
    known = {tag["name"] for tag, _, _ in elements}
    names, is_guessed = " ".join(sorted(wanted & known)), types is None
    reading.take("elements", names or "none", option="types" if is_guessed else None)
    if not names and not is_guessed:
        reading.odd(
            f"{reading.option('types')} names no element of the file, which has: "
            f"{', '.join(sorted(known)) or 'none'}."
        )


def _guessed_attribute(elements):
    """Return the name of the attribute that has the types, or "".

    It is called TYPE or alike. It is none if elements of other names have equal values:
    then the names are types, and the attribute has what is finer.
    """
    names = Counter(name for own in elements for name in own.attributes)
    for name in candidates(names, "type"):
        values = defaultdict(set)
        for own in elements:
            values[own.attributes.get(name)].add(own.name)
        one_element = len({own.name for own in elements}) == 1
        if all(len(found) == 1 for found in values.values()) and (
            name.lower() == "type" or (one_element and len(values) > 1)
        ):
            return name
    return ""


def _tell_values(elements, attribute, reading):
    """Tell an attribute with some values, if all elements have one type."""
    if attribute or len({own.name for own in elements}) != 1:
        return
    values = defaultdict(set)
    for own in elements:
        for name, value in own.attributes.items():
            values[name].add(value)
    for name, found in values.items():
        # Numbers tell elements apart.
        if len(found) > 1 and not any(map(str.isdigit, chain.from_iterable(found))):
            reading.odd(
                f"all {len(elements)} spans are {elements[0].name!r:.40}, but their "
                f"attribute {name} has {len(found)} values, such as "
                f"{min(found)!r:.40}; {reading.option('attribute')} names the one that "
                "is the type."
            )
