"""What scikit-learn asks of an estimator that predicts labels, and of its `fit`."""

from abc import ABCMeta

from sklearn.utils import ClassifierTags

from skcrf_sdca._utils.checked_parameters import CheckedParameters
from skcrf_sdca._utils.messages import names_class
from skcrf_sdca._utils.sklearn_private import validates_parameters
from skcrf_sdca._utils.sklearn_typing import EstimatorBase
from skcrf_sdca._utils.sklearn_versions import with_callbacks
from skcrf_sdca._utils.typing import F, keeps_signature
from skcrf_sdca._utils.version_stamps import VersionStamped


def fits(method: F) -> F:
    """Decorate `fit`: errors name the class, parameters are checked, callbacks run."""
    followed = keeps_signature(with_callbacks)(method)
    return keeps_signature(names_class)(validates_parameters(followed))


class LabelEstimator(
    VersionStamped, CheckedParameters, EstimatorBase, metaclass=ABCMeta
):
    """What scikit-learn asks of an estimator that predicts labels."""

    def __sklearn_tags__(self):
        """Return the tags: a classifier."""
        tags = super().__sklearn_tags__()
        # Not estimator_type="classifier": that would make cv=3 look for strata in
        # ragged y, and fail.
        tags.classifier_tags = ClassifierTags()
        tags.target_tags.required = True
        tags.input_tags.two_d_array = self._takes_tables()
        return tags

    def _takes_tables(self):
        """Return whether X may be a table of rows with any labels."""
        return True
