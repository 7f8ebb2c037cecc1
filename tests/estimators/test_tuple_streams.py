"""Streams of models with label tuples and edge features: `partial_fit`."""

import copy
import io
import pickle

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal

from pairs import by_pairs
from samples import as_strings
from skcrf_sdca import SGDCRF, PassiveAggressiveCRF
from skcrf_sdca.datasets import make_chains
from skcrf_sdca.persistence import load_model, save_model
from skcrf_sdca.structures.form import dense_coef
from streams import FORMS, bad_chunks, learnt

MODELS = {
    "order 2": {"order": 2},
    "order 3": {"order": 3},
    "edges": {"edge_features": "all"},
    "an edge feature, order 2": {"order": 2, "edge_features": [1, 4]},
    "forbidden": {
        "order": 2,
        "edge_features": "all",
        "transitions": [(0, 1), (1, 2), (2, 0)],
    },
}
# Methods with their steps: one epoch of a fit has the same as a stream.
METHODS = {
    "hinge": (PassiveAggressiveCRF, {"loss": "hinge"}),
    "log loss": (PassiveAggressiveCRF, {"average": False}),
    "perceptron": (PassiveAggressiveCRF, {"loss": "perceptron", "average": "uniform"}),
    "sgd": (SGDCRF, {"method": "sgd"}),
    "asgd": (SGDCRF, {"method": "asgd"}),
    # Their averages depend on where a stream is cut.
    "adagrad": (SGDCRF, {"method": "adagrad", "average": False}),
    "smd": (SGDCRF, {"method": "smd", "average": False}),
    "pegasos": (SGDCRF, {"method": "pegasos", "average": False}),
}
LABELS = [0, 1, 2]
every_model = pytest.mark.parametrize("options", MODELS.values(), ids=MODELS)
every_method = pytest.mark.parametrize("method", METHODS)
MORE = "higher_transitions_", "edge_coef_"


@pytest.fixture(scope="module")
def stream():
    X, y = make_chains(n_sequences=24, n_labels=3, n_features=6, random_state=1)
    return X, y


def learner(method, options, **others):
    estimator, own = METHODS[method]
    if estimator is SGDCRF:
        eta0 = {} if method == "pegasos" else {"eta0": 0.1}
        own = {**own, "alpha": 0.05, **eta0}
    return estimator(**own, **options, **others)


def suited(options, y):
    """Return labels whose transitions the options allow."""
    if "transitions" not in options:
        return y
    return [[(labels[0] + t) % 3 for t in range(len(labels))] for labels in y]


def assert_same_model(one, other, **tolerance):
    compare = assert_array_equal if not tolerance else assert_allclose
    assert_array_equal(one.classes_, other.classes_)
    compare(*(dense_coef(crf.coef_) for crf in (one, other)), **tolerance)
    for name in ("intercept_", "start_", "end_", "transition_"):
        compare(getattr(one, name), getattr(other, name), **tolerance)
    for pair in zip(one.higher_transitions_, other.higher_transitions_, strict=True):
        compare(*pair, **tolerance)
    assert (one.edge_coef_ is None) == (other.edge_coef_ is None)
    if one.edge_coef_ is not None:
        edges = (crf.edge_coef_.toarray() for crf in (one, other))
        compare(*edges, **tolerance)


@every_model
@every_method
def test_chunks_give_the_weights_of_one_pass(stream, method, options):
    X, y = stream
    y = suited(options, y)
    # One chunk of everything is one pass; its own fit is compared below.
    whole = learner(method, options).partial_fit(X, y, LABELS)
    crf = learnt(learner(method, options), X, y, classes=LABELS)
    assert_same_model(crf, whole, rtol=1e-9, atol=1e-12)
    assert crf.n_visits_ == len(X)
    assert crf.predict(X).tolist() == whole.predict(X).tolist()
    assert crf.intercept_.any()


@by_pairs(
    {
        "options": MODELS.values(),
        "form": FORMS,
        "method": ["hinge", "log loss", "perceptron"],
    }
)
def test_chunks_give_the_weights_of_one_epoch_of_fit(stream, form, method, options):
    X, y = stream
    if form in ("dicts", "strings") and isinstance(options.get("edge_features"), list):
        options = {**options, "edge_features": ["f1", "f4"]}
    y = suited(options, y)
    whole = learner(method, options, shuffle=False, max_iter=1).fit(FORMS[form](X), y)
    crf = learnt(learner(method, options), FORMS[form](X), y, classes=whole.classes_)
    assert_same_model(crf, whole)
    assert crf.n_visits_ == whole.n_visits_ == len(X)


@every_method
def test_new_features_and_edge_features_grow_the_model(stream, method):
    X, y = stream
    # The last columns are new in the third chunk.
    narrow = [x[:, :4] for x in X[:14]] + X[14:]
    padded = [np.column_stack([x[:, :4], 0.0 * x[:, 4:]]) for x in X[:14]] + X[14:]
    options = {"order": 2, "edge_features": [1, 5]}
    whole = learner(method, options).partial_fit(padded, y, LABELS)
    crf = learnt(learner(method, options), narrow, y, classes=LABELS)
    assert_same_model(crf, whole, rtol=1e-9, atol=1e-12)
    assert crf.edge_coef_.shape == (9, 6)
    assert crf.edge_coef_[:, [5]].toarray().any()


@every_model
def test_strings_come_as_they_come(options):
    X, y = make_chains(n_sequences=24, n_labels=3, n_features=6, random_state=2)
    X = as_strings(X)
    if isinstance(options.get("edge_features"), list):
        options = {**options, "edge_features": ["f0", "f5"]}
    y = suited(options, y)
    whole = PassiveAggressiveCRF(shuffle=False, max_iter=1, **options).fit(X, y)
    crf = learnt(PassiveAggressiveCRF(**options), X, y, size=1, classes=LABELS)
    assert_same_model(crf, whole)


def blocks(weights):
    """Yield the blocks of Weights, those of features one by one: axes are labels."""
    for block in weights.form.blocks:
        array, n_axes = weights[block.name], len(block.axes) - 1
        if not block.is_matrix:
            yield array
            continue
        n_labels = len(weights["intercept"])
        yield from dense_coef(array).T.reshape(-1, *n_axes * (n_labels,))


@pytest.mark.parametrize("method", [name for name in METHODS if name != "pegasos"])
@pytest.mark.parametrize("options", [MODELS["order 3"], MODELS["edges"]])
def test_an_announced_label_leaves_the_other_weights_as_they_are(
    stream, method, options
):
    X, y = stream
    # With so small an alpha the penalty of a visit without a loss is lost in rounding.
    small = {"alpha": 1e-12} if METHODS[method][0] is SGDCRF else {}
    one, other = (
        learner(method, options).set_params(**small).partial_fit(X[:12], y[:12], LABELS)
        for _ in range(2)
    )
    # A chunk that changes nothing, with new labels on both sides of the known ones.
    other.partial_fit([np.zeros((0, 6)), X[0][:1]], [[], y[0][:1]], [9, -1], [1.0, 0.0])
    assert other.classes_.tolist() == [-1, 0, 1, 2, 9]
    for name in ("w", "squares"):
        if name not in one._warm_state:
            continue
        before, after = (
            crf._parameters(crf._warm_state[name]).label_weights()
            for crf in (one, other)
        )
        for old, new in zip(blocks(before), blocks(after), strict=True):
            block = new[old.ndim * (slice(1, 4),)]
            assert_allclose(block, old, rtol=1e-7, atol=1e-12)
            assert np.count_nonzero(new) == np.count_nonzero(block)


def test_a_new_label_is_learnt_with_its_tuples():
    crf = PassiveAggressiveCRF(order=2, edge_features=["b", "c"])
    crf.partial_fit([[["a"], ["b"], ["a"]]], [["N", "V", "N"]])
    for _ in range(20):
        crf.partial_fit(
            [[["c"], ["a"], ["b"]], [["a"], ["b"], ["c"]]],
            [["A", "N", "V"], ["N", "V", "A"]],
            ["A"],
        )
    assert crf.classes_.tolist() == ["A", "N", "V"]
    assert crf.higher_transitions_[0].shape == (3, 3, 3)
    assert crf.higher_transitions_[0][1, 2, 0] > 0.0
    assert crf.predict([[["a"], ["b"], ["c"]]])[0] == ["N", "V", "A"]
    names = crf.vectorizer_.get_feature_names_out().tolist()
    assert np.unique(crf.edge_coef_.indices).tolist() == [
        names.index("b"),
        names.index("c"),
    ]


def test_a_pattern_may_match_nothing_yet():
    crf = PassiveAggressiveCRF(edge_features=["w=*"])
    crf.partial_fit([[["a"], ["b"]]], [["N", "V"]])
    assert crf.edge_coef_.nnz == 0
    crf.partial_fit([[["w=x"], ["w=y"]]], [["V", "N"]])
    assert crf.edge_coef_[:, [2, 3]].toarray().any()
    with pytest.raises(ValueError, match="edge_features has -1"):
        PassiveAggressiveCRF(edge_features=[-1]).partial_fit([np.eye(2)], [[0, 1]])


@every_model
@every_method
def test_pickles_and_files_go_on_with_the_same_bits(stream, method, options):
    X, y = stream
    y = suited(options, y)
    straight = learnt(learner(method, options), X, y, classes=LABELS)
    crf = learnt(learner(method, options), X[:14], y[:14], classes=LABELS)
    pickled = pickle.loads(pickle.dumps(crf))
    # A look at the answers changes nothing.
    crf.predict(X)
    save_model(crf, file := io.BytesIO())
    for other in (pickled, load_model(file.getvalue())):
        assert_same_model(other, crf)
        assert_same_model(learnt(other, X[14:], y[14:]), straight)


@every_model
def test_weights_are_made_when_somebody_looks(stream, options):
    X, y = stream
    crf = PassiveAggressiveCRF(**options).partial_fit(X, suited(options, y))
    assert not {"coef_", *MORE} & vars(crf).keys()
    assert len(crf.higher_transitions_) == options.get("order", 1) - 1
    assert "coef_" in vars(crf)
    first = crf.coef_
    assert crf.edge_coef_ is crf.edge_coef_
    assert crf.coef_ is first


def test_a_model_of_order_1_has_no_tuples(stream):
    X, y = stream
    crf = PassiveAggressiveCRF().partial_fit(X, y)
    assert crf.higher_transitions_ == ()
    assert crf.edge_coef_ is None
    first = crf.coef_
    crf.coef_ = 0.5 * first
    assert crf.edge_coef_ is None
    assert_array_equal(crf.coef_, 0.5 * first)
    assert PassiveAggressiveCRF.higher_transitions_ == ()


CHANGES = {
    "pruned": lambda crf: crf.prune(0.1),
    "sparse": lambda crf: crf.sparsify(),
    "assigned": lambda crf: setattr(crf, "edge_coef_", 0.5 * crf.edge_coef_),
}
# So small a step changes nothing.
NO_STEP = [1e-200]


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
@pytest.mark.parametrize("form", ["arrays", "strings"])
def test_a_stream_goes_on_from_weights_that_were_changed(stream, change, form):
    X, y = stream
    X = FORMS[form](X)
    crf = learnt(PassiveAggressiveCRF(order=2, edge_features="all"), X, y, 24)
    change(crf)
    changed = copy.deepcopy(crf)
    for model in (pickle.loads(pickle.dumps(crf)), crf):
        assert_same_model(model, changed)
        model.partial_fit(X[:1], y[:1], sample_weight=NO_STEP)
        if form == "strings":
            known = changed.n_features_in_
            model.coef_ = model.coef_[:, :known]
            model.edge_coef_ = model.edge_coef_[:, :known]
        assert_same_model(model, changed, atol=1e-100)
        assert model.n_visits_ == 1


@pytest.mark.parametrize("features", ["all", "observed"])
def test_a_stream_goes_on_from_a_fit(stream, features):
    X, y = stream
    crf = PassiveAggressiveCRF(
        order=2, edge_features=[1], features=features, random_state=0
    ).fit(X, y)
    fitted = copy.deepcopy(crf)
    crf.set_params(features="all").partial_fit(X[:1], y[:1], sample_weight=NO_STEP)
    assert_same_model(crf, fitted, atol=1e-100)


@pytest.mark.parametrize("warm_start", [False, True])
def test_a_stream_may_allow_more_than_the_fit_before_it(stream, warm_start):
    X, y = stream[0], [sorted(labels) for labels in stream[1]]
    options = {"order": 2, "edge_features": [1], "random_state": 0, "average": False}
    crf = PassiveAggressiveCRF(
        transitions=np.triu(np.ones((3, 3), dtype=bool), -1),
        warm_start=warm_start,
        **options,
    ).fit(X[:9], y[:9])
    fitted = copy.deepcopy(crf)
    forbidden = fitted.transition_ == -np.inf
    assert forbidden.sum() == 1
    assert fitted.transition_[0, 1] > 0.0
    crf.set_params(transitions=None).partial_fit(X[:1], y[:1], LABELS, NO_STEP)
    known = np.searchsorted(crf.classes_, fitted.classes_)
    block = np.ix_(known, known)
    assert_allclose(
        crf.transition_[block][~forbidden], fitted.transition_[~forbidden], atol=1e-100
    )
    assert np.abs(crf.transition_[block][forbidden]).max() < 1e-100
    triples = np.ix_(known, known, known)
    assert_allclose(
        crf.higher_transitions_[0][triples], fitted.higher_transitions_[0], atol=1e-100
    )
    assert crf.predict_edge_proba(X)[0].min() > 0.0


def test_a_warm_start_and_a_stream_share_the_average(stream):
    X, y = stream
    options = {"order": 2, "edge_features": [1], "shuffle": False}
    twice = PassiveAggressiveCRF(max_iter=2, **options).fit(X, y)
    again = PassiveAggressiveCRF(max_iter=1, warm_start=True, **options).fit(X, y)
    once_more = copy.deepcopy(again).fit(X, y)
    assert_same_model(once_more, twice)
    streamed = learnt(again, X, y)
    assert_same_model(streamed, twice)
    assert streamed.n_visits_ == 2 * len(X)


@pytest.mark.parametrize("bad", ["nan", "label", "huge", "columns", "weights"])
@pytest.mark.parametrize("method", ["hinge", "asgd"])
def test_a_bad_chunk_leaves_the_model_as_it_was(stream, method, bad):
    X, y = stream
    options = {"order": 2, "edge_features": "all"}
    crf = learnt(learner(method, options), X[:12], y[:12], classes=LABELS)
    untouched = copy.deepcopy(crf)
    cases = {name: case for name, *case in bad_chunks(X[12:17], y[12:17])}
    arguments, error, message = cases[bad]
    with pytest.raises(error, match=message):
        crf.partial_fit(*arguments)
    assert_same_model(crf, untouched)
    assert_same_model(learnt(crf, X[12:], y[12:]), learnt(untouched, X[12:], y[12:]))


@pytest.mark.parametrize("method", ["hinge", "asgd"])
def test_a_chunk_that_overflows_in_the_middle_leaves_sparse_rows_as_they_were(
    stream, method
):
    X, y = stream
    X = [sp.csr_array(np.where(x > 0.5, x, 0.0)) for x in X]
    crf = learner(method, {"order": 2, "edge_features": "all"})
    crf.partial_fit(X[:12], y[:12], LABELS)
    untouched = copy.deepcopy(crf)
    with pytest.raises(ValueError, match="not finite"):
        crf.partial_fit([*X[12:15], 1e200 * X[15]], y[12:16])
    assert_same_model(crf, untouched)
    assert_same_model(learnt(crf, X[12:], y[12:]), learnt(untouched, X[12:], y[12:]))


def test_another_order_is_an_error_that_says_what_to_do(stream):
    X, y = stream
    for own, other in (
        ({"order": 2}, {"order": 1}),
        ({}, {"order": 2}),
        ({"edge_features": "all"}, {"edge_features": None}),
        ({}, {"edge_features": "all"}),
    ):
        for crf in (
            PassiveAggressiveCRF(**own).partial_fit(X, y),
            PassiveAggressiveCRF(random_state=0, **own).fit(X, y),
        ):
            with pytest.raises(ValueError, match=f"order={own.get('order', 1)} with"):
                crf.set_params(**other).partial_fit(X, y)
            crf.set_params(**{"order": 1, "edge_features": None, **own})
            assert crf.partial_fit(X, y).predict(X[:1])


def test_edge_features_of_a_stream_are_never_dropped(stream):
    X, y = stream
    crf = PassiveAggressiveCRF(edge_features=[1]).partial_fit(X, y)
    crf.set_params(edge_features=[2]).partial_fit(X, y)
    assert np.unique(crf.edge_coef_.indices).tolist() == [1, 2]


def test_a_tagging_scheme_holds_in_a_stream_of_order_2():
    X, y = [[["Ada"], ["Lovelace"]], [["wrote"]]], [["B-PER", "I-PER"], ["O"]]
    crf = PassiveAggressiveCRF(transitions="BIO", order=2, edge_features="all")
    crf.partial_fit(X, y)
    crf.partial_fit([[["Rome"]]], [["B-LOC"]], ["B-LOC", "I-LOC"])
    i, o = (list(crf.classes_).index(label) for label in ("I-LOC", "O"))
    assert crf.transition_[o, i] == -np.inf
    for _ in range(5):
        crf.partial_fit(X, y)
    assert crf.predict(X).tolist() == y
    with pytest.raises(ValueError, match="I-LOC"):
        crf.partial_fit([[["Rome"]]], [["I-LOC"]])
