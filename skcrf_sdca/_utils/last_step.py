"""The CRF in which an estimator ends, and the steps before it."""

from typing import Any

from sklearn.pipeline import Pipeline


def parted(estimator: Any) -> tuple[Any, Any]:
    """Return the steps before the last, None if there are none, and the last step.

    An estimator that is no Pipeline is its own last step.

    >>> from skcrf_sdca import SDCACRF, make_tagger
    >>> from skcrf_sdca._utils.last_step import parted
    >>> parted(make_tagger(SDCACRF()))
    (None, SDCACRF())
    """
    if not isinstance(estimator, Pipeline):
        return None, estimator
    return estimator[:-1] if len(estimator) > 1 else None, estimator[-1]


def before_last(estimator: Any, X: Any) -> tuple[Any, Any]:
    """Return X as the last step of a fitted estimator takes it, and this step."""
    steps, last = parted(estimator)
    return X if steps is None else steps.transform(X), last
