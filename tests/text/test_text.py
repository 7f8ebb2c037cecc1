import bz2
import gzip
import io
import lzma
import pickle
import re
import subprocess
import sys
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.utils import get_tags

import handwritten
import packed
import tasks
from skcrf_sdca import (
    SDCACRF,
    SequenceVectorizer,
    load_model,
    make_tagger,
    save_model,
)
from skcrf_sdca.text import (
    DEFAULT_TEMPLATES,
    Apply,
    At,
    Joint,
    LabelPairs,
    Prefix,
    ReadingWarning,
    Shape,
    Suffix,
    TokenFeatures,
    Window,
    has_digit,
    has_hyphen,
    is_capitalized,
    read_conll,
    write_conll,
)
from skcrf_sdca.text.core import files
from skcrf_sdca.text.features import sentences
from skcrf_sdca.text.features.templates import expanded
from skcrf_sdca.text.features.token_features import FEW

X = [[("the", "DT"), ("Dogs", "NNS"), ("bark", "VBP")], [], [("3-D", "JJ")]]
COLUMNS = ("word", "pos")
WORDS = [[word for word, _ in sentence] for sentence in X]
DICTS = [[dict(zip(COLUMNS, token, strict=True)) for token in s] for s in X]


def features(*templates, X=X, columns=COLUMNS, **params):
    """Return what some templates make of X."""
    return TokenFeatures(list(templates), columns=columns, **params).transform(X)


def first_features(*templates, **params):
    """Return the features of "the", "Dogs" and "bark"."""
    return [set(names) for names in features(*templates, **params)[0]]


# Templates ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("template", "expected"),
    [
        ("word", [{"word=the"}, {"word=Dogs"}, {"word=bark"}]),
        (At("pos", 1), [{"pos[1]=NNS"}, {"pos[1]=VBP"}, set()]),
        (At("word", -2), [set(), set(), {"word[-2]=the"}]),
        (At("word", 3), [set(), set(), set()]),
        (Window("pos", 0), [{"pos[0]=DT"}, {"pos[0]=NNS"}, {"pos[0]=VBP"}]),
        (
            Window("word", (0, 1)),
            [{"word[0]=the", "word[1]=Dogs"}, {"word[0]=Dogs", "word[1]=bark"}]
            + [{"word[0]=bark"}],
        ),
        (
            Window("pos", 1, n=2),
            [{"pos[0]|pos[1]=DT|NNS"}]
            + [{"pos[-1]|pos[0]=DT|NNS", "pos[0]|pos[1]=NNS|VBP"}]
            + [{"pos[-1]|pos[0]=NNS|VBP"}],
        ),
        (
            Window("pos", 1, n=3),
            [set(), {"pos[-1]|pos[0]|pos[1]=DT|NNS|VBP"}, set()],
        ),
        (Shape(), [{"shape=xxx"}, {"shape=Xxxx"}, {"shape=xxxx"}]),
        (Prefix(2), [{"prefix2=th"}, {"prefix2=Do"}, {"prefix2=ba"}]),
        (Suffix(9), [{"suffix9=the"}, {"suffix9=Dogs"}, {"suffix9=bark"}]),
        (Suffix(1, "pos"), [{"pos.suffix1=T"}, {"pos.suffix1=S"}, {"pos.suffix1=P"}]),
        (Apply(is_capitalized), [set(), {"is_capitalized"}, set()]),
        (Window(Apply(str.isupper, "pos"), (1, 1)), [{"pos.isupper[1]"}] * 2 + [set()]),
        (Apply(str.lower, name="low"), [{"low=the"}, {"low=dogs"}, {"low=bark"}]),
        (
            Joint("word", At("pos", 1)),
            [{"word|pos[1]=the|NNS"}, {"word|pos[1]=Dogs|VBP"}, set()],
        ),
        (
            Joint(Apply(is_capitalized), "pos"),
            [set(), {"is_capitalized|pos=NNS"}, set()],
        ),
        (
            Joint("pos", Apply(is_capitalized), Apply(str.istitle)),
            [set(), {"pos|is_capitalized|istitle=NNS"}, set()],
        ),
        (
            Joint(Apply(is_capitalized), Apply(str.istitle)),
            [set(), {"is_capitalized|istitle"}, set()],
        ),
        (
            Joint("word", Window("pos", (-1, 0))),
            [{"word|pos[0]=the|DT"}, {"word|pos[-1]=Dogs|DT", "word|pos[0]=Dogs|NNS"}]
            + [{"word|pos[-1]=bark|NNS", "word|pos[0]=bark|VBP"}],
        ),
        (
            Joint(At("word", 1), At("word", -1)),
            [set(), {"word[1]|word[-1]=bark|the"}, set()],
        ),
        (Joint(Joint("pos")), [{"pos=DT"}, {"pos=NNS"}, {"pos=VBP"}]),
        (LabelPairs("pos"), [{"b:pos=DT"}, {"b:pos=NNS"}, {"b:pos=VBP"}]),
        (
            LabelPairs(Window("pos", (-1, 0))),
            [{"b:pos[0]=DT"}, {"b:pos[-1]=DT", "b:pos[0]=NNS"}]
            + [{"b:pos[-1]=NNS", "b:pos[0]=VBP"}],
        ),
    ],
    ids=lambda part: str(part) if not isinstance(part, list) else "",
)
def test_features_of_a_template(template, expected):
    assert first_features(template) == expected


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda: At("word", True), TypeError, "place must be an int"),
        (lambda: Window("word", True), TypeError, "places must be an int"),
        (lambda: Window("word", (True, 2)), TypeError, "places must be an int"),
        (lambda: Window("word", 1, n=True), TypeError, "n must be an int"),
        (lambda: Prefix(True), ValueError, "length must be an int"),
        (lambda: Suffix(2, 1), TypeError, "column must be a str; got 1"),
        (lambda: Shape(["word"]), TypeError, "column must be a str"),
        (lambda: Shape(compact=1), TypeError, "compact must be a bool; got 1"),
        (lambda: Apply(str.lower, 1), TypeError, "column must be a str"),
        (lambda: Apply(str.lower, name=1), TypeError, "name must be a str or None"),
        (lambda: At("word", 10**6), ValueError, "place=1000000 has a place beyond 100"),
        (lambda: Window("word", 10**6), ValueError, "places=1000000 has a place"),
        (lambda: Window("word", (-9, 200)), ValueError, r"places=\(-9, 200\) has a pl"),
        (lambda: Window("word", 90, n=101), ValueError, "Window: a feature has more"),
        (lambda: Joint(*[Window("word", 100)] * 9), ValueError, "Joint: the names of"),
    ],
)
def test_wrong_parameters_of_templates_are_refused_at_once(make, error, message):
    with pytest.raises(error, match=message):
        make()


def test_templates_of_a_user_have_a_size():
    class Far:
        def expand(self):
            return At("word", 1).expand()

    assert features(LabelPairs(Joint(Far(), "pos")))[0][0] == ("b:word[1]|pos=Dogs|DT",)


def test_numbers_of_numpy_make_templates():
    templates = [
        At("word", np.int64(1)),
        Window("pos", np.int32(1), n=np.int8(2)),
        Shape(compact=np.bool_(True)),
    ]
    plain = [At("word", 1), Window("pos", 1, n=2), Shape(compact=True)]
    assert features(*templates) == features(*plain)


def pieces(word):
    return [word[:1], word[1:]]


def test_a_function_may_return_several_texts_or_none():
    X = [["ab", "cd"]]
    as_set = Apply(set, name="letters")
    (found,) = features(Apply(pieces), as_set, X=X, columns=["word"])
    assert found[0] == ("pieces=a", "pieces=b", "letters=a", "letters=b")
    (found,) = features(Joint(Apply(pieces), At(as_set, 1)), X=X, columns=["word"])
    expected = product("ab", "cd")
    assert found[0] == tuple(f"pieces|letters[1]={a}|{b}" for a, b in expected)
    assert found[1] == ()
    for value in (None, False, [], ()):
        template = Apply(lambda word, value=value: value, name="f")
        assert features(template, X=X, columns=["word"]) == [[(), ()]]
    nothing = Apply(lambda word: np.bool_(word == "ab"), name="f")
    assert features(nothing, X=X, columns=["word"]) == [[("f",), ()]]


def test_texts_come_as_plain_str():
    (found,) = features(
        "word", Apply(np.str_, name="f"), X=[np.array(["a"])], columns=["word"]
    )
    assert found == [("word=a", "f=a")]
    assert {type(text) for text in found[0]} == {str}


def test_pad_stands_at_the_ends_of_every_sequence():
    found = features(
        Window("word", 2),
        Window(Shape(), (1, 1)),
        X=[["a"], ["b", "c"], []],
        columns=["word"],
        pad=("BOS", "EOS"),
    )
    assert found == [
        [("word[-2]=BOS", "word[-1]=BOS", "word[0]=a", "word[1]=EOS", "word[2]=EOS")
         + ("shape[1]=EOS",)],
        [("word[-2]=BOS", "word[-1]=BOS", "word[0]=b", "word[1]=c", "word[2]=EOS")
         + ("shape[1]=x",),
         ("word[-2]=BOS", "word[-1]=b", "word[0]=c", "word[1]=EOS", "word[2]=EOS")
         + ("shape[1]=EOS",)],
        [],
    ]  # fmt: skip


def test_few_tokens_are_remembered_unless_their_function_may_change(monkeypatch):
    monkeypatch.setattr(sentences, "MOST_WORDS", 2)
    called, cities = [], set()
    of_word = Shape.__call__
    monkeypatch.setattr(
        Shape, "__call__", lambda *own: called.append(own) or of_word(*own)
    )
    features = TokenFeatures([Shape(), Apply(cities.__contains__, name="city")])
    assert features.transform([["Bern"]]) == [[("shape=Xxxx",)]]
    cities.add("Bern")
    for _ in range(3):
        assert features.transform([["Bern"]]) == [[("shape=Xxxx", "city")]]
    assert len(called) == 1
    words = ["a", "B", "ab", "Ab"]
    shapes = [[(f"shape={shape}",)] for shape in ("x", "X", "xx", "Xx")]
    for _ in range(2):
        assert [features.transform([[word]])[0] for word in words] == shapes
    assert len(called) > 1 + len(words)
    called.clear()
    for _ in range(2):
        features.transform([["a", 1000 * "b"]])
    assert len(called) == 4


def test_a_function_is_called_once_for_each_distinct_word():
    seen = []
    note = Apply(lambda word: seen.append(word), name="note")
    features(Window(note, 1), X=[["a", "b", "a"], ["b"]], columns=["word"])
    assert sorted(seen) == ["a", "b"]


def test_features_follow_the_parameters():
    """Templates are read once, but anew after a change of any parameter."""
    read = []

    class Counted:
        def expand(self):
            read.append(1)
            return At("word", 0).expand()

    own = TokenFeatures([Counted()])
    assert [own.fit_transform([["a"]]) for _ in range(3)] == 3 * [[[("word[0]=a",)]]]
    n_read = len(read)
    assert own.transform([["b"]]) == [[("word[0]=b",)]]
    assert len(read) == n_read
    own.templates.append(At("word", 1))
    assert own.transform([["a", "b"]])[0][0] == ("word[0]=a", "word[1]=b")
    own.set_params(pad=["BOS", "EOS"])
    assert own.transform([["a"]]) == [[("word[0]=a", "word[1]=EOS")]]
    own.pad[1] = "END"
    assert own.transform([["a"]]) == [[("word[0]=a", "word[1]=END")]]
    own.set_params(columns=["word", "pos"], pad=None)
    assert own.transform([[("a", "b")]]) == [[("word[0]=a",)]]
    own.set_params(templates=np.array(["word"]))
    with pytest.raises(TypeError, match="templates must be a list or tuple"):
        own.transform([["a"]])


def test_the_same_feature_is_the_same_str():
    (first, second), (third,) = features(
        "word", X=[["a", "a"], ["a"]], columns=["word"]
    )
    assert first[0] is second[0] is third[0]


@pytest.mark.parametrize(
    ("word", "shape", "compact"),
    [
        ("McDonald-747", "XxXxxxxx-ddd", "XxXx-d"),
        ("", "", ""),
        ("Éa中½²", "Xxx½d", "Xx½d"),
        ("...", "...", "."),
        ("\n\n", "\n\n", "\n"),
    ],
)
def test_shapes(word, shape, compact):
    assert Shape()(word) == shape
    assert Shape(compact=True)(word) == compact


def test_flags():
    words = ["Ab", "aB", "", "a1", "-", "1-A"]
    assert list(map(is_capitalized, words)) == [True] + 5 * [False]
    assert list(map(has_digit, words)) == [False, False, False, True, False, True]
    assert list(map(has_hyphen, words)) == 4 * [False] + 2 * [True]


# A twin that loops over tokens --------------------------------------------------------


def twin(templates, X, pad):
    """Return the features of the tokens of X as dicts, token by token."""
    fs = [feature for template in templates for feature in expanded(template)]
    return [
        [
            tuple(text for f in fs for text in twin_feature(f, sentence, t, pad))
            for t in range(len(sentence))
        ]
        for sentence in X
    ]


def twin_feature(feature, sentence, t, pad):
    choices = []
    for value, place in feature.parts:
        i = t + place
        if 0 <= i < len(sentence):
            choices.append(value.texts(sentence[i][value.column]))
        elif pad is None:
            return
        else:
            choices.append((pad[0] if i < 0 else pad[1],))
    for texts in product(*choices):
        texts = [text for text in texts if text is not None]
        yield "=".join([feature.name, *(["|".join(texts)] if texts else [])])


VALUES = ["word", "pos", Shape(), Prefix(1), Apply(is_capitalized), Apply(pieces)]
PLACED = st.builds(At, st.sampled_from(VALUES), st.integers(-3, 3))
WINDOWS = st.builds(
    lambda value, first, more, n: Window(value, (first, first + n - 1 + more), n=n),
    st.sampled_from(VALUES),
    st.integers(-3, 2),
    st.integers(0, 2),
    st.integers(1, 3),
)
TEMPLATES = st.one_of(
    st.sampled_from(VALUES),
    PLACED,
    WINDOWS,
    st.lists(st.one_of(PLACED, st.sampled_from(VALUES)), min_size=1, max_size=3).map(
        lambda parts: Joint(*parts)
    ),
)
TOKENS = st.fixed_dictionaries(
    {"word": st.text("aB1", max_size=2), "pos": st.sampled_from(["N", "V"])}
)


def names_of(template):
    return frozenset(feature.name for feature in expanded(template))


@given(
    st.lists(TEMPLATES, max_size=4, unique_by=names_of),
    st.lists(st.lists(TOKENS, max_size=5), max_size=4),
    st.sampled_from([None, ("BOS", "EOS")]),
)
def test_features_are_those_of_the_twin(templates, X, pad):
    names = [name for template in templates for name in names_of(template)]
    if len(set(names)) == len(names):
        own, expected = TokenFeatures(templates, pad=pad), twin(templates, X, pad)
        assert own.transform(X) == expected
        # Many tokens are read in another way.
        copies = 1 + FEW // max(1, sum(map(len, X)))
        assert own.transform(copies * X) == copies * expected


# Tokens -------------------------------------------------------------------------------


def test_all_forms_of_tokens_give_the_same():
    expected = features(*DEFAULT_TEMPLATES, "pos")
    assert features(*DEFAULT_TEMPLATES, "pos", X=DICTS) == expected
    as_lists = ([list(token) for token in s] for s in X)
    assert features(*DEFAULT_TEMPLATES, "pos", X=as_lists) == expected
    arrays = [np.array(words, dtype=object) for words in WORDS]
    expected = TokenFeatures().transform(WORDS)
    assert TokenFeatures().transform(arrays) == expected
    assert TokenFeatures().transform(map(tuple, WORDS)) == expected
    assert TokenFeatures().transform(DICTS) == expected
    assert TokenFeatures(columns=COLUMNS).transform(X) == expected
    assert TokenFeatures().transform(np.array([["a", "b"]])) == (
        TokenFeatures().transform([["a", "b"]])
    )


@pytest.mark.parametrize("X", [[], [[]], [[], []], ()])
def test_nothing_gives_nothing(X):
    assert TokenFeatures().transform(X) == [[] for _ in X]
    assert TokenFeatures(pad=("a", "b")).transform(X) == [[] for _ in X]


def test_no_templates_give_no_features():
    assert TokenFeatures([]).transform([["a", "b"], ["c"]]) == [[(), ()], [()]]


@pytest.mark.parametrize(
    ("X", "message"),
    [
        ("a b", "X is of type str 'a b'; it must be a list of sequences of tokens"),
        (None, "X must be a list of sequences, got NoneType"),
        (["the", "dog"], r"sequence 0 is of type str 'the'; .* wrap it"),
        ([{"word": "a"}], r"sequence 0 is of type dict; .* wrap it"),
        ([["a"], None], "sequence 1 is None"),
        ([["a"], np.array([["a"]])], "sequence 1 is of type ndarray"),
        ([["a", 1]], r"sequence 0, item 1 is of type int 1; a token must be"),
        ([["a"], ["b", None]], "sequence 1, item 1 is None"),
        ([["a"], [], ["b", {"word": "c"}]], "sequence 2, item 1 is of type dict, but"),
        (
            [[("a",), ["b"]], [(1,)]],
            r"sequence 1, item 0: column 'word' is of type int",
        ),
        ([[{"word": "a"}, {"word": None}]], "item 1: column 'word' is None"),
    ],
    ids=repr,
)
def test_what_is_no_token_is_a_type_error(X, message):
    with pytest.raises(TypeError, match=message):
        TokenFeatures(["word"]).transform(X)


@pytest.mark.parametrize(
    ("X", "columns", "message"),
    [
        ([[("a", "b")]], ("word", "pos", "_"), r"must have 3: .*, or 1: \['word'\]"),
        ([[], [("a", "b")]], ("word",), r"sequence 1, item 0 .* has 2 columns"),
        ([[("a",), ()]], ("word",), "item 1 .* has 0 columns"),
        ([[("a", "b")]], ("form", "pos"), r"no column 'word': .* \['form', 'pos'\]"),
        ([[{"word": "a"}, {"pos": "b"}]], (), r"item 1 has no column 'word'; it has"),
    ],
    ids=repr,
)  # fmt: skip
def test_missing_columns_are_a_value_error(X, columns, message):
    with pytest.raises(ValueError, match=message):
        TokenFeatures(["word"], columns=columns).transform(X)


# Parameters ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda: Prefix(0), ValueError, "length must be an int of at least 1"),
        (lambda: Suffix(1.5), ValueError, "length must be an int of at least 1"),
        (lambda: Apply("lower"), TypeError, "function must be callable"),
        (lambda: Apply(lambda word: word), ValueError, "give it one with name="),
        (lambda: At("word", 0.5), TypeError, "place must be an int"),
        (lambda: At(str.lower, 0), TypeError, r"write Apply\(lower\)"),
        (lambda: At(Window("word"), 0), TypeError, "nor a value"),
        (lambda: Window(None), TypeError, "None is neither"),
        (lambda: Window("word", 1.0), TypeError, "places must be an int or a pair"),
        (lambda: Window("word", (1, 2, 3)), TypeError, "places must be an int or"),
        (lambda: Window("word", "ab"), TypeError, "places must be an int or a pair"),
        (lambda: Window("word", {1, 2}), TypeError, "places must be an int or a pair"),
        (lambda: Window("word", range(1, 3)), TypeError, "places must be an int or a"),
        (lambda: Window("word", (1, 0)), ValueError, "no run of n=1"),
        (lambda: Window("word", -1), ValueError, "no run of n=1"),
        (lambda: Window("word", 1, n=4), ValueError, "no run of n=4"),
        (lambda: Window("word", 1, n=0), ValueError, "no run of n=0"),
        (lambda: Window("word", 1, n=1.5), TypeError, "n must be an int"),
        (lambda: Joint(), TypeError, "at least one template"),
        (lambda: Joint(LabelPairs("pos")), TypeError, "around the whole"),
        (lambda: LabelPairs(LabelPairs("pos")), TypeError, "around the whole"),
        (lambda: LabelPairs(3), TypeError, "3 is neither"),
        (lambda: Joint("word", 3), TypeError, "3 is neither"),
    ],
)
def test_templates_check_their_parameters(make, error, message):
    with pytest.raises(error, match=message):
        make()


@pytest.mark.parametrize(
    ("params", "error", "message"),
    [
        ({"templates": "word"}, TypeError, "templates must be a list or tuple"),
        ({"templates": [str.lower]}, TypeError, r"write Apply\(lower\)"),
        ({"templates": [["word"]]}, TypeError, "neither the name of a column"),
        ({"templates": [Shape(), Shape()]}, ValueError, "has 'shape' twice"),
        ({"templates": [Window("pos", 1), At("pos", 0)]}, ValueError, "'pos.0.' twice"),
        ({"columns": "word"}, TypeError, "columns must be a list or tuple"),
        ({"columns": ("word", "word")}, ValueError, "columns has a name twice"),
        ({"pad": "BOS"}, ValueError, "pad must be None or a pair of str"),
        ({"pad": ("BOS", None)}, ValueError, "pad must be None or a pair of str"),
    ],
    ids=repr,
)  # fmt: skip
def test_parameters_are_checked(params, error, message):
    for method in ("fit", "transform"):
        with pytest.raises(error, match=message):
            getattr(TokenFeatures(**params), method)([["a"]])


def test_an_error_of_a_function_says_where():
    with pytest.raises(IndexError) as info:
        features(Apply(lambda word: word[0], name="f"), X=[["a", ""]], columns=["word"])
    assert "for ''" in info.value.__notes__[0]
    for value in (3, b"a", ["a", 1], {"a": 1}, 1.0):
        template = Apply(lambda word, value=value: value, name="f")
        with pytest.raises(TypeError, match="must return a str, a bool, None"):
            features(template, X=[["a"]], columns=["word"])


# scikit-learn -------------------------------------------------------------------------

TEXTS = [["the", "dogs", "bark"], ["a", "dog", "barks"], ["dogs"], ["the", "cat"]]
TAGS = [["D", "N", "V"], ["D", "N", "V"], ["N"], ["D", "N"]]


def test_clone_repr_and_pickle():
    templates = [
        Window("word", (-1, 0), n=2),
        Joint("word", At(Shape(compact=True), 1)),
        Apply(str.lower, "pos"),
        Apply(has_digit, name="number"),
        Suffix(3),
    ]
    transformer = TokenFeatures(templates, columns=COLUMNS, pad=("BOS", "EOS"))
    expected = transformer.transform(X)
    for copy in (clone(transformer), pickle.loads(pickle.dumps(transformer))):
        assert copy.templates == templates
        assert copy.transform(X) == expected
        assert repr(copy) == repr(transformer)
    assert [repr(t) for t in templates[2:]] == [
        "Apply(str.lower, 'pos')",
        "Apply(has_digit, name='number')",
        "Suffix(length=3, column='word')",
    ]
    assert "Joint('word', At(value=Shape(" in repr(transformer)
    assert repr(TokenFeatures()) == "TokenFeatures()"
    assert " at 0x" not in repr(TokenFeatures(list(DEFAULT_TEMPLATES)))
    assert hash(templates[1]) == hash(Joint("word", At(Shape(compact=True), 1)))
    assert Prefix(3) != Suffix(3)


def test_a_pipeline_is_what_its_steps_are():
    pipeline = make_pipeline(
        TokenFeatures(), SequenceVectorizer(), SDCACRF(random_state=0)
    ).fit(TEXTS, TAGS)
    names = pipeline[:-1].get_feature_names_out()
    data = SequenceVectorizer().fit_transform(TokenFeatures().transform(TEXTS))
    assert len(names) == data.n_features
    assert "word[-1]|word[0]=the|dogs" in names
    expected = SDCACRF(random_state=0).fit(data, TAGS)
    np.testing.assert_array_equal(pipeline[-1].coef_, expected.coef_)
    assert pipeline.predict([["the", "dog"], []]).tolist() == [["D", "N"], []]
    short = make_pipeline(TokenFeatures(), SDCACRF(random_state=0)).fit(TEXTS, TAGS)
    np.testing.assert_array_equal(short[-1].coef_, expected.coef_)


def test_search_over_the_size_of_a_window():
    pipeline = Pipeline([("features", TokenFeatures()), ("crf", SDCACRF())])
    windows = [[Window("word", k)] for k in (0, 1)]
    search = GridSearchCV(pipeline, {"features__templates": windows}, cv=2)
    search.fit(TEXTS, TAGS)
    assert search.best_params_["features__templates"] in windows
    assert pipeline.get_params()["features__columns"] == ("word",)
    pipeline.set_params(features__templates=["word"])
    assert pipeline[:1].transform([["a"]]) == [[("word=a",)]]


def test_tags_and_names():
    transformer = TokenFeatures()
    assert not get_tags(transformer).requires_fit
    assert not get_tags(transformer).input_tags.two_d_array
    assert transformer.fit() is transformer
    names = transformer.template_names()
    made = {
        f.split("=")[0] for s in TEXTS for t in transformer.transform([s])[0] for f in t
    }
    assert made <= set(names)
    assert transformer.get_feature_names_out() is None
    page = make_tagger(transformer, SDCACRF(random_state=0)).fit(TEXTS, TAGS)
    for shown in transformer, page:
        assert "<style>" in shown._repr_html_()
        assert f"{len(names)} features" not in shown._repr_html_()


def test_graphs_keep_their_edges():
    features, edges = TokenFeatures(["word"]), np.array([[0, 1]])
    rows = [("word=a",), ("word=b",)]
    for rest in ([-1, 0],), (edges,), ([[0, 1]], [[0.5]]), ((),), (np.empty((0, 2)),):
        ((nodes, *others),) = features.transform([(["a", "b"], *rest)])
        assert nodes == rows
        assert all(x is y for x, y in zip(others, rest, strict=True))
    long = [(["a"] * FEW, [-1] * FEW)] * 2
    assert features.transform(long)[1][0] == [("word=a",)] * FEW
    # Sentences may be tuples, too.
    assert features.transform([("a", "b"), ("a", "b")]) == [rows, rows]
    pairs = TokenFeatures(["pos"], columns=("word", "pos"))
    assert pairs.transform([(("a", "D"), ["b", "N"])]) == [[("pos=D",), ("pos=N",)]]
    with pytest.raises(TypeError, match="X mixes graphs and sequences: 1 is a list"):
        features.transform([(["a"], [-1]), ["a"]])


def test_templates_of_none_are_the_default_ones():
    assert TokenFeatures(None).transform(TEXTS) == TokenFeatures().transform(TEXTS)
    tagger = make_tagger(TokenFeatures(), SDCACRF(random_state=0))
    grid = {"tokenfeatures__templates": [None, ["word"]]}
    GridSearchCV(tagger, grid, cv=2).fit(TEXTS, TAGS)
    tagger.set_params(tokenfeatures__templates=None).fit(TEXTS, TAGS)
    file = io.BytesIO()
    save_model(tagger, file)
    file.seek(0)
    assert load_model(file).predict(TEXTS).tolist() == tagger.predict(TEXTS).tolist()


@pytest.mark.slow
def test_another_process_can_use_a_pickled_pipeline(tmp_path):
    pipeline = make_pipeline(TokenFeatures(), SequenceVectorizer(), SDCACRF())
    pipeline.fit(TEXTS, TAGS)
    (tmp_path / "tagger.pickle").write_bytes(pickle.dumps(pipeline))
    code = (
        "import pickle, sys; tagger = pickle.load(open(sys.argv[1], 'rb')); "
        "print(tagger.predict([['the', 'dogs']]).tolist())"
    )
    command = [sys.executable, "-P", "-c", code, tmp_path / "tagger.pickle"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout == "[['D', 'N']]\n"


@pytest.mark.parametrize("as_tuples", [False, True])
def test_words_for_a_tagger_of_columns_are_refused_with_the_forms(as_tuples):
    tokens = [("the", "DT"), ("dog", "NN")]
    dicts = [dict(zip(("word", "pos"), token, strict=True)) for token in tokens]
    columns = ("word", "pos") if as_tuples else ("word",)
    features = TokenFeatures(["word", "pos"], columns=columns)
    X, y = [tokens if as_tuples else dicts], [["D", "N"]]
    tagger = make_tagger(features, SDCACRF(random_state=0)).fit(X, y)
    with pytest.raises(ValueError, match="item 0 is of type str 'the'.*fitted on"):
        tagger.predict([["the", "dog"]])
    # Dicts have names: they do for any columns.
    assert tagger.predict([dicts]).tolist() == tagger.predict(X).tolist()


@pytest.mark.parametrize(
    "tokens",
    [
        ["the", "dog"],
        [("the",), ("dog",)],
        [("1", "the", "O"), ("2", "dog", "O")],
        [{"word": "the"}, {"word": "dog"}],
        [{"id": "1", "word": "the"}, {"label": "O", "word": "dog"}],
    ],
    ids=repr,
)
def test_tokens_need_the_columns_alone_that_templates_read(tokens):
    features = TokenFeatures([Shape(), "word"], columns=("id", "word", "label"))
    assert features.read_columns() == ["word"]
    assert features.transform([tokens]) == TokenFeatures([Shape(), "word"]).transform(
        [["the", "dog"]]
    )
    # Many tokens are read in another way.
    many = features.transform([tokens] * 100)
    assert many == features.transform([tokens]) * 100


def test_columns_that_are_read_stand_in_the_order_of_columns():
    features = TokenFeatures(["tag", "word"], columns=("word", "_", "tag"))
    of_all = features.transform([[("the", "-", "DT")]])
    assert of_all == [[("tag=DT", "word=the")]]
    assert features.transform([[("the", "DT")]]) == of_all


def test_tokens_of_which_nothing_is_read_may_have_any_columns():
    features = TokenFeatures([], columns=("word", "tag"))
    for tokens in ["a", "b"], [("a",), ("b", "c", "d")], [{}, {"word": "a"}]:
        assert features.transform([tokens]) == [[(), ()]]


# Files of columns ---------------------------------------------------------------------

LINES = "the DT B\nDogs NNS I\nbark VBP O\n\n3-D JJ B\n"
SENTENCES, LABELS = [DICTS[0], DICTS[2]], [["B", "I", "O"], ["B"]]


@pytest.mark.parametrize(
    "text",
    [
        LINES,
        LINES.strip(),
        LINES.replace("\n", "\r\n"),
        LINES.replace(" ", "\t"),
        "\t\n".join(LINES.replace(" ", "\t").split("\n")),
        LINES.replace(" ", "   ").replace("\n\n", "\n \t \n\n\n"),
        "\n\n" + LINES + "\n\n",
        "-DOCSTART- -X- O\n" + LINES,
        LINES.replace("\n\n", "\n-DOCSTART-\n"),
        LINES.replace("\n", " \n"),
    ],
)
def test_files_of_one_meaning(text):
    assert read_conll(io.StringIO(text)) == (SENTENCES, LABELS)


def test_where_columns_come_from(tmp_path):
    plain, zipped = tmp_path / "a.txt", tmp_path / "b"
    plain.write_text("\ufeff" + LINES, encoding="utf-8")
    zipped.write_bytes(gzip.compress(LINES.encode()))
    for file in (plain, zipped, str(plain), str(zipped)):
        assert read_conll(file) == (SENTENCES, LABELS)
    with plain.open("rb") as one, zipped.open("rb") as other:
        assert read_conll(one) == read_conll(other) == (SENTENCES, LABELS)
    with pytest.raises(FileNotFoundError):
        read_conll(tmp_path / "none")


@pytest.mark.parametrize("library", [gzip, bz2, lzma])
def test_compressed_files_are_read_whatever_their_name_is(library, tmp_path):
    file = tmp_path / "words.txt"
    file.write_bytes(library.compress(LINES.encode()))
    assert read_conll(file) == (SENTENCES, LABELS)
    file.write_bytes(library.compress(b""))
    with pytest.warns(ReadingWarning, match="nothing was read: there is no token"):
        assert read_conll(file) == ([], [])
    file.write_bytes(library.compress(LINES.encode())[:-9])
    match = f"words.txt: data compressed by {library.__name__} cannot be read"
    with pytest.raises(OSError, match=match):
        read_conll(file)


@pytest.mark.parametrize("library", [gzip, bz2, lzma])
def test_compressed_data_may_come_byte_by_byte(library):
    class Slow(io.BytesIO):
        def read1(self, size=-1):
            return super().read1(1)

    assert read_conll(Slow(library.compress(LINES.encode()))) == (SENTENCES, LABELS)
    assert read_conll(Slow(LINES.encode())) == (SENTENCES, LABELS)


def test_a_word_may_begin_as_compressed_data_do():
    X, _ = read_conll(io.BytesIO(b"BZh9 NN O\n"))
    assert X[0][0]["word"] == "BZh9"


def test_columns_can_be_chosen():
    file = io.StringIO("1\tIn\t_\tADP\n2\tNew York\t_\tPROPN\n")
    X, y = read_conll(file, [None, "form", None, "tag"], label="tag")
    assert X == [[{"form": "In"}, {"form": "New York"}]]
    assert y == [["ADP", "PROPN"]]
    X = read_conll(io.StringIO("a b\nc d\n"), ("word", "pos"), label=None)
    assert X == [[{"word": "a", "pos": "b"}, {"word": "c", "pos": "d"}]]
    with pytest.warns(ReadingWarning, match="1 of 1 token have the label ''"):
        assert read_conll(io.StringIO("a,b c,\n"), delimiter=",") == (
            [[{"word": "a", "pos": "b c"}]], [[""]]
        )  # fmt: skip
    with pytest.warns(ReadingWarning, match="nothing was read: there is no token"):
        assert read_conll(io.StringIO("\n")) == ([], [])


def test_tabs_and_blanks_may_be_mixed_where_the_columns_then_fit():
    mixed = io.StringIO("Anna\tNNP B-PER\nran VBD\tO\na\t\tb\tO\n")
    X, y = read_conll(mixed)
    assert X[0][2] == {"word": "a", "pos": "b"}
    assert y == [["B-PER", "O", "O"]]
    # Empty columns between tabs, and blanks in words, stay where the columns fit.
    X, _ = read_conll(io.StringIO("a b\t\tO\n"))
    assert X == [[{"word": "a b", "pos": ""}]]


def test_marks_of_byte_order_are_no_characters_of_words(tmp_path):
    mark = "\ufeff"
    text = f"{mark}a X\n\n{mark}b X\n"
    path = tmp_path / "joined"
    path.write_bytes(text.encode())
    with open(path, encoding="utf-8") as opened:
        for file in path, io.StringIO(text), opened:
            X, _ = read_conll(file, ("word", "label"))
            assert [x[0]["word"] for x in X] == ["a", "b"]


def test_several_blanks_as_a_delimiter_are_any_run_of_them():
    text = "Anna \t\tNNP\t B-PER\n new york\tNNP O \t\n"
    X, y = read_conll(io.StringIO(text.replace("new york", "york")), delimiter=" \t")
    assert [token["word"] for token in X[0]] == ["Anna", "york"]
    assert y == [["B-PER", "O"]]
    with pytest.raises(ValueError, match="line 2: 4 columns"):
        read_conll(io.StringIO(text), delimiter=" \t")


def test_a_header_names_the_columns():
    text = "# of a tool\nFORM\tUPOS\tner_tag\nAnna\tPROPN\tB-PER\n"
    X, y = read_conll(io.StringIO(text), None, header=True, comment="#")
    assert X == [[{"word": "Anna", "UPOS": "PROPN"}]]
    assert y == [["B-PER"]]
    # Given names are not replaced, nor is a column of the name of the labels.
    X, y = read_conll(io.StringIO("a b\nx y\n"), ("label", "b"), header=True)
    assert (X, y) == ([[{"b": "y"}]], [["x"]])
    X, y = read_conll(io.StringIO("tag word\nx y\n"), None, label="word", header=True)
    assert (X, y) == ([[{"tag": "x"}]], [["y"]])
    with pytest.warns(ReadingWarning, match="nothing was read: there is no token"):
        assert read_conll(io.StringIO(""), None, header=True) == ([], [])


def test_columns_of_none_have_usual_names():
    X, y = read_conll(io.StringIO("a N x O\n"), None)
    assert (X, y) == ([[{"word": "a", "pos": "N", "column3": "x"}]], [["O"]])
    X = read_conll(io.StringIO("a N\n"), None, label=None)
    assert X == [[{"word": "a", "pos": "N"}]]
    with pytest.raises(ValueError, match=r"line 2: 1 column.*format 'attributes'"):
        read_conll(io.StringIO("a N\nb\n"), None)


@pytest.mark.parametrize("odd", ["\u00a0", "\u3000\u00a0", "\u200b", " \u2060"])
def test_lines_that_people_see_as_blank_end_sequences(odd):
    text = f"a O\n{odd}\nb O\n"
    X, _ = read_conll(io.StringIO(text), ("word", "label"))
    assert X == [[{"word": "a"}], [{"word": "b"}]]
    # In a file of one column they may be tokens.
    X = read_conll(io.StringIO(f"a\n{odd}\n".replace(" ", "")), ("word",), label=None)
    assert len(X[0]) == 2


def test_an_empty_delimiter_is_refused():
    with pytest.raises(ValueError, match="empty separator"):
        read_conll(io.StringIO("a\tb\tc\n"), delimiter="")


def test_a_sign_of_comments_may_be_a_word():
    text = "# a b\nthe DT B\n# DT B\n"
    X, _ = read_conll(io.StringIO(text))
    assert [token["word"] for token in X[0]] == ["#", "the", "#"]
    X, _ = read_conll(io.StringIO(text), comment="# ")
    assert X == [[{"word": "the", "pos": "DT"}]]


def test_equal_strings_are_stored_once():
    text = "one_word NN B\none_word NN B\n"
    ((first, second),), (labels,) = read_conll(io.StringIO(text))
    assert first["word"] is second["word"]
    assert labels[0] is labels[1]


@pytest.mark.parametrize(
    ("text", "delimiter"),
    [("Ana \tO \n B\t O\n", None), ("Ana | O\nB |O\n", "|"), ("Ana, O\nB,O\n", ",")],
)
def test_blanks_beside_a_delimiter_are_no_part_of_labels(text, delimiter):
    found = read_conll(io.StringIO(text), ["word", "label"], delimiter=delimiter)
    assert found == ([[{"word": "Ana"}, {"word": "B"}]], [["O", "O"]])
    blank = read_conll(io.StringIO(" \tNew York\n"), ["word", "label"])
    assert blank == ([[{"word": " "}]], [["New York"]])


def test_lines_may_end_as_on_old_machines():
    text = "a\tO\r\rb\tO\r"
    assert read_conll(io.StringIO(text), ["word", "label"])[1] == [["O"], ["O"]]


def test_only_blanks_and_tabs_separate():
    text = "a\u00a0b N O\n\u0085 N O\n\u00a0 N O\n\u2028 N O\n"
    X, _ = read_conll(io.StringIO(text))
    assert [t["word"] for t in X[0]] == ["a\u00a0b", "\u0085", "\u00a0", "\u2028"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a b c\n\na b\n", r"file, line 3: 2 columns, .*, but 3 have names: word, p"),
        ("a b c d", r"4 columns, .*columns= names each column of the file, "),
        ("a b c\r\n%% text = a b\r\n", r"line 2: 5 columns.*say with comment="),
        ("a\tb c d", r"line 1: 2 columns.*'b c d'"),
        ("a\tb\t\t\t", r"line 1: 5 columns.*'b', '', ''"),
    ],
)
def test_lines_with_other_columns_are_named(text, message):
    with pytest.raises(ValueError, match=message):
        read_conll(io.StringIO(text))


def test_another_encoding_is_named_with_the_line(tmp_path):
    path = tmp_path / "latin"
    path.write_bytes("a b c\n\nBelgië N O\n".encode("latin-1"))
    with pytest.raises(
        ValueError, match=r"latin, line 3: not utf-8.*encoding='latin-1'"
    ):
        read_conll(path)
    X, _ = read_conll(path, encoding="latin-1")
    assert X[1][0]["word"] == "België"


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"columns": "word"}, TypeError, "columns must be a sequence of names"),
        ({"columns": ("word", "tag")}, ValueError, "no 'label': say with label="),
        ({"columns": ("a", "a", "label")}, ValueError, "a name twice"),
        ({"label": "tag"}, ValueError, "no 'tag'"),
    ],
)
def test_options_of_reading_are_checked(options, error, message):
    with pytest.raises(error, match=message):
        read_conll(io.StringIO(LINES), **options)


def test_written_columns():
    for own in (X, DICTS):
        file = io.StringIO()
        write_conll(file, own, [["B", "I", "O"], [], ["B"]])
        assert file.getvalue() == LINES + "\n"
    file = io.StringIO()
    guess = np.array([[1, 2, 3], [], [4]], dtype=object)
    write_conll(file, DICTS, guess, columns=["pos"], delimiter="\t")
    assert file.getvalue() == "DT\t1\nNNS\t2\nVBP\t3\n\nJJ\t4\n\n"
    file = io.StringIO()
    write_conll(file, WORDS)
    assert file.getvalue() == "the\nDogs\nbark\n\n3-D\n\n"
    file = io.StringIO()
    write_conll(file, [[], []], [[], []])
    assert file.getvalue() == ""


FIELDS = st.text(st.characters(exclude_characters=" \t\r\n", codec="utf-8"), min_size=1)
FIELDS = FIELDS.filter(lambda text: not text.startswith(("-DOCSTART-", "\ufeff")))


# Made labels are odd.
@pytest.mark.filterwarnings("ignore::skcrf_sdca.text.ReadingWarning")
@given(
    st.lists(st.lists(st.tuples(FIELDS, FIELDS, FIELDS), min_size=1), max_size=4),
    st.sampled_from([" ", "\t"]),
    st.booleans(),
)
def test_what_is_written_is_read_again(rows, delimiter, given_again):
    X = [[{"word": word, "pos": pos} for word, pos, _ in row] for row in rows]
    y = [[label for _, _, label in row] for row in rows]
    file = io.StringIO(newline="")
    write_conll(file, X, y, delimiter=delimiter)
    file.seek(0)
    assert read_conll(file, delimiter=delimiter if given_again else None) == (X, y)


@pytest.mark.parametrize("name", ["a.txt", "a.txt.gz"])
@pytest.mark.parametrize("as_path", [str, lambda path: path])
def test_files_are_written_and_packed_by_name(name, as_path, tmp_path):
    path = tmp_path / name
    write_conll(as_path(path), SENTENCES, LABELS)
    assert (path.read_bytes()[:2] == b"\x1f\x8b") == name.endswith(".gz")
    assert read_conll(path) == (SENTENCES, LABELS)


@pytest.mark.parametrize(
    ("X", "labels", "options", "message"),
    [
        ([["a", "New York"]], [["B", "I"]], {}, "item 1: 'New York' in column 0"),
        ([["a", ""]], [["B", "I"]], {"delimiter": "\t"}, "item 1: '' in column 0"),
        ([["a"]], [["B\n"]], {"delimiter": "\t"}, r"item 0: 'B\\n' in column 1"),
        ([["a\tb"]], [["B"]], {}, "could not be read again"),
        ([["a,b"]], [["B"]], {"delimiter": ","}, "could not be read again"),
        ([[" "]], [["B"]], {"delimiter": "\t"}, "could not be read again"),
        ([["a "]], [["B"]], {"delimiter": "\t"}, "could not be read again"),
        ([["-DOCSTART-"]], [["B"]], {}, "could not be read again"),
        ([["a"], ["b"]], [["B"]], {}, "X has 2 sequences, but y has 1"),
        ([["a"], ["b"]], [["B"], []], {}, "Sequence 1 has 1 items in X, but 0"),
        ([["a"]], [["B"]], {"columns": ["pos"]}, "no column 'pos'"),
    ],
)
def test_nothing_is_written_that_cannot_be_read(X, labels, options, message, tmp_path):
    path = tmp_path / "a"
    with pytest.raises(ValueError, match=message):
        write_conll(path, X, labels, **options)
    assert not path.exists()


# Real data ----------------------------------------------------------------------------


def signatures(data):
    """Return a number for the positions of each feature, sorted."""
    rng = np.random.default_rng(0)
    return np.sort(data.X.T @ rng.random(data.n_positions))


@pytest.mark.slow
def test_features_of_the_packed_chunks(data_folder):
    X, _ = read_conll(data_folder / "conll2000" / "train.txt.gz")
    made = SequenceVectorizer().fit_transform(tasks.CHUNK_FEATURES.transform(X))
    given = packed.load("conll2000").X
    assert made.n_features == 335_672
    np.testing.assert_array_equal(made.offsets, given.offsets)
    np.testing.assert_array_equal(signatures(made), signatures(given))


def shape_without_digits(word):
    word = re.sub("[0-9]", "d", word)
    return re.sub("[a-z]", "x", re.sub("[A-Z]", "X", word))


@pytest.mark.slow
def test_features_of_the_packed_entities(data_folder):
    """The packed data has four peculiarities.

    The text was encoded as UTF-8 twice and split at any white space; the digits of
    shapes became d, and then x like all letters; false flags were features too; and
    features with "|3" were left out.
    """
    X, _ = read_conll(data_folder / "conll2002" / "ned.train.gz", delimiter=" ")
    X = [[" ".join(token.values()).split()[:2] for token in s] for s in X]
    capital = Apply(lambda word: str(word[0].isupper()), name="capital")
    number = Apply(lambda word: str(word.isdigit()), name="number")
    shape = Apply(shape_without_digits)
    windows = [t for t in tasks.CHUNK_FEATURES.templates if t.n < 3]
    templates = [*windows, shape, capital, Prefix(3), Suffix(3), number]
    features = TokenFeatures(templates, columns=COLUMNS).transform(X)
    kept = ([[n for n in names if "|3" not in n] for names in s] for s in features)
    made = SequenceVectorizer().fit_transform(kept)
    given = packed.load("ned").X
    assert made.n_features == 361_631
    np.testing.assert_array_equal(made.offsets, given.offsets)
    np.testing.assert_array_equal(signatures(made), signatures(given))


@pytest.mark.slow
@pytest.mark.parametrize("name", handwritten.FEATURES)
def test_features_are_those_made_by_hand(data_folder, name):
    read, test, features = tasks.TEXTS[name]
    X, _ = read(subset=test)
    expected = map(handwritten.FEATURES[name], X)
    for made, by_hand in zip(features.transform(X), expected, strict=True):
        assert made == list(map(tuple, by_hand))


@pytest.mark.parametrize(
    ("file", "columns", "message"),
    [
        (None, ("word",), "file must be a path or an open"),
        ("x", 3, "columns must be"),
    ],
)
def test_arguments_of_read_conll_of_a_wrong_type(file, columns, message):
    with pytest.raises(TypeError, match=message):
        read_conll(file, columns, label=None)


@given(st.text("aü \n\r\t日", max_size=30), st.integers(1, 5), st.booleans())
def test_a_file_is_read_piece_by_piece_as_at_once(text, size, zipped):
    content = text.encode()
    packed = gzip.compress(content[:9]) + gzip.compress(content[9:])
    lines = text.split("\n" if "\n" in text else "\r")
    whole = [(n, line.rstrip("\r")) for n, line in enumerate(lines, 1)]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(files, "_PIECE", max(size, 2))
        file = io.BytesIO(packed if zipped else content)
        assert list(files.numbered_lines(file, "utf-8")) == whole
        assert list(files.numbered_lines(io.StringIO(text, ""), "utf-8")) == whole


@pytest.mark.parametrize("size", [1, 2, 3, 100])
def test_an_error_of_the_encoding_names_its_line_in_any_piece(monkeypatch, size):
    monkeypatch.setattr(files, "_PIECE", size)
    with pytest.raises(ValueError, match=r"^file, line 3: not utf-8"):
        read_conll(io.BytesIO(b"a b\n\n\xc3\xa9\xff c\nd e\n"), ("word", "label"))


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_a_frame_is_a_sequence_with_a_token_in_each_row(library):
    frames = pytest.importorskip(library)
    frame = frames.DataFrame({"word": ["a", "b"], "pos": ["X", "Y"]})
    features = TokenFeatures([At("pos", 1), "word"])
    rows = [[{"word": "a", "pos": "X"}, {"word": "b", "pos": "Y"}]]
    assert features.transform([frame]) == features.transform(rows)
    words = TokenFeatures(["word"])
    assert words.transform([frame["word"]]) == words.transform([["a", "b"]])
    with pytest.raises(TypeError, match="sequence 0, item 1: column 'word' is"):
        features.transform([frames.DataFrame({"word": ["a", None], "pos": ["", ""]})])
