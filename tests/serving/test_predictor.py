"""A Predictor answers as the estimator of the same file, and imports NumPy alone."""

import collections
import io
import json
import pickle
import sys
from collections import OrderedDict
from concurrent.futures import ThreadPoolExecutor
from decimal import Decimal
from fractions import Fraction
from types import MappingProxyType

import joblib
import numpy as np
import numpy_alone
import pandas as pd
import pytest
import scipy.sparse as sp
import served
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal
from served import assert_both_readers_refuse_the_same
from sklearn.base import clone

from model_fuzz import (
    as_version_2,
    change_model,
    changed_members,
    members,
    write,
)
from pairs import by_pairs
from skcrf_sdca import (
    LBFGSCRF,
    SDCACRF,
    PackedSequences,
    PassiveAggressiveCRF,
    SegmentCRF,
    SequenceHasher,
    SequenceVectorizer,
    compat,
    make_tagger,
    save_model,
)
from skcrf_sdca.estimators.drift import UNKNOWN
from skcrf_sdca.inspection import drift_report
from skcrf_sdca.persistence import ModelFormatError
from skcrf_sdca.serving import Predictor
from skcrf_sdca.text import Apply, At, Joint, Shape, TokenFeatures, Window

BIO = ["O", "B-X", "I-X", "B-Y", "I-Y"]
PARTS = {label: label.split("-") for label in BIO}


def random_strings(rng, length, n_names=30):
    """Return a sequence of lists of names, of which some repeat."""
    return [
        [f"f{j}" for j in rng.integers(n_names, size=rng.integers(6))]
        for _ in range(length)
    ]


def random_dicts(rng, length, n_names=30):
    """Return a sequence of dicts, with a value of every type that there may be."""
    values = [
        lambda j: f"v{j % 5}",
        lambda j: bool(j % 2),
        lambda j: j / 7,
        lambda j: j - 9,
        lambda j: np.float32(j),
        lambda j: Decimal(j),
        lambda j: Fraction(j, 3),
        lambda j: [f"v{j % 3}", "v0"],
        lambda j: {"v1", f"v{j % 4}"},
        lambda j: {"a": "b", "n": j / 2, "deep": {"c": True}},
        lambda j: np.array([j, 0.5]),
    ]
    return [
        {
            f"k{j % len(values)}": values[j % len(values)](int(j))
            for j in rng.integers(n_names, size=rng.integers(6))
        }
        for _ in range(length)
    ]


def random_rows(rng, length, n_names=30):
    return rng.normal(size=(length, 4))


def single_rows(rng, length, n_names=30):
    return rng.normal(size=(length, 4)).astype(np.float32)


def sparse_rows(rng, length, n_names=30):
    return sp.csr_array(rng.poisson(0.5, size=(length, 7)))


def random_signal(rng, length, n_names=30):
    return rng.normal(size=length)


def random_labels(rng, length):
    """Return labels that are valid in BIO."""
    labels = ["O"]
    for _ in range(length):
        before = labels[-1].removeprefix("B-").removeprefix("I-")
        choices = ["O", "B-X", "B-Y"] + [f"I-{before}"] * (before != "O")
        labels.append(choices[rng.integers(len(choices))])
    return labels[1:]


def data(make, rng, n=25, **options):
    """Return X and y, and sequences with features that no fit has seen."""
    lengths = rng.integers(7, size=n).tolist()
    X = [make(rng, length, **options) for length in [1, *lengths]]
    y = [random_labels(rng, length) for length in [1, *lengths]]
    new = [make(rng, length, n_names=60) for length in (0, 1, 2, 9, 80)]
    return X, y, new


def tokens(rng, length, n_names=30):
    words = ["the", "Dog", "B2", "x-Ray", "", "é"]
    return [words[j % len(words)] for j in rng.integers(n_names, size=length)]


FEATURES = TokenFeatures(
    [
        Window("word", 1),
        Shape(),
        Joint(At("word", -1), Apply(str.isupper)),
        Window("word", (-1, 1), n=2),
    ]
)
PADDED = TokenFeatures([Window("word", 2), Apply(str.lower)], pad=("<s>", "</s>"))


def crf(**parameters):
    return SDCACRF(tol=1e-2, random_state=0, **parameters)


MODELS = {
    "strings": (crf(), random_strings),
    "dicts": (crf(), random_dicts),
    "scheme": (crf(transitions="BIO"), random_strings),
    "observed transitions": (crf(transitions="observed"), random_dicts),
    "vectorizer": (make_tagger(SequenceVectorizer(min_freq=2), crf()), random_strings),
    "single precision": (
        make_tagger(SequenceVectorizer(dtype=np.float32), crf()),
        random_dicts,
    ),
    "tokens": (make_tagger(FEATURES, crf()), tokens),
    "padded": (make_tagger(PADDED, SequenceVectorizer(), crf()), tokens),
    "elastic net": (crf(l1_ratio=0.5, alpha=0.1), random_dicts),
    "softmax-margin": (crf(loss="softmax_margin", temperature=0.5), random_dicts),
    "hinge": (crf(loss="hinge"), random_strings),
    "online": (PassiveAggressiveCRF(max_iter=2, random_state=0), random_strings),
    "compat": (compat.CRF(c2=0.1, max_iterations=20), random_strings),
    "arrays": (crf(), random_rows),
    "arrays, scheme": (crf(transitions="BIO"), single_rows),
    "arrays, hinge": (crf(loss="hinge"), random_rows),
    "sparse rows": (crf(loss="softmax_margin", temperature=0.5), sparse_rows),
    "signals": (crf(), random_signal),
    "order 2": (crf(order=2), random_dicts),
    "order 2, tokens": (make_tagger(FEATURES, crf(order=2, alpha=0.1)), tokens),
    "observed tuples": (LBFGSCRF(order=2, label_pairs="observed"), random_rows),
    "edge features": (crf(edge_features="all", transitions="BIO"), random_strings),
    "label parts": (crf(label_features=PARTS.get), random_strings),
    "segments": (SegmentCRF(max_length=4, tol=1e-2, random_state=0), random_dicts),
    "segments, tokens": (
        make_tagger(FEATURES, SegmentCRF(scheme=None, solver="lbfgs", tol=1e-2)),
        tokens,
    ),
}


@pytest.fixture(params=MODELS, scope="module")
def fitted(request):
    """Return an estimator, and new data."""
    estimator, make = MODELS[request.param]
    X, y, new = data(make, np.random.default_rng(0))
    return clone(estimator).fit(X, y), new


def through_file(estimator):
    save_model(estimator, file := io.BytesIO())
    return Predictor.load(file.getvalue())


def through_memory_map(estimator, folder):
    joblib.dump(through_file(estimator), folder / "model")
    predictor = joblib.load(folder / "model", mmap_mode="r")
    assert isinstance(predictor._model.coef.values, np.memmap)
    return predictor


WAYS = {
    "file": lambda model, _: through_file(model),
    "estimator": lambda model, _: Predictor.from_estimator(model),
    "pickle": lambda model, _: pickle.loads(pickle.dumps(through_file(model))),
    "memory map": through_memory_map,
}


def assert_same(predictor, estimator, X):
    """Assert that the answers are the same, to the last bit."""
    model = getattr(estimator, "estimator_", estimator)
    for x in X:
        assert predictor.predict_one(x) == list(model.predict([x])[0])
        paths = predictor.n_best(x, 3)
        assert paths == model.predict_n_best([x], 3)[0]
        if hasattr(model, "predict_proba"):
            assert_array_equal(predictor.marginals(x), model.predict_proba([x])[0])
            assert predictor.spans(x) == model.predict_spans([x])[0]


@pytest.mark.parametrize("way", WAYS.values(), ids=WAYS)
def test_the_answers_are_those_of_the_estimator(way, fitted, tmp_path):
    estimator, new = fitted
    predictor = way(estimator, tmp_path)
    classes = getattr(estimator, "estimator_", estimator).classes_
    assert_array_equal(predictor.classes_, classes)
    assert_same(predictor, estimator, new)


def assert_same_explanation(found, expected):
    assert found.features == expected.features
    assert found.paths == expected.paths
    assert (found.label, found.reference) == (expected.label, expected.reference)
    assert_array_equal(found.values, expected.values)
    close = {"rtol": 1e-12, "atol": 1e-12}
    np.testing.assert_allclose(found.contributions, expected.contributions, **close)
    if expected.probabilities is None:
        assert found.probabilities is None
    else:
        np.testing.assert_allclose(found.probabilities, expected.probabilities, **close)
    assert repr(found) == repr(expected)


def assert_explains(predictor, estimator, X):
    model = getattr(estimator, "estimator_", estimator)
    for x in X:
        n = len(predictor.predict_one(x))
        for t in [0, n // 2, -1][: 3 * n]:
            assert_same_explanation(predictor.explain(x, t), model.explain(x, t))
        with pytest.raises(IndexError, match=f"{n} is not in the sequence of {n}"):
            predictor.explain(x, n)
    # Those of one item that are possible.
    x, classes = X[1], [label for (label,), _ in predictor.n_best(X[1], 9)]
    asked = {"labels": classes[:3], "path": classes[-1:], "reference": classes[-1]}
    assert_same_explanation(
        predictor.explain(x, 0, **asked), model.explain(x, 0, **asked)
    )
    for wrong in ({"labels": ["none"]}, {"reference": "none"}, {"path": ["none"]}):
        with pytest.raises(ValueError, match="none") as found:
            predictor.explain(x, 0, **wrong)
        with pytest.raises(ValueError, match="none") as expected:
            model.explain(x, 0, **wrong)
        assert str(found.value) == str(expected.value)


def test_explanations_are_those_of_the_estimator(fitted):
    estimator, new = fitted
    assert_explains(through_file(estimator), estimator, new[:4])


@pytest.mark.parametrize("make", [random_dicts, random_rows])
def test_explanations_of_sparse_weights(make):
    X, y, new = data(make, np.random.default_rng(0))
    model = crf(alpha=0.1, l1_ratio=0.5, transitions="BIO").fit(X, y).sparsify()
    assert_explains(through_file(model), model, new[:4])


def test_explanations_name_the_columns_of_the_fit():
    names = [f"column {j}" for j in range(4)]
    rows = [random_rows(np.random.default_rng(j), 3) for j in range(5)]
    X = PackedSequences(np.concatenate(rows), range(0, 16, 3), feature_names=names)
    model = crf().fit(X, [random_labels(np.random.default_rng(j), 3) for j in range(5)])
    found = through_file(model).explain(rows[0], 0)
    assert "column" in repr(found)
    expected = model.explain(PackedSequences.from_sequences(rows[:1]), 0)
    assert_same_explanation(found, expected)


@pytest.mark.parametrize(
    "name", ["strings", "dicts", "vectorizer", "tokens", "compat", "segments, tokens"]
)
def test_unknown_features_are_those_of_the_drift_report(name):
    estimator, make = MODELS[name]
    X, y, new = data(make, np.random.default_rng(0))
    new = [x for x in new if len(x)]
    predictor = through_file(estimator.fit(X, y))
    model = getattr(estimator, "estimator_", estimator)
    (share,) = (
        row.new for row in drift_report(model, X, new).rows if row.figure == UNKNOWN
    )
    counts = np.array([predictor.unknown_features(x) for x in new])
    n_unknown, n_features = counts.sum(axis=0)
    assert n_unknown / n_features == pytest.approx(share)
    # Tokens are of a few words, which the training has.
    assert n_unknown > 0 or name == "segments, tokens"
    assert predictor.unknown_features([]) == (0, 0)


def test_models_without_a_vocabulary_have_no_unknown_features():
    with pytest.raises(ValueError, match="no vocabulary, and takes all features"):
        through_file(ROWS).unknown_features(np.eye(2))


HASHERS = {
    "strings": ([SequenceHasher(64)], random_strings),
    "dicts": ([SequenceHasher(512, alternate_sign=False)], random_dicts),
    "tokens": ([FEATURES, SequenceHasher(128)], tokens),
}


@by_pairs({"name": HASHERS, "way": served.WAYS.values(), "sparse": [False, True]})
def test_hashed_features_are_served(name, way, sparse):
    steps, make = HASHERS[name]
    X, y, new = data(make, np.random.default_rng(0))
    # Of few columns, several names share some, and others cancel out.
    tagger = make_tagger(*steps, crf(alpha=0.1, l1_ratio=0.5)).fit(X, y)
    if sparse:
        tagger[-1].sparsify()
    predictor = way(tagger)
    served.assert_same_answers(predictor, tagger, new)
    assert_explains(predictor, tagger, new[:4])
    with pytest.raises(ValueError, match="no vocabulary"):
        predictor.unknown_features(new[1])


def test_a_hasher_takes_dicts_and_strings_whatever_the_fit_had():
    tagger = make_tagger(SequenceHasher(64), crf()).fit(
        [[["a"], ["b:c"]]], [["A", "B"]]
    )
    predictor = through_file(tagger)
    for x in ([{"a": 1}, {"b": "c"}], (["a"], {"b:c"}), [MappingProxyType({"a": 2})]):
        assert predictor.predict_one(x) == tagger.predict([x])[0]
    with pytest.raises(TypeError, match="item 1: 2 is of type int"):
        predictor.predict_one([["a"], [2]])
    with pytest.raises(TypeError, match="item 0 is of type str"):
        predictor.predict_one(["a"])


@pytest.mark.slow
@pytest.mark.parametrize("has_tokens", [False, True])
def test_both_readers_refuse_the_same_hashers(has_tokens):
    steps, make = HASHERS["tokens" if has_tokens else "strings"]
    X, y, _ = data(make, np.random.default_rng(0), n=3)
    save_model(make_tagger(*steps, crf()).fit(X, y), file := io.BytesIO())
    assert_both_readers_refuse_the_same(file)


# Whether the fits of so few sequences converge is not of interest here.
@pytest.mark.filterwarnings("ignore:the duality gap")
@given(
    st.integers(0, 2**32 - 1),
    st.sampled_from(["strings", "dicts", "tokens", "arrays", "sparse rows"]),
)
def test_random_models(seed, name):
    estimator, make = MODELS[name]
    rng = np.random.default_rng(seed)
    X, y, new = data(make, rng, n=int(rng.integers(1, 8)))
    predictor = Predictor.from_estimator(estimator.fit(X, y))
    assert_same(predictor, estimator, new)
    assert_explains(predictor, estimator, new[:3])


@pytest.mark.parametrize("n_labels", [1, 2, 70])
@pytest.mark.parametrize(
    "model", [crf(transitions="observed"), LBFGSCRF(label_pairs="observed")]
)
def test_any_number_of_labels(model, n_labels):
    # Of 70 labels in a ring, few of all pairs are allowed, or have weights.
    rng = np.random.default_rng(0)
    lengths = [n_labels, *rng.integers(1, 9, size=20)]
    X = [random_strings(rng, length) for length in lengths]
    y = [[f"B-{k % n_labels}" for k in range(length)] for length in lengths]
    assert_same(Predictor.from_estimator(model.fit(X, y)), model, X[:5])


@pytest.mark.parametrize("labels", [["a", "é\ud800"], [1, 2], [b"a", b"b"], [0.0, 2.0]])
def test_labels_of_every_type(labels):
    model = crf().fit([[["a"], ["b"]]] * 3, [labels] * 3)
    found = through_file(model).predict_one([["a"], ["b"]])
    assert found == labels
    assert list(map(type, found)) == list(map(type, labels))


def test_ids_with_names_have_spans():
    X, y = [[["a"], ["b"], ["c"]]] * 3, [[2, 1, 0]] * 3
    model = crf(label_names=["O", "I-X", "B-X"]).fit(X, y)
    assert_same(through_file(model), model, X[:1])


@pytest.mark.parametrize("scheme", ["BIO", None])
def test_segments_of_a_text(scheme):
    X = [["in", "New", "York"], ["left", "."]] * 9
    y = [["O", "B-LOC", "I-LOC"], ["O", "O"]] * 9
    segments = SegmentCRF(scheme=scheme, solver="lbfgs", tol=1e-4)
    tagger = make_tagger(TokenFeatures(), segments).fit(X, y)
    predictor = through_file(tagger)
    found, expected = (own.tag("In New York\nleft.") for own in (predictor, tagger))
    assert found == expected
    assert (found.spans[-1].type == "LOC") == (scheme is not None)
    with pytest.raises(ValueError, match="the model was fitted with scheme="):
        predictor.spans(X[0], scheme="BIOES")


def test_spans_in_another_scheme():
    X, y = [[["a"], ["b"], ["c"]]] * 3, [["B-X", "E-X", "S-Y"]] * 3
    model, predictor = crf(alpha=0.01).fit(X, y), None
    predictor = through_file(model)
    with pytest.raises(ValueError, match="scheme"):
        predictor.spans(X[0])
    found = predictor.spans(X[0], scheme="BIOES")
    assert found == model.predict_spans(X[:1], scheme="BIOES")[0]
    assert [span[:3] for span in found] == [("X", 0, 2), ("Y", 2, 3)]


@pytest.mark.parametrize("make", [random_strings, random_dicts, random_rows])
def test_sparse_weights(make):
    X, y, new = data(make, np.random.default_rng(0))
    model = crf(alpha=0.1, l1_ratio=0.5, transitions="BIO").fit(X, y).sparsify()
    predictor = through_file(model)
    for x in new:
        assert predictor.predict_one(x) == model.predict([x])[0]
        # A weight 0 that is not stored is not added: sums are rounded otherwise.
        np.testing.assert_allclose(
            predictor.marginals(x), model.predict_proba([x])[0], rtol=1e-12, atol=1e-15
        )


def test_packed_rows_and_tables_that_are_cut():
    rng = np.random.default_rng(0)
    X, y, new = data(random_rows, rng)
    for model in (
        crf().fit(PackedSequences.from_sequences(X), y),
        crf().fit(np.concatenate(X), sum(y, []), lengths=[len(x) for x in X]),
    ):
        predictor = through_file(model)
        for x in new[1:]:
            expected = model.predict(PackedSequences.from_sequences([x]))[0]
            assert predictor.predict_one(x) == list(expected)
            assert predictor.predict_one(x.tolist()) == list(expected)
            assert predictor.predict_one(sp.coo_array(x)) == list(expected)
        assert predictor.predict_one([]) == []


ROWS = crf().fit([np.eye(2)] * 3, [["O", "B-X"]] * 3)


@pytest.mark.parametrize(
    ("x", "error", "message"),
    [
        (np.ones((2, 3)), ValueError, "3 features, but the model 2"),
        (sp.csr_array(np.ones((2, 3))), ValueError, "3 features, but the model 2"),
        (np.ones(2), ValueError, r"must have two axes, got shape \(2,\)"),
        (np.ones((1, 1, 2)), ValueError, "must have two axes"),
        (np.array([[np.nan, 1.0]]), ValueError, "has NaN or infinity"),
        (sp.csr_array([[np.inf, 1.0]]), ValueError, "has NaN or infinity"),
        (np.ma.masked_equal([[0.0, 1.0]], 0.0), ValueError, "masked entries"),
        ([["a", "b"]], TypeError, "must hold numbers"),
        (np.ones((1, 2)) * 1j, TypeError, "must hold numbers"),
        (pd.DataFrame(np.ones((1, 2))), TypeError, "must be an array, a list of rows"),
        (None, TypeError, "must be an array, a list of rows"),
        (np.full((1, 2), 1e308), ValueError, "features so large"),
    ],
)
def test_wrong_rows(x, error, message):
    predictor = Predictor.from_estimator(ROWS)
    for answer in (predictor.predict_one, predictor.marginals, predictor.spans):
        with pytest.raises(error, match=message):
            answer(x)


def test_constraints_that_allow_no_path():
    X, y = [[["a"], ["b"]]] * 3, [["A", "B"]] * 3
    model = crf().fit(X, y)
    model.transition_[:] = -np.inf
    predictor = through_file(model)
    assert predictor.predict_one(X[0][:1]) == ["A"]
    for answer in (
        predictor.predict_one,
        predictor.marginals,
        lambda x: predictor.n_best(x, 2),
    ):
        with pytest.raises(ValueError, match="length 2, and of that length the trans"):
            answer(X[0])


# Items --------------------------------------------------------------------------------


class Name(str):
    """A str of a subclass."""


STRINGS = crf().fit([[["a", "b"], ["c"]]] * 3, [["O", "B-X"]] * 3)
DICTS = crf().fit([[{"a": 1.5, "b": "c"}, {"d": True}]] * 3, [["O", "B-X"]] * 3)


@pytest.mark.parametrize(
    ("model", "x"),
    [
        (STRINGS, []),
        (STRINGS, ()),
        (STRINGS, [[], []]),
        (STRINGS, 99 * [["unseen"]]),
        (STRINGS, [99 * ["a"]]),
        (STRINGS, (("a", "unseen"), {"b", "c"})),
        (STRINGS, [frozenset("ab"), [Name("c")]]),
        (STRINGS, [[b"a", "unseen"], {b"b", "c"}]),
        (STRINGS, np.array([["a"], ["b", "c"]], dtype=object)),
        (DICTS, []),
        (DICTS, [{}, {}]),
        (DICTS, (OrderedDict(a=2.0), MappingProxyType({"b": Name("c")}))),
        (DICTS, [{Name("a"): np.int8(3), "b": ["c", "x"], "d": np.True_}]),
        (DICTS, [{b"a": 3, "b": b"c"}, {"b": [b"c"], b"d": {b"e": True}}]),
        (DICTS, np.array([{"a": 1}, {"d": False}], dtype=object)),
    ],
)
def test_whatever_the_estimator_takes(model, x):
    assert_same(Predictor.from_estimator(model), model, [x])


@pytest.mark.parametrize(
    ("model", "x", "error", "message"),
    [
        (STRINGS, "ab", TypeError, "must be a list of lists of str, got of type str"),
        (STRINGS, {"a": 1}, TypeError, "must be a list of lists of str"),
        (STRINGS, {("a",)}, TypeError, "must be a list of lists of str"),
        (STRINGS, None, TypeError, "must be a list of lists of str"),
        (STRINGS, ["a", "b"], TypeError, "item 0 is of type str 'a'; sequence must be"),
        (STRINGS, [["a"], {"a": 1}], TypeError, "item 1 is of type dict"),
        (STRINGS, [["a"], ["b", 1]], TypeError, "item 1: 1 is of type int"),
        (STRINGS, [["a"], [1.0]], TypeError, "item 1: 1.0 is of type float"),
        (STRINGS, [["a"], [b"\xff"]], ValueError, "item 1: .* is not UTF-8"),
        (DICTS, [{"a": 1}, ["a"]], TypeError, "item 1 is a list of str; sequence must"),
        (DICTS, [{"a": 1}, {"b": b"\xff"}], ValueError, "item 1: .* is not UTF-8"),
        (
            DICTS,
            [{}, {"a": None}],
            TypeError,
            "item 1: feature 'a' has a value",
        ),
        (DICTS, [{"a": float("nan")}], ValueError, "item 0: feature 'a' is NaN"),
        (DICTS, [{}, {"a": 10**400}], ValueError, "item 1: feature 'a'"),
        (DICTS, [{}, {"a": 1e308}], ValueError, "item 1 has features so large"),
    ],
)
def test_wrong_items(model, x, error, message):
    predictor = Predictor.from_estimator(model)
    for answer in (predictor.predict_one, predictor.marginals, predictor.spans):
        if answer != predictor.spans:
            with pytest.raises(error, match=message):
                answer(x)
    with pytest.raises((TypeError, ValueError)):
        model.predict([x])
    # What was read before the error is forgotten.
    right = [["a"], ["c"]] if model is STRINGS else [{"a": 1.0}, {"d": True}]
    assert_same(predictor, model, [right])


@pytest.mark.parametrize("x", ["two words", b"two words", None])
def test_a_sequence_of_tokens_is_a_list_of_them(x):
    tagger = make_tagger(FEATURES, crf()).fit([["a", "b"]], [["A", "B"]])
    with pytest.raises(TypeError, match="^sequence must be a list of tokens, got"):
        Predictor.from_estimator(tagger).predict_one(x)


@pytest.mark.parametrize("n", [0, -1, 1.5, True, "2"])
def test_wrong_numbers_of_paths(n):
    with pytest.raises(ValueError, match="n must be an integer of at least 1"):
        Predictor.from_estimator(STRINGS).n_best([["a"]], n)


def test_no_probabilities_of_the_hinge():
    predictor = Predictor.from_estimator(crf(loss="hinge").fit([[["a"]]], [["O"]]))
    for answer in (predictor.marginals, predictor.spans):
        with pytest.raises(ValueError, match="no probabilities"):
            answer([["a"]])


def test_values_that_call_the_predictor():
    predictor = Predictor.from_estimator(DICTS)

    class Number(float):
        def __float__(self):
            predictor.predict_one([{"b": "c"}] * 99)
            return 1.5

    x = [{"a": Number(), "b": "c"}, {"d": True}]
    assert predictor.predict_one(x) == predictor.predict_one([{**x[0], "a": 1.5}, x[1]])


def test_threads_share_a_predictor():
    estimator, make = MODELS["dicts"]
    X, y, _ = data(make, np.random.default_rng(0))
    predictor = Predictor.from_estimator(estimator.fit(X, y))
    sequences = [make(np.random.default_rng(i), 1 + i % 40) for i in range(200)]
    expected = [(predictor.predict_one(x), predictor.n_best(x, 2)) for x in sequences]

    def run(shift):
        order = np.roll(np.arange(len(sequences)), shift).tolist()
        return [
            (predictor.predict_one(sequences[i]), predictor.n_best(sequences[i], 2))
            == expected[i]
            for i in order
        ]

    interval = sys.getswitchinterval()
    try:
        sys.setswitchinterval(1e-6)
        with ThreadPoolExecutor(8) as threads:
            assert all(all(found) for found in threads.map(run, range(8)))
    finally:
        sys.setswitchinterval(interval)


def test_weights_are_copied():
    model = crf().fit([[["a"], ["b"]]] * 3, [["A", "B"]] * 3)
    predictor = Predictor.from_estimator(model)
    before = predictor.marginals([["a"]]).copy()
    model.coef_[:] = 0.0
    assert_array_equal(predictor.marginals([["a"]]), before)


# Files --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (crf().fit(np.eye(2), ["A", "B"]), "its input format is 'table'"),
        (SequenceVectorizer().fit([[["a"]]]), "no fitted CRF"),
    ],
)
def test_other_models_are_for_load_model(model, message):
    for way in (through_file, Predictor.from_estimator):
        with pytest.raises(ModelFormatError, match=f"{message}.*load_model"):
            way(model)


def set_at(*keys, to):
    def change(model):
        for key in keys[:-1]:
            model = model[key]
        model[keys[-1]] = to

    return change


@pytest.mark.parametrize(
    "change",
    [
        set_at("n_features", to=7),
        set_at("vectorizer", "n_features", to=7),
        set_at("vectorizer", "vocabulary", "numeric", "a", to=3),
        set_at("vectorizer", "vocabulary", "numeric", "a", to=-1),
        set_at("vectorizer", "parameters", to={"dtype": "int8"}),
        set_at("labels", "values", to=["A", "A"]),
        set_at("n_stored", to=1),
    ],
)
def test_forged_documents_are_refused(change, tmp_path):
    save_model(STRINGS, tmp_path / "model")
    as_version_2(tmp_path / "model")
    Predictor.load(tmp_path / "model")
    change_model(tmp_path / "model", change)
    with pytest.raises(ModelFormatError):
        Predictor.load(tmp_path / "model")


@pytest.mark.slow
@pytest.mark.parametrize("name", ["vectorizer", "sparse", "tokens", "compat", "arrays"])
def test_both_readers_refuse_the_same_documents(name):
    estimator, make = MODELS["dicts" if name == "sparse" else name]
    X, y, _ = data(make, np.random.default_rng(0), n=3)
    estimator = clone(estimator).fit(X, y)
    save_model(
        estimator.sparsify() if name == "sparse" else estimator, file := io.BytesIO()
    )
    assert_both_readers_refuse_the_same(file)


@pytest.mark.survives
@pytest.mark.parametrize("sparse", [False, True])
def test_changed_files_are_refused_or_answer(sparse, tmp_path):
    rng = np.random.default_rng(0)
    X, y, new = data(random_dicts, rng, n=5)
    model = crf(alpha=0.1, l1_ratio=0.5, transitions="BIO").fit(X, y)
    save_model(model.sparsify() if sparse else model, tmp_path / "model")
    contents, refused, answered = members(tmp_path / "model"), 0, 0
    for _ in range(300):
        write(tmp_path / "changed", changed_members(contents, rng))
        try:
            predictor = Predictor.load(tmp_path / "changed")
        except ModelFormatError:
            refused += 1
            continue
        for x in new:
            try:
                predictor.predict_one(x)
                predictor.marginals(x)
            except (TypeError, ValueError):
                continue
        answered += 1
    assert refused
    assert answered


@pytest.mark.survives
@pytest.mark.parametrize("name", ["values", "bounds", "labels"])
def test_a_mapped_file_that_is_changed_in_place(name, tmp_path):
    rng = np.random.default_rng(0)
    X, y, new = data(random_strings, rng)
    model = crf(alpha=0.1, l1_ratio=0.5).fit(X, y).sparsify()
    errors = collections.Counter()
    for _ in range(30):
        predictor = through_memory_map(model, tmp_path)
        array = getattr(predictor._model.coef, name)
        # Bounds of 2^40 are far from all memory, and those of a few are not.
        bits = rng.integers(4, 60, size=array.shape)
        place = array.filename, array.dtype, "r+", array.offset, array.shape
        np.memmap(*place)[...] = rng.integers(-(2**bits), 2**bits)
        for x in new:
            try:
                predictor.predict_one(x)
                predictor.marginals(x)
            except ValueError as error:
                errors["changed in place" in str(error)] += 1
    # Bounds are read from the file at each call, labels before the first.
    assert errors[True] > 0 or name != "bounds"


# Imports ------------------------------------------------------------------------------

FRESH = """
import json, sys
from skcrf_sdca.serving import Predictor
for path, x in json.loads(sys.argv[1]):
    predictor = Predictor.load(path)
    predictor.marginals(x), predictor.spans(x), predictor.n_best(x, 2)
    repr(predictor.explain(x, 0))
    heavy = {"sklearn", "scipy", "joblib", "pandas"} & set(sys.modules)
    print(json.dumps([sorted(heavy), predictor.predict_one(x)]))
"""


def test_nothing_but_numpy_is_imported(tmp_path):
    asked, expected = [], []
    for name in (
        *("strings", "tokens", "scheme", "compat", "signals"),
        *("order 2, tokens", "edge features", "label parts"),
        "segments, tokens",
    ):
        estimator, make = MODELS[name]
        X, y, new = data(make, np.random.default_rng(0))
        save_model(estimator.fit(X, y), tmp_path / name)
        asked.append([f"{tmp_path / name}", list(new[3])])
        expected.append([[], Predictor.load(tmp_path / name).predict_one(new[3])])
    printed = numpy_alone.printed(FRESH, json.dumps(asked), alone=False)
    assert list(map(json.loads, printed.splitlines())) == expected


def test_tokens_need_the_columns_alone_that_templates_read():
    features = TokenFeatures(["word"], columns=("word", "_2", "label"))
    X, y = [[("Anna", "-", ""), ("ran", "-", "")]] * 5, [["B-PER", "O"]] * 5
    tagger = make_tagger(features, SDCACRF(random_state=0)).fit(X, y)
    save_model(tagger, file := io.BytesIO())
    for own in Predictor.from_estimator(tagger), Predictor.load(file.getvalue()):
        for tokens in ["Anna", "ran"], [("Anna",), ("ran",)], [*X[0]]:
            assert own.predict_one(tokens) == y[0]
        with pytest.raises(ValueError, match="item 0 .* 2 columns, but must have 3"):
            own.predict_one([("Anna", "-")])
