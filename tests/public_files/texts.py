"""Texts with their annotations beside them, or among the words."""

from .sentences import (
    BODY,
    BODY_SPANS,
    POS,
    SPANS,
    STARTS,
    TEXTS,
    TOKEN_SPANS,
    WORDS,
    Kind,
    lines,
    of_texts,
    sentence_lines,
)

ANN = "".join(
    f"T{k}\t{t} {b} {e}\t{BODY[b:e]}\n" for k, (b, e, t) in enumerate(BODY_SPANS, 1)
)
DKPRO = "de.tudarmstadt.ukp.dkpro.core.api."
LEMMA = f"#FORMAT=WebAnno TSV 3.3\n#T_SP={DKPRO}segmentation.type.Lemma|value\n"
BIOC = (
    '<?xml version="1.0" encoding="UTF-8"?>\n<!DOCTYPE collection SYSTEM "BioC.dtd">\n'
    "<collection><source>x</source><document><id>1</id>{}</document></collection>"
)
XMI = (
    '<?xml version="1.0" encoding="UTF-8"?><xmi:XMI xmlns:xmi="http://www.omg.org/XMI" '
    'xmlns:cas="http:///uima/cas.ecore" xmlns:ner="http:///ner.ecore">{}'
    '<cas:Sofa xmi:id="1" sofaString="{}"/></xmi:XMI>'
)


def marked(begin, end="</{type}>"):
    """Return the texts with marks around spans, which may have the {type}."""
    found = []
    for text, spans in zip(TEXTS, SPANS, strict=True):
        for b, e, t in reversed(spans):
            marks = begin.format(type=t), end.format(type=t)
            text = text[:b] + text[b:e].join(marks) + text[e:]
        found.append(text)
    return found


def joined(texts, form="{}\n"):
    return "".join(form.format(text) for text in texts)


def pubtator(text, spans):
    notes = joined(f"1\t{b}\t{e}\t{text[b:e]}\t{t}\tD1" for b, e, t in spans)
    return f"1|t|{text}\n1|a|\n{notes}\n"


def passage(text, spans):
    """Return a passage of BioC."""
    notes = joined(
        f'<annotation id="{b}"><infon key="type">{t}</infon><location offset="{b}" '
        f'length="{e - b}"/><text>{text[b:e]}</text></annotation>'
        for b, e, t in spans
    )
    return f"<passage><offset>0</offset><text>{text}</text>{notes}</passage>"


def webanno(layer, form):
    """Return a table with lemmas, and another layer whose cells have a form."""
    rows, n = f"{LEMMA}#T_SP={layer}\n\n", 0
    for s, (text, words, spans) in enumerate(
        zip(TEXTS, WORDS, TOKEN_SPANS, strict=True)
    ):
        rows, end, found = f"{rows}\n#Text={text}\n", STARTS[s], {}
        for b, e, t in spans:
            n += 1
            found |= dict.fromkeys(range(b, e), f"{t}[{n}]" if e - b > 1 else t)
        for i, word in enumerate(words):
            begin = BODY.index(word, end)
            end = begin + len(word)
            cells = form.format(found.get(i, "_"), star="*" if i in found else "_")
            rows += (
                f"{s + 1}-{i + 1}\t{begin}-{end}\t{word}\t{word.lower()}\t{cells}\t\n"
            )
    return rows


CONCEPTS = joined(
    f'c="{" ".join(words[b:e])}" {k}:{b} {k}:{e - 1}||t="{t}"'
    for k, (words, spans) in enumerate(zip(WORDS, TOKEN_SPANS, strict=True), 1)
    for b, e, t in spans
)
ENAMEX = joined(marked('<ENAMEX TYPE="{type}">', "</ENAMEX>"))
STANDOFF = joined(
    f'<NAME start="{b}" end="{e}" text="{BODY[b:e]}" TYPE="{t}"/>'
    for b, e, t in BODY_SPANS
)
ALL_OUTSIDE = "all 27 tokens have one label, 'O'"
ANOTHER = "format= names other formats"

KINDS = {
    "brat": Kind(
        {
            "folder/a.txt": BODY,
            "folder/a.ann": f"{ANN}R1\tLives Arg1:T1 Arg2:T2\nA1\tSure T1\n"
            "#1\tAnnotatorNotes T1\tsure\n",
        }
    ),
    "brat, fragments": Kind(
        {"folder/a.txt": BODY, "folder/a.ann": ANN.replace("0 10", "0 4;5 10")}
    ),
    "brat, a text without .ann": Kind(
        {"folder/a.txt": BODY, "folder/b.txt": BODY, "folder/a.ann": ANN},
        says="1 text left out",
        warns="1 text left out",
    ),
    "BioNLP, .a1": Kind(
        {"folder/a.txt": BODY, "folder/a.a1": ANN},
        says=r"no text .* \.ann",
        labels=None,
    ),
    "a folder of columns": Kind(
        {"folder/a.tsv": lines("{word}\t{label}")},
        says="Files of other formats are read one by one",
        labels=None,
    ),
    "PubTator": Kind({"corpus.PubTator": joined(of_texts(pubtator), "{}")}),
    "PubTator, .txt": Kind(
        {"CDR_TrainingSet.PubTator.txt": joined(of_texts(pubtator), "{}")},
        {"format": "pubtator"},
        ANOTHER,
    ),
    "BioC": Kind({"bc5cdr.xml": BIOC.format(joined(of_texts(passage), "{}"))}),
    "UIMA, XMI": Kind(
        {
            "a.xmi": XMI.format(
                joined(
                    f'<ner:NamedEntity begin="{b}" end="{e}" value="{t}" sofa="1"/>'
                    for b, e, t in BODY_SPANS
                ),
                BODY.replace("\n", "&#10;"),
            )
        }
    ),
    "WebAnno, lemmas and entities": Kind(
        {
            "a.tsv": webanno(
                f"{DKPRO}ner.type.NamedEntity|identifier|value", "{star}\t{}"
            )
        }
    ),
    "WebAnno, an own layer": Kind(
        {"a.tsv": webanno("webanno.custom.Person|value", "{}")}
    ),
    "i2b2 2010": Kind(
        {
            "folder/txt/a.txt": joined(map(" ".join, WORDS)),
            "folder/concept/a.con": CONCEPTS,
        },
    ),
    "MUC": Kind({"muc.sgml": f"<DOC>\n<TEXT>\n<p>\n{ENAMEX}</p>\n</TEXT>\n</DOC>\n"}),
    "OntoNotes, .name": Kind(
        {"cctv_0001.name": f'<DOC DOCNO="bc/cctv@0001">\n{ENAMEX}</DOC>\n'},
        {"format": "muc"},
        ANOTHER,
    ),
    "HAREM": Kind(
        {
            "CDSegundoHAREMclassico.xml": "<DOC DOCID='a'>"
            + joined(
                marked('<EM ID="1" CATEG="{type}" TIPO="X">', "</EM>"), "<P>{}</P>\n"
            )
            + "</DOC>\n"
        },
    ),
    "GENIA, terms": Kind(
        {
            "GENIAcorpus3.02.xml": joined(
                marked('<cons lex="x" sem="{type}">', "</cons>"),
                "<sentence>{}</sentence>\n",
            )
        },
        {"types": ["cons"], "attribute": "sem"},
        says="attribute sem has 2 values, .* attribute=",
    ),
    "IEER": Kind(
        {"APW.sgml": joined(marked('<b_enamex type="{type}">', "<e_enamex>"))},
        says=ALL_OUTSIDE,
        labels=None,
    ),
    "n2c2 2014": Kind(
        {
            "110-01.xml": f"<deIdi2b2>\n<TEXT><![CDATA[{BODY}]]></TEXT>\n"
            f"<TAGS>{STANDOFF}</TAGS></deIdi2b2>"
        },
        says=ALL_OUTSIDE,
        labels=None,
    ),
    "DDI": Kind(
        {"ddi.xml": joined(TEXTS, '<sentence text="{}"></sentence>')},
        says="nothing was read|no sentence",
        labels=None,
    ),
    "OpenNLP": Kind(
        {
            "en-ner.train": joined(marked("<START:{type}> ", " <END>"))
            .replace(".", " .")
            .replace("!", " !")
        },
        {"format": "opennlp"},
        ANOTHER,
    ),
    "inline XML": Kind({"names.xml": joined(marked("<{type}>"), "<s>{}</s>\n")}),
    "brackets": Kind(
        {
            "x.txt": joined(marked("[{type} ", " ]"))
            .replace(".", " .")
            .replace("!", " !")
        },
        {"format": "brackets"},
        ANOTHER,
    ),
    "Rasa, markdown": Kind(
        {"nlu.md": "## intent:live\n" + joined(marked("[", "]({type})"), "- {}\n")},
        {"format": "rasa"},
        ANOTHER,
    ),
    "Rasa, YAML": Kind(
        {
            "nlu.yml": 'version: "3.1"\nnlu:\n- intent: live\n  examples: |\n'
            + joined(marked("[", ']{{"entity": "{type}"}}'), "    - {}\n")
        }
    ),
    "GENIA, tags": Kind(
        {"GENIAcorpus3.02.pos.txt": lines("{word}/{pos}", between=f"{'=' * 20}\n")},
        {"format": "penn"},
        ANOTHER,
        POS,
    ),
    "Penn Treebank": Kind(
        {"wsj_0001.pos": f"\n{'=' * 38}\n\n".join(sentence_lines("{word}/{pos}"))},
        labels=POS,
    ),
    "Brown": Kind(
        {"ca01": joined(sentence_lines("{word}/{pos}"), "\t{}\n")},
        {"format": "brown"},
        ANOTHER,
        POS,
    ),
    "Mac-Morpho": Kind(
        {"macmorpho-train.txt": joined(sentence_lines("{word}_{pos}"), "{}")},
        {"format": "slash", "separator": "_"},
        ANOTHER,
        POS,
    ),
    "Mac-Morpho of NLTK": Kind(
        {"co94ag02.txt": lines("{word}_{pos}", between="")}, says=ANOTHER, labels=None
    ),
    "libpostal": Kind(
        {"addresses.txt": joined(sentence_lines("{word}/{label}"), "{}")},
        {"format": "slash"},
        ANOTHER,
    ),
    "libpostal, languages": Kind(
        {
            "addresses.tsv": "".join(
                f"de\tch\t{n}/number {line}"
                for n in range(9)
                for line in sentence_lines("{word}/{label}")
            )
        },
        says="45 labels of 45 tokens are more than a tenth; label=",
        labels=None,
    ),
}
