"""Values that data define, and the model files that hold them."""

import io
import pickle
import re

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
