"""Scores of few pairs of labels beside free ones: the results of a matrix of all."""

import pickle
from functools import cache

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.special import logsumexp

import reference
from pairs import by_pairs
from samples import LOSSES, peak_of, seeded
from skcrf_sdca import (
    CRF,
    LBFGSCRF,
    OEGCRF,
    SAGNUSCRF,
    SDCACRF,
    SGDCRF,
    PassiveAggressiveCRF,
)
from skcrf_sdca._kernels.math import _sparse_transitions
from skcrf_sdca._kernels.math._sparse_transitions import (
    SparseTransitions,
    layout_of_scores,
)
from skcrf_sdca._utils import mapped_arrays, memory
from skcrf_sdca.compat import CRF as CompatCRF
from skcrf_sdca.structures import weight_choice
from skcrf_sdca.structures.chain.chains import Chains
from skcrf_sdca.structures.chain.constraints import Constraints
from skcrf_sdca.structures.chain.observed_chain import observed_label_pairs

N_LABELS, ALPHA = 3, 0.1
X = [
    np.array([[1.0, 0, 0], [0.5, 1, 0]]),
    np.array([[0.0, 0, 1], [0, 1, 0], [0, 1, 0.5], [1, 0, 0]]),
    np.array([[-1.0, 0.5, 0]]),
]
Y = [[0, 1], [1, 2, 0, 1], [0]]
OBSERVED = np.array([[0, 1, 0], [0, 0, 1], [1, 0, 0]], dtype=bool)
# Label 2 may not follow itself.
ALLOWED = np.array([[1, 1, 1], [1, 1, 1], [1, 1, 0]], dtype=bool)


@pytest.fixture
def lists(monkeypatch):
    """Have fitted transitions stored in lists, however few labels there are."""
    monkeypatch.setattr(_sparse_transitions, "LEAST_LABELS", 0)
    monkeypatch.setattr(_sparse_transitions, "FEW", 1.0)


@st.composite
def problems(draw):
    """Return pairs with a score, allowed ones, and a generator of numbers."""
    n_labels = draw(st.integers(1, 9))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    shape = n_labels, n_labels
    allowed = rng.random(shape) < draw(st.sampled_from([0.3, 0.8, 1.0]))
    pairs = allowed & (rng.random(shape) < draw(st.sampled_from([0.0, 0.2, 0.6, 1.0])))
    return pairs, allowed, rng


def of_both(pairs, allowed, node, scores, offsets, ends=None):
    """Return Chains with scores of some pairs, and the same with a matrix."""
    layout = SparseTransitions(pairs, allowed)
    matrix = np.where(pairs, scores, 0.0)
    start, end = np.ones((2, len(pairs)), dtype=bool) if ends is None else ends
    constraints = Constraints(start, end, allowed)
    constraints = None if constraints.is_trivial() else constraints
    own = Chains(node, layout.compact(scores), offsets, constraints, layout)
    return own, Chains(node, matrix, offsets, constraints)


# --- the layout


@given(problems())
def test_places_and_free_pairs(drawn):
    pairs, allowed, rng = drawn
    layout = SparseTransitions(pairs, allowed)
    matrix = rng.normal(size=pairs.shape)
    values = layout.compact(matrix)
    assert values.shape == layout.shape == (pairs.sum(),)
    assert_array_equal(layout.expand(values, 0.0), np.where(pairs, matrix, 0.0))
    for same in (layout, pickle.loads(pickle.dumps(layout))):
        assert same.has_free
        assert_array_equal(same.targets, layout.targets)
        assert_array_equal(np.broadcast_to(same.is_free, pairs.shape), allowed)


@given(problems())
def test_the_best_free_pairs_are_those_of_a_matrix(drawn):
    """Of labels that few lead to, that many lead to, and that no score leads to."""
    pairs, allowed, rng = drawn
    pairs[:, ::2] = False
    n_labels = len(pairs)
    node, scores = rng.normal(size=(6, n_labels)), -rng.random(pairs.shape)
    own, twin = of_both(pairs, allowed, node, scores, np.array([0, 6]))
    (path, score), (expected, best) = own.viterbi(), twin.viterbi()
    assert_allclose(score, best, rtol=1e-13)
    # Where every path is forbidden, none is the best.
    if np.isfinite(best):
        assert_array_equal(path, expected)


def test_which_layout_suits_fitted_scores(monkeypatch):
    """Lists of pairs where there are many labels, and few weights are not 0."""
    scores = np.zeros((80, 80))
    scores[np.arange(80), np.arange(80)] = -1.0
    layout = layout_of_scores(scores)
    assert (layout.size, layout.is_free) == (80, True)
    assert layout_of_scores(scores.copy()) is layout
    scores[3, :4] = -np.inf
    layout = layout_of_scores(scores)
    assert layout.size == 79
    assert_array_equal(layout.is_free, scores != -np.inf)
    assert layout_of_scores(np.ones((80, 80))).is_dense
    assert layout_of_scores(np.zeros((3, 3))).is_dense
    # With few allowed pairs the others are not free.
    scores[:, 10:] = -np.inf
    assert not layout_of_scores(scores).has_free


# --- inference


@settings(max_examples=50)
@given(
    problems(),
    st.sampled_from([1.0, 30.0, 299.0, 3000.0]),
    st.sampled_from([1.0, 50.0, 600.0]),
)
def test_inference_is_that_with_a_matrix(drawn, spread, weight):
    """In the scaled domain and in logarithms, with walls at the ends and between."""
    pairs, allowed, rng = drawn
    n_labels, lengths = len(pairs), rng.integers(0, 7, size=4)
    offsets = np.concatenate([[0], np.cumsum(lengths)])
    node = spread * rng.integers(0, 2, size=(offsets[-1], n_labels)).astype(float)
    node += rng.normal(size=node.shape)
    if rng.random() < 0.3 and len(node):
        node[rng.integers(len(node)), rng.integers(n_labels)] = -np.inf
    scores = weight * rng.choice([-1.0, -0.5, 0.0, 0.5, 1.0], size=pairs.shape)
    scores += rng.normal(size=pairs.shape)
    own, twin = of_both(
        pairs, allowed, node, scores, offsets, rng.random((2, n_labels)) < 0.9
    )
    size = 1.0 + 7 * (spread + weight)
    log_z = twin.log_partition()
    assert_allclose(own.log_partition(), log_z, rtol=0, atol=1e-13 * size)
    factor = rng.random(len(lengths))
    (node_own, tied_own, _), (node_twin, tied_twin, _) = (
        chains.expectations(factor) for chains in (own, twin)
    )
    assert_allclose(node_own, node_twin, rtol=0, atol=1e-13 * size)
    expected = own.layout.compact(tied_twin)
    assert_allclose(tied_own, expected, rtol=0, atol=1e-12 * size)
    assert_allclose(
        own.pair_marginals()[0], twin.pair_marginals()[0], rtol=0, atol=1e-13 * size
    )
    assert_allclose(
        own.log_node_marginals(), twin.log_node_marginals(), rtol=0, atol=1e-12 * size
    )
    possible = np.repeat(log_z > -np.inf, lengths)
    (paths, best), (expected, least) = own.viterbi(), twin.viterbi()
    assert_array_equal(paths[possible], expected[possible])
    assert_array_equal(best, least)
    uniform = rng.random((len(node), 3))
    assert_array_equal(own.sample(uniform)[possible], twin.sample(uniform)[possible])
    for found, wanted in zip(own.n_best(3), twin.n_best(3), strict=True):
        for a, b in zip(found, wanted, strict=True):
            assert_array_equal(a, b)


@pytest.mark.parametrize("least", [0, 64])
def test_expected_pairs_of_many_positions(least, monkeypatch):
    """With many labels positions are summed 16 at a time, and what is left of them."""
    monkeypatch.setattr(_sparse_transitions, "LEAST_LABELS", least)
    rng = np.random.default_rng(0)
    offsets = np.cumsum([0, 17, 0, 1, 18, 40, 16])
    node, scores = rng.normal(size=(offsets[-1], 3)), rng.normal(size=(3, 3))
    own, twin = of_both(OBSERVED, ALLOWED, node, scores, offsets)
    factor = rng.random(len(offsets) - 1)
    tied_own, tied_twin = (chains.expectations(factor)[1] for chains in (own, twin))
    assert_allclose(tied_own, own.layout.compact(tied_twin), rtol=1e-12)


@settings(max_examples=50)
@given(problems(), st.sampled_from([5.0, 50.0, 290.0, 600.0, 2000.0]))
def test_sums_of_which_little_is_left_keep_their_digits(drawn, weight):
    """The likely labels before a label have scores far below 0: none cancels.

    With the last label given, log Z is the logarithm of one sum, whose relative error
    is the absolute error of log Z.
    """
    pairs, allowed, rng = drawn
    node = -weight * rng.random((2, len(pairs))) * (rng.random(len(pairs)) < 0.7)
    scores = weight * rng.choice([-1.0, -0.9, 0.5], size=pairs.shape)
    for given_at in (0, 1):
        for k in range(len(pairs)):
            clamped = node.copy()
            clamped[given_at, np.arange(len(pairs)) != k] = -np.inf
            own, _ = of_both(pairs, allowed, clamped, scores, np.array([0, 2]))
            matrix = np.where(allowed, np.where(pairs, scores, 0.0), -np.inf)
            exact = logsumexp(clamped[0][:, None] + matrix + clamped[1])
            (found,) = own.log_partition()
            # Scores of this size have no more digits.
            atol = 1e-14 + 4 * np.finfo(float).eps * weight
            assert_allclose(found, exact, rtol=0, atol=atol)
            node_own, _ = own.node_marginals()
            assert_allclose(node_own.sum(axis=1), exact > -np.inf, rtol=1e-12)


@settings(max_examples=50)
@given(problems())
def test_ties_go_to_the_lowest_label(drawn):
    pairs, allowed, rng = drawn
    node = rng.integers(0, 2, size=(6, len(pairs))).astype(float)
    scores = rng.integers(-1, 2, size=pairs.shape).astype(float)
    own, twin = of_both(pairs, allowed, node, scores, np.array([0, 6]))
    (paths, best), (expected, least) = own.viterbi(), twin.viterbi()
    assert_array_equal(best, least)
    if np.isfinite(best).all():
        assert_array_equal(paths, expected)


def test_spans_and_likelihoods():
    rng = np.random.default_rng(0)
    node, scores = rng.normal(size=(5, 3)), rng.normal(size=(3, 3))
    offsets = np.array([0, 5])
    own, _ = of_both(OBSERVED, ALLOWED, node, scores, offsets)
    walls = np.where(ALLOWED, np.where(OBSERVED, scores, 0.0), -np.inf)
    twin = Chains(node, walls, offsets)
    spans = np.array([[0, 1, 3], [0, 0, 2]])
    labels = np.array([1, 2, 0, 0], dtype=np.int32)
    assert_allclose(
        own.span_probabilities(spans, labels),
        twin.span_probabilities(spans, labels),
        rtol=1e-12,
    )
    for path in ([0, 1, 2, 0, 0], [0, 1, 2, 2, 0]):
        path = np.array(path, dtype=np.int32)
        assert_allclose(own.log_likelihood(path), twin.log_likelihood(path), rtol=1e-13)
    assert own.log_likelihood(path) == -np.inf
    assert_array_equal(own.posterior()[0], twin.posterior()[0])


# --- which pairs are observed


def test_the_pairs_of_labels():
    pairs = observed_label_pairs(np.array([0, 1, -1, 2, 0]), np.array([0, 3, 5]), 3)
    assert np.argwhere(pairs).tolist() == [[0, 1], [2, 0]]


def test_the_pairs_of_sets_of_labels():
    """All that are possible; where every label is, nothing is observed."""
    rows = np.array([[1, 1, 0], [0, 0, 1], [1, 1, 1], [0, 1, 0]], dtype=bool)
    pairs = observed_label_pairs(rows, np.array([0, 4]), 3)
    assert np.argwhere(pairs).tolist() == [[0, 2], [1, 2]]


def test_pairs_are_found_without_a_number_for_each_position():
    labels = np.random.default_rng(0).integers(-1, 3, size=2**18, dtype=np.int8)
    offsets = np.arange(0, len(labels) + 1, 2**6)
    assert peak_of(lambda: observed_label_pairs(labels, offsets, 3)) < 4 * len(labels)
    paths = labels.reshape(-1, 2**6)
    known = (paths[:, 1:] >= 0) & (paths[:, :-1] >= 0)
    expected = np.zeros((3, 3), dtype=bool)
    expected[paths[:, :-1][known], paths[:, 1:][known]] = True
    assert_array_equal(observed_label_pairs(labels, offsets, 3), expected)


# --- fits

SOLVERS = [OEGCRF, SDCACRF, SAGNUSCRF, LBFGSCRF, CRF]


def mask_of(allowed):
    return {"transitions": None if allowed is None else allowed}


@cache
def optimum(loss, l1_ratio, constrained):
    """Return min P over the weights that exist, and these weights: by enumeration."""
    exists = np.ones(N_LABELS * (3 + N_LABELS + 3), dtype=bool)
    reference.unflatten(exists, 3, N_LABELS).transition[:] = OBSERVED
    allowed = ALLOWED if constrained else np.ones_like(ALLOWED)
    of_paths = reference.mean_loss(X, Y, N_LABELS, allowed=allowed, **LOSSES[loss][1])

    def of_existing(w):
        weights = np.zeros(len(exists))
        weights[exists] = w
        value, gradient = of_paths(weights)
        return value, gradient[exists]

    best = reference.optimum(of_existing, np.count_nonzero(exists), ALPHA, l1_ratio)
    weights = np.zeros(len(exists))
    weights[exists] = np.subtract(*np.split(best.x, 2))
    return best.fun, reference.unflatten(weights, 3, N_LABELS)


@by_pairs(
    {
        "estimator": SOLVERS,
        "l1_ratio": [0.0, 0.4],
        "loss": LOSSES,
        "constrained": [False, True],
    }
)
def test_the_optimum_is_that_of_enumeration(estimator, l1_ratio, loss, constrained):
    allowed = ALLOWED if constrained else None
    options = {"l1_ratio": l1_ratio, "tol": 1e-10, "max_iter": 5000, **LOSSES[loss][0]}
    crf = seeded(
        estimator, label_pairs="observed", alpha=ALPHA, transitions=allowed, **options
    ).fit(X, Y)
    least, expected = optimum(loss, l1_ratio, constrained)
    assert_allclose(crf.primal_objective_, least, rtol=0, atol=1e-9)
    assert crf.dual_objective_ <= least + 1e-12
    masked = expected.transition
    if constrained:
        masked = np.where(ALLOWED, masked, -np.inf)
    assert_allclose(crf.transition_, masked, rtol=0, atol=1e-4)
    assert_array_equal(crf.transition_[~OBSERVED & ALLOWED], 0.0)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("n_jobs", [None, 2])
@pytest.mark.parametrize("estimator", SOLVERS)
def test_no_certificate_of_an_epoch_is_above_the_minimum(estimator, n_jobs):
    """D is never above P*, from the first epoch on, and never falls."""
    least, _ = optimum("log loss", 0.0, False)
    for max_iter in (1, 2, 4):
        crf = seeded(
            estimator,
            label_pairs="observed",
            alpha=ALPHA,
            max_iter=max_iter,
            tol=0.0,
            n_jobs=n_jobs,
        ).fit(X, Y)
        assert crf.dual_objective_ <= least + 1e-12
        assert crf.primal_objective_ >= least - 1e-12
        gap = crf.primal_objective_ - crf.dual_objective_
        assert_allclose(crf.duality_gap_, gap, rtol=0, atol=1e-12)


def hidden(n_labels=80, n=30, seed=0):
    """Return sequences of many labels, of whose pairs few follow each other."""
    rng = np.random.default_rng(seed)
    after = rng.integers(0, n_labels, size=(n_labels, 3))
    paths = []
    for length in rng.integers(1, 9, size=n):
        path = [int(rng.integers(n_labels))]
        while len(path) < length:
            path.append(int(rng.choice(after[path[-1]])))
        paths.append(path)
    codes = rng.normal(size=(n_labels, 12))
    return [codes[path] + rng.normal(size=(len(path), 12)) for path in paths], paths


@pytest.mark.parametrize("estimator", [OEGCRF, LBFGSCRF])
def test_predictions_of_many_labels_are_those_of_a_matrix(estimator, monkeypatch):
    signals, y = hidden(120, 80)
    crf = seeded(estimator, label_pairs="observed", alpha=0.01).fit(signals, y)
    assert layout_of_scores(crf.transition_).has_free
    found = crf.predict(signals), crf.predict_proba(signals), crf.score(signals, y)
    best = crf.predict_n_best(signals, 2)
    monkeypatch.setattr(_sparse_transitions, "FEW", -1.0)
    crf = pickle.loads(pickle.dumps(crf))
    assert crf.predict(signals).tolist() == found[0].tolist()
    for own, twin in zip(found[1], crf.predict_proba(signals), strict=True):
        assert_allclose(own, twin, rtol=0, atol=1e-13)
    assert found[2] == crf.score(signals, y)
    for own, twin in zip(best, crf.predict_n_best(signals, 2), strict=True):
        assert [paths for paths, _ in own] == [paths for paths, _ in twin]


def test_where_all_pairs_are_observed_it_is_the_model_of_all():
    y = [[0, 0, 1, 1, 0], [0, 1], [1]]
    signals = [np.eye(2)[path] for path in y]
    own, twin = (
        seeded(OEGCRF, label_pairs=pairs, alpha=0.1).fit(signals, y)
        for pairs in ("observed", "all")
    )
    assert_array_equal(own.transition_, twin.transition_)
    assert_array_equal(own.coef_, twin.coef_)


@pytest.mark.usefixtures("lists")
@pytest.mark.parametrize("method", ["perceptron", "asgd", "svrg"])
def test_online_methods_and_sgd(method):
    """Unobserved pairs keep the weight 0, and all pairs of y have another."""
    signals, y = hidden(12)
    if method == "perceptron":
        estimator = PassiveAggressiveCRF
        options = {"loss": "perceptron"}
    else:
        estimator, options = SGDCRF, {"method": method, "alpha": 0.01}
    crf = seeded(estimator, label_pairs="observed", **options)
    with pytest.warns(match=".*") if method == "asgd" else _nothing():
        crf.fit(signals, y)
    pairs = observed_pairs_of(y, 12)
    assert_array_equal(crf.transition_[~pairs], 0.0)
    assert crf.transition_[pairs].any()
    assert crf.score(signals, y) > 0.5
    assert not hasattr(crf, "partial_fit")


class _nothing:
    def __enter__(self):
        return self

    def __exit__(self, *_):
        return False


def observed_pairs_of(y, n_labels):
    pairs = np.zeros((n_labels, n_labels), dtype=bool)
    for path in y:
        pairs[path[:-1], path[1:]] = True
    return pairs


def test_pairs_of_a_prior_have_weights():
    """w_0 counts everywhere: pairs that the prior has weights for have one."""
    signals, y = hidden(6, n=12)
    prior = seeded(OEGCRF, label_pairs="all", alpha=0.1).fit(signals, y)
    given = {"prior": prior}
    options = {"alpha": 0.1, "tol": 1e-8, "max_iter": 1000}
    own = seeded(OEGCRF, label_pairs="observed", **options).fit(X, Y, **prior_of(X, Y))
    assert np.isfinite(own.primal_objective_)
    own, twin = (
        seeded(LBFGSCRF, label_pairs=pairs, **options).fit(signals[:4], y[:4], **given)
        for pairs in ("observed", "all")
    )
    assert_allclose(own.transition_, twin.transition_, rtol=0, atol=1e-3)


def prior_of(signals, y):
    return {"prior": seeded(OEGCRF, label_pairs="observed", alpha=1.0).fit(signals, y)}


def test_an_init_gives_the_weights_that_there_are():
    signals, y = hidden(12)
    first = seeded(LBFGSCRF, alpha=0.05).fit(signals, y)
    options = {"label_pairs": "observed", "alpha": 0.05, "tol": 1e-6, "max_iter": 1000}
    cold = seeded(LBFGSCRF, **options).fit(signals, y)
    warm = seeded(LBFGSCRF, **options).fit(signals, y, init=first)
    assert warm.n_iter_ < cold.n_iter_
    assert_allclose(warm.primal_objective_, cold.primal_objective_, rtol=1e-5)


@pytest.mark.parametrize("estimator", [OEGCRF, SDCACRF, SAGNUSCRF, LBFGSCRF])
def test_a_warm_start_goes_on(estimator):
    signals, y = hidden(12)
    options = {"label_pairs": "observed", "alpha": 0.1, "max_iter": 500}
    crf = seeded(estimator, warm_start=True, **options)
    first = crf.fit(signals, y).n_iter_
    assert crf.fit(signals, y).n_iter_ < first
    with pytest.raises(ValueError, match="needs the same `label_pairs`"):
        crf.set_params(label_pairs="all").fit(signals, y)


def test_the_choice_by_the_data_needs_no_marginals_of_pairs():
    assert CRF(label_pairs="observed").fit(X, Y).solver_ == "sdca"
    assert CRF(label_pairs="all").fit(X, Y).solver_ == "sdca"
    crf = CRF(label_pairs="observed", loss="hinge", tol=1e-2, random_state=0)
    assert crf.fit(X, Y).solver_ == "sdca"
    assert_array_equal(crf.transition_[~OBSERVED], 0.0)


def test_models_of_crfsuite_can_have_observed_transitions_alone():
    items = [[{"f": str(row.tolist())} for row in rows] for rows in X]
    y = [[str(k) for k in path] for path in Y]
    crf = CompatCRF(all_possible_transitions=False).fit(items, y)
    assert_array_equal(crf.estimator_.transition_ != 0.0, OBSERVED)
    crf = CompatCRF().fit(items, y)
    assert np.all(crf.estimator_.transition_ != 0.0)


# --- the choice by the data


def test_the_default_of_crf_depends_on_the_numbers(monkeypatch, capsys):
    signals, y = hidden(12)
    rows = [sp.csr_array(x) for x in signals]
    twin = seeded(SDCACRF).fit(rows, y)
    crf = CRF(random_state=0, verbose=1).fit(rows, y)
    assert_array_equal(crf.transition_, twin.transition_)
    assert "observed in y" not in capsys.readouterr().out
    monkeypatch.setattr(weight_choice, "MANY_NUMBERS", len(y) * 12**2 - 1)
    monkeypatch.setattr(weight_choice, "MANY_BESIDE_PAIRS", 12 * 12)
    crf.fit(rows, y)
    assert not sp.issparse(crf.coef_)
    monkeypatch.setattr(weight_choice, "MANY_BESIDE_PAIRS", 12 * 12 - 1)
    crf.fit(rows, y)
    pairs = observed_pairs_of(y, 12)
    assert_array_equal(crf.transition_ != 0.0, pairs)
    assert sp.issparse(crf.coef_)
    said = f"CRF: weights of {pairs.sum()} of 144 pairs of labels and "
    assert said in capsys.readouterr().out
    # A step for each position counts too.
    monkeypatch.undo()
    n_positions = sum(map(len, y))
    monkeypatch.setattr(weight_choice, "MANY_PRODUCTS", n_positions * 12**2)
    assert np.all(CRF(random_state=0).fit(rows, y).transition_ != 0.0)
    monkeypatch.setattr(weight_choice, "MANY_PRODUCTS", n_positions * 12**2 - 1)
    assert_array_equal(CRF().fit(rows, y).transition_ != 0.0, pairs)
    # Weights of three labels are more.
    options = {"max_iter": 2, "tol": 1.0, "random_state": 0}
    monkeypatch.setattr(weight_choice, "MANY_PRODUCTS", n_positions * 12**3)
    assert np.all(CRF(order=2, **options).fit(rows, y).transition_ != 0.0)
    monkeypatch.setattr(weight_choice, "MANY_PRODUCTS", n_positions * 12**3 - 1)
    assert_array_equal(CRF(order=2, **options).fit(rows, y).transition_ != 0.0, pairs)


def test_a_message_about_memory_names_the_pairs_that_fit(monkeypatch):
    signals, y = hidden(12)
    pairs = observed_pairs_of(y, 12).sum()
    n_positions = sum(map(len, y))
    n_bytes = 24 * (12 * 12 + 3 * 12 + pairs) + 12 * (n_positions * 12 + len(y) * pairs)
    monkeypatch.setattr(memory, "SMALL", 0)
    monkeypatch.setattr(mapped_arrays, "free_space", lambda: 0)
    monkeypatch.setattr(memory, "available_memory", lambda: n_bytes)
    with pytest.raises(MemoryError, match='with label_pairs="observed"') as caught:
        seeded(OEGCRF).fit(signals, y)
    assert f"OEG takes {memory.size_text(n_bytes)}" in str(caught.value)
    seeded(OEGCRF, label_pairs="observed").fit(signals, y)
    monkeypatch.setattr(memory, "available_memory", lambda: n_bytes - 1)
    with pytest.raises(MemoryError) as caught:
        seeded(OEGCRF).fit(signals, y)
    assert "label_pairs" not in str(caught.value)
