"""The features of tokens or nodes: all pairs with labels have weights, or some.

`TokenRows` are those of any structure, `CompiledRows` those that visits read.
"""

from copy import copy

import numpy as np
from scipy.sparse import csr_array

from skcrf_sdca._kernels.features._features import DistinctFeatures, FeatureRows
from skcrf_sdca._kernels.features._made_rows import DistinctMadeFeatures
from skcrf_sdca._kernels.features._observed import (
    ObservedFeatures,
    ObservedRows,
    sorted_by_width,
)
from skcrf_sdca._kernels.inference._passes import add_labels
from skcrf_sdca._kernels.visits._item import Item
from skcrf_sdca.data.packed import PackedSequences
from skcrf_sdca.structures.structure import FixedScores


class TokenRows:
    """Mixin of a Structure whose local scores come from rows of features.

    The structure adds `_new_scores`, the Scores of potentials.
    """

    def _feature_rows(self):
        if self.pairs is None:
            return self.data.feature_rows()
        layout = self.pairs.layout
        return ObservedRows(sorted_by_width(self._sparse_rows(), layout), layout)

    @property
    def stored_rows(self):
        """The rows of the data as they are, None where they are those of pairs."""
        return self.rows if self.pairs is None else None

    def with_data(self, data):
        """Return the same structure of other PackedSequences."""
        other = copy(self)
        other.data = data
        other.rows = other._feature_rows()
        return other

    def at(self, positions, bounds):
        """Return the same structure at some positions, which ``bounds`` cut anew."""
        other = self.with_data(PackedSequences(self.data.X[positions], bounds))
        if self.fixed is not None:
            other.fixed = self.fixed.at(positions)
        return other

    @property
    def n_columns(self):
        """How many weights a feature may have."""
        return self.n_labels

    def _sparse_rows(self):
        """Return the rows of all features with weights, a csr_array of float64."""
        return csr_array(self.data.X, dtype=np.float64)

    def scores(self, parameters, begin, end):
        """Return the Scores of the items begin <= i < end, the fixed ones added."""
        scores = self._scores_of_rows(parameters, self.rows, begin, end)
        if self.fixed is None:
            return scores
        first, last = self.offsets[[begin, end]]
        scores.local[:] += self.fixed.local[first:last]
        return scores.with_scores(scores.local, scores.tied + self.fixed.tied)

    def fixed_scores(self, weights):
        """Return the FixedScores of finite Weights, of all pairs."""
        parameters, rows = self._parameters_of_all_pairs(), self.data.feature_rows()
        parameters.assign(weights)
        scores = self._scores_of_rows(parameters, rows, 0, len(self.data))
        return FixedScores(scores.local, scores.tied)

    def _parameters_of_all_pairs(self):
        """Return parameters in which every feature has weights of all labels."""
        other = copy(self)
        other.pairs, other.boundaries = None, True
        return other.new_parameters()

    def _scores_of_rows(self, parameters, rows, begin, end):
        """Return the Scores of weights alone."""
        found = parameters.potentials(rows, self.offsets, begin, end)
        return self._new_scores(*found, begin, end)

    @property
    def _tied_shape(self):
        return (self.n_tied,)

    def soft_scores(self, probabilities, begin, end):
        """Return the scores of soft labels, for begin <= i < end.

        Positions are independent, but for the constraints: labellings that these forbid
        have probability 0, and those of the others are divided by their sum.
        """
        bounds = self.offsets[begin : end + 1]
        with np.errstate(divide="ignore"):
            local = np.log(probabilities[bounds[0] : bounds[-1]])
        tied = np.zeros(self._tied_shape)
        return self._new_scores(local, tied, bounds - bounds[0], begin, end)

    def add_features(self, parameters, begin, end, factor, local):
        """Add factor[i] times the features of local changes of begin <= i < end."""
        parameters.weights().add_changes(
            self.rows, self.offsets, begin, end, factor, local
        )


class CompiledRows(TokenRows):
    """Rows of a Structure of the level "visit", with a compiled `inference`."""

    def distinct_features(self):
        """Return the distinct features of each sequence, as visits need them."""
        if not self.data.stores_rows:
            return DistinctMadeFeatures(self.rows, self.offsets)
        make = DistinctFeatures if self.pairs is None else ObservedFeatures
        return make(self.rows, self.offsets, new=self.new_array)

    def n_coef_in(self, partition):
        """Return how many weights of features workers have: local and shared ones."""
        if self.pairs is not None:
            return self.pairs.layout.size, self.pairs.layout.size
        return partition.n_rows * self.n_columns, len(partition.shared) * self.n_columns

    def in_partition(self, features, partition):
        """Return the features with the rows of local weights, and their pairs.

        The given features are changed, unless there are pairs; then all rows are apart.
        """
        if not self.data.stores_rows:
            features.share()
            return features, None
        tiers = partition.n_frequent, len(partition.shared)
        if self.pairs is None:
            X = partition.renumber(self.data.X, self.new_array)
            rows = FeatureRows(X, new=self.new_array)
            features.renumber(rows, partition.row, *tiers)
            return features, None
        order = np.concatenate([partition.shared, *partition.private])
        pairs = self.pairs.of_features(order)
        X = partition.renumber(self._sparse_rows())
        rows = ObservedRows(sorted_by_width(X, pairs.layout), pairs.layout)
        features = ObservedFeatures(rows, self.offsets, *tiers, new=self.new_array)
        return features, pairs

    def label_potentials(self, labels):
        """Return the expectations of the distribution that is certain of labels."""
        certain = self.zero_potentials(np.float64)
        certain.set_labels(labels, 1.0)
        tied = certain.tied.reshape(len(self.data), self.n_tied)
        add_labels(self.inference(), labels, np.ones(len(self.data)), tied)
        return certain

    def tied_labels(self, labels, weight):
        """Return sum_i weight[i] times the tied expectations of labels."""
        total = np.zeros([self.sizes[axis] for axis in self.potential_axes[1][1:]])
        add_labels(self.inference(), labels, weight, total.reshape(1, self.n_tied))
        return total

    def _tying(self):
        """Return how local scores follow from weights; None for those of a chain."""

    def kernel(self, weights, features, targets, cost=None):
        """Return the compiled items of one thread, which changes weights."""
        return Item(
            features,
            weights,
            self.inference(),
            targets,
            tying=self._tying(),
            cost=cost,
            fixed=self.fixed,
        )
