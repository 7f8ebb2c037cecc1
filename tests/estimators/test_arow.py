"""AROW: its visits against a plain twin, streams, files, and compat.CRF."""

import pickle

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_array

import reference
from pairs import by_pairs
from samples import as_strings, flat_weights
from skcrf_sdca import PassiveAggressiveCRF
from skcrf_sdca.compat import CRF
from skcrf_sdca.datasets import make_chains
from skcrf_sdca.persistence import load_model, save_model
from streams import BAD, assert_same_weights, bad_chunks, learnt

N_LABELS = 3
COST = np.array([[0.0, 1.0, 2.0], [0.5, 0.0, 1.0], [3.0, 1.5, 0.0]])
AROW = {"loss": "hinge", "update": "arow"}


@pytest.fixture
def data():
    rng = np.random.default_rng(0)
    X = [
        rng.normal(size=(length, 4)) * (rng.random((length, 4)) < 0.6)
        for length in (1, 2, 3, 3, 2)
    ]
    return X, [[0], [0, 1], [2, 1, 0], [1, 0, 2], [2, 2]]


@pytest.fixture(scope="module")
def stream():
    return make_chains(n_sequences=40, n_labels=4, n_features=6, random_state=1)


def twin(X, y, n_epochs, *, C, cost, sample_weight=None):
    """Return the weights after every visit, and the last mean loss.

    The algorithm of [Crammer09, figure 1] with a matrix Sigma that stays diagonal, and
    r = 1 / (C sample_weight).
    """
    w = 0.0 * reference.features(X[0], y[0], N_LABELS)
    variance, every = np.ones_like(w), []
    weights = np.ones(len(X)) if sample_weight is None else sample_weight
    for _ in range(n_epochs):
        losses = []
        for x, labels, weight in zip(X, y, weights, strict=True):
            features = reference.all_features(x, N_LABELS)
            g = features - reference.features(x, labels, N_LABELS)
            paths = reference.all_paths(len(x), N_LABELS)
            # Of equal scores, that with the lower label comes first, from the last one.
            best = np.lexsort([*paths.T, -(features @ w).round(9)])[0]
            g, wrong = g[best], cost[labels, paths[best]].sum()
            losses.append(max(g @ w + wrong, 0.0))
            if weight > 0.0:
                r = 1.0 / (C * weight)
                w = w - losses[-1] / (g @ (variance * g) + r) * variance * g
                if losses[-1] > 0.0:
                    variance = 1.0 / (1.0 / variance + g**2 / r)
            every.append(w)
    return every, variance, np.mean(losses)


@by_pairs(
    {
        "average": ["uniform", "polynomial", False],
        "C": [0.2, 1.0, 5.0],
        "stored": [np.asarray, csr_array],
        "sample_weight": [None, np.array([1.0, 2.0, 0.5, 0.0, 1.0])],
    }
)
def test_two_epochs_have_the_weights_of_the_plain_twin(
    data, average, C, stored, sample_weight
):
    X, y = data
    crf = PassiveAggressiveCRF(
        C, **AROW, cost=COST, average=average, shuffle=False, max_iter=2
    ).set_params(warm_start=True)
    crf.fit([stored(x) for x in X], y, sample_weight)
    options = {"C": C, "cost": COST, "sample_weight": sample_weight}
    every, variance, loss = twin(X, y, 2, **options)
    expected, visits = every[-1], np.arange(len(every) + 1)
    if average:
        power = {"uniform": 1, "polynomial": 4}[average]
        expected = np.average(every, axis=0, weights=np.diff(visits**power))
    assert_allclose(flat_weights(crf), expected, rtol=0, atol=1e-10)
    assert crf.loss_ == pytest.approx(loss, abs=1e-10)
    found = 1.0 / (1.0 + crf._warm_state["squares"])
    assert_allclose(found, variance, rtol=1e-10)


def test_where_all_pairs_are_observed_the_weights_are_those_of_all_pairs(stream):
    X, y = as_strings(stream[0]), stream[1]
    # More epochs would have ties, which rounding decides.
    options = {**AROW, "shuffle": False, "max_iter": 1}
    crf = PassiveAggressiveCRF(**options, features="observed").fit(X, y)
    whole = PassiveAggressiveCRF(**options).fit(X, y)
    assert_allclose(flat_weights(crf), flat_weights(whole), rtol=0, atol=1e-10)


def test_chunks_give_the_weights_of_one_epoch(stream):
    X, y = stream
    whole = PassiveAggressiveCRF(**AROW, shuffle=False, max_iter=1).fit(X, y)
    crf = learnt(PassiveAggressiveCRF(**AROW), X, y, classes=whole.classes_)
    assert_same_weights(crf, whole)


def test_a_warm_start_goes_on_with_the_variances(stream):
    X, y = stream
    twice = PassiveAggressiveCRF(**AROW, shuffle=False, max_iter=2).fit(X, y)
    crf = PassiveAggressiveCRF(**AROW, shuffle=False, max_iter=1, warm_start=True)
    assert_array_equal(flat_weights(crf.fit(X, y).fit(X, y)), flat_weights(twice))


@pytest.mark.parametrize("saved", ["pickle", "file"])
def test_a_saved_stream_goes_on_with_the_variances(stream, saved, tmp_path):
    X, y = stream
    straight = learnt(PassiveAggressiveCRF(**AROW), X, y, classes=[0, 1, 2, 3])
    crf = PassiveAggressiveCRF(**AROW).partial_fit(X[:20], y[:20], [0, 1, 2, 3])
    if saved == "pickle":
        crf = pickle.loads(pickle.dumps(crf))
    else:
        save_model(crf, tmp_path / "model")
        crf = load_model(tmp_path / "model")
    assert_same_weights(learnt(crf, X[20:], y[20:]), straight)


def test_new_features_and_labels_have_the_first_variance(stream):
    X, y = stream
    crf = PassiveAggressiveCRF(**AROW).partial_fit(X[:20], y[:20], [0, 1, 2, 3])
    # No sequence of weight above 0 has tokens.
    wider = [np.zeros((0, 7)), np.column_stack([X[20], X[20][:, 0]])]
    crf.partial_fit(wider, [[], y[20]], [9], sample_weight=[1.0, 0.0])
    squares = crf._parameters(crf._warm_state["squares"])
    assert squares.coef.shape == (7, 5)
    assert squares.coef[:6, :4].any()
    assert not squares.coef[6].any()
    assert not squares.coef[:, 4].any()


@pytest.mark.parametrize("bad", BAD)
def test_a_bad_chunk_leaves_the_variances_as_they_were(stream, bad):
    X, y = stream
    crf = PassiveAggressiveCRF(**AROW).partial_fit(X[:20], y[:20], [0, 1, 2, 3])
    before = crf._warm_state["squares"].copy()
    cases = {name: case for name, *case in bad_chunks(X[20:25], y[20:25])}
    arguments, error, message = cases[bad]
    with pytest.raises(error, match=message):
        crf.partial_fit(*arguments)
    assert_array_equal(crf._warm_state["squares"], before)


def test_arow_is_for_the_hinge_and_one_labelling(data):
    with pytest.raises(ValueError, match="update='arow' is for"):
        PassiveAggressiveCRF(loss="perceptron", update="arow").fit(*data)
    with pytest.raises(ValueError, match='n_best=2 and update="arow"'):
        PassiveAggressiveCRF(**AROW, n_best=2).fit(*data)


def test_the_parameters_of_crfsuite_are_those_of_arow(stream):
    X, y = as_strings(stream[0]), [list(map(str, labels)) for labels in stream[1]]
    crf = CRF(algorithm="arow", variance=3.0, gamma=1.5, max_iterations=4).fit(X, y)
    own = PassiveAggressiveCRF(2.0, **AROW, average=False, max_iter=4, random_state=0)
    assert_array_equal(flat_weights(crf.estimator_), flat_weights(own.fit(X, y)))
    with pytest.raises(ValueError, match="'gamma' parameter of CRF must be a number"):
        CRF(algorithm="arow", gamma=0.0).fit(X, y)
