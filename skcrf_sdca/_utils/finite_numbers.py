"""FiniteNumbers: an estimator that refuses bools and infinities as numbers."""

from numbers import Real

import numpy as np

from skcrf_sdca._utils.sklearn_private import InvalidParameterError


class FiniteNumbers:
    """Mixin that checks the numbers that `_parameter_constraints` let through.

    These take a bool for a number, and fail on numbers that NumPy does not have.
    """

    def _validate_params(self):
        """Raise InvalidParameterError; called by scikit-learn before `fit`."""
        for name, value in self.get_params(deep=False).items():
            constraints = self._parameter_constraints.get(name, ["boolean"])
            is_switch = "boolean" in constraints or "verbose" in constraints
            if not is_switch and isinstance(value, Real) and not _is_finite(value):
                raise InvalidParameterError(
                    f"The {name!r} parameter of {type(self).__name__} must be a "
                    f"finite number. Got {value!r:.40} instead."
                )
        super()._validate_params()


def _is_finite(value):
    """Return whether this is a number of Python or NumPy, but no infinity."""
    if isinstance(value, bool) or not isinstance(value, (int, float, np.number)):
        return False
    try:
        return not np.isinf(float(value))
    except OverflowError:
        return False
