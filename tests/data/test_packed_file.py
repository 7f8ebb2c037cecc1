"""Packed sequences in files: round trips, refused files, and fits on mapped files."""

import doctest
import json
import mmap
import os
import pickle
import struct
import warnings
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal
from sklearn.exceptions import ConvergenceWarning

from samples import peak_of, seeded, until_it_fits
from skcrf_sdca import LBFGSCRF, SDCACRF, PackedSequences, SequenceVectorizer
from skcrf_sdca.data import packed_file as pf
from skcrf_sdca.data.packed_file import PackedFormatError
from skcrf_sdca.datasets import make_chains
from skcrf_sdca.estimators.crfs import ESTIMATORS
from skcrf_sdca.features.vectorizer import grow


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
    """Let a function change the header of a file, and keep the rest."""
    data = path.read_bytes()
    magic, begin, length = struct.unpack("<8sQQ", data[:24])
    header = json.loads(data[begin:])
    change(header)
    text = json.dumps(header).encode()
    path.write_bytes(
        struct.pack("<8sQQ", magic, begin, len(text)) + data[24:begin] + text
    )


# Round trips --------------------------------------------------------------------------


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
    message = "the part is .*, but the part before is sparse, with 5 features; make all"
    for other in (packed(1.0)[0], packed(n_features=7)[0]):
        with pytest.raises(ValueError, match=message):
            write(tmp_path / "x", X, other)
    monkeypatch.setattr(pf, "_MAX_VALUES", X.X.nnz)
    with pytest.raises(ValueError, match=f"{2 * X.X.nnz} stored values"):
        write(tmp_path / "x", X, X)
    assert os.listdir(tmp_path) == []


def test_a_file_grows_by_the_features_of_later_parts(tmp_path):
    vectorizer, items = SequenceVectorizer(), [[["a"], ["b"]], [["c"]], [["b"]]]
    with PackedSequences.writer(tmp_path / "x", grows=True) as file:
        for sequence in items:
            file.append(grow(vectorizer, [sequence]))
        with pytest.raises(ValueError, match="the part before is sparse, with 3 feat"):
            file.append(SequenceVectorizer().fit_transform([[["a"]]]))
    expected = SequenceVectorizer().fit_transform(items)
    names = expected.feature_names
    opened = PackedSequences.open(tmp_path / "x", feature_names=names)
    assert_same(opened, expected)
    assert opened.feature_names == names
    with pytest.raises(PackedFormatError, match="feature_names has 2 names"):
        PackedSequences.open(tmp_path / "x", feature_names=names[:2])


class FullDisk:
    """A stream that writes half of what it gets, once, and then fails."""

    def __init__(self, stream):
        self.stream = stream
        self.is_full = True

    def __getattr__(self, name):
        return getattr(self.stream, name)

    def write(self, data):
        if self.is_full:
            self.is_full = False
            self.stream.write(bytes(data)[: memoryview(data).nbytes // 2])
            raise OSError(28, "No space left on device")
        self.stream.write(data)


@pytest.mark.parametrize(
    ("density", "n_parts", "stream"),
    [
        (0.5, 0, "values"),
        (0.5, 1, "values"),
        (0.5, 1, "indices"),
        (0.5, 1, "indptr"),
        (0.5, 1, "offsets"),
        (1.0, 0, "values"),
        (1.0, 1, "values"),
        (1.0, 1, "offsets"),
    ],
)
def test_after_a_part_that_failed_the_writer_refuses_all(
    tmp_path, density, n_parts, stream
):
    X, _ = packed(density)
    X[:2].save(tmp_path / "x")
    writer = PackedSequences.writer(tmp_path / "x")
    file = writer.__enter__()
    for _ in range(n_parts):
        file.append(X)
    file._streams[stream] = FullDisk(file._streams[stream])
    with pytest.raises(OSError, match="No space left"):
        file.append(X)
    for _ in range(2):
        with pytest.raises(ValueError, match="lack some of its rows; begin again"):
            file.append(X)
    with pytest.raises(ValueError, match="lack some of its rows; begin again"):
        writer.__exit__(None, None, None)
    assert os.listdir(tmp_path) == ["x"]
    assert_same(PackedSequences.open(tmp_path / "x"), X[:2])


@pytest.mark.parametrize(
    "X", [packed(0.5)[0], packed(1.0)[0], PackedSequences(np.ones((0, 1)), [0] * 200)]
)
def test_a_full_disk_is_named_and_leaves_nothing(tmp_path, X):
    path = tmp_path / "x"

    def write():
        with PackedSequences.writer(path) as file:
            file.append(X[:2])
            file.append(X)

    assert until_it_fits(write, path, step=100) > 5
    assert PackedSequences.open(path).n_sequences == 2 + len(X)


def test_a_first_part_for_which_there_is_no_room(tmp_path, monkeypatch):
    X, _ = packed()
    writer = PackedSequences.writer(tmp_path / "x")
    file = writer.__enter__()
    monkeypatch.setattr("tempfile.TemporaryFile", no_space)
    with pytest.raises(OSError, match="No space left"):
        file.append(X)
    monkeypatch.undo()
    with pytest.raises(ValueError, match="begin again with a new writer"):
        writer.__exit__(None, None, None)
    assert os.listdir(tmp_path) == []


def no_space(**_):
    raise OSError(28, "No space left on device")


@pytest.mark.parametrize("n_parts", [0, 1])
def test_after_a_part_that_is_refused_others_may_follow(tmp_path, n_parts):
    X, _ = packed()
    with PackedSequences.writer(tmp_path / "x") as file:
        for _ in range(n_parts):
            file.append(X)
        with pytest.raises(AttributeError):
            file.append(None)
        if n_parts:
            with pytest.raises(ValueError, match="make all parts with one vectorizer"):
                file.append(packed(1.0)[0])
        file.append(X[:2])
    expected = X[[*range(n_parts * len(X)), 0, 1]]
    assert_same(PackedSequences.open(tmp_path / "x"), expected)


def test_a_part_without_sequences_and_a_closed_writer(tmp_path):
    X, _ = packed()
    with PackedSequences.writer(tmp_path / "x") as file:
        file.append(X[:0])
    with pytest.raises(ValueError, match="closed file"):
        file.append(X)
    assert PackedSequences.open(tmp_path / "x").n_features == 5


# Refused files ------------------------------------------------------------------------


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


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
def test_a_pipe_is_not_waited_for(tmp_path):
    os.mkfifo(tmp_path / "x")
    with pytest.raises(PackedFormatError, match="not a regular file"):
        PackedSequences.open(tmp_path / "x")


@pytest.mark.parametrize("path", [1, None])
def test_a_path_is_no_number(path):
    message = "expected str, bytes or os.PathLike"
    with pytest.raises(TypeError, match=message):
        PackedSequences.open(path)
    with pytest.raises(TypeError, match=message):
        packed()[0].save(path)


@pytest.mark.parametrize("density", [0.5, 1.0])
def test_damaged_files_are_refused_or_packed_sequences(tmp_path, density):
    X, y = packed(density)
    X.save(tmp_path / "x")
    data = (tmp_path / "x").read_bytes()
    rng = np.random.default_rng(0)
    outcomes = set()
    for _ in range(300):
        damaged = np.frombuffer(data, np.uint8).copy()
        damaged[rng.integers(len(data), size=3)] = rng.integers(256, size=3)
        (tmp_path / "y").write_bytes(damaged.tobytes())
        try:
            again = PackedSequences.open(tmp_path / "y")
        except PackedFormatError:
            outcomes.add("refused")
        else:
            outcomes.add("opened")
            assert again.n_features == X.n_features
            PackedSequences(again.X.copy(), again.offsets)
    assert outcomes == {"refused", "opened"}


# Fits on mapped files -----------------------------------------------------------------


def fitted(estimator, X, y, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return seeded(estimator, max_iter=4, tol=0.0, **options).fit(X, y)


@pytest.mark.parametrize("estimator", ESTIMATORS)
@pytest.mark.parametrize("density", [0.3, 1.0])
def test_a_fit_from_a_file_has_the_same_bits(tmp_path, estimator, density):
    X, y = packed(density, 30)
    X.save(tmp_path / "x")
    opened = PackedSequences.open(tmp_path / "x")
    here, there = fitted(estimator, X, y), fitted(estimator, opened, y)
    assert_array_equal(here.coef_, there.coef_)
    assert here.duality_gap_ == there.duality_gap_
    assert here.predict(X).tolist() == there.predict(opened).tolist()
    assert os.listdir(tmp_path) == ["x"]


def longer(path):
    with path.open("ab") as file:
        file.write(b"more")


def touched(path):
    status = path.stat()
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns + 10**9))


def written_in_place(path):
    data, status = path.read_bytes(), path.stat()
    with path.open("r+b") as file:
        file.write(data)
    # The clock of a file system may be coarse.
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns + 1_000))


@pytest.mark.parametrize("change", [longer, touched, written_in_place])
@pytest.mark.parametrize("part", [slice(None), slice(2, 5)])
def test_a_fit_refuses_a_file_that_was_changed_since_it_was_opened(
    tmp_path, change, part
):
    X, y = packed()
    X.save(tmp_path / "x")
    opened = PackedSequences.open(tmp_path / "x")[part]
    in_memory = PackedSequences.open(tmp_path / "x", mmap_mode=None)[part]
    crf = fitted(SDCACRF, opened, y[part])
    before = dict(vars(crf))
    change(tmp_path / "x")
    with pytest.raises(
        ValueError, match="X is mapped from .*x, which has been changed"
    ):
        crf.fit(opened, y[part])
    assert vars(crf) == before
    fitted(SDCACRF, in_memory, y[part])
    fitted(SDCACRF, pickle.loads(pickle.dumps(opened)), y[part])


def test_a_fit_refuses_a_file_that_was_cut(tmp_path):
    X, y = packed()
    X.save(tmp_path / "x")
    opened = PackedSequences.open(tmp_path / "x")
    try:
        os.truncate(tmp_path / "x", 100)
    except OSError:
        pytest.skip("this system does not cut a file that is mapped")
    with pytest.raises(ValueError, match="changed since it was opened: open it again"):
        SDCACRF().fit(opened, y)


@pytest.mark.skipif(os.name == "nt", reason="a file that is mapped cannot be replaced")
@pytest.mark.parametrize(
    "change", [lambda path: packed(n_sequences=3)[0].save(path), lambda p: p.unlink()]
)
def test_a_file_that_was_replaced_or_removed_is_still_mapped(tmp_path, change):
    X, y = packed()
    X.save(tmp_path / "x")
    opened = PackedSequences.open(tmp_path / "x")
    change(tmp_path / "x")
    assert_array_equal(fitted(SDCACRF, opened, y).coef_, fitted(SDCACRF, X, y).coef_)


@pytest.mark.parametrize("density", [0.3, 1.0])
def test_neither_opening_nor_a_fit_copies_a_mapped_file(tmp_path, density):
    X, y = packed(density, 400, n_features=1_000)
    X.save(tmp_path / "x")
    flat = np.concatenate(y)

    def run(mode):
        opened = PackedSequences.open(tmp_path / "x", mmap_mode=mode)
        fitted(LBFGSCRF, opened, flat)

    size = os.path.getsize(tmp_path / "x")
    run("r")
    assert peak_of(lambda: run("r")) < size / 4
    assert peak_of(lambda: run(None)) > size


def test_the_page_on_large_data():
    page = Path(__file__).parents[2] / "docs" / "large_data.rst"
    if not page.exists():
        pytest.skip("the tests are not in a checkout")
    failed, tried = doctest.testfile(str(page), module_relative=False)
    assert not failed
    assert tried > 10


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
    monkeypatch.setattr("skcrf_sdca.data.label_encoding.BLOCK", 7)
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


def test_masked_flat_labels():
    X, y = packed()
    masked = np.ma.masked_equal(np.concatenate(y), 0)
    crf = fitted(SDCACRF, X, y)
    for method in (SDCACRF().fit, crf.score):
        with pytest.raises(ValueError, match="y is an array with masked entries"):
            method(X, masked)


def test_flat_labels_of_no_positions():
    X, _ = packed()
    with pytest.raises(ValueError, match="X has 0 sequences and 0 items"):
        SDCACRF().fit(X[:0], np.array([], dtype=int))


def test_flat_labels_need_packed_sequences():
    X, y = make_chains(6, random_state=0)
    with pytest.raises(TypeError, match="y must be a list of label lists"):
        SDCACRF().fit(X, np.concatenate(y))
