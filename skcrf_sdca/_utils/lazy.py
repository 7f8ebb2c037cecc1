"""Packages, and modules, whose names are imported when they are first asked for."""

import sys
from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any


def lazy(
    package: str,
    homes: Mapping[str, str | None],
    moved: Mapping[str, str] | None = None,
) -> Callable[[str], Any]:
    """Return the ``__getattr__`` of a package, or of a module.

    Parameters
    ----------
    package : str
        Its ``__name__``; a module takes names of modules beside it, ``"._trainer"``.
    homes : dict of str to str or None
        The module that has each name, relative to the package: ``"_values"``, or
        ``".data.spans"`` beside it. None for a name of a module of the package.
    moved : dict of str to str, default=None
        Names that the package had: the modules that have them now, relative to it.

    Returns
    -------
    __getattr__ : callable
        It raises AttributeError for other names; for those that moved, with the new
        place, and ImportError to ``from package import name``.
    """
    moved = moved or {}

    def imported(name):
        if name in moved:
            place = f"{package}.{moved[name]}"
            # `from package import name` drops the message of an AttributeError.
            caller = sys._getframe(1).f_globals["__name__"]
            error = ImportError if caller == "importlib._bootstrap" else AttributeError
            raise error(f"{name} is in {place}: write from {place} import {name}")
        if name not in homes:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        home = homes[name]
        found = import_module(f".{home or name}", package)
        found = found if home is None else getattr(found, name)
        # The next time Python finds it by itself.
        setattr(sys.modules[package], name, found)
        return found

    return imported
