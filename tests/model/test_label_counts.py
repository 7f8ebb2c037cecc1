"""The example of budgets of a label, against enumeration of all paths."""

from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.special import logsumexp

import reference
from samples import params_of
from skcrf_sdca import LBFGSCRF
from skcrf_sdca.datasets import make_chains

K = 3
X, y = make_chains(8, n_labels=K, n_features=4, length=(1, 5), random_state=0)
WORDS = [[["a", "b"], ["c"], ["a"], ["a"]], [["b"], ["a", "c"]], [["c"]]]
TAGS = [["N", "V", "V", "V"], ["V", "N"], ["V"]]
# The number of the label, and how often it may be there.
BUDGETS = [(0, 0, 0), (1, 1, 0), (1, 1, 1), (2, 2, 0), (2, 3, 2)]


@pytest.fixture
def example(monkeypatch):
    folder = Path(__file__).parents[2] / "examples" / "signals"
    monkeypatch.syspath_prepend(folder)
    import label_counts

    return label_counts


def enumerated(crf, x, k, most, least):
    """Return the paths of a sequence that keep to a budget, and their scores."""
    params = params_of(crf)
    paths = reference.all_paths(len(x), K)
    scores = reference.path_scores(
        reference.node_scores(np.array(x), params), params.transition
    )
    count = (paths == k).sum(axis=1)
    keep = (count >= least) & (count <= most)
    return paths[keep], scores[keep]


@pytest.mark.parametrize(("k", "most", "least"), BUDGETS)
def test_answers_are_those_of_the_paths_that_keep_to_the_budget(
    example, k, most, least
):
    crf = LBFGSCRF(alpha=0.1).fit(X, y)
    model = example.limited(crf, crf.classes_[k], most, least)
    long = [x for x in X if len(x) >= least]
    assert len(long) > 3
    best = [example.label_of(crf, states) for states in model.predict(long)]
    log_z, proba = model.log_partition(long), model.predict_proba(long)
    for i, x in enumerate(long):
        paths, scores = enumerated(crf, x, k, most, least)
        assert best[i] == crf.classes_[paths[scores.argmax()]].tolist()
        assert_allclose(log_z[i], logsumexp(scores), rtol=1e-9, atol=1e-9)
        shares = np.exp(scores - logsumexp(scores))
        expected = [shares @ (paths == label) for label in range(K)]
        found = proba[i].reshape(len(x), -1, K).sum(axis=1)
        assert_allclose(found.T, expected, rtol=1e-7, atol=1e-9)
        listed = model.predict_n_best([x], len(paths))[0]
        assert_allclose([p for _, p in listed], np.sort(shares)[::-1], rtol=1e-7)


def test_a_model_of_words_is_not_changed(example):
    crf = LBFGSCRF(alpha=0.1, features="observed").fit(WORDS, TAGS)
    before = crf.predict_proba(WORDS)
    model = example.limited(crf, "V", most=1)
    found = [example.label_of(crf, states) for states in model.predict(WORDS)]
    assert max(labels.count("V") for labels in found) == 1
    assert crf.classes_.tolist() == ["N", "V"]
    for rows, own in zip(crf.predict_proba(WORDS), before, strict=True):
        assert_array_equal(rows, own)


def test_forbidden_transitions_stay_so(example):
    crf = LBFGSCRF(alpha=0.1, transitions=[("N", "V"), ("V", "N")]).fit(
        [WORDS[1]], [TAGS[1]]
    )
    model = example.limited(crf, "N", most=2)
    (states,) = model.predict([[["a"]] * 4])
    labels = example.label_of(crf, states)
    assert labels in (["N", "V"] * 2, ["V", "N"] * 2)


def test_training_given_counts_is_certified(example):
    crf, alpha, k = LBFGSCRF(alpha=0.1).fit(X, y), 0.1, 1
    label = crf.classes_[k]
    codes = [np.searchsorted(crf.classes_, labels) for labels in y]

    def primal(model):
        """Return P of a model by enumeration."""
        blocks = [getattr(model, name) for name in example.BLOCKS]
        value = alpha / 2.0 * sum(np.sum(block**2) for block in blocks)
        for x, own in zip(X, codes, strict=True):
            n = np.sum(own == k)
            paths, scores = enumerated(model, x, k, n, n)
            (right,) = scores[(paths == own).all(axis=1)]
            value += (logsumexp(scores) - right) / len(X)
        return value

    trained, gap = example.fit_given_counts(crf, X, y, label, alpha)
    least = primal(trained)
    assert gap < 1e-5
    w = np.concatenate([getattr(trained, name).ravel() for name in example.BLOCKS])
    direction = np.random.default_rng(0).normal(size=len(w))
    w += 0.1 * direction
    value, slope = example.objective(w, crf, X, y, label, alpha)
    assert_allclose(value, primal(example.with_weights(crf, w)), rtol=1e-9)
    ends = [primal(example.with_weights(crf, w + h * direction)) for h in (1e-5, -1e-5)]
    assert_allclose(slope @ direction, (ends[0] - ends[1]) / 2e-5, rtol=1e-6)
    # The gap of any weights bounds their distance from the optimum.
    assert 0.0 < value - least < slope @ slope / (2.0 * alpha)
