"""Dependency trees as Structures: passes over data, and the compiled kernel."""

import numpy as np

from skcrf_sdca._kernels.visits._tree_item import TreeItem
from skcrf_sdca._kernels.visits._tying import ArcTying
from skcrf_sdca._utils.ragged import split_rows
from skcrf_sdca.data.trees import are_arcs, pairs_of_words, sizes_of, words_of
from skcrf_sdca.structures.dependency.parameters import ArcParameters, MadeArcParameters
from skcrf_sdca.structures.dependency.scores import ArcScores, inference_on_trees
from skcrf_sdca.structures.structure import Structure
from skcrf_sdca.structures.token_rows import CompiledRows


class DependencyTrees(CompiledRows, Structure):
    """Sentences whose positions are arcs, and whose labels form trees.

    The states of an arc are 0, not in the tree, and 1 + k, in it with relation k.

    Parameters
    ----------
    data : PackedSequences
        The rows of the n (n + 1) arcs of each sentence, as in _spanning_trees.pyx.
    n_labels : int
        The number of relations.
    rules : TreeRules
        Which trees there are.
    constraints : ndarray of shape (n_arcs,), uint8, default=None
        Which arcs may be in a tree; None if all may.
    n_jobs, fixed
        As for `Structure`.
    """

    name = "dependency"
    prunes_visits = True
    levels = frozenset({"argmax", "log_partition", "expect", "visit"})
    n_tied = 0

    def __init__(self, data, n_labels, *, rules, **options):
        super().__init__(data, n_labels + 1, **options)
        self.rules = rules
        self.rows = self._feature_rows()

    @property
    def label_constraints(self):
        """None: arcs are constrained, and not labels."""

    @property
    def n_classes(self):
        """The number of relations."""
        return self.n_labels - 1

    @property
    def n_columns(self):
        """How many weights a feature has: one for each relation."""
        return self.n_classes

    def vector_form(self):
        """Return the VectorForm; dual variables are those of trees of these rules."""
        return super().vector_form()._replace(data=self.rules)

    def squared_radii(self):
        """Return bounds of squared distances between trees.

        A word has one arc in each of two trees, so that with the intercept of the arc

            ||F(x, y) - F(x, y')|| <= 2 sum over words m of max_h sqrt(||x_hm||^2 + 1).
        """
        norms = np.hypot(np.minimum(self.data.row_norms(), 1e50), 1.0)
        sizes = [
            own.reshape(-1, words_of(len(own)) or 1).max(axis=0, initial=0.0).sum()
            for own in split_rows(norms, self.offsets)
        ]
        return 4.0 * np.array(sizes) ** 2

    def new_parameters(self, w=None):
        """Return ArcParameters with the flat vector `w`, by default of zeros."""
        return ArcParameters(self.data.n_features, self.n_classes, w)

    def _new_scores(self, local, tied, offsets, begin, end):
        allowed, (first, last) = self.constraints, self.offsets[[begin, end]]
        if allowed is not None:
            allowed = allowed[first:last]
        return ArcScores(local, tied, offsets, allowed, self.rules)

    def log_counts(self):
        """Return the logarithm of the number of trees of each sentence."""
        local = np.zeros((self.data.n_positions, self.n_labels))
        n = len(self.data)
        return self._new_scores(local, np.zeros(0), self.offsets, 0, n).log_partition()

    def add_features(self, parameters, begin, end, factor, local):
        """Add factor[i] times the features of local changes of begin <= i < end."""
        super().add_features(
            parameters, begin, end, factor, np.ascontiguousarray(local[:, 1:])
        )

    def inference(self):
        """Return the compiled inference on all sentences."""
        return inference_on_trees(
            self.rules, self.offsets, self.n_labels, self.constraints
        )

    def _tying(self):
        return ArcTying(self.n_classes, int(self.data.lengths.max(initial=1)))


class SiblingTrees(DependencyTrees):
    """Projective trees with features of siblings, which are positions behind the arcs.

    The states of a sibling (h, m, s) are 0 and 1, in the tree: the head of m is h, and
    of the words between both that have the head h too, s is the nearest one to m; s is
    h without such a word. There are n (n + 1) + (n^3 - n) / 3 positions, and there is
    one relation. Parameters as for `DependencyTrees`; arcs have no constraints.
    """

    name = "siblings"

    def squared_radii(self):
        """Return bounds of squared distances between trees.

        A word has one arc and at most one sibling in each of two trees, so that with
        the intercept of both

            ||F(x, y) - F(x, y')|| <= 2 sum over words m of
                max_h sqrt(||x_hm||^2 + 1) + max_hs sqrt(||x_hms||^2 + 1).
        """
        parts = split_rows(self.data.row_norms(), self.offsets)
        sizes = [
            _sum_of_largest(np.hypot(np.minimum(norms, 1e50), 1.0), n)
            for norms, n in zip(parts, self._n_words.tolist(), strict=True)
        ]
        return 4.0 * np.array(sizes) ** 2

    def costed(self, begin, end):
        """Return which positions have a cost: a wrong arc costs, whatever siblings."""
        return are_arcs(self._n_words[begin:end])

    @property
    def _n_words(self):
        return sizes_of(self.data.lengths, siblings=True)


class TreesOfHeads(DependencyTrees):
    """Trees of made rows that online visits learn from, given the heads of words.

    Nothing is kept for the arcs and siblings of a sentence, but for those of the
    longest one. There is one relation, and weights have single precision. Heads may
    have arcs that cross, also if trees have none. Parameters as for `DependencyTrees`.
    """

    name = "trees of heads"
    levels = frozenset({"argmax", "expect", "visit"})

    @property
    def longest_labelling(self):
        """The words of the longest sentence."""
        return int(self.data.n_words.max(initial=0))

    def new_parameters(self, w=None):
        """Return MadeArcParameters with the flat vector `w`, by default of zeros."""
        return MadeArcParameters(self.data.n_features, w)

    def kernel(self, weights, features, targets, cost=None):
        """Return the compiled sentences of one thread, which changes weights."""
        return TreeItem(features, weights, self.inference(), targets, cost or 0.0)


def _sum_of_largest(norms, n):
    """Return the sum over n words of the largest norms of an arc and of a sibling."""
    n_arcs = n * (n + 1)
    size = norms[:n_arcs].reshape(n + 1, n).max(axis=0).sum()
    if n < 2:
        return size
    heads, words = pairs_of_words(n).T
    counts = abs(heads - words)
    of_words = np.zeros(n)
    first = n_arcs + np.cumsum(counts) - counts
    np.maximum.at(of_words, words - 1, np.maximum.reduceat(norms, first))
    return size + of_words.sum()
