"""SGDCRF.partial_fit: streams against one pass of plain NumPy, errors, and saving."""

import copy
import io
import pickle
from itertools import product

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from samples import flat_weights
from sgd_twin import ALPHA, ETA0, Twin
from skcrf_sdca import SGDCRF
from skcrf_sdca.datasets import make_chains
from skcrf_sdca.persistence import load_model, save_model
from skcrf_sdca.solvers.sgd import LEARNING_RATES
from skcrf_sdca.solvers.sgd_methods import METHODS
from streams import BAD, FORMS, assert_same_weights, bad_chunks, learnt, snapshot

STREAMS = [name for name, method in METHODS.items() if method.streams]
WITH_HINGE = [m for m in STREAMS if "log sum" not in METHODS[m].needs]
LABELS = [0, 1, 2, 3]


@pytest.fixture(scope="module")
def stream():
    return make_chains(n_sequences=40, n_labels=4, n_features=6, random_state=1)


@pytest.fixture(scope="module")
def tiny():
    """Ten chains of at most four positions, one of them empty."""
    rng = np.random.default_rng(1)
    lengths = [3, 1, 4, 2, 0, 2, 4, 3, 1, 2]
    X = [rng.normal(size=(t, 6)) * (rng.random((t, 6)) < 0.3) for t in lengths]
    return X, [rng.integers(3, size=t) for t in lengths]


def crf_of(method, **options):
    """An estimator whose steps do not depend on the cuts of the stream."""
    if method != "pegasos":
        options = {"eta0": ETA0, **options}
    return SGDCRF(ALPHA, method=method, average=method == "asgd", **options)


def last_weights(crf):
    """The weights before their mean, flat."""
    return crf._warm_state["w"]


def one_pass(method, X, y, **options):
    """The twin after one pass; its power is that of a stream."""
    twin = Twin(X, y, 0.0, **options)
    order = range(len(X))
    if method in ("adagrad", "smd"):
        getattr(twin, method)(order)
    else:
        rates = map(LEARNING_RATES.get, METHODS[method].learning_rates)
        power = next(rate.power for rate in rates if rate.streams)
        twin.scaled(order, 1.0 / ALPHA if method == "pegasos" else ETA0, power)
    return twin


@pytest.mark.parametrize("size", [1, 3, 10])
@pytest.mark.parametrize(
    ("method", "hinge"), [*product(STREAMS, [False]), *product(WITH_HINGE, [True])]
)
def test_chunks_give_the_weights_of_one_pass_in_plain_numpy(tiny, method, hinge, size):
    X, y = tiny
    crf = crf_of(method, loss="hinge" if hinge else "log_loss")
    # A chunk needs an item, and sequence 4 has none.
    cuts = [i for i in range(0, 10, size) if i != 4]
    for begin, end in zip(cuts, [*cuts[1:], 10], strict=True):
        crf.partial_fit(X[begin:end], y[begin:end], [0, 1, 2])
    twin = one_pass(method, X, y, hinge=hinge)
    tolerance = 1e-8 if method == "smd" else 1e-10
    assert_allclose(last_weights(crf), twin.w, rtol=0.0, atol=tolerance)
    mean = twin.total / 55.0
    expected = mean if method == "asgd" else twin.w
    assert_allclose(flat_weights(crf), expected, rtol=0.0, atol=tolerance)
    assert crf.n_visits_ == 10


def test_a_sample_weight_is_a_factor_of_the_gradient(tiny):
    X, y = tiny
    weight = np.linspace(0.0, 3.0, 10)
    crf = crf_of("adagrad")
    for begin in (0, 5):
        chunk = slice(begin, begin + 5)
        crf.partial_fit(X[chunk], y[chunk], [0, 1, 2], weight[chunk])
    twin = Twin(X, y, 0.0)
    twin.weight = weight / 10
    twin.adagrad(range(10))
    assert_allclose(flat_weights(crf), twin.w, rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("method", STREAMS)
def test_weights_count_as_0_before_their_features_and_labels_appear(stream, method):
    X, y = stream
    narrow = [x[:, :4] for x in X[:15]] + X[15:]
    padded = [np.column_stack([x[:, :4], 0 * x[:, 4:]]) for x in X[:15]] + X[15:]
    whole = crf_of(method).partial_fit(padded, y, LABELS)
    crf = crf_of(method)
    for begin in range(0, 40, 5):
        chunk = slice(begin, begin + 5)
        crf.partial_fit(narrow[chunk], y[chunk], LABELS)
    assert crf.n_features_in_ == 6
    assert_allclose(flat_weights(crf), flat_weights(whole), rtol=1e-9, atol=1e-12)


def test_a_new_label_leaves_the_other_weights_as_they_are(stream):
    X, y = stream
    crf = crf_of("adagrad").partial_fit(X, y, LABELS)
    coef = crf._parameters(last_weights(crf)).coef
    squares = crf._parameters(crf._warm_state["squares"]).transition
    # So small a gradient, and so small a penalty, change nothing.
    crf.set_params(alpha=1e-300).partial_fit(X[:1], y[:1], [9, -1], [1e-200])
    inner = slice(1, 5)
    assert crf.classes_.tolist() == [-1, *LABELS, 9]
    assert_allclose(crf.coef_[inner].T, coef, rtol=1e-12)
    grown = crf._parameters(crf._warm_state["squares"]).transition
    assert_array_equal(grown[inner, inner], squares)
    assert not crf.coef_[[0, -1]].any()


def test_alpha_auto_is_one_over_the_sequences_so_far(stream):
    X, y = stream
    crf = learnt(SGDCRF(method="sgd", random_state=0), X, y, 7, LABELS)
    assert crf.alpha_ == pytest.approx(1.0 / 40.0)
    fitted = SGDCRF(method="sgd", max_iter=1, tol=9.0, random_state=0).fit(X, y)
    before = 1.0 / fitted.alpha_
    fitted.partial_fit(X[:10], y[:10])
    assert 1.0 / fitted.alpha_ == pytest.approx(before + 10.0)
    assert crf.set_params(alpha=0.5).partial_fit(X[:1], y[:1]).alpha_ == 0.5


def test_the_step_size_is_calibrated_on_the_first_chunk(stream):
    X, y = stream
    crf = SGDCRF(0.01, method="sgd", random_state=0).partial_fit(X[:20], y[:20])
    eta0 = crf._warm_state["eta0"]
    crf.partial_fit(X[20:], y[20:])
    assert crf._warm_state["eta0"] == eta0
    given = SGDCRF(0.01, method="sgd", eta0=eta0)
    given.partial_fit(X[:20], y[:20]).partial_fit(X[20:], y[20:])
    assert_array_equal(flat_weights(given), flat_weights(crf))
    # That of another method is calibrated anew.
    crf.set_params(method="adagrad").partial_fit(X, y)
    assert crf._warm_state["eta0"] != eta0


def test_one_pass_learns(stream):
    X, y = make_chains(n_sequences=300, random_state=0)
    best = SGDCRF(random_state=0).fit(X[:200], y[:200]).score(X[200:], y[200:])
    for method in ("sgd", "asgd", "adagrad"):
        crf = learnt(SGDCRF(method=method, random_state=0), X[:200], y[:200], 50)
        assert crf.score(X[200:], y[200:]) > best - 0.05


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("method", STREAMS)
def test_what_was_saved_goes_on_with_the_same_bits(stream, method, form):
    X, y = stream
    X, options = FORMS[form](X), {"method": method, "random_state": 0}
    options |= {"temperature": 0.5, "l1_ratio": 0.0 if method == "smd" else 0.2}
    straight = learnt(SGDCRF(**options), X, y, classes=LABELS)
    crf = learnt(SGDCRF(**options), X[:14], y[:14], classes=LABELS)
    save_model(crf, file := io.BytesIO())
    for saved in (load_model(file.getvalue()), pickle.loads(pickle.dumps(crf))):
        assert_same_weights(saved, crf)
        assert_same_weights(learnt(saved, X[14:], y[14:]), straight)
        assert saved.loss_ == straight.loss_
        assert (saved.n_visits_, saved.alpha_) == (40, straight.alpha_)


@pytest.mark.parametrize("method", STREAMS)
@pytest.mark.parametrize("bad", BAD)
def test_a_bad_chunk_is_an_error_and_leaves_the_model_as_it_was(stream, method, bad):
    X, y = stream
    crf = learnt(crf_of(method), X[:20], y[:20], classes=LABELS)
    cases = {name: case for name, *case in bad_chunks(X[20:25], y[20:25])}
    arguments, error, message = cases[bad]
    before, untouched = snapshot(crf), copy.deepcopy(crf)
    with pytest.raises(error, match=message):
        crf.partial_fit(*arguments)
    assert vars(crf).keys() == before.keys()
    assert_same_weights(crf, untouched)
    assert_same_weights(learnt(crf, X[20:], y[20:]), learnt(untouched, X[20:], y[20:]))


def test_weights_that_overflow_at_the_last_visit_are_an_error(stream):
    X, y = stream
    crf = crf_of("sgd").partial_fit(X, y)
    before = flat_weights(crf)
    with pytest.raises(ValueError, match="scores are not finite after steps"):
        crf.partial_fit([1e150 * X[0]], y[:1])
    assert_array_equal(flat_weights(crf), before)


def test_a_fit_with_warm_start_and_partial_fit_share_mean_and_steps(stream):
    X, y = stream
    crf = SGDCRF(
        ALPHA, method="asgd", warm_start=True, max_iter=1, tol=9.0, random_state=0
    ).fit(X, y)
    first = copy.deepcopy(crf._warm_state)
    crf.partial_fit(X[:1], y[:1])
    state = crf._warm_state
    assert (crf.n_visits_, state["eta0"]) == (41, first["eta0"])
    assert_allclose(state["total"], first["total"] + 41.0 * state["w"], rtol=1e-12)
    # The certificate of the fit is not one of the weights now.
    assert not {"duality_gap_", "history_", "n_iter_"} & set(vars(crf))
    assert "loss_" not in vars(crf.fit(X, y))
    assert crf.n_visits_ == 81


def test_a_warm_start_of_allowed_transitions_goes_on_as_a_stream():
    y = [[f"{tag}-{kind}" for tag in "BIES"] for kind in "ABCDEF"]
    X = [[[f"{i}"], ["in"], ["end"], ["single"]] for i in range(6)]
    options = {"method": "sgd", "transitions": "BIOES", "warm_start": True}
    crf = SGDCRF(**options, max_iter=1, tol=9.0).fit(X, y)
    assert np.mean(crf.transition_ == -np.inf) > 2 / 3
    assert crf.partial_fit(X, y).n_visits_ == 12
    assert crf.fit(X, y)._warm_state["n_visits"] == 18


def test_a_stream_goes_on_from_the_weights_of_any_fit(stream):
    X, y = stream
    for method in ("svrg", "hybrid"):
        crf = SGDCRF(method=method, tol=1e-2, warm_start=True, random_state=0).fit(X, y)
        before = flat_weights(crf)
        save_model(crf, file := io.BytesIO())
        crf = load_model(file.getvalue()).set_params(method="sgd", eta0=1e-12)
        crf.partial_fit(X[:1], y[:1])
        assert_allclose(flat_weights(crf), before, atol=1e-9)


def test_steps_go_on_after_a_fit_and_where_the_mean_begins_anew(stream):
    X, y = stream
    for method in ("sgd", "asgd", "adagrad", "smd", "pegasos"):
        fitted = SGDCRF(method=method, max_iter=3, tol=9.0, random_state=0).fit(X, y)
        pruned = SGDCRF(method=method, random_state=0).partial_fit(X, y).sparsify()
        for crf in (fitted, pruned):
            eta0, n_visits = crf.eta0_, crf.n_visits_
            assert n_visits == len(X)
            save_model(crf, file := io.BytesIO())
            loaded = load_model(file.getvalue())
            for model in (crf, loaded):
                model.partial_fit(X[:1], y[:1])
                assert model.n_visits_ == n_visits + 1
                # That of "pegasos" is one over alpha.
                assert model.eta0_ == eta0 or method == "pegasos"
    # Steps of another method are calibrated.
    fitted.set_params(method="sgd").partial_fit(X, y)
    assert fitted.eta0_ < 1.0 < eta0


def test_an_unknown_label_in_the_first_chunk_is_an_error(stream):
    for y in ([["A", None]], [["A", {"A": 0.5, "B": 0.5}]], [["A", "?"]]):
        crf = SGDCRF(method="sgd", unknown_label="?")
        with pytest.raises(ValueError, match="sequence 0, position 1"):
            crf.partial_fit([[["a"], ["b"]]], y)
        assert not hasattr(crf, "classes_")


@pytest.mark.parametrize("method", ["svrg", "hybrid"])
def test_methods_that_need_all_data_are_refused_by_name(stream, method):
    names = '"sgd", "asgd", "adagrad", "smd", "pegasos"'
    with pytest.raises(
        AttributeError, match=f'method="{method}".*choose one of {names}'
    ):
        SGDCRF(method=method).partial_fit(*stream)


def test_a_step_size_that_needs_certificates_is_refused(stream):
    crf = SGDCRF(method="sgd", learning_rate="adaptive")
    with pytest.raises(AttributeError, match='learning_rate="adaptive", which needs'):
        crf.partial_fit(*stream)
    assert not hasattr(crf, "coef_")
