"""The parameter `decoding` decides what estimators predict, and all that counts it."""

import io
import pickle
from itertools import groupby

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GridSearchCV
from sklearn.preprocessing import StandardScaler
from sklearn.utils._param_validation import InvalidParameterError

from skcrf_sdca import (
    CRF,
    CRFCV,
    LBFGSCRF,
    SDCACRF,
    DependencyCRF,
    GraphCRF,
    OnlineDependencyCRF,
    PassiveAggressiveCRF,
    PerToken,
    SegmentCRF,
    TreeCRF,
    load_model,
    make_tagger,
    save_model,
)
from skcrf_sdca.metrics import extract_spans, flat_accuracy_score, get_scorer
from skcrf_sdca.serving import Predictor
from skcrf_sdca.text import ArcFeatures, repair_labels

POSTERIOR = "posterior"
# Runs of equal labels, and weak features: one path is far from the best of each frame.
RNG = np.random.default_rng(0)
y = [np.repeat(RNG.integers(3, size=8), 5).tolist() for _ in range(12)]
X = [RNG.normal(size=(40, 3)) + 0.7 * np.eye(3)[labels] for labels in y]
FIT = X[:8], y[:8]
HELD = X[8:], y[8:]
ALPHA = 0.1
SPAN = {0: "O", 1: "I-A", 2: "I-B"}
GRAPHS = [(x, [[t, t + 1] for t in range(len(x) - 1)]) for x in X]
TREES = [(x, [-1, *range(len(x) - 1)]) for x in X]
ARCS = [RNG.normal(size=(4, 3, 2)) for _ in range(30)]
HEADS = [[0, 1, 2] if k % 3 else [2, 0, 2] for k in range(30)]
CASES = {
    "LBFGSCRF": (LBFGSCRF(), X, y),
    "CRF order 2": (CRF(order=2, random_state=0, tol=0.1), X, y),
    "PassiveAggressiveCRF": (PassiveAggressiveCRF(random_state=0), X, y),
    "SegmentCRF": (SegmentCRF(scheme=None, solver="lbfgs"), X, y),
    "GraphCRF": (GraphCRF(solver="lbfgs"), GRAPHS, y),
    "GraphCRF trw": (GraphCRF(solver="lbfgs", inference="trw"), GRAPHS, y),
    "TreeCRF": (TreeCRF(solver="lbfgs"), TREES, y),
    "DependencyCRF": (DependencyCRF(solver="lbfgs", alpha=1.0), ARCS, HEADS),
}


def all_labels(y):
    return [label for labels in y for label in labels]


@pytest.mark.parametrize("case", CASES)
def test_predict_and_score_follow_the_parameter(case):
    crf, X, y = CASES[case]
    crf = clone(crf).fit(X, y)
    assert crf.decoding == "viterbi"
    for decoding in ("viterbi", POSTERIOR):
        named = crf.predict(X, decoding=decoding).tolist()
        crf.set_params(decoding=decoding)
        assert crf.predict(X).tolist() == named
        # A single sequence takes a way of its own.
        assert [crf.predict(X[i : i + 1])[0] for i in range(5)] == named[:5]
        right = np.equal(all_labels(named), all_labels(y))
        assert crf.score(X, y) == pytest.approx(right.mean())
    assert crf.predict(X, decoding="viterbi").tolist() != named


def test_a_table_follows_it():
    table, labels = np.concatenate(X), np.concatenate(y)
    lengths = list(map(len, X))
    crf = LBFGSCRF(decoding=POSTERIOR).fit(table, labels, lengths=lengths)
    found = crf.predict(table, lengths=lengths)
    expected = LBFGSCRF().fit(X, y).predict(X, decoding=POSTERIOR)
    assert found.tolist() == all_labels(expected)
    assert crf.score(table, labels, lengths=lengths) == np.mean(found == labels)


def test_the_weights_do_not_depend_on_it():
    for estimator in (LBFGSCRF(), PassiveAggressiveCRF(random_state=0)):
        models = [
            clone(estimator).set_params(decoding=decoding).fit(X, y)
            for decoding in ("viterbi", POSTERIOR)
        ]
        assert models[0].coef_.tobytes() == models[1].coef_.tobytes()


def test_frames_are_counted_as_they_are_decoded():
    # Each label follows each label as often: the best path is led by the last frame.
    crf = LBFGSCRF(alpha=ALPHA).fit(*FIT)
    by_path = crf.score(*HELD)
    crf.set_params(decoding=POSTERIOR)
    assert crf.score(*HELD) == flat_accuracy_score(HELD[1], crf.predict(HELD[0]))
    assert crf.score(*HELD) != by_path
    assert get_scorer("flat_accuracy")(crf, *HELD) == crf.score(*HELD)


def test_a_tagger_follows_the_parameter_of_its_crf():
    tagger = make_tagger(PerToken(StandardScaler()), LBFGSCRF(decoding=POSTERIOR))
    tagger.fit(X, y)
    assert tagger.predict(X).tolist() == tagger.predict(X, decoding=POSTERIOR).tolist()
    assert tagger.predict(X).tolist() != tagger.predict(X, decoding="viterbi").tolist()
    assert tagger.score(X, y) == flat_accuracy_score(y, tagger.predict(X))


@pytest.mark.filterwarnings("ignore::skcrf_sdca.selection.SearchBoundWarning")
def test_searches_choose_it_and_by_it():
    grid = {"decoding": ["viterbi", POSTERIOR], "alpha": [0.01, 10.0]}
    search = GridSearchCV(LBFGSCRF(), grid, cv=[(range(8), range(8, 12))]).fit(X, y)
    tried = zip(
        search.cv_results_["params"], search.cv_results_["mean_test_score"], strict=True
    )
    for params, score in tried:
        crf = LBFGSCRF(alpha=params["alpha"]).fit(*FIT)
        found = crf.predict(HELD[0], decoding=params["decoding"])
        assert score == pytest.approx(flat_accuracy_score(HELD[1], found))
    search = CRFCV(
        LBFGSCRF(decoding=POSTERIOR),
        strengths=(100.0, 1.0),
        l1_ratios=(0.0,),
        scoring="flat_accuracy",
    ).fit(*FIT, X_val=HELD[0], y_val=HELD[1])
    for n_alpha, score in zip(
        search.cv_results_["strength"],
        search.cv_results_["mean_test_score"],
        strict=True,
    ):
        crf = LBFGSCRF(alpha=n_alpha / 8, tol=search.search_tol).fit(*FIT)
        found = crf.predict(HELD[0], decoding=POSTERIOR)
        assert score == pytest.approx(flat_accuracy_score(HELD[1], found), abs=0.02)
    assert search.best_estimator_.decoding == POSTERIOR


def test_held_out_scores_of_a_fit_follow_it():
    crf = LBFGSCRF(decoding=POSTERIOR, max_iter=20, tol=0.0, patience=20)
    with pytest.warns(ConvergenceWarning):
        crf.fit(*FIT, X_val=HELD[0], y_val=HELD[1])
    best = max(crf.history_["val_score"])
    assert crf.score(*HELD) == pytest.approx(best)


def test_forbidden_transitions_stay_forbidden():
    spans = [[SPAN[label] for label in labels] for labels in y]
    spans = [["O" if t % 5 == 0 else s for t, s in enumerate(own)] for own in spans]
    spans, _ = repair_labels(spans, "BIO")
    crf = LBFGSCRF(transitions="BIO", decoding=POSTERIOR, alpha=ALPHA).fit(X, spans)
    found = crf.predict(X).tolist()
    assert repair_labels(found, "BIO")[1] == 0
    assert found != crf.predict(X, decoding="viterbi").tolist()
    own = [extract_spans(labels) for labels in found]
    assert [[s[:3] for s in row] for row in crf.predict_spans(X)] == own
    assert [s[:3] for s in crf.predict_spans(X[:1])[0]] == own[0]


def test_spans_of_segments_are_those_of_the_labels():
    names = [[SPAN[label] for label in labels] for labels in y]
    spans, _ = repair_labels(names, "BIO")
    crf = SegmentCRF(solver="lbfgs", decoding=POSTERIOR).fit(X, spans)
    found = [extract_spans(labels) for labels in crf.predict(X)]
    assert [[s[:3] for s in row] for row in crf.predict_spans(X)] == found


def test_segments_keep_their_largest_length():
    short = [[t // 3 % 2 for t in range(40)] for _ in X]
    crf = SegmentCRF(scheme=None, solver="lbfgs", decoding=POSTERIOR).fit(X, short)
    assert crf.max_length_ == 3
    same = [10 * np.ones((12, 1)) * [1.0, 0.0, 0.0]]
    for rows in (*crf.predict(X), *crf.predict(same)):
        assert max(len(list(run)) for _, run in groupby(rows)) <= 3


def test_an_explanation_is_of_the_predicted_label():
    crf = LBFGSCRF(decoding=POSTERIOR, alpha=ALPHA).fit(X, y)
    found, best = crf.predict(X[:1])[0], crf.predict(X[:1], decoding="viterbi")[0]
    t = int(np.argmax(np.not_equal(found, best)))
    assert found[t] != best[t]
    assert crf.explain(X[0], t).label == found[t]


def test_files_and_pickles_keep_it():
    crf = LBFGSCRF(decoding=POSTERIOR).fit(X, y)
    save_model(crf, file := io.BytesIO())
    file.seek(0)
    for again in (load_model(file), pickle.loads(pickle.dumps(crf)), clone(crf)):
        assert again.decoding == POSTERIOR
    # A pickle of a version without the parameter.
    del crf.__dict__["decoding"]
    old = pickle.loads(pickle.dumps(crf))
    assert old.predict(X).tolist() == old.predict(X, decoding="viterbi").tolist()


# Graphs are not served.
SERVED = [name for name in CASES if "Graph" not in name and name != "TreeCRF"]


@pytest.mark.parametrize("case", SERVED)
def test_a_predictor_follows_the_model(case):
    estimator, X, y = CASES[case]
    paths = {}
    for decoding in ("viterbi", POSTERIOR):
        crf = clone(estimator).set_params(decoding=decoding).fit(X, y)
        save_model(crf, file := io.BytesIO())
        served = Predictor.load(file.getvalue())
        paths[decoding] = [served.predict_one(x) for x in X]
        assert paths[decoding] == crf.predict(X).tolist()
    assert paths["viterbi"] != paths[POSTERIOR]


def test_a_predictor_follows_an_online_parser():
    words = [["dogs", "bark", "home"], ["go", "home"], ["dogs", "go", "home"]] * 3
    trees = [([2, 0, 2], ["nsubj", "root", "obj"]), ([0, 1], ["root", "obj"])]
    y = [trees[len(x) == 2] for x in words]
    given = {
        "features": ArcFeatures(["h.word m.word", "m.word"], n_features=64),
        "labelled": True,
        "loss": "log_loss",
        "max_iter": 1,
    }
    parser = OnlineDependencyCRF(decoding=POSTERIOR, random_state=0, **given)
    parser.fit(words, y)
    save_model(parser, file := io.BytesIO())
    served = Predictor.load(file.getvalue())
    for x in words:
        heads, relations = served.predict_one(x)
        ((own_heads, own_relations),) = parser.predict([x])
        assert (list(heads), list(relations)) == (list(own_heads), list(own_relations))


def test_unknown_names_are_refused():
    with pytest.raises(InvalidParameterError, match="'decoding' parameter"):
        LBFGSCRF(decoding="path").fit(X, y)
    crf = LBFGSCRF().fit(X, y).set_params(decoding="path")
    for call in (lambda: crf.predict(X), lambda: crf.score(X, y)):
        with pytest.raises(ValueError, match="decoding must be one of .'posterior'"):
            call()


def test_a_loss_without_probabilities_is_refused_before_the_fit():
    for crf in (SDCACRF(loss="hinge"), PassiveAggressiveCRF(loss="perceptron")):
        crf.set_params(decoding=POSTERIOR)
        with pytest.raises(ValueError, match='needs probabilities, and loss="'):
            crf.fit(X, y)
        assert not hasattr(crf, "coef_")
