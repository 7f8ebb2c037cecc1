"""Checks of an estimator that a function or another estimator takes as an argument."""

from sklearn.base import MetaEstimatorMixin

from skcrf_sdca._utils.last_step import parted
from skcrf_sdca._utils.messages import described


def check_given(estimator, *needed, name="estimator"):
    """Raise TypeError if an argument is a class, or lacks one of some attributes.

    >>> from skcrf_sdca import SDCACRF
    >>> from skcrf_sdca._utils.given_estimators import check_given
    >>> check_given(SDCACRF)
    Traceback (most recent call last):
    ...
    TypeError: estimator is the class SDCACRF; pass an estimator, SDCACRF().
    """
    if isinstance(estimator, type):
        raise TypeError(
            f"{name} is the class {estimator.__name__}; pass an estimator, "
            f"{estimator.__name__}()."
        )
    for attribute in needed:
        try:
            getattr(estimator, attribute)
        except AttributeError as error:
            raise TypeError(
                f"{name} must have {attribute!r}, got {described(estimator)}: {error}"
            ) from error


def check_tagger(estimator, *needed, name="estimator"):
    """Raise TypeError as `check_given`, and if an argument takes no sequences.

    Those of scikit-learn take tables, but for its pipelines and meta-estimators.

    >>> from sklearn.linear_model import LogisticRegression
    >>> from skcrf_sdca._utils.given_estimators import check_tagger
    >>> check_tagger(LogisticRegression(), "predict")
    Traceback (most recent call last):
    ...
    TypeError: estimator must be a CRF or a Tagger: LogisticRegression of scikit-learn \
takes tables, no sequences.
    """
    check_given(estimator, name=name)
    _, last = parted(estimator)
    is_of_sklearn = type(last).__module__.startswith("sklearn.")
    if is_of_sklearn and not isinstance(last, MetaEstimatorMixin):
        raise TypeError(
            f"{name} must be a CRF or a Tagger: {type(last).__name__} of scikit-learn "
            "takes tables, no sequences."
        )
    check_given(estimator, *needed, name=name)
