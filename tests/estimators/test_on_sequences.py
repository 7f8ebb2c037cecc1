"""What scikit-learn has for tables only: importances, votes and calibrated spans."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.calibration import calibration_curve

from skcrf_sdca import LBFGSCRF, SDCACRF, SequenceVectorizer, make_tagger
from skcrf_sdca.datasets import make_chains
from skcrf_sdca.estimators.calibration import span_outcomes
from skcrf_sdca.inspection import group_importance
from skcrf_sdca.selection import CalibratedSpans, SequenceBagging, SequenceVoting
from skcrf_sdca.testing import sequence_checks

X, Y = make_chains(n_sequences=24, random_state=0)
X = list(X)


# Importances --------------------------------------------------------------------------


def items(rng, n=30, length=4):
    """Sequences in which the word says the label, and the shape says nothing."""
    words = rng.integers(3, size=(n, length))
    shapes = rng.integers(2, size=(n, length))
    X = [
        [{"word": f"w{k}", "shape": f"s{j}", "one": 1.0} for k, j in row]
        for row in np.stack([words, shapes], axis=2)
    ]
    return X, [[f"L{k}" for k in row] for row in words]


@pytest.mark.parametrize("steps", [[], [SequenceVectorizer()]])
def test_a_group_that_says_the_label_is_important(steps):
    X, y = items(np.random.default_rng(0))
    crf = LBFGSCRF(alpha=1e-3)
    model = (make_tagger(*steps, crf) if steps else crf).fit(X, y)
    found = group_importance(model, X, y, n_repeats=3, random_state=0)
    assert found.groups == ["word", "shape", "one"]
    assert found.importances.shape == (3, 3)
    assert found.score == model.score(X, y) == 1.0
    # Another of three words, of another position, is right a third of the time.
    assert 0.5 < found.importances_mean[0] < 0.8
    assert_allclose(found.importances[1:], 0.0)
    assert_allclose(found.importances_std, found.importances.std(axis=1))


@pytest.mark.parametrize("is_sparse", [False, True])
def test_importances_of_arrays_are_those_of_a_plain_loop(is_sparse):
    from scipy.sparse import csr_array

    crf = LBFGSCRF().fit(X, Y)
    given = [csr_array(x) for x in X] if is_sparse else X
    groups = {"x0": "a", "x1": "b"}.get
    found = group_importance(
        crf,
        given,
        Y,
        groups=lambda name: groups(name, "rest"),
        n_repeats=2,
        random_state=3,
    )
    assert found.groups == ["a", "b", "rest"]
    rng, rows = np.random.RandomState(3), np.concatenate(X)
    bounds = np.cumsum([0, *map(len, X)])
    n = rows.shape[1]
    for i, columns in enumerate([[0], [1], list(range(2, n))]):
        for repeat in range(2):
            mixed = rows.copy()
            mixed[:, columns] = rows[rng.permutation(len(rows))][:, columns]
            parts = [mixed[a:b] for a, b in zip(bounds, bounds[1:], strict=False)]
            expected = crf.score(X, Y) - crf.score(parts, Y)
            assert found.importances[i, repeat] == pytest.approx(expected)


def test_importances_by_another_score():
    crf = LBFGSCRF().fit(X, Y)
    found = group_importance(
        crf, X, Y, scoring=lambda crf, X, y: 5.0, n_repeats=1, random_state=0
    )
    assert found.score == 5.0
    assert not found.importances.any()


# Votes --------------------------------------------------------------------------------

CRFS = [("a", LBFGSCRF(alpha=0.1)), ("b", LBFGSCRF(alpha=1.0))]


def test_a_vote_is_the_mean_of_the_marginals():
    vote = SequenceVoting(CRFS, weights=[3, 1]).fit(X, Y)
    tables = [crf.fit(X, Y).predict_proba(X) for _, crf in CRFS]
    found = vote.predict_proba(X)
    for own, first, second in zip(found, *tables, strict=True):
        assert_allclose(own, 0.75 * first + 0.25 * second, rtol=1e-12)
    expected = [vote.classes_[own.argmax(axis=1)].tolist() for own in found]
    assert vote.predict(X).tolist() == expected
    correct = np.concatenate(expected) == np.concatenate(Y)
    assert vote.score(X, Y) == pytest.approx(correct.mean())


@pytest.mark.parametrize("n", [9, 11])
def test_no_mean_of_probabilities_is_above_one(n):
    """Shares of 1 / n, and marginals that are 1, add up to more by rounding."""
    x, y = [[["a"]]], [["A"]]
    crfs = [(str(i), LBFGSCRF()) for i in range(n)]
    (proba,) = SequenceVoting(crfs).fit(x, y).predict_proba(x)
    assert proba.tolist() == [[1.0]]


def test_a_label_that_a_sample_lacks_has_no_share_of_it():
    X = [[["a"], ["b"]], [["a"]], [["c"]]]
    y = [["A", "B"], ["A"], ["C"]]
    bag = SequenceBagging(LBFGSCRF(), 8, max_samples=0.4, random_state=0).fit(X, y)
    assert bag.classes_.tolist() == ["A", "B", "C"]
    assert any(len(crf.classes_) < 3 for crf in bag.estimators_)
    for table in bag.predict_proba(X):
        assert table.shape[1] == 3
        assert_allclose(table.sum(axis=1), 1.0)


def test_a_bag_has_samples_of_sequences():
    options = {"max_samples": 0.5, "bootstrap": False, "random_state": 0}
    bag = SequenceBagging(SDCACRF(), 4, **options).fit(X, Y)
    for own, crf in zip(bag.estimators_samples_, bag.estimators_, strict=True):
        assert len(set(own.tolist())) == 12
        alone = SDCACRF(random_state=crf.random_state).fit(
            [X[i] for i in own], [Y[i] for i in own]
        )
        assert np.array_equal(alone.coef_, crf.coef_)
    assert len({crf.random_state for crf in bag.estimators_}) == 4
    again = SequenceBagging(SDCACRF(), 4, n_jobs=2, **options).fit(X, Y)
    assert np.array_equal(again.predict_proba(X)[0], bag.predict_proba(X)[0])


@pytest.mark.parametrize(
    ("vote", "message"),
    [
        (SequenceVoting([]), "at least one"),
        (SequenceVoting(CRFS, weights=[1.0]), "must be 2 numbers"),
        (SequenceVoting(CRFS, weights=[1.0, -1.0]), "must be 2 numbers"),
        (SequenceVoting(CRFS, weights=[0.0, 0.0]), "must be 2 numbers"),
        (SequenceBagging(LBFGSCRF(), 0), "n_estimators"),
        (SequenceBagging(LBFGSCRF(), max_samples=1.5), "max_samples"),
    ],
)
def test_wrong_votes_are_refused(vote, message):
    with pytest.raises(ValueError, match=message):
        vote.fit(X, Y)
    assert not hasattr(vote, "classes_")


@pytest.mark.parametrize(
    "check",
    [
        *sequence_checks(SequenceVoting(CRFS), X[:8], Y[:8]),
        *sequence_checks(SequenceBagging(LBFGSCRF(), 3), X[:8], Y[:8]),
    ],
    ids=str,
)
def test_votes_pass_the_checks_of_sequences(check):
    check()


# Spans --------------------------------------------------------------------------------


class Overconfident:
    """Predicts spans of probability p, of which p**2 are right."""

    def __init__(self, seed, n=4000):
        rng = np.random.default_rng(seed)
        self.p = rng.random(n)
        is_right = rng.random(n) < self.p**2
        self.y = [["B-P" if right else "O"] for right in is_right]

    def predict_spans(self, X, *, scheme, tokens=None):
        assert scheme == "BIO"
        spans = [[("P", 0, 1, p.item())] for p in self.p]
        return np.fromiter(spans, dtype=object, count=len(spans))


@pytest.mark.parametrize(
    ("spans", "message"),
    [
        (
            [["B-P", "O"]],
            "sequence 0, span 0 is 'B-P'; .* probability.*as predict_spans",
        ),
        ([[("P", 0, 1)]], "sequence 0, span 0 .* no probability"),
        ([[("P", 0, 1, "0.5")]], "sequence 0, span 0 .* no probability"),
        ([[("P", 0, 3, 0.5)]], "sequence 0, span 0 goes from 0 to 3"),
        ([], "there are 1 sequences, but spans has 0"),
        (["bogus"], "spans: sequence 0"),
    ],
)
def test_outcomes_are_of_spans_with_probabilities(spans, message):
    with pytest.raises((TypeError, ValueError), match=message):
        span_outcomes([["B-P", "O"]], spans)


@pytest.mark.slow
@pytest.mark.parametrize("method", ["isotonic", "sigmoid"])
def test_calibrated_probabilities_are_those_of_right_spans(method):
    held_out, new = Overconfident(0), Overconfident(1)
    calibrated = CalibratedSpans(held_out, method=method).fit(held_out.y, held_out.y)
    calibrated.estimator = new
    spans = calibrated.predict_spans(new.y)
    p, is_right = span_outcomes(new.y, spans)
    raw, also = span_outcomes(new.y, new.predict_spans(None, scheme="BIO"))
    assert np.array_equal(is_right, also)
    errors = [
        np.abs(np.subtract(*calibration_curve(is_right, given, n_bins=10))).max()
        for given in (p, raw)
    ]
    # 0.25 at p = 1/2, and some 0.07 of 400 spans in each bin.
    assert errors[0] < 0.1 < 0.2 < errors[1]
    # Spans, and their order by probability, stay.
    assert (np.diff(p[np.argsort(raw)]) >= 0).all()
    assert [own[0][:3] for own in spans] == [("P", 0, 1)] * len(spans)


def test_spans_of_a_crf_keep_their_texts_and_sequences_without_spans():
    X = [[["Ada"], ["met"], ["Bob"]], [["ran"]], [["Bob"], ["ran"]]] * 4
    y = [["B-P", "O", "B-P"], ["O"], ["O", "O"]] * 4
    crf = SDCACRF(alpha=0.1, random_state=0).fit(X, y)
    calibrated = CalibratedSpans(crf).fit(X, [["B-P", "O", "O"], ["O"], ["O", "O"]] * 4)
    assert calibrated.n_spans_ == sum(map(len, crf.predict_spans(X)))
    tokens = [[word for [word] in sentence] for sentence in X[:2]]
    first, second = calibrated.predict_spans(X[:2], tokens=tokens)
    assert first[0] == ("P", 0, 1, 1.0, "Ada")
    assert second == []


@pytest.mark.parametrize("y", [[["B-P", "O", "B-P"]] * 3, [["O", "O", "O"]] * 3])
def test_spans_that_are_all_right_or_all_wrong_teach_nothing(y):
    X = [[["Ada"], ["met"], ["Bob"]]] * 3
    crf = SDCACRF(alpha=0.1, random_state=0).fit(X, [["B-P", "O", "B-P"]] * 3)
    calibrated = CalibratedSpans(crf)
    with pytest.raises(ValueError, match="of the 6 spans that are predicted for X are"):
        calibrated.fit(X, y)
    assert not hasattr(calibrated, "calibrator_")
