"""Packed sequences sum over their positions in the memory of a block."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from skcrf_sdca import OEGCRF, SDCACRF, PackedSequences
from skcrf_sdca.data import packed as packed_sequences
from skcrf_sdca.datasets import make_chains


@pytest.mark.parametrize("lengths", [[0, 3, 0, 5, 1, 0], [4], [0]])
@pytest.mark.parametrize("values", [1, 3, 2**16])
def test_sums_over_positions_are_made_block_by_block(lengths, values, monkeypatch):
    rng = np.random.default_rng(0)
    offsets = np.append(0, np.cumsum(lengths)).astype(int)
    packed = PackedSequences(rng.normal(size=(sum(lengths), 3)), offsets)
    monkeypatch.setattr(packed_sequences, "VALUES_OF_BLOCK", values)
    norms = [np.linalg.norm(rows, axis=1).sum() for rows in packed]
    weight = rng.random(len(lengths))
    of_row = np.repeat(weight, lengths)
    squares, counts, norm_sums = packed.sizes(weight)
    assert_allclose(norm_sums, norms, rtol=1e-12)
    assert_allclose(squares, of_row @ packed.X**2, rtol=1e-12)
    assert_allclose(counts, of_row @ (packed.X != 0), rtol=1e-12)


@pytest.mark.parametrize("estimator", [SDCACRF, OEGCRF])
def test_a_fit_checks_the_rows_once(estimator, monkeypatch):
    X, y = make_chains(5, density=0.5, random_state=0)
    packed = PackedSequences.from_sequences(X)
    assert packed.is_sparse
    made, make = [], packed_sequences.FeatureRows

    def recorded(*arguments, **options):
        made.append(make(*arguments, **options))
        return made[-1]

    monkeypatch.setattr(packed_sequences, "FeatureRows", recorded)
    estimator(acceleration="proximal_point", max_iter=1, tol=10.0).fit(packed, y)
    assert len(made) == 1
