"""What records of any program have: texts, tokens, and labels or spans of these.

These are the parts that forms are made of, and how they are read.
"""

from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from skcrf_sdca.text.core.column_names import candidates
from skcrf_sdca.text.core.reading import Reading
from skcrf_sdca.text.spans.offsets import Offsets

from .record_fields import (
    Span,
    are_labels,
    field_of,
    is_list,
    is_mapping,
    is_row,
    is_text,
    list_of,
    offsets_in,
    span_of,
    value_of,
    words_of,
)

# What annotators of Prodigy answer where a record is not to be used.
_UNUSED = {"reject", "ignore"}
_NOT_ANNOTATED = "left out: it has no annotation"
_NO_SPANS = "without a field of spans: it is read as a text without any"


class Annotated(NamedTuple):
    """What a record says: a text or tokens, and labels of these, or spans.

    `offsets` are those of the tokens in the text. Without a text and offsets, spans
    count tokens. `field` is the name of the field of labels.
    """

    record: Mapping[str, Any]
    text: str | None
    words: list[str] | None = None
    offsets: Offsets | None = None
    labels: list[Any] | None = None
    spans: list[Span] | None = None
    field: str | None = None


class Context:
    """How records are read, and what has been found in them.

    `have_spans` answers whether some record of the source has spans.
    """

    def __init__(
        self,
        reading: Reading,
        label: str | int | None = None,
        have_spans: Callable[[], bool] = bool,
    ) -> None:
        self.labelled, self.label, self.have_spans = reading.labelled, label, have_spans
        self.option = reading.option
        # The place of the record that is read.
        self.where = ""
        # The forms of records that hold no others, and of those that do.
        self.forms: Counter[str] = Counter()
        self.holders: dict[str, None] = {}
        self._fields: dict[str, dict[str, None]] = {}
        self._n_unused = 0
        self._reading = reading

    def note(self, noun: str, what: str) -> None:
        """Note a thing of the record that is read."""
        self._reading.note(noun, what, self.where)

    def found(self, role: str, name: str | None) -> None:
        """Keep the name of the field that has a role, if there is one."""
        if name is not None:
            self._fields.setdefault(role, {})[name] = None

    def leaves_out(self, record: Any) -> bool:
        """Return whether a record is not to be used, and note why."""
        if not is_mapping(record):
            return False
        if record.get("answer") in _UNUSED:
            self._n_unused += 1
            return True
        if not self.labelled:
            return False
        status = str(record.get("status")).lower()
        if status == "discarded":
            self.note("record", "left out: it was discarded")
            return True
        given = _annotations_of(record, self.label)
        is_open = given and all(own is None for own in given)
        if is_open or (status == "default" and not any(map(_has_items, given))):
            self.note("record", _NOT_ANNOTATED)
            return True
        return False

    def tell(self) -> None:
        """Tell the reading of the forms, the fields, and the records not used."""
        take = self._reading.take
        if self.holders or self.forms:
            names = ", ".join([*self.holders, *self.forms])
            take("form", names, option="form")
        for role, own in self._fields.items():
            is_guess = role in ("label", "spans") and self.label is None
            take(role, ", ".join(own), option="label" if is_guess else None)
        if self._n_unused:
            take("not used", f"{self._n_unused} rejected or ignored")
        if self.labelled and len(self.forms) > 1:
            counts = ", ".join(f"{n} of {name}" for name, n in self.forms.items())
            self._reading.odd(
                f"the records have several forms: {counts}; {self.option('form')} says "
                "which they have."
            )


class Part(NamedTuple):
    """A part that a form needs: in words, and whether a record has it."""

    words: str
    is_in: Callable[[Any, Context], bool]


def if_labelled(part: Part) -> Part:
    """Return the part that a record needs where labels are read."""

    def is_in(record, context):
        return not context.labelled or part.is_in(record, context)

    return Part(part.words, is_in)


def _annotations_of(record, label):
    """Return what stands in the fields that labels or spans may be in."""
    names = candidates(record, "label") + candidates(record, "spans")
    names = names if label is None else [name for name in (label,) if name in record]
    values = [record[name] for name in names]
    return [own for own in values if own is None or is_list(own) or is_mapping(own)]


def _has_items(value):
    return value is not None and len(value) > 0


def _are_tokens(value):
    return is_list(value) and not any(map(is_row, value))


def _labels_field(record, context, is_wanted=are_labels):
    """Return the name of the field of labels, or None."""
    if context.label is None:
        return field_of(record, "label", is_wanted)
    has_it = context.label in record and is_wanted(record[context.label])
    return context.label if has_it else None


def _word_labels_field(record, context):
    """Return the name of the field with a label for each word of a text, or None."""
    if not is_mapping(record) or value_of(record, "word", is_list) is not None:
        return None
    n_words = len((value_of(record, "text", is_text) or "").split())

    def fits(value):
        labels = value.split() if is_text(value) else value
        return are_labels(labels) and len(labels) == n_words > 0

    return _labels_field(record, context, fits)


def _spans_field(record, context):
    """Return the name of the field of spans, or None."""
    if context.label is not None and is_list(record.get(context.label)):
        return context.label
    return field_of(record, "spans", is_list)


def _has_labels(record, context):
    """Return whether a record has labels of its tokens, which may have them."""
    if not is_mapping(record):
        return False
    if _labels_field(record, context) is not None:
        return True
    items = value_of(record, "word", is_list)
    is_whole = items is not None and list_of(is_mapping)(items)
    text = value_of(record, "text", is_text)
    return is_whole and words_of(items, text, context.label).labels is not None


def _has_spans(record, context):
    """Return whether a record has spans, or none of its own beside records with some.

    Label Studio and Prodigy leave the field out where there are no spans.
    """
    if not is_mapping(record):
        return False
    own = _spans_field(record, context) is not None
    return own or "answer" in record or context.have_spans()


TEXT = Part("a text", lambda own, _: field_of(own, "text", is_text) is not None)
TOKENS = Part("tokens", lambda own, _: field_of(own, "word", _are_tokens) is not None)
LABELS = Part("labels of the tokens", _has_labels)
WORD_LABELS = Part(
    "a label for each word",
    lambda own, context: (
        is_mapping(own) and _word_labels_field(own, context) is not None
    ),
)
SPANS = Part("spans", _has_spans)


def of_tokens(record: Mapping[str, Any], context: Context) -> Annotated:
    """Read tokens with a label for each."""
    name = field_of(record, "word", _are_tokens)
    text = value_of(record, "text", is_text)
    found = words_of(record[name], text, context.label)
    context.found("word", name)
    labels, own = found.labels, _labels_field(record, context)
    if own is not None and (labels is None or context.label is not None):
        labels = list(record[own])
    if not context.labelled:
        return Annotated(record, text, found.words, found.offsets)
    context.found("label", own)
    return Annotated(record, text, found.words, found.offsets, labels, field=own)


def of_words(record: Mapping[str, Any], context: Context) -> Annotated:
    """Read a text with a label for each of its words, between blanks."""
    text, name = field_of(record, "text", is_text), _word_labels_field(record, context)
    labels = record[name].split() if is_text(record[name]) else list(record[name])
    context.found("word", text)
    if not context.labelled:
        return Annotated(record, None, record[text].split())
    context.found("label", name)
    return Annotated(record, None, record[text].split(), None, labels, field=name)


def of_spans(record: Mapping[str, Any], context: Context) -> Annotated:
    """Read a text with spans, whose tokens the record may have."""
    name = field_of(record, "text", is_text)
    context.found("text", name)
    text, items = record[name], value_of(record, "word", _are_tokens)
    offsets = None if items is None else offsets_in(text, words_of(items, text, None))
    return Annotated(record, text, None, offsets, None, _spans_of(record, context))


def of_token_spans(record: Mapping[str, Any], context: Context) -> Annotated:
    """Read tokens, and spans that count these, or characters if they have offsets."""
    name = field_of(record, "word", _are_tokens)
    context.found("word", name)
    found = words_of(record[name], None, None)
    spans = _spans_of(record, context)
    return Annotated(record, None, found.words, found.offsets, None, spans)


def _spans_of(record, context):
    """Return the spans of a record; None if they are not wanted."""
    if not context.labelled:
        return None
    name = _spans_field(record, context)
    if name is None and "answer" not in record:
        context.note("record", _NO_SPANS)
    context.found("spans", name)
    return [] if name is None else list(map(span_of, record[name]))
