"""Records of annotated texts that are nested in others: how each program nests them."""

from collections.abc import Mapping
from itertools import accumulate, chain


def is_text(value):
    """Return whether a value is a str."""
    return isinstance(value, str)


def _of_list(record, inner):
    """Return the records of a list of mappings."""
    return inner if inner and all(isinstance(i, Mapping) for i in inner) else None


def _of_data(record, inner):
    """Return the records of Label Studio and of others under the key "data".

    Snips has parts of one text there.
    """
    if not isinstance(inner, Mapping):
        has_parts = inner and all(_is_part(own) for own in inner)
        return [_joined(inner)] if has_parts else _of_list(record, inner)
    return [{**inner, **{key: own for key, own in record.items() if own is not inner}}]


def _is_part(value):
    names = {"text", "entity", "slot_name"}
    return isinstance(value, Mapping) and "text" in value and names >= set(value)


def _joined(parts):
    """Return the record of parts of a text, some of which are spans."""
    text, spans = "", []
    for part in parts:
        begin, text = len(text), text + part["text"]
        if "entity" in part:
            spans.append((begin, len(text), part["entity"]))
    return {"text": text, "spans": spans}


def _of_annotations(record, inner):
    """Return a record of Label Studio with the spans of its first annotation.

    Or the pairs of a text and its spans that others have under the same key.
    """
    if inner and all(isinstance(i, list) and is_text(i[0]) for i in inner):
        return inner
    if not all(isinstance(i, Mapping) and "result" in i for i in inner):
        return None
    used = [i["result"] for i in inner if not i.get("was_cancelled")]
    values = [result["value"] for result in chain(*used[:1]) if "value" in result]
    return [_with_spans(record, values)]


def _of_points(record, inner):
    """Return a record of Dataturks, whose spans include their last characters."""
    if not all(isinstance(note, Mapping) and "points" in note for note in inner):
        return None
    spans = [
        (point["start"], point["end"] + 1, note["label"][0])
        for note in inner
        for point in note["points"]
        if note["label"]
    ]
    return [_with_spans(record, spans)]


def _of_mentions(record, inner):
    """Return a record of CLUENER, with spans by type and text, last characters too."""
    if not isinstance(inner, Mapping):
        return None
    spans = [
        (begin, end + 1, name)
        for name, mentions in inner.items()
        for places in mentions.values()
        for begin, end in places
    ]
    return [_with_spans(record, spans)]


def _of_passages(record, inner):
    """Return the passages of BioC, or their sentences, whose offsets go on."""
    parts = chain.from_iterable(own.get("sentences") or [own] for own in inner)
    return [
        {
            "text": part.get("text") or "",
            "spans": [
                {
                    "start": place["offset"] - part["offset"],
                    "end": place["offset"] - part["offset"] + place["length"],
                    "label": note["infons"]["type"],
                    "text": note.get("text") if len(note["locations"]) == 1 else None,
                }
                for note in part.get("annotations", ())
                for place in note["locations"]
            ],
        }
        for part in parts
    ]


def _of_snippet(record, inner):
    """Return a record of Vertex AI, of its first form, in which a text is nested."""
    spans = [
        {
            "start": int(
                note["text_extraction"]["text_segment"].get("start_offset", 0)
            ),
            "end": int(note["text_extraction"]["text_segment"]["end_offset"]),
            "label": note["display_name"],
        }
        for note in record.get("annotations", ())
    ]
    return [{"text": inner["content"], "spans": spans}]


def _of_token_spans(record, inner):
    """Return a record of GLiNER, whose spans count tokens and include the last."""
    spans = [(begin, end + 1, name) for begin, end, name in record.get("ner", ())]
    return [{"tokens": inner, "spans": spans}]


def _of_sentences(record, inner):
    """Return the sentences of SciERC, whose spans count the tokens of the document."""
    if not inner or not all(isinstance(own, list) for own in inner):
        return _of_list(record, inner)
    begins = [0, *accumulate(map(len, inner))]
    found = record.get("ner") or [[]] * len(inner)
    return [
        {"tokens": own, "spans": [(b - begin, e + 1 - begin, x) for b, e, x in spans]}
        for own, begin, spans in zip(inner, begins, found, strict=False)
    ]


def _with_spans(record, spans):
    """Return a record with spans in place of its annotations."""
    others = {key: own for key, own in record.items() if key not in NESTED}
    return {**others, "spans": spans}


#: Keys under which records are nested, and how they are taken out. Each function
#: returns records, or None if what is under the key is no record.
NESTED = {
    "documents": _of_list,
    "passages": _of_passages,
    "text_snippet": _of_snippet,
    "tokenized_text": _of_token_spans,
    "data": _of_data,
    "annotations": _of_annotations,
    "completions": _of_annotations,
    "annotation": _of_points,
    "label": _of_mentions,
    "rasa_nlu_data": _of_data,
    "common_examples": _of_list,
    "paragraphs": _of_list,
    "sentences": _of_sentences,
}
