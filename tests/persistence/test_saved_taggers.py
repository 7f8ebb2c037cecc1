"""Pipelines of TokenFeatures and a CRF are saved as data, and come back equal."""

import json
import pickle
import time
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.utils import murmurhash3_32

from model_fuzz import changed_members, members, write
from skcrf_sdca import (
    LBFGSCRF,
    SDCACRF,
    PassiveAggressiveCRF,
    SequenceHasher,
    SequenceVectorizer,
    compat,
    load_model,
    make_tagger,
    save_model,
)
from skcrf_sdca.estimators.tagger import Tagger
from skcrf_sdca.metrics import get_scorer
from skcrf_sdca.persistence import ModelFormatError
from skcrf_sdca.serving import Predictor
from skcrf_sdca.text import (
    DEFAULT_TEMPLATES,
    Apply,
    At,
    Joint,
    LabelPairs,
    Prefix,
    Shape,
    Suffix,
    TokenFeatures,
    Window,
    has_digit,
    has_hyphen,
    is_capitalized,
)
from skcrf_sdca.text.features.values import FUNCTIONS, Column

COLUMNS = ("word", "pos")
X = [
    [("the", "DT"), ("Dogs", "NNS"), ("bark", "VBP")],
    [("3-D", "JJ"), (" \u00e9\ud800", "")],
    [("well-known", "JJ")],
]
Y = [["D", "N", "V"], ["A", "N"], ["A"]]
WORDS = [[word for word, _ in sentence] for sentence in X]
CRF = SDCACRF(tol=1e-2, random_state=0)

columns = st.sampled_from(COLUMNS)
lengths = st.integers(1, 4)
applied = st.sampled_from(list(FUNCTIONS.values()))
values = st.one_of(
    columns,
    columns.map(Column),
    st.builds(Prefix, lengths, columns),
    st.builds(Suffix, lengths, columns),
    st.builds(Shape, columns, compact=st.booleans()),
    st.builds(Apply, applied, columns, name=st.none() | st.text("ab=|\ud800")),
)
places = st.integers(-3, 3)
bounds = st.tuples(st.integers(-2, 0), st.integers(0, 2))
templates = st.recursive(
    st.one_of(
        values,
        st.builds(At, values, places | places.map(np.int64)),
        st.builds(Window, values, st.integers(0, 2) | bounds),
        st.builds(Window, values, st.integers(1, 2), n=st.integers(1, 3)),
    ),
    lambda inner: st.lists(inner, min_size=1, max_size=2).map(lambda t: Joint(*t)),
    max_leaves=4,
)


templates = st.one_of(templates, st.builds(LabelPairs, templates))


def names_of(templates):
    """Return the names of the features of templates."""
    features = [TokenFeatures([t], columns=COLUMNS) for t in templates]
    return [name for f in features for name in f.template_names()]


def are_distinct(templates):
    """Return whether no feature occurs twice."""
    names = names_of(templates)
    return len(set(names)) == len(names)


token_features = st.builds(
    TokenFeatures,
    st.lists(templates, max_size=3).filter(are_distinct).map(tuple)
    | st.lists(templates, max_size=3).filter(are_distinct),
    columns=st.sampled_from([COLUMNS, list(COLUMNS)]),
    pad=st.sampled_from([None, ("<", ">"), ["", "\ud800"]]),
)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "model.zip"


def tagger(*templates, **parameters):
    features = TokenFeatures(list(templates), columns=COLUMNS, **parameters)
    return make_pipeline(features, clone(CRF))


def saved_again(model, path):
    save_model(model, path)
    return load_model(path)


def document_of(path):
    return json.loads(members(path)["model.json"])


def resealed(path, change):
    """Change the document of a file, and correct its checksums."""
    contents = members(path)
    document = json.loads(contents["model.json"])
    change(document["model"])
    write(path, {**contents, "model.json": json.dumps(document).encode()})


def assert_same(other, model, X):
    """Check that parameters, feature strings and predictions are the same."""
    assert list(other.named_steps) == list(model.named_steps)
    mine, theirs = model[0].get_params(), other[0].get_params()
    assert mine == theirs
    assert {k: type(v) for k, v in mine.items()} == {
        k: type(v) for k, v in theirs.items()
    }
    assert other[0].transform(X) == model[0].transform(X)
    assert other.predict(X).tolist() == model.predict(X).tolist()
    for p, q in zip(other.predict_proba(X), model.predict_proba(X), strict=True):
        assert p.tobytes() == q.tobytes()


# Round trips --------------------------------------------------------------------------


@given(features=token_features, with_vectorizer=st.booleans())
def test_every_tagger_comes_back_equal(features, with_vectorizer, tmp_path_factory):
    path = tmp_path_factory.getbasetemp() / "tagger.zip"
    steps = [("tokens", features), ("crf", clone(CRF))]
    if with_vectorizer:
        steps.insert(1, ("numbers", SequenceVectorizer(min_freq=2, dtype=np.float32)))
    model = Pipeline(steps).fit(X, Y)
    before = pickle.dumps(model)
    assert_same(saved_again(model, path), model, X)
    assert pickle.dumps(model) == before
    alone = saved_again(features, path)
    assert alone.get_params() == features.get_params()


def test_the_tagger_of_the_readme(path):
    """With the default templates, whose later changes do not change the file."""
    model = make_pipeline(TokenFeatures(), LBFGSCRF()).fit(WORDS, Y)
    other = saved_again(model, path)
    assert_same(other, model, WORDS)
    assert repr(other) == repr(model)
    stored = document_of(path)["model"]["features"]["templates"]["tuple"]
    assert len(stored) == len(DEFAULT_TEMPLATES)


def test_a_tagger_comes_back_as_a_tagger(path):
    model = make_tagger(TokenFeatures(), clone(CRF)).fit(WORDS, Y)
    again = saved_again(model, path)
    assert type(again) is Tagger
    assert document_of(path)["format_version"] == 3
    assert again.predict_n_best(WORDS, 2).tolist() == (
        model.predict_n_best(WORDS, 2).tolist()
    )
    # It was not said what cut the texts of the training, as in files of 0.1.0.
    assert "tokens" not in document_of(path)["model"]
    assert again.tokens is None


@pytest.mark.parametrize(
    "change",
    [
        {"tokens": 3},
        {"tokens": None},
        {"tokens": "("},
        {"tokens": "word"},
        {"type": "Pipeline"},
    ],
)
def test_a_file_whose_way_of_cutting_is_none_is_refused(path, change):
    model = make_tagger(TokenFeatures(), clone(CRF), tokens="blanks").fit(WORDS, Y)
    assert saved_again(model, path).tokens == "blanks"
    resealed(path, lambda model: model.update(change))
    for load in load_model, Predictor.load:
        with pytest.raises(ModelFormatError, match="tokens|pipeline must have"):
            load(path)


def test_what_is_loaded_can_be_fitted_again(path):
    model = tagger(Apply(str.lower), Window("pos", 1)).fit(X, Y)
    other = saved_again(model, path)
    assert_same(other.fit(X, Y), model, X)


def test_the_functions_that_a_file_names():
    """None returns a list, of which a Joint could make any number of features."""
    mine = {"has_digit": has_digit, "has_hyphen": has_hyphen}
    mine["is_capitalized"] = is_capitalized
    for name, function in FUNCTIONS.items():
        assert function is mine.get(name, getattr(str, name.removeprefix("str."), None))
        for word in ("", "Ab", "a-b 1", "\u00df", "\ud800"):
            assert isinstance(function(word), (str, bool))


def test_the_page_of_the_format_lists_the_functions():
    page = Path(__file__).parents[2] / "docs" / "model_format.rst"
    words = page.read_text().split()
    assert {f"``{name}``" for name in FUNCTIONS} <= {word.strip(".,") for word in words}


def test_a_file_has_the_lowest_version_that_can_hold_it(path):
    save_model(clone(CRF).fit([[[1.0]]], [["A"]]), path)
    assert document_of(path)["format_version"] == 1
    save_model(make_tagger(SequenceHasher(), clone(CRF)).fit([[["a"]]], [["A"]]), path)
    assert document_of(path)["format_version"] == 2
    for model in (SequenceVectorizer(), tagger("word")):
        save_model(model.fit(X, Y), path)
        assert document_of(path)["format_version"] == 3


# Searches and compat.CRF --------------------------------------------------------------


def test_the_best_estimator_of_a_search(path):
    grid = {"tokenfeatures__templates": [["word"], [Window("word", 1), Shape()]]}
    search = GridSearchCV(tagger(), grid, cv=2, scoring=get_scorer("flat_accuracy"))
    with pytest.raises(TypeError, match="GridSearchCV cannot be saved so"):
        save_model(search, path)
    search.fit(X + X, Y + Y)
    with pytest.raises(TypeError, match="save its best_estimator_, which predicts"):
        save_model(search, path)
    assert not path.exists()
    assert_same(saved_again(search.best_estimator_, path), search.best_estimator_, X)


def compat_crf(X, **parameters):
    crf = compat.CRF(c2=0.1, max_iterations=50, tol=0.1, **parameters)
    return crf.fit(X, Y, X, Y)


DICTS = [[{"word": word, "pos": pos} for word, pos in sentence] for sentence in X]


def assert_same_compat(other, crf, X):
    assert repr(other) == repr(crf)
    assert vars(other).keys() == vars(crf).keys()
    assert other.predict(X).tolist() == crf.predict(X).tolist()
    assert other.predict_marginals(X) == crf.predict_marginals(X)
    assert other.dev_score_ == crf.dev_score_
    assert other.state_features_ == crf.state_features_
    assert other.classes_ == crf.classes_


def test_a_compat_crf_comes_back_equal(path):
    crf = compat_crf(DICTS, all_possible_transitions=True)
    other = saved_again(crf, path)
    assert_same_compat(other, crf, DICTS)
    assert document_of(path)["format_version"] == 3
    assert_same_compat(other.fit(DICTS, Y, DICTS, Y), crf, DICTS)


def test_a_compat_crf_in_a_tagger(path):
    model = make_pipeline(TokenFeatures(), compat.CRF(tol=0.1)).fit(WORDS, Y)
    other = saved_again(model, path)
    assert other.predict(WORDS).tolist() == model.predict(WORDS).tolist()
    assert repr(other) == repr(model)
    numbers = SequenceVectorizer().fit(DICTS)
    with pytest.raises(ValueError, match="features, but the CRF"):
        save_model(make_pipeline(numbers, model[-1]), path)


def test_compat_crfs_that_cannot_be_saved(path):
    with pytest.raises(NotFittedError):
        save_model(compat.CRF(), path)
    crf = compat_crf(DICTS).set_params(trainer_cls=dict)
    with pytest.raises(TypeError, match="trainer_cls is or holds a type"):
        save_model(crf, path)
    crf = compat_crf(DICTS)
    crf.estimator_ = LBFGSCRF().fit(DICTS, Y)
    with pytest.raises(TypeError, match="is a LBFGSCRF, and must be the skcrf_sd"):
        save_model(crf, path)
    assert not path.exists()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda model: model.update(dev_score="1"), "dev_score"),
        (lambda model: model.update(estimator=None), "estimator"),
        (lambda model: model["estimator"].update(type="CRF"), "no place in it"),
        (lambda model: model["estimator"].update(type="LBFGSCRF"), "no place in it"),
        (lambda model: model["estimator"].update(solver="newton"), "solver must be"),
        (lambda model: model["parameters"].update(c2=-1), "c2"),
        (lambda model: model["parameters"].update(more=1), "other parameters"),
        (lambda model: model.update(more=1), "must have the entries"),
    ],
)
def test_forged_compat_crfs(change, message, path):
    save_model(compat_crf(DICTS), path)
    resealed(path, change)
    with pytest.raises(ModelFormatError, match=message):
        load_model(path)


# Hashers ------------------------------------------------------------------------------


@pytest.mark.parametrize("n_features", [5, np.int64(64)])
def test_a_hasher_comes_back_equal(n_features, path):
    hasher = SequenceHasher(n_features, alternate_sign=False)
    other = saved_again(hasher, path)
    assert document_of(path)["format_version"] == 2
    assert type(other) is SequenceHasher
    assert other.get_params() == hasher.get_params()


def test_the_columns_of_a_hasher_are_those_of_the_page_of_the_format():
    item = {"word": "a\u00df", "n": 2.0, "yes": True, "no": False, "v": np.array([3.0])}
    item |= {"tags": ["x", "y"], "d": {"k": "v"}}
    values = {"word:a\u00df": 1, "n": 2, "yes": 1, "v[0]": 3, "tags:x": 1, "tags:y": 1}
    values |= {"d:k:v": 1}
    for n_features in (7, 2**20):
        row = np.zeros(n_features)
        for name, value in values.items():
            h = murmurhash3_32(name.encode(), seed=0)
            row[abs(h) % n_features] += value if h >= 0 else -value
        found = SequenceHasher(n_features).transform([[item]]).X.toarray()
        np.testing.assert_array_equal(found, [row])


@pytest.mark.parametrize("has_tokens", [True, False])
def test_a_hasher_in_a_tagger(has_tokens, path):
    tokens = TokenFeatures(columns=COLUMNS)
    steps = [SequenceHasher(2**8), clone(CRF)]
    model = make_tagger(*([tokens, *steps] if has_tokens else steps))
    data = X if has_tokens else tokens.transform(X)
    # The other sequence has a surrogate, which has no hash.
    data, labels = [data[0], data[2]], [Y[0], Y[2]]
    model.fit(data, labels)
    other = saved_again(model, path)
    assert repr(other) == repr(model)
    assert vars(other[-1]).keys() == vars(model[-1]).keys()
    assert document_of(path)["format_version"] == 2
    for p, q in zip(other.predict_proba(data), model.predict_proba(data), strict=True):
        assert p.tobytes() == q.tobytes()


def test_a_stream_through_a_hasher_goes_on(path):
    model = make_tagger(SequenceHasher(2**8), PassiveAggressiveCRF())
    model.partial_fit(DICTS[:1], Y[:1], classes=["A", "D", "N", "V"])
    other = saved_again(model, path)
    for tagger in (model, other):
        tagger.partial_fit(DICTS[2:], Y[2:])
    assert other[-1].coef_.tobytes() == model[-1].coef_.tobytes()


def test_hashers_that_cannot_be_saved(path):
    with pytest.raises(ValueError, match="'n_features' parameter"):
        save_model(SequenceHasher(0), path)
    crf = clone(CRF).fit(SequenceHasher(8).transform(DICTS[:1]), Y[:1])
    with pytest.raises(ValueError, match="SequenceHasher has 9 features, but the CRF"):
        save_model(make_pipeline(SequenceHasher(9), crf), path)
    assert not path.exists()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda hasher: hasher.update(more=1), "must have the entries"),
        (lambda hasher: hasher["parameters"].update(n_features=9), "9 features"),
        (lambda hasher: hasher["parameters"].update(n_features=2**31), "n_features"),
        (lambda hasher: hasher["parameters"].update(seed=1), "other parameters"),
        (lambda hasher: hasher.update(type="TokenFeatures"), "no place in it"),
    ],
)
def test_forged_hashers(change, message, path):
    model = make_pipeline(SequenceHasher(8), clone(CRF)).fit(DICTS[:1], Y[:1])
    save_model(model, path)
    resealed(path, lambda model: change(model["vectorizer"]))
    with pytest.raises(ModelFormatError, match=message):
        load_model(path)


# What cannot be saved -----------------------------------------------------------------


def my_function(word):
    return word


class MyShape(Shape):
    """A value of a user."""


class MyTemplate:
    """A template of a user."""

    def expand(self):
        return At("word", 1).expand()


@pytest.mark.parametrize(
    "template",
    [
        Apply(my_function),
        Apply(lambda word: word, name="mine"),
        Apply(len, name="length"),
        Apply(str.split),
        Apply(str, name="str"),
        Window(Apply(my_function), 1),
        Joint("word", At(Apply(my_function), 1)),
    ],
    ids=str,
)
def test_functions_without_a_name_in_the_file(template, path):
    path.write_bytes(b"old")
    model = tagger("word", template)
    model[0].transform([])
    with pytest.raises(TypeError) as caught:
        save_model(Pipeline([("words", model[0]), ("crf", CRF)]), path)
    message = str(caught.value)
    assert message.startswith("step 'words': the template Apply(")
    assert "str.lower" in message
    assert "has_hyphen" in message
    assert "pickle or joblib" in message
    assert path.read_bytes() == b"old"
    assert [p.name for p in path.parent.iterdir()] == [path.name]


@pytest.mark.parametrize(
    ("features", "error", "message"),
    [
        (TokenFeatures([MyShape()]), TypeError, "is a MyShape, which a model file"),
        (TokenFeatures([MyTemplate()]), TypeError, "is a MyTemplate, which a model"),
        (TokenFeatures([str.lower]), TypeError, "write Apply"),
        (TokenFeatures(["word", "word"]), ValueError, "'word' twice"),
        (TokenFeatures(["word"], columns=[0, 1]), ValueError, "columns must be str"),
        (TokenFeatures(["x" * 2**18]), ValueError, "more than 262144 characters"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_parameters_that_a_file_cannot_hold(features, error, message, path):
    with pytest.raises(error, match=message):
        save_model(features, path)
    with pytest.raises(error, match="^step 'tokenfeatures': "):
        save_model(make_pipeline(features, CRF), path)
    assert not path.exists()


@pytest.mark.parametrize(
    ("largest", "larger"),
    [
        (lambda: At("word", -100), lambda: At("word", -101)),
        (lambda: Window("word", 100), lambda: Window("word", 101)),
        (lambda: Window("word", (0, 99), n=100), lambda: Window("word", 100, n=101)),
        (lambda: Joint(*["word"] * 100), lambda: Joint(*["word"] * 101)),
        (
            lambda: Joint(Window("w", 60), Window("w", 30)),
            lambda: Joint(Window("w", 100), Window("w", 100)),
        ),
        (lambda: joints(15), lambda: joints(16)),
        (lambda: LabelPairs(joints(15)), lambda: LabelPairs(joints(16))),
    ],
    ids="place window parts joint characters depth pairs".split(),
)
def test_a_template_can_be_made_if_and_only_if_a_file_can_hold_it(
    largest, larger, path
):
    features = TokenFeatures([largest()])
    assert saved_again(features.fit(), path).get_params() == features.get_params()
    with pytest.raises(ValueError, match="beyond 100|more than"):
        larger()


def joints(depth):
    """Return a template in so many Joints."""
    return Joint(joints(depth - 1)) if depth else "word"


@pytest.mark.parametrize("make", [TokenFeatures.fit, TokenFeatures.transform])
@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"templates": [Window("w", 100), "x" * 2**18]}, "templates: the names of"),
        ({"columns": ["word", 1]}, "columns must be str"),
    ],
)
def test_a_fit_refuses_what_a_file_cannot_hold(make, parameters, message):
    with pytest.raises(ValueError, match=message):
        make(TokenFeatures(**parameters), [["a"]])


@pytest.mark.parametrize(
    "steps",
    [
        [CRF],
        [TokenFeatures()],
        [SequenceVectorizer(), TokenFeatures(), CRF],
        [TokenFeatures(), TokenFeatures(), CRF],
        [TokenFeatures(), CRF, CRF],
        ["passthrough", CRF],
    ],
    ids=str,
)
def test_other_pipelines(steps, path):
    with pytest.raises(TypeError, match="a pipeline can be saved so if its steps are"):
        save_model(make_pipeline(*steps), path)


def test_steps_that_do_not_fit(path):
    with pytest.raises(NotFittedError, match="^step 'sdcacrf': "):
        save_model(tagger("word"), path)
    crf = SDCACRF(max_iter=1, tol=1e9).fit([[{"word": "a"}]], [["A"]])
    with pytest.raises(ValueError, match="was fitted on dicts"):
        save_model(make_pipeline(TokenFeatures(), crf), path)


# Damaged and forged files -------------------------------------------------------------


def saved_tagger(path):
    model = tagger(
        Apply(str.lower),
        Window(Shape(), 1),
        Joint("pos", At(Suffix(2), -1)),
        Column("a"),
    )
    model[0].set_params(columns=(*COLUMNS, "a"))
    three = [[(*token, "a") for token in sentence] for sentence in X]
    save_model(model.fit(three, Y), path)
    load_model(path)
    return model, three


def set_features(**entries):
    return lambda model: model["features"].update(entries)


def template(**entry):
    return set_features(templates=[entry])


WINDOW = {"type": "Window", "value": "word", "places": 100, "n": 1}


def nested(depth, inner="word"):
    for _ in range(depth):
        inner = {"type": "Joint", "templates": [inner]}
    return inner


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (template(type="Apply", function="os.system", column="w", name=None), "os.sys"),
        (template(type="Apply", function="str.split", column="w", name=None), "known"),
        (template(type="Apply", function="__class__", column="w", name=None), "known"),
        (template(type="Apply", function=["str"], column="w", name=None), "type str"),
        (template(type="Apply", function="str.lower", column=1, name=None), "column"),
        (template(type="Apply", function="str.lower", column="w", name=1), "name"),
        (template(type="Apply", function="str.lower"), "must have the entries"),
        (template(type="os.system"), "'os.system' is not known"),
        (template(type=["At"]), "is not known"),
        (template(), "type None is not known"),
        (template(type="TokenFeatures"), "is not known"),
        (template(tuple=1), "tuple"),
        (template(tuple=[], more=1), "must have the entries"),
        (template(type="At", value="word", place=1.0), "place"),
        (template(type="At", value="word", place=10**30), "a place beyond"),
        (template(type="At", value=WINDOW, place=1), "neither the name"),
        (template(**{**WINDOW, "places": {"tuple": [1]}}), "places must be"),
        (template(**{**WINDOW, "places": {"tuple": [2, 1]}}), "no run of"),
        (template(**{**WINDOW, "places": 10**30}), "a place beyond"),
        (template(**{**WINDOW, "n": 10**30}), "no run of"),
        (template(**{**WINDOW, "n": 101}), "more than 100 parts"),
        (template(type="Joint", templates=["word"] * 101), "more than 100 parts"),
        (template(type="Joint", templates=[WINDOW, WINDOW]), "characters"),
        (template(type="Joint", templates=[]), "at least one"),
        (template(type="LabelPairs", template=nested(300)), "characters"),
        (template(type="LabelPairs", template=WINDOW, more=1), "must have"),
        (
            template(type="LabelPairs", template={"type": "LabelPairs"}),
            "must have",
        ),
        (template(type="Prefix", length=0, column="word"), "length"),
        (template(type="Shape", column="word", compact=0), "compact"),
        (set_features(templates="word"), "templates"),
        (set_features(templates=[1]), "neither the name"),
        (set_features(templates=[["word"]]), "neither the name"),
        (set_features(templates=["word", "word"]), "twice"),
        (set_features(templates={"tuple": "word"}), "tuple"),
        (
            set_features(templates={"type": "Column", "column": "word"}),
            "templates|Column",
        ),
        (set_features(templates=[nested(300)]), "characters"),
        (set_features(templates=[nested(5000)]), "recursion"),
        (set_features(templates=[{**WINDOW, "value": "x" * 1000}] * 2), "characters"),
        (set_features(columns=["a", "a"]), "twice"),
        (set_features(columns=[1]), "columns must be str"),
        (set_features(columns=[["a"]]), "columns must be str"),
        (set_features(pad=["a"]), "pad"),
        (set_features(pad=[1, 2]), "pad"),
        (set_features(more=1), "must have the entries"),
        (lambda model: model.update(features=None), "type dict"),
        (lambda model: model.update(features=model["crf"]), "no place in it"),
        (lambda model: model.update(names=["a"]), "names"),
        (lambda model: model.update(names=["a", "b", "c"]), "names"),
        (lambda model: model.update(more={}), "must have the entries"),
        (lambda model: model.pop("crf"), "must have the entries"),
        (lambda model: model.pop("features"), "names"),
    ],
)
def test_forged_documents(change, message, path):
    saved_tagger(path)
    contents = members(path)
    document = json.loads(contents["model.json"])
    change(document["model"])
    # The encoder of Python cannot write what is nested too deep.
    try:
        text = json.dumps(document).encode()
    except RecursionError:
        depth = 5000
        document["model"]["features"]["templates"] = ["deep"]
        deep = b'{"type": "Joint", "templates": [' * depth + b'"word"' + b"]}" * depth
        text = json.dumps(document).encode().replace(b'"deep"', deep)
    write(path, {**contents, "model.json": text})
    start = time.monotonic()
    with pytest.raises(ModelFormatError, match=message):
        load_model(path)
    assert time.monotonic() - start < 5


@pytest.mark.parametrize("n", [200, pytest.param(1000, marks=pytest.mark.slow)])
def test_changed_documents(n, path):
    _, three = saved_tagger(path)
    contents = members(path)
    rng = np.random.default_rng(0)
    loaded = 0
    for _ in range(n):
        write(path, changed_members(contents, rng))
        try:
            model = load_model(path)
        except ModelFormatError:
            continue
        loaded += 1
        try:
            model.predict(three)
        except (ValueError, TypeError, AttributeError):
            # Of other columns, or another type of model.
            pass
        save_model(model, path)
        assert repr(load_model(path)) == repr(model)
    assert loaded


def test_an_older_reader_says_that_the_file_is_newer(path, monkeypatch):
    from skcrf_sdca.persistence import _head

    saved_tagger(path)
    monkeypatch.setattr(_head, "FORMAT_VERSION", 1)
    with pytest.raises(ModelFormatError, match="version 3 of the format"):
        load_model(path)
