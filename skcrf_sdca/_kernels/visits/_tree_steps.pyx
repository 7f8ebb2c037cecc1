"""Online steps for dependency trees whose rows of arcs are made at the visit.

A visit to a sentence moves the weights against the gradient g of its loss,

    w <- w - step g,    step = min(C, loss / ||g||^2),

as in _dca.pyx, where the average of the weights is explained too. The losses are those
of losses.py, with a cost of `margin` for each wrong head:

    loss = T log sum_y exp( (score(y) + cost(y)) / T ) - score(target).

For T > 0, g = sum over arcs of (marginal - target) f(arc); for T = 0 the loss has the
maximum, and g = f(best) - f(target). The perceptron takes the best tree without costs,
and the step C. Weights are float32: reading them is most of the time of a visit.
"""

from libc.math cimport INFINITY, fabs, isfinite
from libc.string cimport memcpy

from ..features._arc_rows cimport ArcRows
from ..features._prefetch cimport prefetch
from ..features._sibling_rows cimport SiblingRows
from ..inference._eisner cimport sibling_of
from ..inference._projective_trees cimport SiblingTreeInference
from ..inference._spanning_trees cimport SpanningTreeInference

import numpy as np

# Arcs whose marginal differs less from the target have no gradient.
cdef double SMALLEST = 1e-5

# Weights are asked for so many columns before they are moved.
cdef enum:
    AHEAD = 16


def best_heads(
    ArcRows rows, SpanningTreeInference inference, const float[::1] w,
    double temperature, double largest, SiblingRows siblings=None,
):
    """Return the heads of the best trees of all sentences, end to end.

    Scores take the memory of one sentence. Return None if one of an arc is beyond
    ``largest``, or no number.

    Parameters
    ----------
    rows : ArcRows
    inference : SpanningTreeInference
        As for `TreeSteps`.
    w : ndarray of shape (n_features,), float32
    temperature : float
        What scores are divided by.
    largest : float
    siblings : SiblingRows, default=None
        As for `TreeSteps`.
    """
    cdef Py_ssize_t i, first
    cdef bint is_within = True
    cdef SiblingTreeInference trees = None if siblings is None else inference
    found = np.empty(rows.offsets[rows.offsets.shape[0] - 1], dtype=np.intc)
    cdef int[::1] heads = found
    with nogil:
        for i in range(rows.offsets.shape[0] - 1):
            first = rows.offsets[i]
            if first == rows.offsets[i + 1]:
                continue
            rows.take(i)
            inference.take(i)
            rows.set_scores(&w[0], &inference.arcs[0])
            if siblings is not None:
                siblings.set_scores(&w[0], &trees.siblings[0])
            is_within = divided(
                &inference.arcs[0], inference.length, temperature, largest
            )
            if not is_within:
                break
            inference.set_best()
            memcpy(&heads[first], &inference.heads[0], rows.n * sizeof(int))
    return found if is_within else None


cdef bint divided(
    double* scores, Py_ssize_t n, double temperature, double largest
) noexcept nogil:
    """Divide scores; return whether all are within a limit, or -inf."""
    cdef Py_ssize_t a
    for a in range(n):
        if temperature != 1.0:
            scores[a] /= temperature
        if not (fabs(scores[a]) <= largest or scores[a] == -INFINITY):
            return False
    return True


cdef class TreeSteps:
    """Visits to sentences, one after another.

    Parameters
    ----------
    rows : ArcRows
    inference : SpanningTreeInference
        Of the arcs of the same sentences.
    heads : ndarray of shape (n_tokens,), intc
        The heads of all words, 0 for the root.
    C : float
        The longest step.
    temperature : float
        T.
    margin : float
        The cost of a wrong head.
    fixed_step : bool
        Whether every step is C, as the perceptron takes it.
    w : ndarray of shape (n_features,), float32
        The weights, changed in place.
    total : ndarray of shape (n_features,), float64, or None
        The sum that gives their average.
    power : float
        The p of the average.
    n_visits : int
        Visits so far.
    siblings : SiblingRows, default=None
        If trees have scores of siblings too. The inference is a SiblingTreeInference
        then, which has room for these scores of one sentence; T is 0.
    """

    cdef ArcRows rows
    cdef SpanningTreeInference inference
    cdef SiblingRows siblings               # None for arcs alone
    cdef SiblingTreeInference trees         # the inference with siblings
    cdef const int[::1] heads
    cdef double C
    cdef double temperature
    cdef double margin
    cdef bint fixed_step
    cdef float[::1] w
    cdef double[::1] total
    cdef double power
    cdef readonly double n_visits
    cdef readonly double sum_of_losses      # of the visits of this object
    cdef readonly Py_ssize_t n_updates
    # The gradient, and the columns that it has.
    cdef float[::1] gradient                # (n_features,)
    cdef unsigned char[::1] is_touched
    cdef int[::1] touched
    cdef Py_ssize_t n_touched
    cdef int[::1] columns                   # of one arc

    def __init__(
        self, rows, inference, heads, *, C, temperature, margin, fixed_step,
        w, total, power, n_visits, siblings=None,
    ):
        self.rows, self.inference, self.heads = rows, inference, heads
        if siblings is not None:
            self.siblings, self.trees = siblings, inference
        self.C, self.temperature, self.margin = C, temperature, margin
        self.fixed_step = fixed_step
        self.w, self.total, self.power, self.n_visits = w, total, power, n_visits
        self.gradient = np.zeros(len(w), dtype=np.float32)
        self.is_touched = np.zeros(len(w), dtype=np.uint8)
        self.touched = np.zeros(len(w), dtype=np.intc)
        most = self.rows.most_columns
        if siblings is not None:
            most = max(most, self.siblings.most_columns)
        self.columns = np.empty(most, dtype=np.intc)

    def epoch_in_order(self, const Py_ssize_t[::1] order):
        """Visit sentences in this order; ValueError if scores are not finite."""
        cdef Py_ssize_t k
        cdef bint is_finite = True
        with nogil:
            for k in range(order.shape[0]):
                if not self.visit(order[k]):
                    is_finite = False
                    break
        if not is_finite:
            raise ValueError("scores are not finite")

    cdef bint visit(self, Py_ssize_t i) noexcept nogil:
        """Visit sentence i; return False if a number is not finite."""
        cdef double loss, norm
        cdef const int* heads = &self.heads[0] + self.rows.offsets[i]
        self.n_visits += 1.0
        self.rows.take(i)
        self.inference.take(i)
        if self.rows.n == 0:
            return True
        self.rows.set_scores(&self.w[0], &self.inference.arcs[0])
        if self.siblings is not None:
            self.siblings.set_scores(&self.w[0], &self.trees.siblings[0])
        loss = self.set_loss(heads)
        if not isfinite(loss):
            return False
        # A target that is no tree of this kind may be better than all that are. The
        # perceptron also moves away from wrong trees that are as good.
        if loss < 0.0 or (loss == 0.0 and not self.fixed_step):
            return True
        self.sum_of_losses += loss
        self.set_gradient(heads)
        self.n_updates += self.n_touched > 0
        norm = self.squared_norm()
        # Where trees have the same features, there is nothing to move.
        self.move(
            self.C if self.fixed_step or norm == 0.0
            else min(self.C, loss / norm)
        )
        return True

    cdef double set_loss(self, const int* heads) noexcept nogil:
        """Find the best tree, or the marginals; return the loss."""
        cdef Py_ssize_t k, m, n = self.rows.n
        cdef double target = 0.0
        cdef double* arcs = &self.inference.arcs[0]
        for m in range(n):
            target += arcs[heads[m] * n + m]
            # All arcs have the cost, but the right ones.
            arcs[heads[m] * n + m] -= self.margin
        if self.trees is not None:
            target += self.trees.best_spans.score_of_siblings(n, heads)
        target -= self.margin * n
        if self.temperature == 0.0:
            return self.inference.set_best() - target
        if self.temperature != 1.0:
            for k in range(n * (n + 1)):
                arcs[k] /= self.temperature
        return self.temperature * self.inference.set_marginals() - target

    cdef void set_gradient(self, const int* heads) noexcept nogil:
        """Write the gradient of the loss."""
        cdef Py_ssize_t h, m, n = self.rows.n
        cdef double change
        if self.temperature == 0.0:
            for m in range(n):
                h = self.inference.heads[m]
                if h != heads[m]:
                    self.add(h, m, 1.0)
                    self.add(heads[m], m, -1.0)
            if self.siblings is not None:
                self.set_gradient_of_siblings(heads)
            return
        for h in range(n + 1):
            for m in range(n):
                change = self.inference.marginals[h * n + m] - (heads[m] == h)
                if fabs(change) > SMALLEST:
                    self.add(h, m, change)

    cdef void set_gradient_of_siblings(self, const int* heads) noexcept nogil:
        """Add the features of siblings that differ."""
        cdef Py_ssize_t m, s, own
        cdef const int* found = &self.inference.heads[0]
        for m in range(1, self.rows.n + 1):
            s, own = sibling_of(found, m), sibling_of(heads, m)
            if found[m - 1] != heads[m - 1] or s != own:
                self.add_sibling(found[m - 1], m, s, 1.0)
                self.add_sibling(heads[m - 1], m, own, -1.0)

    cdef void add_sibling(
        self, Py_ssize_t h, Py_ssize_t m, Py_ssize_t s, double change
    ) noexcept nogil:
        """Add a factor of the features of a sibling; words below the root have none."""
        if h > 0:
            self.add_columns(
                self.siblings.row(h, m, s, &self.columns[0]), change
            )

    cdef void add(self, Py_ssize_t h, Py_ssize_t m, double change) noexcept nogil:
        """Add a factor of the features of an arc to the gradient."""
        self.add_columns(self.rows.row(h, m + 1, &self.columns[0]), change)

    cdef void add_columns(self, Py_ssize_t n, double change) noexcept nogil:
        """Add a number to the gradient of the columns made last."""
        cdef Py_ssize_t r
        cdef int column
        for r in range(n):
            prefetch(&self.gradient[self.columns[r]])
            prefetch(&self.is_touched[self.columns[r]])
        for r in range(n):
            column = self.columns[r]
            if not self.is_touched[column]:
                self.is_touched[column] = True
                self.touched[self.n_touched] = column
                self.n_touched += 1
            self.gradient[column] += <float> change

    cdef double squared_norm(self) noexcept nogil:
        """Return the squared norm of the gradient."""
        cdef Py_ssize_t r
        cdef double norm = 0.0
        for r in range(self.n_touched):
            norm += (<double> self.gradient[self.touched[r]]) ** 2
        return norm

    cdef void move(self, double step) noexcept nogil:
        """Move the weights, and forget the gradient."""
        cdef Py_ssize_t r
        cdef int column
        cdef double change, share = 0.0
        if self.total is not None:
            share = (self.n_visits - 1.0) ** self.power
        for r in range(self.n_touched):
            # Numbers past the last one are columns of earlier visits.
            column = self.touched[min(r + AHEAD, self.touched.shape[0] - 1)]
            prefetch(&self.w[column])
            if self.total is not None:
                prefetch(&self.total[column])
            column = self.touched[r]
            change = -step * self.gradient[column]
            self.gradient[column], self.is_touched[column] = 0.0, False
            self.w[column] += <float> change
            if self.total is not None:
                self.total[column] += share * change
        self.n_touched = 0
