"""The tagging schemes, and spans against those that regular expressions find."""

import re
from itertools import groupby, pairwise, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from skcrf_sdca.data.tagging_schemes import TAGGING_SCHEMES, is_valid_pair, parse_label
from skcrf_sdca.metrics import extract_spans

# Patterns on the prefixes of consecutive labels of one type: a span that is read
# leniently; a valid span; a valid span after another one of its type.
PATTERNS = {
    "BIO": ("[BI]I*", "BI*", "BI*"),
    "IOB2": ("[BI]I*", "BI*", "BI*"),
    "IOB1": ("[BI]I*", "II*", "BI*"),
    "BIOES": ("[BI]I*E?|E|S", "BI*E|S", "BI*E|S"),
    "BILOU": ("[BI]I*L?|L|U", "BI*L|U", "BI*L|U"),
}
PREFIXES = {"BIO": "BI", "IOB2": "BI", "IOB1": "BI", "BIOES": "BIES", "BILOU": "BILU"}


def alphabet(scheme, types=("X", "Y")):
    return ["O", *(f"{p}-{name}" for p in PREFIXES[scheme] for name in types)]


def slow_spans(labels, scheme, strict=False):
    """Return the spans that the patterns find."""
    lenient, valid, valid_again = PATTERNS[scheme]
    spans, start = [], 0
    for kind, run in groupby(labels, key=lambda x: None if x == "O" else x[2:]):
        prefixes = "".join(label[0] for label in run)
        for match in re.finditer(lenient, prefixes) if kind is not None else ():
            pattern = valid_again if match.start() else valid
            if not strict or re.fullmatch(pattern, match.group()):
                spans.append((kind, start + match.start(), start + match.end()))
        start += len(prefixes)
    return spans


def is_valid(labels, scheme):
    pairs = pairwise([None, *labels, None])
    return all(is_valid_pair(*pair, scheme) for pair in pairs)


@pytest.mark.parametrize(
    ("labels", "spans"),
    [
        ([], []),
        (["O", "O"], []),
        (["B-X", "I-X", "O", "B-X"], [("X", 0, 2), ("X", 3, 4)]),
        (["B-X", "B-X", "I-X"], [("X", 0, 1), ("X", 1, 3)]),
        (["I-X", "I-X"], [("X", 0, 2)]),
        (["O", "I-X", "O"], [("X", 1, 2)]),
        (["B-X", "I-Y", "I-Y"], [("X", 0, 1), ("Y", 1, 3)]),
        (["I-X", "B-X"], [("X", 0, 1), ("X", 1, 2)]),
        (["B", "I", "I-X"], [("", 0, 2), ("X", 2, 3)]),
        (["B-a-b", "I-a-b", "I-a-c"], [("a-b", 0, 2), ("a-c", 2, 3)]),
    ],
)
@pytest.mark.parametrize("scheme", ["BIO", "IOB1"])
def test_spans_by_hand(labels, spans, scheme):
    assert extract_spans(labels, scheme) == spans
    assert extract_spans(np.array(labels, dtype=object), scheme) == spans


@pytest.mark.parametrize(
    ("labels", "spans"),
    [
        (["B-X", "I-X", "E-X", "S-X", "S-Y"], [("X", 0, 3), ("X", 3, 4), ("Y", 4, 5)]),
        (["B-X", "B-X", "E-X"], [("X", 0, 1), ("X", 1, 3)]),
        (["E-X", "I-X", "O", "E-X", "E-X"], [("X", t, t + 1) for t in (0, 1, 3, 4)]),
        (["B-X", "E-Y"], [("X", 0, 1), ("Y", 1, 2)]),
        (["B-X", "S-X"], [("X", 0, 1), ("X", 1, 2)]),
        (["S-X", "E-X"], [("X", 0, 1), ("X", 1, 2)]),
    ],
)
def test_spans_with_marked_ends_by_hand(labels, spans):
    assert extract_spans(labels, "BIOES") == spans
    renamed = [
        {"E": "L", "S": "U"}.get(label[0], label[0]) + label[1:] for label in labels
    ]
    assert extract_spans(renamed, scheme="BILOU") == spans


@pytest.mark.parametrize("strict", [False, True])
@pytest.mark.parametrize("scheme", TAGGING_SCHEMES)
def test_spans_are_those_of_the_patterns(scheme, strict):
    for length in range(4):
        for labels in product(alphabet(scheme), repeat=length):
            expected = slow_spans(labels, scheme, strict)
            assert extract_spans(labels, scheme, strict=strict) == expected


@pytest.mark.parametrize("scheme", TAGGING_SCHEMES)
def test_long_sequences_too(scheme):
    @given(st.lists(st.sampled_from(alphabet(scheme, ("X", "Y", "", "a-b")))))
    def check(labels):
        for strict in (False, True):
            expected = slow_spans(labels, scheme, strict)
            assert extract_spans(labels, scheme, strict=strict) == expected

    check()


@pytest.mark.parametrize("scheme", TAGGING_SCHEMES)
def test_valid_sequences_are_those_that_strictness_leaves_whole(scheme):
    """A sequence is valid if and only if all its spans are valid."""
    for length in range(4):
        for labels in product(alphabet(scheme), repeat=length):
            lenient = extract_spans(labels, scheme)
            whole = extract_spans(labels, scheme, strict=True) == lenient
            assert is_valid(labels, scheme) == whole


@pytest.mark.parametrize("scheme", TAGGING_SCHEMES)
def test_every_layout_of_spans_has_one_valid_sequence(scheme):
    layouts = {}
    for labels in product(alphabet(scheme), repeat=3):
        if is_valid(labels, scheme):
            layouts.setdefault(tuple(extract_spans(labels, scheme)), []).append(labels)
    assert all(len(labels) == 1 for labels in layouts.values())
    assert len(layouts) == count_layouts(3, n_types=2)


def count_layouts(length, n_types):
    """Count the ways to cut a sequence into spans of some type and single "O"."""
    if length == 0:
        return 1
    shorter = [count_layouts(rest, n_types) for rest in range(length)]
    return shorter[-1] + n_types * sum(shorter)


@pytest.mark.parametrize(
    ("scheme", "previous", "following"),
    [
        ("BIO", [None, "O"], "O B-X B-Y end"),
        ("BIO", ["B-X", "I-X"], "I-X B-X B-Y O end"),
        ("IOB1", [None, "O"], "O I-X I-Y end"),
        ("IOB1", ["B-X", "I-X"], "I-X B-X I-Y O end"),
        ("BIOES", [None, "O", "E-X", "S-X"], "O B-X B-Y S-X S-Y end"),
        ("BIOES", ["B-X", "I-X"], "I-X E-X"),
        ("BILOU", [None, "O", "L-X", "U-X"], "O B-X B-Y U-X U-Y end"),
        ("BILOU", ["B-X", "I-X"], "I-X L-X"),
    ],
)
def test_pairs_of_the_documented_table(scheme, previous, following):
    expected = {None if label == "end" else label for label in following.split()}
    for first in previous:
        pairs = {x: is_valid_pair(first, x, scheme) for x in [*alphabet(scheme), None]}
        assert {x for x in pairs if pairs[x]} == expected


@pytest.mark.parametrize(
    ("label", "parsed"),
    [
        ("O", ("O", None)),
        ("B", ("B", "")),
        ("B-", ("B", "")),
        ("I-_", ("I", "_")),
        ("B-a-b", ("B", "a-b")),
        ("B--X", ("B", "-X")),
        ("B-X-", ("B", "X-")),
        ("I-O", ("I", "O")),
        (np.str_("B-X"), ("B", "X")),
    ],
)
def test_type_is_all_after_the_first_dash(label, parsed):
    assert parse_label(label) == parsed


@pytest.mark.parametrize("scheme", ["XML", None, ["BIO"], "bio"])
def test_unknown_schemes_are_named(scheme):
    with pytest.raises(ValueError, match=r"scheme must be one of .*'BIO'"):
        is_valid_pair("O", "O", scheme)
    with pytest.raises(ValueError, match=r"scheme must be one of .*'BIO'"):
        extract_spans(["O"], scheme)


@pytest.mark.parametrize("label", ["PER", "E-PER", "", "-X", "BI-X", "o", "B_X", "O-X"])
def test_a_label_of_no_scheme_is_named_with_its_place(label):
    message = f"item 1: Label '{label}' is not of the scheme 'BIO': it must be 'O', 'B-"
    with pytest.raises(ValueError, match=message):
        extract_spans(["O", label])
    with pytest.raises(ValueError, match="must be 'O', 'B-...', 'S-...', 'I-...', 'E-"):
        is_valid_pair("O", "U-X", "BIOES")


@pytest.mark.parametrize("labels", [[1], [None], ["O", ["B-X"]]])
def test_spans_need_labels_of_str(labels):
    with pytest.raises(TypeError, match="sequence 0, item .: Labels of spans must be"):
        extract_spans(labels)


@pytest.mark.parametrize("labels", ["BIO", None, {"B-X": 1}, {"B-X"}, 3])
def test_spans_need_a_list(labels):
    with pytest.raises(TypeError, match="labels must be a list of str such as 'B-PER'"):
        extract_spans(labels)


def test_arrays_and_tuples_are_read_as_lists():
    labels = ["B-X", "I-X", "O"]
    for same in (tuple(labels), np.array(labels), np.array(labels, dtype=object)):
        assert extract_spans(same) == [("X", 0, 2)]
    assert extract_spans([]) == extract_spans(np.array([])) == []
