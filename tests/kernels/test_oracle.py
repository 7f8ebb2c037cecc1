"""The compiled oracle against enumeration of all label paths."""

import threading

import joblib
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

import reference
import twins
from pairs import in_one_test
from samples import inconsistency
from skcrf_sdca._kernels.inference import _passes
from skcrf_sdca._utils.parallel import each_range, ranges
from skcrf_sdca.structures.chain import decoding, oracle
from skcrf_sdca.structures.chain.chains import Chains

chains = reference.chains(max_abs=1e4)


def scale_of(*scores):
    """Return the scale of the rounding errors of a log partition."""
    return 1.0 + sum(abs(s).max(initial=0.0) for s in scores) * len(scores[0])


@given(chains)
def test_log_partition(chain):
    expected = reference.log_partition(*chain)
    (value,) = oracle.log_partition(*chain)
    assert_allclose(value, expected, rtol=1e-13, atol=1e-13 * scale_of(*chain))


@given(chains)
def test_marginals(chain):
    marginals, (log_z,) = oracle.marginals(*chain)
    tolerance = 1e-13 * scale_of(*chain)
    assert_allclose(log_z, reference.log_partition(*chain), rtol=0, atol=tolerance)
    node, edge = marginals[0]
    assert_allclose(node, reference.node_marginals(*chain), rtol=0, atol=tolerance)
    assert_allclose(edge, reference.edge_marginals(*chain), rtol=0, atol=tolerance)
    assert inconsistency(marginals) <= max(tolerance, 1e-12)


@given(
    chains | reference.chains(max_abs=300.0), st.sets(st.integers(0, 15), max_size=5)
)
def test_log_marginals_do_not_underflow(chain, forbidden):
    node_scores, transition = chain[0], chain[1].copy()
    transition.flat[[k for k in forbidden if k < transition.size]] = -np.inf
    expected = np.full(node_scores.shape, -np.inf)
    scores = reference.path_scores(node_scores, transition)
    if (scores > -np.inf).any():
        expected = reference.log_node_marginals(node_scores, transition)
    offsets = np.array([0, len(node_scores)])
    found = Chains(node_scores, transition, offsets).log_node_marginals()
    tolerance = 1e-13 * scale_of(*chain)
    assert_allclose(found, expected, rtol=1e-13, atol=tolerance)
    assert (found <= 0.0).all()


def test_log_probabilities_far_below_the_least_number_where_no_pair_is_allowed():
    nodes, forbidden = np.array([[-3000.0, 0.0]]), np.full((2, 2), -np.inf)
    found = Chains(nodes, forbidden, np.array([0, 1])).log_node_marginals()
    assert_array_equal(found, nodes)


@given(chains)
def test_entropy_is_that_of_the_paths(chain):
    marginals, _ = oracle.marginals(*chain)
    expected = reference.path_entropy(reference.path_probabilities(*chain))
    assert_allclose(
        marginals.entropy()[0], expected, rtol=0, atol=1e-12 * scale_of(*chain)
    )


@given(chains)
def test_viterbi(chain):
    path, (score,) = oracle.viterbi(*chain)
    scores = reference.path_scores(*chain)
    tolerance = 1e-13 * scale_of(*chain)
    assert_allclose(score, scores.max(), rtol=0, atol=tolerance)
    paths = reference.all_paths(*np.shape(chain[0]))
    (row,) = np.flatnonzero((paths == path).all(axis=1))
    assert scores[row] >= scores.max() - tolerance


@given(st.integers(1, 6), st.integers(1, 5))
def test_ties_go_to_the_lowest_label(length, n_labels):
    path, _ = oracle.viterbi(np.zeros((length, n_labels)), np.zeros((n_labels,) * 2))
    assert path.tolist() == [0] * length


# Numbers of labels near the vector widths, and far above them.
@in_one_test("n_labels", [1, 2, 3, 5, 8, 9, 17, 45, 200])
@in_one_test("scores", ["any", "tied", "forbidden", "impossible"])
def test_viterbi_is_its_twin_to_the_last_bit(n_labels, scores):
    rng = np.random.default_rng(n_labels)
    node_scores = rng.normal(size=(40, n_labels))
    transition = rng.normal(size=(n_labels, n_labels))
    if scores == "tied":
        node_scores, transition = np.rint(node_scores), np.rint(transition)
    elif scores != "any":
        wall = -1e4 if scores == "forbidden" else -np.inf
        node_scores[rng.random(node_scores.shape) < 0.3] = wall
        transition[rng.random(transition.shape) < 0.3] = wall
    expected, expected_score = twins.best_path(node_scores, transition)
    path, (score,) = oracle.viterbi(node_scores, transition)
    assert path.tolist() == expected
    assert score == expected_score


@pytest.mark.parametrize("n_labels", [1, 9])
def test_the_kernel_makes_labels_of_nan_scores(n_labels):
    """Callers refuse NaN; given NaN, the kernel still stays within its arrays."""
    nan, transition = np.full((3, n_labels), np.nan), np.zeros((n_labels, n_labels))
    path, score = np.full(3, -1, dtype=np.int32), np.zeros(1)
    _passes.best_labels(Chains(nan, transition, np.array([0, 3])), 0, 1, path, score)
    assert path.tolist() == [0, 0, 0]
    assert np.isnan(score)


@pytest.mark.parametrize("n_labels", [1, 3, 9, 45])
@pytest.mark.parametrize("function", [oracle.viterbi, oracle.node_marginals])
def test_threads_change_no_bit(function, n_labels):
    rng = np.random.default_rng(n_labels)
    offsets = np.cumsum([0, *rng.integers(0, 60, size=300)])
    node_scores = rng.normal(size=(offsets[-1], n_labels))
    transition = rng.normal(size=(n_labels, n_labels))
    assert len(ranges(offsets)) > 1
    serial = function(node_scores, transition, offsets, n_jobs=1)
    threaded = function(node_scores, transition, offsets, n_jobs=2)
    assert [a.tobytes() for a in threaded] == [a.tobytes() for a in serial]


@pytest.mark.usefixtures("many_ranges")
@given(st.lists(chains, min_size=1, max_size=4), st.integers(1, 3))
def test_many_chains_are_the_single_chains(several, n_jobs):
    n_labels = min(len(transition) for _, transition in several)
    transition = several[0][1][:n_labels, :n_labels]
    parts = [node[:, :n_labels] for node, _ in several]
    parts.insert(1, np.empty((0, n_labels)))
    offsets = np.concatenate([[0], np.cumsum([len(p) for p in parts])])
    scores = np.concatenate(parts)
    marginals, log_z = oracle.marginals(scores, transition, offsets, n_jobs=n_jobs)
    weight = np.arange(1.0, len(parts) + 1)
    several_chains = oracle.as_chains(scores, transition, offsets, n_jobs=n_jobs)
    node, edge_total, _ = several_chains.expectations(weight)
    assert_allclose(node, marginals.node, rtol=0, atol=0)
    node, _ = oracle.node_marginals(scores, transition, offsets, n_jobs=n_jobs)
    assert_allclose(node, np.minimum(marginals.node, 1.0), rtol=0, atol=0)
    assert_allclose(
        edge_total,
        sum(c * marginals[i][1].sum(axis=0) for i, c in enumerate(weight)),
        rtol=1e-12,
        atol=1e-12,
    )
    assert_allclose(
        log_z, oracle.log_partition(scores, transition, offsets), rtol=0, atol=0
    )
    for i, part in enumerate(parts):
        single, (value,) = oracle.marginals(part, transition)
        assert log_z[i] == value
        assert_allclose(marginals[i][0], single.node, rtol=0, atol=0)
        assert_allclose(marginals[i][1], single.edge, rtol=0, atol=0)


@given(chains, st.floats(-1e4, 1e4))
def test_shift_of_all_node_scores(chain, shift):
    node_scores, transition = chain
    before, (log_z,) = oracle.marginals(node_scores, transition)
    after, (shifted,) = oracle.marginals(node_scores + shift, transition)
    tolerance = 1e-12 * (scale_of(*chain) + abs(shift) * len(node_scores))
    assert_allclose(shifted - log_z, len(node_scores) * shift, rtol=0, atol=tolerance)
    assert_allclose(after.node, before.node, rtol=0, atol=tolerance)


UNDERFLOWING = {
    "large transitions": ([[0, -2000], [-2000, 0], [0, -1500]], -2000.0),
    # The label that underflows at the second position decides the third.
    "lost and wanted again": ([[0, 0], [-1000, 0], [0, 0]], -500.0),
    # Label 0 underflows against label 1, which then pays at every transition.
    "lost little by little": ([[-800, 0], [0, 0], [0, 0], [0, 0]], -500.0),
}


@pytest.mark.parametrize("case", sorted(UNDERFLOWING))
def test_scores_that_underflow_in_the_probability_domain(case):
    node_scores, penalty = UNDERFLOWING[case]
    node_scores = np.array(node_scores, dtype=float)
    transition = np.array([[0.0, penalty], [penalty, penalty]])
    marginals, (log_z,) = oracle.marginals(node_scores, transition)
    assert_allclose(log_z, reference.log_partition(node_scores, transition), rtol=1e-13)
    assert_allclose(
        marginals.node,
        reference.node_marginals(node_scores, transition),
        rtol=0,
        atol=1e-12,
    )
    assert inconsistency(marginals) < 1e-12


@pytest.mark.parametrize("scale", [1e4, 1e30, 1e100])
@pytest.mark.parametrize("length", [1, 2, 50])
def test_probabilities_sum_to_one_whatever_the_scores(scale, length):
    rng = np.random.default_rng(0)
    node_scores = rng.normal(size=(length, 3))
    transition = scale * rng.normal(size=(3, 3))
    marginals, _ = oracle.marginals(node_scores, transition)
    assert_allclose(marginals.node.sum(axis=1), 1, rtol=1e-12)
    assert_allclose(marginals.edge.sum(axis=(1, 2)), 1, rtol=1e-12)


def test_very_long_chain():
    """At 10^5 positions all marginals are 1/2 and log Z has a closed form."""
    length = 100_000
    transition = np.array([[0.7, -0.3], [-0.3, 0.7]])
    marginals, (log_z,) = oracle.marginals(np.zeros((length, 2)), transition)
    exact = np.log(2) + (length - 1) * np.log(np.exp(0.7) + np.exp(-0.3))
    assert_allclose(log_z, exact, rtol=1e-11)
    assert_allclose(marginals.node, 0.5, rtol=1e-10)


@pytest.mark.parametrize("score", [1.0, 40.0, 800.0])
def test_entropy_near_certainty(score):
    odds = np.exp(-score)
    expected = 50 * (np.log1p(odds) + score * odds / (1 + odds))
    node_scores = np.tile([score, 0.0], (50, 1))
    marginals, _ = oracle.marginals(node_scores, np.zeros((2, 2)))
    assert_allclose(marginals.entropy()[0], expected, rtol=1e-12, atol=1e-12)


def test_marginals_are_the_gradient_of_log_partition():
    rng = np.random.default_rng(0)
    node_scores, transition = rng.normal(size=(4, 3)), rng.normal(size=(3, 3))
    marginals, _ = oracle.marginals(node_scores, transition)
    h = 1e-6
    for t, k in np.ndindex(4, 3):
        bump = np.zeros((4, 3))
        bump[t, k] = h
        (up,) = oracle.log_partition(node_scores + bump, transition)
        (down,) = oracle.log_partition(node_scores - bump, transition)
        assert_allclose((up - down) / (2 * h), marginals.node[t, k], rtol=0, atol=1e-8)
    for j, k in np.ndindex(3, 3):
        bump = np.zeros((3, 3))
        bump[j, k] = h
        (up,) = oracle.log_partition(node_scores, transition + bump)
        (down,) = oracle.log_partition(node_scores, transition - bump)
        assert_allclose(
            (up - down) / (2 * h), marginals.edge[:, j, k].sum(), rtol=0, atol=1e-8
        )


@pytest.mark.survives
@pytest.mark.parametrize(
    "offsets",
    [[0, 2**63 - 1, -5, 2], [0, 2, 1, 2], [0, 1], [1, 2], [0, 3], [-1, 2], []],
)
def test_offsets_that_do_not_cut_the_scores_are_refused(offsets):
    """Of the first the differences overflow; of the others the ends are wrong, or not.

    Kernels do not look: without the check they read outside the scores.
    """
    with pytest.raises(ValueError, match="must not decrease"):
        oracle.viterbi(np.zeros((2, 1)), [[0.0]], offsets)


def test_shapes_are_checked():
    with pytest.raises(ValueError, match=r"transition has shape \(2, 2\)"):
        oracle.log_partition(np.zeros((3, 4)), np.zeros((2, 2)))


@pytest.mark.usefixtures("many_ranges")
@given(st.integers(1, 40), st.integers(0, 2**32 - 1))
def test_ranges_cover_all_chains_once(n, seed):
    lengths = np.random.default_rng(seed).integers(0, 30, size=n)
    offsets = np.concatenate([[0], np.cumsum(lengths)])
    covered = [i for b, e in ranges(offsets) for i in range(b, e)]
    assert covered == list(range(n))


@pytest.mark.parametrize("n_positions", [2**20, 2**24])
def test_ranges_of_many_positions_are_more_and_not_longer(n_positions):
    bounds = np.array(ranges(np.arange(0, n_positions + 1, 2**5)))
    sizes = 2**5 * np.diff(bounds)
    assert np.all(np.abs(sizes - 2**16) <= 2**5)


@pytest.mark.usefixtures("many_ranges")
@pytest.mark.parametrize("n_jobs", [1, 2, 5])
def test_results_of_ranges_come_in_order_and_few_are_held(n_jobs):
    offsets = np.arange(100)
    started, results = [], []

    def run(begin, end):
        started.append(begin)
        return begin

    for value in each_range(run, offsets, n_jobs):
        results.append(value)
        assert len(started) <= len(results) + 2 * n_jobs
    assert results == [begin for begin, _ in ranges(offsets)]


@pytest.mark.usefixtures("many_ranges")
@pytest.mark.parametrize("n_jobs", [1, 2])
def test_errors_of_threads_reach_the_caller(n_jobs):
    def run(begin, end):
        raise ZeroDivisionError(begin)

    with pytest.raises(ZeroDivisionError, match="^0$"):
        list(each_range(run, np.arange(9), n_jobs))


@pytest.mark.usefixtures("many_ranges")
def test_n_jobs_means_what_it_means_to_joblib():
    offsets, names = np.arange(9), set()

    def run(begin, end):
        names.add(threading.current_thread().name)

    list(each_range(run, offsets))
    assert names == {threading.main_thread().name}
    names.clear()
    with joblib.parallel_config("threading", n_jobs=2):
        list(each_range(run, offsets))
    assert threading.main_thread().name not in names


# Invalid scores -----------------------------------------------------------------------

FUNCTIONS = {
    "log_partition": oracle.log_partition,
    "marginals": oracle.marginals,
    "node_marginals": oracle.node_marginals,
    "viterbi": oracle.viterbi,
    "log_likelihood": lambda *chains: oracle.log_likelihood([0, 0, 0], *chains),
    "span_probabilities": lambda *chains: oracle.span_probabilities(
        [[0, 0, 1]], [0], *chains
    ),
    "posterior": decoding.posterior,
    "n_best": decoding.n_best,
    "sample": lambda *chains: decoding.sample(*chains, uniform=np.zeros((3, 1))),
}


@pytest.mark.parametrize("score", [np.nan, np.inf])
@pytest.mark.parametrize("function", FUNCTIONS.values(), ids=FUNCTIONS)
def test_scores_that_are_none_are_named(function, score):
    """Unchecked, NaN would count as a number, and +inf would forbid every path."""
    node_scores, transition = np.zeros((3, 2)), np.zeros((2, 2))
    node_scores[1, 0] = score
    with pytest.raises(ValueError, match=rf"node_scores\[1, 0\] is {score}; scores"):
        function(node_scores, transition)
    transition[0, 1] = score
    with pytest.raises(ValueError, match=rf"transition\[0, 1\] is {score}; scores"):
        function(np.zeros((3, 2)), transition)


@pytest.mark.parametrize(
    "scores", [None, 1.0, [0.0, 1.0], [["a"]], [[1j]], np.zeros((1, 1, 1)), [[None]]]
)
def test_scores_are_real_numbers_on_two_axes(scores):
    with pytest.raises(ValueError, match="node_scores must be a two-dimensional array"):
        oracle.log_partition(scores, [[0.0]])
    with pytest.raises(ValueError, match="transition must be a two-dimensional array"):
        oracle.log_partition([[0.0]], scores)


def test_integers_are_not_rounded():
    chains = np.zeros((3, 2)), np.zeros((2, 2))
    for call, name in (
        (lambda: oracle.log_partition(*chains, [0, 1.5, 3]), "offsets"),
        (lambda: oracle.log_likelihood([0, 0.5, 1], *chains), "labels"),
        (lambda: oracle.log_likelihood([0, 0, 2**40], *chains), "labels"),
        (lambda: oracle.span_probabilities([[0, 0, 1.5]], [0], *chains), "spans"),
        (
            lambda: oracle.span_probabilities([[0, 0], [1, 0], [1, 1]], [], *chains),
            "spans",
        ),
    ):
        with pytest.raises(ValueError, match=f"^{name} must"):
            call()
