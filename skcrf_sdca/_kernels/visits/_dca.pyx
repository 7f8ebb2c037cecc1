"""One visit of online dual coordinate ascent [Martins10, Alg. 1 and 2].

A visit to sequence i moves the weights against the gradient of its loss,

    w <- w - step grad L_i(w),    step = min( scale_i, L_i(w) / ||grad L_i(w)||^2 ),

where the second number is the step to a loss of 0, were the loss linear. L_i has
log sum exp, or the maximum: then its gradient needs the best labelling, costs included,
and the visit is one of 1-best MIRA. Its prediction-based variant [Crammer06]
takes the best labelling without costs, whose loss has them. The perceptron always takes
the step scale_i. A visit touches the features of its sequence only.

AROW, adaptive regularisation of weight vectors [Crammer09], in its diagonal form, has a
variance for each weight: how little is known of it. A visit moves the weights whose
variance is large, and lessens these,

    w     <- w - L Sigma g / (<g, Sigma g> + 1 / scale_i),
    1/Sigma <- 1/Sigma + scale_i g^2,

with L and g the loss of the prediction and its gradient, and Sigma = 1 at first. It is
1 / (1 + q), where the sum q of scale_i g^2 is what is stored.

k-best MIRA asks for more: all of the k best labellings, costs included, are to have a
loss of 0. Its step is that of _mira.pyx, with C = scale_i; for k = 1 it is the one
above.

The average of the weights after each of m visits, in which the first v visits have the
share (v / m)^p, costs no pass over all weights:

    sum_v (v^p - (v - 1)^p) w_v / m^p = w_m - total / m^p,
    total = sum_v (v - 1)^p change_v,

v = 1..m. For p = 1 all visits count the same; p = 4 is the polynomial-decay averaging
of [Shamir13], for their eta = 3. Weights that did not exist at first were 0 until they
changed, which the sum has right.
"""

from libc.math cimport isfinite

from ..features._changed_sums cimport changed_sums
from ._item cimport Item
from ._mira cimport Multipliers
from ._visits cimport Visitor
from ..features._weights cimport Weights

import numpy as np


cdef class DCAKernel(Visitor):
    """Visits that move weights, and the sum that gives their average.

    Parameters
    ----------
    item, offsets
        As for `Visitor`; the order of the visits is always given.
    scale : ndarray of shape (n,)
        The longest step for each sequence.
    smooth : bool
        Whether the loss is log sum exp, and not the maximum.
    fixed_step : bool
        Whether every step is the longest one, as the perceptron takes it.
    total : Weights, default=None
        The sum above: changed in place. None if no average is wanted.
    power : float, default=1.0
        The p of the average.
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
    cdef double power               # p
    cdef bint smooth
    cdef bint fixed_step
    cdef int[::1] path              # a buffer: the best labelling

    def __init__(
        self, item, offsets, scale, *, bint smooth, bint fixed_step,
        Weights total=None, double power=1.0, long long n_visits=0,
    ):
        super().__init__(item, offsets, scale, None)
        self.smooth, self.fixed_step = smooth, fixed_step
        self.total, self.power, self.n_visits = total, power, n_visits
        # Labels from the start, since an inference without argmax writes none.
        self.path = np.zeros(self.item.most_local, dtype=np.intc)
        if not smooth:
            self.sums = changed_sums(self.sums)
            self.item.sums = self.sums

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
            self.item.set_item(i)
            value = self.argmax_at(self.item.potentials, &self.path[0])
            self.item.set_certain(&self.path[0], self.item.expected)
        return max(value - self.item.target_score(self.item.potentials), 0.0)

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
        self.move_by(step)
        return True

    cdef void move_by(self, double step) noexcept nogil:
        """Move the weights against the gradient, and the sum for their average."""
        self.n_updates += 1
        self.sums.add_to_weights(-step)
        if self.total is not None:
            self.sums.add_to(self.total, -step * (<double> self.n_visits) ** self.power)


cdef class PredictionKernel(DCAKernel):
    """Visits of 1-best MIRA against the prediction, the best labelling without costs.

    Parameters
    ----------
    item, offsets, scale, total, n_visits
        As for `DCAKernel`; the scores of the item have costs.
    prediction : Item
        The same sequences under the same weights, without costs.
    """

    cdef Item prediction

    def __init__(
        self, item, offsets, scale, *, Item prediction, **options
    ):
        super().__init__(
            item, offsets, scale, smooth=False, fixed_step=False, **options
        )
        self.prediction = prediction

    cdef double loss(self, Py_ssize_t i) noexcept nogil:
        """Return the loss of the prediction, and write its expectations."""
        cdef double value
        self.item.set_item(i)
        self.prediction.set_item(i)
        value = self.argmax_at(self.prediction.potentials, &self.path[0])
        self.item.set_certain(&self.path[0], self.item.expected)
        value = self.item.inner(
            self.item.expected, self.item.potentials
        )
        return max(value - self.item.target_score(self.item.potentials), 0.0)


cdef class ARowKernel(PredictionKernel):
    """Visits of AROW.

    Parameters
    ----------
    item, offsets, scale, prediction, total, power, n_visits
        As for `PredictionKernel`.
    w, squares : ndarrays of shape (n_weights,)
        The weights of the item as one vector, and q: changed in place.
    """

    cdef Weights weights
    cdef double[::1] w                  # the same, as one vector
    cdef double[::1] sum_of_changes     # the vector of ``total``, None without
    cdef double[::1] squares
    # The numbers of the gradient that are not 0, and the weights that they are of.
    cdef Py_ssize_t n_found
    cdef double[::1] values
    cdef Py_ssize_t[::1] places

    def __init__(
        self, item, offsets, scale, *, w, sum_of_changes, squares, **options
    ):
        super().__init__(item, offsets, scale, **options)
        self.weights = self.item.weights
        self.w, self.sum_of_changes, self.squares = w, sum_of_changes, squares
        n_biases = 3 * self.weights.n_labels + self.item.n_tied
        most = self.sums.distinct.shape[0] + n_biases
        self.values, self.places = np.empty(most), np.empty(most, dtype=np.intp)

    cdef bint move(self, Py_ssize_t i, double loss) noexcept nogil:
        """Move the weights; return False if a number is not finite."""
        cdef Py_ssize_t p, k
        cdef double change, step, norm = 0.0, scale = self.scale[i]
        cdef double factor = (<double> self.n_visits) ** self.power
        if loss == 0.0 or scale == 0.0:
            return True
        self.gradient()
        self.list_gradient()
        for p in range(self.n_found):
            k = self.places[p]
            norm += self.values[p] * self.values[p] / (1.0 + self.squares[k])
        if norm == 0.0:
            return True
        if not isfinite(norm):
            return False
        self.n_updates += 1
        step = loss / (norm + 1.0 / scale)
        for p in range(self.n_found):
            k = self.places[p]
            change = -step * self.values[p] / (1.0 + self.squares[k])
            self.w[k] += change
            if self.sum_of_changes is not None:
                self.sum_of_changes[k] += factor * change
            self.squares[k] += scale * self.values[p] * self.values[p]
        return True

    cdef void list_gradient(self) noexcept nogil:
        """Find the numbers of the gradient that are not 0."""
        cdef Py_ssize_t r, width, n = self.weights.n_labels
        cdef const int* rows = self.sums.rows()
        cdef const double* gradient = &self.sums.distinct[0]
        self.n_found = 0
        for r in range(self.sums.n_rows()):
            width = self.weights.layout.width(rows[r])
            self.list_block(
                self.weights.coef_pointer() + self.weights.layout.begin(rows[r]),
                gradient, width,
            )
            gradient += width
        self.list_block(&self.weights.intercept[0], &self.sums.node[0], n)
        if self.weights.boundaries:
            self.list_block(&self.weights.start[0], self.sums.first_node, n)
            self.list_block(&self.weights.end[0], self.sums.last_node, n)
            self.list_block(
                &self.weights.transition[0], &self.sums.edge[0], self.weights.n_tied
            )

    cdef void list_block(
        self, const double* block, const double* gradient, Py_ssize_t n
    ) noexcept nogil:
        """List the gradient of a block of weights where it is not 0."""
        cdef Py_ssize_t k
        for k in range(n):
            if gradient[k] != 0.0:
                self.values[self.n_found] = gradient[k]
                self.places[self.n_found] = block - &self.w[0] + k
                self.n_found += 1


cdef class KBestKernel(DCAKernel):
    """Visits of k-best MIRA.

    Parameters
    ----------
    item, offsets, scale, total, power, n_visits
        As for `DCAKernel`.
    n_best : int
        Labellings that a visit looks at.
    """

    cdef Py_ssize_t n_best
    cdef Py_ssize_t n_found         # labellings of the sequence, n_best at most
    cdef int[:, ::1] paths          # (n_best, most_local)
    cdef Multipliers multipliers

    def __init__(self, item, offsets, scale, *, Py_ssize_t n_best, **options):
        super().__init__(
            item, offsets, scale, smooth=False, fixed_step=False, **options
        )
        self.n_best = n_best
        self.item.allow_n_best(n_best)
        self.paths = np.empty((n_best, self.item.most_local), dtype=np.intc)
        self.multipliers = Multipliers(n_best)

    cdef double loss(self, Py_ssize_t i) noexcept nogil:
        """Return the loss of sequence i, and keep the best labellings."""
        cdef Py_ssize_t r
        cdef double target
        self.item.set_item(i)
        self.n_oracle_calls += 1.0
        self.n_found = self.item.n_best(
            self.item.potentials, &self.multipliers.gains[0], &self.paths[0, 0]
        )
        target = self.item.target_score(self.item.potentials)
        for r in range(self.n_found):
            self.multipliers.gains[r] -= target
        return max(self.multipliers.gains[0], 0.0)

    cdef bint move(self, Py_ssize_t i, double loss) noexcept nogil:
        """Move the weights; return False if a number is not finite."""
        cdef Py_ssize_t r
        cdef double step = 0.0
        if loss == 0.0:
            return True
        self.item.write_products(
            &self.paths[0, 0], self.n_found, self.multipliers.products
        )
        if not isfinite(self.multipliers.products[0, 0]):
            return False
        self.multipliers.ascend(self.n_found, self.scale[i])
        for r in range(self.n_found):
            step += self.multipliers.values[r]
        if step == 0.0:
            return True
        # sum_r a_r g_r = step (sum_r a_r f(y_r) / step - f(y_i)), step = sum_r a_r.
        self.item.set_mixture(
            &self.paths[0, 0], &self.multipliers.values[0], self.n_found, step
        )
        self.gradient()
        self.move_by(step)
        return True
