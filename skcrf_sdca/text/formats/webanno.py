"""Tables of WebAnno and INCEpTION, version 3: a line for each token, layers beside it.

A value such as "PER[1]" is of one span with all neighbours that have this number;
without a number it is of a span of one token.
"""

import re
from collections.abc import Iterator
from itertools import groupby
from typing import Any

from skcrf_sdca._utils.messages import alternatives
from skcrf_sdca._utils.typing import SpanScheme
from skcrf_sdca.text.core.files import blocks, numbered_lines, place
from skcrf_sdca.text.core.passages import Document, Passages, Read
from skcrf_sdca.text.core.reading import Reading
from skcrf_sdca.text.spans.offsets import char_spans, token_offsets

_TOKEN = re.compile(r"\d+-\d+\t")
_LAYER = re.compile(r"#T_SP=(?P<name>[^|]*)\|(?P<features>.*)")
_NUMBERED = re.compile(r"(?P<type>.*?)\[(?P<number>\d+)\]")
# Values of tokens without a span, and of spans without a type.
_NOTHING = {"_", "", "*"}
# Numbers, offsets and words stand before the layers.
_N_FIRST = 3


def read_webanno(
    file: Any,
    reading: Reading,
    *,
    label: str | None = None,
    scheme: SpanScheme = "BIO",
) -> Iterator[Read]:
    """Yield the sequences; ``label`` is a feature, by default "value" or the first."""
    passages, column, k = Passages(reading, None, scheme), None, 0
    features: list[str] = []
    for block in blocks(numbered_lines(file, reading.encoding)):
        for _, line in block:
            layer = _LAYER.match(line)
            features += layer["features"].split("|") if layer else []
        rows = [line.split("\t") for _, line in block if _TOKEN.match(line)]
        if not rows:
            continue
        if column is None and reading.labelled:
            column = _N_FIRST + _chosen(features, label, place(file, block[0][0]))
        words = [row[2] for row in rows]
        text = " ".join(words)
        offsets = token_offsets(text, words)
        spans = None
        if reading.labelled:
            found = list(_spans([row[column] for row in rows]))
            spans = [(b, e, t) for t, b, e in char_spans(found, offsets)]
        yield from passages.of(Document(k, text, spans, offsets))
        k += 1


def _chosen(features, label, where):
    """Return the number of a feature among those of all layers."""
    usual = "value" if "value" in features else features[0] if features else None
    name = usual if label is None else label
    if name not in features:
        known = alternatives(name, features) if features else ""
        raise ValueError(f"{where}: no layer has a feature {name!r}{known}.")
    return features.index(name)


def _spans(values):
    """Yield the spans (type, begin, end) of tokens with the values of a feature."""
    marks = [(mark, t) for t, value in enumerate(values) for mark in _marks(value, t)]
    # Sorted, those of one span follow each other.
    for (name, _), own in groupby(sorted(marks), key=lambda mark: mark[0]):
        places = [t for _, t in own]
        yield name, places[0], places[-1] + 1


def _marks(value, t):
    """Yield the type and the number of each span of a token."""
    for part in value.split("|"):
        found = _NUMBERED.fullmatch(part)
        name, number = (found["type"], found["number"]) if found else (part, f"-{t}")
        if name not in _NOTHING:
            yield name.replace("\\", ""), number
