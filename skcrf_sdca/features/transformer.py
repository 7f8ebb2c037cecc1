"""The bases of all transformers of sequences: what scikit-learn asks of them."""

from typing import Any, ClassVar, Self

from sklearn.base import BaseEstimator, TransformerMixin

from skcrf_sdca._utils.callbacks import TakesCallbacks
from skcrf_sdca._utils.doc_links import HasDocLink
from skcrf_sdca._utils.sequence_tags import of_sequences
from skcrf_sdca._utils.sklearn_private import validates_parameters
from skcrf_sdca._utils.version_stamps import VersionStamped


class SequenceTransformer(
    VersionStamped, HasDocLink, TakesCallbacks, TransformerMixin, BaseEstimator
):
    """A transformer whose output is sequences, and no table."""

    def __init_subclass__(cls, **kwargs):
        """Leave the output of `transform` as it is."""
        super().__init_subclass__(auto_wrap_output_keys=None, **kwargs)

    def set_output(self, *, transform: Any = None) -> Self:
        """Do nothing: sequences are no rows of a data frame.

        A Pipeline calls it for all its steps.

        Parameters
        ----------
        transform : {"default", "pandas", "polars"}, default=None
            Ignored, as is ``transform_output`` in the configuration of scikit-learn.

        Returns
        -------
        self : object
        """
        return self


class ItemTransformer(SequenceTransformer):
    """A transformer whose input is dicts or strings, not a table."""

    def __sklearn_tags__(self):
        """Return the tags, with the types of the input."""
        tags = super().__sklearn_tags__()
        return of_sequences(tags)


class StatelessTransformer(ItemTransformer):
    """A transformer that has nothing to learn."""

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {}

    @validates_parameters
    def fit(self, X: object = None, y: object = None) -> Self:
        """Check the parameters; nothing is learnt.

        Parameters
        ----------
        X, y : any
            Ignored.

        Returns
        -------
        self : object

        Raises
        ------
        TypeError, ValueError
            If a parameter is not valid.
        """
        self._check_parameters()
        return self

    def _check_parameters(self):
        """Raise TypeError or ValueError for what the types of parameters do not say."""

    def __sklearn_is_fitted__(self):
        """Return True."""
        return True

    def __sklearn_tags__(self):
        """Return the tags: no fit is needed."""
        tags = super().__sklearn_tags__()
        tags.requires_fit = False
        return tags
