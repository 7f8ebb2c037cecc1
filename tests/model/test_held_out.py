"""Held-out data in a fit: a score for every epoch, patience, and the best model."""

import pickle
import warnings
from itertools import count
from types import SimpleNamespace

import matplotlib.pyplot as plt
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn import config_context
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import Pipeline

from skcrf_sdca import (
    LBFGSCRF,
    OEGCRF,
    SAGNUSCRF,
    SDCACRF,
    DualityGapMonitor,
    PackedSequences,
    SequenceVectorizer,
    load_model,
    make_tagger,
    save_model,
)
from skcrf_sdca.compat import CRF
from skcrf_sdca.datasets import make_chains
from skcrf_sdca.distributed import DistributedCRF
from skcrf_sdca.estimators.tagger import Tagger
from skcrf_sdca.metrics import get_scorer, sequence_accuracy_score, span_f1_score
from skcrf_sdca.model.held_out import BestEpoch
from skcrf_sdca.plotting import ConvergenceDisplay
from skcrf_sdca.solvers import monitor

ALL_X, ALL_Y = make_chains(n_sequences=60, random_state=0)
X, y, X_VAL, Y_VAL = ALL_X[:40], ALL_Y[:40], ALL_X[40:], ALL_Y[40:]
HELD_OUT = {"X_val": X_VAL, "y_val": Y_VAL}

# Words whose labels are spans, in a scheme.
WORDS = [["in", "New", "York"], ["Basel"], ["in", "Basel"]] * 4
DICTS = [[{"word": word} for word in sentence] for sentence in WORDS]
BIO = [["O", "B-LOC", "I-LOC"], ["B-LOC"], ["O", "B-LOC"]] * 4
BIOES = [["O", "B-LOC", "E-LOC"], ["S-LOC"], ["O", "S-LOC"]] * 4

PARTIAL = [[None if t == 1 else k for t, k in enumerate(labels)] for labels in y]

# At this alpha fits are long, and the scores go up and down.
LOW = {"alpha": 1e-4, "random_state": 0, "tol": 1e-6}
CASES = {
    "SDCA": (SDCACRF(**LOW), X, y),
    "two threads": (SDCACRF(n_jobs=2, **LOW), 4 * X, 4 * y),
    "OEG": (OEGCRF(**LOW), X, y),
    "SAG": (SAGNUSCRF(**LOW), X, y),
    "L-BFGS": (LBFGSCRF(alpha=1e-4, tol=1e-6), X, y),
    "elastic net": (SDCACRF(l1_ratio=0.5, **LOW), X, y),
    "OWL-QN": (LBFGSCRF(alpha=1e-2, l1_ratio=0.5, tol=1e-6), X, y),
    "proximal point": (SDCACRF(acceleration="proximal_point", **LOW), X, y),
    "temperature": (SDCACRF(loss="softmax_margin", temperature=0.5, **LOW), X, y),
    "hinge": (SDCACRF(loss="hinge", **LOW), X, y),
    "partial labels": (SDCACRF(**LOW), X, PARTIAL),
}


def quiet(crf, *args, **kwargs):
    """Fit without the warning of a fit that ended before its target."""
    with warnings.catch_warnings(action="ignore", category=ConvergenceWarning):
        return crf.fit(*args, **kwargs)


def weights(crf):
    names = "coef_", "intercept_", "start_", "end_", "transition_"
    values = (getattr(crf, name) for name in names)
    return [getattr(v, "todense", lambda v=v: v)().tobytes() for v in values]


FIGURES = (
    "primal_objective_",
    "dual_objective_",
    "duality_gap_",
    "gap_target_",
    "n_nonzero_",
)


def figures(crf):
    return [getattr(crf, name) for name in FIGURES]


@pytest.mark.parametrize(("crf", "X", "y"), CASES.values(), ids=CASES)
def test_the_score_of_an_epoch_is_that_of_a_fit_that_ends_there(crf, X, y):
    watched = quiet(clone(crf).set_params(max_iter=6), X, y, **HELD_OUT)
    assert len(watched.history_["val_score"]) == watched.n_iter_ == 6
    for epoch, score in enumerate(watched.history_["val_score"], 1):
        ended = quiet(clone(crf).set_params(max_iter=epoch), X, y)
        assert score == ended.score(X_VAL, Y_VAL)


@pytest.mark.parametrize(("crf", "X", "y"), CASES.values(), ids=CASES)
def test_the_best_model_is_that_of_a_fit_that_ends_at_its_epoch(crf, X, y):
    crf = clone(crf).set_params(max_iter=12, patience=12)
    best = quiet(crf, X, y, **HELD_OUT)
    scores = best.history_["val_score"]
    assert best.best_val_score_ == scores.max() == best.score(X_VAL, Y_VAL)
    assert best.best_epoch_ == 1 + scores.argmax()
    ends = clone(crf).set_params(max_iter=best.best_epoch_, patience=None)
    ended = quiet(ends, X, y)
    assert weights(best) == weights(ended)
    assert figures(best) == figures(ended)
    assert best.n_iter_ == len(scores) >= best.best_epoch_


@pytest.mark.parametrize(("crf", "X", "y"), CASES.values(), ids=CASES)
def test_held_out_data_without_patience_change_no_bit(crf, X, y):
    crf = clone(crf).set_params(max_iter=5)
    plain, watched = quiet(crf, X, y), quiet(clone(crf), X, y, **HELD_OUT)
    assert weights(plain) == weights(watched)
    assert figures(plain) == figures(watched)
    assert {*watched.history_} - {*plain.history_} == {"val_score"}
    assert {*vars(plain)} == {*vars(watched)}


@pytest.mark.parametrize(
    ("patience", "ends", "kept", "n_kept"),
    [
        (1, [False, False, True], {"epoch": 2}, 2),
        (2, [False, False, False, True], {"epoch": 2}, 2),
        (3, [False] * 5, {"epoch": 5}, 3),
        (None, [False] * 5, {}, 0),
    ],
)
def test_the_best_epoch_is_kept_until_patience_ends(patience, ends, kept, n_kept):
    scores, copies = [-0.5, 0.7, 0.7, 0.6, 0.8], []
    held_out = SimpleNamespace(score=lambda model: scores[model["epoch"] - 1])

    def model_now(copy):
        copies.append(copy)
        return {"epoch": row["epoch"]}

    observer = BestEpoch(held_out, patience, model_now)
    for epoch, (score, end) in enumerate(zip(scores, ends, strict=False), 1):
        row = {"epoch": epoch}
        assert observer.end_epoch(row) is end
        assert row == {"epoch": epoch, "val_score": score}
    assert observer.attributes == kept
    # A model is copied where it is kept, and only there.
    assert (copies.count(True), copies.count(False)) == (n_kept, len(ends))


def of_scores(scores):
    """Return a scorer that gives these scores in turn."""
    following = iter(scores)
    return lambda crf, X, y: next(following)


@given(
    scores=st.lists(st.sampled_from([-np.inf, 0.0, 0.5, 1.0]), min_size=6, max_size=6),
    patience=st.integers(1, 4),
)
def test_patience_counts_the_epochs_since_the_first_best_score(scores, patience):
    crf = SDCACRF(
        tol=0.0, max_iter=6, patience=patience, scoring=of_scores(scores), alpha=1e-4
    )
    with warnings.catch_warnings(record=True, action="always") as caught:
        crf.fit(X[:5], y[:5], **HELD_OUT)
    best = 0
    for epoch in range(6):
        best = epoch if scores[epoch] > scores[best] else best
        if epoch - best >= patience:
            break
    assert (crf.n_iter_, crf.best_epoch_) == (epoch + 1, best + 1)
    assert crf.best_val_score_ == scores[best]
    ended_by_patience = epoch - best >= patience
    assert ended_by_patience != any(w.category is ConvergenceWarning for w in caught)


def test_a_fit_that_converges_returns_the_best_model_too():
    crf = SDCACRF(random_state=0, patience=100, alpha=1e-3)
    crf.fit(X, y, **HELD_OUT)
    assert crf.history_["gap"][-1] <= crf.tol * crf.history_["primal"][-1]
    assert crf.best_epoch_ < crf.n_iter_
    assert crf.duality_gap_ == crf.history_["gap"][crf.best_epoch_ - 1]
    assert crf.duality_gap_ > crf.gap_target_


@pytest.mark.parametrize(("scheme", "labels"), [("BIO", BIO), ("bioes", BIOES)])
def test_the_score_is_the_f1_of_spans_if_there_is_a_scheme(scheme, labels):
    crf = SDCACRF(transitions=scheme, random_state=0)
    # All are predicted right but for a span, of two tokens, that is none here.
    y_val = [["O", "O", "O"], *labels[1:]]
    crf.fit(DICTS, labels, X_val=DICTS, y_val=y_val)
    expected = span_f1_score(y_val, crf.predict(DICTS), scheme=scheme)
    assert crf.history_["val_score"][-1] == expected
    assert 0.0 < expected != crf.score(DICTS, y_val)


@pytest.mark.parametrize("scheme", [None, "observed"])
def test_the_score_is_the_accuracy_without_a_scheme(scheme):
    crf = SDCACRF(transitions=scheme, random_state=0, alpha=1.0)
    crf.fit(DICTS, BIO, X_val=DICTS, y_val=BIO)
    assert crf.history_["val_score"][-1] == crf.score(DICTS, BIO)


@pytest.mark.parametrize("name", ["sequence_accuracy", "neg_log_loss", "span_f1"])
def test_scoring_takes_the_names_of_scorers(name):
    crf = SDCACRF(random_state=0, scoring=name)
    crf.fit(DICTS, BIO, X_val=DICTS, y_val=BIO)
    assert crf.history_["val_score"][-1] == get_scorer(name)(crf, DICTS, BIO)


def test_scoring_takes_a_function_of_estimator_and_data():
    def scorer(crf, X, y):
        return sequence_accuracy_score(y, crf.predict(X))

    crf = SDCACRF(random_state=0, scoring=scorer).fit(X, y, **HELD_OUT)
    assert crf.history_["val_score"][-1] == scorer(crf, X_VAL, Y_VAL)


@pytest.mark.parametrize("score", [np.nan, None, "high"])
def test_a_score_that_cannot_be_compared_is_an_error(score):
    crf = SDCACRF(random_state=0, scoring=lambda crf, X, y: score)
    with pytest.raises(ValueError, match="scoring must give a number that can be"):
        crf.fit(X, y, **HELD_OUT)
    assert not hasattr(crf, "classes_")


def test_the_errors_of_the_users_scorer_are_as_they_are():
    error = UnicodeError("X and y")

    def scorer(crf, X, y):
        raise error

    with pytest.raises(UnicodeError) as caught:
        SDCACRF(scoring=scorer).fit(X, y, **HELD_OUT)
    assert caught.value is error


@pytest.mark.parametrize("scheme", [None, "BIO"])
def test_labels_that_are_not_in_y_count_as_wrong(scheme):
    new = [["O", "B-RIVER", "I-RIVER"], *BIO[1:]]
    crf = SDCACRF(transitions=scheme, random_state=0, tol=1e-8)
    crf.fit(DICTS, BIO, X_val=DICTS, y_val=new)
    assert crf.score(DICTS, BIO) == 1.0
    assert 0.5 < crf.history_["val_score"][-1] < 1.0


def test_unknown_labels_of_the_held_out_data_are_left_out():
    half = [["O", None, None], *BIO[1:]]
    crf = SDCACRF(random_state=0).fit(DICTS, BIO, X_val=DICTS, y_val=half)
    assert crf.history_["val_score"][-1] == crf.score(DICTS, half)
    nothing = [[None] * len(labels) for labels in BIO]
    with pytest.raises(ValueError, match="^y_val has no known label"):
        SDCACRF().fit(DICTS, BIO, X_val=DICTS, y_val=nothing)


NAN = [np.full((2, X[0].shape[1]), np.nan)]
WRONG = [
    ({"X_val": X_VAL}, "^X_val is given without y_val: pass both, or neither"),
    ({"y_val": Y_VAL}, "^y_val is given without X_val: pass both, or neither"),
    ({"X_val": X_VAL, "y_val": Y_VAL[1:]}, "^X_val has 20 sequences, but y_val has 19"),
    ({"X_val": X_VAL[:1], "y_val": [[0]]}, "Sequence 0 has .* X_val, .* in y_val"),
    ({"X_val": NAN, "y_val": [[0, 0]]}, "^X_val contains NaN: sequence 0, position 0"),
    ({"X_val": DICTS, "y_val": BIO}, "^X_val is made of dicts, but SDCACRF"),
    (
        {"X_val": X_VAL, "y_val": [["a"] * len(s) for s in Y_VAL]},
        "^y_val has labels of type str",
    ),
    ({"X_val": [], "y_val": []}, "^X_val has 0 sequences and 0 items"),
    ({"X_val": [x[:, 1:] for x in X_VAL], "y_val": Y_VAL}, "^X_val.* features"),
    ({"X_val": 3, "y_val": Y_VAL}, "^X_val must be a list of sequences"),
]


@pytest.mark.parametrize(("held_out", "message"), WRONG)
def test_errors_in_held_out_data_name_them_and_leave_the_old_fit(held_out, message):
    crf = SDCACRF(random_state=0).fit(X, y)
    before = weights(crf)
    with pytest.raises((TypeError, ValueError), match=message):
        crf.fit(X[1:], y[1:], **held_out)
    assert weights(crf) == before


def test_labels_outside_of_the_scheme_are_an_error_that_names_y_val():
    wrong = [["O", "X", "I-LOC"], *BIO[1:]]
    with pytest.raises(ValueError, match="y_val: sequence 0.*'X' is not of the"):
        SDCACRF(transitions="BIO").fit(DICTS, BIO, X_val=DICTS, y_val=wrong)


@pytest.mark.parametrize(
    ("label", "message"),
    [
        (7, "y_val: sequence 1: label_names has no name for the label 7"),
        (-100, "y_val: sequence 1: .* the label -100.*every label is known"),
    ],
)
def test_ids_without_a_name_are_an_error_that_names_y_val(label, message):
    names = ["O", "B-LOC", "I-LOC"]
    ids = [list(map(names.index, labels)) for labels in BIO]
    crf = SDCACRF(transitions="BIO", label_names=names, unknown_label=-100)
    held_out = {"X_val": DICTS[:2], "y_val": [ids[0], [label]]}
    with pytest.raises(ValueError, match=message):
        crf.fit(DICTS, ids, **held_out)


def test_errors_in_held_out_frames_name_them():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"a": [0.0, 1.0], "b": [1.0, 0.0]})
    other, crf = frame[["b", "a"]], SDCACRF(random_state=0)
    for X, labels in (frame, [0, 1]), ([frame], [[0, 1]]):
        X_other = [other] if isinstance(X, list) else other
        with pytest.raises(ValueError, match="^X_val: The feature names should"):
            crf.fit(X, labels, X_val=X_other, y_val=labels)
    with pytest.raises(ValueError, match="^X_val: feature 0 .* transformer as in fit"):
        crf.fit(frame, [0, 1], lengths=[2], X_val=other, y_val=[0, 1])
    with pytest.raises(ValueError, match=r"PackedSequences.from_lengths\(X_val, le"):
        crf.fit([frame], [[0, 1]], X_val=frame, y_val=[0, 1])


def test_a_length_without_a_path_names_the_sequence_of_x_val():
    pairs = [(None, "a"), ("a", "b"), ("b", None)]
    crf = SDCACRF(transitions=pairs)
    X_pairs, y_pairs = [[["u"], ["v"]]] * 3, [["a", "b"]] * 3
    with pytest.raises(ValueError, match="^X_val: sequence 1 is of length 1"):
        crf.fit(X_pairs, y_pairs, X_val=[X_pairs[0], [["u"]]], y_val=[["a", "b"], "a"])


def test_patience_needs_held_out_data():
    with pytest.raises(ValueError, match="patience=3 needs held-out data"):
        SDCACRF(patience=3).fit(X, y)


@pytest.mark.parametrize("params", [{"patience": 0}, {"scoring": "accuracy"}])
def test_wrong_parameters_are_refused(params):
    (name,) = params
    with pytest.raises(ValueError, match=f"The '{name}' parameter of SDCACRF"):
        SDCACRF(**params).fit(X, y, **HELD_OUT)


def test_every_form_of_the_data_is_taken():
    crf = SDCACRF(random_state=0, max_iter=3, tol=1.0)
    (expected,) = {crf.fit(X, y, **HELD_OUT).best_val_score_}
    packed, flat = PackedSequences.from_sequences(X), np.concatenate(y)
    packed_val, flat_val = PackedSequences.from_sequences(X_VAL), np.concatenate(Y_VAL)
    for X_fit, y_fit, X_val, y_val in [
        (X, y, (x for x in X_VAL), (labels for labels in Y_VAL)),
        (X, y, packed_val, Y_VAL),
        (X, y, lambda: X_VAL, Y_VAL),
        (packed, flat, packed_val, flat_val),
    ]:
        crf.fit(X_fit, y_fit, X_val=X_val, y_val=y_val)
        assert crf.best_val_score_ == expected


def test_rows_of_a_table_are_scored_by_accuracy():
    table = np.concatenate(X)
    labels = np.where(np.concatenate(y) > 0, "B-LOC", "O")
    crf = SDCACRF(random_state=0, transitions="BIO")
    crf.fit(table[50:], labels[50:], X_val=table[:50], y_val=labels[:50])
    assert crf.history_["val_score"][-1] == crf.score(table[:50], labels[:50])


def test_signals_are_scored():
    signals = [x[:, 0] for x in X]
    crf = SDCACRF(random_state=0).fit(signals, y, X_val=signals[:5], y_val=y[:5])
    assert crf.history_["val_score"][-1] == crf.score(signals[:5], y[:5])


def test_the_seconds_are_without_the_scores(monkeypatch):
    clock = count()

    def slow(crf, X, y):
        for _ in range(1000):
            next(clock)
        return 0.5

    monkeypatch.setattr(monitor, "perf_counter", lambda: next(clock))
    crf = SDCACRF(random_state=0, scoring=slow).fit(X, y, **HELD_OUT)
    assert crf.history_["seconds"].tolist() == list(range(1, crf.n_iter_ + 1))


def test_a_fit_without_held_out_data_has_no_scores():
    crf = SDCACRF(random_state=0).fit(X, y, **HELD_OUT)
    assert crf.best_epoch_ > 0
    crf.fit(X, y)
    assert "val_score" not in crf.history_
    assert not hasattr(crf, "best_epoch_")
    with pytest.raises(AttributeError, match="pass X_val and y_val to fit"):
        _ = crf.best_val_score_


def test_a_warm_start_goes_on_from_the_last_epoch():
    crf = SDCACRF(warm_start=True, **LOW).set_params(max_iter=7, patience=7)
    quiet(crf, X, y, **HELD_OUT)
    plain = quiet(SDCACRF(warm_start=True, **LOW).set_params(max_iter=7), X, y)
    assert crf.best_epoch_ < crf.n_iter_
    crf.set_params(patience=None)
    assert weights(quiet(crf, X, y, **HELD_OUT)) == weights(quiet(plain, X, y))


def test_verbose_shows_the_score_of_every_epoch(capsys):
    crf = SDCACRF(random_state=0, verbose=1).fit(X, y, **HELD_OUT)
    lines = capsys.readouterr().out.splitlines()
    for line, score in zip(lines, crf.history_["val_score"], strict=True):
        assert f"  val_score {score:.4f}  " in line


def test_callbacks_see_the_score():
    callback = pytest.importorskip("sklearn.callback", reason="new in scikit-learn 1.9")
    gaps = DualityGapMonitor()
    scores = callback.ScoringMonitor(
        scoring={"score": lambda crf, X, y: crf.best_val_score_}
    )
    crf = SDCACRF(random_state=0, patience=2).set_callbacks(gaps, scores)
    crf.fit(X, y, **HELD_OUT)
    recorded = [row["val_score"] for row in gaps.get_logs().data]
    assert recorded == crf.history_["val_score"].tolist()
    best = [row["score"] for row in scores.get_logs().data if "score" in row]
    assert best[-1] == crf.best_val_score_


def test_clones_pickles_and_files_keep_parameters_and_scores(tmp_path):
    crf = SDCACRF(random_state=0, patience=2, scoring="flat_accuracy")
    crf.fit(X, y, **HELD_OUT)
    assert clone(crf).get_params() == crf.get_params()
    save_model(crf, tmp_path / "model.zip")
    copies = pickle.loads(pickle.dumps(crf)), load_model(tmp_path / "model.zip")
    for copy in copies:
        assert copy.get_params() == crf.get_params()
        assert copy.best_epoch_ == crf.best_epoch_
        assert copy.best_val_score_ == crf.best_val_score_


def steps(**params):
    crf = SDCACRF(random_state=0, alpha=1.0, **params)
    return [("features", SequenceVectorizer()), ("crf", crf)]


def of_packed(**params):
    """Return the CRF fitted to the same data without a pipeline."""
    vectorizer, crf = (step for _, step in steps(**params))
    packed = vectorizer.fit_transform(DICTS[3:])
    held_out = {"X_val": vectorizer.transform(DICTS[:3]), "y_val": BIO[:3]}
    return crf.fit(packed, BIO[3:], **held_out)


WORDS_HELD_OUT = {"X_val": DICTS[:3], "y_val": BIO[:3]}


def test_a_tagger_transforms_the_held_out_data():
    tagger = Tagger(steps(transitions="BIO", patience=2))
    tagger.fit(DICTS[3:], BIO[3:], **WORDS_HELD_OUT)
    expected = of_packed(transitions="BIO", patience=2)
    assert weights(tagger[-1]) == weights(expected)
    assert tagger[-1].history_["val_score"].tolist() == (
        expected.history_["val_score"].tolist()
    )


def test_a_tagger_takes_held_out_data_again_after_a_fit():
    tagger = Tagger(steps()).fit(DICTS[:2], BIO[:2])
    tagger.fit(DICTS[3:], BIO[3:], **WORDS_HELD_OUT)
    assert tagger[-1].history_["val_score"][-1] == of_packed().best_val_score_


def test_errors_in_the_held_out_data_of_a_tagger_name_them():
    with pytest.raises(TypeError, match="^X_val: sequence 1"):
        Tagger(steps()).fit(DICTS, BIO, X_val=[DICTS[0], 3], y_val=BIO[:2])
    with pytest.raises(ValueError, match="^y_val is given without X_val"):
        Tagger(steps()).fit(DICTS, BIO, X_val=None, y_val=BIO[:2])


@pytest.mark.parametrize("transform_input", [None, ["X_val"]])
def test_a_tagger_follows_metadata_routing(transform_input):
    with config_context(enable_metadata_routing=True):
        tagger = Tagger(steps(), transform_input=transform_input)
        tagger[-1].set_fit_request(X_val=True, y_val=True)
        tagger.fit(DICTS[3:], BIO[3:], **WORDS_HELD_OUT)
    assert tagger[-1].best_val_score_ == of_packed().best_val_score_


def test_a_pipeline_transforms_the_held_out_data_by_metadata_routing():
    with config_context(enable_metadata_routing=True):
        pipeline = Pipeline(steps(), transform_input=["X_val"])
        pipeline[-1].set_fit_request(X_val=True, y_val=True)
        pipeline.fit(DICTS[3:], BIO[3:], **WORDS_HELD_OUT)
    assert pipeline[-1].best_val_score_ == of_packed().best_val_score_


def test_a_search_hands_the_held_out_data_to_every_fit():
    tagger = make_tagger(SequenceVectorizer(), SDCACRF(random_state=0, patience=2))
    grid = {"sdcacrf__alpha": [0.1, 1.0]}
    search = GridSearchCV(tagger, grid, cv=2, error_score="raise")
    search.fit(DICTS[3:], BIO[3:], **WORDS_HELD_OUT)
    assert len(search.best_estimator_[-1].history_["val_score"]) > 0


def test_compat_scores_the_development_data_at_every_epoch(capsys):
    crf = CRF(verbose=True).fit(DICTS[3:], BIO[3:], X_dev=DICTS[:3], y_dev=BIO[:3])
    lines = capsys.readouterr().out.splitlines()
    scores = crf.estimator_.history_["val_score"]
    shown = [line for line in lines if "val_score" in line]
    assert len(shown) == len(scores)
    assert all(line.startswith("CRF epoch") for line in shown)
    assert crf.dev_score_ == scores[-1] == crf.score(DICTS[:3], BIO[:3])
    plain = CRF().fit(DICTS[3:], BIO[3:])
    assert weights(crf.estimator_) == weights(plain.estimator_)


@pytest.mark.parametrize("data", [DICTS, [x[:, :2] for x in X]])
def test_errors_in_the_development_data_name_them(data):
    wrong = [data[0], 3]
    with pytest.raises(TypeError, match="^X_dev: sequence 1"):
        CRF().fit(data[:4], [[0] * len(x) for x in data[:4]], wrong, [[0] * 3, [0]])
    with pytest.raises(ValueError, match="X_dev has 4 sequences, but y_dev has 1"):
        CRF().fit(data[:4], [[0] * len(x) for x in data[:4]], data[:4], [[0]])
    with pytest.raises(ValueError, match="X_dev has 1 features, but CRF is expecting"):
        CRF().fit(X, y, [x[:, :1] for x in X], y)


def test_compat_in_a_tagger_takes_development_data():
    tagger = make_tagger(SequenceVectorizer(), CRF())
    tagger.fit(DICTS[3:], BIO[3:], X_dev=DICTS[:3], y_dev=BIO[:3])
    assert tagger[-1].dev_score_ == tagger.score(DICTS[:3], BIO[:3])


def test_partitions_take_no_held_out_data():
    with pytest.raises(TypeError, match="unexpected keyword argument 'X_val'"):
        DistributedCRF().fit([(X, y)], X_val=X_VAL, y_val=Y_VAL)


def test_scores_are_drawn_with_a_dot_at_the_best_epoch():
    crf = SDCACRF(random_state=0).fit(X, y, **HELD_OUT)
    display = ConvergenceDisplay.from_estimator(crf, y="val_score")
    (line,) = display.lines_
    assert line.get_ydata().tolist() == crf.history_["val_score"].tolist()
    assert line.get_markevery() == [crf.best_epoch_ - 1]
    assert display.target_lines_ == []
    assert display.ax_.get_yscale() == "linear"
    plt.close(display.figure_)
    plain = {"first": SDCACRF(random_state=0).fit(X, y), "second": crf}
    with pytest.raises(ValueError, match="X_val and y_val to the fit of first"):
        ConvergenceDisplay.from_estimators(plain, y="val_score")
