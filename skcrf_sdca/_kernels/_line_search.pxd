"""Exact line search on the dual of one chain: see _line_search.pyx."""


cdef struct Segment:
    # A move of one chain's marginals: m = p + step * direction.
    double* clique                      # edge marginals; the node marginals if T = 1
    const double* clique_direction
    Py_ssize_t n_clique
    double* separator                   # inner node marginals
    const double* separator_direction
    Py_ssize_t n_separator
    double linear                       # <direction, scores>
    double quadratic                    # scale ||features of direction||^2


cdef Segment chain_segment(
    double* node, const double* node_direction, double* edge,
    const double* edge_direction, Py_ssize_t length, Py_ssize_t n_labels) noexcept nogil

cdef double newton_step(
    Segment* segment, double start, double tolerance,
    Py_ssize_t* n_evaluations) noexcept nogil

cdef double move(Segment* segment, double step) noexcept nogil
