"""Tables: csv files and data frames, and what their reader guesses and says."""

import io

import pandas as pd
import pytest

from skcrf_sdca.text import ReadingWarning, read_corpus


def read(text, **options):
    """Return the words, the labels and the Reading of a csv file."""
    X, y, reading = read_corpus(
        io.StringIO(text), "table", return_reading=True, **options
    )
    return [[token["word"] for token in own] for own in X], y, reading


GOOD = [["Ann", "ran", "Acme, Inc"], ["She", "sat"]], [["B", "O", "C"], ["O", "O"]]
UNTITLED = '-DOCSTART-,O\n,O\nAnn,B\nran,O\n"Acme, Inc",C\n,O\nShe,O\nsat,O\n'


@pytest.mark.parametrize(
    ("text", "options"),
    [
        (UNTITLED, {}),
        (UNTITLED, {"header": False}),
        (UNTITLED, {"columns": ["word", "label"]}),
        (UNTITLED.replace(",O\nAnn", "\nAnn").replace(",O\nShe", "\nShe"), {}),
        (UNTITLED.replace("\n,O\n", "\n,\n"), {}),
        (UNTITLED.replace("\n", ",\n"), {}),
        ("word,tag\n" + UNTITLED, {}),
        ("Token,Tag\n" + UNTITLED, {"header": True}),
        ("terme,marque\n" + UNTITLED, {"word": "terme", "label": "marque"}),
        ("terme,marque\n" + UNTITLED, {"header": True, "word": 1, "label": 2}),
        (UNTITLED, {"label": 2}),
    ],
)
def test_csv_files_without_titles_are_read(text, options):
    words, y, reading = read(text, **options)
    assert (words, y) == GOOD
    assert "features" not in reading.taken
    assert reading.taken["word"]


def test_titles_that_are_repeated_are_left_out():
    text = "word,tag\nAnn,B\nran,O\n"
    with pytest.warns(ReadingWarning, match="1 line left out: it repeats .* line 4"):
        words, y, _ = read(text * 2)
    assert (words, y) == ([["Ann", "ran"]] * 2, [["B", "O"]] * 2)


def test_a_first_row_that_may_be_titles_is_asked_about():
    with pytest.raises(ValueError, match=r"no column for word= among terme, .*header="):
        read("terme,marque\nAnn,B\nran,O\n")
    words, y, reading = read("Ann,B\nran,O\n", header=False)
    assert (words, y) == ([["Ann", "ran"]], [["B", "O"]])
    assert str(reading).endswith(
        "delimiter: ',' (delimiter= says otherwise), titles: none, word: word (word= "
        "says otherwise), label: label (label= says otherwise)"
    )
    words, y, _ = read("B,Ann,NNP\nO,ran,VBD\n", header=False, label=1)
    assert (words, y) == ([["Ann", "ran"]], [["B", "O"]])


def test_the_line_names_the_columns():
    text = "index,Sentence #,Word,POS,Tag,\n0,1,Ann,NNP,B,\n1,,ran,VBD,O,\n"
    _, _, reading = read(text)
    assert "sentence: Sentence # (sentence= says otherwise)" in str(reading)
    assert "features: index, POS, not read: '' (columns= says" in str(reading)
    with pytest.warns(ReadingWarning, match="column fine is a feature, but new text"):
        read("word,fine,tag\nAnn,B-per.ind,B-per\nran,O,O\n", label="tag")


@pytest.mark.parametrize("word", ["[UNK]", "[1]", "[...]", "[CLS]", "[]"])
def test_words_in_brackets_are_words(word):
    words, y, _ = read(f"word,tag\nAnn,B\n{word},O\nran,O\n")
    assert (words, y) == ([["Ann", word, "ran"]], [["B", "O", "O"]])


@pytest.mark.parametrize(
    ("words", "tags"),
    [
        ("['Ada' 'met']", "['B' 'O']"),
        ("['Ada', 'met']", "[1, 0]"),
        ("['Ada' 'met']", "[1 0]"),
        ("Ada met", "['B', 'O']"),
        ("Ada met", "B O"),
    ],
)
def test_lists_of_programs_are_read(words, tags):
    quoted = words.replace('"', '""')
    found, y, _ = read(f'text,labels\n"{quoted}","{tags}"\n', label_names=["O", "B"])
    assert (found, y) == ([["Ada", "met"]], [["B", "O"]])


def test_spans_that_are_written_as_text_are_read():
    text = "text,label\nAda met,\"[(0, 3, 'PER')]\"\nBo sat,[]\n"
    words, y, _ = read(text)
    assert (words, y) == ([["Ada", "met"], ["Bo", "sat"]], [["B-PER", "O"], ["O", "O"]])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "words,tags\n['a' 'b'],O O\n['a ... b'],O\n['a' ... 'b'],O O\n",
            "line 4: .* no list",
        ),
        ('word,tag\n",O\nAnn,B\n",O\n', r"line 2: the word ',O\\nAnn,B\\n' has a line"),
        ("word,tag\na\rb,O\n,B\n", "line 3: no word"),
        ("word,tag,tag\na,O,O\n", "line 1: two columns have the name 'tag'"),
        ("word,tag\na,O,x\n", "line 2: 3 columns, but the first line has 2"),
    ],
)
def test_wrong_tables_are_named_with_the_line(text, message):
    with pytest.raises(ValueError, match=message):
        read(text)


def test_a_lone_carriage_return_is_a_part_of_a_word():
    words, _, _ = read("word,tag\na\rb,O\nc,B\n")
    assert words == [["a\rb", "c"]]
    words, _, _ = read("word\ttag\na\rb\tO\nc\tB\n")
    assert words == [["a\rb", "c"]]


def test_cells_may_be_longer_than_the_limit_of_the_module_csv():
    long = "a" * 150_000
    words, _, _ = read(f'word,tag\n{long},O\n"{long}",B\n')
    assert words == [[long, long]]


def test_frames_are_named_where_they_are_wrong():
    with pytest.raises(ValueError, match="two columns have the name 'word'"):
        read_corpus(pd.DataFrame([["a", "b", "O"]], columns=["word", "word", "tag"]))
    with pytest.raises(ValueError, match=r"numbers of rows: word \(2\), tag \(1\)"):
        read_corpus({"word": ["a", "b"], "tag": ["O"]}, "table")
    frame = pd.DataFrame([["a", "O"], [None, "O"], ["b", "B"]], columns=["word", "tag"])
    with pytest.raises(ValueError, match="row 1: no word in column 'word'"):
        read_corpus(frame)
