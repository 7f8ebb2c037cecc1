"""SegmentCRF and its structure, against enumeration of all segmentations."""

import copy
import itertools
import pickle

import numpy as np
import pytest
from segment_twin import (
    WORDS,
    Enumeration,
    counts_of,
    enumerated,
    labels_of,
    segmentations,
    sentences,
)
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from pairs import by_pairs
from reference import all_paths
from skcrf_sdca import PackedSequences, SegmentCRF, load_model, save_model
from skcrf_sdca.metrics import extract_spans, span_f1_score
from skcrf_sdca.structures.chain.oracle import log_partition as chain_log_partition
from skcrf_sdca.structures.chain.oracle import node_marginals as chain_node_marginals
from skcrf_sdca.structures.chain.oracle import viterbi as chain_viterbi
from skcrf_sdca.structures.segment.grammar import Grammar
from skcrf_sdca.structures.segment.scores import SegmentScores
from skcrf_sdca.structures.segment.structure import SegmentChain
from skcrf_sdca.text import convert_labels

BIO = ["B-A", "B-B", "I-A", "I-B", "O"]
BIOES = ["B-A", "E-A", "I-A", "O", "S-A"]
IO = ["I-A", "I-B", "O"]
PLAIN = ["x", "y", "z"]
GRAMMARS = [
    (BIO, "BIO"),
    (["B-A", "O"], "BIO"),
    (BIOES, "bioes"),
    (["B-A", "E-A", "O"], "BIOES"),
    (IO, "IO"),
    (PLAIN, None),
    (["x"], None),
]


def random_scores(grammar, lengths, rng, scale=1.0):
    offsets = np.concatenate([[0], np.cumsum(lengths)])
    local = rng.normal(scale=scale, size=(offsets[-1], grammar.n_labels))
    tied = rng.normal(scale=scale, size=grammar.n_tied)
    return SegmentScores(local, tied, offsets, grammar)


def by_sequence(scores):
    for b, e in itertools.pairwise(scores.offsets):
        yield Enumeration(scores.grammar, scores.local[b:e], scores.tied)


LENGTHS = [3, 0, 1, 5, 2, 4]


@by_pairs(
    {
        "names,scheme": GRAMMARS,
        "max_length": [1, 2, 3, 5, 7],
        "scale": [1.0, 30.0, 900.0],
    }
)
def test_inference_equals_enumeration(names, scheme, max_length, scale):
    grammar = Grammar(names, scheme, max_length)
    lengths = np.array(LENGTHS)
    lengths = lengths[grammar.possible_lengths(5)[lengths]]
    scores = random_scores(grammar, lengths, np.random.default_rng(0), scale)
    local = np.empty_like(scores.local)
    tied = np.empty((len(lengths), grammar.n_tied))
    log_z = scores.potential_expectations(local, tied)
    paths, values = scores.viterbi()
    close = {"rtol": 1e-10, "atol": 1e-10}
    np.testing.assert_allclose(scores.log_partition(), log_z, **close)
    for i, known in enumerate(by_sequence(scores)):
        own = slice(*scores.offsets[i : i + 2])
        np.testing.assert_allclose(log_z[i], known.log_z, **close)
        np.testing.assert_allclose(local[own], known.local, **close)
        np.testing.assert_allclose(tied[i], known.tied, **close)
        best = known.scores.argmax()
        np.testing.assert_allclose(values[i], known.scores[best], **close)
        np.testing.assert_array_equal(paths[own], known.labels[best])
        assert not tied[i][~grammar.allowed].any()


@pytest.mark.parametrize(("names", "scheme"), GRAMMARS)
def test_labels_and_segmentations_are_the_same(names, scheme):
    grammar = Grammar(names, scheme, 3)
    for length in range(1, 5):
        found = list(segmentations(grammar, length))
        assert bool(found) == grammar.possible_lengths(4)[length]
        labels = {tuple(labels_of(grammar, s)) for s in found}
        assert len(labels) == len(found)
        offsets = np.array([0, length])
        for s in found:
            own = grammar.segments(labels_of(grammar, s), offsets)
            assert list(zip(own.begin, own.end, own.type, strict=True)) == s
        scores = random_scores(grammar, [length], np.random.default_rng(1))
        (known,) = by_sequence(scores)
        expected = dict(zip(map(tuple, known.labels), known.scores, strict=True))
        for path in all_paths(length, len(names)).tolist():
            value = scores.path_scores(np.array(path, dtype=np.int32))[0]
            assert value == pytest.approx(expected.get(tuple(path), -np.inf), abs=1e-10)


@pytest.mark.parametrize(("names", "scheme"), GRAMMARS)
def test_posteriors_of_segments_equal_enumeration(names, scheme):
    grammar = Grammar(names, scheme, 3)
    scores = random_scores(grammar, [4, 3], np.random.default_rng(2))
    if not grammar.possible_lengths(4)[[3, 4]].all():
        return
    spans = [
        (i, b, e, k)
        for i, length in enumerate([4, 3])
        for b in range(length)
        for e in range(b + 1, length + 1)
        for k in range(grammar.n_types)
    ]
    rows = np.array(spans)
    types = np.ascontiguousarray(rows[:, 3])
    found = scores.segment_probabilities(np.ascontiguousarray(rows[:, :3]), types)
    known = list(by_sequence(scores))
    for (i, *segment), p in zip(spans, found, strict=True):
        has = [tuple(segment) in s for s in known[i].found]
        assert p == pytest.approx(known[i].proba[has].sum(), abs=1e-12)


@pytest.mark.parametrize(("names", "scheme"), GRAMMARS)
def test_forbidden_labels_have_probability_0(names, scheme):
    """A local score of -inf forbids, for inner tokens too."""
    grammar = Grammar(names, scheme, 4)
    rng = np.random.default_rng(3)
    for _ in range(20):
        scores = random_scores(grammar, [5], rng)
        local = np.where(rng.random(scores.local.shape) < 0.2, -np.inf, scores.local)
        scores = SegmentScores(local, scores.tied, scores.offsets, grammar)
        with np.errstate(invalid="ignore"):
            (known,) = by_sequence(scores)
        node, log_z = scores.node_marginals()
        if not len(known.scores) or not np.isfinite(known.log_z):
            assert log_z[0] == -np.inf
            assert not node.any()
            continue
        assert log_z[0] == pytest.approx(known.log_z, abs=1e-10)
        np.testing.assert_allclose(node, known.local, atol=1e-12)
        assert not node[local == -np.inf].any()
        np.testing.assert_array_equal(
            scores.viterbi()[0], known.labels[known.scores.argmax()]
        )


def test_posterior_decoding_of_forbidden_labels():
    """A label may be forbidden at the price of a segmentation of fewer right labels."""
    grammar = Grammar(BIO, "BIO", 3)
    rng = np.random.default_rng(6)
    for _ in range(30):
        scores = random_scores(grammar, [4], rng)
        known = np.where(rng.random(4) < 0.3, 4, -1)
        clamped = scores.clamped(known)
        (enumeration,) = by_sequence(scores)
        possible = [
            y for y in enumeration.labels if (y[known >= 0] == known[known >= 0]).all()
        ]
        node, _ = clamped.node_marginals()
        right = [node[np.arange(4), y].sum() for y in possible]
        path, _ = clamped.posterior()
        assert node[np.arange(4), path].sum() == pytest.approx(max(right))
        assert any((path == y).all() for y in possible)


@pytest.mark.parametrize(("names", "scheme"), GRAMMARS)
def test_potentials_of_labels_are_counts(names, scheme):
    grammar = Grammar(names, scheme, 3)
    found = [s for length in range(4) for s in segmentations(grammar, length)]
    lengths = [s[-1][1] if s else 0 for s in found]
    offsets = np.concatenate([[0], np.cumsum(lengths)])
    labels = np.concatenate([labels_of(grammar, s) for s in found]).astype(np.int32)
    data = PackedSequences(np.ones((len(labels), 1)), offsets)
    structure = SegmentChain(data, len(names), constraints=grammar)
    certain = structure.label_potentials(labels)
    counts = np.array([counts_of(grammar, s) for s in found])
    np.testing.assert_array_equal(certain.tied, counts)
    np.testing.assert_array_equal(certain.local, np.eye(len(names))[labels])
    weight = np.random.default_rng(0).random(len(found))
    np.testing.assert_allclose(structure.tied_labels(labels, weight), weight @ counts)


def test_segments_of_one_token_are_a_chain():
    names = ["B-A", "B-B", "B-C", "O"]
    grammar = Grammar(names, "BIO", 1)
    scores = random_scores(grammar, [7, 0, 1, 12], np.random.default_rng(4), 2.0)
    n = len(names)
    local = scores.local + scores.tied[n * n :]
    chain = local, scores.tied[: n * n].reshape(n, n), scores.offsets
    np.testing.assert_allclose(
        scores.log_partition(), chain_log_partition(*chain), atol=1e-10
    )
    np.testing.assert_allclose(
        scores.node_marginals()[0], chain_node_marginals(*chain)[0], atol=1e-10
    )
    np.testing.assert_array_equal(scores.viterbi()[0], chain_viterbi(*chain)[0])


def test_long_sequences_keep_their_digits():
    """Sums of 20 000 tokens are near 50 000; their rounding must not add up."""
    grammar = Grammar(["B-A", "B-B", "B-C", "O"], "BIO", 1)
    scores = random_scores(grammar, [20_000], np.random.default_rng(7))
    local = scores.local + scores.tied[16:]
    chain = local, scores.tied[:16].reshape(4, 4), scores.offsets
    node, log_z = scores.node_marginals()
    np.testing.assert_allclose(node, chain_node_marginals(*chain)[0], atol=1e-12)
    np.testing.assert_allclose(log_z, chain_log_partition(*chain), rtol=1e-13)


def test_segments_of_any_length_are_a_chain_of_the_scheme():
    """Without scores of lengths, a chain whose transitions inside of spans are 0."""
    grammar = Grammar(BIO, "BIO", 9)
    scores = random_scores(grammar, [9, 6], np.random.default_rng(5))
    n = grammar.n_types
    scores.tied[n * n :] = 0.0
    transition = scores.tied[: n * n].reshape(n, n)
    types = grammar.label_types
    is_begin = np.array([name[0] != "I" for name in BIO])
    chain = np.where(is_begin, transition[np.ix_(types, types)], -np.inf)
    chain[np.equal.outer(types, types) & ~is_begin] = 0.0
    local = scores.local.copy()
    local[scores.offsets[:-1, np.newaxis], ~is_begin] = -np.inf
    np.testing.assert_allclose(
        scores.log_partition(),
        chain_log_partition(local, chain, scores.offsets),
        atol=1e-10,
    )


X, Y = sentences()
EXACT = {"alpha": 0.05, "tol": 1e-9, "max_iter": 3000, "random_state": 0}


@pytest.fixture(scope="module")
def exact():
    return SegmentCRF(solver="lbfgs", **EXACT).fit(X, Y)


def test_the_optimum_is_that_of_the_enumerated_objective(exact):
    primal, gradient, _ = enumerated(exact, X, Y)
    assert exact.primal_objective_ == pytest.approx(primal, rel=1e-10)
    assert np.linalg.norm(gradient) < 1e-4
    gap = gradient @ gradient / (2.0 * exact.alpha_)
    assert exact.duality_gap_ == pytest.approx(gap, rel=1e-3, abs=1e-9)


def test_dual_solvers_certify_a_point_before_the_optimum():
    """P is that of the enumeration, and D is below the minimum."""
    with pytest.warns(ConvergenceWarning):
        crf = SegmentCRF(alpha=0.05, max_iter=2, tol=1e-9, random_state=0).fit(X, Y)
    primal, _, _ = enumerated(crf, X, Y)
    assert crf.primal_objective_ == pytest.approx(primal, rel=1e-10)
    best = SegmentCRF(solver="lbfgs", **EXACT).fit(X, Y).primal_objective_
    assert crf.dual_objective_ <= best <= crf.primal_objective_
    assert crf.duality_gap_ > 1e-6


@pytest.mark.parametrize(
    "parameters",
    [
        {"solver": "oeg"},
        {"solver": "oeg", "n_jobs": 2},
        {"solver": "sag"},
        {"solver": "sgd", "tol": 1e-4},
        {"solver": "oeg", "max_length": 3},
    ],
)
def test_all_solvers_reach_the_same_optimum(exact, parameters):
    parameters = {**EXACT, "tol": 1e-6, **parameters}
    crf = SegmentCRF(**parameters).fit(X, Y)
    close = pytest.approx(exact.primal_objective_, rel=1.1 * parameters["tol"])
    assert crf.primal_objective_ == close
    assert crf.duality_gap_ <= parameters["tol"] * crf.primal_objective_
    np.testing.assert_allclose(crf.length_, exact.length_, atol=2e-2)


@pytest.mark.parametrize("l1_ratio", [0.3, 1.0])
def test_elastic_net_has_one_optimum(l1_ratio):
    parameters = {**EXACT, "alpha": 0.02, "tol": 1e-4, "l1_ratio": l1_ratio}
    dual = SegmentCRF(**parameters).fit(X, Y)
    primal = SegmentCRF(solver="lbfgs", **parameters).fit(X, Y)
    assert dual.primal_objective_ == pytest.approx(primal.primal_objective_, rel=2e-4)
    assert max(dual.n_nonzero_, primal.n_nonzero_) < 70 < len(WORDS) * 5 + 3 * 15


def test_hinge_is_certified_and_has_no_probabilities():
    crf = SegmentCRF(alpha=0.1, loss="hinge", tol=1e-2, random_state=0).fit(X, Y)
    assert crf.duality_gap_ <= 1e-2 * crf.primal_objective_
    assert crf.score(X, Y) > 0.6
    with pytest.raises(AttributeError, match="no probabilities"):
        crf.predict_proba(X)
    with pytest.raises(ValueError, match="needs a loss with temperature"):
        SegmentCRF(loss="hinge", solver="lbfgs").fit(X, Y)


def test_answers_equal_enumeration(exact):
    _, _, found = enumerated(exact, X, Y)
    used = [i for i, own in enumerate(X) if own]
    proba, paths = exact.predict_proba(X), exact.predict(X)
    code = exact.classes_.tolist().index
    spans = exact.predict_spans(X)
    values = exact.log_likelihood(X, Y)
    assert proba[0].shape == (0, 5)
    assert paths[0] == spans[0] == []
    assert values[0] == 0.0
    for i, known in zip(used, found, strict=True):
        np.testing.assert_allclose(proba[i], known.local, atol=1e-10)
        best = known.scores.argmax()
        assert list(map(code, paths[i])) == known.labels[best].tolist()
        j = [y.tolist() for y in known.labels].index(list(map(code, Y[i])))
        assert values[i] == pytest.approx(np.log(known.proba[j]), abs=1e-9)
        assert [span[:3] for span in spans[i]] == extract_spans(paths[i])
        for span_type, b, e, p in spans[i]:
            k = exact.types_.tolist().index(span_type)
            has = [(b, e, k) in s for s in known.found]
            assert p == pytest.approx(known.proba[has].sum(), abs=1e-10)
    np.testing.assert_allclose(
        exact.log_partition(X)[used], [known.log_z for known in found], atol=1e-9
    )


def test_known_labels_are_kept(exact):
    known = [[None] * len(y) for y in Y]
    i = next(i for i, y in enumerate(Y) if len(y) > 3)
    known[i][1] = "B-B"
    assert exact.predict(X, known=known)[i][1] == "B-B"
    known[i][0] = "I-B"
    with pytest.raises(ValueError, match=f"sequence {i} has no possible path"):
        exact.predict(X, known=known)


def test_posterior_decoding_is_a_segmentation(exact):
    for labels in exact.predict(X, decoding="posterior"):
        assert extract_spans(labels) == extract_spans(labels, strict=True)


@pytest.mark.parametrize("scheme", ["BIOES", "BILOU", "IO"])
def test_schemes(scheme):
    if scheme == "IO":
        y = [[label.replace("B-", "I-") for label in labels] for labels in Y]
    else:
        y = convert_labels(Y, "BIO", scheme)
    crf = SegmentCRF(scheme=scheme, **EXACT | {"tol": 1e-5}).fit(X, y)
    for labels in crf.predict(X):
        assert extract_spans(labels, scheme) == extract_spans(
            labels, scheme, strict=True
        )
    assert crf.types_.tolist() == ["A", "B", "O"]
    assert crf.score(X, y) > 0.6


def test_runs_without_a_scheme():
    rng = np.random.default_rng(0)
    sizes = rng.integers(1, 6, size=(30, 4))
    y = [np.repeat([0, 1, 0, 2], own).tolist() for own in sizes]
    signals = [np.eye(3)[own] + rng.normal(scale=0.7, size=(len(own), 3)) for own in y]
    crf = SegmentCRF(scheme=None, random_state=0).fit(signals, y)
    assert crf.score(signals, y) > 0.9
    assert crf.max_length_ <= 10
    assert (np.diagonal(crf.transition_) == -np.inf).all()
    (spans,) = crf.predict_spans(signals[:1])
    assert [(k, e - b) for k, b, e, _ in spans] == [
        (k, len(list(run))) for k, run in itertools.groupby(crf.predict(signals[:1])[0])
    ]
    with pytest.raises(ValueError, match="sequence 0 is of length 50, and of that"):
        SegmentCRF(scheme=None).fit([[[1.0]]] * 2, [["a"]] * 2).predict([[[1.0]] * 50])


def test_features_may_be_observed_pairs_only():
    crf = SegmentCRF(features="observed", solver="lbfgs", **EXACT).fit(X, Y)
    primal, gradient, _ = enumerated(densified(crf), X, Y)
    assert crf.primal_objective_ == pytest.approx(primal, rel=1e-9)
    with pytest.raises(ValueError, match="min_count"):
        SegmentCRF(min_count=2).fit(X, Y)


def densified(crf):
    return pickle.loads(pickle.dumps(crf)).densify()


def test_pickles_clones_and_warm_starts(exact):
    copy = pickle.loads(pickle.dumps(exact))
    np.testing.assert_array_equal(copy.predict(X), exact.predict(X))
    clone(exact).fit(X, Y)
    for solver in ("oeg", "sag", "lbfgs"):
        crf = SegmentCRF(solver=solver, warm_start=True, alpha=0.1, random_state=0)
        crf.fit(X, Y).set_params(alpha=0.05, tol=1e-6, max_iter=1000).fit(X, Y)
        primal = exact.primal_objective_
        assert crf.primal_objective_ == pytest.approx(primal, rel=1e-5)
    with pytest.raises(ValueError, match="warm_start"):
        crf.set_params(max_length=8).fit(X, Y)
    copy.length_ = copy.length_[:, 1:]
    with pytest.raises(ValueError, match="length_ has shape"):
        copy.predict(X)


def test_held_out_data_and_weights():
    crf = SegmentCRF(patience=2, random_state=0).fit(
        X, Y, sample_weight=np.arange(1.0, 41.0), X_val=X, y_val=Y
    )
    assert crf.best_val_score_ == span_f1_score(Y, crf.predict(X))
    doubled = SegmentCRF(**EXACT).fit(X, Y, sample_weight=np.r_[2.0, np.ones(39)])
    repeated = SegmentCRF(**EXACT).fit(X[:1] + X, Y[:1] + Y)
    np.testing.assert_allclose(doubled.coef_, repeated.coef_, atol=1e-3)


@pytest.mark.parametrize(
    ("parameters", "y", "message"),
    [
        ({}, ["O", "I-A", "I-A", "O"], "sequence 0, item 1: 'I-A' begins a span"),
        ({}, ["B-A", "I-B", "O", "O"], "sequence 0, item 1: 'I-B' is alone in a span"),
        ({}, ["O", "A", "O", "O"], "Label 'A' is not of the scheme 'BIO'"),
        ({}, [0, 1, 0, 0], "Labels of spans must be str"),
        ({"scheme": "BIOES"}, ["B-A", "I-A", "O", "O"], "item 1: 'I-A' ends a span"),
        ({"scheme": "IOB1"}, ["I-A", "B-A", "O", "O"], "scheme='IOB1' is not taken"),
        ({"max_length": 2}, ["O", "B-A", "I-A", "I-A"], "item 1: a segment of 3 items"),
        ({"max_length": 1, "scheme": None}, ["O", "A", "A", "B"], "item 1: a segment"),
    ],
)
def test_wrong_labels_are_named(parameters, y, message):
    with pytest.raises(ValueError, match=message):
        SegmentCRF(**parameters).fit([[["a"], ["b"], ["c"], ["d"]]], [y])


def test_a_scheme_may_be_given_by_its_other_name(exact):
    found = exact.predict_spans(X)
    for name in ("BIO", "IOB2", "iob2"):
        assert exact.predict_spans(X, scheme=name).tolist() == found.tolist()
        proba = exact.span_proba(X, found, scheme=name)
        assert [p for own in found for *_, p in own] == np.concatenate(proba).tolist()


def test_wrong_arguments(exact):
    with pytest.raises(ValueError, match="scheme"):
        SegmentCRF(scheme="BIOX").fit(X, Y)
    with pytest.raises(ValueError, match="max_length"):
        SegmentCRF(max_length=0).fit(X, Y)
    with pytest.raises(ValueError, match="scheme='BIOES', but the model was fitted"):
        exact.predict_spans(X, scheme="BIOES")
    with pytest.raises(ValueError, match="scheme must be one of"):
        exact.predict_spans(X, scheme=3)
    assert not hasattr(exact, "partial_fit")
    assert exact.log_likelihood([[["a"], ["b"]]], [["I-A", "O"]])[0] == -np.inf
    long = [[["New"]] * 9]
    assert exact.span_proba(long, [[("A", 0, 9), ("Z", 0, 1)]])[0].tolist() == [0, 0]


def test_weights_as_tables(exact):
    table = exact.length_features()
    row = table["type"].tolist().index("A")
    length = table["length"][row]
    k = exact.types_.tolist().index("A")
    assert table["weight"][row] == exact.length_[k, length - 1]
    assert len(exact.transition_features()["weight"]) == 9


def test_a_constrained_model_predicts_no_forbidden_transition(exact, tmp_path):
    crf = copy.deepcopy(exact)
    types = crf.types_.tolist()
    pairs = [(a, b) for a in types for b in types if a != b]
    found = crf.constrain(pairs)
    assert found is crf
    save_model(crf, tmp_path / "model")
    for model in (crf, load_model(tmp_path / "model")):
        for labels, draws in zip(
            model.predict(X), model.sample(X, 20, random_state=0).T, strict=True
        ):
            for own in (labels, *draws):
                assert ("O", "O") not in itertools.pairwise(own)
        assert model.log_likelihood([[["a"], ["b"]]], [["O", "O"]])[0] == -np.inf
    assert exact.transition_[types.index("O"), types.index("O")] > -np.inf
    mask = np.array([[a != b for b in types] for a in types])
    again = copy.deepcopy(exact).constrain(mask)
    np.testing.assert_array_equal(again.transition_, crf.transition_)


@pytest.mark.parametrize(
    ("transitions", "message"),
    [
        ("BIO", "keep to its own scheme"),
        (None, "keep to its own scheme"),
        ([(None, "O")], "a pair with None"),
        ([("O",)], "not a pair"),
        (np.ones((2, 3), dtype=bool), "must be of shape"),
    ],
)
def test_transitions_that_are_none_between_segments_are_refused(
    exact, transitions, message
):
    with pytest.raises(ValueError, match=message):
        copy.deepcopy(exact).constrain(transitions)


def test_small_probabilities_of_labels_have_logarithms():
    crf = SegmentCRF(scheme=None, max_length=2, solver="lbfgs")
    crf.fit([[[1.0], [0.0], [0.0]]], [["a", "b", "b"]])
    X = [[[1e4], [0.0]]]
    (proba,), (log_proba,) = crf.predict_proba(X), crf.predict_log_proba(X)
    (zeros,) = np.nonzero(proba[0] == 0.0)
    assert len(zeros) == 1
    assert -np.inf < log_proba[0, zeros[0]] < -700.0
