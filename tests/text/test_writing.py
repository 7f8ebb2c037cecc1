"""Texts with spans, written and read again."""

import gzip
import io
import json

import pytest

from skcrf_sdca.text import (
    TextSource,
    read_corpus,
    tokenize,
    write_corpus,
)
from skcrf_sdca.text.corpora import FORMATS
from skcrf_sdca.text.writing import written_formats

TEXTS = [
    # Double blanks, umlauts, an emoji of two UTF-16 units, and a tab.
    "  Frau  Müller-Lüdenscheidt \U0001f642 wohnt\tin Köln.",
    "Ja!",
    "\U0001f469\u200d\U0001f680 Zoë flog nach Åbo\u00a0.",
]
NAMES = ["a", "b", "c"]
WORDS, OFFSETS = map(list, zip(*map(tokenize, TEXTS), strict=True))
LABELS = [
    ["O", "B-PER", "O", "O", "O", "B-LOC", "O"],
    ["O", "O"],
    ["O", "O", "O", "B-PER", "O", "O", "B-LOC", "O"],
]
LABELS = [(own + ["O"] * 9)[: len(w)] for own, w in zip(LABELS, WORDS, strict=True)]
SOURCES = [TextSource(*row) for row in zip(NAMES, TEXTS, OFFSETS, strict=True)]


def spans_of(X, y, sources):
    """Return the texts and the texts of spans that were read."""
    found = {}
    for words, labels, source in zip(X, y, sources, strict=True):
        pairs = zip(words, labels, strict=True)
        found.setdefault(source.text, []).extend(
            (word["word"], label) for word, label in pairs if label != "O"
        )
    return found


def written(folder, format):
    """Return where a format is written to in a folder."""
    return folder / "corpus" if format == "brat" else folder / "corpus.txt"


@pytest.mark.parametrize("format", written_formats())
def test_what_is_written_is_read_again(tmp_path, format):
    path = written(tmp_path, format)
    write_corpus(path, WORDS, LABELS, format, sources=SOURCES)
    X, y, sources = read_corpus(path, format, return_sources=True)
    assert [[token["word"] for token in own if token["word"].strip()] for own in X]
    expected = spans_of(
        [[{"word": word} for word in own] for own in WORDS], LABELS, SOURCES
    )
    found = spans_of(X, y, sources)
    assert {key.rstrip("\n"): own for key, own in found.items()} == expected


@pytest.mark.parametrize("format", written_formats())
def test_words_alone_have_blanks_between_them(tmp_path, format):
    words = [["New", "York"], [], ["a"]]
    X = [[{"word": word, "pos": "NNP"} for word in own] for own in words]
    y = [["B-LOC", "E-LOC"], [], ["O"]]
    path = written(tmp_path, format)
    write_corpus(path, X, y, format, scheme="BIOES")
    read, labels, sources = read_corpus(
        path, format, scheme="BIOES", return_sources=True
    )
    found = [[token["word"] for token in own] for own in read]
    assert found == [words[0], words[2]]
    assert labels == [y[0], y[2]]
    assert sources[0].text.rstrip("\n") == "New York"


@pytest.mark.parametrize("format", [f for f in written_formats() if f != "pubtator"])
def test_sequences_of_one_document_are_written_as_one(tmp_path, format):
    text = "Anna left.\n\nShe went to New\nYork."
    given = [(text, [(0, 4, "PER"), (24, 32, "LOC")])]
    X, y, sources = read_corpus(given, return_sources=True)
    assert len(X) == 2
    path = written(tmp_path, format)
    write_corpus(path, X, y, format, sources=sources)
    again = read_corpus(path, format, return_sources=True)
    assert again[1] == y
    assert {source.text for source in again[2]} == {text}


def test_line_breaks_in_an_abstract_of_pubtator_are_blanks():
    text = "Anna left.\nShe is\nin Bern."
    X, y, sources = read_corpus(
        [(text, [(0, 4, "PER"), (21, 25, "LOC")])], return_sources=True
    )
    file = io.StringIO()
    write_corpus(file, X, y, "pubtator", sources=sources)
    assert file.getvalue() == (
        "0|t|Anna left.\n0|a|She is in Bern.\n0\t0\t4\tAnna\tPER\n"
        "0\t21\t25\tBern\tLOC\n\n"
    )
    file.seek(0)
    assert sum(map(len, read_corpus(file, "pubtator")[0])) == sum(map(len, X))


def test_label_studio_counts_units_of_utf_16():
    file = io.StringIO()
    write_corpus(file, WORDS, LABELS, "label-studio", sources=SOURCES)
    values = [
        one["value"]
        for one in json.loads(file.getvalue())[0]["annotations"][0]["result"]
    ]
    units = TEXTS[0].encode("utf-16-le")
    for value in values:
        begin, end = 2 * value["start"], 2 * value["end"]
        assert units[begin:end].decode("utf-16-le") == value["text"]
    assert values[-1]["start"] != TEXTS[0].index(values[-1]["text"])


def test_spans_may_overlap_where_a_format_can_hold_them():
    spans = [[("ORG", 0, 3, 0.9), (1, 2, "LOC")], []]
    words = [["Universität", "Basel", "Nord"], ["Ja"]]
    file = io.StringIO()
    write_corpus(file, words, spans, "doccano")
    assert [json.loads(line)["label"] for line in file.getvalue().splitlines()] == [
        [[0, 22, "ORG"], [12, 17, "LOC"]],
        [],
    ]
    message = (
        "document 0: the spans 'Universität Basel Nord' .ORG. and 'Basel' .LOC. over"
    )
    with pytest.raises(ValueError, match=message):
        write_corpus(file, words, spans, "spacy")
    file.seek(0)
    with pytest.warns(UserWarning, match="1 span left out: .* the first is 'Basel'"):
        assert read_corpus(file, "doccano")[1][0] == ["B-ORG", "I-ORG", "I-ORG"]


def test_tokens_of_spacy_make_the_text_again():
    """As Doc.from_json does: a token, and a blank if the next begins after one."""
    file = io.StringIO()
    skipped = [own[:-1] for own in OFFSETS]
    write_corpus(
        file,
        [own[:-1] for own in WORDS],
        [own[:-1] for own in LABELS],
        "spacy",
        sources=[TextSource(*row) for row in zip(NAMES, TEXTS, skipped, strict=True)],
    )
    for line, text in zip(file.getvalue().splitlines(), TEXTS, strict=True):
        tokens = [(t["start"], t["end"]) for t in json.loads(line)["tokens"]]
        begins = [begin for begin, _ in tokens[1:]] + [len(text)]
        parts = [
            text[b:e] + " " * (n > e) for (b, e), n in zip(tokens, begins, strict=True)
        ]
        assert "".join(parts) == text


def test_the_name_of_a_file_tells_the_format_and_the_compression(tmp_path):
    path = tmp_path / "all.jsonl.gz"
    write_corpus(path, WORDS, LABELS, sources=SOURCES)
    (first, *_) = gzip.decompress(path.read_bytes()).decode().splitlines()
    assert json.loads(first)["id"] == "a"
    assert read_corpus(path)[1] == LABELS


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"y": LABELS[:2]}, "X has 3 sequences, but y has 2"),
        ({"y": [*LABELS[:2], ["O"]]}, "y: sequence 2 has 1 labels for"),
        (
            {"y": [[("PER", 0, 99)], [], []]},
            "spans: sequence 0, span 0 goes from 0 to 99",
        ),
        ({"sources": SOURCES[:1]}, "X has 3 sequences, but sources has 1"),
        (
            {"sources": [*SOURCES[:2], TextSource("c", TEXTS[2], [(0, 1)])]},
            "sources: sequence 2 has 1 offsets, but X has",
        ),
        ({"format": "columns"}, "format 'columns': no spans .* one of json, prodigy"),
        ({"format": "docano"}, "no format 'docano'; did you mean 'doccano'"),
        ({"scheme": "BIOES", "y": [["X"] * len(w) for w in WORDS]}, "'X'"),
    ],
)
def test_wrong_arguments_are_named(given, message):
    arguments = {"y": LABELS, "format": "json", "sources": SOURCES} | given
    with pytest.raises(ValueError, match=message):
        write_corpus(io.StringIO(), WORDS, **arguments)


def test_brat_refuses_what_its_files_cannot_hold(tmp_path):
    folder = tmp_path / "corpus"
    for names in (["a", "a", "b"], ["a", "b/c", "d"]):
        sources = [s._replace(document=n) for s, n in zip(SOURCES, names, strict=True)]
        with pytest.raises(ValueError, match="brat needs another name for the file"):
            write_corpus(folder, WORDS, LABELS, "brat", sources=sources)
    with pytest.raises(ValueError, match="'a b' is a type of spans that brat cannot"):
        write_corpus(tmp_path / "other", [["x"]], [[("a b", 0, 1)]], "brat")
    assert not (tmp_path / "other").exists()
    with pytest.raises(TypeError, match="brat needs the path of a folder"):
        write_corpus(io.StringIO(), [["x"]], [["O"]], "brat")


def test_writers_are_entries_of_the_table_of_readers():
    assert set(written_formats()) <= set(FORMATS)
