"""JSON of annotated texts in the forms of several programs: how a document is written.

`records` reads all of them.
"""

import json
from collections.abc import Callable, Iterable
from itertools import pairwise
from typing import Any

from skcrf_sdca.text.core.files import write_text
from skcrf_sdca.text.core.passages import Document
from skcrf_sdca.text.spans.units import UTF_16, unit_offsets


def write_lines(
    form: Callable[[Document], dict[str, Any]],
    file: Any,
    documents: Iterable[Document],
    encoding: str,
) -> None:
    """Write a line of JSON for each document, of one of the forms below."""
    write_text(file, "".join(f"{_json(form(own))}\n" for own in documents), encoding)


def write_list(
    form: Callable[[Document], dict[str, Any]],
    file: Any,
    documents: Iterable[Document],
    encoding: str,
) -> None:
    """Write a list in JSON of all documents, of one of the forms below."""
    inner = ",\n".join(_json(form(own)) for own in documents)
    write_text(file, f"[\n{inner}\n]\n", encoding)


def _json(record):
    return json.dumps(record, ensure_ascii=False)


def with_tokens(document: Document) -> dict[str, Any]:
    """Return a text, its tokens and its spans, as Prodigy has them."""
    name, text, spans, offsets, _ = document
    begins = {begin: t for t, (begin, _) in enumerate(offsets or ())}
    ends = {end: t for t, (_, end) in enumerate(offsets or ())}
    return {
        "id": name,
        "text": text,
        "tokens": [
            {"text": text[b:e], "start": b, "end": e, "id": t}
            for t, (b, e) in enumerate(offsets or ())
        ],
        "spans": [
            {
                **{"start": b, "end": e, "label": kind},
                **{"token_start": begins[b], "token_end": ends[e]},
            }
            for b, e, kind in spans or ()
        ],
    }


def of_doccano(document: Document) -> dict[str, Any]:
    """Return a text and its spans, as doccano has them."""
    name, text, spans, _, _ = document
    return {"id": name, "text": text, "label": [list(span) for span in spans or ()]}


def of_spacy(document: Document) -> dict[str, Any]:
    """Return what ``Doc.from_json`` of spaCy takes."""
    name, text, spans, offsets, _ = document
    in_order = sorted(spans or ())
    for (*before, one), (*after, other) in pairwise(in_order):
        if after[0] < before[1]:
            raise ValueError(
                f"document {name}: the spans {text[slice(*before)]!r:.60} ({one}) and "
                f"{text[slice(*after)]!r:.60} ({other}) overlap, which entities of "
                "spaCy may not; another format can hold them."
            )
    tokens = enumerate(_with_others(text, offsets or ()))
    return {
        "text": text,
        "ents": [{"start": b, "end": e, "label": kind} for b, e, kind in in_order],
        "tokens": [{"id": t, "start": b, "end": e} for t, (b, e) in tokens],
    }


def _with_others(text, offsets):
    """Yield offsets of tokens and of all else; a token has one blank after it.

    So spaCy can put the text together again: it takes further white space for tokens.
    """
    end = 0
    for begin, stop in [*offsets, (len(text), len(text))]:
        first = end + (end > 0 and text[end:begin].startswith(" "))
        if first < begin:
            yield first, begin
        if begin < stop:
            yield begin, stop
        end = stop


def of_label_studio(document: Document) -> dict[str, Any]:
    """Return a task of Label Studio with an annotation, by units of UTF-16."""
    _, text, spans, _, _ = document
    units = unit_offsets(text, UTF_16)
    result = [
        {
            **{"from_name": "label", "to_name": "text", "type": "labels"},
            "value": {
                **{"start": units[b], "end": units[e], "text": text[b:e]},
                "labels": [kind],
            },
        }
        for b, e, kind in spans or ()
    ]
    return {"data": {"text": text}, "annotations": [{"result": result}]}
