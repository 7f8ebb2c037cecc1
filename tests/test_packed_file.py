"""Packed sequences in files: what comes back, what is refused, what a fit does."""

import json
import mmap
import os
import struct
import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal
from sklearn.exceptions import ConvergenceWarning

from skcrf_sdca import LBFGSCRF, OEGCRF, SAGNUSCRF, SDCACRF, PackedSequences, _memory
from skcrf_sdca import packed_file as pf
from skcrf_sdca.datasets import make_chains
from skcrf_sdca.packed_file import PackedFormatError

SOLVERS = [SDCACRF, OEGCRF, SAGNUSCRF, LBFGSCRF]


def packed(density=0.5, n_sequences=6, **options):
    X, y = make_chains(n_sequences, density=density, random_state=0, **options)
    return PackedSequences.from_sequences(X), y


def assert_same(a, b):
    assert_array_equal(a.offsets, b.offsets)
    assert a.is_sparse == b.is_sparse
    for name in ("data", "indices", "indptr") if a.is_sparse else ("real",):
        assert_array_equal(getattr(a.X, name), getattr(b.X, name))
    assert a.X.shape == b.X.shape


def is_mapped(array):
    while isinstance(array, (np.ndarray, memoryview, mmap.mmap)):
        if isinstance(array, (np.memmap, mmap.mmap)):
            return True
        array = array.obj if isinstance(array, memoryview) else array.base
    return False


def edited(path, change):
    """Let a function change the header of a file, and all else stay."""
    data = path.read_bytes()
    magic, begin, length = struct.unpack("<8sQQ", data[:24])
    header = json.loads(data[begin:])
    change(header)
    text = json.dumps(header).encode()
    path.write_bytes(
        struct.pack("<8sQQ", magic, begin, len(text)) + data[24:begin] + text
    )


# What comes back ----------------------------------------------------------------------


@pytest.mark.parametrize("density", [0.5, 1.0])
@pytest.mark.parametrize("mode", ["r", None])
def test_round_trip(tmp_path, density, mode):
    X, _ = packed(density)
    X.save(tmp_path / "x")
    again = PackedSequences.open(tmp_path / "x", mmap_mode=mode)
    assert_same(again, X)
    arrays = [again.X.data, again.X.indices, again.X.indptr] if X.is_sparse else []
    assert {is_mapped(a) for a in arrays or [again.X]} == {mode == "r"}
    assert os.listdir(tmp_path) == ["x"]


@settings(max_examples=30)
@given(st.data())
def test_any_parts_come_back_as_one(tmp_path_factory, data):
    is_sparse = data.draw(st.booleans())
    parts, tables, lengths = [], [np.zeros((0, 3))], [0]
    for _ in range(data.draw(st.integers(1, 4))):
        own = data.draw(st.lists(st.integers(0, 3), max_size=4))
        table = np.array(
            data.draw(
                st.lists(
                    st.lists(st.integers(0, 2), min_size=3, max_size=3),
                    min_size=sum(own),
                    max_size=sum(own),
                )
            ),
            dtype=float,
        ).reshape(-1, 3)
        offsets = np.cumsum([0, *own])
        rows = sp.csr_array(table) if is_sparse else table
        parts.append(PackedSequences(rows, offsets))
        tables.append(table)
        lengths += own
    path = tmp_path_factory.mktemp("parts") / "x"
    write(path, *parts)
    table = np.concatenate(tables)
    whole = PackedSequences(
        sp.csr_array(table) if is_sparse else table, np.cumsum(lengths)
    )
    assert_same(PackedSequences.open(path), whole)


def test_arrays_are_aligned_and_where_the_header_says(tmp_path):
    X, _ = packed()
    X.save(tmp_path / "x")
    data = (tmp_path / "x").read_bytes()
    _, begin, length = struct.unpack("<8sQQ", data[:24])
    header = json.loads(data[begin : begin + length])
    found = {"values": X.X.data, "indices": X.X.indices, "indptr": X.X.indptr}
    for name, array in {**found, "offsets": X.offsets}.items():
        form = header["arrays"][name]
        assert form["begin"] % 64 == 0
        end = form["begin"] + array.nbytes
        assert data[form["begin"] : end] == array.astype(form["dtype"]).tobytes()


def write(path, *parts, end=None):
    """Write parts; raise an error before the end if one is given."""
    with PackedSequences.writer(path) as file:
        for part in parts:
            file.append(part)
        if end is not None:
            raise end


def test_an_older_file_stays_after_an_error_and_is_replaced_after_none(tmp_path):
    first, _ = packed(n_sequences=2)
    second, _ = packed(n_sequences=5)
    first.save(tmp_path / "x")
    opened = PackedSequences.open(tmp_path / "x")
    with pytest.raises(KeyboardInterrupt):
        write(tmp_path / "x", second, end=KeyboardInterrupt())
    assert os.listdir(tmp_path) == ["x"]
    assert_same(PackedSequences.open(tmp_path / "x"), first)
    second.save(tmp_path / "x")
    assert_same(PackedSequences.open(tmp_path / "x"), second)
    assert_same(opened, first)


def test_parts_must_agree(tmp_path, monkeypatch):
    X, _ = packed()
    with pytest.raises(ValueError, match="no part"):
        write(tmp_path / "x")
    message = "the part is .*, but the first part is sparse, with 5 features; make all"
    for other in (packed(1.0)[0], packed(n_features=7)[0]):
        with pytest.raises(ValueError, match=message):
            write(tmp_path / "x", X, other)
    monkeypatch.setattr(pf, "_MOST", X.X.nnz)
    with pytest.raises(ValueError, match=f"{2 * X.X.nnz} stored values"):
        write(tmp_path / "x", X, X)
    assert os.listdir(tmp_path) == []


def test_a_part_without_sequences_and_a_closed_writer(tmp_path):
    X, _ = packed()
    with PackedSequences.writer(tmp_path / "x") as file:
        file.append(X[:0])
    with pytest.raises(ValueError, match="closed file"):
        file.append(X)
    assert PackedSequences.open(tmp_path / "x").n_features == 5


# What is refused ----------------------------------------------------------------------


@pytest.mark.parametrize("keep", [0, 7, 30, 64, 200, -1])
@pytest.mark.parametrize("density", [0.5, 1.0])
def test_cut_files(tmp_path, keep, density):
    packed(density)[0].save(tmp_path / "x")
    data = (tmp_path / "x").read_bytes()
    (tmp_path / "x").write_bytes(data[:keep])
    with pytest.raises(PackedFormatError, match=r"x cannot be read: it"):
        PackedSequences.open(tmp_path / "x")


def test_files_of_other_kinds(tmp_path):
    (tmp_path / "x").write_bytes(b"\x93NUMPY" + bytes(200))
    with pytest.raises(PackedFormatError, match="does not begin as"):
        PackedSequences.open(tmp_path / "x")
    with pytest.raises(FileNotFoundError):
        PackedSequences.open(tmp_path / "none")
    with pytest.raises(ValueError, match="mmap_mode must be"):
        PackedSequences.open(tmp_path / "x", mmap_mode="w")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda h: h.update(format_version=2), "version 2"),
        (lambda h: h.update(format="other"), "header is not that"),
        (lambda h: h.update(more=1), "header is not that"),
        (lambda h: h.pop("written_by"), "header is not that"),
        (lambda h: h.update(n_features=-1), "not numbers"),
        (lambda h: h.update(n_sequences=None), "not numbers"),
        (lambda h: h.update(n_positions=2.0), "not numbers"),
        (lambda h: h.update(n_values=2**60), "not numbers"),
        (lambda h: h.pop("n_values"), "n_values"),
        (lambda h: h.update(n_positions=h["n_positions"] + 1), "header is not that"),
        (lambda h: h["arrays"]["indptr"].update(begin=0), "header is not that"),
    ],
)
def test_headers_that_are_not_such(tmp_path, change, message):
    packed()[0].save(tmp_path / "x")
    edited(tmp_path / "x", change)
    with pytest.raises(PackedFormatError, match=message):
        PackedSequences.open(tmp_path / "x")


def test_sizes_beyond_the_file(tmp_path):
    packed()[0].save(tmp_path / "x")
    edited(
        tmp_path / "x",
        lambda h: h.update(pf._header({**{s: h[s] for s in pf.SIZES}, **BIG})),
    )
    with pytest.raises(PackedFormatError, match="do not end where the header begins"):
        PackedSequences.open(tmp_path / "x")


BIG = {"n_values": 2**40}


@pytest.mark.parametrize(
    ("name", "place", "value", "message"),
    [
        ("indices", 3, 5, "x cannot be read: X is not a valid sparse matrix"),
        ("indices", 3, -1, "x cannot be read: X is not a valid sparse matrix"),
        ("indptr", 2, 2**30, "x cannot be read"),
        ("values", 1, np.nan, "X contains NaN: sequence 0"),
        ("offsets", 1, -1, "without decreasing"),
    ],
)
def test_arrays_that_are_not_such(tmp_path, name, place, value, message):
    X, _ = packed()
    X.save(tmp_path / "x")
    sizes = X.n_sequences, X.n_positions, X.n_features, X.X.nnz
    dtype, shape, begin = pf.layout(*sizes)[name]
    array = np.memmap(tmp_path / "x", dtype, "r+", begin, tuple(shape))
    array[place] = value
    array.flush()
    with pytest.raises(PackedFormatError, match=message):
        PackedSequences.open(tmp_path / "x")


# What a fit makes of it ---------------------------------------------------------------


def fitted(estimator, X, y, **options):
    if estimator is not LBFGSCRF:
        options["random_state"] = 0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return estimator(max_iter=4, tol=0.0, **options).fit(X, y)


@pytest.mark.parametrize("estimator", SOLVERS)
@pytest.mark.parametrize("density", [0.3, 1.0])
def test_a_fit_from_a_file_has_the_same_bits(tmp_path, estimator, density):
    X, y = packed(density, 30)
    X.save(tmp_path / "x")
    opened = PackedSequences.open(tmp_path / "x", scratch=tmp_path)
    here, there = fitted(estimator, X, y), fitted(estimator, opened, y)
    assert_array_equal(here.coef_, there.coef_)
    assert here.duality_gap_ == there.duality_gap_
    assert here.predict(X).tolist() == there.predict(opened).tolist()
    assert os.listdir(tmp_path) == ["x"]


@pytest.mark.parametrize("estimator", [SDCACRF, OEGCRF, SAGNUSCRF])
def test_the_dual_is_in_the_folder(tmp_path, estimator):
    X, y = packed(0.3, 30)
    X.save(tmp_path / "x")
    opened = PackedSequences.open(tmp_path / "x", scratch=tmp_path)
    states = []
    for data in (X, opened):
        crf = fitted(estimator, data, y, warm_start=True)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            crf.fit(data, y)
        states.append(crf._warm_state)
    large = {"node", "edge", "edge_sums", "theta_node", "theta_edge"}
    assert large & set(states[0])
    for name in large & set(states[0]):
        assert is_mapped(states[1][name])
        assert not is_mapped(states[0][name])
        assert_array_equal(states[0][name], states[1][name])


def test_transitions_and_the_dual_in_a_folder(tmp_path):
    X, y = packed(0.3, 30)
    X.save(tmp_path / "x")
    opened = PackedSequences.open(tmp_path / "x", scratch=tmp_path)
    options = {"transitions": "observed", "warm_start": True}
    here, there = (fitted(SDCACRF, data, y, **options) for data in (X, opened))
    assert_array_equal(here.coef_, there.coef_)
    assert is_mapped(there._warm_state["edge"])


def test_a_disk_without_room(tmp_path, monkeypatch):
    X, y = packed()
    X.save(tmp_path / "x")
    opened = PackedSequences.open(tmp_path / "x", scratch=tmp_path)
    usage = _memory.shutil.disk_usage(tmp_path)._replace(free=10)
    monkeypatch.setattr(_memory.shutil, "disk_usage", lambda folder: usage)
    with pytest.raises(MemoryError, match="dual variables of OEGCRF.* the disk of"):
        OEGCRF().fit(opened, y)


def test_a_folder_that_is_not_there(tmp_path):
    X, _ = packed()
    X.save(tmp_path / "x")
    with pytest.raises(FileNotFoundError):
        PackedSequences.open(tmp_path / "x", scratch=tmp_path / "none")


# Labels of all positions in one array -------------------------------------------------


@pytest.mark.parametrize(
    "names",
    [
        np.array([0, 1, 2], dtype=np.int8),
        np.array(["B", "I", "O"]),
        np.array([b"B", b"I", b"O"]),
        np.array([False, True, True]),
    ],
)
def test_flat_labels_are_those_of_lists(tmp_path, names, monkeypatch):
    monkeypatch.setattr("skcrf_sdca.labels._BLOCK", 7)
    X, y = packed(0.3, 30)
    flat = names[np.concatenate(y)]
    np.save(tmp_path / "y.npy", flat)
    mapped = np.load(tmp_path / "y.npy", mmap_mode="r")
    lists = [part.tolist() for part in np.split(flat, X.offsets[1:-1])]
    here, there = fitted(SDCACRF, X, lists), fitted(SDCACRF, X, mapped)
    assert here.classes_.dtype == there.classes_.dtype
    assert_array_equal(here.classes_, there.classes_)
    assert_array_equal(here.coef_, there.coef_)
    assert here.score(X, lists) == there.score(X, mapped)


def test_flat_labels_of_another_number():
    X, y = packed()
    flat = np.concatenate(y)
    with pytest.raises(ValueError, match=rf"{len(flat)} positions, but y has 1 labels"):
        SDCACRF().fit(X, flat[:1])
    crf = fitted(SDCACRF, X, flat)
    with pytest.raises(ValueError, match="one array with the labels of all positions"):
        crf.score(X, flat[:1])


def test_flat_labels_need_packed_sequences():
    X, y = make_chains(6, random_state=0)
    with pytest.raises(TypeError, match="y must be a list of label lists"):
        SDCACRF().fit(X, np.concatenate(y))
