"""CRFCV: the penalty with the best score, by plain loops of cold fits."""

import gc
import pickle
import warnings
import weakref

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.model_selection import GroupKFold, KFold

from skcrf_sdca import (
    CRFCV,
    LBFGSCRF,
    SAGNUSCRF,
    SDCACRF,
    PackedSequences,
    PassiveAggressiveCRF,
    SequenceVectorizer,
    make_tagger,
)
from skcrf_sdca.datasets import make_chains
from skcrf_sdca.estimators import alpha_path as path_module
from skcrf_sdca.metrics import get_scorer, span_f1_score
from skcrf_sdca.selection import SearchBoundWarning, StratifiedSequenceKFold

X, Y = make_chains(24, n_labels=3, n_features=4, length=(1, 7), random_state=0)
X = list(X)
STRENGTHS, L1_RATIOS = (3.0, 0.3), (0.0, 0.4)
OPTIONS = {"strengths": STRENGTHS, "l1_ratios": L1_RATIOS, "search_tol": 1e-7}


# Their best strengths are those of small data.
pytestmark = pytest.mark.filterwarnings(
    "ignore::skcrf_sdca.selection.SearchBoundWarning"
)


def scored(scores, strengths, **options):
    """Return a search of one held-out part, whose models have these scores."""
    scores = iter(scores)
    search = CRFCV(LBFGSCRF(), strengths=strengths, l1_ratios=(0.0,), **options)
    search.set_params(scoring=lambda *_: next(scores))
    return search.fit(X, Y, X_val=X[:5], y_val=Y[:5])


def tried(search):
    """Return (strength, l1 ratio): scores of the folds."""
    found = search.cv_results_
    n_splits = sum(name.startswith("split") for name in found)
    rows = zip(
        found["strength"].tolist(),
        found["l1_ratio"].tolist(),
        *(found[f"split{k}_test_score"].tolist() for k in range(n_splits)),
        strict=True,
    )
    return {row[:2]: row[2:] for row in rows}


@pytest.mark.parametrize("packed", [False, True])
def test_candidates_are_cold_fits_on_folds_at_the_scaled_alpha(packed):
    crf = LBFGSCRF(tol=1e-7, max_iter=2000)
    data = PackedSequences.from_sequences(X) if packed else X
    search = CRFCV(crf, scoring="log_likelihood", **OPTIONS).fit(data, Y)
    scorer, found = get_scorer("log_likelihood"), tried(search)
    for (strength, l1_ratio), scores in found.items():
        for (train, test), score in zip(KFold(3).split(X), scores, strict=True):
            own = clone(crf).set_params(alpha=strength / len(train), l1_ratio=l1_ratio)
            own.fit([X[i] for i in train], [Y[i] for i in train])
            expected = scorer(own, [X[i] for i in test], [Y[i] for i in test])
            assert_allclose(score, expected, atol=1e-3)
    best = max(found, key=lambda key: np.mean(found[key]))
    assert (search.best_strength_, search.best_params_["l1_ratio"]) == best
    assert search.best_params_["alpha"] == best[0] / len(X)
    assert_allclose(search.best_score_, np.mean(found[best]))
    assert_allclose(search.cv_results_["mean_test_score"].max(), search.best_score_)
    cold = clone(crf).set_params(**search.best_params_).fit(data, Y)
    assert_allclose(search.coef_, cold.coef_, atol=1e-6)


def test_a_path_ends_after_two_falls():
    scores = iter([1.0, 3.0, 2.0, 1.0])
    strengths = (10.0, 1.0, 0.1, 0.01, 0.001)
    search = CRFCV(LBFGSCRF(), strengths=strengths, l1_ratios=(0.0,))
    search.set_params(scoring=lambda *_: next(scores))
    search.fit(X, Y, X_val=X[:5], y_val=Y[:5])
    assert search.cv_results_["strength"].tolist() == [10.0, 1.0, 0.1, 0.01]
    assert search.best_strength_ == 1.0
    # The final fit has all of X, which the candidates had too.
    assert search.alpha_ == 1.0 / len(X)


def test_weights_scale_alpha_as_repeated_sequences_do():
    weight = np.where(np.arange(len(X)) % 4 == 0, 2.0, 1.0)
    times = weight.astype(int)
    held = {"X_val": X[:9], "y_val": Y[:9]}
    options = {**OPTIONS, "scoring": "log_likelihood"}
    crf = LBFGSCRF(tol=1e-7, max_iter=2000)
    weighted = CRFCV(crf, **options).fit(X, Y, weight, **held)
    repeated = CRFCV(crf, **options).fit(
        [x for x, n in zip(X, times, strict=True) for _ in range(n)],
        [y for y, n in zip(Y, times, strict=True) for _ in range(n)],
        **held,
    )
    assert weighted.best_params_ == pytest.approx(repeated.best_params_)
    assert_allclose(
        weighted.cv_results_["mean_test_score"],
        repeated.cv_results_["mean_test_score"],
        atol=1e-4,
    )


def test_spans_of_a_tagger_are_scored_by_their_f1():
    names = ["O", "B-X", "I-X"]
    y = [[names[k] for k in labels] for labels in Y]
    dicts = [[{"x": float(a), "y": float(b)} for a, b, *_ in x] for x in X]
    tagger = make_tagger(SequenceVectorizer(), SDCACRF(random_state=0))
    before = pickle.dumps(tagger)
    cv = StratifiedSequenceKFold(2)
    search = CRFCV(tagger, strengths=(1.0, 0.1), cv=cv).fit(dicts, y)
    assert pickle.dumps(tagger) == before
    assert "split1_test_score" in search.cv_results_
    assert search.predict_spans(dicts[:2])[0] is not None
    expected = span_f1_score(y, search.predict(dicts), zero_division=0.0)
    assert search.score(dicts, y) == expected
    assert search.best_estimator_[-1].alpha == search.best_params_["alpha"]
    again = pickle.loads(pickle.dumps(search))
    assert again.predict(dicts).tolist() == search.predict(dicts).tolist()
    ids = make_tagger(SequenceVectorizer(), SDCACRF(random_state=0, label_names=names))
    by_name = CRFCV(ids, strengths=(1.0, 0.1), cv=cv).fit(dicts, list(map(list, Y)))
    assert_allclose(by_name.cv_results_["mean_test_score"].max(), search.best_score_)


def test_other_labels_are_scored_by_accuracy():
    search = CRFCV(LBFGSCRF(), strengths=(1.0,), l1_ratios=(0.0,)).fit(X, Y)
    assert search.score(X, Y) == search.best_estimator_.score(X, Y)
    rows, labels = np.concatenate(X), np.concatenate(Y)
    table = CRFCV(LBFGSCRF(), strengths=(1.0,), l1_ratios=(0.0,)).fit(rows, labels)
    assert table.predict(rows).shape == labels.shape


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"strengths": (0.0,)}, "strengths must be distinct, positive"),
        ({"strengths": (1.0, 1.0)}, "strengths must be distinct, positive"),
        ({"l1_ratios": (2.0,)}, r"l1_ratios must be numbers in \[0, 1\]"),
        ({"l1_ratios": ()}, "l1_ratios must be numbers"),
        ({"search_tol": -1.0}, "'search_tol' parameter"),
        ({"scoring": "f1"}, "no score 'f1'"),
    ],
)
def test_errors_leave_the_search_unfitted(options, message):
    search = CRFCV(LBFGSCRF(), **options)
    with pytest.raises(ValueError, match=message):
        search.fit(X, Y)
    assert not hasattr(search, "best_estimator_")
    with pytest.raises(AttributeError, match="'classes_'; fit it first"):
        getattr(search, "classes_")  # noqa: B009
    with pytest.raises(NotFittedError):
        search.predict(X)


def test_wrong_estimators_and_half_of_held_out_data_are_refused():
    with pytest.raises(ValueError, match="X_val and y_val must both"):
        CRFCV(LBFGSCRF()).fit(X, Y, X_val=X)
    with pytest.raises(TypeError, match="estimator must be one of skcrf_sdca"):
        CRFCV(make_tagger(SequenceVectorizer(), KFold())).fit(X, Y)
    with pytest.raises(TypeError, match="that has alpha, .* PassiveAggressiveCRF"):
        CRFCV(PassiveAggressiveCRF()).fit(X, Y)


def test_halving_goes_on_with_the_best_from_where_they_were_left():
    options = {"search": "halving", "strengths": tuple(0.5**k for k in range(9))}
    crf = LBFGSCRF(tol=1e-7, max_iter=2000)
    own = CRFCV(
        crf, scoring="log_likelihood", search_tol=1e-7, l1_ratios=(0.0,), **options
    )
    found = own.fit(X, Y).cv_results_
    rounds, scores = found["round"], found["mean_test_score"]
    assert rounds.tolist() == [0] * 9 + [1] * 3
    first = np.sort(scores[rounds == 0])[::-1]
    kept = [
        scores[(rounds == 0) & (found["strength"] == s)].item()
        for s in found["strength"][rounds == 1]
    ]
    assert kept == first[:3].tolist()
    best = np.argmax(np.where(rounds == 1, scores, -np.inf))
    assert own.best_strength_ == found["strength"][best]
    assert own.best_score_ == scores[best]
    # One epoch, and three more, are a fit of four.
    train, test = next(KFold(3).split(X))
    cold = clone(crf).set_params(alpha=own.best_strength_ / len(train), warm_start=True)
    for n_epochs in (1, 3):
        cold.set_params(max_iter=n_epochs)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            cold.fit([X[i] for i in train], [Y[i] for i in train])
    scorer = get_scorer("log_likelihood")
    expected = scorer(cold, [X[i] for i in test], [Y[i] for i in test])
    assert_allclose(found["split0_test_score"][best], expected, rtol=1e-7)


@pytest.mark.parametrize("crf", [SDCACRF(random_state=0), SAGNUSCRF(random_state=0)])
def test_halving_of_a_tagger_and_of_stochastic_solvers(crf):
    words = [[{"x": str(value)} for value in own[:, 0] > 0] for own in X]
    tagger = make_tagger(SequenceVectorizer(), crf)
    search = CRFCV(tagger, search="halving", cv=2).fit(words, Y)
    assert len(search.cv_results_["round"]) == 14 + 4
    assert search.best_estimator_.n_iter_ > 1


@pytest.mark.slow
@pytest.mark.parametrize("search", ["path", "halving"])
def test_a_search_keeps_no_more_than_one_fit_in_memory(search, monkeypatch):
    class State(dict):
        """A state that a weak reference can have."""

    found, most = [], 0
    fitted = path_module._fitted

    def watched(*arguments, **params):
        nonlocal most
        gc.collect()
        most = max(most, sum(reference() is not None for reference in found))
        model, state = fitted(*arguments, **params)
        state = State(state)
        found.extend(map(weakref.ref, (model, state)))
        return model, state

    monkeypatch.setattr(path_module, "_fitted", watched)
    held_out = {"X_val": X[:6], "y_val": Y[:6]}
    CRFCV(SDCACRF(random_state=0), search=search).fit(X, Y, **held_out)
    assert len(found) > 10
    # A fit goes on from a state; a path has just yielded its model too.
    assert most <= {"path": 2, "halving": 1}[search]


def test_unknown_searches_are_refused():
    with pytest.raises(ValueError, match=r"'search' parameter of CRFCV must be a str"):
        CRFCV(SDCACRF(), search="bisection").fit(X, Y)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize(
    ("scores", "edge"),
    [
        ([3.0, 2.0, 1.0], "10, is the largest of the strengths: a larger one"),
        ([1.0, 2.0, 3.0], "0.1, is the smallest of the strengths: a smaller one"),
        ([1.0, 3.0, 2.0], None),
        ([3.0, 3.0, 2.0], None),
        ([1.0, 3.0, 3.0], None),
    ],
)
def test_a_best_strength_at_the_edge_is_told(scores, edge):
    strengths = (10.0, 1.0, 0.1)
    if edge is None:
        scored(scores, strengths)
        return
    with pytest.warns(SearchBoundWarning, match=edge) as caught:
        search = scored(scores, strengths)
    assert search.best_score_ == 3.0
    assert caught[0].filename == __file__


@pytest.mark.filterwarnings("error")
def test_one_strength_has_no_edge():
    assert scored([1.0], (0.5,)).best_strength_ == 0.5


def test_a_bump_does_not_end_a_path():
    strengths = tuple(0.5**k for k in range(6))
    search = scored([1.0, 3.0, 2.0, 2.5, 4.0, 1.0], strengths)
    assert search.best_score_ == 4.0
    # Nor do two falls that are small beside their spread over the folds.
    of_folds = iter([5.0, 1.0, 4.7, 1.1, 4.4, 1.2, 6.0, 2.0])
    search = CRFCV(LBFGSCRF(), strengths=strengths[:4], l1_ratios=(0.0,), cv=2)
    search.set_params(scoring=lambda *_: next(of_folds))
    assert search.fit(X, Y).best_score_ == 4.0


def test_the_strengths_of_recordings_lie_about_the_alpha_of_auto():
    """By default; those of text, and of short runs, are from 10 to 0.01."""
    rng = np.random.default_rng(0)
    y = [np.repeat(rng.integers(2, size=8), 20).tolist() for _ in range(6)]
    rows = [np.array(path)[:, None] + rng.standard_normal((160, 2)) for path in y]
    crf = LBFGSCRF(tol=1e-2)
    auto = 6 * clone(crf).fit(rows, y).alpha_
    search = CRFCV(crf, l1_ratios=(0.0,)).fit(rows, y, X_val=rows, y_val=y)
    assert_allclose(search.cv_results_["strength"][0], 10 * auto)
    assert auto > 5.0
    words = [[{"x": str(value > 0)} for value in own[:, 0]] for own in X]
    tagger = make_tagger(SequenceVectorizer(), crf)
    search = CRFCV(tagger, l1_ratios=(0.0,)).fit(words, Y)
    assert search.cv_results_["strength"][:3].tolist() == [10.0, 3.0, 1.0]


def test_groups_stay_in_one_fold():
    groups = [f"person {i % 4}" for i in range(len(X))]
    options = {"strengths": (1.0, 0.1), "l1_ratios": (0.0,)}
    own = CRFCV(LBFGSCRF(), cv=4, **options).fit(X, Y, groups=groups)
    splits = list(GroupKFold(4).split(X, groups=groups))
    by_hand = CRFCV(LBFGSCRF(), cv=splits, **options).fit(X, Y)
    assert_allclose(
        own.cv_results_["mean_test_score"], by_hand.cv_results_["mean_test_score"]
    )
    given = CRFCV(LBFGSCRF(), cv=GroupKFold(4), **options).fit(X, Y, groups=groups)
    assert_allclose(given.best_score_, own.best_score_)
    with pytest.raises(ValueError, match="groups are for folds"):
        own.fit(X, Y, groups=groups, X_val=X, y_val=Y)
