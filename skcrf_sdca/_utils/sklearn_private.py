"""What the package takes from the private parts of scikit-learn, under public names.

A release of scikit-learn may move or change any of these without notice. Only this
module has to follow: the others import them from here.
"""

from sklearn.base import _fit_context
from sklearn.metrics._scorer import _BaseScorer as BaseScorer
from sklearn.utils import _safe_indexing as safe_indexing
from sklearn.utils._param_validation import (
    Interval,
    InvalidParameterError,
    Options,
    StrOptions,
    make_constraint,
)
from sklearn.utils.metadata_routing import _raise_for_params as raise_for_params
from sklearn.utils.metaestimators import _BaseComposition as BaseComposition
from sklearn.utils.parallel import _get_threadpool_controller
from sklearn.utils.validation import _get_feature_names as get_feature_names

from skcrf_sdca._utils.typing import keeps_signature

__all__ = [
    # Base of our scorers: cross-validation passes sample weights to no others.
    "BaseScorer",
    # SequenceUnion: names of steps, and set_params that replaces a step.
    "BaseComposition",
    # Values of `_parameter_constraints`, and the error for parameters that break them.
    "Interval",
    "InvalidParameterError",
    "Options",
    "StrOptions",
    # fit: column names of a data frame of any library.
    "get_feature_names",
    # CheckedParameters: a constraint in words.
    "make_constraint",
    # Context in which BLAS and LAPACK have one thread, which decides their bits.
    "one_blas_thread",
    # PerToken, SequenceUnion: refuse metadata where routing is not enabled.
    "raise_for_params",
    # CRFCV: rows of lists, arrays, frames and PackedSequences.
    "safe_indexing",
    # Decorator of fit: checks the parameters by `_parameter_constraints` first.
    "validates_parameters",
]

validates_parameters = keeps_signature(_fit_context(prefer_skip_nested_validation=True))


def one_blas_thread():
    """Return a context in which BLAS and LAPACK have one thread."""
    return _get_threadpool_controller().limit(limits=1, user_api="blas")
