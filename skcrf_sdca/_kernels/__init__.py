"""Compiled kernels: one chain at a time, without Python objects and without the GIL.

Owns the switch between the two builds of their loops, see clones.h: the environment
variable SKCRF_SDCA_PLAIN_LOOPS, read once at import, forces the plain ones if it is
neither empty nor "0". The results are the same to rounding.
"""

import os

PLAIN_LOOPS = os.environ.get("SKCRF_SDCA_PLAIN_LOOPS", "") not in {"", "0"}
