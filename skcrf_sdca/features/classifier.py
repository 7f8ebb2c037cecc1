"""The probabilities of a classifier below a chain: ``ClassifierFeatures``."""

from collections.abc import Iterable
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import MetaEstimatorMixin, clone, is_classifier
from sklearn.model_selection import cross_val_predict
from sklearn.utils.validation import check_is_fitted

from skcrf_sdca._utils.folds import folds_of
from skcrf_sdca._utils.given_estimators import check_given
from skcrf_sdca._utils.sklearn_private import safe_indexing
from skcrf_sdca._utils.typing import Labels, Sequences
from skcrf_sdca._utils.words import words
from skcrf_sdca.data.feature_names import FeatureNames
from skcrf_sdca.data.input_formats import check_has_items, not_cut
from skcrf_sdca.data.label_encoding import encode_training_labels, plain_labels
from skcrf_sdca.data.packed import PackedSequences
from skcrf_sdca.features.per_token import joined_items, lists_beside
from skcrf_sdca.features.transformer import SequenceTransformer

__all__ = ["ClassifierFeatures"]

# A probability of 0, of a label that a fold was fitted without, has a finite logarithm.
_SMALLEST = 1e-6


class ClassifierFeatures(MetaEstimatorMixin, SequenceTransformer):
    """Give each item the log probabilities of its labels by a classifier.

    A classifier of scikit-learn, such as boosted trees, labels the items one by one. A
    chain above it reads its log probabilities, and learns how labels follow each other
    and how far the classifier is right. This is `sklearn.ensemble.StackingClassifier`
    for sequences.

    The probabilities of a classifier are too high for the items that it was fitted on.
    So `fit_transform`, which the fit of a pipeline calls, returns probabilities of
    classifiers that were fitted on other sequences, or on other groups of them.
    `transform` returns those of one that was fitted on all.

    Parameters
    ----------
    classifier : classifier
        With ``predict_proba``; cloned, not changed. It may be a pipeline.
    cv : int or splitter, default=5
        Folds of whole sequences, as in scikit-learn. With an int and `groups`, those of
        ``GroupKFold``.
    n_jobs : int, default=None
        Folds to fit at the same time.

    Attributes
    ----------
    classifier_ : classifier
        Fitted on all sequences.
    classes_ : ndarray
        The labels, sorted.
    n_features_out_ : int
        Number of labels.

    See Also
    --------
    skcrf_sdca.PerToken : Applies a transformer of scikit-learn to all items.
    SequenceWindow : The frames around each frame, for the classifier to see.

    Notes
    -----
    A fit takes the time of one fit of the classifier for each fold, and of one more.

    Probabilities below 1e-6 count as that. Items whose label is not known get
    probabilities, and the classifier does not see their labels.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> from skcrf_sdca import CRF, make_tagger
    >>> from skcrf_sdca.features import ClassifierFeatures
    >>> rng = np.random.default_rng(0)
    >>> y = [["rest"] * 20 + ["walk"] * 20 for _ in range(10)]
    >>> X = [rng.normal(size=(40, 2)) + np.repeat([[0, 0], [1, -1]], 20, 0) for _ in y]
    >>> below = ClassifierFeatures(DecisionTreeClassifier(max_depth=3, random_state=0))
    >>> tagger = make_tagger(below, CRF(alpha=1.0, random_state=0)).fit(X, y)
    >>> tagger[0].get_feature_names_out().tolist()
    ['log p(rest)', 'log p(walk)']
    >>> tagger.score(X, y) > 0.95
    True
    """

    classifier_: Any
    classes_: NDArray[Any]

    def __init__(
        self, classifier: Any, *, cv: Any = 5, n_jobs: int | None = None
    ) -> None:
        self.classifier = classifier
        self.cv = cv
        self.n_jobs = n_jobs

    def fit(self, X: Sequences, y: Labels, groups: ArrayLike | None = None) -> Self:
        """Fit the classifier to the items of all sequences.

        Parameters
        ----------
        X : iterable of sequences
            As `PerToken` takes them: arrays, sparse matrices, data frames, or lists of
            what the classifier takes.
        y : iterable of label lists, or beside PackedSequences one array
            None where the label is not known.
        groups : array-like of shape (n,), default=None
            Ignored: it is for `fit_transform`.

        Returns
        -------
        self : ClassifierFeatures

        Raises
        ------
        TypeError, ValueError
            If X and y are not of this form, or the classifier has no ``predict_proba``.
        """
        items, offsets = self._items(X)
        classes, labels = _labels_of(X, y, offsets)
        self._fit_to(items, classes, labels)
        return self

    def fit_transform(
        self, X: Sequences, y: Labels, groups: ArrayLike | None = None
    ) -> PackedSequences:
        """Fit, and return log probabilities from classifiers of other sequences.

        Parameters
        ----------
        X, y : as in `fit`
        groups : array-like of shape (n,), default=None
            Of each sequence, such as the person that it is of: a classifier sees no
            sequence of the groups that it labels. In a pipeline pass
            ``classifierfeatures__groups`` to ``fit``.

        Returns
        -------
        PackedSequences
            With a feature for each label.

        Raises
        ------
        TypeError, ValueError
            As `fit`, and if there are fewer sequences, or groups, than folds.
        """
        items, offsets = self._items(X)
        classes, labels = _labels_of(X, y, offsets)
        proba = cross_val_predict(
            self.classifier,
            items,
            # Unknown labels are in no training set: any label stands for them here.
            np.maximum(labels, 0),
            cv=list(self._folds(offsets, labels, groups)),
            n_jobs=self.n_jobs,
            method="predict_proba",
        )
        self._fit_to(items, classes, labels)
        return self._packed(proba, offsets)

    def transform(self, X: Sequences) -> PackedSequences:
        """Return the log probabilities by the classifier that saw all sequences.

        Parameters
        ----------
        X : iterable of sequences
            As in `fit`; may be empty.

        Returns
        -------
        PackedSequences
            With a feature for each label.

        Raises
        ------
        TypeError, ValueError
            As `fit`.
        """
        check_is_fitted(self)
        items, offsets = _sequences(X)
        # Most classifiers refuse a table without rows.
        proba = np.empty((0, self.n_features_out_))
        if offsets[-1]:
            proba = self.classifier_.predict_proba(items)
        return self._packed(proba, offsets)

    def get_feature_names_out(
        self, input_features: Iterable[str] | None = None
    ) -> NDArray[np.object_]:
        """Return the names of the features, "log p(walk)" for the label "walk".

        Parameters
        ----------
        input_features : array-like of str, default=None
            Ignored.

        Returns
        -------
        names : ndarray of object of shape (n_labels,)
        """
        check_is_fitted(self)
        return np.array(_names_out(self.classes_), dtype=object)

    @property
    def n_features_out_(self) -> int:
        """Number of labels."""
        return len(self.classes_)

    def __sklearn_tags__(self):
        """Return the tags: y is required."""
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        return tags

    def _items(self, X):
        """Return the items of all sequences, and the offsets, for a fit."""
        check_given(self.classifier, "fit", "predict_proba", name="classifier")
        if not is_classifier(self.classifier):
            raise TypeError(
                f"classifier must be a classifier of scikit-learn, got "
                f"{type(self.classifier).__name__}."
            )
        items, offsets = _sequences(X)
        check_has_items(len(offsets) - 1, offsets[-1])
        return items, offsets

    def _folds(self, offsets, labels, groups):
        """Yield the items to train on and to label, of folds of whole sequences."""
        n = len(offsets) - 1
        numbers = np.repeat(np.arange(n), np.diff(offsets))
        try:
            folds = list(folds_of(self.cv, groups).split(np.zeros(n), None, groups))
        except ValueError as error:
            raise ValueError(
                f"cv={self.cv} of the {n} {words().sequence}s of {words().X}: {error}"
            ) from error
        for train, test in folds:
            is_known = np.isin(numbers, train) & (labels >= 0)
            yield np.flatnonzero(is_known), np.flatnonzero(np.isin(numbers, test))

    def _fit_to(self, items, classes, labels):
        """Fit the classifier to the items of known labels, and set the attributes."""
        own = np.flatnonzero(labels >= 0)
        known = items if len(own) == len(labels) else safe_indexing(items, own)
        self.classifier_ = clone(self.classifier).fit(known, labels[own])
        self.classes_ = classes

    def _packed(self, proba, offsets):
        rows = np.log(np.maximum(proba, _SMALLEST))
        names = FeatureNames(len(self.classes_), _names_out, self.classes_)
        return PackedSequences(rows, offsets, feature_names=names)


def _sequences(X):
    """Return the items of all sequences and the offsets; ValueError for a table."""
    items, offsets = joined_items(X)
    if offsets is None:
        raise not_cut()
    return items, offsets


def _labels_of(X, y, offsets):
    """Return the classes, and the index of the label of each item, -1 if unknown."""
    lists = lists_beside(X, y)
    classes, labels, _ = encode_training_labels(lists, np.diff(offsets))
    return classes, labels


def _names_out(classes):
    return [f"log p({label})" for label in plain_labels(classes)]
