"""Online learning: the visits against a plain twin, streams of chunks, and errors."""

import copy
import io
import pickle

import joblib
import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_array
from scipy.special import logsumexp, softmax

import reference
from pairs import by_pairs
from samples import as_dicts, as_strings, flat_weights
from skcrf_sdca import SDCACRF, PassiveAggressiveCRF
from skcrf_sdca.datasets import make_chains
from skcrf_sdca.persistence import load_model, save_model
from streams import BAD, FORMS, assert_same_weights, bad_chunks, learnt, snapshot

N_LABELS, N_FEATURES = 3, 2
AVERAGES = ["polynomial", "uniform", False]
# Sums over the wrong tokens of sparse rows, and over all of dense ones.
STORED = {"dense": list, "sparse": lambda X: [csr_array(x) for x in X]}
COST = np.array([[0.0, 1.0, 2.0], [0.5, 0.0, 1.0], [3.0, 1.5, 0.0]])
LOSSES = {
    "log_loss": {"loss": "log_loss"},
    "temperature": {"loss": "log_loss", "temperature": 0.5},
    "softmax margin": {"loss": "softmax_margin", "cost": COST, "temperature": 2.0},
    "hinge": {"loss": "hinge", "cost": COST, "margin": 2.0},
    "hinge with short steps": {"loss": "hinge", "cost": COST, "C": 0.05},
    "perceptron": {"loss": "perceptron", "C": 0.5},
}


@pytest.fixture
def data():
    rng = np.random.default_rng(0)
    X = [rng.normal(size=(length, N_FEATURES)) for length in (1, 2, 3, 3, 2)]
    X[2][0, 1] = X[3][1, 0] = X[4][1, 0] = 0.0
    return X, [[0], [0, 1], [2, 1, 0], [1, 0, 2], [2, 2]]


def visit(w, x, labels, *, loss, temperature=1.0, cost=None, margin=1.0):
    """Return the loss of one sequence and its gradient, by enumeration."""
    tau = temperature if loss in ("log_loss", "softmax_margin") else 0.0
    features = reference.all_features(x, N_LABELS)
    target = reference.features(x, labels, N_LABELS)
    scores = features @ w
    if cost is not None:
        paths = reference.all_paths(len(x), N_LABELS)
        scores = scores + margin * cost[labels, paths].sum(axis=1)
    if tau == 0.0:
        best = scores.argmax()
        return scores[best] - target @ w, features[best] - target
    value = tau * logsumexp(scores / tau) - target @ w
    return value, softmax(scores / tau) @ features - target


def trained(X, y, n_epochs, *, C=1.0, sample_weight=None, **options):
    """Return the weights after every visit, and the last mean loss.

    The loops of [Martins10, Alg. 1 and 2] in plain NumPy.
    """
    steps = C * np.ones(len(X)) if sample_weight is None else C * sample_weight
    w, every = 0.0 * reference.features(X[0], y[0], N_LABELS), []
    for _ in range(n_epochs):
        losses = []
        for x, labels, step in zip(X, y, steps, strict=True):
            loss, gradient = visit(w, x, labels, **options)
            losses.append(loss)
            if options["loss"] != "perceptron" and gradient.any():
                step = min(step, loss / (gradient @ gradient))
            w = w - step * gradient
            every.append(w)
    return every, np.mean(losses)


def averaged(every, average):
    """Return the average of weights after visits, whose first v have the share (v/m)^p.

    That of False is the last one.
    """
    if not average:
        return every[-1]
    power = {"uniform": 1, "polynomial": 4}[average]
    return np.average(
        every, axis=0, weights=np.diff(np.arange(len(every) + 1) ** power)
    )


def k_best_step(w, x, labels, k, bound, *, cost, allowed=None):
    """Return the loss of one sequence, and its step of k-best MIRA: by enumeration."""
    features = reference.all_features(x, N_LABELS)
    g = features - reference.features(x, labels, N_LABELS)
    paths = reference.all_paths(len(x), N_LABELS)
    losses = g @ w + cost[labels, paths].sum(axis=1)
    if allowed is not None:
        known = allowed[paths[:, :-1], paths[:, 1:]].all(axis=1)
        g, paths, losses = g[known], paths[known], losses[known]
    # Of equal scores, that with the lower label comes first, from the last position.
    best = np.lexsort([*paths.T, -losses.round(9)])[:k]
    # The last one is the target, without a loss: what is left of the bound is its.
    g, losses = np.vstack([g[best], 0.0 * g[:1]]), np.append(losses[best], 0.0)
    a = np.append(np.zeros(len(best)), bound)
    for _ in range(100_000):
        left = losses - g @ (a @ g)
        up, down = left.argmax(), np.where(a > 0.0, left, np.inf).argmin()
        gain, change = left[up] - left[down], g[up] - g[down]
        if gain <= 1e-13:
            break
        square = change @ change
        step = min(a[down], gain / square) if square > 0.0 else a[down]
        a[up], a[down] = a[up] + step, a[down] - step
    # The optimum: those with a multiplier have the largest loss that is left.
    assert np.all(left[a > 0.0] > left.max() - 1e-12)
    assert np.all(a >= 0.0)
    assert a.sum() == pytest.approx(bound)
    return losses[0], a @ g


@by_pairs(
    {"average": AVERAGES, "C": [0.05, 1.0, 10.0], "k": [2, 3, 5, 100], "stored": STORED}
)
def test_k_best_mira_has_the_weights_of_the_plain_twin(data, stored, k, C, average):
    X, y = data
    crf = PassiveAggressiveCRF(
        C, loss="hinge", cost=COST, n_best=k, average=average, shuffle=False, max_iter=2
    ).fit(STORED[stored](X), y)
    w, every, losses = 0.0 * reference.features(X[0], y[0], N_LABELS), [], []
    for x, labels in 2 * list(zip(X, y, strict=True)):
        loss, step = k_best_step(w, x, labels, k, C, cost=COST)
        w = w - step
        every.append(w)
        losses.append(loss)
    expected = averaged(every, average)
    assert_allclose(flat_weights(crf), expected, rtol=0, atol=1e-10)
    assert crf.loss_ == pytest.approx(np.mean(losses[len(X) :]), abs=1e-10)


@pytest.mark.parametrize("k", [1, 2, 3, 100])
def test_the_steps_of_all_labellings_are_as_long_as_one(k):
    # At weights of 0 both wrong labels have a loss of 1.
    crf = PassiveAggressiveCRF(0.05, loss="hinge", n_best=k, average=False)
    crf.partial_fit([np.zeros((1, 1))], [["a"]], classes=["a", "b", "c"])
    right, *wrong = crf.intercept_
    assert right == pytest.approx(0.05)
    assert sum(wrong) == pytest.approx(-0.05)


@pytest.mark.parametrize("stored", STORED)
@pytest.mark.parametrize("C", [0.05, 1.0])
@pytest.mark.parametrize("average", AVERAGES)
def test_updates_against_the_prediction_have_the_weights_of_the_plain_twin(
    data, stored, C, average
):
    X, y = data
    crf = PassiveAggressiveCRF(
        C,
        loss="hinge",
        cost=COST,
        update="prediction",
        average=average,
        shuffle=False,
        max_iter=2,
    ).fit(STORED[stored](X), y)
    w, every, losses = 0.0 * reference.features(X[0], y[0], N_LABELS), [], []
    for x, labels in 2 * list(zip(X, y, strict=True)):
        features = reference.all_features(x, N_LABELS)
        g = features - reference.features(x, labels, N_LABELS)
        paths = reference.all_paths(len(x), N_LABELS)
        # Of equal scores, that with the lower label comes first, from the last one.
        best = np.lexsort([*paths.T, -(features @ w).round(9)])[0]
        losses.append(max(g[best] @ w + COST[labels, paths[best]].sum(), 0.0))
        if losses[-1] > 0.0:
            w = w - min(C, losses[-1] / (g[best] @ g[best])) * g[best]
        every.append(w)
    expected = averaged(every, average)
    assert_allclose(flat_weights(crf), expected, rtol=0, atol=1e-10)
    assert crf.loss_ == pytest.approx(np.mean(losses[len(X) :]), abs=1e-10)
    assert 0.0 in losses


def test_k_best_mira_leaves_out_forbidden_transitions(data):
    X, y = (part[:3] for part in data)
    allowed = np.ones((N_LABELS, N_LABELS), dtype=bool)
    allowed[0, 2] = allowed[2, 0] = False
    crf = PassiveAggressiveCRF(
        loss="hinge",
        cost=COST,
        n_best=4,
        transitions=allowed,
        average=False,
        shuffle=False,
        max_iter=2,
    ).fit(X, y)
    w = 0.0 * reference.features(X[0], y[0], N_LABELS)
    for x, labels in 2 * list(zip(X, y, strict=True)):
        w = w - k_best_step(w, x, labels, 4, 1.0, cost=COST, allowed=allowed)[1]
    assert np.all(crf.transition_[~allowed] == -np.inf)
    found = flat_weights(crf)
    known = np.isfinite(found)
    assert_allclose(found[known], w[known], rtol=0, atol=1e-10)
    assert np.all(w[~known] == 0.0)


def test_n_best_is_for_the_hinge(data):
    for loss in ("log_loss", "perceptron"):
        with pytest.raises(ValueError, match='n_best=2 is for loss="hinge"'):
            PassiveAggressiveCRF(loss=loss, n_best=2).fit(*data)
        with pytest.raises(ValueError, match="update='prediction' is for"):
            PassiveAggressiveCRF(loss=loss, update="prediction").fit(*data)
    with pytest.raises(ValueError, match="choose other labellings"):
        PassiveAggressiveCRF(loss="hinge", n_best=2, update="prediction").fit(*data)


@by_pairs(
    {
        "options": LOSSES.values(),
        "average": AVERAGES,
        "sample_weight": [None, np.array([1.0, 2.0, 0.5, 0.0, 1.0])],
        "stored": STORED,
    }
)
def test_two_epochs_have_the_weights_of_the_plain_twin(
    data, stored, options, average, sample_weight
):
    X, y = data
    crf = PassiveAggressiveCRF(
        **options, average=average, shuffle=False, max_iter=2
    ).fit(STORED[stored](X), y, sample_weight)
    every, loss = trained(X, y, 2, sample_weight=sample_weight, **options)
    assert_allclose(flat_weights(crf), averaged(every, average), rtol=0, atol=1e-10)
    assert crf.history_["loss"][-1] == pytest.approx(loss, abs=1e-10)
    assert crf.loss_ == crf.history_["loss"][-1]
    assert (crf.n_visits_, crf.n_iter_) == (10, 2)
    total = 5 if sample_weight is None else sample_weight.sum()
    assert crf.alpha_ == pytest.approx(1.0 / (total * crf.C))


def test_the_average_is_polynomial_by_default(data):
    options = {"max_iter": 2, "random_state": 0}
    crf, named = CRF(**options), CRF(average="polynomial", **options)
    assert_same_weights(crf.fit(*data), named.fit(*data))


def test_another_average_begins_anew(stream):
    X, y = stream
    crf = CRF(average="uniform").partial_fit(X[:20], y[:20], [0, 1, 2, 3])
    other = CRF(average=False).partial_fit(X[:20], y[:20], [0, 1, 2, 3])
    for learner in (crf, other):
        learner.set_params(average="polynomial").partial_fit(X[20:], y[20:])
    assert_same_weights(crf, other)
    assert crf.n_visits_ == len(X) - 20


def test_the_order_of_the_visits_is_that_of_the_seed(data):
    fits = [
        flat_weights(PassiveAggressiveCRF(random_state=seed).fit(*data))
        for seed in (0, 0, 1)
    ]
    assert_array_equal(fits[0], fits[1])
    assert np.any(fits[0] != fits[2])


def test_without_a_loss_the_fit_ends_and_nothing_warns(recwarn):
    X, y = [[["the"], ["dog"]], [["dog"], ["barks"]]], [["D", "N"], ["N", "V"]]
    crf = PassiveAggressiveCRF(loss="perceptron", random_state=0, max_iter=99).fit(X, y)
    assert crf.n_iter_ < 99
    assert crf.history_["loss"].argmin() == crf.n_iter_ - 1
    assert crf.loss_ == 0.0
    assert not list(recwarn)


def test_it_learns_what_the_optimum_knows():
    X, y = make_chains(n_sequences=300, random_state=0)
    exact = SDCACRF(random_state=0).fit(X[:200], y[:200]).score(X[200:], y[200:])
    for loss in ("hinge", "log_loss", "perceptron"):
        crf = PassiveAggressiveCRF(loss=loss, random_state=0).fit(X[:200], y[:200])
        assert crf.score(X[200:], y[200:]) > exact - 0.05


def test_only_losses_with_a_temperature_give_probabilities(data):
    crf = PassiveAggressiveCRF(loss="log_loss").fit(*data)
    assert crf.predict_proba(data[0])[0].sum() == pytest.approx(1.0)
    for loss in ("hinge", "perceptron"):
        with pytest.raises(AttributeError, match="no probabilities"):
            PassiveAggressiveCRF(loss=loss).fit(*data).predict_proba(data[0])


def test_the_line_of_an_epoch_has_the_loss(data, capsys):
    crf = PassiveAggressiveCRF(max_iter=1, verbose=1).fit(*data)
    line = f"CRF epoch    1  mean loss of the visits {crf.loss_:.6e}"
    assert line in capsys.readouterr().out


def test_unknown_and_soft_labels_are_refused(data):
    X, y = data
    for label in (None, {0, 1}, {0: 0.5, 1: 0.5}):
        with pytest.raises(ValueError, match="needs one label at every position"):
            PassiveAggressiveCRF(loss="log_loss").fit(X, [[label], *y[1:]])


# Streams.

CRF = PassiveAggressiveCRF


@pytest.fixture(scope="module")
def stream():
    X, y = make_chains(n_sequences=40, n_labels=4, n_features=6, random_state=1)
    return X, y


@by_pairs(
    {"form": FORMS, "loss": ["hinge", "log_loss", "perceptron"], "average": AVERAGES}
)
def test_chunks_give_the_weights_of_one_epoch(stream, form, loss, average):
    X, y = stream
    options = {"loss": loss, "average": average}
    whole = CRF(**options, shuffle=False, max_iter=1).fit(FORMS[form](X), y)
    crf = learnt(CRF(**options), FORMS[form](X), y, classes=whole.classes_)
    assert_same_weights(crf, whole)
    assert crf.n_visits_ == whole.n_visits_ == len(X)
    assert (
        crf.predict(FORMS[form](X)).tolist() == whole.predict(FORMS[form](X)).tolist()
    )


def test_rows_of_a_table_come_in_chunks():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(30, 2)), rng.integers(3, size=30)
    whole = CRF(shuffle=False, max_iter=1).fit(X, y)
    for classes in ([0, 1, 2], range(3), np.arange(3)):
        assert_same_weights(learnt(CRF(), X, y, classes=classes), whole)
    assert not whole.transition_.any()


def test_a_new_label_leaves_the_other_weights_as_they_are(stream):
    X, y = stream
    one = CRF().partial_fit(X[:20], y[:20], [0, 1, 2, 3])
    other = CRF().partial_fit(X[:20], y[:20], [0, 1, 2, 3])
    # A chunk that changes nothing, with new labels on both sides of the known ones.
    other.partial_fit([np.zeros((0, 6)), X[0][:1]], [[], y[0][:1]], [9, -1], [1.0, 0.0])
    inner = slice(1, 5)
    share = (20 / 22) ** 4
    assert other.classes_.tolist() == [-1, 0, 1, 2, 3, 9]
    state, grown = (crf._warm_state for crf in (one, other))
    assert_array_equal(
        other._parameters(grown["w"]).coef[:, inner], one._parameters(state["w"]).coef
    )
    w = one._parameters(state["w"]).transition
    expected = w - share * (w - one.transition_)
    assert_allclose(other.transition_[inner, inner], expected, atol=1e-12)
    assert not other.coef_[[0, -1]].any()


def test_the_average_counts_0_for_features_before_they_appear(stream):
    X, y = stream
    narrow = [x[:, :4] for x in X[:15]] + X[15:]
    padded = [np.column_stack([x[:, :4], 0 * x[:, 4:]]) for x in X[:15]] + X[15:]
    whole = CRF(shuffle=False, max_iter=1).fit(padded, y)
    crf = CRF()
    for begin in range(0, 40, 5):
        crf.partial_fit(narrow[begin : begin + 5], y[begin : begin + 5], [0, 1, 2, 3])
    assert_same_weights(crf, whole)
    assert crf.n_features_in_ == 6


@given(st.lists(st.integers(1, 9), min_size=1, max_size=6), st.booleans())
def test_the_cuts_of_a_stream_do_not_matter(sizes, save):
    X, y = make_chains(n_sequences=sum(sizes), n_labels=3, random_state=2)
    X = as_strings(X)
    whole = CRF(shuffle=False, max_iter=1).fit(X, y)
    crf, begin = CRF(), 0
    for size in sizes:
        crf.partial_fit(X[begin : begin + size], y[begin : begin + size], [0, 1, 2])
        begin += size
        if save:
            crf = pickle.loads(pickle.dumps(crf))
    if len(whole.classes_) == 3:
        assert_same_weights(crf, whole)


def test_what_was_pickled_goes_on_with_the_same_bits(stream):
    X, y = stream
    X = as_dicts(X)
    straight = learnt(CRF(loss="log_loss"), X, y, classes=[0, 1, 2, 3])
    for look in (False, True):
        crf = learnt(CRF(loss="log_loss"), X[:14], y[:14], classes=[0, 1, 2, 3])
        if look:
            crf.predict(X)
        crf = pickle.loads(pickle.dumps(crf))
        assert_same_weights(learnt(crf, X[14:], y[14:]), straight)


@pytest.mark.parametrize("patience", [None, 3])
@pytest.mark.parametrize("average", AVERAGES)
@pytest.mark.parametrize("form", [as_dicts, list])
def test_what_save_model_wrote_goes_on_with_the_same_bits(
    stream, form, average, patience
):
    X, y = stream
    X = form(X)
    options = {"average": average, "temperature": 0.5, "patience": patience}
    straight = learnt(CRF(**options), X, y, classes=[0, 1, 2, 3])
    crf = learnt(CRF(**options), X[:14], y[:14], classes=[0, 1, 2, 3])
    save_model(crf, file := io.BytesIO())
    crf = load_model(file.getvalue())
    assert_same_weights(learnt(crf, X[14:], y[14:]), straight)
    assert (crf.loss_, crf.n_visits_) == (straight.loss_, straight.n_visits_)


def test_a_loaded_stream_goes_on_by_fit(stream):
    X, y = stream
    crf = CRF(warm_start=True, shuffle=False, max_iter=1).fit(X, y)
    save_model(crf, file := io.BytesIO())
    loaded = load_model(file.getvalue())
    assert_same_weights(loaded.fit(X, y), crf.fit(X, y))


def test_a_pickle_of_a_stream_has_each_weight_twice(stream):
    X, y = stream
    x = np.ones((1, 20_000))
    crf = CRF().partial_fit([x], [[0]], [0, 1])
    assert crf.coef_.shape == (2, 20_000)
    assert len(pickle.dumps(crf)) < 2.2 * crf.coef_.nbytes


def test_a_fit_with_warm_start_and_partial_fit_share_the_average(stream):
    X, y = stream
    twice = CRF(shuffle=False, max_iter=2).fit(X, y)
    again = CRF(shuffle=False, max_iter=1, warm_start=True).fit(X, y)
    once_more = copy.deepcopy(again).fit(X, y)
    streamed = learnt(again, X, y)
    assert_same_weights(once_more, twice)
    assert_same_weights(streamed, twice)
    assert streamed.n_visits_ == 2 * len(X)


def test_with_patience_the_weights_of_the_best_epoch_are_kept(stream):
    X, y = stream
    crf = CRF(warm_start=True, patience=1, random_state=0, max_iter=20)
    crf.fit(X[:20], y[:20], X_val=X[20:], y_val=y[20:])
    assert crf.best_epoch_ < crf.n_iter_
    assert_same_weights(pickle.loads(pickle.dumps(crf)), crf)


# So small a step changes nothing.
NO_STEP = [1e-200]


def test_a_stream_goes_on_from_the_weights_of_any_fit(stream):
    X, y = stream
    crf = CRF(transitions="observed", random_state=0).fit(X, y)
    coef, start = crf.coef_, np.where(crf.start_ == -np.inf, 0.0, crf.start_)
    crf.set_params(transitions=None).partial_fit(X[:1], y[:1], sample_weight=NO_STEP)
    assert crf.n_visits_ == 1
    assert_allclose(crf.coef_, coef, atol=1e-100)
    assert_allclose(crf.start_, start, atol=1e-100)


def test_assigned_weights_are_kept_also_if_nobody_has_looked_before(stream):
    X, y = stream
    crf = CRF().partial_fit(X, y)
    before = CRF().partial_fit(X, y)
    crf.coef_ = np.zeros_like(before.coef_)
    again = pickle.loads(pickle.dumps(crf))
    for model in (crf, again):
        assert not model.coef_.any()
        assert_array_equal(model.transition_, before.transition_)
    crf.partial_fit(X[:1], y[:1], sample_weight=NO_STEP)
    assert_allclose(crf.coef_, 0.0, atol=1e-100)
    assert_allclose(crf.transition_, before.transition_, atol=1e-100)


def test_weights_of_a_stream_are_not_changed_in_place(stream):
    for crf in (CRF().partial_fit(*stream), CRF(warm_start=True).fit(*stream)):
        with pytest.raises(ValueError, match="read-only"):
            crf.transition_[0, 0] = 1.0
    # Those of a fit without a state may be.
    crf = CRF().fit(*stream)
    crf.transition_[0, 0] = 9.0
    assert pickle.loads(pickle.dumps(crf)).transition_[0, 0] == 9.0


def test_a_copy_goes_on_by_itself(stream):
    X, y = as_strings(stream[0]), stream[1]
    crf = CRF().partial_fit(X[:10], y[:10])
    other, expected = copy.copy(crf), copy.deepcopy(crf)
    crf.partial_fit(X[10:], y[10:])
    assert_same_weights(
        other.partial_fit(X[5:9], y[5:9]), expected.partial_fit(X[5:9], y[5:9])
    )


def test_parameters_are_checked_for_every_chunk(stream):
    for changed in ({"C": -1.0}, {"loss": "bogus"}, {"temperature": 0.0}):
        crf = CRF().partial_fit(*stream)
        with pytest.raises(ValueError, match=next(iter(changed))):
            crf.set_params(**changed).partial_fit(*stream)


def test_names_of_features_are_dropped_where_a_wider_chunk_has_none():
    frame = pd.DataFrame({"a": [1.0, 0.0]})
    crf = CRF().partial_fit([frame], [[0, 1]])
    assert crf.feature_names_in_.tolist() == ["a"]
    crf = pickle.loads(pickle.dumps(crf.partial_fit([np.eye(2)], [[0, 1]])))
    assert crf.n_features_in_ == 2
    assert not hasattr(crf, "feature_names_in_")


def test_steps_that_lead_too_far_are_an_error_that_names_C(stream):
    with pytest.raises(ValueError, match="take a smaller C"):
        CRF(C=1e300).partial_fit([1e200 * x for x in stream[0]], stream[1])


def test_the_weights_of_observed_pairs_are_kept_for_a_warm_start(stream):
    X, y = stream
    X, options = as_strings(X), {"features": "observed", "shuffle": False}
    twice = CRF(**options, max_iter=2).fit(X, y)
    crf = CRF(**options, max_iter=1, warm_start=True).fit(X, y)
    again = pickle.loads(pickle.dumps(crf)).fit(X, y)
    assert_array_equal(flat_weights(again), flat_weights(twice))
    crf.set_params(features="all").partial_fit(X[:1], y[:1])
    assert crf.n_visits_ == 1


CHANGES = {
    "pruned": lambda crf: crf.prune(0.1),
    "sparse": lambda crf: crf.sparsify(),
    "assigned": lambda crf: setattr(crf, "coef_", 0.5 * crf.coef_),
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_a_stream_goes_on_from_weights_that_were_changed(stream, change):
    X, y = stream
    crf = learnt(CRF(), X, y)
    change(crf)
    changed = flat_weights(crf)
    for model in (pickle.loads(pickle.dumps(crf)), crf):
        assert_array_equal(flat_weights(model), changed)
        model.partial_fit(X[:1], y[:1], sample_weight=NO_STEP)
        assert_allclose(flat_weights(model), changed, atol=1e-100)
        assert model.n_visits_ == 1


def test_other_temperatures_leave_the_weights_in_their_scale(stream):
    X, y = stream
    crf = CRF(loss="log_loss", average=False).partial_fit(X, y)
    before = flat_weights(crf)
    crf.set_params(temperature=4.0).partial_fit(X[:1], y[:1], None, NO_STEP)
    assert_allclose(flat_weights(crf), before, rtol=1e-14)


@pytest.mark.parametrize("bad", [*BAD, "no items"])
def test_a_bad_chunk_is_an_error_and_leaves_the_model_as_it_was(stream, bad):
    X, y = stream
    crf = learnt(CRF(), X[:20], y[:20], classes=[0, 1, 2, 3])
    cases = {name: case for name, *case in bad_chunks(X[20:25], y[20:25])}
    arguments, error, message = cases[bad]
    before, untouched = snapshot(crf), copy.deepcopy(crf)
    with pytest.raises(error, match=message):
        crf.partial_fit(*arguments)
    assert vars(crf).keys() == before.keys()
    assert_same_weights(crf, untouched)
    assert_same_weights(learnt(crf, X[20:], y[20:]), learnt(untouched, X[20:], y[20:]))


@pytest.mark.parametrize("form", [as_dicts, as_strings])
def test_a_bad_chunk_leaves_no_new_words(stream, form):
    X, y = stream
    crf, untouched = (
        learnt(CRF(), form(X[:20]), y[:20], classes=[0, 1, 2, 3]) for _ in range(2)
    )
    new = [{"new": "word", "list": ["a"], "f0": 1.0, "v": np.ones(2)}]
    worse = [{"newer": True, "f0": np.nan}]
    if form is as_strings:
        new, worse = [["new"]], [["newer", 3]]
    for X_bad, y_bad in (([new, worse], [[0], [0]]), ([new], [[8]])):
        with pytest.raises((TypeError, ValueError)):
            crf.partial_fit(X_bad, y_bad)
        for name in ("vocabulary_", "n_features_out_"):
            kept, right = (getattr(c.vectorizer_, name) for c in (crf, untouched))
            assert kept == right
    assert_same_weights(
        learnt(crf, form(X[20:]), y[20:]), learnt(untouched, form(X[20:]), y[20:])
    )


def test_the_first_chunk_may_fail(stream):
    X, y = stream
    crf = CRF()
    with pytest.raises(ValueError, match="announce new labels"):
        crf.partial_fit(X, y, classes=[0, 1])
    assert not hasattr(crf, "coef_")
    assert_same_weights(crf.partial_fit(X, y), CRF().partial_fit(X, y))


def test_the_error_of_an_unknown_label_names_its_place(stream):
    X, y = stream
    crf = CRF().partial_fit(X, y)
    with pytest.raises(ValueError, match=r"y: sequence 1, position 0 is .* 5"):
        crf.partial_fit(X[:2], [y[0], [5] * len(y[1])])


@pytest.mark.parametrize(
    "parameters",
    [
        {"features": "observed"},
        {"transitions": "observed"},
        {"class_weight": "balanced"},
    ],
)
def test_what_needs_all_data_is_refused(stream, parameters):
    with pytest.raises(AttributeError, match="needs all of the data at once"):
        CRF(**parameters).partial_fit(*stream)


def test_a_tagging_scheme_holds_in_a_stream():
    X, y = [[["Ada"], ["Lovelace"]], [["wrote"]]], [["B-PER", "I-PER"], ["O"]]
    crf = CRF(transitions="BIO").partial_fit(X, y)
    crf.partial_fit([[["Rome"]]], [["B-LOC"]], ["B-LOC", "I-LOC"])
    i, o = (list(crf.classes_).index(label) for label in ("I-LOC", "O"))
    assert crf.transition_[o, i] == -np.inf
    with pytest.raises(ValueError, match="I-LOC"):
        crf.partial_fit([[["Rome"]]], [["I-LOC"]])


def test_names_of_columns_must_begin_with_the_known_ones():
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame({"a": [1.0, 2.0], "b": [0.0, 1.0]})
    crf = CRF().partial_fit([frame], [[0, 1]])
    crf.partial_fit([frame.assign(c=[1.0, 0.0])], [[0, 1]])
    assert crf.feature_names_in_.tolist() == ["a", "b", "c"]
    with pytest.raises(ValueError, match="feature 0 is 'b'"):
        crf.partial_fit([frame.assign(c=1.0)[["b", "a", "c"]]], [[0, 1]])


def test_the_state_does_not_grow_with_the_number_of_chunks(stream):
    X, y = stream
    crf = learnt(CRF(), X, y, 20)
    size = len(pickle.dumps(crf))
    for _ in range(20):
        learnt(crf, X, y, 2)
    assert len(pickle.dumps(crf)) < size + 100


def test_a_model_that_is_mapped_from_a_file_goes_on_in_memory(stream, tmp_path):
    X, y = stream
    straight = learnt(CRF(), X, y, classes=[0, 1, 2, 3])
    joblib.dump(learnt(CRF(), X[:14], y[:14], classes=[0, 1, 2, 3]), tmp_path / "crf")
    mapped = joblib.load(tmp_path / "crf", mmap_mode="r")
    assert_same_weights(learnt(mapped, X[14:], y[14:]), straight)
