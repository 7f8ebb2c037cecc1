"""Files of columns: what the reader guesses of them, and says."""

import io

import pytest

from skcrf_sdca.text import ReadingWarning, read_conll, read_corpus

PLAIN = "Anna\tB-PER\nran\tO\n\nBasel\tB-LOC\nis\tO\n"
LABELS = [["B-PER", "O"], ["B-LOC", "O"]]


def read(text, **options):
    """Return the words, the labels and the Reading of a text in columns."""
    X, y, reading = read_corpus(
        io.StringIO(text), "columns", return_reading=True, **options
    )
    return [[token["word"] for token in own] for own in X], y, reading


@pytest.mark.parametrize(
    "text",
    [
        PLAIN.replace("\n", "\t\n").replace("\n\t\n", "\n\n"),
        PLAIN.replace("O\n", "O\t\n"),
        PLAIN.replace("\n", "\t\t\t\n"),
        "".join(f"\t{line}\n" if line else "\n" for line in PLAIN.split("\n")),
        # A form feed, a vertical tab and others that people see as blank.
        PLAIN.replace("\n\n", "\n\x0c\n"),
        PLAIN.replace("\n\n", "\n\x0b\n"),
        PLAIN.replace("\n\n", "\n \x1c\x85\n"),
        # Comments that have not the columns of a token.
        "# global\n\n# id 12-3\tdomain=en\tx\n" + PLAIN,
        "# language = fr\n" + PLAIN.replace("\n\n", "\n# segment\n\n"),
        "#begin document (a); part 000\n" + PLAIN + "#end document\n",
        "###MEDLINE:1\n" + PLAIN,
    ],
)
def test_what_people_do_to_columns_changes_no_labels(text):
    words, y, reading = read(text)
    assert (words, y) == ([["Anna", "ran"], ["Basel", "is"]], LABELS)
    assert "O" in read_conll(io.StringIO(text), None)[1][0]
    if "\t\n" not in text:
        named = {"columns": (None,) * text.startswith("\t") + ("word", "label")}
        assert read(text, **named)[1] == LABELS


def test_comments_are_said_with_the_first_line():
    text = "# id 1-2\tdomain=en\nann _ _ B-PER\n\n# id 1-3\tdomain=en\nran _ _ O\n\n"
    _, y, reading = read(text)
    assert y == [["B-PER"], ["O"]]
    assert reading.taken["comments"] == "2 lines, first file, line 1"
    assert "comments: 2 lines, first file, line 1 (comment= says" in str(reading)
    with pytest.raises(ValueError, match=r"line 1: 4 columns.*comment= how comm"):
        read("# id = 1-2\nann\tO\n", comment="%", columns=["word", "label"])


def test_a_comment_with_the_columns_of_a_token_is_told():
    text = "# newdoc\nAnna B-PER\nran O\n\n# newpar\nBo B-PER\nsat O\n"
    with pytest.warns(ReadingWarning, match=r"line 1: is it a comment\? .*comment="):
        words, _, _ = read(text)
    assert words[0] == ["#", "Anna", "ran"]
    words, y, _ = read(text, comment="# ")
    assert y == [["B-PER", "O"], ["B-PER", "O"]]
    # A word of the text has a label that others have too.
    words, _, _ = read("# O\n1 O\nAnna B-PER\n\n# O\n")
    assert words == [["#", "1", "Anna"], ["#"]]
    # The tag of a currency, as those of punctuation.
    words, y, _ = read("About IN\n# #\n15 CD\nbillion CD\n")
    assert words == [["About", "#", "15", "billion"]]
    assert y == [["IN", "#", "CD", "CD"]]


def test_an_empty_word_is_told():
    with pytest.warns(ReadingWarning, match="1 token without a word: .* line 2"):
        read("Anna\tB-PER\n\tO\n")


def test_the_line_says_which_column_is_what():
    _, _, reading = read("Anna NNP B-NP B-PER\nran VBD B-VP O\n")
    assert str(reading) == (
        "columns: 1 sentence, 2 tokens, 2 labels; word: column 1, features: pos, "
        "column3 (columns= says otherwise), label: column 4 of 4 (label= says "
        "otherwise)"
    )
    _, _, reading = read("B-PER\tAnna\nO\tran\n")
    assert reading.taken["label"] == "column 1 of 2"
    _, y, reading = read("Anna B-PER NNP\nran O VBD\n", label=2)
    assert y == [["B-PER", "O"]]
    assert reading.guesses == {"word": "columns", "features": "columns"}
    _, _, reading = read("a b X\n", columns=["word", None, "label"])
    assert reading.guesses == {}
    assert reading.taken["not read"] == "column 2"


HIPE = (
    "TOKEN\tNE-COARSE-LIT\tNE-FINE-LIT\tNEL-LIT\tMISC\n"
    "# language = fr\nAnna\tB-pers\tB-pers.ind\tQ1\t_\nran\tO\tO\t_\tNoSpaceAfter\n"
)


def test_titles_of_columns_are_taken_and_chosen():
    with pytest.warns(ReadingWarning) as caught:
        _, y, reading = read(HIPE)
    assert [str(w.message).split(" is a")[0] for w in caught] == [
        "the column NE-COARSE-LIT",
        "the column NE-FINE-LIT",
    ]
    assert "the label is none of these; columns= says" in str(caught[0].message)
    assert y == [["_", "NoSpaceAfter"]]
    assert (
        "label: column 5 of 5 (MISC)" in reading.taken["label"].join(["label: ", ""])
        or reading.taken["label"] == "column 5 (MISC) of 5"
    )
    with pytest.warns(ReadingWarning, match="NE-FINE-LIT .* labels of the same types"):
        _, y, reading = read(HIPE, label="NE-COARSE-LIT")
    assert y == [["B-pers", "O"]]
    with pytest.raises(ValueError, match=r"no column label='NE-COARSE'; did you mean"):
        read(HIPE, label="NE-COARSE")
    assert "titles: the first line (header= says otherwise)" in str(reading)
    assert read(HIPE, header=False)[0][0][0] == "TOKEN"


@pytest.mark.parametrize(
    "numbers", [("1", "2", "1", "2"), ("0", "1", "0", "1"), ("1", "2-3", "2", "3")]
)
def test_numbers_of_tokens_are_no_words(numbers):
    rows = zip(numbers, ("Anna", "ran", "Bo", "sat"), "BOBO", strict=True)
    text = "".join(f"{n}\t{word}\t{x}\n" for n, word, x in rows)
    words, y, reading = read(text)
    assert (words, y) == ([["Anna", "ran", "Bo", "sat"]], [[*"BOBO"]])
    assert "not read: column 1 (columns= says otherwise)" in str(reading)
    assert read(text, label=3)[1] == y
    # Words that only begin as such numbers do.
    assert read("1\tCD\tO\n2\tCD\tO\nand\tCC\tO\n")[0] == [["1", "2", "and"]]


@pytest.mark.parametrize(
    ("word", "what"),
    [
        ("{k}", "are numbers such as 0"),
        ("/path/of/a/document", "begin with '/path/of/a/document'"),
        ("w={k}", "begin with 'w='"),
        ("{c}{k}", "end with numbers, such as 'a0'"),
    ],
)
def test_words_that_are_none_are_told(word, what):
    lines = (
        f"{word} w{{k}} B-PER\n{word} v{{k}} O\n\n".format(k=k, c=chr(97 + k))
        for k in range(11)
    )
    with pytest.warns(ReadingWarning, match=rf"22 words {what}; columns= says other"):
        read("".join(lines))


def test_lines_of_another_format_name_the_option(tmp_path):
    (tmp_path / "x.txt").write_text("[PER Anna ] left\nYes !\n")
    with pytest.raises(ValueError, match=r"line 2: .*; format= names other formats\."):
        read_corpus(tmp_path / "x.txt")


@pytest.mark.parametrize("between", ["", "\n"])
def test_titles_that_are_repeated_are_left_out(between):
    text = "token\tner\nAnn\tB-PER\nran\tO\n"
    with pytest.warns(ReadingWarning, match="1 line left out: it repeats the titles"):
        words, y, _ = read(text + between + text)
    assert sum(words, []) == ["Ann", "ran"] * 2
    assert sum(y, []) == ["B-PER", "O"] * 2


def test_a_label_that_is_no_column_is_refused():
    with pytest.raises(ValueError, match=r"no column label='ner': .* numbers 1 to 2"):
        read(PLAIN, label="ner")
    with pytest.raises(ValueError, match="no column label=3"):
        read(PLAIN, label=3)
    assert read(PLAIN, label="2")[1] == LABELS
    _, y, reading = read("a NN O\n", label="pos")
    assert y == [["NN"]]
    assert reading.taken["features"] == "column3"


def test_the_first_word_of_a_text_may_be_word():
    words, _, _ = read("Word NN O\nand CC O\nText NN O\n")
    assert words == [["Word", "and", "Text"]]


def test_columns_of_answers_are_told():
    text = "Anna B-PER B-per\nran O O\n"
    with pytest.warns(
        ReadingWarning, match="the column pos is a feature, .* of the same types"
    ):
        read(text)
    # Who names the columns knows them.
    assert read(text, columns=["word", "inner", "label"])[1] == [["B-per", "O"]]
    with pytest.warns(ReadingWarning, match="the column pos is a feature"):
        read_conll(io.StringIO(text))


def test_columns_that_are_none_are_refused():
    with pytest.raises(ValueError, match="no column but the label is read"):
        read("B-PER\n", columns=["label"])


def test_rows_without_any_field_are_told():
    with pytest.warns(ReadingWarning) as caught:
        read_corpus(io.StringIO(",,\n,,\n"), "columns", delimiter=",")
    messages = " ".join(str(warning.message) for warning in caught)
    assert "2 tokens without a word" in messages
    assert "2 of 2 tokens have the label ''" in messages
