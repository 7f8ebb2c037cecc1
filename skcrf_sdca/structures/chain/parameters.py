"""The parameters of a chain: one flat vector, its five named blocks, its scores.

Owns the feature map [LePriol18, App. B]:

    intercept (K) | start (K) | end (K) | transition (K, K), [from, to] | coef (d, K)

coef may have weights for some labels of each feature only, see observed.py, and
transition for the pairs of a TransitionLayout only.

    node_scores[t, k] = x_t . coef[:, k] + intercept[k]
                        + start[k] (t = 0) + end[k] (t = T - 1)
    score(x, y) = sum_t node_scores[t, y_t] + sum_{t > 0} transition[y_{t-1}, y_t]
"""

import numpy as np
import scipy.sparse as sp

from skcrf_sdca._kernels._transitions import all_transitions, layout_of
from skcrf_sdca._kernels._weights import SparseWeights, Weights
from skcrf_sdca._utils.memory import check_fits
from skcrf_sdca.structures.chain.chains import Chains

# The weights of a fitted estimator, with their axes: K labels, d features.
WEIGHTS = {
    "coef_": "Kd",
    "intercept_": "K",
    "start_": "K",
    "end_": "K",
    "transition_": "KK",
}
# Those that only some models have: of more than two labels, and of edge features.
MORE_WEIGHTS = ("higher_transitions_", "edge_coef_")
# Those that are -inf where a label or a transition is forbidden.
MAY_FORBID = ("start_", "end_", "transition_")


class ChainParameters:
    """Weights of a linear-chain CRF as one vector ``w`` and five named views of it.

    Parameters
    ----------
    n_features, n_labels : int
    boundaries : bool, default=True
        Whether the start, end and transition weights exist. Without them (chains of
        one node) they stay zero and the model is multinomial logistic regression.
    w : ndarray of shape (n_weights,), default=None
        Taken as it is, not copied; zeros by default.
    pairs : ObservedPairs, default=None
        The labels that each feature has weights for; None if all.
    layout : TransitionLayout, default=None
        The pairs of labels that have transition weights; by default all.

    Attributes
    ----------
    w : ndarray of shape (n_weights,)
        `coef` is last, so that new features are appended.
    biases : ndarray of shape (n_weights - coef.size,)
        All weights but `coef`.
    coef : ndarray of shape (n_features, n_labels)
        Or, with `pairs`, one number for each of them.
    intercept, start, end : ndarrays of shape (n_labels,)
    transition : ndarray of shape layout.shape
        By default (n_labels, n_labels).

    Examples
    --------
    >>> from skcrf_sdca.structures.chain.parameters import ChainParameters
    >>> model = ChainParameters(n_features=128, n_labels=26)
    >>> model.w.shape
    (4082,)
    """

    def __init__(
        self,
        n_features,
        n_labels,
        *,
        boundaries=True,
        w=None,
        pairs=None,
        layout=None,
    ):
        self.n_features = n_features
        self.n_labels = n_labels
        self.boundaries = boundaries
        self.pairs = pairs
        self.layout = all_transitions(n_labels) if layout is None else layout
        n_coef = n_features * n_labels if pairs is None else pairs.layout.size
        sizes = [n_labels, n_labels, n_labels, self.layout.size, n_coef]
        self.w = np.zeros(sum(sizes)) if w is None else w
        self.intercept, self.start, self.end, transition, coef = np.split(
            self.w, np.cumsum(sizes)[:-1]
        )
        self.biases = self.w[: sum(sizes[:-1])]
        self.coef = coef if pairs is not None else coef.reshape(n_features, n_labels)
        self.transition = transition.reshape(self.layout.shape)

    @classmethod
    def of_fitted(cls, estimator, X):
        """Return the parameters of a fitted estimator for the features in X, and X.

        X is returned on these features alone. The blocks are not views of one vector:
        `w` is None.
        """
        coef, X = used_features(estimator.coef_, X)
        parameters = cls(0, len(estimator.intercept_))
        parameters.w, parameters.n_features = None, len(coef)
        parameters.coef, parameters.intercept = coef, estimator.intercept_
        parameters.start, parameters.end = estimator.start_, estimator.end_
        transition = np.ascontiguousarray(estimator.transition_)
        parameters.layout = layout_of(transition != -np.inf)
        parameters.transition = parameters.layout.compact(transition)
        return parameters, X

    @property
    def tied(self):
        """The potentials that all positions share: the transition weights."""
        return self.transition

    def with_features(self, n_features, w, pairs=None):
        """Return parameters of other features, with the flat vector `w`."""
        return ChainParameters(
            n_features,
            self.n_labels,
            boundaries=self.boundaries,
            w=w,
            pairs=pairs,
            layout=self.layout,
        )

    def grown(self, n_features, n_labels, labels):
        """Return the weights as parameters of more features and labels, 0 elsewhere.

        Where only features are new, their rows are appended in memory that lies behind
        ``w`` since the last growth, if there is enough: the results share memory.

        Parameters
        ----------
        n_features, n_labels : int
        labels : ndarray of int of shape (self.n_labels,)
            The numbers of the labels in the new parameters.
        """
        if n_labels == self.n_labels:
            n_new = (n_features - self.n_features) * n_labels
            return self.with_features(n_features, _lengthened(self.w, n_new))
        other = ChainParameters(n_features, n_labels, boundaries=self.boundaries)
        other.coef[: self.n_features, labels] = self.coef
        other.intercept[labels] = self.intercept
        other.start[labels], other.end[labels] = self.start, self.end
        other.transition[np.ix_(labels, labels)] = self.transition
        return other

    def assign(self, weights):
        """Take the weights of `LabelWeights` for these features and labels.

        They are finite. What has no place here is left out.
        """
        self.intercept[:] = weights.intercept_
        self.start[:], self.end[:] = weights.start_, weights.end_
        self.transition[:] = self._tied_row(weights)
        if self.pairs is None:
            self.coef[:] = dense_coef(weights.coef_).T
        else:
            features, labels = self.pairs.indices()
            self.coef[self.pairs.exists] = values_at(weights.coef_, labels, features)

    def _tied_row(self, weights):
        return self.layout.compact(weights.transition_)

    def attributes(self, constraints=None):
        """Return the weights as attributes of an estimator, -inf where forbidden."""
        bounds = self.start, self.end, self.layout.expand(self.transition, 0.0)
        if constraints is not None:
            bounds = constraints.forbid_weights(*bounds)
        start, end, transition = bounds
        coef = self.coef.T
        if self.pairs is not None:
            coef = self.pairs.coef(self.coef)
        return {
            "coef_": coef,
            "intercept_": self.intercept,
            "start_": start,
            "end_": end,
            "transition_": transition,
        }

    def clear_boundaries(self):
        """Set the weights to 0 that do not exist without boundaries."""
        if not self.boundaries:
            for block in (self.start, self.end, self.transition):
                block[:] = 0.0

    def weights(self):
        """Return the blocks as the kernels take them; they share memory with ``w``."""
        return Weights(self._blocks(), self.boundaries, self._layout())

    def sparse_weights(self, dual, penalty):
        """Return the blocks as weights that follow dual weights, see `SparseWeights`.

        Parameters
        ----------
        dual : ChainParameters
        penalty : ElasticNet
        """
        return SparseWeights(
            self._blocks(),
            self.boundaries,
            self._layout(),
            dual=dual.weights(),
            threshold=penalty.threshold,
            curvature=penalty.curvature,
        )

    def _blocks(self):
        return self.coef, self.intercept, self.start, self.end, self.transition

    def _layout(self):
        return None if self.pairs is None else self.pairs.layout

    def scores(self, rows, offsets, begin, end, constraints=None, temperature=1.0):
        """Return the Chains of begin <= i < end, of the scores over a temperature.

        Raise MemoryError if these do not fit.
        """
        bounds = offsets[begin : end + 1] - offsets[begin]
        check_fits(
            8 * int(bounds[-1]) * self.n_labels,
            f"the scores of {bounds[-1]} positions and {self.n_labels} labels",
            "cut long sequences into shorter ones",
        )
        node_scores = np.empty((bounds[-1], self.n_labels))
        self.weights().node_scores(rows, offsets, begin, end, node_scores)
        transition = self.transition
        if temperature != 1.0:
            node_scores /= temperature
            transition = transition / temperature
        return Chains(node_scores, transition, bounds, constraints, self.layout)


# Memory that is allocated when a vector grows, relative to what is needed.
ROOM = 1.5


def _lengthened(w, n_new):
    """Return a vector with zeros appended.

    A vector made here is the beginning of an array of zeros, so that others can follow
    where they are: to append often costs no more than to write once.
    """
    if not n_new:
        return w
    size, room = len(w) + n_new, w.base
    if not isinstance(room, np.ndarray) or not len(room) >= size:
        room = np.zeros(int(ROOM * size))
        room[: len(w)] = w
    return room[:size]


def dense_coef(coef):
    """Return coefficients dense, in the memory layout that they have after fit."""
    return coef.toarray(order="F") if sp.issparse(coef) else coef


def values_at(coef, rows, columns):
    """Return the values of a matrix, dense or sparse, at some places."""
    # Of a sparse matrix such a selection is a matrix of one row.
    coef = sp.csr_matrix(coef) if sp.issparse(coef) else coef
    return np.ravel(coef[rows, columns])


def used_features(coef, X):
    """Return the coefficients of the features in X, and X on these features alone.

    Of sparse coefficients and rows only the features in X are taken: scores are the
    same to the last bit, in memory that does not grow with the vocabulary.
    """
    if sp.issparse(coef) and sp.issparse(X):
        used = np.zeros(X.shape[1], dtype=bool)
        used[X.indices] = True
        indices = (np.cumsum(used, dtype=np.int32) - 1)[X.indices]
        shape = (X.shape[0], np.count_nonzero(used))
        X = sp.csr_array((X.data, indices, X.indptr), shape=shape)
        coef = coef[:, used]
    return np.ascontiguousarray(dense_coef(coef).T), X
