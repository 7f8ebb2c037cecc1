"""SegmentCRF with unknown, partly known and soft labels, against enumeration."""

import numpy as np
import pytest
from segment_twin import Features, enumeration_of, random_rows, sentences

from skcrf_sdca import PackedSequences, SegmentCRF
from skcrf_sdca.objective.targets import PartialLabels
from skcrf_sdca.structures.segment.grammar import Grammar
from skcrf_sdca.structures.segment.structure import SegmentChain

X, Y = sentences(20)
EXACT = {"alpha": 0.05, "tol": 1e-9, "max_iter": 3000, "random_state": 0}


def hidden(y, seed=0):
    """Return labels with some unknown, and some that are one of two."""
    rng = np.random.default_rng(seed)
    for i, labels in enumerate(y):
        coins = rng.random(len(labels))
        yield [
            label if i % 3 == 0 or coin > 0.4 else None if coin > 0.1 else {label, "O"}
            for label, coin in zip(labels, coins, strict=True)
        ]


def softened(y, classes, seed=0):
    """Return probabilities of labels: the right one has a good part."""
    rng = np.random.default_rng(seed)
    for labels in y:
        rows = rng.dirichlet(np.ones(len(classes)), size=len(labels)) * 0.5
        for row, label in zip(rows, labels, strict=True):
            row[classes.index(label)] += 0.5
        yield [dict(zip(classes, row.tolist(), strict=True)) for row in rows]


def of_segment(sequence, begin, end):
    return {"capitals": sum(word.istitle() for (word,) in sequence[begin:end]) / 2}


PARTIAL = list(hidden(Y, seed=7))
CLASSES = ["B-A", "B-B", "I-A", "I-B", "O"]
SOFT = list(softened(Y, CLASSES))


def enumerated(crf, targets, weight=None):
    """Return P(w) and its gradient; ``targets(i, labels)`` are weights of label lists.

    These are q of soft labels, or of partly known ones None where y disagrees and else
    True, for p given what is known. ``weight`` is that of each sequence, by default 1.
    """
    blocks = [crf.intercept_, crf.start_, crf.end_, crf.transition_, crf.length_]
    has_more = crf.segment_coef_ is not None
    blocks += [crf.segment_coef_.T] if has_more else []
    tied = np.concatenate([np.ravel(b) for b in blocks[3:]])
    tied = np.where(tied == -np.inf, 0.0, tied)
    w = np.concatenate([*blocks[:3], tied, crf.coef_.T.ravel()])
    sizes = np.cumsum([*map(len, blocks[:3]), len(tied)])
    value, gradient = 0.5 * crf.alpha_ * w @ w, crf.alpha_ * w
    c = np.ones(len(X)) if weight is None else np.array(weight, dtype=float)
    c /= c.sum()
    for i, own in enumerate(X):
        if not own:
            continue
        features = None
        if has_more:
            features = Features(
                1,
                lambda b, e, own=own: np.array([of_segment(own, b, e)["capitals"]]),
            )
        rows, known = enumeration_of(crf, own, tied, features)
        weight = targets(i, known.labels)
        if weight.dtype == bool:
            log_z = np.logaddexp.reduce(known.scores[weight])
            value += c[i] * (known.log_z - log_z)
            weight = np.where(weight, np.exp(known.scores - log_z), 0.0)
        else:
            value += c[i] * (known.log_z - weight @ known.scores)
        change = known.local.copy()
        for p, path in zip(weight, known.labels, strict=True):
            change[np.arange(len(path)), path] -= p
        parts = np.split(np.zeros_like(w), sizes)
        parts[0][:] = change.sum(axis=0)
        parts[1][:], parts[2][:] = change[0], change[-1]
        parts[3][:] = known.tied - weight @ np.array(known.counts)
        parts[4][:] = (rows.T @ change).ravel()
        gradient = gradient + c[i] * np.concatenate(parts)
    return value, gradient


def agreeing(i, labels):
    """Return which label lists agree with what is known."""

    def agrees(path):
        return all(
            known is None
            or (CLASSES[k] in known if isinstance(known, set) else CLASSES[k] == known)
            for k, known in zip(path, PARTIAL[i], strict=True)
        )

    return np.array([agrees(path) for path in labels])


def probable(i, labels):
    """Return q: products of probabilities, over their sum."""
    q = [
        np.prod([row[CLASSES[k]] for k, row in zip(path, SOFT[i], strict=True)])
        for path in labels
    ]
    return np.array(q) / np.sum(q)


@pytest.mark.parametrize("segment_features", [None, of_segment])
@pytest.mark.parametrize("solver", ["lbfgs", "oeg", "sag", "sgd"])
def test_partly_known_labels_have_the_enumerated_objective(solver, segment_features):
    tol = {"lbfgs": 1e-6, "sgd": 1e-3}.get(solver, 1e-5)
    crf = SegmentCRF(solver=solver, segment_features=segment_features, max_length=4)
    crf.set_params(**EXACT | {"tol": tol}).fit(X, PARTIAL)
    # Sequences of which nothing is known do not count, empty ones do.
    some = [not row or any(known is not None for known in row) for row in PARTIAL]
    assert not all(some)
    value, gradient = enumerated(crf, agreeing, some)
    assert crf.classes_.tolist() == CLASSES
    # What is reported is Q, which is P where the labels were completed, and above it.
    assert value * (1.0 - 1e-9) <= crf.primal_objective_ <= value + crf.duality_gap_
    assert gradient @ gradient / (2.0 * crf.alpha_) <= 40.0 * tol * value
    assert crf.score(X, Y) > 0.5


@pytest.mark.parametrize("segment_features", [None, of_segment])
@pytest.mark.parametrize("solver", ["lbfgs", "oeg", "sag", "sgd"])
def test_soft_labels_have_the_enumerated_objective(solver, segment_features):
    tol = 1e-3 if solver == "sgd" else 1e-6
    crf = SegmentCRF(solver=solver, segment_features=segment_features, max_length=4)
    crf.set_params(**EXACT | {"tol": tol}).fit(X, SOFT)
    value, gradient = enumerated(crf, probable)
    assert crf.primal_objective_ == pytest.approx(value, rel=1e-8)
    assert crf.duality_gap_ <= tol * value
    # P has curvature of at least alpha, and of at most some ones.
    assert gradient @ gradient <= 100.0 * max(crf.duality_gap_, 1e-12)


def test_known_labels_given_as_sets_are_known():
    sets = [[{label} for label in labels] for labels in Y]
    plain = SegmentCRF(solver="lbfgs", **EXACT).fit(X, Y)
    crf = SegmentCRF(solver="lbfgs", **EXACT).fit(X, sets)
    assert crf.max_length_ == plain.max_length_
    np.testing.assert_allclose(crf.coef_, plain.coef_, atol=1e-3)


def test_first_weights_come_from_sequences_that_are_known():
    lengths = np.array([2, 0, 3, 1])
    grammar = Grammar(CLASSES, "BIO", 3)
    _, rows = random_rows(lengths, 3, 2, np.random.default_rng(0))
    data = PackedSequences(np.arange(6.0)[:, np.newaxis], [0, 2, 2, 5, 6])
    structure = SegmentChain(data, 5, constraints=grammar, segment_rows=rows)
    allowed = np.ones((6, 5), dtype=bool)
    allowed[[0, 1, 2, 5]] = np.eye(5, dtype=bool)[[0, 2, 4, 1]]
    parts, labels, sequence = PartialLabels(structure, allowed).known_parts()
    assert parts.offsets.tolist() == [0, 2, 3]
    assert parts.data.X.ravel().tolist() == [0, 1, 5]
    assert labels.tolist() == [0, 2, 1]
    assert sequence.tolist() == [0, 3]
    own, known = (
        c.entries_of(np.array([0, 2]), np.array([2, 3]))
        for c in (
            parts.segment_rows,
            rows,
        )
    )
    assert known[0].tolist().count(0) == own[0].tolist().count(0)
    last = rows.entries_of(np.array([5]), np.array([6]))
    found = parts.segment_rows.entries_of(np.array([2]), np.array([3]))
    for a, b in zip(found, last, strict=True):
        np.testing.assert_array_equal(a, b)


def test_unknown_labels_may_have_a_name():
    y = [[-1, *labels[1:]] if i % 2 else labels for i, labels in enumerate(RUNS)]
    crf = SegmentCRF(scheme=None, unknown_label=-1, random_state=0).fit(SIGNALS, y)
    assert crf.classes_.tolist() == [0, 1, 2]
    assert crf.score(SIGNALS, RUNS) > 0.9


RUNS = [[0, 0, 1], [1, 1], [2, 2, 0, 1], [0, 1, 1], [2, 0], [1, 2, 2]] * 3
SIGNALS = [np.eye(3)[own] for own in RUNS]


@pytest.mark.parametrize(
    ("parameters", "y", "message"),
    [
        ({}, ["O", None, "O", "B-A"], "set max_length"),
        (
            {"max_length": 2},
            ["O", "I-A", None, "B-A"],
            "sequence 0 has no segmentation",
        ),
        ({"max_length": 2}, ["B-A", "I-A", "I-A", None], "larger max_length"),
        (
            {"max_length": 2, "loss": "hinge"},
            ["O", None, "O", "B-A"],
            "one label at ev",
        ),
    ],
)
def test_what_is_not_possible_is_named(parameters, y, message):
    words = [[["a"], ["b"], ["c"], ["d"]]]
    with pytest.raises(ValueError, match=message):
        SegmentCRF(**parameters).fit(words, [y])
