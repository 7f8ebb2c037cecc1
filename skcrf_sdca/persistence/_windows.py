"""Converts windows over rows and pixels to entries of the document, and back."""

from sklearn.utils.validation import check_is_fitted

from skcrf_sdca.data.feature_names import FeatureNames
from skcrf_sdca.features.frames import FrameWindow
from skcrf_sdca.features.image_window import ImageWindow, n_blocks_of
from skcrf_sdca.features.window import SequenceWindow
from skcrf_sdca.persistence._entries import axis_size, checked_window
from skcrf_sdca.persistence._values import plain_parameters, with_parameters

NAMES = "_feature_names"
# The windows, and how many features each has of each column.
WINDOWS = {
    SequenceWindow: lambda window: FrameWindow.of(**window.get_params()).n_blocks,
    ImageWindow: n_blocks_of,
}


def describe_window(window):
    """Return the entries of a fitted SequenceWindow or ImageWindow, and no arrays."""
    check_is_fitted(window)
    window._validate_params()
    model = {
        "type": type(window).__name__,
        "parameters": plain_parameters(window.get_params()),
        "n_features": int(window.n_features_in_),
    }
    if hasattr(window, NAMES):
        names = getattr(window, NAMES)
        model["feature_names"] = None if names is None else list(names)
    own = rebuild_window(type(window), model)
    if own.n_features_out_ != window.n_features_out_:
        raise ValueError(f"{type(window).__name__} was fitted with other parameters")
    return model, {}


def rebuild_window(cls, model, array=None):
    """Return the window of a class that entries describe."""
    n_features, names = checked_window(model)
    parameters = model["parameters"].items()
    # Pairs of places, which are tuples in Python.
    pairs = {name: tuple(v) if type(v) is list else v for name, v in parameters}
    window = with_parameters(cls, pairs)
    window.n_features_in_ = n_features
    n_features_out = WINDOWS[cls](window) * n_features
    window.n_features_out_ = axis_size("window: n_features_out", n_features_out)
    if "feature_names" in model:
        setattr(window, NAMES, None if names is None else FeatureNames.of(names))
    return window
