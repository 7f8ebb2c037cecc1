"""Exact line search on the dual of one chain: see _line_search.pyx."""

from ._vecmath cimport Stored


cdef struct Part:
    # The cliques or the separators of one chain, and where they move.
    Stored p
    Stored target
    const float* ratio                  # (target - p) / target, see vecmath.h
    Stored moved                        # p + step (target - p), out
    Py_ssize_t n


cdef struct Segment:
    # A move of one chain's marginals: m = p + step * (target - p).
    Part cliques                        # edges; the node if T = 1
    Part separators                     # inner nodes
    double rest                         # log Z - <p, scores>
    double linear                       # <direction, scores>
    bint out_of_reach                   # whether p is where the target is as good as 0
    double constant                     # H + sum_cliques p log p - sum_separators ...


cdef class PenaltyRise:
    cdef double quadratic               # scale ||features of direction||^2

    cdef double slope(self, double step, double* curvature) noexcept nogil
    cdef double value(self, double step) noexcept nogil


cdef double slope_at(
    Segment* segment, PenaltyRise rise, double step, bint single,
    double* curvature) noexcept nogil

cdef double newton_step(
    Segment* segment, PenaltyRise rise, double start, double tolerance,
    Py_ssize_t* n_evaluations) noexcept nogil

cdef double linear_step(
    double linear, PenaltyRise rise, double of_entropy) noexcept nogil

cdef double divergence(Segment* segment, double step) noexcept nogil

cdef double move(Segment* segment, double step) noexcept nogil
