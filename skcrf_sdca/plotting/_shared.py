"""Functions of all displays: axes, names of columns, the last step of a pipeline."""

from sklearn.pipeline import Pipeline


def new_axes(ax, side=None):
    """Return these axes, or those of a new figure if they are None."""
    if ax is not None:
        return ax
    import matplotlib.pyplot as plt

    size = None if side is None else (side * 1.15, side)
    return plt.subplots(figsize=size, layout="constrained")[1]


def rotation_of(names):
    """Return the angle at which names of columns do not overlap."""
    return 90 if max(map(len, names)) > 4 else 0


def last_step(estimator):
    """Return the last step of a pipeline, or the estimator itself.

    Of a fitted `skcrf_sdca.compat.CRF` it is the estimator within.
    """
    step = estimator[-1] if isinstance(estimator, Pipeline) else estimator
    return getattr(step, "estimator_", step)
