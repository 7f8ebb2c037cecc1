"""Spans whose offsets are wrong: what becomes of them, and what is said."""

import pytest

from pairs import in_one_test
from skcrf_sdca.text.spans import located as home
from skcrf_sdca.text.spans.located import located

TEXT = "Ann ran off. Ann came back to Basel."


def read(spans, said=None, text=TEXT):
    """Return the texts of the spans that are found, and what is wrong."""
    found, faults = located(text, spans, said)
    return [text[b:e] for b, e, _ in found], [fault.what for fault in faults]


@in_one_test(
    ("span", "said", "text", "what"),
    [
        ((0, 3), "Ann", "Ann", None),
        ((0, 3), None, "Ann", None),
        ((0, 4), None, "Ann", None),
        ((3, 8), None, "ran", None),
        # One too far, one too short, and an end that is the last character.
        ((5, 8), "ran", "ran", home.MOVED),
        ((4, 6), "ran", "ran", home.MOVED),
        ((4, 7), "off", "off", home.MOVED),
        ((7, 4), "ran", "ran", home.MOVED),
        ((99, 104), "Basel", "Basel", home.MOVED),
        # Not there, not near, and there twice.
        ((4, 7), "Eve", "ran", home.DIFFERS),
        ((4, 7), "n", "ran", home.DIFFERS),
        ((30, 35), "BASEL", "Basel", None),
        ((30, 36), None, "Basel.", None),
        ((30, 40), None, "Basel.", home.CUT),
        ((36, 40), None, None, home.OUTSIDE),
        ((-3, 3), None, None, home.OUTSIDE),
        ((-3, 3), "Ann", "Ann", home.MOVED),
        ((-500, -495), "Basel", None, home.OUTSIDE),
        ((7, 4), None, None, home.NO_TEXT),
        ((4, 4), None, None, home.NO_TEXT),
        ((3, 4), None, None, home.NO_TEXT),
        ((36, 36), None, None, home.NO_TEXT),
    ],
)
def test_a_span_is_taken_where_its_text_is(span, said, text, what):
    found, faults = read([(*span, "X")], [said])
    assert found == ([] if text is None else [text])
    assert faults == ([] if what is None else [what])


def test_a_text_that_is_far_is_not_taken():
    far = f"ran {'x ' * 200}Eve"
    assert read([(0, 3, "X")], ["Eve"], far) == (["ran"], [home.DIFFERS])


def test_a_text_inside_of_a_word_is_taken_only_if_there_is_no_other():
    assert read([(7, 9, "X")], ["he"], "She said he left") == (["he"], [home.MOVED])
    assert read([(0, 1, "X")], ["\u4f0a"], "\u72ec\u4f0a\u306e")[0] == ["\u4f0a"]


def test_normalised_texts_are_the_same():
    for own, said in [
        ("SARS\u2010CoV\u20102", "SARS CoV 2"),
        ("New\n  York", "new york"),
        ("caf\u00e9", "cafe"),
    ]:
        text = f"in {own}, or"
        assert read([(3, 3 + len(own), "X")], [said], text) == ([own], [])


def test_signs_at_the_ends_are_not_the_same():
    assert read([(0, 4, "X")], ["Ann"], "(Ann) ran") == (["Ann"], [home.MOVED])
    assert read([(0, 1, "X")], ["-"], "+ or -") == (["-"], [home.MOVED])


@pytest.mark.parametrize(
    ("text", "shift"),
    [
        ("\U0001f642\U0001f642 Ann and Bob", 2),
        ("\u00fc\u00fc Ann and Bob", 2),
        ("a\nb\nAnn and Bob", 2),
        ("a\r\nb\r\nAnn and Bob", -2),
    ],
    ids=["UTF-16", "bytes", "ends of lines as two", "ends of lines as one"],
)
def test_other_units_are_found_by_the_texts(text, shift):
    at = text.index("Ann") + shift
    spans = [(at, at + 3, "X"), (at + 8, at + 11, "X")]
    assert read(spans, ["Ann", "Bob"], text) == (["Ann", "Bob"], [])


def test_offsets_that_drift_are_followed():
    """A program that counts too little for each sign falls more and more behind."""
    said = [f"Ann{k}" for k in range(100, 200)]
    text = "".join(f"& {name} ran " for name in said)
    places = [text.index(name) for name in said]
    spans = [(p - 4 * k, p - 4 * k + 6, "X") for k, p in enumerate(places)]
    found, faults = located(text, spans, said)
    assert found == [(p, p + 6, "X") for p in places]
    assert [fault.what for fault in faults] == [home.MOVED] * 99


def test_types_are_needed():
    assert read([(0, 3, None), (4, 7, "")]) == ([], [home.NO_TYPE] * 2)


def test_faults_tell_the_span_as_the_file_has_it():
    _, [fault] = located(TEXT, [(5, 8, "X")], ["ran"])
    assert fault == (home.MOVED, (5, 8, "X"), "ran")


@pytest.mark.parametrize("bad", ["0", 1.5, None])
def test_offsets_are_whole_numbers(bad):
    with pytest.raises(ValueError, match=r"span 1 goes from .* to 3; the characters"):
        located(TEXT, [(0, 3, "X"), (bad, 3, "X")])
