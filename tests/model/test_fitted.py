"""Inconsistent fitted attributes raise an error and never crash.

Users assign attributes, and pickles and warm starts load them. Their shapes and types
are checked before a kernel reads them: without the checks, every test here would crash
the process or return wrong answers.
"""

import copy
import gc
import pickle
import weakref

import numpy as np
import pytest
from scipy.sparse import coo_array, csr_array
from sklearn.base import clone

from skcrf_sdca import LBFGSCRF, OEGCRF, SAGNUSCRF, SDCACRF, SequenceVectorizer
from skcrf_sdca.datasets import make_chains
from skcrf_sdca.model.fitted import check_fitted, set_fitted
from skcrf_sdca.objective.problem import Problem
from skcrf_sdca.structures.chain.marginals import Marginals
from skcrf_sdca.structures.chain.parameters import chain_blocks
from skcrf_sdca.structures.chain.structure import Chain

pytestmark = pytest.mark.survives

ARRAYS, NUMBERS = make_chains(
    8, n_labels=3, n_features=4, length=(1, 5), random_state=0
)
STRINGS = [[["a", "b"], ["c"]], [["b"]]]
LABELS = [["A", "B"], ["A"]]
METHODS = ["predict", "predict_proba"]
WEIGHTS = [block.attribute for block in chain_blocks()]

WRONG = {
    "too short": lambda a: a[..., :-1].copy(),
    "too long": lambda a: np.concatenate([a, a], axis=-1),
    "empty": lambda a: a[..., :0].copy(),
    "one axis more": lambda a: a[None],
    "a number": lambda a: np.float64(1.0),
    "float32": lambda a: a.astype(np.float32),
    "big-endian": lambda a: a.astype(">f8"),
    "integers": lambda a: np.ones(a.shape, dtype=np.int64),
    "objects": lambda a: a.astype(object),
    "a list": lambda a: a.tolist(),
    "None": lambda a: None,
    "sparse": lambda a: coo_array(np.atleast_2d(a)),
}


@pytest.fixture
def crf():
    return SDCACRF(tol=1e-2, random_state=0).fit(ARRAYS, NUMBERS)


@pytest.mark.parametrize("wrong", WRONG)
def test_assigned_weights_are_checked(crf, wrong):
    for name in WEIGHTS:
        changed = copy.deepcopy(crf)
        setattr(changed, name, WRONG[wrong](getattr(crf, name)))
        for method in METHODS:
            with pytest.raises(ValueError, match=f"^{name} "):
                getattr(changed, method)(ARRAYS)
        with pytest.raises(ValueError, match=f"^{name} "):
            changed.score(ARRAYS, NUMBERS)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("classes_", np.array([0, 1])),
        ("classes_", np.arange(4)),
        ("classes_", np.array([])),
        ("classes_", [0, 1, 2]),
        ("classes_", np.zeros((3, 1))),
        ("n_features_in_", 3),
        ("n_features_in_", 2**40),
        ("n_features_in_", -4),
        ("n_features_in_", "4"),
    ],
)
def test_assigned_sizes_are_checked(crf, name, value):
    setattr(crf, name, value)
    with pytest.raises(ValueError, match="classes_|features"):
        crf.predict(ARRAYS)


@pytest.mark.parametrize("name", WEIGHTS)
def test_a_weight_that_is_missing(crf, name):
    delattr(crf, name)
    with pytest.raises(ValueError, match=f"SDCACRF has no {name}"):
        crf.predict(ARRAYS)


def test_assigned_weights_of_any_layout_are_used(crf):
    expected = crf.predict_proba(ARRAYS)
    crf.coef_ = np.repeat(crf.coef_, 2, axis=1)[:, ::2]
    crf.transition_ = np.asfortranarray(crf.transition_)
    for p, q in zip(crf.predict_proba(ARRAYS), expected, strict=True):
        assert p.tobytes() == q.tobytes()
    crf.start_ = np.repeat(crf.start_, 2)[::2]
    with pytest.raises(ValueError, match="start_ must be contiguous"):
        crf.predict(ARRAYS)


@pytest.mark.parametrize("value", [1e101, -1e101])
def test_scores_whose_sums_may_overflow_are_refused(crf, value):
    crf.coef_ = np.full_like(crf.coef_, value)
    with pytest.raises(ValueError, match="sequence 0, position 0 .* beyond 1e[+]100"):
        crf.predict_proba([np.ones((1, 4))])


BAD_STATES = {
    "coef_ has shape": {"coef_": np.zeros((2, 2))},
    "coef_ contains NaN": {"coef_": np.full((3, 4), np.nan)},
    "intercept_ contains": {"intercept_": np.array([0.0, 0.0, -np.inf])},
    "transition_ contains": {"transition_": np.full((3, 3), np.inf)},
    "transition_ .* beyond 1e[+]100": {"transition_": np.full((3, 3), -1e200)},
    "start_ contains": {"start_": np.full(3, np.nan)},
    "every label once": {"classes_": np.array([0, 0, 1])},
    "_input_format must": {"_input_format": "rows"},
    "vectorizer_ must be": {"vectorizer_": SequenceVectorizer().fit(STRINGS)},
    "feature_names_in_": {"feature_names_in_": np.array(["a"], dtype=object)},
    "indices|index": {
        "coef_": csr_array(([1.0], np.array([2]), [0, 0, 0, 1]), shape=(3, 4))
    },
}
BAD_STATES["indices|index"]["coef_"].indices[0] = 99


@pytest.mark.parametrize("message", BAD_STATES)
def test_every_load_is_checked(crf, message):
    vars(crf).update(BAD_STATES[message])
    pickled = pickle.dumps(crf)
    with pytest.raises(ValueError, match=message):
        pickle.loads(pickled)
    with pytest.raises(ValueError, match=message):
        copy.copy(crf)


def test_minus_infinity_stands_for_what_is_forbidden(crf):
    crf.transition_[0, 1] = crf.start_[2] = crf.end_[1] = -np.inf
    check_fitted(pickle.loads(pickle.dumps(crf)))


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        (
            "vectorizer_",
            SequenceVectorizer().fit([[{"a": 1}]]),
            "not fitted on strings",
        ),
        ("vectorizer_", SequenceVectorizer().fit([[["a"]]]), "has 1 features"),
        ("vectorizer_", None, "has no input_format_"),
        ("_input_format", "arrays", "vectorizer_ must be"),
    ],
)
def test_a_vectorizer_that_does_not_belong(name, value, message):
    crf = SDCACRF(random_state=0).fit(STRINGS, LABELS)
    setattr(crf, name, value)
    with pytest.raises(ValueError, match=message):
        pickle.loads(pickle.dumps(crf))


class Name(str):
    """A subclass of str."""


def changed(**entries):
    vocabulary = {"numeric": {"a": 0}, "categorical": {"c": {"x": 1}}, "vectors": {}}
    return {**vocabulary, **entries}


@pytest.mark.parametrize(
    ("vocabulary", "message"),
    [
        (None, "must be a dict"),
        ({}, "must be a dict"),
        (changed(more={}), "must be a dict"),
        (changed(numeric=None), "plain dict"),
        (changed(numeric=[("a", 0)]), "plain dict"),
        (changed(numeric={1: 0}), "plain str"),
        (changed(numeric={b"a": 0}), "plain str"),
        (changed(numeric={Name("a"): 0}), "plain str"),
        (changed(numeric={"a": -1}), "from 0 to 2"),
        (changed(numeric={"a": 3}), "from 0 to 2"),
        (changed(numeric={"a": np.int64(0)}), "plain int"),
        (changed(numeric={"a": 0.0}), "plain int"),
        (changed(numeric={"a": True}), "plain int"),
        (changed(categorical={"c": {None: 1}}), "plain str"),
        (changed(categorical={0: {"x": 1}}), "plain str"),
        (changed(categorical={"c": 1}), "plain dict"),
        (changed(vectors={"v": (2,)}), "plain list"),
        (changed(vectors={"v": [0, 3]}), "from 0 to 2"),
        (changed(vectors={"v": [-2]}), "from 0 to 2"),
        (changed(vectors={"v": ["2"]}), "plain int"),
    ],
)
def test_a_vocabulary_that_is_none(vocabulary, message):
    vectorizer = SequenceVectorizer().fit(STRINGS)
    assert vectorizer.n_features_out_ == 3
    state = {**vectorizer.__getstate__(), "vocabulary_": vocabulary}
    with pytest.raises(ValueError, match=message):
        SequenceVectorizer().__setstate__(state)


@pytest.mark.parametrize("n_features", [2, -1, "3", None, 2.0])
def test_a_number_of_features_that_is_none(n_features):
    state = SequenceVectorizer().fit(STRINGS).__getstate__()
    state["n_features_out_"] = n_features
    with pytest.raises(ValueError, match="vocabulary_|n_features_out_"):
        SequenceVectorizer().__setstate__(state)


def test_components_that_min_freq_removed_have_no_number():
    X = [[{"v": np.array([1.0, 0.0, 2.0])}]]
    vectorizer = SequenceVectorizer(min_freq=1).fit(X)
    assert vectorizer.vocabulary_["vectors"] == {"v": [0, -1, 1]}
    loaded = pickle.loads(pickle.dumps(vectorizer))
    assert (loaded.transform(X).X != vectorizer.transform(X).X).nnz == 0


@pytest.mark.parametrize("name", [1, None, b"a", Name("a"), ("a",)], ids=repr)
@pytest.mark.parametrize("table", ["numeric", "categorical"])
def test_names_in_an_assigned_vocabulary_are_checked(name, table):
    """The lookup compares the memory of names, and so needs plain str."""
    vectorizer = SequenceVectorizer().fit([[{"a": 1.0, "c": "x"}]])
    names = {name: 0, "a": 1}
    vocabulary = (
        {"numeric": names} if table == "numeric" else {"categorical": {"c": names}}
    )
    vectorizer.vocabulary_ = {
        "numeric": {},
        "categorical": {},
        "vectors": {},
    } | vocabulary
    with pytest.raises(TypeError, match="plain str"):
        vectorizer.transform([[{"a": 1.0, "c": "x"}]])


@pytest.mark.parametrize("number", [2, 2**31 - 1, 2**31, -5, "0", None])
def test_numbers_in_an_assigned_vocabulary_are_checked(number):
    vectorizer = SequenceVectorizer().fit([[["a", "b"]]])
    vectorizer.vocabulary_ = {
        "numeric": {"a": number},
        "categorical": {},
        "vectors": {},
    }
    if number == -5:
        assert vectorizer.transform([[["a"]]]).X.nnz == 0
        return
    with pytest.raises((ValueError, TypeError, OverflowError)):
        vectorizer.transform([[["a"]]])


# What is kept between predictions -----------------------------------------------------


def changed(crf, name, value):
    getattr(crf, name)[:] = value


# Changes of a model with three labels and strings, by what they change.
CHANGES = {
    "coef in place": lambda crf: changed(crf, "coef_", -crf.coef_),
    "coef assigned": lambda crf: setattr(crf, "coef_", -crf.coef_),
    "coef by rows": lambda crf: setattr(crf, "coef_", -crf.coef_.copy(order="C")),
    "coef by rows, in place": lambda crf: (
        setattr(crf, "coef_", crf.coef_.copy(order="C")),
        crf.predict(STRINGS),
        changed(crf, "coef_", -crf.coef_),
    ),
    "coef sparse": lambda crf: setattr(crf, "coef_", csr_array(-crf.coef_)),
    "intercept": lambda crf: changed(crf, "intercept_", [0.0, 9.0, 0.0]),
    "start": lambda crf: changed(crf, "start_", [9.0, 0.0, 0.0]),
    "start forbidden": lambda crf: changed(crf, "start_", [-np.inf, 0.0, -np.inf]),
    "end forbidden": lambda crf: changed(crf, "end_", [-np.inf, 0.0, -np.inf]),
    "transition": lambda crf: changed(crf, "transition_", 20 * np.eye(3)),
    "transition forbidden": lambda crf: changed(
        crf, "transition_", np.where(np.eye(3, k=1), 0.0, -np.inf)
    ),
    "all transitions forbidden": lambda crf: changed(crf, "transition_", -np.inf),
    "transition assigned": lambda crf: setattr(
        crf, "transition_", np.asfortranarray(20 * np.eye(3, k=1))
    ),
    "classes in place": lambda crf: changed(crf, "classes_", crf.classes_[::-1].copy()),
    "temperature": lambda crf: setattr(crf, "temperature_", 7.0),
    "order": lambda crf: setattr(
        crf, "higher_transitions_", (np.full((3, 3, 3), 9.0),)
    ),
}


def answers(crf, X):
    try:
        return [str(crf.predict(X)), str(crf.log_partition(X))]
    except ValueError as error:
        return str(error)


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("transitions", [None, "observed"])
def test_a_change_counts_at_the_next_prediction(change, transitions):
    X = [[["a"], ["b"], ["c"]], [["a", "b"], ["c"]], [["b"], ["c"]], [["a"], ["b"]]]
    y = [["A", "B", "C"], ["A", "C"], ["B", "C"], ["A", "B"]]
    crf = SDCACRF(transitions=transitions, random_state=0).fit(X, y)
    before = answers(crf, X)
    CHANGES[change](crf)
    found = answers(crf, X)
    assert found == answers(set_fitted(SDCACRF(), vars(crf)), X) != before
    assert found == answers(crf, X)


# Features that a vectorizer learns or forgets, beside the model.
OF_VECTORIZERS = {
    "other numbers": lambda vectorizer: setattr(
        vectorizer, "vocabulary_", vectorizer.vocabulary_ | {"numeric": {"c": 0}}
    ),
    "more features": lambda vectorizer: vectorizer.partial_fit([[["new"]]]),
}


# Of them the bits count.
OF_ONE = {
    "labels": lambda crf, X: crf.predict(X)[0],
    "probabilities": lambda crf, X: crf.predict_proba(X)[0].tolist(),
    "spans": lambda crf, X: crf.predict_spans(X, scheme="TYPES")[0],
}


def answers_of_one(crf, x, answer):
    """Return an answer on a sequence alone, and beside one that is not plain."""
    found = []
    for X in ([x], [x, ()]):
        try:
            found.append(OF_ONE[answer](crf, X))
        except ValueError as error:
            found.append(str(error))
    return found


@pytest.mark.parametrize("answer", OF_ONE)
@pytest.mark.parametrize("change", [*CHANGES, *OF_VECTORIZERS])
def test_a_sequence_alone_is_predicted_as_among_others(change, answer):
    X, y = [[["a"], ["b"], ["c", "c"]], [["c"]]], [["A", "B", "C"], ["C"]]
    crf = SDCACRF(random_state=0).fit(X, y)
    for x in (X[0], [], [[], ["unseen"]], [("a", "b"), {"c"}]):
        alone, among = answers_of_one(crf, x, answer)
        assert alone == among
    if change in CHANGES:
        CHANGES[change](crf)
    else:
        OF_VECTORIZERS[change](crf.vectorizer_)
    for x in (X[0], [["c"]], [["a"], ["c"]]):
        alone, among = answers_of_one(crf, x, answer)
        assert alone == among


@pytest.mark.parametrize("name", ["coef_", "classes_", "transition_", "n_features_in_"])
def test_attributes_that_go_or_contradict_are_found_after_a_prediction(crf, name):
    crf.predict(ARRAYS)
    setattr(crf, name, np.zeros((1, 1)))
    with pytest.raises(ValueError, match=name):
        crf.predict(ARRAYS)
    delattr(crf, name)
    with pytest.raises(ValueError, match=name):
        crf.predict(ARRAYS)


def test_predictions_keep_neither_a_model_nor_its_old_weights():
    X, y = [[["a"], ["b"]]], [["A", "B"]]
    crf = SDCACRF(random_state=0).fit(X, y)
    crf.predict(X)
    crf.itself = crf
    old, model = weakref.ref(crf.coef_), weakref.ref(crf)
    crf.fit(X, y)
    assert old() is None
    crf.predict(X)
    del crf
    gc.collect()
    assert model() is None


# Warm starts --------------------------------------------------------------------------


WARM = [
    (SDCACRF(random_state=0), ["node", "edge", "offsets"]),
    (SAGNUSCRF(random_state=0), ["local", "tied", "visited", "lipschitz", "w"]),
    (OEGCRF(random_state=0), ["theta_local", "theta_tied", "offsets"]),
    (LBFGSCRF(), ["w"]),
]


@pytest.mark.parametrize(
    "change",
    [
        lambda a: a[:1].copy(),
        lambda a: a[:0].copy(),
        lambda a: a[..., None],
        lambda a: a[..., :1].copy(),
        lambda a: np.concatenate([a, a]),
        lambda a: a.astype(object),
    ],
    ids=["one", "none", "one axis more", "one column", "twice", "objects"],
)
@pytest.mark.parametrize(
    ("estimator", "name"),
    [(estimator, name) for estimator, names in WARM for name in names],
)
def test_the_state_of_a_warm_start_is_checked(estimator, name, change):
    crf = clone(estimator).set_params(warm_start=True, tol=1e-2).fit(ARRAYS, NUMBERS)
    primal = crf.primal_objective_
    crf._warm_state[name] = change(crf._warm_state[name])
    try:
        crf.fit(ARRAYS, NUMBERS)
    except (ValueError, TypeError):
        return
    # A fit makes up for a change of these entries, and converges as usual.
    assert name in ("lipschitz", "w", "offsets") or change(np.zeros(1)).dtype == object
    assert abs(crf.primal_objective_ - primal) < 0.1


@pytest.mark.parametrize(
    "estimator", [e for e, _ in WARM], ids=lambda e: type(e).__name__
)
def test_a_state_without_its_parts(estimator):
    crf = clone(estimator).set_params(warm_start=True, tol=1e-2).fit(ARRAYS, NUMBERS)
    before = crf.coef_.tobytes()
    crf._warm_state = {}
    with pytest.raises(ValueError, match="warm_start=True needs the state of a fit"):
        crf.fit(ARRAYS, NUMBERS)
    assert crf.coef_.tobytes() == before


# Arguments of the kernels -------------------------------------------------------------


def test_marginals_check_their_shapes():
    node, edge, offsets = np.ones((3, 2)) / 2, np.ones((2, 2, 2)) / 4, np.array([0, 3])
    Marginals(node, edge, offsets)
    for wrong in ((node[:2], edge), (node, edge[:1]), (node[:, :1], edge)):
        with pytest.raises(ValueError, match="node and edge have shapes"):
            Marginals(*wrong, offsets)
    with pytest.raises(ValueError, match=r"2,\) weights for 1 chains"):
        Marginals(node, edge, offsets).renormalize(np.ones(2))


@pytest.mark.parametrize(
    "labels", [[0, 1], [0, 1, 2, 0], [0, 1, 3], [0, -1, 2], [[0, 1, 2]]]
)
def test_labels_of_a_problem_are_in_range(labels):
    packed = SequenceVectorizer().fit_transform([[["a"], ["b"], ["c"]]])
    with pytest.raises(ValueError, match="labels must have shape"):
        Problem(Chain(packed, 3), np.array(labels, dtype=np.int32), 1.0)
