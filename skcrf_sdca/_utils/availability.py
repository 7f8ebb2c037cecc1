"""Methods that only some of the objects of a class have."""

from collections.abc import Callable
from functools import update_wrapper
from types import MethodType
from typing import Any

from skcrf_sdca._utils.typing import F


# What `available_if` puts in the place of a method.
class _AvailableMethod:
    def __init__(self, function, reason):
        # As of a classmethod: what looks for the function of a member finds it.
        self.__func__ = function
        self._reason = reason
        update_wrapper(self, function, ("__module__", "__name__", "__qualname__"))

    @property
    def __doc__(self):
        # `shared_docs` may complete it after this object was made.
        return self.__func__.__doc__

    def __get__(self, instance, owner=None):
        if instance is None:
            return self.__func__
        why = self._reason(instance)
        if why is not None:
            raise AttributeError(why, name=self.__name__, obj=instance)
        return MethodType(self.__func__, instance)


def available_if(reason: Callable[[Any], str | None]) -> Callable[[F], F]:
    """Return a decorator of a method that only some of the objects of a class have.

    `available_if` of scikit-learn does the same, but its error does not say why, and
    type checkers do not see what the method takes. The class has the method as always:
    in its documentation, and for calls through it.

    Parameters
    ----------
    reason : callable
        ``reason(self)`` returns None if the object has the method, else the message of
        the AttributeError that says why it has not.

    Examples
    --------
    >>> from skcrf_sdca._utils.availability import available_if
    >>> class Switch:
    ...     is_on = True
    ...     @available_if(lambda self: None if self.is_on else "it is off")
    ...     def shine(self):
    ...         return "light"
    >>> switch = Switch()
    >>> switch.shine()
    'light'
    >>> switch.is_on = False
    >>> hasattr(switch, "shine")
    False
    """

    def decorator(function: Any) -> Any:
        return _AvailableMethod(function, reason)

    return decorator
