"""Tables: csv files and data frames."""

import json

import pandas as pd

from .sentences import LABELS, POS, WORDS, Kind, lines, of_sentences, of_texts

LONG = pd.DataFrame(
    {
        "sentence_id": [s for s, own in enumerate(WORDS) for _ in own],
        "token": sum(WORDS, []),
        "pos": sum(POS, []),
        "ner_tag": sum(LABELS, []),
    }
)
WIDE = pd.DataFrame({"tokens": WORDS, "ner_tags": LABELS})
KAGGLE = "Sentence #,Word,POS,Tag\n" + lines(
    ",{word},{pos},{label}", start="Sentence: {s}", between=""
)


def of_numpy(words, labels):
    """Return a row of arrays, as pandas writes them."""
    return ",".join(f'"[{" ".join(map(repr, own))}]"' for own in (words, labels)) + "\n"


def studio(text, spans):
    """Return a row of Label Studio, with JSON in a cell."""
    found = [
        {"start": b, "end": e, "text": text[b:e], "labels": [t]} for b, e, t in spans
    ]
    return {"text": text, "id": 1, "label": json.dumps(found), "annotator": 1}


KINDS = {
    "Kaggle": Kind({"ner_dataset.csv": KAGGLE}),
    "Kaggle, latin-1": Kind(
        {"ner_dataset.csv": KAGGLE.replace("Rhine", "Rh\u00f4ne").encode("latin-1")},
        {"encoding": "latin-1"},
        says="line 9: not utf-8.* encoding='latin-1'",
        words=[[w.replace("Rhine", "Rh\u00f4ne") for w in own] for own in WORDS],
    ),
    "E-NER": Kind(
        {"all.csv": "-DOCSTART-,O\n,O\n" + lines('"{word}",{label}', between=",O\n")}
    ),
    "csv of lists": Kind({"train.csv": WIDE.to_csv(index=False)}),
    "csv of arrays": Kind(
        {"train.csv": "".join(["tokens,ner_tags\n", *of_sentences(of_numpy)])}
    ),
    "csv of sentences": Kind(
        {
            "ner.csv": "sentence,labels\n"
            + "".join(of_sentences(lambda w, x: f"{' '.join(w)},{' '.join(x)}\n"))
        }
    ),
    "csv with other titles": Kind(
        {
            "train.csv": lines("{s};{word};{label}", between="", start="").join(
                ["Satz;Wort;Etikett\n", ""]
            )
        },
        {"sentence": "Satz", "word": "Wort", "label": "Etikett"},
        says="no column for .*word=",
    ),
    "Label Studio, CSV": Kind(
        {"project.csv": pd.DataFrame(of_texts(studio)).to_csv(index=False)}
    ),
    "Comprehend": Kind(
        {
            "annotations.csv": "File,Line,Begin Offset,End Offset,Type\n"
            "a.txt,0,0,4,PERSON\n"
        },
        says="no column for .*word=",
        labels=None,
    ),
    "tsv with titles": Kind({"train.tsv": LONG.to_csv(sep="\t", index=False)}),
    "pandas, a row a token": Kind(LONG),
    "pandas, a row a sentence": Kind(WIDE),
    "pandas, without titles": Kind(
        LONG[["sentence_id", "token", "ner_tag"]].set_axis([0, 1, 2], axis=1),
        {"sentence": 0, "word": 1, "label": 2},
        says="word=",
    ),
}
