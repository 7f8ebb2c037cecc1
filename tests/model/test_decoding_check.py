"""A fit warns where the marginals of its frames are better than its best path."""

import re
import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.preprocessing import StandardScaler

from skcrf_sdca import CRF, LBFGSCRF, PackedSequences, PerToken, SegmentCRF, make_tagger
from skcrf_sdca.metrics import flat_accuracy_score
from skcrf_sdca.model.decoding_check import DecodingWarning

# Runs of equal labels, and features that say little of one frame.
RNG = np.random.default_rng(0)
y = [np.repeat(RNG.integers(3, size=400), 5) for _ in range(10)]
X = [RNG.normal(size=(2_000, 3)) + 0.4 * np.eye(3)[labels] for labels in y]
CLEAR = [rows + 3.0 * np.eye(3)[labels] for rows, labels in zip(X, y, strict=True)]
HINGE = CRF(10.0, loss="hinge", random_state=0, tol=0.5)
SEGMENTS = SegmentCRF(scheme=None, solver="lbfgs", tol=0.1)


def crf(**parameters):
    return LBFGSCRF(alpha=0.1, tol=1e-5, **parameters)


@pytest.fixture
def no_warning():
    with warnings.catch_warnings():
        warnings.simplefilter("error", DecodingWarning)
        yield


def test_the_warning_names_both_figures_and_the_cure():
    with pytest.warns(DecodingWarning, match='decoding="posterior"') as caught:
        fitted = crf().fit(X, y)
    (record,) = (r for r in caught if r.category is DecodingWarning)
    assert record.filename == __file__
    n, of_marginals, of_path = re.findall(r"\d+(?:\.\d+)?", str(record.message))[:3]
    packed = PackedSequences.from_sequences(X)
    start = PackedSequences(packed.X[: int(n)], [*range(0, int(n), 2_000), int(n)])
    labels = np.concatenate(y)[: int(n)]
    for decoding, figure in [("viterbi", of_path), ("posterior", of_marginals)]:
        found = np.concatenate(fitted.predict(start, decoding=decoding))
        assert float(figure) == round(flat_accuracy_score([labels], [found]), 3)
    assert float(of_marginals) > float(of_path) + 0.02


def test_the_warning_names_the_line_outside_of_a_tagger():
    with pytest.warns(DecodingWarning) as caught:
        make_tagger(PerToken(StandardScaler()), crf()).fit(X, y)
    assert {record.filename for record in caught} == {__file__}


@pytest.mark.slow
def test_labels_that_are_not_known_do_not_count():
    lost = [labels.tolist() for labels in y]
    for labels in lost:
        labels[::2] = [None] * len(labels[::2])
    with pytest.warns(DecodingWarning):
        crf().fit(X, lost)


@pytest.mark.usefixtures("no_warning")
def test_the_cure_is_silent_and_changes_no_weight():
    fitted = crf(decoding="posterior").fit(X, y)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DecodingWarning)
        np.testing.assert_array_equal(fitted.coef_, crf().fit(X, y).coef_)


@pytest.mark.usefixtures("no_warning")
@pytest.mark.parametrize(
    ("model", "own", "labels"),
    [
        pytest.param(crf(), CLEAR, y, id="both are as good"),
        pytest.param(crf(), X[:1], y[:1], id="too few frames to tell"),
        pytest.param(crf(), list(map(sp.csr_array, X)), y, id="sparse rows"),
        pytest.param(crf(transitions="observed"), X, y, id="all transitions observed"),
        pytest.param(
            CRF(10.0, loss="hinge", random_state=0, tol=0.5), CLEAR, y, id="hinge"
        ),
        pytest.param(SEGMENTS, X[:3], y[:3], id="segments"),
        pytest.param(crf(), np.vstack(X)[::5], np.hstack(y)[::5], id="a table"),
    ],
)
def test_it_is_silent(model, own, labels):
    model.fit(own, labels)


@pytest.mark.usefixtures("no_warning")
def test_text_is_not_asked():
    words = [[[f"w={k}"] for k in labels] for labels in y]
    crf().fit(words, y)
