"""The table of bad and unusual inputs, which test_bad_inputs.py tries."""

import pickle
import re
import warnings
from collections import OrderedDict, deque
from decimal import Decimal
from fractions import Fraction
from functools import cache, partial
from types import MappingProxyType

import numpy as np
import pandas
import scipy.sparse
from scipy.sparse import coo_array, csr_array
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.model_selection import GridSearchCV, cross_val_predict
from sklearn.utils._param_validation import InvalidParameterError

import skcrf_sdca
from samples import seeded
from skcrf_sdca import PackedSequences, compat

CASES = {}
# There, as in CRFsuite, an item that is a str is its characters.
NOT_OF_COMPAT = {"str_items", "unwrapped_strings"}

DICTS = [
    [{"a": 1.0}, {"b": 1.0}],
    [{"b": 1.0}, {"a": 1.0, "c": 0.5}],
    [{"a": 2.0}, {"b": 1.0}, {"c": -1.0}],
]
LABELS = [["A", "B"], ["B", "A"], ["A", "B", "B"]]
STRINGS = [[list(item) for item in sequence] for sequence in DICTS]
ARRAYS = [
    np.array([[item.get(name, 0.0) for name in "abcd"] for item in sequence])
    for sequence in DICTS
]
TRAINING = {"dicts": DICTS, "strings": STRINGS, "arrays": ARRAYS}


# Tools --------------------------------------------------------------------------------


def add_case(name, attempt):
    assert name not in CASES, f"{name} is there already"
    CASES[name] = attempt


def case(function):
    """Add a case: a function that gets a maker of estimators."""
    add_case(function.__name__, function)
    return function


def native_case(function):
    """Add a case that compat.CRF does not take.

    It has other parameters, other forms of probabilities and weights, and no tables.
    """
    NOT_OF_COMPAT.add(function.__name__)
    return case(function)


def refused(
    name, X, y, error, message, *, by=("fit", "predict", "score"), fitted_on="dicts"
):
    """Add a case: these methods refuse X and y with an error that matches.

    ``fitted_on`` names the training data of the estimator that predicts and scores.
    """

    def attempt(new):
        before = pickle.dumps((X, y))
        crf = new()
        unfitted = pickle.dumps(vars(crf))
        if "fit" in by:
            assert_refused(error, message, crf.fit, X, y)
            assert pickle.dumps(vars(crf)) == unfitted, "fit has left a trace"
        crf = trained(new, fitted_on)
        state = pickle.dumps(vars(crf))
        if "fit" in by:
            assert_refused(error, message, crf.fit, X, y)
        if "predict" in by:
            assert_refused(error, message, crf.predict, X)
            assert_refused(error, message, probabilities(crf), X)
        if "score" in by:
            assert_refused(error, message, crf.score, X, y)
        assert pickle.dumps(vars(crf)) == state, "the estimator has changed"
        assert pickle.dumps((X, y)) == before, "X or y has changed"

    add_case(name, attempt)


def trained(new, form):
    """Return an own copy of the model of a form of the training data."""
    return pickle.loads(_trained(new, form))


@cache
def _trained(new, form):
    return pickle.dumps(new().fit(TRAINING[form], LABELS))


def probabilities(crf):
    return getattr(crf, "predict_proba", None) or crf.predict_marginals


def assert_refused(error, message, method, *arguments, **named):
    try:
        method(*arguments, **named)
    except error as raised:
        text = str(raised)
        assert re.search(message, text), f"{method.__name__}: {text}"
        return
    raise AssertionError(f"{method.__name__} does not refuse")


def fitted(new, X, y, **parameters):
    """Fit, predict and score; check that X and y stay; return the estimator."""
    before = pickle.dumps((X, y))
    crf = new(**parameters).fit(X, y)
    crf.predict(X)
    for p in probabilities(crf)(X):
        if isinstance(crf, compat.CRF):
            p = np.array([list(row.values()) for row in p])
        assert np.isfinite(p).all()
        np.testing.assert_allclose(p.sum(axis=-1), 1.0, rtol=0, atol=1e-12)
    crf.score(X, y)
    assert pickle.dumps((X, y)) == before, "X or y has changed"
    return crf


def assert_round_trip(new, labels):
    """If each label has its own feature, it is predicted with equal value and type."""
    X = [[{f"f{k}": 1.0} for k in range(len(labels))]] * 4
    crf = fitted(new, X, [labels] * 4)
    predicted = crf.predict(X)[0]
    assert predicted == labels, predicted
    assert [type(label) for label in predicted] == [type(label) for label in labels]
    again = pickle.loads(pickle.dumps(crf)).predict(X)[0]
    assert again == predicted


def assert_same_model(new, forms, expected, y=LABELS):
    """Other forms of the same input give the same model, within the tolerance."""
    reference = fitted(new, expected, y, tol=1e-10)
    for X in forms:
        found = fitted(new, X, y, tol=1e-10)
        np.testing.assert_allclose(found.coef_, reference.coef_, rtol=0, atol=2e-4)
        for p, q in zip(
            found.predict_proba(X), reference.predict_proba(expected), strict=True
        ):
            np.testing.assert_allclose(p, q, rtol=0, atol=2e-4)


def assert_bounded(crf):
    """The weights are finite and the gap is not negative."""
    assert np.isfinite(crf.coef_).all()
    assert crf.duality_gap_ >= 0.0


# Containers ---------------------------------------------------------------------------

VE, TE = ValueError, TypeError
SHAPE = "list of sequences|list of dicts|wrap"

refused("no_sequences", [], [], VE, "0 sequences and 0 items", by=["fit"])
refused("no_sequences_to_score", [], [], VE, "0 items", by=["score"])
refused("no_items", [[], []], [[], []], VE, "2 sequences and 0 items", by=["fit"])
refused("no_items_to_score", [[], []], [[], []], VE, "0 items", by=["score"])
refused("fewer_y", DICTS, LABELS[:2], VE, "X has 3 sequences, but y has 2", by=["fit"])
refused("fewer_y_to_score", DICTS, LABELS[:2], VE, "3 sequences.* 2", by=["score"])
refused(
    "fewer_labels",
    [DICTS[0], [{"a": 1.0}] * 4],
    [LABELS[0], ["A"] * 3],
    VE,
    "[Ss]equence 1 has 4 items in X, but 3 labels in y",
    by=["fit", "score"],
)
refused("no_y", DICTS, None, VE, "requires y to be passed", by=["fit", "score"])
refused("none_sequence", [None], [["A"]], TE, "X: sequence 0 is None.*wrap")
refused(
    "none_item",
    [*DICTS[:2], [{"a": 1.0}, None]],
    [*LABELS[:2], ["A", "B"]],
    TE,
    "X: sequence 2, item 1 is None.*must be a dict or a list of str",
)
refused(
    "str_of_labels",
    DICTS[:1],
    ["AB"],
    TE,
    "y: sequence 0 is of type str 'AB'; y must be a list of label lists",
    by=["fit", "score"],
)
refused("str_sequence", ["ab"], [["A", "B"]], TE, "X: sequence 0 .* str 'ab'")
refused(
    "str_items",
    [["foo", "bar"]],
    [["A", "B"]],
    TE,
    "X: sequence 0, item 0 .* str 'foo'; an item must be a dict or a list of str",
)
refused("unwrapped_dicts", DICTS[0], LABELS[0], TE, "wrap it in a list")
refused(
    "unwrapped_strings",
    STRINGS[0],
    LABELS[0],
    TE,
    "wrap it in a list",
    fitted_on="strings",
)
refused("nested_once_too_often", [[[{"a": 1}]]], [["A"]], TE, "sequence 0, item 0")
refused("none", None, LABELS, TE, "X must be", fitted_on="arrays")
refused(
    "dicts_after_a_fit_on_arrays",
    DICTS,
    LABELS,
    TE,
    "fitted on numbers",
    by=["predict", "score"],
    fitted_on="arrays",
)
refused(
    "an_array_and_dicts",
    [ARRAYS[0], DICTS[1]],
    LABELS[:2],
    TE,
    "sequence 1",
    fitted_on="arrays",
)
for name, odd, message in (
    ("strings", [["a"]], "sequence 2 (is a list of lists of str|.*sequence 0)"),
    ("numbers", [[1.0]], "sequence 2 (holds rows of numbers|.*sequence 0)"),
    ("a_dict_and_strings", [{"a": 1.0}, ["a"]], "sequence 2, item 1 is a list of str"),
):
    X, y = [*DICTS[:2], odd], [*LABELS[:2], ["A"] * len(odd)]
    refused(f"{name}_after_dicts", X, y, TE, message)


@native_case
def one_empty_sequence(new):
    with_empty, y = [*DICTS[:2], []], [*LABELS[:2], []]
    crf = fitted(new, with_empty, y, tol=1e-10)
    # The mean loss divides by 3, as alpha="auto" does: the optimum is the same.
    without = fitted(new, DICTS[:2], LABELS[:2], tol=1e-10)
    np.testing.assert_allclose(crf.coef_, without.coef_, rtol=0, atol=2e-4)
    assert crf.predict(with_empty)[2] == []


@native_case
def nothing_to_predict(new):
    crf = trained(new, "dicts")
    for answer in (crf.predict([]), crf.predict_proba([])):
        assert answer.shape == (0,)
        assert answer.dtype == object


@native_case
def an_empty_sequence_to_predict(new):
    crf = trained(new, "dicts")
    assert crf.predict([[]]).tolist() == [[]]
    assert crf.predict_proba([[]])[0].shape == (0, 2)


@native_case
def generators(new):
    crf = new().fit((x for x in DICTS), (labels for labels in LABELS))
    expected = trained(new, "dicts")
    assert crf.coef_.tobytes() == expected.coef_.tobytes()
    assert crf.predict(x for x in DICTS).tolist() == expected.predict(DICTS).tolist()
    score = crf.score((x for x in DICTS), (labels for labels in LABELS))
    assert score == expected.score(DICTS, LABELS)


# Values -------------------------------------------------------------------------------


def with_value(value):
    return [DICTS[0], [{"b": 1.0}, {"a": value}]], LABELS[:2]


PLACE = "X: sequence 1, item 1: feature 'a'"
refused("nan", *with_value(np.nan), VE, f"{PLACE} is NaN; leave it out")
refused("infinity", *with_value(np.inf), VE, f"{PLACE} is infinity; leave it out")
refused("minus_infinity", *with_value(-np.inf), VE, f"{PLACE} is infinity")
refused(
    "value_of_none", *with_value(None), TE, f"{PLACE} .* NoneType; it must be a str"
)
refused("complex_value", *with_value(1j), TE, f"{PLACE} .* complex; it must be a str")
refused("tuple_of_numbers", *with_value((1, 2)), TE, f"{PLACE}: 1 is of type int")
refused("int_beyond_float", *with_value(10**400), VE, f"{PLACE}: int too large")
for name, value, text, cure in (
    ("nan_in_an_array", np.nan, "NaN", "fill missing values"),
    ("infinity_in_an_array", np.inf, "infinity", "replace or"),
    ("minus_infinity_in_an_array", -np.inf, "infinity", "replace or"),
):
    X = [ARRAYS[0], ARRAYS[1].copy()]
    X[1][1, 2] = value
    message = f"X contains {text}: sequence 1, position 1, feature 2; {cure}"
    refused(name, X, LABELS[:2], VE, message, fitted_on="arrays")


@native_case
def value_of_1e308(new):
    """The fit raises, warns or converges, and returns no model of zeros silently."""
    X, y = with_value(1e308)
    try:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            crf = new(max_iter=50).fit(X, y)
    except ValueError as error:
        assert "scale the features" in str(error), str(error)  # noqa: PT017
        return
    assert [w.category for w in caught] == [ConvergenceWarning]
    assert_bounded(crf)


@native_case
def a_solver_that_overflows(new):
    """The error comes late, from the solver, and the estimator stays as it was."""
    X = [np.array([[1e200], [-1e200]]), np.array([[-1e200], [1e200]])]
    y = [["A", "B"], ["B", "B"]]
    unfitted, other = new(alpha=1e-8), trained(new, "arrays")
    for crf in (unfitted, other.set_params(alpha=1e-8)):
        state = pickle.dumps(vars(crf))
        assert_refused(ValueError, "not finite", crf.fit, X, y)
        assert pickle.dumps(vars(crf)) == state, "the estimator has changed"


@native_case
def values_beyond_the_range_of_exp(new):
    """CRFsuite answers with a model of zeros, without a warning."""
    for value in (700.0, 1e4):
        X = [[{"x": value}, {"b": 1.0}], [{"b": 1.0}, {"x": value}]]
        y = [["A", "B"], ["B", "A"]]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            crf = fitted(new, X, y, alpha=0.01, max_iter=200)
        assert crf.score(X, y) == 1.0
        assert_bounded(crf)


@native_case
def values_of_1e4_to_predict(new):
    crf = trained(new, "dicts")
    for value in (1e4, -1e4):
        for p in crf.predict_proba([[{"a": value}, {"b": -value}]]):
            assert np.isfinite(p).all()
            np.testing.assert_allclose(p.sum(axis=1), 1.0, rtol=0, atol=1e-9)
        assert len(crf.predict([[{"a": value}, {"b": -value}]])[0]) == 2


@native_case
def scores_that_overflow(new):
    crf = trained(new, "dicts")
    crf.coef_ *= 100.0
    message = "X: sequence 1, position 1 has features so large .* scale the features"
    for item in ({"a": 1e308}, {"a": -1e308, "b": -1e308}, {"a": 1e308, "b": 1e308}):
        X = [DICTS[0], [{"a": 1.0}, item]]
        for method in (crf.predict, crf.predict_proba):
            assert_refused(ValueError, message, method, X)
        assert_refused(ValueError, message, crf.score, X, LABELS[:2])


@native_case
def types_of_numbers(new):
    for expected, *values in (
        (2.0, np.float32(2.0), np.int64(2), 2, Decimal(2)),
        (1.0, True, np.True_),
    ):
        X, *forms = (with_value(value)[0] for value in (expected, *values))
        assert_same_model(new, forms, X, LABELS[:2])


@case
def numpy_strings(new):
    X = [[{"w": np.str_(item)} for item in "ab"]] * 2
    crf = fitted(new, X, [[np.str_("A"), np.str_("B")]] * 2)
    assert crf.predict([[{"w": "a"}, {"w": "b"}]]).tolist() == [["A", "B"]]


# Labels -------------------------------------------------------------------------------


def labelled(*labels):
    return [DICTS[0]], [list(labels)]


for name, labels, error, message in (
    ("empty_set_of_labels", ["A", set()], (VE, TE), "is .* set"),
    ("mixed_labels", ["A", 1], TE, "int 1, but the first label is .* 'A'; labels"),
    ("nan_label", [0.0, float("nan")], VE, "float nan; a label is needed"),
):
    message = f"y: sequence 0, position 1 .*{message}"
    refused(name, *labelled(*labels), error, message, by=["fit", "score"])


@case
def int_labels(new):
    assert_round_trip(new, [0, 1])
    assert_round_trip(new, [10, 20, 30])
    assert_round_trip(new, [False, True])


# Of the compatible estimator they are texts.
@native_case
def bytes_labels(new):
    assert_round_trip(new, [b"A", b"B"])


@case
def empty_label(new):
    assert_round_trip(new, ["", "A"])


@native_case
def one_label(new):
    crf = fitted(new, DICTS, [["A"] * len(labels) for labels in LABELS])
    assert crf.predict(DICTS).tolist() == [["A"] * len(labels) for labels in LABELS]
    assert all((p == 1.0).all() for p in crf.predict_proba(DICTS))
    assert crf.n_iter_ == 1
    for value in (crf.primal_objective_, crf.duality_gap_, *crf.coef_.flat):
        assert abs(value) < 1e-14


@native_case
def one_class_of_rows(new):
    rows = np.concatenate(ARRAYS)
    crf = fitted(new, rows, ["A"] * len(rows))
    assert crf.predict(rows).tolist() == ["A"] * len(rows)
    assert (crf.predict_proba(rows) == 1.0).all()


@case
def labels_with_nul(new):
    assert_round_trip(new, ["A\0x", "A\0y"])
    assert_round_trip(new, ["A", "A\0"])


@case
def labels_in_two_normal_forms(new):
    assert_round_trip(new, ["\u00e9", "e\u0301"])


@case
def labels_with_separators(new):
    assert_round_trip(new, ["A\tB", "A\nB", "A:B", "A=B", " "])


# Names of features --------------------------------------------------------------------


def assert_distinct(new, *items):
    """Each item is a distinct feature: each is given its own label."""
    X = [[item] for item in items] * 4
    y = [[f"L{k}"] for k in range(len(items))] * 4
    crf = fitted(new, X, y)
    assert crf.score(X, y) == 1.0
    assert pickle.loads(pickle.dumps(crf)).score(X, y) == 1.0


KEY = "X: sequence 0, item 0: 1 is of type int; names of features .* must be str"
refused("int_keys", [[{1: 1.0}]], [["A"]], TE, KEY)


@case
def empty_feature_name(new):
    assert_distinct(new, {"": 1.0}, {"b": 1.0})
    assert_distinct(new, [""], ["b"])


@case
def feature_names_with_nul(new):
    assert_distinct(new, {"a\0x": 1.0}, {"a\0y": 1.0})
    assert_distinct(new, ["a\0x"], ["a\0y"])


@case
def feature_names_with_separators(new):
    assert_distinct(new, {"a:b": 1.0}, {"a": "b"}, {"a=b": 1.0})


@case
def lone_surrogates(new):
    assert_distinct(new, {"\ud800": 1.0}, {"\ud801": 1.0}, {"a": "\ud800"})
    assert_round_trip(new, ["\ud800", "\ud801"])


@native_case
def a_string_twice(new):
    twice = [[["a", "a"], ["b"]], [["b"], ["a", "a", "c"]]]
    counts = [
        [{"a": 2.0}, {"b": 1.0}],
        [{"b": 1.0}, {"a": 2.0, "c": 1.0}],
    ]
    assert_same_model(new, [twice], counts, LABELS[:2])


@case
def nan_as_a_string(new):
    assert_distinct(new, {"a": "nan"}, {"a": "b"})


@case
def feature_name_of_a_megabyte(new):
    assert_distinct(new, {"a" * 2**20: 1.0}, {"a" * 2**20 + "b": 1.0})


# Parameters and state -----------------------------------------------------------------


def parameter_case(name, parameter, values):
    def attempt(new):
        for value in values:
            crf = new(**{parameter: value})
            assert_refused(InvalidParameterError, parameter, crf.fit, DICTS, LABELS)
            assert not hasattr(crf, "classes_")

    NOT_OF_COMPAT.add(name)
    add_case(name, attempt)


parameter_case("wrong_alpha", "alpha", [-1, 0, float("nan"), float("inf"), "1", True])
parameter_case("wrong_max_iter", "max_iter", [0, -5, 2.7, True])
parameter_case("wrong_tol", "tol", [-1e-3, "small"])
parameter_case("wrong_warm_start", "warm_start", ["yes"])
parameter_case("wrong_n_jobs", "n_jobs", [1.5, True])


@native_case
def a_fit_of_one_epoch(new):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        crf = new(max_iter=1, tol=1e-9, alpha=1e-3).fit(DICTS, LABELS)
    assert [w.category for w in caught] == [ConvergenceWarning]
    assert "increase max_iter, tol or alpha" in str(caught[0].message)
    assert crf.n_iter_ == 1
    assert len(crf.predict(DICTS)) == 3


@case
def unknown_parameter(new):
    assert_refused(
        ValueError, "Invalid parameter 'zzz'", lambda: new().set_params(zzz=1)
    )


@native_case
def use_before_fit(new):
    crf = new()
    for method in (crf.predict, crf.predict_proba):
        assert_refused(NotFittedError, "not fitted yet", method, DICTS)
    assert_refused(NotFittedError, "not fitted yet", crf.score, DICTS, LABELS)


# Arrays -------------------------------------------------------------------------------

refused(
    "sequences_of_other_widths",
    [ARRAYS[0], np.ones((2, 5))],
    LABELS[:2],
    VE,
    "X: sequence 1 has 5 features, but sequence 0 has 4",
    fitted_on="arrays",
)
refused(
    "fewer_features",
    [x[:, :3] for x in ARRAYS],
    LABELS,
    VE,
    "X has 3 features, but .*CRF is expecting 4 features",
    by=["predict", "score"],
    fitted_on="arrays",
)
refused(
    "a_bare_array_after_a_list",
    ARRAYS[0],
    LABELS[0],
    VE,
    r"wrap a single sequence in a list, \[X\]",
    by=["predict", "score"],
    fitted_on="arrays",
)


@native_case
def array_of_three_axes(new):
    X = np.stack([x[:2] for x in ARRAYS])
    assert_same_model(new, [X], list(X), [labels[:2] for labels in LABELS])


@native_case
def an_unseen_feature(new):
    crf = trained(new, "dicts")
    more = [[{**item, "z": 9.0, "w": "new"} for item in x] for x in DICTS]
    for p, q in zip(crf.predict_proba(more), crf.predict_proba(DICTS), strict=True):
        assert p.tobytes() == q.tobytes()
    assert crf.score(more, LABELS) == crf.score(DICTS, LABELS)


def wide_csr(x):
    rows = csr_array(x)
    rows.indices, rows.indptr = (
        a.astype(np.int64) for a in (rows.indices, rows.indptr)
    )
    return rows


def untidy_csr(x):
    """Return x with columns in descending order and each entry stored as two halves."""
    columns = np.arange(x.shape[1])[::-1].repeat(2)
    indptr = np.arange(len(x) + 1) * len(columns)
    data = x[:, columns] / 2
    return csr_array((data.ravel(), np.tile(columns, len(x)), indptr), shape=x.shape)


@native_case
def sparse_forms(new):
    forms = (csr_array, wide_csr, coo_array, untidy_csr)
    assert_same_model(new, [list(map(form, ARRAYS)) for form in forms], ARRAYS)


@native_case
def layouts_of_arrays(new):
    expected = trained(new, "arrays").coef_.tobytes()
    for layout in (np.asfortranarray, frozen, strided):
        X = [layout(x) for x in ARRAYS]
        crf = fitted(new, X, LABELS)
        assert crf.coef_.tobytes() == expected
    packed = PackedSequences.from_sequences(ARRAYS)
    assert fitted(new, packed, LABELS).coef_.tobytes() == expected


def frozen(x):
    x = x.copy()
    x.flags.writeable = False
    return x


def strided(x):
    return np.repeat(np.repeat(x, 2, axis=0), 3, axis=1)[::2, ::3]


# scikit-learn's tools -----------------------------------------------------------------


@native_case
def grid_search(new):
    search = GridSearchCV(new(), {"alpha": [0.1, 1.0]}, cv=3).fit(DICTS, LABELS)
    assert len(search.best_estimator_.predict(DICTS)) == 3
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()


@case
def cross_validated_predictions(new):
    equal = [x[:2] for x in DICTS], [labels[:2] for labels in LABELS]
    for X, y in ((DICTS, LABELS), equal):
        predicted = cross_val_predict(new(), X, y, cv=3)
        assert predicted.shape == (3,)
        assert predicted.dtype == object
        assert [len(p) for p in predicted] == [len(labels) for labels in y]


# Invalid objects of other libraries ---------------------------------------------------


def broken(form, index, *, pointer=False):
    """Return a sparse matrix whose indices point outside its arrays."""
    rows = getattr(scipy.sparse, f"{form}_array")(np.eye(2))
    if form == "coo":
        rows.coords = (np.array([0, index]), np.array([0, 1]))
    elif form == "lil":
        rows.rows[0] = [index]
    elif pointer:
        rows.indptr = np.array([0, index, 2], dtype=rows.indptr.dtype)
    else:
        rows.indices = np.array([0, index], dtype=rows.indices.dtype)
    return rows


@native_case
def invalid_sparse_matrices(new):
    """SciPy itself writes outside its arrays when it converts them."""
    crf = new().fit([np.eye(2)] * 2, [["A", "B"]] * 2)
    table = new().fit(np.eye(2), ["A", "B"])
    for form in ("csr", "csc", "bsr", "coo", "lil"):
        for index in (99, -1, 2**30):
            for pointer in {False, form in ("csr", "csc", "bsr")}:
                rows = broken(form, index, pointer=pointer)
                X, y = [np.eye(2), rows], [["A", "B"]] * 2
                X[0] = csr_array(X[0])
                message = "X: sequence 1 is not a valid sparse matrix"
                assert_refused(ValueError, message, new().fit, X, y)
                assert_refused(ValueError, message, crf.predict, X)
                assert_refused(ValueError, message, crf.score, X, y)
                message = "X is not a valid sparse matrix"
                assert_refused(ValueError, message, new().fit, rows, ["A", "B"])
                assert_refused(ValueError, message, table.predict, rows)
                assert_refused(ValueError, message, PackedSequences, rows, [0, 2])


@native_case
def masked_entries(new):
    """Masked entries are missing values: a fit must not use them."""
    X = [np.ma.array(x, mask=np.arange(x.size).reshape(x.shape) == 3) for x in ARRAYS]
    crf = trained(new, "arrays")
    message = "X: sequence 0 is an array with masked entries; fill them"
    assert_refused(ValueError, message, new().fit, X, LABELS)
    assert_refused(ValueError, message, crf.predict, X)
    assert_refused(ValueError, message, crf.score, X, LABELS)
    y = [
        np.ma.array(labels, mask=[True] + [False] * (len(labels) - 1))
        for labels in LABELS
    ]
    message = "y: sequence 0 is an array with masked entries"
    assert_refused(ValueError, message, new().fit, ARRAYS, y)
    assert_refused(ValueError, message, crf.score, ARRAYS, y)
    assert_refused(ValueError, "X is an array with", new().fit, X[0], LABELS[0])
    value = np.ma.array([1.0, 2.0], mask=[False, True])
    message = "sequence 0, item 0: feature 'v' is an array with masked entries"
    assert_refused(ValueError, message, new().fit, [[{"v": value}]], [["A"]])
    full = [np.ma.array(x) for x in ARRAYS]
    assert new().fit(full, LABELS).coef_.tobytes() == crf.coef_.tobytes()


for name, label in (
    ("a_date", np.datetime64("NaT", "D")),
    ("a_decimal", Decimal("NaN")),
    ("a_signaling_decimal", Decimal("sNaN")),
    ("pandas", pandas.NA),
):
    refused(
        f"missing_label_of_{name}",
        *labelled(label, label),
        VE,
        "y: sequence 0, position 0 .*; a label is needed",
        by=["fit", "score"],
    )
refused(
    "missing_label_after_another",
    *labelled("A", pandas.NA),
    VE,
    "y: sequence 0, position 1 .* NAType; a label is needed",
    by=["fit", "score"],
)
refused(
    "signaling_nan",
    *with_value(Decimal("sNaN")),
    VE,
    f"{PLACE}: cannot convert signaling NaN",
)


@native_case
def wrong_labels_of_a_table(new):
    """The error names the wrong label of a table too."""
    rows = np.concatenate(ARRAYS)
    crf = new().fit(rows, np.concatenate(LABELS))
    for wrong, error, message in (
        (float("nan"), VE, "is of type float nan; a label is needed"),
        (pandas.NA, VE, "is of type NAType; a label is needed"),
        (pandas.NaT, VE, "is of type NaTType; a label is needed"),
        (Decimal("sNaN"), VE, "is of type Decimal .*sNaN.*; a label is needed"),
        (1, TE, "is of type int 1, but the first label"),
        (b"A", TE, "is of type bytes b'A', but the first label"),
        (["A"], TE, "is a list of str, but the first label"),
    ):
        labels = ["A", wrong, "B", "A", "A", "B", "B"]
        array = np.empty(len(labels), dtype=object)
        array[:] = labels
        for y in (labels, array, pandas.Series(array, dtype=object)):
            place = f"y: sequence 1, position 0 {message}"
            assert_refused(error, place, new().fit, rows, y)
            assert_refused(error, place, crf.score, rows, y)
    message = "y: sequence 1, position 0 is of type bool True, but the first label is"
    assert_refused(TE, message, new().fit, rows, [2, True, 2, 2, 2, 2, 2])
    message = "y: sequence 0, position 0 is of type Decimal .*; a label is needed"
    assert_refused(VE, message, new().fit, rows, [Decimal("sNaN")] * len(rows))
    masked = np.ma.array(np.concatenate(LABELS), mask=[True] + [False] * 6)
    assert_refused(VE, "y is an array with masked", new().fit, rows, masked)


@native_case
def labels_of_a_table_and_of_packed_sequences(new):
    """They are not changed, whatever their form."""
    rows, packed = np.eye(4), PackedSequences(np.eye(4), [0, 3, 4])
    boxed = np.empty(4, dtype=object)
    for i, value in enumerate("abab"):
        boxed[i] = np.array(value)
    for y, expected in (
        (["x", "x\0"] * 2, ["x", "x\0"]),
        ([b"x", b"y"] * 2, [b"x", b"y"]),
        ([2**70, 1] * 2, [1, 2**70]),
        ([Decimal(2), Decimal(1)] * 2, [Decimal(1), Decimal(2)]),
        (boxed, ["a", "b"]),
        (pandas.Series(list("abab"), dtype="category"), ["a", "b"]),
        (pandas.Series(list("abab"), dtype="string"), ["a", "b"]),
        (pandas.Series([1, 2] * 2, dtype="Int64"), [1, 2]),
        (pandas.Series([True, False] * 2, dtype="boolean"), [False, True]),
    ):
        crf = new().fit(rows, y)
        assert crf.classes_.tolist() == expected, crf.classes_
        assert list(map(type, crf.classes_.tolist())) == list(map(type, expected))
        assert set(crf.predict(rows).tolist()) == set(expected)
        assert crf.score(rows, y) == 1.0
        array = y
        if isinstance(y, list):
            array = np.empty(4, dtype=object)
            array[:] = y
        crf = new().fit(packed, array)
        assert crf.classes_.tolist() == expected, crf.classes_
        crf.score(packed, array)
    for wrong, error, message in (
        (1, TE, "y: sequence 0, position 1 is of type int 1, but the first label"),
    ):
        y = np.array(["a", wrong, "b", "b"], dtype=object)
        assert_refused(error, message, new().fit, packed, y)
        assert_refused(error, message, crf.score, packed, y)
    message = "X has 4 positions, but y has 3 labels"
    assert_refused(VE, message, new().fit, packed, pandas.Series(list("aba")))


@case
def containers_that_are_refused(new):
    crf = trained(new, "arrays")
    packed = PackedSequences.from_sequences(ARRAYS)
    for X, message in (
        ([packed], "X: sequence 0 is of type PackedSequences; a sequence must be"),
        ([coo_array([1.0, 0.0])], "X: sequence 0 is of type coo_array; a sequence"),
        (pandas.DataFrame({"x": DICTS}), r"X is a data frame with lists .* \['x'\]"),
    ):
        assert_refused(TypeError, message, new().fit, X, LABELS[: len(X)])
        assert_refused(TypeError, message, crf.predict, X)


@native_case
def containers_that_are_accepted(new):
    expected = trained(new, "dicts").coef_.tobytes()
    for X, y in (
        (tuple(map(tuple, DICTS)), tuple(map(tuple, LABELS))),
        (deque(DICTS), deque(LABELS)),
        (pandas.Series(DICTS), pandas.Series(LABELS, index=[7, 8, 9])),
        (DICTS, [np.array(labels, dtype=object) for labels in LABELS]),
        (DICTS, [pandas.Series(labels, dtype="category") for labels in LABELS]),
        ([[OrderedDict(item) for item in x] for x in DICTS], LABELS),
        ([[MappingProxyType(item) for item in x] for x in DICTS], LABELS),
    ):
        assert new().fit(X, y).coef_.tobytes() == expected


@native_case
def types_of_arrays(new):
    """Every data type holds these numbers exactly."""
    expected = trained(new, "arrays").coef_.tobytes()
    for dtype in ("float16", ">f4", ">f8", "longdouble", object):
        X = [x.astype(dtype) for x in ARRAYS]
        assert fitted(new, X, LABELS).coef_.tobytes() == expected
    for data_type in ("int8", ">i4", "uint64", "bool"):
        X = [np.abs(x).astype(data_type) for x in ARRAYS]
        same = [x.astype(np.float64) for x in X]
        found, expected = (new().fit(rows, LABELS).coef_ for rows in (X, same))
        assert found.tobytes() == expected.tobytes()
    beyond = [x.astype("longdouble") * np.longdouble("1e4000") for x in ARRAYS]
    if np.isfinite(beyond[0]).all():
        message = "X contains infinity: sequence 0, position 0, feature 0"
        assert_refused(ValueError, message, new().fit, beyond, LABELS)


@case
def dicts_without_end(new):
    endless, deep = {}, {}
    endless["a"], inner = endless, deep
    for _ in range(30_000):
        inner["a"] = inner = {}
    crf = trained(new, "dicts")
    for item in (endless, deep):
        message = "X: sequence 0, item 1: dicts are nested more than 1000 deep"
        X = [[{"a": 1.0}, item]]
        assert_refused(ValueError, message, new().fit, X, LABELS[:1])
        assert_refused(ValueError, message, crf.predict, X)


@native_case
def parameters_beyond_numbers_of_numpy(new):
    for name in ("alpha", "tol", "max_iter"):
        for value in (10**400, -(10**400), Fraction(1, 3)):
            crf = new(**{name: value})
            assert_refused(InvalidParameterError, name, crf.fit, DICTS, LABELS)
    assert_refused(ValueError, "n_jobs", new(n_jobs=0).fit, DICTS, LABELS)
    message = "take a larger alpha"
    assert_refused(ValueError, message, new(alpha=5e-324).fit, DICTS, LABELS)


@native_case
def sample_weight(new):
    crf = trained(new, "dicts")
    state = pickle.dumps(vars(crf))
    for weight, message in (
        ([1.0, 2.0], "sample_weight has shape .2,., expected .3,.: one"),
        ([[1.0], [1.0], [1.0]], "sample_weight has shape .3, 1., expected .3,."),
        (
            [[1.0, 0.5], [1.0], []],
            "sample_weight: sequence 0 has the weights .1.0, 0.5",
        ),
        (
            np.ones((3, 2)),
            "sequence 0 has .* one weight: .* no part for each item.*None",
        ),
        ([1.0, np.ones(2), 1.0], "sample_weight: sequence 1 has the weights"),
        (object(), "sample_weight must hold numbers"),
        ([1.0, -1.0, 1.0], "Negative values .* sample_weight"),
        ([1.0, np.nan, 1.0], "sample_weight contains NaN"),
        ([1.0, None, 1.0], "sample_weight contains NaN"),
        ([np.inf, 1.0, 1.0], "sample_weight contains infinity"),
        ([0.0, 0.0, 0.0], "sample_weight is zero everywhere; one"),
        ([1e308, 1e308, 1e308], "sample_weight sums to inf: scale the weights"),
        ([1e-310] * 3, "scale the weights"),
        ("abc", "sample_weight must hold numbers"),
        (["a", "b", "c"], "sample_weight must hold numbers"),
        ([1j, 1.0, 1.0], "sample_weight has dtype complex"),
        ({0: 1.0}, "sample_weight must hold numbers"),
        (np.ma.array([1.0] * 3, mask=[True, False, False]), "sample_weight .* masked"),
    ):
        for method in (new().fit, crf.fit, crf.score):
            call = partial(method, sample_weight=weight)
            call.__name__ = f"{method.__name__} of {weight}"
            assert_refused((ValueError, TypeError), message, call, DICTS, LABELS)
    assert pickle.dumps(vars(crf)) == state, "the estimator has changed"
    expected = new().fit(DICTS, LABELS, sample_weight=[1, 2, 3]).coef_.tobytes()
    for form in (np.array([1, 2, 3], ">f4"), pandas.Series([1.0, 2.0, 3.0], [5, 6, 7])):
        assert new().fit(DICTS, LABELS, form).coef_.tobytes() == expected
    assert new().fit(DICTS, LABELS, 2.0).score(DICTS, LABELS, 2.0) == 1.0


NAN, ONE = float("nan"), DICTS[:1]
# Error, message, method, and its arguments, those by name last.
WRONG_ARGUMENTS = (
    (VE, "decoding must be one of", "predict", ONE, {"decoding": []}),
    (VE, "decoding must be one of", "predict", ONE, {"decoding": NAN}),
    (
        VE,
        "known: sequence 0, position 0 .* nan",
        "predict",
        ONE,
        {"known": [[NAN, None]]},
    ),
    (VE, "known: .* float inf", "predict", ONE, {"known": [[None, float("inf")]]}),
    (VE, "known: .* a list of str", "predict", ONE, {"known": [[["A"], None]]}),
    (VE, "known: .* NAType", "predict", ONE, {"known": [[pandas.NA, "A"]]}),
    (VE, "known: .* bytes b'A'", "predict", ONE, {"known": [[b"A", None]]}),
    (TE, "known: sequence 0 is .* 'AB'", "predict", ONE, {"known": ["AB"]}),
    (VE, "1 sequences, but known has 0", "predict", ONE, {"known": []}),
    (VE, "2 items in X, but 1 labels in known", "predict", ONE, {"known": [["A"]]}),
    (VE, "n must be an integer", "predict_n_best", ONE, {"n": 0}),
    (VE, "n must be an integer", "predict_n_best", ONE, {"n": True}),
    (VE, "n must be an integer", "predict_n_best", ONE, {"n": NAN}),
    (VE, "n_draws must be an integer", "sample", ONE, {"n_draws": 1.5}),
    (MemoryError, "n_draws", "sample", ONE, {"n_draws": 10**30}),
    (VE, "seed a numpy.random.RandomState", "sample", ONE, {"random_state": NAN}),
    (TE, "spans must be a list", "span_proba", ONE, {"spans": None}),
    (
        TE,
        "spans: sequence 0, span 0",
        "span_proba",
        ONE,
        {"spans": [[(NAN, 1, ["A"])]]},
    ),
    (VE, "spans: .* 0 to 5", "span_proba", ONE, {"spans": [[(0, 5, ["A"] * 5)]]}),
    (VE, "Label 'A' is not of the scheme 'BIO'", "predict_spans", ONE, {}),
    (
        VE,
        "Label 'A' is not of .* 'BIO'",
        "span_proba",
        ONE,
        {"spans": [[(0, 1, "A")]]},
    ),
    (VE, "scheme must be one of", "predict_spans", ONE, {"scheme": NAN}),
    (TE, "position must be an integer", "explain", ONE[0], {"position": "0"}),
    (TE, "position must be an integer", "explain", ONE[0], {"position": NAN}),
    (IndexError, "position: 9 is not in", "explain", ONE[0], {"position": 9}),
    (TE, "labels must be a list of labels", "explain", ONE[0], 0, {"labels": "A"}),
    (VE, "labels: .* among the labels", "explain", ONE[0], 0, {"labels": [[]]}),
    (VE, "reference: .* among the", "explain", ONE[0], 0, {"reference": []}),
    (TE, "path: sequence 0 is", "explain", ONE[0], 0, {"path": "AB"}),
    (VE, "path: sequence 0, position 0", "explain", ONE[0], 0, {"path": [None] * 2}),
    (TE, "feature_names must be", "explain", ONE[0], 0, {"feature_names": 5}),
    (VE, "n == 0", "top_features", {"n": 0}),
    (TE, "n must be an instance", "top_features", {"n": NAN}),
    (VE, "threshold", "prune", {"threshold": NAN}),
    (TE, "threshold", "prune", {"threshold": "1"}),
    (TE, "transitions must be the name", "constrain", {"transitions": 5}),
    (VE, "transitions holds", "constrain", {"transitions": [([], "A")]}),
    (VE, "scheme must be one of", "constrain", {"transitions": "Bio"}),
)


@native_case
def wrong_arguments_of_predictions(new):
    crf = trained(new, "dicts")
    state = pickle.dumps(vars(crf))
    for error, message, method, *arguments, named in WRONG_ARGUMENTS:
        assert_refused(error, message, getattr(crf, method), *arguments, **named)
        assert pickle.dumps(vars(crf)) == state, f"{method} has changed the estimator"


@native_case
def invalid_sparse_coefficients(new):
    """Users can assign them: no method reads outside their arrays."""
    for name, place, value in (
        ("indices", 0, 99),
        ("indices", 0, -1),
        ("indices", 0, 2**30),
        ("indptr", 1, 99),
        ("indptr", 1, -(2**30)),
    ):
        crf = trained(new, "dicts").sparsify()
        getattr(crf.coef_, name)[place] = value
        for method, *arguments in (
            ("predict", DICTS),
            ("predict_proba", DICTS),
            ("score", DICTS, LABELS),
            ("explain", DICTS[0], 0),
            ("state_features",),
            ("top_features",),
            ("densify",),
            ("sparsify",),
            ("prune",),
        ):
            message = "coef_ is not a valid sparse matrix"
            assert_refused(ValueError, message, getattr(crf, method), *arguments)


@cache
def maker(name):
    """Return a maker of an estimator with enough epochs for all fits to converge."""
    if name == "compat.CRF":
        return compat.CRF
    return partial(seeded, getattr(skcrf_sdca, name), max_iter=3000)
