"""The weights of chains over label tuples: which there are, and their one vector.

Single states have the weights of tuples of up to ``order`` labels, beside the
intercepts; transitions between states have the weights of order + 1 labels. Edge
features are features of the states of two labels, after the others.
"""

from typing import NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from skcrf_sdca.structures.chain.constraints import Constraints
from skcrf_sdca.structures.chain.observed import ObservedPairs
from skcrf_sdca.structures.chain.parameters import (
    ChainParameters,
    chain_blocks,
    names_of_transitions,
    pairs_with_features,
    transitions_of,
)
from skcrf_sdca.structures.chain.tuples import (
    LabelTuples,
    check_weights_fit,
    neighbours_with_weights,
)
from skcrf_sdca.structures.form import VectorForm, dense_coef
from skcrf_sdca.structures.parameters import values_at


class PairFeatures(NamedTuple):
    """The features that have weights of pairs of labels.

    Attributes
    ----------
    columns : ndarray of int
        The features of positions.
    pairs : ObservedPairs, default=None
        The pairs of labels of each, numbered as the columns of `observed.neighbours`;
        None if all.
    """

    columns: NDArray[np.intp]
    pairs: ObservedPairs | None = None


class TupleForm:
    """The weights that a chain of higher order has.

    ``constraints`` and ``pairs`` are about labels, ``pair_features`` is a PairFeatures,
    and ``label_tuples`` are the tuples of labels with a weight, as the observed ones of
    `LabelTuples`; by default all.

    Attributes
    ----------
    tuples : LabelTuples
    all_features, all_pairs : bool
        Whether features, and edge features, have all weights.
    pairs : ObservedPairs
        Pairs of features and states; a row for each feature, and each edge feature.
    """

    def __init__(
        self,
        n_features,
        n_labels,
        *,
        order,
        constraints=None,
        pairs=None,
        pair_features=None,
        label_tuples=None,
    ):
        self.n_features, self.order = n_features, order
        self.constraints = constraints
        self.edge_columns = None if pair_features is None else pair_features.columns
        longest = order if pair_features is None else max(order, 2)
        self.tuples = LabelTuples(
            n_labels,
            longest,
            constraints,
            longest_have_weights=order == longest,
            observed=label_tuples,
        )
        check_weights_fit(n_labels, order + 1)
        self.all_features = pairs is None
        self.pairs = _state_pairs(pairs, n_features, n_labels, len(self.tuples))
        if pair_features is not None:
            pairs = self._edge_pairs(pair_features.pairs)
            self.pairs = self.pairs.followed_by(pairs)

    def _edge_pairs(self, pairs):
        """Return the pairs of edge features and states of two labels."""
        own, n_states = self.tuples.of_length(2), len(self.tuples)
        n = len(self.edge_columns)
        if pairs is None:
            states = np.arange(own.start, own.stop, dtype=np.int32)
            bounds = np.arange(n + 1, dtype=np.int64) * len(states)
            return ObservedPairs(bounds, np.tile(states, n), n_states)
        state = np.full(self.tuples.n_labels**2, -1, dtype=np.int32)
        state[self.pair_of_states()] = np.arange(own.start, own.stop)
        feature, pair = pairs.indices()
        exists = state[pair] >= 0
        widths = np.bincount(feature[exists], minlength=n)
        bounds = np.concatenate([[0], np.cumsum(widths)])
        return ObservedPairs(bounds, state[pair[exists]], n_states)

    def pair_of_states(self):
        """Return the pair of labels of each state of two, before * n_labels + label."""
        tuples = self.tuples
        before, label = tuples.tuples[tuples.of_length(2), -2:].T.astype(np.int64)
        return before * tuples.n_labels + label

    def edge_indices(self):
        """Return pair of labels and feature of each weight of an edge feature."""
        first = self.pairs.bounds[self.n_features]
        row, state = (index[first:] for index in self.pairs.indices())
        own = self.tuples.of_length(2)
        feature = self.edge_columns[row - self.n_features]
        return self.pair_of_states()[state - own.start], feature

    def vector_form(self):
        """Return the VectorForm, without pairs if all features have all weights."""
        pairs = None if self.all_features else self.pairs
        return VectorForm(
            order=self.order,
            pair_columns=self.edge_columns,
            constraints=self.constraints,
            pairs=pairs,
            label_tuples=self.tuples.observed,
        )


class TupleParameters(ChainParameters):
    """The weights of a `TupleForm` as one vector, by states; by default zeros."""

    def __init__(self, form, w=None):
        self.form = form
        has_edges = form.edge_columns is not None
        self.blocks = chain_blocks(form.order, edge_features=has_edges)
        super().__init__(
            len(form.pairs.bounds) - 1,
            len(form.tuples),
            w=w,
            pairs=form.pairs,
            layout=form.tuples.layout,
        )

    def _rows_of_features(self):
        """Return the dense (d, K) view of the feature weights."""
        n, n_features = self.form.tuples.n_labels, self.form.n_features
        place = self.pairs.places[n_features]
        # A row may have a place for every state.
        return self.coef[:place].reshape(n_features, -1 if n_features else n)[:, :n]

    def _sizes(self):
        form = self.form
        return {"label": form.tuples.n_labels, "feature": form.n_features}

    def assign(self, weights):
        """Take Weights for these features and labels, which are finite.

        Weights without a place here are left out.
        """
        tuples, n = self.form.tuples, self.form.tuples.n_labels
        self.w[:] = 0.0
        for name in self._of_labels():
            getattr(self, name)[:n] = weights[name]
        by_length = transitions_of(weights)
        self.intercept[n:] = tuples.weights_of_states(by_length)[n:]
        tied = tuples.weights_of_transitions(by_length)
        self.tied.reshape(-1)[tuples.has_weight] = tied
        first, place = self._first_of_edges, np.flatnonzero(self.pairs.exists)
        if self.form.all_features:
            self._rows_of_features()[:] = dense_coef(weights["coef"]).T
        else:
            features, labels = (index[:first] for index in self.pairs.indices())
            self.coef[place[:first]] = values_at(weights["coef"], labels, features)
        if self.form.edge_columns is not None and "edge_coef" in weights:
            edges = values_at(weights["edge_coef"], *self.form.edge_indices())
            self.coef[place[first:]] = edges

    @property
    def _first_of_edges(self):
        """The number of the first pair of an edge feature."""
        return self.pairs.bounds[self.form.n_features]

    def label_weights(self, constraints=None):
        """Return the Weights of the model, -inf where `constraints` of labels forbid.

        Without these, forbidden tuples have the weight 0.
        """
        n, n_features = self.form.tuples.n_labels, self.form.n_features
        arrays = {name: getattr(self, name)[:n] for name in self._of_labels()}
        if self.form.all_features:
            arrays["coef"] = self._rows_of_features().T
        else:
            arrays["coef"] = self.pairs.coef(self.coef)[:n, :n_features]
        names = names_of_transitions(self.blocks)
        arrays |= dict(zip(names, self._by_length(), strict=True))
        if self.form.edge_columns is not None:
            arrays["edge_coef"] = self._edge_coef()
        return self._allowed(arrays, constraints)

    def _edge_coef(self):
        """Return the weights of edge features, a row for each pair of labels."""
        weights = self.coef[self.pairs.exists][self._first_of_edges :]
        shape = self.form.tuples.n_labels**2, self.form.n_features
        return sp.csr_array((weights, self.form.edge_indices()), shape=shape)

    def _by_length(self):
        """Yield the weights of tuples of 2, ..., order + 1 labels, 0 if forbidden."""
        tuples, order = self.form.tuples, self.form.order
        for m in range(2, min(tuples.order, order + 1) + 1):
            rows = tuples.of_length(m)
            weights = np.zeros(m * (tuples.n_labels,))
            weights[tuple(tuples.tuples[rows, -m:].T)] = self.intercept[rows]
            yield weights
        if order < tuples.order:
            return
        weights = np.zeros((tuples.order + 1) * (tuples.n_labels,))
        weights[tuple(tuples.transition_tuples.T)] = self.tied.reshape(-1)[
            tuples.has_weight
        ]
        yield weights


def tuples_with_weights(weights, longest):
    """Return the `neighbours_with_weights` of the Weights of a model."""
    has_edge = pairs_with_features(weights)
    return neighbours_with_weights(transitions_of(weights), has_edge, longest)


def _state_pairs(pairs, n_features, n_labels, n_states):
    """Return pairs of features and labels, by default all, as pairs with states."""
    if pairs is not None:
        return ObservedPairs(pairs.bounds, pairs.labels, n_states)
    bounds = np.arange(n_features + 1, dtype=np.int64) * n_labels
    labels = np.tile(np.arange(n_labels, dtype=np.int32), n_features)
    return ObservedPairs(bounds, labels, n_states)


def form_of_weights(weights):
    """Return the VectorForm of all weights that a chain has, of its Weights."""
    constraints = Constraints.of_weights(weights)
    coef = weights.get("edge_coef")
    return VectorForm(
        constraints=None if constraints.is_trivial() else constraints,
        order=len(transitions_of(weights)),
        pair_columns=None if coef is None else np.unique(coef.indices),
    )


def parameters_of(form, n_features, n_labels, *, boundaries=True, w=None):
    """Return the parameters of a VectorForm without pairs, with the flat vector `w`."""
    if form.order == 1 and form.pair_columns is None:
        return ChainParameters(
            n_features, n_labels, boundaries=boundaries, w=w, parts=form.parts
        )
    columns = form.pair_columns
    tuples = TupleForm(
        n_features,
        n_labels,
        order=form.order,
        constraints=form.constraints,
        pair_features=None if columns is None else PairFeatures(columns),
    )
    return TupleParameters(tuples, w)
