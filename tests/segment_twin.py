"""Segmentations enumerated, and sentences with spans: what tests of segments share."""

import functools
import itertools
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from skcrf_sdca._kernels.features._segment_rows import SegmentRows
from skcrf_sdca.structures.segment.scores import SegmentScores


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


class Features(NamedTuple):
    """Features of the segments of a sequence."""

    size: int
    of: Callable  # of (begin, end): an array (F,)

    def __call__(self, begin, end):
        return self.of(begin, end)


def counts_of(grammar, segments, features=None):
    """Return how often each transition and each length is there, in one row.

    With `Features` of the sequence their sums over the segments of each type follow, of
    shape (F, K).
    """
    n = grammar.n_types
    transition = np.zeros((n, n))
    length = np.zeros((n, grammar.max_length))
    for (_, _, j), (_, _, k) in itertools.pairwise(segments):
        transition[j, k] += 1
    for b, e, k in segments:
        length[k, e - b - 1] += 1
    counts = [transition.ravel(), length.ravel()]
    if features is not None:
        types = np.eye(n)
        sums = np.zeros((features.size, n))
        for b, e, k in segments:
            sums += np.outer(features(b, e), types[k])
        counts.append(sums.ravel())
    return np.concatenate(counts)


class Enumeration:
    """log Z, expectations and the best labels, by a sum over all segmentations."""

    def __init__(self, grammar, local, tied, features=None):
        self.found = list(segmentations(grammar, len(local)))
        self.labels = [labels_of(grammar, s) for s in self.found]
        self.counts = [counts_of(grammar, s, features) for s in self.found]
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


def enumeration_of(crf, sequence, tied, features=None):
    """Return the features of a sequence, an array, and its Enumeration in a fit."""
    rows = crf.vectorizer_.transform([sequence]).X.toarray()
    local = rows @ crf.coef_.T + crf.intercept_
    local[0] += crf.start_
    local[-1] += crf.end_
    return rows, Enumeration(crf._grammar(), local, tied, features)


def enumerated(crf, X, y, values=None):
    """Return P(w), its gradient, and the Enumeration of each sequence, by features.

    ``values`` gives the features of a segment, an array, from (sequence, begin, end).
    """
    code = crf.classes_.tolist().index
    of_segments = [crf.transition_, crf.length_]
    if values is not None:
        of_segments.append(crf.segment_coef_.T)
    blocks = [crf.intercept_, crf.start_, crf.end_, *of_segments, crf.coef_.T]
    w = np.concatenate([np.where(b == -np.inf, 0.0, b).ravel() for b in blocks])
    tied = np.concatenate([np.where(b == -np.inf, 0.0, b).ravel() for b in of_segments])
    sizes = np.cumsum([*map(len, blocks[:3]), len(tied)])
    gradient, loss, found = crf.alpha_ * w, 0.5 * crf.alpha_ * w @ w, []
    for own, labels in zip(X, y, strict=True):
        if not own:
            continue
        features = None
        if values is not None:
            size = crf.segment_coef_.shape[1]
            features = Features(size, functools.partial(values, own))
        rows, known = enumeration_of(crf, own, tied, features)
        path = np.array([code(label) for label in labels])
        i = [tuple(labelling) for labelling in known.labels].index(tuple(path))
        loss += (known.log_z - known.scores[i]) / len(X)
        change = known.local.copy()
        change[np.arange(len(path)), path] -= 1.0
        parts = np.split(np.zeros_like(w), sizes)
        parts[0][:] = change.sum(axis=0)
        parts[1][:], parts[2][:] = change[0], change[-1]
        parts[3][:] = known.tied - known.counts[i]
        parts[4][:] = (rows.T @ change).ravel()
        gradient += np.concatenate(parts) / len(X)
        found.append(known)
    return loss, gradient, found


GRAMMARS = [
    (["B-A", "B-B", "I-A", "I-B", "O"], "BIO"),
    (["B-A", "E-A", "I-A", "O", "S-A"], "BIOES"),
    (["I-A", "I-B", "O"], "IO"),
    (["x", "y", "z"], None),
]


def random_rows(lengths, most, n_features, rng):
    """Return the features of segments as a function of (i, begin, end), and as rows."""
    dense, rows = [], []
    for length in lengths:
        values = rng.normal(size=(length, most, n_features))
        values *= rng.random(values.shape) < 0.5
        dense.append(values)
        for end in range(1, length + 1):
            for begin in range(end - most, end):
                row = values[begin, end - begin - 1] if begin >= 0 else np.zeros(0)
                columns = np.flatnonzero(row)
                rows.append((columns, row[columns]))
    indptr = np.cumsum([0] + [len(columns) for columns, _ in rows]).astype(np.int32)
    columns, entries = (np.concatenate(part) for part in zip(*rows, strict=True))
    columns = columns.astype(np.int32)
    own = SegmentRows(indptr, columns, entries.astype(float), n_features, most)
    of = (functools.partial(look_up, values) for values in dense)
    return [Features(n_features, function) for function in of], own


def look_up(values, begin, end):
    return values[begin, end - begin - 1]


def random_scores(grammar, lengths, *, n_features=0, scale=1.0):
    """Return random SegmentScores, and the Enumeration of each sequence."""
    rng = np.random.default_rng(0)
    features, rows = [None] * len(lengths), None
    if n_features:
        features, rows = random_rows(lengths, grammar.max_length, n_features, rng)
    offsets = np.concatenate([[0], np.cumsum(lengths)])
    local = rng.normal(scale=scale, size=(offsets[-1], grammar.n_labels))
    n_tied = grammar.n_tied + n_features * grammar.n_types
    tied = rng.normal(scale=scale, size=n_tied)
    scores = SegmentScores(local, tied, offsets, grammar, rows)
    known = [
        Enumeration(grammar, local[b:e], tied, own)
        for (b, e), own in zip(itertools.pairwise(offsets), features, strict=True)
    ]
    return scores, known


WORDS = ["the", "mayor", "of", "New", "York", "City", "met", "Ann", "Lee", "in", "Bern"]


def sentences(n=40, seed=0):
    """Return sequences of words with spans, one of them without a word."""
    rng = np.random.default_rng(seed)
    X, y = [], []
    for i in range(n):
        words, labels = [], []
        while len(words) < i % 5:
            if rng.random() < 0.4:
                own = rng.choice(WORDS[3:9], size=rng.integers(1, 4)).tolist()
                span_type = "AB"[int(own[0] in WORDS[6:])]
                words += own
                labels += [f"B-{span_type}"] + [f"I-{span_type}"] * (len(own) - 1)
            else:
                words.append(str(rng.choice(WORDS)))
                labels.append("O")
        X.append([[word] for word in words])
        y.append(labels)
    return X, y
