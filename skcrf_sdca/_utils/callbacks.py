"""Support of `sklearn.callback` in transformers, whose fits have no epochs."""

from skcrf_sdca._utils.sklearn_versions import CallbackSupportMixin


class TakesCallbacks(CallbackSupportMixin):
    """A transformer that takes the callbacks of its Pipeline, and reports nothing.

    The Pipeline itself reports that the step begins and ends. It would warn of a step
    without ``set_callbacks``.
    """
