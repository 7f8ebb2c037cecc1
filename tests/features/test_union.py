"""SequenceUnion joins words and vectors of the same sequences without dense copies."""

import pickle
import tracemalloc

import numpy as np
import pytest
import scipy.sparse as sp
import sklearn
from sklearn.base import clone
from sklearn.decomposition import PCA
from sklearn.exceptions import NotFittedError
from sklearn.feature_extraction import FeatureHasher
from sklearn.feature_selection import SelectKBest, f_classif
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import MaxAbsScaler, StandardScaler

from skcrf_sdca import (
    SDCACRF,
    PackedSequences,
    PerToken,
    SequenceUnion,
    SequenceVectorizer,
)
from skcrf_sdca.datasets import make_chains

VECTORS, y = make_chains(n_sequences=12, n_features=3, random_state=0)
WORDS = [[{"word": f"w{int(8 * t)}"} for t in rows[:, 0]] for rows in VECTORS]
PAIRS = list(zip(WORDS, VECTORS, strict=True))
ROWS = np.concatenate(VECTORS)
SCALED = StandardScaler().fit_transform(ROWS)
BAG = SequenceVectorizer().fit_transform(WORDS).X


def union(**parameters):
    return SequenceUnion(
        [
            ("words", SequenceVectorizer(), 0),
            ("vectors", PerToken(StandardScaler()), 1),
        ],
        **parameters,
    )


def in_form(form):
    if form == "pairs":
        return PAIRS
    if form == "generator":
        return iter(PAIRS)
    if form == "array":
        table = np.empty((len(PAIRS), 2), dtype=object)
        table[:] = PAIRS
        return table
    if form == "dicts":
        return [{"words": words, "vectors": rows} for words, rows in PAIRS]
    pandas = pytest.importorskip("pandas")
    return pandas.DataFrame({"words": WORDS, "vectors": VECTORS})


@pytest.mark.parametrize(
    ("form", "n_jobs"),
    [
        ("pairs", 2),
        *((f, None) for f in ("pairs", "generator", "array", "dicts", "frame")),
    ],
)
def test_parts_of_every_form(form, n_jobs):
    transformer = union(n_jobs=n_jobs)
    if form in ("dicts", "frame"):
        transformer.transformers = [(n, t, n) for n, t, _ in transformer.transformers]
    packed = transformer.fit_transform(in_form(form), y)
    assert packed.is_sparse
    assert packed.lengths.tolist() == list(map(len, y))
    expected = np.hstack([BAG.toarray(), SCALED])
    np.testing.assert_allclose(packed.X.toarray(), expected)
    again = transformer.transform(in_form(form))
    assert again.X.data.tobytes() == packed.X.data.tobytes()


def test_without_a_part_a_transformer_sees_all():
    hasher = PerToken(FeatureHasher(8))
    whole = SequenceUnion([("names", SequenceVectorizer()), ("hashes", hasher)])
    packed = whole.fit_transform(iter(WORDS))
    hashed = clone(hasher).fit_transform(WORDS)
    np.testing.assert_array_equal(
        packed.X.toarray(), np.hstack([BAG.toarray(), hashed.X.toarray()])
    )
    assert packed.n_features == BAG.shape[1] + 8


def test_dense_blocks_alone_stay_dense():
    both = SequenceUnion(
        [("raw", "passthrough"), ("pca", PerToken(PCA(1))), ("none", "drop")]
    )
    packed = both.fit_transform(VECTORS)
    assert not packed.is_sparse
    assert packed.X[:, :3].tolist() == ROWS.tolist()
    names = both.get_feature_names_out().tolist()
    assert names == ["raw__x0", "raw__x1", "raw__x2", "pca__pca0"]
    assert both.transform([]).n_features == 4
    assert list(both.named_transformers_) == ["raw", "pca"]


def test_passthrough_of_packed_sequences():
    packed = PackedSequences.from_sequences(map(sp.csr_array, VECTORS))
    both = SequenceUnion([("raw", "passthrough"), ("scaled", PerToken(MaxAbsScaler()))])
    assert both.fit_transform(packed).X[:, :3].toarray().tolist() == ROWS.tolist()


def test_transformer_weights_scale_the_features():
    weights = {"vectors": 0.5}
    packed = union(transformer_weights=weights).fit_transform(PAIRS)
    expected = np.hstack([BAG.toarray(), 0.5 * SCALED])
    np.testing.assert_allclose(packed.X.toarray(), expected)


def test_names_parameters_clones_and_pickles():
    transformer = union()
    assert clone(transformer).get_params().keys() == transformer.get_params().keys()
    transformer.set_params(words__min_freq=2, vectors__transformer__with_mean=False)
    assert transformer.transformers[0][1].min_freq == 2
    transformer.set_params(vectors=PerToken(MaxAbsScaler()))
    assert transformer.transformers[1][2] == 1
    transformer.fit(PAIRS)
    assert not hasattr(transformer.transformers[0][1], "vocabulary_")
    names = transformer.get_feature_names_out().tolist()
    assert names[-3:] == ["vectors__x0", "vectors__x1", "vectors__x2"]
    assert names[0].startswith("words__word:w")
    restored = pickle.loads(pickle.dumps(transformer))
    assert (restored.transform(PAIRS).X != transformer.transform(PAIRS).X).nnz == 0
    assert "vectors" in transformer._repr_html_()
    assert repr(SequenceUnion([("a", "drop")])).startswith(
        "SequenceUnion(transformers="
    )


def test_search_over_parameters_and_blocks():
    pipeline = Pipeline(
        [("union", union()), ("crf", SDCACRF(tol=1e-2, random_state=0))]
    )
    grid = {"union__words__min_freq": [1, 2], "union__vectors": ["drop", "passthrough"]}
    search = GridSearchCV(pipeline, grid, cv=3, error_score="raise").fit(PAIRS, y)
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()
    best = search.best_estimator_
    assert len(best[:-1].get_feature_names_out()) == best["crf"].n_features_in_


@sklearn.config_context(enable_metadata_routing=True)
def test_metadata_goes_to_those_that_ask():
    weight = np.arange(1.0, 13.0)
    scaler = StandardScaler().set_fit_request(sample_weight=True)
    both = union().set_params(vectors=PerToken(scaler))
    crf = SDCACRF(tol=1e-1, random_state=0).set_fit_request(sample_weight=True)
    pipeline = make_pipeline(both, crf).fit(PAIRS, y, sample_weight=weight)
    fitted = pipeline[0].named_transformers_.vectors.transformer_
    repeated = np.repeat(weight, list(map(len, y)))
    np.testing.assert_allclose(fitted.mean_, np.average(ROWS, axis=0, weights=repeated))


def test_labels_reach_every_transformer():
    best = PerToken(SelectKBest(f_classif, k=1))
    both = SequenceUnion([("one", best, 1), ("two", clone(best), 1)])
    assert both.fit_transform(PAIRS, iter(y)).n_features == 2
    assert both.fit(PAIRS, y) is both
    with pytest.raises(ValueError, match="y has 11"):
        both.fit(PAIRS, y[1:])


def test_empty_sequences_and_chains_of_one_node():
    pairs = [([], []), ([{"word": "a"}], np.ones((1, 3)))]
    transformer = union().fit(pairs)
    assert transformer.transform(pairs).lengths.tolist() == [0, 1]
    crf = make_pipeline(union(), SDCACRF(tol=1e-1, random_state=0)).fit(PAIRS, y)
    assert crf.predict(pairs)[0] == []
    assert crf.predict([]).tolist() == []


def test_memory_is_that_of_the_blocks():
    """At any width a number needs 12 bytes, and at most twice that temporarily."""
    n, d = 3000, 50
    rng = np.random.default_rng(0)
    columns = rng.integers(100_000, size=(n, 10)).astype(np.int32)
    bounds = 10 * np.arange(n + 1, dtype=np.int32)
    shape = n, 1_000_000
    words = sp.csr_array((np.ones(10 * n), columns.ravel(), bounds), shape=shape)
    offsets = np.arange(0, n + 1, 20)
    words, vectors = PackedSequences(words, offsets), rng.normal(size=(n, d))
    both = SequenceUnion([("words", "passthrough", 0), ("vectors", "passthrough", 1)])
    pairs = list(zip(words, np.split(vectors, offsets[1:-1]), strict=True))
    both.fit(pairs)
    n_numbers = words.X.nnz + vectors.size
    tracemalloc.start()
    packed = both.transform(pairs)
    now, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert packed.X.nnz == n_numbers
    assert now < 12.5 * n_numbers
    assert peak < 45 * n_numbers


@pytest.mark.parametrize(
    ("transformers", "error", "message"),
    [
        ([], ValueError, "must be a list of tuples"),
        ([SequenceVectorizer()], ValueError, "must be a list of tuples"),
        ([("a", SequenceVectorizer(), 0, 1)], ValueError, "must be a list of tuples"),
        ([("a", "drop")], ValueError, "all dropped"),
        ([("a", "drop"), ("a", "drop")], ValueError, "not unique"),
        ([("a__b", "drop")], ValueError, "must not contain __"),
        ([("a", SequenceVectorizer)], TypeError, "'a' is the class SequenceVectorizer"),
        ([("a", PerToken(PCA()), 2)], ValueError, "sequence 0 is .* part 2 of 'a'"),
        ([("a", SequenceVectorizer(), "x")], ValueError, "without the part 'x' of 'a'"),
    ],
)
def test_errors(transformers, error, message):
    with pytest.raises(error, match=message):
        SequenceUnion(transformers).fit(PAIRS)


def test_errors_of_outputs_weights_and_metadata():
    table = SequenceUnion([("a", StandardScaler())])
    with pytest.raises(TypeError, match="'a' returned .* wrap it in PerToken"):
        table.fit(ROWS)
    with pytest.raises(ValueError, match=r"transformer_weights has \['x'\]"):
        union(transformer_weights={"x": 1.0}).fit(PAIRS)
    with pytest.raises(ValueError, match="enable_metadata_routing=True"):
        union().fit(PAIRS, sample_weight=np.ones(12))
    with pytest.raises(NotFittedError):
        union().transform(PAIRS)


def test_parts_of_different_lengths():
    pairs = [*PAIRS[:3], (WORDS[3], VECTORS[3][:-1])]
    with pytest.raises(ValueError, match="sequence 3 has 5 items for 'vectors', but 6"):
        union().fit(pairs)


def test_state_after_an_error_is_as_before():
    transformer = union().fit(PAIRS)
    before = transformer.transformers_
    with pytest.raises(ValueError, match="items for"):
        transformer.fit([*PAIRS[:3], (WORDS[3], VECTORS[3][:-1])])
    assert transformer.transformers_ is before


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        (5, "transformer_weights must be a dict"),
        ({"a": "x"}, "transformer_weights: 'a' has 'x'; a finite number"),
        ({"a": float("nan")}, "transformer_weights: 'a' has nan; a finite number"),
        ({"a": float("inf")}, "transformer_weights: 'a' has inf; a finite number"),
    ],
)
def test_weights_that_are_none(weights, message):
    union = SequenceUnion([("a", "passthrough")], transformer_weights=weights)
    with pytest.raises((TypeError, ValueError), match=message):
        union.fit([[[1.0]]])
