"""`skcrf-sdca pack`: models of packed text are those of the text, in less memory."""

import json
import os
import re
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from samples import peak_of
from skcrf_sdca import load_model
from skcrf_sdca.command import main
from skcrf_sdca.structures.form import dense_coef

COLUMNS = """\
Anna NNP B-PER
Meier NNP I-PER
lives VBZ O

The DT O
Rhine NNP B-LOC
flows VBZ O

Bern NNP B-LOC
left VBD O

"""
TREEBANK = """\
1\tVamos\tir\tVERB\tv\t_\t0\troot\t_\t_
2\tal\ta\tADP\tp\t_\t1\tcase\t_\t_

1\tmar\tmar\tNOUN\tn\t_\t0\troot\t_\t_

"""
CRFSUITE = "O\tw=the\tc:0.5\nB\tw=dog\n\nO\tw=a\n\nB\tw=dogs\tc:2\n\n"
TABLE = "sentence,word,label\n1,Anna,B-PER\n1,left,O\n2,Bern,B-LOC\n"
TEXTS = {
    "a.txt": COLUMNS,
    "a.conllu": TREEBANK,
    "a.crfsuite": CRFSUITE,
    "a.csv": TABLE,
}


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """Work in a folder with the texts, which are read sentence by sentence."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("skcrf_sdca.command._pack.PART", 1)
    for name, text in TEXTS.items():
        (tmp_path / name).write_text(text)
    return tmp_path


@pytest.fixture
def run(capsys):
    """Return a function that runs the command: its status, output and errors."""

    def run(arguments):
        status = main(arguments.split())
        return status, *capsys.readouterr()

    return run


@pytest.mark.parametrize(
    ("name", "options", "fit"),
    [
        ("a.txt", "", ""),
        ("a.txt", "--columns word,pos,label", "--c1 0.1 --c2 0.1 --features observed"),
        ("a.txt", "--columns word,_,label --tokens blanks", "--init start"),
        ("a.conllu", "", "--transitions observed"),
        ("a.csv", "", "--max-iter 50 --solver sdca"),
        ("a.crfsuite", "--format crfsuite", ""),
    ],
)
def test_a_model_of_packed_text_is_that_of_the_text(run, name, options, fit):
    assert run(f"train -q {name} {options} -o start --alpha 0.5")[0] == 0
    assert run(f"train -q {name} {options} -o d {fit}")[0] == 0
    assert run(f"pack -q {name} {options} -o packed") == (0, "", "")
    status, out, err = run(f"train -q packed -o p {fit} --dev {name}")
    assert (status, err) == (0, "")
    assert "accuracy" in out
    p, d = load_model("p"), load_model("d")
    assert list(p.named_steps) == list(d.named_steps)
    assert p.tokens == d.tokens
    assert_array_equal(dense_coef(p[-1].coef_), dense_coef(d[-1].coef_))
    assert p[-1].transitions == d[-1].transitions
    tagged = [run(f"tag -m {model} {name}") for model in "pd"]
    assert tagged[0] == tagged[1]


@pytest.mark.parametrize("source", ["a.txt", "packed"])
def test_a_fit_with_a_checkpoint_goes_on(source, run):
    assert run("pack -q a.txt -o packed")[0] == 0
    options = f"train {source} -o p --alpha 0.01 --solver sdca"

    def n_epochs(more):
        status, _, err = run(f"{options} {more}")
        assert status == 0, err
        return int(re.search(r"solver sdca, (\d+) epochs", err)[1])

    n_epochs("--tol 0.1 --checkpoint state")
    kept = Path("state").read_bytes()
    n_left = n_epochs("--tol 1e-6 --checkpoint state")
    assert n_left < n_epochs("--tol 1e-6")
    crf = load_model("p")[-1]
    assert (crf.checkpoint, crf.warm_start) == (None, False)
    Path("state").write_bytes(kept[:-1])
    status, _, err = run(f"{options} --checkpoint state")
    assert status == 1
    assert "state cannot be read" in err


def test_the_same_command_with_init_goes_on_from_its_checkpoint(run):
    assert run("train a.txt -q -o first")[0] == 0
    for _ in range(2):
        status, _, err = run("train a.txt -q -o p --init first --checkpoint state")
        assert (status, err) == (0, "")


def test_the_messages_say_what_was_read_and_what_is_packed(run):
    _, _, err = run("pack a.txt -o packed")
    assert err.startswith(
        "skcrf-sdca pack: columns (--format says otherwise): 3 sentences, 8 tokens, 4 "
        "labels; word: column 1, features: pos, which new text needs too (--columns "
        "says otherwise), label: column 3 of 3 (--label says otherwise); tagging "
        "scheme: BIO; "
    )
    _, _, err = run("train packed -o p")
    assert err.startswith("skcrf-sdca train: packed: 3 sentences, 8 tokens, ")
    assert "; tagging scheme: BIO\n" in err


@pytest.mark.parametrize(
    ("labels", "options", "found"),
    [
        ("B-X I-X,O,B-X", "", "BIO"),
        ("I-X O,I-X B-X,O", "", "IOB1"),
        ("I-X O,B-X I-X,O", "", "none"),
        ("A,B C,D", "", "none"),
        ("B-X,O,B-X I-X", "--scheme none", "none"),
        ("B-X,O I-X,I-X", "--scheme BIO --repair", "BIO"),
    ],
)
def test_the_scheme_is_that_of_all_parts(run, folder, labels, options, found):
    sentences = [[f"w {x}" for x in part.split()] for part in labels.split(",")]
    text = "\n\n".join("\n".join(lines) for lines in sentences)
    (folder / "b").write_text(text + "\n")
    _, _, err = run(f"pack b -o packed {options}")
    assert f"tagging scheme: {found}" in err
    if "repair" in options:
        assert (
            "; repaired: 'I-X' of sentence 1, token 1, counted from 0 and 1 oth" in err
        )
        assert np.load("packed/labels.npy").tolist() == ["B-X", "O", "B-X", "B-X"]
    header = json.loads((folder / "packed/corpus.json").read_text())
    assert header["metadata"]["scheme"] == found
    assert run("train -q packed -o p")[0] == 0
    expected = None if found == "none" else found
    assert load_model("p")[-1].transitions == expected


def test_a_few_labels_that_break_the_scheme_are_told(run, folder):
    valid = "".join(f"w{i} B-X\nw I-X\n\n" for i in range(60))
    (folder / "b").write_text(valid + "w O\n" + "w B-X\nw I-X\n" * 60 + "v O\nw I-X\n")
    _, _, err = run("pack b -o packed")
    assert (
        "tagging scheme: none; BIO but for labels such as 'I-X' of sentence 60, token "
        "122, counted from 0: --scheme BIO --repair makes them valid" in err
    )


# Errors -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("pack a.txt -o packed --repair", "--repair needs the tagging scheme"),
        ("pack a.txt -o packed --label-form auto", "name the form, such as B_PER"),
        ("train full a.txt -o p", "a packed folder is trained from alone"),
        ("train full -o p --columns word", "--columns needs the text, and a packed"),
        ("train full -o p --option a=b", "--option needs the text, and a packed"),
        ("train full -o p --templates a.txt", "--templates needs the text, and"),
        ("train full -o p --repair", "--repair needs the text, and a packed"),
        ("train full -o p --search", "--search needs the text, and a packed"),
        ("train full -o p --prior p", "--prior needs the text, and a packed"),
    ],
)
def test_wrong_usage_is_told(run, folder, arguments, message):
    run("pack -q a.txt -o full")
    with pytest.raises(SystemExit):
        run(arguments)
    assert not (folder / "packed").exists()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("pack none -o packed", "none: No such file or directory"),
        ("pack a.txt none -o packed", "none: No such file or directory"),
        ("pack bad -o packed", "bad, line 4: 2 columns, ['c', 'N'], but 3 have"),
        ("pack broken -o packed --scheme BIO", "--scheme BIO: labels: sequence 3, ite"),
        ("pack a.txt -o full", "full: it has files in it: remove it, or choose"),
        ("pack a.txt -o no/packed", "no/packed: No such file or directory"),
        ("pack a.txt -o a.csv", "a.csv: File exists"),
        ("pack empty -o packed", "empty: no sentence."),
        ("pack full -o packed", "full: it is a packed folder, which train alone takes"),
        ("tag -m model full", "full: it is a packed folder, which train alone takes"),
        ("eval -m model full", "full: it is a packed folder, which train alone takes"),
        ("train full -o full/rows.packed", "it would be in the packed folder"),
        ("train full -o p --dev none", "none: No such file or directory"),
        ("train full -o p --scheme BILOU", "'I-PER'"),
        ("train cut -o p", "cut/labels.npy is not the file that was written"),
        ("train begun -o p", "begun is not complete, because its writer was killed"),
    ],
)
def test_errors_are_told_and_leave_what_was_there(run, folder, arguments, message):
    (folder / "bad").write_text("a N O\nb N O\n\nc N\n")
    (folder / "broken").write_text(COLUMNS + "a N I-PER\n")
    (folder / "empty").write_text("")
    for name in ("full", "cut", "begun"):
        run(f"pack -q a.txt -o {name}")
    run("train -q full -o model")
    (folder / "cut/labels.npy").write_bytes(b"")
    (folder / "begun/corpus.json").write_bytes(b"")
    before = {path: sorted(os.listdir(path)) for path in (".", "full")}
    status, out, err = run(arguments)
    assert (status, out) == (1, "")
    assert message in err.splitlines()[-1]
    assert {path: sorted(os.listdir(path)) for path in before} == before


@pytest.mark.slow
def test_memory_does_not_grow_with_the_text(run, folder, monkeypatch):
    monkeypatch.setattr("skcrf_sdca.command._pack.PART", 50)

    def pack(name):
        assert run(f"pack -q {name} --columns word,_,label -o {name}.packed") == (
            0,
            "",
            "",
        )

    for name, n in {"small": 100, "large": 800}.items():
        (folder / name).write_text(COLUMNS * n)
        # What is made once, and not for each text.
        pack(name)
        (folder / f"{name}.packed/corpus.json").write_bytes(b"")
    small, large = (
        peak_of(lambda name=name: pack(name)) for name in ("small", "large")
    )
    assert large < 1.2 * small
