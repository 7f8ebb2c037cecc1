"""Functions that take the arguments of another one, written once."""

from collections.abc import Callable
from functools import wraps
from inspect import Signature, signature
from types import FunctionType
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")
R = TypeVar("R")


def takes_arguments_of(
    read: Callable[P, T],
) -> Callable[[Callable[[T], R]], Callable[P, R]]:
    """Return a decorator of functions of what ``read`` makes of its arguments.

    Parameters
    ----------
    read : function

    Returns
    -------
    decorator : callable
        The function that it returns has the parameters of ``read``, also in `help` and
        in error messages, and passes on what ``read`` returns.

    Examples
    --------
    >>> from inspect import signature
    >>> from skcrf_sdca._utils.arguments import takes_arguments_of
    >>> def numbers(text: str, sep: str = " ") -> list[int]:
    ...     return [int(part) for part in text.split(sep)]
    >>> @takes_arguments_of(numbers)
    ... def total(numbers: list[int]) -> int:
    ...     return sum(numbers)
    >>> total("1,2", sep=",")
    3
    >>> str(signature(total))
    "(text: str, sep: str = ' ') -> int"
    """

    def decorator(function):
        own = _renamed(read, function)

        @wraps(function)
        def with_arguments(*args, **kwargs):
            return function(own(*args, **kwargs))

        del with_arguments.__wrapped__
        result = function.__annotations__.get("return", Signature.empty)
        with_arguments.__annotations__ = {**read.__annotations__, "return": result}
        with_arguments.__signature__ = signature(read).replace(return_annotation=result)
        return with_arguments

    return decorator


def _renamed(read, function):
    """Return a copy with another name, which messages on its arguments have."""
    copied = FunctionType(
        read.__code__, read.__globals__, None, read.__defaults__, read.__closure__
    )
    copied.__kwdefaults__ = read.__kwdefaults__
    copied.__qualname__ = function.__qualname__
    return copied
