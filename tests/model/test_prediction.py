"""Predictions against enumeration, for every input format."""

import pickle
import warnings
from functools import cache

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.sparse import csr_array
from sklearn.exceptions import NotFittedError
from sklearn.metrics import log_loss
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline

import reference
from samples import as_dicts, params_of
from skcrf_sdca import LBFGSCRF, SDCACRF, PackedSequences, SequenceVectorizer
from skcrf_sdca.datasets import make_chains
from skcrf_sdca.metrics import extract_spans
from skcrf_sdca.structures.chain import oracle
from skcrf_sdca.text import repair_labels, spans_to_labels

ARRAYS, LABELS = make_chains(
    20, n_labels=3, n_features=4, length=(1, 4), random_state=0
)
LONG = next(i for i, x in enumerate(ARRAYS) if len(x) == 4)
NAMES = ["B-X", "I-X", "O"]
Y = [[NAMES[k] for k in labels] for labels in LABELS]
KINDS = {
    "arrays": ARRAYS,
    "csr": [csr_array(x) for x in ARRAYS],
    "dicts": as_dicts(ARRAYS),
    "packed": PackedSequences.from_sequences(ARRAYS),
}
ROWS = np.concatenate(ARRAYS)
ROW_LABELS = np.concatenate(Y)


@pytest.fixture(scope="module")
def crf():
    return LBFGSCRF(alpha=0.1).fit(ARRAYS, Y)


@pytest.fixture(scope="module")
def table():
    """An estimator fitted on a table: chains of one node."""
    return LBFGSCRF(alpha=0.1).fit(ROWS, ROW_LABELS)


def scores_of(crf, x):
    return reference.node_scores(x, params_of(crf)), crf.transition_


def forbidding(crf):
    """Return a copy that never goes from O to I-X, nor begins with I-X."""
    other = pickle.loads(pickle.dumps(crf))
    other.transition_[2, 1] = other.start_[1] = -np.inf
    return other


def codes_of(labels):
    return [NAMES.index(label) for label in labels]


# Every prediction method as a function of estimator, X and y.
METHODS = {
    "predict": lambda crf, X, y: crf.predict(X),
    "posterior": lambda crf, X, y: crf.predict(X, decoding="posterior"),
    "known": lambda crf, X, y: crf.predict(X, known=y),
    "n_best": lambda crf, X, y: crf.predict_n_best(X, 3),
    "sample": lambda crf, X, y: crf.sample(X, 4, random_state=0),
    "proba": lambda crf, X, y: crf.predict_proba(X),
    "log_proba": lambda crf, X, y: crf.predict_log_proba(X),
    "edge_proba": lambda crf, X, y: crf.predict_edge_proba(X),
    "log_partition": lambda crf, X, y: crf.log_partition(X),
    "log_likelihood": lambda crf, X, y: crf.log_likelihood(X, y),
    "predict_spans": lambda crf, X, y: crf.predict_spans(X),
    "span_proba": lambda crf, X, y: crf.span_proba(X, [[(0, 1, y[0][:1])]] * len(X)),
}


def as_plain(values):
    if isinstance(values, np.ndarray):
        return [as_plain(value) for value in values.tolist()]
    return values


def assert_same(found, expected):
    assert found.shape == expected.shape
    assert found.dtype == expected.dtype
    for a, b in zip(found.flat, expected.flat, strict=True):
        if isinstance(a, np.ndarray | float):
            assert_allclose(a, b, rtol=1e-6, atol=1e-6)
        else:
            plain = [
                [v if isinstance(v, str) else v[0] for v in values] for values in (a, b)
            ]
            assert plain[0] == plain[1]


@cache
def fitted_on(kind):
    return LBFGSCRF(alpha=0.1, tol=1e-14).fit(KINDS[kind], Y)


@pytest.mark.parametrize("method", sorted(METHODS))
@pytest.mark.parametrize("kind", sorted(set(KINDS) - {"arrays"}))
def test_every_kind_of_input_gives_the_same_answers(kind, method):
    expected = METHODS[method](fitted_on("arrays"), KINDS["arrays"], Y)
    assert_same(METHODS[method](fitted_on(kind), KINDS[kind], Y), expected)


@pytest.mark.usefixtures("many_ranges")
@pytest.mark.parametrize("method", sorted(METHODS))
def test_threads_change_no_bit(crf, method):
    serial = METHODS[method](crf, ARRAYS, Y)
    threaded = pickle.loads(pickle.dumps(crf)).set_params(n_jobs=2)
    assert as_plain(METHODS[method](threaded, ARRAYS, Y)) == as_plain(serial)


@pytest.mark.parametrize("method", sorted(METHODS))
def test_generators_are_read_once(crf, method):
    if method == "span_proba":
        found = crf.span_proba(iter(ARRAYS), ([(0, 1, y[:1])] for y in Y))
        expected = crf.span_proba(ARRAYS, [[(0, 1, y[:1])] for y in Y])
    else:
        expected = METHODS[method](crf, ARRAYS, Y)
        found = METHODS[method](crf, iter(ARRAYS), iter(Y))
    assert as_plain(found) == as_plain(expected)


@pytest.mark.parametrize("method", sorted(set(METHODS) - {"span_proba"}))
def test_no_sequences(crf, method):
    found = METHODS[method](crf, [], [])
    some = METHODS[method](crf, ARRAYS, Y)
    assert found.dtype == some.dtype
    assert found.shape == ((4, 0) if method == "sample" else (0,))


def test_empty_sequences(crf):
    X = [np.empty((0, 4))]
    empty = [METHODS[m](crf, X, [[]]) for m in ("predict", "posterior", "known")]
    assert [as_plain(y) for y in empty] == [[[]]] * 3
    assert as_plain(crf.predict_n_best(X, 3)) == [[([], 1.0)]]
    assert as_plain(crf.sample(X, 2)) == [[[]], [[]]]
    assert crf.predict_log_proba(X)[0].shape == (0, 3)
    assert crf.predict_edge_proba(X)[0].shape == (0, 3, 3)
    assert crf.log_partition(X).tolist() == crf.log_likelihood(X, [[]]).tolist() == [0]
    assert crf.span_proba(X, [[]])[0].shape == (0,)


@pytest.mark.parametrize("method", sorted(METHODS))
def test_use_before_fit(method):
    with pytest.raises(NotFittedError):
        METHODS[method](SDCACRF(), ARRAYS, Y)


def test_one_label(crf):
    one = LBFGSCRF().fit(ARRAYS[:5], [["A"] * len(x) for x in ARRAYS[:5]])
    ((paths, probability),) = one.predict_n_best(ARRAYS[:1], 5)[0]
    assert paths == ["A"] * len(ARRAYS[0])
    assert probability == 1.0
    assert one.sample(ARRAYS[:1])[0, 0] == paths
    assert one.log_likelihood(ARRAYS[:1], [paths]).tolist() == [0.0]


# Probabilities ------------------------------------------------------------------------


@pytest.mark.parametrize("change", [lambda crf: crf, forbidding])
def test_probabilities_are_those_of_enumeration(crf, change):
    crf = change(crf)
    edges, nodes = crf.predict_edge_proba(ARRAYS), crf.predict_proba(ARRAYS)
    log_z = crf.log_partition(ARRAYS)
    for i, x in enumerate(ARRAYS):
        chain = scores_of(crf, x)
        assert_allclose(log_z[i], reference.log_partition(*chain), rtol=1e-12)
        assert_allclose(edges[i], reference.edge_marginals(*chain), atol=1e-12)
        assert_allclose(edges[i].sum(axis=2), nodes[i][:-1], atol=1e-12)
        assert_allclose(edges[i].sum(axis=1), nodes[i][1:], atol=1e-12)


@pytest.mark.parametrize("change", [lambda crf: crf, forbidding])
def test_log_probabilities_are_those_of_enumeration(crf, change):
    crf = change(crf)
    for x, log_proba in zip(ARRAYS, crf.predict_log_proba(ARRAYS), strict=True):
        expected = reference.log_node_marginals(*scores_of(crf, x))
        assert_allclose(log_proba, expected, rtol=1e-10)


@pytest.mark.parametrize("scale", [50.0, 500.0, 1e5])
def test_log_probabilities_are_finite_where_probabilities_are_zero(crf, scale):
    X = [scale * x for x in ARRAYS]
    zeros = 0
    for log_proba, proba in zip(
        crf.predict_log_proba(X), crf.predict_proba(X), strict=True
    ):
        assert np.isfinite(log_proba).all()
        assert_allclose(np.exp(log_proba), proba, rtol=1e-8)
        zeros += (proba == 0.0).sum()
    assert (zeros > 0) == (scale > 50.0)


def test_log_probabilities_of_a_table_and_through_scikit_learn(table, crf):
    expected = np.log(table.predict_proba(ROWS))
    assert_allclose(table.predict_log_proba(ROWS), expected, rtol=1e-10)
    X = KINDS["dicts"]
    pipeline = make_pipeline(SequenceVectorizer(), LBFGSCRF(alpha=0.1)).fit(X, Y)
    search = GridSearchCV(LBFGSCRF(), {"alpha": [0.1]}, cv=2).fit(ARRAYS, Y)
    expected = LBFGSCRF(alpha=0.1).fit(X, Y).predict_log_proba(X)
    assert_same(pipeline.predict_log_proba(X), expected)
    expected = crf.predict_log_proba(ARRAYS)
    assert_same(search.predict_log_proba(ARRAYS), expected)


@pytest.mark.parametrize("change", [lambda crf: crf, forbidding])
def test_log_likelihood_is_that_of_enumeration(crf, change):
    crf = change(crf)
    values = crf.log_likelihood(ARRAYS, Y)
    for value, x, labels in zip(values, ARRAYS, Y, strict=True):
        expected = reference.log_path_probabilities(*scores_of(crf, x))
        row = 3 ** np.arange(len(x))[::-1] @ codes_of(labels)
        assert_allclose(value, expected[row], rtol=1e-10)


def test_log_likelihood_is_what_fit_minimises(crf):
    weights = (crf.coef_, crf.intercept_, crf.start_, crf.end_, crf.transition_)
    penalty = 0.1 / 2 * sum((w**2).sum() for w in weights)
    loss = -crf.log_likelihood(ARRAYS, Y).mean()
    assert_allclose(loss + penalty, crf.primal_objective_, rtol=1e-12)


def test_log_likelihood_of_unseen_labels(crf):
    y = [["Z", *labels[1:]] if i == 3 else labels for i, labels in enumerate(Y)]
    values = crf.log_likelihood(ARRAYS, y)
    assert np.flatnonzero(values == -np.inf).tolist() == [3]
    others = np.delete(values, 3)
    assert_allclose(others, np.delete(crf.log_likelihood(ARRAYS, Y), 3), rtol=0)


def test_log_likelihood_of_wrong_lengths(crf):
    with pytest.raises(ValueError, match="Sequence 0 has"):
        crf.log_likelihood(ARRAYS, [Y[0] + ["O"], *Y[1:]])
    with pytest.raises(TypeError, match="labels of type int"):
        crf.log_likelihood(ARRAYS, LABELS)


# Decoding -----------------------------------------------------------------------------


def test_posterior_takes_the_most_probable_labels(crf):
    for labels, node in zip(
        crf.predict(ARRAYS, decoding="posterior"),
        crf.predict_proba(ARRAYS),
        strict=True,
    ):
        assert codes_of(labels) == node.argmax(axis=1).tolist()


@pytest.mark.parametrize("decoding", ["viterbi", "posterior"])
def test_nothing_known_changes_nothing(crf, decoding):
    free = [[None] * len(x) for x in ARRAYS]
    found = crf.predict(ARRAYS, decoding=decoding, known=free)
    assert as_plain(found) == as_plain(crf.predict(ARRAYS, decoding=decoding))


@pytest.mark.parametrize("decoding", ["viterbi", "posterior"])
@pytest.mark.parametrize("change", [lambda crf: crf, forbidding])
def test_known_labels_are_kept_and_condition_the_others(crf, decoding, change):
    crf = change(crf)
    rng = np.random.default_rng(0)
    X = [x for x in ARRAYS if len(x) > 1]
    known = [["B-X" if rng.random() < 0.5 else None for _ in x] for x in X]
    found = crf.predict(X, decoding=decoding, known=known)
    for x, labels, kept in zip(X, found, known, strict=True):
        chain = scores_of(crf, x)
        paths = reference.all_paths(len(x), 3)
        fixed = [t for t, label in enumerate(kept) if label]
        agrees = (paths[:, fixed] == 0).all(axis=1)
        p = np.where(agrees, reference.path_probabilities(*chain), 0.0)
        expected = paths[p.argmax()]
        if decoding == "posterior":
            expected = reference.marginals_of(p, len(x), 3)[0].argmax(axis=1)
        assert codes_of(labels) == expected.tolist()


def test_known_labels_in_other_forms(crf):
    X, known = ARRAYS[:3], [[None] * len(x) for x in ARRAYS[:3]]
    known[1][0] = "O"
    expected = as_plain(crf.predict(X, known=known))
    forms = [
        tuple(map(tuple, known)),
        [np.array(labels, dtype=object) for labels in known],
        [[label and np.str_(label) for label in labels] for labels in known],
    ]
    for form in forms:
        assert as_plain(crf.predict(X, known=form)) == expected


def with_known(t, label):
    known = [[None] * len(x) for x in ARRAYS]
    known[LONG][t] = label
    return known


PLACE = f"known: sequence {LONG}, position 1 is"
BAD_KNOWN = {
    "unknown": (with_known(1, "Z"), ValueError, f"{PLACE} of type str 'Z'; it must"),
    "type": (with_known(1, 1), ValueError, f"{PLACE} of type int 1; it must"),
    "list": (with_known(1, ["O"]), ValueError, f"{PLACE} a list of str; it must"),
    "too few": (with_known(1, "O")[:-1], ValueError, "20 sequences, but known has 19"),
    "length": ([*with_known(1, "O")[:-1], []], ValueError, "Sequence 19 has"),
    "a dict": ({}, TypeError, "known must be a list"),
    "str": (["BIO"] * 20, TypeError, "known: sequence 0 is of type str"),
}


@pytest.mark.parametrize("case", sorted(BAD_KNOWN))
def test_bad_known_labels(crf, case):
    known, error, message = BAD_KNOWN[case]
    with pytest.raises(error, match=message):
        crf.predict(ARRAYS, known=known)


@pytest.mark.usefixtures("many_ranges")
@pytest.mark.parametrize("decoding", ["viterbi", "posterior"])
def test_known_labels_that_are_forbidden(crf, decoding):
    with pytest.raises(ValueError, match=f"sequence {LONG} has no possible path"):
        forbidding(crf).predict(ARRAYS, decoding=decoding, known=with_known(0, "I-X"))


@pytest.mark.parametrize("decoding", ["best", "", 1, []])
def test_unknown_decoding(crf, decoding):
    with pytest.raises(ValueError, match="decoding must be one of .'posterior'"):
        crf.predict(ARRAYS, decoding=decoding)


# The n best, draws --------------------------------------------------------------------


@pytest.mark.parametrize("change", [lambda crf: crf, forbidding])
@pytest.mark.parametrize("n", [1, 2, 100])
def test_n_best_are_those_of_enumeration(crf, change, n):
    crf = change(crf)
    found, best = crf.predict_n_best(ARRAYS, n), crf.predict(ARRAYS)
    for x, ranked, labels in zip(ARRAYS, found, best, strict=True):
        p = reference.path_probabilities(*scores_of(crf, x))
        order = np.argsort(-p)[: min(n, np.count_nonzero(p))]
        assert ranked[0][0] == labels
        assert_allclose([q for _, q in ranked], p[order], rtol=1e-10)
        paths = reference.all_paths(len(x), 3)[order]
        assert [codes_of(labels) for labels, _ in ranked] == paths.tolist()
        assert {type(q) for _, q in ranked} == {float}
        if n == 100:
            assert_allclose(sum(q for _, q in ranked), 1.0, rtol=1e-12)


@pytest.mark.parametrize("n", [0, -1, 2.0, True, None, "3"])
def test_counts_are_positive_integers(crf, n):
    with pytest.raises(ValueError, match="n must be an integer of at least 1"):
        crf.predict_n_best(ARRAYS, n)
    with pytest.raises(ValueError, match="n_draws must be an integer of at least 1"):
        crf.sample(ARRAYS, n_draws=n)


def test_draws_are_as_frequent_as_probable(crf):
    crf = forbidding(crf)
    draws = crf.sample(ARRAYS[:6], n_draws=4000, random_state=0)
    assert draws.shape == (4000, 6)
    for i, x in enumerate(ARRAYS[:6]):
        p = reference.path_probabilities(*scores_of(crf, x))
        rows = [3 ** np.arange(len(x))[::-1] @ codes_of(y) for y in draws[:, i]]
        counts = np.bincount(rows, minlength=len(p))
        assert (counts[p == 0] == 0).all()
        spread = np.sqrt(4000 * p * (1 - p))
        assert (abs(counts - 4000 * p) <= 5 * spread + 1).all()


def test_draws_depend_on_the_seed_alone(crf):
    first = as_plain(crf.sample(ARRAYS, 3, random_state=1))
    assert as_plain(crf.sample(ARRAYS, 3, random_state=1)) == first
    assert as_plain(crf.sample(ARRAYS, 3, random_state=2)) != first
    generator = np.random.RandomState(1)
    assert as_plain(crf.sample(ARRAYS, 3, random_state=generator)) == first
    assert as_plain(crf.sample(ARRAYS, 3, random_state=generator)) != first


@pytest.mark.usefixtures("many_ranges")
def test_draws_of_equal_sequences_differ(crf):
    draws = crf.sample([ARRAYS[LONG]] * 20, 30, random_state=0)
    columns = {tuple(map(tuple, column)) for column in draws.T}
    assert len(columns) == 20


def test_a_draw_is_a_labelling_of_x(crf):
    (y,) = crf.sample(ARRAYS, random_state=0)
    assert y.shape == crf.predict(ARRAYS).shape
    assert 0.0 <= crf.score(ARRAYS, y) <= 1.0
    assert np.isfinite(crf.log_likelihood(ARRAYS, y)).all()


# Spans --------------------------------------------------------------------------------


@pytest.mark.parametrize("change", [lambda crf: crf, forbidding])
def test_spans_of_predictions(crf, change):
    crf = change(crf)
    spans = [extract_spans(labels) for labels in crf.predict(ARRAYS)]
    assert sum(map(len, spans)) > 5
    found = crf.span_proba(ARRAYS, spans, scheme="BIO")
    for x, own, values in zip(ARRAYS, spans, found, strict=True):
        expected = np.zeros(len(own))
        p = reference.path_probabilities(*scores_of(crf, x))
        for path, probability in zip(reference.all_paths(len(x), 3), p, strict=True):
            there = extract_spans([NAMES[k] for k in path])
            expected += [probability * (span in there) for span in own]
        assert_allclose(values, expected, rtol=1e-10)


def test_spans_by_their_labels(crf):
    spans = [[(0, 1, labels[:1]), (0, len(labels), labels)] for labels in Y]
    found = np.stack(crf.span_proba(ARRAYS, spans))
    nodes = [
        p[0, labels[0]]
        for p, labels in zip(crf.predict_proba(ARRAYS), LABELS, strict=True)
    ]
    assert_allclose(found[:, 0], nodes, rtol=1e-12)
    assert_allclose(np.log(found[:, 1]), crf.log_likelihood(ARRAYS, Y), rtol=1e-10)


def test_spans_may_have_their_bounds_first(crf):
    spans = crf.predict_spans(ARRAYS)
    turned = [[(begin, end, name) for name, begin, end, _ in own] for own in spans]
    found = np.concatenate(crf.span_proba(ARRAYS, turned, scheme="BIO"))
    assert_allclose(found, [p for own in spans for *_, p in own], rtol=1e-12)
    labelled = [[(0, len(labels), labels)] for labels in Y]
    same = [[(labels, 0, len(labels))] for labels in Y]
    found, expected = (np.stack(crf.span_proba(ARRAYS, s)) for s in (labelled, same))
    assert np.array_equal(found, expected)


def test_spans_of_unseen_labels_and_types(crf):
    (values,) = crf.span_proba(ARRAYS[:1], [[(0, 1, ["Z"]), (0, 1, [7])]])
    assert values.tolist() == [0.0, 0.0]
    (values,) = crf.span_proba(ARRAYS[:1], [[("LOC", 0, 1)]], scheme="BIO")
    assert values.tolist() == [0.0]


SCHEME_LABELS = {
    "BIO": ["B-X", "B-Y", "I-X", "I-Y", "O"],
    "iob1": ["B-X", "I-X", "I-Y", "O"],
    "IO": ["I-X", "I-Y", "O"],
    "IOBES": ["B-X", "E-X", "I-X", "O", "S-X"],
    "BILOU": ["B", "I", "L", "O", "U"],
}


@pytest.mark.parametrize("scheme", sorted(SCHEME_LABELS))
@pytest.mark.parametrize("in_the_fit", [False, True])
def test_predicted_spans_have_the_probabilities_of_enumeration(scheme, in_the_fit):
    names = SCHEME_LABELS[scheme]
    X, codes = make_chains(
        16, n_labels=len(names), n_features=4, length=(1, 4), random_state=1
    )
    y, _ = repair_labels([[names[k] for k in own] for own in codes], scheme)
    crf = LBFGSCRF(alpha=0.1, transitions=scheme if in_the_fit else None).fit(X, y)
    found = crf.predict_spans(X, scheme=None if in_the_fit else scheme)
    predicted = crf.predict(X)
    assert found.shape == (16,)
    assert crf.predict_spans([X[0][:0]], scheme=scheme).tolist() == [[]]
    assert sum(map(len, found)) > 5
    for x, labels, own in zip(X, predicted, found, strict=True):
        assert [span[:3] for span in own] == extract_spans(labels, scheme)
        params = params_of(crf)
        p = reference.path_probabilities(
            reference.node_scores(x, params), crf.transition_
        )
        expected = np.zeros(len(own))
        paths = reference.all_paths(len(x), len(crf.classes_))
        for path, probability in zip(paths, p, strict=True):
            there = extract_spans(crf.classes_[path].tolist(), scheme)
            expected += [probability * (span[:3] in there) for span in own]
        assert_allclose([span[3] for span in own], expected, rtol=1e-9)


def test_predicted_spans_are_queries_and_labels_again(crf):
    found = crf.predict_spans(ARRAYS)
    proba = crf.span_proba(ARRAYS, found, scheme="BIO")
    for own, values in zip(found, proba, strict=True):
        assert [span[3] for span in own] == values.tolist()
    labels = spans_to_labels(found, [len(x) for x in ARRAYS])
    assert [extract_spans(v) for v in labels] == [[s[:3] for s in v] for v in found]


def test_predicted_spans_have_the_text_of_their_tokens(crf, table):
    words = [[f"w{t}" for t in range(len(x))] for x in ARRAYS]
    found = crf.predict_spans(iter(ARRAYS), tokens=(tuple(own) for own in words))
    for own, plain, tokens in zip(found, crf.predict_spans(ARRAYS), words, strict=True):
        assert [span[:4] for span in own] == plain
        assert [s[4] for s in own] == [" ".join(tokens[b:e]) for _, b, e, *_ in own]
    rows = table.predict_spans(ROWS, tokens=[["word"]] * len(ROWS))
    assert [len(own) for own in rows] == [label != "O" for label in table.predict(ROWS)]
    assert {span[4] for own in rows for span in own} == {"word"}


@pytest.mark.parametrize(
    ("tokens", "error", "message"),
    [
        ("ab", TypeError, "tokens must be a list"),
        ([["a"] * 4] * 2, ValueError, "X has 1 sequences, but tokens 2"),
        ([None], TypeError, "tokens: sequence 0 must be a list"),
        ([["a"]], ValueError, "sequence 0 has 1 tokens, but X has 4 items there"),
        ([["a", "b", 3, "d"]], TypeError, "sequence 0, item 2 is of type int 3; a tok"),
    ],
)
def test_bad_tokens(crf, tokens, error, message):
    with pytest.raises(error, match=message):
        crf.predict_spans([ARRAYS[LONG]], tokens=tokens)


def test_labels_of_another_scheme_than_the_one_that_is_named(crf):
    other = LBFGSCRF().fit([np.eye(2)], [["B-X", "E-X"]])
    message = "Label 'E-X' is not of the scheme 'BIO'.* give it with scheme="
    with pytest.raises(ValueError, match=message):
        other.predict_spans([np.eye(2)])
    assert other.predict_spans([np.eye(2)], scheme="BIOES")[0][0][:3] == ("X", 0, 2)
    with pytest.raises(ValueError, match="scheme must be one of"):
        crf.predict_spans(ARRAYS, scheme="observed")
    with pytest.raises(TypeError, match="must be str .*, got 0; replace numbers"):
        LBFGSCRF().fit(ARRAYS, LABELS).predict_spans(ARRAYS)


@pytest.mark.parametrize("scheme", sorted(SCHEME_LABELS))
def test_typed_spans_are_read_in_the_scheme_of_the_fit(scheme):
    names = SCHEME_LABELS[scheme]
    X, codes = make_chains(
        9, n_labels=len(names), n_features=4, length=(1, 4), random_state=1
    )
    y, _ = repair_labels([[names[k] for k in own] for own in codes], scheme)
    crf = LBFGSCRF(transitions=scheme).fit(X, y)
    found = crf.predict_spans(X)
    for spans in (found, (iter(own) for own in found)):
        for own, values in zip(found, crf.span_proba(X, spans), strict=True):
            assert [span[3] for span in own] == values.tolist()
    # Of the labels themselves, and of no span at all, no scheme is asked.
    crf.set_params(transitions="IO")
    assert crf.span_proba(X, [[] for _ in X])[0].shape == (0,)
    labelled = crf.span_proba(X[:1], [[(y[0][:1], 0, 1)]])[0]
    k = crf.classes_.tolist().index(y[0][0])
    assert_allclose(labelled, crf.predict_proba(X[:1])[0][0, k], rtol=1e-12)


def test_typed_spans_are_by_default_of_bio(crf):
    found = crf.predict_spans(ARRAYS)
    default = np.concatenate(crf.span_proba(ARRAYS, found))
    named = np.concatenate(crf.span_proba(ARRAYS, found, scheme="BIO"))
    assert default.tolist() == named.tolist()
    ids = LBFGSCRF().fit(ARRAYS, LABELS)
    with pytest.raises(TypeError, match="label_names"):
        ids.span_proba(ARRAYS[:1], [[("X", 0, 1)]])


BAD_SPANS = {
    "beyond": ((3, 5, ["O", "O"]), ValueError, "goes from 3 to 5, but 0 <= begin"),
    "empty": ((2, 2, []), ValueError, "goes from 2 to 2"),
    "turned": ((2, 1, []), ValueError, "must be .labels, begin, end.*scheme="),
    "before": ((-1, 1, ["O", "O"]), ValueError, "goes from -1 to 1"),
    "labels": ((0, 2, ["O"]), ValueError, "not one label for each position"),
    "one label": ((0, 1, "O"), ValueError, "must be .labels, begin, end.*scheme="),
    "typed": (("X", 0, 1), ValueError, "must be .labels, begin, end.*scheme="),
    "pair": ((0, 1), ValueError, "must be .labels, begin, end.*scheme="),
    "number": (3, TypeError, "must be .labels, begin, end.*scheme="),
}


@pytest.mark.parametrize("case", sorted(BAD_SPANS))
def test_bad_spans(crf, case):
    span, error, message = BAD_SPANS[case]
    spans = [[] for _ in ARRAYS]
    spans[LONG] = [(0, 1, ["O"]), span]
    with pytest.raises(error, match=f"spans: sequence {LONG}, span 1 .*{message}"):
        crf.span_proba(ARRAYS, spans)


def test_bad_typed_spans(crf):
    with pytest.raises(ValueError, match="sequence 0, span 0 goes from 0 to 9"):
        crf.span_proba(ARRAYS[:1], [[("X", 0, 9)]], scheme="BIO")
    for wrong in ((7, 0, 1), (0, 1, ("O",)), ("X", 0, 1.0), (0, 1, 2)):
        with pytest.raises(TypeError, match="must be .type, begin, end."):
            crf.span_proba(ARRAYS[:1], [[wrong]], scheme="BIO")
    with pytest.raises(TypeError, match="must be .type, begin, end."):
        crf.span_proba(ARRAYS[:1], [[(0, 1, ["O"])]], scheme="BIO")
    with pytest.raises(ValueError, match="scheme"):
        crf.span_proba(ARRAYS[:1], [[]], scheme="BI")
    with pytest.raises(ValueError, match="1 sequences, but spans has 2"):
        crf.span_proba(ARRAYS[:1], [[], []])
    with pytest.raises(TypeError, match="spans: sequence 0 must be a list"):
        crf.span_proba(ARRAYS[:1], [None])
    other = LBFGSCRF().fit(ARRAYS, LABELS)
    with pytest.raises(TypeError, match="must be str"):
        other.span_proba(ARRAYS[:1], [[]], scheme="BIO")


# One-node chains ----------------------------------------------------------------------


def test_one_node_chains(table):
    p = table.predict_proba(ROWS)
    n, row = len(ROWS), np.arange(len(ROWS))
    codes = np.array(codes_of(ROW_LABELS))
    posterior = table.predict(ROWS, decoding="posterior")
    assert posterior.tolist() == table.predict(ROWS).tolist()
    assert posterior.dtype == table.predict(ROWS).dtype
    assert table.predict_edge_proba(ROWS).shape == (n, 0, 3, 3)
    assert_allclose(np.exp(table.log_likelihood(ROWS, ROW_LABELS)), p[row, codes])
    scores = ROWS @ table.coef_.T + table.intercept_
    assert_allclose(
        table.log_partition(ROWS), np.logaddexp.reduce(scores, axis=1), rtol=1e-12
    )
    for own, ranked in zip(p, table.predict_n_best(ROWS, 2), strict=True):
        order = np.argsort(-own)[:2]
        assert [label for label, _ in ranked] == [NAMES[k] for k in order]
        assert_allclose([q for _, q in ranked], own[order], rtol=1e-10)
    draws = table.sample(ROWS, 500, random_state=0)
    assert draws.shape == (500, n)
    assert_allclose((draws == "O").mean(axis=0), p[:, 2], atol=0.12)
    spans = [[(0, 1, [label])] for label in ROW_LABELS]
    assert_allclose(np.concatenate(table.span_proba(ROWS, spans)), p[row, codes])


def test_known_labels_of_one_node_chains(table):
    known = [None] * len(ROWS)
    known[5] = "I-X"
    expected = table.predict(ROWS)
    expected[5] = "I-X"
    assert table.predict(ROWS, known=known).tolist() == expected.tolist()
    known[5] = "Z"
    with pytest.raises(ValueError, match="known: sequence 5, position 0 is"):
        table.predict(ROWS, known=known)


@pytest.mark.parametrize("size", [1.0, 30.0, 1000.0])
@pytest.mark.parametrize("boundaries", [True, False])
def test_probabilities_of_a_sure_model_are_at_most_one(size, boundaries):
    X, y = make_chains(60, n_labels=5, n_features=5, length=30, random_state=0)
    X = X if boundaries else np.concatenate(X)
    y = y if boundaries else np.concatenate(y)
    crf = LBFGSCRF(tol=1e-2).fit(X, y)
    crf.coef_ = size * crf.coef_
    crf.transition_ = size * crf.transition_
    proba, edges = crf.predict_proba(X), crf.predict_edge_proba(X)
    if boundaries:
        proba, edges = np.concatenate(proba), np.concatenate(edges)
        spans = [[(t, t + 2, labels[t : t + 2]) for t in range(29)] for labels in y]
        values = np.concatenate(crf.span_proba(X, spans))
        assert 0.0 <= values.min() <= values.max() <= 1.0
        best = [p for row in crf.predict_n_best(X, 2) for _, p in row]
        assert max(best) <= 1.0
        explanation = crf.explain(X[0], 3)
        assert explanation.probabilities.max() <= 1.0
    for table in (proba, edges):
        assert table.min(initial=0.0) >= 0.0
        assert table.max(initial=0.0) <= 1.0
        totals = table.reshape(len(proba) if table is proba else len(edges), -1)
        if totals.size:
            assert_allclose(totals.sum(axis=1), 1.0, rtol=1e-12)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        log_loss(np.concatenate(y) if boundaries else y, proba, labels=crf.classes_)


@given(st.integers(0, 2**32 - 1))
def test_marginals_for_users_are_at_most_one(seed):
    rng = np.random.default_rng(seed)
    node_scores = 40.0 * rng.normal(size=(50, 4))
    chains = oracle.as_chains(node_scores, rng.normal(size=(4, 4)), [0, 30, 50])
    assert chains.node_marginals()[0].max() <= 1.0
    assert chains.pair_marginals()[0].max() <= 1.0
