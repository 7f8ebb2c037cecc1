"""One visit of stochastic dual coordinate ascent [LePriol18, Alg. 1].

A visit to item i asks the oracle for the marginals under w (the target), moves the
marginals mu_i along direction = target - mu_i by the step that maximises the dual, and
moves w = w_hat(mu) with them. Owns the arithmetic of the step; the marginals belong to
the item and are changed in place.
"""

from libc.math cimport fabs

from ..math._line_search cimport Segment, divergence, move, newton_step
from ._visits cimport DualVisitor

# A step is halved while the dual falls by more than the rounding of its own arithmetic,
# or of marginals stored in single precision.
cdef double ROUNDING = 1e-12
cdef double ROUNDING_SINGLE = 1e-6
cdef int MAX_HALVINGS = 40


cdef class SDCAKernel(DualVisitor):
    """The arrays of one SDCA run and the visits that change them.

    Parameters
    ----------
    item, offsets, scale, gaps, sampler
        As for `DualVisitor`; the item has been given the marginals.
    entropy : ndarray of shape (n,)
        H(mu_i): changed in place.
    steps : ndarray of shape (n,)
        The step of the last visit, from which the next line search starts: changed in
        place.
    single : bool
        Whether the marginals of cliques are stored in single precision.
    fixed_step : float
        Step of every visit; 0 for the exact line search.
    line_search_tol : float
    """

    cdef readonly Py_ssize_t n_evaluations
    cdef double fixed_step
    cdef double line_search_tol
    cdef double rounding
    cdef double[::1] entropy
    cdef double[::1] steps

    def __init__(
        self, item, offsets, scale, gaps, sampler, *, entropy, steps, bint single,
        double fixed_step, double line_search_tol,
    ):
        super().__init__(item, offsets, scale, gaps, sampler)
        self.entropy, self.steps = entropy, steps
        self.rounding = ROUNDING_SINGLE if single else ROUNDING
        self.fixed_step = fixed_step
        self.line_search_tol = line_search_tol

    cdef bint visit(self, Py_ssize_t i) noexcept nogil:
        """Visit item i; return False if a number is not finite."""
        cdef double log_partition, gap, step
        cdef Segment segment
        if self.is_empty(i):
            self.record_gap(i, 0.0)
            return True
        log_partition = self.expect(i, False)
        segment.rest = log_partition - self.item.set_direction(&segment)
        gap = segment.rest - self.entropy[i]
        if gap != gap:
            return False
        if (
            gap <= self.rounding * (1.0 + fabs(log_partition))
            and not segment.out_of_reach
        ):
            # Where the difference has lost its digits, as a sum of positive terms.
            gap = divergence(&segment, 0.0)
        self.record_gap(i, max(gap, 0.0))
        if self.sampler.by_residual:
            self.record_value(i, self.item.residual())
        self.item.sum_features()
        self.sums.measure(self.scale[i])
        step = self.step_size(i, &segment)
        if step != step:
            return False
        self.steps[i] = step
        step = self.safe_step(i, &segment, step)
        self.item.apply_step(step)
        self.sums.add_to_weights(-self.scale[i] * step)
        return True

    cdef double step_size(self, Py_ssize_t i, Segment* segment) noexcept nogil:
        """Return the fixed step, or the step of the line search."""
        if self.fixed_step > 0.0:
            return self.fixed_step
        return newton_step(
            segment, self.sums, self.steps[i], self.line_search_tol, &self.n_evaluations
        )

    cdef double safe_step(
        self, Py_ssize_t i, Segment* segment, double step
    ) noexcept nogil:
        """Write the moved marginals and their entropy; return the step taken."""
        cdef double change, old = self.entropy[i]
        cdef double least = -self.rounding * (1.0 + fabs(old) + fabs(segment.rest))
        cdef int halving
        for halving in range(MAX_HALVINGS + 1):
            self.entropy[i] = move(segment, step)
            change = (
                self.entropy[i] - old + step * segment.linear - self.sums.value(step)
            )
            if self.fixed_step > 0.0 or change >= least:
                break
            if halving < MAX_HALVINGS:
                step *= 0.5
        return step
