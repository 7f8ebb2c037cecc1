"""Records of annotated texts: JSON, rows of data sets, and documents of spaCy.

`record_forms` says which forms records may have.
"""

import json
from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from itertools import chain
from numbers import Integral
from typing import Any

from skcrf_sdca._utils.messages import counted
from skcrf_sdca._utils.typing import SpanScheme
from skcrf_sdca.data.containers import plain_column
from skcrf_sdca.data.tagging_schemes import are_labels as are_span_labels
from skcrf_sdca.text.core.files import BLANKS, is_source, numbered_lines, place
from skcrf_sdca.text.core.passages import Document, Passages, Read, TextSource
from skcrf_sdca.text.core.reading import Reading
from skcrf_sdca.text.spans.offsets import align_spans, char_spans, token_offsets

from .record_fields import field_of, is_list, is_mapping, is_text, list_of, value_of
from .record_forms import annotated, check_form
from .record_parts import Context

# Hugging Face data sets have this number at tokens without a label.
_NO_LABEL = -100
# What records of unknown forms may raise.
_OTHER_FORM = (LookupError, TypeError, AttributeError, ArithmeticError, RecursionError)


class Placed:
    """Records with their places, and the names of labels that are numbers.

    `features` is what a data set of Hugging Face says of its fields.
    """

    def __init__(
        self, records: Iterable[tuple[str, Any]], features: Any = None
    ) -> None:
        self.records = records
        self.features = features


def read_records(
    source: Any,
    reading: Reading,
    *,
    label: str | int | None = None,
    columns: Iterable[str] = (),
    tokens: str | None = None,
    scheme: SpanScheme = "BIO",
    form: str | None = None,
) -> Iterator[Read]:
    """Yield the sequences of records; `read_corpus` describes the options."""
    check_form(form)
    if not isinstance(source, Placed):
        features = getattr(source, "features", None)
        source = Placed(_placed(source, reading.encoding), features)
    passages = Passages(reading, tokens, scheme)
    columns = [name for name in columns if name != "word"]
    records = _Records(source.records)
    context = Context(reading, label, records.have_spans)
    are_rows = _are_rows(records, form, reading)
    k = 0
    for where, record in records:
        context.where = where
        with _told(where):
            own = _with_tuples(record) if are_rows else record
            for said in annotated(own, context, None if are_rows else form):
                if said.spans is None and said.words is not None:
                    yield _of_tokens(said, columns, k, source.features)
                else:
                    yield from passages.of(_document(said, k))
                k += 1
    context.tell()


@contextmanager
def _told(where):
    """Make all errors of records of unknown forms a ValueError with their place."""
    try:
        yield
    except KeyError as error:
        raise ValueError(f"{where}: there is no field {error}") from error
    except ValueError as error:
        raise ValueError(f"{where}: {error}") from error
    except _OTHER_FORM as error:
        raise ValueError(f"{where}: it has no form that is known: {error}") from error


def _placed(source, encoding):
    """Yield the records of a file or of an iterable, each with its place."""
    if not is_source(source):
        records = [source] if isinstance(source, Mapping) else _plain(source)
        for k, record in enumerate(records):
            yield f"record {k}", record
        return
    lines = (
        (n, line) for n, line in numbered_lines(source, encoding) if line.strip(BLANKS)
    )
    number, first = next(lines, (1, "[]"))
    try:
        record = json.loads(first)
    except (ValueError, RecursionError):
        # One value on several lines.
        text = "\n".join(chain([first], (line for _, line in lines)))
        record = _loaded(text, place(source, number))
    for k, own in enumerate(record if isinstance(record, list) else [record]):
        yield f"{place(source, number)}, record {k}", own
    for number, line in lines:
        where = place(source, number)
        yield where, _loaded(line, where)


def _plain(records):
    """Return a column of Arrow or Polars as a list; anything else as it is."""
    if hasattr(records, "to_pylist"):
        return records.to_pylist()
    return plain_column(records)


def _loaded(text, where):
    try:
        return json.loads(text)
    except ValueError as error:
        raise ValueError(f"{where}: no JSON, {error}.") from error
    except RecursionError as error:
        raise ValueError(f"{where}: the JSON is nested too deeply.") from error


class _Records:
    """Records with their places, which may be asked about what follows.

    Those up to the one that answers are kept, and not all.
    """

    def __init__(self, placed):
        self._later, self._known = iter(placed), deque()
        self._have_spans = False

    def __iter__(self):
        return self

    def __next__(self):
        where, record = self._known.popleft() if self._known else next(self._later)
        self._have_spans = self._have_spans or _has_spans(record)
        return where, record

    def ahead(self):
        """Yield the records that follow, which are still to be read."""
        yield from (record for _, record in list(self._known))
        for placed in self._later:
            self._known.append(placed)
            yield placed[1]

    def have_spans(self):
        """Return whether some record has spans."""
        self._have_spans = self._have_spans or any(map(_has_spans, self.ahead()))
        return self._have_spans


def _has_spans(record):
    """Return whether a record has a field of spans."""
    return field_of(record, "spans", is_list) is not None


def _are_rows(records, form, reading):
    """Return whether records are lists of tokens [word, ..., label], by the first.

    A list of two such lists may also be one of words and one of labels: then the next
    record tells, or whether the first records have labels of spans.
    """
    if form is not None:
        return form == "rows"
    pairs = []
    for own in records.ahead():
        widths = set(map(_width, own)) if isinstance(own, list) else {0}
        if len(widths | {0}) != 2:
            return False
        if len(own) != 2:
            return True
        pairs.append(own)
    as_rows = [[row[-1] for row in own] for own in pairs]
    as_lists = [own[1] for own in pairs]
    rows, lists = (are_span_labels(chain(*found)) for found in (as_rows, as_lists))
    if pairs and rows == lists:
        raise ValueError(
            f"{pairs[0]!r:.80} may be two tokens with labels, or words and labels: "
            f"say {reading.option('form', 'rows')} or "
            f"{reading.option('form', 'lists')}."
        )
    return bool(pairs) and rows


def _with_tuples(record):
    """Return a record, with tuples for the lists in a list."""
    if not isinstance(record, list):
        return record
    return [tuple(item) if isinstance(item, list) else item for item in record]


def _width(item):
    """Return the length of a list of str, 0 if it is none."""
    is_row = isinstance(item, list) and len(item) > 1 and all(map(is_text, item))
    return len(item) if is_row else 0


def _of_tokens(said, columns, k, features):
    """Return the sequence of a record that has tokens, with labels or without."""
    parts = {"word": said.words} | {n: _column(said.record, n) for n in columns}
    parts |= {} if said.labels is None else {"labels": said.labels}
    for name, part in parts.items():
        if len(part) != len(said.words):
            raise ValueError(
                f"{counted(len(said.words), 'token')}, but {name} has {len(part)}"
            )
    parts.pop("labels", None)
    rows = zip(*parts.values(), strict=True)
    tokens = [dict(zip(parts, map(str, row), strict=True)) for row in rows]
    labels = said.labels and _named(said.labels, said.field, features)
    return Read(tokens, labels, TextSource(k, said.text, said.offsets))


def _column(record, name):
    """Return a value for each token: of a field of the record, or of its tokens."""
    if name in record:
        return list(record[name])
    items = value_of(
        record, "word", list_of(lambda own: is_mapping(own) and name in own)
    )
    if items is None:
        raise ValueError(f"no field {name!r} among {', '.join(map(str, record))}")
    return [item[name] for item in items]


def _named(labels, field, features):
    """Return labels, by the names that a data set has for the numbers in a field."""
    feature = (features or {}).get(field)
    names = getattr(getattr(feature, "feature", feature), "names", None)
    return named([None if label == _NO_LABEL else label for label in labels], names)


def named(labels, names):
    """Return labels with names in place of their numbers; None is no names."""
    if names is None:
        return labels
    for label in labels:
        if isinstance(label, Integral) and not 0 <= label < len(names):
            raise ValueError(
                f"the label {label} has no name among the {len(names)} that are known"
            )
    return [names[x] if isinstance(x, Integral) else x for x in labels]


def _document(said, k):
    """Return the text of a record, its spans and its tokens, if it has these."""
    text, offsets, spans = said.text, said.offsets, said.spans
    if spans is None:
        return Document(k, text, None, offsets)
    bounds = [(own.type, own.begin, own.end) for own in spans]
    if text is None:
        if offsets is not None:
            bounds, others = align_spans(bounds, offsets)
            if others:
                raise ValueError(
                    f"the span {others[0]!r:.80} neither begins nor ends with tokens, "
                    "and there is no text"
                )
        text = " ".join(said.words)
        offsets = token_offsets(text, said.words)
        bounds = char_spans(bounds, offsets)
    found = [(begin, end, name) for name, begin, end in bounds]
    return Document(k, text, found, offsets, [own.said for own in spans])
