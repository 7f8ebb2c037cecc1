"""Weights in single precision against sums over the rows that are made."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from skcrf_sdca._kernels.features._features import FeatureRows
from skcrf_sdca._kernels.features._single_weights import SingleWeights
from skcrf_sdca._kernels.features._weights import Weights
from skcrf_sdca.text import ArcFeatures
from skcrf_sdca.text.features.arc_features import templates_of
from skcrf_sdca.text.features.token_arcs import TokenArcs

pytestmark = pytest.mark.survives

# Parts of one side, of both in any order, near them, and between.
ARCS = ["h.0 h+1.1", "m-1.0", "h.0 m.0", "h.1 between.1 m.1", "h.0 between.0"]
SIBLINGS = ["m.0 s.0", "h.1 m.1 s.1"]
LENGTHS = [3, 0, 1, 14, 2]


def new_arcs(n_features, templates):
    """Return the TokenArcs of made sentences."""
    rng = np.random.default_rng(0)
    X = [
        list(zip(*rng.choice(list("abc"), (2, n)).tolist(), strict=True))
        for n in LENGTHS
    ]
    features = ArcFeatures(templates, columns=("0", "1"), n_features=n_features)
    return TokenArcs(templates_of(features), X, takes_siblings=True)


@pytest.mark.parametrize("templates", [ARCS, ARCS + SIBLINGS])
@pytest.mark.parametrize("n_features", [512, 500, 3])
def test_scores_are_sums_over_rows(n_features, templates):
    arcs = new_arcs(n_features, templates)
    w = np.random.default_rng(2).normal(size=n_features).astype(np.float32)
    found = np.full((arcs.n_positions, 1), np.nan)
    rows = arcs.feature_rows()
    SingleWeights(w).node_scores(rows, arcs.offsets, 0, len(LENGTHS), found)
    assert_allclose(found[:, 0], arcs.X[:] @ w.astype(float), atol=1e-6)
    # Of some sentences, and by weights of double precision.
    part = np.empty((int(arcs.offsets[4] - arcs.offsets[2]), 1))
    SingleWeights(w).node_scores(rows, arcs.offsets, 2, 4, part)
    assert_array_equal(part, found[arcs.offsets[2] : arcs.offsets[4]])
    zeros = np.zeros((3, 1))
    double = Weights((w[:, np.newaxis].astype(float), *zeros, np.zeros(0)), False)
    double.node_scores(rows, arcs.offsets, 2, 4, part)
    assert_allclose(part, found[arcs.offsets[2] : arcs.offsets[4]], atol=1e-6)


def test_rows_of_another_form_are_refused():
    arcs, w = new_arcs(512, ARCS), np.zeros(512, dtype=np.float32)
    with pytest.raises(TypeError, match="MadeRows"):
        SingleWeights(w).node_scores(
            FeatureRows(np.zeros((6, 512))), np.array([0, 6]), 0, 1, np.zeros((6, 1))
        )
    with pytest.raises(ValueError, match="511 features"):
        SingleWeights(w[1:]).node_scores(
            arcs.feature_rows(), arcs.offsets, 0, 1, np.zeros((12, 1))
        )
