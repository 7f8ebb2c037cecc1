"""Features of a stream: the vectorizer that grows, and the hasher that need not."""

import copy
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal
from sklearn.feature_extraction import FeatureHasher

from skcrf_sdca import PassiveAggressiveCRF, SequenceHasher, SequenceVectorizer

ITEMS = st.lists(st.sampled_from("abcdefgh"), max_size=4)
SEQUENCES = st.lists(st.lists(ITEMS, min_size=1, max_size=3), min_size=1, max_size=4)
MIXED = [
    [{"word": "the", "n": 2.0, "v": np.array([0.5, 1.0])}, {"flag": True}],
    [{"word": "dog", "n": 1}, {"list": ["x", "y"], "inner": {"word": "the"}}],
    [{"word": "the", "more": "z", "v": np.array([1.0, 0.0])}],
]


@given(st.lists(SEQUENCES, min_size=1, max_size=4), st.booleans())
def test_chunks_give_features_the_numbers_of_one_fit(parts, save):
    whole = SequenceVectorizer().fit([x for part in parts for x in part])
    vectorizer = SequenceVectorizer()
    for part in parts:
        vectorizer.partial_fit(part)
        if save:
            vectorizer = pickle.loads(pickle.dumps(vectorizer))
    assert vectorizer.vocabulary_ == whole.vocabulary_
    assert vectorizer.n_features_out_ == whole.n_features_out_
    names = vectorizer.get_feature_names_out().tolist()
    assert names == whole.get_feature_names_out().tolist()


def test_dicts_of_all_values_come_in_chunks():
    whole = SequenceVectorizer().fit(MIXED)
    vectorizer = SequenceVectorizer()
    for x in MIXED:
        vectorizer.partial_fit([x])
    assert vectorizer.vocabulary_ == whole.vocabulary_
    before, after = vectorizer.transform(MIXED), whole.transform(MIXED)
    assert_array_equal(before.X.toarray(), after.X.toarray())


def test_names_of_what_was_packed_before_stay():
    vectorizer = SequenceVectorizer().partial_fit([[["a", "b"]]])
    packed = vectorizer.transform([[["b"]]])
    vectorizer.partial_fit([[["c"]]])
    assert list(packed.feature_names) == ["a", "b"]
    assert list(vectorizer.transform([]).feature_names) == ["a", "b", "c"]


@pytest.mark.parametrize(
    ("X", "error"),
    [
        (
            [[{"word": "new", "key": "new", "u": np.ones(2)}, {"n": np.nan}]],
            ValueError,
        ),
        ([[{"word": "new"}], [["a"]]], TypeError),
        ([[{"word": "new", "v": np.ones(3)}]], ValueError),
        ([], ValueError),
    ],
)
def test_a_bad_chunk_leaves_the_vectorizer_as_it_was(X, error):
    vectorizer = SequenceVectorizer().partial_fit(MIXED)
    before = copy.deepcopy(vars(vectorizer))
    with pytest.raises(error):
        vectorizer.partial_fit(X)
    assert vars(vectorizer) == before
    more = [[{"word": "newer", "key": "value"}]]
    straight = SequenceVectorizer().partial_fit(MIXED).partial_fit(more)
    assert vectorizer.partial_fit(more).vocabulary_ == straight.vocabulary_


def test_a_stream_has_no_rare_features():
    with pytest.raises(ValueError, match="min_freq=1, got 2"):
        SequenceVectorizer(min_freq=2).partial_fit(MIXED)


@given(SEQUENCES, st.booleans())
def test_strings_are_hashed_as_scikit_learn_does(X, alternate_sign):
    options = {"n_features": 16, "alternate_sign": alternate_sign}
    packed = SequenceHasher(**options).transform(X)
    hasher = FeatureHasher(**options, input_type="string")
    expected = hasher.transform([item for x in X for item in x])
    assert_array_equal(packed.X.toarray(), expected.toarray())
    assert packed.lengths.tolist() == list(map(len, X))


def test_dicts_are_hashed_by_the_names_of_the_vectorizer():
    vectorizer = SequenceVectorizer()
    rows = vectorizer.fit_transform(MIXED).X
    columns = FeatureHasher(64, input_type="string").transform(
        [[name] for name in vectorizer.get_feature_names_out()]
    )
    packed = SequenceHasher(64).transform(MIXED)
    assert_array_equal(packed.X.toarray(), (rows @ columns).toarray())


def test_cuts_of_a_hashed_stream_do_not_matter():
    hasher = SequenceHasher(32)
    rows = [hasher.transform([x]).X.toarray() for x in MIXED]
    assert_array_equal(hasher.transform(MIXED).X.toarray(), np.concatenate(rows))
    assert len(hasher.transform([])) == 0
    assert hasher.transform([[], [{}]]).X.shape == (1, 32)


@pytest.mark.parametrize(
    ("X", "message"),
    [
        ([[["a"]], [["b"], [3]]], "sequence 1, item 1"),
        ([[{"a": np.inf}]], "sequence 0, item 0: feature 'a' is infinity"),
        ([np.ones((2, 2))], "SequenceHasher takes sequences of dicts"),
    ],
)
def test_what_cannot_be_hashed_is_an_error_with_its_place(X, message):
    with pytest.raises((TypeError, ValueError), match=message):
        SequenceHasher(8).transform(X)


def test_the_growth_of_a_vocabulary_changes_no_copy_of_it():
    vectorizer = SequenceVectorizer().partial_fit(MIXED[:1])
    vocabulary, shallow = vectorizer.vocabulary_, copy.copy(vectorizer)
    before = copy.deepcopy(vocabulary)
    vectorizer.partial_fit([[{"other": np.array([1.0, 2.0])}]])
    assert vocabulary == shallow.vocabulary_ == before
    assert shallow.transform([[{"other": np.array([1.0, 2.0])}]]).X.nnz == 0


def test_an_error_after_an_empty_array_leaves_the_vectorizer_as_it_was():
    vectorizer = SequenceVectorizer().partial_fit(MIXED)
    before = copy.deepcopy(vectorizer.vocabulary_)
    item = {"new": np.array([1.0, 2.0]), "empty": np.array([])}
    with pytest.raises(ValueError, match="NaN"):
        vectorizer.partial_fit([[item, {"n": np.nan}]])
    assert vectorizer.vocabulary_ == before
    assert vectorizer.transform([[item]]).X.nnz == 0


def test_a_component_that_is_zero_in_the_first_chunk_is_learnt_later():
    first, second = ([[{"v": np.array([value, 1.0])}]] for value in (0.0, 2.0))
    whole = SequenceVectorizer().fit(first + second)
    vectorizer = SequenceVectorizer().partial_fit(first).partial_fit(second)
    assert vectorizer.vocabulary_ == whole.vocabulary_


def test_a_model_learns_from_a_hashed_stream():
    X = [[["w=the"], ["w=dog"]], [["w=dogs"], ["w=bark"]]]
    y = [["DET", "NOUN"], ["NOUN", "VERB"]]
    crf, hasher = PassiveAggressiveCRF(), SequenceHasher(2**8)
    for _ in range(3):
        for x, labels in zip(X, y, strict=True):
            crf.partial_fit(hasher.transform([x]), [labels], ["DET", "NOUN", "VERB"])
    assert crf.predict(hasher.transform(X)).tolist() == y


def test_the_first_names_of_a_vocabulary_that_grew_are_those_before():
    vectorizer = SequenceVectorizer().partial_fit([[["a", "b"]]])
    before = vectorizer.transform([]).feature_names
    after = vectorizer.partial_fit([[["c"]]]).transform([]).feature_names
    assert after.first(2) == before
    assert list(after.first(1)) == list(after.compact().first(1)) == ["a"]
    assert after.first(3) is after


def test_a_stream_of_packed_sequences_keeps_the_names_that_grow():
    vectorizer, crf = SequenceVectorizer(), PassiveAggressiveCRF()
    for X, y in ([[["a"]]], [["A"]]), ([[["b"], ["a"]]], [["A", "A"]]):
        crf.partial_fit(vectorizer.partial_fit(X).transform(X), y)
    assert crf.feature_names_in_.tolist() == ["a", "b"]
    other = SequenceVectorizer().fit([[["b"], ["a"], ["c"]]])
    with pytest.raises(ValueError, match="feature 0 is 'b'"):
        crf.partial_fit(other.transform([[["a"]]]), [["A"]])
