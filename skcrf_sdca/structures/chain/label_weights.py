"""The weights of a chain by labels and features, whatever a solver's vector looks like.

They are the attributes of a fitted estimator. Owns how they become those of other
labels and features: a model whose weights another fit begins with, is kept near, or
goes on from.
"""

from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from skcrf_sdca.structures.chain.parameters import MORE_WEIGHTS, WEIGHTS


class LabelWeights(NamedTuple):
    """Weights of K labels and d features, -inf where something is forbidden.

    The names are those of the attributes of estimators.

    Attributes
    ----------
    coef_ : ndarray or csr_array of shape (K, d)
    intercept_, start_, end_ : ndarrays of shape (K,)
    transition_ : ndarray of shape (K, K)
    higher_transitions_ : tuple of ndarrays of shape (K, K, K), ...
        Those of tuples of 3, 4, ... labels.
    edge_coef_ : csr_array of shape (K^2, d), or None
        Those of edge features.

    Examples
    --------
    >>> import numpy as np
    >>> from skcrf_sdca.structures.chain.label_weights import LabelWeights
    >>> one = np.array([1.0, 2.0])
    >>> weights = LabelWeights(np.eye(2), one, one, one, np.ones((2, 2)))
    >>> weights.matched(np.array([1, -1, 0]), np.array([0, 1])).intercept_
    array([2., 0., 1.])
    """

    coef_: Any
    intercept_: NDArray[np.float64]
    start_: NDArray[np.float64]
    end_: NDArray[np.float64]
    transition_: NDArray[np.float64]
    higher_transitions_: tuple[NDArray[np.float64], ...] = ()
    edge_coef_: Any = None

    @classmethod
    def of_fitted(cls, estimator):
        """Return the weights of a fitted estimator of chains; nothing is copied."""
        return cls(*(getattr(estimator, name) for name in (*WEIGHTS, *MORE_WEIGHTS)))

    def without_forbidden(self, constraints=None):
        """Return the weights with 0 where they are -inf, or constraints forbid."""
        names = "start_", "end_", "transition_"
        bounds = (getattr(self, name) for name in names)
        if constraints is not None:
            bounds = constraints.forbid_weights(*bounds)
        finite = (np.where(weights == -np.inf, 0.0, weights) for weights in bounds)
        return self._replace(**dict(zip(names, finite, strict=True)))

    def matched(self, label, feature):
        """Return the weights of other labels and features, 0 for those that are new.

        Parameters
        ----------
        label : ndarray of int of shape (n_labels,)
            The number that each of the new labels has here, -1 if none.
        feature : ndarray of int of shape (n_features,)
            The same of the features.
        """
        n_labels = len(self.intercept_)
        (known,) = np.nonzero(label >= 0)

        def of_labels(weights):
            axes = weights.ndim
            out = np.zeros(axes * (len(label),))
            out[np.ix_(*axes * (known,))] = weights[np.ix_(*axes * (label[known],))]
            return out

        edge_coef = self.edge_coef_
        if edge_coef is not None:
            pair = label[:, np.newaxis] * n_labels + label
            pair[(label[:, np.newaxis] < 0) | (label < 0)] = -1
            edge_coef = selected(edge_coef, pair.ravel(), feature)
        return LabelWeights(
            selected(self.coef_, label, feature),
            *map(of_labels, self[1:5]),
            tuple(map(of_labels, self.higher_transitions_)),
            edge_coef,
        )

    def of_features(self, columns):
        """Return the weights of some features alone, or of all for None."""
        if columns is None:
            return self
        edge_coef = self.edge_coef_
        return self._replace(
            coef_=self.coef_[:, columns],
            edge_coef_=None if edge_coef is None else edge_coef[:, columns],
        )


def selected(coef, row, feature):
    """Return coefficients of these rows and features, 0 where a number is -1."""
    (rows,), (columns,) = np.nonzero(row >= 0), np.nonzero(feature >= 0)
    block = coef[row[rows]][:, feature[columns]]
    if sp.issparse(block):
        block = block.tocoo()
        places = rows[block.row], columns[block.col]
        return sp.csr_array((block.data, places), shape=(len(row), len(feature)))
    selected = np.zeros((len(feature), len(row))).T
    selected[np.ix_(rows, columns)] = block
    return selected
