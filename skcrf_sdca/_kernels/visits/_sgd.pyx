"""Visits of stochastic gradient methods.

A visit to sequence i is a step, see _steps.pyx, against a gradient of n c_i f_i: a
subgradient for the maximum in the place of log sum exp, and for SVRG a vector of the
same mean. It costs in proportion to the features of its sequence.
"""

from libc.math cimport fabs, isfinite

from ._steps cimport SMDSteps, Steps
from ..inference._inference cimport Values
from ._item cimport Item
from ..math._vecmath cimport ops
from ._visits cimport Visitor
from ..features._weights cimport Weights

import numpy as np

# How far scores are moved for a difference of expectations: near the fourth root of
# eps, with which its rounding and the term that it neglects are of the same size.
cdef double PERTURBATION = 2e-4


cdef class SGDKernel(Visitor):
    """Visits that step against the gradient of one sequence.

    Parameters
    ----------
    item, offsets, scale, sampler
        As for `Visitor`.
    steps : Steps
    strength : float
        s, by which ``scale`` was divided.
    paths : ndarray of shape (n_positions,), intc, or None
        Where the best labelling of each visit is written, for the maximum in the place
        of log sum exp; None for the latter.

    Attributes
    ----------
    sum_of_losses : float
        Of the visits made here, each at the weights that it found.
    """

    cdef readonly double sum_of_losses
    cdef Steps steps
    cdef double strength
    cdef int[::1] paths
    cdef int[::1] path                  # a buffer

    def __init__(
        self, item, offsets, scale, sampler, *, steps, double strength, paths=None
    ):
        super().__init__(item, offsets, scale, sampler)
        self.steps, self.strength, self.paths = steps, strength, paths
        self.path = np.empty(self.item.most_local, dtype=np.intc)

    @property
    def count(self):
        """The number of steps made, also before this kernel."""
        return self.steps.count

    @property
    def eta0(self):
        """The first step size."""
        return self.steps.eta0

    @eta0.setter
    def eta0(self, value):
        self.steps.eta0 = value

    def make_visits(self, uniforms, order, n_visits):
        """Make the visits, and bring all weights up to date."""
        super().make_visits(uniforms, order, n_visits)
        self.steps.restart()

    cdef bint visit(self, Py_ssize_t i) noexcept nogil:
        """Visit sequence i; return False if a number is not finite."""
        cdef double value, weight = self.strength * self.scale[i] * self.scale.shape[0]
        self.steps.catch_up(i)
        if self.is_empty(i) or weight == 0.0:
            self.steps.step(None, 0.0)
            return True
        value = self.differentiate(i)
        if not isfinite(value):
            return False
        self.sum_of_losses += value - self.target_score()
        self.steps.step(self.sums, weight)
        return True

    cdef double differentiate(self, Py_ssize_t i) noexcept nogil:
        """Sum the features of a gradient of f_i; return log Z_i, or the maximum."""
        cdef double value
        if self.paths is None:
            value = self.expect(i, True)
        else:
            self.item.set_item(i)
            value = self.argmax_at(
                self.item.potentials, &self.paths[self.offsets[i]]
            )
            self.item.set_certain(
                &self.paths[self.offsets[i]], self.item.expected
            )
        self.gradient()
        return value

    def mean_loss(self, const Py_ssize_t[::1] order):
        """Return sum_i c_i f_i / sum_i c_i over the sequences named."""
        cdef Py_ssize_t p, i
        cdef double total = 0.0, weight = 0.0
        with nogil:
            for p in range(order.shape[0]):
                i = order[p]
                weight += self.scale[i]
                if not self.is_empty(i):
                    total += self.scale[i] * self.loss(i)
        self.item.check()
        return total / weight if weight > 0.0 else 0.0

    cdef double loss(self, Py_ssize_t i) noexcept nogil:
        """Return f_i."""
        cdef double value
        self.item.set_item(i)
        if self.paths is None:
            value = self.log_partition_at(self.item.potentials)
        else:
            value = self.argmax_at(self.item.potentials, &self.path[0])
        return value - self.target_score()

    cdef double target_score(self) noexcept nogil:
        """Return the score of the target of the current item."""
        return self.item.target_score(self.item.potentials)


cdef class SVRGKernel(SGDKernel):
    """Visits of SVRG: the gradient less that at an anchor, whose mean is the drift.

    Parameters
    ----------
    item, offsets, scale, sampler, steps, strength
        As for `SGDKernel`; the steps are `SVRGSteps`.
    anchor : Item
        The same sequences under the weights of the anchor.
    """

    cdef Item anchor

    def __init__(
        self, item, offsets, scale, sampler, *, steps, strength, Item anchor
    ):
        super().__init__(
            item, offsets, scale, sampler, steps=steps, strength=strength
        )
        self.anchor = anchor

    cdef double differentiate(self, Py_ssize_t i) noexcept nogil:
        """Sum the features of the difference of two gradients; return log Z_i."""
        cdef double value = self.expect(i, True)
        self.anchor.set_item(i)
        self.expect_at(self.anchor.potentials, self.anchor.expected)
        self.item.set_change(self.item.expected, self.anchor.expected)
        self.item.sum_features()
        return value


cdef class SMDKernel(SGDKernel):
    """Visits of stochastic meta-descent, which also differentiate the gradient.

    The derivative along the trace is the derivative of expectations E at the scores
    under w, along the scores a under the trace:

        (E(w + e a) - E(w) / 2 - E(w - e a) / 3 - E(w + 2 e a) / 6) / e

    with e max |a| = `PERTURBATION`. Its error is some 1e-12 of max |a|.

    Parameters
    ----------
    item, offsets, scale, sampler, strength
        As for `SGDKernel`.
    steps : SMDSteps
    along_trace : Item
        The same sequences under the trace as weights, and without costs.
    """

    cdef Item along_trace
    cdef SMDSteps smd
    cdef Values moved, others           # buffers

    def __init__(
        self, item, offsets, scale, sampler, *, SMDSteps steps, strength,
        Item along_trace,
    ):
        super().__init__(
            item, offsets, scale, sampler, steps=steps, strength=strength
        )
        self.along_trace, self.smd = along_trace, steps
        self.moved, self.others = (
            self.item.new_values(), self.item.new_values()
        )

    cdef double differentiate(self, Py_ssize_t i) noexcept nogil:
        """Sum the features of the gradient and of its derivative; return log Z_i."""
        cdef double largest, e, value = self.expect(i, True)
        cdef Values expected = self.along_trace.expected
        self.along_trace.set_item(i)
        largest = max(
            largest_of(self.along_trace.potentials.local, self.along_trace.n_local),
            largest_of(self.along_trace.potentials.tied, self.along_trace.n_tied),
        )
        # Where the trace is 0, so is the derivative.
        e = PERTURBATION / largest if largest > 0.0 else 1.0
        self.item.copy_values(self.item.expected, self.others)
        self.add(-0.5, self.item.expected, self.others)
        self.expect_moved(-e, expected)
        self.add(1.0 / 3.0, expected, self.others)
        self.expect_moved(2.0 * e, expected)
        self.add(1.0 / 6.0, expected, self.others)
        self.expect_moved(e, expected)
        self.along_trace.set_change(expected, self.others)
        self.along_trace.sum_features()
        self.smd.curvature_scale = e
        self.gradient()
        return value

    cdef int check(self, bint sane, Py_ssize_t i) except -1:
        """Raise an error as `Visitor` does, for both items."""
        self.along_trace.check()
        return SGDKernel.check(self, sane, i)

    cdef void expect_moved(self, double step, Values out) noexcept nogil:
        """Write the expectations at the scores moved along the trace."""
        self.item.copy_values(self.item.potentials, self.moved)
        self.add(step, self.along_trace.potentials, self.moved)
        self.expect_at(self.moved, out)

    cdef void add(self, double factor, Values values, Values total) noexcept nogil:
        """Add a factor times values of the item."""
        ops.axpy(factor, values.local, total.local, self.item.n_local)
        ops.axpy(factor, values.tied, total.tied, self.item.n_tied)


cdef double largest_of(const double* values, Py_ssize_t n) noexcept nogil:
    """Return the largest absolute value."""
    cdef Py_ssize_t k
    cdef double largest = 0.0
    for k in range(n):
        largest = max(largest, fabs(values[k]))
    return largest


cdef class BatchKernel(Visitor):
    """Visits that sum the losses of a batch and their gradients, and move nothing.

    Parameters
    ----------
    item, offsets, scale, sampler
        As for `Visitor`.
    strength : float
        s, by which ``scale`` was divided.
    gradient_sum : Weights
        The sum of n c_i times the gradients of f_i: changed in place.

    Attributes
    ----------
    loss_sum : float
        The sum of n c_i f_i.
    """

    cdef public double loss_sum
    cdef double strength
    cdef Weights gradient_sum

    def __init__(
        self, item, offsets, scale, sampler, *, double strength,
        Weights gradient_sum,
    ):
        super().__init__(item, offsets, scale, sampler)
        self.strength, self.gradient_sum = strength, gradient_sum

    cdef bint visit(self, Py_ssize_t i) noexcept nogil:
        """Add what sequence i has; return False if a number is not finite."""
        cdef double weight = self.strength * self.scale[i] * self.scale.shape[0]
        cdef double value
        if self.is_empty(i) or weight == 0.0:
            return True
        value = self.expect(i, True)
        value -= self.item.target_score(self.item.potentials)
        self.gradient()
        self.item.add_change(self.gradient_sum, weight)
        self.loss_sum += weight * value
        return isfinite(value)
