"""Chains over label tuples as a Structure: of higher order, and with edge features.

    score(x, y) = sum_t x_t . coef[:, y_t] + intercept[y_t]
                  + start[y_0] + end[y_{T-1}]
                  + sum over m = 2 .. order + 1 of sum_t weight_m[y_{t-m+1}, ..., y_t]
                  + sum_{t>0} x_t . edge_coef[:, (y_{t-1}, y_t)]

where weight_2 are the transitions of a chain of order 1. The weights of tuples of up to
``order`` labels are part of the node scores of states, and those of order + 1 labels
are the transitions between states, see tuples.py. With edge features states have at
least two labels, and the edge features are features of the states of two.
"""

import numpy as np
import scipy.sparse as sp

from skcrf_sdca._kernels._tuple_structure import (
    TupleStructure,
    complete_rows,
    share_rows,
)
from skcrf_sdca.data.rows import as_csr
from skcrf_sdca.structures.chain.observed import ObservedPairs
from skcrf_sdca.structures.chain.parameters import ChainParameters
from skcrf_sdca.structures.chain.structure import Chain
from skcrf_sdca.structures.chain.tuples import LabelTuples


class TupleChain(Chain):
    """Chains whose states are tuples of labels.

    A label depends on the ``order`` labels before it, and its transition on features.

    To objective and solvers its labels are the states.

    Parameters
    ----------
    data : PackedSequences
    n_labels : int
        Labels, not states.
    order : int
    constraints : Constraints, default=None
        Those of labels.
    pairs : ObservedPairs, default=None
        Those of labels.
    edge_columns : ndarray of int, default=None
        The features that have a weight for every transition.
    edge_counts : tuple of (labels, min_count), default=None
        With the labels of all positions, an edge feature has the weights alone of the
        transitions that it is observed with, ``min_count`` times if that is not None.
    **options
        As for `Structure`.

    Raises
    ------
    ValueError
        If the sequences are rows of a table, which have one position each.
    MemoryError
        If the tuples, or the weights, clearly do not fit into memory.
    """

    name = "chain of higher order"

    def __init__(
        self,
        data,
        n_labels,
        *,
        order,
        constraints=None,
        pairs=None,
        edge_columns=None,
        edge_counts=None,
        **options,
    ):
        if not options.get("boundaries", True):
            raise ValueError(
                f"order={order} and edge features need sequences, and X is a table "
                "whose rows are sequences of one position; pass `lengths`, or set "
                "order=1 and edge_features=None"
            )
        self.order, self.edge_columns = order, edge_columns
        longest = order if edge_columns is None else max(order, 2)
        self.tuples = LabelTuples(
            n_labels, longest, constraints, longest_have_weights=order == longest
        )
        self.all_features = pairs is None
        pairs = _of_states(pairs, data.n_features, n_labels, len(self.tuples))
        if edge_columns is not None:
            pairs = pairs.followed_by(self._edge_pairs(data, edge_counts))
        super().__init__(
            data,
            len(self.tuples),
            constraints=self.tuples.constraints,
            pairs=pairs,
            **options,
        )

    def _layout(self):
        return self.tuples.layout

    def _edge_pairs(self, data, counts):
        """Return the pairs of edge features and states of two labels."""
        own, n_states = self.tuples.of_length(2), len(self.tuples)
        n = len(self.edge_columns)
        if counts is None:
            states = np.arange(own.start, own.stop, dtype=np.int32)
            bounds = np.arange(n + 1, dtype=np.int64) * len(states)
            return ObservedPairs(bounds, np.tile(states, n), n_states)
        labels, min_count = counts
        states = self.tuples.states(labels, data.offsets, longest=2)
        # A position without a transition counts for none.
        rows = sp.csr_array(data.X)[:, self.edge_columns]
        (after,) = np.nonzero(states >= own.start)
        return ObservedPairs.of_data(rows[after], states[after], n_states, min_count)

    def _sparse_rows(self):
        X = super()._sparse_rows()
        if self.edge_columns is None:
            return X
        return as_csr(sp.hstack([X, X[:, self.edge_columns]], format="csr"))

    def new_parameters(self, w=None):
        """Return TupleParameters with the flat vector `w`, by default of zeros."""
        return TupleParameters(self, w)

    def target_states(self, labels):
        """Return the states of the labels of all positions."""
        return self.tuples.states(labels, self.offsets)

    def label_rows_of_states(self, rows):
        """Return what rows (n_positions, n_labels) say of the last label of states.

        Raise ValueError for rows of bool, those of labels that are not known.
        """
        if rows.dtype == bool:
            raise ValueError(
                "y has unknown labels, which chains of higher order and edge features "
                f"do not take (here order={self.order}); give soft labels, or set "
                "order=1 and edge_features=None"
            )
        return np.ascontiguousarray(rows[:, self.tuples.label])

    def cost_of_states(self, cost):
        """Return a cost (n_labels, n_labels) as one of states."""
        label = self.tuples.label
        return np.ascontiguousarray(cost[np.ix_(label, label)])

    def scores(self, parameters, begin, end):
        """Return the Chains over states of the sequences begin <= i < end."""
        chains = super().scores(parameters, begin, end)
        complete_rows(self.tuples.suffix, chains.node_scores)
        return chains

    def add_features(self, parameters, begin, end, factor, local):
        """Add factor[i] times the features of node changes; overwrites ``local``."""
        share_rows(self.tuples.suffix, local)
        super().add_features(parameters, begin, end, factor, local)
        # The last state is added to the ends of all its suffixes.
        parameters.end[self.tuples.n_labels :] = 0.0

    def add_tied_features(self, parameters, tied):
        """Add the features of a sum of changes of transitions between states."""
        super().add_tied_features(
            parameters, tied * self.tuples.has_weight.reshape(tied.shape)
        )

    def kernel(self, weights, features, targets, cost=None):
        """Return the compiled structure of one thread, which changes weights."""
        return TupleStructure(
            self.tuples.suffix,
            self.tuples.has_weight,
            features,
            weights,
            self.offsets,
            targets,
            constraints=self.constraints,
            layout=self.layout,
            cost=cost,
        )


class TupleParameters(ChainParameters):
    """The weights of a `TupleChain` as one vector, by states.

    Parameters
    ----------
    structure : TupleChain
    w : ndarray of shape (n_weights,), default=None
        Zeros by default.
    """

    def __init__(self, structure, w=None):
        self.structure = structure
        super().__init__(
            structure.rows.n_features,
            structure.n_labels,
            w=w,
            pairs=structure.pairs,
            layout=structure.layout,
        )

    def attributes(self, constraints=None):
        """Return the weights as attributes of an estimator, by labels."""
        tuples, n = self.structure.tuples, self.structure.tuples.n_labels
        n_features = self.structure.data.n_features
        if self.structure.all_features:
            coef = self.coef[: n_features * n].reshape(n_features, n).T
        else:
            coef = self.pairs.coef(self.coef)[:n, :n_features]
        bounds = [self.start[:n], self.end[:n]]
        higher = list(self._by_length())
        if tuples.labels_allowed is not None:
            bounds = tuples.labels_allowed.forbid_weights(*bounds, higher[0])
            higher[0] = bounds[2]
        return {
            "coef_": coef,
            "intercept_": self.intercept[:n],
            "start_": bounds[0],
            "end_": bounds[1],
            "transition_": higher[0],
            "higher_transitions_": tuple(higher[1:]),
            **self._edge_coef(),
        }

    def _edge_coef(self):
        """Return the weights of edge features, a row for each pair of labels."""
        tuples, columns = self.structure.tuples, self.structure.edge_columns
        if columns is None:
            return {}
        n, own = tuples.n_labels, tuples.of_length(2)
        n_features = self.structure.data.n_features
        found = sp.coo_array(self.pairs.coef(self.coef)[own, n_features:])
        before, label = tuples.tuples[own, -2:].T.astype(np.int64)
        place = (before * n + label)[found.coords[0]], columns[found.coords[1]]
        shape = n * n, n_features
        return {"edge_coef_": sp.csr_array((found.data, place), shape=shape)}

    def _by_length(self):
        """Yield the weights of tuples of 2, ..., order + 1 labels, 0 if forbidden."""
        tuples = self.structure.tuples
        for m in range(2, min(tuples.order, self.structure.order + 1) + 1):
            rows = tuples.of_length(m)
            weights = np.zeros(m * (tuples.n_labels,))
            weights[tuple(tuples.tuples[rows, -m:].T)] = self.intercept[rows]
            yield weights
        if self.structure.order < tuples.order:
            return
        weights = np.zeros((tuples.order + 1) * (tuples.n_labels,))
        weights[tuple(tuples.transition_tuples.T)] = self.transition.reshape(-1)[
            tuples.has_weight
        ]
        yield weights


def _of_states(pairs, n_features, n_labels, n_states):
    """Return pairs of features and labels as those of tuples of one label.

    By default all of them.
    """
    if pairs is not None:
        return ObservedPairs(pairs.bounds, pairs.labels, n_states)
    bounds = np.arange(n_features + 1, dtype=np.int64) * n_labels
    labels = np.tile(np.arange(n_labels, dtype=np.int32), n_features)
    return ObservedPairs(bounds, labels, n_states)
