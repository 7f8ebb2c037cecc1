"""The observed pairs of feature and label, for models that have weights for them alone.

CRFsuite makes such models by default. A weight of a pair that was not observed does not
exist: it is 0 in every score, and neither stored nor penalised.
"""

import numpy as np
import scipy.sparse as sp

from skcrf_sdca._kernels.features._features import RowLayout

# Rows that observe more than this share of the labels are stored dense, for vector
# loops.
WIDE = 0.5


class ObservedPairs:
    """The labels of each feature, one feature after another.

    Feature j was observed with ``labels[bounds[j]:bounds[j + 1]]``, in ascending order.

    Attributes
    ----------
    layout : RowLayout
        The layout of coef.
    places : ndarray of shape (n_features + 1,), int64
        Row j of coef begins at places[j].
    exists : ndarray of shape (layout.size,), bool
        Whether each number in coef is the weight of a pair, or a place kept at 0.
    """

    def __init__(self, bounds, labels, n_labels):
        self.bounds, self.labels, self.n_labels = bounds, labels, n_labels
        widths = np.diff(bounds)
        wide = widths > WIDE * n_labels
        places = np.concatenate([[0], np.cumsum(np.where(wide, n_labels, widths))])
        # Where each pair is in coef: in a wide row by its label.
        feature = np.repeat(np.arange(len(widths)), widths)
        rank = np.arange(len(labels)) - bounds[feature]
        place = places[feature] + np.where(wide[feature], labels, rank)
        self.exists = np.zeros(places[-1], dtype=bool)
        self.exists[place] = True
        rows = np.repeat(np.arange(len(widths)), np.diff(places))
        label = (np.arange(places[-1]) - places[rows]).astype(np.int32)
        label[place] = labels
        self.places = places
        self.layout = RowLayout(len(widths), n_labels, places, label, self.exists)

    def __len__(self):
        """Return the number of pairs."""
        return len(self.labels)

    def __eq__(self, other):
        """Return whether the pairs are the same."""
        if not isinstance(other, ObservedPairs):
            return False
        return all(map(np.array_equal, self.__reduce__()[1], other.__reduce__()[1]))

    __hash__ = None  # type: ignore[assignment]

    def __reduce__(self):
        """Let pickles leave out the compiled layout."""
        return ObservedPairs, (self.bounds, self.labels, self.n_labels)

    @classmethod
    def of_data(cls, X, labels, n_labels, min_count=None):
        """Return the pairs of data, see `pair_counts` and `of_counts`."""
        counts = pair_counts(X, labels, n_labels, with_values=min_count is not None)
        return cls.of_counts(counts, min_count)

    @classmethod
    def of_counts(cls, counts, min_count=None):
        """Return the pairs with a count of ``min_count`` or more; None keeps all."""
        kept = counts.data != 0 if min_count is None else counts.data >= min_count
        pairs = sp.csr_array((kept, counts.indices, counts.indptr), counts.shape)
        pairs.eliminate_zeros()
        pairs.sort_indices()
        bounds, found = pairs.indptr.astype(np.int64), pairs.indices.astype(np.int32)
        return cls(bounds, found, counts.shape[1])

    def followed_by(self, other):
        """Return the pairs of these features, and then the pairs of others."""
        bounds = np.concatenate([self.bounds, self.bounds[-1] + other.bounds[1:]])
        labels = np.concatenate([self.labels, other.labels])
        return ObservedPairs(bounds, labels, self.n_labels)

    def of_features(self, features):
        """Return the pairs of some features, in their order."""
        widths = np.diff(self.bounds)[features]
        bounds = np.concatenate([[0], np.cumsum(widths)])
        return ObservedPairs(
            bounds, self.labels[_ranges(self.bounds, features)], self.n_labels
        )

    def indices(self):
        """Return the feature and the label of each pair, in their order."""
        features = np.repeat(np.arange(len(self.bounds) - 1), np.diff(self.bounds))
        return features, self.labels

    def places_of(self, features):
        """Return where the rows of some features are in coef, one after the other."""
        return _ranges(self.places, features)

    def coef(self, w):
        """Return the weights in a coef as a csr_array (n_labels, n_features)."""
        shape = self.n_labels, len(self.bounds) - 1
        weights = w[self.exists]
        return sp.csc_array((weights, self.labels, self.bounds), shape=shape).tocsr()


def pair_counts(X, labels, n_labels, *, with_values):
    """Return how often each feature occurs with each label, a csr_array.

    ``labels`` has the label of each position, or a row for each, an array or a
    csr_array, that is not 0 for every possible label. In an array, positions that may
    have every label count for none. ``with_values`` sums the values of the features
    times the numbers in ``labels``; else only the places matter, also of values that
    sum to 0.
    """
    features = sp.csr_array(X, dtype=np.float64)
    values = features.data if with_values else features.data != 0
    features = sp.csr_array((values, features.indices, features.indptr), features.shape)
    return sp.csr_array(features.T @ possible_labels(labels, n_labels))


def neighbours(labels, offsets, n_labels, length=2):
    """Return which labels in a row each position and the ones before it may have.

    The csr_array has a column for each tuple of ``length`` labels, in the order of the
    first labels. The first positions of a sequence have none, and nothing counts where
    one of the positions may have every label. ``labels`` are as for `pair_counts`.

    >>> import numpy as np
    >>> from skcrf_sdca.structures.chain.observed import neighbours
    >>> neighbours(np.array([0, 1, 1]), np.array([0, 3]), 2).toarray().astype(int)
    array([[0, 0, 0, 0],
           [0, 1, 0, 0],
           [0, 0, 0, 1]])
    """
    last = possible_labels(labels, n_labels)
    is_first = np.zeros(last.shape[0], dtype=bool)
    is_first[offsets[:-1][np.diff(offsets) > 0]] = True
    position = np.repeat(np.arange(last.shape[0]), np.diff(last.indptr))
    (to,) = np.nonzero(~is_first[position])
    found = last
    for longer in range(2, length + 1):
        # Every label at `to` after every tuple of the position before.
        n_before = np.diff(found.indptr)[position[to] - 1]
        before, own = _ranges(found.indptr, position[to] - 1), np.repeat(to, n_before)
        column = found.indices[before].astype(np.int64) * n_labels + last.indices[own]
        values = found.data[before] * last.data[own]
        shape = last.shape[0], n_labels**longer
        found = sp.csr_array((values, (position[own], column)), shape=shape)
    return found


def _ranges(bounds, rows):
    """Return the numbers bounds[j], ..., bounds[j + 1] - 1 of all rows j."""
    widths = np.diff(bounds)[rows]
    before = np.cumsum(widths) - widths
    return np.repeat(bounds[:-1][rows] - before, widths) + np.arange(widths.sum())


def possible_labels(labels, n_labels):
    """Return the possible labels of each position, a csr_array; none for a label -1."""
    if sp.issparse(labels):
        return labels
    if labels.ndim == 1:
        is_known = labels >= 0
        bounds = np.concatenate([[0], np.cumsum(is_known)])
        ones, shape = np.ones(bounds[-1], dtype=bool), (len(labels), n_labels)
        return sp.csr_array((ones, labels[is_known], bounds), shape)
    if n_labels > 1:
        labels = labels * ~labels.all(axis=1, keepdims=True)
    return sp.csr_array(labels)
