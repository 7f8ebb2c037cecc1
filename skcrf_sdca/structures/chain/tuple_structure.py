"""Chains over label tuples as a Structure: of higher order, and with edge features.

    score(x, y) = sum_t x_t . coef[:, y_t] + intercept[y_t]
                  + start[y_0] + end[y_{T-1}]
                  + sum over m = 2 .. order + 1 of sum_t weight_m[y_{t-m+1}, ..., y_t]
                  + sum_{t>0} x_t . edge_coef[:, (y_{t-1}, y_t)]

where weight_2 are the transitions of a chain of order 1. The weights of tuples of up to
``order`` labels are part of the node scores of states, and the weights of order + 1
labels are the transitions between states, see tuples.py. With edge features states have
at least two labels, and the edge features are features of the states of two.
"""

import numpy as np
import scipy.sparse as sp

from skcrf_sdca._kernels.features._features import FeatureRows
from skcrf_sdca._kernels.visits._tying import TupleTying, complete_rows, share_rows
from skcrf_sdca.data.rows import as_csr
from skcrf_sdca.structures.chain.fitted_tuples import FittedTuples
from skcrf_sdca.structures.chain.parameters import ChainParameters
from skcrf_sdca.structures.chain.structure import Chain
from skcrf_sdca.structures.chain.tuple_parameters import TupleForm, TupleParameters
from skcrf_sdca.structures.structure import FixedScores


class TupleChain(Chain):
    """Chains whose states are tuples of labels.

    A label depends on the ``order`` labels before it, and its transition on features.
    Objective and solvers see the states as labels; the parameters are about labels.
    ``pair_features`` and ``label_tuples`` are as for `TupleForm`. With the latter there
    are no edge marginals of all pairs of states, which the exact line search of SDCA
    needs. ValueError if the sequences are rows of a table, which have one position
    each; MemoryError if the tuples, or the weights, clearly do not fit.
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
        pair_features=None,
        label_tuples=None,
        **options,
    ):
        if not options.get("boundaries", True):
            raise ValueError(
                f"order={order} and edge features need sequences, and X is a table "
                "whose rows are sequences of one position; pass `lengths`, or set "
                "order=1 and edge_features=None"
            )
        self.form = TupleForm(
            data.n_features,
            n_labels,
            order=order,
            constraints=constraints,
            pairs=pairs,
            pair_features=pair_features,
            label_tuples=label_tuples,
        )
        self.tuples = self.form.tuples
        if label_tuples is not None:
            self.levels = Chain.levels - {"direct"}
        super().__init__(
            data,
            len(self.tuples),
            constraints=self.tuples.constraints,
            pairs=self.form.pairs,
            **options,
        )

    def _layout(self):
        return self.tuples.layout

    def _label_of_ties(self):
        return self.tuples.label_of_ties

    def _sparse_rows(self):
        X = super()._sparse_rows()
        if self.form.edge_columns is None:
            return X
        return as_csr(sp.hstack([X, X[:, self.form.edge_columns]], format="csr"))

    @property
    def n_classes(self):
        """How many labels of users there are."""
        return self.tuples.n_labels

    @property
    def label_constraints(self):
        """The constraints of labels, or None."""
        return self.tuples.labels_allowed

    def vector_form(self):
        """Return what says which numbers the vector of weights has."""
        return self.form.vector_form()

    def new_parameters(self, w=None):
        """Return TupleParameters with the flat vector `w`, by default of zeros."""
        return TupleParameters(self.form, w)

    def grown(self, parameters, labels):
        """Return weights of fewer features and labels as parameters of these."""
        own, other = self.form, parameters.form
        same_sizes = len(labels) == own.tuples.n_labels and (
            own.n_features == other.n_features
        )
        if same_sizes and not own.vector_form().differences(other.vector_form()):
            return self.new_parameters(parameters.w)
        return self._matched(parameters, labels, self.tuples.n_labels)

    def target_states(self, labels):
        """Return the states of the labels of all positions."""
        return self.tuples.states(labels, self.offsets)

    def by_rows_of_coef(self, values):
        """Return the values of features, then those of edge features."""
        columns = self.form.edge_columns
        return values if columns is None else np.append(values, values[columns])

    def label_rows_of_states(self, rows):
        """Return what rows (n_positions, n_labels) say of the last label of states."""
        return np.ascontiguousarray(rows[:, self.tuples.label])

    def cost_of_states(self, cost):
        """Return a cost (n_labels, n_labels) as one of states."""
        label = self.tuples.label
        return np.ascontiguousarray(cost[np.ix_(label, label)])

    def _scores_of_rows(self, parameters, rows, begin, end):
        chains = super()._scores_of_rows(parameters, rows, begin, end)
        complete_rows(self.tuples.suffix, chains.local)
        return chains

    def fixed_scores(self, weights):
        """Return the FixedScores of finite Weights."""
        labels = ChainParameters(self.data.n_features, self.tuples.n_labels)
        labels.assign(weights)
        fitted = FittedTuples(weights, labels, self.tuples)
        fitted.X = self.data.X
        n, rows = len(self.data), FeatureRows(self.data.X)
        states = fitted.scores(rows, self.offsets, 0, n)
        local, tied = states.local, states.tied.copy()
        # The constraints forbid.
        local[local == -np.inf] = 0.0
        tied[tied == -np.inf] = 0.0
        return FixedScores(local, tied)

    def _parts_constraints(self):
        anywhere = np.ones(self.n_labels, dtype=bool)
        return self.constraints._replace(start=self.tuples.suffix < 0, end=anywhere)

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

    def _tying(self):
        longest = int(self.data.lengths.max(initial=1))
        return TupleTying(self.tuples.suffix, self.tuples.has_weight, longest)
