"""Packed data carry the names of their features, and estimators show and check them."""

import copy
import pickle
import tracemalloc
from functools import partial

import joblib
import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.feature_extraction import FeatureHasher
from sklearn.feature_selection import SelectKBest, chi2
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, MaxAbsScaler, StandardScaler

from skcrf_sdca import (
    SDCACRF,
    PackedSequences,
    PerToken,
    SequenceUnion,
    SequenceVectorizer,
    load_model,
    save_model,
)
from skcrf_sdca.features import vectorizer

WORDS = [
    [{"word": w, "title": w.istitle()} for w in s.split()]
    for s in ("the Rhine rises", "Basel waits", "the cat waits", "Bern rises")
]
RNG = np.random.default_rng(0)
VECTORS = [RNG.normal(size=(len(words), 2)) for words in WORDS]
FRAMES = [pd.DataFrame(v, columns=["a", "b"]) for v in VECTORS]
PAIRS = list(zip(WORDS, VECTORS, strict=True))
LABELS = [["O", "LOC", "O"], ["LOC", "O"], ["O", "O", "O"], ["LOC", "O"]]
NAMES = SequenceVectorizer().fit(WORDS).get_feature_names_out()

texts = st.text(st.characters(), max_size=5)


def small(**parameters):
    return SDCACRF(alpha=0.05, random_state=0, **parameters)


def shown(crf):
    return set(crf.state_features()["feature"]) - {"<intercept>", "<start>", "<end>"}


def union():
    return SequenceUnion(
        [("words", SequenceVectorizer(), 0), ("rows", PerToken(StandardScaler()), 1)]
    )


# What carries names -------------------------------------------------------------------


@given(st.lists(st.lists(st.lists(texts, max_size=3), max_size=4), min_size=1))
def test_a_vectorizer_names_what_it_packs(X):
    if not any(X):
        X = [*X, [["a"]]]
    made = SequenceVectorizer()
    names = made.fit_transform(X).feature_names
    assert list(names) == made.get_feature_names_out().tolist()
    assert names == made.transform(X[:1]).feature_names
    again = pickle.loads(pickle.dumps(names.compact()))
    assert list(again) == list(names)
    assert again == names


@given(st.data())
def test_parts_copies_and_pickles_keep_the_names(data):
    n = len(WORDS)
    packed = SequenceVectorizer().fit_transform(WORDS)
    key = data.draw(
        st.slices(n)
        | st.lists(st.integers(-n, n - 1)).map(lambda key: np.array(key, dtype=int))
        | st.lists(st.booleans(), min_size=n, max_size=n).map(np.array)
    )
    part = packed[key]
    assert part.feature_names is packed.feature_names
    for other in (
        copy.copy(part),
        copy.deepcopy(part),
        pickle.loads(pickle.dumps(part)),
    ):
        assert list(other.feature_names) == NAMES.tolist()
        assert other.feature_names == packed.feature_names
        assert other.offsets.tolist() == part.offsets.tolist()


@pytest.mark.parametrize(
    ("transformer", "X"),
    [
        (SequenceVectorizer(), WORDS),
        (union(), PAIRS),
        (PerToken(StandardScaler()), VECTORS),
        (PerToken(StandardScaler()), FRAMES),
        (PerToken(FeatureHasher(n_features=4)), WORDS),
        (make_pipeline(SequenceVectorizer(), PerToken(MaxAbsScaler())), WORDS),
        (make_pipeline(SequenceVectorizer(), PerToken(SelectKBest(chi2, k=3))), WORDS),
    ],
    ids=["words", "union", "array", "frames", "hasher", "scaled", "selected"],
)
def test_every_transformer_names_what_it_packs(transformer, X):
    tagger = make_pipeline(transformer, small()).fit(X, LABELS)
    names = tagger[:-1].get_feature_names_out().tolist()
    crf, packed = tagger[-1], tagger[:-1].transform(X)
    assert list(packed.feature_names) == names == crf.feature_names_in_.tolist()
    assert shown(crf) <= set(names)
    pickled = pickle.loads(pickle.dumps(tagger))
    assert pickled.predict(X).tolist() == tagger.predict(X).tolist()
    assert pickled[-1].feature_names_in_.tolist() == names
    empty = tagger[:-1].transform([])
    assert list(empty.feature_names) == names


def test_transformers_without_usable_names_get_numbers():
    doubled = FunctionTransformer(partial(np.multiply, 2.0))
    packed = PerToken(doubled).fit_transform(VECTORS)
    expected = ["functiontransformer0", "functiontransformer1"]
    assert list(packed.feature_names) == expected
    # The function of the transformer is not in the pickle of a model.
    local = FunctionTransformer(lambda rows: 2.0 * rows)
    crf = small().fit(PerToken(local).fit_transform(VECTORS), LABELS)
    assert pickle.loads(pickle.dumps(crf)).feature_names_in_.tolist() == expected


def test_a_union_with_a_part_without_names_has_none():
    class Bare(PerToken):
        def fit_transform(self, X, y=None):
            packed = super().fit_transform(X, y)
            return PackedSequences(packed.X, packed.offsets)

    made = SequenceUnion([("a", Bare(StandardScaler())), ("b", "passthrough")])
    assert made.fit_transform(VECTORS).feature_names is None


def test_frames_give_their_columns():
    packed = PackedSequences.from_sequences(FRAMES)
    assert list(packed.feature_names) == ["a", "b"]
    crf = small().fit(packed, LABELS)
    assert crf.predict(FRAMES).tolist() == crf.predict(packed).tolist()
    assert small().fit(FRAMES, LABELS).predict(packed).tolist()
    with pytest.raises(ValueError, match="feature 0 is 'b', but in fit it was 'a'"):
        crf.predict(PackedSequences.from_sequences([f[["b", "a"]] for f in FRAMES]))


def test_names_may_be_given():
    packed = PackedSequences(np.eye(2), [0, 2], feature_names=("a", "b"))
    assert packed.feature_names[1] == "b"
    assert len(packed.feature_names) == 2
    assert repr(packed.feature_names) == "FeatureNames(n_features=2)"
    assert packed.feature_names.shape == (2,)
    assert packed.feature_names != ["a", "b"]
    assert PackedSequences(np.eye(2), [0, 2]).feature_names is None
    with pytest.raises(ValueError, match="feature_names has 1 names, but X has 2"):
        PackedSequences(np.eye(2), [0, 2], feature_names=["a"])
    with pytest.raises(TypeError, match="feature_names must be a list of str, got of"):
        PackedSequences(np.eye(2), [0, 2], feature_names="ab")
    with pytest.raises(TypeError, match="feature_names: name 1 must be a str, got 1"):
        PackedSequences(np.eye(2), [0, 2], feature_names=["a", 1])


def test_a_file_has_no_names(tmp_path):
    packed = SequenceVectorizer().fit_transform(WORDS)
    packed.save(tmp_path / "train.packed")
    opened = PackedSequences.open(tmp_path / "train.packed")
    assert opened.feature_names is None
    # Names on one side are no reason to warn: they may have gone with the file.
    crf = small().fit(packed, LABELS)
    assert crf.predict(opened).tolist() == crf.predict(packed).tolist()
    assert small().fit(opened, LABELS).predict(packed).tolist()
    named = PackedSequences(
        opened.X, opened.offsets, feature_names=packed.feature_names
    )
    assert shown(small().fit(named, LABELS)) <= set(NAMES)


def test_parts_of_a_file_have_the_same_names(tmp_path):
    made, other = SequenceVectorizer().fit(WORDS), SequenceVectorizer().fit(WORDS[::-1])
    unnamed = PackedSequences(made.transform(WORDS).X, made.transform(WORDS).offsets)
    with PackedSequences.writer(tmp_path / "train.packed") as file:
        for part in (unnamed, made.transform(WORDS), made.transform(WORDS[:1])):
            file.append(part)
        with pytest.raises(ValueError, match="names .* are not those of the parts"):
            file.append(other.transform(WORDS))
        file.append(unnamed)
    assert len(PackedSequences.open(tmp_path / "train.packed")) == 3 * len(WORDS) + 1


# What shows names ---------------------------------------------------------------------


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_a_search_over_packed_data_shows_names(n_jobs):
    packed = SequenceVectorizer().fit_transform(WORDS)
    search = GridSearchCV(small(), {"alpha": [0.1, 0.01]}, cv=2, n_jobs=n_jobs)
    best = search.fit(packed, LABELS).best_estimator_
    assert shown(best) <= set(NAMES)
    assert best.feature_names_in_.tolist() == NAMES.tolist()
    assert set(best.explain(packed[:1], 1).features) & set(NAMES)


def test_names_that_are_given_win():
    packed = SequenceVectorizer().fit_transform(WORDS)
    crf = small().fit(packed, LABELS)
    own = [f"own{j}" for j in range(len(NAMES))]
    assert set(crf.state_features(feature_names=own)["feature"]) & set(own)
    assert set(crf.top_features(feature_names=own)["feature"]) & set(own)
    assert set(crf.explain(packed[:1], 1, feature_names=own).features) & set(own)


def test_another_fit_drops_the_names():
    crf = small().fit(SequenceVectorizer().fit_transform(WORDS), LABELS)
    assert not hasattr(crf.fit(VECTORS, LABELS), "feature_names_in_")
    with pytest.raises(AttributeError, match="SDCACRF has no feature_names_in_"):
        crf.feature_names_in_  # noqa: B018


def test_old_pickles_keep_the_names_of_columns():
    crf = small().fit(FRAMES, LABELS)
    names = crf.feature_names_in_
    del crf._feature_names
    vars(crf)["feature_names_in_"] = names
    other = pickle.loads(pickle.dumps(crf))
    assert other.feature_names_in_.tolist() == ["a", "b"]
    with pytest.raises(ValueError, match="must be in the same order"):
        other.predict([frame[["b", "a"]] for frame in FRAMES])


# What checks names --------------------------------------------------------------------


def test_names_of_another_vectorizer_are_refused():
    crf = small().fit(SequenceVectorizer().fit_transform(WORDS), LABELS)
    other = SequenceVectorizer().fit(WORDS[::-1])
    packed = other.transform(WORDS)
    for method in (crf.predict, crf.predict_proba, lambda X: crf.score(X, LABELS)):
        with pytest.raises(ValueError, match="feature 0 is 'word:Bern', but in fit it"):
            method(packed)
    on_dicts = small().fit(WORDS, LABELS)
    on_dicts.predict(on_dicts.vectorizer_.transform(WORDS))
    with pytest.raises(ValueError, match="feature 0 is 'word:Bern', but in fit it"):
        on_dicts.predict(packed)


def test_the_number_of_features_is_checked_first():
    crf = small().fit(SequenceVectorizer().fit_transform(WORDS), LABELS)
    fewer = SequenceVectorizer().fit_transform(WORDS[:1])
    with pytest.raises(ValueError, match="X has 4 features, but SDCACRF is expecting"):
        crf.predict(fewer)


def test_equal_names_of_two_vectorizers_are_compared_once(monkeypatch):
    made = SequenceVectorizer()
    crf = small().fit(made.fit_transform(WORDS), LABELS)
    other = pickle.loads(pickle.dumps(made))
    n_calls = 0

    def counted(*arguments, real=vectorizer.vocabulary_names):
        nonlocal n_calls
        n_calls += 1
        return real(*arguments)

    monkeypatch.setattr(vectorizer, "vocabulary_names", counted)
    crf = small().fit(made.fit_transform(WORDS), LABELS)
    for _ in range(3):
        crf.predict(made.transform(WORDS))
    assert n_calls == 0
    for _ in range(3):
        crf.predict(other.transform(WORDS))
    assert n_calls == 2


def test_a_pickled_pipeline_shares_its_vocabulary():
    words = [[[f"word{i}-{j}" for j in range(50)]] for i in range(200)]
    tagger = make_pipeline(SequenceVectorizer(), small(max_iter=1, tol=1.0))
    tagger.fit(words, [["A"], ["B"]] * 100)
    alone = len(pickle.dumps(tagger[0])) + tagger[1].coef_.nbytes
    assert len(pickle.dumps(tagger)) < alone + 2e4
    loaded = pickle.loads(pickle.dumps(tagger))
    arguments = loaded[1]._feature_names._arguments
    assert arguments[0] is loaded[0].vocabulary_


def test_names_cost_nothing_until_somebody_looks():
    words = [[[f"word{i}-{j}" for j in range(100)]] for i in range(300)]
    made = SequenceVectorizer()
    packed = made.fit_transform(words)
    crf = small(max_iter=1, tol=1.0).fit(packed[:2], [["A"], ["B"]])
    tracemalloc.start()
    for _ in range(3):
        crf.predict(made.transform([[["word0-0"]]]))
        packed[:1]
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    # 30,000 references alone would take 240 kB.
    assert peak < 1.5e5


def test_joblib_shares_the_names_with_its_workers(tmp_path):
    packed = SequenceVectorizer().fit_transform(WORDS)
    joblib.dump(packed, tmp_path / "packed")
    names = joblib.load(tmp_path / "packed", mmap_mode="r").feature_names
    assert all(isinstance(part, np.memmap) for part in names._arguments)
    assert list(names) == NAMES.tolist()
    assert packed.__reduce__()[2] is packed.__reduce__()[2]


def test_saved_models_keep_names(tmp_path):
    tagger = make_pipeline(SequenceVectorizer(), small()).fit(WORDS, LABELS)
    save_model(tagger, tmp_path / "tagger")
    loaded = load_model(tmp_path / "tagger")
    assert loaded[-1].feature_names_in_.tolist() == NAMES.tolist()
    assert loaded.predict(WORDS).tolist() == tagger.predict(WORDS).tolist()
    save_model(tagger[-1], tmp_path / "crf")
    assert load_model(tmp_path / "crf").feature_names_in_.tolist() == NAMES.tolist()
    # The names of another vectorizer are stored.
    tagger.steps[0] = "other", SequenceVectorizer().fit(WORDS[::-1])
    save_model(tagger, tmp_path / "tagger")
    loaded = load_model(tmp_path / "tagger")
    assert loaded[-1].feature_names_in_.tolist() == NAMES.tolist()
