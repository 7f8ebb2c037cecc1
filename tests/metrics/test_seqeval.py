"""Span metrics against seqeval, and the cases in which seqeval is wrong."""

import re
import warnings

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from sklearn.exceptions import UndefinedMetricWarning

from skcrf_sdca import metrics
from skcrf_sdca.data.tagging_schemes import is_valid_pair

pytest.importorskip("seqeval")

import seqeval.metrics
import seqeval.metrics.v1
import seqeval.scheme
from seqeval.metrics.sequence_labeling import get_entities

STRICT = {
    "BIO": seqeval.scheme.IOB2,
    "IOB1": seqeval.scheme.IOB1,
    "BIOES": seqeval.scheme.IOBES,
    "BILOU": seqeval.scheme.BILOU,
    "IOE2": seqeval.scheme.IOE2,
}
LENIENT = ("BIO", "IOB1", "BIOES", "IOE2")
PREFIXES = {"BIO": "BI", "IOB1": "BI", "BIOES": "BIES", "BILOU": "BILU", "IOE2": "IE"}
READINGS = [(name, False) for name in LENIENT] + [(name, True) for name in STRICT]
every_reading = pytest.mark.parametrize(("scheme", "strict"), READINGS)


def readable(labels, scheme, strict):
    """Correct the labels that seqeval reads wrong: an invalid "B" of IOB1."""
    if not strict or scheme != "IOB1":
        return labels
    mended = ["O"]
    for label in labels:
        is_valid = is_valid_pair(mended[-1], label, scheme)
        mended.append(label if is_valid else label.replace("B", "I"))
    return mended[1:]


def drawn_pair(data, scheme, strict):
    """Draw (y_true, y_pred) of equal lengths, with empty sequences among them."""
    labels = ["O", *(f"{p}-{x}" for p in PREFIXES[scheme] for x in ("X", "Y", "a-b"))]
    lengths = data.draw(st.lists(st.integers(0, 6), min_size=1, max_size=4))
    size = sum(lengths)
    stops = np.cumsum(lengths).tolist()
    pair = []
    for _ in range(2):
        flat = data.draw(
            st.lists(st.sampled_from(labels), min_size=size, max_size=size)
        )
        cut = [flat[b - n : b] for b, n in zip(stops, lengths, strict=True)]
        pair.append([readable(y, scheme, strict) for y in cut])
    return pair


def seqeval_spans(labels, scheme, strict):
    if strict:
        tokens = seqeval.scheme.Tokens(labels, STRICT[scheme], sent_id=0)
        return [(entity.tag, entity.start, entity.end) for entity in tokens.entities]
    return [(kind, start, last + 1) for kind, start, last in get_entities(labels)]


def seqeval_scores(y_true, y_pred, scheme, strict, **options):
    if strict:
        options["scheme"] = STRICT[scheme]
        return seqeval.metrics.v1.precision_recall_fscore_support(
            y_true, y_pred, **options
        )
    return seqeval.metrics.sequence_labeling.precision_recall_fscore_support(
        y_true, y_pred, **options
    )


@every_reading
def test_spans_are_those_of_seqeval(scheme, strict):
    prefixes = PREFIXES[scheme]
    labels = [
        "O",
        *prefixes,
        *(f"{p}-{x}" for p in prefixes for x in ("X", "Y", "a-b")),
    ]

    @given(st.lists(st.sampled_from(labels), max_size=8))
    def check(labels):
        labels = readable(labels, scheme, strict)
        # seqeval gives a bare prefix the type "_".
        expected = [
            (kind.replace("_", ""), start, stop)
            for kind, start, stop in seqeval_spans(labels, scheme, strict)
        ]
        assert metrics.extract_spans(labels, scheme, strict=strict) == expected

    check()


@every_reading
def test_scores_are_those_of_seqeval(scheme, strict):
    averages = st.sampled_from(["micro", "macro", "weighted", None])

    @given(st.data(), averages, st.sampled_from([0.0, 1.0]))
    def check(data, average, zero_division):
        pair = drawn_pair(data, scheme, strict)
        reading = {"scheme": scheme, "strict": strict}
        options = {"average": average, "zero_division": zero_division}
        scores = metrics.span_precision_recall_fscore(*pair, **reading, **options)
        assume(scores[3].any() if average is None else scores[3])
        expected = seqeval_scores(*pair, **reading, **options)
        for value, reference in zip(scores, expected, strict=True):
            assert_allclose(value, reference, rtol=1e-14)
        singles = (
            metrics.span_precision_score,
            metrics.span_recall_score,
            metrics.span_f1_score,
        )
        for value, single in zip(scores, singles, strict=False):
            assert_allclose(single(*pair, **reading, **options), value, rtol=0)

    check()


@every_reading
def test_reports_are_those_of_seqeval(scheme, strict):
    @given(st.data(), st.sampled_from([2, 4]))
    def check(data, digits):
        pair = drawn_pair(data, scheme, strict)
        reading = {"scheme": scheme, "strict": strict}
        report = metrics.span_classification_report
        dicts = report(*pair, **reading, output_dict=True, zero_division=0.0)
        assume(len(dicts) > 3)
        options = {"zero_division": 0}
        if strict:
            options |= {"mode": "strict", "scheme": STRICT[scheme]}
        reference = seqeval.metrics.classification_report
        expected = reference(*pair, output_dict=True, **options)
        assert list(dicts) == list(expected)
        for row in dicts:
            assert list(dicts[row]) == list(expected[row])
            numbers = [list(rows[row].values()) for rows in (dicts, expected)]
            assert_allclose(*numbers, rtol=1e-14)
        text = report(*pair, **reading, digits=digits, zero_division=0.0)
        expected = reference(*pair, digits=digits, **options)
        # 3/8 is printed as 0.37 or 0.38.
        assert re.sub(r"\d", "0", text) == re.sub(r"\d", "0", expected)
        numbers = [re.findall(r"\d+\.\d+", report) for report in (text, expected)]
        assert_allclose(*np.array(numbers, float), rtol=0, atol=1.01 * 10.0**-digits)

    check()


# Errors of seqeval 1.2.2: labels, scheme, strict, its spans, the correct spans.
WRONG_SPANS = [
    # It counts the rest of an invalid span.
    ("B-X I-X", "IOB1", True, [("X", 1, 2)], []),
    # It loses a valid span before an invalid one.
    ("I-X B-X B-Y", "IOB1", True, [("X", 0, 1)], [("X", 0, 1), ("X", 1, 2)]),
    # It does not begin or end spans at "U" and "L", and may lose such spans.
    ("U-X U-X", "BILOU", False, [("X", 0, 2)], [("X", 0, 1), ("X", 1, 2)]),
    ("U-X B-X", "BILOU", False, [("X", 1, 2)], [("X", 0, 1), ("X", 1, 2)]),
    # It drops the dashes of types, and takes no type for "_".
    ("B--X", "BIO", True, [("X", 0, 1)], [("-X", 0, 1)]),
    ("B-X-", "BIO", True, [("X", 0, 1)], [("X-", 0, 1)]),
    ("B I-_", "BIO", True, [("_", 0, 2)], [("", 0, 1)]),
    ("B I-_", "BIO", False, [("_", 0, 2)], [("", 0, 1), ("_", 1, 2)]),
]
# It finds spans in labels of no scheme.
WRONG_LABELS = [
    ("PER", "BIO", False, [("ER", 0, 1)]),
    ("BX", "BIO", False, [("X", 0, 1)]),
    ("BX", "BIO", True, [("X", 0, 1)]),
    ("Bob-X", "BIO", True, [("ob-X", 0, 1)]),
    ("b-X", "BIO", False, [("X", 0, 1)]),
]


@pytest.mark.parametrize(("labels", "scheme", "strict", "wrong", "right"), WRONG_SPANS)
def test_spans_that_seqeval_reads_wrong(labels, scheme, strict, wrong, right):
    labels = labels.split()
    assert metrics.extract_spans(labels, scheme, strict=strict) == right
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        assert seqeval_spans(labels, scheme, strict) == wrong


@pytest.mark.parametrize(("label", "scheme", "strict", "wrong"), WRONG_LABELS)
def test_labels_that_seqeval_should_refuse(label, scheme, strict, wrong):
    with pytest.raises(ValueError, match=f"Label '{label}' is not of the scheme"):
        metrics.extract_spans([label], scheme, strict=strict)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        assert seqeval_spans([label], scheme, strict) == wrong


def test_options_that_seqeval_ignores():
    y_true, y_pred = [["I-X"], ["B-X"]], [["B-X"], ["O"]]
    reference = seqeval.metrics.f1_score
    lenient = metrics.span_f1_score(y_true, y_pred)
    assert lenient == pytest.approx(2 / 3)
    # A scheme without a mode; a mode without a scheme; weights.
    assert reference(y_true, y_pred, scheme=seqeval.scheme.IOB2) == lenient
    assert reference(y_true, y_pred, mode="strict") == lenient
    assert reference(y_true, y_pred, sample_weight=[1, 0]) == lenient
    assert metrics.span_f1_score(y_true, y_pred, strict=True) == 0.0
    assert metrics.span_f1_score(y_true, y_pred, sample_weight=[1, 0]) == 1.0


def test_seqeval_without_any_span():
    y = [["O"]]
    value = metrics.span_f1_score(y, y, average="macro", zero_division=1.0)
    assert value == 1.0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", (RuntimeWarning, UndefinedMetricWarning))
        assert np.isnan(seqeval.metrics.f1_score(y, y, average="macro"))
        with pytest.raises(ValueError, match="empty"):
            seqeval.metrics.classification_report(y, y)


def test_lengths_that_seqeval_does_not_check():
    y_true, y_pred = [["O"], ["O"]], [["O", "B-X", "I-X"], ["O"]]
    assert seqeval.metrics.accuracy_score(y_true, y_pred) == 0.5
    with pytest.raises(ValueError, match="Sequence 0 has 1 labels"):
        metrics.flat_accuracy_score(y_true, y_pred)
