"""What differs between the versions of scikit-learn that the package supports.

Only this module asks which version is there. The others import from here what is in
another place, is missing, or does less in one of them.
"""

from sklearn.utils.validation import validate_data

from skcrf_sdca._utils.sklearn_private import get_feature_names as names_of_columns

try:
    from sklearn.callback import (
        CallbackSupportMixin,
        ScoringMonitor,
        ScoringMonitorLog,
        with_callbacks,
    )

    BEFORE_1_9 = False
except ImportError:
    from skcrf_sdca._utils.callback_stand_in import (
        CallbackSupportMixin,
        ScoringMonitor,
        ScoringMonitorLog,
        with_callbacks,
    )

    BEFORE_1_9 = True

__all__ = [
    # BaseFit: its callbacks, and what DualityGapMonitor is made of.
    "CallbackSupportMixin",
    "ScoringMonitor",
    "ScoringMonitorLog",
    "with_callbacks",
    # The names of columns, of data frames of any library.
    "check_feature_names",
    "get_feature_names",
]


def get_feature_names(frame):
    """Return the names of the columns of a data frame, None if they are no str.

    Raise TypeError if some of them are str and others are not.
    """
    return names_of_columns(_readable(frame))


def check_feature_names(estimator, X):
    """Check that the names of the columns of X are those of fit, in their order.

    Raise ValueError if not; warn if only one of both has names.
    """
    validate_data(
        estimator, _readable(X), reset=False, skip_check_array=True, ensure_2d=False
    )


class _Columns:
    """The names of a frame as scikit-learn before 1.9 asks for them."""

    def __init__(self, names):
        self._names = names

    def __dataframe__(self):
        return self

    def column_names(self):
        return self._names


def _readable(X):
    """Return X, or what shows the names of X to a version that cannot read X."""
    unread = BEFORE_1_9 and hasattr(X, "columns") and not hasattr(X, "iloc")
    return _Columns(list(X.columns)) if unread else X
