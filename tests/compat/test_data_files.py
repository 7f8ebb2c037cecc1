"""Data files of CRFsuite's command."""

import gzip
import io

import pytest

from skcrf_sdca.compat import read_crfsuite_data
from skcrf_sdca.text import ReadingWarning


def read(text):
    return read_crfsuite_data(io.StringIO(text))


@pytest.mark.parametrize(
    ("field", "name", "value"),
    [
        ("a", "a", 1.0),
        ("a:2.5", "a", 2.5),
        ("a:-1e3", "a", -1000.0),
        (r"a\:2", "a:2", 1.0),
        (r"w=\:", "w=:", 1.0),
        (r"w=\\:2", "w=\\", 2.0),
        (r"\\\:", "\\:", 1.0),
        ("a b", "a b", 1.0),
        ("a:b:3", "a:b", 3.0),
    ],
)
def test_names_values_and_escapes(field, name, value):
    assert read(f"L\t{field}\n") == ([[{name: value}]], [["L"]])


def test_sequences_labels_and_repeated_attributes(tmp_path):
    text = "\ufeffA\ta\ta:2\n\nB\n\tb\n\n\n"
    expected = [[{"a": 3.0}], [{}, {"b": 1.0}]], [["A"], ["B", ""]]
    with pytest.warns(ReadingWarning, match="1 of 3 tokens have the label ''"):
        assert read(text) == expected
    path = tmp_path / "data.gz"
    path.write_bytes(gzip.compress(text.replace("\n", "\r\n").encode()))
    with pytest.warns(ReadingWarning):
        assert read_crfsuite_data(path) == expected


def test_a_value_that_is_no_number_is_named_with_its_line():
    with pytest.raises(ValueError, match=r"line 3: 'x' after the colon of 'w:x'"):
        read("A\ta\n\nA\tw:x\n")
