"""Inspection: features that a model needs, spans that it gets wrong, and its drift.

`group_importance` is what `sklearn.inspection.permutation_importance` is for tables.
"""

from skcrf_sdca.estimators.drift import Drift, DriftReport, drift_report
from skcrf_sdca.estimators.importance import group_importance
from skcrf_sdca.estimators.span_errors import SpanError, span_errors

__all__ = [
    "Drift",
    "DriftReport",
    "SpanError",
    "drift_report",
    "group_importance",
    "span_errors",
]
