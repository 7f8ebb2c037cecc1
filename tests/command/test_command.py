"""The command skcrf-sdca: its results, its streams, its errors and its exit codes."""

import bz2
import contextlib
import gzip
import io
import lzma
import os
import re
import signal
import sys
import threading
import tomllib
import warnings
from functools import cache
from pathlib import Path
from types import SimpleNamespace
from typing import get_args

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from numpy_alone import printed
from sklearn.base import clone

from skcrf_sdca import SDCACRF, SegmentCRF, compat, load_model, make_tagger, save_model
from skcrf_sdca._utils.typing import SolverName
from skcrf_sdca.command import _search, main
from skcrf_sdca.command._columns import ColumnsFormat
from skcrf_sdca.command._template_files import default_templates, read_templates
from skcrf_sdca.estimators.alpha_path import Candidate
from skcrf_sdca.estimators.tagger import Tagger
from skcrf_sdca.inspection import drift_report
from skcrf_sdca.persistence import model_info
from skcrf_sdca.text import (
    Apply,
    At,
    Joint,
    LabelPairs,
    Lookup,
    Prefix,
    Shape,
    Suffix,
    TokenFeatures,
    Window,
    has_digit,
    read_conll,
    read_conllu,
)
from skcrf_sdca.text.features.values import FUNCTIONS

ROOT = Path(__file__).parents[2]

TRAIN = """\
Anna NNP B-PER
Meier NNP I-PER
lives VBZ O
in IN O
Basel NNP B-LOC

The DT O
Rhine NNP B-LOC
flows VBZ O

Peter NNP B-PER
left VBD O
Bern NNP B-LOC

"""
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
ROW = "1\tmar\tmar\t{}\tn\t_\t0\troot\t_\t_\n"


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """Return the folder of training files and of their models."""
    folder = tmp_path_factory.mktemp("command")
    (folder / "train.txt").write_text(TRAIN)
    (folder / "bank.conllu").write_text(TREEBANK)
    for name, model in {"train.txt": "m.crf", "bank.conllu": "u.crf"}.items():
        assert main(["train", "-q", str(folder / name), "-o", str(folder / model)]) == 0
    return folder


@pytest.fixture
def model(files):
    return str(files / "m.crf")


@pytest.fixture
def run(capsys):
    """Return a function that runs the command: its status, output and errors."""

    def run(*arguments):
        status = main([str(argument) for argument in arguments])
        return status, *capsys.readouterr()

    return run


@pytest.fixture
def stdin(monkeypatch):
    """Return a function that sets the bytes of the standard input."""

    def set_bytes(content):
        content = content.encode() if isinstance(content, str) else content
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(content)))

    return set_bytes


@contextlib.contextmanager
def process(*arguments):
    """Run the command in a copy of this process, which ends if it waits forever.

    The copy has imported what the command needs.
    """
    (its_in, stdin), (stdout, its_out), (stderr, its_err) = (os.pipe() for _ in "123")
    with warnings.catch_warnings():
        # Other threads, for example those of BLAS, are idle.
        warnings.filterwarnings("ignore", ".*fork", DeprecationWarning)
        child = os.fork()
    if child == 0:
        for own in (stdin, stdout, stderr):
            os.close(own)
        run_and_exit(arguments, its_in, its_out, its_err)
    for own in (its_in, its_out, its_err):
        os.close(own)
    watch = threading.Timer(60, os.kill, (child, signal.SIGKILL))
    watch.start()
    wait = cache(lambda: os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
    try:
        with open(stdin, "w") as stdin, open(stdout) as stdout, open(stderr) as stderr:
            yield SimpleNamespace(stdin=stdin, stdout=stdout, stderr=stderr, wait=wait)
    finally:
        wait()
        watch.cancel()


def run_and_exit(arguments, *streams):
    """Run the command with these streams, and end the process with its status."""
    status = -1
    try:
        for number, stream in enumerate(streams):
            os.dup2(stream, number)
        sys.stdin, sys.stdout, sys.stderr = open(0), open(1, "w"), open(2, "w")
        status = main([str(argument) for argument in arguments])
        if status == 0:
            sys.stdout.flush()
    finally:
        os._exit(status)


# Training


def test_the_model_file_is_a_tagger_of_the_given_parameters(files, run):
    options = "--alpha 0.2 --l1-ratio 0.5 --tol 0.01 --scheme none --seed 3 -q".split()
    path = files / "given.crf"
    assert run("train", files / "train.txt", "-o", path, *options) == (0, "", "")
    tagger = load_model(path)
    assert isinstance(tagger, Tagger)
    assert tagger[0].columns == ["word", "pos"]
    assert tagger[0].templates == default_templates(["word", "pos"])
    given = {"alpha": 0.2, "l1_ratio": 0.5, "tol": 0.01, "random_state": 3}
    parameters = tagger[-1].get_params()
    assert {name: parameters[name] for name in given} == given
    assert parameters["transitions"] is None


def test_which_weights_there_are(files, run):
    path = files / "weights.crf"
    options = "--features observed --min-count 2 --label-pairs observed".split()
    run("train", files / "train.txt", "-o", path, "--scheme", "none", *options)
    crf = load_model(path)[-1]
    given = {"features": "observed", "min_count": 2.0, "label_pairs": "observed"}
    assert given.items() <= crf.get_params().items()
    run("train", files / "train.txt", "-o", path, "--transitions", "open", "-q")
    crf = load_model(path)[-1]
    assert (crf.transitions, crf.features) == ("open", "auto")


def test_the_decoding_of_a_model_is_kept_and_taken(files, run):
    path = files / "posterior.crf"
    options = "--scheme none --alpha 1 --decoding posterior -q".split()
    assert run("train", files / "train.txt", "-o", path, *options) == (0, "", "")
    tagger = load_model(path)
    assert tagger[-1].decoding == "posterior"
    X, _ = read_conll(files / "train.txt")
    code, text, _ = run("tag", "-m", path, files / "train.txt")
    assert code == 0
    found = [line.split()[-1] for line in text.splitlines() if line.strip()]
    expected = tagger.predict(X, decoding="posterior")
    assert found == [label for labels in expected for label in labels]


def test_training_is_that_of_python(files, model):
    X, y = read_conll(files / "train.txt")
    features = TokenFeatures(default_templates(["word", "pos"]))
    crf = SDCACRF(transitions="BIO", random_state=0)
    expected = make_tagger(features, crf).fit(X, y)
    assert (load_model(model)[-1].coef_ == expected[-1].coef_).all()


@pytest.mark.parametrize("solver", get_args(SolverName)[1:])
def test_every_solver_trains(files, run, solver):
    path = files / f"{solver}.crf"
    options = ["--solver", solver, "--tol", "0.1", "-q"]
    assert run("train", files / "train.txt", "-o", path, *options)[0] == 0
    tagger = load_model(path)
    assert tagger[-1].solver_ == solver
    assert tagger.predict([[("Peter", "NNP")]]).tolist() == [["B-PER"]]


def test_c1_and_c2_are_those_of_crfsuite(files, run):
    path = files / "c.crf"
    options = ["--c1", "0.1", "--c2", "0.4", "-q"]
    run("train", files / "train.txt", "-o", path, *options)
    crf = load_model(path)[-1]
    # Three sentences: n * alpha * l1_ratio = c1, n * alpha * (1 - l1_ratio) = 2 * c2.
    assert 3 * crf.alpha * crf.l1_ratio == pytest.approx(0.1)
    assert 3 * crf.alpha * (1 - crf.l1_ratio) == pytest.approx(0.8)


def test_progress_goes_to_the_standard_error_with_a_summary_at_the_end(files, run):
    path = files / "progress.crf"
    status, out, err = run("train", files / "train.txt", "-o", path)
    assert (status, out) == (0, "")
    first, choice, *epochs, last = err.splitlines()
    assert first == (
        "skcrf-sdca train: columns (--format says otherwise): 3 sentences, 11 tokens, "
        "4 labels; word: column 1, features: pos, which new text needs too (--columns "
        "says otherwise), label: column 3 of 3 (--label says otherwise); tagging "
        "scheme: BIO"
    )
    assert choice == "CRF: solver sdca, sparse features, 4 labels"
    assert epochs
    assert all(line.startswith("CRF epoch") for line in epochs)
    # The seconds of the last epoch, and those of all that no epoch counts.
    seconds = epochs[-1].split()[-2]
    fit = rf"skcrf-sdca train: solver sdca, {len(epochs)} epochs in {seconds} s, "
    assert re.match(rf"{fit}features and all else in \d+\.\d\d s; gap ", last)
    n_features = load_model(path)[-1].n_features_in_
    assert last.endswith(f" weights of {n_features} features and 4 labels")
    short = ["--tol", "1e6", "--solver", "sdca"]
    err = run("train", files / "train.txt", "-o", path, *short)[2]
    assert "train: solver sdca, 1 epoch in " in err


@pytest.mark.filterwarnings("default")
def test_a_fit_that_did_not_converge_is_a_warning(files, run):
    path = files / "early.crf"
    options = ["--max-iter", "1", "--tol", "1e-9", "-q"]
    status, _, err = run("train", files / "train.txt", "-o", path, *options)
    assert status == 0
    (line,) = err.splitlines()
    assert line.startswith("skcrf-sdca train: warning: ")
    assert "max_iter" in line
    assert path.exists()


@pytest.mark.parametrize(
    ("labels", "scheme"),
    [
        ("B-X I-X O", "BIO"),
        ("O I-X B-X", "IOB1"),
        ("B-X E-X S-X", "BIOES"),
        ("B-X L-X U-X", "BILOU"),
        ("O I-X B-Y", None),
        ("NN VB NN", None),
    ],
)
def test_the_scheme_is_the_first_in_which_all_labels_are_valid(
    run, tmp_path, labels, scheme
):
    path = tmp_path / "train"
    path.write_text("".join(f"w {label}\n" for label in labels.split()))
    run("train", "-q", path, "-o", tmp_path / "m")
    assert load_model(tmp_path / "m")[-1].transitions == scheme


def test_scores_on_other_data_follow_the_training(files, run):
    train = files / "train.txt"
    options = ["-q", "-o", files / "d.crf", "--scheme", "none"]
    _, out, _ = run("train", train, *options, "--dev", train)
    assert out == run("eval", "-m", files / "d.crf", train)[1]
    assert "FB1: 100.00" in out


def test_several_files_and_the_standard_input_are_one_corpus(files, run, stdin):
    stdin(gzip.compress(TRAIN.encode()))
    path = files / "two.crf"
    status, _, err = run("train", files / "train.txt", "-", "-o", path)
    assert status == 0
    assert "6 sentences" in err


# Templates


def test_the_printed_templates_are_read_again(run, tmp_path):
    path = tmp_path / "templates"
    path.write_text("# a comment\n\n" + run("templates")[1])
    assert read_templates(path) == default_templates(["word", "pos"])


columns = st.sampled_from(["word", "pos"])
values = st.one_of(
    columns,
    st.builds(Prefix, st.integers(1, 4), columns),
    st.builds(Suffix, st.integers(1, 4), columns),
    st.builds(Shape, columns, compact=st.booleans()),
    st.builds(Apply, st.sampled_from(list(FUNCTIONS.values())), columns),
)
templates = st.one_of(
    values,
    st.builds(At, values, st.integers(-3, 3)),
    st.builds(Window, values, st.integers(1, 2), n=st.integers(1, 3)),
    st.lists(values, min_size=1, max_size=3).map(lambda parts: Joint(*parts)),
    st.builds(LabelPairs, values),
)


@given(st.lists(templates, min_size=1, max_size=4))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_every_template_is_written_as_it_prints(tmp_path, expected):
    path = tmp_path / "templates"
    path.write_text("".join(f"{template!r}\n" for template in expected))
    assert read_templates(path) == expected


def test_a_file_of_templates_makes_the_features(files, run, tmp_path):
    path, model = tmp_path / "templates", tmp_path / "m"
    path.write_text('"word"\n# Of the tag:\nApply(has_digit, "tag")\nSuffix(2)\n')
    options = ["--templates", path, "--columns", "word,tag", "-q"]
    assert run("train", files / "train.txt", "-o", model, *options)[0] == 0
    features = load_model(model)[0]
    assert features.templates == ["word", Apply(has_digit, "tag"), Suffix(2)]


@pytest.mark.parametrize("argument", ["'{}'", "table='{}'"])
def test_a_list_of_words_stands_beside_the_file_of_templates(
    tmp_path, monkeypatch, argument
):
    (tmp_path / "lists").mkdir()
    (tmp_path / "lists/cities.txt").write_text("Basel\nNew York\n")
    (tmp_path / "cities.txt").write_text("none\n")
    monkeypatch.chdir(tmp_path)
    for name in "cities.txt", "../lists/cities.txt", tmp_path / "lists/cities.txt":
        line = f"Lookup({argument.format(name)}, name='city')"
        (tmp_path / "lists/templates").write_text(line)
        for path in "lists/templates", tmp_path / "lists/templates":
            assert read_templates(path) == [Lookup({"Basel", "New York"}, name="city")]


@pytest.mark.parametrize(
    "line",
    [
        "Windw('word')",
        "Window('word'",
        "Window()",
        "Window('word', places=0, n=3)",
        "Apply(open)",
        "__import__('os').system('true')",
        "Window(*[1])",
        "Window(**{})",
        "5",
        "word",
    ],
)
def test_a_wrong_template_is_told_with_its_line(files, run, tmp_path, line):
    path = tmp_path / "templates"
    path.write_text(f"Shape()\n{line}\n")
    options = ["--templates", path, "-o", tmp_path / "m"]
    status, _, err = run("train", "-q", files / "train.txt", *options)
    assert status == 1
    assert len(err.splitlines()) == 1
    assert f"{path}" in err
    assert not (tmp_path / "m").exists()


# Tagging

words = st.sampled_from("Anna Meier in Basel the x 7-up Ürük #".split())
tokens = st.tuples(words, st.sampled_from(["NNP", "IN"]))
sentences = st.lists(st.lists(tokens, min_size=1, max_size=4), max_size=5)


# Made sentences are odd.
@pytest.mark.filterwarnings("ignore::skcrf_sdca.text.ReadingWarning")
@given(sentences, st.integers(1, 3))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_the_labels_are_those_of_predict(files, run, X, batch):
    path = files / "new.txt"
    lines = ["".join(f"{word} {pos}\n" for word, pos in tokens) for tokens in X]
    path.write_text("\n".join(lines))
    status, out, err = run("tag", "-m", files / "m.crf", path, "--batch", batch)
    assert (status, err) == (0, "")
    found, labels = read_conll(io.StringIO(out))
    assert [[tuple(token.values()) for token in tokens] for tokens in found] == X
    assert labels == load_model(files / "m.crf").predict(X).tolist()


def test_the_columns_stay_as_they_are_and_the_label_is_added(model, run, stdin):
    stdin("Anna  NNP O\nlives\tVBZ\tx y\n\n\nPeter NNP B-PER \r\n")
    assert run("tag", "-m", model)[1] == (
        "Anna  NNP O B-PER\nlives\tVBZ\tx y\tO\n\nPeter NNP B-PER B-PER\n\n"
    )


def test_probabilities_are_a_further_column(model, run, stdin):
    stdin("Anna NNP\nlives VBZ\n")
    first, second, _ = run("tag", "-m", model, "--proba")[1].splitlines()
    tagger = load_model(model)
    (proba,) = tagger.predict_proba([[("Anna", "NNP"), ("lives", "VBZ")]])
    labels = tagger[-1].classes_.tolist()
    assert first == f"Anna NNP B-PER {proba[0, labels.index('B-PER')]:.4f}"
    assert second == f"lives VBZ O {proba[1, labels.index('O')]:.4f}"


def test_spans_are_lines(model, run, stdin):
    for batch in ("1", "9"):
        stdin("in IN\n\nAnna NNP\nMeier NNP\nlives VBZ\n")
        _, out, _ = run("tag", "-m", model, "--spans", "--batch", batch)
        number, span_type, begin, end, proba, text = out.rstrip("\n").split("\t")
        assert (number, span_type, begin, end) == ("1", "PER", "0", "2")
        assert 0 < float(proba) <= 1
        assert text == "Anna Meier"


def test_all_spans_above_a_probability_are_lines(model, run, stdin, capsys):
    found = {}
    for least in (None, "0.02", "0.5", "1"):
        stdin("in IN\n\nAnna NNP\nMeier NNP\nlives VBZ\n")
        options = [] if least is None else ["--at-least", least]
        out = run("tag", "-m", model, "--spans", *options)[1]
        found[least] = {tuple(line.split("\t")) for line in out.splitlines()}
    assert found["1"] == set()
    assert found["0.5"] <= found[None]
    assert len(found["0.02"]) > len(found[None])
    assert all(float(row[4]) > 0.02 for row in found["0.02"])
    for options in ["--at-least", "0.3"], ["--spans", "--at-least", "2"]:
        with pytest.raises(SystemExit):
            run("tag", "-m", model, *options)
        assert (
            "--at-least needs --spans or --to, and a number" in capsys.readouterr().err
        )


def test_the_scheme_of_spans_is_that_of_the_labels(run, stdin, tmp_path):
    stdin("a B-X\nb E-X\nc S-Y\n")
    run("train", "-q", "-", "-o", tmp_path / "m", "--scheme", "none")
    stdin("a\nb\nc\n")
    rows = [
        r.split("\t")
        for r in run("tag", "-m", tmp_path / "m", "--spans")[1].splitlines()
    ]
    assert [row[1:4] for row in rows] == [["X", "0", "2"], ["Y", "2", "3"]]


@pytest.mark.parametrize("option", ["--proba", "--spans"])
def test_a_model_of_scores_has_no_probabilities(run, stdin, tmp_path, option):
    features = TokenFeatures([Window("word")], columns=["word"])
    crf = SDCACRF(loss="hinge", tol=0.1)
    tagger = Tagger([("features", features), ("label", crf)])
    save_model(tagger.fit([[("a",), ("b",)]] * 4, [["B-X", "O"]] * 4), tmp_path / "m")
    stdin("a\nb\n")
    status, out, err = run("tag", "-m", tmp_path / "m", option)
    assert (status, out) == (1, "")
    assert "--proba, --spans: SDCACRF was fitted with a loss that gives scores" in err


@pytest.mark.parametrize("scheme", ["IO", "iob2", None])
def test_the_scheme_of_segments_is_that_of_the_fit(run, stdin, tmp_path, scheme):
    X = [[("a",), ("b",), ("c",)], [("c",), ("a",)]]
    y = [["I-X", "I-X", "O"], ["O", "I-X"]]
    if scheme == "iob2":
        y = [["B-X", "I-X", "O"], ["O", "B-X"]]
    crf = SegmentCRF(scheme=scheme, solver="lbfgs")
    features = TokenFeatures([Window("word")], columns=["word"])
    tagger = Tagger([("features", features), ("label", crf)]).fit(X, y)
    save_model(tagger, tmp_path / "m")
    stdin("a\nb\nc\n")
    status, out, err = run("tag", "-m", tmp_path / "m", "--spans")
    assert (status, err) == (0, "")
    (spans,) = tagger.predict_spans(X[:1])
    rows = [row.split("\t")[1:4] for row in out.splitlines()]
    assert rows == [[kind, str(b), str(e)] for kind, b, e, _ in spans]


def test_spans_need_a_tagging_scheme(files, run, stdin):
    stdin(TREEBANK)
    status, _, err = run("tag", "-m", files / "u.crf", "--spans")
    assert (status, err) == (
        1,
        "skcrf-sdca tag: --spans, --to: the labels of the model are in no tagging "
        "scheme.\n",
    )


def test_text_in_another_encoding_is_written_in_it(model, stdin, capsysbinary):
    content = "Zürich NNP\n".encode("latin-1")
    stdin(content)
    assert main(["tag", "-m", model, "--encoding", "latin-1"]) == 0
    assert capsysbinary.readouterr().out.startswith(content[:-1] + b" B-")


NAMES = ["O", "B-PER", "I-PER", "B-LOC"]


@pytest.fixture(scope="module")
def ids(tmp_path_factory):
    """Return the paths of models whose labels are numbers, with names and without."""
    X, y = read_conll(io.StringIO(TRAIN))
    y = [list(map(NAMES.index, labels)) for labels in y]
    folder, paths = tmp_path_factory.mktemp("ids"), []
    for names in NAMES, None:
        crf = SDCACRF(label_names=names, random_state=0)
        features = TokenFeatures(columns=("word", "pos"))
        paths.append(folder / f"{len(paths)}.crf")
        save_model(make_tagger(features, crf).fit(X, y), paths[-1])
    return paths


def test_labels_that_are_ids_are_tagged_and_evaluated_by_their_names(ids, run, stdin):
    named, unnamed = ids
    stdin("Anna NNP\n")
    assert run("tag", "-m", named)[1] == "Anna NNP B-PER\n\n"
    stdin("Anna NNP\n")
    assert run("tag", "-m", unnamed)[1] == "Anna NNP 1\n\n"
    stdin("Anna NNP\n")
    assert run("tag", "-m", named, "--proba")[1].startswith("Anna NNP B-PER 0.")
    stdin("Anna NNP\nMeier NNP\n")
    assert run("tag", "-m", named, "--spans")[1].startswith("0\tPER\t0\t2\t0.")
    stdin("Anna NNP B-PER\n")
    assert "FB1: 100.00" in run("eval", "-m", named)[1]
    stdin("Anna NNP 1\n")
    assert "accuracy: 100.00%" in run("eval", "-m", unnamed)[1]


def test_labels_that_are_ids_are_explained(ids, run):
    status, output, _ = run("explain", "-m", ids[0], "--labels", "1", "--top", 1)
    assert (status, output.split("\n")[0]) == (0, "1")
    message = "labels: 'B-PER' is not among the labels of fit"
    assert message in told(run, "explain", "-m", ids[0], "--labels", "B-PER")


@pytest.mark.parametrize("library", [gzip, bz2, lzma])
def test_compressed_treebanks_are_known_by_their_names(library, run, tmp_path):
    endings = {gzip: "gz", bz2: "bz2", lzma: "xz"}
    path = tmp_path / f"bank.conllu.{endings[library]}"
    path.write_bytes(library.compress(TREEBANK.encode()))
    assert run("train", "-q", path, "-o", tmp_path / "m")[0] == 0
    assert run("eval", "-m", tmp_path / "m", path)[0] == 0
    assert load_model(tmp_path / "m").steps[-1][0] == "upos"


@pytest.mark.parametrize("crf", [SDCACRF(random_state=0), compat.CRF()])
def test_a_model_of_python_tags_too(files, run, stdin, tmp_path, crf):
    X, y = read_conll(files / "train.txt", ("word", None, "label"))
    save_model(make_tagger(TokenFeatures(), crf).fit(X, y), tmp_path / "m")
    stdin("Peter\nleft\n")
    assert run("tag", "-m", tmp_path / "m")[1] == "Peter B-PER\nleft O\n\n"
    for option in ("--proba", "--spans"):
        stdin("Peter\nleft\n")
        assert run("tag", "-m", tmp_path / "m", option)[0] == 0
    assert run("explain", "-m", tmp_path / "m")[0] == 0


# CoNLL-U


def test_a_treebank_is_written_as_it_was_but_for_the_labels(files, run, stdin):
    blank = TREEBANK.replace("\tNOUN\t", "\t_\t")
    for content in (blank, gzip.compress(blank.encode())):
        stdin(content)
        assert run("tag", "-m", files / "u.crf") == (0, TREEBANK, "")


@pytest.mark.parametrize("label", ["xpos", "feats", "deprel"])
def test_another_column_of_a_treebank_is_predicted(files, run, tmp_path, label):
    bank, model = files / "bank.conllu", tmp_path / "m"
    options = ["--label", label, "--columns", "word,upos", "--tol", "1e-4", "-q"]
    assert run("train", bank, "-o", model, *options)[0] == 0
    _, y = read_conllu(bank, label=label)
    found = read_conllu(io.StringIO(run("tag", "-m", model, bank)[1]), label=label)[1]
    X, _ = read_conllu(bank, ("word", "upos"), label=label)
    assert found == load_model(model).predict(X).tolist()
    assert "processed 5 tokens in 2 sentences" in run("eval", "-m", model, bank)[1]


def test_joined_columns_of_a_treebank_are_predicted(files, run, tmp_path):
    bank, model = files / "bank.conllu", tmp_path / "m"
    options = ["--label", "upos|feats", "--tol", "1e-4", "-q", "--dev", bank]
    status, report, _ = run("train", bank, "-o", model, *options)
    assert status == 0
    assert load_model(model).classes_.tolist() == [
        "ADP",
        "DET",
        "NOUN",
        "VERB|Mood=Imp",
    ]
    other = tmp_path / "other.conllu"
    other.write_text(TREEBANK.replace("Mood=Imp", "_"))
    assert run("tag", "-m", model, other) == (0, TREEBANK, "")
    assert run("eval", "-m", model, bank)[1] == report
    assert (
        run("train", bank, "-o", model, *options, "--label-features", "parts")[0] == 0
    )
    assert "Mood=Imp" in load_model(model)[-1].parts_
    assert run("tag", "-m", model, other) == (0, TREEBANK, "")
    # The label of VERB has a part of one feature too many, and NOUN one too few.
    other.write_text(
        TREEBANK.replace("Mood=Imp", "_").replace("NOUN\tn\t_\t1", "NUM\tn\tA=B|C=D\t1")
    )
    assert run("eval", "-m", model, other)[1] == (
        "processed 5 tokens in 2 sentences.\n"
        "accuracy:  60.00%; correct sentences:  50.00%\n"
        "             upos: accuracy:  80.00%\n"
        "            feats: precision:   0.00%; recall:   0.00%; FB1:   0.00\n"
    )
    other.write_text(TREEBANK.replace("Mood=Imp", "Mood=Imp|Number=Sing|Person=2"))
    assert run("eval", "-m", model, other)[1].splitlines()[2:] == [
        "             upos: accuracy: 100.00%",
        "            feats: precision: 100.00%; recall:  33.33%; FB1:  50.00",
    ]


# Evaluation


def test_the_report_is_that_of_conlleval(run, stdin):
    # As conlleval.pl of CoNLL-2000 prints it.
    stdin("a B-X B-X\nb I-X I-X\nc O B-Y\nd B-Y O\n\ne B-Y B-Y\n\n")
    assert run("eval") == (
        0,
        "processed 5 tokens with 3 phrases; found: 3 phrases; correct: 2.\n"
        "accuracy:  60.00%; precision:  66.67%; recall:  66.67%; FB1:  66.67\n"
        "                X: precision: 100.00%; recall: 100.00%; FB1: 100.00  1\n"
        "                Y: precision:  50.00%; recall:  50.00%; FB1:  50.00  2\n",
        "",
    )


def test_a_model_is_scored_as_its_output(files, model, run, stdin):
    stdin(run("tag", "-m", model, files / "train.txt")[1])
    status, out, err = run("eval", "-m", model, files / "train.txt")
    assert run("eval") == (status, out, "")
    assert err == (
        "skcrf-sdca eval: columns (--format says otherwise): 3 sentences, 11 tokens, "
        "4 labels; word: column 1, features: pos, label: column 3 of 3 (--label "
        "says otherwise)\n"
    )


def test_labels_that_the_model_does_not_have_at_all_are_told(model, run, stdin):
    stdin("Peter NNP left VBD Bern\n")
    error = run("eval", "-m", model)[2]
    assert "no label is one of the model. 'Bern' is read as a label; the model" in error
    stdin("Peter NNP left VBD B-ORG\nx NNP left VBD O\n")
    assert "warning" not in run("eval", "-m", model)[2]


def test_the_surest_mistakes_are_listed(files, model, run, tmp_path):
    wrong = tmp_path / "wrong.txt"
    lines = (files / "train.txt").read_text().replace("Rhine NNP B-LOC", "Rhine NNP O")
    wrong.write_text(lines.replace("Basel NNP B-LOC", "Basel NNP B-PER"))
    report = run("eval", "-m", model, wrong)[1]
    out = run("eval", "-m", model, "--errors", "1", wrong)[1]
    assert out.startswith(report)
    head, line = out[len(report) :].splitlines()
    assert head.split("\t") == [
        "sentence",
        "mistake",
        "true",
        "p",
        "predicted",
        "p",
        "text",
    ]
    both = run("eval", "-m", model, "--errors", "9", wrong)[1].splitlines()
    rows = [row.split("\t") for row in both[len(report.splitlines()) + 1 :]]
    assert both[-len(rows)] == line
    assert sorted(row[:3] for row in rows) == [
        ["0", "type", "PER"],
        ["1", "false", "-"],
    ]
    assert {row[-1] for row in rows} == {
        "Anna Meier lives in [Basel]",
        "The [Rhine] flows",
    }
    assert float(rows[0][5]) >= float(rows[1][5]) > 0.5


def test_a_model_is_compared_with_another(files, model, run):
    options = "-m", model, "--other", model
    line = run("eval", *options, files / "train.txt")[1].splitlines()[-1]
    assert "+0.00; 95 % of samples of the sentences: +0.00 to +0.00; p = 1.000" in line


@pytest.mark.parametrize("option", [["--errors", "3"], ["--other", "m.crf"]])
def test_mistakes_need_a_model_and_a_scheme(files, model, run, option, capsys):
    with pytest.raises(SystemExit):
        run("eval", *option, files / "train.txt")
    options = ["-m", model, "--scheme", "none", "--errors", "3"]
    status, _, error = run("eval", *options, files / "train.txt")
    assert status == 1
    assert "the labels are in no tagging scheme" in error


def test_an_empty_input_has_no_scores(run, stdin):
    stdin("")
    assert run("eval") == (1, "", "skcrf-sdca eval: -: no sentence.\n")


@pytest.mark.parametrize("options", [[], ["--scheme", "none"]])
def test_labels_without_a_scheme_have_an_accuracy(run, stdin, options):
    pairs = "a N N\nb V N\n\nc N N\n" if not options else "a O O\nb B-X O\n\nc O O\n"
    stdin(pairs)
    assert run("eval", *options)[1] == (
        "processed 3 tokens in 2 sentences.\n"
        "accuracy:  66.67%; correct sentences:  50.00%\n"
    )


# Explanation


def test_the_weights_are_those_of_top_features(model, run):
    expected = load_model(model).top_features(3, ["O", "B-PER"])
    options = ["--top", "3", "--labels", "O,B-PER"]
    assert run("explain", "-m", model, *options) == (0, f"{expected}\n", "")


def test_a_decision_is_explained(files, model, run):
    X, _ = read_conll(files / "train.txt")
    expected = load_model(model).explain([tuple(t.values()) for t in X[2]], 1)
    options = ["--sentence", "2", "--token", "1"]
    shown = run("explain", "-m", model, files / "train.txt", *options)
    assert shown == (0, f"{expected}\n", "")


# Errors


def told(run, *arguments):
    """Return the one line of an error of status 1."""
    status, out, err = run(*arguments)
    assert (status, out) == (1, "")
    (line,) = err.splitlines()
    return line


@pytest.mark.parametrize("subcommand", ["train", "tag", "eval", "explain"])
def test_a_missing_file_is_told_in_one_line(files, model, run, subcommand):
    options = {
        "train": ["-o", files / "none.crf"],
        "explain": ["-m", model, "--token=0"],
    }
    chosen = options.get(subcommand, ["-m", model])
    line = told(run, subcommand, "/no/file", *chosen)
    assert line == f"skcrf-sdca {subcommand}: /no/file: No such file or directory"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "a b c\n\na b\n",
            "line 3: 2 columns, ['a', 'b'], but 3 have names: word, pos, label.",
        ),
        ("a\n", "line 1: 1 column, ['a'], but 2 have names: word, label."),
        ("", "no sentence."),
        ("a \xff O\n".encode("latin-1"), "line 1: not utf-8"),
        (gzip.compress(b"a b O\n" * 99, mtime=0)[:-20], "data compressed by gzip"),
    ],
)
def test_wrong_training_data_is_told_with_its_line(run, files, tmp_path, text, message):
    path = tmp_path / "train"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    line = told(run, "train", path, "-o", tmp_path / "m")
    assert line.startswith("skcrf-sdca train: ")
    assert message in line


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["train", "TRAIN", "-o", "/no/folder/m"], "/no/folder: No such directory"),
        (["train", "TRAIN", "-o", "FOLDER"], "Is a directory"),
        (["train", "TRAIN", "-o", "OUT", "--columns", "pos"], "no column 'word'"),
        (
            ["train", "TRAIN", "-o", "OUT", "--columns", "word,b,c"],
            "but 4 have names: word, b, c, label. --columns names each column",
        ),
        (
            ["train", "TRAIN", "-o", "OUT", "--scheme", "IOB1", "-q"],
            "sequence 0, item 0",
        ),
        (["train", "TRAIN", "-o", "OUT", "--alpha", "-1", "-q"], "'alpha' parameter"),
        (["train", "BANK", "-o", "OUT", "--label", "tag"], "there is no 'tag'"),
        (["tag", "-m", "TRAIN", "TRAIN"], "cannot be read"),
        (["tag", "-m", "MODEL", "ONE"], "line 1: 1 column, but at least 2 are needed"),
        (["eval", "-m", "CONLLU", "TRAIN"], "line 1: 1 column, but CoNLL-U has 10"),
        (["explain", "-m", "MODEL", "TRAIN", "--token", "5"], "it has 5 tokens"),
        (
            ["explain", "-m", "MODEL", "TRAIN", "--sentence", "3", "--token", "0"],
            "no sentence 3",
        ),
        (["explain", "-m", "MODEL", "--labels", "XX"], "'XX' is not among the labels"),
    ],
)
def test_a_mistake_is_told_in_one_line(run, files, tmp_path, arguments, message):
    places = {
        "TRAIN": files / "train.txt",
        "BANK": files / "bank.conllu",
        "MODEL": files / "m.crf",
        "CONLLU": files / "u.crf",
        "ONE": tmp_path / "one",
        "OUT": tmp_path / "m",
        "FOLDER": tmp_path,
    }
    (tmp_path / "one").write_text("a\n")
    line = told(run, *(places.get(a, a) for a in arguments))
    assert line.startswith(f"skcrf-sdca {arguments[0]}: ")
    assert message in line
    assert not (tmp_path / "m").exists()


def test_a_model_that_reads_no_text_is_refused(run, files, tmp_path):
    save_model(SDCACRF().fit([[[1.0]]], [["B"]]), tmp_path / "m")
    line = told(run, "tag", "-m", tmp_path / "m", files / "train.txt")
    assert "whose first step is a TokenFeatures" in line


@pytest.mark.parametrize(
    "arguments",
    [
        [],
        ["unknown"],
        ["train"],
        ["train", "TRAIN"],
        ["train", "TRAIN", "-o", "m", "--c1", "1", "--alpha", "1"],
        ["train", "TRAIN", "-o", "m", "--c1", "0"],
        ["train", "TRAIN", "-o", "m", "--c1", "1", "--c2", "-0.5"],
        ["eval", "TRAIN", "--encoding", "none"],
        ["train", "TRAIN", "-o", "m", "--label", "xpos"],
        ["train", "TRAIN", "-o", "m", "--alpha", "x"],
        ["train", "TRAIN", "-o", "m", "--min-count", "2"],
        ["train", "TRAIN", "-o", "m", "--transitions", "open", "--scheme", "BIO"],
        ["tag", "TRAIN"],
        ["tag", "-m", "MODEL", "--batch", "0"],
        ["tag", "-m", "MODEL", "--proba", "--spans"],
        ["tag", "-m", "CONLLU", "--proba"],
        ["explain", "-m", "MODEL", "TRAIN"],
        ["explain", "-m", "MODEL", "--token", "1"],
        ["explain", "-m", "MODEL", "--columns", "word"],
        ["explain", "-m", "MODEL", "--sentence", "1"],
        ["eval", "TRAIN", "--columns", "word,label"],
        ["eval", "TRAIN", "--label", "1"],
        ["eval", "TRAIN", "--option", "a=b"],
        ["eval", "TRAIN", "--tokens", "words"],
        ["eval", "TRAIN", "--label-form", "auto"],
        ["eval", "TRAIN", "--format", "csv"],
        ["tag", "TRAIN", "-m", "MODEL", "--label-form", "auto"],
        ["drift", "TRAIN", "TRAIN", "-m", "MODEL", "--label-form", "auto"],
        ["train", "TRAIN", "-o", "m", "--search", "--prior", "MODEL"],
        ["train", "TRAIN", "-o", "m", "--parse", "--init", "MODEL"],
        ["tag", "TRAIN", "-m", "MODEL", "--jobs", "0"],
    ],
)
def test_wrong_usage_has_status_2(files, capsys, arguments):
    places = {"TRAIN": "train.txt", "MODEL": "m.crf", "CONLLU": "u.crf"}
    with pytest.raises(SystemExit) as exit:
        main([str(files / places[a]) if a in places else a for a in arguments])
    assert exit.value.code == 2
    assert capsys.readouterr().err.startswith("usage: skcrf-sdca")


def test_the_place_of_an_error_is_shown_if_asked_for(run):
    with pytest.raises(FileNotFoundError):
        run("eval", "/no/file", "--traceback")


def test_an_interrupt_has_status_130(run, monkeypatch):
    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr("skcrf_sdca.command._evaluate.report", interrupted)
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"a O O\n")))
    assert run("eval") == (130, "", "")


# Streams


@pytest.mark.parametrize(
    ("subcommand", "sentence", "answer"),
    [
        (["-m", "m.crf"], "Anna NNP\n\n", "Anna NNP B-PER\n\n"),
        (["-m", "u.crf"], ROW.format("_") + "\n", ROW.format("NOUN") + "\n"),
        (["-m", "m.crf", "--spans"], "Anna NNP\n\n", "{}\tPER\t0\t1\t"),
    ],
    ids=["columns", "treebank", "spans"],
)
def test_a_sentence_is_answered_before_the_input_ends(
    files, monkeypatch, subcommand, sentence, answer
):
    monkeypatch.chdir(files)
    with process("tag", *subcommand) as command:
        for i in range(3):
            command.stdin.write(sentence)
            command.stdin.flush()
            for line in answer.format(i).splitlines():
                assert command.stdout.readline().startswith(line)
        command.stdin.close()
        assert command.stdout.read() == ""
        assert command.stderr.read() == ""
        assert command.wait() == 0


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
@pytest.mark.parametrize("name", ["x", "x.tsv"])
def test_a_named_pipe_is_read_once_and_answered_at_once(model, tmp_path, name):
    """What is read to guess a format would be gone."""
    path = tmp_path / name
    os.mkfifo(path)
    with process("tag", "-m", model, path) as command, path.open("w") as pipe:
        for word, label in ("Anna", "B-PER"), ("Bern", "B-LOC"):
            print(f"{word} NNP\n", file=pipe, flush=True)
            assert command.stdout.readline() == f"{word} NNP {label}\n"
            assert command.stdout.readline() == "\n"
        pipe.close()
        assert command.stderr.read() == ""
        assert command.wait() == 0


def test_a_reader_that_stops_ends_the_command_quietly(model, files):
    path = files / "long.txt"
    path.write_text("Anna NNP\n\n" * 100_000)
    with process("tag", "-m", model, path) as command:
        assert command.stdout.readline() == "Anna NNP B-PER\n"
        command.stdout.close()
        assert command.stderr.read() == ""
        assert command.wait() == 141


def test_sentences_are_written_before_the_next_are_read(model, monkeypatch, run):
    n_read, seen = 0, []

    class Endless(io.RawIOBase):
        def readable(self):
            return True

        def readinto(self, buffer):
            nonlocal n_read
            n_read += 1
            if n_read > 50:
                return 0
            buffer[:16] = b"Anna NNP\nx NNP\n\n"
            return 16

    class Input:
        buffer = io.BufferedReader(Endless())

    monkeypatch.setattr(sys, "stdin", Input())
    text = ColumnsFormat.text

    def spied(*arguments):
        seen.append(n_read)
        return text(*arguments)

    monkeypatch.setattr(ColumnsFormat, "text", spied)
    assert run("tag", "-m", model, "--batch", "10")[0] == 0
    assert len(seen) == 50
    assert seen[0] < 15


# The package


def test_the_installed_command_is_this_one():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert project["scripts"] == {"skcrf-sdca": "skcrf_sdca.command:main"}


def test_help_tells_every_subcommand(capsys):
    with pytest.raises(SystemExit) as exit:
        main(["--help"])
    assert exit.value.code == 0
    out = capsys.readouterr().out
    for name in ("train", "tag", "eval", "explain", "info", "drift", "templates"):
        assert f"\n    {name}" in out


# Several processes


@pytest.mark.slow
@pytest.mark.parametrize("options", [[], ["--spans", "--at-least", "0.2"]])
def test_processes_answer_as_one_does(files, model, run, options, tmp_path):
    text = tmp_path / "text"
    text.write_text(TRAIN * 3)
    command = ["tag", "-m", model, text, *options]
    one = run(*command)
    assert run(*command, "--jobs", "2", "--batch", "2") == one
    assert one[0] == 0


# Models to start from


@pytest.mark.parametrize("option", ["init", "prior"])
def test_a_fit_begins_at_another_model_or_stays_near_it(option, files, run, tmp_path):
    more = tmp_path / "more.txt"
    more.write_text(TRAIN + "Zoe NNP B-PER\n\n")
    old, new = tmp_path / "old", tmp_path / "new"
    options = ["-q", "--solver", "lbfgs", "--tol", "0.1"]
    assert run("train", files / "train.txt", "-o", old, *options)[0] == 0
    assert run("train", more, "-o", new, *options, f"--{option}", old)[0] == 0
    tagger, before = load_model(new), load_model(old)
    X, y = read_conll(more, columns=("word", "pos", "label"), label="label")
    X = [[tuple(token.values()) for token in sentence] for sentence in X]
    expected = clone(tagger).fit(X, y, **{option: before})
    assert np.array_equal(tagger[-1].coef_, expected[-1].coef_)
    # In place of the old file.
    assert run("train", more, "-o", old, *options, f"--{option}", old)[0] == 0
    assert np.array_equal(load_model(old)[-1].coef_, expected[-1].coef_)


def test_a_model_to_start_from_must_be_one(files, run, tmp_path):
    options = ["-o", tmp_path / "m", "--init", files / "train.txt"]
    assert "not a zip file" in told(run, "train", files / "train.txt", *options)


# New text beside old text


def test_text_without_capitals_is_told(files, model, run, tmp_path):
    old, new = tmp_path / "old", tmp_path / "new"
    old.write_text(TRAIN * 10)
    new.write_text(re.sub(r"(?m)^\S+", lambda word: word[0].lower(), TRAIN) * 10)
    X = [
        [
            [tuple(line.split()[:2]) for line in sentence.splitlines()]
            for sentence in path.read_text().strip().split("\n\n")
        ]
        for path in (old, new)
    ]
    expected = drift_report(load_model(model), *X)
    assert "unknown features" in {row.figure for row in expected.drifted}
    assert run("drift", "-m", model, old, new) == (0, f"{expected}\n", "")


# What a model says of itself


def test_a_model_says_what_it_is_and_what_was_said_of_it(files, run, tmp_path):
    notes = ["--metadata", "corpus=three sentences", "--metadata", "by=a=b"]
    path = tmp_path / "m"
    assert run("train", files / "train.txt", "-o", path, "-q", *notes)[0] == 0
    expected = model_info(path)
    assert expected.metadata == {"corpus": "three sentences", "by": "a=b"}
    assert expected.columns == ["word", "pos"]
    assert run("info", path) == (0, f"{expected}\n", "")


def test_metadata_are_checked_before_the_fit(files, run, tmp_path):
    options = ["-o", tmp_path / "m", "--metadata", f"a={2**16 * 'x'}"]
    line = told(run, "train", tmp_path / "none", *options)
    assert "metadata take" in line


def test_what_is_no_model_has_no_info(files, run):
    assert "not a zip file" in told(run, "info", files / "train.txt")


# Columns, raw text, schemes that almost fit -------------------------------------------

GERMEVAL = """\
1\tAnna\tB-PER\tO
2\tlives\tO\tO
3\tBasel\tB-LOC\tO

"""


@pytest.mark.parametrize(
    "options",
    [
        ["--columns", "id,word,label,nested"],
        ["--columns", "_,word,label,_"],
        ["--columns", "id,word,ner,nested", "--label", "ner"],
        ["--columns", "id,word,nested", "--label", "3"],
        ["--columns", "id,word,_,nested", "--label", "3"],
        ["--columns", "id,word,label,nested", "--label", "3"],
    ],
)
def test_the_label_may_be_any_column(run, stdin, tmp_path, options):
    train, model = tmp_path / "t", tmp_path / "m"
    train.write_text(GERMEVAL)
    _, _, progress = run("train", train, "-o", model, *options)
    assert "label: column 3 of 4" in progress
    templates = load_model(model)[0].templates
    assert not any("'label'" in repr(t) or "'_" in repr(t) for t in templates)
    for text in GERMEVAL, GERMEVAL.replace("\tB-PER", "").replace("\tB-LOC", ""):
        text = text.replace("lives\tO\tO", "lives\tO") if text != GERMEVAL else text
        stdin(text)
        out = run("tag", "-m", model)[1].splitlines()
        assert [line.split("\t")[-1] for line in out[:3]] == ["B-PER", "O", "B-LOC"]
    assert "accuracy: 100.00%" in run("eval", "-m", model, train)[1]


def test_the_label_may_come_first(run, tmp_path):
    train, model = tmp_path / "t", tmp_path / "m"
    train.write_text("B-PER Anna\nO lives\n\n")
    assert run("train", train, "-o", model, "--label", "1", "-q")[0] == 0
    assert load_model(model)[0].columns == ["label", "word"]
    assert "accuracy: 100.00%" in run("eval", "-m", model, train)[1]
    said = run("train", train, "-o", model)[2].splitlines()[0]
    assert "label: column 1 of 2 (--label says otherwise)" in said
    assert load_model(model)[0].columns == ["label", "word"]
    train.write_text("Anna NOUN\nlives VERB\n\n")
    said = run("train", train, "-o", model)[2].splitlines()[0]
    assert "label: column 2 of 2 (--label says otherwise)" in said


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            ["--columns", "id,word"],
            "4 columns, ['1', 'Anna', 'B-PER', 'O'], but 3 have names: id, word, l",
        ),
        (
            ["--columns", "a,word,label,b,c"],
            "4 columns, ['1', 'Anna', 'B-PER', 'O'], but 5 have names: a, word, l",
        ),
    ],
)
def test_columns_without_a_name_are_asked_for(run, tmp_path, options, message):
    train = tmp_path / "t"
    train.write_text(GERMEVAL)
    status, _, error = run("train", train, "-o", tmp_path / "m", *options)
    assert status == 1
    assert f"{train}, line 1: {message}" in error


def test_a_label_that_no_column_is_called_is_wrong_usage(run, tmp_path, capsys):
    (tmp_path / "t").write_text(GERMEVAL)
    for columns in [], ["--columns", "id,word"], ["--header"]:
        with pytest.raises(SystemExit):
            run(
                "train",
                tmp_path / "t",
                "-o",
                tmp_path / "m",
                "--label",
                "ner",
                *columns,
            )
        error = capsys.readouterr().err
        assert "--label ner: " in error
        assert "--columns" in error or "those of the header are 1, Anna, B-PER" in error


@pytest.fixture(scope="module")
def of_words(files):
    """Return a model that reads words alone."""
    (files / "words.txt").write_text(re.sub(r" \w+ ", " ", TRAIN))
    path = files / "words.crf"
    assert main(["train", "-q", str(files / "words.txt"), "-o", str(path)]) == 0
    return path


def test_text_has_a_sentence_on_a_line(of_words, run, stdin):
    stdin("\ufeffPeter left  Bern\n\n \nPeter\r\n")
    out = run("tag", "-m", of_words, "--format", "text")[1]
    assert out == "Peter B-PER\nleft O\nBern B-LOC\n\nPeter B-PER\n\n"
    text = "Did Peter leave Bern?"
    stdin(text)
    arguments = ["--format", "text", "--tokens", "words", "--spans"]
    rows = run("tag", "-m", of_words, *arguments)[1].splitlines()
    spans = [row.split("\t") for row in rows]
    assert [(s[1], text[int(s[2]) : int(s[3])], s[5]) for s in spans] == [
        ("PER", "Peter", "Peter"),
        ("LOC", "Bern", "Bern"),
    ]


def test_text_needs_a_model_of_words_and_a_pattern(model, of_words, run, stdin, capsys):
    stdin("a")
    with pytest.raises(SystemExit):
        run("tag", "-m", model, "--format", "text")
    error = capsys.readouterr().err
    assert "templates of the model read the columns word, pos of each token" in error
    assert "is trained by train --columns word,_,label." in error
    with pytest.raises(SystemExit):
        run("tag", "-m", of_words, "--format", "text", "--tokens", "(")
    assert "--tokens: no regular expression" in capsys.readouterr().err


@pytest.mark.parametrize(
    "text",
    [
        "Anna lives in Bern\n",
        "Anna lives\nPeter left\n",
        "Anna lives in Basel\nThe Rhine flows\n",
        "Anna\nlives in Basel\nThe Rhine\n",
        "Anna lives in Basel\n\nThe Rhine flows\n",
    ],
)
def test_lines_of_text_are_not_taken_for_tokens(of_words, run, stdin, text, capsys):
    stdin(text)
    with pytest.raises(SystemExit) as exit:
        run("tag", "-m", of_words)
    out, error = capsys.readouterr()
    assert (exit.value.code, out) == (2, "")
    assert "--format text" in error.splitlines()[-1]


@pytest.mark.filterwarnings("default")
def test_columns_that_are_read_as_text_are_told(of_words, run, files, tmp_path):
    columns, text = files / "words.txt", tmp_path / "new"
    told = "11 lines of 11 end with a label of the model"
    assert told in run("tag", "-m", of_words, "--format", "text", columns)[2]
    text.write_text("Peter left Bern .\n" * 9)
    drift = "drift", "-m", of_words, columns, text, "--format", "text"
    assert told in run(*drift)[2]
    status, out, err = run(*drift, "--old-format", "columns")
    assert (status, err) == (0, "")
    assert out.splitlines()[0].split() == ["figure", "old", "new", "errors"]


@pytest.mark.parametrize(
    ("text", "options"),
    [
        ("Anna B-PER\nlives O\n", []),
        ("Anna NNP x\nlives VB O\n", []),
        ("Anna\nlives\n", []),
        ("Anna NNP\nlives VB\n", ["--format", "columns"]),
        ("Anna NNP\nlives VB\n", ["--delimiter", " "]),
        ("Anna\tNNP\nlives\tVB\n", []),
    ],
)
@pytest.mark.filterwarnings("default")
def test_columns_are_not_taken_for_text(of_words, run, stdin, text, options):
    stdin(text)
    status, out, _ = run("tag", "-m", of_words, *options)
    assert (status, out.splitlines()[0].split()[-1]) == (0, "B-PER")


def test_a_label_that_no_scheme_has_is_named_and_repaired_on_request(run, tmp_path):
    train, model = tmp_path / "t", tmp_path / "m"
    text = re.sub(r" \w+ ", " ", TRAIN) * 60
    train.write_text(text.replace("left O", "left OO", 1))
    progress = run("train", train, "-o", model)[2]
    assert "scheme: none; BIO but for 1 label, the first 'OO' of sen" in progress
    assert "OO" in load_model(model)[-1].classes_
    progress = run("train", train, "-o", model, "--repair")[2]
    assert "tagging scheme: BIO; repaired: 1 label, the first 'OO' of sen" in progress
    assert "OO" not in load_model(model)[-1].classes_


@pytest.mark.parametrize(
    ("scheme", "text", "n_repaired"),
    [
        ("BIO", TRAIN.replace("O\nRhine NNP B", "O\nRhine NNP I"), 1),
        # More than a few labels change, which is what was asked for.
        ("IOB1", TRAIN, 5),
        ("BIOES", TRAIN, 5),
        ("BIO", TRAIN * 20 + "Peter NNP PER\n\n", 1),
    ],
)
def test_labels_are_repaired_in_the_scheme_that_is_given(
    run, tmp_path, scheme, text, n_repaired
):
    train, model = tmp_path / "t", tmp_path / "m"
    train.write_text(text)
    arguments = ["train", train, "-o", model, "--scheme", scheme]
    status, _, error = run(*arguments, "-q")
    assert (status, "--repair makes such labels valid" in error) == (1, True)
    assert "repair_labels" not in error
    progress = run(*arguments, "--repair")[2]
    n = "1 label" if n_repaired == 1 else f"{n_repaired} labels"
    assert f"tagging scheme: {scheme}; repaired: {n}, the first '" in progress
    assert load_model(model)[-1].transitions == scheme


def test_labels_of_no_scheme_are_not_repaired(run, tmp_path, files, capsys):
    train, model = tmp_path / "t", tmp_path / "m"
    train.write_text("Anna NOUN\nlives VERB\n\n")
    options = ["--repair", "--scheme", "BIO", "-q"]
    status, _, error = run("train", train, "-o", model, *options)
    assert status == 1
    assert "2 labels, of which those such as 'NOUN' of sentence 0, token 0" in error
    with pytest.raises(SystemExit):
        run("train", "/no/file", "-o", model, "--repair", "--scheme", "none")
    assert "--repair needs a tagging scheme" in capsys.readouterr().err


def test_templates_of_other_programs_are_read(run, tmp_path, files):
    lines = "# of CRF++\nU00:%x[0,0]\nU01:%x[-1,0]/%x[0,1]\nU02:%x[0,0]\nB\n"
    (tmp_path / "t").write_text(lines)
    options = ["-o", tmp_path / "m", "--templates", tmp_path / "t", "-q"]
    assert run("train", files / "train.txt", *options)[0] == 0
    crf = load_model(tmp_path / "m")
    assert len(crf[0].templates) == 2
    (tmp_path / "t").write_text('*:w=%x[0,0]\nU:%m[0,0,"^.?"]\n')
    assert run("train", files / "train.txt", *options)[0] == 0
    assert load_model(tmp_path / "m")[-1].edge_features == ["b:*"]
    (tmp_path / "t").write_text("U:%x[0,7]\n")
    assert (
        "line 1: 'U:%x[0,7]' is no template: it reads column 7"
        in run("train", files / "train.txt", *options)[2]
    )


def test_a_search_keeps_the_best_penalty_and_scales_it_with_the_data(run, tmp_path):
    train, dev, model = (tmp_path / name for name in ("t", "d", "m"))
    rare, others = "Peter B-PER\nleft O\n\n", "it O\nrains O\n\n"
    # Every tenth sentence is kept aside.
    train.write_text((rare + others * 8 + rare) * 2 + others * 60)
    # A strong penalty keeps the model from learning the rare label.
    status, _, progress = run("train", train, "-o", model, "--search", "--tol", "0.1")
    assert status == 0
    found = re.findall(
        r"search: alpha = (\S+) / n, l1 ratio (\S+): span F1 ([\d.]+)", progress
    )
    assert {ratio for _, ratio, _ in found} == {"0", "0.5"}
    best = re.search(
        r"best: alpha = (\S+) / n, l1 ratio (\S+), span F1 (\S+)", progress
    )
    scores = [float(score) for *_, score in found]
    assert min(scores) < max(scores) == float(best[3])
    assert best.groups() in found
    *_, last, default = found
    assert default[:2] == ("1", "0")
    assert best.groups() in (last, default)
    crf, n = load_model(model)[-1], train.read_text().count("\n\n")
    assert crf.alpha == pytest.approx(float(best[1]) / n)
    assert crf.l1_ratio == float(best[2])
    dev.write_text(rare)
    options = ["--search", "--dev", dev, "--tol", "0.1"]
    assert "search: alpha = " in run("train", train, "-o", model, *options)[2]


def test_a_search_by_halving_goes_on_with_the_best_third(run, tmp_path):
    train, model = tmp_path / "t", tmp_path / "m"
    train.write_text("Peter B-PER\nleft O\n\nit O\nrains O\n\n" * 30)
    options = ["--search", "halving", "--tol", "0.1"]
    status, _, progress = run("train", train, "-o", model, *options)
    found = re.findall(r"search: (alpha = .*): span", progress)
    assert (status, len(found)) == (0, 14 + 4 + 2)
    assert len(set(found[:14])) == 14
    assert found[18] in found[14:18]
    assert re.search(r"best: (.*), span", progress)[1] == found[18]


def test_a_search_keeps_nothing_that_is_worse_than_the_default(
    run, tmp_path, monkeypatch
):
    """A candidate that looked best before its fit ended is compared at the end."""
    train, model = tmp_path / "t", tmp_path / "m"
    train.write_text("Peter B-PER\nleft O\n\nit O\nrains O\n\n" * 20)
    # So strong a penalty that all labels have the same score.
    early = [Candidate(1e4, 0.5, (0.99,)), Candidate(1e3, 0.5, (0.98,))]
    monkeypatch.setattr(_search, "candidates", lambda *_, **__: iter(early))
    options = ["--search", "halving", "--dev", train]
    status, _, progress = run("train", train, "-o", model, *options)
    assert status == 0
    at_end = re.search(r"10000 / n, .*: span F1 (\S+), fitted to the end", progress)
    assert float(at_end[1]) < 1.0
    assert "best: alpha = 1 / n, l1 ratio 0, span F1 1.0000" in progress
    assert "is the largest of the strengths" not in progress
    assert load_model(model)[-1].alpha == pytest.approx(1 / 40)


@pytest.mark.filterwarnings("default")
@pytest.mark.parametrize(
    ("scores", "warning"),
    [
        (
            (0.5, 0.7, 0.9),
            "the best alpha n, 0.1, is the smallest of the strengths: a ",
        ),
        ((0.5, 0.9, 0.7), None),
    ],
)
def test_a_search_tells_of_a_best_penalty_at_the_edge(
    run, tmp_path, monkeypatch, scores, warning
):
    train = tmp_path / "t"
    train.write_text("Peter B-PER\nleft O\n\nit O\nrains O\n\n" * 20)
    strengths = 3.0, 1.0, 0.1
    tried = [
        Candidate(*own, 0.0, (s,)) for *own, s in zip(strengths, scores, strict=True)
    ]
    monkeypatch.setattr(_search, "candidates", lambda *_, **__: iter(tried))
    options = ["-o", tmp_path / "m", "--search", "--dev", train]
    status, _, progress = run("train", train, *options)
    assert status == 0
    told = re.search(r"warning: (the best alpha n.*)", progress)
    assert (told is None) == (warning is None)
    if warning:
        assert told[1].startswith(warning)
        assert told[1].endswith("a fit by --alpha, 0.01 / n or beyond")


def test_a_search_needs_sentences_and_no_penalty(files, run, tmp_path, capsys):
    few = tmp_path / "few"
    few.write_text("a B\n\n" * 9)
    error = run("train", few, "-o", tmp_path / "m", "--search")[2]
    assert "--search: 9 sentences are too few; give at least 10" in error
    for penalty in ["--alpha", "1"], ["--c1", "1"]:
        with pytest.raises(SystemExit):
            run("train", few, "-o", tmp_path / "m", "--search", *penalty)
        assert "--search finds the penalty: give none" in capsys.readouterr().err


def test_what_a_model_says_of_itself_needs_numpy_alone(model):
    code = "from skcrf_sdca.command import main\nassert main(['info', {!r}]) == 0"
    assert "Tagger: features" in printed(code.format(str(model)))
