"""SequenceWindow gives frames their neighbours, of the same sequence alone."""

import pickle

import numpy as np
import pytest
import scipy.sparse as sp
import sklearn
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils._param_validation import InvalidParameterError

from samples import peak_of
from skcrf_sdca import CRF, PackedSequences, PerToken, make_tagger
from skcrf_sdca.features import SequenceWindow

RNG = np.random.default_rng(0)
LENGTHS = [4, 1, 0, 3]
X = [RNG.normal(size=(length, 2)) for length in LENGTHS]
ROWS = np.concatenate(X)
PLACES = [2, 1, 0, (-3, 0), (1, 2), (-6, -5)]


def expected_rows(rows, places, padding):
    """Return the window of one sequence, place by place."""
    first, last = (-places, places) if isinstance(places, int) else places
    before, after = max(0, -first), max(0, last)
    mode = {"nearest": "edge", "zero": "constant"}[padding]
    if not len(rows):
        return np.empty((0, rows.shape[1] * (last - first + 1)))
    padded = np.pad(rows, [(before, after), (0, 0)], mode=mode)
    shifted = [
        padded[before + place : before + place + len(rows)]
        for place in range(first, last + 1)
    ]
    return np.hstack(shifted)


@pytest.mark.parametrize("padding", ["nearest", "zero"])
@pytest.mark.parametrize("places", PLACES)
def test_every_frame_has_its_neighbours(places, padding):
    found = SequenceWindow(places, padding=padding).fit_transform(X)
    assert found.lengths.tolist() == LENGTHS
    for rows, own in zip(X, found, strict=True):
        assert own.tolist() == expected_rows(rows, places, padding).tolist()


def test_differences_are_those_from_the_frame_before():
    found = SequenceWindow(0, differences=True).fit_transform(X)
    for rows, own in zip(X, found, strict=True):
        assert own[:, 2:].tolist() == np.diff(rows, axis=0, prepend=rows[:1]).tolist()


@pytest.mark.parametrize("span", [1, 3, (-2, 0), (5, 6)])
def test_means_and_deviations_are_those_of_the_frames_in_the_sequence(span):
    first, last = (-span, span) if isinstance(span, int) else span
    found = SequenceWindow(0, span=span).fit_transform([1e6 + rows for rows in X])
    for rows, own in zip(X, found, strict=True):
        for t in range(len(rows)):
            near = 1e6 + rows[max(0, t + first) : max(0, t + last + 1)]
            if not len(near):
                near = np.zeros((1, 2))
            np.testing.assert_allclose(own[t, 2:4], near.mean(axis=0), rtol=1e-12)
            np.testing.assert_allclose(own[t, 4:6], near.std(axis=0), atol=1e-7)


@pytest.mark.parametrize("form", ["packed", "generator", "lists", "frames", "sparse"])
def test_every_form_of_numbers(form):
    frames = pytest.importorskip("pandas").DataFrame if form == "frames" else None
    make = {"lists": np.ndarray.tolist, "frames": frames, "sparse": sp.csr_array}
    own = {"packed": PackedSequences.from_sequences(X), "generator": iter(X)}
    given_form = own[form] if form in own else list(map(make[form], X))
    found = SequenceWindow(1, differences=True).fit_transform(given_form)
    expected = SequenceWindow(1, differences=True).fit_transform(X)
    assert found.is_sparse == (form == "sparse")
    rows = found.X.toarray() if found.is_sparse else found.X
    assert rows.tolist() == expected.X.tolist()


def test_sparse_rows_are_padded_by_zeros_too():
    window = SequenceWindow(2, padding="zero")
    found = window.fit_transform([sp.csr_array(rows) for rows in X])
    assert found.X.toarray().tolist() == window.fit_transform(X).X.tolist()
    with pytest.raises(ValueError, match="span needs dense rows, and X is sparse"):
        SequenceWindow(span=2).fit_transform([sp.csr_array(rows) for rows in X])


def test_a_table_needs_lengths_and_stays_a_table():
    window = SequenceWindow(1, span=1)
    rows = window.fit_transform(ROWS, lengths=LENGTHS)
    assert rows.tolist() == window.fit_transform(X).X.tolist()
    assert window.transform(ROWS, lengths=LENGTHS).tolist() == rows.tolist()
    with pytest.raises(
        ValueError, match="X is one table, .* pass a list of arrays, or"
    ):
        window.fit(ROWS)
    with pytest.raises(ValueError, match="have their lengths already"):
        window.transform(X, lengths=LENGTHS)


def test_lengths_are_routed_through_a_pipeline():
    y = np.array(["a", "b"])[(ROWS[:, 0] > 0).astype(int)]
    with sklearn.config_context(enable_metadata_routing=True):
        window = SequenceWindow(1).set_fit_request(lengths=True)
        crf = CRF(random_state=0).set_fit_request(lengths=True)
        crf = crf.set_predict_request(lengths=True)
        pipeline = make_pipeline(window.set_transform_request(lengths=True), crf)
        pipeline.fit(ROWS, y, lengths=LENGTHS)
        found = pipeline.predict(ROWS, lengths=LENGTHS)
    assert found.shape == y.shape


@pytest.mark.parametrize("form", ["arrays", "sparse"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_precision_is_kept(dtype, form):
    make = {"arrays": np.asarray, "sparse": sp.csr_array}[form]
    single = [make(rows.astype(dtype)) for rows in X]
    span = 1 if form == "arrays" else None
    found = SequenceWindow(1, span=span).fit_transform(single)
    # Sparse rows are in double precision, see PackedSequences.
    assert found.X.dtype == (dtype if form == "arrays" else np.float64)


def test_memory_is_that_of_the_output():
    rows = np.zeros((20_000, 8))
    packed = PackedSequences(rows, [0, 5_000, 20_000])
    window = SequenceWindow(10).fit(packed)
    output = window.n_features_out_ * rows.shape[0] * rows.itemsize
    # Beside the output one shifted copy of X, and a few numbers for each frame.
    peak = peak_of(lambda: window.transform(packed))
    assert output < peak < output + 3 * rows.nbytes


def test_names():
    pandas = pytest.importorskip("pandas")
    frames = [pandas.DataFrame(rows, columns=["ax", "ay"]) for rows in X]
    window = SequenceWindow((-1, 0), differences=True, span=3).fit(frames)
    names = [
        *["ax[-1]", "ay[-1]", "ax[0]", "ay[0]", "ax[0]-ax[-1]", "ay[0]-ay[-1]"],
        *["mean(ax[-3:3])", "mean(ay[-3:3])", "std(ax[-3:3])", "std(ay[-3:3])"],
    ]
    assert window.get_feature_names_out().tolist() == names
    assert list(window.transform(frames).feature_names) == names
    assert window.get_feature_names_out(["u", "v"])[0] == "u[-1]"
    with pytest.raises(ValueError, match="input_features has 1 names"):
        window.get_feature_names_out(["u"])
    turned = [frame[["ay", "ax"]] for frame in frames]
    with pytest.raises(ValueError, match="feature 0 is 'ay', but in fit it was 'ax'"):
        window.transform(turned)
    before = window.transform(frames)
    window.set_params(places=0, differences=False, span=None).fit(X)
    assert list(before.feature_names) == names
    assert window.get_feature_names_out().tolist() == ["x0[0]", "x1[0]"]


def test_other_numbers_of_features():
    window = SequenceWindow().fit(X)
    with pytest.raises(ValueError, match="X has 3 features, but SequenceWindow is"):
        window.transform([np.ones((2, 3))])
    empty = window.transform([[], np.empty((0, 2))])
    assert (len(empty), empty.n_positions, empty.n_features) == (2, 0, 10)
    assert len(window.transform([])) == 0


@pytest.mark.parametrize(
    ("params", "error", "message"),
    [
        ({"places": 1.5}, TypeError, "places must be an int or a pair of int"),
        ({"places": (2, 1)}, ValueError, r"places=\(2, 1\) has no place"),
        ({"places": -1}, ValueError, "places=-1 has no place"),
        ({"span": "3"}, TypeError, "span must be an int or a pair of int"),
        ({"padding": "wrap"}, InvalidParameterError, "'padding' parameter"),
        ({"differences": "yes"}, InvalidParameterError, "'differences' parameter"),
    ],
)
def test_wrong_parameters(params, error, message):
    window = SequenceWindow(**params)
    with pytest.raises(error, match=message):
        window.fit(X)
    assert not hasattr(window, "n_features_in_")


def test_nothing_to_fit():
    with pytest.raises(ValueError, match="X has 2 sequences and 0 items"):
        SequenceWindow().fit([np.empty((0, 2)), np.empty((0, 2))])


@given(st.lists(st.integers(0, 5), min_size=1, max_size=5).filter(any), st.integers(0))
def test_a_sequence_does_not_see_the_others(lengths, seed):
    rng = np.random.default_rng(seed)
    sequences = [rng.normal(size=(length, 2)) for length in lengths]
    window = SequenceWindow(2, differences=True, span=2).fit(sequences)
    together = window.transform(sequences)
    for rows, own in zip(sequences, together, strict=True):
        assert window.transform([rows])[0].tolist() == own.tolist()


def test_a_label_that_only_the_frame_before_tells():
    rng = np.random.default_rng(0)
    signals = [rng.normal(size=(40, 1)) for _ in range(10)]
    labels = [["u", *np.where(x[:-1, 0] > 0, "u", "d").tolist()] for x in signals]
    plain = make_tagger(PerToken(StandardScaler()), CRF(alpha=0.01, random_state=0))
    window = make_tagger(
        PerToken(StandardScaler()), SequenceWindow(), CRF(alpha=0.01, random_state=0)
    )
    parts = signals[:7], labels[:7]
    assert plain.fit(*parts).score(signals[7:], labels[7:]) < 0.7
    assert window.fit(*parts).score(signals[7:], labels[7:]) > 0.9
    grid = {"sequencewindow__places": [0, (-1, 0)]}
    search = GridSearchCV(window, grid, cv=2).fit(signals, labels)
    assert search.best_params_ == {"sequencewindow__places": (-1, 0)}


def test_clones_and_pickles():
    window = SequenceWindow((-1, 2), differences=True, span=1, padding="zero")
    assert clone(window).get_params() == window.get_params()
    window.fit(X)
    again = pickle.loads(pickle.dumps(window))
    assert again.transform(X).X.tobytes() == window.transform(X).X.tobytes()
    assert list(again.transform(X).feature_names) == list(
        window.transform(X).feature_names
    )


@pytest.mark.parametrize("padding", ["nearest", "zero"])
@pytest.mark.parametrize("far", [10**9, 2**63])
def test_places_far_beyond_all_frames(far, padding):
    options = [{"places": (far, far)}, {"span": far}, {"span": (far, far)}]
    for own in options:
        near = {name: _near(places) for name, places in own.items()}
        found, expected = (
            SequenceWindow(**{"padding": padding, **places}).fit_transform(X)
            for places in (own, near)
        )
        np.testing.assert_array_equal(found.X, expected.X)


def _near(places):
    """Return places that are beyond all frames, too."""
    n = len(ROWS)
    return n if isinstance(places, int) else (n, n)


def test_more_places_than_memory_are_refused():
    with pytest.raises(MemoryError, match=r"of 8 frames, would take .* fewer places"):
        SequenceWindow(10**12).fit(X).transform(X)
