"""Folds of sequences that have about the same share of each label.

Owns the choice of the fold of each sequence; all else is scikit-learn's `KFold`.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.model_selection import KFold
from sklearn.utils import check_random_state

from skcrf_sdca.data.label_encoding import encode_training_labels, label_lists


class StratifiedSequenceKFold(KFold):
    """K folds of sequences; each has about the same share of the tokens of each label.

    It is ``StratifiedKFold`` for label lists: pass it as ``cv`` to ``cross_val_score``,
    ``GridSearchCV`` and similar tools. Folds also have about the same number of
    sequences. Each sequence is in one test set.

    Parameters
    ----------
    n_splits : int, default=5
        Number of folds, at least 2.
    shuffle : bool, default=False
        Whether to draw the order in which sequences of a similar weight get their fold,
        so that other seeds give other folds. By default it is the order of the data.
    random_state : int, RandomState instance or None, default=None
        With ``shuffle=True``, pass an int for the same folds at every call.

    See Also
    --------
    sklearn.model_selection.StratifiedKFold : For one label in each row.
    sklearn.model_selection.StratifiedGroupKFold : For one label in each row, where
        groups of rows stay together.

    Notes
    -----
    ``split(X, y)`` takes y as ``fit`` does, with a label list for each sequence, and
    raises ValueError or TypeError if it is none; positions whose label is not known
    exactly count together as one more label. X may be anything of the same length.

    The share of a label that a sequence has is the number of its tokens with this
    label, divided by the number in all sequences. Sequences with large shares come
    first, thus the ones with rare labels. Each goes into the fold that has least of its
    labels: the sum over its labels of its share, times the fold's share, is smallest.
    The squared distances of the shares of the folds from 1 / n_splits then sum to no
    more than is expected of random folds, and mostly to far less. A label that occurs
    in fewer sequences than there are folds is missing in some.

    Examples
    --------
    >>> from sklearn.model_selection import cross_val_score
    >>> from skcrf_sdca import SDCACRF
    >>> from skcrf_sdca.selection import StratifiedSequenceKFold
    >>> X = [[["the"], ["Rhine"]], [["rain"], ["falls"]]] * 4
    >>> y = [["O", "LOC"], ["O", "O"]] * 4
    >>> cv = StratifiedSequenceKFold(n_splits=2)
    >>> for train, test in cv.split(X, y):
    ...     print(test, sum(y[i].count("LOC") for i in test))
    [0 1 4 5] 2
    [2 3 6 7] 2
    >>> cross_val_score(SDCACRF(random_state=0), X, y, cv=cv)
    array([1., 1.])
    """

    def _iter_test_indices(
        self, X: Any = None, y: Any = None, groups: Any = None
    ) -> Iterator[NDArray[np.intp]]:
        folds = self._folds(_shares(label_lists(y)))
        for fold in range(self.n_splits):
            yield np.flatnonzero(folds == fold)

    def _folds(self, shares):
        """Return the number of the fold of each sequence."""
        n = shares.shape[0]
        order = np.arange(n)
        if self.shuffle:
            check_random_state(self.random_state).shuffle(order)
        # Sequences of a similar weight, within a factor of 2, stay as they are.
        weight = np.floor(np.log2(shares.power(2).sum(axis=1)))
        order = order[np.argsort(-weight[order], kind="stable")]
        of_folds = np.zeros((shares.shape[1], self.n_splits))
        folds = np.empty(n, dtype=np.intp)
        for i in order:
            own = slice(*shares.indptr[i : i + 2])
            labels, values = shares.indices[own], shares.data[own]
            # Of the sum of squares of `of_folds` this is half the rise, but for a part
            # that is the same in every fold.
            folds[i] = (values @ of_folds[labels]).argmin()
            of_folds[labels, folds[i]] += values
        return folds


def _shares(y):
    """Return the share of each label that each sequence has, (n, n_labels + 2).

    The last columns are for labels that are not known exactly, and for the sequences
    themselves: each is one of n.
    """
    lengths = [len(labels) for labels in y]
    classes, codes, _ = encode_training_labels(y, lengths)
    n_rows, n_columns = len(y), len(classes) + 2
    rows = np.concatenate([np.repeat(np.arange(n_rows), lengths), np.arange(n_rows)])
    columns = np.concatenate([codes % (n_columns - 1), np.full(n_rows, n_columns - 1)])
    ones = np.ones(len(rows))
    counts = sp.csr_array((ones, (rows, columns)), shape=(n_rows, n_columns))
    totals = np.bincount(columns, minlength=n_columns)
    return sp.csr_array(counts / np.maximum(totals, 1))
