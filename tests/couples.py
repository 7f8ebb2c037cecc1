"""A structure in pure Python, of one file: couples of neighbours, without a kernel.

    score(x, y) = sum_t (coef[y_t] . x_t + intercept[y_t])
                  + sum_s couple[y_2s, y_2s+1]

The positions 2s and 2s + 1 are a couple; the last of an odd number stands alone.
"""

from itertools import pairwise

import numpy as np
from scipy.special import logsumexp

from skcrf_sdca._utils.label_estimator import fits
from skcrf_sdca.estimators.parameters import (
    CostOptions,
    EpochOptions,
    FeatureOptions,
    GraphSolverOptions,
    LossOptions,
    PenaltyOptions,
    RunOptions,
    ScoringOptions,
    StrengthOptions,
    UnknownOptions,
    parameters,
)
from skcrf_sdca.estimators.sequences import BaseCRF
from skcrf_sdca.estimators.solver_choice import SolverByName
from skcrf_sdca.structures.form import Block
from skcrf_sdca.structures.parameters import Parameters
from skcrf_sdca.structures.scores import Scores
from skcrf_sdca.structures.structure import Structure
from skcrf_sdca.structures.token_rows import TokenRows


class CoupleParameters(Parameters):
    """The weights: intercept | couple | coef."""

    blocks = (
        Block("coef", ("label", "feature")),
        Block("intercept", ("label",)),
        Block("couple", ("label", "label")),
    )

    def __init__(self, n_features, n_labels, w=None, pairs=None):
        super().__init__(n_features, n_labels, (n_labels, n_labels), w=w, pairs=pairs)

    def scores(self, rows, offsets, begin, end, *, temperature=1.0):
        """Return the CoupleScores of `potentials`."""
        return CoupleScores(*self.potentials(rows, offsets, begin, end, temperature))


class CoupleScores(Scores):
    """Scores of positions, and of couples."""

    def __init__(self, local, tied, offsets):
        self.local, self.tied, self.offsets = local, tied, offsets

    def _new(self, local, tied, begin, end):
        offsets = self.offsets[begin : end + 1] - self.offsets[begin]
        return CoupleScores(local, tied, offsets)

    def _parts(self):
        """Yield the item, the positions and the scores of couples and single ones."""
        for i, (begin, end) in enumerate(pairwise(self.offsets)):
            for t in range(begin, end - 1, 2):
                first, second = self.local[t : t + 2]
                yield i, slice(t, t + 2), first[:, None] + second + self.tied
            if (end - begin) % 2:
                yield i, slice(end - 1, end), self.local[end - 1]

    def expectations(self, weight):
        """Return local expectations, the weighted sum of tied ones, and log Z."""
        local, tied = np.zeros_like(self.local), np.zeros_like(self.tied)
        log_z = np.zeros(len(self))
        for i, positions, scores in self._parts():
            part = logsumexp(scores)
            log_z[i] += part
            p = np.exp(scores - part) if part > -np.inf else np.zeros_like(scores)
            local[positions] = p if p.ndim == 1 else (p.sum(axis=1), p.sum(axis=0))
            tied += weight[i] * p if p.ndim == 2 else 0.0
        return local, tied, log_z

    def viterbi(self):
        """Return the labels of highest score, and their scores."""
        labels, values = np.empty(len(self.local), dtype=np.int32), np.zeros(len(self))
        for i, positions, scores in self._parts():
            labels[positions] = np.unravel_index(scores.argmax(), scores.shape)
            values[i] += scores.max()
        return labels, values


class Couples(TokenRows, Structure):
    """Sequences in which only couples of neighbours depend on each other."""

    name = "couples"
    levels = frozenset({"argmax", "log_partition", "expect"})
    potential_axes = "TK", "nKK"

    def __init__(self, data, n_labels, **options):
        super().__init__(data, n_labels, **options)
        self.rows = self._feature_rows()

    @property
    def n_tied(self):
        """How many potentials couples share."""
        return self.n_labels**2

    def new_parameters(self, w=None):
        """Return CoupleParameters with the flat vector `w`, by default of zeros."""
        return CoupleParameters(self.data.n_features, self.n_labels, w, self.pairs)

    def _new_scores(self, local, tied, offsets, begin, end):
        return CoupleScores(local, tied, offsets)

    def log_counts(self):
        """Return the logarithm of the number of labellings of each sequence."""
        return self.data.lengths * np.log(self.n_labels)


@parameters
class CoupleCRF(
    RunOptions,
    ScoringOptions,
    EpochOptions,
    GraphSolverOptions,
    UnknownOptions,
    FeatureOptions,
    PenaltyOptions,
    CostOptions,
    LossOptions,
    StrengthOptions,
    SolverByName,
    BaseCRF,
):
    """The estimator.

    Parameters
    ----------
    {parameters}
    """

    _structure = "couples"

    @fits
    def fit(self, X, y, *, X_val=None, y_val=None, init=None, prior=None):
        """Fit the model to labelled sequences."""
        given = {"X_val": X_val, "y_val": y_val, "init": init, "prior": prior}
        return self._fit(X, y, sample_weight=None, lengths=None, **given)

    def _blocks(self):
        return CoupleParameters.blocks

    def _joint_terms(self, packed, paths, names, differs, *, position, first):
        for t in range(0, paths.shape[1] - 1, 2):
            if differs[t : t + 2].any():
                yield (
                    f"<couple {t}-{t + 1}>",
                    1.0,
                    self.couple_[tuple(paths.T[t : t + 2])],
                )

    def _fitted_parameters(self, data):
        parameters = CoupleParameters(0, len(self.classes_))
        return parameters.for_rows(self._form().weights_of(self), data.X)
