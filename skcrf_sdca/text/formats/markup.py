"""Texts with markup like XML or SGML, whose elements are spans."""

import html
import re
from collections import Counter
from collections.abc import Iterable, Iterator

from skcrf_sdca._utils.typing import SpanScheme
from skcrf_sdca.text.core.files import place, whole_text
from skcrf_sdca.text.core.passages import Document, Passages, Read
from skcrf_sdca.text.core.reading import Reading

# What is not closed goes to the end, so that no part of it is searched twice.
_TAG = re.compile(
    r"<!--.*?(?:-->|(?P<open_comment>\Z))"
    r"|<!\[CDATA\[(?P<data>.*?)(?:\]\]>|(?P<open_data>\Z))"
    r"|<!DOCTYPE[^<>\[]*+\[.*?(?:\]\s*+>|(?P<open_type>\Z))"
    r"|<(?P<close>/?)(?P<name>[^\W\d][\w:.-]*+)"
    r"""(?P<rest>(?:=\s*+(?:"[^"<]*+"|'[^'<]*+')|[^<>])*+)>"""
    r"|<[!?][^<>]*+>",
    flags=re.DOTALL,
)
_TYPE = re.compile(r"""\btype\s*=\s*["']?(?P<type>[^"'\s>]+)""", re.IGNORECASE)
# Elements that hold sentences, also if they hold no other elements.
_BLOCKS = set(
    "s sent sentence p par paragraph doc document text txt body head headline hl div "
    "section title root corpus docno docid date_time storyid slug nwords".split()
)


def read_markup(
    file: object,
    reading: Reading,
    *,
    types: Iterable[str] | None = None,
    tokens: str | None = None,
    scheme: SpanScheme = "BIO",
) -> Iterator[Read]:
    """Yield a sequence for each line or element of a text with tags like XML."""
    passages = Passages(reading, tokens, scheme)
    source = whole_text(file, reading.encoding)
    tags = list(_tags(source, file))
    elements = list(_elements(tags, source, file))
    wanted = _span_names(elements) if types is None else set(types)
    text, spans = _without_tags(tags, source, elements, wanted)
    yield from passages.of(Document(0, text, spans if reading.labelled else None))


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


def _span_names(elements):
    """Return the names of the elements that are spans: they hold no other elements."""
    names = {tag["name"] for tag, _, _ in elements}
    holders = {tag["name"] for tag, _, holds in elements if holds}
    return {n for n in names - holders if n.lower() not in _BLOCKS}


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
            found = _TYPE.search(opening["rest"])
            spans.append((begin, size, found["type"] if found else tag["name"]))
        else:
            parts.append("\n")
            size += 1
    return "".join(parts), [span for span in spans if span[0] < span[1]]
