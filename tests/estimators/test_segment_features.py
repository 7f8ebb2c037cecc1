"""Features of whole segments in SegmentCRF, against enumeration."""

import pickle

import numpy as np
import pytest
from segment_twin import (
    GRAMMARS,
    counts_of,
    enumerated,
    labels_of,
    random_rows,
    random_scores,
    segmentations,
    sentences,
)
from sklearn.base import clone
from sklearn.model_selection import cross_val_score

from pairs import by_pairs
from skcrf_sdca import PackedSequences, SegmentCRF
from skcrf_sdca._utils import memory as _memory
from skcrf_sdca.metrics import span_f1_score
from skcrf_sdca.selection import alpha_path
from skcrf_sdca.structures.segment.grammar import Grammar
from skcrf_sdca.structures.segment.structure import SegmentChain

N_FEATURES = 4


LENGTHS = np.array([3, 0, 1, 5, 2, 4])


@by_pairs({"names,scheme": GRAMMARS, "max_length": [1, 2, 3, 6], "scale": [1.0, 30.0]})
def test_inference_equals_enumeration(names, scheme, max_length, scale):
    grammar = Grammar(names, scheme, max_length)
    lengths = LENGTHS[grammar.possible_lengths(5)[LENGTHS]]
    scores, expected = random_scores(
        grammar, lengths, n_features=N_FEATURES, scale=scale
    )
    local = np.empty_like(scores.local)
    tied = np.empty((len(lengths), len(scores.tied)))
    log_z = scores.potential_expectations(local, tied)
    paths, values = scores.viterbi()
    weight = np.random.default_rng(1).random(len(lengths))
    close = {"rtol": 1e-10, "atol": 1e-10}
    np.testing.assert_allclose(scores.log_partition(), log_z, **close)
    np.testing.assert_allclose(scores.expectations(weight)[1], weight @ tied, **close)
    for i, known in enumerate(expected):
        own = slice(*scores.offsets[i : i + 2])
        np.testing.assert_allclose(log_z[i], known.log_z, **close)
        np.testing.assert_allclose(local[own], known.local, **close)
        np.testing.assert_allclose(tied[i], known.tied, **close)
        best = known.scores.argmax()
        np.testing.assert_allclose(values[i], known.scores[best], **close)
        np.testing.assert_array_equal(paths[own], known.labels[best])
    labels = [known.labels[-1] for known in expected]
    np.testing.assert_allclose(
        scores.path_scores(np.concatenate(labels).astype(np.int32)),
        [known.scores[-1] for known in expected],
        **close,
    )


@pytest.mark.parametrize(("names", "scheme"), GRAMMARS)
def test_posteriors_of_segments_equal_enumeration(names, scheme):
    grammar = Grammar(names, scheme, 3)
    scores, expected = random_scores(grammar, [4, 3], n_features=N_FEATURES)
    spans = [
        (i, b, e, k)
        for i, length in enumerate([4, 3])
        for b in range(length)
        for e in range(b + 1, length + 1)
        for k in range(grammar.n_types)
    ]
    rows = np.array(spans)
    found = scores.segment_probabilities(
        np.ascontiguousarray(rows[:, :3]), np.ascontiguousarray(rows[:, 3])
    )
    for (i, *segment), p in zip(spans, found, strict=True):
        has = [tuple(segment) in s for s in expected[i].found]
        assert p == pytest.approx(expected[i].proba[has].sum(), abs=1e-12)


@pytest.mark.parametrize(("names", "scheme"), GRAMMARS)
def test_potentials_of_labels_are_counts_and_sums(names, scheme):
    grammar = Grammar(names, scheme, 3)
    found = [s for length in range(4) for s in segmentations(grammar, length)]
    lengths = [s[-1][1] if s else 0 for s in found]
    features, rows = random_rows(lengths, 3, N_FEATURES, np.random.default_rng(0))
    offsets = np.concatenate([[0], np.cumsum(lengths)])
    labels = np.concatenate([labels_of(grammar, s) for s in found]).astype(np.int32)
    structure = SegmentChain(
        PackedSequences(np.ones((len(labels), 1)), offsets),
        len(names),
        constraints=grammar,
        segment_rows=rows,
    )
    certain = structure.label_potentials(labels)
    counts = [counts_of(grammar, *own) for own in zip(found, features, strict=True)]
    np.testing.assert_allclose(certain.tied, counts, atol=1e-15)
    weight = np.random.default_rng(0).random(len(found))
    np.testing.assert_allclose(
        structure.tied_labels(labels, weight), weight @ certain.tied
    )


X, Y = sentences()
LISTED = {("New", "York"), ("Ann", "Lee"), ("City",)}


def of_segment(sequence, begin, end):
    """Return features as users have them: a list of names, and numbers."""
    words = tuple(word for (word,) in sequence[begin:end])
    capitals = sum(word.istitle() for word in words)
    return {"listed": words in LISTED, "capitals": capitals / 2, "first": words[0][0]}


NAMES = ["listed", "capitals"] + [f"first:{letter}" for letter in "tmNYCALBoi"]
EXACT = {"alpha": 0.05, "tol": 1e-9, "max_iter": 3000, "random_state": 0}


@pytest.fixture(scope="module")
def exact():
    return SegmentCRF(solver="lbfgs", segment_features=of_segment, **EXACT).fit(X, Y)


def values_of(crf):
    """Return the function (sequence, begin, end) to the features that a fit has."""
    names = crf.segment_vectorizer_.get_feature_names_out().tolist()

    def values(sequence, begin, end):
        own = np.zeros(len(names))
        for key, value in of_segment(sequence, begin, end).items():
            is_name = isinstance(value, str)
            own[names.index(f"{key}:{value}" if is_name else key)] = is_name or value
        return own

    return values


def test_the_optimum_is_that_of_the_enumerated_objective(exact):
    primal, gradient, _ = enumerated(exact, X, Y, values_of(exact))
    assert sorted(exact.segment_vectorizer_.get_feature_names_out()) == sorted(NAMES)
    assert exact.segment_coef_.shape == (3, len(NAMES))
    assert exact.primal_objective_ == pytest.approx(primal, rel=1e-10)
    assert np.linalg.norm(gradient) < 1e-4
    gap = gradient @ gradient / (2.0 * exact.alpha_)
    assert exact.duality_gap_ == pytest.approx(gap, rel=1e-3, abs=1e-9)
    without = SegmentCRF(solver="lbfgs", **EXACT).fit(X, Y)
    assert exact.primal_objective_ < without.primal_objective_ - 1e-2


@pytest.mark.parametrize(
    "parameters",
    [
        {"solver": "oeg"},
        {"solver": "oeg", "n_jobs": 2},
        {"solver": "sag"},
        {"solver": "sgd", "tol": 1e-4},
        {"solver": "oeg", "max_length": 3},
        {"solver": "lbfgs", "features": "observed"},
    ],
)
def test_all_solvers_reach_the_same_optimum(exact, parameters):
    parameters = {**EXACT, "tol": 1e-6, **parameters}
    crf = SegmentCRF(segment_features=of_segment, **parameters).fit(X, Y)
    if "features" not in parameters:
        close = pytest.approx(exact.primal_objective_, rel=1.1 * parameters["tol"])
        assert crf.primal_objective_ == close
        # P is alpha-strongly convex.
        distance = np.linalg.norm(crf.segment_coef_ - exact.segment_coef_)
        gaps = crf.duality_gap_ + exact.duality_gap_
        assert distance**2 <= 2.0 * gaps / exact.alpha_ + 1e-9
    assert crf.duality_gap_ <= parameters["tol"] * crf.primal_objective_


@pytest.mark.parametrize("l1_ratio", [0.3, 1.0])
def test_elastic_net_has_one_optimum(l1_ratio):
    parameters = {**EXACT, "alpha": 0.02, "tol": 1e-4, "l1_ratio": l1_ratio}
    parameters["segment_features"] = of_segment
    dual = SegmentCRF(**parameters).fit(X, Y)
    primal = SegmentCRF(solver="lbfgs", **parameters).fit(X, Y)
    assert dual.primal_objective_ == pytest.approx(primal.primal_objective_, rel=2e-4)
    assert (dual.segment_coef_ == 0.0).any()


def test_hinge_is_certified():
    crf = SegmentCRF(alpha=0.1, loss="hinge", tol=1e-2, random_state=0)
    crf.set_params(segment_features=of_segment).fit(X, Y)
    assert crf.duality_gap_ <= 1e-2 * crf.primal_objective_
    primal, _, found = enumerated(crf, X, Y, values_of(crf))
    paths = [labels for labels in crf.predict(X) if labels]
    code = crf.classes_.tolist().index
    for known, path in zip(found, paths, strict=True):
        best = known.scores.argmax()
        assert list(map(code, path)) == known.labels[best].tolist()


def test_answers_equal_enumeration(exact):
    _, _, found = enumerated(exact, X, Y, values_of(exact))
    used = [i for i, own in enumerate(X) if own]
    proba, paths, spans = (
        exact.predict_proba(X),
        exact.predict(X),
        exact.predict_spans(X),
    )
    code = exact.classes_.tolist().index
    values = exact.log_likelihood(X, Y)
    for i, known in zip(used, found, strict=True):
        np.testing.assert_allclose(proba[i], known.local, atol=1e-10)
        best = known.scores.argmax()
        assert list(map(code, paths[i])) == known.labels[best].tolist()
        j = [y.tolist() for y in known.labels].index(list(map(code, Y[i])))
        assert values[i] == pytest.approx(np.log(known.proba[j]), abs=1e-9)
        for span_type, b, e, p in spans[i]:
            k = exact.types_.tolist().index(span_type)
            has = [(b, e, k) in s for s in known.found]
            assert p == pytest.approx(known.proba[has].sum(), abs=1e-10)
    np.testing.assert_array_equal(exact.predict(X, known=Y), np.array(Y, dtype=object))


def test_tables_name_features(exact):
    table = exact.segment_weights()
    names = exact.segment_vectorizer_.get_feature_names_out().tolist()
    for row in table[:5]:
        k = exact.types_.tolist().index(row.type)
        assert row.weight == exact.segment_coef_[k, names.index(row.feature)]
    assert len(SegmentCRF().fit(X, Y).segment_weights()["weight"]) == 0


def test_pickles_clones_and_cross_validation(exact):
    copy = pickle.loads(pickle.dumps(exact))
    np.testing.assert_array_equal(copy.predict(X), exact.predict(X))
    crf = clone(exact).set_params(tol=1e-3)
    assert len(cross_val_score(crf, X, Y, cv=3)) == 3
    copy.segment_coef_ = copy.segment_coef_[:, 1:]
    with pytest.raises(ValueError, match="segment_coef_ has shape"):
        copy.predict(X)
    again = crf.set_params(segment_features=None).fit(X, Y)
    assert again.segment_coef_ is None
    assert not hasattr(again, "segment_vectorizer_")


def double_of_segment(sequence, begin, end):
    """Return features of the same names, with other numbers."""
    own = of_segment(sequence, begin, end)
    return {**own, "capitals": 2 * own["capitals"]}


@pytest.mark.parametrize("parameters", [{}, {"loss": "hinge"}, {"solver": "sag"}])
def test_warm_starts_need_the_same_features(parameters):
    crf = SegmentCRF(segment_features=of_segment, warm_start=True, random_state=0)
    crf.set_params(alpha=0.2, tol=5e-2, max_iter=1000, **parameters).fit(X, Y)
    crf = pickle.loads(pickle.dumps(crf))
    crf.set_params(alpha=0.1).fit(X, Y)
    assert crf.duality_gap_ <= 5e-2 * crf.primal_objective_
    for function in (double_of_segment, None):
        with pytest.raises(ValueError, match="same features of segments"):
            crf.set_params(segment_features=function).fit(X, Y)


def test_held_out_data_are_read_once():
    calls = []

    def counted(sequence, begin, end):
        calls.append((begin, end))
        return of_segment(sequence, begin, end)

    crf = SegmentCRF(segment_features=counted, random_state=0, max_length=6)
    crf.fit(X, Y, X_val=X, y_val=Y)
    assert crf.n_iter_ > 1
    n_calls = sum(min(e, 6) for own in X for e in range(1, len(own) + 1))
    assert len(calls) == 2 * n_calls
    assert crf.history_["val_score"][-1] == span_f1_score(Y, crf.predict(X))


def test_a_path_of_alphas(exact):
    crf = clone(exact).set_params(tol=1e-6)
    (last,) = alpha_path(crf, X, Y, [0.05])
    np.testing.assert_allclose(last.segment_coef_, exact.segment_coef_, atol=1e-2)
    np.testing.assert_array_equal(last.predict(X), exact.predict(X))


def mean_of(sequence, begin, end):
    return {"mean": float(np.mean(sequence[begin:end]))}


@pytest.mark.parametrize("form", ["signals", "arrays", "packed", "lengths"])
def test_the_function_gets_the_sequences_of_every_format(form):
    rng = np.random.default_rng(0)
    y = [np.repeat([0, 1, 0], rng.integers(2, 5, size=3)).tolist() for _ in range(9)]
    signals = [np.array(own) + rng.normal(size=len(own)) for own in y]
    arrays = [own.reshape(-1, 1) for own in signals]
    crf = SegmentCRF(scheme=None, segment_features=mean_of, solver="lbfgs", tol=1e-8)
    base = clone(crf).fit(arrays, y)
    lengths = [len(own) for own in y]
    if form == "lengths":
        table = np.concatenate(arrays)
        crf.fit(table, np.concatenate(y), lengths=lengths)
        found = crf.predict(table, lengths=lengths)
        np.testing.assert_array_equal(found, np.concatenate(base.predict(arrays)))
        assert crf.predict(arrays[0]).tolist() == base.predict(arrays[:1])[0]
    else:
        forms = {"signals": signals, "packed": PackedSequences.from_sequences(arrays)}
        own = forms.get(form, arrays)
        assert crf.fit(own, y).predict(own).tolist() == base.predict(arrays).tolist()
    np.testing.assert_allclose(crf.segment_coef_, base.segment_coef_, atol=1e-6)


def test_rows_of_a_table_have_no_segments():
    table, y = np.array([[0.0], [1.0], [0.2], [0.9]]), [0, 1, 0, 1]
    crf = SegmentCRF(scheme=None, segment_features=mean_of)
    with pytest.raises(ValueError, match="pass lengths, or set segment_features=None"):
        crf.fit(table, y)


@pytest.mark.parametrize("solver", ["oeg", "lbfgs"])
def test_a_function_may_find_no_features(solver):
    crf = SegmentCRF(solver=solver, segment_features=lambda *_: [], **EXACT)
    crf.set_params(tol=1e-6).fit(X, Y)
    plain = SegmentCRF(solver=solver, **EXACT | {"tol": 1e-6}).fit(X, Y)
    assert crf.segment_coef_.shape == (3, 0)
    assert crf.primal_objective_ == pytest.approx(plain.primal_objective_, rel=2e-6)
    assert len(crf.predict([])) == 0
    assert crf.predict_n_best([[]], 2)[0] == [([], 1.0)]


def test_wrong_functions_are_named():
    def fit(function):
        return SegmentCRF(segment_features=function, max_length=3).fit(X, Y)

    place = "segment_features: sequence 2, segment of the items 0 to 1"
    with pytest.raises(
        TypeError, match=f"{place}: the function returned of type int 3"
    ):
        fit(lambda sequence, b, e: 3 if e == 2 else ["a"])
    with pytest.raises(ValueError, match=f"{place}: feature 'a' is NaN"):
        fit(lambda sequence, b, e: {"a": np.nan if e - b == 2 else 1.0})
    with pytest.raises(TypeError, match=f"{place}.*must always return a dict"):
        fit(lambda sequence, b, e: {"a": 1} if e - b == 1 else ["a"])
    with pytest.raises(ValueError, match="segment_features"):
        fit("names")


def test_what_does_not_fit_into_memory_is_refused(exact, monkeypatch):
    monkeypatch.setattr(_memory, "SMALL", 0)
    n_tokens = sum(map(len, X))
    crf = SegmentCRF(segment_features=of_segment, max_length=7)
    monkeypatch.setattr(_memory, "available_memory", lambda: 16 * 7 * n_tokens - 1)
    with pytest.raises(MemoryError, match="features of the segments of up to 7 items"):
        crf.fit(X, Y)
    long = [["New"]] * 5000
    most = exact.max_length_
    monkeypatch.setattr(_memory, "available_memory", lambda: 16 * 5000 * most * 3 - 1)
    with pytest.raises(
        MemoryError, match=f"scores of segments of up to {most} of 5000"
    ):
        exact.predict([long])


def test_packed_data_have_no_words(exact):
    packed = exact.vectorizer_.transform(X)
    with pytest.raises(TypeError, match="X is packed, but segment_features reads"):
        exact.predict(packed)
    copy = pickle.loads(pickle.dumps(exact)).set_params(segment_features=None)
    with pytest.raises(ValueError, match="set_params\\(segment_features"):
        copy.predict(X)
