"""Forms of records of single programs, and of records that hold other records.

Each function takes a record that has the parts of a form, and yields the records in it.
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import accumulate, chain
from typing import Any, Protocol

from skcrf_sdca.text.core.layouts import default_columns

from .record_fields import is_list, is_mapping, is_row, is_text, list_of, value_of

Records = Iterator[Any]

# Fields of annotations of Label Studio, and of records that are held.
_ANNOTATIONS = ("annotations", "completions")
_HOLDERS = (
    *("documents", "data", "rasa_nlu_data", "common_examples", "examples"),
    *("paragraphs", "sentences"),
)


class Notes(Protocol):
    """Takes notes of what is left out of a record, whose labels may be wanted."""

    labelled: bool

    def note(self, noun: str, what: str) -> None:
        """Note a thing of the record that is read."""


def of_doc(doc: Any, notes: Notes) -> Records:
    """Yield the record of a document of spaCy."""
    tokens = [
        {"text": token.text, "start": token.idx, "end": token.idx + len(token.text)}
        for token in doc
    ]
    spans = [(span.start_char, span.end_char, span.label_) for span in doc.ents]
    yield {"text": doc.text, "tokens": tokens, "spans": spans}


def of_label_studio(record: Mapping[str, Any], notes: Notes) -> Records:
    """Yield the text of a task of Label Studio, with the spans of one annotation.

    It is the first one that is the ground truth, or else that was not skipped.
    """
    found = next(record[key] for key in _ANNOTATIONS if key in record)
    if not notes.labelled:
        yield _data(record)
        return
    used = [own for own in found or [] if not own.get("was_cancelled")]
    if not used:
        how = "was skipped" if found else "has no annotation"
        notes.note("task", f"left out: it {how}")
        return
    best = [own for own in used if own.get("ground_truth")] or used
    if len(best) > 1:
        notes.note("task", "with several annotations: the first is read")
    values = [own["value"] for own in best[0]["result"] if is_mapping(own.get("value"))]
    spans = [
        {**own, **own.get("globalOffsets", {}), "labels": labels}
        for own in values
        if "start" in own and (labels := _labels(own))
    ]
    yield {**_data(record), "spans": spans}


def _labels(value):
    """Return the types of a span; None for a choice of a text and the like."""
    names = (name for name in value if name.lower().endswith("labels"))
    return next((value[name] for name in names), None)


def _data(record):
    """Return the data of a task, whose text may have any name if it is alone."""
    data = record["data"] if is_mapping(record.get("data")) else record
    texts = [own for own in data.values() if is_text(own)]
    if value_of(data, "text", is_text) is None and len(texts) == 1:
        return {"text": texts[0]}
    return {"text": value_of(data, "text", is_text)}


def is_part(value: Any) -> bool:
    """Return whether a value is a part of a text of Snips."""
    names = {"text", "entity", "slot_name"}
    return is_mapping(value) and is_text(value.get("text")) and names >= set(value)


def of_parts(record: Mapping[str, Any], notes: Notes) -> Records:
    """Yield the record of parts of a text, some of which are spans."""
    parts = record["data"]
    ends = list(accumulate(len(part["text"]) for part in parts))
    spans = [
        (end - len(part["text"]), end, part["entity"])
        for part, end in zip(parts, ends, strict=True)
        if "entity" in part
    ]
    yield {"text": "".join(part["text"] for part in parts), "spans": spans}


def of_points(record: Mapping[str, Any], notes: Notes) -> Records:
    """Yield the record of Dataturks, whose spans include their last characters."""
    spans = []
    for note in record["annotation"]:
        if not note["label"]:
            notes.note("span", "left out: they have no type")
        for point in note["points"] if note["label"] else ():
            types = note["label"]
            span = (point["start"], point["end"] + 1)
            own = types if is_text(types) else types[0]
            said = {"text": point["text"]} if is_text(point.get("text")) else {}
            spans.append({"start": span[0], "end": span[1], "label": own, **said})
    yield {"text": value_of(record, "text", is_text), "spans": spans}


def of_mentions(record: Mapping[str, Any], notes: Notes) -> Records:
    """Yield the record of CLUENER, with spans by type and text, last ones included."""
    spans = [
        {"start": begin, "end": end + 1, "label": name, "text": said}
        for name, mentions in record["label"].items()
        for said, places in mentions.items()
        for begin, end in places
    ]
    yield {"text": value_of(record, "text", is_text), "spans": spans}


def of_passages(record: Mapping[str, Any], notes: Notes) -> Records:
    """Yield the passages of BioC, or their sentences, whose offsets go on."""
    inner = record["passages"]
    parts = chain.from_iterable(own.get("sentences") or [own] for own in inner)
    for part in parts:
        spans = [
            {
                "start": place["offset"] - part["offset"],
                "end": place["offset"] - part["offset"] + place["length"],
                "label": note["infons"]["type"],
                "text": note.get("text") if len(note["locations"]) == 1 else None,
            }
            for note in part.get("annotations", ())
            for place in note["locations"]
        ]
        yield {"text": part.get("text") or "", "spans": spans}


def of_snippet(record: Mapping[str, Any], notes: Notes) -> Records:
    """Yield the record of Vertex AI, of its first form, in which a text is nested."""
    spans = []
    for note in record.get("annotations", ()):
        place = note["text_extraction"]["text_segment"]
        begin, end = int(place.get("start_offset", 0)), int(place["end_offset"])
        spans.append({"start": begin, "end": end, "label": note["display_name"]})
    yield {"text": record["text_snippet"]["content"], "spans": spans}


def of_gliner(record: Mapping[str, Any], notes: Notes) -> Records:
    """Yield the record of GLiNER, whose spans count tokens and include the last."""
    spans = [(begin, end + 1, name) for begin, end, name in record.get("ner", ())]
    yield {"tokens": record["tokenized_text"], "spans": spans}


def of_scierc(record: Mapping[str, Any], notes: Notes) -> Records:
    """Yield the sentences of SciERC, whose spans count the tokens of the document."""
    inner = record["sentences"]
    found = record.get("ner", [[]] * len(inner))
    if len(found) != len(inner):
        raise ValueError(f"{len(inner)} sentences, but ner has {len(found)}")
    begins = [0, *accumulate(map(len, inner))]
    for own, begin, spans in zip(inner, begins, found, strict=False):
        yield {
            "tokens": own,
            "spans": [(b - begin, e + 1 - begin, x) for b, e, x in spans],
        }


def is_token_row(value: Any) -> bool:
    """Return whether a value is a tuple (word, ..., label)."""
    return isinstance(value, tuple) and len(value) > 0 and all(map(is_text, value))


def of_rows(record: Sequence[tuple[str, ...]], notes: Notes) -> Records:
    """Yield the record of tokens that are tuples (word, ..., label)."""
    if len(set(map(len, record))) > 1:
        raise ValueError("its tokens have different numbers of columns")
    parts = [list(column) for column in zip(*record, strict=True)]
    names = [*default_columns(len(parts) - 1), "label"][: len(parts)]
    yield dict(zip(names, parts, strict=True))


def of_mappings(record: Sequence[Any], notes: Notes) -> Records:
    """Yield the record of tokens that are mappings."""
    yield {"tokens": record}


def of_pair(record: Sequence[Any], notes: Notes) -> Records:
    """Yield the record of a text and its spans, or of a text and further fields."""
    text, other = record
    yield (
        {"text": text, **other} if is_mapping(other) else {"text": text, "spans": other}
    )


def of_lists(record: Sequence[Any], notes: Notes) -> Records:
    """Yield the record of words and labels."""
    yield {"tokens": record[0], "labels": record[1]}


def is_text_first(value: Any) -> bool:
    """Return whether a value is a list that begins with a text."""
    return is_list(value) and len(value) > 0 and is_text(value[0])


def has_points(value: Any) -> bool:
    """Return whether a value is an annotation of Dataturks."""
    return is_mapping(value) and "points" in value


def has_results(record: Any, notes: Notes) -> bool:
    """Return whether a record is a task of Label Studio, also without annotations."""
    if not is_mapping(record):
        return False
    found = next((record[key] for key in _ANNOTATIONS if key in record), False)
    if found is None or found == []:
        return is_mapping(record.get("data"))
    return list_of(lambda own: is_mapping(own) and "result" in own)(found)


def has_inner(record: Any, notes: Notes) -> bool:
    """Return whether a record holds one other."""
    return _inner(record, is_mapping) is not None


def of_inner(record: Mapping[str, Any], notes: Notes) -> Records:
    """Yield the record in another, with the fields beside it."""
    inner = _inner(record, is_mapping)
    yield {**inner, **{key: own for key, own in record.items() if own is not inner}}


def has_list(record: Any, notes: Notes) -> bool:
    """Return whether a record holds a list of others."""
    return _inner(record, list_of(is_mapping)) is not None


def of_list(record: Mapping[str, Any], notes: Notes) -> Records:
    """Yield the records of a list in another."""
    yield from _inner(record, list_of(is_mapping))


def _inner(record, is_wanted):
    if not is_mapping(record):
        return None
    found = (record[key] for key in _HOLDERS if key in record)
    return next((own for own in found if is_wanted(own)), None)


def are_data_sets(record: Any) -> bool:
    """Return whether a mapping has parts that are data sets themselves."""
    if not is_mapping(record) or not record:
        return False
    are_records = list_of(is_mapping)
    return all(are_records(x) or hasattr(x, "features") for x in record.values())


def are_columns(record: Any, notes: Notes) -> bool:
    """Return whether a mapping has columns, of which one has lists at least."""
    if not is_mapping(record) or not all(map(is_list, record.values())):
        return False
    columns = list(record.values())
    has_rows = any(map(list_of(is_row), columns))
    return has_rows and not any(is_mapping(own) for x in columns for own in x)


def of_columns(record: Mapping[str, Any], notes: Notes) -> Records:
    """Yield the rows of columns of equal length."""
    lengths = {name: len(column) for name, column in record.items()}
    if len(set(lengths.values())) > 1:
        raise ValueError(f"its columns have other numbers of rows: {lengths}")
    for row in zip(*record.values(), strict=True):
        yield dict(zip(record, row, strict=True))
