"""Sequences of feature dicts or of lists of strings to numbered features.

``SequenceVectorizer`` owns what a feature dict means: which features an entry stands
for, their values, their names and their numbers.
"""

from array import array
from collections.abc import Mapping, Set
from decimal import Decimal
from itertools import count
from math import isfinite
from numbers import Integral, Real

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator, TransformerMixin, _fit_context
from sklearn.utils._param_validation import Interval, Options
from sklearn.utils.validation import check_is_fitted

from skcrf_sdca.data import PackedSequences
from skcrf_sdca.kinds import DICTS, STRINGS, check_container, sequence_kind

__all__ = ["SequenceVectorizer"]


class SequenceVectorizer(
    TransformerMixin,
    BaseEstimator,
    # The output is no table: there is nothing for set_output to wrap.
    auto_wrap_output_keys=None,
):
    """Turn sequences of feature dicts, or of lists of strings, into packed sequences.

    An entry ``key: value`` of a dict stands for these features:

    ============================== =====================================================
    value                          features
    ============================== =====================================================
    str                            ``key:value`` with value 1
    bool                           ``key`` with value 1 if True, none if False
    int, float, NumPy scalar,      ``key`` with this value, not scaled
    Decimal
    list, tuple or set of str      ``key:item`` with value 1 for each item
    dict                           its entries, with ``key:`` before their keys
    1-D array of numbers           ``key[0]``, ``key[1]``, ... with these values
    ============================== =====================================================

    An item that is a list, tuple or set of strings has each string as a feature with
    value 1. Values of a feature that occurs more than once at one position add up:
    ``["a", "a"]`` is the feature ``a`` with value 2. A value of zero makes no entry.
    In `transform`, features not seen in `fit` are ignored.

    Features are numbered in the order in which they are first seen; sets are sorted
    first, so that the numbers do not depend on the hash seed. Numbers, strings and
    arrays are looked up apart: ``{"a:b": 1}``, ``{"a": "b"}`` and ``{"a=b": 1}`` are
    three features, although the first two have the same name.

    Parameters
    ----------
    min_freq : int, default=1
        Keep a feature only if it is not zero at so many positions of the training data.
    dtype : {np.float64, np.float32}, default=np.float64
        Precision values are rounded to. They are stored in float64 in any case; with
        float32 they equal those of an array in single precision.

    Attributes
    ----------
    vocabulary_ : dict
        Numbers of the features in three dicts: ``"numeric"`` {key: number},
        ``"categorical"`` {key: {value: number}} and ``"vectors"`` {key: [numbers of the
        components]}, with -1 for a component that `min_freq` removed.
    n_features_out_ : int
        Number of features.
    input_kind_ : {"dicts", "strings"}
        What `fit` saw; `transform` takes the same.

    See Also
    --------
    sklearn.feature_extraction.DictVectorizer : The same for dicts without sequences.

    Examples
    --------
    >>> from skcrf_sdca.features import SequenceVectorizer
    >>> X = [[{"word": "the", "capital": False}, {"word": "Dog", "capital": True}],
    ...      [{"word": "Dog", "length": 3.0}]]
    >>> vectorizer = SequenceVectorizer()
    >>> packed = vectorizer.fit_transform(X)
    >>> packed
    PackedSequences(n_sequences=2, n_positions=3, n_features=4, sparse)
    >>> vectorizer.get_feature_names_out()
    array(['word:the', 'word:Dog', 'capital', 'length'], dtype=object)
    >>> packed.X.toarray()
    array([[1., 0., 0., 0.],
           [0., 1., 1., 0.],
           [0., 1., 0., 3.]])
    """

    _parameter_constraints = {
        "min_freq": [Interval(Integral, 1, None, closed="left")],
        "dtype": [Options(type, {np.float64, np.float32})],
    }

    def __init__(self, *, min_freq=1, dtype=np.float64):
        self.min_freq = min_freq
        self.dtype = dtype

    def fit(self, X, y=None):
        """Learn the features of `X`.

        Parameters
        ----------
        X : iterable of sequences
            Each a list of dicts, or each a list of lists (tuples, sets) of str.
            A generator is read once.
        y : None
            Ignored.

        Returns
        -------
        self : SequenceVectorizer
            Fitted vectorizer.

        Raises
        ------
        TypeError
            If `X` is not of this form, with the place.
        ValueError
            If `X` has no items, or a value is NaN or infinite.

        Examples
        --------
        >>> from skcrf_sdca.features import SequenceVectorizer
        >>> SequenceVectorizer().fit([[["a", "b"], ["b"]]]).vocabulary_["numeric"]
        {'a': 0, 'b': 1}
        """
        self.fit_transform(X)
        return self

    @_fit_context(prefer_skip_nested_validation=True)
    def fit_transform(self, X, y=None):
        """Learn the features of `X` and return it packed, in one pass.

        Parameters
        ----------
        X : iterable of sequences
            As for `fit`.
        y : None
            Ignored.

        Returns
        -------
        PackedSequences
            Sparse, with `n_features_out_` features.

        Raises
        ------
        TypeError, ValueError
            As `fit`.

        Examples
        --------
        >>> from skcrf_sdca.features import SequenceVectorizer
        >>> SequenceVectorizer().fit_transform([[["a", "b"], ["b"]]])
        PackedSequences(n_sequences=1, n_positions=2, n_features=2, sparse)
        """
        counter = count()
        vocabulary = {
            "numeric": _GrowingTable(counter),
            "categorical": _GrowingTables(counter),
            "vectors": {},
        }
        encoder = _Encoder(vocabulary, counter)
        encoder.add_sequences(X)
        if encoder.kind is None:
            raise ValueError(
                f"X has {len(encoder.offsets) - 1} sequences and 0 items; "
                "at least one sequence with one item is required."
            )
        rows = encoder.rows(next(counter), self.dtype)
        frequency = np.bincount(rows.indices, minlength=rows.shape[1])
        keep = frequency >= self.min_freq
        if not keep.all():
            rows = rows[:, np.flatnonzero(keep)]
        packed = PackedSequences(rows, encoder.offsets)
        self.vocabulary_ = _plain_vocabulary(vocabulary, keep)
        self.n_features_out_ = packed.n_features
        self.input_kind_ = encoder.kind
        return packed

    def transform(self, X):
        """Return `X` packed, with the features seen in `fit`.

        Parameters
        ----------
        X : iterable of sequences
            Of the kind seen in `fit`. May be empty.

        Returns
        -------
        PackedSequences
            Sparse, with `n_features_out_` features.

        Raises
        ------
        TypeError, ValueError
            As `fit`, and TypeError if `X` is not of the kind seen in `fit`.

        Examples
        --------
        >>> from skcrf_sdca.features import SequenceVectorizer
        >>> vectorizer = SequenceVectorizer().fit([[["a", "b"], ["b"]]])
        >>> vectorizer.transform([[["b", "unseen"]]]).X.toarray()
        array([[0., 1.]])
        """
        check_is_fitted(self)
        encoder = _Encoder(self.vocabulary_, kind=self.input_kind_)
        encoder.add_sequences(X)
        rows = encoder.rows(self.n_features_out_, self.dtype)
        return PackedSequences(rows, encoder.offsets)

    def get_feature_names_out(self, input_features=None):
        """Return the names of the features, in the order of their numbers.

        Parameters
        ----------
        input_features : None
            Ignored.

        Returns
        -------
        ndarray of object of shape (n_features_out_,)
            Names for display: two features can have the same.

        Examples
        --------
        >>> import numpy as np
        >>> from skcrf_sdca.features import SequenceVectorizer
        >>> X = [[{"word": "a", "shape": ["x", "short"], "vector": np.array([0.5, 2])}]]
        >>> SequenceVectorizer().fit(X).get_feature_names_out().tolist()
        ['word:a', 'shape:x', 'shape:short', 'vector[0]', 'vector[1]']
        """
        check_is_fitted(self)
        names = np.empty(self.n_features_out_, dtype=object)
        for key, number in self.vocabulary_["numeric"].items():
            names[number] = key
        for key, numbers in self.vocabulary_["categorical"].items():
            for value, number in numbers.items():
                names[number] = f"{key}:{value}"
        for key, numbers in self.vocabulary_["vectors"].items():
            for component, number in enumerate(numbers):
                if number >= 0:
                    names[number] = f"{key}[{component}]"
        return names

    def __sklearn_tags__(self):
        """Tell scikit-learn that the input is dicts or strings, not a table."""
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array = False
        tags.input_tags.dict = True
        tags.input_tags.string = True
        return tags


class _GrowingTable(dict):
    """{name: number} that gives an unseen name the next number."""

    def __init__(self, counter):
        self.counter = counter

    def __missing__(self, name):
        number = self[_plain(name)] = next(self.counter)
        return number


class _GrowingTables(dict):
    """{key: growing table} that starts a table for an unseen key."""

    def __init__(self, counter):
        self.counter = counter

    def __missing__(self, key):
        table = self[_plain(key)] = _GrowingTable(self.counter)
        return table


class _Encoder:
    """One pass over sequences: numbers and values of the features of each position.

    The tables of the vocabulary either grow or raise KeyError for an unseen feature,
    which is then left out. Most values are one, so only the others are stored:
    ``values[i]`` is the value of ``indices[entries[i]]``.
    """

    def __init__(self, vocabulary, counter=None, *, kind=None):
        self.numeric = vocabulary["numeric"]
        self.categorical = vocabulary["categorical"]
        self.vectors = vocabulary["vectors"]
        self.counter = counter
        self.kind = kind
        self.indices = array("i")
        self.entries = array("q")
        self.values = array("d")
        self.indptr = array("q", [0])
        self.offsets = array("q", [0])

    def add_sequences(self, X):
        check_container(X)
        for index, sequence in enumerate(X):
            kind = sequence_kind(sequence, index)
            if kind is not None:
                self._check_kind(kind, index)
                self._add_sequence(sequence, index)
            self.offsets.append(len(self.indptr) - 1)

    def rows(self, n_features, dtype):
        indices = np.array(self.indices, dtype=np.int32)
        data = np.ones(len(indices))
        values = np.array(self.values, dtype=np.float64)
        with np.errstate(over="ignore"):
            data[np.array(self.entries, dtype=np.intp)] = values.astype(dtype)
        indptr = np.array(self.indptr, dtype=np.int64)
        shape = (len(indptr) - 1, n_features)
        rows = sp.csr_array((data, indices, indptr), shape=shape)
        rows.sum_duplicates()
        rows.eliminate_zeros()
        return rows

    def _check_kind(self, kind, index):
        if kind not in _ITEMS:
            raise TypeError(
                f"X: sequence {index} holds numbers; SequenceVectorizer takes "
                "sequences of dicts or of lists of str."
            )
        if self.kind is None:
            self.kind = kind
        if kind != self.kind:
            seen = "the data seen in fit" if self.counter is None else "those before"
            raise TypeError(
                f"X: sequence {index} is a list of {_ITEMS[kind]}, but {seen} had "
                f"{_ITEMS[self.kind]}."
            )

    def _add_sequence(self, sequence, index):
        add = self._add_dict if self.kind == DICTS else self._add_strings
        for position, item in enumerate(sequence):
            try:
                add(item)
            except (TypeError, ValueError, OverflowError, RecursionError) as error:
                kind = TypeError if isinstance(error, TypeError) else ValueError
                place = f"X: sequence {index}, item {position}"
                raise kind(f"{place}: {error}") from error
            self.indptr.append(len(self.indices))

    def _add_strings(self, names):
        numeric, append = self.numeric, self.indices.append
        for name in _in_order(names):
            try:
                append(numeric[name])
            except (KeyError, TypeError):
                # Not seen in fit, or not even a str.
                _plain(name)

    def _add_dict(self, item):
        numeric, categorical = self.numeric, self.categorical
        append = self.indices.append
        for key, value in item.items():
            kind = type(value)
            try:
                if kind is str:
                    append(categorical[key][value])
                elif value is True:
                    append(numeric[key])
                elif value is False:
                    _plain(key)
                elif kind is float or kind is int:
                    self._add_number(key, value)
                else:
                    self._add_other(_plain(key), value)
            except KeyError:
                # Not seen in fit, or not even a str.
                _plain(key)

    def _add_number(self, key, value):
        try:
            finite = isfinite(value)
        except OverflowError as error:
            raise ValueError(f"feature {key!r}: {error}") from error
        if not finite:
            name = "NaN" if value != value else "infinity"
            raise ValueError(f"feature {key!r} is {name}; leave it out instead.")
        if value == 0:
            _plain(key)
        else:
            self._add_entry(self.numeric[key], value)

    def _add_entry(self, number, value):
        if value != 1:
            self.entries.append(len(self.indices))
            self.values.append(value)
        self.indices.append(number)

    def _add_other(self, key, value):
        if isinstance(value, str):
            self._add_dict({key: _plain(value)})
        elif isinstance(value, (np.bool_, Real, Decimal)):
            self._add_number(key, float(value))
        elif isinstance(value, Mapping):
            entries = {f"{key}:{_plain(name)}": inner for name, inner in value.items()}
            self._add_dict(entries)
        elif isinstance(value, np.ndarray):
            self._add_vector(key, value)
        elif isinstance(value, (list, tuple, Set)):
            try:
                names = [_plain(name) for name in _in_order(value)]
            except TypeError as error:
                raise TypeError(f"feature {key!r}: {error}") from error
            for name in names:
                self._add_dict({key: name})
        else:
            raise TypeError(
                f"feature {key!r} has a value of type {type(value).__name__}; it must "
                "be a str, number, bool, dict, 1-D array, or list of str."
            )

    def _add_vector(self, key, value):
        if value.ndim != 1 or value.dtype.kind not in "biuf":
            raise TypeError(
                f"feature {key!r} is an array of shape {value.shape} and dtype "
                f"{value.dtype}; it must be one-dimensional, of numbers."
            )
        finite = np.isfinite(value)
        if not finite.all():
            component = int(np.argmin(finite))
            name = "NaN" if np.isnan(value[component]) else "infinity"
            raise ValueError(f"feature '{key}[{component}]' is {name}.")
        if key not in self.vectors:
            if self.counter is None:
                return
            self.vectors[key] = [next(self.counter) for _ in value]
        numbers = self.vectors[key]
        if len(numbers) != len(value):
            raise ValueError(
                f"feature {key!r} is an array of {len(value)} values, but had "
                f"{len(numbers)} where fit saw it first."
            )
        for number, component in zip(numbers, value.tolist(), strict=True):
            if number >= 0:
                self._add_entry(number, component)


_ITEMS = {DICTS: "dicts", STRINGS: "lists of str"}


def _plain(name):
    """Return the name of a feature as a plain str, without what a subclass adds."""
    if not isinstance(name, str):
        raise TypeError(
            f"{name!r:.40} is of type {type(name).__name__}; names of features and "
            "strings in a list must be str."
        )
    return str.__str__(name)


def _in_order(names):
    """Return `names`, sorted if it is a set: its own order changes between runs."""
    return sorted(map(_plain, names)) if isinstance(names, Set) else names


def _plain_vocabulary(vocabulary, keep):
    """Return plain dicts of the features to keep, numbered anew in their order."""
    numbers = np.where(keep, np.cumsum(keep) - 1, -1).tolist()

    def kept(table):
        return {name: numbers[i] for name, i in table.items() if numbers[i] >= 0}

    categorical = {k: kept(table) for k, table in vocabulary["categorical"].items()}
    vectors = vocabulary["vectors"].items()
    return {
        "numeric": kept(vocabulary["numeric"]),
        "categorical": {key: table for key, table in categorical.items() if table},
        "vectors": {key: [numbers[i] for i in block] for key, block in vectors},
    }
