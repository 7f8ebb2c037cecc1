"""A structure of one file: sites with one potential of the number of first labels.

    score(x, y) = sum_t (coef[y_t] . x_t + intercept[y_t]) + count[min(c(y), MOST)]

where c(y) is how many sites have the first label. The recursion is in counts.pyx.
"""

import numpy as np
from counts_kernel import CountInference

from skcrf_sdca._kernels.visits._tying import NoEnds
from skcrf_sdca._utils.label_estimator import fits
from skcrf_sdca.data.packed import PackedSequences
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
from skcrf_sdca.structures.compiled_scores import CompiledScores
from skcrf_sdca.structures.form import Axis, Block
from skcrf_sdca.structures.parameters import Parameters
from skcrf_sdca.structures.structure import Structure
from skcrf_sdca.structures.token_rows import CompiledRows

MOST = 2


class CountParameters(Parameters):
    """The weights: intercept | count | coef."""

    blocks = (
        Block("coef", ("label", "feature")),
        Block("intercept", ("label",)),
        Block("count", ("count",)),
    )

    def __init__(self, n_features, n_labels, w=None, pairs=None):
        super().__init__(n_features, n_labels, (MOST + 1,), w=w, pairs=pairs)

    def _sizes(self):
        return super()._sizes() | {"count": MOST + 1}

    def scores(self, rows, offsets, begin, end, *, temperature=1.0):
        """Return the CountScores of `potentials`."""
        return CountScores(*self.potentials(rows, offsets, begin, end, temperature))


class CountScores(CompiledScores):
    """Scores of sites, and of counts."""

    def __init__(self, local, tied, offsets):
        self.local, self.tied, self.offsets = local, tied, offsets

    def _new(self, local, tied, begin, end):
        offsets = self.offsets[begin : end + 1] - self.offsets[begin]
        return CountScores(local, tied, offsets)

    def inference(self, begin, end):
        """Return the compiled inference on some of the items."""
        n_labels = self.local.shape[1]
        return CountInference(self.offsets, n_labels, MOST, begin, end)


class Counts(CompiledRows, Structure):
    """Sites of which only the number of first labels counts beside their features."""

    name = "counts"
    levels = frozenset({"argmax", "log_partition", "expect", "visit"})
    n_tied = MOST + 1

    def __init__(self, data, n_labels, **options):
        super().__init__(data, n_labels, **options)
        self.rows = self._feature_rows()

    def new_parameters(self, w=None):
        """Return CountParameters with the flat vector `w`, by default of zeros."""
        return CountParameters(self.data.n_features, self.n_labels, w, self.pairs)

    def _new_scores(self, local, tied, offsets, begin, end):
        return CountScores(local, tied, offsets)

    def log_counts(self):
        """Return the logarithm of the number of labellings of each item."""
        return self.data.lengths * np.log(self.n_labels)

    def parts(self, kept):
        """Return the items with a site to keep, as these sites alone."""
        n_kept = np.add.reduceat(np.append(kept, False), self.offsets[:-1])
        (used,) = np.nonzero(n_kept)
        bounds = np.append(0, np.cumsum(n_kept[used]))
        data = PackedSequences(self.data.X[kept], bounds)
        return Counts(data, self.n_labels, pairs=self.pairs), used

    def inference(self):
        """Return the compiled inference on all items."""
        return CountInference(self.offsets, self.n_labels, MOST)

    def _tying(self):
        return NoEnds(self.n_labels)


@parameters
class CountCRF(
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

    _structure = "counts"

    @fits
    def fit(self, X, y, *, X_val=None, y_val=None, init=None, prior=None):
        """Fit the model to labelled items."""
        given = {"X_val": X_val, "y_val": y_val, "init": init, "prior": prior}
        return self._fit(X, y, sample_weight=None, lengths=None, **given)

    @staticmethod
    def _axes_of(fitted):
        return BaseCRF._axes_of(fitted) | {"count": Axis(MOST + 1)}

    def _blocks(self):
        return CountParameters.blocks

    def _joint_terms(self, packed, paths, names, differs, *, position, first):
        n_first = np.minimum((paths == 0).sum(axis=1), MOST)
        yield "<count>", 1.0, self.count_[n_first]

    def _fitted_parameters(self, data):
        parameters = CountParameters(0, len(self.classes_))
        return parameters.for_rows(self._form().weights_of(self), data.X)
