"""Parsers of dependency trees in the command: train --parse, tag and eval."""

import io
import re
import sys

import pytest

from skcrf_sdca import load_model
from skcrf_sdca.command import _main, _parsers, main
from skcrf_sdca.metrics import attachment_scores
from skcrf_sdca.persistence import model_info
from skcrf_sdca.text import read_conllu

TREEBANK = """\
# sent_id = s1
# text = Vamos al mar
1\tVamos\tir\tVERB\tv\tMood=Imp\t0\troot\t_\t_
2-3\tal\t_\t_\t_\t_\t_\t_\t_\tx y
2\ta\ta\tADP\tp\t_\t4\tcase\t_\t_
2.1\tgo\t_\t_\t_\t_\t_\t_\t_\t_
3\tel\tel\tDET\td\t_\t4\tdet\t_\t_
4\tmar\tmar\tNOUN\tn\t_\t1\tobl\t_\tSpaceAfter=No

# sent_id = s2
1\tmar\tmar\tNOUN\tn\t_\t0\troot\t_\t_

"""
CYCLE = "1\ta\ta\tDET\td\t_\t2\tx\t_\t_\n2\tb\tb\tDET\td\t_\t1\tx\t_\t_\n\n"
CROSSED = "".join(
    f"{m}\t{w}\t{w}\tX\tx\t_\t{h}\tdep\t_\t_\n"
    for m, w, h in zip(range(1, 5), "abcd", [3, 4, 0, 3], strict=True)
)


@pytest.fixture(autouse=True)
def small(monkeypatch):
    monkeypatch.setattr(_parsers, "N_FEATURES", 2**12)


@pytest.fixture
def files(tmp_path):
    treebank = tmp_path / "train.conllu"
    treebank.write_text(TREEBANK, encoding="utf-8")
    return str(treebank), str(tmp_path / "parser.zip")


def subparsers():
    """Return the parsers of the subcommands by their names."""
    (own,) = (x for x in _main._parser()._actions if x.dest == "subcommand")
    return own.choices


def train(files, *options):
    return main(["train", "--parse", files[0], "-o", files[1], *options])


def test_tag_writes_heads_and_relations_and_keeps_all_else(files, capsys, monkeypatch):
    note = ["--metadata", "corpus=sea"]
    assert train(files, "--max-iter", "30", "--dev", files[0], *note) == 0
    out, err = capsys.readouterr()
    assert "UAS: 100.00%; LAS: 100.00%" in out
    assert "2 sentences, 5 words; no faults" in err
    assert "epoch    1  mean loss of the visits" in err
    seconds = err.splitlines()[-2].split()[-2]
    last = rf".* \d+ epochs in {seconds} s, all else of the fit in \d.* s"
    assert re.fullmatch(last, err.splitlines()[-1])
    parser = load_model(files[1])
    assert parser.features.columns == ["word", "upos", "xpos"]
    assert model_info(files[1]).metadata == {"corpus": "sea"}
    empty = TREEBANK
    for head, relation in (("0", "root"), ("4", "case"), ("4", "det"), ("1", "obl")):
        empty = empty.replace(f"\t{head}\t{relation}\t", "\t_\t_\t")
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(empty.encode())))
    assert main(["tag", "-m", files[1]]) == 0
    assert capsys.readouterr().out == TREEBANK
    assert main(["tag", "-m", files[1], "--batch", "1", files[0]]) == 0
    assert capsys.readouterr().out == TREEBANK


def test_eval_prints_what_the_metrics_say(files, capsys):
    train(files, "-q", "--projective", "--max-iter", "1", "--columns", "upos")
    parser = load_model(files[1])
    assert parser.projective
    assert any("s.upos" in template for template in parser.features.templates)
    capsys.readouterr()
    assert main(["eval", "-m", files[1], files[0]]) == 0
    lines = capsys.readouterr().out.splitlines()
    X, sentences = read_conllu(files[0], ["upos"], label=None, return_sentences=True)
    y = [sentence.tree for sentence in sentences]
    scores = attachment_scores(y, list(parser.predict(X)))
    assert lines[0] == "processed 5 words in 2 sentences."
    assert lines[1] == (
        f"UAS: {100 * scores.uas:6.2f}%; LAS: {100 * scores.las:6.2f}%; "
        f"CLAS: {100 * scores.clas:6.2f}%; correct trees: {100 * scores.exact:6.2f}%"
    )
    assert lines[-1].split()[0] == "all"
    names = {line.split()[0] for line in lines[3:-1]}
    assert {"root", "case", "det", "obl"} <= names


def test_heads_may_be_learned_alone(files, capsys):
    assert train(files, "--heads-only", "--max-iter", "30") == 0
    assert main(["eval", "-m", files[1], files[0]]) == 0
    out = capsys.readouterr().out
    assert "UAS: 100.00%; correct trees: 100.00%\n" in out
    assert main(["tag", "-m", files[1], files[0]]) == 0
    assert capsys.readouterr().out == TREEBANK


def test_faults_of_trees_are_errors_or_left_out(files, capsys):
    with open(files[0], "a", encoding="utf-8") as file:
        file.write(CYCLE)
    assert train(files) == 1
    assert "sentence 2, word 1: its heads form a cycle" in capsys.readouterr().err
    assert train(files, "--wrong-trees", "drop", "--max-iter", "1") == 0
    told = capsys.readouterr().err
    assert "2 sentences, 5 words; cycle: 1" in told
    assert ": 1 epoch in " in told
    with open(files[0], "w", encoding="utf-8") as file:
        file.write(CROSSED.replace("\t4\tdep", "\t9\tdep"))
    assert train(files) == 1
    assert "word 2 ('b'): HEAD must be 0" in capsys.readouterr().err
    assert train(files, "--wrong-trees", "drop") == 1
    assert "no sentence" in capsys.readouterr().err


ROOTS = "".join(
    f"{m}\t{w}\t{w}\tX\tx\t_\t{h}\tdep\t_\t_\n"
    for m, w, h in zip(range(1, 4), "abc", [0, 1, 0], strict=True)
)


def test_sentences_may_have_several_roots(files, capsys):
    with open(files[0], "w", encoding="utf-8") as file:
        file.write(ROOTS + "\n" + TREEBANK)
    assert train(files) == 1
    err = capsys.readouterr().err
    assert f"{files[0]}: sentence 0 has 2 words below the root" in err
    assert "set --several-roots to allow that" in err
    assert train(files, "--wrong-trees", "drop", "--max-iter", "1") == 0
    assert "2 sentences, 5 words; several roots: 1" in capsys.readouterr().err
    assert train(files, "--several-roots", "--max-iter", "30") == 0
    assert "3 sentences, 8 words; no faults" in capsys.readouterr().err
    assert load_model(files[1]).single_root is False
    assert main(["tag", "-m", files[1], files[0]]) == 0
    assert capsys.readouterr().out.startswith(ROOTS)


@pytest.mark.parametrize(
    ("left_out", "counts"),
    [
        (["punctuation"], lambda word: word["word"] != "...!"),
        (["upos=X,ADP"], lambda word: word["upos"] not in {"X", "ADP"}),
        (
            ["punctuation", "deprel=det"],
            lambda word: word["word"] != "...!" and word["deprel"] != "det",
        ),
    ],
)
def test_eval_may_leave_words_out(files, capsys, left_out, counts):
    word = "5\t...!\t_\tX\tx\t_\t4\tp\t_\t_\n"
    rows = TREEBANK.replace("\n\n", f"\n{word}\n", 1)
    with open(files[0], "w", encoding="utf-8") as file:
        file.write(rows)
    assert train(files, "-q", "--max-iter", "1") == 0
    parser = load_model(files[1])
    capsys.readouterr()
    options = [f"--leave-out={own}" for own in left_out]
    assert main(["eval", "-m", files[1], *options, files[0]]) == 0
    lines = capsys.readouterr().out.splitlines()
    columns = parser.features.columns
    X, sentences = read_conllu(files[0], columns, label=None, return_sentences=True)
    mask = [[counts(word) for word in sentence.words] for sentence in sentences]
    scores = attachment_scores(
        [sentence.tree for sentence in sentences], list(parser.predict(X)), mask=mask
    )
    n_out = sum(own.count(False) for own in mask)
    assert lines[0] == f"processed 6 words in 2 sentences, {n_out} words left out."
    assert f"UAS: {100 * scores.uas:6.2f}%; LAS: {100 * scores.las:6.2f}%" in lines[1]
    assert int(lines[-1].split()[-1]) == 6 - n_out


@pytest.mark.parametrize("what", ["punct", "upos=", "x=1"])
def test_words_to_leave_out_are_punctuation_or_values_of_a_column(what, capsys):
    with pytest.raises(SystemExit):
        main(["eval", "-m", "parser", "--leave-out", what, "file"])
    assert "--leave-out: must be punctuation, or one of id" in capsys.readouterr().err


@pytest.mark.parametrize(("change", "n_kept"), [("keep", 1), ("projectivize", 1)])
def test_crossing_arcs_are_counted(files, capsys, change, n_kept):
    with open(files[0], "w", encoding="utf-8") as file:
        file.write(CROSSED)
    assert train(files, "--crossing-arcs", change, "--max-iter", "30") == 0
    assert f"{n_kept} sentences, 4 words; crossing arcs: 1" in capsys.readouterr().err
    assert main(["tag", "-m", files[1], files[0]]) == 0
    heads = [line.split("\t")[6] for line in capsys.readouterr().out.splitlines()[:4]]
    assert heads == ["3", "4" if change == "keep" else "3", "0", "3"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["eval", "--leave-out", "punctuation", "x"], "--leave-out needs a --model"),
    ],
)
def test_options_that_do_not_go_together(arguments, message, capsys):
    with pytest.raises(SystemExit):
        main(arguments)
    assert message in capsys.readouterr().err


# What each subcommand does for a parser; it refuses all other options.
USED = {
    "train": {
        *("help", "traceback", "quiet", "output", "dev", "metadata", "seed"),
        *("max_iter", "format", "encoding", "columns"),
        *("parse", "projective", "several_roots", "heads_only"),
        *("wrong_trees", "crossing_arcs"),
    },
    "tag": {"help", "traceback", "model", "format", "encoding", "batch"},
    "eval": {"help", "traceback", "model", "format", "encoding", "leave_out"},
}
# Those that another option would need.
NEED_OTHERS = {"at_least", "output"}


def given(action):
    """Return the arguments that give an option another value than its default."""
    if action.nargs == 0:
        return [action.option_strings[0]]
    if action.choices:
        value = next(own for own in action.choices if own != action.default)
    else:
        is_number = action.type in (int, float) or action.dest == "alpha"
        value = "7" if is_number else "a=b"
    return [action.option_strings[0], value]


@pytest.mark.parametrize("subcommand", USED)
def test_each_option_is_used_for_a_parser_or_refused_by_name(subcommand, files, capsys):
    train(files, "-q")
    start = ["--parse", "-o", "x"] if subcommand == "train" else ["-m", files[1]]
    refused = 0
    for action in subparsers()[subcommand]._actions:
        is_used = action.dest in USED[subcommand]
        if not action.option_strings or is_used or action.dest in NEED_OTHERS:
            continue
        with pytest.raises(SystemExit):
            main([subcommand, *start, *given(action), files[0]])
        assert (
            f"error: {action.option_strings[0]} is not for" in capsys.readouterr().err
        )
        refused += 1
    assert refused > 8


@pytest.mark.parametrize("subcommand", USED)
def test_a_parser_reads_treebanks_alone(subcommand, files, capsys):
    train(files, "-q")
    start = ["--parse", "-o", "x"] if subcommand == "train" else ["-m", files[1]]
    with pytest.raises(SystemExit):
        main([subcommand, *start, "--format", "csv", files[0]])
    assert "--format csv: a parser reads treebanks" in capsys.readouterr().err


@pytest.mark.parametrize("name", _parsers.OF_TREES)
def test_options_on_trees_need_parse(name, capsys):
    (own,) = (x for x in subparsers()["train"]._actions if x.dest == name)
    with pytest.raises(SystemExit):
        main(["train", "x", "-o", "m", *given(own)])
    assert f"error: {own.option_strings[0]} needs --parse." in capsys.readouterr().err
