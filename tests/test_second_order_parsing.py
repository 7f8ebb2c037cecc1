"""The factors of a benchmark script against the list of all trees."""

import numpy as np
import pytest
import second_order_parsing
from numpy.testing import assert_allclose, assert_array_equal
from scipy.special import logsumexp
from second_order_parsing import Arcs, Inference
from tree_programs import PROGRAMS, Program, scores_of
from tree_twin import siblings, trees

from pairs import by_pairs

ITERATIONS = 0, 3, 30


def drawn(n_words, deviation, n=8):
    """Return random scores, and the score of each tree."""
    rng = np.random.default_rng(n_words)
    parts = Arcs(n_words).parts(trees(n_words))
    scores = [rng.normal(size=(n, part.shape[1])) for part in parts]
    scores = [scores[0], deviation * scores[1], deviation * scores[2]]
    return scores, sum(s @ part.T for s, part in zip(scores, parts, strict=True))


@pytest.mark.parametrize("n_words", [1, 2, 3, 4])
def test_the_parts_of_trees_are_their_arcs_siblings_and_grandparents(n_words):
    heads, arcs = trees(n_words), Arcs(n_words)
    assert_array_equal(second_order_parsing.trees(n_words), heads)
    for own, *has in zip(heads.tolist(), *arcs.parts(heads), strict=True):
        pairs = enumerate(zip(own, siblings(own), strict=True), start=1)
        wanted = (
            {(h, m) for m, h in enumerate(own, start=1)},
            {(h, m, s) for m, (h, s) in pairs},
            {(own[h - 1], h, m) for m, h in enumerate(own, start=1) if h > 0},
        )
        places = arcs.ends, arcs.siblings, arcs.grandparents
        for parts, place, here in zip(wanted, places, has, strict=True):
            assert {tuple(row) for row in place.T[here].tolist()} == parts


@by_pairs(
    {"n_words": [1, 2, 3, 4, 5], "deviation": [0.0, 1.0, 10.0], "n_iter": ITERATIONS}
)
def test_shares_of_factors_bound_log_z(n_words, deviation, n_iter):
    scores, of_trees = drawn(n_words, deviation)
    inference = Inference("bound", n_words)
    assert_allclose(inference.surplus, 0.0, rtol=0, atol=1e-12)
    found = inference.run(scores, n_iter)
    assert np.all(found.log_z >= logsumexp(of_trees, axis=1) - 1e-9)
    # So no loss is negative.
    assert np.all(found.log_z[:, np.newaxis] >= of_trees - 1e-9)


@pytest.mark.parametrize("n_words", [1, 2, 3, 4, 5])
def test_belief_propagation_is_exact_without_scores_of_pairs(n_words):
    scores, of_trees = drawn(n_words, 0.0)
    arcs, *_ = Arcs(n_words).parts(trees(n_words))
    for name in ("arcs", "bp"):
        found = Inference(name, n_words).run(scores, 30)
        log_z = logsumexp(of_trees, axis=1)
        assert_allclose(found.log_z, log_z, rtol=0, atol=1e-9)
        mu = np.exp(of_trees - log_z[:, np.newaxis]) @ arcs
        assert_allclose(found.expected[0], mu, rtol=0, atol=1e-6)
        assert not found.is_open.any()


@pytest.mark.slow
@pytest.mark.parametrize("name", ["bp", "bound"])
def test_expectations_are_slopes_where_runs_converge(name):
    scores, _ = drawn(3, 0.3, n=1)
    inference = Inference(name, 3)
    found = inference.run(scores, 150)
    assert not found.is_open.any()
    for block, own in enumerate(scores):
        for place in range(0, own.shape[1], 3):
            ends = []
            for step in (1e-4, -1e-4):
                moved = [score.copy() for score in scores]
                moved[block][0, place] += step
                ends.append(inference.run(moved, 150).log_z[0])
            slope = (ends[0] - ends[1]) / 2e-4
            assert_allclose(slope, found.expected[block][0, place], rtol=0, atol=1e-6)


@pytest.mark.parametrize("name", ["tree", "chains", "pairs", "words"])
def test_the_sums_of_a_factor_have_their_slopes(name):
    arcs, rng = Arcs(4), np.random.default_rng(0)
    factor = next(
        factor
        for factors in second_order_parsing.INFERENCES.values()
        for factor in factors
        if factor.sums.__name__ == name
    )
    sizes = 0, arcs.siblings.shape[1], arcs.grandparents.shape[1]
    scores = rng.normal(size=(1, len(factor.places(arcs))))
    beside = rng.normal(size=(1, sizes[factor.block or 0]))
    found = factor.sums(arcs, scores, beside)
    assert_allclose(found.on + found.off, 1.0, rtol=1e-12)
    for values, expected in ((scores, found.on), (beside, found.beside)):
        for place in range(values.shape[1]):
            ends = []
            for step in (1e-5, -1e-5):
                values[0, place] += step
                ends.append(factor.sums(arcs, scores, beside).log_z[0])
                values[0, place] -= step
            slope = (ends[0] - ends[1]) / 2e-5
            assert_allclose(slope, expected[0, place], rtol=0, atol=1e-8)


@pytest.mark.parametrize("deviation", [0.0, 3.0])
@pytest.mark.parametrize("n_words", [1, 2, 3, 4])
def test_linear_programs_bound_the_best_tree(n_words, deviation):
    scores, of_trees = drawn(n_words, deviation)
    arcs, best, has_fractions = Arcs(n_words), of_trees.max(axis=1), set()
    for i, own in enumerate(zip(*scores, strict=True)):
        found = {}
        for name, (form, are_integers) in PROGRAMS.items():
            parts = Program(form, n_words).solve(own, are_integers)
            found[name] = sum(s @ p for s, p in zip(own, parts, strict=True))
            if np.abs(parts[0] - parts[0].round()).max() > 1e-6:
                has_fractions.add(name)
                continue
            heads = second_order_parsing.best_trees(arcs, parts[0][np.newaxis])
            (of_tree,) = scores_of(arcs, [s[np.newaxis] for s in own], heads)
            assert_allclose([found[name], of_tree], best[i], rtol=0, atol=1e-6)
        assert found["pairs"] >= found["words"] - 1e-6
        assert found["words"] >= best[i] - 1e-6
    # Mixtures of arcs that carry flows are of trees, and those of pairs need not be.
    is_exact = n_words == 1 or deviation == 0.0
    assert has_fractions == (set() if is_exact else {"pairs", "words"})
