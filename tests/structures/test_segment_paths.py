"""The n best segmentations, and random ones, against enumeration."""

import numpy as np
import pytest
from segment_twin import GRAMMARS, random_scores, sentences

from pairs import by_pairs
from skcrf_sdca import SegmentCRF
from skcrf_sdca.structures.segment.grammar import Grammar
from skcrf_sdca.structures.segment.scores import SegmentScores

LENGTHS = np.array([3, 0, 1, 5, 2, 4])
X, Y = sentences(20)


@by_pairs({"names,scheme": GRAMMARS, "max_length": [1, 2, 3, 6], "n_features": [0, 3]})
def test_n_best_equal_enumeration(names, scheme, max_length, n_features):
    grammar = Grammar(names, scheme, max_length)
    lengths = LENGTHS[grammar.possible_lengths(5)[LENGTHS]]
    scores, enumerated = random_scores(grammar, lengths, n_features=n_features)
    first, _ = scores.viterbi()
    for n in (1, 2, 7, 10_000):
        paths, values = scores.n_best(n)
        for i, known in enumerate(enumerated):
            order = np.argsort(-known.scores, kind="stable")[:n]
            np.testing.assert_allclose(values[i], known.scores[order], atol=1e-10)
            labels = np.array([known.labels[j] for j in order])
            np.testing.assert_array_equal(paths[i], labels.reshape(paths[i].shape))
            own = slice(*scores.offsets[i : i + 2])
            np.testing.assert_array_equal(paths[i][0], first[own])


def test_the_best_of_equal_ones_is_that_of_viterbi():
    """Scores of few values tie often."""
    rng = np.random.default_rng(0)
    for _ in range(50):
        grammar = Grammar(["x", "y", "z"], None, 3)
        local = rng.integers(0, 2, size=(6, 3)).astype(float)
        tied = rng.integers(0, 2, size=grammar.n_tied).astype(float)
        scores = SegmentScores(local, tied, np.array([0, 6]), grammar)
        (paths,), (values,) = scores.n_best(20)
        np.testing.assert_array_equal(paths[0], scores.viterbi()[0])
        assert len({tuple(path) for path in paths.tolist()}) == len(paths)
        for path, value in zip(paths, values, strict=True):
            assert scores.path_scores(path)[0] == pytest.approx(value, abs=1e-12)


@by_pairs({"names,scheme": GRAMMARS, "n_features": [0, 3], "scale": [1.0, 900.0]})
def test_draws_have_the_frequencies_of_the_enumeration(
    names, scheme, n_features, scale
):
    grammar = Grammar(names, scheme, 3)
    lengths = np.array([3, 0, 4])
    if not grammar.possible_lengths(4)[lengths].all():
        return
    scores, enumerated = random_scores(
        grammar, lengths, n_features=n_features, scale=scale
    )
    n = 20_000
    uniform = np.random.default_rng(1).random((7, n))
    paths = scores.sample(uniform)
    for i, known in enumerate(enumerated):
        own = paths[slice(*scores.offsets[i : i + 2])].T
        place = {tuple(path): j for j, path in enumerate(known.labels)}
        drawn = np.bincount(
            [place[tuple(path)] for path in own.tolist()], minlength=len(place)
        )
        # Six standard deviations of a binomial number.
        spread = np.sqrt(n * known.proba * (1.0 - known.proba))
        assert (np.abs(drawn - n * known.proba) <= 6.0 * spread + 1e-6 * n).all()


def test_draws_of_neighbours_are_not_tied():
    """What a choice leaves of a random number does not repeat the choice."""
    grammar = Grammar(["x", "y", "z"], None, 1)
    scores = SegmentScores(
        np.zeros((2, 3)), np.zeros(grammar.n_tied), np.array([0, 2]), grammar
    )
    grid = (np.arange(3000) + 0.5) / 3000
    paths = scores.sample(np.vstack([np.full(3000, 0.5), grid]))
    pairs, counts = np.unique(paths, axis=1, return_counts=True)
    assert pairs.shape == (2, 6)
    np.testing.assert_allclose(counts, 500, atol=1)


def of_segment(sequence, begin, end):
    return ["capital" if word.istitle() else "small" for (word,) in sequence[begin:end]]


@pytest.mark.parametrize("segment_features", [None, of_segment])
def test_methods_of_the_estimator(segment_features):
    crf = SegmentCRF(segment_features=segment_features, random_state=0).fit(X, Y)
    best = crf.predict_n_best(X, 3)
    for labels, own in zip(crf.predict(X), best, strict=True):
        assert own[0][0] == labels
        assert sum(p for _, p in own) <= 1.0 + 1e-12
    values = crf.log_likelihood(X, [own[0][0] for own in best])
    np.testing.assert_allclose(values, [np.log(own[0][1]) for own in best], atol=1e-9)
    draws = crf.sample(X, n_draws=5, random_state=0)
    assert draws.shape == (5, len(X))
    assert np.isfinite(crf.log_likelihood(X, draws[0])).all()
    np.testing.assert_array_equal(draws, crf.sample(X, n_draws=5, random_state=0))
    many = crf.sample(X[-1:], n_draws=4000, random_state=1)[:, 0]
    (proba,) = crf.predict_proba(X[-1:])
    codes = np.searchsorted(crf.classes_, np.array(many.tolist()))
    found = (codes[:, :, np.newaxis] == np.arange(len(crf.classes_))).mean(axis=0)
    np.testing.assert_allclose(found, proba, atol=0.05)
    with pytest.raises(ValueError, match="n must be an integer"):
        crf.predict_n_best(X, 0)


def test_the_hinge_has_scores_of_the_n_best():
    crf = SegmentCRF(alpha=0.1, loss="hinge", tol=1e-1, random_state=0).fit(X, Y)
    first, second = crf.predict_n_best(X[-1:], 2)[0]
    assert first[1] >= second[1]
    with pytest.raises(AttributeError, match="no probabilities"):
        crf.sample(X)


def test_too_many_are_refused():
    crf = SegmentCRF(random_state=0).fit(X, Y)
    with pytest.raises(MemoryError, match="lower n"):
        crf.predict_n_best([[["New"]] * 60], 10**14)
