"""scikit-learn's transformers applied to sequences.

``PerToken`` passes the items of all sequences to a transformer as one table.
"""

from collections.abc import Iterable
from contextlib import nullcontext
from itertools import chain
from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn import config_context
from sklearn.base import MetaEstimatorMixin, clone
from sklearn.utils import get_tags
from sklearn.utils.metadata_routing import (
    MetadataRouter,
    MethodMapping,
    process_routing,
)
from sklearn.utils.validation import check_is_fitted

from skcrf_sdca._utils.given_estimators import check_given
from skcrf_sdca._utils.messages import described
from skcrf_sdca._utils.sklearn_private import raise_for_params
from skcrf_sdca._utils.typing import Labels, Sequences
from skcrf_sdca._utils.words import place
from skcrf_sdca.data.containers import check_container, is_frame, plain_column
from skcrf_sdca.data.feature_names import FeatureNames, same_names
from skcrf_sdca.data.input_formats import PACKED, check_has_items, is_table
from skcrf_sdca.data.label_encoding import encode_labels, encode_training_labels
from skcrf_sdca.data.packed import PackedSequences
from skcrf_sdca.data.sequence_lists import as_sequence_list
from skcrf_sdca.features.transformer import SequenceTransformer

__all__ = ["PerToken"]


class PerToken(MetaEstimatorMixin, SequenceTransformer):
    """Apply a transformer of scikit-learn to the items of all sequences at once.

    The items of all sequences are concatenated to one table with a row for each item,
    or to one list. The transformer is fitted on it and transforms it like any other
    data. Its output rows are packed again, into sequences of the same lengths. For
    example, ``PerToken(StandardScaler())`` scales arrays, ``PerToken(FeatureHasher())``
    hashes dicts, and ``PerToken(SelectKBest(chi2))`` selects features by the labels of
    the items.

    Parameters
    ----------
    transformer : transformer
        It is cloned before it is fitted. It must return numbers, as an array, a sparse
        matrix or a data frame. Put several steps into one Pipeline inside if the first
        ones return anything else.

    Attributes
    ----------
    transformer_ : transformer
        The fitted transformer.
    n_features_out_ : int
        Number of features of an item after the transformation.
    n_features_in_, feature_names_in_ : int, ndarray
        The attributes of `transformer_`, if it has them.

    See Also
    --------
    SequenceUnion : Concatenates the features of several transformers.
    skcrf_sdca.features.ClassifierFeatures : Applies a classifier to the items.

    Notes
    -----
    A single table (of one-node chains) is passed to the transformer unchanged, and the
    output of the transformer is returned unchanged.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.preprocessing import StandardScaler
    >>> from skcrf_sdca.features.per_token import PerToken
    >>> X = [np.array([[1.0, 10.0], [2.0, 30.0]]), np.array([[3.0, 20.0]])]
    >>> scaled = PerToken(StandardScaler()).fit_transform(X)
    >>> scaled
    PackedSequences(n_sequences=2, n_positions=3, n_features=2, dense)
    >>> scaled.X.mean(axis=0)
    array([0., 0.])
    """

    transformer_: Any
    n_features_out_: int

    def __init__(self, transformer: Any) -> None:
        self.transformer = transformer

    def fit(self, X: Sequences, y: Labels | None = None, **params: Any) -> Self:
        """Fit the transformer to the items of all sequences.

        Parameters
        ----------
        X : iterable of sequences
            PackedSequences; or sequences that are 2-D arrays, sparse matrices or data
            frames with a row for each item; or sequences that are lists of items of any
            type that the transformer takes: dicts, strings, lists of strings, rows of
            numbers.
        y : iterable of label lists, or beside PackedSequences one array, default=None
            Labels of the items, for transformers that learn from labels. Labels that
            are not known, as a CRF takes them, are for others alone.
        **params : dict
            Metadata, if routing is enabled. ``sample_weight`` has one number for each
            sequence; the transformer gets it repeated for each item.

        Returns
        -------
        self : PerToken

        Raises
        ------
        TypeError, ValueError
            If X is not of this form or has no items, if y or sample_weight do not match
            X, or if the transformer does not return one row of numbers for each item.

        Examples
        --------
        >>> from sklearn.feature_extraction.text import CountVectorizer
        >>> from skcrf_sdca.features.per_token import PerToken
        >>> letters = PerToken(CountVectorizer(analyzer="char"))
        >>> letters.fit([["ab", "a"], ["c"]]).get_feature_names_out()
        array(['a', 'b', 'c'], dtype=object)
        """
        self.fit_transform(X, y, **params)
        return self

    def fit_transform(
        self, X: Sequences, y: Labels | None = None, **params: Any
    ) -> Any:
        """Fit the transformer to the items of all sequences, and transform them.

        Parameters
        ----------
        X, y, **params : as for `fit`

        Returns
        -------
        PackedSequences
            As from `transform`.

        Raises
        ------
        TypeError, ValueError
            As `fit`.
        """
        self._check_transformer()
        raise_for_params(params, self, "fit")
        routed = process_routing(self, "fit_transform", **params).transformer
        items, offsets = joined_items(X)
        if offsets is not None:
            check_has_items(len(offsets) - 1, offsets[-1])
            routed = {m: _for_items(routed[m], offsets) for m in _FITTING}
            if y is not None:
                y = self._for_items(lists_beside(X, y), np.diff(offsets))
        with _output_of(offsets):
            output, transformer = fit_transform(
                clone(self.transformer), items, y, routed
            )
        output = _packed(output, offsets, transformer, X)
        self.transformer_ = transformer
        table = output if offsets is None else output.X
        self.n_features_out_ = np.shape(table)[-1]
        return output

    def transform(self, X: Sequences) -> Any:
        """Transform the items of all sequences.

        Parameters
        ----------
        X : iterable of sequences
            As for `fit`; may be empty.

        Returns
        -------
        PackedSequences
            With `n_features_out_` features, sparse if the transformer returns sparse
            rows.

        Raises
        ------
        TypeError, ValueError
            As `fit`.
        """
        check_is_fitted(self)
        items, offsets = joined_items(X)
        if offsets is not None and not offsets[-1]:
            # Most transformers refuse a table without rows.
            output = np.empty((0, self.n_features_out_))
        else:
            with _output_of(offsets):
                output = self.transformer_.transform(items)
        return _packed(output, offsets, self.transformer_, X)

    def get_feature_names_out(
        self, input_features: Iterable[str] | None = None
    ) -> NDArray[np.object_]:
        """Return the names of the features.

        Parameters
        ----------
        input_features : array-like of str, default=None
            Names of the input features, for transformers that use them.

        Returns
        -------
        names : ndarray of object of shape (n_features_out_,)
            The names that the transformer returns. If it has none, the name of its
            class and a number, such as "featurehasher0".
        """
        check_is_fitted(self)
        if hasattr(self.transformer_, "get_feature_names_out"):
            return self.transformer_.get_feature_names_out(input_features)
        return _numbered_names(self.transformer_, self.n_features_out_)

    @property
    def n_features_in_(self) -> int:
        """Number of features that the transformer was fitted on."""
        return self.transformer_.n_features_in_

    @property
    def feature_names_in_(self) -> NDArray[np.object_]:
        """Names of the columns that the transformer was fitted on."""
        return self.transformer_.feature_names_in_

    def get_metadata_routing(self) -> MetadataRouter:
        """Return the metadata router, see the user guide of scikit-learn."""
        return MetadataRouter(owner=self).add(
            transformer=self.transformer, method_mapping=metadata_of_fit()
        )

    def _for_items(self, y, lengths):
        """Return the label of each item, None if some are not known and none needed."""
        if get_tags(self.transformer).target_tags.required:
            classes, labels = encode_labels(y, lengths)
            return classes[labels]
        classes, labels, unknown = encode_training_labels(y, lengths)
        return classes[labels] if unknown is None else None

    def _check_transformer(self):
        try:
            check_given(self.transformer, "transform", name="transformer")
        except TypeError as error:
            is_class = isinstance(self.transformer, type)
            if is_class or not hasattr(self.transformer, "predict_proba"):
                raise
            raise TypeError(
                f"transformer is a classifier, {type(self.transformer).__name__}, "
                "which has no transform; pass it to "
                "skcrf_sdca.features.ClassifierFeatures, whose features are its "
                "probabilities."
            ) from error

    def __sklearn_tags__(self):
        """Return the tags, with the input and target tags of the transformer."""
        tags, inner = super().__sklearn_tags__(), get_tags(self.transformer)
        tags.input_tags = inner.input_tags
        tags.target_tags = inner.target_tags
        return tags


_FITTING = ("fit", "fit_transform")


def metadata_of_fit():
    """Return the method mapping: metadata go to fit_transform, or else to fit."""
    mapping = MethodMapping()
    for caller in _FITTING:
        for callee in _FITTING:
            mapping.add(caller=caller, callee=callee)
    return mapping


def fit_transform(transformer, X, y, routed):
    """Fit a transformer; return the transformed X and the transformer."""
    if hasattr(transformer, "fit_transform"):
        return transformer.fit_transform(X, y, **routed["fit_transform"]), transformer
    return transformer.fit(X, y, **routed["fit"]).transform(X), transformer


def _output_of(offsets):
    """Return a context in which the items of sequences become no data frame."""
    return (
        nullcontext() if offsets is None else config_context(transform_output="default")
    )


def lists_beside(X, y):
    """Return label lists; beside PackedSequences y may be one array."""
    return PACKED.label_lists(y, X) if isinstance(X, PackedSequences) else y


def joined_items(X):
    """Return the concatenated items and the offsets, which are None for a table."""
    X = as_sequence_list(X)
    if isinstance(X, PackedSequences):
        return X.X, X.offsets
    if is_table(X):
        return X, None
    # A frame that is no table has lists or dicts in it.
    check_container(X)
    X = [plain_column(sequence) for sequence in X]
    lengths = [_n_items(sequence, i) for i, sequence in enumerate(same_names(X))]
    filled = [(i, sequence) for i, sequence in enumerate(X) if lengths[i]]
    return _joined(filled), np.cumsum([0, *lengths])


def _n_items(sequence, index):
    if isinstance(sequence, (list, tuple)):
        return len(sequence)
    if shape := getattr(sequence, "shape", ()):
        return shape[0]
    raise TypeError(
        f"{place('X', index)} is {described(sequence)}; a sequence must be a list of "
        "items, a 2-D array, a sparse matrix or a data frame."
    )


def _joined(sequences):
    """Concatenate the sequences of pairs (index, sequence), none of them empty."""
    forms = [_form(sequence) for _, sequence in sequences]
    for (i, _), form in zip(sequences, forms, strict=True):
        if form != forms[0]:
            raise ValueError(
                f"{place('X', i)} is {form}, but sequence {sequences[0][0]} is "
                f"{forms[0]}."
            )
    sequences = [sequence for _, sequence in sequences]
    if not forms or forms[0] == _LIST:
        return list(chain.from_iterable(sequences))
    if sp.issparse(sequences[0]):
        return sp.vstack(sequences, format="csr")
    if hasattr(sequences[0], "iloc"):
        import pandas

        return pandas.concat(sequences, ignore_index=True)
    if is_frame(sequences[0]):
        import polars

        return polars.concat(sequences, how="vertical_relaxed")
    return np.concatenate(sequences)


_LIST = "a list of items"


def _form(sequence):
    shape = getattr(sequence, "shape", ())
    if len(shape) != 2:
        return _LIST
    form = "sparse" if sp.issparse(sequence) else "dense"
    if is_frame(sequence):
        form = f"a data frame of {type(sequence).__module__.partition('.')[0]}"
    return f"{form} with {shape[1]} features"


def _for_items(params, offsets):
    """Return metadata; the sample weight of each sequence is repeated for its items."""
    if params.get("sample_weight") is None:
        return params
    weight = np.asarray(params["sample_weight"])
    if weight.shape != (len(offsets) - 1,):
        raise ValueError(
            f"sample_weight has shape {weight.shape}, but X has {len(offsets) - 1} "
            "sequences; one number a sequence is needed."
        )
    return {**params, "sample_weight": np.repeat(weight, np.diff(offsets))}


def _packed(output, offsets, transformer, X):
    """Pack the output rows of a transformer; return the output for a table as it is."""
    if offsets is None:
        return output
    shape = getattr(output, "shape", ())
    if len(shape) != 2 or shape[0] != offsets[-1]:
        raise ValueError(
            f"{type(transformer).__name__} returned {described(output)} of shape "
            f"{shape}, but X has {offsets[-1]} items; one row an item is needed."
        )
    of_input = X.feature_names if isinstance(X, PackedSequences) else None
    arguments = shape[1], _names_out, transformer, shape[1]
    names = FeatureNames(*arguments, of_input)
    return PackedSequences(output, offsets, feature_names=names)


def _names_out(transformer, n_features, of_input):
    """Return the names that a transformer gives its output, numbered if it has none."""
    try:
        names = transformer.get_feature_names_out(
            None if of_input is None else np.asarray(of_input)
        )
    # A step of a Pipeline may have none, or need names of a fit on a data frame.
    except (AttributeError, TypeError, ValueError):
        names = ()
    if len(names) != n_features:
        return _numbered_names(transformer, n_features)
    return list(map(str, names))


def _numbered_names(transformer, n_features):
    name = type(transformer).__name__.lower()
    return np.array([f"{name}{i}" for i in range(n_features)], dtype=object)
