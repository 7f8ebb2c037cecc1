"""Compiled kernels check their arguments: nothing crashes the interpreter."""

import numpy as np
import pytest
from scipy.sparse import csr_array

from skcrf_sdca import SDCACRF, PackedSequences
from skcrf_sdca._kernels.features._features import FeatureRows
from skcrf_sdca._kernels.features._weights import Weights
from skcrf_sdca.datasets import make_chains
from skcrf_sdca.structures.chain import oracle

pytestmark = pytest.mark.survives

X, y = make_chains(10, n_labels=3, n_features=4, random_state=0)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("coef_", np.zeros((3, 0))),
        ("coef_", np.zeros((3, 1))),
        ("coef_", np.zeros((2, 4))),
        ("intercept_", np.zeros(2)),
        ("start_", np.zeros(0)),
        ("transition_", np.zeros((3, 2))),
    ],
)
def test_fitted_attributes_of_wrong_shape(name, value):
    crf = SDCACRF(tol=1e-1, random_state=0).fit(X, y)
    setattr(crf, name, value)
    for sequences in (X, [csr_array(x) for x in X]):
        with pytest.raises(ValueError, match="features|shapes"):
            crf.predict_proba(sequences)


@pytest.mark.parametrize("value", [-1, 4, 10**8])
def test_indices_changed_behind_our_back(value):
    rows = csr_array(np.ones((3, 4)))
    packed = PackedSequences(rows, [0, 3])
    rows.indices[5] = value
    with pytest.raises(ValueError, match="not consistent"):
        SDCACRF().fit(packed, [[0, 1, 0]])


def test_row_bounds_changed_behind_our_back():
    rows = csr_array(np.ones((3, 4)))
    packed = PackedSequences(rows, [0, 3])
    rows.indptr[1] = 10**6
    with pytest.raises(ValueError, match="not consistent"):
        FeatureRows(packed.X)


def test_row_bounds_whose_differences_overflow():
    rows = csr_array(np.ones((3, 4)))
    packed = PackedSequences(rows, [0, 3])
    rows.indptr[1:3] = 2**31 - 1, -5
    assert (np.diff(rows.indptr) >= 0).all()
    with pytest.raises(ValueError, match="not consistent"):
        FeatureRows(packed.X)


@pytest.mark.parametrize("offsets", [[0, 10**8], [0, -5, 2], [1, 2], [0, 3, 1, 2]])
@pytest.mark.parametrize(
    "function", [oracle.log_partition, oracle.marginals, oracle.viterbi]
)
def test_offsets_beyond_the_rows(function, offsets):
    with pytest.raises(ValueError, match="offsets must not decrease"):
        function(np.zeros((2, 2)), np.zeros((2, 2)), offsets)


def test_as_many_weights_as_chains():
    chains = oracle.as_chains(np.zeros((2, 2)), np.zeros((2, 2)), [0, 1, 2])
    with pytest.raises(ValueError, match="weights for 2 chains"):
        chains.expectations(np.ones(1))


def test_at_least_one_label():
    with pytest.raises(ValueError, match="at least one label"):
        oracle.log_partition(np.zeros((2, 0)), np.zeros((0, 0)))


def test_blocks_of_weights_that_do_not_agree():
    blocks = np.zeros((4, 3)), np.zeros(3), np.zeros(3), np.zeros(2), np.zeros((3, 3))
    with pytest.raises(ValueError, match="do not agree"):
        Weights(blocks)


@pytest.mark.parametrize("sparse", [False, True])
def test_sequences_without_any_feature(sparse):
    empty = csr_array((3, 0)) if sparse else np.empty((3, 0))
    crf = SDCACRF(random_state=0).fit([empty, empty], [[0, 1, 2], [0, 1, 2]])
    assert crf.predict([empty])[0] == [0, 1, 2]
    assert crf.coef_.shape == (3, 0)
