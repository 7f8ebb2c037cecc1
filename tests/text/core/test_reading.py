"""What readers say that they took, guessed, left out and repaired."""

import io
import re
from itertools import chain

import pytest

from skcrf_sdca.text import ReadingWarning, read_corpus
from skcrf_sdca.text.core.passages import Read, TextSource
from skcrf_sdca.text.core.reading import Reading


def counted(labels, reading=None):
    """Return a Reading that has counted sentences with some labels."""
    reading = reading or Reading()
    reads = [
        Read([{"word": "a"}] * len(own), own if reading.labelled else None, source)
        for own, source in zip(labels, map(TextSource, range(9999)), strict=False)
    ]
    assert list(reading.counted(iter(reads))) == reads
    return reading


def test_one_line_says_what_was_read_and_how():
    reading = Reading(option=lambda name: f"--{name}")
    assert str(reading) == "read: 0 sentences, 0 tokens, 0 labels"
    reading.take("format", "columns", option="format")
    reading.take("word", "column 1")
    reading.take("label", "column 2", option="label")
    counted([["O", "B-PER", None]] * 500, reading)
    assert str(reading) == (
        "columns (--format says otherwise): 500 sentences, 1,500 tokens, 2 labels, "
        "500 tokens without a label; word: column 1, label: column 2 (--label says "
        "otherwise)"
    )
    assert reading.messages() == []
    assert str(counted([["O"]], Reading(labelled=False))) == "read: 1 sentence, 1 token"


def test_what_is_left_out_is_counted_with_the_first_place():
    reading = counted([["A", "B"]])
    for k in range(3):
        reading.note("line", "left out: it is a comment", f"line {k}", "Say so.", k)
    reading.note("span", "clipped", "record 3")
    reading.odd("The file has two texts.")
    reading.odd("The file has two texts.")
    assert reading.messages() == [
        "3 lines left out: it is a comment; the first is line 1. Say so.",
        "1 span clipped; the first is record 3.",
        "The file has two texts.",
    ]


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        ([], "nothing was read: there is no token; format= says otherwise."),
        ([["O", "B"], ["", "O"]], "1 of 4 tokens have the label ''; label= says"),
        ([["O"] * 21], "all 21 tokens have one label, 'O'; label= says otherwise"),
        ([["O"] * 21 + [None]], "all 22 tokens have one label, 'O'"),
        ([["O", "O\tx"]], "1 label with a sign that labels have not, such as 'O\\tx'"),
        ([['"O', "O"]], "1 label with a sign that labels have not, such as '\"O'"),
        ([["NN O", "NN B-X"]], "2 labels with a sign that labels have not, such as"),
        ([[None, None]], "no token has a label; label= says otherwise"),
        ([["O", "B"], [None] * 20], "20 of 22 tokens have no label; label= says"),
        ([["A", "B"] * 251], "the only sentence has 502 tokens; format= says"),
        ([[str(k) for k in range(21)]], "21 labels of 21 tokens are more than a tenth"),
        ([["A"], ["B"]] * 6, "all 12 sentences have one token; format= says"),
        ([["A", "B"], ["A", "B"] * 1001], "a sentence has 2,002 tokens; format="),
    ],
)
def test_odd_counts_are_told(labels, message):
    reading = Reading()
    reading.take("format", "columns", option="format")
    reading.take("label", "column 2", option="label")
    (found,) = counted(labels, reading).messages()
    assert found.startswith(message)


@pytest.mark.parametrize(
    "labels",
    [
        [["O"] * 20],
        [[str(k % 20) for k in range(40)]],
        [[str(k % 21) for k in range(210)]],
        [["A"], ["B"]] * 5,
        [["A", "B"] * 1000, ["A"]],
        [["A", "B"] * 250],
        [["A", None, None]],
        [["A", "B"] * 9 + [None] * 18],
        [["A"]] * 100 + [["B", "A"]],
    ],
)
def test_what_is_usual_is_no_warning(labels):
    assert counted(labels).messages() == []


def test_labels_are_not_asked_for_where_they_are_not_read():
    assert counted([["O"] * 50], Reading(labelled=False)).messages() == []


def test_a_plain_file_is_read_without_a_warning_and_says_how():
    text = "Anna NNP B-PER\nran VBD O\n\n"
    X, y, reading = read_corpus(io.StringIO(text), return_reading=True)
    assert (reading.n_sentences, reading.n_tokens) == (1, 2)
    assert reading.labels == {"B-PER": 1, "O": 1}
    assert reading.guesses["format"] == "format"
    assert re.match(r"columns \(format= says otherwise\): 1 sentence, 2 ", str(reading))
    assert list(chain(*y)) == ["B-PER", "O"]
    named = read_corpus(io.StringIO(text), "conll", return_reading=True)[2]
    assert str(named).startswith("columns: ")


def test_warnings_name_the_line_of_the_caller():
    with pytest.warns(ReadingWarning) as caught:
        read_corpus([("Anna left", [(1, 4, "PER")])])
    assert caught[0].filename == __file__


def test_words_that_are_labels_are_told():
    rows = "B-PER\tAnna\tx\nO\tran\tb\n\n" * 11
    rows = rows.replace("B-PER", '"B-PER', 1)
    with pytest.warns(
        ReadingWarning, match="22 words are labels such as B-PER; column"
    ):
        read_corpus(io.StringIO(rows))


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be", "utf-32-le"])
def test_a_file_in_utf_16_without_a_mark_is_refused(encoding):
    file = io.BytesIO("Anna B-PER\nran O\n".encode(encoding))
    with pytest.raises(ValueError, match="file, line 1: not utf-8-sig, .*encoding="):
        read_corpus(file)
    file.seek(0)
    assert read_corpus(file, encoding=encoding)[1] == [["B-PER", "O"]]
