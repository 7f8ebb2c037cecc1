"""Text that several docstrings share, written once and put into them."""

import inspect
import re
from collections.abc import Callable, Mapping
from inspect import cleandoc
from typing import TypeVar

T = TypeVar("T")

_MARKER = re.compile(r"^\{(\w+)\}$", flags=re.MULTILINE)


def shared_docs(entries: Mapping[str, str]) -> Callable[[T], T]:
    """Return a decorator that replaces the markers in docstrings by shared text.

    A marker is a line with nothing but ``{alpha}``; the entry "alpha" replaces it, and
    may have markers itself. If a class is decorated, the markers in its methods are
    replaced too.

    Parameters
    ----------
    entries : dict of str to str
        The text for each marker, with any indentation.

    Returns
    -------
    decorator : callable
        It returns the function or class that it takes.

    Examples
    --------
    >>> from skcrf_sdca._utils.shared_docs import shared_docs
    >>> @shared_docs({"verbose": "verbose : int, default=0"})
    ... class Estimator:
    ...     '''An estimator.
    ...
    ...     {verbose}
    ...     '''
    >>> print(Estimator.__doc__)
    An estimator.
    <BLANKLINE>
    verbose : int, default=0
    """

    def decorator(decorated):
        members = vars(decorated).values() if inspect.isclass(decorated) else ()
        functions = (getattr(member, "__func__", member) for member in members)
        for owner in (decorated, *filter(inspect.isfunction, functions)):
            # With python -OO there are no docstrings.
            if owner.__doc__ is not None:
                # Without indentation, which Python 3.13 removes and 3.11 does not.
                owner.__doc__ = filled(owner.__doc__)
        return decorated

    def filled(text):
        return _MARKER.sub(lambda marker: filled(entries[marker[1]]), cleandoc(text))

    return decorator
