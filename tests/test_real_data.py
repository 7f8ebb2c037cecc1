"""Behaviour on real corpora, whose optimum is known."""

import functools

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

import packed
import tasks
from samples import name_of, seeded
from skcrf_sdca import LBFGSCRF, OEGCRF, SAGNUSCRF, SDCACRF
from skcrf_sdca.data.label_encoding import encode_labels
from skcrf_sdca.datasets import fetch_ocr_letters
from skcrf_sdca.metrics import span_f1_score
from skcrf_sdca.structures.chain.constraints import read_constraints

pytestmark = [pytest.mark.usefixtures("data_folder"), pytest.mark.slow]
load = functools.lru_cache(maxsize=1)(packed.load)


def fit_for(name, epochs, estimator=SDCACRF, **parameters):
    """Return an estimator fitted for some epochs on a packed task, and the task."""
    task = load(name)
    crf = estimator(task.alpha, max_iter=epochs, tol=0.0, random_state=0, **parameters)
    with pytest.warns(ConvergenceWarning):
        return crf.fit(task.X, task.y), task


def check_gap(crf, task, gap):
    """Check that the gap is at most this, and bounds the distance to the optimum."""
    assert crf.duality_gap_ <= gap
    assert 0.0 <= crf.primal_objective_ - task.optimum <= crf.duality_gap_


@pytest.mark.parametrize(
    ("name", "epochs", "gap"),
    [("conll2000", 10, 2e-3), ("ocr", 30, 5e-3)],
)
def test_gap_after_some_epochs(name, epochs, gap):
    check_gap(*fit_for(name, epochs), gap)


@pytest.mark.parametrize(
    ("name", "epochs", "gap"),
    [("ocr", 30, 1e-2), ("ned", 10, 1e-4)],
)
def test_gap_of_oeg_after_some_epochs(name, epochs, gap):
    crf, _ = fit_for(name, epochs, estimator=OEGCRF)
    assert crf.duality_gap_ <= gap


def test_the_known_optimum_is_reached():
    crf, task = fit_for("ned", 15)
    assert abs(crf.primal_objective_ - task.optimum) <= 1e-6
    assert abs(crf.dual_objective_ - task.optimum) <= 1e-6
    assert crf.duality_gap_ == pytest.approx(
        crf.primal_objective_ - crf.dual_objective_, rel=0, abs=1e-9
    )


def test_gap_sampling_beats_uniform():
    adaptive, task = fit_for("ned", 5)
    check_gap(adaptive, task, 1e-3)
    uniform, _ = fit_for("ned", 5, sampling="uniform")
    assert adaptive.duality_gap_ < 0.2 * uniform.duality_gap_


def test_letters_of_words():
    X, y = fetch_ocr_letters(return_X_y=True)
    crf = SDCACRF(tol=5e-3, random_state=0).fit(X, y)
    assert crf.score(*fetch_ocr_letters(subset="test", return_X_y=True)) >= 0.87


def test_bio_on_entities_predicts_no_invalid_sequence_and_as_many_right_spans():
    task, held_out = tasks.load_split("ned")
    f1 = {}
    for transitions in (None, "BIO"):
        crf = SDCACRF(transitions=transitions, random_state=0).fit(task.X, task.y)
        predicted = crf.predict(held_out.X)
        f1[transitions] = span_f1_score(held_out.y, predicted)
    classes, labels = encode_labels(predicted, held_out.X.lengths)
    # This raises ValueError at the first label that breaks the scheme.
    assert read_constraints("BIO", classes, labels, held_out.X.offsets) is not None
    assert f1["BIO"] >= f1[None] - 0.005


def test_all_estimators_end_at_the_same_model():
    """They reach one optimum and give the same predictions.

    A gap leaves ||w - w*|| <= sqrt(2 gap / alpha), and OCR has a word whose two best
    readings are nearer to each other than a gap of 1e-8 decides.
    """
    task, gap = load("ocr"), 1e-9
    X, y = task.X[:1000], task.y[:1000]
    mean_length = X.n_positions / len(X)
    initial = mean_length * np.log(1 + max(labels.max() for labels in y))
    optima, predicted = [], {}
    # Not SGDCRF, which would take hours.
    for estimator in (SDCACRF, SAGNUSCRF, OEGCRF, LBFGSCRF):
        crf = seeded(estimator, alpha=1.0 / len(X), max_iter=1500, tol=gap / initial)
        crf.fit(X, y)
        optima.append(crf.primal_objective_)
        predicted[name_of(crf)] = np.concatenate(list(crf.predict(X)))
    assert np.ptp(optima) <= gap
    for name, labels in predicted.items():
        np.testing.assert_array_equal(labels, predicted["SDCACRF"], err_msg=name)
