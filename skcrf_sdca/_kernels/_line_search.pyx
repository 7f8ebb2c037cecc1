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

from ._vecmath cimport vmove, vslope

cdef int MAX_EVALUATIONS = 60


cdef Segment chain_segment(
    double* node,                       # in, (T, K)
    const double* node_direction,       # in, (T, K)
    double* edge,                       # in, (T - 1, K, K)
    const double* edge_direction,       # in, (T - 1, K, K)
    Py_ssize_t length,
    Py_ssize_t n_labels,
) noexcept nogil:
    """Return the cliques and separators of a chain; linear and quadratic are 0."""
    cdef Segment segment
    segment.linear = 0.0
    segment.quadratic = 0.0
    if length == 1:
        segment.clique, segment.clique_direction = node, node_direction
        segment.n_clique = n_labels
        segment.n_separator = 0
    else:
        segment.clique, segment.clique_direction = edge, edge_direction
        segment.n_clique = (length - 1) * n_labels * n_labels
        segment.n_separator = (length - 2) * n_labels
    segment.separator = node + n_labels
    segment.separator_direction = node_direction + n_labels
    return segment


cdef double slope_at(Segment* segment, double step, double* curvature) noexcept nogil:
    """Return f'(step) and write f''(step)."""
    cdef double clique, clique_curvature
    cdef double separator, separator_curvature
    vslope(
        segment.clique, segment.clique_direction, step, segment.n_clique,
        &clique, &clique_curvature,
    )
    vslope(
        segment.separator, segment.separator_direction, step, segment.n_separator,
        &separator, &separator_curvature,
    )
    curvature[0] = separator_curvature - clique_curvature - segment.quadratic
    return separator - clique + segment.linear - step * segment.quadratic


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
        slope = slope_at(segment, step, &curvature)
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
    return (
        vmove(
            segment.separator, segment.separator_direction, step, segment.n_separator
        )
        - vmove(segment.clique, segment.clique_direction, step, segment.n_clique)
    )
