"""Penalties r(w), with their conjugates.

The primal point of a dual point is w = grad r*(v), v = w_hat(mu). A new penalty is one
entry of `PENALTIES`: a class, or a function, that takes

    structure   whose `new_parameters` say which number of w is which weight
    scale       of the loss, see losses.py: solvers see w / scale, and the penalty
                r(scale w) / scale^2
    options     keyword arguments, each a parameter of the estimator of this name
"""

from collections.abc import Callable
from functools import partial
from numbers import Real
from typing import Any, ClassVar, Protocol

import numpy as np

from skcrf_sdca._kernels.features._metric import Metric
from skcrf_sdca._kernels.math._vecmath import inner, shrink, shrunk_norm
from skcrf_sdca._utils.parallel import in_parts
from skcrf_sdca.objective.weight_parts import DualParts, beside, parts_of

# Largest number of passes of the search in `best_mix`, whose every point is valid.
MIX_PASSES = 30
ROUNDING = 4.0 * np.finfo(float).eps


class Penalty(Protocol):
    """A convex function of the weights.

    Of a penalty that does not offer "threshold", `moved_point` and `dual_point` are not
    called.

    Attributes
    ----------
    name : str
    offers : frozenset of str
        Offers to solvers, see `skcrf_sdca.solvers.base.check_needs`:
        "gradient" if r is differentiable, "curvature" if it is strongly convex,
        "identity" if grad r*(v) = v, "threshold" if r is an `ElasticNet` or L2.
    curvature : float
        With the offer "curvature" or "threshold": the largest c such that
        r(w) - c/2 ||w||^2 is convex.
    threshold : float
        With the offer "threshold": that of the l1 norm.
    factors : tuple
        With the offers "threshold" and "curvature", unless with "identity": what visits
        multiply changes by, the arguments of `Weights.set_factors`.
    """

    name: ClassVar[str]
    offers: frozenset[str]
    curvature: float
    threshold: float
    factors: tuple[Any, ...]

    def value(self, w):
        """Return r(w)."""

    def conjugate(self, v):
        """Return r*(v)."""

    def primal_point(self, v):
        """Return grad r*(v)."""

    def moved_point(self, v):
        """Return what visits move at the dual point v: grad r*(v), or v."""

    def dual_point(self, moved):
        """Return v, given its `moved_point`."""

    def gap(self, w, v, out=None):
        """Return r(w) + r*(v) - <w, v>, and write grad r(w) - v to `out` (may be v)."""


_FUNCTIONS = "value", "conjugate", "primal_point", "gap"
# What is read of a penalty, and its type, if it has the first offers and not the last.
READ: tuple[tuple[set[str], set[str], dict[str, Any]], ...] = (
    (set(), set(), dict.fromkeys(_FUNCTIONS, Callable)),
    ({"curvature"}, set(), {"curvature": Real}),
    ({"threshold"}, set(), {"curvature": Real, "threshold": Real}),
    ({"threshold"}, set(), dict.fromkeys(("moved_point", "dual_point"), Callable)),
    ({"threshold", "curvature"}, {"identity"}, {"factors": tuple}),
)
FORMS = {Callable: "function", Real: "number", tuple: "tuple"}


def check_read(penalty):
    """Raise NotImplementedError if a penalty lacks what is read of it."""
    for offers, unless, names in READ:
        if not offers <= penalty.offers or unless & penalty.offers:
            continue
        for name, form in names.items():
            if not isinstance(getattr(penalty, name, None), form):
                promise = " and ".join(map(repr, sorted(offers)))
                cause = f", though it offers {promise}" if promise else ""
                raise NotImplementedError(
                    f"the penalty {penalty.name!r} has no {FORMS[form]} `{name}`"
                    f"{cause}; see skcrf_sdca.objective.penalties.Penalty"
                )


class L2:
    """r(w) = 1/2 ||w||^2, which is its own conjugate."""

    name = "l2"
    offers = frozenset({"gradient", "curvature", "identity", "threshold"})
    curvature, threshold = 1.0, 0.0

    def value(self, w):
        """Return 1/2 ||w||^2."""
        return 0.5 * inner(w, w)

    conjugate = value

    def primal_point(self, v):
        """Return v."""
        return v

    moved_point = dual_point = primal_point

    def gap(self, w, v, out=None):
        """Return 1/2 ||w - v||^2; write w - v to `out`, which may be v."""
        return self.value(np.subtract(w, v, out=out))


class ElasticNet:
    """r(w) = curvature / 2 ||w||^2 + threshold ||w||_1.

    With soft(v) = v - min(max(v, -threshold), threshold):

        r*(v) = ||soft(v)||^2 / (2 curvature),    grad r*(v) = soft(v) / curvature.

    Without curvature r* is 0 where soft(v) = 0, infinite else, and not differentiable.
    The curvature is >= 0, the threshold > 0.
    """

    name = "elastic_net"

    def __init__(self, curvature, threshold):
        self.curvature = curvature
        self.threshold = threshold

    @property
    def factors(self):
        """What visits multiply changes by, see `Weights.set_factors`."""
        return None, np.array([1.0 / self.curvature]), 1.0 / self.curvature

    @property
    def offers(self):
        """Offers to solvers."""
        strongly_convex = {"curvature"} if self.curvature else set()
        return frozenset({"threshold", *strongly_convex})

    def value(self, w):
        """Return curvature / 2 ||w||^2 + threshold ||w||_1."""
        norm = sum(np.abs(part).sum() for part in parts_of(w))
        return 0.5 * self.curvature * inner(w, w) + self.threshold * norm

    def conjugate(self, v):
        """Return ||soft(v)||^2 / (2 curvature)."""
        return self._conjugate(shrunk_norm(v, self.threshold))

    def _conjugate(self, shrunk_norm):
        """Return r*(v), given ||soft(v)||^2."""
        if self.curvature:
            return 0.5 / self.curvature * shrunk_norm
        return np.inf if shrunk_norm else 0.0

    def moved_point(self, v):
        """Return v."""
        return v

    dual_point = moved_point

    def primal_point(self, v):
        """Return soft(v) / curvature."""
        out = np.empty_like(v)
        shrink(v, self.threshold, 1.0 / self.curvature, out)
        return out

    # One weight adds  (curvature w - soft(v))^2 / (2 curvature)
    #                + threshold |w| - w min(max(v, -threshold), threshold).
    def gap(self, w, v, out=None):
        """Return r(w) + r*(v) - <w, v>, a sum of terms that are not negative.

        Write curvature w - v, the gradient without the l1 norm, to `out`.
        """
        gap, out = 0.0, np.empty_like(v) if out is None else out
        for w_part, v_part, out_part in zip(*map(parts_of, (w, v, out)), strict=True):
            clipped = np.clip(v_part, -self.threshold, self.threshold)
            off = self.curvature * w_part - (v_part - clipped)
            gap += self._conjugate(off @ off)
            gap += (self.threshold * np.abs(w_part) - w_part * clipped).sum()
            out_part[:] = self.curvature * w_part - v_part
        return gap


class Proximal:
    """A penalty with the distance from a point, r(w) + 1/2 sum_j kappa_j (w_j - z_j)^2.

    With c the curvature of r, u_j = v_j + kappa_j z_j and soft as for `ElasticNet`,

        r*(v) = sum_j soft(u_j)^2 / (2 (c + kappa_j)),   up to a constant,
        grad r*(v)_j = soft(u_j) / (c + kappa_j).

    Visits move grad r*(v) where there is no threshold, else u.

    Parameters
    ----------
    penalty : ElasticNet or L2
    new_parameters : callable
        As in `Objective`.
    shape : ndarray of shape (n_features,)
        kappa_j of the weights of each feature, relative to that of all other weights.
        It is rounded, see `in_classes`.
    n_jobs : int, default=None
        Threads for passes over all weights.
    """

    name = "proximal"
    offers = frozenset({"curvature", "threshold"})

    def __init__(self, penalty, new_parameters, shape, n_jobs=None):
        self.penalty, self.n_jobs = penalty, n_jobs
        self._code, self._shape = in_classes(shape)
        self.threshold = penalty.threshold
        parameters = new_parameters()
        layout, n_biases = parameters.weights().layout, parameters.biases.size
        self._metric = Metric(
            layout,
            n_biases,
            self._code,
            penalty.curvature,
            divides=not penalty.threshold,
        )
        self._dual_point = None

    @property
    def center(self):
        """The point z."""
        return self._metric.center

    @property
    def shape(self):
        """kappa_j of the weights of each feature, over that of all other weights."""
        return self._shape[self._code]

    def move(self, kappa, z, moved):
        """Set kappa of weights that are not of features, and the point.

        What visits move changes, and the dual point does not.
        """
        self.kappa, rows = kappa, kappa * self._shape
        in_parts(partial(self._metric.move, kappa, rows, z, moved), self.n_jobs)
        self._metric.set_kappa(kappa, rows)
        curvature = self.penalty.curvature
        self.factors = self._code, 1.0 / (curvature + rows), 1.0 / (curvature + kappa)

    def moved_point(self, v):
        """Write what visits move over v, and return it."""
        self._metric.add_center(v, not self.threshold)
        return v

    def dual_point(self, moved):
        """Return v, given its `moved_point`; the next call writes over it."""
        # Fresh memory for as many numbers takes longer than what is done with them.
        if self._dual_point is None:
            self._dual_point = np.empty_like(moved)
        metric, v = self._metric, self._dual_point

        def take_center(part, n_parts):
            metric.take_center(moved, v[metric.first(part, n_parts) :], part, n_parts)

        in_parts(take_center, self.n_jobs)
        return v

    def dual_parts(self, moved):
        """Return the `DualParts` of v, given its `moved_point`."""
        return DualParts(self._metric, moved)

    def primal_point(self, v):
        """Return grad r*(v)."""
        point = self._shrunk(v)
        self._metric.divide(point)
        return point

    def conjugate(self, v):
        """Return r*(v), up to a constant."""
        shrunk = self._shrunk(v)
        point = shrunk.copy()
        self._metric.divide(point)
        return 0.5 * inner(shrunk, point)

    def _shrunk(self, v):
        """Return soft(u)."""
        out = v.copy()
        self._metric.add_center(out, False)
        if self.threshold:
            shrink(out.copy(), self.threshold, 1.0, out)
        return out


def in_classes(shape):
    """Return the class of each number of a shape, and the mean of each class.

    There are 256 classes, equally wide in the logarithm. So a visit reads one byte for
    each feature, from memory that stays in the cache: with a number for each of 336,000
    features, visits took 4 % longer.

    Parameters
    ----------
    shape : ndarray of shape (n_features,)
        Numbers >= 0. All that are 0 have a class of their own.

    Returns
    -------
    code : ndarray of shape (n_features,), uint8
    means : ndarray of shape (256,)
        1 for classes without numbers.
    """
    is_positive = shape > 0.0
    logs = np.log(shape, where=is_positive, out=np.zeros(len(shape)))
    low, high = logs.min(initial=0.0), logs.max(initial=0.0)
    code = 1.0 + np.rint(254.0 * (logs - low) / ((high - low) or 1.0))
    code = np.where(is_positive, code, 0.0).astype(np.uint8)
    count = np.bincount(code, minlength=256)
    total = np.where(count, np.bincount(code, shape, minlength=256), 1.0)
    return code, total / np.maximum(count, 1)


def best_mix(penalty, v, gain):
    """Return the t in [0, 1] of largest t gain - r*(t v), and r*(t v).

    The penalty is an ElasticNet or L2, and v an array or DualParts, read once.
    """
    parts = parts_of(v)
    curvature, threshold = penalty.curvature, penalty.threshold
    gain = curvature * max(gain, 0.0)
    if not threshold:
        square = sum(inner(part, part) for part in parts)
        mix = gain / square if square > gain else 1.0
        return mix, 0.5 * mix**2 * square
    size = np.concatenate([p[p > threshold] for p in map(np.abs, parts)])
    if curvature == 0.0:
        # The last digit is given up, so that t v is not above the threshold.
        mix = 1.0 if not len(size) else (1.0 - ROUNDING) * threshold / size.max()
        return mix, 0.0
    # Newton from above: the slope is convex in t, and the weights that are not shrunk
    # to 0 become fewer.
    mix = 1.0
    for _ in range(MIX_PASSES):
        slope = mix * inner(size, size) - threshold * size.sum() - gain
        if slope <= ROUNDING * gain:
            break
        mix -= slope / inner(size, size)
        size = size[mix * size > threshold]
    shrunk = mix * size - threshold
    return mix, 0.5 / curvature * inner(shrunk, shrunk)


def mixed_gap(penalty, w, v, mix):
    """Return r(w) + r*(t v) - <w, t v>, t the `best_mix`, and make no array t v."""
    return sum(_gap_of_part(penalty, *parts, mix) for parts in beside(w, v))


def _gap_of_part(penalty, w, v, mix):
    v = mix * v
    if penalty.threshold:
        # The others add 0, and they are most.
        (counted,) = np.nonzero((w != 0.0) | (np.abs(v) > penalty.threshold))
        w, v = w[counted], v[counted]
    return penalty.gap(w, v)


def elastic_net(l1_ratio, temperature=1.0):
    """Return (1 - l1_ratio) / 2 ||w||^2 + l1_ratio ||w||_1 as solvers see it.

    Solvers see the weights over the temperature, see losses.py: the l1 part keeps its
    weight, so that the threshold is l1_ratio / temperature.
    """
    if l1_ratio == 0.0:
        return L2()
    return ElasticNet(1.0 - l1_ratio, l1_ratio / temperature)


def _elastic_net_of(structure, scale, *, l1_ratio=0.0):
    return elastic_net(l1_ratio, scale)


PENALTIES = {"elastic_net": _elastic_net_of}
