"""CheckedParameters: an estimator whose errors in parameters are told to be mended.

It refuses bools and infinities as numbers. `Choices` are the values of a parameter that
is a str: messages have them in order, and the nearest to what was given.
"""

from numbers import Real

import numpy as np

from skcrf_sdca._utils.messages import nearest
from skcrf_sdca._utils.sklearn_private import (
    InvalidParameterError,
    StrOptions,
    make_constraint,
)


class Choices(StrOptions):
    """The texts that a parameter may be, for `_parameter_constraints`."""

    def shown(self):
        """Return the texts in order, without small letters for those in large ones."""
        large = {text.upper() for text in self.options if text.isupper()}
        return sorted(t for t in self.options if t.isupper() or t.upper() not in large)

    def __str__(self):
        """Return the texts in words."""
        return f"a str among {{{', '.join(map(repr, self.shown()))}}}"


class CheckedParameters:
    """Mixin that checks parameters before scikit-learn checks `_parameter_constraints`.

    These take a bool for a number, fail on numbers that NumPy does not have, and do not
    say which of some texts is meant.
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
            if isinstance(value, str):
                self._check_choice(name, value, constraints)
        super()._validate_params()

    def _check_choice(self, name, value, constraints):
        """Raise the error with the choice that is nearest to a text, if one is near."""
        choices = [own for own in constraints if isinstance(own, Choices)]
        if any(value in own.options for own in choices):
            return
        meant = nearest(value, [text for own in choices for text in own.shown()])
        if meant is None:
            return
        *others, last = [str(make_constraint(own)) for own in constraints]
        allowed = f"{', '.join(others)} or {last}" if others else last
        raise InvalidParameterError(
            f"The {name!r} parameter of {type(self).__name__} must be {allowed}. Got "
            f"{value!r:.40} instead; did you mean {meant!r}?"
        )


def _is_finite(value):
    """Return whether this is a number of Python or NumPy, but no infinity."""
    if isinstance(value, bool) or not isinstance(value, (int, float, np.number)):
        return False
    try:
        return not np.isinf(float(value))
    except OverflowError:
        return False
