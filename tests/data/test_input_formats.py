"""The input formats of X, and the errors for any other input."""

import pickle
import types
from collections.abc import Sequence

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from sklearn.compose import make_column_transformer
from sklearn.exceptions import DataConversionWarning
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from skcrf_sdca import (
    LBFGSCRF,
    SDCACRF,
    PerToken,
    SequenceUnion,
    SequenceVectorizer,
    load_model,
    save_model,
)
from skcrf_sdca.compat import crfsuite_features
from skcrf_sdca.data.containers import (
    check_container,
)
from skcrf_sdca.data.input_formats import (
    FORMATS,
    format_of,
    format_of_sequence,
    same_format,
    training_format,
)
from skcrf_sdca.data.packed import PackedSequences
from skcrf_sdca.data.sequence_lists import as_sequence_list
from skcrf_sdca.text import TokenFeatures, Window


def series_of_lists():
    return pd.Series([[["a"], ["b"]], [["a"]]])


@pytest.mark.parametrize(
    ("X", "name"),
    [
        (PackedSequences(np.zeros((3, 2)), [0, 2, 3]), "packed"),
        ([[{"a": 1}, {}], []], "dicts"),
        (([], ({"a": 1},)), "dicts"),
        ([[types.MappingProxyType({"a": 1})]], "dicts"),
        (np.array([[{"a": 1}, {"a": 2}]], dtype=object), "dicts"),
        ([np.array([{"a": 1}], dtype=object)], "dicts"),
        ([[["a", "b"], []], [("a",), {"b"}]], "strings"),
        ([[["a", "b"], [], ["c"]]], "strings"),
        ([[["a"], [np.str_("b")]]], "strings"),
        ([[[]]], "strings"),
        (np.array([[["a", "b"]]]), "strings"),
        (series_of_lists(), "strings"),
        ((sequence for sequence in [[["a"]]]), "strings"),
        ([np.ones((2, 3)), []], "arrays"),
        ([np.ones((2, 3), dtype=object)], "arrays"),
        ([sp.csr_array((2, 3)), sp.coo_matrix((1, 3))], "arrays"),
        ([pd.DataFrame({"a": [1.0]})], "arrays"),
        ([[[1.0, 2.0]], [[3, 4]]], "arrays"),
        ([[np.ones(2), np.ones(2)]], "arrays"),
        (np.ones((2, 3, 4)), "arrays"),
        (np.ones((2, 3, 4)).tolist(), "arrays"),
        (np.ones((2, 3)), "table"),
        (np.ones((2, 3)).tolist(), "table"),
        (np.ones((2, 3), dtype=object), "table"),
        (list(np.ones((2, 3))), "table"),
        (np.ones(3), "table"),
        ([1.0, 2.0], "table"),
        (np.zeros((0, 3)), "table"),
        (sp.csr_array((2, 3)), "table"),
        (pd.DataFrame({"a": [1.0, 2.0], "b": ["x", "y"]}), "table"),
    ],
)
def test_formats(X, name):
    assert format_of(as_sequence_list(X)) is FORMATS[name]


class OnlyArray:
    """What NumPy can read, and nothing else."""

    def __init__(self, values):
        self.values = np.asarray(values)

    def __array__(self, dtype=None, copy=None):
        return np.asarray(self.values, dtype=dtype)


class Tensor(OnlyArray):
    """An array of another library, as those of PyTorch are."""

    dtype = "no dtype of NumPy"

    @property
    def shape(self):
        return self.values.shape

    def __len__(self):
        return len(self.values)

    def __getitem__(self, key):
        return Tensor(self.values[key])


def test_object_with_nothing_but_array_interface():
    assert format_of(as_sequence_list(OnlyArray(np.ones((2, 3))))) is FORMATS["table"]


def test_signals_are_known_by_label_lists_of_tensors():
    X, y = [[0.5, 2.0, 3.5], [1.5, 2.5]], [[0, 0, 1], [1, 1]]
    assert training_format(X, y) is FORMATS["signals"]
    for convert in (np.array, Tensor):
        converted = [convert(values) for values in X], [convert(values) for values in y]
        assert training_format(*converted) is FORMATS["signals"]
    assert training_format([[0.5, 2.0]], [Tensor([1])]) is FORMATS["table"]


@pytest.mark.parametrize("X", [[], (), np.empty(0, dtype=object), np.ones((0, 2, 2))])
def test_no_sequences(X):
    with pytest.raises(ValueError, match="0 sequences"):
        format_of(X)
    assert format_of(X, default=FORMATS["dicts"]) is FORMATS["dicts"]


@pytest.mark.parametrize(
    "X", [[[], []], [np.empty((0, 3)), []], PackedSequences(np.ones((0, 2)), [0, 0, 0])]
)
def test_no_items(X):
    with pytest.raises(ValueError, match="2 sequences and 0 items"):
        SDCACRF().fit(X, [[], []])


def test_format_of_empty_lists():
    with pytest.raises(ValueError, match="2 sequences and 0 items"):
        format_of([[], []])
    assert format_of([[], []], default=FORMATS["arrays"]) is FORMATS["arrays"]


def read(X):
    """Recognise X by its first sequence, then check the others, as its readers do."""
    return format_of(X), list(same_format(X))


@pytest.mark.parametrize(
    ("X", "match"),
    [
        pytest.param([None], "sequence 0 is None", id="None sequence"),
        pytest.param(
            [[{}], [{}], [{}, None]],
            "sequence 2, item 1 is None",
            id="None among dicts",
        ),
        pytest.param(
            [[["a"], None]], "sequence 0, item 1 is None", id="None among strings"
        ),
        pytest.param(["ab"], "sequence 0 is of type str 'ab'", id="str sequence"),
        pytest.param(
            [["foo", "bar"]],
            "item 0 .*item must be a dict or a list of str",
            id="str items",
        ),
        pytest.param(
            np.array([["foo", "bar"]]),
            "item must be a dict",
            id="str items in an array",
        ),
        pytest.param(
            [{"a": 1}, {"b": 1}],
            r"sequence 0 is .*dict.*wrap it in a list",
            id="unwrapped dicts",
        ),
        pytest.param([["a"], ["b"]], "wrap it in a list", id="unwrapped strings"),
        pytest.param(
            [[[{"a": 1}]]], "item 0 is a list of dict", id="nested once too often"
        ),
        pytest.param(
            [[{"a": 1}], [["a"]]],
            "sequence 1 is a list of lists of str, but sequence 0 is .* dicts",
            id="1",
        ),
        pytest.param(
            [[{"a": 1}, ["a"]]], "sequence 0, item 1 is a list of str", id="2"
        ),
        pytest.param(
            [np.ones((1, 2)), [{}]],
            "sequence 1 is a list of dicts, but sequence 0 holds rows",
            id="3",
        ),
        pytest.param([[{"a": 1}, 3.0]], "sequence 0, item 1 is of type float", id="4"),
        pytest.param([[["a"], [3.0]]], "item 1 is a list of float, but item 0", id="5"),
        pytest.param([[["a"], [], [None]]], "item 2 is a list of NoneType", id="6"),
        pytest.param([[b"ab"]], "item 0 is of type bytes", id="bytes"),
        pytest.param([{"a", "b"}], "sequence 0 is of type set", id="set"),
        pytest.param(
            [iter([{}])],
            "sequence 0 is of type list_iterator",
            id="iterator as a sequence",
        ),
        pytest.param([np.ones((1, 1, 1))], "sequence 0 is of type ndarray", id="3-D"),
        pytest.param([np.array([["a"]])], "sequence 0 is of type ndarray", id="str"),
        pytest.param(np.ones((1, 1, 1, 1)), "sequence 0 is of type ndarray", id="4-D"),
    ],
)
def test_wrong_sequences(X, match):
    with pytest.raises(TypeError, match=match):
        read(X)


@pytest.mark.parametrize(
    "X",
    [
        *(None, "ab", b"ab", {"a": 1}, {1, 2}, 3, object()),
        *(np.float64(3), np.datetime64("2020")),
    ],
    ids=lambda X: type(X).__name__,
)
@pytest.mark.parametrize("name", ["X", "y"])
def test_wrong_containers(X, name):
    with pytest.raises(TypeError, match=f"{name} must be a list of sequences"):
        as_sequence_list(X, name=name)
    with pytest.raises(TypeError, match=f"{name} must be a list of sequences"):
        check_container(X, name)


def test_every_row_of_a_table_is_checked():
    match = "sequence 2 is a list of dicts, but sequence 0 holds numbers"
    with pytest.raises(TypeError, match=match):
        format_of([[1.0, 2.0], [3.0, 4.0], [{"a": 1}]])


WORDS = [["the", "Rhine"], ["a", "Danube"]]
NO_FEATURES = r"words need features: make_tagger\(TokenFeatures.*text.read_corpus"


class Column(Sequence):
    """A column of a data set, which reads its lists from a file."""

    def __len__(self):
        return len(WORDS)

    def __getitem__(self, i):
        return WORDS[i]


@pytest.mark.parametrize(
    "X",
    [
        WORDS,
        tuple(map(tuple, WORDS)),
        list(map(np.array, WORDS)),
        np.array(WORDS),
        np.array(WORDS, dtype=object),
        pd.Series(WORDS),
        Column(),
        [" ".join(words) for words in WORDS],
        pd.DataFrame({"word": WORDS[0]}),
    ],
    ids=lambda X: type(X).__name__,
)
def test_columns_of_words_are_told_what_reads_them(X):
    with pytest.raises((TypeError, ValueError), match=NO_FEATURES):
        small().fit(X, WORDS)
    with pytest.raises((TypeError, ValueError), match=f"{NO_FEATURES}|read_corpus"):
        SequenceVectorizer().fit(X)


@pytest.mark.parametrize("column", [False, True])
def test_polars_columns_of_words_are_told_what_reads_them(column):
    series = pytest.importorskip("polars").Series
    X = series(WORDS) if column else list(map(series, WORDS))
    with pytest.raises(TypeError, match=NO_FEATURES):
        small().fit(X, WORDS)


class ArrowTable:
    """As pyarrow.Table: its columns are arrays, and have no names."""

    shape, column_names = (2, 2), ["words", "labels"]
    columns = np.array([["a", "b"], ["c", "d"]])

    def __getitem__(self, rows):
        return self

    def __array__(self, dtype=None, copy=None):
        array = np.empty((2, 2), dtype=object)
        array[:] = [[[WORDS[0]], [WORDS[1]]]] * 2
        return array


def with_attribute(name, *, is_in_a_list=False):
    X = type("Theirs", (), {name: None})()
    return [X] if is_in_a_list else X


@pytest.mark.parametrize(
    ("X", "message"),
    [
        (
            ArrowTable(),
            r"of \['words', 'labels'\]. Of columns with words .*read_corpus",
        ),
        (with_attribute("get_docs"), r"read_corpus reads .* X.get_docs\(nlp.vocab\)\)"),
        (with_attribute("collect_schema"), r"not computed yet: pass X.collect\(\)\)"),
        (
            with_attribute("ents", is_in_a_list=True),
            "read_corpus reads documents of sp",
        ),
        ([{"tokens": WORDS[0]}], "read_corpus reads records, .*; if X is a single"),
        ({"tokens": WORDS}, "got dict instead .text.read_corpus reads records"),
    ],
)
def test_containers_of_other_libraries_are_told_what_reads_them(X, message):
    with pytest.raises(TypeError, match=message):
        small().fit(X, LABELS)


def test_tables_of_arrow_are_told_what_reads_them():
    X = pytest.importorskip("pyarrow").table({"words": WORDS, "labels": WORDS})
    with pytest.raises(
        TypeError, match=r"of \['words', 'labels'\]. .* text.read_corpus"
    ):
        small().fit(X, WORDS)


def test_other_tables_that_hold_no_numbers_are_told_nothing_of_words():
    with pytest.raises(ValueError, match="NaN") as caught:
        small().fit(np.array([[1.0], [np.nan]]), ["A", "B"])
    assert "words" not in str(caught.value)


def test_messages_stay_short():
    with pytest.raises(TypeError) as caught:
        format_of_sequence(["a" * 10**6], 7)
    assert len(str(caught.value)) < 300
    assert "sequence 7" in str(caught.value)


# Objects that NumPy can read ----------------------------------------------------------


@pytest.mark.parametrize("wrapped", [OnlyArray, Tensor])
@pytest.mark.parametrize("form", ["arrays", "lists of rows", "signals"])
def test_objects_that_numpy_can_read_are_arrays(form, wrapped):
    arrays = [rows[:, 0] for rows in ROWS] if form == "signals" else ROWS
    if form == "lists of rows":
        X = [[wrapped(row) for row in rows] for rows in arrays]
    else:
        X = list(map(wrapped, arrays))
    expected = small().fit(arrays, LABELS)
    crf = small().fit(X, LABELS)
    assert np.array_equal(crf.coef_, expected.coef_)
    assert crf.predict(X).tolist() == expected.predict(arrays).tolist()


@pytest.mark.parametrize("wrapped", [OnlyArray, Tensor])
def test_per_token_takes_objects_that_numpy_can_read(wrapped):
    packed = PerToken(StandardScaler()).fit_transform(list(map(wrapped, ROWS)))
    assert np.array_equal(packed.X, PerToken(StandardScaler()).fit_transform(ROWS).X)


def test_items_of_no_format_are_refused_with_the_format_of_fit():
    crf = small().fit([[{"word": "the"}, {"word": "Rhine"}]], [["O", "LOC"]])
    match = "item 0 is of type str 'the'.* Each sequence of fit is a list of dicts"
    with pytest.raises(TypeError, match=match):
        crf.predict([["the", "Rhine"]])


# Data frames --------------------------------------------------------------------------

LABELS = [["A", "B"], ["B"], ["A", "B", "A"]]
ROWS = [np.random.default_rng(i).normal(size=(len(y), 2)) for i, y in enumerate(LABELS)]
NO_FRAMES = "does not have valid feature names, but SDCACRF was fitted with"
LIBRARIES = ["pandas", "polars"]


def framed(library, columns="ab", X=ROWS):
    """Return arrays as frames with these columns, of which "a" is the first."""
    frame = pytest.importorskip(library).DataFrame
    tables = [{"a": rows[:, 0], "b": rows[:, 1]} for rows in X]
    return [frame(table)[list(columns)] for table in tables]


def small(**parameters):
    return SDCACRF(random_state=0, **parameters)


@pytest.mark.parametrize("library", LIBRARIES)
def test_names_of_columns_are_those_of_fit(library):
    crf = small().fit(framed(library), LABELS)
    assert crf.feature_names_in_.tolist() == ["a", "b"]
    assert crf.coef_.tobytes() == small().fit(ROWS, LABELS).coef_.tobytes()
    before = pickle.dumps(crf)
    wrong = framed(library, "ba")
    for method in (crf.predict, crf.predict_proba, lambda X: crf.score(X, LABELS)):
        with pytest.raises(ValueError, match="must be in the same order"):
            method(wrong)
    # The rule is that of the tables of scikit-learn.
    other = [frame.rename({"b": "c"}) for frame in wrong if library == "polars"]
    other += [frame.rename(columns={"b": "c"}) for frame in wrong if not other]
    with pytest.raises(ValueError, match="unseen at fit time:\n- c\n.*missing:\n- b"):
        crf.predict(other)
    assert pickle.dumps(crf) == before
    crf.predict([[], *framed(library), framed(library)[0][:0]])
    assert not hasattr(crf.fit(ROWS, LABELS), "feature_names_in_")


@pytest.mark.parametrize("library", LIBRARIES)
def test_names_in_fit_or_predict_alone_warn(library):
    named, unnamed = small().fit(framed(library), LABELS), small().fit(ROWS, LABELS)
    for X in (ROWS, PackedSequences.from_sequences(ROWS)):
        with pytest.warns(UserWarning, match=NO_FRAMES):
            answer = named.predict(X)
        assert answer.tolist() == unnamed.predict(X).tolist()
    with pytest.warns(UserWarning, match="X has feature names, but SDCACRF was"):
        unnamed.predict(framed(library))
    for X in ([], [[], []]):
        assert len(named.predict(X)) == len(X)


@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize(
    ("place", "columns", "match"),
    [
        (1, "ba", "sequence 1 has column 0 'b', but sequence 0 has 'a'; all must"),
        (1, None, "sequence 0 is a data frame .*, but sequence 1 has none; all must"),
        (0, None, "sequence 1 is a data frame .*, but sequence 0 has none; all must"),
    ],
)
def test_frames_of_one_X_have_the_same_columns(library, place, columns, match):
    X = framed(library)
    X[place] = framed(library, columns)[place] if columns else ROWS[place]
    crf = small().fit(framed(library), LABELS)
    for method in (
        lambda X: small().fit(X, LABELS),
        crf.predict,
        PackedSequences.from_sequences,
        PerToken(StandardScaler()).fit,
        PerToken(StandardScaler()).fit(framed(library)).transform,
    ):
        with pytest.raises(ValueError, match=match):
            method(X)


def test_names_that_are_no_str_are_not_kept():
    numbered = [pd.DataFrame(rows) for rows in ROWS]
    assert not hasattr(small().fit(numbered, LABELS), "feature_names_in_")
    numbered[1].columns = [0, "b"]
    with pytest.raises(TypeError, match="X: sequence 1: Feature names are only supp"):
        small().fit(numbered, LABELS)


@pytest.mark.parametrize("library", LIBRARIES)
def test_frames_per_token(library):
    per_token = PerToken(StandardScaler()).fit(framed(library))
    assert per_token.feature_names_in_.tolist() == ["a", "b"]
    expected = PerToken(StandardScaler()).fit_transform(ROWS).X
    assert np.array_equal(per_token.transform(framed(library)).X, expected)
    with pytest.raises(ValueError, match="must be in the same order"):
        per_token.transform(framed(library, "ba"))


@pytest.mark.parametrize("library", LIBRARIES)
def test_frames_with_text_are_refused_with_what_to_do(library):
    frame = pytest.importorskip(library).DataFrame
    X = [frame({"word": ["El", "Rin"], "length": [2.0, 3.0]})]
    match = r'sequence 0 must .*\.to_dict\("records"\).*to_dicts.*PerToken\(ColumnTr'
    for refuses in (small().fit, small().fit(framed(library), LABELS).predict):
        arguments = (X, [["O", "LOC"]])[: 2 if refuses.__name__ == "fit" else 1]
        with pytest.raises(ValueError, match=match):
            refuses(*arguments)
    columns = make_column_transformer((OneHotEncoder(), ["word"]), remainder="drop")
    assert PerToken(columns).fit_transform(X).shape == (1,)


def test_frames_of_two_libraries_per_token():
    X = [*framed("pandas")[:2], *framed("polars")[2:]]
    with pytest.raises(ValueError, match="sequence 2 is a data frame of polars with 2"):
        PerToken(StandardScaler()).fit(X)
    assert small().fit(X, LABELS).feature_names_in_.tolist() == ["a", "b"]


@pytest.mark.parametrize(
    ("column", "value"),
    [
        (pd.Series([1, None], dtype="Int64"), "NAType"),
        (pd.Series([True, None], dtype="boolean"), "NAType"),
        (pd.Series([1.5, "x"], dtype=object), "str 'x'"),
        (pd.Series(["1", "x"], dtype="category"), "str 'x'"),
        (pd.to_datetime(pd.Series(["2020", "2021"])), "Timestamp"),
        (pd.Series([1.0, [2.0, 3.0]]), "a list of float"),
    ],
    ids=lambda value: str(getattr(value, "dtype", "")),
)
def test_cells_that_are_no_numbers(column, value):
    X = [ROWS[1], pd.DataFrame({"x": [1.0, 2.0], "y": column}).set_axis([0, 1], axis=1)]
    place = "position 0" if value == "Timestamp" else "position 1"
    with pytest.raises(
        ValueError, match=f"sequence 1 must .* {place}, feature 1.*{value}"
    ):
        small().fit(X, [["A"], ["A", "B"]])


def test_nullable_columns_without_a_missing_value():
    X = [pd.DataFrame(np.sign(rows)).astype("Int64") for rows in ROWS]
    expected = small().fit(list(map(np.sign, ROWS)), LABELS).coef_
    assert small().fit(X, LABELS).coef_.tobytes() == expected.tobytes()


def test_numbers_in_arrays_without_axes():
    X = [np.empty_like(rows, dtype=object) for rows in ROWS]
    for rows, boxed in zip(ROWS, X, strict=True):
        for place, value in np.ndenumerate(rows):
            boxed[place] = np.array(value)
    expected = small().fit(ROWS, LABELS).coef_
    assert small().fit(X, LABELS).coef_.tobytes() == expected.tobytes()


# Columns and frames of Polars, which are no lists and no arrays -----------------------

STRINGS = [[["a"], ["b", "c"]], [["b"]], [["a"], ["b"], ["a"]]]
STRUCTS = [[{"w": item[0], "n": 2.0} for item in sequence] for sequence in STRINGS]


@pytest.mark.parametrize("X", [STRINGS, STRUCTS], ids=["lists", "structs"])
def test_columns_of_polars_are_lists(X):
    pl = pytest.importorskip("polars")
    expected = small().fit(X, LABELS)
    for column, y in (
        (pl.Series(X), pl.Series(LABELS)),
        ([pl.Series(sequence) for sequence in X], [pl.Series(y) for y in LABELS]),
        (X, [pl.Series(y, dtype=pl.Categorical) for y in LABELS]),
    ):
        crf = small().fit(column, y)
        assert crf.coef_.tobytes() == expected.coef_.tobytes()
        assert crf.predict(column).tolist() == expected.predict(X).tolist()
        assert crf.score(column, y) == 1.0
        known = pl.Series([[*y[:-1], None] for y in LABELS])
        assert crf.predict(column, known=known).tolist() == LABELS
        vectorizer = SequenceVectorizer().fit(column)
        assert vectorizer.vocabulary_ == crf.vectorizer_.vocabulary_


def test_numbers_in_lists_of_polars():
    pl = pytest.importorskip("polars")
    X = pl.Series([rows.tolist() for rows in ROWS])
    expected = small().fit(ROWS, LABELS).coef_
    assert small().fit(X, LABELS).coef_.tobytes() == expected.tobytes()


def test_tokens_and_parts_in_polars():
    pl = pytest.importorskip("polars")
    words = [[word for (word, *_) in sequence] for sequence in STRINGS]
    expected = TokenFeatures([Window("word", 0)]).fit_transform(words)
    assert (
        TokenFeatures([Window("word", 0)]).fit_transform(pl.Series(words)) == expected
    )
    union = SequenceUnion(
        [("w", SequenceVectorizer(), "x"), ("n", PerToken(StandardScaler()), "v")]
    )
    parts = {"x": STRINGS, "v": [rows.tolist() for rows in ROWS]}
    found, same = (
        union.fit_transform(library.DataFrame(parts)).X for library in (pl, pd)
    )
    assert (found != same).nnz == 0
    assert crfsuite_features(pl.Series(STRUCTS)) == crfsuite_features(STRUCTS)


@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize("X", [STRINGS, STRUCTS], ids=["lists", "structs"])
def test_frames_that_hold_sequences_are_refused(library, X):
    frame = pytest.importorskip(library).DataFrame({"x": X, "y": LABELS})
    crf, match = small().fit(X, LABELS), r"pass the column .* of \['x', 'y'\]"
    for method in (
        lambda X: small().fit(X, LABELS),
        crf.predict,
        SequenceVectorizer().fit,
        PerToken(StandardScaler()).fit,
    ):
        with pytest.raises(TypeError, match=f"X is a data frame.*{match}"):
            method(frame)
    with pytest.raises(TypeError, match=f"y is a data frame: {match}"):
        small().fit(X, frame)


@pytest.mark.parametrize(
    ("X", "match"),
    [
        (STRUCTS[0], "X: sequence 0 is of type dict; .*wrap it in a list"),
        (STRINGS[0], "X: sequence 0, item 0 is of type str 'a'; .*wrap it in a list"),
        (["a", "b"], "X: sequence 0 is of type str 'a'"),
        ([STRINGS[0], None], "X: sequence 1 is None"),
        ([STRINGS[0], [["a"], None]], "X: sequence 1, item 1 is None"),
        ([STRINGS[0], [["a"], [None]]], "X: sequence 1, item 1 is a list of NoneType"),
    ],
)
def test_columns_of_polars_that_are_no_sequences(X, match):
    pl = pytest.importorskip("polars")
    crf = small().fit(STRINGS, LABELS)
    for method in (crf.predict, lambda X: small().fit(X, LABELS[: len(X)])):
        with pytest.raises(TypeError, match=match):
            method(pl.Series(X))


def test_missing_values_of_polars():
    pl = pytest.importorskip("polars")
    frame = pl.DataFrame({"a": [1, None], "b": [1.0, 2.0]})
    with pytest.raises(ValueError, match="NaN: sequence 0, position 1, feature 0"):
        small().fit([frame], [["A", "B"]])
    with pytest.raises(ValueError, match="X contains NaN"):
        small().fit(frame, ["A", "B"])
    # A missing label is one that is not known.
    for labels in (["A", None], [1, None], [True, None]):
        crf = small().fit(ROWS[:1], [pl.Series(labels)])
        assert crf.classes_.tolist() == labels[:1]
    with pytest.raises(ValueError, match="no label is known"):
        small().fit(ROWS[:1], [pl.Series([None, None], dtype=pl.String)])


# Signals ------------------------------------------------------------------------------

SIGNALS = [rows[:, 0] for rows in ROWS]


@given(st.data())
def test_a_signal_is_one_feature_of_each_item(data):
    lengths = data.draw(st.lists(st.integers(0, 4), min_size=1).filter(any))
    floats = st.floats(-5, 5, width=32)
    X = [data.draw(hnp.arrays(np.float64, n, elements=floats)) for n in lengths]
    y = [
        data.draw(st.lists(st.sampled_from("AB"), min_size=n, max_size=n))
        for n in lengths
    ]
    if all(n in (0, 1) for n in lengths):
        lengths, X, y = [2, *lengths], [np.ones(2), *X], [["A", "B"], *y]
    form = data.draw(st.sampled_from([np.asarray, list, np.ndarray.tolist, pd.Series]))
    columns = [rows.reshape(-1, 1) for rows in X]
    crf = small(alpha=1.0).fit([form(rows) for rows in X], y)
    expected = small(alpha=1.0).fit(columns, y)
    assert crf.n_features_in_ == 1
    assert crf.coef_.tobytes() == expected.coef_.tobytes()
    paths = expected.predict(columns).tolist()
    assert crf.predict([form(rows) for rows in X]).tolist() == paths
    assert crf.predict(columns).tolist() == paths


def test_signals_in_all_methods(tmp_path):
    crf = small().fit(SIGNALS, LABELS)
    columns = PackedSequences.from_sequences([rows[:, :1] for rows in ROWS])
    expected = small().fit(columns, LABELS)
    # Signals of the same length are no rows of a table.
    X, y = [SIGNALS[0], SIGNALS[2][:2]], [LABELS[0], LABELS[2][:2]]
    assert small().fit(X, y).predict(X).shape == (2,)
    assert crf.predict(np.array([*SIGNALS, None], dtype=object)[:3]).shape == (3,)
    proba = expected.predict_proba(columns)
    for p, q in zip(crf.predict_proba(SIGNALS), proba, strict=True):
        assert p.tobytes() == q.tobytes()
    assert crf.score(SIGNALS, LABELS) == expected.score(columns, LABELS)
    assert crf.explain(SIGNALS[0], 1).label == expected.explain(columns[:1], 1).label
    save_model(crf, tmp_path / "model")
    loaded = load_model(tmp_path / "model")
    assert loaded.predict(SIGNALS).tolist() == crf.predict(SIGNALS).tolist()
    assert crf.predict([[], SIGNALS[0]])[0] == []


@pytest.mark.parametrize("form", [list, np.array])
def test_ids_of_tokens_are_no_numbers(form):
    X, y = [form([7, 2]), form([3])], [[0, 1], [1]]
    message = (
        "sequence 0 holds integers, item 0 is 7. If .* ids of tokens, pass strings"
    )
    with pytest.raises(TypeError, match=message):
        small().fit(X, y)
    with pytest.raises(TypeError, match=message):
        small().fit(SIGNALS, LABELS).predict(X)


def test_a_signal_without_values_has_none_that_are_ids():
    """An empty list that becomes an array of the type of others may be of integers."""
    empty = np.array([], dtype=int)
    crf = small().fit([empty, SIGNALS[0]], [[], LABELS[0]])
    assert crf.predict([SIGNALS[0], empty]).tolist()[1] == []
    with pytest.raises(ValueError, match="X has 1 sequences and 0 items"):
        small().fit([empty], [[]])


def test_faults_of_signals_are_named():
    crf = small().fit(SIGNALS, LABELS)
    for wrong, error, message in (
        ([0.5, np.nan], ValueError, "X contains NaN: sequence 1, position 1"),
        (np.ma.array([1.0, 2.0], mask=[0, 1]), ValueError, "sequence 1 is .* masked"),
        ([1.0, "a"], TypeError, "sequence 1, item 1 is of type str 'a'"),
        (5.0, TypeError, "sequence 1 is of type float 5.0"),
    ):
        with pytest.raises(error, match=message):
            small().fit([SIGNALS[0], wrong], [LABELS[0], LABELS[0]])
        with pytest.raises(error, match=message):
            crf.predict([SIGNALS[0], wrong])
    with pytest.raises(ValueError, match="X is a single table, .* wrap a single"):
        crf.predict(SIGNALS[0])
    with pytest.raises(TypeError, match="sequence 1 holds numbers, but sequence 0"):
        small().fit([ROWS[0], SIGNALS[1]], LABELS[:2])


# Tables -------------------------------------------------------------------------------


def test_rows_of_a_table_have_one_length():
    message = "row 1 has 1 numbers, but row 0 has 2; .* y must be a list of label lists"
    with pytest.raises(ValueError, match=message):
        small().fit([[1.0, 2.0], [3.0]], ["A", "B"])
    table = small().fit([[1.0, 2.0], [3.0, 4.0]], ["A", "B"])
    with pytest.raises(ValueError, match=message):
        table.predict([[1.0, 2.0], [3.0]])
    with pytest.warns(DataConversionWarning):
        column = small().fit([[1.0, 2.0], [3.0, 4.0]], [["A"], ["B"]])
    assert column.coef_.tobytes() == table.coef_.tobytes()


@pytest.mark.parametrize(
    ("X", "name"),
    [
        ([np.ones((1, 2)), np.ones((3, 2))], "arrays"),
        ([[{"a": 1.0}]], "dicts"),
        (PackedSequences(np.ones((3, 2)), [0, 1, 3]), "packed"),
    ],
)
def test_a_model_of_a_table_takes_no_sequences(X, name):
    table = small().fit([[1.0, 2.0], [3.0, 4.0]], ["A", "B"])
    message = f"X holds sequences .{name}., but SDCACRF was fitted on a table"
    with pytest.raises(TypeError, match=message):
        table.predict(X)


@pytest.mark.parametrize("values", [[0, 1, 2], [3, 9, 4, 1]])
def test_one_column_of_integers_is_asked_about(values):
    X, y = (
        [np.array(values)[:, np.newaxis]] * 4,
        [["A", "B", "A", "B"][: len(values)]] * 4,
    )
    table, lengths = np.concatenate(X), [len(values)] * 4
    with pytest.warns(UserWarning, match="one column, of integers, which count as mag"):
        LBFGSCRF().fit(X, y)
    with pytest.warns(UserWarning, match="If they are ids, pass strings"):
        LBFGSCRF().fit(table, np.concatenate(y), lengths=lengths)
    # Numbers with a fraction, flags, and several columns say what they are.
    for other in (
        [x.astype(float) for x in X],
        [x > 1 for x in X],
        [x % 2 for x in X],
        [np.hstack([x, x]) for x in X],
    ):
        LBFGSCRF().fit(other, y)


@pytest.mark.parametrize(
    "rest",
    [([-1, 0],), (np.array([-1, 0]),), ([(0, 1)],), ([(0, 1)], [[0.5]])],
    ids=["heads", "array of heads", "edges", "features of edges"],
)
@pytest.mark.parametrize("taker", [SequenceVectorizer, SDCACRF])
def test_a_graph_is_no_sequence(taker, rest):
    (graph,) = TokenFeatures().fit_transform([([{"word": "a"}, {"word": "b"}], *rest)])
    for nodes in graph[0], [{"a": 1}, {"b": 1}], ["a", "b"], np.eye(2):
        with pytest.raises(
            TypeError, match=r"X: sequence 0 is a tree or another graph"
        ):
            taker().fit([(nodes, *rest)], [["A", "B"]])
