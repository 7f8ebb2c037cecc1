"""Graphs and trees: inference by enumeration, objectives, certificates, bad input."""

import pickle

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal
from scipy.special import logsumexp
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GridSearchCV, cross_val_predict

import reference
from graph_cases import SHAPES, cycle, grid, labelling_scores, sample
from pairs import by_pairs
from skcrf_sdca import LBFGSCRF, GraphCRF, TreeCRF, make_tagger
from skcrf_sdca._kernels.inference._graph_marginals import label_places
from skcrf_sdca.data.graphs import Edges
from skcrf_sdca.data.packed import PackedSequences
from skcrf_sdca.objective.losses import LOG_LOSS
from skcrf_sdca.objective.problem import Problem
from skcrf_sdca.solvers.oeg import OEG
from skcrf_sdca.solvers.sdca import SDCA
from skcrf_sdca.structures.chain.chains import Chains
from skcrf_sdca.structures.graph import junction_tree
from skcrf_sdca.structures.graph.structure import Graph
from skcrf_sdca.text import TokenFeatures

SOLVERS = "sdca", "oeg", "sag", "sgd", "lbfgs"


def graphs_of(names, n_labels, *, directed=False, n_features=2, seed=0):
    """Return a Graph with the named shapes, random features, and its Edges."""
    rng = np.random.default_rng(seed)
    sizes = [SHAPES[name][0] for name in names]
    ends = [SHAPES[name][1] for name in names]
    features = [rng.normal(size=(len(own), 2)) for own in ends]
    edges = Edges.of_lists(ends, features, sizes)
    X = rng.normal(size=(sum(sizes), n_features))
    data = PackedSequences(X, np.cumsum([0, *sizes]))
    return Graph(data, n_labels, edges=edges, directed=directed), edges


def tied_features(structure, edges, i, path):
    """Return the tied potentials of one labelling."""
    out = np.zeros((edges.features.shape[1], structure.place.max() + 1))
    for e in range(edges.offsets[i], edges.offsets[i + 1]):
        a, b = edges.ends[e]
        out[:, structure.place[path[a], path[b]]] += edges.features[e]
    return out.ravel()


def enumerated(structure, edges, i, local, tied):
    """Return the labellings of graph i, their tied potentials and their scores."""
    paths = reference.all_paths(len(local), structure.n_labels)
    features = np.array([tied_features(structure, edges, i, path) for path in paths])
    scores = local[np.arange(len(local)), paths].sum(axis=1) + features @ tied
    return paths, features, scores


@by_pairs({"name": SHAPES, "n_labels": [1, 2, 3], "directed": [False, True]})
def test_inference_is_that_of_enumeration(name, n_labels, directed):
    # Two graphs, so that one begins where another ends.
    structure, edges = graphs_of(["path", name], n_labels, directed=directed)
    parameters = structure.new_parameters()
    parameters.w[:] = 2.0 * np.random.default_rng(3).normal(size=len(parameters.w))
    scores = structure.scores(parameters, 0, 2)
    weight = np.array([0.25, 3.0])
    local, total, log_z = scores.expectations(weight)
    each = structure.zero_potentials(np.float64)
    assert_array_equal(scores.potential_expectations(*each), log_z)
    assert_allclose(each.tied_total(weight), total, atol=1e-12)
    assert_array_equal(each.local, local)
    assert_array_equal(scores.log_partition(), log_z)
    paths, best = scores.viterbi()
    assert_allclose(scores.path_scores(paths), best, atol=1e-12)
    _, order = junction_tree.junction_trees(
        structure.offsets, edges, n_labels, structure.place
    )
    pairs = np.empty((len(order), n_labels, n_labels))
    pairs[order] = scores.pair_marginals()[0]
    expected_total = 0.0
    for i, (first, last) in enumerate([(0, 4), (4, len(local))]):
        all_paths, features, values = enumerated(
            structure, edges, i, scores.local[first:last], parameters.tied
        )
        assert_allclose(log_z[i], logsumexp(values), atol=1e-10)
        p = np.exp(values - logsumexp(values))
        assert_allclose(each.tied[i], p @ features, atol=1e-10)
        expected_total = expected_total + weight[i] * (p @ features)
        marginals = np.zeros((last - first, n_labels))
        of_pairs = np.zeros(
            (edges.offsets[i + 1] - edges.offsets[i], n_labels, n_labels)
        )
        ends = edges.ends[edges.offsets[i] : edges.offsets[i + 1]]
        for path, probability in zip(all_paths, p, strict=True):
            marginals[np.arange(len(path)), list(path)] += probability
            for e, (a, b) in enumerate(ends):
                of_pairs[e, path[a], path[b]] += probability
        assert_allclose(local[first:last], marginals, atol=1e-10)
        own = pairs[edges.offsets[i] : edges.offsets[i + 1]]
        assert_allclose(own, of_pairs, atol=1e-10)
        assert_allclose(best[i], values.max(), atol=1e-10)
        assert_array_equal(paths[first:last], all_paths[values.argmax()])
    assert_allclose(total, expected_total, atol=1e-10)


@pytest.mark.parametrize("scale", [1e-3, 1e3, 1e6])
def test_inference_is_exact_for_tiny_and_huge_scores(scale):
    structure, edges = graphs_of(["cycle"], 3)
    parameters = structure.new_parameters()
    parameters.w[:] = scale * np.random.default_rng(0).normal(size=len(parameters.w))
    scores = structure.scores(parameters, 0, 1)
    *_, values = enumerated(structure, edges, 0, scores.local, parameters.tied)
    assert_allclose(scores.log_partition(), logsumexp(values), rtol=1e-12)
    local, _, _ = scores.expectations(np.ones(1))
    assert_allclose(local.sum(axis=1), 1.0, atol=1e-12)


# With scores of 1 the recursions multiply, with larger ones they add logarithms.
@pytest.mark.parametrize("scale", [1.0, 300.0, 5000.0])
@pytest.mark.parametrize("name", [name for name in SHAPES if name != "nothing"])
def test_labels_that_are_forbidden_have_probability_0(name, scale):
    structure, edges = graphs_of(["path", name], 3, directed=True)
    rng = np.random.default_rng(4)
    parameters = structure.new_parameters(
        scale * rng.normal(size=len(structure.new_parameters().w))
    )
    scores = structure.scores(parameters, 0, 2)
    forbidden = rng.random(scores.local.shape) < 0.4
    forbidden[np.arange(len(forbidden)), rng.integers(3, size=len(forbidden))] = False
    scores.local[forbidden] = -np.inf
    local, total, log_z = scores.expectations(np.ones(2))
    assert (local[forbidden] == 0.0).all()
    nodes = slice(4, None)
    *_, values = enumerated(structure, edges, 0, scores.local[:4], parameters.tied)
    paths, features, own = enumerated(
        structure, edges, 1, scores.local[nodes], parameters.tied
    )
    assert_allclose(log_z, [logsumexp(values), logsumexp(own)], rtol=1e-12, atol=1e-10)
    each = structure.zero_potentials(np.float64)
    scores.potential_expectations(*each)
    p = np.exp(own - logsumexp(own))
    assert_allclose(each.tied[1], p @ features, atol=1e-10)
    expected = np.zeros_like(local[nodes])
    for path, probability in zip(paths, p, strict=True):
        expected[np.arange(len(path)), list(path)] += probability
    assert_allclose(local[nodes], expected, atol=1e-10)
    pairs, _ = scores.pair_marginals()
    assert_allclose(pairs.sum(axis=(1, 2)), 1.0, atol=1e-10)
    best, value = scores.viterbi()
    assert_allclose(value, [values.max(), own.max()], rtol=1e-12)
    assert not forbidden[np.arange(len(best)), best].any()


def test_a_graph_of_which_nothing_is_possible_has_no_distribution():
    structure, _ = graphs_of(["star", "cycle"], 2)
    scores = structure.scores(structure.new_parameters(), 0, 2)
    scores.local[2] = -np.inf
    for scale in (1.0, 1e5):
        scores.local[[0, 6], 0] = scale
        node, log_z = scores.node_marginals()
        assert log_z[0] == -np.inf
        assert np.isfinite(log_z[1])
        assert_array_equal(node[:5], 0.0)
        assert_allclose(node[5:].sum(axis=1), 1.0)
    scores.local[6, 1] = np.nan
    assert np.isnan(scores.log_partition()[1])


def test_a_hub_of_many_leaves_is_exact():
    # The messages of all leaves together are beyond the scaled domain.
    n, n_labels = 500, 3
    ends = [[0, i] if i % 2 else [i, 0] for i in range(1, n)]
    rng = np.random.default_rng(0)
    edges = Edges.of_lists([ends], None, [n])
    data = PackedSequences(rng.normal(size=(n, 2)), [0, n])
    structure = Graph(data, n_labels, edges=edges, directed=True)
    parameters = structure.new_parameters(
        3.0 * rng.normal(size=len(structure.new_parameters().w))
    )
    scores = structure.scores(parameters, 0, 1)
    pair = parameters.tied.reshape(n_labels, n_labels)
    below = np.array(
        [
            logsumexp((pair if i % 2 else pair.T) + scores.local[i], axis=1)
            for i in range(1, n)
        ]
    )
    hub = scores.local[0] + below.sum(axis=0)
    assert_allclose(scores.log_partition(), logsumexp(hub), rtol=1e-12)
    node, _ = scores.node_marginals()
    assert_allclose(node[0], np.exp(hub - logsumexp(hub)), atol=1e-10)


@pytest.mark.parametrize("scale", [1.0, 100.0, 3000.0])
@pytest.mark.parametrize("seed", range(3))
def test_a_path_has_the_marginals_of_the_chain_at_any_spread(scale, seed):
    rng = np.random.default_rng(seed)
    lengths, n_labels = rng.integers(1, 20, size=5), 6
    offsets = np.cumsum([0, *lengths])
    ends = [np.column_stack([np.arange(n - 1), np.arange(1, n)]) for n in lengths]
    edges = Edges.of_lists(ends, None, lengths)
    data = PackedSequences(rng.normal(size=(offsets[-1], 3)), offsets)
    structure = Graph(data, n_labels, edges=edges, directed=True)
    parameters = structure.new_parameters(
        scale * rng.normal(size=len(structure.new_parameters().w))
    )
    scores = structure.scores(parameters, 0, 5)
    chance = rng.random(scores.local.shape)
    scores.local[chance < chance.max(axis=1, keepdims=True) - 0.5] = -np.inf
    chains = Chains(scores.local, parameters.tied.reshape(n_labels, n_labels), offsets)
    for ours, theirs in zip(
        scores.expectations(np.ones(5)), chains.expectations(np.ones(5)), strict=True
    ):
        assert_allclose(ours.ravel(), theirs.ravel(), rtol=1e-11, atol=1e-10)
    assert_array_equal(scores.viterbi()[0], chains.viterbi()[0])


@pytest.mark.parametrize("n_types", [1, 2, None])
def test_equal_edges_are_of_one_type(n_types):
    rng = np.random.default_rng(0)
    offsets = np.array([0, 3, 3, 8])
    rows = rng.normal(size=(8, 2))
    if n_types is not None:
        rows = rows[rng.integers(n_types, size=8)]
    types, most, shared = junction_tree.edge_types(rows, offsets)
    assert shared == (n_types is not None)
    assert types.max() < most <= 5
    for i in range(8):
        for j in range(8):
            together = (i < 3) == (j < 3)
            if together or shared:
                assert (types[i] == types[j]) == (rows[i] == rows[j]).all()


def test_a_chain_as_a_directed_graph_has_the_results_of_the_chain_kernels():
    rng = np.random.default_rng(0)
    lengths, n_labels = np.array([1, 7, 0, 40]), 5
    offsets = np.cumsum([0, *lengths])
    ends = [np.column_stack([np.arange(n - 1), np.arange(1, n)]) for n in lengths]
    ends[2] = []
    edges = Edges.of_lists(ends, None, lengths)
    data = PackedSequences(rng.normal(size=(offsets[-1], 3)), offsets)
    structure = Graph(data, n_labels, edges=edges, directed=True)
    parameters = structure.new_parameters()
    parameters.w[:] = rng.normal(size=len(parameters.w))
    scores = structure.scores(parameters, 0, 4)
    transition = parameters.tied.reshape(n_labels, n_labels)
    chains = Chains(scores.local, transition, offsets)
    weight = rng.random(4)
    for ours, theirs in zip(
        scores.expectations(weight), chains.expectations(weight), strict=True
    ):
        assert_allclose(ours.ravel(), theirs.ravel(), atol=1e-10)
    assert_array_equal(scores.viterbi()[0], chains.viterbi()[0])


def test_a_path_of_10_000_nodes_in_any_order_has_the_log_z_of_the_chain():
    rng = np.random.default_rng(0)
    n, n_labels = 10_000, 2
    number = rng.permutation(n)
    ends = np.column_stack([number[:-1], number[1:]])
    edges = Edges.of_lists([ends], None, [n])
    data = PackedSequences(rng.normal(size=(n, 1)), [0, n])
    structure = Graph(data, n_labels, edges=edges, directed=True)
    parameters = structure.new_parameters()
    parameters.w[:] = rng.normal(size=len(parameters.w))
    scores = structure.scores(parameters, 0, 1)
    transition = parameters.tied.reshape(n_labels, n_labels)
    chain = Chains(scores.local[number], transition, np.array([0, n]))
    assert_allclose(scores.log_partition(), chain.log_partition(), rtol=1e-12)
    assert_allclose(
        scores.node_marginals()[0][number], chain.node_marginals()[0], atol=1e-9
    )


# The width of the widest clique less 1: exact for these.
@pytest.mark.parametrize(
    ("n_nodes", "ends", "treewidth"),
    [
        (9, [[i // 2, i] for i in range(1, 9)], 1),
        (9, cycle(9), 2),
        (5, [[i, j] for i in range(5) for j in range(i)], 4),
        (30, grid(3, 10), 3),
        (7, [], 0),
        # A wheel, whose hub has more neighbours than a clique may have.
        (300, [*cycle(299), *([299, i] for i in range(299))], 3),
    ],
)
def test_min_fill_finds_the_treewidth_of_simple_graphs(n_nodes, ends, treewidth):
    ends = Edges.of_lists([ends], None, [n_nodes]).ends
    tree = junction_tree.tree_of(n_nodes, ends, 60)
    assert tree.n_axes.max() == treewidth
    assert sorted(tree.node) == list(range(n_nodes))


def problem_of(structure, *, alpha=0.3, loss=None):
    labels = np.random.default_rng(5).integers(
        structure.n_labels, size=structure.data.n_positions, dtype=np.int32
    )
    weight = np.linspace(1.0, 2.0, len(structure.data))
    loss = LOG_LOSS if loss is None else loss
    return Problem(structure, labels, alpha, sample_weight=weight, loss=loss), labels


NAMES = ["cycle", "nothing", "star", "clique", "one node", "twice"]


@pytest.mark.parametrize("directed", [False, True])
def test_the_gradient_is_that_of_differences(directed):
    structure, _ = graphs_of(NAMES, 3, directed=directed)
    problem, _ = problem_of(structure)
    w = np.random.default_rng(1).normal(size=len(problem.new_parameters().w))
    gradient, _ = problem.certify_primal(w)
    for k in range(len(w)):
        step = np.zeros_like(w)
        step[k] = 1e-5
        above, below = (
            problem.primal(point, problem.mean_loss(point))
            for point in (w + step, w - step)
        )
        assert_allclose(gradient[k], (above - below) / 2e-5, atol=1e-7)


def test_the_first_objective_is_that_of_the_uniform_distribution():
    structure, _ = graphs_of(NAMES, 3)
    problem, _ = problem_of(structure)
    zero = problem.new_parameters().w
    assert_allclose(problem.initial_primal, problem.mean_loss(zero))


@pytest.mark.parametrize("directed", [False, True])
def test_primal_dual_and_gap_are_those_of_enumeration(directed):
    structure, edges = graphs_of(NAMES, 2, directed=directed)
    problem, labels = problem_of(structure)
    solver = OEG(problem, np.random.default_rng(0))
    solver.epoch()
    found = solver.certify()
    parameters = problem.new_parameters(found_w := solver.model.w)
    scores = structure.scores(parameters, 0, len(NAMES))
    primal = 0.5 * problem.alpha * found_w @ found_w
    dual, w_hat = 0.0, problem.new_parameters()
    for i, c in enumerate(problem.weight):
        nodes = slice(*structure.offsets[i : i + 2])
        paths, features, values = enumerated(
            structure, edges, i, scores.local[nodes], parameters.tied
        )
        (target,) = np.flatnonzero((paths == labels[nodes]).all(axis=1))
        primal += c * (logsumexp(values) - values[target])
        theta = solver.theta
        *_, natural = enumerated(
            structure, edges, i, theta.local[nodes].astype(float), theta.tied[i]
        )
        log_q = natural - logsumexp(natural)
        q = np.exp(log_q)
        dual -= c * (q @ log_q)
        scale = c / problem.alpha
        w_hat.tied += scale * (features[target] - q @ features)
        for path, share in [(paths[target], 1.0), *zip(paths, -q, strict=True)]:
            for x, label in zip(structure.data.X[nodes], path, strict=True):
                w_hat.coef[:, label] += scale * share * x
                w_hat.intercept[label] += scale * share
    dual -= 0.5 * problem.alpha * w_hat.w @ w_hat.w
    assert_allclose(found_w, w_hat.w, atol=1e-6)
    assert_allclose(found.primal, primal, rtol=1e-9)
    assert_allclose(found.dual, dual, rtol=1e-6)
    assert_allclose(found.gap, primal - dual, rtol=1e-5)
    assert found.gap > 0.0


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_the_marginals_of_sdca_are_those_of_a_distribution(dtype):
    structure, edges = graphs_of(NAMES, 2)
    problem, labels = problem_of(structure)
    solver = SDCA(
        problem, np.random.default_rng(0), dual_dtype=dtype, init_smoothing=0.5
    )
    # First the mixture with the uniform distribution, then what visits make of it.
    mixed = np.full_like(solver.marginals.local, 0.25)
    mixed[np.arange(len(labels)), labels] += 0.5
    assert_allclose(solver.marginals.local, mixed, atol=1e-7)
    for _ in range(2):
        found = solver.certify()
        mu, bound = solver.marginals, 1e-9 if dtype == "float64" else 1e-6
        parameters = problem.new_parameters(solver.model.w)
        scores = structure.scores(parameters, 0, len(NAMES))
        expected, divergence = 0.0, 0.0
        for i, c in enumerate(problem.weight):
            nodes = slice(*structure.offsets[i : i + 2])
            paths, features, values = enumerated(
                structure, edges, i, scores.local[nodes], parameters.tied
            )
            log_q = []
            for path in paths:
                whole = labels.copy()
                whole[nodes] = path
                places = np.empty(len(labels), dtype=np.int64)
                label_places(structure.trees, whole, places)
                table = mu.table[places[nodes]].astype(float)
                message = mu.message[places[nodes] // structure.n_labels]
                log_q.append(np.log(table / message).sum())
            q = np.exp(log_q)
            assert_allclose(q.sum(), 1.0, atol=bound)
            assert_allclose(-q @ log_q, solver.entropy[i], atol=10 * bound)
            assert_allclose(q @ features, mu.tied[i], atol=10 * bound)
            local = np.zeros_like(scores.local[nodes])
            for path, probability in zip(paths, q, strict=True):
                local[np.arange(len(path)), list(path)] += probability
            assert_allclose(local, mu.local[nodes], atol=bound)
            divergence += c * (q @ (log_q - values) + logsumexp(values))
            expected += c * solver.entropy[i]
        w = problem.dual_to_primal(mu.local, mu.tied.T @ problem.weight)
        assert_allclose(solver.model.w, w, atol=100 * bound)
        dual = expected - 0.5 * problem.alpha * w @ w
        assert_allclose(found.dual, dual, atol=100 * bound)
        assert_allclose(found.gap, divergence, atol=100 * bound)
        assert found.gap > 1e-3
        solver.epoch()
    assert solver.certify().gap < found.gap


@pytest.mark.parametrize("keep", [1.0, 0.3, 1e-3])
def test_the_entropy_of_a_mixture_with_labels_is_known_before(keep):
    structure, _ = graphs_of(NAMES, 3)
    problem, labels = problem_of(structure)
    marginals = structure.uniform_marginals(labels, 1.0, "float64")
    parameters = structure.new_parameters()
    parameters.w[:] = np.random.default_rng(2).normal(size=len(parameters.w))

    def scores_of(begin, end):
        return structure.scores(parameters, begin, end)

    structure.mix_marginals(marginals, scores_of, 0.25)
    _, entropy = marginals.renormalize(problem.weight)
    node, _ = scores_of(0, len(NAMES)).node_marginals()
    assert_allclose(marginals.node, 0.25 / 3 + 0.75 * node, atol=1e-12)
    by_keep = marginals.entropy_by_keep(labels, problem.weight, entropy)
    expected = keep * marginals.node
    expected[np.arange(len(labels)), labels] += 1.0 - keep
    marginals.shrink_to_labels(labels, keep=keep)
    _, entropy = marginals.renormalize(problem.weight)
    assert_allclose(marginals.node, expected, atol=1e-12)
    assert_allclose(by_keep(keep), problem.weight @ entropy, rtol=1e-10)


def test_sdca_never_lowers_the_dual():
    structure, _ = graphs_of(NAMES * 3, 3)
    problem, _ = problem_of(structure, alpha=0.01)
    solver = SDCA(problem, np.random.default_rng(0), dual_dtype="float64")
    duals = []
    for _ in range(15):
        duals.append(solver.certify().dual)
        solver.epoch()
    assert (np.diff(duals) >= -1e-12).all()
    assert duals[-1] > duals[0] + 0.1


@pytest.mark.parametrize(
    "parameters",
    [
        {},
        {"directed": True},
        {"l1_ratio": 0.3},
        {"loss": "softmax_margin", "temperature": 0.5},
    ],
    ids=str,
)
def test_all_solvers_end_at_the_same_optimum(parameters):
    X, y = sample()
    tol = 1e-7
    fits = [
        GraphCRF(
            0.05, solver=solver, tol=tol, max_iter=5000, random_state=0, **parameters
        ).fit(X, y)
        for solver in SOLVERS
    ]
    reference = fits[-1]
    for crf in fits:
        difference = crf.primal_objective_ - reference.primal_objective_
        assert 0.0 <= crf.duality_gap_ <= crf.gap_target_
        assert abs(difference) <= 2.0 * tol * reference.primal_objective_
        assert_allclose(crf.edge_coef_, reference.edge_coef_, atol=0.01)
        assert np.count_nonzero(reference.edge_coef_) > 0
    if not parameters.get("directed"):
        assert_array_equal(reference.edge_coef_, reference.edge_coef_.swapaxes(1, 2))


def test_the_certificate_bounds_the_distance_from_the_optimum():
    X, y = sample()
    options = {"alpha": 0.02, "random_state": 0}
    best = GraphCRF(solver="lbfgs", tol=1e-9, max_iter=1000, **options).fit(X, y)
    for solver in SOLVERS:
        crf = GraphCRF(solver=solver, tol=0.3, **options).fit(X, y)
        distance = crf.primal_objective_ - best.primal_objective_
        assert -1e-9 <= distance <= crf.duality_gap_


def test_the_warning_of_a_short_fit_points_at_the_caller():
    X, y = sample()
    for estimator, graphs in (
        (GraphCRF, X),
        (TreeCRF, [(g[0], [-1] * len(g[0])) for g in X]),
    ):
        with pytest.warns(ConvergenceWarning) as caught:
            estimator(1e-4, max_iter=1, random_state=0).fit(graphs, y)
        assert caught[0].filename == __file__


def test_the_warning_of_large_features_names_the_solver_of_graphs():
    X, y = sample()
    X = [(1e4 * nodes, *rest) for nodes, *rest in X]
    with pytest.warns(ConvergenceWarning, match='take solver="lbfgs"'):
        GraphCRF(1e-4, max_iter=1, solver="oeg", random_state=0).fit(X, y)


def test_the_hinge_certifies_its_gap():
    X, y = sample()
    crf = GraphCRF(0.05, loss="hinge", tol=0.05, max_iter=500, random_state=0).fit(X, y)
    assert 0.0 <= crf.duality_gap_ <= crf.gap_target_
    assert crf.score(X, y) > 0.6
    with pytest.raises(AttributeError, match="no probabilities"):
        crf.predict_proba(X)


@pytest.mark.parametrize("solver", ["sag", "lbfgs"])
def test_a_solver_that_does_not_suit_the_loss_says_so(solver):
    with pytest.raises(ValueError, match=r"needs a loss .* structure 'graph'"):
        GraphCRF(loss="hinge", solver=solver).fit(*sample())


def test_graphs_without_edges_are_logistic_regression():
    X, y = sample(edge_features=False)
    rows = np.concatenate([nodes for nodes, *_ in X])
    labels = np.concatenate(y)
    nodes, alpha = [(row[np.newaxis], []) for row in rows], 0.01
    options = {"tol": 1e-9, "max_iter": 1000}
    crf = GraphCRF(alpha, solver="lbfgs", **options).fit(nodes, [[k] for k in labels])
    rival = LBFGSCRF(alpha, **options).fit(rows, labels)
    assert_allclose(crf.coef_, rival.coef_, atol=1e-4)
    assert_array_equal(crf.edge_coef_, 0.0)
    assert_array_equal(np.concatenate(crf.predict(nodes)), rival.predict(rows))


def test_threads_end_at_the_same_optimum():
    X, y = sample(140)
    one, two = (
        GraphCRF(0.01, n_jobs=n_jobs, tol=1e-6, max_iter=500, random_state=0).fit(X, y)
        for n_jobs in (1, 2)
    )
    assert_allclose(one.primal_objective_, two.primal_objective_, rtol=2e-6)
    for a, b in zip(one.predict(X), one.set_params(n_jobs=2).predict(X), strict=True):
        assert a == b


def test_answers_of_a_fit_are_those_of_enumeration():
    X, y = sample(12)
    crf = GraphCRF(0.05, random_state=0).fit(X, y)
    proba, pairs = crf.predict_proba(X), crf.predict_edge_proba(X)
    log_z, likelihood = crf.log_partition(X), crf.log_likelihood(X, y)
    for i, (nodes, ends, _) in enumerate(X):
        paths, scores = labelling_scores(crf, X[i])
        assert_allclose(log_z[i], logsumexp(scores))
        assert_allclose(likelihood[i], scores[(paths == y[i]).all(axis=1)] - log_z[i])
        assert crf.predict(X[i : i + 1])[0] == paths[scores.argmax()].tolist()
        assert proba[i].shape == (len(nodes), 3)
        assert pairs[i].shape == (len(ends), 3, 3)
        for e, (a, b) in enumerate(ends):
            assert_allclose(pairs[i][e].sum(axis=1), proba[i][a], atol=1e-12)
            assert_allclose(pairs[i][e].sum(axis=0), proba[i][b], atol=1e-12)
    assert 0.0 <= crf.score(X, y) <= 1.0
    unknown = [["never seen"] * len(labels) for labels in y]
    with pytest.raises((ValueError, TypeError)):
        crf.log_likelihood(X, unknown)
    y[0] = [7] * len(y[0])
    assert crf.log_likelihood(X, y)[0] == -np.inf


@pytest.mark.parametrize("kind", ["dicts", "strings", "sparse"])
def test_nodes_come_in_the_forms_of_items(kind):
    words = [["a", "b", "a"], ["b"], []]
    ends = [[[0, 1], [1, 2]], [], []]
    y = [["A", "B", "A"], ["B"], []]
    nodes = {
        "dicts": [[{"word": word} for word in own] for own in words],
        "strings": [[[word] for word in own] for own in words],
        "sparse": [
            sp.csr_array([[w == "a", w == "b"] for w in own]) for own in words[:2]
        ]
        + [sp.csr_array((0, 2))],
    }[kind]
    if kind == "sparse":
        nodes = [own.astype(float) for own in nodes]
    X = list(zip(nodes, ends, strict=True))
    crf = GraphCRF(0.01, random_state=0).fit(X, y)
    assert crf.predict(X).tolist() == y
    assert crf.log_partition(X)[2] == 0.0
    assert crf.score(X, y) == 1.0


@pytest.mark.parametrize("loss", ["log_loss", "hinge"])
def test_the_n_best_labellings_are_those_of_enumeration(loss):
    X, y = sample(11)
    crf = GraphCRF(0.05, loss=loss, tol=0.1, random_state=0).fit(X, y)
    for i, best in enumerate(crf.predict_n_best(X, 30)):
        paths, scores = labelling_scores(crf, X[i])
        expected = np.sort(scores)[::-1][:30]
        if loss == "log_loss":
            expected = np.exp(expected - logsumexp(scores))
        labels, found = zip(*best, strict=True)
        assert_allclose(found, expected, atol=1e-9)
        assert len(set(map(tuple, labels))) == len(found) == min(len(paths), 30)
        assert labels[0] == crf.predict(X[i : i + 1])[0]
    (nothing,) = crf.predict_n_best([(np.zeros((0, 3)), [])], 3)
    assert [labels for labels, _ in nothing] == [[]]
    with pytest.raises(ValueError, match="n must be an integer of at least 1"):
        crf.predict_n_best(X, 0)


def test_a_tree_is_a_directed_graph():
    X, y = sample(22)
    names = {"path", "star", "no edges", "one node"}
    keep = [i for i in range(22) if list(SHAPES)[1 + i % 11] in names]
    rng = np.random.default_rng(0)
    heads = {1: [-1], 3: [-1, -1, -1], 4: [-1, 0, 1, 2], 5: [-1, 0, 0, 2, -1]}
    trees, graphs = [], []
    for i in keep:
        head = np.array(heads[len(y[i])])
        rows = rng.normal(size=(len(head), 2))
        (child,) = np.nonzero(head >= 0)
        trees.append((X[i][0], head, rows))
        graphs.append((X[i][0], np.column_stack([head[child], child]), rows[child]))
    y = [y[i] for i in keep]
    tree = TreeCRF(0.1, random_state=0).fit(trees, y)
    graph = GraphCRF(0.1, directed=True, random_state=0).fit(graphs, y)
    assert_array_equal(tree.edge_coef_, graph.edge_coef_)
    assert_array_equal(tree.coef_, graph.coef_)
    assert tree.predict(trees).tolist() == graph.predict(graphs).tolist()
    assert "directed" not in tree.get_params()


def test_graphs_of_networkx_are_read():
    networkx = pytest.importorskip("networkx")
    graph = networkx.Graph()
    for name, word in [("x", "a"), ("y", "b"), ("z", "a")]:
        graph.add_node(name, features={"word": word})
    graph.add_edges_from([("x", "y"), ("y", "z")])
    y = [["A", "B", "A"]]
    crf = GraphCRF(0.01, random_state=0).fit([graph], y)
    assert crf.predict([graph]).tolist() == y
    graph.add_edge("x", "z", features=[1.0])
    with pytest.raises(
        ValueError, match=r"graph 0, edge \('x', 'y'\) has no attribute"
    ):
        crf.predict([graph])


NODES = np.zeros((3, 2))


@pytest.mark.parametrize(
    ("graph", "message"),
    [
        ((NODES, [[0, 1], [1, 3]]), r"graph 1, edge 1 joins \[1, 3\], .* nodes 0 to 2"),
        ((NODES, [[0, -1]]), r"graph 1, edge 0 joins \[0, -1\]"),
        ((NODES, [[0, 1], [2, 2]]), "graph 1, edge 1 joins node 2 to itself"),
        ((NODES, [[0.0, 1.0]]), "edges of graph 1 .* float64; they must be integers"),
        (
            (NODES, [0, 1]),
            r"edges of graph 1 are .* shape \(2,\).*edges, 2\)$",
        ),
        ((NODES, [0, 1, 2]), r"shape \(3,\).* TreeCRF takes the head of each node"),
        ((NODES, [[0, 1]], [[np.nan]]), "graph 1, edge 0 has features that are NaN"),
        ((NODES, [[0, 1]], [[1.0], [2.0]]), r"graph 1 are of shape \(2, 1\); with 1"),
        ((NODES, [[0, 1]], [["a"]]), "edge features of graph 1 are no dense array"),
        ((NODES,), "graph 1 is"),
        ("text", "graph 1 is"),
        ((np.full((3, 2), np.nan), [[0, 1]]), "graph 1"),
    ],
)
def test_errors_of_bad_graphs_name_the_graph_and_the_edge(graph, message):
    with_features = isinstance(graph, tuple) and len(graph) == 3
    right = (NODES, [[0, 1]], [[1.0]]) if with_features else (NODES, [[0, 1]])
    X, y = [right, graph], [["a", "b", "a"]] * 2
    with pytest.raises((ValueError, TypeError), match=message):
        GraphCRF().fit(X, y)
    crf = GraphCRF(random_state=0).fit([right], y[:1])
    with pytest.raises((ValueError, TypeError), match=message):
        crf.predict(X)


def test_errors_of_graphs_that_do_not_fit_together():
    y = [["a", "b", "a"]] * 2
    plain, featured = (NODES, [[0, 1]]), (NODES, [[0, 1]], [[1.0, 2.0]])
    with pytest.raises(ValueError, match="graph 1 has some of the features of edges"):
        GraphCRF().fit([plain, featured], y)
    with pytest.raises(ValueError, match="graph 1 has 1 features of each edge"):
        GraphCRF().fit([featured, (NODES, [[0, 1]], [[1.0]])], y)
    crf = GraphCRF(random_state=0).fit([featured], y[:1])
    before = crf.predict_proba([featured])[0]
    with pytest.raises(
        ValueError, match="X has 1 features of each edge, .* expecting 2"
    ):
        crf.predict([plain])
    with pytest.raises(ValueError, match="Graph 1 has 3 nodes in X, but 1 labels"):
        crf.fit([featured] * 2, [["a", "b", "a"], ["a"]])
    with pytest.raises(ValueError, match="nodes of graph 0 are a row of numbers"):
        crf.fit([(np.zeros(1), [])] * 2, ["a", "b"])
    with pytest.raises(ValueError, match="one label at every node"):
        GraphCRF(loss="hinge").fit([featured], [["a", None, "b"]])
    with pytest.raises(ValueError, match="loss="):
        clone(crf).set_params(cost={("a", "b"): 2.0}).fit([featured], y[:1])
    assert_array_equal(before, crf.predict_proba([featured])[0])
    assert crf.predict([(NODES, [])]).shape == (1,)
    assert crf.predict([]).shape == (0,)


@pytest.mark.parametrize(
    ("heads", "message"),
    [
        ([-1, 0, 3], "tree 0, node 2 has the head 3"),
        ([-2, 0, 1], "tree 0, node 0 has the head -2"),
        ([1, 2, 0], "tree 0, node 0: its heads form a cycle"),
        ([-1, 1, 1], "tree 0, node 1: its heads form a cycle"),
        ([-1, 0], "tree 0 has 3 nodes, but 2 heads"),
        ([-1.0, 0.0, 1.0], "heads of tree 0 .* float64"),
        # As in CoNLL-U.
        ([2, 0, 2], "form a cycle. Heads that count from 1, .* must be less by 1"),
        ([2, 3, 0], "has the head 3, .* Heads that count from 1"),
        (["2", "0", "2"], r"dtype <U1; .*heads are .int.head. - 1 for head in column"),
    ],
)
def test_errors_of_bad_heads_name_the_tree_and_the_node(heads, message):
    with pytest.raises(ValueError, match=message):
        TreeCRF().fit([(NODES, heads)], [["a", "b", "a"]])


@pytest.mark.parametrize("estimator", [TreeCRF, GraphCRF])
@pytest.mark.parametrize("lengths", [(2, 3), (3, 2), (3, 1), (2, 2)])
def test_sentences_without_edges_are_told(estimator, lengths):
    words = [["a", "b", "c"][:n] for n in lengths]
    labels = [["A"] * n for n in lengths]
    message = "[Aa] (graph|tree) is a tuple|must be integers of shape|a node must be"
    for crf in estimator(), make_tagger(TokenFeatures(), estimator()):
        with pytest.raises((TypeError, ValueError), match=message):
            crf.fit(words, labels)


def test_no_hint_is_given_where_smaller_heads_form_a_cycle_too():
    with pytest.raises(ValueError, match="form a cycle$"):
        TreeCRF().fit([(NODES, [1, 2, 0][::-1])], [["a", "b", "a"]])


def test_a_list_of_nodes_is_no_tree():
    message = r"the heads of tree 0 .* A tree is a tuple \(nodes, heads\), such as"
    with pytest.raises(ValueError, match=message):
        TreeCRF().fit([[{"a": 1}, {"b": 1}, {"c": 1}]], [["a", "b", "a"]])
    with pytest.raises(
        TypeError, match="graph 0, node 0 is of type str 'a'; a node must"
    ):
        GraphCRF().fit([(["a", "b"], [[0, 1]])], [["a", "b"]])


def test_explain_says_that_it_needs_one_graph():
    X = [(NODES, [-1, 0, 0])]
    crf = TreeCRF(random_state=0).fit(X, [["a", "b", "a"]])
    with pytest.raises(TypeError, match="graph: one graph is needed, and this looks"):
        crf.explain(X, 0)
    assert crf.explain(X[0], 0).labels


def test_a_wide_graph_is_refused_with_its_treewidth_and_what_would_fit(monkeypatch):
    X, y = [(np.zeros((900, 1)), grid(30, 30))], [["a", "b", "c"] * 300]
    monkeypatch.setattr(junction_tree, "available_memory", lambda: 8 * 3**6)
    with pytest.raises(MemoryError) as error:
        GraphCRF().fit(X, y)
    message = str(error.value)
    assert "X: graph 0 of 900 nodes has a treewidth of 6 or more" in message
    assert "a clique of 7 nodes with 3 labels has a table of 1.75e+04 bytes" in message
    assert "cliques of 6 nodes are the most that fit" in message
    assert "TreeCRF" in message


def test_edges_of_too_many_types_are_refused(monkeypatch):
    def refuse(n_bytes, what, advice):
        if "whose features differ" in what:
            raise MemoryError(f"{n_bytes} bytes for {what} {advice}")

    monkeypatch.setattr(junction_tree, "check_fits", refuse)
    X, y = [(NODES, [[0, 1], [1, 2]], [[0.5], [0.25]])], [["a", "b", "a"]]
    with pytest.raises(MemoryError, match="384 bytes for X: the scores of 2 edges"):
        GraphCRF().fit(X, y)


def test_graphs_go_through_the_tools_of_scikit_learn():
    X, y = sample()
    search = GridSearchCV(GraphCRF(random_state=0), {"alpha": [0.1, 1e4]}, cv=2)
    search.fit(X, y)
    assert (search.cv_results_["mean_test_score"] > 0.5).all()
    assert search.predict(X).shape == (len(X),)
    assert len(cross_val_predict(GraphCRF(random_state=0), X, y, cv=2)) == len(y)


def test_a_second_fit_forgets_the_first_and_keeps_what_is_not_of_a_fit():
    X, y = sample()
    crf = GraphCRF(random_state=0)
    crf.note = "mine"
    crf.fit([([["a"], ["b"]], [[0, 1]])], [["A", "B"]])
    assert hasattr(crf, "vectorizer_")
    crf.fit(X, y)
    assert not hasattr(crf, "vectorizer_")
    assert crf.note == "mine"
    assert crf.edge_coef_.shape == (2, 3, 3)


@pytest.mark.parametrize("estimator", [GraphCRF, TreeCRF])
def test_held_out_graphs_are_scored_at_every_epoch(estimator):
    X, y = sample(edge_features=False)
    if estimator is TreeCRF:
        X = [(nodes, np.arange(len(nodes)) - 1) for nodes, _ in X]
    crf = estimator(1e-3, max_iter=6, tol=0.0, random_state=0)
    with pytest.warns(ConvergenceWarning):
        crf.fit(X, y, X_val=lambda: X[:3], y_val=iter(y[:3]))
    for epoch in (2, 6):
        part = clone(crf).set_params(max_iter=epoch)
        with pytest.warns(ConvergenceWarning):
            part.fit(X, y)
        assert crf.history_["val_score"][epoch - 1] == part.score(X[:3], y[:3])
    assert crf.best_val_score_ == crf.history_["val_score"].max()


def test_patience_returns_the_model_of_the_best_epoch():
    X, y = sample()

    def epoch_of(crf, X, y):
        return -abs(crf.duality_gap_ - target)

    target = np.inf
    crf = GraphCRF(1e-3, tol=1e-9, scoring=epoch_of, random_state=0)
    plain = clone(crf).set_params(max_iter=4)
    with pytest.warns(ConvergenceWarning):
        plain.fit(X, y)
    target = plain.duality_gap_
    crf.set_params(patience=2).fit(X, y, X_val=X, y_val=y)
    assert (crf.best_epoch_, crf.n_iter_) == (4, 6)
    assert_array_equal(crf.coef_, plain.coef_)
    assert_array_equal(crf.edge_coef_, plain.edge_coef_)


@pytest.mark.parametrize(
    ("held_out", "message"),
    [
        (lambda X, y: (X, None), "X_val is given without y_val"),
        (lambda X, y: (None, y), "y_val is given without X_val"),
        (lambda X, y: (X, []), "X_val has 5 graphs, but y_val has 0"),
        (lambda X, y: (X[:1], [["a"] * len(y[0])]), "y_val has labels of type str"),
        (lambda X, y: ([(np.ones((1, 2)), [])], [[0]]), "X_val has 2 features, but"),
        (lambda X, y: ([], []), "X_val"),
        (lambda X, y: (None, None), "patience=2 needs held-out data"),
    ],
)
def test_wrong_held_out_graphs_are_named(held_out, message):
    X, y = (part[:5] for part in sample())
    X_val, y_val = held_out(X, y)
    crf = GraphCRF(patience=2)
    with pytest.raises((TypeError, ValueError), match=message):
        crf.fit(X, y, X_val=X_val, y_val=y_val)
    assert not hasattr(crf, "classes_")


def test_pickles_and_clones_answer_as_the_model():
    X, y = sample()
    crf = GraphCRF(0.1, random_state=0).fit(X, y)
    other = pickle.loads(pickle.dumps(crf))
    assert_array_equal(other.log_partition(X), crf.log_partition(X))
    again = clone(crf).fit(X, y)
    assert_array_equal(again.edge_coef_, crf.edge_coef_)
    crf.edge_coef_ = crf.edge_coef_[:, :1]
    with pytest.raises(ValueError, match="edge_coef_"):
        crf.predict(X)
