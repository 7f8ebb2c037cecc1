"""Cross-validation that scikit-learn cannot do on sequences: ragged probabilities."""

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, MetaEstimatorMixin, clone
from sklearn.model_selection import cross_val_predict
from sklearn.utils.metadata_routing import get_routing_for_object

from skcrf_sdca._utils.folds import folds_of
from skcrf_sdca._utils.given_estimators import check_tagger
from skcrf_sdca._utils.typing import Labels, Sequences
from skcrf_sdca.data.input_formats import is_table
from skcrf_sdca.data.label_encoding import (
    encode_labels,
    encode_row_labels,
    plain_labels,
    row_labels,
    widened,
)
from skcrf_sdca.data.sequence_lists import as_sequence_list


def cross_val_predict_proba(
    estimator: Any,
    X: Sequences,
    y: Labels,
    *,
    groups: ArrayLike | None = None,
    cv: Any = None,
    n_jobs: int | None = None,
    verbose: int = 0,
    params: Mapping[str, Any] | None = None,
) -> NDArray[Any]:
    """Return the label probabilities of each sequence from the fold that left it out.

    It is ``cross_val_predict(..., method="predict_proba")`` for sequences, whose
    probabilities are no table.

    Parameters
    ----------
    estimator : CRF, or Pipeline or search that ends in one
        With ``predict_proba`` and ``classes_``; cloned, not changed.
    X, y : as in the ``fit`` of the estimator
    groups : array-like of shape (n,), default=None
        Of each sequence: those of one group are in one fold. With metadata routing in
        `params`.
    cv : int, splitter or iterable of (train, test), default=None
        As in scikit-learn; by default 5 consecutive folds. With `groups` a number, or
        None, is that of the folds of ``GroupKFold``. Each sequence is in one test set.
    n_jobs : int, default=None
        Folds to fit at the same time.
    verbose : int, default=0
    params : dict, default=None
        Given to ``fit``, such as ``sample_weight``, or where metadata routing tells.

    Returns
    -------
    proba : ndarray of shape (n,)
        In the order of X, an object array of arrays of shape (T, n_labels); for
        one-node chains one array of shape (n, n_labels). Columns are the labels of all
        of y, sorted; a label that a fold was fitted without has zeros.

    Raises
    ------
    ValueError
        If a sequence is in no test set, or in more than one; and what ``fit`` raises.
    TypeError
        If the estimator has no `predict_proba`.

    Examples
    --------
    >>> from skcrf_sdca import SDCACRF
    >>> from skcrf_sdca.selection import cross_val_predict_proba
    >>> from skcrf_sdca.datasets import make_chains
    >>> X, y = make_chains(n_sequences=20, random_state=0)
    >>> proba = cross_val_predict_proba(SDCACRF(random_state=0), X, y, cv=4)
    >>> len(proba), proba[0].shape == (len(y[0]), 3)
    (20, True)
    """
    check_tagger(estimator, "fit", "predict_proba")
    X = as_sequence_list(X)
    y = list(y) if isinstance(y, Iterator) else y
    return cross_val_predict(
        _Probabilities(estimator, _all_labels(X, y)),
        X,
        y,
        groups=groups,
        cv=folds_of(cv, groups),
        n_jobs=n_jobs,
        verbose=verbose,
        params=params,
    )


class _Probabilities(MetaEstimatorMixin, BaseEstimator):
    """Predict probabilities, with a column for each of the labels given.

    cross_val_predict puts them together as it does any object array of predictions.
    """

    def __init__(self, estimator, labels):
        self.estimator = estimator
        self.labels = labels

    def fit(self, X, y, **params):
        self.estimator_ = clone(self.estimator).fit(X, y, **params)
        return self

    def predict(self, X):
        proba = self.estimator_.predict_proba(X)
        columns = [self.labels.index(k) for k in plain_labels(self.estimator_.classes_)]
        if proba.dtype != object:
            return widened(proba, columns, len(self.labels))
        tables = [widened(table, columns, len(self.labels)) for table in proba]
        return np.fromiter(tables, dtype=object, count=len(tables))

    def get_metadata_routing(self):
        return get_routing_for_object(self.estimator)


def _all_labels(X, y):
    """Return the labels of label lists, or of an array of labels, in their order."""
    lists = [] if y is None else list(y)
    # A tuple is a label list, or the label of a row.
    if lists and (np.ndim(lists[0]) == 0 or is_table(X)):
        rows = row_labels(y)
        return plain_labels(encode_row_labels(rows, [1] * len(rows))[0])
    return plain_labels(encode_labels(y, list(map(len, lists)))[0])
