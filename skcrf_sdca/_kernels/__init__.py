"""Compiled kernels: one item at a time, without Python objects and without the GIL.

Owns the switches between the builds of their loops, see levels.h. Of the environment,
read once at import, SKCRF_SDCA_PLAIN_LOOPS forces the plain ones, and
SKCRF_SDCA_NO_AVX512 those of a processor that has AVX2 at most, if it is neither empty
nor "0". The results are the same to rounding. Raises an ImportError that says what to
do where nothing is compiled.
"""

import os
from importlib.util import find_spec


def _is_set(name):
    """Return whether a variable of the environment is neither empty nor "0"."""
    return os.environ.get(name, "") not in {"", "0"}


# Of the levels of x86-64: 1 is the baseline, 3 has AVX2, and 4 has AVX-512.
HIGHEST_LEVEL = 3 if _is_set("SKCRF_SDCA_NO_AVX512") else 4
if _is_set("SKCRF_SDCA_PLAIN_LOOPS"):
    HIGHEST_LEVEL = 1

if find_spec(f"{__name__}.inference._passes") is None:
    folder = os.path.dirname(os.path.dirname(os.path.dirname(__file__)))
    raise ImportError(
        f"skcrf_sdca was imported from {folder}, which has no compiled modules for "
        "this Python. If it is the folder of the sources, and the package is "
        "installed, start Python in another folder: this one hides the installed "
        "package. To work in the sources, install them with pip install --editable."
    )
