"""Errors for missing values of X name the cure, and the cure works."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from skcrf_sdca import (
    CRF,
    DependencyCRF,
    GraphCRF,
    PackedSequences,
    PerToken,
    SegmentCRF,
    TreeCRF,
    make_tagger,
)
from skcrf_sdca.features import SequenceWindow

NAN = np.nan
X = [np.array([[1.0, NAN], [2.0, 3.0]]), np.array([[0.0, 1.0]])]
y = [["a", "b"], ["a"]]
KNOWN = {
    "PerToken": PerToken,
    "make_pipeline": make_pipeline,
    "SimpleImputer": SimpleImputer,
    "StandardScaler": StandardScaler,
}


def nullable(rows):
    """Return rows as a data frame with NA, which is no float."""
    return pytest.importorskip("pandas").DataFrame(rows).astype("Float64")


FORMS = {"arrays": np.asarray, "sparse": sp.csr_array, "frames with NA": nullable}


def error_of(function, *args, **kwargs):
    with pytest.raises(ValueError, match="NaN|NAType") as raised:
        function(*args, **kwargs)
    return str(raised.value)


@pytest.mark.parametrize("form", FORMS)
def test_the_cure_that_the_error_names_works(form):
    own = list(map(FORMS[form], X))
    message = error_of(CRF(random_state=0).fit, own, y)
    assert "sequence 0" in message
    assert "position 0, feature 1" in message
    _, _, rest = message.partition("fill missing values first, by ")
    cure = eval(rest.removesuffix("."), KNOWN)
    tagger = make_tagger(cure, SequenceWindow(1), CRF(random_state=0)).fit(own, y)
    assert tagger.predict(own)[0] == ["a", "b"]


CURE = "PerToken(make_pipeline(SimpleImputer(add_indicator=True), StandardScaler()))"


@pytest.mark.parametrize(
    "function",
    [
        lambda: CRF(random_state=0).fit(X, y),
        lambda: CRF(random_state=0).fit([[[1.0], [2.0]]], y[:1]).predict([[[NAN]]]),
        lambda: CRF(random_state=0).fit(np.vstack(X), sum(y, []), lengths=[2, 1]),
        lambda: CRF(random_state=0).fit([[[1.0, None], [2.0, 3.0]]], y[:1]),
        lambda: make_tagger(PerToken(StandardScaler()), CRF()).fit(X, y),
        lambda: SequenceWindow().fit(X),
        lambda: SegmentCRF(scheme=None).fit(X, y),
        lambda: PackedSequences(X[0], [0, 2]),
    ],
)
def test_every_reader_of_sequences_names_it(function):
    assert error_of(function).endswith(f"; fill missing values first, by {CURE}.")


@pytest.mark.parametrize(
    ("crf", "item", "target", "where"),
    [
        (GraphCRF(), (X[0], []), y[0], "graph 0, node 0, feature 1; .* of all nodes"),
        (TreeCRF(), (X[0], [-1, -1]), y[0], "graph 0, node 0, feature 1; .* nodes"),
        (DependencyCRF(), np.full((3, 2, 1), NAN), [2, 0], "sentence 0, .* all arcs"),
    ],
)
def test_the_rows_of_graphs_are_no_sequences(crf, item, target, where):
    with pytest.raises(ValueError, match=where):
        crf.fit([item], [target])


def test_infinity_is_no_missing_value():
    with pytest.raises(ValueError, match="infinity: .*, feature 0; replace or"):
        CRF().fit([np.array([[np.inf], [1.0]])], y[:1])


@pytest.mark.parametrize("labels", [["a", NAN], np.array([1.0, NAN])])
def test_a_missing_label_is_none(labels):
    with pytest.raises(ValueError, match="position 1 .* None where it is not known"):
        CRF().fit([np.ones((2, 1))], [labels])
