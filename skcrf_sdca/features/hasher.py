"""Hashing of feature dicts, or of lists of strings, to columns, without a vocabulary.

`SequenceVectorizer` defines which features an item has, and hashing.py the column and
the sign of a name, which are those of scikit-learn's `FeatureHasher`.
"""

from numbers import Integral

import numpy as np
import scipy.sparse as sp

from skcrf_sdca._kernels.features._encoder import Encoder, Lookup
from skcrf_sdca._utils.sklearn_private import Interval
from skcrf_sdca._utils.typing import Sequences
from skcrf_sdca.data.packed import PackedSequences
from skcrf_sdca.features.hashing import hashed_columns
from skcrf_sdca.features.transformer import StatelessTransformer
from skcrf_sdca.features.vectorizer import encode, encoded_rows
from skcrf_sdca.features.vocabulary import vocabulary_names

__all__ = ["SequenceHasher"]


class SequenceHasher(StatelessTransformer):
    """Turn sequences of feature dicts, or of lists of strings, into hashed columns.

    An item has the features that it has for `SequenceVectorizer`. The hash of the name
    of a feature is its column. Thus a stream needs no vocabulary, and the number of
    features never changes; but a column has no name, and several features may share
    one. Names are hashed with a sign, as scikit-learn does it, so that features which
    share a column cancel out rather than add up.

    Parameters
    ----------
    n_features : int, default=2**20
        Number of columns. A model has n_features weights of 8 bytes for each label, and
        as many for its average.
    alternate_sign : bool, default=True
        Whether half of the features have the sign -1.

    See Also
    --------
    SequenceVectorizer : Gives each feature a column of its own.
    sklearn.feature_extraction.FeatureHasher : The same for items without sequences.

    Notes
    -----
    `transform` keeps the names of one call while it lasts: pass a long stream in
    chunks. Features with equal names, such as ``{"a:b": 1}`` and ``{"a": "b"}``, are
    the same here.

    Examples
    --------
    >>> from skcrf_sdca import PassiveAggressiveCRF, SequenceHasher
    >>> hasher = SequenceHasher(n_features=2**10)
    >>> hasher.transform([[{"word": "the"}, {"word": "dog"}]])
    PackedSequences(n_sequences=1, n_positions=2, n_features=1024, sparse)
    >>> crf = PassiveAggressiveCRF()
    >>> for X, y in [([[["the"], ["dog"]]], [["DET", "NOUN"]])]:
    ...     crf = crf.partial_fit(hasher.transform(X), y)
    """

    _parameter_constraints = {
        "n_features": [Interval(Integral, 1, np.iinfo(np.int32).max, closed="both")],
        "alternate_sign": ["boolean"],
    }

    def __init__(self, n_features: int = 2**20, *, alternate_sign: bool = True) -> None:
        self.n_features = n_features
        self.alternate_sign = alternate_sign

    partial_fit = StatelessTransformer.fit

    def transform(self, X: Sequences) -> PackedSequences:
        """Return `X` packed.

        Parameters
        ----------
        X : iterable of sequences
            All sequences are lists of dicts, or all are lists of lists (tuples, sets)
            of str. May be empty.

        Returns
        -------
        PackedSequences
            Sparse, with `n_features` features, which have no names.

        Raises
        ------
        TypeError
            If `X` is not of this form; the message names the sequence and the item.
        ValueError
            If a value is NaN or infinite, or a name is no valid Unicode.
        """
        self._validate_params()
        lookup = Lookup.empty()
        encoder = Encoder(lookup, grows=True, dtype=np.float64)
        _, offsets = encode(X, encoder, taker="SequenceHasher")
        rows = encoded_rows(encoder, encoder.n_features).csr()
        columns = self._columns(vocabulary_names(lookup.vocabulary, rows.shape[1]))
        # A product takes memory for each of its columns: those without a name go first.
        used, place = np.unique(columns.indices, return_inverse=True)
        shape = columns.shape[0], len(used)
        hashed = rows @ sp.csr_array((columns.data, place, columns.indptr), shape)
        arrays = hashed.data, used[hashed.indices], hashed.indptr
        hashed = sp.csr_array(arrays, (rows.shape[0], self.n_features))
        hashed.eliminate_zeros()
        return PackedSequences(hashed, offsets)

    def _columns(self, names):
        """Return the column and the sign of each name, a row of a sparse array."""
        options = self.n_features, self.alternate_sign
        columns, signs = hashed_columns(names.tolist(), *options)
        bounds = np.arange(len(names) + 1)
        return sp.csr_array((signs, columns, bounds), (len(names), self.n_features))
