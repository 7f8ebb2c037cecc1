"""Labels of any type survive the round trip through label numbers."""

import copy
from decimal import Decimal

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal
from scipy.sparse import csr_array
from sklearn.exceptions import DataConversionWarning

from skcrf_sdca.data.label_encoding import (
    decode_labels,
    encode_known_labels,
    encode_labels,
    encode_row_labels,
    flat_labels,
    plain_labels,
)

label_values = st.one_of(
    st.lists(st.text(max_size=3), min_size=1, max_size=8),
    st.lists(st.integers(-(2**70), 2**70), min_size=1, max_size=8),
    st.lists(st.booleans(), min_size=1, max_size=8),
    st.lists(st.binary(max_size=3), min_size=1, max_size=8),
    st.lists(st.tuples(st.integers(), st.text()), min_size=1, max_size=8),
)


@given(label_values, st.integers(0, 8))
def test_labels_round_trip(labels, cut):
    y = [labels[:cut], labels[cut:]]
    lengths = [len(part) for part in y]
    classes, codes = encode_labels(y, lengths)
    assert classes.tolist() == sorted(set(labels))
    assert codes.dtype == np.int32
    back = decode_labels(codes, classes, np.cumsum([0, *lengths]))
    assert back.tolist() == y
    types_back = [type(label) for part in back for label in part]
    assert types_back == [type(label) for label in labels]
    assert_array_equal(encode_known_labels(y, lengths, classes), codes)


@pytest.mark.parametrize(
    ("labels", "dtype"),
    [
        (["a", "bc"], "<U2"),
        ([1, 0], np.int64),
        ([True, False], np.bool_),
        ([2.0, 1.0], np.float64),
        (["a\0", "a"], object),
        ([2**70, 1], object),
    ],
)
def test_dtype_of_classes(labels, dtype):
    assert encode_labels([labels], [2])[0].dtype == np.dtype(dtype)


@pytest.mark.parametrize(
    "make", [list, tuple, np.array, pd.Series], ids=["list", "tuple", "array", "series"]
)
@pytest.mark.parametrize(
    "labels",
    [["b", "a"], [2, 1], [True, False], [1.0, -2.0]],
    ids=["str", "int", "bool", "float"],
)
def test_containers_of_labels_give_plain_values(make, labels):
    classes, codes = encode_labels([make(labels)], [2])
    (back,) = decode_labels(codes, classes, [0, 2])
    assert back == labels
    assert [type(label) for label in back] == [type(label) for label in labels]


@pytest.mark.parametrize(
    ("scalar", "plain"),
    [
        (np.str_("a"), "a"),
        (np.int8(3), 3),
        (np.bool_(True), True),
        (np.float32(2.0), 2.0),
        (np.bytes_(b"a"), b"a"),
    ],
)
def test_numpy_scalars_are_labels_of_the_plain_type(scalar, plain):
    classes, codes = encode_labels([[scalar, plain]], [2])
    assert_array_equal(codes, [0, 0])
    assert type(classes.tolist()[0]) is type(plain)


@pytest.mark.parametrize(
    "labels",
    [
        pytest.param(["", "a"], id="empty str"),
        pytest.param(["A", "A"], id="one label"),
        pytest.param(["A\0x", "A\0y"], id="NUL"),
        pytest.param(["A\0", "A"], id="trailing NUL"),
        pytest.param(["\u00e9", "e\u0301"], id="two normal forms"),
        pytest.param(["a\tb", "a\nb", "a:b"], id="separators"),
        pytest.param(["\ud800", "a"], id="lone surrogate"),
        pytest.param([0, 1], id="int"),
        pytest.param([b"a\0", b"a"], id="bytes"),
        pytest.param([("a", 1), ("b", 2)], id="tuples"),
        pytest.param([np.datetime64(1, "ns"), np.datetime64(2, "ns")], id="dates"),
    ],
)
def test_unusual_labels_round_trip(labels):
    classes, codes = encode_labels([labels], [len(labels)])
    assert len(classes) == len(set(labels))
    assert decode_labels(codes, classes, [0, len(labels)])[0] == labels


def test_array_of_dates_keeps_them():
    dates = np.array([2, 1], dtype="datetime64[ns]")
    classes, codes = encode_labels([dates], [2])
    assert decode_labels(codes, classes, [0, 2])[0] == list(dates)


def test_y_in_one_array_or_generator():
    y = np.array([["a", "b"], ["b", "b"]])
    for form in (y, y.astype(object), iter(y.tolist()), pd.Series(y.tolist())):
        assert_array_equal(encode_labels(form, [2, 2])[1], [0, 1, 1, 1])


def test_decoded_is_one_dimensional_for_equal_lengths():
    decoded = decode_labels(np.array([0, 1, 1, 0]), np.array(["a", "b"]), [0, 2, 4])
    assert decoded.shape == (2,)
    assert decoded.dtype == object
    assert decoded.tolist() == [["a", "b"], ["b", "a"]]


def test_decoded_empty():
    nothing = np.empty(0, dtype=np.int32)
    assert decode_labels(nothing, np.array(["a"]), [0]).shape == (0,)
    decoded = decode_labels(nothing, np.array(["a"]), [0, 0])
    assert decoded.shape == (1,)
    assert decoded[0] == []


@pytest.mark.parametrize(
    ("y", "lengths", "error", "match"),
    [
        pytest.param(
            [["a"], ["a"]],
            [1, 1, 1],
            ValueError,
            "3 .* but y has 2",
            id="fewer sequences",
        ),
        pytest.param(
            [["a"], ["a"] * 3],
            [1, 4],
            ValueError,
            "Sequence 1 has 4 items in X, but 3 labels in y",
            id="fewer labels",
        ),
        pytest.param(None, [1], ValueError, "requires y to be passed", id="no y"),
        pytest.param(
            ["AB"], [2], TypeError, "sequence 0 is of type str 'AB'", id="str of labels"
        ),
        pytest.param("AB", [1, 1], TypeError, "y must be a list", id="y is a str"),
        pytest.param([0, 1], [1, 1], TypeError, "sequence 0 is of type int", id="flat"),
        pytest.param([{"a"}], [1], TypeError, "sequence 0 is of type set", id="set"),
        pytest.param(
            [["A"], ["A", None]],
            [1, 2],
            ValueError,
            "sequence 1, position 1 is None",
            id="None label",
        ),
        pytest.param([[None]], [1], ValueError, "sequence 0, position 0 is", id="None"),
        pytest.param(
            [["A"], [], ["A", 1]],
            [1, 0, 2],
            TypeError,
            "sequence 2, position 1 .*int 1",
            id="mixed types",
        ),
        pytest.param([[1, True]], [2], TypeError, "position 1 .*bool True", id="bool"),
        pytest.param([[1, 1.0]], [2], TypeError, "position 1 .*float 1.0", id="float"),
        pytest.param([["a", b"a"]], [2], TypeError, "one type", id="bytes"),
        pytest.param([[0.5, np.nan]], [2], ValueError, "position 1 .* nan", id="nan"),
        pytest.param([[Decimal("NaN")]], [1], ValueError, "NaN", id="Decimal NaN"),
        pytest.param(
            [[Decimal(1), Decimal("sNaN")]],
            [2],
            ValueError,
            "position 1 .*sNaN",
            id="Decimal that is not compared",
        ),
        pytest.param(
            [[1.0], [2.0, 0.5]],
            [1, 2],
            ValueError,
            "sequence 1, position 1 is of type float 0.5, .* must be whole numbers",
            id="fraction",
        ),
        pytest.param([[float("inf")]], [1], ValueError, "whole", id="infinite label"),
        pytest.param(
            [[np.longdouble(0.5)]], [1], ValueError, "whole", id="long fraction"
        ),
        pytest.param([[["a"]]], [1], TypeError, "hashable and sortable", id="lists"),
        pytest.param([[1j, 2j]], [2], TypeError, "hashable and sortable", id="complex"),
        pytest.param(
            [[np.ones(2), np.ones(2)]],
            [2],
            TypeError,
            "hashable and sortable",
            id="arrays",
        ),
        pytest.param(
            [[csr_array(np.eye(2))]], [1], TypeError, "hashable and sortable", id="CSR"
        ),
        pytest.param([[], []], [0, 0], ValueError, "0 labels", id="no labels"),
    ],
)
def test_wrong_labels(y, lengths, error, match):
    with pytest.raises(error, match=match):
        encode_labels(y, lengths)


def test_unseen_labels_are_minus_one():
    classes, _ = encode_labels([["B", "O"]], [2])
    codes = encode_known_labels([["I", "O"], []], [2, 0], classes)
    assert_array_equal(codes, [-1, 1])
    assert codes.dtype == np.int32
    assert encode_known_labels([[]], [0], classes).shape == (0,)


@pytest.mark.parametrize("label", [1, True, b"B"])
def test_known_labels_of_another_type(label):
    with pytest.raises(TypeError, match="model was fitted on labels of type str"):
        encode_known_labels([[label]], [1], np.array(["B", "O"]))


def test_true_is_not_the_class_one():
    with pytest.raises(TypeError, match="labels of type bool"):
        encode_known_labels([[True]], [1], np.array([0, 1]))


def test_labels_are_not_changed():
    y = [["b", "a"], np.array(["a"])]
    before = copy.deepcopy(y)
    encode_labels(y, [2, 1])
    assert y[0] == before[0]
    assert_array_equal(y[1], before[1])


@given(label_values)
def test_rows_of_a_table_have_the_classes_of_sequences(labels):
    classes, codes, possible = encode_row_labels(labels, [1] * len(labels))
    assert possible is None
    expected, same = encode_labels([labels], [len(labels)])
    assert classes.tolist() == expected.tolist()
    assert classes.dtype == expected.dtype
    assert_array_equal(codes, same)


@pytest.mark.parametrize("dtype", ["i1", ">u4", "?", "f4", "U3", "S3", "M8[D]", object])
def test_rows_keep_the_dtype_of_an_array(dtype):
    y = np.array([1, 0, 1], dtype="M8[D]" if dtype == "M8[D]" else int).astype(dtype)
    classes, codes, possible = encode_row_labels(y, [2, 1])
    assert possible is None
    assert classes.dtype == y.dtype
    assert_array_equal(classes[codes], y)


@pytest.mark.parametrize("y", [[["b"], ["a"]], np.array([["b"], ["a"]], dtype=object)])
def test_a_column_of_labels_of_rows_warns(y):
    with pytest.warns(DataConversionWarning, match="column-vector"):
        assert encode_row_labels(y, [1, 1])[0].tolist() == ["a", "b"]


@pytest.mark.parametrize(
    ("y", "error", "match"),
    [
        (None, ValueError, "requires y to be passed"),
        ("ab", TypeError, "y must be a list"),
        (["a"], ValueError, "X has 2 rows, but y has 1 labels"),
        ([["a", "b"]] * 2, ValueError, "1d array"),
        ([2.0, 0.5], ValueError, "sequence 1, position 0 is .* float 0.5, .* whole"),
        (np.array([np.inf, 1.0], dtype="f4"), ValueError, "float inf, .* whole"),
        (np.array([1j, 2j]), TypeError, "hashable and sortable"),
        (csr_array([[1], [2]]), TypeError, "y is a sparse matrix; pass y.toarray()"),
    ],
)
def test_wrong_labels_of_rows(y, error, match):
    with pytest.raises(error, match=match):
        encode_row_labels(y, [1, 1])


@pytest.mark.parametrize("dtype", ["S1", "U1", bool, int, np.float32, np.complex64])
def test_the_labels_of_an_array_are_plain(dtype):
    labels = np.array([1, 1]).astype(dtype)
    plain = plain_labels(labels)
    assert plain == flat_labels([labels], [2], "y")
    assert type(plain[0]) in (bytes, str, bool, int, float, complex)
