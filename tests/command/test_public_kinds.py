"""The command reads public kinds of files as `read_corpus` does, by equal options."""

import io
import re
import warnings

import pytest
from public_files import KINDS
from public_files.sentences import words_of, written

from pairs import in_one_test
from skcrf_sdca.command import main
from skcrf_sdca.command._inputs import labelled_sentences, untrained_source
from skcrf_sdca.command._main import _parser
from skcrf_sdca.command._options import OF_FORMATS
from skcrf_sdca.text import read_corpus

FILES = {
    name: kind for name, kind in KINDS.items() if kind.is_files and kind.read is None
}
OWN = {*OF_FORMATS, "format", "encoding", "label_form"}
ARGUMENT = re.compile(r"\b(columns|label|format|comment)=")


def arguments(options):
    """Return the options of `read_corpus` as the command takes them."""
    for name, value in options.items():
        own = f"--{name.replace('_', '-')}"
        if name == "header":
            yield own if value else "--no-header"
            continue
        parts = value if isinstance(value, (list, tuple)) else [value]
        text = ",".join("_" if part is None else str(part) for part in parts)
        yield from [own, text] if name in OWN else ["--option", f"{name}={text}"]


def read(path, options, capsys):
    """Return words and labels that `train` reads, or None, and all messages."""
    argv = ["train", str(path), "-o", "m", *arguments(options)]
    try:
        parsed = _parser().parse_args(argv)
        source = untrained_source(parsed)
        X, y, reading = labelled_sentences(source, [str(path)], parsed)
    except ValueError as error:
        return None, [str(error)]
    except SystemExit:
        return None, [capsys.readouterr().err]
    if not source.columns:
        return (words_of(X), y), reading.messages()
    at = list(source.columns).index("word")
    return ([[token[at] for token in own] for own in X], y), reading.messages()


@in_one_test("kind", FILES.values())
def test_what_is_read_is_what_is_written(kind, tmp_path_factory, capsys):
    if kind.labels is None or "label_names" in kind.options:
        return
    found, messages = read(
        written(kind, tmp_path_factory.mktemp("kind")), kind.options, capsys
    )
    if any(None in own for own in kind.labels):
        assert found is None
        assert "has no label" in messages[0]
    else:
        assert found == (kind.words, kind.labels), messages
        assert bool(messages) == (kind.warns is not None), messages


@in_one_test("kind", FILES.values())
def test_what_is_guessed_is_right_or_said(kind, tmp_path_factory, capsys):
    found, messages = read(written(kind, tmp_path_factory.mktemp("kind")), {}, capsys)
    if kind.says is None:
        assert messages == []
        assert found == (kind.words, kind.bare or kind.labels)
    else:
        assert re.search(ARGUMENT.sub(r"--\1", kind.says), " ".join(messages)), messages


@pytest.fixture
def run(tmp_path, monkeypatch, capfdbinary):
    """Return a function that runs the command in a folder: status, output, messages."""
    monkeypatch.chdir(tmp_path)

    def run(*own):
        with warnings.catch_warnings():
            warnings.simplefilter("always")
            status = main([*map(str, own)])
        out, err = capfdbinary.readouterr()
        return status, out, err.decode()

    return run


def tagged(out, kind):
    """Return the labels in what the command wrote."""
    name, label = next(iter(kind.source)), kind.options.get("label", "upos")
    if name.endswith(".conllu") or kind.options.get("format") == "conllu":
        return read_corpus(io.BytesIO(out), "conllu", label=label)[1]
    text = out.decode(kind.options.get("encoding", "utf-8"))
    blocks = text.strip("\n").split("\n\n")
    at = 0 if kind.options.get("format") == "crfsuite" else -1
    return [
        [re.split(r"[\t ]", line)[at] for line in block.splitlines()]
        for block in blocks
    ]


@pytest.mark.slow
@pytest.mark.parametrize("kind", FILES.values(), ids=FILES)
def test_a_model_learns_what_is_written(kind, run, tmp_path):
    if kind.labels is None or any(None in own for own in kind.labels):
        return
    source, options = written(kind, tmp_path), [*arguments(kind.options)]
    fit = "-o", "m", "--alpha", "1e-5", "--quiet"
    status, _, messages = run("train", source, *options, *fit)
    assert status == 0, messages
    assert bool(messages) == (kind.warns is not None), messages
    # The form of labels is one of the training: `tag` makes no use of those it reads.
    of_text = {name: own for name, own in kind.options.items() if name != "label_form"}
    status, out, messages = run("tag", "-m", "m", source, *arguments(of_text))
    assert status == 0, messages
    found = tagged(out, kind)
    assert found[: len(kind.labels)] == kind.labels
    # What has no annotations is tagged, too.
    assert kind.warns is not None or len(found) == len(kind.labels)
