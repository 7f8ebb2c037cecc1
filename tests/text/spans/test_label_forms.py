import pytest

from pairs import in_one_test
from skcrf_sdca.text import unify_labels

EXPECTED = [["B-PER", "I-PER", "O"], ["O", "B-LOC"]]


@in_one_test("separator", "-_.:/|")
@in_one_test("last", [False, True])
@in_one_test("given", [False, True])
def test_separators_and_suffixes(separator, last, given):
    def written(label):
        parts = label.split("-")
        return separator.join(reversed(parts) if last else parts)

    y = [[written(label) for label in labels] for labels in EXPECTED]
    form = written("B-PER") if given else "auto"
    assert unify_labels(y, form) == EXPECTED


@pytest.mark.parametrize(
    ("labels", "form", "expected"),
    [
        (["begin_PER", "Inside_PER", "other"], "auto", ["B-PER", "I-PER", "O"]),
        (["b-per", "o", "OUT", "_", "-"], "auto", ["B-per", *"OOOO"]),
        (["I-<a>", "<a>", "I-<a>", "<other>"], "auto", ["B-a", "I-a", "B-a", "O"]),
        (["I-<a>", "I-<other>"], "I-<PER>", ["B-a", "O"]),
        (["(A*", "*", "*)", "*", "(B)"], "(PER*", ["B-A", "I-A", "I-A", "O", "B-B"]),
        (["(A)", "(A)"], "auto", ["B-A", "B-A"]),
        (["B", "I", "O"], "auto", ["B", "I", "O"]),
        (["B-a-b", "O"], "auto", ["B-a-b", "O"]),
        (["org.person-B"], "auto", ["B-org.person"]),
        ([], "auto", []),
    ],
)
def test_other_forms(labels, form, expected):
    assert unify_labels(labels, form) == expected
    assert unify_labels([labels], form) == [expected]


def test_spans_in_brackets_end_with_their_sequence():
    assert unify_labels([["(A*"], ["*"]]) == [["B-A"], ["O"]]


@pytest.mark.parametrize(
    ("labels", "form", "message"),
    [
        (["B-PER", "PER"], "auto", "'PER', which is not of the form 'B-PER'.*'TYPES'"),
        (["B-PER"], "B_PER", "'B-PER', which is not of the form 'B_PER'"),
        (["B-PER"], "x", "form must be 'auto' or among"),
    ],
)
def test_labels_in_no_form_are_named(labels, form, message):
    with pytest.raises(ValueError, match=message):
        unify_labels(labels, form)
