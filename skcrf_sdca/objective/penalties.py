"""Penalties r(w), with their conjugates: what the objective and solvers ask of one.

The primal point of a dual point is w = grad r*(v), v = w_hat(mu). A new penalty is one
entry of `PENALTIES`.
"""

from typing import ClassVar, Protocol

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

    def gradient(self, w):
        """Return grad r(w)."""

    def primal_point(self, v):
        """Return grad r*(v)."""

    def gap(self, w, v):
        """Return r(w) + r*(v) - <w, v>, which is not negative."""


class L2:
    """r(w) = 1/2 ||w||^2, which is its own conjugate."""

    name = "l2"
    offers = frozenset({"gradient", "identity"})

    def value(self, w):
        """Return 1/2 ||w||^2."""
        return 0.5 * inner(w, w)

    conjugate = value

    def gradient(self, w):
        """Return w."""
        return w

    primal_point = gradient

    def gap(self, w, v):
        """Return 1/2 ||w - v||^2."""
        return self.value(w - v)


PENALTIES = {L2.name: L2()}
