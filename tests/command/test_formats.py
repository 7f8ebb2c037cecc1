"""The command reads the formats of read_corpus."""

import json

import pytest

from skcrf_sdca import load_model
from skcrf_sdca.command import main
from skcrf_sdca.command._inputs import FORMAT_NAMES
from skcrf_sdca.text import read_corpus
from skcrf_sdca.text.corpora import ALIASES, FORMATS
from skcrf_sdca.text.writing import written_formats

TEXTS = {
    "Anna Meier lives in Basel.": [(0, 10, "PER"), (20, 25, "LOC")],
    "The Rhine flows": [(4, 9, "LOC")],
    "Peter left Bern": [(0, 5, "PER"), (11, 15, "LOC")],
}
DOCCANO = "".join(
    json.dumps({"text": text, "label": spans}) + "\n" for text, spans in TEXTS.items()
)
KAGGLE = """\
Sentence #,Word,POS,Tag
Sentence: 1,Anna,NNP,B-PER
,ran,VBD,O
Sentence: 2,Bern,NNP,B-LOC
,flows,VBZ,O
"""


@pytest.fixture
def run(tmp_path, monkeypatch, capsys):
    """Return a function that runs the command in a folder, without an error."""
    monkeypatch.chdir(tmp_path)

    def run(*arguments):
        status = main([*map(str, arguments)])
        out, err = capsys.readouterr()
        assert status == 0, err
        return out

    return run


def test_a_model_of_texts_with_spans(run, tmp_path):
    (tmp_path / "all.jsonl").write_text(DOCCANO)
    run("train", "all.jsonl", "-o", "m", "-q")
    assert load_model(tmp_path / "m")[0].columns == ["word"]
    assert "FB1: 100.00" in run("eval", "-m", "m", "all.jsonl")
    (tmp_path / "new.jsonl").write_text('{"id": 7, "text": "Anna\\nBern flows"}')
    found = run("tag", "-m", "m", "new.jsonl", "--spans").splitlines()
    assert [line.split("\t")[:4] for line in found] == [
        ["0", "PER", "0", "4"],
        ["0", "LOC", "5", "9"],
    ]
    out = run("tag", "-m", "m", "new.jsonl")
    assert out == "Anna\tB-PER\n\nBern\tB-LOC\nflows\tO\n\n"
    assert "Anna" in run("explain", "-m", "m", "new.jsonl", "--token", "0")


def test_names_of_programs_and_options_of_formats(run, tmp_path):
    (tmp_path / "x").write_text("Anna_B-PER ran_O\n\nBern_B-LOC flows_O\n")
    run("train", "x", "-q", "-o", "m", "--format", "brown", "--option", "separator=_")
    (tmp_path / "a.txt").write_text("Bern flows")
    out = run("tag", "-m", "m", "--format", "standoff", "--spans", "a.txt")
    assert out.split("\t")[:4] == ["a", "LOC", "0", "4"]


def test_columns_of_a_table_are_features(run, tmp_path):
    (tmp_path / "ner.csv").write_text(KAGGLE)
    run("train", "ner.csv", "-o", "m", "-q")
    assert load_model(tmp_path / "m")[0].columns == ["word", "pos"]
    run("train", "ner.csv", "-o", "m", "-q", "--label", "POS", "--columns", "word")
    tagger = load_model(tmp_path / "m")
    assert tagger[0].columns == ["word"]
    assert tagger[-1].classes_.tolist() == ["NNP", "VBD", "VBZ"]


def test_headers_and_delimiters_of_columns(run, tmp_path):
    text = "ner|token|x\nB-PER|Anna|1\nO|ran off|2\n\nB-LOC|Bern|1\nO|flows|2\n"
    (tmp_path / "train").write_text(text)
    run("train", "train", "-o", "m", "-q", "--header", "--delimiter", "|")
    tagger = load_model(tmp_path / "m")
    assert tagger[0].columns == ["label", "word", "x"]
    (tmp_path / "new").write_text("token|x\nBern|1\n")
    out = run("tag", "-m", "m", "--header", "--delimiter", "|", "new")
    assert out == "Bern|1|B-LOC\n\n"


def test_usual_names_in_the_first_line_are_a_header(run, tmp_path):
    rows = "Anna\tB-PER\nran\tO\n\nBern\tB-LOC\n"
    (tmp_path / "train").write_text(f"\nToken\tentity\n{rows}")
    (tmp_path / "plain").write_text(rows)
    run("train", "train", "-o", "m", "-q")
    tagger = load_model(tmp_path / "m")
    assert tagger[0].columns == ["word", "label"]
    assert tagger[-1].classes_.tolist() == ["B-LOC", "B-PER", "O"]
    assert run("tag", "-m", "m", "train") == run("tag", "-m", "m", "plain")
    (tmp_path / "empty").write_text("\n\n")
    assert run("tag", "-m", "m", "--header", "empty") == ""


@pytest.mark.parametrize("delimiter", ["\t", ";", "|"])
def test_what_is_tagged_is_read_again_if_labels_have_blanks(run, tmp_path, delimiter):
    rows = "Anna|B-first name\nran|O\n\nan aspirin|B-drug (oral)\n".replace(
        "|", delimiter
    )
    (tmp_path / "train").write_text(rows)
    option = ["--delimiter", delimiter]
    run("train", "train", "-o", "m", "-q", *option)
    (tmp_path / "tagged").write_text(run("tag", "-m", "m", "train", *option))
    assert "FB1: 100.00" in run("eval", "tagged", *option)
    assert run("eval", "tagged", *option) == run("eval", "-m", "m", "train", *option)
    (tmp_path / "new").write_text("Anna ran")
    out = run("tag", "-m", "m", "--format", "text", "new")
    assert out.splitlines()[:1] == ["Anna\tB-first name"]


def test_forms_of_labels_become_the_usual_one(run, tmp_path):
    (tmp_path / "train").write_text("Anna PER_B\nran O\n\nBern LOC_B\nran OUT\n")
    run("train", "train", "-o", "m", "-q", "--label-form", "PER_B")
    assert load_model(tmp_path / "m")[-1].classes_.tolist() == ["B-LOC", "B-PER", "O"]
    assert "FB1" in run("eval", "-m", "m", "train", "--label-form", "auto")
    (tmp_path / "grobid").write_text("A x I-<t>\nB x <t>\nC x <other>\n")
    run("train", "grobid", "-o", "m", "-q", "--format", "grobid")
    assert load_model(tmp_path / "m")[-1].classes_.tolist() == ["B-t", "I-t", "O"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["train", "x", "--option", "a"], "'a' is not NAME=VALUE"),
        (["train", "x", "--option", "a=b"], "--option: the format columns has none"),
        (["train", "x", "--format", "mallet"], "invalid choice"),
        (["train", "x.jsonl", "--tokens", "("], "--tokens: no regular expression"),
    ],
)
def test_wrong_options_are_told(arguments, message, capsys):
    with pytest.raises(SystemExit):
        main([*arguments, "-o", "m"])
    assert message in capsys.readouterr().err


def test_a_lack_of_columns_and_labels_is_told(run, tmp_path, capsys):
    (tmp_path / "ner.csv").write_text(KAGGLE)
    run("train", "ner.csv", "-o", "m", "-q")
    (tmp_path / "x.jsonl").write_text(DOCCANO)
    assert main(["tag", "-m", "m", "x.jsonl"]) == 1
    message = (
        "the model needs the columns word, pos, but tokens of the format json have"
    )
    assert message in capsys.readouterr().err
    (tmp_path / "ner.csv").write_text(KAGGLE.replace("ran,VBD,O", "ran,VBD,"))
    assert main(["train", "ner.csv", "-o", "m"]) == 1
    assert "ner.csv: sentence 0: token 1 has no label" in capsys.readouterr().err


def test_the_command_has_all_formats_of_files():
    others = {*FORMATS, *ALIASES} - set(FORMAT_NAMES)
    assert others == {"attributes", "mallet", "crfsuite", "records", "huggingface"}


UMLAUTS = "Anna  lebt in Köln \U0001f642 .\n"


@pytest.mark.parametrize("name", written_formats())
def test_texts_are_tagged_to_a_format_that_is_read_again(tmp_path, capsys, name):
    model = tmp_path / "names.crf"
    train = tmp_path / "train.txt"
    train.write_text(
        "Anna B-PER\nlebt O\nin O\nKöln B-LOC\n. O\n\nJa O\n! O\n\n" * 9,
        encoding="utf-8",
    )
    assert main(["train", str(train), "-o", str(model), "-q"]) == 0
    new = tmp_path / "new.txt"
    new.write_text(UMLAUTS + "Ja !\n", encoding="utf-8")
    out = tmp_path / "out"
    arguments = ["tag", "-m", str(model), "--format", "text", str(new), "--to", name]
    assert main([*arguments, "-o", str(out), "--batch", "1"]) == 0
    X, y, sources = read_corpus(out, name, return_sources=True)
    assert [sources[0].text.strip(), sources[1].text.strip()] == [
        UMLAUTS.strip(),
        "Ja !",
    ]
    named = dict(zip((token["word"] for token in X[0]), y[0], strict=True))
    assert (named["Anna"], named["Köln"], named["in"]) == ("B-PER", "B-LOC", "O")
    if name != "brat":
        assert main(arguments) == 0
        assert capsys.readouterr().out == out.read_text(encoding="utf-8")


def test_lines_of_one_document_are_tagged_to_one_record(tmp_path, capsys):
    model, train = tmp_path / "names.crf", tmp_path / "train.txt"
    train.write_text("Anna B-PER\nran O\n\nin O\nBasel B-LOC\n\n" * 9)
    assert main(["train", str(train), "-o", str(model), "-q"]) == 0
    records = [{"text": "Anna ran\nin Basel"}, {"text": "in Basel"}]
    new = tmp_path / "new.jsonl"
    new.write_text("".join(json.dumps(record) + "\n" for record in records))
    arguments = ["tag", "-m", str(model), str(new), "--batch", "1", "--to", "doccano"]
    assert main([*arguments, "--at-least", "0.1"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [json.loads(line)["label"] for line in lines] == [
        [[0, 4, "PER"], [12, 17, "LOC"]],
        [[3, 8, "LOC"]],
    ]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--output", "x"], "--output needs --to"),
        (["--to", "brat"], "--to brat needs a folder, --output"),
        (["--at-least", "0.1"], "--at-least needs --spans or --to"),
    ],
)
def test_options_of_writing_are_checked(capsys, options, message):
    with pytest.raises(SystemExit):
        main(["tag", "-m", "no.crf", *options])
    assert message in capsys.readouterr().err
