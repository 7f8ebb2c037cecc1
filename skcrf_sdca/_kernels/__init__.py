"""Compiled kernels: one chain at a time, without Python objects and without the GIL.

Owns the switch between the two builds of their loops, see clones.h: the environment
variable SKCRF_SDCA_PLAIN_LOOPS, read once at import, forces the plain ones if it is
neither empty nor "0". The results are the same to rounding. Raises an ImportError that
says what to do where nothing is compiled.
"""

import os
from importlib.util import find_spec

PLAIN_LOOPS = os.environ.get("SKCRF_SDCA_PLAIN_LOOPS", "") not in {"", "0"}

if find_spec(f"{__name__}.inference._passes") is None:
    folder = os.path.dirname(os.path.dirname(os.path.dirname(__file__)))
    raise ImportError(
        f"skcrf_sdca was imported from {folder}, which has no compiled modules for "
        "this Python. If it is the folder of the sources, and the package is "
        "installed, start Python in another folder: this one hides the installed "
        "package. To work in the sources, install them with pip install --editable."
    )
