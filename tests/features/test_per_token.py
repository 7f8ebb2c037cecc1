"""PerToken applies scikit-learn's transformers to sequences of every format."""

import pickle

import numpy as np
import pytest
import scipy.sparse as sp
import sklearn
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import BaseEstimator, clone
from sklearn.compose import ColumnTransformer
from sklearn.decomposition import PCA
from sklearn.feature_extraction import DictVectorizer, FeatureHasher
from sklearn.feature_extraction.text import CountVectorizer, HashingVectorizer
from sklearn.feature_selection import SelectKBest, chi2, f_classif
from sklearn.impute import SimpleImputer
from sklearn.pipeline import FeatureUnion, make_pipeline
from sklearn.preprocessing import (
    FunctionTransformer,
    KBinsDiscretizer,
    MaxAbsScaler,
    OneHotEncoder,
    StandardScaler,
    TargetEncoder,
)
from sklearn.utils import get_tags
from sklearn.utils.estimator_checks import check_estimator

from skcrf_sdca import (
    SDCACRF,
    PackedSequences,
    PerToken,
    SequenceVectorizer,
    make_tagger,
)
from skcrf_sdca.datasets import make_chains

X, y = make_chains(n_sequences=12, n_features=4, random_state=0)
ROWS = np.concatenate(X)
FLAT = np.concatenate(y)
LENGTHS = list(map(len, X))
PACKED = PackedSequences.from_sequences(X)
FRAMES = "frames"


def dense(packed):
    return packed.X.toarray() if packed.is_sparse else packed.X


def list_of_str(labels):
    return list(map(str, labels))


def in_form(form):
    if form == "packed":
        return PACKED
    if form == "generator":
        return iter(X)
    if form == FRAMES:
        pandas = pytest.importorskip("pandas")
        return [pandas.DataFrame(rows, columns=list("abcd")) for rows in X]
    convert = {"arrays": np.asarray, "sparse": sp.csr_array, "lists": np.ndarray.tolist}
    return [convert[form](rows) for rows in X]


@pytest.mark.parametrize(
    "form", ["packed", "generator", FRAMES, "arrays", "sparse", "lists"]
)
def test_every_form_of_numbers(form):
    per_token = PerToken(MaxAbsScaler())
    scaled = per_token.fit_transform(in_form(form))
    assert scaled.is_sparse == (form == "sparse")
    assert scaled.lengths.tolist() == LENGTHS
    np.testing.assert_allclose(dense(scaled), MaxAbsScaler().fit_transform(ROWS))
    again = per_token.transform(in_form(form))
    assert dense(again).tobytes() == dense(scaled).tobytes()
    assert per_token.n_features_in_ == per_token.n_features_out_ == 4


def test_sparse_packed_sequences():
    packed = PackedSequences(sp.csr_array(ROWS), PACKED.offsets)
    scaled = PerToken(StandardScaler(with_mean=False)).fit_transform(packed)
    assert scaled.is_sparse
    expected = StandardScaler(with_mean=False).fit_transform(ROWS)
    np.testing.assert_allclose(scaled.X.toarray(), expected)


WORDS = [["the", "cat"], [], ["a", "dog", "barks"]]


@pytest.mark.parametrize(
    ("transformer", "item"),
    [
        (DictVectorizer(), lambda word: {"word": word, "n": len(word)}),
        (FeatureHasher(16), lambda word: {"word": word}),
        (FeatureHasher(16, input_type="string"), lambda word: [word, word[0]]),
        (CountVectorizer(analyzer="char"), str),
        (HashingVectorizer(analyzer="char_wb", n_features=32), str),
        (OneHotEncoder(), lambda word: [word, word[0]]),
        (
            make_pipeline(DictVectorizer(sparse=False), PCA(2)),
            lambda word: {"word": word},
        ),
    ],
    ids=lambda part: type(part).__name__,
)
def test_lists_of_items(transformer, item):
    sequences = [list(map(item, words)) for words in WORDS]
    packed = PerToken(transformer).fit_transform(sequences)
    assert packed.lengths.tolist() == [2, 0, 3]
    items = [items for sequence in sequences for items in sequence]
    expected = clone(transformer).fit_transform(items)
    expected = expected.toarray() if sp.issparse(expected) else expected
    np.testing.assert_allclose(dense(packed), expected, atol=1e-12)


def test_arrays_of_strings():
    sequences = [np.array([["the", "DT"], ["cat", "NN"]]), np.array([["a", "DT"]])]
    packed = PerToken(OneHotEncoder()).fit_transform(sequences)
    assert packed.X.toarray().sum(axis=1).tolist() == [2, 2, 2]
    words = [np.array(["the", "cat"]), np.array(["a"])]
    counts = PerToken(CountVectorizer(analyzer="char")).fit_transform(words)
    assert counts.X.sum(axis=1).tolist() == [3, 3, 1]


@given(
    st.lists(st.integers(0, 4), min_size=1, max_size=6).filter(any),
    st.sampled_from(["arrays", "lists", "packed"]),
)
def test_identity_gives_back_what_went_in(lengths, form):
    rng = np.random.default_rng(len(lengths))
    sequences = [rng.normal(size=(length, 2)) for length in lengths]
    given_form = {
        "arrays": sequences,
        "lists": [rows.tolist() for rows in sequences],
        "packed": PackedSequences.from_sequences(sequences),
    }[form]
    make_array = FunctionTransformer(np.asarray)
    packed = PerToken(make_array).fit_transform(given_form)
    assert len(packed) == len(sequences)
    for rows, expected in zip(packed, sequences, strict=True):
        assert rows.tolist() == expected.tolist()


@pytest.mark.parametrize("empty", [[], [[]], [np.empty((0, 4)), []]])
def test_nothing_to_transform(empty):
    per_token = PerToken(StandardScaler()).fit(X)
    packed = per_token.transform(empty)
    assert (len(packed), packed.n_positions, packed.n_features) == (len(empty), 0, 4)
    crf = make_pipeline(per_token, SDCACRF(tol=1e-1, random_state=0)).fit(X, y)
    assert crf.predict(empty).tolist() == [[] for _ in empty]


def test_a_supervised_transformer_sees_the_label_of_each_item():
    chosen = PerToken(SelectKBest(f_classif, k=2)).fit(X, y)
    expected = SelectKBest(f_classif, k=2).fit(ROWS, FLAT)
    np.testing.assert_allclose(chosen.transformer_.scores_, expected.scores_)
    assert get_tags(PerToken(TargetEncoder())).target_tags.required
    assert not get_tags(PerToken(PCA())).target_tags.required
    words = [[[label, "w"] for label in labels] for labels in map(list_of_str, y)]
    select = PerToken(SelectKBest(chi2, k=3))
    pipeline = make_pipeline(SequenceVectorizer(), select).fit(words, y)
    assert set(pipeline.get_feature_names_out()) == set("012")


def test_labels_arrive_as_they_are():
    seen = []

    class Spy(BaseEstimator):
        """A transformer without fit_transform, which is optional."""

        def fit(self, X, y=None):
            seen.append(y)
            return self

        def transform(self, X):
            return np.ones((len(X), 1))

    PerToken(Spy()).fit([["a", "b"], ["c"]], (labels for labels in [["O", "B"], ["O"]]))
    PerToken(Spy()).fit([["a", "b"], ["c"]], [[3, 1], [3]])
    PerToken(Spy()).fit([["a", "b"], ["c"]])
    assert [None if labels is None else labels.tolist() for labels in seen] == [
        ["O", "B", "O"],
        [3, 1, 3],
        None,
    ]


@sklearn.config_context(enable_metadata_routing=True)
def test_sample_weight_of_sequences_becomes_one_of_items():
    weight = np.arange(1.0, 13.0)
    scaler = StandardScaler().set_fit_request(sample_weight=True)
    per_token = PerToken(scaler).fit(X, y, sample_weight=weight)
    expected = StandardScaler().fit(ROWS, sample_weight=np.repeat(weight, LENGTHS))
    np.testing.assert_allclose(per_token.transformer_.mean_, expected.mean_)
    crf = SDCACRF(tol=1e-2, random_state=0).set_fit_request(sample_weight=True)
    pipeline = make_pipeline(PerToken(scaler), crf).fit(X, y, sample_weight=weight)
    np.testing.assert_allclose(pipeline[0].transformer_.mean_, expected.mean_)
    with pytest.raises(
        ValueError, match=r"sample_weight has shape \(3,\), but X has 12"
    ):
        PerToken(scaler).fit(X, sample_weight=np.ones(3))


@sklearn.config_context(enable_metadata_routing=True)
def test_metadata_reaches_a_pipeline_inside():
    scaler = StandardScaler().set_fit_request(sample_weight=True)
    inner = make_pipeline(FunctionTransformer(), scaler)
    weight = np.arange(1.0, 13.0)
    per_token = PerToken(inner).fit(X, sample_weight=weight)
    expected = np.average(ROWS, axis=0, weights=np.repeat(weight, LENGTHS))
    np.testing.assert_allclose(per_token.transformer_[-1].mean_, expected)


def test_metadata_without_routing_is_refused():
    with pytest.raises(ValueError, match="enable_metadata_routing=True"):
        PerToken(StandardScaler()).fit(X, sample_weight=np.ones(12))


def test_feature_names():
    names = PerToken(StandardScaler()).fit(X).get_feature_names_out()
    assert names.tolist() == ["x0", "x1", "x2", "x3"]
    hasher = PerToken(FeatureHasher(3)).fit([[{"a": 1}]])
    assert hasher.get_feature_names_out().tolist() == [
        f"featurehasher{i}" for i in range(3)
    ]
    chain = make_pipeline(SequenceVectorizer(), PerToken(MaxAbsScaler()))
    chain.fit([[{"word": "a", "n": 2}, {"word": "b"}]])
    assert chain.get_feature_names_out().tolist() == ["word:a", "n", "word:b"]
    frames = in_form(FRAMES)
    assert PerToken(PCA(1)).fit(frames).feature_names_in_.tolist() == list("abcd")


def test_columns_of_frames_by_name():
    pandas = pytest.importorskip("pandas")
    sequences = [
        pandas.DataFrame({"word": ["the", "cat"], "length": [3.0, 3.0]}),
        pandas.DataFrame({"word": ["a"], "length": [1.0]}),
    ]
    columns = ColumnTransformer(
        [("word", OneHotEncoder(), ["word"]), ("length", MaxAbsScaler(), ["length"])]
    )
    packed = PerToken(columns).fit_transform(sequences)
    np.testing.assert_allclose(dense(packed)[:, -1], [1, 1, 1 / 3])
    assert packed.n_features == 4


def test_pandas_output_inside_makes_no_difference():
    pytest.importorskip("pandas")
    plain = PerToken(StandardScaler()).fit_transform(X)
    with sklearn.config_context(transform_output="pandas"):
        assert np.array_equal(PerToken(StandardScaler()).fit_transform(X).X, plain.X)
    inside = PerToken(StandardScaler().set_output(transform="pandas"))
    assert np.array_equal(inside.fit_transform(X).X, plain.X)
    outside = inside.set_output(transform="pandas")
    assert outside is inside
    assert np.array_equal(outside.fit_transform(X).X, plain.X)


def test_sparse_items_become_no_frame():
    """scikit-learn has no data frame of sparse rows."""
    packed = SequenceVectorizer().fit_transform([[["a"], ["b", "a"]], [["a"]]])
    scaler = PerToken(StandardScaler(with_mean=False))
    plain = scaler.fit_transform(packed).X.toarray()
    with sklearn.config_context(transform_output="pandas"):
        found = scaler.fit_transform(packed), scaler.transform(packed)
    for rows in found:
        assert np.array_equal(rows.X.toarray(), plain)


def test_nan_is_for_the_transformer_to_take_away():
    holes = [rows.copy() for rows in X]
    holes[3][0, 1] = np.nan
    filled = PerToken(SimpleImputer()).fit_transform(holes)
    assert np.isfinite(filled.X).all()
    with pytest.raises(ValueError, match="NaN: sequence 3, position 0, feature 1"):
        PerToken(StandardScaler()).fit_transform(holes)


def test_parameters_inside_and_clones():
    per_token = PerToken(make_pipeline(StandardScaler(), PCA(2)))
    per_token.set_params(transformer__pca__n_components=1)
    copy = clone(per_token.fit(X))
    assert not hasattr(copy, "transformer_")
    assert copy.fit_transform(X).n_features == 1
    assert not hasattr(per_token.transformer, "n_features_in_")
    assert repr(PerToken(PCA(2))) == "PerToken(transformer=PCA(n_components=2))"
    assert "StandardScaler" in per_token._repr_html_()
    restored = pickle.loads(pickle.dumps(per_token))
    assert np.array_equal(restored.transform(X).X, per_token.transform(X).X)


def test_union_inside():
    bins = KBinsDiscretizer(2, strategy="uniform")
    inner = FeatureUnion([("scaled", StandardScaler()), ("bins", bins)])
    packed = PerToken(inner).fit_transform(X)
    assert packed.is_sparse
    assert packed.n_features == 4 + 8


def test_a_table_goes_through_as_it_is():
    """A table stays a table, so that the estimators fit one-node chains."""
    labels = FLAT
    per_token = PerToken(StandardScaler())
    scaled = per_token.fit_transform(ROWS, labels)
    np.testing.assert_allclose(scaled, StandardScaler().fit_transform(ROWS))
    crf = SDCACRF(tol=1e-9, max_iter=1000, alpha=0.01, random_state=0)
    pipeline = make_pipeline(PerToken(StandardScaler()), crf).fit(ROWS, labels)
    reference = make_pipeline(StandardScaler(), clone(crf)).fit(ROWS, labels)
    assert np.array_equal(pipeline.predict_proba(ROWS), reference.predict_proba(ROWS))
    chosen = PerToken(SelectKBest(f_classif, k=1)).fit_transform(ROWS.tolist(), labels)
    assert chosen.shape == (len(ROWS), 1)


@pytest.mark.parametrize(
    "transformer", [StandardScaler(), MaxAbsScaler(), SelectKBest(k=1), PCA()]
)
def test_checks_of_scikit_learn_on_tables(transformer):
    statuses = {
        result["check_name"]: result["status"]
        for result in check_estimator(PerToken(transformer), on_fail="raise")
    }
    assert set(statuses.values()) == {"passed"}


ITEMS = "a sequence must be a list of items"


@pytest.mark.parametrize(
    ("sequences", "labels", "error", "message"),
    [
        ([], None, ValueError, "X has 0 sequences and 0 items"),
        ([[], []], None, ValueError, "X has 2 sequences and 0 items"),
        ("text", None, TypeError, "X must be a list of sequences, got str"),
        (["text"], None, TypeError, f"sequence 0 is of type str 'text'; {ITEMS}"),
        ([{"a": 1}], None, TypeError, f"sequence 0 is of type dict; {ITEMS}"),
        (
            [X[0], X[1][:, :2]],
            None,
            ValueError,
            "sequence 1 is dense with 2 features, ",
        ),
        ([[], X[0], sp.csr_array(X[1])], None, ValueError, "sequence 2 is sparse with"),
        ([X[0], [{"a": 1}]], None, ValueError, "sequence 1 is a list of items, but"),
        (X, y[:-1], ValueError, "X has 12 sequences, but y has 11"),
        (
            X,
            [*y[:-1], ["a"]],
            ValueError,
            "Sequence 11 has 14 items in X, but 1 labels",
        ),
    ],
)
def test_errors_name_the_place(sequences, labels, error, message):
    with pytest.raises(error, match=message):
        PerToken(StandardScaler()).fit(sequences, labels)


@pytest.mark.parametrize(
    ("function", "error", "message"),
    [
        (
            lambda rows: rows[1:],
            ValueError,
            "FunctionTransformer returned .* one row an",
        ),
        (lambda rows: rows[:, 0], ValueError, "FunctionTransformer returned"),
        (lambda rows: [{"a": 1}] * len(rows), ValueError, "returned a list of dict"),
        (lambda rows: rows.astype(str), TypeError, "must hold numbers"),
    ],
)
def test_a_transformer_that_returns_no_rows_of_numbers(function, error, message):
    with pytest.raises(error, match=message):
        PerToken(FunctionTransformer(function)).fit(X)


def test_state_after_an_error_is_as_before():
    per_token = PerToken(StandardScaler()).fit(X)
    before = per_token.transformer_
    with pytest.raises(ValueError, match="features"):
        per_token.fit([X[0], X[1][:, :2]])
    assert per_token.transformer_ is before


def test_transform_before_fit():
    with pytest.raises(sklearn.exceptions.NotFittedError):
        PerToken(StandardScaler()).transform(X)


@pytest.mark.parametrize(
    "y_partial",
    [
        [[None, *list_of_str(labels[1:])] for labels in y],
        [[{"0", "1"}, *list_of_str(labels[1:])] for labels in y],
        [np.full((len(labels), 3), 1 / 3) for labels in y],
    ],
    ids=["None", "sets", "probabilities"],
)
def test_labels_that_are_not_known_are_for_the_chain(y_partial):
    scaled = PerToken(StandardScaler()).fit_transform(X, y_partial)
    assert (
        dense(scaled).tobytes()
        == dense(PerToken(StandardScaler()).fit_transform(X)).tobytes()
    )
    make_tagger(PerToken(StandardScaler()), SDCACRF(tol=0.1)).fit(X, y_partial)
    with pytest.raises(ValueError, match="requires y"):
        PerToken(SelectKBest(f_classif, k=2)).fit_transform(X, y_partial)
