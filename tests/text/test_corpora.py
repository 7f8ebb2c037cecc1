"""Files of labelled text as people have them, each read by one call."""

import gzip
import io
import json
import re
from types import SimpleNamespace

import numpy as np
import pandas as pd
import polars as pl
import pytest

from pairs import in_one_test
from skcrf_sdca import CRF, make_tagger
from skcrf_sdca.text import ReadingWarning, TokenFeatures, char_spans, read_corpus
from skcrf_sdca.text.core.passages import Document, Passages
from skcrf_sdca.text.core.reading import Reading
from skcrf_sdca.text.formats.records import read_records

WORDS = [["Anna", "Meier", "lives", "in", "Basel", "."], ["Yes", "!"]]
POS = [["NNP", "NNP", "VBZ", "IN", "NNP", "."], ["UH", "."]]
LABELS = [["B-PER", "I-PER", "O", "O", "B-LOC", "O"], ["O", "O"]]
FLAT = [
    (k, word, pos, label)
    for k, rows in enumerate(zip(WORDS, POS, LABELS, strict=True))
    for word, pos, label in zip(*rows, strict=True)
]
TEXT = "Anna Meier lives in Basel."
SPANS = [(0, 10, "PER"), (20, 25, "LOC")]


def lines(*form, between="\n", end="\n", label=str):
    """Return the lines of the sentences, of a form such as "{word}\t{label}"."""
    template = "".join(form)
    sentences = [
        "".join(
            template.format(word=w, pos=p, label=label(x), k=k, t=t) + end
            for t, (w, p, x) in enumerate(zip(*rows, strict=True), start=1)
        )
        for k, rows in enumerate(zip(WORDS, POS, LABELS, strict=True))
    ]
    return between.join(sentences) + between


def rows(form):
    """Return a line for each sentence, whose tokens have a form."""
    pairs = (zip(w, x, strict=True) for w, x in zip(WORDS, LABELS, strict=True))
    return "".join(
        " ".join(form.format(word=w, label=x) for w, x in own) + "\n" for own in pairs
    )


def dumped(*records):
    return "".join(f"{json.dumps(record)}\n" for record in records)


def bare(label):
    return label[2:] or "O"


def grobid(label):
    return {"B": "I-<{}>", "I": "<{}>", "O": "<other>"}[label[0]].format(
        label[2:].lower()
    )


def suffixed(label):
    return "_".join(reversed(label.split("-")))


def bracketed(label):
    """Return labels as OntoNotes writes these sentences."""
    return {"B-PER": "(PER*", "I-PER": "*)", "O": "*", "B-LOC": "(LOC)"}[label]


class Doc(list):
    """A document of spaCy, as far as readers ask it."""

    def __init__(self, text, words, spans):
        found, end = [], 0
        for word in words:
            begin = text.index(word, end)
            end = begin + len(word)
            found.append(SimpleNamespace(text=word, idx=begin))
        super().__init__(found)
        self.text = text
        self.ents = [
            SimpleNamespace(start_char=b, end_char=e, label_=t) for b, e, t in spans
        ]


class HubRows(list):
    """Rows of a Hugging Face data set, with names of the numbers of labels."""

    names = ["O", "B-PER", "I-PER", "B-LOC"]

    @property
    def features(self):
        feature = SimpleNamespace(feature=SimpleNamespace(names=self.names))
        return {"tokens": SimpleNamespace(), "ner_tags": feature}


CONLLU = "".join(
    "".join(
        f"{t}\t{w}\t_\t_\t{p}\t_\t_\t_\t_\t{x}\n"
        for t, (w, p, x) in enumerate(zip(*own, strict=True), start=1)
    )
    + "\n"
    for own in zip(WORDS, POS, LABELS, strict=True)
)
NUMBERS = [np.array([HubRows.names.index(x) for x in own]) for own in LABELS]
LONG = {
    "sentence_id": [k for k, *_ in FLAT],
    "token": [word for _, word, *_ in FLAT],
    "pos": [pos for _, _, pos, _ in FLAT],
    "ner_tag": [label for *_, label in FLAT],
}
WIDE = [
    {"tokens": words, "ner_tags": labels}
    for words, labels in zip(WORDS, LABELS, strict=True)
]
KAGGLE = "Sentence #,Word,POS,Tag\n" + "".join(
    f"{f'Sentence: {k + 1}' if t == 0 else ''},{w},{p},{x}\n"
    for k, own in enumerate(zip(WORDS, POS, LABELS, strict=True))
    for t, (w, p, x) in enumerate(zip(*own, strict=True))
)
LABEL_STUDIO = [
    {
        "id": 1,
        "data": {"text": TEXT},
        "annotations": [
            {
                "result": [
                    {
                        "value": {
                            "start": b,
                            "end": e,
                            "text": TEXT[b:e],
                            "labels": [t],
                        },
                        "type": "labels",
                    }
                    for b, e, t in SPANS
                ]
            }
        ],
    },
    {"id": 2, "data": {"text": "Yes!"}, "annotations": [{"result": []}]},
]
PRODIGY = dumped(
    {
        "text": TEXT,
        "tokens": [
            {"text": w, "start": TEXT.index(w), "end": TEXT.index(w) + len(w), "id": k}
            for k, w in enumerate(WORDS[0])
        ],
        "spans": [
            {"start": 0, "end": 10, "token_start": 0, "token_end": 1, "label": "PER"},
            {"start": 20, "end": 25, "token_start": 4, "token_end": 4, "label": "LOC"},
        ],
        "answer": "accept",
    },
    {"text": "No!", "spans": [], "answer": "reject"},
    {"text": "Yes!", "spans": [], "answer": "accept"},
)
BRAT = {
    "a.txt": f"{TEXT}\nYes!\n",
    "a.ann": "T1\tPER 0 10\tAnna Meier\nT2\tLOC 20 25\tBasel\nR1\tLives Arg1:T1\n"
    "#1\tAnnotatorNotes T1\tsure\n",
}
PUBTATOR = (
    f"12|t|{TEXT}\n12|a|Yes!\n12\t0\t10\tAnna Meier\tPER\tD1\n"
    "12\t20\t25\tBasel\tLOC\tD2\n12\tCID\tD1\tD2\n\n"
)
CRFSUITE = "".join(
    "".join(f"{x}\tw={w}\tlen:{len(w)}\n" for w, x in zip(*own, strict=True)) + "\n"
    for own in zip(WORDS, LABELS, strict=True)
)
SPACY_JSON = [
    {
        "id": 0,
        "paragraphs": [
            {
                "sentences": [
                    {
                        "tokens": [
                            {"id": k, "orth": w, "tag": p, "ner": x}
                            for k, (w, p, x) in enumerate(zip(*own, strict=True))
                        ]
                    }
                    for own in zip(WORDS, POS, LABELS, strict=True)
                ]
            }
        ],
    }
]
DOC_JSON = dumped(
    {
        "text": TEXT,
        "ents": [{"start": b, "end": e, "label": t} for b, e, t in SPANS],
        "tokens": [
            {"id": k, "start": TEXT.index(w), "end": TEXT.index(w) + len(w)}
            for k, w in enumerate(WORDS[0])
        ],
    },
    {
        "text": "Yes!",
        "ents": [],
        "tokens": [{"start": 0, "end": 3}, {"start": 3, "end": 4}],
    },
)
MARKED = {
    "xml": "<s><PER>Anna Meier</PER> lives in <LOC>Basel</LOC>.</s>\n<s>Yes!</s>\n",
    "muc": '<p>\n<ENAMEX TYPE="PER">Anna Meier</ENAMEX> lives in '
    '<ENAMEX TYPE="LOC">Basel</ENAMEX>.\nYes!\n</p>\n',
    "brackets": "[PER Anna Meier ] lives in [LOC Basel ] .\nYes !\n",
    "rasa": "## intent:live\n- [Anna Meier](PER) lives in [Basel](LOC:city).\n- Yes!\n",
}
PAIRS = [(TEXT, {"entities": SPANS}), ("Yes!", {"entities": []})]
DOCCANO = dumped(
    {"id": 1, "text": TEXT, "label": SPANS}, {"id": 2, "text": "Yes!", "label": []}
)
FRAME = pd.DataFrame(LONG)

# Each kind: the name of a file and its content, or data, and what read_corpus is given.
KINDS = {
    "CoNLL-2000": ("train.txt", lines("{word} {pos} {label}"), {}),
    "CoNLL-2002": (
        "esp.train",
        "-DOCSTART- -X- O\n\n" + lines("{word} {pos} {label}"),
        {},
    ),
    "CoNLL-2003": (
        "eng.train",
        "-DOCSTART- -X- -X- O\n\n" + lines("{word} {pos} I-NP {label}"),
        {},
    ),
    "CoNLL-U": ("en.conllu", CONLLU, {"label": "misc"}),
    "CoNLL-U Plus": (
        "en.conllup",
        "# global.columns = ID FORM XPOS SMALL:NER\n"
        + lines("{t}\t{word}\t{pos}\t{label}"),
        {},
    ),
    "WNUT": ("wnut17train.conll", lines("{word}\t{label}", between="\t\n"), {}),
    "BIO with tabs, comments": (
        "Genia4ERtask1.iob2",
        "###MEDLINE:95369245\n\n" + lines("{word}\t{label}"),
        {"comment": "###"},
    ),
    "CRF++": ("train.data", lines("{word}\t{pos}\t{label}"), {"format": "crf++"}),
    "Wapiti": ("nlp.txt", lines("{word}  {pos} {label}"), {"format": "wapiti"}),
    "Stanford NER": ("ner.tsv", lines("{word}\t{label}", label=bare), {}),
    "GROBID": (
        "x.train",
        lines("{word} a b {label}", label=grobid),
        {"format": "grobid"},
    ),
    "label first": (
        "engtrain.bio",
        lines("{label}\t{word}"),
        {"columns": ("label", "word")},
    ),
    "label first, not said": ("engtrain.bio", lines("{label}\t{word}\t{pos}"), {}),
    "header line": (
        "train.tsv",
        "token\tpos\tner\n" + lines("{word}\t{pos}\t{label}"),
        {"header": True},
    ),
    "GermEval": (
        "NER-de-train.tsv",
        lines("# source\n" * 0, "{t}\t{word}\t{label}\tO").replace(
            "1\tAnna", "#\tn-tv.de [2014]\n1\tAnna"
        ),
        {"columns": (None, "word", "label", None), "comment": "#\t"},
    ),
    "Windows, mixed blanks": (
        "mixed.txt",
        "\ufeff" + lines("{word}\t{pos} {label}", end="\r\n", between="\u00a0\r\n"),
        {"delimiter": " \t"},
    ),
    "labels with suffixes": (
        "suffix.txt",
        lines("{word} {label}", label=suffixed),
        {"label_form": "auto"},
    ),
    "OntoNotes": (
        "onto.txt",
        "#begin document x\n"
        + lines("{word}   {pos}   {label}", label=bracketed)
        + "#end document\n",
        {"label_form": "(PER*", "comment": "#"},
    ),
    "Kaggle": ("ner_dataset.csv", KAGGLE, {"encoding": "latin-1"}),
    "csv with a sentence a row": (
        "ner.csv",
        "id;sentence;labels\n"
        + "".join(
            f"{k};{' '.join(w)};{' '.join(x)}\n"
            for k, (w, x) in enumerate(zip(WORDS, LABELS, strict=True))
        ),
        {},
    ),
    "long frame of pandas": (None, FRAME, {}),
    "long frame of Polars": (None, pl.DataFrame(LONG), {}),
    "JSON lines of tokens": ("train.jsonl", dumped(*WIDE), {}),
    "doccano": ("all.jsonl", DOCCANO, {}),
    "spaCy, pairs": (None, PAIRS, {}),
    "spaCy, JSON for training": ("train.json", json.dumps(SPACY_JSON, indent=1), {}),
    "spaCy, Doc.to_json": ("docs.jsonl", DOC_JSON, {}),
    "spaCy, documents": (
        None,
        [Doc(TEXT, WORDS[0], SPANS), Doc("Yes!", WORDS[1], [])],
        {},
    ),
    "Prodigy": ("annotations.jsonl", PRODIGY, {}),
    "Label Studio": ("project.json", json.dumps(LABEL_STUDIO), {}),
    "Label Studio, JSON-MIN": (
        "min.json",
        json.dumps(
            [
                {
                    "text": TEXT,
                    "label": [
                        r["value"] for r in LABEL_STUDIO[0]["annotations"][0]["result"]
                    ],
                },
                {"text": "Yes!", "label": []},
            ],
            indent=2,
        ),
        {},
    ),
    "brat": (".", BRAT, {}),
    "PubTator": ("corpus.pubtator", PUBTATOR, {}),
    "Hugging Face rows": (
        None,
        HubRows(
            {
                "id": str(k),
                "tokens": w,
                "ner_tags": [HubRows.names.index(x) for x in own],
            }
            for k, (w, own) in enumerate(zip(WORDS, LABELS, strict=True))
        ),
        {},
    ),
    "slash tags": ("ca01", rows("{word}/{label}"), {"format": "brown"}),
    "brackets": ("bracketed.txt", MARKED["brackets"], {"format": "brackets"}),
    "Rasa": ("nlu.md", MARKED["rasa"], {"format": "rasa"}),
    "inline XML": ("names.xml", MARKED["xml"], {}),
    "MUC": ("ie_data.sgml", MARKED["muc"], {}),
}
POINTS = [{"label": [t], "points": [{"start": b, "end": e - 1}]} for b, e, t in SPANS]
MENTIONS = {t: {TEXT[b:e]: [[b, e - 1]]} for b, e, t in SPANS}
OFFSETS = [{"start_offset": b, "end_offset": e, "label": t} for b, e, t in SPANS]
VALUES = [{"value": {"start": b, "end": e, "labels": [t]}} for b, e, t in SPANS]
RASA = [{"start": b, "end": e, "entity": t, "value": TEXT[b:e]} for b, e, t in SPANS]
KINDS |= {
    # Further forms of JSON, all of the first sentence and the second.
    name: (f"{name}.json", json.dumps(document), {})
    for name, document in {
        "doccano, annotations": [
            {"text": TEXT, "annotations": OFFSETS},
            {"text": "Yes!", "annotations": []},
        ],
        "doccano, entities": [
            {"text": TEXT, "entities": OFFSETS, "relations": []},
            {"text": "Yes!", "entities": [], "relations": []},
        ],
        "doccano, data": [
            {"id": 1, "data": TEXT, "label": SPANS},
            {"id": 2, "data": "Yes!", "label": []},
        ],
        "pairs in annotations": {"classes": ["PER"], "annotations": PAIRS},
        "completions": [
            {"data": {"text": TEXT}, "completions": [{"result": VALUES}]},
            {"data": {"text": "Yes!"}, "completions": [{"result": []}]},
        ],
        "Rasa JSON": {
            "rasa_nlu_data": {
                "common_examples": [
                    {"text": TEXT, "intent": "x", "entities": RASA},
                    {"text": "Yes!", "intent": "y", "entities": []},
                ]
            }
        },
        "Dataturks": [
            {"content": TEXT, "annotation": POINTS, "extras": None},
            {"content": "Yes!", "annotation": [], "extras": None},
        ],
        "CLUENER": [{"text": TEXT, "label": MENTIONS}, {"text": "Yes!", "label": {}}],
        "parts": {"version": 1, "data": WIDE},
    }.items()
}
KINDS |= {
    "tuples of words and tags": (
        None,
        [list(zip(*own, strict=True)) for own in zip(WORDS, POS, LABELS, strict=True)],
        {},
    ),
    "pairs of words and labels": (None, list(zip(WORDS, LABELS, strict=True)), {}),
    "wide frame": (None, pd.DataFrame({"tokens": WORDS, "labels": LABELS}), {}),
    "wide frame of arrays": (
        None,
        pd.DataFrame({"tokens": list(map(np.array, WORDS)), "ner_tags": NUMBERS}),
        {"label_names": HubRows.names},
    ),
    "wide frame of Polars": (None, pl.DataFrame({"words": WORDS, "ner": LABELS}), {}),
    "frame of texts and spans": (
        None,
        pd.DataFrame({"text": [TEXT, "Yes!"], "entities": [SPANS, []]}),
        {},
    ),
    "csv of lists": (
        "lists.csv",
        pd.DataFrame({"words": WORDS, "ner_tags": LABELS}).to_csv(index=False),
        {},
    ),
    "tsv with a sentence column": ("x.tsv", FRAME.to_csv(sep="\t", index=False), {}),
    "names in the first line": (
        "x.txt",
        "token\tner\n" + lines("{word}\t{label}"),
        {},
    ),
    "UTF-16 of Windows": ("x.txt", "\ufeff" + lines("{word}\t{label}"), {}),
    "mixed blanks, not said": ("x.txt", lines("{word}\t{pos} {label}"), {}),
    "frame with documents alone": (
        None,
        FRAME.rename(columns={"sentence_id": "doc_id"}),
        {},
    ),
}
NOTES = [
    {
        "infons": {"type": t},
        "text": TEXT[b:e],
        "locations": [{"offset": b, "length": e - b}],
    }
    for b, e, t in SPANS
]
PASSAGES = [
    {"offset": 0, "infons": {}, "text": TEXT, "annotations": NOTES},
    {"offset": 27, "infons": {}, "text": "Yes!", "annotations": []},
]
BIOC_XML = (
    '<?xml version="1.0" encoding="UTF-8"?>\n<!DOCTYPE collection SYSTEM "BioC.dtd">\n'
    "<collection><source>x</source><document><id>1</id><passage><offset>0</offset>"
    f"<text>{TEXT}</text>"
    + "".join(
        f'<annotation id="{b}"><infon key="type">{t}</infon><location offset="{b}" '
        f'length="{e - b}"/><text>{TEXT[b:e]}</text></annotation>'
        for b, e, t in SPANS
    )
    + "</passage><passage><offset>27</offset><sentence><offset>27</offset>"
    "<text>Yes!</text></sentence></passage></document></collection>"
)
XMI = (
    '<?xml version="1.0" encoding="UTF-8"?><xmi:XMI xmlns:xmi="http://www.omg.org/XMI" '
    'xmlns:cas="http:///uima/cas.ecore" xmlns:ner="http:///ner.ecore">'
    + "".join(
        f'<ner:NamedEntity xmi:id="{b}" sofa="1" begin="{b}" end="{e}" value="{t}"/>'
        for b, e, t in SPANS
    )
    + '<ner:Lemma xmi:id="8" sofa="1" begin="0" end="4" value="anna"/>'
    f'<cas:Sofa xmi:id="1" sofaString="{TEXT}&#10;Yes!"/></xmi:XMI>'
)
WEBANNO = (
    "#FORMAT=WebAnno TSV 3.2\n#T_SP=x.Lemma|lemma\n#T_SP=x.NamedEntity|identifier|value"
    f"\n\n\n#Text={TEXT}\n1-1\t0-4\tAnna\tanna\t*[1]\tPER[1]\t\n"
    "1-2\t5-10\tMeier\t_\t*[1]\tPER[1]\t\n1-3\t11-16\tlives\tlive\t_\t_\t\n"
    "1-4\t17-19\tin\tin\t_\t_\t\n1-5\t20-25\tBasel\tB\\_\t*\tLOC\t\n"
    "1-6\t25-26\t.\t.\t_\t_\t\n\n#Text=Yes!\n2-1\t27-30\tYes\t_\t_\t_\t\n"
    "2-2\t30-31\t!\t_\t_\t_\t\n"
)
GLINER = [
    {"tokenized_text": WORDS[0], "ner": [[0, 1, "PER"], [4, 4, "LOC"]]},
    {"tokenized_text": WORDS[1], "ner": []},
]
VERTEX = [
    {
        "annotations": [
            {
                "text_extraction": {
                    "text_segment": {"start_offset": b, "end_offset": e}
                },
                "display_name": t,
            }
            for b, e, t in SPANS
        ],
        "text_snippet": {"content": TEXT},
    },
    {"annotations": [], "text_snippet": {"content": "Yes!"}},
]
KINDS |= {
    "GLiNER": ("train.json", json.dumps(GLINER), {}),
    "GLiNER in memory": (None, GLINER, {}),
    "Vertex AI, first form": ("vertex.jsonl", dumped(*VERTEX), {}),
    "BioC JSON": (
        "bioc.json",
        json.dumps({"source": "", "documents": [{"id": "1", "passages": PASSAGES}]}),
        {},
    ),
    "BioC XML": ("corpus.xml", BIOC_XML, {}),
    "UIMA CAS": ("document.xmi", XMI, {}),
    "WebAnno": ("document.tsv", WEBANNO, {}),
    "Penn": (
        "wsj_0001.pos",
        "[ Anna/B-PER Meier/I-PER ]\nlives/O in/O \n[ Basel/B-LOC ]\n./O \n\n"
        "======================================\n\n[ Yes/O ]\n!/O \n",
        {},
    ),
}
TOKENS = [
    [{"word": w, "ner": x} for w, x in zip(*own, strict=True)]
    for own in zip(WORDS, LABELS, strict=True)
]
PAIRS_OF_STR = [
    list(map(list, zip(*o, strict=True))) for o in zip(WORDS, LABELS, strict=True)
]
JOINED = list(map(" ".join, WORDS))
PARTS = [
    {"text": "Anna Meier", "entity": "PER", "slot_name": "who"},
    {"text": " lives in "},
    {"text": "Basel", "entity": "LOC"},
    {"text": "."},
]
# The spans of a text, as mappings of begin, end and type.
SPAN_FORMS = {
    "Azure": lambda b, e, t: {"offset": b, "length": e - b, "category": t},
    "AWS": lambda b, e, t: {"BeginOffset": b, "EndOffset": e, "Type": t},
    "Presidio": lambda b, e, t: {
        **{"entity_type": t, "entity_value": TEXT[b:e]},
        **{"start_position": b, "end_position": e},
    },
    "transformers": lambda b, e, t: {
        **{"entity_group": t, "score": 0.9, "word": TEXT[b:e], "start": b, "end": e}
    },
    "Flair": lambda b, e, t: {
        **{"text": TEXT[b:e], "start_pos": b, "end_pos": e},
        "labels": [{"value": t, "confidence": 0.9}],
    },
    "Argilla": lambda b, e, t: [t, b, e],
}
KINDS |= {
    f"spans of {name}": (
        f"{name}.jsonl",
        dumped(
            {"text": TEXT, "entities": [form(*s) for s in SPANS]},
            {"text": "Yes!", "entities": []},
        ),
        {},
    )
    for name, form in SPAN_FORMS.items()
}
KINDS |= {
    name: (f"{name}.json", json.dumps(document), {})
    for name, document in {
        "spans under annotation": [
            {"text": TEXT, "annotation": [[t, b, e] for b, e, t in SPANS]},
            {"text": "Yes!", "annotation": []},
        ],
        "Snips": [{"data": PARTS}, {"data": [{"text": "Yes!"}]}],
        "SciERC": {
            "sentences": WORDS,
            "ner": [[[0, 1, "PER"], [4, 4, "LOC"]], []],
        },
        "columns of lists": {"tokens": WORDS, "ner_tags": LABELS},
        "lists of pairs": PAIRS_OF_STR,
        "lists of mappings": TOKENS,
        "text and labels": [
            {"sentence": text, "labels": labels}
            for text, labels in zip(JOINED, LABELS, strict=True)
        ],
        "text and text of labels": [
            {"text": text, "tags": " ".join(labels)}
            for text, labels in zip(JOINED, LABELS, strict=True)
        ],
    }.items()
}
KINDS |= {
    "tokens as mappings": (None, TOKENS, {}),
    "lists of pairs in memory": (None, PAIRS_OF_STR, {}),
    "csv with blanks": ("x.csv", "word, tag\n" + lines("{word}, {label}"), {}),
    "csv with commas between labels": (
        "commas.csv",
        "text,labels\n"
        + "".join(
            f'"{text}","{",".join(labels)}"\n'
            for text, labels in zip(JOINED, LABELS, strict=True)
        ),
        {},
    ),
    "MultiCoNER": (
        "en_train.conll",
        "# id 1\tdomain=en\n"
        + lines("{word} _ _ {label}").replace("\n\nYes", "\n\n# id 2\nYes"),
        {"comment": "# id"},
    ),
    "old ends of lines": (
        "mac.txt",
        lines("{word}\t{label}", end="\r", between="\r"),
        {},
    ),
    "columns with bars": (
        "bars.txt",
        lines("{word} | {pos} | {label}"),
        {"delimiter": "|"},
    ),
}
# Labels that are read as they are, and features in the place of words.
AS_THEY_ARE = {
    "Stanford NER": [list(map(bare, own)) for own in LABELS],
    "GROBID": [
        [x.replace("PER", "per").replace("LOC", "loc") for x in own] for own in LABELS
    ],
}


def given(folder, name, content):
    """Return what read_corpus is given: a path, or data."""
    if name is None:
        return content
    files = content if isinstance(content, dict) else {name: content}
    for own, text in files.items():
        is_wide = text.startswith("\ufeff") and "\r" not in text
        encoding = "utf-16-le" if is_wide else "utf-8"
        (folder / own).write_text(text, newline="", encoding=encoding)
    return folder / name


@in_one_test("kind", KINDS)
def test_one_call_reads(tmp_path_factory, kind):
    folder = tmp_path_factory.mktemp("kind")
    name, content, options = KINDS[kind]
    X, y = read_corpus(given(folder, name, content), **options)
    assert [[token["word"] for token in tokens] for tokens in X] == WORDS
    assert y == AS_THEY_ARE.get(kind, LABELS)


# Without labels "dog/NN" is a word, and so is "new york" in a table.
NEED_LABELS = {
    *("slash tags", "csv with a sentence a row", "mixed blanks, not said"),
    *("csv with commas between labels", "lists of pairs", "label first, not said"),
}


@in_one_test("kind", [kind for kind in KINDS if kind not in NEED_LABELS])
def test_one_call_reads_words_without_labels(tmp_path_factory, kind):
    folder = tmp_path_factory.mktemp("kind")
    name, content, options = KINDS[kind]
    X = read_corpus(given(folder, name, content), labelled=False, **options)
    assert [[token["word"] for token in tokens] for tokens in X] == WORDS


def test_files_may_be_compressed_and_open(tmp_path):
    path = tmp_path / "all.jsonl.gz"
    path.write_bytes(gzip.compress(DOCCANO.encode()))
    assert read_corpus(path)[1] == LABELS
    with open(path, "rb") as file:
        assert read_corpus(file)[1] == LABELS
    assert read_corpus(io.StringIO(DOCCANO), "doccano")[1] == LABELS


def test_a_tagger_learns_from_what_is_read():
    X, y = read_corpus(PAIRS, scheme="BIOES")
    tagger = make_tagger(TokenFeatures(), CRF(transitions="BIOES", random_state=0))
    assert tagger.fit(X, y).predict(X).tolist() == y
    assert y[0] == ["B-PER", "E-PER", "O", "O", "S-LOC", "O"]


# What has attributes of tokens in the place of words.
def test_lines_with_any_number_of_attributes_are_read():
    text = "w=Anna first B\nw=ran O\n\nw=Yes ! O\n"
    X, y = read_corpus(io.StringIO(text), "mallet")
    assert X == [[["w=Anna", "first"], ["w=ran"]], [["w=Yes", "!"]]]
    assert y == [["B", "O"], ["O"]]
    text = "B\tw=New York\tfirst\nO\tw=ran\n"
    X, y = read_corpus(io.StringIO(text), "attributes", label="first")
    assert X == [[["w=New York", "first"], ["w=ran"]]]
    assert y == [["B", "O"]]
    assert CRF(random_state=0).fit(X, y).predict(X).tolist() == y
    X = read_corpus(io.StringIO("# x\na b\nc\n"), "mallet", labelled=False, comment="#")
    assert X == [[["a", "b"], ["c"]]]
    with pytest.raises(ValueError, match="label must be 'first' or 'last'"):
        read_corpus(io.StringIO(text), "attributes", label="w")


def test_data_of_crfsuite_are_read():
    X, y = read_corpus(io.StringIO(CRFSUITE), "crfsuite")
    assert X[0][0] == {"w=Anna": 1.0, "len": 4.0}
    assert y == LABELS


def test_sources_say_where_tokens_are():
    X, y, sources = read_corpus(PAIRS, return_sources=True)
    assert [source.document for source in sources] == [0, 1]
    assert sources[0].text == TEXT
    assert [TEXT[b:e] for b, e in sources[0].offsets] == WORDS[0]
    assert char_spans([("LOC", 4, 5)], sources[0].offsets) == [("LOC", 20, 25)]


def test_texts_end_their_sequences_at_line_breaks_but_not_in_spans():
    X, y, sources = read_corpus(
        [("In New\nYork\n\nYes", [(3, 11, "LOC")])], return_sources=True
    )
    assert y == [["O", "B-LOC", "I-LOC"], ["O"]]
    assert sources[1].offsets == [(13, 16)]
    with pytest.warns(ReadingWarning, match="nothing was read: there is no token"):
        assert read_corpus([("", []), ("  \n", [])]) == ([], [])


def test_spans_that_no_labels_describe_are_counted():
    spans = [(0, 10, "PER"), (0, 4, "FIRST"), (20, 23, "LOC")]
    with pytest.warns(ReadingWarning) as caught:
        _, y = read_corpus([(TEXT, spans)])
    assert [str(warning.message) for warning in caught] == [
        "1 span left out: they overlap a longer one; the first is 'Anna', characters "
        "0 to 4 of document 0.",
        "1 span left out: they begin or end inside of a token; the first is 'Bas', "
        "characters 20 to 23 of document 0. tokens='characters', or a regular "
        "expression there, finds finer tokens.",
    ]
    assert y == [["B-PER", "I-PER", "O", "O", "O", "O"]]
    X, y = read_corpus([(TEXT, spans[2:])], tokens=r"\w\w\w|\w|[.]")
    assert y[0][[token["word"] for token in X[0]].index("Bas")] == "B-LOC"


def test_blanks_at_the_ends_of_spans_are_none_of_them():
    _, y = read_corpus([(TEXT, [(0, 11, "PER"), (19, 25, "LOC")])])
    assert y == LABELS[:1]


def test_a_span_that_is_given_twice_is_one():
    _, y = read_corpus([(TEXT, [*SPANS, *SPANS])])
    assert y == LABELS[:1]


@pytest.mark.parametrize(
    ("text", "span", "message", "labels"),
    [
        ("Ann ran off", (4, 7, "X", "Ann"), "moved: .* 'Ann' with 'ran' at", "BOO"),
        ("Ann ran off", (4, 7, "X", "Eve"), "kept: .* 'Eve' with 'ran' at", "OBO"),
        ("Ann ran off", (3, 4, "X", None), "left out: they have no text", "OOO"),
        ("Ann ran off", (8, 14, "X", None), "cut: they end after the text", "OOB"),
        ("Ann ran off", (11, 14, "X", "z"), "left out: .* outside", "OOO"),
        ("Ann ran off", (-4, 3, "X", None), "left out: .* outside", "OOO"),
    ],
)
def test_wrong_offsets_are_told(text, span, message, labels):
    begin, end, kind, said = span
    document = Document(7, text, [(begin, end, kind)], said=[said])
    reading = Reading()
    [read] = Passages(reading).of(document)
    assert "".join(label[0] for label in read.labels) == labels
    [found, *_] = reading.messages()
    assert re.match(f"1 span {message}.* characters {begin} to {end} of .* 7", found)


def test_spans_of_records_with_tokens_alone_count_tokens():
    record = {
        "tokens": WORDS[0],
        "entities": [
            {"type": "PER", "start": 0, "end": 2},
            {"type": "LOC", "start": 4, "end": 5},
        ],
        "relations": [],
    }
    assert read_corpus([record])[1] == LABELS[:1]


def test_numbers_of_labels_have_names():
    row = {"tokens": ["a", "b", "c"], "ner_tags": [0, 1, -100]}
    assert read_corpus([row]) == ([[{"word": w} for w in "abc"]], [[0, 1, None]])
    names = ["O", "B-X"]
    _, y = read_corpus([row], label_names=names)
    assert y == [["O", "B-X", None]]
    long = {"sentence": [0, 0], "word": ["a", "b"], "label": [1, 0]}
    assert read_corpus(long, "table", label_names=names)[1] == [["B-X", "O"]]


def test_fields_and_columns_may_be_chosen():
    row = {"words": ["a", "b"], "pos_tags": ["D", "N"], "ner": ["O", "O"], "x": [1, 2]}
    X, y = read_corpus([row], label="pos_tags", columns=["word", "x"])
    assert X == [[{"word": "a", "x": "1"}, {"word": "b", "x": "2"}]]
    assert y == [["D", "N"]]
    table = {"s": [1, 1, 2], "form": list("abc"), "y": list("OXO"), "z": [1, 2, None]}
    X, y = read_corpus(table, "table", sentence="s", label="y", columns=["z"])
    assert X[1] == [{"word": "c", "z": ""}]
    assert y == [["O", "X"], ["O"]]
    X, _ = read_corpus(
        {"Word": ["a"], "POS": ["D"], "tag": ["O"]}, "table", columns=["word", "pos"]
    )
    assert X == [[{"word": "a", "pos": "D"}]]
    with pytest.raises(ValueError, match="no column for columns= among s, form, y, z"):
        read_corpus(table, "table", sentence="s", label="y", columns=["pos"])
    assert read_corpus(table, "table", sentence="s", label="y", labelled=False)[1] == [
        {"word": "c", "y": "O", "z": ""}
    ]


def test_columns_of_records_are_rows():
    columns = {"tokens": WORDS, "ner_tags": LABELS}
    assert read_corpus(columns)[1] == LABELS
    arrays = [
        {"tokens": np.array(w), "ner_tags": n}
        for w, n in zip(WORDS, NUMBERS, strict=True)
    ]
    X, y = read_corpus(arrays, label_names=HubRows.names)
    assert y == LABELS
    assert type(X[0][0]["word"]) is str
    assert read_corpus({"text": TEXT, "entities": SPANS})[1] == LABELS[:1]


def test_sentences_of_tables_end_where_a_number_changes():
    frame = pd.DataFrame(
        {
            "doc": ["x", None, "y", "y"],
            "sent": [1.0, np.nan, 1.0, 2.0],
            "word": list("abcd"),
            "tag": ["O", "X", np.nan, "O"],
        }
    )
    _, y = read_corpus(frame, sentence=["doc", "sent"])
    assert y == [["O", "X"], [None], ["O"]]
    text = "word,tag\na,O\n\nb,X\n,\nc,O\n"
    assert read_corpus(io.StringIO(text), "csv")[1] == [["O"], ["X"], ["O"]]


def test_quotation_marks_are_words_in_files_with_tabs():
    text = 'word\ttag\n"\tO\na\tO\n""""\tX\n"a ""b"\tO\n'
    X, y = read_corpus(io.StringIO(text), "tsv")
    assert [token["word"] for token in X[0]] == ['"', "a", '"', 'a "b']
    text = 'word,tag\n"""",O\n"a,b",X\n'
    X, _ = read_corpus(io.StringIO(text), "csv")
    assert [token["word"] for token in X[0]] == ['"', "a,b"]


def test_documents_in_json_are_found_in_others():
    core = {"docId": "x", "sentences": [{"tokens": [
        {"word": w, "ner": x, "characterOffsetBegin": 0}
        for w, x in zip(*own, strict=True)
    ]} for own in zip(WORDS, LABELS, strict=True)]}  # fmt: skip
    assert read_corpus(io.StringIO(json.dumps(core, indent=1)), "json")[1] == LABELS
    inner = {"data": WIDE, "version": 1}
    assert read_corpus(io.StringIO(json.dumps(inner)), "json")[1] == LABELS


def test_slashes_in_words_and_other_separators():
    text = "1\\/2/CD and/or/CC\n\n Fulton_NP \n"
    X, y = read_corpus(io.StringIO(text.replace("_", "/")), "slash")
    assert X == [[{"word": "1/2"}, {"word": "and/or"}], [{"word": "Fulton"}]]
    assert y == [["CD", "CC"], ["NP"]]
    X, y = read_corpus(io.StringIO("Fulton_NP\n"), "slash", separator="_")
    assert (X, y) == ([[{"word": "Fulton"}]], [["NP"]])


def test_elements_that_hold_others_are_no_spans():
    text = "<A>1</A> &amp; <b/><A>2</A><!-- no -->"
    X, y = read_corpus(io.StringIO(f"<r><x>{text}</x><x>3</x></r>"), "xml")
    assert [[t["word"] for t in own] for own in X] == [["1", "&", "2"], ["3"]]
    assert y == [["B-A", "O", "B-A"], ["O"]]
    X, y = read_corpus(io.StringIO(f"<d>{text}</d>"), "xml", types=["d"])
    assert y == [["B-d", "I-d", "I-d"]]


def test_parts_of_a_span_in_brat_are_spans(tmp_path):
    (tmp_path / "a.txt").write_text("left or right arm")
    (tmp_path / "a.ann").write_text("T1\tBODY 0 4;14 17\tleft arm\nE1\tX:T1\n")
    for source in tmp_path, tmp_path / "a.ann", [tmp_path / "a.txt"]:
        _, y = read_corpus(source, "brat")
        assert y == [["B-BODY", "O", "O", "B-BODY"]]
    (tmp_path / "a.ann").unlink()
    assert len(read_corpus(tmp_path, labelled=False)) == 1


@pytest.mark.parametrize(
    ("source", "options", "message"),
    [
        ('{"tokens": ["a"], "tags": ["O"]}\n{"x": 1\n', {}, r"file, line 2: no JSON"),
        (
            '\n{"tokens": ["a"]}\n',
            {},
            "line 2, record 0: no form .* tokens: form='tokens', as .* lacks labels of",
        ),
        ('{"text": "a", "spans": [{"start": 0}]}', {}, "a span needs its begin, end"),
        ('{"tokens": ["a"], "tags": []}', {}, r"1 token, but labels has 0"),
        (
            '{"tokens": ["a"], "x": ["O"]}',
            {"label": "y"},
            "no field 'y' among tokens, x",
        ),
        ('{"tokens": [1], "tags": ["O"]}', {}, "a token must be a str"),
        (
            "[1]",
            {},
            "record 0: no form fits a record that is of type int 1",
        ),
        ('{"text": "a", "spans": [[0, 1]]}', {}, "record 0"),
        ('{"id": 1}', {"labelled": False}, "record 0: no form fits a record with id: "),
        (
            '{"text": "a", "annotation": [{"label": ["X"], "points": [{"start": 0}]}]}',
            {},
            "record 0: there is no field 'end'",
        ),
    ],
)
def test_wrong_records_are_named(source, options, message):
    with pytest.raises(ValueError, match=message):
        read_corpus(io.StringIO(source), "json", **options)


@pytest.mark.parametrize(
    ("format", "text", "message"),
    [
        ("table", "word,tag\na,O,X\n", r"file, line 2: 3 columns, but the first line"),
        ("table", "word,x\na,O\n", r"no column for label= among word, x"),
        ("table", "a,x\na,O\n", r"no column for word= among a, x"),
        (
            "table",
            "word,tag\n,B\n",
            r"line 2: no word in column 'word'.*keep_default_na",
        ),
        ("slash", "a/B\nab c/D\n", r"file, line 2: 'ab' is no word with its label"),
        ("pubtator", "x\n", r"file, line 1: no title"),
        ("conllup", "1\ta\n", r"line 1: CoNLL-U Plus begins with"),
        ("conllup", "# global.columns = ID FORM\n1\n", "line 2: 1 columns, but"),
        (
            "conllup",
            "# global.columns = ID LEMMA\n",
            "no column 'word' among id, lemma",
        ),
        ("xml", "a\n</b>", r"file, line 2: '</b>' closes nothing"),
        ("brackets", "a", "brackets must be among"),
    ],
)
def test_wrong_files_are_named_with_the_line(format, text, message):
    options = {"brackets": "()"} if format == "brackets" else {}
    with pytest.raises(ValueError, match=message):
        read_corpus(io.StringIO(text), format, **options)


def test_records_and_parts_that_are_none_are_told():
    with pytest.raises(ValueError, match="has the parts train, test: read one"):
        read_corpus({"train": WIDE, "test": WIDE})
    with pytest.raises(ValueError, match="record 0: its tokens have different numbers"):
        read_corpus([[("a", "O"), ("b", "N", "O")]])


def test_unknown_names_are_told_with_the_known_ones():
    with pytest.raises(
        ValueError, match=r"no format 'docano'; did you mean 'doccano'\?"
    ):
        read_corpus(io.StringIO(""), "docano")
    with pytest.raises(
        TypeError, match=r"no option 'colums'; did you mean 'columns'\?"
    ):
        read_corpus(io.StringIO(""), "columns", colums=["word"])


SMILE = "\U0001f642 Gr\u00fc\u00dfe, Anna!"


@pytest.mark.parametrize(
    ("begin", "end"), [(9, 13), (10, 14), (14, 18)], ids=["characters", "16", "8"]
)
def test_offsets_may_count_other_units_if_the_text_is_said(tmp_path, begin, end):
    """Characters, UTF-16 units of JavaScript, and bytes."""
    value = {"start": begin, "end": end, "text": "Anna", "labels": ["PER"]}
    task = {"data": {"text": SMILE}, "annotations": [{"result": [{"value": value}]}]}
    assert read_corpus([task])[1][0][-2:] == ["B-PER", "O"]
    (tmp_path / "a.txt").write_text(SMILE, encoding="utf-8")
    (tmp_path / "a.ann").write_text(f"T1\tPER {begin} {end}\tAnna\n", encoding="utf-8")
    assert read_corpus(tmp_path)[1][0][-2:] == ["B-PER", "O"]
    text = f"1|t|{SMILE}\n1\t{begin}\t{end}\tAnna\tPER\n"
    assert read_corpus(io.StringIO(text), "pubtator")[1][0][-2:] == ["B-PER", "O"]


def test_offsets_are_characters_where_no_text_is_said():
    assert read_corpus([(SMILE, [(9, 13, "PER")])])[1][0][-2:] == ["B-PER", "O"]


def test_units_of_xmi_are_of_utf_16():
    text = XMI.replace("Anna", "\U0001f642nna").replace('end="10"', 'end="11"')
    text = text.replace('begin="20" end="25"', 'begin="21" end="26"')
    _, y = read_corpus(io.StringIO(text), "xmi")
    assert y[0][-2:] == ["B-LOC", "O"]


def test_tokens_of_xmi_are_taken():
    token = '<ner:Token begin="{}" end="{}"/>'
    tokens = token.format(0, 10) + token.format(20, 25)
    text = XMI.replace("<ner:Lemma", f"{tokens}<ner:Lemma")
    X, y = read_corpus(io.StringIO(text), "xmi", scheme="BIOES")
    assert [[token["word"] for token in own] for own in X] == [["Anna Meier", "Basel"]]
    assert y == [["S-PER", "S-LOC"]]
    _, y = read_corpus(io.StringIO(XMI), "uima", types=["Lemma"])
    assert y[0][:2] == ["B-anna", "O"]


def test_sentences_of_penn_end_at_the_tag_of_a_full_stop():
    text = "[ a/DT ]\nb\\/c/NN ./.\n[ d/NN ]\n\ne/NN\n"
    X, y = read_corpus(io.StringIO(text), "penn")
    assert y == [["DT", "NN", "."], ["NN"], ["NN"]]
    assert X[0][1] == {"word": "b/c"}


def test_spans_of_webanno_may_be_stacked_and_touch():
    rows = (
        "1-1\t0-1\ta\tX[1]|Y[2]\n1-2\t2-3\tb\tY[2]\n1-3\t4-5\tc\tY[3]\n1-4\t6-7\td\tY\n"
    )
    text = f"#FORMAT=WebAnno TSV 3.3\n#T_SP=x|kind\n\n{rows}"
    with pytest.warns(UserWarning, match="1 span left out: .* the first is 'a'"):
        _, y = read_corpus(io.StringIO(text), "inception")
    assert y == [["B-Y", "I-Y", "B-Y", "B-Y"]]
    with pytest.raises(ValueError, match=r"no layer or feature 'kinds'; did you"):
        read_corpus(io.StringIO(text), "webanno", label="kinds")


def test_parts_of_a_span_with_a_line_break_between_are_one(tmp_path):
    (tmp_path / "a.txt").write_text("in New\nYork", encoding="utf-8")
    (tmp_path / "a.ann").write_text("T1\tLOC 3 6;7 11\tNew York\n", encoding="utf-8")
    assert read_corpus(tmp_path)[1] == [["O", "B-LOC", "I-LOC"]]


@pytest.mark.parametrize("format", ["bioc", "xmi"])
def test_wrong_xml_is_named_with_the_line(format):
    with pytest.raises(ValueError, match="file, line 2: no XML, mismatched tag"):
        read_corpus(io.StringIO("<a>\n</b>"), format)


def taken_for(records, n=1):
    """Return how many records are read for the first n sequences, and those."""
    taken = []
    source = (taken.append(record) or record for record in records)
    found = read_records(source, Reading())
    return [next(found) for _ in range(n)], len(taken)


PAIR = [["Anna", "B-PER"], ["ran", "O"]]
LISTS = [["Anna", "ran"], ["B-PER", "O"]]
ROW = [["Anna", "B-PER"], ["ran", "O"], ["!", "O"]]
WITH_SPANS = {"text": "Anna ran", "entities": [[0, 4, "PER"]]}
WITHOUT = {"text": "Anna ran"}


@pytest.mark.parametrize(
    ("records", "n_taken", "labels"),
    [
        ([{"tokens": ["Anna"], "tags": ["B-PER"]}] * 9, 1, ["B-PER"]),
        ([WITH_SPANS] * 9, 1, ["B-PER", "O"]),
        # It is asked whether there are spans at all.
        ([WITHOUT, WITHOUT, WITH_SPANS, WITHOUT], 3, ["O", "O"]),
        ([ROW] * 9, 1, ["B-PER", "O", "O"]),
        # Two words with labels, or words and labels?
        ([PAIR, PAIR, ROW, PAIR], 3, ["B-PER", "O"]),
        ([PAIR, PAIR, WITH_SPANS, PAIR], 3, ["ran", "O"]),
        ([PAIR, PAIR], 2, ["B-PER", "O"]),
        ([LISTS, LISTS], 2, ["B-PER", "O"]),
    ],
)
def test_no_more_records_are_kept_than_needed(records, n_taken, labels):
    (first,), n = taken_for(records)
    assert (first.labels, n) == (labels, n_taken)


def test_records_that_were_looked_at_are_all_read():
    records = [WITHOUT, WITHOUT, WITH_SPANS, WITHOUT, WITH_SPANS]
    found, n = taken_for(records, 5)
    assert [read.labels[0] for read in found] == ["O", "O", "B-PER", "O", "B-PER"]
    assert n == 5
    X, y = read_corpus([PAIR, ROW, PAIR], "json")
    assert [len(own) for own in X] == [len(own) for own in y] == [2, 3, 2]


def test_rows_of_other_widths_are_told():
    bad = [["Anna", "NNP", "B-PER"], ["ran", "O"]]
    with pytest.raises(ValueError, match="record 1: its tokens have different numbers"):
        read_corpus([ROW, bad], "json")


class Arrow:
    """A table or a column of Arrow, whose cells are objects of its own."""

    def __init__(self, values):
        self.values = values
        if isinstance(values, dict):
            self.columns = [object()] * len(values)
            self.shape = len(next(iter(values.values()))), len(values)
            self.to_pydict = lambda: values
        else:
            self.to_pylist = lambda: values

    def __iter__(self):
        return iter([object()] * len(self.values))


SENTENCES, TAGS = [["Anna", "left"], ["Yes"]], [["B-PER", "O"], ["O"]]
A_TOKEN_A_ROW = {
    "sentence": [1, 1, 2],
    "word": ["Anna", "left", "Yes"],
    "label": ["B-PER", "O", "O"],
}


def in_arrow(values):
    pa = pytest.importorskip("pyarrow")
    return pa.table(values) if isinstance(values, dict) else pa.array(values)


@pytest.mark.parametrize("made", [Arrow, in_arrow])
@pytest.mark.parametrize(
    "values",
    [
        {"tokens": SENTENCES, "ner_tags": TAGS},
        A_TOKEN_A_ROW,
        [
            {"tokens": words, "ner_tags": tags}
            for words, tags in zip(SENTENCES, TAGS, strict=True)
        ],
    ],
    ids=["sentences", "tokens", "records"],
)
def test_tables_and_columns_of_arrow_are_read(values, made):
    X, y = read_corpus(made(values))
    assert [[token["word"] for token in tokens] for tokens in X] == SENTENCES
    assert y == TAGS


def test_a_column_of_words_has_no_labels():
    for source in (SENTENCES, Arrow(SENTENCES)):
        with pytest.raises(ValueError, match=r"record 0: .*zip\(words, labels\)"):
            read_corpus(source)
    assert read_corpus(zip(SENTENCES, TAGS, strict=True))[1] == TAGS


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("get_docs", r"no records, .* reads its documents, source.get_docs\(nlp.vocab"),
        ("collect_schema", r"it is not computed yet: pass source.collect\(\)"),
    ],
)
def test_containers_without_records_are_told_what_has_them(name, message):
    with pytest.raises(TypeError, match=message):
        read_corpus(type("Theirs", (), {name: None})())


def test_documents_of_a_doc_bin_are_read(tmp_path):
    spacy = pytest.importorskip("spacy")
    nlp = spacy.blank("en")
    file = spacy.tokens.DocBin(docs=[nlp("Anna left")])
    with pytest.raises(TypeError, match="DocBin.*source.get_docs"):
        read_corpus(file)
    assert read_corpus(file.get_docs(nlp.vocab))[1] == [["O", "O"]]


@pytest.mark.parametrize(
    ("name", "advice"),
    [("x.spacy", "DocBin"), ("x.parquet", "read_parquet"), ("X.XLSX", "read_excel")],
)
def test_files_that_are_no_text_are_told_what_reads_them(name, advice, tmp_path):
    (tmp_path / name).write_bytes(b"\x78\x9c\xff")
    with pytest.raises(
        ValueError, match=f"{name}: a file .* is no text; pass .*{advice}"
    ):
        read_corpus(tmp_path / name)
