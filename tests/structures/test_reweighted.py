"""Tree-reweighted sums against enumeration, on graphs of up to six nodes."""

from itertools import combinations, product

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.special import entr, logsumexp

import reference
from graph_cases import SHAPES, grid
from pairs import by_pairs
from skcrf_sdca.data.graphs import Edges
from skcrf_sdca.structures.graph.pairs import pair_places
from skcrf_sdca.structures.graph.reweighted import (
    ReweightedMarginals,
    ReweightedScores,
)
from skcrf_sdca.structures.graph.reweighting import order_of, reweighted_graphs

K = 3
CASES = [name for name in SHAPES if name != "nothing"]
TREES = ["one node", "no edges", "path", "star", "forest"]


class Case:
    """A graph of a shape with random scores, and all its labellings."""

    def __init__(self, name, scale=1.0, seed=0, *, directed=True):
        rng = np.random.default_rng(seed)
        self.n, ends = SHAPES[name]
        self.ends = np.array(ends, dtype=int).reshape(-1, 2)
        features = rng.normal(size=(len(ends), 2)) if len(ends) else None
        edges = Edges.of_lists(
            [ends], None if features is None else [features], [self.n]
        )
        place = pair_places(K, directed)
        offsets = np.array([0, self.n])
        self.graphs, self.order = reweighted_graphs(offsets, edges, K, place)
        self.local = scale * rng.normal(size=(self.n, K))
        self.tied = scale * rng.normal(size=self.graphs.n_tied)
        weights = self.tied.reshape(edges.features.shape[1], -1)[:, place]
        self.pairs = np.einsum("ef,fjk->ejk", edges.features, weights)
        self.scores = ReweightedScores(self.graphs, self.local, self.tied, offsets, 0)

    def labelling_scores(self):
        return reference.labelling_scores(self.local, self.pairs, self.ends)[1]

    def marginals(self):
        """Return the marginals of nodes and of edges, in the order of the ends."""
        node, _ = self.scores.node_marginals()
        found, _ = self.scores.pair_marginals()
        pairs = np.empty_like(found)
        pairs[self.order] = found
        # The second sum began where the first ended.
        for pair, (a, b) in zip(pairs, self.ends, strict=True):
            node[a], node[b] = pair.sum(axis=1), pair.sum(axis=0)
        return node, pairs

    def appearance(self):
        order = order_of(self.n, self.ends)
        rho = np.empty(len(self.ends))
        rho[order.edge] = order.appearance
        return rho

    def lower_bound(self, node, pairs):
        """Return <mu, scores> + H_TRW(mu)."""
        rho = self.appearance()
        value = (node * self.local).sum() + (pairs * self.pairs).sum()
        value += entr(node).sum()
        for r, pair, (a, b) in zip(rho, pairs, self.ends, strict=True):
            information = entr(node[a]).sum() + entr(node[b]).sum() - entr(pair).sum()
            value -= r * information
        return value


def assert_consistent(case, node, pairs):
    assert_allclose(node.sum(axis=1), 1.0, rtol=0, atol=1e-12)
    for pair, (a, b) in zip(pairs, case.ends, strict=True):
        assert pair.min() >= 0.0
        assert_allclose(pair.sum(axis=1), node[a], rtol=0, atol=1e-12)
        assert_allclose(pair.sum(axis=0), node[b], rtol=0, atol=1e-12)


@pytest.mark.parametrize("name", CASES)
def test_mixtures_with_labels_are_marginals(name):
    """The start of SDCA, and what a warm start at a smaller alpha makes of it."""
    case = Case(name)
    labels = np.arange(case.n, dtype=np.int32) % K
    offsets, options = np.array([0, case.n]), {"smoothing": 0.2, "dtype": np.float64}
    mixture = ReweightedMarginals.smoothed(case.graphs, offsets, labels, **options)
    mixture.shrink_to_labels(labels, keep=0.5)
    assert_allclose(mixture.node, 0.1 / K + 0.9 * np.eye(K)[labels])
    appearance, _ = case.graphs.counts()
    # The tables of edges stand first.
    pairs = mixture.table[: len(case.ends) * K**2].reshape(-1, K**2)
    pairs /= appearance[:, np.newaxis]
    assert_allclose(np.sort(pairs)[:, :-1], 0.1 / K**2)
    assert_allclose(pairs.sum(axis=1), 1.0)


@by_pairs({"name": CASES, "scale": [0.3, 1.0, 3.0], "directed": [True, False]})
def test_both_bounds_meet_at_a_number_above_log_z(name, scale, directed):
    case = Case(name, scale, directed=directed)
    node, pairs = case.marginals()
    (log_z,), exact = case.scores.log_partition(), logsumexp(case.labelling_scores())
    assert log_z >= exact - 1e-10
    assert_consistent(case, node, pairs)
    # A value of the concave problem, and one of its dual: both are the optimum.
    assert_allclose(case.lower_bound(node, pairs), log_z, rtol=0, atol=1e-6)
    if name in TREES:
        assert_allclose(log_z, exact, rtol=0, atol=1e-10)


@pytest.mark.parametrize(
    ("name", "scale", "seed"), [("grid", 5.0, 9), ("pendant", 10.0, 18)]
)
def test_no_probability_is_below_zero_by_rounding(name, scale, seed):
    """Scaling stops early, and what is added makes less than 1e-30 negative."""
    case = Case(name, scale, seed)
    assert_consistent(case, *case.marginals())


@pytest.mark.parametrize("scale", [1.0, 5.0])
@pytest.mark.parametrize("name", CASES)
def test_both_bounds_hold_after_any_number_of_sweeps(name, scale):
    (optimum,) = Case(name, scale).scores.log_partition()
    uppers = []
    for sweeps in (1, 2, 3, 10):
        case = Case(name, scale)
        case.graphs.most_sweeps = sweeps
        *_, (upper,) = case.scores.expectations(np.ones(1))
        uppers.append(upper)
        assert upper - case.scores.excess[0] - 1e-9 <= optimum <= upper + 1e-9
        node, pairs = case.marginals()
        assert_consistent(case, node, pairs)
        assert case.lower_bound(node, pairs) <= optimum + 1e-9
    assert (np.diff(uppers) <= 1e-12 * np.abs(uppers[0])).all()


def test_what_log_z_exceeds_the_lower_bound_by_is_told():
    """Of one sweep from the first turns, which both calls below make."""
    one, other = Case("clique"), Case("clique")
    for case in (one, other):
        case.graphs.most_sweeps = 1
    *_, (upper,) = one.scores.expectations(np.ones(1))
    found, _ = other.scores.pair_marginals()
    pairs = np.empty_like(found)
    pairs[other.order] = found
    node = np.array(
        [pairs[0].sum(1), pairs[0].sum(0), pairs[1].sum(0), pairs[2].sum(1)]
    )
    assert one.scores.excess[0] > 0.01
    lower = other.lower_bound(node, pairs)
    assert_allclose(one.scores.excess, upper - lower, rtol=0, atol=1e-9)


@pytest.mark.parametrize("name", CASES)
def test_log_z_is_convex_and_its_gradient_are_the_marginals(name):
    case = Case(name)
    rng = np.random.default_rng(1)
    local, tied = rng.normal(size=case.local.shape), rng.normal(size=case.tied.shape)

    def value(step):
        moved = case.scores.with_scores(
            case.local + step * local, case.tied + step * tied
        )
        return moved.log_partition()[0]

    values = np.array([value(step) for step in np.linspace(-2.0, 2.0, 41)])
    assert (np.diff(values, 2) >= -1e-9).all()
    node, expected, _ = case.scores.expectations(np.ones(1))
    slope = (node * local).sum() + expected @ tied
    assert_allclose((value(1e-4) - value(-1e-4)) / 2e-4, slope, rtol=0, atol=1e-5)


@pytest.mark.parametrize("scale", [100.0, 1000.0])
@pytest.mark.parametrize("name", CASES)
def test_nothing_overflows(name, scale):
    case = Case(name, scale)
    node, pairs = case.marginals()
    assert np.isfinite(node).all()
    assert np.isfinite(pairs).all()
    (log_z,), exact = case.scores.log_partition(), logsumexp(case.labelling_scores())
    assert exact - 1e-9 * abs(exact) <= log_z <= exact + 0.3 * abs(exact)
    if name in TREES:
        assert_allclose(log_z, exact, rtol=1e-12)


@pytest.mark.parametrize("name", CASES)
def test_known_labels_have_all_probability(name):
    case = Case(name)
    known = np.full(case.n, -1)
    known[0] = 2
    clamped = case.scores.clamped(known)
    node, log_z = clamped.node_marginals()
    assert_allclose(node[0], [0.0, 0.0, 1.0], rtol=0, atol=1e-12)
    assert np.isfinite(node).all()
    assert log_z <= case.scores.log_partition() + 1e-9
    case.scores.local[0] = -np.inf
    assert case.scores.log_partition() == [-np.inf]
    assert case.scores.viterbi()[1] == [-np.inf]


@pytest.mark.parametrize("scale", [1.0, 10.0])
@pytest.mark.parametrize("name", CASES)
def test_the_maximum_is_below_its_bound(name, scale):
    for seed in range(5):
        case = Case(name, scale, seed)
        scores = case.labelling_scores()
        (value,), (bound,) = case.scores.maxima()
        labels, (own,) = case.scores.viterbi()
        assert own == value
        assert_allclose(case.scores.path_scores(labels), value, rtol=1e-12)
        assert value <= scores.max() + 1e-9
        assert bound >= scores.max() - 1e-9 * abs(bound)
        if name in TREES:
            assert_allclose([value, bound], scores.max(), rtol=1e-12)


@pytest.mark.parametrize("name", CASES)
def test_appearances_are_those_of_random_spanning_forests(name):
    n, ends = SHAPES[name]
    ends = np.array(ends, dtype=int).reshape(-1, 2)
    order = order_of(n, ends)
    first = np.where(order.leaves, *ends[order.edge].T)
    choices = [np.flatnonzero(first == v) for v in order.node]
    choices = [own for own in choices if len(own)]
    drawn, components = list(product(*choices)), n - len(choices)
    # All have as many edges as a spanning tree of each component.
    for edges in drawn:
        component = np.arange(n)
        for a, b in ends[order.edge[list(edges)]]:
            assert component[a] != component[b]
            component[component == component[a]] = component[b]
        assert len(set(component)) == components
    counts = np.bincount(np.ravel(drawn).astype(int), minlength=len(ends))
    assert_allclose(counts / len(drawn), order.appearance)
    assert_allclose(order.appearance.sum(), n - components)


def test_inner_edges_of_a_grid_appear_in_half_of_the_trees():
    order = order_of(100, grid(10, 10))
    assert_allclose(np.sort(order.appearance)[: -2 * 9], 0.5)
    assert (order.counting[order.node[20:-20]] <= 0.0).all()


def random_graph(n_nodes, share, rng):
    """Return the edges of a graph that has each of all pairs by chance."""
    pairs = np.array(list(combinations(range(n_nodes), 2)))
    return pairs[rng.random(len(pairs)) < share]


@pytest.mark.parametrize("seed", range(5))
def test_a_node_that_is_found_has_the_most_edges_to_nodes_found_before(seed):
    n, ends = 12, random_graph(12, 0.3, np.random.default_rng(seed))
    near = [{*ends[ends[:, 0] == v, 1], *ends[ends[:, 1] == v, 0]} for v in range(n)]
    order, found = order_of(n, ends), set()
    for v, n_edges in zip(order.node[::-1], order.n_edges[::-1], strict=True):
        most = max(len(near[u] & found) for u in range(n) if u not in found)
        assert n_edges == len(near[v] & found) == most
        found.add(v)
