"""Every error of the command is told in one line, with its status."""

import errno
import io
import os
import subprocess
import sys
from types import SimpleNamespace

import pytest

from skcrf_sdca.command import main
from skcrf_sdca.text import read_conll, write_conll

TRAIN = "Anna NNP B-PER\nlives VBZ O\n\nBern NNP B-LÜ\nflows VBZ O\n\n"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Return a folder with a file and the model that it trained, "m"."""
    folder = tmp_path_factory.mktemp("errors")
    (folder / "train").write_text(TRAIN, encoding="utf-8")
    assert main(["train", "-q", str(folder / "train"), "-o", str(folder / "m")]) == 0
    return folder


@pytest.fixture
def run(folder, monkeypatch, capsys):
    """Return a function that runs the command in the folder."""
    monkeypatch.chdir(folder)

    def run(*arguments):
        try:
            status = main(list(map(str, arguments)))
        except SystemExit as exit:
            status = exit.code
        return status, *capsys.readouterr()

    return run


@pytest.fixture
def told(run):
    """Return a function that runs the command and returns its one line of an error."""

    def told(*arguments):
        status, out, err = run(*arguments)
        assert (status, out) == (1, "")
        (line,) = err.splitlines()
        return line.removeprefix(f"skcrf-sdca {arguments[0]}: ")

    return told


def raising(error):
    def function(*_, **options):
        raise error

    return function


# Errors of any type


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        (MemoryError("2 GiB are needed"), "2 GiB are needed"),
        (MemoryError(), "the memory does not suffice."),
        (OSError(errno.EIO, "Input/output error"), "[Errno 5] Input/output error"),
        (RecursionError("too deep"), "RecursionError: too deep; --traceback shows"),
        (TypeError("of\nint"), "TypeError: of int; --traceback shows where it was"),
        (KeyError("a"), "KeyError: 'a'; --traceback shows"),
    ],
)
def test_an_error_of_any_type_is_one_line(told, run, monkeypatch, error, expected):
    monkeypatch.setattr("skcrf_sdca.command._evaluate.report", raising(error))
    assert told("eval", "train").startswith(expected)
    with pytest.raises(type(error)):
        run("eval", "train", "--traceback")


# Encodings

NO_ENCODINGS = ["base64", "zlib", "rot13", "idna", "punycode", "undefined", "", "none"]
NO_ENCODINGS += ["a\0b", "\udcff", "x" * 3000]


@pytest.mark.parametrize("name", NO_ENCODINGS, ids=lambda name: repr(name[:9]))
@pytest.mark.parametrize("subcommand", ["train -o new", "tag -m m", "eval"])
def test_what_is_no_encoding_of_text_is_a_wrong_option(run, subcommand, name):
    status, out, err = run(*subcommand.split(), "train", "--encoding", name)
    assert (status, out) == (2, "")
    assert "is no encoding of text files" in err.splitlines()[-1]


@pytest.mark.parametrize("name", NO_ENCODINGS, ids=lambda name: repr(name[:9]))
def test_readers_and_writers_refuse_what_is_no_encoding_of_text(tmp_path, name):
    path = tmp_path / "file"
    with pytest.raises(LookupError, match="encoding=.* is no encoding of text files"):
        write_conll(path, [["a"]], encoding=name)
    assert not path.exists()
    path.write_bytes(b"a\n")
    with pytest.raises(LookupError, match="encoding=.* is no encoding of text files"):
        read_conll(path, ["word"], label=None, encoding=name)


@pytest.mark.parametrize("name", "utf-16 utf-7 cp037 shift_jis hz utf-8-sig".split())
def test_any_encoding_of_text_is_read_as_it_was_written(tmp_path, name):
    write_conll(tmp_path / "file", [["a", "b+"]], encoding=name)
    assert read_conll(tmp_path / "file", ["word"], label=None, encoding=name) == [
        [{"word": "a"}, {"word": "b+"}]
    ]


def test_a_text_without_a_byte_order_mark_is_told_with_its_line(told):
    line = told("eval", "train", "--encoding", "utf-16")
    assert line.startswith("train, line 1: not utf-16 (UTF-16 stream does not")


# Indices and sizes


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            ["--token=-1"],
            "train, sentence 0: there is no token -1, it has 2 tokens, with the "
            "numbers 0 to 1.",
        ),
        (
            ["--token=2"],
            "train, sentence 0: there is no token 2, it has 2 tokens, with the "
            "numbers 0 to 1.",
        ),
        (
            ["--token=0", "--sentence=-1"],
            "train: no sentence -1, it has 2 sentences, with the numbers 0 to 1.",
        ),
        (
            ["--token=0", f"--sentence={10**30}"],
            f"train: no sentence {10**30}, it has 2 sentences, with the numbers 0 to "
            "1.",
        ),
    ],
)
def test_a_number_outside_of_its_range_is_told_with_the_range(told, options, message):
    assert told("explain", "-m", "m", "train", *options) == message


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["explain", "-m", "m", "--top=0"], "--top must be at least 1."),
        (["explain", "-m", "m", "train", "--token=0", "--top=-2"], "--top must be at"),
        (["train", "train", "-o", "new", "--c1=inf"], "--c1 and --c2 must be finite"),
        (["train", "train", "-o", "new", "--c1=1", "--c2=nan"], "--c1 and --c2 must"),
        (["train", "train", "-o", "new", "--alpha=x"], "must be a number or 'auto'"),
    ],
)
def test_a_wrong_number_is_a_wrong_option(run, arguments, message):
    status, _, err = run(*arguments)
    assert status == 2
    assert message in err.splitlines()[-1]


def test_a_batch_may_be_larger_than_any_file(run):
    expected = run("tag", "-m", "m", "train")
    assert run("tag", "-m", "m", "train", f"--batch={10**30}") == expected


# Templates


@pytest.mark.parametrize("content", ["", "\n\n", "# Window('word', 1)\n\n  # of words"])
def test_a_file_without_templates_is_told(told, folder, tmp_path, content):
    path = tmp_path / "templates"
    path.write_text(content)
    line = told("train", "train", "-o", "new", "--templates", path)
    assert line.startswith(f"{path}: there is no template. A template is a line such")
    assert not (folder / "new").exists()


def test_templates_that_make_no_feature_are_told(told, folder, tmp_path):
    path = tmp_path / "templates"
    path.write_text("At('word', 9)\n")
    line = told("train", "-q", "train", "-o", "new", "--templates", path)
    assert line.startswith(f"{path}: no token has a feature")
    assert not (folder / "new").exists()


@pytest.mark.parametrize(
    ("template", "message"),
    [
        ("Window('word', 1000000)", "places=1000000 has a place beyond 100"),
        ("Joint(*[1])", "*[1] is no value that is written out"),
        ("Prefix(10**9)", "10 ** 9 is no value that is written out"),
        ("Window('word', {1, 2})", "must be an int or a pair of int"),
        (
            "Joint(Window('a', 99), Window('b', 99), Window('c', 99))",
            "more than 262144",
        ),
        ("'" + "x" * 2**18 + "'", "str: the names of the features have more than"),
        ("-" * 100_000 + "1", "is nested too deep."),
        (".".join("a" * 50_000), "is nested too deep."),
        ("Shape(1)", "column must be a str"),
        ("Lookup('no.txt', name='city')", "/no.txt: No such file or directory."),
    ],
    ids=lambda text: text[:20],
)
def test_a_wrong_template_is_told_with_its_line(told, tmp_path, template, message):
    path = tmp_path / "templates"
    path.write_text(f"Shape()\n{template}\n")
    line = told("train", "train", "-o", "new", "--templates", path)
    assert line.startswith(f"{path}, line 2: ")
    assert message in line


@pytest.mark.parametrize("columns", ["pos", "", "word,word"])
def test_columns_that_no_template_fits_are_told_by_templates_too(told, columns):
    line = told("templates", "--columns", columns)
    assert line.startswith("default templates: ")
    assert line == told("train", "train", "-o", "new", "--columns", columns)


# Options that contradict


CONLLU = "1\tAnna\t_\tPROPN\t_\t_\t0\troot\t_\t_\n\n"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--label=word"], "'word' is the label, and among --columns"),
        (["--columns=word,upos"], "'upos' is the label, and among --columns"),
        (["--columns=word,feats", "--label=upos|feats"], "'feats' is the label, and"),
    ],
)
def test_a_label_among_the_columns_is_wrong_usage(run, tmp_path, options, message):
    path = tmp_path / "a.conllu"
    path.write_text(CONLLU)
    status, _, err = run("train", "-q", path, "-o", tmp_path / "m", *options)
    assert (status, (tmp_path / "m").exists()) == (2, False)
    assert message in err.splitlines()[-1]


def test_a_label_without_a_name_is_not_the_default(told, tmp_path):
    path = tmp_path / "a.conllu"
    path.write_text(CONLLU)
    line = told("train", "-q", path, "-o", tmp_path / "m", "--label=")
    assert line.startswith("there is no '', but the columns of CoNLL-U are called")


@pytest.mark.parametrize("subcommand", ["train -o new", "tag -m m", "eval"])
def test_a_comment_that_begins_every_line_is_told(told, subcommand):
    line = told(*subcommand.split(), "train", "--comment=")
    assert line == "comment='' begins every line; comment=None has no comments."


@pytest.mark.parametrize("option", ["", "--dev", "--templates"])
def test_a_model_does_not_replace_what_it_is_made_of(told, tmp_path, option):
    path = tmp_path / "read"
    path.write_text("Shape()" if option == "--templates" else TRAIN, encoding="utf-8")
    (tmp_path / "link").symlink_to(path)
    content = path.read_bytes()
    line = told(
        "train", "-q", "-o", tmp_path / "link", *filter(None, ["train", option]), path
    )
    assert line.startswith(f"{tmp_path / 'link'}: the model would replace this file")
    assert path.read_bytes() == content


# Files


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("", ": is no name of a file"),
        ("new/", "new/: is no name of a file"),
        ("train/new", "train: No such directory"),
        ("x" * 300, "File name too long"),
        ("a\0b", "null byte"),
    ],
    ids=["empty", "slash", "file", "long", "null"],
)
def test_a_wrong_output_is_told_before_the_fit(told, monkeypatch, path, message):
    monkeypatch.setattr(
        "skcrf_sdca.command._train.labelled_sentences", raising(OSError)
    )
    assert message in told("train", "train", "-o", path)


def test_a_link_to_a_missing_folder_is_told_before_the_fit(told, monkeypatch, tmp_path):
    monkeypatch.setattr("skcrf_sdca.command._train.Tagger.fit", raising(TypeError))
    (tmp_path / "link").symlink_to(tmp_path / "none" / "m")
    line = told("train", "-q", "train", "-o", tmp_path / "link")
    assert line == f"{tmp_path / 'none'}: No such directory"


def test_a_closed_output_of_scores_is_told_before_the_fit(told, monkeypatch, folder):
    monkeypatch.setattr("skcrf_sdca.command._train.Tagger.fit", raising(TypeError))
    monkeypatch.setattr(sys, "stdout", None)
    line = told("train", "-q", "train", "-o", "new", "--dev", "train")
    assert line == "standard output: it is closed"


def test_a_file_of_scores_without_a_name_is_not_left_out(told):
    line = told("train", "-q", "train", "-o", "new", "--dev=")
    assert line == ": No such file or directory"


def test_a_wrong_file_of_scores_is_told_before_the_fit(told, folder):
    line = told("train", "train", "-o", "new", "--dev", "none")
    assert line == "none: No such file or directory"
    assert not (folder / "new").exists()


def test_a_full_disk_is_told_with_the_name_of_the_output(told, monkeypatch):
    full = OSError(errno.ENOSPC, "No space left on device")
    monkeypatch.setattr("skcrf_sdca.command._train.save_model", raising(full))
    line = told("train", "-q", "train", "-o", "new")
    assert line == "new: No space left on device"


def test_an_input_that_cannot_be_read_is_told_with_its_name(told, monkeypatch):
    class Damaged(io.RawIOBase):
        name = "<damaged>"

        def read(self, size=-1):
            raise OSError(errno.EIO, "Input/output error")

    class Input:
        buffer = Damaged()

    monkeypatch.setattr(sys, "stdin", Input())
    assert told("eval") == "<damaged>: Input/output error"


# Standard streams


def process(folder, arguments, redirections):
    """Return the status, output and errors of the command in a shell."""
    done = subprocess.run(
        ["sh", "-c", f'exec "$0" "$@" {redirections}', sys.executable, "-P", "-m"]
        + ["skcrf_sdca", *arguments.split()],
        cwd=folder,
        env={**os.environ, "PYTHONIOENCODING": "utf-8"},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        encoding="utf-8",
        timeout=120,
    )
    return done.returncode, done.stdout, done.stderr


@pytest.mark.slow
@pytest.mark.parametrize(
    ("arguments", "redirections", "expected"),
    [
        ("tag -m m", "<&-", "skcrf-sdca tag: standard input: it is closed\n"),
        ("tag -m m train", ">&-", "skcrf-sdca tag: standard output: it is closed\n"),
        (
            "eval train",
            "1<train",
            "skcrf-sdca eval: standard output: Bad file descriptor\n",
        ),
        ("--help", "1<train", "skcrf-sdca: standard output: Bad file descriptor\n"),
        ("eval none", "2>&-", ""),
        ("tag -m m", "<&- >&- 2>&-", ""),
    ],
)
def test_a_stream_that_is_closed_is_an_error(folder, arguments, redirections, expected):
    assert process(folder, arguments, redirections) == (1, "", expected)


@pytest.mark.slow
def test_a_training_needs_no_stream(folder, tmp_path):
    model = tmp_path / "model"
    status, out, _ = process(folder, f"train train -o {model}", "<&- >&- 2>&-")
    assert (status, out) == (0, "")
    assert model.exists()


@pytest.mark.slow
def test_wrong_usage_has_its_status_without_a_standard_error(folder):
    assert process(folder, "tag --none", "2<train") == (2, "", "")


@pytest.mark.slow
def test_a_reader_that_has_gone_ends_the_command_quietly(folder):
    reader, writer = os.pipe()
    os.close(reader)
    with os.fdopen(writer, "wb") as gone:
        done = subprocess.run(
            [sys.executable, "-P", "-m", "skcrf_sdca", "--help"],
            cwd=folder,
            stdin=subprocess.DEVNULL,
            stdout=gone,
            stderr=subprocess.PIPE,
            timeout=120,
        )
    assert (done.returncode, done.stderr) == (141, b"")


def test_an_output_without_bytes_takes_the_texts(folder, monkeypatch):
    monkeypatch.chdir(folder)
    monkeypatch.setattr(sys, "stdin", io.StringIO("Anna NNP\n"))
    monkeypatch.setattr(sys, "stdout", io.StringIO())
    assert main(["tag", "-m", "m"]) == 0
    assert sys.stdout.getvalue() == "Anna NNP B-PER\n\n"


def test_an_output_of_other_programs_takes_the_texts(folder, monkeypatch):
    """Notebooks and builders of pages give one that only has what `print` asks for."""
    written = []
    output = SimpleNamespace(write=written.append, flush=lambda: None)
    monkeypatch.setattr(sys, "stdout", output)
    assert main(["info", str(folder / "m")]) == 0
    assert "".join(written).startswith("type  ")


@pytest.mark.parametrize("arguments", [["explain"], ["eval", "train"]])
def test_a_label_that_the_output_cannot_write_is_told(
    folder, monkeypatch, capsys, arguments
):
    monkeypatch.chdir(folder)
    ascii_only = io.TextIOWrapper(io.BytesIO(), encoding="ascii")
    monkeypatch.setattr(sys, "stdout", ascii_only)
    assert main([*arguments, "-m", "m"]) == 1
    *_, line = capsys.readouterr().err.splitlines()
    assert "standard output: the encoding ascii has no 'Ü'; choose one that" in line
