"""Several feature types for the same sequences: words, embeddings, hashes.

``SequenceUnion`` concatenates the rows that several transformers return.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import KW_ONLY, field
from numbers import Real
from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from joblib import Parallel, delayed
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.pipeline import FeatureUnion
from sklearn.preprocessing import FunctionTransformer
from sklearn.utils import Bunch
from sklearn.utils.metadata_routing import MetadataRouter, process_routing
from sklearn.utils.validation import check_is_fitted

from skcrf_sdca._utils.availability import available_if
from skcrf_sdca._utils.constructors import constructed
from skcrf_sdca._utils.given_estimators import check_given
from skcrf_sdca._utils.messages import described
from skcrf_sdca._utils.sklearn_private import BaseComposition, raise_for_params
from skcrf_sdca._utils.typing import Labels
from skcrf_sdca._utils.words import place, words
from skcrf_sdca.data.containers import is_frame
from skcrf_sdca.data.feature_names import FeatureNames
from skcrf_sdca.data.packed import PackedSequences
from skcrf_sdca.data.sequence_lists import as_sequence_list
from skcrf_sdca.features.per_token import PerToken, fit_transform, metadata_of_fit
from skcrf_sdca.features.transformer import SequenceTransformer

__all__ = ["SequenceUnion"]


@constructed
class SequenceUnion(SequenceTransformer, BaseComposition):
    """Concatenate the features that several transformers make of sequences.

    It is the FeatureUnion and the ColumnTransformer of scikit-learn for sequences. Each
    transformer gets X or a part of X. If each sequence is a pair ``(words, vectors)``,
    for example, then part 0 is the list of the words of all sequences.

    Parameters
    ----------
    transformers : list of tuples
        ``(name, transformer)`` or ``(name, transformer, part)``. The transformer
        returns PackedSequences, as `SequenceVectorizer` and `PerToken` do, or is "drop"
        (no features) or "passthrough" (arrays unchanged). Its input is the part
        ``[sequence[part] for sequence in X]``, or the column ``X[part]`` if X is a data
        frame with a row for each sequence, or, without a part, X itself.
    n_jobs : int, default=None
        Number of transformers to run at the same time.
    transformer_weights : dict, default=None
        ``{name: factor}`` by which the features of a transformer are multiplied. A
        factor c divides the regularisation of their weights by c^2.

    Attributes
    ----------
    transformers_ : list of tuples
        `transformers` with the fitted transformers.
    named_transformers_ : Bunch
        The fitted transformers by name.

    See Also
    --------
    PerToken : Applies a transformer of scikit-learn to all items.

    Notes
    -----
    The union is sparse if one of the transformers returns sparse features. Each number
    of a dense block then takes 12 bytes instead of 8. Sparse blocks are never made
    dense.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.preprocessing import StandardScaler
    >>> from skcrf_sdca import PerToken, SequenceUnion, SequenceVectorizer
    >>> words = [[{"word": "the"}, {"word": "cat"}], [{"word": "dogs"}]]
    >>> vectors = [np.array([[0.1, 0.2], [0.3, 0.5]]), np.array([[0.2, 0.9]])]
    >>> union = SequenceUnion([
    ...     ("words", SequenceVectorizer(), 0),
    ...     ("vectors", PerToken(StandardScaler()), 1),
    ... ])
    >>> union.fit_transform(list(zip(words, vectors)))
    PackedSequences(n_sequences=2, n_positions=3, n_features=5, sparse)
    >>> union.get_feature_names_out().tolist()
    ['words__word:the', 'words__word:cat', 'words__word:dogs', 'vectors__x0', \
'vectors__x1']
    """

    transformers: list[tuple[Any, ...]]
    _: KW_ONLY
    n_jobs: int | None = None
    transformer_weights: Mapping[str, float] | None = None
    transformers_: list[tuple[str, Any, Any]] = field(init=False)

    def fit(self, X: Any, y: Labels | None = None, **params: Any) -> Self:
        """Fit every transformer.

        Parameters
        ----------
        X : iterable of sequences, or data frame with a row for each sequence
            In the form that the transformers take, see `transformers`.
        y : iterable of label lists, default=None
        **params : dict
            Metadata, if routing is enabled, for the transformers that request it.

        Returns
        -------
        self : SequenceUnion

        Raises
        ------
        TypeError, ValueError
            If `transformers` or `transformer_weights` are not valid, if a sequence
            lacks a part, if the transformers do not return PackedSequences of the same
            lengths, or if a transformer raises it.
        """
        self.fit_transform(X, y, **params)
        return self

    def fit_transform(
        self, X: Any, y: Labels | None = None, **params: Any
    ) -> PackedSequences:
        """Fit every transformer, and return their concatenated features.

        Parameters
        ----------
        X, y, **params : as for `fit`

        Returns
        -------
        PackedSequences

        Raises
        ------
        TypeError, ValueError
            As `fit`.
        """
        raise_for_params(params, self, "fit")
        entries = self._entries()
        routed = process_routing(self, "fit_transform", **params)
        X = as_sequence_list(X)
        y = list(y) if isinstance(y, Iterator) else y
        results = Parallel(n_jobs=self.n_jobs)(
            delayed(fit_transform)(transformer, _part(X, part, name), y, routed[name])
            for name, transformer, part in entries
        )
        outputs, fitted = zip(*results, strict=True)
        packed = self._side_by_side(entries, outputs)
        self.transformers_ = [
            (name, transformer, part)
            for (name, _, part), transformer in zip(entries, fitted, strict=True)
        ]
        return packed

    def transform(self, X: Any) -> PackedSequences:
        """Return the concatenated features of all transformers.

        Parameters
        ----------
        X : as for `fit`; may be empty

        Returns
        -------
        PackedSequences

        Raises
        ------
        TypeError, ValueError
            As `fit`.
        """
        check_is_fitted(self)
        X = as_sequence_list(X)
        outputs = Parallel(n_jobs=self.n_jobs)(
            delayed(transformer.transform)(_part(X, part, name))
            for name, transformer, part in self.transformers_
        )
        return self._side_by_side(self.transformers_, outputs)

    @available_if(lambda self: self._no_names())
    def get_feature_names_out(
        self, input_features: Iterable[str] | None = None
    ) -> NDArray[np.object_]:
        """Return the names of the features, as "name__feature".

        Parameters
        ----------
        input_features : array-like of str, default=None
            Passed on to the transformers.

        Returns
        -------
        ndarray of object
        """
        check_is_fitted(self)
        names = [name for name, *_ in self.transformers_]
        blocks = [
            transformer.get_feature_names_out(input_features)
            for _, transformer, _ in self.transformers_
        ]
        return np.array(joined_names(names, *blocks), dtype=object)

    def _no_names(self):
        """Return why the features have no names, or None; a hasher has no names."""
        for name, transformer, _ in vars(self).get("transformers_", ()):
            if not hasattr(transformer, "get_feature_names_out"):
                return (
                    f"the features of {type(self).__name__} have no names, for its "
                    f"transformer {name!r}, a {type(transformer).__name__}, has none."
                )
        return None

    def __sklearn_tags__(self):
        """Return the tags: no table, for its rows would be no sequences."""
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array = False
        return tags

    @property
    def named_transformers_(self) -> Bunch:
        """The fitted transformers by name."""
        return Bunch(**{name: fitted for name, fitted, _ in self.transformers_})

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters, also of the transformers, as "name__parameter".

        Parameters
        ----------
        deep : bool, default=True
            Whether to include the parameters of the transformers.

        Returns
        -------
        params : dict
        """
        return self._get_params("_pairs", deep=deep)

    def set_params(self, **params: Any) -> Self:
        """Set parameters, also transformers, and their parameters as "name__parameter".

        Parameters
        ----------
        **params : dict

        Returns
        -------
        self : SequenceUnion
        """
        self._set_params("_pairs", **params)
        return self

    def get_metadata_routing(self) -> MetadataRouter:
        """Return the metadata router, see the user guide of scikit-learn."""
        router = MetadataRouter(owner=self)
        for name, transformer in self._pairs:
            if not isinstance(transformer, str):
                router.add(**{name: transformer}, method_mapping=metadata_of_fit())
        return router

    @property
    def _pairs(self):
        """The pairs (name, transformer) that BaseComposition needs, without parts."""
        try:
            return [(name, transformer) for name, transformer, *_ in self.transformers]
        except (TypeError, ValueError):
            # fit raises an error with a message; until then repr must not fail.
            return self.transformers

    @_pairs.setter
    def _pairs(self, pairs):
        self.transformers = [
            (*pair, *entry[2:])
            for pair, entry in zip(pairs, self.transformers, strict=True)
        ]

    def _entries(self):
        """Check the transformers; return (name, clone, part) of those not dropped."""
        if not _are_entries(self.transformers):
            raise ValueError(
                "transformers must be a list of tuples, (name, transformer) or (name, "
                f"transformer, part); got {self.transformers!r}"
            )
        names, transformers = zip(*self._pairs, strict=True)
        self._validate_names(names)
        for name, transformer in zip(names, transformers, strict=True):
            if transformer not in ("drop", "passthrough"):
                check_given(transformer, "transform", name=f"transformers: {name!r}")
        _check_weights(self.transformer_weights, names)
        entries = [
            (name, _usable(transformer), *(part or [None]))
            for name, transformer, *part in self.transformers
            if transformer != "drop"
        ]
        if not entries:
            raise ValueError("transformers are all dropped; at least one is needed.")
        return entries

    def _side_by_side(self, entries, outputs):
        names = [name for name, *_ in entries]
        for name, output in zip(names, outputs, strict=True):
            if not isinstance(output, PackedSequences):
                raise TypeError(
                    f"transformers: {name!r} returned {described(output)}, not "
                    "PackedSequences; wrap it in PerToken."
                )
            _check_lengths(output, outputs[0], name, names[0])
        weights = self.transformer_weights or {}
        rows = _hstack(outputs, [weights.get(name, 1.0) for name in names])
        blocks = [output.feature_names for output in outputs]
        joined = None
        # A transformer of others may return packed sequences without names.
        if None not in blocks:
            arguments = rows.shape[1], joined_names, tuple(names)
            joined = FeatureNames(*arguments, *blocks)
        return PackedSequences(rows, outputs[0].offsets, feature_names=joined)

    def _sk_visual_block_(self):
        return FeatureUnion(self._pairs)._sk_visual_block_()


def joined_names(names, *blocks):
    """Return the names of the features of several transformers, after their own."""
    pairs = zip(names, blocks, strict=True)
    return [f"{name}__{feature}" for name, block in pairs for feature in block]


def _are_entries(transformers):
    if not isinstance(transformers, (list, tuple)) or not transformers:
        return False
    return all(isinstance(e, tuple) and len(e) in (2, 3) for e in transformers)


def _check_weights(weights, names):
    if weights is None:
        return
    if not isinstance(weights, Mapping):
        raise TypeError(
            f"transformer_weights must be a dict, got {described(weights)}."
        )
    if unknown := set(weights) - set(names):
        raise ValueError(
            f"transformer_weights has {sorted(unknown)}, which transformers lacks."
        )
    for name, factor in weights.items():
        if not isinstance(factor, Real) or not abs(factor) < np.inf:
            raise ValueError(
                f"transformer_weights: {name!r} has {factor!r:.40}; a finite number is "
                "needed."
            )


def _usable(transformer):
    if transformer == "passthrough":
        return PerToken(FunctionTransformer(feature_names_out="one-to-one"))
    return clone(transformer)


def _check_lengths(packed, first, name, first_name):
    if len(packed) != len(first):
        raise ValueError(
            f"{words().X} has {len(packed)} sequences for {name!r}, but {len(first)} "
            f"for {first_name!r}."
        )
    differ = np.flatnonzero(packed.lengths != first.lengths)
    if len(differ):
        i = differ[0]
        raise ValueError(
            f"{place('X', i)} has {packed.lengths[i]} items for {name!r}, but "
            f"{first.lengths[i]} for {first_name!r}."
        )


def _part(X, part, name):
    """Return a part of every sequence; X itself if part is None."""
    if part is None:
        return X
    if is_frame(X):
        return X[part].to_list()
    parts = []
    for i, sequence in enumerate(X):
        try:
            parts.append(sequence[part])
        except (LookupError, TypeError) as error:
            raise ValueError(
                f"{place('X', i)} is {described(sequence)} without the part {part!r} "
                f"of {name!r}."
            ) from error
    return parts


def _hstack(blocks, scales):
    """Concatenate the features of PackedSequences, each block times its scale."""
    rows = [
        block.X if scale == 1 else block.X * scale
        for block, scale in zip(blocks, scales, strict=True)
    ]
    if any(map(sp.issparse, rows)):
        return sp.hstack([_as_csr(block) for block in rows], format="csr")
    return np.concatenate(rows, axis=1)


def _as_csr(rows):
    """Return rows as a CSR array; dense rows keep their zeros, and are not copied."""
    if sp.issparse(rows):
        return rows
    n_rows, n_features = rows.shape
    dtype = sp.get_index_dtype(maxval=rows.size)
    columns = np.tile(np.arange(n_features, dtype=dtype), n_rows)
    bounds = np.arange(n_rows + 1, dtype=dtype) * n_features
    return sp.csr_array((rows.ravel(), columns, bounds), shape=rows.shape)
