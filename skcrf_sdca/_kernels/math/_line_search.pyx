"""Exact line search on the dual of one chain [LePriol18, sec. 4 and App. D].

Along the segment from the marginals mu to the target, the dual objective divided by
the weight of the sequence is, up to a constant,

    f(s) = H(mu + s direction) + s linear - R(s),
    H(m) = - sum_cliques m log m + sum_separators m log m,
    R(s) = ( r*(v + s v_i) - r*(v) - s <w, v_i> ) / scale_i,
    v_i = -scale_i F(direction),

where the cliques are the edges and the separators the inner nodes (a chain of one node
has that node as its clique). For L2, R(s) = s^2 / 2 scale_i ||F(direction)||^2. f is
concave, f'(0) >= 0 >= f'(1): the root is bracketed
before anything is evaluated.
"""

from libc.math cimport INFINITY, NAN, fabs

from ._vecmath cimport vmove, vslope, vslope_near, vxlogx


cdef class PenaltyRise:
    """R(s) of L2: the rise of the penalty beyond its linear term.

    Its features are of the direction of one item, see `FeatureSums`.
    """

    cdef double slope(self, double step, double* curvature) noexcept nogil:
        """Return R'(step) and write R''(step)."""
        curvature[0] = self.quadratic
        return step * self.quadratic

    cdef double value(self, double step) noexcept nogil:
        """Return R(step)."""
        return 0.5 * step * step * self.quadratic


cdef int MAX_EVALUATIONS = 60
# Of the step, relative, where there is no entropy.
cdef double LINEAR_TOLERANCE = 1e-9
# Double precision for steps wanted more precisely than this, if the marginals have it,
# and for steps so small that 1 - step has lost its digits in single precision.
cdef double SINGLE_TOLERANCE = 1e-5
cdef double SMALLEST_SINGLE_STEP = 1e-3


# In single precision the logarithms are taken of m / t alone: with log m = log t +
# log(m / t) the logarithms of the target t add up to <direction, scores>, and cancel
# the linear term:
# f'(s) = - sum_cliques direction log(m / t) + sum_separators ... - R'(s).
cdef double slope_at(
    Segment* segment, PenaltyRise rise, double step, bint single, double* curvature
) noexcept nogil:
    """Return f'(step) and write f''(step)."""
    cdef Part* cliques = &segment.cliques
    cdef Part* separators = &segment.separators
    cdef float rest = <float> (1.0 - step)
    cdef double linear = 0.0 if single else segment.linear
    cdef double clique, clique_curvature
    cdef double separator = 0.0, separator_curvature = 0.0
    cdef double penalty, penalty_curvature
    if single:
        vslope_near(
            cliques.target, cliques.ratio, rest, cliques.n, &clique, &clique_curvature
        )
        if separators.n > 0:
            vslope_near(
                separators.target, separators.ratio, rest, separators.n,
                &separator, &separator_curvature,
            )
    else:
        vslope(cliques.p, cliques.target, step, cliques.n, &clique, &clique_curvature)
        if separators.n > 0:
            vslope(
                separators.p, separators.target, step, separators.n,
                &separator, &separator_curvature,
            )
    penalty = rise.slope(step, &penalty_curvature)
    curvature[0] = separator_curvature - clique_curvature - penalty_curvature
    return separator - clique + linear - penalty


# The third derivative of -m log m on the way to the target is its second times the
# direction over m, and |direction| / m <= 1 / min(s, 1 - s).
cdef inline double error_of_newton(double previous, double step) noexcept nogil:
    """Return about how far from the root a step of Newton's method ends."""
    cdef double moved = step - previous
    cdef double from_border = min(
        min(previous, 1.0 - previous), min(step, 1.0 - step)
    )
    return 0.5 * moved * moved / from_border


cdef double newton_step(
    Segment* segment,
    PenaltyRise rise,
    double start,                       # in (0, 1]
    double tolerance,
    Py_ssize_t* n_evaluations,          # in, out
) noexcept nogil:
    """Return the maximiser of f on [0, 1] to within tolerance, NaN if f' is NaN.

    Newton's iteration on f' inside the bracket, bisection where it would leave it.
    """
    cdef double low = 0.0, high = 1.0
    cdef double step = start, previous, slope, curvature, error
    cdef bint single
    cdef int _evaluation
    if rise.quadratic == 0.0:
        return 1.0
    for _evaluation in range(MAX_EVALUATIONS):
        single = not segment.out_of_reach and step >= SMALLEST_SINGLE_STEP and (
            tolerance >= SINGLE_TOLERANCE or segment.cliques.p.single
        )
        slope = slope_at(segment, rise, step, single, &curvature)
        n_evaluations[0] += 1
        if slope != slope or curvature != curvature:
            return NAN
        if slope > 0.0:
            low = step
        else:
            high = step
        previous = step
        step -= slope / curvature
        error = fabs(step - previous)
        if low < step < high:
            error = min(error, error_of_newton(previous, step))
        else:
            step = 0.5 * (low + high)
            error = 0.5 * (high - low)
        if error < tolerance:
            break
    return step


# R' does not fall: it is linear for L2, and piecewise linear for the elastic net. The
# first step is exact for L2.
cdef double linear_step(
    double linear, PenaltyRise rise,
    double of_entropy,                  # its curvature along the direction
) noexcept nogil:
    """Return the maximiser of s linear - R(s) - s^2 / 2 of_entropy on [0, 1].

    For a dual with an entropy that is a quadratic, or with none. ``linear`` must be
    > 0. NaN if the slope is NaN.
    """
    # The slope at the end is not known before it is asked for.
    cdef double low = 0.0, high = INFINITY
    cdef double step = 1.0, previous, slope, curvature
    cdef int _evaluation
    if rise.quadratic + of_entropy > linear:
        step = linear / (rise.quadratic + of_entropy)
    for _evaluation in range(MAX_EVALUATIONS):
        slope = linear - rise.slope(step, &curvature) - step * of_entropy
        if slope != slope:
            return NAN
        if slope == 0.0 or (slope > 0.0 and step == 1.0):
            break
        if slope > 0.0:
            low = step
        else:
            high = step
        previous = step
        step = min(step + slope / (curvature + of_entropy), 1.0)
        if fabs(step - previous) <= LINEAR_TOLERANCE * previous:
            break
        if not low < step < high:
            step = 0.5 * (low + min(high, 1.0))
    return step


# With the target t = p(. | x; w), H(m) = log Z - <m, scores> - KL(m || t), where the
# divergence is small beside H: it does with fewer digits. That needs log t, which is
# there unless t was out of reach. Of the sums m log(m / t) - m + t, the parts - m + t
# of cliques and separators add up to nothing: they are there so that each sum keeps
# its digits where it is small.
cdef double divergence(Segment* segment, double step) noexcept nogil:
    """Write the moved cliques and separators; return KL(moved || target)."""
    cdef Part* cliques = &segment.cliques
    cdef Part* separators = &segment.separators
    cdef double value = vmove(
        cliques.p, cliques.target, cliques.ratio, step, cliques.n, cliques.moved
    )
    if separators.n > 0:
        value -= vmove(
            separators.p, separators.target, separators.ratio, step, separators.n,
            separators.moved,
        )
    return value


cdef double move(Segment* segment, double step) noexcept nogil:
    """Write the moved cliques and separators; return their entropy H."""
    cdef Part* cliques = &segment.cliques
    cdef Part* separators = &segment.separators
    cdef double of_target = divergence(segment, step)
    if segment.out_of_reach:
        return segment.constant + (
            vxlogx(separators.moved, separators.n) - vxlogx(cliques.moved, cliques.n)
        )
    return segment.rest - step * segment.linear - of_target
