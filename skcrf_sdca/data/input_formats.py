"""Input formats: the types of the sequences of X, and all that depends on them.

`format_of` recognises the format of X. The `InputFormat` that it returns knows how X is
packed, how y is read, and the shape of answers: no other module compares formats.
"""

import numbers
import warnings
from collections.abc import Mapping, Set

import numpy as np
import scipy.sparse as sp
from sklearn.utils.validation import check_array

from skcrf_sdca._kernels.features._encoder import ITEM_TYPES, type_of_items
from skcrf_sdca._utils.messages import described
from skcrf_sdca._utils.ragged import split_rows
from skcrf_sdca._utils.sklearn_versions import check_feature_names
from skcrf_sdca._utils.words import numbered, place, with_article, words
from skcrf_sdca.data import label_encoding
from skcrf_sdca.data.containers import (
    advice_on,
    columns_of,
    is_frame,
    is_graph,
    plain_column,
    unmasked,
)
from skcrf_sdca.data.feature_names import (
    check_names_of_fit,
    check_same_names,
    names_of_frame,
)
from skcrf_sdca.data.packed import PackedSequences


def _wrap():
    X = words().X
    return f"if {X} is a single {words().sequence}, wrap it in a list: [{X}]"


def _advice(sequence):
    """Return what to do with an X that holds what is no sequence."""
    return "; ".join(filter(None, [advice_on(sequence, words().X), _wrap()]))


# What to do with an X of words, which have no features yet.
ON_WORDS = (
    "words need features: make_tagger(TokenFeatures(), ...); text.read_corpus reads "
    "tables of words and labels"
)


class InputFormat:
    """The format of an X that holds sequences; the other formats override its methods.

    `name` is what fitted estimators and model files keep. `described` is the predicate
    of a sequence of this format, for messages. `needs_vectorizer` tells whether a
    SequenceVectorizer makes rows of numbers of the items.
    """

    # Whether X holds sequences; if not, each row of X is a chain of one node.
    boundaries = True
    is_packed = False

    def __init__(self, name, described, needs_vectorizer=False):
        self.name = name
        self.described = described
        self.needs_vectorizer = needs_vectorizer

    def __repr__(self):
        """Return the name."""
        return f"<input format {self.name!r}>"

    def pack_training(self, X, estimator, vectorizer):
        """Return the X of a fit, validated and packed.

        The estimator is named in messages. The vectorizer is fitted if the format needs
        one.
        """
        if isinstance(X, PackedSequences):
            return X
        if self.needs_vectorizer:
            return vectorizer.fit_transform(X)
        return _pack_arrays(X)

    def feature_names(self, X, data):
        """Return the FeatureNames of the X of a fit and its packed data, or None.

        There are none if the estimator has a vectorizer, which knows them.
        """
        return None if self.needs_vectorizer else data.feature_names

    def pack(self, X, estimator):
        """Return X of any format, packed for an estimator fitted on this one.

        The second of the two results is the format of the answers.
        """
        return self._packed(X, estimator), self

    def _packed(self, X, estimator):
        name = type(estimator).__name__
        try:
            found = format_of(X, default=self)
        except TypeError as error:
            raise TypeError(
                f"{error} Each {words().sequence} of fit {self.described}."
            ) from None
        if not found.boundaries:
            raise ValueError(
                f"{words().X} is a single table, but {name} was fitted on sequences: "
                f"wrap a single sequence in a list, [{words().X}], or cut the table by "
                f"PackedSequences.from_lengths({words().X}, lengths)."
            )
        if self.needs_vectorizer and found is not PACKED:
            return estimator.vectorizer_.transform(X)
        if found.needs_vectorizer:
            raise TypeError(
                f"{words().X} is made of {found.name}, but {name} was fitted on "
                "numbers: use the SequenceVectorizer that made them, or fit on the "
                "sequences themselves."
            )
        if found is PACKED:
            data = X
        else:
            data = _pack_arrays(X, n_features=estimator.n_features_in_)
        if data.n_positions:
            self._check_names(X, data, estimator)
        return data

    def _check_names(self, X, data, estimator):
        """Check the names of the features of X, which is `data` when packed."""
        if X is not data:
            check_names_of_fit(estimator, X)
        elif data.feature_names is None:
            check_names_of_fit(estimator, ())
        else:
            check_same_names(data.feature_names, self._names_of_fit(estimator))

    def _names_of_fit(self, estimator):
        if self.needs_vectorizer:
            return estimator.vectorizer_.transform([]).feature_names
        return getattr(estimator, "_feature_names", None)

    def sequences(self, X, data):
        """Return the sequences of X as users pass them, or as `data`, packed, has them.

        Raise TypeError if X is packed where the sequences of the fit are not.
        """
        if isinstance(X, PackedSequences):
            raise TypeError(
                f"{words().X} is packed, but segment_features reads sequences as those "
                f"of fit, of the input format {self.name}; pass these."
            )
        return X

    def encode_labels(self, y, data, unknown_label=None):
        """Return what `encode_training_labels` returns."""
        return label_encoding.encode_training_labels(y, data.lengths, unknown_label)

    def label_lists(self, y, data):
        """Return the labels y of `data` as label lists."""
        return y

    def known_lists(self, known, data):
        """Return labels of `data`, some of them None, as label lists."""
        return known

    def labels(self, paths, classes, offsets):
        """Return paths, label numbers end to end, as an array of label lists.

        If X is one table, it is an array of labels.
        """
        return label_encoding.decode_labels(paths, classes, offsets)

    def path_labels(self, paths, classes):
        """Return the labels of paths of one sequence, rows of label numbers, as a list.

        Each entry is a label list; if the rows of X are the sequences, it is a label.
        """
        offsets = np.arange(len(paths) + 1) * paths.shape[1]
        lists = label_encoding.decode_labels(paths.ravel(), classes, offsets)
        return lists.tolist()

    def rows(self, rows, offsets):
        """Cut an array with a row for each position into one array for each sequence.

        If X is one table, the array stays whole.
        """
        return split_rows(rows, offsets)

    def pair_rows(self, rows, offsets):
        """Cut an array with a row for each pair of neighbours in the same way.

        A table has no neighbours, and its array gets the shape (n, 0, ...).
        """
        return split_rows(rows, offsets)

    def as_X(self, sequence):
        """Return one sequence, or PackedSequences of one, as an X; a table is one."""
        return self.as_chain(sequence)

    def as_chain(self, sequence):
        """Return the same as an X of one sequence, whose rows are its items."""
        if not isinstance(sequence, PackedSequences):
            return [sequence]
        if len(sequence) != 1:
            raise ValueError(
                f"sequence: one is needed, but there are {len(sequence)}; take one of "
                "PackedSequences by packed[i : i + 1]."
            )
        return sequence


class _Packed(InputFormat):
    """PackedSequences; y may be one array with the labels of all positions."""

    is_packed = True

    def sequences(self, X, data):
        return data

    def _check_names(self, X, data, estimator):
        # Data from files have no names: names of one side alone are no reason to warn.
        check_same_names(data.feature_names, self._names_of_fit(estimator))

    def encode_labels(self, y, data, unknown_label=None):
        is_typed = _is_flat(y, data) and label_encoding.is_typed(y)
        if is_typed and unknown_label is None:
            return *label_encoding.encode_flat_labels(y, data.new_array), None
        return super().encode_labels(self.label_lists(y, data), data, unknown_label)

    def label_lists(self, y, data):
        if not _is_flat(y, data):
            return y
        return split_rows(label_encoding.flat_list(y, "y"), data.offsets)


class _Rows(InputFormat):
    """One table of numbers; y and the answers have an entry for each of its rows."""

    def sequences(self, X, data):
        return data

    def encode_labels(self, y, data, unknown_label=None):
        return label_encoding.encode_row_labels(y, data.lengths, unknown_label)

    def label_lists(self, y, data):
        return label_encoding.cut_labels(label_encoding.row_labels(y), data.lengths)

    def known_lists(self, known, data):
        known = label_encoding.row_labels(known, "known")
        return label_encoding.cut_labels(known, data.lengths, "known")

    def labels(self, paths, classes, offsets):
        return classes[paths]

    def rows(self, rows, offsets):
        return rows

    def pair_rows(self, rows, offsets):
        return rows.reshape(len(offsets) - 1, 0, *rows.shape[1:])

    def as_X(self, sequence):
        return sequence


class _CutTable(_Rows):
    """One table that `cut_table` has cut into sequences by their lengths.

    An estimator that was fitted on one takes sequences too, with their answers. Without
    lengths, a table is one sequence, as in hmmlearn.
    """

    def pack(self, X, estimator):
        found = format_of(X, default=self)
        if found is TABLE:
            X, found = cut_table(X, [np.shape(X)[0]]), self
        return self._packed(X, estimator), found

    def pair_rows(self, rows, offsets):
        return rows


class _Table(_Rows):
    """One table of numbers, whose rows are chains of one node, as scikit-learn's X."""

    boundaries = False

    def pack_training(self, X, estimator, vectorizer):
        _check_rows(X)
        return _pack_rows(_checked(X, estimator))

    def feature_names(self, X, data):
        return names_of_frame(X)

    def _packed(self, X, estimator):
        found = format_of(X, default=self)
        # scikit-learn refuses an array of more axes.
        if found is not self and not _is_of_numbers(X):
            raise TypeError(
                f"{words().X} holds sequences ({found.name}), but "
                f"{type(estimator).__name__} was fitted on a table without lengths, "
                "whose rows are chains of one item: pass one 2-D array with the rows "
                "of all sequences, without lengths, or fit on sequences or with "
                "lengths=."
            )
        _check_rows(X)
        check_feature_names(estimator, X)
        return _pack_rows(_checked(X, estimator))

    def as_chain(self, sequence):
        return sequence

    def path_labels(self, paths, classes):
        return label_encoding.plain_labels(classes[paths.ravel()])


class _Signals(InputFormat):
    """Signals of one feature: a sequence is a 1-D array of floats.

    A list of them has the form of a list of the rows of a table: `training_format` and
    the fit tell them apart.
    """

    def pack_training(self, X, estimator, vectorizer):
        return super().pack_training(_columns(X), estimator, vectorizer)

    def _packed(self, X, estimator):
        return super()._packed(_columns(X) if _is_list(X) else X, estimator)


PACKED = _Packed("packed", "is packed")
DICTS = InputFormat("dicts", "is a list of dicts", needs_vectorizer=True)
STRINGS = InputFormat("strings", "is a list of lists of str", needs_vectorizer=True)
ARRAYS = InputFormat("arrays", "holds rows of numbers")
SIGNALS = _Signals("signals", "is a 1-D array of floats")
TABLE = _Table("table", "holds numbers")
CUT_TABLE = _CutTable("table_with_lengths", "holds numbers")
_ALL = PACKED, DICTS, STRINGS, ARRAYS, SIGNALS, TABLE, CUT_TABLE
FORMATS = {found.name: found for found in _ALL}
# The formats of lists whose items are of plain types: what `type_of_items` returns.
_PLAIN = {item_type: FORMATS[name] for name, item_type in ITEM_TYPES.items()}
# The names of the formats that need a vectorizer.
VECTORIZED = tuple(name for name in FORMATS if FORMATS[name].needs_vectorizer)


def format_of(X, *, default=None):
    """Recognise the format of X: the first sequence that is not empty tells it.

    X is as `as_sequence_list` returns it. The code that reads X checks by `same_format`
    that the other sequences have the same format. If no sequence has an item, return
    `default` (in prediction, the format of the fit), or raise ValueError without one.
    Raise TypeError, with the sequence and the item, if the format is not known.

    >>> format_of([[{"word": "a"}, {"word": "b"}], []])
    <input format 'dicts'>
    >>> format_of([[1.0, 2.0], [3.0, 4.0]])
    <input format 'table'>
    """
    if isinstance(X, PackedSequences):
        return PACKED
    if _has_the_form_of_a_table(X):
        return TABLE
    if isinstance(X, np.ndarray) and X.dtype.kind in "USO":
        X = X.tolist()
    known = (found for _, found in same_format(X) if found is not None)
    first = next(known, default)
    if first is None:
        check_has_items(len(X), 0)
    if first is TABLE:
        # Its reader would not say which row is none, but same_format does.
        list(known)
    return first


def training_format(X, y):
    """Recognise the format of the X of a fit.

    A list of 1-D arrays is made of signals if y has label lists, and not one label for
    each row, alone or in a list as in a column of shape (n, 1).

    >>> training_format([[0.5, 2.0, 3.5], [1.5, 2.5]], [["A", "A", "B"], ["B", "B"]])
    <input format 'signals'>
    """
    found = format_of(X)
    has_rows = found is TABLE and _is_list(X) and not all(map(_is_number, X))
    return SIGNALS if has_rows and _has_label_lists(y) else found


def cut_table(X, lengths):
    """Return PackedSequences, of these lengths, of the rows of a table.

    Raise ValueError if X holds sequences, and as `PackedSequences.from_lengths` does.
    """
    found = format_of(X)
    if found is not TABLE:
        raise ValueError(
            f"{words().X} holds sequences ({found.name}), which have their lengths "
            "already; pass lengths= only beside one table with the rows of all "
            "sequences."
        )
    _check_rows(X)
    _warn_of_ids([X])
    return PackedSequences.from_lengths(X, lengths)


def not_cut():
    """Return the error for a table where sequences are needed."""
    return ValueError(
        f"{words().X} is one table, which does not say where a {words().sequence} "
        f"begins; pass a list of arrays, or PackedSequences.from_lengths({words().X}, "
        "lengths)."
    )


def is_table(X):
    """Return whether X is a table; no for what only a step of a pipeline may take."""
    try:
        return not format_of(X, default=DICTS).boundaries
    except TypeError:
        return False


def same_format(X, expected=None):
    """Yield each sequence of X with its format, None for an empty list.

    A sequence is yielded as `plain_column` returns it.

    Raise TypeError if a sequence has another format than the others, or than the
    sequences of the fit, whose format is `expected`.
    """
    of_fit = first = f"each {words().sequence} of fit"
    for index, sequence in enumerate(X):
        found = _PLAIN.get(type_of_items(sequence))
        if found is None:
            sequence = plain_column(sequence)
            found = format_of_sequence(sequence, index)
        if found is not None and expected is None:
            expected, first = found, numbered(index)
        if found not in (None, expected):
            cure = ""
            if first is of_fit and {found, expected} == {DICTS, STRINGS}:
                cure = f' A model of from_crfsuite takes input_format="{found.name}".'
            raise TypeError(
                f"{place('X', index)} {found.described}, but {first} "
                f"{expected.described}; all must have the same input format.{cure}"
            )
        yield sequence, found


def format_of_sequence(sequence, index):
    """Return the format of sequence number `index` of X, None for an empty list.

    Raise TypeError if it has none. The format of a row of numbers is TABLE. Only the
    first entry of each list of strings is looked at.
    """
    # A data frame has a shape, but no dtype of its own.
    code = getattr(getattr(sequence, "dtype", None), "kind", "f")
    n_axes = len(getattr(sequence, "shape", ()))
    if isinstance(sequence, (list, tuple)) or (n_axes == 1 and code == "O"):
        return _format_of_items(sequence, index)
    has_no_rows = sp.issparse(sequence) or isinstance(sequence, PackedSequences)
    is_row = n_axes == 1 and not has_no_rows
    if (n_axes == 2 or is_row) and code not in "USV":
        return ARRAYS if n_axes == 2 else TABLE
    is_text = isinstance(sequence, str) or code in "UT"
    raise TypeError(
        f"{place('X', index)} is {described(sequence)}; a {words().sequence} must be a "
        "list of dicts, a list of lists of str, a 2-D array or a sparse matrix "
        f"({ON_WORDS if is_text else _advice(sequence)})."
    )


def check_has_items(n_sequences, n_items):
    """Raise ValueError if the X of a fit has no items."""
    if not n_items:
        raise ValueError(
            f"{words().X} has {n_sequences} {words().sequence}s and 0 "
            f"{words().item}s; at least one {words().sequence} with one "
            f"{words().item} is required."
        )


def _has_the_form_of_a_table(X):
    if isinstance(X, (list, tuple)):
        # A list is no number: to ask an abstract class takes far longer.
        return len(X) > 0 and type(X[0]) is not list and all(map(_is_number, X))
    items = (Mapping, list, tuple, Set)
    if not isinstance(X, np.ndarray):
        if is_frame(X) and _holds_items(X, (*items, np.ndarray)):
            raise TypeError(
                f"{words().X} is a data frame with lists or dicts in it: pass the "
                f"column that holds the {words().sequence}s, of {columns_of(X)}. "
                "Of columns with words and their labels, text.read_corpus makes "
                "sequences."
            )
        return True
    if X.dtype.kind == "O":
        return X.ndim == 2 and not all(isinstance(cell, items) for cell in X.flat)
    return X.ndim <= 2 and X.dtype.kind not in "US"


def _holds_items(frame, items):
    types = getattr(frame, "dtypes", ())
    # Polars has types of columns of lists and dicts, but no objects for them.
    if any(getattr(dtype, "is_nested", bool)() for dtype in types):
        return True
    first_row = np.asarray(frame[:1], dtype=object)
    return any(isinstance(cell, items) for cell in first_row.flat)


def _format_of_items(sequence, index):
    first = None
    for t, item in enumerate(sequence):
        found = _format_of_item(item)
        if found is None or first not in (None, found):
            _check_is_no_graph(sequence, index)
        if found is None:
            advice = f"{ON_WORDS}; {_wrap()}" if isinstance(item, str) else _wrap()
            raise TypeError(
                f"{place('X', index, item=t)} is {described(item)}; "
                f"{with_article(words().item)} must be a dict or a list of str "
                f"({advice})."
            )
        if first is None:
            first = found
        elif found is not first:
            raise TypeError(
                f"{words().X} mixes input formats: {numbered(index)}, "
                f"{words().item} {t} is {described(item)}, but {words().item} 0 is "
                f"{described(sequence[0])}."
            )
    return first


def _check_is_no_graph(sequence, index):
    if is_graph(sequence):
        raise TypeError(
            f"{place('X', index)} is a tree or another graph, nodes and what joins "
            f"them, not a {words().sequence}. Pass it to a GraphCRF or TreeCRF as it "
            "is: they need no SequenceVectorizer. What takes sequences takes the nodes "
            "alone."
        )


def _format_of_item(item):
    """Return the format of a sequence that holds `item`, None if there is none."""
    if isinstance(item, Mapping):
        return DICTS
    if _is_number(item):
        return TABLE
    if hasattr(item, "__array__"):
        item = np.asarray(item)
        return ARRAYS if item.ndim == 1 and item.dtype.kind in "biuf" else None
    if isinstance(item, (list, tuple, Set)):
        first = next(iter(item), "")
        if isinstance(first, (str, bytes)):
            return STRINGS
        return ARRAYS if _is_number(first) else None
    return None


def _is_list(X):
    """Return whether X is a list, or an object array of one axis, of its sequences."""
    is_array = isinstance(X, np.ndarray) and X.dtype.kind == "O" and X.ndim == 1
    return is_array or isinstance(X, (list, tuple))


def _is_of_numbers(X):
    return isinstance(X, np.ndarray) and X.dtype.kind in "biufc"


def _has_label_lists(y):
    if not isinstance(y, (list, tuple)) and len(getattr(y, "shape", ())) != 1:
        return False
    return any(
        _is_label_list(labels) and len(labels) != 1 for labels in plain_column(y)
    )


def _is_label_list(labels):
    # A tuple may be a label, and a scalar of NumPy or of a tensor has the shape ().
    return isinstance(labels, list) or bool(getattr(labels, "shape", ()))


def _columns(X):
    """Return signals as arrays with one column; other sequences are left as they are.

    Raise TypeError if one of them holds integers, which may be numbers or ids.
    """
    return [_column(sequence, index) for index, sequence in enumerate(X)]


def _column(sequence, index):
    sequence = plain_column(sequence)
    found = format_of_sequence(sequence, index)
    if found is not TABLE:
        return sequence
    signal = unmasked(sequence, ("X", index))
    if len(signal) and signal.dtype.kind in "iu":
        raise TypeError(
            f"{place('X', index)} holds integers, item 0 is {signal[0]}. If they are "
            "ids of tokens, pass strings, [[str(id)] for id in sequence]; if they are "
            "the values of a signal, pass floats, np.asarray(sequence, dtype=float)."
        )
    return signal.reshape(-1, 1)


def _check_rows(X):
    """Raise ValueError if X is a list of rows of different lengths."""
    if not _is_list(X) or any(np.ndim(row) == 0 for row in X[:1]):
        return
    lengths = [len(row) if hasattr(row, "__len__") else 0 for row in X]
    i = next((i for i, n in enumerate(lengths) if n != lengths[0]), None)
    if i is not None:
        raise ValueError(
            f"{words().X}: row {i} has {lengths[i]} numbers, but row 0 has "
            f"{lengths[0]}; all rows of a table have the same number. If each is a "
            f"signal, a sequence of numbers, {words().y} must be a list of label lists."
        )


def _is_number(value):
    return isinstance(value, (numbers.Number, np.bool_))


def _warn_of_ids(X):
    """Warn if matrices have a single column of integers, of more than two values.

    They may be ids, which no weight can tell apart by its product with them.
    """
    columns = [np.asarray(x) for x in X if getattr(x, "ndim", 0) == 2]
    if not all(x.dtype.kind in "iu" and x.shape[1] == 1 for x in columns):
        return
    if len(np.unique(np.concatenate([*columns, np.zeros((0, 1), int)]))) > 2:
        warnings.warn(
            f"{words().X} has one column, of integers, which count as magnitudes. If "
            "they are ids, pass strings, [[str(id)] for id in sequence]; if they are "
            "magnitudes, pass floats.",
            UserWarning,
            stacklevel=2,
        )


def _pack_arrays(X, n_features=None):
    if n_features is None and _is_list(X):
        _warn_of_ids(X)
    sequences = (sequence for sequence, _ in same_format(X))
    return PackedSequences.from_sequences(sequences, n_features=n_features)


def _is_flat(y, data):
    """Return whether y is one array with the labels of all packed sequences."""
    is_flat = label_encoding.is_flat(y)
    if is_flat and len(y) != data.n_positions:
        raise ValueError(
            f"{words().X} has {data.n_positions} positions, but {words().y} has "
            f"{len(y)} labels: beside PackedSequences {words().y} is a list of label "
            "lists, or one array with the labels of all positions."
        )
    return is_flat


def _checked(X, estimator):
    """Return what `check_array` returns; an overflow becomes a ValueError."""
    try:
        return check_array(
            X,
            accept_sparse="csr",
            dtype=np.float64,
            order="C",
            estimator=estimator,
            input_name=words().X,
        )
    except OverflowError as error:
        raise ValueError(f"{words().X} must hold numbers: {error}") from error
    except ValueError as error:
        if not _holds_text(X):
            raise
        raise ValueError(f"{error} ({ON_WORDS}).") from error


def _holds_text(X):
    """Return whether a table that is no sparse matrix has a str in it."""
    cells = np.zeros(0) if sp.issparse(X) else np.asarray(X)
    if cells.dtype.kind == "O":
        return any(isinstance(cell, str) for cell in cells.flat)
    return cells.dtype.kind in "UT"


def _pack_rows(rows):
    """Return the rows of a table as sequences of one position."""
    return PackedSequences(rows, np.arange(rows.shape[0] + 1))
