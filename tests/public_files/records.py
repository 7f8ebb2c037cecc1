"""Records: JSON, and the same in memory."""

import json

from .sentences import (
    LABELS,
    TOKEN_SPANS,
    Kind,
    jsonl,
    of_sentences,
    of_texts,
)

NAMES = ["O", "B-PER", "I-PER", "B-LOC", "I-LOC"]


def values(text, spans):
    """Return the results of Label Studio."""
    return [
        {
            "value": {"start": b, "end": e, "text": text[b:e], "labels": [t]},
            **{"from_name": "label", "to_name": "text", "type": "labels"},
        }
        for b, e, t in spans
    ]


def task(text, spans, key="annotations", **more):
    """Return a task of Label Studio."""
    return {
        "id": 1,
        "data": {"text": text},
        key: [{"result": values(text, spans), **more}],
    }


def of_spans(key, span, **more):
    """Return a function that makes a record of a text and spans in some form."""
    return lambda text, spans: {
        "text": text,
        key: [span(b, e, t, text[b:e]) for b, e, t in spans],
        **more,
    }


def of_tokens(words, spans):
    """Return a record of SpERT."""
    own = [{"type": t, "start": b, "end": e} for b, e, t in spans]
    return {"tokens": words, "entities": own}


def offsets(b, e, t, said):
    return {"id": 1, "label": t, "start_offset": b, "end_offset": e}


def points(text, spans):
    """Return a record of DataTurks, whose spans include the last character."""
    found = [
        {"label": [t], "points": [{"start": b, "end": e - 1, "text": text[b:e]}]}
        for b, e, t in spans
    ]
    return {"content": text, "annotation": found, "extras": None}


def passage(text, spans):
    """Return a passage of BioC."""
    notes = [
        {
            **{"infons": {"type": t}, "text": text[b:e]},
            "locations": [{"offset": b, "length": e - b}],
        }
        for b, e, t in spans
    ]
    return {"offset": 0, "infons": {}, "text": text, "annotations": notes}


def of_spacy(words, labels):
    rows = enumerate(zip(words, labels, strict=True))
    return {"tokens": [{"id": k, "orth": w, "ner": x} for k, (w, x) in rows]}


def of_gliner(words, spans):
    return {"tokenized_text": words, "ner": [[b, e - 1, t] for b, e, t in spans]}


def numbered(words, labels):
    return {"id": "1", "tokens": words, "ner_tags": list(map(NAMES.index, labels))}


def of_lighttag(text, spans):
    found = [{"start": b, "end": e, "tag": t, "value": text[b:e]} for b, e, t in spans]
    return {"content": text, "annotations": found}


def of_sagemaker(text, spans):
    found = [{"label": t, "startOffset": b, "endOffset": e} for b, e, t in spans]
    return {"source": text, "job": {"annotations": {"entities": found}}}


def of_ubiai(text, spans):
    found = [
        {"text": text[b:e], "start": b, "end": e, "entityLabel": t} for b, e, t in spans
    ]
    return {"document": text, "tokens": found, "relations": []}


def parts(text, spans):
    """Return the parts of a text, some of which are spans, as Snips has them."""
    found, end = [], 0
    for b, e, t in spans:
        found += [{"text": text[end:b]}, {"text": text[b:e], "entity": t}]
        end = e
    return [own for own in [*found, {"text": text[end:]}] if own["text"]]


HINDI = "\u0930\u093e\u092e \u0926\u093f\u0932\u094d\u0932\u0940 \u0917\u092f\u093e"
ARGILLA = of_spans("annotation", lambda b, e, t, _: [t, b, e], status="Validated")
PRODIGY = of_spans(
    "spans", lambda b, e, t, _: {"start": b, "end": e, "label": t}, answer="accept"
)
RASA = of_spans(
    "entities",
    lambda b, e, t, said: {"start": b, "end": e, "value": said, "entity": t},
    intent="x",
)
# What was not annotated, or what annotators left out.
SKIPPED = [
    task("Anna left", [], was_cancelled=True),
    {**task("Bo", []), "annotations": []},
]
DISCARDED = [
    {"text": "Bo sat", "annotation": None, "status": "Default"},
    {"text": "Cy slept", "annotation": [], "status": "Discarded"},
]
MOVED = {
    "text": "Dear Anna left",
    "spans": [{"start": 4, "end": 8, "text": "Anna", "label": "PER"}],
}
LOST = {
    "text": "Dear Anna left",
    "spans": [{"start": 5, "end": 9, "text": "Bruno", "label": "PER"}],
}

KINDS = {
    "doccano, label": Kind(
        {"all.jsonl": jsonl(of_texts(lambda t, s: {"id": 1, "text": t, "label": s}))}
    ),
    "doccano, labels": Kind(
        {"all.jsonl": jsonl(of_texts(lambda t, s: {"text": t, "labels": s}))}
    ),
    "doccano, entities": Kind(
        {"admin.jsonl": jsonl(of_texts(of_spans("entities", offsets, relations=[])))}
    ),
    "Prodigy": Kind(
        {
            "annotations.jsonl": jsonl(
                [*of_texts(PRODIGY), {"text": "No", "spans": [], "answer": "reject"}]
            )
        }
    ),
    "Label Studio": Kind({"project.json": json.dumps(of_texts(task))}),
    "Label Studio, skipped tasks": Kind(
        {"project.json": json.dumps([*of_texts(task), *SKIPPED])},
        says="left out",
        warns="left out",
    ),
    "Label Studio, ground truth": Kind(
        {
            "project.json": json.dumps(
                [
                    {**own, "annotations": [{"result": []}, *own["annotations"]]}
                    for own in of_texts(lambda t, s: task(t, s, ground_truth=True))
                ]
            )
        }
    ),
    "Label Studio, JSON_MIN": Kind(
        {
            "min.json": json.dumps(
                of_texts(
                    lambda t, s: {
                        **{"id": 1, "text": t, "annotator": 1},
                        "label": [own["value"] for own in values(t, s)],
                    }
                )
            )
        }
    ),
    "Label Studio, completions": Kind(
        {"old.json": json.dumps(of_texts(lambda t, s: task(t, s, "completions")))}
    ),
    "Argilla": Kind({"records.jsonl": jsonl(of_texts(ARGILLA))}),
    "Argilla, others": Kind(
        {"records.jsonl": jsonl([*of_texts(ARGILLA), *DISCARDED])},
        says="left out",
        warns="left out",
    ),
    "spaCy, pairs": Kind(of_texts(lambda t, s: (t, {"entities": s}))),
    "spaCy, JSON of version 2": Kind(
        {
            "train.json": json.dumps(
                [{"id": 0, "paragraphs": [{"sentences": of_sentences(of_spacy)}]}]
            )
        }
    ),
    "GLiNER": Kind({"train.json": json.dumps(of_sentences(of_gliner, TOKEN_SPANS))}),
    "Rasa, JSON": Kind(
        {"nlu.json": json.dumps({"rasa_nlu_data": {"common_examples": of_texts(RASA)}})}
    ),
    "DataTurks": Kind({"resume.json": jsonl(of_texts(points))}),
    "SpERT": Kind(
        {
            "conll04_train.json": json.dumps(
                [{**own, "orig_id": 1} for own in of_sentences(of_tokens, TOKEN_SPANS)]
            )
        }
    ),
    "SpERT, lists alone": Kind(
        {"conll04.jsonl": jsonl(of_sentences(of_tokens, TOKEN_SPANS))}
    ),
    "tokens and tags": Kind(
        {"train.jsonl": jsonl(of_sentences(lambda w, x: {"tokens": w, "ner_tags": x}))}
    ),
    "Hugging Face": Kind(
        of_sentences(numbered),
        {"label_names": NAMES},
        bare=[list(map(NAMES.index, own)) for own in LABELS],
    ),
    "BioC, JSON": Kind(
        {
            "bioc.json": json.dumps(
                {"documents": [{"id": "1", "passages": of_texts(passage)}]}
            )
        }
    ),
    "LightTag": Kind(
        {"export.json": json.dumps({"examples": of_texts(of_lighttag)})},
    ),
    "SageMaker": Kind(
        {"output.manifest": jsonl(of_texts(of_sagemaker))}, says="columns=", labels=None
    ),
    "UBIAI": Kind(
        {"export.json": json.dumps(of_texts(of_ubiai))},
        says="no form fits",
        labels=None,
    ),
    "TACRED": Kind(
        {
            "train.json": json.dumps(
                of_sentences(
                    lambda w, x: {"relation": "no", "token": w, "stanford_ner": x}
                )
            )
        },
        {"label": "stanford_ner"},
        says="labels or spans may be named by label=",
    ),
    "Snips": Kind(
        {"train.json": json.dumps([{"data": own} for own in of_texts(parts)])}
    ),
    "CLUENER": Kind(
        {
            "train.json": jsonl(
                [{"text": "Anna in Bern", "label": {"PER": {"Anna": [[0, 3]]}}}]
            )
        },
        labels=[["B-PER", "O", "O"]],
        words=[["Anna", "in", "Bern"]],
    ),
    "Hindi": Kind(
        {
            "hi.jsonl": jsonl(
                [{"text": HINDI, "label": [[0, 3, "PER"], [4, 10, "LOC"]]}]
            )
        },
        labels=[["B-PER", "B-LOC", "O"]],
        words=[HINDI.split()],
    ),
    "offsets in quotes": Kind(
        {"all.jsonl": jsonl([{"text": "Anna left", "label": [["0", "4", "PER"]]}])},
        says="begin, end and type, the first two as whole numbers",
        labels=None,
    ),
    "offsets one too small": Kind(
        {"moved.jsonl": jsonl([MOVED])},
        says="moved",
        warns="moved",
        labels=[["O", "B-PER", "O"]],
        words=[["Dear", "Anna", "left"]],
    ),
    "offsets of other texts": Kind(
        {"lost.jsonl": jsonl([LOST])},
        says="'Bruno' with 'Anna' at its offsets",
        labels=None,
        words=[["Dear", "Anna", "left"]],
    ),
    "pairs of words and labels": Kind(of_sentences(lambda w, x: (w, x))),
    "tuples of NLTK": Kind(
        of_sentences(lambda w, x: list(zip(w, ["X"] * len(w), x, strict=True)))
    ),
}
