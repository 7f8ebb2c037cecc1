"""Equal scores: which of the best paths is the answer, beside enumeration of all paths.

Weights are small integers and features 0 or 1, so that all sums are exact and many
paths have the same score. The rule is that of docs/decoding.rst.
"""

import warnings
from itertools import pairwise

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.sparse import csr_array
from segment_twin import GRAMMARS, Enumeration, Features, enumeration_of, sentences
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from graph_cases import SHAPES, labelling_scores
from pairs import pairwise_table
from reference import all_paths
from skcrf_sdca import LBFGSCRF, GraphCRF, PassiveAggressiveCRF, SegmentCRF, TreeCRF
from skcrf_sdca.structures.chain import tuple_scores
from skcrf_sdca.structures.graph.junction_tree import elimination
from skcrf_sdca.structures.segment.grammar import Grammar
from skcrf_sdca.structures.segment.scores import SegmentScores

K, D = 3, 2
CHAINS = {
    "order 1": {},
    "order 2": {"order": 2},
    "order 3": {"order": 3},
    "an edge feature": {"edge_features": [1]},
    "edge features": {"edge_features": "all"},
    "edge features, order 2": {"order": 2, "edge_features": "all"},
    "an edge feature, order 3": {"order": 3, "edge_features": [1]},
}
ALLOWED = np.array([[False, True, True], [True, True, False], [True, True, False]])
# What is forbidden: options of the fit, and the transitions that `constrain` allows.
LIMITS = {
    "nothing": ({}, None),
    "not observed": ({"transitions": "observed"}, None),
    "not listed": ({"transitions": [(0, 1), (1, 2), (2, 0), (1, 1), (2, 1)]}, None),
    "by constrain": ({}, ALLOWED),
}


def ranking(paths, scores):
    """Return the places of possible paths: the best first, ties by the last labels."""
    places = np.lexsort([*paths.T, -scores])
    return places[scores[places] > -np.inf]


def one_step(crf, X, y):
    """Fit a model whose weights the tests replace."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return crf.set_params(max_iter=1).fit(X, y)


def fitted(allowed=None, **options):
    """Return a model of three labels."""
    y = [[0, 1, 2, 0, 1], [1, 1, 2, 1], [2, 0, 1, 2]]
    X = [np.ones((len(labels), D)) for labels in y]
    crf = one_step(LBFGSCRF(**options), X, y)
    return crf if allowed is None else crf.constrain(allowed)


def random_integers(crf, rng):
    """Give the model integer weights; what is forbidden stays so."""

    def like(weights):
        drawn = rng.integers(0, 2, size=np.shape(weights)).astype(float)
        return np.where(np.asarray(weights) == -np.inf, -np.inf, drawn)

    for name in ("coef_", "intercept_", "start_", "end_", "transition_"):
        setattr(crf, name, like(getattr(crf, name)))
    crf.higher_transitions_ = tuple(map(like, crf.higher_transitions_))
    if crf.edge_coef_ is not None:
        names = [0, 1] if crf.edge_features == "all" else crf.edge_features
        weights = np.zeros((K * K, D))
        weights[:, names] = like(weights[:, names])
        crf.edge_coef_ = csr_array(weights)


def chain_scores(crf, x, paths):
    """Return the scores of label paths, by the sum in docs/higher_order.rst."""
    edges = np.zeros((K * K, D))
    if crf.edge_coef_ is not None:
        edges = crf.edge_coef_.toarray()
    scores = crf.start_[paths[:, 0]] + crf.end_[paths[:, -1]]
    for t, row in enumerate(x):
        label = paths[:, t]
        scores = scores + crf.coef_[label] @ row + crf.intercept_[label]
        if t > 0:
            scores = scores + edges[paths[:, t - 1] * K + label] @ row
        for m, weights in enumerate((crf.transition_, *crf.higher_transitions_), 1):
            if t >= m:
                scores = scores + weights[tuple(paths[:, t - m : t + 1].T)]
    return scores


def differences(crf, rng):
    """Return which answers of a random problem are not those of the rule."""
    random_integers(crf, rng)
    x = rng.integers(0, 2, size=(rng.integers(1, 7), D)).astype(float)
    paths = all_paths(len(x), K)
    scores = chain_scores(crf, x, paths)
    rank, wrong = ranking(paths, scores), []
    if len(rank) == 0:
        return wrong
    if crf.predict([x])[0] != paths[rank[0]].tolist():
        wrong.append("predict")
    for n in (2, 7, 100):
        found = [labels for labels, _ in crf.predict_n_best([x], n)[0]]
        if found != paths[rank[:n]].tolist():
            wrong.append(f"predict_n_best, n={n}")
    kept = paths[rng.choice(rank)]
    free = rng.random(len(x)) < 0.6
    known = [None if f else int(k) for f, k in zip(free, kept, strict=True)]
    agree = paths[rank][(paths[rank] == kept)[:, ~free].all(axis=1)]
    if crf.predict([x], known=[known])[0] != agree[0].tolist():
        wrong.append("known")
    if (crf.transition_ > -np.inf).all():
        node = crf.predict_proba([x])[0]
        if crf.predict([x], decoding="posterior")[0] != node.argmax(axis=1).tolist():
            wrong.append("posterior")
    return wrong


@pytest.mark.parametrize("limits", LIMITS.values(), ids=LIMITS)
@pytest.mark.parametrize("options", CHAINS.values(), ids=CHAINS)
def test_chains_take_the_lower_label_at_the_last_difference(options, limits):
    forbidden, allowed = limits
    crf, rng = fitted(allowed, **options, **forbidden), np.random.default_rng(0)
    assert [differences(crf, rng) for _ in range(6)] == [[]] * 6


@pytest.mark.parametrize("limits", LIMITS.values(), ids=LIMITS)
@pytest.mark.parametrize("name", ["order 2", "order 3"])
def test_tuples_of_several_lengths_order_as_a_chain(name, limits, monkeypatch):
    """Models of many labels, and few weights of tuples, have states of these alone."""
    monkeypatch.setattr(tuple_scores, "LEAST_LABELS", 0)
    monkeypatch.setattr(tuple_scores, "FEW", 1.0)
    forbidden, allowed = limits
    crf, rng = fitted(allowed, **CHAINS[name], **forbidden), np.random.default_rng(0)
    assert [differences(crf, rng) for _ in range(6)] == [[]] * 6


# Weights of few tuples: states are tuples of several lengths.
OBSERVED = {
    "observed pairs": {"label_pairs": "observed"},
    "observed, order 2": {"label_pairs": "observed", "order": 2},
    "observed, order 3": {"label_pairs": "observed", "order": 3},
    "observed, edge features": {"label_pairs": "observed", "edge_features": "all"},
}
VISITS = {
    "perceptron": {"loss": "perceptron"},
    "prediction": {"loss": "hinge", "update": "prediction"},
}


def after_visits(n, X, y, **options):
    """Return the model after the first n of some visits."""
    weight = (np.arange(len(X)) < n).astype(float)
    crf = PassiveAggressiveCRF(max_iter=1, shuffle=False, average=False, **options)
    return crf.fit(X, y, sample_weight=weight)


def change_by_visit(x, labels, path):
    """Return what a visit adds to the weights of features and of pairs of labels."""
    coef, pairs = np.zeros((K, D)), np.zeros((K, K))
    for own, sign in ((labels, 1.0), (path, -1.0)):
        np.add.at(coef, own, sign * x)
        np.add.at(pairs, (own[:-1], own[1:]), sign)
    return coef, pairs


def walk(length, rng):
    """Return labels whose transitions are allowed."""
    labels = [int(rng.integers(K))]
    while len(labels) < length:
        labels.append(int(rng.choice(np.flatnonzero(ALLOWED[labels[-1]]))))
    return labels


@pytest.mark.parametrize(
    ("visits", "name", "limits"),
    pairwise_table(
        list(VISITS), [*CHAINS, *OBSERVED], [{}, {"transitions": "observed"}]
    ),
)
def test_a_visit_moves_away_from_the_path_that_is_predicted(visits, name, limits):
    rng, n = np.random.default_rng(0), 8
    y = [walk(length, rng) for length in rng.integers(2, 5, size=n)]
    X = [rng.integers(0, 2, size=(len(labels), D)).astype(float) for labels in y]
    options = {**(CHAINS | OBSERVED)[name], **limits, **VISITS[visits]}
    models = [after_visits(m, X, y, **options) for m in range(1, n + 1)]
    for m, (before, after) in enumerate(pairwise(models), start=1):
        (path,) = before.predict(X[m : m + 1])
        coef, pairs = change_by_visit(X[m], y[m], path)
        if "label_pairs" in options:
            # A pair that is not in y has no weight.
            pairs[~ALLOWED] = 0.0
        with np.errstate(invalid="ignore"):
            changes = np.nan_to_num(after.transition_ - before.transition_)
        found = np.append(after.coef_ - before.coef_, changes)
        expected = np.append(coef, pairs)
        # The step is any number above 0.
        size = abs(found).max() / max(abs(expected).max(), 1.0)
        assert_allclose(found, size * expected, rtol=0, atol=1e-12)
        assert (size > 0.0) == expected.any()


def zeroed(y, **options):
    """Return a model of the labels in y whose weights are 0, or forbidden."""
    X = [np.ones((len(labels), D)) for labels in y]
    crf = one_step(LBFGSCRF(**options), X, y)
    for name in ("coef_", "intercept_", "start_", "end_", "transition_"):
        setattr(crf, name, np.where(getattr(crf, name) == -np.inf, -np.inf, 0.0))
    crf.higher_transitions_ = tuple(0.0 * w for w in crf.higher_transitions_)
    if crf.edge_coef_ is not None:
        crf.edge_coef_ = 0.0 * crf.edge_coef_
    return crf


@pytest.mark.parametrize("options", CHAINS.values(), ids=CHAINS)
def test_posterior_decoding_of_equal_sums_of_probabilities(options):
    """All labels have probability 1/4, exactly: all allowed paths are equally good."""
    pairs = [(j, (j + step) % 4) for j in range(4) for step in (1, 2)]
    crf = zeroed([[0, 1, 2, 3, 0]], transitions=pairs, **options)
    x = np.ones((6, D))
    assert (crf.predict_proba([x])[0] == 0.25).all()
    paths = all_paths(6, 4)
    allowed = (crf.transition_ > -np.inf)[paths[:, :-1], paths[:, 1:]].all(axis=1)
    first = ranking(paths, np.where(allowed, 0.0, -np.inf))[0]
    assert crf.predict([x], decoding="posterior")[0] == paths[first].tolist()


@pytest.mark.parametrize("options", CHAINS.values(), ids=CHAINS)
def test_posterior_decoding_compares_the_labels_of_each_position(options):
    """A sum over many positions would hide the difference of two probabilities."""
    crf = zeroed([[0, 1, 0]], **options)
    crf.intercept_ = np.array([0.0, 4e-14])
    x = np.ones((2000, D))
    node = crf.predict_proba([x])[0]
    assert (node[:, 1] > node[:, 0]).all()
    assert crf.predict([x], decoding="posterior")[0] == [1] * 2000


TREES = {
    "star": [-1, 0, 0, 0, 0],
    "path": [1, 2, 3, 4, -1],
    "tree": [2, 2, 4, -1, 3],
    "forest": [-1, 0, 4, 4, -1],
}


def tree_shape(heads):
    """Return number of nodes, and the edges, [head, node]."""
    return len(heads), [[head, v] for v, head in enumerate(heads) if head >= 0]


SHAPED = {
    **{name: (GraphCRF(directed=True), *SHAPES[name], None) for name in SHAPES},
    **{
        f"TreeCRF, {name}": (TreeCRF(), *tree_shape(heads), heads)
        for name, heads in TREES.items()
    },
}
del SHAPED["nothing"]


def fitted_graphs(estimator, n_nodes, ends, heads):
    """Return a model of three labels."""
    crf = clone(estimator).set_params(solver="lbfgs")
    X = [(np.ones((n_nodes, D)), ends if heads is None else heads)] * K
    return one_step(crf, X, [[k] * n_nodes for k in range(K)])


def graph_differences(crf, n_nodes, ends, heads, rng):
    """Return which answers of a random problem are not those of the rule."""
    for name in ("coef_", "intercept_", "edge_coef_"):
        shape = np.shape(getattr(crf, name))
        setattr(crf, name, rng.integers(0, 2, size=shape).astype(float))
    nodes = rng.integers(0, 2, size=(n_nodes, D)).astype(float)
    graph = nodes, ends if heads is None else heads
    paths, scores = labelling_scores(crf, (nodes, ends))
    order, _ = elimination(n_nodes, ends, most_axes=n_nodes)
    rank, wrong = np.lexsort([*paths[:, order].T, -scores]), []
    if crf.predict([graph])[0] != paths[rank[0]].tolist():
        wrong.append("predict")
    for n in (2, 7, 40):
        found = [labels for labels, _ in crf.predict_n_best([graph], n)[0]]
        if found != paths[rank[:n]].tolist():
            wrong.append(f"predict_n_best, n={n}")
    kept, free = paths[rng.choice(rank)], rng.random(n_nodes) < 0.6
    known = [None if f else int(k) for f, k in zip(free, kept, strict=True)]
    agree = paths[rank][(paths[rank] == kept)[:, ~free].all(axis=1)]
    if crf.predict([graph], known=[known])[0] != agree[0].tolist():
        wrong.append("known")
    node = crf.predict_proba([graph])[0]
    if crf.predict([graph], decoding="posterior")[0] != node.argmax(axis=1).tolist():
        wrong.append("posterior")
    return wrong


@pytest.mark.parametrize("shape", SHAPED.values(), ids=SHAPED)
def test_graphs_take_the_lower_label_at_the_node_eliminated_last(shape):
    crf, rng = fitted_graphs(*shape), np.random.default_rng(0)
    found = [graph_differences(crf, *shape[1:], rng) for _ in range(4)]
    assert found == [[]] * 4


def segment_differences(names, scheme, rng):
    """Return which answers of random scores of segments are not those of the rule.

    The labels are numbered at random.
    """
    grammar = Grammar(rng.permutation(names).tolist(), scheme, int(rng.integers(1, 6)))
    length, wrong = int(rng.integers(1, 7)), []
    local = rng.integers(0, 2, size=(length, grammar.n_labels)).astype(float)
    local[rng.random(local.shape) < 0.1] = -np.inf
    tied = rng.integers(0, 2, size=grammar.n_tied).astype(float)
    known = Enumeration(grammar, np.where(local == -np.inf, -1e3, local), tied)
    paths = np.array(known.labels).reshape(-1, length)
    possible = known.scores > -500.0
    rank = ranking(paths, np.where(possible, known.scores, -np.inf))
    scores = SegmentScores(local, tied, np.array([0, length]), grammar)
    if len(rank) and scores.viterbi()[0].tolist() != paths[rank[0]].tolist():
        wrong.append("viterbi")
    for n in (2, 7, 10_000):
        (found,), _ = scores.n_best(n)
        if found.tolist() != paths[rank[:n]].tolist():
            wrong.append(f"n_best, n={n}")
    return wrong


@pytest.mark.parametrize(("names", "scheme"), GRAMMARS)
def test_segments_take_the_lower_label_at_the_last_difference(names, scheme):
    rng = np.random.default_rng(0)
    found = [segment_differences(names, scheme, rng) for _ in range(40)]
    assert found == [[]] * 40


def size_of(sequence, begin, end):
    return {"size": end - begin}


@pytest.mark.parametrize("segment_features", [None, size_of])
def test_a_segment_model_orders_as_a_chain(segment_features):
    X, y = sentences(20)
    crf = SegmentCRF(solver="lbfgs", segment_features=segment_features)
    one_step(crf, X, y)
    rng = np.random.default_rng(0)
    names = ["coef_", "intercept_", "start_", "end_", "transition_", "length_"]
    features = None
    if segment_features is not None:
        names.append("segment_coef_")
        features = Features(1, lambda begin, end: np.array([end - begin]))
    for sequence in X[4:20:5]:
        for name in names:
            weights = getattr(crf, name)
            drawn = rng.integers(0, 2, size=weights.shape).astype(float)
            setattr(crf, name, np.where(weights == -np.inf, -np.inf, drawn))
        # What is forbidden is not enumerated.
        blocks = [getattr(crf, name).ravel() for name in names[4:]]
        tied = np.maximum(np.concatenate(blocks), -1.0)
        _, known = enumeration_of(crf, sequence, tied, features)
        paths = crf.classes_[np.array(known.labels)]
        rank = ranking(np.array(known.labels), known.scores)
        assert crf.predict([sequence])[0] == paths[rank[0]].tolist()
        found = [labels for labels, _ in crf.predict_n_best([sequence], 25)[0]]
        assert found == paths[rank[:25]].tolist()
