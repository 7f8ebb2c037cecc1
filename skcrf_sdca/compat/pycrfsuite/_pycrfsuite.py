"""The names of ``pycrfsuite._pycrfsuite``, those of the package itself."""

from typing import Any

from skcrf_sdca.compat import pycrfsuite


def __getattr__(name: str) -> Any:
    """Return a name of the package: some are imported when they are asked for."""
    return getattr(pycrfsuite, name)
