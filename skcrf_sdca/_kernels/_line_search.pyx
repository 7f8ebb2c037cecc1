# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True
"""Exact line search on the dual of one chain [LePriol18, sec. 4 and App. D].

Along the segment from the marginals mu to the target, the dual objective divided by
the weight of the sequence is, up to a constant,

    f(s) = H(mu + s direction) + s linear - s^2 / 2 quadratic,
    H(m) = - sum_cliques m log m + sum_separators m log m,

where the cliques are the edges and the separators the inner nodes (a chain of one node
has that node as its clique). f is concave, f'(0) >= 0 >= f'(1): the root is bracketed
before anything is evaluated.
"""

from libc.math cimport NAN, fabs

from ._vecmath cimport vmove, vslope, vslope_single

cdef int MAX_EVALUATIONS = 60
# Double precision for steps wanted more precisely than this, and for steps so small
# that 1 - step has lost its digits in single precision.
cdef double SINGLE_TOLERANCE = 1e-5
cdef double SMALLEST_SINGLE_STEP = 1e-3


cdef double slope_at(Segment* segment, double step, double* curvature) noexcept nogil:
    """Return f'(step) and write f''(step)."""
    cdef Part* cliques = &segment.cliques
    cdef Part* separators = &segment.separators
    cdef double clique, clique_curvature
    cdef double separator, separator_curvature
    vslope(
        cliques.p, cliques.direction, step, cliques.n, &clique, &clique_curvature
    )
    vslope(
        separators.p, separators.direction, step, separators.n,
        &separator, &separator_curvature,
    )
    curvature[0] = separator_curvature - clique_curvature - segment.quadratic
    return separator - clique + segment.linear - step * segment.quadratic


# With log m = log t + log(m / t) the logarithms of the target t add up to
# <direction, scores>, and cancel the linear term:
# f'(s) = - sum_cliques direction log(m / t) + sum_separators ... - s quadratic.
cdef double slope_at_single(
    Segment* segment, double step, double* curvature
) noexcept nogil:
    """Return f'(step) and write f''(step), from single precision."""
    cdef Part* cliques = &segment.cliques
    cdef Part* separators = &segment.separators
    cdef float rest = <float> (1.0 - step)
    cdef double clique, clique_curvature
    cdef double separator, separator_curvature
    vslope_single(
        cliques.single, cliques.ratio, rest, cliques.n, &clique, &clique_curvature
    )
    vslope_single(
        separators.single, separators.ratio, rest, separators.n,
        &separator, &separator_curvature,
    )
    curvature[0] = separator_curvature - clique_curvature - segment.quadratic
    return separator - clique - step * segment.quadratic


cdef double newton_step(
    Segment* segment,
    double start,                       # in (0, 1]
    double tolerance,
    Py_ssize_t* n_evaluations,          # in, out
) noexcept nogil:
    """Return the maximiser of f on [0, 1] to within tolerance, NaN if f' is NaN.

    Newton's iteration on f' inside the bracket, bisection where it would leave it.
    """
    cdef double low = 0.0, high = 1.0
    cdef double step = start, previous, slope, curvature
    cdef int _evaluation
    if segment.quadratic == 0.0:
        return 1.0
    for _evaluation in range(MAX_EVALUATIONS):
        if tolerance < SINGLE_TOLERANCE or step < SMALLEST_SINGLE_STEP:
            slope = slope_at(segment, step, &curvature)
        else:
            slope = slope_at_single(segment, step, &curvature)
        n_evaluations[0] += 1
        if slope != slope or curvature != curvature:
            return NAN
        if slope > 0.0:
            low = step
        else:
            high = step
        previous = step
        step -= slope / curvature
        if not (low < step < high):
            step = 0.5 * (low + high)
        if fabs(step - previous) < tolerance:
            break
    return step


cdef double move(Segment* segment, double step) noexcept nogil:
    """Move the cliques and separators by step; return their entropy H."""
    cdef Part* cliques = &segment.cliques
    cdef Part* separators = &segment.separators
    return (
        vmove(separators.p, separators.direction, step, separators.n)
        - vmove(cliques.p, cliques.direction, step, cliques.n)
    )
