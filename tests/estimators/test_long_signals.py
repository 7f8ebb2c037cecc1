"""One recording of 100,000 frames, and its pieces: trained, certified and labelled."""

import numpy as np
import pytest

from skcrf_sdca import CRF, PackedSequences

N_FRAMES, N_LABELS = 100_000, 4


@pytest.fixture(scope="module")
def signal():
    """Return the frames of a long recording, and their labels."""
    rng = np.random.default_rng(0)
    lengths = rng.gamma(9, 5, size=N_FRAMES // 20).astype(int) + 1
    labels = np.repeat(rng.integers(N_LABELS, size=len(lengths)), lengths)[:N_FRAMES]
    means = rng.normal(size=(N_LABELS, 8))
    return means[labels] + rng.normal(size=(N_FRAMES, 8)), labels


@pytest.mark.slow
@pytest.mark.parametrize("n_pieces", [1, 100])
def test_100_000_frames_need_no_option(signal, n_pieces):
    frames, labels = signal
    lengths = [N_FRAMES // n_pieces] * n_pieces
    crf = CRF().fit(frames, labels, lengths=lengths)
    assert crf.duality_gap_ <= crf.gap_target_
    packed = PackedSequences.from_lengths(frames, lengths)
    found = np.concatenate(crf.predict(packed))
    assert np.mean(found == labels) > 0.97
    marginals = np.vstack(crf.predict_proba(packed))
    np.testing.assert_allclose(marginals.sum(axis=1), 1.0, atol=1e-9)
    p = marginals.max(axis=1)
    assert abs(p.mean() - np.mean(marginals.argmax(axis=1) == labels)) < 0.01
