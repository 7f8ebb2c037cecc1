"""The estimators on sequences: input formats, convergence, scikit-learn's tools."""

import copy
import gc
import inspect
import pickle
import weakref

import joblib
import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.sparse import coo_array, csr_array
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import (
    GridSearchCV,
    cross_val_predict,
    cross_val_score,
    cross_validate,
)
from sklearn.pipeline import make_pipeline
from sklearn.utils._param_validation import InvalidParameterError

from samples import all_estimators, as_dicts, as_strings, name_of
from skcrf_sdca import (
    LBFGSCRF,
    SDCACRF,
    PackedSequences,
    SequenceVectorizer,
)
from skcrf_sdca.datasets import make_chains
from skcrf_sdca.structures.chain import oracle

ARRAYS, LABELS = make_chains(
    30, n_labels=3, n_features=4, length=(1, 7), random_state=0
)
NAMES = np.array(["A", "B", "C"])
STR_LABELS = [NAMES[labels].tolist() for labels in LABELS]
DICTS = as_dicts(ARRAYS)
STRINGS = as_strings(ARRAYS)
BINARY = [(x > 0).astype(float) for x in ARRAYS]
KINDS = {
    "arrays": ARRAYS,
    "tuple of arrays": tuple(ARRAYS),
    "F-ordered": [np.asfortranarray(x) for x in ARRAYS],
    "csr": [csr_array(x) for x in ARRAYS],
    "coo": [coo_array(x) for x in ARRAYS],
    "dicts": DICTS,
    "packed": PackedSequences.from_sequences(ARRAYS),
}


@pytest.fixture(params=all_estimators(), ids=name_of)
def crf(request):
    return clone(request.param)


def test_errors_of_a_call_of_fit_name_the_class(crf):
    name = type(crf).__name__
    message = rf"^{name}\.fit\(\): got an unexpected keyword argument 'weights'"
    with pytest.raises(TypeError, match=message):
        crf.fit(ARRAYS, STR_LABELS, weights=[1])
    message = rf"^{name}\.fit\(\): missing a required argument: 'y'"
    with pytest.raises(TypeError, match=message):
        crf.fit(ARRAYS)
    names = ["X", "y", "sample_weight", "lengths", "X_val", "y_val"]
    names += ["init", "prior"]
    assert [*inspect.signature(crf.fit).parameters] == names


def as_lists(sequences):
    return [list(sequence) for sequence in sequences]


def state_of(estimator):
    """Return everything an estimator holds, for comparison before and after."""
    return pickle.dumps(dict(sorted(vars(estimator).items())))


def test_every_kind_of_input_gives_the_same_model(crf):
    crf.set_params(tol=1e-9, max_iter=1000)
    expected = clone(crf).fit(ARRAYS, STR_LABELS)
    primal = expected.primal_objective_
    for kind, X in KINDS.items():
        crf.fit(X, STR_LABELS)
        assert crf.n_features_in_ == 4
        assert crf.coef_.shape == (3, 4), kind
        assert_allclose(crf.coef_, expected.coef_, rtol=0, atol=1e-3, err_msg=kind)
        assert_allclose(crf.primal_objective_, primal, rtol=0, atol=1e-7, err_msg=kind)
        assert as_lists(crf.predict(X)) == as_lists(expected.predict(ARRAYS)), kind
        assert crf.score(X, STR_LABELS) == expected.score(ARRAYS, STR_LABELS), kind


def test_lists_of_strings_are_binary_features(crf):
    crf.set_params(tol=1e-9, max_iter=1000)
    expected = clone(crf).fit(BINARY, STR_LABELS)
    crf.fit(STRINGS, STR_LABELS)
    order = [int(name[1:]) for name in crf.vectorizer_.get_feature_names_out()]
    assert_allclose(crf.coef_, expected.coef_[:, order], rtol=0, atol=1e-3)
    assert as_lists(crf.predict(STRINGS)) == as_lists(expected.predict(BINARY))


def test_fitted_attributes(crf):
    crf.set_params(alpha=0.05).fit(ARRAYS, STR_LABELS)
    assert crf.classes_.tolist() == ["A", "B", "C"]
    assert crf.coef_.shape == (3, 4)
    for name in ("intercept_", "start_", "end_"):
        assert getattr(crf, name).shape == (3,)
    assert crf.transition_.shape == (3, 3)
    assert crf.alpha_ == 0.05
    assert crf.duality_gap_ <= 1e-3 * crf.primal_objective_
    assert crf.duality_gap_ == crf.history_["gap"][-1]
    assert crf.primal_objective_ == crf.history_["primal"][-1]
    assert crf.dual_objective_ == crf.history_["dual"][-1]
    assert crf.history_["epoch"][-1] == crf.n_iter_
    assert not hasattr(crf, "vectorizer_")


def test_sdca_and_lbfgs_agree():
    arguments = {"alpha": 0.05, "tol": 1e-13, "max_iter": 3000}
    sdca = SDCACRF(random_state=0, **arguments).fit(ARRAYS, LABELS)
    lbfgs = LBFGSCRF(**arguments).fit(ARRAYS, LABELS)
    for name in ("coef_", "intercept_", "start_", "end_", "transition_"):
        assert_allclose(getattr(sdca, name), getattr(lbfgs, name), rtol=0, atol=1e-5)
    assert as_lists(sdca.predict(ARRAYS)) == as_lists(lbfgs.predict(ARRAYS))


def test_probabilities(crf):
    crf.fit(ARRAYS, STR_LABELS)
    proba = crf.predict_proba(ARRAYS)
    assert proba.shape == (30,)
    assert proba.dtype == object
    for x, p in zip(ARRAYS, proba, strict=True):
        assert p.shape == (len(x), 3)
        assert_allclose(p.sum(axis=1), 1.0, rtol=1e-12)


def test_one_sequence_alone_is_treated_as_among_others(crf):
    crf.fit(ARRAYS, STR_LABELS)
    paths, proba = crf.predict(ARRAYS), crf.predict_proba(ARRAYS)
    for i, x in enumerate(ARRAYS):
        assert crf.predict([x])[0] == paths[i]
        assert_allclose(crf.predict_proba([x])[0], proba[i], rtol=0, atol=0)


@pytest.mark.slow
def test_order_of_sequences_does_not_matter(crf):
    crf.set_params(tol=1e-12, max_iter=3000)
    order = np.random.default_rng(0).permutation(30)
    expected = clone(crf).fit(ARRAYS, STR_LABELS)
    crf.fit([ARRAYS[i] for i in order], [STR_LABELS[i] for i in order])
    assert_allclose(crf.coef_, expected.coef_, rtol=0, atol=1e-4)


@pytest.mark.slow
def test_order_of_keys_does_not_matter(crf):
    crf.set_params(tol=1e-12, max_iter=3000)
    expected = clone(crf).fit(DICTS, STR_LABELS)
    turned = [[dict(reversed(item.items())) for item in x] for x in DICTS]
    crf.fit(turned, STR_LABELS)
    assert as_lists(crf.predict(turned)) == as_lists(expected.predict(DICTS))
    assert_allclose(
        crf.primal_objective_, expected.primal_objective_, rtol=0, atol=1e-10
    )


def test_renaming_labels_renames_predictions(crf):
    expected = clone(crf).fit(ARRAYS, LABELS).predict(ARRAYS)
    predicted = crf.fit(ARRAYS, STR_LABELS).predict(ARRAYS)
    assert as_lists(predicted) == [NAMES[labels].tolist() for labels in expected]


def test_predict_returns_an_object_array_always(crf):
    X = [x[:1] for x in ARRAYS]
    y = [labels[:1] for labels in STR_LABELS]
    crf.fit(X, y)
    assert crf.predict(X).shape == (30,)
    assert crf.predict([]).shape == (0,)
    assert crf.predict_proba([]).shape == (0,)
    assert as_lists(crf.predict([np.empty((0, 4))])) == [[]]


def test_same_seed_same_bits():
    def bits(seed):
        crf = SDCACRF(random_state=seed, max_iter=5, tol=0.0)
        with pytest.warns(ConvergenceWarning):
            return crf.fit(ARRAYS, LABELS).coef_.tobytes()

    assert bits(0) == bits(0)
    assert bits(0) != bits(1)


def test_global_random_state_is_not_touched():
    def position():
        return pickle.dumps(np.random.mtrand._rand.get_state(legacy=False))

    before = position()
    SDCACRF(random_state=0).fit(ARRAYS, LABELS)
    assert position() == before


@pytest.mark.usefixtures("many_ranges")
def test_threads_change_no_bit(crf):
    serial = clone(crf).fit(ARRAYS, LABELS)
    threaded = crf.set_params(n_jobs=2).fit(ARRAYS, LABELS)
    assert threaded.coef_.tobytes() == serial.coef_.tobytes()
    assert as_lists(threaded.predict(ARRAYS)) == as_lists(serial.predict(ARRAYS))


@pytest.mark.parametrize(
    ("odd", "message"),
    [
        ([["a"]], "sequence 2 is a list of lists of str"),
        ([[1.0]], "sequence 2 holds rows of numbers"),
        ([{"word": "a"}, ["a"]], "sequence 2, item 1 is a list of str"),
        ([None], "sequence 2, item 0 is None"),
    ],
)
def test_every_sequence_to_predict_is_checked(odd, message):
    crf = SDCACRF(random_state=0).fit(DICTS, STR_LABELS)
    with pytest.raises(TypeError, match=message):
        crf.predict([*DICTS[:2], odd])


@pytest.mark.usefixtures("many_ranges")
@pytest.mark.parametrize("X", [ARRAYS, DICTS], ids=["arrays", "dicts"])
def test_threads_change_no_bit_of_predictions(X):
    crf = SDCACRF(random_state=0).fit(X, STR_LABELS)
    paths, proba, score = crf.predict(X), crf.predict_proba(X), crf.score(X, STR_LABELS)
    crf.set_params(n_jobs=2)
    assert as_lists(crf.predict(X)) == as_lists(paths)
    assert [p.tobytes() for p in crf.predict_proba(X)] == [p.tobytes() for p in proba]
    assert crf.score(X, STR_LABELS) == score


def test_predictions_are_those_of_all_scores_at_once(crf):
    """Predictions, made range by range, equal those of the oracle on all scores."""
    crf.fit(ARRAYS, LABELS)
    offsets = np.cumsum([0, *map(len, ARRAYS)])
    scores = np.concatenate(ARRAYS) @ crf.coef_.T + crf.intercept_
    scores[offsets[:-1]] += crf.start_
    scores[offsets[1:] - 1] += crf.end_
    paths, _ = oracle.viterbi(scores, crf.transition_, offsets)
    assert np.concatenate(crf.predict(ARRAYS)).tolist() == crf.classes_[paths].tolist()
    node, _ = oracle.node_marginals(scores, crf.transition_, offsets)
    assert_allclose(np.concatenate(crf.predict_proba(ARRAYS)), node, atol=1e-12)


def test_loaded_weights_lie_as_the_kernels_take_them(crf, tmp_path):
    """With another layout every call of predict would copy them."""
    crf.fit(ARRAYS, LABELS)
    joblib.dump(crf, tmp_path / "model.joblib")
    for other in (
        crf,
        pickle.loads(pickle.dumps(crf)),
        joblib.load(tmp_path / "model.joblib"),
        joblib.load(tmp_path / "model.joblib", mmap_mode="r"),
        copy.deepcopy(crf),
    ):
        assert other.coef_.T.flags.c_contiguous
        assert other.transition_.flags.c_contiguous


@pytest.mark.parametrize("X", [ARRAYS, DICTS], ids=["arrays", "dicts"])
def test_pickle_and_joblib_keep_every_bit(crf, X, tmp_path):
    crf.fit(X, STR_LABELS)
    joblib.dump(crf, tmp_path / "model.joblib")
    copies = [
        pickle.loads(pickle.dumps(crf)),
        joblib.load(tmp_path / "model.joblib", mmap_mode="r"),
        copy.deepcopy(crf),
    ]
    for other in copies:
        for p, q in zip(other.predict_proba(X), crf.predict_proba(X), strict=True):
            assert p.tobytes() == q.tobytes()


def test_refit_forgets_the_fit_before(crf):
    crf.fit(DICTS, STR_LABELS)
    crf.fit(ARRAYS[:9], [[0] * len(x) for x in ARRAYS[:9]])
    assert not hasattr(crf, "vectorizer_")
    assert crf.classes_.tolist() == [0]
    fresh = clone(crf).fit(ARRAYS[:9], [[0] * len(x) for x in ARRAYS[:9]])
    assert crf.coef_.tobytes() == fresh.coef_.tobytes()


def test_read_only_memory_maps(crf, tmp_path):
    expected = clone(crf).fit(ARRAYS, LABELS)
    joblib.dump(ARRAYS, tmp_path / "X")
    mapped = joblib.load(tmp_path / "X", mmap_mode="r")
    assert crf.fit(mapped, LABELS).coef_.tobytes() == expected.coef_.tobytes()


# Sample weights and alpha -------------------------------------------------------------


@pytest.mark.slow
def test_sample_weight_is_repetition(crf):
    crf.set_params(tol=1e-13, max_iter=3000, alpha=0.05)
    weight = np.array([2.0] * 5 + [0.0] * 5 + [1.0] * 20)
    weighted = clone(crf).fit(ARRAYS, LABELS, sample_weight=weight)
    chosen = [*range(5), *range(5), *range(10, 30)]
    repeated = crf.fit([ARRAYS[i] for i in chosen], [LABELS[i] for i in chosen])
    assert_allclose(weighted.coef_, repeated.coef_, rtol=0, atol=1e-5)
    assert_allclose(weighted.transition_, repeated.transition_, rtol=0, atol=1e-5)


def test_auto_alpha_is_one_over_the_sum_of_weights(crf):
    crf.set_params(tol=1e-2)
    mostly_zero = [x * [1.0, 0.0, 0.0, 0.0] for x in ARRAYS]
    assert crf.fit(mostly_zero, LABELS).alpha_ == 1 / 30
    weight = np.full(30, 0.5)
    assert crf.fit(mostly_zero, LABELS, sample_weight=weight).alpha_ == 1 / 15


def test_score_with_weights(crf):
    crf.set_params(tol=1e-1).fit(ARRAYS, LABELS)
    weight = np.zeros(30)
    weight[3] = 2.0
    expected = np.mean(np.array(crf.predict(ARRAYS)[3]) == LABELS[3])
    assert crf.score(ARRAYS, LABELS, sample_weight=weight) == expected


def test_labels_unseen_in_fit_count_as_wrong(crf):
    crf.fit(ARRAYS, STR_LABELS)
    assert crf.score(ARRAYS, [["Z"] * len(x) for x in ARRAYS]) == 0.0


def test_one_node_chains_are_multinomial_logistic_regression(crf):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(50, 3)), rng.integers(3, size=50)
    alpha = 0.1
    crf.set_params(alpha=alpha, tol=1e-13, max_iter=5000).fit(X, y)
    with_ones = np.column_stack([X, np.ones(50)])
    logistic = LogisticRegression(C=1 / (50 * alpha), fit_intercept=False, tol=1e-10)
    logistic.fit(with_ones, y)
    assert_allclose(crf.coef_, logistic.coef_[:, :3], rtol=0, atol=1e-5)
    assert_allclose(crf.intercept_, logistic.coef_[:, 3], rtol=0, atol=1e-5)
    for weights in (crf.start_, crf.end_, crf.transition_):
        assert not weights.any()
    assert crf.predict(X).shape == (50,)
    assert_allclose(
        crf.predict_proba(X), logistic.predict_proba(with_ones), rtol=0, atol=1e-5
    )


# Warm start and convergence -----------------------------------------------------------


def test_warm_start_continues(crf):
    crf.set_params(alpha=1 / 30, warm_start=True, tol=1e-6, max_iter=1000)
    cold = crf.fit(ARRAYS, LABELS).n_iter_
    crf.fit(ARRAYS, LABELS)
    assert crf.n_iter_ <= cold // 8
    crf.set_params(alpha=crf.alpha_ * 0.9).fit(ARRAYS, LABELS)
    assert crf.duality_gap_ <= crf.history_["gap"][0]
    assert crf.n_iter_ <= cold


def test_warm_start_on_other_data_is_an_error_that_changes_nothing(crf):
    crf.set_params(warm_start=True).fit(ARRAYS, STR_LABELS)
    before = state_of(crf)
    with pytest.raises(ValueError, match="set warm_start=False"):
        crf.fit([np.ones((2, 7))], [["A", "B"]])
    assert state_of(crf) == before


def test_unscaled_features_from_dicts():
    rng = np.random.default_rng(0)
    X = [
        [
            {"year": float(rng.integers(1900, 2020)), "price": float(rng.integers(1e5))}
            for _ in range(6)
        ]
        for _ in range(50)
    ]
    y = [[f"L{rng.integers(9)}" for _ in x] for x in X]
    crf = SDCACRF(max_iter=20, random_state=0)
    with pytest.warns(ConvergenceWarning, match="scale the features"):
        crf.fit(X, y)
    assert np.isfinite(crf.coef_).all()


def test_a_fit_that_ends_early_warns_and_can_be_used():
    crf = SDCACRF(max_iter=1, random_state=0)
    with pytest.warns(ConvergenceWarning, match="increase max_iter, tol") as warned:
        crf.fit(ARRAYS, LABELS)
    # The warning names the caller's file.
    assert [w.filename for w in warned] == [__file__]
    assert crf.n_iter_ == 1
    assert len(crf.predict(ARRAYS)) == 30


# scikit-learn's tools -----------------------------------------------------------------


def test_cross_validation_of_ragged_sequences(crf):
    scores = cross_val_score(crf, ARRAYS, STR_LABELS, cv=3)
    assert scores.shape == (3,)
    assert scores.min() > 0.4
    predicted = cross_val_predict(crf, ARRAYS, STR_LABELS, cv=3)
    assert predicted.shape == (30,)
    assert [len(p) for p in predicted] == [len(x) for x in ARRAYS]
    same_length = [x[:1] for x in ARRAYS]
    labels = [y[:1] for y in STR_LABELS]
    assert cross_val_predict(crf, same_length, labels, cv=3).shape == (30,)


def test_grid_search_on_packed_sequences_does_not_featurise_again(monkeypatch):
    packed = SequenceVectorizer().fit_transform(DICTS)
    calls = []
    monkeypatch.setattr(SequenceVectorizer, "fit_transform", lambda *a: calls.append(a))
    crf = SDCACRF(tol=1e-2, random_state=0)
    search = GridSearchCV(crf, {"alpha": [0.1, 0.01]}, cv=3)
    search.fit(packed, STR_LABELS)
    assert calls == []
    assert isinstance(packed[:3], PackedSequences)
    assert search.best_estimator_.predict(packed).shape == (30,)


def test_pipeline_with_the_vectorizer():
    pipeline = make_pipeline(SequenceVectorizer(), SDCACRF(random_state=0))
    pipeline.fit(DICTS, STR_LABELS)
    alone = SDCACRF(random_state=0).fit(DICTS, STR_LABELS)
    assert as_lists(pipeline.predict(DICTS)) == as_lists(alone.predict(DICTS))
    result = cross_validate(pipeline, DICTS, STR_LABELS, cv=3, n_jobs=2)
    assert len(result["test_score"]) == 3


def test_repr_shows_what_was_changed():
    assert repr(SDCACRF()) == "SDCACRF()"
    assert repr(SDCACRF(alpha=0.1)) == "SDCACRF(alpha=0.1)"


# Errors -------------------------------------------------------------------------------


def test_an_int_beyond_float_in_a_table(crf):
    X = np.array([[0, 10**400], [1, 0]], dtype=object)
    with pytest.raises(ValueError, match="X must hold numbers: int too large"):
        crf.fit(X, [0, 1])
    crf.fit(np.eye(2), [0, 1])
    with pytest.raises(ValueError, match="X must hold numbers: int too large"):
        crf.predict(X)


def test_text_after_a_fit_on_other_text(crf):
    crf.fit(DICTS, STR_LABELS)
    with pytest.raises(TypeError, match="dicts|strings"):
        crf.predict(STRINGS)
    assert len(crf.predict(crf.vectorizer_.transform(DICTS))) == 30


BAD_SDCA_PARAMETERS = [
    ("sampling", "gaps"),
    ("sampling_mix", 1.5),
    ("line_search", "exact"),
    ("line_search_tol", 0.0),
    ("step", 0.0),
    ("step", 1.5),
    ("step", True),
    ("init_smoothing", 0.0),
    ("random_state", "seed"),
]


@pytest.mark.parametrize(("name", "value"), BAD_SDCA_PARAMETERS)
def test_bad_parameters_of_sdca(name, value):
    crf = SDCACRF(**{name: value})
    with pytest.raises(InvalidParameterError, match=name):
        crf.fit(ARRAYS, LABELS)
    assert not hasattr(crf, "classes_")


def test_fixed_line_search_needs_a_step():
    with pytest.raises(ValueError, match='line_search="fixed" needs a step'):
        SDCACRF(line_search="fixed").fit(ARRAYS, LABELS)


def test_the_state_of_the_solver_is_freed_with_the_fit(crf, monkeypatch):
    solvers, new_solver = [], crf._new_solver

    def watched(problem):
        solver = new_solver(problem)
        solvers.append(weakref.ref(solver))
        return solver

    monkeypatch.setattr(crf, "_new_solver", watched)
    gc.disable()
    try:
        crf.fit(ARRAYS, LABELS)
        assert solvers[0]() is None
    finally:
        gc.enable()
