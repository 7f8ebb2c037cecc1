"""The command reads the formats of read_corpus."""

import json
import re

import pytest

from skcrf_sdca import SDCACRF, load_model, save_model
from skcrf_sdca.command import main
from skcrf_sdca.command._options import FORMAT_NAMES
from skcrf_sdca.serving import Predictor
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
    assert tagger[0].columns == ["word"]
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


@pytest.mark.parametrize(
    ("options", "basel"), [((), "Basel"), (("--tokens", "blanks"), "Basel.")]
)
def test_what_cut_the_texts_of_a_model_cuts_new_texts(run, tmp_path, options, basel):
    (tmp_path / "all.jsonl").write_text(DOCCANO.replace("20, 25", "20, 26"))
    run("train", "all.jsonl", "-o", "m", "-q", *options)
    tokens = options[-1] if options else "words"
    assert load_model(tmp_path / "m").tokens == tokens
    (tmp_path / "new").write_text("Anna left Basel.")
    (tmp_path / "new.jsonl").write_text('{"text": "Anna left Basel."}')
    texts = "new", "--format", "text"
    for source in texts, ["new.jsonl"]:
        words = run("tag", "-m", "m", *source).split("\n")
        assert basel in [word.partition("\t")[0].split(" ")[0] for word in words]
        others = run("tag", "-m", "m", "--tokens", "characters", *source)
        assert others.startswith("A")
    (sentence,) = Predictor.load(tmp_path / "m").tag("Anna left Basel.").sentences
    assert basel in sentence.tokens


def test_who_trains_on_columns_may_say_what_cut_them(run, tmp_path):
    (tmp_path / "train").write_text("Anna B-PER\nran O\n\nBern. B-LOC\n\n")
    run("train", "train", "-o", "m", "-q")
    assert load_model(tmp_path / "m").tokens is None
    run("train", "train", "-o", "m", "-q", "--tokens", "blanks")
    assert load_model(tmp_path / "m").tokens == "blanks"
    (tmp_path / "new").write_text("Bern.\n")
    assert run("tag", "-m", "m", "--format", "text", "new") == "Bern. B-LOC\n\n"


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
        (["train", "x", "--format", "records"], "invalid choice"),
        (["train", "x.jsonl", "--comment", "#"], "--comment: the format json has no"),
        (["train", "x.csv", "--tokens", "words"], "--tokens: the format table has no"),
        (["train", "x", "--tokens", "word"], "--tokens: there is no 'word'; did you"),
        (
            ["train", "x.conllu", "--parse", "--tokens", "words"],
            "--tokens is not for --parse",
        ),
        (["train", "x.conllu", "--header"], "--header: the format conllu has no such"),
        (["train", "x.xml", "--option", "typs=a"], "did you mean 'types'?"),
        (["train", "x.jsonl", "--tokens", "("], "--tokens: no regular expression"),
    ],
)
def test_wrong_options_are_told(arguments, message, capsys):
    with pytest.raises(SystemExit):
        main([*arguments, "-o", "m"])
    assert message in capsys.readouterr().err


def test_attributes_of_a_treebank_are_labels(run, tmp_path, capsys):
    text = (
        "1\tAnna\t_\tPROPN\t_\t_\t0\troot\t_\tNER=B-PER|x=1\n"
        "2\tran\t_\tVERB\t_\t_\t1\tdep\t_\tNER=O\n\n"
    )
    (tmp_path / "x.conllu").write_text(text)
    run("train", "x.conllu", "-o", "m", "-q", "--label", "misc:NER")
    assert "FB1: 100.00" in run("eval", "-m", "m", "x.conllu")
    assert run("tag", "-m", "m", "x.conllu") == text
    # An empty column is no label.
    assert main(["train", "x.conllu", "-o", "m", "--label", "xpos"]) == 1
    assert "x.conllu: sentence 0: token 0 has no label" in capsys.readouterr().err


def test_comments_that_are_not_written_are_told(run, tmp_path, capsys):
    (tmp_path / "x").write_text("Anna B-PER\nlives O\n")
    run("train", "x", "-o", "m", "-q")
    (tmp_path / "new").write_text("# id 12\tdomain=en\nAnna\tx\tB-PER\n")
    assert main(["tag", "-m", "m", "new"]) == 0
    out, err = capsys.readouterr()
    assert out == "Anna\tx\tB-PER\tB-PER\n\n"
    assert "comments: 1 line, first new, line 1 (--comment says otherwise)" in err


def test_options_of_formats_may_be_lists(run, tmp_path):
    (tmp_path / "x.xml").write_text("<d><a>Anna</a> saw <b>Bern</b> <c>x</c></d>\n")
    for types, expected in {"a,b": "a b", "a": "a", "b,c": "b c"}.items():
        run("train", "x.xml", "-o", "m", "-q", "--option", f"types={types}")
        classes = load_model(tmp_path / "m")[-1].classes_.tolist()
        assert classes == [*(f"B-{name}" for name in expected.split()), "O"]
    (tmp_path / "x.csv").write_text("doc,sent,word,label\n1,1,a,A\n2,1,b,B\n2,1,c,B\n")
    for keys, n in {"sent": 1, "doc,sent": 2}.items():
        option = ["--option", f"sentence={keys}"]
        run("train", "x.csv", "-o", "m", "-q", "--columns", "word", *option)
        assert f" in {n} sentences" in run("eval", "-m", "m", "x.csv", *option)


def test_columns_for_a_model_are_those_that_it_reads(run, tmp_path, capsys):
    (tmp_path / "x").write_text(TAGGED["x.txt"])
    run("train", "x", "-o", "m", "-q")
    with pytest.raises(SystemExit):
        main(["tag", "-m", "m", "--columns", "word,_", "x"])
    assert "--columns: the model reads word, pos, which" in capsys.readouterr().err


def test_lines_of_text_are_explained(run, tmp_path):
    (tmp_path / "x").write_text("Anna B-PER\nlives O\n")
    run("train", "x", "-o", "m", "-q")
    (tmp_path / "new").write_text("She met Anna.\n")
    options = ["new", "--format", "text", "--token", "2"]
    assert "word[0]=Anna" in run("explain", "-m", "m", *options)


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
    assert others == {"records", "huggingface"}


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


# What a model asks for ---------------------------------------------------------------

TAGGED = {
    "x.txt": "Anna NNP B-PER\nlives VBZ O\n\nBern NNP B-LOC\nflows VBZ O\n",
    "x.csv": KAGGLE,
    "x.conllu": "".join(
        f"{line}\n"
        for line in (
            "1\tAnna\t_\tPROPN\tNNP\t_\t0\troot\t_\t_",
            "2\tlives\t_\tVERB\tVBZ\t_\t1\tdep\t_\t_",
            "",
        )
    ),
    "x.jsonl": '{"tokens": ["Anna", "lives"], "pos": ["NNP", "VBZ"], '
    '"ner_tags": ["B-PER", "O"]}\n',
}


@pytest.mark.parametrize("columns", ["word,_,label", "word,label,_", "word,_,_"])
@pytest.mark.parametrize("name", TAGGED)
def test_a_model_of_words_tags_text_from_any_corpus_with_tags(
    run, tmp_path, name, columns
):
    (tmp_path / name).write_text(TAGGED[name])
    number = ["--label", "3"] if name == "x.txt" and "label" not in columns else []
    columns = columns.removesuffix(",_") if number else columns
    run("train", name, "--columns", columns, *number, "-o", "m", "-q")
    tagger = load_model(tmp_path / "m")
    assert tagger[0].read_columns() == ["word"]
    first = tagger.predict([["Anna", "lives"]])[0]
    assert tagger.predict([[{"word": "Anna"}, {"word": "lives"}]])[0] == first
    assert Predictor.load(tmp_path / "m").predict_one(["Anna", "lives"]) == first
    (tmp_path / "new").write_text("Anna lives")
    out = run("tag", "-m", "m", "--format", "text", "new")
    assert out == f"Anna {first[0]}\nlives {first[1]}\n\n"
    run("eval", "-m", "m", name)
    run("tag", "-m", "m", name)


@pytest.mark.parametrize("name", TAGGED)
def test_a_model_of_tags_says_how_to_train_without(run, tmp_path, name, capsys):
    (tmp_path / name).write_text(TAGGED[name])
    columns = {"x.conllu": "word,xpos", "x.jsonl": "word,pos"}.get(name)
    options = ["--columns", columns] if columns else []
    run("train", name, "-o", "m", "-q", *options)
    with pytest.raises(SystemExit):
        main(["tag", "-m", "m", "--format", "text", name])
    error = capsys.readouterr().err
    *_, cure = error.rstrip(".\n").split(" --columns ")
    run("train", name, "-o", "m", "-q", "--columns", cure)
    (tmp_path / "new").write_text("Anna lives")
    assert run("tag", "-m", "m", "--format", "text", "new").startswith("Anna ")


@pytest.mark.parametrize(
    "text",
    [
        "Anna\nlives\n",
        "Anna x\nlives y\n",
        "Anna x O\nlives y O\n",
        "Anna x O more\nlives y O more\n",
    ],
)
def test_files_have_all_columns_of_training_or_those_that_are_read(run, tmp_path, text):
    (tmp_path / "x").write_text(TAGGED["x.txt"])
    run("train", "x", "--columns", "word,_,label", "-o", "m", "-q")
    (tmp_path / "new").write_text(text)
    tagged = run("tag", "-m", "m", "new").splitlines()
    lines = text.splitlines()
    assert tagged == [f"{lines[0]} B-PER", f"{lines[1]} O", ""]


def test_columns_that_are_read_may_stand_alone_in_their_order(run, tmp_path, capsys):
    rows = "1 Anna NNP x B-PER\n2 ran VBD x O\n"
    (tmp_path / "x").write_text(rows)
    run("train", "x", "--columns", "_,word,pos,_,label", "-o", "m", "-q")
    assert load_model(tmp_path / "m")[0].read_columns() == ["word", "pos"]
    for text in "Anna NNP\nran VBD\n", "1 Anna NNP x\n2 ran VBD x\n", rows:
        (tmp_path / "new").write_text(text)
        labels = [x.split()[-1:] for x in run("tag", "-m", "m", "new").splitlines()]
        assert labels == [["B-PER"], ["O"], []]
    (tmp_path / "new").write_text("Anna NNP x\n")
    assert main(["tag", "-m", "m", "new"]) == 1
    error = capsys.readouterr().err
    assert "line 1: 3 columns, but a line has the 5 columns of training" in error
    # Labelled files too.
    (tmp_path / "new").write_text("Anna NNP B-PER\nran VBD O\n")
    assert "FB1: 100.00" in run("eval", "-m", "m", "new")
    (tmp_path / "new").write_text("B-PER NNP Anna\nO VBD ran\n")
    options = ["--columns", "label,pos,word"]
    assert "FB1: 100.00" in run("eval", "-m", "m", "new", *options)
    assert run("tag", "-m", "m", "new", *options).split()[3] == "B-PER"


# Headers -----------------------------------------------------------------------------

HIPE = "TOKEN\tCOARSE\tFINE\tMISC\nAnn\tB-pers\tB-pers.ind\t_\nran\tO\tO\tEnd\n"


@pytest.mark.filterwarnings("default")
@pytest.mark.parametrize("label", ["COARSE", "2"])
@pytest.mark.parametrize("header", [[], ["--header"]])
def test_names_of_a_header_name_the_label(run, tmp_path, label, header):
    (tmp_path / "x").write_text(HIPE)
    run("train", "x", "--label", label, *header, "-o", "m", "-q")
    tagger = load_model(tmp_path / "m")
    assert tagger[0].columns == ["word", "label", "FINE", "MISC"]
    assert tagger[-1].classes_.tolist() == ["B-pers", "O"]
    evaluated = run("eval", "-m", "m", "--header", "x")
    assert "FB1: 100.00" in evaluated
    # By their names, in any order.
    rows = [line.split("\t") for line in HIPE.splitlines()]
    turned = "".join("\t".join(row[::-1]) + "\n" for row in rows)
    (tmp_path / "turned").write_text(turned)
    options = ["--header", "--label", "COARSE", "turned"]
    assert run("eval", "-m", "m", *options) == evaluated
    assert run("tag", "-m", "m", *options).splitlines()[0].endswith("Ann\tB-pers")


# Tokens with features of their own ---------------------------------------------------

OWN = {
    "mallet": "cap w=Anna B-PER\nw=ran O\n\ncap w=Bern B-LOC\nw=flows O\n",
    "attributes": "cap w=Anna B-PER\nw=ran O\n\ncap w=Bern B-LOC\nw=flows O\n",
    "crfsuite": "B-PER\tcap\tw=Anna\nO\tw\\:ran\\\\:0.5\n\nB-LOC\tcap:2\tw=Bern\n",
}


@pytest.mark.parametrize("name", OWN)
def test_tokens_with_features_of_their_own(run, tmp_path, name):
    (tmp_path / "x").write_text(OWN[name])
    of_format = ["--format", name]
    run("train", "x", *of_format, "-o", "m", "-q")
    X, y = read_corpus(tmp_path / "x", name)
    tagger = load_model(tmp_path / "m")
    assert tagger.predict(X).tolist() == y
    assert "FB1: 100.00" in run("eval", "-m", "m", "x", *of_format)
    # The model knows its format.
    assert "FB1: 100.00" in run("eval", "-m", "m", "x", "--errors", "1")
    is_scaled = name == "crfsuite"
    new = OWN[name] if is_scaled else re.sub(r" [BO]\S*$", "", OWN[name], flags=re.M)
    (tmp_path / "new").write_text(new)
    (tmp_path / "tagged").write_text(run("tag", "-m", "m", "new"))
    assert read_corpus(tmp_path / "tagged", name) == (X, y)
    spans = run("tag", "-m", "m", "new", "--spans").splitlines()
    assert [line.split("\t")[1:4] for line in spans] == [
        ["PER", "0", "1"],
        ["LOC", "0", "1"],
    ]
    assert "w=" in run("explain", "-m", "m", "new", "--token", "0")


def test_labels_of_attributes_may_come_first(run, tmp_path):
    (tmp_path / "x").write_text("B-PER w=Anna\nO w=ran\n")
    options = ["--format", "attributes", "--label", "first"]
    run("train", "x", *options, "-o", "m", "-q")
    assert "FB1: 100.00" in run("eval", "-m", "m", *options, "x")
    (tmp_path / "new").write_text("w=Anna\n")
    assert run("tag", "-m", "m", *options, "new") == "B-PER\tw=Anna\n\n"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ["train", "x", "--format", "mallet", "--templates", "t", "-o", "m"],
            "have fe",
        ),
        (["train", "x", "--format", "mallet", "--columns", "a", "-o", "m"], "no such"),
        (["tag", "-m", "own", "--format", "columns", "x"], "give --format attributes"),
        (["tag", "-m", "bare", "x"], "give --format attributes, mallet or crfsuite."),
        (
            ["tag", "-m", "words", "--format", "mallet", "x"],
            "those of the columns word",
        ),
        (
            ["tag", "-m", "own", "--to", "json", "x"],
            "--to: tokens of the format mallet",
        ),
    ],
)
def test_features_and_columns_are_not_mixed(run, tmp_path, arguments, message, capsys):
    (tmp_path / "x").write_text(OWN["mallet"])
    run("train", "x", "--format", "mallet", "-o", "own", "-q")
    (tmp_path / "w").write_text("Anna B-PER\nran O\n")
    run("train", "w", "-o", "words", "-q")
    save_model(SDCACRF().fit([[["a"]]], [["B"]]), tmp_path / "bare")
    with pytest.raises(SystemExit):
        main(arguments)
    assert message in capsys.readouterr().err
