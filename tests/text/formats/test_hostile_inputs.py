"""Inputs that ask too much of a reader: the time is linear in their size.

Each format has rows in the table below, or repeats what is shown of it on the page of
formats: a new format with such an example has a row.
"""

import gc
import io
import json
import re
import time
import warnings
from ast import literal_eval
from functools import partial
from pathlib import Path

import pytest

from skcrf_sdca.text import read_corpus
from skcrf_sdca.text.corpora import FORMATS

# Steps of an input, and of one that is larger by this factor. In between lies what
# tells a linear reader from a quadratic one, whose time grows by the factor squared.
SMALL, FACTOR = 500, 20
SECONDS_OF_NOISE = 0.1
JSON_OF_PROGRAMS = ["prodigy", "doccano", "spacy", "label-studio"]
WEBANNO = "#FORMAT=WebAnno TSV 3.3\n#T_SP=x.NamedEntity|value\n\n\n#Text=a\n"
XMI = '<x:XMI xmlns:x="x"><Sofa sofaString="{}"/>{}</x:XMI>'
BIOC = "<collection><document><passage>{}</passage></document></collection>"
BIOC_NOTE = (
    '<annotation><infon key="type">X</infon><location offset="0" length="{}"/>'
    "<text>a</text></annotation>"
)

# Rows by format: what is written, as a function of its size.
TEXTS = (
    {
        "columns": [
            lambda n: "a " * n + "O\n",
            lambda n: "a B\n" * n,
            lambda n: "a" * n,
            lambda n: " " * n + "\u00e9 O\n",
            lambda n: "a" + " \t" * n + "O\n",
        ],
        "grobid": [lambda n: "a I-<x>\n" * n, lambda n: "a " + "I-<" * n + "\n"],
        "conllu": [
            lambda n: "1\ta\t_\tX\t_\t_\t0\tx\t_\t_\n\n" * n,
            lambda n: "1\t" + " a" * n + "\n",
            lambda n: "1\ta\t_\tX\t_\t" + "a=b|" * n + "\t0\tx\t_\t_\n",
            lambda n: "#" * n + "\n",
        ],
        "conllup": [
            lambda n: "# global.columns = FORM NER\n" + "a\tB\n" * n,
            lambda n: "# global.columns =" + " A" * n + "\n",
        ],
        "table": [
            lambda n: "word,label\n" + "a,B\n" * n,
            lambda n: 'word,label\n"' + 'a"",' * n,
            lambda n: "word,label\n" + "[" * n + ",B\n",
            lambda n: "word" + "," * n + "\n",
            lambda n: "word,label\n" + "[" * n + "]" * n + ",B\n",
            lambda n: 'word,label\n"' + "a" * n + "\n",
            lambda n: "word,label\n" + '"a\n' * n,
            lambda n: "word,label\na,B\r" * n,
            lambda n: "word,label\n" + "a " * n + ',"' + "B, " * n + '"\n',
        ],
        "brackets": [
            lambda n: "[a" + " " * n + "b\n",
            lambda n: "[" * n + "\n",
            lambda n: "[a b " * n + "\n",
            lambda n: "[a b]" * n + "\n",
            lambda n: "[" + "a" * n + "\n",
        ],
        "markdown": [
            lambda n: "[a](" + "b" * n + "\n",
            lambda n: "[a](b" * n + "\n",
            lambda n: "[a](b:" * n + "\n",
            lambda n: "[" + "a" * n + "\n",
            lambda n: "[a](b)" * n + "\n",
        ],
        "opennlp": [
            lambda n: "<START:a> " * n + "\n",
            lambda n: "<START:a> b <END> " * n + "\n",
            lambda n: "<START:" + "a" * n + "\n",
            lambda n: "<START:a> b" + " " * n + "<\n",
        ],
        "xml": [
            lambda n: "<doc>\n" + "<P>Anna left\n" * n + "</doc>\n",
            lambda n: "<P><b>a</b>" * n,
            lambda n: "<a>" * n + "b" + "</a>" * n,
            lambda n: "<" + "a" * n,
            lambda n: "<!" * n,
            lambda n: "<!--" * n,
            lambda n: "<![CDATA[" * n,
            lambda n: "<?" * n,
            lambda n: "<a " + "type " * n,
            lambda n: "<a" + " type" * n + ">b</a>",
            lambda n: "&" * n,
            lambda n: "</" * n,
        ],
        "slash": [lambda n: "a/" * n + "\n", lambda n: "a/b " * n + "\n"],
        "penn": [
            lambda n: "[ a/B ] " * n + "\n",
            lambda n: "=" * n + "x\n",
            lambda n: "a/B\n" * n,
        ],
        "pubtator": [
            lambda n: "1|t|a\n" * n,
            lambda n: "1|t|" + "a " * n + "\n" + f"1\t0\t{2 * n}\ta\tX\n" * n,
            lambda n: "1|t|" + " " * n + "a\n" + f"1\t0\t{n}\ta\tX\n" * n,
            lambda n: "1|t|a\n1\t0\t" + "1" * n + "\ta\tX\n",
            lambda n: "|" * n + "\n",
        ],
        "bioc": [
            lambda n: (
                "<document><passage>" * (n // 4) + "</passage></document>" * (n // 4)
            ),
            lambda n: BIOC.format("<sentence>" * n + "</sentence>" * n),
            lambda n: BIOC.format(
                "<text>" + "a " * n + "</text>" + BIOC_NOTE.format(2 * n) * n
            ),
            lambda n: "<a>" * n,
        ],
        "xmi": [
            lambda n: "<a>" * n + "</a>" * n,
            lambda n: XMI.format(
                "a " * n, f'<NamedEntity begin="0" end="{2 * n}"/>' * n
            ),
            lambda n: XMI.format(" " * n, f'<NamedEntity begin="0" end="{n}"/>' * n),
            lambda n: XMI.format("a", '<NamedEntity begin="0" end="' + "1" * n + '"/>'),
            lambda n: XMI.format(
                "a", '<Sofa sofaString="a"/><X begin="0" end="1"/>' * n
            ),
            lambda n: XMI.format(
                "a",
                '<X begin="0" end="1" {}/>'.format(
                    " ".join(f'a{k}="b"' for k in range(n))
                ),
            ),
        ],
        "webanno": [
            lambda n: WEBANNO + "1-1\t0-1\ta\t" + "X[1" * n + "\n",
            lambda n: WEBANNO + "1-1\t0-1\ta\t" + "X[1]|" * n + "\n",
            lambda n: WEBANNO + "1-1\t0-1\ta\t" + "\\" * n + "\n",
            lambda n: WEBANNO + "1-1\t0-1\ta\tX[1]\n" * n,
            lambda n: WEBANNO.replace("|value", "|value" * n),
        ],
        "attributes": [lambda n: "a " * n + "\n", lambda n: "a\tB\n" * n],
        "mallet": [lambda n: "a " * n + "\n", lambda n: "a B\n" * n],
        "crfsuite": [
            lambda n: "B\t" + "a:" * n + "\n",
            lambda n: "B\t" + ":1" * n + "\n",
            lambda n: "B\t" + "\\:" * n + "\n",
            lambda n: "B\t" + "\\" * n + ":1\n",
            lambda n: "B\ta:" + "1" * n + "\n",
            lambda n: "B" + "\ta:1" * n + "\n",
        ],
    }
    | {
        name: [lambda n: json.dumps({"text": "a " * n, "spans": []})]
        for name in JSON_OF_PROGRAMS
    }
    | {
        "json": [
            lambda n: '{"tokens": ["a"], "tags": ["B"]}\n' * (n // 4),
            lambda n: json.dumps({"text": "a " * n, "spans": [[0, 2 * n, "X"]] * n}),
            lambda n: json.dumps({"text": " " * n, "spans": [[0, n, "X"]] * n}),
            lambda n: '{"text": "' + "a" * n,
            lambda n: "[" * n,
            lambda n: "[" * n + "]" * n,
            lambda n: '{"data":' * n + "1" + "}" * n,
            lambda n: '{"a":[' * n + "]}" * n,
            lambda n: json.dumps({f"a{k}": [1] for k in range(n)}),
            lambda n: json.dumps({"text": "a", "annotations": [[]] * n}),
            lambda n: json.dumps({"text": "a b " * n, "tags": ["O"] * 2 * n}),
            lambda n: json.dumps([["a", "O"]] * n),
            lambda n: json.dumps({"tokens": ["a"] * n, "entities": [[0, n, "X"]] * n}),
        ],
    }
)
NOTES = {
    "brat": [
        lambda n: ("a " * n, f"T1\tX 0 {2 * n}\ta\n" * n),
        lambda n: (" " * n, f"T1\tX 0 {n}\ta\n" * n),
        lambda n: (" " * n, f"T1\tX 0 1;{n - 1} {n}\ta\n" * n),
        lambda n: ("a", "T1\tX 0 1" + ";0 1" * n + "\n"),
        lambda n: ("a", "T1\tX 0 " + "1" * n + "\n"),
    ],
}
CONCEPT = 'c="{}" 1:{} 1:{}||t="{}"\n'
CONCEPTS = {
    "i2b2": [
        lambda n: ("a " * n, CONCEPT.format("a", 0, n - 1, "X") * n),
        lambda n: ("a\n" * n, CONCEPT.format("a", 0, 0, "X") * n),
        lambda n: (" " * n + "a", CONCEPT.format('" ' * n, 0, 0, "X")),
        lambda n: ("a", 'c="' * n + "\n"),
    ],
}
RECORDS = {
    "records": [
        lambda n: [{"tokens": ["a"], "tags": ["B"]}] * (n // 4),
        lambda n: [("a " * n, [(0, 2 * n, "X")] * n)],
        lambda n: [(" " * n, [(0, n, "X")] * n)],
        lambda n: [[("a", "B")] * n],
        lambda n: nested(n),
    ],
}


def nested(n):
    """Return a list that holds one that holds one, and so on."""
    found = []
    for _ in range(n):
        found = [found]
    return found


class Pieces(io.StringIO):
    """A file that gives little at once, as a slow connection does."""

    def read(self, size=-1):
        return super().read(100)


def text_of(rows):
    return lambda n, folder: Pieces(rows(n))


def notes_of(rows):
    return partial(files_of, rows, "a.ann")


def concepts_of(rows):
    return partial(files_of, rows, "a.con")


def files_of(rows, name, n, folder):
    for own, text in zip(("a.txt", name), rows(n), strict=True):
        (folder / own).write_text(text)
    return folder


def data_of(rows):
    return lambda n, folder: rows(n)


PAGE = Path(__file__).parents[3] / "docs" / "formats.rst"
SHOWN = re.findall(
    r'>>> show\(("(?:[^"\\]|\\.)*"), "([\w-]+)"\)', PAGE.read_text("utf-8")
)


def repeated(text):
    """Return the row of a text, n lines of it."""
    return lambda n: text * (n // max(1, text.count("\n")))


KINDS = [
    *((name, [repeated(literal_eval(text))], text_of) for text, name in SHOWN),
    *((name, rows, text_of) for name, rows in TEXTS.items()),
    *((name, rows, notes_of) for name, rows in NOTES.items()),
    *((name, rows, concepts_of) for name, rows in CONCEPTS.items()),
    *((name, rows, data_of) for name, rows in RECORDS.items()),
]
CASES = [
    (name, k, kind(row)) for name, rows, kind in KINDS for k, row in enumerate(rows)
]


def work(source, format):
    """Return the processor time of a reader, and how many tokens it gives."""
    n, begin = 0, time.process_time()
    try:
        X, y = read_corpus(source, format)
        n = sum(map(len, X)) + sum(map(len, y)) + len(X)
    except ValueError:
        pass
    return time.process_time() - begin, n


def test_all_formats_have_rows():
    assert {name for name, *_ in CASES} == set(FORMATS)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("format", "made"),
    [(name, made) for name, _, made in CASES],
    ids=[f"{name}-{k}" for name, k, _ in CASES],
)
def test_the_work_is_linear_in_the_size(format, made, tmp_path):
    gc.disable()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            seconds, n = min(work(made(SMALL, tmp_path), format) for _ in range(3))
            more, m = work(made(FACTOR * SMALL, tmp_path), format)
    finally:
        gc.enable()
    assert m <= 2 * FACTOR * max(n, 1)
    assert more <= 4 * FACTOR * seconds + SECONDS_OF_NOISE
