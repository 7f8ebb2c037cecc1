"""What X may be made of, and what is said of anything else."""

import types

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

from skcrf_sdca.data.input_formats import (
    as_sequence_list,
    check_container,
    input_kind,
    sequence_kind,
)
from skcrf_sdca.data.packed import PackedSequences


def series_of_lists():
    return pd.Series([[["a"], ["b"]], [["a"]]])


@pytest.mark.parametrize(
    ("X", "kind"),
    [
        (PackedSequences(np.zeros((3, 2)), [0, 2, 3]), "packed"),
        ([[{"a": 1}, {}], []], "dicts"),
        (([], ({"a": 1},)), "dicts"),
        ([[types.MappingProxyType({"a": 1})]], "dicts"),
        (np.array([[{"a": 1}, {"a": 2}]], dtype=object), "dicts"),
        ([np.array([{"a": 1}], dtype=object)], "dicts"),
        ([[["a", "b"], []], [("a",), {"b"}]], "strings"),
        ([[["a", "b"], [], ["c"]]], "strings"),
        ([[["a"], [np.str_("b")]]], "strings"),
        ([[[]]], "strings"),
        (np.array([[["a", "b"]]]), "strings"),
        (series_of_lists(), "strings"),
        ((sequence for sequence in [[["a"]]]), "strings"),
        ([np.ones((2, 3)), []], "arrays"),
        ([np.ones((2, 3), dtype=object)], "arrays"),
        ([sp.csr_array((2, 3)), sp.coo_matrix((1, 3))], "arrays"),
        ([pd.DataFrame({"a": [1.0]})], "arrays"),
        ([[[1.0, 2.0]], [[3, 4]]], "arrays"),
        ([[np.ones(2), np.ones(2)]], "arrays"),
        (np.ones((2, 3, 4)), "arrays"),
        (np.ones((2, 3, 4)).tolist(), "arrays"),
        (np.ones((2, 3)), "table"),
        (np.ones((2, 3)).tolist(), "table"),
        (np.ones((2, 3), dtype=object), "table"),
        (list(np.ones((2, 3))), "table"),
        (np.ones(3), "table"),
        ([1.0, 2.0], "table"),
        (np.zeros((0, 3)), "table"),
        (sp.csr_array((2, 3)), "table"),
        (pd.DataFrame({"a": [1.0, 2.0], "b": ["x", "y"]}), "table"),
    ],
)
def test_kinds(X, kind):
    assert input_kind(as_sequence_list(X)) == kind


class OnlyArray:
    def __array__(self, dtype=None, copy=None):
        return np.ones((2, 3))


def test_object_with_nothing_but_array_interface():
    assert input_kind(as_sequence_list(OnlyArray())) == "table"


@pytest.mark.parametrize("X", [[], (), np.empty(0, dtype=object), np.ones((0, 2, 2))])
def test_no_sequences(X):
    with pytest.raises(ValueError, match="0 sequences"):
        input_kind(X)
    assert input_kind(X, default="dicts") == "dicts"


@pytest.mark.parametrize(
    "X", [[[], []], [np.empty((0, 3)), []], PackedSequences(np.ones((0, 2)), [0, 0, 0])]
)
def test_no_items(X):
    with pytest.raises(ValueError, match="2 sequences and 0 items"):
        input_kind(X)
    assert input_kind(X, default="arrays") == "arrays"


@pytest.mark.parametrize(
    ("X", "match"),
    [
        pytest.param([None], "sequence 0 is None", id="None sequence"),
        pytest.param(
            [[{}], [{}], [{}, None]],
            "sequence 2, item 1 is None",
            id="None among dicts",
        ),
        pytest.param(
            [[["a"], None]], "sequence 0, item 1 is None", id="None among strings"
        ),
        pytest.param(["ab"], "sequence 0 is of type str 'ab'", id="str sequence"),
        pytest.param(
            [["foo", "bar"]],
            "item 0 .*item must be a dict or a list of str",
            id="str items",
        ),
        pytest.param(
            np.array([["foo", "bar"]]),
            "item must be a dict",
            id="str items in an array",
        ),
        pytest.param(
            [{"a": 1}, {"b": 1}],
            r"sequence 0 is .*dict.*wrap it in a list",
            id="unwrapped dicts",
        ),
        pytest.param([["a"], ["b"]], "wrap it in a list", id="unwrapped strings"),
        pytest.param(
            [[[{"a": 1}]]], "item 0 is a list of dict", id="nested once too often"
        ),
        pytest.param([[{"a": 1}], [["a"]]], "sequence 1 .*'strings'.*'dicts'", id="1"),
        pytest.param(
            [[{"a": 1}, ["a"]]], "sequence 0, item 1 is a list of str", id="2"
        ),
        pytest.param([np.ones((1, 2)), [{}]], "sequence 1 .*'dicts'.*'arrays'", id="3"),
        pytest.param([[{"a": 1}, 3.0]], "sequence 0, item 1 is of type float", id="4"),
        pytest.param([[["a"], [3.0]]], "item 1 is a list of float, but item 0", id="5"),
        pytest.param([[["a"], [], [None]]], "item 2 is a list of NoneType", id="6"),
        pytest.param([[b"ab"]], "item 0 is of type bytes", id="bytes"),
        pytest.param([{"a", "b"}], "sequence 0 is of type set", id="set"),
        pytest.param(
            [iter([{}])],
            "sequence 0 is of type list_iterator",
            id="iterator as a sequence",
        ),
        pytest.param([np.ones((1, 1, 1))], "sequence 0 is of type ndarray", id="3-D"),
        pytest.param([np.array([["a"]])], "sequence 0 is of type ndarray", id="str"),
        pytest.param(np.ones((1, 1, 1, 1)), "sequence 0 is of type ndarray", id="4-D"),
    ],
)
def test_wrong_sequences(X, match):
    with pytest.raises(TypeError, match=match):
        input_kind(X)


@pytest.mark.parametrize(
    "X",
    [
        *(None, "ab", b"ab", {"a": 1}, {1, 2}, 3, object()),
        *(np.float64(3), np.datetime64("2020")),
    ],
    ids=lambda X: type(X).__name__,
)
@pytest.mark.parametrize("name", ["X", "y"])
def test_wrong_containers(X, name):
    with pytest.raises(TypeError, match=f"{name} must be a list of sequences"):
        as_sequence_list(X, name=name)
    with pytest.raises(TypeError, match=f"{name} must be a list of sequences"):
        check_container(X, name)


def test_messages_stay_short():
    with pytest.raises(TypeError) as caught:
        sequence_kind(["a" * 10**6], 7)
    assert len(str(caught.value)) < 300
    assert "sequence 7" in str(caught.value)
