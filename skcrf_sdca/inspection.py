"""Inspection: the features that a model needs, and the spans that it gets wrong.

`group_importance` is what `sklearn.inspection.permutation_importance` is for tables.
"""

from skcrf_sdca.estimators.importance import group_importance
from skcrf_sdca.estimators.span_errors import SpanError, span_errors

__all__ = ["SpanError", "group_importance", "span_errors"]
