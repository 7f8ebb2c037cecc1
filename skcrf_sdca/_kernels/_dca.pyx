# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True
"""One visit of online dual coordinate ascent [Martins10, Alg. 1 and 2].

A visit to sequence i moves the weights against the gradient of its loss,

    w <- w - step grad L_i(w),    step = min( scale_i, L_i(w) / ||grad L_i(w)||^2 ),

where the second number is the step to a loss of 0, were the loss linear. The gradient
is that of log sum exp, or of the maximum: then it needs the best labelling, costs
included, and the visit is one of 1-best MIRA. The perceptron always takes the step
scale_i. A visit touches the features of its sequence only.

The average of the weights after each of m visits costs no pass over all weights:

    1/m sum_v w_v = w_m - total / m,    total = sum_v (v - 1) change_v,

v = 1..m. Weights that did not exist at first were 0 until they changed, which the sum
has right.
"""

from libc.math cimport isfinite

from ._visits cimport Visitor
from ._weights cimport Weights

import numpy as np


cdef class DCAKernel(Visitor):
    """Visits that move weights, and the sum that gives their average.

    Parameters
    ----------
    structure, offsets
        As for `Visitor`; the order of the visits is always given.
    scale : ndarray of shape (n,)
        The longest step for each sequence.
    smooth : bool
        Whether the loss is log sum exp, and not the maximum.
    fixed_step : bool
        Whether every step is the longest one, as the perceptron takes it.
    total : Weights, default=None
        The sum above: changed in place. None if no average is wanted.
    n_visits : int, default=0
        Visits that ``total`` counts already.

    Attributes
    ----------
    n_visits : int
    n_updates : int
        Visits made here that changed the weights.
    sum_of_losses : float
        Of the visits made here, each at the weights that it found.
    """

    cdef readonly long long n_visits
    cdef readonly long long n_updates
    cdef readonly double sum_of_losses
    cdef Weights total
    cdef bint smooth
    cdef bint fixed_step
    cdef int[::1] path              # a buffer: the best labelling

    def __init__(
        self, structure, offsets, scale, *, bint smooth, bint fixed_step,
        Weights total=None, long long n_visits=0,
    ):
        super().__init__(structure, offsets, scale, None)
        self.smooth, self.fixed_step = smooth, fixed_step
        self.total, self.n_visits = total, n_visits
        self.path = np.empty(self.structure.most_local, dtype=np.intc)

    cdef bint visit(self, Py_ssize_t i) noexcept nogil:
        """Visit sequence i; return False if a number is not finite."""
        cdef double loss
        if not self.is_empty(i):
            loss = self.loss(i)
            if not isfinite(loss):
                return False
            self.sum_of_losses += loss
            if not self.move(i, loss):
                return False
        self.n_visits += 1
        return True

    cdef double loss(self, Py_ssize_t i) noexcept nogil:
        """Return the loss of sequence i, and write the expectations of its gradient."""
        cdef double value
        if self.smooth:
            value = self.expect(i, True)
        else:
            self.structure.set_item(i)
            value = self.argmax_at(self.structure.potentials, &self.path[0])
            self.structure.set_certain(&self.path[0], self.structure.expected)
        return max(value - self.structure.target_score(self.structure.potentials), 0.0)

    cdef bint move(self, Py_ssize_t i, double loss) noexcept nogil:
        """Move the weights; return False if a number is not finite."""
        cdef double norm, step = self.scale[i]
        if loss == 0.0 and not self.fixed_step:
            return True
        norm = self.gradient()
        if norm == 0.0:
            return True
        if not self.fixed_step:
            step = min(step, loss / norm)
        if not isfinite(norm):
            return False
        self.n_updates += 1
        self.sums.add_to_weights(-step)
        if self.total is not None:
            self.add_to_total(-step * self.n_visits)
        return True

    cdef void add_to_total(self, double step) noexcept nogil:
        """Add step times the features of the gradient to the sum of the average."""
        self.sums.features.move_coef(
            self.sums.i, step, step, step, &self.sums.distinct[0], self.n_labels,
            <double*> self.total.coef_pointer(),
        )
        self.total.add_to_blocks(
            step, self.sums.first_node, self.sums.last_node, &self.sums.node[0],
            &self.sums.edge[0],
        )
