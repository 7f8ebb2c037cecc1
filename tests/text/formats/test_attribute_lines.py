"""Lines of a label and attributes: what is told, and what is refused."""

import io

import pytest

from skcrf_sdca.text import ReadingWarning, read_corpus


@pytest.mark.parametrize("value", ["nan", "inf", "-inf", "x", ""])
def test_values_are_finite_numbers(value):
    text = f"B\ta:1\nO\tb:{value}\n"
    with pytest.raises(ValueError, match="file, line 2: .* is no finite number; in a "):
        read_corpus(io.StringIO(text), "crfsuite")


def test_items_without_tabs_are_told():
    with pytest.warns(ReadingWarning, match="1 item with a label with blanks.* line 2"):
        read_corpus(io.StringIO("O\nB a:1 b\nO\ta\n"), "crfsuite")


def test_the_place_of_the_label_is_told():
    file = io.StringIO("a B\nb O\n")
    reading = read_corpus(file, "attributes", return_reading=True)[2]
    assert reading.taken["label"] == "the last field of a line"
    assert reading.guesses["label"] == "label"
