"""Texts with the labels among the words: brackets of Rasa, and slash tags."""

import io

import pytest

from skcrf_sdca.text import ReadingWarning, read_corpus

MARKDOWN = """\
## intent:live
- [Anna](PER) left
* go to [Bern]{"entity": "LOC", "role": "to"}
## synonym:Bern
- Berne
## intent:yes
- yes
"""
YAML = """\
version: "3.1"
nlu:
- intent: live
  examples: |
    - [Anna](PER) left

    - go to [Bern]{"entity": "LOC", "role": "to"}
- synonym: Bern
  examples: |
    - Berne
- lookup: city
  examples: |
    - Basel
- intent: yes
  examples: |
    - yes
"""


@pytest.mark.parametrize("text", [MARKDOWN, YAML])
def test_sentences_of_rasa_are_those_of_intents(text):
    X, y = read_corpus(io.StringIO(text), "rasa")
    assert [[token["word"] for token in own] for own in X] == [
        ["Anna", "left"],
        ["go", "to", "Bern"],
        ["yes"],
    ]
    assert y == [["B-PER", "O"], ["O", "O", "B-LOC"], ["O"]]


def test_files_of_yaml_are_of_rasa(tmp_path):
    (tmp_path / "nlu.yml").write_text(YAML)
    assert len(read_corpus(tmp_path / "nlu.yml")[0]) == 3


@pytest.mark.parametrize("fields", ["{PER}", '{"role": "x"}', "{}", "{[]}"])
def test_fields_of_a_span_that_have_no_type_are_refused(fields):
    with pytest.raises(ValueError, match=r"line 2: .* has not the form"):
        read_corpus(io.StringIO(f"- yes\n- [Anna]{fields} left\n"), "rasa")


def test_a_dash_in_brackets_is_a_word():
    X, _ = read_corpus(io.StringIO("- [PER Anna ] left\n"), "brackets")
    assert [token["word"] for token in X[0]] == ["-", "Anna", "left"]


def test_words_with_further_separators_are_told():
    text = "Anna|NNP|B-PER left|VBD|O\n" * 11
    with pytest.warns(ReadingWarning, match=r"22 words have '\|' themselves"):
        read_corpus(io.StringIO(text), "slash", separator="|")
    # Some words have one of their own.
    read_corpus(io.StringIO("1/2/CD cups/NNS\n" * 11), "slash")


@pytest.mark.parametrize(
    "text", ["[PER Anna ran", "Anna ] ran", "[ORG ETH [LOC Basel ] ]", "[1] ran"]
)
def test_brackets_that_enclose_no_span_are_told(text):
    with pytest.warns(ReadingWarning, match="bracket read as text: .* in file, line 2"):
        read_corpus(io.StringIO(f"a b\n{text}\n"), "brackets")
    with pytest.warns(ReadingWarning, match="1 bracket read as text"):
        read_corpus(io.StringIO("- [Anna](PER lives"), "rasa")


def test_comments_among_brackets_are_told():
    text = "# a\n[X b ] c\n"
    with pytest.warns(ReadingWarning, match="1 line left out: they begin with '#'.*''"):
        assert len(read_corpus(io.StringIO(text), "brackets")[0]) == 1
    assert len(read_corpus(io.StringIO(text), "brackets", comment="")[0]) == 2


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Anna/PER left/O\nYes/O\n", [["Anna", "left"], ["Yes"]]),
        ("and/or else\n1/2\n", [["and/or", "else"], ["1/2"]]),
        ("and/or\nelse\n", [["and/or"], ["else"]]),
        ("a/B c/D\n" * 15, [["a", "c"]] * 15),
    ],
)
def test_labels_that_are_not_wanted_are_no_part_of_words(text, words):
    X, reading = read_corpus(
        io.StringIO(text), "slash", labelled=False, return_reading=True
    )
    assert [[token["word"] for token in own] for own in X] == words
    assert ("label" in reading.taken) == (words[0][0] != "and/or")
