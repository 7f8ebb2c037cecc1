"""The base of estimators of sequences that hold other ones."""

from sklearn.base import BaseEstimator, MetaEstimatorMixin

from skcrf_sdca._utils.doc_links import HasDocLink
from skcrf_sdca._utils.sequence_tags import of_sequences
from skcrf_sdca._utils.version_stamps import VersionStamped


class SequenceMetaEstimator(
    VersionStamped, HasDocLink, MetaEstimatorMixin, BaseEstimator
):
    """Base: `fit` takes sequences and their labels, as the estimators that it holds."""

    def __sklearn_tags__(self):
        """Return the tags: sequences, and no table; y is required."""
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        return of_sequences(tags)
