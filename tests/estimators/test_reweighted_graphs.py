"""GraphCRF(inference="trw"): the surrogate, its certificate, graphs of any width."""

import pickle
from itertools import combinations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import linprog

import skcrf_sdca
from graph_cases import SHAPES, grid, labelling_scores, sample
from skcrf_sdca import GraphCRF, TreeCRF

SOLVERS = ["sdca", "oeg", "sag", "lbfgs"]
OPTIONS = {
    "alpha": 0.02,
    "inference": "trw",
    "directed": True,
    "random_state": 0,
    "max_iter": 500,
}


def fitted(X, y, **options):
    return GraphCRF(**{**OPTIONS, **options}).fit(X, y)


@pytest.fixture(scope="module")
def data():
    return sample(16)


@pytest.fixture(scope="module")
def optimum(data):
    return fitted(*data, solver="lbfgs", tol=1e-11).primal_objective_


def assert_certified(history, optimum):
    """P - D >= P - min P >= 0 at every epoch."""
    excess = history["primal"] - optimum
    assert (excess >= -1e-10).all()
    assert (history["gap"] >= excess - 1e-10).all()
    assert_allclose(history["gap"], history["primal"] - history["dual"], atol=1e-12)


@pytest.mark.parametrize("solver", SOLVERS)
def test_solvers_reach_one_optimum_and_their_certificates_hold(data, optimum, solver):
    crf = fitted(*data, solver=solver, tol=1e-8)
    assert_allclose(crf.primal_objective_, optimum, rtol=0, atol=1e-7)
    assert_certified(crf.history_, optimum)


@pytest.mark.parametrize("name", [name for name in SHAPES if name != "nothing"])
def test_sdca_and_lbfgs_reach_one_optimum_on_graphs_of_one_shape(name):
    n_nodes, ends = SHAPES[name]
    rng = np.random.default_rng(0)
    y = rng.integers(3, size=(6, n_nodes))
    X = [
        (np.eye(3)[own] + rng.normal(size=(n_nodes, 3)), ends, np.ones((len(ends), 1)))
        for own in y
    ]
    best = fitted(X, y, solver="lbfgs", tol=1e-10).primal_objective_
    crf = fitted(X, y, solver="sdca", tol=1e-8)
    assert_allclose(crf.primal_objective_, best, rtol=0, atol=1e-7)
    assert_certified(crf.history_, best)


@pytest.mark.parametrize("sweeps", [1, 2, 3, 10])
@pytest.mark.parametrize("solver", SOLVERS)
def test_certificates_hold_if_inference_is_stopped(
    data, optimum, solver, sweeps, monkeypatch
):
    arrange = skcrf_sdca.structures.graph.reweighted.ReweightedGraph.arrange

    def stopped(*arguments):
        graphs, order = arrange(*arguments)
        graphs.most_sweeps = sweeps
        return graphs, order

    owner = skcrf_sdca.structures.graph.reweighted.ReweightedGraph
    monkeypatch.setattr(owner, "arrange", staticmethod(stopped))
    crf = fitted(*data, solver=solver, tol=1e-2, max_iter=30)
    assert_certified(crf.history_, optimum)


def test_the_surrogate_is_above_the_objective(data, optimum):
    exact = fitted(*data, inference="exact", solver="lbfgs", tol=1e-9)
    assert optimum > exact.primal_objective_ + 1e-4
    surrogate = fitted(*data, solver="lbfgs", tol=1e-9)
    as_exact = pickle.loads(pickle.dumps(surrogate)).set_params(inference="exact")
    X, y = data
    assert (surrogate.log_partition(X) >= as_exact.log_partition(X) - 1e-9).all()
    of_exact = as_exact.log_likelihood(X, y)
    assert (surrogate.log_likelihood(X, y) <= of_exact + 1e-9).all()
    for ours, theirs in zip(
        surrogate.predict_proba(X), as_exact.predict_proba(X), strict=True
    ):
        assert_allclose(ours, theirs, rtol=0, atol=0.3)


@pytest.mark.parametrize("solver", SOLVERS)
def test_forests_are_exact(solver):
    names = ["one node", "no edges", "path", "star", "forest"]
    rng = np.random.default_rng(0)
    X = [(rng.normal(size=(SHAPES[n][0], 3)), SHAPES[n][1]) for n in names] * 2
    y = [(x[0] @ np.eye(3)).argmax(axis=1).tolist() for x in X]
    trw, exact = (
        fitted(X, y, inference=inference, solver=solver, tol=1e-6)
        for inference in ("trw", "exact")
    )
    assert_allclose(trw.primal_objective_, exact.primal_objective_, rtol=1e-5)
    assert_allclose(trw.log_partition(X), exact.log_partition(X), rtol=1e-2)
    assert_array_equal(trw.predict_bound(X), 0.0)


@pytest.mark.parametrize("loss", ["log_loss", "softmax_margin"])
@pytest.mark.parametrize("solver", ["sdca", "oeg"])
def test_losses_and_penalties_take_the_surrogate(data, loss, solver):
    crf, best = (
        fitted(*data, solver=own, loss=loss, l1_ratio=0.3, tol=tol)
        for own, tol in ((solver, 1e-3), ("lbfgs", 1e-6))
    )
    assert crf.dual_objective_ <= best.primal_objective_
    assert crf.primal_objective_ <= best.primal_objective_ + crf.duality_gap_


def test_labels_that_are_not_known(data):
    X, y = data
    partly = [[None if t % 3 == 1 else k for t, k in enumerate(own)] for own in y]
    crf = fitted(X, partly, solver="sdca", tol=1e-3)
    assert crf.duality_gap_ <= crf.gap_target_
    known = crf.predict(X, known=partly)
    for found, own in zip(known, partly, strict=True):
        assert all(k in (None, label) for k, label in zip(own, found, strict=True))


def test_starts_and_warm_starts_end_at_the_optimum(data, optimum):
    X, y = data
    exact = fitted(X, y, inference="exact")
    for solver in ("sdca", "oeg"):
        crf = GraphCRF(**OPTIONS, solver=solver, tol=1e-6, warm_start=True)
        crf.set_params(alpha=0.1).fit(X, y).set_params(alpha=0.02).fit(X, y)
        assert_allclose(crf.primal_objective_, optimum, rtol=1e-5)
        crf = GraphCRF(**OPTIONS, solver=solver, tol=1e-6).fit(X, y, init=exact)
        assert_allclose(crf.primal_objective_, optimum, rtol=1e-5)
    prior = fitted(X, y, solver="lbfgs", tol=1e-6)
    near = GraphCRF(**OPTIONS, tol=1e-6).fit(X, y, prior=prior)
    assert near.primal_objective_ < optimum


@pytest.mark.parametrize("temperature", [0.25, 1.0, 2.5])
def test_the_distance_from_the_best_labelling_is_one_of_scores(temperature):
    """All pairs of nodes would differ, and there are fewer labels than nodes."""
    rng = np.random.default_rng(0)
    ends = list(combinations(range(5), 2))
    X = [(rng.normal(size=(5, 2)), ends) for _ in range(20)]
    y = [own.argmax(axis=1).tolist() for own, _ in X]
    crf, one = (
        fitted(X, y, loss="softmax_margin", temperature=own, solver="lbfgs", tol=1.0)
        for own in (temperature, 1.0)
    )
    for own in (crf, one):
        own.coef_, own.intercept_ = np.eye(2), np.zeros(2)
        own.edge_coef_ = -2.0 * np.eye(2)[np.newaxis]
    found = crf.predict_bound(X)
    assert_allclose(found, one.predict_bound(X), rtol=1e-6, atol=1e-9)
    assert (found > 0.1).any()
    for graph, labels, bound in zip(X, crf.predict(X), found, strict=True):
        labellings, scores = labelling_scores(crf, graph)
        (own,) = scores[(labellings == labels).all(axis=1)]
        assert scores.max() - own <= bound + 1e-9


def test_a_graph_that_is_too_wide_is_told_of_trw_which_fits_it():
    rng = np.random.default_rng(0)
    ends = grid(40, 40)
    labels = np.add.outer(np.arange(40) // 10, np.arange(40) // 10).ravel() % 2
    X = [(labels[:, None] + rng.normal(size=(1600, 1)), ends)]
    with pytest.raises(MemoryError, match='treewidth.*bytes.*inference="trw"'):
        GraphCRF(alpha=1e-3).fit(X, [labels.tolist()])
    crf = GraphCRF(alpha=1e-3, inference="trw", solver="lbfgs", tol=1e-4)
    crf.fit(X, [labels.tolist()])
    assert crf.score(X, [labels.tolist()]) > 0.9
    (distance,) = crf.predict_bound(X)
    assert 0.0 <= distance < 1.0
    (posterior,) = crf.predict(X, decoding="posterior")
    assert np.mean(np.array(posterior) == labels) > 0.9


def test_what_only_a_distribution_has_is_refused(data):
    X, y = data
    crf = fitted(X, y)
    for name in ("sample", "predict_n_best"):
        with pytest.raises(AttributeError, match='inference="exact"'):
            getattr(crf, name)
    with pytest.raises(ValueError, match='inference="exact"'):
        crf.uncertainty(X, measure="margin")
    proven = "needs a structure with a proven best labelling"
    with pytest.raises(ValueError, match=f'{proven}.*solver="oeg".*"lbfgs"'):
        fitted(X, y, solver="sgd")
    with pytest.raises(ValueError, match='SDCA needs a loss .*loss="softmax_margin"'):
        fitted(X, y, loss="hinge", solver="sdca")
    with pytest.raises(ValueError, match="'inference'"):
        fitted(X, y, inference="bethe")
    assert "inference" not in TreeCRF().get_params()


def test_files_and_threads_give_the_same_bits(data, tmp_path):
    X, y = data
    crf = fitted(X, y)
    path = tmp_path / "model"
    skcrf_sdca.save_model(crf, path)
    loaded = skcrf_sdca.load_model(path)
    assert loaded.inference == "trw"
    crf.n_jobs = 2
    for one, other in zip(crf.predict_proba(X), loaded.predict_proba(X), strict=True):
        assert_array_equal(one, other)
    two = fitted(X, y, n_jobs=2, tol=1e-4)
    assert two.primal_objective_ - two.duality_gap_ <= crf.primal_objective_


def relaxed_maximum(local, ends, pairs):
    """Return max <mu, scores> over marginals of nodes and edges that agree."""
    (n_nodes, k), n_edges = local.shape, len(ends)
    node = np.arange(n_nodes * k).reshape(n_nodes, k)
    edge = node.size + np.arange(n_edges * k * k).reshape(n_edges, k, k)
    rows = [dict.fromkeys(own, 1.0) for own in node]
    for (a, b), own in zip(ends, edge, strict=True):
        rows += [dict.fromkeys(own[j], 1.0) | {node[a, j]: -1.0} for j in range(k)]
        rows += [dict.fromkeys(own[:, j], 1.0) | {node[b, j]: -1.0} for j in range(k)]
    equal = np.zeros((len(rows), node.size + edge.size))
    for row, entries in zip(equal, rows, strict=True):
        row[list(entries)] = list(entries.values())
    right = np.repeat([1.0, 0.0], [n_nodes, len(rows) - n_nodes])
    scores = np.append(local, pairs)
    return -linprog(-scores, A_eq=equal, b_eq=right, method="highs").fun


@pytest.mark.parametrize("temperature", [1.0, 0.1, 0.02])
def test_a_low_temperature_is_near_to_the_relaxed_hinge(data, temperature):
    """Hinge <= relaxed hinge <= loss <= relaxed hinge + T mean(V) log K."""
    X, y = data
    crf = fitted(
        *data, solver="lbfgs", loss="softmax_margin", temperature=temperature, tol=1e-3
    )
    weights = crf.coef_, crf.intercept_, crf.edge_coef_
    penalty = 0.01 * sum((own**2).sum() for own in weights)
    relaxed, hinge = [], []
    for graph, own in zip(X, map(np.array, y), strict=True):
        nodes, ends, features = graph
        cost = own[:, np.newaxis] != crf.classes_
        local = nodes @ crf.coef_.T + crf.intercept_ + cost
        pairs = np.einsum("ef,fjk->ejk", features, crf.edge_coef_)
        labellings, scores = labelling_scores(crf, graph)
        costs = (labellings != own).sum(axis=1)
        (right,) = scores[costs == 0]
        relaxed.append(relaxed_maximum(local, ends, pairs) - right)
        hinge.append((scores + costs).max() - right)
    loss, most = crf.primal_objective_ - penalty, np.log(3) * np.mean([*map(len, y)])
    assert np.mean(hinge) <= np.mean(relaxed) + 1e-9
    assert np.mean(relaxed) - 1e-9 <= loss <= np.mean(relaxed) + temperature * most
    # So the dual objective less the same is below the least relaxed hinge.
    least = crf.dual_objective_ - temperature * most
    assert least <= penalty + np.mean(relaxed)
