"""Penalties r(w), with their conjugates: what the objective and solvers ask of one.

The primal point of a dual point is w = grad r*(v), v = w_hat(mu). A new penalty is one
entry of `PENALTIES`.
"""

from typing import ClassVar, Protocol

import numpy as np

from skcrf_sdca._kernels._vecmath import inner


class Penalty(Protocol):
    """A strongly convex function of the weights.

    Attributes
    ----------
    name : str
    offers : frozenset of str
        What solvers may need, see `skcrf_sdca.solvers.base.check_needs`:
        "gradient" if r is differentiable, "identity" if grad r*(v) = v.
    """

    name: ClassVar[str]
    offers: ClassVar[frozenset[str]]

    def value(self, w):
        """Return r(w)."""

    def conjugate(self, v):
        """Return r*(v)."""

    def primal_point(self, v):
        """Return grad r*(v)."""

    def gap(self, w, v, out=None):
        """Return r(w) + r*(v) - <w, v>, and write grad r(w) - v to `out` (may be v)."""


class L2:
    """r(w) = 1/2 ||w||^2, which is its own conjugate."""

    name = "l2"
    offers = frozenset({"gradient", "identity"})

    def value(self, w):
        """Return 1/2 ||w||^2."""
        return 0.5 * inner(w, w)

    conjugate = value

    def primal_point(self, v):
        """Return v."""
        return v

    def gap(self, w, v, out=None):
        """Return 1/2 ||w - v||^2; write w - v to `out`, which may be v."""
        return self.value(np.subtract(w, v, out=out))


PENALTIES = {L2.name: L2()}
