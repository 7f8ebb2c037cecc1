"""Drift: what a model finds in new data beside old data."""

import numpy as np
import pytest
from sklearn.pipeline import make_pipeline

from skcrf_sdca import (
    CRF,
    LBFGSCRF,
    SDCACRF,
    SegmentCRF,
    SequenceHasher,
    SequenceVectorizer,
    make_tagger,
)
from skcrf_sdca.datasets import make_chains
from skcrf_sdca.estimators import drift
from skcrf_sdca.inspection import Drift, drift_report
from skcrf_sdca.metrics import extract_spans
from skcrf_sdca.text import Shape, TokenFeatures

NAMES = ["Anna", "Basel", "Bern", "Peter", "Zoe", "Ulm"]
WORDS = ["lives", "in", "the", "old", "town", "of"]


def sentences(n, seed):
    """Return n sentences with names, and their labels."""
    rng, X, y = np.random.default_rng(seed), [], []
    for _ in range(n):
        is_name = rng.random(rng.integers(3, 9)) < 0.3
        word = rng.integers(6, size=len(is_name))
        pairs = list(zip(is_name, word, strict=True))
        X.append([NAMES[k] if name else WORDS[k] for name, k in pairs])
        y.append(
            [("B-LOC" if k in (1, 2, 5) else "B-PER") if n else "O" for n, k in pairs]
        )
    return X, y


def lowered(X):
    return [[word.lower() for word in sentence] for sentence in X]


@pytest.fixture(scope="module")
def tagger():
    features = TokenFeatures(["word", Shape()])
    return make_tagger(features, CRF(random_state=0)).fit(*sentences(200, 0))


def figures_of(report):
    return {row.figure: row for row in report.rows}


def test_text_without_capitals_is_told(tagger):
    """The model is surer than before, and finds nothing."""
    X = sentences(100, 1)[0]
    report = drift_report(tagger, X, lowered(X))
    found = figures_of(report)
    assert found["spans"].old > 200.0
    assert (
        found["spans"].new == found["spans PER"].new == found["label B-LOC"].new == 0.0
    )
    told = {row.figure for row in report.drifted}
    assert told >= {"spans", "spans LOC", "spans PER", "unknown features", "label O"}
    sure = found["log probability"]
    assert sure.old < 0.0
    lines = str(report).splitlines()
    assert lines[0].split() == ["figure", "old", "new", "errors"]
    assert next(line for line in lines if line.startswith("spans ")).endswith("drift")
    assert lines[-1].startswith("100 and 100 sequences")


def test_text_of_the_same_kind_is_not_told(tagger):
    report = drift_report(tagger, sentences(300, 1)[0], sentences(200, 2)[0])
    assert report.drifted == []
    assert report.n_sequences == (300, 200)


def test_the_figures_are_those_of_the_answers(tagger):
    X = sentences(50, 3)[0]
    y, n = tagger.predict(X), sum(map(len, X))
    found = figures_of(drift_report(tagger, X, lowered(X)))
    assert found["label O"].old == pytest.approx(
        1e3 * sum(own.count("O") for own in y) / n
    )
    spans = [kind for own in extract_spans(y, "BIO") for kind, _, _ in own]
    assert found["spans"].old == pytest.approx(1e3 * len(spans) / n)
    assert found["spans PER"].old == pytest.approx(1e3 * spans.count("PER") / n)
    log_p = tagger.log_likelihood(X, y).sum() / n
    assert found["log probability"].old == pytest.approx(log_p)
    # Each word has a shape, which is known, and a word.
    known = {word for sentence in sentences(200, 0)[0] for word in sentence}
    words = [word.lower() for sentence in X for word in sentence]
    unknown = sum(word not in known for word in words) / (2 * n)
    assert found["unknown features"].new == pytest.approx(unknown)
    assert found["unknown features"].old == 0.0


def test_the_error_is_that_of_resampled_sentences(tagger):
    rng = np.random.default_rng(0)
    X, other = sentences(100, 1)[0], sentences(100, 2)[0]
    row = figures_of(drift_report(tagger, X, other))["spans"]

    def rate(own):
        return (
            1e3
            * sum(map(len, extract_spans(tagger.predict(own), "BIO")))
            / sum(map(len, own))
        )

    def drawn(own):
        return [own[i] for i in rng.integers(len(own), size=len(own))]

    changes = [rate(drawn(other)) - rate(drawn(X)) for _ in range(200)]
    assert (row.new - row.old) / row.errors == pytest.approx(np.std(changes), rel=0.2)


def test_parts_are_added_up(tagger, monkeypatch):
    X, other = sentences(30, 1)[0], sentences(20, 2)[0]
    whole = drift_report(tagger, X, other)
    monkeypatch.setattr(drift, "PART", 7)
    parts = drift_report(tagger, iter(X), iter(other))
    assert parts.n_tokens == whole.n_tokens
    found, expected = figures_of(parts), figures_of(whole)
    assert found.keys() == expected.keys()
    for name, row in found.items():
        np.testing.assert_allclose(row[1:], expected[name][1:], rtol=1e-9, atol=1e-12)


STRINGS = [[["bias", f"w={w}"] for w in sentence] for sentence in sentences(60, 0)[0]]
Y = sentences(60, 0)[1]


@pytest.mark.parametrize(
    ("steps", "has"),
    [
        ([LBFGSCRF()], {"unknown features", "spans", "log probability"}),
        ([SequenceVectorizer(), LBFGSCRF()], {"unknown features", "spans"}),
        ([SequenceHasher(64), LBFGSCRF()], {"spans", "log probability"}),
        ([SegmentCRF(random_state=0)], {"unknown features", "spans"}),
    ],
)
def test_models_of_all_kinds(steps, has):
    model = make_pipeline(*steps).fit(STRINGS, Y)
    figures = figures_of(drift_report(model, STRINGS[:30], STRINGS[30:]))
    assert has <= figures.keys()
    if not isinstance(steps[0], SequenceHasher):
        assert figures["unknown features"].new == 0.0
    else:
        assert "unknown features" not in figures


def test_labels_without_a_scheme_have_no_spans():
    X, y = make_chains(20, n_labels=3, random_state=0)
    report = drift_report(LBFGSCRF().fit(X, y), X[:10], X[10:])
    assert {row.figure.split()[0] for row in report.rows} == {"log", "label"}


def test_a_model_of_scores_has_no_log_probability():
    crf = SDCACRF(loss="hinge", random_state=0, tol=1e-2).fit(STRINGS, Y)
    assert "log probability" not in figures_of(drift_report(crf, STRINGS, STRINGS))


@pytest.mark.parametrize(
    ("X", "message"),
    [
        ([], "^X_new must have two sequences at least"),
        ([["Anna"]], "^X_new must have two sequences at least"),
        ([[], []], "^X_new has 2 sequences and 0 items"),
        (
            [["Anna"]] * 1001 + [["a", 3]],
            "^X_new: sequence 1001, item 1 is of type int",
        ),
    ],
)
def test_wrong_data_are_named(tagger, X, message):
    with pytest.raises((ValueError, TypeError), match=message):
        drift_report(tagger, sentences(9, 0)[0], X)


def test_what_is_small_or_chance_is_no_drift():
    assert not Drift("spans", 100.0, 119.0, 50.0).has_drifted
    assert not Drift("spans", 100.0, 0.0, -3.9).has_drifted
    assert Drift("spans", 0.0, 1.0, 4.0).has_drifted
    assert not Drift("spans", 0.0, 0.0, 0.0).has_drifted
