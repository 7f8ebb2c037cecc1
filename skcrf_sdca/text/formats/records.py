"""Records of annotated texts: JSON, rows of data sets, and documents of spaCy.

A record has tokens and their labels, or a text and its spans. Programs nest records in
others, and have other names for fields: `NESTED` and ROLES of `column_names` say
which.
"""

import json
from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from itertools import chain
from numbers import Integral
from typing import Any, NamedTuple

from skcrf_sdca._utils.messages import counted, described
from skcrf_sdca._utils.typing import SpanScheme
from skcrf_sdca.data.spans import TYPED
from skcrf_sdca.text.core.column_names import candidates
from skcrf_sdca.text.core.files import BLANKS, is_source, numbered_lines, place
from skcrf_sdca.text.core.layouts import default_columns
from skcrf_sdca.text.core.passages import Document, Passages, Read, TextSource
from skcrf_sdca.text.core.reading import Reading
from skcrf_sdca.text.spans.offsets import Offsets, char_spans, token_offsets
from skcrf_sdca.text.spans.units import by_characters

from .nested_records import NESTED, is_text

# Hugging Face data sets have this number at tokens without a label.
_NO_LABEL = -100
# What annotators of Prodigy answer where a record is not to be used.
_UNUSED = {"reject", "ignore"}


def read_records(
    source: Any,
    reading: Reading,
    *,
    label: str | None = None,
    columns: Iterable[str] = (),
    tokens: str | None = None,
    scheme: SpanScheme = "BIO",
) -> Iterator[Read]:
    """Yield the sequences of records; `read_corpus` describes the options."""
    passages, columns = (
        Passages(reading, tokens, scheme),
        [c for c in columns if c != "word"],
    )
    records = _Records(_placed(source, reading.encoding))
    may_be_rows = reading.labelled or not is_source(source)
    are_rows = may_be_rows and _are_rows(records)
    k = 0
    for where, nested in records:
        own = _with_tuples(nested) if are_rows else nested
        try:
            for record in map(_with_words, _plain(own)):
                words = _words(record)
                tags = _tags(record, words, label) if reading.labelled else None
                if words is not None and (tags or not reading.labelled):
                    labels = tags and _named(tags[0], tags[1], source)
                    yield _of_tokens(record, words, labels, columns, k)
                else:
                    document = _document(record, words, reading.labelled, records, k)
                    yield from passages.of(document)
                k += 1
        except KeyError as error:
            raise ValueError(f"{where}: there is no field {error}") from error
        except (TypeError, ValueError) as error:
            raise ValueError(f"{where}: {error}") from error


class Words(NamedTuple):
    """The tokens of a record, their offsets and labels if it has these with them."""

    words: list[str]
    offsets: Offsets | None = None
    tags: list[Any] | None = None


def _placed(source, encoding):
    """Yield the records of a file or of an iterable, each with its place."""
    if not is_source(source):
        for k, record in enumerate(_rows(source)):
            yield f"record {k}", record
        return
    lines = (
        (n, line) for n, line in numbered_lines(source, encoding) if line.strip(BLANKS)
    )
    number, first = next(lines, (1, "[]"))
    try:
        record = json.loads(first)
    except ValueError:
        # One value on several lines.
        text = "\n".join(chain([first], (line for _, line in lines)))
        record = _loaded(text, place(source, number))
    are_columns = isinstance(record, Mapping) and all(map(_is_list, record.values()))
    if are_columns and not NESTED.keys() & record.keys():
        record = _rows(record)
    for k, own in enumerate(record if isinstance(record, list) else [record]):
        yield f"{place(source, number)}, record {k}", own
    for number, line in lines:
        where = place(source, number)
        yield where, _loaded(line, where)


def _loaded(text, where):
    try:
        return json.loads(text)
    except ValueError as error:
        raise ValueError(f"{where}: no JSON, {error}.") from error


def _rows(source):
    """Return an iterable of records; columns of equal length become rows."""
    if not isinstance(source, Mapping):
        return source
    columns = [list(column) for column in source.values()]
    if not NESTED.keys() & source.keys() and any(
        column and isinstance(column[0], Mapping) for column in columns
    ):
        raise ValueError(
            f"the data set has the parts {', '.join(map(str, source))}: read one."
        )
    if any(isinstance(column[0], (Mapping, str)) for column in columns if column):
        return [source]
    rows = zip(*columns, strict=True)
    return [dict(zip(source, row, strict=True)) for row in rows]


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


def _are_rows(records):
    """Return whether records are lists of tokens [word, ..., label], by the first.

    A list of two such lists may also be one of words and one of labels: then the next
    record tells.
    """
    for own in records.ahead():
        widths = set(map(_width, own)) if isinstance(own, list) else {0}
        if len(widths | {0}) != 2:
            return False
        if len(own) != 2:
            return True
    return False


def _with_tuples(record):
    """Return a record, with tuples for the lists in a list."""
    if not isinstance(record, list):
        return record
    return [tuple(item) if isinstance(item, list) else item for item in record]


def _width(item):
    """Return the length of a list of str, 0 if it is none."""
    is_row = isinstance(item, list) and len(item) > 1 and all(map(is_text, item))
    return len(item) if is_row else 0


def _has_spans(record):
    """Return whether a record has a field of spans."""
    is_mapping = isinstance(record, Mapping)
    return is_mapping and _field(record, "spans", _is_list) is not None


def _with_words(record):
    """Return a record with lists if its text has one label for each word."""
    text = _field(record, "text", is_text)
    if text is None or _field(record, "word", _is_list) is not None:
        return record
    words = text.split()
    for name in candidates(record, "label"):
        labels = record[name]
        labels = labels.split() if is_text(labels) else labels
        if _are_labels(labels) and len(labels) == len(words) > 0:
            return {**record, "tokens": words, name: list(labels)}
    return record


def _plain(record):
    """Yield the mappings with tokens or a text that a record is made of."""
    if hasattr(record, "ents"):
        record = _of_spacy(record)
    elif isinstance(record, (list, tuple)):
        record = _of_mappings(record) or _of_tuples(record) or _of_pair(record)
    if not isinstance(record, Mapping):
        raise TypeError(
            f"a record must be a mapping such as {{'tokens': [...], 'tags': [...]}} or "
            f"{{'text': ..., 'spans': [...]}}, a pair of a text and its spans, or a "
            f"Doc of spaCy; it is {described(record)}"
        )
    if record.get("answer") in _UNUSED:
        return
    for key, unnested in NESTED.items():
        if isinstance(record.get(key), (list, Mapping)):
            found = unnested(record, record[key])
            if found is not None:
                for inner in found:
                    yield from _plain(inner)
                return
    yield record


def _of_mappings(items):
    """Return the record of tokens that are mappings, or None."""
    are_tokens = items and all(isinstance(item, Mapping) for item in items)
    return {"tokens": items} if are_tokens else None


def _of_tuples(items):
    """Return the record of tokens that are tuples (word, ..., label), or None."""
    is_rows = items and all(isinstance(item, tuple) for item in items)
    if not is_rows or not all(isinstance(x, str) for item in items for x in item):
        return None
    if len(set(map(len, items))) > 1:
        raise ValueError("its tokens have different numbers of columns")
    parts = [list(column) for column in zip(*items, strict=True)]
    names = [*default_columns(len(parts) - 1), "label"][: len(parts)]
    return dict(zip(names, parts, strict=True))


def _of_pair(pair):
    """Return the record of words and labels, or of a text and spans; or the pair."""
    if len(pair) != 2:
        return pair
    first, second = pair
    if isinstance(second, Mapping):
        return {"text": first, **second}
    return (
        {"text": first, "spans": second}
        if is_text(first)
        else {
            "tokens": first,
            "labels": second,
        }
    )


def _of_spacy(doc):
    tokens = [
        {"text": token.text, "start": token.idx, "end": token.idx + len(token.text)}
        for token in doc
    ]
    spans = [(span.start_char, span.end_char, span.label_) for span in doc.ents]
    return {"text": doc.text, "tokens": tokens, "spans": spans}


def _field(record, role, is_wanted):
    """Return the first value of a record that has a role and is wanted, or None."""
    for name in candidates(record, role):
        if is_wanted(record[name]):
            return record[name]
    return None


def _values(record, name):
    if name not in record:
        raise ValueError(f"no field {name!r} among {', '.join(map(str, record))}")
    return list(record[name])


def _is_number(value):
    return isinstance(value, Integral)


def _is_list(value):
    return isinstance(value, (list, tuple)) or hasattr(value, "tolist")


def _are_labels(value):
    return _is_list(value) and all(
        x is None or isinstance(x, (str, Integral)) for x in value
    )


def _words(record):
    """Return the Words of a record, or None if it has no tokens."""
    items = _field(record, "word", _is_list)
    if items is None:
        return None
    items = list(items)
    if not items or not all(isinstance(item, Mapping) for item in items):
        return Words([_checked_word(item) for item in items])
    text = _field(record, "text", is_text) or ""
    words, begins, tags = zip(*(_token(item, text) for item in items), strict=True)
    offsets = None
    if None not in begins:
        offsets = [(b, b + len(w)) for b, w in zip(begins, words, strict=True)]
    return Words(list(words), offsets, None if None in tags else list(tags))


def _checked_word(item):
    if not isinstance(item, str):
        raise TypeError(f"a token must be a str or a mapping; it is {described(item)}")
    return item


def _token(item, text):
    """Return the text of a token, where it begins and its label; None if unknown."""
    begin, end = (_field(item, role, _is_number) for role in ("begin", "end"))
    word = _field(item, "word", is_text)
    if word is None and None not in (begin, end):
        word = text[begin:end]
    return _checked_word(word), begin, _field(item, "label", is_text)


def _tags(record, words, label):
    """Return the labels of the tokens, and the field that has them, or None."""
    if words is None:
        return None
    if label is not None:
        return _values(record, label), label
    if words.tags is not None:
        return words.tags, None
    for name in candidates(record, "label"):
        if _are_labels(record[name]) and len(record[name]) + len(words.words):
            return list(record[name]), name
    return None


def _named(tags, field, source):
    """Return labels, by the names that a data set has for the numbers in a field."""
    feature = (getattr(source, "features", None) or {}).get(field)
    names = getattr(getattr(feature, "feature", feature), "names", None)
    return named([None if tag == _NO_LABEL else tag for tag in tags], names)


def named(labels, names):
    """Return labels with names in place of their numbers; None is no names."""
    if names is None:
        return labels
    return [names[x] if isinstance(x, Integral) else x for x in labels]


def _of_tokens(record, words, labels, columns, k):
    """Return the sequence of a record that has tokens, with labels or without."""
    parts = {"word": words.words} | {name: _values(record, name) for name in columns}
    parts |= {} if labels is None else {"labels": labels}
    for name, part in parts.items():
        if len(part) != len(words.words):
            raise ValueError(
                f"{counted(len(words.words), 'token')}, but {name} has {len(part)}"
            )
    parts.pop("labels", None)
    rows = zip(*parts.values(), strict=True)
    tokens = [dict(zip(parts, map(str, row), strict=True)) for row in rows]
    text = _field(record, "text", is_text)
    return Read(tokens, labels, TextSource(k, text, words.offsets))


def _document(record, words, labelled, records, k):
    """Return the text of a record, one of some, with its spans."""
    text, spans = _field(record, "text", is_text), None
    if labelled:
        found = _field(record, "spans", _is_list)
        # Label Studio leaves the field out where there are no spans.
        if found is None and "answer" not in record and not records.have_spans():
            raise ValueError(_missing(record))
        spans = [_span(span) for span in found or ()]
        spans = by_characters(text or "", spans, list(map(_said, found or ())))
    if words is None:
        if text is None:
            raise ValueError(_missing(record))
        return Document(k, text, spans)
    if text is not None:
        offsets = words.offsets or token_offsets(text, words.words)
        return Document(k, text, spans, offsets)
    # Such spans count tokens.
    text = " ".join(words.words)
    offsets = token_offsets(text, words.words)
    spans = spans and [
        (b, e, t) for t, b, e in char_spans([(t, b, e) for b, e, t in spans], offsets)
    ]
    return Document(k, text, spans, offsets)


def _missing(record):
    return (
        "no tokens with labels, and no text with spans, in a record with "
        f"{', '.join(map(str, record))}; label= names the field of the labels, and "
        "labelled=False reads none"
    )


def _said(span):
    """Return what a program says that the text of a span is, or None."""
    is_mapping = isinstance(span, Mapping)
    return _field(span, "surface", is_text) if is_mapping else None


def _span(span):
    """Return begin, end and type of a span in one of the forms that programs write."""
    if not isinstance(span, Mapping):
        return TYPED.read(span)
    begin, end, length = (
        _field(span, role, _is_number) for role in ("begin", "end", "length")
    )
    if end is None and None not in (begin, length):
        end = begin + length
    name = _field(span, "type", lambda value: value not in (None, []))
    name = name[0] if isinstance(name, list) else name
    if isinstance(name, Mapping):
        name = _field(name, "type", is_text)
    if None in (begin, end, name):
        raise ValueError(f"a span needs its begin, end and type; it is {span!r:.120}")
    return begin, end, str(name)
