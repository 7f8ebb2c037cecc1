"""Packages whose names are imported when somebody asks for one."""

import sys
from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any


def lazy(package: str, homes: Mapping[str, str | None]) -> Callable[[str], Any]:
    """Return the ``__getattr__`` of a package, for its ``__init__.py``.

    Parameters
    ----------
    package : str
        Its ``__name__``.
    homes : dict of str to str or None
        The module that has each name, relative to the package: ``"_values"``, or
        ``".data.spans"`` beside it. None for a name of a module of the package.

    Returns
    -------
    __getattr__ : callable
        It raises AttributeError for other names.
    """

    def imported(name):
        if name not in homes:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        home = homes[name]
        found = import_module(f".{home or name}", package)
        found = found if home is None else getattr(found, name)
        # The next time Python finds it by itself.
        setattr(sys.modules[package], name, found)
        return found

    return imported
