"""The tagging schemes, and spans against those that regular expressions find.

Labels that are written, converted or repaired are checked against these readings.
"""

import re
from itertools import groupby, pairwise, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from skcrf_sdca import LBFGSCRF
from skcrf_sdca.data.tagging_schemes import (
    TAGGING_SCHEMES,
    get_scheme,
    is_valid_pair,
    labels_come_first,
    parse_label,
)
from skcrf_sdca.metrics import extract_spans, span_f1_score
from skcrf_sdca.text import convert_labels, repair_labels, spans_to_labels

# Patterns on the prefixes of consecutive labels of one type: a span that is read
# leniently; a valid span; a valid span after another one of its type.
PATTERNS = {
    "BIO": ("[BI]I*", "BI*", "BI*"),
    "IOB1": ("[BI]I*", "II*", "BI*"),
    "IO": ("I+", "I+", "I+"),
    "BIOES": ("[BI]I*E?|E|S", "BI*E|S", "BI*E|S"),
    "BILOU": ("[BI]I*L?|L|U", "BI*L|U", "BI*L|U"),
    "BMES": ("[BM]M*E?|E|S", "BM*E|S", "BM*E|S"),
    "BMEWO": ("[BM]M*E?|E|W", "BM*E|W", "BM*E|W"),
    "IOE1": ("I+E?|E", "I+", "I+"),
    "IOE2": ("I+E?|E", "I*E", "I*E"),
}
# A valid span right before another one of its type, where it differs.
BEFORE = {"IOE1": "I*E"}
PREFIXES = {
    "BIO": "BI",
    "IOB1": "BI",
    "IO": "I",
    "BIOES": "BIES",
    "BILOU": "BILU",
    "BMES": "BMES",
    "BMEWO": "BMEW",
    "IOE1": "IE",
    "IOE2": "IE",
}
SCHEMES = sorted(PATTERNS)
OTHER_NAMES = {"IOB2": "BIO", "IOBES": "BIOES", "BILUO": "BILOU", "BMESO": "BMES"}
# The schemes that can describe all spans.
EXACT = [scheme for scheme in SCHEMES if scheme != "IO"]


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
            if match.end() < len(prefixes):
                pattern = BEFORE.get(scheme, pattern)
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
@pytest.mark.parametrize("scheme", SCHEMES)
def test_spans_are_those_of_the_patterns(scheme, strict):
    for length in range(4):
        for labels in product(alphabet(scheme), repeat=length):
            expected = slow_spans(labels, scheme, strict)
            assert extract_spans(labels, scheme, strict=strict) == expected


@pytest.mark.parametrize("scheme", SCHEMES)
def test_long_sequences_too(scheme):
    @given(st.lists(st.sampled_from(alphabet(scheme, ("X", "Y", "", "a-b")))))
    def check(labels):
        for strict in (False, True):
            expected = slow_spans(labels, scheme, strict)
            assert extract_spans(labels, scheme, strict=strict) == expected

    check()


@pytest.mark.parametrize("scheme", SCHEMES)
def test_valid_sequences_are_those_that_strictness_leaves_whole(scheme):
    """A sequence is valid if and only if all its spans are valid."""
    for length in range(4):
        for labels in product(alphabet(scheme), repeat=length):
            lenient = extract_spans(labels, scheme)
            whole = extract_spans(labels, scheme, strict=True) == lenient
            assert is_valid(labels, scheme) == whole


@pytest.mark.parametrize("scheme", EXACT)
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
        ("IO", [None, "O"], "O I-X I-Y end"),
        ("IO", ["I-X"], "I-X I-Y O end"),
        ("BIOES", [None, "O", "E-X", "S-X"], "O B-X B-Y S-X S-Y end"),
        ("BIOES", ["B-X", "I-X"], "I-X E-X"),
        ("BILOU", [None, "O", "L-X", "U-X"], "O B-X B-Y U-X U-Y end"),
        ("BILOU", ["B-X", "I-X"], "I-X L-X"),
        ("BMES", [None, "O", "E-X", "S-X"], "O B-X B-Y S-X S-Y end"),
        ("BMES", ["B-X", "M-X"], "M-X E-X"),
        ("BMEWO", [None, "O", "E-X", "W-X"], "O B-X B-Y W-X W-Y end"),
        ("IOE2", [None, "O", "E-X"], "O I-X E-X I-Y E-Y end"),
        ("IOE2", ["I-X"], "I-X E-X"),
        ("IOE1", [None, "O"], "O I-X E-X I-Y E-Y end"),
        ("IOE1", ["I-X"], "I-X E-X I-Y E-Y O end"),
        ("IOE1", ["E-X"], "I-X E-X"),
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


@pytest.mark.parametrize("scheme", ["XML", None, ["BIO"], "Bio"])
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


# Names --------------------------------------------------------------------------------


def test_every_name_of_a_scheme_in_capitals_and_small_letters():
    names = {*SCHEMES, "TYPES", *OTHER_NAMES}
    assert {name.upper() for name in TAGGING_SCHEMES} == names
    for name in TAGGING_SCHEMES:
        scheme = OTHER_NAMES.get(name.upper(), name.upper())
        assert get_scheme(name) is get_scheme(name.upper()) is get_scheme(scheme)


@pytest.mark.parametrize("name", ["BIOES", "IOBES", "bioes", "iobes"])
def test_other_names_wherever_a_scheme_is_named(name):
    X, y = [[["a"], ["b"], ["c"]]] * 3, [["B-X", "E-X", "S-X"]] * 3
    crf = LBFGSCRF(transitions=name).fit(X, y)
    assert np.isneginf(crf.start_).tolist() == [False, True, False]
    free = LBFGSCRF().fit(X, y).constrain(name)
    assert (np.isneginf(free.transition_) == np.isneginf(crf.transition_)).all()
    assert span_f1_score(y, crf.predict(X), scheme=name) == 1.0
    assert extract_spans(y[0], name) == [("X", 0, 2), ("X", 2, 3)]
    for spans in crf.predict_spans(X), free.predict_spans(X, scheme=name):
        assert [span[:3] for span in spans[0]] == extract_spans(y[0], name)
        (own,) = crf.span_proba(X[:1], [extract_spans(y[0], name)], scheme=name)
        assert own.shape == (2,)


# Types without a prefix ---------------------------------------------------------------


@given(st.lists(st.sampled_from(["O", "PER", "LOC", "B-X"])))
def test_types_without_a_prefix_are_read_and_written_as_those_of_io(labels):
    io = [label if label == "O" else f"I-{label}" for label in labels]
    assert extract_spans(labels, "TYPES") == extract_spans(io, "IO")
    assert convert_labels(labels, "TYPES", "IO") == io
    assert convert_labels(io, "IO", "TYPES") == labels
    spans = extract_spans(labels, "TYPES", strict=True)
    assert spans_to_labels(spans, len(labels), "TYPES") == labels
    assert repair_labels(labels, "TYPES") == (labels, 0)
    assert is_valid(labels, "TYPES")


def test_a_model_of_types_without_a_prefix_has_spans():
    X, y = [[["a"], ["b"], ["c"], ["d"]]], [["PER", "PER", "O", "LOC"]]
    crf = LBFGSCRF(transitions="TYPES").fit(X, y)
    for spans in crf.predict_spans(X)[0], extract_spans(y[0], "types"):
        assert [span[:3] for span in spans] == [("PER", 0, 2), ("LOC", 3, 4)]


@pytest.mark.parametrize("labels", [["B"], ["B-"], ["B-O"]])
def test_types_that_would_be_no_label_are_refused(labels):
    with pytest.raises(ValueError, match="has no label in the scheme 'TYPES'"):
        convert_labels(labels, "BIO", "TYPES")


def test_the_scheme_of_types_is_named_where_a_prefix_is_missing():
    with pytest.raises(ValueError, match="'PER' in place of 'I-PER', are of the sch"):
        extract_spans(["LOC"], "IO")


# Labels that are written --------------------------------------------------------------


@st.composite
def layouts(draw, types=("X", "Y", "", "a-b")):
    """Draw the spans of a sequence, which may touch, and the length of the sequence."""
    spans, length = [], 0
    for gap, size in draw(st.lists(st.tuples(st.integers(0, 2), st.integers(1, 4)))):
        begin = length + gap
        length = begin + size
        spans.append((draw(st.sampled_from(types)), begin, length))
    return spans, length + draw(st.integers(0, 2))


def touch(spans):
    """Return whether two spans of one type touch."""
    return any(a[0] == b[0] and a[2] == b[1] for a, b in pairwise(spans))


@pytest.mark.parametrize("scheme", SCHEMES)
def test_valid_labels_are_written_again_and_not_repaired(scheme):
    for length in range(4):
        for labels in map(list, product(alphabet(scheme), repeat=length)):
            if is_valid(labels, scheme):
                spans = extract_spans(labels, scheme)
                assert spans_to_labels(spans, length, scheme) == labels
                assert repair_labels(labels, scheme) == (labels, 0)


@pytest.mark.parametrize("scheme", SCHEMES)
def test_repaired_labels_are_valid_and_keep_the_spans(scheme):
    for length in range(4):
        for labels in map(list, product(alphabet(scheme), repeat=length)):
            repaired, n_changed = repair_labels(labels, scheme)
            assert is_valid(repaired, scheme)
            assert extract_spans(repaired, scheme) == extract_spans(labels, scheme)
            assert [v[1:] for v in repaired] == [v[1:] for v in labels]
            assert n_changed == sum(map(str.__ne__, labels, repaired))
            assert repair_labels(repaired, scheme) == (repaired, 0)


@pytest.mark.parametrize("scheme", SCHEMES)
def test_long_sequences_are_repaired_too(scheme):
    @given(st.lists(st.lists(st.sampled_from(alphabet(scheme, ("X", "", "a-b"))))))
    def check(y):
        repaired, n_changed = repair_labels(y, scheme)
        assert all(is_valid(labels, scheme) for labels in repaired)
        one_by_one = [repair_labels(labels, scheme) for labels in y]
        assert repaired == [labels for labels, _ in one_by_one]
        assert n_changed == sum(n for _, n in one_by_one)
        assert repair_labels(repaired, scheme) == (repaired, 0)
        assert extract_spans(repaired, scheme, strict=True) == extract_spans(y, scheme)

    check()


@given(layouts(), st.sampled_from(EXACT), st.sampled_from(EXACT), st.randoms())
def test_conversions_keep_the_spans_and_have_a_way_back(layout, source, target, random):
    spans, length = layout
    labels = spans_to_labels(random.sample(spans, len(spans)), length, source)
    assert extract_spans(labels, source, strict=True) == spans
    converted = convert_labels(labels, source, target)
    assert extract_spans(converted, target, strict=True) == spans
    assert converted == spans_to_labels(spans, length, target)
    assert convert_labels(converted, target, source) == labels


@given(layouts(), st.sampled_from(EXACT))
def test_io_is_written_where_it_loses_nothing(layout, scheme):
    spans, length = layout
    labels = spans_to_labels(spans, length, scheme)
    if touch(spans):
        message = (
            r"sequence 0, item \d+ begins a span right after one of its type.*'IO'"
        )
        with pytest.raises(ValueError, match=message):
            convert_labels(labels, scheme, "IO")
        with pytest.raises(ValueError, match=message):
            spans_to_labels(spans, length, "IO")
    else:
        converted = convert_labels(labels, scheme, "IO")
        assert extract_spans(converted, "IO", strict=True) == spans
        assert convert_labels(converted, "IO", scheme) == labels


@given(st.lists(layouts()), st.sampled_from(EXACT), st.sampled_from(EXACT))
def test_lists_of_sequences_are_written_and_read_one_by_one(drawn, source, target):
    spans, lengths = [own for own, _ in drawn], [length for _, length in drawn]
    y = spans_to_labels(spans, lengths, source)
    assert y == [spans_to_labels(*layout, source) for layout in drawn]
    assert extract_spans(y, source) == spans
    converted = convert_labels(y, source, target)
    assert converted == [convert_labels(labels, source, target) for labels in y]


@pytest.mark.parametrize(
    "form", [list, tuple, iter, lambda y: [np.array(v, dtype=object) for v in y]]
)
def test_every_container_of_label_lists(form):
    y = [["I-X", "I-X"], [], ["O", "B-Y"]]
    assert extract_spans(form(y)) == [[("X", 0, 2)], [], [("Y", 1, 2)]]
    assert repair_labels(form(y)) == ([["B-X", "I-X"], [], ["O", "B-Y"]], 1)
    assert convert_labels(form(y[2:]), "BIO", "BIOES") == [["O", "S-Y"]]
    labels, n_changed = repair_labels(np.array(["I-X", "O"]))
    assert (labels, n_changed) == (["B-X", "O"], 1)
    assert {type(label) for label in labels} == {str}


def test_labels_without_a_type_keep_their_form():
    labels = ["B", "I-", "O", "B-"]
    assert convert_labels(labels, "BIO", "BILOU") == ["B", "L-", "O", "U-"]


def test_spans_with_probabilities_are_written_too():
    spans = [("X", 1, 2, 0.5, "word"), ("X", 0, 1, 0.25, "a")]
    assert spans_to_labels(spans, 3, "IOB1") == ["I-X", "B-X", "O"]


def test_labels_that_are_not_valid_are_repaired_on_request_only():
    y = [["O"], ["O", "I-LOC", "I-LOC"]]
    message = (
        "labels: sequence 1, item 1 is 'I-LOC', but a valid sequence of the scheme "
        r"'BIO' has 'B-LOC' there. .* repair_labels\(labels, 'BIO'\)"
    )
    with pytest.raises(ValueError, match=message):
        convert_labels(y, "BIO", "BIOES")
    y, n_changed = repair_labels(y, "BIO")
    assert n_changed == 1
    assert convert_labels(y, "BIO", "BIOES")[1] == ["O", "B-LOC", "E-LOC"]


def test_spans_may_have_their_bounds_first():
    assert spans_to_labels([(0, 2, "PER"), ("LOC", 2, 3)], 3) == [
        "B-PER",
        "I-PER",
        "B-LOC",
    ]


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        (([("X", 0, 3)], 2), ValueError, "sequence 0, span 0 goes from 0 to 3"),
        (([[], [("X", 1, 1)]], [2, 2]), ValueError, "sequence 1, span 0 goes from 1"),
        (([("X", 0, 2), ("Y", 1, 3)], 3), ValueError, "0 to 2 overlaps that from 1 to"),
        (([("X", 0, 2), ("X", 0, 2)], 3), ValueError, "sequence 0: .* overlaps"),
        (([[("X", 0, 1)], [(3, 0, 1)]], [1, 1]), TypeError, "sequence 1, .* a str"),
        (([(0, 1, ["X"])], 2), TypeError, r"span 0 is .* must be .type, begin, end."),
        (([[]], [1, 2]), ValueError, "there are 2 sequences, but spans has 1"),
        (([[]], [-1]), ValueError, "lengths must be the number of items"),
        (([[]], [1.5]), ValueError, "lengths must be the number of items"),
        (([], None), ValueError, "lengths must be the number of items"),
        ((None, 3), TypeError, "spans: sequence 0 must be a list"),
        (([], 3, "BIOSE"), ValueError, "scheme must be one of"),
    ],
)
def test_spans_that_cannot_be_written(arguments, error, message):
    with pytest.raises(error, match=message):
        spans_to_labels(*arguments)


def test_unknown_schemes_of_a_conversion_are_named():
    for source, target in (("Bio", "BIO"), ("BIO", "Bio")):
        name = "source" if source == "Bio" else "target"
        with pytest.raises(ValueError, match=f"{name} must be one of .*'BIOES'"):
            convert_labels(["O"], source, target)


@pytest.mark.parametrize("function", [extract_spans, repair_labels])
def test_places_in_lists_of_sequences(function):
    with pytest.raises(ValueError, match="sequence 1, item 1: Label 'PER' is not of"):
        function([["O"], ["O", "PER"]])
    with pytest.raises(TypeError, match="labels: sequence 1 is of type str 'B-X'"):
        function([["O"], "B-X"])


def test_a_misspelt_scheme_is_told_with_the_nearest():
    with pytest.raises(ValueError, match="got 'bioo'; did you mean 'BIO'"):
        get_scheme("bioo")
    with pytest.raises(ValueError, match="got 'xyz'.$"):
        get_scheme("xyz")


def test_a_label_of_another_form_is_told_with_the_function_that_writes_it():
    for label in "PER_B", "PER-B", "b-per", "BEGIN-PER", "-", "OUT":
        message = f"'{label}' is not .* text.unify_labels writes"
        with pytest.raises(ValueError, match=message):
            parse_label(label)
    with pytest.raises(ValueError, match=r"'E-PER' is not of .*: it must be .*'\.$"):
        parse_label("E-PER")


@pytest.mark.parametrize(
    ("first", "last", "expected"),
    [
        (["B-PER", "O", "W-X-Y"], ["Anna", "lives", "O"], True),
        (["B-PER", "O"], ["B-PER", "O"], False),
        (["B-PER", "O"], ["O", "O"], False),
        (["O", "O"], ["Anna", "lives"], False),
        (["B-PER", "Anna"], ["Anna", "lives"], False),
        (["B-", "O"], ["Anna", "lives"], False),
        (["X-PER", "O"], ["Anna", "lives"], False),
        ([], [], False),
    ],
)
def test_labels_that_come_first(first, last, expected):
    assert labels_come_first(iter(first), iter(last)) is expected
