"""Recordings: cut by their lengths, and noticed if they are fitted as a table."""

import copy
import json
import warnings
import zipfile
from itertools import groupby

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from numpy.testing import assert_array_equal
from sklearn import config_context
from sklearn.datasets import load_digits, load_iris
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from skcrf_sdca import (
    LBFGSCRF,
    GraphCRF,
    PackedSequences,
    PassiveAggressiveCRF,
    PerToken,
    SegmentCRF,
    load_model,
    make_tagger,
    save_model,
)
from skcrf_sdca.data.label_runs import NoChainsWarning, RunCounts, no_chains_message
from skcrf_sdca.distributed import DistributedCRF

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


# Tables with lengths ----------------------------------------------------------------

LENGTHS = [50, 0, 90]


@pytest.fixture(scope="module")
def recorder():
    return small().fit(ROWS, RUNS, lengths=LENGTHS)


@pytest.mark.parametrize(
    "form", [np.asarray, sp.csr_array, pd.DataFrame, np.ndarray.tolist]
)
def test_a_table_with_lengths_is_cut_and_answered_by_rows(form):
    X = form(ROWS)
    if isinstance(X, pd.DataFrame):
        X.columns = ["a", "b"]
    packed = PackedSequences.from_lengths(X, LENGTHS)
    crf, twin = small().fit(X, RUNS, lengths=LENGTHS), small().fit(packed, RUNS)
    assert_array_equal(crf.transition_, twin.transition_)
    paths, proba = twin.predict(packed), twin.predict_proba(packed)
    for model in (crf, twin):
        assert_array_equal(model.predict(X, LENGTHS), np.concatenate(paths))
        assert_array_equal(model.predict_proba(X, LENGTHS), np.concatenate(proba))
        log_proba = model.predict_log_proba(X, lengths=LENGTHS)
        np.testing.assert_allclose(np.exp(log_proba), np.concatenate(proba))
        assert model.score(X, RUNS, lengths=LENGTHS) == twin.score(packed, RUNS)
    assert [len(path) for path in crf.predict(packed)] == LENGTHS
    assert crf.score(packed, RUNS) == twin.score(packed, RUNS)


def test_a_model_of_a_table_with_lengths_takes_rows_and_sequences(recorder):
    single = recorder.predict_proba(ROWS)
    assert_array_equal(single, recorder.predict_proba(ROWS, [140]))
    assert not np.allclose(single, recorder.predict_proba(ROWS, [1] * 140))
    assert recorder.score(ROWS, RUNS) == recorder.score(ROWS, RUNS, lengths=[140])
    parts = [ROWS[:1], ROWS[1:3]]
    assert_array_equal(
        recorder.predict_proba(parts)[1], recorder.predict_proba(parts[1])
    )
    (edges,) = recorder.predict_edge_proba([ROWS])
    assert_array_equal(recorder.predict_edge_proba(ROWS), edges)
    assert recorder.predict_edge_proba(parts)[1].shape == (1, 2, 2)
    assert recorder.predict(ROWS[:0], []).shape == (0,)
    assert recorder.explain(ROWS[1:3], 1).position == 1
    path = recorder.predict(parts[1:])[0]
    assert recorder.predict_n_best(parts[1:], 1)[0][0][0] == path
    assert (
        recorder.predict_n_best(parts[1], 2)[0]
        == (recorder.predict_n_best(parts[1:], 2)[0])
    )


def test_lengths_with_labels_known_or_not(recorder):
    known = [None] * 140
    known[0] = 1
    assert recorder.predict(ROWS, LENGTHS, known=known)[0] == 1
    y = RUNS.astype(object)
    y[[3, 60]] = None
    soft = small().fit(ROWS, y, lengths=LENGTHS)
    assert soft.score(ROWS, y, lengths=LENGTHS) > 0.9
    y[60] = np.nan
    with pytest.raises(ValueError, match="y: sequence 2, position 10 is"):
        small().fit(ROWS, y, lengths=LENGTHS)


def test_names_of_columns_are_kept_and_checked_with_lengths():
    frame = pd.DataFrame(ROWS, columns=["a", "b"])
    crf = small().fit(frame, RUNS, lengths=LENGTHS)
    assert crf.feature_names_in_.tolist() == ["a", "b"]
    for options in ({"lengths": LENGTHS}, {}):
        with pytest.raises(ValueError, match="feature 0 is 'b', but in fit it was 'a'"):
            crf.predict(frame[["b", "a"]], **options)
        with pytest.warns(UserWarning, match="does not have valid feature names"):
            crf.predict(ROWS, **options)


def test_sample_weights_are_those_of_the_sequences():
    weighted = small().fit(ROWS, RUNS, [2.0, 1.0, 0.0], LENGTHS)
    alone = small().fit(ROWS[:50], RUNS[:50], [2.0, 1.0], [50, 0])
    np.testing.assert_allclose(weighted.coef_, alone.coef_, rtol=1e-3)
    share = weighted.score(ROWS, RUNS, [1.0, 0.0, 0.0], LENGTHS)
    assert share == weighted.score(ROWS[:50], RUNS[:50], lengths=[50])
    with pytest.raises(ValueError, match="sample_weight"):
        small().fit(ROWS, RUNS, np.ones(140), LENGTHS)


@pytest.mark.parametrize(
    ("X", "lengths", "message"),
    [
        (ROWS, [50, 80], "lengths sum to 130, but X has 140 rows"),
        (ROWS, [150, -10], "lengths: sequence 1 has the length -10"),
        (ROWS, [70.0, 70.0], "lengths must be a one-dimensional array of integers"),
        ([ROWS], [140], "X holds sequences .arrays., which have their lengths already"),
        (PackedSequences.from_lengths(ROWS, [140]), [140], "their lengths already"),
        ([[{"a": 1}]], [1], "X holds sequences .dicts., which have their lengths"),
    ],
)
def test_wrong_lengths_in_fit_and_predict(recorder, X, lengths, message):
    before = recorder.coef_.copy()
    for method in (recorder.fit, recorder.score):
        with pytest.raises(ValueError, match=message):
            method(X, RUNS, lengths=lengths)
    with pytest.raises(ValueError, match=message):
        recorder.predict(X, lengths)
    assert_array_equal(recorder.coef_, before)


def test_lengths_and_labels_that_do_not_fit(recorder):
    with pytest.raises(ValueError, match="X has 140 rows, but y has 139 labels"):
        small().fit(ROWS, RUNS[:-1], lengths=LENGTHS)
    with pytest.raises(ValueError, match="X has 140 rows, but known has 1 labels"):
        recorder.predict(ROWS, LENGTHS, known=[None])
    rows = small().fit(ROWS[::7], RUNS[::7])
    with pytest.raises(TypeError, match="fitted on a table without lengths"):
        rows.predict(ROWS, LENGTHS)
    with pytest.raises(ValueError, match="cut the table by PackedSequences"):
        small().fit([ROWS], [RUNS]).predict(ROWS)


def test_lengths_in_pipelines():
    scaled = StandardScaler().fit_transform(ROWS)
    alone = small().fit(scaled, RUNS, lengths=LENGTHS)
    for make in (make_pipeline, make_tagger):
        pipeline = make(StandardScaler(), small())
        pipeline.fit(ROWS, RUNS, lbfgscrf__lengths=LENGTHS)
        found = pipeline.predict_proba(ROWS, lengths=LENGTHS)
        assert_array_equal(found, alone.predict_proba(scaled, LENGTHS))
    chain = pipeline.explain(ROWS[1:3], 1)
    assert str(chain) == str(alone.explain(scaled[1:3], 1))
    tokens = make_tagger(PerToken(StandardScaler()), small())
    tokens.fit(ROWS, RUNS, lbfgscrf__lengths=LENGTHS)
    assert_array_equal(tokens.predict_proba(ROWS, lengths=LENGTHS), found)


@config_context(enable_metadata_routing=True)
def test_lengths_are_routed():
    crf = small().set_fit_request(lengths=True).set_score_request(lengths=True)
    crf.set_predict_request(lengths=True)
    pipeline = make_pipeline(StandardScaler(), crf).fit(ROWS, RUNS, lengths=LENGTHS)
    alone = small().fit(StandardScaler().fit_transform(ROWS), RUNS, lengths=LENGTHS)
    assert_array_equal(pipeline[-1].transition_, alone.transition_)
    assert len(pipeline.predict(ROWS, lengths=LENGTHS)) == 140
    assert pipeline.score(ROWS, RUNS, lengths=LENGTHS) > 0.9


def test_a_saved_model_keeps_that_its_table_had_lengths(recorder, tmp_path):
    save_model(recorder, tmp_path / "model.skcrf")
    for again in (load_model(tmp_path / "model.skcrf"), copy.deepcopy(recorder)):
        assert_array_equal(
            again.predict(ROWS, LENGTHS), recorder.predict(ROWS, LENGTHS)
        )
        assert_array_equal(again.predict(ROWS), recorder.predict(ROWS))
    with zipfile.ZipFile(tmp_path / "model.skcrf") as file:
        assert json.loads(file.read("model.json"))["format_version"] == 2


# The note -----------------------------------------------------------------------------


@pytest.mark.parametrize("labels", [RUNS, RUNS.astype(str), RUNS.tolist()])
def test_a_recording_as_a_table_warns(labels):
    message = r"y has 6 runs .* in 140 rows.* fit\(X, y, lengths="
    with pytest.warns(NoChainsWarning, match=message) as caught:
        crf = small().fit(ROWS, labels)
    assert caught[0].filename == __file__
    assert crf.predict(ROWS).shape == (140,)
    assert issubclass(NoChainsWarning, UserWarning)


def test_recordings_as_sequences_do_not_warn():
    small().fit(ROWS, RUNS, lengths=[70, 70])
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


def strength_by_hand(y):
    """Return the mean run, or the root of the mean length if that is smaller."""
    n_runs = sum(len(list(groupby(path))) for path in y)
    length = np.mean(list(map(len, y)))
    return min(sum(map(len, y)) / n_runs, np.sqrt(length))


def signals(run, seed=0):
    """Return recordings of several lengths, whose labels change after `run` frames."""
    rng = np.random.default_rng(seed)
    y = [np.repeat(np.arange(k) % 3, run).tolist() for k in (3, 5, 8)]
    return [rng.standard_normal((len(path), 2)) for path in y], y


@pytest.mark.parametrize("run", [1, 2, 40])
def test_alpha_of_recordings_follows_the_runs_and_the_lengths(run):
    rows, y = signals(run)
    expected = strength_by_hand(y)
    assert expected == {1: 1.0, 2: 2.0}.get(run, np.sqrt(40 * 16 / 3))
    for crf in (LBFGSCRF(max_iter=9), SegmentCRF(scheme=None, max_iter=9)):
        crf.set_params(tol=1e9).fit(rows, y)
        np.testing.assert_allclose(crf.alpha_, expected / 3, rtol=1e-12)


def test_alpha_of_recordings_does_not_depend_on_the_form_of_their_rows():
    rows, y = signals(40)
    crf = LBFGSCRF(tol=1e9)
    expected = crf.fit(rows, y).alpha_
    assert crf.fit(list(map(sp.csr_array, rows)), y).alpha_ == expected
    dicts = [[{"a": float(a), "b": float(b)} for a, b in x] for x in rows]
    assert crf.fit(dicts, y).alpha_ == expected
    assert crf.fit([x * [1.0, 0.0] for x in rows], y).alpha_ == 1 / 3


def test_alpha_of_text_tables_and_graphs_is_one_over_n():
    rows, y = signals(40)
    crf = LBFGSCRF(tol=1e9)
    words = [[{"sign": str(a > 0), "size": str(round(a))} for a, _ in x] for x in rows]
    assert crf.fit(words, y).alpha_ == 1 / 3
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NoChainsWarning)
        table = crf.fit(np.vstack(rows), np.concatenate(y))
    assert table.alpha_ == 1 / sum(map(len, y))
    graphs = [(x, np.empty((0, 2), dtype=int)) for x in rows]
    assert GraphCRF(tol=1e9).fit(graphs, y).alpha_ == 1 / 3
    assert PassiveAggressiveCRF(max_iter=1).fit(rows, y).alpha_ == 1 / 3


def test_alpha_counts_a_weight_as_so_many_recordings_and_no_unknown_label():
    rows, y = signals(40)
    crf, again = LBFGSCRF(tol=1e9), [*range(3), 2]
    weighted = crf.fit(rows, y, sample_weight=[1.0, 1.0, 2.0]).alpha_
    repeated = crf.fit([rows[i] for i in again], [y[i] for i in again]).alpha_
    np.testing.assert_allclose(weighted, repeated, rtol=1e-12)
    rows, y = signals(2)
    data = PackedSequences(np.ones((6, 1)), [0, 6])
    known = RunCounts.of(data, np.array([0, 0, 1, 1, -1, 1]))
    assert (known.pairs, known.changes) == (3.0, 1.0)
    data = PackedSequences(np.ones((3, 1)), [0, 1, 1, 3])
    assert RunCounts.of(data, np.array([0, 0, -1])).pairs == 0.0
    unknown = [path[:-3] + [None] * 3 for path in y]
    partial = LBFGSCRF(tol=1e9).fit(rows, unknown).alpha_ * 3
    assert 1.5 < partial < 2.5


def test_parts_of_recordings_have_the_alpha_of_all():
    rows, y = signals(40)
    expected = LBFGSCRF(tol=1e9).fit(rows, y).alpha_
    parts = [(rows[:1], y[:1]), (rows[1:], y[1:])]
    spread = DistributedCRF(max_iter=1, tol=1e9, random_state=0).fit(parts)
    np.testing.assert_allclose(spread.alpha_, expected, rtol=1e-12)
