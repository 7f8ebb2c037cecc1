"""TunedSpans: all probable spans, the best choice of them, and the threshold."""

from itertools import combinations

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.exceptions import NotFittedError

from reference import all_paths
from skcrf_sdca import LBFGSCRF, SDCACRF, SegmentCRF, SequenceVectorizer, make_tagger
from skcrf_sdca.estimators.thresholds import LEAST, THRESHOLDS
from skcrf_sdca.inspection import group_importance
from skcrf_sdca.metrics import (
    extract_spans,
    span_f1_score,
    span_precision_score,
    span_recall_score,
)
from skcrf_sdca.selection import TunedSpans
from skcrf_sdca.text import spans_to_labels

# The longest sequence, so that all choices of spans can be tried.
LENGTH = 4
WORDS = "abcd"
LABELS = ["B-X", "I-X", "B-Y", "I-Y", "O"]


def drawn(seed, n=30):
    """Return sequences of words, and labels that depend on them a little."""
    rng = np.random.default_rng(seed)
    X, y = [], []
    for _ in range(n):
        labels = ["O"]
        for u in rng.random(int(rng.integers(1, LENGTH + 1)) - 1):
            kind = labels[-1][-1]
            goes_on = kind != "O" and u < 0.5
            new = "O" if u < 0.8 else f"B-{rng.choice(['X', 'Y'])}"
            labels.append(f"I-{kind}" if goes_on else new)
        known = {label: WORDS[k % 4] for k, label in enumerate(LABELS)}
        noise = rng.random(len(labels)) < 0.4
        X.append(
            [
                [rng.choice(list(WORDS)) if is_noise else known[label]]
                for label, is_noise in zip(labels, noise, strict=True)
            ]
        )
        y.append(labels)
    return X, y


@pytest.fixture(scope="module")
def fitted():
    return LBFGSCRF(alpha=0.02).fit(*drawn(0))


def spans_by_enumeration(crf, x):
    """Return {span: probability} over all label paths of one sequence."""
    found = {}
    paths = crf.classes_[all_paths(len(x), len(crf.classes_))].tolist()
    log_p = crf.log_likelihood([x] * len(paths), paths)
    for path, p in zip(paths, np.exp(log_p), strict=True):
        for span in extract_spans(path):
            found[span] = found.get(span, 0.0) + p
    return found


def best_choice(probabilities, threshold):
    """Return the spans without an overlap with the largest sum, of all choices."""
    spans = [span for span, p in probabilities.items() if p > max(LEAST, threshold)]
    best, value = [], 0.0
    for size in range(1, LENGTH + 1):
        for chosen in combinations(spans, size):
            tokens = [t for _, begin, end in chosen for t in range(begin, end)]
            total = sum(probabilities[span] - threshold for span in chosen)
            if len(set(tokens)) == len(tokens) and total > value:
                best, value = sorted(chosen, key=lambda span: span[1]), total
    return best


@pytest.mark.parametrize("threshold", [LEAST, 0.1, 0.3, 0.6])
def test_the_spans_are_the_best_of_all_that_paths_have(fitted, threshold):
    X, _ = drawn(1, n=12)
    tuned = TunedSpans(fitted, threshold=threshold)
    found = tuned.predict_spans(X)
    n_overlaps = 0
    for x, own in zip(X, found, strict=True):
        probabilities = spans_by_enumeration(fitted, x)
        assert [span[:3] for span in own] == best_choice(probabilities, threshold)
        expected = [probabilities[span[:3]] for span in own]
        assert_allclose([span[3] for span in own], expected, rtol=1e-9)
        probable = [span for span, p in probabilities.items() if p > threshold]
        n_overlaps += len(probable) > len(own)
    assert n_overlaps or threshold >= 0.3


@pytest.mark.parametrize("beta", [0.5, 1.0, 2.0])
def test_the_threshold_has_the_best_f_score(fitted, beta):
    X, y = drawn(2, n=12)
    tuned = TunedSpans(fitted, beta=beta).fit(X, y)
    f, probabilities = [], [spans_by_enumeration(fitted, x) for x in X]
    for k, threshold in enumerate(THRESHOLDS):
        chosen = [best_choice(own, threshold) for own in probabilities]
        predicted = spans_to_labels(chosen, [len(x) for x in X])
        p = span_precision_score(y, predicted, zero_division=0.0)
        r = span_recall_score(y, predicted)
        assert_allclose([tuned.curve_.precision[k], tuned.curve_.recall[k]], [p, r])
        f.append((1 + beta**2) * p * r / max(beta**2 * p + r, 1e-9))
    assert_allclose(tuned.curve_.score, f)
    assert tuned.threshold_ == THRESHOLDS[np.flatnonzero(np.isclose(f, max(f)))[-1]]
    if beta == 1.0:
        expected = span_f1_score(y, tuned.predict(X))
        assert_allclose(tuned.curve_.score.max(), expected)


def test_a_larger_beta_finds_no_less(fitted):
    X, y = drawn(3)
    recalls = []
    for beta in (0.5, 1.0, 2.0):
        tuned = TunedSpans(fitted, beta=beta).fit(X, y)
        recalls.append(span_recall_score(y, tuned.predict(X)))
    assert recalls == sorted(recalls)
    assert recalls[-1] > span_recall_score(y, fitted.predict(X))


def test_labels_texts_and_other_models():
    X, y = drawn(4)
    dicts = [[{"word": word} for (word,) in x] for x in X]
    crf = SDCACRF(alpha=0.02, transitions="BIO", random_state=0)
    tagger = make_tagger(SequenceVectorizer(), crf).fit(dicts, y)
    tuned = TunedSpans(tagger).fit(dicts, y)
    words = [[word for (word,) in x] for x in X]
    spans = tuned.predict_spans(dicts, tokens=words)
    assert [s[:4] for own in spans for s in own] == [
        s for own in tuned.predict_spans(dicts) for s in own
    ]
    for own, tokens in zip(spans, words, strict=True):
        assert [s[4] for s in own] == [" ".join(tokens[s[1] : s[2]]) for s in own]
    predicted = tuned.predict(dicts).tolist()
    assert extract_spans(predicted) == [[s[:3] for s in own] for own in spans]
    numbers = [[LABELS.index(label) for label in labels] for labels in y]
    named = LBFGSCRF(alpha=0.02, label_names=LABELS).fit(X, numbers)
    by_name = TunedSpans(named).fit(X, numbers)
    assert set(by_name.predict(X)[0]) <= set(LABELS)
    segments = SegmentCRF(alpha=0.02, scheme="BIO", random_state=0).fit(X, y)
    assert 0 < TunedSpans(segments).fit(X, y).threshold_ < 1


def test_a_threshold_that_is_given_is_not_replaced(fitted):
    X, y = drawn(6)
    tuned = TunedSpans(fitted).fit(X, y)
    given = TunedSpans(fitted, threshold=0.9).fit(X, y)
    assert given.threshold_ == tuned.threshold_ < 0.9
    assert all(span[3] > 0.9 for own in given.predict_spans(X) for span in own)
    with pytest.raises(NotFittedError):
        TunedSpans(fitted).predict(X)


def test_errors_leave_the_state(fitted):
    X, y = drawn(5)
    tuned = TunedSpans(fitted).fit(X, y)
    before = tuned.threshold_
    with pytest.raises(ValueError, match="y has no span"):
        tuned.fit(X, [["O"] * len(x) for x in X])
    with pytest.raises(ValueError, match="X has 30 sequences, but y has 29"):
        tuned.fit(X, y[:-1])
    with pytest.raises(ValueError, match=r"threshold has None for the type 'Y'"):
        TunedSpans(fitted, threshold={"X": 0.3}).predict(X)
    with pytest.raises(ValueError, match="'beta' parameter"):
        TunedSpans(fitted, beta=0.0).fit(X, y)
    with pytest.raises(ValueError, match="tokens"):
        tuned.predict_spans(X, tokens=[["a"]])
    assert tuned.threshold_ == before
    assert tuned.predict([]).shape == (0,)


def test_each_type_has_the_threshold_of_its_own_best_score(fitted):
    X, y = drawn(7)
    tuned = TunedSpans(fitted, by_type=True).fit(X, y)
    assert list(tuned.threshold_) == ["X", "Y"]
    probabilities = [spans_by_enumeration(fitted, x) for x in X]
    for kind, threshold in tuned.threshold_.items():
        f = []
        for value in THRESHOLDS:
            own = [{s: p for s, p in q.items() if s[0] == kind} for q in probabilities]
            chosen = [best_choice(q, value) for q in own]
            right = [[s for s in extract_spans(labels) if s[0] == kind] for labels in y]
            n_right = sum(
                len(set(a) & set(b)) for a, b in zip(chosen, right, strict=True)
            )
            f.append(2 * n_right / (sum(map(len, chosen)) + sum(map(len, right))))
        last = np.flatnonzero(np.isclose(f, max(f)))[-1]
        assert threshold == THRESHOLDS[last]
    same = TunedSpans(fitted, threshold=tuned.threshold_)
    assert same.predict(X).tolist() == tuned.predict(X).tolist()


def test_thresholds_of_types_are_exact_where_spans_overlap(fitted):
    X, _ = drawn(1, n=12)
    given = {"X": 0.05, "Y": 0.3}
    found = TunedSpans(fitted, threshold=given).predict_spans(X)
    for x, own in zip(X, found, strict=True):
        probabilities = spans_by_enumeration(fitted, x).items()
        excess = {span: p - given[span[0]] + LEAST for span, p in probabilities}
        assert [span[:3] for span in own] == best_choice(excess, LEAST)


def test_segments_without_a_scheme_have_types_for_labels():
    X, y = drawn(8)
    y = [[label[2:] or "O" for label in labels] for labels in y]
    crf = SegmentCRF(scheme=None, alpha=0.02, random_state=0).fit(X, y)
    tuned = TunedSpans(crf, scheme=None, beta=2.0).fit(X, y)
    found = tuned.predict_spans(X)
    kinds = {span[0] for own in found for span in own}
    assert kinds
    assert "O" not in kinds
    for x, own in zip(X, found, strict=True):
        expected = crf.span_proba([x], [[span[:3] for span in own]])[0]
        assert_allclose([span[3] for span in own], expected, rtol=1e-9)
    for labels, own in zip(tuned.predict(X), found, strict=True):
        expected = ["O"] * len(labels)
        for kind, begin, end, _ in own:
            expected[begin:end] = [kind] * (end - begin)
        assert labels == expected
    with pytest.raises(ValueError, match="fitted with scheme=None; set scheme=None"):
        TunedSpans(crf, scheme="TYPES").fit(X, y)


def test_a_tagger_of_one_step_is_its_last_step(fitted):
    X, y = drawn(9)
    tuned = TunedSpans(make_tagger(fitted)).fit(X, y)
    assert tuned.threshold_ == TunedSpans(fitted).fit(X, y).threshold_
    alone = group_importance(make_tagger(fitted), X, y, random_state=0)
    expected = group_importance(fitted, X, y, random_state=0)
    assert_allclose(alone.importances, expected.importances)
