"""A Predictor answers as the estimator of graphs of the same file, with NumPy alone."""

import io

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose
from served import (
    CLOSE,
    WAYS,
    assert_both_readers_refuse_the_same,
    assert_numpy_is_enough,
    assert_same_answers,
    through_file,
)

from skcrf_sdca import GraphCRF, TreeCRF, make_tagger, save_model
from skcrf_sdca.persistence import ModelFormatError
from skcrf_sdca.serving import Predictor
from skcrf_sdca.text import TokenFeatures

LABELS = ["A", "B", "C"]
SHORT = {"tol": 1e-2, "random_state": 0}


def strings(rng, n):
    return [[f"f{j}" for j in rng.integers(9, size=rng.integers(4))] for _ in range(n)]


def dicts(rng, n):
    return [{"w": f"v{j}", "n": j / 2} for j in rng.integers(9, size=n).tolist()]


def rows(rng, n):
    return rng.normal(size=(n, 3))


def tokens(rng, n):
    return [["the", "Dog", "B2", "é"][j] for j in rng.integers(4, size=n)]


def edges_of(rng, n):
    """Return a tree of the nodes, and one more edge."""
    ends = [[int(rng.integers(j)), j] for j in range(1, n)]
    return ends + [[0, n - 1]] * (n > 2 and [0, n - 1] not in ends)


def graphs(rng, make, *, widths=(0, 2), heads=False, sizes=(1, 2, 5, 4, 3)):
    """Return graphs, or trees of nodes with heads, and their labels."""
    X, y, width = [], [], widths[int(rng.integers(2))]
    for n in sizes:
        nodes, ends = make(rng, n), edges_of(rng, n)
        if heads:
            ends = [-1, *(int(rng.integers(j)) for j in range(1, n))]
        features = [rng.normal(size=(len(ends), width))] if width else []
        X.append((nodes, ends, *features))
        y.append([LABELS[k] for k in rng.integers(3, size=n)])
    y[0] = [LABELS[2]]
    return X, y


MODELS = {
    "strings": (GraphCRF(**SHORT), strings),
    "dicts, directed": (GraphCRF(directed=True, **SHORT), dicts),
    "rows": (GraphCRF(**SHORT), rows),
    "hinge": (GraphCRF(loss="hinge", max_iter=30, **SHORT), rows),
    "temperature": (
        GraphCRF(loss="softmax_margin", temperature=0.5, **SHORT),
        strings,
    ),
    "trees": (TreeCRF(**SHORT), dicts),
    "tokens": (make_tagger(TokenFeatures(), GraphCRF(**SHORT)), tokens),
    "trees, tokens": (make_tagger(TokenFeatures(), TreeCRF(**SHORT)), tokens),
}


def fitted(name, seed=0):
    estimator, make = MODELS[name]
    rng = np.random.default_rng(seed)
    X, y = graphs(rng, make, heads="trees" in name)
    return estimator.fit(X, y), X, y


def assert_explains(predictor, estimator, X):
    for graph in X:
        for node in (0, -1):
            found, expected = (
                own.explain(graph, node) for own in (predictor, estimator)
            )
            assert found.features == expected.features
            assert found.paths == expected.paths
            assert_allclose(found.contributions, expected.contributions, **CLOSE)
            assert repr(found) == repr(expected)


@pytest.mark.filterwarnings("ignore:the duality gap")
@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("name", MODELS)
def test_graphs_are_served(name, seed):
    estimator, X, y = fitted(name, seed)
    predictor = through_file(estimator)
    has_proba = name != "hinge"
    assert_same_answers(predictor, estimator, X, has_proba=has_proba)
    assert_explains(predictor, estimator, X)
    if has_proba:
        found = [predictor.log_likelihood(*own) for own in zip(X, y, strict=True)]
        assert_allclose(found, estimator.log_likelihood(X, y), **CLOSE)


@pytest.mark.filterwarnings("ignore:the duality gap")
@pytest.mark.parametrize("way", WAYS.values(), ids=WAYS)
def test_sparse_weights_of_graphs_are_served(way):
    X, y = graphs(np.random.default_rng(0), strings)
    crf = GraphCRF(l1_ratio=0.5, alpha=0.1, **SHORT).fit(X, y).sparsify()
    assert_same_answers(way(crf), crf, X)
    assert_explains(way(crf), crf, X)
    n_unknown, n_features = way(crf).unknown_features(([["f0", "new"], []], [[0, 1]]))
    assert (n_unknown, n_features) == (1, 2)


def test_an_adjacency_matrix_is_a_graph():
    estimator, _, _ = fitted("strings", seed=1)
    nodes = strings(np.random.default_rng(0), 3)
    width = estimator.n_edge_features_in_
    matrix = sp.csr_array(([1, 1], ([0, 1], [1, 2])), (3, 3))
    graph = (nodes, matrix, *[np.ones((2, width))] * (width > 1))
    assert_same_answers(through_file(estimator), estimator, [graph])


def test_what_is_no_graph_is_refused():
    estimator, X, _ = fitted("tokens")
    predictor = through_file(estimator)
    nodes, ends, *features = X[2]
    for wrong, error, message in [
        (nodes, TypeError, "graph is a tuple|list of tokens|list of graphs"),
        ((nodes, [[0, 9]], *features), ValueError, r"edge 0 joins \[0, 9\]"),
        ((nodes, [[0, 0]], *features), ValueError, "to itself"),
        ((nodes, ends, np.ones((len(ends), 7))), ValueError, "7 features of each edge"),
    ]:
        for answer in predictor.predict_one, predictor.marginals:
            with pytest.raises(error, match=message):
                answer(wrong)
    with pytest.raises(ValueError, match="graphs have no spans"):
        predictor.spans(X[2])
    with pytest.raises(ValueError, match="a text has no graphs"):
        predictor.tag("the Dog")


def test_tree_reweighted_sums_are_refused():
    X, y = graphs(np.random.default_rng(0), rows)
    crf = GraphCRF(inference="trw", solver="lbfgs", tol=1e-2).fit(X, y)
    for way in through_file, Predictor.from_estimator:
        with pytest.raises(ModelFormatError, match="tree-reweighted.*load_model"):
            way(crf)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["rows", "tokens", "trees"])
def test_both_readers_refuse_the_same_documents(name):
    save_model(fitted(name)[0], file := io.BytesIO())
    assert_both_readers_refuse_the_same(file)


def test_graphs_need_numpy_alone(tmp_path):
    cases = []
    for name in ("strings", "trees, tokens"):
        estimator, X, y = fitted(name)
        graph = [X[2][0], *(np.asarray(own).tolist() for own in X[2][1:])]
        cases.append((estimator, graph, y[2]))
    assert_numpy_is_enough(cases, tmp_path)
