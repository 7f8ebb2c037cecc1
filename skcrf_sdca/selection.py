"""Model selection: folds, paths of alpha, thresholds, calibration, ensembles, batches.

They complement `sklearn.model_selection`, `sklearn.calibration` and `sklearn.ensemble`,
whose classes take tables alone. `select_uncertain` selects sequences to annotate.
"""

from skcrf_sdca.estimators.active_learning import select_uncertain
from skcrf_sdca.estimators.alpha_path import SearchBoundWarning, alpha_path
from skcrf_sdca.estimators.calibration import (
    CalibratedSpans,
    fit_temperature,
    span_outcomes,
)
from skcrf_sdca.estimators.ensembles import SequenceBagging, SequenceVoting
from skcrf_sdca.estimators.model_selection import cross_val_predict_proba
from skcrf_sdca.estimators.stratification import StratifiedSequenceKFold
from skcrf_sdca.estimators.thresholds import TunedSpans

__all__ = [
    "CalibratedSpans",
    "SearchBoundWarning",
    "SequenceBagging",
    "SequenceVoting",
    "StratifiedSequenceKFold",
    "TunedSpans",
    "alpha_path",
    "cross_val_predict_proba",
    "fit_temperature",
    "select_uncertain",
    "span_outcomes",
]
