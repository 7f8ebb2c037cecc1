"""Models with weights for the observed pairs of feature and label only."""

import copy
import pickle
from functools import partial

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

import reference
from samples import LOSSES, as_dicts, flat_weights, params_of, seeded
from skcrf_sdca import LBFGSCRF, OEGCRF, SDCACRF
from skcrf_sdca._kernels.features._features import RowLayout
from skcrf_sdca._kernels.features._observed import sorted_by_width
from skcrf_sdca._kernels.features._weights import Weights
from skcrf_sdca.compat import CRF, crfsuite_features, from_crfsuite, to_crfsuite
from skcrf_sdca.data.packed import PackedSequences
from skcrf_sdca.datasets import make_chains
from skcrf_sdca.estimators.crfs import ESTIMATORS
from skcrf_sdca.persistence import load_model, save_model
from skcrf_sdca.selection import alpha_path
from skcrf_sdca.structures.chain.observed import ObservedPairs
from skcrf_sdca.structures.chain.structure import Chain
from skcrf_sdca.structures.weight_choice import are_many_pairs, are_many_weights

N_LABELS, ALPHA = 3, 0.1
# Feature 0 is seen with two of three labels, 1 with all, 2 with one, and 3 with none.
X = [
    np.array([[1.0, 0, 0, 0], [0.5, 1, 0, 0]]),
    np.array([[0.0, 0, 1, 0], [0, 1, 0, 0], [0, 1, 0.5, 0], [0, 0, 0, 0]]),
    np.array([[-1.0, 0.5, 0, 0]]),
]
Y = [[0, 1], [2, 1, 2, 0], [0]]
SEEN = np.array([[1, 1, 0, 0], [1, 1, 0, 0], [0, 1, 1, 0]], dtype=bool)


def observed(estimator=SDCACRF, **options):
    return seeded(estimator, features="observed", alpha=ALPHA, **options)


def flat_mask(crf, seen):
    """Return which of the flat weights exist, in the order of the reference."""
    ones = [np.ones_like(block, dtype=bool) for block in params_of(crf)[:-1]]
    return reference.flatten([*ones, seen.T])


def best_of(loss, exists, l1_ratio):
    """Return the minimum of P, and its weights, of those that exist."""

    def restricted(w):
        weights = np.zeros(len(exists))
        weights[exists] = w
        value, gradient = loss(weights)
        return value, gradient[exists]

    best = reference.optimum(restricted, np.count_nonzero(exists), ALPHA, l1_ratio)
    weights = np.zeros(len(exists))
    weights[exists] = np.subtract(*np.split(best.x, 2))
    return best.fun, weights


@pytest.mark.slow
@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("l1_ratio", [0.0, 0.4])
@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_the_optimum_is_that_over_the_weights_that_exist(estimator, l1_ratio, loss):
    options, of_loss = LOSSES[loss]
    options = {"l1_ratio": l1_ratio, "tol": 1e-10, "max_iter": 5000, **options}
    crf = observed(estimator, **options).fit(X, Y)
    enumerated = reference.mean_loss(X, Y, N_LABELS, **of_loss)
    best, weights = best_of(enumerated, flat_mask(crf, SEEN), l1_ratio)
    assert_allclose(crf.primal_objective_, best, rtol=0, atol=1e-9)
    assert_allclose(flat_weights(crf), weights, rtol=0, atol=1e-4)
    assert (crf.history_["primal"] - best <= crf.history_["gap"] + 1e-9).all()
    assert not crf.coef_.toarray()[~SEEN].any()
    assert crf.n_nonzero_ == np.count_nonzero(flat_weights(crf))


@pytest.mark.parametrize("estimator", [SDCACRF, OEGCRF])
def test_history_is_that_of_the_dual_problem(estimator):
    crf = observed(estimator, tol=1e-12, max_iter=50).fit(X, Y)
    history = crf.history_
    assert_allclose(history["gap"], history["primal"] - history["dual"], atol=1e-9)
    lower = np.maximum.accumulate(history["dual"])
    assert_allclose(history["dual"], lower, rtol=0, atol=1e-12)


def test_the_hinge_with_observed_pairs():
    crf = observed(loss="hinge", tol=1e-2, max_iter=5000).fit(X, Y)
    assert crf.duality_gap_ <= 1e-2 * crf.primal_objective_
    every = seeded(SDCACRF, alpha=ALPHA, loss="hinge", tol=1e-2, max_iter=5000)
    assert crf.primal_objective_ > every.fit(X, Y).dual_objective_
    assert not crf.coef_.toarray()[~SEEN].any()


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_where_all_pairs_are_seen_nothing_changes(estimator):
    signals, y = make_chains(n_sequences=20, random_state=0)
    options = {"tol": 1e-12, "max_iter": 500}
    crf = observed(estimator, **options).fit(signals, y)
    twin = seeded(estimator, alpha=ALPHA, **options).fit(signals, y)
    assert_allclose(crf.densify().coef_, twin.coef_, rtol=0, atol=1e-5)
    assert_allclose(crf.primal_objective_, twin.primal_objective_, rtol=1e-10)


@pytest.mark.parametrize(
    "form",
    [
        lambda: [sp.csr_array(x) for x in X],
        lambda: PackedSequences.from_sequences(X),
        lambda: as_dicts(X),
    ],
)
def test_all_forms_of_data_give_the_same_model(form):
    crf = observed(tol=1e-10).fit(form(), Y)
    twin = observed(tol=1e-10).fit(X, Y)
    n = crf.coef_.shape[1]
    assert_allclose(crf.coef_.toarray(), twin.coef_.toarray()[:, :n], atol=1e-4)
    assert_array_equal(
        np.concatenate(crf.predict(form())), np.concatenate(twin.predict(X))
    )


def test_a_table_and_constraints():
    rows, labels = np.concatenate(X), np.concatenate(Y)
    crf = observed().fit(rows, labels)
    assert not crf.coef_.toarray()[~SEEN].any()
    assert crf.predict(rows).shape == labels.shape
    crf = observed(transitions="observed").fit(X, Y)
    assert np.isneginf(crf.transition_).any()
    assert not crf.coef_.toarray()[~SEEN].any()


@pytest.mark.parametrize("label", [None, {1, 2}, {1: 0.5, 2: 0.5}])
def test_what_labels_that_are_partly_known_observe(label):
    y = [[0, label], [2, 1, 2, 0], [0]]
    crf = observed().fit(X, y)
    seen = SEEN.copy()
    # Feature 0 is at the position that has no label, or two.
    seen[1, 0] = seen[2, 0] = label is not None
    seen[2, 1] = True
    assert not crf.coef_.toarray()[~seen].any()
    assert crf.coef_.toarray()[seen].all()


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:of .* positions of X:UserWarning")
@pytest.mark.parametrize("estimator", [SDCACRF, OEGCRF])
def test_threads_reach_the_optimum_of_one_thread(estimator):
    X, y = make_chains(n_sequences=300, n_labels=4, random_state=0)
    X = [signal * (signal > 1.5) for signal in X]
    options = {"features": "observed", "min_count": 15, "tol": 1e-8, "max_iter": 500}
    one = seeded(estimator, **options).fit(X, y)
    two = seeded(estimator, **options, n_jobs=2).fit(X, y)
    assert_array_equal(one.coef_.indices, two.coef_.indices)
    assert 0 < one.coef_.nnz < np.prod(one.coef_.shape)
    assert_allclose(one.primal_objective_, two.primal_objective_, rtol=1e-7)
    assert np.abs(one.coef_ - two.coef_).max() > 0.0


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_a_warm_start_needs_the_same_pairs(estimator):
    crf = observed(estimator, warm_start=True).fit(X, Y)
    crf = pickle.loads(pickle.dumps(crf)).fit(X, Y)
    for change in ({"features": "all"}, {}):
        other = copy.deepcopy(crf).set_params(**change)
        y = Y if change else [[0, 1], [1, 1, 2, 0], [0]]
        with pytest.raises(
            ValueError, match="warm_start=True needs the same `features`"
        ):
            other.fit(X, y)


def test_a_saved_model_is_sparse_and_answers_alike(tmp_path):
    crf = observed().fit(as_dicts(X), Y)
    save_model(crf, tmp_path / "model.skcrf")
    again = load_model(tmp_path / "model.skcrf")
    assert again.get_params()["features"] == "observed"
    assert_array_equal(again.coef_.toarray(), crf.coef_.toarray())
    assert again.predict(as_dicts(X)).tolist() == crf.predict(as_dicts(X)).tolist()


def test_compat_takes_all_possible_states_as_it_says():
    tokens = [[["a"], ["b"]], [["b"], ["c"]]]
    labels = [["A", "B"], ["B", "A"]]
    crf = CRF(all_possible_states=False).fit(tokens, labels)
    assert sorted(crf.state_features_) == [("a", "A"), ("b", "B"), ("c", "A")]
    assert len(CRF(all_possible_states=True).fit(tokens, labels).state_features_) == 6


# Rare pairs ---------------------------------------------------------------------------


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_pairs_whose_values_sum_to_less_than_min_count_have_no_weight(estimator):
    crf = observed(estimator, min_count=1.5).fit(X, Y)
    sums = np.array([[0, 0.5, 0, 0], [0.5, 2, 0, 0], [0, 1, 1.5, 0]])
    assert_array_equal(crf.coef_.toarray() != 0, sums >= 1.5)


def test_values_that_sum_to_0_occur():
    assert observed().fit(X, Y).coef_.toarray()[0, 0] != 0


@pytest.mark.parametrize(
    ("label", "seen"),
    [({1, 2}, [0, 1, 1]), ({1: 0.5, 2: 0.5}, [0, 0, 0]), (None, [0, 0, 0])],
    ids=str,
)
def test_what_labels_that_are_partly_known_count(label, seen):
    table = [np.eye(2)[[0, 1]], np.eye(2)[[1, 1]]]
    crf = observed(min_count=1.0).fit(table, [[label, 0], [1, 2]])
    assert_array_equal(crf.coef_.toarray()[:, 0] != 0, seen)
    assert crf.coef_.toarray()[:, 1].all()


def test_min_count_needs_observed_pairs():
    crf = seeded(SDCACRF, min_count=2)
    with pytest.raises(ValueError, match=r'min_count=2 needs features="observed"'):
        crf.fit(X, Y)
    with pytest.raises(ValueError, match="'min_count' parameter"):
        observed(min_count=0).fit(X, Y)


@pytest.mark.parametrize("min_freq", [None, 0.4, 1, 1.4, 2, 9])
def test_compat_counts_pairs_as_crfsuite_does(min_freq):
    sklearn_crfsuite = pytest.importorskip("sklearn_crfsuite")
    tokens = [
        [{"a": 2.0, "b": -1.0}, {"a": 0.5}, {"c": 1.0}],
        [{"a": -0.25, "c": 1.0}, {"b": 2.5, "d": 1.0}, {"d": 0.4}],
    ]
    labels = [["A", "B", "A"], ["B", "B", "A"]]
    params = {"c2": 0.1, "min_freq": min_freq, "all_possible_states": False}
    own = CRF(**params).fit(tokens, labels)
    other = sklearn_crfsuite.CRF(**params).fit(tokens, labels)
    # CRFsuite counts up to 0 where nothing is to be counted.
    negative = {("b", "A")} if min_freq is None else set()
    assert own.state_features_.keys() - negative == other.state_features_.keys()
    if min_freq:
        assert set(own.attributes_) == {name for name, _ in own.state_features_}


def test_compat_counts_pairs_of_packed_sequences():
    crf = CRF(min_freq=2, all_possible_states=False)
    crf.fit([np.eye(2)[[0, 1, 0]]], [["A", "B", "A"]])
    assert_array_equal(crf.estimator_.coef_.toarray() != 0, [[1, 0], [0, 0]])


# What is done with a model ------------------------------------------------------------


def in_other_forms(crf, folder):
    """Yield a model in every form in which it must predict the same."""
    yield copy.deepcopy(crf).sparsify()
    yield copy.deepcopy(crf).densify()
    yield copy.deepcopy(crf).prune()
    save_model(crf, folder / "model")
    yield load_model(folder / "model")
    names = {"intercept": "i", "start": "s", "end": "e"}
    to_crfsuite(crf, folder / "crfsuite", **names)
    from_file = from_crfsuite(folder / "crfsuite")
    from_file.predict = partial(_predict_named, from_file.predict, names)
    yield from_file


def _predict_named(predict, names, items):
    return predict(crfsuite_features(items, **names))


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_a_model_predicts_the_same_in_every_form(estimator, tmp_path):
    items, y = as_dicts(X), [[str(label) for label in labels] for labels in Y]
    crf = observed(estimator).fit(items, y)
    for other in in_other_forms(crf, tmp_path):
        assert other.predict(items).tolist() == crf.predict(items).tolist()


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_pruning_leaves_weights_out_for_good(estimator):
    crf = observed(estimator, warm_start=True).fit(as_dicts(X), Y)
    before, n_pairs = crf.coef_.copy(), crf.coef_.nnz
    crf.prune(0.05)
    assert crf.coef_.nnz == np.count_nonzero(np.abs(before.data) > 0.05) < n_pairs
    # The state of the fit is that of all pairs.
    assert crf.fit(as_dicts(X), Y).coef_.nnz == n_pairs


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_a_path_of_alphas_ends_where_a_single_fit_does(estimator):
    options = {"tol": 1e-8, "max_iter": 2000, "min_count": 1.5}
    crf = observed(estimator, **options)
    *_, last = alpha_path(crf, X, Y, [1.0, 0.1])
    single = observed(estimator, **options).fit(X, Y)
    assert_allclose(last.primal_objective_, single.primal_objective_, rtol=1e-7)
    assert_array_equal(last.coef_.indices, single.coef_.indices)


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_held_out_data_choose_among_models_of_observed_pairs(estimator):
    crf = observed(estimator, patience=2, tol=0.0).fit(X, Y, X_val=X, y_val=Y)
    assert crf.score(X, Y) == crf.history_["val_score"].max()
    assert not crf.coef_.toarray()[~SEEN].any()


# The layout ---------------------------------------------------------------------------


@given(st.data())
def test_pairs_and_their_places(data):
    n_labels = data.draw(st.integers(1, 5))
    seen = data.draw(st.lists(st.sets(st.integers(0, n_labels - 1)), max_size=6))
    rows = [(j, k) for j, labels in enumerate(seen) for k in labels]
    rows = data.draw(st.permutations(rows))
    features = np.zeros((len(rows), len(seen)))
    features[np.arange(len(rows)), [j for j, _ in rows]] = 1.0
    labels = np.array([k for _, k in rows], dtype=np.int32)
    pairs = ObservedPairs.of_data(features, labels, n_labels)
    assert len(pairs) == len(rows)
    assert pairs == pickle.loads(pickle.dumps(pairs))
    chain = Chain(
        PackedSequences.from_lengths(features, [1] * len(rows)), n_labels, pairs=pairs
    )
    model = chain.new_parameters()
    model.coef[:] = np.where(pairs.exists, np.arange(1, len(model.coef) + 1), 0)
    coef = pairs.coef(model.coef).toarray()
    assert np.count_nonzero(coef) == len(rows)
    scores = chain.scores(model, 0, len(rows)).node_scores
    assert_array_equal(scores, features @ coef.T)


@pytest.mark.parametrize("values", [[2.0] * 4, [1.0, 2.0, 3.0, 4.0]], ids=str)
def test_entries_are_sorted_by_width_without_a_copy_of_equal_values(values):
    indices = np.array([0, 1, 2, 0], dtype=np.int32)
    rows = np.array(values), indices, np.array([0, 3, 4], dtype=np.int32)
    X = sp.csr_array(rows, shape=(2, 3))
    before = X.copy()
    bounds = np.array([0, 1, 4, 6])
    labels = np.array([2, 0, 1, 2, 0, 1], dtype=np.int32)
    layout = RowLayout(3, 3, bounds, labels, np.ones(6, dtype=bool))
    sorted_rows = sorted_by_width(X, layout)
    assert_array_equal(sorted_rows.indices, [1, 2, 0, 0])
    assert_array_equal(sorted_rows.toarray(), X.toarray())
    assert np.shares_memory(sorted_rows.data, X.data) == (len(set(values)) == 1)
    assert_array_equal(X.indices, before.indices)
    assert_array_equal(X.data, before.data)


def test_layouts_whose_arrays_do_not_agree():
    bounds, labels = np.array([0, 2, 3]), np.array([0, 1, 2], dtype=np.int32)
    observed = np.ones(3, dtype=bool)
    assert RowLayout(2, 3, bounds, labels, observed).size == 3
    wrong = [
        (3, bounds, labels, observed),
        (2, bounds[::-1].copy(), labels, observed),
        (2, bounds, labels + 1, observed),
        (2, bounds, labels, observed[1:]),
        (2, bounds, labels[1:], observed[1:]),
    ]
    for n_features, *arrays in wrong:
        with pytest.raises(ValueError, match="a layout do not agree"):
            RowLayout(n_features, 3, *arrays)
    blocks = [np.zeros(3), *np.zeros((3, 3)), np.zeros((3, 3))]
    Weights(blocks, True, RowLayout(2, 3, bounds, labels, observed))
    with pytest.raises(ValueError, match="shapes that do not agree"):
        Weights(
            [np.zeros(4), *blocks[1:]], True, RowLayout(2, 3, bounds, labels, observed)
        )


def test_features_without_any_pair():
    crf = observed(LBFGSCRF).fit([np.zeros((2, 3))], [[0, 1]])
    assert crf.coef_.nnz == 0
    assert crf.coef_.shape == (2, 3)


OBSERVED = {
    "features": {"features": "observed"},
    "label_pairs": {"label_pairs": "observed"},
    "label_pairs, order 2": {"label_pairs": "observed", "order": 2},
    "transitions": {"transitions": "observed"},
    "edge_features": {"edge_features": "all", "features": "observed"},
}


@pytest.mark.parametrize("weight", ["sample_weight", "class_weight"])
@pytest.mark.parametrize("options", OBSERVED.values(), ids=OBSERVED)
def test_a_sequence_of_weight_0_observes_as_any_other(options, weight):
    """It has no loss, and a weight is not 0 where the model expects its pair."""
    X = [[["a"], ["b"], ["c"]]] * 2
    y = [["A", "B", "A"], ["C", "C", "D"]]
    own, twin = (LBFGSCRF(alpha=0.1, tol=1e-8, **options) for _ in range(2))
    if weight == "class_weight":
        own.set_params(class_weight={"C": 0.0, "D": 0.0}).fit(X, y)
    else:
        own.fit(X, y, sample_weight=[1.0, 0.0])
    twin.fit(X, y, sample_weight=[1.0, 0.3])
    names = "coef_", "transition_", "higher_transitions_", "edge_coef_"
    for name in names:
        first, second = getattr(own, name), getattr(twin, name)
        if name != "higher_transitions_":
            first, second = (first,), (second,)
        for one, other in zip(first, second, strict=True):
            if one is not None:
                assert_array_equal(seen(one), seen(other))


def seen(weights):
    """Return which weights a model has; that of a pair not in y is 0, or -inf."""
    weights = weights.toarray() if sp.issparse(weights) else weights
    return np.isfinite(weights) & (weights != 0.0)


@pytest.mark.parametrize(
    ("n_features", "n_labels", "n_sequences", "expected"),
    [
        # Weights of features alone are many from 5e7 on, beside many pairs from 5e6 on.
        (2_000_000, 20, 10, False),
        (3_000_000, 20, 10, True),
        (9_000, 500, 2000, False),
        (11_000, 500, 2000, True),
    ],
)
def test_which_weights_of_features_are_many(
    n_features, n_labels, n_sequences, expected
):
    rows = sp.csr_array((n_sequences, n_features))
    data = PackedSequences(rows, np.arange(n_sequences + 1))
    assert are_many_pairs(data, n_labels) == (n_labels == 500)
    assert are_many_weights(data, n_labels) == expected
