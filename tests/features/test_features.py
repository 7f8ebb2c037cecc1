import copy
import pickle
import types
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from decimal import Decimal
from fractions import Fraction
from itertools import chain, pairwise

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn import config_context
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.utils import get_tags
from sklearn.utils._param_validation import InvalidParameterError

from samples import printed_by
from skcrf_sdca.data.packed import PackedSequences
from skcrf_sdca.features.hasher import SequenceHasher
from skcrf_sdca.features.vectorizer import SequenceVectorizer
from strategies import any_dicts, any_strings, dict_items, string_items
from twins import VectorizerTwin

# Values at one position, of at most 1e6, may be summed in another order.
SUM_RTOL = 1e-12
SUM_ATOL = 1e-9


def features_of(item, **params):
    """{name: value} of the features of one item, as fit_transform sees them."""
    vectorizer = SequenceVectorizer(**params)
    (row,) = vectorizer.fit_transform([[item]]).X.toarray()
    names = vectorizer.get_feature_names_out()
    assert len(set(names)) == len(names)
    return {
        name: value for name, value in zip(names, row.tolist(), strict=True) if value
    }


# Features of an item ------------------------------------------------------------------


@pytest.mark.parametrize(
    ("item", "expected"),
    [
        ({"w": "John"}, {"w:John": 1}),
        ({"cap": True, "digit": False}, {"cap": 1}),
        ({"n": 3, "x": -0.5, "zero": 0, "minus": -0.0}, {"n": 3, "x": -0.5}),
        ({"w": ["a", "b"]}, {"w:a": 1, "w:b": 1}),
        ({"w": ("a",)}, {"w:a": 1}),
        ({"w": {"a"}}, {"w:a": 1}),
        ({"w": frozenset({"a"})}, {"w:a": 1}),
        ({"w": []}, {}),
        ({"a": {"b": "c"}}, {"a:b:c": 1}),
        ({"a": {"b": True, "c": {"d": 2.0}}}, {"a:b": 1, "a:c:d": 2}),
        ({"a": {"b": ["c", "d"]}}, {"a:b:c": 1, "a:b:d": 1}),
        ({"a": types.MappingProxyType({"b": 1})}, {"a:b": 1}),
        ({"e": np.array([0.5, 0.0, 2.0])}, {"e[0]": 0.5, "e[2]": 2}),
        ({"e": np.array([True, False])}, {"e[0]": 1}),
        ({"a": {"e": np.array([2])}}, {"a:e[0]": 2}),
        ({"e": np.array([])}, {}),
        (["a", "b"], {"a": 1, "b": 1}),
        (("a=1", "a:1"), {"a=1": 1, "a:1": 1}),
        ({"b", "a"}, {"a": 1, "b": 1}),
        ([], {}),
        pytest.param({"": 1}, {"": 1}, id="empty key"),
        pytest.param([""], {"": 1}, id="empty string"),
        pytest.param({"": ""}, {":": 1}, id="empty key and value"),
        pytest.param(
            ["a\0x", "a\0y", "a\0"],
            {"a\0x": 1, "a\0y": 1, "a\0": 1},
            id="names with NUL",
        ),
        pytest.param({"\ud800": 1}, {"\ud800": 1}, id="surrogate in a key"),
        pytest.param({"a": "\ud800"}, {"a:\ud800": 1}, id="surrogate in a value"),
        pytest.param(["a", "a"], {"a": 2}, id="string twice"),
        pytest.param({"w": ["a", "a"]}, {"w:a": 2}, id="string twice in a dict"),
        pytest.param({"a": {"b": 1}, "a:b": 2}, {"a:b": 3}, id="nested and flat"),
        pytest.param({"a": "nan"}, {"a:nan": 1}, id="nan as a string"),
        pytest.param({"a" * 10**6: 1}, {"a" * 10**6: 1}, id="name of a megabyte"),
    ],
)
def test_features_of_an_item(item, expected):
    assert features_of(item) == expected


@pytest.mark.parametrize(
    "value",
    [
        np.float32(2.5),
        np.float16(2.5),
        np.longdouble(2.5),
        Decimal("2.5"),
        Fraction(5, 2),
    ],
)
def test_types_of_numbers(value):
    assert features_of({"a": value}) == {"a": 2.5}


@pytest.mark.parametrize("value", [np.int64(1), np.uint8(1), np.bool_(True), 1, 1.0])
def test_types_of_ones(value):
    assert features_of({"a": value}) == {"a": 1}


def test_numpy_false_makes_no_entry():
    assert features_of({"a": np.bool_(False), "b": np.float32(0)}) == {}


@pytest.mark.parametrize(
    "item", [{"a": np.str_("b")}, {np.str_("a"): "b"}, {"a": [np.str_("b")]}]
)
def test_numpy_strings_are_strings(item):
    vectorizer = SequenceVectorizer().fit([[item]])
    assert vectorizer.get_feature_names_out().tolist() == ["a:b"]
    ((key, values),) = vectorizer.vocabulary_["categorical"].items()
    assert (type(key), type(next(iter(values)))) == (str, str)
    assert vectorizer.transform([[{"a": "b"}]]).X.nnz == 1
    again = SequenceVectorizer().fit([[{"a": "b"}]]).transform([[item]])
    assert again.X.nnz == 1


def test_one_name_three_features():
    X = [[{"a:b": 1}, {"a": "b"}, {"a=b": 1}]]
    vectorizer = SequenceVectorizer()
    assert_array_equal(vectorizer.fit_transform(X).X.toarray(), np.eye(3))
    assert_array_equal(vectorizer.transform(X).X.toarray(), np.eye(3))
    names = vectorizer.get_feature_names_out()
    assert names.tolist() == ["a:b", "a:b", "a=b"]


def test_a_component_is_not_the_number_of_that_name():
    X = [[{"a[0]": 1}, {"a": np.array([1.0])}]]
    assert_array_equal(SequenceVectorizer().fit_transform(X).X.toarray(), np.eye(2))


# Wrong values -------------------------------------------------------------------------


def in_second_sequence(item):
    good = {} if isinstance(item, dict) else []
    return [[good], [good, item]]


WRONG_ITEMS = [
    pytest.param({"a": np.nan}, ValueError, "feature 'a' is NaN", id="NaN"),
    pytest.param({"a": np.float32("nan")}, ValueError, "'a' is NaN", id="NaN of NumPy"),
    pytest.param({"a": {"b": np.nan}}, ValueError, "'a:b' is NaN", id="nested NaN"),
    pytest.param({"a": Decimal("nan")}, ValueError, "'a' is NaN", id="NaN of Decimal"),
    pytest.param(
        {"e": np.array([0, np.nan])},
        ValueError,
        r"'e\[1\]' is NaN",
        id="NaN in an array",
    ),
    pytest.param({"a": np.inf}, ValueError, "'a' is infinity", id="infinity"),
    pytest.param({"a": -np.inf}, ValueError, "'a' is infinity", id="minus infinity"),
    pytest.param(
        {"e": np.array([np.inf])},
        ValueError,
        r"'e\[0\]' is infinity",
        id="infinity in an array",
    ),
    pytest.param({"a": None}, TypeError, "feature 'a' .*NoneType", id="None"),
    pytest.param({"a": 1j}, TypeError, "feature 'a' .*complex", id="complex"),
    pytest.param({"a": (1, 2)}, TypeError, "1 is of type int", id="tuple of int"),
    pytest.param({"a": {1, "b"}}, TypeError, "1 is of type int", id="set with an int"),
    pytest.param(
        {"a": [["b"]]}, TypeError, r"\['b'\] is of type list", id="nested list"
    ),
    pytest.param({"a": object()}, TypeError, "feature 'a' .*object", id="object"),
    pytest.param({"a": b"\xff"}, ValueError, "is not UTF-8", id="bytes"),
    pytest.param({b"\xff": 1.0}, ValueError, "is not UTF-8", id="bytes as a key"),
    pytest.param({"a": bytearray(b"b")}, TypeError, "'a' .*bytearray", id="bytearray"),
    pytest.param({"a": np.ones((1, 2))}, TypeError, r"'a' .*\(1, 2\)", id="2-D"),
    pytest.param({"a": np.array(1.0)}, TypeError, r"'a' .*\(\)", id="0-D"),
    pytest.param({"a": np.array(["b"])}, TypeError, "'a' .*<U1", id="str array"),
    pytest.param({"a": 10**400}, ValueError, "too large", id="int beyond float"),
    pytest.param({1: "a"}, TypeError, "1 is of type int", id="int key of a str"),
    pytest.param({1: 2.0}, TypeError, "1 is of type int", id="int key of a number"),
    pytest.param({1: True}, TypeError, "1 is of type int", id="int key of True"),
    pytest.param({1: False}, TypeError, "1 is of type int", id="int key of False"),
    pytest.param({1: 0.0}, TypeError, "1 is of type int", id="int key of zero"),
    pytest.param({1: ["a"]}, TypeError, "1 is of type int", id="int key of a list"),
    pytest.param(
        {None: {"a": 1}},
        TypeError,
        "None is of type None",
        id="None as the key of a dict",
    ),
    pytest.param({"a": {1: "a"}}, TypeError, "1 is of type int", id="nested int key"),
    pytest.param(["a", 1], TypeError, "1 is of type int", id="number in a list"),
    pytest.param(["a", None], TypeError, "None is of type", id="None in a list"),
    pytest.param(["a", {"b": 1}], TypeError, "is of type dict", id="dict in a list"),
    pytest.param(["a", b"\xff"], ValueError, "is not UTF-8", id="bytes in a list"),
]


@pytest.mark.parametrize("fitted", [False, True], ids=["fit", "transform"])
@pytest.mark.parametrize(("item", "error", "match"), WRONG_ITEMS)
def test_wrong_items_are_named(item, error, match, fitted):
    X = in_second_sequence(item)
    call = SequenceVectorizer().fit
    if fitted:
        known = {"a": "b", "a:b": 1.0} if isinstance(item, dict) else ["a"]
        call = SequenceVectorizer().fit([[known]]).transform
    with pytest.raises(error, match=f"sequence 1, item 1: .*{match}"):
        call(X)


BYTES = [
    ([[b"a", "b\xe9"], ["b\xe9".encode()]], [["a", "b\xe9"], ["b\xe9"]]),
    ([{b"b", b"a"}, ("b",)], [{"a", "b"}, ("b",)]),
    (
        [{b"w": "\xe9".encode(), b"n": 2, "t": True}, {"w": "\xe9", b"t": False}],
        [{"w": "\xe9", "n": 2, "t": True}, {"w": "\xe9", "t": False}],
    ),
    (
        [{"s": [b"x", "y"], b"d": {b"e": np.bytes_(b"f"), b"g": np.ones(2)}}],
        [{"s": ["x", "y"], "d": {"e": "f", "g": np.ones(2)}}],
    ),
]


@pytest.mark.parametrize(("sequence", "text"), BYTES)
def test_bytes_are_text_in_utf8(sequence, text):
    expected = SequenceVectorizer().fit([text])
    vectorizer = SequenceVectorizer().fit([sequence])
    assert vectorizer.vocabulary_ == expected.vocabulary_
    rows = expected.transform([text]).X.toarray()
    for fitted in (vectorizer, expected):
        assert_array_equal(fitted.transform([sequence]).X.toarray(), rows)
    hasher = SequenceHasher(n_features=64)
    hashed = [hasher.transform([x]).X.toarray() for x in (sequence, text)]
    assert_array_equal(*hashed)


@pytest.mark.parametrize("value", [np.ones(1), np.ones(3), np.ones(0)])
def test_length_of_a_vector_is_that_of_fit(value):
    X = [[{"e": np.ones(2)}, {"e": value}]]
    match = f"item 1: feature 'e' is an array of {len(value)} values, but had 2"
    with pytest.raises(ValueError, match=match):
        SequenceVectorizer().fit(X)
    vectorizer = SequenceVectorizer().fit([[{"e": np.ones(2)}]])
    with pytest.raises(ValueError, match=match):
        vectorizer.transform(X)


WRONG_X = [
    pytest.param(None, TypeError, "X must be a list of sequences", id="None"),
    pytest.param("ab", TypeError, "X must be a list of sequences", id="str"),
    pytest.param({"a": 1}, TypeError, "X must be a list of sequences", id="dict"),
    pytest.param(np.array(1), TypeError, "X must be a list of sequences", id="0-D"),
    pytest.param([None], TypeError, "sequence 0 is None", id="None sequence"),
    pytest.param(
        [[{}], [{}, None]], TypeError, "sequence 1, item 1 is None", id="None item"
    ),
    pytest.param(["ab"], TypeError, "sequence 0 is of type str", id="str sequence"),
    pytest.param(
        [["ab"]], TypeError, "item must be a dict or a list of str", id="str item"
    ),
    pytest.param([{"a": 1}], TypeError, "wrap it in a list", id="unwrapped dicts"),
    pytest.param(
        [[[{"a": 1}]]],
        TypeError,
        "item 0 is a list of dict",
        id="nested once too often",
    ),
    pytest.param([[{}], [["a"]]], TypeError, "sequence 1 .*lists of str", id="mixed"),
    pytest.param([np.ones((1, 2))], TypeError, "sequence 0 holds rows", id="arrays"),
    pytest.param(np.ones((1, 2)), TypeError, "sequence 0 holds numbers", id="table"),
    pytest.param(
        PackedSequences(np.ones((1, 2)), [0, 1]),
        TypeError,
        "holds rows of numbers",
        id="packed",
    ),
]


@pytest.mark.parametrize(("X", "error", "match"), WRONG_X)
def test_wrong_input(X, error, match):
    with pytest.raises(error, match=match):
        SequenceVectorizer().fit(X)
    with pytest.raises(error, match=match):
        SequenceVectorizer().fit([[{"a": 1}]]).transform(X)


@pytest.mark.parametrize("X", [[], iter([]), [[], []]])
def test_nothing_to_fit(X):
    with pytest.raises(ValueError, match="sequences and 0 items"):
        SequenceVectorizer().fit(X)


def test_transform_takes_the_input_format_seen_in_fit():
    dicts, strings = [[{"a": 1}]], [[["a"]]]
    vectorizer = SequenceVectorizer().fit(dicts)
    assert vectorizer.input_format_ == "dicts"
    with pytest.raises(TypeError, match="sequence 1 is a list of lists of str, .*fit"):
        vectorizer.transform(dicts + strings)
    assert vectorizer.fit(strings).input_format_ == "strings"
    with pytest.raises(TypeError, match="sequence 0 is a list of dicts, .*fit"):
        vectorizer.transform(dicts)


def test_zeros_make_no_entries():
    X = [[{"a": 0, "b": np.array([0.0, 2.0]), "c:d": 1, "c": {"d": -1}, "e": 1e-60}]]
    vectorizer = SequenceVectorizer(dtype=np.float32)
    assert vectorizer.fit_transform(X).X.nnz == 1
    assert vectorizer.get_feature_names_out().tolist() == ["b[1]"]
    assert vectorizer.transform(X).X.nnz == 1


def test_float32_overflow_is_an_error():
    with pytest.raises(ValueError, match="infinity: sequence 0, position 1"):
        SequenceVectorizer(dtype=np.float32).fit([[{}, {"a": 1e308}]])


# Sequences ----------------------------------------------------------------------------

X_TRAIN = [
    [{"w": "the", "n": 2.0}, {"w": "dog", "up": True}],
    [],
    [{"w": "the", "e": np.array([0.0, 1.5])}],
]
TRAIN_NAMES = ["w:the", "n", "w:dog", "up", "e[1]"]
TRAIN_ROWS = [[1, 2, 0, 0, 0], [0, 0, 1, 1, 0], [1, 0, 0, 0, 1.5]]


@pytest.mark.parametrize(
    "make",
    [
        list,
        tuple,
        iter,
        pd.Series,
        lambda X: map(tuple, X),
        lambda X: (np.array(sequence, dtype=object) for sequence in X),
        lambda X: np.array([*X, None], dtype=object)[:-1],
    ],
    ids=["list", "tuple", "iterator", "series", "tuples", "arrays", "array"],
)
def test_containers_of_sequences(make):
    vectorizer = SequenceVectorizer()
    packed = vectorizer.fit_transform(make(X_TRAIN))
    assert vectorizer.get_feature_names_out().tolist() == TRAIN_NAMES
    assert_array_equal(packed.X.toarray(), TRAIN_ROWS)
    assert_array_equal(packed.lengths, [2, 0, 1])
    assert_array_equal(vectorizer.transform(make(X_TRAIN)).X.toarray(), TRAIN_ROWS)


def test_output_form():
    packed = SequenceVectorizer().fit_transform(X_TRAIN)
    assert packed.X.has_canonical_format
    assert packed.X.data.dtype == np.float64
    assert packed.X.indices.dtype == np.int32


def test_unseen_features_are_as_absent():
    vectorizer = SequenceVectorizer().fit(X_TRAIN)
    item = {"w": "the", "n": 2.0}
    unseen = {"w2": "the", "n2": 1.0, "up2": True, "e2": np.ones(7), "l": ["a"]}
    packed = vectorizer.transform([[item, {**unseen, **item}, {"w": "cat"}]])
    assert_array_equal(packed.X.toarray(), [TRAIN_ROWS[0], TRAIN_ROWS[0], [0] * 5])
    strings = SequenceVectorizer().fit([[["a"]]])
    assert_array_equal(strings.transform([[["a", "b"], ["c"]]]).X.toarray(), [[1], [0]])


def test_transform_does_not_change_the_vocabulary():
    vectorizer = SequenceVectorizer().fit(X_TRAIN)
    before = copy.deepcopy(vectorizer.vocabulary_)
    vectorizer.transform([[{"w": "cat", "k": "v", "x": 2.0, "f": np.ones(2)}]])
    assert vectorizer.vocabulary_ == before


@pytest.mark.parametrize("X", [[], [[]], [[], []]])
def test_transform_nothing(X):
    packed = SequenceVectorizer().fit(X_TRAIN).transform(X)
    assert (len(packed), packed.n_positions, packed.n_features) == (len(X), 0, 5)


def test_items_without_features():
    vectorizer = SequenceVectorizer()
    packed = vectorizer.fit_transform([[{}, {"a": 0}]])
    assert packed.X.shape == (2, 0)
    assert vectorizer.get_feature_names_out().shape == (0,)
    assert SequenceVectorizer().fit_transform([[[], []]]).X.shape == (2, 0)


def test_x_is_not_changed():
    X = copy.deepcopy(X_TRAIN)
    SequenceVectorizer().fit(X).transform(X)
    np.testing.assert_equal(X, X_TRAIN)


def plain_features(item, prefix=""):
    """Return {feature: value} of an item, by a plain reading of the documentation."""
    if not isinstance(item, dict):
        return Counter(item)
    features = Counter()
    for key, value in item.items():
        name = prefix + key
        if isinstance(value, str):
            features["categorical", name, value] += 1
        elif isinstance(value, dict):
            for feature, inner in plain_features(value, name + ":").items():
                features[feature] += inner
        elif isinstance(value, (list, frozenset)):
            for string in value:
                features["categorical", name, string] += 1
        else:
            features["numeric", name] += value
    return features


@given(
    st.one_of(
        st.lists(st.lists(dict_items, max_size=3), min_size=1, max_size=4),
        st.lists(st.lists(string_items, max_size=3), min_size=1, max_size=4),
    ).filter(any),
    st.integers(1, 3),
)
def test_equal_to_the_plain_definition(X, min_freq):
    expected = [plain_features(item) for sequence in X for item in sequence]
    counts = Counter(f for row in expected for f, value in row.items() if value)
    kept = {f for f, count in counts.items() if count >= min_freq}

    vectorizer = SequenceVectorizer(min_freq=min_freq)
    packed = vectorizer.fit_transform(X)
    numbers = dict(vectorizer.vocabulary_["numeric"])
    if vectorizer.input_format_ == "dicts":
        numbers = {("numeric", key): number for key, number in numbers.items()}
        for key, table in vectorizer.vocabulary_["categorical"].items():
            numbers |= {("categorical", key, v): number for v, number in table.items()}
    assert set(numbers) == kept
    assert sorted(numbers.values()) == list(range(vectorizer.n_features_out_))

    table = np.zeros((len(expected), len(kept)))
    for position, row in enumerate(expected):
        for feature in kept & set(row):
            table[position, numbers[feature]] = row[feature]
    assert_allclose(packed.X.toarray(), table, rtol=SUM_RTOL, atol=SUM_ATOL)
    assert_array_equal(packed.lengths, [len(sequence) for sequence in X])
    again = vectorizer.transform(X)
    assert_array_equal(again.X.toarray(), packed.X.toarray())


def rows_of(packed):
    """Return [(number, value), ...] of each position, in stored order."""
    X = packed.X
    pairs = list(zip(X.indices.tolist(), X.data.tolist(), strict=True))
    return [pairs[start:stop] for start, stop in pairwise(X.indptr.tolist())]


def numbers_of(vectorizer):
    """Return {(table, key, what): number} in the order of each table."""
    vocabulary = vectorizer.vocabulary_
    numbers = {("numeric", k, None): j for k, j in vocabulary["numeric"].items()}
    for key, table in vocabulary["categorical"].items():
        numbers |= {("categorical", key, value): j for value, j in table.items()}
    for key, block in vocabulary["vectors"].items():
        numbers |= {("vectors", key, i): j for i, j in enumerate(block) if j >= 0}
    return numbers


def check_against_twin(X, X_new, **params):
    vectorizer, twin = SequenceVectorizer(**params), VectorizerTwin(**params)
    assert rows_of(vectorizer.fit_transform(X)) == twin.fit_transform(list(chain(*X)))
    assert numbers_of(vectorizer) == twin.numbers
    for table in vectorizer.vocabulary_["categorical"].values():
        assert list(table.values()) == sorted(table.values())
    assert rows_of(vectorizer.transform(X_new)) == twin.transform(list(chain(*X_new)))
    return vectorizer


@given(
    st.sampled_from([any_dicts, any_strings]).flatmap(
        lambda items: st.tuples(
            st.lists(st.lists(items, max_size=3), min_size=1, max_size=4).filter(any),
            st.lists(st.lists(items, max_size=2), max_size=2),
        )
    ),
    st.integers(1, 2),
    st.sampled_from([np.float64, np.float32]),
)
def test_equal_to_the_twin(both, min_freq, dtype):
    check_against_twin(*both, min_freq=min_freq, dtype=dtype)


@pytest.mark.parametrize("n_names", [1, 60, 3000])
def test_long_items_are_equal_to_the_twin(n_names):
    random = np.random.default_rng(n_names)

    def item():
        names = [f"name {j}" for j in random.integers(n_names, size=1000)]
        values = random.standard_normal(len(names)).tolist()
        numbers = {f"a:{name}": v for name, v in zip(names, values, strict=True)}
        return names, {
            **numbers,
            "a": dict(zip(names, values, strict=True)),
            "b": names,
        }

    items = [item() for _ in range(6)]
    for X in zip(*items, strict=True):
        check_against_twin([X[:2], X[2:4]], [X[4:]])


class Hostile(str):
    """A name whose comparison, hash and text raise errors."""

    __slots__ = ()

    def __hash__(self):
        raise RuntimeError

    def __eq__(self, other):
        raise RuntimeError

    def __str__(self):
        return "wrong"


def test_what_a_subclass_of_str_adds_does_not_matter():
    X = [[[Hostile("a"), "b", Hostile("b")], {"c"}]]
    vectorizer = SequenceVectorizer()
    assert rows_of(vectorizer.fit_transform(X)) == [[(0, 1), (1, 2)], [(2, 1)]]
    assert vectorizer.vocabulary_["numeric"] == {"a": 0, "b": 1, "c": 2}


class Meddler(float):
    """A number that changes its container when it is read."""

    def __new__(cls, change):
        number = super().__new__(cls, 1.0)
        number.change = change
        return number

    def __float__(self):
        self.change()
        return 1.0


def test_a_dict_that_changes_while_it_is_read():
    item = {"b": "c"}
    item["a"] = Meddler(lambda: item.update(d=1))
    item["e"] = 2
    with pytest.raises(RuntimeError, match="changed size during iteration"):
        SequenceVectorizer().fit([[item]])


def test_a_sequence_that_shrinks_while_it_is_read():
    sequence = [{"a": Meddler(lambda: sequence.clear())}, {"b": 1}]
    assert SequenceVectorizer().fit_transform([sequence]).n_positions == 1


def nested(depth):
    item = {"b": 1}
    for _ in range(depth):
        item = {"a": item}
    return item


def test_dicts_may_be_nested_deeply_but_not_without_end():
    assert features_of(nested(500)) == {"a:" * 500 + "b": 1}
    endless = {}
    endless["a"] = endless
    for item in (endless, nested(5000)):
        with pytest.raises(ValueError, match="item 1: dicts are nested more than"):
            SequenceVectorizer().fit([[{}, item]])


def test_the_output_keeps_no_spare_room():
    X = SequenceVectorizer().fit_transform([[["a", "b"]] * 1000]).X
    assert (len(X.data), len(X.indices), len(X.indptr)) == (2000, 2000, 1001)
    assert X.data.base.nbytes == X.data.nbytes


@given(st.lists(dict_items, min_size=1, max_size=3), st.randoms())
def test_order_of_keys_only_permutes_features(sequence, random):
    def shuffled(item):
        keys = list(item)
        random.shuffle(keys)
        return {key: item[key] for key in keys}

    first, second = SequenceVectorizer().fit([sequence]), SequenceVectorizer()
    packed = second.fit_transform([[shuffled(item) for item in sequence]])
    assert second.n_features_out_ == first.n_features_out_
    order = []
    tables = (first.vocabulary_, second.vocabulary_)
    for key, number in tables[0]["numeric"].items():
        order.append((number, tables[1]["numeric"][key]))
    for key, table in tables[0]["categorical"].items():
        other = tables[1]["categorical"][key]
        order.extend((number, other[value]) for value, number in table.items())
    columns = [there for _, there in sorted(order)]
    assert_allclose(
        packed.X.toarray()[:, columns],
        first.transform([sequence]).X.toarray(),
        rtol=SUM_RTOL,
        atol=SUM_ATOL,
    )


def test_parameters_of_a_hasher_are_checked_as_scikit_learn_is_told():
    hasher = SequenceHasher(n_features=0)
    with pytest.raises(InvalidParameterError, match="'n_features'"):
        hasher.fit()
    with config_context(skip_parameter_validation=True):
        assert hasher.partial_fit() is hasher


@pytest.mark.slow
def test_hash_seed_does_not_matter():
    code = (
        "from skcrf_sdca.features.vectorizer import SequenceVectorizer as V\n"
        "words = {'w%d' % i for i in range(50)}\n"
        "print(V().fit([[words]]).get_feature_names_out().tolist())\n"
        "print(V().fit([[{'k': words}]]).get_feature_names_out().tolist())\n"
        "from skcrf_sdca.text import ArcFeatures\n"
        "(arcs,) = ArcFeatures(['h.word m.word']).transform([['a', 'b']])\n"
        "print(arcs.indices.tolist())\n"
    )
    here, there = printed_by(code)
    assert here == there != ""


# Parameters ---------------------------------------------------------------------------


def test_min_freq_counts_positions_and_renumbers():
    X = [[["a", "a"], ["b"], ["c", "b"]], [["c"], ["c"]]]
    vectorizer = SequenceVectorizer(min_freq=2)
    packed = vectorizer.fit_transform(X)
    assert vectorizer.vocabulary_["numeric"] == {"b": 0, "c": 1}
    expected = [[0, 0], [1, 0], [1, 1], [0, 1], [0, 1]]
    assert_array_equal(packed.X.toarray(), expected)
    assert_array_equal(vectorizer.transform(X).X.toarray(), expected)


def test_min_freq_in_dicts_and_vectors():
    X = [[{"w": "a", "e": np.array([0.0, 1.0, 0.0])}, {"w": "b", "x": 1.0}]]
    X += [[{"w": "b", "x": 0.0, "e": np.array([0.0, 2.0, 3.0])}]]
    vectorizer = SequenceVectorizer(min_freq=2)
    packed = vectorizer.fit_transform(X)
    assert vectorizer.get_feature_names_out().tolist() == ["e[1]", "w:b"]
    assert vectorizer.vocabulary_ == {
        "numeric": {},
        "categorical": {"w": {"b": 1}},
        "vectors": {"e": [-1, 0, -1]},
    }
    assert_array_equal(packed.X.toarray(), [[1, 0], [0, 1], [2, 1]])
    assert_array_equal(vectorizer.transform(X).X.toarray(), [[1, 0], [0, 1], [2, 1]])


def test_float32_rounds_values_as_an_array_would():
    value = features_of({"a": 0.1}, dtype=np.float32)["a"]
    assert value == float(np.float32(0.1))
    assert value != 0.1


@pytest.mark.parametrize(
    "params",
    [
        {"min_freq": 0},
        {"min_freq": -1},
        {"min_freq": 1.5},
        {"min_freq": "1"},
        {"dtype": np.int64},
        {"dtype": "float16"},
    ],
)
@pytest.mark.parametrize("method", ["fit", "fit_transform"])
def test_parameters_are_checked_in_fit(params, method):
    vectorizer = SequenceVectorizer(**params)
    with pytest.raises(InvalidParameterError):
        getattr(vectorizer, method)(X_TRAIN)


# scikit-learn -------------------------------------------------------------------------


def test_not_fitted():
    with pytest.raises(NotFittedError):
        SequenceVectorizer().transform(X_TRAIN)
    with pytest.raises(NotFittedError):
        SequenceVectorizer().get_feature_names_out()


def test_a_failed_fit_keeps_the_old_state():
    vectorizer = SequenceVectorizer().fit(X_TRAIN)
    before = copy.deepcopy(vectorizer.__dict__)
    with pytest.raises(TypeError):
        vectorizer.fit([[{"new": "feature"}, {"a": None}]])
    assert vectorizer.__dict__ == before


def test_refit_forgets():
    vectorizer = SequenceVectorizer().fit(X_TRAIN).fit([[["a"]]])
    assert vectorizer.get_feature_names_out().tolist() == ["a"]


def is_plain(value):
    if type(value) is dict:
        return all(type(key) is str and is_plain(v) for key, v in value.items())
    if type(value) is list:
        return all(map(is_plain, value))
    return type(value) in (str, int)


def test_fitted_state_is_plain_and_pickles():
    vectorizer = SequenceVectorizer(min_freq=1).fit(X_TRAIN)
    assert is_plain(vectorizer.vocabulary_)
    assert type(vectorizer.n_features_out_) is int
    again = pickle.loads(pickle.dumps(vectorizer))
    assert again.vocabulary_ == vectorizer.vocabulary_
    assert_array_equal(again.transform(X_TRAIN).X.toarray(), TRAIN_ROWS)


def test_a_vocabulary_put_in_place_of_the_learnt_one_is_used():
    vectorizer = SequenceVectorizer().fit([[["a", "b"]]])
    vectorizer.vocabulary_ = {"numeric": {"c": 1}, "categorical": {}, "vectors": {}}
    rows = vectorizer.transform([[["a", "c"], ["b"]]]).X.toarray()
    assert rows.tolist() == [[0.0, 1.0], [0.0, 0.0]]


def test_threads_may_transform_with_one_vectorizer_just_loaded():
    X = [[{"w": f"word{i}", f"n{i % 700}": 2.0}] for i in range(3000)]
    vectorizer = SequenceVectorizer().fit(X)
    expected = vectorizer.transform(X).X
    for _ in range(5):
        loaded = pickle.loads(pickle.dumps(vectorizer))
        with ThreadPoolExecutor(8) as pool:
            for packed in pool.map(lambda _, v=loaded: v.transform(X), range(8)):
                assert (packed.X != expected).nnz == 0


def test_clone_repr_and_tags():
    vectorizer = clone(SequenceVectorizer(min_freq=3))
    assert repr(vectorizer) == "SequenceVectorizer(min_freq=3)"
    tags = get_tags(vectorizer).input_tags
    assert (tags.dict, tags.string, tags.two_d_array) == (True, True, False)
    assert vectorizer.set_output(transform="pandas") is vectorizer
    assert repr(vectorizer.fit_transform(X_TRAIN)).startswith("PackedSequences(")


def test_names_of_any_length_and_any_characters_keep_their_own_numbers():
    letters = ["a", "\x00", "é", "\u0301", "\ud800", "😀"]
    names = ["", *(c * n for c in letters for n in (1, 2, 3, 4, 7, 8, 9, 16, 17, 99))]
    vectorizer = SequenceVectorizer().fit([[names], [[f"x{j}" for j in range(500)]]])
    numbers = vectorizer.vocabulary_["numeric"]
    assert list(numbers)[: len(names)] == names
    assert list(numbers.values()) == list(range(len(names) + 500))
    again = SequenceVectorizer().fit([[["x0"]]])
    again.vocabulary_ = vectorizer.vocabulary_
    again.n_features_out_ = vectorizer.n_features_out_
    for name in names:
        assert again.transform([[[name]]]).X.indices.tolist() == [numbers[name]]


def test_features_removed_by_min_freq_leave_the_others_in_their_order():
    X = [[{"a": "x", "n": 1.0}, {"a": "y", "b": "z"}, {"a": "y", "n": 2.0}]]
    vectorizer = SequenceVectorizer(min_freq=2).fit(X)
    assert vectorizer.vocabulary_ == {
        "numeric": {"n": 0},
        "categorical": {"a": {"y": 1}},
        "vectors": {},
    }


def test_a_list_that_changes_while_it_is_read_does_no_harm():
    names = [f"long name number {i}" for i in range(5)]

    class Cruel:
        @property
        def __class__(self):
            names.clear()
            return str

    names.insert(4, Cruel())
    with pytest.raises(TypeError, match="sequence 0, item 0"):
        SequenceVectorizer().fit([[names]])


def test_a_dict_that_changes_while_it_is_read_is_an_error():
    class Cruel(dict):
        def items(self):
            item.clear()
            return super().items()

    item = {"a": "x", "b": Cruel(c="y"), "d": "z"}
    with pytest.raises(RuntimeError, match="changed size"):
        SequenceVectorizer().fit([[item]])


def test_an_unfitted_vectorizer_has_no_vocabulary():
    with pytest.raises(AttributeError, match="fit"):
        _ = SequenceVectorizer().vocabulary_


@pytest.mark.parametrize("looked_at", [False, True])
def test_rows_are_a_csr_array_once_somebody_asks(looked_at):
    X = [[["b", "a", "b"], []], [], [["c"]]]
    packed = SequenceVectorizer().fit([[["a", "b"]]]).transform(X)
    if looked_at:
        assert packed.X is packed.X
    assert (packed.n_features, packed.n_positions, packed.is_sparse) == (2, 3, True)
    again = pickle.loads(pickle.dumps(packed))
    for found in (again, packed):
        assert_array_equal(found.X.toarray(), [[1.0, 2.0], [0.0, 0.0], [0.0, 0.0]])
        assert found.X.indices.dtype == found.X.indptr.dtype == np.int32
        assert found.X.has_canonical_format
        assert_array_equal(found.offsets, [0, 2, 2, 3])
        for array in (found.offsets, found.X.data, found.X.indices, found.X.indptr):
            assert not array.flags.writeable


@pytest.mark.parametrize(("dtype", "large"), [(np.float32, 1e39), (np.float64, 1e308)])
def test_values_whose_sum_is_infinite_are_refused(dtype, large):
    vectorizer = SequenceVectorizer(dtype=dtype).fit([[{"a": 1.0, "b": {"a": 1.0}}]])
    X = [[{"a": 1.0}], [{}, {"b:a": large, "b": {"a": large}}]]
    with pytest.raises(ValueError, match="infinity: sequence 1, position 1, feature 1"):
        vectorizer.transform(X)
