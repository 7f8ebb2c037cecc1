"""What the displays have in common: where they draw, and what they draw of."""

from sklearn.pipeline import Pipeline


def new_axes(ax, side=None):
    """Return the axes to draw on, those of a new figure if there are none."""
    if ax is not None:
        return ax
    import matplotlib.pyplot as plt

    size = None if side is None else (side * 1.15, side)
    return plt.subplots(figsize=size, layout="constrained")[1]


def last_step(estimator):
    """Return the estimator that a pipeline ends in, or the estimator itself."""
    return estimator[-1] if isinstance(estimator, Pipeline) else estimator
