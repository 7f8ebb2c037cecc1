"""Places relative to a token or another position, as parameters say them."""

from typing import Any

import numpy as np


def is_int(value: object) -> bool:
    """Return whether a value is an integer that files hold as one: True is none."""
    return isinstance(value, (int, np.integer)) and not isinstance(value, bool)


def bounds_of(argument: str, value: Any) -> tuple[int, int]:
    """Return the first and the last place that an argument says.

    Parameters
    ----------
    argument : str
        Its name, for the message.
    value : int or pair of int
        k stands for (-k, k).

    Returns
    -------
    first, last : int

    Raises
    ------
    TypeError
        If it is neither.

    Examples
    --------
    >>> from skcrf_sdca._utils.places import bounds_of
    >>> bounds_of("places", 2), bounds_of("places", (-3, 0))
    ((-2, 2), (-3, 0))
    """
    if is_int(value):
        return -int(value), int(value)
    # Others, such as sets, have no order, or no place in a model file.
    is_pair = isinstance(value, (tuple, list)) and len(value) == 2
    if is_pair and all(map(is_int, value)):
        first, last = value
        return int(first), int(last)
    raise TypeError(
        f"{argument} must be an int or a pair of int, (first, last); got {value!r}."
    )
