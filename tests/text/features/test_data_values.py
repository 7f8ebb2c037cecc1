"""Values that data define, and the model files that hold them."""

import io
import pickle
import re

import numpy as np
import pytest

from skcrf_sdca import LBFGSCRF, load_model, make_tagger, save_model
from skcrf_sdca.persistence._templates import templates_from, templates_of
from skcrf_sdca.text import Apply, Joint, Lookup, Regex, TokenFeatures

WORDS = [["Basel", "BASEL", "runs", "x"]]
CITIES, CLASSES = {"Basel", "Bern"}, {"runs": "run", "x": "run"}


def features(*templates):
    return TokenFeatures(list(templates)).transform(WORDS)[0]


def test_a_list_of_words_and_a_table_of_classes():
    assert features(Lookup(CITIES, name="city")) == [("city",), (), (), ()]
    assert features(Lookup(CITIES, name="city", lower=True))[1] == ("city",)
    expected = [(), (), ("kind=run",), ("kind=run",)]
    assert features(Lookup(CLASSES, name="kind")) == expected


def naive(entries, words):
    """The entry that each word of a sentence is part of, None without any."""
    found, t = [None] * len(words), 0
    while t < len(words):
        ends = [
            end for end in range(len(words), t, -1) if " ".join(words[t:end]) in entries
        ]
        end = ends[0] if ends else t + 1
        if ends:
            found[t:end] = (end - t) * [" ".join(words[t:end])]
        t = end
    return found


@pytest.mark.parametrize("n_sentences", [1, 2, 500])
def test_entries_of_several_words_are_found_in_sentences(n_sentences):
    """In few sentences and in many, which two modules read, and never across two."""
    rng = np.random.default_rng(n_sentences)
    entries = {"a b", "b", "a b c", "b  c a", "d d"}
    table = {entry: " ".join(entry.split()) for entry in entries}
    X = [
        rng.choice(list("abcde"), rng.integers(1, 9)).tolist()
        for _ in range(n_sentences)
    ]
    found = TokenFeatures([Lookup(table, name="in")]).transform(X)
    for words, own in zip(X, found, strict=True):
        expected = naive(set(table.values()), words)
        assert own == [() if e is None else (f"in={e}",) for e in expected]


def test_entries_of_several_words_beside_other_templates():
    X = [["new", "YORK", "is", "New", "York", "City"], ["New"], ["York"]]
    city = Lookup({"New York", "new york city"}, name="city", lower=True)
    found = TokenFeatures([city, "word", Joint(city, "word")]).transform(X)
    assert found[0][1] == ("city", "word=YORK", "city|word=YORK")
    assert [own[0] == "city" for own in found[0]] == [True, True, False] + [True] * 3
    assert found[1] == [("word=New",)]
    # A token that holds the blank itself.
    assert TokenFeatures([city]).transform([["New York"]]) == [[("city",)]]


@pytest.mark.parametrize("text", ["Basel\nBern\n", "\ufeffBern\r\n\r\nBasel\r\n"])
def test_a_file_of_words(tmp_path, text):
    path = tmp_path / "cities.txt"
    path.write_bytes(text.encode())
    assert Lookup(path, name="city") == Lookup(CITIES, name="city")
    path.write_text("runs\trun\nx\trun\n", encoding="utf-8")
    assert Lookup(str(path), name="kind") == Lookup(CLASSES, name="kind")


def test_the_first_match_or_its_group_or_whether_there_is_one():
    assert features(Regex("[a-z]+", name="r"))[:2] == [("r=asel",), ()]
    assert features(Regex("a(s)", name="r"))[0] == ("r=s",)
    expected = [("r",), ("r",), (), ()]
    assert features(Regex("^B", name="r", test=True)) == expected
    joint = Joint(Regex("^.", name="a"), Regex(".$", name="b"))
    assert features(joint)[0] == ("a|b=B|l",)


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda: Lookup([1], name="a"), TypeError, "table must have words of type str"),
        (lambda: Lookup({"a": 1}, name="a"), TypeError, "classes of type str"),
        (lambda: Lookup({"a"}, name=""), TypeError, "name must be a str that is not"),
        (lambda: Regex("(", name="a"), ValueError, r"pattern='\(' is no regular expr"),
        (lambda: Regex(b"a", name="a"), TypeError, "pattern must be a str"),
        (lambda: Regex("a", name=None), TypeError, "name must be a str that is not"),
    ],
)
def test_wrong_parameters_are_named(make, error, message):
    with pytest.raises(error, match=message):
        make()


@pytest.mark.parametrize(
    "template",
    [
        Lookup(CITIES, name="city", lower=True),
        Lookup(CLASSES, "word", name="kind"),
        Lookup({"Basel BASEL"}, name="pair"),
        Regex(r"\d", name="digit", test=True),
        Apply(re.compile("^.?.?", re.IGNORECASE).findall, name="start"),
        Apply(CITIES.__contains__, name="city"),
        Apply(CLASSES.get, name="kind"),
    ],
)
def test_a_model_file_and_a_pickle_hold_them(template):
    y = [["A", "B", "A", "B"]]
    tagger = make_tagger(TokenFeatures([template, "word"]), LBFGSCRF()).fit(WORDS, y)
    file = io.BytesIO()
    save_model(tagger, file)
    file.seek(0)
    loaded = load_model(file)
    assert loaded[0].transform(WORDS) == tagger[0].transform(WORDS)
    assert pickle.loads(pickle.dumps(tagger[0])).transform(WORDS)
    entry = templates_of(tagger[0].get_params())
    assert templates_of(templates_from(entry)) == entry


@pytest.mark.parametrize(
    "function", [["regex", ["(", 0]], ["code", "print"], ["dict", [["a"]]], ["set"]]
)
def test_a_file_with_wrong_data_is_refused(function):
    features = TokenFeatures([Apply(CITIES.__contains__, name="city")]).fit()
    entry = templates_of(features.get_params())
    assert entry["templates"][0]["function"][0] == "set"
    entry["templates"][0]["function"] = function
    with pytest.raises((TypeError, ValueError)):
        templates_from(entry)


def test_methods_of_other_data_are_not_held():
    groups = re.compile("(a)(b)").findall
    for function in groups, {1: "a"}.get, {"a"}.union:
        features = TokenFeatures([Apply(function, name="f")]).fit()
        with pytest.raises(TypeError, match=r"Lookup for a table of words, Regex for"):
            templates_of(features.get_params())
