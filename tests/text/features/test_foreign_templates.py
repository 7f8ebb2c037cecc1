"""Templates of CRF++ and patterns of Wapiti."""

import pytest

from skcrf_sdca.text import LabelPairs, TokenFeatures
from skcrf_sdca.text.features.foreign_templates import foreign_templates, is_foreign

X = [[("Anna", "NNP"), ("saw", "VBD"), ("U2", "CD")]]


def strings(line):
    templates = foreign_templates(line, ["word", "pos"])
    return TokenFeatures(templates, columns=("word", "pos")).transform(X)[0]


@pytest.mark.parametrize(
    ("line", "values"),
    [
        ("U00:%x[0,0]", ["Anna", "saw", "U2"]),
        ("U01:%x[-1,1]", [None, "NNP", "VBD"]),
        ("U05:%x[0,0]/%x[1,1]", ["Anna|VBD", "saw|CD", None]),
        ("u:word lower=%X[ 0,0]", ["anna", "saw", "u2"]),
        ('U:start 2 X=%m[ 0,0,"^.?.?"]', ["An", "sa", "U2"]),
        ('U:Uend=%M[ 0,0,".$"]', ["a", "w", "2"]),
        ('U:is%t[ 0,0,"^\\\\u\\\\l"]', [True, None, None]),
        ('U:digit %t[ 0,0,"\\\\d"]', [None, None, True]),
        ('U:word=%m[0,0,"\\\\w\\\\W*"]', ["A", "s", "U"]),
        ('U:%m[0,1,"N?P"]', ["NP", None, None]),
    ],
)
def test_values_of_lines(line, values):
    line = line.replace("\\\\", "\\")
    assert is_foreign(line)
    found = [row[0] if row else None for row in strings(line)]
    for text, value in zip(found, values, strict=True):
        if value in (None, True):
            assert (text is None) == (value is None)
        else:
            assert text.endswith(f"={value}")


@pytest.mark.parametrize("line", ["U", "B", "*", " B "])
def test_weights_that_every_model_has_are_no_templates(line):
    assert is_foreign(line)
    assert foreign_templates(line, ["word"]) == []


@pytest.mark.parametrize("line", ["B01:%x[0,0]", "*:w=%x[0,0]"])
def test_lines_of_label_pairs(line):
    (template,) = foreign_templates(line, ["word"])
    assert isinstance(template, LabelPairs)


@pytest.mark.parametrize("line", ["Window('word')", "Suffix(3)", "word", "Unit"])
def test_lines_of_this_package_are_not_taken(line):
    assert not is_foreign(line)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("U:%x[0,2]", "it reads column 2, but the columns are 0 to 0: word"),
        ("U:%x[0,0] %x[0]", "such as U01:%x"),
        ("X:%x[0,0]", "such as U01:%x"),
    ],
)
def test_wrong_lines_are_refused(line, message):
    with pytest.raises(ValueError, match=message.replace("[", r"\[")):
        foreign_templates(line, ["word"])
