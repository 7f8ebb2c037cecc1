"""The parameters of a model of dependency trees: one flat vector and its two blocks.

    intercept (K) | coef (d, K)

with K relations; trees without relations have one. With the features x of an arc,

    arc_scores[a, k] = x_a . coef[:, k] + intercept[k]
    score(x, y) = sum of the scores of the arcs of the tree, each with its relation.
"""

import numpy as np

from skcrf_sdca._kernels.features._single_weights import SingleWeights
from skcrf_sdca.structures.dependency.scores import ArcScores
from skcrf_sdca.structures.form import Block, Form, Weights
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


class MadeArcParameters(ArcParameters):
    """Weights of features of made rows alone: `intercept` is 0, and not in the vector.

    A vector of single precision is one that visits move, see _single_weights.pyx.
    """

    def __init__(self, n_features, w=None):
        if w is None:
            w = np.zeros(n_features, dtype=np.float32)
        super().__init__(n_features, 1, w)
        self.intercept, self.tied = np.zeros(1), np.zeros(0)

    def _of_labels(self):
        return []

    def weights(self):
        """Return the weights as the kernels take them; they share memory with ``w``."""
        single = self.w.dtype == np.float32
        return SingleWeights(self.w) if single else super().weights()

    def label_weights(self, constraints=None):
        """Return the Weights of the model, in double precision."""
        form = Form.of_sizes(self.blocks, **self._sizes())
        coef = self.coef.T.astype(np.float64, copy=False)
        return Weights(form, {"coef": coef, "intercept": self.intercept})
