"""The parameters of a model of dependency trees: one flat vector and its two blocks.

    intercept (K) | coef (d, K)

with K relations; trees without relations have one. With the features x of an arc,

    arc_scores[a, k] = x_a . coef[:, k] + intercept[k]
    score(x, y) = sum of the scores of the arcs of the tree, each with its relation.
"""

import numpy as np

from skcrf_sdca.structures.dependency.scores import ArcScores
from skcrf_sdca.structures.form import Block
from skcrf_sdca.structures.parameters import Parameters


class ArcParameters(Parameters):
    """Weights of relations; an arc that is not in the tree has the score 0."""

    blocks = Block("coef", ("label", "feature")), Block("intercept", ("label",))

    def __init__(self, n_features, n_relations, w=None):
        super().__init__(n_features, n_relations, (0,), w=w)

    def potentials(self, rows, offsets, begin, end, temperature=1.0):
        """Return scores of arcs, those of the label 0 first, as `Parameters` does."""
        local, *others = super().potentials(rows, offsets, begin, end, temperature)
        return np.hstack([np.zeros((len(local), 1)), local]), *others

    def scores(self, rows, offsets, begin, end, *, allowed, rules, temperature):
        """Return the ArcScores of `potentials`; the options are those of ArcScores."""
        found = self.potentials(rows, offsets, begin, end, temperature)
        if allowed is not None:
            allowed = allowed[offsets[begin] : offsets[end]]
        return ArcScores(*found, allowed, rules)
