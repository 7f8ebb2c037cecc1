"""Concepts of i2b2, in files beside texts, or in another folder."""

import pytest

from skcrf_sdca.text import ReadingWarning, read_corpus

TEXT = "His blood pressure rose .\n\nHe had  aspirin .\n"
CONCEPTS = (
    'c="blood pressure" 1:1 1:2||t="test"\n\nc="Aspirin" 3:2 3:2||t="treatment"\n'
)
LABELS = [["O", "B-test", "I-test", "O", "O"], ["O", "O", "B-treatment", "O"]]


def files(folder, places, concepts=CONCEPTS):
    """Write a text and its concepts to two places below a folder."""
    for place, content in zip(places, (TEXT, concepts), strict=True):
        path = folder / place
        path.parent.mkdir(exist_ok=True)
        path.write_text(content)
    return folder


PLACES = [
    ("a.txt", "a.con"),
    ("a.txt", "a.txt.con"),
    ("txt/a.txt", "concept/a.con"),
    ("texts/a.txt", "b/a.con"),
]


@pytest.mark.parametrize("places", PLACES)
def test_concepts_are_found(tmp_path, places):
    folder = files(tmp_path, places)
    text = folder / places[0]
    for source in folder, text, [text]:
        assert read_corpus(source, "i2b2")[1] == LABELS
    assert read_corpus(folder)[1] == LABELS
    X = read_corpus(text.parent, "i2b2", labelled=False)
    assert [len(tokens) for tokens in X] == [5, 4]


def test_concepts_may_go_on_in_the_next_line(tmp_path):
    concepts = 'c="rose . he" 1:3 3:0||t="x"\n'
    y = read_corpus(files(tmp_path, PLACES[0], concepts), "i2b2")[1]
    assert y == [["O"] * 3 + ["B-x", "I-x", "I-x", "O", "O", "O"]]


def test_words_that_are_counted_from_one_are_told(tmp_path):
    concepts = 'c="blood pressure" 1:2 1:3||t="test"\n'
    with pytest.warns(ReadingWarning, match="1 span moved: .* 'blood pressure' with"):
        y = read_corpus(files(tmp_path, PLACES[0], concepts), "i2b2")[1]
    assert y[0] == LABELS[0]


@pytest.mark.parametrize(
    "line",
    [
        'c="rose" 1:3 1:9||t="x"',
        'c="rose" 0:3 1:3||t="x"',
        'c="rose" 9:3 9:3||t="x"',
        'c="rose" 1:3||t="x"',
        "rose 1:3 1:3 x",
    ],
)
def test_lines_that_are_no_concepts_are_refused(tmp_path, line):
    folder = files(tmp_path, PLACES[0], f"{CONCEPTS}{line}\n")
    with pytest.raises(ValueError, match=r"a\.con, line 4: .* no concept of the 4 lin"):
        read_corpus(folder)


def test_concepts_without_a_text_are_refused(tmp_path):
    folder = files(tmp_path, PLACES[2])
    for format in (None, "i2b2"):
        with pytest.raises(ValueError, match="concepts without their text"):
            read_corpus(folder / "concept" / "a.con", format)


def test_texts_without_concepts_and_the_reverse_are_told(tmp_path):
    folder = files(tmp_path, PLACES[0])
    (folder / "b.txt").write_text("a")
    (folder / "c.con").write_text("")
    with pytest.warns(ReadingWarning, match="1 (text|file .con) left out"):
        assert read_corpus(folder)[1] == LABELS
    with pytest.raises(FileNotFoundError, match="b.con: no such file"):
        read_corpus(folder / "b.txt", "i2b2")
