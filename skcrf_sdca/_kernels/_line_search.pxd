"""Exact line search on the dual of one chain: see _line_search.pyx."""


cdef struct Part:
    # The cliques or the separators of one chain, and where they move.
    double* p
    const double* direction
    const float* single                 # direction
    const float* ratio                  # direction / target
    Py_ssize_t n


cdef struct Segment:
    # A move of one chain's marginals: m = p + step * direction.
    Part cliques                        # edges; the node if T = 1
    Part separators                     # inner nodes
    double linear                       # <direction, scores>
    double quadratic                    # scale ||features of direction||^2


cdef double newton_step(
    Segment* segment, double start, double tolerance,
    Py_ssize_t* n_evaluations) noexcept nogil

cdef double move(Segment* segment, double step) noexcept nogil
