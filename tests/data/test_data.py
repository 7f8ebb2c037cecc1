import copy
import pickle

import joblib
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from numpy.testing import assert_array_equal
from sklearn.base import BaseEstimator, clone
from sklearn.feature_extraction import DictVectorizer
from sklearn.model_selection import GridSearchCV, KFold, cross_val_score
from sklearn.utils import _safe_indexing

from skcrf_sdca import LBFGSCRF, OEGCRF, SDCACRF, PassiveAggressiveCRF
from skcrf_sdca.data.input_formats import format_of
from skcrf_sdca.data.packed import PackedSequences

LENGTHS = [3, 0, 1, 4]
OFFSETS = [0, 3, 3, 4, 8]


def rows(n=8, d=5):
    """Return integers, about half of them zero, which every dtype holds exactly."""
    table = np.random.default_rng(0).integers(-3, 4, size=(n, d))
    return (table * (table > -1)).astype(float)


def split(table):
    return [table[a:b] for a, b in zip(OFFSETS[:-1], OFFSETS[1:], strict=True)]


def dense(packed):
    return packed.X.toarray() if packed.is_sparse else packed.X


# PackedSequences: form ----------------------------------------------------------------


def test_dense_is_kept_without_copy_and_read_only():
    table = rows()
    packed = PackedSequences(table, OFFSETS)
    assert np.shares_memory(packed.X, table)
    assert table.flags.writeable
    assert not packed.is_sparse
    with pytest.raises(ValueError, match="read-only"):
        packed.X[0, 0] = 1.0
    with pytest.raises(ValueError, match="read-only"):
        packed.offsets[0] = 1


def test_sparse_is_kept_without_copy_and_read_only():
    table = sp.csr_array(rows())
    packed = PackedSequences(table, OFFSETS)
    for name in ("data", "indices"):
        assert np.shares_memory(getattr(packed.X, name), getattr(table, name))
        assert getattr(table, name).flags.writeable
        assert not getattr(packed.X, name).flags.writeable
    assert packed.is_sparse


def test_attributes():
    packed = PackedSequences(rows(), OFFSETS)
    assert packed.shape == (4,)
    assert (len(packed), packed.n_sequences) == (4, 4)
    assert (packed.n_positions, packed.n_features) == (8, 5)
    assert_array_equal(packed.lengths, LENGTHS)
    assert packed.offsets.dtype == np.int64
    assert repr(packed) == (
        "PackedSequences(n_sequences=4, n_positions=8, n_features=5, dense)"
    )


@pytest.mark.parametrize("name", ["X", "offsets", "lengths", "shape", "anything"])
def test_attributes_cannot_be_assigned(name):
    with pytest.raises(AttributeError):
        setattr(PackedSequences(rows(), OFFSETS), name, None)


def test_offsets_of_the_caller_are_not_frozen():
    offsets = np.array(OFFSETS)
    packed = PackedSequences(rows(), offsets)
    offsets[1] = 2
    assert packed.offsets[1] == 3


def test_csr_is_made_canonical_without_touching_the_callers():
    table = sp.csr_matrix(
        (
            np.array([1.0, 2.0, 4.0], dtype=np.float32),
            np.array([2, 0, 2], dtype=np.int64),
            np.array([0, 3, 3], dtype=np.int64),
        ),
        shape=(2, 3),
    )
    before = copy.deepcopy(table)
    packed = PackedSequences(table, [0, 2])
    assert isinstance(packed.X, sp.csr_array)
    assert packed.X.has_canonical_format
    assert packed.X.data.dtype == np.float64
    assert packed.X.indices.dtype == np.int32
    assert_array_equal(packed.X.indices, [0, 2])
    assert_array_equal(packed.X.data, [2.0, 5.0])
    for name in ("data", "indices", "indptr"):
        assert_array_equal(getattr(table, name), getattr(before, name))


def test_a_stale_canonical_flag_is_not_believed():
    table = sp.csr_array(rows())
    assert table.has_canonical_format
    table.indices[:2] = table.indices[1::-1].copy()
    assert_array_equal(PackedSequences(table, OFFSETS).X.toarray(), table.toarray())
    assert PackedSequences(table, OFFSETS).X.has_canonical_format


# In the last, differences overflow and so are positive.
@pytest.mark.parametrize("ends", [[0, 2**40, 0], [0, 5, 0], [0, 2**63 - 1, -5, 2]])
def test_csr_with_row_ends_out_of_range(ends):
    table = sp.csr_array(([1.0, 2.0], [0, 1], ends), shape=(len(ends) - 1, 4))
    with pytest.raises(ValueError, match="not a valid sparse matrix: indptr"):
        PackedSequences(table, [0, len(ends) - 1])


def test_offsets_whose_differences_overflow():
    with pytest.raises(ValueError, match="without decreasing"):
        PackedSequences(np.ones((2, 1)), [0, 2**63 - 1, -5, 2])


@pytest.mark.parametrize("column", [-1, 5])
def test_csr_with_indices_out_of_range(column):
    table = sp.csr_array(rows())
    table.indices[0] = column
    with pytest.raises(ValueError, match="not a valid sparse matrix"):
        PackedSequences(table, OFFSETS)


@pytest.mark.parametrize(
    ("offsets", "match"),
    [
        ([0, 3, 7], "number of rows of X, 8"),
        ([1, 3, 8], "number of rows of X, 8"),
        ([0, 5, 3, 8], "without decreasing"),
        ([], "starts with 0"),
        ([[0, 8]], "one-dimensional"),
        ([0.0, 8.0], "integers"),
        ([False, True], "integers"),
    ],
)
def test_bad_offsets(offsets, match):
    with pytest.raises(ValueError, match=match):
        PackedSequences(rows(), offsets)


@pytest.mark.parametrize("X", [np.zeros(3), np.zeros((3, 1, 1)), sp.coo_array([1.0])])
def test_rows_must_have_two_axes(X):
    with pytest.raises(ValueError, match="X must be two-dimensional"):
        PackedSequences(X, [0, 3])


@pytest.mark.parametrize("make", [np.asarray, sp.csr_array], ids=["dense", "sparse"])
@pytest.mark.parametrize(
    ("value", "name"), [(np.nan, "NaN"), (np.inf, "infinity"), (-np.inf, "infinity")]
)
@pytest.mark.parametrize(
    ("row", "place"),
    [
        (0, "sequence 0, position 0"),
        (3, "sequence 2, position 0"),
        (5, "sequence 3, position 1"),
        (7, "sequence 3, position 3"),
    ],
)
def test_not_finite_names_the_place(make, value, name, row, place):
    table = rows()
    table[row, 0] = value
    with pytest.raises(ValueError, match=f"{name}: {place}, feature 0;"):
        PackedSequences(make(table), OFFSETS)


def test_sum_of_duplicates_beyond_float_is_an_error():
    X = sp.csr_array(([1e308, 1e308], [0, 0], [0, 2]), shape=(1, 1))
    with pytest.raises(ValueError, match="infinity"):
        PackedSequences(X, [0, 1])


def test_numbers_float64_cannot_hold():
    with pytest.raises(ValueError, match="must hold numbers"):
        PackedSequences(np.array([[10**400]], dtype=object), [0, 1])


def test_no_features_and_no_sequences():
    assert PackedSequences(np.zeros((2, 0)), [0, 2]).n_features == 0
    empty = PackedSequences(np.zeros((0, 4)), [0])
    assert (len(empty), empty.n_features, list(empty)) == (0, 4, [])


# PackedSequences: indexing, pickling, scikit-learn ------------------------------------

MAKE = [np.asarray, sp.csr_array]
keys = st.one_of(
    st.slices(4),
    st.lists(st.integers(-4, 3), max_size=6),
    st.lists(st.booleans(), min_size=4, max_size=4),
    hnp.arrays(np.intp, st.integers(0, 5), elements=st.integers(-4, 3)),
    hnp.arrays(np.bool_, 4),
)


@pytest.mark.parametrize("make", MAKE, ids=["dense", "sparse"])
@given(key=keys, as_tuple=st.booleans())
def test_indexing_selects_sequences(make, key, as_tuple):
    packed = PackedSequences(make(rows()), OFFSETS)
    chosen = np.arange(4)[
        np.array(key, dtype=int)
        if isinstance(key, list) and not (key and isinstance(key[0], bool))
        else key
    ]
    part = packed[(key, ...) if as_tuple else key]
    assert part.is_sparse == packed.is_sparse
    assert_array_equal(part.lengths, np.array(LENGTHS)[chosen])
    expected = [split(rows())[i] for i in chosen]
    assert_array_equal(dense(part), np.concatenate([np.zeros((0, 5)), *expected]))


@pytest.mark.parametrize("make", MAKE, ids=["dense", "sparse"])
@pytest.mark.parametrize("i", [0, 1, -1, np.int64(3), np.array(2)])
def test_an_integer_gives_rows(make, i):
    one = PackedSequences(make(rows()), OFFSETS)[i]
    one = one.toarray() if sp.issparse(one) else one
    assert_array_equal(one, split(rows())[int(i)])


@pytest.mark.parametrize("make", MAKE, ids=["dense", "sparse"])
def test_iteration(make):
    packed = PackedSequences(make(rows()), OFFSETS)
    for one, expected in zip(packed, split(rows()), strict=True):
        assert_array_equal(one.toarray() if sp.issparse(one) else one, expected)


@pytest.mark.parametrize("key", [4, -5, [0, 9], [[0, 1]], (0, 1), "a", 1.0])
def test_bad_keys(key):
    with pytest.raises(IndexError):
        PackedSequences(rows(), OFFSETS)[key]


@pytest.mark.parametrize("make", MAKE, ids=["dense", "sparse"])
@pytest.mark.parametrize(
    "duplicate",
    [lambda p: pickle.loads(pickle.dumps(p)), copy.deepcopy, copy.copy],
    ids=["pickle", "deepcopy", "copy"],
)
def test_copies(make, duplicate):
    packed = PackedSequences(make(rows()), OFFSETS)
    again = duplicate(packed)
    assert_array_equal(dense(again), rows())
    assert_array_equal(again.offsets, OFFSETS)
    assert not (again.X.data if again.is_sparse else again.X).flags.writeable


@pytest.mark.parametrize("make", MAKE, ids=["dense", "sparse"])
def test_joblib_mmap(make, tmp_path):
    joblib.dump(PackedSequences(make(rows()), OFFSETS), tmp_path / "packed.joblib")
    packed = joblib.load(tmp_path / "packed.joblib", mmap_mode="r")
    assert_array_equal(dense(packed), rows())
    assert_array_equal(dense(packed[::-1]), np.concatenate(split(rows())[::-1]))


@pytest.mark.parametrize("indices", [[0, 3], np.array([True, False, False, True])])
def test_safe_indexing(indices):
    part = _safe_indexing(PackedSequences(rows(), OFFSETS), indices)
    assert_array_equal(part.lengths, [3, 4])


class MeanLength(BaseEstimator):
    """An estimator whose score is the distance of the mean length of X from `shift`."""

    def __init__(self, shift=0.0):
        self.shift = shift

    def fit(self, X, y):
        assert isinstance(X, PackedSequences)
        assert_array_equal(X.lengths, [len(labels) for labels in y])
        return self

    def score(self, X, y):
        assert_array_equal(X.lengths, [len(labels) for labels in y])
        return -abs(X.lengths.mean() - self.shift)


@pytest.mark.parametrize("make", MAKE, ids=["dense", "sparse"])
def test_cross_validation(make):
    packed = PackedSequences(make(rows()), OFFSETS)
    y = [["a"] * length for length in LENGTHS]
    scores = cross_val_score(MeanLength(), packed, y, cv=KFold(2, shuffle=True))
    assert len(scores) == 2
    search = GridSearchCV(MeanLength(), {"shift": [0.0, 2.0]}, cv=2).fit(packed, y)
    assert search.best_params_ == {"shift": 2.0}


# PackedSequences.from_sequences -------------------------------------------------------

tables = hnp.arrays(
    np.float64,
    st.tuples(st.integers(0, 4), st.just(3)),
    elements=st.integers(-3, 3).map(float),
)


@given(st.lists(tables, min_size=1, max_size=5), st.booleans())
def test_from_sequences_and_back(sequences, sparse):
    make = sp.csr_array if sparse else np.asarray
    packed = PackedSequences.from_sequences([make(rows) for rows in sequences])
    assert packed.is_sparse == sparse
    assert packed.n_features == 3
    assert len(packed) == len(sequences)
    for one, expected in zip(packed, sequences, strict=True):
        assert_array_equal(one.toarray() if sparse else one, expected)


def read_only(x, tmp_path):
    path = tmp_path / f"{len(list(tmp_path.iterdir()))}.npy"
    np.save(path, x)
    return np.load(path, mmap_mode="r")


def strided(x, tmp_path):
    wide = np.full((2 * x.shape[0], 3 * x.shape[1]), 9.0)
    wide[::2, ::3] = x
    return wide[::2, ::3]


LAYOUTS = {
    "read-only memmap": read_only,
    "strided": strided,
    "fortran": lambda x, _: np.asfortranarray(x),
    "big-endian": lambda x, _: x.astype(">f8"),
    "float32": lambda x, _: x.astype(np.float32),
    "int8": lambda x, _: x.astype(np.int8),
    "object": lambda x, _: x.astype(object),
    "lists": lambda x, _: x.tolist(),
    "data frame": lambda x, _: pd.DataFrame(x),
}


@pytest.mark.parametrize("layout", LAYOUTS)
def test_layouts_equal_contiguous(layout, tmp_path):
    sequences = [LAYOUTS[layout](x, tmp_path) for x in split(rows())]
    packed = PackedSequences.from_sequences(sequences)
    assert_array_equal(packed.X, rows())
    assert packed.X.flags.c_contiguous


def unsorted_with_duplicates(x):
    entries = sp.coo_array(x)
    half = (entries.data / 2, entries.coords)
    parts = [np.concatenate([a, a])[::-1] for a in (half[0], *half[1])]
    order = np.argsort(parts[1], kind="stable")
    counts = np.bincount(parts[1], minlength=x.shape[0])
    indptr = np.concatenate([[0], np.cumsum(counts)])
    return sp.csr_array((parts[0][order], parts[2][order], indptr), shape=x.shape)


def int64_indices(x):
    matrix = sp.csr_matrix(x)
    matrix.indices = matrix.indices.astype(np.int64)
    matrix.indptr = matrix.indptr.astype(np.int64)
    return matrix


SPARSE = {
    "int64": int64_indices,
    "coo": sp.coo_matrix,
    "csc": sp.csc_array,
    "lil": sp.lil_array,
    "duplicates": unsorted_with_duplicates,
}


@pytest.mark.parametrize("form", SPARSE)
def test_sparse_forms_equal_dense(form):
    packed = PackedSequences.from_sequences([SPARSE[form](x) for x in split(rows())])
    assert packed.X.indices.dtype == np.int32
    assert packed.X.has_canonical_format
    assert_array_equal(packed.X.toarray(), rows())


def test_dict_vectorizer_output():
    X = [[{"a": "x", "b": 2}, {"a": "y"}], [{"b": 3}]]
    vectorizer = DictVectorizer().fit([item for sequence in X for item in sequence])
    packed = PackedSequences.from_sequences(map(vectorizer.transform, X))
    assert_array_equal(packed.X.toarray(), [[1, 0, 2], [0, 1, 0], [0, 0, 3]])


def test_three_dimensional_array():
    X = np.arange(24.0).reshape(2, 3, 4)
    assert format_of(X).name == "arrays"
    packed = PackedSequences.from_sequences(X)
    assert_array_equal(packed.X, X.reshape(6, 4))
    assert_array_equal(packed.lengths, [3, 3])


def test_number_of_features_differs():
    with pytest.raises(ValueError, match="sequence 1 has 5 .* sequence 0 has 4"):
        PackedSequences.from_sequences([np.ones((2, 4)), np.ones((1, 5))])


@pytest.mark.parametrize("empty", [[], np.empty((0, 0)), np.empty((0, 2))])
@pytest.mark.parametrize("make", MAKE, ids=["dense", "sparse"])
def test_empty_sequence_among_others(make, empty):
    packed = PackedSequences.from_sequences(
        [empty if make is np.asarray else [], make(np.ones((2, 2)))]
    )
    assert_array_equal(packed.lengths, [0, 2])
    assert packed.n_features == 2


def test_only_empty_sequences():
    packed = PackedSequences.from_sequences([[], []], n_features=3)
    assert (packed.n_positions, packed.n_features, len(packed)) == (0, 3, 2)
    assert PackedSequences.from_sequences([], n_features=3).shape == (0,)
    assert PackedSequences.from_sequences([sp.csr_array((0, 3))]).is_sparse
    with pytest.raises(ValueError, match="0 items"):
        PackedSequences.from_sequences([[], []])


@pytest.mark.parametrize(
    ("second", "error", "match"),
    [
        (np.ones(2), ValueError, "sequence 1 must be two-dimensional"),
        (np.ones((1, 2, 2)), ValueError, "sequence 1 must be two-dimensional"),
        ([[1.0, 2.0], [1.0]], ValueError, "sequence 1 has rows of different lengths"),
        (np.ones((1, 2), dtype=complex), ValueError, "Complex data not supported"),
        (sp.csr_array([[1j, 0]]), ValueError, "Complex data not supported"),
        (np.array([["a", "b"]]), TypeError, "sequence 1 must hold numbers"),
        (np.array([["a", 1]], dtype=object), ValueError, "sequence 1 must hold number"),
        (sp.csr_array((1, 2)), TypeError, "sequence 1 is sparse, but sequence 0"),
    ],
)
def test_bad_sequences_are_named(second, error, match):
    with pytest.raises(error, match=match):
        PackedSequences.from_sequences([np.ones((1, 2)), second])


def test_more_features_than_an_index_counts():
    rows = sp.csr_array((2, 2**31))
    with pytest.raises(ValueError, match="at most 2147483647 of each"):
        PackedSequences(rows, [0, 2])


def test_dense_rows_in_single_precision_stay_so_and_give_the_same_bits():
    rng = np.random.default_rng(0)
    single = [rng.standard_normal((t, 5)).astype(np.float32) for t in (3, 1, 9, 30)]
    y = [rng.integers(3, size=len(rows)).tolist() for rows in single]
    double = [rows.astype(np.float64) for rows in single]
    packed = PackedSequences.from_sequences(single)
    assert packed.X.dtype == np.float32
    rows = packed.X
    assert np.shares_memory(PackedSequences(rows, packed.offsets).X, rows)
    assert PackedSequences.from_sequences([single[0], double[1]]).X.dtype == np.float64
    observed = SDCACRF(features="observed", random_state=0)
    importance = SDCACRF(sampling="importance", random_state=0)
    online = PassiveAggressiveCRF(random_state=0)
    for estimator in (observed, importance, online, OEGCRF(random_state=0), LBFGSCRF()):
        weights = [clone(estimator).fit(X, y).coef_ for X in (packed, single, double)]
        dense = [w.toarray() if sp.issparse(w) else w for w in weights]
        assert np.array_equal(dense[0], dense[2])
        assert np.array_equal(dense[1], dense[2])
