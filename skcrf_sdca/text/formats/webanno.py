"""Tables of WebAnno and INCEpTION, version 3: a line for each token, layers beside it.

A layer has a column for each of its features. In a cell a bar separates annotations of
one token, a number as in "PER[1]" is the one of a span, also in the next cells, and a
backslash stands before signs that are meant themselves. The format:
https://webanno.github.io/webanno/releases/3.4.5/docs/user-guide.html#sect_webannotsv.
"""

import re
from collections.abc import Iterator
from typing import Any, NamedTuple

from skcrf_sdca._utils.messages import alternatives
from skcrf_sdca._utils.typing import SpanScheme
from skcrf_sdca.text.core.files import BLANKS, numbered_lines, place
from skcrf_sdca.text.core.passages import Document, Passages, Read, TextSource
from skcrf_sdca.text.core.reading import Reading
from skcrf_sdca.text.spans.offsets import token_offsets
from skcrf_sdca.text.spans.units import UTF_16, in_characters, unit_offsets

_HEADER = "#FORMAT=WebAnno TSV 3"
_LAYER = re.compile(r"#T_(?P<kind>SP|CH|RL)=(?P<name>[^|]*)\|?(?P<features>.*)")
# A token, or after a point a part of it.
_TOKEN = re.compile(r"(?P<token>\d+-\d+)(?P<part>\.\d+)?")
_BOUNDS = re.compile(r"(\d{1,9})-(\d{1,9})")
_VALUE = re.compile(
    r"(?P<value>(?>(?:\\.|[^\\|\[]++|\\$|\[(?!\d++\](?:\||$)))*))"
    r"(?:\[(?P<number>\d++)\])?(?:\||$)",
    flags=re.DOTALL,
)
_ESCAPED = re.compile(r"\\(->|.)", flags=re.DOTALL)
# A token without an annotation, and an annotation without a value.
_NOTHING, _NO_VALUE = {"_", ""}, "*"
# Numbers, offsets and words stand before the layers.
_N_FIRST = 3
# Layers that name tokens, not spans; the likeliest to be wanted last.
_OF_TOKENS = ("MorphologicalFeatures", "POS", "Lemma", "Stem", "SurfaceForm")
# Features of a layer that are the type of a span, the likeliest first.
_TYPES = ("value", "label", "type", "category", "PosValue")
_CUT = "cut: they go on in the next sentence"
_SEVERAL = "with several values, of which the first of the whole token is read"
_UNNAMED = "called by their layer: they have no value"


class Feature(NamedTuple):
    """A feature of a layer, the kind of the layer, and the number of its column."""

    layer: str
    name: str
    kind: str
    column: int

    @property
    def short(self):
        """The name of the layer without what stands before its last point."""
        return self.layer.rpartition(".")[2]

    @property
    def is_type(self):
        """Whether it may be the type of spans: no link, no target, no identifier."""
        is_link = self.name.startswith("ROLE_") or "." in self.name
        return self.kind == "SP" and not is_link and self.name != "identifier"

    @property
    def names(self):
        """What it may be called by."""
        whole = (f"{layer}|{self.name}" for layer in (self.layer, self.short))
        return {self.layer, self.short, self.name, *whole}

    @property
    def rank(self):
        """How likely it is wanted: the less the likelier."""
        layer = 1 if self.layer.startswith("webanno.custom.") else 2
        if self.short in _OF_TOKENS:
            layer = 3 + _OF_TOKENS.index(self.short)
        layer = 0 if self.short == "NamedEntity" else layer
        name = _TYPES.index(self.name) if self.name in _TYPES else len(_TYPES)
        return layer, name, self.column

    def __str__(self):
        """Return the names of the layer and the feature, as in the header."""
        return f"{self.short}|{self.name}" if self.name else self.short


def read_webanno(
    file: Any, reading: Reading, *, label: str | None = None, scheme: SpanScheme = "BIO"
) -> Iterator[Read]:
    """Yield the sequences of a table.

    ``label`` is a layer, "layer|feature" or a feature; by default the layer is
    NamedEntity, or another one of spans. Layers of tokens have bare labels.
    """
    passages, layers = Passages(reading, None, scheme), None
    before: set[Any] = set()
    for k, (features, lines) in enumerate(_sentences(file, reading)):
        words = [line.row[2] for line in lines if line.part is None]
        text = " ".join(words)
        offsets = token_offsets(text, words)
        if not reading.labelled:
            yield from passages.of(Document(k, text, None, offsets))
            continue
        if features is not layers:
            chosen = _chosen(features, label, lines[0].where, reading)
            layers, before = features, set()
        if chosen.short in _OF_TOKENS:
            labels = _labels(lines, chosen.column, reading)
            tokens = [{"word": word} for word in words]
            yield Read(tokens, labels, TextSource(k, text, offsets))
            continue
        marks = list(_marks(lines, offsets, chosen, reading))
        before = _told_cuts(marks, before, lines[0].where, reading)
        yield from passages.of(Document(k, text, _spans(marks), offsets))


def _told_cuts(marks, before, where, reading):
    """Return the numbers of the spans of a sentence; tell those that go on in it."""
    numbers = {mark.number for mark in marks if mark.number.isdecimal()}
    if goes_on := numbers & before:
        first = f"[{min(goes_on)}], cut before {where}"
        reading.note("span", _CUT, first, n=len(goes_on))
    return numbers


class Line(NamedTuple):
    """The columns of a token, or of a part of one, and where they are."""

    row: list[str]
    part: str | None
    where: str


def _sentences(file, reading):
    """Yield the features of the layers, and the Lines of each sentence."""
    features: list[Feature] | None = None
    lines: list[Line] = []
    for number, text in numbered_lines(file, reading.encoding):
        where = place(file, number)
        if lines and (text.startswith("#") or not text.strip(BLANKS)):
            yield features, lines
            lines = []
        if text.startswith(_HEADER):
            features = []
        elif features is None and text.strip(BLANKS):
            raise ValueError(
                f"{where}: a table begins with {_HEADER!r}, not {text!r:.80}."
            )
        elif layer := _LAYER.fullmatch(text):
            names, n = layer["features"].split("|"), _N_FIRST + len(features)
            features += [
                Feature(layer["name"], name, layer["kind"], n + k)
                for k, name in enumerate(names)
            ]
        elif text.strip(BLANKS) and not text.startswith("#"):
            lines.append(_line(text, features, lines, where))
    if lines:
        yield features, lines


def _line(text, features, before, where):
    """Return the Line of a text; ValueError if it is none."""
    # WebAnno ends each line by a tab.
    row = text.removesuffix("\t").split("\t")
    found, n = _TOKEN.fullmatch(row[0]), _N_FIRST + len(features)
    is_wrong = len(row) != n or not found or not _BOUNDS.fullmatch(row[1])
    if is_wrong or not row[2] or (found["part"] and not before):
        raise ValueError(
            f"{where}: no number, offsets, token and {len(features)} features, but "
            f"{text!r:.80}."
        )
    return Line(row, found["part"], where)


def _chosen(features, label, where, reading):
    """Return the Feature that is the type of spans, and tell which one it is."""
    known = [own for own in features if own.is_type]
    found = [own for own in known if label is None or label in own.names]
    if not found:
        names = [name for own in known for name in (own.short, str(own), own.name)]
        what = "with types of spans" if label is None else f"or feature {label!r}"
        raise ValueError(
            f"{where}: there is no layer {what}{alternatives(label or '', names)}."
        )
    chosen = min(found, key=lambda own: own.rank)
    reading.take("layer", str(chosen), option="label" if len(found) > 1 else None)
    others = {
        str(own) if own.layer == chosen.layer else own.short: None
        for own in features
        if own is not chosen
    }
    if others:
        reading.take("dropped", " ".join(others))
    return chosen


class Mark(NamedTuple):
    """The number of a span, its type, and the characters that it has in a token."""

    number: str
    type: str
    begin: int
    end: int


def _marks(lines, offsets, feature, reading):
    """Yield the Marks of the tokens of a sentence, and of their parts."""
    t = -1
    for n, (row, part, where) in enumerate(lines):
        t += part is None
        begin, end = offsets[t]
        if part is None:
            token = row
        else:
            begin, end = _within(token, row, begin)
        for k, (value, number) in enumerate(_values(row[feature.column])):
            if value == _NO_VALUE:
                if feature.name:
                    reading.note("span", _UNNAMED, f"in {where}")
                value = feature.short
            yield Mark(number or f"{n}.{k}", _ESCAPED.sub(r"\1", value), begin, end)


def _within(token, part, begin):
    """Return the characters of a part of a token that begins at a character."""
    units = unit_offsets(token[2], UTF_16)
    start = int(_BOUNDS.fullmatch(token[1])[1])
    bounds = map(int, _BOUNDS.fullmatch(part[1]).groups())
    return [begin + in_characters(units, own - start) for own in bounds]


def _values(cell):
    """Yield the values of a cell that are some, and their numbers, or None."""
    for found in _VALUE.finditer(cell):
        if found["value"] not in _NOTHING:
            yield found["value"], found["number"]


def _labels(lines, column, reading):
    """Return the labels of tokens in a layer of tokens; None where there is none."""
    labels = []
    for row, part, where in lines:
        values = [own for own, _ in _values(row[column]) if own != _NO_VALUE]
        if values and (part is not None or len(values) > 1):
            reading.note("token", _SEVERAL, f"in {where}")
        if part is None:
            labels.append(_ESCAPED.sub(r"\1", values[0]) if values else None)
    return labels


def _spans(marks):
    """Return the spans (begin, end, type) that marks are of."""
    found: dict[tuple[str, str], tuple[int, int]] = {}
    for number, name, begin, end in marks:
        first, _ = found.setdefault((number, name), (begin, end))
        found[number, name] = first, end
    return [(begin, end, name) for (_, name), (begin, end) in found.items()]
