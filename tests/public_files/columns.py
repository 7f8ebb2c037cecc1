"""Files of columns: a line for each token."""

import io

from skcrf_sdca.text import read_corpus

from .sentences import CHUNKS, LABELS, POS, ROWS, WORDS, Kind, in_form, lines
from .sentences import sentence_lines as lines_of

# No two spans of one type touch.
IOB1 = in_form(lambda label: label.replace("B-", "I-"))
TYPES = in_form(lambda label: label[2:] or "O")
SUFFIXES = in_form(lambda label: "_".join(reversed(label.split("-"))))
UNDERSCORES = in_form(lambda label: label.replace("-", "_"))
GROBID = in_form(
    {"O": "<other>", "B-PER": "I-<PER>", "I-PER": "<PER>", "B-LOC": "I-<LOC>"}.get
)
BIOES = in_form(lambda label: label.replace("B-", "S-").replace("I-", "E-"))
BIOES[0][0] = "B-PER"
BRACKETS = in_form({"O": "*", "B-PER": "(PER*)", "I-PER": "*)", "B-LOC": "(LOC*)"}.get)
BRACKETS[0][0] = "(PER*"
ONE = {"words": [sum(WORDS, [])], "labels": [sum(LABELS, [])]}
AMHARIC = "\u1260\u12a0\u12f2\u1235"


def tabs(*fields):
    return "\t".join(fields)


TITLES = (
    "TOKEN NE-COARSE-LIT NE-COARSE-METO NE-FINE-LIT NE-FINE-METO NE-FINE-COMP "
    "NE-NESTED NEL-LIT NEL-METO MISC"
)
HIPE = (
    tabs(*TITLES.split())
    + "\n# language = de\n# document_id = a\n"
    + lines(tabs("{word}", "{label}", "O", "{label}.sub", *"OOO___"), between="")
).replace("O.sub", "O")


def of_bars(path):
    """Read sentences of tokens such as "Anna|NNP|B-PER", in two lines."""
    text = path.read_text().replace("\n", "\n\n").replace(" ", "\n")
    return read_corpus(io.StringIO(text), "columns", delimiter="|")


KINDS = {
    "CoNLL-2000": Kind({"train.txt": lines("{word} {pos} {chunk}")}, labels=CHUNKS),
    "CoNLL-2002": Kind({"esp.train": lines("{word} {pos} {label}")}),
    "CoNLL-2003": Kind(
        {
            "eng.train": "-DOCSTART- -X- O O\n\n"
            + lines("{word} {pos} I-NP {label}", labels=IOB1)
        },
        labels=IOB1,
    ),
    "WNUT-17": Kind({"wnut17train.conll": lines("{word}\t{label}", between="\t\n")}),
    "CRF++": Kind({"train.data": lines("{word}\t{pos}\t{label}")}),
    "Wapiti": Kind({"nlp-train": lines("{word}  {pos}  {label}")}),
    "Stanford NER": Kind(
        {"jane-austen.tsv": lines("{word}\t{label}", labels=TYPES)}, labels=TYPES
    ),
    "Few-NERD": Kind(
        {"train.txt": lines("{word}\t{label}", labels=TYPES)}, labels=TYPES
    ),
    "GermEval 2014": Kind(
        {
            "NER-de-train.tsv": lines(
                "{n}\t{word}\t{label}\tO", start="#\thttp://x.de/{s} [2009-01-01]\n"
            )
        },
        {"columns": (None, "word", "label", None)},
        says="has labels of spans, and the label is none of these; columns=",
    ),
    "HIPE": Kind(
        {"HIPE-data-v1.4-train-de.tsv": HIPE},
        {"columns": ("word", "label", *[None] * 8), "header": True},
        says="NE-COARSE-LIT .* the label is none of these; columns=",
        **ONE,
    ),
    "HIPE, by its title": Kind(
        {"HIPE-data-v1.4-train-de.tsv": HIPE},
        {"label": "NE-COARSE-LIT"},
        says="NE-COARSE-LIT .* the label is none of these; columns=",
        warns="NE-FINE-LIT is a feature, .* labels of the same types",
        **ONE,
    ),
    "MultiCoNER": Kind(
        {
            "en_train.conll": lines(
                "{word} _ _ {label}", between="\n\n", start="# id 5a-{s}\tdomain=en\n"
            )
        }
    ),
    "litbank": Kind(
        {"105_persuasion_brat.tsv": lines("{word}\t{label}\tO\tO\tO\t")},
        {"columns": ("word", "label", None, None, None)},
        says="all 27 tokens have one label, 'O'; label=",
    ),
    "litbank, one level": Kind({"105_persuasion_brat.tsv": lines("{word}\t{label}\t")}),
    "MasakhaNER": Kind(
        {"train.txt": lines("{word} {label}").replace("Basel", AMHARIC)},
        words=[[AMHARIC if w == "Basel" else w for w in own] for own in WORDS],
    ),
    "Turku NER": Kind({"train.tsv": "-DOCSTART-\tO\n\n" + lines("{word}\t{label}")}),
    "SEC": Kind(
        {
            "FIN5.txt": "-DOCSTART- -X- -X- O\n\n"
            + lines("{word} {pos} {pos} {label}", labels=IOB1)
        },
        labels=IOB1,
    ),
    "wikigold": Kind(
        {"wikigold.conll.txt": "-DOCSTART- O\n" + lines("{word} {label}", labels=IOB1)},
        labels=IOB1,
    ),
    "JNLPBA": Kind(
        {"Genia4ERtask1.iob2": "###MEDLINE:95369245\n\n" + lines("{word}\t{label}")}
    ),
    "CRAFT": Kind({"train.tsv": lines("{word}\t{label}", labels=BIOES)}, labels=BIOES),
    "MIT restaurants": Kind({"restauranttrain.bio": lines("{label}\t{word}")}),
    "CoNLL-2012": Kind(
        {
            "cctv_0001.v4_gold_conll": "#begin document (bc/cctv_0001); part 000\n"
            + lines(
                "bc/cctv_0001 0 {m} {word} {pos} (TOP* - - - A {label} -",
                labels=BRACKETS,
            )
            + "#end document\n"
        },
        {
            "columns": (*[None] * 3, "word", "pos", *[None] * 5, "label", None),
            "label_form": "(PER*",
        },
        says="words begin with 'bc/cctv_0001'; columns=",
    ),
    "CoNLL-2009": Kind(
        {
            "CoNLL2009-ST-English-train.txt": lines(
                tabs("{n}", *["{word}"] * 3, *["{pos}"] * 2, *"__00__AA")
            )
        },
        {"columns": (None, "word", None, None, "label", *[None] * 9)},
        says="all 27 tokens have one label, 'A'; label=",
        labels=POS,
    ),
    "Universal NER": Kind(
        {
            "en_ewt-ud-train.iob2": lines(
                "{n}\t{word}\t{label}\t-\t-", start="# sent_id = {s}\n# text = {text}\n"
            )
        },
        {"columns": (None, "word", "label", None, None)},
        says="all 27 tokens have one label, '-'; label=",
    ),
    "WikiNEuRal": Kind({"train.conllu.tsv": lines("{m}\t{word}\t{label}")}),
    "Naver NER": Kind(
        {"train_data": lines("{n}\t{word}\t{label}", labels=SUFFIXES)},
        {"label_form": "auto"},
        bare=SUFFIXES,
    ),
    "LST20": Kind(
        {"T00001.txt": lines("{word}\t{pos}\t{label}\tI_CLS", labels=UNDERSCORES)},
        {"columns": ("word", "pos", "label", None), "label_form": "B_PER"},
        says="all 27 tokens have one label, 'I_CLS'; label=",
    ),
    "Label Studio, CONLL2003": Kind(
        {"project-1.conll": "-DOCSTART- -X- O\n" + lines("{word} -X- _ {label}")}
    ),
    "GROBID": Kind(
        {"x.train": lines("{word} a b {label}", labels=GROBID)},
        {"format": "grobid"},
        bare=GROBID,
    ),
    "KLUE": Kind(
        {
            "klue-ner-v1_dev.tsv": lines(
                "{word}\t{label}", start="## klue-{s}\t{text}\n"
            )
        },
        {"comment": "##"},
        says="is it a comment.* comment=",
    ),
    "TnT": Kind(
        {"train.tt": "%% a corpus, tagged\n" + lines("{word}\t{pos}")},
        {"comment": "%%"},
        says="comment= how comments begin",
        labels=POS,
    ),
    "Weibo": Kind(
        {"weiboNER.conll.train": lines("{word}{m}\t{label}")},
        says="the first 27 words end with numbers, such as 'Anna0'; columns=",
        labels=None,
    ),
    "NERsuite": Kind(
        {"train.iob2": lines("{label}\t{m}\t{n}\t{word}\t{word}\t{pos}")},
        {"columns": ("label", None, None, "word", None, "pos")},
        says="the first 27 words are numbers such as 0; columns=",
    ),
    "AIDA": Kind(
        {
            "AIDA-YAGO2-dataset.tsv": "-DOCSTART- (1 Anna)\n"
            + lines("{word}\t{label}").replace("\tO\n", "\n")
        },
        says="columns= names each column",
        labels=None,
    ),
    "ANERcorp": Kind(
        {"ANERCorp": lines("{word} {label}", between="") * 150},
        says="the only sentence has 4,050 tokens; format=",
        labels=None,
    ),
    "spaCy, .iob": Kind(
        {"train.iob": "".join(lines_of("{word}|{pos}|{label}"))},
        says="format= names other formats",
        read=of_bars,
    ),
    "WikiNER": Kind(
        {"aij-wikiner-en-wp3": "\n".join(lines_of("{word}|{pos}|{label}"))},
        says="format= names other formats|delimiter=",
        read=of_bars,
    ),
    "CRFsuite": Kind(
        {
            "train.crfsuite.txt": lines(
                "{label}\tw[0]={word}\tpos[0]={pos}\t__BOS__"
            ).replace("NNP\t__BOS__", "NNP")
        },
        {"format": "crfsuite"},
        says="the format 'attributes' reads it",
        words=[
            [
                [f"w[0]={w}", f"pos[0]={p}", *["__BOS__"] * (p != "NNP")]
                for w, p, *_ in own
            ]
            for own in ROWS
        ],
    ),
    "CRFsuite, as many features": Kind(
        {"train.txt": lines("{label}\tw[0]={word}\tpos[0]={pos}")},
        {"format": "crfsuite"},
        says=r"words begin with 'w\[0\]='; columns=",
        words=[[[f"w[0]={w}", f"pos[0]={p}"] for w, p, *_ in own] for own in ROWS],
    ),
    "MALLET": Kind(
        {
            "train.mallet": lines("{word} CAPITAL {pos} {label}").replace(
                "in CAPITAL", "in"
            )
        },
        {"format": "mallet"},
        says="the format 'attributes' reads it",
        words=[
            [[w, *["CAPITAL"] * (w != "in"), p] for w, p, *_ in own] for own in ROWS
        ],
    ),
}
