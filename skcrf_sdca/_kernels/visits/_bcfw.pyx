"""One visit of block-coordinate Frank-Wolfe [LacosteJulien13, Alg. 4].

For the maximum in the place of log sum exp, the dual has no entropy. A visit to item i
asks the oracle for the labelling of highest score, costs included, moves the
expectations mu_i towards it by the step that maximises the dual, and moves
w = grad r*(w_hat(mu)) with them. Divided by the weight of the item, the dual rises
along direction = certain of the labelling - mu_i by

    s g_i - R(s),    g_i = <direction, scores_i> = max_y score_i(y) - <mu_i, scores_i>,

with g_i the gap of the item, R that of _line_search.pyx, and the costs in scores_i. For
L2 the step is g_i / quadratic, at most 1.
"""

from libc.math cimport isfinite

from ..math._line_search cimport linear_step
from ..inference._inference cimport Values
from ._visits cimport DualVisitor
from ..features._weights cimport addressable

import numpy as np


cdef class BCFWKernel(DualVisitor):
    """The arrays of one BCFW run and the visits that change them.

    Parameters
    ----------
    item, offsets, scale, gaps, sampler
        As for `DualVisitor`.
    expected : Potentials of float64
        The expectations mu_i: changed in place.
    """

    cdef double[::1] local
    cdef double[:, ::1] tied
    cdef int[::1] path              # a buffer: the best labelling

    def __init__(self, item, offsets, scale, gaps, sampler, *, expected):
        super().__init__(item, offsets, scale, gaps, sampler)
        self.local = expected.local.reshape(-1)
        self.tied = addressable(expected.tied.reshape(len(offsets) - 1, -1))
        self.path = np.empty(self.item.most_local, dtype=np.intc)

    cdef bint visit(self, Py_ssize_t i) noexcept nogil:
        """Visit item i; return False if a number is not finite."""
        cdef double best, gap, step
        cdef Values scores, kept, target = self.item.expected
        if self.is_empty(i):
            self.record_gap(i, 0.0)
            return True
        self.item.set_item(i)
        scores = self.item.potentials
        kept.local = &self.local[self.item.first_local(i)]
        kept.tied = &self.tied[i, 0]
        best = self.argmax_at(scores, &self.path[0])
        gap = best - self.item.inner(kept, scores)
        if not isfinite(gap):
            return False
        self.record_gap(i, max(gap, 0.0))
        if gap <= 0.0:
            return True
        self.item.set_certain(&self.path[0], target)
        self.item.set_change(target, kept)
        self.item.sum_features()
        self.sums.measure(self.scale[i])
        step = linear_step(gap, self.sums)
        if step != step:
            return False
        self.move(kept, target, step)
        self.sums.add_to_weights(-self.scale[i] * step)
        return True

    cdef void move(self, Values kept, Values target, double step) noexcept nogil:
        """Move the expectations of the item by a step to those of the labelling."""
        blend(kept.local, target.local, step, self.item.n_local)
        blend(kept.tied, target.tied, step, self.item.n_tied)


cdef void blend(
    double* kept, const double* target, double step, Py_ssize_t n
) noexcept nogil:
    """Write (1 - step) kept + step target, which is target exactly at 1."""
    cdef Py_ssize_t k
    for k in range(n):
        kept[k] = (1.0 - step) * kept[k] + step * target[k]
