"""The cache of the steps of a Tagger: what is computed, and what joblib writes."""

import pickle
from pathlib import Path

import pytest
from joblib import Memory
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV

from skcrf_sdca import SDCACRF, SequenceVectorizer, make_tagger
from skcrf_sdca.datasets import make_chains
from skcrf_sdca.text import Apply, TokenFeatures

_, Y = make_chains(n_sequences=24, random_state=0)
X = [[f"word{label}{t % 3}" for t, label in enumerate(labels)] for labels in Y]
GRID = {"sdcacrf__alpha": [0.3, 0.1]}
calls = []


class CountingFeatures(TokenFeatures):
    def transform(self, X):
        calls.append(len(X))
        return super().transform(X)


class Unprinted(list):
    """A sentence that joblib must not print: this takes longer than its features."""

    def __repr__(self):
        raise AssertionError("printed")


def tagger(memory, *steps):
    steps = steps or (CountingFeatures(), SequenceVectorizer())
    return make_tagger(*steps, SDCACRF(tol=1e-2, random_state=0), memory=memory)


def sizes(folder):
    """Return the sizes of the files of results, and of all others."""
    files = [path for path in folder.rglob("*") if path.is_file()]
    are_results = [path.name == "output.pkl" for path in files]
    pairs = [
        (own, path.stat().st_size) for own, path in zip(are_results, files, strict=True)
    ]
    return tuple([size for own, size in pairs if own is kind] for kind in (True, False))


@pytest.mark.parametrize("make", [str, lambda folder: Memory(folder, verbose=0)])
def test_steps_are_fitted_once_for_a_fold(tmp_path, make):
    plain = GridSearchCV(tagger(None), GRID, cv=3, refit=False).fit(X, Y)
    cached = tagger(make(tmp_path))
    search = GridSearchCV(cached, GRID, cv=3, refit=False)
    calls.clear()
    found = [search.fit(X, Y).cv_results_["mean_test_score"] for _ in range(2)]
    # The held-out part of a fold is transformed for each candidate.
    assert calls.count(16) == 3
    assert [scores.tolist() for scores in found] == [
        plain.cv_results_["mean_test_score"].tolist()
    ] * 2
    cached.set_params(countingfeatures__templates=["word"]).fit(X, Y)
    assert calls[-1] == 24
    cached.fit(X, Y)
    assert calls.count(24) == 1
    cached.fit(X[:-1], Y[:-1])
    assert calls[-1] == 23
    assert cached.predict(X).tolist() == clone(cached).fit(X, Y).predict(X).tolist()


def test_arguments_are_neither_printed_nor_written(tmp_path):
    own = [Unprinted(words) for words in X]
    tagger(str(tmp_path)).fit(own, Y)
    results, others = sizes(tmp_path)
    assert len(results) == 2
    assert sum(others) < 3000
    features = TokenFeatures().transform(own * 40)
    tagger(str(tmp_path / "of_many"), TokenFeatures()).fit(own * 40, Y * 40)
    assert sum(sizes(tmp_path / "of_many")[0]) < 0.2 * len(pickle.dumps(features))


@pytest.mark.parametrize("fails", [False, True])
def test_the_parameter_stays_what_it_is(tmp_path, fails):
    own = tagger(str(tmp_path))
    if fails:
        with pytest.raises(ValueError, match="but y has 1"):
            own.fit(X, Y[:1])
    else:
        own.fit(X, Y)
    assert own.get_params()["memory"] == str(tmp_path)


@pytest.mark.parametrize(
    ("templates", "sentences"),
    [([Apply(lambda word: word, name="x")], X), (None, (words for words in X))],
    ids=["function", "generator"],
)
def test_what_cannot_be_cached_is_told(tmp_path, templates, sentences):
    own = tagger(str(tmp_path), TokenFeatures(templates))
    with pytest.raises(TypeError, match="memory: a step, or what it takes, cannot be"):
        own.fit(sentences, Y)
    assert own.get_params()["memory"] == str(tmp_path)
    own.set_params(memory=None).fit(X, Y)


def test_what_joblib_does_not_cache_stays_as_it_is(tmp_path):
    calls.clear()
    uncached = tagger(Memory(None, verbose=0))
    uncached.fit(X, Y).fit(X, Y)
    assert calls == [24, 24]

    class Own:
        def cache(self, function, ignore=()):
            calls.append("asked")
            return function

    tagger(Own()).fit(X, Y)
    assert calls == [24, 24, "asked", 24]
    assert list(Path(tmp_path).iterdir()) == []
