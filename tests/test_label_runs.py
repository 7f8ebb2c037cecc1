"""Recordings: cut by from_lengths, and noticed if they are fitted as a table."""

import warnings

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from numpy.testing import assert_array_equal
from sklearn.datasets import load_digits, load_iris

from skcrf_sdca import LBFGSCRF, PackedSequences
from skcrf_sdca.data.label_runs import NoChainsWarning, no_chains_message

RUNS = np.repeat([0, 1, 0, 1, 0, 1], [20, 30, 25, 15, 30, 20])
ROWS = np.random.default_rng(0).normal(size=(len(RUNS), 2)) + RUNS[:, None]


def small():
    return LBFGSCRF(alpha=0.1)


@given(st.data())
def test_lengths_cut_as_a_list_of_arrays(data):
    lengths = data.draw(st.lists(st.integers(0, 5), max_size=5).map(lambda n: [*n, 2]))
    floats = st.floats(-5, 5, width=32)
    X = data.draw(hnp.arrays(np.float64, (sum(lengths), 2), elements=floats))
    y = np.arange(len(X)) % 2
    cuts = np.cumsum(lengths)[:-1]
    form = data.draw(st.sampled_from([np.asarray, sp.csr_array, np.ndarray.tolist]))
    packed = PackedSequences.from_lengths(form(X), np.array(lengths))
    assert packed.lengths.tolist() == lengths
    parts = [form(part) if len(part) else [] for part in np.split(X, cuts)]
    assert_array_equal(
        small().fit(packed, y).coef_,
        small().fit(parts, np.split(y, cuts)).coef_,
    )


def test_lengths_of_frames_and_of_nothing():
    frame = pd.DataFrame({"a": [1.0, 2.0], "b": [3.0, 4.0]})
    packed = PackedSequences.from_lengths(frame, [1, 1])
    assert list(packed.feature_names) == ["a", "b"]
    assert len(PackedSequences.from_lengths(np.empty((0, 2)), [])) == 0
    rows = PackedSequences.from_lengths(ROWS, [len(ROWS)]).X
    assert np.shares_memory(rows, ROWS)


@pytest.mark.parametrize(
    ("lengths", "message"),
    [
        ([2, 2], "lengths sum to 4, but X has 3 rows"),
        ([4, -1], "lengths: sequence 1 has the length -1"),
        ([1.0, 2.0], "lengths must be a one-dimensional array of integers"),
        (3, "lengths must be a one-dimensional array of integers"),
        ([2**62, 2**62, 2**62, 2**62, 3], "lengths sum to 18446744073709551619, but"),
        ([], "lengths sum to 0, but X has 3 rows"),
    ],
)
def test_wrong_lengths(lengths, message):
    with pytest.raises(ValueError, match=message):
        PackedSequences.from_lengths(np.eye(3), lengths)


def test_from_lengths_checks_its_rows():
    with pytest.raises(ValueError, match="X must be two-dimensional"):
        PackedSequences.from_lengths(np.ones(3), [3])
    with pytest.raises(ValueError, match="X contains NaN: sequence 1, position 0"):
        PackedSequences.from_lengths([[1.0], [np.nan]], [1, 1])


# The note -----------------------------------------------------------------------------


@pytest.mark.parametrize("labels", [RUNS, RUNS.astype(str), RUNS.tolist()])
def test_a_recording_as_a_table_warns(labels):
    with pytest.warns(NoChainsWarning, match="y has 6 runs .* in 140 rows") as caught:
        crf = small().fit(ROWS, labels)
    assert caught[0].filename == __file__
    assert crf.predict(ROWS).shape == (140,)
    assert issubclass(NoChainsWarning, UserWarning)


def test_recordings_as_sequences_do_not_warn():
    small().fit([ROWS], [RUNS])
    small().fit(PackedSequences.from_lengths(ROWS, [70, 70]), RUNS)


@given(st.data())
def test_shuffled_rows_do_not_warn(data):
    shares = data.draw(st.lists(st.integers(1, 1000), min_size=1, max_size=20))
    n, seed = data.draw(st.integers(1, 5000)), data.draw(st.integers(0, 2**31))
    p = np.array(shares) / sum(shares)
    labels = np.random.default_rng(seed).choice(len(p), n, p=p)
    assert no_chains_message(labels) is None


@given(st.lists(st.integers(1, 300), min_size=1, max_size=20), st.booleans())
def test_sorted_rows_do_not_warn(counts, twice):
    labels = np.repeat(np.arange(len(counts)), counts)
    assert no_chains_message(np.tile(labels, 1 + twice)) is None


@pytest.mark.parametrize("load", [load_iris, load_digits])
def test_data_sets_of_classification_do_not_warn(load):
    X, y = load(return_X_y=True)
    with warnings.catch_warnings():
        warnings.simplefilter("error", NoChainsWarning)
        small().fit(X / 16, y)
