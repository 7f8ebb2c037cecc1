"""Functions of all displays: axes, names of columns, the CRF of an estimator."""

from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from skcrf_sdca._utils.given_estimators import check_given, check_tagger


def new_axes(ax, side=None):
    """Return these axes, or the axes of a new figure if they are None."""
    if ax is not None:
        return ax
    import matplotlib.pyplot as plt

    size = None if side is None else (side * 1.15, side)
    return plt.subplots(figsize=size, layout="constrained")[1]


def rotation_of(names):
    """Return the angle at which names of columns do not overlap."""
    return 90 if max(map(len, names)) > 4 else 0


def crf_of(estimator):
    """Return the CRF within an estimator, or the estimator itself.

    It is the last step of a pipeline, the best estimator of a fitted search, or the
    `estimator_` of a fitted `skcrf_sdca.compat.CRF`.
    """
    if isinstance(estimator, Pipeline):
        return crf_of(estimator[-1])
    for name in ("best_estimator_", "estimator_"):
        if hasattr(estimator, name):
            return crf_of(getattr(estimator, name))
    return estimator


def fitted_crf_of(estimator, *needed, name="estimator"):
    """Return the CRF within a fitted estimator, which has some attributes.

    Raise NotFittedError if it is not fitted, TypeError if it is none that has them.
    """
    crf = crf_of(estimator)
    check_tagger(crf, "fit", name=name)
    check_is_fitted(crf)
    check_given(crf, *needed, name=name)
    return crf
