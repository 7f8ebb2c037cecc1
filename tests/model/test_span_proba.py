"""Probabilities of spans: against enumeration of all label paths."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

import reference
from skcrf_sdca import (
    LBFGSCRF,
    SDCACRF,
    SegmentCRF,
    SequenceVectorizer,
    make_tagger,
)
from skcrf_sdca.metrics import extract_spans
from skcrf_sdca.model.span_queries import LabelSpans, Reading, TypedSpans
from skcrf_sdca.structures.chain import oracle
from skcrf_sdca.structures.chain.chains import Chains
from skcrf_sdca.text import convert_labels

CLASSES = {
    "BIO": ["B-X", "B-Y", "I-X", "I-Y", "O"],
    "IOB1": ["B-X", "I-X", "I-Y", "O"],
    "IO": ["I-X", "I-Y", "I", "O"],
    "BIOES": ["B-X", "E-X", "I-X", "O", "S-X"],
    "BILOU": ["B-", "I-", "L-", "U-", "U-Y"],
}


def spans_of(length):
    return [(b, e) for b in range(length) for e in range(b + 1, length + 1)]


@st.composite
def span_chains(draw):
    """Draw a scheme and a chain of its labels, with or without forbidden pairs."""
    scheme = draw(st.sampled_from(sorted(CLASSES)))
    length, n_labels = draw(st.integers(1, 4)), len(CLASSES[scheme])
    max_abs = draw(st.sampled_from([3.0, 1e4]))
    node_scores = draw(reference.score_matrices(length, n_labels, max_abs))
    transition = draw(reference.score_matrices(n_labels, n_labels, max_abs))
    if draw(st.booleans()):
        # Before each label but the last, one more label is forbidden.
        transition[np.arange(n_labels - 1) + 1, np.arange(n_labels - 1)] = -np.inf
    return scheme, node_scores, transition


def tolerance_of(node_scores):
    return 1e-11 * (1.0 + len(node_scores) * abs(node_scores).max())


@given(span_chains())
def test_typed_spans_are_those_that_extract_spans_finds(drawn):
    scheme, node_scores, transition = drawn
    classes = np.array(CLASSES[scheme])
    length = len(node_scores)
    probabilities = reference.path_probabilities(node_scores, transition)
    expected = {(name, *span): 0.0 for name in "XY" for span in spans_of(length)}
    expected |= {("", *span): 0.0 for span in spans_of(length)}
    paths = reference.all_paths(*node_scores.shape)
    for path, probability in zip(paths, probabilities, strict=True):
        for span in extract_spans(classes[path].tolist(), scheme):
            expected[span] += probability
    reading = Reading.of(classes, scheme)
    spans = TypedSpans([list(expected)], np.array([length]), reading)
    chains = Chains(node_scores, transition, np.array([0, length]))
    (values,) = spans.probabilities(chains, 0, 1)
    assert_allclose(
        values, list(expected.values()), rtol=0, atol=tolerance_of(node_scores)
    )


@given(reference.chains(max_length=4, max_labels=3))
def test_spans_of_labels(chain):
    node_scores, transition = chain
    length, n_labels = node_scores.shape
    probabilities = reference.path_probabilities(*chain)
    paths = reference.all_paths(length, n_labels)
    spans, expected = [], []
    for begin, end in spans_of(length):
        for labels in reference.all_paths(end - begin, n_labels):
            spans.append((begin, end, list(labels)))
            there = (paths[:, begin:end] == labels).all(axis=1)
            expected.append(probabilities @ there)
    encoded = LabelSpans([spans], np.array([length]), np.arange(n_labels))
    chains = Chains(*chain, np.array([0, length]))
    (values,) = encoded.probabilities(chains, 0, 1)
    assert_allclose(values, expected, rtol=0, atol=tolerance_of(node_scores))


def test_a_whole_path_is_a_span():
    rng = np.random.default_rng(0)
    chain = rng.normal(size=(6, 4)), rng.normal(size=(4, 4))
    path = rng.integers(4, size=6)
    (value,) = oracle.span_probabilities([[0, 0, 6]], path, *chain)
    assert_allclose(np.log(value), oracle.log_likelihood(path, *chain)[0], rtol=1e-12)


def test_small_probabilities_keep_their_digits():
    """A difference of two log Z of 1e4 would have an error of 1e-12."""
    node_scores = np.tile([1e4, 1e4 - 20.0], (3, 1))
    spans = [[0, 0, 3], [0, 1, 2]]
    values = oracle.span_probabilities(
        spans, [1, 1, 1, 1], node_scores, np.zeros((2, 2))
    )
    wrong = np.exp(-20.0) / (1 + np.exp(-20.0))
    assert_allclose(values, [wrong**3, wrong], rtol=1e-12)


def test_probabilities_below_the_smallest_double_are_zero():
    node_scores = np.tile([0.0, -720.0], (4, 1))
    transition = np.array([[0.0, 0.0], [0.0, -50.0]])
    values = oracle.span_probabilities([[0, 0, 4]], [1] * 4, node_scores, transition)
    assert values.tolist() == [0.0]
    joins = np.ones((2, 2), dtype=bool)
    typed = oracle.typed_span_probabilities(
        [[0, 0, 4]], [1], [0, 1], joins, node_scores, transition
    )
    assert_allclose(typed, 0.0, rtol=0, atol=1e-300)


def test_spans_of_many_chains_in_any_order():
    rng = np.random.default_rng(0)
    offsets = np.cumsum([0, 3, 0, 1, 5])
    node_scores, transition = rng.normal(size=(9, 3)), rng.normal(size=(3, 3))
    spans = [[3, 1, 4], [0, 0, 3], [3, 0, 1], [2, 0, 1], [0, 2, 3]]
    labels = rng.integers(3, size=3 + 3 + 1 + 1 + 1)
    values = oracle.span_probabilities(spans, labels, node_scores, transition, offsets)
    first = 0
    for value, (i, begin, end) in zip(values, spans, strict=True):
        own = labels[first : first + end - begin]
        first += end - begin
        chain = node_scores[offsets[i] : offsets[i + 1]], transition
        (expected,) = oracle.span_probabilities([[0, begin, end]], own, *chain)
        assert value == expected


@pytest.mark.parametrize(
    "span", [[0, 0, 0], [0, 2, 1], [0, -1, 1], [0, 0, 4], [1, 0, 1], [-1, 0, 1]]
)
def test_spans_are_within_their_chains(span):
    scores = np.zeros((3, 2)), np.zeros((2, 2))
    with pytest.raises(ValueError, match="row 1 is"):
        oracle.span_probabilities([[0, 0, 1], span], [0, 0], *scores)
    with pytest.raises(ValueError, match="row 1 is"):
        oracle.typed_span_probabilities(
            [[0, 0, 1], span], [0, 0], [0, 0], np.eye(2), *scores
        )


@pytest.mark.parametrize(
    ("types", "label_types", "joins"),
    [([], [0, 0], np.eye(2)), ([0], [0], np.eye(2)), ([0], [0, 0], np.eye(3))],
)
def test_shapes_of_types(types, label_types, joins):
    with pytest.raises(ValueError, match="they need"):
        oracle.typed_span_probabilities(
            [[0, 0, 1]], types, label_types, joins, np.zeros((3, 2)), np.zeros((2, 2))
        )


def test_as_many_labels_as_positions():
    with pytest.raises(ValueError, match="3 numbers below 2"):
        oracle.span_probabilities([[0, 0, 3]], [0], np.zeros((3, 2)), np.zeros((2, 2)))


NAMES = ["O", "B-P", "I-P"]
WORDS = [[["Ada"], ["met"], ["Bob"]], [["Bob"], ["ran"]], [["met"], ["Bob"]]] * 4
TAGS = [["B-P", "O", "B-P"], ["O", "O"], ["B-P", "I-P"]] * 4
NUMBERS = [[NAMES.index(label) for label in labels] for labels in TAGS]


@pytest.mark.parametrize(
    ("crf", "y"),
    [
        (SDCACRF(random_state=0), TAGS),
        (SDCACRF(transitions="BIO", random_state=0), TAGS),
        (
            SDCACRF(transitions="BIOES", random_state=0),
            convert_labels(TAGS, "BIO", "BIOES"),
        ),
        (SDCACRF(order=2, random_state=0), TAGS),
        (SegmentCRF(random_state=0), TAGS),
        (
            SegmentCRF(scheme=None, random_state=0),
            [[label[2:] or "O" for label in labels] for labels in TAGS],
        ),
        (LBFGSCRF(label_names=NAMES), NUMBERS),
        (make_tagger(SequenceVectorizer(), SDCACRF(random_state=0)), TAGS),
    ],
    ids=["labels", "BIO", "BIOES", "tuples", "segments", "types", "names", "tagger"],
)
def test_spans_that_are_predicted_are_asked_for_as_they_are(crf, y):
    """The scheme is found in the same way; further entries of spans are ignored."""
    spans = crf.fit(WORDS, y).predict_spans(WORDS)
    assert any(map(len, spans))
    for own, found in zip(spans, crf.span_proba(WORDS, spans), strict=True):
        assert_allclose(found, [span[3] for span in own], rtol=1e-9)
