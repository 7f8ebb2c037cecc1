"""Treebanks in CoNLL-U: what is read, what is written, and what is refused."""

import gzip
import io

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline

from pairs import in_one_test
from skcrf_sdca import SDCACRF
from skcrf_sdca.text import (
    ConlluSentence,
    TokenFeatures,
    read_conll,
    read_conllu,
    read_corpus,
    write_conllu,
)

COLUMNS = "id word lemma upos xpos feats head deprel deps misc".split()


def tabbed(text):
    """Return lines with a tab for each run of two or more spaces."""
    lines = (line.split("  ") for line in text.splitlines())
    return "".join("\t".join(map(str.strip, filter(None, x))) + "\n" for x in lines)


# It has all that a treebank may have: documents, paragraphs, comments of no known form,
# multiword tokens, empty nodes before the first word, twice after one word, before and
# within a multiword token, words that are underscores, have spaces, or are not ASCII.
TREEBANK = tabbed("""\
# newdoc id = d1
# newpar
# sent_id = d1-s1
# text = «Él» vámonos = 10 000 _
# text_en = a = b
#no space, no value
0.1  _        _         _      _  _                     _  _      1:dep             _
1    «        «         PUNCT  _  _                     2  punct  2:punct           SpaceAfter=No
2    Él       él        PRON   _  Case=Nom|Gender=Masc  0  root   0:root|5.2:nsubj  SpaceAfter=No
3    »        »         PUNCT  Z  _                     2  punct  2:punct           _
4-5  vámonos  _         _      _  Typo=Yes              _  _      _                 Translit=x y
4    vamos    ir        VERB   _  Mood=Imp              2  conj   2:conj            _
4.1  medio    _         NOUN   _  _                     _  _      4:obj             _
5    nos      nosotros  PRON   _  _                     4  obj    4:obj             _
5.1  go       go        VERB   _  _                     _  _      2:conj:and        CopyOf=4
5.2  _        _         _      _  _                     _  _      5.1:nsubj         _
6-7  del      _         _      _  _                     _  _      _                 _
6    de       de        ADP    _  _                     8  case   8:case            _
7    el       el        DET    _  _                     8  det    8:det             _
8    10 000   10 000    NUM    _  _                     4  obl    4:obl             _
9    _        _         SYM    _  _                     4  dep    4:dep             _

# sent_id = d1-s2
1    日本語      日本語       PROPN  _  _                     0  root   0:root            _
2    #        #         SYM    _  _                     1  dep    1:dep             _

1    😀        :)        _      _  _                     0  root   _                 _

""")  # noqa: E501

WORDS = ["« Él » vamos nos de el 10_000 _".split(), ["日本語", "#"], ["😀"]]
WORDS[0][7] = "10 000"
TAGS = ["PUNCT PRON PUNCT VERB PRON ADP DET NUM SYM".split(), ["PROPN", "SYM"], ["_"]]


def read(text, *args, **options):
    return read_conllu(io.StringIO(text, newline=""), *args, **options)


def written(*args, **options):
    file = io.StringIO(newline="")
    write_conllu(file, *args, **options)
    return file.getvalue()


def sentences_of(text):
    return read(text, label=None, return_sentences=True)[1]


def column(X, name):
    return [[token[name] for token in tokens] for tokens in X]


def lines(*ids, **columns):
    """Return the lines of words with these ids."""
    fields = {**dict.fromkeys(COLUMNS, "_"), "word": "a", "upos": "X", **columns}
    return "".join("\t".join({**fields, "id": i}.values()) + "\n" for i in ids)


# Reading ------------------------------------------------------------------------------


def test_words_and_tags_are_read():
    X, y = read(TREEBANK)
    assert column(X, "word") == WORDS
    assert y == TAGS
    assert X[1] == [{"word": "日本語"}, {"word": "#"}]


def test_the_columns_are_those_of_the_format():
    X = read(TREEBANK, COLUMNS, label=None)
    assert (
        list(X[0][1].values())
        == (
            "2 Él él PRON _ Case=Nom|Gender=Masc 0 root 0:root|5.2:nsubj SpaceAfter=No"
        ).split()
    )
    assert [list(token) for token in X[1]] == [COLUMNS, COLUMNS]


@pytest.mark.parametrize("label", COLUMNS)
def test_any_column_may_be_the_label_and_is_left_out_of_X(label):
    everything = read(TREEBANK, COLUMNS, label=None)
    X, y = read(TREEBANK, iter(COLUMNS), label=label)
    assert y == column(everything, label)
    assert list(X[0][0]) == [name for name in COLUMNS if name != label]


@pytest.mark.parametrize("multiword_tokens", [False, True])
@pytest.mark.parametrize("empty_nodes", [False, True])
def test_multiword_tokens_and_empty_nodes_can_be_asked_for(
    multiword_tokens, empty_nodes
):
    X, y = read(
        TREEBANK,
        ["id", "word"],
        multiword_tokens=multiword_tokens,
        empty_nodes=empty_nodes,
    )
    ids = "0.1 1 2 3 4-5 4 4.1 5 5.1 5.2 6-7 6 7 8 9".split()
    ids = [i for i in ids if ("-" not in i or multiword_tokens)]
    ids = [i for i in ids if ("." not in i or empty_nodes)]
    assert column(X, "id") == [ids, ["1", "2"], ["1"]]
    assert list(map(len, y)) == list(map(len, X))
    assert ("vámonos" in column(X, "word")[0]) == multiword_tokens
    assert ("go" in column(X, "word")[0]) == empty_nodes


def test_sentences_have_ids_and_texts():
    X, y, sentences = read(TREEBANK, return_sentences=True)
    assert (X, y) == read(TREEBANK)
    first = sentences[0]
    assert [s.sent_id for s in sentences] == ["d1-s1", "d1-s2", None]
    assert [s.text for s in sentences] == ["«Él» vámonos = 10 000 _", None, None]
    assert first.metadata == {
        "newdoc id": "d1",
        "sent_id": "d1-s1",
        "text": "«Él» vámonos = 10 000 _",
        "text_en": "a = b",
    }
    assert first.comments[1] == "# newpar"
    assert first.comments[-1] == "#no space, no value"
    assert [len(s.rows) for s in sentences] == [15, 2, 1]
    assert column([s.words for s in sentences], "word") == WORDS
    assert read(TREEBANK, label=None, return_sentences=True) == (X, sentences)


@pytest.mark.parametrize(
    "text",
    [
        TREEBANK.rstrip("\n"),
        "\n\n" + TREEBANK + "\n\n",
        TREEBANK.replace("\n", "\r\n"),
        TREEBANK.replace("\n\n", "\n \t\n\n"),
    ],
    ids=["no line break at the end", "blank lines", "CRLF", "lines of blanks"],
)
def test_files_of_one_meaning(text):
    assert sentences_of(text) == sentences_of(TREEBANK)


@pytest.mark.parametrize("text", ["", "\n", "\n\n"])
def test_a_file_without_sentences(text):
    assert read(text) == ([], [])
    assert read(text, return_sentences=True) == ([], [], [])


def test_where_treebanks_come_from(tmp_path):
    plain, zipped = tmp_path / "a.conllu", tmp_path / "b"
    plain.write_text("\ufeff" + TREEBANK, encoding="utf-8")
    zipped.write_bytes(gzip.compress(TREEBANK.encode()))
    expected = read(TREEBANK)
    for file in (plain, zipped, str(plain), str(zipped)):
        assert read_conllu(file) == expected
    with plain.open("rb") as one, zipped.open("rb") as other:
        assert read_conllu(one) == read_conllu(other) == expected
    with plain.open(encoding="utf-8-sig") as file:
        assert read_conllu(file) == expected
    with pytest.raises(FileNotFoundError):
        read_conllu(tmp_path / "none")
    plain.write_bytes(lines("1").encode() + b"2\t\xe9")
    with pytest.raises(ValueError, match="a.conllu, line 2: not utf-8"):
        read_conllu(plain)


def test_equal_strings_are_stored_once():
    (tokens,), (labels,) = read(lines("1", "2", word="a_word", upos="NOUN"))
    assert tokens[0]["word"] is tokens[1]["word"]
    assert labels[0] is labels[1]


def test_only_line_feeds_end_a_line():
    words = ["a\u2028b", "\u0085", "\u00a0c"]
    text = "".join(lines(str(i), word=w) for i, w in enumerate(words, start=1))
    assert column(read(text)[0], "word") == [words]


def test_read_conll_takes_every_line_for_a_word():
    """Why this module exists."""
    columns = (None, "word", None, "label", *6 * (None,))
    X, _ = read_conll(io.StringIO(TREEBANK), columns, comment="#")
    assert len(X[0]) == 15
    assert len(read(TREEBANK)[0][0]) == 9


# Malformed files ----------------------------------------------------------------------

ONE = lines("1")


@in_one_test(
    ("text", "line", "message"),
    [
        (ONE + "2\ta\n", 2, "2 columns, but CoNLL-U has 10; separate them by single"),
        (ONE.replace("\t", " "), 1, "1 column,"),
        (ONE.replace("\t", "\t\t", 1), 1, "11 columns"),
        (ONE + lines("2", xpos=""), 2, "XPOS is empty; write _ for it"),
        (lines("1", word=""), 1, "FORM is empty"),
        (ONE + lines("2", upos="A B"), 2, "UPOS has a space, which only FORM, LEMMA"),
        (lines("1", lemma="a\rb"), 1, "LEMMA has a line break"),
        (lines("1 "), 1, "ID has a space"),
        ("# a\r# b\n" + ONE, 1, "a comment must begin with # and be one line"),
        ("# a\n" + ONE + "# b\n" + lines("2"), 3, "comments stand before the words"),
        (ONE + "# b\n\n", 2, "comments stand before the words"),
        ("# a\n\n" + ONE, 1, "without a word; remove the blank line"),
        (ONE + "\n# a\n# b\n", 4, "without a word"),
        (lines("0.1"), 1, "without a word"),
        (lines("1", "2", "1"), 3, "ID '1' .* The next word has the ID 3"),
        (lines("2"), 1, "ID '2' cannot stand here"),
        (lines("1", "3"), 2, "put a blank line before it"),
        (lines("0"), 1, "ID '0'"),
        (lines("01"), 1, "ID '01'"),
        (lines("x"), 1, "ID 'x'"),
        (lines("_"), 1, "ID '_'"),
        (lines("１"), 1, "ID '１'"),
        (lines("9" * 5000), 1, "ID '999"),
        (lines("1-" + "9" * 5000), 1, "ID '1-999"),
        (lines("1", "1-2", "2"), 2, "ID '1-2'"),
        (lines("1", "3-4"), 2, "ID '3-4'"),
        (lines("1-2", "1", "2-3"), 3, "ID '2-3'"),
        (lines("1-2", "1-3"), 2, "ID '1-3'"),
        (lines("1", "2-1"), 2, "ID '2-1'"),
        (lines("1-2", "1"), 2, "ends with word 1, but the multiword token 1-2"),
        (lines("1", "1.2"), 2, r"an empty node 1\.1;"),
        (lines("1", "2.1"), 2, r"ID '2\.1'"),
        (lines("0.1", "0.1"), 2, r"ID '0\.1'"),
        (lines("1-2", "0.1", "1"), 2, r"ID '0\.1'"),
        (lines("1", "1.1-2"), 2, r"ID '1\.1-2'"),
    ],
)
def test_malformed_lines_are_named(text, line, message, tmp_path):
    path = tmp_path / "a.conllu"
    path.write_text(TREEBANK + text, encoding="utf-8", newline="")
    line += TREEBANK.count("\n")
    with pytest.raises(ValueError, match=rf"a\.conllu, line {line}: .*{message}"):
        read_conllu(path)


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"columns": "word"}, TypeError, "columns must be a sequence of names"),
        ({"columns": None}, TypeError, "columns must be a sequence of names"),
        ({"columns": ["form"]}, ValueError, "columns has 'form'.*'word' is FORM"),
        ({"columns": [None, "word"]}, ValueError, "columns has None"),
        ({"columns": ["word", "word"]}, ValueError, "a name twice"),
        ({"label": "UPOS"}, ValueError, "label is 'UPOS', but the columns"),
        ({"label": "upos|Feats"}, ValueError, "label is 'Feats', but the columns"),
        ({"label": "upos|upos"}, ValueError, "label is 'upos|upos'.*a column twice"),
        ({"label": "feats|upos"}, ValueError, "sentence 0: 'Case=Nom.*name its column"),
    ],
)
def test_options_of_reading_are_checked(options, error, message):
    with pytest.raises(error, match=message):
        read(TREEBANK, **options)


def test_the_file_is_a_path_or_a_file():
    with pytest.raises(TypeError, match="file must be a path or an open file"):
        read_conllu(None)


def test_columns_are_joined_in_one_label():
    X, y = read(TREEBANK, ["word", "upos", "feats"], label="upos|feats")
    assert X[0][1] == {"word": "Él"}
    assert y[0][:4] == ["PUNCT", "PRON|Case=Nom|Gender=Masc", "PUNCT", "VERB|Mood=Imp"]
    # An empty column in front keeps its place.
    _, y = read(TREEBANK, label="xpos|upos|feats")
    assert y[0][1:3] == ["_|PRON|Case=Nom|Gender=Masc", "Z|PUNCT"]
    assert y[2] == ["_"]


# Writing ------------------------------------------------------------------------------


@pytest.mark.parametrize("label", ["upos|feats", "xpos|upos|feats", "lemma|misc"])
def test_parts_of_labels_are_written_to_their_columns(label):
    _, y, sentences = read(TREEBANK, label=label, return_sentences=True)
    names = label.split("|")
    for sentence in sentences:
        for row in sentence.words:
            row.update(dict.fromkeys(names, "lost"))
    assert written(sentences, y, label=label) == TREEBANK
    words = [[row["word"] for row in sentence.words] for sentence in sentences]
    again = read(written(words, y, label=label), label=label)[1]
    assert again == y


def test_trees_are_read_and_written():
    X, y, sentences = read(TREEBANK, return_sentences=True)
    trees = [sentence.tree for sentence in sentences]
    (heads, relations), other, *_ = trees
    assert heads.tolist() == [2, 0, 2, 2, 4, 8, 8, 4, 4]
    assert relations == "punct root punct conj obj case det obl dep".split()
    assert (other[0].tolist(), other[1]) == ([0, 1], ["root", "dep"])
    flat = sentences_of(written(sentences, trees=[[0] * len(labels) for labels in y]))
    assert not any(sentence.tree[0].any() for sentence in flat)
    assert [sentence.tree[1] for sentence in flat] == [names for _, names in trees]
    assert written(flat, trees=trees) == TREEBANK
    numbered = sentences_of(written(X, y, trees=trees))
    assert str([sentence.tree for sentence in numbered]) == str(trees)


@pytest.mark.parametrize(
    ("head", "message"),
    [
        ("_", "sentence 'ab', word 1 .'a'.: HEAD must be 0, for the root, or the ID"),
        ("3", "from 1 to 2; it is '3'"),
        ("01", "it is '01'"),
        ("1", "HEAD must be another word; it is '1'"),
    ],
)
def test_a_head_that_is_no_word_is_named(head, message):
    text = "# text = ab\n" + lines("1", head=head) + lines("2", head="0")
    (sentence,) = sentences_of(text)
    with pytest.raises(ValueError, match=message):
        _ = sentence.tree


@pytest.mark.parametrize(
    ("trees", "message"),
    [
        ([[0]], "trees"),
        ([[0, 1], [0]], "Sequence 1"),
        ([([0, 1], ["a", "b"]), [0, 1]], "tuples .heads, relations. for all"),
        ([([0, 1], [], [])] * 2, "tuples .heads, relations. for all"),
        ([["0", "1"]] * 2, "trees: the heads of sentence 0 must be integers"),
    ],
)
def test_trees_that_do_not_fit_are_not_written(trees, message):
    file = io.StringIO()
    with pytest.raises(ValueError, match=message):
        write_conllu(file, [["a", "b"]] * 2, trees=trees)
    assert not file.getvalue()


def test_a_treebank_is_written_as_it_was():
    assert written(sentences_of(TREEBANK)) == TREEBANK


@pytest.mark.parametrize("label", ["upos", "xpos", "misc"])
def test_labels_are_written_at_words_only(label):
    sentences = sentences_of(TREEBANK)
    y = [[f"{i}:{t}" for t in range(len(tags))] for i, tags in enumerate(TAGS)]
    text = written(sentences, y, label=label)
    assert read(text, label=label)[1] == y
    assert written(sentences) == TREEBANK
    back = written(sentences_of(text), read(TREEBANK, label=label)[1], label=label)
    assert back == TREEBANK


@pytest.mark.parametrize(
    "as_given",
    [
        iter,
        tuple,
        lambda sentences: np.fromiter(sentences, dtype=object),
    ],
)
def test_sentences_come_in_any_container(as_given):
    assert written(as_given(sentences_of(TREEBANK))) == TREEBANK


def test_all_but_comments_is_in_the_tokens():
    everything = {"multiword_tokens": True, "empty_nodes": True}
    X, y = read(TREEBANK, COLUMNS, **everything)
    text = "".join(x for x in TREEBANK.splitlines(True) if not x.startswith("# "))
    assert written(X, y) == text.replace("#no space, no value\n", "")


@pytest.mark.parametrize(
    ("X", "columns"),
    [
        ([["It", "grows"], [], ["Ah"]], None),
        (
            [[("It", "PRP"), ("grows", "VBZ")], [], [("Ah", "UH")]],
            ["word", "xpos"],
        ),
        ([[{"word": "It"}, {"word": "grows"}], [], [{"word": "Ah"}]], None),
        ([[{"word": "It", "n": "1"}, {"word": "grows"}], [{"word": "Ah"}]], ["word"]),
        ([np.array(["It", "grows"]), np.array(["Ah"])], ["word"]),
    ],
)
def test_tokens_of_any_form_are_written(X, columns):
    y = [list(map(str.upper, tags)) for tags in [["pron", "verb"], [], ["intj"]]]
    y = [tags for tags in y if tags] if len(X) == 2 else y
    sentences = sentences_of(written(X, y, columns=columns))
    rows = [row for sentence in sentences for row in sentence.rows]
    assert [row["id"] for row in rows] == ["1", "2", "1"]
    assert [row["word"] for row in rows] == ["It", "grows", "Ah"]
    assert [row["upos"] for row in rows] == ["PRON", "VERB", "INTJ"]
    xpos = ["PRP", "VBZ", "UH"] if columns == ["word", "xpos"] else ["_"] * 3
    assert [row["xpos"] for row in rows] == xpos
    assert {row["misc"] for row in rows} == {"_"}


@pytest.mark.parametrize("X", [[], [[]], [[], []], [ConlluSentence([], [])]])
def test_nothing_is_written_for_nothing(X):
    assert written(X) == ""


def test_labels_replace_the_column_and_may_be_numbers():
    X = [[{"word": "a", "upos": "X"}]]
    assert read(written(X))[1] == [["X"]]
    assert read(written(X, [[7]]))[1] == [["7"]]


@pytest.mark.parametrize("name", ["a.conllu", "a.conllu.gz"])
@pytest.mark.parametrize("as_path", [str, lambda path: path])
def test_files_are_written_and_packed_by_name(name, as_path, tmp_path):
    path = tmp_path / name
    write_conllu(as_path(path), sentences_of(TREEBANK))
    content = path.read_bytes()
    assert content.startswith(b"\x1f\x8b") == name.endswith(".gz")
    content = gzip.decompress(content) if name.endswith(".gz") else content
    assert content == TREEBANK.encode()


ROW = {**dict.fromkeys(COLUMNS, "_"), "id": "1"}


@in_one_test(
    ("X", "y", "options", "message"),
    [
        ([["a\tb"]], None, {}, "X: sequence 0, line 1: 11 columns"),
        ([["a"], ["b", "c\n"]], None, {}, "sequence 1, line 2: FORM has a line break"),
        ([["a", ""]], None, {}, "sequence 0, line 2: FORM is empty"),
        ([["a"]], [["A B"]], {}, "sequence 0, line 1: UPOS has a space"),
        ([[{"id": "2"}]], None, {}, "line 1: ID '2' cannot stand here"),
        ([[{"id": "#"}]], None, {}, "line 1: ID '#' cannot stand here"),
        ([["a"]], [["1"], ["2"]], {}, "X has 1 sequences, but y has 2"),
        ([["a"]], [["1", "2"]], {}, "Sequence 0 has 1 items in X, but 2 labels"),
        ([["a"]], None, {"label": "tag"}, "label is 'tag'"),
        ([[("a", "b")]], None, {}, "has 2 columns, .*named by columns="),
        ([["a"]], None, {"columns": ["form"]}, "columns has 'form'"),
        ([[{"word": "a", "pos": "b"}]], None, {}, "X has 'pos', but the columns of"),
        ([ConlluSentence(["# a"], [])], None, {}, "line 1: the sentence ends without"),
        ([ConlluSentence(["a"], [ROW])], None, {}, "line 1: a comment must begin"),
        ([ConlluSentence(["# a\n"], [ROW])], None, {}, "line 1: a comment must begin"),
        ([ConlluSentence([], [ROW, ROW])], None, {}, "line 2: ID '1' cannot stand"),
        ([ConlluSentence([], [{"id": "1"}])], None, {}, "row 0 must have a str for"),
        ([ConlluSentence([], [{**ROW, "head": 0}])], None, {}, "row 0 must have a str"),
        ([ConlluSentence([], ["a"])], None, {}, "row 0 must have a str for each of"),
        ([ConlluSentence([], [ROW])], [["A", "B"]], {}, "has 1 items in X, but 2"),
    ],
)
def test_nothing_is_written_that_cannot_be_read(X, y, options, message, tmp_path):
    path = tmp_path / "a"
    with pytest.raises(ValueError, match=message):
        write_conllu(path, X, y, **options)
    assert not path.exists()


@pytest.mark.parametrize(
    ("X", "message"),
    [
        (None, "X must be a list of sequences, got NoneType"),
        (["a"], "sequence 0 is of type str 'a'"),
        ([ConlluSentence([], []), ["a"]], "sequence 0 is of type ConlluSentence"),
        ([[1]], "item 0 is of type int 1"),
    ],
)
def test_what_is_no_sentence_is_a_type_error(X, message):
    with pytest.raises(TypeError, match=message):
        written(X)


# Any treebank is written as it was ----------------------------------------------------

CHARACTERS = st.characters(exclude_characters="\t\r\n", codec="utf-8")
SPACED = st.text(CHARACTERS, min_size=1, max_size=4)
FIELDS = SPACED.map(lambda text: text.replace(" ", "_"))
COMMENTS = st.text(CHARACTERS, max_size=6).map(lambda text: "#" + text)
ROWS = st.fixed_dictionaries(
    {
        name: SPACED if name in ("word", "lemma", "misc") else FIELDS
        for name in COLUMNS[1:]
    }
)


@st.composite
def sentence(draw):
    """Draw a sentence with multiword tokens and empty nodes wherever they may be."""
    n_words = draw(st.integers(1, 5))
    ids, end = [], 0
    for word in range(n_words + 1):
        if word:
            ids.append(f"{word}")
        ids += [f"{word}.{k + 1}" for k in range(draw(st.integers(0, 2)))]
        if end <= word < n_words and draw(st.booleans()):
            end = draw(st.integers(word + 1, n_words))
            ids.append(f"{word + 1}-{end}")
    rows = [{"id": i, **draw(ROWS)} for i in ids]
    return ConlluSentence(draw(st.lists(COMMENTS, max_size=2)), rows)


@given(st.lists(sentence(), max_size=3), st.sampled_from(COLUMNS[1:]))
def test_what_is_written_is_read_again(sentences, label):
    text = written(sentences)
    X, y, again = read(text, COLUMNS, label=label, return_sentences=True)
    assert again == sentences
    assert written(again, y, label=label) == text
    # The words alone are a treebank too.
    words = written(X, y, label=label)
    assert read(words, COLUMNS, label=label) == (X, y)


# From a treebank to predictions -------------------------------------------------------


def test_a_tagger_is_trained_and_writes_a_treebank(tmp_path):
    text = "".join(
        f"# sent_id = s{i}\n"
        + lines("1", word="the", upos="DET")
        + lines("2-3", word=f"{noun}{verb}")
        + lines("2", word=noun, upos="NOUN")
        + lines("3", word=verb, upos="VERB")
        + lines("3.1", word="_", upos="_")
        + "\n"
        for i, (noun, verb) in enumerate(
            (noun, verb) for noun in ("dog", "cat", "cow") for verb in ("runs", "eats")
        )
    )
    path, out = tmp_path / "raw.conllu", tmp_path / "out.conllu"
    path.write_text(text, encoding="utf-8")
    X, y, sentences = read_conllu(path, return_sentences=True)
    X, X_test, y, y_test, _, test = train_test_split(X, y, sentences, random_state=0)
    tagger = make_pipeline(TokenFeatures(), SDCACRF(alpha=0.01, random_state=0))
    predicted = tagger.fit(X, y).predict(X_test)
    assert set(tagger[-1].classes_) == {"DET", "NOUN", "VERB"}
    write_conllu(out, test, predicted)
    X_again, y_again, again = read_conllu(out, return_sentences=True)
    assert X_again == X_test
    assert y_again == y_test
    assert again == test


ATTRIBUTES = (
    "1\tAnn\t_\tPROPN\t_\tCase=Nom|Number=Sing\t2\tnsubj\t_\tNER=B-PER|SpaceAfter=No\n"
    "2\tran\t_\tVERB\t_\t_\t0\troot\t_\tNER=O\n3\t.\t_\tPUNCT\t_\t_\t2\tpunct\t_\t_\n\n"
)


@pytest.mark.parametrize(
    ("label", "found"),
    [
        ("misc:NER", ["B-PER", "O", "_"]),
        ("feats:Case", ["Nom", "_", "_"]),
        ("misc:SpaceAfter", ["No", "_", "_"]),
        ("upos|misc:NER", ["PROPN|B-PER", "VERB|O", "PUNCT"]),
        ("feats:Number|feats:Case", ["Sing|Nom", "_", "_"]),
    ],
)
def test_attributes_are_labels(label, found):
    assert read_conllu(io.StringIO(ATTRIBUTES), label=label)[1] == [found]
    X, _, sentences = read_conllu(
        io.StringIO(ATTRIBUTES), label=label, return_sentences=True
    )
    file = io.StringIO()
    write_conllu(file, sentences, [found], label=label)
    assert file.getvalue() == ATTRIBUTES
    file = io.StringIO()
    write_conllu(file, X, [found], label=label)
    assert read_conllu(io.StringIO(file.getvalue()), label=label)[1] == [found]


def test_attributes_are_columns_of_tokens():
    columns = ["word", "feats:Case", "misc:NER"]
    X = read_conllu(io.StringIO(ATTRIBUTES), columns, label=None)
    assert X[0][0] == {"word": "Ann", "feats:Case": "Nom", "misc:NER": "B-PER"}
    file = io.StringIO()
    write_conllu(file, X)
    assert read_conllu(io.StringIO(file.getvalue()), columns, label=None) == X


def test_attributes_are_replaced_where_they_stand():
    _, sentences = read_conllu(
        io.StringIO(ATTRIBUTES), label=None, return_sentences=True
    )
    file = io.StringIO()
    write_conllu(file, sentences, [["O", "_", "B-X"]], label="misc:NER")
    miscs = [line.split("\t")[-1] for line in file.getvalue().split("\n")[:3]]
    assert miscs == ["NER=O|SpaceAfter=No", "_", "NER=B-X"]


@pytest.mark.parametrize("label", ["NER", "misc=NER", "misc:", "upos:NER", ":NER"])
def test_attributes_are_of_feats_and_misc(label):
    with pytest.raises(ValueError, match="has a name such as 'misc:NER'"):
        read_conllu(io.StringIO(ATTRIBUTES), label=label)


@pytest.mark.parametrize(
    ("label", "found"),
    [
        ("misc:NER", ["B-PER", "O", None]),
        ("xpos", [None, None, None]),
        ("feats:Case", ["Nom", "_", "_"]),
        ("feats", ["Case=Nom|Number=Sing", "_", "_"]),
    ],
)
@pytest.mark.filterwarnings("ignore:no token has a label:UserWarning")
def test_labels_that_are_missing_are_none_in_a_corpus(label, found):
    assert read_corpus(io.StringIO(ATTRIBUTES), "conllu", label=label)[1] == [found]


PLUS = "1\tAnn\t_\tPROPN\t_\t_\t2\tnsubj\t_\tNE=PER\tB-PER\n1-2\ta{0}\n2\tran{0}\n\n"
PLUS = PLUS.format("\t_" * 9)
HEADER = "# global.columns = ID FORM X Y Z A B C D MISC SMALL:NER\n"


@pytest.mark.parametrize("start", ["", "# sent_id = 1\n", HEADER, f"# a\n{HEADER}"])
def test_further_columns_are_read_with_names_or_without(start):
    X, y, reading = read_corpus(
        io.StringIO(start + PLUS), "conllup", return_reading=True
    )
    assert X == [[{"word": "Ann"}, {"word": "ran"}]]
    assert y == [["B-PER", None]]
    name = "small:ner" if HEADER in start else "column11"
    assert reading.taken["label"] == f"the column {name!r}"
    assert reading.guesses["label"] == "label"
    for label in (name, "misc:NE"):
        _, y = read_corpus(io.StringIO(start + PLUS), "conllup", label=label)
        assert y[0][0] == {name: "B-PER", "misc:NE": "PER"}[label]


def test_further_columns_of_conllu_are_refused_with_the_cure():
    with pytest.raises(ValueError, match="line 1: 11 columns.* the format 'conllup'"):
        read_corpus(io.StringIO(PLUS), "conllu")
    with pytest.raises(ValueError, match="file, line 3: 10 columns, but the columns a"):
        read_corpus(io.StringIO("# a\n" + PLUS.replace("1-2\ta", "1-2")), "conllup")
    with pytest.raises(ValueError, match="file, line 3: ID 'two' is no number"):
        read_corpus(io.StringIO(PLUS.replace("\n2", "\ntwo")), "conllup")
