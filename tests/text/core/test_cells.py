"""Rows of csv files, and lists in cells."""

import io

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from skcrf_sdca.text.core.cells import csv_rows, listed


def rows(text, delimiter=","):
    lines = enumerate(text.split("\n"), start=1)
    return list(csv_rows("a.csv", lines, delimiter))


def test_quotation_marks_enclose_cells():
    text = 'a,O\n"a,b", "c ""d"""\n"two\n\nlines",x\n5" disk,O\n,"",'
    assert rows(text) == [
        (1, ["a", "O"]),
        (2, ["a,b", 'c "d"']),
        (3, ["two\n\nlines", "x"]),
        (6, ['5" disk', "O"]),
        (7, ["", "", ""]),
    ]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('a,b\n"a"b,c', "a.csv, line 2: after a quotation mark that ends a cell"),
        ('a,b\n",O\nAnna,B\n', "a.csv, line 2: a quotation mark begins a cell that"),
        ('",O\nAnna,B\n"x,O\n', "a.csv, line 3: after a quotation mark"),
    ],
)
def test_wrong_marks_are_named_with_the_line(text, message):
    with pytest.raises(ValueError, match=message):
        rows(text)


TEXTS = st.text('ab", ;\t\r', max_size=6)


@given(st.lists(st.lists(TEXTS, min_size=1, max_size=3), max_size=4))
def test_what_the_module_csv_writes_is_read(table):
    import csv

    file = io.StringIO()
    writer = csv.writer(file, lineterminator="\n", quoting=csv.QUOTE_ALL)
    writer.writerows(table)
    assert [row for _, row in rows(file.getvalue()[:-1])] == (table or [[""]])


def test_a_cell_may_be_long():
    text = f'"{"a" * 200_000}",O'
    assert len(rows(text)[0][1][0]) == 200_000
    many = "\n".join(['"a""b'] + ['c""d'] * 20_000 + ['e",O'])
    assert len(rows(many)) == 1


@pytest.mark.parametrize(
    ("cell", "found"),
    [
        ("['Ada', 'met']", ["Ada", "met"]),
        ('["Ada", "a\\/b", null]', ["Ada", "a/b", None]),
        ("[ 'Ada' \"it's\"\n 'Bo']", ["Ada", "it's", "Bo"]),
        ("['a', ' ', 'b']", ["a", " ", "b"]),
        ("['[' ']']", ["[", "]"]),
        ("[(0, 3, 'PER')]", [(0, 3, "PER")]),
        (
            "[{'start': 0, 'end': 3, 'label': 'PER'}]",
            [{"start": 0, "end": 3, "label": "PER"}],
        ),
        ("[0 1]", [0, 1]),
        ("[]", []),
        (" [1, 2] ", [1, 2]),
        ("[UNK", "[UNK"),
    ],
)
def test_lists_in_cells_are_read(cell, found):
    assert listed(cell) == found


@pytest.mark.parametrize(
    "cell",
    [
        "[UNK]",
        "[...]",
        "[0 0 ... 0]",
        "[['Ada' 'NNP']\n ['met' 'VBD']]",
        "['Ada' 'met'",
        "[{[]: 1}]",
        "[" * 5000 + "]" * 5000,
        "[a\x00]",
        "['a]",
    ],
)
def test_what_is_no_list_is_refused(cell):
    if cell.endswith("]"):
        with pytest.raises(ValueError, match="is no list of Python, JSON or NumPy"):
            listed(cell)
    else:
        assert listed(cell) == cell


@given(st.lists(st.text(max_size=5), min_size=1, max_size=9))
def test_arrays_of_numpy_are_read(words):
    with np.printoptions(threshold=1000):
        assert listed(str(np.array(words))) == np.array(words).tolist()
    assert listed(repr(words)) == words
