"""Conversion of feature dicts, or of lists of strings, into numbered features.

``SequenceVectorizer`` keeps the vocabulary: the names and the numbers of the features.
The kernel that reads dicts defines which features an entry stands for.
"""

from array import array
from dataclasses import KW_ONLY, field
from numbers import Integral
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from skcrf_sdca._kernels.features._encoder import ITEM_TYPES, Encoder, Lookup
from skcrf_sdca._utils.checked_parameters import Choices
from skcrf_sdca._utils.constructors import constructed
from skcrf_sdca._utils.messages import required_attribute
from skcrf_sdca._utils.sklearn_private import Interval, Options, validates_parameters
from skcrf_sdca._utils.typing import Sequences
from skcrf_sdca._utils.words import place, words
from skcrf_sdca.data.containers import check_container
from skcrf_sdca.data.feature_names import FeatureNames
from skcrf_sdca.data.input_formats import (
    DICTS,
    FORMATS,
    STRINGS,
    VECTORIZED,
    check_has_items,
    same_format,
)
from skcrf_sdca.data.packed import PackedSequences
from skcrf_sdca.data.rows import EncodedRows
from skcrf_sdca.features.transformer import ItemTransformer
from skcrf_sdca.features.vocabulary import (
    check_tables,
    shorten_vocabulary,
    vocabulary_names,
)

__all__ = ["SequenceVectorizer"]


@constructed
class SequenceVectorizer(ItemTransformer):
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

    If an item is a list, tuple or set of strings, each string is a feature with value
    1. If a feature occurs more than once at one position, its values add up:
    ``["a", "a"]`` is the feature ``a`` with value 2. Zeros are not stored. In
    `transform`, features not seen in `fit` are ignored.

    Bytes in the place of a str, also as a key, are its text in UTF-8.

    Features are numbered in the order in which they are first seen. Sets are sorted
    first, so that the numbers do not depend on the hash seed. Numbers, strings and
    arrays have separate tables: ``{"a:b": 1}``, ``{"a": "b"}`` and ``{"a=b": 1}`` are
    three features, although the first two have the same name.

    Parameters
    ----------
    min_freq : int, default=1
        Keep a feature only if it is not zero at min_freq or more positions of the
        training data.
    dtype : {"float64", "float32"} or np.float64, np.float32, default="float64"
        Precision that values are rounded to. They are always stored in float64; with
        float32 they equal the values of an array in single precision.

    Attributes
    ----------
    vocabulary_ : dict
        Numbers of the features in three dicts: ``"numeric"`` {key: number},
        ``"categorical"`` {key: {value: number}} and ``"vectors"`` {key: [numbers of the
        components]}, with -1 for a component that `min_freq` removed.
    n_features_out_ : int
        Number of features.
    input_format_ : {"dicts", "strings"}
        Input format of the data seen in `fit`; `transform` takes the same.

    See Also
    --------
    sklearn.feature_extraction.DictVectorizer : The same for dicts without sequences.

    Examples
    --------
    >>> from skcrf_sdca.features.vectorizer import SequenceVectorizer
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

    _: KW_ONLY
    min_freq: int = 1
    dtype: Literal["float64", "float32"] | type[np.float64] | type[np.float32] = (
        "float64"
    )
    n_features_out_: int = field(init=False)
    input_format_: str = field(init=False)

    _parameter_constraints = {
        "min_freq": [Interval(Integral, 1, None, closed="left")],
        "dtype": [
            Choices({"float64", "float32"}),
            Options(type, {np.float64, np.float32}),
        ],
    }

    def fit(self, X: Sequences, y: object = None) -> Self:
        """Learn the features of `X`.

        Parameters
        ----------
        X : iterable of sequences
            All sequences are lists of dicts, or all are lists of lists (tuples, sets)
            of str. A generator is read once.
        y : None
            Ignored.

        Returns
        -------
        self : SequenceVectorizer

        Raises
        ------
        TypeError
            If `X` is not of this form; the message names the sequence and the item.
        ValueError
            If `X` has no items, a value is NaN or infinite, or dicts are nested more
            than 1000 deep.
        """
        self.fit_transform(X)
        return self

    @validates_parameters
    def fit_transform(self, X: Sequences, y: object = None) -> PackedSequences:
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
            Sparse, with `n_features_out_` features and their names.

        Raises
        ------
        TypeError, ValueError
            As `fit`.
        """
        lookup = Lookup.empty()
        encoder = Encoder(lookup, grows=True, dtype=_precision(self))
        input_format, offsets = encode(X, encoder)
        check_has_items(len(offsets) - 1, offsets[-1])
        rows = encoded_rows(encoder, encoder.n_features)
        if self.min_freq > 1 or encoder.has_zeros:
            rows = rows.csr()
            frequency = np.bincount(rows.indices, minlength=rows.shape[1])
            keep = frequency >= self.min_freq
            if not keep.all():
                rows = rows[:, np.flatnonzero(keep)]
                lookup = _kept(lookup, keep)
        packed = _packed(rows, offsets, lookup)
        self._set_fitted(lookup, packed.n_features, input_format.name)
        return packed

    @validates_parameters
    def partial_fit(self, X: Sequences, y: object = None) -> Self:
        """Learn the features of one more chunk of a stream.

        Features seen before keep their numbers, and new ones get the next. The chunks
        of a stream give the same numbers as `fit` on all of it, but that `fit` drops
        features that are always zero, such as components of arrays.

        Parameters
        ----------
        X : iterable of sequences
            As for `fit`, in the input format of the chunks before.
        y : None
            Ignored.

        Returns
        -------
        self : SequenceVectorizer

        Raises
        ------
        TypeError, ValueError
            As `fit`, and ValueError if `min_freq` is above 1: the rare features of a
            stream are known at its end only. The vectorizer is then as before.

        Examples
        --------
        >>> from skcrf_sdca.features.vectorizer import SequenceVectorizer
        >>> vectorizer = SequenceVectorizer().partial_fit([[["a", "b"], ["b"]]])
        >>> vectorizer.partial_fit([[["b", "c"]]]).get_feature_names_out()
        array(['a', 'b', 'c'], dtype=object)
        """
        grow(self, X)
        return self

    def transform(self, X: Sequences) -> PackedSequences:
        """Return `X` packed, with the features seen in `fit`.

        Parameters
        ----------
        X : iterable of sequences
            In the input format seen in `fit`. May be empty.

        Returns
        -------
        PackedSequences
            Sparse, with `n_features_out_` features and their names.

        Raises
        ------
        TypeError, ValueError
            As `fit`, and TypeError if `X` has another input format than in `fit`.

        Examples
        --------
        >>> from skcrf_sdca.features.vectorizer import SequenceVectorizer
        >>> vectorizer = SequenceVectorizer().fit([[["a", "b"], ["b"]]])
        >>> vectorizer.transform([[["b", "unseen"]]]).X.toarray()
        array([[0., 1.]])
        """
        # scikit-learn's check takes longer than to read a sentence.
        if "_lookup" not in vars(self):
            check_is_fitted(self)
        encoder = Encoder(self._lookup, grows=False, dtype=_precision(self))
        _, offsets = encode(X, encoder, FORMATS[self.input_format_])
        rows = encoded_rows(encoder, self.n_features_out_)
        return _packed(rows, offsets, self._lookup)

    @property
    def vocabulary_(self) -> dict[str, Any]:
        """The numbers of the features, computed lazily from the tables."""
        if "_lookup" not in vars(self):
            raise AttributeError(
                "vocabulary_ is known after fit: call fit, or assign one."
            )
        return self._lookup.vocabulary

    @vocabulary_.setter
    def vocabulary_(self, vocabulary: dict[str, Any] | Lookup) -> None:
        if not isinstance(vocabulary, Lookup):
            vocabulary = Lookup(vocabulary)
        self._lookup = vocabulary

    @vocabulary_.deleter
    def vocabulary_(self) -> None:
        del self._lookup

    def get_feature_names_out(
        self, input_features: object = None
    ) -> NDArray[np.object_]:
        """Return the names of the features, in the order of their numbers.

        Parameters
        ----------
        input_features : None
            Ignored.

        Returns
        -------
        names : ndarray of object of shape (n_features_out_,)
            Names for display: two features can have the same name.

        Examples
        --------
        >>> import numpy as np
        >>> from skcrf_sdca.features.vectorizer import SequenceVectorizer
        >>> X = [[{"word": "a", "shape": ["x", "short"], "vector": np.array([0.5, 2])}]]
        >>> SequenceVectorizer().fit(X).get_feature_names_out().tolist()
        ['word:a', 'shape:x', 'shape:short', 'vector[0]', 'vector[1]']
        """
        check_is_fitted(self)
        return vocabulary_names(self.vocabulary_, self.n_features_out_)

    def restrict(self, support: ArrayLike) -> Self:
        """Keep only some of the features.

        Parameters
        ----------
        support : array-like of bool of shape (n_features_out_,)
            Which features to keep, for example those for which a model has weights.

        Returns
        -------
        self : SequenceVectorizer
            The same vectorizer. The kept features are renumbered in their order.

        Raises
        ------
        ValueError
            If `support` has another shape.

        Examples
        --------
        >>> from skcrf_sdca.features.vectorizer import SequenceVectorizer
        >>> vectorizer = SequenceVectorizer().fit([[["a", "b"], ["c"]]])
        >>> vectorizer.restrict([True, False, True]).get_feature_names_out()
        array(['a', 'c'], dtype=object)
        """
        check_is_fitted(self)
        keep = np.asarray(support, dtype=bool)
        if keep.shape != (self.n_features_out_,):
            raise ValueError(
                f"support has shape {keep.shape}, but there are "
                f"{self.n_features_out_} features."
            )
        lookup = _kept(self._lookup, keep)
        self._set_fitted(lookup, int(keep.sum()), self.input_format_)
        return self

    def __getstate__(self):
        """Return the attributes, with the vocabulary for the lookup."""
        state = dict(super().__getstate__())
        if state.pop("_lookup", None) is not None:
            state["vocabulary_"] = self.vocabulary_
        return state

    def __setstate__(self, state):
        """Set the attributes; raise ValueError if they contradict each other."""
        state = dict(state)
        fitted = "vocabulary_" in state
        vocabulary = state.pop("vocabulary_", None)
        super().__setstate__(state)
        if fitted:
            self.vocabulary_ = vocabulary
            check_vocabulary(self)

    def _set_fitted(self, lookup, n_features, input_format):
        self._lookup = lookup
        self.n_features_out_ = n_features
        self.input_format_ = input_format


def reading_of(vectorizer):
    """Return how a fitted vectorizer reads items, as `SequenceTagger` takes it.

    Items that are not plain, and vocabularies that have grown, are left to `transform`.
    """
    item_type = ITEM_TYPES[vectorizer.input_format_]
    return vectorizer._lookup, item_type, _precision(vectorizer), _not_plain


def _not_plain(sequence):
    raise TypeError("the items are not plain dicts, or lists of str")


def _precision(vectorizer):
    """Return the type of NumPy that values are rounded to."""
    return np.dtype(vectorizer.dtype).type


def grow(vectorizer, X):
    """Let a vectorizer learn the features of `X`, after those known; return X packed.

    The errors are as in `SequenceVectorizer.partial_fit`.
    """
    if vectorizer.min_freq > 1:
        raise ValueError(
            f"partial_fit needs min_freq=1, got {vectorizer.min_freq}: which features "
            "of a stream are rare is known at its end only. Set min_freq=1, or take a "
            "SequenceHasher."
        )
    lookup, n_before, expected = Lookup.empty(), 0, None
    if "_lookup" in vars(vectorizer):
        lookup, n_before = vectorizer._lookup, vectorizer.n_features_out_
        expected = FORMATS[vectorizer.input_format_]
    encoder = Encoder(
        lookup, grows=True, dtype=_precision(vectorizer), n_features=n_before
    )
    try:
        input_format, offsets = encode(X, encoder, expected)
        check_has_items(len(offsets) - 1, offsets[-1])
        rows = encoded_rows(encoder, encoder.n_features)
    except BaseException:
        if expected is not None:
            forget_from(vectorizer, n_before)
        raise
    vectorizer._set_fitted(lookup, encoder.n_features, input_format.name)
    return _packed(rows, offsets, lookup)


def copied(vectorizer):
    """Return a vectorizer of the same features that learns apart from this one."""
    other, n_features = clone(vectorizer), vectorizer.n_features_out_
    lookup = _kept(vectorizer._lookup, np.ones(n_features, dtype=bool))
    other._set_fitted(lookup, n_features, vectorizer.input_format_)
    return other


def forget_from(vectorizer, n_features):
    """Let a vectorizer forget all features but the first, which `grow` added to."""
    shorten_vocabulary(vectorizer.vocabulary_, n_features)
    lookup = Lookup(vectorizer.vocabulary_)
    vectorizer._set_fitted(lookup, n_features, vectorizer.input_format_)


_ADD = {DICTS: Encoder.add_dicts, STRINGS: Encoder.add_strings}


def encode(X, encoder, expected=None, *, taker="SequenceVectorizer"):
    """Add `X` to an encoder; return its format and the first row of each sequence.

    `expected` is the format of the data seen in fit, None if this is fit; `taker` is
    the type that takes X, for messages.
    """
    check_container(X)
    offsets = array("q", [0])
    for index, (sequence, found) in enumerate(same_format(X, expected)):
        if found is not None:
            expected = found
            _add_sequence(sequence, index, encoder, found, taker)
        offsets.append(encoder.n_rows)
    return expected, offsets


def _add_sequence(sequence, index, encoder, found, taker):
    if found not in _ADD:
        raise TypeError(
            f"{place('X', index)} {found.described}; {taker} takes {words().sequence}s "
            "of dicts or of lists of str."
        )
    first = encoder.n_rows
    try:
        _ADD[found](encoder, sequence)
    except (TypeError, ValueError, OverflowError, RecursionError) as error:
        wrapper = TypeError if isinstance(error, TypeError) else ValueError
        where = place("X", index, item=encoder.n_rows - first)
        raise wrapper(f"{where}: {error}") from error


def encoded_rows(encoder, n_features):
    """Take the EncodedRows of an encoder."""
    is_right = encoder.has_right_rows(n_features)
    data, indices, indptr = encoder.take_rows()
    return EncodedRows(data, indices, indptr, (len(indptr) - 1, n_features), is_right)


def _packed(rows, offsets, lookup):
    n_features = rows.shape[1]
    names = FeatureNames(n_features, vocabulary_names, lookup, n_features)
    return PackedSequences(rows, offsets, feature_names=names)


def _kept(lookup, keep):
    """Return the lookup of the features to keep, renumbered in their order."""
    return lookup.renumbered(np.where(keep, np.cumsum(keep) - 1, -1).astype(np.int32))


def check_vocabulary(vectorizer, *, complete=False):
    """Raise ValueError if the fitted attributes of a vectorizer are inconsistent.

    ``complete`` is as for `check_tables`.
    """
    input_format = required_attribute(vectorizer, "input_format_")
    if input_format not in VECTORIZED:
        raise ValueError(f"input_format_ must be one of {VECTORIZED}.")
    check_tables(
        required_attribute(vectorizer, "vocabulary_"),
        required_attribute(vectorizer, "n_features_out_"),
        complete=complete,
    )
