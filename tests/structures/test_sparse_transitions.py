"""Transitions in lists, where few are allowed: the results of a matrix of all."""

import pickle
from functools import cache

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

import reference
from samples import LOSSES, seeded
from skcrf_sdca import LBFGSCRF, OEGCRF, SAGNUSCRF, SDCACRF
from skcrf_sdca._kernels.math import _transitions
from skcrf_sdca._kernels.math._transitions import TransitionLayout, all_transitions
from skcrf_sdca.data.tagging_schemes import is_valid_pair
from skcrf_sdca.distributed import DistributedCRF
from skcrf_sdca.structures.chain.chains import Chains
from skcrf_sdca.structures.chain.constraints import Constraints

N_LABELS, ALPHA = 3, 0.1
ALLOWED = np.array([[0, 1, 0], [1, 0, 1], [1, 0, 0]], dtype=bool)
X = [
    np.array([[1.0, 0, 0], [0.5, 1, 0]]),
    np.array([[0.0, 0, 1], [0, 1, 0], [0, 1, 0.5], [1, 0, 0]]),
    np.array([[-1.0, 0.5, 0]]),
]
Y = [[0, 1], [1, 2, 0, 1], [0]]
SEEN = np.array([[1, 1, 1], [1, 1, 1], [0, 1, 0]], dtype=bool)


@pytest.fixture
def lists(monkeypatch):
    """Have transitions stored in lists however many there are."""
    monkeypatch.setattr(_transitions, "SPARSE", 1.0)


@pytest.fixture
def fit_both(monkeypatch):
    """Return a function that fits with lists, and with a matrix."""

    def fit(make, *data):
        fitted = []
        for share in (1.0, 0.0):
            monkeypatch.setattr(_transitions, "SPARSE", share)
            fitted.append(make().fit(*data))
        return fitted

    return fit


def constrained(estimator=SDCACRF, **options):
    return seeded(estimator, transitions=ALLOWED, alpha=ALPHA, **options)


# --- the layout


def bioes(n_types):
    names = ["O", *(f"{part}-{t}" for t in range(n_types) for part in "BIES")]
    allowed = [[is_valid_pair(a, b, "BIOES") for b in names] for a in names]
    return np.array(allowed)


def test_labels_with_the_same_predecessors_are_a_block():
    """In BIOES all of O, B and S; others have predecessors of their own."""
    layout = TransitionLayout(17, bioes(4))
    block = layout.targets.tolist()[: 9 * 9]
    assert sorted(set(block)) == [0, 1, 4, 5, 8, 9, 12, 13, 16]
    assert layout.size == bioes(4).sum()


@st.composite
def masks(draw):
    n_labels = draw(st.integers(1, 9))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    allowed = rng.random((n_labels, n_labels)) < draw(st.sampled_from([0.2, 0.5, 1.0]))
    # Columns that are equal make blocks.
    allowed = allowed[:, rng.integers(0, draw(st.integers(1, n_labels)), n_labels)]
    allowed[rng.integers(n_labels), rng.integers(n_labels)] = True
    return allowed, rng


@given(masks())
def test_the_places_of_pairs(drawn):
    allowed, rng = drawn
    layout = TransitionLayout(len(allowed), allowed)
    matrix = rng.normal(size=allowed.shape)
    values = layout.compact(matrix)
    assert values.shape == layout.shape == (allowed.sum(),)
    assert_array_equal(layout.expand(values, -1.0), np.where(allowed, matrix, -1.0))
    places = layout.place_of(layout.sources, layout.targets)
    assert_array_equal(places, np.arange(layout.size))
    copied = pickle.loads(pickle.dumps(layout))
    assert_array_equal(copied.targets, layout.targets)


def test_all_pairs_are_a_matrix():
    layout = all_transitions(4)
    assert layout.is_dense
    assert layout.shape == (4, 4)
    assert_array_equal(layout.sources * 4 + layout.targets, np.arange(16))
    assert pickle.loads(pickle.dumps(layout)).is_dense


def test_few_pairs_make_lists():
    assert _transitions.layout_of(bioes(3)).is_dense
    assert not _transitions.layout_of(bioes(18)).is_dense
    assert _transitions.layout_of(np.zeros((3, 3), dtype=bool)).is_dense


def test_the_layout_of_the_same_mask_is_made_once():
    mask = bioes(18)
    layout = _transitions.layout_of(mask)
    assert _transitions.layout_of(mask.copy()) is layout
    assert _transitions.layout_of(bioes(19)) is not layout


def test_transitions_of_another_layout_are_refused():
    layout = TransitionLayout(3, ALLOWED)
    with pytest.raises(ValueError, match="3 labels need"):
        Chains(np.zeros((2, 3)), np.zeros((3, 3)), np.array([0, 2]), None, layout)


# --- inference


@settings(max_examples=50)
@given(masks(), st.sampled_from([1.0, 30.0, 199.0, 299.0, 599.0, 3000.0]))
def test_inference_is_that_with_all_others_forbidden(drawn, spread):
    """In the scaled domain and in logarithms, with walls at the ends and between."""
    allowed, rng = drawn
    n_labels, lengths = len(allowed), rng.integers(0, 7, size=4)
    offsets = np.concatenate([[0], np.cumsum(lengths)])
    layout = TransitionLayout(n_labels, allowed)
    node = spread * rng.integers(0, 2, size=(offsets[-1], n_labels)).astype(float)
    node += rng.normal(size=node.shape)
    if rng.random() < 0.3 and len(node):
        node[rng.integers(len(node)), rng.integers(n_labels)] = -np.inf
    transition = rng.normal(size=allowed.shape)
    start, end = rng.random((2, n_labels)) < 0.8
    constraints = Constraints(start, end, allowed)
    pairs = layout.compact(transition)
    chains = Chains(node, pairs, offsets, constraints, layout)
    twins = Chains(node, transition, offsets, constraints)
    log_z = twins.log_partition()
    size = 1.0 + 7 * spread
    assert_allclose(chains.log_partition(), log_z, rtol=0, atol=1e-13 * size)
    own, expected = chains.marginals()[0], twins.marginals()[0]
    assert_allclose(own.node, expected.node, rtol=0, atol=1e-13 * size)
    edge = layout.expand(own.edge, 0.0)
    assert_allclose(edge, expected.edge, rtol=0, atol=1e-13 * size)
    weight = rng.random(len(lengths))
    own, expected = chains.expectations(weight), twins.expectations(weight)
    assert_allclose(layout.expand(own[1], 0.0), expected[1], rtol=0, atol=1e-12 * size)
    possible = np.repeat(log_z > -np.inf, lengths)
    # Decoders of fitted models read what is forbidden from the scores.
    walls = np.where(allowed, transition, -np.inf)
    for own, expected in (
        (chains.viterbi(), twins.viterbi()),
        (
            Chains(node, pairs, offsets, layout=layout).posterior(),
            Chains(node, walls, offsets).posterior(),
        ),
    ):
        assert_array_equal(own[0][possible], expected[0][possible])
        assert_allclose(own[1], expected[1], rtol=0, atol=1e-13 * size)
    uniform = rng.random((len(node), 3))
    assert_array_equal(
        chains.sample(uniform)[possible], twins.sample(uniform)[possible]
    )


def test_n_best_and_spans_of_lists():
    rng = np.random.default_rng(0)
    layout = TransitionLayout(3, ALLOWED)
    node, transition = rng.normal(size=(5, 3)), rng.normal(size=(3, 3))
    walls = np.where(ALLOWED, transition, -np.inf)
    offsets = np.array([0, 5])
    chains = Chains(node, layout.compact(transition), offsets, layout=layout)
    twins = Chains(node, walls, offsets)
    paths, scores = chains.n_best(4)
    expected, best = twins.n_best(4)
    assert_array_equal(paths[0], expected[0])
    assert_allclose(scores[0], best[0], rtol=1e-14)
    spans = np.array([[0, 1, 3], [0, 0, 2]])
    labels = np.array([1, 2, 0, 1], dtype=np.int32)
    own = chains.span_probabilities(spans, labels)
    assert_allclose(own, twins.span_probabilities(spans, labels), rtol=1e-12)
    assert_allclose(
        chains.log_likelihood(np.array([0, 1, 2, 0, 1], dtype=np.int32)),
        twins.log_likelihood(np.array([0, 1, 2, 0, 1], dtype=np.int32)),
        rtol=1e-13,
    )
    forbidden = np.array([0, 0, 2, 0, 1], dtype=np.int32)
    assert chains.log_likelihood(forbidden) == -np.inf


# --- training

EXACT = {SAGNUSCRF, LBFGSCRF}


def restricted(loss, exists):
    """Return the loss as a function of the weights that exist."""

    def of_existing(w):
        weights = np.zeros(len(exists))
        weights[exists] = w
        value, gradient = loss(weights)
        return value, gradient[exists]

    return of_existing


@cache
def optimum(loss, features, l1_ratio):
    """Return min P over the weights that exist, and these weights: by enumeration."""
    exists = np.ones(N_LABELS * (3 + N_LABELS + 3), dtype=bool)
    if features == "observed":
        reference.unflatten(exists, 3, N_LABELS).coef[:] = SEEN.T
    of_paths = reference.mean_loss(X, Y, N_LABELS, allowed=ALLOWED, **LOSSES[loss][1])
    best = reference.optimum(
        restricted(of_paths, exists), np.count_nonzero(exists), ALPHA, l1_ratio
    )
    weights = np.zeros(len(exists))
    weights[exists] = np.subtract(*np.split(best.x, 2))
    return best.fun, reference.unflatten(weights, 3, N_LABELS)


@pytest.mark.slow
@pytest.mark.usefixtures("lists")
@pytest.mark.parametrize("features", ["all", "observed"])
@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("l1_ratio", [0.0, 0.4])
@pytest.mark.parametrize("estimator", [SDCACRF, OEGCRF, SAGNUSCRF, LBFGSCRF])
def test_the_optimum_is_that_of_enumeration(estimator, l1_ratio, loss, features):
    options = {"l1_ratio": l1_ratio, "tol": 1e-10, "max_iter": 5000, **LOSSES[loss][0]}
    crf = constrained(estimator, features=features, **options).fit(X, Y)
    least, expected = optimum(loss, features, l1_ratio)
    assert_allclose(crf.primal_objective_, least, rtol=0, atol=1e-9)
    masked = np.where(ALLOWED, expected.transition, -np.inf)
    assert_allclose(crf.transition_, masked, rtol=0, atol=1e-4)


def sequences(seed=0, n=25):
    """Return sequences of five labels, of whose transitions seven are allowed."""
    rng = np.random.default_rng(seed)
    after = {0: [1, 2], 1: [0, 3], 2: [4], 3: [0], 4: [2]}
    paths = []
    for length in rng.integers(1, 7, size=n):
        path = [int(rng.integers(5))]
        while len(path) < length:
            path.append(int(rng.choice(after[path[-1]])))
        paths.append(path)
    return [
        rng.normal(size=(len(path), 4)) + np.eye(5)[path, :4] for path in paths
    ], paths


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize(
    ("estimator", "options"),
    [
        (SDCACRF, {"dual_dtype": "float64"}),
        (SDCACRF, {"dual_dtype": "float64", "l1_ratio": 0.3}),
        (SDCACRF, {"dual_dtype": "float64", "n_jobs": 2}),
        (SDCACRF, {"loss": "hinge"}),
        (OEGCRF, {}),
        (SAGNUSCRF, {}),
        (LBFGSCRF, {}),
    ],
)
def test_epochs_are_those_of_a_matrix(fit_both, estimator, options):
    own, twin = fit_both(
        lambda: seeded(
            estimator,
            transitions="observed",
            alpha=0.01,
            max_iter=3,
            tol=1e-12,
            **options,
        ),
        *sequences(),
    )
    for name in ("coef_", "intercept_", "start_", "end_", "transition_"):
        # OEG stores natural parameters, and SDCA directions, in single precision.
        atol = 1e-12 if "loss" in options or estimator in EXACT else 1e-5
        assert_allclose(dense(own, name), dense(twin, name), rtol=0, atol=atol)


def dense(crf, name):
    weights = getattr(crf, name)
    return weights.toarray() if sp.issparse(weights) else weights


def test_partly_known_labels(fit_both):
    signals, paths = sequences()
    y = [
        [None if (i + t) % 3 == 0 else k for t, k in enumerate(path)]
        for i, path in enumerate(paths)
    ]
    rule = [(j, k) for path in paths for j, k in zip(path, path[1:], strict=False)]
    own, twin = fit_both(
        lambda: seeded(SDCACRF, transitions=rule, alpha=0.01, tol=1e-9, max_iter=500),
        signals,
        y,
    )
    assert_allclose(own.transition_, twin.transition_, rtol=0, atol=1e-4)


@pytest.mark.usefixtures("lists")
def test_single_precision_is_renormalized():
    options = {"transitions": "observed", "alpha": 0.01, "tol": 1e-9, "max_iter": 500}
    signals, y = sequences()
    single = seeded(SDCACRF, dual_dtype="float32", **options).fit(signals, y)
    double = seeded(SDCACRF, dual_dtype="float64", **options).fit(signals, y)
    assert_allclose(single.transition_, double.transition_, rtol=0, atol=1e-3)
    assert single.duality_gap_ <= 1e-8


@pytest.mark.usefixtures("lists")
@pytest.mark.parametrize("estimator", [SDCACRF, OEGCRF, SAGNUSCRF])
def test_a_warm_start_goes_on_with_lists(estimator):
    signals, y = sequences()
    options = {"transitions": "observed", "alpha": 0.1, "max_iter": 500}
    crf = seeded(estimator, warm_start=True, **options)
    first = crf.fit(signals, y).n_iter_
    assert crf.fit(signals, y).n_iter_ < first


def test_predictions_are_those_of_a_matrix(fit_both):
    signals, y = sequences()
    own, twin = fit_both(
        lambda: seeded(LBFGSCRF, transitions="observed", alpha=0.01), signals, y
    )
    others, _ = sequences(seed=1)
    assert own.predict(others).tolist() == twin.predict(others).tolist()
    for a, b in zip(own.predict_proba(others), twin.predict_proba(others), strict=True):
        assert_allclose(a, b, rtol=0, atol=1e-10)


@pytest.mark.usefixtures("lists")
@pytest.mark.parametrize("method", ["lbfgs", "dual"])
def test_partitions_agree_on_lists(method):
    signals, y = sequences()
    options = {"transitions": "observed", "alpha": 0.1, "tol": 1e-6}
    whole = seeded(LBFGSCRF, **options).fit(signals, y)
    parts = [(signals[:9], y[:9]), (signals[9:], y[9:])]
    crf = seeded(DistributedCRF, method=method, max_iter=2000, **options).fit(parts)
    assert_allclose(crf.primal_objective_, whole.primal_objective_, rtol=1e-5)
    assert_allclose(crf.transition_, whole.transition_, rtol=0, atol=0.02)


@pytest.mark.usefixtures("lists")
def test_a_model_constrained_after_fit_predicts_allowed_paths():
    signals, y = sequences()
    crf = seeded(LBFGSCRF, alpha=0.1).fit(signals, y)
    pairs = {(j, k) for path in y for j, k in zip(path, path[1:], strict=False)}
    found = crf.constrain(pairs).predict(sequences(seed=1)[0])
    assert {
        pair for path in found for pair in zip(path, path[1:], strict=False)
    } <= pairs
