"""SegmentCRF and its structure, against enumeration of all segmentations."""

import itertools

import numpy as np
import pytest

from skcrf_sdca.structures.chain.oracle import log_partition as chain_log_partition
from skcrf_sdca.structures.chain.oracle import node_marginals as chain_node_marginals
from skcrf_sdca.structures.chain.oracle import viterbi as chain_viterbi
from skcrf_sdca.structures.segment.grammar import Grammar
from skcrf_sdca.structures.segment.scores import SegmentScores

BIO = ["B-A", "B-B", "I-A", "I-B", "O"]
BIOES = ["B-A", "E-A", "I-A", "O", "S-A"]
IO = ["I-A", "I-B", "O"]
PLAIN = ["x", "y", "z"]
GRAMMARS = [
    (BIO, "BIO"),
    (["B-A", "O"], "BIO"),
    (BIOES, "bioes"),
    (["B-A", "E-A", "O"], "BIOES"),
    (IO, "IO"),
    (PLAIN, None),
    (["x"], None),
]


def segmentations(grammar, length):
    """Yield all segmentations of a sequence as lists of (begin, end, type)."""
    if length == 0:
        yield []
        return
    for m in range(1, min(length, grammar.max_length) + 1):
        for k in range(grammar.n_types):
            if grammar.length[k, m - 1]:
                for before in segmentations(grammar, length - m):
                    if not before or grammar.transition[before[-1][2], k]:
                        yield [*before, (length - m, length, k)]


def labels_of(grammar, segments):
    """Return the labels of a segmentation."""
    labels = []
    for b, e, k in segments:
        if e == b + 1:
            labels.append(grammar.single[k])
        else:
            inner = [grammar.inside[k]] * (e - b - 2)
            labels += [grammar.first[k], *inner, grammar.last[k]]
    return np.array(labels, dtype=np.int32)


def counts_of(grammar, segments):
    """Return how often each transition and each length is there, in one row."""
    n = grammar.n_types
    transition = np.zeros((n, n))
    length = np.zeros((n, grammar.max_length))
    for (_, _, j), (_, _, k) in itertools.pairwise(segments):
        transition[j, k] += 1
    for b, e, k in segments:
        length[k, e - b - 1] += 1
    return np.concatenate([transition.ravel(), length.ravel()])


class Enumeration:
    """log Z, expectations and the best labels, by a sum over all segmentations."""

    def __init__(self, grammar, local, tied):
        self.found = list(segmentations(grammar, len(local)))
        self.labels = [labels_of(grammar, s) for s in self.found]
        self.counts = [counts_of(grammar, s) for s in self.found]
        t = np.arange(len(local))
        self.scores = np.array(
            [
                local[t, y].sum() + c @ tied
                for y, c in zip(self.labels, self.counts, strict=True)
            ]
        )
        self.log_z = np.logaddexp.reduce(self.scores)
        self.proba = np.exp(self.scores - self.log_z)
        self.local = np.zeros_like(local)
        for y, p in zip(self.labels, self.proba, strict=True):
            self.local[t, y] += p
        self.tied = sum(p * c for c, p in zip(self.counts, self.proba, strict=True))


def random_scores(grammar, lengths, rng, scale=1.0):
    offsets = np.concatenate([[0], np.cumsum(lengths)])
    local = rng.normal(scale=scale, size=(offsets[-1], grammar.n_labels))
    tied = rng.normal(scale=scale, size=grammar.n_tied)
    return SegmentScores(local, tied, offsets, grammar)


def by_sequence(scores):
    for b, e in itertools.pairwise(scores.offsets):
        yield Enumeration(scores.grammar, scores.local[b:e], scores.tied)


LENGTHS = [3, 0, 1, 5, 2, 4]


@pytest.mark.parametrize("scale", [1.0, 30.0, 900.0])
@pytest.mark.parametrize("max_length", [1, 2, 3, 5, 7])
@pytest.mark.parametrize(("names", "scheme"), GRAMMARS)
def test_inference_equals_enumeration(names, scheme, max_length, scale):
    grammar = Grammar(names, scheme, max_length)
    lengths = np.array(LENGTHS)
    lengths = lengths[grammar.possible_lengths(5)[lengths]]
    scores = random_scores(grammar, lengths, np.random.default_rng(0), scale)
    local = np.empty_like(scores.local)
    tied = np.empty((len(lengths), grammar.n_tied))
    log_z = scores.potential_expectations(local, tied)
    paths, values = scores.viterbi()
    close = {"rtol": 1e-10, "atol": 1e-10}
    np.testing.assert_allclose(scores.log_partition(), log_z, **close)
    for i, known in enumerate(by_sequence(scores)):
        own = slice(*scores.offsets[i : i + 2])
        np.testing.assert_allclose(log_z[i], known.log_z, **close)
        np.testing.assert_allclose(local[own], known.local, **close)
        np.testing.assert_allclose(tied[i], known.tied, **close)
        best = known.scores.argmax()
        np.testing.assert_allclose(values[i], known.scores[best], **close)
        np.testing.assert_array_equal(paths[own], known.labels[best])
        assert not tied[i][~grammar.allowed].any()


@pytest.mark.parametrize(("names", "scheme"), GRAMMARS)
def test_labels_and_segmentations_are_the_same(names, scheme):
    grammar = Grammar(names, scheme, 3)
    for length in range(1, 5):
        found = list(segmentations(grammar, length))
        assert bool(found) == grammar.possible_lengths(4)[length]
        labels = {tuple(labels_of(grammar, s)) for s in found}
        assert len(labels) == len(found)
        offsets = np.array([0, length])
        for s in found:
            own = grammar.segments(labels_of(grammar, s), offsets)
            assert list(zip(own.begin, own.end, own.type, strict=True)) == s
        scores = random_scores(grammar, [length], np.random.default_rng(1))
        (known,) = by_sequence(scores)
        expected = dict(zip(map(tuple, known.labels), known.scores, strict=True))
        for path in itertools.product(range(len(names)), repeat=length):
            value = scores.path_scores(np.array(path, dtype=np.int32))[0]
            assert value == pytest.approx(expected.get(path, -np.inf), abs=1e-10)


@pytest.mark.parametrize(("names", "scheme"), GRAMMARS)
def test_posteriors_of_segments_equal_enumeration(names, scheme):
    grammar = Grammar(names, scheme, 3)
    scores = random_scores(grammar, [4, 3], np.random.default_rng(2))
    if not grammar.possible_lengths(4)[[3, 4]].all():
        return
    spans = [
        (i, b, e, k)
        for i, length in enumerate([4, 3])
        for b in range(length)
        for e in range(b + 1, length + 1)
        for k in range(grammar.n_types)
    ]
    rows = np.array(spans)
    types = np.ascontiguousarray(rows[:, 3])
    found = scores.segment_probabilities(np.ascontiguousarray(rows[:, :3]), types)
    known = list(by_sequence(scores))
    for (i, *segment), p in zip(spans, found, strict=True):
        has = [tuple(segment) in s for s in known[i].found]
        assert p == pytest.approx(known[i].proba[has].sum(), abs=1e-12)


@pytest.mark.parametrize(("names", "scheme"), GRAMMARS)
def test_forbidden_labels_have_probability_0(names, scheme):
    """A local score of -inf forbids, for inner tokens too."""
    grammar = Grammar(names, scheme, 4)
    rng = np.random.default_rng(3)
    for _ in range(20):
        scores = random_scores(grammar, [5], rng)
        local = np.where(rng.random(scores.local.shape) < 0.2, -np.inf, scores.local)
        scores = SegmentScores(local, scores.tied, scores.offsets, grammar)
        with np.errstate(invalid="ignore"):
            (known,) = by_sequence(scores)
        node, log_z = scores.node_marginals()
        if not len(known.scores) or not np.isfinite(known.log_z):
            assert log_z[0] == -np.inf
            assert not node.any()
            continue
        assert log_z[0] == pytest.approx(known.log_z, abs=1e-10)
        np.testing.assert_allclose(node, known.local, atol=1e-12)
        assert not node[local == -np.inf].any()
        np.testing.assert_array_equal(
            scores.viterbi()[0], known.labels[known.scores.argmax()]
        )


def test_segments_of_one_token_are_a_chain():
    names = ["B-A", "B-B", "B-C", "O"]
    grammar = Grammar(names, "BIO", 1)
    scores = random_scores(grammar, [7, 0, 1, 12], np.random.default_rng(4), 2.0)
    n = len(names)
    local = scores.local + scores.tied[n * n :]
    chain = local, scores.tied[: n * n].reshape(n, n), scores.offsets
    np.testing.assert_allclose(
        scores.log_partition(), chain_log_partition(*chain), atol=1e-10
    )
    np.testing.assert_allclose(
        scores.node_marginals()[0], chain_node_marginals(*chain)[0], atol=1e-10
    )
    np.testing.assert_array_equal(scores.viterbi()[0], chain_viterbi(*chain)[0])


def test_segments_of_any_length_are_a_chain_of_the_scheme():
    """Without scores of lengths, a chain whose transitions inside of spans are 0."""
    grammar = Grammar(BIO, "BIO", 9)
    scores = random_scores(grammar, [9, 6], np.random.default_rng(5))
    n = grammar.n_types
    scores.tied[n * n :] = 0.0
    transition = scores.tied[: n * n].reshape(n, n)
    types = grammar.label_types
    is_begin = np.array([name[0] != "I" for name in BIO])
    chain = np.where(is_begin, transition[np.ix_(types, types)], -np.inf)
    chain[np.equal.outer(types, types) & ~is_begin] = 0.0
    local = scores.local.copy()
    local[scores.offsets[:-1, np.newaxis], ~is_begin] = -np.inf
    np.testing.assert_allclose(
        scores.log_partition(),
        chain_log_partition(local, chain, scores.offsets),
        atol=1e-10,
    )
