"""Every sampler draws with its probabilities; every scheme is an entry of the table."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.special import softmax
from scipy.stats import chisquare

from reference import kl
from samples import make_problem
from skcrf_sdca import LBFGSCRF, OEGCRF, SDCACRF, PackedSequences
from skcrf_sdca._kernels.visits._samplers import MaxTree, Sampler, SumTree, Window
from skcrf_sdca.datasets import make_chains
from skcrf_sdca.objective.problem import Problem
from skcrf_sdca.solvers.samplers import (
    FIRST_GAP,
    SAMPLING_SCHEMES,
    Blocks,
    SchemeNames,
    first_gap,
    non_uniformity,
)
from skcrf_sdca.solvers.sdca import SDCA
from skcrf_sdca.structures.chain.structure import Chain


def draw(sampler, n_draws, seed=0):
    return sampler.picks(np.random.default_rng(seed).random((n_draws, 2)))


def assert_frequencies(sampler, probabilities, n_draws=20_000):
    counts = np.bincount(draw(sampler, n_draws), minlength=len(probabilities))
    possible = probabilities > 0
    assert counts[~possible].sum() == 0
    if possible.sum() > 1:
        expected = n_draws * probabilities[possible]
        assert chisquare(counts[possible], expected).pvalue > 1e-3


@pytest.fixture(params=[1, 2, 3, 5, 17])
def n(request):
    return request.param


def test_uniform_frequencies(n):
    assert_frequencies(Sampler(np.ones(n), 0.8, False, 1.0), np.full(n, 1 / n))


@pytest.mark.parametrize("mix", [0.0, 0.5, 1.0])
def test_sum_tree_frequencies(n, mix):
    weight = np.arange(n, dtype=float) + (n == 1)
    sampler = SumTree(weight, mix, False, 1.0)
    assert_frequencies(sampler, mix * weight / weight.sum() + (1 - mix) / n)


def test_sum_tree_follows_the_gaps(n):
    rng = np.random.default_rng(n)
    sampler = SumTree(np.full(n, 2.0), 1.0, True, FIRST_GAP)
    gaps = np.full(n, FIRST_GAP)
    for i in rng.integers(n, size=1000):
        gaps[i] = rng.exponential() ** 4
        sampler.set_value(i, gaps[i])
    assert_frequencies(sampler, gaps / gaps.sum())


def test_sum_tree_visits_everything_before_anything_twice():
    sampler = SumTree(np.ones(50), 1.0, True, FIRST_GAP)
    seen = set()
    for row in np.random.default_rng(0).random((50, 2)):
        (i,) = sampler.picks(row[None])
        seen.add(int(i))
        sampler.set_value(i, 0.0)
    assert seen == set(range(50))


@pytest.mark.parametrize("gap", [0.0, np.nan, np.inf])
def test_sum_tree_without_usable_scores_draws_uniformly(gap):
    sampler = SumTree(np.ones(5), 1.0, True, 0.0)
    if gap != 0.0:
        sampler.set_value(3, gap)
    assert_frequencies(sampler, np.full(5, 0.2))


def test_sum_tree_never_draws_what_has_no_score():
    sampler = SumTree(np.ones(7), 1.0, True, 0.0)
    sampler.set_value(2, 1e-300)
    uniforms = np.array([[0.0, p] for p in (0.0, 0.5, 1.0 - 2.0**-53)])
    assert sampler.picks(uniforms).tolist() == [2, 2, 2]


def test_max_tree_draws_the_largest_and_the_first_of_equals(n):
    rng = np.random.default_rng(n)
    sampler = MaxTree(np.ones(n), 1.0, True, FIRST_GAP)
    gaps = np.full(n, FIRST_GAP)
    for i in rng.integers(n, size=200):
        gaps[i] = rng.integers(5)
        sampler.set_value(i, gaps[i])
        assert draw(sampler, 1) == [np.argmax(gaps)]


def test_max_tree_never_draws_beyond_the_sequences():
    sampler = MaxTree(np.ones(5), 1.0, True, 1.0)
    for i in range(5):
        sampler.set_value(i, np.nan)
    assert draw(sampler, 1)[0] < 5


def test_first_gap_is_above_those_found_at_visits():
    problem = toy_problem()
    assert first_gap(problem) == FIRST_GAP
    long = make_problem([np.ones((400, 1))], [np.zeros(400)], 4, 1.0)
    assert first_gap(long) > 400 * np.log(4)


def window(mix, sizes=(2, 1, 3), n_inside=2):
    sampler = Window(np.ones(sum(sizes)), mix, True, 1.0)
    sampler.set_blocks(np.append(0, np.cumsum(sizes)), n_inside)
    return sampler


def test_a_window_draws_inside_and_slides_by_a_block_after_its_draws():
    sampler, uniforms = window(0.5), np.random.default_rng(0).random((6, 2))
    # The scores of the blocks 0, 1, 2: 1, 1; 2; 3, 4, 5.
    for i, score in enumerate([1.0, 1.0, 2.0, 3.0, 4.0, 5.0]):
        sampler.set_value(i, score)
    sampler.begin_epoch(np.array([1, 2, 0]))
    inside = [{2}, {2, 3, 4, 5}, {2, 3, 4, 5}, {2, 3, 4, 5}, {0, 1, 3, 4, 5}]
    for row, own in zip(uniforms, [*inside, inside[-1]], strict=True):
        (i,) = sampler.picks(row[None])
        assert i in own
        assert set(np.flatnonzero(sampler.probabilities())) == own
    by_score = np.array([1.0, 1.0, 0.0, 3.0, 4.0, 5.0]) / 14.0
    uniform = np.array([1.0, 1.0, 0.0, 1.0, 1.0, 1.0]) / 5.0
    assert_allclose(sampler.probabilities(), 0.5 * by_score + 0.5 * uniform)
    assert_frequencies(sampler, sampler.probabilities())


def test_a_window_keeps_the_scores_of_sequences_outside():
    sampler = window(1.0, n_inside=1)
    sampler.begin_epoch(np.array([0, 1, 2]))
    draw(sampler, 3)
    sampler.set_value(0, 3.0)
    sampler.set_value(2, 0.0)
    assert_allclose(sampler.probabilities(), [0.0, 0.0, 1.0, 0.0, 0.0, 0.0])
    draw(sampler, 3)
    sampler.begin_epoch(np.array([0, 1, 2]))
    draw(sampler, 1)
    assert_allclose(sampler.probabilities(), [0.75, 0.25, 0.0, 0.0, 0.0, 0.0])


def test_a_block_that_enters_twice_stays_until_it_leaves_twice():
    sampler = window(0.0, sizes=(1, 1), n_inside=2)
    for order, expected in ([0, 1], [0.5, 0.5]), ([1, 0], [0.5, 0.5]):
        sampler.begin_epoch(np.array(order))
        draw(sampler, 2)
        assert_allclose(sampler.probabilities(), expected)
    sampler.begin_epoch(np.array([0, 1]))
    draw(sampler, 1)
    assert_allclose(sampler.probabilities(), [1.0, 0.0])
    assert set(draw(sampler, 9).tolist()) == {0, 1}


def test_blocks_are_neighbours_of_about_equal_work():
    lengths = np.random.default_rng(0).integers(1, 40, size=5_000)
    blocks = Blocks(np.append(0, np.cumsum(lengths)))
    assert (len(blocks), blocks.n_inside) == (100, 20)
    work = np.add.reduceat(lengths, blocks.bounds[:-1])
    assert work.min() > 0.95 * work.mean()
    small = Blocks(np.arange(8), window=0.5)
    assert small.bounds.tolist() == list(range(8))
    assert small.n_inside == 3
    assert Blocks(np.arange(8), window=1e-9).n_inside == 1


def test_blocks_of_shards_are_the_parts_of_the_same_sequences():
    blocks = Blocks(np.arange(0, 60, 3))
    shards = np.arange(0, 19, 2), np.arange(1, 19, 2)
    bounds = np.sum([blocks.in_shard(shard) for shard in shards], axis=0)
    assert bounds.tolist() == blocks.bounds.tolist()


def test_a_first_order_of_blocks_is_a_permutation_in_which_neighbours_are_near():
    blocks = Blocks(np.arange(2_001))
    order = blocks.order(np.random.default_rng(0))
    assert sorted(order) == list(range(2_000))
    place = np.argsort(order)
    spread = [
        np.ptp(place[b:e])
        for b, e in np.column_stack([blocks.bounds[:-1], blocks.bounds[1:]])
    ]
    assert max(spread) < 2_000 * 0.25


@pytest.mark.parametrize("n_jobs", [None, 2])
@pytest.mark.parametrize(
    "crf",
    [
        SDCACRF(),
        SDCACRF(l1_ratio=0.2),
        SDCACRF(label_pairs="observed"),
        SDCACRF(acceleration=None, sampling_mix=1.0),
        OEGCRF(),
    ],
    ids=str,
)
def test_a_window_ends_at_the_same_optimum(crf, n_jobs):
    X, y = make_chains(140, random_state=0)
    crf.set_params(tol=1e-8, max_iter=2_000, n_jobs=n_jobs, random_state=0)
    expected = crf.set_params(sampling="gap").fit(X, y).primal_objective_
    found = crf.set_params(sampling="window").fit(X, y)
    assert_allclose(found.primal_objective_, expected, rtol=1e-8)
    assert found.duality_gap_ <= 1e-8 * expected


def test_the_hinge_takes_a_window():
    X, y = make_chains(60, random_state=0)
    crf = SDCACRF(loss="hinge", tol=1e-3, max_iter=2_000, random_state=0)
    expected = crf.fit(X, y).primal_objective_
    found = crf.set_params(sampling="window").fit(X, y).primal_objective_
    assert_allclose(found, expected, rtol=1e-3)


def test_set_value_checks_its_index():
    with pytest.raises(IndexError, match="sequence 5 of 5"):
        SumTree(np.ones(5), 1.0, True, 1.0).set_value(5, 1.0)


def toy_problem(boundaries=True, weight=None):
    X = [np.array([[1.0, -2.0], [1.0, 0.0], [0.0, 3.0]]), np.array([[0.0, 0.0]])]
    y = [[0, 1, 0], [1]]
    return make_problem(X, y, 2, 0.1, boundaries=boundaries, sample_weight=weight)


@pytest.mark.parametrize("name", sorted(SAMPLING_SCHEMES))
def test_schemes_draw_by_their_rule(name):
    weight = np.array([1.0, 3.0])
    problem = toy_problem(weight=weight, boundaries=name != "residual")
    sampler = SAMPLING_SCHEMES[name].make(problem, 1.0)
    gaps = np.array([0.5, 0.25])
    for i, gap in enumerate(gaps):
        sampler.set_value(i, gap)
    # Visits record L_i or a residual instead of some gaps: any numbers serve here.
    c = problem.weight
    importance = problem.alpha + c * problem.structure.squared_radii()
    expected = {
        "uniform": np.ones(2),
        "importance": importance,
        "gap": c * gaps,
        "window": np.ones(2),
        "gap_importance": c * gaps * importance,
        "max": (c * gaps == max(c * gaps)).astype(float),
        "residual": gaps * np.sqrt(c * importance),
        "lipschitz": gaps,
    }[name]
    assert_frequencies(sampler, expected / expected.sum())
    assert_allclose(sampler.probabilities(), expected / expected.sum(), rtol=1e-12)


def test_probabilities_are_those_of_the_mixture():
    sampler = SumTree(np.array([1.0, 3.0]), 0.5, False, 1.0)
    assert_allclose(sampler.probabilities(), [0.25 + 0.125, 0.25 + 0.375])
    assert_allclose(SumTree(np.zeros(2), 0.5, False, 1.0).probabilities(), [0.5, 0.5])


def test_what_no_visit_has_recorded_is_drawn_uniformly_only():
    sampler = SAMPLING_SCHEMES["lipschitz"].make(toy_problem(), 0.5)
    assert_allclose(sampler.probabilities(), [0.5, 0.5])
    sampler.set_value(1, 7.0)
    assert_allclose(sampler.probabilities(), [0.25, 0.75])


def table_problem():
    rng = np.random.default_rng(0)
    data = PackedSequences(rng.normal(size=(12, 3)), np.arange(13))
    chains = Chain(data, 4, boundaries=False)
    return Problem(chains, rng.integers(4, size=12).astype(np.int32), 0.05)


def test_a_residual_is_the_distance_of_the_marginals_from_the_probabilities():
    problem = table_problem()
    solver = SDCA(problem, None, sampling="residual", sampling_mix=1.0)
    # [LePriol18, eq. 49]: the norm times sqrt(1 + R_i / (n alpha)).
    scores = np.full(12, 2.0)
    factors = np.sqrt(1.0 + problem.structure.squared_radii() / (12 * problem.alpha))
    for i in (3, 8, 3):
        before = solver.marginals.local[i].copy()
        at_row = problem.data.X[i] @ solver.model.coef + solver.model.intercept
        scores[i] = np.abs(softmax(at_row) - before).sum()
        solver.kernel.epoch_in_order(np.array([i]))
        expected = factors * scores / (factors @ scores)
        assert_allclose(solver.kernel.sampler.probabilities(), expected, rtol=1e-6)


def test_the_non_uniformity_is_that_of_the_gaps_that_visits_found():
    rng = np.random.default_rng(2)
    weight = rng.uniform(0.5, 2.0, size=12)
    data = PackedSequences(rng.normal(size=(12, 3)), np.arange(13))
    chains = Chain(data, 4, boundaries=False)
    labels = rng.integers(4, size=12).astype(np.int32)
    problem = Problem(chains, labels, 0.05, sample_weight=weight)
    solver, gaps = SDCA(problem, None, dual_dtype="float64"), {}
    for i in (3, 8, 0, 3, 11, 8):
        mu = solver.marginals.local[i].copy()
        at_row = problem.data.X[i] @ solver.model.coef + solver.model.intercept
        gaps[i] = weight[i] * kl(mu, softmax(at_row))
        solver.kernel.epoch_in_order(np.array([i]))
        # [LePriol18, eq. 25] over the rows visited so far.
        values = np.array(list(gaps.values()))
        expected = np.sqrt(np.mean(values**2)) / np.mean(values)
        assert_allclose(solver.columns["non_uniformity"], expected, rtol=1e-6)


@pytest.mark.parametrize("values", [[0.0, 0.0], [0.5, 0.5], []])
def test_equal_values_are_uniform(values):
    assert non_uniformity(np.array(values)) == 1.0


@pytest.mark.parametrize("scale", [1e-200, 1.0, 1e200])
def test_the_non_uniformity_has_no_unit(scale):
    values = scale * np.array([0.0, 3.0, 0.0, 4.0])
    assert_allclose(non_uniformity(values), np.sqrt(25.0 / 4.0) / (7.0 / 4.0))


@pytest.mark.parametrize(
    "crf",
    [
        SDCACRF(),
        SDCACRF(sampling="uniform", acceleration=None),
        SDCACRF(loss="hinge"),
        OEGCRF(),
    ],
)
def test_dual_solvers_have_it_in_their_history(crf):
    X, y = make_chains(40, random_state=0)
    fitted = crf.set_params(random_state=0, tol=1e-2, max_iter=300).fit(X, y)
    found = fitted.history_["non_uniformity"]
    assert found.shape == fitted.history_["gap"].shape
    assert np.all((found >= 1.0) & (found <= np.sqrt(40.0)))
    assert np.any(found > 1.0)


def test_residual_sampling_ends_at_the_optimum_of_a_table():
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(60, 3)), rng.integers(3, size=60)
    crf = SDCACRF(sampling="residual", tol=1e-9, max_iter=1000, random_state=0)
    best = LBFGSCRF(tol=1e-10).fit(X, y).primal_objective_
    assert_allclose(crf.fit(X, y).primal_objective_, best, rtol=1e-8)
    with pytest.raises(ValueError, match='sampling="residual" is for tables'):
        crf.fit([X], [y])
    with pytest.raises(ValueError, match='"residual" is not for loss="hinge"'):
        crf.set_params(loss="hinge").fit(X, y)


def test_each_solver_has_the_schemes_whose_values_it_records():
    assert SchemeNames("sag") == {"uniform", "lipschitz"}
    assert SchemeNames("sdca") == set(SAMPLING_SCHEMES) - {"lipschitz"}
    for name in ("oeg", "bcfw"):
        assert SchemeNames(name) == SchemeNames("sdca") - {"residual"}
